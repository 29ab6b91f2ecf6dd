// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The wake protocol of the shm provider (lib/shm.c), one instruction at a time.
 *
 * A process is taken by ptrace to each of its instructions in turn. There it is
 * killed, or held while others go on: every interleaving of one that is held with
 * others that are not. The interleavings are of whole instructions; what a CPU's
 * store buffer adds is left to selftests/model/.
 *
 * Where nobody dies sleepers never look again by themselves (shm.h): what is lost
 * is a hang. Where somebody dies that they do look is what is tested.
 */
#include "shm.h"

#include <sys/ptrace.h>
#include <sys/user.h>

/* ---- a process that is held ---------------------------------------------------------- */

/* Look often at first: most of what is waited for here comes at once. */
#define soon(expr) ({							\
	int __looks = 500;						\
	bool __so;							\
									\
	while (!(__so = (expr)) && __looks--)				\
		sched_yield();						\
	__so || se_until(expr);						\
})

/* @began, @ended: it is at, or beyond, what is to be looked at; @ret: what that said */
struct stage {
	bool began, ended;
	int ret;
	struct syncevent *ev;
	int (*fn)(struct syncevent *ev);
};

/* Where to hold it: the @nth time that it comes to an instruction. */
struct point {
	unsigned long ip;
	unsigned int nth;
};

#define POINTS_MAX	2000

struct path {
	struct point at[POINTS_MAX];
	unsigned int n;
};

enum { HELD, ASLEEP, ENDED, FAILED };

