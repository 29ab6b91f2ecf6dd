/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A region in plain memory, and what a machine would do to it, for tests of
 * syncevent/dpa.h: the unit is side 1, the test plays the others.
 */
#ifndef SELFTESTS_DPA_H
#define SELFTESTS_DPA_H

#include "common.h"

#include <syncevent/dpa.h>

#define SIDES		3U
#define SLOTS		36U
#define PAGES		11U		/* of payload: 3 of each side */
#define TIMEOUT		1600U		/* of a clock that the test turns */
#define CLOCK_HZ	2000U		/* of it: 90 ms are 180 */
#define SIDE_AT		4096U
#define DESC_AT		(SIDE_AT + 4096U)
#define ACK_AT		(DESC_AT + 3 * 4096U)
#define RING_AT		(ACK_AT + SIDES * 4096U)
#define SLOT_AT		(RING_AT + SIDES * SIDES * 4096U)
#define PAYLOAD_AT	(SLOT_AT + SLOTS * 4096U)
#define SIZE		(PAYLOAD_AT + PAGES * 4096U)

#define HOST		0U
#define ME		1U
#define OTHER		2U

/* A slot of the HOST as creator, of which it is the home. */
#define SLOT		2U
/* The same creator, but the OTHER is the home. */
#define SLOT_ELSEWHERE	(2 * SLOTS / SIDES + 1)
/* The same home, but the OTHER is the creator. */
#define SLOT_OTHERS	(2 * SLOTS / SIDES / SIDES)
/* Of this unit as creator. */
#define SLOT_MINE	(SLOTS / SIDES / SIDES)

#define LOAD(word)		__atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define STORE(word, value)	__atomic_store_n(&(word), (value), __ATOMIC_SEQ_CST)

static uint64_t turned;		/* the clock */
static uint64_t looked;		/* how often somebody looked at it */
static char *region;		/* what is around it cannot be touched */

static inline uint64_t turned_clock(void *device)
{
	(void)device;
	__atomic_fetch_add(&looked, 1, __ATOMIC_SEQ_CST);
	return LOAD(turned);
}

static inline struct syncevent_region_header *header(void)
{
	return (void *)region;
}

static inline struct syncevent_region_side *record(uint32_t side)
{
	return (void *)(region + SIDE_AT + side * 1024);
}

static inline struct syncevent_region_desc *desc(uint32_t slot)
{
	return (void *)(region + DESC_AT + slot * 256);
}

static inline struct syncevent_region_ack *ack(uint32_t side, uint32_t slot)
{
	return (void *)(region + ACK_AT + side * 4096 + slot * 8);
}

static inline struct syncevent_region_ring *ring(uint32_t from, uint32_t to)
{
	return (void *)(region + RING_AT + (from * SIDES + to) * 4096);
}

static inline struct syncevent_cell *cell(uint32_t slot)
{
	return (void *)(region + SLOT_AT + slot * 4096);
}

static inline void format(uint64_t format_epoch)
{
	uint32_t slot, side;

	memset(region, 0, SIZE);
	for (slot = 0; slot < SLOTS; slot++)
		for (side = 0; side < SIDES; side++)
			cell(slot)->hint[side].wake_above = SYNCEVENT_WAKE_NONE;
	*header() = (struct syncevent_region_header){
		.magic = SYNCEVENT_REGION_MAGIC, .version = 1, .sides = SIDES, .size = SIZE,
		.id = { 1, 2 }, .format_epoch = format_epoch, .slots = SLOTS, .slot_shift = 12,
		.side_offset = SIDE_AT, .desc_offset = DESC_AT, .ack_offset = ACK_AT,
		.ring_offset = RING_AT, .slot_offset = SLOT_AT, .payload_offset = PAYLOAD_AT,
	};
}

/* Another side comes; its heart beats when it is told to. */
static inline void come(uint32_t side, uint64_t epoch)
{
	STORE(record(side)->heartbeat, 1);
	STORE(record(side)->format_epoch, header()->format_epoch);
	STORE(record(side)->doorbell, 100 + side);
	STORE(record(side)->epoch, epoch);
}

static inline void beat(uint32_t side)
{
	STORE(record(side)->heartbeat, record(side)->heartbeat + 1);
}

/* An event, and its handle. */
static inline uint64_t make(uint32_t slot, uint64_t value)
{
	uint32_t generation = (desc(slot)->state >> 2) + 1;

	STORE(cell(slot)->value, value);
	STORE(cell(slot)->sides, SIDES);
	STORE(cell(slot)->flags, 0);
	STORE(cell(slot)->state, generation << 2 | SYNCEVENT_STATE_LIVE);
	memset((char *)desc(slot) + 4, 0, 252);
	STORE(desc(slot)->state, generation << 2 | SYNCEVENT_STATE_LIVE);
	return (uint64_t)generation << 32 | slot;
}

static inline void end(uint32_t slot)
{
	STORE(desc(slot)->state, desc(slot)->state + 1);	/* REVOKED */
	STORE(cell(slot)->state, cell(slot)->state + 1);
	STORE(desc(slot)->state, desc(slot)->state + 1);	/* DRAIN */
}

/* Tell the unit of a slot. */
static inline void tell(uint32_t from, uint32_t slot)
{
	struct syncevent_region_ring *to = ring(from, ME);

	STORE(to->entry[to->tail % 256], (uint64_t)(desc(slot)->state >> 2) << 32 | slot);
	STORE(to->tail, to->tail + 1);
}

/* Time passes, and the others live. */
static inline int later(struct syncevent_dpa *dpa, uint64_t by)
{
	int ret = 0;

	while (by && !ret) {
		uint64_t step = by > TIMEOUT / 16 ? TIMEOUT / 16 : by;

		STORE(turned, turned + step);
		by -= step;
		beat(HOST);
		beat(OTHER);
		ret = syncevent_dpa_tick(dpa);
	}
	return ret;
}

#define TICK(dpa)	later(dpa, TIMEOUT / 16)

static inline void make_region(void)
{
	const size_t around = 64 << 20;
	char *all = mmap(NULL, SIZE + 2 * around, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all + around, SIZE, PROT_READ | PROT_WRITE))
		abort();
	region = all + around;
	turned = 1000000;
}

#endif /* SELFTESTS_DPA_H */
