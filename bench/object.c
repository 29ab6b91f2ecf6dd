// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* object.c - making and closing an event, and the memory that it takes */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MANY	1000

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

/*
 * What the machine uses, but for its page cache: in the program, and in the
 * kernel. Other programs' memory is in it too; the median of the rounds is not
 * much disturbed by these if they are few.
 */
static int64_t memory_used(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long long total = 0, kb;
	char line[128], name[64];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]: %lld", name, &kb) != 2)
			continue;
		if (!strcmp(name, "MemTotal") || !strcmp(name, "Shmem"))
			total += kb;
		else if (!strcmp(name, "MemFree") || !strcmp(name, "Buffers") ||
			 !strcmp(name, "Cached"))
			total -= kb;
	}
	fclose(file);
	return total * 1024;
}

static int took(struct run *run, int64_t before)
{
	int64_t after = memory_used();

	if (before < 0 || after < 0)
		return -EOPNOTSUPP;
	/* Somebody else may have freed more. A ratio needs something above nothing. */
	run->amount = after > before ? (uint64_t)(after - before) : 1;
	return 0;
}

static int run_event_memory(struct run *run)
{
	struct syncevent **ev = calloc(run->n, sizeof(*ev));
	int64_t before = memory_used();
	uint64_t i;
	int err = ev ? 0 : -ENOMEM;

	for (i = 0; i < run->n && !err; i++) {
		err = syncevent_create(&ev[i], NULL);
		if (!err)
			err = syncevent_set(ev[i], 1);
	}
	if (!err)
		err = took(run, before);
	for (i = 0; ev && i < run->n && ev[i]; i++)
		syncevent_close(ev[i]);
	free(ev);
	return err;
}

static int run_eventfd_memory(struct run *run)
{
	int *fd = calloc(run->n, sizeof(*fd));
	int64_t before = memory_used();
	uint64_t i, made = 0;
	int err = fd ? 0 : -ENOMEM;

	while (made < run->n && !err) {
		fd[made] = eventfd(1, EFD_CLOEXEC);
		if (fd[made] < 0)
			err = -errno;
		else
			made++;
	}
	if (!err)
		err = took(run, before);
	for (i = 0; i < made; i++)
		close(fd[i]);
	free(fd);
	return err;
}

static const struct side create_sides[] = {
	{ .name = "event", .run = run_create, .ours = true },
	{ .name = "eventfd", .run = run_eventfd },
	{ 0 }
};

static const struct side memory_sides[] = {
	{ .name = "event", .run = run_event_memory, .ours = true },
	{ .name = "eventfd", .run = run_eventfd_memory },
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
		.what = "memory of the program and the kernel for 1000 objects, of each",
		.unit = "bytes",
		.fixed = MANY,
		.sides = memory_sides,
	},
	{ 0 }
};