static pid_t stage_start(struct stage *s, struct syncevent *ev, int (*fn)(struct syncevent *ev))
{
	int status;
	pid_t pid;

	s->ev = ev;
	s->fn = fn;
	s->began = s->ended = false;
	pid = fork();
	if (pid)
		return pid < 0 || (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) ?
		       pid : -1;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	__atomic_store_n(&s->began, true, __ATOMIC_RELAXED);
	s->ret = s->fn(s->ev);
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static bool ended(const struct stage *s)
{
	return __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Let it run: to a trap, into a sleep, to its end. */
static int run(const struct stage *s, pid_t pid, int request)
{
	int status = 0, at = FAILED;

	if (ptrace(request, pid, NULL, NULL))
		return FAILED;
	(void)soon(waitpid(pid, &status, WNOHANG) == pid ? (at = HELD, true) :
		   request == PTRACE_CONT && ended(s) ? (at = ENDED, true) :
		   asleep(pid, pid) ? (at = ASLEEP, true) : false);
	if (at == HELD && (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP))
		at = FAILED;
	return at;
}

#ifdef __x86_64__
#define IP_AT	((void *)offsetof(struct user, regs.rip))

/* Only this program, and with it the library, does something that others can see. */
static bool of_this_program(unsigned long ip)
{
	extern const char __executable_start, etext;

	return ip >= (uintptr_t)&__executable_start && ip < (uintptr_t)&etext;
}

/* The way of a process from where it begins to its end or into its sleep. */
static int take_path(struct path *path, struct stage *s, struct syncevent *ev,
		     int (*fn)(struct syncevent *ev))
{
	pid_t pid = stage_start(s, ev, fn);
	unsigned int i;
	int at;

	path->n = 0;
	while ((at = run(s, pid, PTRACE_SINGLESTEP)) == HELD && !ended(s)) {
		struct point p = { (unsigned long)ptrace(PTRACE_PEEKUSER, pid, IP_AT, NULL), 1 };

		if (!s->began || !of_this_program(p.ip))
			continue;
		for (i = 0; i < path->n; i++)
			p.nth += path->at[i].ip == p.ip;
		if (path->n == POINTS_MAX)
			at = FAILED;
		else
			path->at[path->n++] = p;
	}
	end(pid);
	return at == FAILED ? -EIO : 0;
}

/* Hold it at a point; it may not come there. */
static int hold_at(const struct stage *s, pid_t pid, struct point p)
{
	long code = ptrace(PTRACE_PEEKTEXT, pid, p.ip, NULL);
	int at;

	for (;;) {
		if (ptrace(PTRACE_POKETEXT, pid, p.ip, (code & ~0xffL) | 0xcc))
			return FAILED;
		at = run(s, pid, PTRACE_CONT);
		if (at != HELD)
			return at;
		if (ptrace(PTRACE_POKETEXT, pid, p.ip, code) ||
		    ptrace(PTRACE_POKEUSER, pid, IP_AT, p.ip))
			return FAILED;
		if (!--p.nth)
			return HELD;
		if (run(s, pid, PTRACE_SINGLESTEP) != HELD)
			return FAILED;
	}
}
#else
static int take_path(struct path *path, struct stage *s, struct syncevent *ev,
		     int (*fn)(struct syncevent *ev))
{
	(void)path, (void)s, (void)ev, (void)fn;
	return -ENOSYS;
}

static int hold_at(const struct stage *s, pid_t pid, struct point p)
{
	(void)s, (void)pid, (void)p;
	return FAILED;
}
#endif

static int go_on(pid_t pid, int at)
{
	return at != HELD || !ptrace(PTRACE_CONT, pid, NULL, NULL) ? 0 : -errno;
}

/* ---- who is held --------------------------------------------------------------------- */

#define WANTED	5	/* what all wait for */
#define OTHER	3	/* what rings those who asked to be rung always */

static int wait_as(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		   uint64_t mask)
{
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, SYNCEVENT_FOREVER);

	return syncevent_wait(ev, cond, operand, mask, &opts, NULL);
}

static int wait_gt(struct syncevent *ev)
{
	return wait_as(ev, SYNCEVENT_GT, WANTED - 1, SE_MAX);
}

static int wait_ge(struct syncevent *ev)
{
	return wait_as(ev, SYNCEVENT_GE, WANTED, SE_MAX);
}

static int wait_eq(struct syncevent *ev)
{
	return wait_as(ev, SYNCEVENT_EQ, WANTED, SE_MAX);
}

static int wait_masked(struct syncevent *ev)
{
	return wait_as(ev, SYNCEVENT_GE, WANTED, 7);
}

static int wait_two(struct syncevent *ev)
{
	struct syncevent_many many[2] = {
		{ .ev = ev, .cond = SYNCEVENT_EQ, .operand = 99, .mask = SE_MAX },
		{ .ev = ev, .cond = SYNCEVENT_EQ, .operand = WANTED, .mask = SE_MAX },
	};

	return syncevent_wait_many(many, 2, 0, NULL, NULL);
}

static int wait_other(struct syncevent *ev)
{
	return wait_as(ev, SYNCEVENT_EQ, OTHER, SE_MAX);
}

static int (*const waits[])(struct syncevent *ev) = {
	wait_gt, wait_ge, wait_eq, wait_masked, wait_two,
};

static int add_wanted(struct syncevent *ev)
{
	return syncevent_add(ev, WANTED, NULL);
}

static int set_wanted(struct syncevent *ev)
{
	return syncevent_set(ev, WANTED);
}

static int set_other(struct syncevent *ev)
{
	return syncevent_set(ev, OTHER);
}

static int (*const updates[])(struct syncevent *ev) = { add_wanted, set_wanted };

/* As a thread of this process, or what is called as one. */
struct call {
	struct se_thread t;
	struct syncevent *ev;
	int (*fn)(struct syncevent *ev);
};

static int call_fn(void *arg)
{
	struct call *c = arg;

	return c->fn(c->ev);
}

static int call_start(struct call *c, struct syncevent *ev, int (*fn)(struct syncevent *ev))
{
	c->ev = ev;
	c->fn = fn;
	return se_start(&c->t, call_fn, c);
}

/* The same beginning for each run: 0, and no hint left. */
static int again(struct syncevent *ev)
{
	int ret = syncevent_set(ev, 0);

	return ret ? ret : syncevent_ring(ev);
}

static int rehearse(struct syncevent *ev)
{
	struct syncevent_many many[2] = {
		{ .ev = ev, .cond = SYNCEVENT_EQ, .operand = 99, .mask = SE_MAX },
		{ .ev = ev, .cond = SYNCEVENT_EQ, .operand = WANTED, .mask = SE_MAX },
	};
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(updates); i++)
		if (ask_in_vain(ev, SYNCEVENT_EQ, 9, SE_MAX) != -ETIMEDOUT ||
		    syncevent_wait_many(many, 2, 0, &opts, NULL) != -ETIMEDOUT ||
		    updates[i](ev) || syncevent_set(ev, 0))
			return -1;
	return 0;
}

