// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The end of an event, and of a file, under every kind of wait and while others
 * create, duplicate, map and touch it.
 */
#include "team.h"

#include <liburing.h>
#include <sys/eventfd.h>

#include <syncevent.h>
#include <syncevent/cell.h>

enum kind {
	WAIT, MANY_ANY, MANY_ALL, READ, POLL, EPOLL, QUEUE, URING_READ, URING_POLL,
	LIB_ADAPTIVE, LIB_BLOCK, LIB_MANY, LIB_YIELD, LIB_SPIN, CELL_SPIN,
};

/* What the members of a team share. */
struct race {
	enum kind kind;
	int fd;			/* the event that all wait on */
	int other;		/* one that never changes */
	int stop;		/* eventfd: ends epoll_wait where nothing else may */
	bool ended;		/* REVOKE has returned */
	struct io_uring ring[TEAM_MAX];
};

/* ---- the waits: 0 satisfied, -EIDRM, or another negative errno ------------------ */

static int wait_many(struct member *m, struct race *race, uint32_t flags)
{
	struct syncevent_wait_entry entry[3] = {
		se_entry(race->other, SYNCEVENT_COND_NEQ, 0),
		se_entry(race->fd, SYNCEVENT_COND_GT, 0),
		se_entry(race->fd, SYNCEVENT_COND_GT, 0),
	};
	uint32_t index;
	int ret;

	/* all: the first one holds, so that the others decide. */
	if (flags & SYNCEVENT_WAIT_ALL)
		entry[0].cond = SYNCEVENT_COND_EQ;
	member_enters(m);
	ret = se_wait_many(entry, 3, flags, SE_FOREVER, &index);
	if (ret == -EIDRM && (index == 0 || index > 2 || entry[index].status != -EIDRM))
		return -EPROTO;
	if (ret == 0 && (index > 2 || entry[index].status != 1))
		return -EPROTO;
	return ret;
}

static int wait_read(struct member *m, struct race *race)
{
	uint64_t value;
	int ret;

	member_enters(m);
	ret = se_read(race->fd, &value);
	return ret == 0 && value != 1 ? -EPROTO : ret;
}

static int from_poll(unsigned int events)
{
	if (events == (POLLHUP | POLLERR))
		return -EIDRM;
	return events == POLLIN ? 0 : -EPROTO;
}

static int wait_poll(struct member *m, struct race *race)
{
	struct pollfd p = { .fd = race->fd, .events = POLLIN };

	member_enters(m);
	if (poll(&p, 1, -1) != 1)
		return -errno;
	return p.revents == POLLNVAL ? -EBADF : from_poll((unsigned short)p.revents);
}

static int wait_epoll(struct member *m, struct race *race)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 1 };
	struct epoll_event stop = { .events = EPOLLIN, .data.u32 = 2 };
	int ep = epoll_create1(EPOLL_CLOEXEC), ret = -errno;

	if (ep < 0)
		return ret;
	if (epoll_ctl(ep, EPOLL_CTL_ADD, race->fd, &event) ||
	    epoll_ctl(ep, EPOLL_CTL_ADD, race->stop, &stop)) {
		ret = -errno;
	} else {
		member_enters(m);
		ret = epoll_wait(ep, &event, 1, -1) != 1 ? -errno :
		      event.data.u32 == 2 ? 0 :
		      event.events & EPOLLIN ? -EPROTO : from_poll(event.events);
	}
	close(ep);
	return ret;
}

static int wait_queue(struct member *m, struct race *race)
{
	struct syncevent_completion done;
	int q = se_queue(0), ret;

	if (q < 0)
		return q;
	ret = se_queue_add(q, race->fd, SYNCEVENT_COND_GT, 0, 5, SE_FOREVER);
	if (!ret) {
		member_enters(m);
		ret = se_reap(q, &done, 1);
		if (ret >= 0)
			ret = ret == 1 && done.cookie == 5 ? done.status : -EPROTO;
	}
	close(q);
	return ret;
}

