// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * poll(2), select(2) and epoll(7) on events and wait queues: ready if and only if
 * the condition of the open file holds now, and woken whenever it comes to hold.
 */
#include "poller.h"

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
				ASSERT_EQ(0, se_disarm(self->fd));
				ASSERT_EQ(0, se_set(self->fd, 5));
				(void)se_read(self->fd, &v);
				ASSERT_EQ(0, c == 0 ? 0 :
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
		if (how == BY_SELECT) {
			/* another file under its number: what the next look finds */
			ASSERT_EQ(fd, dup2(other, fd));
			ASSERT_EQ(0, se_set(other, 1));
			ASSERT_EQ(IN, poller_join(&p));
			close(fd);
			close(other);
			continue;
		}
		close(fd);
		if (how == BY_POLL) {
			/* the call keeps the file; once woken it finds no such number */
			ASSERT_EQ(0, se_set(other, 1));
			ASSERT_EQ(POLLNVAL, poller_join(&p));
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

struct crowd {
	struct se_thread t;
	struct pollfd pfd[64];
	bool stop;
};

static int poll_all(void *arg)
{
	struct crowd *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED))
		if (poll(c->pfd, ARRAY_SIZE(c->pfd), 0) < 0)
			return -errno;
	return 0;
}

/*
 * An update wakes each file once, though it is armed again at once and its condition
 * holds still: else there would be no end to it, and no turn for who waits for more.
 */
TEST_F(poll, armed_again_waits_for_the_next_update)
{
	enum { UPDATES = 50 };
	struct syncevent_info before, after;
	struct crowd c = { .stop = false };
	struct se_waiter w;
	unsigned int i, k;
	int outer[40];

	for (i = 0; i < ARRAY_SIZE(outer); i++)
		ASSERT_LE(0, outer[i] = epoll_create1(EPOLL_CLOEXEC));
	for (i = 0; i < ARRAY_SIZE(c.pfd); i++) {
		struct epoll_event e = { .events = EPOLLIN };

		c.pfd[i] = (struct pollfd){ .fd = se_dup(self->fd, SYNCEVENT_DUP_RDONLY),
					    .events = POLLIN };
		ASSERT_LE(0, c.pfd[i].fd);
		ASSERT_EQ(0, se_arm(c.pfd[i].fd, SYNCEVENT_COND_GT, 0));
		/* The more there are to be woken, the longer that takes. */
		for (k = 0; k < ARRAY_SIZE(outer); k++)
			ASSERT_EQ(0, epoll_ctl(outer[k], EPOLL_CTL_ADD, c.pfd[i].fd, &e));
	}
	ASSERT_EQ(0, se_start(&c.t, poll_all, &c));
	ASSERT_EQ(0, se_waiter_start(&w, self->fd, SYNCEVENT_COND_GE, 100 + UPDATES));
	ASSERT_TRUE(se_waiter_parked(&w));
	ASSERT_EQ(0, se_info(self->fd, &before));
	for (i = 1; i <= UPDATES; i++) {
		ASSERT_TRUE(se_until(!se_info(self->fd, &after) &&
				     after.waiters == ARRAY_SIZE(c.pfd) + 1));
		ASSERT_EQ(0, se_set(self->fd, 100 + i));
	}
	ASSERT_EQ(0, se_waiter_join(&w));
	ASSERT_EQ(0, se_info(self->fd, &after));
	EXPECT_EQ(UPDATES * ARRAY_SIZE(c.pfd) + 1, after.wakes - before.wakes);
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, se_join(&c.t));
	for (i = 0; i < ARRAY_SIZE(c.pfd); i++)
		close(c.pfd[i].fd);
	for (i = 0; i < ARRAY_SIZE(outer); i++)
		close(outer[i]);
}

/* Armed while its condition held it asks for every update, and only until it does not. */
TEST_F(poll, asks_for_no_more_than_it_needs)
{
	struct syncevent_cell *cell = se_map(self->fd, PROT_READ);

	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GT, 10));
	ASSERT_EQ(0, se_set(self->fd, 11));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
	EXPECT_EQ(SYNCEVENT_HINT_WAKE_ALL, cell->hint[0].flags);
	ASSERT_EQ(0, se_set(self->fd, 0));
	EXPECT_EQ(0, cell->hint[0].flags);
	EXPECT_EQ(10, cell->hint[0].wake_above);
	ASSERT_EQ(OUT, se_poll(self->fd, 0));
	ASSERT_EQ(0, se_set(self->fd, 11));
	ASSERT_EQ(IN | OUT, se_poll(self->fd, 0));
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

TEST_HARNESS_MAIN
