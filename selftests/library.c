// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * library.c - what libsyncevent promises beyond the kernel: syncevent.h's errors,
 * its file descriptors, and that it answers alike whether it polls or sleeps.
 * both_* and kernel_* as in conformance.c.
 */
#include "waiter.h"

#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#define MS	1000000ULL

/* ---- structures with a size ---------------------------------------------------- */

struct large_attr {
	struct syncevent_attr attr;
	unsigned char tail[8];
};

struct large_opts {
	struct syncevent_wait_opts opts;
	unsigned char tail[8];
};

TEST(both_size_of_attr)
{
	struct large_attr large = { .attr.value = 5 };
	struct syncevent *ev = NULL;
	uint64_t value;
	uint32_t size;
	size_t i;

	for (size = 0; size < sizeof(large.attr); size++) {
		large.attr.size = size;
		ASSERT_EQ(-EINVAL, syncevent_create(&ev, &large.attr));
	}
	for (; size <= sizeof(large); size++) {
		large.attr.size = size;
		ASSERT_EQ(0, syncevent_create(&ev, &large.attr));
		ASSERT_EQ(0, syncevent_get(ev, &value));
		ASSERT_EQ(5, value);
		syncevent_close(ev);
	}
	large.attr.size = sizeof(large);
	for (i = 0; i < sizeof(large.tail); i++) {
		large.tail[i] = 1;
		ASSERT_EQ(-E2BIG, syncevent_create(&ev, &large.attr));
		large.tail[i] = 0;
	}
}

TEST(both_size_of_opts)
{
	struct large_opts large = { .opts.deadline = 0 };
	struct syncevent *ev = make(1);
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_EQ, .operand = 1,
				       .mask = UINT64_MAX };
	uint32_t size;
	int wanted;
	size_t i;

	ASSERT_NE(NULL, ev);
	for (size = 0; size <= sizeof(large); size++) {
		large.opts.size = size;
		wanted = size < sizeof(large.opts) ? -EINVAL : 0;
		ASSERT_EQ(wanted, syncevent_wait(ev, SYNCEVENT_EQ, 1, UINT64_MAX,
						 &large.opts, NULL));
		ASSERT_EQ(wanted, syncevent_wait_many(&many, 1, 0, &large.opts, NULL));
	}
	large.opts.size = sizeof(large);
	for (i = 0; i < sizeof(large.tail); i++) {
		large.tail[i] = 1;
		ASSERT_EQ(-E2BIG, syncevent_wait(ev, SYNCEVENT_EQ, 1, UINT64_MAX,
						 &large.opts, NULL));
		ASSERT_EQ(-E2BIG, syncevent_wait_many(&many, 1, 0, &large.opts, NULL));
		large.tail[i] = 0;
	}
	syncevent_close(ev);
}

