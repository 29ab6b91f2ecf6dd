// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Files and mappings of an event: who keeps it alive, what each way of sharing,
 * moving and dropping one does, and what is left to see after the end.
 */
#include "common.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define STRAY	0x5a5a5a5a5a5a5a5aULL

/* Events of this user, as the module counts them. */
static int64_t events(void)
{
	struct syncevent_dev_info info;
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &info);

	return ret < 0 ? ret : (int64_t)info.events;
}

/* A queue with one pending entry on fd: it tells when the event ends. */
static int watch(int fd, uint64_t above)
{
	int q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	int ret = q < 0 ? q : se_queue_add(q, fd, SYNCEVENT_COND_GT, above, 1, SE_FOREVER);

	return ret < 0 ? ret : q;
}

static bool pending(int q)
{
	struct syncevent_completion done;

	return se_reap(q, &done, 1) == -EAGAIN;
}

/* The status of the entry, or -EAGAIN if it does not end. */
static int outcome(int q, uint64_t *value)
{
	struct syncevent_completion done;

	if (!se_until(se_reap(q, &done, 1) == 1))
		return -EAGAIN;
	if (value)
		*value = done.value;
	return done.status;
}

/* Does a load from there end the program? */
static bool faults(const void *p)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		(void)*(const volatile char *)p;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status);
}

static uint64_t value_of(const struct syncevent_cell *cell)
{
	return __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
}

static void put(struct syncevent_cell *cell, uint64_t value)
{
	__atomic_store_n(&cell->value, value, __ATOMIC_SEQ_CST);
}

static uint32_t state_of(const struct syncevent_cell *cell)
{
	return __atomic_load_n(&cell->state, __ATOMIC_RELAXED) & SYNCEVENT_STATE_MASK;
}

FIXTURE(event) {
	int64_t before;
	int fd;
	struct syncevent_cell *cell;
};

FIXTURE_SETUP(event)
{
	ASSERT_LE(0, se_dev());
	self->before = events();
	ASSERT_LE(0, self->before);
	self->fd = se_create(7);
	ASSERT_LE(0, self->fd);
	self->cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->cell);
}

FIXTURE_TEARDOWN(event)
{
}

/* ---- who keeps an event alive ------------------------------------------------- */

TEST_F(event, mapping_outlives_the_file)
{
	ASSERT_EQ(0, close(self->fd));
	EXPECT_EQ(7, value_of(self->cell));
	put(self->cell, 8);
	EXPECT_EQ(8, value_of(self->cell));
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, state_of(self->cell));
	EXPECT_EQ(self->before + 1, events());
	ASSERT_EQ(0, munmap(self->cell, 4096));
	EXPECT_TRUE(se_until(events() == self->before));
}

TEST_F(event, mapping_alone_keeps_it_from_ending)
{
	int q = watch(self->fd, 100);

	ASSERT_LE(0, q);
	ASSERT_EQ(0, close(self->fd));
	EXPECT_TRUE(pending(q));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
}

TEST_F(event, last_mapping_is_judged_before_the_event_ends)
{
	uint64_t value = 0;
	int q = watch(self->fd, 100);

	ASSERT_LE(0, q);
	ASSERT_EQ(0, close(self->fd));
	put(self->cell, 101);
	ASSERT_EQ(0, munmap(self->cell, 4096));
	EXPECT_EQ(0, outcome(q, &value));
	EXPECT_EQ(101, value);
}

TEST_F(event, file_outlives_the_mapping)
{
	uint64_t value;

	put(self->cell, 9);
	ASSERT_EQ(0, munmap(self->cell, 4096));
	EXPECT_EQ(0, se_get(self->fd, &value));
	EXPECT_EQ(9, value);
	EXPECT_EQ(0, se_set(self->fd, 10));
	EXPECT_EQ(0, se_wait(self->fd, SYNCEVENT_COND_EQ, 10, 0, NULL));
	self->cell = se_map(self->fd, PROT_READ);
	ASSERT_NE(NULL, self->cell);
	EXPECT_EQ(10, value_of(self->cell));
}

