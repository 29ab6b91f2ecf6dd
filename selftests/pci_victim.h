/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Users of a machine whose region is scribbled over by another. Whatever they are
 * told must be in the documentation, each call must come back, and what does not lie
 * in the region must not notice.
 */
#ifndef SELFTESTS_PCI_VICTIM_H
#define SELFTESTS_PCI_VICTIM_H

#include "pci_scribble.h"

enum { VICTIM_MAKER, VICTIM_SLEEPER, VICTIM_POLLER, VICTIM_IMPORTER, VICTIM_FOREVER,
       VICTIM_ASKER, VICTIM_PING, VICTIM_PONG, VICTIMS };

/**
 * struct victim - the users
 * @thread: one for each thing that they do
 * @event: of the region
 * @plain: two events of /dev/syncevent
 * @turns: that the plain ones had
 * @raw: the memory, to find keys and generations to try
 * @memory: a file to copy payload to, as a bad page is an error there and no signal
 * @seed: of this round
 * @stop: they may stop
 */
struct victim {
	struct se_thread thread[VICTIMS];
	int event;
	int plain[2];
	uint64_t turns;
	struct scribble *raw;
	int memory;
	uint64_t seed;
	bool stop;
};

/* Is this an answer that the documentation knows? */
#define may_be(ret, ...) ({							\
	static const int __known[] = { 0, __VA_ARGS__ };			\
	int __ret = (ret);							\
	bool __ok = __ret >= 0;							\
	size_t __i;								\
										\
	for (__i = 0; __i < sizeof(__known) / sizeof(*__known); __i++)		\
		__ok |= __ret == -__known[__i];					\
	if (!__ok)								\
		printf("# %s: %s\n", #ret, strerror(-__ret));			\
	__ok;									\
})

static inline bool victim_stop(struct victim *v)
{
	return __atomic_load_n(&v->stop, __ATOMIC_RELAXED);
}

/*
 * Copy so much from or to a page: all of it; or, if the page goes in the middle, a part,
 * and then no byte more.
 */
static inline bool victim_copy(struct victim *v, bool from, char *p, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = from ? pwrite(v->memory, p + done, len - done, 0) :
			   pread(v->memory, p + done, len - done, 0);
		if (n < 0)
			return may_be(-errno, EFAULT);
		if (!n)
			return may_be(-EIO);
		done += (size_t)n;
	}
	return true;
}

/* Reads and writes of a mapping that may go at any time. */
static inline bool victim_touch(struct victim *v, int fd, long pages)
{
	char *p = mmap(NULL, 4096 * (size_t)pages, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	long page;

	if (p == MAP_FAILED)
		return may_be(-errno, EIDRM, EINVAL, EACCES, EPERM, ENODEV);
	for (page = 0; page < pages; page++)
		if (!victim_copy(v, true, p + page * 4096, 4096) ||
		    (page && !victim_copy(v, false, p + page * 4096, 64)))
			return false;
	munmap(p, 4096 * (size_t)pages);
	return true;
}

/* All that can be done with an event. */
static inline bool victim_use(struct victim *v, int fd, uint64_t *rng)
{
	struct syncevent_info info;
	uint64_t value;
	int dup;

	if (!may_be(se_info(fd, &info)) || !may_be(se_get(fd, &value), EIDRM) ||
	    !may_be(se_set(fd, scribble_below(rng, 100)), EIDRM, EBADF) ||
	    !may_be(se_add(fd, 1, &value), EIDRM, EBADF, EOPNOTSUPP) ||
	    !may_be(se_ring(fd), EIDRM, EBADF) ||
	    !may_be(se_wait(fd, scribble_below(rng, 6), scribble_below(rng, 100),
			    se_in_ms(scribble_below(rng, 5)), NULL), EIDRM, EPIPE, ETIMEDOUT) ||
	    !victim_touch(v, fd, 1 + scribble_below(rng, 3)))
		return false;
	dup = se_dup(fd, SYNCEVENT_DUP_RDONLY | SYNCEVENT_DUP_NONBLOCK);
	if (!may_be(dup, EIDRM))
		return false;
	if (dup >= 0) {
		if (!may_be(se_read(dup, &value), EIDRM, EPIPE, EAGAIN))
			return false;
		close(dup);
	}
	return true;
}

static inline bool victim_import_blob(struct victim *v, const struct syncevent_blob *blob,
				      uint64_t *rng)
{
	int fd = pci_import(blob, 0);
	bool ok;

	if (!may_be(fd, EINVAL, ENODEV, EIDRM, EACCES, EPROTO, EAGAIN))
		return false;
	if (fd < 0)
		return true;
	ok = victim_use(v, fd, rng);
	close(fd);
	return ok;
}

static inline int victim_maker(void *arg)
{
	struct victim *v = arg;
	uint64_t rng = v->seed + 1;
	unsigned int n = 0;

	while (!victim_stop(v)) {
		struct syncevent_pci_create create = {
			.flags = scribble_below(&rng, 4) ? 0 : SYNCEVENT_CREATE_SILENT,
			.publishers = 1 + scribble_below(&rng, 3),
			.subscribers = 1 + scribble_below(&rng, 3),
			.home = scribble_below(&rng, 2), .pages = scribble_below(&rng, 3),
		};
		struct syncevent_blob blob;
		char name[8];
		int fd = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create);

		if (!may_be(fd, ENODEV, ENOSPC))
			return 1;
		if (fd < 0) {
			se_sleep_ms(1);
			continue;
		}
		snprintf(name, sizeof(name), "v%u", n++ % 8);
		if (!may_be(pci_name(fd, name, 3), EIDRM, EEXIST))
			return 2;
		if (!may_be(pci_export(fd, SYNCEVENT_RIGHT_UPDATE, &blob), EIDRM) ||
		    !victim_use(v, fd, &rng) || !victim_import_blob(v, &blob, &rng))
			return 3;
		if (scribble_below(&rng, 2) && !may_be(se_revoke(fd), EIDRM))
			return 4;
		close(fd);
	}
	return 0;
}