TEST(both_unknown_arguments)
{
	struct syncevent_attr attr = { .size = sizeof(attr) };
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, 0);
	struct syncevent *ev = make(1), *other = NULL;
	struct syncevent_queue *q;
	struct syncevent_done done;
	struct syncevent_many many[SYNCEVENT_MANY_MAX + 1];
	enum syncevent_cond bad = (enum syncevent_cond)(SYNCEVENT_LE + 1);
	unsigned int bit, i;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i <= SYNCEVENT_MANY_MAX; i++)
		many[i] = (struct syncevent_many){ .ev = ev, .operand = 1, .mask = 1 };

	for (bit = 0; bit < 32; bit++) {
		attr.flags = 1U << bit;
		if (attr.flags != SYNCEVENT_SILENT)
			ASSERT_EQ(-EINVAL, syncevent_create(&other, &attr));
		attr.flags = 0;
		attr.publishers = 1U << bit;
		if (!(attr.publishers & SYNCEVENT_LOC_ALL))
			ASSERT_EQ(-EINVAL, syncevent_create(&other, &attr));
		attr.subscribers = attr.publishers;
		attr.publishers = 0;
		if (!(attr.subscribers & SYNCEVENT_LOC_ALL))
			ASSERT_EQ(-EINVAL, syncevent_create(&other, &attr));
		attr.subscribers = 0;
		if (1U << bit != SYNCEVENT_RDONLY)
			ASSERT_EQ(-EINVAL, syncevent_dup(&other, ev, 1U << bit));
		opts.flags = 1U << bit;
		if (opts.flags != SYNCEVENT_REALTIME) {
			ASSERT_EQ(-EINVAL, syncevent_wait(ev, SYNCEVENT_EQ, 1, 1, &opts, NULL));
			ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 1, 0, &opts, NULL));
		}
		if (1U << bit != SYNCEVENT_ALL)
			ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 1, 1U << bit, NULL, NULL));
	}
	opts.flags = 0;
	opts.how = SYNCEVENT_BLOCK + 1;
	ASSERT_EQ(-EINVAL, syncevent_wait(ev, SYNCEVENT_EQ, 1, 1, &opts, NULL));
	ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 1, 0, &opts, NULL));

	ASSERT_EQ(-EINVAL, syncevent_wait(ev, bad, 1, 1, NULL, NULL));
	ASSERT_EQ(-EINVAL, syncevent_arm(ev, bad, 1, 1));
	ASSERT_EQ(-EINVAL, syncevent_queue_add(q, ev, bad, 1, 1, 1, 0));
	ASSERT_EQ(-EINVAL, syncevent_queue_reap(q, &done, 0, 0));
	for (i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		opts = opts_of(hows[i], 0);
		ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 0, 0, &opts, NULL));
		ASSERT_EQ(-EINVAL, syncevent_wait_many(many, SYNCEVENT_MANY_MAX + 1, 0, &opts,
						       NULL));
		ASSERT_EQ(0, syncevent_wait_many(many, SYNCEVENT_MANY_MAX, SYNCEVENT_ALL,
						 &opts, NULL));
		many[1].cond = bad;
		ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 2, 0, &opts, NULL));
		many[1].cond = 0;
	}
	syncevent_queue_close(q);
	syncevent_close(ev);
	syncevent_close(NULL);
	syncevent_queue_close(NULL);
}

/* ---- file descriptors ----------------------------------------------------------- */

TEST(both_from_fd_takes_events_only)
{
	struct syncevent *ev = make(1), *other = NULL;
	struct syncevent_queue *q;
	int pair[2], fd;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(-EBADF, syncevent_from_fd(&other, -1));
	ASSERT_EQ(0, pipe(pair));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, pair[0]));
	ASSERT_EQ(0, close(pair[1]));
	ASSERT_EQ(-EBADF, syncevent_from_fd(&other, pair[1]));
	ASSERT_LE(0, fd = eventfd(0, 0));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
	ASSERT_LE(0, fd = open("/dev/null", O_RDWR));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
	ASSERT_LE(0, fd = open("/dev/null", O_PATH));
	ASSERT_EQ(-EBADF, syncevent_from_fd(&other, fd));
	ASSERT_LE(0, fd = open("/proc/self/exe", O_RDONLY));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
	if (!on_shm()) {
		ASSERT_LE(0, fd = open(SE_DEV, O_RDWR));
		ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
		ASSERT_LE(0, fd = open(SE_DEV, O_PATH));
		ASSERT_EQ(-EBADF, syncevent_from_fd(&other, fd));
	}
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, syncevent_queue_fd(q)));
	ASSERT_EQ(NULL, other);

	ASSERT_EQ(0, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(0, syncevent_add(other, 1, NULL));
	syncevent_close(other);
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 2, UINT64_MAX, NULL));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_from_fd(&other, syncevent_fd(ev)));
	syncevent_close(ev);
	syncevent_queue_close(q);
}

static bool safe_fd(int fd)
{
	return fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC;
}

