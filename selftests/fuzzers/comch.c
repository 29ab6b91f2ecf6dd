// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A comch server on a link that says anything: whatever comes over it, the program is given
 * messages that make sense, of connections that said HELLO, and is told of the end of each
 * connection that it was told of.
 *
 * Input: steps, each the number of a connection and a verb
 *	COME	a client connects
 *	RAW	bytes are a packet; their length precedes them
 *	PATCH	a HELLO or message, of which bytes are changed
 *	END	the link ends
 *	ROOM	it has room for so many packets
 *	PROGRESS, SEND, DISCONNECT, STOP	what a program does
 */
#include "fuzzer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "comch.h"

enum { COME, RAW, PATCH, END, ROOM, PROGRESS, SEND, DISCONNECT, STOP, VERBS };

#define LINKS	4

/**
 * struct link - the other end of a connection
 * @conn: NULL: there is none
 * @packet: what comes next, if @full
 * @taken: what the library took last
 * @ended: nothing comes any more
 * @closed: by the library
 * @room: packets that it takes
 * @max_msg: as the first packet said, which made sense; 0: there was none yet
 * @told: the program knows of it
 * @broken: what came made no sense: no more messages
 */
static struct link {
	struct doca_comch_connection *conn;
	struct sed_packet packet;
	struct sed_packet taken;
	bool full;
	bool ended;
	bool closed;
	bool told;
	bool broken;
	uint32_t max_msg;
	unsigned int room;
} links[LINKS];

static struct doca_comch_server *server;
static struct doca_ctx *ctx;
static struct doca_pe *pe;
static bool listens;

static struct link *link_of(const struct doca_comch_connection *conn)
{
	struct link *link = links;

	while (link->conn != conn)
		CHECK(++link < links + LINKS);
	return link;
}

/* ---- what makes sense, once more ----------------------------------------------------- */

static bool text_ends(const char *text, size_t size)
{
	size_t i, end = size;

	for (i = 0; i < size; i++) {
		if (!text[i] && end == size)
			end = i;
		if (text[i] && end < size)
			return false;
	}
	return end < size;
}

/* The type of a packet that makes sense, else 0. */
static int type_of(const struct sed_packet *p)
{
	const size_t length = p->length - 16;

	if (p->length < 16 || length > 4080 || p->head.magic != 0x68434553 ||
	    p->head.version != 1 || p->head.reserved || p->head.length != length)
		return 0;
	if (p->head.type == 3)
		return 3;
	return (p->head.type == 1 || p->head.type == 2) && length == 192 &&
	       !p->greeting.reserved && p->greeting.max_msg >= 1 && p->greeting.max_msg <= 4080 &&
	       text_ends(p->greeting.domain, 64) && text_ends(p->greeting.name, 120) &&
	       p->greeting.name[0] ? p->head.type : 0;
}

/* Does it make sense to this server, here? */
static bool is_fine(const struct link *link, const struct sed_packet *p)
{
	if (link->max_msg)
		return type_of(p) == 3 && p->length - 16 <= link->max_msg;
	return type_of(p) == 1 && !strcmp(p->greeting.domain, "domain") &&
	       !strcmp(p->greeting.name, "name");
}

/* ---- the link ------------------------------------------------------------------------ */

static doca_error_t fake_listen(struct sed_comch *comch)
{
	(void)comch;
	listens = true;
	return DOCA_SUCCESS;
}

static void fake_listening(struct sed_comch *comch, bool on)
{
	(void)comch;
	(void)on;
	CHECK(0);	/* there are not so many */
}

static void fake_unlisten(struct sed_comch *comch)
{
	(void)comch;
	listens = false;
}

static int fake_send(struct doca_comch_connection *conn, const struct sed_packet *packet)
{
	struct link *link = link_of(conn);

	CHECK(sed_packet_check(packet));
	CHECK(!link->closed);
	if (link->ended)
		return -EPIPE;
	if (!link->room)
		return -EAGAIN;
	link->room--;
	return 0;
}

static int fake_receive(struct doca_comch_connection *conn)
{
	struct link *link = link_of(conn);

	/* Nothing is taken before the last one was delivered. */
	CHECK(!link->closed && conn->event == SED_CONN_NOTHING);
	if (!link->full)
		return link->ended ? -EPIPE : -EAGAIN;
	link->full = false;
	conn->in = link->taken = link->packet;
	CHECK(sed_packet_check(&link->taken) == type_of(&link->taken));
	if (!is_fine(link, &link->taken))
		link->broken = true;
	else if (!link->max_msg)
		link->max_msg = link->taken.greeting.max_msg < 1000 ?
					link->taken.greeting.max_msg : 1000;
	return 0;
}

static void fake_close(struct doca_comch_connection *conn)
{
	link_of(conn)->closed = true;
}

static const struct sed_link_ops fake_links = {
	.listen = fake_listen,
	.listening = fake_listening,
	.unlisten = fake_unlisten,
	.send = fake_send,
	.receive = fake_receive,
	.close = fake_close,
};

/* ---- the program --------------------------------------------------------------------- */

static void comes(struct doca_comch_event_connection_status_changed *event,
		  struct doca_comch_connection *conn, uint8_t ok)
{
	struct link *link = link_of(conn);

	(void)event;
	CHECK(ok == 1 && link->max_msg && !link->told);
	link->told = true;
}

static void goes(struct doca_comch_event_connection_status_changed *event,
		 struct doca_comch_connection *conn, uint8_t ok)
{
	struct link *link = link_of(conn);

