// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* queue.c - wait queues: those of the kernel provider; local.c has the others */
#include "watch.h"

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

/**
 * struct syncevent_queue - a queue
 * @fd: of the kernel provider
 * @local: of the shm provider; NULL: of the kernel provider
 */
struct syncevent_queue {
	int fd;
	struct se_local *local;
};

static int kernel_create(int *queue)
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
	*queue = fd;
	return 0;
}

int syncevent_queue_create(struct syncevent_queue **out)
{
	return syncevent_queue_create_on(out, SYNCEVENT_PROVIDER_DEFAULT);
}

int syncevent_queue_create_on(struct syncevent_queue **out, enum syncevent_provider which)
{
	int provider = se_choose(which), err;
	struct syncevent_queue *q;

	if (provider < 0)
		return provider;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	err = provider == SYNCEVENT_PROVIDER_SHM ? se_local_create(&q->local) :
						   kernel_create(&q->fd);
	if (err)
		free(q);
	else
		*out = q;
	return err;
}

int syncevent_queue_fd(const struct syncevent_queue *q)
{
	return q->local ? se_local_fd(q->local) : q->fd;
}

/* ---- events on attr.addr in a queue of the kernel provider ----------------------- */

/*
 * They have an event of the kernel provider behind them, their shadow, to which the
 * thread copies each value that it sees. All the rest is the kernel's.
 */

static int shadow(struct se_watch **out, struct syncevent *ev)
{
	struct syncevent_attr attr = { .size = sizeof(attr) };
	struct se_watch *w;
	int err;

	err = se_watch_get(&w, ev);
	if (!err)
		err = se_watch_start();
	if (err)
		return err;
	if (w->shadow && w->shadow_forks != se_forks)
		se_shadow_close(w);
	attr.value = __atomic_load_n(ev->value, __ATOMIC_ACQUIRE);
	if (w->shadow) {
		(void)syncevent_set(w->shadow, attr.value);
	} else {
		err = se_kernel_create(&w->shadow, &attr);
		w->shadow_forks = se_forks;
	}
	*out = w;
	return err;
}

static int add_shadow(const struct syncevent_queue *q, struct syncevent *ev,
		      struct syncevent_queue_add *add)
{
	struct se_watch *w;
	int err;

	se_watch_lock();
	err = shadow(&w, ev);
	se_watch_unlock();
	if (err)
		return err;
	add->fd = w->shadow->fd;
	err = se_ioctl(q->fd, SYNCEVENT_IOC_QUEUE_ADD, add);
	if (err)
		return err;
	se_watch_lock();
	w->shadowed = !w->ended;
	if (w->shadowed)
		se_watch_more(w, SYNCEVENT_FOREVER);
	se_watch_unlock();
	return 0;
}

void se_shadow_judge(struct se_watch *w, uint64_t value)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };

	if (__atomic_load_n(w->shadow->value, __ATOMIC_RELAXED) != value)
		(void)syncevent_set(w->shadow, value);
	/* If it cannot be asked, there may be some. */
	w->shadowed = syncevent_stat(w->shadow, &stat) || stat.waiters;
}

void se_shadow_end(struct se_watch *w)
{
	(void)syncevent_revoke(w->shadow);
	w->shadowed = false;
}

void se_shadow_close(struct se_watch *w)
{
	/* Children may have its file as well, which they would keep alive. */
	if (w->shadow_forks == se_forks)
		se_shadow_end(w);
	syncevent_close(w->shadow);
	w->shadow = NULL;
	w->shadowed = false;
}

/* ---- all queues -------------------------------------------------------------------- */

int syncevent_queue_add(struct syncevent_queue *q, struct syncevent *ev,
			enum syncevent_cond cond, uint64_t operand, uint64_t mask,
			uint64_t cookie, uint64_t deadline)
{
	const struct se_cond c = { .operand = operand, .mask = mask, .cond = cond };
	const uint32_t provider = ev->provider->id;
	struct syncevent_queue_add add = {
		.cookie = cookie,
		.operand = operand,
		.mask = mask,
		.deadline = deadline,
		.fd = ev->fd,
		.cond = c.cond,
	};

	if (c.cond > SYNCEVENT_LE)
		return -EINVAL;
	if (provider == (q->local ? SYNCEVENT_PROVIDER_KERNEL : SYNCEVENT_PROVIDER_SHM))
		return -EXDEV;
	if (q->local)
		return se_local_add(q->local, ev, &c, cookie, deadline);
	if (provider == SYNCEVENT_PROVIDER_ADDR)
		return add_shadow(q, ev, &add);
	return se_ioctl(q->fd, SYNCEVENT_IOC_QUEUE_ADD, &add);
}

int syncevent_queue_reserve(struct syncevent_queue *q, size_t n)
{
	/* The kernel's entries are no memory of this process. */
	return q->local ? se_local_reserve(q->local, n) : 0;
}

int syncevent_queue_cancel(struct syncevent_queue *q, uint64_t cookie)
{
	struct syncevent_queue_cancel cancel = { .cookie = cookie };

	return q->local ? se_local_cancel(q->local, cookie) :
			  se_ioctl(q->fd, SYNCEVENT_IOC_QUEUE_CANCEL, &cancel);
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
	if (q->local)
		return se_local_reap(q->local, done, max, deadline);
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
	if (q->local)
		se_local_close(q->local);
	else
		close(q->fd);
	free(q);
}
