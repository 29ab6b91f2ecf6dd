// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What every provider promises about how a wait ends, who may update and what
 * a location means, sentence by sentence. both_* and kernel_* as in
 * conformance.c.
 */
#include "waiter.h"

#include <sys/prctl.h>
#include <syncevent/cell.h>

/* ---- "The other outcomes: -ETIMEDOUT, -EINTR (only where the signal's handler has
 * no SA_RESTART), -EIDRM (revoked)" --------------------------------------------- */

TEST(both_timeout_leaves_the_answer_alone)
{
	struct syncevent *ev = make(7);
	struct waiter w;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_EQ, 8, SE_MAX, SYNCEVENT_BLOCK, se_in_ms(10)));
	ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));
	ASSERT_EQ(SE_POISON64, w.seen);
	syncevent_close(ev);
}

TEST(both_signal_without_restart_is_eintr)
{
	struct syncevent *ev = make(0);
	struct waiter w;

	ASSERT_TRUE(ev);
	se_handle(SIGUSR1, 0);
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until_sleeps(&w.t));
	ASSERT_EQ(0, pthread_kill(w.t.thread, SIGUSR1));
	ASSERT_EQ(-EINTR, se_join(&w.t));
	ASSERT_EQ(SE_POISON64, w.seen);
	syncevent_close(ev);
}

TEST(both_signal_with_restart_is_not_seen)
{
	struct syncevent *ev = make(0);
	struct waiter w;
	int i;

	ASSERT_TRUE(ev);
	se_handle(SIGUSR1, SA_RESTART);
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(se_until_sleeps(&w.t));
		ASSERT_EQ(0, pthread_kill(w.t.thread, SIGUSR1));
	}
	ASSERT_TRUE(se_until_sleeps(&w.t));
	ASSERT_FALSE(se_is_done(&w.t));
	ASSERT_EQ(0, syncevent_set(ev, 3));
	ASSERT_EQ(0, se_join(&w.t));
	ASSERT_EQ(3, w.seen);
	syncevent_close(ev);
}

/* ---- "Success wins over a timeout or signal that arrives with it" ---------------- */

TEST(both_success_wins_over_a_signal)
{
	struct syncevent *ev;
	struct waiter w;
	int i, ret;

	se_handle(SIGUSR1, 0);
	for (i = 0; i < 20; i++) {
		ev = make(0);
		ASSERT_TRUE(ev);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, SYNCEVENT_BLOCK,
				   SYNCEVENT_FOREVER));
		ASSERT_TRUE(se_until_sleeps(&w.t));
		ret = se_hold(w.t.tid);
		if (ret == -EPERM) {
			SKIP(break, "SCHED_FIFO is not allowed");
		}
		ASSERT_EQ(0, ret);
		if (i & 1)
			pthread_kill(w.t.thread, SIGUSR1);
		ASSERT_EQ(0, syncevent_set(ev, 1));
		if (!(i & 1))
			pthread_kill(w.t.thread, SIGUSR1);
		ASSERT_EQ(0, se_let_go());
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(1, w.seen);
		syncevent_close(ev);
	}
}

TEST(both_success_wins_over_a_timeout)
{
	uint64_t end, ms = 100;
	struct syncevent *ev;
	struct waiter w;
	int i = 0, ret;

	while (i < 10) {
		ev = make(0);
		ASSERT_TRUE(ev);
		end = se_in_ms(ms);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, SYNCEVENT_BLOCK, end));
		/* Not longer than need be: real-time threads may have 95 % of a second. */
		se_sleep_ms((unsigned int)(ms - ms / 10));
		ret = se_hold(w.t.tid);
		if (ret == -EPERM) {
			SKIP(break, "SCHED_FIFO is not allowed");
		}
		if (ret)	/* ended already */
			ASSERT_EQ(-ESRCH, ret);
		if (ret || se_now(CLOCK_MONOTONIC) >= end) {
			/* It may have ended before this thread had the CPU. */
			ASSERT_EQ(0, se_let_go());
			ASSERT_EQ(-ETIMEDOUT, se_join(&w.t));
			ms *= 2;
		} else {
			while (se_now(CLOCK_MONOTONIC) < end + 1000000)
				;
			ASSERT_EQ(0, syncevent_set(ev, 1));
			ASSERT_EQ(0, se_let_go());
			ASSERT_EQ(0, se_join(&w.t));
			ASSERT_EQ(1, w.seen);
			i++;
		}
		syncevent_close(ev);
	}
}

/* A look whose deadline is past succeeds if the predicate holds. */
TEST(both_success_wins_over_a_past_deadline)
{
	struct syncevent *ev = make(5);
	struct waiter w;
	size_t h;

	ASSERT_TRUE(ev);
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_EQ, 5, SE_MAX, hows[h], 1));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(5, w.seen);
	}
	syncevent_close(ev);
}

