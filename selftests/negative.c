// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Arguments that every ioctl, read, write and mmap must refuse, and that nothing
 * is changed, written or leaked when they do. Sizes, pointers and descriptors
 * have files of their own: neg_size.c, neg_ptr.c, neg_fd.c.
 */
#include "ioctls.h"

#include <sys/uio.h>

FIXTURE(negative) {
	struct se_subject s;
	unsigned char arg[SE_ARG_MAX];
	struct se_held held;
};

FIXTURE_SETUP(negative)
{
	ASSERT_LE(0, se_dev());
	self->held = se_held();
	ASSERT_EQ(0, se_subject_open(&self->s));
}

FIXTURE_TEARDOWN(negative)
{
	se_subject_close(&self->s);
	se_nothing_held(_metadata, self->held);
}

static void refused(struct __test_metadata *_metadata, struct _test_data_negative *self,
		    const struct se_cmd *c, int err, const char *what, unsigned long n)
{
	se_refused(_metadata, &self->s, c, self->s.fd[c->on], c->request, self->arg,
		   se_cmd_size(c), err, what, n);
}

/* All else rests on this: the arguments that the tests spoil are good ones. */
TEST_F(negative, valid_arguments_pass)
{
	struct se_state old, new;

	se_for_each_cmd(c) {
		if (c->request == SYNCEVENT_IOC_REVOKE || c->request == SYNCEVENT_IOC_RING)
			continue;
		se_cmd_valid(c, &self->s, self->arg);
		se_state_get(&self->s, &old);
		EXPECT_EQ(se_cmd_ok(c), se_cmd_call(c, &self->s, c->request, self->arg))
			TH_LOG("%s", c->name);
		se_state_get(&self->s, &new);
		se_same_state(_metadata, &old, &new, c->name, "valid", 0);
	}
}

TEST_F(negative, reserved_bytes)
{
	se_for_each_cmd(c) {
		if (!c->reserved)
			continue;
		for (unsigned int bit = 0; bit < 32; bit++) {
			se_cmd_valid(c, &self->s, self->arg);
			self->arg[c->reserved + bit / 8] = (unsigned char)(1u << bit % 8);
			refused(_metadata, self, c, -EINVAL, "reserved bit", bit);
		}
	}
}

TEST_F(negative, unknown_flags)
{
	se_for_each_cmd(c) {
		for (int f = 0; f < 3; f++) {
			if (!c->flags[f].known)
				continue;
			for (unsigned int bit = 0; bit < 32; bit++) {
				uint32_t flag = 1u << bit;

				if (flag & c->flags[f].known)
					continue;
				se_cmd_valid(c, &self->s, self->arg);
				memcpy(self->arg + c->flags[f].offset, &flag, 4);
				refused(_metadata, self, c, -EINVAL, "flag", bit);
				flag |= c->flags[f].known;
				memcpy(self->arg + c->flags[f].offset, &flag, 4);
				refused(_metadata, self, c, -EINVAL, "known flags and", bit);
			}
		}
	}
}

TEST_F(negative, known_flags_pass)
{
	se_for_each_cmd(c) {
		for (int f = 0; f < 3; f++) {
			for (unsigned int bit = 0; bit < 32; bit++) {
				uint32_t flag = 1u << bit;

				if (!(flag & c->flags[f].known))
					continue;
				se_cmd_valid(c, &self->s, self->arg);
				if (c->request == SYNCEVENT_IOC_ARM)
					memset(self->arg, 0, se_cmd_size(c));
				memcpy(self->arg + c->flags[f].offset, &flag, 4);
				EXPECT_EQ(se_cmd_ok(c), se_cmd_call(c, &self->s, c->request,
							     self->arg))
					TH_LOG("%s: flag %u", c->name, bit);
			}
		}
	}
}

static const uint32_t bad_conds[] = {
	6, 7, 8, 16, 255, 256, 0x10000, 0x10002, 0x80000000, 0x80000002, UINT32_MAX,
};

#define BAD_CONDS (sizeof(bad_conds) / sizeof(bad_conds[0]))

