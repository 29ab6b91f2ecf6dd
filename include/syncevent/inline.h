/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syncevent/inline.h - the data path without a call
 *
 * syncevent_get(), syncevent_set() and syncevent_add() as inlines, for callers that
 * keep the cell beside the handle. They know no layout but the cell, and enter the
 * library only when a sleeper asks to be rung.
 *
 *	struct syncevent_cell *cell = syncevent_cell(ev);
 *
 *	syncevent_inline_add(ev, cell, 1, NULL);
 *
 * They leave to the caller what the functions check: that @cell is syncevent_cell()
 * of @ev and not NULL, and that the handle may update. On a read-only one the update
 * is a write to read-only memory: SIGSEGV. Memory order and errors are those of the
 * functions, and so is thread-safety.
 */
#ifndef SYNCEVENT_INLINE_H
#define SYNCEVENT_INLINE_H

#include <errno.h>
#include <syncevent.h>
#include <syncevent/cell.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * syncevent_inline_get() - load the counter
 * @cell: of the event
 * @value: where it goes
 *
 * Memory order: acquire. Return: 0; -EIDRM.
 */
SYNCEVENT_INLINE int syncevent_inline_get(const struct syncevent_cell *cell,
					  uint64_t *value)
{
	if (!syncevent_cell_live(cell))
		return -EIDRM;
	*value = syncevent_cell_get(cell);
	return 0;
}

/**
 * syncevent_inline_set() - store a value
 * @ev: an event that the handle may update
 * @cell: its cell
 * @value: the new value
 *
 * Memory order: release. Return: 0; -EIDRM.
 */
SYNCEVENT_INLINE int syncevent_inline_set(struct syncevent *ev,
					  struct syncevent_cell *cell, uint64_t value)
{
	if (!syncevent_cell_live(cell))
		return -EIDRM;
	/* Once made, the update has succeeded, whatever becomes of the event. */
	if (syncevent_cell_set(cell, value))
		(void)syncevent_ring(ev);
	return 0;
}

/**
 * syncevent_inline_add() - add to the counter, modulo 2^64
 * @ev: an event that the handle may update
 * @cell: its cell
 * @n: what to add
 * @old: where the value before goes, or NULL
 *
 * Memory order: release. Return: 0; -EIDRM.
 */
SYNCEVENT_INLINE int syncevent_inline_add(struct syncevent *ev,
					  struct syncevent_cell *cell, uint64_t n,
					  uint64_t *old)
{
	if (!syncevent_cell_live(cell))
		return -EIDRM;
	if (syncevent_cell_add(cell, n, old))
		(void)syncevent_ring(ev);
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_INLINE_H */
