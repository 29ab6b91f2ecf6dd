// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * watch_life.c - poll fds and wait queues of the shm provider where something ends:
 * deadlines, handles, queues, publishers, files, the process that forks
 */
#include "shm.h"

#include <dirent.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include <syncevent/cell.h>

#define ALL	UINT64_MAX
#define HANG_MS	(SE_HANG_S * 1000)

/*
 * gcc's thread sanitizer takes the threads of a parent for those of its child, and
 * ends a child that makes one at the address of one of them.
 */
#ifdef __SANITIZE_THREAD__
#define CHILDREN_MAKE_THREADS()	SKIP(return, "not with this sanitizer")
#else
#define CHILDREN_MAKE_THREADS()	do { } while (0)
#endif

/*
 * gcc's address sanitizer does not take the locks of its malloc() around a fork: a child
 * of a process whose other threads allocate may find them taken for ever.
 */
#ifdef __SANITIZE_ADDRESS__
#define FORK_WHILE_OTHERS_ALLOCATE()	SKIP(return, "not with this sanitizer")
#else
#define FORK_WHILE_OTHERS_ALLOCATE()	do { } while (0)
#endif

static int readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) < 0 ? -errno : pfd.revents;
}

static int add(struct syncevent_queue *q, struct syncevent *ev, enum syncevent_cond cond,
	       uint64_t operand, uint64_t cookie)
{
	return syncevent_queue_add(q, ev, cond, operand, ALL, cookie, SYNCEVENT_FOREVER);
}

/* Its cookie; -ETIMEDOUT: it hung; other errors: its status. */
static int reap_one(struct syncevent_queue *q)
{
	struct syncevent_done done;
	int ret = syncevent_queue_reap(q, &done, 1, se_patience());

	return ret < 0 ? ret : done.status ? done.status : (int)done.cookie;
}

static int open_files(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int c, n = 0;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/* The thread of the library; 0: there is none. */
static pid_t helper(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	pid_t found = 0;

	while (dir && (entry = readdir(dir))) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f) && !strcmp(name, "syncevent\n"))
			found = (pid_t)atoi(entry->d_name);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* ---- handles, queues, files ----------------------------------------------------------- */

TEST(nothing_is_left)
{
	struct syncevent_done done;
	struct syncevent_queue *q;
	struct syncevent *ev, *other;
	int i, files = 0, maps = 0;

	for (i = 0; i < 200; i++) {
		ev = make(0);
		ASSERT_NE(NULL, ev);
		ASSERT_EQ(0, syncevent_dup(&other, ev, i % 2 ? SYNCEVENT_RDONLY : 0));
		ASSERT_EQ(0, syncevent_queue_create(&q));
		ASSERT_LT(2, syncevent_poll_fd(other));
		ASSERT_EQ(0, add(q, other, SYNCEVENT_GT, 0, 1));
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GT, 0, 7, 2, se_patience()));
		ASSERT_EQ(0, add(q, other, SYNCEVENT_GT, 9, 3));
		syncevent_close(other);
		ASSERT_EQ(0, syncevent_set(ev, 1));
		ASSERT_EQ(1, syncevent_queue_reap(q, &done, 1, se_patience()));
		/* With entries that wait, one not reaped, before or after the event. */
		if (i % 4 < 2)
			syncevent_close(ev);
		syncevent_queue_close(q);
		if (i % 4 >= 2)
			syncevent_close(ev);
		if (i == 100) {
			files = open_files();
			maps = mappings();
		}
	}
	ASSERT_EQ(files, open_files());
	/* malloc() may have needed more. */
	ASSERT_GE(maps + 10, mappings());
}

