// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Every allocation on the way of every call fails once (/proc/self/fail-nth): the
 * call says so, nothing leaks, and what it worked on is as good as before.
 *
 * Runs as root on a kernel with fault injection. User copies are made to fail
 * too where the kernel can: those give EFAULT.
 */
#include "ioctls.h"

#include <setjmp.h>
#include <sys/mount.h>
#include <sys/stat.h>

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

static void arm_fault(struct _test_data_faults *self, unsigned int n)
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
static bool fault_happened(struct _test_data_faults *self)
{
	char text[16] = "";
	ssize_t n = pread(self->nth, text, sizeof(text) - 1, 0);

	return n > 0 && strtoul(text, NULL, 10) == 0;
}

typedef int (*fault_fn)(struct _test_data_faults *self);

/* Fail the first allocation, then the second, ...: how many of them gave ENOMEM? */
static unsigned int one_pass(struct __test_metadata *_metadata,
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
static unsigned int every_fault(struct __test_metadata *_metadata,
				struct _test_data_faults *self, const char *name,
				unsigned int least, fault_fn before, fault_fn op,
				void (*after)(struct _test_data_faults *self, int result))
{
	unsigned int pass, refused, most = 0;

	for (pass = 0; pass < 2 || (pass < 20 && most < least); pass++) {
		refused = one_pass(_metadata, self, name, before, op, after);
		if (most < refused)
			most = refused;
	}
	EXPECT_LE(least, most) TH_LOG("%s: in %u passes", name, pass);
	return most;
}

static void close_result(struct _test_data_faults *self, int result)
{
	if (result >= 0)
		close(result);
	(void)self;
}

/* ---- each ioctl --------------------------------------------------------------------- */

static int op_create(struct _test_data_faults *self)
{
	(void)self;
	return se_create(1);
}

TEST_F(faults, create)
{
	/* At the least: event, page, inode, dentry, file. */
	every_fault(_metadata, self, "CREATE", 5, NULL, op_create, close_result);
}

static int op_dup(struct _test_data_faults *self)
{
	return se_dup(self->s.fd[SE_ON_EVENT], SYNCEVENT_DUP_RDONLY);
}

TEST_F(faults, dup)
{
	uint64_t v;

	every_fault(_metadata, self, "DUP", 2, NULL, op_dup, close_result);
	EXPECT_EQ(0, se_get(self->s.fd[SE_ON_EVENT], &v));
}

static int op_queue(struct _test_data_faults *self)
{
	(void)self;
	return se_queue(0);
}

TEST_F(faults, queue)
{
	every_fault(_metadata, self, "QUEUE", 2, NULL, op_queue, close_result);
}

static int op_queue_add(struct _test_data_faults *self)
{
	return se_queue_add(self->s.fd[SE_ON_QUEUE], self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_GT,
			    SE_SUBJECT_VALUE, 1, SE_FOREVER);
}

static void cancel_entry(struct _test_data_faults *self, int result)
{
	/* There is an entry if, and only if, ADD said so. */
	if (se_queue_cancel(self->s.fd[SE_ON_QUEUE], 1) != (result < 0 ? -ENOENT : 0))
		abort();
}

TEST_F(faults, queue_add)
{
	every_fault(_metadata, self, "QUEUE_ADD", 1, NULL, op_queue_add, cancel_entry);
}

static int op_queue_add_done(struct _test_data_faults *self)
{
	return se_queue_add(self->s.fd[SE_ON_QUEUE], self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_EQ,
			    SE_SUBJECT_VALUE, 2, SE_FOREVER);
}

static void reap_entry(struct _test_data_faults *self, int result)
{
	struct syncevent_completion c;

	if (se_reap(self->s.fd[SE_ON_QUEUE], &c, 1) != (result < 0 ? -EAGAIN : 1))
		abort();
}

TEST_F(faults, queue_add_that_completes_at_once)
{
	every_fault(_metadata, self, "QUEUE_ADD, done", 1, NULL, op_queue_add_done, reap_entry);
}

/* Reaping never fails for want of memory, and what failed to be copied stays. */
static int before_reap(struct _test_data_faults *self)
{
	return op_queue_add_done(self);
}

static int op_reap(struct _test_data_faults *self)
{
	struct syncevent_completion c;

	return se_reap(self->s.fd[SE_ON_QUEUE], &c, 1);
}

static void after_reap(struct _test_data_faults *self, int result)
{
	reap_entry(self, result < 0 ? 0 : -EAGAIN);
}

TEST_F(faults, queue_read)
{
	EXPECT_EQ(0, every_fault(_metadata, self, "queue read", 0, before_reap, op_reap,
				 after_reap));
}

/* The deadline is soon, so it parks and comes back. */
static int op_wait(struct _test_data_faults *self)
{
	int ret = se_wait(self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_GT, SE_SUBJECT_VALUE,
			  se_in_ms(3), NULL);

	return ret == -ETIMEDOUT ? 0 : ret;
}

TEST_F(faults, wait)
{
	every_fault(_metadata, self, "WAIT", 0, NULL, op_wait, NULL);
}

static int op_wait_many(struct _test_data_faults *self, uint32_t flags)
{
	struct syncevent_wait_entry e[SYNCEVENT_WAIT_MAX];
	int ret;

	for (int i = 0; i < SYNCEVENT_WAIT_MAX; i++)
		e[i] = se_entry(self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_GT, SE_SUBJECT_VALUE);
	ret = se_wait_many(e, SYNCEVENT_WAIT_MAX, flags, se_in_ms(3), NULL);
	return ret == -ETIMEDOUT ? 0 : ret;
}

static int op_wait_any(struct _test_data_faults *self)
{
	return op_wait_many(self, 0);
}

static int op_wait_all(struct _test_data_faults *self)
{
	return op_wait_many(self, SYNCEVENT_WAIT_ALL);
}

TEST_F(faults, wait_many)
{
	/* 128 entries fit on no kernel stack. */
	every_fault(_metadata, self, "WAIT_MANY any", 1, NULL, op_wait_any, NULL);
	every_fault(_metadata, self, "WAIT_MANY all", 1, NULL, op_wait_all, NULL);
}

static int op_by_table(struct _test_data_faults *self)
{
	const struct se_cmd *c = &se_cmds[self->extra];
	unsigned char arg[SE_ARG_MAX];
	int ret;

	se_cmd_valid(c, &self->s, arg);
	ret = se_ioctl(self->s.fd[c->on], c->request, arg);
	return ret == se_cmd_ok(c) ? 0 : ret;
}

/* What makes nothing: GET, SET, ADD, ARM, INFO, DEV_INFO, QUEUE_CANCEL. */
TEST_F(faults, the_others)
{
	se_for_each_cmd(c) {
		if (c->makes_fd || c->request == SYNCEVENT_IOC_REVOKE ||
		    c->request == SYNCEVENT_IOC_RING || c->request == SYNCEVENT_IOC_QUEUE_ADD)
			continue;
		self->extra = (int)(c - se_cmds);
		every_fault(_metadata, self, c->name, 0, NULL, op_by_table, NULL);
	}
}

/* ---- revoking and closing: they have no way to fail ------------------------------------ */

static int before_revoke(struct _test_data_faults *self)
{
	self->extra = se_create(3);
	if (self->extra < 0)
		return self->extra;
	self->mem = se_map(self->extra, PROT_READ | PROT_WRITE);
	if (!self->mem)
		return -errno;
	*(volatile uint64_t *)self->mem = 4;
	return 0;
}

static int op_revoke(struct _test_data_faults *self)
{
	return se_revoke(self->extra);
}

static void unmap_and_close(struct _test_data_faults *self, int result)
{
	uint64_t v;

	if (result >= 0 && se_get(self->extra, &v) != -EIDRM)
		abort();
	munmap(self->mem, 4096);
	close(self->extra);
}

TEST_F(faults, revoke)
{
	EXPECT_EQ(0, every_fault(_metadata, self, "REVOKE", 0, before_revoke, op_revoke,
				 unmap_and_close));
}

static int op_unmap(struct _test_data_faults *self)
{
	return munmap(self->mem, 4096) ? -errno : 0;
}

/* The kernel's own munmap may want memory: it then changes nothing. */
static void unmap_again_and_close(struct _test_data_faults *self, int result)
{
	if (result < 0 && munmap(self->mem, 4096))
		abort();
	close(self->extra);
}

TEST_F(faults, unmap)
{
	every_fault(_metadata, self, "munmap", 0, before_revoke, op_unmap, unmap_again_and_close);
}

static int before_close(struct _test_data_faults *self)
{
	int ret = before_revoke(self);

	return ret ? ret : op_unmap(self);
}

static int op_close(struct _test_data_faults *self)
{
	return close(self->extra) ? -errno : 0;
}

TEST_F(faults, close)
{
	EXPECT_EQ(0, every_fault(_metadata, self, "close", 0, before_close, op_close, NULL));
}

/* ---- mapping ---------------------------------------------------------------------------- */

static sigjmp_buf on_sigbus;

static void sigbus(int sig)
{
	(void)sig;
	siglongjmp(on_sigbus, 1);
}

/* Touch the mapping; memory that is not there gives SIGBUS or is asked for again. */
static int touch(struct _test_data_faults *self, bool write)
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

static int op_map_and_touch(struct _test_data_faults *self)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->extra, 0);

	self->mem = NULL;
	if (p == MAP_FAILED)
		return -errno;
	self->mem = p;
	return touch(self, true);
}

