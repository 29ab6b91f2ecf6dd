// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Mappings of an event: what each way of making, moving and dropping one does, what
 * is left to see after the end, and who else holds the page.
 */
#include "lifetime.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define STRAY	0x5a5a5a5a5a5a5a5aULL

/* Does a load from there end the program? */
static bool faults(const void *p)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		(void)*(const volatile char *)p;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status);
}

/* ---- mmap, munmap, mremap, madvise ----------------------------------------------- */

TEST_F(event, refuses_every_other_mapping)
{
	const int rw = PROT_READ | PROT_WRITE;
	const int64_t count = events();
	size_t length;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_SHARED, self->fd, 4096));
	EXPECT_EQ(EINVAL, errno);
	for (length = 4097; length < 1UL << 40; length *= 2) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, length, rw, MAP_SHARED, self->fd, 0));
		EXPECT_EQ(EINVAL, errno);
	}
	/* The offset and its end wrap around. */
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_SHARED, self->fd, -4096L));
	EXPECT_TRUE(errno == EINVAL || errno == EOVERFLOW);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 8192, rw, MAP_SHARED, self->fd, -4096L));
	EXPECT_TRUE(errno == EINVAL || errno == EOVERFLOW);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_SHARED, self->fd, LONG_MAX & -4096L));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(count, events());
	EXPECT_EQ(7, value_of(self->cell));
}

TEST_F(event, short_length_is_one_page)
{
	struct syncevent_cell *cell = mmap(NULL, 1, PROT_READ, MAP_SHARED, self->fd, 0);

	ASSERT_NE(MAP_FAILED, cell);
	EXPECT_EQ(7, value_of(cell));
	EXPECT_EQ(0, ((char *)cell)[4095]);
	/* A part of it to unmap rounds up as well. */
	ASSERT_EQ(0, munmap(cell, 1));
	EXPECT_TRUE(faults(cell));
	cell = mmap(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE, self->fd, 0);
	EXPECT_NE(MAP_FAILED, cell);
}

TEST_F(event, neighbours_unmap_at_once)
{
	char *room = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int q = watch(self->fd, 100), i;

	ASSERT_LE(0, q);
	ASSERT_NE(MAP_FAILED, room);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(room + i * 4096, mmap(room + i * 4096, 4096, PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_FIXED, self->fd, 0));
	put((void *)room, 8);
	EXPECT_EQ(8, value_of((void *)(room + 8192)));
	/* One of three, by a mapping over it; then all. */
	ASSERT_EQ(room + 4096, mmap(room + 4096, 4096, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(8, value_of((void *)(room + 8192)));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_TRUE(pending(q));
	ASSERT_EQ(0, munmap(room, 3 * 4096));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
}

TEST_F(event, mremap_moves_it)
{
	char *room = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int q = watch(self->fd, 100);
	struct syncevent_cell *moved;

	ASSERT_LE(0, q);
	ASSERT_NE(MAP_FAILED, room);
	moved = mremap(self->cell, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ((void *)room, moved);
	EXPECT_EQ(7, value_of(moved));
	EXPECT_TRUE(faults(self->cell));
	EXPECT_EQ(0, se_set(self->fd, 8));
	EXPECT_EQ(8, value_of(moved));
	ASSERT_EQ(0, close(self->fd));
	put(moved, 9);
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, state_of(moved));
	ASSERT_EQ(0, munmap(moved, 4096));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
	EXPECT_TRUE(se_until(events() == self->before));
}

TEST_F(event, mremap_neither_grows_nor_copies_it)
{
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 4096, 8192, MREMAP_MAYMOVE));
	EXPECT_TRUE(errno == EFAULT || errno == EINVAL);
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 4096, 8192, 0));
	EXPECT_TRUE(errno == EFAULT || errno == EINVAL || errno == ENOMEM);
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 0, 4096, MREMAP_MAYMOVE));
	EXPECT_TRUE(errno == EFAULT || errno == EINVAL);
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(7, value_of(self->cell));
}

TEST_F(event, madvise_dontneed_loses_nothing)
{
	int i;

	for (i = 0; i < 100; i++) {
		put(self->cell, 1000U + i);
		ASSERT_EQ(0, madvise(self->cell, 4096, MADV_DONTNEED));
		ASSERT_EQ(1000U + i, value_of(self->cell));
	}
	EXPECT_EQ(0, se_wait(self->fd, SYNCEVENT_COND_EQ, 1099, 0, NULL));
}

