// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_dpa.c - doca_dpa_dev_sync_event.h: what programs of an accelerator do to events, on
 * a region in plain memory as in dpa.c, where this test is the firmware and the machines.
 */
#include "dpa.h"

#include <doca_dpa_dev_sync_event.h>

static struct syncevent_dpa unit;
static unsigned int failures;
static int last_error;
static unsigned int rung;

struct syncevent_dpa *doca_dpa_dev_unit(void)
{
	return &unit;
}

void doca_dpa_dev_failed(doca_dpa_dev_sync_event_t event, int error)
{
	(void)event;
	failures++;
	last_error = error;
}

static void count_ring(void *device, uint32_t doorbell)
{
	(void)device;
	(void)doorbell;
	rung++;
}

FIXTURE(program) {
	doca_dpa_dev_sync_event_t event;
};

FIXTURE_SETUP(program)
{
	make_region();
	format(77);
	come(HOST, 10);
	come(OTHER, 20);
	unit = (struct syncevent_dpa){
		.base = region, .len = SIZE, .side = ME, .seed = 5, .timeout = TIMEOUT,
		.clock = turned_clock, .hz = CLOCK_HZ, .ring = count_ring,
	};
	ASSERT_EQ(0, syncevent_dpa_attach(&unit));
	self->event = make(SLOT, 5);
}

FIXTURE_TEARDOWN(program)
{
}

TEST_F(program, updates)
{
	uint64_t value = 0;

	doca_dpa_dev_sync_event_get(self->event, &value);
	ASSERT_EQ(5, value);
	doca_dpa_dev_sync_event_update_set(self->event, UINT64_MAX);
	ASSERT_EQ(UINT64_MAX, LOAD(cell(SLOT)->value));
	ASSERT_EQ(0, rung);
	/* A machine sleeps on it. */
	STORE(cell(SLOT)->hint[HOST].wake_above, 1);
	STORE(ring(ME, HOST)->request, ring(ME, HOST)->tail);
	doca_dpa_dev_sync_event_update_add(self->event, 3);
	ASSERT_EQ(2, LOAD(cell(SLOT)->value));
	ASSERT_EQ(1, rung);
	ASSERT_EQ(0, failures);
}

static int wait_fn(void *event)
{
	doca_dpa_dev_sync_event_wait_gt(*(doca_dpa_dev_sync_event_t *)event, 0x700, 0xff00);
	return 0;
}

TEST_F(program, wait)
{
	struct se_thread t = { 0 };

	ASSERT_EQ(0, se_start(&t, wait_fn, &self->event));
	/* Masked, and greater: none of these. */
	STORE(cell(SLOT)->value, 0xf00ff);
	ASSERT_TRUE(se_until(LOAD(looked) > 100));
	STORE(cell(SLOT)->value, 0x7ff);
	STORE(looked, 0);
	ASSERT_TRUE(se_until(LOAD(looked) > 100));
	ASSERT_FALSE(se_is_done(&t));
	STORE(cell(SLOT)->value, 0x800);
	ASSERT_EQ(0, se_join(&t));
	ASSERT_EQ(0, failures);
}

/* An event that has ended, and what is none: they are told of, and nothing hangs. */
TEST_F(program, failures)
{
	uint64_t value = 1;

	doca_dpa_dev_sync_event_get(0, &value);
	ASSERT_EQ(1, failures);
	ASSERT_EQ(-SYNCEVENT_DPA_EINVAL, last_error);
	ASSERT_EQ(1, value);
	end(SLOT);
	doca_dpa_dev_sync_event_get(self->event, &value);
	doca_dpa_dev_sync_event_update_set(self->event, 9);
	doca_dpa_dev_sync_event_update_add(self->event, 9);
	doca_dpa_dev_sync_event_wait_gt(self->event, 9, SE_ALL);
	ASSERT_EQ(5, failures);
	ASSERT_EQ(-SYNCEVENT_DPA_EIDRM, last_error);
	ASSERT_EQ(1, value);
	ASSERT_EQ(5, LOAD(cell(SLOT)->value));
}

TEST_HARNESS_MAIN
