// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * SYNCEVENT_IOC_WAIT_MANY: any and all, which entry ends it, what is written when,
 * and that nothing is left behind however it ends.
 */
#include "common.h"

#include <sys/eventfd.h>

#define MAX	SYNCEVENT_WAIT_MAX
#define GT	SYNCEVENT_COND_GT
#define EQ	SYNCEVENT_COND_EQ

/* A thread in one WAIT_MANY. */
struct many {
	struct se_thread t;
	struct syncevent_wait_entry e[MAX];
	unsigned int n;
	uint32_t flags, index;
	uint64_t deadline;
};

static int many_fn(void *arg)
{
	struct many *m = arg;

	return se_wait_many(m->e, m->n, m->flags, m->deadline, &m->index);
}

static int many_start(struct many *m, unsigned int n, uint32_t flags, uint64_t deadline)
{
	m->n = n;
	m->flags = flags;
	m->deadline = deadline;
	return se_start(&m->t, many_fn, m);
}

/* Was nothing of the entries written? */
static bool untouched(const struct many *m)
{
	unsigned int i;

	for (i = 0; i < m->n; i++)
		if (m->e[i].value != SE_POISON64 || m->e[i].status != (int32_t)SE_POISON32)
			return false;
	return m->index == SE_POISON32;
}

FIXTURE(many)
{
	int fd[MAX];
	struct many m;
};

FIXTURE_SETUP(many)
{
	int i;

	for (i = 0; i < MAX; i++) {
		self->fd[i] = se_create(0);
		ASSERT_LE(0, self->fd[i]);
		self->m.e[i] = se_entry(self->fd[i], GT, 0);
	}
	self->m.deadline = SE_FOREVER;
}

FIXTURE_TEARDOWN(many)
{
	int i;

	for (i = 0; i < MAX; i++) {
		if (self->fd[i] >= 0) {
			EXPECT_EQ(0, se_waiters(self->fd[i]));
			close(self->fd[i]);
		}
	}
}

#define PARKED()	se_until_sleeps_in(&self->m.t, SYS_ioctl)

/* ---- any ---------------------------------------------------------------------------- */

TEST_F(many, any_of_the_full_number)
{
	unsigned int i, k;

	for (k = 0; k < MAX; k += k == 0 || k == 126 ? 1 : 63) {
		for (i = 0; i < MAX; i++) {
			self->m.e[i] = se_entry(self->fd[i], GT, 0);
			ASSERT_EQ(0, se_set(self->fd[i], 0));
		}
		ASSERT_EQ(0, many_start(&self->m, MAX, 0, SE_FOREVER));
		ASSERT_TRUE(PARKED());
		for (i = 0; i < MAX; i++) {
			ASSERT_EQ(1, se_waiters(self->fd[i]));
		}
		ASSERT_EQ(0, se_set(self->fd[k], k + 1));
		ASSERT_EQ(0, se_join(&self->m.t));
		ASSERT_EQ(k, self->m.index);
		for (i = 0; i < MAX; i++) {
			ASSERT_EQ(i == k, self->m.e[i].status);
			ASSERT_EQ(0, se_waiters(self->fd[i]));
		}
		ASSERT_EQ(k + 1, self->m.e[k].value);
		ASSERT_EQ(1, se_wakes(self->fd[k]));
	}
}

TEST_F(many, any_lowest_index_at_the_first_look)
{
	unsigned int i;

	for (i = 0; i < MAX; i++) {
		ASSERT_EQ(0, se_set(self->fd[i], i >= 17));
	}
	ASSERT_EQ(0, se_wait_many(self->m.e, MAX, 0, SE_FOREVER, &self->m.index));
	ASSERT_EQ(17, self->m.index);
	ASSERT_EQ(1, self->m.e[17].status);
	ASSERT_EQ(1, self->m.e[17].value);
	ASSERT_EQ(0, self->m.e[16].status);
	/* one look finds it too, the past is early enough */
	ASSERT_EQ(0, se_wait_many(self->m.e, MAX, 0, 0, &self->m.index));
	ASSERT_EQ(17, self->m.index);
	ASSERT_EQ(0, se_wait_many(self->m.e, MAX, 0, 1, &self->m.index));
	ASSERT_EQ(17, self->m.index);
}

