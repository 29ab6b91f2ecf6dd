// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * io_uring on events and wait queues: reads, writes and polls that complete by
 * the event's own wake-ups, never by a worker thread that blocks for them.
 */
#include "team.h"

#include <dirent.h>
#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/uio.h>

enum { READ = 1, WRITE, POLL, CANCEL, TIMEOUT };

/* Worker threads of this process that io_uring made. They stay for seconds. */
static int workers(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char path[300], name[32];
	int n = 0;
	FILE *f;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		n += fgets(name, sizeof(name), f) && !strncmp(name, "iou-wrk", 7);
		fclose(f);
	}
	if (!dir)
		return -1;
	closedir(dir);
	return n;
}

static int64_t events(void)
{
	struct syncevent_dev_info info;
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &info);

	return ret < 0 ? ret : (int64_t)info.events;
}

/* The next completion, or SE_HUNG; user_data goes to *what. */
static int reap(struct io_uring *ring, uint64_t *what, unsigned int *flags)
{
	struct __kernel_timespec ts = { .tv_sec = SE_HANG_S };
	struct io_uring_cqe *cqe;
	int res;

	if (io_uring_wait_cqe_timeout(ring, &cqe, &ts))
		return SE_HUNG;
	res = cqe->res;
	*what = cqe->user_data;
	if (flags)
		*flags = cqe->flags;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

/* Nothing completed yet: io_uring_peek_cqe() runs what is due. */
static bool quiet(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;

	return io_uring_peek_cqe(ring, &cqe) == -EAGAIN;
}

static struct io_uring_sqe *sqe_for(struct io_uring *ring, uint64_t what)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	memset(sqe, 0, sizeof(*sqe));
	sqe->user_data = what;
	return sqe;
}

/* Hand over what is prepared. A poller thread is waited for: tests then close files. */
static int submit(struct io_uring *ring)
{
	const int ret = io_uring_submit(ring);

	if (ring->flags & IORING_SETUP_SQPOLL && !se_until(!io_uring_sq_ready(ring)))
		return -ETIME;
	return ret;
}

static int submit_read(struct io_uring *ring, int fd, void *buffer, unsigned int size)
{
	struct io_uring_sqe *sqe = sqe_for(ring, 0);

	io_uring_prep_read(sqe, fd, buffer, size, 0);
	sqe->user_data = READ;
	return submit(ring);
}

static int submit_poll(struct io_uring *ring, int fd, bool multi)
{
	struct io_uring_sqe *sqe = sqe_for(ring, 0);

	if (multi)
		io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->user_data = POLL;
	return submit(ring);
}

static int submit_cancel(struct io_uring *ring, uint64_t what)
{
	struct io_uring_sqe *sqe = sqe_for(ring, 0);

	io_uring_prep_cancel64(sqe, what, 0);
	sqe->user_data = CANCEL;
	return submit(ring);
}

FIXTURE(ring) {
	struct io_uring ring;
	int64_t before;
	int fd;
	int keep;		/* another file of the event */
	uint64_t value;
	uint64_t what;
};