TEST_F(negative, unknown_conditions)
{
	se_for_each_cmd(c) {
		for (unsigned int i = 0; c->cond && i < BAD_CONDS; i++) {
			se_cmd_valid(c, &self->s, self->arg);
			memcpy(self->arg + c->cond, &bad_conds[i], 4);
			refused(_metadata, self, c, -EINVAL, "condition", bad_conds[i]);
		}
	}
}

/* WAIT takes no WAIT_ALL: it is a flag of WAIT_MANY. Nor does QUEUE_ADD. */
TEST_F(negative, wait_all_is_for_wait_many)
{
	se_for_each_cmd(c) {
		uint32_t flag = SYNCEVENT_WAIT_ALL;

		if (c->request != SYNCEVENT_IOC_WAIT && c->request != SYNCEVENT_IOC_QUEUE_ADD)
			continue;
		se_cmd_valid(c, &self->s, self->arg);
		memcpy(self->arg + c->flags[0].offset, &flag, 4);
		refused(_metadata, self, c, -EINVAL, "WAIT_ALL", 0);
	}
}

/* With ARM_CLEAR every other bit must be zero. */
TEST_F(negative, arm_clear_takes_nothing_else)
{
	struct syncevent_arm arm = { .flags = SYNCEVENT_ARM_CLEAR };
	const struct se_cmd *c = se_cmds;

	while (c->request != SYNCEVENT_IOC_ARM)
		c++;
	for (unsigned int bit = 0; bit < 8 * sizeof(arm); bit++) {
		if (bit == 8 * offsetof(struct syncevent_arm, flags))
			continue;
		memcpy(self->arg, &arm, sizeof(arm));
		self->arg[bit / 8] |= (unsigned char)(1u << bit % 8);
		refused(_metadata, self, c, -EINVAL, "ARM_CLEAR and bit", bit);
	}
}

/* A refused ARM leaves the condition that there was. */
TEST_F(negative, refused_arm_changes_nothing)
{
	struct syncevent_arm arm = { .mask = SE_ALL, .cond = 6 };
	int fd = self->s.fd[SE_ON_EVENT];

	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_GT, SE_SUBJECT_VALUE));
	EXPECT_EQ(-EINVAL, se_ioctl(fd, SYNCEVENT_IOC_ARM, &arm));
	EXPECT_EQ(0, se_poll(fd, 0) & POLLIN);
	ASSERT_EQ(0, se_set(fd, SE_SUBJECT_VALUE + 1));
	EXPECT_EQ(POLLIN, se_poll(fd, 0) & POLLIN);
}

/* ---- the entries of WAIT_MANY ------------------------------------------------------- */

static void many_refused(struct __test_metadata *_metadata, struct _test_data_negative *self,
			 struct syncevent_wait_entry *entries, uint32_t count, int err,
			 const char *what, unsigned long n)
{
	struct syncevent_wait_entry before[SYNCEVENT_WAIT_MAX + 1];
	struct syncevent_wait_many *m = (void *)self->arg;
	size_t size = sizeof(before[0]) *
		      (count > SYNCEVENT_WAIT_MAX + 1 ? SYNCEVENT_WAIT_MAX + 1 : count);

	memcpy(before, entries, size);
	for (uint32_t flags = 0; flags <= SYNCEVENT_WAIT_ALL; flags += SYNCEVENT_WAIT_ALL) {
		*m = (struct syncevent_wait_many) {
			.entries = (uintptr_t)entries, .count = count, .flags = flags,
			.index = SE_POISON32,
		};
		refused(_metadata, self, &se_cmds[1], err, what, n);
		ASSERT_EQ(0, memcmp(before, entries, size))
			TH_LOG("%s %lu: the entries were written", what, n);
	}
}

