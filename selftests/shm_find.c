// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * How processes find events of the shm provider: by name, a file in /dev/shm, and by
 * exported blob; and what else may lie there or be handed in.
 */
#include "shm.h"

#include <grp.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>

#define PREFIX		"/dev/shm/syncevent."
#define NOBODY		65534

static const char *name_of(const char *what)
{
	static char name[64];

	snprintf(name, sizeof(name), "test-%d-%s", getpid(), what);
	return name;
}

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), PREFIX "%s", name);
	return path;
}

static struct syncevent *named(const char *name, int oflag, mode_t mode)
{
	struct syncevent *ev = NULL;

	return syncevent_open(&ev, name, oflag, mode, NULL) ? NULL : ev;
}

static uint64_t id_of(struct syncevent *ev)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };

	return syncevent_stat(ev, &stat) ? 0 : stat.id;
}

static int become_nobody(void)
{
	return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY) ? -errno : 0;
}

/* ---- names -------------------------------------------------------------------------------- */

TEST(what_a_name_may_be)
{
	static const char *const bad[] = { "", ".", "..", ".hidden", "/", "a/b", "/a", "a/" };
	static const char *const good[] = { "-", "a b", "\n", "\x01\xff*?~", "a.b", "\xc3\xa9" };
	char name[SYNCEVENT_NAME_MAX + 2];
	struct syncevent *ev = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_EQ(-EINVAL, syncevent_open(&ev, bad[i], O_RDWR | O_CREAT, 0600, NULL));
		ASSERT_EQ(-EINVAL, syncevent_unlink(bad[i]));
	}
	memset(name, 'x', sizeof(name));
	name[SYNCEVENT_NAME_MAX + 1] = 0;
	ASSERT_EQ(-ENAMETOOLONG, syncevent_open(&ev, name, O_RDWR | O_CREAT, 0600, NULL));
	ASSERT_EQ(-ENAMETOOLONG, syncevent_unlink(name));
	ASSERT_EQ(NULL, ev);
	snprintf(name, 20, "%019d", getpid());
	name[19] = 'x';
	name[SYNCEVENT_NAME_MAX] = 0;
	ASSERT_EQ(0, syncevent_open(&ev, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
	ASSERT_EQ(0, access(path_of(name), F_OK));
	ASSERT_EQ(0, syncevent_unlink(name));
	syncevent_close(ev);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(name, sizeof(name), "%s%d", good[i], getpid());
		ASSERT_EQ(0, syncevent_open(&ev, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
		ASSERT_EQ(0, syncevent_unlink(name));
		ASSERT_EQ(-ENOENT, syncevent_unlink(name));
		syncevent_close(ev);
	}
}

TEST(flags_of_open)
{
	static const int bad[] = {
		O_WRONLY, O_RDWR | O_WRONLY, O_RDONLY | O_CREAT, O_RDWR | O_EXCL, O_RDWR | O_TRUNC,
		O_RDWR | O_APPEND, O_RDWR | O_NONBLOCK, O_RDWR | O_CREAT | O_DIRECTORY, O_PATH,
	};
	struct syncevent_attr attr = { .size = sizeof(attr), .value = 42 };
	const char *name = name_of("flags");
	struct syncevent *ev = NULL, *same;
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ASSERT_EQ(-EINVAL, syncevent_open(&ev, name, bad[i], 0600, NULL));
	}
	attr.addr = &word;
	ASSERT_EQ(-EINVAL, syncevent_open(&ev, name, O_RDWR | O_CREAT, 0600, &attr));
	attr.addr = NULL;
	ASSERT_EQ(-ENOENT, syncevent_open(&ev, name, O_RDWR, 0, NULL));
	ASSERT_EQ(-ENOENT, syncevent_open(&ev, name, O_RDONLY | O_CLOEXEC, 0, NULL));
	ASSERT_EQ(NULL, ev);
	ASSERT_EQ(0, syncevent_open(&ev, name, O_RDWR | O_CREAT, 0600, &attr));
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 42, SE_MAX, NULL));
	ASSERT_EQ(FD_CLOEXEC, fcntl(syncevent_fd(ev), F_GETFD));
	/* It is there now: its value is what it is. */
	attr.value = 7;
	ASSERT_EQ(-EEXIST, syncevent_open(&same, name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr));
	ASSERT_EQ(0, syncevent_open(&same, name, O_RDWR | O_CREAT, 0600, &attr));
	ASSERT_EQ(id_of(ev), id_of(same));
	ASSERT_EQ(0, look(same, SYNCEVENT_EQ, 42, SE_MAX, NULL));
	syncevent_close(same);
	/* The name keeps it. */
	ASSERT_EQ(0, syncevent_set(ev, 43));
	syncevent_close(ev);
	ASSERT_TRUE(ev = named(name, O_RDWR, 0));
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 43, SE_MAX, NULL));
	/* A revoked one keeps its name. */
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_open(&same, name, O_RDWR, 0, NULL));
	ASSERT_EQ(-EIDRM, syncevent_open(&same, name, O_RDWR | O_CREAT, 0600, NULL));
	ASSERT_EQ(-EEXIST, syncevent_open(&same, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
	ASSERT_EQ(0, syncevent_unlink(name));
	syncevent_close(ev);
}

TEST(mode_and_umask)
{
	static const struct {
		mode_t mode, mask, becomes;
	} p[] = {
		{ 0666, 0, 0666 }, { 0666, 027, 0640 }, { 0600, 077, 0600 }, { 07777, 022, 0755 },
		{ 0, 0, 0 },
	};
	const char *name = name_of("mode");
	struct syncevent *ev;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		umask(p[i].mask);
		ASSERT_TRUE(ev = named(name, O_RDWR | O_CREAT | O_EXCL, p[i].mode));
		ASSERT_EQ(0, stat(path_of(name), &st));
		ASSERT_EQ(p[i].becomes, st.st_mode & 07777);
		ASSERT_EQ(0, syncevent_unlink(name));
		syncevent_close(ev);
	}
}

