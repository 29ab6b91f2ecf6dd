// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * syncevent/dpa.h as a side of a region: what it believes of a header, what it leaves
 * in the memory, which handles it takes, when it lets go of a slot, whom it rings, and
 * what ends its waits.
 */
#include "dpa.h"
#include "team.h"

static unsigned int rung;	/* doorbells */
static uint32_t last_rung;

static void count_ring(void *device, uint32_t doorbell)
{
	(void)device;
	rung++;
	last_rung = doorbell;
}

FIXTURE(dpa) {
	struct syncevent_dpa unit;
};

FIXTURE_SETUP(dpa)
{
	make_region();
	format(77);
	come(HOST, 10);
	come(OTHER, 20);
	self->unit = (struct syncevent_dpa){
		.base = region, .len = SIZE, .side = ME, .seed = 5, .timeout = TIMEOUT,
		.address = 0x108, .clock = turned_clock, .hz = CLOCK_HZ, .ring = count_ring,
	};
	ASSERT_EQ(0, syncevent_dpa_attach(&self->unit));
}

FIXTURE_TEARDOWN(dpa)
{
}

/* ---- attaching -------------------------------------------------------------------- */

/* A header is taken as it must be or not at all; then nothing is written. */
TEST_F(dpa, header)
{
	char *before = malloc(SIZE);
	unsigned int bit, word;
	int ret;

	ASSERT_TRUE(before);
	for (bit = 0; bit < 8 * sizeof(struct syncevent_region_header); bit++) {
		word = bit / 64;
		region[bit / 8] ^= (char)(1 << bit % 8);
		memcpy(before, region, SIZE);
		ret = syncevent_dpa_attach(&self->unit);
		region[bit / 8] ^= (char)(1 << bit % 8);
		/* id and format_epoch may be any. */
		if (word >= 3 && word <= 5) {
			ASSERT_EQ(0, ret) TH_LOG("bit %u", bit);
			continue;
		}
		ASSERT_EQ(word ? -SYNCEVENT_DPA_EPROTO : -SYNCEVENT_DPA_EAGAIN, ret) {
			TH_LOG("bit %u", bit);
		}
		ASSERT_EQ(-SYNCEVENT_DPA_ENODEV, syncevent_dpa_tick(&self->unit));
		region[bit / 8] ^= (char)(1 << bit % 8);
		ASSERT_EQ(0, memcmp(before, region, SIZE)) TH_LOG("bit %u", bit);
		region[bit / 8] ^= (char)(1 << bit % 8);
	}
	self->unit.len = SIZE - 1;
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	self->unit.len = 4095;
	EXPECT_EQ(-SYNCEVENT_DPA_EAGAIN, syncevent_dpa_attach(&self->unit));
	self->unit.len = SIZE;
	self->unit.side = SIDES;
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	self->unit.side = 0;
	EXPECT_EQ(-SYNCEVENT_DPA_EINVAL, syncevent_dpa_attach(&self->unit));
	self->unit.side = ME;
	self->unit.hz = 0;
	EXPECT_EQ(-SYNCEVENT_DPA_EINVAL, syncevent_dpa_attach(&self->unit));
	free(before);
}

/* Words that are wrong together: what fits in size, but lies beyond the memory. */
TEST_F(dpa, geometry_beyond_the_memory)
{
	header()->slots = 65529;	/* 9 divides it */
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	header()->slots = 0x80000001U;
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	/* All in its place, but not the same number for each pair of sides. */
	header()->slots = SLOTS - 1;
	header()->payload_offset = PAYLOAD_AT - 4096;
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	header()->payload_offset = PAYLOAD_AT;
	header()->slots = SLOTS;
	header()->size = SIZE - 8;
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	header()->size = SIZE;
	EXPECT_EQ(0, syncevent_dpa_attach(&self->unit));
	header()->slot_shift = 16;
	header()->slot_offset = (RING_AT + 9 * 4096 + 0xffff) & ~0xffffULL;
	header()->payload_offset = header()->slot_offset + ((uint64_t)SLOTS << 16);
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
	header()->size = header()->payload_offset;
	EXPECT_EQ(-SYNCEVENT_DPA_EPROTO, syncevent_dpa_attach(&self->unit));
}