static int wait_uring(struct member *m, struct race *race)
{
	struct io_uring *ring = &race->ring[m->index];
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	uint64_t value = 0;
	int ret;

	if (race->kind == URING_READ)
		io_uring_prep_read(sqe, race->fd, &value, sizeof(value), 0);
	else
		io_uring_prep_poll_add(sqe, race->fd, POLLIN);
	member_enters(m);
	ret = io_uring_submit(ring);
	if (ret != 1)
		return ret;
	ret = io_uring_wait_cqe(ring, &cqe);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	if (ret < 0)
		return ret;
	if (race->kind == URING_POLL)
		return from_poll((unsigned int)ret);
	return ret == sizeof(value) && value == 1 ? 0 : -EPROTO;
}

static int wait_library(struct member *m, struct race *race)
{
	struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = SYNCEVENT_FOREVER,
		.how = race->kind == LIB_SPIN ? SYNCEVENT_SPIN :
		       race->kind == LIB_YIELD ? SYNCEVENT_YIELD :
		       race->kind == LIB_BLOCK ? SYNCEVENT_BLOCK : SYNCEVENT_ADAPTIVE,
	};
	struct syncevent_many many = { .mask = UINT64_MAX, .cond = SYNCEVENT_GT };
	struct syncevent *ev;
	int ret = syncevent_from_fd(&ev, race->fd);

	if (ret)
		return ret;
	member_enters(m);
	if (race->kind == LIB_MANY) {
		many.ev = ev;
		ret = syncevent_wait_many(&many, 1, 0, &opts, NULL);
	} else {
		ret = syncevent_wait(ev, SYNCEVENT_GT, 0, UINT64_MAX, &opts, NULL);
	}
	syncevent_close(ev);
	return ret;
}

static int wait_on_cell(struct member *m, struct race *race)
{
	struct syncevent_cell *cell = se_map(race->fd, PROT_READ);
	int ret = -EAGAIN;

	if (!cell)
		return -errno;
	member_enters(m);
	while (ret == -EAGAIN) {
		if (!syncevent_cell_live(cell))
			ret = -EIDRM;
		else if (syncevent_cell_get(cell) > 0)
			ret = 0;
		syncevent_cell_pause();
	}
	munmap(cell, 4096);
	return ret;
}

/*
 * The event of a round. Members share one open file: armed, so that the first
 * read does not make it unready for the others.
 */
static int create_for(enum kind kind)
{
	int fd = se_create(0), ret = 0;

	if (fd >= 0 && (kind == READ || kind == URING_READ))
		ret = se_arm(fd, SYNCEVENT_COND_GT, 0);
	return ret < 0 ? ret : fd;
}

static int wait_once(struct member *m)
{
	struct race *race = m->team->arg;

	switch (race->kind) {
	case WAIT:
		member_enters(m);
		return se_wait(race->fd, SYNCEVENT_COND_GT, 0, SE_FOREVER, NULL);
	case MANY_ANY:
		return wait_many(m, race, 0);
	case MANY_ALL:
		return wait_many(m, race, SYNCEVENT_WAIT_ALL);
	case READ:
		return wait_read(m, race);
	case POLL:
		return wait_poll(m, race);
	case EPOLL:
		return wait_epoll(m, race);
	case QUEUE:
		return wait_queue(m, race);
	case URING_READ:
	case URING_POLL:
		return wait_uring(m, race);
	case LIB_ADAPTIVE:
	case LIB_BLOCK:
	case LIB_MANY:
	case LIB_YIELD:
	case LIB_SPIN:
		return wait_library(m, race);
	case CELL_SPIN:
		return wait_on_cell(m, race);
	}
	return -EPROTO;
}

/* ---- the end under each wait -------------------------------------------------------- */

FIXTURE(waiting) {
	struct race race;
	struct team team;
	bool sleeps;
	uint64_t random;
};