TEST(unlink_while_open)
{
	const char *name = name_of("unlink");
	struct syncevent *ev, *same, *new;
	struct waiter w;

	ASSERT_TRUE(ev = named(name, O_RDWR | O_CREAT | O_EXCL, 0600));
	ASSERT_TRUE(same = named(name, O_RDWR, 0));
	ASSERT_EQ(0, start(&w, same, SYNCEVENT_EQ, 5, SE_MAX, SYNCEVENT_BLOCK,
			   SYNCEVENT_FOREVER));
	ASSERT_EQ(0, syncevent_unlink(name));
	ASSERT_EQ(-ENOENT, syncevent_open(&new, name, O_RDWR, 0, NULL));
	ASSERT_TRUE(new = named(name, O_RDWR | O_CREAT | O_EXCL, 0600));
	ASSERT_NE(id_of(ev), id_of(new));
	ASSERT_EQ(0, syncevent_set(new, 5));
	ASSERT_TRUE(se_until_sleeps(&w.t));
	ASSERT_EQ(0, syncevent_set(ev, 5));
	ASSERT_EQ(0, se_join(&w.t));
	ASSERT_EQ(0, syncevent_unlink(name));
	syncevent_close(ev);
	syncevent_close(same);
	syncevent_close(new);
}

static int bind_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : close(fd);
}

/* @size bytes of the event @from, or zeroes. */
static int file_of(const char *path, const char *from, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600), in;
	char page[4096] = "";

	if (from) {
		in = open(from, O_RDONLY);
		if (read(in, page, sizeof(page)) != sizeof(page))
			return -EIO;
		close(in);
		if (size == sizeof(page))
			page[2048 + 4]++;	/* of another version */
	}
	if (ftruncate(fd, (off_t)size) || pwrite(fd, page, size < 4096 ? size : 4096, 0) < 0)
		return -errno;
	return close(fd);
}