/* The exit status names what failed. */
static int without_stdio(void)
{
	struct syncevent *ev, *dup, *same;
	struct syncevent_queue *q;
	struct syncevent_many many;

	close(0);
	close(1);
	close(2);
	if (syncevent_create(&ev, NULL) || !safe_fd(syncevent_fd(ev)))
		return 1;
	if (syncevent_dup(&dup, ev, 0) || !safe_fd(syncevent_fd(dup)))
		return 2;
	if (syncevent_from_fd(&same, syncevent_fd(ev)) || !safe_fd(syncevent_fd(same)))
		return 3;
	if (syncevent_queue_create(&q) || !safe_fd(syncevent_queue_fd(q)))
		return 4;
	many = (struct syncevent_many){ .ev = ev, .cond = SYNCEVENT_EQ };
	if (syncevent_wait_many(&many, 1, 0, NULL, NULL))
		return 5;
	/* Neither the device nor anything else of the library is there. */
	return fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1 && fcntl(2, F_GETFD) == -1 ?
	       0 : 6;
}

TEST(both_stdio_is_not_reused)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(without_stdio());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
}

static int open_files(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

TEST(both_nothing_stays_open)
{
	int i, before = open_files();
	struct syncevent_queue *q;
	struct syncevent *ev, *dup;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, syncevent_create(&ev, NULL));
		ASSERT_EQ(0, syncevent_dup(&dup, ev, SYNCEVENT_RDONLY));
		ASSERT_EQ(0, syncevent_queue_create(&q));
		syncevent_queue_close(q);
		syncevent_close(dup);
		ASSERT_EQ(0, syncevent_revoke(ev));
		ASSERT_EQ(-EIDRM, syncevent_dup(&dup, ev, 0));
		syncevent_close(ev);
	}
	ASSERT_EQ(before, open_files());
}

TEST(both_no_file_descriptor_left)
{
	struct syncevent *ev = make(0), *other = NULL;
	struct syncevent_queue *q = NULL;
	struct rlimit limit;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = (rlim_t)syncevent_fd(ev) + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(0) >= 0)
		;
	ASSERT_EQ(-EMFILE, syncevent_create(&other, NULL));
	ASSERT_EQ(-EMFILE, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(-EMFILE, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(-EMFILE, syncevent_queue_create(&q));
	ASSERT_EQ(NULL, other);
	ASSERT_EQ(NULL, q);
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	syncevent_close(ev);
}

TEST(both_no_memory_left)
{
	struct syncevent *ev = make(0), *other = NULL;
	struct rlimit limit = { 1, 1 };
	int before;

	/* No mapping can be made any more. */
	ASSERT_NE(NULL, ev);
	before = open_files();
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	ASSERT_EQ(-ENOMEM, syncevent_create(&other, NULL));
	ASSERT_EQ(-ENOMEM, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(-ENOMEM, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(NULL, other);
	ASSERT_EQ(before, open_files());
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	syncevent_close(ev);
}

/* A daemon closes what it does not know, and the numbers are used again. */
static int wait_after_close(struct syncevent *ev, bool reuse)
{
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_EQ, .operand = 1,
				       .mask = UINT64_MAX };
	int fd;

	if (syncevent_wait_many(&many, 1, 0, NULL, NULL))
		return 1;
	for (fd = 3; fd < 256; fd++)
		if (fd != syncevent_fd(ev))
			close(fd);
	while (reuse && (fd = eventfd(0, 0)) >= 0 && fd < 64)
		;
	many.status = 0;
	if (syncevent_wait_many(&many, 1, 0, NULL, NULL) || many.status != 1)
		return 2;
	/* What took the number over was left alone; the library's are close-on-exec. */
	while (reuse && --fd > 2)
		if (fd != syncevent_fd(ev) && fcntl(fd, F_GETFD) != 0)
			return 3;
	return 0;
}

TEST(both_wait_many_after_all_files_were_closed)
{
	struct syncevent *ev = make(1);
	int reuse, status;
	pid_t pid;

	ASSERT_NE(NULL, ev);
	for (reuse = 0; reuse < 2; reuse++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(wait_after_close(ev, reuse));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
	}
	syncevent_close(ev);
}

TEST(both_fork_goes_on)
{
	struct syncevent *ev = make(0);
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_GE, .operand = 1,
				       .mask = UINT64_MAX };
	int status;
	pid_t pid;

	ASSERT_NE(NULL, ev);
	/* The device is open in the parent before the fork. */
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	ASSERT_EQ(0, syncevent_wait_many(&many, 1, 0, NULL, NULL));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		many.operand = 2;
		if (syncevent_wait_many(&many, 1, 0, NULL, NULL) || syncevent_add(ev, 1, NULL))
			_exit(1);
		syncevent_close(ev);
		_exit(0);
	}
	ASSERT_TRUE(until_parked(ev, pid, pid));
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 3, UINT64_MAX, NULL));
	syncevent_close(ev);
}

