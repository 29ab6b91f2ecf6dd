// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* event_task.c - asynchronous use: the context of an event, and its tasks */
#include "event.h"

#include <errno.h>

struct doca_sync_event_task_get {
	struct doca_task task;
	uint64_t *to;
};

struct doca_sync_event_task_notify_set {
	struct doca_task task;
	uint64_t value;
};

struct doca_sync_event_task_notify_add {
	struct doca_task task;
	uint64_t value;
	uint64_t *fetched;
};

/* Either kind. */
struct wait {
	struct doca_task task;
	uint64_t value;
	uint64_t mask;
};

struct doca_sync_event_task_wait_eq {
	struct wait wait;
};

struct doca_sync_event_task_wait_neq {
	struct wait wait;
};

/* ---- the context ---------------------------------------------------------------------- */

static struct doca_sync_event *event_of(const struct doca_ctx *ctx)
{
	return SED_OF(ctx, struct doca_sync_event, ctx);
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	if (!event || event->mode == SED_MODE_SYNC)
		return NULL;
	event->mode = SED_MODE_ASYNC;
	return &event->ctx;
}

static void idle(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = event_of(ctx);
	unsigned int i;

	for (i = 0; i < SED_EVENT_TASKS; i++)
		sed_pool_free(&event->pools[i]);
	if (event->reserved)
		sed_pe_unreserve(ctx->pe, event->on, event->reserved);
	event->reserved = 0;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = event_of(ctx);
	size_t waits = (size_t)event->pools[SED_WAIT_EQ].num + event->pools[SED_WAIT_NEQ].num;
	doca_error_t result = DOCA_ERROR_BAD_CONFIG;
	unsigned int i;

	for (i = 0; i < SED_EVENT_TASKS; i++)
		if (event->pools[i].ops)
			result = DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		result = sed_event_make(event);
	for (i = 0; i < SED_EVENT_TASKS && result == DOCA_SUCCESS; i++)
		result = sed_pool_make(&event->pools[i]);
	if (result == DOCA_SUCCESS && waits) {
		result = sed_error(sed_pe_reserve(ctx->pe, event->on, event->ev, waits));
		if (result == DOCA_SUCCESS)
			event->reserved = waits;
	}
	if (result != DOCA_SUCCESS)
		idle(ctx);
	return result;
}

static void stop(struct doca_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < SED_EVENT_TASKS; i++)
		sed_pool_flush(&event_of(ctx)->pools[i]);
}

const struct sed_ctx_ops sed_event_ctx_ops = {
	.start = start,
	.stop = stop,
	.idle = idle,
};

/* ---- what tasks do ---------------------------------------------------------------------- */

static struct syncevent *target(const struct doca_task *task)
{
	return event_of(task->pool->ctx)->ev;
}

/* Done at once: what becomes of the event afterwards does not matter. */

static doca_error_t submit_get(struct doca_task *task)
{
	const struct doca_sync_event_task_get *get = (void *)task;

	sed_task_done(task, sed_error(syncevent_get(target(task), get->to)));
	return DOCA_SUCCESS;
}

static doca_error_t submit_notify_set(struct doca_task *task)
{
	const struct doca_sync_event_task_notify_set *set = (void *)task;

	sed_task_done(task, sed_error(syncevent_set(target(task), set->value)));
	return DOCA_SUCCESS;
}

static doca_error_t submit_notify_add(struct doca_task *task)
{
	const struct doca_sync_event_task_notify_add *add = (void *)task;

	sed_task_done(task, sed_error(syncevent_add(target(task), add->value, add->fetched)));
	return DOCA_SUCCESS;
}

static doca_error_t submit_wait(struct doca_task *task, enum syncevent_cond cond)
{
	const struct wait *wait = (void *)task;
	const struct doca_ctx *ctx = task->pool->ctx;
	const struct doca_sync_event *event = event_of(ctx);
	int err = sed_pe_wait(ctx->pe, &task->work, event->on, event->ev, cond, wait->value,
			      wait->mask);

	/* That is how the wait ends, not why it could not begin. */
	if (err == -EIDRM || err == -EPIPE) {
		sed_task_done(task, sed_error(err));
		return DOCA_SUCCESS;
	}
	return sed_error(err);
}

static doca_error_t submit_wait_eq(struct doca_task *task)
{
	return submit_wait(task, SYNCEVENT_EQ);
}

static doca_error_t submit_wait_neq(struct doca_task *task)
{
	return submit_wait(task, SYNCEVENT_NEQ);
}

/* 0, or FF bytes that follow each other: 1, 2, 4 or 8. */
static bool is_mask(uint64_t mask)
{
	unsigned int shift = mask ? (unsigned int)__builtin_ctzll(mask) : 0;

	if (shift % 8)
		return false;
	mask >>= shift;
	return !mask || mask == UINT8_MAX || mask == UINT16_MAX || mask == UINT32_MAX ||
	       mask == UINT64_MAX;
}