/* Whatever else has the name is no event, hangs nobody and stays as it is. */
TEST(what_is_no_event)
{
	char event[300], path[300], name[80];
	struct syncevent *ev, *other = NULL;
	int kind;

	snprintf(name, sizeof(name), "%s", name_of("event"));
	snprintf(event, sizeof(event), "%s", path_of(name));
	ASSERT_TRUE(ev = named(name, O_RDWR | O_CREAT | O_EXCL, 0600));
	snprintf(name, sizeof(name), "%s", name_of("other"));
	snprintf(path, sizeof(path), "%s", path_of(name));
	for (kind = 0; kind < 11; kind++) {
		switch (kind) {
		case 0:
			ASSERT_EQ(0, symlink(event, path));
			break;
		case 1:
			ASSERT_EQ(0, symlink("/nowhere/at/all", path));
			break;
		case 2:
			ASSERT_EQ(0, mkfifo(path, 0600));
			break;
		case 3:
			ASSERT_EQ(0, mkdir(path, 0700));
			break;
		case 4:
			ASSERT_EQ(0, bind_at(path));
			break;
		case 5: case 6: case 7: case 8:
			ASSERT_EQ(0, file_of(path, NULL, (size_t)(kind == 5 ? 0 : 4089 + kind)));
			break;
		case 9: case 10:
			ASSERT_EQ(0, file_of(path, event, kind == 9 ? 4096 : 4095));
			break;
		}
		ASSERT_EQ(-EINVAL, syncevent_open(&other, name, O_RDWR, 0, NULL)) {
			TH_LOG("kind %d", kind);
		}
		ASSERT_EQ(-EINVAL, syncevent_open(&other, name, O_RDONLY, 0, NULL));
		ASSERT_EQ(-EINVAL, syncevent_open(&other, name, O_RDWR | O_CREAT, 0600, NULL));
		ASSERT_EQ(-EEXIST, syncevent_open(&other, name, O_RDWR | O_CREAT | O_EXCL, 0600,
						  NULL));
		ASSERT_EQ(NULL, other);
		ASSERT_EQ(0, kind == 3 ? rmdir(path) : unlink(path));
	}
	ASSERT_EQ(0, unlink(event));
	syncevent_close(ev);
}

/* ---- races ------------------------------------------------------------------------------- */

#define RACERS	6

struct race {
	char name[64];
	uint32_t go;
	uint64_t id[RACERS];
	int ret[RACERS];
	unsigned int made;
	bool stop;
};

static int racer(struct race *r, int me, uint32_t round, int oflag)
{
	struct syncevent *ev;

	while (__atomic_load_n(&r->go, __ATOMIC_ACQUIRE) != round)
		sched_yield();
	r->ret[me] = syncevent_open(&ev, r->name, oflag, 0600, NULL);
	if (r->ret[me])
		return 0;
	r->id[me] = id_of(ev);
	if (syncevent_add(ev, 1, NULL))
		return 1;
	syncevent_close(ev);
	return 0;
}

/* Of all who create with O_EXCL one does; without it all get the same event. */
TEST(many_creators)
{
	struct race *r = shared(sizeof(*r));
	unsigned int round, rounds = se_times(300), made;
	struct syncevent *ev;
	pid_t pid[RACERS];
	int i, excl;

	ASSERT_TRUE(r);
	snprintf(r->name, sizeof(r->name), "%s", name_of("race"));
	for (round = 1; round <= rounds; round++) {
		excl = round & 1 ? O_EXCL : 0;
		for (i = 0; i < RACERS; i++) {
			pid[i] = fork();
			ASSERT_LE(0, pid[i]);
			if (!pid[i])
				_exit(racer(r, i, round, O_RDWR | O_CREAT | excl));
		}
		__atomic_store_n(&r->go, round, __ATOMIC_RELEASE);
		for (i = 0, made = 0; i < RACERS; i++) {
			ASSERT_EQ(0, se_wait_child(pid[i]));
			made += !r->ret[i];
			if (excl && r->ret[i])
				ASSERT_EQ(-EEXIST, r->ret[i]);
			if (!excl)
				ASSERT_EQ(0, r->ret[i]);
		}
		ASSERT_EQ(excl ? 1 : RACERS, made);
		ASSERT_TRUE(ev = named(r->name, O_RDONLY, 0));
		ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, made, SE_MAX, NULL));
		for (i = 0; i < RACERS; i++) {
			if (!r->ret[i])
				ASSERT_EQ(id_of(ev), r->id[i]);
		}
		syncevent_close(ev);
		ASSERT_EQ(0, syncevent_unlink(r->name));
	}
}

