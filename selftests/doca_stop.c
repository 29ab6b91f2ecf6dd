// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_stop.c - contexts of sync events that end: with tasks in flight or never freed,
 * from inside of callbacks, by their owner, beside synchronous calls; and each operation
 * in each state.
 */
#include "doca.h"

#include <syncevent.h>

FIXTURE(stop) {
	struct async a;
};

FIXTURE_SETUP(stop)
{
	OK(async_start(&self->a, 8));
}

FIXTURE_TEARDOWN(stop)
{
	ENDS(async_end(&self->a));
}

static struct doca_task *new_wait(struct async *a, uint64_t value)
{
	struct doca_sync_event_task_wait_eq *t;

	return doca_sync_event_task_wait_eq_alloc_init(a->event, value, SE_ALL, no_data, &t) ?
	       NULL : AS_TASK(wait_eq, t);
}

static struct doca_task *new_set(struct async *a, uint64_t value)
{
	struct doca_sync_event_task_notify_set *t;

	return doca_sync_event_task_notify_set_alloc_init(a->event, value, no_data, &t) ?
	       NULL : AS_TASK(notify_set, t);
}

/* ---- tasks in flight -------------------------------------------------------------- */

TEST_F(stop, in_flight)
{
	struct seen *seen = &self->a.seen;
	size_t n;

	/* One that can be collected, one done at submit, two that wait. */
	OK(doca_task_submit(new_wait(&self->a, 5)));
	OK(doca_task_submit(new_wait(&self->a, 6)));
	OK(doca_task_submit(new_wait(&self->a, 7)));
	OK(doca_task_submit(new_set(&self->a, 5)));
	OK(doca_ctx_get_num_inflight_tasks(self->a.ctx, &n));
	ASSERT_EQ(4, n);
	OK(doca_pe_get_num_inflight_tasks(self->a.pe, &n));
	ASSERT_EQ(4, n);
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, state_of(self->a.ctx));
	/* No callback runs but in progress. */
	ASSERT_EQ(0, seen->done + seen->failed);
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	ASSERT_TRUE(progress_until(self->a.pe, seen->done + seen->failed == 4));
	/* Behaviour 20: what was done is not undone. */
	ASSERT_EQ(2, seen->done);
	ASSERT_EQ(2, seen->failed);
	OK(doca_ctx_get_num_inflight_tasks(self->a.ctx, &n));
	ASSERT_EQ(0, n);
	OK(doca_pe_get_num_inflight_tasks(self->a.pe, &n));
	ASSERT_EQ(0, n);
	/* Behaviour 23: with the last one freed it is IDLE, without a further progress. */
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(self->a.ctx));
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	ASSERT_EQ(3, seen->changes);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, seen->to[0]);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, seen->from[1]);
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, seen->to[1]);
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, seen->from[2]);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, seen->to[2]);
	/* Once more. */
	OK(doca_ctx_start(self->a.ctx));
	OK(doca_task_submit(new_wait(&self->a, 5)));
	ASSERT_TRUE(progress_until(self->a.pe, seen->done == 3));
	OK(doca_ctx_stop(self->a.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, seen->from[4]);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, seen->to[4]);
}

TEST_F(stop, status_of_what_was_stopped)
{
	struct doca_task *task = new_wait(&self->a, 5);

	self->a.seen.keep = true;
	OK(doca_task_submit(task));
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	FAILS(IN_PROGRESS, doca_task_get_status(task));
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	ASSERT_EQ(1, self->a.seen.failed);
	ASSERT_EQ(task, self->a.seen.task);
	FAILS(SHUTDOWN, doca_task_get_status(task));
	/* Not freed: not IDLE. */
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, state_of(self->a.ctx));
	FAILS(BAD_STATE, doca_task_submit(task));
	doca_task_free(task);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(self->a.ctx));
}

