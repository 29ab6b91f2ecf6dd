// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * count.c - count system calls by standing in front of the C library
 *
 * The linker prefers a program's own functions to those of shared libraries,
 * for libsyncevent's calls too. So every system call that a wait or an update
 * could make passes through here. For one thread.
 */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "count.h"

static unsigned long calls;

unsigned long count_syscalls(void)
{
	return calls;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	calls++;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

ssize_t read(int fd, void *buf, size_t size)
{
	calls++;
	return syscall(SYS_read, fd, buf, size);
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	/* The kernel takes the offset in two halves. */
	calls++;
	return syscall(SYS_preadv2, fd, iov, count, offset, (long)((int64_t)offset >> 32), flags);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	  const sigset_t *mask)
{
	struct timespec left;

	/* The kernel writes back what is left of the time. */
	if (timeout)
		left = *timeout;
	calls++;
	return (int)syscall(SYS_ppoll, fds, count, timeout ? &left : NULL, mask, 8);
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	struct timespec timeout = { ms / 1000, ms % 1000 * 1000000L };

	return ppoll(fds, count, ms < 0 ? NULL : &timeout, NULL);
}
