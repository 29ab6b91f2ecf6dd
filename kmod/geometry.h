/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What another machine wrote, checked: where the parts of a region lie, and what a
 * blob says. No kernel in it, so that the fuzzers build it as well.
 */
#ifndef SYNCEVENT_GEOMETRY_H
#define SYNCEVENT_GEOMETRY_H

#include <linux/syncevent_region.h>

/* Bounds of what a header may say; the sums below stay far from 2^64 by them. */
#define SE_SLOTS_MAX		65536U
#define SE_SLOT_SHIFT_MIN	12U
#define SE_SLOT_SHIFT_MAX	16U
#define SE_REGION_MAX		0x10000000000ULL

/**
 * struct se_geometry - where the parts of a region lie
 * @size: bytes of the region
 * @sides: machines
 * @slots: events of all
 * @slot_shift: stride of the slots
 * @side, @desc, @ack, @ring, @slot, @payload: offsets of the parts
 * @ack_stride: bytes of the acknowledgments of one side
 * @payload_pages: of SYNCEVENT_REGION_PAGE bytes
 */
struct se_geometry {
	__u64 size;
	__u32 sides;
	__u32 slots;
	__u32 slot_shift;
	__u32 payload_pages;
	__u64 ack_stride;
	__u64 side;
	__u64 desc;
	__u64 ack;
	__u64 ring;
	__u64 slot;
	__u64 payload;
};

static inline __u64 se_align_up(__u64 n, __u64 to)
{
	return (n + to - 1) & ~(to - 1);
}

/**
 * se_geometry_make() - lay out a region
 * @geo: gets the offsets
 * @size: of the region, bytes
 * @sides: machines
 * @slots: events
 * @slot_shift: stride of the slots
 *
 * Return: whether that is possible.
 */
static inline int se_geometry_make(struct se_geometry *geo, __u64 size, __u32 sides,
				   __u32 slots, __u32 slot_shift)
{
	const __u64 page = SYNCEVENT_REGION_PAGE;

	if (sides < 2 || sides > SYNCEVENT_SIDES_MAX || !slots || slots > SE_SLOTS_MAX ||
	    slots % (sides * sides) || slot_shift < SE_SLOT_SHIFT_MIN ||
	    slot_shift > SE_SLOT_SHIFT_MAX || size > SE_REGION_MAX || size % page)
		return 0;

	geo->size = size;
	geo->sides = sides;
	geo->slots = slots;
	geo->slot_shift = slot_shift;
	geo->ack_stride = se_align_up((__u64)slots * sizeof(struct syncevent_region_ack), page);
	geo->side = page;
	geo->desc = geo->side + se_align_up((__u64)sides * sizeof(struct syncevent_region_side),
					    page);
	geo->ack = geo->desc + se_align_up((__u64)slots * sizeof(struct syncevent_region_desc),
					   page);
	geo->ring = geo->ack + sides * geo->ack_stride;
	geo->slot = se_align_up(geo->ring + (__u64)sides * sides * page, 1ULL << slot_shift);
	geo->payload = geo->slot + ((__u64)slots << slot_shift);
	if (geo->payload > size)
		return 0;
	geo->payload_pages = (__u32)((size - geo->payload) / page);
	return 1;
}

/**
 * se_geometry_choose() - lay out a region that nobody has formatted
 * @geo: gets the offsets
 * @size: of the memory, bytes
 * @sides: machines
 * @slot_shift: stride of the slots
 *
 * Half of it is for slots. Return: whether there is room for one slot of each kind.
 */
static inline int se_geometry_choose(struct se_geometry *geo, __u64 size, __u32 sides,
				     __u32 slot_shift)
{
	__u64 slots;

	if (sides < 2 || sides > SYNCEVENT_SIDES_MAX || slot_shift > SE_SLOT_SHIFT_MAX)
		return 0;
	size -= size % SYNCEVENT_REGION_PAGE;
	slots = (size / 2) >> slot_shift;
	if (slots > SE_SLOTS_MAX)
		slots = SE_SLOTS_MAX;
	slots -= slots % (sides * sides);
	return se_geometry_make(geo, size, sides, (__u32)slots, slot_shift);
}

/**
 * se_geometry_read() - check a header
 * @geo: gets what it says
 * @header: a private copy
 * @size: of the memory, bytes
 *
 * Return: whether it is one, and everything lies where it has to.
 */
static inline int se_geometry_read(struct se_geometry *geo,
				   const struct syncevent_region_header *header, __u64 size)
{
	return header->magic == SYNCEVENT_REGION_MAGIC &&
	       header->version == SYNCEVENT_REGION_VERSION && header->size <= size &&
	       se_geometry_make(geo, header->size, header->sides, header->slots,
				header->slot_shift) &&
	       header->side_offset == geo->side && header->desc_offset == geo->desc &&
	       header->ack_offset == geo->ack && header->ring_offset == geo->ring &&
	       header->slot_offset == geo->slot && header->payload_offset == geo->payload;
}

/* ---- blobs ------------------------------------------------------------------------- */

#define SE_BLOB_MAGIC		0x50564553U	/* "SEVP" */
#define SE_BLOB_VERSION		1U

/* The state word has the rest. */
#define SE_GENERATION_BITS	(32 - SYNCEVENT_STATE_GEN_SHIFT)

static inline __u32 se_blob_checksum(const struct syncevent_blob *blob)
{
	const __u8 *bytes = (const __u8 *)blob;
	__u32 sum = 0x811c9dc5U;	/* FNV-1a: against accidents. Forgers need the key. */
	unsigned int i;

	for (i = 0; i < __builtin_offsetof(struct syncevent_blob, checksum); i++)
		sum = (sum ^ bytes[i]) * 0x01000193U;
	return sum;
}

/**
 * se_blob_valid() - is it a blob, whole, and of this region?
 * @blob: a private copy
 * @geo: of the region
 * @id: of the region
 */
static inline int se_blob_valid(const struct syncevent_blob *blob,
				const struct se_geometry *geo, const __u64 id[2])
{
	return blob->magic == SE_BLOB_MAGIC && blob->version == SE_BLOB_VERSION &&
	       blob->checksum == se_blob_checksum(blob) && blob->region[0] == id[0] &&
	       blob->region[1] == id[1] && blob->slot < geo->slots &&
	       !(blob->generation >> SE_GENERATION_BITS) && !blob->reserved;
}

#endif /* SYNCEVENT_GEOMETRY_H */