TEST_F(negative, wait_many_entries)
{
	struct syncevent_wait_entry e[SYNCEVENT_WAIT_MAX + 1];
	static const unsigned int places[] = { 0, 1, 63, SYNCEVENT_WAIT_MAX - 1 };
	int fd = self->s.fd[SE_ON_EVENT];

	ASSERT_EQ(SYNCEVENT_IOC_WAIT_MANY, se_cmds[1].request);
	for (unsigned int i = 0; i <= SYNCEVENT_WAIT_MAX; i++)
		e[i] = se_entry(fd, SYNCEVENT_COND_EQ, SE_SUBJECT_VALUE);

	many_refused(_metadata, self, e, 0, -EINVAL, "count", 0);
	many_refused(_metadata, self, e, SYNCEVENT_WAIT_MAX + 1, -EINVAL, "count", 129);
	many_refused(_metadata, self, e, 1u << 31, -EINVAL, "count", 1u << 31);
	many_refused(_metadata, self, e, UINT32_MAX, -EINVAL, "count", UINT32_MAX);
	/* UINT32_MAX / 40 + 2: 40 times that is small again in 32 bits. */
	many_refused(_metadata, self, e, 107374184, -EINVAL, "count", 107374184);

	for (unsigned int k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
		struct syncevent_wait_entry *at = &e[places[k]];

		for (unsigned int bit = 0; bit < 32; bit++) {
			at->reserved = 1u << bit;
			many_refused(_metadata, self, e, SYNCEVENT_WAIT_MAX, -EINVAL,
				     "entry: reserved bit", bit);
		}
		at->reserved = 0;
		for (unsigned int i = 0; i < BAD_CONDS; i++) {
			at->cond = bad_conds[i];
			many_refused(_metadata, self, e, SYNCEVENT_WAIT_MAX, -EINVAL,
				     "entry: condition", bad_conds[i]);
		}
		at->cond = SYNCEVENT_COND_EQ;
	}

	/* What a call answers in, it does not read. */
	for (unsigned int i = 0; i < SYNCEVENT_WAIT_MAX; i++)
		e[i].status = INT32_MIN;
	EXPECT_EQ(0, se_wait_many(e, SYNCEVENT_WAIT_MAX, SYNCEVENT_WAIT_ALL, 0, NULL));
}

/* ---- outputs of calls that fail later ------------------------------------------------ */

TEST_F(negative, timeouts_write_nothing)
{
	int fd = self->s.fd[SE_ON_EVENT];
	struct syncevent_wait_many *m = (void *)self->arg;
	struct syncevent_wait *w = (void *)self->arg;

	se_for_each_cmd(c) {
		for (int past = 0; past < 2; past++) {
			se_cmd_valid(c, &self->s, self->arg);
			if (c->request == SYNCEVENT_IOC_WAIT) {
				w->operand++;
				w->deadline = past ? se_in_ms(2) : 0;
			} else if (c->request == SYNCEVENT_IOC_WAIT_MANY) {
				self->s.entry.operand++;
				m->deadline = past ? se_in_ms(2) : 0;
			} else {
				break;
			}
			refused(_metadata, self, c, -ETIMEDOUT, "time-out", (unsigned int)past);
			if (c->request == SYNCEVENT_IOC_WAIT_MANY) {
				ASSERT_EQ(SE_POISON64, self->s.entry.value);
				ASSERT_EQ((int32_t)SE_POISON32, self->s.entry.status);
			}
		}
	}
	EXPECT_EQ(0, se_waiters(fd));
}

/* A file that may not update refuses what updates, and does the rest. */
TEST_F(negative, no_right_to_update)
{
	int rw = self->s.fd[SE_ON_EVENT];
	int ro = se_dup(rw, SYNCEVENT_DUP_RDONLY);
	struct se_state old, new;

	ASSERT_LE(0, ro);
	se_for_each_cmd(c) {
		if (c->on != SE_ON_EVENT)
			continue;
		se_cmd_valid(c, &self->s, self->arg);
		if (c->updates) {
			se_refused(_metadata, &self->s, c, ro, c->request, self->arg,
				   se_cmd_size(c), -EBADF, "read-only", 0);
			continue;
		}
		self->s.fd[SE_ON_EVENT] = ro;
		EXPECT_EQ(se_cmd_ok(c), se_cmd_call(c, &self->s, c->request, self->arg))
			TH_LOG("%s", c->name);
		self->s.fd[SE_ON_EVENT] = rw;
	}
	se_state_get(&self->s, &old);
	EXPECT_EQ(-EBADF, se_write(ro, 1));
	se_state_get(&self->s, &new);
	se_same_state(_metadata, &old, &new, "write", "read-only", 0);
	close(ro);
}