static int opener(void *arg)
{
	struct race *r = arg;
	struct syncevent *ev;
	int ret;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		ret = syncevent_open(&ev, r->name, O_RDONLY, 0, NULL);
		if (ret && ret != -ENOENT)
			return 1;
		/* Its maker gave it 77: it never is anything less than made. */
		if (!ret && look(ev, SYNCEVENT_EQ, 77, SE_MAX, NULL))
			return 2;
		if (!ret)
			syncevent_close(ev);
	}
	return 0;
}

static int maker(void *arg)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .value = 77 };
	struct race *r = arg;
	struct syncevent *ev;
	int ret;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		ret = syncevent_open(&ev, r->name, O_RDWR | O_CREAT, 0600, &attr);
		if (ret || look(ev, SYNCEVENT_EQ, 77, SE_MAX, NULL))
			return 1;
		syncevent_close(ev);
		if (syncevent_unlink(r->name) == 0)
			__atomic_fetch_add(&r->made, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

TEST(half_of_an_event_is_never_seen)
{
	struct race *r = shared(sizeof(*r));
	pid_t pid[4];
	int i;

	ASSERT_TRUE(r);
	snprintf(r->name, sizeof(r->name), "%s", name_of("half"));
	for (i = 0; i < 4; i++) {
		pid[i] = se_fork(i & 1 ? maker : opener, r);
		ASSERT_LT(0, pid[i]);
	}
	EXPECT_TRUE(se_until(__atomic_load_n(&r->made, __ATOMIC_RELAXED) >= se_times(2000) ||
			     se_has_ended(pid[0])));
	__atomic_store_n(&r->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, se_wait_child(pid[i]));
	}
	(void)syncevent_unlink(r->name);
}

/* ---- who may ------------------------------------------------------------------------------ */

TEST(read_only)
{
	const char *name = name_of("ro");
	struct syncevent *ev, *ro, *other;
	struct waiter w;
	uint64_t v;

	ASSERT_TRUE(ev = named(name, O_RDWR | O_CREAT | O_EXCL, 0600));
	ASSERT_TRUE(ro = named(name, O_RDONLY, 0));
	ASSERT_EQ(-EBADF, syncevent_set(ro, 1));
	ASSERT_EQ(-EBADF, syncevent_add(ro, 1, &v));
	ASSERT_EQ(-EBADF, syncevent_ring(ro));
	ASSERT_EQ(-EBADF, syncevent_revoke(ro));
	ASSERT_EQ(0, syncevent_dup(&other, ro, 0));
	ASSERT_EQ(-EBADF, syncevent_set(other, 1));
	syncevent_close(other);
	ASSERT_EQ(0, start(&w, ro, SYNCEVENT_EQ, 5, SE_MAX, SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until_sleeps(&w.t));
	ASSERT_EQ(0, syncevent_set(ev, 5));
	ASSERT_EQ(0, se_join(&w.t));
	ASSERT_EQ(0, syncevent_unlink(name));
	syncevent_close(ro);
	syncevent_close(ev);
}

struct guest {
	char name[64];
	char closed[64];
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	size_t size;
	bool read_only;
	int waits;
};

/* It sleeps in its @nth wait, or has ended. */
static bool waits(struct guest *g, pid_t pid, int nth)
{
	return (__atomic_load_n(&g->waits, __ATOMIC_ACQUIRE) == nth && asleep(pid, pid)) ||
	       se_has_ended(pid);
}

static int as_nobody(void *arg)
{
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, SYNCEVENT_FOREVER);
	struct guest *g = arg;
	struct syncevent *ev;
	uint64_t seen;

	if (become_nobody())
		return 1;
	if (syncevent_import(&ev, g->blob, g->size) != -EACCES)
		return 2;
	if (syncevent_open(&ev, g->closed, O_RDONLY, 0, NULL) != -EACCES ||
	    syncevent_open(&ev, g->name, O_RDWR, 0, NULL) != -EACCES ||
	    syncevent_open(&ev, g->name, O_RDWR | O_CREAT, 0600, NULL) != -EACCES)
		return 3;
	if (syncevent_unlink(g->name) != -EPERM)
		return 4;
	if (syncevent_open(&ev, g->name, O_RDONLY, 0, NULL) || syncevent_set(ev, 1) != -EBADF)
		return 5;
	/* It cannot ask to be rung: it looks now and then. */
	__atomic_store_n(&g->waits, 1, __ATOMIC_RELEASE);
	if (syncevent_wait(ev, SYNCEVENT_GE, 5, SE_MAX, &opts, &seen) || seen != 5)
		return 6;
	__atomic_store_n(&g->waits, 2, __ATOMIC_RELEASE);
	if (syncevent_wait(ev, SYNCEVENT_GE, 9, SE_MAX, &opts, &seen) != -EIDRM)
		return 7;
	return 0;
}