/* ---- after the end ------------------------------------------------------------------ */

struct zapper {
	void *page;
	int stop;
};

static int zap_fn(void *arg)
{
	struct zapper *z = arg;

	while (!__atomic_load_n(&z->stop, __ATOMIC_RELAXED))
		if (madvise(z->page, 4096, MADV_DONTNEED))
			return -errno;
	return 0;
}

/* The page table may lose the page of its own while a fault still works on it. */
TEST_F(event, revoked_mapping_is_zapped_while_it_faults)
{
	struct syncevent_cell *cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	struct zapper z = { .page = cell };
	struct se_thread t;
	int i;

	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, se_revoke(self->fd));
	ASSERT_EQ(0, se_start(&t, zap_fn, &z));
	for (i = 0; i < 50000; i++) {
		__atomic_store_n(&cell->value, (uint64_t)i, __ATOMIC_RELAXED);
		ASSERT_EQ(SYNCEVENT_STATE_REVOKED,
			  *(volatile uint32_t *)&cell->state & SYNCEVENT_STATE_MASK);
	}
	__atomic_store_n(&z.stop, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, se_join(&t));
	munmap(cell, 4096);
}

TEST_F(event, revoked_mapping_is_private_and_dead)
{
	struct syncevent_cell *second = se_map(self->fd, PROT_READ | PROT_WRITE), *fresh;
	struct syncevent_info info;
	int other, i;

	ASSERT_NE(NULL, second);
	EXPECT_EQ(7, value_of(second));
	ASSERT_EQ(0, se_revoke(self->fd));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, state_of(self->cell));
	EXPECT_EQ(7, value_of(self->cell));
	/* Stores end in that mapping's own page. */
	for (i = 0; i < 4096 / 8; i++)
		((volatile uint64_t *)self->cell)[i] = STRAY;
	EXPECT_EQ(STRAY, value_of(self->cell));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, state_of(second));
	EXPECT_EQ(7, value_of(second));
	EXPECT_EQ(0, se_info(self->fd, &info));
	EXPECT_EQ(7, info.value);
	EXPECT_NE(0, info.flags & SYNCEVENT_INFO_REVOKED);
	other = se_create(0);
	ASSERT_LE(0, other);
	fresh = se_map(other, PROT_READ);
	ASSERT_NE(NULL, fresh);
	EXPECT_EQ(0, value_of(fresh));
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, state_of(fresh));
	/* Both dead mappings may be dropped, looked at again, moved and unmapped. */
	ASSERT_EQ(0, madvise(self->cell, 4096, MADV_DONTNEED));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, state_of(self->cell));
	EXPECT_EQ(7, value_of(self->cell));
	self->cell = mremap(self->cell, 4096, 4096, MREMAP_MAYMOVE);
	ASSERT_NE(MAP_FAILED, self->cell);
	EXPECT_EQ(0, munmap(self->cell, 4096));
	EXPECT_EQ(0, munmap(second, 4096));
	EXPECT_EQ(NULL, se_map(self->fd, PROT_READ));
	EXPECT_EQ(EIDRM, errno);
}

/* The kernel believes no word of the cell but the value. */
TEST_F(event, nonsense_in_the_cell_hides_nothing)
{
	static const uint32_t states[] = { 0, SYNCEVENT_STATE_REVOKED, UINT32_MAX };
	struct se_waiter grow, equal;
	uint64_t value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		ASSERT_EQ(0, se_set(self->fd, 7));
		ASSERT_EQ(0, se_waiter_start(&grow, self->fd, SYNCEVENT_COND_GT, 100));
		ASSERT_EQ(0, se_waiter_start(&equal, self->fd, SYNCEVENT_COND_EQ, 200));
		ASSERT_TRUE(se_until_waiters(self->fd, 2));
		/* "Nobody asks to be rung." */
		self->cell->state = states[i];
		self->cell->sides = 0;
		self->cell->flags = UINT16_MAX;
		memset(self->cell->hint, 0, sizeof(self->cell->hint));
		self->cell->hint[0].wake_above = SYNCEVENT_WAKE_NONE;
		EXPECT_EQ(0, se_get(self->fd, &value));
		ASSERT_EQ(0, se_set(self->fd, 200));
		EXPECT_EQ(0, se_waiter_join(&grow));
		EXPECT_EQ(0, se_waiter_join(&equal));
	}
	EXPECT_EQ(0, se_revoke(self->fd));
	EXPECT_EQ(-EIDRM, se_get(self->fd, &value));
}