/* ---- updates ---------------------------------------------------------------------- */

/*
 * Stands in front of the C library's: whoever saw the update may revoke the event
 * before its publisher comes to ring, and here does so each time.
 */
static bool revoke_before_ring;

int ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if (command == SYNCEVENT_IOC_RING && revoke_before_ring)
		syscall(SYS_ioctl, fd, SYNCEVENT_IOC_REVOKE, NULL);
	return (int)syscall(SYS_ioctl, fd, command, arg);
}

TEST(kernel_update_that_was_seen_has_succeeded)
{
	struct waiter w;
	uint64_t old;
	int i;

	KERNEL_ONLY();
	revoke_before_ring = true;
	for (i = 0; i < 2; i++) {
		struct syncevent *ev = make(0);

		/* Only a sleeper makes the publisher ring. */
		ASSERT_NE(NULL, ev);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GE, 1, UINT64_MAX, SYNCEVENT_BLOCK,
				   SYNCEVENT_FOREVER));
		ASSERT_TRUE(se_until_waiters(syncevent_fd(ev), 1));
		old = 7;
		if (i) {
			ASSERT_EQ(0, syncevent_set(ev, 1));
		} else {
			ASSERT_EQ(0, syncevent_add(ev, 1, &old));
			ASSERT_EQ(0, old);
		}
		ASSERT_NE(SE_HUNG, se_join(&w.t));
		ASSERT_EQ(-EIDRM, syncevent_set(ev, 1));
		old = 7;
		ASSERT_EQ(-EIDRM, syncevent_add(ev, 1, &old));
		ASSERT_EQ(7, old);
		ASSERT_EQ(-EIDRM, syncevent_ring(ev));
		syncevent_close(ev);
	}
	revoke_before_ring = false;
}

TEST(both_read_only_handle_updates_nothing)
{
	struct syncevent *ev = make(1), *ro, *ro2;
	uint64_t old = 7;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(0, syncevent_dup(&ro2, ro, 0));
	ASSERT_EQ(-EBADF, syncevent_set(ro2, 2));
	ASSERT_EQ(-EBADF, syncevent_add(ro2, 2, &old));
	ASSERT_EQ(7, old);
	ASSERT_EQ(-EBADF, syncevent_ring(ro2));
	ASSERT_EQ(-EBADF, syncevent_revoke(ro2));
	syncevent_close(ro2);
	ASSERT_EQ(0, syncevent_from_fd(&ro2, syncevent_fd(ro)));
	ASSERT_EQ(-EBADF, syncevent_set(ro2, 2));
	ASSERT_EQ(0, look(ro2, SYNCEVENT_EQ, 1, UINT64_MAX, NULL));
	syncevent_close(ro2);
	syncevent_close(ro);
	syncevent_close(ev);
}

/* ---- waits ------------------------------------------------------------------------ */

