// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * synceventfs: what the file system does and refuses, and that a file from open(2)
 * is a file of an event like any other. names_life.c: how long events live by it.
 */
#include "names.h"

#include <liburing.h>
#include <sys/xattr.h>

/* ---- an opened file is an event -------------------------------------------------- */

TEST_F(names, every_operation_works)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), q, many;
	struct syncevent_wait_entry e[2];
	struct syncevent_completion done;
	struct syncevent_cell *cell;
	struct syncevent_info info;
	uint32_t index;
	uint64_t v;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, value_of(fd));
	ASSERT_EQ(0, se_info(fd, &info));
	ASSERT_EQ(SYNCEVENT_INFO_UPDATE, info.flags);
	ASSERT_EQ(0, se_set(fd, 5));
	ASSERT_EQ(0, se_add(fd, 2, &v));
	ASSERT_EQ(5, v);
	ASSERT_EQ(POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM, se_poll(fd, 0));
	ASSERT_EQ(0, se_read(fd, &v));
	ASSERT_EQ(7, v);
	ASSERT_EQ(POLLOUT | POLLWRNORM, se_poll(fd, 0));
	ASSERT_EQ(0, se_write(fd, 1));
	ASSERT_EQ(0, se_wait(fd, SYNCEVENT_COND_EQ, 8, 0, &v));
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_GE, 9));
	ASSERT_EQ(POLLOUT | POLLWRNORM, se_poll(fd, 0));

	cell = se_map(fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, cell);
	ASSERT_EQ(8, __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE));
	__atomic_store_n(&cell->value, 9, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, se_ring(fd));
	ASSERT_EQ(POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM, se_poll(fd, 0));

	many = se_create(3);
	e[0] = se_entry(many, SYNCEVENT_COND_GT, 3);
	e[1] = se_entry(fd, SYNCEVENT_COND_EQ, 9);
	ASSERT_EQ(0, se_wait_many(e, 2, 0, 0, &index));
	ASSERT_EQ(1, index);
	q = se_queue(0);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, 9, 1, SE_FOREVER));
	ASSERT_EQ(0, se_set(fd, 10));
	ASSERT_EQ(1, se_reap(q, &done, 1));
	ASSERT_EQ(10, done.value);

	ASSERT_EQ(0, munmap(cell, 4096));
	close(q);
	close(many);
	close(fd);
}

/* Its own condition and last-read value each; the event in common. */
TEST_F(names, each_open_is_a_file_of_its_own)
{
	int a = open_at(self->dir, "a", O_CREAT | O_RDWR), b, c;
	uint64_t v;

	b = open_at(self->dir, "a", O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(id_of(a), id_of(b));
	ASSERT_EQ(-EAGAIN, se_read(b, &v));
	ASSERT_EQ(0, se_set(a, 4));
	ASSERT_EQ(0, se_read(b, &v));
	ASSERT_EQ(POLLOUT | POLLWRNORM, se_poll(b, 0));
	ASSERT_TRUE(se_poll(a, 0) & POLLIN);
	ASSERT_EQ(0, se_arm(a, SYNCEVENT_COND_GT, 4));
	ASSERT_FALSE(se_poll(a, 0) & POLLIN);
	/* opened now: nothing unread, no condition */
	c = open_at(self->dir, "a", O_RDONLY);
	ASSERT_LE(0, c);
	ASSERT_EQ(0, se_poll(c, 0));
	ASSERT_EQ(0, se_set(b, 5));
	ASSERT_EQ(POLLIN | POLLRDNORM, se_poll(c, 0));
	close(a);
	close(b);
	close(c);
}

TEST_F(names, dup_gives_another)
{
	int a = open_at(self->dir, "a", O_CREAT | O_RDWR), b, c;
	char link[64], path[128];
	uint64_t v;
	ssize_t n;

	b = se_dup(a, SYNCEVENT_DUP_NONBLOCK);
	ASSERT_LE(0, b);
	ASSERT_EQ(id_of(a), id_of(b));
	ASSERT_EQ(-EAGAIN, se_read(b, &v));
	ASSERT_EQ(0, se_set(b, 1));
	c = se_dup(b, SYNCEVENT_DUP_RDONLY);
	ASSERT_LE(0, c);
	ASSERT_EQ(FD_CLOEXEC, fcntl(c, F_GETFD));
	ASSERT_EQ(-EBADF, se_set(c, 2));
	ASSERT_EQ(O_RDONLY, fcntl(c, F_GETFL) & O_ACCMODE);
	close(a);
	close(b);
	b = se_dup(c, 0);
	ASSERT_EQ(-EBADF, se_set(b, 2));
	/* and is found in /proc by its name */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", b);
	n = readlink(link, path, sizeof(path) - 1);
	ASSERT_LT(0, n);
	path[n] = '\0';
	ASSERT_STREQ(at(self->dir, "a"), path);
	close(b);
	close(c);
}

static int epoll_one(int ep, int timeout)
{
	struct epoll_event e;

	return epoll_wait(ep, &e, 1, timeout);
}

TEST_F(names, epoll)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	ASSERT_EQ(0, epoll_one(ep, 0));
	ASSERT_EQ(0, se_set(fd, 1));
	ASSERT_EQ(1, epoll_one(ep, SE_HANG_S * 1000));
	ASSERT_EQ(0, epoll_one(ep, 0));
	ASSERT_EQ(0, se_set(fd, 2));
	ASSERT_EQ(1, epoll_one(ep, SE_HANG_S * 1000));
	ASSERT_EQ(0, se_revoke(fd));
	ASSERT_EQ(1, epoll_one(ep, SE_HANG_S * 1000));
	close(ep);
	close(fd);
}