/* Nothing of a former life of this side counts when others see the new epoch. */
TEST_F(dpa, rest)
{
	uint64_t epoch = record(ME)->epoch;
	uint32_t slot;

	EXPECT_NE(0, epoch);
	EXPECT_NE(SE_MAX, epoch);
	EXPECT_EQ(77, record(ME)->format_epoch);
	EXPECT_EQ(UINT32_MAX, record(ME)->doorbell);
	EXPECT_EQ(0x108, record(ME)->address);
	make(SLOT, 5);
	make(SLOT_MINE, 5);
	make(SLOT_MINE + 1, 5);
	desc(SLOT_MINE + 1)->state |= ~3U;	/* the last generation: 1 comes next */
	make(SLOT + 1, 5);
	end(SLOT + 1);
	for (slot = 0; slot < SLOTS; slot++) {
		ack(ME, slot)->gone = 9;
		ack(ME, slot)->import = 6;
		cell(slot)->hint[ME] = (struct syncevent_hint){ .wake_above = 3, .flags = 1 };
	}
	ack(OTHER, SLOT)->import = 6;
	cell(SLOT)->hint[OTHER].wake_above = 4;
	record(ME)->fenced[OTHER] = 20;
	ring(ME, HOST)->tail = 123;
	ring(HOST, ME)->tail = 45;
	ASSERT_EQ(0, syncevent_dpa_attach(&self->unit));
	EXPECT_NE(epoch, record(ME)->epoch);
	for (slot = 0; slot < SLOTS; slot++) {
		EXPECT_EQ(SYNCEVENT_WAKE_NONE, cell(slot)->hint[ME].wake_above);
		EXPECT_EQ(0, cell(slot)->hint[ME].flags);
		EXPECT_EQ(0, ack(ME, slot)->import);
		EXPECT_EQ(slot == SLOT + 1 ? 1 : 0, ack(ME, slot)->gone);
	}
	EXPECT_EQ(1 << 2 | SYNCEVENT_STATE_LIVE, desc(SLOT)->state);
	EXPECT_EQ(2 << 2 | SYNCEVENT_STATE_DRAIN, desc(SLOT_MINE)->state);
	EXPECT_EQ(2 << 2 | SYNCEVENT_STATE_REVOKED, cell(SLOT_MINE)->state);
	EXPECT_EQ(1 << 2 | SYNCEVENT_STATE_DRAIN, desc(SLOT_MINE + 1)->state);
	EXPECT_EQ(6, ack(OTHER, SLOT)->import);
	EXPECT_EQ(4, cell(SLOT)->hint[OTHER].wake_above);
	EXPECT_EQ(0, record(ME)->fenced[OTHER]);
	EXPECT_EQ(123, ring(ME, HOST)->tail);
	EXPECT_EQ(45, ring(HOST, ME)->head);
	EXPECT_NE(45, ring(HOST, ME)->request);
}

TEST_F(dpa, another_epoch_each_time)
{
	uint64_t seen[200];
	unsigned int i, j;

	for (i = 0; i < 200; i++) {
		if (i % 3 == 1)
			syncevent_dpa_detach(&self->unit);
		if (i % 3 == 1)
			EXPECT_EQ(0, record(ME)->epoch);
		/* A unit that starts anew knows nothing, but its seed is another. */
		if (i % 5 == 4) {
			self->unit.epoch = 0;
			self->unit.seed++;
		}
		ASSERT_EQ(0, syncevent_dpa_attach(&self->unit));
		seen[i] = record(ME)->epoch;
		for (j = 0; j < i; j++)
			ASSERT_NE(seen[j], seen[i]);
	}
}

