/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_ends.h - what the tests of libsyncevent-doca's comch share
 *
 * An end is a server or a client on the virtual pair with an engine of its own, which
 * counts what it is told. Both ends may be in one process: nothing moves but by progress.
 */
#ifndef SELFTESTS_DOCA_ENDS_H
#define SELFTESTS_DOCA_ENDS_H

#include "common.h"

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#define HOST	"0000:01:00.0"
#define DPU	"0000:03:00.0"
#define MSG_MAX	4080
#define TASKS	16

/* Names and domains are of this process: several runs do not meet. */
static char doca_domain[64];

static inline void doca_own_domain(void)
{
	snprintf(doca_domain, sizeof(doca_domain), "test-%d", getpid());
	setenv("SYNCEVENT_DOCA_DOMAIN", doca_domain, 1);
}

/* The devices of servers and clients; NULL: the first one. */
static const char *doca_server_device = DPU;
static const char *doca_client_device = HOST;

/* ---- devices ------------------------------------------------------------------------- */

static inline struct doca_dev *doca_open(const char *address)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t n, i;
	uint8_t equal;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return NULL;
	for (i = 0; i < n && !dev; i++) {
		equal = 1;
		if (address)
			(void)doca_devinfo_is_equal_pci_addr(list[i], address, &equal);
		if (equal && doca_dev_open(list[i], &dev) != DOCA_SUCCESS)
			dev = NULL;
	}
	doca_devinfo_destroy_list(list);
	return dev;
}

static inline struct doca_dev_rep *doca_open_rep(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t n;

	if (doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n) != DOCA_SUCCESS)
		return NULL;
	if (n != 1 || doca_dev_rep_open(list[0], &rep) != DOCA_SUCCESS)
		rep = NULL;
	doca_devinfo_rep_destroy_list(list);
	return rep;
}

/* ---- ends ---------------------------------------------------------------------------- */

/**
 * struct end - a server or client
 * @conn: server: the connection that came last; client: its own
 * @from: where the last message came from
 * @comes: connections; @goes: likewise
 * @messages: how many; @bytes: of the last one, @last
 * @sent: tasks that succeeded; @unsent: that failed, @status the last one
 * @states: how often each was told
 * @keep: completed tasks are not freed
 * @on_message: called after it was counted
 * @on_idle: called when it has become IDLE
 */
struct end {
	struct doca_pe *pe;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *conn;
	struct doca_comch_connection *from;
	unsigned int comes;
	unsigned int goes;
	unsigned int messages;
	uint32_t bytes;
	uint8_t last[MSG_MAX];
	unsigned int sent;
	unsigned int unsent;
	doca_error_t status;
	unsigned int states[4];
	bool keep;
	void (*on_message)(struct end *end);
	void (*on_goes)(struct end *end);
	void (*on_idle)(struct end *end);
};

static inline struct end *end_of(const struct doca_comch_connection *conn)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(conn);
	union doca_data data = { .u64 = 0 };

	if (!server == !client)
		return NULL;
	doca_ctx_get_user_data(server ? doca_comch_server_as_ctx(server) :
					doca_comch_client_as_ctx(client), &data);
	return data.ptr;
}

static inline void end_comes(struct doca_comch_event_connection_status_changed *event,
			     struct doca_comch_connection *conn, uint8_t ok)
{
	struct end *end = end_of(conn);

	(void)event;
	end->comes += ok == 1;
	end->conn = conn;
}

static inline void end_goes(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *conn, uint8_t ok)
{
	struct end *end = end_of(conn);

	(void)event;
	end->goes += ok == 1;
	if (end->on_goes)
		end->on_goes(end);
}

static inline void end_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes,
			       uint32_t n, struct doca_comch_connection *conn)
{
	struct end *end = end_of(conn);

	(void)event;
	end->messages++;
	end->bytes = n;
	end->from = conn;
	memcpy(end->last, bytes, n);
	if (end->on_message)
		end->on_message(end);
}

static inline void end_sent(struct doca_comch_task_send *task, union doca_data task_data,
			    union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	(void)task_data;
	end->sent++;
	end->status = doca_task_get_status(doca_comch_task_send_as_task(task));
	if (!end->keep)
		doca_task_free(doca_comch_task_send_as_task(task));
}

static inline void end_unsent(struct doca_comch_task_send *task, union doca_data task_data,
			      union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	(void)task_data;
	end->unsent++;
	end->status = doca_task_get_status(doca_comch_task_send_as_task(task));
	if (!end->keep)
		doca_task_free(doca_comch_task_send_as_task(task));
}