/* Behaviour 6: freed while it waits, while it can be collected, while it is to be told of. */
TEST_F(stop, freed_in_flight)
{
	struct doca_task *task, *other;
	unsigned int i;
	size_t n;

	for (i = 0; i < 1000; i++) {
		task = new_wait(&self->a, 5);
		OK(doca_task_submit(task));
		if (i % 3 == 1) {
			OK(doca_task_submit(new_set(&self->a, 5)));
			/* Perhaps it is in the list of what is ready: behind the other. */
			ASSERT_TRUE(progress(self->a.pe));
		}
		if (i % 3 == 2) {
			other = new_set(&self->a, 5);
			OK(doca_task_submit(other));
			doca_task_free(other);
		}
		doca_task_free(task);
		ASSERT_EQ(0, doca_pe_progress(self->a.pe));
		other = new_set(&self->a, 0);
		OK(doca_task_submit(other));
		ASSERT_TRUE(progress(self->a.pe));
		OK(doca_pe_get_num_inflight_tasks(self->a.pe, &n));
		ASSERT_EQ(0, n);
	}
	ASSERT_EQ(0, self->a.seen.failed);
	/* And while it is stopped: that brings it to IDLE. */
	task = new_wait(&self->a, 5);
	OK(doca_task_submit(task));
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	doca_task_free(task);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(self->a.ctx));
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	ASSERT_EQ(0, self->a.seen.failed);
}

/* Behaviour 6: never freed. The teardown destroys the event, then the engine. */
TEST_F(stop, leaked_in_flight)
{
	OK(doca_task_submit(new_wait(&self->a, 5)));
	OK(doca_task_submit(new_set(&self->a, 5)));
	ASSERT_NE(NULL, new_set(&self->a, 5));
}

TEST_F(stop, leaked_and_stopped)
{
	OK(doca_task_submit(new_wait(&self->a, 5)));
	OK(doca_task_submit(new_set(&self->a, 6)));
	ASSERT_NE(NULL, new_set(&self->a, 5));
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.failed && self->a.seen.done));
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, state_of(self->a.ctx));
}

/* ---- from inside of callbacks ------------------------------------------------------- */

static struct async *victim;

static void stop_it(struct doca_sync_event_task_notify_set *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task_data;
	((struct seen *)ctx_data.ptr)->done++;
	if (doca_ctx_stop(victim->ctx) != DOCA_ERROR_IN_PROGRESS)
		abort();
	doca_task_free(AS_TASK(notify_set, task));
}

static void destroy_it(struct doca_sync_event_task_notify_set *task, union doca_data task_data,
		       union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct seen *)ctx_data.ptr)->done++;
	if (doca_sync_event_destroy(victim->event))
		abort();
	victim->event = NULL;
}

TEST(stop_in_a_callback)
{
	static struct async a;

	victim = &a;
	OK(async_make(&a, 4));
	OK(doca_sync_event_task_notify_set_set_conf(a.event, stop_it, notify_set_failed, 2));
	OK(doca_ctx_start(a.ctx));
	OK(doca_task_submit(new_wait(&a, 5)));
	OK(doca_task_submit(new_set(&a, 1)));
	ASSERT_EQ(1, doca_pe_progress(a.pe));
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, state_of(a.ctx));
	ASSERT_EQ(1, doca_pe_progress(a.pe));
	ASSERT_EQ(1, a.seen.done);
	ASSERT_EQ(1, a.seen.failed);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(a.ctx));
	/* The only one: it is IDLE when it is freed, in the callback. */
	OK(doca_ctx_start(a.ctx));
	OK(doca_task_submit(new_set(&a, 1)));
	ASSERT_EQ(1, doca_pe_progress(a.pe));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(a.ctx));
	OK(async_end(&a));
}

TEST(destroy_in_a_callback)
{
	static struct async a;

	victim = &a;
	OK(async_make(&a, 4));
	OK(doca_sync_event_task_notify_set_set_conf(a.event, destroy_it, notify_set_failed, 2));
	OK(doca_ctx_start(a.ctx));
	OK(doca_task_submit(new_wait(&a, 5)));
	OK(doca_task_submit(new_set(&a, 5)));
	OK(doca_task_submit(new_set(&a, 5)));
	ASSERT_EQ(1, doca_pe_progress(a.pe));
	ASSERT_EQ(1, a.seen.done);
	/* Of the others nothing is heard. */
	ASSERT_EQ(0, doca_pe_progress(a.pe));
	ASSERT_EQ(NULL, a.event);
	OK(async_end(&a));
}

/* Behaviour 12. */
static void destroy_when_idle(const union doca_data data, struct doca_ctx *ctx,
			      enum doca_ctx_states from, enum doca_ctx_states to)
{
	struct seen *seen = data.ptr;