TEST_F(many, conditions_and_masks)
{
	unsigned int i;

	for (i = 0; i < 6; i++) {
		self->m.e[i].cond = i;
		self->m.e[i].operand = 7;
		ASSERT_EQ(0, se_set(self->fd[i], 7));
	}
	self->m.e[6].cond = EQ;
	self->m.e[6].operand = 0x30;
	self->m.e[6].mask = 0xf0;
	ASSERT_EQ(0, se_set(self->fd[6], 0xf3f));
	for (i = 0; i < 7; i++) {
		bool yes = i == EQ || i == SYNCEVENT_COND_GE || i == SYNCEVENT_COND_LE || i == 6;

		ASSERT_EQ(yes ? 0 : -ETIMEDOUT,
			  se_wait_many(&self->m.e[i], 1, 0, 0, &self->m.index));
		if (yes) {
			ASSERT_EQ(i == 6 ? 0xf3f : 7, self->m.e[i].value);
		}
	}
}

/* ---- all ---------------------------------------------------------------------------- */

TEST_F(many, all_in_any_order)
{
	unsigned int i, last = 0;

	ASSERT_EQ(0, many_start(&self->m, MAX, SYNCEVENT_WAIT_ALL, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	for (i = 0; i < MAX; i++) {
		ASSERT_FALSE(se_is_done(&self->m.t));
		last = i * 37 % MAX;
		ASSERT_EQ(0, se_set(self->fd[last], last + 1));
		/* who has held asks no more */
		ASSERT_EQ(0, se_waiters(self->fd[last]));
	}
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(last, self->m.index);
	for (i = 0; i < MAX; i++) {
		ASSERT_EQ(1, self->m.e[i].status);
		ASSERT_EQ(i + 1, self->m.e[i].value);
	}
}

/* "each predicate held at some moment during the call": never two at once. */
TEST_F(many, all_at_different_moments)
{
	unsigned int i;

	ASSERT_EQ(0, se_set(self->fd[0], 5));	/* held at the first look */
	ASSERT_EQ(0, many_start(&self->m, 8, SYNCEVENT_WAIT_ALL, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(0, se_set(self->fd[0], 0));
	for (i = 1; i < 8; i++) {
		ASSERT_TRUE(PARKED());
		ASSERT_EQ(0, se_set(self->fd[i], i + 5));
		ASSERT_EQ(0, se_set(self->fd[i], 0));
	}
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(7, self->m.index);
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(i + 5, self->m.e[i].value);
		ASSERT_EQ(1, self->m.e[i].status);
	}
}

TEST_F(many, all_held_at_once)
{
	unsigned int i;

	for (i = 0; i < MAX; i++) {
		ASSERT_EQ(0, se_set(self->fd[i], i + 1));
	}
	ASSERT_EQ(0, se_wait_many(self->m.e, MAX, SYNCEVENT_WAIT_ALL, 0, &self->m.index));
	for (i = 0; i < MAX; i++) {
		ASSERT_EQ(1, self->m.e[i].status);
		ASSERT_EQ(i + 1, self->m.e[i].value);
	}
	ASSERT_EQ(0, se_set(self->fd[MAX - 1], 0));
	ASSERT_EQ(-ETIMEDOUT, se_wait_many(self->m.e, MAX, SYNCEVENT_WAIT_ALL, 0, NULL));
}

/* ---- duplicates ---------------------------------------------------------------------- */

TEST_F(many, duplicates)
{
	unsigned int i;

	/* one event, other thresholds: any */
	for (i = 0; i < MAX; i++) {
		self->m.e[i] = se_entry(self->fd[0], GT, MAX - i);
	}
	ASSERT_EQ(0, many_start(&self->m, MAX, 0, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(MAX, se_waiters(self->fd[0]));
	ASSERT_EQ(0, se_set(self->fd[0], 2));
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(MAX - 1, self->m.index);
	ASSERT_EQ(2, self->m.e[MAX - 1].value);

	/* the very same, twice and more: all */
	ASSERT_EQ(0, se_set(self->fd[0], 0));
	for (i = 0; i < MAX; i++) {
		self->m.e[i] = se_entry(i & 1 ? self->fd[0] : self->fd[1], GT, 0);
	}
	ASSERT_EQ(0, many_start(&self->m, MAX, SYNCEVENT_WAIT_ALL, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(0, se_set(self->fd[0], 3));
	ASSERT_TRUE(PARKED());
	ASSERT_FALSE(se_is_done(&self->m.t));
	ASSERT_EQ(0, se_set(self->fd[1], 4));
	ASSERT_EQ(0, se_join(&self->m.t));
	for (i = 0; i < MAX; i++) {
		ASSERT_EQ(1, self->m.e[i].status);
		ASSERT_EQ(i & 1 ? 3 : 4, self->m.e[i].value);
	}

	/* two files of one event are one event */
	int other = se_dup(self->fd[2], SYNCEVENT_DUP_RDONLY);

	ASSERT_LE(0, other);
	self->m.e[0] = se_entry(self->fd[2], EQ, 9);
	self->m.e[1] = se_entry(other, EQ, 8);
	ASSERT_EQ(0, many_start(&self->m, 2, 0, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(2, se_waiters(other));
	ASSERT_EQ(0, se_set(self->fd[2], 8));
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(1, self->m.index);
	close(other);
}

/* ---- claims --------------------------------------------------------------------------- */

struct racer {
	int fd[2];
	uint32_t *go;
	int me;
	int rounds;
};

static int racer_fn(void *arg)
{
	struct racer *r = arg;
	uint32_t i;
	int ret = 0;

	for (i = 1; i <= (uint32_t)r->rounds && !ret; i++) {
		while (__atomic_load_n(r->go, __ATOMIC_ACQUIRE) < i)
			sched_yield();
		ret = se_set(r->fd[r->me], i);
	}
	return ret;
}

static int start_racers(struct racer r[2], struct se_thread t[2], const int fd[2],
			uint32_t *go, int rounds)
{
	int j, ret = 0;

	for (j = 0; j < 2 && !ret; j++) {
		r[j] = (struct racer) { { fd[0], fd[1] }, go, j, rounds };
		ret = se_start(&t[j], racer_fn, &r[j]);
	}
	return ret;
}

/* The entry that ended the wait is right, and the other one no invention. */
static bool right_answer(const struct syncevent_wait_entry e[2], uint32_t index, uint64_t value)
{
	int j;

	for (j = 0; j < 2; j++)
		if (e[j].status && (e[j].status != 1 || e[j].value != value))
			return false;
	return index < 2 && e[index].status == 1;
}

static bool both_are(const int fd[2], uint64_t value)
{
	uint64_t a, b;

	return !se_get(fd[0], &a) && !se_get(fd[1], &b) && a == value && b == value;
}

/* Two events, updated at once by two threads, 10,000 times: one claims the wait. */
TEST_F(many, any_is_claimed_once)
{
	uint32_t go = 0, i, won[2] = { 0 };
	struct syncevent_info info;
	struct se_thread t[2];
	uint64_t wakes = 0, now;
	struct racer r[2];
	int rounds = (int)se_times(10000), j;

	ASSERT_EQ(0, start_racers(r, t, self->fd, &go, rounds));
	for (i = 1; i <= (uint32_t)rounds; i++) {
		self->m.e[0] = se_entry(self->fd[0], EQ, i);
		self->m.e[1] = se_entry(self->fd[1], EQ, i);
		__atomic_store_n(&go, i, __ATOMIC_RELEASE);
		ASSERT_EQ(0, se_wait_many(self->m.e, 2, 0, se_patience(), &self->m.index));
		ASSERT_TRUE(right_answer(self->m.e, self->m.index, i));
		won[self->m.index]++;
		while (!both_are(self->fd, i))
			sched_yield();
		for (j = 0, now = 0; j < 2; j++) {
			ASSERT_EQ(0, se_info(self->fd[j], &info));
			ASSERT_EQ(0, info.waiters);
			now += info.wakes;
		}
		/* none if it held at the first look */
		ASSERT_LE(now, wakes + 1);
		wakes = now;
	}
	for (j = 0; j < 2; j++) {
		ASSERT_EQ(0, se_join(&t[j]));
	}
	TH_LOG("claimed by the first %u times, by the second %u times, asleep %llu times",
	       won[0], won[1], (unsigned long long)wakes);
}

/* The same with the waiter asleep before both: each round is one wake-up exactly. */
TEST_F(many, any_is_claimed_once_asleep)
{
	struct se_thread t[2];
	struct racer r[2];
	uint32_t go = 0, i;
	int rounds = (int)se_times(500), j;

	ASSERT_EQ(0, start_racers(r, t, self->fd, &go, rounds));
	for (i = 1; i <= (uint32_t)rounds; i++) {
		self->m.e[0] = se_entry(self->fd[0], EQ, i);
		self->m.e[1] = se_entry(self->fd[1], EQ, i);
		ASSERT_EQ(0, many_start(&self->m, 2, 0, SE_FOREVER));
		ASSERT_TRUE(PARKED());
		__atomic_store_n(&go, i, __ATOMIC_RELEASE);
		ASSERT_EQ(0, se_join(&self->m.t));
		ASSERT_TRUE(right_answer(self->m.e, self->m.index, i));
		while (!both_are(self->fd, i))
			sched_yield();
		ASSERT_EQ(i, se_wakes(self->fd[0]) + se_wakes(self->fd[1]));
	}
	for (j = 0; j < 2; j++) {
		ASSERT_EQ(0, se_join(&t[j]));
	}
}

/* Both satisfied while the waiter cannot run: the first one keeps it. */
TEST_F(many, any_is_kept_by_the_first)
{
	int i;

	for (i = 0; i < 20; i++) {
		self->m.e[0] = se_entry(self->fd[0], EQ, 1);
		self->m.e[1] = se_entry(self->fd[1], EQ, 1);
		ASSERT_EQ(0, se_set(self->fd[0], 0));
		ASSERT_EQ(0, se_set(self->fd[1], 0));
		ASSERT_EQ(0, many_start(&self->m, 2, 0, SE_FOREVER));
		ASSERT_TRUE(PARKED());
		ASSERT_EQ(0, se_hold(self->m.t.tid));
		ASSERT_EQ(0, se_set(self->fd[i & 1], 1));
		ASSERT_EQ(0, se_set(self->fd[!(i & 1)], 1));
		ASSERT_EQ(0, se_let_go());
		ASSERT_EQ(0, se_join(&self->m.t));
		ASSERT_EQ(i & 1, self->m.index);
		ASSERT_TRUE(right_answer(self->m.e, self->m.index, 1));
		ASSERT_EQ(i + 1, se_wakes(self->fd[0]) + se_wakes(self->fd[1]));
	}
}

/* ---- revoked ---------------------------------------------------------------------------- */

TEST_F(many, revoked_before)
{
	ASSERT_EQ(0, se_revoke(self->fd[3]));
	ASSERT_EQ(-EIDRM, se_wait_many(self->m.e, 5, 0, SE_FOREVER, &self->m.index));
	ASSERT_EQ(3, self->m.index);
	ASSERT_EQ(-EIDRM, self->m.e[3].status);
	ASSERT_EQ(0, self->m.e[0].status);
	ASSERT_EQ(0, self->m.e[4].status);
	ASSERT_EQ(-EIDRM, se_wait_many(self->m.e, 5, SYNCEVENT_WAIT_ALL, 0, &self->m.index));
	ASSERT_EQ(3, self->m.index);
}

TEST_F(many, revoked_during_the_wait)
{
	unsigned int all, i;

	for (all = 0; all < 2; all++) {
		for (i = 0; i < 5; i++) {
			self->m.e[i] = se_entry(self->fd[i], GT, 0);
			ASSERT_EQ(0, se_set(self->fd[i], 0));
		}
		ASSERT_EQ(0, many_start(&self->m, 5, all ? SYNCEVENT_WAIT_ALL : 0, SE_FOREVER));
		ASSERT_TRUE(PARKED());
		if (all) {
			ASSERT_EQ(0, se_set(self->fd[1], 6));
		}
		ASSERT_EQ(0, se_revoke(self->fd[4 - all]));
		ASSERT_EQ(-EIDRM, se_join(&self->m.t));
		ASSERT_EQ(4 - all, self->m.index);
		ASSERT_EQ(-EIDRM, self->m.e[4 - all].status);
		ASSERT_EQ(all, self->m.e[1].status);
		if (all) {
			ASSERT_EQ(6, self->m.e[1].value);
		}
		ASSERT_EQ(0, self->m.e[2].status);
		close(self->fd[4 - all]);
		self->fd[4 - all] = se_create(0);
		ASSERT_LE(0, self->fd[4 - all]);
	}
}

/* An entry that has held is done: with "all" its event may go. */
TEST_F(many, revoked_after_it_held)
{
	ASSERT_EQ(0, many_start(&self->m, 3, SYNCEVENT_WAIT_ALL, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(0, se_set(self->fd[1], 1));
	ASSERT_EQ(0, se_revoke(self->fd[1]));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(0, se_set(self->fd[0], 1));
	ASSERT_EQ(0, se_set(self->fd[2], 1));
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(1, self->m.e[1].status);
}

/* ---- the call keeps its files -------------------------------------------------------------- */

TEST_F(many, closed_during_the_wait)
{
	int other = se_dup(self->fd[2], 0), i;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, many_start(&self->m, 4, 0, SE_FOREVER));
	ASSERT_TRUE(PARKED());
	for (i = 0; i < 4; i++) {
		close(self->fd[i]);
		self->fd[i] = -1;
	}
	ASSERT_TRUE(PARKED());
	ASSERT_FALSE(se_is_done(&self->m.t));
	ASSERT_EQ(1, se_waiters(other));
	ASSERT_EQ(0, se_set(other, 5));
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(2, self->m.index);
	ASSERT_EQ(5, self->m.e[2].value);
	ASSERT_EQ(0, se_waiters(other));
	close(other);
}

/* Even all of them, with nobody left who could update: the call still ends in time. */
TEST_F(many, closed_for_good_during_the_wait)
{
	int i;

	ASSERT_EQ(0, many_start(&self->m, 4, 0, se_in_ms(300)));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(se_until_waiters(self->fd[i], 1) || se_is_done(&self->m.t));
	}
	for (i = 0; i < 4; i++) {
		close(self->fd[i]);
		self->fd[i] = -1;
	}
	ASSERT_EQ(-ETIMEDOUT, se_join(&self->m.t));
	ASSERT_TRUE(untouched(&self->m));
}

/* ---- ends ------------------------------------------------------------------------------------ */

TEST_F(many, deadline)
{
	unsigned int flags, real;
	uint64_t end;

	for (flags = 0; flags <= SYNCEVENT_WAIT_ALL; flags += SYNCEVENT_WAIT_ALL) {
		for (real = 0; real < 2; real++) {
			clockid_t clock = real ? CLOCK_REALTIME : CLOCK_MONOTONIC;

			end = se_now(clock) + 30000000;
			ASSERT_EQ(0, many_start(&self->m, MAX, flags |
						(real ? SYNCEVENT_WAIT_REALTIME : 0), end));
			ASSERT_EQ(-ETIMEDOUT, se_join(&self->m.t));
			ASSERT_LE(end, se_now(clock));
			ASSERT_TRUE(untouched(&self->m));
		}
	}
	/* 0 and the past are one look; the far future is none at all */
	ASSERT_EQ(-ETIMEDOUT, se_wait_many(self->m.e, MAX, 0, 0, NULL));
	ASSERT_EQ(-ETIMEDOUT, se_wait_many(self->m.e, MAX, 0, 1, NULL));
	ASSERT_EQ(0, many_start(&self->m, MAX, 0, SE_FOREVER - 1));
	ASSERT_TRUE(PARKED());
	ASSERT_EQ(0, se_set(self->fd[1], 1));
	ASSERT_EQ(0, se_join(&self->m.t));
	ASSERT_EQ(1, self->m.index);
}

/* What is wrong in the middle takes back what was done before it. */
TEST_F(many, unwinding)
{
	int bad[] = { -1, 1000000, eventfd(0, 0), se_dev(), se_queue(0), self->fd[50] };
	int want[] = { -EBADF, -EBADF, -EINVAL, -EINVAL, -EINVAL, -EIDRM };
	unsigned int i, k, all;

	ASSERT_EQ(0, se_revoke(self->fd[50]));
	self->m.e[50] = se_entry(self->fd[51], GT, 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (k = 0; k < MAX; k += 127 - 64) {
			for (all = 0; all <= SYNCEVENT_WAIT_ALL; all += SYNCEVENT_WAIT_ALL) {
				int fd = self->m.e[k].fd, e;

				self->m.e[k].fd = bad[i];
				ASSERT_EQ(want[i], se_wait_many(self->m.e, MAX, all,
								SE_FOREVER, &self->m.index));
				if (want[i] != -EIDRM) {
					self->m.n = MAX;
					ASSERT_TRUE(untouched(&self->m));
				} else {
					ASSERT_EQ(k, self->m.index);
					for (e = 0; e < MAX; e++) {
						self->m.e[e].value = SE_POISON64;
						self->m.e[e].status = (int32_t)SE_POISON32;
					}
				}
				for (e = 0; e < MAX; e++) {
					ASSERT_EQ(0, se_waiters(self->fd[e]));
				}
				self->m.e[k].fd = fd;
			}
		}
	}
	close(bad[2]);
	close(bad[4]);
}

/* An answer that cannot be written is EFAULT, with nothing left behind. */
TEST_F(many, entries_in_read_only_memory)
{
	struct syncevent_wait_entry *e = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	ASSERT_NE(MAP_FAILED, e);
	for (i = 0; i < 4; i++) {
		e[i] = se_entry(self->fd[i], GT, 0);
	}
	ASSERT_EQ(0, mprotect(e, 4096, PROT_READ));
	ASSERT_EQ(0, se_set(self->fd[2], 1));
	ASSERT_EQ(-EFAULT, se_wait_many(e, 4, 0, SE_FOREVER, NULL));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, se_waiters(self->fd[i]));
	}
	munmap(e, 4096);
}

TEST_HARNESS_MAIN
