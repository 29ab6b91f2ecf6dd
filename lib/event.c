// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* event.c - handles: how they are made and ended, and the data path */
#include "internal.h"

#include <errno.h>
#include <string.h>

int se_copy_struct(void *to, const void *from, size_t known)
{
	const unsigned char *bytes = from;
	uint32_t size;
	size_t i;

	memcpy(&size, from, sizeof(size));
	if (size < known)
		return -EINVAL;
	for (i = known; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(to, from, known);
	return 0;
}

int se_attr(struct syncevent_attr *to, const struct syncevent_attr *attr)
{
	int err;

	*to = (struct syncevent_attr){ .size = sizeof(*to) };
	if (attr) {
		err = se_copy_struct(to, attr, sizeof(*to));
		if (err)
			return err;
	}
	if (to->flags & ~(SYNCEVENT_SILENT | SYNCEVENT_AT_HOME) || to->reserved ||
	    (to->publishers | to->subscribers) & ~SYNCEVENT_LOC_ALL)
		return -EINVAL;
	if (!to->pci && (to->flags & SYNCEVENT_AT_HOME || to->home || to->pages))
		return -EINVAL;
	return 0;
}

int syncevent_create(struct syncevent **ev, const struct syncevent_attr *attr)
{
	struct syncevent_attr a;
	int provider, err;

	err = se_attr(&a, attr);
	if (err)
		return err;
	if (a.addr)
		return a.provider || a.pci ? -EINVAL : se_addr_create(ev, &a);
	if (a.pci)
		return a.provider > SYNCEVENT_PROVIDER_KERNEL ? -EINVAL : se_pci_create(ev, &a);
	provider = se_choose(a.provider);
	if (provider < 0)
		return provider;
	return provider == SYNCEVENT_PROVIDER_SHM ? se_shm_create(ev, &a) :
						    se_kernel_create(ev, &a);
}

int syncevent_from_fd(struct syncevent **ev, int fd)
{
	/* What it is says who keeps it, whatever the default. */
	int err = se_kernel_from_fd(ev, fd);

	return err == -EINVAL ? se_shm_from_fd(ev, fd) : err;
}

int syncevent_fd(const struct syncevent *ev)
{
	return ev->fd < 0 ? -ENOTSUP : ev->fd;
}

int syncevent_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags)
{
	return flags & ~SYNCEVENT_RDONLY ? -EINVAL : ev->provider->dup(out, ev, flags);
}

void syncevent_close(struct syncevent *ev)
{
	if (ev)
		ev->provider->close(ev);
}

struct syncevent_cell *syncevent_cell(struct syncevent *ev)
{
	return ev->value == &ev->cell->value ? ev->cell : NULL;
}

int syncevent_stat(struct syncevent *ev, struct syncevent_stat *stat)
{
	struct syncevent_stat s;
	int err = se_copy_struct(&s, stat, sizeof(s));

	if (err)
		return err;
	s = (struct syncevent_stat){
		.size = stat->size,
		.provider = ev->provider->id,
		.value = __atomic_load_n(ev->value, __ATOMIC_ACQUIRE),
		.flags = ev->writable ? SYNCEVENT_STAT_UPDATE : 0,
	};
	err = ev->provider->stat(ev, &s);
	if (!err)
		*stat = s;
	return err;
}

/* ---- data path ------------------------------------------------------------------- */

/*
 * The path that programs take a million times a second: what is rare is out of line,
 * so that a call costs little more than its locked instruction.
 */
#define RARE		__attribute__((__cold__, __noinline__))
#define RARELY(x)	__builtin_expect(!!(x), 0)

/*
 * An update has succeeded once the value is in the cell. Whoever waited for it
 * may revoke the event before the publisher comes to ring: that must not look
 * as if the update had failed, or a caller would count a signal as lost that
 * was seen. So the state is asked before, and the answer of the ring, which can
 * only be EIDRM, is dropped. An update that crosses a revocation succeeds: it
 * came before, and nobody is left to miss it.
 */
static int may_update(const struct syncevent *ev)
{
	if (!ev->writable)
		return -EBADF;
	return syncevent_cell_live(ev->cell) ? 0 : -EIDRM;
}

/* What is wrong; what was seen is not looked at again, it may be different by now. */
static RARE int no_update(const struct syncevent *ev)
{
	return ev->writable ? -EIDRM : -EBADF;
}

static RARE int no_add(const struct syncevent *ev)
{
	if (ev->writable && !ev->addable && syncevent_cell_live(ev->cell))
		return -EOPNOTSUPP;
	return no_update(ev);
}

static RARE int ring_if_asked(struct syncevent *ev, uint64_t value)
{
	if (syncevent_cell_must_ring(ev->cell, value))
		(void)ev->provider->ring(ev);
	return 0;
}

/*
 * The update was a locked instruction or is followed by a fence: SE-A. One hint
 * record is always there, and on one machine no other.
 */
static inline int updated(struct syncevent *ev, const struct syncevent_cell *cell,
			  uint64_t value)
{
	const struct syncevent_hint *hint = &cell->hint[0];

	syncevent_cell_se_a();
	if (RARELY(value > __atomic_load_n(&hint->wake_above, __ATOMIC_RELAXED)) ||
	    RARELY(__atomic_load_n(&hint->flags, __ATOMIC_RELAXED) &
		   SYNCEVENT_HINT_WAKE_ALL) ||
	    RARELY(__atomic_load_n(&cell->sides, __ATOMIC_RELAXED) > 1))
		return ring_if_asked(ev, value);
	return 0;
}

int syncevent_get(struct syncevent *ev, uint64_t *value)
{
	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	*value = __atomic_load_n(ev->value, __ATOMIC_ACQUIRE);
	return 0;
}

int syncevent_set(struct syncevent *ev, uint64_t value)
{
	const struct syncevent_cell *cell = ev->cell;

	syncevent_cell_own(cell);
	if (RARELY(!ev->writable) || RARELY(!syncevent_cell_live(cell)))
		return no_update(ev);
	(void)__atomic_exchange_n(ev->value, value, __ATOMIC_SEQ_CST);
	return updated(ev, cell, value);
}

int syncevent_add(struct syncevent *ev, uint64_t n, uint64_t *old)
{
	const struct syncevent_cell *cell = ev->cell;
	uint64_t before;

	syncevent_cell_own(cell);
	if (RARELY(!ev->addable) || RARELY(!syncevent_cell_live(cell)))
		return no_add(ev);
	before = __atomic_fetch_add(ev->value, n, __ATOMIC_SEQ_CST);
	if (RARELY(old))
		*old = before;
	return updated(ev, cell, before + n);
}

int syncevent_ring(struct syncevent *ev)
{
	int err = may_update(ev);

	return err ? err : ev->provider->ring(ev);
}

int syncevent_revoke(struct syncevent *ev)
{
	return ev->writable ? ev->provider->revoke(ev) : -EBADF;
}

/* ---- what polls -------------------------------------------------------------------- */

int syncevent_arm(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		  uint64_t mask)
{
	const struct se_cond c = { .operand = operand, .mask = mask, .cond = cond };

	return c.cond > SYNCEVENT_LE ? -EINVAL : ev->provider->arm(ev, &c);
}

int syncevent_disarm(struct syncevent *ev)
{
	return ev->provider->arm(ev, NULL);
}

int syncevent_poll_fd(struct syncevent *ev)
{
	return ev->provider->poll_fd(ev);
}

int syncevent_read(struct syncevent *ev, uint64_t *value)
{
	uint64_t v;
	int err = ev->provider->read(ev, &v);

	if (!err && value)
		*value = v;
	return err;
}