static int before_map(struct _test_data_faults *self)
{
	self->extra = se_create(3);
	return self->extra < 0 ? self->extra : 0;
}

static void after_map(struct _test_data_faults *self, int result)
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

TEST_F(faults, mmap_and_first_touch)
{
	ASSERT_NE(SIG_ERR, signal(SIGBUS, sigbus));
	every_fault(_metadata, self, "mmap and touch", 1, before_map, op_map_and_touch, after_map);
}

static int before_touch_revoked(struct _test_data_faults *self)
{
	int ret = before_revoke(self);

	return ret ? ret : se_revoke(self->extra);
}

static int op_touch_revoked(struct _test_data_faults *self)
{
	return touch(self, false);
}

static void after_touch_revoked(struct _test_data_faults *self, int result)
{
	volatile struct syncevent_cell *cell = self->mem;

	if (result >= 0 && ((cell->state & SYNCEVENT_STATE_MASK) != SYNCEVENT_STATE_REVOKED ||
			    cell->value != 4))
		abort();
	munmap(self->mem, 4096);
	close(self->extra);
}

TEST_F(faults, first_touch_after_revoke)
{
	ASSERT_NE(SIG_ERR, signal(SIGBUS, sigbus));
	every_fault(_metadata, self, "touch after REVOKE", 0, before_touch_revoked,
		    op_touch_revoked, after_touch_revoked);
}

