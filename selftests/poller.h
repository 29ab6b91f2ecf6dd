/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Threads that poll one file in one of the ways that there are.
 */
#ifndef SELFTESTS_POLLER_H
#define SELFTESTS_POLLER_H

#include "common.h"

#include <sys/select.h>

#define IN	(POLLIN | POLLRDNORM)
#define OUT	(POLLOUT | POLLWRNORM)
#define GONE	(POLLHUP | POLLERR)

enum how { BY_POLL, BY_SELECT, BY_EPOLL, BY_EPOLL_ET, BY_NESTED, BY_NESTED_ET, HOWS };

struct poller {
	struct se_thread t;
	enum how how;
	int fd, ep, outer;
};

static inline int ep_with(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	return ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) ? ep : -1;
}

/* What an epoll has to tell, waiting for it: events or a negative errno. */
static inline int ep_wait(int ep, int timeout)
{
	struct epoll_event ev = { .events = 0 };
	int n = epoll_wait(ep, &ev, 1, timeout);

	return n < 0 ? -errno : (int)(ev.events);
}

/* What it has to tell now; 0 is nothing. */
static inline int ep_now(int ep)
{
	return ep_wait(ep, 0);
}

static inline int poller_fn(void *arg)
{
	struct poller *p = arg;
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN | POLLRDNORM };
	fd_set in;

	switch (p->how) {
	case BY_POLL:
		return poll(&pfd, 1, -1) < 0 ? -errno : pfd.revents;
	case BY_SELECT:
		FD_ZERO(&in);
		FD_SET(p->fd, &in);
		return select(p->fd + 1, &in, NULL, NULL, NULL) < 0 ? -errno : IN;
	case BY_EPOLL:
	case BY_EPOLL_ET:
		return ep_wait(p->ep, -1);
	default:
		if (!(ep_wait(p->outer, -1) & EPOLLIN))
			return -EPROTO;
		return ep_now(p->ep);
	}
}

static inline int poller_start(struct poller *p, int fd, enum how how)
{
	int ret;

	p->fd = fd;
	p->how = how;
	p->ep = ep_with(fd, IN | (how == BY_EPOLL_ET || how == BY_NESTED_ET ? EPOLLET : 0));
	p->outer = ep_with(p->ep, EPOLLIN | (how == BY_NESTED_ET ? EPOLLET : 0));
	if (p->ep < 0 || p->outer < 0)
		return -EINVAL;
	ret = se_start(&p->t, poller_fn, p);
	if (ret)
		return ret;
	return se_until_sleeps(&p->t) ? 0 : -ETIME;
}

static inline int poller_join(struct poller *p)
{
	int ret = se_join(&p->t);

	close(p->outer);
	close(p->ep);
	return ret;
}

#endif /* SELFTESTS_POLLER_H */
