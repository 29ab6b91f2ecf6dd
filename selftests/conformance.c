// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What every provider promises, sentence by sentence.
 *
 * The test's name says who promises it: both_* is written on libsyncevent alone
 * and holds for any provider, kernel_* for /dev/syncevent. This file has values,
 * predicates and ways to wait, outcomes.c how a wait ends, exact.c the exact
 * wake-ups; rights.c has more on rights, signals.c on signals.
 */
#include "predicate.h"
#include "waiter.h"

#include <syncevent/cell.h>

/* ---- "Value: unsigned 64 bit. `set` stores. `get` loads." ------------------- */

TEST(both_set_stores_and_get_loads)
{
	uint64_t v = 1;
	struct syncevent *ev = make(0);
	size_t i;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, syncevent_get(ev, &v));
	ASSERT_EQ(0, v);
	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		ASSERT_EQ(0, syncevent_set(ev, edges[i]));
		v = ~edges[i];
		ASSERT_EQ(0, syncevent_get(ev, &v));
		ASSERT_EQ(edges[i], v);
		ASSERT_EQ(edges[i], syncevent_cell_get(syncevent_cell(ev)));
	}
	syncevent_close(ev);

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		ev = make(edges[i]);
		ASSERT_TRUE(ev);
		ASSERT_EQ(0, syncevent_get(ev, &v));
		ASSERT_EQ(edges[i], v);
		syncevent_close(ev);
	}
}

/* ---- "`add` is an atomic fetch-add, returns the old value, ..." -------------- */

TEST(both_add_returns_the_old_value_and_wraps)
{
	struct syncevent *ev = make(0);
	uint64_t v, old;
	size_t i, j;

	ASSERT_TRUE(ev);
	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		for (j = 0; j < ARRAY_SIZE(edges); j++) {
			ASSERT_EQ(0, syncevent_set(ev, edges[i]));
			old = ~edges[i];
			ASSERT_EQ(0, syncevent_add(ev, edges[j], &old));
			ASSERT_EQ(edges[i], old);
			ASSERT_EQ(0, syncevent_get(ev, &v));
			ASSERT_EQ(edges[i] + edges[j], v);
		}
	}
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	syncevent_close(ev);
}

#define WRITES	5000

/* Adds until it is told to stop, and counts. */
struct adder {
	struct se_thread t;
	struct syncevent *ev;
	const bool *stop;
	uint64_t count;
};

static int adder_fn(void *arg)
{
	struct adder *a = arg;
	int ret = 0;

	while (!ret && !__atomic_load_n(a->stop, __ATOMIC_RELAXED)) {
		ret = syncevent_add(a->ev, 3, NULL);
		__atomic_store_n(&a->count, a->count + 1, __ATOMIC_RELEASE);
	}
	return ret;
}

/*
 * "atomic": no add is lost, through one mapping and through write(2), or where the
 * file does not take that through another mapping, together.
 */
TEST(both_add_is_atomic)
{
	struct syncevent *ev = make(SE_MAX - 5), *other;
	const bool writes = guaranteed(SYNCEVENT_CAP_FD);
	struct adder a[2];
	uint64_t v, sum = SE_MAX - 5;
	bool stop = false;
	int i;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, syncevent_from_fd(&other, syncevent_fd(ev)));
	for (i = 0; i < 2; i++) {
		a[i] = (struct adder) { .ev = ev, .stop = &stop };
		ASSERT_EQ(0, se_start(&a[i].t, adder_fn, &a[i]));
		ASSERT_TRUE(se_until(__atomic_load_n(&a[i].count, __ATOMIC_ACQUIRE)));
	}
	for (i = 0; i < WRITES; i++) {
		ASSERT_EQ(0, writes ? se_write(syncevent_fd(ev), 5) :
			  syncevent_add(other, 5, NULL));
		sum += 5;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, se_join(&a[i].t));
		sum += 3 * a[i].count;
	}
	ASSERT_EQ(0, syncevent_get(ev, &v));
	ASSERT_EQ(sum, v);
	syncevent_close(other);
	syncevent_close(ev);
}

/* ---- "set/add release, get and a satisfied wait acquire: data written before
 * an update is visible after a wait that saw it." ------------------------------- */

#define ROUNDS	3000

struct relay {
	struct syncevent *there, *back;
	enum syncevent_how how;
	bool add;
	uint64_t data[8];
};

/* The patience is for each wait, not for all of them. */
static int relay_wait(const struct relay *r, struct syncevent *ev, uint64_t i)
{
	struct syncevent_wait_opts opts = opts_of(r->how, se_patience());

	return syncevent_wait(ev, SYNCEVENT_GE, i, SE_MAX, &opts, NULL);
}