	(void)ctx;
	(void)from;
	seen->changes++;
	if (to != DOCA_CTX_STATE_IDLE)
		return;
	if (doca_sync_event_destroy(victim->event))
		abort();
	victim->event = NULL;
}

TEST(destroy_as_it_gets_idle)
{
	struct doca_task *task = NULL;
	static struct async a;
	unsigned int how;

	victim = &a;
	/* In doca_ctx_stop(), in doca_task_free(), in doca_pe_progress(). */
	for (how = 0; how < 3; how++) {
		OK(async_make(&a, 4));
		OK(doca_ctx_set_state_changed_cb(a.ctx, destroy_when_idle));
		OK(doca_ctx_start(a.ctx));
		if (how)
			task = new_wait(&a, 5);
		if (how == 2)
			OK(doca_task_submit(task));
		ASSERT_EQ(how ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS, doca_ctx_stop(a.ctx));
		if (how == 1)
			doca_task_free(task);
		if (how == 2) {
			ASSERT_NE(NULL, a.event);
			ASSERT_EQ(1, doca_pe_progress(a.pe));
		}
		ASSERT_EQ(NULL, a.event);
		ASSERT_EQ(how ? 3 : 2, a.seen.changes);
		ASSERT_EQ(0, doca_pe_progress(a.pe));
		OK(async_end(&a));
	}
}

static struct doca_task *held;

static void free_when_stopping(const union doca_data data, struct doca_ctx *ctx,
			       enum doca_ctx_states from, enum doca_ctx_states to)
{
	seen_state(data, ctx, from, to);
	if (to == DOCA_CTX_STATE_STOPPING)
		doca_task_free(held);
}

static void free_and_destroy(const union doca_data data, struct doca_ctx *ctx,
			     enum doca_ctx_states from, enum doca_ctx_states to)
{
	destroy_when_idle(data, ctx, from, to);
	if (to == DOCA_CTX_STATE_STOPPING)
		doca_task_free(held);
}

static void destroy_when_stopping(const union doca_data data, struct doca_ctx *ctx,
				  enum doca_ctx_states from, enum doca_ctx_states to)
{
	if (to == DOCA_CTX_STATE_STOPPING)
		destroy_when_idle(data, ctx, from, DOCA_CTX_STATE_IDLE);
}

/* The callback that tells of STOPPING frees the last task, and that of IDLE perhaps all. */
TEST(idle_inside_of_stop)
{
	static const doca_ctx_state_changed_callback_t callbacks[] = {
		free_when_stopping, free_and_destroy, destroy_when_stopping,
	};
	static struct async a;
	unsigned int how, n;

	victim = &a;
	for (how = 0; how < 3; how++) {
		OK(async_make(&a, 4));
		OK(doca_ctx_set_state_changed_cb(a.ctx, callbacks[how]));
		for (n = 0; a.event && n < 2; n++) {
			OK(doca_ctx_start(a.ctx));
			held = new_set(&a, 5);
			OK(doca_ctx_stop(a.ctx));
			if (a.event)
				ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(a.ctx));
		}
		/* Once by one who keeps it, and again. */
		ASSERT_EQ(how ? 1 : 2, n);
		ASSERT_EQ(!how, !!a.event);
		ASSERT_EQ(0, doca_pe_progress(a.pe));
		OK(async_end(&a));
	}
}

TEST_F(stop, submitted_again_in_its_callback)
{
	const unsigned int times = se_times(10000);

	self->a.seen.again = true;
	OK(doca_task_submit(new_set(&self->a, 5)));
	OK(doca_task_submit(new_wait(&self->a, 5)));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done >= times));
	/* What always is something to do does not keep others from being seen. */
	self->a.seen.again = false;
	FAILS(IN_PROGRESS, doca_ctx_stop(self->a.ctx));
	ASSERT_TRUE(progress_until(self->a.pe, state_of(self->a.ctx) == DOCA_CTX_STATE_IDLE));
}

/* A wait gets its turn while there is always another task to complete. */
TEST_F(stop, nobody_starves)
{
	struct doca_sync_event_task_wait_neq *neq;
	struct seen *seen = &self->a.seen;

	seen->again = true;
	seen->keep = true;
	OK(doca_task_submit(new_set(&self->a, 5)));
	OK(doca_sync_event_task_wait_neq_alloc_init(self->a.event, 5, SE_ALL, no_data, &neq));
	OK(doca_task_submit(AS_TASK(wait_neq, neq)));
	ASSERT_TRUE(progress_until(self->a.pe, seen->done > 100));
	OK(doca_task_submit(new_set(&self->a, 6)));
	ASSERT_TRUE(progress_until(self->a.pe, seen->task == AS_TASK(wait_neq, neq)));
}

