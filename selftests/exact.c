// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What /dev/syncevent alone promises: "On the kernel provider an update wakes
 * exactly the waiters that it satisfies", and the hints that make it so: they
 * follow the waiters, word for word.
 */
#include "common.h"

#include <syncevent/cell.h>

#define MANY	1000

/* Whoever is not satisfied is not woken: it does not even go back to sleep. */
TEST(kernel_thousand_thresholds)
{
	static const uint64_t updates[] = { 1, 2, 2, 10, 11, 5, 500, 500, 300, 501, 1000 };
	static struct se_waiter w[MANY];
	static long slept[MANY];
	const unsigned int many = se_times(MANY);
	uint64_t wakes, value, top = 0;
	unsigned int u, i;
	int fd = se_create(0);

	ASSERT_LE(0, fd);
	for (i = 0; i < many; i++) {
		/* waiter i wants i + 1 or more */
		ASSERT_EQ(0, i & 1 ? se_waiter_start(&w[i], fd, SYNCEVENT_COND_GT, i) :
			  se_waiter_start(&w[i], fd, SYNCEVENT_COND_GE, i + 1));
	}
	for (i = 0; i < many; i++) {
		ASSERT_TRUE(se_waiter_parked(&w[i]));
		slept[i] = se_switches(w[i].t.tid);
		ASSERT_LT(0, slept[i]);
	}
	ASSERT_EQ(many, se_waiters(fd));
	wakes = se_wakes(fd);
	ASSERT_EQ(0, wakes);

	for (u = 0; u < ARRAY_SIZE(updates); u++) {
		value = updates[u] < many ? updates[u] : many;
		if (value > top) {
			wakes += value - top;
			top = value;
		}
		ASSERT_EQ(0, se_set(fd, value));
		ASSERT_EQ(wakes, se_wakes(fd));
		ASSERT_EQ(many - top, se_waiters(fd));
		for (i = 0; i < many; i++) {
			if (i >= top) {
				ASSERT_EQ(slept[i], se_switches(w[i].t.tid));
			} else if (w[i].fd >= 0) {
				ASSERT_EQ(0, se_waiter_join(&w[i]));
				ASSERT_EQ(value, w[i].w.value);
				w[i].fd = -1;
			}
		}
	}
	ASSERT_EQ(many, se_wakes(fd));
	close(fd);
}

/* The same for LT and LE, EQ, and the list of NEQ and masked waiters. */
TEST(kernel_exact_for_every_condition)
{
	static const struct {
		uint32_t cond;
		uint64_t operand, mask;
	} p[] = {
		{ SYNCEVENT_COND_LT, 100, SE_ALL }, { SYNCEVENT_COND_LE, 60, SE_ALL },
		{ SYNCEVENT_COND_EQ, 70, SE_ALL }, { SYNCEVENT_COND_EQ, 250, SE_ALL },
		{ SYNCEVENT_COND_GT, 300, SE_ALL }, { SYNCEVENT_COND_GE, 260, SE_ALL },
		{ SYNCEVENT_COND_NEQ, 200, SE_ALL }, { SYNCEVENT_COND_EQ, 7, 0xf },
		{ SYNCEVENT_COND_LT, 8, 0xf }, { SYNCEVENT_COND_GT, 3, 0x700 },
	};
	/* each threshold is met exactly, and missed by one, while others are judged */
	static const uint64_t updates[] = {
		200, 259, 250, 260, 100, 61, 70, 300, 301, 99, 60, 1024, 7, 768,
	};
	struct se_waiter w[ARRAY_SIZE(p)];
	long slept[ARRAY_SIZE(p)];
	bool over[ARRAY_SIZE(p)] = { false };
	uint64_t wakes = 0, v;
	unsigned int u, i;
	int fd = se_create(200);

	ASSERT_LE(0, fd);
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		ASSERT_EQ(0, se_waiter_start_mask(&w[i], fd, p[i].cond, p[i].operand,
						  p[i].mask, SE_FOREVER));
		ASSERT_TRUE(se_waiter_parked(&w[i]));
		slept[i] = se_switches(w[i].t.tid);
	}
	for (u = 0; u < ARRAY_SIZE(updates); u++) {
		ASSERT_EQ(0, se_set(fd, updates[u]));
		for (i = 0; i < ARRAY_SIZE(p); i++) {
			bool yes;

			if (over[i])
				continue;
			v = updates[u] & p[i].mask;
			yes = p[i].cond == SYNCEVENT_COND_EQ ? v == p[i].operand :
			      p[i].cond == SYNCEVENT_COND_NEQ ? v != p[i].operand :
			      p[i].cond == SYNCEVENT_COND_GT ? v > p[i].operand :
			      p[i].cond == SYNCEVENT_COND_GE ? v >= p[i].operand :
			      p[i].cond == SYNCEVENT_COND_LT ? v < p[i].operand :
			      v <= p[i].operand;
			if (yes) {
				ASSERT_EQ(0, se_waiter_join(&w[i]));
				ASSERT_EQ(updates[u], w[i].w.value);
				over[i] = true;
				wakes++;
			} else {
				ASSERT_EQ(slept[i], se_switches(w[i].t.tid));
			}
		}
		ASSERT_EQ(wakes, se_wakes(fd));
		ASSERT_EQ(ARRAY_SIZE(p) - wakes, se_waiters(fd));
	}
	ASSERT_EQ(0, se_waiters(fd));
	close(fd);
}

