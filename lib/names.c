// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * names.c - events by name
 *
 * On the kernel provider a name is a file of a synceventfs, and opening that is
 * opening the event. On shm it is a file in /dev/shm. Either is made without a name
 * and comes to it when all is done, so nobody ever opens half of an event.
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

/* A file that has none gets its name. */
static int give_name(int fd, const char *path)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

static int shm_open_name(struct syncevent **ev, const char *path, int oflag)
{
	/* O_NONBLOCK: what is there may be a FIFO, or somebody have a lease of it. */
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
	int err;

	err = se_shm_make(&made, open(SE_SHM_NAMES, O_TMPFILE | O_RDWR | O_CLOEXEC,
				      mode & 0777), attr);
	if (err)
		return err;
	err = give_name(made->fd, path);
	if (err)
		syncevent_close(made);
	else
		*ev = made;
	return err;
}

/* Is a synceventfs mounted? An empty folder must not be filled with files. */
static int mounted(void)
{
	struct statfs fs;

	if (statfs(SE_NAMES, &fs))
		return errno == ENOENT ? -ENODEV : -errno;
	return fs.f_type == SYNCEVENTFS_MAGIC ? 0 : -ENODEV;
}

static int kernel_open_name(struct syncevent **ev, const char *path, int oflag)
{
	int fd = open(path, (oflag & O_ACCMODE) | O_NOFOLLOW | O_CLOEXEC);

	return se_kernel_take(ev, fd < 0 ? -errno : fd);
}

static int kernel_create_name(struct syncevent **ev, const char *path, mode_t mode,
			      const struct syncevent_attr *attr)
{
	struct syncevent_create setup = {
		.value = attr->value,
		.flags = attr->flags,
		.publishers = attr->publishers,
		.subscribers = attr->subscribers,
	};
	int fd, err;

	fd = open(SE_NAMES, O_TMPFILE | O_RDWR | O_CLOEXEC, mode & 0777);
	if (fd < 0)
		return -errno;
	err = se_ioctl(fd, SYNCEVENT_IOC_SETUP, &setup);
	if (!err)
		err = give_name(fd, path);
	if (!err)
		return se_kernel_take(ev, fd);
	close(fd);
	return err;
}

static const struct names {
	int (*open)(struct syncevent **ev, const char *path, int oflag);
	int (*create)(struct syncevent **ev, const char *path, mode_t mode,
		      const struct syncevent_attr *attr);
} shm_names = { shm_open_name, shm_create_name },
  kernel_names = { kernel_open_name, kernel_create_name };

/* The path of a name, and who knows what is there. Return: 0; -EINVAL; -ENODEV; ... */
static int find(const char *name, uint32_t provider, char *path, const struct names **names)
{
	int chosen, err = se_name_check(name);

	if (err)
		return err;
	chosen = se_choose(provider);
	if (chosen < 0)
		return chosen;
	if (chosen == SYNCEVENT_PROVIDER_SHM) {
		*names = &shm_names;
		snprintf(path, PATH_ROOM, "%s/%s%s", SE_SHM_NAMES, SE_SHM_PREFIX, name);
		return 0;
	}
	*names = &kernel_names;
	snprintf(path, PATH_ROOM, "%s/%s", SE_NAMES, name);
	return mounted();
}

int syncevent_open(struct syncevent **ev, const char *name, int oflag, mode_t mode,
		   const struct syncevent_attr *attr)
{
	const struct names *names;
	char path[PATH_ROOM];
	struct syncevent_attr a;
	int err;

	err = se_attr(&a, attr);
	if (err)
		return err;
	if (a.addr || a.pci || oflag & ~(O_ACCMODE | O_CREAT | O_EXCL | O_CLOEXEC) ||
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
	err = find(name, a.provider, path, &names);
	if (err)
		return err;
	for (;;) {
		err = -ENOENT;
		if (!(oflag & O_EXCL))
			err = names->open(ev, path, oflag);
		if (err != -ENOENT || !(oflag & O_CREAT))
			return err;
		err = names->create(ev, path, mode, &a);
		/* Somebody else made it since: take theirs. */
		if (err != -EEXIST || oflag & O_EXCL)
			return err;
	}
}

int syncevent_unlink(const char *name)
{
	const struct names *names;
	char path[PATH_ROOM];
	int err = find(name, SYNCEVENT_PROVIDER_DEFAULT, path, &names);

	if (err)
		return err;
	return unlink(path) ? -errno : 0;
}
