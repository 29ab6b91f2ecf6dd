// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Signals during each call that sleeps: with and without SA_RESTART, stopped and
 * continued, killed, in a storm, and together with what the call waits for. And during
 * those that sleep only while another thread has the queue.
 */
#include "common.h"

#include <linux/userfaultfd.h>
#include <syncevent/cell.h>

/**
 * struct call - one call that sleeps until the event is 1
 * @fd: the event
 * @q: a queue with an entry for it
 * @deadline: of those that have one
 */
struct call {
	int fd, q;
	uint64_t deadline;
};

static int call_wait(void *arg)
{
	struct call *c = arg;
	uint64_t seen;
	int ret = se_wait(c->fd, SYNCEVENT_COND_EQ, 1, c->deadline, &seen);

	if (ret)
		return seen == SE_POISON64 ? ret : -EPROTO;
	return seen == 1 ? 0 : -EPROTO;
}

static int many(struct call *c, uint32_t flags)
{
	struct syncevent_wait_entry e[2] = {
		se_entry(c->fd, SYNCEVENT_COND_EQ, 1),
		se_entry(c->fd, SYNCEVENT_COND_GT, 0),
	};
	uint32_t index;
	int ret = se_wait_many(e, 2, flags, c->deadline, &index);

	if (ret)
		return index == SE_POISON32 && e[0].status == (int32_t)SE_POISON32 &&
		       e[1].value == SE_POISON64 ? ret : -EPROTO;
	return index < 2 && e[index].value == 1 && e[index].status == 1 ? 0 : -EPROTO;
}

static int call_any(void *arg)
{
	return many(arg, 0);
}

static int call_all(void *arg)
{
	return many(arg, SYNCEVENT_WAIT_ALL);
}

static int call_read(void *arg)
{
	struct call *c = arg;
	uint64_t v;
	int ret = se_read(c->fd, &v);

	if (ret)
		return v == SE_POISON64 ? ret : -EPROTO;
	return v == 1 ? 0 : -EPROTO;
}

static int call_reap(void *arg)
{
	struct call *c = arg;
	struct syncevent_completion done;
	int ret = se_reap(c->q, &done, 1);

	if (ret < 0)
		return se_poisoned(&done, sizeof(done)) ? ret : -EPROTO;
	return ret == 1 && done.cookie == 5 && done.value == 1 && !done.status ? 0 : -EPROTO;
}

FIXTURE(signals)
{
	struct call c;
	struct se_thread t;
};

FIXTURE_VARIANT(signals)
{
	int (*fn)(void *arg);
	bool read;
};

FIXTURE_VARIANT_ADD(signals, wait) { .fn = call_wait };
FIXTURE_VARIANT_ADD(signals, any) { .fn = call_any };
FIXTURE_VARIANT_ADD(signals, all) { .fn = call_all };
FIXTURE_VARIANT_ADD(signals, read) { .fn = call_read, .read = true };
FIXTURE_VARIANT_ADD(signals, reap) { .fn = call_reap, .read = true };

FIXTURE_SETUP(signals)
{
	self->c.deadline = SE_FOREVER;
	self->c.fd = se_create(0);
	self->c.q = se_queue(0);
	ASSERT_LE(0, self->c.fd);
	ASSERT_LE(0, self->c.q);
	if (variant->fn == call_reap) {
		ASSERT_EQ(0, se_queue_add(self->c.q, self->c.fd, SYNCEVENT_COND_EQ, 1, 5,
					  SE_FOREVER));
	}
}

/* However a call ends, it leaves no waiter and no hint behind. */
FIXTURE_TEARDOWN(signals)
{
	struct syncevent_cell *cell = se_map(self->c.fd, PROT_READ);

	close(self->c.q);
	EXPECT_EQ(0, se_waiters(self->c.fd));
	EXPECT_TRUE(cell);
	if (cell) {
		EXPECT_EQ(SYNCEVENT_WAKE_NONE, cell->hint[0].wake_above);
		EXPECT_EQ(0, cell->hint[0].flags);
	}
	close(self->c.fd);
}

#define SLEEPS()	se_until_sleeps_in(&self->t, variant->read ? SYS_read : SYS_ioctl)

TEST_F(signals, without_restart)
{
	se_handle(SIGUSR1, 0);
	ASSERT_EQ(0, se_start(&self->t, variant->fn, &self->c));
	ASSERT_TRUE(SLEEPS());
	ASSERT_EQ(0, pthread_kill(self->t.thread, SIGUSR1));
	ASSERT_EQ(-EINTR, se_join(&self->t));
}