FIXTURE(steps)
{
	struct stage *s, *t;
	struct path path, pub;
	struct syncevent *ev;
};

FIXTURE_SETUP(steps)
{
	self->s = shared(sizeof(*self->s));
	self->t = shared(sizeof(*self->t));
	ASSERT_TRUE(self->s && self->t);
	self->ev = make(0);
	ASSERT_TRUE(self->ev);
	never_recheck = true;
	/* The dynamic linker has found all by now: its instructions are not of interest. */
	ASSERT_EQ(0, rehearse(self->ev));
}

FIXTURE_TEARDOWN(steps)
{
	syncevent_close(self->ev);
}

/* ---- held ----------------------------------------------------------------------------- */

/*
 * A waiter is held at each instruction while an update is made that it waits for, or
 * first one that it does not wait for.
 */
TEST_F(steps, waiter_is_held)
{
	unsigned int w, n, twice;
	int at;
	pid_t pid;

	for (w = 0; w < ARRAY_SIZE(waits); w++) {
		ASSERT_EQ(0, again(self->ev));
		ASSERT_EQ(0, take_path(&self->path, self->s, self->ev, waits[w]));
		ASSERT_LT(30, self->path.n);
		for (n = 0; n < 2 * self->path.n; n++) {
			twice = n & 1;
			ASSERT_EQ(0, again(self->ev));
			pid = stage_start(self->s, self->ev, waits[w]);
			ASSERT_LT(0, pid);
			at = hold_at(self->s, pid, self->path.at[n / 2]);
			ASSERT_EQ(HELD, at) {
				TH_LOG("waiter %u at %u of %u: %lx the %u th time", w, n / 2,
				       self->path.n, self->path.at[n / 2].ip,
				       self->path.at[n / 2].nth);
			}
			if (twice) {
				ASSERT_EQ(0, syncevent_set(self->ev, OTHER));
				ASSERT_EQ(0, go_on(pid, at));
				ASSERT_TRUE(soon(asleep(pid, pid)));
				ASSERT_EQ(0, syncevent_set(self->ev, WANTED));
			} else {
				ASSERT_EQ(0, syncevent_set(self->ev, WANTED));
				ASSERT_EQ(0, go_on(pid, at));
			}
			ASSERT_TRUE(soon(ended(self->s)));
			ASSERT_EQ(0, self->s->ret);
			end(pid);
		}
	}
}

/* The same, held while the event is revoked. */
TEST_F(steps, waiter_is_held_while_revoked)
{
	unsigned int w, n;
	int at;
	pid_t pid;

	for (w = 0; w < ARRAY_SIZE(waits); w++) {
		ASSERT_EQ(0, take_path(&self->path, self->s, self->ev, waits[w]));
		for (n = 0; n < self->path.n; n++) {
			struct syncevent *ev = make(0);

			ASSERT_TRUE(ev);
			pid = stage_start(self->s, ev, waits[w]);
			ASSERT_LT(0, pid);
			at = hold_at(self->s, pid, self->path.at[n]);
			ASSERT_EQ(HELD, at);
			ASSERT_EQ(0, syncevent_revoke(ev));
			ASSERT_EQ(0, go_on(pid, at));
			ASSERT_TRUE(soon(ended(self->s)));
			ASSERT_EQ(-EIDRM, self->s->ret);
			end(pid);
			syncevent_close(ev);
		}
	}
}

/* The path of an update while one sleeps who waits for it. */
static int take_path_of(struct path *path, struct stage *s, struct syncevent *ev,
			int (*update)(struct syncevent *ev), int (*wait)(struct syncevent *ev))
{
	struct call c;
	int ret;

	if (call_start(&c, ev, wait) || !soon(asleep(getpid(), c.t.tid)))
		return -ETIME;
	ret = take_path(path, s, ev, update);
	return se_join(&c.t) ? -ETIME : ret;
}