TEST(other_user)
{
	struct guest *g = shared(sizeof(*g));
	struct syncevent *ev, *closed;
	int size;
	pid_t pid;

	if (getuid())
		SKIP(return, "only root can become another user");
	ASSERT_TRUE(g);
	umask(0);
	snprintf(g->name, sizeof(g->name), "%s", name_of("user"));
	snprintf(g->closed, sizeof(g->closed), "%s", name_of("closed"));
	ASSERT_TRUE(ev = named(g->name, O_RDWR | O_CREAT | O_EXCL, 0644));
	ASSERT_TRUE(closed = named(g->closed, O_RDWR | O_CREAT | O_EXCL, 0600));
	size = syncevent_export(ev, SYNCEVENT_RDONLY, g->blob, sizeof(g->blob));
	ASSERT_LT(0, size);
	g->size = (size_t)size;
	pid = se_fork(as_nobody, g);
	ASSERT_LT(0, pid);
	EXPECT_TRUE(se_until(waits(g, pid, 1)));
	EXPECT_EQ(0, syncevent_set(ev, 5));
	EXPECT_TRUE(se_until(waits(g, pid, 2)));
	EXPECT_EQ(0, syncevent_revoke(ev));
	EXPECT_EQ(0, se_wait_child(pid));
	EXPECT_EQ(0, syncevent_unlink(g->name));
	EXPECT_EQ(0, syncevent_unlink(g->closed));
	syncevent_close(ev);
	syncevent_close(closed);
}

/* ---- blobs --------------------------------------------------------------------------------- */

#define BLOB	48

static void set_checksum(unsigned char *blob)
{
	uint32_t sum = 0x811c9dc5U;
	size_t i;

	for (i = 0; i < BLOB - 4; i++)
		sum = (sum ^ blob[i]) * 0x01000193U;
	for (i = 0; i < 4; i++)
		blob[BLOB - 4 + i] = (unsigned char)(sum >> 8 * i);
}

TEST(what_export_refuses)
{
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	struct syncevent *ev = make(0), *ro;
	unsigned int bit;
	size_t size;

	ASSERT_TRUE(ev);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	se_poison(blob, sizeof(blob));
	for (bit = 0; bit < 32; bit++) {
		if (1U << bit != SYNCEVENT_RDONLY)
			ASSERT_EQ(-EINVAL, syncevent_export(ev, 1U << bit, blob, sizeof(blob)));
	}
	for (size = 0; size < BLOB; size++) {
		ASSERT_EQ(-ENOSPC, syncevent_export(ev, 0, blob, size));
	}
	ASSERT_EQ(-EBADF, syncevent_export(ro, 0, blob, sizeof(blob)));
	ASSERT_TRUE(se_poisoned(blob, sizeof(blob)));
	ASSERT_EQ(BLOB, syncevent_export(ro, SYNCEVENT_RDONLY, blob, BLOB));
	ASSERT_TRUE(se_poisoned(blob + BLOB, sizeof(blob) - BLOB));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_export(ev, 0, blob, sizeof(blob)));
	syncevent_close(ro);
	syncevent_close(ev);
}

static int importer(void *arg)
{
	struct guest *g = arg;
	struct syncevent *ev;

	if (syncevent_import(&ev, g->blob, g->size))
		return 1;
	if (g->read_only)
		return syncevent_set(ev, 9) == -EBADF && !look(ev, SYNCEVENT_EQ, 4, SE_MAX, NULL) ?
		       0 : 2;
	return syncevent_add(ev, 1, NULL) ? 3 : 0;
}

