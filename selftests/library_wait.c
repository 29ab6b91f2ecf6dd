// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * library_wait.c - the waits and queues of libsyncevent beyond the kernel's: that they
 * answer alike whether the library polls or sleeps, and what comes between.
 */
#include "waiter.h"

#define MS	1000000ULL

/* ---- waits ------------------------------------------------------------------------ */

/* Polling in the library must tell what the kernel tells. */
TEST(both_wait_many_answers_alike)
{
	struct syncevent *ev[4];
	unsigned int h, i, flags, index, revoked;

	for (revoked = 0; revoked < 5; revoked++) {
		for (i = 0; i < 4; i++) {
			ev[i] = make(i);
			ASSERT_NE(NULL, ev[i]);
		}
		if (revoked < 4)
			ASSERT_EQ(0, syncevent_revoke(ev[revoked]));
		/* From none to all of the conditions hold. */
		for (i = 0; i < 16; i++) {
			for (flags = 0; flags <= SYNCEVENT_ALL; flags++) {
				struct syncevent_many first[4], many[4];
				unsigned int k, first_index = 0;
				int ret, first_ret = 0;

				for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
					struct syncevent_wait_opts opts = opts_of(hows[h], 0);

					se_poison(many, sizeof(many));
					se_poison(&index, sizeof(index));
					for (k = 0; k < 4; k++) {
						many[k].ev = ev[k];
						many[k].cond = i & 1U << k ? SYNCEVENT_EQ :
							       SYNCEVENT_NEQ;
						many[k].operand = k;
						many[k].mask = UINT64_MAX;
					}
					ret = syncevent_wait_many(many, 4, flags, &opts,
								  &index);
					/* "any" may look beyond what ended it, or not. */
					for (k = index + 1; !ret && !flags && k < 4; k++)
						many[k].status = 0, many[k].value = 0;
					if (!h) {
						memcpy(first, many, sizeof(many));
						first_index = index;
						first_ret = ret;
						continue;
					}
					ASSERT_EQ(first_ret, ret);
					ASSERT_EQ(first_index, index);
					ASSERT_EQ(0, memcmp(first, many, sizeof(many)));
				}
			}
		}
		for (i = 0; i < 4; i++)
			syncevent_close(ev[i]);
	}
}

static int many_fn(void *arg)
{
	struct waiter *w = arg;
	struct syncevent_many many[2] = {
		{ .ev = w->ev, .cond = w->cond, .operand = w->operand, .mask = w->mask },
		{ .ev = w->ev, .cond = SYNCEVENT_EQ, .operand = 99, .mask = UINT64_MAX },
	};
	unsigned int index = 9;
	int ret = syncevent_wait_many(many, 2, 0, &w->opts, &index);

	w->seen = many[0].value;
	return ret ? ret : (int)index;
}

TEST(both_wait_many_ends_by_update_and_revoke)
{
	unsigned int h;

	for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
		struct waiter w = { .cond = SYNCEVENT_GE, .operand = 3, .mask = UINT64_MAX };

		w.ev = make(0);
		ASSERT_NE(NULL, w.ev);
		w.opts = opts_of(hows[h], SYNCEVENT_FOREVER);
		ASSERT_EQ(0, se_start(&w.t, many_fn, &w));
		ASSERT_EQ(0, syncevent_add(w.ev, 2, NULL));
		ASSERT_EQ(0, syncevent_add(w.ev, 2, NULL));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(4, w.seen);
		w.operand = 5;
		ASSERT_EQ(0, se_start(&w.t, many_fn, &w));
		ASSERT_EQ(0, syncevent_revoke(w.ev));
		ASSERT_EQ(-EIDRM, se_join(&w.t));
		syncevent_close(w.ev);
	}
}

/* Stands in front of the C library's: YIELD calls it after each look. */
static int yields;

int sched_yield(void)
{
	__atomic_fetch_add(&yields, 1, __ATOMIC_RELAXED);
	return (int)syscall(SYS_sched_yield);
}