/* A publisher is held while one more falls asleep beside the one that sleeps already. */
TEST_F(steps, publisher_is_held)
{
	struct call c[2];
	unsigned int u, w, n, i;
	uint64_t v;
	int at;
	pid_t pid;

	for (w = 0; w < ARRAY_SIZE(waits); w++) {
		u = w % 2;
		ASSERT_EQ(0, again(self->ev));
		ASSERT_EQ(0, take_path_of(&self->path, self->s, self->ev, updates[u], waits[w]));
		ASSERT_LT(30, self->path.n);
		for (n = 0; n < self->path.n; n++) {
			ASSERT_EQ(0, again(self->ev));
			ASSERT_EQ(0, call_start(&c[0], self->ev, waits[w]));
			ASSERT_TRUE(soon(asleep(getpid(), c[0].t.tid)));
			pid = stage_start(self->s, self->ev, updates[u]);
			ASSERT_LT(0, pid);
			at = hold_at(self->s, pid, self->path.at[n]);
			ASSERT_EQ(HELD, at);
			ASSERT_EQ(0, syncevent_get(self->ev, &v));
			ASSERT_EQ(0, call_start(&c[1], self->ev, waits[w]));
			/* It sees the update, or it sleeps. */
			if (v != WANTED) {
				ASSERT_TRUE(soon(asleep(getpid(), c[1].t.tid)));
			}
			ASSERT_EQ(0, go_on(pid, at));
			for (i = 0; i < 2; i++) {
				ASSERT_EQ(0, se_join(&c[i].t));
			}
			ASSERT_TRUE(soon(ended(self->s)));
			end(pid);
		}
	}
}

/*
 * Both are held: a publisher that rings at each instruction, then a waiter at each of
 * its own, then the publisher runs to its end, then the waiter. It must be asleep with
 * its hint in force: the next update wakes it.
 */
TEST_F(steps, publisher_and_waiter_are_held)
{
	unsigned int n, m, all = 0;
	int pub, at;
	pid_t pid[2];

	ASSERT_EQ(0, again(self->ev));
	ASSERT_EQ(-ETIMEDOUT, ask_in_vain(self->ev, SYNCEVENT_EQ, 9, SE_MAX));
	ASSERT_EQ(0, take_path(&self->path, self->t, self->ev, wait_eq));
	ASSERT_EQ(0, again(self->ev));
	ASSERT_EQ(0, take_path_of(&self->pub, self->s, self->ev, set_other, wait_other));
	for (n = 0; n < self->pub.n; n++) {
		/* Each instruction of both, half of the pairs. */
		for (m = n & 1; m < self->path.n; m += 2, all++) {
			ASSERT_EQ(0, again(self->ev));
			ASSERT_EQ(-ETIMEDOUT, ask_in_vain(self->ev, SYNCEVENT_EQ, 9, SE_MAX));
			pid[0] = stage_start(self->s, self->ev, set_other);
			pid[1] = stage_start(self->t, self->ev, wait_eq);
			ASSERT_LT(0, pid[0]);
			ASSERT_LT(0, pid[1]);
			pub = hold_at(self->s, pid[0], self->pub.at[n]);
			ASSERT_EQ(HELD, pub);
			at = hold_at(self->t, pid[1], self->path.at[m]);
			ASSERT_EQ(HELD, at);
			ASSERT_EQ(0, go_on(pid[0], pub));
			ASSERT_TRUE(soon(ended(self->s)));
			ASSERT_EQ(0, go_on(pid[1], at));
			ASSERT_TRUE(soon(asleep(pid[1], pid[1])));
			ASSERT_EQ(0, syncevent_set(self->ev, WANTED));
			ASSERT_TRUE(soon(ended(self->t)));
			ASSERT_EQ(0, self->t->ret);
			end(pid[0]);
			end(pid[1]);
		}
	}
	TH_LOG("%u by %u: held at %u pairs of instructions", self->pub.n,
	       self->path.n, all);
}

