// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * How long events live by their names in a synceventfs, who is charged for them, and
 * what mounts and unmounts do to them and to the module.
 */
#include "names.h"

#include <sys/statfs.h>

#define MAGIC		0x53594e45
#define EVENTS_MAX	"/sys/module/syncevent/parameters/events_max"

/* ---- lifetime -------------------------------------------------------------------- */

TEST_F(names, name_keeps_the_event)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), q = watch(fd);
	uint64_t id = id_of(fd);

	ASSERT_LE(0, q);
	ASSERT_EQ(0, se_set(fd, 77));
	close(fd);
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(self->before + 1, events());
	fd = open_at(self->dir, "a", O_RDWR);
	EXPECT_EQ(id, id_of(fd));
	EXPECT_EQ(77, value_of(fd));
	close(fd);
	close(q);
}

TEST_F(names, unlinked_while_open)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), q = watch(fd), copy, new;
	struct stat st;

	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	EXPECT_EQ(0, names_in(self->dir));
	EXPECT_EQ(0, fstat(fd, &st));
	EXPECT_EQ(0, st.st_nlink);
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(0, se_set(fd, 5));
	copy = se_dup(fd, 0);
	ASSERT_LE(0, copy);
	EXPECT_EQ(5, value_of(copy));
	/* the name is free, for another event */
	EXPECT_EQ(-ENOENT, open_at(self->dir, "a", O_RDWR));
	new = open_at(self->dir, "a", O_CREAT | O_EXCL | O_RDWR);
	ASSERT_LE(0, new);
	EXPECT_NE(id_of(fd), id_of(new));
	EXPECT_EQ(0, value_of(new));
	close(fd);
	EXPECT_TRUE(pending(q));
	close(copy);
	EXPECT_EQ(-EIDRM, outcome(q));
	EXPECT_EQ(0, value_of(new));
	close(new);
	close(q);
}

/* What can still wait when neither a name nor a file is left is a queue. */
static int wait_in_a_queue(void *arg)
{
	struct meeting *m = arg;
	struct syncevent_completion done;
	int fd = open_at(m->dir, "a", O_RDONLY), q = watch(fd);
	char byte = 0;

	WANT(q >= 0 && close(fd) == 0);
	WANT(write(m->sock, &byte, 1) == 1);
	WANT(se_poll(q, SE_HANG_S * 1000) & POLLIN);
	WANT(se_reap(q, &done, 1) == 1 && done.status == -EIDRM);
	return 0;
}

TEST_F(names, unlink_of_the_last_name_ends_it)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), sock[2];
	struct meeting m = { .dir = self->dir };
	char byte;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock));
	m.sock = sock[1];
	close(fd);
	pid = se_fork(wait_in_a_queue, &m);
	ASSERT_EQ(1, read(sock[0], &byte, 1));
	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	EXPECT_EQ(0, se_wait_child(pid));
	close(sock[0]);
	close(sock[1]);
}

TEST_F(names, mapping_outlives_name_and_file)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), q = watch(fd);
	struct syncevent_cell *cell = se_map(fd, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, cell);
	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	close(fd);
	EXPECT_TRUE(pending(q));
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, cell->state & SYNCEVENT_STATE_MASK);
	__atomic_store_n(&cell->value, 3, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, munmap(cell, 4096));
	EXPECT_EQ(-EIDRM, outcome(q));
	close(q);
}

/* A file without rights is no holder, though it keeps the inode. */
TEST_F(names, path_descriptor_does_not_keep_the_event)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), q = watch(fd);
	int path = open_at(self->dir, "a", O_PATH), again;
	char link[64];

	ASSERT_LE(0, path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path);
	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	/* while the event lives it can be opened by it */
	again = open(link, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, again);
	ASSERT_EQ(0, se_set(again, 2));
	ASSERT_EQ(0, close(again));
	ASSERT_EQ(2, value_of(fd));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-EIDRM, outcome(q));
	EXPECT_EQ(-1, open(link, O_RDWR));
	EXPECT_EQ(EIDRM, errno);
	close(path);
	close(q);
}

