// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* queue.c - wait queues */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* read(2) fills the caller's array in place. */
_Static_assert(sizeof(struct syncevent_done) == sizeof(struct syncevent_completion) &&
	       offsetof(struct syncevent_done, cookie) ==
	       offsetof(struct syncevent_completion, cookie) &&
	       offsetof(struct syncevent_done, value) ==
	       offsetof(struct syncevent_completion, value) &&
	       offsetof(struct syncevent_done, status) ==
	       offsetof(struct syncevent_completion, status),
	       "struct syncevent_done");

struct syncevent_queue {
	int fd;
};

int syncevent_queue_create(struct syncevent_queue **q)
{
	struct syncevent_queue_create create = { 0 };
	int device = se_device_open();
	int fd;

	if (device < 0)
		return device;
	fd = se_ioctl(device, SYNCEVENT_IOC_QUEUE, &create);
	close(device);
	if (fd == -ENOTTY)
		return -ENODEV;
	fd = se_above_stdio(fd);
	if (fd < 0)
		return fd;
	*q = malloc(sizeof(**q));
	if (!*q) {
		close(fd);
		return -ENOMEM;
	}
	(*q)->fd = fd;
	return 0;
}

int syncevent_queue_fd(const struct syncevent_queue *q)
{
	return q->fd;
}

int syncevent_queue_add(struct syncevent_queue *q, struct syncevent *ev,
			enum syncevent_cond cond, uint64_t operand, uint64_t mask,
			uint64_t cookie, uint64_t deadline)
{
	struct syncevent_queue_add add = {
		.cookie = cookie,
		.operand = operand,
		.mask = mask,
		.deadline = deadline,
		.fd = ev->fd,
		.cond = cond,
	};

	return se_ioctl(q->fd, SYNCEVENT_IOC_QUEUE_ADD, &add);
}

int syncevent_queue_cancel(struct syncevent_queue *q, uint64_t cookie)
{
	struct syncevent_queue_cancel cancel = { .cookie = cookie };

	return se_ioctl(q->fd, SYNCEVENT_IOC_QUEUE_CANCEL, &cancel);
}

/* Sleeps until there is something to read or the deadline has passed. */
static int sleep_queue(int fd, uint64_t deadline)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct timespec ts;
	uint64_t now, left;

	if (deadline == SYNCEVENT_FOREVER)
		return ppoll(&pfd, 1, NULL, NULL) < 0 ? -errno : 0;
	now = se_now(false);
	left = deadline > now ? deadline - now : 0;
	if (!left)
		return -ETIMEDOUT;
	/* A time_t of 32 bits does not hold every deadline; the caller asks again. */
	ts.tv_sec = (time_t)(left / 1000000000 > INT_MAX ? INT_MAX : left / 1000000000);
	ts.tv_nsec = (long)(left % 1000000000);
	return ppoll(&pfd, 1, &ts, NULL) < 0 ? -errno : 0;
}

/*
 * Without a deadline read(2) is all it takes. With one, nothing may block but
 * ppoll(2): another thread may reap what that one has announced.
 */
int syncevent_queue_reap(struct syncevent_queue *q, struct syncevent_done *done,
			 unsigned int max, uint64_t deadline)
{
	const int flags = deadline == SYNCEVENT_FOREVER ? 0 : RWF_NOWAIT;
	struct iovec iov = { .iov_base = done };
	int err = deadline ? 0 : -ETIMEDOUT;
	ssize_t got;

	if (!max)
		return -EINVAL;
	if (max > INT_MAX / sizeof(*done))
		max = INT_MAX / sizeof(*done);
	iov.iov_len = max * sizeof(*done);
	for (;;) {
		/* After a time-out or a signal this is the last look: success wins. */
		got = preadv2(q->fd, &iov, 1, -1, flags);
		if (got >= 0)
			return (int)((size_t)got / sizeof(*done));
		if (errno != EAGAIN)
			return -errno;
		if (err)
			return err;
		err = sleep_queue(q->fd, deadline);
	}
}

void syncevent_queue_close(struct syncevent_queue *q)
{
	if (!q)
		return;
	close(q->fd);
	free(q);
}
