// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* run.c - carry out a command line that was understood */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bench/bench.h"
#include "tool.h"

#ifndef TOOL_VERSION
#error "the build says what TOOL_VERSION is"
#endif

/* Prints {"name": @name, @key: @value}, or the value alone. */
static int print_value(const struct tool_args *args, const char *name, uint64_t value)
{
	struct json_object *object;

	if (!args->json) {
		printf("%" PRIu64 "\n", value);
		return TOOL_OK;
	}
	object = json_object_new_object();
	tool_json_text(object, "name", name);
	tool_json_u64(object, "value", value);
	return tool_json_print(object);
}

int tool_open(const struct tool_args *args, int flags, struct syncevent **ev)
{
	if (args->on)
		return syncevent_import_name(ev, args->on, args->names[0],
					     flags == O_RDONLY ? SYNCEVENT_RDONLY : 0);
	return syncevent_open(ev, args->names[0], flags, 0, NULL);
}

static int tool_create(const struct tool_args *args)
{
	struct syncevent_attr attr = {
		.size = sizeof(attr),
		.flags = args->silent ? SYNCEVENT_SILENT : 0,
		.value = args->value,
	};
	const char *name = args->names[0];
	struct syncevent *ev;
	int err;

	/* The mode is the one that was asked for, as with mkfifo -m. */
	umask(0);
	err = syncevent_open(&ev, name, O_RDWR | O_CREAT | O_EXCL, args->mode, &attr);
	if (err)
		return tool_fail("make the event", name, err);
	syncevent_close(ev);
	return args->json ? print_value(args, name, args->value) : TOOL_OK;
}

static int tool_get(const struct tool_args *args)
{
	const char *name = args->names[0];
	struct syncevent *ev;
	uint64_t value = 0;
	int err;

	err = tool_open(args, O_RDONLY, &ev);
	if (err)
		return tool_fail_event(args, "open the event", err);
	err = syncevent_get(ev, &value);
	syncevent_close(ev);
	if (err)
		return tool_fail_event(args, "get the value of", err);
	return print_value(args, name, value);
}

static int tool_set(const struct tool_args *args)
{
	const char *name = args->names[0];
	struct syncevent *ev;
	int err;

	err = tool_open(args, O_RDWR, &ev);
	if (err)
		return tool_fail_event(args, "update the event", err);
	err = syncevent_set(ev, args->value);
	syncevent_close(ev);
	if (err)
		return tool_fail_event(args, "set", err);
	return args->json ? print_value(args, name, args->value) : TOOL_OK;
}

static int tool_add(const struct tool_args *args)
{
	const char *name = args->names[0];
	struct syncevent *ev;
	char text[TOOL_TEXT_MAX];
	uint64_t old = 0;
	int err;

	err = tool_open(args, O_RDWR, &ev);
	if (err)
		return tool_fail_event(args, "update the event", err);
	err = syncevent_add(ev, args->value, &old);
	syncevent_close(ev);
	if (err == -EOPNOTSUPP)
		return tool_error("cannot add to '%s': that works on its home machine alone; "
				  "others can set it", tool_escape(name, text, sizeof(text)));
	if (err)
		return tool_fail_event(args, "add to", err);
	return print_value(args, name, old + args->value);
}

/* With --json the outcomes that are no error of the command are results too. */
static int print_outcome(const struct tool_args *args, const char *outcome, int status)
{
	struct json_object *object;
	int failed;

	if (!args->json)
		return status;
	object = json_object_new_object();
	tool_json_text(object, "name", args->names[0]);
	tool_json_text(object, "result", outcome);
	failed = tool_json_print(object);
	return failed ? failed : status;
}