/* With more room than for one value, too: a regular file would be read on. */
TEST_F(names, io_uring)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR);
	struct __kernel_timespec ts = { .tv_sec = SE_HANG_S };
	uint64_t values[2] = { SE_POISON64, SE_POISON64 };
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;

	ASSERT_EQ(0, io_uring_queue_init(4, &ring, 0));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, fd, values, sizeof(values), 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	ASSERT_EQ(-EAGAIN, io_uring_peek_cqe(&ring, &cqe));
	ASSERT_EQ(1, se_waiters(fd));
	ASSERT_EQ(0, se_set(fd, 3));
	ASSERT_EQ(0, io_uring_wait_cqe_timeout(&ring, &cqe, &ts));
	ASSERT_EQ(sizeof(values[0]), cqe->res);
	ASSERT_EQ(3, values[0]);
	ASSERT_EQ(SE_POISON64, values[1]);
	io_uring_queue_exit(&ring);
	close(fd);
	/* the ring lets go of its file when it gets round to it */
	ASSERT_TRUE(se_until(!umount(self->dir)));
	ASSERT_EQ(0, mount_at(self->dir, NULL));
}

static int wait_by_name(void *arg)
{
	struct meeting *m = arg;
	uint64_t v;
	int fd;

	WANT(!become(UID(0)));
	fd = open_at(m->dir, "a", O_RDONLY);
	WANT(fd >= 0);
	WANT(!se_wait(fd, SYNCEVENT_COND_GE, 3, SE_FOREVER, &v) && v == 3);
	WANT(se_wait(fd, SYNCEVENT_COND_GE, 4, SE_FOREVER, &v) == -EIDRM);
	return 0;
}

/* Two processes that share nothing but the name. */
TEST_F(names, processes_meet_by_name)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR);
	struct meeting m = { .dir = self->dir };
	pid_t pid = se_fork(wait_by_name, &m);

	ASSERT_TRUE(se_until(se_waiters(fd) == 1 || se_has_ended(pid)));
	ASSERT_EQ(0, se_set(fd, 3));
	ASSERT_TRUE(se_until(se_waiters(fd) == 1 || se_has_ended(pid)));
	ASSERT_EQ(0, se_revoke(fd));
	ASSERT_EQ(0, se_wait_child(pid));
	close(fd);
}