static doca_error_t check_get(const struct doca_task *task)
{
	const struct doca_sync_event_task_get *get = (const void *)task;

	return get->to ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_wait(const struct doca_task *task)
{
	const struct wait *wait = (const void *)task;

	return is_mask(wait->mask) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

#define check_notify_set	NULL
#define check_notify_add	NULL
#define check_wait_eq		check_wait
#define check_wait_neq		check_wait

/* ---- what all kinds have ------------------------------------------------------------------ */

static doca_error_t configure(struct doca_sync_event *event, enum sed_event_task kind,
			      const struct sed_task_ops *ops, void (*done)(void),
			      void (*failed)(void), uint32_t num)
{
	if (!event || !done || !failed)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->mode == SED_MODE_SYNC)
		return DOCA_ERROR_NOT_PERMITTED;
	return sed_pool_conf(&event->pools[kind], &event->ctx, ops, done, failed, num);
}

#define TASK(name, kind)								\
static void callback_##name(struct doca_task *task, void (*done)(void),			\
			    union doca_data task_data, union doca_data ctx_data)	\
{											\
	((doca_sync_event_task_##name##_completion_cb_t)done)((void *)task, task_data,	\
							     ctx_data);			\
}											\
											\
static const struct sed_task_ops ops_##name = {						\
	.size = sizeof(struct doca_sync_event_task_##name),				\
	.check = check_##name,								\
	.submit = submit_##name,							\
	.callback = callback_##name,							\
};											\
											\
doca_error_t doca_sync_event_task_##name##_set_conf(struct doca_sync_event *event,	\
		doca_sync_event_task_##name##_completion_cb_t completion_cb,		\
		doca_sync_event_task_##name##_completion_cb_t error_cb,			\
		uint32_t num_tasks)							\
{											\
	return configure(event, kind, &ops_##name, (void (*)(void))completion_cb,	\
			 (void (*)(void))error_cb, num_tasks);				\
}											\
											\
struct doca_task *doca_sync_event_task_##name##_as_doca_task(				\
		struct doca_sync_event_task_##name *task)				\
{											\
	return (void *)task;								\
}

TASK(get, SED_GET)
TASK(notify_set, SED_NOTIFY_SET)
TASK(notify_add, SED_NOTIFY_ADD)
TASK(wait_eq, SED_WAIT_EQ)
TASK(wait_neq, SED_WAIT_NEQ)

static doca_error_t take(struct doca_sync_event *event, enum sed_event_task kind,
			 union doca_data user_data, void **taken)
{
	struct doca_task *task;
	doca_error_t result = sed_task_get(&event->pools[kind], &task);

	if (result != DOCA_SUCCESS)
		return result;
	task->user_data = user_data;
	*taken = task;
	return DOCA_SUCCESS;
}

#define ACCESSORS(name, type, what, field)						\
type doca_sync_event_task_##name##_get_##what(						\
		const struct doca_sync_event_task_##name *task)				\
{											\
	return task ? task->field : 0;							\
}											\
											\
void doca_sync_event_task_##name##_set_##what(						\
		struct doca_sync_event_task_##name *task, type what)			\
{											\
	if (task)									\
		task->field = what;							\
}

ACCESSORS(get, uint64_t *, ret_val_ptr, to)
ACCESSORS(notify_set, uint64_t, set_val, value)
ACCESSORS(notify_add, uint64_t, inc_val, value)
ACCESSORS(notify_add, uint64_t *, fetched_val_ptr, fetched)
ACCESSORS(wait_eq, uint64_t, wait_val, wait.value)
ACCESSORS(wait_eq, uint64_t, mask, wait.mask)
ACCESSORS(wait_neq, uint64_t, wait_val, wait.value)
ACCESSORS(wait_neq, uint64_t, mask, wait.mask)

/* ---- allocation -------------------------------------------------------------------------- */

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
						 uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task)
{
	doca_error_t result;
	void *taken;

	if (!event || !ret_val_ptr || !task)
		return DOCA_ERROR_INVALID_VALUE;
	result = take(event, SED_GET, user_data, &taken);
	if (result != DOCA_SUCCESS)
		return result;
	*task = taken;
	(*task)->to = ret_val_ptr;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_notify_set_alloc_init(
		struct doca_sync_event *event, uint64_t set_val, union doca_data user_data,
		struct doca_sync_event_task_notify_set **task)
{
	doca_error_t result;
	void *taken;

	if (!event || !task)
		return DOCA_ERROR_INVALID_VALUE;
	result = take(event, SED_NOTIFY_SET, user_data, &taken);
	if (result != DOCA_SUCCESS)
		return result;
	*task = taken;
	(*task)->value = set_val;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_notify_add_alloc_init(
		struct doca_sync_event *event, uint64_t inc_val, uint64_t *fetched_val_ptr,
		union doca_data user_data, struct doca_sync_event_task_notify_add **task)
{
	doca_error_t result;
	void *taken;

	if (!event || !task)
		return DOCA_ERROR_INVALID_VALUE;
	result = take(event, SED_NOTIFY_ADD, user_data, &taken);
	if (result != DOCA_SUCCESS)
		return result;
	*task = taken;
	(*task)->value = inc_val;
	(*task)->fetched = fetched_val_ptr;
	return DOCA_SUCCESS;
}

#define ALLOC_WAIT(name, kind)								\
doca_error_t doca_sync_event_task_##name##_alloc_init(					\
		struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,	\
		union doca_data user_data, struct doca_sync_event_task_##name **task)	\
{											\
	doca_error_t result;								\
	void *taken;									\
											\
	if (!event || !task || !is_mask(mask))						\
		return DOCA_ERROR_INVALID_VALUE;					\
	result = take(event, kind, user_data, &taken);					\
	if (result != DOCA_SUCCESS)							\
		return result;								\
	*task = taken;									\
	(*task)->wait.value = wait_val;							\
	(*task)->wait.mask = mask;							\
	return DOCA_SUCCESS;								\
}

ALLOC_WAIT(wait_eq, SED_WAIT_EQ)
ALLOC_WAIT(wait_neq, SED_WAIT_NEQ)
