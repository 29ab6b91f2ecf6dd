// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_engine.c - contexts and progress engines: each function with its effect and its
 * errors, what an engine announces and when, and each operation in each state.
 */
#include "doca.h"

FIXTURE(engine) {
	struct async a;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_eq *eq;
	doca_notification_handle_t handle;
};

FIXTURE_SETUP(engine)
{
	OK(async_start(&self->a, 4));
	self->a.seen.keep = true;
	OK(doca_sync_event_task_notify_add_alloc_init(self->a.event, 1, NULL, no_data,
						      &self->add));
	OK(doca_sync_event_task_wait_eq_alloc_init(self->a.event, 1, SE_ALL, no_data, &self->eq));
	OK(doca_pe_get_notification_handle(self->a.pe, &self->handle));
}

FIXTURE_TEARDOWN(engine)
{
	ENDS(async_end(&self->a));
}

static bool readable(doca_notification_handle_t handle, bool patient)
{
	struct pollfd pfd = { .fd = handle, .events = POLLIN };

	return poll(&pfd, 1, patient ? SE_HANG_S * 1000 : 0) == 1;
}

#define ADD(self)	AS_TASK(notify_add, (self)->add)
#define EQ(self)	AS_TASK(wait_eq, (self)->eq)

/* ---- engines ------------------------------------------------------------------------ */

TEST(create_destroy_connect)
{
	struct doca_pe *pe, *second;
	struct async a;
	size_t n;

	FAILS(INVALID_VALUE, doca_pe_create(NULL));
	FAILS(INVALID_VALUE, doca_pe_destroy(NULL));
	OK(async_make(&a, 1));
	OK(doca_pe_create(&pe));
	FAILS(INVALID_VALUE, doca_pe_connect_ctx(NULL, a.ctx));
	FAILS(INVALID_VALUE, doca_pe_connect_ctx(pe, NULL));
	FAILS(NOT_PERMITTED, doca_pe_connect_ctx(pe, a.ctx));
	FAILS(NOT_PERMITTED, doca_pe_connect_ctx(a.pe, a.ctx));
	OK(doca_pe_destroy(pe));
	/* Only the end of the context breaks the connection. */
	FAILS(IN_USE, doca_pe_destroy(a.pe));
	OK(doca_ctx_start(a.ctx));
	FAILS(IN_USE, doca_pe_destroy(a.pe));
	OK(doca_ctx_stop(a.ctx));
	FAILS(IN_USE, doca_pe_destroy(a.pe));
	FAILS(INVALID_VALUE, doca_pe_get_num_inflight_tasks(NULL, &n));
	FAILS(INVALID_VALUE, doca_pe_get_num_inflight_tasks(a.pe, NULL));
	OK(async_end(&a));

	/* Not in IDLE, and yet not connected: there is no such context of an event. */
	OK(doca_pe_create(&second));
	ASSERT_EQ(0, doca_pe_progress(second));
	OK(doca_pe_destroy(second));
}

