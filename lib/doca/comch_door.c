// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * comch_door.c - how a client finds its server on another machine
 *
 * A server has a door: an event with the name doca.SIDE.HASH, of the side that its clients
 * are on and of domain and server. A client makes its end of the link, with the name
 * doca.SIDE.HASH.K for the first K that is free, and knocks: it changes the value of the
 * door. The server then looks who has come: it joins each K, and makes its own end of the
 * link, doca.w.NONCE, by the number that the client has drawn. It knocks, too: clients
 * wait at the door until there is that end, and then take their name away.
 */
#include "comch_pci.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "log.h"

/* Clients at a door: K of their names. A look for each is a call of the kernel. */
#define WAITING_MAX	16

/**
 * struct sed_pci_door - of a server
 * @bell: waits for somebody to knock
 * @comch: the server
 * @event: the door
 * @on: in which queue it is waited for
 * @file: in memory, for copies
 * @open: there may be more clients
 * @answered: the nonce of the last client with each K: its name is not always gone at once
 */
struct sed_pci_door {
	struct sed_work bell;
	struct sed_comch *comch;
	struct syncevent *event;
	enum syncevent_provider on;
	int file;
	bool open;
	uint64_t answered[WAITING_MAX];
};

uint64_t sed_pci_random(void)
{
	uint64_t number;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = 0;
	} while (!number);
	return number;
}

/* ---- names --------------------------------------------------------------------------- */

/* @k: of a client; negative: the door */
static void door_name(char name[SED_PCI_NAME_MAX], const struct sed_comch *comch, int k)
{
	const uint64_t sum = sed_greeting_hash(&comch->greeting);
	const int n = snprintf(name, SED_PCI_NAME_MAX, "doca.%u.%016" PRIx64, comch->side, sum);

	if (k >= 0)
		snprintf(name + n, SED_PCI_NAME_MAX - (size_t)n, ".%d", k);
}

static void answer_name(char name[SED_PCI_NAME_MAX], uint64_t nonce)
{
	snprintf(name, SED_PCI_NAME_MAX, "doca.w.%016" PRIx64, nonce);
}

static const char *device_of(const struct sed_comch *comch)
{
	return sed_dev_id(comch->dev)->device;
}

/* ---- clients ------------------------------------------------------------------------- */

doca_error_t sed_pci_connect(struct doca_comch_connection *conn)
{
	struct sed_comch *comch = conn->comch;
	char name[SED_PCI_NAME_MAX];
	struct syncevent_pci pci;
	struct syncevent *door;
	int err;

	err = sed_dev_pci(sed_dev_id(comch->dev), &pci);
	if (err)
		return sed_error(err);
	comch->side = pci.side;
	door_name(name, comch, -1);
	err = syncevent_import_name(&door, device_of(comch), name, 0);
	if (err == -ENOENT || err == -EIDRM)
		return DOCA_ERROR_NOT_CONNECTED;
	if (err)
		return sed_error(err);
	err = sed_pci_link_make(conn);
	if (err) {
		syncevent_close(door);
		return sed_error(err);
	}
	conn->pci->door = door;
	conn->pci->nonce = sed_pci_random();
	conn->state = SED_CONN_NEW;
	return DOCA_SUCCESS;
}

/*
 * Others change the value of the door as well, so it does not say whether this knock has
 * been answered. A server that came for somebody else may even have done so before:
 *
 *	client				server
 *	export name K
 *					find K, export the answer
 *					change the door
 *	change the door
 *	look for the answer		find K, which it knows
 *	wait for a change
 *
 * So the first look comes right after the knock, in bell(), and not after the next change.
 */
int sed_pci_knock(struct sed_pci_link *link)
{
	struct sed_comch *comch = link->conn->comch;
	char name[SED_PCI_NAME_MAX];
	int err, k;

	err = sed_pci_copy(link->file, link->in + SED_PCI_NONCE_AT, &link->nonce,
			   sizeof(link->nonce));
	if (err)
		return err;
	err = -EEXIST;
	for (k = 0; k < WAITING_MAX && err == -EEXIST; k++) {
		door_name(name, comch, k);
		err = syncevent_export_name(link->own, name, 0);
	}
	if (err)
		return err;
	err = syncevent_set(link->door, sed_pci_random());
	if (!err)
		sed_pe_post(comch->ctx.pe, &link->bell);
	return err;
}

int sed_pci_answered(struct sed_pci_link *link)
{
	char name[SED_PCI_NAME_MAX];
	struct syncevent *theirs;
	int err;

	/* First the value: what happens after this rings again. */
	err = syncevent_get(link->door, &link->seen);
	if (err)
		return err;
	answer_name(name, link->nonce);
	err = syncevent_import_name(&theirs, device_of(link->conn->comch), name, 0);
	if (err)
		return err;
	/* The bell waits for the link's other end from now on. */
	syncevent_close(link->door);
	link->door = NULL;
	link->theirs = theirs;
	link->seen = 0;
	(void)syncevent_export_name(link->own, NULL, 0);
	return sed_pci_end_payload(theirs, &link->out);
}

/* ---- servers ------------------------------------------------------------------------- */

