// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * syncevent/dpa.h: what ends a wait of the unit, and what others see of its updates:
 * each is atomic, and none leaves a sleeper of another side asleep.
 */
#include "dpa.h"

#include <sys/eventfd.h>

/**
 * struct wait - a wait of the unit, in a thread
 * @unit: belongs to the thread until it ends
 */
struct wait {
	struct se_thread t;
	struct syncevent_dpa unit;
	uint64_t handle;
	uint32_t cond;
	uint64_t operand;
	uint64_t mask;
	uint64_t deadline;
	uint64_t seen;
};

static int wait_fn(void *arg)
{
	struct wait *w = arg;

	return syncevent_dpa_wait(&w->unit, w->handle, w->cond, w->operand, w->mask, w->deadline,
				  &w->seen);
}

/* What it returns, or SE_HUNG: in a thread, since one that does not end is in no call. */
static int wait_for(struct wait *w)
{
	return se_start(&w->t, wait_fn, w) ?: se_join(&w->t);
}

/* It goes round and round, and has not ended. */
static bool spins(struct wait *w)
{
	uint64_t before = LOAD(looked);

	return se_until(se_is_done(&w->t) || LOAD(looked) > before + 10) && !se_is_done(&w->t);
}

FIXTURE(wait) {
	struct wait w;
};

FIXTURE_SETUP(wait)
{
	make_region();
	format(77);
	come(HOST, 10);
	come(OTHER, 20);
	self->w.unit = (struct syncevent_dpa){
		.base = region, .len = SIZE, .side = ME, .seed = 5, .timeout = TIMEOUT,
		.clock = turned_clock, .hz = CLOCK_HZ,
	};
	ASSERT_EQ(0, syncevent_dpa_attach(&self->w.unit));
	self->w.handle = make(SLOT, 5);
	self->w.cond = SYNCEVENT_COND_GT;
	self->w.operand = 100;
	self->w.mask = SE_ALL;
	self->w.deadline = SYNCEVENT_DPA_FOREVER;
}

FIXTURE_TEARDOWN(wait)
{
}

#define START(w)	ASSERT_EQ(0, se_start(&(w)->t, wait_fn, w))

TEST_F(wait, conditions)
{
	static const struct {
		uint32_t cond;
		uint64_t operand, mask, not_yet, end;
	} c[] = {
		{ SYNCEVENT_COND_EQ, 7, SE_ALL, 6, 7 },
		{ SYNCEVENT_COND_NEQ, 6, SE_ALL, 6, 7 },
		{ SYNCEVENT_COND_GT, 6, SE_ALL, 6, 7 },
		{ SYNCEVENT_COND_GE, 7, SE_ALL, 6, 7 },
		{ SYNCEVENT_COND_LT, 7, SE_ALL, 7, 6 },
		{ SYNCEVENT_COND_LE, 6, SE_ALL, 7, 6 },
		{ SYNCEVENT_COND_GT, 1ULL << 63, SE_ALL, 1ULL << 63, SE_MAX },
		{ SYNCEVENT_COND_LT, 1ULL << 63, SE_ALL, SE_MAX, 0 },
		{ SYNCEVENT_COND_EQ, 0x10, 0xf0, 0x21, 0x11 },
		{ SYNCEVENT_COND_GT, 0xff, 0xff, SE_MAX, 0 },	/* never */
	};
	struct wait *w = &self->w;
	unsigned int i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		w->cond = c[i].cond;
		w->operand = c[i].operand;
		w->mask = c[i].mask;
		w->seen = SE_POISON64;
		STORE(cell(SLOT)->value, c[i].not_yet);
		START(w);
		ASSERT_TRUE(spins(w)) TH_LOG("%u", i);
		STORE(cell(SLOT)->value, c[i].end);
		if (c[i].operand == c[i].mask) {
			ASSERT_TRUE(spins(w));
			end(SLOT);
			ASSERT_EQ(-SYNCEVENT_DPA_EIDRM, se_join(&w->t));
			break;
		}
		ASSERT_EQ(0, se_join(&w->t)) TH_LOG("%u", i);
		EXPECT_EQ(c[i].end, w->seen);
		EXPECT_EQ(0, syncevent_dpa_wait(&w->unit, w->handle, c[i].cond, c[i].operand,
						c[i].mask, 0, NULL));
	}
	EXPECT_EQ(sizeof(c) / sizeof(c[0]) - 1, i);
	w->handle = make(SLOT, 5);
	EXPECT_EQ(-SYNCEVENT_DPA_EINVAL, syncevent_dpa_wait(&w->unit, w->handle, 6, 5, SE_ALL, 0,
							    NULL));
}