/* ---- read, write, poll --------------------------------------------------------------------- */

static int op_read_write(struct _test_data_faults *self)
{
	uint64_t v;
	int ret;

	ret = se_write(self->extra, 1);
	return ret ? ret : se_read(self->extra, &v);
}

static void close_extra(struct _test_data_faults *self, int result)
{
	(void)result;
	close(self->extra);
}

TEST_F(faults, read_and_write)
{
	EXPECT_EQ(0, every_fault(_metadata, self, "write and read", 0, before_map, op_read_write,
				 close_extra));
}

/* More descriptors than poll(2) has room for on its stack. */
static int op_poll(struct _test_data_faults *self)
{
	struct pollfd p[64];
	int ret;

	for (int i = 0; i < 64; i++)
		p[i] = (struct pollfd) { .fd = self->extra, .events = POLLIN };
	ret = poll(p, 64, 0);
	return ret < 0 ? -errno : 0;
}

TEST_F(faults, poll)
{
	every_fault(_metadata, self, "poll", 1, before_map, op_poll, close_extra);
}

static int op_epoll(struct _test_data_faults *self)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC), ret;

	if (ep < 0)
		return -errno;
	ret = epoll_ctl(ep, EPOLL_CTL_ADD, self->extra, &ev) ? -errno : 0;
	close(ep);
	return ret;
}