TEST_F(names, revoked_event_keeps_its_name)
{
	int fd = open_at(self->dir, "a", O_CREAT | O_RDWR), q = watch(fd);
	struct syncevent_cell *cell = se_map(fd, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, cell);
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, cell->state & SYNCEVENT_STATE_MASK);
	ASSERT_EQ(0, se_revoke(fd));
	EXPECT_EQ(-EIDRM, outcome(q));
	/* the mapping was zapped: stores go nowhere */
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, cell->state & SYNCEVENT_STATE_MASK);
	ASSERT_EQ(0, munmap(cell, 4096));
	close(fd);
	EXPECT_EQ(-EIDRM, open_at(self->dir, "a", O_RDWR));
	EXPECT_EQ(-EIDRM, open_at(self->dir, "a", O_RDONLY));
	EXPECT_EQ(-EIDRM, open_at(self->dir, "a", O_CREAT | O_RDWR));
	EXPECT_EQ(-EEXIST, open_at(self->dir, "a", O_CREAT | O_EXCL | O_RDWR));
	EXPECT_EQ(self->before + 1, events());
	ASSERT_EQ(0, unlink_at(self->dir, "a"));
	EXPECT_TRUE(se_until(events() == self->before));
	fd = open_at(self->dir, "a", O_CREAT | O_RDWR);
	EXPECT_LE(0, fd);
	close(fd);
	close(q);
}

/* ---- mounts ---------------------------------------------------------------------- */

TEST_F(names, mounts_are_independent)
{
	int a = open_at(self->dir, "a", O_CREAT | O_RDWR), b;

	ASSERT_EQ(0, mount_at(self->other, NULL));
	ASSERT_EQ(0, names_in(self->other));
	ASSERT_EQ(-ENOENT, open_at(self->other, "a", O_RDWR));
	b = open_at(self->other, "a", O_CREAT | O_RDWR);
	ASSERT_NE(id_of(a), id_of(b));
	ASSERT_EQ(0, se_set(a, 5));
	ASSERT_EQ(0, value_of(b));
	close(b);
	ASSERT_EQ(0, umount(self->other));
	ASSERT_EQ(5, value_of(a));
	close(a);
}

