// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * watch.c - what polls without the kernel provider: syncevent_poll_fd() and wait queues
 * on shm and on attr.addr, the thread behind them, and what comes through a fork
 *
 * Updates that the thread is to see are made by another handle than the one that is
 * watched, unless both are meant: a publisher may do the work of the thread. Most
 * cases run without the sleeper's safety net, see shm.h.
 */
#include "shm.h"

#include <syncevent/cell.h>

#define ALL	UINT64_MAX

static int readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) < 0 ? -errno : pfd.revents;
}

#define HANG_MS	(SE_HANG_S * 1000)

/* An event of whatever kind: on shm, or on @memory. */
static struct syncevent *make_on(uint64_t *memory, uint64_t value)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .value = value, .addr = memory };
	struct syncevent *ev = NULL;

	if (memory)
		*memory = value;
	return syncevent_create(&ev, &attr) ? NULL : ev;
}

static int add(struct syncevent_queue *q, struct syncevent *ev, enum syncevent_cond cond,
	       uint64_t operand, uint64_t cookie)
{
	return syncevent_queue_add(q, ev, cond, operand, ALL, cookie, SYNCEVENT_FOREVER);
}

static int reap(struct syncevent_queue *q, struct syncevent_done *done, unsigned int max)
{
	return syncevent_queue_reap(q, done, max, se_patience());
}

/* ---- poll --------------------------------------------------------------------------- */

/* The eventfd is a level, with what the value was and is, armed or not. */
static void check_level(struct __test_metadata *_metadata, uint64_t *memory)
{
	struct syncevent *ev = make_on(memory, 5), *other;
	uint64_t v;
	int fd;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, syncevent_set(other, 6));
	fd = syncevent_poll_fd(ev);
	ASSERT_LT(2, fd);
	ASSERT_EQ(fd, syncevent_poll_fd(ev));
	/* It was 5 when the handle was made. */
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	ASSERT_EQ(0, syncevent_read(ev, &v));
	ASSERT_EQ(6, v);
	ASSERT_EQ(0, readable(fd, 0));
	ASSERT_EQ(-EAGAIN, syncevent_read(ev, &v));
	ASSERT_EQ(0, syncevent_set(other, 5));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	/* Back, unseen: it comes to be not readable again. */
	ASSERT_EQ(0, syncevent_set(other, 6));
	ASSERT_TRUE(se_until(readable(fd, 0) == 0));

	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_GE, 10, ALL));
	ASSERT_EQ(0, syncevent_set(other, 9));
	ASSERT_EQ(-EAGAIN, syncevent_read(ev, &v));
	ASSERT_EQ(0, readable(fd, 0));
	ASSERT_EQ(0, syncevent_set(other, 10));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	ASSERT_EQ(0, syncevent_read(ev, &v));
	ASSERT_EQ(0, syncevent_read(ev, NULL));
	ASSERT_EQ(POLLIN, readable(fd, 0));
	ASSERT_EQ(0, syncevent_set(other, 3));
	ASSERT_TRUE(se_until(readable(fd, 0) == 0));
	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_EQ, 3, ALL));
	ASSERT_EQ(POLLIN, readable(fd, 0));
	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_EQ, 4, ALL));
	ASSERT_EQ(0, readable(fd, 0));
	/* 10 was read last. */
	ASSERT_EQ(0, syncevent_disarm(ev));
	ASSERT_EQ(POLLIN, readable(fd, 0));
	ASSERT_EQ(-EINVAL, syncevent_arm(ev, SYNCEVENT_LE + 1, 0, ALL));

	ASSERT_EQ(0, syncevent_read(ev, &v));
	ASSERT_EQ(0, readable(fd, 0));
	ASSERT_EQ(0, syncevent_revoke(other));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	ASSERT_EQ(-EIDRM, syncevent_read(ev, &v));
	ASSERT_EQ(-EIDRM, syncevent_arm(ev, SYNCEVENT_EQ, 4, ALL));
	ASSERT_EQ(-EIDRM, syncevent_disarm(ev));
	ASSERT_EQ(-EIDRM, syncevent_poll_fd(ev));
	ASSERT_EQ(POLLIN, readable(fd, 0));
	syncevent_close(other);
	syncevent_close(ev);
	ASSERT_EQ(-1, fcntl(fd, F_GETFD));
}

TEST(poll_is_a_level)
{
	never_recheck = true;
	check_level(_metadata, NULL);
}

TEST(poll_is_a_level_on_the_callers_memory)
{
	uint64_t memory;

	check_level(_metadata, &memory);
}

