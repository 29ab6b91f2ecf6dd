// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* comch_client.c - clients: one connection each, which begins and ends with the context */
#include "comch.h"

#include <stdlib.h>

struct doca_comch_client {
	struct sed_comch base;
	struct doca_comch_connection conn;
};

static struct doca_comch_client *client_of(const struct sed_comch *comch)
{
	return SED_OF(comch, struct doca_comch_client, base);
}

/* NULL stays NULL. */
static struct sed_comch *base_of(struct doca_comch_client *client)
{
	return client ? &client->base : NULL;
}

static const struct sed_comch *const_base_of(const struct doca_comch_client *client)
{
	return client ? &client->base : NULL;
}

/* ---- the context --------------------------------------------------------------------- */

static void comes(struct doca_comch_connection *conn)
{
	sed_ctx_running(&conn->comch->ctx);
}

static void goes(struct doca_comch_connection *conn)
{
	(void)sed_ctx_abort(&conn->comch->ctx);
}

static const struct sed_comch_ops client_ops = {
	.greeting = SED_PACKET_WELCOME,
	.comes = comes,
	.goes = goes,
};

/* Its list of connections is for who asks whether it has one. */
static doca_error_t start(struct doca_ctx *ctx)
{
	struct sed_comch *comch = SED_OF(ctx, struct sed_comch, ctx);
	struct doca_comch_connection *conn = &client_of(comch)->conn;
	const union doca_data user_data = conn->user_data;
	doca_error_t result;

	result = sed_comch_domain(comch);
	if (result != DOCA_SUCCESS)
		return result;
	result = sed_pool_make(&comch->send);
	if (result != DOCA_SUCCESS)
		return result;
	sed_conn_open(conn, comch);
	conn->user_data = user_data;
	conn->told = true;
	result = comch->links->connect(conn);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_CONNECTED) {
		sed_pool_free(&comch->send);
		return result;
	}
	TAILQ_INIT(&comch->conns);
	TAILQ_INSERT_HEAD(&comch->conns, conn, link);
	/* There is always room for a first packet; but the server may have gone. */
	if (result == DOCA_SUCCESS && sed_conn_greet(conn, SED_PACKET_HELLO))
		(void)sed_conn_end(conn, DOCA_ERROR_CONNECTION_RESET);
	return DOCA_ERROR_IN_PROGRESS;
}

static void stop(struct doca_ctx *ctx)
{
	sed_conn_close(&client_of(SED_OF(ctx, struct sed_comch, ctx))->conn, DOCA_ERROR_SHUTDOWN);
}

static void idle(struct doca_ctx *ctx)
{
	sed_pool_free(&SED_OF(ctx, struct sed_comch, ctx)->send);
}

static const struct sed_ctx_ops ctx_ops = { .start = start, .stop = stop, .idle = idle };

/* ---- the calls ----------------------------------------------------------------------- */

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **comch_client)
{
	struct doca_comch_client *client;
	doca_error_t result;

	if (!dev || !name || !comch_client)
		return DOCA_ERROR_INVALID_VALUE;
	client = calloc(1, sizeof(*client));
	if (!client)
		return DOCA_ERROR_NO_MEMORY;
	result = sed_comch_init(&client->base, &client_ops, &ctx_ops, dev, name);
	if (result != DOCA_SUCCESS) {
		free(client);
		return result;
	}
	sed_conn_open(&client->conn, &client->base);
	*comch_client = client;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
	if (!comch_client)
		return DOCA_ERROR_INVALID_VALUE;
	if (comch_client->base.ctx.state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_IN_USE;
	sed_comch_exit(&comch_client->base);
	free(comch_client);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
	return comch_client ? &comch_client->base.ctx : NULL;
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
						uint32_t size)
{
	return sed_comch_set_max_msg_size(base_of(comch_client), size);
}

doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
						uint32_t *size)
{
	return sed_comch_get_max_msg_size(const_base_of(comch_client), size);
}

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client,
						   uint32_t size)
{
	return sed_comch_set_queue_size(base_of(comch_client), size);
}

doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
						   uint32_t *queue_size)
{
	return sed_comch_get_queue_size(const_base_of(comch_client), queue_size);
}

doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
					  struct doca_dev **dev)
{
	return sed_comch_get_device(const_base_of(comch_client), dev);
}

doca_error_t
doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
					  doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return sed_comch_recv_register(base_of(comch_client), recv_event_cb);
}

doca_error_t
doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks)
{
	return sed_send_conf(base_of(comch_client), task_completion_cb, task_error_cb,
			     num_send_tasks);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	return sed_send_alloc(base_of(comch_client), peer, msg, len, task);
}

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection)
{
	if (!comch_client || !connection)
		return DOCA_ERROR_INVALID_VALUE;
	if (comch_client->base.ctx.state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	*connection = (struct doca_comch_connection *)&comch_client->conn;
	return DOCA_SUCCESS;
}

struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	return connection && connection->comch->ops == &client_ops ? client_of(connection->comch) :
								      NULL;
}
