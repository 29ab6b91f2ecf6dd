// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * selftest.c - whether this machine does what programs will ask of it
 *
 * A test gets 0, or a negative errno and where it came from.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

#define HANG_NS		(60 * 1000000000ULL)	/* nothing here takes long */
#define HANG_MS		60000

/* What the test that runs was doing last. */
static const char *step;

/* Goes on if @call succeeds; the step is what the call reads like. */
#define TRY(call) do {					\
	int try_err = (step = #call, (call));		\
							\
	if (try_err < 0)				\
		return try_err;				\
} while (0)

#define EXPECT(condition) TRY((condition) ? 0 : -EPROTO)

static struct syncevent_wait_opts patient(void)
{
	return (struct syncevent_wait_opts){
		.size = sizeof(struct syncevent_wait_opts),
		.deadline = tool_deadline(HANG_NS),
	};
}

static int update(struct syncevent *ev)
{
	uint64_t value = 1;

	TRY(syncevent_get(ev, &value));
	EXPECT(value == 0);
	TRY(syncevent_set(ev, 7));
	TRY(syncevent_add(ev, UINT64_MAX, &value));
	EXPECT(value == 7);
	TRY(syncevent_get(ev, &value));
	EXPECT(value == 6);
	return 0;
}

static int wait_here(struct syncevent *ev)
{
	struct syncevent_wait_opts opts = { .size = sizeof(opts) };
	uint64_t seen = 0;

	TRY(syncevent_set(ev, 0x105));
	TRY(syncevent_wait(ev, SYNCEVENT_EQ, 5, 0xff, &opts, &seen));
	EXPECT(seen == 0x105);
	EXPECT(syncevent_wait(ev, SYNCEVENT_GT, 0x105, UINT64_MAX, &opts, NULL) == -ETIMEDOUT);
	return 0;
}

/* The child waits for 1 and answers with 2. */
static int wait_for_child(struct syncevent *ev)
{
	struct syncevent_wait_opts opts = patient();
	int status = 0, err = 0;
	pid_t child;

	TRY(syncevent_set(ev, 0));
	step = "fork()";
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		err = syncevent_wait(ev, SYNCEVENT_GE, 1, UINT64_MAX, &opts, NULL);
		_exit(err || syncevent_set(ev, 2) ? 1 : 0);
	}
	step = "syncevent_wait() for the child";
	err = syncevent_set(ev, 1);
	if (!err)
		err = syncevent_wait(ev, SYNCEVENT_EQ, 2, UINT64_MAX, &opts, NULL);
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	if (!err && status)
		err = -ECHILD;
	return err;
}

static int poll_event(struct syncevent *ev)
{
	struct pollfd file = { .events = POLLIN };
	uint64_t value = 0;

	TRY(syncevent_set(ev, 0));
	TRY(syncevent_arm(ev, SYNCEVENT_GE, 10, UINT64_MAX));
	TRY(file.fd = syncevent_poll_fd(ev));
	EXPECT(syncevent_read(ev, &value) == -EAGAIN);
	TRY(syncevent_set(ev, 11));
	EXPECT(poll(&file, 1, HANG_MS) == 1 && file.revents & POLLIN);
	TRY(syncevent_read(ev, &value));
	EXPECT(value == 11);
	TRY(syncevent_disarm(ev));
	return 0;
}

static int use_queue(struct syncevent *ev, struct syncevent_queue *q)
{
	uint64_t deadline = tool_deadline(HANG_NS);
	struct syncevent_done done = { 0 };

	TRY(syncevent_set(ev, 0));
	TRY(syncevent_queue_add(q, ev, SYNCEVENT_EQ, 3, UINT64_MAX, 42, deadline));
	EXPECT(syncevent_queue_reap(q, &done, 1, 0) == -ETIMEDOUT);
	TRY(syncevent_set(ev, 3));
	TRY(syncevent_queue_reap(q, &done, 1, deadline));
	EXPECT(done.cookie == 42 && !done.status && done.value == 3);
	return 0;
}