static int use_received(void *arg)
{
	struct meeting *m = arg;
	int fd;

	WANT(!become(UID(0)));
	WANT(open_at(m->dir, "a", O_RDWR) == -EACCES);
	fd = se_recv_fd(m->sock);
	WANT(fd >= 0 && !se_add(fd, 1, NULL));
	return 0;
}

/* What a file may do is in the file, not in who has it. */
TEST_F(names, fork_and_scm_rights)
{
	int fd = open(at(self->dir, "a"), O_CREAT | O_RDWR | O_CLOEXEC, 0600), sock[2];
	struct meeting m = { .dir = self->dir };
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	m.sock = sock[1];
	pid = se_fork(use_received, &m);
	ASSERT_EQ(0, se_send_fd(sock[0], fd));
	ASSERT_EQ(0, se_wait_child(pid));
	ASSERT_EQ(1, value_of(fd));
	/* in flight and without a name it lives on */
	ASSERT_EQ(0, se_send_fd(sock[0], fd));
	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	close(fd);
	fd = se_recv_fd(sock[1]);
	ASSERT_EQ(1, value_of(fd));
	close(fd);
	close(sock[0]);
	close(sock[1]);
}

/* ---- creating and opening -------------------------------------------------------- */

TEST_F(names, creating_and_finding)
{
	int a, b;

	ASSERT_EQ(-ENOENT, open_at(self->dir, "a", O_RDWR));
	ASSERT_EQ(-ENOENT, unlink_at(self->dir, "a"));
	a = open_at(self->dir, "a", O_CREAT | O_EXCL | O_RDWR);
	ASSERT_LE(0, a);
	ASSERT_EQ(-EEXIST, open_at(self->dir, "a", O_CREAT | O_EXCL | O_RDWR));
	b = open_at(self->dir, "a", O_CREAT | O_RDWR);
	ASSERT_EQ(id_of(a), id_of(b));
	close(b);
	b = open_at(self->dir, "b", O_CREAT | O_RDONLY);
	ASSERT_LE(0, b);
	ASSERT_NE(id_of(a), id_of(b));
	ASSERT_EQ(-EBADF, se_set(b, 1));
	ASSERT_EQ(2, names_in(self->dir));
	close(a);
	close(b);
}

static int nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0660);

	return fd < 0 ? -errno : fd;
}

static int setup_event(int fd, uint64_t value, uint32_t flags)
{
	struct syncevent_create create = {
		.value = value,
		.flags = flags,
		.publishers = SYNCEVENT_LOC_GPU,
		.subscribers = SYNCEVENT_LOC_DPA,
	};

	return se_ioctl(fd, SYNCEVENT_IOC_SETUP, &create);
}

static int name_it(int fd, const char *path)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

TEST_F(names, complete_before_its_name)
{
	struct syncevent_info info;
	struct stat st;
	int fd, other;

	umask(027);
	fd = nameless(self->dir);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, names_in(self->dir));
	ASSERT_EQ(0, setup_event(fd, 5, SYNCEVENT_CREATE_SILENT));
	ASSERT_EQ(-EINVAL, setup_event(fd, 5, SYNCEVENT_CREATE_NONBLOCK));
	ASSERT_EQ(0, name_it(fd, at(self->dir, "a")));
	ASSERT_EQ(-EBUSY, setup_event(fd, 6, 0));
	ASSERT_EQ(1, names_in(self->dir));
	ASSERT_EQ(0, stat(at(self->dir, "a"), &st));
	ASSERT_EQ(S_IFIFO | 0640, st.st_mode);
	ASSERT_EQ(1, st.st_nlink);

	other = open_at(self->dir, "a", O_RDWR);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, se_info(other, &info));
	ASSERT_EQ(id_of(fd), info.id);
	ASSERT_EQ(5, info.value);
	ASSERT_TRUE(info.flags & SYNCEVENT_INFO_SILENT);
	ASSERT_EQ(SYNCEVENT_LOC_GPU, info.publishers);
	ASSERT_EQ(SYNCEVENT_LOC_DPA, info.subscribers);

	/* One name, once. */
	ASSERT_EQ(-EPERM, name_it(fd, at(self->dir, "b")));
	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	ASSERT_EQ(-ENOENT, name_it(fd, at(self->dir, "b")));
	ASSERT_EQ(-EBUSY, setup_event(fd, 6, 0));
	ASSERT_EQ(0, names_in(self->dir));
	ASSERT_EQ(0, se_set(fd, 7));
	close(other);
	close(fd);
}