/* An entry outlives the handle by which it was added. */
TEST(closed_while_pending)
{
	struct syncevent *ev = make(0), *other, *again;
	struct syncevent_queue *q;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, 1, 1));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_NEQ, 0, 2));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_EQ, 7, 3));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_EQ, 8, 4));
	syncevent_close(ev);
	ASSERT_EQ(-ETIMEDOUT, syncevent_queue_reap(q, &(struct syncevent_done){ 0 }, 1, 0));
	ASSERT_EQ(0, syncevent_set(other, 1));
	ASSERT_EQ(3, reap_one(q) + reap_one(q));
	ASSERT_EQ(0, syncevent_queue_cancel(q, 3));
	/* The last entry goes by the last update that this process can make. */
	ASSERT_EQ(0, syncevent_dup(&again, other, 0));
	syncevent_close(other);
	ASSERT_EQ(0, syncevent_revoke(again));
	ASSERT_EQ(-EIDRM, reap_one(q));
	syncevent_close(again);
	syncevent_queue_close(q);
}

/* The memory of the caller may be gone with the handle. */
TEST(closed_on_the_callers_memory)
{
	uint64_t *memory = shared(4096);
	struct syncevent_attr attr = { .size = sizeof(attr), .addr = memory };
	struct syncevent_queue *q;
	struct syncevent *ev, *other;

	ASSERT_NE(NULL, memory);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(0, add(q, other, SYNCEVENT_EQ, 1, 2));
	ASSERT_LT(2, syncevent_poll_fd(ev));
	syncevent_close(ev);
	ASSERT_EQ(-EIDRM, reap_one(q));
	__atomic_store_n(memory, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(2, reap_one(q));
	ASSERT_EQ(0, add(q, other, SYNCEVENT_EQ, 2, 3));
	syncevent_close(other);
	munmap(memory, 4096);
	ASSERT_EQ(-EIDRM, reap_one(q));
	syncevent_queue_close(q);
}

TEST(revoked_while_pending)
{
	static const enum syncevent_cond conds[] = {
		SYNCEVENT_EQ, SYNCEVENT_GT, SYNCEVENT_GE, SYNCEVENT_NEQ,
	};
	struct syncevent *ev = make(0), *other;
	struct syncevent_queue *q;
	unsigned int i, by;

	never_recheck = true;
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (by = 0; by < 2; by++) {
		ASSERT_EQ(0, syncevent_dup(&other, ev, 0));
		for (i = 0; i < 4; i++)
			ASSERT_EQ(0, syncevent_queue_add(q, ev, conds[i],
							 conds[i] == SYNCEVENT_NEQ ? 0 : 3, ALL,
							 i, i % 2 ? se_patience() : SE_FOREVER));
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 4, 4, 8, SE_FOREVER));
		ASSERT_EQ(0, syncevent_revoke(by ? ev : other));
		for (i = 0; i < 5; i++)
			ASSERT_EQ(-EIDRM, reap_one(q));
		syncevent_close(other);
		syncevent_close(ev);
		ev = make(0);
		ASSERT_NE(NULL, ev);
	}
	syncevent_queue_close(q);
	syncevent_close(ev);
}

/* Deadlines come in their order, whatever the order in which they were added. */
TEST(deadlines_in_order)
{
	enum { N = 200 };
	struct syncevent *ev = make(0);
	struct syncevent_done done[N];
	struct syncevent_queue *q;
	uint64_t start, lead = 10, i, n = 0;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	/* All have to be there before the first has passed. */
	for (;;) {
		start = se_in_ms(lead *= 2);
		ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 1, ALL, N, se_patience()));
		for (i = 0; i < N; i++)
			ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 1, ALL, i * 77 % N,
							 start + i * 77 % N * 100000));
		if (se_now(CLOCK_MONOTONIC) < start)
			break;
		ASSERT_LT(lead, HANG_MS);
		syncevent_queue_close(q);
		ASSERT_EQ(0, syncevent_queue_create(&q));
	}
	while (n < N) {
		int got = syncevent_queue_reap(q, done, N, se_patience());

		ASSERT_LT(0, got);
		for (i = 0; i < (uint64_t)got; i++, n++) {
			ASSERT_EQ(n, done[i].cookie);
			ASSERT_EQ(-ETIMEDOUT, done[i].status);
			ASSERT_EQ(0, done[i].value);
			ASSERT_LE(start + n * 100000, se_now(CLOCK_MONOTONIC));
		}
	}
	ASSERT_EQ(0, syncevent_queue_cancel(q, N));
	/* One that has passed, of a condition that holds or not. */
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 1, ALL, 1, 1));
	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_EQ, 0, ALL, 2, 0));
	ASSERT_EQ(2, syncevent_queue_reap(q, done, N, 0));
	ASSERT_EQ(-ETIMEDOUT, done[0].status);
	ASSERT_EQ(0, done[1].status);
	syncevent_queue_close(q);
	syncevent_close(ev);
}

