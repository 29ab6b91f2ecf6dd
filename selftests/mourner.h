/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Threads that wait for an event that lies in a region, one in each way that there is.
 */
#ifndef SELFTESTS_MOURNER_H
#define SELFTESTS_MOURNER_H

#include "pci.h"

#include <syncevent.h>

/* No event has this value, until it is told to. */
#define NEVER		99ULL

enum how {
	BY_WAIT, BY_MANY, BY_READ, BY_EPOLL, BY_QUEUE,
	BY_SPIN, BY_LIBRARY, BY_LIBRARY_YIELD, BY_LIBRARY_MANY, HOWS
};

static const char *const hows[] = {
	"WAIT", "WAIT_MANY", "read", "epoll", "queue",
	"spin", "library", "library yields", "library, several",
};

/**
 * struct mourner - a thread that waits, in one way
 * @fd: an open file of its own
 * @q: an epoll, or a wait queue
 * @cell: for a spinner
 * @ev: the library's, which spins too
 * @ended: when it did
 */
struct mourner {
	struct se_thread t;
	enum how how;
	int fd, q;
	volatile struct syncevent_cell *cell;
	struct syncevent *ev;
	uint64_t ended;
};

/* As cell.h says that it is to be done. */
static inline int spin(volatile struct syncevent_cell *cell)
{
	volatile struct syncevent_hint *hint = &cell->hint[my_side()];
	uint32_t deaths = hint->deaths;

	while (cell->value != NEVER) {
		if ((cell->state & SYNCEVENT_STATE_MASK) != SYNCEVENT_STATE_LIVE)
			return -EIDRM;
		if (hint->flags & SYNCEVENT_HINT_PEER_DEAD || hint->deaths != deaths)
			return -EPIPE;
		sched_yield();
	}
	return 0;
}

static inline int mourn_once(struct mourner *m)
{
	struct syncevent_wait_entry entry = se_entry(m->fd, SYNCEVENT_COND_EQ, NEVER);
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = SYNCEVENT_FOREVER,
		.how = m->how == BY_LIBRARY ? SYNCEVENT_SPIN : SYNCEVENT_YIELD,
	};
	struct syncevent_many many = {
		.ev = m->ev, .cond = SYNCEVENT_EQ, .operand = NEVER, .mask = SE_ALL,
	};
	struct epoll_event e = { .events = 0 };
	struct syncevent_completion done;
	uint64_t v;
	int ret;

	switch (m->how) {
	case BY_WAIT:
		return se_wait(m->fd, SYNCEVENT_COND_EQ, NEVER, SE_FOREVER, NULL);
	case BY_MANY:
		ret = se_wait_many(&entry, 1, 0, SE_FOREVER, NULL);
		return entry.status == (ret ?: 1) ? ret : -EPROTO;
	case BY_READ:
		return se_read(m->fd, &v);
	case BY_EPOLL:
		ret = epoll_wait(m->q, &e, 1, -1);
		if (ret != 1)
			return -EPROTO;
		return e.events & EPOLLHUP ? -EIDRM : e.events & EPOLLERR ? -EPIPE : 0;
	case BY_QUEUE:
		ret = se_reap(m->q, &done, 1);
		return ret == 1 ? done.status : -EPROTO;
	case BY_SPIN:
		return spin(m->cell);
	case BY_LIBRARY_MANY:
		ret = syncevent_wait_many(&many, 1, 0, &opts, NULL);
		return many.status == (ret ?: 1) ? ret : -EPROTO;
	default:
		return syncevent_wait(m->ev, SYNCEVENT_EQ, NEVER, SE_ALL, &opts, NULL);
	}
}

static inline int mourner_fn(void *arg)
{
	struct mourner *m = arg;
	int ret = mourn_once(m);

	m->ended = se_now(CLOCK_MONOTONIC);
	return ret;
}

/* It has run for longer than it takes to begin. */
static inline bool spins(struct se_thread *t)
{
	struct timespec ts;
	clockid_t clock;

	return !pthread_getcpuclockid(t->thread, &clock) && !clock_gettime(clock, &ts) &&
	       (ts.tv_sec || ts.tv_nsec > 5000000);
}

