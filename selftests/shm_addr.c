// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Events on the caller's own memory; which provider is used and what it says of
 * itself; signals in each kind of sleep, forks, and what is left of handles.
 */
#include "shm.h"

#include <dirent.h>

static struct syncevent *on(uint64_t *word)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .value = 99, .addr = word };
	struct syncevent *ev = NULL;

	return syncevent_create(&ev, &attr) ? NULL : ev;
}

static struct syncevent_stat stat_of(struct syncevent *ev)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };

	if (syncevent_stat(ev, &stat))
		se_poison(&stat, sizeof(stat));
	return stat;
}

static int store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	return 0;
}

/* ---- attr.addr ------------------------------------------------------------------------------ */

TEST(addr_is_what_it_says)
{
	uint64_t words[4] = { 1, 2, 3, 4 }, v;
	struct syncevent_attr attr = { .size = sizeof(attr) };
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	struct syncevent *ev = NULL, *ro;
	unsigned int i;

	for (i = 1; i < 8; i++) {
		attr.addr = (uint64_t *)(void *)((char *)words + i);
		ASSERT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	}
	attr.addr = &words[1];
	for (i = 1; i < 5; i++) {
		attr.provider = i;
		ASSERT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	}
	ASSERT_EQ(NULL, ev);
	ASSERT_TRUE(ev = on(&words[1]));
	ASSERT_EQ(0, syncevent_get(ev, &v));
	ASSERT_EQ(2, v);
	ASSERT_EQ(-ENOTSUP, syncevent_fd(ev));
	ASSERT_EQ(NULL, syncevent_cell(ev));
	ASSERT_EQ(-EOPNOTSUPP, syncevent_export(ev, 0, blob, sizeof(blob)));
	ASSERT_EQ(SYNCEVENT_PROVIDER_ADDR, stat_of(ev).provider);
	ASSERT_EQ((uintptr_t)&words[1], stat_of(ev).id);
	ASSERT_EQ(SYNCEVENT_STAT_UPDATE | SYNCEVENT_STAT_SILENT, stat_of(ev).flags);
	ASSERT_EQ(0, syncevent_set(ev, SE_MAX));
	ASSERT_EQ(0, syncevent_add(ev, 6, &v));
	ASSERT_EQ(SE_MAX, v);
	ASSERT_EQ(5, words[1]);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(-EBADF, syncevent_set(ro, 1));
	ASSERT_EQ(-EBADF, syncevent_add(ro, 1, NULL));
	ASSERT_EQ(-EBADF, syncevent_revoke(ro));
	ASSERT_EQ(SYNCEVENT_STAT_SILENT, stat_of(ro).flags);
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_get(ro, &v));
	ASSERT_EQ(-EIDRM, syncevent_set(ev, 1));
	syncevent_close(ev);
	syncevent_close(ro);
	/* and its neighbours were left alone */
	ASSERT_TRUE(words[0] == 1 && words[1] == 5 && words[2] == 3 && words[3] == 4);
}

/* By the library, which rings, and by a plain store of the caller, which does not. */
TEST(addr_sleepers)
{
	unsigned int h, c, raw;
	struct syncevent *ev, *other;
	struct waiter w;
	uint64_t word, good;

	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		for (c = SYNCEVENT_EQ; c <= SYNCEVENT_LE; c++) {
			for (raw = 0; raw < 2; raw++) {
				/* of 10, 20 and 30 the middle does or does not satisfy */
				word = c == SYNCEVENT_NEQ ? 20 : c < SYNCEVENT_LT ? 10 : 30;
				ASSERT_TRUE(ev = on(&word));
				ASSERT_EQ(0, syncevent_dup(&other, ev, raw));
				ASSERT_EQ(0, start(&w, other, c, 20, SE_MAX, hows[h],
						   SYNCEVENT_FOREVER));
				if (sleeps(hows[h])) {
					ASSERT_TRUE(se_until(asleep(getpid(), w.t.tid)));
				}
				ASSERT_FALSE(se_is_done(&w.t));
				good = c == SYNCEVENT_GT ? 21 : c == SYNCEVENT_LT ? 19 :
				       c == SYNCEVENT_NEQ ? 1 : 20;
				ASSERT_EQ(0, raw ? store(&word, good) : syncevent_set(ev, good));
				ASSERT_EQ(0, se_join(&w.t));
				ASSERT_EQ(word, w.seen);
				syncevent_close(other);
				syncevent_close(ev);
			}
		}
	}
}