TEST(errors_in_order)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(-EINVAL, add(q, ev, SYNCEVENT_LE + 1, 0, 1));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EEXIST, add(q, ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(-EIDRM, add(q, ev, SYNCEVENT_EQ, 1, 2));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

/* Who may write the page may take an end back in it. It stays one: all have been told. */
TEST(an_end_that_is_taken_back)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q;
	uint32_t *state, live;

	ASSERT_NE(NULL, ev);
	state = &syncevent_cell(ev)->state;
	live = *state;
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, 1, 1));
	__atomic_store_n(state, live - SYNCEVENT_STATE_LIVE + SYNCEVENT_STATE_REVOKED,
			 __ATOMIC_RELAXED);
	ASSERT_EQ(-EIDRM, reap_one(q));
	__atomic_store_n(state, live, __ATOMIC_RELAXED);
	EXPECT_EQ(-EIDRM, add(q, ev, SYNCEVENT_GE, 1, 2));
	EXPECT_EQ(-EIDRM, syncevent_queue_add(q, ev, SYNCEVENT_NEQ, 0, ALL, 3, se_patience()));
	EXPECT_EQ(-EIDRM, syncevent_poll_fd(ev));
	EXPECT_EQ(-EIDRM, syncevent_arm(ev, SYNCEVENT_EQ, 1, ALL));
	EXPECT_EQ(-EIDRM, syncevent_disarm(ev));
	EXPECT_EQ(-EIDRM, syncevent_read(ev, NULL));
	syncevent_close(ev);
	EXPECT_EQ(-ENOENT, syncevent_queue_cancel(q, 2));
	syncevent_queue_close(q);
}

TEST(no_file_descriptor_left)
{
	struct syncevent *ev = make(0);
	struct rlimit limit;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = (rlim_t)syncevent_fd(ev) + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(0) >= 0)
		;
	ASSERT_EQ(-EMFILE, syncevent_poll_fd(ev));
	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_EQ, 0, ALL));
	ASSERT_EQ(0, syncevent_read(ev, NULL));
	limit.rlim_cur++;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(POLLIN, readable(syncevent_poll_fd(ev), 0));
	syncevent_close(ev);
}

TEST(no_thread_can_be_made)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q = NULL;
	struct rlimit limit = { 0, 0 };

	ASSERT_NE(NULL, ev);
	/* The limit is not root's. */
	if (!getuid())
		ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	ASSERT_EQ(0, setrlimit(RLIMIT_NPROC, &limit));
	ASSERT_EQ(-EAGAIN, syncevent_poll_fd(ev));
	ASSERT_EQ(-EAGAIN, syncevent_queue_create(&q));
	ASSERT_EQ(NULL, q);
	syncevent_close(ev);
}

/* Cancelled before, a thread may end only where it leaves nothing behind. */
static void *add_cancelled(void *arg)
{
	struct syncevent_queue *q = ((void **)arg)[0];
	struct syncevent *ev = ((void **)arg)[1];

	pthread_cancel(pthread_self());
	add(q, ev, SYNCEVENT_EQ, 0, 1);
	return NULL;
}

