/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Every allocation on the way of every call fails once (/proc/self/fail-nth): the
 * call says so, nothing leaks, and what it worked on is as good as before.
 *
 * Runs as root on a kernel with fault injection. User copies are made to fail
 * too where the kernel can: those give EFAULT.
 */
#ifndef SELFTESTS_FAULTS_H
#define SELFTESTS_FAULTS_H

#include "ioctls.h"

#include <setjmp.h>

#define DEBUGFS	"/sys/kernel/debug/"

/**
 * struct faults - what is made to fail
 * @s: the objects
 * @extra: of the operation under test
 * @mem: of the operation under test
 * @nth: /proc/thread-self/fail-nth
 * @held: before the test
 */
FIXTURE(faults) {
	struct se_subject s;
	int extra;
	void *mem;
	int nth;
	struct se_held held;
};

FIXTURE_SETUP(faults)
{
	ASSERT_LE(0, se_dev());
	self->held = se_held();
	self->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->nth) TH_LOG("the kernel has no fault injection");
	/* By default only allocations that may not sleep fail, or large ones. */
	ASSERT_EQ(0, se_write_text(DEBUGFS "failslab/ignore-gfp-wait", "N"));
	ASSERT_EQ(0, se_write_text(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N"));
	ASSERT_EQ(0, se_write_text(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N"));
	ASSERT_EQ(0, se_write_text(DEBUGFS "fail_page_alloc/min-order", "0"));
	ASSERT_EQ(0, se_write_text(DEBUGFS "failslab/verbose", "0"));
	ASSERT_EQ(0, se_write_text(DEBUGFS "fail_page_alloc/verbose", "0"));
	se_write_text(DEBUGFS "fail_usercopy/verbose", "0");
	ASSERT_EQ(0, se_subject_open(&self->s));
}

FIXTURE_TEARDOWN(faults)
{
	se_subject_close(&self->s);
	close(self->nth);
	se_nothing_held(_metadata, self->held);
}

static inline void arm_fault(struct _test_data_faults *self, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	/*
	 * A fault that did not happen in the call under test may happen here: how many
	 * allocations a call makes is not the same each time. It happens once.
	 */
	if (pwrite(self->nth, text, (size_t)len, 0) != len &&
	    pwrite(self->nth, text, (size_t)len, 0) != len)
		abort();
}

/* Has the fault happened? If not even the answer can be read, it was left for that. */
static inline bool fault_happened(struct _test_data_faults *self)
{
	char text[16] = "";
	ssize_t n = pread(self->nth, text, sizeof(text) - 1, 0);

	return n > 0 && strtoul(text, NULL, 10) == 0;
}

typedef int (*fault_fn)(struct _test_data_faults *self);

/* Fail the first allocation, then the second, ...: how many of them gave ENOMEM? */
static inline unsigned int one_pass(struct __test_metadata *_metadata,
				    struct _test_data_faults *self, const char *name,
				    fault_fn before, fault_fn op,
				    void (*after)(struct _test_data_faults *self, int result))
{
	unsigned int n, refused = 0, copies = 0, survived = 0;
	struct se_state old, new;
	bool happened;

	for (n = 1; ; n++) {
		int ret;

		ASSERT_GT(10000, n) TH_LOG("%s: it never passes without a fault", name);
		se_state_get(&self->s, &old);
		if (before) {
			ASSERT_EQ(0, before(self)) TH_LOG("%s: fault %u", name, n);
		}
		arm_fault(self, n);
		ret = op(self);
		happened = fault_happened(self);
		arm_fault(self, 0);
		if (after)
			after(self, ret);
		se_until_events(old.events);
		se_state_get(&self->s, &new);
		se_same_state(_metadata, &old, &new, name, "after fault", n);
		if (!happened) {
			ASSERT_LE(0, ret) TH_LOG("%s: without a fault", name);
			break;
		}
		if (ret >= 0) {
			survived++;
			continue;
		}
		ASSERT_TRUE(ret == -ENOMEM || ret == -EFAULT)
			TH_LOG("%s: fault %u: errno %d", name, n, -ret);
		if (ret == -ENOMEM)
			refused++;
		else
			copies++;
	}
	printf("# %s: %u faults: %u ENOMEM, %u EFAULT, %u survived\n", name, n - 1, refused,
	       copies, survived);
	fflush(stdout);
	return refused;
}

/**
 * every_fault() - fail each allocation of an operation
 * @least: the allocations that it cannot do without
 * @before: makes what @op needs, or NULL
 * @op: 0, a file descriptor or a negative errno
 * @after: takes back what @op made, given its result; ends @before's work too
 *
 * The debugging of the kernel allocates too, now more and now less, so that the same
 * number means another allocation in the next call: a pass may step over some.
 *
 * Return: how many calls failed with ENOMEM in the pass that had most.
 */
static inline unsigned int every_fault(struct __test_metadata *_metadata,
				       struct _test_data_faults *self, const char *name,
				       unsigned int least, fault_fn before, fault_fn op,
				       void (*after)(struct _test_data_faults *self, int result))
{
	unsigned int pass, refused, most = 0;
	uint32_t slots = se_slots();

	for (pass = 0; pass < 2 || (pass < 20 && most < least); pass++) {
		refused = one_pass(_metadata, self, name, before, op, after);
		if (most < refused)
			most = refused;
	}
	EXPECT_LE(least, most) TH_LOG("%s: in %u passes", name, pass);
	EXPECT_TRUE(se_until(se_slots() <= slots)) TH_LOG("%s: slots leaked", name);
	return most;
}

static inline void close_result(struct _test_data_faults *self, int result)
{
	if (result >= 0)
		close(result);
	(void)self;
}

/* ---- operations on an event ------------------------------------------------------------ */

static inline int op_dup(struct _test_data_faults *self)
{
	return se_dup(self->s.fd[SE_ON_EVENT], SYNCEVENT_DUP_RDONLY);
}

static inline int op_queue_add(struct _test_data_faults *self)
{
	return se_queue_add(self->s.fd[SE_ON_QUEUE], self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_GT,
			    SE_SUBJECT_VALUE, 1, SE_FOREVER);
}

static inline void cancel_entry(struct _test_data_faults *self, int result)
{
	/* There is an entry if, and only if, ADD said so. */
	if (se_queue_cancel(self->s.fd[SE_ON_QUEUE], 1) != (result < 0 ? -ENOENT : 0))
		abort();
}

/* The deadline is soon, so it parks and comes back. */
static inline int op_wait(struct _test_data_faults *self)
{
	int ret = se_wait(self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_GT, SE_SUBJECT_VALUE,
			  se_in_ms(3), NULL);

	return ret == -ETIMEDOUT ? 0 : ret;
}

static inline int op_by_table(struct _test_data_faults *self)
{
	const struct se_cmd *c = &se_cmds[self->extra];
	unsigned char arg[SE_ARG_MAX];
	int ret;

	se_cmd_valid(c, &self->s, arg);
	ret = se_ioctl(self->s.fd[c->on], c->request, arg);
	return ret == se_cmd_ok(c) ? 0 : ret;
}

/* One for an operation to end. In a region it has a page of payload. */
static inline int make_event(void)
{
	return se_in_region() ? pci_create(3, 1) : se_create(3);
}

static inline int before_revoke(struct _test_data_faults *self)
{
	self->extra = make_event();
	if (self->extra < 0)
		return self->extra;
	self->mem = se_map(self->extra, PROT_READ | PROT_WRITE);
	if (!self->mem)
		return -errno;
	*(volatile uint64_t *)self->mem = 4;
	return 0;
}

static inline int op_revoke(struct _test_data_faults *self)
{
	return se_revoke(self->extra);
}

static inline void unmap_and_close(struct _test_data_faults *self, int result)
{
	uint64_t v;

	if (result >= 0 && se_get(self->extra, &v) != -EIDRM)
		abort();
	munmap(self->mem, 4096);
	close(self->extra);
}

static sigjmp_buf on_sigbus;

static inline void sigbus(int sig)
{
	(void)sig;
	siglongjmp(on_sigbus, 1);
}

/* Touch the mapping; memory that is not there gives SIGBUS or is asked for again. */
static inline int touch(struct _test_data_faults *self, bool write)
{
	volatile uint64_t *p = self->mem;

	if (sigsetjmp(on_sigbus, 1))
		return -ENOMEM;
	if (write)
		*p = 77;
	else
		(void)*p;
	return 0;
}

static inline int op_map_and_touch(struct _test_data_faults *self)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->extra, 0);

	self->mem = NULL;
	if (p == MAP_FAILED)
		return -errno;
	self->mem = p;
	return touch(self, true);
}

static inline int before_map(struct _test_data_faults *self)
{
	self->extra = make_event();
	return self->extra < 0 ? self->extra : 0;
}

static inline void after_map(struct _test_data_faults *self, int result)
{
	uint64_t v;

	if (result >= 0 && (se_get(self->extra, &v) || v != 77))
		abort();
	if (self->mem)
		munmap(self->mem, 4096);
	/* The event is as good as before. */
	if (se_set(self->extra, 5) || se_get(self->extra, &v) || v != 5)
		abort();
	close(self->extra);
}

static inline int before_touch_revoked(struct _test_data_faults *self)
{
	int ret = before_revoke(self);

	return ret ? ret : se_revoke(self->extra);
}

static inline int op_touch_revoked(struct _test_data_faults *self)
{
	return touch(self, false);
}

static inline void after_touch_revoked(struct _test_data_faults *self, int result)
{
	volatile struct syncevent_cell *cell = self->mem;

	if (result >= 0 && ((cell->state & SYNCEVENT_STATE_MASK) != SYNCEVENT_STATE_REVOKED ||
			    cell->value != 4))
		abort();
	munmap(self->mem, 4096);
	close(self->extra);
}

static inline void close_extra(struct _test_data_faults *self, int result)
{
	(void)result;
	close(self->extra);
}

/* More descriptors than poll(2) has room for on its stack. */
static inline int op_poll(struct _test_data_faults *self)
{
	struct pollfd p[64];
	int ret;

	for (int i = 0; i < 64; i++)
		p[i] = (struct pollfd) { .fd = self->extra, .events = POLLIN };
	ret = poll(p, 64, 0);
	return ret < 0 ? -errno : 0;
}

static inline int op_epoll(struct _test_data_faults *self)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), ret;

	if (ep < 0)
		return -errno;
	ret = epoll_ctl(ep, EPOLL_CTL_ADD, self->extra, &ev) ? -errno : 0;
	close(ep);
	return ret;
}

#endif /* SELFTESTS_FAULTS_H */
