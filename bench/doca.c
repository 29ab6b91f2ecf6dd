// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca.c - libsyncevent-doca beside its peers: a program of its own, which is linked with it
 *
 * Publisher and subscriber are threads of one process: the subscriber has made the event
 * and waits by tasks of a progress engine, the publisher has imported it.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#define WAITS_MOST	10000
#define ASLEEP_MS	10000		/* of the engine that sleeps */
#define ASLEEP_QUICK_MS	100
/* Values that are never reached. */
#define FAR		(UINT64_C(1) << 32)

static void need(const char *what, doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

#define NEED(call)	need(#call, call)

static struct doca_dev *open_dev(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t n;

	NEED(doca_devinfo_create_list(&list, &n));
	need("a device", n ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
	NEED(doca_dev_open(list[0], &dev));
	NEED(doca_devinfo_destroy_list(list));
	return dev;
}

/* ---- updates that nobody waits for ---------------------------------------------------- */

typedef doca_error_t update_fn(struct doca_sync_event *event, uint64_t n);

static doca_error_t update_set(struct doca_sync_event *event, uint64_t n)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t i;

	for (i = 0; i < n; i++)
		result |= doca_sync_event_update_set(event, i);
	return result;
}

static doca_error_t update_add(struct doca_sync_event *event, uint64_t n)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t i, before;

	for (i = 0; i < n; i++)
		result |= doca_sync_event_update_add(event, 1, &before);
	return result;
}

static int run_update(struct run *run)
{
	update_fn *const *update = run->arg;
	struct doca_dev *dev = open_dev();
	struct doca_sync_event *event;
	uint64_t from;

	NEED(doca_sync_event_create(&event));
	NEED(doca_sync_event_add_publisher_location_cpu(event, dev));
	NEED(doca_sync_event_add_subscriber_location_cpu(event, dev));
	NEED(doca_sync_event_start(event));
	pin(cpu_of(0));
	need("update", (*update)(event, 100));
	from = now_ns();
	need("update", (*update)(event, run->n));
	run->amount = now_ns() - from;
	unpin();
	NEED(doca_sync_event_stop(event));
	NEED(doca_sync_event_destroy(event));
	NEED(doca_dev_close(dev));
	return 0;
}

/* ---- an engine with waits ---------------------------------------------------------------- */

/**
 * struct waiting - an event, the engine that waits for it, and who publishes
 * @publisher: the same event, imported
 * @handle: the engine's, which is in
 * @set: an epoll file
 * @seen: the value that the last callback was for; the next wait is for one more
 */
struct waiting {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_sync_event *publisher;
	doca_notification_handle_t handle;
	int set;
	uint64_t seen;
};

static void reached(struct doca_sync_event_task_wait_eq *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct waiting *w = ctx_data.ptr;

	(void)task_data;
	w->seen++;
	doca_sync_event_task_wait_eq_set_wait_val(task, w->seen + 1);
	NEED(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)));
}

/* The context is stopping. */
static void flushed(struct doca_sync_event_task_wait_eq *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static void wait_for(struct waiting *w, uint64_t value)
{
	struct doca_sync_event_task_wait_eq *task;
	const union doca_data none = { .u64 = 0 };

	NEED(doca_sync_event_task_wait_eq_alloc_init(w->event, value, UINT64_MAX, none, &task));
	NEED(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)));
}

/* So many waits, of which the first is for 1. */
static void waiting_open(struct waiting *w, uint32_t waits)
{
	const union doca_data data = { .ptr = w };
	struct epoll_event event = { .events = EPOLLIN };
	const uint8_t *blob;
	size_t size;
	uint32_t i;

	w->dev = open_dev();
	NEED(doca_pe_create(&w->pe));
	NEED(doca_sync_event_create(&w->event));
	NEED(doca_sync_event_add_publisher_location_remote_pci(w->event));
	NEED(doca_sync_event_add_subscriber_location_cpu(w->event, w->dev));
	w->ctx = doca_sync_event_as_ctx(w->event);
	NEED(doca_sync_event_task_wait_eq_set_conf(w->event, reached, flushed, waits));
	NEED(doca_pe_connect_ctx(w->pe, w->ctx));
	NEED(doca_ctx_set_user_data(w->ctx, data));
	NEED(doca_ctx_start(w->ctx));
	NEED(doca_sync_event_export_to_remote_pci(w->event, w->dev, &blob, &size));
	NEED(doca_sync_event_create_from_export(w->dev, blob, size, &w->publisher));
	NEED(doca_sync_event_start(w->publisher));
	wait_for(w, 1);
	for (i = 1; i < waits; i++)
		wait_for(w, FAR + i);
	NEED(doca_pe_get_notification_handle(w->pe, &w->handle));
	w->set = epoll_create1(EPOLL_CLOEXEC);
	if (w->set < 0 || epoll_ctl(w->set, EPOLL_CTL_ADD, w->handle, &event))
		die("epoll", errno);
}

static void waiting_close(struct waiting *w)
{
	enum doca_ctx_states state;
	doca_error_t result;

	close(w->set);
	NEED(doca_sync_event_stop(w->publisher));
	NEED(doca_sync_event_destroy(w->publisher));
	result = doca_ctx_stop(w->ctx);
	if (result != DOCA_ERROR_IN_PROGRESS)
		need("doca_ctx_stop", result);
	do {
		(void)doca_pe_progress(w->pe);
		NEED(doca_ctx_get_state(w->ctx, &state));
	} while (state != DOCA_CTX_STATE_IDLE);
	NEED(doca_sync_event_destroy(w->event));
	NEED(doca_pe_destroy(w->pe));
	NEED(doca_dev_close(w->dev));
}