TEST(cancelled_in_the_library)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q;
	void *arg[2];
	pthread_t t;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	arg[0] = q;
	arg[1] = ev;
	ASSERT_EQ(0, pthread_create(&t, NULL, add_cancelled, arg));
	ASSERT_EQ(0, pthread_join(t, NULL));
	ASSERT_EQ(1, reap_one(q));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

/* Files that look like an eventfd to fstat(2), with something to be read. */
static int new_timer(void)
{
	const struct itimerspec at_once = { .it_value.tv_nsec = 1 };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	return timerfd_settime(fd, 0, &at_once, NULL) || readable(fd, HANG_MS) != POLLIN ? -1 : fd;
}

static bool same_file(int a, int b)
{
	return syscall(SYS_kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, a, b) == 0;
}

/* A child gets eventfds in place of those of its parent's library, and of no others. */
static int still_has_both(void *arg)
{
	const int *fds = arg;

	return !same_file(fds[0], fds[1]) || !same_file(fds[2], fds[3]);
}

static int numbers_taken(void *arg)
{
	int (*const *make_file)(void) = arg;
	struct syncevent *ev = make(0), *other;
	struct syncevent_queue *q;
	int fds[4], fd;

	if (!ev || syncevent_dup(&other, ev, 0) || syncevent_queue_create(&q))
		return 1;
	fds[0] = syncevent_poll_fd(ev);
	fds[2] = syncevent_queue_fd(q);
	/* Both are on: they would be read away. */
	if (add(q, ev, SYNCEVENT_GT, 0, 1) || syncevent_set(other, 1) ||
	    readable(fds[0], HANG_MS) != POLLIN || readable(fds[2], HANG_MS) != POLLIN)
		return 2;
	for (fd = 3; fd < 256; fd++)
		close(fd);
	fds[1] = fcntl((*make_file)(), F_DUPFD, 256);
	fds[3] = fcntl((*make_file)(), F_DUPFD, 256);
	if (fds[1] < 0 || fds[3] < 0 ||
	    dup2(fds[1], fds[0]) != fds[0] || dup2(fds[3], fds[2]) != fds[2])
		return 3;
	if (se_wait_child(se_fork(still_has_both, fds)))
		return 4;
	if (syncevent_read(ev, NULL) || reap_one(q) != 1)
		return 5;
	if (readable(fds[1], 0) != POLLIN || readable(fds[3], 0) != POLLIN)
		return 6;
	syncevent_queue_close(q);
	syncevent_close(ev);
	return still_has_both(fds) ? 7 : 0;
}

static int new_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	return epoll_ctl(fd, EPOLL_CTL_ADD, fcntl(new_timer(), F_DUPFD, 300), &e) ? -1 : fd;
}

static int new_counter(void)
{
	return eventfd(1, 0);
}

/* What took the numbers of eventfds over is neither written nor closed. */
static int all_files_closed(void *arg)
{
	struct syncevent *ev = make(0), *other;
	struct syncevent_queue *q;
	int fd, file, poll_fd, queue_fd;
	struct stat st;

	(void)arg;
	if (!ev || syncevent_dup(&other, ev, 0) || syncevent_queue_create(&q))
		return 1;
	poll_fd = syncevent_poll_fd(ev);
	queue_fd = syncevent_queue_fd(q);
	if (add(q, ev, SYNCEVENT_GT, 0, 1))
		return 2;
	for (fd = 3; fd < 256; fd++)
		close(fd);
	/* Not the number of the event, which the library closes. */
	file = fcntl(memfd_create("file", 0), F_DUPFD, 256);
	if (dup2(file, poll_fd) != poll_fd || dup2(file, queue_fd) != queue_fd)
		return 3;
	if (syncevent_set(other, 1) || reap_one(q) != 1 || syncevent_read(ev, NULL))
		return 4;
	if (syncevent_set(ev, 2) || add(q, ev, SYNCEVENT_GT, 0, 1))
		return 5;
	syncevent_queue_close(q);
	syncevent_close(ev);
	if (fstat(poll_fd, &st) || st.st_size || fstat(queue_fd, &st) || st.st_size)
		return 6;
	return lseek(file, 0, SEEK_CUR) ? 7 : 0;
}

