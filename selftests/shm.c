// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The shm provider among processes: who is killed hangs nobody, no wake-up is lost,
 * a page full of rubbish harms nobody but the event, signals, fork, what is left.
 * shm_steps.c has its wake protocol, shm_find.c names and blobs, shm_addr.c events
 * on the caller's memory.
 */
#include "shm.h"
#include "team.h"

#include <dirent.h>
#include <syncevent/cell.h>

/* ---- who is killed ---------------------------------------------------------------------- */

#define VICTIMS		4
#define SURVIVORS	4

static const struct {
	enum syncevent_cond cond;
	uint64_t operand, mask;
} wants[SURVIVORS] = {
	{ SYNCEVENT_GE, 3, SE_MAX }, { SYNCEVENT_GT, 9, SE_MAX },
	{ SYNCEVENT_NEQ, 0, SE_MAX }, { SYNCEVENT_NEQ, 0, 0x18 },
};

/* Goes on until it is killed. All that it does to @a is to add. */
static void victim(struct syncevent *a, struct syncevent *b, uint64_t random, bool revokes)
{
	for (;;) {
		struct syncevent_wait_opts opts = opts_of(hows[se_random(&random) % 4],
							  se_now(CLOCK_MONOTONIC) +
							  se_random(&random) % 100000);
		struct syncevent_many many[3] = {
			{ .ev = a, .cond = SYNCEVENT_LT, .operand = 0, .mask = SE_MAX },
			{ .ev = b, .cond = se_random(&random) % 6, .operand = 5, .mask = SE_MAX },
			{ .ev = b, .cond = SYNCEVENT_GT, .operand = 1ULL << 40, .mask = SE_MAX },
		};

		switch (se_random(&random) % 6) {
		case 0:
			(void)syncevent_add(a, 1, NULL);
			break;
		case 1:
			(void)syncevent_wait(a, se_random(&random) % 6, se_random(&random) % 16,
					     se_random(&random) & 1 ? SE_MAX : 7, &opts, NULL);
			break;
		case 2:
			(void)syncevent_wait_many(many, 3, (unsigned int)se_random(&random) & 1,
						  &opts, NULL);
			break;
		case 3:
			(void)syncevent_set(b, se_random(&random) % 16);
			break;
		case 4:
			(void)syncevent_ring(a);
			break;
		default:
			if (revokes && !(se_random(&random) % 8))
				(void)syncevent_revoke(a);
		}
	}
}