/* The name that it gets is a holder, and one that it never gets is none. */
TEST_F(names, nameless_ones_end_with_their_files)
{
	struct syncevent_completion done;
	int q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	int fd = nameless(self->dir);
	int taken = open_at(self->dir, "taken", O_CREAT | O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, 0, 1, SE_FOREVER));
	ASSERT_EQ(-EEXIST, name_it(fd, at(self->dir, "taken")));
	close(fd);
	ASSERT_EQ(1, se_reap(q, &done, 1));
	ASSERT_EQ(-EIDRM, done.status);

	fd = nameless(self->dir);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, 0, 2, SE_FOREVER));
	ASSERT_EQ(0, name_it(fd, at(self->dir, "kept")));
	close(fd);
	ASSERT_EQ(-EAGAIN, se_reap(q, &done, 1));
	fd = open_at(self->dir, "kept", O_RDWR);
	ASSERT_EQ(0, se_set(fd, 1));
	ASSERT_EQ(1, se_reap(q, &done, 1));
	ASSERT_EQ(0, done.status);
	close(fd);
	close(taken);
	close(q);
}

TEST_F(names, modes_and_umask)
{
	static const mode_t modes[] = { 0600, 0640, 0666, 0400, 0, 0777 };
	char name[16];
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		umask(i % 2 ? 0027 : 0);
		fd = open(at(self->dir, name), O_CREAT | O_RDWR | O_CLOEXEC, modes[i]);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, fstat(fd, &st));
		ASSERT_EQ(S_IFIFO | (modes[i] & ~(i % 2 ? 0027U : 0)), st.st_mode);
		ASSERT_EQ(0, st.st_size);
		ASSERT_EQ(1, st.st_nlink);
		close(fd);
	}
}

/* To update without reading is not among the rights. */
TEST_F(names, write_only_is_refused)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR);

	ASSERT_EQ(-EINVAL, open_at(self->dir, "a", O_WRONLY));
	ASSERT_EQ(-EINVAL, open_at(self->dir, "a", O_WRONLY | O_NONBLOCK));
	ASSERT_EQ(-EINVAL, open_at(self->dir, "a", O_ACCMODE));
	ASSERT_EQ(-EINVAL, open_at(self->dir, "a", O_RDWR | O_DIRECT));
	/* a name that was made on the way stays, as with other file systems */
	ASSERT_EQ(-EINVAL, open_at(self->dir, "b", O_CREAT | O_WRONLY));
	ASSERT_EQ(0, unlink_at(self->dir, "b"));
	close(fd);
}

TEST_F(names, truncation_means_nothing)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), again;

	ASSERT_EQ(0, se_set(fd, 6));
	again = open_at(self->dir, "a", O_CREAT | O_TRUNC | O_RDWR);
	ASSERT_LE(0, again);
	ASSERT_EQ(6, value_of(again));
	ASSERT_EQ(-1, ftruncate(fd, 0));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, truncate(at(self->dir, "a"), 0));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(6, value_of(fd));
	close(again);
	close(fd);
}

TEST_F(names, names_of_any_bytes)
{
	char name[257], odd[256];
	int fd, n = 0;

	memset(name, 'x', 256);
	name[256] = '\0';
	ASSERT_EQ(-ENAMETOOLONG, open_at(self->dir, name, O_CREAT | O_RDWR));
	ASSERT_EQ(-ENAMETOOLONG, open_at(self->dir, name, O_RDWR));
	name[255] = '\0';
	fd = open_at(self->dir, name, O_CREAT | O_RDWR);
	ASSERT_LE(0, fd);
	close(fd);
	for (int c = 1; c < 256; c++)
		if (c != '/')
			odd[n++] = (char)c;
	odd[n] = '\0';
	fd = open_at(self->dir, odd, O_CREAT | O_EXCL | O_RDWR);
	ASSERT_LE(0, fd);
	close(fd);
	ASSERT_EQ(2, names_in(self->dir));
	ASSERT_EQ(0, unlink_at(self->dir, odd));
	ASSERT_EQ(0, unlink_at(self->dir, name));
	ASSERT_EQ(0, names_in(self->dir));
}