FIXTURE_VARIANT(ring) {
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(ring, plain) { .flags = 0 };
FIXTURE_VARIANT_ADD(ring, sqpoll) { .flags = IORING_SETUP_SQPOLL };

FIXTURE_SETUP(ring)
{
	int ret = io_uring_queue_init(64, &self->ring, variant->flags);

	if (ret == -ENOSYS)
		SKIP(return, "kernel without io_uring");
	ASSERT_EQ(0, ret);
	ASSERT_LE(0, se_dev());
	self->before = events();
	self->fd = se_create(0);
	ASSERT_LE(0, self->fd);
	self->keep = se_dup(self->fd, 0);
	ASSERT_LE(0, self->keep);
}

FIXTURE_TEARDOWN(ring)
{
	EXPECT_EQ(0, workers());
}

/* ---- events --------------------------------------------------------------------- */

TEST_F(ring, read_of_a_ready_event)
{
	ASSERT_EQ(0, se_set(self->fd, 5));
	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	EXPECT_EQ(8, reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(READ, self->what);
	EXPECT_EQ(5, self->value);
}

TEST_F(ring, read_waits_for_an_update)
{
	unsigned int i;

	for (i = 1; i <= 100; i++) {
		ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
		ASSERT_TRUE(se_until(se_waiters(self->fd) >= 1));
		ASSERT_TRUE(quiet(&self->ring));
		ASSERT_EQ(0, se_set(i % 2 ? self->fd : self->keep, i));
		ASSERT_EQ(8, reap(&self->ring, &self->what, NULL));
		ASSERT_EQ(i, self->value);
	}
}

TEST_F(ring, read_waits_for_the_armed_condition)
{
	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GE, 10));
	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	ASSERT_TRUE(se_until_waiters(self->fd, 1));
	ASSERT_EQ(0, se_set(self->fd, 9));
	EXPECT_TRUE(quiet(&self->ring));
	ASSERT_EQ(0, se_set(self->fd, 10));
	EXPECT_EQ(8, reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(10, self->value);
}

TEST_F(ring, write_adds)
{
	struct io_uring_sqe *sqe;
	unsigned int i;
	uint64_t seven = 7;

	for (i = 1; i <= 10; i++) {
		sqe = sqe_for(&self->ring, 0);
		io_uring_prep_write(sqe, self->fd, &seven, 8, 0);
		sqe->user_data = WRITE;
		ASSERT_EQ(1, submit(&self->ring));
		ASSERT_EQ(8, reap(&self->ring, &self->what, NULL));
		ASSERT_EQ(0, se_get(self->fd, &self->value));
		ASSERT_EQ(7 * i, self->value);
	}
	sqe = sqe_for(&self->ring, 0);
	io_uring_prep_write(sqe, self->fd, &seven, 7, 0);
	ASSERT_EQ(1, submit(&self->ring));
	EXPECT_EQ(-EINVAL, reap(&self->ring, &self->what, NULL));
	sqe = sqe_for(&self->ring, 0);
	io_uring_prep_write(sqe, se_dup(self->fd, SYNCEVENT_DUP_RDONLY), &seven, 8, 0);
	ASSERT_EQ(1, submit(&self->ring));
	EXPECT_EQ(-EBADF, reap(&self->ring, &self->what, NULL));
}

TEST_F(ring, read_into_pieces)
{
	uint32_t part[2] = { 0, 0 };
	struct iovec iov[2] = { { &part[1], 4 }, { &part[0], 4 } };
	struct io_uring_sqe *sqe = sqe_for(&self->ring, 0);

	io_uring_prep_readv(sqe, self->fd, iov, 2, 0);
	ASSERT_EQ(1, submit(&self->ring));
	ASSERT_TRUE(se_until_waiters(self->fd, 1));
	ASSERT_EQ(0, se_set(self->fd, 0x1111111122222222ULL));
	EXPECT_EQ(8, reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(0x22222222, part[1]);
	EXPECT_EQ(0x11111111, part[0]);
}

TEST_F(ring, poll_once)
{
	unsigned int i;

	for (i = 1; i <= 20; i++) {
		ASSERT_EQ(1, submit_poll(&self->ring, self->fd, false));
		ASSERT_TRUE(se_until(se_waiters(self->fd) >= 1));
		ASSERT_TRUE(quiet(&self->ring));
		ASSERT_EQ(0, se_set(self->keep, i));
		ASSERT_EQ(POLLIN, reap(&self->ring, &self->what, NULL));
		ASSERT_EQ(0, se_read(self->fd, &self->value));
		ASSERT_EQ(i, self->value);
	}
}

TEST_F(ring, poll_many_times)
{
	unsigned int i, flags;

	ASSERT_EQ(1, submit_poll(&self->ring, self->fd, true));
	for (i = 1; i <= 100; i++) {
		ASSERT_EQ(0, se_set(self->keep, i));
		ASSERT_EQ(POLLIN, reap(&self->ring, &self->what, &flags));
		ASSERT_NE(0, flags & IORING_CQE_F_MORE);
		ASSERT_EQ(0, se_read(self->fd, &self->value));
		ASSERT_EQ(i, self->value);
	}
	ASSERT_EQ(1, submit_cancel(&self->ring, POLL));
	for (i = 0; i < 2; i++) {
		int res = reap(&self->ring, &self->what, NULL);

		EXPECT_EQ(self->what == POLL ? -ECANCELED : 0, res);
	}
}

TEST_F(ring, revocation_ends_read_and_poll)
{
	unsigned int i;

	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	ASSERT_EQ(1, submit_poll(&self->ring, self->fd, false));
	ASSERT_EQ(1, submit_poll(&self->ring, self->keep, true));
	ASSERT_TRUE(se_until(se_waiters(self->fd) == 2));
	ASSERT_EQ(0, se_revoke(self->keep));
	for (i = 0; i < 3; i++) {
		int res = reap(&self->ring, &self->what, NULL);

		EXPECT_EQ(self->what == READ ? -EIDRM : POLLHUP | POLLERR, res);
	}
	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	EXPECT_EQ(-EIDRM, reap(&self->ring, &self->what, NULL));
}

TEST_F(ring, cancel_ends_read_and_poll)
{
	unsigned int i;

	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	ASSERT_EQ(1, submit_poll(&self->ring, self->fd, false));
	ASSERT_TRUE(se_until(se_waiters(self->fd) >= 1));
	ASSERT_EQ(1, submit_cancel(&self->ring, READ));
	ASSERT_EQ(1, submit_cancel(&self->ring, POLL));
	for (i = 0; i < 4; i++) {
		int res = reap(&self->ring, &self->what, NULL);

		EXPECT_EQ(self->what == CANCEL ? 0 : -ECANCELED, res);
	}
	ASSERT_EQ(0, se_set(self->fd, 1));
	EXPECT_TRUE(quiet(&self->ring));
	ASSERT_EQ(0, se_read(self->fd, &self->value));
	EXPECT_EQ(1, self->value);
}

TEST_F(ring, linked_timeout_ends_a_read)
{
	struct __kernel_timespec ts = { .tv_nsec = 1000000 };
	struct io_uring_sqe *sqe = sqe_for(&self->ring, 0);
	unsigned int i;

	io_uring_prep_read(sqe, self->fd, &self->value, 8, 0);
	sqe->user_data = READ;
	sqe->flags |= IOSQE_IO_LINK;
	sqe = sqe_for(&self->ring, 0);
	io_uring_prep_link_timeout(sqe, &ts, 0);
	sqe->user_data = TIMEOUT;
	ASSERT_EQ(2, submit(&self->ring));
	for (i = 0; i < 2; i++) {
		int res = reap(&self->ring, &self->what, NULL);

		EXPECT_EQ(self->what == READ ? -ECANCELED : -ETIME, res);
	}
}

TEST_F(ring, closed_while_pending)
{
	/* Each its own file: the read makes its file unready again. */
	int polled = se_dup(self->fd, 0);

	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	ASSERT_EQ(1, submit_poll(&self->ring, polled, false));
	ASSERT_TRUE(se_until_waiters(self->keep, 2));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, close(polled));
	ASSERT_EQ(0, se_set(self->keep, 3));
	EXPECT_LT(0, reap(&self->ring, &self->what, NULL));
	EXPECT_LT(0, reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(3, self->value);
	EXPECT_TRUE(se_until_waiters(self->keep, 0));
}

TEST_F(ring, ring_that_goes_away_lets_go)
{
	ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
	ASSERT_EQ(1, submit_poll(&self->ring, self->fd, true));
	ASSERT_TRUE(se_until(se_waiters(self->keep) >= 1));
	ASSERT_EQ(0, close(self->fd));
	io_uring_queue_exit(&self->ring);
	EXPECT_TRUE(se_until_waiters(self->keep, 0));
	ASSERT_EQ(0, close(self->keep));
	EXPECT_TRUE(se_until(events() == self->before));
}

static int die_with_pending_reads(void *arg)
{
	int fd = *(int *)arg;
	struct io_uring ring;
	uint64_t value;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (io_uring_queue_init(8, &ring, 0) || submit_read(&ring, fd, &value, 8) != 1 ||
	    submit_poll(&ring, fd, true) != 1)
		return 1;
	raise(SIGKILL);
	return 2;
}

TEST_F(ring, process_that_dies_lets_go)
{
	int mine = se_dup(self->fd, 0);

	ASSERT_EQ(-SIGKILL, se_wait_child(se_fork(die_with_pending_reads, &mine)));
	ASSERT_EQ(0, close(mine));
	EXPECT_TRUE(se_until_waiters(self->fd, 0));
}

TEST_F(ring, fixed_file)
{
	struct io_uring_sqe *sqe;

	ASSERT_EQ(0, io_uring_register_files(&self->ring, &self->fd, 1));
	sqe = sqe_for(&self->ring, 0);
	io_uring_prep_read(sqe, 0, &self->value, 8, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	ASSERT_EQ(1, submit(&self->ring));
	ASSERT_TRUE(se_until(se_waiters(self->keep) >= 1));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, se_set(self->keep, 4));
	EXPECT_EQ(8, reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(4, self->value);
}

/* Old kernels do not register file memory; where they do, it must outlive the event. */
TEST_F(ring, registered_buffer_in_the_cell)
{
	struct syncevent_cell *cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	struct iovec iov = { cell, 4096 };
	struct syncevent_info info;
	struct io_uring_sqe *sqe;
	uint64_t nine = 9;
	int fds[2], ret;

	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, se_set(self->fd, 5));
	ASSERT_EQ(0, pipe(fds));
	ret = io_uring_register_buffers(&self->ring, &iov, 1);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "kernel does not register file memory with io_uring");
	ASSERT_EQ(0, ret);
	sqe = sqe_for(&self->ring, 0);
	io_uring_prep_read_fixed(sqe, fds[0], cell, 8, 0, 0);
	ASSERT_EQ(1, submit(&self->ring));
	ASSERT_EQ(0, se_revoke(self->fd));
	ASSERT_EQ(8, write(fds[1], &nine, 8));
	EXPECT_EQ(8, reap(&self->ring, &self->what, NULL));
	/* The end of the event is its last value, for whoever looks at it afterwards. */
	ASSERT_EQ(0, se_info(self->fd, &info));
	EXPECT_EQ(5, info.value);
	EXPECT_EQ(5, cell->value);

	sqe = sqe_for(&self->ring, 0);
	io_uring_prep_read_fixed(sqe, fds[0], cell, 8, 0, 0);
	ASSERT_EQ(1, submit(&self->ring));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, close(self->keep));
	ASSERT_EQ(8, write(fds[1], &nine, 8));
	EXPECT_EQ(8, reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(5, cell->value);
}

/* Cancel and update at once: one completion, and the value is not lost. */
static int update_soon(struct member *m)
{
	se_dawdle(&m->random, 5000);
	return se_add(*(int *)m->team->arg, 1, NULL);
}

TEST_F(ring, cancel_races_update)
{
	const unsigned int rounds = se_times(2000);
	unsigned int round, i, cancelled = 0;
	static struct team team;

	ASSERT_EQ(0, team_start(&team, 1, update_soon, &self->keep));
	for (round = 1; round <= rounds; round++) {
		bool read = false;

		ASSERT_EQ(1, submit_read(&self->ring, self->fd, &self->value, 8));
		team_go(&team);
		ASSERT_EQ(1, submit_cancel(&self->ring, READ));
		for (i = 0; i < 2; i++) {
			int res = reap(&self->ring, &self->what, NULL);

			ASSERT_NE(SE_HUNG, res);
			if (self->what != READ)
				continue;
			read = res == 8;
			ASSERT_TRUE(read || res == -ECANCELED || res == -EINTR);
		}
		ASSERT_TRUE(quiet(&self->ring));
		ASSERT_TRUE(team_done(&team));
		if (!read) {
			ASSERT_EQ(0, se_read(self->fd, &self->value));
		}
		ASSERT_EQ(round, self->value);
		cancelled += !read;
	}
	TH_LOG("%u of %u cancelled", cancelled, rounds);
	EXPECT_TRUE(team_end(&team));
}

/* ---- wait queues ------------------------------------------------------------------- */

TEST_F(ring, queue_read_waits_for_a_completion)
{
	struct syncevent_completion done[4];
	int q = se_queue(0);
	unsigned int i;

	ASSERT_LE(0, q);
	for (i = 1; i <= 50; i++) {
		ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, i, i, SE_FOREVER));
		ASSERT_EQ(1, submit_read(&self->ring, q, done, sizeof(done)));
		ASSERT_TRUE(quiet(&self->ring));
		ASSERT_EQ(0, se_set(self->fd, i));
		ASSERT_EQ(sizeof(done[0]), reap(&self->ring, &self->what, NULL));
		ASSERT_EQ(i, done[0].cookie);
		ASSERT_EQ(i, done[0].value);
		ASSERT_EQ(0, done[0].status);
	}
}

