/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syncevent/cell.h - the data path of a sync event, for every unit
 *
 * Freestanding: no libc, no system call, no allocation. C99, C11 and C++11
 * with the GCC and clang atomics; bare-metal code needs nothing but stdint.h.
 *
 * The protocol (docs/wake-protocol.md). A publisher
 *
 *	(1) updates `value`,
 *	(2) passes a full barrier, SE-A,
 *	(3) reads the hints and rings the sides that ask.
 *
 * A waiter that is about to sleep writes its hint, passes a full barrier, SE-B,
 * and looks at `value` again. Either the publisher sees the hint or the waiter
 * sees the value:
 *
 *	publisher			waiter
 *	value = v			hint = asks
 *	  SE-A				  SE-B
 *	r1 = hint			r2 = value
 *
 * r1 and r2 cannot both be the old ones.
 *
 * Memory order: the updates release and the reads acquire, so data written
 * before an update is visible to who saw it. All functions are thread-safe.
 */
#ifndef SYNCEVENT_CELL_H
#define SYNCEVENT_CELL_H

#include <stdint.h>

/* libsyncevent defines this to have each function as a symbol too, for other languages. */
#ifndef SYNCEVENT_INLINE
#define SYNCEVENT_INLINE static inline
#endif

#if defined(__linux__)
#include <linux/syncevent.h>
#else
/* The same layout as in linux/syncevent.h, where there is no Linux. */
struct syncevent_hint {
	uint64_t wake_above __attribute__((__aligned__(8)));
	uint32_t flags;
	uint32_t deaths;
};

struct syncevent_cell {
	uint64_t value __attribute__((__aligned__(8)));
	uint32_t state;
	uint16_t sides;
	uint16_t flags;
	struct syncevent_hint hint[3];
} __attribute__((__aligned__(64)));

#define SYNCEVENT_HINT_WAKE_ALL		(1U << 0)
#define SYNCEVENT_HINT_PEER_DEAD	(1U << 1)
#define SYNCEVENT_SIDES_MAX		64
#define SYNCEVENT_STATE_MASK		3U
#define SYNCEVENT_STATE_LIVE		1U
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * syncevent_cell_get() - load the counter
 * @cell: a mapped event
 *
 * Memory order: acquire. Return: the value.
 */
SYNCEVENT_INLINE uint64_t syncevent_cell_get(const struct syncevent_cell *cell)
{
	return __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
}

/*
 * SE-A: orders the update of `value` before the reads of the hints. On x86 the
 * update is a locked instruction and so the barrier itself; only the compiler
 * is left to be held back. A 32-bit x86 compiler may make its 64-bit update
 * without one. On RISC-V the memory may be I/O, which the compilers' fences need not
 * order.
 */
SYNCEVENT_INLINE void syncevent_cell_se_a(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("" ::: "memory");
#elif defined(__riscv)
	__asm__ __volatile__("fence iorw, iorw" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/**
 * syncevent_cell_own() - fetch the cell for an update that follows
 * @cell: a mapped event
 *
 * A hint to the CPU. If a spinner on another CPU has the line, and the state is read
 * before the update as syncevent/inline.h does, the line comes for writing at once
 * and not for reading first. Where nobody spins it costs as much as it saves here.
 */
SYNCEVENT_INLINE void syncevent_cell_own(const struct syncevent_cell *cell)
{
#if defined(__x86_64__)
	__asm__ __volatile__("prefetchw %0" : : "m"(cell->value));
#else
	__builtin_prefetch(cell, 1);
#endif
}

/**
 * syncevent_cell_must_ring() - does a side ask to be rung for this value?
 * @cell: a mapped event
 * @value: what the counter was updated to
 *
 * To be called after an update and syncevent_cell_se_a(). Return: nonzero if so.
 */
SYNCEVENT_INLINE int syncevent_cell_must_ring(const struct syncevent_cell *cell,
					   uint64_t value)
{
	unsigned int sides = __atomic_load_n(&cell->sides, __ATOMIC_RELAXED);
	unsigned int i;

	if (sides > SYNCEVENT_SIDES_MAX)
		sides = SYNCEVENT_SIDES_MAX;
	for (i = 0; i < sides; i++) {
		const struct syncevent_hint *hint =
			(const struct syncevent_hint *)((const char *)cell + 16) + i;

		if (value > __atomic_load_n(&hint->wake_above, __ATOMIC_RELAXED) ||
		    (__atomic_load_n(&hint->flags, __ATOMIC_RELAXED) &
		     SYNCEVENT_HINT_WAKE_ALL))
			return 1;
	}
	return 0;
}

/**
 * syncevent_cell_set() - store a value
 * @cell: a mapped event
 * @value: the new value
 *
 * Memory order: release. Return: nonzero if the caller must ring now.
 */
SYNCEVENT_INLINE int syncevent_cell_set(struct syncevent_cell *cell, uint64_t value)
{
	(void)__atomic_exchange_n(&cell->value, value, __ATOMIC_SEQ_CST);
	syncevent_cell_se_a();
	return syncevent_cell_must_ring(cell, value);
}

/**
 * syncevent_cell_add() - add to the counter, modulo 2^64
 * @cell: a mapped event
 * @n: what to add
 * @old: where the value before goes, or NULL
 *
 * Memory order: release. Return: nonzero if the caller must ring now.
 */
SYNCEVENT_INLINE int syncevent_cell_add(struct syncevent_cell *cell, uint64_t n,
				     uint64_t *old)
{
	uint64_t before = __atomic_fetch_add(&cell->value, n, __ATOMIC_SEQ_CST);

	if (old)
		*old = before;
	syncevent_cell_se_a();
	return syncevent_cell_must_ring(cell, before + n);
}

/**
 * syncevent_cell_live() - is the event still there?
 * @cell: a mapped event
 *
 * A spinner checks it beside the value. Return: 0 once the event is revoked.
 */
SYNCEVENT_INLINE int syncevent_cell_live(const struct syncevent_cell *cell)
{
	return (__atomic_load_n(&cell->state, __ATOMIC_RELAXED) &
		SYNCEVENT_STATE_MASK) == SYNCEVENT_STATE_LIVE;
}

/** syncevent_cell_pause() - what a spinner does between two looks */
SYNCEVENT_INLINE void syncevent_cell_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ __volatile__("pause" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" ::: "memory");
#elif defined(__riscv)
	__asm__ __volatile__(".4byte 0x100000f" ::: "memory");	/* pause */
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_CELL_H */
