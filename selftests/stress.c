// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Many at once, for long, and killed at any moment: sums are exact and nobody is
 * left asleep.
 *
 * A wait that should have ended is found by its deadline, SE_HANG_S later, or by
 * se_until().
 */
#include "team.h"

#include <sys/prctl.h>

#include <syncevent.h>
#include <syncevent/cell.h>

/* Memory that the processes of a test share. */
static void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* se_until(), but in a hurry: most of these come true within microseconds. */
#define soon(expr) ({							\
	unsigned int __look;						\
									\
	for (__look = 0; __look < 1000 && !(expr); __look++)		\
		sched_yield();						\
	se_until(expr);							\
})

/* Update through the cell, then ring if asked to, as the library does. */
static int add_and_ring(int fd, struct syncevent_cell *cell, uint64_t n)
{
	return syncevent_cell_add(cell, n, NULL) ? se_ring(fd) : 0;
}

/* ---- sums ---------------------------------------------------------------------- */

#define ADDERS		3	/* processes, of two threads each */

struct sums {
	int fd;
	unsigned int times;
	unsigned int me;
	uint64_t sum[ADDERS * 2];
};

static int add_in_every_way(struct sums *s, uint64_t *sum, uint64_t seed)
{
	struct syncevent_cell *cell = se_map(s->fd, PROT_READ | PROT_WRITE);
	uint64_t random = 0x2545f4914f6cdd1dULL * (seed + 1), n;
	struct syncevent *ev;
	unsigned int i;
	int ret = 0;

	if (!cell || syncevent_from_fd(&ev, s->fd))
		return 1;
	for (i = 0; i < s->times && !ret; i++) {
		n = se_random(&random);
		*sum += n;
		switch (i % 4) {
		case 0:
			ret = se_add(s->fd, n, NULL);
			break;
		case 1:
			ret = se_write(s->fd, n);
			break;
		case 2:
			ret = add_and_ring(s->fd, cell, n);
			break;
		case 3:
			ret = syncevent_add(ev, n, NULL);
			break;
		}
	}
	syncevent_close(ev);
	munmap(cell, 4096);
	return ret ? 2 : 0;
}

static int second_adder(void *arg)
{
	struct sums *s = arg;

	return add_in_every_way(s, &s->sum[s->me * 2 + 1], s->me * 2 + 1);
}

static int adder(void *arg)
{
	struct sums *s = arg, mine = *s;
	struct se_thread t;
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (se_start(&t, second_adder, &mine))
		return 3;
	ret = add_in_every_way(&mine, &mine.sum[mine.me * 2], mine.me * 2);
	if (se_join(&t) || ret)
		return 4;
	memcpy(&s->sum[s->me * 2], &mine.sum[mine.me * 2], 2 * sizeof(s->sum[0]));
	return 0;
}

