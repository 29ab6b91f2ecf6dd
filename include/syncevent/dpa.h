/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syncevent/dpa.h - events for firmware of a device beside the machines
 *
 * A DPA, a core of a network card or of an accelerator, sees the memory of a region
 * (docs/abi.md, "The region") and runs no Linux. With this header it is a side of the
 * region like any machine: it has a number of its own, shows an epoch and a heartbeat,
 * notices who dies, acknowledges what others end, and rings who sleeps. It makes no
 * events; it gets, sets, adds to and waits for those of others.
 *
 * Freestanding, as syncevent/cell.h: no libc, no allocation, no system call; C99, C11
 * and C++11 with the atomics of GCC and clang; 64-bit little-endian units, of which
 * RISC-V is the one that was tried. docs/dpa.md begins at the beginning, and
 * samples/dpa/ is firmware to start from.
 *
 *	struct syncevent_dpa dpa = { .base = bar, .len = bar_bytes, .side = 1, ... };
 *
 *	while (syncevent_dpa_attach(&dpa) == -SYNCEVENT_DPA_EAGAIN)
 *		;			-- side 0 has not formatted the memory yet
 *	ret = syncevent_dpa_wait(&dpa, request, SYNCEVENT_COND_GT, seen,
 *				 UINT64_MAX, SYNCEVENT_DPA_FOREVER, &seen);
 *	if (!ret)
 *		ret = syncevent_dpa_add(&dpa, reply, 1, NULL);
 *
 * A handle is a number that names an event: generation << 32 | slot, from
 * syncevent_dpa_handle() of libsyncevent or syncevent_dpa_find(). It is checked at
 * each use. It is no key: a unit that sees the memory can write all of it.
 *
 * Ticks. syncevent_dpa_tick() has to be called at least once in each sixteenth of
 * @timeout, and every 90 ms if that is shorter: machines may have got a shorter limit
 * meanwhile. It returns at once if it is too early, so call it from each loop;
 * syncevent_dpa_wait() ticks by itself. Events that others end are given back in a tick
 * and at no other time: until the next one this unit may touch what it found live.
 *
 * Threads. A struct syncevent_dpa belongs to one hart at a time. Several harts take
 * turns by a lock of their own, or are sides of their own.
 *
 * Errors are negative numbers, those of Linux: SYNCEVENT_DPA_E*. -ENODEV and
 * -EADDRINUSE come from every function, and mean: this side is not attached. After
 * -ENODEV attach again, and find the events again; see syncevent_dpa_attach().
 *
 * Memory order: updates release; syncevent_dpa_get() and a satisfied
 * syncevent_dpa_wait() acquire.
 *
 * Names that begin with se_dpa_ or SE_DPA_ are this header's own.
 */
#ifndef SYNCEVENT_DPA_H
#define SYNCEVENT_DPA_H

#include <stddef.h>
#include <stdint.h>
#include <syncevent/cell.h>
#include <syncevent/side.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The slot of a handle, if it is live. The descriptor says so, not the cell, which users
 * of the event can write; and until the next tick acknowledges the slot's end nobody
 * makes it anew.
 */
static inline int se_dpa_live(const struct syncevent_dpa *dpa, uint64_t handle)
{
	uint32_t slot = (uint32_t)handle, generation = (uint32_t)(handle >> 32);

	if (dpa->attached != 1)
		return dpa->attached ? dpa->attached : -SYNCEVENT_DPA_ENODEV;
	if (slot >= dpa->slots || !generation ||
	    generation > ~0U >> SYNCEVENT_STATE_GEN_SHIFT)
		return -SYNCEVENT_DPA_EINVAL;
	if (SE_DPA_READ(se_dpa_desc(dpa, slot)->state) !=
	    se_dpa_state(generation, SYNCEVENT_STATE_LIVE))
		return -SYNCEVENT_DPA_EIDRM;
	se_dpa_mb();	/* what the creator wrote before it was live */
	return 0;
}

/* Have another side look at a slot. */
static inline void se_dpa_notify(struct syncevent_dpa *dpa, uint32_t side, uint64_t entry)
{
	struct syncevent_region_ring *to = se_dpa_ring(dpa, dpa->side, side);
	struct se_dpa_peer *peer = &dpa->peer[side];
	uint32_t tail = peer->tail;

	if (tail - SE_DPA_READ(to->head) >= SYNCEVENT_RING_ENTRIES) {
		SE_DPA_WRITE(to->overflow, ++peer->overflow);
	} else {
		SE_DPA_WRITE(to->entry[tail % SYNCEVENT_RING_ENTRIES], entry);
		se_dpa_mb();	/* the entry comes before the tail */
		SE_DPA_WRITE(to->tail, ++peer->tail);
	}
	se_dpa_mb();	/* RING-A: the other writes its request, then reads the tail */
	if (dpa->ring && SE_DPA_READ(to->request) == tail)
		dpa->ring(dpa->device, SE_DPA_READ(se_dpa_side(dpa, side)->doorbell));
}

