// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What one user can take from the machine: events, queue entries, memory, and
 * that all of it comes back however its processes end.
 *
 * Runs as root: it lowers the limits and becomes other users.
 */
#include "common.h"

#include <grp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PARAMETERS	"/sys/module/syncevent/parameters/"
#define CGROUP		"/sys/fs/cgroup"

/* Users that own nothing else. Each test takes its own. */
#define UID(n)		(40000 + (n))

static uint64_t dev_info(size_t offset)
{
	struct syncevent_dev_info d;
	uint64_t v;

	if (se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &d))
		return SE_MAX;
	memcpy(&v, (char *)&d + offset, sizeof(v));
	return v;
}

#define INFO(field) dev_info(offsetof(struct syncevent_dev_info, field))

static int become(uid_t uid)
{
	/* Dumpable, so that its own /proc files are its own. */
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return -errno;
	return 0;
}

FIXTURE(limits) {
	char events_max[32];
	char entries_max[32];
};

FIXTURE_SETUP(limits)
{
	struct rlimit many = { 70000, 70000 };

	ASSERT_EQ(0, geteuid()) TH_LOG("this test must be run by root");
	ASSERT_EQ(0, se_read_text(PARAMETERS "events_max", self->events_max, 32));
	ASSERT_EQ(0, se_read_text(PARAMETERS "entries_max", self->entries_max, 32));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &many));
}

FIXTURE_TEARDOWN(limits)
{
	EXPECT_EQ(0, se_write_text(PARAMETERS "events_max", self->events_max));
	EXPECT_EQ(0, se_write_text(PARAMETERS "entries_max", self->entries_max));
}

/*
 * What runs as another user runs in a child: it returns the line in which an
 * expectation was not met, or 0.
 */
#define WANT(expr) do { if (!(expr)) return want_failed(__LINE__, #expr); } while (0)

static int want_failed(int line, const char *expr)
{
	fprintf(stderr, "# limits.c:%d: not so: %s (errno %d)\n", line, expr, errno);
	return 1;
}

/* ---- events --------------------------------------------------------------------------- */

static int ten_events(void *arg)
{
	int fd[10], dup[20], extra;

	WANT(!become(UID(1)));
	WANT(INFO(events_max) == 10);
	WANT(INFO(events) == 0);
	for (int i = 0; i < 10; i++) {
		fd[i] = se_create(0);
		WANT(fd[i] >= 0);
		WANT(INFO(events) == (unsigned int)i + 1);
	}
	for (int i = 0; i < 5; i++) {
		extra = fcntl(se_dev(), F_DUPFD, 0);
		close(extra);
		WANT(se_create(0) == -EMFILE);
		WANT(INFO(events) == 10);
		WANT(fcntl(se_dev(), F_DUPFD, 0) == extra);
		close(extra);
	}
	/* Another file of an event is no other event. */
	for (int i = 0; i < 20; i++) {
		dup[i] = se_dup(fd[i % 10], 0);
		WANT(dup[i] >= 0);
	}
	WANT(INFO(events) == 10);
	for (int i = 0; i < 20; i++)
		close(dup[i]);
	WANT(INFO(events) == 10);
	close(fd[3]);
	WANT(INFO(events) == 9);
	fd[3] = se_create(0);
	WANT(fd[3] >= 0);
	WANT(se_create(0) == -EMFILE);
	/* A revoked event still takes memory until it is closed. */
	WANT(se_revoke(fd[5]) == 0);
	close(fd[5]);
	WANT(INFO(events) == 9);
	(void)arg;
	return 0;
}

static int one_event(void *arg)
{
	WANT(!become(UID(2)));
	WANT(INFO(events) == 0);
	WANT(se_create(0) >= 0);
	(void)arg;
	return 0;
}

TEST_F(limits, events_of_a_user)
{
	ASSERT_EQ(0, se_write_text(PARAMETERS "events_max", "10"));
	EXPECT_EQ(0, se_wait_child(se_fork(ten_events, NULL)));
	EXPECT_EQ(0, se_wait_child(se_fork(one_event, NULL)));
	/* They have exited and left nothing. */
	EXPECT_EQ(0, se_wait_child(se_fork(ten_events, NULL)));
}

