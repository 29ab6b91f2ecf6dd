/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_dpa.h - data-path accelerators, as far as sync events need them
 *
 * An accelerator is firmware that shares the memory of a PCI device and speaks
 * syncevent/dpa.h. It runs without being told to: what is here names it for
 * doca_sync_event_get_dpa_handle(), and launches nothing.
 *
 * Threads: an accelerator belongs to one thread.
 */
#ifndef DOCA_DPA_H
#define DOCA_DPA_H

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dpa;
struct doca_sync_event;

/** doca_dpa_func_t - a program of an accelerator */
typedef void(doca_dpa_func_t)(void);

/**
 * doca_dpa_create() - the accelerator of a device
 * @dev: held until it is destroyed
 * @dpa: gets it
 *
 * Return: or INVALID_VALUE; NOT_SUPPORTED: it is of the virtual pair; NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa);

/** doca_dpa_destroy() - Return: or INVALID_VALUE; IN_USE: it is the location of an event */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_destroy(struct doca_dpa *dpa);

/** doca_dpa_start() - Return: or INVALID_VALUE; BAD_STATE: it is started */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_start(struct doca_dpa *dpa);

/** doca_dpa_stop() - Return: or INVALID_VALUE; BAD_STATE: it is not started */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_stop(struct doca_dpa *dpa);

/** doca_dpa_kernel_launch_update_set() - Return: NOT_SUPPORTED; INVALID_VALUE: no @dpa, no @func */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_set(struct doca_dpa *dpa,
					       struct doca_sync_event *wait_event,
					       uint64_t wait_threshold,
					       struct doca_sync_event *comp_event,
					       uint64_t comp_count, unsigned int num_threads,
					       doca_dpa_func_t *func, ... /* args */);

/** doca_dpa_kernel_launch_update_add() - likewise */
DOCA_EXPERIMENTAL
doca_error_t doca_dpa_kernel_launch_update_add(struct doca_dpa *dpa,
					       struct doca_sync_event *wait_event,
					       uint64_t wait_threshold,
					       struct doca_sync_event *comp_event,
					       uint64_t comp_count, unsigned int num_threads,
					       doca_dpa_func_t *func, ... /* args */);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DPA_H */