/* Many equal operands: all of them, none of the neighbours. */
TEST(kernel_equal_operands)
{
	struct se_waiter w[60];
	unsigned int i;
	int fd = se_create(0);

	ASSERT_LE(0, fd);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		ASSERT_EQ(0, se_waiter_start(&w[i], fd, i & 1 ? SYNCEVENT_COND_EQ :
					     SYNCEVENT_COND_GE, 10 + i / 2 % 3));
		ASSERT_TRUE(se_waiter_parked(&w[i]));
	}
	ASSERT_EQ(0, se_set(fd, 11));
	/* EQ 11: 10, GE 10 and GE 11: 20 */
	ASSERT_EQ(30, se_wakes(fd));
	ASSERT_EQ(30, se_waiters(fd));
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		if (i & 1 ? i / 2 % 3 == 1 : i / 2 % 3 <= 1) {
			ASSERT_EQ(0, se_waiter_join(&w[i]));
		}
	}
	ASSERT_EQ(0, se_revoke(fd));
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		if (!(i & 1 ? i / 2 % 3 == 1 : i / 2 % 3 <= 1)) {
			ASSERT_EQ(-EIDRM, se_waiter_join(&w[i]));
		}
	}
	/* a revoked waiter was not woken by an update */
	ASSERT_EQ(30, se_wakes(fd));
	close(fd);
}

/* A ring judges, and wakes no one whom the value does not satisfy. */
TEST(kernel_ring_is_no_wake)
{
	struct se_waiter w;
	int fd = se_create(5), i;
	long slept;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 6));
	ASSERT_TRUE(se_waiter_parked(&w));
	slept = se_switches(w.t.tid);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, se_ring(fd));
	}
	ASSERT_EQ(100, se_rings(fd));
	ASSERT_EQ(0, se_wakes(fd));
	ASSERT_EQ(slept, se_switches(w.t.tid));
	ASSERT_EQ(0, se_set(fd, 6));
	ASSERT_EQ(0, se_waiter_join(&w));
	ASSERT_EQ(1, se_wakes(fd));
	close(fd);
}

/* ---- the hints ----------------------------------------------------------------- */

#define ASSERT_HINT(above, all) do {							\
	ASSERT_TRUE(se_until(__atomic_load_n(&cell->hint[0].wake_above,			\
					     __ATOMIC_ACQUIRE) == (uint64_t)(above)));	\
	ASSERT_EQ((uint32_t)(all), __atomic_load_n(&cell->hint[0].flags,		\
						   __ATOMIC_ACQUIRE));			\
} while (0)

TEST(kernel_hint_of_a_new_event)
{
	int fd = se_create(77), i;
	struct syncevent_cell *cell = se_map(fd, PROT_READ);

	ASSERT_TRUE(cell);
	ASSERT_EQ(77, cell->value);
	ASSERT_EQ(SYNCEVENT_STATE_LIVE, cell->state & SYNCEVENT_STATE_MASK);
	ASSERT_EQ(1, cell->state >> SYNCEVENT_STATE_GEN_SHIFT);
	ASSERT_EQ(1, cell->sides);
	ASSERT_EQ(0, cell->flags);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(SYNCEVENT_WAKE_NONE, cell->hint[i].wake_above);
		ASSERT_EQ(0, cell->hint[i].flags);
		ASSERT_EQ(0, cell->hint[i].deaths);
	}
	for (i = sizeof(*cell); i < 4096; i++) {
		ASSERT_EQ(0, ((char *)cell)[i]);
	}
	munmap(cell, 4096);
	close(fd);

	fd = se_create_flags(0, SYNCEVENT_CREATE_SILENT);
	cell = se_map(fd, PROT_READ);
	ASSERT_TRUE(cell);
	ASSERT_EQ(SYNCEVENT_CELL_SILENT, cell->flags);
	munmap(cell, 4096);
	close(fd);
}

