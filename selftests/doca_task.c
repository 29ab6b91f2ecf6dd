// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_task.c - tasks of sync events: each function with its effect and its errors; tasks
 * in flight as their context stops, is destroyed, or they are freed; stop and destroy from
 * inside of callbacks; pools that are empty or used up.
 */
#include "doca.h"

FIXTURE(task) {
	struct async a;
	uint64_t value;
};

FIXTURE_SETUP(task)
{
	OK(async_start(&self->a, 4));
	se_poison(&self->value, sizeof(self->value));
}

FIXTURE_TEARDOWN(task)
{
	ENDS(async_end(&self->a));
}

/* Every kind of task as one: how to have it allocated with any arguments. */
typedef doca_error_t alloc_fn(struct doca_sync_event *event, struct doca_task **task);

#define ALLOC(name, ...)								\
static doca_error_t alloc_##name(struct doca_sync_event *event, struct doca_task **task)	\
{											\
	struct doca_sync_event_task_##name *t;						\
	doca_error_t r = doca_sync_event_task_##name##_alloc_init(event, __VA_ARGS__,	\
								  no_data, &t);	\
											\
	if (!r)										\
		*task = AS_TASK(name, t);						\
	return r;									\
}

static uint64_t got;
ALLOC(get, &got)
ALLOC(notify_set, 1)
ALLOC(notify_add, 1, NULL)
ALLOC(wait_eq, 77, UINT64_MAX)		/* does not hold */
ALLOC(wait_neq, 0, UINT64_MAX)		/* does not hold at first */

static alloc_fn *const allocs[] = {
	alloc_get, alloc_notify_set, alloc_notify_add, alloc_wait_eq, alloc_wait_neq,
};
#define KINDS	(sizeof(allocs) / sizeof(allocs[0]))

/* ---- configuration ----------------------------------------------------------------- */