/* 10,000 of them are killed wherever they are; who waits for what holds returns. */
TEST(killed_at_random)
{
	unsigned int round, rounds = se_times(10000 / VICTIMS), i, late = 0, revoked = 0;
	uint64_t random = 88172645463325252ULL, value, extra;
	struct waiter w[SURVIVORS];
	struct syncevent *a, *b;
	pid_t pid[VICTIMS];
	int ret, got;

	for (round = 0; round < rounds; round++) {
		a = make(0);
		b = make(0);
		ASSERT_TRUE(a && b);
		for (i = 0; i < SURVIVORS; i++) {
			ASSERT_EQ(0, start(&w[i], a, wants[i].cond, wants[i].operand,
					   wants[i].mask, i & 1 ? SYNCEVENT_ADAPTIVE :
					   SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
		}
		for (i = 0; i < VICTIMS; i++) {
			extra = se_random(&random);
			pid[i] = fork();
			ASSERT_LE(0, pid[i]);
			if (!pid[i])
				victim(a, b, extra, !(round % 4));
		}
		for (i = 0; i < VICTIMS; i++) {
			se_dawdle(&random, 20000);
			ASSERT_EQ(0, kill(pid[i], SIGKILL));
		}
		for (i = 0; i < VICTIMS; i++) {
			ASSERT_EQ(pid[i], waitpid(pid[i], NULL, 0));
		}
		ret = syncevent_get(a, &value);
		revoked += ret == -EIDRM;
		for (i = 0; i < SURVIVORS; i++) {
			struct syncevent_wait_opts now = opts_of(SYNCEVENT_BLOCK, 0);

			if (!ret && syncevent_wait(a, wants[i].cond, wants[i].operand,
						   wants[i].mask, &now, NULL)) {
				late++;
				continue;	/* does not hold yet */
			}
			/* Nobody is left to wake it. */
			got = se_join(&w[i].t);
			if (got != ret)		/* it may have held before the end */
				ASSERT_EQ(0, got);
			w[i].ev = NULL;
		}
		ASSERT_EQ(ret, syncevent_set(a, SE_MAX - 1));
		for (i = 0; i < SURVIVORS; i++) {
			if (w[i].ev)
				ASSERT_EQ(0, se_join(&w[i].t));
		}
		syncevent_close(a);
		syncevent_close(b);
	}
	TH_LOG("%u killed, %u times revoked, %u waits were left to the end", rounds * VICTIMS,
	       revoked, late);
}

/* ---- "No wake-up is ever lost" ------------------------------------------------------------ */

#define PINGS	50000

/*
 * Two processes in turn, asleep each time and without the safety net. Each turn is two
 * updates: the first one does not satisfy, but those who ask to be always rung are.
 */
static int play(struct syncevent *mine, struct syncevent *theirs, uint64_t turns, bool first)
{
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, SYNCEVENT_FOREVER);
	uint64_t i, seen;
	int ret = 0;

	never_recheck = true;
	for (i = 1; i <= turns && !ret; i++) {
		if (first)
			ret = syncevent_add(theirs, 1, NULL) ?: syncevent_add(theirs, 1, NULL);
		if (!ret)
			ret = syncevent_wait(mine, i & 1 ? SYNCEVENT_GE : SYNCEVENT_EQ, 2 * i,
					     i & 2 ? SE_MAX : SE_MAX >> 1, &opts, &seen);
		if (!ret && seen != 2 * i)
			ret = -ERANGE;
		if (!ret && !first)
			ret = syncevent_add(theirs, 1, NULL) ?: syncevent_add(theirs, 1, NULL);
	}
	return ret;
}

/* How a process comes to events. */
struct way {
	int sock[2];
	char name[2][32];
	unsigned char blob[2][SYNCEVENT_BLOB_MAX];
	int size[2];
	int by;
	uint64_t turns;
};

static int other_side(void *arg)
{
	struct way *way = arg;
	struct syncevent *ev[2];
	int i, fd, ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		if (way->by == 0) {
			fd = se_recv_fd(way->sock[1]);
			ret = fd < 0 ? fd : syncevent_from_fd(&ev[i], fd);
		} else if (way->by == 1) {
			ret = syncevent_open(&ev[i], way->name[i], O_RDWR, 0, NULL);
		} else {
			ret = syncevent_import(&ev[i], way->blob[i], (size_t)way->size[i]);
		}
	}
	return ret ? 1 : play(ev[0], ev[1], way->turns, false) ? 2 : 0;
}

FIXTURE(pings) { struct way way; struct syncevent *ev[2]; };
FIXTURE_VARIANT(pings) { int by; };
FIXTURE_VARIANT_ADD(pings, by_fd) { .by = 0 };
FIXTURE_VARIANT_ADD(pings, by_name) { .by = 1 };
FIXTURE_VARIANT_ADD(pings, by_blob) { .by = 2 };