/* Polling in the library must tell what the kernel tells. */
TEST(both_wait_many_answers_alike)
{
	struct syncevent *ev[4];
	unsigned int h, i, flags, index, revoked;

	for (revoked = 0; revoked < 5; revoked++) {
		for (i = 0; i < 4; i++) {
			ev[i] = make(i);
			ASSERT_NE(NULL, ev[i]);
		}
		if (revoked < 4)
			ASSERT_EQ(0, syncevent_revoke(ev[revoked]));
		/* From none to all of the conditions hold. */
		for (i = 0; i < 16; i++) {
			for (flags = 0; flags <= SYNCEVENT_ALL; flags++) {
				struct syncevent_many first[4], many[4];
				unsigned int k, first_index = 0;
				int ret, first_ret = 0;

				for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
					struct syncevent_wait_opts opts = opts_of(hows[h], 0);

					se_poison(many, sizeof(many));
					se_poison(&index, sizeof(index));
					for (k = 0; k < 4; k++) {
						many[k].ev = ev[k];
						many[k].cond = i & 1U << k ? SYNCEVENT_EQ :
							       SYNCEVENT_NEQ;
						many[k].operand = k;
						many[k].mask = UINT64_MAX;
					}
					ret = syncevent_wait_many(many, 4, flags, &opts,
								  &index);
					/* "any" may look beyond what ended it, or not. */
					for (k = index + 1; !ret && !flags && k < 4; k++)
						many[k].status = 0, many[k].value = 0;
					if (!h) {
						memcpy(first, many, sizeof(many));
						first_index = index;
						first_ret = ret;
						continue;
					}
					ASSERT_EQ(first_ret, ret);
					ASSERT_EQ(first_index, index);
					ASSERT_EQ(0, memcmp(first, many, sizeof(many)));
				}
			}
		}
		for (i = 0; i < 4; i++)
			syncevent_close(ev[i]);
	}
}

static int many_fn(void *arg)
{
	struct waiter *w = arg;
	struct syncevent_many many[2] = {
		{ .ev = w->ev, .cond = w->cond, .operand = w->operand, .mask = w->mask },
		{ .ev = w->ev, .cond = SYNCEVENT_EQ, .operand = 99, .mask = UINT64_MAX },
	};
	unsigned int index = 9;
	int ret = syncevent_wait_many(many, 2, 0, &w->opts, &index);

	w->seen = many[0].value;
	return ret ? ret : (int)index;
}

TEST(both_wait_many_ends_by_update_and_revoke)
{
	unsigned int h;

	for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
		struct waiter w = { .cond = SYNCEVENT_GE, .operand = 3, .mask = UINT64_MAX };

		w.ev = make(0);
		ASSERT_NE(NULL, w.ev);
		w.opts = opts_of(hows[h], SYNCEVENT_FOREVER);
		ASSERT_EQ(0, se_start(&w.t, many_fn, &w));
		ASSERT_EQ(0, syncevent_add(w.ev, 2, NULL));
		ASSERT_EQ(0, syncevent_add(w.ev, 2, NULL));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(4, w.seen);
		w.operand = 5;
		ASSERT_EQ(0, se_start(&w.t, many_fn, &w));
		ASSERT_EQ(0, syncevent_revoke(w.ev));
		ASSERT_EQ(-EIDRM, se_join(&w.t));
		syncevent_close(w.ev);
	}
}

/* Stands in front of the C library's: YIELD calls it after each look. */
static int yields;

int sched_yield(void)
{
	__atomic_fetch_add(&yields, 1, __ATOMIC_RELAXED);
	return (int)syscall(SYS_sched_yield);
}

struct all {
	struct se_thread t;
	struct syncevent_many many[2];
	struct syncevent_wait_opts opts;
};

static int all_fn(void *arg)
{
	struct all *all = arg;

	return syncevent_wait_many(all->many, 2, SYNCEVENT_ALL, &all->opts, NULL);
}