TEST_F(signals, with_restart)
{
	int i;

	se_handle(SIGUSR1, SA_RESTART);
	ASSERT_EQ(0, se_start(&self->t, variant->fn, &self->c));
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(SLEEPS());
		ASSERT_EQ(0, pthread_kill(self->t.thread, SIGUSR1));
	}
	ASSERT_TRUE(SLEEPS());
	ASSERT_FALSE(se_is_done(&self->t));
	ASSERT_EQ(0, se_set(self->c.fd, 1));
	ASSERT_EQ(0, se_join(&self->t));
}

/* What is ignored does not even wake. */
TEST_F(signals, ignored)
{
	long slept;

	signal(SIGUSR1, SIG_IGN);
	ASSERT_EQ(0, se_start(&self->t, variant->fn, &self->c));
	ASSERT_TRUE(SLEEPS());
	slept = se_switches(self->t.tid);
	ASSERT_EQ(0, pthread_kill(self->t.thread, SIGUSR1));
	ASSERT_EQ(0, pthread_kill(self->t.thread, SIGWINCH));
	ASSERT_TRUE(SLEEPS());
	ASSERT_EQ(slept, se_switches(self->t.tid));
	ASSERT_EQ(0, se_set(self->c.fd, 1));
	ASSERT_EQ(0, se_join(&self->t));
}

static bool child_sleeps(pid_t pid, bool in_read)
{
	return se_until(se_sleeps_in(pid, pid) == (in_read ? SYS_read : SYS_ioctl));
}

/* Stopping is no signal that a program sees: the call goes on. */
TEST_F(signals, stopped_and_continued)
{
	int i, status;
	pid_t pid = se_fork(variant->fn, &self->c);

	ASSERT_LT(0, pid);
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(child_sleeps(pid, variant->read));
		ASSERT_EQ(0, kill(pid, SIGSTOP));
		ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
		ASSERT_TRUE(WIFSTOPPED(status));
		if (i == 9) {
			/* updated while it stands still */
			ASSERT_EQ(0, se_set(self->c.fd, 1));
		}
		ASSERT_EQ(0, kill(pid, SIGCONT));
	}
	ASSERT_EQ(0, se_wait_child(pid));
}

TEST_F(signals, killed)
{
	pid_t pid;
	int i;

	for (i = 0; i < 10; i++) {
		pid = se_fork(variant->fn, &self->c);
		ASSERT_LT(0, pid);
		ASSERT_TRUE(child_sleeps(pid, variant->read));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(-SIGKILL, se_wait_child(pid));
		ASSERT_EQ(variant->fn == call_reap, se_waiters(self->c.fd));
	}
}

/* "Success wins over a ... signal that arrives with it" */
TEST_F(signals, success_wins)
{
	int i;

	se_handle(SIGUSR1, 0);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, se_set(self->c.fd, 0));
		if (variant->fn == call_read) {
			uint64_t v;

			ASSERT_EQ(0, se_arm(self->c.fd, SYNCEVENT_COND_GE, 0));
			ASSERT_EQ(0, se_read(self->c.fd, &v));
			ASSERT_EQ(0, se_disarm(self->c.fd));
		}
		if (variant->fn == call_reap && i) {
			ASSERT_EQ(0, se_queue_add(self->c.q, self->c.fd, SYNCEVENT_COND_EQ,
						  1, 5, SE_FOREVER));
		}
		ASSERT_EQ(0, se_start(&self->t, variant->fn, &self->c));
		ASSERT_TRUE(SLEEPS());
		ASSERT_EQ(0, se_hold(self->t.tid));
		if (i & 1)
			pthread_kill(self->t.thread, SIGUSR1);
		ASSERT_EQ(0, se_set(self->c.fd, 1));
		if (!(i & 1))
			pthread_kill(self->t.thread, SIGUSR1);
		ASSERT_EQ(0, se_let_go());
		ASSERT_EQ(0, se_join(&self->t));
	}
}

/* A deadline stays where it was, however often the call is restarted. */
TEST_F(signals, storm)
{
	int i, n;

	if (variant->read)
		return;		/* no deadline */
	se_handle(SIGUSR1, SA_RESTART);
	for (i = 0; i < 5; i++) {
		self->c.deadline = se_in_ms(200);
		ASSERT_EQ(0, se_start(&self->t, variant->fn, &self->c));
		ASSERT_TRUE(se_until(({
			for (n = 0; n < 50 && !se_is_done(&self->t); n++) {
				pthread_kill(self->t.thread, SIGUSR1);
				sched_yield();
			}
			se_is_done(&self->t);
		})));
		ASSERT_EQ(-ETIMEDOUT, se_join(&self->t));
		ASSERT_LE(self->c.deadline, se_now(CLOCK_MONOTONIC));
	}
}

