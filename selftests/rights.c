// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * "A read-only fd cannot set, add or ring, by ioctl, mapping or mprotect", nor in
 * any of the ways in which file rights have been got round before.
 */
#include "common.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#define NOBODY	65534

FIXTURE(rights)
{
	int rw, ro;
};

FIXTURE_SETUP(rights)
{
	self->rw = se_create(7);
	ASSERT_LE(0, self->rw);
	self->ro = se_dup(self->rw, SYNCEVENT_DUP_RDONLY);
	ASSERT_LE(0, self->ro);
}

/* Whatever a test tried, the value is what it was. */
FIXTURE_TEARDOWN(rights)
{
	uint64_t v;

	EXPECT_EQ(0, se_get(self->rw, &v));
	EXPECT_EQ(7, v);
	close(self->rw);
	close(self->ro);
}

/* How many ways to update @fd by system call exist; 0 is what is wanted. */
static int ways_to_update(int fd)
{
	struct iovec iov = { .iov_base = "\1\0\0\0\0\0\0\0", .iov_len = 8 };
	int p[2], ways = 0;

	ways += se_set(fd, 1) != -EBADF;
	ways += se_add(fd, 1, NULL) != -EBADF;
	ways += se_ring(fd) != -EBADF;
	ways += se_revoke(fd) != -EBADF;
	ways += se_write(fd, 1) != -EBADF;
	ways += writev(fd, &iov, 1) != -1 || errno != EBADF;
	ways += pwrite(fd, iov.iov_base, 8, 0) != -1;
	ways += pwritev2(fd, &iov, 1, -1, 0) != -1 || errno != EBADF;
	if (pipe(p))
		return 100;
	if (write(p[1], iov.iov_base, 8) != 8)
		ways += 100;
	ways += splice(p[0], NULL, fd, NULL, 8, 0) != -1;
	close(p[0]);
	close(p[1]);
	ways += ftruncate(fd, 0) != -1;
	ways += fallocate(fd, 0, 0, 4096) != -1;
	return ways;
}

/* How many ways to a writable or executable mapping of @fd exist. */
static int ways_to_map(int fd)
{
	static const int wrong[] = {
		PROT_WRITE, PROT_READ | PROT_WRITE, PROT_EXEC, PROT_READ | PROT_EXEC,
		PROT_READ | PROT_WRITE | PROT_EXEC,
	};
	int ways = 0, flags;
	size_t i;
	void *p;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		for (flags = MAP_SHARED; flags <= MAP_SHARED_VALIDATE; flags++) {
			p = mmap(NULL, 4096, wrong[i], flags, fd, 0);
			ways += p != MAP_FAILED;
		}
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			return 100;
		ways += mprotect(p, 4096, wrong[i]) != -1;
		/* nor by way of "no access", nor elsewhere */
		ways += mprotect(p, 4096, PROT_NONE) != 0;
		ways += mprotect(p, 4096, wrong[i]) != -1;
		ways += mprotect(p, 4096, PROT_READ) != 0;
		p = mremap(p, 4096, 4096, MREMAP_MAYMOVE);
		if (p == MAP_FAILED)
			return 100;
		ways += mprotect(p, 4096, wrong[i]) != -1;
		ways += syscall(SYS_pkey_mprotect, p, 4096, wrong[i], -1) != -1;
		munmap(p, 4096);
	}
	return ways;
}

TEST_F(rights, kernel_system_calls)
{
	ASSERT_EQ(0, ways_to_update(self->ro));
}

TEST_F(rights, kernel_what_is_allowed)
{
	struct syncevent_wait_entry e = se_entry(self->ro, SYNCEVENT_COND_EQ, 7);
	struct syncevent_completion done;
	struct syncevent_info info;
	struct se_waiter w;
	int q = se_queue(0), fd;
	uint64_t v;

	ASSERT_EQ(0, se_get(self->ro, &v));
	ASSERT_EQ(7, v);
	ASSERT_EQ(0, se_info(self->ro, &info));
	ASSERT_FALSE(info.flags & SYNCEVENT_INFO_UPDATE);
	ASSERT_EQ(0, se_info(self->rw, &info));
	ASSERT_TRUE(info.flags & SYNCEVENT_INFO_UPDATE);
	ASSERT_EQ(0, se_wait(self->ro, SYNCEVENT_COND_EQ, 7, 0, &v));
	ASSERT_EQ(0, se_wait_many(&e, 1, 0, 0, NULL));
	ASSERT_EQ(0, se_queue_add(q, self->ro, SYNCEVENT_COND_EQ, 7, 1, SE_FOREVER));
	ASSERT_EQ(1, se_reap(q, &done, 1));
	ASSERT_EQ(0, se_arm(self->ro, SYNCEVENT_COND_EQ, 7));
	/* never EPOLLOUT */
	ASSERT_EQ(POLLIN | POLLRDNORM, se_poll(self->ro, 0));
	ASSERT_EQ(0, se_read(self->ro, &v));
	ASSERT_EQ(7, v);
	fd = se_dup(self->ro, 0);
	ASSERT_LE(0, fd);
	close(fd);

	/* a wait on it ends by an update of who may */
	ASSERT_EQ(0, se_waiter_start(&w, self->ro, SYNCEVENT_COND_GT, 7));
	ASSERT_TRUE(se_waiter_parked(&w));
	ASSERT_EQ(0, se_set(self->rw, 8));
	ASSERT_EQ(0, se_waiter_join(&w));
	ASSERT_EQ(0, se_set(self->rw, 7));
	close(q);
}