TEST(sum_of_adds_is_exact)
{
	struct sums *s[ADDERS];
	uint64_t sum = 3, value;
	pid_t pid[ADDERS];
	struct se_waiter waiter[4];
	int fd = se_create(3), i;

	ASSERT_LE(0, fd);
	/* Waiters that are never satisfied, so that each update has work to do. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, se_waiter_start_mask(&waiter[i], fd, SYNCEVENT_COND_NEQ, 0,
						  0, SE_FOREVER));
	}
	for (i = 0; i < ADDERS; i++) {
		s[i] = shared_memory(sizeof(*s[i]));
		ASSERT_NE(NULL, s[i]);
		s[i]->fd = fd;
		s[i]->times = se_times(20000);
		s[i]->me = (unsigned int)i;
		pid[i] = se_fork(adder, s[i]);
		ASSERT_LT(0, pid[i]);
	}
	for (i = 0; i < ADDERS; i++) {
		ASSERT_EQ(0, se_wait_child(pid[i]));
		sum += s[i]->sum[i * 2] + s[i]->sum[i * 2 + 1];
	}
	ASSERT_EQ(0, se_get(fd, &value));
	EXPECT_EQ(sum, value);
	EXPECT_EQ(4, se_waiters(fd));
	ASSERT_EQ(0, se_revoke(fd));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(-EIDRM, se_waiter_join(&waiter[i]));
}

/* ---- a monotonic counter and all ways to wait for it ----------------------------- */

#define WAITERS		10

struct run {
	struct team team;
	int fd;
	uint64_t target;
};

static int wait_by_queue(struct run *run, uint64_t operand, uint64_t deadline)
{
	struct syncevent_completion done;
	int q = se_queue(0), ret;

	if (q < 0)
		return q;
	ret = se_queue_add(q, run->fd, SYNCEVENT_COND_GE, operand, 1, deadline);
	if (!ret)
		ret = se_reap(q, &done, 1) == 1 ? done.status : -EPROTO;
	close(q);
	return ret;
}

static int wait_by_poll(struct run *run, uint64_t operand)
{
	struct pollfd p = { .fd = se_dup(run->fd, 0), .events = POLLIN };
	int ret = se_arm(p.fd, SYNCEVENT_COND_GE, operand);

	if (!ret)
		ret = poll(&p, 1, SE_HANG_S * 1000) == 1 ? 0 : -ETIMEDOUT;
	close(p.fd);
	return ret;
}

static int wait_by_read(struct run *run, uint64_t operand)
{
	int fd = se_dup(run->fd, 0), ret = se_arm(fd, SYNCEVENT_COND_GE, operand);
	uint64_t value;

	if (!ret)
		ret = se_read(fd, &value);
	if (!ret && value < operand)
		ret = -EPROTO;
	close(fd);
	return ret;
}

static int wait_by_library(struct run *run, uint64_t operand, uint64_t deadline, uint32_t how)
{
	struct syncevent_wait_opts opts = { .size = sizeof(opts), .deadline = deadline, .how = how };
	struct syncevent *ev;
	uint64_t seen = 0;
	int ret = syncevent_from_fd(&ev, run->fd);

	if (ret)
		return ret;
	ret = syncevent_wait(ev, SYNCEVENT_GE, operand, UINT64_MAX, &opts, &seen);
	syncevent_close(ev);
	return !ret && seen < operand ? -EPROTO : ret;
}

static int follow(struct member *m)
{
	struct run *run = m->team->arg;
	uint64_t next = 0, deadline, seen;
	int ret = 0;

	while (!ret && next < run->target) {
		next += 1 + se_random(&m->random) % 60;
		if (next > run->target)
			next = run->target;
		deadline = se_in_ms(SE_HANG_S * 1000);
		switch (se_random(&m->random) % 6) {
		case 0:
			ret = se_wait(run->fd, SYNCEVENT_COND_GE, next, deadline, &seen);
			if (!ret && seen < next)
				ret = -EPROTO;
			break;
		case 1:
			ret = wait_by_queue(run, next, deadline);
			break;
		case 2:
			ret = wait_by_poll(run, next);
			break;
		case 3:
			ret = wait_by_read(run, next);
			break;
		case 4:
			ret = wait_by_library(run, next, deadline, SYNCEVENT_ADAPTIVE);
			break;
		case 5:
			ret = wait_by_library(run, next, deadline, SYNCEVENT_BLOCK);
			break;
		}
	}
	return ret;
}

static int publish(void *arg)
{
	struct run *run = arg;
	struct syncevent_cell *cell = se_map(run->fd, PROT_READ | PROT_WRITE);
	uint64_t random = (uint64_t)getpid() * 0x9e3779b97f4a7c15ULL, n, left = run->target / 2;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (cell && left) {
		n = 1 + se_random(&random) % 3;
		if (n > left)
			n = left;
		left -= n;
		if (se_random(&random) % 4 ? add_and_ring(run->fd, cell, n) :
		    se_add(run->fd, n, NULL))
			return 2;
		if (se_random(&random) % 64 == 0)
			sched_yield();
		se_dawdle(&random, 2000);
	}
	return cell ? 0 : 1;
}

TEST(no_waiter_is_left_behind)
{
	static struct run run;
	pid_t pid[2];
	unsigned int i;

	run.fd = se_create(0);
	ASSERT_LE(0, run.fd);
	run.target = se_times(100000) & ~1U;
	ASSERT_EQ(0, team_start(&run.team, WAITERS, follow, &run));
	team_go(&run.team);
	for (i = 0; i < 2; i++)
		pid[i] = se_fork(publish, &run);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, se_wait_child(pid[i]));
	ASSERT_TRUE(team_done(&run.team));
	for (i = 0; i < WAITERS; i++)
		EXPECT_EQ(0, run.team.member[i].result);
	EXPECT_TRUE(team_end(&run.team));
	EXPECT_EQ(0, se_waiters(run.fd));
}

