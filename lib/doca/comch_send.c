// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * comch_send.c - the tasks that send
 *
 * A message is in the other end's queue when its submission returns. If there is no room
 * it waits, and so do those that follow it.
 */
#include "comch.h"

#include <errno.h>
#include <stdlib.h>

/**
 * struct doca_comch_task_send - a message
 * @conn: where it goes; looked up before it is used, for it may have gone
 * @serial: of @conn
 * @entry: among the unsent ones of @conn
 */
struct doca_comch_task_send {
	struct doca_task task;
	struct doca_comch_connection *conn;
	uint64_t serial;
	TAILQ_ENTRY(doca_comch_task_send) entry;
	struct sed_packet packet;
};

static struct doca_comch_task_send *send_of(const struct doca_task *task)
{
	return SED_OF(task, struct doca_comch_task_send, task);
}

static struct sed_comch *comch_of(const struct doca_task *task)
{
	return SED_OF(task->pool->ctx, struct sed_comch, ctx);
}

/* Return: what the task ends with; AGAIN: there is no room yet */
static doca_error_t try(struct doca_comch_task_send *send)
{
	int err = send->conn->comch->links->send(send->conn, &send->packet);

	if (err == -EAGAIN)
		return DOCA_ERROR_AGAIN;
	return sed_error(err);
}

static doca_error_t submit(struct doca_task *task)
{
	struct doca_comch_task_send *send = send_of(task);
	struct doca_comch_connection *conn = send->conn;
	doca_error_t result = DOCA_ERROR_AGAIN;

	if (!sed_comch_has(comch_of(task), conn) || conn->serial != send->serial ||
	    conn->state != SED_CONN_UP)
		return DOCA_ERROR_NOT_CONNECTED;
	if (TAILQ_EMPTY(&conn->unsent))
		result = try(send);
	if (result == DOCA_ERROR_NO_MEMORY)
		return result;
	if (result == DOCA_ERROR_AGAIN)
		TAILQ_INSERT_TAIL(&conn->unsent, send, entry);
	else
		sed_task_done(task, result);
	return DOCA_SUCCESS;
}

static void cancel(struct doca_task *task)
{
	struct doca_comch_task_send *send = send_of(task);

	TAILQ_REMOVE(&send->conn->unsent, send, entry);
}

static void callback(struct doca_task *task, void (*done)(void), union doca_data task_data,
		     union doca_data ctx_data)
{
	((doca_comch_task_send_completion_cb_t)done)(send_of(task), task_data, ctx_data);
}

static const struct sed_task_ops send_ops = {
	.size = sizeof(struct doca_comch_task_send),
	.submit = submit,
	.cancel = cancel,
	.callback = callback,
};

void sed_send_more(struct doca_comch_connection *conn)
{
	struct doca_comch_task_send *send;
	doca_error_t result;

	while ((send = TAILQ_FIRST(&conn->unsent))) {
		result = try(send);
		if (result == DOCA_ERROR_AGAIN)
			return;
		TAILQ_REMOVE(&conn->unsent, send, entry);
		sed_task_done(&send->task, result);
	}
}

void sed_send_fail(struct doca_comch_connection *conn, doca_error_t status)
{
	struct doca_comch_task_send *send;

	while ((send = TAILQ_FIRST(&conn->unsent))) {
		TAILQ_REMOVE(&conn->unsent, send, entry);
		sed_task_done(&send->task, status);
	}
}

doca_error_t sed_send_conf(struct sed_comch *comch, doca_comch_task_send_completion_cb_t done,
			   doca_comch_task_send_completion_cb_t failed, uint32_t num)
{
	if (!comch || !done || !failed || num > SED_COMCH_TASKS_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	if (comch->ctx.state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	return sed_pool_conf(&comch->send, &comch->ctx, &send_ops, (void (*)(void))done,
			     (void (*)(void))failed, num);
}

doca_error_t sed_send_alloc(struct sed_comch *comch, struct doca_comch_connection *peer,
			    const void *msg, uint32_t len, struct doca_comch_task_send **task)
{
	struct doca_comch_task_send *send;
	struct doca_task *taken;
	doca_error_t result;

	if (!comch || !peer || !task || (!msg && len))
		return DOCA_ERROR_INVALID_VALUE;
	if (comch->ctx.state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	if (!sed_comch_has(comch, peer) || len > peer->max_msg)
		return DOCA_ERROR_INVALID_VALUE;
	result = sed_task_get(&comch->send, &taken);
	if (result != DOCA_SUCCESS)
		return result;
	send = send_of(taken);
	send->conn = peer;
	send->serial = peer->serial;
	if (len)
		memcpy(send->packet.message, msg, len);
	sed_packet_message(&send->packet, len);
	*task = send;
	return DOCA_SUCCESS;
}

struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	return task ? &task->task : NULL;
}