/* "all" is about moments during the call: what comes after one does not undo it. */
TEST(both_revoked_after_its_moment)
{
	static const enum syncevent_how ways[] = { SYNCEVENT_YIELD, SYNCEVENT_BLOCK };
	struct syncevent *ev[2];
	struct all all;
	int h, i;

	for (h = 0; h < 2; h++) {
		for (i = 0; i < 2; i++) {
			ev[i] = make(0);
			ASSERT_NE(NULL, ev[i]);
			all.many[i] = (struct syncevent_many){
				.ev = ev[i], .cond = SYNCEVENT_EQ, .operand = (uint64_t)i,
				.mask = UINT64_MAX,
			};
		}
		all.opts = opts_of(ways[h], SYNCEVENT_FOREVER);
		__atomic_store_n(&yields, 0, __ATOMIC_RELAXED);
		ASSERT_EQ(0, se_start(&all.t, all_fn, &all));
		if (ways[h] == SYNCEVENT_YIELD) {
			ASSERT_TRUE(se_until(__atomic_load_n(&yields, __ATOMIC_RELAXED)));
		} else {
			ASSERT_TRUE(until_parked(ev[1], getpid(), all.t.tid));
		}
		ASSERT_EQ(0, syncevent_revoke(ev[0]));
		ASSERT_EQ(0, syncevent_set(ev[1], 1));
		ASSERT_EQ(0, se_join(&all.t));
		ASSERT_EQ(1, all.many[0].status);
		ASSERT_EQ(0, all.many[0].value);
		ASSERT_EQ(1, all.many[1].status);
		ASSERT_EQ(1, all.many[1].value);
		syncevent_close(ev[0]);
		syncevent_close(ev[1]);
	}
}

/* Both clocks, in the past and in a moment; the first part of ADAPTIVE is short. */
TEST(both_deadline_of_each_clock)
{
	struct syncevent *ev = make(0);
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_EQ, .operand = 1,
				       .mask = UINT64_MAX };
	unsigned int h, realtime, spin;

	ASSERT_NE(NULL, ev);
	for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
		for (realtime = 0; realtime < 2; realtime++) {
			for (spin = 0; spin < 2; spin++) {
				clockid_t clock = realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC;
				uint64_t now = se_now(clock);
				struct syncevent_wait_opts opts = opts_of(hows[h], now + MS);

				opts.flags = realtime ? SYNCEVENT_REALTIME : 0;
				opts.spin_ns = spin ? UINT32_MAX : 0;
				ASSERT_EQ(-ETIMEDOUT, syncevent_wait(ev, SYNCEVENT_EQ, 1,
								     UINT64_MAX, &opts, NULL));
				ASSERT_LE(now + MS, se_now(clock));
				opts.deadline = 1;
				ASSERT_EQ(-ETIMEDOUT, syncevent_wait(ev, SYNCEVENT_EQ, 1,
								     UINT64_MAX, &opts, NULL));
				ASSERT_EQ(-ETIMEDOUT, syncevent_wait_many(&many, 1, 0, &opts,
									  NULL));
			}
		}
	}
	syncevent_close(ev);
}

static int signals;

static void count_signal(int sig)
{
	(void)sig;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* A spin goes on after a signal: only the update ends it. */
TEST(both_signal_does_not_end_a_spin)
{
	struct sigaction sa = { .sa_handler = count_signal };
	static const enum syncevent_how spins[] = { SYNCEVENT_SPIN, SYNCEVENT_YIELD };
	struct waiter w;
	int h, i;

	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	for (h = 0; h < 2; h++) {
		struct syncevent *ev = make(0);

		ASSERT_NE(NULL, ev);
		__atomic_store_n(&signals, 0, __ATOMIC_RELAXED);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_EQ, 1, UINT64_MAX, spins[h],
				   SYNCEVENT_FOREVER));
		for (i = 1; i <= 5; i++) {
			ASSERT_EQ(0, pthread_kill(w.t.thread, SIGUSR1));
			ASSERT_TRUE(se_until(__atomic_load_n(&signals, __ATOMIC_RELAXED) == i));
		}
		ASSERT_FALSE(se_is_done(&w.t));
		ASSERT_EQ(0, syncevent_set(ev, 1));
		ASSERT_EQ(0, se_join(&w.t));
		ASSERT_EQ(1, w.seen);
		syncevent_close(ev);
	}
}