static int stray_in_a_child(void *arg)
{
	struct shared *s = arg;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (value_of(s->cell) != 7 || read(s->go, &byte, 1) != 1)
		return 1;
	if (state_of(s->cell) != SYNCEVENT_STATE_REVOKED)
		return 2;
	put(s->cell, STRAY);
	return value_of(s->cell) == STRAY ? 0 : 3;
}

TEST_F(event, revoke_reaches_the_mappings_of_other_processes)
{
	struct shared s = { .cell = self->cell };
	struct syncevent_info info;
	int go[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(go));
	s.go = go[0];
	pid = se_fork(stray_in_a_child, &s);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(se_until(se_sleeps_in(pid, pid) == SYS_read));
	ASSERT_EQ(0, se_revoke(self->fd));
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, se_wait_child(pid));
	EXPECT_EQ(7, value_of(self->cell));
	EXPECT_EQ(0, se_info(self->fd, &info));
	EXPECT_EQ(7, info.value);
}

TEST_F(event, new_events_show_nothing_of_old_ones)
{
	enum { N = 64 };
	struct syncevent_cell *cell[N];
	int fd[N], i, j, round;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < N; i++) {
			fd[i] = se_create(0);
			ASSERT_LE(0, fd[i]);
			cell[i] = se_map(fd[i], PROT_READ | PROT_WRITE);
			ASSERT_NE(NULL, cell[i]);
		}
		for (i = 0; i < N; i++) {
			const struct syncevent_cell want = {
				.state = 1U << SYNCEVENT_STATE_GEN_SHIFT | SYNCEVENT_STATE_LIVE,
				.sides = 1,
				.hint = {
					{ .wake_above = SYNCEVENT_WAKE_NONE },
					{ .wake_above = SYNCEVENT_WAKE_NONE },
					{ .wake_above = SYNCEVENT_WAKE_NONE },
				},
			};

			EXPECT_EQ(0, memcmp(&want, cell[i], sizeof(want)));
			for (j = sizeof(want); j < 4096; j++)
				ASSERT_EQ(0, ((const char *)cell[i])[j]);
			memset(cell[i], 0xa5, 4096);
		}
		for (i = 0; i < N; i++) {
			ASSERT_EQ(0, munmap(cell[i], 4096));
			ASSERT_EQ(0, close(fd[i]));
		}
		ASSERT_TRUE(se_until(events() == self->before + 1));
	}
}

/* ---- pages held by others ------------------------------------------------------------ */

/* Use up the pages that were just freed. */
static bool fill_new_events(int n)
{
	bool ok = true;

	while (n-- && ok) {
		int fd = se_create(STRAY);
		struct syncevent_cell *cell = fd < 0 ? NULL : se_map(fd, PROT_READ | PROT_WRITE);

		ok = cell;
		if (cell)
			memset(cell, 0xa5, 4096);
	}
	return ok;
}

TEST_F(event, page_in_a_pipe_outlives_the_event)
{
	struct iovec iov = { self->cell, 4096 };
	struct syncevent_cell seen[4096 / sizeof(struct syncevent_cell)];
	int fds[2];

	((char *)self->cell)[4000] = 77;
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(4096, vmsplice(fds[1], &iov, 1, 0));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_TRUE(se_until(events() == self->before));
	ASSERT_TRUE(fill_new_events(64));
	ASSERT_EQ(4096, read(fds[0], seen, sizeof(seen)));
	EXPECT_EQ(7, seen[0].value);
	EXPECT_EQ(77, ((char *)seen)[4000]);
}

TEST_F(event, page_in_a_pipe_outlives_revocation)
{
	struct iovec iov = { self->cell, 4096 };
	struct syncevent_cell seen[4096 / sizeof(struct syncevent_cell)];
	int fds[2];

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(4096, vmsplice(fds[1], &iov, 1, 0));
	ASSERT_EQ(0, se_revoke(self->fd));
	put(self->cell, STRAY);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_TRUE(fill_new_events(64));
	ASSERT_EQ(4096, read(fds[0], seen, sizeof(seen)));
	EXPECT_EQ(7, seen[0].value);
	EXPECT_EQ(STRAY, value_of(self->cell));
}