TEST_F(dpa, heartbeat)
{
	uint64_t at = record(ME)->heartbeat;
	unsigned int i;

	for (i = 0; i < 100; i++)
		EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	STORE(turned, turned + TIMEOUT / 16 - 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(at, record(ME)->heartbeat);
	STORE(turned, turned + 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(at + 1, record(ME)->heartbeat);
	/* It goes on where it was, whoever attaches. */
	ASSERT_EQ(0, syncevent_dpa_attach(&self->unit));
	EXPECT_LT(at + 1, record(ME)->heartbeat);
}

/* Machines have got a shorter limit already: its heart beats no more seldom than theirs. */
TEST_F(dpa, has_a_longer_limit)
{
	const uint64_t beat = CLOCK_HZ * 9 / 100;
	uint64_t at;

	self->unit.timeout = 32 * TIMEOUT;
	ASSERT_EQ(0, syncevent_dpa_attach(&self->unit));
	at = record(ME)->heartbeat;
	STORE(turned, turned + beat - 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(at, record(ME)->heartbeat);
	STORE(turned, turned + 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(at + 1, record(ME)->heartbeat);
	/* How long it bears with others is what its limit says, as before. */
	STORE(turned, turned + 32 * TIMEOUT - beat);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(0, record(ME)->fenced[OTHER]);
	STORE(turned, turned + beat);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(20, record(ME)->fenced[OTHER]);
}

/* ---- the end of being attached ---------------------------------------------------- */

static void expect_all(struct __test_metadata *_metadata, struct syncevent_dpa *unit, int ret,
		       uint64_t handle)
{
	uint64_t v;

	EXPECT_EQ(ret, syncevent_dpa_get(unit, handle, &v));
	EXPECT_EQ(ret, syncevent_dpa_set(unit, handle, 99));
	EXPECT_EQ(ret, syncevent_dpa_add(unit, handle, 99, &v));
	EXPECT_EQ(ret, syncevent_dpa_ring(unit, handle, 99));
	EXPECT_EQ(ret, syncevent_dpa_wait(unit, handle, SYNCEVENT_COND_EQ, 5, SE_ALL, 0, &v));
	EXPECT_EQ(ret, syncevent_dpa_import(unit, handle, SYNCEVENT_RIGHT_READ));
	EXPECT_EQ(NULL, syncevent_dpa_payload(unit, handle, &v));
}

TEST_F(dpa, detached)
{
	uint64_t handle = make(SLOT, 5), v;
	static const char * const how[] = {
		"fenced", "fenced by a dead one", "formatted", "no header", "twice",
	};
	unsigned int i;
	int ret;

	for (i = 0; i < 5; i++) {
		ret = i == 4 ? -SYNCEVENT_DPA_EADDRINUSE : -SYNCEVENT_DPA_ENODEV;
		switch (i) {
		case 0:
			STORE(record(OTHER)->fenced[ME], record(ME)->epoch);
			break;
		case 1:
			/* It was dead here, and beats again: both attach anew. */
			STORE(turned, turned + TIMEOUT + 1);
			beat(HOST);
			ASSERT_EQ(0, syncevent_dpa_tick(&self->unit));
			ASSERT_EQ(record(OTHER)->epoch, record(ME)->fenced[OTHER]);
			STORE(record(OTHER)->fenced[ME], record(ME)->epoch);
			break;
		case 2:
			STORE(header()->format_epoch, 78);
			break;
		case 3:
			STORE(header()->magic, SE_MAX);
			break;
		default:
			STORE(record(ME)->epoch, 4711);
		}
		EXPECT_EQ(0, syncevent_dpa_get(&self->unit, handle, &v));
		EXPECT_EQ(ret, TICK(&self->unit)) TH_LOG("%s", how[i]);
		EXPECT_EQ(ret, syncevent_dpa_tick(&self->unit));
		expect_all(_metadata, &self->unit, ret, handle);
		EXPECT_EQ(ret, syncevent_dpa_find(&self->unit, "x", &v));
		EXPECT_EQ(5, cell(SLOT)->value);
		if (i == 4)
			EXPECT_EQ(4711, record(ME)->epoch);
		STORE(header()->magic, SYNCEVENT_REGION_MAGIC);
		ASSERT_EQ(0, syncevent_dpa_attach(&self->unit));
		EXPECT_EQ(0, TICK(&self->unit)) TH_LOG("after %s", how[i]);
	}
	/* A fence of one that is long dead is no news. */
	STORE(turned, turned + TIMEOUT + 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	STORE(record(OTHER)->fenced[ME], record(ME)->epoch);
	STORE(turned, turned + TIMEOUT + 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
}

/* ---- handles ---------------------------------------------------------------------- */

TEST_F(dpa, handles)
{
	uint64_t handle = make(SLOT, 5), old;
	uint32_t state = desc(SLOT)->state;

	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EINVAL, SLOT);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EINVAL, 1ULL << 32 | SLOTS);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EINVAL, 1ULL << 32 | UINT32_MAX);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EINVAL, handle | 1ULL << 62);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EINVAL, SE_MAX);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EIDRM, handle + (1ULL << 32));
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EIDRM, handle + 1);
	for (desc(SLOT)->state = state + 1; desc(SLOT)->state != state; desc(SLOT)->state--)
		expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EIDRM, handle);
	end(SLOT);
	/* Whatever the event's users have written to the cell. */
	cell(SLOT)->state = state;
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EIDRM, handle);
	EXPECT_EQ(5, cell(SLOT)->value);
	EXPECT_EQ(0, ack(ME, SLOT)->import);
	make(SLOT, 6);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EIDRM, handle);
	EXPECT_EQ(6, cell(SLOT)->value);
	handle += 1ULL << 32;
	EXPECT_EQ(0, syncevent_dpa_add(&self->unit, handle, SE_MAX, &old));
	EXPECT_EQ(6, old);
	EXPECT_EQ(0, syncevent_dpa_get(&self->unit, handle, &old));
	EXPECT_EQ(5, old);
	EXPECT_EQ(0, syncevent_dpa_add(&self->unit, handle, 1, NULL));
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 3));
	EXPECT_EQ(3, cell(SLOT)->value);
}