TEST_F(names, readdir_shows_each_once)
{
	unsigned char seen[300] = { 0 };
	struct dirent *e;
	char name[16];
	DIR *d;

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "%d", i);
		close(open_at(self->dir, name, O_CREAT | O_RDWR));
	}
	for (int i = 0; i < 300; i += 3) {
		snprintf(name, sizeof(name), "%d", i);
		ASSERT_EQ(0, unlink_at(self->dir, name));
	}
	d = opendir(self->dir);
	ASSERT_NE(NULL, d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			seen[atoi(e->d_name)]++;
	closedir(d);
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(i % 3 != 0, seen[i]) TH_LOG("%d", i);
	}
	ASSERT_EQ(200, names_in(self->dir));
}

static int refused(const char *what, int ret, int error)
{
	if (ret == -1 && errno == error)
		return 0;
	fprintf(stderr, "# %s: %d, errno %d instead of %d\n", what, ret, errno, error);
	return 1;
}

#define REFUSED(call, error) EXPECT_EQ(0, refused(#call, call, error))

TEST_F(names, nothing_else_is_done)
{
	const char *a = at(self->dir, "a"), *b = at(self->dir, "b");
	struct timespec now[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };
	char *argv[] = { NULL };
	struct stat st;
	int fd;

	close(open_at(self->dir, "a", O_CREAT | O_RDWR));
	REFUSED(mkdir(b, 0777), EPERM);
	REFUSED(symlink("a", b), EPERM);
	REFUSED(link(a, b), EPERM);
	REFUSED(rename(a, b), EPERM);
	REFUSED(mknod(b, S_IFIFO | 0666, 0), EPERM);
	REFUSED(mknod(b, S_IFCHR | 0666, 0x103), EPERM);
	REFUSED(rmdir(a), ENOTDIR);
	REFUSED(rmdir(self->dir), EBUSY);
	REFUSED(unlink(at(a, "b")), ENOTDIR);
	REFUSED(chown(a, UID(0), UID(0)), EPERM);
	REFUSED(chown(self->dir, UID(0), UID(0)), EPERM);
	REFUSED(utimensat(AT_FDCWD, a, now, 0), EPERM);
	REFUSED(setxattr(a, "trusted.x", "y", 1, 0), EOPNOTSUPP);
	ASSERT_EQ(0, chmod(a, 0777));
	REFUSED(execv(a, argv), EACCES);
	ASSERT_EQ(1, names_in(self->dir));
	ASSERT_EQ(0, stat(a, &st));
	ASSERT_EQ(0, st.st_uid);
	fd = open_at(self->dir, "a", O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0));
	ASSERT_EQ(EPERM, errno);
	close(fd);
}

/* ---- rights ---------------------------------------------------------------------- */

TEST_F(names, read_only_cannot_update)
{
	int rw = open_at(self->dir, "a", O_CREAT | O_RDWR), ro;
	struct syncevent_info info;
	void *p;

	ro = open_at(self->dir, "a", O_RDONLY);
	ASSERT_LE(0, ro);
	ASSERT_EQ(-EBADF, se_set(ro, 1));
	ASSERT_EQ(-EBADF, se_add(ro, 1, NULL));
	ASSERT_EQ(-EBADF, se_ring(ro));
	ASSERT_EQ(-EBADF, se_revoke(ro));
	ASSERT_EQ(-EBADF, se_write(ro, 1));
	ASSERT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0));
	ASSERT_EQ(EACCES, errno);
	p = se_map(ro, PROT_READ);
	ASSERT_NE(NULL, p);
	ASSERT_EQ(-1, mprotect(p, 4096, PROT_READ | PROT_WRITE));
	ASSERT_EQ(EACCES, errno);
	munmap(p, 4096);
	ASSERT_EQ(0, se_info(ro, &info));
	ASSERT_EQ(0, info.flags);
	ASSERT_EQ(0, value_of(rw));
	close(ro);
	close(rw);
}

