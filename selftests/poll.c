// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * poll(2), select(2) and epoll(7) on events and wait queues: ready if and only if
 * the condition of the open file holds now, and woken whenever it comes to hold.
 */
#include "common.h"

#include <sys/select.h>

#define IN	(POLLIN | POLLRDNORM)
#define OUT	(POLLOUT | POLLWRNORM)
#define GONE	(POLLHUP | POLLERR)

/* ---- pollers that sleep ---------------------------------------------------------- */

enum how { BY_POLL, BY_SELECT, BY_EPOLL, BY_EPOLL_ET, BY_NESTED, BY_NESTED_ET, HOWS };

struct poller {
	struct se_thread t;
	enum how how;
	int fd, ep, outer;
};

static int ep_with(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	return ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) ? ep : -1;
}

/* What an epoll has to tell, waiting for it: events or a negative errno. */
static int ep_wait(int ep, int timeout)
{
	struct epoll_event ev = { .events = 0 };
	int n = epoll_wait(ep, &ev, 1, timeout);

	return n < 0 ? -errno : (int)(ev.events);
}

/* What it has to tell now; 0 is nothing. */
static int ep_now(int ep)
{
	return ep_wait(ep, 0);
}

static int poller_fn(void *arg)
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

static int poller_start(struct poller *p, int fd, enum how how)
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

static int poller_join(struct poller *p)
{
	int ret = se_join(&p->t);

	close(p->outer);
	close(p->ep);
	return ret;
}

/* ---- ready -------------------------------------------------------------------------- */

FIXTURE(poll)
{
	int fd;
};

FIXTURE_SETUP(poll)
{
	self->fd = se_create_flags(5, SYNCEVENT_CREATE_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(poll)
{
	close(self->fd);
}

TEST_F(poll, differs_from_the_last_read)
{
	uint64_t v;

	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(-EAGAIN, se_read(self->fd, &v));
	ASSERT_EQ(0, se_set(self->fd, 5));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	/* GET and WAIT are not reads of the file */
	ASSERT_EQ(0, se_get(self->fd, &v));
	ASSERT_EQ(0, se_wait(self->fd, SYNCEVENT_COND_EQ, 6, 0, NULL));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(6, v);
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(-EAGAIN, se_read(self->fd, &v));
	/* there and back is not different */
	ASSERT_EQ(0, se_set(self->fd, 7));
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
}

TEST_F(poll, armed_condition_is_a_level)
{
	uint64_t v;

	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GT, 5));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(-EAGAIN, se_read(self->fd, &v));
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(6, v);
	/* a read takes nothing away */
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(0, se_set(self->fd, 5));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	/* but it was the last read: after CLEAR the file is ready, 5 is not 6 */
	ASSERT_EQ(0, se_disarm(self->fd));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));

	ASSERT_EQ(0, se_arm_mask(self->fd, SYNCEVENT_COND_EQ, 1, 3));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
}

/* ---- woken ---------------------------------------------------------------------------- */

static int by_ioctl_set(int fd, struct syncevent_cell *cell)
{
	(void)cell;
	return se_set(fd, 6);
}

static int by_ioctl_add(int fd, struct syncevent_cell *cell)
{
	(void)cell;
	return se_add(fd, 1, NULL);
}

static int by_write(int fd, struct syncevent_cell *cell)
{
	(void)cell;
	return se_write(fd, 1);
}

static int by_mapping(int fd, struct syncevent_cell *cell)
{
	__atomic_fetch_add(&cell->value, 1, __ATOMIC_SEQ_CST);
	return se_ring(fd);
}

static int (*const updates[])(int fd, struct syncevent_cell *cell) = {
	by_ioctl_set, by_ioctl_add, by_write, by_mapping,
};

