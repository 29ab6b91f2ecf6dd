/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * comch.h - servers, clients and connections, between the comch_*.c
 *
 * comch.c	what servers and clients have in common: connections, what they deliver
 * comch_server.c, comch_client.c	the calls of each
 * comch_send.c	the tasks that send
 * comch_packet.c	what goes over a link, and the checks of what comes
 * comch_unix.c	links between the devices of the virtual pair
 * comch_pci.c, comch_door.c	links between machines that share memory: connections, and
 *		how clients find their server
 *
 * A link carries packets between two processes, whole and in order. A packet is copied
 * out of it before any of its bytes is looked at; whatever does not fit ends the
 * connection, and nothing else. The first packet of a client is a HELLO, which the
 * server answers by a WELCOME; all others are messages.
 *
 * A connection delivers one thing at a time: it takes no packet from its link before the
 * last one was delivered. So the end of the link is seen when all messages have been
 * taken.
 */
#ifndef SED_COMCH_H
#define SED_COMCH_H

#include "internal.h"

#include <doca_comch.h>

#define SED_COMCH_MSG_MAX	4080	/* bytes */
#define SED_COMCH_QUEUE_MAX	1024	/* messages */
#define SED_COMCH_TASKS_MAX	1024
#define SED_COMCH_CLIENTS_MAX	64
#define SED_COMCH_NAME_MAX	120	/* with the NUL */
#define SED_COMCH_DOMAIN_MAX	64	/* likewise */

/* ---- comch_packet.c ---------------------------------------------------------------- */

enum sed_packet_type {
	SED_PACKET_HELLO = 1,
	SED_PACKET_WELCOME,
	SED_PACKET_MESSAGE,
};

/**
 * struct sed_packet_head - what each packet begins with; little-endian
 * @magic: SED_PACKET_MAGIC
 * @version: SED_PACKET_VERSION
 * @type: enum sed_packet_type
 * @length: bytes that follow, to the end of the packet
 * @reserved: zero
 */
struct sed_packet_head {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t length;
	uint32_t reserved;
};

#define SED_PACKET_MAGIC	0x68434553U	/* "SECh" */
#define SED_PACKET_VERSION	1

/**
 * struct sed_greeting - HELLO and WELCOME
 * @max_msg: longest message that is taken
 * @reserved: zero
 * @domain: of SYNCEVENT_DOCA_DOMAIN, or empty; all bytes behind it are zero
 * @name: of the server, likewise
 */
struct sed_greeting {
	uint32_t max_msg;
	uint32_t reserved;
	char domain[SED_COMCH_DOMAIN_MAX];
	char name[SED_COMCH_NAME_MAX];
};

/**
 * struct sed_packet - a packet
 * @length: of all of it, and if it was received perhaps of more than there is room for
 * @head: is followed by one of the others
 *
 * Aligned so that messages are aligned to 8 bytes for programs.
 */
struct sed_packet {
	size_t length;
	_Alignas(8) struct sed_packet_head head;
	union {
		struct sed_greeting greeting;
		uint8_t message[SED_COMCH_MSG_MAX];
	};
};

#define SED_PACKET_MAX	(sizeof(struct sed_packet_head) + SED_COMCH_MSG_MAX)

/** sed_greeting_hash() - of domain and name, for names that these are too long for */
uint64_t sed_greeting_hash(const struct sed_greeting *greeting);

/** sed_packet_greet() - make a HELLO or WELCOME of its greeting */
void sed_packet_greet(struct sed_packet *packet, enum sed_packet_type type);

/** sed_packet_message() - make a message of @length bytes that are there already */
void sed_packet_message(struct sed_packet *packet, uint32_t length);

/**
 * sed_packet_check() - does it make sense?
 * @packet: came from somewhere
 *
 * Return: its type; 0: it does not.
 */
int sed_packet_check(const struct sed_packet *packet);

/* ---- links --------------------------------------------------------------------------- */

struct sed_comch;

