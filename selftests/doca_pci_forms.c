// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_pci_forms.c - libsyncevent-doca over memory without atomic operations: an event is
 * added to on its own machine, and set on both. Side 0 makes it, side 1 imports.
 */
#include "doca.h"
#include "doca_ends.h"
#include "pci.h"

#include <syncevent.h>

/* In the payload of side 0's event: what it exported. */
struct note {
	size_t size;
	uint8_t blob[SYNCEVENT_BLOB_MAX];
};

FIXTURE(forms) {
	struct pci_pair pair;
	struct note *note;
	struct doca_dev *dev;
	struct doca_sync_event *event;
};

FIXTURE_SETUP(forms)
{
	void *page;

	ASSERT_EQ(0, pci_join(&self->pair, 1));
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		    is_owner() ? self->pair.here : self->pair.there, 4096);
	ASSERT_NE(MAP_FAILED, page);
	self->note = page;
	self->dev = doca_open(NULL);
	ASSERT_TRUE(self->dev);
	/* The device can; it depends on the event. */
	OK(doca_sync_event_cap_task_notify_add_is_supported(doca_dev_as_devinfo(self->dev)));
	if (is_owner()) {
		self->event = make_event(self->dev);
		ASSERT_TRUE(self->event);
	}
}

FIXTURE_TEARDOWN(forms)
{
	if (self->event)
		ENDS(doca_sync_event_destroy(self->event));
	ENDS(doca_dev_close(self->dev));
	munmap(self->note, 4096);
	EXPECT_EQ(0, pci_part(&self->pair));
}

#define MEET()	ASSERT_EQ(0, pci_meet(&self->pair))

static doca_error_t publish(FIXTURE_DATA(forms) *self)
{
	const uint8_t *blob;

	TRY(doca_sync_event_export_to_remote_pci(self->event, self->dev, &blob, &self->note->size));
	memcpy(self->note->blob, blob, self->note->size);
	return DOCA_SUCCESS;
}

static doca_error_t import(FIXTURE_DATA(forms) *self)
{
	return doca_sync_event_create_from_export(self->dev, self->note->blob, self->note->size,
						  &self->event);
}

TEST_F(forms, synchronous_adds)
{
	uint64_t value = 0, old = 77;

	if (is_owner()) {
		OK(doca_sync_event_start(self->event));
		OK(doca_sync_event_update_add(self->event, 3, &old));
		ASSERT_EQ(0, old);
		OK(publish(self));
		MEET();
	} else {
		MEET();
		OK(import(self));
		OK(doca_sync_event_start(self->event));
		FAILS(NOT_SUPPORTED, doca_sync_event_update_add(self->event, 3, &old));
		ASSERT_EQ(77, old);
	}
	MEET();
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(3, value);
	MEET();
	if (!is_owner())
		OK(doca_sync_event_update_set(self->event, 9));
	OK(doca_sync_event_wait_eq_yield(self->event, 9, SE_ALL));
	MEET();
}

TEST_F(forms, adds_of_tasks)
{
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_get *get;
	struct seen seen = { .keep = true };
	uint64_t value = 0, old = 77;
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	if (!is_owner()) {
		MEET();
		OK(import(self));
	}
	OK(doca_pe_create(&pe));
	ctx = doca_sync_event_as_ctx(self->event);
	OK(doca_pe_connect_ctx(pe, ctx));
	OK(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = &seen }));
	OK(conf_all(self->event, 1));
	OK(doca_ctx_start(ctx));
	OK(doca_sync_event_task_notify_add_alloc_init(self->event, 3, &old, no_data, &add));
	OK(doca_sync_event_task_notify_set_alloc_init(self->event, 9, no_data, &set));
	OK(doca_sync_event_task_get_alloc_init(self->event, &value, no_data, &get));
	OK(doca_task_submit(AS_TASK(notify_add, add)));
	ASSERT_TRUE(progress(pe));
	if (is_owner()) {
		OK(doca_task_get_status(AS_TASK(notify_add, add)));
		ASSERT_EQ(0, old);
		OK(publish(self));
		MEET();
	} else {
		FAILS(NOT_SUPPORTED, doca_task_get_status(AS_TASK(notify_add, add)));
		ASSERT_EQ(77, old);
		/* Its context goes on. */
		ASSERT_EQ(DOCA_CTX_STATE_RUNNING, state_of(ctx));
	}
	ASSERT_EQ(!is_owner(), seen.failed);
	MEET();
	OK(doca_task_submit(AS_TASK(get, get)));
	ASSERT_TRUE(progress(pe));
	ASSERT_EQ(3, value);
	MEET();
	if (!is_owner()) {
		OK(doca_task_submit(AS_TASK(notify_set, set)));
		ASSERT_TRUE(progress(pe));
		OK(doca_task_get_status(AS_TASK(notify_set, set)));
	}
	MEET();
	OK(doca_task_submit(AS_TASK(get, get)));
	ASSERT_TRUE(progress(pe));
	ASSERT_EQ(9, value);
	MEET();
	OK(doca_sync_event_destroy(self->event));
	OK(doca_pe_destroy(pe));
	self->event = NULL;
}

TEST_HARNESS_MAIN