static int tool_wait(const struct tool_args *args)
{
	struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.deadline = tool_deadline(args->timeout),
		.how = args->how,
	};
	const char *name = args->names[0];
	char text[TOOL_TEXT_MAX];
	struct syncevent *ev;
	uint64_t value = 0;
	int err;

	err = tool_open(args, O_RDONLY, &ev);
	if (err == -EIDRM)
		return print_outcome(args, "revoked", tool_fail_event(args, "open the event", err));
	if (err)
		return tool_fail_event(args, "open the event", err);
	err = syncevent_wait(ev, args->cond, args->operand, args->mask, &opts, &value);
	if (err == -ETIMEDOUT && !syncevent_get(ev, &value))
		tool_error("timed out; the value of '%s' is %" PRIu64,
			   tool_escape(name, text, sizeof(text)), value);
	syncevent_close(ev);
	switch (err) {
	case 0:
		return print_value(args, name, value);
	case -ETIMEDOUT:
		return print_outcome(args, "timeout", TOOL_TIMEOUT);
	case -EIDRM:
		return print_outcome(args, "revoked", tool_fail_event(args, "wait for", err));
	case -EPIPE:
		return print_outcome(args, "peer died", tool_fail_event(args, "wait for", err));
	default:
		return tool_fail_event(args, "wait for", err);
	}
}

static int revoke_event(const char *name)
{
	struct syncevent *ev;
	int err;

	err = syncevent_open(&ev, name, O_RDWR, 0, NULL);
	if (!err) {
		err = syncevent_revoke(ev);
		syncevent_close(ev);
	}
	return err == -EIDRM ? 0 : err;
}

static int tool_rm(const struct tool_args *args)
{
	struct json_object *object = NULL, *removed = NULL;
	int status = TOOL_OK, failed, err;
	unsigned int i;

	if (args->json) {
		object = json_object_new_object();
		removed = json_object_new_array();
	}
	for (i = 0; i < args->name_count; i++) {
		err = args->revoke ? revoke_event(args->names[i]) : 0;
		if (err) {
			status = tool_fail("revoke the event", args->names[i], err);
			continue;
		}
		err = syncevent_unlink(args->names[i]);
		if (err)
			status = tool_fail("remove the event", args->names[i], err);
		else if (args->json)
			tool_json_append(removed, tool_json_string(args->names[i]));
	}
	if (!args->json)
		return status;
	tool_json_member(object, "removed", removed);
	failed = tool_json_print(object);
	return failed ? failed : status;
}

/*
 * A file that takes the place of a closed stdin, stdout or stderr must not be an
 * event, to which printf() would then add. What is opened instead cannot be used.
 */
static int fill_standard_files(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return -errno;
	return 0;
}

static int run_verb(const struct tool_args *args)
{
	switch (args->verb) {
	case TOOL_NONE:
		break;
	case TOOL_INFO:
		return tool_info(args);
	case TOOL_CREATE:
		return args->on ? tool_create_on(args) : tool_create(args);
	case TOOL_GET:
		return tool_get(args);
	case TOOL_SET:
		return tool_set(args);
	case TOOL_ADD:
		return tool_add(args);
	case TOOL_WAIT:
		return tool_wait(args);
	case TOOL_WATCH:
		return tool_watch(args);
	case TOOL_LIST:
		return tool_list(args);
	case TOOL_RM:
		return tool_rm(args);
	case TOOL_PEERS:
		return tool_peers(args);
	case TOOL_EXPORT:
		return tool_export(args);
	case TOOL_IMPORT:
		return tool_import(args);
	case TOOL_SELFTEST:
		return tool_selftest(args);
	case TOOL_BENCH:
		return syncevent_bench_main(args->bench_argc, args->bench_argv, args->json);
	}
	return TOOL_OK;
}

int tool_run(const struct tool_args *args)
{
	int status = TOOL_OK, err;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	err = fill_standard_files();
	if (err)
		return tool_error("cannot open /dev/null: %s", strerror(-err));
	if (args->provider && setenv("SYNCEVENT_PROVIDER", args->provider, 1))
		return tool_error("cannot choose the provider: %s", strerror(errno));

	if (args->help || args->usage)
		tool_help(args, stdout);
	else if (args->version)
		puts("syncevent " TOOL_VERSION);
	else
		status = run_verb(args);

	err = tool_flush();
	return err ? tool_error("cannot write the result: %s", strerror(-err)) : status;
}

int syncevent_tool_main(int argc, char **argv)
{
	struct tool_args args;
	int status = tool_parse(argc, argv, &args);

	return status ? status : tool_run(&args);
}