/* Every kind of poller, by every kind of update, with every kind of condition. */
TEST_F(poll, woken_by_every_update)
{
	struct syncevent_cell *cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	unsigned int how, u, c;
	struct poller p;
	uint64_t v;

	ASSERT_TRUE(cell);
	for (how = 0; how < HOWS; how++) {
		for (u = 0; u < ARRAY_SIZE(updates); u++) {
			for (c = 0; c < 4; c++) {
				ASSERT_EQ(0, se_set(self->fd, 5));
				(void)se_read(self->fd, &v);
				ASSERT_EQ(0, c == 0 ? se_disarm(self->fd) :
					  c == 1 ? se_arm(self->fd, SYNCEVENT_COND_GT, 5) :
					  c == 2 ? se_arm(self->fd, SYNCEVENT_COND_EQ, 6) :
					  se_arm_mask(self->fd, SYNCEVENT_COND_EQ, 2, 3));
				ASSERT_EQ(0, poller_start(&p, self->fd, how));
				ASSERT_EQ(0, updates[u](self->fd, cell));
				ASSERT_EQ(IN, poller_join(&p));
				ASSERT_EQ(0, se_read(self->fd, &v));
				ASSERT_EQ(6, v);
			}
		}
	}
}

/* An update that does not make the condition hold wakes no poller. */
TEST_F(poll, not_woken_for_nothing)
{
	uint64_t wakes;
	struct poller p;
	long slept;

	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GE, 100));
	ASSERT_EQ(0, poller_start(&p, self->fd, BY_POLL));
	slept = se_switches(p.t.tid);
	wakes = se_wakes(self->fd);
	ASSERT_EQ(0, se_set(self->fd, 99));
	ASSERT_EQ(0, se_set(self->fd, 1));
	ASSERT_EQ(0, se_ring(self->fd));
	ASSERT_EQ(slept, se_switches(p.t.tid));
	ASSERT_EQ(wakes, se_wakes(self->fd));
	ASSERT_EQ(0, se_set(self->fd, 100));
	ASSERT_EQ(IN, poller_join(&p));
}

TEST_F(poll, arm_wakes_who_polls)
{
	struct poller p;
	unsigned int how;

	for (how = 0; how < HOWS; how++) {
		ASSERT_EQ(0, se_disarm(self->fd));
		ASSERT_EQ(0, poller_start(&p, self->fd, how));
		/* one that does not hold, then one that does */
		ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GT, 5));
		ASSERT_TRUE(se_until_sleeps(&p.t));
		ASSERT_FALSE(se_is_done(&p.t));
		ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_LE, 5));
		ASSERT_EQ(IN, poller_join(&p));
	}
}

/* And what is armed while somebody sleeps in poll(2) is what wakes it. */
TEST_F(poll, arm_rekeys_who_polls)
{
	struct poller p;
	unsigned int how;

	for (how = 0; how < HOWS; how++) {
		ASSERT_EQ(0, se_set(self->fd, 5));
		ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_EQ, 50));
		ASSERT_EQ(0, poller_start(&p, self->fd, how));
		ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_EQ, 60));
		ASSERT_EQ(0, se_set(self->fd, 50));
		ASSERT_TRUE(se_until_sleeps(&p.t));
		ASSERT_FALSE(se_is_done(&p.t));
		ASSERT_EQ(0, se_set(self->fd, 60));
		ASSERT_EQ(IN, poller_join(&p));
	}
}

/* read(2) re-keys too: what a poll before it armed would miss the way back. */
TEST_F(poll, read_rekeys_an_armed_entry)
{
	int ep = ep_with(self->fd, EPOLLIN | EPOLLET);
	uint64_t v;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(EPOLLIN, ep_now(ep));		/* armed: differs from 5 */
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(0, se_set(self->fd, 5));	/* differs from 6 */
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(5, v);
	close(ep);
}

static int read_fn(void *arg)
{
	uint64_t v;
	int ret = se_read(*(int *)arg, &v);

	return ret ? ret : (int)v;
}

