/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the selftests share: the ioctls as functions, threads that are known to
 * sleep, ends that are waited for with a hang limit.
 *
 * Functions return 0, a file descriptor or a negative errno, so that a test
 * says ASSERT_EQ(-EIDRM, se_get(fd, &v)). No test looks at how long anything
 * takes: SE_HANG_S only turns a hang into a failure.
 */
#ifndef SELFTESTS_COMMON_H
#define SELFTESTS_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/syncevent.h>

#include "kselftest_harness.h"

/* The harness compares whatever types it is given. */
#pragma GCC diagnostic ignored "-Wsign-compare"
/* Its fixtures are functions with external linkage. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Seconds. Emulated guests with a debug kernel are slow. Less only for mutants. */
#ifndef SE_HANG_S
#define SE_HANG_S		120
#endif
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	900

#define SE_DEV			"/dev/syncevent"
#define SE_MAX			UINT64_MAX
#define SE_ALL			SYNCEVENT_MASK_ALL
#define SE_FOREVER		SYNCEVENT_NO_DEADLINE
#define SE_NS			1000000000ULL

/* ---- time and patience ------------------------------------------------------- */

static inline uint64_t se_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SE_NS + (uint64_t)ts.tv_nsec;
}

/* An absolute CLOCK_MONOTONIC deadline so many milliseconds from now. */
static inline uint64_t se_in_ms(uint64_t ms)
{
	return se_now(CLOCK_MONOTONIC) + ms * 1000000ULL;
}

/* A deadline that only a hang meets, for waits of the main thread. */
static inline uint64_t se_patience(void)
{
	return se_in_ms(SE_HANG_S * 1000ULL);
}

static inline void se_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Look until @expr is true. False: it did not become so within the hang limit. */
#define se_until(expr) ({						\
	uint64_t __end = se_now(CLOCK_MONOTONIC) + SE_HANG_S * SE_NS;	\
	bool __ok;							\
									\
	while (!(__ok = (expr)) && se_now(CLOCK_MONOTONIC) < __end)	\
		se_sleep_ms(1);						\
	__ok;								\
})

/* Outputs start as 0xcc so that "was not written" can be told from "zero". */
static inline void se_poison(void *p, size_t size)
{
	memset(p, 0xcc, size);
}

static inline bool se_poisoned(const void *p, size_t size)
{
	const unsigned char *c = p;

	while (size && *c == 0xcc)
		c++, size--;
	return !size;
}

#define SE_POISON64	0xccccccccccccccccULL
#define SE_POISON32	0xccccccccU

/* How often: all of it, or the part that SE_PERCENT in the environment says. */
static inline unsigned int se_times(unsigned int full)
{
	const char *percent = getenv("SE_PERCENT");
	uint64_t n = percent ? (uint64_t)full * strtoul(percent, NULL, 10) / 100 : full;

	return n ? (unsigned int)n : 1;
}

/* ---- the ioctls ---------------------------------------------------------------- */

