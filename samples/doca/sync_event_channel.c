// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * sync_event_channel.c - the comch between the two programs: a blob goes over it, and its
 * end tells that both are done
 */
#include <time.h>

#include <doca_log.h>

#include "sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT::CHANNEL);

static void sleep_ms(void)
{
	const struct timespec ts = { .tv_sec = 0, .tv_nsec = 1000000 };

	nanosleep(&ts, NULL);
}

/* Progress until the condition holds, for a while. */
#define progress_until(pe, condition) ({					\
	unsigned int ms = 0;							\
										\
	while (!(condition) && ms < PATIENCE_MS) {				\
		if (doca_pe_progress(pe))					\
			continue;						\
		sleep_ms();							\
		ms++;								\
	}									\
	(condition) ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;			\
})

/* ---- events and tasks ------------------------------------------------------------------- */

static void message_callback(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer,
			     uint32_t msg_len, struct doca_comch_connection *conn)
{
	struct channel *channel = doca_comch_connection_get_user_data(conn).ptr;

	(void)event;
	if (!channel || msg_len > sizeof(channel->message))
		return;
	memcpy(channel->message, recv_buffer, msg_len);
	channel->length = msg_len;
}

static void sent(struct doca_comch_task_send *task, union doca_data ctx_user_data)
{
	struct channel *channel = ctx_user_data.ptr;
	doca_error_t result = doca_task_get_status(doca_comch_task_send_as_task(task));

	channel->sending--;
	DOCA_ERROR_PROPAGATE(channel->result, result);
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void sent_callback(struct doca_comch_task_send *task, union doca_data task_user_data,
			  union doca_data ctx_user_data)
{
	(void)task_user_data;
	sent(task, ctx_user_data);
}

static void not_sent_callback(struct doca_comch_task_send *task, union doca_data task_user_data,
			      union doca_data ctx_user_data)
{
	(void)task_user_data;
	DOCA_LOG_ERR("Failed to send a message");
	sent(task, ctx_user_data);
}

static enum doca_ctx_states state_of(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_get_state(ctx, &state);
	return state;
}

#ifdef DOCA_ARCH_DPU
static struct channel *channel_of(struct doca_comch_connection *conn)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(conn);
	union doca_data data = { .ptr = NULL };

	(void)doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	return data.ptr;
}

static void connected_callback(struct doca_comch_event_connection_status_changed *event,
			       struct doca_comch_connection *conn, uint8_t change_successful)
{
	struct channel *channel = channel_of(conn);
	const union doca_data data = { .ptr = channel };

	(void)event;
	if (!change_successful)
		return;
	if (channel->conn) {
		DOCA_LOG_WARN("There is a client already");
		return;
	}
	(void)doca_comch_connection_set_user_data(conn, data);
	channel->conn = conn;
}

static void disconnected_callback(struct doca_comch_event_connection_status_changed *event,
				  struct doca_comch_connection *conn, uint8_t change_successful)
{
	struct channel *channel = channel_of(conn);

	(void)event;
	(void)change_successful;
	if (channel->conn == conn)
		channel->conn = NULL;
}