TEST_F(dpa, add_on_the_home_side_alone)
{
	uint64_t here = make(HOST + ME * SLOTS / SIDES, 1), elsewhere = make(SLOT_ELSEWHERE, 1);

	desc((uint32_t)here)->flags = SYNCEVENT_CELL_NO_REMOTE_ADD;
	desc(SLOT_ELSEWHERE)->flags = SYNCEVENT_CELL_NO_REMOTE_ADD;
	EXPECT_EQ(0, syncevent_dpa_add(&self->unit, here, 1, NULL));
	EXPECT_EQ(-SYNCEVENT_DPA_EOPNOTSUPP, syncevent_dpa_add(&self->unit, elsewhere, 1, NULL));
	EXPECT_EQ(1, cell(SLOT_ELSEWHERE)->value);
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, elsewhere, 2));
}

TEST_F(dpa, names)
{
	char longest[64];
	uint64_t handle = 4, made = make(SLOT, 5);

	memset(longest, 'n', 63);
	longest[63] = 0;
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, "", &handle));
	strcpy(desc(SLOT)->name, "job");
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(4, handle);
	desc(SLOT)->name_rights = SYNCEVENT_RIGHT_UPDATE;
	EXPECT_EQ(3, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(made, handle);
	desc(SLOT)->name_rights = SYNCEVENT_RIGHT_READ;
	EXPECT_EQ(1, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, "jo", &handle));
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, "jobs", &handle));
	memcpy(desc(SLOT)->name, longest, 64);
	EXPECT_EQ(1, syncevent_dpa_find(&self->unit, longest, &handle));
	desc(SLOT)->name[63] = 'n';
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, longest, &handle));
	desc(SLOT)->name[63] = 0;
	desc(SLOT)->name_rights = 4;
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, longest, &handle));
	desc(SLOT)->name_rights = 1;
	end(SLOT);
	EXPECT_EQ(-SYNCEVENT_DPA_ENOENT, syncevent_dpa_find(&self->unit, longest, &handle));
}