/* A condition that asks for less than the last one did, whose ring is over. */
TEST(arm_asks)
{
	struct syncevent *ev = make(0), *other;
	int fd;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_GE, 100, ALL));
	fd = syncevent_poll_fd(ev);
	ASSERT_EQ(0, syncevent_ring(other));
	se_sleep_ms(50);
	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_GE, 50, ALL));
	ASSERT_EQ(0, syncevent_set(other, 50));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	ASSERT_EQ(0, syncevent_read(ev, NULL));
	syncevent_close(other);
	syncevent_close(ev);
}

/* Who waits for edges hears of each update that is seen, and of a new condition. */
TEST(poll_has_edges)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct syncevent *ev = make(0), *other;
	int ep = epoll_create1(EPOLL_CLOEXEC);
	uint64_t i;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, syncevent_poll_fd(ev), &event));
	for (i = 1; i < 1000; i++) {
		ASSERT_EQ(0, syncevent_set(i % 2 ? ev : other, i));
		ASSERT_EQ(1, epoll_wait(ep, &event, 1, HANG_MS));
	}
	while (epoll_wait(ep, &event, 1, 10) == 1)
		;
	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_GE, 1, ALL));
	ASSERT_EQ(1, epoll_wait(ep, &event, 1, 0));
	ASSERT_EQ(0, syncevent_read(ev, NULL));
	ASSERT_EQ(0, epoll_wait(ep, &event, 1, 0));
	close(ep);
	syncevent_close(other);
	syncevent_close(ev);
}

struct lockstep {
	struct se_thread t;
	struct syncevent *ev;
	uint64_t go, rounds;
	int each;
};

/* So that two threads meet at another place each time. */
static void dawdle(uint64_t round)
{
	uint64_t n;

	for (n = round % 41 * 5; n; n--)
		syncevent_cell_pause();
}

/* So many updates each time that it is told to, as soon as it is. */
static int publish_fn(void *arg)
{
	struct lockstep *l = arg;
	unsigned int spins;
	uint64_t i;
	int k;

	for (i = 1; i <= l->rounds; i++) {
		/* On a busy machine it may wait for this very CPU. */
		for (spins = 1; __atomic_load_n(&l->go, __ATOMIC_ACQUIRE) < i; spins++)
			if (!(spins % 4096))
				sched_yield();
		dawdle(i / 41);
		for (k = 0; k < l->each; k++)
			if (syncevent_add(l->ev, 1, NULL))
				return -1;
	}
	return 0;
}

/* Of two updates one may come beside a read or a new condition: it is told, too. */
TEST(no_readiness_is_lost)
{
	struct syncevent *ev = make(0);
	struct lockstep l = { .rounds = se_times(20000), .each = 2 };
	uint64_t i, v;
	int fd, armed;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	fd = syncevent_poll_fd(ev);
	for (armed = 0; armed < 2; armed++) {
		l.go = 0;
		v = 0;
		ASSERT_EQ(0, syncevent_set(ev, 0));
		(void)syncevent_read(ev, NULL);
		ASSERT_EQ(0, syncevent_dup(&l.ev, ev, 0));
		ASSERT_EQ(0, se_start(&l.t, publish_fn, &l));
		for (i = 1; i <= l.rounds; i++) {
			__atomic_store_n(&l.go, i, __ATOMIC_RELEASE);
			dawdle(i);
			while (v != 2 * i) {
				if (armed)
					ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_NEQ, v, ALL));
				ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
				/* It may be announced once too often. */
				(void)syncevent_read(ev, &v);
			}
		}
		ASSERT_EQ(0, se_join(&l.t));
		syncevent_close(l.ev);
	}
	syncevent_close(ev);
}

/* ---- queues --------------------------------------------------------------------------- */

