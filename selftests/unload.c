// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Taking the module out: refused while anything of it is in use, clean after.
 *
 * Runs as root in a guest; leaves the module loaded as it found it, with default
 * parameters. SYNCEVENT_KO names the module's file.
 */
#include "common.h"

#include <sys/stat.h>

#define MODULE	"syncevent"
#define SYS	"/sys/module/" MODULE

static const char *module_file(void)
{
	const char *path = getenv("SYNCEVENT_KO");

	return path ? path : "/m/syncevent.ko";
}

static int insert(const char *parameters)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int delete(void)
{
	return syscall(SYS_delete_module, MODULE, O_NONBLOCK) ? -errno : 0;
}

/* The last reference may be dropped by a work item. */
static bool until_deleted(void)
{
	return se_until(!delete());
}

/*
 * The device is opened by each test itself, and closed again: se_dev() would keep
 * it open.
 */
static int open_dev(void)
{
	int fd = open(SE_DEV, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* An event, and no device file any more. */
static int create(uint32_t flags)
{
	struct syncevent_create c = { .flags = flags };
	int dev = open_dev(), fd;

	if (dev < 0)
		return dev;
	fd = se_ioctl(dev, SYNCEVENT_IOC_CREATE, &c);
	close(dev);
	return fd;
}

static int create_queue(void)
{
	struct syncevent_queue_create c = { .flags = 0 };
	int dev = open_dev(), fd;

	if (dev < 0)
		return dev;
	fd = se_ioctl(dev, SYNCEVENT_IOC_QUEUE, &c);
	close(dev);
	return fd;
}

FIXTURE(unload) {
	int unused;
};

FIXTURE_SETUP(unload)
{
	self->unused = 0;
	ASSERT_EQ(0, geteuid()) TH_LOG("this test must be run by root");
	if (access(SYS, F_OK)) {
		ASSERT_EQ(0, insert(""));
	}
}

FIXTURE_TEARDOWN(unload)
{
	if (access(SYS, F_OK)) {
		EXPECT_EQ(0, insert(""));
	}
}

TEST_F(unload, clean)
{
	struct stat st;

	ASSERT_TRUE(until_deleted());
	EXPECT_EQ(-ENOENT, open_dev());
	EXPECT_EQ(-1, stat(SYS, &st));
	EXPECT_EQ(0, insert(""));
	EXPECT_EQ(-EEXIST, insert(""));
}

/* While any of these exists. EWOULDBLOCK: it is in use. */
TEST_F(unload, refused_while_a_file_is_open)
{
	int fd;

	fd = open_dev();
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	close(fd);
	EXPECT_TRUE(until_deleted());

	ASSERT_EQ(0, insert(""));
	fd = create(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	EXPECT_EQ(0, se_set(fd, 1));
	close(fd);
	EXPECT_TRUE(until_deleted());

	ASSERT_EQ(0, insert(""));
	fd = create_queue();
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	close(fd);
	EXPECT_TRUE(until_deleted());
}

TEST_F(unload, refused_while_a_dup_is_open)
{
	int fd = create(0), dup;

	ASSERT_LE(0, fd);
	dup = se_dup(fd, SYNCEVENT_DUP_RDONLY);
	ASSERT_LE(0, dup);
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	close(dup);
	EXPECT_TRUE(until_deleted());
}

TEST_F(unload, refused_while_it_is_mapped)
{
	int fd = create(0);
	struct syncevent_cell *cell;

	ASSERT_LE(0, fd);
	cell = se_map(fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, cell);
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	cell->value = 5;
	EXPECT_EQ(5, cell->value);
	munmap(cell, 4096);
	EXPECT_TRUE(until_deleted());
}

TEST_F(unload, refused_while_it_is_mapped_and_revoked)
{
	int fd = create(0);
	struct syncevent_cell *cell;

	ASSERT_LE(0, fd);
	cell = se_map(fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, se_revoke(fd));
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	/* Faults in the private page: the module's code runs. */
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, cell->state & SYNCEVENT_STATE_MASK);
	munmap(cell, 4096);
	EXPECT_TRUE(until_deleted());
}

TEST_F(unload, refused_while_somebody_waits)
{
	struct se_waiter w;
	int fd = create(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 1));
	ASSERT_TRUE(se_until_waiters(fd, 1));
	EXPECT_EQ(-EWOULDBLOCK, delete());
	ASSERT_EQ(0, se_set(fd, 1));
	ASSERT_EQ(0, se_waiter_join(&w));
	close(fd);
	EXPECT_TRUE(until_deleted());
}

TEST_F(unload, refused_while_a_descriptor_is_in_flight)
{
	int fd = create(0), sock[2];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	ASSERT_EQ(0, se_send_fd(sock[0], fd));
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, delete());
	close(sock[0]);
	close(sock[1]);
	EXPECT_TRUE(until_deleted());
}