TEST_F(event, ends_with_its_last_file)
{
	int other = se_dup(self->fd, SYNCEVENT_DUP_RDONLY);
	int q = watch(self->fd, 100);

	ASSERT_LE(0, other);
	ASSERT_LE(0, q);
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(self->before + 1, events());
	ASSERT_EQ(0, close(other));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
	EXPECT_TRUE(se_until(events() == self->before));
}

TEST_F(event, ends_with_its_last_mapping_of_several)
{
	struct syncevent_cell *second = se_map(self->fd, PROT_READ);
	int q = watch(self->fd, 100);

	ASSERT_NE(NULL, second);
	ASSERT_LE(0, q);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(7, value_of(second));
	ASSERT_EQ(0, munmap(second, 4096));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
}

/* ---- fork, exec, SCM_RIGHTS ------------------------------------------------------ */

struct shared {
	int fd;
	int go;			/* pipe: a byte lets the child go on */
	struct syncevent_cell *cell;
};

static int add_by_mapping(void *arg)
{
	struct shared *s = arg;

	return value_of(s->cell) == 7 &&
	       __atomic_fetch_add(&s->cell->value, 1, __ATOMIC_SEQ_CST) == 7 ? 0 : 1;
}

TEST_F(event, fork_after_mmap_shares_the_cell)
{
	struct shared s = { .cell = self->cell };

	EXPECT_EQ(0, se_wait_child(se_fork(add_by_mapping, &s)));
	EXPECT_EQ(8, value_of(self->cell));
}

static int map_and_add(void *arg)
{
	struct shared *s = arg;

	s->cell = se_map(s->fd, PROT_READ | PROT_WRITE);
	return s->cell ? add_by_mapping(s) : 2;
}

TEST_F(event, fork_before_mmap_shares_the_cell)
{
	struct shared s = { .fd = self->fd };

	EXPECT_EQ(0, se_wait_child(se_fork(map_and_add, &s)));
	EXPECT_EQ(8, value_of(self->cell));
}

static int hold_mapping_only(void *arg)
{
	struct shared *s = arg;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(s->fd);
	if (read(s->go, &byte, 1) != 1)
		return 1;
	return value_of(s->cell) == 8 && state_of(s->cell) == SYNCEVENT_STATE_LIVE ? 0 : 2;
}

TEST_F(event, mapping_of_a_child_outlives_the_parents)
{
	struct shared s = { .fd = self->fd, .cell = self->cell };
	int q = watch(self->fd, 100), go[2];
	pid_t pid;

	ASSERT_LE(0, q);
	ASSERT_EQ(0, pipe(go));
	s.go = go[0];
	pid = se_fork(hold_mapping_only, &s);
	ASSERT_LT(0, pid);
	put(self->cell, 8);
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_TRUE(pending(q));
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, se_wait_child(pid));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
}

/* main() of the program that exec starts: is this fd an event of value 7? */
static int probe(const char *fd)
{
	uint64_t value;
	int ret = se_get(atoi(fd), &value);

	return ret == -EBADF ? 10 : ret < 0 ? 11 : value == 7 ? 0 : 12;
}

static int exec_probe(void *arg)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", *(int *)arg);
	execl("/proc/self/exe", "lifetime", "--probe", number, NULL);
	return 20;
}

TEST_F(event, exec_closes_it)
{
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
	EXPECT_EQ(10, se_wait_child(se_fork(exec_probe, &self->fd)));
}

TEST_F(event, exec_keeps_it_if_told_to)
{
	ASSERT_EQ(0, fcntl(self->fd, F_SETFD, 0));
	EXPECT_EQ(0, se_wait_child(se_fork(exec_probe, &self->fd)));
}

