// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The firmware of samples/dpa, as it is, on a board that the test plays: what it does
 * when the machine dies that it works for.
 */
int firmware(void);

#define main firmware
#define dpa firmware_unit
#include "../samples/dpa/main.c"
#undef main
#undef dpa
#undef TIMEOUT

#include "dpa.h"

static unsigned int found;	/* how often it said that it has found events */

void print(const char *text)
{
	if (!strcmp(text, "dpa: events found\n"))
		__atomic_fetch_add(&found, 1, __ATOMIC_SEQ_CST);
}

void print_number(int64_t n)
{
	(void)n;
}

uint32_t board_side(void)
{
	return ME;
}

uint64_t board_seed(void)
{
	return 5;
}

uint64_t board_clock(void *device)
{
	return turned_clock(device);
}

int board_find(struct board_memory *memory)
{
	*memory = (struct board_memory){ .base = region, .len = SIZE };
	return 1;
}

void board_ring(void *device, uint32_t doorbell)
{
	(void)device;
	(void)doorbell;
}

static int firmware_fn(void *arg)
{
	(void)arg;
	return firmware();
}

/* What a machine makes that has work for it. */
static void make_named(uint32_t slot, const char *name)
{
	size_t i;

	make(slot, 0);
	STORE(desc(slot)->payload_first, 0U);
	STORE(desc(slot)->payload_pages, 1U);
	for (i = 0; i <= strlen(name); i++)
		STORE(desc(slot)->name[i], name[i]);
	STORE(desc(slot)->name_rights, SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
}

/* It goes round and round. */
#define GOES_ON()	({							\
	uint64_t before = LOAD(looked);						\
										\
	se_until(LOAD(looked) > before + 1000);					\
})

TEST(its_machine_dies)
{
	const uint32_t request = SLOT, reply = SLOT + 1;
	struct se_thread t;
	struct job *job;

	make_region();
	job = (void *)(region + PAYLOAD_AT);
	format(77);
	come(HOST, 10);
	make_named(request, JOB_REQUEST);
	make_named(reply, JOB_REPLY);
	ASSERT_EQ(0, se_start(&t, firmware_fn, NULL));
	ASSERT_TRUE(se_until(LOAD(found) == 1));

	/* Its descriptors stay as they are: that it finds them is no news. */
	STORE(turned, turned + BOARD_HZ / 10 * 15 + 1);
	ASSERT_TRUE(se_until(!LOAD(ack(ME, reply)->import)));
	ASSERT_TRUE(GOES_ON());
	EXPECT_EQ(1, LOAD(found));
	EXPECT_EQ(0, LOAD(ack(ME, reply)->import));
	EXPECT_EQ(10, LOAD(record(ME)->fenced[HOST]));

	/* It is back, and has a job. */
	end(request);
	end(reply);
	come(HOST, 11);
	*job = (struct job){ .op = 99, .status = 1 };
	make_named(request, JOB_REQUEST);
	make_named(reply, JOB_REPLY);
	ASSERT_TRUE(se_until(LOAD(found) > 1));
	STORE(cell(request)->value, 1);
	ASSERT_TRUE(se_until(LOAD(cell(reply)->value) == 1));
	EXPECT_EQ(-SYNCEVENT_DPA_EINVAL, job->status);

	/* Another unit is this side: it stops. */
	STORE(record(ME)->epoch, 4711);
	STORE(turned, turned + BOARD_HZ);
	EXPECT_EQ(2, se_join(&t));
}

TEST_HARNESS_MAIN