TEST_F(engine, event_mode)
{
	FAILS(INVALID_VALUE, doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	FAILS(INVALID_VALUE, doca_pe_set_event_mode(self->a.pe, (enum doca_pe_event_mode)2));
	OK(doca_pe_set_event_mode(self->a.pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	OK(doca_task_submit(ADD(self)));
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	OK(doca_pe_set_event_mode(self->a.pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE));
	OK(doca_task_submit(ADD(self)));
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	ASSERT_EQ(2, self->a.seen.done);
}

/* Several contexts on one engine: each progress does one thing of one of them. */
TEST_F(engine, several_contexts)
{
	struct doca_sync_event *events[8];
	struct doca_sync_event_task_notify_add *add;
	const union doca_data data = { .ptr = &self->a.seen };
	struct doca_ctx *ctx;
	unsigned int i;
	size_t n;

	for (i = 0; i < 8; i++) {
		events[i] = make_event(self->a.dev);
		ASSERT_NE(NULL, events[i]);
		ctx = doca_sync_event_as_ctx(events[i]);
		OK(conf_all(events[i], 2));
		OK(doca_ctx_set_user_data(ctx, data));
		OK(doca_pe_connect_ctx(self->a.pe, ctx));
		OK(doca_ctx_start(ctx));
		OK(doca_sync_event_task_notify_add_alloc_init(events[i], 1, NULL, no_data, &add));
		OK(doca_task_submit(AS_TASK(notify_add, add)));
	}
	OK(doca_pe_get_num_inflight_tasks(self->a.pe, &n));
	ASSERT_EQ(8, n);
	for (i = 1; i <= 8; i++) {
		ASSERT_EQ(1, doca_pe_progress(self->a.pe));
		ASSERT_EQ(i, self->a.seen.done);
	}
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	/* One of them ends, the others go on. */
	for (i = 0; i < 8; i++) {
		OK(doca_sync_event_destroy(events[i]));
		OK(doca_task_submit(ADD(self)));
		ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	}
}

/* ---- notifications: behaviour 14 -------------------------------------------------------- */

TEST_F(engine, notification_arguments)
{
	doca_notification_handle_t again = doca_event_invalid_handle;

	ASSERT_EQ(-1, again);
	FAILS(INVALID_VALUE, doca_pe_get_notification_handle(NULL, &again));
	FAILS(INVALID_VALUE, doca_pe_get_notification_handle(self->a.pe, NULL));
	FAILS(INVALID_VALUE, doca_pe_request_notification(NULL));
	FAILS(INVALID_VALUE, doca_pe_clear_notification(NULL, 0));
	OK(doca_pe_get_notification_handle(self->a.pe, &again));
	ASSERT_EQ(self->handle, again);
	/* Twice, and without a request; the handle is not looked at. */
	OK(doca_pe_clear_notification(self->a.pe, 0));
	OK(doca_pe_request_notification(self->a.pe));
	OK(doca_pe_request_notification(self->a.pe));
	ASSERT_FALSE(readable(self->handle, false));
	OK(doca_pe_clear_notification(self->a.pe, 0));
	OK(doca_pe_clear_notification(self->a.pe, doca_event_invalid_handle));
	ASSERT_FALSE(readable(self->handle, false));
}

TEST_F(engine, completed_before_the_request)
{
	/* Done at submit. */
	OK(doca_task_submit(ADD(self)));
	OK(doca_pe_request_notification(self->a.pe));
	ASSERT_TRUE(readable(self->handle, false));
	OK(doca_pe_clear_notification(self->a.pe, self->handle));
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	OK(doca_pe_request_notification(self->a.pe));
	ASSERT_FALSE(readable(self->handle, false));
	OK(doca_pe_clear_notification(self->a.pe, 0));
	/* A wait that holds at once; the counter is 1. */
	OK(doca_task_submit(EQ(self)));
	OK(doca_pe_request_notification(self->a.pe));
	ASSERT_TRUE(readable(self->handle, true));
	OK(doca_pe_clear_notification(self->a.pe, 0));
	ASSERT_TRUE(progress(self->a.pe));
	ASSERT_EQ(2, self->a.seen.done);
}

TEST_F(engine, completed_after_the_request)
{
	OK(doca_task_submit(EQ(self)));
	OK(doca_pe_request_notification(self->a.pe));
	ASSERT_FALSE(readable(self->handle, false));
	/* Both the update and the wait that it ends. */
	OK(doca_task_submit(ADD(self)));
	ASSERT_TRUE(readable(self->handle, false));
	ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 2));
	/* A drain after the request, before the sleep: there is nothing left. */
	ASSERT_EQ(0, doca_pe_progress(self->a.pe));
	ASSERT_FALSE(readable(self->handle, false));
	/* The request holds until it is cleared. */
	OK(doca_task_submit(ADD(self)));
	ASSERT_TRUE(readable(self->handle, false));
	OK(doca_pe_clear_notification(self->a.pe, 0));
	ASSERT_EQ(1, doca_pe_progress(self->a.pe));
}

/* What was taken from the queue but not yet delivered is announced, too. */
TEST_F(engine, several_at_once)
{
	struct doca_sync_event_task_wait_eq *eq;
	unsigned int i;

	OK(doca_task_submit(EQ(self)));
	for (i = 0; i < 3; i++) {
		OK(doca_sync_event_task_wait_eq_alloc_init(self->a.event, 1, SE_ALL, no_data, &eq));
		OK(doca_task_submit(AS_TASK(wait_eq, eq)));
	}
	OK(doca_task_submit(ADD(self)));
	for (i = 0; i < 5; i++) {
		OK(doca_pe_request_notification(self->a.pe));
		ASSERT_TRUE(readable(self->handle, true));
		OK(doca_pe_clear_notification(self->a.pe, 0));
		ASSERT_TRUE(progress(self->a.pe));
	}
	ASSERT_EQ(5, self->a.seen.done);
	OK(doca_pe_request_notification(self->a.pe));
	ASSERT_FALSE(readable(self->handle, false));
}

static void *add_in_turns(void *arg)
{
	struct doca_sync_event *event = arg;
	uint64_t i;

	/* The waiter answers with an even value. */
	for (i = 0; i < 200; i++)
		if (doca_sync_event_wait_eq_yield(event, 2 * i, SE_ALL) ||
		    doca_sync_event_update_add(event, 1, NULL))
			return NULL;
	return arg;
}

/* Drain, request, sleep, clear: no wake-up is lost, whether one drains again or not. */
TEST_F(engine, recipe)
{
	struct doca_sync_event *event;
	const uint8_t *blob;
	pthread_t thread;
	unsigned int i;
	size_t size;
	void *done;

	OK(doca_sync_event_export_to_remote_pci(self->a.event, self->a.dev, &blob, &size));
	OK(doca_sync_event_create_from_export(self->a.dev, blob, size, &event));
	OK(doca_sync_event_start(event));
	ASSERT_EQ(0, pthread_create(&thread, NULL, add_in_turns, event));
	for (i = 0; i < 200; i++) {
		doca_sync_event_task_wait_eq_set_wait_val(self->eq, 2 * i + 1);
		self->a.seen.done = 0;
		OK(doca_task_submit(EQ(self)));
		while (!self->a.seen.done) {
			OK(doca_pe_request_notification(self->a.pe));
			if (i % 2 && doca_pe_progress(self->a.pe))
				continue;
			ASSERT_TRUE(readable(self->handle, true));
			OK(doca_pe_clear_notification(self->a.pe, 0));
			while (doca_pe_progress(self->a.pe))
				;
		}
		OK(doca_task_submit(ADD(self)));
		ASSERT_TRUE(progress_until(self->a.pe, self->a.seen.done == 2));
	}
	pthread_join(thread, &done);
	ASSERT_EQ(event, done);
	OK(doca_sync_event_destroy(event));
}

/* ---- contexts ------------------------------------------------------------------------------ */

TEST(context_arguments)
{
	const union doca_data data = { .u64 = 77 };
	union doca_data back = { .u64 = 0 };
	enum doca_ctx_states state;
	uint32_t vectors = 0;
	struct async a;
	size_t n;

	FAILS(INVALID_VALUE, doca_ctx_start(NULL));
	FAILS(INVALID_VALUE, doca_ctx_stop(NULL));
	OK(async_make(&a, 0));
	/* BAD_CONFIG leaves it as it was; see doca_task.c. */
	FAILS(BAD_CONFIG, doca_ctx_start(a.ctx));
	OK(conf_all(a.event, 1));
	FAILS(INVALID_VALUE, doca_ctx_set_user_data(NULL, data));
	FAILS(INVALID_VALUE, doca_ctx_get_user_data(NULL, &back));
	FAILS(INVALID_VALUE, doca_ctx_get_user_data(a.ctx, NULL));
	OK(doca_ctx_set_user_data(a.ctx, data));
	OK(doca_ctx_get_user_data(a.ctx, &back));
	ASSERT_EQ(77, back.u64);
	FAILS(INVALID_VALUE, doca_ctx_set_state_changed_cb(NULL, seen_state));
	OK(doca_ctx_set_state_changed_cb(a.ctx, seen_state));
	FAILS(INVALID_VALUE, doca_ctx_set_state_changed_cb(a.ctx, NULL));
	FAILS(INVALID_VALUE, doca_ctx_get_state(a.ctx, NULL));
	OK(doca_ctx_get_state(a.ctx, &state));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state);
	FAILS(INVALID_VALUE, doca_ctx_get_num_inflight_tasks(NULL, &n));
	FAILS(INVALID_VALUE, doca_ctx_get_num_inflight_tasks(a.ctx, NULL));
	OK(doca_ctx_get_num_inflight_tasks(a.ctx, &n));
	ASSERT_EQ(0, n);
	doca_ctx_flush_tasks(a.ctx);
	doca_ctx_flush_tasks(NULL);
	FAILS(INVALID_VALUE, doca_ctx_set_datapath_on_gpu(a.ctx, NULL));
	FAILS(INVALID_VALUE, doca_ctx_set_datapath_on_dpa(NULL, NULL));
	FAILS(NOT_SUPPORTED, doca_ctx_set_datapath_on_gpu(a.ctx, (void *)&data));
	FAILS(NOT_SUPPORTED, doca_ctx_set_datapath_on_dpa(a.ctx, (void *)&data));
	FAILS(INVALID_VALUE, doca_ctx_set_completion_vector(NULL, 0));
	FAILS(INVALID_VALUE, doca_ctx_set_completion_vector(a.ctx, 1));
	OK(doca_ctx_set_completion_vector(a.ctx, 0));
	FAILS(INVALID_VALUE, doca_ctx_cap_get_num_completion_vectors(NULL, &vectors));
	FAILS(INVALID_VALUE, doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(a.dev),
								     NULL));
	OK(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(a.dev), &vectors));
	ASSERT_EQ(1, vectors);
	OK(async_end(&a));
}