static doca_error_t make(struct channel *channel, struct doca_dev *dev, struct doca_dev_rep *rep)
{
	doca_error_t result;

	result = doca_comch_server_create(dev, rep, CHANNEL_NAME, &channel->server);
	if (result != DOCA_SUCCESS)
		return result;
	channel->ctx = doca_comch_server_as_ctx(channel->server);
	result = doca_comch_server_set_max_msg_size(channel->server, CHANNEL_MSG_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_server_set_recv_queue_size(channel->server, CHANNEL_TASKS);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_server_task_send_set_conf(channel->server, sent_callback,
						      not_sent_callback, CHANNEL_TASKS);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_server_event_msg_recv_register(channel->server, message_callback);
	if (result != DOCA_SUCCESS)
		return result;
	return doca_comch_server_event_connection_status_changed_register(
		channel->server, connected_callback, disconnected_callback);
}

/* It runs at once; then a client has to come. */
static doca_error_t start(struct channel *channel)
{
	doca_error_t result = doca_ctx_start(channel->ctx);

	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("Waiting for the client");
	return progress_until(channel->pe, channel->conn);
}

static doca_error_t alloc(struct channel *channel, const void *message, size_t length,
			  struct doca_comch_task_send **task)
{
	return doca_comch_server_task_send_alloc_init(channel->server, channel->conn, message,
						      (uint32_t)length, task);
}

/* The client goes when it is done. */
static doca_error_t finish(struct channel *channel)
{
	return progress_until(channel->pe, !channel->conn);
}

static doca_error_t destroy(struct channel *channel)
{
	return channel->server ? doca_comch_server_destroy(channel->server) : DOCA_SUCCESS;
}
#else
static doca_error_t make(struct channel *channel, struct doca_dev *dev, struct doca_dev_rep *rep)
{
	doca_error_t result;

	(void)rep;
	result = doca_comch_client_create(dev, CHANNEL_NAME, &channel->client);
	if (result != DOCA_SUCCESS)
		return result;
	channel->ctx = doca_comch_client_as_ctx(channel->client);
	result = doca_comch_client_set_max_msg_size(channel->client, CHANNEL_MSG_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_client_set_recv_queue_size(channel->client, CHANNEL_TASKS);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_client_task_send_set_conf(channel->client, sent_callback,
						      not_sent_callback, CHANNEL_TASKS);
	if (result != DOCA_SUCCESS)
		return result;
	return doca_comch_client_event_msg_recv_register(channel->client, message_callback);
}

/* It runs when the server has accepted it. */
static doca_error_t start(struct channel *channel)
{
	const union doca_data data = { .ptr = channel };
	doca_error_t result = doca_ctx_start(channel->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		return result == DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : result;
	DOCA_LOG_INFO("Connecting to the server");
	result = progress_until(channel->pe, state_of(channel->ctx) != DOCA_CTX_STATE_STARTING);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_client_get_connection(channel->client, &channel->conn);
	if (result != DOCA_SUCCESS)
		return result;
	return doca_comch_connection_set_user_data(channel->conn, data);
}

static doca_error_t alloc(struct channel *channel, const void *message, size_t length,
			  struct doca_comch_task_send **task)
{
	return doca_comch_client_task_send_alloc_init(channel->client, channel->conn, message,
						      (uint32_t)length, task);
}

/* The stop is what the server waits for. */
static doca_error_t finish(struct channel *channel)
{
	(void)channel;
	return DOCA_SUCCESS;
}

static doca_error_t destroy(struct channel *channel)
{
	return channel->client ? doca_comch_client_destroy(channel->client) : DOCA_SUCCESS;
}
#endif

/* ---- both ------------------------------------------------------------------------------------ */

doca_error_t channel_open(struct channel *channel, struct doca_dev *dev, struct doca_dev_rep *rep)
{
	const union doca_data data = { .ptr = channel };
	doca_error_t result;

	result = doca_pe_create(&channel->pe);
	if (result == DOCA_SUCCESS)
		result = make(channel, dev, rep);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(channel->pe, channel->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(channel->ctx, data);
	if (result == DOCA_SUCCESS)
		result = start(channel);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Failed to connect: %s", doca_error_get_descr(result));
	return result;
}

doca_error_t channel_send(struct channel *channel, const void *message, size_t length)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

	result = alloc(channel, message, length, &task);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to make a message: %s", doca_error_get_descr(result));
		return result;
	}
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to send a message: %s", doca_error_get_descr(result));
		doca_task_free(doca_comch_task_send_as_task(task));
		return result;
	}
	channel->sending++;
	return DOCA_SUCCESS;
}

doca_error_t channel_receive(struct channel *channel)
{
	doca_error_t result = progress_until(channel->pe, channel->length);

	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("No message has come");
	return result;
}

doca_error_t channel_close(struct channel *channel)
{
	doca_error_t result = DOCA_SUCCESS, next;

	if (!channel->pe)
		return DOCA_SUCCESS;
	if (state_of(channel->ctx) == DOCA_CTX_STATE_RUNNING) {
		result = progress_until(channel->pe, !channel->sending);
		DOCA_ERROR_PROPAGATE(result, channel->result);
		next = finish(channel);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	if (state_of(channel->ctx) != DOCA_CTX_STATE_IDLE) {
		next = doca_ctx_stop(channel->ctx);
		if (next == DOCA_ERROR_IN_PROGRESS)
			next = progress_until(channel->pe,
					      state_of(channel->ctx) == DOCA_CTX_STATE_IDLE);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	next = destroy(channel);
	DOCA_ERROR_PROPAGATE(result, next);
	next = doca_pe_destroy(channel->pe);
	DOCA_ERROR_PROPAGATE(result, next);
	return result;
}