/* Each kind of waiter asks for what it needs and asks no more once it is gone. */
TEST(kernel_hint_of_one_waiter)
{
	static const struct {
		uint32_t cond;
		uint64_t operand, mask, above, satisfies;
		uint32_t all;
	} p[] = {
		{ SYNCEVENT_COND_GT, 60, SE_ALL, 60, 61, 0 },
		{ SYNCEVENT_COND_GE, 60, SE_ALL, 59, 60, 0 },
		{ SYNCEVENT_COND_GE, SE_MAX, SE_ALL, SE_MAX - 1, SE_MAX, 0 },
		{ SYNCEVENT_COND_GT, SE_MAX - 1, SE_ALL, SE_MAX - 1, SE_MAX, 0 },
		{ SYNCEVENT_COND_EQ, 60, SE_ALL, SE_MAX, 60, 1 },
		{ SYNCEVENT_COND_NEQ, 50, SE_ALL, SE_MAX, 51, 1 },
		{ SYNCEVENT_COND_LT, 50, SE_ALL, SE_MAX, 49, 1 },
		{ SYNCEVENT_COND_LE, 49, SE_ALL, SE_MAX, 49, 1 },
		{ SYNCEVENT_COND_GT, 60, 0xff, SE_MAX, 61, 1 },
		{ SYNCEVENT_COND_GE, 60, ~1ULL, SE_MAX, 60, 1 },
	};
	struct syncevent_cell *cell;
	struct se_waiter w;
	unsigned int i, end;
	int fd;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		/* ends: satisfied, timed out, signal is in signals.c */
		for (end = 0; end < 2; end++) {
			fd = se_create(50);
			cell = se_map(fd, PROT_READ);
			ASSERT_TRUE(cell);
			ASSERT_EQ(0, se_waiter_start_mask(&w, fd, p[i].cond, p[i].operand,
							  p[i].mask, end ? se_in_ms(50) :
							  SE_FOREVER));
			if (!end) {
				ASSERT_TRUE(se_waiter_parked(&w));
				ASSERT_HINT(p[i].above, p[i].all);
				ASSERT_EQ(0, se_set(fd, p[i].satisfies));
				ASSERT_EQ(0, se_waiter_join(&w));
			} else {
				ASSERT_EQ(-ETIMEDOUT, se_waiter_join(&w));
			}
			ASSERT_HINT(SE_MAX, 0);
			munmap(cell, 4096);
			close(fd);
		}
	}
}

/* GT MAX never holds: it parks and asks for nothing. */
TEST(kernel_hint_of_the_impossible)
{
	int fd = se_create(0);
	struct syncevent_cell *cell = se_map(fd, PROT_READ);
	struct se_waiter w;

	ASSERT_TRUE(cell);
	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_GT, SE_MAX));
	ASSERT_TRUE(se_waiter_parked(&w));
	ASSERT_EQ(SE_MAX, cell->hint[0].wake_above);
	ASSERT_EQ(0, se_set(fd, SE_MAX));
	ASSERT_TRUE(se_waiter_parked(&w));
	ASSERT_EQ(0, se_wakes(fd));
	ASSERT_EQ(0, se_revoke(fd));
	ASSERT_EQ(-EIDRM, se_waiter_join(&w));
	close(fd);
}