static int exec_without_parent(void *arg)
{
	struct shared *s = arg;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(s->go, &byte, 1) != 1)
		return 1;
	put(s->cell, 101);
	return exec_probe(&s->fd);
}

TEST_F(event, exec_drops_the_mapping_and_is_judged)
{
	struct shared s = { .fd = self->fd, .cell = self->cell };
	int q = watch(self->fd, 100), go[2];
	uint64_t value = 0;
	pid_t pid;

	ASSERT_LE(0, q);
	ASSERT_EQ(0, pipe(go));
	s.go = go[0];
	pid = se_fork(exec_without_parent, &s);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(10, se_wait_child(pid));
	EXPECT_EQ(0, outcome(q, &value));
	EXPECT_EQ(101, value);
}

static int create_and_send(void *arg)
{
	int fd = se_create(42);

	return fd < 0 || se_send_fd(*(int *)arg, fd) ? 1 : 0;
}

TEST_F(event, received_event_outlives_the_sender)
{
	int sock[2], fd;
	uint64_t value;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	/* It is received after the sender died: in flight it is held as well. */
	EXPECT_EQ(0, se_wait_child(se_fork(create_and_send, &sock[1])));
	EXPECT_EQ(self->before + 2, events());
	fd = se_recv_fd(sock[0]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, se_get(fd, &value));
	EXPECT_EQ(42, value);
	EXPECT_EQ(0, se_set(fd, 43));
	EXPECT_EQ(0, close(fd));
	EXPECT_TRUE(se_until(events() == self->before + 1));
}

TEST_F(event, event_in_flight_ends_with_the_socket)
{
	int sock[2], q;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	q = watch(self->fd, 100);
	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_send_fd(sock[1], self->fd));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_TRUE(pending(q));
	ASSERT_EQ(0, close(sock[0]));
	ASSERT_EQ(0, close(sock[1]));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
}

/* Sockets that are in flight through themselves, and an event and a queue with them. */
static bool throw_away_a_cycle(int fd)
{
	int a[2], b[2], q = watch(fd, 100);
	bool ok;

	if (q < 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, a) ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, b))
		return false;
	ok = !se_send_fd(a[0], fd) && !se_send_fd(a[0], q) &&
	     !se_send_fd(a[0], b[1]) && !se_send_fd(b[0], a[1]) &&
	     !se_send_fd(b[0], q) && !se_send_fd(b[0], fd);
	close(q);
	close(a[0]);
	close(a[1]);
	close(b[0]);
	close(b[1]);
	return ok;
}

/* Closing a socket is what starts the collection of cycles. */
static bool collected(int64_t n)
{
	int sock[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sock))
		return false;
	close(sock[0]);
	close(sock[1]);
	return events() == n;
}

TEST_F(event, socket_cycles_with_events_and_queues_are_collected)
{
	int i, fd;

	for (i = 0; i < 20; i++) {
		fd = se_create(0);
		ASSERT_LE(0, fd);
		ASSERT_TRUE(throw_away_a_cycle(fd));
		ASSERT_EQ(0, close(fd));
	}
	EXPECT_TRUE(se_until(collected(self->before + 1)));
	/* Waiters of the queues are gone with them. */
	ASSERT_TRUE(throw_away_a_cycle(self->fd));
	EXPECT_TRUE(se_until(collected(self->before + 1) && se_waiters(self->fd) == 0));
}

/* ---- mmap, munmap, mremap, madvise ----------------------------------------------- */

TEST_F(event, refuses_every_other_mapping)
{
	const int rw = PROT_READ | PROT_WRITE;
	const int64_t count = events();
	size_t length;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_SHARED, self->fd, 4096));
	EXPECT_EQ(EINVAL, errno);
	for (length = 4097; length < 1UL << 40; length *= 2) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, length, rw, MAP_SHARED, self->fd, 0));
		EXPECT_EQ(EINVAL, errno);
	}
	/* The offset and its end wrap around. */
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_SHARED, self->fd, -4096L));
	EXPECT_TRUE(errno == EINVAL || errno == EOVERFLOW);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 8192, rw, MAP_SHARED, self->fd, -4096L));
	EXPECT_TRUE(errno == EINVAL || errno == EOVERFLOW);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, rw, MAP_SHARED, self->fd, LONG_MAX & -4096L));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(count, events());
	EXPECT_EQ(7, value_of(self->cell));
}

