// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* object.c - making and closing an event, and the memory that it takes */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define MANY	1000
#define FILLER	1000	/* made before, not measured */

/* ---- time -------------------------------------------------------------------------- */

static int run_create(struct run *run)
{
	uint64_t from = now_ns(), i;
	struct syncevent *ev;
	int err;

	for (i = 0; i < run->n; i++) {
		err = syncevent_create(&ev, NULL);
		if (err)
			return err;
		syncevent_close(ev);
	}
	run->amount = now_ns() - from;
	return 0;
}

/* What the first event of a machine sets up is there already. */
static int run_further(struct run *run)
{
	struct syncevent *first;
	int err = syncevent_create(&first, NULL);

	if (err)
		return err;
	err = run_create(run);
	syncevent_close(first);
	return err;
}

static int run_eventfd(struct run *run)
{
	uint64_t from = now_ns(), i;
	int fd;

	for (i = 0; i < run->n; i++) {
		fd = eventfd(0, EFD_CLOEXEC);
		if (fd < 0)
			return -errno;
		close(fd);
	}
	run->amount = now_ns() - from;
	return 0;
}

/* ---- memory ------------------------------------------------------------------------- */

/* The sum of some lines of a file of /proc, in bytes; 0: it has none of them. */
static uint64_t sum_of(const char *path, const char *const *names)
{
	FILE *file = fopen(path, "re");
	char line[128], name[64];
	unsigned long long kb, sum = 0;
	size_t i;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^:]: %llu", name, &kb) == 2)
			for (i = 0; names[i]; i++)
				if (!strcmp(names[i], name))
					sum += kb;
	fclose(file);
	return sum * 1024;
}

/*
 * What the program has of its own or maps, its page tables, and the objects of
 * the whole kernel: those of other programs too, which the median of the rounds
 * is to hide.
 */
static uint64_t memory_used(void)
{
	static const char *const program[] = {
		"RssAnon", "RssFile", "RssShmem", "VmPTE", NULL,
	};
	static const char *const kernel[] = { "Slab", NULL };

	return sum_of("/proc/self/status", program) + sum_of("/proc/meminfo", kernel);
}

/*
 * The kernel frees objects a little later and keeps some slabs of them: they have
 * to be gone, and used up, or the next objects would seem to cost nothing.
 */
static void settle(void)
{
	nanosleep(&(const struct timespec){ .tv_nsec = 50000000 }, NULL);
}

typedef int make_fn(void **object);

static int make_event(void **object)
{
	struct syncevent *ev;
	int err = syncevent_create(&ev, NULL);

	*object = err ? NULL : ev;
	return err ? err : syncevent_set(ev, 1);
}

static void close_event(void *object)
{
	syncevent_close(object);
}

static int make_eventfd(void **object)
{
	int fd = eventfd(1, EFD_CLOEXEC);

	*object = (void *)(intptr_t)(fd + 1);
	return fd < 0 ? -errno : 0;
}

static void close_eventfd(void *object)
{
	if (object)
		close((int)(intptr_t)object - 1);
}

static int run_memory(struct run *run)
{
	const bool event = run->arg;
	make_fn *const make = event ? make_event : make_eventfd;
	const uint64_t n = FILLER + run->n;
	void **object = calloc(n, sizeof(*object));
	uint64_t before = 0, after, i;
	int err = 0;

	if (!object)
		return -ENOMEM;
	settle();
	for (i = 0; i < n && !err; i++) {
		if (i == FILLER)
			before = memory_used();
		err = make(&object[i]);
	}
	after = memory_used();
	/* Somebody else may have freed more. */
	run->amount = after > before ? after - before : 0;
	while (i--)
		(event ? close_event : close_eventfd)(object[i]);
	free(object);
	return err;
}

static const struct side create_sides[] = {
	{ .name = "only event", .run = run_create, .ours = true },
	{ .name = "further event", .run = run_further, .ours = true },
	{ .name = "eventfd", .run = run_eventfd },
	{ 0 }
};

static const struct side memory_sides[] = {
	{ .name = "event", .run = run_memory, .arg = "event", .ours = true },
	{ .name = "eventfd", .run = run_memory },
	{ 0 }
};

const struct bench object_benches[] = {
	{
		.name = "create",
		.what = "making an object and closing it",
		.unit = "ns",
		.sides = create_sides,
	},
	{
		.name = "memory",
		.what = "memory of one of 1000 objects, in the program and in the kernel",
		.unit = "bytes/object",
		.fixed = MANY,
		.sides = memory_sides,
	},
	{ 0 }
};
