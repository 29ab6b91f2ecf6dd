// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_pci.c - libsyncevent-doca between two machines: devices and representors are those
 * of the region, events are used by both, synchronously and by tasks, end for both, and
 * have handles for accelerators. Side 0 makes them, side 1 imports.
 */
#include "doca.h"
#include "pci.h"

#include <syncevent.h>

/**
 * struct note - in the payload of side 0's event: what the machines tell each other
 * @size: of what was exported
 * @blob: that
 * @address: PCI address of the device, here or there
 */
struct note {
	uint64_t size;
	uint8_t blob[256];
	char address[2][16];
};

FIXTURE(pci) {
	struct pci_pair pair;
	struct note *note;
	struct doca_dev *dev;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
};

FIXTURE_SETUP(pci)
{
	struct doca_devinfo **list;
	uint32_t n;
	void *page;

	ASSERT_EQ(0, pci_join(&self->pair, 1));
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		    is_owner() ? self->pair.here : self->pair.there, 4096);
	ASSERT_NE(MAP_FAILED, page);
	self->note = page;
	OK(doca_devinfo_create_list(&list, &n));
	ASSERT_LT(0, n);
	OK(doca_dev_open(list[0], &self->dev));
	OK(doca_devinfo_destroy_list(list));
	OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(self->dev), self->address));
}

FIXTURE_TEARDOWN(pci)
{
	ENDS(doca_dev_close(self->dev));
	munmap(self->note, 4096);
	EXPECT_EQ(0, pci_part(&self->pair));
}

#define MEET()	ASSERT_EQ(0, pci_meet(&self->pair))

/* An event that the other side updates, in whose place it imports it. */
static doca_error_t offer(struct doca_dev *dev, struct doca_sync_event **event)
{
	doca_error_t r = doca_sync_event_create(event);

	DOCA_ERROR_PROPAGATE(r, doca_sync_event_add_publisher_location_remote_pci(*event));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_add_subscriber_location_cpu(*event, dev));
	return r;
}

static doca_error_t publish(struct doca_dev *dev, struct note *note, struct doca_sync_event *event)
{
	const uint8_t *blob;
	size_t size;
	doca_error_t r = doca_sync_event_export_to_remote_pci(event, dev, &blob, &size);

	if (r)
		return r;
	if (size > sizeof(note->blob))
		return DOCA_ERROR_TOO_BIG;
	memcpy(note->blob, blob, size);
	note->size = size;
	return DOCA_SUCCESS;
}

/* ---- devices -------------------------------------------------------------------------- */

TEST_F(pci, devices)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(self->dev);
	struct doca_devinfo_rep **reps;
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	struct doca_dev_rep *rep;
	uint8_t equal = 0;
	uint32_t n, i;

	/* The virtual pair is there where there is no other. */
	OK(doca_devinfo_create_list(&list, &n));
	for (i = 0; i < n; i++) {
		OK(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
		ASSERT_EQ(0, strncmp(name, "syncevent_pci", 13));
	}
	OK(doca_devinfo_destroy_list(list));
	OK(doca_devinfo_is_equal_pci_addr(info, self->address, &equal));
	ASSERT_EQ(1, equal);
	if (!strncmp(self->address, "0000:", 5)) {
		OK(doca_devinfo_is_equal_pci_addr(info, self->address + 5, &equal));
		ASSERT_EQ(1, equal);
	}
	OK(doca_sync_event_cap_is_export_to_dpa_supported(info));
	OK(doca_sync_event_cap_is_create_from_export_supported(info));
	/* The other machine, by the address that it sees. */
	strcpy(self->note->address[my_side()], self->address);
	MEET();
	OK(doca_devinfo_rep_create_list(self->dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &n));
	ASSERT_EQ(1, n);
	OK(doca_devinfo_rep_is_equal_pci_addr(reps[0], self->note->address[!my_side()], &equal));
	ASSERT_EQ(1, equal);
	OK(doca_dev_rep_open(reps[0], &rep));
	OK(doca_devinfo_rep_destroy_list(reps));
	OK(doca_dev_rep_close(rep));
	OK(doca_devinfo_rep_create_list(self->dev, DOCA_DEVINFO_REP_FILTER_EMULATED, &reps, &n));
	ASSERT_EQ(0, n);
	OK(doca_devinfo_rep_destroy_list(reps));
}