static int wait_queue(struct syncevent *ev)
{
	struct syncevent_queue *q;
	int err;

	TRY(syncevent_queue_create(&q));
	err = use_queue(ev, q);
	syncevent_queue_close(q);
	return err;
}

static int use_name(const char *name, struct syncevent *made)
{
	uint64_t value = 0;
	struct syncevent *ev;
	int err;

	TRY(syncevent_set(made, 9));
	TRY(syncevent_open(&ev, name, O_RDONLY, 0, NULL));
	err = syncevent_get(ev, &value);
	if (!err && syncevent_set(ev, 1) != -EBADF)
		err = -EPROTO;
	syncevent_close(ev);
	TRY(err);
	EXPECT(value == 9);
	return 0;
}

static int named_event(struct syncevent *unused)
{
	struct syncevent *ev;
	char name[64];
	int err, gone;

	(void)unused;
	snprintf(name, sizeof(name), "selftest-%ld", (long)getpid());
	TRY(syncevent_open(&ev, name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
	err = use_name(name, ev);
	gone = syncevent_unlink(name);
	syncevent_close(ev);
	if (err)
		return err;
	TRY(gone);
	EXPECT(syncevent_open(&ev, name, O_RDONLY, 0, NULL) == -ENOENT);
	return 0;
}

/* The last one: it ends the event. */
static int revoke_event(struct syncevent *ev)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };

	TRY(syncevent_revoke(ev));
	EXPECT(syncevent_wait(ev, SYNCEVENT_GE, 0, UINT64_MAX, NULL, NULL) == -EIDRM);
	TRY(syncevent_stat(ev, &stat));
	EXPECT(stat.flags & SYNCEVENT_STAT_REVOKED);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct syncevent *ev);
} tests[] = {
	{ "get, set and add", update },
	{ "wait in one process", wait_here },
	{ "wait for another process", wait_for_child },
	{ "poll", poll_event },
	{ "wait queue", wait_queue },
	{ "named event", named_event },
	{ "revoke", revoke_event },
};
#define TESTS	(sizeof(tests) / sizeof(tests[0]))

/* ---- telling of it --------------------------------------------------------------------- */

static void report(struct json_object *array, unsigned int number, const char *name, int err)
{
	struct json_object *object;

	if (!array) {
		printf("%s %u - %s\n", err ? "not ok" : "ok", number, name);
		if (err)
			printf("# %s: %s\n", step, syncevent_strerror(err));
		return;
	}
	object = json_object_new_object();
	tool_json_text(object, "name", name);
	tool_json_bool(object, "ok", !err);
	if (err) {
		tool_json_text(object, "step", step);
		tool_json_text(object, "error", syncevent_strerror(err));
	}
	tool_json_append(array, object);
}

int tool_selftest(const struct tool_args *args)
{
	struct json_object *object = NULL, *array = NULL;
	struct syncevent *ev = NULL;
	unsigned int i, failed = 0;
	int err, status;

	if (args->json) {
		object = json_object_new_object();
		array = json_object_new_array();
	} else {
		printf("TAP version 13\n1..%zu\n", TESTS + 1);
		/* The child must not have it to print once more. */
		fflush(stdout);
	}
	step = "syncevent_create()";
	err = syncevent_create(&ev, NULL);
	report(array, 1, "create an event", err);
	if (err) {
		failed++;
		tool_fail("make an event", NULL, err);
	}
	for (i = 0; ev && i < TESTS; i++) {
		err = tests[i].run(ev);
		failed += err != 0;
		report(array, i + 2, tests[i].name, err);
		if (err == -ENODEV)
			tool_fail("use named events", NULL, err);
	}
	if (!ev && !args->json)
		puts("Bail out! Without an event there is nothing to test.");
	syncevent_close(ev);
	status = failed ? TOOL_ERROR : TOOL_OK;
	if (!args->json)
		return status;
	tool_json_bool(object, "ok", !failed);
	tool_json_member(object, "tests", array);
	return tool_json_print(object) ? TOOL_ERROR : status;
}