TEST(files_of_others_are_left_alone)
{
	ASSERT_EQ(0, se_wait_child(se_fork(all_files_closed, NULL)));
}

TEST(what_looks_like_an_eventfd_is_left_alone)
{
	static int (*const kinds[])(void) = { new_timer, new_epoll, new_counter };
	unsigned int i;

	CHILDREN_MAKE_THREADS();
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		ASSERT_EQ(0, se_wait_child(se_fork(numbers_taken, (void *)&kinds[i])));
}

static struct syncevent *on_memory(uint64_t *memory)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .addr = memory };
	struct syncevent *ev;

	return syncevent_create(&ev, &attr) ? NULL : ev;
}

/* A number that was closed is the next eventfd's: what had it before leaves that alone. */
TEST(numbers_taken_by_each_other)
{
	uint64_t memory[3] = { 0 };
	struct syncevent *ev[3], *other;
	struct syncevent_queue *q;
	int fd, i;

	for (i = 0; i < 3; i++) {
		ev[i] = on_memory(&memory[i]);
		ASSERT_NE(NULL, ev[i]);
	}
	/* An event's. */
	fd = syncevent_poll_fd(ev[0]);
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(fd, syncevent_poll_fd(ev[1]));
	ASSERT_EQ(0, syncevent_set(ev[0], 1));
	EXPECT_EQ(0, readable(fd, 0));
	ASSERT_EQ(0, syncevent_set(ev[1], 1));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	EXPECT_EQ(0, syncevent_read(ev[0], NULL));
	EXPECT_EQ(POLLIN, readable(fd, 0));
	EXPECT_EQ(0, syncevent_arm(ev[0], SYNCEVENT_EQ, 1, ALL));
	EXPECT_EQ(0, syncevent_arm(ev[0], SYNCEVENT_EQ, 2, ALL));
	EXPECT_EQ(POLLIN, readable(fd, 0));
	/* It gets another one. */
	i = syncevent_poll_fd(ev[0]);
	EXPECT_LT(2, i);
	EXPECT_NE(fd, i);
	EXPECT_EQ(0, readable(i, 0));
	EXPECT_EQ(0, syncevent_set(ev[0], 2));
	EXPECT_EQ(POLLIN, readable(i, HANG_MS));
	syncevent_close(ev[0]);
	EXPECT_EQ(POLLIN, readable(fd, 0));

	/* A queue's, which goes on. */
	ASSERT_EQ(0, syncevent_queue_create(&q));
	fd = syncevent_queue_fd(q);
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(fd, syncevent_poll_fd(ev[2]));
	ASSERT_EQ(0, syncevent_set(ev[2], 1));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	ASSERT_EQ(0, syncevent_dup(&other, ev[2], 0));
	EXPECT_EQ(0, add(q, other, SYNCEVENT_GT, 0, 1));
	EXPECT_EQ(1, reap_one(q));
	EXPECT_EQ(POLLIN, readable(fd, 0));
	syncevent_queue_close(q);
	EXPECT_EQ(POLLIN, readable(fd, 0));
	for (i = 1; i < 3; i++)
		syncevent_close(ev[i]);
	syncevent_close(other);
}

