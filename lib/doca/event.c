// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * event.c - sync events: how they are made, configured and exported
 *
 * libsyncevent's event is made by the first start, when it is known where the counter is
 * to lie, and stays until the object is destroyed: a handle that is started again goes on
 * with the same counter, and what was exported stays good.
 */
#include "event.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <doca_buf.h>

/* ---- life ------------------------------------------------------------------------ */

static struct doca_sync_event *new_event(void)
{
	struct doca_sync_event *event = calloc(1, sizeof(*event));

	if (event)
		sed_ctx_init(&event->ctx, &sed_event_ctx_ops);
	return event;
}

/* What there is to know of a handle of libsyncevent. */
static void adopt(struct doca_sync_event *event, struct syncevent *ev)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };

	event->ev = ev;
	event->on = sed_provider(ev);
	event->direct = syncevent_cell(ev) && !syncevent_stat(ev, &stat) &&
			 (stat.flags & SYNCEVENT_STAT_UPDATE) &&
			 !(stat.flags & SYNCEVENT_STAT_HOME_ADDS);
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *created;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	created = new_event();
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
						size_t sz, struct doca_sync_event **event)
{
	struct doca_sync_event *created;
	struct syncevent *ev;
	bool pci;
	int err;

	if (!dev || !data || !event)
		return DOCA_ERROR_INVALID_VALUE;
	created = new_event();
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	err = syncevent_import(&ev, data, sz);
	if (err) {
		free(created);
		return sed_error(err);
	}
	adopt(created, ev);
	created->imported = true;
	pci = created->on == SYNCEVENT_PROVIDER_KERNEL;
	if (pci != (sed_dev_id(dev)->kind == SED_DEV_PCI)) {
		(void)doca_sync_event_destroy(created);
		return DOCA_ERROR_INVALID_VALUE;
	}
	created->subscriber.dev = dev;
	sed_dev_get(dev);
	*event = created;
	return DOCA_SUCCESS;
}

static void put_location(struct sed_location *location)
{
	sed_dpa_put(location->dpa);
	sed_dev_put(location->dev);
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	sed_ctx_destroy(&event->ctx);
	/* A handle only of another side's event. */
	if (event->ev && !event->imported)
		(void)syncevent_revoke(event->ev);
	syncevent_close(event->ev);
	if (event->buf)
		(void)doca_buf_dec_refcount(event->buf, NULL);
	put_location(&event->publisher);
	put_location(&event->subscriber);
	free(event);
	return DOCA_SUCCESS;
}

/* On the subscriber's device if it names one, for that is where it is waited for. */
static doca_error_t choose_dev(struct doca_sync_event *event)
{
	if (event->subscriber.dev)
		event->dev = *sed_dev_id(event->subscriber.dev);
	else if (event->publisher.dev)
		event->dev = *sed_dev_id(event->publisher.dev);
	else
		return sed_dev_default(&event->dev);
	return DOCA_SUCCESS;
}

doca_error_t sed_event_make(struct doca_sync_event *event)
{
	struct syncevent_attr attr = {
		.size = sizeof(attr),
		.publishers = event->publisher.kind,
		.subscribers = event->subscriber.kind,
		.addr = event->addr,
	};
	struct syncevent *ev;
	doca_error_t result;
	int err;

	if (event->ev)
		return DOCA_SUCCESS;
	if (!event->publisher.kind || !event->subscriber.kind)
		return DOCA_ERROR_BAD_CONFIG;
	if (!event->addr) {
		result = choose_dev(event);
		if (result != DOCA_SUCCESS)
			return result;
		if (event->dev.kind == SED_DEV_PCI)
			attr.pci = event->dev.device;
		else
			attr.provider = SYNCEVENT_PROVIDER_SHM;
	}
	err = syncevent_create(&ev, &attr);
	if (err)
		return sed_error(err);
	adopt(event, ev);
	return DOCA_SUCCESS;
}

/* ---- configuration ------------------------------------------------------------------ */

/* May its memory and locations be chosen? */
static doca_error_t may_configure(const struct doca_sync_event *event)
{
	if (event->imported)
		return DOCA_ERROR_NOT_PERMITTED;
	return event->ev ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}

static doca_error_t set_location(struct doca_sync_event *event, struct sed_location *location,
				 uint32_t kind, struct doca_dev *dev, struct doca_dpa *dpa)
{
	doca_error_t result = may_configure(event);

	if (result != DOCA_SUCCESS)
		return result;
	if (location->kind)
		return DOCA_ERROR_ALREADY_EXIST;
	if (dev)
		sed_dev_get(dev);
	if (dpa)
		sed_dpa_get(dpa);
	*location = (struct sed_location){ .kind = kind, .dev = dev, .dpa = dpa };
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
							struct doca_dev *dev)
{
	if (!event || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	return set_location(event, &event->publisher, SYNCEVENT_LOC_CPU, dev, NULL);
}

doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
							struct doca_dpa *dpa)
{
	if (!event || !dpa)
		return DOCA_ERROR_INVALID_VALUE;
	return set_location(event, &event->publisher, SYNCEVENT_LOC_DPA, sed_dpa_dev(dpa), dpa);
}

doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
							struct doca_gpu *gpu)
{
	return event && gpu ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return set_location(event, &event->publisher, SYNCEVENT_LOC_REMOTE_PCI, NULL, NULL);
}

doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	return event ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
							 struct doca_dev *dev)
{
	if (!event || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	return set_location(event, &event->subscriber, SYNCEVENT_LOC_CPU, dev, NULL);
}

doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
							 struct doca_dpa *dpa)
{
	if (!event || !dpa)
		return DOCA_ERROR_INVALID_VALUE;
	return set_location(event, &event->subscriber, SYNCEVENT_LOC_DPA, sed_dpa_dev(dpa), dpa);
}

doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
							 struct doca_gpu *gpu)
{
	return event && gpu ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return set_location(event, &event->subscriber, SYNCEVENT_LOC_REMOTE_PCI, NULL, NULL);
}

/*
 * Can this process write there? The kernel is asked to, by an atomic "or 0", which neither
 * changes what is there nor faults.
 */
static bool writable(uint64_t *addr)
{
	uint32_t unused = 0, *word = (uint32_t *)(void *)addr;

	return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, NULL, word,
		       FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

static doca_error_t set_memory(struct doca_sync_event *event, uint64_t *addr)
{
	if ((uintptr_t)addr % sizeof(*addr))
		return DOCA_ERROR_INVALID_VALUE;
	if (!writable(addr))
		return DOCA_ERROR_NOT_SUPPORTED;
	event->addr = addr;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	doca_error_t result;

	if (!event || !addr)
		return DOCA_ERROR_INVALID_VALUE;
	result = may_configure(event);
	if (result == DOCA_SUCCESS)
		result = set_memory(event, addr);
	if (result == DOCA_SUCCESS && event->buf) {
		(void)doca_buf_dec_refcount(event->buf, NULL);
		event->buf = NULL;
	}
	return result;
}

doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf)
{
	doca_error_t result;
	uint64_t *addr;

	if (!event || !buf)
		return DOCA_ERROR_INVALID_VALUE;
	result = may_configure(event);
	if (result != DOCA_SUCCESS)
		return result;
	result = sed_buf_hold(buf, &addr);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_set_addr(event, addr);
	if (result == DOCA_SUCCESS)
		event->buf = buf;
	else
		(void)doca_buf_dec_refcount(buf, NULL);
	return result;
}

/* ---- other units ---------------------------------------------------------------------- */

static bool over_pci(const struct sed_location *location)
{
	return location->kind == SYNCEVENT_LOC_CPU || location->kind == SYNCEVENT_LOC_REMOTE_PCI;
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev, const uint8_t **data,
						  size_t *sz)
{
	int n;

	if (!event || !dev || !data || !sz)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->imported)
		return DOCA_ERROR_NOT_PERMITTED;
	if (event->addr)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (!over_pci(&event->publisher) || !over_pci(&event->subscriber))
		return DOCA_ERROR_INVALID_VALUE;
	if (!event->ev)
		return DOCA_ERROR_BAD_STATE;
	if (!sed_dev_reaches(sed_dev_id(dev), &event->dev))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (!event->blob_size) {
		n = syncevent_export(event->ev, 0, event->blob, sizeof(event->blob));
		if (n < 0)
			return sed_error(n);
		event->blob_size = (size_t)n;
	}
	*data = event->blob;
	*sz = event->blob_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data, size_t *sz)
{
	return event && data && sz ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
{
	uint64_t handle;
	int err;

	if (!event || !dpa || !dpa_dev_se_handle)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->imported)
		return DOCA_ERROR_NOT_PERMITTED;
	if (!event->publisher.dpa && !event->subscriber.dpa)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (!event->ev || !sed_dpa_started(dpa))
		return DOCA_ERROR_BAD_STATE;
	if (event->addr || !sed_dev_reaches(sed_dev_id(sed_dpa_dev(dpa)), &event->dev))
		return DOCA_ERROR_NOT_SUPPORTED;
	err = syncevent_dpa_handle(event->ev, &handle);
	if (!err)
		*dpa_dev_se_handle = handle;
	return sed_error(err);
}

doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **gpu_dev_se)
{
	return event && gpu && gpu_dev_se ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_remote_net_create_from_export(
		struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event_remote_net **event)
{
	(void)sz;
	return dev && data && event ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	return event ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_remote_net_get_dpa_handle(
		struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
		doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event)
{
	return event && dpa && dpa_remote_event ? DOCA_ERROR_NOT_SUPPORTED :
						  DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(
		struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
		doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event)
{
	return event && gpu && gpu_remote_event ? DOCA_ERROR_NOT_SUPPORTED :
						  DOCA_ERROR_INVALID_VALUE;
}

/* ---- what a device can ------------------------------------------------------------------ */

enum who { NONE, PCI, ANY };

static doca_error_t can(const struct doca_devinfo *devinfo, enum who who)
{
	if (!devinfo)
		return DOCA_ERROR_INVALID_VALUE;
	if (who == ANY || (who == PCI && sed_devinfo_id(devinfo)->kind == SED_DEV_PCI))
		return DOCA_SUCCESS;
	return DOCA_ERROR_NOT_SUPPORTED;
}

#define CAPABILITY(name, who)							\
doca_error_t doca_sync_event_cap_##name(const struct doca_devinfo *devinfo)	\
{										\
	return can(devinfo, who);						\
}

CAPABILITY(is_create_from_export_supported, ANY)
CAPABILITY(is_export_to_remote_pci_supported, ANY)
CAPABILITY(is_export_to_dpa_supported, PCI)
CAPABILITY(is_export_to_gpu_supported, NONE)
CAPABILITY(is_export_to_remote_net_supported, NONE)
CAPABILITY(remote_net_is_create_from_export_supported, NONE)
CAPABILITY(remote_net_is_export_to_dpa_supported, NONE)
CAPABILITY(remote_net_is_export_to_gpu_supported, NONE)
CAPABILITY(task_get_is_supported, ANY)
CAPABILITY(task_notify_set_is_supported, ANY)
CAPABILITY(task_notify_add_is_supported, ANY)
CAPABILITY(task_wait_eq_is_supported, ANY)
CAPABILITY(task_wait_neq_is_supported, ANY)
