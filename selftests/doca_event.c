// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_event.c - doca_sync_event.h but for its tasks: each function succeeds with its
 * effect seen, and fails in each way that docs/porting-from-doca.md lists.
 */
#include "doca.h"

#include <syncevent.h>

FIXTURE(event) {
	struct doca_dev *dev;
	struct doca_dev *host;
	struct doca_sync_event *event;
};

FIXTURE_SETUP(event)
{
	self->dev = open_dev(DPU);
	self->host = open_dev(HOST);
	ASSERT_NE(NULL, self->dev);
	ASSERT_NE(NULL, self->host);
	self->event = make_event(self->dev);
	ASSERT_NE(NULL, self->event);
}

FIXTURE_TEARDOWN(event)
{
	if (self->event)
		ENDS(doca_sync_event_destroy(self->event));
	ENDS(doca_dev_close(self->host));
	ENDS(doca_dev_close(self->dev));
}

/* Pointers to what cannot be had here: the functions must not look behind them. */
static char nothing;
#define SOME_GPU	((struct doca_gpu *)(void *)&nothing)
#define SOME_NET	((struct doca_sync_event_remote_net *)(void *)&nothing)

/* ---- life ------------------------------------------------------------------------- */

TEST(create_and_destroy)
{
	struct doca_sync_event *event = NULL;

	FAILS(INVALID_VALUE, doca_sync_event_create(NULL));
	OK(doca_sync_event_create(&event));
	ASSERT_NE(NULL, event);
	OK(doca_sync_event_destroy(event));
	FAILS(INVALID_VALUE, doca_sync_event_destroy(NULL));
}

TEST_F(event, start_and_stop)
{
	uint64_t value;

	FAILS(INVALID_VALUE, doca_sync_event_start(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_stop(NULL));
	FAILS(BAD_STATE, doca_sync_event_stop(self->event));
	FAILS(BAD_STATE, doca_sync_event_get(self->event, &value));
	OK(doca_sync_event_start(self->event));
	FAILS(BAD_STATE, doca_sync_event_start(self->event));
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(0, value);
	OK(doca_sync_event_update_set(self->event, 7));
	OK(doca_sync_event_stop(self->event));
	FAILS(BAD_STATE, doca_sync_event_stop(self->event));
	FAILS(BAD_STATE, doca_sync_event_get(self->event, &value));
	/* The counter is as it was. */
	OK(doca_sync_event_start(self->event));
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(7, value);
	/* Behaviour 11: destroyed while it is started, by the teardown. */
}

TEST_F(event, start_without_a_location)
{
	struct doca_sync_event *event;

	OK(doca_sync_event_create(&event));
	FAILS(BAD_CONFIG, doca_sync_event_start(event));
	OK(doca_sync_event_add_publisher_location_cpu(event, self->dev));
	FAILS(BAD_CONFIG, doca_sync_event_start(event));
	OK(doca_sync_event_add_subscriber_location_remote_pci(event));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_destroy(event));
}