/* ---- synchronously ------------------------------------------------------------------------ */

TEST_F(pci, updates_and_waits)
{
	const unsigned int rounds = se_times(200);
	struct doca_sync_event *event;
	uint64_t value, i;

	if (is_owner()) {
		OK(offer(self->dev, &event));
		FAILS(BAD_STATE, publish(self->dev, self->note, event));
		OK(doca_sync_event_start(event));
		OK(publish(self->dev, self->note, event));
		MEET();
	} else {
		MEET();
		OK(doca_sync_event_create_from_export(self->dev, self->note->blob,
						      self->note->size, &event));
		OK(doca_sync_event_start(event));
	}
	/* In turns; behaviour 10: the hint forbids nothing. */
	for (i = 0; i < rounds; i++) {
		if (is_owner()) {
			OK(doca_sync_event_wait_gt_yield(event, 2 * i, SE_ALL));
			OK(doca_sync_event_update_add(event, 1, &value));
			ASSERT_EQ(2 * i + 1, value);
		} else {
			OK(doca_sync_event_update_add(event, 1, &value));
			ASSERT_EQ(2 * i, value);
			OK(doca_sync_event_wait_eq_yield(event, 2 * i + 2, SE_ALL));
		}
	}
	MEET();
	/* Behaviour 18. */
	if (!is_owner()) {
		OK(doca_sync_event_update_set(event, UINT64_MAX));
	} else {
		OK(doca_sync_event_wait_gt_yield(event, UINT64_MAX - 1, SE_ALL));
	}
	MEET();
	/* Behaviour 19: the owner ends it. */
	if (is_owner()) {
		OK(doca_sync_event_destroy(event));
	} else {
		FAILS(SHUTDOWN, doca_sync_event_wait_eq_yield(event, 7, SE_ALL));
		FAILS(SHUTDOWN, doca_sync_event_get(event, &value));
		OK(doca_sync_event_stop(event));
		OK(doca_sync_event_destroy(event));
	}
}

/* ---- by tasks ------------------------------------------------------------------------------ */

static bool sleep_until(struct doca_pe *pe, const unsigned int *count, unsigned int wanted)
{
	doca_notification_handle_t handle;
	struct pollfd pfd = { .events = POLLIN };

	if (doca_pe_get_notification_handle(pe, &handle))
		return false;
	pfd.fd = handle;
	for (;;) {
		while (doca_pe_progress(pe))
			;
		if (*count >= wanted)
			return true;
		if (doca_pe_request_notification(pe) || poll(&pfd, 1, SE_HANG_S * 1000) != 1 ||
		    doca_pe_clear_notification(pe, 0))
			return false;
	}
}

