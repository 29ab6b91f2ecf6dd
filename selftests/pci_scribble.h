/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A machine that writes what it likes to the region: all over it, or into one kind
 * of record, rubbish or numbers that look like a machine's.
 */
#ifndef SELFTESTS_PCI_SCRIBBLE_H
#define SELFTESTS_PCI_SCRIBBLE_H

#include "pci.h"

#include "../kmod/geometry.h"

/* xorshift64*: the same everywhere. */
static inline uint64_t scribble_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ULL;
}

static inline uint32_t scribble_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((scribble_next(state) >> 32) % n);
}

enum scribble_area {
	AREA_HEADER, AREA_SIDES, AREA_DESCS, AREA_ACKS, AREA_RINGS, AREA_SLOTS, AREA_ALL, AREAS
};

enum scribble_pattern {
	PATTERN_ZEROS, PATTERN_ONES, PATTERN_RANDOM, PATTERN_FLIPS, PATTERN_PLAUSIBLE, PATTERNS
};

static const char *const scribble_areas[AREAS] = {
	"header", "sides", "descriptors", "acks", "rings", "slots", "everything",
};

static const char *const scribble_patterns[PATTERNS] = {
	"zeros", "ones", "random", "flips", "plausible",
};

/**
 * struct scribble - whoever scribbles
 * @base: the memory
 * @geo: where things are in it
 * @header: as it was formatted
 * @victim: the side that is to suffer
 * @rng: state
 */
struct scribble {
	char *base;
	struct se_geometry geo;
	struct syncevent_region_header header;
	uint32_t victim;
	uint64_t rng;
};

static inline uint32_t below(struct scribble *s, uint32_t n)
{
	return scribble_below(&s->rng, n);
}

/* Nothing, everything, a little more than was there, or anything. */
static inline uint32_t odd32(struct scribble *s, uint32_t was)
{
	switch (below(s, 5)) {
	case 0: return 0;
	case 1: return UINT32_MAX;
	case 2: return was + 1;
	case 3: return below(s, 8);
	default: return (uint32_t)scribble_next(&s->rng);
	}
}

static inline volatile struct syncevent_region_side *side_at(struct scribble *s, uint32_t side)
{
	return (void *)(s->base + s->geo.side + side * sizeof(struct syncevent_region_side));
}

static inline volatile struct syncevent_region_desc *desc_at(struct scribble *s, uint32_t slot)
{
	return (void *)(s->base + s->geo.desc + slot * sizeof(struct syncevent_region_desc));
}

static inline volatile struct syncevent_region_ack *ack_at(struct scribble *s, uint32_t side,
							   uint32_t slot)
{
	return (void *)(s->base + s->geo.ack + side * s->geo.ack_stride +
			slot * sizeof(struct syncevent_region_ack));
}

static inline volatile struct syncevent_region_ring *ring_at(struct scribble *s, uint32_t from,
							     uint32_t to)
{
	return (void *)(s->base + s->geo.ring +
			(from * s->geo.sides + to) * SYNCEVENT_REGION_PAGE);
}

static inline uint64_t area_start(const struct scribble *s, enum scribble_area area)
{
	const uint64_t at[] = { 0, s->geo.side, s->geo.desc, s->geo.ack, s->geo.ring,
				s->geo.slot, 0 };

	return at[area];
}

/* The last page is not for scribbling: the machines meet there. */
static inline uint64_t area_end(const struct scribble *s, enum scribble_area area)
{
	const uint64_t at[] = { sizeof(struct syncevent_region_header), s->geo.desc, s->geo.ack,
				s->geo.ring, s->geo.slot, s->geo.payload,
				s->geo.size - SYNCEVENT_REGION_PAGE };

	return at[area];
}

