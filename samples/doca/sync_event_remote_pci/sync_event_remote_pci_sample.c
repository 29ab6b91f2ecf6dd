// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * sync_event_remote_pci_sample.c - an event of the other side, which is updated here
 *
 * Its blob comes from the other program, sync_event_local_pci, which waits for the update.
 */
#include <inttypes.h>

#include <doca_log.h>

#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT::REMOTE);

static void set_callback(struct doca_sync_event_task_notify_set *task, union doca_data task_data,
			 union doca_data ctx_data)
{
	(void)task_data;
	task_done(doca_sync_event_task_notify_set_as_doca_task(task), ctx_data);
}

static void added_callback(struct doca_sync_event_task_notify_add *task,
			   union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	task_done(doca_sync_event_task_notify_add_as_doca_task(task), ctx_data);
}

static doca_error_t import_event(struct sync_event_objects *objects,
				 const struct sync_event_config *config)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(objects->dev);
	const struct channel *channel = &objects->channel;
	doca_error_t result;

	result = doca_sync_event_cap_is_create_from_export_supported(info);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_create_from_export(objects->dev, channel->message,
						    channel->length, &objects->event);
	if (result != DOCA_SUCCESS)
		return result;
	if (!config->is_async)
		return doca_sync_event_start(objects->event);
	result = sync_event_make_async(objects);
	if (result != DOCA_SUCCESS)
		return result;
	if (config->is_atomic)
		result = doca_sync_event_task_notify_add_set_conf(objects->event, added_callback,
								  added_callback,
								  config->async_num_tasks);
	else
		result = doca_sync_event_task_notify_set_set_conf(objects->event, set_callback,
								  set_callback,
								  config->async_num_tasks);
	return result == DOCA_SUCCESS ? doca_ctx_start(objects->ctx) : result;
}

/* A task that makes the value @number, or one more than it was. */
static doca_error_t make_task(struct sync_event_objects *objects, bool is_atomic, uint64_t number,
			      struct doca_task **task)
{
	const union doca_data data = { .ptr = NULL };
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_notify_set *set;
	doca_error_t result;

	if (is_atomic) {
		result = doca_sync_event_task_notify_add_alloc_init(objects->event, 1, NULL, data,
								    &add);
		if (result == DOCA_SUCCESS)
			*task = doca_sync_event_task_notify_add_as_doca_task(add);
	} else {
		result = doca_sync_event_task_notify_set_alloc_init(objects->event, number, data,
								    &set);
		if (result == DOCA_SUCCESS)
			*task = doca_sync_event_task_notify_set_as_doca_task(set);
	}
	return result;
}

static doca_error_t update_async(struct sync_event_objects *objects,
				 const struct sync_event_config *config)
{
	struct doca_task *task;
	doca_error_t result;
	uint32_t i;

	for (i = 1; i <= config->async_num_tasks; i++) {
		result = make_task(objects, config->is_atomic, i, &task);
		if (result != DOCA_SUCCESS)
			return result;
		result = doca_task_submit(task);
		if (result != DOCA_SUCCESS) {
			doca_task_free(task);
			return result;
		}
	}
	return sync_event_wait_tasks(objects, config->async_num_tasks);
}

static doca_error_t update_sync(struct sync_event_objects *objects, bool is_atomic)
{
	uint64_t fetched;
	doca_error_t result;

	if (!is_atomic)
		return doca_sync_event_update_set(objects->event, 1);
	result = doca_sync_event_update_add(objects->event, 1, &fetched);
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("The event had value %" PRIu64, fetched);
	return result;
}

static doca_error_t run(struct sync_event_objects *objects, const struct sync_event_config *config)
{
	doca_error_t result;

	result = sync_event_connect(objects, config);
	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("Waiting for the other program's event");
	result = channel_receive(&objects->channel);
	if (result != DOCA_SUCCESS)
		return result;
	result = import_event(objects, config);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to import the event: %s", doca_error_get_descr(result));
		return result;
	}
	if (config->is_async)
		result = update_async(objects, config);
	else
		result = update_sync(objects, config->is_atomic);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Failed to update the event: %s", doca_error_get_descr(result));
	else
		DOCA_LOG_INFO("The event was updated");
	return result;
}

doca_error_t sync_event_remote_pci(const struct sync_event_config *config)
{
	struct sync_event_objects objects = { .result = DOCA_SUCCESS };

	return sync_event_tear_down(&objects, run(&objects, config));
}