/* ---- the owner ends it ------------------------------------------------------------------ */

/* Behaviour 19. */
TEST_F(stop, owner_ends_it)
{
	const union doca_data data = { .ptr = &self->a.seen };
	struct doca_sync_event_task_get *get;
	struct doca_sync_event *other;
	struct async importer = { 0 };
	const uint8_t *blob;
	uint64_t value;
	size_t size;

	OK(doca_sync_event_export_to_remote_pci(self->a.event, self->a.dev, &blob, &size));
	OK(doca_sync_event_create_from_export(self->a.dev, blob, size, &other));
	importer.event = other;
	importer.ctx = doca_sync_event_as_ctx(other);
	OK(conf_all(other, 4));
	OK(doca_ctx_set_user_data(importer.ctx, data));
	OK(doca_pe_connect_ctx(self->a.pe, importer.ctx));
	OK(doca_ctx_start(importer.ctx));
	/* The importer's update is the owner's event. */
	OK(doca_task_submit(new_wait(&self->a, 5)));
	OK(doca_task_submit(new_set(&importer, 5)));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 2));
	OK(doca_sync_event_task_get_alloc_init(other, &value, no_data, &get));
	OK(doca_task_submit(AS_TASK(get, get)));
	OK(doca_task_submit(new_wait(&importer, 6)));
	OK(doca_sync_event_destroy(self->a.event));
	self->a.event = NULL;
	/* Behaviour 20: the get was done before. */
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 3));
	ASSERT_EQ(5, value);
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.failed == 1));
	/* All that comes later fails, by its callback. */
	self->a.seen.keep = true;
	OK(doca_sync_event_task_get_alloc_init(other, &value, no_data, &get));
	OK(doca_task_submit(AS_TASK(get, get)));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.failed == 2));
	FAILS(SHUTDOWN, doca_task_get_status(AS_TASK(get, get)));
	self->a.seen.keep = false;
	OK(doca_task_submit(AS_TASK(get, get)));
	OK(doca_task_submit(new_wait(&importer, 6)));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.failed == 4));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, state_of(importer.ctx));
	OK(doca_ctx_stop(importer.ctx));
	/* It cannot be waited on any more. */
	FAILS(SHUTDOWN, doca_ctx_start(importer.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(importer.ctx));
	OK(doca_sync_event_destroy(other));
}

static void export_and_sleep(int to)
{
	struct doca_dev *dev = open_dev(HOST);
	struct doca_sync_event *event = dev ? make_event(dev) : NULL;
	const uint8_t *blob;
	size_t size;

	alarm(SE_HANG_S);
	if (!event || doca_sync_event_start(event) ||
	    doca_sync_event_export_to_remote_pci(event, dev, &blob, &size) ||
	    write(to, blob, size) != (ssize_t)size)
		_exit(1);
	for (;;)
		pause();
}

/* A process that is killed ends nothing: what it shared goes on without it. */
TEST_F(stop, owner_is_killed)
{
	const union doca_data data = { .ptr = &self->a.seen };
	struct doca_sync_event *event, *other;
	struct async importer = { 0 };
	uint8_t blob[1024];
	int pipes[2];
	ssize_t size;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		export_and_sleep(pipes[1]);
	size = read(pipes[0], blob, sizeof(blob));
	ASSERT_LT(0, size);
	OK(doca_sync_event_create_from_export(self->a.dev, blob, (size_t)size, &event));
	OK(doca_sync_event_create_from_export(self->a.dev, blob, (size_t)size, &other));
	importer.event = event;
	importer.ctx = doca_sync_event_as_ctx(event);
	OK(conf_all(event, 4));
	OK(doca_ctx_set_user_data(importer.ctx, data));
	OK(doca_pe_connect_ctx(self->a.pe, importer.ctx));
	OK(doca_ctx_start(importer.ctx));
	OK(doca_task_submit(new_wait(&importer, 5)));
	OK(doca_task_submit(new_wait(&importer, 6)));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	/* Nobody can join, and those who are in go on. */
	FAILS(NOT_FOUND, doca_sync_event_create_from_export(self->a.dev, blob, (size_t)size,
							    &importer.event));
	OK(doca_sync_event_start(other));
	OK(doca_sync_event_update_set(other, 5));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 1));
	FAILS(IN_PROGRESS, doca_ctx_stop(importer.ctx));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.failed == 1));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(importer.ctx));
	OK(doca_sync_event_destroy(event));
	OK(doca_sync_event_stop(other));
	OK(doca_sync_event_destroy(other));
}

