// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* comch_server.c - servers: they have a name, and a connection for each client */
#include "comch.h"

#include <stdlib.h>

/**
 * struct doca_comch_server - a server
 * @base: what clients have, too
 * @rep: where its clients are
 * @connected: the program's, or NULL
 * @disconnected: likewise
 * @clients: connections, those that have not said HELLO yet among them
 * @ended: connections that ended when it was stopped. It may have been stopped inside of
 *	   a callback that has one, so they are freed later
 */
struct doca_comch_server {
	struct sed_comch base;
	struct doca_dev_rep *rep;
	doca_comch_event_connection_status_changed_cb_t connected;
	doca_comch_event_connection_status_changed_cb_t disconnected;
	unsigned int clients;
	struct sed_conns ended;
};

static struct doca_comch_server *server_of(const struct sed_comch *comch)
{
	return SED_OF(comch, struct doca_comch_server, base);
}

/* NULL stays NULL. */
static struct sed_comch *base_of(struct doca_comch_server *server)
{
	return server ? &server->base : NULL;
}

static const struct sed_comch *const_base_of(const struct doca_comch_server *server)
{
	return server ? &server->base : NULL;
}

/* ---- connections --------------------------------------------------------------------- */

struct doca_comch_connection *sed_comch_incoming(struct sed_comch *comch)
{
	struct doca_comch_server *server = server_of(comch);
	struct doca_comch_connection *conn = malloc(sizeof(*conn));

	if (!conn)
		return NULL;
	sed_conn_open(conn, comch);
	TAILQ_INSERT_TAIL(&comch->conns, conn, link);
	if (++server->clients == SED_COMCH_CLIENTS_MAX)
		comch->links->listening(comch, false);
	return conn;
}

static void comes(struct doca_comch_connection *conn)
{
	const struct doca_comch_server *server = server_of(conn->comch);

	if (server->connected)
		server->connected((void *)conn, conn, 1);
}

static void goes(struct doca_comch_connection *conn)
{
	struct doca_comch_server *server = server_of(conn->comch);

	TAILQ_REMOVE(&server->base.conns, conn, link);
	if (server->clients-- == SED_COMCH_CLIENTS_MAX)
		server->base.links->listening(&server->base, true);
	if (conn->told && server->disconnected)
		server->disconnected((void *)conn, conn, 1);
	free(conn);
}

static const struct sed_comch_ops server_ops = {
	.greeting = SED_PACKET_HELLO,
	.comes = comes,
	.goes = goes,
};

/* ---- the context --------------------------------------------------------------------- */

static void free_ended(struct doca_comch_server *server)
{
	struct doca_comch_connection *conn;

	while ((conn = TAILQ_FIRST(&server->ended))) {
		TAILQ_REMOVE(&server->ended, conn, link);
		free(conn);
	}
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct sed_comch *comch = SED_OF(ctx, struct sed_comch, ctx);
	doca_error_t result;

	free_ended(server_of(comch));
	result = sed_comch_domain(comch);
	if (result != DOCA_SUCCESS)
		return result;
	result = sed_pool_make(&comch->send);
	if (result != DOCA_SUCCESS)
		return result;
	result = comch->links->listen(comch);
	if (result != DOCA_SUCCESS)
		sed_pool_free(&comch->send);
	return result;
}

/* A program that has kept something for a client is told that it has gone. */
static void stop(struct doca_ctx *ctx)
{
	struct sed_comch *comch = SED_OF(ctx, struct sed_comch, ctx);
	struct doca_comch_server *server = server_of(comch);
	struct doca_comch_connection *conn;

	comch->links->unlisten(comch);
	/* What callbacks free must not bring it to IDLE here. */
	sed_ctx_hold(ctx);
	while ((conn = TAILQ_FIRST(&comch->conns))) {
		sed_conn_close(conn, DOCA_ERROR_SHUTDOWN);
		TAILQ_REMOVE(&comch->conns, conn, link);
		TAILQ_INSERT_TAIL(&server->ended, conn, link);
		if (conn->told && server->disconnected)
			server->disconnected((void *)conn, conn, 1);
	}
	server->clients = 0;
	ctx->holds--;
}