/* The least threshold counts; WAKE_ALL as long as one needs it. */
TEST(kernel_hint_follows_the_waiters)
{
	int fd = se_create(0), q, armed;
	struct syncevent_cell *cell = se_map(fd, PROT_READ);
	struct syncevent_completion done;
	struct se_waiter gt[3], eq, masked;
	int i;

	ASSERT_TRUE(cell);
	for (i = 2; i >= 0; i--) {
		ASSERT_EQ(0, se_waiter_start(&gt[i], fd, SYNCEVENT_COND_GT, 10 * (i + 1)));
		ASSERT_TRUE(se_waiter_parked(&gt[i]));
		ASSERT_HINT(10 * (i + 1), 0);
	}
	ASSERT_EQ(0, se_waiter_start(&eq, fd, SYNCEVENT_COND_EQ, 5));
	ASSERT_TRUE(se_waiter_parked(&eq));
	ASSERT_HINT(10, 1);
	ASSERT_EQ(0, se_waiter_start_mask(&masked, fd, SYNCEVENT_COND_GT, 2, 7, SE_FOREVER));
	ASSERT_TRUE(se_waiter_parked(&masked));
	ASSERT_HINT(10, 1);
	ASSERT_EQ(0, se_set(fd, 3));		/* the masked one */
	ASSERT_EQ(0, se_waiter_join(&masked));
	ASSERT_HINT(10, 1);
	ASSERT_EQ(0, se_set(fd, 5));
	ASSERT_EQ(0, se_waiter_join(&eq));
	ASSERT_HINT(10, 0);
	ASSERT_EQ(0, se_set(fd, 11));
	ASSERT_EQ(0, se_waiter_join(&gt[0]));
	ASSERT_HINT(20, 0);

	/* entries of queues and armed files ask as sleepers do */
	q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, 15, 1, SE_FOREVER));
	ASSERT_HINT(15, 0);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_LT, 2, 2, SE_FOREVER));
	ASSERT_HINT(15, 1);
	ASSERT_EQ(0, se_queue_cancel(q, 2));
	ASSERT_HINT(15, 0);
	ASSERT_EQ(0, se_set(fd, 16));
	ASSERT_EQ(1, se_reap(q, &done, 1));
	ASSERT_HINT(20, 0);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, 17, 3, SE_FOREVER));
	ASSERT_HINT(17, 0);
	close(q);
	ASSERT_HINT(20, 0);

	armed = se_dup(fd, 0);
	ASSERT_LE(0, armed);
	ASSERT_EQ(0, se_arm(armed, SYNCEVENT_COND_GE, 19));
	ASSERT_EQ(POLLOUT | POLLWRNORM, se_poll(armed, 0));
	ASSERT_HINT(18, 0);
	ASSERT_EQ(0, se_arm(armed, SYNCEVENT_COND_EQ, 19));
	ASSERT_HINT(20, 1);
	ASSERT_EQ(0, se_disarm(armed));
	ASSERT_HINT(20, 1);
	close(armed);
	ASSERT_HINT(20, 0);

	ASSERT_EQ(0, se_set(fd, 100));
	ASSERT_EQ(0, se_waiter_join(&gt[1]));
	ASSERT_EQ(0, se_waiter_join(&gt[2]));
	ASSERT_HINT(SE_MAX, 0);
	close(fd);
}

/* "with a waiter parked for > 1000, the updates 1..1000 make no system call" */
TEST(kernel_updates_below_the_hint_do_not_ring)
{
	int fd = se_create(0);
	struct syncevent_cell *cell = se_map(fd, PROT_READ | PROT_WRITE);
	struct se_waiter w;
	int i;

	ASSERT_TRUE(cell);
	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_GT, 1000));
	ASSERT_TRUE(se_waiter_parked(&w));
	for (i = 1; i <= 1000; i++) {
		ASSERT_EQ(0, syncevent_cell_add(cell, 1, NULL));
	}
	ASSERT_NE(0, syncevent_cell_add(cell, 1, NULL));
	ASSERT_EQ(0, se_rings(fd));
	ASSERT_EQ(1, se_waiters(fd));
	ASSERT_EQ(0, se_ring(fd));
	ASSERT_EQ(0, se_waiter_join(&w));
	ASSERT_EQ(1001, w.w.value);
	ASSERT_EQ(1, se_rings(fd));
	ASSERT_EQ(1, se_wakes(fd));
	close(fd);
}

/* The kernel reads no hint back: who spoils them harms only those that ring by them. */
TEST(kernel_hints_are_outputs)
{
	int fd = se_create(0);
	struct syncevent_cell *cell = se_map(fd, PROT_READ | PROT_WRITE);
	struct se_waiter gt, eq;

	ASSERT_TRUE(cell);
	ASSERT_EQ(0, se_waiter_start(&gt, fd, SYNCEVENT_COND_GT, 10));
	ASSERT_TRUE(se_waiter_parked(&gt));
	ASSERT_EQ(0, se_waiter_start(&eq, fd, SYNCEVENT_COND_EQ, 5));
	ASSERT_TRUE(se_waiter_parked(&eq));
	memset(&cell->state, 0xff, 4096 - 8);
	ASSERT_EQ(0, se_set(fd, 5));
	ASSERT_EQ(0, se_waiter_join(&eq));
	memset(&cell->state, 0, 4096 - 8);
	ASSERT_EQ(0, se_add(fd, 6, NULL));
	ASSERT_EQ(0, se_waiter_join(&gt));
	ASSERT_EQ(11, gt.w.value);
	ASSERT_EQ(2, se_wakes(fd));
	close(fd);
}

TEST_HARNESS_MAIN