	(void)event;
	CHECK(ok == 1 && link->told && link->closed);
	link->conn = NULL;
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t n,
		     struct doca_comch_connection *conn)
{
	const struct link *link = link_of(conn);

	(void)event;
	CHECK(link->told);
	CHECK(!link->broken);
	CHECK(n <= link->max_msg && n == link->taken.length - 16);
	CHECK(!memcmp(bytes, link->taken.message, n));
}

static void sent(struct doca_comch_task_send *task, union doca_data task_data,
		 union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct doca_devinfo_rep **reps;
	struct doca_devinfo **devs;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint32_t n;

	(void)argc;
	(void)argv;
	setenv("SYNCEVENT_DOCA_DOMAIN", "domain", 1);
	CHECK(!doca_devinfo_create_list(&devs, &n) && n == 2);
	CHECK(!doca_dev_open(devs[1], &dev));
	CHECK(!doca_devinfo_rep_create_list(dev, 0, &reps, &n) && n == 1);
	CHECK(!doca_dev_rep_open(reps[0], &rep));
	doca_devinfo_rep_destroy_list(reps);
	doca_devinfo_destroy_list(devs);
	CHECK(!doca_pe_create(&pe));
	CHECK(!doca_comch_server_create(dev, rep, "name", &server));
	CHECK(!doca_comch_server_set_max_msg_size(server, 1000));
	CHECK(!doca_comch_server_event_msg_recv_register(server, received));
	CHECK(!doca_comch_server_event_connection_status_changed_register(server, comes, goes));
	CHECK(!doca_comch_server_task_send_set_conf(server, sent, sent, 3));
	ctx = doca_comch_server_as_ctx(server);
	CHECK(!doca_pe_connect_ctx(pe, ctx));
	SED_OF(ctx, struct sed_comch, ctx)->links = &fake_links;
	return 0;
}

/* ---- steps --------------------------------------------------------------------------- */

static void come(struct link *link)
{
	if (link->conn)
		return;
	memset(link, 0, sizeof(*link));
	link->room = 2;
	link->conn = sed_comch_incoming(SED_OF(ctx, struct sed_comch, ctx));
	link->conn->state = SED_CONN_NEW;
}

/* Let the library look; one that the program was not told of ends without a word. */
static void look(struct link *link)
{
	if (!link->conn)
		return;
	sed_conn_poll(link->conn);
	if (link->closed && !link->told)
		link->conn = NULL;
}

static void give(struct link *link, struct bytes *in, bool patched)
{
	struct sed_packet *packet = &link->packet;

	if (link->full || link->ended || link->closed)
		return;
	memset(packet, 0, sizeof(*packet));
	if (patched) {
		const unsigned int how = (unsigned int)take(in, 1);
		struct bytes changes = { in->at, 0 };

		if (how & 1) {
			sed_packet_message(packet, (uint32_t)take(in, 2) % 1100);
		} else {
			packet->greeting.max_msg = 1000;
			strcpy(packet->greeting.domain, "domain");
			strcpy(packet->greeting.name, "name");
			sed_packet_greet(packet, SED_PACKET_HELLO);
		}
		changes.left = how >> 1 & 0x3f;
		changes.at = in->at;
		if (changes.left > in->left)
			changes.left = in->left;
		in->at += changes.left;
		in->left -= changes.left;
		patch(&packet->head, packet->length, &changes);
	} else {
		size_t n = (size_t)take(in, 2) % 6000;

		packet->length = n;
		if (n > SED_PACKET_MAX)
			n = SED_PACKET_MAX;
		if (n > in->left)
			n = in->left;
		memcpy(&packet->head, in->at, n);
		in->at += n;
		in->left -= n;
	}
	link->full = true;
	look(link);
}

static void try_send(struct link *link, struct bytes *in)
{
	static const uint8_t bytes[1000];
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (!link->told)
		return;
	result = doca_comch_server_task_send_alloc_init(server, link->conn, bytes,
							(uint32_t)take(in, 2) % 1000, &task);
	if (result == DOCA_SUCCESS && doca_task_submit(doca_comch_task_send_as_task(task)))
		doca_task_free(doca_comch_task_send_as_task(task));
}

static void stop(void)
{
	struct link *link;

	(void)doca_ctx_stop(ctx);
	while (doca_pe_progress(pe))
		;
	for (link = links; link < links + LINKS; link++) {
		CHECK(!link->conn || !link->told);
		link->conn = NULL;
	}
	CHECK(!listens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	CHECK(!doca_ctx_start(ctx) && listens);
	while (in.left) {
		const unsigned int step = (unsigned int)take(&in, 1);
		struct link *link = &links[step / VERBS % LINKS];
		const unsigned int verb = step % VERBS;

		if (verb == PROGRESS) {
			doca_pe_progress(pe);
			for (link = links; link < links + LINKS; link++)
				look(link);
			continue;
		}
		if (verb == STOP) {
			stop();
			CHECK(!doca_ctx_start(ctx));
			continue;
		}
		if (verb == COME)
			come(link);
		else if (!link->conn)
			continue;
		switch (verb) {
		case RAW:
		case PATCH:
			give(link, &in, verb == PATCH);
			break;
		case END:
			link->ended = true;
			look(link);
			break;
		case ROOM:
			link->room = (unsigned int)take(&in, 1) % 4;
			if (link->room && !link->closed)
				sed_send_more(link->conn);
			break;
		case SEND:
			try_send(link, &in);
			break;
		case DISCONNECT:
			if (link->told)
				(void)doca_comch_server_disconnect(server, link->conn);
			break;
		default:
			break;
		}
	}
	stop();
	return 0;
}