/* ---- queues ------------------------------------------------------------------------ */

/* Entries that are reserved or not, added, cancelled and reaped: all complete. */
TEST(both_queue_reserve)
{
	static const unsigned int sizes[] = { 0, 1, 5, 64, 5, 0 };
	struct syncevent *ev = make(0);
	struct syncevent_done done[64];
	struct syncevent_queue *q;
	unsigned int i, n;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ASSERT_EQ(0, syncevent_queue_reserve(q, sizes[i]));
		ASSERT_EQ(0, syncevent_set(ev, 0));
		for (n = 0; n < 64; n++)
			ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, n, UINT64_MAX, n,
							 SYNCEVENT_FOREVER));
		for (n = 0; n < 64; n += 2)
			ASSERT_EQ(0, syncevent_queue_cancel(q, n));
		/* Fewer than there are now. */
		ASSERT_EQ(0, syncevent_queue_reserve(q, sizes[i] / 2));
		ASSERT_EQ(0, syncevent_set(ev, 64));
		for (n = 0; n < 32;) {
			int got = syncevent_queue_reap(q, done, 64, se_patience());

			ASSERT_LT(0, got);
			while (got--) {
				ASSERT_EQ(1, done[got].cookie & 1);
				n++;
			}
		}
		ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 64, 0));
	}
	syncevent_queue_close(q);
	syncevent_close(ev);
}

TEST(both_queue_of_a_provider)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .provider = SYNCEVENT_PROVIDER_SHM };
	struct syncevent_queue *q = NULL, *shm;
	struct syncevent_done done;
	struct syncevent *ev;

	ASSERT_EQ(-EINVAL, syncevent_queue_create_on(&q, SYNCEVENT_PROVIDER_ADDR));
	ASSERT_EQ(NULL, q);
	ASSERT_EQ(0, syncevent_queue_create_on(&q, SYNCEVENT_PROVIDER_DEFAULT));
	ASSERT_EQ(0, syncevent_queue_create_on(&shm, SYNCEVENT_PROVIDER_SHM));
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_queue_add(shm, ev, SYNCEVENT_EQ, 0, UINT64_MAX, 7, 0));
	ASSERT_EQ(1, syncevent_queue_reap(shm, &done, 1, 0));
	ASSERT_EQ(7, done.cookie);
	/* Who keeps the default one is told by what it takes. */
	ASSERT_EQ(on_shm() ? 0 : -EXDEV,
		  syncevent_queue_add(q, ev, SYNCEVENT_EQ, 0, UINT64_MAX, 7, 0));
	syncevent_queue_close(q);
	syncevent_queue_close(shm);
	syncevent_close(ev);
}

struct reaper {
	struct se_thread t;
	struct syncevent_queue *q;
	struct syncevent_done done;
	uint64_t deadline;
};

static int reaper_fn(void *arg)
{
	struct reaper *r = arg;

	return syncevent_queue_reap(r->q, &r->done, 1, r->deadline);
}

