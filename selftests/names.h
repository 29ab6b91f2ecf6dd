/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the tests of synceventfs share: a fresh mount for each test, names in it, and
 * children that are other users. The tests run as root in a guest.
 */
#ifndef SELFTESTS_NAMES_H
#define SELFTESTS_NAMES_H

#include "common.h"

#include <dirent.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* Users that own nothing else. Each test takes its own. */
#define UID(n)		(41000 + (n))

static inline int mount_at(const char *where, const char *options)
{
	return mount("none", where, "synceventfs", 0, options) ? -errno : 0;
}

/* Path of a name; the last few stay valid. */
static inline const char *at(const char *dir, const char *name)
{
	static __thread char *paths[8];
	static __thread unsigned int next;
	char **path = &paths[next++ % 8];

	free(*path);
	if (asprintf(path, "%s/%s", dir, name) < 0)
		abort();
	return *path;
}

static inline int open_at(const char *dir, const char *name, int flags)
{
	int fd = open(at(dir, name), flags | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

static inline int unlink_at(const char *dir, const char *name)
{
	return unlink(at(dir, name)) ? -errno : 0;
}

/* How many names; adds 1000 for each that is no FIFO. */
static inline int names_in(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			n += e->d_type == DT_FIFO ? 1 : 1000;
	closedir(d);
	return n;
}

static inline int64_t events(void)
{
	struct syncevent_dev_info info = { .abi = 0 };
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &info);

	return ret < 0 ? ret : (int64_t)info.events;
}

static inline uint64_t id_of(int fd)
{
	struct syncevent_info info;

	return se_info(fd, &info) ? 0 : info.id;
}

static inline uint64_t value_of(int fd)
{
	uint64_t v;

	return se_get(fd, &v) ? SE_POISON64 : v;
}

/* A queue with one entry on the event: it holds no file, and tells of the end. */
static inline int watch(int fd)
{
	int q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	int ret = q < 0 ? q : se_queue_add(q, fd, SYNCEVENT_COND_GT, 1000, 1, SE_FOREVER);

	return ret < 0 ? ret : q;
}

static inline bool pending(int q)
{
	struct syncevent_completion done;

	return se_reap(q, &done, 1) == -EAGAIN;
}

static inline int outcome(int q)
{
	struct syncevent_completion done;

	return se_until(se_reap(q, &done, 1) == 1) ? done.status : -EAGAIN;
}

/*
 * What runs as another user runs in a child: it returns 1 and says so when an
 * expectation was not met, else 0.
 */
#define WANT(expr) do { if (!(expr)) return want_failed(__LINE__, #expr); } while (0)

static inline int want_failed(int line, const char *expr)
{
	fprintf(stderr, "# line %d: not so: %s (errno %d)\n", line, expr, errno);
	return 1;
}

static inline int become(uid_t uid)
{
	/* Dumpable, so that its own /proc files are its own. */
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return -errno;
	return 0;
}

/* What a child is told. */
struct meeting {
	const char *dir;
	int sock;
};

FIXTURE(names) {
	char dir[64];
	char other[64];
	int64_t before;
};

FIXTURE_SETUP(names)
{
	ASSERT_EQ(0, geteuid()) TH_LOG("this test must be run by root");
	snprintf(self->dir, sizeof(self->dir), "/tmp/names.%d", getpid());
	snprintf(self->other, sizeof(self->other), "/tmp/other.%d", getpid());
	ASSERT_EQ(0, mkdir(self->dir, 0755));
	ASSERT_EQ(0, mkdir(self->other, 0755));
	ASSERT_EQ(0, mount_at(self->dir, NULL));
	self->before = events();
	ASSERT_LE(0, self->before);
	umask(0);
}

/* Each test has closed what it opened: the mount is not busy, and nothing is left. */
FIXTURE_TEARDOWN(names)
{
	EXPECT_EQ(0, umount(self->dir)) TH_LOG("errno %d", errno);
	EXPECT_TRUE(se_until(events() == self->before));
	rmdir(self->dir);
	rmdir(self->other);
}

#endif /* SELFTESTS_NAMES_H */