static inline int se_ioctl(int fd, unsigned long cmd, const void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

/* The device, opened once per process. */
static inline int se_dev(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = open(SE_DEV, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	return fd;
}

static inline int se_create_attr(const struct syncevent_create *attr)
{
	return se_ioctl(se_dev(), SYNCEVENT_IOC_CREATE, attr);
}

static inline int se_create_flags(uint64_t value, uint32_t flags)
{
	struct syncevent_create attr = { .value = value, .flags = flags };

	return se_create_attr(&attr);
}

static inline int se_create(uint64_t value)
{
	return se_create_flags(value, 0);
}

static inline int se_get(int fd, uint64_t *value)
{
	struct syncevent_value v;
	int ret;

	se_poison(&v, sizeof(v));
	ret = se_ioctl(fd, SYNCEVENT_IOC_GET, &v);
	*value = v.value;
	return ret;
}

static inline int se_set(int fd, uint64_t value)
{
	struct syncevent_value v = { .value = value };

	return se_ioctl(fd, SYNCEVENT_IOC_SET, &v);
}

static inline int se_add(int fd, uint64_t n, uint64_t *old)
{
	struct syncevent_add a = { .value = n, .old = SE_POISON64 };
	int ret = se_ioctl(fd, SYNCEVENT_IOC_ADD, &a);

	if (old)
		*old = a.old;
	return ret;
}

static inline int se_ring(int fd)
{
	return se_ioctl(fd, SYNCEVENT_IOC_RING, NULL);
}

/* @seen, if not NULL, gets what the kernel left there: SE_POISON64 if nothing. */
static inline int se_wait_mask(int fd, uint32_t cond, uint64_t operand, uint64_t mask,
			       uint64_t deadline, uint64_t *seen)
{
	struct syncevent_wait w = {
		.operand = operand, .mask = mask, .deadline = deadline,
		.value = SE_POISON64, .cond = cond,
	};
	int ret = se_ioctl(fd, SYNCEVENT_IOC_WAIT, &w);

	if (seen)
		*seen = w.value;
	return ret;
}

static inline int se_wait(int fd, uint32_t cond, uint64_t operand, uint64_t deadline,
			  uint64_t *seen)
{
	return se_wait_mask(fd, cond, operand, SE_ALL, deadline, seen);
}

static inline struct syncevent_wait_entry se_entry(int fd, uint32_t cond, uint64_t operand)
{
	struct syncevent_wait_entry e = {
		.fd = fd, .cond = cond, .operand = operand, .mask = SE_ALL,
		.value = SE_POISON64, .status = (int32_t)SE_POISON32,
	};

	return e;
}

static inline int se_wait_many(struct syncevent_wait_entry *entries, unsigned int count,
			       uint32_t flags, uint64_t deadline, uint32_t *index)
{
	struct syncevent_wait_many m = {
		.entries = (uintptr_t)entries, .deadline = deadline,
		.count = count, .flags = flags, .index = SE_POISON32,
	};
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_WAIT_MANY, &m);

	if (index)
		*index = m.index;
	return ret;
}

static inline int se_arm_mask(int fd, uint32_t cond, uint64_t operand, uint64_t mask)
{
	struct syncevent_arm a = { .operand = operand, .mask = mask, .cond = cond };

	return se_ioctl(fd, SYNCEVENT_IOC_ARM, &a);
}

static inline int se_arm(int fd, uint32_t cond, uint64_t operand)
{
	return se_arm_mask(fd, cond, operand, SE_ALL);
}

static inline int se_disarm(int fd)
{
	struct syncevent_arm a = { .flags = SYNCEVENT_ARM_CLEAR };

	return se_ioctl(fd, SYNCEVENT_IOC_ARM, &a);
}

static inline int se_dup(int fd, uint32_t flags)
{
	struct syncevent_dup d = { .flags = flags };

	return se_ioctl(fd, SYNCEVENT_IOC_DUP, &d);
}

static inline int se_info(int fd, struct syncevent_info *info)
{
	se_poison(info, sizeof(*info));
	return se_ioctl(fd, SYNCEVENT_IOC_INFO, info);
}

static inline int se_revoke(int fd)
{
	return se_ioctl(fd, SYNCEVENT_IOC_REVOKE, NULL);
}

static inline int se_queue(uint32_t flags)
{
	struct syncevent_queue_create q = { .flags = flags };

	return se_ioctl(se_dev(), SYNCEVENT_IOC_QUEUE, &q);
}

static inline int se_queue_add_mask(int q, int fd, uint32_t cond, uint64_t operand,
				    uint64_t mask, uint64_t cookie, uint64_t deadline)
{
	struct syncevent_queue_add a = {
		.cookie = cookie, .operand = operand, .mask = mask,
		.deadline = deadline, .fd = fd, .cond = cond,
	};

	return se_ioctl(q, SYNCEVENT_IOC_QUEUE_ADD, &a);
}

static inline int se_queue_add(int q, int fd, uint32_t cond, uint64_t operand,
			       uint64_t cookie, uint64_t deadline)
{
	return se_queue_add_mask(q, fd, cond, operand, SE_ALL, cookie, deadline);
}

static inline int se_queue_cancel(int q, uint64_t cookie)
{
	struct syncevent_queue_cancel c = { .cookie = cookie };

	return se_ioctl(q, SYNCEVENT_IOC_QUEUE_CANCEL, &c);
}

/* read(2) and write(2) of one value: 0 or a negative errno. */
static inline int se_read(int fd, uint64_t *value)
{
	ssize_t n;

	*value = SE_POISON64;
	n = read(fd, value, sizeof(*value));
	return n == sizeof(*value) ? 0 : n < 0 ? -errno : -EIO;
}

static inline int se_write(int fd, uint64_t n)
{
	ssize_t ret = write(fd, &n, sizeof(n));

	return ret == sizeof(n) ? 0 : ret < 0 ? -errno : -EIO;
}

/* read(2) of completions: how many, or a negative errno. */
static inline int se_reap(int q, struct syncevent_completion *done, unsigned int max)
{
	ssize_t n;

	se_poison(done, max * sizeof(*done));
	n = read(q, done, max * sizeof(*done));
	if (n < 0)
		return -errno;
	return n % (ssize_t)sizeof(*done) ? -EIO : (int)(n / (ssize_t)sizeof(*done));
}

/* The cell, or NULL with errno. */
static inline struct syncevent_cell *se_map(int fd, int prot)
{
	void *p = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* INFO.waiters, or a negative errno. */
static inline int64_t se_waiters(int fd)
{
	struct syncevent_info info;
	int ret = se_info(fd, &info);

	return ret < 0 ? ret : (int64_t)info.waiters;
}

/* INFO.wakes and INFO.rings; SE_MAX if INFO fails. */
static inline uint64_t se_wakes(int fd)
{
	struct syncevent_info info;

	return se_info(fd, &info) < 0 ? SE_MAX : info.wakes;
}

static inline uint64_t se_rings(int fd)
{
	struct syncevent_info info;

	return se_info(fd, &info) < 0 ? SE_MAX : info.rings;
}

static inline bool se_until_waiters(int fd, int64_t n)
{
	return se_until(se_waiters(fd) == n);
}

static inline int se_poll(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM };
	int ret = poll(&p, 1, timeout_ms);

	return ret < 0 ? -errno : p.revents;
}

/* ---- files of the kernel ----------------------------------------------------------- */

/* The first line of a file, without its end. */
static inline int se_read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		ret = -errno;
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return ret;
}