/* Of those who are dead a name is taken if nobody else has one: they keep theirs. */
TEST_F(dpa, names_of_the_dead)
{
	uint64_t dead = make(SLOT, 5), living = make(SLOT_OTHERS, 5), handle = 4;

	strcpy(desc(SLOT)->name, "job");
	desc(SLOT)->name_rights = 3;
	STORE(turned, turned + TIMEOUT + 1);
	beat(OTHER);
	ASSERT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(3, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(dead, handle);
	strcpy(desc(SLOT_OTHERS)->name, "job");
	desc(SLOT_OTHERS)->name_rights = 1;
	EXPECT_EQ(1, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(living, handle);
	/* Both dead: the first one. */
	STORE(turned, turned + TIMEOUT + 1);
	ASSERT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(3, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(dead, handle);
	/* What it made when it was back, before the next tick. */
	end(SLOT);
	come(HOST, 11);
	living = make(SLOT_ELSEWHERE, 5);
	strcpy(desc(SLOT_ELSEWHERE)->name, "job");
	desc(SLOT_ELSEWHERE)->name_rights = 3;
	EXPECT_EQ(3, syncevent_dpa_find(&self->unit, "job", &handle));
	EXPECT_EQ(living, handle);
}

TEST_F(dpa, payload)
{
	static const uint32_t bad[][2] = {
		{ 0, 0 }, { 0, 4 }, { 1, 3 }, { 2, 2 }, { 3, 1 }, { UINT32_MAX, 2 },
		{ 1, UINT32_MAX }, { UINT32_MAX, UINT32_MAX },
	};
	uint64_t handle = make(SLOT, 5), len = 0;
	unsigned int i;

	desc(SLOT)->payload_first = 1;
	desc(SLOT)->payload_pages = 2;
	EXPECT_EQ(region + PAYLOAD_AT + 4096, syncevent_dpa_payload(&self->unit, handle, &len));
	EXPECT_EQ(2 * 4096, len);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		desc(SLOT)->payload_first = bad[i][0];
		desc(SLOT)->payload_pages = bad[i][1];
		EXPECT_EQ(NULL, syncevent_dpa_payload(&self->unit, handle, &len)) {
			TH_LOG("%u", i);
		}
	}
	/* Those of another creator, who has the pages 6 to 8. */
	handle = make(SLOT_OTHERS, 5);
	desc(SLOT_OTHERS)->payload_pages = 1;
	for (i = 0; i < 12; i++) {
		desc(SLOT_OTHERS)->payload_first = i;
		EXPECT_EQ(i >= 6 && i <= 8 ? region + PAYLOAD_AT + i * 4096 : NULL,
			  syncevent_dpa_payload(&self->unit, handle, &len));
	}
}

/* ---- the end of events ------------------------------------------------------------ */

TEST_F(dpa, import_and_acknowledgement)
{
	uint64_t handle = make(SLOT, 5), other = make(SLOT + 1, 5);
	unsigned int i;

	ack(ME, SLOT)->gone = 9;
	EXPECT_EQ(0, syncevent_dpa_import(&self->unit, handle, SYNCEVENT_RIGHT_READ));
	EXPECT_EQ(0, ack(ME, SLOT)->gone);
	EXPECT_EQ(1 << 2 | 1, ack(ME, SLOT)->import);
	syncevent_dpa_forget(&self->unit, handle + (1ULL << 32));
	syncevent_dpa_forget(&self->unit, 1ULL << 32 | UINT32_MAX);
	EXPECT_EQ(1 << 2 | 1, ack(ME, SLOT)->import);
	syncevent_dpa_forget(&self->unit, handle);
	EXPECT_EQ(0, ack(ME, SLOT)->import);
	EXPECT_EQ(0, syncevent_dpa_import(&self->unit, handle, 3));
	EXPECT_EQ(1 << 2 | 3, ack(ME, SLOT)->import);
	EXPECT_EQ(0, TICK(&self->unit));
	EXPECT_EQ(0, ack(ME, SLOT)->gone);

	/* Told of it, at the next tick and no sooner. */
	end(SLOT);
	tell(HOST, SLOT);
	EXPECT_EQ(-SYNCEVENT_DPA_EIDRM, syncevent_dpa_set(&self->unit, handle, 1));
	EXPECT_EQ(0, ack(ME, SLOT)->gone);
	EXPECT_EQ(0, TICK(&self->unit));
	EXPECT_EQ(1, ack(ME, SLOT)->gone);
	EXPECT_EQ(0, ack(ME, SLOT)->import);
	EXPECT_EQ(ring(HOST, ME)->tail, ring(HOST, ME)->head);

	/* Not told: all are looked at within the time-out, imported or not. */
	end(SLOT + 1);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(0, TICK(&self->unit));
	EXPECT_EQ(1, ack(ME, SLOT + 1)->gone);
	expect_all(_metadata, &self->unit, -SYNCEVENT_DPA_EIDRM, other);

	/* What is said of slots that are not there, or have not ended, or of own ones. */
	make(SLOT, 5);
	make(SLOT_MINE, 5);
	end(SLOT_MINE);
	tell(HOST, SLOT);
	tell(HOST, SLOT_MINE);
	ring(HOST, ME)->entry[ring(HOST, ME)->tail++ % 256] = SE_MAX;
	ring(HOST, ME)->entry[ring(HOST, ME)->tail++ % 256] = SLOTS;
	EXPECT_EQ(0, TICK(&self->unit));
	EXPECT_EQ(1, ack(ME, SLOT)->gone);
	EXPECT_EQ(0, ack(ME, SLOT_MINE)->gone);
	EXPECT_EQ(5, ring(HOST, ME)->head);
	/* Of indices that make no sense none is followed. */
	end(SLOT);
	for (i = 0; i < 257; i++)
		tell(HOST, SLOT);
	self->unit.next = SLOT;
	EXPECT_EQ(0, TICK(&self->unit));
	EXPECT_EQ(ring(HOST, ME)->tail, ring(HOST, ME)->head);
	EXPECT_EQ(1, ack(ME, SLOT)->gone);
}

/* ---- rings ------------------------------------------------------------------------ */

TEST_F(dpa, whom_it_rings)
{
	uint64_t handle = make(SLOT, 0);
	struct syncevent_hint *hint = cell(SLOT)->hint;
	struct syncevent_region_ring *to = ring(ME, HOST);

	rung = 0;
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 5));
	EXPECT_EQ(0, to->tail);
	hint[HOST].wake_above = 7;
	EXPECT_EQ(0, syncevent_dpa_add(&self->unit, handle, 2, NULL));
	EXPECT_EQ(0, to->tail);
	EXPECT_EQ(0, rung);
	EXPECT_EQ(0, syncevent_dpa_add(&self->unit, handle, 1, NULL));
	EXPECT_EQ(1, to->tail);
	EXPECT_EQ(handle, to->entry[0]);
	EXPECT_EQ(1, rung);
	EXPECT_EQ(100 + HOST, last_rung);
	/* It has not taken that yet: no second doorbell. */
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 9));
	EXPECT_EQ(2, to->tail);
	EXPECT_EQ(1, rung);
	to->head = 2;
	to->request = 2;
	EXPECT_EQ(0, syncevent_dpa_ring(&self->unit, handle, 7));
	EXPECT_EQ(2, to->tail);
	EXPECT_EQ(0, syncevent_dpa_ring(&self->unit, handle, 8));
	EXPECT_EQ(3, to->tail);
	EXPECT_EQ(2, rung);
	hint[HOST].wake_above = SYNCEVENT_WAKE_NONE;
	hint[OTHER].flags = SYNCEVENT_HINT_WAKE_ALL;
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 0));
	EXPECT_EQ(3, to->tail);
	EXPECT_EQ(1, ring(ME, OTHER)->tail);
	EXPECT_EQ(100 + OTHER, last_rung);
	/* Its own hint is nothing to it, and of a silent event it tells nobody. */
	hint[ME].flags = SYNCEVENT_HINT_WAKE_ALL;
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 0));
	EXPECT_EQ(2, ring(ME, OTHER)->tail);
	desc(SLOT)->flags = SYNCEVENT_CELL_SILENT;
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 0));
	EXPECT_EQ(2, ring(ME, OTHER)->tail);
	desc(SLOT)->flags = 0;

	/* Without a doorbell the entry is there all the same. */
	self->unit.ring = NULL;
	ring(ME, OTHER)->request = ring(ME, OTHER)->tail;
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 0));
	EXPECT_EQ(3, ring(ME, OTHER)->tail);

	/* Who is dead is not told, but who came back since the last tick is. */
	STORE(turned, turned + TIMEOUT + 1);
	EXPECT_EQ(0, syncevent_dpa_tick(&self->unit));
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 0));
	EXPECT_EQ(3, ring(ME, OTHER)->tail);
	come(OTHER, 21);
	EXPECT_EQ(0, syncevent_dpa_set(&self->unit, handle, 0));
	EXPECT_EQ(4, ring(ME, OTHER)->tail);
}

