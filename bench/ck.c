// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* ck.c - concurrency kit's event count as a peer; built if configure finds it */
#include "internal.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ck_ec.h>

static int ck_gettime(const struct ck_ec_ops *ops, struct timespec *now)
{
	(void)ops;
	return clock_gettime(CLOCK_MONOTONIC, now);
}

static void ck_sleep(const uint32_t *word, uint32_t expected, const struct timespec *deadline)
{
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, deadline, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

static void ck_wait32(const struct ck_ec_wait_state *state, const uint32_t *word,
		      uint32_t expected, const struct timespec *deadline)
{
	(void)state;
	ck_sleep(word, expected, deadline);
}

static void ck_wake32(const struct ck_ec_ops *ops, const uint32_t *word)
{
	(void)ops;
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Of a 64-bit count the low half is the futex; little-endian, as ck_ec64 is. */
static void ck_wait64(const struct ck_ec_wait_state *state, const uint64_t *word,
		      uint64_t expected, const struct timespec *deadline)
{
	(void)state;
	ck_sleep((const uint32_t *)word, (uint32_t)expected, deadline);
}

static void ck_wake64(const struct ck_ec_ops *ops, const uint64_t *word)
{
	ck_wake32(ops, (const uint32_t *)word);
}

/* It looks a hundred times before it sleeps, by default: here it is to sleep. */
static const struct ck_ec_ops ck_ops = {
	.gettime = ck_gettime,
	.wait32 = ck_wait32,
	.wait64 = ck_wait64,
	.wake32 = ck_wake32,
	.wake64 = ck_wake64,
	.busy_loop_iter = 1,
};

static const struct ck_ec_mode ck_mode = { .ops = &ck_ops, .single_producer = false };

static int ck_open(struct channel *c)
{
	ck_ec64_init((struct ck_ec64 *)(void *)c, 0);
	return 0;
}

static void ck_post(struct channel *c, uint64_t value)
{
	(void)value;
	ck_ec64_inc((struct ck_ec64 *)(void *)c, &ck_mode);
}

static void ck_wait(struct channel *c, uint64_t value)
{
	struct ck_ec64 *ec = (void *)c;
	uint64_t seen;

	while ((seen = ck_ec64_value(ec)) < value)
		ck_ec64_wait(ec, &ck_mode, seen, NULL);
}

static void ck_close(struct channel *c)
{
	(void)c;
}

const struct channel_ops ck_channel = {
	sizeof(struct ck_ec64), ck_open, ck_post, ck_wait, ck_close,
};