/* The cells of the table below that are an error of these. */
TEST(context_states)
{
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct async a;

	OK(async_make(&a, 1));
	event = make_event(a.dev);
	ctx = doca_sync_event_as_ctx(event);
	FAILS(NOT_CONNECTED, doca_ctx_start(ctx));
	FAILS(NOT_CONNECTED, doca_ctx_stop(ctx));
	OK(doca_sync_event_destroy(event));
	FAILS(BAD_STATE, doca_ctx_stop(a.ctx));
	OK(doca_ctx_start(a.ctx));
	FAILS(BAD_STATE, doca_ctx_start(a.ctx));
	FAILS(BAD_STATE, doca_ctx_set_state_changed_cb(a.ctx, seen_state));
	FAILS(BAD_STATE, doca_ctx_set_completion_vector(a.ctx, 0));
	OK(async_end(&a));
}

/* Behaviour 12: from inside of start and stop. */
TEST(state_changes)
{
	struct async a;

	OK(async_make(&a, 1));
	OK(doca_ctx_start(a.ctx));
	ASSERT_EQ(1, a.seen.changes);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, a.seen.from[0]);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, a.seen.to[0]);
	OK(doca_ctx_stop(a.ctx));
	ASSERT_EQ(2, a.seen.changes);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, a.seen.from[1]);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, a.seen.to[1]);
	OK(doca_ctx_start(a.ctx));
	/* An event that is destroyed tells nothing. */
	OK(async_end(&a));
	ASSERT_EQ(3, a.seen.changes);
}