TEST_F(dpa, ring_overflow)
{
	uint64_t handle = make(SLOT, 0);
	struct syncevent_region_ring *to = ring(ME, HOST);
	unsigned int i;

	cell(SLOT)->hint[HOST].flags = SYNCEVENT_HINT_WAKE_ALL;
	rung = 0;
	for (i = 0; i < 300; i++)
		ASSERT_EQ(0, syncevent_dpa_set(&self->unit, handle, i));
	EXPECT_EQ(256, to->tail);
	EXPECT_EQ(300 - 256, to->overflow);
	EXPECT_EQ(1, rung);
	/* The consumer asked, and the ring has not moved since: the overflow rings. */
	to->request = 256;
	ASSERT_EQ(0, syncevent_dpa_set(&self->unit, handle, i));
	EXPECT_EQ(2, rung);
	to->head = 256;
	ASSERT_EQ(0, syncevent_dpa_set(&self->unit, handle, i));
	EXPECT_EQ(257, to->tail);
	EXPECT_EQ(45, to->overflow);
}

/* ---- rubbish ---------------------------------------------------------------------- */

/* Whatever others write, the unit stays within the memory, and every call returns. */
TEST_F(dpa, rubbish)
{
	static const uint32_t parts[] = { 0, 8, SIDE_AT, DESC_AT, ACK_AT, RING_AT, SLOT_AT };
	unsigned int rounds = se_times(300000), i, attached = 0;
	struct syncevent_dpa *unit = &self->unit;
	uint64_t random = 88172645463325252ULL, handle, len, v;
	uint32_t word, at, slot;
	char *payload;

	for (i = 0; i < rounds; i++) {
		if (i % 100 == 0) {
			format(77);
			for (slot = 0; slot < 8; slot++) {
				make(slot, 5);
				desc(slot)->payload_pages = 1;
				desc(slot)->name_rights = 3;
			}
		}
		/* Often near the beginning of a part, and often a number that is nearly right. */
		at = parts[se_random(&random) % 7] + (uint32_t)(se_random(&random) % 2048 & ~3U);
		word = (uint32_t)se_random(&random);
		word = i % 3 ? word : word % 64;
		STORE(*(uint32_t *)(void *)(region + at), word);
		STORE(turned, turned + se_random(&random) % TIMEOUT);
		if (syncevent_dpa_tick(unit))
			attached += !syncevent_dpa_attach(unit);
		slot = word % 8;
		handle = (uint64_t)desc(slot)->state >> 2 << 32 | slot;
		if (i % 5 == 0)
			handle = se_random(&random);
		syncevent_dpa_set(unit, handle, i);
		syncevent_dpa_add(unit, handle, i, &v);
		syncevent_dpa_ring(unit, handle, SE_MAX);
		syncevent_dpa_import(unit, handle, 3);
		syncevent_dpa_forget(unit, handle);
		syncevent_dpa_wait(unit, handle, i % 6, v, SE_ALL, 0, &v);
		syncevent_dpa_find(unit, i % 2 ? "" : desc(slot)->name, &handle);
		payload = syncevent_dpa_payload(unit, handle, &len);
		if (payload)
			payload[0] = payload[len - 1] = 1;
	}
	EXPECT_LT(rounds / 1000, attached);
}

TEST_HARNESS_MAIN
