// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * epoll(7) on events and wait queues: levels, edges, one-shot, exclusive and nested.
 */
#include "poller.h"

FIXTURE(epoll)
{
	int fd;
};

FIXTURE_SETUP(epoll)
{
	self->fd = se_create_flags(5, SYNCEVENT_CREATE_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(epoll)
{
	close(self->fd);
}

TEST_F(epoll, level_triggered)
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
TEST_F(epoll, edge_triggered)
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

TEST_F(epoll, one_shot)
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
TEST_F(epoll, exclusive)
{
	struct se_thread t[EPS];
	int ep[EPS], i, ev;

	for (i = 0; i < EPS; i++) {
		ep[i] = ep_with(self->fd, EPOLLIN | EPOLLEXCLUSIVE | EPOLLET);
		ASSERT_LE(0, ep[i]);
		ASSERT_EQ(0, se_start(&t[i], ep_fn, &ep[i]));
		ASSERT_TRUE(se_until_sleeps(&t[i]));
	}
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_TRUE(se_until(se_is_done(&t[0]) || se_is_done(&t[1]) ||
			     se_is_done(&t[2]) || se_is_done(&t[3])));
	ASSERT_EQ(0, se_revoke(self->fd));
	for (i = 0; i < EPS; i++) {
		ev = se_join(&t[i]);
		ASSERT_TRUE(ev == GONE || ev == EPOLLIN);
		close(ep[i]);
	}
}

static int child_polls(void *arg)
{
	int ep = ep_with(*(int *)arg, EPOLLIN | EPOLLEXCLUSIVE);

	return ep_wait(ep, -1) == EPOLLIN ? 0 : 1;
}

/*
 * Of two exclusive pollers the first is woken and is killed before it looks. The
 * other must not sleep on while the value goes on changing.
 */
TEST_F(epoll, exclusive_poller_killed)
{
	struct se_thread t;
	pid_t pid;
	int ep;

	pid = se_fork(child_polls, &self->fd);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(se_until(se_sleeps_in(pid, pid) >= 0));
	ep = ep_with(self->fd, EPOLLIN | EPOLLEXCLUSIVE);
	ASSERT_LE(0, ep);
	ASSERT_EQ(0, se_start(&t, ep_fn, &ep));
	ASSERT_TRUE(se_until_sleeps(&t));
	ASSERT_EQ(0, se_hold(pid));
	ASSERT_EQ(0, se_set(self->fd, 6));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(0, se_let_go());
	ASSERT_EQ(-SIGKILL, se_wait_child(pid));
	ASSERT_EQ(0, se_set(self->fd, 7));
	ASSERT_EQ(EPOLLIN, se_join(&t));
	close(ep);
}

/* Event, epoll, epoll: updates go all the way up, edges too. */
TEST_F(epoll, nested)
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

/* ---- closed while updated ------------------------------------------- */

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

/* ---- wait queues ---------------------------------------------------------------------------------- */

TEST_F(epoll, queues)
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