/* The thread takes no signal of the program's. */
TEST(signals_are_blocked)
{
	struct syncevent_queue *q;
	unsigned long long blocked = 0;
	char path[64], line[256];
	FILE *f;

	ASSERT_EQ(0, helper());
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_TRUE(se_until(helper()));
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", helper());
	f = fopen(path, "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	fclose(f);
	/* All but KILL, STOP and the C library's own two. */
	ASSERT_EQ(0xfffffffe7ffbfeffULL, blocked & 0xfffffffe7ffbfeffULL);
	syncevent_queue_close(q);
}

/* ---- other processes ------------------------------------------------------------------- */

struct both {
	struct syncevent *ev;
	struct syncevent_queue *q;
	int fd;
};

static int update(void *arg)
{
	return syncevent_add(arg, 1, NULL) ? 1 : 0;
}

/* Dies where it would have to ring. */
static int update_and_die(void *arg)
{
	if (syncevent_cell_add(syncevent_cell(arg), 1, NULL))
		raise(SIGKILL);
	return 0;
}

TEST(updated_by_another_process)
{
	struct syncevent *ev = make(0);
	struct syncevent_queue *q;
	int fd;

	CHILDREN_MAKE_THREADS();
	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	fd = syncevent_poll_fd(ev);
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, 1, 1));
	ASSERT_EQ(0, add(q, ev, SYNCEVENT_GE, 2, 2));
	ASSERT_EQ(0, se_wait_child(se_fork(update, ev)));
	ASSERT_EQ(1, reap_one(q));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	ASSERT_EQ(0, syncevent_read(ev, NULL));
	ASSERT_EQ(0, readable(fd, 0));
	ASSERT_EQ(-SIGKILL, se_wait_child(se_fork(update_and_die, ev)));
	ASSERT_EQ(2, reap_one(q));
	ASSERT_EQ(POLLIN, readable(fd, HANG_MS));
	syncevent_queue_close(q);
	syncevent_close(ev);
}

/* ---- fork ------------------------------------------------------------------------------- */

/* What was there at the fork. */
static int take_inherited(void *arg)
{
	struct both *b = arg;
	uint64_t v;

	if (readable(b->fd, 0) != POLLIN || syncevent_read(b->ev, &v) || v != 1)
		return 1;
	if (readable(b->fd, 0) != 0)
		return 2;
	if (readable(syncevent_queue_fd(b->q), 0) != POLLIN || reap_one(b->q) != 1)
		return 3;
	if (readable(syncevent_queue_fd(b->q), 0) != 0 || fcntl(b->fd, F_GETFD) != FD_CLOEXEC)
		return 4;
	return 0;
}

static int use_inherited(void *arg)
{
	struct both *b = arg;
	struct syncevent *other;

	if (take_inherited(b))
		return 1;
	/* What comes: the fds tell without a call that could make a thread. */
	if (!se_until(helper()) || syncevent_dup(&other, b->ev, 0) || syncevent_set(other, 2))
		return 5;
	if (readable(b->fd, HANG_MS) != POLLIN ||
	    readable(syncevent_queue_fd(b->q), HANG_MS) != POLLIN)
		return 6;
	if (reap_one(b->q) != 2 || add(b->q, b->ev, SYNCEVENT_GE, 3, 1))
		return 7;
	if (syncevent_set(other, 3) || reap_one(b->q) != 1)
		return 8;
	syncevent_close(other);
	syncevent_queue_close(b->q);
	syncevent_close(b->ev);
	return 0;
}