/* A signal at any moment of the call ends it; no waiter is left over. */
TEST_F(signals, storm_without_restart)
{
	int i, ret;

	se_handle(SIGUSR1, 0);
	for (i = 0; i < (int)se_times(200); i++) {
		ASSERT_EQ(0, se_start(&self->t, variant->fn, &self->c));
		if (i & 1) {
			ASSERT_TRUE(SLEEPS());
		}
		/* one that comes before the call began is lost on it */
		ASSERT_TRUE(se_until(se_is_done(&self->t) ||
				     (pthread_kill(self->t.thread, SIGUSR1), false)));
		ret = se_join(&self->t);
		ASSERT_EQ(-EINTR, ret);
	}
}

/* ---- a queue that another thread holds ----------------------------------------------- */

/**
 * struct held - a queue whose reader holds it: its buffer is a page that does not come
 * @q: the queue, with one completion
 * @fd: an event of value 0
 * @uffd: by which the page comes
 * @page: of the reader
 * @reader: in read(2)
 * @t: in a call under test
 */
FIXTURE(held)
{
	int q;
	int fd;
	int uffd;
	char *page;
	struct se_thread reader;
	struct se_thread t;
};

FIXTURE_VARIANT(held)
{
	int (*fn)(void *arg);
};

static int held_reader(void *arg)
{
	struct _test_data_held *self = arg;
	ssize_t n = read(self->q, self->page, sizeof(struct syncevent_completion));

	return n < 0 ? -errno : (int)n;
}

static int held_add(void *arg)
{
	struct _test_data_held *self = arg;

	return se_queue_add(self->q, self->fd, SYNCEVENT_COND_EQ, 1, 6, SE_FOREVER);
}

static int held_cancel(void *arg)
{
	struct _test_data_held *self = arg;

	return se_queue_cancel(self->q, 7);
}

FIXTURE_VARIANT_ADD(held, add) { .fn = held_add };
FIXTURE_VARIANT_ADD(held, cancel) { .fn = held_cancel };

/* A second call finds it there. */
static int page_comes(struct _test_data_held *self)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)self->page, 4096 } };

	return ioctl(self->uffd, UFFDIO_ZEROPAGE, &zero) && errno != EEXIST ? -errno : 0;
}

/* Not, if the call has ended. */
static bool sleeps(struct se_thread *t)
{
	se_until(se_is_done(t) || se_sleeps_in(getpid(), t->tid) == SYS_ioctl);
	return !se_is_done(t);
}

/* Returns once the reader waits for its page. */
FIXTURE_SETUP(held)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg msg;

	self->q = se_queue(0);
	self->fd = se_create(0);
	ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_EQ, 0, 5, SE_FOREVER));
	ASSERT_EQ(0, se_queue_add(self->q, self->fd, SYNCEVENT_COND_EQ, 1, 7, SE_FOREVER));
	self->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	ASSERT_LE(0, self->uffd) TH_LOG("errno %d", errno);
	ASSERT_EQ(0, ioctl(self->uffd, UFFDIO_API, &api));
	self->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	reg.range.start = (uintptr_t)self->page;
	reg.range.len = 4096;
	ASSERT_EQ(0, ioctl(self->uffd, UFFDIO_REGISTER, &reg));
	ASSERT_EQ(0, se_start(&self->reader, held_reader, self));
	ASSERT_EQ(sizeof(msg), read(self->uffd, &msg, sizeof(msg)));
	ASSERT_EQ(UFFD_EVENT_PAGEFAULT, msg.event);
}

FIXTURE_TEARDOWN(held)
{
	const struct syncevent_completion *done = (void *)self->page;

	EXPECT_EQ(0, page_comes(self));
	EXPECT_EQ(sizeof(*done), se_join(&self->reader));
	EXPECT_EQ(5, done->cookie);
	munmap(self->page, 4096);
	close(self->uffd);
	close(self->q);
	close(self->fd);
}

/* Nothing was added, nothing cancelled. */
TEST_F(held, without_restart)
{
	se_handle(SIGUSR1, 0);
	ASSERT_EQ(0, se_start(&self->t, variant->fn, self));
	ASSERT_TRUE(sleeps(&self->t));
	ASSERT_EQ(0, pthread_kill(self->t.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, se_join(&self->t));
	EXPECT_EQ(1, se_waiters(self->fd));
}

/* The call begins anew, and gets the queue when the reader has gone. */
TEST_F(held, with_restart)
{
	se_handle(SIGUSR1, SA_RESTART);
	ASSERT_EQ(0, se_start(&self->t, variant->fn, self));
	for (int i = 0; i < 5; i++) {
		ASSERT_TRUE(sleeps(&self->t));
		ASSERT_EQ(0, pthread_kill(self->t.thread, SIGUSR1));
	}
	ASSERT_TRUE(sleeps(&self->t));
	EXPECT_EQ(1, se_waiters(self->fd));
	EXPECT_EQ(0, page_comes(self));
	EXPECT_EQ(0, se_join(&self->t));
	EXPECT_EQ(variant->fn == held_add ? 2 : 0, se_waiters(self->fd));
}

TEST_HARNESS_MAIN
