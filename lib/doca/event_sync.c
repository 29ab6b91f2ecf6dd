// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * event_sync.c - synchronous use: the data path of doca_sync_event_start()
 *
 * Any thread may be in it at any time. The shortest way is that of libsyncevent's
 * inlines; event->cell, which they need, is set exactly while the event is started and
 * they may be used.
 */
#include "event.h"

#include <errno.h>

#define RARE	__attribute__((__cold__, __noinline__))

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t result;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->mode == SED_MODE_ASYNC || event->started)
		return DOCA_ERROR_BAD_STATE;
	result = sed_event_make(event);
	if (result != DOCA_SUCCESS)
		return result;
	event->mode = SED_MODE_SYNC;
	event->started = true;
	if (event->inlines)
		event->cell = syncevent_cell(event->ev);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (!event->started)
		return DOCA_ERROR_BAD_STATE;
	event->started = false;
	event->cell = NULL;
	return DOCA_SUCCESS;
}

/* ---- one look, one update ----------------------------------------------------------- */

static doca_error_t usable(const struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return event->started ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

static RARE doca_error_t slow_get(struct doca_sync_event *event, uint64_t *value)
{
	doca_error_t result = usable(event);

	return result == DOCA_SUCCESS ? sed_error(syncevent_get(event->ev, value)) : result;
}

static RARE doca_error_t slow_set(struct doca_sync_event *event, uint64_t value)
{
	doca_error_t result = usable(event);

	return result == DOCA_SUCCESS ? sed_error(syncevent_set(event->ev, value)) : result;
}

static RARE doca_error_t slow_add(struct doca_sync_event *event, uint64_t value,
				  uint64_t *fetched)
{
	doca_error_t result = usable(event);

	return result == DOCA_SUCCESS ? sed_error(syncevent_add(event->ev, value, fetched)) :
					result;
}

/* The one error of the inlines. */
static inline doca_error_t quick_error(int err)
{
	return err ? DOCA_ERROR_SHUTDOWN : DOCA_SUCCESS;
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	if (!value)
		return DOCA_ERROR_INVALID_VALUE;
	if (!event || !event->cell)
		return slow_get(event, value);
	return quick_error(syncevent_inline_get(event->cell, value));
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	if (!event || !event->cell)
		return slow_set(event, value);
	return quick_error(syncevent_inline_set(event->ev, event->cell, value));
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
					uint64_t *fetched)
{
	if (!event || !event->cell)
		return slow_add(event, value, fetched);
	return quick_error(syncevent_inline_add(event->ev, event->cell, value, fetched));
}

/* ---- waits ------------------------------------------------------------------------------ */

static doca_error_t wait_for(struct doca_sync_event *event, enum syncevent_cond cond,
			     uint64_t value, uint64_t mask, enum syncevent_how how)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.deadline = SYNCEVENT_FOREVER,
		.how = how,
	};
	doca_error_t result = usable(event);

	if (result != DOCA_SUCCESS)
		return result;
	return sed_error(syncevent_wait(event->ev, cond, value, mask, &opts, NULL));
}

#define WAIT(name, cond, how)								\
doca_error_t doca_sync_event_wait_##name(struct doca_sync_event *event, uint64_t value,	\
					 uint64_t mask)					\
{											\
	return wait_for(event, cond, value, mask, how);					\
}

WAIT(gt, SYNCEVENT_GT, SYNCEVENT_SPIN)
WAIT(gt_yield, SYNCEVENT_GT, SYNCEVENT_YIELD)
WAIT(eq, SYNCEVENT_EQ, SYNCEVENT_SPIN)
WAIT(eq_yield, SYNCEVENT_EQ, SYNCEVENT_YIELD)
WAIT(neq, SYNCEVENT_NEQ, SYNCEVENT_SPIN)
WAIT(neq_yield, SYNCEVENT_NEQ, SYNCEVENT_YIELD)