/* As a shell's > does. */
static inline int se_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), ret = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n != (ssize_t)strlen(text))
		ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

/* ---- tasks that sleep ------------------------------------------------------------ */

/*
 * The number of the system call in which a task sleeps interruptibly, else -1.
 * Unlike "it has begun to wait" this cannot be true too early.
 */
static inline long se_sleeps_in(pid_t pid, pid_t tid)
{
	char path[64], line[512], state = 0, *p;
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (!fgets(line, sizeof(line), f) || sscanf(line, "%ld", &nr) != 1)
		nr = -1;
	fclose(f);
	if (nr < 0)
		return -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(line, sizeof(line), f)) {
		p = strrchr(line, ')');
		if (p)
			state = p[2];
	}
	fclose(f);
	return state == 'S' ? nr : -1;
}

/* How often a task of this process has gone to sleep; -1: no such task. */
static inline long se_switches(pid_t tid)
{
	char path[64], line[256];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	fclose(f);
	return n;
}

/**
 * struct se_thread - a thread that makes one call
 * @fn: what it does
 * @arg: passed to @fn
 * @result: what @fn returned; of value once @done
 */
struct se_thread {
	pthread_t thread;
	int (*fn)(void *arg);
	void *arg;
	pid_t tid;
	int result;
	bool done;
};

