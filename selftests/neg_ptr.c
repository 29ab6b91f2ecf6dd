// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Pointers that lead nowhere: EFAULT, and nothing changed, leaked or consumed.
 */
#include "ioctls.h"

#define PAGE	4096u

/*
 * Pages: one that may be written, one that is not there; one that may be
 * written, one that may not be touched; one that may only be read.
 */
FIXTURE(ptr) {
	struct se_subject s;
	unsigned char *hole;		/* the byte where the absent page begins */
	unsigned char *none;		/* the byte where the forbidden page begins */
	unsigned char *readonly;
	struct se_held held;
};

static unsigned char *map(unsigned int pages)
{
	void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

FIXTURE_SETUP(ptr)
{
	ASSERT_LE(0, se_dev());
	self->held = se_held();
	ASSERT_EQ(0, se_subject_open(&self->s));
	self->hole = map(2);
	self->none = map(2);
	self->readonly = map(1);
	ASSERT_TRUE(self->hole && self->none && self->readonly);
	self->hole += PAGE;
	self->none += PAGE;
	ASSERT_EQ(0, munmap(self->hole, PAGE));
	ASSERT_EQ(0, mprotect(self->none, PAGE, PROT_NONE));
}

FIXTURE_TEARDOWN(ptr)
{
	se_subject_close(&self->s);
	se_nothing_held(_metadata, self->held);
}

static void faults(struct __test_metadata *_metadata, struct _test_data_ptr *self,
		   const struct se_cmd *c, unsigned int request, void *arg, const char *what,
		   unsigned long n)
{
	se_refused(_metadata, &self->s, c, self->s.fd[c->on], request, arg, 0, -EFAULT,
		   what, n);
}

TEST_F(ptr, nowhere)
{
	se_for_each_cmd(c) {
		void *bad[] = {
			NULL, (void *)1, self->hole, self->none, self->none + 8,
			(void *)(uintptr_t)-1, (void *)(uintptr_t)-8,
#if UINTPTR_MAX > UINT32_MAX
			/* the kernel's half of the address space; the hole between */
			(void *)(1UL << 63), (void *)(-1UL << 47), (void *)(1UL << 55),
#endif
		};

		if (!se_cmd_size(c))
			continue;
		for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			faults(_metadata, self, c, c->request, bad[i], "pointer", i);
			faults(_metadata, self, c, se_cmd_resize(c, 4096), bad[i],
			       "pointer, long structure", i);
		}
	}
}

/* RING and REVOKE look at no argument. */
TEST_F(ptr, not_looked_at)
{
	int fd = self->s.fd[SE_ON_EVENT];

	EXPECT_EQ(0, se_ioctl(fd, SYNCEVENT_IOC_RING, self->hole));
	EXPECT_EQ(0, se_ioctl(fd, SYNCEVENT_IOC_REVOKE, (void *)-1L));
}

/* For each number of bytes that are still there. */
TEST_F(ptr, into_a_missing_page)
{
	se_for_each_cmd(c) {
		unsigned int size = se_cmd_size(c);
		unsigned char arg[SE_ARG_MAX];

		for (unsigned int there = 1; there < size; there++) {
			unsigned char *ends[] = { self->hole, self->none };

			for (int i = 0; i < 2; i++) {
				se_cmd_valid(c, &self->s, arg);
				memcpy(ends[i] - there, arg, there);
				faults(_metadata, self, c, c->request, ends[i] - there,
				       "bytes before the hole", there);
			}
		}
		if (!size)
			continue;
		/* The tail of a longer structure reaches over the end. */
		for (unsigned int tail = 1; tail <= 64; tail++) {
			unsigned char *at = self->hole - size - tail + 1;

			memset(at, 0, size + tail - 1);
			se_cmd_valid(c, &self->s, at);
			faults(_metadata, self, c, se_cmd_resize(c, size + tail), at,
			       "tail over the end", tail);
		}
	}
}

/* Exactly at the end, and at odd addresses, all is well. */
TEST_F(ptr, at_the_end_and_misaligned)
{
	se_for_each_cmd(c) {
		if (!se_cmd_size(c) || c->request == SYNCEVENT_IOC_REVOKE)
			continue;
		for (unsigned int before = 0; before < 16; before++) {
			unsigned char arg[SE_ARG_MAX];
			void *at = self->hole - se_cmd_size(c) - before;

			se_cmd_valid(c, &self->s, arg);
			memcpy(at, arg, se_cmd_size(c));
			EXPECT_EQ(se_cmd_ok(c), se_cmd_call(c, &self->s, c->request, at))
				TH_LOG("%s: %u", c->name, before);
		}
	}
}

TEST_F(ptr, answers_into_memory_that_is_only_read)
{
	se_for_each_cmd(c) {
		if (!se_cmd_size(c))
			continue;
		ASSERT_EQ(0, mprotect(self->readonly, PAGE, PROT_READ | PROT_WRITE));
		se_cmd_valid(c, &self->s, self->readonly);
		ASSERT_EQ(0, mprotect(self->readonly, PAGE, PROT_READ));
		if (se_cmd_answers(c) && !se_cmd_ok(c)) {
			faults(_metadata, self, c, c->request, self->readonly, "read-only", 0);
			continue;
		}
		EXPECT_EQ(se_cmd_ok(c), se_cmd_call(c, &self->s, c->request, self->readonly))
			TH_LOG("%s", c->name);
	}
}

