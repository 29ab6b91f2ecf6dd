// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* watch.c - print each change that is observed */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static const int signals[] = { SIGINT, SIGTERM };
#define SIGNALS	(sizeof(signals) / sizeof(signals[0]))

/* The signals end the watch, and come only while ppoll() sleeps with @during. */
static void catch_signals(sigset_t *during)
{
	struct sigaction action = { .sa_handler = on_signal }, before;
	sigset_t blocked;
	size_t i;

	sigemptyset(&action.sa_mask);
	sigemptyset(&blocked);
	for (i = 0; i < SIGNALS; i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, during);
	for (i = 0; i < SIGNALS; i++) {
		sigdelset(during, signals[i]);
		/* nohup and the background of a script ignore them for good reason. */
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/* ppoll() lets no signal in if it need not sleep, as when changes come fast. */
static bool signal_waits(void)
{
	sigset_t pending;
	size_t i;

	if (sigpending(&pending))
		return false;
	for (i = 0; i < SIGNALS; i++)
		if (sigismember(&pending, signals[i]) == 1)
			return true;
	return false;
}

/* Returns what to exit with if the line did not get out, which may be 0, or -1. */
static int print_change(const struct tool_args *args, uint64_t value)
{
	struct json_object *object;
	struct timespec now;
	char text[32];
	struct tm tm;
	int status, err;

	clock_gettime(CLOCK_REALTIME, &now);
	if (args->json) {
		object = json_object_new_object();
		tool_json_text(object, "name", args->names[0]);
		tool_json_u64(object, "time_ns", (uint64_t)now.tv_sec * 1000000000 +
			      (uint64_t)now.tv_nsec);
		tool_json_u64(object, "value", value);
		status = tool_json_print(object);
		if (status)
			return status;
	} else {
		strftime(text, sizeof(text), "%F %T", localtime_r(&now.tv_sec, &tm));
		printf("%s.%06ld  %" PRIu64 "\n", text, now.tv_nsec / 1000, value);
	}
	err = tool_flush();
	if (err == -EPIPE)
		return TOOL_OK;		/* the reader has seen enough */
	return err ? tool_error("cannot write the change: %s", strerror(-err)) : -1;
}

/* 0: look at the event; -ETIMEDOUT; -ECANCELED: it is to end. */
static int sleep_for_change(int fd, uint64_t deadline, const sigset_t *mask)
{
	/* No events of stdout: POLLERR and POLLHUP tell that its reader is gone. */
	struct pollfd files[] = { { .fd = fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	struct timespec left = { 0 };
	uint64_t now;
	int ready;

	if (deadline != SYNCEVENT_FOREVER) {
		now = tool_now();
		if (now < deadline) {
			left.tv_sec = (time_t)((deadline - now) / 1000000000);
			left.tv_nsec = (long)((deadline - now) % 1000000000);
		}
	}
	ready = ppoll(files, 2, deadline == SYNCEVENT_FOREVER ? NULL : &left, mask);
	if (ready < 0 && errno != EINTR)
		return -errno;
	if (stop || (ready > 0 && (files[1].revents || signal_waits())))
		return -ECANCELED;
	return ready ? 0 : -ETIMEDOUT;
}

/*
 * Armed with "differs from what was printed last": whatever comes between two
 * calls, no change that lasts is missed.
 */
static int watch(const struct tool_args *args, struct syncevent *ev, const sigset_t *mask)
{
	uint64_t deadline = tool_deadline(args->timeout);
	uint64_t value = 0, changes = 0;
	int status, err, fd;

	fd = syncevent_poll_fd(ev);
	err = fd < 0 ? fd : syncevent_get(ev, &value);
	for (; !err; changes++) {
		status = print_change(args, value);
		if (status >= 0 || (args->count && changes == args->count))
			return status >= 0 ? status : TOOL_OK;
		err = syncevent_arm(ev, SYNCEVENT_NEQ, value, UINT64_MAX);
		while (!err) {
			err = sleep_for_change(fd, deadline, mask);
			if (err)
				break;
			err = syncevent_read(ev, &value);
			if (err != -EAGAIN)
				break;
			err = 0;
		}
	}
	switch (err) {
	case -ECANCELED:
		return TOOL_OK;
	case -ETIMEDOUT:
		return TOOL_TIMEOUT;
	default:
		return tool_fail_event(args, "watch", err);
	}
}

int tool_watch(const struct tool_args *args)
{
	struct syncevent *ev;
	sigset_t during;
	int status, err;

	/* Before the library makes a thread, which inherits what is blocked. */
	catch_signals(&during);
	err = tool_open(args, O_RDONLY, &ev);
	if (err)
		return tool_fail_event(args, "open the event", err);
	status = watch(args, ev, &during);
	syncevent_close(ev);
	return status;
}
