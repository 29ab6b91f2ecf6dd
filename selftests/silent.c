// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * SILENT events: a publisher that only stores, as a device does. Every kind of
 * waiter sees it without a ring, late by a bounded time; nothing goes on looking
 * once nobody waits.
 */
#include "common.h"

#include <sys/stat.h>

#define PARAMETERS "/sys/module/syncevent/parameters/"

FIXTURE(silent) {
	int fd;
	struct syncevent_cell *cell;
};

FIXTURE_SETUP(silent)
{
	self->fd = se_create_flags(10, SYNCEVENT_CREATE_SILENT);
	ASSERT_LE(0, self->fd);
	self->cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->cell);
	EXPECT_EQ(SYNCEVENT_CELL_SILENT, self->cell->flags & SYNCEVENT_CELL_SILENT);
}

/*
 * As a device: no look at the hints, no ring. The rings that were made in the
 * test show that nothing else woke the waiter.
 */
static void store(struct _test_data_silent *self, uint64_t value)
{
	__atomic_store_n(&self->cell->value, value, __ATOMIC_RELEASE);
}

FIXTURE_TEARDOWN(silent)
{
	EXPECT_EQ(0, se_rings(self->fd));
	EXPECT_EQ(0, se_waiters(self->fd));
	munmap(self->cell, 4096);
	close(self->fd);
}

TEST_F(silent, wait)
{
	static const struct {
		uint32_t cond;
		uint64_t operand, mask, value;
	} t[] = {
		{ SYNCEVENT_COND_EQ, 77, SE_ALL, 77 },
		{ SYNCEVENT_COND_NEQ, 10, SE_ALL, 11 },
		{ SYNCEVENT_COND_GT, 10, SE_ALL, 11 },
		{ SYNCEVENT_COND_GE, 1ULL << 63, SE_ALL, 1ULL << 63 },
		{ SYNCEVENT_COND_LT, 10, SE_ALL, 0 },
		{ SYNCEVENT_COND_LE, 3, SE_ALL, 3 },
		{ SYNCEVENT_COND_EQ, 0x100, 0xf00, 0x1ff },
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct se_waiter w;

		store(self, 10);
		ASSERT_EQ(0, se_waiter_start_mask(&w, self->fd, t[i].cond, t[i].operand,
						  t[i].mask, SE_FOREVER));
		ASSERT_TRUE(se_until_waiters(self->fd, 1));
		ASSERT_TRUE(se_waiter_parked(&w));
		store(self, t[i].value);
		ASSERT_EQ(0, se_waiter_join(&w)) TH_LOG("row %u", i);
		EXPECT_EQ(t[i].value, w.w.value) TH_LOG("row %u", i);
	}
}

/* Many sleep at once; each returns for its own value. */
TEST_F(silent, many_threads)
{
	struct se_waiter w[20];

	for (unsigned int i = 0; i < 20; i++) {
		ASSERT_EQ(0, se_waiter_start(&w[i], self->fd, SYNCEVENT_COND_GT, 10 + i));
	}
	ASSERT_TRUE(se_until_waiters(self->fd, 20));
	for (unsigned int i = 0; i < 20; i++) {
		store(self, 11 + i);
		ASSERT_EQ(0, se_waiter_join(&w[i]));
		EXPECT_EQ(11 + i, w[i].w.value);
		EXPECT_EQ(19 - i, se_waiters(self->fd));
	}
}

/* A waiter for whom the value is not yet right sleeps on. */
TEST_F(silent, not_too_early)
{
	struct se_waiter w;

	ASSERT_EQ(0, se_waiter_start(&w, self->fd, SYNCEVENT_COND_GE, 1000));
	ASSERT_TRUE(se_until_waiters(self->fd, 1));
	for (uint64_t v = 11; v < 1000; v += 100) {
		store(self, v);
		se_sleep_ms(5);
		ASSERT_FALSE(se_is_done(&w.t));
	}
	store(self, 1000);
	ASSERT_EQ(0, se_waiter_join(&w));
}

TEST_F(silent, wait_ends_by_deadline_and_revoke)
{
	struct se_waiter w;

	EXPECT_EQ(-ETIMEDOUT, se_wait(self->fd, SYNCEVENT_COND_EQ, 1, 0, NULL));
	EXPECT_EQ(-ETIMEDOUT, se_wait(self->fd, SYNCEVENT_COND_EQ, 1, se_in_ms(20), NULL));
	ASSERT_EQ(0, se_waiter_start(&w, self->fd, SYNCEVENT_COND_EQ, 1));
	ASSERT_TRUE(se_until_waiters(self->fd, 1));
	ASSERT_EQ(0, se_revoke(self->fd));
	EXPECT_EQ(-EIDRM, se_waiter_join(&w));
}