/* ---- each operation in each state ------------------------------------------------------------ */

enum cell_state { UNCONNECTED, IDLE, RUNNING, STOPPING, STATES };

struct cell {
	struct async a;
	struct doca_task *task;		/* in RUNNING and STOPPING: the program's */
	enum cell_state state;
};

static doca_error_t op_connect(struct cell *c)
{
	return doca_pe_connect_ctx(c->a.pe, c->a.ctx);
}

static doca_error_t op_start(struct cell *c)
{
	return doca_ctx_start(c->a.ctx);
}

static doca_error_t op_stop(struct cell *c)
{
	return doca_ctx_stop(c->a.ctx);
}

static doca_error_t op_set_conf(struct cell *c)
{
	return conf_all(c->a.event, 3);
}

static doca_error_t op_set_cb(struct cell *c)
{
	return doca_ctx_set_state_changed_cb(c->a.ctx, seen_state);
}

static doca_error_t op_set_vector(struct cell *c)
{
	return doca_ctx_set_completion_vector(c->a.ctx, 0);
}

static doca_error_t op_set_addr(struct cell *c)
{
	static uint64_t counter;

	return doca_sync_event_set_addr(c->a.event, &counter);
}

static doca_error_t op_location(struct cell *c)
{
	return doca_sync_event_add_publisher_location_cpu(c->a.event, c->a.dev);
}

static doca_error_t op_alloc(struct cell *c)
{
	struct doca_sync_event_task_notify_set *t;

	return doca_sync_event_task_notify_set_alloc_init(c->a.event, 1, no_data, &t);
}

static doca_error_t op_submit(struct cell *c)
{
	return doca_task_submit(c->task);
}

static doca_error_t op_export(struct cell *c)
{
	const uint8_t *blob;
	size_t size;

	return doca_sync_event_export_to_remote_pci(c->a.event, c->a.dev, &blob, &size);
}

static doca_error_t op_sync_start(struct cell *c)
{
	return doca_sync_event_start(c->a.event);
}

static doca_error_t op_sync_stop(struct cell *c)
{
	return doca_sync_event_stop(c->a.event);
}

static doca_error_t op_sync_get(struct cell *c)
{
	uint64_t value;

	return doca_sync_event_get(c->a.event, &value);
}

static doca_error_t op_progress(struct cell *c)
{
	return doca_pe_progress(c->a.pe) ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS;
}

