// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * crowd.c - many waiters, each with its own threshold
 *
 * Each update satisfies exactly one of them, in no order that a queue would have.
 * That one answers, and waits for its next threshold, as many updates later as
 * there are waiters; the publisher sleeps until the answer is there. What the
 * others do that were woken for nothing takes the CPUs from these two: it is
 * part of the time of an update. Nothing is pinned.
 *
 * On one futex, or with one eventfd in an edge-triggered epoll for each waiter,
 * all of them wake up and look. (A futex or eventfd for each waiter would wake
 * one, but then the publisher has to know the thresholds of all.)
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STACK		32768
#define STEP		7919	/* prime, so that it visits all of any 10^n waiters */
#define COUNTED		100	/* updates for which wake-ups are counted */

struct crowd;

struct member {
	struct crowd *crowd;
	pthread_t thread;
	uint64_t next;
	int set;
};

/**
 * struct crowd_ops - what the crowd waits on
 * @open: Return: 0 or a negative errno
 * @publish: make the value one more
 * @wait: sleep until the value is at least m->next, or the end. Return: 0 or error
 * @end: have all waits return
 */
struct crowd_ops {
	int (*open)(struct crowd *c);
	int (*publish)(struct crowd *c);
	int (*wait)(struct member *m);
	void (*end)(struct crowd *c);
	void (*close)(struct crowd *c);
};

struct crowd {
	const struct crowd_ops *ops;
	unsigned int n;
	struct member *member;
	struct syncevent *ev;
	uint64_t value;
	uint32_t word;
	int fd;
	uint32_t answer;
	uint32_t ready;
	bool stop;
};

static bool stopped(const struct crowd *c)
{
	return __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
}

/* ---- on an event --------------------------------------------------------------- */

static int event_open(struct crowd *c)
{
	return syncevent_create(&c->ev, NULL);
}

static int event_publish(struct crowd *c)
{
	return syncevent_add(c->ev, 1, NULL);
}

static int event_wait(struct member *m)
{
	static const struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.deadline = SYNCEVENT_FOREVER,
		.how = SYNCEVENT_BLOCK,
	};

	return syncevent_wait(m->crowd->ev, SYNCEVENT_GE, m->next, UINT64_MAX, &opts, NULL);
}

static void event_end(struct crowd *c)
{
	if (syncevent_revoke(c->ev))
		die("syncevent_revoke", EIO);
}

static void event_close(struct crowd *c)
{
	syncevent_close(c->ev);
}

static const struct crowd_ops event_ops = {
	event_open, event_publish, event_wait, event_end, event_close,
};

/* ---- on a futex ------------------------------------------------------------------ */

static int futex_open(struct crowd *c)
{
	(void)c;
	return 0;
}

/* The low half of the counter is the word: it changes with every update. */
static int futex_publish(struct crowd *c)
{
	__atomic_fetch_add(&c->word, 1, __ATOMIC_SEQ_CST);
	futex(&c->word, FUTEX_WAKE, INT_MAX);
	return 0;
}

static int futex_wait(struct member *m)
{
	struct crowd *c = m->crowd;
	uint32_t seen;

	for (;;) {
		seen = __atomic_load_n(&c->word, __ATOMIC_ACQUIRE);
		if (seen >= m->next || stopped(c))
			return 0;
		futex(&c->word, FUTEX_WAIT, seen);
	}
}

static void futex_end(struct crowd *c)
{
	futex_publish(c);
}

static void futex_close(struct crowd *c)
{
	(void)c;
}

static const struct crowd_ops futex_ops = {
	futex_open, futex_publish, futex_wait, futex_end, futex_close,
};

/* ---- on an eventfd ------------------------------------------------------------------ */

static void eventfd_close(struct crowd *c)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->member[i].set >= 0)
			close(c->member[i].set);
	if (c->fd >= 0)
		close(c->fd);
}

static int eventfd_open(struct crowd *c)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	unsigned int i;
	int err;

	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (i = 0; i < c->n; i++)
		c->member[i].set = -1;
	for (i = 0; i < c->n; i++) {
		c->member[i].set = epoll_create1(EPOLL_CLOEXEC);
		if (c->member[i].set < 0 ||
		    epoll_ctl(c->member[i].set, EPOLL_CTL_ADD, c->fd, &event)) {
			err = -errno;
			eventfd_close(c);
			return err;
		}
	}
	return 0;
}

static int eventfd_publish(struct crowd *c)
{
	__atomic_fetch_add(&c->value, 1, __ATOMIC_SEQ_CST);
	return eventfd_write(c->fd, 1) ? -errno : 0;
}

static int eventfd_wait(struct member *m)
{
	struct crowd *c = m->crowd;
	struct epoll_event event;

	while (__atomic_load_n(&c->value, __ATOMIC_ACQUIRE) < m->next && !stopped(c))
		if (epoll_wait(m->set, &event, 1, -1) < 0 && errno != EINTR)
			return -errno;
	return 0;
}

static void eventfd_end(struct crowd *c)
{
	eventfd_publish(c);
}

static const struct crowd_ops eventfd_ops = {
	eventfd_open, eventfd_publish, eventfd_wait, eventfd_end, eventfd_close,
};