struct many_arg {
	struct syncevent_wait_entry *e;
	unsigned int count;
	uint32_t flags;
	uint32_t index;
};

static int many_fn(void *arg)
{
	struct many_arg *m = arg;

	return se_wait_many(m->e, m->count, m->flags, SE_FOREVER, &m->index);
}

/* One silent event among others that ring. */
TEST_F(silent, wait_many_any)
{
	int loud = se_create(0);
	struct syncevent_wait_entry e[] = {
		se_entry(loud, SYNCEVENT_COND_GT, 0),
		se_entry(self->fd, SYNCEVENT_COND_GT, 10),
		se_entry(loud, SYNCEVENT_COND_GT, 1),
	};
	struct many_arg m = { .e = e, .count = 3 };
	struct se_thread t;

	ASSERT_LE(0, loud);
	ASSERT_EQ(0, se_start(&t, many_fn, &m));
	ASSERT_TRUE(se_until_waiters(self->fd, 1));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_ioctl));
	store(self, 11);
	ASSERT_EQ(0, se_join(&t));
	EXPECT_EQ(1, m.index);
	EXPECT_EQ(1, e[1].status);
	EXPECT_EQ(11, e[1].value);
	EXPECT_EQ(0, e[0].status);
	EXPECT_EQ(0, se_waiters(loud));
	close(loud);
}

TEST_F(silent, wait_many_all)
{
	int other = se_create_flags(0, SYNCEVENT_CREATE_SILENT), loud = se_create(0);
	struct syncevent_cell *cell = se_map(other, PROT_READ | PROT_WRITE);
	struct syncevent_wait_entry e[] = {
		se_entry(self->fd, SYNCEVENT_COND_GT, 10),
		se_entry(loud, SYNCEVENT_COND_EQ, 5),
		se_entry(other, SYNCEVENT_COND_NEQ, 0),
	};
	struct many_arg m = { .e = e, .count = 3, .flags = SYNCEVENT_WAIT_ALL };
	struct se_thread t;

	ASSERT_NE(NULL, cell);
	ASSERT_LE(0, loud);
	ASSERT_EQ(0, se_start(&t, many_fn, &m));
	ASSERT_TRUE(se_until_waiters(other, 1));
	store(self, 11);
	/* It has been seen, and is not forgotten when the value goes back. */
	ASSERT_TRUE(se_until_waiters(self->fd, 0));
	store(self, 0);
	ASSERT_EQ(0, se_set(loud, 5));
	ASSERT_FALSE(se_is_done(&t));
	__atomic_store_n(&cell->value, 9, __ATOMIC_RELEASE);
	ASSERT_EQ(0, se_join(&t));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(1, e[i].status);
	}
	EXPECT_EQ(11, e[0].value);
	EXPECT_EQ(5, e[1].value);
	EXPECT_EQ(9, e[2].value);
	munmap(cell, 4096);
	close(other);
	close(loud);
}

static int read_fn(void *arg)
{
	uint64_t v;
	int ret = se_read(*(int *)arg, &v);

	return ret < 0 ? ret : (int)v;
}

TEST_F(silent, read)
{
	struct se_thread t;

	ASSERT_EQ(0, se_start(&t, read_fn, &self->fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	store(self, 12);
	EXPECT_EQ(12, se_join(&t));

	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GE, 20));
	ASSERT_EQ(0, se_start(&t, read_fn, &self->fd));
	ASSERT_TRUE(se_until_sleeps_in(&t, SYS_read));
	store(self, 19);
	se_sleep_ms(10);
	EXPECT_FALSE(se_is_done(&t));
	store(self, 20);
	EXPECT_EQ(20, se_join(&t));
}

static int poll_fn(void *arg)
{
	struct pollfd p = { .fd = *(int *)arg, .events = POLLIN };
	int ret = poll(&p, 1, SE_HANG_S * 1000);

	return ret < 0 ? -errno : ret ? p.revents : -ETIME;
}

TEST_F(silent, poll)
{
	struct se_thread t;
	uint64_t v;

	ASSERT_EQ(0, se_start(&t, poll_fn, &self->fd));
	ASSERT_TRUE(se_until_sleeps(&t));
	store(self, 12);
	EXPECT_EQ(POLLIN, se_join(&t));
	ASSERT_EQ(0, se_read(self->fd, &v));
	EXPECT_EQ(0, se_poll(self->fd, 0) & POLLIN);
	/* A file that was polled stays armed until it is closed or its condition holds. */
	store(self, 13);
	ASSERT_TRUE(se_until_waiters(self->fd, 0));
}

TEST_F(silent, epoll)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	uint64_t v;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	ASSERT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	for (uint64_t i = 11; i < 61; i++) {
		store(self, i);
		ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
		ASSERT_EQ(0, se_read(self->fd, &v));
		ASSERT_EQ(i, v);
		ASSERT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	}
	close(ep);
	store(self, 100);
	ASSERT_TRUE(se_until_waiters(self->fd, 0));
}

