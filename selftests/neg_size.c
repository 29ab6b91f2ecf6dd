// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The size that an ioctl number names, from 0 to 4096: structures may grow at
 * their end, so a longer one passes if what this kernel does not know is zero.
 */
#include "ioctls.h"

#define SIZE_MAX_TRIED	4096
#define ROOM		(SIZE_MAX_TRIED + 64)

FIXTURE(size) {
	struct se_subject s;
	unsigned char *buf;
	struct se_held held;
};

FIXTURE_SETUP(size)
{
	ASSERT_LE(0, se_dev());
	self->held = se_held();
	ASSERT_EQ(0, se_subject_open(&self->s));
	self->buf = aligned_alloc(64, ROOM);
	ASSERT_NE(NULL, self->buf);
}

FIXTURE_TEARDOWN(size)
{
	free(self->buf);
	se_subject_close(&self->s);
	se_nothing_held(_metadata, self->held);
}

/* Valid arguments in a structure of @size bytes; behind it bytes that are not zero. */
static void fill(struct _test_data_size *self, const struct se_cmd *c, unsigned int size)
{
	se_poison(self->buf, ROOM);
	memset(self->buf, 0, size);
	se_cmd_valid(c, &self->s, self->buf);
}

static void refused(struct __test_metadata *_metadata, struct _test_data_size *self,
		    const struct se_cmd *c, unsigned int size, int err, const char *what,
		    unsigned long n)
{
	se_refused(_metadata, &self->s, c, self->s.fd[c->on], se_cmd_resize(c, size),
		   self->buf, ROOM, err, what, n);
}

/* From one size that is tried to the next: 1, or more where SE_PERCENT says so. */
static unsigned int step(void)
{
	return SIZE_MAX_TRIED / se_times(SIZE_MAX_TRIED);
}

static bool is_zero(const unsigned char *p, size_t size)
{
	static const unsigned char zero[SIZE_MAX_TRIED];

	return !memcmp(p, zero, size);
}

TEST_F(size, shorter_than_the_first_version)
{
	se_for_each_cmd(c) {
		for (unsigned int size = 0; size < se_cmd_size(c); size++) {
			fill(self, c, se_cmd_size(c));
			refused(_metadata, self, c, size, -EINVAL, "size", size);
		}
	}
}

/* RING and REVOKE have no structure, so no size either. */
TEST_F(size, none)
{
	se_for_each_cmd(c) {
		if (se_cmd_size(c))
			continue;
		for (unsigned int size = 1; size <= SIZE_MAX_TRIED; size += step()) {
			memset(self->buf, 0, ROOM);
			refused(_metadata, self, c, size, -ENOTTY, "size", size);
		}
	}
}

TEST_F(size, longer_with_a_zero_tail)
{
	se_for_each_cmd(c) {
		unsigned int first = se_cmd_size(c);
		struct se_state old, new;

		if (!se_cmd_reads(c))
			continue;
		se_state_get(&self->s, &old);
		for (unsigned int size = first; size <= SIZE_MAX_TRIED; size += step()) {
			fill(self, c, size);
			ASSERT_EQ(se_cmd_ok(c), se_cmd_call(c, &self->s, se_cmd_resize(c, size),
						     self->buf))
				TH_LOG("%s: size %u", c->name, size);
			ASSERT_TRUE(se_poisoned(self->buf + size, ROOM - size))
				TH_LOG("%s: size %u: it wrote behind", c->name, size);
			ASSERT_TRUE(is_zero(self->buf + first, size - first))
				TH_LOG("%s: size %u: the tail is not zero", c->name, size);
		}
		se_state_get(&self->s, &new);
		se_same_state(_metadata, &old, &new, c->name, "longer", 0);
	}
}

/* At each position of the longest tail; in shorter ones at both ends. */
TEST_F(size, longer_with_a_byte_in_the_tail)
{
	se_for_each_cmd(c) {
		unsigned int first = se_cmd_size(c);

		if (!se_cmd_reads(c))
			continue;
		for (unsigned int at = first; at < SIZE_MAX_TRIED; at += step()) {
			fill(self, c, SIZE_MAX_TRIED);
			self->buf[at] = 1;
			refused(_metadata, self, c, SIZE_MAX_TRIED, -E2BIG, "tail byte", at);
			fill(self, c, at + 1);
			self->buf[at] = 0x80;
			refused(_metadata, self, c, at + 1, -E2BIG, "last byte", at);
			fill(self, c, at + 1);
			self->buf[first] = 1;
			refused(_metadata, self, c, at + 1, -E2BIG, "first byte, size", at + 1);
		}
	}
}

static bool same_answer(struct _test_data_size *self, const struct se_cmd *c, unsigned int size)
{
	unsigned char exact[SE_ARG_MAX];

	se_poison(self->buf, ROOM);
	return !se_cmd_call(c, &self->s, c->request, exact) &&
	       !se_cmd_call(c, &self->s, se_cmd_resize(c, size), self->buf) &&
	       !memcmp(exact, self->buf, se_cmd_size(c));
}

/* A structure that is only an answer has no input: its tail is filled with zeroes. */
TEST_F(size, answers_have_a_zero_tail)
{
	se_for_each_cmd(c) {
		unsigned int first = se_cmd_size(c);

		if (!se_cmd_answers(c) || se_cmd_reads(c))
			continue;
		for (unsigned int size = first; size <= SIZE_MAX_TRIED; size += step()) {
			/* What PCI_INFO counts may grow between the two: once in a while. */
			ASSERT_TRUE(se_until(same_answer(self, c, size)))
				TH_LOG("%s: size %u: another answer", c->name, size);
			ASSERT_TRUE(is_zero(self->buf + first, size - first))
				TH_LOG("%s: size %u: the tail is not zero", c->name, size);
			ASSERT_TRUE(se_poisoned(self->buf + size, ROOM - size))
				TH_LOG("%s: size %u: it wrote behind", c->name, size);
		}
	}
}

TEST_HARNESS_MAIN