static int sleep_with_mapping(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	return 0;
}

/* By a system call, or on kernels without it by the file of the other's memory. */
static bool peek(pid_t pid, const void *there, uint64_t *value)
{
	struct iovec local = { value, 8 }, remote = { (void *)(uintptr_t)there, 8 };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	char path[32];
	int fd;

	if (n < 0 && errno == ENOSYS) {
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = pread(fd, value, 8, (off_t)(uintptr_t)there);
		close(fd);
	}
	return n == 8;
}

static bool poke(pid_t pid, void *there, uint64_t value)
{
	struct iovec local = { &value, 8 }, remote = { there, 8 };
	ssize_t n = process_vm_writev(pid, &local, 1, &remote, 1, 0);
	char path[32];
	int fd;

	if (n < 0 && errno == ENOSYS) {
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		n = pwrite(fd, &value, 8, (off_t)(uintptr_t)there);
		close(fd);
	}
	return n == 8;
}

TEST_F(event, other_processes_read_and_write_it)
{
	pid_t pid = se_fork(sleep_with_mapping, NULL);
	uint64_t value = 0;

	ASSERT_LT(0, pid);
	EXPECT_TRUE(peek(pid, self->cell, &value));
	EXPECT_EQ(7, value);
	EXPECT_TRUE(poke(pid, self->cell, 9));
	EXPECT_EQ(9, value_of(self->cell));
	ASSERT_EQ(0, se_revoke(self->fd));
	EXPECT_TRUE(poke(pid, self->cell, 10));
	EXPECT_EQ(9, value_of(self->cell));
	EXPECT_TRUE(peek(pid, self->cell, &value));
	EXPECT_EQ(10, value);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(event, debugger_respects_the_rights)
{
	int readonly = se_dup(self->fd, SYNCEVENT_DUP_RDONLY);
	struct syncevent_cell *locked;
	pid_t pid;

	ASSERT_LE(0, readonly);
	locked = se_map(readonly, PROT_READ);
	ASSERT_NE(NULL, locked);
	pid = se_fork(sleep_with_mapping, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	errno = 0;
	EXPECT_EQ(7, ptrace(PTRACE_PEEKDATA, pid, locked, NULL));
	EXPECT_EQ(0, errno);
	/* A debugger writes to read-only memory, but not to shared memory. */
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, pid, locked, 8L));
	EXPECT_EQ(7, ptrace(PTRACE_PEEKDATA, pid, locked, NULL));
	EXPECT_EQ(0, ptrace(PTRACE_POKEDATA, pid, self->cell, 9L));
	EXPECT_EQ(9, value_of(locked));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int dump_core(void *arg)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct shared *s = arg;

	if (setrlimit(RLIMIT_CORE, &unlimited) || value_of(s->cell) != 7)
		return 1;
	if (s->go && se_revoke(s->fd))
		return 2;
	abort();
}

TEST_F(event, core_dump_with_a_mapping)
{
	static const char pattern[] = "/tmp/lifetime-core";
	struct shared s = { .fd = self->fd, .cell = self->cell };
	struct stat st;
	char old[256];
	ssize_t length;
	int file = open("/proc/sys/kernel/core_pattern", O_RDWR | O_CLOEXEC);

	if (file < 0)
		SKIP(return, "kernel without core dumps, or not root");
	length = read(file, old, sizeof(old));
	ASSERT_LT(0, length);
	ASSERT_EQ(sizeof(pattern), pwrite(file, pattern, sizeof(pattern), 0));
	/* Once with a live mapping, once with a dead one. */
	for (s.go = 0; s.go < 2; s.go++) {
		EXPECT_EQ(-SIGABRT, se_wait_child(se_fork(dump_core, &s)));
		EXPECT_EQ(0, stat(pattern, &st));
		EXPECT_LT(4096, st.st_size);
		unlink(pattern);
	}
	EXPECT_EQ(length, pwrite(file, old, length, 0));
}

TEST_HARNESS_MAIN