TEST(import_elsewhere)
{
	struct guest g = { .size = BLOB };
	struct syncevent *ev = make(3), *again;
	int ro;

	ASSERT_TRUE(ev);
	for (ro = 0; ro < 2; ro++) {
		g.read_only = ro;
		ASSERT_EQ(BLOB, syncevent_export(ev, ro ? SYNCEVENT_RDONLY : 0, g.blob,
						 sizeof(g.blob)));
		ASSERT_EQ(0, se_wait_child(se_fork(importer, &g)));
		ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 4, SE_MAX, NULL));
	}
	/* What was imported read-only is exported so, and no other way. */
	ASSERT_EQ(0, syncevent_import(&again, g.blob, BLOB));
	ASSERT_EQ(-EBADF, syncevent_export(again, 0, g.blob, BLOB));
	syncevent_close(again);
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_import(&again, g.blob, BLOB));
	syncevent_close(ev);
}

/* Has the process that a blob names the files of this one: is it a thread of it? */
static bool names_own_thread(const unsigned char *blob)
{
	char path[48];
	uint32_t pid;

	memcpy(&pid, blob + 8, sizeof(pid));
	snprintf(path, sizeof(path), "/proc/self/task/%u", pid);
	return !access(path, F_OK);
}

/* Every bit, damaged and forged: nothing of it is an event, and least of all another. */
TEST(every_bit_of_a_blob)
{
	unsigned char blob[BLOB + 8], bad[BLOB + 8] = "";
	struct syncevent *ev = make(0), *near, *other = NULL;
	unsigned int ro, bit;
	size_t size;
	int ret;

	ASSERT_TRUE(ev && (near = make(1)));
	for (ro = 0; ro < 2; ro++) {
		ASSERT_EQ(BLOB, syncevent_export(ev, ro, blob, sizeof(blob)));
		for (bit = 0; bit < 8 * BLOB; bit++) {
			memcpy(bad, blob, BLOB);
			bad[bit / 8] ^= (unsigned char)(1U << bit % 8);
			ASSERT_EQ(-EINVAL, syncevent_import(&other, bad, BLOB));
			if (bit >= 8 * (BLOB - 4))
				continue;
			set_checksum(bad);
			/* The sanitizers have threads: their number is as good as ours. */
			if (bit / 32 == 2 && names_own_thread(bad))
				continue;
			ret = syncevent_import(&other, bad, BLOB);
			ASSERT_TRUE(ret == -EINVAL || ret == -ENOENT || ret == -EACCES) {
				TH_LOG("bit %u: %d", bit, ret);
			}
			/* the right, and the key: the kernel would let it */
			if (bit == 8 * 6 || (bit >= 8 * 24 && bit < 8 * 40))
				ASSERT_EQ(-EACCES, ret);
		}
		for (size = 0; size < sizeof(bad); size++) {
			memcpy(bad, blob, BLOB);
			if (size != BLOB)
				ASSERT_EQ(-EINVAL, syncevent_import(&other, bad, size));
		}
	}
	ASSERT_EQ(NULL, other);
	syncevent_close(near);
	syncevent_close(ev);
}

/* ---- leases ------------------------------------------------------------------------- */

/* A new lease of the whole file. */
static int lease(int fd, int kind)
{
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return fcntl(fd, F_SETLEASE, kind) ? -errno : 0;
}

/*
 * Is there still a lease? The kernel takes it away from who keeps it, but only after the
 * open that is in its way has waited for that in vain.
 */
static bool leased(int fd)
{
	char line[256], inode[32];
	bool found = false;
	struct stat st;
	FILE *f = fopen("/proc/locks", "re");

	if (!f || fstat(fd, &st))
		return false;
	snprintf(inode, sizeof(inode), ":%llu ", (unsigned long long)st.st_ino);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, "LEASE") && strstr(line, inode);
	fclose(f);
	return found;
}

