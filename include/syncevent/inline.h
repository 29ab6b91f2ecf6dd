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
 * Where the other side spins, syncevent_cell_own() before an update saves a transfer
 * of the line; where nobody does it is a loss, so it is left to the caller.
 *
 * They leave to the caller what the functions check: that @cell is syncevent_cell()
 * of @ev and not NULL, that the handle may update, and that adds work from here
 * (SYNCEVENT_STAT_HOME_ADDS). On a read-only one the update is a write to read-only
 * memory: SIGSEGV. Memory order and errors are those of the functions, and so is
 * thread-safety.
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

/**
 * syncevent_inline_holds() - does (value & mask) COND operand hold?
 * @cond: enum syncevent_cond
 * @value: to be judged, for example from syncevent_inline_get()
 * @mask: applied to @value before it is compared; UINT64_MAX for all of it
 * @operand: right-hand side
 *
 * Unsigned, over the full range. With a constant @cond it is one comparison. It reads no
 * memory. Return: nonzero if it holds.
 */
SYNCEVENT_INLINE int syncevent_inline_holds(enum syncevent_cond cond, uint64_t value,
					    uint64_t mask, uint64_t operand)
{
	value &= mask;
	switch (cond) {
	case SYNCEVENT_EQ:
		return value == operand;
	case SYNCEVENT_NEQ:
		return value != operand;
	case SYNCEVENT_GT:
		return value > operand;
	case SYNCEVENT_GE:
		return value >= operand;
	case SYNCEVENT_LT:
		return value < operand;
	default:
		return value <= operand;
	}
}

/**
 * syncevent_inline_spin() - wait as SYNCEVENT_SPIN does, without a deadline
 * @cell: of the event
 * @cond: enum syncevent_cond
 * @operand: right-hand side
 * @mask: applied to the value before it is compared
 * @seen: gets the value that satisfied the condition, or NULL
 *
 * For constant @cond and @mask the loop is as short as one on a bare variable. It does
 * not look whether a machine on which it depends is dead, as syncevent_wait() does.
 * Memory order: acquire. Return: 0; -EIDRM.
 */
SYNCEVENT_INLINE int syncevent_inline_spin(const struct syncevent_cell *cell,
					   enum syncevent_cond cond, uint64_t operand,
					   uint64_t mask, uint64_t *seen)
{
	uint64_t value;

	/* The value first: the state comes with the same line. */
	while (value = syncevent_cell_get(cell),
	       !syncevent_inline_holds(cond, value, mask, operand)) {
		if (!syncevent_cell_live(cell))
			return -EIDRM;
		syncevent_cell_pause();
	}
	if (!syncevent_cell_live(cell))
		return -EIDRM;
	if (seen)
		*seen = value;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_INLINE_H */
