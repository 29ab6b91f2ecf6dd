/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca.h - what the tests of libsyncevent-doca share
 *
 * OK() and FAILS() call a function and say what it must return: doca-coverage.py reads
 * them in the sources to know what is tested.
 */
#ifndef SELFTESTS_DOCA_H
#define SELFTESTS_DOCA_H

#include "common.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_config.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dpa.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#include <doca_types.h>

#define OK(call)		ASSERT_EQ(DOCA_SUCCESS, call)
/* For teardowns, which an assertion that fails would begin again. */
#define ENDS(call)		EXPECT_EQ(DOCA_SUCCESS, call)
#define FAILS(error, call)	ASSERT_EQ(DOCA_ERROR_##error, call)

#define HOST	"0000:01:00.0"
#define DPU	"0000:03:00.0"

static const union doca_data no_data = { .u64 = 0 };

/* The device of this address, open; NULL: there is none. */
static inline struct doca_dev *open_dev(const char *address)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint8_t equal;
	uint32_t n, i;

	if (doca_devinfo_create_list(&list, &n))
		return NULL;
	for (i = 0; i < n && !dev; i++)
		if (!doca_devinfo_is_equal_pci_addr(list[i], address, &equal) && equal)
			(void)doca_dev_open(list[i], &dev);
	(void)doca_devinfo_destroy_list(list);
	return dev;
}

/* An event with a CPU on either side; NULL: it could not be made. */
static inline struct doca_sync_event *make_event(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	if (doca_sync_event_create(&event))
		return NULL;
	if (doca_sync_event_add_publisher_location_cpu(event, dev) ||
	    doca_sync_event_add_subscriber_location_cpu(event, dev)) {
		(void)doca_sync_event_destroy(event);
		return NULL;
	}
	return event;
}

/* Progress until something was done; false: a hang. */
static inline bool progress(struct doca_pe *pe)
{
	uint64_t end = se_patience();

	while (!doca_pe_progress(pe)) {
		if (se_now(CLOCK_MONOTONIC) > end)
			return false;
		sched_yield();
	}
	return true;
}

/* Progress until @expr is true, one step at a time; false: a hang. */
#define progress_until(pe, expr) ({						\
	uint64_t __end = se_patience();						\
										\
	while (!(expr) && se_now(CLOCK_MONOTONIC) < __end)			\
		if (!doca_pe_progress(pe))					\
			sched_yield();						\
	(expr);									\
})

/* What callbacks have seen; the user data of a context. */
struct seen {
	unsigned int done;
	unsigned int failed;
	struct doca_task *task;
	union doca_data task_data;
	unsigned int changes;
	enum doca_ctx_states from[16];
	enum doca_ctx_states to[16];
	bool again;		/* submit it again */
	bool keep;		/* do not free it */
};

static inline void seen_task(struct doca_task *task, union doca_data task_data,
			     union doca_data ctx_data, bool failed)
{
	struct seen *seen = ctx_data.ptr;

	seen->done += !failed;
	seen->failed += failed;
	seen->task = task;
	seen->task_data = task_data;
	if (seen->again && !failed && !doca_task_submit(task))
		return;
	if (!seen->keep)
		doca_task_free(task);
}

static inline void seen_state(const union doca_data ctx_data, struct doca_ctx *ctx,
			      enum doca_ctx_states from, enum doca_ctx_states to)
{
	struct seen *seen = ctx_data.ptr;
	enum doca_ctx_states now;

	/* It is in the next state already. */
	if (doca_ctx_get_state(ctx, &now) || now != to)
		abort();
	if (seen->changes < 16) {
		seen->from[seen->changes] = from;
		seen->to[seen->changes] = to;
	}
	seen->changes++;
}

#define SEEN(name)									\
static inline void name##_done(struct doca_sync_event_task_##name *task,		\
			       union doca_data task_data, union doca_data ctx_data)	\
{											\
	seen_task(doca_sync_event_task_##name##_as_doca_task(task), task_data, ctx_data,	\
		  false);								\
}											\
											\
static inline void name##_failed(struct doca_sync_event_task_##name *task,		\
				 union doca_data task_data, union doca_data ctx_data)	\
{											\
	seen_task(doca_sync_event_task_##name##_as_doca_task(task), task_data, ctx_data,	\
		  true);								\
}

SEEN(get)
SEEN(notify_set)
SEEN(notify_add)
SEEN(wait_eq)
SEEN(wait_neq)

#define AS_TASK(name, task)	doca_sync_event_task_##name##_as_doca_task(task)

/* All kinds of tasks, so many of each. */
static inline doca_error_t conf_all(struct doca_sync_event *event, uint32_t n)
{
	doca_error_t r = doca_sync_event_task_get_set_conf(event, get_done, get_failed, n);

	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_notify_set_set_conf(
					event, notify_set_done, notify_set_failed, n));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_notify_add_set_conf(
					event, notify_add_done, notify_add_failed, n));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_wait_eq_set_conf(
					event, wait_eq_done, wait_eq_failed, n));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_wait_neq_set_conf(
					event, wait_neq_done, wait_neq_failed, n));
	return r;
}

/* An engine and an event that is connected to it, not yet started. */
struct async {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct seen seen;
};

static inline doca_error_t async_make(struct async *a, uint32_t tasks)
{
	const union doca_data data = { .ptr = &a->seen };
	doca_error_t r;

	*a = (struct async){ .dev = open_dev(DPU) };
	a->event = a->dev ? make_event(a->dev) : NULL;
	if (!a->event)
		return DOCA_ERROR_NOT_FOUND;
	r = doca_pe_create(&a->pe);
	a->ctx = doca_sync_event_as_ctx(a->event);
	DOCA_ERROR_PROPAGATE(r, doca_pe_connect_ctx(a->pe, a->ctx));
	DOCA_ERROR_PROPAGATE(r, doca_ctx_set_user_data(a->ctx, data));
	DOCA_ERROR_PROPAGATE(r, doca_ctx_set_state_changed_cb(a->ctx, seen_state));
	if (tasks)
		DOCA_ERROR_PROPAGATE(r, conf_all(a->event, tasks));
	return r;
}

static inline doca_error_t async_start(struct async *a, uint32_t tasks)
{
	doca_error_t r = async_make(a, tasks);

	DOCA_ERROR_PROPAGATE(r, doca_ctx_start(a->ctx));
	return r;
}

/* In the order of NVIDIA's samples; nothing may be in use. */
static inline doca_error_t async_end(struct async *a)
{
	doca_error_t r = DOCA_SUCCESS;

	if (a->event)
		r = doca_sync_event_destroy(a->event);
	DOCA_ERROR_PROPAGATE(r, doca_pe_destroy(a->pe));
	DOCA_ERROR_PROPAGATE(r, doca_dev_close(a->dev));
	return r;
}

static inline enum doca_ctx_states state_of(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(ctx, &state) ? (enum doca_ctx_states)-1 : state;
}

#endif /* SELFTESTS_DOCA_H */
