/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_comch.h - messages between the two sides of a device
 *
 * A server has a name on a device and one of its other sides; clients over there connect
 * to that name. Both are contexts: doca_ctx_start() on a server succeeds at once, on a
 * client it returns IN_PROGRESS, and progress takes it to RUNNING when the server's
 * progress has accepted it. A client that finds no server stays STARTING until it is
 * stopped. A client whose server goes is stopped, as by doca_ctx_stop().
 *
 * A message is sent when its task is submitted; the sender need not progress for it to
 * arrive. If the receiver's queue is full it waits with its task, until the sender's
 * progress finds room. Messages of a connection arrive in order, each of them at one
 * progress, before the end of the connection is told.
 *
 * Stopping ends all connections. The callbacks of a server's are called by it.
 *
 * Between the devices of the virtual pair, processes of one user reach each other that
 * have the same SYNCEVENT_DOCA_DOMAIN in their environment (up to 63 bytes), or none.
 *
 * Threads: as of contexts, see doca_ctx.h.
 */
#ifndef DOCA_COMCH_H
#define DOCA_COMCH_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

struct doca_comch_server;
struct doca_comch_client;
struct doca_comch_connection;
struct doca_comch_task_send;
struct doca_comch_event_msg_recv;
struct doca_comch_event_connection_status_changed;

/* ---- what a device can do --------------------------------------------------------- */

/** doca_comch_cap_server_is_supported() - Return: SUCCESS; NOT_SUPPORTED; INVALID_VALUE: NULL */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/** doca_comch_cap_client_is_supported() - Return: SUCCESS, of every device; INVALID_VALUE: NULL */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/** doca_comch_cap_get_max_name_len() - bytes of a name, with its NUL. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
					     uint32_t *max_name_len);

/** doca_comch_cap_get_max_msg_size() - bytes of a message. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/** doca_comch_cap_get_max_recv_queue_size() - messages. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						    uint32_t *queue_size);

/** doca_comch_cap_get_max_clients() - of a server. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
					    uint32_t *num_clients);

/** doca_comch_cap_get_max_send_tasks() - of a server or client. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
					       uint32_t *max_send_tasks);

/* ---- servers ------------------------------------------------------------------------- */

/**
 * doca_comch_server_create() - make a server
 * @dev: device
 * @repr: the side that its clients are on, of @dev
 * @name: what clients connect to; is copied
 * @comch_server: gets it
 *
 * Return: SUCCESS; INVALID_VALUE: NULL, @name is empty or too long, @repr is not of @dev;
 * NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
				      const char *name, struct doca_comch_server **comch_server);

/** doca_comch_server_destroy() - Return: SUCCESS; INVALID_VALUE: NULL; IN_USE: it is not IDLE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/**
 * doca_comch_server_as_ctx() - its context; NULL of NULL
 *
 * Start: SUCCESS; IN_USE: there is a server of this name; BAD_CONFIG:
 * SYNCEVENT_DOCA_DOMAIN is too long; NO_MEMORY; OPERATING_SYSTEM.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * doca_comch_server_set_max_msg_size() - longest message, to send and to receive
 *
 * A connection takes the smaller one of its two ends. The default is the device's.
 * Return: SUCCESS; INVALID_VALUE: NULL, or @size is 0 or more than the device can;
 * BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
						uint32_t size);

/** doca_comch_server_get_max_msg_size() - Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
						uint32_t *size);

/**
 * doca_comch_server_set_recv_queue_size() - how many messages may be waiting here
 *
 * A hint: what can wait is the buffer of the socket or region; more waits at the sender.
 * Return: SUCCESS; INVALID_VALUE: NULL, or @size is 0 or more than the device can;
 * BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
						   uint32_t size);

/** doca_comch_server_get_recv_queue_size() - Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
						   uint32_t *queue_size);

/** doca_comch_server_get_device() - as given to create. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
					  struct doca_dev **dev);

/** doca_comch_server_get_device_rep() - as given to create. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
					      struct doca_dev_rep **rep);

/**
 * doca_comch_event_connection_status_changed_cb_t - a client has come or gone
 * @event: the event
 * @comch_connection: valid until the call that tells that it has gone returns
 * @change_successful: 1
 */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *comch_connection, uint8_t change_successful);

