// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Who keeps an event alive: files, mappings, other processes, messages; and what is
 * judged when they leave.
 */
#include "lifetime.h"

#include <sys/prctl.h>

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
