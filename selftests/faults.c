// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Allocations that fail, in all calls but those of a region (faults_region.c): faults.h
 * says what is expected of them.
 */
#include "faults.h"

#include <sys/mount.h>
#include <sys/stat.h>

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

TEST_F(faults, mmap_and_first_touch)
{
	ASSERT_NE(SIG_ERR, signal(SIGBUS, sigbus));
	every_fault(_metadata, self, "mmap and touch", 1, before_map, op_map_and_touch, after_map);
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

TEST_F(faults, read_and_write)
{
	EXPECT_EQ(0, every_fault(_metadata, self, "write and read", 0, before_map, op_read_write,
				 close_extra));
}

TEST_F(faults, poll)
{
	every_fault(_metadata, self, "poll", 1, before_map, op_poll, close_extra);
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