FIXTURE_SETUP(pings)
{
	int i;

	self->way.by = variant->by;
	self->way.turns = se_times(PINGS);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, self->way.sock));
	for (i = 0; i < 2; i++) {
		snprintf(self->way.name[i], sizeof(self->way.name[i]), "pings-%d-%d",
			 getpid(), i);
		if (variant->by == 1) {
			ASSERT_EQ(0, syncevent_open(&self->ev[i], self->way.name[i],
						    O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
		} else {
			ASSERT_TRUE(self->ev[i] = make(0));
		}
		self->way.size[i] = syncevent_export(self->ev[i], 0, self->way.blob[i],
						     SYNCEVENT_BLOB_MAX);
		ASSERT_EQ(48, self->way.size[i]);
		ASSERT_EQ(0, se_send_fd(self->way.sock[0], syncevent_fd(self->ev[i])));
	}
}

FIXTURE_TEARDOWN(pings)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (variant->by == 1)
			EXPECT_EQ(0, syncevent_unlink(self->way.name[i]));
		syncevent_close(self->ev[i]);
	}
}

TEST_F(pings, no_wakeup_is_lost)
{
	pid_t pid = se_fork(other_side, &self->way);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, play(self->ev[1], self->ev[0], self->way.turns, true));
	ASSERT_EQ(0, se_wait_child(pid));
}

/* Many wait for one counter, each for its own next value, by any condition. */
#define CROWD	5

struct crowd {
	struct syncevent *ev, *done;
	uint64_t turns;
	unsigned int me;
};

static int crowd_fn(void *arg)
{
	const struct crowd *c = arg;
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, SYNCEVENT_FOREVER);
	uint64_t i;
	int ret = 0;

	never_recheck = true;
	for (i = 1; i <= c->turns && !ret; i++) {
		struct syncevent_many many[2] = {
			{ .ev = c->ev, .cond = SYNCEVENT_EQ, .operand = i, .mask = SE_MAX },
			{ .ev = c->done, .cond = SYNCEVENT_EQ, .operand = SE_MAX, .mask = SE_MAX },
		};

		switch (c->me) {
		case 0:
			ret = syncevent_wait(c->ev, SYNCEVENT_GE, i, SE_MAX, &opts, NULL);
			break;
		case 1:
			ret = syncevent_wait(c->ev, SYNCEVENT_GT, i - 1, SE_MAX, &opts, NULL);
			break;
		case 2:
			ret = syncevent_wait(c->ev, SYNCEVENT_NEQ, i - 1, SE_MAX, &opts, NULL);
			break;
		case 3:
			ret = syncevent_wait(c->ev, SYNCEVENT_EQ, i & 0xff, 0xff, &opts, NULL);
			break;
		default:
			ret = syncevent_wait_many(many, 2, 0, &opts, NULL);
		}
		if (!ret)
			ret = syncevent_add(c->done, 1, NULL);
	}
	return ret ? 1 : 0;
}

TEST(crowd_misses_nothing)
{
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, SYNCEVENT_FOREVER);
	struct crowd c = { .ev = make(0), .done = make(0), .turns = se_times(10000) };
	pid_t pid[CROWD];
	uint64_t i;

	ASSERT_TRUE(c.ev && c.done);
	never_recheck = true;
	for (c.me = 0; c.me < CROWD; c.me++) {
		pid[c.me] = se_fork(crowd_fn, &c);
		ASSERT_LT(0, pid[c.me]);
	}
	for (i = 1; i <= c.turns; i++) {
		ASSERT_EQ(0, syncevent_add(c.ev, 1, NULL));
		ASSERT_EQ(0, syncevent_wait(c.done, SYNCEVENT_GE, CROWD * i, SE_MAX, &opts, NULL));
	}
	for (i = 0; i < CROWD; i++) {
		ASSERT_EQ(0, se_wait_child(pid[i]));
	}
}