/* A ring and a revocation wake at once, without the looks. */
TEST(addr_rings)
{
	uint64_t word = 0;
	struct syncevent *ev;
	struct waiter w;

	never_recheck = true;
	ASSERT_TRUE(ev = on(&word));
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 0, SE_MAX, SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until(asleep(getpid(), w.t.tid)));
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	ASSERT_EQ(0, se_join(&w.t));
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 1, SE_MAX, SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until(asleep(getpid(), w.t.tid)));
	store(&word, 2);
	ASSERT_EQ(0, syncevent_ring(ev));
	ASSERT_EQ(0, se_join(&w.t));
	ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GT, 2, SE_MAX, SYNCEVENT_BLOCK, SYNCEVENT_FOREVER));
	ASSERT_TRUE(se_until(asleep(getpid(), w.t.tid)));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, se_join(&w.t));
	syncevent_close(ev);
}

struct both {
	struct se_thread t;
	struct syncevent_many many[2];
	struct syncevent_wait_opts opts;
	unsigned int flags, index;
};

static int both_fn(void *arg)
{
	struct both *b = arg;

	return syncevent_wait_many(b->many, 2, b->flags, &b->opts, &b->index);
}

TEST(addr_and_shm_together)
{
	struct syncevent *ev[2];
	unsigned int h, i, all;
	uint64_t word = 0;
	struct both b;

	for (h = 0; h < ARRAY_SIZE(hows); h++) {
		for (all = 0; all < 2; all++) {
			for (i = 0; i < 2; i++) {
				store(&word, 0);
				ASSERT_TRUE(ev[0] = on(&word));
				ASSERT_TRUE(ev[1] = make(0));
				b = (struct both) {
					.opts = opts_of(hows[h], SYNCEVENT_FOREVER),
					.flags = all ? SYNCEVENT_ALL : 0, .index = 9,
					.many = {
						{ ev[0], 3, SE_MAX, 0, SYNCEVENT_GE, 0 },
						{ ev[1], 3, SE_MAX, 0, SYNCEVENT_GE, 0 },
					},
				};
				ASSERT_EQ(0, se_start(&b.t, both_fn, &b));
				if (sleeps(hows[h])) {
					ASSERT_TRUE(se_until(asleep(getpid(), b.t.tid)));
				}
				if (all) {
					ASSERT_EQ(0, i ? store(&word, 3) :
						  syncevent_set(ev[1], 3));
					ASSERT_FALSE(se_is_done(&b.t));
				}
				ASSERT_EQ(0, i ? syncevent_set(ev[1], 3) : store(&word, 3));
				ASSERT_EQ(0, se_join(&b.t));
				if (!all)
					ASSERT_EQ(i, b.index);
				ASSERT_EQ(1, b.many[i].status);
				ASSERT_EQ(3, b.many[i].value);
				syncevent_close(ev[0]);
				syncevent_close(ev[1]);
			}
		}
	}
}

static int child_waits(void *arg)
{
	struct syncevent *ev = arg;

	return syncevent_wait(ev, SYNCEVENT_GE, 5, SE_MAX, NULL, NULL) ||
	       syncevent_add(ev, 1, NULL) ||
	       syncevent_wait(ev, SYNCEVENT_GE, 99, SE_MAX, NULL, NULL) != -EIDRM;
}

/* A child uses what it inherited, of either kind. */
TEST(fork_shares)
{
	uint64_t *word = shared(sizeof(*word));
	struct syncevent *ev;
	unsigned int kind;
	pid_t pid;

	ASSERT_TRUE(word);
	for (kind = 0; kind < 2; kind++) {
		ASSERT_TRUE(ev = kind ? make(0) : on(word));
		pid = se_fork(child_waits, ev);
		ASSERT_LT(0, pid);
		ASSERT_TRUE(se_until(asleep(pid, pid)));
		ASSERT_EQ(0, syncevent_set(ev, 5));
		ASSERT_EQ(0, syncevent_wait(ev, SYNCEVENT_GE, 6, SE_MAX, NULL, NULL));
		ASSERT_EQ(0, syncevent_revoke(ev));
		ASSERT_EQ(0, se_wait_child(pid));
		syncevent_close(ev);
	}
}