FIXTURE_VARIANT(waiting) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(waiting, wait) { .kind = WAIT };
FIXTURE_VARIANT_ADD(waiting, many_any) { .kind = MANY_ANY };
FIXTURE_VARIANT_ADD(waiting, many_all) { .kind = MANY_ALL };
FIXTURE_VARIANT_ADD(waiting, read) { .kind = READ };
FIXTURE_VARIANT_ADD(waiting, poll) { .kind = POLL };
FIXTURE_VARIANT_ADD(waiting, epoll) { .kind = EPOLL };
FIXTURE_VARIANT_ADD(waiting, queue) { .kind = QUEUE };
FIXTURE_VARIANT_ADD(waiting, io_uring_read) { .kind = URING_READ };
FIXTURE_VARIANT_ADD(waiting, io_uring_poll) { .kind = URING_POLL };
FIXTURE_VARIANT_ADD(waiting, library_adaptive) { .kind = LIB_ADAPTIVE };
FIXTURE_VARIANT_ADD(waiting, library_block) { .kind = LIB_BLOCK };
FIXTURE_VARIANT_ADD(waiting, library_many) { .kind = LIB_MANY };
FIXTURE_VARIANT_ADD(waiting, library_yield) { .kind = LIB_YIELD };
FIXTURE_VARIANT_ADD(waiting, library_spin) { .kind = LIB_SPIN };
FIXTURE_VARIANT_ADD(waiting, cell_spin) { .kind = CELL_SPIN };

FIXTURE_SETUP(waiting)
{
	const enum kind kind = variant->kind;
	unsigned int i;

	self->sleeps = kind < LIB_YIELD;
	self->random = 88172645463325252ULL;
	self->race.kind = kind;
	self->race.other = se_create(0);
	ASSERT_LE(0, self->race.other);
	self->race.stop = eventfd(0, EFD_CLOEXEC);
	ASSERT_LE(0, self->race.stop);
	/* Spinners would only take each other's processor. */
	ASSERT_EQ(0, team_start(&self->team, self->sleeps ? 6 : 2, wait_once, &self->race));
	for (i = 0; i < self->team.n && (kind == URING_READ || kind == URING_POLL); i++)
		ASSERT_EQ(0, io_uring_queue_init(4, &self->race.ring[i], 0));
}

FIXTURE_TEARDOWN(waiting)
{
}

TEST_F(waiting, revoke_ends_it)
{
	const unsigned int rounds = se_times(1000);
	unsigned int round, i;

	for (round = 0; round < rounds; round++) {
		self->race.fd = create_for(variant->kind);
		ASSERT_LE(0, self->race.fd);
		team_go(&self->team);
		/* Asleep; at any moment of going to sleep; before it began. */
		if (round % 3 == 0) {
			ASSERT_TRUE(team_until_entered(&self->team, self->sleeps));
		} else if (round % 3 == 1) {
			se_dawdle(&self->random, 100000);
		}
		ASSERT_EQ(0, se_revoke(self->race.fd));
		ASSERT_TRUE(team_done(&self->team));
		for (i = 0; i < self->team.n; i++)
			ASSERT_EQ(-EIDRM, self->team.member[i].result);
		EXPECT_EQ(0, se_waiters(self->race.fd));
		ASSERT_EQ(-EIDRM, se_revoke(self->race.fd));
		ASSERT_EQ(0, close(self->race.fd));
	}
	EXPECT_TRUE(team_end(&self->team));
}

/* Closing a file does not end a wait that uses it, but the file stays until then. */
TEST_F(waiting, close_leaves_it_waiting)
{
	const unsigned int rounds = se_times(1000);
	unsigned int round, i;
	uint64_t one = 1;
	int keep;

	for (round = 0; round < rounds; round++) {
		self->race.fd = create_for(variant->kind);
		keep = se_dup(self->race.fd, 0);
		ASSERT_LE(0, keep);
		team_go(&self->team);
		ASSERT_TRUE(team_until_entered(&self->team, self->sleeps));
		ASSERT_EQ(0, close(self->race.fd));
		ASSERT_EQ(0, se_add(keep, 1, NULL));
		/* An epoll set forgets a file that is closed. */
		if (self->race.kind == EPOLL) {
			ASSERT_EQ(8, write(self->race.stop, &one, 8));
		}
		ASSERT_TRUE(team_done(&self->team));
		/* poll(2) looks at its numbers again when it is woken. */
		for (i = 0; i < self->team.n; i++) {
			ASSERT_EQ(self->race.kind == POLL ? -EBADF : 0,
				  self->team.member[i].result);
		}
		if (self->race.kind == EPOLL) {
			ASSERT_EQ(8, read(self->race.stop, &one, 8));
		}
		EXPECT_TRUE(se_until_waiters(keep, 0));
		ASSERT_EQ(0, close(keep));
	}
	EXPECT_TRUE(team_end(&self->team));
}