/* A directory that a container gets read-only gives it waiting, and nothing more. */
TEST_F(names, read_only_bind_mount)
{
	int a = open_at(self->dir, "a", O_CREAT | O_RDWR), b, copy;
	struct stat st;

	ASSERT_EQ(0, mount(self->dir, self->other, NULL, MS_BIND, NULL));
	b = open_at(self->other, "a", O_RDWR);
	ASSERT_EQ(id_of(a), id_of(b));
	ASSERT_EQ(0, mount(NULL, self->other, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	/* what is open keeps its right, and gives it to no other file */
	EXPECT_EQ(0, se_set(b, 1));
	EXPECT_EQ(-EROFS, se_dup(b, 0));
	copy = se_dup(b, SYNCEVENT_DUP_RDONLY);
	EXPECT_LE(0, copy);
	EXPECT_EQ(1, value_of(copy));
	close(copy);
	EXPECT_EQ(-1, fchmod(b, 0600));
	EXPECT_EQ(EROFS, errno);
	close(b);
	ASSERT_EQ(-EROFS, open_at(self->other, "a", O_RDWR));
	ASSERT_EQ(-EROFS, open_at(self->other, "b", O_CREAT | O_RDWR));
	ASSERT_EQ(-EROFS, unlink_at(self->other, "a"));
	ASSERT_EQ(-1, chmod(at(self->other, "a"), 0600));
	ASSERT_EQ(EROFS, errno);
	ASSERT_EQ(-1, chmod(self->other, 0700));
	ASSERT_EQ(EROFS, errno);
	ASSERT_EQ(0, fstat(a, &st));
	ASSERT_EQ(0666, st.st_mode & 07777);
	b = open_at(self->other, "a", O_RDONLY);
	ASSERT_LE(0, b);
	ASSERT_EQ(-EBADF, se_set(b, 1));
	close(b);
	ASSERT_EQ(0, umount(self->other));
	close(a);
}

static bool mounted_with(const char *dir, const char *options)
{
	char line[1024], *found;
	bool ok = false;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f && fgets(line, sizeof(line), f)) {
		found = strstr(line, dir);
		if (found && found[strlen(dir)] == ' ')
			ok = strstr(line, options);
	}
	if (f)
		fclose(f);
	return ok;
}

TEST_F(names, mount_options)
{
	struct statfs fs;
	struct stat st;

	ASSERT_EQ(0, stat(self->dir, &st));
	ASSERT_EQ(S_IFDIR | 01777, st.st_mode);
	ASSERT_EQ(0, st.st_uid);
	ASSERT_EQ(0, st.st_gid);
	ASSERT_EQ(0, statfs(self->dir, &fs));
	ASSERT_EQ(MAGIC, fs.f_type);
	ASSERT_EQ(255, fs.f_namelen);
	ASSERT_TRUE(mounted_with(self->dir, " - synceventfs none rw\n"));

	ASSERT_EQ(0, mount_at(self->other, "mode=0750,uid=41004,gid=41005"));
	ASSERT_EQ(0, stat(self->other, &st));
	ASSERT_EQ(S_IFDIR | 0750, st.st_mode);
	ASSERT_EQ(41004, st.st_uid);
	ASSERT_EQ(41005, st.st_gid);
	ASSERT_TRUE(mounted_with(self->other, "rw,mode=750,uid=41004,gid=41005\n"));
	ASSERT_EQ(0, chmod(self->other, 0700));
	ASSERT_TRUE(mounted_with(self->other, "rw,mode=700,uid=41004,gid=41005\n"));
	ASSERT_EQ(0, umount(self->other));

	ASSERT_EQ(-EINVAL, mount_at(self->other, "size=1"));
	ASSERT_EQ(-EINVAL, mount_at(self->other, "mode=10000"));
	ASSERT_EQ(-EINVAL, mount_at(self->other, "mode=8"));
	ASSERT_EQ(-EINVAL, mount_at(self->other, "uid=4294967295"));
	ASSERT_EQ(-EINVAL, mount_at(self->other, "gid=x"));
}

TEST_F(names, unmount_while_in_use)
{
	int fd, q, copy, kept;

	ASSERT_EQ(0, mount_at(self->other, NULL));
	kept = open_at(self->other, "kept", O_CREAT | O_RDWR);
	q = watch(kept);
	ASSERT_LE(0, q);
	close(kept);
	fd = open_at(self->other, "a", O_CREAT | O_RDWR);
	ASSERT_EQ(-1, umount(self->other));
	ASSERT_EQ(EBUSY, errno);
	ASSERT_EQ(0, umount2(self->other, MNT_DETACH));
	/* it lives on as long as a file is open, with all its names */
	EXPECT_EQ(0, se_set(fd, 4));
	copy = se_dup(fd, 0);
	ASSERT_LE(0, copy);
	close(fd);
	EXPECT_EQ(4, value_of(copy));
	EXPECT_TRUE(pending(q));
	close(copy);
	EXPECT_EQ(-EIDRM, outcome(q));
	close(q);
}

TEST_F(names, unmount_ends_what_only_names_hold)
{
	int q[20];
	char name[16];

	ASSERT_EQ(0, mount_at(self->other, NULL));
	for (int i = 0; i < 20; i++) {
		int fd;

		snprintf(name, sizeof(name), "%d", i);
		fd = open_at(self->other, name, O_CREAT | O_RDWR);
		q[i] = watch(fd);
		ASSERT_LE(0, q[i]);
		close(fd);
	}
	ASSERT_EQ(0, umount(self->other));
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(-EIDRM, outcome(q[i]));
		close(q[i]);
	}
	EXPECT_TRUE(se_until(events() == self->before));
}

/* ---- limits and namespaces ------------------------------------------------------- */

static int at_the_limit(void *arg)
{
	const char *dir = arg;
	int fd;

	WANT(!become(UID(6)));
	WANT(open_at(dir, "1", O_CREAT | O_RDWR) >= 0);
	fd = open_at(dir, "2", O_CREAT | O_RDWR);
	WANT(fd >= 0);
	WANT(se_create(0) >= 0);
	/* an event is one, whatever it has: no more of either kind */
	WANT(open_at(dir, "3", O_CREAT | O_RDWR) == -EDQUOT);
	WANT(se_create(0) == -EMFILE);
	WANT(open_at(dir, "3", O_RDWR) == -ENOENT);
	WANT(open_at(dir, "2", O_CREAT | O_RDWR) >= 0);
	/* a file without its name counts, and so does a name without a file */
	WANT(!unlink_at(dir, "2"));
	WANT(open_at(dir, "3", O_CREAT | O_RDWR) == -EDQUOT);
	return 0;
}

