// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * How often workers look at the silent events of one user: not so often that these keep
 * CPUs busy, for whose time nobody is charged.
 *
 * For kernels on which a look takes less than LOOK_NS: on slower ones the workers are busy
 * with fewer, and what is seen here is how fast they are.
 */
#include "common.h"

#include <sys/resource.h>

#define MANY		4096	/* silent events */
#define FEW		64	/* closed sooner than they are looked at again */
#define LOOK_NS		8000	/* between two looks for one user */

/* How often a worker has looked at a silent event. */
static uint64_t looks(int fd)
{
	unsigned long long n = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "syncevent-looks: %llu", &n) != 1)
		;
	if (f)
		fclose(f);
	return n;
}

/* Was it looked at more often in half a second than one of MANY may be? */
static bool looked_at_often(int fd)
{
	uint64_t begin = se_now(CLOCK_MONOTONIC), n = looks(fd);

	se_sleep_ms(500);
	n = looks(fd) - n;
	return n > 2 + (se_now(CLOCK_MONOTONIC) - begin) / (MANY * LOOK_NS);
}

/* A silent event that a queue waits for, and so a worker looks at. */
static int watched(int q, uint64_t cookie)
{
	int fd = se_create_flags(0, SYNCEVENT_CREATE_SILENT), ret;

	if (fd < 0)
		return fd;
	ret = se_queue_add(q, fd, SYNCEVENT_COND_GE, 1, cookie, SE_FOREVER);
	return ret ?: fd;
}

static void close_all(int *fd, int n)
{
	while (n)
		close(fd[--n]);
}

TEST(of_one_user)
{
	struct rlimit many = { 2 * MANY, 2 * MANY };
	struct syncevent_completion done;
	struct syncevent_cell *cell;
	static int fd[MANY];
	int keep, q, i, n;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &many));
	/* What is counted of a user is forgotten when he has nothing left. */
	ASSERT_LE(0, keep = se_create(0));
	ASSERT_LE(0, q = se_queue(0));
	for (i = 0; i < MANY; i++)
		ASSERT_LE(0, fd[i] = watched(q, (uint64_t)i));
	/* All have been looked at: from now on it is known how many they are. */
	for (i = 0; i < MANY; i++)
		ASSERT_TRUE(se_until(looks(fd[i]) > 0));
	se_sleep_ms(100);
	EXPECT_FALSE(looked_at_often(fd[0]));
	/* They are looked at all the same. */
	ASSERT_TRUE(cell = se_map(fd[MANY / 2], PROT_READ | PROT_WRITE));
	__atomic_store_n(&cell->value, 1, __ATOMIC_SEQ_CST);
	ASSERT_EQ(1, se_reap(q, &done, 1));
	EXPECT_EQ(MANY / 2, done.cookie);
	munmap(cell, 4096);

	/* All of them are closed while they wait to be looked at again, and as many more. */
	close(q);
	close_all(fd, MANY);
	for (n = 0; n <= MANY; n += FEW) {
		ASSERT_LE(0, q = se_queue(0));
		for (i = 0; i < FEW; i++)
			ASSERT_LE(0, fd[i] = watched(q, (uint64_t)i));
		ASSERT_TRUE(se_until(looks(fd[FEW - 1]) > 0));
		close(q);
		close_all(fd, FEW);
	}
	/* One that is alone is looked at as often as ever. */
	ASSERT_LE(0, q = se_queue(0));
	ASSERT_LE(0, fd[0] = watched(q, 0));
	EXPECT_TRUE(se_until(looked_at_often(fd[0])));
	close(fd[0]);
	close(q);
	close(keep);
}

TEST_HARNESS_MAIN