static inline void *se_thread_main(void *arg)
{
	struct se_thread *t = arg;

	__atomic_store_n(&t->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	t->result = t->fn(t->arg);
	__atomic_store_n(&t->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns once the thread runs. Stacks are small: tests have thousands. */
static inline int se_start(struct se_thread *t, int (*fn)(void *arg), void *arg)
{
	pthread_attr_t attr;
	int ret;

	t->fn = fn;
	t->arg = arg;
	t->tid = 0;
	t->result = 0;
	t->done = false;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	ret = pthread_create(&t->thread, &attr, se_thread_main, t);
	pthread_attr_destroy(&attr);
	if (ret)
		return -ret;
	return se_until(__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE)) ? 0 : -ETIME;
}

static inline bool se_is_done(struct se_thread *t)
{
	return __atomic_load_n(&t->done, __ATOMIC_ACQUIRE);
}

/* False if it did not go to sleep in system call @nr within the hang limit. */
static inline bool se_until_sleeps_in(struct se_thread *t, long nr)
{
	return se_until(se_sleeps_in(getpid(), t->tid) == nr);
}

/* As above, in whatever call the library waits. */
static inline bool se_until_sleeps(struct se_thread *t)
{
	return se_until(se_sleeps_in(getpid(), t->tid) >= 0);
}

/* What fn returned, or SE_HUNG: a failure, whatever the test expects. */
#define SE_HUNG		INT_MIN

static inline int se_join(struct se_thread *t)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += SE_HANG_S;
	if (pthread_timedjoin_np(t->thread, NULL, &ts))
		return SE_HUNG;
	return t->result;
}

/* The scheduler gives others 5 % of the CPU of a real-time task, unless told not to. */
static inline int se_no_rt_throttling(void)
{
	return se_write_text("/proc/sys/kernel/sched_rt_runtime_us", "-1") ? -EPERM : 0;
}

/*
 * Between se_hold() and se_let_go() this thread has the CPU of task @tid, so that
 * whatever it does arrives at the sleeping task together. -EPERM: not root.
 */
static inline int se_hold(pid_t tid)
{
	struct sched_param prio = { .sched_priority = 10 };
	cpu_set_t one;

	if (se_no_rt_throttling())
		return -EPERM;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) ||
	    sched_setaffinity(tid, sizeof(one), &one))
		return -errno;
	return sched_setscheduler(0, SCHED_FIFO, &prio) ? -errno : 0;
}

static inline int se_let_go(void)
{
	struct sched_param prio = { .sched_priority = 0 };

	return sched_setscheduler(0, SCHED_OTHER, &prio) ? -errno : 0;
}

static inline void se_on_signal(int sig)
{
	(void)sig;
}

/* Take @sig by a handler that does nothing, with SA_RESTART or without. */
static inline void se_handle(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = se_on_signal, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

/**
 * struct se_waiter - a thread in one SYNCEVENT_IOC_WAIT
 * @w: its arguments and, once it ended, its answer
 */
struct se_waiter {
	struct se_thread t;
	int fd;
	struct syncevent_wait w;
};

static inline int se_waiter_fn(void *arg)
{
	struct se_waiter *w = arg;

	return se_ioctl(w->fd, SYNCEVENT_IOC_WAIT, &w->w);
}

static inline int se_waiter_start_mask(struct se_waiter *w, int fd, uint32_t cond,
				       uint64_t operand, uint64_t mask, uint64_t deadline)
{
	w->fd = fd;
	w->w = (struct syncevent_wait) {
		.operand = operand, .mask = mask, .deadline = deadline,
		.value = SE_POISON64, .cond = cond,
	};
	return se_start(&w->t, se_waiter_fn, w);
}

static inline int se_waiter_start(struct se_waiter *w, int fd, uint32_t cond, uint64_t operand)
{
	return se_waiter_start_mask(w, fd, cond, operand, SE_ALL, SE_FOREVER);
}

static inline bool se_waiter_parked(struct se_waiter *w)
{
	return se_until_sleeps_in(&w->t, SYS_ioctl);
}

/* What the ioctl returned, or SE_HUNG. */
static inline int se_waiter_join(struct se_waiter *w)
{
	return se_join(&w->t);
}

/* ---- processes -------------------------------------------------------------------- */

/* Run fn(arg) in a child; it exits with what fn returns, 0 to 255. */
static inline pid_t se_fork(int (*fn)(void *arg), void *arg)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(fn(arg));
	return pid;
}

/* Its exit status, -signal if a signal ended it, or SE_HUNG (it is then killed). */
static inline int se_wait_child(pid_t pid)
{
	int status;

	if (!se_until(waitpid(pid, &status, WNOHANG) != 0)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return SE_HUNG;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Its status is still there to be waited for. */
static inline bool se_has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* SCM_RIGHTS over a UNIX socket: 0 or a negative errno; a new fd or one. */
static inline int se_send_fd(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u = { .buf = "" };
	char byte = 'f';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.buf, .msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -errno;
}

static inline int se_recv_fd(int sock)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u = { .buf = "" };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.buf, .msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *c;
	int fd;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

#ifdef __SANITIZE_ADDRESS__
#include "asan_fork.h"
#endif

#endif /* SELFTESTS_COMMON_H */