/**
 * doca_comch_server_event_connection_status_changed_register() - be told of clients
 *
 * Return: SUCCESS; INVALID_VALUE: NULL; BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/**
 * doca_comch_server_disconnect() - end a connection
 *
 * Nothing is received from it any more, and tasks that wait fail. The callback that tells
 * that it has gone follows at the next progress.
 * Return: SUCCESS; INVALID_VALUE: NULL, or no connection of this server; BAD_STATE: it is
 * not RUNNING; NOT_CONNECTED: it has ended.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection);

/** doca_comch_server_get_server_ctx() - the server of a connection; NULL if it is a client's */
DOCA_EXPERIMENTAL
struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection);

/* ---- clients: what is not described here is as of servers ----------------------------------- */

DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **comch_client);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/** doca_comch_client_as_ctx() - its context. Start: IN_PROGRESS; AGAIN; and as of servers */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
						uint32_t size);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
						uint32_t *size);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client,
						   uint32_t size);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
						   uint32_t *queue_size);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
					  struct doca_dev **dev);

/** doca_comch_client_get_connection() - Return: SUCCESS; INVALID_VALUE; BAD_STATE: not RUNNING */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection);

/** doca_comch_client_get_client_ctx() - the client of a connection; NULL if it is a server's */
DOCA_EXPERIMENTAL
struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection);

/* ---- connections ------------------------------------------------------------------------- */

/** doca_comch_connection_set_user_data() - Return: SUCCESS; INVALID_VALUE: NULL */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
						 union doca_data user_data);

/** doca_comch_connection_get_user_data() - as set; zero at first, and of NULL */
DOCA_EXPERIMENTAL
union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

/* ---- messages ---------------------------------------------------------------------------- */

/**
 * doca_comch_event_msg_recv_cb_t - a message has come
 * @event: the event
 * @recv_buffer: the message, aligned to 8 bytes; valid during the call
 * @msg_len: its length, which may be 0
 * @comch_connection: where it came from
 */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event,
					       uint8_t *recv_buffer, uint32_t msg_len,
					       struct doca_comch_connection *comch_connection);

/**
 * doca_comch_server_event_msg_recv_register() - be given messages
 *
 * Without it they are lost. Return: SUCCESS; INVALID_VALUE: NULL; BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t
doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
					  doca_comch_event_msg_recv_cb_t recv_event_cb);
DOCA_EXPERIMENTAL
doca_error_t
doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
					  doca_comch_event_msg_recv_cb_t recv_event_cb);

/** doca_comch_task_send_completion_cb_t - a message was sent, or not */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * doca_comch_server_task_send_set_conf() - make tasks that send
 * @comch_server: in IDLE
 * @task_completion_cb: the message is in the receiver's queue
 * @task_error_cb: it is not: CONNECTION_RESET: the other end has gone; SHUTDOWN: the
 *		   server or client is being stopped
 * @num_send_tasks: how many there are; 0: none
 *
 * Return: SUCCESS; INVALID_VALUE: NULL, or more than the device can; BAD_STATE: not IDLE.
 */
DOCA_EXPERIMENTAL
doca_error_t
doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks);
DOCA_EXPERIMENTAL
doca_error_t
doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks);

/**
 * doca_comch_server_task_send_alloc_init() - a task that sends a message
 * @comch_server: in RUNNING
 * @peer: one of its connections
 * @msg: is copied; may be NULL if @len is 0
 * @len: at most the largest message of both ends
 * @task: gets it
 *
 * Submit: NOT_CONNECTED: the connection has ended; NO_MEMORY: of the kernel.
 * Return: SUCCESS; INVALID_VALUE: NULL, @len, or @peer is no connection of it; NO_MEMORY:
 * all tasks are in use; BAD_STATE: not RUNNING.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task);
DOCA_EXPERIMENTAL
doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task);

/** doca_comch_task_send_as_task() - NULL of NULL */
DOCA_EXPERIMENTAL
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_H */