TEST(a_child_has_copies)
{
	struct both b;
	uint64_t v;

	CHILDREN_MAKE_THREADS();
	never_recheck = true;
	b.ev = make(0);
	ASSERT_NE(NULL, b.ev);
	ASSERT_EQ(0, syncevent_queue_create(&b.q));
	b.fd = syncevent_poll_fd(b.ev);
	ASSERT_EQ(0, add(b.q, b.ev, SYNCEVENT_EQ, 1, 1));
	ASSERT_EQ(0, add(b.q, b.ev, SYNCEVENT_EQ, 2, 2));
	ASSERT_EQ(0, add(b.q, b.ev, SYNCEVENT_EQ, 3, 3));
	ASSERT_EQ(0, syncevent_set(b.ev, 1));
	ASSERT_EQ(POLLIN, readable(b.fd, HANG_MS));
	ASSERT_EQ(POLLIN, readable(syncevent_queue_fd(b.q), HANG_MS));

	ASSERT_EQ(0, se_wait_child(se_fork(take_inherited, &b)));
	/* It has taken nothing from here. */
	ASSERT_EQ(POLLIN, readable(b.fd, 0));
	ASSERT_EQ(POLLIN, readable(syncevent_queue_fd(b.q), 0));
	ASSERT_EQ(0, se_wait_child(se_fork(use_inherited, &b)));

	/* What it did was seen here as well. */
	ASSERT_EQ(POLLIN, readable(b.fd, 0));
	ASSERT_EQ(0, syncevent_read(b.ev, &v));
	ASSERT_EQ(3, v);
	ASSERT_EQ(1, reap_one(b.q));
	/* 2 came and went, and may have been seen. */
	v = (uint64_t)reap_one(b.q);
	ASSERT_TRUE(v == 2 || v == 3);
	syncevent_queue_close(b.q);
	syncevent_close(b.ev);
}

/* ---- who is woken --------------------------------------------------------------- */

TEST(who_watches_in_this_process_is_told_by_the_publisher)
{
	struct both b = { .ev = make(0) };
	struct syncevent *other;
	unsigned long before;

	ASSERT_NE(NULL, b.ev);
	never_recheck = true;
	ASSERT_EQ(0, syncevent_queue_create(&b.q));
	ASSERT_EQ(0, syncevent_dup(&other, b.ev, 0));
	ASSERT_EQ(0, add(b.q, b.ev, SYNCEVENT_GE, 1, 1));
	ASSERT_EQ(0, add(b.q, b.ev, SYNCEVENT_GE, 2, 2));
	ASSERT_TRUE(se_until(helper() && asleep(getpid(), helper())));
	before = __atomic_load_n(&futex_wakes, __ATOMIC_RELAXED);
	/* By another handle; and who is left has asked again. */
	ASSERT_EQ(0, syncevent_set(other, 1));
	ASSERT_EQ(POLLIN, readable(syncevent_queue_fd(b.q), 0));
	ASSERT_EQ(1, reap_one(b.q));
	ASSERT_EQ(0, syncevent_set(other, 2));
	ASSERT_EQ(POLLIN, readable(syncevent_queue_fd(b.q), 0));
	ASSERT_EQ(2, reap_one(b.q));
	/* Once each for those who sleep on seq, and not for the thread. */
	ASSERT_EQ(before + 2, __atomic_load_n(&futex_wakes, __ATOMIC_RELAXED));
	syncevent_queue_close(b.q);
	syncevent_close(other);
	syncevent_close(b.ev);
}

struct two {
	struct both b;
	bool *ready;
};

static int watch_as_well(void *arg)
{
	struct two *two = arg;
	struct syncevent_queue *q;

	if (syncevent_queue_create(&q) || add(q, two->b.ev, SYNCEVENT_GE, 1, 1))
		return 1;
	if (!se_until(helper() && asleep(getpid(), helper())))
		return 2;
	__atomic_store_n(two->ready, true, __ATOMIC_RELEASE);
	return reap_one(q) == 1 ? 0 : 3;
}

TEST(who_watches_in_two_processes_is_told_in_both)
{
	struct two two = { .b.ev = make(0), .ready = shared(sizeof(bool)) };
	pid_t child;

	CHILDREN_MAKE_THREADS();
	ASSERT_NE(NULL, two.b.ev);
	ASSERT_NE(NULL, two.ready);
	never_recheck = true;
	ASSERT_EQ(0, syncevent_queue_create(&two.b.q));
	ASSERT_EQ(0, add(two.b.q, two.b.ev, SYNCEVENT_GE, 1, 1));
	child = se_fork(watch_as_well, &two);
	ASSERT_LT(0, child);
	ASSERT_TRUE(se_until(__atomic_load_n(two.ready, __ATOMIC_ACQUIRE)));
	ASSERT_EQ(0, syncevent_set(two.b.ev, 1));
	ASSERT_EQ(0, se_wait_child(child));
	ASSERT_EQ(1, reap_one(two.b.q));
	syncevent_queue_close(two.b.q);
	syncevent_close(two.b.ev);
}