TEST_F(event, short_length_is_one_page)
{
	struct syncevent_cell *cell = mmap(NULL, 1, PROT_READ, MAP_SHARED, self->fd, 0);

	ASSERT_NE(MAP_FAILED, cell);
	EXPECT_EQ(7, value_of(cell));
	EXPECT_EQ(0, ((char *)cell)[4095]);
	/* A part of it to unmap rounds up as well. */
	ASSERT_EQ(0, munmap(cell, 1));
	EXPECT_TRUE(faults(cell));
	cell = mmap(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE, self->fd, 0);
	EXPECT_NE(MAP_FAILED, cell);
}

TEST_F(event, neighbours_unmap_at_once)
{
	char *room = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int q = watch(self->fd, 100), i;

	ASSERT_LE(0, q);
	ASSERT_NE(MAP_FAILED, room);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(room + i * 4096, mmap(room + i * 4096, 4096, PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_FIXED, self->fd, 0));
	put((void *)room, 8);
	EXPECT_EQ(8, value_of((void *)(room + 8192)));
	/* One of three, by a mapping over it; then all. */
	ASSERT_EQ(room + 4096, mmap(room + 4096, 4096, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(8, value_of((void *)(room + 8192)));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_TRUE(pending(q));
	ASSERT_EQ(0, munmap(room, 3 * 4096));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
}

TEST_F(event, mremap_moves_it)
{
	char *room = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int q = watch(self->fd, 100);
	struct syncevent_cell *moved;

	ASSERT_LE(0, q);
	ASSERT_NE(MAP_FAILED, room);
	moved = mremap(self->cell, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ((void *)room, moved);
	EXPECT_EQ(7, value_of(moved));
	EXPECT_TRUE(faults(self->cell));
	EXPECT_EQ(0, se_set(self->fd, 8));
	EXPECT_EQ(8, value_of(moved));
	ASSERT_EQ(0, close(self->fd));
	put(moved, 9);
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, state_of(moved));
	ASSERT_EQ(0, munmap(moved, 4096));
	EXPECT_EQ(-EIDRM, outcome(q, NULL));
	EXPECT_TRUE(se_until(events() == self->before));
}

TEST_F(event, mremap_neither_grows_nor_copies_it)
{
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 4096, 8192, MREMAP_MAYMOVE));
	EXPECT_TRUE(errno == EFAULT || errno == EINVAL);
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 4096, 8192, 0));
	EXPECT_TRUE(errno == EFAULT || errno == EINVAL || errno == ENOMEM);
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 0, 4096, MREMAP_MAYMOVE));
	EXPECT_TRUE(errno == EFAULT || errno == EINVAL);
	EXPECT_EQ(MAP_FAILED, mremap(self->cell, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(7, value_of(self->cell));
}

TEST_F(event, madvise_dontneed_loses_nothing)
{
	int i;

	for (i = 0; i < 100; i++) {
		put(self->cell, 1000U + i);
		ASSERT_EQ(0, madvise(self->cell, 4096, MADV_DONTNEED));
		ASSERT_EQ(1000U + i, value_of(self->cell));
	}
	EXPECT_EQ(0, se_wait(self->fd, SYNCEVENT_COND_EQ, 1099, 0, NULL));
}

/* ---- a writer that leaves without a ring is judged --------------------------------- */

enum leave { UNMAP, UNMAP_READONLY, MOVE, MAP_OVER, KILLED, KILLED_MAPPING_ONLY, EXITS };

FIXTURE(leaving) {
	int fd;
	struct se_waiter waiter;
};

FIXTURE_VARIANT(leaving) {
	enum leave how;
};

FIXTURE_VARIANT_ADD(leaving, munmap) { .how = UNMAP };
FIXTURE_VARIANT_ADD(leaving, munmap_after_mprotect) { .how = UNMAP_READONLY };
FIXTURE_VARIANT_ADD(leaving, mremap) { .how = MOVE };
FIXTURE_VARIANT_ADD(leaving, mmap_over_it) { .how = MAP_OVER };
FIXTURE_VARIANT_ADD(leaving, sigkill) { .how = KILLED };
FIXTURE_VARIANT_ADD(leaving, sigkill_mapping_only) { .how = KILLED_MAPPING_ONLY };
FIXTURE_VARIANT_ADD(leaving, exit) { .how = EXITS };

FIXTURE_SETUP(leaving)
{
	self->fd = se_create(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(leaving)
{
}

struct leaver {
	enum leave how;
	int fd;
};

static int store_and_leave(void *arg)
{
	struct leaver *l = arg;
	struct syncevent_cell *cell;
	void *room;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cell = se_map(l->fd, l->how == UNMAP_READONLY ? PROT_READ : PROT_READ | PROT_WRITE);
	if (!cell)
		return 1;
	/* A mapping may have been writable for a moment only. */
	if (l->how == UNMAP_READONLY && mprotect(cell, 4096, PROT_READ | PROT_WRITE))
		return 2;
	if (l->how == KILLED_MAPPING_ONLY)
		close(l->fd);
	put(cell, 1);
	switch (l->how) {
	case UNMAP_READONLY:
		if (mprotect(cell, 4096, PROT_READ))
			return 3;
		/* fall through */
	case UNMAP:
		munmap(cell, 4096);
		break;
	case MOVE:
		room = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mremap(cell, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, room) != room)
			return 4;
		break;
	case MAP_OVER:
		if (mmap(cell, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) != cell)
			return 5;
		break;
	case KILLED:
	case KILLED_MAPPING_ONLY:
		raise(SIGKILL);
		return 6;
	case EXITS:
		return 0;
	}
	/* Only what was just done may have woken the waiter: do not exit yet. */
	pause();
	return 7;
}

TEST_F(leaving, without_a_ring_is_judged)
{
	struct leaver l = { .how = variant->how, .fd = self->fd };
	pid_t pid;

	ASSERT_EQ(0, se_waiter_start(&self->waiter, self->fd, SYNCEVENT_COND_GT, 0));
	ASSERT_TRUE(se_waiter_parked(&self->waiter));
	pid = se_fork(store_and_leave, &l);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, se_waiter_join(&self->waiter));
	EXPECT_EQ(1, self->waiter.w.value);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- after the end ------------------------------------------------------------------ */

struct zapper {
	void *page;
	int stop;
};

static int zap_fn(void *arg)
{
	struct zapper *z = arg;

	while (!__atomic_load_n(&z->stop, __ATOMIC_RELAXED))
		if (madvise(z->page, 4096, MADV_DONTNEED))
			return -errno;
	return 0;
}

/* The page table may lose the page of its own while a fault still works on it. */
TEST_F(event, revoked_mapping_is_zapped_while_it_faults)
{
	struct syncevent_cell *cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	struct zapper z = { .page = cell };
	struct se_thread t;
	int i;

	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, se_revoke(self->fd));
	ASSERT_EQ(0, se_start(&t, zap_fn, &z));
	for (i = 0; i < 50000; i++) {
		__atomic_store_n(&cell->value, (uint64_t)i, __ATOMIC_RELAXED);
		ASSERT_EQ(SYNCEVENT_STATE_REVOKED,
			  *(volatile uint32_t *)&cell->state & SYNCEVENT_STATE_MASK);
	}
	__atomic_store_n(&z.stop, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, se_join(&t));
	munmap(cell, 4096);
}

TEST_F(event, revoked_mapping_is_private_and_dead)
{
	struct syncevent_cell *second = se_map(self->fd, PROT_READ | PROT_WRITE), *fresh;
	struct syncevent_info info;
	int other, i;

	ASSERT_NE(NULL, second);
	EXPECT_EQ(7, value_of(second));
	ASSERT_EQ(0, se_revoke(self->fd));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, state_of(self->cell));
	EXPECT_EQ(7, value_of(self->cell));
	/* Stores end in that mapping's own page. */
	for (i = 0; i < 4096 / 8; i++)
		((volatile uint64_t *)self->cell)[i] = STRAY;
	EXPECT_EQ(STRAY, value_of(self->cell));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, state_of(second));
	EXPECT_EQ(7, value_of(second));
	EXPECT_EQ(0, se_info(self->fd, &info));
	EXPECT_EQ(7, info.value);
	EXPECT_NE(0, info.flags & SYNCEVENT_INFO_REVOKED);
	other = se_create(0);
	ASSERT_LE(0, other);
	fresh = se_map(other, PROT_READ);
	ASSERT_NE(NULL, fresh);
	EXPECT_EQ(0, value_of(fresh));
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, state_of(fresh));
	/* Both dead mappings may be dropped, looked at again, moved and unmapped. */
	ASSERT_EQ(0, madvise(self->cell, 4096, MADV_DONTNEED));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, state_of(self->cell));
	EXPECT_EQ(7, value_of(self->cell));
	self->cell = mremap(self->cell, 4096, 4096, MREMAP_MAYMOVE);
	ASSERT_NE(MAP_FAILED, self->cell);
	EXPECT_EQ(0, munmap(self->cell, 4096));
	EXPECT_EQ(0, munmap(second, 4096));
	EXPECT_EQ(NULL, se_map(self->fd, PROT_READ));
	EXPECT_EQ(EIDRM, errno);
}