struct all {
	struct se_thread t;
	struct syncevent_many many[2];
	struct syncevent_wait_opts opts;
};

static int all_fn(void *arg)
{
	struct all *all = arg;

	return syncevent_wait_many(all->many, 2, SYNCEVENT_ALL, &all->opts, NULL);
}

/* "all" is about moments during the call: what comes after one does not undo it. */
TEST(both_revoked_after_its_moment)
{
	static const enum syncevent_how ways[] = { SYNCEVENT_YIELD, SYNCEVENT_BLOCK };
	struct syncevent *ev[2];
	struct all all;
	int h, i;

	for (h = 0; h < 2; h++) {
		for (i = 0; i < 2; i++) {
			ev[i] = make(0);
			ASSERT_NE(NULL, ev[i]);
			all.many[i] = (struct syncevent_many){
				.ev = ev[i], .cond = SYNCEVENT_EQ, .operand = (uint64_t)i,
				.mask = UINT64_MAX,
			};
		}
		all.opts = opts_of(ways[h], SYNCEVENT_FOREVER);
		__atomic_store_n(&yields, 0, __ATOMIC_RELAXED);
		ASSERT_EQ(0, se_start(&all.t, all_fn, &all));
		if (ways[h] == SYNCEVENT_YIELD) {
			ASSERT_TRUE(se_until(__atomic_load_n(&yields, __ATOMIC_RELAXED)));
		} else {
			ASSERT_TRUE(until_parked(ev[1], getpid(), all.t.tid));
		}
		ASSERT_EQ(0, syncevent_revoke(ev[0]));
		ASSERT_EQ(0, syncevent_set(ev[1], 1));
		ASSERT_EQ(0, se_join(&all.t));
		ASSERT_EQ(1, all.many[0].status);
		ASSERT_EQ(0, all.many[0].value);
		ASSERT_EQ(1, all.many[1].status);
		ASSERT_EQ(1, all.many[1].value);
		syncevent_close(ev[0]);
		syncevent_close(ev[1]);
	}
}

/* Both clocks, in the past and in a moment; the first part of ADAPTIVE is short. */
TEST(both_deadline_of_each_clock)
{
	struct syncevent *ev = make(0);
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_EQ, .operand = 1,
				       .mask = UINT64_MAX };
	unsigned int h, realtime, spin;

	ASSERT_NE(NULL, ev);
	for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
		for (realtime = 0; realtime < 2; realtime++) {
			for (spin = 0; spin < 2; spin++) {
				clockid_t clock = realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC;
				uint64_t now = se_now(clock);
				struct syncevent_wait_opts opts = opts_of(hows[h], now + MS);

				opts.flags = realtime ? SYNCEVENT_REALTIME : 0;
				opts.spin_ns = spin ? UINT32_MAX : 0;
				ASSERT_EQ(-ETIMEDOUT, syncevent_wait(ev, SYNCEVENT_EQ, 1,
								     UINT64_MAX, &opts, NULL));
				ASSERT_LE(now + MS, se_now(clock));
				opts.deadline = 1;
				ASSERT_EQ(-ETIMEDOUT, syncevent_wait(ev, SYNCEVENT_EQ, 1,
								     UINT64_MAX, &opts, NULL));
				ASSERT_EQ(-ETIMEDOUT, syncevent_wait_many(&many, 1, 0, &opts,
									  NULL));
			}
		}
	}
	syncevent_close(ev);
}

static int signals;