static doca_error_t op_free(struct cell *c)
{
	doca_task_free(c->task);
	return state_of(c->a.ctx) == (c->state == STOPPING ? DOCA_CTX_STATE_IDLE :
							       DOCA_CTX_STATE_RUNNING) ?
	       DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

static doca_error_t op_destroy(struct cell *c)
{
	doca_error_t r = doca_sync_event_destroy(c->a.event);

	c->a.event = NULL;
	return r;
}

static doca_error_t op_pe_destroy(struct cell *c)
{
	doca_error_t r = doca_pe_destroy(c->a.pe);

	/* The teardown destroys one. */
	if (!r)
		r = doca_pe_create(&c->a.pe);
	return r;
}

#define NO	(-1)		/* there is no task in this state */
#define E(x)	DOCA_ERROR_##x

static const struct {
	const char *name;
	doca_error_t (*op)(struct cell *c);
	int wanted[STATES];
} cells[] = {
	{ "connect", op_connect, { 0, E(NOT_PERMITTED), E(NOT_PERMITTED), E(NOT_PERMITTED) } },
	{ "start", op_start, { E(NOT_CONNECTED), 0, E(BAD_STATE), E(BAD_STATE) } },
	{ "stop", op_stop, { E(NOT_CONNECTED), E(BAD_STATE), E(IN_PROGRESS), E(IN_PROGRESS) } },
	{ "set_conf", op_set_conf, { 0, 0, E(NOT_PERMITTED), E(NOT_PERMITTED) } },
	{ "set_cb", op_set_cb, { 0, 0, E(BAD_STATE), E(BAD_STATE) } },
	{ "set_vector", op_set_vector, { 0, 0, E(BAD_STATE), E(BAD_STATE) } },
	{ "set_addr", op_set_addr, { 0, 0, E(BAD_STATE), E(BAD_STATE) } },
	{ "location", op_location,
	  { E(ALREADY_EXIST), E(ALREADY_EXIST), E(BAD_STATE), E(BAD_STATE) } },
	{ "alloc", op_alloc, { E(BAD_STATE), E(BAD_STATE), 0, E(BAD_STATE) } },
	{ "submit", op_submit, { NO, NO, 0, E(BAD_STATE) } },
	{ "free", op_free, { NO, NO, 0, 0 } },
	{ "export", op_export, { E(BAD_STATE), E(BAD_STATE), 0, 0 } },
	{ "sync start", op_sync_start,
	  { E(BAD_STATE), E(BAD_STATE), E(BAD_STATE), E(BAD_STATE) } },
	{ "sync stop", op_sync_stop,
	  { E(BAD_STATE), E(BAD_STATE), E(BAD_STATE), E(BAD_STATE) } },
	{ "sync get", op_sync_get, { E(BAD_STATE), E(BAD_STATE), E(BAD_STATE), E(BAD_STATE) } },
	{ "progress", op_progress, { 0, 0, 0, 0 } },
	{ "destroy", op_destroy, { 0, 0, 0, 0 } },
	{ "pe_destroy", op_pe_destroy, { 0, E(IN_USE), E(IN_USE), E(IN_USE) } },
};

static doca_error_t enter(struct cell *c)
{
	doca_error_t r = async_make(&c->a, 2);

	if (c->state == UNCONNECTED) {
		DOCA_ERROR_PROPAGATE(r, doca_sync_event_destroy(c->a.event));
		c->a.event = make_event(c->a.dev);
		c->a.ctx = doca_sync_event_as_ctx(c->a.event);
		DOCA_ERROR_PROPAGATE(r, conf_all(c->a.event, 2));
	}
	if (c->state >= RUNNING) {
		struct doca_sync_event_task_notify_set *t;

		DOCA_ERROR_PROPAGATE(r, doca_ctx_start(c->a.ctx));
		DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_notify_set_alloc_init(
						c->a.event, 1, no_data, &t));
		c->task = AS_TASK(notify_set, t);
	}
	if (c->state == STOPPING && doca_ctx_stop(c->a.ctx) != DOCA_ERROR_IN_PROGRESS)
		DOCA_ERROR_PROPAGATE(r, DOCA_ERROR_UNEXPECTED);
	return r;
}

TEST(each_operation_in_each_state)
{
	unsigned int i, state;

	for (i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		for (state = 0; state < STATES; state++) {
			struct cell c = { .state = state };

			if (cells[i].wanted[state] == NO)
				continue;
			OK(enter(&c));
			EXPECT_EQ(cells[i].wanted[state], cells[i].op(&c)) {
				TH_LOG("%s in state %u", cells[i].name, state);
			}
			OK(async_end(&c.a));
		}
	}
}

TEST_HARNESS_MAIN
