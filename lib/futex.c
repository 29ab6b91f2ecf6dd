// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * futex.c - how to sleep on words of memory
 *
 * futex_waitv(2), Linux 5.16, takes several words, an absolute deadline, and after
 * a signal goes on sleeping by itself if the handler has SA_RESTART. futex(2) ends
 * with EINTR whatever the handler if there is a deadline, as here there always is.
 * So it is the second choice.
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv		449
#endif

/* As the kernel has them, for headers older than 5.16. */
#define WORD_32			2U

struct waitv {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t reserved;
};

struct waitv_time {
	int64_t tv_sec;
	int64_t tv_nsec;
};

/* Of SYS_futex: not struct timespec, which a 32-bit C library may have made wider. */
struct futex_time {
	long tv_sec;
	long tv_nsec;
};

static bool no_waitv;

static int waitv(const struct se_word *words, unsigned int n, uint64_t until, bool realtime)
{
	struct waitv_time ts = {
		.tv_sec = (int64_t)(until / 1000000000),
		.tv_nsec = (int64_t)(until % 1000000000),
	};
	struct waitv v[SYNCEVENT_MANY_MAX];
	unsigned int i;

	for (i = 0; i < n; i++)
		v[i] = (struct waitv){
			.val = words[i].was,
			.uaddr = (uintptr_t)words[i].word,
			.flags = WORD_32,
		};
	return syscall(SYS_futex_waitv, v, n, 0, &ts,
		       realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC) < 0 ? -errno : 0;
}

static int wait_first(const struct se_word *word, uint64_t until, bool realtime)
{
	struct futex_time ts = {
		.tv_sec = (long)(until / 1000000000),
		.tv_nsec = (long)(until % 1000000000),
	};

	return syscall(SYS_futex, word->word,
		       FUTEX_WAIT_BITSET | (realtime ? FUTEX_CLOCK_REALTIME : 0), word->was,
		       &ts, NULL, FUTEX_BITSET_MATCH_ANY) < 0 ? -errno : 0;
}

uint64_t se_slice_next(struct se_slice *slice)
{
	const uint64_t min = slice->silent ? SE_SILENT_MIN_NS : SE_RECHECK_MIN_NS;
	const uint64_t max = slice->silent ? SE_SILENT_MAX_NS : SE_RECHECK_MAX_NS;
	uint64_t ns = slice->ns ? slice->ns : min;

	/* Not beyond the longest, but a longer one that was asked for stays. */
	if (ns < max)
		slice->ns = ns * 2 < max ? ns * 2 : max;
	return ns;
}

bool se_slice_end(const struct syncevent_wait_opts *o, uint64_t ns, uint64_t *until)
{
	uint64_t now;

	*until = se_now(false) + ns;
	if (!(o->flags & SYNCEVENT_REALTIME) || o->deadline == SYNCEVENT_FOREVER) {
		if (o->deadline < *until)
			*until = o->deadline;
		return false;
	}
	now = se_now(true);
	if (o->deadline > now && o->deadline - now >= ns)
		return false;
	*until = o->deadline;
	return true;
}

int se_sleep(const struct se_word *words, unsigned int n, struct se_slice *slice,
	     const struct syncevent_wait_opts *o)
{
	const bool none = __atomic_load_n(&no_waitv, __ATOMIC_RELAXED);
	uint64_t ns = se_slice_next(slice), until;
	bool realtime;
	int ret;

	/* Only one of the words may be heard: look at the others often. */
	if (none && n > 1)
		ns = SE_SILENT_MAX_NS;
	realtime = se_slice_end(o, ns, &until);

	ret = none ? wait_first(words, until, realtime) : waitv(words, n, until, realtime);
	/* EPERM: a seccomp filter that is older than the call. */
	if ((ret == -ENOSYS || ret == -EPERM) && !none) {
		__atomic_store_n(&no_waitv, true, __ATOMIC_RELAXED);
		ret = wait_first(words, until, realtime);
	}
	/* A word that has changed, a slice or a deadline that has passed: look. */
	return ret == -EINTR ? ret : 0;
}

int se_sleep_until(const uint32_t *word, uint32_t was, uint64_t deadline)
{
	const uint64_t max = 1000000000ULL * INT_MAX;
	struct futex_time ts;
	int ret;

	/* A long of 32 bits does not hold every deadline, nor need it. */
	if (deadline > max && deadline != SYNCEVENT_FOREVER)
		deadline = max;
	ts.tv_sec = (long)(deadline / 1000000000);
	ts.tv_nsec = (long)(deadline % 1000000000);
	ret = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, was,
		      deadline == SYNCEVENT_FOREVER ? NULL : &ts, NULL,
		      FUTEX_BITSET_MATCH_ANY) < 0 ? -errno : 0;
	return ret == -EAGAIN ? 0 : ret;
}

void se_wake(const uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