/* A blocking read sleeps for the condition of the file, as it is now. */
TEST(blocking_read)
{
	int fd = se_create(5);
	struct se_thread t;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_start(&t, read_fn, &fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	ASSERT_EQ(0, se_set(fd, 6));
	ASSERT_EQ(6, se_join(&t));

	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_GE, 10));
	ASSERT_EQ(0, se_start(&t, read_fn, &fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	ASSERT_EQ(0, se_set(fd, 9));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	ASSERT_FALSE(se_is_done(&t));
	ASSERT_EQ(0, se_write(fd, 1));
	ASSERT_EQ(10, se_join(&t));

	/* armed anew while it sleeps */
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_GE, 20));
	ASSERT_EQ(0, se_start(&t, read_fn, &fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_GE, 10));
	ASSERT_EQ(10, se_join(&t));
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_GE, 20));
	ASSERT_EQ(0, se_start(&t, read_fn, &fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_EQ, 15));
	ASSERT_EQ(0, se_set(fd, 15));
	ASSERT_EQ(15, se_join(&t));

	ASSERT_EQ(0, se_disarm(fd));
	ASSERT_EQ(0, se_start(&t, read_fn, &fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	ASSERT_EQ(0, se_revoke(fd));
	ASSERT_EQ(-EIDRM, se_join(&t));
	close(fd);
}

/* ---- revoked ------------------------------------------------------------------------- */

TEST(revoke_is_hup_and_err)
{
	unsigned int how;
	struct poller p;
	int fd, ep;

	for (how = 0; how < HOWS; how++) {
		fd = se_create(0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, poller_start(&p, fd, how));
		ASSERT_EQ(0, se_revoke(fd));
		ASSERT_EQ(how == BY_SELECT ? IN : GONE, poller_join(&p));
		/* nothing else, condition or right, from now on */
		ASSERT_EQ(GONE, se_poll(fd, 0));
		ep = ep_with(fd, EPOLLIN | EPOLLOUT);
		ASSERT_EQ(GONE, ep_now(ep));
		close(ep);
		close(fd);
	}
}

/* ---- epoll ------------------------------------------------------------------------------ */

TEST_F(poll, level_triggered)
{
	int ep = ep_with(self->fd, EPOLLIN);
	uint64_t v;

	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_set(self->fd, 7));
	ASSERT_EQ(0, se_set(self->fd, 6));	/* and back, before it was looked at */
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_set(self->fd, 8));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	close(ep);
}

/* "gives an edge for each update after a harvest", read or not read. */
TEST_F(poll, edge_triggered)
{
	int ep = ep_with(self->fd, EPOLLIN | EPOLLET), i;
	uint64_t v;

	ASSERT_EQ(0, ep_now(ep));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, se_add(self->fd, 1, NULL));
		ASSERT_EQ(EPOLLIN, ep_now(ep));
		ASSERT_EQ(0, ep_now(ep));
	}
	/* two updates before a harvest are one edge */
	ASSERT_EQ(0, se_add(self->fd, 1, NULL));
	ASSERT_EQ(0, se_add(self->fd, 1, NULL));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(57, v);
	ASSERT_EQ(0, ep_now(ep));

	/* with a condition: the updates that satisfy it */
	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GE, 100));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, se_set(self->fd, 99));
		ASSERT_EQ(0, ep_now(ep));
		ASSERT_EQ(0, se_set(self->fd, 100));
		ASSERT_EQ(EPOLLIN, ep_now(ep));
		ASSERT_EQ(0, ep_now(ep));
		ASSERT_EQ(0, se_set(self->fd, 101));
		ASSERT_EQ(EPOLLIN, ep_now(ep));
		ASSERT_EQ(0, ep_now(ep));
	}
	/* an ARM that holds is an edge */
	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GE, 50));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, ep_now(ep));
	close(ep);
}

TEST_F(poll, one_shot)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	int ep = ep_with(self->fd, EPOLLIN | EPOLLONESHOT);

	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_set(self->fd, 7));
	ASSERT_EQ(0, ep_now(ep));
	/* MOD looks anew */
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_MOD, self->fd, &ev));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, ep_now(ep));
	close(ep);
}

static int ep_fn(void *arg)
{
	return ep_wait(*(int *)arg, -1);
}

#define EPS	4