/**
 * syncevent_dpa_ring() - have the sleepers of other sides look at an event
 * @dpa: attached
 * @handle: of the event
 * @value: its newest value
 *
 * syncevent_dpa_set() and syncevent_dpa_add() do it by themselves. For updates that
 * this unit had others make: a DMA engine. Sides that do not ask for @value are not
 * told, and nobody is of a silent event.
 *
 * Return: 0; -EINVAL: no handle; -EIDRM; -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_ring(struct syncevent_dpa *dpa, uint64_t handle, uint64_t value)
{
	int ret = se_dpa_live(dpa, handle);
	uint32_t side;

	if (ret || SE_DPA_READ(se_dpa_desc(dpa, (uint32_t)handle)->flags) & SYNCEVENT_CELL_SILENT)
		return ret;
	se_dpa_mb();	/* SE-A */
	for (side = 0; side < dpa->sides; side++) {
		struct syncevent_hint *hint = se_dpa_hint(se_dpa_cell(dpa, (uint32_t)handle),
							  side);

		if (side != dpa->side && !se_dpa_gone(dpa, side) &&
		    (value > SE_DPA_READ(hint->wake_above) ||
		     SE_DPA_READ(hint->flags) & SYNCEVENT_HINT_WAKE_ALL))
			se_dpa_notify(dpa, side, handle);
	}
	return 0;
}

/**
 * syncevent_dpa_get() - load the counter
 * @dpa: attached
 * @handle: of the event
 * @value: where it goes
 *
 * Memory order: acquire. Return: 0; -EINVAL: no handle; -EIDRM; -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_get(const struct syncevent_dpa *dpa, uint64_t handle,
				    uint64_t *value)
{
	int ret = se_dpa_live(dpa, handle);

	if (ret)
		return ret;
	*value = syncevent_cell_get(se_dpa_cell(dpa, (uint32_t)handle));
	se_dpa_mb();
	return 0;
}

/**
 * syncevent_dpa_set() - store a value
 * @dpa: attached
 * @handle: of the event
 * @value: the new value
 *
 * Rings the sides where it ends a sleep. Memory order: release.
 *
 * Return: 0; -EINVAL: no handle; -EIDRM; -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_set(struct syncevent_dpa *dpa, uint64_t handle, uint64_t value)
{
	struct syncevent_cell *cell;
	int ret = se_dpa_live(dpa, handle);

	if (ret)
		return ret;
	cell = se_dpa_cell(dpa, (uint32_t)handle);
	/*
	 * A store, for memory on which an exchange is not atomic, or not to be had. The
	 * barrier of se_dpa_live() makes it a release.
	 */
	SE_DPA_WRITE(cell->value, value);
	se_dpa_mb();	/* SE-A */
	/* Once made, the update has succeeded, whatever becomes of the event. */
	if (syncevent_cell_must_ring(cell, value))
		(void)syncevent_dpa_ring(dpa, handle, value);
	return 0;
}

/**
 * syncevent_dpa_add() - add to the counter, modulo 2^64
 * @dpa: attached
 * @handle: of the event
 * @n: what to add
 * @old: where the value before goes, or NULL
 *
 * Rings the sides where it ends a sleep. Memory order: release.
 *
 * Return: 0; -EINVAL: no handle; -EIDRM; -EOPNOTSUPP: the event may be added to on its
 * home side alone, and that is another; -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_add(struct syncevent_dpa *dpa, uint64_t handle, uint64_t n,
				    uint64_t *old)
{
	int ret = se_dpa_live(dpa, handle);
	uint32_t slot = (uint32_t)handle;
	struct syncevent_cell *cell;
	uint64_t before;

	if (ret)
		return ret;
	if (SE_DPA_READ(se_dpa_desc(dpa, slot)->flags) & SYNCEVENT_CELL_NO_REMOTE_ADD &&
	    se_dpa_home(dpa, slot) != dpa->side)
		return -SYNCEVENT_DPA_EOPNOTSUPP;
	cell = se_dpa_cell(dpa, slot);
	before = __atomic_fetch_add(&cell->value, n, __ATOMIC_SEQ_CST);
	se_dpa_mb();	/* SE-A; that of syncevent_cell_add() need not order I/O memory */
	if (syncevent_cell_must_ring(cell, before + n))
		(void)syncevent_dpa_ring(dpa, handle, before + n);
	if (old)
		*old = before;
	return 0;
}

