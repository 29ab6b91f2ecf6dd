// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * event_sync.c - synchronous use: the data path of doca_sync_event_start()
 *
 * Any thread may be in it at any time. The shortest way is by syncevent/cell.h, in one
 * call and with what is rare out of line; event->cell is set exactly while the event is
 * started and it may be gone.
 *
 * Another thread may stop the event at any time, as soon as it has seen an update perhaps
 * whose publisher has yet to ring. So a call reads event->cell once, and goes on with what
 * it has read: the mapping and the handle stay until the event is destroyed.
 */
#include "event.h"

#include <errno.h>

#define RARE		__attribute__((__cold__, __noinline__))
#define RARELY(x)	__builtin_expect(!!(x), 0)

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
	__atomic_store_n(&event->started, true, __ATOMIC_RELEASE);
	if (event->direct)
		__atomic_store_n(&event->cell, syncevent_cell(event->ev), __ATOMIC_RELEASE);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (!event->started)
		return DOCA_ERROR_BAD_STATE;
	__atomic_store_n(&event->started, false, __ATOMIC_RELEASE);
	__atomic_store_n(&event->cell, NULL, __ATOMIC_RELEASE);
	return DOCA_SUCCESS;
}

/* ---- one look, one update ----------------------------------------------------------- */

static doca_error_t usable(const struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return __atomic_load_n(&event->started, __ATOMIC_ACQUIRE) ? DOCA_SUCCESS :
								    DOCA_ERROR_BAD_STATE;
}

/* NULL: what comes now is rare. */
static inline struct syncevent_cell *cell_of(const struct doca_sync_event *event)
{
	return RARELY(!event) ? NULL : __atomic_load_n(&event->cell, __ATOMIC_ACQUIRE);
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

static RARE doca_error_t slow_ring(const struct doca_sync_event *event,
				   const struct syncevent_cell *cell, uint64_t value)
{
	if (syncevent_cell_must_ring(cell, value))
		(void)syncevent_ring(event->ev);
	return DOCA_SUCCESS;
}

/*
 * It has been made, and so has succeeded, whatever becomes of the event. One hint record
 * is always there, and on one machine no other.
 */
static inline doca_error_t updated(const struct doca_sync_event *event,
				   const struct syncevent_cell *cell, uint64_t value)
{
	const struct syncevent_hint *hint = &cell->hint[0];

	syncevent_cell_se_a();
	if (RARELY(value > __atomic_load_n(&hint->wake_above, __ATOMIC_RELAXED)) ||
	    RARELY(__atomic_load_n(&hint->flags, __ATOMIC_RELAXED) &
		   SYNCEVENT_HINT_WAKE_ALL) ||
	    RARELY(__atomic_load_n(&cell->sides, __ATOMIC_RELAXED) > 1))
		return slow_ring(event, cell, value);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	const struct syncevent_cell *cell = cell_of(event);

	if (!value)
		return DOCA_ERROR_INVALID_VALUE;
	if (RARELY(!cell))
		return slow_get(event, value);
	if (RARELY(!syncevent_cell_live(cell)))
		return DOCA_ERROR_SHUTDOWN;
	*value = syncevent_cell_get(cell);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	struct syncevent_cell *cell = cell_of(event);

	if (RARELY(!cell))
		return slow_set(event, value);
	if (RARELY(!syncevent_cell_live(cell)))
		return DOCA_ERROR_SHUTDOWN;
	(void)__atomic_exchange_n(&cell->value, value, __ATOMIC_SEQ_CST);
	return updated(event, cell, value);
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
					uint64_t *fetched)
{
	struct syncevent_cell *cell = cell_of(event);
	uint64_t before;

	if (RARELY(!cell))
		return slow_add(event, value, fetched);
	if (RARELY(!syncevent_cell_live(cell)))
		return DOCA_ERROR_SHUTDOWN;
	before = __atomic_fetch_add(&cell->value, value, __ATOMIC_SEQ_CST);
	if (fetched)
		*fetched = before;
	return updated(event, cell, before + value);
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
