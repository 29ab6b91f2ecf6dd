/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_pe.h - progress engines and tasks
 *
 * An engine runs the callbacks of the contexts that are connected to it, one per
 * doca_pe_progress(). To sleep until there is something to do: drain it
 * (doca_pe_progress() until it returns 0), doca_pe_request_notification(), poll(2) or
 * epoll(7) on its handle, doca_pe_clear_notification(), drain it again. The handle is
 * readable for as long as there is something: it does not matter whether it came before
 * or after the request.
 *
 * Threads: an engine, its contexts and their tasks belong to one thread. Different
 * engines may be driven by different threads.
 */
#ifndef DOCA_PE_H
#define DOCA_PE_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;

/* ---- engines ------------------------------------------------------------------ */

/*
 * @pe is an engine or, of doca_pe_create(), where it goes; other pointers get what is asked
 * for, on success alone. INVALID_VALUE: an argument is NULL.
 */

/** doca_pe_create() - make an engine. Return: or INVALID_VALUE, NO_MEMORY, OPERATING_SYSTEM */
DOCA_STABLE
doca_error_t doca_pe_create(struct doca_pe **pe);

/** doca_pe_destroy() - end it. Return: or INVALID_VALUE; IN_USE: a context is connected */
DOCA_STABLE
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * doca_pe_progress() - do one thing, if there is any
 * @pe: not to be called from a callback
 *
 * At most one callback of a task or event is run.
 *
 * Return: 1: something was done; 0: there was nothing to do.
 */
DOCA_STABLE
uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * doca_pe_connect_ctx() - have the engine drive a context, until that is destroyed
 *
 * Return: or INVALID_VALUE; NOT_PERMITTED: it is connected, to whatever engine.
 */
DOCA_STABLE
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/** doca_pe_get_notification_handle() - the same for its life. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle);

/**
 * doca_pe_request_notification() - make the handle readable while there is something to do
 *
 * More than once is as good as once. Return: or INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * doca_pe_clear_notification() - the handle has been seen
 * @pe: with or without a request
 * @handle: is not looked at
 *
 * Return: or INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/** doca_pe_get_num_inflight_tasks() - of all its contexts. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
					    size_t *num_inflight_tasks);

/** enum doca_pe_event_mode - whom a progress looks at; here always those who have something */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0,
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,
};

/** doca_pe_set_event_mode() - accepts both, which are the same here. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

/* ---- tasks -------------------------------------------------------------------- */

/** doca_task_completion_cb_t - a task is the program's again, to be freed or submitted */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task,
					  union doca_data task_user_data,
					  union doca_data ctx_user_data);

/** enum doca_task_submit_flag - hints; tasks are on their way at once here */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0,
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0,
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1,
};

/**
 * doca_task_submit() - have it done
 *
 * On success it is the library's until its callback. Arguments that were set to what
 * cannot be are refused, as by doca_task_try_submit().
 *
 * Return: or INVALID_VALUE; BAD_STATE: its context is not RUNNING; IN_USE: it is submitted
 * already; NO_MEMORY: the kernel has no room for one more that waits, or for a message;
 * NOT_CONNECTED: the connection of a message has ended.
 */
DOCA_STABLE
doca_error_t doca_task_submit(struct doca_task *task);

/** doca_task_submit_ex() - likewise; @flags: enum doca_task_submit_flag */
DOCA_EXPERIMENTAL
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/** doca_task_try_submit() - likewise */
DOCA_STABLE
doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * doca_task_free() - give it back
 * @task: or NULL
 *
 * One that is in flight is taken back: no callback follows.
 */
DOCA_STABLE
void doca_task_free(struct doca_task *task);

/** doca_task_get_status() - how it ended; IN_PROGRESS: it has not. INVALID_VALUE: NULL */
DOCA_STABLE
doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * doca_task_set_user_data() - what its callbacks are given of it
 * @task: a task; NULL: nothing happens
 * @user_data: instead of what it was allocated with
 */
DOCA_STABLE
void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/** doca_task_get_user_data() - what @task's callbacks are given of it. Return: it; zero of NULL */
DOCA_STABLE
union doca_data doca_task_get_user_data(const struct doca_task *task);

/** doca_task_get_ctx() - the context that @task was allocated from. Return: it; NULL of NULL */
DOCA_STABLE
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H */
