// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * poll.c - what syncevent_poll_fd() gives on the shm provider
 *
 * An eventfd, which the thread of watch.c and the calls here set and clear by looks at
 * the value. They ask for a ring before each look: whatever changes after it is seen
 * by the thread. While the eventfd is readable they ask to be rung at every update:
 * the condition may cease to hold, and who waits for edges wants to hear of it.
 *
 * Some programs close every file descriptor that they do not know, and the number may
 * then mean another file. So before anything is done to an eventfd it is checked that
 * it is the one that was made. Eventfds, timers, epoll and others share one inode, so
 * the open file has a mark: the signal of its F_SETSIG, which an eventfd never sends.
 */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- bells -------------------------------------------------------------------- */

/* Who sets one for a file of his own takes SIGIO, or one that queues. */
#define MARK	SIGURG

/* By number; an empty list is all zeroes. */
#define BELLS	256

static LIST_HEAD(, se_bell) bells[BELLS];

static int new_eventfd(bool on)
{
	int fd = eventfd(on, EFD_CLOEXEC | EFD_NONBLOCK), err;

	fd = se_above_stdio(fd < 0 ? -errno : fd);
	if (fd >= 0 && fcntl(fd, F_SETSIG, MARK)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static bool is_ours(const struct se_bell *b)
{
	return fcntl(b->fd, F_GETSIG) == MARK;
}

/*
 * The mark does not tell whose a bell is. Who had the number of a new one has none any
 * more: the program has closed it.
 */
static void disown(int fd)
{
	struct se_bell *b;

	LIST_FOREACH(b, &bells[fd % BELLS], link) {
		if (b->fd == fd) {
			LIST_REMOVE(b, link);
			b->fd = -1;
			b->on = false;
			return;
		}
	}
}

int se_bell_open(struct se_bell *b)
{
	int fd = new_eventfd(false);

	if (fd < 0)
		return fd;
	disown(fd);
	b->fd = fd;
	b->on = false;
	LIST_INSERT_HEAD(&bells[fd % BELLS], b, link);
	return 0;
}

void se_bell_close(struct se_bell *b)
{
	if (b->fd < 0)
		return;
	LIST_REMOVE(b, link);
	if (is_ours(b))
		close(b->fd);
	b->fd = -1;
}

void se_bell_on(struct se_bell *b)
{
	if (is_ours(b))
		(void)eventfd_write(b->fd, 1);
	b->on = true;
}

void se_bell_off(struct se_bell *b)
{
	eventfd_t value;

	if (b->on && is_ours(b))
		(void)eventfd_read(b->fd, &value);
	b->on = false;
}

static void bell_fork(const struct se_bell *b)
{
	int fd;

	if (!is_ours(b))
		return;
	/* Its own number at the latest is free. */
	fd = new_eventfd(b->on);
	if (fd < 0) {
		close(b->fd);
		fd = new_eventfd(b->on);
	}
	if (fd >= 0 && fd != b->fd) {
		(void)dup3(fd, b->fd, O_CLOEXEC);
		close(fd);
	}
}

void se_bells_fork(void)
{
	struct se_bell *b;
	unsigned int i;

	for (i = 0; i < BELLS; i++)
		LIST_FOREACH(b, &bells[i], link)
			bell_fork(b);
}

/* ---- polling an event ------------------------------------------------------------ */

void se_poll_judge(struct se_watch *w, uint64_t value)
{
	if (!se_holds(&w->cond, value)) {
		se_bell_off(&w->bell);
	} else if (!w->bell.on || w->told != value) {
		w->told = value;
		se_bell_on(&w->bell);
	}
}

/* After the condition has changed. */
static void look(struct se_watch *w)
{
	bool on;

	if (w->bell.fd < 0)
		return;
	do {
		on = w->bell.on;
		se_shm_ask(w->ev, on ? &se_any : &w->cond);
		se_poll_judge(w, __atomic_load_n(w->ev->value, __ATOMIC_ACQUIRE));
	} while (!on && w->bell.on);
}

static void differs_from(struct se_watch *w, uint64_t last)
{
	w->last = last;
	if (!w->armed) {
		w->cond = se_any;
		w->cond.operand = last;
	}
}

int se_watch_arm(struct syncevent *ev, const struct se_cond *c)
{
	struct se_watch *w;
	int err;

	se_watch_lock();
	err = se_watch_get(&w, ev);
	if (!err) {
		w->armed = c;
		if (c)
			w->cond = *c;
		else
			differs_from(w, w->last);
		/* Who waits for edges is told of this one though it was told of the value. */
		se_bell_off(&w->bell);
		look(w);
	}
	se_watch_unlock();
	return err;
}

int se_watch_poll_fd(struct syncevent *ev)
{
	struct se_watch *w;
	int ret;

	se_watch_lock();
	ret = se_watch_get(&w, ev);
	if (!ret)
		ret = se_watch_start();
	if (!ret && w->bell.fd < 0) {
		ret = se_bell_open(&w->bell);
		if (!ret) {
			look(w);
			se_watch_more(w, SYNCEVENT_FOREVER);
		}
	}
	if (!ret)
		ret = w->bell.fd;
	se_watch_unlock();
	return ret;
}

int se_watch_read(struct syncevent *ev, uint64_t *value)
{
	struct se_watch *w;
	int err;

	se_watch_lock();
	err = se_watch_get(&w, ev);
	if (err)
		goto out;
	*value = __atomic_load_n(ev->value, __ATOMIC_ACQUIRE);
	err = -EAGAIN;
	if (se_holds(&w->cond, *value)) {
		err = 0;
		w->told = *value;
		differs_from(w, *value);
	}
	look(w);
out:
	se_watch_unlock();
	return err;
}
