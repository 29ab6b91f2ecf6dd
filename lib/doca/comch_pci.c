// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* comch_pci.c - links between machines: packets in the payload of events, see comch_pci.h */
#include "comch_pci.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The half of a value that changes when its end has something to say. */
#define SAYS	0xffffffff00000000ULL

_Static_assert(SED_PACKET_MAX <= SED_PCI_PAGE, "a packet fits into its slot");

/* ---- copies -------------------------------------------------------------------------- */

int sed_pci_copy(int file, void *to, const void *from, size_t n)
{
	if (pwrite(file, from, n, 0) != (ssize_t)n || pread(file, to, n, 0) != (ssize_t)n)
		return -EFAULT;
	return 0;
}

static size_t number_at(uint64_t packet)
{
	return (size_t)(packet - 1) % SED_PCI_SLOTS * sizeof(uint64_t);
}

static size_t slot_at(uint64_t packet)
{
	return SED_PCI_PAGE * (1 + (size_t)(packet - 1) % SED_PCI_SLOTS);
}

/* ---- making and ending --------------------------------------------------------------- */

static void free_link(struct sed_pci_link *link)
{
	if (link->file >= 0)
		close(link->file);
	syncevent_close(link->door);
	syncevent_close(link->theirs);
	syncevent_close(link->own);
	free(link);
}

static bool bell(struct sed_work *work);

int sed_pci_link_make(struct doca_comch_connection *conn)
{
	const struct syncevent_attr attr = {
		.size = sizeof(attr),
		.pci = sed_dev_id(conn->comch->dev)->device,
		.pages = SED_PCI_PAGES,
	};
	struct sed_pci_link *link = calloc(1, sizeof(*link));
	void *in;
	int err;

	if (!link)
		return -ENOMEM;
	link->bell.deliver = bell;
	link->conn = conn;
	link->file = memfd_create("comch", MFD_CLOEXEC);
	if (link->file < 0) {
		err = -errno;
		goto err_free;
	}
	err = syncevent_create(&link->own, &attr);
	if (err)
		goto err_free;
	err = syncevent_payload(link->own, &in, NULL);
	if (err)
		goto err_free;
	link->in = in;
	link->on = sed_provider(link->own);
	err = sed_pe_reserve(conn->comch->ctx.pe, link->on, link->own, 1);
	if (err)
		goto err_free;
	conn->pci = link;
	return 0;

err_free:
	free_link(link);
	return err;
}

void sed_pci_link_free(struct doca_comch_connection *conn)
{
	struct sed_pci_link *link = conn->pci;

	sed_pe_drop(conn->comch->ctx.pe, &link->bell);
	sed_pe_unreserve(conn->comch->ctx.pe, link->on, 1);
	conn->pci = NULL;
	free_link(link);
}

int sed_pci_end_payload(struct syncevent *theirs, uint8_t **payload)
{
	size_t size;
	void *ptr;
	int err = syncevent_payload(theirs, &ptr, &size);

	if (err)
		return err;
	*payload = ptr;
	return size < (size_t)SED_PCI_PAGES * SED_PCI_PAGE ? -EPROTO : 0;
}

/* ---- looking ------------------------------------------------------------------------- */

/* The other end's value. One that has taken what was never sent is no end of a link. */
static void look(struct sed_pci_link *link)
{
	if (syncevent_get(link->theirs, &link->seen) ||
	    (uint32_t)link->sent - (uint32_t)link->seen > SED_PCI_SLOTS)
		link->gone = true;
}

static bool is_full(const struct sed_pci_link *link)
{
	return (uint32_t)link->sent - (uint32_t)link->seen >= SED_PCI_SLOTS;
}