/* The right is asked for before the event is found to be revoked. */
TEST(kernel_right_before_revoked)
{
	int rw = se_create(0), ro = se_dup(rw, SYNCEVENT_DUP_RDONLY);

	ASSERT_LE(0, ro);
	ASSERT_EQ(0, se_revoke(rw));
	ASSERT_EQ(-EBADF, se_set(ro, 1));
	ASSERT_EQ(-EBADF, se_add(ro, 1, NULL));
	ASSERT_EQ(-EBADF, se_ring(ro));
	ASSERT_EQ(-EBADF, se_revoke(ro));
	ASSERT_EQ(-EIDRM, se_set(rw, 1));
	close(rw);
	close(ro);
}

TEST_F(rights, kernel_mappings)
{
	void *p;

	ASSERT_EQ(0, ways_to_map(self->ro));

	/* with the errno that says why */
	ASSERT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, self->ro, 0));
	ASSERT_EQ(EACCES, errno);
	ASSERT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED,
				   self->ro, 0));
	ASSERT_EQ(EPERM, errno);
	ASSERT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, self->ro, 0));
	ASSERT_EQ(EINVAL, errno);
	p = se_map(self->ro, PROT_READ);
	ASSERT_TRUE(p);
	ASSERT_EQ(-1, mprotect(p, 4096, PROT_READ | PROT_WRITE));
	ASSERT_EQ(EACCES, errno);
	munmap(p, 4096);
}

/* Nobody executes a counter, the update right or not. */
TEST_F(rights, kernel_no_exec)
{
	void *p = se_map(self->rw, PROT_READ | PROT_WRITE);

	ASSERT_TRUE(p);
	ASSERT_EQ(-1, mprotect(p, 4096, PROT_READ | PROT_EXEC));
	ASSERT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED,
				   self->rw, 0));
	ASSERT_EQ(EPERM, errno);
	munmap(p, 4096);
}

/* A debugger's way into read-only memory, and calls that write for their caller. */
TEST_F(rights, kernel_forced_stores)
{
	uint64_t one = 1;
	struct iovec from = { &one, sizeof(one) }, to;
	struct syncevent_value *v;
	void *p = se_map(self->ro, PROT_READ);
	int mem, fds[2];

	ASSERT_TRUE(p);
	ASSERT_EQ(7, *(volatile uint64_t *)p);
	mem = open("/proc/self/mem", O_RDWR);
	ASSERT_LE(0, mem);
	ASSERT_EQ(-1, pwrite(mem, &one, sizeof(one), (off_t)(uintptr_t)p));
	close(mem);
	to.iov_base = p;
	to.iov_len = sizeof(one);
	ASSERT_EQ(-1, process_vm_writev(getpid(), &from, 1, &to, 1, 0));
	/* ENOSYS: a kernel without CROSS_MEMORY_ATTACH, which has no such way in */
	ASSERT_TRUE(errno == EFAULT || errno == ENOSYS);
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(8, write(fds[1], &one, 8));
	ASSERT_EQ(-1, read(fds[0], p, 8));
	ASSERT_EQ(EFAULT, errno);
	/* our own ioctl included */
	v = p;
	ASSERT_EQ(-EFAULT, se_ioctl(self->rw, SYNCEVENT_IOC_GET, v));
	ASSERT_EQ(7, *(volatile uint64_t *)p);
	munmap(p, 4096);
}

/* A mapping is read-only in a child too. */
static int child_maps(void *arg)
{
	return mprotect(arg, 4096, PROT_READ | PROT_WRITE) == -1 ? 0 : 1;
}

TEST_F(rights, kernel_fork)
{
	void *p = se_map(self->ro, PROT_READ);

	ASSERT_TRUE(p);
	ASSERT_EQ(0, se_wait_child(se_fork(child_maps, p)));
	munmap(p, 4096);
}