static int relay_fn(void *arg)
{
	uint64_t i, rounds = se_times(ROUNDS);
	struct relay *r = arg;
	int j, ret;

	for (i = 1; i <= rounds; i++) {
		for (j = 0; j < 8; j++)
			r->data[j] = i * 8 + (uint64_t)j;
		ret = r->add ? syncevent_add(r->there, 1, NULL) : syncevent_set(r->there, i);
		if (!ret)
			ret = relay_wait(r, r->back, i);
		if (ret)
			return ret;
		for (j = 0; j < 8; j++)
			if (r->data[j] != i)
				return -EBADMSG;
	}
	return 0;
}

TEST(both_data_before_an_update_is_visible_after_the_wait)
{
	struct se_thread t;
	struct relay r;
	uint64_t i, rounds = se_times(ROUNDS);
	size_t h;
	int j;

	for (h = 0; h < 2 * ARRAY_SIZE(hows); h++) {
		memset(&r, 0, sizeof(r));
		r.there = make(0);
		r.back = make(0);
		r.how = hows[h / 2];
		r.add = h & 1;
		ASSERT_TRUE(r.there && r.back);
		ASSERT_EQ(0, se_start(&t, relay_fn, &r));
		for (i = 1; i <= rounds; i++) {
			ASSERT_EQ(0, relay_wait(&r, r.there, i));
			for (j = 0; j < 8; j++) {
				ASSERT_EQ(i * 8 + (uint64_t)j, r.data[j]);
				r.data[j] = i;
			}
			ASSERT_EQ(0, r.add ? syncevent_add(r.back, 1, NULL) :
				  syncevent_set(r.back, i));
		}
		ASSERT_EQ(0, se_join(&t));
		syncevent_close(r.there);
		syncevent_close(r.back);
	}
}

/* "get ... acquire": a reader that polls with get sees the data too. */
TEST(both_get_acquires)
{
	struct syncevent *ev = make(0);
	struct relay r = { .there = ev, .back = make(0) };
	struct se_thread t;
	uint64_t i, v, rounds = se_times(ROUNDS);
	int j;

	ASSERT_TRUE(ev && r.back);
	r.how = SYNCEVENT_YIELD;
	ASSERT_EQ(0, se_start(&t, relay_fn, &r));
	for (i = 1; i <= rounds; i++) {
		do {
			ASSERT_EQ(0, syncevent_get(ev, &v));
			if (v < i)
				sched_yield();
		} while (v < i);
		for (j = 0; j < 8; j++) {
			ASSERT_EQ(i * 8 + (uint64_t)j, r.data[j]);
			r.data[j] = i;
		}
		ASSERT_EQ(0, syncevent_set(r.back, i));
	}
	ASSERT_EQ(0, se_join(&t));
	syncevent_close(ev);
	syncevent_close(r.back);
}

/* ---- "Wait predicate: (value & mask) OP operand, OP in EQ, NEQ, GT, GE, LT, LE,
 * unsigned, full 64-bit range." -------------------------------------------------- */

TEST(both_predicate_of_every_edge)
{
	struct syncevent *ev = make(0);
	size_t v, o, m;
	uint64_t seen;
	unsigned int c;
	int ret;

	ASSERT_TRUE(ev);
	for (v = 0; v < ARRAY_SIZE(edges); v++) {
		ASSERT_EQ(0, syncevent_set(ev, edges[v]));
		for (o = 0; o < ARRAY_SIZE(edges); o++) {
			for (m = 0; m < ARRAY_SIZE(masks); m++) {
				for (c = SYNCEVENT_EQ; c <= SYNCEVENT_LE; c++) {
					seen = ~edges[v];
					ret = look(ev, c, edges[o], masks[m], &seen);
					if (!holds(c, edges[v], masks[m], edges[o])) {
						ASSERT_EQ(-ETIMEDOUT, ret);
						continue;
					}
					ASSERT_EQ(0, ret);
					/* the value, not what the mask leaves of it */
					ASSERT_EQ(edges[v], seen);
				}
			}
		}
	}
	ASSERT_EQ(-EINVAL, look(ev, SYNCEVENT_LE + 1, 0, SE_MAX, &seen));
	syncevent_close(ev);
}

/* The library looks by itself; this asks the kernel, with an armed file too. */
TEST(kernel_predicate_of_every_edge)
{
	unsigned int c;
	size_t v, o, m;
	uint64_t seen;
	bool yes;
	int fd;

	KERNEL_ONLY();
	fd = se_create(0);
	ASSERT_LE(0, fd);
	for (v = 0; v < ARRAY_SIZE(edges); v++) {
		ASSERT_EQ(0, se_set(fd, edges[v]));
		for (o = 0; o < ARRAY_SIZE(edges); o++) {
			for (m = 0; m < ARRAY_SIZE(masks); m++) {
				for (c = SYNCEVENT_EQ; c <= SYNCEVENT_LE; c++) {
					yes = holds(c, edges[v], masks[m], edges[o]);
					ASSERT_EQ(yes ? 0 : -ETIMEDOUT,
						  se_wait_mask(fd, c, edges[o], masks[m], 0,
							       &seen));
					ASSERT_EQ(yes ? edges[v] : SE_POISON64, seen);
					ASSERT_EQ(0, se_arm_mask(fd, c, edges[o], masks[m]));
					ASSERT_EQ(yes, !!(se_poll(fd, 0) & POLLIN));
				}
			}
		}
	}
	close(fd);
}