/* ---- which provider -------------------------------------------------------------------------- */

static int with(const char *env)
{
	return env ? setenv("SYNCEVENT_PROVIDER", env, 1) : unsetenv("SYNCEVENT_PROVIDER");
}

TEST(choice)
{
	static const char *const wrong[] = { "foo", "SHM", "shm ", "kernel,shm", "0" };
	struct syncevent_caps caps = { .size = sizeof(caps) };
	struct syncevent_attr attr = { .size = sizeof(attr) };
	struct syncevent *ev = NULL;
	struct syncevent_queue *q = NULL;
	unsigned int i;

	if (!access(SE_DEV, F_OK))
		SKIP(return, "the module is loaded here");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		ASSERT_EQ(0, with(wrong[i]));
		ASSERT_EQ(-EINVAL, syncevent_create(&ev, NULL));
		ASSERT_EQ(-EINVAL, syncevent_open(&ev, "x", O_RDWR, 0, NULL));
		ASSERT_EQ(-EINVAL, syncevent_unlink("x"));
		ASSERT_EQ(-EINVAL, syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps));
		ASSERT_EQ(-EINVAL, syncevent_queue_create(&q));
	}
	/* Asked for, it is never replaced. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, with(i ? "kernel" : NULL));
		attr.provider = i ? SYNCEVENT_PROVIDER_DEFAULT : SYNCEVENT_PROVIDER_KERNEL;
		ASSERT_EQ(-ENOENT, syncevent_create(&ev, &attr));
		ASSERT_EQ(-ENODEV, syncevent_open(&ev, "x", O_RDWR, 0, &attr));
		ASSERT_EQ(-ENOENT, syncevent_query(attr.provider, &caps));
	}
	ASSERT_EQ(-ENOENT, syncevent_queue_create(&q));
	ASSERT_EQ(-ENODEV, syncevent_unlink("x"));
	ASSERT_TRUE(!ev && !q);
	/* The attribute wins over the environment; no environment is no module here. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, with(i == 0 ? "kernel" : i == 1 ? NULL : i == 2 ? "" : "shm"));
		attr.provider = i ? SYNCEVENT_PROVIDER_DEFAULT : SYNCEVENT_PROVIDER_SHM;
		ASSERT_EQ(0, syncevent_create(&ev, &attr));
		ASSERT_EQ(SYNCEVENT_PROVIDER_SHM, stat_of(ev).provider);
		ASSERT_EQ(0, syncevent_query(attr.provider, &caps));
		ASSERT_EQ(SYNCEVENT_PROVIDER_SHM, caps.provider);
		syncevent_close(ev);
	}
	for (i = SYNCEVENT_PROVIDER_ADDR; i < 64; i++) {
		attr.provider = i;
		ASSERT_EQ(-EINVAL, syncevent_create(&ev, &attr));
		ASSERT_EQ(-EINVAL, syncevent_open(&ev, "x", O_RDWR | O_CREAT, 0600, &attr));
		ASSERT_EQ(-EINVAL, syncevent_query((enum syncevent_provider)i, &caps));
	}
}

TEST(query_and_stat)
{
	struct { struct syncevent_caps caps; char tail[8]; } caps = { .caps = { .size = 0 } };
	struct { struct syncevent_stat stat; char tail[8]; } stat = { .stat = { .size = 0 } };
	struct syncevent_attr attr = {
		.size = sizeof(attr), .value = 7, .flags = SYNCEVENT_SILENT, .publishers = 2,
		.subscribers = 1,
	};
	struct syncevent *ev, *ro;
	uint32_t size;

	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	for (size = 0; size <= sizeof(caps); size++) {
		caps.caps.size = size;
		ASSERT_EQ(size < sizeof(caps.caps) ? -EINVAL : 0,
			  syncevent_query(SYNCEVENT_PROVIDER_SHM, &caps.caps));
		ASSERT_EQ(size, caps.caps.size);
	}
	for (size = 0; size <= sizeof(stat); size++) {
		stat.stat.size = size;
		ASSERT_EQ(size < sizeof(stat.stat) ? -EINVAL : 0, syncevent_stat(ev, &stat.stat));
		ASSERT_EQ(size, stat.stat.size);
	}
	caps.caps.size = sizeof(caps);
	stat.stat.size = sizeof(stat);
	caps.tail[7] = stat.tail[7] = 1;
	ASSERT_EQ(-E2BIG, syncevent_query(SYNCEVENT_PROVIDER_SHM, &caps.caps));
	ASSERT_EQ(-E2BIG, syncevent_stat(ev, &stat.stat));
	/* It promises what it can keep. */
	ASSERT_EQ(0, caps.caps.guarantees);
	ASSERT_EQ(1, caps.caps.abi);
	ASSERT_EQ(SYNCEVENT_MANY_MAX, caps.caps.wait_max);
	ASSERT_LT(0, caps.caps.late_max_ns);
	ASSERT_LT(0, caps.caps.recheck_ns);
	ASSERT_EQ(0, strcmp("/dev/shm", caps.caps.names));
	ASSERT_EQ(0, strcmp("syncevent.", caps.caps.name_prefix));

	ASSERT_EQ(7, stat.stat.value);
	ASSERT_EQ(SYNCEVENT_STAT_UPDATE | SYNCEVENT_STAT_SILENT, stat.stat.flags);
	ASSERT_EQ(2, stat.stat.publishers);
	ASSERT_EQ(1, stat.stat.subscribers);
	ASSERT_EQ(0, stat.stat.rings);
	ASSERT_EQ(0, syncevent_ring(ev));
	ASSERT_EQ(1, stat_of(ev).rings);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(SYNCEVENT_STAT_SILENT, stat_of(ro).flags);
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(SYNCEVENT_STAT_SILENT | SYNCEVENT_STAT_REVOKED, stat_of(ro).flags);
	syncevent_close(ro);
	syncevent_close(ev);
}