/* A limit that is lowered below what is there refuses more, and breaks nothing. */
TEST_F(limits, lowered_below_what_is_there)
{
	int a = se_create(1), b = se_create(2);
	uint64_t v;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, se_write_text(PARAMETERS "events_max", "1"));
	EXPECT_EQ(-EMFILE, se_create(0));
	EXPECT_EQ(0, se_get(a, &v));
	EXPECT_EQ(1, v);
	ASSERT_EQ(0, se_write_text(PARAMETERS "events_max", "0"));
	EXPECT_EQ(-EMFILE, se_create(0));
	close(a);
	close(b);
	EXPECT_EQ(-EMFILE, se_create(0));
}

/* Nobody but root changes the limits. */
static int write_parameters(void *arg)
{
	static const char *const names[] = { "events_max", "entries_max", "silent_min_us",
					     "silent_max_us" };
	char path[128], text[32];

	WANT(!become(UID(3)));
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), PARAMETERS "%s", names[i]);
		WANT(se_write_text(path, "1") == -EACCES);
		WANT(se_read_text(path, text, sizeof(text)) == 0);
	}
	(void)arg;
	return 0;
}

TEST_F(limits, parameters_are_for_root)
{
	EXPECT_EQ(0, se_wait_child(se_fork(write_parameters, NULL)));
}

/* A user who makes himself root of a new namespace is still himself. */
static int in_user_namespaces(void *arg)
{
	char map[64];

	WANT(!become(UID(4)));
	for (int i = 0; i < 10; i++)
		WANT(se_create(0) >= 0);
	for (int depth = 0; depth < 3; depth++) {
		WANT(!unshare(CLONE_NEWUSER));
		snprintf(map, sizeof(map), "0 %u 1", depth ? 0 : UID(4));
		WANT(!se_write_text("/proc/self/uid_map", map));
		/* A user without a group there could not go one deeper. */
		WANT(!se_write_text("/proc/self/setgroups", "deny"));
		WANT(!se_write_text("/proc/self/gid_map", map));
		WANT(geteuid() == 0);
		WANT(INFO(events) == 10);
		WANT(se_create(0) == -EMFILE);
	}
	(void)arg;
	return 0;
}

TEST_F(limits, user_namespaces_do_not_evade)
{
	ASSERT_EQ(0, se_write_text(PARAMETERS "events_max", "10"));
	if (access("/proc/self/ns/user", F_OK))
		SKIP(return, "the kernel has no user namespaces");
	/* The first write opens it: only a process without other threads may. */
	EXPECT_EQ(0, se_wait_child(se_fork(in_user_namespaces, NULL)));
}

/* setuid(2) does not move what was counted, and who receives an event is not charged. */
static int pass_events(void *arg)
{
	int *sock = arg, fd;

	WANT(!become(UID(5)));
	for (int i = 0; i < 10; i++) {
		fd = se_create((unsigned int)i);
		WANT(fd >= 0);
		WANT(!se_send_fd(sock[0], fd));
		close(fd);
	}
	WANT(se_create(0) == -EMFILE);
	return 0;
}

static int count_and_fill(void *arg)
{
	WANT(!become(UID(5)));
	WANT(INFO(events) == *(uint64_t *)arg);
	for (uint64_t i = *(uint64_t *)arg; i < 10; i++)
		WANT(se_create(0) >= 0);
	WANT(se_create(0) == -EMFILE);
	return 0;
}

TEST_F(limits, the_creator_pays_until_the_last_file_is_closed)
{
	uint64_t mine = INFO(events), left = 10;
	int sock[2], fd[10];

	ASSERT_EQ(0, se_write_text(PARAMETERS "events_max", "10"));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	ASSERT_EQ(0, se_wait_child(se_fork(pass_events, sock)));
	/* In flight: no process has them. */
	EXPECT_EQ(0, se_wait_child(se_fork(count_and_fill, &left)));
	for (int i = 0; i < 10; i++) {
		fd[i] = se_recv_fd(sock[1]);
		ASSERT_LE(0, fd[i]);
	}
	EXPECT_EQ(mine, INFO(events));
	EXPECT_EQ(0, se_wait_child(se_fork(count_and_fill, &left)));
	for (int i = 0; i < 9; i++)
		close(fd[i]);
	left = 1;
	EXPECT_EQ(0, se_wait_child(se_fork(count_and_fill, &left)));
	/* A mapping holds the event as a file does. */
	ASSERT_NE(NULL, se_map(fd[9], PROT_READ));
	close(fd[9]);
	EXPECT_EQ(0, se_wait_child(se_fork(count_and_fill, &left)));
	close(sock[0]);
	close(sock[1]);
}

