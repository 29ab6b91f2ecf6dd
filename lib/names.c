// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * names.c - events by name
 *
 * On the kernel provider a name is a file of a synceventfs, and opening that is
 * opening the event. On shm it is a file in /dev/shm. It comes to its name with its
 * page already made, so nobody ever opens half of an event.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SYNCEVENTFS_MAGIC	0x53594e45	/* "SYNE" */
#define PATH_ROOM		(sizeof(SE_NAMES "/" SE_SHM_PREFIX) + SYNCEVENT_NAME_MAX)

int se_name_check(const char *name)
{
	size_t length = strnlen(name, SYNCEVENT_NAME_MAX + 1);

	if (!length || *name == '.' || memchr(name, '/', length))
		return -EINVAL;
	return length > SYNCEVENT_NAME_MAX ? -ENAMETOOLONG : 0;
}

static void shm_path(char *path, const char *name)
{
	snprintf(path, PATH_ROOM, "%s/%s%s", SE_SHM_NAMES, SE_SHM_PREFIX, name);
}

static int shm_open_name(struct syncevent **ev, const char *path, int oflag)
{
	/* O_NONBLOCK: what is there may be a FIFO. */
	int fd = open(path, (oflag & O_ACCMODE) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -EINVAL : -errno;
	fd = se_above_stdio(fd);
	return fd < 0 ? fd : se_shm_take(ev, fd);
}

static int shm_create_name(struct syncevent **ev, const char *path, mode_t mode,
			   const struct syncevent_attr *attr)
{
	struct syncevent *made;
	char self[32];
	int fd, err;

	fd = open(SE_SHM_NAMES, O_TMPFILE | O_RDWR | O_CLOEXEC, mode & 0777);
	if (fd < 0)
		return -errno;
	fd = se_above_stdio(fd);
	if (fd < 0)
		return fd;
	err = se_shm_make(&made, fd, attr);
	if (err)
		return err;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
		err = -errno;
		syncevent_close(made);
		return err;
	}
	*ev = made;
	return 0;
}

static int shm_open(struct syncevent **ev, const char *name, int oflag, mode_t mode,
		    const struct syncevent_attr *attr)
{
	char path[PATH_ROOM];
	int err;

	shm_path(path, name);
	for (;;) {
		err = -ENOENT;
		if (!(oflag & O_EXCL))
			err = shm_open_name(ev, path, oflag);
		if (err != -ENOENT || !(oflag & O_CREAT))
			return err;
		err = shm_create_name(ev, path, mode, attr);
		/* Somebody else made it since: take theirs. */
		if (err != -EEXIST || oflag & O_EXCL)
			return err;
	}
}

/* Is a synceventfs mounted? An empty folder must not be filled with files. */
static int kernel_names(void)
{
	struct statfs fs;

	if (statfs(SE_NAMES, &fs))
		return errno == ENOENT ? -ENODEV : -errno;
	return fs.f_type == SYNCEVENTFS_MAGIC ? 0 : -ENODEV;
}

static int kernel_open(struct syncevent **ev, const char *name, int oflag, mode_t mode,
		       const struct syncevent_attr *attr)
{
	char path[PATH_ROOM];
	int fd, err = kernel_names();

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s", SE_NAMES, name);
	(void)attr;
	fd = open(path, oflag | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
	if (fd < 0)
		return -errno;
	err = se_kernel_from_fd(ev, fd);
	close(fd);
	return err;
}

int syncevent_open(struct syncevent **ev, const char *name, int oflag, mode_t mode,
		   const struct syncevent_attr *attr)
{
	struct syncevent_attr a;
	int provider, err;

	err = se_attr(&a, attr);
	if (err)
		return err;
	if (a.addr || oflag & ~(O_ACCMODE | O_CREAT | O_EXCL | O_CLOEXEC) ||
	    (oflag & O_EXCL && !(oflag & O_CREAT)))
		return -EINVAL;
	switch (oflag & O_ACCMODE) {
	case O_RDONLY:
		if (oflag & O_CREAT)
			return -EINVAL;
		break;
	case O_RDWR:
		break;
	default:
		return -EINVAL;
	}
	err = se_name_check(name);
	if (err)
		return err;
	provider = se_choose(a.provider);
	if (provider < 0)
		return provider;
	return provider == SYNCEVENT_PROVIDER_SHM ? shm_open(ev, name, oflag, mode, &a) :
						    kernel_open(ev, name, oflag, mode, &a);
}

int syncevent_unlink(const char *name)
{
	char path[PATH_ROOM];
	int provider, err;

	err = se_name_check(name);
	if (err)
		return err;
	provider = se_choose(SYNCEVENT_PROVIDER_DEFAULT);
	if (provider < 0)
		return provider;
	if (provider == SYNCEVENT_PROVIDER_SHM) {
		shm_path(path, name);
	} else {
		err = kernel_names();
		if (err)
			return err;
		snprintf(path, sizeof(path), "%s/%s", SE_NAMES, name);
	}
	return unlink(path) ? -errno : 0;
}
