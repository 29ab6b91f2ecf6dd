// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The figures that the design promises, measured in one run. Counts are asserted;
 * times are printed as ratios, for a person to judge: in an emulated guest they
 * are no more than that.
 */
#include "team.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>

#include <syncevent.h>

#define WAITERS		1000
#define RUNS		11	/* of each kind, alternating */
#define WAKES		50	/* in each run */

/* KTAP passes comments on; tests print to the same place as their results. */
#define figure(fmt, ...) do {						\
	printf("# figure: " fmt "\n", ##__VA_ARGS__);			\
	fflush(stdout);							\
} while (0)

/* ---- wake-ups made and waiters satisfied ------------------------------------------ */

TEST(wakes_are_exactly_the_satisfied_waiters)
{
	static struct se_waiter w[WAITERS];
	uint64_t random = 88172645463325252ULL, value, wakes;
	unsigned int updates = 0, ended = 0, i;
	int fd = se_create(0);

	ASSERT_LE(0, fd);
	for (i = 0; i < WAITERS; i++)
		ASSERT_EQ(0, se_waiter_start(&w[i], fd, SYNCEVENT_COND_GT, i));
	ASSERT_TRUE(se_until_waiters(fd, WAITERS));
	for (value = 0; value < WAITERS; updates++) {
		value += 1 + se_random(&random) % 20;
		if (value > WAITERS)
			value = WAITERS;
		ASSERT_EQ(0, se_set(fd, value));
		/* Those above are neither woken nor taken from the tree. */
		ASSERT_EQ(value, se_wakes(fd));
		ASSERT_EQ((int64_t)(WAITERS - value), se_waiters(fd));
	}
	for (i = 0; i < WAITERS; i++) {
		ASSERT_EQ(0, se_waiter_join(&w[i]));
		ASSERT_LT(i, w[i].w.value);
		ended++;
	}
	wakes = se_wakes(fd);
	figure("wake-ups for %u satisfied threshold waiters in %u updates: %llu (target %u)",
	       ended, updates, (unsigned long long)wakes, WAITERS);
	EXPECT_EQ(WAITERS, wakes);
}

/* ---- the price of waking one among many -------------------------------------------- */

struct crowd {
	int fd;
	int64_t others;		/* waiters that sleep on */
	uint64_t stop;
	struct se_thread one;
};

static int wait_again_and_again(void *arg)
{
	struct crowd *c = arg;
	uint64_t v = 0;
	int ret = 0;

	while (!ret && v < c->stop)
		ret = se_wait(c->fd, SYNCEVENT_COND_GT, v, SE_FOREVER, &v);
	return ret;
}

/* Nanoseconds of one update that wakes one waiter, mean of a run; 0: failed. */
static uint64_t run_of_wakes(struct crowd *c)
{
	uint64_t sum = 0, from;
	unsigned int i;

	for (i = 0; i < WAKES; i++) {
		if (!se_until_waiters(c->fd, c->others + 1))
			return 0;
		from = se_now(CLOCK_MONOTONIC);
		if (se_add(c->fd, 1, NULL))
			return 0;
		sum += se_now(CLOCK_MONOTONIC) - from;
	}
	return sum / WAKES + 1;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(waking_one_of_many)
{
	static struct se_waiter w[WAITERS - 1];
	struct crowd few = { .stop = (RUNS + 1) * WAKES }, many = few;
	uint64_t cost[2][RUNS];
	unsigned int i;

	few.fd = se_create(0);
	many.fd = se_create(0);
	ASSERT_LE(0, few.fd);
	ASSERT_LE(0, many.fd);
	many.others = WAITERS - 1;
	for (i = 0; i < WAITERS - 1; i++)
		ASSERT_EQ(0, se_waiter_start(&w[i], many.fd, SYNCEVENT_COND_GT, 1000000 + i));
	ASSERT_EQ(0, se_start(&few.one, wait_again_and_again, &few));
	ASSERT_EQ(0, se_start(&many.one, wait_again_and_again, &many));
	/* Once to warm up. */
	ASSERT_LT(0, run_of_wakes(&few));
	ASSERT_LT(0, run_of_wakes(&many));
	for (i = 0; i < RUNS; i++) {
		cost[0][i] = run_of_wakes(&few);
		cost[1][i] = run_of_wakes(&many);
		ASSERT_LT(0, cost[0][i]);
		ASSERT_LT(0, cost[1][i]);
	}
	EXPECT_EQ(0, se_join(&few.one));
	EXPECT_EQ(0, se_join(&many.one));
	ASSERT_EQ(0, se_revoke(many.fd));
	for (i = 0; i < WAITERS - 1; i++)
		ASSERT_EQ(-EIDRM, se_waiter_join(&w[i]));
	for (i = 0; i < 2; i++)
		qsort(cost[i], RUNS, sizeof(cost[i][0]), by_size);
	figure("waking one of %u / one of 1: %.2f (target <= 3; median of %u runs)",
	       WAITERS, (double)cost[1][RUNS / 2] / (double)cost[0][RUNS / 2], RUNS);
	figure("spread of these runs: one of %u %.2f to %.2f, one of 1 %.2f to %.2f medians",
	       WAITERS, (double)cost[1][0] / (double)cost[1][RUNS / 2],
	       (double)cost[1][RUNS - 1] / (double)cost[1][RUNS / 2],
	       (double)cost[0][0] / (double)cost[0][RUNS / 2],
	       (double)cost[0][RUNS - 1] / (double)cost[0][RUNS / 2]);
}

/* ---- updates that nobody waits for --------------------------------------------------- */

/* System calls that set the parts of the traced program apart. */
#define MARK		SYS_getppid

static int traced_publisher(void *arg)
{
	struct syncevent *ev = arg;
	unsigned int i;
	int ret = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return 1;
	raise(SIGSTOP);
	syscall(MARK);
	for (i = 0; i < 1000 && !ret; i++)
		ret = syncevent_add(ev, 1, NULL);
	syscall(MARK);
	ret |= syncevent_add(ev, 1, NULL);
	syscall(MARK);
	return ret ? 2 : 0;
}

/* System calls before, between and after the marks; false if tracing failed. */
static bool count_calls(pid_t pid, unsigned int count[4])
{
	struct ptrace_syscall_info info;
	unsigned int part = 0;
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		return false;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
			return false;
		if (WIFEXITED(status))
			return WEXITSTATUS(status) == 0 && part == 3;
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
			return false;
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == MARK && part < 3)
			part++;
		else
			count[part]++;
	}
}

TEST(updates_below_a_parked_threshold)
{
	unsigned int count[4] = { 0 };
	struct syncevent *ev;
	struct se_waiter w;

	ASSERT_EQ(0, syncevent_create(&ev, NULL));
	ASSERT_EQ(0, se_waiter_start(&w, syncevent_fd(ev), SYNCEVENT_COND_GT, 1000));
	ASSERT_TRUE(se_waiter_parked(&w));
	ASSERT_TRUE(count_calls(se_fork(traced_publisher, ev), count));
	EXPECT_EQ(0, se_waiter_join(&w));
	EXPECT_EQ(1001, w.w.value);
	figure("system calls of 1,000 updates below a parked threshold: %u (target 0)", count[1]);
	figure("system calls of the update that passes it: %u (target 1)", count[2]);
	EXPECT_EQ(0, count[1]);
	EXPECT_EQ(1, count[2]);
	syncevent_close(ev);
}

TEST_HARNESS_MAIN