/* The arguments are looked at first, then the right, then the event's end. */
TEST_F(negative, order_of_checks_on_a_revoked_event)
{
	int rw = self->s.fd[SE_ON_EVENT];
	int ro = se_dup(rw, SYNCEVENT_DUP_RDONLY);
	uint32_t all = UINT32_MAX;

	ASSERT_LE(0, ro);
	ASSERT_EQ(0, se_revoke(rw));
	se_for_each_cmd(c) {
		if (c->on != SE_ON_EVENT || c->lives)
			continue;
		se_cmd_valid(c, &self->s, self->arg);
		refused(_metadata, self, c, -EIDRM, "revoked", 0);
		if (c->updates)
			se_refused(_metadata, &self->s, c, ro, c->request, self->arg,
				   se_cmd_size(c), -EBADF, "read-only and revoked", 0);
		if (se_cmd_reads(c))
			se_refused(_metadata, &self->s, c, ro, c->request, NULL, 0,
				   -EFAULT, "NULL and revoked", 0);
		if (!c->flags[0].known)
			continue;
		memcpy(self->arg + c->flags[0].offset, &all, 4);
		refused(_metadata, self, c, -EINVAL, "flags and revoked", 0);
	}
	EXPECT_EQ(-EBADF, se_write(ro, 1));
	EXPECT_EQ(-EIDRM, se_write(rw, 1));
	close(ro);
}

/* QUEUE_ADD: a cookie that is in use, an event that has ended. */
TEST_F(negative, queue_add_refuses)
{
	struct syncevent_queue_add *a = (void *)self->arg;
	int q = self->s.fd[SE_ON_QUEUE], fd = self->s.fd[SE_ON_EVENT];
	const struct se_cmd *c = se_cmds;
	int dead = se_create(0);

	while (c->request != SYNCEVENT_IOC_QUEUE_ADD)
		c++;
	ASSERT_LE(0, dead);
	ASSERT_EQ(0, se_revoke(dead));
	se_cmd_valid(c, &self->s, self->arg);
	a->fd = dead;
	refused(_metadata, self, c, -EIDRM, "revoked event", 0);

	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, 100, SE_SUBJECT_COOKIE, SE_FOREVER));
	se_cmd_valid(c, &self->s, self->arg);
	refused(_metadata, self, c, -EEXIST, "waiting cookie", 0);
	ASSERT_EQ(0, se_set(fd, 101));
	refused(_metadata, self, c, -EEXIST, "unread cookie", 0);
	close(dead);
}

/* ---- read, write, seek ---------------------------------------------------------------- */

TEST_F(negative, short_reads_and_writes)
{
	struct syncevent_completion done[2];
	char buf[64];
	int fd = self->s.fd[SE_ON_EVENT], q = self->s.fd[SE_ON_QUEUE];
	struct se_state old, new;

	ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_EQ, SE_SUBJECT_VALUE, 1, SE_FOREVER));
	ASSERT_EQ(0, se_arm(fd, SYNCEVENT_COND_EQ, SE_SUBJECT_VALUE));
	se_state_get(&self->s, &old);
	for (size_t n = 0; n < 8; n++) {
		EXPECT_EQ(-1, read(fd, buf, n));
		EXPECT_EQ(EINVAL, errno) TH_LOG("read %zu", n);
		EXPECT_EQ(-1, write(fd, buf, n));
		EXPECT_EQ(EINVAL, errno) TH_LOG("write %zu", n);
	}
	for (size_t n = 0; n < sizeof(done[0]); n++) {
		EXPECT_EQ(-1, read(q, done, n));
		EXPECT_EQ(EINVAL, errno) TH_LOG("queue read %zu", n);
	}
	for (size_t n = 0; n < sizeof(done[0]) + 8; n++) {
		EXPECT_EQ(-1, write(q, done, n));
		EXPECT_EQ(EINVAL, errno) TH_LOG("queue write %zu", n);
	}
	se_state_get(&self->s, &new);
	se_same_state(_metadata, &old, &new, "read, write", "short", 0);

	/* Longer is fine, and only what belongs to it is written. */
	memset(buf, 0xcc, sizeof(buf));
	EXPECT_EQ(8, read(fd, buf, sizeof(buf)));
	EXPECT_TRUE(se_poisoned(buf + 8, sizeof(buf) - 8));
	memset(done, 0xcc, sizeof(done));
	EXPECT_EQ(sizeof(done[0]), read(q, done, sizeof(done[0]) + 7));
	EXPECT_TRUE(se_poisoned(&done[1], sizeof(done[1])));
	memset(buf, 0, sizeof(buf));
	EXPECT_EQ(8, write(fd, buf, sizeof(buf)));
}