static inline void end_state(const union doca_data data, struct doca_ctx *ctx,
			     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct end *end = data.ptr;

	(void)ctx;
	(void)prev;
	end->states[next]++;
	if (next == DOCA_CTX_STATE_IDLE && end->on_idle)
		end->on_idle(end);
}

/* Each returns the first error. */
#define TRY(call) do {					\
	doca_error_t __result = (call);			\
	if (__result != DOCA_SUCCESS)			\
		return __result;			\
} while (0)

static inline doca_error_t end_ctx(struct end *end, struct doca_ctx *ctx)
{
	end->ctx = ctx;
	TRY(doca_pe_create(&end->pe));
	TRY(doca_pe_connect_ctx(end->pe, ctx));
	TRY(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = end }));
	return doca_ctx_set_state_changed_cb(ctx, end_state);
}

static inline doca_error_t end_make_server(struct end *end, const char *name, uint32_t tasks)
{
	end->dev = doca_open(doca_server_device);
	end->rep = doca_open_rep(end->dev);
	TRY(doca_comch_server_create(end->dev, end->rep, name, &end->server));
	TRY(doca_comch_server_task_send_set_conf(end->server, end_sent, end_unsent, tasks));
	TRY(doca_comch_server_event_msg_recv_register(end->server, end_message));
	TRY(doca_comch_server_event_connection_status_changed_register(end->server, end_comes,
								       end_goes));
	return end_ctx(end, doca_comch_server_as_ctx(end->server));
}

static inline doca_error_t end_make_client(struct end *end, const char *name, uint32_t tasks)
{
	end->dev = doca_open(doca_client_device);
	TRY(doca_comch_client_create(end->dev, name, &end->client));
	TRY(doca_comch_client_task_send_set_conf(end->client, end_sent, end_unsent, tasks));
	TRY(doca_comch_client_event_msg_recv_register(end->client, end_message));
	return end_ctx(end, doca_comch_client_as_ctx(end->client));
}

static inline enum doca_ctx_states end_state_of(const struct end *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(end->ctx, &state);
	return state;
}

/* In the order of programs; it has to be IDLE. */
static inline doca_error_t end_destroy(struct end *end)
{
	if (end->server)
		TRY(doca_comch_server_destroy(end->server));
	if (end->client)
		TRY(doca_comch_client_destroy(end->client));
	end->server = NULL;
	end->client = NULL;
	TRY(doca_pe_destroy(end->pe));
	if (end->rep)
		TRY(doca_dev_rep_close(end->rep));
	return doca_dev_close(end->dev);
}

static inline doca_error_t end_alloc(struct end *end, const void *msg, uint32_t n,
				     struct doca_comch_task_send **task)
{
	return end->server ?
		doca_comch_server_task_send_alloc_init(end->server, end->conn, msg, n, task) :
		doca_comch_client_task_send_alloc_init(end->client, end->conn, msg, n, task);
}

static inline doca_error_t end_send(struct end *end, const void *msg, uint32_t n)
{
	struct doca_comch_task_send *task;

	TRY(end_alloc(end, msg, n, &task));
	return doca_task_submit(doca_comch_task_send_as_task(task));
}

/* Everything there is to deliver now. Return: how much */
static inline unsigned int end_drain(struct end *end)
{
	unsigned int n = 0;

	while (doca_pe_progress(end->pe))
		n++;
	return n;
}

/* Both ends, connected, with nothing left to deliver. */
static inline doca_error_t ends_connect(struct end *server, struct end *client, const char *name)
{
	TRY(end_make_server(server, name, TASKS));
	TRY(end_make_client(client, name, TASKS));
	TRY(doca_ctx_start(server->ctx));
	if (doca_ctx_start(client->ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	end_drain(server);
	end_drain(client);
	return doca_comch_client_get_connection(client->client, &client->conn);
}

static inline doca_error_t ends_destroy(struct end *server, struct end *client)
{
	if (end_state_of(client) != DOCA_CTX_STATE_IDLE)
		TRY(doca_ctx_stop(client->ctx));
	end_drain(server);
	if (end_state_of(server) != DOCA_CTX_STATE_IDLE)
		TRY(doca_ctx_stop(server->ctx));
	TRY(end_destroy(client));
	return end_destroy(server);
}

/* Is the engine's handle readable? */
static inline int readable(struct doca_pe *pe)
{
	struct pollfd pfd = { .events = POLLIN };

	if (doca_pe_get_notification_handle(pe, &pfd.fd) != DOCA_SUCCESS)
		return -1;
	return poll(&pfd, 1, 0);
}

/* Open descriptors of this process. */
static inline int count_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif /* SELFTESTS_DOCA_ENDS_H */