static int after_the_limit(void *arg)
{
	const char *dir = arg;

	WANT(!become(UID(6)));
	WANT(events() == 1);
	for (int i = 0; i < 5; i++) {
		int fd = open_at(dir, "4", O_CREAT | O_EXCL | O_RDWR);

		WANT(fd >= 0 && !close(fd) && !unlink_at(dir, "4"));
	}
	return 0;
}

TEST_F(names, limit_of_the_creator)
{
	ASSERT_EQ(0, se_write_text(EVENTS_MAX, "3"));
	EXPECT_EQ(0, se_wait_child(se_fork(at_the_limit, self->dir)));
	EXPECT_EQ(0, se_wait_child(se_fork(after_the_limit, self->dir)));
	EXPECT_EQ(1, names_in(self->dir));
	ASSERT_EQ(0, se_write_text(EVENTS_MAX, "32768"));
}

static int in_a_namespace(void *arg)
{
	const char *dir = arg;
	char map[32];
	struct stat st;
	int fd;

	WANT(!become(UID(7)));
	WANT(mount_at(dir, NULL) == -EPERM);
	WANT(!unshare(CLONE_NEWUSER | CLONE_NEWNS));
	snprintf(map, sizeof(map), "0 %d 1", UID(7));
	WANT(!se_write_text("/proc/self/setgroups", "deny"));
	WANT(!se_write_text("/proc/self/uid_map", map));
	WANT(!se_write_text("/proc/self/gid_map", map));
	WANT(mount_at(dir, "uid=1") == -EINVAL);
	WANT(!mount_at(dir, NULL));
	WANT(!stat(dir, &st) && st.st_uid == 0 && st.st_mode == (S_IFDIR | 01777));
	fd = open_at(dir, "a", O_CREAT | O_RDWR);
	WANT(fd >= 0 && !se_set(fd, 9) && !close(fd));
	fd = open_at(dir, "a", O_RDWR);
	WANT(fd >= 0 && value_of(fd) == 9);
	WANT(!fstat(fd, &st) && st.st_uid == 0);
	/* the same user as outside, with the same limit */
	WANT(open_at(dir, "b", O_CREAT | O_RDWR) >= 0);
	WANT(open_at(dir, "c", O_CREAT | O_RDWR) == -EDQUOT);
	WANT(events() == 2);
	return 0;
}

/* In a container: no privilege is asked for, and the namespace's end is the names' end. */
TEST_F(names, unprivileged_mount_in_a_user_namespace)
{
	ASSERT_EQ(0, se_write_text(EVENTS_MAX, "2"));
	EXPECT_EQ(0, se_wait_child(se_fork(in_a_namespace, self->other)));
	EXPECT_EQ(0, se_wait_child(se_fork(in_a_namespace, self->other)));
	ASSERT_EQ(0, se_write_text(EVENTS_MAX, "32768"));
}

/* A mount with one user in it, until somebody has looked. */
static int of_one_user(void *arg)
{
	const struct meeting *m = arg;
	char map[32], byte;
	int fd;

	WANT(!become(UID(8)));
	WANT(!unshare(CLONE_NEWUSER | CLONE_NEWNS));
	snprintf(map, sizeof(map), "0 %d 1", UID(8));
	WANT(!se_write_text("/proc/self/setgroups", "deny"));
	WANT(!se_write_text("/proc/self/uid_map", map));
	WANT(!se_write_text("/proc/self/gid_map", map));
	WANT(!mount_at(m->dir, NULL));
	fd = open_at(m->dir, "a", O_CREAT | O_RDWR);
	WANT(fd >= 0);
	WANT(write(m->sock, "m", 1) == 1);
	WANT(read(m->sock, &byte, 1) == 1);
	WANT(value_of(fd) == 6);
	WANT(names_in(m->dir) == 1);
	return 0;
}

/* Who is nobody there can make no name, whatever it is allowed else, but open one. */
TEST_F(names, makers_have_a_mapping)
{
	struct meeting m = { .dir = self->other };
	char dir[96], byte;
	int sock[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock));
	m.sock = sock[1];
	pid = se_fork(of_one_user, &m);
	ASSERT_LT(0, pid);
	close(sock[1]);
	ASSERT_EQ(1, read(sock[0], &byte, 1));
	snprintf(dir, sizeof(dir), "/proc/%d/root%s", pid, self->other);
	EXPECT_EQ(-EOVERFLOW, open_at(dir, "b", O_CREAT | O_RDWR));
	EXPECT_EQ(-EOVERFLOW, open_at(dir, "b", O_CREAT | O_EXCL | O_RDONLY));
	EXPECT_EQ(-1, open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	EXPECT_EQ(EOVERFLOW, errno);
	fd = open_at(dir, "a", O_CREAT | O_RDWR);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, se_set(fd, 6));
	close(fd);
	ASSERT_EQ(1, write(sock[0], "d", 1));
	EXPECT_EQ(0, se_wait_child(pid));
	close(sock[0]);
}