/* ---- "a revoked event answers every operation but INFO and close with -EIDRM, even
 * if the predicate holds" ---------------------------------------------------------- */

TEST(both_revoked_is_eidrm_everywhere)
{
	struct syncevent *ev = make(5), *ro, *other;
	struct syncevent_many many = { .mask = SE_MAX, .operand = 5, .cond = SYNCEVENT_EQ };
	struct syncevent_queue *q;
	unsigned int index = 9;
	struct waiter w;
	uint64_t v;
	size_t h;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, syncevent_revoke(ev));

	ASSERT_EQ(-EIDRM, syncevent_get(ev, &v));
	ASSERT_EQ(-EIDRM, syncevent_get(ro, &v));
	ASSERT_EQ(-EIDRM, syncevent_set(ev, 1));
	ASSERT_EQ(-EIDRM, syncevent_add(ev, 1, &v));
	ASSERT_EQ(-EIDRM, syncevent_ring(ev));
	ASSERT_EQ(-EIDRM, syncevent_arm(ev, SYNCEVENT_EQ, 5, SE_MAX));
	ASSERT_EQ(-EIDRM, syncevent_disarm(ev));
	ASSERT_EQ(-EIDRM, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(-EIDRM, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(-EIDRM, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 5, SE_MAX, 1,
					      SYNCEVENT_FOREVER));
	many.ev = ev;
	ASSERT_EQ(-EIDRM, syncevent_wait_many(&many, 1, 0, NULL, &index));
	ASSERT_EQ(0, index);
	ASSERT_EQ(-EIDRM, many.status);
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		/* 5 is what it held, 0 what a page of nobody would */
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_EQ, 5, SE_MAX, hows[h], 0));
		ASSERT_EQ(-EIDRM, se_join(&w.t));
		ASSERT_EQ(0, start(&w, ro, SYNCEVENT_GE, 0, SE_MAX, hows[h],
				   SYNCEVENT_FOREVER));
		ASSERT_EQ(-EIDRM, se_join(&w.t));
	}
	ASSERT_EQ(-EIDRM, syncevent_read(ev, &v));
	ASSERT_EQ(-EIDRM, syncevent_read(ro, &v));
	ASSERT_EQ(-EIDRM, syncevent_poll_fd(ev));
	if (guaranteed(SYNCEVENT_CAP_FD)) {
		ASSERT_EQ(-EIDRM, se_read(syncevent_fd(ev), &v));
		ASSERT_EQ(-EIDRM, se_write(syncevent_fd(ev), 1));
	}
	ASSERT_FALSE(syncevent_cell_live(syncevent_cell(ev)));

	syncevent_close(ro);
	syncevent_close(ev);
	syncevent_queue_close(q);
}

TEST(kernel_info_and_close_outlive_revoke)
{
	struct syncevent_info info;
	int fd;

	KERNEL_ONLY();
	fd = se_create(5);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_revoke(fd));
	ASSERT_EQ(0, se_info(fd, &info));
	ASSERT_TRUE(info.flags & SYNCEVENT_INFO_REVOKED);
	ASSERT_EQ(0, info.waiters);
	ASSERT_EQ(0, close(fd));
}

/* What is INFO to the kernel is syncevent_stat() to the library. */
TEST(both_stat_and_close_outlive_revoke)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct syncevent *ev = make(5);

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, syncevent_stat(ev, &stat));
	ASSERT_FALSE(stat.flags & SYNCEVENT_STAT_REVOKED);
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(0, syncevent_stat(ev, &stat));
	ASSERT_TRUE(stat.flags & SYNCEVENT_STAT_REVOKED);
	ASSERT_EQ(0, stat.waiters);
	syncevent_close(ev);
}

/* Every kind of sleeper ends. */
TEST(both_revoke_ends_every_wait)
{
	struct syncevent *ev = make(0);
	struct waiter w[4];
	size_t h;

	ASSERT_TRUE(ev);
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		ASSERT_EQ(0, start(&w[h], ev, SYNCEVENT_GT, h, SE_MAX, hows[h],
				   SYNCEVENT_FOREVER));
	}
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		if (sleeps(hows[h])) {
			ASSERT_TRUE(se_until_sleeps(&w[h].t));
		}
	}
	ASSERT_EQ(0, syncevent_revoke(ev));
	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		ASSERT_EQ(-EIDRM, se_join(&w[h].t));
		ASSERT_EQ(SE_POISON64, w[h].seen);
	}
	syncevent_close(ev);
}

/* ---- "Waits are level-triggered: a transient value may pass unseen; monotonic
 * counters with GT/GE miss nothing." ------------------------------------------------ */

