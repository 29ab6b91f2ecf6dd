// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Wait queues: every entry has exactly one outcome, whatever adds, cancels,
 * updates, times out, revokes and reads at the same time.
 */
#include "team.h"

FIXTURE(queue) {
	int fd;
	int q;
	struct syncevent_completion done[64];
};

FIXTURE_SETUP(queue)
{
	ASSERT_LE(0, se_dev());
	self->fd = se_create(0);
	ASSERT_LE(0, self->fd);
	self->q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	ASSERT_LE(0, self->q);
}

FIXTURE_TEARDOWN(queue)
{
}

static int add_gt(int q, int fd, uint64_t operand, uint64_t cookie)
{
	return se_queue_add(q, fd, SYNCEVENT_COND_GT, operand, cookie, SE_FOREVER);
}

/* ---- one at a time --------------------------------------------------------------- */

TEST_F(queue, completes_once)
{
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 11));
	EXPECT_EQ(1, se_waiters(self->fd));
	EXPECT_EQ(-EAGAIN, se_reap(self->q, self->done, 4));
	ASSERT_EQ(0, se_set(self->fd, 5));
	ASSERT_EQ(0, se_set(self->fd, 6));
	EXPECT_EQ(0, se_waiters(self->fd));
	ASSERT_EQ(1, se_reap(self->q, self->done, 4));
	EXPECT_EQ(11, self->done[0].cookie);
	EXPECT_EQ(5, self->done[0].value);
	EXPECT_EQ(0, self->done[0].status);
	EXPECT_EQ(0, self->done[0].reserved);
	EXPECT_EQ(-EAGAIN, se_reap(self->q, self->done, 4));
}

TEST_F(queue, already_satisfied_completes_at_once)
{
	ASSERT_EQ(0, se_set(self->fd, 3));
	ASSERT_EQ(0, add_gt(self->q, self->fd, 2, 1));
	ASSERT_EQ(1, se_reap(self->q, self->done, 4));
	EXPECT_EQ(3, self->done[0].value);
	EXPECT_EQ(0, self->done[0].status);
}

TEST_F(queue, cookie_is_unique_until_read)
{
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 1));
	EXPECT_EQ(-EEXIST, add_gt(self->q, self->fd, 0, 1));
	EXPECT_EQ(-EEXIST, add_gt(self->q, self->fd, 77, 1));
	ASSERT_EQ(0, se_set(self->fd, 1));
	/* Completed, but not read. */
	EXPECT_EQ(-EEXIST, add_gt(self->q, self->fd, 0, 1));
	ASSERT_EQ(1, se_reap(self->q, self->done, 4));
	EXPECT_EQ(0, add_gt(self->q, self->fd, 0, 1));
	ASSERT_EQ(1, se_reap(self->q, self->done, 4));
	/* Cancelled is free as well. */
	ASSERT_EQ(0, add_gt(self->q, self->fd, 100, 1));
	ASSERT_EQ(0, se_queue_cancel(self->q, 1));
	EXPECT_EQ(0, add_gt(self->q, self->fd, 100, 1));
	/* Another queue has its own. */
	EXPECT_EQ(0, add_gt(se_queue(0), self->fd, 100, 1));
}

TEST_F(queue, cookies_are_any_number)
{
	static const uint64_t cookie[] = { 0, 1, SE_MAX, SE_MAX - 1, 1ULL << 63, 1ULL << 32 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cookie); i++)
		ASSERT_EQ(0, add_gt(self->q, self->fd, 100, cookie[i]));
	for (i = 0; i < ARRAY_SIZE(cookie); i++) {
		EXPECT_EQ(-EEXIST, add_gt(self->q, self->fd, 100, cookie[i]));
		EXPECT_EQ(0, se_queue_cancel(self->q, cookie[i]));
		EXPECT_EQ(-ENOENT, se_queue_cancel(self->q, cookie[i]));
	}
	EXPECT_EQ(0, se_waiters(self->fd));
}