/* A look is no update: what stays ready is announced once. */
TEST_F(silent, one_edge_for_one_update)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	store(self, 11);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
	ASSERT_EQ(0, epoll_wait(ep, &ev, 1, 500));
	/* nor is it forgotten: another value is another edge, ready or not */
	store(self, 12);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
	store(self, 13);
	ASSERT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
	ASSERT_EQ(0, epoll_wait(ep, &ev, 1, 500));
	close(ep);
	store(self, 100);
	ASSERT_TRUE(se_until_waiters(self->fd, 0));
}

TEST_F(silent, queue_entries)
{
	int q = se_queue(0);
	struct syncevent_completion c[8];
	uint64_t next = 1;

	ASSERT_LE(0, q);
	for (uint64_t i = 1; i <= 8; i++) {
		ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GE, 10 + i, i, SE_FOREVER));
	}
	EXPECT_EQ(8, se_waiters(self->fd));
	for (uint64_t i = 1; i <= 8; i += 2) {
		struct pollfd p = { .fd = q, .events = POLLIN };
		uint64_t end = i + 2;

		store(self, 10 + i + 1);
		while (next < end) {
			int n;

			ASSERT_EQ(1, poll(&p, 1, SE_HANG_S * 1000));
			n = se_reap(q, c, 8);
			ASSERT_LT(0, n);
			for (int k = 0; k < n; k++) {
				EXPECT_EQ(next, c[k].cookie);
				EXPECT_EQ(0, c[k].status);
				EXPECT_EQ(10 + i + 1, c[k].value);
				next++;
			}
		}
	}
	close(q);
}

TEST_F(silent, queue_deadline_and_cancel)
{
	int q = se_queue(0);
	struct syncevent_completion c;

	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_EQ, 1, 1, se_in_ms(10)));
	ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_EQ, 1, 2, SE_FOREVER));
	ASSERT_EQ(1, se_reap(q, &c, 1));
	EXPECT_EQ(1, c.cookie);
	EXPECT_EQ(-ETIMEDOUT, c.status);
	EXPECT_EQ(0, se_queue_cancel(q, 2));
	close(q);
}

/* ---- parameters ---------------------------------------------------------------------- */

static int parameter(const char *name, const char *value, char *old, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, (value ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (old) {
		n = pread(fd, old, size - 1, 0);
		old[n < 0 ? 0 : n] = '\0';
		old[strcspn(old, "\n")] = '\0';
	}
	n = value ? write(fd, value, strlen(value)) : 0;
	close(fd);
	return n < 0 ? -errno : 0;
}

TEST(parameters_are_what_dev_info_says)
{
	struct syncevent_dev_info d;
	struct stat st;
	char min[32], max[32];

	ASSERT_EQ(0, parameter("silent_min_us", NULL, min, sizeof(min)));
	ASSERT_EQ(0, parameter("silent_max_us", NULL, max, sizeof(max)));
	ASSERT_EQ(0, se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &d));
	EXPECT_EQ(strtoull(min, NULL, 10) * 1000, d.silent_min_ns);
	EXPECT_EQ(strtoull(max, NULL, 10) * 1000, d.silent_max_ns);
	ASSERT_EQ(0, stat(PARAMETERS "silent_min_us", &st));
	EXPECT_EQ(0644, st.st_mode & 07777);
	ASSERT_EQ(0, stat(PARAMETERS "silent_max_us", &st));
	EXPECT_EQ(0644, st.st_mode & 07777);
}

/* Extreme and senseless periods: late perhaps, never lost, never a hang. */
/* Between two looks, far apart, everything that asks finds the file as it is. */
TEST_F(silent, another_poll_does_not_take_the_wake_up)
{
	struct se_thread t;

	ASSERT_EQ(0, parameter("silent_max_us", "500000", NULL, 0));
	ASSERT_EQ(0, parameter("silent_min_us", "500000", NULL, 0));
	ASSERT_EQ(0, se_start(&t, poll_fn, &self->fd));
	ASSERT_TRUE(se_until_sleeps(&t));
	store(self, 12);
	EXPECT_TRUE(se_poll(self->fd, 0) & POLLIN);
	EXPECT_EQ(POLLIN, se_join(&t));
	EXPECT_EQ(0, parameter("silent_min_us", "50", NULL, 0));
	EXPECT_EQ(0, parameter("silent_max_us", "4000", NULL, 0));
	store(self, 100);
	ASSERT_TRUE(se_until_waiters(self->fd, 0));
}

