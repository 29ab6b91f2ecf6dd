// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_pci_faults.c - a machine dies, or stands still for so long that it counts as dead:
 * what a program of the other one is told by DOCA's calls. It waits in each of them, by
 * threads and by tasks, and has connections of comch with messages on their way. Nothing
 * hangs, all can be stopped and destroyed, and when the machine is back the same process
 * goes on with it.
 *
 * The survivor has the cases; what the other side, VICTIM, does is in pci_orders.h and
 * in doca_pci_orders.h.
 */
#include "doca_pci_orders.h"

/* Messages that there is room for, and those that wait for it. */
#define ROOM	8
#define MORE	4

/* ---- who waits ------------------------------------------------------------------------- */

enum way { GT, GT_YIELD, EQ, EQ_YIELD, NEQ, NEQ_YIELD, ASLEEP, POLLED, WAYS };

static const char *const ways[] = {
	"wait_gt", "wait_gt_yield", "wait_eq", "wait_eq_yield", "wait_neq", "wait_neq_yield",
	"tasks of an engine asleep", "tasks of a polled engine",
};

/* Events of an engine: imported, and made here for updates from there. */
enum { IMPORTED, OFFERED, EVENTS };

/**
 * struct waiter - a thread that waits, in one way
 * @event: in a call
 * @began: it is about to do it
 * @pe: of tasks: two for each of @events that is @on
 */
struct waiter {
	struct se_thread t;
	enum way way;
	bool began;
	struct doca_sync_event *event;
	struct doca_pe *pe;
	struct doca_sync_event *events[EVENTS];
	bool on[EVENTS];
	struct seen seen[EVENTS];
	struct doca_task *tasks[EVENTS][2];
};

static bool all_ended(const struct waiter *w)
{
	unsigned int i;

	for (i = 0; i < EVENTS; i++)
		if (w->on[i] && w->seen[i].failed + w->seen[i].done < 2)
			return false;
	return true;
}

/* What all tasks have in common; UNEXPECTED: nothing, or it is not what the callback says. */
static doca_error_t ends_of_tasks(const struct waiter *w)
{
	doca_error_t first = DOCA_ERROR_UNKNOWN, end;
	unsigned int i, k;

	for (i = 0; i < EVENTS; i++) {
		if (!w->on[i])
			continue;
		for (k = 0; k < 2; k++) {
			end = doca_task_get_status(w->tasks[i][k]);
			if (first == DOCA_ERROR_UNKNOWN)
				first = end;
			if (end != first)
				return DOCA_ERROR_UNEXPECTED;
		}
		if (first ? w->seen[i].done : w->seen[i].failed)
			return DOCA_ERROR_UNEXPECTED;
	}
	return first;
}

static int wait_once(void *arg)
{
	struct waiter *w = arg;

	__atomic_store_n(&w->began, true, __ATOMIC_RELEASE);
	switch (w->way) {
	case GT:
		return (int)doca_sync_event_wait_gt(w->event, NEVER - 1, SE_ALL);
	case GT_YIELD:
		return (int)doca_sync_event_wait_gt_yield(w->event, NEVER - 1, SE_ALL);
	case EQ:
		return (int)doca_sync_event_wait_eq(w->event, NEVER, SE_ALL);
	case EQ_YIELD:
		return (int)doca_sync_event_wait_eq_yield(w->event, NEVER, SE_ALL);
	case NEQ:
		return (int)doca_sync_event_wait_neq(w->event, 0, SE_ALL);
	case NEQ_YIELD:
		return (int)doca_sync_event_wait_neq_yield(w->event, 0, SE_ALL);
	case ASLEEP:
		if (!sleep_until(w->pe, all_ended(w)))
			return DOCA_ERROR_TIME_OUT;
		return (int)ends_of_tasks(w);
	default:
		if (!progress_until(w->pe, all_ended(w)))
			return DOCA_ERROR_TIME_OUT;
		return (int)ends_of_tasks(w);
	}
}