static inline int victim_sleeper(void *arg)
{
	struct victim *v = arg;
	uint64_t rng = v->seed + 2;
	struct syncevent_wait_entry e[2];

	while (!victim_stop(v)) {
		if (!may_be(se_wait(v->event, scribble_below(&rng, 6), scribble_next(&rng),
				    se_in_ms(3), NULL), ETIMEDOUT, EIDRM, EPIPE))
			return 1;
		e[0] = se_entry(v->event, SYNCEVENT_COND_EQ, 12345);
		e[1] = se_entry(v->plain[0], SYNCEVENT_COND_EQ, UINT64_MAX);
		if (!may_be(se_wait_many(e, 2, 0, se_in_ms(3), NULL), ETIMEDOUT, EIDRM, EPIPE))
			return 2;
		if (!may_be(se_add(v->event, 1, NULL), EIDRM))
			return 3;
		se_sleep_ms(1);
	}
	return 0;
}

static inline int victim_poller(void *arg)
{
	struct victim *v = arg;
	struct syncevent_completion done[4];
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int q = se_queue(SYNCEVENT_QUEUE_NONBLOCK), ep = epoll_create1(EPOLL_CLOEXEC);
	uint64_t cookie = 0, value;

	if (q < 0 || ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, v->event, &e))
		return 1;
	while (!victim_stop(v)) {
		int n = epoll_wait(ep, &e, 1, 2), dup = se_dup(v->event, SYNCEVENT_DUP_NONBLOCK);

		if (n < 0 || !may_be(dup, EIDRM) ||
		    !may_be(se_arm(v->event, SYNCEVENT_COND_NEQ, cookie), EIDRM))
			return 2;
		if (dup >= 0 && !may_be(se_read(dup, &value), EIDRM, EPIPE, EAGAIN))
			return 3;
		close(dup);
		if (!may_be(se_queue_add(q, v->event, SYNCEVENT_COND_EQ, cookie, cookie,
					 se_in_ms(2)), EIDRM, EPIPE))
			return 4;
		cookie++;
		se_sleep_ms(1);
		for (n = se_reap(q, done, 4); n > 0; n--)
			if (!may_be(done[n - 1].status, ETIMEDOUT, EIDRM, EPIPE))
				return 5;
	}
	close(ep);
	close(q);
	return 0;
}

