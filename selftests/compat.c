// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Programs of 32 and of 64 bits on one event. The same file makes both: compat
 * and compat-m32; each starts the other where two are needed.
 *
 * What a single program can tell (every ioctl, its errors, its sizes) the m32
 * builds of the other tests tell.
 */
#include "common.h"

#include <linux/limits.h>
#include <stddef.h>

#include <syncevent/cell.h>

/* The other build of this file: beside this one. */
static const char *other_program(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 8);

	if (n < 0)
		return NULL;
	path[n] = '\0';
	if (sizeof(long) == 8)
		strcat(path, "-m32");
	else
		path[n - 4] = '\0';
	return path;
}

/* Both halves alike: a torn value has two different ones. */
static uint64_t whole(uint32_t n)
{
	return (uint64_t)n << 32 | n;
}

static bool is_whole(uint64_t v)
{
	return (uint32_t)v == v >> 32;
}

#define ROUNDS	300000

/* ---- what the other program does -------------------------------------------------- */

enum job { JOB_SET, JOB_READ, JOB_ADD, JOB_STRUCTS, JOBS };

/* Sets the cell to whole values, again and again, until it is told to end. */
static int job_set(int fd, struct syncevent_cell *cell)
{
	for (uint32_t i = 1; i <= ROUNDS; i++)
		(void)syncevent_cell_set(cell, whole(i * 2654435761u));
	return se_revoke(fd) ? 1 : 0;
}

/* Reads the cell until the event ends; whatever it sees is whole. */
static int job_read(int fd, struct syncevent_cell *cell)
{
	uint64_t v;

	for (;;) {
		v = syncevent_cell_get(cell);
		if (!is_whole(v))
			break;
		if (!syncevent_cell_live(cell))
			return 0;
	}
	fprintf(stderr, "# torn: %#llx\n", (unsigned long long)v);
	se_revoke(fd);
	return 2;
}

/* 1 in each half, so that a lost carry or half shows. */
static int job_add(int fd, struct syncevent_cell *cell)
{
	(void)fd;
	for (uint32_t i = 0; i < ROUNDS; i++)
		(void)syncevent_cell_add(cell, whole(1), NULL);
	return 0;
}

/* Structures as this program lays them out, for the other one to compare. */
static int job_structs(int fd, struct syncevent_cell *cell)
{
	uint64_t v;

	(void)cell;
	if (se_get(fd, &v) || v != 0x0123456789abcdefULL)
		return 3;
	if (se_wait_mask(fd, SYNCEVENT_COND_GT, 0xffffffffULL, 0xffffffff00000000ULL, 0, &v) ||
	    v != 0x0123456789abcdefULL)
		return 4;
	if (se_set(fd, 0xfedcba9876543210ULL))
		return 5;
	return 0;
}

static int (*const jobs[JOBS])(int fd, struct syncevent_cell *cell) = {
	job_set, job_read, job_add, job_structs,
};

static int do_job(int job, int fd, int ready)
{
	struct syncevent_cell *cell = se_map(fd, PROT_READ | PROT_WRITE);

	if (job < 0 || job >= JOBS || !cell || write(ready, "r", 1) != 1)
		return 1;
	return jobs[job](fd, cell);
}

/* Started as "compat job JOB FD READY": before the harness sees the arguments. */
__attribute__((constructor)) static void maybe_do_job(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "job"))
		_exit(do_job(atoi(argv[2]), atoi(argv[3]), atoi(argv[4])));
}

/* Returns once it is about to begin. */
static pid_t start_job(enum job job, int fd)
{
	char j[16], f[16], r[16], byte;
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		return -1;
	snprintf(j, sizeof(j), "%d", job);
	snprintf(f, sizeof(f), "%d", fd);
	snprintf(r, sizeof(r), "%d", ready[1]);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		fcntl(fd, F_SETFD, 0);
		execl(other_program(), "compat", "job", j, f, r, NULL);
		_exit(127);
	}
	close(ready[1]);
	/* If it died, its exit status says so. */
	if (read(ready[0], &byte, 1) < 0)
		return -1;
	close(ready[0]);
	return pid;
}

/* ---- tests --------------------------------------------------------------------------- */

FIXTURE(compat) {
	int fd;
	struct syncevent_cell *cell;
};

FIXTURE_SETUP(compat)
{
	self->fd = se_create(0);
	ASSERT_LE(0, self->fd);
	self->cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->cell);
	ASSERT_EQ(0, access(other_program(), X_OK)) TH_LOG("%s", other_program());
}

FIXTURE_TEARDOWN(compat)
{
	munmap(self->cell, 4096);
	close(self->fd);
}

/* 64 bits are read as one while the other program sets them. */
TEST_F(compat, read_what_the_other_sets)
{
	pid_t pid = start_job(JOB_SET, self->fd);

	EXPECT_EQ(0, job_read(self->fd, self->cell));
	EXPECT_EQ(0, se_wait_child(pid));
}