/**
 * struct sed_link_ops - how packets get to the other side
 * @listen: be found by clients; each is told by sed_comch_incoming().
 *	    Return: SUCCESS; IN_USE: somebody is, by this name; or another error
 * @listening: be found, or not for a while
 * @unlisten: the end of it
 * @connect: reach the server. Return: SUCCESS; NOT_CONNECTED: there is none; or an error
 * @send: never waits. Return: 0; -EAGAIN: there is no room, sed_conn_poll() follows when
 *	  there is; -EPIPE: the other end has gone; -ENOMEM
 * @receive: into conn->in, never waits. Return: 0; -EAGAIN: there is none, sed_conn_poll()
 *	     follows when there is; -EPIPE: nor will there be
 * @close: the other end sees its end when it has taken all packets
 */
struct sed_link_ops {
	doca_error_t (*listen)(struct sed_comch *comch);
	void (*listening)(struct sed_comch *comch, bool on);
	void (*unlisten)(struct sed_comch *comch);
	doca_error_t (*connect)(struct doca_comch_connection *conn);
	int (*send)(struct doca_comch_connection *conn, const struct sed_packet *packet);
	int (*receive)(struct doca_comch_connection *conn);
	void (*close)(struct doca_comch_connection *conn);
};

extern const struct sed_link_ops sed_link_unix;
extern const struct sed_link_ops sed_link_pci;

/* ---- comch.c ------------------------------------------------------------------------- */

/** enum sed_conn_state - how far it is */
enum sed_conn_state {
	SED_CONN_CLOSED,	/* no link */
	SED_CONN_NEW,		/* a greeting is awaited */
	SED_CONN_UP,
};

/** enum sed_conn_event - what it has to deliver */
enum sed_conn_event {
	SED_CONN_NOTHING,
	SED_CONN_COMES,
	SED_CONN_MESSAGE,	/* in @in */
	SED_CONN_GOES,
};

TAILQ_HEAD(sed_sends, doca_comch_task_send);

/**
 * struct doca_comch_connection - a connection
 * @work: delivers @event
 * @comch: whose it is
 * @serial: which of all that @comch has ever had: another may lie where one has gone
 * @state: enum sed_conn_state
 * @event: enum sed_conn_event
 * @told: the program knows of it
 * @max_msg: longest message that either end takes
 * @unsent: tasks that wait for room
 * @user_data: the program's
 * @link: in the list of @comch
 * @source: of the link, if it has a descriptor
 * @pci: of the link between machines
 * @in: what was received last
 */
struct doca_comch_connection {
	struct sed_work work;
	struct sed_comch *comch;
	uint64_t serial;
	enum sed_conn_state state;
	enum sed_conn_event event;
	bool told;
	uint32_t max_msg;
	struct sed_sends unsent;
	union doca_data user_data;
	TAILQ_ENTRY(doca_comch_connection) link;
	struct sed_source source;
	struct sed_pci_link *pci;
	struct sed_packet in;
};

TAILQ_HEAD(sed_conns, doca_comch_connection);

/**
 * struct sed_comch_ops - what differs between servers and clients
 * @greeting: what the first packet has to be
 * @comes: the greeting of a connection has come, and is fine
 * @goes: a connection has ended, and is out of the list
 */
struct sed_comch_ops {
	enum sed_packet_type greeting;
	void (*comes)(struct doca_comch_connection *conn);
	void (*goes)(struct doca_comch_connection *conn);
};

/**
 * struct sed_comch - a server or client
 * @ctx: its context
 * @ops: which of them
 * @links: by which it reaches the others
 * @dev: its device
 * @greeting: who it is, and how long its messages are
 * @queue_size: the program's; a hint
 * @send: the tasks
 * @received: the program's, or NULL
 * @conns: its connections
 * @opened: how many it has ever had
 * @side: between machines: that which the client is on
 * @listener: of @links, if it has a descriptor
 * @door: of links between machines
 */