/* The same for a sleeper: it sleeps through values that do not satisfy it. */
TEST(both_predicate_of_every_edge_asleep)
{
	size_t o, m, v, bad, good;
	struct syncevent *ev;
	struct waiter w;
	unsigned int c;

	for (c = SYNCEVENT_EQ; c <= SYNCEVENT_LE; c++) {
		for (o = 0; o < ARRAY_SIZE(edges); o++) {
			for (m = 0; m < 5; m += 4) {
				for (v = 0, bad = good = SIZE_MAX; v < ARRAY_SIZE(edges); v++)
					*(holds(c, edges[v], masks[m], edges[o]) ?
					  &good : &bad) = v;
				if (bad == SIZE_MAX || good == SIZE_MAX)
					continue;	/* always or never true */
				ev = make(edges[bad]);
				ASSERT_TRUE(ev);
				ASSERT_EQ(0, start(&w, ev, c, edges[o], masks[m],
						   SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
				ASSERT_TRUE(se_until_sleeps(&w.t));
				for (v = 0; v < ARRAY_SIZE(edges); v++) {
					if (holds(c, edges[v], masks[m], edges[o]))
						continue;
					ASSERT_EQ(0, syncevent_set(ev, edges[v]));
					/* nor does a ring without need wake it */
					ASSERT_EQ(0, syncevent_ring(ev));
				}
				ASSERT_FALSE(se_is_done(&w.t));
				ASSERT_EQ(0, syncevent_set(ev, edges[good]));
				ASSERT_EQ(0, se_join(&w.t));
				ASSERT_EQ(edges[good], w.seen);
				syncevent_close(ev);
			}
		}
	}
}

/* A counter that wraps: MAX + 1 is 0, and is judged as 0. */
TEST(both_wrap_is_judged_unsigned)
{
	struct syncevent *ev = make(SE_MAX);
	struct waiter lt, eq;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, start(&lt, ev, SYNCEVENT_LT, 1, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	ASSERT_EQ(0, start(&eq, ev, SYNCEVENT_EQ, 0, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until_sleeps(&lt.t));
	ASSERT_TRUE(se_until_sleeps(&eq.t));
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	ASSERT_EQ(0, se_join(&lt.t));
	ASSERT_EQ(0, se_join(&eq.t));
	ASSERT_EQ(0, lt.seen);
	ASSERT_EQ(0, eq.seen);
	syncevent_close(ev);
}

/* ---- "How to wait: SPIN, YIELD, BLOCK, ADAPTIVE (...; the default)." ------------ */

TEST(both_every_way_to_wait)
{
	struct syncevent *ev = make(0);
	struct waiter w;
	size_t h;

	ASSERT_TRUE(ev);
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		uint64_t v = 10 * (h + 1);

		/* held at once */
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_LT, v, SE_MAX, hows[h],
				   SYNCEVENT_FOREVER));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_TRUE(w.seen < v);

		/* by an update */
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GE, v, SE_MAX, hows[h],
				   SYNCEVENT_FOREVER));
		if (sleeps(hows[h])) {
			ASSERT_TRUE(se_until_sleeps(&w.t));
		}
		ASSERT_EQ(0, syncevent_set(ev, v - 1));
		ASSERT_FALSE(se_is_done(&w.t));
		ASSERT_EQ(0, syncevent_set(ev, v));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(v, w.seen);

		/* by the clock */
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, v, SE_MAX, hows[h], se_in_ms(20)));
		ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));
	}
	syncevent_close(ev);

	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		/* by the end of the event */
		ev = make(0);
		ASSERT_TRUE(ev);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, hows[h],
				   SYNCEVENT_FOREVER));
		if (sleeps(hows[h])) {
			ASSERT_TRUE(se_until_sleeps(&w.t));
		}
		ASSERT_EQ(0, syncevent_revoke(ev));
		ASSERT_EQ(-EIDRM, se_join(&w.t));
		syncevent_close(ev);
	}
}

static int default_fn(void *arg)
{
	return syncevent_wait(arg, SYNCEVENT_GE, 1, SE_MAX, NULL, NULL);
}

