// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * shm.c - the shm provider: a shared page instead of a kernel module
 *
 * The page begins with a cell like that of the kernel provider. What the kernel
 * does for the waiters of a cell they do themselves here:
 *
 *	publisher			waiter
 *	value = v			s = seq		(acquire)
 *	  SE-A				hint = asks
 *	r1 = hint			  SE-B
 *	if it asks:			r2 = value
 *	  hint = none			if it does not satisfy:
 *	  seq++		(release)	  sleep while seq == s
 *	  wake all on seq
 *
 * r1 and r2 cannot both be the old ones. The hint is cleared before seq moves: a
 * waiter that lowers it between the two has read the old seq and does not fall
 * asleep; one that reads the new seq lowers it after it was cleared. So whoever
 * sleeps has asked, in a hint that is still there or was cleared by somebody who is
 * about to wake it. Who dies between the update and the wake leaves sleepers to
 * themselves: each looks again after SE_RECHECK_MIN_NS, later less often, after
 * SE_RECHECK_MAX_NS at most.
 *
 * A hint is never raised by who leaves: others may have asked for less. A stale one
 * costs one ring, which clears it.
 *
 * selftests/model/shm.pml is the model of it, docs/wake-protocol.md has the
 * interleavings of its broken variants.
 *
 * Events on attr.addr are the same, with a page that only this process and its
 * children know and a counter elsewhere: updates by the library ring, others need
 * not, so the event is SILENT.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL		8U
#endif

_Static_assert(SE_SHM_OFFSET >= offsetof(struct syncevent_cell, hint) +
	       SYNCEVENT_SIDES_MAX * sizeof(struct syncevent_hint), "hints and struct se_shm");
_Static_assert(SE_SHM_OFFSET + sizeof(struct se_shm) <= SE_SHM_SIZE, "struct se_shm");
_Static_assert(sizeof(struct se_shm) == 128 && offsetof(struct se_shm, seq) == 64,
	       "docs/abi.md");

/* ---- asking and ringing ------------------------------------------------------------- */