TEST_F(pci, tasks)
{
	const union doca_data data = { .ptr = &(struct seen){ .keep = true } };
	const unsigned int rounds = se_times(100);
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_eq *eq;
	struct seen *seen = data.ptr;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	uint64_t i, old;

	OK(doca_pe_create(&pe));
	if (is_owner()) {
		OK(offer(self->dev, &event));
	} else {
		MEET();
		OK(doca_sync_event_create_from_export(self->dev, self->note->blob,
						      self->note->size, &event));
	}
	ctx = doca_sync_event_as_ctx(event);
	OK(doca_pe_connect_ctx(pe, ctx));
	OK(doca_ctx_set_user_data(ctx, data));
	OK(conf_all(event, 4));
	OK(doca_ctx_start(ctx));
	if (is_owner()) {
		OK(publish(self->dev, self->note, event));
		MEET();
	}
	OK(doca_sync_event_task_notify_add_alloc_init(event, 1, &old, no_data, &add));
	OK(doca_sync_event_task_wait_eq_alloc_init(event, 0, SE_ALL, no_data, &eq));
	/* Side 1 begins; each sleeps in poll(2) until it is its turn. */
	for (i = 0; i < rounds; i++) {
		seen->done = 0;
		if (!is_owner())
			OK(doca_task_submit(AS_TASK(notify_add, add)));
		doca_sync_event_task_wait_eq_set_wait_val(eq, 2 * i + (is_owner() ? 1 : 2));
		OK(doca_task_submit(AS_TASK(wait_eq, eq)));
		ASSERT_TRUE(sleep_until(pe, &seen->done, is_owner() ? 1 : 2));
		if (is_owner())
			OK(doca_task_submit(AS_TASK(notify_add, add)));
		ASSERT_TRUE(sleep_until(pe, &seen->done, 2));
		ASSERT_EQ(0, seen->failed);
	}
	MEET();
	/* The owner ends it; the other one waits. */
	doca_sync_event_task_wait_eq_set_wait_val(eq, 7777);
	OK(doca_task_submit(AS_TASK(wait_eq, eq)));
	MEET();
	if (!is_owner()) {
		ASSERT_TRUE(sleep_until(pe, &seen->failed, 1));
		FAILS(SHUTDOWN, doca_task_get_status(AS_TASK(wait_eq, eq)));
		doca_task_free(AS_TASK(wait_eq, eq));
		doca_task_free(AS_TASK(notify_add, add));
		OK(doca_ctx_stop(ctx));
	}
	OK(doca_sync_event_destroy(event));
	OK(doca_pe_destroy(pe));
}

/* One engine for events of the kernel and in memory of the program. */
TEST_F(pci, events_of_both_kinds)
{
	static uint64_t counter;
	static struct seen seen;
	const union doca_data data = { .ptr = &seen };
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event *events[2];
	struct doca_pe *pe;
	unsigned int i;

	OK(doca_pe_create(&pe));
	for (i = 0; i < 2; i++) {
		struct doca_sync_event_task_notify_set *set;
		struct doca_ctx *ctx;

		events[i] = make_event(self->dev);
		ctx = doca_sync_event_as_ctx(events[i]);
		OK(conf_all(events[i], 2));
		if (i)
			OK(doca_sync_event_set_addr(events[i], &counter));
		OK(doca_ctx_set_user_data(ctx, data));
		OK(doca_pe_connect_ctx(pe, ctx));
		OK(doca_ctx_start(ctx));
		OK(doca_sync_event_task_wait_eq_alloc_init(events[i], 5, SE_ALL, no_data, &eq));
		OK(doca_task_submit(AS_TASK(wait_eq, eq)));
		OK(doca_sync_event_task_wait_eq_alloc_init(events[i], 6, SE_ALL, no_data, &eq));
		OK(doca_task_submit(AS_TASK(wait_eq, eq)));
		OK(doca_sync_event_task_notify_set_alloc_init(events[i], 5, no_data, &set));
		OK(doca_task_submit(AS_TASK(notify_set, set)));
	}
	ASSERT_TRUE(sleep_until(pe, &seen.done, 4));
	OK(doca_sync_event_destroy(events[0]));
	FAILS(IN_PROGRESS, doca_ctx_stop(doca_sync_event_as_ctx(events[1])));
	ASSERT_TRUE(sleep_until(pe, &seen.failed, 1));
	OK(doca_sync_event_destroy(events[1]));
	OK(doca_pe_destroy(pe));
}

/* ---- what does not fit --------------------------------------------------------------------- */

