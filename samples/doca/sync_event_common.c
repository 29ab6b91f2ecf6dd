// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* sync_event_common.c - devices, the event as a context, the end of all */
#include <time.h>

#include <doca_log.h>

#include "sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT::COMMON);

static doca_error_t open_dev(const char *address, struct doca_dev **dev)
{
	struct doca_devinfo **list;
	uint32_t count, i;
	uint8_t is_equal;
	doca_error_t result;

	result = doca_devinfo_create_list(&list, &count);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to list devices: %s", doca_error_get_descr(result));
		return result;
	}
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
		if (doca_devinfo_is_equal_pci_addr(list[i], address, &is_equal) == DOCA_SUCCESS &&
		    is_equal)
			result = doca_dev_open(list[i], dev);
	}
	doca_devinfo_destroy_list(list);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Failed to open device %s: %s", address, doca_error_get_descr(result));
	return result;
}

#ifdef DOCA_ARCH_DPU
static doca_error_t open_rep(struct doca_dev *dev, const char *address, struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list;
	uint32_t count, i;
	uint8_t is_equal;
	doca_error_t result;

	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to list the other sides: %s", doca_error_get_descr(result));
		return result;
	}
	result = DOCA_ERROR_NOT_FOUND;
	for (i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], address, &is_equal) == DOCA_SUCCESS &&
		    is_equal)
			result = doca_dev_rep_open(list[i], rep);
	}
	doca_devinfo_rep_destroy_list(list);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Failed to open the other side, %s: %s", address,
			     doca_error_get_descr(result));
	return result;
}
#endif

doca_error_t sync_event_connect(struct sync_event_objects *objects,
				const struct sync_event_config *config)
{
	doca_error_t result = open_dev(config->dev_pci_addr, &objects->dev);

#ifdef DOCA_ARCH_DPU
	if (result == DOCA_SUCCESS)
		result = open_rep(objects->dev, config->rep_pci_addr, &objects->rep);
#endif
	if (result == DOCA_SUCCESS)
		result = channel_open(&objects->channel, objects->dev, objects->rep);
	return result;
}

/* ---- the event as a context --------------------------------------------------------------------- */

doca_error_t sync_event_make_async(struct sync_event_objects *objects)
{
	const union doca_data data = { .ptr = objects };
	doca_error_t result;

	objects->ctx = doca_sync_event_as_ctx(objects->event);
	if (!objects->ctx)
		return DOCA_ERROR_UNEXPECTED;
	result = doca_pe_create(&objects->pe);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(objects->pe, objects->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(objects->ctx, data);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Failed to prepare tasks: %s", doca_error_get_descr(result));
	return result;
}

void task_done(struct doca_task *task, union doca_data ctx_user_data)
{
	struct sync_event_objects *objects = ctx_user_data.ptr;
	doca_error_t status = doca_task_get_status(task);

	objects->done++;
	DOCA_ERROR_PROPAGATE(objects->result, status);
	doca_task_free(task);
}

/* No time-out: the other program may take its time. */
doca_error_t sync_event_wait_tasks(struct sync_event_objects *objects, uint32_t count)
{
	const struct timespec ts = { .tv_sec = 0, .tv_nsec = 10000 };

	while (objects->done < count) {
		if (!doca_pe_progress(objects->pe))
			nanosleep(&ts, NULL);
	}
	if (objects->result != DOCA_SUCCESS)
		DOCA_LOG_ERR("A task failed: %s", doca_error_get_descr(objects->result));
	return objects->result;
}

static doca_error_t stop_async(struct sync_event_objects *objects)
{
	enum doca_ctx_states state;
	doca_error_t result;

	result = doca_ctx_get_state(objects->ctx, &state);
	if (result != DOCA_SUCCESS || state == DOCA_CTX_STATE_IDLE)
		return result;
	result = doca_ctx_stop(objects->ctx);
	while (result == DOCA_ERROR_IN_PROGRESS) {
		(void)doca_pe_progress(objects->pe);
		(void)doca_ctx_get_state(objects->ctx, &state);
		if (state == DOCA_CTX_STATE_IDLE)
			result = DOCA_SUCCESS;
	}
	return result;
}

doca_error_t sync_event_tear_down(struct sync_event_objects *objects, doca_error_t result)
{
	doca_error_t next;

	next = channel_close(&objects->channel);
	DOCA_ERROR_PROPAGATE(result, next);
	if (objects->ctx) {
		next = stop_async(objects);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	if (objects->event) {
		next = doca_sync_event_destroy(objects->event);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	if (objects->pe) {
		next = doca_pe_destroy(objects->pe);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	if (objects->rep) {
		next = doca_dev_rep_close(objects->rep);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	if (objects->dev) {
		next = doca_dev_close(objects->dev);
		DOCA_ERROR_PROPAGATE(result, next);
	}
	return result;
}