static void count_signal(int sig)
{
	(void)sig;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* A spin goes on after a signal: only the update ends it. */
TEST(both_signal_does_not_end_a_spin)
{
	struct sigaction sa = { .sa_handler = count_signal };
	static const enum syncevent_how spins[] = { SYNCEVENT_SPIN, SYNCEVENT_YIELD };
	struct waiter w;
	int h, i;

	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	for (h = 0; h < 2; h++) {
		struct syncevent *ev = make(0);

		ASSERT_NE(NULL, ev);
		__atomic_store_n(&signals, 0, __ATOMIC_RELAXED);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_EQ, 1, UINT64_MAX, spins[h],
				   SYNCEVENT_FOREVER));
		for (i = 1; i <= 5; i++) {
			ASSERT_EQ(0, pthread_kill(w.t.thread, SIGUSR1));
			ASSERT_TRUE(se_until(__atomic_load_n(&signals, __ATOMIC_RELAXED) == i));
		}
		ASSERT_FALSE(se_is_done(&w.t));
		ASSERT_EQ(0, syncevent_set(ev, 1));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(1, w.seen);
		syncevent_close(ev);
	}
}

/* ---- queues ------------------------------------------------------------------------ */

/* Entries that are reserved or not, added, cancelled and reaped: all complete. */
TEST(both_queue_reserve)
{
	static const unsigned int sizes[] = { 0, 1, 5, 64, 5, 0 };
	struct syncevent *ev = make(0);
	struct syncevent_done done[64];
	struct syncevent_queue *q;
	unsigned int i, n;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ASSERT_EQ(0, syncevent_queue_reserve(q, sizes[i]));
		ASSERT_EQ(0, syncevent_set(ev, 0));
		for (n = 0; n < 64; n++)
			ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, n, UINT64_MAX, n,
							 SYNCEVENT_FOREVER));
		for (n = 0; n < 64; n += 2)
			ASSERT_EQ(0, syncevent_queue_cancel(q, n));
		/* Fewer than there are now. */
		ASSERT_EQ(0, syncevent_queue_reserve(q, sizes[i] / 2));
		ASSERT_EQ(0, syncevent_set(ev, 64));
		for (n = 0; n < 32;) {
			int got = syncevent_queue_reap(q, done, 64, se_patience());

			ASSERT_LT(0, got);
			while (got--) {
				ASSERT_EQ(1, done[got].cookie & 1);
				n++;
			}
		}
		ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 64, 0));
	}
	syncevent_queue_close(q);
	syncevent_close(ev);
}

TEST(both_queue_of_a_provider)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .provider = SYNCEVENT_PROVIDER_SHM };
	struct syncevent_queue *q = NULL, *shm;
	struct syncevent_done done;
	struct syncevent *ev;

	ASSERT_EQ(-EINVAL, syncevent_queue_create_on(&q, SYNCEVENT_PROVIDER_ADDR));
	ASSERT_EQ(NULL, q);
	ASSERT_EQ(0, syncevent_queue_create_on(&q, SYNCEVENT_PROVIDER_DEFAULT));
	ASSERT_EQ(0, syncevent_queue_create_on(&shm, SYNCEVENT_PROVIDER_SHM));
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_queue_add(shm, ev, SYNCEVENT_EQ, 0, UINT64_MAX, 7, 0));
	ASSERT_EQ(1, syncevent_queue_reap(shm, &done, 1, 0));
	ASSERT_EQ(7, done.cookie);
	/* Who keeps the default one is told by what it takes. */
	ASSERT_EQ(on_shm() ? 0 : -EXDEV,
		  syncevent_queue_add(q, ev, SYNCEVENT_EQ, 0, UINT64_MAX, 7, 0));
	syncevent_queue_close(q);
	syncevent_queue_close(shm);
	syncevent_close(ev);
}

struct reaper {
	struct se_thread t;
	struct syncevent_queue *q;
	struct syncevent_done done;
	uint64_t deadline;
};

static int reaper_fn(void *arg)
{
	struct reaper *r = arg;

	return syncevent_queue_reap(r->q, &r->done, 1, r->deadline);
}

