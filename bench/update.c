// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * update.c - set, add and get while nobody waits
 *
 * The peers are the bare atomic instructions of the same memory order, on shared
 * memory too. Each loop is a function of its own, and the results of loads are
 * used: the compiler leaves atomic operations that nobody looks at alone, but
 * that is no promise.
 */
#include "internal.h"

#include <errno.h>
#include <sys/mman.h>

#include <syncevent/inline.h>

#define PAGE	4096

static volatile uint64_t sink;

typedef int loop_fn(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n);

static int set_library(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n)
{
	uint64_t i;
	int err = 0;

	(void)cell;
	for (i = 0; i < n; i++)
		err |= syncevent_set(ev, i);
	return err;
}

static int set_inline(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		err |= syncevent_inline_set(ev, cell, i);
	return err;
}

static int add_library(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n)
{
	uint64_t i;
	int err = 0;

	(void)cell;
	for (i = 0; i < n; i++)
		err |= syncevent_add(ev, 1, NULL);
	return err;
}

static int add_inline(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n)
{
	uint64_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		err |= syncevent_inline_add(ev, cell, 1, NULL);
	return err;
}

static int get_library(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n)
{
	uint64_t i, value = 0, sum = 0;
	int err = 0;

	(void)cell;
	for (i = 0; i < n; i++) {
		err |= syncevent_get(ev, &value);
		sum += value;
	}
	sink = sum;
	return err;
}

static int get_inline(struct syncevent *ev, struct syncevent_cell *cell, uint64_t n)
{
	uint64_t i, value = 0, sum = 0;
	int err = 0;

	(void)ev;
	for (i = 0; i < n; i++) {
		err |= syncevent_inline_get(cell, &value);
		sum += value;
	}
	sink = sum;
	return err;
}

static int run_event(struct run *run)
{
	loop_fn *const *loop = run->arg;
	struct syncevent *ev;
	uint64_t from;
	int err = syncevent_create(&ev, NULL);

	if (err)
		return err;
	pin(cpu_of(0));
	err = (*loop)(ev, syncevent_cell(ev), 100);
	from = now_ns();
	err |= (*loop)(ev, syncevent_cell(ev), run->n);
	run->amount = now_ns() - from;
	unpin();
	syncevent_close(ev);
	return err ? -EIO : 0;
}

static void atomic_set(uint64_t *word, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		__atomic_exchange_n(word, i, __ATOMIC_RELEASE);
}

static void atomic_add(uint64_t *word, uint64_t n)
{
	uint64_t i, sum = 0;

	/* Of use, or it would be compiled to an add that fetches nothing. */
	for (i = 0; i < n; i++)
		sum += __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
	sink = sum;
}

static void atomic_get(uint64_t *word, uint64_t n)
{
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++)
		sum += __atomic_load_n(word, __ATOMIC_ACQUIRE);
	sink = sum;
}

int run_atomic(struct run *run)
{
	atomic_fn *const *loop = run->arg;
	uint64_t *word = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	uint64_t from;

	if (word == MAP_FAILED)
		return -ENOMEM;
	pin(cpu_of(0));
	(*loop)(word, 100);
	from = now_ns();
	(*loop)(word, run->n);
	run->amount = now_ns() - from;
	unpin();
	munmap(word, PAGE);
	return 0;
}

/* A pointer to a function may not lie in a pointer to data: so one to a variable does. */
static loop_fn *const library[] = { set_library, add_library, get_library };
static loop_fn *const inlined[] = { set_inline, add_inline, get_inline };
static atomic_fn *const bare_get = atomic_get;
atomic_fn *const bare_set = atomic_set, *const bare_add = atomic_add;

#define SIDES(i, bare, bare_name) {							\
	{ .name = "library", .run = run_event, .arg = &library[i], .ours = true },	\
	{ .name = "inline", .run = run_event, .arg = &inlined[i], .ours = true },	\
	{ .name = bare_name, .run = run_atomic, .arg = &bare },				\
	{ 0 }										\
}

static const struct side set_sides[] = SIDES(0, bare_set, "atomic exchange");
static const struct side add_sides[] = SIDES(1, bare_add, "atomic fetch_add");
static const struct side get_sides[] = SIDES(2, bare_get, "atomic load");

static const struct target set_targets[] = {
	{ .ours = "library", .peer = "atomic exchange", .ratio = 1.3 },
	{ .ours = "inline", .peer = "atomic exchange", .ratio = 1.1 },
	{ 0 }
};

static const struct target add_targets[] = {
	{ .ours = "library", .peer = "atomic fetch_add", .ratio = 1.3 },
	{ .ours = "inline", .peer = "atomic fetch_add", .ratio = 1.1 },
	{ 0 }
};

const struct bench update_benches[] = {
	{
		.name = "set",
		.what = "syncevent_set() while nobody waits",
		.unit = "ns",
		.sides = set_sides,
		.targets = set_targets,
	},
	{
		.name = "add",
		.what = "syncevent_add() while nobody waits",
		.unit = "ns",
		.sides = add_sides,
		.targets = add_targets,
	},
	{
		.name = "get",
		.what = "syncevent_get()",
		.unit = "ns",
		.sides = get_sides,
	},
	{ 0 }
};