TEST_F(faults, epoll)
{
	every_fault(_metadata, self, "epoll", 1, before_map, op_epoll, close_extra);
}

static int op_open_device(struct _test_data_faults *self)
{
	int fd = open(SE_DEV, O_RDWR | O_CLOEXEC);

	(void)self;
	return fd < 0 ? -errno : fd;
}

TEST_F(faults, open_device)
{
	every_fault(_metadata, self, "open", 1, NULL, op_open_device, close_result);
}

/* ---- names ------------------------------------------------------------------------------ */

#define NAMES	"/tmp/faulty"

static int op_mount(struct _test_data_faults *self)
{
	(void)self;
	return mount("none", NAMES, "synceventfs", 0, "mode=0700") ? -errno : 0;
}

static void unmount(struct _test_data_faults *self, int result)
{
	(void)self;
	if (result >= 0 && umount(NAMES))
		abort();
}

static int op_name(struct _test_data_faults *self)
{
	int fd = open(NAMES "/a", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	(void)self;
	return fd < 0 ? -errno : fd;
}

/* An event that never gets a name must go with its file, made or half made. */
static int op_nameless(struct _test_data_faults *self)
{
	int fd = open(NAMES, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	(void)self;
	return fd < 0 ? -errno : fd;
}

static int before_link(struct _test_data_faults *self)
{
	self->extra = op_nameless(self);
	return self->extra < 0 ? self->extra : 0;
}

static int op_link(struct _test_data_faults *self)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->extra);
	return linkat(AT_FDCWD, path, AT_FDCWD, NAMES "/a", AT_SYMLINK_FOLLOW) ? -errno : 0;
}

static void close_linked(struct _test_data_faults *self, int result)
{
	close(self->extra);
	if (!result && unlink(NAMES "/a"))
		abort();
}

/* The name may be there although it could not be opened. */
static void close_and_unlink(struct _test_data_faults *self, int result)
{
	close_result(self, result);
	if (unlink(NAMES "/a") && (result >= 0 || errno != ENOENT))
		abort();
}

static int before_name(struct _test_data_faults *self)
{
	self->extra = op_name(self);
	return self->extra < 0 ? self->extra : 0;
}

static int op_dup_of_name(struct _test_data_faults *self)
{
	return se_dup(self->extra, 0);
}

static void close_all_and_unlink(struct _test_data_faults *self, int result)
{
	close(self->extra);
	close_and_unlink(self, result);
}

static int op_unlink(struct _test_data_faults *self)
{
	(void)self;
	return unlink(NAMES "/a") ? -errno : 0;
}

static void close_unlinked(struct _test_data_faults *self, int result)
{
	close(self->extra);
	if (result < 0 && unlink(NAMES "/a"))
		abort();
}

TEST_F(faults, names)
{
	ASSERT_TRUE(!mkdir(NAMES, 0755) || errno == EEXIST);
	/* At the least: options, superblock, inode, dentry. */
	every_fault(_metadata, self, "mount", 4, NULL, op_mount, unmount);
	ASSERT_EQ(0, op_mount(self));
	/* event, user, page, inode, dentry, file, open file */
	every_fault(_metadata, self, "open O_CREAT", 7, NULL, op_name, close_and_unlink);
	every_fault(_metadata, self, "open", 2, before_name, op_name, close_all_and_unlink);
	every_fault(_metadata, self, "DUP of a name", 2, before_name, op_dup_of_name,
		    close_all_and_unlink);
	every_fault(_metadata, self, "open O_TMPFILE", 7, NULL, op_nameless, close_result);
	every_fault(_metadata, self, "linkat", 0, before_link, op_link, close_linked);
	every_fault(_metadata, self, "unlink", 0, before_name, op_unlink, close_unlinked);
	unmount(self, 0);
	rmdir(NAMES);
}

TEST_HARNESS_MAIN