TEST_F(queue, cancel_tells_what_happened)
{
	EXPECT_EQ(-ENOENT, se_queue_cancel(self->q, 1));
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 1));
	EXPECT_EQ(0, se_queue_cancel(self->q, 1));
	EXPECT_EQ(-ENOENT, se_queue_cancel(self->q, 1));
	ASSERT_EQ(0, se_set(self->fd, 1));
	EXPECT_EQ(-EAGAIN, se_reap(self->q, self->done, 4));
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 2));
	EXPECT_EQ(-EALREADY, se_queue_cancel(self->q, 2));
	ASSERT_EQ(1, se_reap(self->q, self->done, 4));
	EXPECT_EQ(2, self->done[0].cookie);
	EXPECT_EQ(-ENOENT, se_queue_cancel(self->q, 2));
}

TEST_F(queue, completions_come_in_the_order_of_completing)
{
	static const uint64_t order[] = { 3, 0, 4, 1, 2 };
	unsigned int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_EQ, 10 + i, i,
					  SE_FOREVER));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, se_set(self->fd, 10 + order[i]));
	ASSERT_EQ(5, se_reap(self->q, self->done, 64));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(order[i], self->done[i].cookie);
		EXPECT_EQ(10 + order[i], self->done[i].value);
	}
}

TEST_F(queue, deadline_completes_it)
{
	ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_GT, 0, 1, se_in_ms(5)));
	ASSERT_TRUE(se_until(se_reap(self->q, self->done, 4) == 1));
	EXPECT_EQ(1, self->done[0].cookie);
	EXPECT_EQ(-ETIMEDOUT, self->done[0].status);
	EXPECT_EQ(0, se_waiters(self->fd));
	ASSERT_EQ(0, se_set(self->fd, 1));
	EXPECT_EQ(-EAGAIN, se_reap(self->q, self->done, 4));
}

TEST_F(queue, deadline_in_the_past_looks_once)
{
	ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_GT, 0, 1, 0));
	ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_GT, 0, 2, 1));
	ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_EQ, 0, 3, 0));
	ASSERT_TRUE(se_until(se_poll(self->q, 0) & POLLIN));
	ASSERT_EQ(3, se_reap(self->q, self->done, 4));
	EXPECT_EQ(-ETIMEDOUT, self->done[0].status);
	EXPECT_EQ(-ETIMEDOUT, self->done[1].status);
	EXPECT_EQ(0, self->done[2].status);
	EXPECT_EQ(-ENOENT, se_queue_cancel(self->q, 1));
	EXPECT_EQ(0, se_waiters(self->fd));
}

TEST_F(queue, deadlines_beyond_all_time_never_come)
{
	static const uint64_t never[] = {
		SE_MAX, SE_MAX - 1, 1ULL << 63, (1ULL << 63) + 1, INT64_MAX, INT64_MAX - 1,
	};
	struct syncevent_queue_add add = {
		.operand = 0, .mask = SE_ALL, .fd = self->fd, .cond = SYNCEVENT_COND_GT,
	};
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(never); i++) {
		add.cookie = i;
		add.deadline = never[i / 2];
		add.flags = i % 2 ? SYNCEVENT_WAIT_REALTIME : 0;
		ASSERT_EQ(0, se_ioctl(self->q, SYNCEVENT_IOC_QUEUE_ADD, &add));
	}
	EXPECT_EQ(2 * ARRAY_SIZE(never), se_waiters(self->fd));
	se_sleep_ms(20);
	EXPECT_EQ(-EAGAIN, se_reap(self->q, self->done, 64));
	ASSERT_EQ(0, se_set(self->fd, 1));
	EXPECT_EQ(2 * ARRAY_SIZE(never), se_reap(self->q, self->done, 64));
	for (i = 0; i < 2 * ARRAY_SIZE(never); i++)
		EXPECT_EQ(0, self->done[i].status);
}