TEST_F(silent, read_and_arm_forget_what_was_told)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	uint64_t v;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	ASSERT_EQ(0, parameter("silent_max_us", "500000", NULL, 0));
	ASSERT_EQ(0, parameter("silent_min_us", "500000", NULL, 0));
	store(self, 101);
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
	/* told at 101; away and back before the next look, and read in between */
	store(self, 100);
	EXPECT_EQ(0, se_read(self->fd, &v));
	EXPECT_EQ(100, v);
	store(self, 101);
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
	/* the same with ARM */
	store(self, 100);
	EXPECT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_EQ, 101));
	store(self, 101);
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SE_HANG_S * 1000));
	EXPECT_EQ(0, parameter("silent_min_us", "50", NULL, 0));
	EXPECT_EQ(0, parameter("silent_max_us", "4000", NULL, 0));
	close(ep);
	store(self, 99);
	ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_EQ, 98));
	store(self, 98);
	ASSERT_TRUE(se_until_waiters(self->fd, 0));
}

TEST_F(silent, any_parameters)
{
	static const char *const pairs[][2] = {
		{ "1", "1" }, { "0", "0" }, { "1", "1000000" }, { "5000", "10" },
		{ "100000", "100000" },
	};
	char min[32], max[32];

	ASSERT_EQ(0, parameter("silent_min_us", NULL, min, sizeof(min)));
	ASSERT_EQ(0, parameter("silent_max_us", NULL, max, sizeof(max)));
	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		int q = se_queue(0);
		struct syncevent_completion c;
		struct se_waiter w;
		long slept;

		/* The module may refuse a value, but not take one that breaks it. */
		parameter("silent_min_us", pairs[i][0], NULL, 0);
		parameter("silent_max_us", pairs[i][1], NULL, 0);
		store(self, 10);
		ASSERT_EQ(0, se_waiter_start(&w, self->fd, SYNCEVENT_COND_EQ, 20));
		ASSERT_LE(0, q);
		ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_EQ, 20, 1, SE_FOREVER));
		ASSERT_TRUE(se_until_waiters(self->fd, 2));
		/* It sleeps, again and again: it does not spin in the kernel. */
		slept = se_switches(w.t.tid);
		ASSERT_TRUE(se_until(se_switches(w.t.tid) > slept + 1)) TH_LOG("pair %u", i);
		store(self, 20);
		EXPECT_EQ(0, se_waiter_join(&w)) TH_LOG("pair %u", i);
		EXPECT_EQ(1, se_reap(q, &c, 1)) TH_LOG("pair %u", i);
		close(q);
	}
	EXPECT_EQ(0, parameter("silent_min_us", min, NULL, 0));
	EXPECT_EQ(0, parameter("silent_max_us", max, NULL, 0));
}

/* ---- nobody waits: nobody looks -------------------------------------------------------- */

/*
 * Work that is still armed holds the event and so the module, or runs into freed
 * memory. The events here die with waiters of every kind; the guest's runner sees
 * to it that the module is then unused.
 */
TEST(dies_with_waiters)
{
	for (int i = 0; i < 50; i++) {
		int fd = se_create_flags(0, SYNCEVENT_CREATE_SILENT);
		int q = se_queue(0);

		ASSERT_LE(0, fd);
		ASSERT_LE(0, q);
		ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_EQ, 1, 1, SE_FOREVER));
		se_poll(fd, i % 3);
		if (i & 1) {
			close(q);
			close(fd);
		} else {
			struct syncevent_completion c;

			close(fd);
			ASSERT_EQ(1, se_reap(q, &c, 1));
			EXPECT_EQ(-EIDRM, c.status);
			close(q);
		}
	}
}

/* An update by a system call is not silent: it wakes at once, as on any event. */
TEST(loud_update_of_a_silent_event)
{
	int fd = se_create_flags(0, SYNCEVENT_CREATE_SILENT);
	struct se_waiter w;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 3));
	ASSERT_TRUE(se_until_waiters(fd, 1));
	ASSERT_EQ(0, se_add(fd, 3, NULL));
	EXPECT_EQ(0, se_waiter_join(&w));
	close(fd);
}

/* An event that is not silent is not looked at: only a ring wakes. */
TEST(an_event_that_is_not_silent_needs_the_ring)
{
	int fd = se_create(0);
	struct syncevent_cell *cell = se_map(fd, PROT_READ | PROT_WRITE);
	struct se_waiter w;

	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 3));
	ASSERT_TRUE(se_until_waiters(fd, 1));
	ASSERT_TRUE(se_waiter_parked(&w));
	__atomic_store_n(&cell->value, 3, __ATOMIC_RELEASE);
	se_sleep_ms(50);
	EXPECT_FALSE(se_is_done(&w.t));
	ASSERT_EQ(0, se_ring(fd));
	EXPECT_EQ(0, se_waiter_join(&w));
	munmap(cell, 4096);
	close(fd);
}

TEST_HARNESS_MAIN