TEST(both_reap_takes_what_is_done)
{
	struct syncevent *ev = make(5);
	struct syncevent_done done[8];
	struct syncevent_queue *q;
	uint64_t i;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 8, 0));
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 8, 1));
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, done, 8, se_in_ms(1)));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GE, i, UINT64_MAX, 10 + i,
						 SYNCEVENT_FOREVER));
	ASSERT_EQ(-EEXIST, syncevent_queue_add(q, ev, SYNCEVENT_GE, 9, UINT64_MAX, 10, 0));
	ASSERT_EQ(-EALREADY, syncevent_queue_cancel(q, 10));
	ASSERT_EQ(-ENOENT, syncevent_queue_cancel(q, 99));
	ASSERT_EQ(2, syncevent_queue_reap(q, done, 2, 0));
	ASSERT_EQ(3, syncevent_queue_reap(q, done + 2, 6, SYNCEVENT_FOREVER));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(10 + i, done[i].cookie);
		ASSERT_EQ(5, done[i].value);
		ASSERT_EQ(0, done[i].status);
	}
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 1,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(0, syncevent_queue_cancel(q, 1));
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 2, se_in_ms(1)));
	ASSERT_EQ(1, syncevent_queue_reap(q, done, 8, SYNCEVENT_FOREVER));
	ASSERT_EQ(-ETIMEDOUT, done[0].status);
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 3,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(1, syncevent_queue_reap(q, done, 8, SYNCEVENT_FOREVER));
	ASSERT_EQ(3, done[0].cookie);
	ASSERT_EQ(-EIDRM, done[0].status);
	ASSERT_EQ(-EIDRM, syncevent_queue_add(q, ev, SYNCEVENT_GT, 5, UINT64_MAX, 3, 0));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

/* Of two who were told of one completion, the second must not block for ever. */
TEST(both_two_reapers_and_one_completion)
{
	int i, sum;

	for (i = 0; i < 200; i++) {
		struct syncevent *ev = make(0);
		struct reaper r[2];
		struct syncevent_queue *q;

		ASSERT_NE(NULL, ev);
		ASSERT_EQ(0, syncevent_queue_create(&q));
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 1, UINT64_MAX, 1,
						 SYNCEVENT_FOREVER));
		r[0] = (struct reaper){ .q = q, .deadline = se_in_ms(20) };
		r[1] = r[0];
		ASSERT_EQ(0, se_start(&r[0].t, reaper_fn, &r[0]));
		ASSERT_EQ(0, se_start(&r[1].t, reaper_fn, &r[1]));
		ASSERT_EQ(0, syncevent_set(ev, 1));
		sum = 0;
		sum += se_join(&r[0].t) == 1;
		sum += se_join(&r[1].t) == 1;
		/* Both may have given up before; then it is still there. */
		sum += syncevent_queue_reap(q, &r[0].done, 1, 0) == 1;
		ASSERT_EQ(1, sum);
		ASSERT_TRUE(se_is_done(&r[0].t) && se_is_done(&r[1].t));
		syncevent_queue_close(q);
		syncevent_close(ev);
	}
}

TEST(both_signals_and_reap)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q;
	struct reaper r;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	r = (struct reaper){ .q = q, .deadline = SYNCEVENT_FOREVER };
	se_handle(SIGUSR1, 0);
	ASSERT_EQ(0, se_start(&r.t, reaper_fn, &r));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, pthread_kill(r.t.thread, SIGUSR1));
	ASSERT_EQ(-EINTR, se_join(&r.t));

	se_handle(SIGUSR1, SA_RESTART);
	ASSERT_EQ(0, se_start(&r.t, reaper_fn, &r));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, pthread_kill(r.t.thread, SIGUSR1));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 0, UINT64_MAX, 1,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(1, se_join(&r.t));
	ASSERT_EQ(1, r.done.cookie);

	r.deadline = se_in_ms(SE_HANG_S * 1000);
	ASSERT_EQ(0, se_start(&r.t, reaper_fn, &r));
	ASSERT_TRUE(se_until_sleeps(&r.t));
	ASSERT_EQ(0, pthread_kill(r.t.thread, SIGUSR1));
	ASSERT_EQ(-EINTR, se_join(&r.t));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

TEST_HARNESS_MAIN