/* At least one of the exclusive ones has each update; the end is for all. */
TEST_F(poll, exclusive)
{
	int ep[EPS], i, woken = 0;
	struct se_thread t[EPS];
	bool over[EPS] = { false };

	for (i = 0; i < EPS; i++) {
		ep[i] = ep_with(self->fd, EPOLLIN | EPOLLEXCLUSIVE | EPOLLET);
		ASSERT_LE(0, ep[i]);
		ASSERT_EQ(0, se_start(&t[i], ep_fn, &ep[i]));
		ASSERT_TRUE(se_until_sleeps(&t[i]));
	}
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_TRUE(se_until(se_is_done(&t[0]) || se_is_done(&t[1]) ||
			     se_is_done(&t[2]) || se_is_done(&t[3])));
	for (i = 0; i < EPS; i++) {
		if (se_is_done(&t[i])) {
			ASSERT_EQ(EPOLLIN, se_join(&t[i]));
			over[i] = true;
			woken++;
		}
	}
	ASSERT_LT(0, woken);
	ASSERT_EQ(0, se_revoke(self->fd));
	for (i = 0; i < EPS; i++) {
		if (!over[i]) {
			int ev = se_join(&t[i]);

			ASSERT_TRUE(ev == GONE || ev == EPOLLIN);
		}
		close(ep[i]);
	}
}

/* Event, epoll, epoll: updates go all the way up, edges too. */
TEST_F(poll, nested)
{
	int in = ep_with(self->fd, EPOLLIN | EPOLLET), mid = ep_with(in, EPOLLIN);
	int out = ep_with(mid, EPOLLIN | EPOLLET), i;

	ASSERT_LE(0, out);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, ep_now(out));
		ASSERT_EQ(0, se_poll(mid, 0));
		ASSERT_EQ(0, se_add(self->fd, 1, NULL));
		ASSERT_EQ(IN, se_poll(mid, 0));
		ASSERT_EQ(EPOLLIN, ep_now(out));
		ASSERT_EQ(EPOLLIN, ep_now(mid));
		ASSERT_EQ(EPOLLIN, ep_now(in));
	}
	close(out);
	close(mid);
	close(in);
}

/* ---- closed while polled ------------------------------------------------------------------ */

TEST(closed_while_polled)
{
	unsigned int how;
	struct poller p;
	int fd, other;

	for (how = 0; how < HOWS; how++) {
		fd = se_create(0);
		other = se_dup(fd, 0);
		ASSERT_LE(0, other);
		ASSERT_EQ(0, poller_start(&p, fd, how));
		close(fd);
		if (how == BY_POLL || how == BY_SELECT) {
			/* the call keeps the file it began with */
			ASSERT_EQ(0, se_set(other, 1));
			ASSERT_EQ(IN, poller_join(&p));
		} else {
			/* an epoll forgets it */
			ASSERT_EQ(0, se_set(other, 1));
			ASSERT_EQ(0, ep_now(p.ep));
			ASSERT_EQ(0, se_waiters(other));
			/* and takes the next one */
			struct epoll_event ev = { .events = EPOLLIN };

			ASSERT_EQ(0, epoll_ctl(p.ep, EPOLL_CTL_ADD, other, &ev));
			ASSERT_EQ(0, se_set(other, 2));
			ASSERT_NE(SE_HUNG, poller_join(&p));
		}
		close(other);
	}
}

struct closer {
	int fd, other;
};

static int updater_fn(void *arg)
{
	struct closer *c = arg;
	int i, ret = 0;

	for (i = 0; i < 200 && !ret; i++)
		ret = se_add(c->other, 1, NULL);
	return ret;
}

/* Closing races with the wake-ups of an epoll. */
TEST(closed_while_updated)
{
	struct closer c;
	struct se_thread t;
	int i, ep, outer;

	for (i = 0; i < 300; i++) {
		c.fd = se_create(0);
		c.other = se_dup(c.fd, 0);
		ASSERT_LE(0, c.other);
		ep = ep_with(c.fd, EPOLLIN | (i & 1 ? EPOLLET : 0));
		outer = ep_with(ep, EPOLLIN);
		ASSERT_LE(0, outer);
		ASSERT_EQ(0, se_start(&t, updater_fn, &c));
		(void)ep_now(outer);
		switch (i % 3) {
		case 0:
			close(c.fd);
			close(ep);
			break;
		case 1:
			close(ep);
			close(c.fd);
			break;
		default:
			ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_DEL, c.fd, NULL));
			close(c.fd);
			close(ep);
		}
		close(outer);
		ASSERT_EQ(0, se_join(&t));
		ASSERT_EQ(0, se_waiters(c.other));
		close(c.other);
	}
}