/* ---- the survivor ------------------------------------------------------------------------- */

/**
 * struct pair - a machine and its victim
 * @dev: of this one
 * @event: imported, for calls
 * @mine: made here, for calls
 * @waiters: on @event, and the last one on @mine
 * @serves: to the victim, @asks: it, and @knocks: at a server that never answers
 * @fds: open at first
 */
FIXTURE(pair) {
	struct orders o;
	struct doca_dev *dev;
	struct doca_sync_event *event;
	struct doca_sync_event *mine;
	struct waiter waiters[WAYS + 1];
	struct end serves, asks, knocks;
	int fds;
};

/* One of own(), with event or end number @n. */
static int order(FIXTURE_DATA(pair) *self, enum own what, uint32_t n, const char *name)
{
	struct order order = { .verb = OWN, .event = n, .value = what };

	snprintf(order.name, sizeof(order.name), "%s", name);
	return give(&self->o, &order);
}

static int have(FIXTURE_DATA(pair) *self, enum own what, uint32_t n, const char *name)
{
	return order(self, what, n, name) ?: answered(&self->o);
}

static uint32_t slots_used(void)
{
	struct syncevent_pci_info info;

	return pci_info(&info) ? UINT32_MAX : info.slots_used;
}

FIXTURE_SETUP(pair)
{
	ASSERT_LE(0, pci_dev()) TH_LOG("%s: %s", PCI_DEV, strerror(errno));
	ASSERT_TRUE(se_until(pci_alive(3)));
	ASSERT_EQ(0, begin_orders(&self->o));
	ASSERT_TRUE(se_until(slots_used() == 2));
	self->fds = count_fds();
	self->dev = doca_open(NULL);
	ASSERT_TRUE(self->dev);
}

FIXTURE_TEARDOWN(pair)
{
	ENDS(doca_dev_close(self->dev));
	EXPECT_EQ(self->fds, count_fds());
	/* Wherever the test failed, the next one wants both. */
	fault("continue", VICTIM);
	fault("boot", VICTIM);
	end_orders(&self->o);
}

/* An event that the victim alone updates. */
static doca_error_t offer(struct doca_dev *dev, struct doca_sync_event **event)
{
	TRY(doca_sync_event_create(event));
	TRY(doca_sync_event_add_publisher_location_remote_pci(*event));
	return doca_sync_event_add_subscriber_location_cpu(*event, dev);
}