TEST(each_error_has_a_sentence)
{
	static const int documented[] = {
		0, EINVAL, E2BIG, EIDRM, ENOENT, ENODEV, EACCES, EPERM, EMFILE, ENFILE, ENOMEM,
		EEXIST, ENAMETOOLONG, ENOSPC, EBADF, ENOTSUP, EOPNOTSUPP, ETIMEDOUT, EINTR, EXDEV,
		EAGAIN, EALREADY, EPIPE, EPROTO,
	};
	const char *text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(documented); i++) {
		text = syncevent_strerror(-documented[i]);
		ASSERT_TRUE(text && *text && strcmp(text, "unknown error"));
		ASSERT_NE('.', text[strlen(text) - 1]);
		ASSERT_EQ(text, syncevent_strerror(documented[i]));
	}
	ASSERT_EQ(0, strcmp("unknown error", syncevent_strerror(-100000)));
	ASSERT_TRUE(syncevent_strerror(INT_MIN));
	ASSERT_TRUE(syncevent_strerror(INT_MAX));
}

/* ---- signals ----------------------------------------------------------------------------------- */

static int sleeper_fn(void *arg)
{
	struct both *b = arg;

	return b->flags == 9 ? syncevent_wait(b->many[0].ev, SYNCEVENT_GE, 3, SE_MAX, &b->opts, NULL) :
	       syncevent_wait_many(b->many, b->flags, 0, &b->opts, NULL);
}