TEST(both_reap_takes_what_is_done)
{
	struct syncevent *ev = make(5);
	struct syncevent_done done[8];
	struct syncevent_queue *q;
	uint64_t i;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 8, 0));
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 8, 1));
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 8, se_in_ms(1)));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GE, i, UINT64_MAX, 10 + i,
						 SYNCEVENT_FOREVER));
	ASSERT_EQ(-EEXIST, syncevent_queue_add(q, ev, SYNCEVENT_GE, 9, UINT64_MAX, 10, 0));
	ASSERT_EQ(-EALREADY, syncevent_queue_cancel(q, 10));
	ASSERT_EQ(-ENOENT, syncevent_queue_cancel(q, 99));
	ASSERT_EQ(2, syncevent_queue_reap(q, done, 2, 0));
	ASSERT_EQ(3, syncevent_queue_reap(q, done + 2, 6, SYNCEVENT_FOREVER));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(10 + i, done[i].cookie);
		ASSERT_EQ(5, done[i].value);
		ASSERT_EQ(0, done[i].status);
	}
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 1,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(0, syncevent_queue_cancel(q, 1));
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 2, se_in_ms(1)));
	ASSERT_EQ(1, syncevent_queue_reap(q, done, 8, SYNCEVENT_FOREVER));
	ASSERT_EQ(-ETIMEDOUT, done[0].status);
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 3,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(1, syncevent_queue_reap(q, done, 8, SYNCEVENT_FOREVER));
	ASSERT_EQ(3, done[0].cookie);
	ASSERT_EQ(-EIDRM, done[0].status);
	ASSERT_EQ(-EIDRM, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 3, 0));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

/* Of two who were told of one completion, the second must not block for ever. */
TEST(both_two_reapers_and_one_completion)
{
	int i, sum;

	for (i = 0; i < 200; i++) {
		struct syncevent *ev = make(0);
		struct reaper r[2];
		struct syncevent_queue *q;

		ASSERT_NE(NULL, ev);
		ASSERT_EQ(0, syncevent_queue_create(&q));
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 1, UINT64_MAX, 1,
						 SYNCEVENT_FOREVER));
		r[0] = (struct reaper){ .q = q, .deadline = se_in_ms(20) };
		r[1] = r[0];
		ASSERT_EQ(0, se_start(&r[0].t, reaper_fn, &r[0]));
		ASSERT_EQ(0, se_start(&r[1].t, reaper_fn, &r[1]));
		ASSERT_EQ(0, syncevent_set(ev, 1));
		sum = 0;
		sum += se_join(&r[0].t) == 1;
		sum += se_join(&r[1].t) == 1;
		/* Both may have given up before; then it is still there. */
		sum += syncevent_queue_reap(q, &r[0].done, 1, 0) == 1;
		ASSERT_EQ(1, sum);
		ASSERT_TRUE(se_is_done(&r[0].t) && se_is_done(&r[1].t));
		syncevent_queue_close(q);
		syncevent_close(ev);
	}
}

TEST(both_signals_and_reap)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q;
	struct reaper r;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	r = (struct reaper){ .q = q, .deadline = SYNCEVENT_FOREVER };
	se_handle(SIGUSR1, 0);
	ASSERT_EQ(0, se_start(&r.t, reaper_fn, &r));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, pthread_kill(r.t.thread, SIGUSR1));
	ASSERT_EQ(-EINTR, se_join(&r.t));

	se_handle(SIGUSR1, SA_RESTART);
	ASSERT_EQ(0, se_start(&r.t, reaper_fn, &r));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, pthread_kill(r.t.thread, SIGUSR1));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 0, UINT64_MAX, 1,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(1, se_join(&r.t));
	ASSERT_EQ(1, r.done.cookie);

	r.deadline = se_in_ms(SE_HANG_S * 1000);
	ASSERT_EQ(0, se_start(&r.t, reaper_fn, &r));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, pthread_kill(r.t.thread, SIGUSR1));
	ASSERT_EQ(-EINTR, se_join(&r.t));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

TEST_HARNESS_MAIN