/* The victim's event, in each way; and one for @mine, if there is that. */
static doca_error_t start_waiters(FIXTURE_DATA(pair) *self)
{
	struct waiter *w;
	int i;

	for (i = 0; i <= WAYS; i++) {
		w = &self->waiters[i];
		w->began = false;
		if (i == WAYS && !self->mine)
			break;
		w->way = i == WAYS ? EQ_YIELD : (enum way)i;
		w->event = i == WAYS ? self->mine : self->event;
		if (se_start(&w->t, wait_once, w))
			return DOCA_ERROR_OPERATING_SYSTEM;
		if (!se_until(__atomic_load_n(&w->began, __ATOMIC_ACQUIRE)))
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

/* All of them end so. Return: how many do not */
static unsigned int wrong_ends(FIXTURE_DATA(pair) *self, doca_error_t wanted)
{
	unsigned int i, n = 0;
	int end;

	for (i = 0; i <= WAYS; i++) {
		if (i == WAYS && !self->mine)
			break;
		end = se_join(&self->waiters[i].t);
		if (end == (int)wanted)
			continue;
		printf("# %s: %s\n", i < WAYS ? ways[i] : "wait_eq_yield, of its own event",
		       end == SE_HUNG ? "it hangs" : doca_error_get_name((doca_error_t)end));
		n++;
	}
	return n;
}

/* The tasks of one of its events, for the first time or again. */
static doca_error_t submit(struct waiter *w, unsigned int i)
{
	struct doca_task **tasks = w->tasks[i];

	w->seen[i].done = 0;
	w->seen[i].failed = 0;
	if (tasks[0]) {
		TRY(doca_task_submit(tasks[0]));
		return doca_task_submit(tasks[1]);
	}
	TRY(submit_wait_eq(w->events[i], &tasks[0]));
	return submit_wait_neq(w->events[i], &tasks[1]);
}

static doca_error_t add_event(struct waiter *w, unsigned int i)
{
	w->on[i] = true;
	TRY(start_tasks(w->pe, w->events[i], &w->seen[i]));
	return submit(w, i);
}

/* Its tasks have ended. */
static doca_error_t end_event(struct waiter *w, unsigned int i)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(w->events[i]);

	w->on[i] = false;
	doca_task_free(w->tasks[i][0]);
	if (doca_ctx_stop(ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	/* That was the last one. */
	doca_task_free(w->tasks[i][1]);
	w->tasks[i][0] = NULL;
	if (state_of(ctx) != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	return doca_sync_event_destroy(w->events[i]);
}

/* The victim's event, which is in the box: for calls, and in both engines. */
static doca_error_t take_event(FIXTURE_DATA(pair) *self)
{
	enum way way;

	TRY(import(self->o.box, &self->event));
	TRY(doca_sync_event_start(self->event));
	for (way = ASLEEP; way < WAYS; way++) {
		struct waiter *w = &self->waiters[way];

		if (!w->pe)
			TRY(doca_pe_create(&w->pe));
		TRY(import(self->o.box, &w->events[IMPORTED]));
		TRY(add_event(w, IMPORTED));
	}
	return DOCA_SUCCESS;
}

/* An event that the victim alone updates, in an engine. */
static doca_error_t make_event_of(FIXTURE_DATA(pair) *self, struct waiter *w)
{
	TRY(offer(self->dev, &w->events[OFFERED]));
	return add_event(w, OFFERED);
}

/* The victim has them; an import of it makes that its machine is waited for. */
static doca_error_t give_events(FIXTURE_DATA(pair) *self)
{
	struct doca_sync_event *const events[] = {
		self->waiters[ASLEEP].events[OFFERED], self->waiters[POLLED].events[OFFERED],
		self->mine,
	};
	uint32_t i;

	for (i = 0; i < 3; i++) {
		TRY(export(events[i], self->dev, self->o.box));
		if (have(self, TAKES, i, ""))
			return DOCA_ERROR_UNEXPECTED;
	}
	return DOCA_SUCCESS;
}

/* ---- connections ------------------------------------------------------------------------ */

/* The victim's client comes, and says hello. */
static doca_error_t be_asked(FIXTURE_DATA(pair) *self)
{
	struct end *end = &self->serves;

	end->comes = 0;
	end->messages = 0;
	if (order(self, ASKS, 0, "here"))
		return DOCA_ERROR_UNEXPECTED;
	if (!end_until(end, end->comes && end->messages))
		return DOCA_ERROR_TIME_OUT;
	return answered(&self->o) ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS;
}

/* A client of the victim's server. */
static doca_error_t ask(FIXTURE_DATA(pair) *self)
{
	struct end *end = &self->asks;

	if (have(self, SERVES, 1, "there") || doca_ctx_start(end->ctx) != DOCA_ERROR_IN_PROGRESS ||
	    order(self, ANSWERS, 1, ""))
		return DOCA_ERROR_UNEXPECTED;
	if (!end_until(end, end_state_of(end) == DOCA_CTX_STATE_RUNNING))
		return DOCA_ERROR_TIME_OUT;
	if (answered(&self->o))
		return DOCA_ERROR_UNEXPECTED;
	return doca_comch_client_get_connection(end->client, &end->conn);
}

/* More messages than there is room for: nobody takes them. */
static doca_error_t fill(struct end *end)
{
	int i;

	for (i = 0; i < ROOM + MORE; i++)
		TRY(end_send(end, &i, sizeof(i)));
	return DOCA_SUCCESS;
}

static doca_error_t connect_all(FIXTURE_DATA(pair) *self)
{
	TRY(end_make_server(&self->serves, "here", TASKS));
	TRY(doca_ctx_start(self->serves.ctx));
	TRY(be_asked(self));
	TRY(end_make_client(&self->asks, "there", TASKS));
	TRY(ask(self));
	TRY(fill(&self->serves));
	TRY(fill(&self->asks));
	/* One that comes to a server which is busy with other things. */
	TRY(end_make_client(&self->knocks, "deaf", 1));
	if (have(self, SERVES, 2, "deaf") ||
	    doca_ctx_start(self->knocks.ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	end_drain(&self->knocks);
	return end_state_of(&self->knocks) == DOCA_CTX_STATE_STARTING ? DOCA_SUCCESS :
									DOCA_ERROR_BAD_STATE;
}

/* ---- a machine dies, or stands still ------------------------------------------------------ */

/* Tasks that do not wait, to their end. The event is 2 then. */
static doca_error_t use_by_tasks(struct waiter *w, unsigned int i, doca_error_t wanted)
{
	struct doca_sync_event *event = w->events[i];
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_get *get;
	struct doca_task *tasks[3];
	uint64_t value, old;
	unsigned int k;

	w->seen[i].done = 0;
	w->seen[i].failed = 0;
	TRY(doca_sync_event_task_notify_set_alloc_init(event, 1, no_data, &set));
	TRY(doca_sync_event_task_notify_add_alloc_init(event, 1, &old, no_data, &add));
	TRY(doca_sync_event_task_get_alloc_init(event, &value, no_data, &get));
	tasks[0] = AS_TASK(notify_set, set);
	tasks[1] = AS_TASK(notify_add, add);
	tasks[2] = AS_TASK(get, get);
	for (k = 0; k < 3; k++)
		TRY(doca_task_submit(tasks[k]));
	if (!progress_until(w->pe, w->seen[i].done + w->seen[i].failed == 3))
		return DOCA_ERROR_TIME_OUT;
	for (k = 0; k < 3; k++) {
		if (doca_task_get_status(tasks[k]) != wanted)
			return DOCA_ERROR_UNEXPECTED;
		doca_task_free(tasks[k]);
	}
	return wanted || (old == 1 && value == 2) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* Both waits of an event are submitted, and end so: that for NEVER, that for a value but 0. */
static doca_error_t waits_end(struct waiter *w, unsigned int i, doca_error_t eq, doca_error_t neq)
{
	TRY(submit(w, i));
	if (!sleep_until(w->pe, w->seen[i].done + w->seen[i].failed == 2))
		return DOCA_ERROR_TIME_OUT;
	return doca_task_get_status(w->tasks[i][0]) == eq &&
	       doca_task_get_status(w->tasks[i][1]) == neq ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

/* Nobody begins to wait for a dead machine, but what holds, holds, and all else goes on. */
static void use_dead(struct __test_metadata *_metadata, FIXTURE_DATA(pair) *self)
{
	struct waiter *w = &self->waiters[ASLEEP];
	uint64_t value;
	unsigned int i;

	FAILS(CONNECTION_RESET, doca_sync_event_wait_gt(self->event, NEVER, SE_ALL));
	FAILS(CONNECTION_RESET, doca_sync_event_wait_gt_yield(self->mine, NEVER, SE_ALL));
	FAILS(CONNECTION_RESET, doca_sync_event_wait_eq(self->mine, NEVER, SE_ALL));
	FAILS(CONNECTION_RESET, doca_sync_event_wait_eq_yield(self->event, NEVER, SE_ALL));
	FAILS(CONNECTION_RESET, doca_sync_event_wait_neq(self->mine, 0, SE_ALL));
	FAILS(CONNECTION_RESET, doca_sync_event_wait_neq_yield(self->event, 0, SE_ALL));
	OK(doca_sync_event_update_set(self->event, 7));
	OK(doca_sync_event_wait_gt(self->event, 6, SE_ALL));
	OK(doca_sync_event_update_add(self->event, 1, &value));
	ASSERT_EQ(7, value);
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(8, value);
	for (i = 0; i < EVENTS; i++) {
		OK(use_by_tasks(w, i, DOCA_SUCCESS));
		OK(waits_end(w, i, DOCA_ERROR_CONNECTION_RESET, DOCA_SUCCESS));
		FAILS(CONNECTION_RESET, doca_task_get_status(w->tasks[i][0]));
	}
}

/* What was made there has ended. */
static void use_ended(struct __test_metadata *_metadata, FIXTURE_DATA(pair) *self)
{
	struct waiter *w = &self->waiters[ASLEEP];
	uint64_t value;

	ASSERT_TRUE(se_until(doca_sync_event_get(self->event, &value) == DOCA_ERROR_SHUTDOWN));
	FAILS(SHUTDOWN, doca_sync_event_update_set(self->event, 1));
	FAILS(SHUTDOWN, doca_sync_event_update_add(self->event, 1, &value));
	FAILS(SHUTDOWN, doca_sync_event_wait_gt(self->event, 1, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_gt_yield(self->event, 1, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_eq(self->event, 8, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_neq(self->event, 1, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_neq_yield(self->event, 1, SE_ALL));
	OK(doca_sync_event_stop(self->event));
	OK(doca_sync_event_destroy(self->event));
	OK(use_by_tasks(w, IMPORTED, DOCA_ERROR_SHUTDOWN));
	OK(waits_end(w, IMPORTED, DOCA_ERROR_SHUTDOWN, DOCA_ERROR_SHUTDOWN));
	OK(end_event(w, IMPORTED));
}

/*
 * What depends on a machine that is back can be waited for, some moment later. The value is
 * not 0: of both waits one ends at once, and behind the other one if that cannot begin.
 */
static bool waits_again(struct waiter *w, unsigned int i)
{
	return submit(w, i) == DOCA_SUCCESS && progress_until(w->pe, w->seen[i].done) &&
	       !w->seen[i].failed;
}

static void make_all(struct __test_metadata *_metadata, FIXTURE_DATA(pair) *self)
{
	ASSERT_EQ(0, have(self, MAKES, 0, ""));
	OK(take_event(self));
	OK(offer(self->dev, &self->mine));
	OK(doca_sync_event_start(self->mine));
	OK(make_event_of(self, &self->waiters[ASLEEP]));
	OK(make_event_of(self, &self->waiters[POLLED]));
	OK(give_events(self));
}

/* The same process and objects, with what the machine makes in its new life. */
static void use_anew(struct __test_metadata *_metadata, FIXTURE_DATA(pair) *self)
{
	uint32_t n;

	ASSERT_EQ(0, have(self, MAKES, 0, ""));
	OK(take_event(self));
	OK(make_event_of(self, &self->waiters[POLLED]));
	OK(doca_sync_event_destroy(self->mine));
	OK(offer(self->dev, &self->mine));
	OK(doca_sync_event_start(self->mine));
	OK(give_events(self));
	ASSERT_TRUE(se_until(waits_again(&self->waiters[ASLEEP], OFFERED)));
	OK(start_waiters(self));
	for (n = 0; n < HELD; n++)
		ASSERT_EQ(0, have(self, SETS, n, ""));
	ASSERT_EQ(0, wrong_ends(self, DOCA_SUCCESS));
	OK(be_asked(self));
	OK(ask(self));
	OK(end_send(&self->asks, "again", 6));
	ASSERT_TRUE(end_until(&self->asks, self->asks.sent == ROOM + 1));
}

static void end_engine(struct __test_metadata *_metadata, struct waiter *w)
{
	OK(end_event(w, IMPORTED));
	OK(end_event(w, OFFERED));
	OK(doca_pe_destroy(w->pe));
	w->pe = NULL;
}

static void end_all(struct __test_metadata *_metadata, FIXTURE_DATA(pair) *self)
{
	OK(doca_ctx_stop(self->asks.ctx));
	OK(end_destroy(&self->asks));
	OK(doca_ctx_stop(self->serves.ctx));
	OK(end_destroy(&self->serves));
	end_engine(_metadata, &self->waiters[ASLEEP]);
	end_engine(_metadata, &self->waiters[POLLED]);
	OK(doca_sync_event_stop(self->event));
	OK(doca_sync_event_destroy(self->event));
	OK(doca_sync_event_destroy(self->mine));
}

/* From when it is dead until it has come back. */
static void survive(struct __test_metadata *_metadata, FIXTURE_DATA(pair) *self)
{
	ASSERT_EQ(0, wrong_ends(self, DOCA_ERROR_CONNECTION_RESET));
	/* Its client has gone, its server, and the one that has not answered. */
	ASSERT_TRUE(end_until(&self->serves, self->serves.goes && self->serves.unsent == MORE));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&self->serves));
	ASSERT_EQ(ROOM, self->serves.sent);
	ASSERT_EQ(DOCA_ERROR_CONNECTION_RESET, self->serves.status);
	ASSERT_TRUE(end_until(&self->asks, end_state_of(&self->asks) == DOCA_CTX_STATE_IDLE));
	ASSERT_EQ(ROOM, self->asks.sent);
	ASSERT_EQ(MORE, self->asks.unsent);
	ASSERT_EQ(DOCA_ERROR_CONNECTION_RESET, self->asks.status);
	ASSERT_TRUE(end_until(&self->knocks, end_state_of(&self->knocks) == DOCA_CTX_STATE_IDLE));
	OK(end_destroy(&self->knocks));
	use_dead(_metadata, self);
	/* What nobody wants any more can go now. */
	end_engine(_metadata, &self->waiters[POLLED]);
}

TEST_F(pair, killed)
{
	make_all(_metadata, self);
	OK(connect_all(self));
	OK(start_waiters(self));
	fault("kill", VICTIM);
	survive(_metadata, self);
	fault("boot", VICTIM);
	ASSERT_TRUE(se_until(pci_alive(3)));
	use_ended(_metadata, self);
	use_anew(_metadata, self);
	end_all(_metadata, self);
}

/* It does not know that it counts as dead, and finds out: all that it had has ended. */
TEST_F(pair, stopped)
{
	const struct answer *answer = &self->o.box->answer;

	make_all(_metadata, self);
	ASSERT_EQ(0, have(self, MOURNS, 0, ""));
	OK(connect_all(self));
	OK(start_waiters(self));
	fault("stop", VICTIM);
	survive(_metadata, self);
	fault("continue", VICTIM);
	ASSERT_TRUE(se_until(pci_alive(3)));
	ASSERT_EQ(0, have(self, FATE, 0, ""));
	EXPECT_EQ(DOCA_ERROR_SHUTDOWN, answer->value);
	EXPECT_EQ(DOCA_ERROR_SHUTDOWN, answer->imported);
	EXPECT_EQ(DOCA_SUCCESS, answer->missed);
	use_ended(_metadata, self);
	use_anew(_metadata, self);
	end_all(_metadata, self);
}

/* ---- its owner ends it -------------------------------------------------------------------- */

/* Nobody died. */
TEST_F(pair, owner_destroys)
{
	ASSERT_EQ(0, have(self, MAKES, 0, ""));
	OK(take_event(self));
	OK(start_waiters(self));
	ASSERT_EQ(0, have(self, ENDS_IT, 0, ""));
	ASSERT_EQ(0, wrong_ends(self, DOCA_ERROR_SHUTDOWN));
	use_ended(_metadata, self);
	OK(doca_pe_destroy(self->waiters[ASLEEP].pe));
	OK(end_event(&self->waiters[POLLED], IMPORTED));
	OK(doca_pe_destroy(self->waiters[POLLED].pe));
}

ORDERS_MAIN(own_prepare())
