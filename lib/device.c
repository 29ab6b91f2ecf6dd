// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * device.c - /dev/syncevent
 *
 * Making an event or a queue opens the device and closes it again: a process
 * that holds no event must not keep the module from being unloaded. Only
 * syncevent_wait_many() is called too often for that. It keeps the device open
 * from its first use. The file has no state, so a child of fork() goes on with
 * the inherited one, and exec closes it.
 *
 * Some programs close every file descriptor that they do not know. The number
 * may then mean another file, so before an unexpected answer is believed, the
 * file is asked whether it is the device at all.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int device = -1;

int se_ioctl(int fd, unsigned long command, void *arg)
{
	int ret = ioctl(fd, command, arg);

	return ret < 0 ? -errno : ret;
}

int se_above_stdio(int fd)
{
	int high;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (high < 0)
		high = -errno;
	close(fd);
	return high;
}

int se_device_open(void)
{
	int fd = open("/dev/syncevent", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	return se_above_stdio(fd);
}

static bool is_device(int fd)
{
	struct syncevent_dev_info info;

	return se_ioctl(fd, SYNCEVENT_IOC_DEV_INFO, &info) == 0;
}

static int device_get(void)
{
	int fd = __atomic_load_n(&device, __ATOMIC_RELAXED);
	int none = -1;

	if (fd >= 0)
		return fd;
	fd = se_device_open();
	if (fd < 0)
		return fd;
	if (__atomic_compare_exchange_n(&device, &none, fd, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return fd;
	close(fd);
	return none;	/* another thread's */
}

int se_device_ioctl(unsigned long command, void *arg)
{
	int fd = device_get();
	int ret;

	if (fd < 0)
		return fd;
	ret = se_ioctl(fd, command, arg);
	switch (ret) {
	case -EBADF:
	case -EINVAL:
	case -ENOTTY:
		break;
	default:
		return ret;
	}
	if (is_device(fd))
		return ret;
	/* It is someone else's now, so it is not closed. */
	__atomic_compare_exchange_n(&device, &fd, -1, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	fd = device_get();
	return fd < 0 ? fd : se_ioctl(fd, command, arg);
}

/* For dlclose(): a library that comes and goes must not leave files behind. */
__attribute__((destructor)) static void device_put(void)
{
	int fd = __atomic_exchange_n(&device, -1, __ATOMIC_RELAXED);

	if (fd >= 0 && is_device(fd))
		close(fd);
}