/* The server's end of a link. Return: 0, and @theirs is the link's; or an error */
static int answer(struct doca_comch_connection *conn, struct syncevent *theirs, uint8_t *out,
		  uint64_t nonce)
{
	char name[SED_PCI_NAME_MAX];
	int err = sed_pci_link_make(conn);

	if (err)
		return err;
	answer_name(name, nonce);
	err = syncevent_export_name(conn->pci->own, name, 0);
	if (err) {
		sed_pci_link_free(conn);
		return err;
	}
	conn->pci->theirs = theirs;
	conn->pci->out = out;
	conn->pci->hello = true;
	conn->state = SED_CONN_NEW;
	return 0;
}

/* One that is called K. Return: the connection, which has come; NULL: there is none */
static struct doca_comch_connection *receive_client(struct sed_pci_door *door, int k)
{
	struct sed_comch *comch = door->comch;
	struct doca_comch_connection *conn;
	char name[SED_PCI_NAME_MAX];
	struct syncevent *theirs;
	uint64_t nonce;
	uint8_t *out;

	door_name(name, comch, k);
	if (syncevent_import_name(&theirs, device_of(comch), name, 0))
		return NULL;
	if (sed_pci_end_payload(theirs, &out) ||
	    sed_pci_copy(door->file, &nonce, out + SED_PCI_NONCE_AT, sizeof(nonce)) ||
	    nonce == door->answered[k])
		goto err_close;
	conn = sed_comch_incoming(comch);
	if (!conn)
		goto err_close;
	if (answer(conn, theirs, out, nonce)) {
		(void)sed_conn_end(conn, DOCA_ERROR_CONNECTION_RESET);
		goto err_close;
	}
	/* Not whether there is a connection: one that has ended must not come again by itself. */
	door->answered[k] = nonce;
	if (!sed_conn_poll(conn) || conn->state != SED_CONN_UP)
		return NULL;
	sed_pci_link_wait(conn->pci);
	return conn;

err_close:
	syncevent_close(theirs);
	return NULL;
}

static bool knocked(struct sed_work *work)
{
	struct sed_pci_door *door = SED_OF(work, struct sed_pci_door, bell);
	struct doca_comch_connection *conn, *first = NULL;
	struct sed_comch *comch = door->comch;
	uint64_t value;
	int err, k;

	err = work->status ? work->status : syncevent_get(door->event, &value);
	for (k = 0; k < WAITING_MAX && !err && door->open; k++) {
		conn = receive_client(door, k);
		if (conn && !first)
			first = conn;
	}
	if (first)
		err = syncevent_set(door->event, sed_pci_random());
	/* It is ready already if one of them was one too many, and failed. */
	if (!err && door->open && door->bell.state == SED_WORK_NONE)
		err = sed_pe_wait(comch->ctx.pe, &door->bell, door->on, door->event,
				  SYNCEVENT_NEQ, value, UINT64_MAX);
	if (err) {
		/* This machine has lost the region. */
		SED_WARN("comch %s: stops: %s", comch->greeting.name, syncevent_strerror(err));
		(void)sed_ctx_abort(&comch->ctx);
		return true;
	}
	return first && sed_conn_deliver(first);
}

doca_error_t sed_pci_listen(struct sed_comch *comch)
{
	const struct syncevent_attr attr = { .size = sizeof(attr), .pci = device_of(comch) };
	char name[SED_PCI_NAME_MAX];
	struct sed_pci_door *door = calloc(1, sizeof(*door));
	int err;

	if (!door)
		return DOCA_ERROR_NO_MEMORY;
	door->bell.deliver = knocked;
	door->comch = comch;
	door->open = true;
	door->file = memfd_create("comch", MFD_CLOEXEC);
	if (door->file < 0) {
		err = -errno;
		goto err_free;
	}
	err = syncevent_create(&door->event, &attr);
	if (err)
		goto err_file;
	door_name(name, comch, -1);
	err = syncevent_export_name(door->event, name, 0);
	if (err)
		goto err_close;
	door->on = sed_provider(door->event);
	err = sed_pe_reserve(comch->ctx.pe, door->on, door->event, 1);
	if (err)
		goto err_close;
	err = sed_pe_wait(comch->ctx.pe, &door->bell, door->on, door->event, SYNCEVENT_NEQ, 0,
			  UINT64_MAX);
	if (err)
		goto err_unreserve;
	comch->door = door;
	return DOCA_SUCCESS;

err_unreserve:
	sed_pe_unreserve(comch->ctx.pe, door->on, 1);
err_close:
	syncevent_close(door->event);
err_file:
	close(door->file);
err_free:
	free(door);
	return err == -EEXIST ? DOCA_ERROR_IN_USE : sed_error(err);
}

/* Who has knocked in the meantime is looked for. */
void sed_pci_listening(struct sed_comch *comch, bool on)
{
	comch->door->open = on;
	if (!on) {
		sed_pe_drop(comch->ctx.pe, &comch->door->bell);
		return;
	}
	comch->door->bell.status = 0;
	sed_pe_post(comch->ctx.pe, &comch->door->bell);
}

void sed_pci_unlisten(struct sed_comch *comch)
{
	struct sed_pci_door *door = comch->door;

	sed_pe_drop(comch->ctx.pe, &door->bell);
	sed_pe_unreserve(comch->ctx.pe, door->on, 1);
	syncevent_close(door->event);
	close(door->file);
	comch->door = NULL;
	free(door);
}