TEST(both_transient_value_consumes_nothing)
{
	struct syncevent *ev = make(0);
	struct syncevent_cell *cell;
	struct waiter w;

	ASSERT_TRUE(ev);
	cell = syncevent_cell(ev);
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_EQ, 5, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until_sleeps(&w.t));
	/* It was 5, and nobody rang before it was 6. */
	(void)syncevent_cell_set(cell, 5);
	ASSERT_NE(0, syncevent_cell_set(cell, 6));
	ASSERT_EQ(0, syncevent_ring(ev));
	ASSERT_TRUE(se_until_sleeps(&w.t));
	ASSERT_FALSE(se_is_done(&w.t));
	/* Level: it is satisfied by what is, not by what changes. */
	ASSERT_EQ(0, syncevent_set(ev, 5));
	ASSERT_EQ(0, se_join(&w.t));
	ASSERT_EQ(5, w.seen);
	/* And it took nothing: the next one is satisfied too. */
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 5, SE_MAX, &w.seen));
	syncevent_close(ev);
}

/* With the ioctl each value is judged: the waiter has the one that woke it. */
TEST(kernel_judged_value_is_returned)
{
	struct se_waiter w;
	int fd, i;

	KERNEL_ONLY();
	fd = se_create(0);
	ASSERT_LE(0, fd);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, se_set(fd, 0));
		ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 5));
		ASSERT_TRUE(se_until_waiters(fd, 1));
		ASSERT_EQ(0, se_set(fd, 5));
		ASSERT_EQ(0, se_set(fd, 6));
		ASSERT_EQ(0, se_waiter_join(&w));
		ASSERT_EQ(5, w.w.value);
	}
	close(fd);
}

#define COUNT	3000

struct counter {
	struct syncevent *ev;
	enum syncevent_cond cond;
	enum syncevent_how how;
};

static int counter_fn(void *arg)
{
	struct counter *c = arg;
	struct syncevent_wait_opts opts = opts_of(c->how, SYNCEVENT_FOREVER);
	uint64_t i, seen, count = se_times(COUNT);
	int ret;

	for (i = 1; i <= count; i++) {
		ret = syncevent_wait(c->ev, c->cond, i - (c->cond == SYNCEVENT_GT), SE_MAX,
				     &opts, &seen);
		if (ret)
			return ret;
		if (seen < i || seen > count)
			return -ERANGE;
	}
	return 0;
}

TEST(both_monotonic_counter_misses_nothing)
{
	struct syncevent *ev = make(0);
	struct se_thread t[8];
	struct counter c[8];
	unsigned int i, count = se_times(COUNT);

	ASSERT_TRUE(ev);
	for (i = 0; i < 8; i++) {
		c[i] = (struct counter) { ev, i & 1 ? SYNCEVENT_GT : SYNCEVENT_GE,
					  hows[i / 2] };
		ASSERT_EQ(0, se_start(&t[i], counter_fn, &c[i]));
	}
	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
		if (!(i & 15))
			sched_yield();
	}
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, se_join(&t[i]));
	}
	syncevent_close(ev);
}

/* ---- "No wake-up is ever lost: if the predicate becomes true and stays true, every
 * waiter returns, even if the publisher was killed between its update and its ring." */

TEST(both_every_waiter_returns)
{
	struct syncevent *ev = make(0);
	struct waiter w[48];
	unsigned int i, n = ARRAY_SIZE(w), round;

	ASSERT_TRUE(ev);
	for (round = 0; round < 4; round++) {
		ASSERT_EQ(0, syncevent_set(ev, 0));
		for (i = 0; i < n; i++) {
			/* each of them holds at 100 and not at 0 */
			static const struct {
				enum syncevent_cond cond;
				uint64_t operand, mask;
			} p[] = {
				{ SYNCEVENT_EQ, 100, SE_MAX }, { SYNCEVENT_NEQ, 0, SE_MAX },
				{ SYNCEVENT_GT, 99, SE_MAX }, { SYNCEVENT_GE, 100, SE_MAX },
				{ SYNCEVENT_EQ, 4, 7 }, { SYNCEVENT_GT, 63, 0xf0 },
			};

			ASSERT_EQ(0, start(&w[i], ev, p[i % 6].cond, p[i % 6].operand,
					   p[i % 6].mask, i < n / 2 ? SYNCEVENT_BLOCK :
					   SYNCEVENT_ADAPTIVE, SYNCEVENT_FOREVER));
		}
		/* some rounds race with those that are about to sleep */
		for (i = 0; round & 1 && i < n; i++) {
			ASSERT_TRUE(se_until_sleeps(&w[i].t));
		}
		ASSERT_EQ(0, syncevent_set(ev, 100));
		for (i = 0; i < n; i++) {
			ASSERT_EQ(0, se_join(&w[i].t));
			ASSERT_EQ(100, w[i].seen);
		}
	}
	syncevent_close(ev);
}