TEST(set_conf)
{
	struct async a;

	OK(async_make(&a, 0));
	FAILS(INVALID_VALUE, doca_sync_event_task_get_set_conf(NULL, get_done, get_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_get_set_conf(a.event, NULL, get_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_get_set_conf(a.event, get_done, NULL, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_set_set_conf(NULL, notify_set_done,
								      notify_set_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_set_set_conf(a.event, NULL,
								      notify_set_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_add_set_conf(NULL, notify_add_done,
								      notify_add_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_add_set_conf(a.event, notify_add_done,
								      NULL, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_eq_set_conf(NULL, wait_eq_done,
								   wait_eq_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_eq_set_conf(a.event, NULL,
								   wait_eq_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_neq_set_conf(NULL, wait_neq_done,
								    wait_neq_failed, 1));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_neq_set_conf(a.event, wait_neq_done,
								    NULL, 1));
	/* Not one kind of task is configured. */
	FAILS(BAD_CONFIG, doca_ctx_start(a.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(a.ctx));
	/* Behaviour 22: after it is connected, and more than once. */
	OK(doca_sync_event_task_get_set_conf(a.event, get_done, get_failed, 1));
	OK(doca_sync_event_task_get_set_conf(a.event, get_done, get_failed, 2));
	OK(doca_sync_event_task_notify_set_set_conf(a.event, notify_set_done,
						    notify_set_failed, 1));
	OK(doca_sync_event_task_notify_add_set_conf(a.event, notify_add_done,
						    notify_add_failed, 1));
	OK(doca_sync_event_task_wait_eq_set_conf(a.event, wait_eq_done, wait_eq_failed, 1));
	OK(doca_sync_event_task_wait_neq_set_conf(a.event, wait_neq_done, wait_neq_failed, 1));
	OK(doca_ctx_start(a.ctx));
	FAILS(NOT_PERMITTED, doca_sync_event_task_get_set_conf(a.event, get_done, get_failed, 1));
	FAILS(NOT_PERMITTED, doca_sync_event_task_notify_set_set_conf(a.event, notify_set_done,
								      notify_set_failed, 1));
	FAILS(NOT_PERMITTED, doca_sync_event_task_notify_add_set_conf(a.event, notify_add_done,
								      notify_add_failed, 1));
	FAILS(NOT_PERMITTED, doca_sync_event_task_wait_eq_set_conf(a.event, wait_eq_done,
								   wait_eq_failed, 1));
	FAILS(NOT_PERMITTED, doca_sync_event_task_wait_neq_set_conf(a.event, wait_neq_done,
								    wait_neq_failed, 1));
	OK(async_end(&a));
}

/* The sanitizers' calloc() would rather abort than return NULL. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* No memory is spent on tasks that are not used; and more than there can be are refused. */
TEST(huge_pools)
{
	struct doca_task *task;
	struct async a;

	OK(async_make(&a, 0));
	OK(doca_sync_event_task_notify_add_set_conf(a.event, notify_add_done, notify_add_failed,
						    1U << 20));
	OK(doca_ctx_start(a.ctx));
	OK(alloc_notify_add(a.event, &task));
	OK(doca_task_submit(task));
	ASSERT_TRUE(progress_until(a.pe, a.seen.done == 1));
	OK(doca_ctx_stop(a.ctx));
	OK(doca_sync_event_task_notify_add_set_conf(a.event, notify_add_done, notify_add_failed,
						    UINT32_MAX));
	OK(doca_sync_event_task_get_set_conf(a.event, get_done, get_failed, 1));
	if (doca_ctx_start(a.ctx) == DOCA_SUCCESS) {
		OK(alloc_notify_add(a.event, &task));
		OK(doca_task_submit(task));
		ASSERT_TRUE(progress_until(a.pe, a.seen.done == 2));
	} else {
		FAILS(NO_MEMORY, doca_ctx_start(a.ctx));
		ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(a.ctx));
	}
	OK(async_end(&a));
}

/* As many of each kind as was said last. */
TEST(pool_sizes)
{
	struct doca_task *tasks[3];
	struct async a;
	unsigned int i;

	/* Behaviour 7: none of any kind, or a kind that is not configured. */
	OK(async_make(&a, 0));
	OK(doca_sync_event_task_get_set_conf(a.event, get_done, get_failed, 0));
	OK(doca_ctx_start(a.ctx));
	for (i = 0; i < KINDS; i++)
		FAILS(NO_MEMORY, allocs[i](a.event, &tasks[0]));
	OK(async_end(&a));

	OK(async_start(&a, 2));
	for (i = 0; i < KINDS; i++) {
		OK(allocs[i](a.event, &tasks[0]));
		OK(allocs[i](a.event, &tasks[1]));
		ASSERT_NE(tasks[0], tasks[1]);
		FAILS(NO_MEMORY, allocs[i](a.event, &tasks[2]));
		doca_task_free(tasks[0]);
		OK(allocs[i](a.event, &tasks[2]));
		ASSERT_EQ(tasks[0], tasks[2]);
		doca_task_free(tasks[1]);
		doca_task_free(tasks[2]);
	}
	/* Again in a context that is started once more. */
	OK(doca_ctx_stop(a.ctx));
	OK(conf_all(a.event, 1));
	OK(doca_ctx_start(a.ctx));
	for (i = 0; i < KINDS; i++) {
		OK(allocs[i](a.event, &tasks[0]));
		FAILS(NO_MEMORY, allocs[i](a.event, &tasks[1]));
		doca_task_free(tasks[0]);
	}
	OK(async_end(&a));
}

TEST_F(task, alloc_init)
{
	struct doca_sync_event *event = self->a.event;
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event_task_wait_neq *neq;
	struct doca_task *task;
	unsigned int i, n;

	FAILS(INVALID_VALUE, doca_sync_event_task_get_alloc_init(NULL, &self->value, no_data,
								 &get));
	FAILS(INVALID_VALUE, doca_sync_event_task_get_alloc_init(event, NULL, no_data, &get));
	FAILS(INVALID_VALUE, doca_sync_event_task_get_alloc_init(event, &self->value, no_data,
								 NULL));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_set_alloc_init(NULL, 1, no_data, &set));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_set_alloc_init(event, 1, no_data, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_add_alloc_init(NULL, 1, NULL, no_data,
									&add));
	FAILS(INVALID_VALUE, doca_sync_event_task_notify_add_alloc_init(event, 1, NULL, no_data,
									NULL));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_eq_alloc_init(NULL, 1, 0, no_data, &eq));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_eq_alloc_init(event, 1, 0, no_data, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_eq_alloc_init(event, 1, 1, no_data, &eq));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_neq_alloc_init(NULL, 1, 0, no_data, &neq));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_neq_alloc_init(event, 1, 0, no_data, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_task_wait_neq_alloc_init(event, 1, 1, no_data, &neq));
	/* None was taken. */
	for (i = 0; i < KINDS; i++)
		for (n = 0; n < 4; n++)
			OK(allocs[i](event, &task));
	FAILS(NO_MEMORY, doca_sync_event_task_get_alloc_init(event, &self->value, no_data, &get));
	FAILS(NO_MEMORY, doca_sync_event_task_notify_set_alloc_init(event, 1, no_data, &set));
	FAILS(NO_MEMORY, doca_sync_event_task_notify_add_alloc_init(event, 1, NULL, no_data, &add));
	FAILS(NO_MEMORY, doca_sync_event_task_wait_eq_alloc_init(event, 1, 0, no_data, &eq));
	FAILS(NO_MEMORY, doca_sync_event_task_wait_neq_alloc_init(event, 1, 0, no_data, &neq));
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	FAILS(BAD_STATE, doca_sync_event_task_get_alloc_init(event, &self->value, no_data, &get));
	FAILS(BAD_STATE, doca_sync_event_task_notify_set_alloc_init(event, 1, no_data, &set));
	FAILS(BAD_STATE, doca_sync_event_task_notify_add_alloc_init(event, 1, NULL, no_data, &add));
	FAILS(BAD_STATE, doca_sync_event_task_wait_eq_alloc_init(event, 1, 0, no_data, &eq));
	FAILS(BAD_STATE, doca_sync_event_task_wait_neq_alloc_init(event, 1, 0, no_data, &neq));
}

/* ---- what they do -------------------------------------------------------------------- */

TEST_F(task, accessors)
{
	struct doca_sync_event *event = self->a.event;
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event_task_wait_neq *neq;
	uint64_t other;

	ASSERT_EQ(NULL, doca_sync_event_task_get_as_doca_task(NULL));
	ASSERT_EQ(NULL, doca_sync_event_task_notify_set_as_doca_task(NULL));
	ASSERT_EQ(NULL, doca_sync_event_task_notify_add_as_doca_task(NULL));
	ASSERT_EQ(NULL, doca_sync_event_task_wait_eq_as_doca_task(NULL));
	ASSERT_EQ(NULL, doca_sync_event_task_wait_neq_as_doca_task(NULL));

	OK(doca_sync_event_task_get_alloc_init(event, &self->value, no_data, &get));
	ASSERT_EQ(&self->value, doca_sync_event_task_get_get_ret_val_ptr(get));
	doca_sync_event_task_get_set_ret_val_ptr(get, &other);
	ASSERT_EQ(&other, doca_sync_event_task_get_get_ret_val_ptr(get));
	doca_sync_event_task_get_set_ret_val_ptr(NULL, &other);
	ASSERT_EQ(NULL, doca_sync_event_task_get_get_ret_val_ptr(NULL));
	ASSERT_NE(NULL, doca_sync_event_task_get_as_doca_task(get));

	OK(doca_sync_event_task_notify_set_alloc_init(event, 5, no_data, &set));
	ASSERT_EQ(5, doca_sync_event_task_notify_set_get_set_val(set));
	doca_sync_event_task_notify_set_set_set_val(set, UINT64_MAX);
	ASSERT_EQ(UINT64_MAX, doca_sync_event_task_notify_set_get_set_val(set));
	ASSERT_NE(NULL, doca_sync_event_task_notify_set_as_doca_task(set));

	OK(doca_sync_event_task_notify_add_alloc_init(event, 6, &other, no_data, &add));
	ASSERT_EQ(6, doca_sync_event_task_notify_add_get_inc_val(add));
	doca_sync_event_task_notify_add_set_inc_val(add, 7);
	ASSERT_EQ(7, doca_sync_event_task_notify_add_get_inc_val(add));
	ASSERT_EQ(&other, doca_sync_event_task_notify_add_get_fetched_val_ptr(add));
	doca_sync_event_task_notify_add_set_fetched_val_ptr(add, NULL);
	ASSERT_EQ(NULL, doca_sync_event_task_notify_add_get_fetched_val_ptr(add));
	ASSERT_NE(NULL, doca_sync_event_task_notify_add_as_doca_task(add));

	OK(doca_sync_event_task_wait_eq_alloc_init(event, 8, 0xff00, no_data, &eq));
	ASSERT_EQ(8, doca_sync_event_task_wait_eq_get_wait_val(eq));
	ASSERT_EQ(0xff00, doca_sync_event_task_wait_eq_get_mask(eq));
	doca_sync_event_task_wait_eq_set_wait_val(eq, 9);
	doca_sync_event_task_wait_eq_set_mask(eq, SE_ALL);
	ASSERT_EQ(9, doca_sync_event_task_wait_eq_get_wait_val(eq));
	ASSERT_EQ(SE_ALL, doca_sync_event_task_wait_eq_get_mask(eq));
	ASSERT_NE(NULL, doca_sync_event_task_wait_eq_as_doca_task(eq));

	OK(doca_sync_event_task_wait_neq_alloc_init(event, 8, 0xff00, no_data, &neq));
	ASSERT_EQ(8, doca_sync_event_task_wait_neq_get_wait_val(neq));
	ASSERT_EQ(0xff00, doca_sync_event_task_wait_neq_get_mask(neq));
	doca_sync_event_task_wait_neq_set_wait_val(neq, 9);
	doca_sync_event_task_wait_neq_set_mask(neq, SE_ALL);
	ASSERT_EQ(9, doca_sync_event_task_wait_neq_get_wait_val(neq));
	ASSERT_EQ(SE_ALL, doca_sync_event_task_wait_neq_get_mask(neq));
	ASSERT_NE(NULL, doca_sync_event_task_wait_neq_as_doca_task(neq));
	ASSERT_EQ(0, doca_sync_event_task_wait_neq_get_mask(NULL));
}

/* Behaviour 20: get and notify act as they are submitted. */
TEST_F(task, get_and_notify)
{
	const union doca_data data = { .u64 = 0xdada };
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_get *get;
	struct seen *seen = &self->a.seen;
	uint64_t old;

	seen->keep = true;
	OK(doca_sync_event_task_notify_set_alloc_init(self->a.event, UINT64_MAX, data, &set));
	OK(doca_task_submit(AS_TASK(notify_set, set)));
	FAILS(IN_USE, doca_task_submit(AS_TASK(notify_set, set)));
	OK(doca_sync_event_task_notify_add_alloc_init(self->a.event, 3, &old, no_data, &add));
	OK(doca_task_submit(AS_TASK(notify_add, add)));
	ASSERT_EQ(UINT64_MAX, old);
	OK(doca_sync_event_task_get_alloc_init(self->a.event, &self->value, no_data, &get));
	OK(doca_task_submit(AS_TASK(get, get)));
	ASSERT_EQ(2, self->value);
	/* Each completes by one progress, in this order. */
	ASSERT_EQ(0, seen->done);
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	ASSERT_EQ(1, seen->done);
	ASSERT_EQ(AS_TASK(notify_set, set), seen->task);
	ASSERT_EQ(0xdada, seen->task_data.u64);
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	ASSERT_EQ(AS_TASK(notify_add, add), seen->task);
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	ASSERT_EQ(AS_TASK(get, get), seen->task);
	ASSERT_EQ(3, seen->done);
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	/* The same ones once more, with other arguments; behaviour 13. */
	doca_sync_event_task_notify_add_set_fetched_val_ptr(add, NULL);
	doca_sync_event_task_notify_add_set_inc_val(add, 40);
	OK(doca_task_submit(AS_TASK(notify_add, add)));
	OK(doca_task_submit(AS_TASK(get, get)));
	ASSERT_EQ(42, self->value);
	ASSERT_TRUE(progress_until(self->a.pe, seen->done == 5));
	/* One that has nowhere to write to. */
	doca_sync_event_task_get_set_ret_val_ptr(get, NULL);
	FAILS(INVALID_VALUE, doca_task_submit(AS_TASK(get, get)));
	FAILS(INVALID_VALUE, doca_task_try_submit(AS_TASK(get, get)));
}

TEST_F(task, waits)
{
	struct doca_sync_event_task_wait_neq *neq;
	struct doca_sync_event_task_wait_eq *eq;
	struct seen *seen = &self->a.seen;
	struct doca_task *add;
	uint64_t i;

	OK(doca_sync_event_task_wait_eq_alloc_init(self->a.event, 2, SE_ALL, no_data, &eq));
	OK(doca_sync_event_task_wait_neq_alloc_init(self->a.event, 0, SE_ALL, no_data, &neq));
	OK(doca_task_submit(AS_TASK(wait_eq, eq)));
	OK(doca_task_submit(AS_TASK(wait_neq, neq)));
	FAILS(IN_PROGRESS, doca_task_get_status(AS_TASK(wait_eq, eq)));
	/* Behaviour 5: nothing was done until something was. */
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	OK(alloc_notify_add(self->a.event, &add));
	OK(doca_task_submit(add));
	ASSERT_TRUE(progress_until(self->a.pe, seen->done == 2));
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	OK(alloc_notify_add(self->a.event, &add));
	OK(doca_task_submit(add));
	ASSERT_TRUE(progress_until(self->a.pe, seen->done == 4));
	ASSERT_EQ(0, seen->failed);
	/* One whose condition holds already. */
	OK(doca_sync_event_task_wait_eq_alloc_init(self->a.event, 2, SE_ALL, no_data, &eq));
	OK(doca_task_submit(AS_TASK(wait_eq, eq)));
	ASSERT_TRUE(progress_until(self->a.pe, seen->done == 5));
}

TEST_F(task, masks)
{
	static const uint64_t good[] = {
		0, 0xff, 0xff00, 0xffULL << 56, 0xffff, 0xffffULL << 48, 0xffff00,
		0xffffffff, 0xffffffffULL << 32, 0xffffffffULL << 8, UINT64_MAX,
	};
	static const uint64_t bad[] = {
		1, 0x7f, 0x1fe, 0xff00ff, 0xffffff, 0xffffffffffULL, 0xffffffffffffULL,
		0xffffffffffffffULL, UINT64_MAX << 8, UINT64_MAX - 1, 1ULL << 63,
	};
	const uint64_t value = 0x0123456789abcdefULL;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_wait_neq *neq;
	struct doca_sync_event_task_wait_eq *eq;
	unsigned int i, done = 1;

	OK(doca_sync_event_task_notify_set_alloc_init(self->a.event, value, no_data, &set));
	OK(doca_task_submit(AS_TASK(notify_set, set)));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 1));
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		OK(doca_sync_event_task_wait_eq_alloc_init(self->a.event, value & good[i], good[i],
							   no_data, &eq));
		OK(doca_task_submit(AS_TASK(wait_eq, eq)));
		OK(doca_sync_event_task_wait_neq_alloc_init(self->a.event, ~value, good[i],
							    no_data, &neq));
		OK(doca_task_submit(AS_TASK(wait_neq, neq)));
		done += 2;
		ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == done));
	}
	OK(doca_sync_event_task_wait_eq_alloc_init(self->a.event, 0, 0, no_data, &eq));
	OK(doca_sync_event_task_wait_neq_alloc_init(self->a.event, 0, 0, no_data, &neq));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct doca_sync_event_task_wait_eq *other;

		FAILS(INVALID_VALUE, doca_sync_event_task_wait_eq_alloc_init(self->a.event, 0,
									     bad[i], no_data,
									     &other));
		doca_sync_event_task_wait_eq_set_mask(eq, bad[i]);
		FAILS(INVALID_VALUE, doca_task_submit(AS_TASK(wait_eq, eq)));
		doca_sync_event_task_wait_neq_set_mask(neq, bad[i]);
		FAILS(INVALID_VALUE, doca_task_try_submit(AS_TASK(wait_neq, neq)));
	}
}