struct sed_comch {
	struct doca_ctx ctx;
	const struct sed_comch_ops *ops;
	const struct sed_link_ops *links;
	struct doca_dev *dev;
	struct sed_greeting greeting;
	uint32_t queue_size;
	struct sed_pool send;
	doca_comch_event_msg_recv_cb_t received;
	struct sed_conns conns;
	uint64_t opened;
	unsigned int side;
	struct sed_source listener;
	struct sed_pci_door *door;
};

/**
 * sed_comch_init() - of a zeroed one
 *
 * Return: SUCCESS; INVALID_VALUE: @name.
 */
doca_error_t sed_comch_init(struct sed_comch *comch, const struct sed_comch_ops *ops,
			    const struct sed_ctx_ops *ctx_ops, struct doca_dev *dev,
			    const char *name);

/** sed_comch_exit() - in IDLE, before it is freed */
void sed_comch_exit(struct sed_comch *comch);

/** sed_comch_domain() - put the domain into the greeting. Return: SUCCESS; BAD_CONFIG */
doca_error_t sed_comch_domain(struct sed_comch *comch);

/** sed_comch_supports() - does a device have it? Return: SUCCESS; NOT_SUPPORTED; INVALID_VALUE */
doca_error_t sed_comch_supports(const struct doca_devinfo *devinfo, bool server);

doca_error_t sed_comch_set_max_msg_size(struct sed_comch *comch, uint32_t size);
doca_error_t sed_comch_get_max_msg_size(const struct sed_comch *comch, uint32_t *size);
doca_error_t sed_comch_set_queue_size(struct sed_comch *comch, uint32_t size);
doca_error_t sed_comch_get_queue_size(const struct sed_comch *comch, uint32_t *size);
doca_error_t sed_comch_get_device(const struct sed_comch *comch, struct doca_dev **dev);
doca_error_t sed_comch_recv_register(struct sed_comch *comch, doca_comch_event_msg_recv_cb_t cb);

/** sed_conn_open() - begin with a zeroed one that has a serial: SED_CONN_CLOSED, in no list */
void sed_conn_open(struct doca_comch_connection *conn, struct sed_comch *comch);

/** sed_conn_greet() - send a HELLO or WELCOME. Return: as sed_link_ops.send */
int sed_conn_greet(struct doca_comch_connection *conn, enum sed_packet_type type);

/** sed_conn_poll() - the link may have a packet. Return: false: it is gone, and freed */
bool sed_conn_poll(struct doca_comch_connection *conn);

/**
 * sed_conn_deliver() - what it has to deliver, at once; from the deliver() of another work
 *
 * Return: false: there is nothing.
 */
bool sed_conn_deliver(struct doca_comch_connection *conn);

/** sed_conn_close() - end it: the link is closed, what waits to be sent fails */
void sed_conn_close(struct doca_comch_connection *conn, doca_error_t status);

/** sed_conn_end() - end it, and have that delivered. Return: false: it is freed */
bool sed_conn_end(struct doca_comch_connection *conn, doca_error_t status);

/** sed_comch_incoming() - make a connection for a client. NULL: no memory */
struct doca_comch_connection *sed_comch_incoming(struct sed_comch *comch);

/** sed_comch_has() - is it one of its connections? */
bool sed_comch_has(const struct sed_comch *comch, const struct doca_comch_connection *conn);

/* ---- comch_send.c -------------------------------------------------------------------- */

doca_error_t sed_send_conf(struct sed_comch *comch, doca_comch_task_send_completion_cb_t done,
			   doca_comch_task_send_completion_cb_t failed, uint32_t num);
doca_error_t sed_send_alloc(struct sed_comch *comch, struct doca_comch_connection *peer,
			    const void *msg, uint32_t len, struct doca_comch_task_send **task);

/** sed_send_more() - the link has room */
void sed_send_more(struct doca_comch_connection *conn);

/** sed_send_fail() - all tasks that wait for room */
void sed_send_fail(struct doca_comch_connection *conn, doca_error_t status);

#endif /* SED_COMCH_H */