/* The kernel believes no word of the cell but the value. */
TEST_F(event, nonsense_in_the_cell_hides_nothing)
{
	static const uint32_t states[] = { 0, SYNCEVENT_STATE_REVOKED, UINT32_MAX };
	struct se_waiter grow, equal;
	uint64_t value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		ASSERT_EQ(0, se_set(self->fd, 7));
		ASSERT_EQ(0, se_waiter_start(&grow, self->fd, SYNCEVENT_COND_GT, 100));
		ASSERT_EQ(0, se_waiter_start(&equal, self->fd, SYNCEVENT_COND_EQ, 200));
		ASSERT_TRUE(se_until_waiters(self->fd, 2));
		/* "Nobody asks to be rung." */
		self->cell->state = states[i];
		self->cell->sides = 0;
		self->cell->flags = UINT16_MAX;
		memset(self->cell->hint, 0, sizeof(self->cell->hint));
		self->cell->hint[0].wake_above = SYNCEVENT_WAKE_NONE;
		EXPECT_EQ(0, se_get(self->fd, &value));
		ASSERT_EQ(0, se_set(self->fd, 200));
		EXPECT_EQ(0, se_waiter_join(&grow));
		EXPECT_EQ(0, se_waiter_join(&equal));
	}
	EXPECT_EQ(0, se_revoke(self->fd));
	EXPECT_EQ(-EIDRM, se_get(self->fd, &value));
}