static int killed_publisher(void *arg)
{
	(void)syncevent_cell_set(syncevent_cell(arg), 1);
	kill(getpid(), SIGKILL);
	return 1;
}

TEST(both_killed_between_update_and_ring)
{
	static const struct {
		enum syncevent_cond cond;
		uint64_t operand;
	} p[] = {
		{ SYNCEVENT_GT, 0 }, { SYNCEVENT_GE, 1 }, { SYNCEVENT_EQ, 1 },
		{ SYNCEVENT_NEQ, 0 },
	};
	struct syncevent *ev;
	struct waiter w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		ev = make(0);
		ASSERT_TRUE(ev);
		ASSERT_EQ(0, start(&w, ev, p[i].cond, p[i].operand, SE_MAX,
				   SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
		ASSERT_TRUE(se_until_sleeps(&w.t));
		ASSERT_EQ(-SIGKILL, se_wait_child(se_fork(killed_publisher, ev)));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(1, w.seen);
		syncevent_close(ev);
	}
}

/* ---- "Publisher and subscriber locations are placement hints; they forbid nothing."  */

TEST(both_locations_forbid_nothing)
{
	struct syncevent_attr attr = { .size = sizeof(attr) };
	const unsigned int each = SYNCEVENT_LOC_ALL + 1, pairs = se_times(each * each);
	struct syncevent *ev;
	unsigned int i, pair;
	uint64_t v;

	/* All of them or, where there is less time, some from all over. */
	for (i = 0; i < pairs; i++) {
		pair = i * each * each / pairs;
		attr.publishers = pair / each;
		attr.subscribers = pair % each;
		ASSERT_EQ(0, syncevent_create(&ev, &attr));
		ASSERT_EQ(0, syncevent_set(ev, 3));
		ASSERT_EQ(0, syncevent_add(ev, 4, &v));
		ASSERT_EQ(3, v);
		ASSERT_EQ(0, syncevent_wait(ev, SYNCEVENT_GE, 7, SE_MAX, NULL, &v));
		ASSERT_EQ(7, v);
		syncevent_close(ev);
	}
	attr.publishers = SYNCEVENT_LOC_ALL + 1;
	ASSERT_EQ(-EINVAL, syncevent_create(&ev, &attr));
}

/* ---- "Rights do: a read-only fd cannot set, add or ring, by ioctl, mapping or
 * mprotect." ------------------------------------------------------------------------- */

static int store(void *arg)
{
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGSEGV, SIG_DFL);
	__atomic_store_n((uint64_t *)arg, 9, __ATOMIC_RELAXED);
	return 0;
}

TEST(both_read_only_cannot_update)
{
	struct syncevent *ev = make(1), *ro, *again;
	struct syncevent_cell *cell;
	uint64_t v;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(-EBADF, syncevent_set(ro, 2));
	ASSERT_EQ(-EBADF, syncevent_add(ro, 2, &v));
	ASSERT_EQ(-EBADF, syncevent_ring(ro));
	ASSERT_EQ(-EBADF, syncevent_revoke(ro));
	ASSERT_EQ(-EBADF, se_write(syncevent_fd(ro), 2));

	cell = syncevent_cell(ro);
	ASSERT_EQ(1, syncevent_cell_get(cell));
	ASSERT_EQ(-SIGSEGV, se_wait_child(se_fork(store, cell)));
	ASSERT_EQ(-1, mprotect(cell, 4096, PROT_READ | PROT_WRITE));
	ASSERT_EQ(EACCES, errno);
	ASSERT_EQ(-SIGSEGV, se_wait_child(se_fork(store, cell)));

	/* nor does a copy of it win anything back */
	ASSERT_EQ(0, syncevent_dup(&again, ro, 0));
	ASSERT_EQ(-EBADF, syncevent_set(again, 2));
	syncevent_close(again);
	ASSERT_EQ(0, syncevent_from_fd(&again, syncevent_fd(ro)));
	ASSERT_EQ(-EBADF, syncevent_set(again, 2));
	syncevent_close(again);

	/* it reads and waits as before */
	ASSERT_EQ(0, syncevent_set(ev, 4));
	ASSERT_EQ(0, syncevent_get(ro, &v));
	ASSERT_EQ(4, v);
	ASSERT_EQ(0, syncevent_wait(ro, SYNCEVENT_GE, 4, SE_MAX, NULL, &v));
	syncevent_close(ro);
	syncevent_close(ev);
}

TEST_HARNESS_MAIN
