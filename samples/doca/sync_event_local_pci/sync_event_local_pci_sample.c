// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * sync_event_local_pci_sample.c - an event that is here, and is updated by the other side
 *
 * It is made and exported; its blob goes to the other program, sync_event_remote_pci,
 * which updates it; this one waits for that.
 */
#include <inttypes.h>

#include <doca_log.h>

#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT::LOCAL);

static void waited_callback(struct doca_sync_event_task_wait_eq *task, union doca_data task_data,
			    union doca_data ctx_data)
{
	(void)task_data;
	task_done(doca_sync_event_task_wait_eq_as_doca_task(task), ctx_data);
}

/* Published by the other side, waited for here. */
static doca_error_t make_event(struct sync_event_objects *objects,
			       const struct sync_event_config *config)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(objects->dev);
	doca_error_t result;

	result = doca_sync_event_cap_is_export_to_remote_pci_supported(info);
	if (result == DOCA_SUCCESS && config->is_async)
		result = doca_sync_event_cap_task_wait_eq_is_supported(info);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_create(&objects->event);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_add_publisher_location_remote_pci(objects->event);
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_add_subscriber_location_cpu(objects->event, objects->dev);
	if (result != DOCA_SUCCESS)
		return result;
	if (!config->is_async)
		return doca_sync_event_start(objects->event);
	result = sync_event_make_async(objects);
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_task_wait_eq_set_conf(objects->event, waited_callback,
							       waited_callback,
							       config->async_num_tasks);
	return result == DOCA_SUCCESS ? doca_ctx_start(objects->ctx) : result;
}

static doca_error_t send_event(struct sync_event_objects *objects)
{
	const uint8_t *blob;
	size_t size;
	doca_error_t result;

	result = doca_sync_event_export_to_remote_pci(objects->event, objects->dev, &blob, &size);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to export the event: %s", doca_error_get_descr(result));
		return result;
	}
	return channel_send(&objects->channel, blob, size);
}

/* All of them wait for the same value: that of the last update. */
static doca_error_t wait_async(struct sync_event_objects *objects, uint32_t count)
{
	const union doca_data data = { .ptr = NULL };
	struct doca_sync_event_task_wait_eq *task;
	struct doca_task *generic;
	doca_error_t result;
	uint32_t i;

	for (i = 0; i < count; i++) {
		result = doca_sync_event_task_wait_eq_alloc_init(objects->event, count, UINT64_MAX,
								 data, &task);
		if (result != DOCA_SUCCESS)
			return result;
		generic = doca_sync_event_task_wait_eq_as_doca_task(task);
		result = doca_task_submit(generic);
		if (result != DOCA_SUCCESS) {
			doca_task_free(generic);
			return result;
		}
	}
	return sync_event_wait_tasks(objects, count);
}

static doca_error_t run(struct sync_event_objects *objects, const struct sync_event_config *config)
{
	uint64_t value;
	doca_error_t result;

	result = sync_event_connect(objects, config);
	if (result != DOCA_SUCCESS)
		return result;
	result = make_event(objects, config);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to make the event: %s", doca_error_get_descr(result));
		return result;
	}
	result = send_event(objects);
	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("Waiting for the event");
	if (config->is_async) {
		result = wait_async(objects, config->async_num_tasks);
		value = config->async_num_tasks;
	} else {
		result = doca_sync_event_wait_gt_yield(objects->event, 0, UINT64_MAX);
		if (result == DOCA_SUCCESS)
			result = doca_sync_event_get(objects->event, &value);
	}
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Failed to wait for the event: %s", doca_error_get_descr(result));
	else
		DOCA_LOG_INFO("The event has value %" PRIu64, value);
	return result;
}

doca_error_t sync_event_local_pci(const struct sync_event_config *config)
{
	struct sync_event_objects objects = { .result = DOCA_SUCCESS };

	return sync_event_tear_down(&objects, run(&objects, config));
}