/* ---- publishers that are killed ------------------------------------------------------ */

enum death { SILENT_LOOP, RINGING_LOOP, BEFORE_RING, EXITS, MAPPING_ONLY, DEATHS };

#define SLEEPERS	3

/* @seen: the last value that each sleeper was woken with. */
struct graveyard {
	int fd;
	int read_fd;
	enum death death;
	uint64_t seed;
	uint64_t failed;
	uint64_t seen[SLEEPERS];
};

static int sleeper_wait(void *arg)
{
	struct graveyard *g = arg;
	uint64_t v = 0;

	while (!se_wait(g->fd, SYNCEVENT_COND_GT, v, SE_FOREVER, &v))
		store(&g->seen[0], v);
	store(&g->failed, 1);
	return 1;
}

static int sleeper_read(void *arg)
{
	struct graveyard *g = arg;
	uint64_t v;

	while (!se_read(g->read_fd, &v))
		store(&g->seen[1], v);
	store(&g->failed, 2);
	return 1;
}

static int sleeper_queue(void *arg)
{
	struct graveyard *g = arg;
	struct syncevent_completion done = { .value = 0 };
	int q = se_queue(0);

	while (!se_queue_add(q, g->fd, SYNCEVENT_COND_GT, done.value, 1, SE_FOREVER) &&
	       se_reap(q, &done, 1) == 1 && !done.status)
		store(&g->seen[2], done.value);
	store(&g->failed, 3);
	return 1;
}

static int sleepers(void *arg)
{
	struct se_thread t[2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (se_start(&t[0], sleeper_wait, arg) || se_start(&t[1], sleeper_read, arg))
		return 1;
	return sleeper_queue(arg);
}

static int doomed(void *arg)
{
	struct graveyard *g = arg;
	struct syncevent_cell *cell = se_map(g->fd, PROT_READ | PROT_WRITE);
	uint64_t random = g->seed;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!cell)
		return 1;
	switch (g->death) {
	case MAPPING_ONLY:
		close(g->fd);
		/* fall through */
	case SILENT_LOOP:
		for (;;)
			(void)syncevent_cell_add(cell, 1, NULL);
	case RINGING_LOOP:
		for (;;) {
			if (!syncevent_cell_add(cell, 1, NULL))
				continue;
			se_dawdle(&random, 500);
			if (se_ring(g->fd))
				return 2;
		}
	case BEFORE_RING:
		(void)syncevent_cell_add(cell, 1, NULL);
		raise(SIGKILL);
		return 3;
	case EXITS:
		(void)syncevent_cell_add(cell, 1, NULL);
		return 0;
	case DEATHS:
		break;
	}
	return 4;
}

static bool all_seen(const struct graveyard *g, uint64_t value)
{
	int i;

	for (i = 0; i < SLEEPERS; i++)
		if (load(&g->seen[i]) != value)
			return false;
	return true;
}