struct busy {
	struct se_thread t;
	struct both *b;
	uint64_t cookie;
	bool stop;
};

/* Whatever takes the lock, all the time. */
static int busy_fn(void *arg)
{
	struct busy *busy = arg;
	struct both *b = busy->b;
	struct syncevent_done done;
	struct syncevent_queue *q;
	struct syncevent *ev;

	while (!__atomic_load_n(&busy->stop, __ATOMIC_RELAXED)) {
		if (syncevent_add(b->ev, 1, NULL) || syncevent_queue_create(&q) ||
		    syncevent_dup(&ev, b->ev, 0) || syncevent_poll_fd(ev) < 0)
			return -1;
		add(q, ev, SYNCEVENT_NEQ, 0, 1);
		add(b->q, ev, SYNCEVENT_LT, 0, busy->cookie);
		syncevent_queue_reap(q, &done, 1, 0);
		(void)syncevent_read(b->ev, NULL);
		syncevent_queue_cancel(b->q, busy->cookie);
		syncevent_queue_close(q);
		syncevent_close(ev);
	}
	return 0;
}

static int use_a_bit(void *arg)
{
	struct both *b = arg;
	struct syncevent *ev = make(0);

	if (!ev || syncevent_poll_fd(ev) < 0)
		return 1;
	if (add(b->q, ev, SYNCEVENT_GE, 1, 77) || syncevent_add(ev, 1, NULL))
		return 2;
	if (reap_one(b->q) != 77)
		return 3;
	return readable(syncevent_poll_fd(ev), HANG_MS) == POLLIN ? 0 : 4;
}

TEST(fork_while_all_are_busy)
{
	enum { BUSY = 3 };
	unsigned int i, rounds = se_times(300);
	struct busy busy[BUSY];
	struct both b;

	CHILDREN_MAKE_THREADS();
	FORK_WHILE_OTHERS_ALLOCATE();
	b.ev = make(1);
	ASSERT_NE(NULL, b.ev);
	ASSERT_EQ(0, syncevent_queue_create(&b.q));
	b.fd = syncevent_poll_fd(b.ev);
	for (i = 0; i < BUSY; i++) {
		busy[i] = (struct busy){ .b = &b, .cookie = i };
		ASSERT_EQ(0, se_start(&busy[i].t, busy_fn, &busy[i]));
	}
	for (i = 0; i < rounds; i++)
		ASSERT_EQ(0, se_wait_child(se_fork(use_a_bit, &b)));
	for (i = 0; i < BUSY; i++)
		__atomic_store_n(&busy[i].stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < BUSY; i++)
		ASSERT_EQ(0, se_join(&busy[i].t));
	syncevent_queue_close(b.q);
	syncevent_close(b.ev);
}

/* exit(3) ends the thread, in a child that has one and in one that never had. */
static int leave(void *arg)
{
	if (arg && use_a_bit(arg))
		exit(1);
	exit(0);
}

TEST(exit_with_the_thread)
{
	struct both b = { .ev = make(0) };
	int i;

	CHILDREN_MAKE_THREADS();
	ASSERT_NE(NULL, b.ev);
	ASSERT_EQ(0, syncevent_queue_create(&b.q));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, se_wait_child(se_fork(leave, i % 2 ? &b : NULL)));
		/* With something to watch. */
		if (i == 10)
			ASSERT_EQ(0, add(b.q, b.ev, SYNCEVENT_EQ, 1, 1));
	}
	syncevent_queue_close(b.q);
	syncevent_close(b.ev);
}

TEST_HARNESS_MAIN