static void idle(struct doca_ctx *ctx)
{
	sed_pool_free(&SED_OF(ctx, struct sed_comch, ctx)->send);
}

static const struct sed_ctx_ops ctx_ops = { .start = start, .stop = stop, .idle = idle };

/* ---- the calls ----------------------------------------------------------------------- */

/* Is it seen through this device? */
static bool is_rep_of(const struct doca_dev_rep *rep, const struct doca_dev *dev)
{
	const struct sed_dev_id *seen = sed_dev_rep_id(rep), *id = sed_dev_id(dev);

	return seen->kind == id->kind && !strcmp(seen->device, id->device);
}

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
				      const char *name, struct doca_comch_server **comch_server)
{
	struct doca_comch_server *server;
	doca_error_t result;

	if (!dev || !repr || !name || !comch_server || !is_rep_of(repr, dev))
		return DOCA_ERROR_INVALID_VALUE;
	server = calloc(1, sizeof(*server));
	if (!server)
		return DOCA_ERROR_NO_MEMORY;
	result = sed_comch_init(&server->base, &server_ops, &ctx_ops, dev, name);
	if (result != DOCA_SUCCESS) {
		free(server);
		return result;
	}
	TAILQ_INIT(&server->ended);
	server->base.side = sed_dev_rep_id(repr)->side;
	server->rep = repr;
	sed_dev_rep_get(repr);
	*comch_server = server;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server)
{
	if (!comch_server)
		return DOCA_ERROR_INVALID_VALUE;
	if (comch_server->base.ctx.state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_IN_USE;
	free_ended(comch_server);
	sed_dev_rep_put(comch_server->rep);
	sed_comch_exit(&comch_server->base);
	free(comch_server);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server)
{
	return comch_server ? &comch_server->base.ctx : NULL;
}

doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
						uint32_t size)
{
	return sed_comch_set_max_msg_size(base_of(comch_server), size);
}

doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
						uint32_t *size)
{
	return sed_comch_get_max_msg_size(const_base_of(comch_server), size);
}

doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
						   uint32_t size)
{
	return sed_comch_set_queue_size(base_of(comch_server), size);
}

doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
						   uint32_t *queue_size)
{
	return sed_comch_get_queue_size(const_base_of(comch_server), queue_size);
}

doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
					  struct doca_dev **dev)
{
	return sed_comch_get_device(const_base_of(comch_server), dev);
}

doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
					      struct doca_dev_rep **rep)
{
	if (!comch_server || !rep)
		return DOCA_ERROR_INVALID_VALUE;
	*rep = comch_server->rep;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	if (!comch_server || !connect_event_cb || !disconnect_event_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (comch_server->base.ctx.state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	comch_server->connected = connect_event_cb;
	comch_server->disconnected = disconnect_event_cb;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
					  doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return sed_comch_recv_register(base_of(comch_server), recv_event_cb);
}

doca_error_t
doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks)
{
	return sed_send_conf(base_of(comch_server), task_completion_cb, task_error_cb,
			     num_send_tasks);
}

doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	return sed_send_alloc(base_of(comch_server), peer, msg, len, task);
}

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection)
{
	if (!comch_server || !connection)
		return DOCA_ERROR_INVALID_VALUE;
	if (comch_server->base.ctx.state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	if (!sed_comch_has(&comch_server->base, connection) || !connection->told)
		return DOCA_ERROR_INVALID_VALUE;
	if (connection->state != SED_CONN_UP)
		return DOCA_ERROR_NOT_CONNECTED;
	(void)sed_conn_end(connection, DOCA_ERROR_SHUTDOWN);
	return DOCA_SUCCESS;
}

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
	return connection && connection->comch->ops == &server_ops ? server_of(connection->comch) :
								      NULL;
}
