// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The tool's command line: what is understood makes sense, what is not is refused,
 * and nothing is done either way. Input: arguments, one a line.
 */
#include "fuzzer.h"

#include <stdbool.h>
#include <string.h>

#include "tool.h"

#define ARGS_MAX	64

static FILE *nowhere;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "w");
	CHECK(nowhere);
	return 0;
}

static bool is_one_of(const char *name, char *const *argv, int argc)
{
	int i;

	for (i = 1; i < argc; i++)
		if (name == argv[i])
			return true;
	return false;
}

static void judge(const struct tool_args *a, char *const *all, int argc)
{
	bool asks = a->help || a->usage || a->version;
	unsigned int i;

	CHECK(asks || a->verb != TOOL_NONE);
	CHECK(!a->provider || !strcmp(a->provider, "kernel") || !strcmp(a->provider, "shm"));
	CHECK(a->name_count < (unsigned int)argc);
	for (i = 0; i < a->name_count; i++)
		CHECK(is_one_of(a->names[i], all, argc));
	CHECK(a->mode <= 0777 && a->cond <= SYNCEVENT_LE && a->how <= SYNCEVENT_BLOCK);
	if (asks)
		return;
	switch (a->verb) {
	case TOOL_INFO:
	case TOOL_LIST:
	case TOOL_SELFTEST:
		CHECK(!a->name_count);
		break;
	case TOOL_RM:
		CHECK(a->name_count);
		break;
	case TOOL_CREATE:
	case TOOL_GET:
	case TOOL_SET:
	case TOOL_ADD:
	case TOOL_WAIT:
	case TOOL_WATCH:
		CHECK(a->name_count == 1);
		break;
	default:	/* it reads its arguments itself */
		break;
	}
	CHECK(a->cond_given == (a->verb == TOOL_WAIT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct balance before = balance();
	char *argv[ARGS_MAX + 2] = { strdup("syncevent") }, *all[ARGS_MAX + 2];
	FILE *was = stderr;
	struct tool_args args;
	int argc = 1, i, ret;

	while (size && argc <= ARGS_MAX) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		/* Of its exact size, so that a read beyond it is seen. */
		argv[argc] = strndup((const char *)data, length);
		CHECK(argv[argc++]);
		length += !!end;
		data += length;
		size -= length;
	}
	memcpy(all, argv, sizeof(all));

	stderr = nowhere;
	ret = tool_parse(argc, argv, &args);
	if (!ret && (args.help || args.usage))
		tool_help(&args, nowhere);
	stderr = was;

	CHECK(ret == 0 || ret == TOOL_USAGE);
	if (!ret)
		judge(&args, all, argc);
	for (i = 0; i < argc; i++)
		free(all[i]);
	check_balance(&before);
	return 0;
}