TEST_F(ring, queue_poll_many_times)
{
	struct syncevent_completion done;
	unsigned int i, flags;
	int q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);

	ASSERT_LE(0, q);
	ASSERT_EQ(1, submit_poll(&self->ring, q, true));
	for (i = 1; i <= 50; i++) {
		ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, i, i, SE_FOREVER));
		ASSERT_EQ(0, se_set(self->fd, i));
		ASSERT_EQ(POLLIN, reap(&self->ring, &self->what, &flags));
		ASSERT_NE(0, flags & IORING_CQE_F_MORE);
		ASSERT_EQ(1, se_reap(q, &done, 1));
		ASSERT_EQ(i, done.cookie);
	}
}

TEST_F(ring, queue_read_into_bad_memory_loses_nothing)
{
	struct syncevent_completion done;
	int q = se_queue(0);

	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_EQ, 0, 1, SE_FOREVER));
	ASSERT_EQ(1, submit_read(&self->ring, q, (void *)8, sizeof(done)));
	EXPECT_EQ(-EFAULT, reap(&self->ring, &self->what, NULL));
	ASSERT_EQ(1, se_reap(q, &done, 1));
	EXPECT_EQ(1, done.cookie);
}

TEST_F(ring, queue_closed_while_pending)
{
	struct syncevent_completion done;
	int q = se_queue(0);

	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, 1, 6, SE_FOREVER));
	ASSERT_EQ(1, submit_read(&self->ring, q, &done, sizeof(done)));
	ASSERT_TRUE(quiet(&self->ring));
	ASSERT_EQ(0, close(q));
	ASSERT_EQ(0, se_set(self->fd, 1));
	EXPECT_EQ(sizeof(done), reap(&self->ring, &self->what, NULL));
	EXPECT_EQ(6, done.cookie);
	EXPECT_TRUE(se_until_waiters(self->fd, 0));
}