static int try_modes(void *arg)
{
	const char *dir = arg;
	char path[64];
	int fd;

	WANT(!become(UID(1)));
	WANT(open_at(dir, "0600", O_RDONLY) == -EACCES);
	WANT(open_at(dir, "0600", O_RDWR) == -EACCES);
	WANT(open_at(dir, "0622", O_RDWR) == -EACCES);
	WANT(open_at(dir, "0644", O_RDWR) == -EACCES);
	fd = open_at(dir, "0644", O_RDONLY);
	WANT(fd >= 0 && se_set(fd, 1) == -EBADF);
	/* nor anew by way of the file that it has */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	WANT(open(path, O_RDWR) == -1 && errno == EACCES);
	WANT(close(fd) == 0);
	fd = open_at(dir, "0666", O_RDWR);
	WANT(fd >= 0 && !se_set(fd, 1));
	WANT(close(fd) == 0);
	/* sticky: what it may update it may not take away */
	WANT(unlink_at(dir, "0666") == -EPERM);
	WANT(chmod(at(dir, "0666"), 0600) == -1 && errno == EPERM);
	fd = open_at(dir, "mine", O_CREAT | O_EXCL | O_RDWR);
	WANT(fd >= 0);
	WANT(chmod(at(dir, "mine"), 0400) == 0 && fchmod(fd, 0) == 0);
	WANT(!se_set(fd, 1));
	WANT(open_at(dir, "mine", O_RDONLY) == -EACCES);
	WANT(!unlink_at(dir, "mine"));
	return 0;
}

TEST_F(names, other_users)
{
	static const char * const names[] = { "0600", "0622", "0644", "0666" };
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = open(at(self->dir, names[i]), O_CREAT | O_RDWR,
			  (mode_t)strtoul(names[i], NULL, 8));
		ASSERT_LE(0, fd);
		close(fd);
	}
	ASSERT_EQ(0, se_wait_child(se_fork(try_modes, self->dir)));
	ASSERT_EQ(4, names_in(self->dir));
	/* an open file keeps its rights */
	fd = open_at(self->dir, "0666", O_RDWR);
	ASSERT_EQ(0, chmod(at(self->dir, "0666"), 0));
	ASSERT_EQ(0, se_set(fd, 3));
	close(fd);
}

static int create_and_leave(void *arg)
{
	WANT(!become(UID(2)));
	WANT(open_at(arg, "theirs", O_CREAT | O_RDWR) >= 0);
	return 0;
}

static int open_theirs(void *arg)
{
	WANT(!become(UID(3)));
	return open_at(arg, "theirs", O_CREAT | O_RDWR) == -EACCES ? 13 :
	       open_at(arg, "theirs", O_RDWR) < 0 ? 2 : 0;
}

/* The sysctl that distributions set: O_CREAT does not open what somebody else left there. */
TEST_F(names, protected_fifos)
{
	char before;
	int fd = open("/proc/sys/fs/protected_fifos", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	ASSERT_EQ(1, pread(fd, &before, 1, 0));
	ASSERT_EQ(0, se_wait_child(se_fork(create_and_leave, self->dir)));
	ASSERT_EQ(1, pwrite(fd, "0", 1, 0));
	EXPECT_EQ(0, se_wait_child(se_fork(open_theirs, self->dir)));
	ASSERT_EQ(1, pwrite(fd, "1", 1, 0));
	EXPECT_EQ(13, se_wait_child(se_fork(open_theirs, self->dir)));
	ASSERT_EQ(1, pwrite(fd, &before, 1, 0));
	close(fd);
}

TEST_HARNESS_MAIN
