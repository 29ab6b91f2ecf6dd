// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Two processes that sleep in turns, a million times: a wake-up that is lost stops both.
 */
#include "common.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <syncevent.h>

struct table {
	struct syncevent *ping;
	struct syncevent *pong;
	unsigned int rounds;
};

static int play(struct syncevent *mine, struct syncevent *theirs, unsigned int rounds, bool serve)
{
	struct syncevent_wait_opts opts = { .size = sizeof(opts), .how = SYNCEVENT_BLOCK };
	unsigned int i;
	uint64_t seen;
	int ret;

	for (i = 1; i <= rounds; i++) {
		if (serve && syncevent_add(mine, 1, NULL))
			return 1;
		opts.deadline = se_in_ms(SE_HANG_S * 1000);
		ret = syncevent_wait(theirs, SYNCEVENT_GE, i, UINT64_MAX, &opts, &seen);
		if (ret)
			return ret == -ETIMEDOUT ? 2 : 3;
		if (seen != i)
			return 4;
		if (!serve && syncevent_add(mine, 1, NULL))
			return 1;
	}
	return 0;
}

static int return_the_ball(void *arg)
{
	struct table *t = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return play(t->pong, t->ping, t->rounds, false);
}

TEST(sleeping_ping_pongs_lose_no_wakeup)
{
	struct table t = { .rounds = se_times(1000000) };
	struct rusage usage;
	pid_t pid;

	ASSERT_EQ(0, syncevent_create(&t.ping, NULL));
	ASSERT_EQ(0, syncevent_create(&t.pong, NULL));
	pid = se_fork(return_the_ball, &t);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, play(t.ping, t.pong, t.rounds, true));
	EXPECT_EQ(0, se_wait_child(pid));
	getrusage(RUSAGE_SELF, &usage);
	TH_LOG("%u round trips, this side slept %ld times", t.rounds, usage.ru_nvcsw);
}

TEST_HARNESS_MAIN
