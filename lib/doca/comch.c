// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* comch.c - what servers and clients have in common: connections, what they deliver */
#include "comch.h"

#include <errno.h>
#include <stdlib.h>

#include "log.h"

/* ---- making and configuring ---------------------------------------------------------- */

static const struct sed_link_ops *links_of(const struct sed_dev_id *id)
{
	switch (id->kind) {
	case SED_DEV_VIRTUAL_HOST:
	case SED_DEV_VIRTUAL_DPU:
		return &sed_link_unix;
	default:
		return &sed_link_pci;
	}
}

doca_error_t sed_comch_supports(const struct doca_devinfo *devinfo, bool server)
{
	const struct sed_dev_id *id;

	if (!devinfo)
		return DOCA_ERROR_INVALID_VALUE;
	id = sed_devinfo_id(devinfo);
	/* The host's side of the virtual pair has no representors, which servers need. */
	return server && id->kind == SED_DEV_VIRTUAL_HOST ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS;
}

doca_error_t sed_comch_init(struct sed_comch *comch, const struct sed_comch_ops *ops,
			    const struct sed_ctx_ops *ctx_ops, struct doca_dev *dev,
			    const char *name)
{
	size_t length = strnlen(name, SED_COMCH_NAME_MAX);

	if (!length || length == SED_COMCH_NAME_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	comch->links = links_of(sed_dev_id(dev));
	sed_ctx_init(&comch->ctx, ctx_ops);
	comch->ops = ops;
	comch->dev = dev;
	sed_dev_get(dev);
	memcpy(comch->greeting.name, name, length);
	comch->greeting.max_msg = SED_COMCH_MSG_MAX;
	comch->queue_size = SED_COMCH_QUEUE_MAX;
	TAILQ_INIT(&comch->conns);
	return DOCA_SUCCESS;
}

void sed_comch_exit(struct sed_comch *comch)
{
	sed_ctx_destroy(&comch->ctx);
	sed_dev_put(comch->dev);
}

doca_error_t sed_comch_domain(struct sed_comch *comch)
{
	const char *domain = getenv("SYNCEVENT_DOCA_DOMAIN");
	size_t length = domain ? strnlen(domain, SED_COMCH_DOMAIN_MAX) : 0;

	if (length == SED_COMCH_DOMAIN_MAX)
		return DOCA_ERROR_BAD_CONFIG;
	memset(comch->greeting.domain, 0, sizeof(comch->greeting.domain));
	if (length)
		memcpy(comch->greeting.domain, domain, length);
	return DOCA_SUCCESS;
}

static bool is_idle(const struct sed_comch *comch)
{
	return comch->ctx.state == DOCA_CTX_STATE_IDLE;
}

doca_error_t sed_comch_set_max_msg_size(struct sed_comch *comch, uint32_t size)
{
	if (!comch || !size || size > SED_COMCH_MSG_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_idle(comch))
		return DOCA_ERROR_BAD_STATE;
	comch->greeting.max_msg = size;
	return DOCA_SUCCESS;
}

doca_error_t sed_comch_get_max_msg_size(const struct sed_comch *comch, uint32_t *size)
{
	if (!comch || !size)
		return DOCA_ERROR_INVALID_VALUE;
	*size = comch->greeting.max_msg;
	return DOCA_SUCCESS;
}

doca_error_t sed_comch_set_queue_size(struct sed_comch *comch, uint32_t size)
{
	if (!comch || !size || size > SED_COMCH_QUEUE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_idle(comch))
		return DOCA_ERROR_BAD_STATE;
	comch->queue_size = size;
	return DOCA_SUCCESS;
}

doca_error_t sed_comch_get_queue_size(const struct sed_comch *comch, uint32_t *size)
{
	if (!comch || !size)
		return DOCA_ERROR_INVALID_VALUE;
	*size = comch->queue_size;
	return DOCA_SUCCESS;
}

doca_error_t sed_comch_get_device(const struct sed_comch *comch, struct doca_dev **dev)
{
	if (!comch || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	*dev = comch->dev;
	return DOCA_SUCCESS;
}

doca_error_t sed_comch_recv_register(struct sed_comch *comch, doca_comch_event_msg_recv_cb_t cb)
{
	if (!comch || !cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (!is_idle(comch))
		return DOCA_ERROR_BAD_STATE;
	comch->received = cb;
	return DOCA_SUCCESS;
}

/* ---- connections --------------------------------------------------------------------- */

/* The callback may end all there is. */
static bool deliver(struct sed_work *work)
{
	struct doca_comch_connection *conn = SED_OF(work, struct doca_comch_connection, work);
	struct sed_comch *comch = conn->comch;
	const enum sed_conn_event event = conn->event;

	conn->event = SED_CONN_NOTHING;
	switch (event) {
	case SED_CONN_COMES:
		conn->told = true;
		comch->ops->comes(conn);
		break;
	case SED_CONN_MESSAGE:
		if (comch->received)
			comch->received((void *)conn, conn->in.message, conn->in.head.length, conn);
		break;
	default:
		comch->ops->goes(conn);
	}
	return true;
}

bool sed_conn_deliver(struct doca_comch_connection *conn)
{
	if (conn->work.state != SED_WORK_READY)
		return false;
	sed_pe_drop(conn->comch->ctx.pe, &conn->work);
	return deliver(&conn->work);
}

static void post(struct doca_comch_connection *conn, enum sed_conn_event event)
{
	conn->event = event;
	sed_pe_post(conn->comch->ctx.pe, &conn->work);
}

void sed_conn_open(struct doca_comch_connection *conn, struct sed_comch *comch)
{
	memset(conn, 0, sizeof(*conn));
	conn->work.deliver = deliver;
	conn->comch = comch;
	conn->serial = ++comch->opened;
	conn->state = SED_CONN_CLOSED;
	TAILQ_INIT(&conn->unsent);
}

void sed_conn_close(struct doca_comch_connection *conn, doca_error_t status)
{
	sed_pe_drop(conn->comch->ctx.pe, &conn->work);
	conn->event = SED_CONN_NOTHING;
	sed_send_fail(conn, status);
	if (conn->state == SED_CONN_CLOSED)
		return;
	conn->state = SED_CONN_CLOSED;
	conn->comch->links->close(conn);
}

bool sed_conn_end(struct doca_comch_connection *conn, doca_error_t status)
{
	const bool told = conn->told;

	sed_conn_close(conn, status);
	/* Who has not heard of it is not told either. */
	if (told)
		post(conn, SED_CONN_GOES);
	else
		conn->comch->ops->goes(conn);
	return told;
}

int sed_conn_greet(struct doca_comch_connection *conn, enum sed_packet_type type)
{
	struct sed_packet packet = { .greeting = conn->comch->greeting };

	sed_packet_greet(&packet, type);
	return conn->comch->links->send(conn, &packet);
}

/* The first packet: is it for us? */
static bool is_greeting(const struct doca_comch_connection *conn, int type)
{
	const struct sed_greeting *own = &conn->comch->greeting, *peer = &conn->in.greeting;

	return type == (int)conn->comch->ops->greeting && !strcmp(own->domain, peer->domain) &&
	       !strcmp(own->name, peer->name);
}

/* Return: 0, or an error of the link */
static int greeted(struct doca_comch_connection *conn)
{
	const uint32_t own = conn->comch->greeting.max_msg, peer = conn->in.greeting.max_msg;

	conn->max_msg = own < peer ? own : peer;
	conn->state = SED_CONN_UP;
	/* A server answers. */
	return conn->comch->ops->greeting == SED_PACKET_HELLO ?
		       sed_conn_greet(conn, SED_PACKET_WELCOME) : 0;
}

/* Takes a packet. Return: 0; -EAGAIN: there is none; else it has ended */
static int take(struct doca_comch_connection *conn)
{
	const bool up = conn->state == SED_CONN_UP;
	int err = conn->comch->links->receive(conn), type;

	if (err)
		return err;
	type = sed_packet_check(&conn->in);
	if (!up && is_greeting(conn, type)) {
		/* A link that has no room for the first packet is no link. */
		if (greeted(conn))
			return -EPIPE;
		post(conn, SED_CONN_COMES);
		return 0;
	}
	if (up && type == SED_PACKET_MESSAGE && conn->in.head.length <= conn->max_msg) {
		post(conn, SED_CONN_MESSAGE);
		return 0;
	}
	SED_WARN("comch %s: a connection ends: what came over it makes no sense",
		 conn->comch->greeting.name);
	return -EPROTO;
}

bool sed_conn_poll(struct doca_comch_connection *conn)
{
	int err;

	if (conn->state == SED_CONN_CLOSED || conn->event != SED_CONN_NOTHING)
		return true;
	err = take(conn);
	return !err || err == -EAGAIN || sed_conn_end(conn, DOCA_ERROR_CONNECTION_RESET);
}

bool sed_comch_has(const struct sed_comch *comch, const struct doca_comch_connection *conn)
{
	const struct doca_comch_connection *other;

	TAILQ_FOREACH(other, &comch->conns, link)
		if (other == conn)
			return true;
	return false;
}

doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
						 union doca_data user_data)
{
	if (!connection)
		return DOCA_ERROR_INVALID_VALUE;
	connection->user_data = user_data;
	return DOCA_SUCCESS;
}

union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
	return connection ? connection->user_data : (union doca_data){ .u64 = 0 };
}

/* ---- capabilities -------------------------------------------------------------------- */

static doca_error_t cap(const struct doca_devinfo *devinfo, uint32_t *to, uint32_t value)
{
	if (!devinfo || !to)
		return DOCA_ERROR_INVALID_VALUE;
	*to = value;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
					     uint32_t *max_name_len)
{
	return cap(devinfo, max_name_len, SED_COMCH_NAME_MAX);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
	return cap(devinfo, size, SED_COMCH_MSG_MAX);
}

doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						    uint32_t *queue_size)
{
	return cap(devinfo, queue_size, SED_COMCH_QUEUE_MAX);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
					    uint32_t *num_clients)
{
	return cap(devinfo, num_clients, SED_COMCH_CLIENTS_MAX);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
					       uint32_t *max_send_tasks)
{
	return cap(devinfo, max_send_tasks, SED_COMCH_TASKS_MAX);
}

doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	return sed_comch_supports(devinfo, true);
}

doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	return sed_comch_supports(devinfo, false);
}