/* Each kind of sleep: shm, silent, read-only, on memory; alone, as one or two of many. */
TEST(signals_in_each_sleep)
{
	static uint64_t word;
	unsigned int kind, calls, how, restart, i;
	struct syncevent *ev, *waits;
	struct syncevent_attr attr = { .size = sizeof(attr) };
	struct both b;

	for (kind = 0; kind < 4; kind++) {
		for (i = 0; i < 12; i++) {
			restart = i & 1;
			how = i & 2 ? SYNCEVENT_ADAPTIVE : SYNCEVENT_BLOCK;
			calls = i / 4 ? i / 4 : 9;
			store(&word, 0);
			attr.addr = kind == 3 ? &word : NULL;
			attr.flags = kind == 1 ? SYNCEVENT_SILENT : 0;
			ASSERT_EQ(0, syncevent_create(&ev, &attr));
			ASSERT_EQ(0, syncevent_dup(&waits, ev, kind == 2 ? SYNCEVENT_RDONLY : 0));
			b = (struct both) {
				.opts = opts_of(how, SYNCEVENT_FOREVER), .flags = calls,
				.many = {
					{ waits, 3, SE_MAX, 0, SYNCEVENT_GE, 0 },
					{ waits, 9, SE_MAX, 0, SYNCEVENT_EQ, 0 },
				},
			};
			se_handle(SIGUSR1, restart ? SA_RESTART : 0);
			ASSERT_EQ(0, se_start(&b.t, sleeper_fn, &b));
			if (restart) {
				unsigned int n;

				for (n = 0; n < 10; n++) {
					ASSERT_TRUE(se_until(asleep(getpid(), b.t.tid)));
					ASSERT_EQ(0, pthread_kill(b.t.thread, SIGUSR1));
				}
				ASSERT_TRUE(se_until(asleep(getpid(), b.t.tid)));
				ASSERT_FALSE(se_is_done(&b.t));
				ASSERT_EQ(0, syncevent_set(ev, 3));
				ASSERT_EQ(0, se_join(&b.t));
			} else {
				/* Between two of its slices it does not notice one. */
				ASSERT_TRUE(se_until(se_is_done(&b.t) ||
						     (asleep(getpid(), b.t.tid) &&
						      pthread_kill(b.t.thread, SIGUSR1))));
				ASSERT_EQ(-EINTR, se_join(&b.t));
			}
			syncevent_close(waits);
			syncevent_close(ev);
		}
	}
}

/* ---- what is left ------------------------------------------------------------------------------- */

static unsigned int lines_of(const char *path)
{
	unsigned int n = 0;
	FILE *f = fopen(path, "re");
	int c;

	while (f && (c = fgetc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static unsigned int files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static bool handles_come_and_go(const char *name)
{
	static uint64_t word;
	struct syncevent *ev, *ro, *other;
	unsigned char blob[48];
	int fd;

	if (syncevent_open(&ev, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL) ||
	    syncevent_open(&other, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL) != -EEXIST ||
	    syncevent_dup(&ro, ev, SYNCEVENT_RDONLY) ||
	    syncevent_export(ev, 0, blob, sizeof(blob)) != sizeof(blob) ||
	    syncevent_import(&other, blob, sizeof(blob)))
		return false;
	syncevent_close(other);
	blob[24] ^= 1;
	if (syncevent_import(&other, blob, sizeof(blob)) != -EINVAL ||
	    syncevent_dup(&other, ro, 0))
		return false;
	syncevent_close(other);
	if (syncevent_from_fd(&other, syncevent_fd(ro)))
		return false;
	syncevent_close(other);
	fd = memfd_create("x", 0);
	if (ftruncate(fd, 4096) || syncevent_from_fd(&other, fd) != -EINVAL)
		return false;
	close(fd);
	if (syncevent_revoke(ev) || syncevent_from_fd(&other, syncevent_fd(ev)) != -EIDRM ||
	    syncevent_open(&other, name, O_RDONLY, 0, NULL) != -EIDRM ||
	    syncevent_dup(&other, ev, 0) != -EIDRM || syncevent_unlink(name))
		return false;
	syncevent_close(ev);
	syncevent_close(ro);
	if (!(ev = on(&word)) || syncevent_dup(&ro, ev, 0))
		return false;
	syncevent_close(ro);
	syncevent_close(ev);
	return true;
}

TEST(nothing_is_left)
{
	unsigned int i, fds, maps;
	char name[64];

	snprintf(name, sizeof(name), "test-%d-left", getpid());
	ASSERT_TRUE(handles_come_and_go(name));
	fds = files();
	maps = lines_of("/proc/self/maps");
	for (i = 0; i < 100; i++) {
		ASSERT_TRUE(handles_come_and_go(name));
	}
	ASSERT_EQ(fds, files());
	/* One for each would be a hundred; a sanitizer maps some memory of its own. */
	ASSERT_GT(maps + 20, lines_of("/proc/self/maps"));
}

TEST_HARNESS_MAIN
