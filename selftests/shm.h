/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the tests of the shm provider share: a sleep without its safety net, and how
 * often somebody was woken.
 *
 * On shm a sleeper looks again after a while, for the sake of publishers that die. A
 * wake-up that was lost by mistake would then only be late, and no test looks at how
 * long anything takes. So syscall(3) stands here in front of the C library's: with
 * never_recheck a sleep without a deadline lasts until it is ended, and what is lost
 * is a hang.
 */
#ifndef SELFTESTS_SHM_H
#define SELFTESTS_SHM_H

#include "waiter.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>

static bool never_recheck;
static unsigned long futex_wakes;

static long (*libc_syscall)(long nr, ...);

static void __attribute__((__constructor__)) find_syscall(void)
{
	*(void **)&libc_syscall = dlsym(RTLD_NEXT, "syscall");
}

/* As the kernel has it, for 32-bit programs too. */
struct waitv_time {
	int64_t tv_sec, tv_nsec;
};

long syscall(long nr, ...)
{
	static const struct waitv_time never = { .tv_sec = INT32_MAX };
	const struct waitv_time *until;
	va_list args;
	long a[6];
	int i;

	va_start(args, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (nr == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
		__atomic_fetch_add(&futex_wakes, 1, __ATOMIC_RELAXED);
	if (nr == SYS_futex_waitv && __atomic_load_n(&never_recheck, __ATOMIC_RELAXED)) {
		until = (const struct waitv_time *)a[3];
		/* Not that of ask_in_vain(): a slice may be over already, if it was held. */
		if (until->tv_sec)
			a[3] = (long)&never;
	}
	return libc_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Leave a hint behind that asks for this: a wait whose deadline is over. */
static inline int ask_in_vain(struct syncevent *ev, enum syncevent_cond cond,
			      uint64_t operand, uint64_t mask)
{
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, 1);

	return syncevent_wait(ev, cond, operand, mask, &opts, NULL);
}

/* Memory that children share. */
static inline void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Asleep on shm: in a futex. */
static inline bool asleep(pid_t pid, pid_t tid)
{
	long nr = se_sleeps_in(pid, tid);

	return nr == SYS_futex || nr == SYS_futex_waitv;
}

#endif /* SELFTESTS_SHM_H */