/* ---- killed ----------------------------------------------------------------------------- */

/* Whoever sleeps looks again by itself. */
TEST_F(steps, publisher_is_killed)
{
	unsigned int w, n, dead = 0;
	struct call c;
	uint64_t v;
	pid_t pid;

	never_recheck = false;
	for (w = 0; w < ARRAY_SIZE(waits); w++) {
		ASSERT_EQ(0, again(self->ev));
		ASSERT_EQ(0, take_path_of(&self->path, self->s, self->ev, updates[w % 2],
					  waits[w]));
		for (n = 0; n < self->path.n; n++) {
			ASSERT_EQ(0, again(self->ev));
			ASSERT_EQ(0, call_start(&c, self->ev, waits[w]));
			ASSERT_TRUE(soon(asleep(getpid(), c.t.tid)));
			pid = stage_start(self->s, self->ev, updates[w % 2]);
			ASSERT_LT(0, pid);
			ASSERT_EQ(HELD, hold_at(self->s, pid, self->path.at[n]));
			end(pid);
			ASSERT_EQ(0, syncevent_get(self->ev, &v));
			if (v == WANTED) {
				dead++;
			} else {
				ASSERT_EQ(0, v);
				ASSERT_EQ(0, syncevent_set(self->ev, WANTED));
			}
			ASSERT_EQ(0, se_join(&c.t));
		}
	}
	ASSERT_LT(0, dead);
	TH_LOG("died %u times after the update", dead);
}

static int do_revoke(struct syncevent *ev)
{
	return syncevent_revoke(ev);
}

TEST_F(steps, revoker_is_killed)
{
	unsigned int n, dead = 0;
	struct syncevent *ev;
	struct call c;
	uint64_t v;
	pid_t pid;

	never_recheck = false;
	ev = make(0);
	ASSERT_TRUE(ev);
	ASSERT_EQ(0, take_path(&self->path, self->s, ev, do_revoke));
	for (n = 0; n < self->path.n; n++) {
		syncevent_close(ev);
		ev = make(0);
		ASSERT_TRUE(ev);
		ASSERT_EQ(0, call_start(&c, ev, wait_gt));
		ASSERT_TRUE(soon(asleep(getpid(), c.t.tid)));
		pid = stage_start(self->s, ev, do_revoke);
		ASSERT_LT(0, pid);
		ASSERT_EQ(HELD, hold_at(self->s, pid, self->path.at[n]));
		end(pid);
		if (syncevent_get(ev, &v) == -EIDRM)
			dead++;
		else
			ASSERT_EQ(0, syncevent_revoke(ev));
		ASSERT_EQ(-EIDRM, se_join(&c.t));
	}
	ASSERT_LT(0, dead);
	syncevent_close(ev);
}

/* Nothing that a waiter leaves behind keeps the others from being woken. */
TEST_F(steps, waiter_is_killed)
{
	unsigned int w, n;
	struct call c;
	pid_t pid;

	for (w = 0; w < ARRAY_SIZE(waits); w++) {
		ASSERT_EQ(0, again(self->ev));
		ASSERT_EQ(0, take_path(&self->path, self->s, self->ev, waits[w]));
		for (n = 0; n < self->path.n; n++) {
			ASSERT_EQ(0, again(self->ev));
			/* another one, who asks for more or for less */
			ASSERT_EQ(0, call_start(&c, self->ev, waits[(w + n) % 5]));
			ASSERT_TRUE(soon(asleep(getpid(), c.t.tid)));
			pid = stage_start(self->s, self->ev, waits[w]);
			ASSERT_LT(0, pid);
			/* What the other one asked for may spare it some of its way. */
			ASSERT_GT(ENDED, hold_at(self->s, pid, self->path.at[n]));
			end(pid);
			ASSERT_EQ(0, syncevent_set(self->ev, OTHER));
			ASSERT_FALSE(se_is_done(&c.t));
			ASSERT_EQ(0, syncevent_set(self->ev, WANTED));
			ASSERT_EQ(0, se_join(&c.t));
		}
	}
}

TEST_HARNESS_MAIN