static int stray_in_a_child(void *arg)
{
	struct shared *s = arg;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (value_of(s->cell) != 7 || read(s->go, &byte, 1) != 1)
		return 1;
	if (state_of(s->cell) != SYNCEVENT_STATE_REVOKED)
		return 2;
	put(s->cell, STRAY);
	return value_of(s->cell) == STRAY ? 0 : 3;
}

TEST_F(event, revoke_reaches_the_mappings_of_other_processes)
{
	struct shared s = { .cell = self->cell };
	struct syncevent_info info;
	int go[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(go));
	s.go = go[0];
	pid = se_fork(stray_in_a_child, &s);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(se_until(se_sleeps_in(pid, pid) == SYS_read));
	ASSERT_EQ(0, se_revoke(self->fd));
	ASSERT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, se_wait_child(pid));
	EXPECT_EQ(7, value_of(self->cell));
	EXPECT_EQ(0, se_info(self->fd, &info));
	EXPECT_EQ(7, info.value);
}

TEST_F(event, new_events_show_nothing_of_old_ones)
{
	enum { N = 64 };
	struct syncevent_cell *cell[N];
	int fd[N], i, j, round;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < N; i++) {
			fd[i] = se_create(0);
			ASSERT_LE(0, fd[i]);
			cell[i] = se_map(fd[i], PROT_READ | PROT_WRITE);
			ASSERT_NE(NULL, cell[i]);
		}
		for (i = 0; i < N; i++) {
			const struct syncevent_cell want = {
				.state = 1U << SYNCEVENT_STATE_GEN_SHIFT | SYNCEVENT_STATE_LIVE,
				.sides = 1,
				.hint = {
					{ .wake_above = SYNCEVENT_WAKE_NONE },
					{ .wake_above = SYNCEVENT_WAKE_NONE },
					{ .wake_above = SYNCEVENT_WAKE_NONE },
				},
			};

			EXPECT_EQ(0, memcmp(&want, cell[i], sizeof(want)));
			for (j = sizeof(want); j < 4096; j++)
				ASSERT_EQ(0, ((const char *)cell[i])[j]);
			memset(cell[i], 0xa5, 4096);
		}
		for (i = 0; i < N; i++) {
			ASSERT_EQ(0, munmap(cell[i], 4096));
			ASSERT_EQ(0, close(fd[i]));
		}
		ASSERT_TRUE(se_until(events() == self->before + 1));
	}
}