TEST_F(wait, deadline)
{
	struct wait *w = &self->w;

	w->deadline = LOAD(turned) + 10;
	START(w);
	ASSERT_TRUE(spins(w));
	STORE(turned, w->deadline - 1);
	ASSERT_TRUE(spins(w));
	STORE(turned, w->deadline);
	ASSERT_EQ(-SYNCEVENT_DPA_ETIMEDOUT, se_join(&w->t));
	/* One that is long past: the condition is looked at all the same. */
	w->deadline = 0;
	ASSERT_EQ(-SYNCEVENT_DPA_ETIMEDOUT, wait_for(w));
	STORE(cell(SLOT)->value, 101);
	ASSERT_EQ(0, wait_for(w));
	EXPECT_EQ(101, w->seen);
}

/* A wait is enough to be taken for alive, and to take others for alive. */
TEST_F(wait, ticks)
{
	struct wait *w = &self->w;
	const uint64_t limits[] = { TIMEOUT, 32 * TIMEOUT };
	const uint64_t steps[] = { TIMEOUT / 16, CLOCK_HZ * 9 / 100 };
	unsigned int i, j;
	uint64_t at;

	for (j = 0; j < 2; j++) {
		w->unit.timeout = limits[j];
		ASSERT_EQ(0, syncevent_dpa_attach(&w->unit));
		at = record(ME)->heartbeat;
		STORE(cell(SLOT)->value, 5);
		START(w);
		for (i = 0; i < 100; i++) {
			beat(HOST);
			beat(OTHER);
			STORE(turned, turned + steps[j]);
			ASSERT_TRUE(se_until(LOAD(record(ME)->heartbeat) == at + 1 + i)) {
				TH_LOG("limit %u, tick %u", (unsigned int)limits[j], i);
			}
		}
		ASSERT_TRUE(spins(w));
		STORE(cell(SLOT)->value, 101);
		ASSERT_EQ(0, se_join(&w->t));
	}
}

TEST_F(wait, revoked)
{
	struct wait *w = &self->w;
	uint32_t state = cell(SLOT)->state;

	START(w);
	ASSERT_TRUE(spins(w));
	end(SLOT);
	ASSERT_EQ(-SYNCEVENT_DPA_EIDRM, se_join(&w->t));

	/* Users of an event can write to its cell: the wait does not end by that, */
	w->handle = make(SLOT, 5);
	state = cell(SLOT)->state;
	START(w);
	ASSERT_TRUE(spins(w));
	STORE(cell(SLOT)->state, state + 1);
	ASSERT_TRUE(spins(w));
	STORE(cell(SLOT)->state, state);
	ASSERT_TRUE(spins(w));
	/* nor outlive the event by that, nor does the next one end it. */
	STORE(desc(SLOT)->state, desc(SLOT)->state + 1);
	ASSERT_TRUE(spins(w));
	STORE(turned, turned + TIMEOUT / 16);
	ASSERT_EQ(-SYNCEVENT_DPA_EIDRM, se_join(&w->t));
	STORE(desc(SLOT)->state, desc(SLOT)->state + 1);
	w->handle = make(SLOT, 101);
	end(SLOT);
	STORE(cell(SLOT)->state, w->handle >> 32 << 2 | SYNCEVENT_STATE_LIVE);
	ASSERT_EQ(-SYNCEVENT_DPA_EIDRM, wait_for(w));
}

/* Revoked over a condition that holds. */
TEST_F(wait, revoked_wins)
{
	struct wait *w = &self->w;

	START(w);
	ASSERT_TRUE(spins(w));
	STORE(desc(SLOT)->state, desc(SLOT)->state + 1);
	STORE(cell(SLOT)->value, 101);
	ASSERT_EQ(-SYNCEVENT_DPA_EIDRM, se_join(&w->t));
}

