/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * syncevent: the memory that several machines share.
 *
 * A region is PCIe memory that all of its sides map: a header, a record of each
 * side, descriptors of the slots, acknowledgements, notification rings, the slots
 * with their cells, and payload pages. docs/abi.md has it as a table of registers:
 * who writes what, and when.
 *
 * Little-endian. Every word has one writer, but the value of a cell. Whoever reads
 * one takes it for what another machine says, which may be anything.
 */
#ifndef _LINUX_SYNCEVENT_REGION_H
#define _LINUX_SYNCEVENT_REGION_H

#include <linux/syncevent.h>

#define SYNCEVENT_REGION_MAGIC		0x4e4f494745524553ULL	/* "SEREGION" */
#define SYNCEVENT_REGION_VERSION	1
#define SYNCEVENT_REGION_PAGE		4096U	/* unit of all that follows, not PAGE_SIZE */

/**
 * struct syncevent_region_header - at offset 0, written by side 0 when it formats
 * @magic: SYNCEVENT_REGION_MAGIC, written last
 * @version: SYNCEVENT_REGION_VERSION
 * @sides: of the region, 2 to SYNCEVENT_SIDES_MAX
 * @size: bytes, a multiple of SYNCEVENT_REGION_PAGE
 * @id: random, names the region in blobs
 * @format_epoch: random, another one for each format
 * @slots: a multiple of @sides squared
 * @slot_shift: stride of the slots, a power of two, 12 to 16
 * @side_offset: of the side records, as are those that follow; each is what
 *		 the numbers above make it, in this order, without gaps but to the
 *		 next page
 * @desc_offset: of the descriptors
 * @ack_offset: of the acknowledgements
 * @ring_offset: of the rings
 * @slot_offset: of the slots
 * @payload_offset: of the payload pages, which go on to @size
 */
struct syncevent_region_header {
	__aligned_u64 magic;
	__u32 version;
	__u32 sides;
	__aligned_u64 size;
	__aligned_u64 id[2];
	__aligned_u64 format_epoch;
	__u32 slots;
	__u32 slot_shift;
	__aligned_u64 side_offset;
	__aligned_u64 desc_offset;
	__aligned_u64 ack_offset;
	__aligned_u64 ring_offset;
	__aligned_u64 slot_offset;
	__aligned_u64 payload_offset;
};

/**
 * struct syncevent_region_side - one for each side, written by it alone
 * @epoch: random, another one for each time it attached; 0: not attached
 * @heartbeat: goes up as long as the side lives
 * @format_epoch: of the header that it attached to
 * @doorbell: what the transport calls it
 * @address: its own PCI address, domain << 16 | bus << 8 | device and function
 * @reserved: zero
 * @fenced: the epoch of each other side that this one has declared dead
 */
struct syncevent_region_side {
	__aligned_u64 epoch;
	__aligned_u64 heartbeat;
	__aligned_u64 format_epoch;
	__u32 doorbell;
	__u32 address;
	__aligned_u64 reserved[4];
	__aligned_u64 fenced[SYNCEVENT_SIDES_MAX];
	__aligned_u64 reserved_end[56];
};

/**
 * struct syncevent_region_desc - one for each slot, written by its creator alone
 * @state: as in the cell: generation and SYNCEVENT_STATE_*, DRAIN among them
 * @flags: SYNCEVENT_CELL_*
 * @publishers: SYNCEVENT_LOC_*
 * @subscribers: SYNCEVENT_LOC_*
 * @payload_first: first of its payload pages
 * @payload_pages: number of them
 * @exported: SYNCEVENT_RIGHT_* that blobs may give
 * @name_rights: SYNCEVENT_RIGHT_* that the name gives; 0: it has no name
 * @key: one for each right, compared with that of a blob
 * @reserved: zero
 * @name: of the named export, ends with a zero
 * @reserved_end: zero
 */
struct syncevent_region_desc {
	__u32 state;
	__u32 flags;
	__u32 publishers;
	__u32 subscribers;
	__u32 payload_first;
	__u32 payload_pages;
	__u32 exported;
	__u32 name_rights;
	__u8 key[2][SYNCEVENT_KEY_SIZE];
	char name[SYNCEVENT_PCI_NAME_MAX + 1];
	__aligned_u64 reserved[16];
};

/**
 * struct syncevent_region_ack - one for each side and slot, written by that side
 * @gone: the generation that was revoked, and of which this side keeps nothing; 0: none
 * @import: generation << 2 | rights of what it has imported; 0: nothing
 */
struct syncevent_region_ack {
	__u32 gone;
	__u32 import;
};

#define SYNCEVENT_RING_ENTRIES	256U

/**
 * struct syncevent_region_ring - notifications from one side to another
 * @tail: entries ever written, modulo 2^32; by the producer
 * @overflow: entries that found no room, never cleared: judge everything
 * @head: entries ever taken; by the consumer
 * @request: ring the doorbell when @tail goes beyond this
 * @entry: slot | generation << 32
 */
struct syncevent_region_ring {
	__u32 tail;
	__u32 overflow;
	__u32 reserved_producer[14];
	__u32 head;
	__u32 request;
	__u32 reserved_consumer[14];
	__aligned_u64 entry[SYNCEVENT_RING_ENTRIES];
};

#endif /* _LINUX_SYNCEVENT_REGION_H */