/* ---- beside synchronous calls --------------------------------------------------------- */

/**
 * struct beside - a thread that updates what another one stops
 * @added: how often it did
 * @stop: it shall end
 */
struct beside {
	struct doca_sync_event *event;
	uint64_t added;
	bool stop;
};

static int add_and_get(void *arg)
{
	struct beside *b = arg;
	doca_error_t result;
	uint64_t value;

	while (!__atomic_load_n(&b->stop, __ATOMIC_RELAXED)) {
		result = doca_sync_event_update_add(b->event, 1, NULL);
		if (result == DOCA_SUCCESS)
			__atomic_fetch_add(&b->added, 1, __ATOMIC_RELAXED);
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_BAD_STATE)
			return (int)result;
		result = doca_sync_event_get(b->event, &value);
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_BAD_STATE)
			return (int)result;
	}
	return 0;
}

/*
 * Stopped as soon as its update is seen, a publisher has yet to look who is to be rung:
 * at the hints of all sides, as if there were two.
 */
TEST(beside_synchronous_calls)
{
	const uint64_t enough = se_times(200000), end = se_patience();
	struct doca_dev *dev = open_dev(DPU);
	struct beside b = { .event = make_event(dev) };
	struct syncevent_cell *cell;
	struct se_thread thread;
	struct syncevent *ev;
	const uint8_t *blob;
	uint64_t value;
	size_t size;

	OK(doca_sync_event_start(b.event));
	OK(doca_sync_event_export_to_remote_pci(b.event, dev, &blob, &size));
	ASSERT_EQ(0, syncevent_import(&ev, blob, size));
	cell = syncevent_cell(ev);
	ASSERT_NE(NULL, cell);
	__atomic_store_n(&cell->sides, 2, __ATOMIC_RELAXED);
	ASSERT_EQ(0, se_start(&thread, add_and_get, &b));
	while (__atomic_load_n(&b.added, __ATOMIC_RELAXED) < enough && !se_is_done(&thread)) {
		ASSERT_GT(end, se_now(CLOCK_MONOTONIC));
		OK(doca_sync_event_stop(b.event));
		OK(doca_sync_event_start(b.event));
	}
	__atomic_store_n(&b.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, se_join(&thread));
	OK(doca_sync_event_get(b.event, &value));
	ASSERT_EQ(b.added, value);
	syncevent_close(ev);
	OK(doca_sync_event_destroy(b.event));
	OK(doca_dev_close(dev));
}

/* ---- teardown of what never was ------------------------------------------------------------ */

/* Behaviours 8 and 21. */
TEST(nothing_was_made)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	ASSERT_EQ(NULL, doca_sync_event_as_ctx(NULL));
	FAILS(INVALID_VALUE, doca_ctx_stop(NULL));
	FAILS(INVALID_VALUE, doca_ctx_get_state(NULL, &state));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state);
	FAILS(INVALID_VALUE, doca_ctx_get_state(NULL, NULL));
	ASSERT_EQ(0, doca_pe_progress(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_stop(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_destroy(NULL));
	FAILS(INVALID_VALUE, doca_pe_destroy(NULL));
	FAILS(INVALID_VALUE, doca_dev_rep_close(NULL));
	FAILS(INVALID_VALUE, doca_dev_close(NULL));
	FAILS(INVALID_VALUE, doca_devinfo_destroy_list(NULL));
	FAILS(INVALID_VALUE, doca_devinfo_rep_destroy_list(NULL));
	FAILS(INVALID_VALUE, doca_mmap_destroy(NULL));
	FAILS(INVALID_VALUE, doca_buf_inventory_destroy(NULL));
	doca_task_free(NULL);
}

TEST_HARNESS_MAIN