/* ---- progress: a wait among others ends ---------------------------------------------------- */

static int run_progress(struct run *run)
{
	const unsigned int *waits = run->arg;
	struct waiting w = { .seen = 0 };
	uint64_t from, i;

	waiting_open(&w, *waits);
	/* Not before: threads that the library makes run where the one that makes them may. */
	pin(cpu_of(0));
	from = now_ns();
	for (i = 1; i <= run->n; i++) {
		NEED(doca_sync_event_update_set(w.publisher, i));
		while (w.seen < i)
			(void)doca_pe_progress(w.pe);
	}
	run->amount = now_ns() - from;
	unpin();
	waiting_close(&w);
	return 0;
}

/* ---- callback: pair.c has the two threads ---------------------------------------------------- */

static int callback_open(struct channel *c)
{
	waiting_open((struct waiting *)(void *)c, 1);
	return 0;
}

static void callback_post(struct channel *c, uint64_t value)
{
	struct waiting *w = (void *)c;

	NEED(doca_sync_event_update_set(w->publisher, value));
}

static void callback_wait(struct channel *c, uint64_t value)
{
	struct waiting *w = (void *)c;
	struct epoll_event event;

	while (w->seen < value) {
		NEED(doca_pe_request_notification(w->pe));
		if (epoll_wait(w->set, &event, 1, -1) < 0 && errno != EINTR)
			die("epoll_wait", errno);
		NEED(doca_pe_clear_notification(w->pe, w->handle));
		while (doca_pe_progress(w->pe))
			;
	}
}

static void callback_close(struct channel *c)
{
	waiting_close((struct waiting *)(void *)c);
}

static const struct channel_ops callback_channel = {
	sizeof(struct waiting), callback_open, callback_post, callback_wait, callback_close,
};

static double cpu_ms(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static int count_asleep(const struct bench *bench, const struct options *options,
			struct result *result)
{
	const int ms = options->quick ? ASLEEP_QUICK_MS : ASLEEP_MS;
	struct waiting w = { .seen = 0 };
	struct epoll_event event;
	double before;
	int n;

	(void)bench;
	waiting_open(&w, 1);
	NEED(doca_pe_request_notification(w.pe));
	before = cpu_ms();
	n = epoll_wait(w.set, &event, 1, ms);
	add_count(result, "ms of CPU time in 10 s of an engine that sleeps",
		  (cpu_ms() - before) * ASLEEP_MS / ms, -1);
	add_count(result, "wake-ups of that engine", n, 0);
	waiting_close(&w);
	return 0;
}

/* ---- the benchmarks ----------------------------------------------------------------------- */

static update_fn *const updates[] = { update_set, update_add };
static const unsigned int one = 1, many = WAITS_MOST;

static const struct side set_sides[] = {
	{ .name = "update_set", .run = run_update, .arg = &updates[0], .ours = true },
	{ .name = "atomic exchange", .run = run_atomic, .arg = &bare_set },
	{ 0 }
};

static const struct target set_targets[] = {
	{ .ours = "update_set", .peer = "atomic exchange", .ratio = 1.5 },
	{ 0 }
};

static const struct side add_sides[] = {
	{ .name = "update_add", .run = run_update, .arg = &updates[1], .ours = true },
	{ .name = "atomic fetch_add", .run = run_atomic, .arg = &bare_add },
	{ 0 }
};

static const struct target add_targets[] = {
	{ .ours = "update_add", .peer = "atomic fetch_add", .ratio = 1.5 },
	{ 0 }
};

/* With itself, so one of the two has to be the peer. */
static const struct side progress_sides[] = {
	{ .name = "10000 waits", .run = run_progress, .arg = &many, .ours = true },
	{ .name = "one wait", .run = run_progress, .arg = &one },
	{ 0 }
};

static const struct target progress_targets[] = {
	{ .ours = "10000 waits", .peer = "one wait", .ratio = 3 },
	{ 0 }
};

static const struct side callback_sides[] = {
	{ .name = "callback", .run = run_channel, .arg = &callback_channel, .ours = true },
	{ .name = "eventfd", .run = run_channel, .arg = &eventfd_epoll_channel },
	{ 0 }
};

static const struct target callback_targets[] = {
	{ .ours = "callback", .peer = "eventfd", .ratio = 1.5 },
	{ 0 }
};

static const struct bench doca_benches[] = {
	{
		.name = "update_set",
		.what = "doca_sync_event_update_set() while nobody waits",
		.unit = "ns",
		.sides = set_sides,
		.targets = set_targets,
	},
	{
		.name = "update_add",
		.what = "doca_sync_event_update_add() while nobody waits",
		.unit = "ns",
		.sides = add_sides,
		.targets = add_targets,
	},
	{
		.name = "progress",
		.what = "an update and doca_pe_progress() to the callback of one wait, among others",
		.unit = "ns",
		.sides = progress_sides,
		.targets = progress_targets,
	},
	{
		.name = "callback",
		.what = "ping-pong of two threads with an engine in epoll_wait(2), each on a CPU of its own",
		.unit = "ns/round trip",
		.size = 2,
		.cpus = 2,
		.sides = callback_sides,
		.targets = callback_targets,
		.counts = count_asleep,
	},
	{
		.name = "callback-one-cpu",
		.what = "ping-pong of two threads with an engine in epoll_wait(2), both on the same CPU",
		.unit = "ns/round trip",
		.size = 1,
		.sides = callback_sides,
		.targets = callback_targets,
	},
	{ 0 }
};

int main(int argc, char **argv)
{
	static const struct bench *const groups[] = { doca_benches, NULL };

	return bench_main(argc, argv, false, groups);
}
