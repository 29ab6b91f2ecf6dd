// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * parked.c - updates while somebody sleeps whom they do not satisfy
 *
 * A waiter for more than a threshold costs its publishers nothing until that is
 * passed: the cell says so, and no system call is made. A waiter for one value
 * has to be judged at each update: one system call.
 */
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <syncevent/cell.h>

#define BELOW		1000	/* updates that do not pass the threshold */
#define FAR		(UINT64_MAX / 2)

bool parked(struct syncevent *ev)
{
	const struct syncevent_hint *hint = syncevent_cell(ev)->hint;

	return __atomic_load_n(&hint->wake_above, __ATOMIC_ACQUIRE) != UINT64_MAX ||
	       __atomic_load_n(&hint->flags, __ATOMIC_ACQUIRE) & SYNCEVENT_HINT_WAKE_ALL;
}

struct waiter {
	pthread_t thread;
	struct syncevent *ev;
	enum syncevent_cond cond;
	uint64_t operand;
	int ret;
};

static void *waiter_main(void *arg)
{
	static const struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.deadline = SYNCEVENT_FOREVER,
		.how = SYNCEVENT_BLOCK,
	};
	struct waiter *w = arg;

	pin(cpu_of(1));
	w->ret = syncevent_wait(w->ev, w->cond, w->operand, UINT64_MAX, &opts, NULL);
	return NULL;
}

/* Make an event and have somebody sleep on it. */
static int waiter_start(struct waiter *w)
{
	int err = syncevent_create(&w->ev, NULL);

	if (err)
		return err;
	err = -pthread_create(&w->thread, NULL, waiter_main, w);
	if (err) {
		syncevent_close(w->ev);
		return err;
	}
	while (!parked(w->ev))
		sched_yield();
	return 0;
}

static int waiter_end(struct waiter *w)
{
	int err = syncevent_revoke(w->ev);

	pthread_join(w->thread, NULL);
	syncevent_close(w->ev);
	return err;
}

static int updates(struct syncevent *ev, uint64_t n)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		err |= syncevent_add(ev, 1, NULL);
	return err;
}

static int run_waiter(struct run *run)
{
	const enum syncevent_cond *cond = run->arg;
	struct waiter w = { .cond = *cond, .operand = FAR };
	uint64_t from;
	int err = waiter_start(&w);

	if (err)
		return err;
	pin(cpu_of(0));
	from = now_ns();
	err = updates(w.ev, run->n);
	run->amount = now_ns() - from;
	unpin();
	return waiter_end(&w) || err ? -EIO : 0;
}

static int run_nobody(struct run *run)
{
	struct syncevent *ev;
	uint64_t from;
	int err = syncevent_create(&ev, NULL);

	if (err)
		return err;
	pin(cpu_of(0));
	from = now_ns();
	err = updates(ev, run->n);
	run->amount = now_ns() - from;
	unpin();
	syncevent_close(ev);
	return err ? -EIO : 0;
}

/* ---- a peer: its waiter has to wake up to see that it was not meant ------------------ */

struct sleeper {
	const struct channel_ops *ops;
	struct channel *channel;
	bool stop;
	bool ready;
};

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	pin(cpu_of(1));
	__atomic_store_n(&s->ready, true, __ATOMIC_RELEASE);
	/* futex: sleeps on until FAR; eventfd, which knows no value: returns and comes again. */
	do
		s->ops->wait(s->channel, FAR);
	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE));
	return NULL;
}