TEST(killed_publishers_are_judged)
{
	const unsigned int kills = se_times(10000);
	struct graveyard *g = shared_memory(sizeof(*g));
	const struct syncevent_cell *cell;
	uint64_t random = 1181783497276652981ULL, before;
	unsigned int i;
	pid_t asleep, pid;
	int status;

	ASSERT_NE(NULL, g);
	g->fd = se_create(0);
	g->read_fd = se_dup(g->fd, SYNCEVENT_DUP_RDONLY);
	ASSERT_LE(0, g->read_fd);
	/* Its own open file, so that it is not the one that judges. */
	cell = se_map(se_dup(g->fd, SYNCEVENT_DUP_RDONLY), PROT_READ);
	ASSERT_NE(NULL, cell);
	asleep = se_fork(sleepers, g);
	ASSERT_LT(0, asleep);
	for (i = 0; i < kills; i++) {
		g->death = (enum death)(se_random(&random) % DEATHS);
		g->seed = se_random(&random);
		before = syncevent_cell_get(cell);
		pid = se_fork(doomed, g);
		ASSERT_LT(0, pid);
		ASSERT_TRUE(soon(syncevent_cell_get(cell) != before));
		if (g->death != BEFORE_RING && g->death != EXITS) {
			se_dawdle(&random, 50000);
			ASSERT_EQ(0, kill(pid, SIGKILL));
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (g->death == EXITS) {
			ASSERT_EQ(0, status);
		} else {
			ASSERT_EQ(SIGKILL, status);
		}
		/* Nobody updates or rings any more. */
		ASSERT_TRUE(soon(all_seen(g, syncevent_cell_get(cell)) || load(&g->failed)));
		ASSERT_EQ(0, load(&g->failed));
	}
	kill(asleep, SIGKILL);
	waitpid(asleep, &status, 0);
	/* An open file stays armed. */
	ASSERT_EQ(0, close(g->read_fd));
	EXPECT_TRUE(se_until_waiters(g->fd, 0));
}

/* ---- waiters that are killed --------------------------------------------------------- */

static int wait_in_some_way(struct member *m)
{
	int fd = *(int *)m->team->arg;
	struct syncevent_wait_entry entry[2] = {
		se_entry(fd, SYNCEVENT_COND_EQ, SE_MAX), se_entry(fd, SYNCEVENT_COND_GT, SE_MAX - 1),
	};
	struct run run = { .fd = fd };

	switch (m->index) {
	case 0:
		return se_wait(fd, SYNCEVENT_COND_EQ, SE_MAX, SE_FOREVER, NULL);
	case 1:
		return se_wait_many(entry, 2, 0, SE_FOREVER, NULL);
	case 2:
		return se_wait_many(entry, 2, SYNCEVENT_WAIT_ALL, SE_FOREVER, NULL);
	case 3:
		return wait_by_read(&run, SE_MAX);
	case 4:
		return wait_by_queue(&run, SE_MAX, SE_FOREVER);
	default:
		return wait_by_poll(&run, SE_MAX);
	}
}

static int doomed_waiters(void *arg)
{
	static struct team team;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (team_start(&team, 6, wait_in_some_way, arg))
		return 1;
	team_go(&team);
	pause();
	return 2;
}

TEST(killed_waiters_leave_nothing)
{
	const unsigned int rounds = se_times(300);
	uint64_t random = 88172645463325252ULL;
	unsigned int i;
	int fd = se_create(0);
	pid_t pid;

	ASSERT_LE(0, fd);
	for (i = 0; i < rounds; i++) {
		pid = se_fork(doomed_waiters, &fd);
		ASSERT_LT(0, pid);
		/* All asleep, or any number of them. */
		ASSERT_TRUE(soon(se_waiters(fd) >= (i % 2 ? 1 : 8)));
		if (i % 2)
			se_dawdle(&random, 50000);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		se_dawdle(&random, 20000);
		ASSERT_EQ(0, se_add(fd, 1, NULL));
		ASSERT_EQ(-SIGKILL, se_wait_child(pid));
		ASSERT_TRUE(soon(se_waiters(fd) == 0));
	}
}

/* ---- storms ----------------------------------------------------------------------------- */

#define EVENTS		12

struct storm {
	struct team team;
	int fd[EVENTS];
	unsigned int rounds;
	uint64_t stop;
};

static int wait_for_subsets(struct member *m)
{
	struct storm *s = m->team->arg;
	struct syncevent_wait_entry entry[8];
	unsigned int round, i, n;
	uint32_t flags, index;
	uint64_t now;
	int ret;

	for (round = 0; round < s->rounds; round++) {
		n = 1 + (unsigned int)(se_random(&m->random) % ARRAY_SIZE(entry));
		flags = se_random(&m->random) % 2 ? SYNCEVENT_WAIT_ALL : 0;
		for (i = 0; i < n; i++) {
			const int fd = s->fd[se_random(&m->random) % EVENTS];

			ret = se_get(fd, &now);
			if (ret)
				return ret;
			entry[i] = se_entry(fd, SYNCEVENT_COND_GT, now);
		}
		ret = se_wait_many(entry, n, flags, se_in_ms(SE_HANG_S * 1000), &index);
		if (ret)
			return ret;
		if (index >= n || entry[index].status != 1)
			return -EPROTO;
		for (i = 0; i < n; i++) {
			if ((flags && entry[i].status != 1) ||
			    (entry[i].status == 1 && entry[i].value <= entry[i].operand))
				return -EPROTO;
		}
	}
	return 0;
}

static int publish_everywhere(void *arg)
{
	struct storm *s = arg;
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	int ret = 0;

	while (!ret && !load(&s->stop)) {
		ret = se_add(s->fd[se_random(&random) % EVENTS], 1, NULL);
		se_dawdle(&random, 1000);
	}
	return ret;
}

TEST(wait_many_on_overlapping_sets)
{
	static struct storm s;
	struct se_thread publisher;
	unsigned int i;

	s.rounds = se_times(5000);
	for (i = 0; i < EVENTS; i++) {
		s.fd[i] = se_create(i);
		ASSERT_LE(0, s.fd[i]);
	}
	ASSERT_EQ(0, team_start(&s.team, 8, wait_for_subsets, &s));
	team_go(&s.team);
	ASSERT_EQ(0, se_start(&publisher, publish_everywhere, &s));
	ASSERT_TRUE(soon(__atomic_load_n(&s.team.done, __ATOMIC_ACQUIRE) == s.team.n));
	store(&s.stop, 1);
	EXPECT_EQ(0, se_join(&publisher));
	for (i = 0; i < s.team.n; i++)
		EXPECT_EQ(0, s.team.member[i].result);
	for (i = 0; i < EVENTS; i++)
		EXPECT_EQ(0, se_waiters(s.fd[i]));
	EXPECT_TRUE(team_end(&s.team));
}

static void do_nothing(int sig)
{
	(void)sig;
}

static int wait_impatiently(struct member *m)
{
	struct storm *s = m->team->arg;
	const int fd = s->fd[0];
	uint64_t deadline, operand, seen;
	unsigned int round;
	int ret;

	for (round = 0; round < s->rounds; round++) {
		const bool masked = se_random(&m->random) % 4 == 0;

		if (se_get(fd, &operand))
			return -1;
		operand += se_random(&m->random) % 4;
		deadline = se_now(CLOCK_MONOTONIC) + se_random(&m->random) % 400000;
		ret = masked ? se_wait_mask(fd, SYNCEVENT_COND_NEQ, operand & 0xff, 0xff, deadline,
					    &seen) :
			       se_wait(fd, SYNCEVENT_COND_GT, operand, deadline, &seen);
		switch (ret) {
		case 0:
			if (masked ? (seen & 0xff) == (operand & 0xff) : seen <= operand)
				return -2;
			break;
		case -ETIMEDOUT:
			if (se_now(CLOCK_MONOTONIC) < deadline)
				return -3;
			/* fall through */
		case -EINTR:
			if (seen != SE_POISON64)
				return -4;
			break;
		default:
			return ret;
		}
	}
	return 0;
}

TEST(storm_of_timeouts_and_signals)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	uint64_t random = 0x9e3779b97f4a7c15ULL;
	static struct storm s;
	struct se_thread publisher;
	unsigned int i;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	s.rounds = se_times(5000);
	for (i = 0; i < EVENTS; i++) {
		s.fd[i] = se_create(0);
		ASSERT_LE(0, s.fd[i]);
	}
	ASSERT_EQ(0, team_start(&s.team, 12, wait_impatiently, &s));
	team_go(&s.team);
	ASSERT_EQ(0, se_start(&publisher, publish_everywhere, &s));
	while (__atomic_load_n(&s.team.done, __ATOMIC_ACQUIRE) < s.team.n) {
		pthread_kill(s.team.member[se_random(&random) % s.team.n].t.thread, SIGUSR1);
		se_dawdle(&random, 20000);
	}
	store(&s.stop, 1);
	EXPECT_EQ(0, se_join(&publisher));
	for (i = 0; i < s.team.n; i++)
		EXPECT_EQ(0, s.team.member[i].result);
	EXPECT_EQ(0, se_waiters(s.fd[0]));
	EXPECT_TRUE(team_end(&s.team));
}

TEST_HARNESS_MAIN
