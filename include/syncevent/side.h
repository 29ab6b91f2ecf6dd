/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syncevent/side.h - to be a side of a region without being a Linux machine
 *
 * The part of syncevent/dpa.h, which see first, that does not deal with events:
 * attaching, ticks, leaving. It does what kmod/region.c and kmod/drain.c do for a
 * machine, for a side that makes no events and maps nothing.
 */
#ifndef SYNCEVENT_SIDE_H
#define SYNCEVENT_SIDE_H

#include <stddef.h>
#include <stdint.h>
#include <syncevent/region.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a region is little-endian"
#endif
#if defined(__riscv) && __riscv_xlen < 64
#error "words of 64 bits must be read and written whole"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SYNCEVENT_DPA_ENOENT		2
#define SYNCEVENT_DPA_EAGAIN		11
#define SYNCEVENT_DPA_ENODEV		19
#define SYNCEVENT_DPA_EINVAL		22
#define SYNCEVENT_DPA_EPIPE		32
#define SYNCEVENT_DPA_EIDRM		43
#define SYNCEVENT_DPA_EPROTO		71
#define SYNCEVENT_DPA_EOPNOTSUPP	95
#define SYNCEVENT_DPA_EADDRINUSE	98
#define SYNCEVENT_DPA_ETIMEDOUT		110

/** SYNCEVENT_DPA_FOREVER - no deadline */
#define SYNCEVENT_DPA_FOREVER		UINT64_MAX

/* What this unit knows of another side. */
struct se_dpa_peer {
	uint64_t epoch;		/* last seen; 0: not attached */
	uint64_t heartbeat;	/* last seen */
	uint64_t seen;		/* when it was seen to change */
	uint32_t dead;		/* as long as it shows that epoch */
	uint32_t tail;		/* of the ring to it */
	uint32_t overflow;	/* of the ring to it */
	uint32_t head;		/* of the ring from it */
};

/**
 * struct syncevent_dpa - this unit's end of a region
 * @base: the memory. Its accesses must be coherent with those of the other sides, or
 *	  uncached; atomic instructions must be atomic towards them, but for units that
 *	  only set and read
 * @len: bytes of it
 * @side: this unit's number in the region, 0 < @side < sides; of nobody else
 * @address: own PCI address, for people: bus << 8 | device and function; 0: none
 * @seed: a number that is another one each time that the unit starts: a random number,
 *	  a real-time clock
 * @timeout: a side is dead after so long without a heartbeat, in units of @clock: what
 *	     the machines have as peer_timeout_ms
 * @clock: a clock that never goes back; how fast it goes is for the caller to choose
 * @hz: units of @clock in a second
 * @ring: ring the side whose record has this number as its doorbell, or NULL: then
 *	  sleepers of other sides hear of updates in their next tick (90 ms by default).
 *	  The number was written by the other side: it may be any. What was written
 *	  to memory before comes first
 * @device: for the callbacks
 *
 * The caller fills these and leaves the rest 0. They must not change while the side is
 * attached. The rest is private.
 */
struct syncevent_dpa {
	void *base;
	uint64_t len;
	uint32_t side;
	uint32_t address;
	uint64_t seed;
	uint64_t timeout;
	uint64_t (*clock)(void *device);
	uint64_t hz;
	void (*ring)(void *device, uint32_t doorbell);
	void *device;

	/* private: */
	int32_t attached;	/* 1, or why not: a negative error; 0: not yet */
	uint32_t sides;
	uint32_t slots;
	uint32_t slot_shift;
	uint32_t pages;
	uint32_t next;		/* slot to look at */
	uint64_t side_at;	/* offsets of the parts */
	uint64_t desc_at;
	uint64_t ack_at;
	uint64_t ring_at;
	uint64_t slot_at;
	uint64_t payload_at;
	uint64_t format_epoch;
	uint64_t epoch;
	uint64_t heartbeat;
	uint64_t ticked;
	uint64_t period;	/* between two ticks */
	struct se_dpa_peer peer[SYNCEVENT_SIDES_MAX];
};

/* ---- memory ------------------------------------------------------------------------ */

/*
 * One barrier for all: what is before it comes before what is after it, for memory that
 * is I/O to this unit as well, which the compilers' fences leave out: those for RISC-V
 * order memory alone, those for AArch64 what is shared with the other CPUs.
 */