TEST_F(queue, event_that_ends_completes_its_entries)
{
	int other = se_create(0);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 1));
	ASSERT_EQ(0, add_gt(self->q, other, 0, 2));
	ASSERT_EQ(0, add_gt(self->q, self->fd, 9, 3));
	/* Entries hold no file: with this one the event ends. */
	ASSERT_EQ(0, close(self->fd));
	ASSERT_TRUE(se_until(se_poll(self->q, 0) & POLLIN));
	ASSERT_EQ(2, se_reap(self->q, self->done, 4));
	EXPECT_EQ(4, self->done[0].cookie + self->done[1].cookie);
	EXPECT_EQ(-EIDRM, self->done[0].status);
	EXPECT_EQ(-EIDRM, self->done[1].status);
	ASSERT_EQ(0, se_revoke(other));
	ASSERT_EQ(1, se_reap(self->q, self->done, 4));
	EXPECT_EQ(2, self->done[0].cookie);
	EXPECT_EQ(-EIDRM, self->done[0].status);
	EXPECT_EQ(-EIDRM, add_gt(self->q, other, 0, 2));
}

TEST_F(queue, completion_outlives_its_event)
{
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 1));
	ASSERT_EQ(0, se_set(self->fd, 4));
	ASSERT_EQ(0, add_gt(self->q, self->fd, 0, 2));
	ASSERT_EQ(0, close(self->fd));
	/* This looks at the entry under the lock of its event. */
	EXPECT_EQ(-EALREADY, se_queue_cancel(self->q, 1));
	ASSERT_EQ(2, se_reap(self->q, self->done, 4));
	EXPECT_EQ(0, self->done[0].status);
	EXPECT_EQ(4, self->done[0].value);
}

TEST_F(queue, closing_drops_its_entries)
{
	struct syncevent_dev_info before, after;
	unsigned int i;

	ASSERT_EQ(0, se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &before));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, add_gt(self->q, self->fd, i, i));
	ASSERT_EQ(0, se_set(self->fd, 50));
	EXPECT_EQ(50, se_waiters(self->fd));
	ASSERT_EQ(0, se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &after));
	EXPECT_EQ(before.entries + 100, after.entries);
	ASSERT_EQ(0, close(self->q));
	EXPECT_TRUE(se_until_waiters(self->fd, 0));
	EXPECT_TRUE(se_until(!se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &after) &&
			     after.entries == before.entries));
	EXPECT_EQ(0, se_set(self->fd, 1000));
}

TEST_F(queue, polls_readable_while_one_is_queued)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i;

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->q, &event));
	EXPECT_EQ(0, se_poll(self->q, 0));
	EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, add_gt(self->q, self->fd, i, i));
	EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
	ASSERT_EQ(0, se_set(self->fd, 3));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(POLLIN | POLLRDNORM, se_poll(self->q, 0));
		EXPECT_EQ(1, epoll_wait(ep, &event, 1, -1));
		EXPECT_EQ(EPOLLIN, event.events);
		ASSERT_EQ(1, se_reap(self->q, self->done, 1));
	}
	EXPECT_EQ(0, se_poll(self->q, 0));
	EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
}

/* ---- reading -------------------------------------------------------------------------- */

static void complete(int q, int fd, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		se_queue_add(q, fd, SYNCEVENT_COND_GE, 0, i, SE_FOREVER);
}