static int run_peer(struct run *run)
{
	struct sleeper s = { .ops = run->arg };
	pthread_t thread;
	uint64_t from, i;
	int err;

	s.channel = mmap(NULL, s.ops->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	if (s.channel == MAP_FAILED)
		return -ENOMEM;
	err = s.ops->open(s.channel);
	if (!err) {
		err = -pthread_create(&thread, NULL, sleeper_main, &s);
		if (!err) {
			while (!__atomic_load_n(&s.ready, __ATOMIC_ACQUIRE))
				sched_yield();
			pin(cpu_of(0));
			from = now_ns();
			for (i = 1; i <= run->n; i++)
				s.ops->post(s.channel, i);
			run->amount = now_ns() - from;
			unpin();
			__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
			s.ops->post(s.channel, FAR);
			pthread_join(thread, NULL);
		}
		s.ops->close(s.channel);
	}
	munmap(s.channel, s.ops->size);
	return err;
}

/* ---- system calls, counted by ptrace(2) ------------------------------------------------ */

/* A system call that sets the parts of the traced program apart. */
#define MARK		SYS_getppid

/* The publisher, another process: 1000 updates; then one more, if it is to satisfy. */
static int traced(struct syncevent *ev, bool every)
{
	unsigned int i;
	int err = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return 1;
	raise(SIGSTOP);
	syscall(MARK);
	for (i = 0; i < BELOW && !err; i++) {
		err = syncevent_add(ev, 1, NULL);
		/* A provider that wakes it for each update: until it sleeps again. */
		while (every && !parked(ev))
			sched_yield();
	}
	syscall(MARK);
	err |= every ? 0 : syncevent_add(ev, 1, NULL);
	syscall(MARK);
	return err ? 2 : 0;
}

/* System calls before, between and after the marks. */
static int count_calls(pid_t pid, unsigned int calls[4])
{
	struct ptrace_syscall_info info;
	unsigned int part = 0;
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		return -EPERM;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
			return -EPERM;
		if (WIFEXITED(status))
			return WEXITSTATUS(status) || part != 3 ? -EIO : 0;
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
			return -EPERM;
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr == SYS_sched_yield)
			continue;
		if (info.entry.nr == MARK && part < 3)
			part++;
		else
			calls[part]++;
	}
}

static int calls_of(enum syncevent_cond cond, uint64_t operand, unsigned int calls[4])
{
	struct waiter w = { .cond = cond, .operand = operand };
	int err = waiter_start(&w), status;
	pid_t pid;

	if (err)
		return err;
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(traced(w.ev, cond == SYNCEVENT_EQ));
	memset(calls, 0, 4 * sizeof(*calls));
	err = pid < 0 ? -EAGAIN : count_calls(pid, calls);
	if (err && pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return waiter_end(&w) || err ? (err ? err : -EIO) : 0;
}

static int parked_counts(const struct bench *bench, const struct options *options,
			 struct result *result)
{
	unsigned int calls[4];
	int err;

	(void)bench;
	(void)options;
	err = calls_of(SYNCEVENT_GT, BELOW, calls);
	if (err)
		return err;
	add_count(result, "system calls of 1000 updates below a GT waiter's threshold", calls[1], 0);
	add_count(result, "system calls of the update that passes it", calls[2], 1);
	err = calls_of(SYNCEVENT_EQ, FAR, calls);
	if (err)
		return err;
	add_count(result, "system calls of 1000 updates before an EQ waiter", calls[1], BELOW);
	return 0;
}

static const enum syncevent_cond greater = SYNCEVENT_GT, equal = SYNCEVENT_EQ;

static const struct side parked_sides[] = {
	{ .name = "GT waiter", .run = run_waiter, .arg = &greater, .ours = true },
	{ .name = "EQ waiter", .run = run_waiter, .arg = &equal, .ours = true },
	{ .name = "no waiter", .run = run_nobody, .ours = true },
	{ .name = "futex waiter", .run = run_peer, .arg = &futex_channel },
	{ .name = "eventfd waiter", .run = run_peer, .arg = &eventfd_channel },
	{ 0 }
};

const struct bench parked_benches[] = {
	{
		.name = "parked",
		.what = "an update that does not satisfy the one waiter, which sleeps",
		.unit = "ns/update",
		.sides = parked_sides,
		.counts = parked_counts,
	},
	{ 0 }
};