static inline void plausible_header(struct scribble *s)
{
	struct syncevent_region_header h = s->header;

	switch (below(s, 8)) {
	case 0: h.sides = odd32(s, h.sides); break;
	case 1: h.slots = odd32(s, h.slots); break;
	case 2: h.slot_shift = odd32(s, h.slot_shift); break;
	case 3: h.size = scribble_next(&s->rng) >> below(s, 64); break;
	case 4: h.payload_offset += SYNCEVENT_REGION_PAGE; break;
	case 5: h.id[0]++; break;
	case 6:	/* one that could be: fewer slots, in the right places */
		h.slots -= 4 * (1 + below(s, 16));
		{
			struct se_geometry geo;

			if (!se_geometry_make(&geo, h.size, h.sides, h.slots, h.slot_shift))
				return;
			h.ack_offset = geo.ack;
			h.ring_offset = geo.ring;
			h.slot_offset = geo.slot;
			h.payload_offset = geo.payload;
		}
		break;
	default: h.format_epoch++;
	}
	memcpy(s->base, &h, sizeof(h));
}

/* A peer that comes and goes, and that declares the victim dead. */
static inline void plausible_side(struct scribble *s)
{
	volatile struct syncevent_region_side *me = side_at(s, !s->victim);
	volatile struct syncevent_region_side *victim = side_at(s, s->victim);

	switch (below(s, 8)) {
	case 0: me->epoch = scribble_next(&s->rng); break;
	case 1: me->fenced[s->victim] = victim->epoch; break;
	case 2: me->doorbell = below(s, 2) ? victim->doorbell : odd32(s, 0); break;
	case 3: me->address = odd32(s, 0); break;
	case 4:
		if (!below(s, 256))
			victim->epoch = below(s, 2) ? scribble_next(&s->rng) : 0;
		break;
	default:
		me->format_epoch = victim->format_epoch;
		me->heartbeat++;
	}
}

static inline void plausible_desc(struct scribble *s)
{
	uint32_t slot = below(s, s->geo.slots);
	volatile struct syncevent_region_desc *d = desc_at(s, slot);
	uint32_t share = s->geo.payload_pages / s->geo.sides;
	uint32_t i;

	switch (below(s, 8)) {
	case 0: d->state = (d->state & ~SYNCEVENT_STATE_MASK) | below(s, 4); break;
	case 1: d->state = odd32(s, d->state); break;
	case 2: d->payload_first = below(s, 2) ? share * below(s, 3) - 1 + below(s, 3) :
				   odd32(s, d->payload_first); break;
	case 3: d->payload_pages = below(s, 2) ? share - 1 + below(s, 3) :
				   odd32(s, d->payload_pages); break;
	case 4: d->flags = odd32(s, d->flags); d->publishers = odd32(s, 0); break;
	case 5: d->exported = odd32(s, 0); d->name_rights = odd32(s, 0); break;
	case 6:	/* a name without an end, or one that many have */
		for (i = 0; i < sizeof(d->name); i++)
			d->name[i] = 'e';
		if (below(s, 2))
			d->name[1 + below(s, 3)] = 0;
		break;
	default:	/* all of it as it could be, of either creator */
		d->flags = below(s, 4);
		d->publishers = d->subscribers = 1 + below(s, 3);
		d->payload_first = share * (slot / (s->geo.slots / 4) % 2) + below(s, share);
		d->payload_pages = below(s, 3);
		d->exported = 3;
		d->name_rights = 3;
		d->name[0] = 'e';
		d->name[1] = 0;
		d->state = (1 + below(s, 3)) << SYNCEVENT_STATE_GEN_SHIFT | SYNCEVENT_STATE_LIVE;
	}
}

static inline void plausible_ack(struct scribble *s)
{
	uint32_t side = below(s, s->geo.sides), slot = below(s, s->geo.slots);
	volatile struct syncevent_region_ack *ack = ack_at(s, side, slot);
	uint32_t generation = desc_at(s, slot)->state >> SYNCEVENT_STATE_GEN_SHIFT;

	if (below(s, 2))
		ack->gone = below(s, 4) ? generation : odd32(s, ack->gone);
	else
		ack->import = below(s, 4) ? generation << 2 | 3 : odd32(s, ack->import);
}