/* Is the next packet there, all of it? */
static bool has_packet(const struct sed_pci_link *link)
{
	const uint64_t next = link->taken + 1;
	uint64_t number;

	if (link->hello)
		return true;
	if (!link->theirs ||
	    sed_pci_copy(link->file, &number, link->in + number_at(next), sizeof(number)))
		return false;
	/* Its number was written behind the packet. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return number == next;
}

void sed_pci_link_wait(struct sed_pci_link *link)
{
	struct doca_pe *pe = link->conn->comch->ctx.pe;
	const uint64_t mask = link->theirs && !link->wants_room ? SAYS : UINT64_MAX;
	int err = -EALREADY;

	if (link->bell.state == SED_WORK_READY)
		return;
	(void)sed_pe_withdraw(pe, &link->bell);
	if (link->bell.state == SED_WORK_READY)
		return;
	link->bell.status = 0;
	if (!link->gone && !has_packet(link))
		err = sed_pe_wait(pe, &link->bell, link->on,
				  link->theirs ? link->theirs : link->door, SYNCEVENT_NEQ,
				  link->seen & mask, mask);
	if (!err)
		return;
	if (err != -EALREADY)
		link->gone = true;
	sed_pe_post(pe, &link->bell);
}

static bool bell(struct sed_work *work)
{
	struct sed_pci_link *link = SED_OF(work, struct sed_pci_link, bell);
	struct doca_comch_connection *conn = link->conn;
	int err;

	if (work->status)
		link->gone = true;
	if (!link->theirs && !link->gone) {
		err = sed_pci_answered(link);
		if (err && err != -ENOENT)
			link->gone = true;
	}
	if (link->theirs && !link->gone) {
		look(link);
		link->wants_room = false;
		sed_send_more(conn);
	}
	if (!sed_conn_poll(conn))
		return false;
	if (conn->state != SED_CONN_CLOSED)
		sed_pci_link_wait(link);
	return sed_conn_deliver(conn);
}

/* ---- packets ------------------------------------------------------------------------- */

static int say(struct sed_pci_link *link, bool news)
{
	link->rings += news;
	return syncevent_set(link->own, (uint64_t)link->rings << 32 | (uint32_t)link->taken);
}

static int send_packet(struct sed_pci_link *link, const struct sed_packet *packet)
{
	const uint64_t number = link->sent + 1;

	if (is_full(link)) {
		look(link);
		if (link->gone)
			return -EPIPE;
		if (is_full(link))
			return -EAGAIN;
	}
	if (sed_pci_copy(link->file, link->out + slot_at(number), &packet->head, packet->length))
		return -EPIPE;
	/* The number says that the packet is there. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (sed_pci_copy(link->file, link->out + number_at(number), &number, sizeof(number)))
		return -EPIPE;
	link->sent++;
	return say(link, true) ? -EPIPE : 0;
}

static int pci_send(struct doca_comch_connection *conn, const struct sed_packet *packet)
{
	struct sed_pci_link *link = conn->pci;
	int err;

	if (link->gone)
		return -EPIPE;
	/* A client's first packet, before there is another end. */
	if (!link->theirs) {
		if (sed_pci_copy(link->file, link->in + SED_PCI_HELLO_AT, &packet->head,
				 packet->length))
			return -EPIPE;
		err = sed_pci_knock(link);
		return err ? -EPIPE : 0;
	}
	err = send_packet(link, packet);
	if (err == -EAGAIN) {
		link->wants_room = true;
		if (link->bell.state == SED_WORK_WAITING)
			sed_pci_link_wait(link);
	}
	return err;
}

/* From a payload, which may change or vanish all the while. */
static int take(struct sed_pci_link *link, const uint8_t *from)
{
	struct sed_packet *packet = &link->conn->in;
	const size_t head = sizeof(packet->head);

	if (sed_pci_copy(link->file, &packet->head, from, head))
		return -EPIPE;
	packet->length = head + packet->head.length;
	/* What claims to be longer than there is room for is refused without its bytes. */
	if (packet->length > head && packet->length <= SED_PACKET_MAX &&
	    sed_pci_copy(link->file, packet->message, from + head, packet->head.length))
		return -EPIPE;
	return 0;
}

static int pci_receive(struct doca_comch_connection *conn)
{
	struct sed_pci_link *link = conn->pci;
	int err;

	if (!has_packet(link))
		return link->gone ? -EPIPE : -EAGAIN;
	if (link->hello) {
		link->hello = false;
		return take(link, link->out + SED_PCI_HELLO_AT);
	}
	err = take(link, link->in + slot_at(link->taken + 1));
	if (err)
		return err;
	link->taken++;
	/* There is room again. That there is nobody to know it is seen later. */
	(void)say(link, false);
	return 0;
}

static void pci_close(struct doca_comch_connection *conn)
{
	sed_pci_link_free(conn);
}

const struct sed_link_ops sed_link_pci = {
	.listen = sed_pci_listen,
	.listening = sed_pci_listening,
	.unlisten = sed_pci_unlisten,
	.connect = sed_pci_connect,
	.send = pci_send,
	.receive = pci_receive,
	.close = pci_close,
};