/* ---- the crowd ------------------------------------------------------------------------ */

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct crowd *c = m->crowd;

	__atomic_fetch_add(&c->ready, 1, __ATOMIC_ACQ_REL);
	for (; !c->ops->wait(m) && !stopped(c); m->next += c->n) {
		__atomic_store_n(&c->answer, (uint32_t)m->next, __ATOMIC_RELEASE);
		futex(&c->answer, FUTEX_WAKE, 1);
	}
	return NULL;
}

static int64_t sleeps(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_nvcsw;
}

/*
 * All have started, and fallen asleep as often as there are of them: all sleep,
 * more or less. Nothing depends on it but that the first updates are like others.
 */
static void settle(struct crowd *c, int64_t slept)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	while (__atomic_load_n(&c->ready, __ATOMIC_ACQUIRE) < c->n ||
	       sleeps(RUSAGE_SELF) - sleeps(RUSAGE_THREAD) - slept < c->n)
		nanosleep(&pause, NULL);
}

static void crowd_end(struct crowd *c, unsigned int started)
{
	unsigned int i;

	__atomic_store_n(&c->stop, true, __ATOMIC_SEQ_CST);
	c->ops->end(c);
	for (i = 0; i < started; i++)
		pthread_join(c->member[i].thread, NULL);
	c->ops->close(c);
	free(c->member);
}

static int crowd_start(struct crowd *c)
{
	pthread_attr_t attr;
	int64_t slept = sleeps(RUSAGE_SELF) - sleeps(RUSAGE_THREAD);
	unsigned int i;
	int err;

	c->member = calloc(c->n, sizeof(*c->member));
	if (!c->member)
		return -ENOMEM;
	err = c->ops->open(c);
	if (err) {
		free(c->member);
		return err;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setguardsize(&attr, 0);
	for (i = 0; i < c->n && !err; i++) {
		c->member[i].crowd = c;
		c->member[i].next = 1 + (uint64_t)i * STEP % c->n;
		err = -pthread_create(&c->member[i].thread, &attr, member_main, &c->member[i]);
	}
	pthread_attr_destroy(&attr);
	if (err)
		crowd_end(c, i - 1);
	else
		settle(c, slept);
	return err;
}

/* One update, and the answer to it. */
static int update(struct crowd *c, uint32_t value)
{
	uint32_t answer;
	int err = c->ops->publish(c);

	while (!err && (answer = __atomic_load_n(&c->answer, __ATOMIC_ACQUIRE)) != value)
		futex(&c->answer, FUTEX_WAIT, answer);
	return err;
}

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int run_crowd(struct run *run)
{
	struct crowd c = { .ops = run->arg, .n = run->size };
	uint64_t from, cpu;
	int64_t slept;
	uint32_t i;
	int err = crowd_start(&c);

	if (err)
		return err;
	slept = sleeps(RUSAGE_SELF) - sleeps(RUSAGE_THREAD);
	cpu = cpu_time();
	from = now_ns();
	for (i = 1; i <= run->n && !err; i++)
		err = update(&c, i);
	run->amount = now_ns() - from;
	run->cpu_ns = cpu_time() - cpu;
	run->sleeps = sleeps(RUSAGE_SELF) - sleeps(RUSAGE_THREAD) - slept;
	crowd_end(&c, c.n);
	return err;
}

/* The kernel provider counts the wake-ups that it makes. */
static int count_wakes(struct crowd *c, struct syncevent_stat *stat)
{
	uint32_t i;
	int err = 0;

	for (i = 1; i <= COUNTED && !err; i++) {
		do
			err = syncevent_stat(c->ev, stat);
		while (!err && stat->waiters < c->n);
		err = err ? err : update(c, i);
	}
	return err ? err : syncevent_stat(c->ev, stat);
}

static int crowd_counts(const struct bench *bench, const struct options *options,
			 struct result *result)
{
	struct syncevent_caps caps = { .size = sizeof(caps) };
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct crowd c = { .ops = &event_ops, .n = bench->size };
	int err = syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps);

	(void)options;
	if (err || !(caps.guarantees & SYNCEVENT_CAP_EXACT))
		return err;
	err = crowd_start(&c);
	if (err)
		return err;
	err = count_wakes(&c, &stat);
	if (!err)
		add_count(result, "wake-ups made for 100 satisfied waiters",
			  (double)stat.wakes, COUNTED);
	crowd_end(&c, c.n);
	return err;
}

static const struct side crowd_sides[] = {
	{ .name = "BLOCK wait", .run = run_crowd, .arg = &event_ops, .ours = true },
	{ .name = "futex", .run = run_crowd, .arg = &futex_ops },
	{ .name = "eventfd", .run = run_crowd, .arg = &eventfd_ops },
	{ 0 }
};

static const struct target thousand_targets[] = {
	{
		.ours = "BLOCK wait",
		.peer = "futex",
		.ratio = 0.02,
		.provider = SYNCEVENT_PROVIDER_KERNEL,
	},
	{ 0 }
};

#define CROWD(number, hoped) {								\
	.name = "thresholds-" #number,							\
	.what = "an update that satisfies one waiter of " #number ", and its answer",	\
	.unit = "ns/update",								\
	.size = number,									\
	.sides = crowd_sides,								\
	.targets = hoped,								\
	.counts = crowd_counts,								\
}

const struct bench crowd_benches[] = {
	CROWD(1, NULL),
	CROWD(10, NULL),
	CROWD(100, NULL),
	CROWD(1000, thousand_targets),
	CROWD(10000, NULL),
	{ 0 }
};