/* ---- pages held by others ------------------------------------------------------------ */

/* Use up the pages that were just freed. */
static bool fill_new_events(int n)
{
	bool ok = true;

	while (n-- && ok) {
		int fd = se_create(STRAY);
		struct syncevent_cell *cell = fd < 0 ? NULL : se_map(fd, PROT_READ | PROT_WRITE);

		ok = cell;
		if (cell)
			memset(cell, 0xa5, 4096);
	}
	return ok;
}

TEST_F(event, page_in_a_pipe_outlives_the_event)
{
	struct iovec iov = { self->cell, 4096 };
	struct syncevent_cell seen[4096 / sizeof(struct syncevent_cell)];
	int fds[2];

	((char *)self->cell)[4000] = 77;
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(4096, vmsplice(fds[1], &iov, 1, 0));
	ASSERT_EQ(0, munmap(self->cell, 4096));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_TRUE(se_until(events() == self->before));
	ASSERT_TRUE(fill_new_events(64));
	ASSERT_EQ(4096, read(fds[0], seen, sizeof(seen)));
	EXPECT_EQ(7, seen[0].value);
	EXPECT_EQ(77, ((char *)seen)[4000]);
}

TEST_F(event, page_in_a_pipe_outlives_revocation)
{
	struct iovec iov = { self->cell, 4096 };
	struct syncevent_cell seen[4096 / sizeof(struct syncevent_cell)];
	int fds[2];

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(4096, vmsplice(fds[1], &iov, 1, 0));
	ASSERT_EQ(0, se_revoke(self->fd));
	put(self->cell, STRAY);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_TRUE(fill_new_events(64));
	ASSERT_EQ(4096, read(fds[0], seen, sizeof(seen)));
	EXPECT_EQ(7, seen[0].value);
	EXPECT_EQ(STRAY, value_of(self->cell));
}

static int sleep_with_mapping(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	return 0;
}

/* By a system call, or on kernels without it by the file of the other's memory. */
static bool peek(pid_t pid, const void *there, uint64_t *value)
{
	struct iovec local = { value, 8 }, remote = { (void *)(uintptr_t)there, 8 };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	char path[32];
	int fd;

	if (n < 0 && errno == ENOSYS) {
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = pread(fd, value, 8, (off_t)(uintptr_t)there);
		close(fd);
	}
	return n == 8;
}