TEST_F(negative, no_position)
{
	uint64_t v = 0;
	struct iovec iov = { &v, sizeof(v) };

	for (int i = SE_ON_EVENT; i <= SE_ON_QUEUE; i++) {
		int fd = self->s.fd[i];

		EXPECT_EQ(-1, lseek(fd, 0, SEEK_CUR));
		EXPECT_EQ(ESPIPE, errno);
		EXPECT_EQ(-1, pread(fd, &v, sizeof(v), 0));
		EXPECT_EQ(ESPIPE, errno);
		EXPECT_EQ(-1, pwrite(fd, &v, sizeof(v), 0));
		EXPECT_EQ(ESPIPE, errno);
		EXPECT_EQ(-1, preadv(fd, &iov, 1, 8));
		EXPECT_EQ(ESPIPE, errno);
		EXPECT_EQ(-1, pwritev(fd, &iov, 1, 8));
		EXPECT_EQ(ESPIPE, errno);
	}
}

TEST_F(negative, device_is_not_read_or_written)
{
	uint64_t v = 1;

	EXPECT_EQ(-1, read(se_dev(), &v, sizeof(v)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(se_dev(), &v, sizeof(v)));
	EXPECT_EQ(EINVAL, errno);
}

/* ---- mmap ------------------------------------------------------------------------------- */

TEST_F(negative, mmap_arguments)
{
	static const struct {
		size_t length;
		int prot;
		int flags;
		off_t offset;
		int err;
	} t[] = {
		{ 4097, PROT_READ, MAP_SHARED, 0, EINVAL },
		{ 8192, PROT_READ, MAP_SHARED, 0, EINVAL },
		{ 8192, PROT_NONE, MAP_SHARED, 0, EINVAL },
		{ 1 << 21, PROT_READ, MAP_SHARED, 0, EINVAL },
		{ 0, PROT_READ, MAP_SHARED, 0, EINVAL },
		{ 4096, PROT_READ, MAP_PRIVATE, 0, EINVAL },
		{ 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0, EINVAL },
		{ 4096, PROT_READ | PROT_EXEC, MAP_SHARED, 0, EPERM },
		{ 4096, PROT_READ, MAP_SHARED, 4096, EINVAL },
		{ 4096, PROT_READ, MAP_SHARED, 1, EINVAL },
		{ 4096, PROT_READ, MAP_SHARED, (off_t)(~0UL >> 1) & ~4095L, EINVAL },
		{ 4096, PROT_READ, MAP_SHARED, (off_t)(~(~0UL >> 1)), EINVAL },
		{ 4096, PROT_READ, MAP_SHARED, -4096, EINVAL },
		{ 8192, PROT_READ, MAP_SHARED, -4096, EINVAL },
	};
	struct se_state old, new;

	se_state_get(&self->s, &old);
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		void *p = mmap(NULL, t[i].length, t[i].prot, t[i].flags,
			       self->s.fd[SE_ON_EVENT], t[i].offset);

		EXPECT_EQ(MAP_FAILED, p) TH_LOG("row %u", i);
		/* The kernel itself refuses offsets at the end of the range. */
		if (errno != EOVERFLOW || (t[i].offset >= 0 && t[i].offset <= 4096)) {
			EXPECT_EQ(t[i].err, errno) TH_LOG("row %u", i);
		}
	}
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, se_dev(), 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED,
				   self->s.fd[SE_ON_QUEUE], 0));
	EXPECT_EQ(ENODEV, errno);
	se_state_get(&self->s, &new);
	se_same_state(_metadata, &old, &new, "mmap", "refused", 0);
}

TEST_HARNESS_MAIN