static inline int mourner_start(struct mourner *m, int fd, enum how how)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ret = 0;

	m->how = how;
	m->q = -1;
	m->cell = NULL;
	m->ev = NULL;
	m->fd = se_dup(fd, 0);
	if (m->fd < 0)
		return m->fd;
	if (how == BY_READ || how == BY_EPOLL)
		ret = se_arm(m->fd, SYNCEVENT_COND_EQ, NEVER);
	if (how == BY_EPOLL) {
		m->q = epoll_create1(EPOLL_CLOEXEC);
		ret = ret ?: epoll_ctl(m->q, EPOLL_CTL_ADD, m->fd, &e);
	} else if (how == BY_QUEUE) {
		m->q = se_queue(0);
		ret = se_queue_add(m->q, m->fd, SYNCEVENT_COND_EQ, NEVER, 7, SE_FOREVER);
	} else if (how == BY_SPIN) {
		m->cell = pci_map(m->fd, PROT_READ);
		ret = m->cell ? 0 : -errno;
	} else if (how > BY_SPIN) {
		ret = syncevent_from_fd(&m->ev, m->fd);
	}
	ret = ret ?: se_start(&m->t, mourner_fn, m);
	if (!ret && !(how < BY_SPIN ? se_until_sleeps(&m->t) :
				      se_until(spins(&m->t) || se_is_done(&m->t))))
		ret = -ETIME;
	return ret;
}

/* Where fewer rounds are done, on slow kernels, fewer of them spin. */
static inline enum how ways(void)
{
	return se_times(100) < 100 ? BY_LIBRARY_YIELD : HOWS;
}

/* All that wait for one event. */
struct mourners {
	int fd;
	struct mourner m[HOWS];
};

static inline int mourn(struct mourners *all, int fd)
{
	enum how how;
	int ret = fd < 0 ? fd : 0;

	all->fd = fd;
	for (how = 0; !ret && how < ways(); how++)
		ret = mourner_start(&all->m[how], fd, how);
	return ret;
}

static inline bool any_ended(struct mourners *all)
{
	enum how how;

	for (how = 0; how < ways(); how++)
		if (se_is_done(&all->m[how].t))
			return true;
	return false;
}

static inline bool all_ended(struct mourners *all)
{
	enum how how;

	for (how = 0; how < ways(); how++)
		if (!se_is_done(&all->m[how].t))
			return false;
	return true;
}

/* How it ended; SE_HUNG: it has not, and keeps what it uses. */
static inline int mourner_end(struct mourner *m)
{
	if (!se_is_done(&m->t))
		return SE_HUNG;
	if (m->cell)
		munmap((void *)m->cell, 4096);
	if (m->ev)
		syncevent_close(m->ev);
	if (m->q >= 0)
		close(m->q);
	close(m->fd);
	return se_join(&m->t);
}

/* The last of those that all ended. */
static inline uint64_t last_end(const struct mourners *all)
{
	uint64_t last = 0;
	enum how how;

	for (how = 0; how < ways(); how++)
		last = all->m[how].ended > last ? all->m[how].ended : last;
	return last;
}

/* How many did not end with @expected? Says so; and if @since, how long after it all did. */
static inline unsigned int wrong_ends(struct mourners *all, int expected, const char *event,
			       uint64_t since)
{
	unsigned int wrong = 0;
	enum how how;
	int ret;

	if (since)
		printf("# %s, ms after the limit:", event);
	/* All together get the time that one may take. */
	se_until(all_ended(all));
	for (how = 0; how < ways(); how++) {
		struct mourner *m = &all->m[how];

		ret = mourner_end(m);
		if (since)
			printf(" %s %d", hows[how], (int)((int64_t)(m->ended - since) / 1000000));
		if (ret != expected) {
			printf("\n# %s: %s ended with %d, not %d\n", event, hows[how], ret,
			       expected);
			wrong++;
		}
	}
	if (since)
		printf("\n");
	return wrong;
}

#endif /* SELFTESTS_MOURNER_H */
