// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* dpa.c - accelerators, as far as events need them */
#include "internal.h"

#include <stdlib.h>

#include <doca_dpa.h>

/**
 * struct doca_dpa - an accelerator
 * @dev: of which device, held
 * @started: handles can be had
 * @users: events whose location it is
 */
struct doca_dpa {
	struct doca_dev *dev;
	bool started;
	unsigned int users;
};

doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa)
{
	struct doca_dpa *created;

	if (!dev || !dpa)
		return DOCA_ERROR_INVALID_VALUE;
	if (sed_dev_id(dev)->kind != SED_DEV_PCI)
		return DOCA_ERROR_NOT_SUPPORTED;
	created = calloc(1, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dev = dev;
	sed_dev_get(dev);
	*dpa = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_destroy(struct doca_dpa *dpa)
{
	if (!dpa)
		return DOCA_ERROR_INVALID_VALUE;
	if (dpa->users)
		return DOCA_ERROR_IN_USE;
	sed_dev_put(dpa->dev);
	free(dpa);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_start(struct doca_dpa *dpa)
{
	if (!dpa)
		return DOCA_ERROR_INVALID_VALUE;
	if (dpa->started)
		return DOCA_ERROR_BAD_STATE;
	dpa->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_stop(struct doca_dpa *dpa)
{
	if (!dpa)
		return DOCA_ERROR_INVALID_VALUE;
	if (!dpa->started)
		return DOCA_ERROR_BAD_STATE;
	dpa->started = false;
	return DOCA_SUCCESS;
}

/* Firmware runs what it was loaded with; it is not told what to launch. */

doca_error_t doca_dpa_kernel_launch_update_set(struct doca_dpa *dpa,
					       struct doca_sync_event *wait_event,
					       uint64_t wait_threshold,
					       struct doca_sync_event *comp_event,
					       uint64_t comp_count, unsigned int num_threads,
					       doca_dpa_func_t *func, ...)
{
	(void)wait_event;
	(void)wait_threshold;
	(void)comp_event;
	(void)comp_count;
	(void)num_threads;
	return dpa && func ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_dpa_kernel_launch_update_add(struct doca_dpa *dpa,
					       struct doca_sync_event *wait_event,
					       uint64_t wait_threshold,
					       struct doca_sync_event *comp_event,
					       uint64_t comp_count, unsigned int num_threads,
					       doca_dpa_func_t *func, ...)
{
	(void)wait_event;
	(void)wait_threshold;
	(void)comp_event;
	(void)comp_count;
	(void)num_threads;
	return dpa && func ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

/* ---- for event.c ---------------------------------------------------------------------- */

struct doca_dev *sed_dpa_dev(const struct doca_dpa *dpa)
{
	return dpa->dev;
}

bool sed_dpa_started(const struct doca_dpa *dpa)
{
	return dpa->started;
}

void sed_dpa_get(struct doca_dpa *dpa)
{
	dpa->users++;
}

void sed_dpa_put(struct doca_dpa *dpa)
{
	if (dpa)
		dpa->users--;
}