/* Whatever waits for whatever: what holds completes, once, and nothing else does. */
TEST(entries_of_every_kind)
{
	enum { ENTRIES = 300, VALUES = 12 };
	static const uint64_t masks[] = { ALL, ALL, ALL, 3, 6 };
	struct { enum syncevent_cond cond; uint64_t operand, mask; bool waits; } e[ENTRIES];
	static struct syncevent_done done[ENTRIES];
	struct syncevent *ev = make(0), *other;
	struct syncevent_queue *q;
	unsigned int round, i, seed = 1;
	uint64_t value = 0, seen;
	int n, wanted;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	memset(e, 0, sizeof(e));
	for (round = 0; round < se_times(3000); round++) {
		for (i = 0, wanted = 0; i < ENTRIES; i++) {
			if (!e[i].waits && !(rand_r(&seed) % 4)) {
				e[i].cond = (enum syncevent_cond)(rand_r(&seed) % 6);
				e[i].operand = (uint64_t)rand_r(&seed) % VALUES;
				if (!(rand_r(&seed) % 16))
					e[i].operand = -e[i].operand;
				e[i].mask = masks[rand_r(&seed) % 5];
				e[i].waits = true;
				ASSERT_EQ(0, syncevent_queue_add(q, ev, e[i].cond, e[i].operand,
								 e[i].mask, i, SYNCEVENT_FOREVER));
			} else if (e[i].waits && !(rand_r(&seed) % 50)) {
				/* At rest: it waits if and only if it does not hold. */
				ASSERT_EQ(look(ev, e[i].cond, e[i].operand, e[i].mask, NULL) ?
					  0 : -EALREADY, syncevent_queue_cancel(q, i));
				e[i].waits = !look(ev, e[i].cond, e[i].operand, e[i].mask, NULL);
			}
			wanted += e[i].waits && !look(ev, e[i].cond, e[i].operand, e[i].mask, NULL);
		}
		while (wanted) {
			n = reap(q, done, ENTRIES);
			ASSERT_LT(0, n);
			wanted -= n;
			while (n--) {
				i = (unsigned int)done[n].cookie;
				ASSERT_TRUE(i < ENTRIES && e[i].waits);
				ASSERT_EQ(0, done[n].status);
				ASSERT_EQ(value, done[n].value);
				ASSERT_EQ(0, look(ev, e[i].cond, e[i].operand, e[i].mask, &seen));
				e[i].waits = false;
			}
		}
		ASSERT_EQ(0, wanted);
		ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, ENTRIES, 0));
		value = (uint64_t)rand_r(&seed) % VALUES;
		if (!(rand_r(&seed) % 8))
			value = -value;
		ASSERT_EQ(0, syncevent_set(round % 2 ? ev : other, value));
		/* The next round counts what is done by this update, too. */
		for (i = 0, wanted = 0; i < ENTRIES; i++)
			wanted += e[i].waits && !look(ev, e[i].cond, e[i].operand, e[i].mask, NULL);
		for (; wanted; wanted -= n) {
			n = reap(q, done, ENTRIES);
			ASSERT_LT(0, n);
			for (i = 0; i < (unsigned int)n; i++) {
				ASSERT_TRUE(e[done[i].cookie].waits);
				ASSERT_EQ(value, done[i].value);
				e[done[i].cookie].waits = false;
			}
		}
	}
	syncevent_queue_close(q);
	syncevent_close(other);
	syncevent_close(ev);
}

/* Ten thousand, each with its threshold: each update completes its own. */
TEST(many_thresholds)
{
	enum { N = 10000 };
	struct syncevent *ev = make(0), *other;
	struct syncevent_done done[2];
	struct syncevent_queue *q;
	uint64_t i;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, 1 + i * 7919 % N, i * 7919 % N));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(0, syncevent_add(i % 2 ? ev : other, 1, NULL));
		ASSERT_EQ(1, reap(q, done, 2));
		ASSERT_EQ(i, done[0].cookie);
		ASSERT_EQ(i + 1, done[0].value);
	}
	syncevent_queue_close(q);
	syncevent_close(other);
	syncevent_close(ev);
}

/* While the thread sleeps on some events, others come. */
TEST(one_event_after_another)
{
	enum { N = 20 };
	struct syncevent *ev[N], *other;
	struct syncevent_done done;
	struct syncevent_queue *q;
	unsigned int i;

	never_recheck = true;
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i < N; i++) {
		ev[i] = make(0);
		ASSERT_NE(NULL, ev[i]);
		ASSERT_EQ(0, add(q, ev[i], SYNCEVENT_EQ, 2, N + i));
		se_sleep_ms(2);
		ASSERT_EQ(0, add(q, ev[i], SYNCEVENT_EQ, 1, i));
		ASSERT_EQ(0, syncevent_dup(&other, ev[i], 0));
		ASSERT_EQ(0, syncevent_set(other, 1));
		ASSERT_EQ(1, reap(q, &done, 1));
		ASSERT_EQ(i, done.cookie);
		syncevent_close(other);
	}
	syncevent_queue_close(q);
	for (i = 0; i < N; i++)
		syncevent_close(ev[i]);
}