static inline int se_dpa_holds(uint32_t cond, uint64_t value, uint64_t operand)
{
	switch (cond) {
	case SYNCEVENT_COND_EQ:
		return value == operand;
	case SYNCEVENT_COND_NEQ:
		return value != operand;
	case SYNCEVENT_COND_GT:
		return value > operand;
	case SYNCEVENT_COND_GE:
		return value >= operand;
	case SYNCEVENT_COND_LT:
		return value < operand;
	default:
		return value <= operand;
	}
}

/**
 * syncevent_dpa_wait() - spin until (value & mask) COND operand
 * @dpa: attached
 * @handle: of the event
 * @cond: SYNCEVENT_COND_*
 * @operand: right-hand side
 * @mask: applied to the value before it is compared; UINT64_MAX for all of it
 * @deadline: time of @clock at which to give up, or SYNCEVENT_DPA_FOREVER
 * @seen: gets the value that satisfied the condition, or NULL
 *
 * Ticks meanwhile. A value that came and went may pass unseen; a counter that only
 * grows, waited for with GT or GE, misses nothing. Memory order: acquire.
 *
 * Return: 0; -EINVAL: no handle, no condition; -EIDRM: the event ended; -EPIPE: its
 * creator or its home died, and the condition does not hold; -ETIMEDOUT; -ENODEV,
 * -EADDRINUSE.
 */
static inline int syncevent_dpa_wait(struct syncevent_dpa *dpa, uint64_t handle, uint32_t cond,
				     uint64_t operand, uint64_t mask, uint64_t deadline,
				     uint64_t *seen)
{
	const uint32_t live = se_dpa_state((uint32_t)(handle >> 32), SYNCEVENT_STATE_LIVE);
	uint32_t slot = (uint32_t)handle, owner, home;
	uint64_t value, now, home_epoch;
	const struct syncevent_cell *cell;
	int ret = se_dpa_live(dpa, handle), holds, look;

	if (ret)
		return ret;
	if (cond > SYNCEVENT_COND_LE)
		return -SYNCEVENT_DPA_EINVAL;
	owner = se_dpa_owner(dpa, slot);
	home = se_dpa_home(dpa, slot);
	/* Of the life in which it is waited for: it may be another than the last tick saw. */
	home_epoch = SE_DPA_READ(se_dpa_side(dpa, home)->epoch);
	cell = se_dpa_cell(dpa, slot);
	for (;;) {
		now = dpa->clock(dpa->device);
		look = now - dpa->ticked >= dpa->period;
		if (look) {
			ret = se_dpa_look(dpa, now);
			if (ret)
				return ret;
		}
		value = syncevent_cell_get(cell);
		holds = se_dpa_holds(cond, value & mask, operand);
		/*
		 * What the cell says of its state comes with the value and costs nothing;
		 * the descriptor is asked when it matters.
		 */
		if (holds || look || SE_DPA_READ(cell->state) != live) {
			se_dpa_mb();
			ret = se_dpa_live(dpa, handle);
			if (ret)
				return ret;
		}
		if (holds)
			break;
		/* A creator that attached anew has ended its events by that. */
		if (se_dpa_gone(dpa, owner) || se_dpa_gone(dpa, home) ||
		    (look && home != dpa->side && dpa->peer[home].epoch != home_epoch))
			return -SYNCEVENT_DPA_EPIPE;
		if (now >= deadline)
			return -SYNCEVENT_DPA_ETIMEDOUT;
		syncevent_cell_pause();
	}
	if (seen)
		*seen = value;
	return 0;
}

/* ---- finding and holding events ---------------------------------------------------- */

