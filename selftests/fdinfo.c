// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What /proc/PID/fdinfo says of events and queues, line by line.
 */
#include "common.h"

#include <inttypes.h>
#include <stdarg.h>

/* The syncevent lines of a descriptor, one blank behind each colon. */
static void read_fdinfo(int fd, char *text, size_t size)
{
	char path[64], line[256], key[64], value[192];
	size_t used = 0;
	FILE *f;

	text[0] = '\0';
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "syncevent", 9))
			continue;
		if (sscanf(line, "%63[^:]: %191[^\n]", key, value) != 2)
			strcpy(value, "(unreadable)");
		used += (size_t)snprintf(text + used, size - used, "%s: %s\n", key, value);
		if (used >= size)
			break;
	}
	fclose(f);
}

/**
 * struct expected - what an event's lines should say
 */
struct expected {
	uint64_t value;
	const char *state;
	const char *rights;
	const char *flags;
	unsigned int waiters;
	uint64_t rings;
	uint64_t wakes;
	const char *condition;
	uint64_t last_read;
};

static void expect(struct __test_metadata *_metadata, int fd, const struct expected *e)
{
	char seen[1024], wanted[1024];
	struct syncevent_info info;

	ASSERT_EQ(0, se_info(fd, &info));
	snprintf(wanted, sizeof(wanted),
		 "syncevent-id: %" PRIu64 "\nsyncevent-value: %" PRIu64 "\n"
		 "syncevent-state: %s\nsyncevent-rights: %s\nsyncevent-flags: %s\n"
		 "syncevent-waiters: %u\nsyncevent-rings: %" PRIu64 "\n"
		 "syncevent-wakes: %" PRIu64 "\nsyncevent-looks: 0\nsyncevent-condition: %s\n"
		 "syncevent-last-read: %" PRIu64 "\n",
		 (uint64_t)info.id, e->value, e->state, e->rights, e->flags, e->waiters,
		 e->rings, e->wakes, e->condition, e->last_read);
	read_fdinfo(fd, seen, sizeof(seen));
	EXPECT_STREQ(wanted, seen);
	/* INFO tells the same. */
	EXPECT_EQ(e->value, info.value);
	EXPECT_EQ(e->waiters, info.waiters);
	EXPECT_EQ(e->rings, info.rings);
	EXPECT_EQ(e->wakes, info.wakes);
}

TEST(event_through_its_life)
{
	struct expected e = {
		.value = 7, .state = "live", .rights = "read,update", .flags = "-",
		.condition = "unread", .last_read = 7,
	};
	struct se_waiter w;
	int fd = se_create(7);
	uint64_t v;

	ASSERT_LE(0, fd);
	expect(_metadata, fd, &e);

	ASSERT_EQ(0, se_set(fd, UINT64_MAX));
	e.value = UINT64_MAX;
	expect(_metadata, fd, &e);

	ASSERT_EQ(0, se_read(fd, &v));
	e.last_read = UINT64_MAX;
	expect(_metadata, fd, &e);

	ASSERT_EQ(0, se_ring(fd));
	ASSERT_EQ(0, se_ring(fd));
	e.rings = 2;
	expect(_metadata, fd, &e);

	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_LT, 4));
	ASSERT_TRUE(se_until_waiters(fd, 1));
	e.waiters = 1;
	expect(_metadata, fd, &e);

	ASSERT_EQ(0, se_set(fd, 3));
	ASSERT_EQ(0, se_waiter_join(&w));
	e.waiters = 0;
	e.wakes = 1;
	e.value = 3;
	expect(_metadata, fd, &e);

	ASSERT_EQ(0, se_revoke(fd));
	e.state = "revoked";
	expect(_metadata, fd, &e);
	close(fd);
}

TEST(condition_of_the_open_file)
{
	static const char *const names[] = { "eq", "neq", "gt", "ge", "lt", "le" };
	struct expected e = {
		.state = "live", .rights = "read,update", .flags = "-",
	};
	char text[80];
	int fd = se_create(0), dup;

	ASSERT_LE(0, fd);
	e.condition = text;
	for (uint32_t cond = 0; cond < 6; cond++) {
		ASSERT_EQ(0, se_arm_mask(fd, cond, 5, SE_ALL));
		snprintf(text, sizeof(text), "%s 5 mask 0xffffffffffffffff", names[cond]);
		expect(_metadata, fd, &e);
	}
	ASSERT_EQ(0, se_arm_mask(fd, SYNCEVENT_COND_EQ, UINT64_MAX, 0x1f0));
	snprintf(text, sizeof(text), "eq %" PRIu64 " mask 0x1f0", UINT64_MAX);
	expect(_metadata, fd, &e);

	/* A DUP has a condition of its own. */
	dup = se_dup(fd, SYNCEVENT_DUP_RDONLY);
	ASSERT_LE(0, dup);
	strcpy(text, "unread");
	e.rights = "read";
	expect(_metadata, dup, &e);

	ASSERT_EQ(0, se_disarm(fd));
	e.rights = "read,update";
	expect(_metadata, fd, &e);
	close(dup);
	close(fd);
}

TEST(silent_event)
{
	struct expected e = {
		.value = 1, .state = "live", .rights = "read,update", .flags = "silent",
		.condition = "unread", .last_read = 1,
	};
	int fd = se_create_flags(1, SYNCEVENT_CREATE_SILENT);

	ASSERT_LE(0, fd);
	expect(_metadata, fd, &e);
	close(fd);
}

TEST(queue)
{
	char seen[256];
	int fd = se_create(0), q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	struct syncevent_completion c;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, q);
	read_fdinfo(q, seen, sizeof(seen));
	EXPECT_STREQ("syncevent-queue-entries: 0\nsyncevent-queue-done: 0\n", seen);

	for (uint64_t i = 0; i < 5; i++) {
		ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_GT, i, i, SE_FOREVER));
	}
	ASSERT_EQ(0, se_set(fd, 2));
	read_fdinfo(q, seen, sizeof(seen));
	EXPECT_STREQ("syncevent-queue-entries: 5\nsyncevent-queue-done: 2\n", seen);

	ASSERT_EQ(1, se_reap(q, &c, 1));
	read_fdinfo(q, seen, sizeof(seen));
	EXPECT_STREQ("syncevent-queue-entries: 4\nsyncevent-queue-done: 1\n", seen);
	close(q);
	close(fd);
}

/* Ids are unique, and every file of one event shows the same. */
TEST(ids)
{
	struct syncevent_info a, b, c;
	int x = se_create(0), y = se_create(0), z;

	ASSERT_LE(0, x);
	ASSERT_LE(0, y);
	z = se_dup(x, 0);
	ASSERT_LE(0, z);
	ASSERT_EQ(0, se_info(x, &a));
	ASSERT_EQ(0, se_info(y, &b));
	ASSERT_EQ(0, se_info(z, &c));
	EXPECT_NE(a.id, b.id);
	EXPECT_EQ(a.id, c.id);
	close(x);
	close(y);
	close(z);
}

/* No kernel address is shown to anybody. */
TEST(no_addresses)
{
	char seen[1024];
	int fd = se_create(0);

	ASSERT_LE(0, fd);
	read_fdinfo(fd, seen, sizeof(seen));
	EXPECT_EQ(NULL, strstr(seen, "0xffff8"));
	EXPECT_EQ(NULL, strstr(seen, "ffff8"));
	close(fd);
}

TEST_HARNESS_MAIN
