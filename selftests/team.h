/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Threads that do the same thing at the same moment, round after round: what the
 * tests of races are made of.
 */
#ifndef SELFTESTS_TEAM_H
#define SELFTESTS_TEAM_H

#include "common.h"

#define TEAM_MAX	64

struct team;

/**
 * struct member - one thread of a team
 * @result: what @fn returned in this round
 * @entered: it has all that it needs and is about to wait; set by @fn
 * @random: a generator of its own
 */
struct member {
	struct se_thread t;
	struct team *team;
	unsigned int index;
	int result;
	bool entered;
	uint64_t random;
};

struct team {
	unsigned int n;
	unsigned int round;
	unsigned int done;
	bool stop;
	int (*fn)(struct member *m);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t go;
	struct member member[TEAM_MAX];
};

/* xorshift64: the same sequence in each run. */
static inline uint64_t se_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* Pass a random time without sleeping, up to about the length of some calls. */
static inline void se_dawdle(uint64_t *state, unsigned int max)
{
	volatile unsigned int n = (unsigned int)(se_random(state) % (max + 1));

	while (n)
		n--;
}

static inline int member_main(void *arg)
{
	struct member *m = arg;
	struct team *team = m->team;
	unsigned int seen = 0;

	for (;;) {
		pthread_mutex_lock(&team->lock);
		while (team->round == seen && !team->stop)
			pthread_cond_wait(&team->go, &team->lock);
		seen = team->round;
		pthread_mutex_unlock(&team->lock);
		if (team->stop)
			return 0;
		m->result = team->fn(m);
		__atomic_add_fetch(&team->done, 1, __ATOMIC_ACQ_REL);
	}
}

static inline int team_start(struct team *team, unsigned int n, int (*fn)(struct member *m),
			     void *arg)
{
	unsigned int i;
	int ret = 0;

	memset(team, 0, sizeof(*team));
	team->n = n;
	team->fn = fn;
	team->arg = arg;
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->go, NULL);
	for (i = 0; i < n && !ret; i++) {
		team->member[i].team = team;
		team->member[i].index = i;
		team->member[i].random = 0x9e3779b97f4a7c15ULL * (i + 1);
		ret = se_start(&team->member[i].t, member_main, &team->member[i]);
	}
	return ret;
}

/* Begin a round. */
static inline void team_go(struct team *team)
{
	unsigned int i;

	for (i = 0; i < team->n; i++)
		team->member[i].entered = false;
	__atomic_store_n(&team->done, 0, __ATOMIC_RELEASE);
	pthread_mutex_lock(&team->lock);
	team->round++;
	pthread_cond_broadcast(&team->go);
	pthread_mutex_unlock(&team->lock);
}

/* All have ended the round. False: one hangs. */
static inline bool team_done(struct team *team)
{
	unsigned int look;

	for (look = 0; look < 200; look++) {
		if (__atomic_load_n(&team->done, __ATOMIC_ACQUIRE) == team->n)
			return true;
		sched_yield();
	}
	return se_until(__atomic_load_n(&team->done, __ATOMIC_ACQUIRE) == team->n);
}

static inline void member_enters(struct member *m)
{
	__atomic_store_n(&m->entered, true, __ATOMIC_RELEASE);
}

/* All have entered, and sleep (but not for this team's lock) if @sleeping. */
static inline bool team_entered(struct team *team, bool sleeping)
{
	unsigned int i;
	long nr;

	for (i = 0; i < team->n; i++) {
		struct member *m = &team->member[i];

		if (!__atomic_load_n(&m->entered, __ATOMIC_ACQUIRE))
			return false;
		if (!sleeping)
			continue;
		nr = se_sleeps_in(getpid(), m->t.tid);
		if (nr < 0 || nr == SYS_futex)
			return false;
	}
	return true;
}

static inline bool team_until_entered(struct team *team, bool sleeping)
{
	return se_until(team_entered(team, sleeping));
}

static inline bool team_end(struct team *team)
{
	unsigned int i;
	bool ok = true;

	pthread_mutex_lock(&team->lock);
	team->stop = true;
	pthread_cond_broadcast(&team->go);
	pthread_mutex_unlock(&team->lock);
	for (i = 0; i < team->n; i++)
		ok = se_join(&team->member[i].t) == 0 && ok;
	return ok;
}

#endif /* SELFTESTS_TEAM_H */