/* ---- races ----------------------------------------------------------------------- */

struct racer {
	struct se_thread t;
	const char *dir;
	unsigned int rounds;
	unsigned int done;
	unsigned int seed;
};

/* Whatever another thread does, each call ends in one of the ways that it may. */
static int race(void *arg)
{
	struct racer *r = arg;

	for (unsigned int i = 0; i < r->rounds; i++) {
		unsigned int what = (unsigned int)rand_r(&r->seed);
		const char *name = what & 8 ? "x" : "y";
		struct syncevent_cell *cell;
		int fd, ret, dup;

		__atomic_store_n(&r->done, i, __ATOMIC_RELAXED);
		if (what % 4 == 3) {
			ret = names_in(r->dir);
			if (ret < 0 || ret >= 1000)
				return 1;
		}
		fd = open_at(r->dir, name, O_CREAT | O_RDWR);
		if (fd == -EIDRM) {
			unlink_at(r->dir, name);
			continue;
		}
		if (fd < 0)
			return 2;
		cell = se_map(fd, PROT_READ | PROT_WRITE);
		if (cell)
			__atomic_fetch_add(&cell->value, 1, __ATOMIC_SEQ_CST);
		else if (errno != EIDRM)
			return 3;
		dup = se_dup(fd, 0);
		if (dup < 0 && dup != -EIDRM)
			return 4;
		if (what & 16) {
			ret = unlink_at(r->dir, name);
			if (ret && ret != -ENOENT)
				return 5;
		}
		if ((what & 0x60) == 0x60 && se_revoke(fd) == -EBADF)
			return 6;
		close(fd);
		if (cell)
			munmap(cell, 4096);
		if (dup >= 0)
			close(dup);
	}
	return 0;
}

TEST_F(names, race_of_everything)
{
	struct racer r[4];

	for (unsigned int i = 0; i < 4; i++) {
		r[i] = (struct racer) { .dir = self->dir, .rounds = se_times(3000), .seed = i };
		ASSERT_EQ(0, se_start(&r[i].t, race, &r[i]));
	}
	for (int i = 0; i < 4; i++) {
		/* patient with each round, not with all of them */
		while (!se_is_done(&r[i].t)) {
			unsigned int done = __atomic_load_n(&r[i].done, __ATOMIC_RELAXED);

			ASSERT_TRUE(se_until(se_is_done(&r[i].t) || done !=
					     __atomic_load_n(&r[i].done, __ATOMIC_RELAXED)));
		}
		EXPECT_EQ(0, se_join(&r[i].t));
	}
}

/* ---- the module ------------------------------------------------------------------ */

static int delete(void)
{
	return syscall(SYS_delete_module, "syncevent", O_NONBLOCK) ? -errno : 0;
}

/* No fixture: that has the device open. */
TEST(mount_pins_the_module)
{
	const char *file = getenv("SYNCEVENT_KO");
	char dir[] = "/tmp/pins.XXXXXX";
	int fd;

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, mount_at(dir, NULL));
	ASSERT_EQ(-EWOULDBLOCK, delete());
	fd = open_at(dir, "a", O_CREAT | O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, umount2(dir, MNT_DETACH));
	ASSERT_EQ(-EWOULDBLOCK, delete());
	ASSERT_EQ(0, se_set(fd, 1));
	close(fd);
	ASSERT_TRUE(se_until(!delete()));
	ASSERT_EQ(-ENODEV, mount_at(dir, NULL));
	fd = open(file ? file : "/m/syncevent.ko", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, syscall(SYS_finit_module, fd, "", 0));
	close(fd);
	ASSERT_EQ(0, mount_at(dir, NULL));
	ASSERT_EQ(0, umount(dir));
	rmdir(dir);
}

TEST_HARNESS_MAIN