/* Whose file it is has a lease of it and keeps it: nobody waits for that. */
TEST(a_lease_holds_nobody_up)
{
	const char *name = name_of("lease");
	struct syncevent *ev, *other = NULL;
	unsigned char blob[BLOB];
	int fd;

	ASSERT_NE(SIG_ERR, signal(SIGIO, SIG_IGN));
	ASSERT_TRUE(ev = named(name, O_RDWR | O_CREAT | O_EXCL, 0600));
	syncevent_close(ev);
	fd = open(path_of(name), O_RDONLY);
	ASSERT_LE(0, fd);
	/* What may not be written cannot ask for rings; that it could is tried. */
	ASSERT_EQ(0, lease(fd, F_RDLCK));
	ASSERT_EQ(0, syncevent_from_fd(&ev, fd));
	ASSERT_TRUE(leased(fd));
	ASSERT_EQ(0, lease(fd, F_RDLCK));
	ASSERT_EQ(0, syncevent_open(&other, name, O_RDONLY, 0, NULL));
	syncevent_close(other);
	ASSERT_TRUE(leased(fd));
	ASSERT_EQ(0, lease(fd, F_RDLCK));
	ASSERT_EQ(-EAGAIN, syncevent_open(&other, name, O_RDWR, 0, NULL));
	ASSERT_TRUE(leased(fd));
	ASSERT_EQ(BLOB, syncevent_export(ev, SYNCEVENT_RDONLY, blob, BLOB));
	ASSERT_EQ(0, lease(fd, F_RDLCK));
	ASSERT_EQ(0, syncevent_import(&other, blob, BLOB));
	syncevent_close(other);
	ASSERT_TRUE(leased(fd));
	blob[6] = 1;	/* to update */
	set_checksum(blob);
	ASSERT_EQ(0, lease(fd, F_RDLCK));
	ASSERT_EQ(-EACCES, syncevent_import(&other, blob, BLOB));
	ASSERT_TRUE(leased(fd));
	syncevent_close(ev);
	close(fd);

	/* Against readers there is one only of a file that is open once. */
	fd = open(path_of(name), O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, syncevent_from_fd(&ev, fd));
	ASSERT_EQ(0, lease(fd, F_WRLCK));
	ASSERT_EQ(-EACCES, syncevent_dup(&other, ev, SYNCEVENT_RDONLY));
	ASSERT_TRUE(leased(fd));
	ASSERT_EQ(0, fcntl(fd, F_SETLEASE, F_UNLCK));
	ASSERT_EQ(0, syncevent_dup(&other, ev, SYNCEVENT_RDONLY));
	syncevent_close(other);
	syncevent_close(ev);
	close(fd);
	ASSERT_EQ(0, syncevent_unlink(name));
}

/* ---- blobs that lead nowhere ------------------------------------------------------------- */

static int short_lived(void *arg)
{
	struct guest *g = arg;
	struct syncevent *ev = make(0);

	return !ev || syncevent_export(ev, 0, g->blob, BLOB) != BLOB;
}

/* A blob holds as long as the handle: what takes its number is not the event. */
TEST(blob_of_what_is_gone)
{
	struct guest *g = shared(sizeof(*g));
	struct syncevent *ev, *new, *other = NULL;
	unsigned char blob[BLOB];
	int fd, kind;

	ASSERT_TRUE(g);
	for (kind = 0; kind < 5; kind++) {
		ASSERT_TRUE(ev = make(0));
		fd = syncevent_fd(ev);
		ASSERT_EQ(BLOB, syncevent_export(ev, 0, blob, BLOB));
		syncevent_close(ev);
		new = NULL;
		switch (kind) {
		case 1:
			ASSERT_TRUE(new = make(0));
			ASSERT_EQ(fd, syncevent_fd(new));
			break;
		case 2:
			ASSERT_EQ(fd, open("/dev/null", O_RDWR));
			break;
		case 3:
			ASSERT_EQ(fd, memfd_create("x", 0));
			ASSERT_EQ(0, ftruncate(fd, 4096));
			break;
		case 4:
			ASSERT_EQ(fd, socket(AF_UNIX, SOCK_STREAM, 0));
			break;
		}
		ASSERT_EQ(-ENOENT, syncevent_import(&other, blob, BLOB));
		if (new)
			syncevent_close(new);
		else if (kind)
			close(fd);
	}
	ASSERT_EQ(0, se_wait_child(se_fork(short_lived, g)));
	ASSERT_EQ(-ENOENT, syncevent_import(&other, g->blob, BLOB));
	ASSERT_EQ(NULL, other);
}

TEST_HARNESS_MAIN