TEST_F(rights, kernel_duplicates)
{
	int fd, i;

	for (i = 0; i < 4; i++) {
		fd = i == 0 ? se_dup(self->ro, 0) :
		     i == 1 ? se_dup(self->ro, SYNCEVENT_DUP_RDONLY) :
		     i == 2 ? dup(self->ro) : fcntl(self->ro, F_DUPFD_CLOEXEC, 0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ways_to_update(fd));
		ASSERT_EQ(0, ways_to_map(fd));
		ASSERT_EQ(O_RDONLY, fcntl(fd, F_GETFL) & O_ACCMODE);
		close(fd);
	}
	/* equal rights where there were some */
	fd = se_dup(self->rw, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(O_RDWR, fcntl(fd, F_GETFL) & O_ACCMODE);
	ASSERT_EQ(0, se_set(fd, 9));
	ASSERT_EQ(0, se_set(fd, 7));
	close(fd);
}

TEST_F(rights, kernel_fcntl)
{
	static const int flags[] = {
		O_RDWR, O_WRONLY, O_RDWR | O_APPEND, O_RDWR | O_NONBLOCK, O_DIRECT | O_RDWR,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		(void)fcntl(self->ro, F_SETFL, flags[i]);
		ASSERT_EQ(O_RDONLY, fcntl(self->ro, F_GETFL) & O_ACCMODE);
		ASSERT_EQ(0, ways_to_update(self->ro));
		ASSERT_EQ(0, ways_to_map(self->ro));
	}
}

/* New descriptors do not leak into what a program starts. */
TEST_F(rights, kernel_close_on_exec)
{
	int q = se_queue(0);

	ASSERT_LE(0, q);
	ASSERT_EQ(FD_CLOEXEC, fcntl(self->rw, F_GETFD));
	ASSERT_EQ(FD_CLOEXEC, fcntl(self->ro, F_GETFD));
	ASSERT_EQ(FD_CLOEXEC, fcntl(q, F_GETFD));
	close(q);
}

/* How many ways to open the file anew with the update right exist. */
static int ways_to_reopen(int fd)
{
	static const int flags[] = { O_RDWR, O_WRONLY, O_RDWR | O_TRUNC, O_RDWR | O_APPEND };
	char path[64];
	int ways = 0, new, path_fd;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		new = open(path, flags[i]);
		if (new >= 0) {
			ways++;
			close(new);
		}
		path_fd = open(path, O_PATH);
		if (path_fd < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
		new = open(path, flags[i]);
		if (new >= 0) {
			ways++;
			close(new);
		}
		close(path_fd);
	}
	return ways;
}

TEST_F(rights, kernel_reopen)
{
	char path[96];
	void *p = se_map(self->ro, PROT_READ);

	ASSERT_TRUE(p);
	ASSERT_EQ(0, ways_to_reopen(self->ro));
	/* a mapping is a way to its file as well */
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
		 (unsigned long)(uintptr_t)p, (unsigned long)(uintptr_t)p + 4096);
	ASSERT_EQ(-1, open(path, O_RDWR));
	munmap(p, 4096);
}

/* O_PATH is no right at all. */
TEST_F(rights, kernel_path_descriptor)
{
	char path[64];
	uint64_t v;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->rw);
	fd = open(path, O_PATH);
	if (fd < 0)
		return;
	ASSERT_EQ(-EBADF, se_get(fd, &v));
	ASSERT_EQ(-EBADF, se_set(fd, 1));
	close(fd);
}

/* ---- handed to somebody else --------------------------------------------------- */

static int become_nobody(void)
{
	if (geteuid())
		return 0;
	/* Dumpable, or it could not even look into its own /proc/self/fd. */
	return setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	       setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1) ? -1 : 0;
}

static int reader(void *arg)
{
	uint64_t v;
	int fd;

	if (become_nobody())
		return 2;
	fd = se_recv_fd(*(int *)arg);
	if (fd < 0)
		return 3;
	if (ways_to_update(fd))
		return 4;
	if (ways_to_map(fd))
		return 5;
	if (ways_to_reopen(fd))
		return 6;
	if (se_get(fd, &v) || v != 7)
		return 7;
	if (fcntl(fd, F_SETFL, O_RDWR) || se_set(fd, 1) != -EBADF)
		return 8;
	return se_wait(fd, SYNCEVENT_COND_GT, 7, SE_FOREVER, &v) || v != 8 ? 9 : 0;
}

static int writer(void *arg)
{
	int fd;

	if (become_nobody())
		return 2;
	fd = se_recv_fd(*(int *)arg);
	if (fd < 0)
		return 3;
	return se_set(fd, 8) ? 4 : 0;
}

/* An unprivileged process has what the file has: no less, and no more. */
TEST_F(rights, kernel_unprivileged_receiver)
{
	int sv[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = se_fork(reader, &sv[1]);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, se_send_fd(sv[0], self->ro));
	ASSERT_TRUE(se_until(se_waiters(self->rw) == 1 || se_has_ended(pid)));
	ASSERT_EQ(0, se_send_fd(sv[0], self->rw));
	ASSERT_EQ(0, se_wait_child(se_fork(writer, &sv[1])));
	ASSERT_EQ(0, se_wait_child(pid));
	ASSERT_EQ(0, se_set(self->rw, 7));
	close(sv[0]);
	close(sv[1]);
}

/* And it may make events of its own: the device is open to all. */
static int creator(void *arg)
{
	uint64_t v;
	int fd;

	(void)arg;
	if (become_nobody())
		return 2;
	fd = se_create(3);
	if (fd < 0)
		return 3;
	return se_add(fd, 1, &v) || v != 3 ? 4 : 0;
}

TEST(kernel_unprivileged_creator)
{
	ASSERT_EQ(0, se_wait_child(se_fork(creator, NULL)));
}

TEST_HARNESS_MAIN