static void entries_fault(struct __test_metadata *_metadata, struct _test_data_ptr *self,
			  void *entries, uint32_t count, const char *what)
{
	struct syncevent_wait_many m = {
		.entries = (uintptr_t)entries, .count = count, .index = SE_POISON32,
	};

	for (m.flags = 0; m.flags <= SYNCEVENT_WAIT_ALL; m.flags += SYNCEVENT_WAIT_ALL)
		se_refused(_metadata, &self->s, &se_cmds[1], se_dev(), SYNCEVENT_IOC_WAIT_MANY,
			   &m, sizeof(m), -EFAULT, what, count);
}

TEST_F(ptr, entries_of_wait_many)
{
	struct syncevent_wait_entry e = se_entry(self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_EQ,
						 SE_SUBJECT_VALUE);
	static const uint32_t counts[] = { 1, 2, 17, SYNCEVENT_WAIT_MAX };

	for (unsigned int i = 0; i < 4; i++) {
		uint32_t count = counts[i];
		size_t size = count * sizeof(e);
		unsigned char *copy;

		entries_fault(_metadata, self, NULL, count, "NULL");
		entries_fault(_metadata, self, self->hole, count, "hole");
		entries_fault(_metadata, self, self->none, count, "PROT_NONE");
		entries_fault(_metadata, self, (void *)-1L, count, "the last byte");
		entries_fault(_metadata, self, (void *)-(long)sizeof(e), count, "the end");

		copy = malloc(size);
		ASSERT_NE(NULL, copy);
		for (uint32_t k = 0; k < count; k++)
			memcpy(copy + k * sizeof(e), &e, sizeof(e));
		for (size_t there = 1; there < size && there < PAGE; there += 13) {
			memcpy(self->hole - there, copy, there);
			entries_fault(_metadata, self, self->hole - there, count, "across");
		}
		/* They are read, the condition holds, and the answer has no place. */
		if (size <= PAGE) {
			ASSERT_EQ(0, mprotect(self->readonly, PAGE, PROT_READ | PROT_WRITE));
			memcpy(self->readonly, copy, size);
			ASSERT_EQ(0, mprotect(self->readonly, PAGE, PROT_READ));
			entries_fault(_metadata, self, self->readonly, count, "read-only");
		}
		free(copy);
	}
}

/* ---- read(2) and write(2) --------------------------------------------------------------- */

/* What could not be copied out was not read: the event stays ready. */
TEST_F(ptr, event_read_and_write)
{
	int fd = self->s.fd[SE_ON_EVENT];
	struct se_state old, new;

	ASSERT_EQ(0, mprotect(self->readonly, PAGE, PROT_READ));
	ASSERT_EQ(0, se_set(fd, SE_SUBJECT_VALUE + 1));
	se_state_get(&self->s, &old);
	for (unsigned int there = 0; there < 8; there++) {
		EXPECT_EQ(-1, read(fd, self->hole - there, 8));
		EXPECT_EQ(EFAULT, errno) TH_LOG("read, %u bytes there", there);
		EXPECT_EQ(-1, write(fd, self->none - there, 8));
		EXPECT_EQ(EFAULT, errno) TH_LOG("write, %u bytes there", there);
	}
	EXPECT_EQ(-1, read(fd, self->readonly, 8));
	EXPECT_EQ(EFAULT, errno);
	se_state_get(&self->s, &new);
	se_same_state(_metadata, &old, &new, "read, write", "EFAULT", 0);
}

TEST_F(ptr, failed_read_leaves_the_event_ready)
{
	int fd = self->s.fd[SE_ON_EVENT];
	uint64_t v;

	ASSERT_EQ(0, se_set(fd, SE_SUBJECT_VALUE + 1));
	EXPECT_EQ(-1, read(fd, self->hole, 8));
	EXPECT_EQ(POLLIN, se_poll(fd, 0) & POLLIN);
	ASSERT_EQ(0, se_read(fd, &v));
	EXPECT_EQ(SE_SUBJECT_VALUE + 1, v);
	EXPECT_EQ(0, se_poll(fd, 0) & POLLIN);
}

/* A completion leaves the queue only after it was copied out. */
TEST_F(ptr, queue_read_consumes_what_it_copied)
{
	const size_t one = sizeof(struct syncevent_completion);
	int q = self->s.fd[SE_ON_QUEUE], fd = self->s.fd[SE_ON_EVENT];
	struct syncevent_completion c[4];

	for (uint64_t cookie = 1; cookie <= 3; cookie++) {
		ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_EQ, SE_SUBJECT_VALUE, cookie,
					  SE_FOREVER));
	}
	for (unsigned int there = 0; there < one; there++) {
		EXPECT_EQ(-1, read(q, self->hole - there, 3 * one));
		EXPECT_EQ(EFAULT, errno) TH_LOG("%u bytes there", there);
	}
	/* The first fits, the second does not: one is read. */
	EXPECT_EQ(one, read(q, self->hole - one - 5, 3 * one));
	memcpy(&c[0], self->hole - one - 5, one);
	EXPECT_EQ(1, c[0].cookie);
	EXPECT_EQ(0, c[0].status);
	EXPECT_EQ(SE_SUBJECT_VALUE, c[0].value);
	EXPECT_EQ(2, se_reap(q, c, 4));
	EXPECT_EQ(2, c[0].cookie);
	EXPECT_EQ(3, c[1].cookie);
	EXPECT_EQ(-EAGAIN, se_reap(q, c, 4));
}

TEST_HARNESS_MAIN