/* More events than the thread can sleep on, some of the caller's memory among them. */
TEST(many_events)
{
	enum { N = 400 };
	struct syncevent *ev[N], *other[N];
	static uint64_t memory[N];
	struct syncevent_done done;
	struct syncevent_queue *q;
	unsigned int i;

	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i < N; i++) {
		ev[i] = make_on(i % 8 ? NULL : &memory[i], 0);
		ASSERT_NE(NULL, ev[i]);
		ASSERT_EQ(0, syncevent_dup(&other[i], ev[i], 0));
		ASSERT_EQ(0, add(q, ev[i], SYNCEVENT_GE, 1, i));
	}
	for (i = 0; i < N; i++) {
		unsigned int k = i * 7 % N;

		if (k % 8) {
			ASSERT_EQ(0, syncevent_set(other[k], 1));
		} else {
			__atomic_store_n(&memory[k], 1, __ATOMIC_RELEASE);
		}
		ASSERT_EQ(1, reap(q, &done, 1));
		ASSERT_EQ(k, done.cookie);
		ASSERT_EQ(0, done.status);
	}
	for (i = 0; i < N; i++) {
		syncevent_close(other[i]);
		syncevent_close(ev[i]);
	}
	syncevent_queue_close(q);
}

/*
 * More than it can sleep on, all there when it wakes from a sleep with nothing to
 * watch: it runs only when nothing else does, so it is slower than who adds them.
 */
TEST(many_events_at_once)
{
	const struct sched_param param = { 0 };
	enum { N = 200 };
	struct syncevent *ev[N], *other[N];
	struct syncevent_done done;
	struct syncevent_queue *q;
	cpu_set_t before, one;
	unsigned int i;

	for (i = 0; i < N; i++) {
		ev[i] = make_on(NULL, 0);
		ASSERT_NE(NULL, ev[i]);
		ASSERT_EQ(0, syncevent_dup(&other[i], ev[i], 0));
	}
	/* The thread inherits both. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_IDLE, &param));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &param));
	se_sleep_ms(200);
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, add(q, ev[i], SYNCEVENT_GE, 1, i));
	se_sleep_ms(200);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(before), &before));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(0, syncevent_set(other[i], 1));
		ASSERT_EQ(1, reap(q, &done, 1));
		ASSERT_EQ(i, done.cookie);
		syncevent_close(other[i]);
		syncevent_close(ev[i]);
	}
	syncevent_queue_close(q);
}

/* A cancel and an update: either it is taken back, or there is one completion. */
TEST(cancel_or_complete)
{
	struct syncevent *ev = make(0);
	struct lockstep l = { .rounds = se_times(20000), .each = 1 };
	struct syncevent_done done;
	struct syncevent_queue *q;
	uint64_t i, value, cancelled = 0;
	int ret;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, syncevent_dup(&l.ev, ev, 0));
	ASSERT_EQ(0, se_start(&l.t, publish_fn, &l));
	for (i = 1; i <= l.rounds; i++) {
		ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, i, 1));
		__atomic_store_n(&l.go, i, __ATOMIC_RELEASE);
		dawdle(i);
		/* Before the update, or between it and the completion, or after both. */
		while (i % 4 && !syncevent_get(ev, &value) && value < i)
			;
		ret = syncevent_queue_cancel(q, 1);
		if (ret) {
			ASSERT_EQ(-EALREADY, ret);
			ASSERT_EQ(1, syncevent_queue_reap(q, &done, 1, 0));
			ASSERT_EQ(1, done.cookie);
		} else {
			cancelled++;
		}
		ASSERT_EQ(-ENOENT, syncevent_queue_cancel(q, 1));
		ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, &done, 1, 0));
		/* It counts to i before the next. */
		ASSERT_EQ(0, syncevent_wait(ev, SYNCEVENT_GE, i, ALL, NULL, NULL));
	}
	ASSERT_EQ(0, se_join(&l.t));
	TH_LOG("%llu of %llu were cancelled", (unsigned long long)cancelled,
	       (unsigned long long)l.rounds);
	syncevent_queue_close(q);
	syncevent_close(l.ev);
	syncevent_close(ev);
}

/* Added beside its update, an entry completes at once or soon. */
TEST(add_beside_an_update)
{
	struct syncevent *ev = make(0);
	struct lockstep l = { .rounds = se_times(20000), .each = 1 };
	struct syncevent_done done;
	struct syncevent_queue *q;
	uint64_t i;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, syncevent_dup(&l.ev, ev, 0));
	ASSERT_EQ(0, se_start(&l.t, publish_fn, &l));
	for (i = 1; i <= l.rounds; i++) {
		__atomic_store_n(&l.go, i, __ATOMIC_RELEASE);
		dawdle(i);
		ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, i, i));
		ASSERT_EQ(1, reap(q, &done, 1));
		ASSERT_EQ(i, done.cookie);
		ASSERT_EQ(i, done.value);
	}
	ASSERT_EQ(0, se_join(&l.t));
	syncevent_queue_close(q);
	syncevent_close(l.ev);
	syncevent_close(ev);
}