TEST_F(pci, export_of_another_kind)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .provider = SYNCEVENT_PROVIDER_SHM };
	uint8_t blob[SYNCEVENT_BLOB_MAX];
	struct doca_sync_event *event;
	struct syncevent *ev;
	int size;

	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	size = syncevent_export(ev, 0, blob, sizeof(blob));
	ASSERT_LT(0, size);
	FAILS(INVALID_VALUE, doca_sync_event_create_from_export(self->dev, blob, (size_t)size,
								&event));
	syncevent_close(ev);
}

/* ---- accelerators --------------------------------------------------------------------------- */

TEST_F(pci, accelerators)
{
	doca_dpa_dev_sync_event_t handle = 0, again = 1;
	struct doca_sync_event *event, *other;
	struct doca_dpa *dpa;
	const uint8_t *blob;
	size_t size;

	FAILS(INVALID_VALUE, doca_dpa_create(self->dev, NULL));
	OK(doca_dpa_create(self->dev, &dpa));
	FAILS(IN_USE, doca_dev_close(self->dev));
	FAILS(BAD_STATE, doca_dpa_stop(dpa));
	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_dpa(event, dpa));
	FAILS(ALREADY_EXIST, doca_sync_event_add_publisher_location_dpa(event, dpa));
	OK(doca_sync_event_add_subscriber_location_cpu(event, self->dev));
	FAILS(IN_USE, doca_dpa_destroy(dpa));
	FAILS(BAD_STATE, doca_sync_event_get_dpa_handle(event, dpa, &handle));
	OK(doca_sync_event_start(event));
	FAILS(BAD_STATE, doca_sync_event_add_publisher_location_dpa(event, dpa));
	FAILS(BAD_STATE, doca_sync_event_add_subscriber_location_dpa(event, dpa));
	FAILS(BAD_STATE, doca_sync_event_get_dpa_handle(event, dpa, &handle));
	OK(doca_dpa_start(dpa));
	FAILS(BAD_STATE, doca_dpa_start(dpa));
	OK(doca_sync_event_get_dpa_handle(event, dpa, &handle));
	OK(doca_sync_event_get_dpa_handle(event, dpa, &again));
	ASSERT_EQ(handle, again);
	/* Generation and slot. */
	ASSERT_NE(0, handle >> 32);
	/* Not for the other side of PCI. */
	FAILS(INVALID_VALUE, doca_sync_event_export_to_remote_pci(event, self->dev, &blob, &size));

	OK(doca_sync_event_create(&other));
	OK(doca_sync_event_add_publisher_location_cpu(other, self->dev));
	OK(doca_sync_event_add_subscriber_location_dpa(other, dpa));
	FAILS(ALREADY_EXIST, doca_sync_event_add_subscriber_location_dpa(other, dpa));
	OK(doca_sync_event_start(other));
	OK(doca_sync_event_get_dpa_handle(other, dpa, &again));
	ASSERT_NE(handle, again);
	OK(doca_sync_event_destroy(other));
	OK(doca_sync_event_destroy(event));
	OK(doca_dpa_stop(dpa));
	OK(doca_dpa_destroy(dpa));

	/* An imported one. */
	if (is_owner()) {
		event = make_event(self->dev);
		OK(doca_sync_event_start(event));
		OK(publish(self->dev, self->note, event));
		MEET();
	} else {
		MEET();
		OK(doca_sync_event_create_from_export(self->dev, self->note->blob,
						      self->note->size, &event));
		OK(doca_dpa_create(self->dev, &dpa));
		FAILS(NOT_PERMITTED, doca_sync_event_get_dpa_handle(event, dpa, &handle));
		FAILS(NOT_PERMITTED, doca_sync_event_add_publisher_location_dpa(event, dpa));
		FAILS(NOT_PERMITTED, doca_sync_event_add_subscriber_location_dpa(event, dpa));
		OK(doca_dpa_destroy(dpa));
	}
	MEET();
	OK(doca_sync_event_destroy(event));
}

TEST_HARNESS_MAIN