/**
 * syncevent_dpa_find() - the event that another side gave a name to
 * @dpa: attached
 * @name: ends with a zero; not longer than 63 bytes
 * @handle: where the event's goes
 *
 * It looks at every slot of the region. What a side left that is dead, or no longer
 * there, counts if there is nothing else.
 *
 * Return: the rights that the name gives: SYNCEVENT_RIGHT_READ, and
 * SYNCEVENT_RIGHT_UPDATE if who made the event wants others to update it; -ENOENT;
 * -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_find(const struct syncevent_dpa *dpa, const char *name,
				     uint64_t *handle)
{
	uint32_t slot, state, rights, i;
	int ret = -SYNCEVENT_DPA_ENOENT, gone;

	if (dpa->attached != 1)
		return dpa->attached ? dpa->attached : -SYNCEVENT_DPA_ENODEV;
	for (slot = 0; slot < dpa->slots; slot++) {
		const struct syncevent_region_desc *desc = se_dpa_desc(dpa, slot);

		state = SE_DPA_READ(desc->state);
		if ((state & SYNCEVENT_STATE_MASK) != SYNCEVENT_STATE_LIVE)
			continue;
		se_dpa_mb();	/* what the creator wrote before it was live */
		rights = SE_DPA_READ(desc->name_rights);
		se_dpa_mb();	/* they are 0 while the name changes */
		for (i = 0; i < sizeof(desc->name) - 1; i++)
			if (!name[i] || SE_DPA_READ(desc->name[i]) != name[i])
				break;
		if (name[i] || SE_DPA_READ(desc->name[i]))
			continue;
		se_dpa_mb();
		rights &= SE_DPA_READ(desc->name_rights) &
			  (SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
		if (!rights || SE_DPA_READ(desc->state) != state)
			continue;
		gone = se_dpa_gone(dpa, se_dpa_owner(dpa, slot));
		if (gone && ret > 0)
			continue;
		*handle = (uint64_t)(state >> SYNCEVENT_STATE_GEN_SHIFT) << 32 | slot;
		ret = (int)(rights | SYNCEVENT_RIGHT_READ);
		if (!gone)
			break;
	}
	return ret;
}

/**
 * syncevent_dpa_import() - tell who made an event that this unit makes use of it
 * @dpa: attached
 * @handle: of the event
 * @rights: SYNCEVENT_RIGHT_READ, and SYNCEVENT_RIGHT_UPDATE
 *
 * No function here needs it. The creator does, of an event of which only other sides
 * are publishers: its waits end with EPIPE when this unit, or the last of several that
 * imported it with the right to update, dies.
 *
 * Return: 0; -EINVAL: no handle; -EIDRM; -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_import(struct syncevent_dpa *dpa, uint64_t handle,
				       uint32_t rights)
{
	struct syncevent_region_ack *ack;
	int ret = se_dpa_live(dpa, handle);

	if (ret)
		return ret;
	ack = se_dpa_ack(dpa, (uint32_t)handle);
	SE_DPA_WRITE(ack->gone, 0U);
	SE_DPA_WRITE(ack->import, se_dpa_state((uint32_t)(handle >> 32), rights));
	se_dpa_mb();	/* RE-A: who revokes sees it, or is seen */
	ret = se_dpa_live(dpa, handle);
	if (ret)
		SE_DPA_WRITE(ack->import, 0U);
	return ret;
}

/**
 * syncevent_dpa_forget() - undo syncevent_dpa_import()
 * @dpa: attached or not
 * @handle: that was imported; may have ended
 */
static inline void syncevent_dpa_forget(struct syncevent_dpa *dpa, uint64_t handle)
{
	uint32_t slot = (uint32_t)handle;

	if (dpa->attached == 1 && slot < dpa->slots &&
	    SE_DPA_READ(se_dpa_ack(dpa, slot)->import) >> 2 == (uint32_t)(handle >> 32))
		SE_DPA_WRITE(se_dpa_ack(dpa, slot)->import, 0U);
}

/**
 * syncevent_dpa_payload() - the memory that is shared along with an event
 * @dpa: attached
 * @handle: of the event
 * @len: gets its bytes
 *
 * Not to be touched after a tick, and so after a wait, until a call said that the event
 * is still there: then the next tick at the earliest gives it away.
 *
 * Return: where it begins; NULL if there is none, or no such event.
 */
static inline void *syncevent_dpa_payload(const struct syncevent_dpa *dpa, uint64_t handle,
					  uint64_t *len)
{
	const struct syncevent_region_desc *desc;
	uint32_t share, first, at, n;

	if (se_dpa_live(dpa, handle))
		return NULL;
	desc = se_dpa_desc(dpa, (uint32_t)handle);
	at = SE_DPA_READ(desc->payload_first);
	n = SE_DPA_READ(desc->payload_pages);
	/* The pages of its creator, and no others: numbers below wrap around. */
	share = dpa->pages / dpa->sides;
	first = se_dpa_owner(dpa, (uint32_t)handle) * share;
	if (!n || n > share || at - first > share - n)
		return NULL;
	*len = (uint64_t)n * SYNCEVENT_REGION_PAGE;
	return se_dpa_at(dpa, dpa->payload_at + (uint64_t)at * SYNCEVENT_REGION_PAGE);
}

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_DPA_H */