TEST_F(queue, reads_whole_records_that_fit)
{
	const size_t record = sizeof(struct syncevent_completion);
	char *buffer = (char *)self->done;
	unsigned int size;

	complete(self->q, self->fd, 5);
	for (size = 0; size < record; size++) {
		ASSERT_EQ(-1, read(self->q, buffer, size));
		ASSERT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(record, read(self->q, buffer, 2 * record - 1));
	EXPECT_EQ(2 * record, read(self->q, buffer, 2 * record));
	EXPECT_EQ(1, self->done[0].cookie);
	EXPECT_EQ(2, self->done[1].cookie);
	EXPECT_EQ(2 * record, read(self->q, buffer, sizeof(self->done)));
	EXPECT_EQ(3, self->done[0].cookie);
	EXPECT_EQ(-1, read(self->q, buffer, sizeof(self->done)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(-1, write(self->q, buffer, record));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(queue, read_into_bad_memory_loses_nothing)
{
	const size_t record = sizeof(struct syncevent_completion);
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i, cut;
	ssize_t n;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	complete(self->q, self->fd, 4);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(-1, read(self->q, page + 4096, 4 * record));
		ASSERT_EQ(EFAULT, errno);
		ASSERT_EQ(-1, read(self->q, page + 5000, record));
		ASSERT_EQ(EFAULT, errno);
	}
	/* The memory ends inside the first record. */
	for (cut = 1; cut < record; cut++) {
		ASSERT_EQ(-1, read(self->q, page + 4096 - cut, 4 * record));
		ASSERT_EQ(EFAULT, errno);
	}
	/* Inside the second: the first one is had, the second stays. */
	n = read(self->q, page + 4096 - record - 9, 4 * record);
	ASSERT_EQ(record, n);
	memcpy(self->done, page + 4096 - record - 9, record);
	EXPECT_EQ(0, self->done[0].cookie);
	ASSERT_EQ(3, se_reap(self->q, self->done, 64));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i + 1, self->done[i].cookie);
}

struct reader {
	struct se_thread t;
	int q;
	struct syncevent_completion done[8];
};

static int read_one(void *arg)
{
	struct reader *r = arg;

	return se_reap(r->q, r->done, 1);
}

TEST_F(queue, closed_under_a_reader_it_stays_until_the_read_ends)
{
	struct reader r = { .q = se_queue(0) };

	ASSERT_LE(0, r.q);
	ASSERT_EQ(0, add_gt(r.q, self->fd, 0, 8));
	ASSERT_EQ(0, add_gt(r.q, self->fd, 100, 9));
	ASSERT_EQ(0, se_start(&r.t, read_one, &r));
	ASSERT_TRUE(se_until_sleeps_in(&r.t, SYS_read));
	ASSERT_EQ(0, close(r.q));
	EXPECT_EQ(2, se_waiters(self->fd));
	ASSERT_EQ(0, se_set(self->fd, 1));
	EXPECT_EQ(1, se_join(&r.t));
	EXPECT_EQ(8, r.done[0].cookie);
	EXPECT_TRUE(se_until_waiters(self->fd, 0));
}

TEST_F(queue, read_of_an_empty_queue_waits_for_an_entry)
{
	struct reader r = { .q = se_queue(0) };

	ASSERT_EQ(0, se_start(&r.t, read_one, &r));
	ASSERT_TRUE(se_until_sleeps_in(&r.t, SYS_read));
	ASSERT_EQ(0, se_queue_add(r.q, self->fd, SYNCEVENT_COND_EQ, 0, 3, SE_FOREVER));
	EXPECT_EQ(1, se_join(&r.t));
	EXPECT_EQ(3, r.done[0].cookie);
}

/* Several readers: each completion has one of them, and none sleeps beside one. */
struct readers {
	struct team team;
	int q;
	unsigned int target;
	unsigned int got;
	unsigned char seen[100000];
};

static int read_until_all(struct member *m)
{
	struct readers *r = m->team->arg;
	struct syncevent_completion done[3];
	int n, i;

	while (__atomic_load_n(&r->got, __ATOMIC_RELAXED) < r->target) {
		n = se_reap(r->q, done, 1 + m->index % 3);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (done[i].cookie == SE_MAX)
				return 0;
			if (done[i].cookie >= r->target || done[i].status ||
			    __atomic_fetch_add(&r->seen[done[i].cookie], 1, __ATOMIC_RELAXED))
				return -EPROTO;
			__atomic_fetch_add(&r->got, 1, __ATOMIC_RELAXED);
		}
	}
	return 0;
}

TEST_F(queue, readers_share_the_completions)
{
	static struct readers r;
	unsigned int i;

	r.q = se_queue(0);
	ASSERT_LE(0, r.q);
	r.target = se_times(20000);
	ASSERT_EQ(0, team_start(&r.team, 3, read_until_all, &r));
	team_go(&r.team);
	for (i = 0; i < r.target; i++) {
		ASSERT_EQ(0, add_gt(r.q, self->fd, i, i));
		ASSERT_EQ(0, se_set(self->fd, i + 1));
	}
	ASSERT_TRUE(se_until(__atomic_load_n(&r.got, __ATOMIC_RELAXED) == r.target));
	/* Whoever still sleeps in read is let go, one by one. */
	while (__atomic_load_n(&r.team.done, __ATOMIC_ACQUIRE) < r.team.n) {
		int ret = se_queue_add(r.q, self->fd, SYNCEVENT_COND_GE, 0, SE_MAX, SE_FOREVER);

		ASSERT_TRUE(ret == 0 || ret == -EEXIST);
		se_sleep_ms(1);
	}
	for (i = 0; i < r.team.n; i++)
		EXPECT_EQ(0, r.team.member[i].result);
	EXPECT_TRUE(team_end(&r.team));
	EXPECT_EQ(0, se_waiters(self->fd));
}

/* ---- many ------------------------------------------------------------------------------ */

TEST_F(queue, ten_thousand_thresholds_on_one_event)
{
	const unsigned int n = 10000;
	unsigned char *seen = calloc(n, 1);
	uint64_t wakes = se_wakes(self->fd), value = 0;
	unsigned int i, got = 0;
	int k;

	/* In an order that is neither sorted nor reverse. */
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, add_gt(self->q, self->fd, i * 7919U % n, i * 7919U % n));
	ASSERT_EQ(n, se_waiters(self->fd));
	for (value = 1; value <= n; value += 1 + value / 8) {
		ASSERT_EQ(0, se_set(self->fd, value));
		ASSERT_EQ(wakes + value, se_wakes(self->fd));
		ASSERT_EQ(n - value, se_waiters(self->fd));
		while ((k = se_reap(self->q, self->done, 64)) > 0) {
			for (; k; k--, got++) {
				ASSERT_EQ(0, self->done[k - 1].status);
				ASSERT_EQ(value, self->done[k - 1].value);
				ASSERT_GT(value, self->done[k - 1].cookie);
				ASSERT_EQ(0, seen[self->done[k - 1].cookie]++);
			}
		}
		ASSERT_EQ(-EAGAIN, k);
		ASSERT_EQ(value, got);
	}
	ASSERT_EQ(0, se_set(self->fd, n));
	EXPECT_EQ(wakes + n, se_wakes(self->fd));
	EXPECT_EQ(0, se_waiters(self->fd));
	free(seen);
}