/* ---- however a process ends ------------------------------------------------------------ */

struct death {
	int ready;
	int how;
};

static int hold_everything(void *arg)
{
	struct death *d = arg;
	struct se_waiter w[4];
	int q;

	WANT(!become(UID(6)));
	q = se_queue(0);
	WANT(q >= 0);
	for (int i = 0; i < 100; i++) {
		int fd = se_create(0);
		struct syncevent_cell *cell;

		WANT(fd >= 0);
		cell = se_map(fd, PROT_READ | PROT_WRITE);
		WANT(cell);
		cell->value = 1;
		WANT(!se_queue_add(q, fd, SYNCEVENT_COND_EQ, 5, (unsigned int)i, SE_FOREVER));
		se_poll(fd, 0);
		if (i < 4)
			WANT(!se_waiter_start(&w[i], fd, SYNCEVENT_COND_EQ, 7));
		if (i & 1)
			close(fd);
	}
	WANT(INFO(events) == 100);
	WANT(INFO(entries) == 100);
	WANT(write(d->ready, "r", 1) == 1);
	if (d->how == 0)
		_exit(0);
	if (d->how == 1)
		abort();
	if (d->how == 2)
		return execl("/bin/true", "true", NULL) && execl("/bin/busybox", "true", NULL);
	for (;;)
		pause();
}

static int nothing_is_left(void *arg)
{
	WANT(!become(UID(6)));
	WANT(INFO(events) == 0);
	WANT(INFO(entries) == 0);
	(void)arg;
	return 0;
}

TEST_F(limits, every_death_gives_all_back)
{
	int p[2];
	char byte;

	ASSERT_EQ(0, pipe(p));
	for (int how = 0; how < 5; how++) {
		struct death d = { p[1], how };
		pid_t pid = se_fork(hold_everything, &d);

		ASSERT_EQ(1, read(p[0], &byte, 1));
		if (how == 3)
			kill(pid, SIGKILL);
		if (how == 4)
			kill(pid, SIGTERM);
		ASSERT_NE(SE_HUNG, se_wait_child(pid));
		EXPECT_EQ(0, se_wait_child(se_fork(nothing_is_left, NULL)))
			TH_LOG("death %d", how);
	}
}

/* ---- queue entries --------------------------------------------------------------------- */

static int five_entries(void *arg)
{
	struct syncevent_completion c;
	int fd, q1, q2;

	WANT(!become(UID(7)));
	WANT(INFO(entries_max) == 5);
	fd = se_create(0);
	q1 = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	q2 = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	WANT(fd >= 0 && q1 >= 0 && q2 >= 0);
	for (uint64_t i = 1; i <= 5; i++) {
		WANT(!se_queue_add(i & 1 ? q1 : q2, fd, SYNCEVENT_COND_GE, i, i, SE_FOREVER));
		WANT(INFO(entries) == i);
	}
	WANT(se_queue_add(q1, fd, SYNCEVENT_COND_EQ, 9, 9, SE_FOREVER) == -ENOSPC);
	WANT(se_queue_add(q2, fd, SYNCEVENT_COND_EQ, 0, 9, SE_FOREVER) == -ENOSPC);
	WANT(se_queue_cancel(q1, 9) == -ENOENT);
	WANT(se_waiters(fd) == 5);
	/* A cancelled one makes room, a completed one only once it is read. */
	WANT(!se_queue_cancel(q1, 5));
	WANT(INFO(entries) == 4);
	WANT(!se_queue_add(q2, fd, SYNCEVENT_COND_EQ, 0, 9, SE_FOREVER));
	WANT(se_queue_add(q2, fd, SYNCEVENT_COND_EQ, 0, 10, SE_FOREVER) == -ENOSPC);
	WANT(se_reap(q2, &c, 1) == 1 && c.cookie == 9);
	WANT(INFO(entries) == 4);
	WANT(!se_queue_add(q1, fd, SYNCEVENT_COND_EQ, 0, 10, SE_FOREVER));
	close(q1);
	WANT(INFO(entries) == 2);
	/* The event's end ends no entry before it is read. */
	WANT(!se_revoke(fd));
	WANT(INFO(entries) == 2);
	close(fd);
	WANT(se_reap(q2, &c, 1) == 1 && c.status == -EIDRM);
	WANT(INFO(entries) == 1);
	close(q2);
	WANT(INFO(entries) == 0);
	(void)arg;
	return 0;
}