/* ---- the end while others use it otherwise ------------------------------------------- */

static int64_t events(void)
{
	struct syncevent_dev_info info;
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &info);

	return ret < 0 ? ret : (int64_t)info.events;
}

TEST(revoke_twice)
{
	int fd = se_create(0), other = se_dup(fd, 0);
	uint64_t value;

	ASSERT_LE(0, other);
	EXPECT_EQ(0, se_revoke(fd));
	EXPECT_EQ(-EIDRM, se_revoke(fd));
	EXPECT_EQ(-EIDRM, se_revoke(other));
	EXPECT_EQ(-EIDRM, se_get(other, &value));
	EXPECT_EQ(0, close(fd));
	EXPECT_EQ(-EIDRM, se_revoke(other));
	EXPECT_EQ(0, close(other));
}

static int revoke_once(struct member *m)
{
	struct race *race = m->team->arg;

	return se_revoke(race->fd);
}

TEST(revokers_race_and_one_wins)
{
	const unsigned int rounds = se_times(1000);
	static struct race race;
	static struct team team;
	unsigned int round, i, won;

	ASSERT_EQ(0, team_start(&team, 4, revoke_once, &race));
	for (round = 0; round < rounds; round++) {
		race.fd = se_create(0);
		ASSERT_LE(0, race.fd);
		team_go(&team);
		ASSERT_TRUE(team_done(&team));
		for (won = 0, i = 0; i < team.n; i++) {
			won += team.member[i].result == 0;
			ASSERT_TRUE(team.member[i].result == 0 || team.member[i].result == -EIDRM);
		}
		ASSERT_EQ(1, won);
		ASSERT_EQ(0, close(race.fd));
	}
	EXPECT_TRUE(team_end(&team));
}

/* Map and fault until the event is dead, then write to what is mapped. */
static int fault_until_dead(struct member *m)
{
	struct race *race = m->team->arg;
	struct syncevent_cell *cell = se_map(race->fd, PROT_READ | PROT_WRITE);
	bool live = true;
	int ret = 0;

	if (!cell)
		return errno == EIDRM ? 0 : -errno;
	member_enters(m);
	while (live && !ret) {
		if (madvise(cell, 4096, MADV_DONTNEED))
			ret = -errno;
		else if (syncevent_cell_get(cell) != 7)
			ret = -EPROTO;
		live = syncevent_cell_live(cell);
	}
	/*
	 * Once REVOKE has returned pages are private: nobody else's stores come here.
	 * It may not have returned yet, though spinners know already.
	 */
	while (!__atomic_load_n(&race->ended, __ATOMIC_ACQUIRE))
		sched_yield();
	if (!ret) {
		__atomic_store_n(&cell->value, 100U + m->index, __ATOMIC_SEQ_CST);
		sched_yield();
		if (syncevent_cell_get(cell) != 100U + m->index)
			ret = -EXDEV;
	}
	munmap(cell, 4096);
	return ret;
}

TEST(revoke_races_page_faults)
{
	const unsigned int rounds = se_times(1000);
	static struct race race;
	static struct team team;
	struct syncevent_info info;
	uint64_t random = 362436069;
	unsigned int round, i;
	int64_t before;

	ASSERT_LE(0, se_dev());
	before = events();
	ASSERT_EQ(0, team_start(&team, 4, fault_until_dead, &race));
	for (round = 0; round < rounds; round++) {
		race.fd = se_create(7);
		ASSERT_LE(0, race.fd);
		race.ended = false;
		team_go(&team);
		if (round % 2) {
			ASSERT_TRUE(team_until_entered(&team, false));
		}
		se_dawdle(&random, 20000);
		ASSERT_EQ(0, se_revoke(race.fd));
		__atomic_store_n(&race.ended, true, __ATOMIC_RELEASE);
		ASSERT_TRUE(team_done(&team));
		for (i = 0; i < team.n; i++)
			ASSERT_EQ(0, team.member[i].result);
		ASSERT_EQ(0, se_info(race.fd, &info));
		ASSERT_EQ(7, info.value);
		ASSERT_EQ(0, close(race.fd));
	}
	EXPECT_TRUE(team_end(&team));
	EXPECT_TRUE(se_until(events() == before));
}