/* ---- races: exactly one outcome --------------------------------------------------------- */

enum deadline { NEVER, SOON, RANDOM };

/* One cookie at a time goes through add, cancel, update, deadline and read. */
struct outcomes {
	struct team team;
	int q;
	int fd;
	bool revoke;
	uint64_t cookie;
	int cancel;
	struct syncevent_completion seen;
	unsigned int completions;
};

static int cancel_it(struct outcomes *o, struct member *m)
{
	se_dawdle(&m->random, 3000);
	o->cancel = se_queue_cancel(o->q, o->cookie);
	return 0;
}

static int update_it(struct outcomes *o, struct member *m)
{
	se_dawdle(&m->random, 3000);
	return o->revoke ? se_revoke(o->fd) : se_add(o->fd, 1, NULL);
}

static int read_it(struct outcomes *o, struct member *m)
{
	struct syncevent_completion done[2];
	int n;

	se_dawdle(&m->random, 3000);
	n = se_reap(o->q, done, 2);
	if (n == -EAGAIN)
		return 0;
	o->seen = done[0];
	o->completions += (unsigned int)n;
	return n == 1 ? 0 : -EPROTO;
}

static int race_once(struct member *m)
{
	struct outcomes *o = m->team->arg;

	return m->index == 0 ? cancel_it(o, m) :
	       m->index == 1 ? update_it(o, m) : read_it(o, m);
}

