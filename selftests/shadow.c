// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * shadow.c - events on the caller's memory in wait queues of the kernel provider, which
 * then get the answers that its own events get
 */
#include "waiter.h"

#define ALL	UINT64_MAX

FIXTURE(shadow) {
	uint64_t *memory;
	struct syncevent *ev;
	struct syncevent_queue *q;
	struct syncevent_done done[4];
};

FIXTURE_SETUP(shadow)
{
	struct syncevent_attr attr = { .size = sizeof(attr) };

	self->memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	attr.addr = self->memory;
	ASSERT_FALSE(on_shm());
	ASSERT_EQ(0, syncevent_create(&self->ev, &attr));
	ASSERT_EQ(0, syncevent_queue_create(&self->q));
}

FIXTURE_TEARDOWN(shadow)
{
	syncevent_close(self->ev);
	syncevent_queue_close(self->q);
	munmap(self->memory, 4096);
}

static int add(struct syncevent_queue *q, struct syncevent *ev, enum syncevent_cond cond,
	       uint64_t operand, uint64_t cookie)
{
	return syncevent_queue_add(q, ev, cond, operand, ALL, cookie, SYNCEVENT_FOREVER);
}

#define reap(max)	syncevent_queue_reap(self->q, self->done, max, se_patience())
#define reap_now(max)	syncevent_queue_reap(self->q, self->done, max, 0)

static void store(uint64_t *memory, uint64_t value)
{
	__atomic_store_n(memory, value, __ATOMIC_RELEASE);
}

TEST_F(shadow, completes)
{
	uint64_t i;

	/* Again and again: in between nobody waits, and nothing is watched. */
	for (i = 1; i < 50; i++) {
		ASSERT_EQ(0, add(self->q, self->ev, SYNCEVENT_GE, i, 1));
		ASSERT_EQ(-EEXIST, add(self->q, self->ev, SYNCEVENT_GE, i, 1));
		ASSERT_EQ(-ETIMEDOUT, reap_now(1));
		if (i % 2)
			store(self->memory, i);
		else
			ASSERT_EQ(0, syncevent_set(self->ev, i));
		ASSERT_EQ(1, reap(4));
		ASSERT_EQ(1, self->done[0].cookie);
		ASSERT_EQ(0, self->done[0].status);
		ASSERT_EQ(i, self->done[0].value);
	}
	/* At once, though nobody has watched the memory since. */
	se_sleep_ms(20);
	store(self->memory, 1000);
	ASSERT_EQ(0, add(self->q, self->ev, SYNCEVENT_EQ, 1000, 7));
	ASSERT_EQ(1, reap_now(4));
	ASSERT_EQ(1000, self->done[0].value);
}

TEST_F(shadow, the_kernel_does_the_rest)
{
	ASSERT_EQ(-EINVAL, add(self->q, self->ev, SYNCEVENT_LE + 1, 1, 1));
	ASSERT_EQ(0, syncevent_queue_add(self->q, self->ev, SYNCEVENT_EQ, 1, ALL, 1,
					 se_in_ms(10)));
	ASSERT_EQ(1, reap(4));
	ASSERT_EQ(-ETIMEDOUT, self->done[0].status);
	ASSERT_EQ(0, add(self->q, self->ev, SYNCEVENT_EQ, 1, 2));
	ASSERT_EQ(0, syncevent_queue_cancel(self->q, 2));
	ASSERT_EQ(0, syncevent_queue_add(self->q, self->ev, SYNCEVENT_EQ, 4, 6, 3,
					 SYNCEVENT_FOREVER));
	store(self->memory, 2);
	se_sleep_ms(20);
	ASSERT_EQ(-ETIMEDOUT, reap_now(1));
	store(self->memory, 5);
	ASSERT_EQ(1, reap(4));
	ASSERT_EQ(5, self->done[0].value);
}