static bool one_of(int ret, int a, int b)
{
	return ret == a || ret == b || ret == -EIDRM || ret == -EBADF;
}

/*
 * Each does its thing to an fd that may not be there yet, may be dead or closed,
 * or may by now be the number of another's file.
 */
static int meddle(struct member *m)
{
	struct race *race = m->team->arg;
	const int fd = race->fd;
	struct syncevent_wait_entry entry = se_entry(fd, SYNCEVENT_COND_GT, 0);
	struct syncevent_cell *cell;
	unsigned int i;
	int new, q;

	for (i = 0; i < 20; i++) {
		switch ((m->index + i) % 6) {
		case 0:		/* its number is not secret before CREATE returns */
			new = se_create(0);
			if (new < 0)
				return new;
			se_dawdle(&m->random, 500);
			close(new);
			break;
		case 1:
			if (!one_of(se_revoke(fd), 0, -ENOTTY))
				return -1;
			break;
		case 2:
			new = se_dup(fd, 0);
			if (new >= 0)
				close(new);
			else if (!one_of(new, 0, -ENOTTY))
				return -2;
			break;
		case 3:
			cell = se_map(fd, PROT_READ | PROT_WRITE);
			if (!cell && !one_of(-errno, -ENODEV, -EACCES))
				return -3;
			if (!cell)
				break;
			__atomic_store_n(&cell->value, 0, __ATOMIC_SEQ_CST);
			munmap(cell, 4096);
			break;
		case 4:
			if (!one_of(se_wait_many(&entry, 1, 0, 0, NULL), -ETIMEDOUT, -EINVAL))
				return -4;
			break;
		case 5:
			q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
			if (q < 0)
				return q;
			if (!one_of(se_queue_add(q, fd, SYNCEVENT_COND_GT, 0, i, SE_FOREVER),
				    0, -EINVAL))
				return -5;
			close(q);
			break;
		}
	}
	return 0;
}

TEST(revoke_races_create_dup_mmap)
{
	const unsigned int rounds = se_times(1000);
	static struct race race;
	static struct team team;
	unsigned int round, i;
	int64_t before;
	int next;

	ASSERT_LE(0, se_dev());
	before = events();
	ASSERT_EQ(0, team_start(&team, 6, meddle, &race));
	next = dup(0);
	ASSERT_LE(0, next);
	close(next);
	race.fd = next;
	for (round = 0; round < rounds; round++) {
		team_go(&team);
		ASSERT_TRUE(team_done(&team));
		for (i = 0; i < team.n; i++)
			ASSERT_EQ(0, team.member[i].result);
	}
	EXPECT_TRUE(team_end(&team));
	EXPECT_TRUE(se_until(events() == before));
}

/* A wait that alone holds its event is ended by a signal, and the event with it. */
static void do_nothing(int sig)
{
	(void)sig;
}

TEST(waiter_is_the_last_holder)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	struct se_waiter w;
	int64_t before;

	ASSERT_LE(0, se_dev());
	before = events();
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, se_waiter_start(&w, se_create(0), SYNCEVENT_COND_GT, 0));
	ASSERT_TRUE(se_waiter_parked(&w));
	ASSERT_EQ(0, close(w.fd));
	EXPECT_EQ(before + 1, events());
	EXPECT_FALSE(se_is_done(&w.t));
	ASSERT_EQ(0, pthread_kill(w.t.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, se_waiter_join(&w));
	EXPECT_TRUE(se_until(events() == before));
}

TEST_HARNESS_MAIN