FIXTURE(race) {
	uint64_t random;
	int64_t entries;
};

FIXTURE_VARIANT(race) {
	enum deadline deadline;
	bool revoke;
};

FIXTURE_VARIANT_ADD(race, update) { .deadline = NEVER };
FIXTURE_VARIANT_ADD(race, update_and_deadline) { .deadline = RANDOM };
FIXTURE_VARIANT_ADD(race, deadline_at_once) { .deadline = SOON };
FIXTURE_VARIANT_ADD(race, revoke_and_deadline) { .deadline = RANDOM, .revoke = true };

static int64_t entries(void)
{
	struct syncevent_dev_info info;
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &info);

	return ret < 0 ? ret : (int64_t)info.entries;
}

FIXTURE_SETUP(race)
{
	ASSERT_LE(0, se_dev());
	self->random = 521288629;
	self->entries = entries();
	ASSERT_LE(0, self->entries);
}

FIXTURE_TEARDOWN(race)
{
}

TEST_F(race, each_entry_has_one_outcome)
{
	const unsigned int rounds = se_times(10000);
	unsigned int cancelled = 0, timed_out = 0, round;
	struct syncevent_completion done;
	static struct outcomes o;
	int ret, i;

	memset(&o, 0, sizeof(o));
	o.q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	ASSERT_LE(0, o.q);
	o.revoke = variant->revoke;
	ASSERT_EQ(0, team_start(&o.team, 3, race_once, &o));
	for (round = 0; round < rounds; round++) {
		uint64_t deadline = SE_FOREVER;

		if (round == 0 || o.revoke) {
			o.fd = se_create(0);
			ASSERT_LE(0, o.fd);
		}
		if (variant->deadline == SOON)
			deadline = se_now(CLOCK_MONOTONIC) + 1;
		else if (variant->deadline == RANDOM && round % 4)
			deadline = se_now(CLOCK_MONOTONIC) + se_random(&self->random) % 200000;
		o.cookie = se_random(&self->random);
		o.completions = 0;
		ASSERT_EQ(0, se_queue_add(o.q, o.fd, SYNCEVENT_COND_GT, o.revoke ? 0 : round,
					  o.cookie, deadline));
		team_go(&o.team);
		ASSERT_TRUE(team_done(&o.team));
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, o.team.member[i].result);
		ASSERT_TRUE(o.cancel == 0 || o.cancel == -EALREADY || o.cancel == -ENOENT);
		if (o.cancel && !o.completions) {
			ASSERT_TRUE(se_until(se_reap(o.q, &o.seen, 1) == 1));
			o.completions++;
		}
		ASSERT_EQ(1, o.completions + (o.cancel == 0));
		/* And nothing more follows. */
		ASSERT_EQ(-EAGAIN, se_reap(o.q, &done, 1));
		ASSERT_EQ(-ENOENT, se_queue_cancel(o.q, o.cookie));
		if (o.completions) {
			ret = o.seen.status;
			ASSERT_EQ(o.cookie, o.seen.cookie);
			ASSERT_TRUE(ret == (o.revoke ? -EIDRM : 0) ||
				    (ret == -ETIMEDOUT && variant->deadline != NEVER));
			timed_out += ret == -ETIMEDOUT;
			ASSERT_TRUE(ret || o.seen.value == round + 1);
		}
		cancelled += o.cancel == 0;
		if (o.revoke) {
			ASSERT_EQ(0, se_waiters(o.fd));
			ASSERT_EQ(0, close(o.fd));
		}
	}
	TH_LOG("of %u: %u cancelled, %u timed out", rounds, cancelled, timed_out);
	EXPECT_TRUE(team_end(&o.team));
	EXPECT_TRUE(se_until(entries() == self->entries));
}

TEST_HARNESS_MAIN