/* ---- whose condition -------------------------------------------------------------------------- */

static int child_reads(void *arg)
{
	uint64_t v;

	return se_read(*(int *)arg, &v) ? 1 : (int)v;
}

static int child_arms(void *arg)
{
	return se_arm(*(int *)arg, SYNCEVENT_COND_EQ, 100) ? 1 : 0;
}

TEST_F(poll, dup_and_fork_share)
{
	int copy = dup(self->fd);
	uint64_t v;

	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(IN | OUT, se_poll(copy, 0));
	ASSERT_EQ(0, se_read(copy, &v));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_set(self->fd, 7));
	ASSERT_EQ(7, se_wait_child(se_fork(child_reads, &self->fd)));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(OUT, se_poll(copy, 0));

	ASSERT_EQ(0, se_arm(copy, SYNCEVENT_COND_EQ, 7));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_wait_child(se_fork(child_arms, &copy)));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(OUT, se_poll(copy, 0));
	close(copy);
}

TEST_F(poll, the_dup_ioctl_does_not_share)
{
	int other;
	uint64_t v;

	ASSERT_EQ(0, se_set(self->fd, 6));
	other = se_dup(self->fd, SYNCEVENT_DUP_NONBLOCK);
	ASSERT_LE(0, other);
	/* its last read is the value then; the first file has not read yet */
	ASSERT_EQ(OUT, se_poll(other, 0));
	ASSERT_EQ(-EAGAIN, se_read(other, &v));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_set(self->fd, 7));
	ASSERT_EQ(0, se_read(other, &v));
	ASSERT_EQ(OUT, se_poll(other, 0));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));

	ASSERT_EQ(0, se_read(self->fd, &v));
	ASSERT_EQ(0, se_arm(other, SYNCEVENT_COND_EQ, 7));
	ASSERT_EQ(IN | OUT, se_poll(other, 0));
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	/* nor does a DUP inherit the condition */
	close(other);
	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_EQ, 7));
	other = se_dup(self->fd, SYNCEVENT_DUP_NONBLOCK);
	ASSERT_EQ(OUT, se_poll(other, 0));
	close(other);
}

/* ---- wait queues ---------------------------------------------------------------------------------- */

TEST_F(poll, queues)
{
	struct syncevent_completion done[4];
	struct poller p;
	unsigned int how;
	int q, ep;

	for (how = 0; how < HOWS; how++) {
		q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
		ASSERT_LE(0, q);
		ASSERT_EQ(0, se_poll(q, 0));
		ASSERT_EQ(0, se_set(self->fd, 0));
		ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, 1, 11, SE_FOREVER));
		ASSERT_EQ(0, poller_start(&p, q, how));
		ASSERT_EQ(0, se_set(self->fd, 1));
		ASSERT_EQ(IN, poller_join(&p));
		ASSERT_EQ(IN, se_poll(q, 0));
		ASSERT_EQ(1, se_reap(q, done, 4));
		ASSERT_EQ(11, done[0].cookie);
		ASSERT_EQ(0, se_poll(q, 0));

		/* by a deadline, and by the end of an event */
		ASSERT_EQ(0, poller_start(&p, q, how));
		ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_EQ, 99, 12, se_in_ms(5)));
		ASSERT_EQ(IN, poller_join(&p));
		ASSERT_EQ(1, se_reap(q, done, 4));
		ASSERT_EQ(-ETIMEDOUT, done[0].status);
		close(q);
	}
	q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	ep = ep_with(q, EPOLLIN | EPOLLET);
	ASSERT_LE(0, ep);
	/* an edge for each completion */
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, 10, 1, SE_FOREVER));
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, 20, 2, SE_FOREVER));
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, 30, 3, SE_FOREVER));
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_set(self->fd, 10));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_set(self->fd, 20));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(2, se_reap(q, done, 4));
	ASSERT_EQ(0, ep_now(ep));
	ASSERT_EQ(0, se_revoke(self->fd));
	ASSERT_EQ(EPOLLIN, ep_now(ep));
	ASSERT_EQ(1, se_reap(q, done, 4));
	ASSERT_EQ(-EIDRM, done[0].status);
	close(ep);
	close(q);
}

TEST_HARNESS_MAIN