/* SPIN and YIELD never park; BLOCK, ADAPTIVE and the default do. */
TEST(kernel_who_parks)
{
	struct syncevent *ev;
	struct se_thread t;
	struct waiter w;
	size_t h;
	int i;

	KERNEL_ONLY();
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		ev = make(0);
		ASSERT_TRUE(ev);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GE, 1, SE_MAX, hows[h],
				   SYNCEVENT_FOREVER));
		if (sleeps(hows[h])) {
			ASSERT_TRUE(se_until_waiters(syncevent_fd(ev), 1));
		} else {
			for (i = 0; i < 50; i++, se_sleep_ms(1)) {
				ASSERT_EQ(0, se_waiters(syncevent_fd(ev)));
			}
		}
		ASSERT_EQ(0, syncevent_set(ev, 1));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(0, se_waiters(syncevent_fd(ev)));
		syncevent_close(ev);
	}
	ev = make(0);
	ASSERT_TRUE(ev);
	ASSERT_EQ(0, se_start(&t, default_fn, ev));
	ASSERT_TRUE(se_until_waiters(syncevent_fd(ev), 1));
	ASSERT_EQ(0, syncevent_set(ev, 1));
	ASSERT_EQ(0, se_join(&t));
	syncevent_close(ev);
}

/* ---- "Deadline: absolute nanoseconds, CLOCK_MONOTONIC by default." -------------- */

/*
 * A wait never ends before its deadline. That it was taken for one of the right
 * clock shows as well: of the wrong one it is long past, or decades away.
 */
TEST(both_deadline)
{
	struct syncevent *ev = make(0);
	struct waiter w;
	uint64_t end;
	size_t h;

	ASSERT_TRUE(ev);
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		end = se_in_ms(30);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, hows[h], end));
		ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));
		ASSERT_LE(end, se_now(CLOCK_MONOTONIC));
		ASSERT_EQ(SE_POISON64, w.seen);

		end = se_now(CLOCK_REALTIME) + 30000000;
		w.opts = opts_of(hows[h], end);
		w.opts.flags = SYNCEVENT_REALTIME;
		ASSERT_EQ(0, se_start(&w.t, waiter_fn, &w));
		ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));
		ASSERT_LE(end, se_now(CLOCK_REALTIME));

		/* 0 and the past: one look */
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, hows[h], 0));
		ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, hows[h], 1));
		ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));

		/* beyond the end of time, and one short of "none" */
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, h, SE_MAX, hows[h], SE_MAX - 1));
		if (sleeps(hows[h])) {
			ASSERT_TRUE(se_until_sleeps(&w.t));
		}
		ASSERT_EQ(0, syncevent_set(ev, h + 1));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, h + 1, SE_MAX, hows[h],
				   (uint64_t)INT64_MAX + 1));
		if (sleeps(hows[h])) {
			ASSERT_TRUE(se_until_sleeps(&w.t));
		}
		ASSERT_EQ(0, syncevent_set(ev, h + 2));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(0, syncevent_set(ev, 0));
	}
	syncevent_close(ev);
}

/* ---- "A wait succeeds only if the predicate held for a value the event had during
 * the call, and returns that value." ------------------------------------------------ */

/* A value that nobody wrote would break this pattern. */
static uint64_t pattern(uint32_t n)
{
	return (uint64_t)~n << 32 | n;
}

struct churn {
	struct syncevent *ev;
	bool stop;
};

static int churn_fn(void *arg)
{
	struct churn *c = arg;
	uint32_t n = 0;
	int ret = 0;

	while (!ret && !__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		ret = syncevent_set(c->ev, pattern(n++ & 7));
		if (!(n & 63))
			sched_yield();
	}
	return ret;
}

TEST(both_success_means_it_held)
{
	struct churn c = { .ev = make(pattern(0)) };
	struct syncevent_wait_opts opts;
	struct se_thread t;
	uint64_t seen, operand, mask;
	unsigned int i, cond, n = se_times(4000);

	ASSERT_TRUE(c.ev);
	ASSERT_EQ(0, se_start(&t, churn_fn, &c));
	for (i = 0; i < n; i++) {
		cond = i % 6;
		mask = i & 1 ? SE_MAX : 7;
		operand = pattern(i / 6 % 7) & mask;
		if (cond == SYNCEVENT_GT || cond == SYNCEVENT_LT)
			operand = pattern(3) & mask;	/* not the greatest or the least */
		opts = opts_of(hows[i / 16 % 4], se_patience());
		seen = 0;
		ASSERT_EQ(0, syncevent_wait(c.ev, cond, operand, mask, &opts, &seen));
		ASSERT_TRUE(holds(cond, seen, mask, operand));
		ASSERT_EQ(pattern((uint32_t)seen), seen);
		ASSERT_LE((uint32_t)seen, 7);
	}
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, se_join(&t));
	syncevent_close(c.ev);
}

TEST_HARNESS_MAIN