TEST_F(limits, entries_of_a_user)
{
	ASSERT_EQ(0, se_write_text(PARAMETERS "entries_max", "5"));
	EXPECT_EQ(0, se_wait_child(se_fork(five_entries, NULL)));
	EXPECT_EQ(0, se_wait_child(se_fork(five_entries, NULL)));
}

/* ---- file descriptors ------------------------------------------------------------------- */

TEST_F(limits, no_free_file_descriptor)
{
	uint64_t events = INFO(events);
	int fd = se_create(0), full;
	struct rlimit few;

	ASSERT_LE(0, fd);
	full = dup(fd);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &few));
	few.rlim_cur = (rlim_t)full + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(-EMFILE, se_create(0));
		ASSERT_EQ(-EMFILE, se_dup(fd, SYNCEVENT_DUP_RDONLY));
		ASSERT_EQ(-EMFILE, se_queue(0));
	}
	EXPECT_EQ(events + 1, INFO(events));
	close(full);
	close(fd);
	EXPECT_EQ(events, INFO(events));
}

/* ---- memory ------------------------------------------------------------------------------ */

#define GROUP		CGROUP "/syncevent-limits"
#define EVENTS		1000

static bool have_memcg(void)
{
	char controllers[256];

	mkdir(CGROUP, 0755);
	if (se_read_text(CGROUP "/cgroup.controllers", controllers, sizeof(controllers)) ||
	    !strstr(controllers, "memory"))
		return false;
	return !se_write_text(CGROUP "/cgroup.subtree_control", "+memory");
}

static uint64_t memory_current(void)
{
	char text[32];

	return se_read_text(GROUP "/memory.current", text, sizeof(text)) ? SE_MAX :
	       strtoull(text, NULL, 10);
}

static int enter_group(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	return se_write_text(GROUP "/cgroup.procs", pid);
}

static int thousand_events(void *arg)
{
	static int fd[EVENTS];
	uint64_t before, with;

	WANT(!enter_group());
	memset(fd, 0, sizeof(fd));
	before = memory_current();
	for (int i = 0; i < EVENTS; i++) {
		fd[i] = se_create((unsigned int)i);
		WANT(fd[i] >= 0);
	}
	with = memory_current();
	printf("# memory.current: %llu without, %llu with %d events\n",
	       (unsigned long long)before, (unsigned long long)with, EVENTS);
	fflush(stdout);
	/* The pages alone; the counter lags by a batch of pages for each CPU. */
	WANT(with > before + EVENTS * 4096ULL * 9 / 10);
	for (int i = 0; i < EVENTS; i++)
		close(fd[i]);
	WANT(se_until(memory_current() < with - EVENTS * 4096ULL * 9 / 10));
	(void)arg;
	return 0;
}

TEST_F(limits, memory_is_charged_to_the_cgroup)
{
	if (!have_memcg())
		SKIP(return, "the kernel has no memory controller");
	ASSERT_EQ(0, mkdir(GROUP, 0755));
	EXPECT_EQ(0, se_wait_child(se_fork(thousand_events, NULL)));
	EXPECT_TRUE(se_until(!rmdir(GROUP)));
}

/* Exits 0 if it was refused, 2 if there was room for all. */
static int too_many_events(void *arg)
{
	WANT(!enter_group());
	WANT(!become(UID(8)));
	for (int i = 0; i < 20000; i++) {
		int fd = se_create(0);

		if (fd == -ENOMEM)
			return 0;
		WANT(fd >= 0);
	}
	(void)arg;
	return 2;
}

static int no_events(void *arg)
{
	WANT(!become(UID(8)));
	WANT(INFO(events) == 0);
	WANT(se_create(0) >= 0);
	(void)arg;
	return 0;
}

/* A cgroup that is full: the creator is refused or killed, and only it. */
TEST_F(limits, a_small_cgroup_holds)
{
	int ret;

	if (!have_memcg())
		SKIP(return, "the kernel has no memory controller");
	ASSERT_EQ(0, mkdir(GROUP, 0755));
	ASSERT_EQ(0, se_write_text(GROUP "/memory.max", "8M"));
	ret = se_wait_child(se_fork(too_many_events, NULL));
	EXPECT_TRUE(ret == 0 || ret == -SIGKILL) TH_LOG("it ended with %d", ret);
	EXPECT_EQ(0, se_wait_child(se_fork(no_events, NULL)));
	EXPECT_TRUE(se_until(!rmdir(GROUP)));
}

TEST_HARNESS_MAIN