TEST_F(event, modes_exclude_each_other)
{
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	ASSERT_EQ(NULL, doca_sync_event_as_ctx(NULL));
	OK(doca_sync_event_start(self->event));
	ASSERT_EQ(NULL, doca_sync_event_as_ctx(self->event));
	FAILS(NOT_PERMITTED, doca_sync_event_task_get_set_conf(self->event, get_done,
							       get_failed, 1));
	OK(doca_sync_event_stop(self->event));
	ASSERT_EQ(NULL, doca_sync_event_as_ctx(self->event));
	OK(doca_sync_event_destroy(self->event));

	self->event = make_event(self->dev);
	ctx = doca_sync_event_as_ctx(self->event);
	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(ctx, doca_sync_event_as_ctx(self->event));
	FAILS(BAD_STATE, doca_sync_event_start(self->event));
	OK(doca_pe_create(&pe));
	OK(doca_pe_connect_ctx(pe, ctx));
	OK(conf_all(self->event, 1));
	OK(doca_ctx_start(ctx));
	FAILS(BAD_STATE, doca_sync_event_start(self->event));
	FAILS(BAD_STATE, doca_sync_event_stop(self->event));
	FAILS(BAD_STATE, doca_sync_event_update_set(self->event, 1));
	FAILS(BAD_STATE, doca_sync_event_update_add(self->event, 1, NULL));
	FAILS(BAD_STATE, doca_sync_event_wait_gt(self->event, 0, SE_ALL));
	FAILS(BAD_STATE, doca_sync_event_wait_gt_yield(self->event, 0, SE_ALL));
	FAILS(BAD_STATE, doca_sync_event_wait_eq(self->event, 0, SE_ALL));
	FAILS(BAD_STATE, doca_sync_event_wait_eq_yield(self->event, 0, SE_ALL));
	FAILS(BAD_STATE, doca_sync_event_wait_neq(self->event, 0, SE_ALL));
	FAILS(BAD_STATE, doca_sync_event_wait_neq_yield(self->event, 0, SE_ALL));
	OK(doca_sync_event_destroy(self->event));
	self->event = NULL;
	OK(doca_pe_destroy(pe));
}

/* ---- configuration ------------------------------------------------------------------ */