/* Names that the others scribble, and whatever the descriptors say just now. */
static inline int victim_importer(void *arg)
{
	static const char *const names[] = { "e", "ee", "eee", "v0", "v1", "v2" };
	struct victim *v = arg;
	uint64_t rng = v->seed + 3;
	struct syncevent_pci_info info;

	while (!victim_stop(v)) {
		char name[SYNCEVENT_PCI_NAME_MAX + 1] = "";
		uint32_t slot = scribble_below(&rng, v->raw->geo.slots);
		volatile struct syncevent_region_desc *d = desc_at(v->raw, slot);
		struct syncevent_blob blob = {
			.magic = SE_BLOB_MAGIC, .version = SE_BLOB_VERSION, .slot = slot,
			.generation = d->state >> SYNCEVENT_STATE_GEN_SHIFT,
		};
		int fd;

		snprintf(name, sizeof(name), "%s", names[scribble_below(&rng, 6)]);
		if (!scribble_below(&rng, 4))
			memset(name, 'e', SYNCEVENT_PCI_NAME_MAX);
		fd = pci_import_name(name, 0);
		if (!may_be(fd, ENODEV, ENOENT, EIDRM, EACCES, EPROTO, EAGAIN))
			return 1;
		if (fd >= 0 && !victim_use(v, fd, &rng))
			return 2;
		close(fd);

		if (!may_be(se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_INFO, &info)))
			return 3;
		blob.region[0] = info.id[0];
		blob.region[1] = info.id[1];
		memcpy(blob.key, (const void *)d->key[1], sizeof(blob.key));
		blob.checksum = se_blob_checksum(&blob);
		if (!victim_import_blob(v, &blob, &rng))
			return 4;
	}
	return 0;
}

/* Until it is revoked, if nobody makes it hold. */
static inline int victim_forever(void *arg)
{
	struct victim *v = arg;

	return !may_be(se_wait(v->event, SYNCEVENT_COND_EQ, 0x5e5e5e5e5e5e5e5e, SE_FOREVER,
			       NULL), EIDRM, EPIPE);
}

static inline int victim_asker(void *arg)
{
	static const char *const files[] = { "peers", "region_id", "slots_used" };
	struct victim *v = arg;
	struct syncevent_pci_peer peer = { .side = 0 };
	char path[128], text[4096];
	uint32_t n = 0;
	FILE *f;

	while (!victim_stop(v)) {
		peer.side = n++ % 65;
		if (!may_be(se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer), ENODEV, EINVAL))
			return 1;
		snprintf(path, sizeof(path), "/sys/class/misc/syncevent_pci0/%s", files[n % 3]);
		f = fopen(path, "re");
		if (f) {
			text[fread(text, 1, sizeof(text) - 1, f)] = 0;
			fclose(f);
		}
		se_sleep_ms(1);
	}
	return 0;
}

/* The plain events: exactly one turn after the other, whatever happens. */
static inline int victim_ping(void *arg)
{
	struct victim *v = arg;
	uint64_t i, old, seen = 0;

	for (i = 0; !victim_stop(v); i++) {
		if (se_add(v->plain[0], 1, &old) || old != i ||
		    se_wait(v->plain[1], SYNCEVENT_COND_GE, i + 1, se_patience(), &seen) ||
		    seen != i + 1) {
			printf("# plain events: turn %llu, %llu, %llu\n", (unsigned long long)i,
			       (unsigned long long)old, (unsigned long long)seen);
			return 1;
		}
		__atomic_store_n(&v->turns, i + 1, __ATOMIC_RELEASE);
	}
	return se_revoke(v->plain[0]);
}

static inline int victim_pong(void *arg)
{
	struct victim *v = arg;
	uint64_t i, old, seen;
	int ret;

	for (i = 0; !(ret = se_wait(v->plain[0], SYNCEVENT_COND_GE, i + 1, se_patience(), &seen));
	     i++)
		if (seen != i + 1 || se_add(v->plain[1], 1, &old) || old != i)
			return 1;
	return ret == -EIDRM ? 0 : 2;
}

/* Which of them could not start, or 0. */
static inline int victims_start(struct victim *v)
{
	static int (*const fn[VICTIMS])(void *arg) = {
		victim_maker, victim_sleeper, victim_poller, victim_importer, victim_forever,
		victim_asker, victim_ping, victim_pong,
	};
	int i;

	v->stop = false;
	v->turns = 0;
	v->plain[0] = se_create(0);
	v->plain[1] = se_create(0);
	v->event = pci_create(0, 1);
	if (v->plain[0] < 0 || v->plain[1] < 0 || v->event < 0)
		return -1;
	for (i = 0; i < VICTIMS; i++)
		if (se_start(&v->thread[i], fn[i], v))
			return i + 1;
	return 0;
}

/* All calls return, with what may be: 0, or the first that did not and what it did. */
static inline int victims_stop(struct victim *v)
{
	int i, ret = 0;

	__atomic_store_n(&v->stop, true, __ATOMIC_RELAXED);
	if (!may_be(se_revoke(v->event), EIDRM))
		ret = -1;
	for (i = 0; i < VICTIMS; i++) {
		int end = se_join(&v->thread[i]);

		if (end) {
			printf("# user %d: %d\n", i, end);
			ret = ret ?: i + 1;
		}
	}
	close(v->event);
	close(v->plain[0]);
	close(v->plain[1]);
	return ret;
}

#endif /* SELFTESTS_PCI_VICTIM_H */
