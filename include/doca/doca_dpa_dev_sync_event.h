/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_dpa_dev_sync_event.h - sync events in programs of an accelerator
 *
 * Freestanding, for firmware that shares the memory of a PCI device with machines; it
 * stands on syncevent/dpa.h. What runs the programs gives them the side that they are,
 * and is told of what these functions have no way to return:
 *
 *	struct syncevent_dpa *doca_dpa_dev_unit(void);
 *	void doca_dpa_dev_failed(doca_dpa_dev_sync_event_t event, int error);
 *
 * doca_dpa_dev_unit() gives an attached side, of the hart that asks, for
 * struct syncevent_dpa belongs to one at a time. doca_dpa_dev_failed() is called with
 * -SYNCEVENT_DPA_E*: the event or the machine behind it has gone, or the handle is none.
 * The function that called it then returns.
 *
 * Memory order: updates release, get and a satisfied wait acquire.
 */
#ifndef DOCA_DPA_DEV_SYNC_EVENT_H
#define DOCA_DPA_DEV_SYNC_EVENT_H

#include <stdint.h>

#include <syncevent/dpa.h>

#ifdef __cplusplus
extern "C" {
#endif

/** doca_dpa_dev_sync_event_t - from doca_sync_event_get_dpa_handle() */
typedef uint64_t doca_dpa_dev_sync_event_t;

/* Of the firmware, as said above. */
struct syncevent_dpa *doca_dpa_dev_unit(void);
void doca_dpa_dev_failed(doca_dpa_dev_sync_event_t event, int error);

/** doca_dpa_dev_sync_event_get() - load the counter; on failure @value is as before */
static inline void doca_dpa_dev_sync_event_get(doca_dpa_dev_sync_event_t dpa_dev_se_handle,
					       uint64_t *value)
{
	int err = syncevent_dpa_get(doca_dpa_dev_unit(), dpa_dev_se_handle, value);

	if (err)
		doca_dpa_dev_failed(dpa_dev_se_handle, err);
}

/** doca_dpa_dev_sync_event_update_set() - store a value, and wake who waits for it */
static inline void
doca_dpa_dev_sync_event_update_set(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t value)
{
	int err = syncevent_dpa_set(doca_dpa_dev_unit(), dpa_dev_se_handle, value);

	if (err)
		doca_dpa_dev_failed(dpa_dev_se_handle, err);
}

/** doca_dpa_dev_sync_event_update_add() - add, modulo 2^64, and wake who waits for it */
static inline void
doca_dpa_dev_sync_event_update_add(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t value)
{
	int err = syncevent_dpa_add(doca_dpa_dev_unit(), dpa_dev_se_handle, value, NULL);

	if (err)
		doca_dpa_dev_failed(dpa_dev_se_handle, err);
}

/** doca_dpa_dev_sync_event_wait_gt() - until (counter & mask) > value, unsigned; it ticks too */
static inline void
doca_dpa_dev_sync_event_wait_gt(doca_dpa_dev_sync_event_t dpa_dev_se_handle, uint64_t value,
				uint64_t mask)
{
	int err = syncevent_dpa_wait(doca_dpa_dev_unit(), dpa_dev_se_handle, SYNCEVENT_COND_GT,
				     value, mask, SYNCEVENT_DPA_FOREVER, NULL);

	if (err)
		doca_dpa_dev_failed(dpa_dev_se_handle, err);
}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_DEV_SYNC_EVENT_H */