static void ask_above(struct syncevent_hint *hint, uint64_t above)
{
	__u64 is = __atomic_load_n(&hint->wake_above, __ATOMIC_RELAXED);

	while (is > above &&
	       !__atomic_compare_exchange_n(&hint->wake_above, &is, above, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void se_shm_ask(struct syncevent *ev, const struct se_cond *c)
{
	struct syncevent_hint *hint;

	if (ev->control) {
		hint = &ev->control->hint[0];
		if (c->mask == UINT64_MAX && c->cond == SYNCEVENT_GT)
			ask_above(hint, c->operand);
		else if (c->mask == UINT64_MAX && c->cond == SYNCEVENT_GE && c->operand)
			ask_above(hint, c->operand - 1);
		else if (!(__atomic_load_n(&hint->flags, __ATOMIC_RELAXED) &
			   SYNCEVENT_HINT_WAKE_ALL))
			__atomic_fetch_or(&hint->flags, SYNCEVENT_HINT_WAKE_ALL,
					  __ATOMIC_RELAXED);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* SE-B */
}

static int shm_ring(struct syncevent *ev)
{
	struct syncevent_hint *hint = &ev->cell->hint[0];
	struct se_shm *shm = se_shm(ev->cell);

	__atomic_store_n(&hint->wake_above, SYNCEVENT_WAKE_NONE, __ATOMIC_RELAXED);
	if (__atomic_load_n(&hint->flags, __ATOMIC_RELAXED) & SYNCEVENT_HINT_WAKE_ALL)
		__atomic_fetch_and(&hint->flags, ~SYNCEVENT_HINT_WAKE_ALL, __ATOMIC_RELAXED);
	/* Release: the hint is cleared before. */
	__atomic_fetch_add(&shm->seq, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* SE-C: see watch.c */
	se_watch_ring(ev);
	se_wake(&shm->seq);
	return 0;
}

static int shm_revoke(struct syncevent *ev)
{
	uint32_t state = __atomic_load_n(&ev->cell->state, __ATOMIC_RELAXED), revoked;

	do {
		if ((state & SYNCEVENT_STATE_MASK) != SYNCEVENT_STATE_LIVE)
			return -EIDRM;
		revoked = (state & ~SYNCEVENT_STATE_MASK) | SYNCEVENT_STATE_REVOKED;
	} while (!__atomic_compare_exchange_n(&ev->cell->state, &state, revoked, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	/* Whoever has seen it live reads the old seq, and does not sleep past this. */
	return shm_ring(ev);
}

static int shm_sleep(struct syncevent *ev, const struct se_cond *c,
		     const struct syncevent_wait_opts *o, uint64_t *value)
{
	struct se_shm *shm = se_shm(ev->cell);
	struct se_slice slice = { .silent = se_shm_silent(ev) };
	struct se_word word = { .word = &shm->seq };
	bool passed = false;
	int err = 0, ret;

	for (;;) {
		/*
		 * After a signal or the deadline this is the last look: success wins. Who
		 * was woken looks before it asks again, or the next update would ring for
		 * nobody.
		 */
		ret = se_look(ev, c, value);
		if (ret != SE_NOT_YET)
			return ret;
		if (err)
			return err;
		if (passed)
			return -ETIMEDOUT;
		word.was = __atomic_load_n(&shm->seq, __ATOMIC_ACQUIRE);
		se_shm_ask(ev, c);
		ret = se_look(ev, c, value);
		if (ret != SE_NOT_YET)
			return ret;
		err = se_sleep(&word, 1, &slice, o);
		passed = se_passed(o);
	}
}

/* ---- handles ------------------------------------------------------------------------- */

static void *map(int fd, bool writable)
{
	void *page = mmap(NULL, SE_SHM_SIZE, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			  MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* Another mapping of a page that has no file. */
static void *map_again(void *page)
{
	page = mremap(page, 0, SE_SHM_SIZE, MREMAP_MAYMOVE);
	return page == MAP_FAILED ? NULL : page;
}

int se_shm_reopen(int fd, int oflag)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Without O_NONBLOCK whoever has a lease of the file would be waited for. */
	fd = open(path, oflag | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == EAGAIN ? -EACCES : -errno;
	return se_above_stdio(fd);
}

void se_shm_free(struct syncevent *ev)
{
	if (ev->control && ev->control != ev->cell)
		munmap(ev->control, SE_SHM_SIZE);
	munmap(ev->cell, SE_SHM_SIZE);
	free(ev);
}

static void shm_close(struct syncevent *ev)
{
	if (ev->fd >= 0)
		close(ev->fd);
	if (!se_watch_close(ev))
		se_shm_free(ev);
}

static int shm_stat(struct syncevent *ev, struct syncevent_stat *stat)
{
	const struct se_shm *shm = se_shm(ev->cell);
	struct stat st;

	if (ev->fd < 0)
		stat->id = (uintptr_t)ev->value;
	else if (!fstat(ev->fd, &st))
		stat->id = st.st_ino;
	stat->publishers = shm->publishers;
	stat->subscribers = shm->subscribers;
	stat->rings = __atomic_load_n(&shm->seq, __ATOMIC_RELAXED);
	if (!syncevent_cell_live(ev->cell))
		stat->flags |= SYNCEVENT_STAT_REVOKED;
	if (ev->cell->flags & SYNCEVENT_CELL_SILENT)
		stat->flags |= SYNCEVENT_STAT_SILENT;
	return 0;
}

static int shm_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags)
{
	bool readonly = flags & SYNCEVENT_RDONLY;
	int fd;

	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	if (!ev->writable || !readonly) {
		fd = fcntl(ev->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (fd < 0)
			return -errno;
	} else {
		/* What it is handed on as must not be writable: another open file. */
		fd = se_shm_reopen(ev->fd, O_RDONLY);
		if (fd < 0)
			return fd;
	}
	if (ev->writable && !readonly)
		return se_shm_handle(out, fd, true, NULL);
	return se_shm_handle(out, fd, false, ev->control ? map_again(ev->control) : NULL);
}

static int addr_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags);

/* They differ in where the page is. */
#define PROVIDER(_id, _dup, _export) {		\
	.id = _id,				\
	.ring = shm_ring,			\
	.revoke = shm_revoke,			\
	.sleep = shm_sleep,			\
	.dup = _dup,				\
	.arm = se_watch_arm,			\
	.poll_fd = se_watch_poll_fd,		\
	.read = se_watch_read,			\
	.stat = shm_stat,			\
	.export = _export,			\
	.close = shm_close,			\
}

static const struct se_provider shm_provider = PROVIDER(SYNCEVENT_PROVIDER_SHM, shm_dup,
							se_shm_export);
static const struct se_provider addr_provider = PROVIDER(SYNCEVENT_PROVIDER_ADDR, addr_dup, NULL);

/* Of an event on the caller's memory; takes over the page. */
static int addr_handle(struct syncevent **out, struct syncevent_cell *page,
		       __u64 *value, bool writable)
{
	struct syncevent *ev = calloc(1, sizeof(*ev));

	if (!ev) {
		munmap(page, SE_SHM_SIZE);
		return -ENOMEM;
	}
	ev->value = value;
	ev->cell = page;
	ev->control = page;
	ev->provider = &addr_provider;
	ev->fd = -1;
	ev->writable = writable;
	ev->addable = writable;
	ev->first = __atomic_load_n(value, __ATOMIC_ACQUIRE);
	*out = ev;
	return 0;
}

static int addr_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags)
{
	void *page;

	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	page = map_again(ev->cell);
	if (!page)
		return -ENOMEM;
	return addr_handle(out, page, ev->value, ev->writable && !(flags & SYNCEVENT_RDONLY));
}

int se_shm_handle(struct syncevent **out, int fd, bool writable,
		  struct syncevent_cell *control)
{
	struct syncevent_cell *cell = map(fd, writable);
	struct syncevent *ev = NULL;
	int err;

	/* EPERM: sealed against writing, which no event is. */
	err = errno == EPERM ? -EINVAL : -ENOMEM;
	if (!cell)
		goto err_close;
	err = -EINVAL;
	/* Acquire: the rest of the page was written before. */
	if (__atomic_load_n(&se_shm(cell)->magic, __ATOMIC_ACQUIRE) != SE_SHM_MAGIC ||
	    se_shm(cell)->version != SE_SHM_VERSION)
		goto err_unmap;
	err = -EIDRM;
	if (!syncevent_cell_live(cell))
		goto err_unmap;
	err = -ENOMEM;
	ev = calloc(1, sizeof(*ev));
	if (!ev)
		goto err_unmap;
	ev->value = &cell->value;
	ev->cell = cell;
	ev->provider = &shm_provider;
	ev->fd = fd;
	ev->writable = writable;
	ev->addable = writable;
	ev->first = __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
	ev->control = writable ? cell : control;
	*out = ev;
	return 0;

err_unmap:
	munmap(cell, SE_SHM_SIZE);
err_close:
	if (control)
		munmap(control, SE_SHM_SIZE);
	close(fd);
	return err;
}

/* ---- making and finding ------------------------------------------------------------------ */

static int fill(struct syncevent_cell *cell, const struct syncevent_attr *attr)
{
	struct se_shm *shm = se_shm(cell);
	unsigned int i;

	if (getrandom(shm->key, sizeof(shm->key), 0) != (ssize_t)sizeof(shm->key))
		return -EIO;
	cell->value = attr->value;
	cell->state = 1U << SYNCEVENT_STATE_GEN_SHIFT | SYNCEVENT_STATE_LIVE;
	cell->sides = 1;
	cell->flags = attr->flags & SYNCEVENT_SILENT ? SYNCEVENT_CELL_SILENT : 0;
	for (i = 0; i < 3; i++)
		cell->hint[i].wake_above = SYNCEVENT_WAKE_NONE;
	shm->publishers = attr->publishers ? attr->publishers : SYNCEVENT_LOC_CPU;
	shm->subscribers = attr->subscribers ? attr->subscribers : SYNCEVENT_LOC_CPU;
	shm->version = SE_SHM_VERSION;
	__atomic_store_n(&shm->magic, SE_SHM_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

int se_shm_make(struct syncevent **ev, int fd, const struct syncevent_attr *attr)
{
	struct syncevent_cell *cell;
	int err;

	fd = se_above_stdio(fd < 0 ? -errno : fd);
	if (fd < 0)
		return fd;
	/* Not ftruncate(2), with which a want of room shows only when the page is touched. */
	if (pwrite(fd, "", 1, SE_SHM_SIZE - 1) != 1) {
		err = -errno;
		goto err_close;
	}
	cell = map(fd, true);
	err = -ENOMEM;
	if (!cell)
		goto err_close;
	err = fill(cell, attr);
	munmap(cell, SE_SHM_SIZE);
	if (err)
		goto err_close;
	return se_shm_handle(ev, fd, true, NULL);

err_close:
	close(fd);
	return err;
}

int se_addr_create(struct syncevent **ev, const struct syncevent_attr *attr)
{
	struct syncevent_attr a = *attr;
	void *page;
	int err;

	if ((uintptr_t)attr->addr % sizeof(uint64_t))
		return -EINVAL;
	page = mmap(NULL, SE_SHM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED)
		return -ENOMEM;
	a.flags |= SYNCEVENT_SILENT;
	err = fill(page, &a);
	if (err) {
		munmap(page, SE_SHM_SIZE);
		return err;
	}
	return addr_handle(ev, page, (__u64 *)attr->addr, true);
}

int se_shm_create(struct syncevent **ev, const struct syncevent_attr *attr)
{
	struct syncevent *made;
	int fd, err;

	fd = memfd_create("syncevent", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)	/* Linux before 6.3 */
		fd = memfd_create("syncevent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	err = se_shm_make(&made, fd, attr);
	if (err)
		return err;
	/* Who is handed the file must not be able to make others die of SIGBUS. */
	if (fcntl(made->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		err = -errno;
		syncevent_close(made);
		return err;
	}
	*ev = made;
	return 0;
}

int se_shm_take(struct syncevent **ev, int fd)
{
	struct syncevent_cell *control = NULL;
	int flags = fcntl(fd, F_GETFL), update, err;
	bool writable = (flags & O_ACCMODE) == O_RDWR;
	struct stat st;

	err = -EINVAL;
	if (flags < 0 || fstat(fd, &st) || flags & O_PATH || !S_ISREG(st.st_mode) ||
	    st.st_size != SE_SHM_SIZE || (!writable && (flags & O_ACCMODE) != O_RDONLY))
		goto err_close;
	/*
	 * A right that this user has anyway, though not by this file, is used to ask for
	 * rings: without it a sleeper would have to look now and then.
	 */
	update = writable ? -EBADF : se_shm_reopen(fd, O_RDWR);
	if (update >= 0) {
		control = map(update, true);
		close(update);
	}
	return se_shm_handle(ev, fd, writable, control);

err_close:
	close(fd);
	return err;
}

int se_shm_from_fd(struct syncevent **ev, int fd)
{
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? -errno : se_shm_take(ev, fd);
}

void se_shm_query(struct syncevent_caps *caps)
{
	caps->abi = SE_SHM_VERSION;
	caps->wait_max = SYNCEVENT_MANY_MAX;
	caps->late_max_ns = SE_SILENT_MAX_NS;
	caps->recheck_ns = SE_RECHECK_MAX_NS;
	caps->names = SE_SHM_NAMES;
	caps->name_prefix = SE_SHM_PREFIX;
}
