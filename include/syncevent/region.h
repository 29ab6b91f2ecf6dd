/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syncevent/region.h - the memory that several machines share, for every unit
 *
 * linux/syncevent_region.h, and where there is no Linux what that and linux/syncevent.h
 * have to say of it. docs/abi.md ("The region") tells who writes what, and when.
 */
#ifndef SYNCEVENT_REGION_H
#define SYNCEVENT_REGION_H

#include <stdint.h>
#include <syncevent/cell.h>

#if defined(__linux__)
#include <linux/syncevent_region.h>
#else
/* The same layout as in linux/syncevent_region.h, where there is no Linux. */
struct syncevent_region_header {
	uint64_t magic;
	uint32_t version;
	uint32_t sides;
	uint64_t size;
	uint64_t id[2];
	uint64_t format_epoch;
	uint32_t slots;
	uint32_t slot_shift;
	uint64_t side_offset;
	uint64_t desc_offset;
	uint64_t ack_offset;
	uint64_t ring_offset;
	uint64_t slot_offset;
	uint64_t payload_offset;
};

struct syncevent_region_side {
	uint64_t epoch;
	uint64_t heartbeat;
	uint64_t format_epoch;
	uint32_t doorbell;
	uint32_t address;
	uint64_t reserved[4];
	uint64_t fenced[SYNCEVENT_SIDES_MAX];
	uint64_t reserved_end[56];
};

struct syncevent_region_desc {
	uint32_t state;
	uint32_t flags;
	uint32_t publishers;
	uint32_t subscribers;
	uint32_t payload_first;
	uint32_t payload_pages;
	uint32_t exported;
	uint32_t name_rights;
	uint8_t key[2][16];
	char name[64];
	uint64_t reserved[16];
};

struct syncevent_region_ack {
	uint32_t gone;
	uint32_t import;
};

struct syncevent_region_ring {
	uint32_t tail;
	uint32_t overflow;
	uint32_t reserved_producer[14];
	uint32_t head;
	uint32_t request;
	uint32_t reserved_consumer[14];
	uint64_t entry[256];
};

#define SYNCEVENT_REGION_MAGIC		0x4e4f494745524553ULL
#define SYNCEVENT_REGION_VERSION	1
#define SYNCEVENT_REGION_PAGE		4096U
#define SYNCEVENT_RING_ENTRIES		256U
#define SYNCEVENT_WAKE_NONE		(~0ULL)
#define SYNCEVENT_STATE_FREE		0U
#define SYNCEVENT_STATE_REVOKED		2U
#define SYNCEVENT_STATE_DRAIN		3U
#define SYNCEVENT_STATE_GEN_SHIFT	2
#define SYNCEVENT_CELL_SILENT		0x1U
#define SYNCEVENT_CELL_NO_REMOTE_ADD	0x2U
#define SYNCEVENT_RIGHT_READ		0x1U
#define SYNCEVENT_RIGHT_UPDATE		0x2U
#define SYNCEVENT_COND_EQ		0
#define SYNCEVENT_COND_NEQ		1
#define SYNCEVENT_COND_GT		2
#define SYNCEVENT_COND_GE		3
#define SYNCEVENT_COND_LT		4
#define SYNCEVENT_COND_LE		5
#endif

#endif /* SYNCEVENT_REGION_H */