static inline void se_dpa_mb(void)
{
#if defined(__riscv)
	__asm__ __volatile__("fence iorw, iorw" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb sy" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* A word that others write, or read, is read or written once, and whole. */
#define SE_DPA_READ(word)		__atomic_load_n(&(word), __ATOMIC_RELAXED)
#define SE_DPA_WRITE(word, value)	__atomic_store_n(&(word), (value), __ATOMIC_RELAXED)

static inline void *se_dpa_at(const struct syncevent_dpa *dpa, uint64_t offset)
{
	return (char *)dpa->base + offset;
}

static inline struct syncevent_region_side *se_dpa_side(const struct syncevent_dpa *dpa,
							uint32_t side)
{
	return (struct syncevent_region_side *)
		se_dpa_at(dpa, dpa->side_at + side * sizeof(struct syncevent_region_side));
}

static inline struct syncevent_region_desc *se_dpa_desc(const struct syncevent_dpa *dpa,
							uint32_t slot)
{
	return (struct syncevent_region_desc *)
		se_dpa_at(dpa, dpa->desc_at + slot * sizeof(struct syncevent_region_desc));
}

static inline uint64_t se_dpa_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* This side's. */
static inline struct syncevent_region_ack *se_dpa_ack(const struct syncevent_dpa *dpa,
						      uint32_t slot)
{
	uint64_t stride = se_dpa_up(dpa->slots * sizeof(struct syncevent_region_ack),
				    SYNCEVENT_REGION_PAGE);

	return (struct syncevent_region_ack *)
		se_dpa_at(dpa, dpa->ack_at + dpa->side * stride +
			  slot * sizeof(struct syncevent_region_ack));
}

static inline struct syncevent_region_ring *se_dpa_ring(const struct syncevent_dpa *dpa,
							uint32_t from, uint32_t to)
{
	return (struct syncevent_region_ring *)
		se_dpa_at(dpa, dpa->ring_at +
			  (uint64_t)(from * dpa->sides + to) * SYNCEVENT_REGION_PAGE);
}

static inline struct syncevent_cell *se_dpa_cell(const struct syncevent_dpa *dpa, uint32_t slot)
{
	return (struct syncevent_cell *)
		se_dpa_at(dpa, dpa->slot_at + ((uint64_t)slot << dpa->slot_shift));
}

/* Those beyond the third follow the cell. */
static inline struct syncevent_hint *se_dpa_hint(struct syncevent_cell *cell, uint32_t side)
{
	return (struct syncevent_hint *)((char *)cell + offsetof(struct syncevent_cell, hint)) +
	       side;
}

/* Slots are split by home and, within that, by creator. */
static inline uint32_t se_dpa_owner(const struct syncevent_dpa *dpa, uint32_t slot)
{
	return slot / (dpa->slots / (dpa->sides * dpa->sides)) % dpa->sides;
}

static inline uint32_t se_dpa_home(const struct syncevent_dpa *dpa, uint32_t slot)
{
	return slot / (dpa->slots / dpa->sides);
}

static inline uint32_t se_dpa_state(uint32_t generation, uint32_t state)
{
	return generation << SYNCEVENT_STATE_GEN_SHIFT | state;
}

/* ---- attaching --------------------------------------------------------------------- */

/*
 * The geometry, copied once and checked: everything lies where docs/abi.md has it, within
 * the memory. Nothing is taken over before all was checked.
 */
static inline int se_dpa_geometry(struct syncevent_dpa *dpa)
{
	struct syncevent_region_header *shared = (struct syncevent_region_header *)dpa->base;
	const uint64_t page = SYNCEVENT_REGION_PAGE;
	uint32_t sides, slots, shift;
	uint64_t size, side_at, desc_at, ack_at, ring_at, slot_at, payload_at;

	if (dpa->len < page || SE_DPA_READ(shared->magic) != SYNCEVENT_REGION_MAGIC)
		return -SYNCEVENT_DPA_EAGAIN;
	se_dpa_mb();	/* what was formatted comes before the magic */
	sides = SE_DPA_READ(shared->sides);
	slots = SE_DPA_READ(shared->slots);
	shift = SE_DPA_READ(shared->slot_shift);
	size = SE_DPA_READ(shared->size);
	if (SE_DPA_READ(shared->version) != SYNCEVENT_REGION_VERSION || sides < 2 ||
	    sides > SYNCEVENT_SIDES_MAX || dpa->side >= sides || !slots || slots > 65536 ||
	    slots % (sides * sides) || shift < 12 || shift > 16 || size > dpa->len ||
	    size > 1ULL << 40 || size % page)
		return -SYNCEVENT_DPA_EPROTO;
	side_at = page;
	desc_at = side_at + se_dpa_up(sides * sizeof(struct syncevent_region_side), page);
	ack_at = desc_at + se_dpa_up(slots * sizeof(struct syncevent_region_desc), page);
	ring_at = ack_at + sides * se_dpa_up(slots * sizeof(struct syncevent_region_ack), page);
	slot_at = se_dpa_up(ring_at + sides * sides * page, 1ULL << shift);
	payload_at = slot_at + ((uint64_t)slots << shift);
	if (payload_at > size || SE_DPA_READ(shared->side_offset) != side_at ||
	    SE_DPA_READ(shared->desc_offset) != desc_at ||
	    SE_DPA_READ(shared->ack_offset) != ack_at ||
	    SE_DPA_READ(shared->ring_offset) != ring_at ||
	    SE_DPA_READ(shared->slot_offset) != slot_at ||
	    SE_DPA_READ(shared->payload_offset) != payload_at)
		return -SYNCEVENT_DPA_EPROTO;
	dpa->sides = sides;
	dpa->slots = slots;
	dpa->slot_shift = shift;
	dpa->pages = (uint32_t)((size - payload_at) / page);
	dpa->side_at = side_at;
	dpa->desc_at = desc_at;
	dpa->ack_at = ack_at;
	dpa->ring_at = ring_at;
	dpa->slot_at = slot_at;
	dpa->payload_at = payload_at;
	dpa->format_epoch = SE_DPA_READ(shared->format_epoch);
	return 0;
}

/* Before others see a new epoch nothing of before counts: hints, imports, own slots. */
static inline void se_dpa_rest(struct syncevent_dpa *dpa)
{
	uint32_t slot;

	for (slot = 0; slot < dpa->slots; slot++) {
		struct syncevent_cell *cell = se_dpa_cell(dpa, slot);
		struct syncevent_hint *hint = se_dpa_hint(cell, dpa->side);
		struct syncevent_region_desc *desc = se_dpa_desc(dpa, slot);
		struct syncevent_region_ack *ack = se_dpa_ack(dpa, slot);
		uint32_t state = SE_DPA_READ(desc->state);
		uint32_t generation = state >> SYNCEVENT_STATE_GEN_SHIFT;

		SE_DPA_WRITE(hint->wake_above, SYNCEVENT_WAKE_NONE);
		SE_DPA_WRITE(hint->flags, 0U);
		SE_DPA_WRITE(ack->import, 0U);
		state &= SYNCEVENT_STATE_MASK;
		SE_DPA_WRITE(ack->gone, state < SYNCEVENT_STATE_REVOKED ? 0U : generation);
		/* What was made here when another was this side. It is not used again. */
		if (se_dpa_owner(dpa, slot) == dpa->side && state != SYNCEVENT_STATE_FREE) {
			generation = (generation + 1) & (~0U >> SYNCEVENT_STATE_GEN_SHIFT);
			generation += !generation;
			SE_DPA_WRITE(cell->state,
				     se_dpa_state(generation, SYNCEVENT_STATE_REVOKED));
			SE_DPA_WRITE(desc->state,
				     se_dpa_state(generation, SYNCEVENT_STATE_DRAIN));
		}
	}
}

/* A side that is new to this one. Nobody need ring here: this unit looks for itself. */
static inline void se_dpa_take_all(struct syncevent_dpa *dpa, uint32_t side, uint32_t tail)
{
	struct syncevent_region_ring *from = se_dpa_ring(dpa, side, dpa->side);

	dpa->peer[side].head = tail;
	SE_DPA_WRITE(from->head, tail);
	SE_DPA_WRITE(from->request, tail - 1);
}

/*
 * Whether a side left, died, or has not come yet, as the last tick saw it; but what it
 * saw says nothing of one that attached since.
 */
static inline int se_dpa_gone(const struct syncevent_dpa *dpa, uint32_t side)
{
	const struct se_dpa_peer *peer = &dpa->peer[side];

	return side != dpa->side && (peer->dead || !peer->epoch) &&
	       SE_DPA_READ(se_dpa_side(dpa, side)->epoch) == peer->epoch;
}

static inline void se_dpa_peer_look(struct syncevent_dpa *dpa, uint32_t side, uint64_t now)
{
	struct syncevent_region_side *record = se_dpa_side(dpa, side);
	struct se_dpa_peer *peer = &dpa->peer[side];
	uint64_t epoch = SE_DPA_READ(record->epoch), heartbeat;

	se_dpa_mb();	/* what it wrote before its epoch */
	heartbeat = SE_DPA_READ(record->heartbeat);
	if (epoch != peer->epoch) {
		peer->epoch = epoch;
		peer->dead = epoch && SE_DPA_READ(record->format_epoch) != dpa->format_epoch;
		peer->heartbeat = heartbeat;
		peer->seen = now;
		se_dpa_take_all(dpa, side, SE_DPA_READ(se_dpa_ring(dpa, side, dpa->side)->tail));
	} else if (heartbeat != peer->heartbeat) {
		peer->heartbeat = heartbeat;
		peer->seen = now;
	} else if (epoch && !peer->dead && now - peer->seen > dpa->timeout) {
		SE_DPA_WRITE(se_dpa_side(dpa, dpa->side)->fenced[side], epoch);
		peer->dead = 1;
	}
}

/* A slot that its creator ended: between two operations this unit keeps nothing of it. */
static inline void se_dpa_follow(struct syncevent_dpa *dpa, uint32_t slot)
{
	uint32_t state = SE_DPA_READ(se_dpa_desc(dpa, slot)->state);
	uint32_t generation = state >> SYNCEVENT_STATE_GEN_SHIFT;
	struct syncevent_region_ack *ack = se_dpa_ack(dpa, slot);

	if ((state & SYNCEVENT_STATE_MASK) < SYNCEVENT_STATE_REVOKED ||
	    se_dpa_owner(dpa, slot) == dpa->side || SE_DPA_READ(ack->gone) == generation)
		return;
	SE_DPA_WRITE(ack->import, 0U);
	se_dpa_mb();	/* all that was done to the slot comes before */
	SE_DPA_WRITE(ack->gone, generation);
}

/* Slots that another side tells of. Lost ones are found by looking at all in turn. */
static inline void se_dpa_take(struct syncevent_dpa *dpa, uint32_t side)
{
	struct syncevent_region_ring *from = se_dpa_ring(dpa, side, dpa->side);
	uint32_t tail = SE_DPA_READ(from->tail), i;

	if (tail == dpa->peer[side].head)
		return;
	se_dpa_mb();	/* the entries come before the tail */
	if (tail - dpa->peer[side].head <= SYNCEVENT_RING_ENTRIES)
		for (i = dpa->peer[side].head; i != tail; i++) {
			uint32_t slot = (uint32_t)
				SE_DPA_READ(from->entry[i % SYNCEVENT_RING_ENTRIES]);

			if (slot < dpa->slots)
				se_dpa_follow(dpa, slot);
		}
	se_dpa_mb();	/* they were read; then they may be written again */
	se_dpa_take_all(dpa, side, tail);
}

/* Not attached any more, and why: what every function returns from here on. */
static inline int se_dpa_stop(struct syncevent_dpa *dpa, int why)
{
	dpa->attached = why;
	return why;
}

/* A tick, now. */
static inline int se_dpa_look(struct syncevent_dpa *dpa, uint64_t now)
{
	struct syncevent_region_header *header = (struct syncevent_region_header *)dpa->base;
	struct syncevent_region_side *me = se_dpa_side(dpa, dpa->side);
	uint32_t side, n;

	dpa->ticked = now;
	if (SE_DPA_READ(header->magic) != SYNCEVENT_REGION_MAGIC ||
	    SE_DPA_READ(header->format_epoch) != dpa->format_epoch)
		return se_dpa_stop(dpa, -SYNCEVENT_DPA_ENODEV);
	if (SE_DPA_READ(me->epoch) != dpa->epoch)
		return se_dpa_stop(dpa, -SYNCEVENT_DPA_EADDRINUSE);
	SE_DPA_WRITE(me->heartbeat, ++dpa->heartbeat);
	for (side = 0; side < dpa->sides; side++) {
		if (side == dpa->side)
			continue;
		se_dpa_peer_look(dpa, side, now);
		/* It may count as dead here: both were stopped, and both attach anew. */
		if (dpa->peer[side].epoch && now - dpa->peer[side].seen <= dpa->timeout &&
		    SE_DPA_READ(se_dpa_side(dpa, side)->fenced[dpa->side]) == dpa->epoch)
			return se_dpa_stop(dpa, -SYNCEVENT_DPA_ENODEV);
		se_dpa_take(dpa, side);
	}
	for (n = 0; n <= dpa->slots / 16; n++) {
		dpa->next = (dpa->next + 1) % dpa->slots;
		se_dpa_follow(dpa, dpa->next);
	}
	return 0;
}

/**
 * syncevent_dpa_attach() - become a side of the region
 * @dpa: with the caller's fields filled in
 *
 * Also the way back after -ENODEV: this side was too long without a tick, so that
 * others declared it dead, or the region was formatted anew. All that this unit knew of
 * events counts for nothing then.
 *
 * After -EADDRINUSE do not come back by yourself: another unit or machine has the same
 * number and is that side now.
 *
 * It looks at every slot of the region, which may take longer than a tick.
 *
 * Return: 0; -EAGAIN: side 0 has not formatted the memory; -EPROTO: the header makes no
 * sense, or the region is larger than @len or has no such side; -EINVAL: side 0, no
 * clock, no @hz, or a time-out below 16.
 */
static inline int syncevent_dpa_attach(struct syncevent_dpa *dpa)
{
	struct syncevent_region_side *me;
	uint64_t epoch;
	uint32_t side;
	int ret;

	if (!dpa->side || !dpa->clock || !dpa->hz || dpa->timeout < 16)
		return -SYNCEVENT_DPA_EINVAL;
	/*
	 * 90 ms at most, and so the heartbeat with it: a machine whose administrator has
	 * already given it a shorter limit must not take this unit for dead.
	 */
	dpa->period = dpa->timeout / 16;
	if (dpa->period > dpa->hz * 9 / 100)
		dpa->period = dpa->hz * 9 / 100;
	dpa->attached = -SYNCEVENT_DPA_ENODEV;
	ret = se_dpa_geometry(dpa);
	if (ret)
		return ret;
	me = se_dpa_side(dpa, dpa->side);
	se_dpa_rest(dpa);
	for (side = 0; side < dpa->sides; side++) {
		struct se_dpa_peer *peer = &dpa->peer[side];

		SE_DPA_WRITE(me->fenced[side], 0U);
		peer->epoch = 0;
		peer->dead = 0;
		if (side == dpa->side)
			continue;
		peer->tail = SE_DPA_READ(se_dpa_ring(dpa, dpa->side, side)->tail);
		peer->overflow = SE_DPA_READ(se_dpa_ring(dpa, dpa->side, side)->overflow);
		se_dpa_take_all(dpa, side, SE_DPA_READ(se_dpa_ring(dpa, side, dpa->side)->tail));
	}
	dpa->heartbeat = SE_DPA_READ(me->heartbeat) + 1;
	SE_DPA_WRITE(me->heartbeat, dpa->heartbeat);
	SE_DPA_WRITE(me->format_epoch, dpa->format_epoch);
	SE_DPA_WRITE(me->doorbell, ~0U);
	SE_DPA_WRITE(me->address, dpa->address);

	/* Another one than the last, and any that there was. */
	epoch = SE_DPA_READ(me->epoch);
	dpa->epoch = (epoch + dpa->epoch + dpa->seed) * 6364136223846793005ULL +
		     1442695040888963407ULL;
	while (!dpa->epoch || dpa->epoch == UINT64_MAX || dpa->epoch == epoch)
		dpa->epoch++;
	se_dpa_mb();	/* all is at rest before anybody believes that this side is here */
	SE_DPA_WRITE(me->epoch, dpa->epoch);
	se_dpa_mb();	/* who revokes sees the epoch, or its state is seen here */
	dpa->attached = 1;
	return se_dpa_look(dpa, dpa->clock(dpa->device));
}

/**
 * syncevent_dpa_detach() - leave the region in order
 * @dpa: attached or not
 *
 * The others notice in their next tick and need not wait for a time-out.
 */
static inline void syncevent_dpa_detach(struct syncevent_dpa *dpa)
{
	if (dpa->attached != 1)
		return;
	se_dpa_mb();	/* what was done comes before */
	if (SE_DPA_READ(se_dpa_side(dpa, dpa->side)->epoch) == dpa->epoch)
		SE_DPA_WRITE(se_dpa_side(dpa, dpa->side)->epoch, 0U);
	se_dpa_stop(dpa, -SYNCEVENT_DPA_ENODEV);
}

/**
 * syncevent_dpa_tick() - what has to be done now and then
 * @dpa: attached
 *
 * Shows that this unit lives, notices who does not, and lets go of events that ended.
 * To be called at least once in a sixteenth of @timeout, and every 90 ms; returns at once
 * if it is too early for that.
 *
 * Return: 0; -ENODEV, -EADDRINUSE.
 */
static inline int syncevent_dpa_tick(struct syncevent_dpa *dpa)
{
	uint64_t now;

	if (dpa->attached != 1)
		return dpa->attached ? dpa->attached : -SYNCEVENT_DPA_ENODEV;
	now = dpa->clock(dpa->device);
	return now - dpa->ticked < dpa->period ? 0 : se_dpa_look(dpa, now);
}

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_SIDE_H */