struct reapers {
	struct se_thread t;
	struct syncevent_queue *q;
	struct syncevent *ev;
	unsigned char *times;
	uint64_t *left;
};

/* What is reaped is added again under its cookie, which is free from then on. */
static int reap_fn(void *arg)
{
	struct reapers *r = arg;
	struct syncevent_done done[3];
	int i, n, end = 0;

	for (;;) {
		n = reap(r->q, done, 3);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (done[i].status) {
				/* One of these is for each of the reapers. */
				if (end++)
					syncevent_queue_add(r->q, r->ev, SYNCEVENT_LT, 0, ALL,
							    done[i].cookie, 0);
				continue;
			}
			__atomic_fetch_add(&r->times[done[i].value], 1, __ATOMIC_RELAXED);
			__atomic_fetch_sub(r->left, 1, __ATOMIC_RELEASE);
			if (add(r->q, r->ev, SYNCEVENT_GT, done[i].value, done[i].cookie))
				return -EPROTO;
		}
		if (end)
			return 0;
	}
}

TEST(reapers_share)
{
	enum { COOKIES = 4, REAPERS = 3 };
	const unsigned int rounds = se_times(2000);
	struct syncevent *ev = make(0), *end = make(0), *other;
	unsigned char *times = calloc(rounds + 1, 1);
	struct reapers r[REAPERS];
	struct syncevent_queue *q;
	uint64_t left = 0;
	unsigned int i, k;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i < REAPERS; i++)
		ASSERT_EQ(0, add(q, end, SYNCEVENT_EQ, 1, 100 + i));
	for (i = 0; i < COOKIES; i++)
		ASSERT_EQ(0, add(q, ev, SYNCEVENT_GT, 0, i));
	for (k = 0; k < REAPERS; k++) {
		r[k] = (struct reapers){ .q = q, .ev = ev, .times = times, .left = &left };
		ASSERT_EQ(0, se_start(&r[k].t, reap_fn, &r[k]));
	}
	for (i = 1; i <= rounds; i++) {
		__atomic_store_n(&left, COOKIES, __ATOMIC_RELEASE);
		ASSERT_EQ(0, syncevent_set(i % 2 ? other : ev, i));
		ASSERT_TRUE(se_until(!__atomic_load_n(&left, __ATOMIC_ACQUIRE) ||
				     se_is_done(&r[0].t)));
		ASSERT_EQ(0, __atomic_load_n(&left, __ATOMIC_RELAXED));
		ASSERT_EQ(COOKIES, __atomic_load_n(&times[i], __ATOMIC_RELAXED));
	}
	ASSERT_EQ(0, syncevent_revoke(end));
	for (k = 0; k < REAPERS; k++)
		ASSERT_EQ(0, se_join(&r[k].t));
	syncevent_queue_close(q);
	syncevent_close(other);
	syncevent_close(end);
	syncevent_close(ev);
	free(times);
}

/* Edges: who reaps nothing hears of the next completion all the same. */
TEST(queue_fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct syncevent *ev = make(0), *other;
	int ep = epoll_create1(EPOLL_CLOEXEC), fd;
	struct syncevent_done done[8];
	struct syncevent_queue *q;
	uint64_t i;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	fd = syncevent_queue_fd(q);
	ASSERT_EQ(0, readable(fd, 0));
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, add(q, ev, SYNCEVENT_GT, i, i));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, epoll_wait(ep, &event, 1, 0));
		ASSERT_EQ(0, syncevent_add(i % 2 ? ev : other, 1, NULL));
		ASSERT_EQ(1, epoll_wait(ep, &event, 1, HANG_MS));
	}
	ASSERT_EQ(POLLIN, readable(fd, 0));
	ASSERT_EQ(3, syncevent_queue_reap(q, done, 3, 0));
	ASSERT_EQ(POLLIN, readable(fd, 0));
	ASSERT_EQ(1, syncevent_queue_reap(q, done, 3, 0));
	ASSERT_EQ(0, readable(fd, 0));
	syncevent_queue_close(q);
	ASSERT_EQ(-1, fcntl(fd, F_GETFD));
	close(ep);
	syncevent_close(other);
	syncevent_close(ev);
}

TEST_HARNESS_MAIN
