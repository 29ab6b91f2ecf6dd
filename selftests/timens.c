// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A deadline is of the clock that its caller sees: in a time namespace, of the
 * namespace's CLOCK_MONOTONIC.
 *
 * The namespace is a long way ahead of or behind the machine. A deadline that was
 * taken for one of the machine's clock would be an hour away or an hour past.
 */
#include "common.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif

#define HOUR	3600L

FIXTURE(timens)
{
	int fd;
};

FIXTURE_VARIANT(timens)
{
	long offset;
};

FIXTURE_VARIANT_ADD(timens, ahead) { .offset = HOUR };
FIXTURE_VARIANT_ADD(timens, behind) { .offset = -1 };	/* as far as it goes */

FIXTURE_SETUP(timens)
{
	struct timespec ts;
	char line[64];
	long offset = variant->offset;
	int fd, n;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	/* The clock may not become negative: wait until there is something to take. */
	if (offset < 0) {
		while (ts.tv_sec < 4) {
			se_sleep_ms(100);
			clock_gettime(CLOCK_MONOTONIC, &ts);
		}
		offset = -(ts.tv_sec - 1);
	}
	ASSERT_EQ(0, unshare(CLONE_NEWTIME));
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	ASSERT_LE(0, fd);
	n = snprintf(line, sizeof(line), "monotonic %ld 0", offset);
	ASSERT_EQ(n, write(fd, line, (size_t)n));
	close(fd);
	self->fd = se_create(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(timens)
{
	close(self->fd);
}

/* Children of the caller of unshare() live in the namespace. */
static int wait_in(void *arg)
{
	uint64_t end = se_in_ms(300);

	if (se_wait(*(int *)arg, SYNCEVENT_COND_GT, 0, end, NULL) != -ETIMEDOUT)
		return 1;
	return se_now(CLOCK_MONOTONIC) < end ? 2 : 0;
}

static int wait_many_in(void *arg)
{
	struct syncevent_wait_entry e = se_entry(*(int *)arg, SYNCEVENT_COND_GT, 0);
	uint64_t end = se_in_ms(300);

	if (se_wait_many(&e, 1, 0, end, NULL) != -ETIMEDOUT)
		return 1;
	return se_now(CLOCK_MONOTONIC) < end ? 2 : 0;
}

static int queue_in(void *arg)
{
	struct syncevent_completion done;
	uint64_t end = se_in_ms(300);
	int q = se_queue(0);

	if (q < 0 || se_queue_add(q, *(int *)arg, SYNCEVENT_COND_GT, 0, 1, end))
		return 1;
	if (se_reap(q, &done, 1) != 1 || done.status != -ETIMEDOUT)
		return 2;
	return se_now(CLOCK_MONOTONIC) < end ? 3 : 0;
}

/* CLOCK_REALTIME is the same everywhere. */
static int realtime_in(void *arg)
{
	struct syncevent_wait w = {
		.mask = SE_ALL, .cond = SYNCEVENT_COND_GT, .flags = SYNCEVENT_WAIT_REALTIME,
		.deadline = se_now(CLOCK_REALTIME) + 300000000,
	};

	if (se_ioctl(*(int *)arg, SYNCEVENT_IOC_WAIT, &w) != -ETIMEDOUT)
		return 1;
	return se_now(CLOCK_REALTIME) < w.deadline ? 2 : 0;
}

/* And an end that never comes is none in any namespace. */
static int forever_in(void *arg)
{
	static const uint64_t ends[] = {
		SE_FOREVER, SE_FOREVER - 1, (uint64_t)INT64_MAX, (uint64_t)INT64_MAX - 1,
		(uint64_t)INT64_MAX - 2 * HOUR * SE_NS,
	};
	struct se_waiter w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		if (se_waiter_start_mask(&w, *(int *)arg, SYNCEVENT_COND_EQ, i + 1, SE_ALL,
					 ends[i]) || !se_waiter_parked(&w))
			return 1;
		if (se_set(*(int *)arg, i + 1) || se_waiter_join(&w))
			return 2;
	}
	/* nor is the past before its beginning anything but past */
	return se_wait(*(int *)arg, SYNCEVENT_COND_EQ, 77, 1, NULL) == -ETIMEDOUT ? 0 : 3;
}

TEST_F(timens, wait)
{
	ASSERT_EQ(0, se_wait_child(se_fork(wait_in, &self->fd)));
}

TEST_F(timens, wait_many)
{
	ASSERT_EQ(0, se_wait_child(se_fork(wait_many_in, &self->fd)));
}

TEST_F(timens, queue_add)
{
	ASSERT_EQ(0, se_wait_child(se_fork(queue_in, &self->fd)));
}

TEST_F(timens, realtime)
{
	ASSERT_EQ(0, se_wait_child(se_fork(realtime_in, &self->fd)));
}

TEST_F(timens, forever)
{
	ASSERT_EQ(0, se_wait_child(se_fork(forever_in, &self->fd)));
}

TEST_HARNESS_MAIN