TEST_F(shadow, ends)
{
	struct syncevent *other;

	ASSERT_EQ(0, syncevent_dup(&other, self->ev, 0));
	ASSERT_EQ(0, add(self->q, self->ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(0, add(self->q, other, SYNCEVENT_EQ, 1, 2));
	/* With its handle, since the memory may go with it. */
	syncevent_close(other);
	ASSERT_EQ(1, reap(4));
	ASSERT_EQ(2, self->done[0].cookie);
	ASSERT_EQ(-EIDRM, self->done[0].status);
	ASSERT_EQ(0, syncevent_revoke(self->ev));
	ASSERT_EQ(1, reap(4));
	ASSERT_EQ(1, self->done[0].cookie);
	ASSERT_EQ(-EIDRM, self->done[0].status);
	ASSERT_EQ(-EIDRM, add(self->q, self->ev, SYNCEVENT_EQ, 1, 1));
}

static int only_lives(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

/* A child has all files of its parent, but does not keep what is its parent's. */
TEST_F(shadow, ends_though_a_child_lives)
{
	struct syncevent *other;
	pid_t pid;
	int got;

	ASSERT_EQ(0, syncevent_dup(&other, self->ev, 0));
	ASSERT_EQ(0, add(self->q, other, SYNCEVENT_EQ, 1, 2));
	pid = se_fork(only_lives, NULL);
	ASSERT_LT(0, pid);
	syncevent_close(other);
	got = reap(4);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(1, got);
	ASSERT_EQ(2, self->done[0].cookie);
	ASSERT_EQ(-EIDRM, self->done[0].status);
}

TEST_F(shadow, providers_do_not_mix)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .provider = SYNCEVENT_PROVIDER_SHM };
	struct syncevent *ev = make(0), *shm;
	struct syncevent_queue *local;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_create(&shm, &attr));
	ASSERT_EQ(-EXDEV, add(self->q, shm, SYNCEVENT_EQ, 1, 1));
	setenv("SYNCEVENT_PROVIDER", "shm", 1);
	ASSERT_EQ(0, syncevent_queue_create(&local));
	unsetenv("SYNCEVENT_PROVIDER");
	ASSERT_EQ(-EXDEV, add(local, ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(0, add(local, self->ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(0, add(self->q, self->ev, SYNCEVENT_EQ, 1, 1));
	store(self->memory, 1);
	ASSERT_EQ(1, reap(4));
	ASSERT_EQ(1, syncevent_queue_reap(local, self->done, 4, se_patience()));
	syncevent_queue_close(local);
	syncevent_close(shm);
	syncevent_close(ev);
}

struct inherited {
	struct syncevent *ev;
	struct syncevent_queue *q;
	uint64_t *private;
};

/* It shares the queue of the kernel; its memory is a copy. */
static int child(void *arg)
{
	struct inherited *in = arg;
	struct syncevent_queue *q;
	struct syncevent_done done;

	store(in->private, 1);
	se_sleep_ms(20);
	if (syncevent_queue_reap(in->q, &done, 1, 0) != -ETIMEDOUT)
		return 1;
	if (syncevent_queue_create(&q) || add(q, in->ev, SYNCEVENT_EQ, 2, 9))
		return 2;
	store(in->private, 2);
	if (syncevent_queue_reap(q, &done, 1, se_patience()) != 1 || done.cookie != 9)
		return 3;
	if (syncevent_queue_reap(in->q, &done, 1, 0) != -ETIMEDOUT)
		return 4;
	syncevent_close(in->ev);
	return 0;
}

TEST_F(shadow, a_child_leaves_it_alone)
{
	static uint64_t private;
	struct syncevent_attr attr = { .size = sizeof(attr), .addr = &private };
	struct inherited in = { .q = self->q, .private = &private };

	ASSERT_EQ(0, syncevent_create(&in.ev, &attr));
	ASSERT_EQ(0, add(self->q, in.ev, SYNCEVENT_NEQ, 0, 1));
	ASSERT_EQ(0, se_wait_child(se_fork(child, &in)));
	ASSERT_EQ(-ETIMEDOUT, reap_now(1));
	store(&private, 3);
	ASSERT_EQ(1, reap(4));
	ASSERT_EQ(3, self->done[0].value);
	syncevent_close(in.ev);
}

/* poll(2) serves it, whatever the provider of other events. */
TEST_F(shadow, poll)
{
	struct pollfd pfd = { .fd = syncevent_poll_fd(self->ev), .events = POLLIN };
	uint64_t v;

	ASSERT_EQ(0, poll(&pfd, 1, 0));
	store(self->memory, 1);
	ASSERT_EQ(1, poll(&pfd, 1, SE_HANG_S * 1000));
	ASSERT_EQ(0, syncevent_read(self->ev, &v));
	ASSERT_EQ(1, v);
	ASSERT_EQ(0, poll(&pfd, 1, 0));
}

TEST_HARNESS_MAIN