/* ---- what the above stand on ---------------------------------------------------------- */

/* Would a worker thread be seen? */
TEST(control_a_forced_worker_is_seen)
{
	struct io_uring ring;
	struct io_uring_sqe *sqe;
	int fd = eventfd(0, EFD_CLOEXEC), ret = io_uring_queue_init(4, &ring, 0);
	uint64_t value;

	if (ret == -ENOSYS)
		SKIP(return, "kernel without io_uring");
	ASSERT_EQ(0, ret);
	sqe = sqe_for(&ring, 0);
	io_uring_prep_read(sqe, fd, &value, 8, 0);
	sqe->flags |= IOSQE_ASYNC;
	ASSERT_EQ(1, io_uring_submit(&ring));
	EXPECT_TRUE(se_until(workers() == 1));
}

TEST(nowait_flag_of_preadv2_and_pwritev2)
{
	int fd = se_create(0), q = se_queue(0);
	struct syncevent_completion done;
	uint64_t value = 3;
	struct iovec iov = { &value, 8 }, record = { &done, sizeof(done) };

	ASSERT_LE(0, fd);
	ASSERT_LE(0, q);
	alarm(SE_HANG_S);	/* one that sleeps does so for ever */
	EXPECT_EQ(-1, preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(8, pwritev2(fd, &iov, 1, -1, RWF_NOWAIT));
	value = 0;
	EXPECT_EQ(8, preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(3, value);
	EXPECT_EQ(-1, preadv2(q, &record, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_EQ, 3, 1, SE_FOREVER));
	EXPECT_EQ(sizeof(done), preadv2(q, &record, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(1, done.cookie);
}

TEST_HARNESS_MAIN