/* Who dies: the creator, the home, one of whom nothing depends; and who was never there. */
TEST_F(wait, deaths)
{
	struct wait *w = &self->w;
	unsigned int i;
	uint64_t at;

	for (i = 0; i < 17; i++) {
		beat(OTHER);
		STORE(turned, turned + TIMEOUT / 16);
		ASSERT_EQ(0, syncevent_dpa_tick(&w->unit));
		EXPECT_EQ(i < 16 ? 0 : 10, record(ME)->fenced[HOST]) TH_LOG("tick %u", i);
	}
	EXPECT_EQ(0, record(ME)->fenced[OTHER]);
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, wait_for(w));
	STORE(cell(SLOT)->value, 101);
	ASSERT_EQ(0, wait_for(w));
	STORE(cell(SLOT)->value, 1);
	/* Its heart beats again: it has to attach anew. */
	ASSERT_EQ(0, TICK(&w->unit));
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, wait_for(w));
	come(HOST, 11);
	ASSERT_EQ(0, TICK(&w->unit));
	START(w);
	ASSERT_TRUE(spins(w));

	/* In the midst of a wait. */
	STORE(turned, turned + TIMEOUT + 1);
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, se_join(&w->t));
	EXPECT_EQ(11, record(ME)->fenced[HOST]);
	EXPECT_EQ(20, record(ME)->fenced[OTHER]);

	/* The creator alone. */
	come(HOST, 12);
	come(OTHER, 21);
	ASSERT_EQ(0, TICK(&w->unit));
	w->handle = make(SLOT_OTHERS, 5);
	START(w);
	ASSERT_TRUE(spins(w));
	at = record(ME)->heartbeat;
	beat(HOST);
	STORE(turned, turned + TIMEOUT);
	ASSERT_TRUE(se_until(LOAD(record(ME)->heartbeat) != at));
	STORE(turned, turned + TIMEOUT / 16);
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, se_join(&w->t));
	EXPECT_NE(12, record(ME)->fenced[HOST]);
	EXPECT_EQ(21, record(ME)->fenced[OTHER]);

	/* The home alone; then it comes back unseen, and then it leaves in order. */
	come(OTHER, 22);
	ASSERT_EQ(0, TICK(&w->unit));
	w->handle = make(SLOT_ELSEWHERE, 5);
	START(w);
	ASSERT_TRUE(spins(w));
	STORE(record(OTHER)->epoch, 23);
	ASSERT_TRUE(spins(w));
	STORE(turned, turned + TIMEOUT / 16);
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, se_join(&w->t));
	START(w);
	ASSERT_TRUE(spins(w));
	STORE(record(OTHER)->epoch, 0);
	STORE(turned, turned + TIMEOUT / 16);
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, se_join(&w->t));
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, wait_for(w));

	/* Of the other side the event of SLOT does not depend. */
	w->handle = make(SLOT, 5);
	START(w);
	ASSERT_TRUE(spins(w));
	STORE(turned, turned + TIMEOUT / 16);
	ASSERT_TRUE(spins(w));
	STORE(cell(SLOT)->value, 101);
	ASSERT_EQ(0, se_join(&w->t));

	/* Attached to another format it is none of this region. */
	come(OTHER, 24);
	STORE(record(OTHER)->format_epoch, 76);
	w->handle = make(SLOT_ELSEWHERE, 5);
	ASSERT_EQ(0, TICK(&w->unit));
	ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, wait_for(w));
}

/* What a machine made since it is back does not depend on how its former life ended. */
TEST_F(wait, new_life)
{
	static const char * const how[] = { "dead", "gone", "back at once" };
	struct wait *w = &self->w;
	unsigned int i;
	uint64_t at;

	for (i = 0; i < 3; i++) {
		if (i == 0)
			STORE(turned, turned + TIMEOUT + 1);
		else if (i == 1)
			STORE(record(HOST)->epoch, 0);
		beat(OTHER);
		if (i < 2) {
			STORE(turned, turned + TIMEOUT / 16);
			ASSERT_EQ(0, syncevent_dpa_tick(&w->unit));
			ASSERT_EQ(-SYNCEVENT_DPA_EPIPE, wait_for(w)) TH_LOG("%s", how[i]);
		}
		/* It comes, and what it made is found, between two ticks. */
		come(HOST, 11 + i);
		w->handle = make(SLOT, 5);
		START(w);
		ASSERT_TRUE(spins(w)) TH_LOG("%s", how[i]);
		at = LOAD(record(ME)->heartbeat);
		STORE(turned, turned + TIMEOUT / 16);
		ASSERT_TRUE(se_until(LOAD(record(ME)->heartbeat) != at));
		ASSERT_TRUE(spins(w)) TH_LOG("%s", how[i]);
		STORE(cell(SLOT)->value, 101);
		ASSERT_EQ(0, se_join(&w->t));
		STORE(cell(SLOT)->value, 5);
	}
}

TEST_F(wait, fenced)
{
	struct wait *w = &self->w;

	START(w);
	ASSERT_TRUE(spins(w));
	STORE(record(HOST)->fenced[ME], record(ME)->epoch);
	beat(HOST);
	STORE(turned, turned + TIMEOUT / 16);
	ASSERT_EQ(-SYNCEVENT_DPA_ENODEV, se_join(&w->t));
	ASSERT_EQ(-SYNCEVENT_DPA_ENODEV, wait_for(w));
}

/* ---- at the same time ------------------------------------------------------------- */

static uint64_t real_clock(void *device)
{
	(void)device;
	return se_now(CLOCK_MONOTONIC);
}