/* The hint of the more modest stays in force, whoever asks after it. */
TEST(each_threshold_is_met)
{
	struct waiter w[20];
	struct syncevent *ev;
	unsigned int order, i, k;

	never_recheck = true;
	for (order = 0; order < 2; order++) {
		ASSERT_TRUE(ev = make(0));
		for (i = 0; i < 20; i++) {
			k = order ? 19 - i : i;
			ASSERT_EQ(0, start(&w[k], ev, k & 1 ? SYNCEVENT_GT : SYNCEVENT_GE,
					   10 * k + !(k & 1), SE_MAX, SYNCEVENT_BLOCK,
					   SYNCEVENT_FOREVER));
			ASSERT_TRUE(se_until(asleep(getpid(), w[k].t.tid)));
		}
		for (i = 0; i < 20; i++) {
			ASSERT_EQ(0, syncevent_set(ev, 10 * i));
			ASSERT_FALSE(se_is_done(&w[i].t));
			ASSERT_EQ(0, syncevent_set(ev, 10 * i + 1));
			ASSERT_EQ(0, se_join(&w[i].t));
			ASSERT_EQ(10 * i + 1, w[i].seen);
		}
		syncevent_close(ev);
	}
}

/* "with a waiter parked for > 1000, the updates 1..1000 make no system call" */
TEST(updates_nobody_waits_for_are_silent)
{
	const struct syncevent_wait_opts only_look = opts_of(SYNCEVENT_BLOCK, 0);
	struct syncevent *ev = make(0);
	struct syncevent_many many = { .ev = ev, .operand = 1, .mask = SE_MAX };
	unsigned long before;
	struct waiter w;
	uint64_t i;

	ASSERT_TRUE(ev);
	never_recheck = true;
	before = futex_wakes;
	ASSERT_EQ(0, syncevent_set(ev, 7));
	ASSERT_EQ(before, futex_wakes);
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 1000, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until(asleep(getpid(), w.t.tid)));
	for (i = 1; i <= 1000; i++) {
		ASSERT_EQ(0, syncevent_set(ev, i));
	}
	ASSERT_EQ(before, futex_wakes);
	ASSERT_EQ(0, syncevent_set(ev, 1001));
	ASSERT_EQ(before + 1, futex_wakes);
	ASSERT_EQ(0, se_join(&w.t));
	/* and none once it has gone */
	ASSERT_EQ(0, syncevent_set(ev, 1002));
	ASSERT_EQ(before + 1, futex_wakes);
	/* who only looks asks for nothing */
	ASSERT_EQ(-ETIMEDOUT, look(ev, SYNCEVENT_EQ, 1, SE_MAX, NULL));
	ASSERT_EQ(-ETIMEDOUT, syncevent_wait_many(&many, 1, 0, &only_look, NULL));
	ASSERT_EQ(0, syncevent_set(ev, 1003));
	ASSERT_EQ(before + 1, futex_wakes);
	/* a hint for all updates is used up by one */
	ASSERT_EQ(-ETIMEDOUT, ask_in_vain(ev, SYNCEVENT_EQ, 1, SE_MAX));
	ASSERT_EQ(0, syncevent_set(ev, 0));
	ASSERT_EQ(before + 2, futex_wakes);
	ASSERT_EQ(0, syncevent_set(ev, 1));
	ASSERT_EQ(before + 2, futex_wakes);
	syncevent_close(ev);
}

/* ---- a page full of rubbish --------------------------------------------------------------- */

static void scribbler(struct syncevent *ev, uint64_t random)
{
	volatile unsigned char *page = (void *)syncevent_cell(ev);

	for (;;) {
		uint64_t x = se_random(&random);

		/* mostly where there is something, and now and then something that fits */
		page[x & 1 ? x >> 8 & 63 : x & 2 ? 2048 + (x >> 8 & 127) : x >> 8 & 4095] =
			(unsigned char)(x >> 32);
		if (!(x >> 16 & 3))
			page[8] = 5;
		if (!(x >> 18 & 15))
			memcpy((void *)(page + 2048), "sesh\1\0\0", 8);
	}
}

static bool is_end(int ret)
{
	return ret == 0 || ret == -ETIMEDOUT || ret == -EIDRM;
}

