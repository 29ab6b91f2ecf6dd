/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * comch_pci.h - links between machines that share memory
 *
 * Each end of a link has an event of its own, with the packets for it in the payload:
 *
 *	page 0	u64 number[SLOTS]	of the packet in each slot, from 1 on
 *		u64 nonce, at 512	a client's: names the link
 *		a HELLO, at 1024	a client's
 *	page 1 + i			slot i: packet n is in slot (n - 1) % SLOTS
 *
 * and only this end sets its value: { low 32 bits: packets that it has taken; high 32 bits:
 * how often it had something to say }. The other end writes the packets, at last the
 * number of each, and then sets its own value, for which this end waits.
 *
 * So whoever dies, his event ends, which the other one sees; and what he sent before is
 * there nevertheless: it is in the receiver's memory.
 *
 * A payload may vanish under a program that touches it, with SIGBUS, when its owner dies.
 * So the kernel copies, which says EFAULT then, by way of a file in memory.
 */
#ifndef SED_COMCH_PCI_H
#define SED_COMCH_PCI_H

#include "comch.h"

#define SED_PCI_SLOTS		8U
#define SED_PCI_PAGE		4096U
#define SED_PCI_PAGES		(1 + SED_PCI_SLOTS)
#define SED_PCI_NONCE_AT	512U
#define SED_PCI_HELLO_AT	1024U

/**
 * struct sed_pci_link - a connection's end
 * @bell: waits for @theirs, or a client whose server has not answered yet for @door
 * @conn: the connection
 * @on: in which queue that is
 * @own: this end's event; @in: its payload
 * @theirs: the other end's, or NULL; @out: its payload
 * @door: client: the server's, until it has answered
 * @nonce: a client's
 * @file: in memory, for copies
 * @rings: how often there was something to say
 * @taken: packets from @in
 * @sent: packets to @out
 * @seen: value of what is waited for, when it was looked at last
 * @wants_room: it is to be told when packets were taken, too
 * @gone: it has ended
 * @hello: server: the HELLO is not taken yet
 */
struct sed_pci_link {
	struct sed_work bell;
	struct doca_comch_connection *conn;
	enum syncevent_provider on;
	struct syncevent *own;
	struct syncevent *theirs;
	struct syncevent *door;
	uint8_t *in;
	uint8_t *out;
	uint64_t nonce;
	int file;
	uint32_t rings;
	uint64_t taken;
	uint64_t sent;
	uint64_t seen;
	bool wants_room;
	bool gone;
	bool hello;
};

/** sed_pci_link_make() - this end of a link. Return: 0, or as libsyncevent's functions */
int sed_pci_link_make(struct doca_comch_connection *conn);

/** sed_pci_link_free() - of conn->pci; the other end sees it */
void sed_pci_link_free(struct doca_comch_connection *conn);

/** sed_pci_end_payload() - of the other end's event. Return: likewise; -EPROTO: it is none */
int sed_pci_end_payload(struct syncevent *theirs, uint8_t **payload);

/** sed_pci_link_wait() - have the bell ring when there is something, or at once if there is */
void sed_pci_link_wait(struct sed_pci_link *link);

/** sed_pci_copy() - copy from or to a payload, by way of a file. Return: 0; -EFAULT */
int sed_pci_copy(int file, void *to, const void *from, size_t n);

/* ---- comch_door.c ------------------------------------------------------------------ */

#define SED_PCI_NAME_MAX	64

/** sed_pci_random() - a number that nobody guesses, not 0 */
uint64_t sed_pci_random(void);

/** sed_pci_connect() - as sed_link_ops.connect */
doca_error_t sed_pci_connect(struct doca_comch_connection *conn);

/** sed_pci_knock() - a client's HELLO is in its payload: tell the server. Return: 0; -errno */
int sed_pci_knock(struct sed_pci_link *link);

/** sed_pci_answered() - has the server answered? Return: 0; -ENOENT: no; or another error */
int sed_pci_answered(struct sed_pci_link *link);

doca_error_t sed_pci_listen(struct sed_comch *comch);
void sed_pci_listening(struct sed_comch *comch, bool on);
void sed_pci_unlisten(struct sed_comch *comch);

#endif /* SED_COMCH_PCI_H */