TEST_F(task, what_all_tasks_have)
{
	const union doca_data data = { .u64 = 9 };
	struct doca_task *task;

	FAILS(INVALID_VALUE, doca_task_submit(NULL));
	FAILS(INVALID_VALUE, doca_task_try_submit(NULL));
	FAILS(INVALID_VALUE, doca_task_submit_ex(NULL, 0));
	FAILS(INVALID_VALUE, doca_task_get_status(NULL));
	ASSERT_EQ(NULL, doca_task_get_ctx(NULL));
	ASSERT_EQ(0, doca_task_get_user_data(NULL).u64);
	doca_task_set_user_data(NULL, data);
	doca_task_free(NULL);

	OK(alloc_notify_add(self->a.event, &task));
	OK(doca_task_get_status(task));
	ASSERT_EQ(self->a.ctx, doca_task_get_ctx(task));
	ASSERT_EQ(0, doca_task_get_user_data(task).u64);
	doca_task_set_user_data(task, data);
	ASSERT_EQ(9, doca_task_get_user_data(task).u64);
	FAILS(INVALID_VALUE, doca_task_submit_ex(task, 4));
	OK(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH |
				     DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS));
	FAILS(IN_USE, doca_task_try_submit(task));
	FAILS(IN_USE, doca_task_submit_ex(task, 0));
	FAILS(IN_PROGRESS, doca_task_get_status(task));
	self->a.seen.keep = true;
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 1));
	ASSERT_EQ(9, self->a.seen.task_data.u64);
	OK(doca_task_get_status(task));
	OK(doca_task_try_submit(task));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 2));
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	FAILS(BAD_STATE, doca_task_submit(task));
	FAILS(BAD_STATE, doca_task_try_submit(task));
	FAILS(BAD_STATE, doca_task_submit_ex(task, 0));
	doca_task_free(task);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(self->a.ctx));
}

TEST_HARNESS_MAIN