static int among_rubbish(struct syncevent *ev, struct syncevent *ro, struct syncevent *sane,
			 uint64_t random)
{
	unsigned int n = se_times(20000), i;

	for (i = 0; i < n; i++) {
		struct syncevent_wait_opts opts = opts_of(hows[se_random(&random) % 4],
							  se_now(CLOCK_MONOTONIC) +
							  se_random(&random) % 200000);
		struct syncevent_stat stat = { .size = sizeof(stat) };
		struct syncevent_many many[3] = {
			{ .ev = ev, .cond = se_random(&random) % 6, .operand = 5, .mask = 15 },
			{ .ev = ro, .cond = se_random(&random) % 6, .operand = 5, .mask = 15 },
			{ .ev = sane, .cond = SYNCEVENT_NEQ, .operand = 0, .mask = SE_MAX },
		};
		unsigned char blob[SYNCEVENT_BLOB_MAX];
		struct syncevent *other;
		uint64_t value;
		int ret = 0;

		switch (se_random(&random) % 8) {
		case 0:
			ret = syncevent_wait(se_random(&random) & 1 ? ev : ro,
					     se_random(&random) % 6, se_random(&random),
					     SE_MAX, &opts, NULL);
			break;
		case 1:
			ret = syncevent_wait_many(many, 3, (unsigned int)i & 1, &opts, NULL);
			break;
		case 2:
			ret = syncevent_add(ev, 1, NULL);
			break;
		case 3:
			ret = syncevent_set(ev, i) ?: syncevent_get(ro, &value);
			break;
		case 4:
			ret = syncevent_stat(ev, &stat);
			break;
		case 5:
			ret = syncevent_from_fd(&other, syncevent_fd(ev));
			if (!ret)
				syncevent_close(other);
			ret = ret == -EINVAL ? 0 : ret;
			break;
		case 6:
			ret = syncevent_dup(&other, ev, (unsigned int)i & 1);
			if (!ret)
				syncevent_close(other);
			ret = ret == -EINVAL ? 0 : ret;
			break;
		default:
			ret = syncevent_export(ev, 0, blob, sizeof(blob));
			if (ret > 0) {
				ret = syncevent_import(&other, blob, (size_t)ret);
				if (!ret)
					syncevent_close(other);
			}
			ret = ret == -EACCES || ret == -ENOENT ? 0 : ret;
		}
		if (!is_end(ret))
			return 1;
	}
	return 0;
}

TEST(rubbish_in_the_page)
{
	struct syncevent *ev = make(0), *ro, *sane = make(0);
	pid_t scribblers[2], pid[3];
	unsigned int i;

	ASSERT_TRUE(ev && sane);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	for (i = 0; i < 2; i++) {
		scribblers[i] = fork();
		ASSERT_LE(0, scribblers[i]);
		if (!scribblers[i])
			scribbler(ev, 77 + i);
	}
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			_exit(among_rubbish(ev, ro, sane, 1234567 + i));
	}
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, se_wait_child(pid[i]));
	}
	for (i = 0; i < 2; i++) {
		kill(scribblers[i], SIGKILL);
		ASSERT_EQ(scribblers[i], waitpid(scribblers[i], NULL, 0));
	}
	/* The other event is as it was. */
	ASSERT_EQ(0, look(sane, SYNCEVENT_EQ, 0, SE_MAX, NULL));
	ASSERT_EQ(0, syncevent_set(sane, 1));
	ASSERT_EQ(0, look(sane, SYNCEVENT_EQ, 1, SE_MAX, NULL));
	/* It cannot be truncated under those who map it. */
	ASSERT_EQ(-1, ftruncate(syncevent_fd(ev), 0));
	ASSERT_EQ(EPERM, errno);
	ASSERT_EQ(-1, fcntl(syncevent_fd(ev), F_ADD_SEALS, F_SEAL_WRITE));
	syncevent_close(ro);
	syncevent_close(ev);
	syncevent_close(sane);
}

TEST_HARNESS_MAIN