struct adder {
	struct se_thread t;
	struct syncevent_dpa unit;
	uint64_t handle;
	unsigned int rounds;
};

static int add_fn(void *arg)
{
	struct adder *a = arg;
	uint64_t old, last = 0;
	unsigned int i;
	int ret;

	for (i = 0; i < a->rounds; i++) {
		ret = syncevent_dpa_add(&a->unit, a->handle, 1, &old);
		if (ret || (i && old <= last))
			return ret ?: 1;
		last = old;
	}
	return 0;
}

/* Two units, and a machine's program: nothing is lost, and nothing goes back. */
TEST_F(wait, adds_are_atomic)
{
	unsigned int rounds = se_times(10000000), i;
	struct adder a[2] = { 0 };
	uint64_t old, last = 0;

	for (i = 0; i < 2; i++) {
		a[i].unit = (struct syncevent_dpa){
			.base = region, .len = SIZE, .side = ME + i, .timeout = SE_NS,
			.clock = real_clock, .hz = SE_NS,
		};
		a[i].handle = self->w.handle;
		a[i].rounds = rounds;
		ASSERT_EQ(0, syncevent_dpa_attach(&a[i].unit));
	}
	STORE(cell(SLOT)->value, 0);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, se_start(&a[i].t, add_fn, &a[i]));
	for (i = 0; i < rounds; i++) {
		old = __atomic_fetch_add(&cell(SLOT)->value, 1, __ATOMIC_SEQ_CST);
		ASSERT_TRUE(!i || old > last) TH_LOG("add %u", i);
		last = old;
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, se_join(&a[i].t));
	EXPECT_EQ(3ULL * rounds, cell(SLOT)->value);
}

static int doorbell = -1;

static void real_ring(void *device, uint32_t number)
{
	uint64_t one = 1;

	(void)device;
	if (number == 100 + HOST && write(doorbell, &one, sizeof(one)) != sizeof(one))
		abort();
}

/*
 * A machine's part: ask to be rung for the next value, then sleep unless something is
 * there. Sleeps in a ring of which every other entry may be the one that matters.
 */
static int sleep_for(uint32_t slot, uint64_t above)
{
	struct syncevent_region_ring *from = ring(ME, HOST);
	struct pollfd p = { .fd = doorbell, .events = POLLIN };
	uint64_t n;

	STORE(cell(slot)->hint[HOST].wake_above, above);	/* SE-B */
	while (LOAD(cell(slot)->value) <= above) {
		STORE(from->head, LOAD(from->tail));
		STORE(from->request, from->head);		/* RING-B */
		if (LOAD(from->tail) != from->head)
			continue;
		if (LOAD(cell(slot)->value) > above)
			break;
		if (poll(&p, 1, SE_HANG_S * 1000) != 1 ||
		    read(doorbell, &n, sizeof(n)) != sizeof(n))
			return -ETIMEDOUT;
	}
	STORE(cell(slot)->hint[HOST].wake_above, SYNCEVENT_WAKE_NONE);
	return 0;
}

struct pong {
	struct se_thread t;
	struct syncevent_dpa unit;
	uint64_t ping;
	uint64_t pong;
	unsigned int rounds;
};

static int pong_fn(void *arg)
{
	struct pong *p = arg;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < p->rounds && !ret; i++) {
		ret = syncevent_dpa_wait(&p->unit, p->ping, SYNCEVENT_COND_GT, i, SE_ALL,
					 SYNCEVENT_DPA_FOREVER, NULL);
		ret = ret ?: syncevent_dpa_add(&p->unit, p->pong, 1, NULL);
	}
	return ret;
}

TEST_F(wait, no_sleeper_is_left_asleep)
{
	unsigned int rounds = se_times(200000), i;
	struct pong p = { .rounds = rounds };

	ASSERT_LE(0, doorbell = eventfd(0, EFD_CLOEXEC));
	p.unit = (struct syncevent_dpa){
		.base = region, .len = SIZE, .side = ME, .timeout = 10000 * SE_NS,
		.clock = real_clock, .hz = SE_NS, .ring = real_ring,
	};
	ASSERT_EQ(0, syncevent_dpa_attach(&p.unit));
	p.ping = make(SLOT, 0);
	p.pong = make(SLOT + 1, 0);
	ASSERT_EQ(0, se_start(&p.t, pong_fn, &p));
	for (i = 0; i < rounds; i++) {
		STORE(cell(SLOT)->value, i + 1);
		ASSERT_EQ(0, sleep_for(SLOT + 1, i)) TH_LOG("round %u", i);
	}
	EXPECT_EQ(0, se_join(&p.t));
	close(doorbell);
}

TEST_HARNESS_MAIN