TEST_F(compat, set_what_the_other_reads)
{
	pid_t pid = start_job(JOB_READ, self->fd);

	EXPECT_EQ(0, job_set(self->fd, self->cell));
	EXPECT_EQ(0, se_wait_child(pid));
}

/* Adds of both are all there, in both halves. */
TEST_F(compat, add_beside_the_other)
{
	pid_t pid = start_job(JOB_ADD, self->fd);
	uint64_t v;

	EXPECT_EQ(0, job_add(self->fd, self->cell));
	ASSERT_EQ(0, se_wait_child(pid));
	ASSERT_EQ(0, se_get(self->fd, &v));
	EXPECT_EQ(whole(2 * ROUNDS), v);
}

TEST_F(compat, same_structures)
{
	uint64_t v;

	ASSERT_EQ(0, se_set(self->fd, 0x0123456789abcdefULL));
	EXPECT_EQ(0, se_wait_child(start_job(JOB_STRUCTS, self->fd)));
	ASSERT_EQ(0, se_get(self->fd, &v));
	EXPECT_EQ(0xfedcba9876543210ULL, v);
	EXPECT_EQ(0xfedcba9876543210ULL, syncevent_cell_get(self->cell));
}

/* ---- every ioctl once, with values that need all 64 bits ------------------------------- */

#define BIG	0x8000000100000002ULL

TEST(every_ioctl)
{
	struct syncevent_create create = {
		.value = BIG, .publishers = SYNCEVENT_LOC_GPU, .subscribers = SYNCEVENT_LOC_DPA,
	};
	struct syncevent_wait_entry e[2];
	struct syncevent_completion c[2];
	struct syncevent_dev_info d;
	struct syncevent_info info;
	uint32_t index;
	uint64_t v;
	int fd, dup, q;

	fd = se_create_attr(&create);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &d));
	EXPECT_EQ(SYNCEVENT_ABI_VERSION, d.abi);
	EXPECT_LE(1, d.events);
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(BIG, v);
	ASSERT_EQ(0, se_add(fd, ~0ULL, &v));
	EXPECT_EQ(BIG, v);
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(BIG - 1, v);
	ASSERT_EQ(0, se_set(fd, BIG + 1));
	ASSERT_EQ(0, se_ring(fd));
	ASSERT_EQ(0, se_wait(fd, SYNCEVENT_COND_GT, BIG, SE_FOREVER, &v));
	EXPECT_EQ(BIG + 1, v);
	EXPECT_EQ(-ETIMEDOUT, se_wait(fd, SYNCEVENT_COND_LE, BIG, se_in_ms(5), NULL));
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_EQ, BIG + 2));
	EXPECT_EQ(0, se_poll(fd, 0) & POLLIN);
	ASSERT_EQ(0, se_write(fd, 1));
	EXPECT_EQ(POLLIN, se_poll(fd, 0) & POLLIN);
	ASSERT_EQ(0, se_read(fd, &v));
	EXPECT_EQ(BIG + 2, v);

	ASSERT_EQ(0, se_info(fd, &info));
	EXPECT_EQ(BIG + 2, info.value);
	EXPECT_EQ(SYNCEVENT_LOC_GPU, info.publishers);
	EXPECT_EQ(SYNCEVENT_LOC_DPA, info.subscribers);
	EXPECT_EQ(1, info.sides);
	EXPECT_EQ(1, info.rings);

	dup = se_dup(fd, SYNCEVENT_DUP_RDONLY);
	ASSERT_LE(0, dup);
	EXPECT_EQ(-EBADF, se_set(dup, 1));
	e[0] = se_entry(dup, SYNCEVENT_COND_EQ, 2);
	e[1] = se_entry(fd, SYNCEVENT_COND_NEQ, 2);
	ASSERT_EQ(0, se_wait_many(e, 2, 0, SE_FOREVER, &index));
	EXPECT_EQ(1, index);
	EXPECT_EQ(BIG + 2, e[1].value);
	EXPECT_EQ(1, e[1].status);

	q = se_queue(0);
	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_queue_add(q, dup, SYNCEVENT_COND_LT, BIG, BIG, SE_FOREVER));
	ASSERT_EQ(0, se_queue_add(q, dup, SYNCEVENT_COND_LT, BIG, BIG + 1, SE_FOREVER));
	ASSERT_EQ(0, se_queue_cancel(q, BIG + 1));
	ASSERT_EQ(0, se_set(fd, BIG - 1));
	ASSERT_EQ(1, se_reap(q, c, 2));
	EXPECT_EQ(BIG, c[0].cookie);
	EXPECT_EQ(BIG - 1, c[0].value);
	EXPECT_EQ(0, c[0].status);

	ASSERT_EQ(0, se_revoke(fd));
	EXPECT_EQ(-EIDRM, se_get(dup, &v));
	close(q);
	close(dup);
	close(fd);
}

TEST_HARNESS_MAIN