/* A silent event with armed polls and entries has work under way: it ends with it. */
TEST_F(unload, right_after_silent_events)
{
	for (int i = 0; i < 20; i++) {
		int fd = create(SYNCEVENT_CREATE_SILENT), q = create_queue();

		ASSERT_LE(0, fd);
		ASSERT_LE(0, q);
		se_poll(fd, 0);
		ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_EQ, 1, 1, SE_FOREVER));
		ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_EQ, 2, 2, se_in_ms(5)));
		if (i & 1)
			close(q);
		close(fd);
		if (!(i & 1))
			close(q);
		ASSERT_TRUE(until_deleted());
		ASSERT_EQ(0, insert(""));
	}
}

static int use_everything(void *arg)
{
	int q = create_queue(), ready = *(int *)arg;
	struct se_waiter w[3];

	if (q < 0)
		return 1;
	for (int i = 0; i < 30; i++) {
		int fd = create(i % 3 ? 0 : SYNCEVENT_CREATE_SILENT);
		struct syncevent_cell *cell;

		if (fd < 0)
			return 1;
		cell = se_map(fd, PROT_READ | PROT_WRITE);
		if (!cell)
			return 1;
		cell->value = 1;
		se_poll(fd, 0);
		if (se_queue_add(q, fd, SYNCEVENT_COND_EQ, 5, (unsigned int)i, se_in_ms(i)))
			return 1;
		if (i < 3 && se_waiter_start(&w[i], fd, SYNCEVENT_COND_EQ, 7))
			return 1;
	}
	if (write(ready, "r", 1) != 1)
		return 1;
	for (;;)
		pause();
}

TEST_F(unload, fifty_times_with_users_killed)
{
	int p[2];
	char byte;

	ASSERT_EQ(0, pipe(p));
	for (unsigned int round = 0; round < se_times(50); round++) {
		pid_t user[3];

		for (int i = 0; i < 3; i++)
			user[i] = se_fork(use_everything, &p[1]);
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(1, read(p[0], &byte, 1));
		}
		ASSERT_EQ(-EWOULDBLOCK, delete()) TH_LOG("round %u", round);
		for (int i = 0; i < 3; i++)
			kill(user[i], SIGKILL);
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(-SIGKILL, se_wait_child(user[i])) TH_LOG("round %u", round);
		}
		ASSERT_TRUE(until_deleted()) TH_LOG("round %u", round);
		ASSERT_EQ(0, insert("")) TH_LOG("round %u", round);
	}
}

/* ---- what the module says of itself ------------------------------------------------------- */

TEST_F(unload, parameters)
{
	static const struct {
		const char *name;
		const char *standard;
	} t[] = {
		{ "events_max", "32768" }, { "entries_max", "262144" },
		{ "silent_min_us", "50" }, { "silent_max_us", "4000" },
	};
	char path[128], text[32];
	struct stat st;

	ASSERT_TRUE(until_deleted());
	ASSERT_EQ(0, insert(""));
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), SYS "/parameters/%s", t[i].name);
		ASSERT_EQ(0, stat(path, &st)) TH_LOG("%s", path);
		EXPECT_EQ(0644, st.st_mode & 07777) TH_LOG("%s", path);
		ASSERT_EQ(0, se_read_text(path, text, sizeof(text)));
		EXPECT_STREQ(t[i].standard, text) TH_LOG("%s", path);
	}
	ASSERT_TRUE(until_deleted());
	ASSERT_EQ(0, insert("events_max=7 entries_max=8 silent_min_us=9 silent_max_us=10"));
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), SYS "/parameters/%s", t[i].name);
		ASSERT_EQ(0, se_read_text(path, text, sizeof(text)));
		EXPECT_EQ(7 + i, atoi(text)) TH_LOG("%s", path);
	}
	ASSERT_TRUE(until_deleted());
	EXPECT_NE(0, insert("events_max=many"));
	EXPECT_NE(0, access(SYS, F_OK));
	ASSERT_EQ(0, insert(""));
}

TEST_F(unload, device_node)
{
	struct stat st;

	ASSERT_EQ(0, stat(SE_DEV, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0666, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
}

/* Taints of its own: out of tree, and unsigned where signatures are looked at. */
TEST_F(unload, taint)
{
	char text[64];

	ASSERT_EQ(0, se_read_text(SYS "/taint", text, sizeof(text)));
	EXPECT_NE(NULL, strchr(text, 'O'));
	EXPECT_EQ(strlen(text), strspn(text, "OE")) TH_LOG("taints: %s", text);
	/* 12: out of tree, 13: unsigned; 9 would be a warning, 7 an oops. */
	ASSERT_EQ(0, se_read_text("/proc/sys/kernel/tainted", text, sizeof(text)));
	EXPECT_EQ(0, strtoul(text, NULL, 10) & ~(1ul << 12 | 1ul << 13))
		TH_LOG("kernel taints: %s", text);
}

TEST_HARNESS_MAIN
