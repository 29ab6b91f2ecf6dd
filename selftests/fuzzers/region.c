// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What a kernel believes of a region that another machine wrote (kmod/geometry.h): of
 * a header that is accepted all parts lie in the memory, in order, and a blob that is
 * accepted names a slot of it. Firmware (syncevent/dpa.h) believes the same.
 *
 * Input: the size of the memory in pages, what to make of the header, the header as it
 * is or XORed with one that is right, and a blob in the same way.
 */
#include "fuzzer.h"

#include <stdbool.h>
#include <string.h>
#include <syncevent/dpa.h>

#include "geometry.h"

struct input {
	uint16_t pages;
	uint8_t right;		/* bit 0: patch a right header, 1: a right blob, 2: its checksum */
	uint8_t sides;
	struct syncevent_region_header header;
	struct syncevent_blob blob;
};

static void xor_with(void *to, const void *from, size_t size)
{
	unsigned char *bytes = to;
	const unsigned char *with = from;

	while (size--)
		*bytes++ ^= *with++;
}

static void check_parts(const struct se_geometry *geo, uint64_t size)
{
	uint64_t sides = geo->sides, slots = geo->slots, stride = 1ULL << geo->slot_shift;

	CHECK(geo->size <= size);
	CHECK(sides >= 2 && sides <= SYNCEVENT_SIDES_MAX && slots >= sides * sides);
	CHECK(geo->side >= sizeof(struct syncevent_region_header));
	CHECK(geo->side + sides * sizeof(struct syncevent_region_side) <= geo->desc);
	CHECK(geo->desc + slots * sizeof(struct syncevent_region_desc) <= geo->ack);
	CHECK(slots * sizeof(struct syncevent_region_ack) <= geo->ack_stride);
	CHECK(geo->ack + sides * geo->ack_stride <= geo->ring);
	CHECK(geo->ring + sides * sides * SYNCEVENT_REGION_PAGE <= geo->slot);
	CHECK(geo->slot % stride == 0);
	CHECK(16 + sides * sizeof(struct syncevent_hint) <= stride);
	CHECK(geo->slot + slots * stride <= geo->payload);
	CHECK(geo->payload + geo->payload_pages * (uint64_t)SYNCEVENT_REGION_PAGE <= size);
}

static void right_header(struct syncevent_region_header *header, const struct se_geometry *geo)
{
	*header = (struct syncevent_region_header){
		.magic = SYNCEVENT_REGION_MAGIC, .version = SYNCEVENT_REGION_VERSION,
		.sides = geo->sides, .size = geo->size, .slots = geo->slots,
		.slot_shift = geo->slot_shift, .side_offset = geo->side,
		.desc_offset = geo->desc, .ack_offset = geo->ack, .ring_offset = geo->ring,
		.slot_offset = geo->slot, .payload_offset = geo->payload,
	};
}

static void check_dpa(struct syncevent_region_header *header, uint64_t size,
		      const struct se_geometry *geo)
{
	struct syncevent_dpa dpa = { .base = header, .len = size, .side = 1 };

	CHECK(!se_dpa_geometry(&dpa) == !!geo);
	CHECK(!geo || (dpa.sides == geo->sides && dpa.slots == geo->slots &&
		       dpa.slot_shift == geo->slot_shift && dpa.pages == geo->payload_pages &&
		       dpa.side_at == geo->side && dpa.desc_at == geo->desc &&
		       dpa.ack_at == geo->ack && dpa.ring_at == geo->ring &&
		       dpa.slot_at == geo->slot && dpa.payload_at == geo->payload));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const __u64 id[2] = { 1, 2 };
	struct se_geometry geo, chosen;
	struct syncevent_region_header header;
	struct syncevent_blob blob;
	struct input in = { 0 };
	uint64_t memory;
	bool made;

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	memory = in.pages * (uint64_t)SYNCEVENT_REGION_PAGE;

	made = se_geometry_choose(&chosen, memory, in.sides, SE_SLOT_SHIFT_MIN);
	if (made)
		check_parts(&chosen, memory);
	header = in.header;
	if (in.right & 1 && made) {
		right_header(&header, &chosen);
		CHECK(se_geometry_read(&geo, &header, memory));
		CHECK(!memcmp(&geo, &chosen, sizeof(geo)));
		xor_with(&header, &in.header, sizeof(header));
	}
	made = se_geometry_read(&geo, &header, memory);
	check_dpa(&header, memory, made ? &geo : NULL);
	if (!made)
		return 0;
	check_parts(&geo, memory);

	blob = in.blob;
	if (in.right & 2) {
		blob = (struct syncevent_blob){
			.magic = SE_BLOB_MAGIC, .version = SE_BLOB_VERSION, .region = { 1, 2 },
		};
		blob.checksum = se_blob_checksum(&blob);
		CHECK(se_blob_valid(&blob, &geo, id));
		xor_with(&blob, &in.blob, sizeof(blob));
	}
	if (in.right & 4)
		blob.checksum = se_blob_checksum(&blob);
	if (se_blob_valid(&blob, &geo, id)) {
		CHECK(blob.slot < geo.slots);
		CHECK(blob.region[0] == 1 && blob.region[1] == 2);
	}
	return 0;
}