TEST_F(event, locations)
{
	struct doca_sync_event *event;

	FAILS(INVALID_VALUE, doca_sync_event_add_publisher_location_cpu(NULL, self->dev));
	FAILS(INVALID_VALUE, doca_sync_event_add_publisher_location_cpu(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_subscriber_location_cpu(NULL, self->dev));
	FAILS(INVALID_VALUE, doca_sync_event_add_subscriber_location_cpu(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_publisher_location_remote_pci(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_subscriber_location_remote_pci(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_publisher_location_remote_net(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_publisher_location_dpa(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_subscriber_location_dpa(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_publisher_location_gpu(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_add_subscriber_location_gpu(self->event, NULL));

	FAILS(ALREADY_EXIST, doca_sync_event_add_publisher_location_cpu(self->event, self->dev));
	FAILS(ALREADY_EXIST, doca_sync_event_add_publisher_location_remote_pci(self->event));
	FAILS(ALREADY_EXIST, doca_sync_event_add_subscriber_location_cpu(self->event, self->dev));
	FAILS(ALREADY_EXIST, doca_sync_event_add_subscriber_location_remote_pci(self->event));

	FAILS(NOT_SUPPORTED, doca_sync_event_add_publisher_location_gpu(self->event, SOME_GPU));
	FAILS(NOT_SUPPORTED, doca_sync_event_add_subscriber_location_gpu(self->event, SOME_GPU));
	FAILS(NOT_SUPPORTED, doca_sync_event_add_publisher_location_remote_net(self->event));

	OK(doca_sync_event_start(self->event));
	FAILS(BAD_STATE, doca_sync_event_add_publisher_location_cpu(self->event, self->dev));
	FAILS(BAD_STATE, doca_sync_event_add_publisher_location_remote_pci(self->event));
	FAILS(BAD_STATE, doca_sync_event_add_subscriber_location_cpu(self->event, self->dev));
	FAILS(BAD_STATE, doca_sync_event_add_subscriber_location_remote_pci(self->event));

	/* A location of either kind is enough to start, and no location forbids anything. */
	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_remote_pci(event));
	OK(doca_sync_event_add_subscriber_location_cpu(event, self->dev));
	/* A device that a location names is in use. */
	FAILS(IN_USE, doca_dev_close(self->dev));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_update_set(event, 3));
	OK(doca_sync_event_wait_eq(event, 3, SE_ALL));
	OK(doca_sync_event_destroy(event));

	/* None of them names a device: it is on the first one. */
	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_remote_pci(event));
	OK(doca_sync_event_add_subscriber_location_remote_pci(event));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_update_set(event, 4));
	OK(doca_sync_event_wait_eq(event, 4, SE_ALL));
	OK(doca_sync_event_destroy(event));
}

TEST_F(event, set_addr)
{
	static uint64_t counter[2] = { 5 };
	void *readonly = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_sync_event *second = make_event(self->dev);
	const uint8_t *blob;
	uint64_t value;
	size_t size;

	ASSERT_NE(MAP_FAILED, readonly);
	FAILS(INVALID_VALUE, doca_sync_event_set_addr(NULL, counter));
	FAILS(INVALID_VALUE, doca_sync_event_set_addr(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_set_addr(self->event,
						      (void *)((char *)counter + 4)));
	FAILS(NOT_SUPPORTED, doca_sync_event_set_addr(self->event, readonly));
	munmap(readonly, 4096);
	FAILS(NOT_SUPPORTED, doca_sync_event_set_addr(self->event, readonly));
	OK(doca_sync_event_set_addr(self->event, counter));
	OK(doca_sync_event_set_addr(second, counter));
	OK(doca_sync_event_start(self->event));
	OK(doca_sync_event_start(second));
	FAILS(BAD_STATE, doca_sync_event_set_addr(self->event, counter));
	/* What was there, and what anybody does to it. */
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(5, value);
	OK(doca_sync_event_update_add(self->event, 2, &value));
	ASSERT_EQ(5, value);
	ASSERT_EQ(7, counter[0]);
	OK(doca_sync_event_wait_eq(second, 7, SE_ALL));
	__atomic_store_n(&counter[0], 9, __ATOMIC_RELEASE);
	OK(doca_sync_event_wait_gt_yield(second, 8, SE_ALL));
	FAILS(NOT_SUPPORTED, doca_sync_event_export_to_remote_pci(self->event, self->dev, &blob,
								   &size));
	OK(doca_sync_event_destroy(second));
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(9, value);
}

/* ---- capabilities ------------------------------------------------------------------- */

TEST_F(event, capabilities)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(self->dev);

	ASSERT_NE(NULL, info);
	OK(doca_sync_event_cap_is_create_from_export_supported(info));
	OK(doca_sync_event_cap_is_export_to_remote_pci_supported(info));
	OK(doca_sync_event_cap_task_get_is_supported(info));
	OK(doca_sync_event_cap_task_notify_set_is_supported(info));
	OK(doca_sync_event_cap_task_notify_add_is_supported(info));
	OK(doca_sync_event_cap_task_wait_eq_is_supported(info));
	OK(doca_sync_event_cap_task_wait_neq_is_supported(info));
	FAILS(NOT_SUPPORTED, doca_sync_event_cap_is_export_to_dpa_supported(info));
	FAILS(NOT_SUPPORTED, doca_sync_event_cap_is_export_to_gpu_supported(info));
	FAILS(NOT_SUPPORTED, doca_sync_event_cap_is_export_to_remote_net_supported(info));
	FAILS(NOT_SUPPORTED, doca_sync_event_cap_remote_net_is_create_from_export_supported(info));
	FAILS(NOT_SUPPORTED, doca_sync_event_cap_remote_net_is_export_to_dpa_supported(info));
	FAILS(NOT_SUPPORTED, doca_sync_event_cap_remote_net_is_export_to_gpu_supported(info));

	FAILS(INVALID_VALUE, doca_sync_event_cap_is_create_from_export_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_is_export_to_remote_pci_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_task_get_is_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_task_notify_set_is_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_task_notify_add_is_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_task_wait_eq_is_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_task_wait_neq_is_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_is_export_to_dpa_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_is_export_to_gpu_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_is_export_to_remote_net_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_remote_net_is_create_from_export_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_remote_net_is_export_to_dpa_supported(NULL));
	FAILS(INVALID_VALUE, doca_sync_event_cap_remote_net_is_export_to_gpu_supported(NULL));
}

/* ---- the data path -------------------------------------------------------------------- */

TEST_F(event, updates)
{
	uint64_t value;

	OK(doca_sync_event_start(self->event));
	FAILS(INVALID_VALUE, doca_sync_event_get(NULL, &value));
	FAILS(INVALID_VALUE, doca_sync_event_get(self->event, NULL));
	FAILS(INVALID_VALUE, doca_sync_event_update_set(NULL, 1));
	FAILS(INVALID_VALUE, doca_sync_event_update_add(NULL, 1, NULL));

	OK(doca_sync_event_update_set(self->event, UINT64_MAX));
	OK(doca_sync_event_update_add(self->event, 3, &value));
	ASSERT_EQ(UINT64_MAX, value);
	/* Behaviour 13. */
	OK(doca_sync_event_update_add(self->event, 40, NULL));
	OK(doca_sync_event_get(self->event, &value));
	ASSERT_EQ(42, value);
}

static void *add_later(void *event)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		if (doca_sync_event_update_add(event, 1, NULL))
			return NULL;
	return event;
}

/* Behaviour 17: one thread updates while others wait on the same handle. */
TEST_F(event, waits)
{
	static doca_error_t (*const waits[])(struct doca_sync_event *, uint64_t, uint64_t) = {
		doca_sync_event_wait_gt, doca_sync_event_wait_gt_yield,
		doca_sync_event_wait_eq, doca_sync_event_wait_eq_yield,
		doca_sync_event_wait_neq, doca_sync_event_wait_neq_yield,
	};
	pthread_t thread;
	unsigned int i;
	void *done;

	OK(doca_sync_event_start(self->event));
	FAILS(INVALID_VALUE, doca_sync_event_wait_gt(NULL, 0, 0));
	FAILS(INVALID_VALUE, doca_sync_event_wait_gt_yield(NULL, 0, 0));
	FAILS(INVALID_VALUE, doca_sync_event_wait_eq(NULL, 0, 0));
	FAILS(INVALID_VALUE, doca_sync_event_wait_eq_yield(NULL, 0, 0));
	FAILS(INVALID_VALUE, doca_sync_event_wait_neq(NULL, 0, 0));
	FAILS(INVALID_VALUE, doca_sync_event_wait_neq_yield(NULL, 0, 0));

	/* Values for which each holds at once. Behaviour 18: unsigned, all 64 bits. */
	OK(doca_sync_event_update_set(self->event, UINT64_MAX));
	OK(doca_sync_event_wait_gt(self->event, UINT64_MAX - 1, SE_ALL));
	OK(doca_sync_event_wait_gt_yield(self->event, UINT64_MAX - 1, SE_ALL));
	OK(doca_sync_event_wait_eq(self->event, 0xff00, 0xff00));
	OK(doca_sync_event_wait_eq_yield(self->event, UINT64_MAX, SE_ALL));
	OK(doca_sync_event_wait_neq(self->event, 1, 0));
	OK(doca_sync_event_wait_neq_yield(self->event, 0, 1ULL << 63));

	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		/* gt, eq: for 1000; neq: until one bit of it is set. */
		const bool neq = i >= 4;

		OK(doca_sync_event_update_set(self->event, 0));
		ASSERT_EQ(0, pthread_create(&thread, NULL, add_later, self->event));
		OK(waits[i](self->event, neq ? 0 : i < 2 ? 999 : 1000,
			    neq ? 512 : UINT64_MAX));
		pthread_join(thread, &done);
		ASSERT_EQ(self->event, done);
	}
}

/**
 * struct early - a wait whose condition does not hold yet
 * @asked: it is about to wait
 * @updated: the condition is about to hold
 */
struct early {
	doca_error_t (*wait)(struct doca_sync_event *event, uint64_t value, uint64_t mask);
	struct doca_sync_event *event;
	uint64_t value;
	bool asked;
	bool updated;
};

static void *wait_early(void *arg)
{
	struct early *e = arg;

	__atomic_store_n(&e->asked, true, __ATOMIC_SEQ_CST);
	if (e->wait(e->event, e->value, UINT64_MAX))
		return NULL;
	return __atomic_load_n(&e->updated, __ATOMIC_SEQ_CST) ? arg : NULL;
}

/* 5 is neither more than 5, nor 6, nor other than 5. */
TEST_F(event, not_too_early)
{
	struct early early[] = {
		{ .wait = doca_sync_event_wait_gt, .value = 5 },
		{ .wait = doca_sync_event_wait_gt_yield, .value = 5 },
		{ .wait = doca_sync_event_wait_eq, .value = 6 },
		{ .wait = doca_sync_event_wait_eq_yield, .value = 6 },
		{ .wait = doca_sync_event_wait_neq, .value = 5 },
		{ .wait = doca_sync_event_wait_neq_yield, .value = 5 },
	};
	pthread_t thread;
	unsigned int i, n;
	void *done;

	OK(doca_sync_event_start(self->event));
	for (i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		early[i].event = self->event;
		OK(doca_sync_event_update_set(self->event, 5));
		ASSERT_EQ(0, pthread_create(&thread, NULL, wait_early, &early[i]));
		ASSERT_TRUE(se_until(__atomic_load_n(&early[i].asked, __ATOMIC_SEQ_CST)));
		for (n = 0; n < 100; n++)
			sched_yield();
		__atomic_store_n(&early[i].updated, true, __ATOMIC_SEQ_CST);
		OK(doca_sync_event_update_set(self->event, 6));
		pthread_join(thread, &done);
		ASSERT_EQ(&early[i], done) TH_LOG("wait %u", i);
	}
}

/* ---- export and import ------------------------------------------------------------------ */

TEST_F(event, export_and_import)
{
	struct doca_sync_event *other = NULL;
	const uint8_t *blob = NULL, *again;
	uint8_t copy[1024];
	uint64_t value;
	size_t size = 0, i, n;

	FAILS(BAD_STATE, doca_sync_event_export_to_remote_pci(self->event, self->dev, &blob,
							      &size));
	OK(doca_sync_event_start(self->event));
	FAILS(INVALID_VALUE, doca_sync_event_export_to_remote_pci(NULL, self->dev, &blob, &size));
	FAILS(INVALID_VALUE, doca_sync_event_export_to_remote_pci(self->event, NULL, &blob, &size));
	FAILS(INVALID_VALUE, doca_sync_event_export_to_remote_pci(self->event, self->dev, NULL,
								   &size));
	FAILS(INVALID_VALUE, doca_sync_event_export_to_remote_pci(self->event, self->dev, &blob,
								   NULL));
	OK(doca_sync_event_export_to_remote_pci(self->event, self->dev, &blob, &size));
	OK(doca_sync_event_export_to_remote_pci(self->event, self->host, &again, &n));
	ASSERT_EQ(blob, again);
	ASSERT_EQ(size, n);
	/* Behaviour 4: it fits into a message. */
	ASSERT_LT(0, size);
	ASSERT_GE(1024, size);
	memcpy(copy, blob, size);

	FAILS(INVALID_VALUE, doca_sync_event_create_from_export(NULL, copy, size, &other));
	FAILS(INVALID_VALUE, doca_sync_event_create_from_export(self->host, NULL, size, &other));
	FAILS(INVALID_VALUE, doca_sync_event_create_from_export(self->host, copy, size, NULL));
	for (n = 0; n < size; n++)
		FAILS(INVALID_VALUE, doca_sync_event_create_from_export(self->host, copy, n,
									 &other));
	for (i = 0; i < size; i++) {
		copy[i] ^= 1;
		FAILS(INVALID_VALUE, doca_sync_event_create_from_export(self->host, copy, size,
									 &other));
		copy[i] ^= 1;
	}
	ASSERT_EQ(NULL, other);

	OK(doca_sync_event_create_from_export(self->host, copy, size, &other));
	FAILS(BAD_STATE, doca_sync_event_get(other, &value));
	FAILS(NOT_PERMITTED, doca_sync_event_add_publisher_location_cpu(other, self->host));
	FAILS(NOT_PERMITTED, doca_sync_event_add_subscriber_location_cpu(other, self->host));
	FAILS(NOT_PERMITTED, doca_sync_event_add_publisher_location_remote_pci(other));
	FAILS(NOT_PERMITTED, doca_sync_event_add_subscriber_location_remote_pci(other));
	FAILS(NOT_PERMITTED, doca_sync_event_set_addr(other, &value));
	OK(doca_sync_event_start(other));
	FAILS(NOT_PERMITTED, doca_sync_event_export_to_remote_pci(other, self->host, &blob,
								   &size));
	/* Behaviour 10: either side updates, waits and resets. */
	OK(doca_sync_event_update_add(other, 5, &value));
	ASSERT_EQ(0, value);
	OK(doca_sync_event_wait_eq(self->event, 5, SE_ALL));
	OK(doca_sync_event_update_set(self->event, 0));
	OK(doca_sync_event_wait_neq(other, 5, SE_ALL));

	/* Behaviour 19: the owner ends it. */
	OK(doca_sync_event_destroy(self->event));
	self->event = NULL;
	FAILS(SHUTDOWN, doca_sync_event_get(other, &value));
	FAILS(SHUTDOWN, doca_sync_event_update_set(other, 1));
	FAILS(SHUTDOWN, doca_sync_event_update_add(other, 1, &value));
	FAILS(SHUTDOWN, doca_sync_event_wait_gt(other, 0, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_gt_yield(other, 0, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_eq(other, 0, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_eq_yield(other, 0, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_neq(other, 0, SE_ALL));
	FAILS(SHUTDOWN, doca_sync_event_wait_neq_yield(other, 0, SE_ALL));
	OK(doca_sync_event_stop(other));
	OK(doca_sync_event_destroy(other));
	FAILS(NOT_FOUND, doca_sync_event_create_from_export(self->host, copy, size, &other));
}

/* One byte of the key is wrong, and the checksum is right; docs/abi.md. */
static void forge(uint8_t *blob, size_t size)
{
	uint32_t sum = 0x811c9dc5U;
	size_t i;

	blob[24] ^= 1;
	for (i = 0; i < size - sizeof(sum); i++)
		sum = (sum ^ blob[i]) * 0x01000193U;
	memcpy(blob + i, &sum, sizeof(sum));
}

/* An event of libsyncevent: forged, ended while it is held, and used by both. */
TEST_F(event, of_libsyncevent)
{
	struct syncevent_attr attr = {
		.size = sizeof(attr), .value = 3, .provider = SYNCEVENT_PROVIDER_SHM,
	};
	uint8_t blob[SYNCEVENT_BLOB_MAX];
	struct doca_sync_event *event;
	struct syncevent *ev;
	uint64_t value;
	int size;

	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	size = syncevent_export(ev, 0, blob, sizeof(blob));
	ASSERT_LT(0, size);
	OK(doca_sync_event_create_from_export(self->dev, blob, (size_t)size, &event));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_update_add(event, 1, &value));
	ASSERT_EQ(3, value);
	ASSERT_EQ(0, syncevent_get(ev, &value));
	ASSERT_EQ(4, value);
	OK(doca_sync_event_destroy(event));
	/* An importer's destroy ends nothing. */
	ASSERT_EQ(0, syncevent_get(ev, &value));
	ASSERT_EQ(0, syncevent_revoke(ev));
	FAILS(SHUTDOWN, doca_sync_event_create_from_export(self->dev, blob, (size_t)size, &event));
	syncevent_close(ev);

	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(size, syncevent_export(ev, 0, blob, sizeof(blob)));
	forge(blob, (size_t)size);
	FAILS(NOT_PERMITTED, doca_sync_event_create_from_export(self->dev, (void *)&blob,
								 (size_t)size, &event));
	syncevent_close(ev);
}

/* In another process, which waits as it ends. */
TEST_F(event, another_process)
{
	struct doca_sync_event *other;
	const uint8_t *blob;
	int pipes[2], status;
	uint8_t copy[1024];
	uint64_t value;
	size_t size;
	ssize_t got;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		alarm(SE_HANG_S);
		got = read(pipes[0], copy, sizeof(copy));
		if (got <= 0 || doca_sync_event_create_from_export(self->host, copy, (size_t)got,
								   &other) ||
		    doca_sync_event_start(other) ||
		    doca_sync_event_update_add(other, 1, NULL) ||
		    doca_sync_event_wait_gt(other, 1, SE_ALL) ||
		    doca_sync_event_update_add(other, 1, NULL))
			_exit(1);
		/* The other side ends it: SHUTDOWN, and not for ever. */
		while (!doca_sync_event_get(other, &value))
			sched_yield();
		if (doca_sync_event_stop(other) || doca_sync_event_destroy(other))
			_exit(2);
		_exit(0);
	}
	OK(doca_sync_event_start(self->event));
	OK(doca_sync_event_export_to_remote_pci(self->event, self->dev, &blob, &size));
	ASSERT_EQ(size, write(pipes[1], blob, size));
	OK(doca_sync_event_wait_gt_yield(self->event, 0, SE_ALL));
	OK(doca_sync_event_update_add(self->event, 1, NULL));
	OK(doca_sync_event_wait_gt_yield(self->event, 2, SE_ALL));
	OK(doca_sync_event_destroy(self->event));
	self->event = NULL;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
}

/* ---- what is not there yet --------------------------------------------------------------- */

TEST_F(event, gpu_and_network)
{
	doca_gpu_dev_sync_event_remote_net_t gpu_net;
	doca_dpa_dev_sync_event_remote_net_t dpa_net;
	struct doca_sync_event_remote_net *net;
	doca_gpu_dev_sync_event_t *gpu;
	doca_dpa_dev_sync_event_t dpa;
	struct doca_dpa *some = (void *)&nothing;
	const uint8_t *blob = (const uint8_t *)"";
	size_t size;

	OK(doca_sync_event_start(self->event));
	FAILS(NOT_SUPPORTED, doca_sync_event_export_to_remote_net(self->event, &blob, &size));
	FAILS(INVALID_VALUE, doca_sync_event_export_to_remote_net(NULL, &blob, &size));
	FAILS(NOT_SUPPORTED, doca_sync_event_get_gpu_handle(self->event, SOME_GPU, &gpu));
	FAILS(INVALID_VALUE, doca_sync_event_get_gpu_handle(self->event, NULL, &gpu));
	FAILS(NOT_SUPPORTED, doca_sync_event_remote_net_create_from_export(self->dev, blob, 1,
									    &net));
	FAILS(INVALID_VALUE, doca_sync_event_remote_net_create_from_export(NULL, blob, 1, &net));
	FAILS(NOT_SUPPORTED, doca_sync_event_remote_net_destroy(SOME_NET));
	FAILS(INVALID_VALUE, doca_sync_event_remote_net_destroy(NULL));
	FAILS(NOT_SUPPORTED, doca_sync_event_remote_net_get_dpa_handle(SOME_NET, some, &dpa_net));
	FAILS(INVALID_VALUE, doca_sync_event_remote_net_get_dpa_handle(NULL, some, &dpa_net));
	FAILS(NOT_SUPPORTED, doca_sync_event_remote_net_get_gpu_handle(SOME_NET, SOME_GPU,
									&gpu_net));
	FAILS(INVALID_VALUE, doca_sync_event_remote_net_get_gpu_handle(NULL, SOME_GPU, &gpu_net));
	FAILS(INVALID_VALUE, doca_sync_event_get_dpa_handle(NULL, some, &dpa));
	FAILS(INVALID_VALUE, doca_sync_event_get_dpa_handle(self->event, NULL, &dpa));
	FAILS(INVALID_VALUE, doca_sync_event_get_dpa_handle(self->event, some, NULL));
	/* Neither of its locations is one. */
	FAILS(NOT_SUPPORTED, doca_sync_event_get_dpa_handle(self->event, some, &dpa));
}

TEST_HARNESS_MAIN