static bool poke(pid_t pid, void *there, uint64_t value)
{
	struct iovec local = { &value, 8 }, remote = { there, 8 };
	ssize_t n = process_vm_writev(pid, &local, 1, &remote, 1, 0);
	char path[32];
	int fd;

	if (n < 0 && errno == ENOSYS) {
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		n = pwrite(fd, &value, 8, (off_t)(uintptr_t)there);
		close(fd);
	}
	return n == 8;
}

TEST_F(event, other_processes_read_and_write_it)
{
	pid_t pid = se_fork(sleep_with_mapping, NULL);
	uint64_t value = 0;

	ASSERT_LT(0, pid);
	EXPECT_TRUE(peek(pid, self->cell, &value));
	EXPECT_EQ(7, value);
	EXPECT_TRUE(poke(pid, self->cell, 9));
	EXPECT_EQ(9, value_of(self->cell));
	ASSERT_EQ(0, se_revoke(self->fd));
	EXPECT_TRUE(poke(pid, self->cell, 10));
	EXPECT_EQ(9, value_of(self->cell));
	EXPECT_TRUE(peek(pid, self->cell, &value));
	EXPECT_EQ(10, value);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(event, debugger_respects_the_rights)
{
	int readonly = se_dup(self->fd, SYNCEVENT_DUP_RDONLY);
	struct syncevent_cell *locked;
	pid_t pid;

	ASSERT_LE(0, readonly);
	locked = se_map(readonly, PROT_READ);
	ASSERT_NE(NULL, locked);
	pid = se_fork(sleep_with_mapping, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	errno = 0;
	EXPECT_EQ(7, ptrace(PTRACE_PEEKDATA, pid, locked, NULL));
	EXPECT_EQ(0, errno);
	/* A debugger writes to read-only memory, but not to shared memory. */
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, pid, locked, 8L));
	EXPECT_EQ(7, ptrace(PTRACE_PEEKDATA, pid, locked, NULL));
	EXPECT_EQ(0, ptrace(PTRACE_POKEDATA, pid, self->cell, 9L));
	EXPECT_EQ(9, value_of(locked));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int dump_core(void *arg)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct shared *s = arg;

	if (setrlimit(RLIMIT_CORE, &unlimited) || value_of(s->cell) != 7)
		return 1;
	if (s->go && se_revoke(s->fd))
		return 2;
	abort();
}

TEST_F(event, core_dump_with_a_mapping)
{
	static const char pattern[] = "/tmp/lifetime-core";
	struct shared s = { .fd = self->fd, .cell = self->cell };
	struct stat st;
	char old[256];
	ssize_t length;
	int file = open("/proc/sys/kernel/core_pattern", O_RDWR | O_CLOEXEC);

	if (file < 0)
		SKIP(return, "kernel without core dumps, or not root");
	length = read(file, old, sizeof(old));
	ASSERT_LT(0, length);
	ASSERT_EQ(sizeof(pattern), pwrite(file, pattern, sizeof(pattern), 0));
	/* Once with a live mapping, once with a dead one. */
	for (s.go = 0; s.go < 2; s.go++) {
		EXPECT_EQ(-SIGABRT, se_wait_child(se_fork(dump_core, &s)));
		EXPECT_EQ(0, stat(pattern, &st));
		EXPECT_LT(4096, st.st_size);
		unlink(pattern);
	}
	EXPECT_EQ(length, pwrite(file, old, length, 0));
}

static void __attribute__((constructor)) constructor_order_last(void)
{
	if (!__constructor_order)
		__constructor_order = _CONSTRUCTOR_ORDER_BACKWARD;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--probe"))
		return probe(argv[2]);
	return test_harness_run(argc, argv);
}