static inline void plausible_ring(struct scribble *s)
{
	volatile struct syncevent_region_ring *ring = ring_at(s, !s->victim, s->victim);
	uint32_t i, slot;

	switch (below(s, 8)) {
	case 0: ring->overflow += below(s, 2); break;
	case 1: ring->tail = odd32(s, ring->tail); break;
	case 2: ring->head = odd32(s, ring->head); break;
	case 3: ring->request = odd32(s, ring->request); break;
	case 4:
		ring = ring_at(s, s->victim, !s->victim);
		ring->head = below(s, 2) ? ring->tail : odd32(s, ring->head);
		ring->request = ring->tail;
		break;
	default:
		for (i = below(s, 64); i; i--) {
			slot = below(s, 8) ? below(s, s->geo.slots) : odd32(s, s->geo.slots);
			ring->entry[ring->tail % SYNCEVENT_RING_ENTRIES] =
				(slot < s->geo.slots ? (uint64_t)(desc_at(s, slot)->state >>
				 SYNCEVENT_STATE_GEN_SHIFT) << 32 : 0) | slot;
			__atomic_store_n(&ring->tail, ring->tail + 1, __ATOMIC_RELEASE);
		}
	}
}

static inline void plausible_slot(struct scribble *s)
{
	uint32_t slot = below(s, s->geo.slots);
	volatile struct syncevent_cell *cell = (void *)(s->base + s->geo.slot +
						((uint64_t)slot << s->geo.slot_shift));
	volatile struct syncevent_hint *hint = &cell->hint[below(s, 3)];

	switch (below(s, 8)) {
	case 0: cell->sides = 0xffff; break;
	case 1: cell->flags = (uint16_t)odd32(s, 0); break;
	case 2: cell->state = odd32(s, cell->state); break;
	case 3: cell->value = scribble_next(&s->rng) >> below(s, 64); break;
	case 4: hint->flags = odd32(s, 0); break;
	case 5: hint->deaths++; break;
	default: hint->wake_above = below(s, 2) ? 0 : scribble_next(&s->rng);
	}
}

static inline void plausible(struct scribble *s, enum scribble_area area)
{
	static void (*const one[])(struct scribble *s) = {
		plausible_header, plausible_side, plausible_desc, plausible_ack, plausible_ring,
		plausible_slot,
	};

	/* A header that makes no sense ends everything else. */
	one[area == AREA_ALL ? 1 + below(s, AREA_ALL - 1) : area](s);
}

/* Once over it, or into many places of it. */
static inline void scribble(struct scribble *s, enum scribble_area area,
			    enum scribble_pattern pattern)
{
	uint64_t start = area_start(s, area), end = area_end(s, area), at;
	/* Slots are mostly empty. */
	uint64_t n = area < AREA_SLOTS ? SYNCEVENT_REGION_PAGE : 256;
	uint32_t words = (uint32_t)((end - start) / 8), i;

	if (pattern == PATTERN_ZEROS || pattern == PATTERN_ONES) {
		for (at = start; at < end; at += SYNCEVENT_REGION_PAGE)
			memset(s->base + at, pattern == PATTERN_ONES ? 0xff : 0,
			       n < end - at ? n : end - at);
		return;
	}
	for (i = 0; i < 2000 && (pattern == PATTERN_PLAUSIBLE || i < words); i++) {
		volatile uint64_t *word = (volatile uint64_t *)(s->base + start) + below(s, words);

		if (area == AREA_SLOTS)
			word = (volatile uint64_t *)(s->base + start +
				below(s, s->geo.slots) * (1ULL << s->geo.slot_shift)) + below(s, 10);
		if (pattern == PATTERN_PLAUSIBLE)
			plausible(s, area);
		else if (pattern == PATTERN_FLIPS)
			*word ^= 1ULL << below(s, 64);
		else
			*word = scribble_next(&s->rng);
	}
}

#endif /* SELFTESTS_PCI_SCRIBBLE_H */
