// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * args.c - from the command line to struct tool_args
 *
 * The options that all verbs have may stand before the verb and behind it: main_argp
 * reads up to the verb, the verb's own argp, with common_argp below it, the rest.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tool.h"

/* Keys of options that have no short form. */
enum {
	KEY_USAGE = 0x100,
	KEY_HOW,
	KEY_SILENT,
	KEY_REVOKE,
	KEY_READ_ONLY,
	KEY_HOLD,
	KEY_COND,		/* + enum syncevent_cond */
	KEY_COND_LAST = KEY_COND + SYNCEVENT_LE,
};

/* Prints what is wrong behind the name of the command. */
#define REFUSE(state, ...) (argp_error(state, __VA_ARGS__), EINVAL)

/* ---- what all have in common ------------------------------------------------------ */

static const struct argp_option common_options[] = {
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "provider", 'p', "PROVIDER", 0,
	  "Use events of \"kernel\" (the module) or of \"shm\" (no module needed)", 0 },
	{ "help", 'h', NULL, 0, "Print this help", 0 },
	{ "usage", KEY_USAGE, NULL, 0, "Print the options", 0 },
	{ "version", 'V', NULL, 0, "Print the version", 0 },
	{ 0 }
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	switch (key) {
	case 'j':
		args->json = true;
		return 0;
	case 'p':
		if (strcmp(arg, "kernel") && strcmp(arg, "shm"))
			return REFUSE(state, "the provider is \"kernel\" or \"shm\"");
		args->provider = arg;
		return 0;
	case 'h':
		args->help = true;
		return 0;
	case KEY_USAGE:
		args->usage = true;
		return 0;
	case 'V':
		args->version = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp common_argp = { .options = common_options, .parser = parse_common };

static const struct argp_child common_child[] = {
	{ &common_argp, 0, "Common options:", 10 },
	{ 0 }
};

/* Of the verbs that events between machines have too. */
static const struct argp_option on_options[] = {
	{ "on", 'o', "PCI", 0,
	  "In memory that machines share: the PCI address of its device here, as "
	  "\"syncevent peers\" tells", 0 },
	{ 0 }
};

static error_t parse_on(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case 'o':
		args->on = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp on_argp = {
	.options = on_options, .parser = parse_on, .children = common_child,
};

static const struct argp_child on_child[] = {
	{ &on_argp, 0, "Where:", 9 },
	{ 0 }
};

/* ---- values ---------------------------------------------------------------------------- */

static error_t read_value(struct argp_state *state, const char *arg, const char *what,
			  uint64_t *value)
{
	char text[TOOL_TEXT_MAX];

	if (tool_read_u64(arg, value))
		return 0;
	return REFUSE(state, "the %s must be a number from 0 to %" PRIu64
		      " (0x for hexadecimal), not '%s'", what, UINT64_MAX,
		      tool_escape(arg, text, sizeof(text)));
}

static error_t read_timeout(struct argp_state *state, const char *arg)
{
	struct tool_args *args = state->input;
	char text[TOOL_TEXT_MAX];

	if (tool_read_duration(arg, &args->timeout))
		return 0;
	return REFUSE(state, "a time is like 2s, 0.5s, 100ms, 50us, 10ns, 1m or 1h, not '%s'",
		      tool_escape(arg, text, sizeof(text)));
}

/* An argument that is the name of an event, of which the verb takes @most. */
static error_t take_name(struct argp_state *state, unsigned int most)
{
	struct tool_args *args = state->input;
	char text[TOOL_TEXT_MAX];

	if (args->name_count == most)
		return REFUSE(state, "'%s' is one argument too many",
			      tool_escape(state->argv[state->next - 1], text, sizeof(text)));
	/* Options may stand between them; they are brought together here. */
	if (!args->name_count)
		args->names = &state->argv[state->next - 1];
	else
		args->names[args->name_count] = state->argv[state->next - 1];
	args->name_count++;
	return 0;
}

static bool asks_for_help(const struct tool_args *args)
{
	return args->help || args->usage || args->version;
}

static error_t need_name(struct argp_state *state)
{
	const struct tool_args *args = state->input;

	if (args->name_count || asks_for_help(args))
		return 0;
	return REFUSE(state, "the name of an event is missing");
}

/*
 * What most verbs do: @most names, at least one if any, and nothing else. Every
 * argp has the common options as its child, with the same input.
 */
static error_t parse_names(int key, struct argp_state *state, unsigned int most)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case ARGP_KEY_ARG:
		return take_name(state, most);
	case ARGP_KEY_END:
		return most ? need_name(state) : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_nothing(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	return parse_names(key, state, 0);
}

static error_t parse_name(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	return parse_names(key, state, 1);
}

/* ---- the verbs ---------------------------------------------------------------------------- */

static const struct argp info_argp = {
	.parser = parse_nothing, .children = common_child,
	.doc = "Tell which provider is used, what it guarantees, and its limits.",
};

static const struct argp list_argp = {
	.parser = parse_nothing, .children = common_child,
	.doc = "List the named events.",
};

static const struct argp selftest_argp = {
	.parser = parse_nothing, .children = common_child,
	.doc = "Try on this machine what programs will do with events.",
};

static const struct argp get_argp = {
	.parser = parse_name, .children = on_child, .args_doc = "NAME",
	.doc = "Print the value.",
};

static const struct argp_option create_options[] = {
	{ "value", 'v', "VALUE", 0, "First value (default: 0)", 0 },
	{ "mode", 'm', "MODE", 0, "Who may open it, as for chmod(1) (default: 0600)", 0 },
	{ "silent", KEY_SILENT, NULL, 0,
	  "It may be updated by what cannot ring, a device: waiters look now and then", 0 },
	{ "payload", 'P', "N", 0, "Between machines: with N pages of 4096 bytes that they share", 0 },
	{ "hold", KEY_HOLD, "TIME", 0,
	  "Between machines: how long to hold it (default: until it is stopped)", 0 },
	{ 0 }
};

static error_t parse_create(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	switch (key) {
	case 'v':
		return read_value(state, arg, "value", &args->value);
	case 'm':
		if (!tool_read_mode(arg, &args->mode))
			return REFUSE(state, "a mode is octal, from 0 to 0777");
		return 0;
	case KEY_SILENT:
		args->silent = true;
		return 0;
	case 'P':
		return read_value(state, arg, "number of pages", &args->pages);
	case KEY_HOLD:
		return read_timeout(state, arg);
	case ARGP_KEY_END:
		if (!args->on && (args->pages || args->timeout != SYNCEVENT_FOREVER))
			return REFUSE(state, "--payload and --hold go with --on");
		return parse_names(key, state, 1);
	default:
		return parse_names(key, state, 1);
	}
}

static const struct argp create_argp = {
	.options = create_options, .parser = parse_create, .children = on_child,
	.args_doc = "NAME", .doc = "Make an event. It is an error if there is one of that name.\v"
	"An event between machines (--on) has no file that keeps it: it lives as long as "
	"this command, which goes on until it is stopped.",
};

static error_t parse_set(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num == 1)
			return read_value(state, arg, "value", &args->value);
		return take_name(state, 1);
	case ARGP_KEY_END:
		if (args->name_count && state->arg_num < 2 && !asks_for_help(args))
			return REFUSE(state, "the value is missing");
		return need_name(state);
	default:
		return parse_names(key, state, 1);
	}
}

static const struct argp set_argp = {
	.parser = parse_set, .children = on_child, .args_doc = "NAME VALUE",
	.doc = "Store a value and wake who waits for it.",
};

static error_t parse_add(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		args->value = 1;
		return parse_names(key, state, 1);
	case ARGP_KEY_ARG:
		if (state->arg_num == 1)
			return read_value(state, arg, "number to add", &args->value);
		return take_name(state, 1);
	default:
		return parse_names(key, state, 1);
	}
}

static const struct argp add_argp = {
	.parser = parse_add, .children = on_child, .args_doc = "NAME [NUMBER]",
	.doc = "Add a number (default: 1) modulo 2^64, wake who waits for the sum, and print it.",
};

static const struct argp_option wait_options[] = {
	{ NULL, 0, NULL, 0, "The condition, one of them, on (value & MASK), unsigned:", 1 },
	{ "eq", KEY_COND + SYNCEVENT_EQ, "N", 0, "Equal to N", 1 },
	{ "ne", KEY_COND + SYNCEVENT_NEQ, "N", 0, "Not equal to N", 1 },
	{ "gt", KEY_COND + SYNCEVENT_GT, "N", 0, "Greater than N", 1 },
	{ "ge", KEY_COND + SYNCEVENT_GE, "N", 0, "Greater than N or equal", 1 },
	{ "lt", KEY_COND + SYNCEVENT_LT, "N", 0, "Less than N", 1 },
	{ "le", KEY_COND + SYNCEVENT_LE, "N", 0, "Less than N or equal", 1 },
	{ NULL, 0, NULL, 0, "How:", 2 },
	{ "mask", 'm', "MASK", 0, "Look at these bits only (default: all)", 2 },
	{ "timeout", 't', "TIME", 0,
	  "Give up after 2s, 100ms, 1m, ...; 0 looks once (default: never)", 2 },
	{ "how", KEY_HOW, "WAY", 0,
	  "\"spin\", \"yield\", \"block\", or \"adaptive\": spin a little, then block "
	  "(the default)", 2 },
	{ 0 }
};

static error_t read_how(struct argp_state *state, const char *arg)
{
	static const char *const ways[] = {
		[SYNCEVENT_ADAPTIVE] = "adaptive",
		[SYNCEVENT_SPIN] = "spin",
		[SYNCEVENT_YIELD] = "yield",
		[SYNCEVENT_BLOCK] = "block",
	};
	struct tool_args *args = state->input;
	unsigned int i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!strcmp(arg, ways[i])) {
			args->how = (enum syncevent_how)i;
			return 0;
		}
	}
	return REFUSE(state, "the way to wait is spin, yield, block or adaptive");
}

static error_t parse_wait(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	if (key >= KEY_COND && key <= KEY_COND_LAST) {
		if (args->cond_given)
			return REFUSE(state, "a wait has one condition only");
		args->cond_given = true;
		args->cond = (enum syncevent_cond)(key - KEY_COND);
		return read_value(state, arg, "number to compare with", &args->operand);
	}
	switch (key) {
	case 'm':
		return read_value(state, arg, "mask", &args->mask);
	case 't':
		return read_timeout(state, arg);
	case KEY_HOW:
		return read_how(state, arg);
	case ARGP_KEY_END:
		if (args->name_count && !args->cond_given && !asks_for_help(args))
			return REFUSE(state, "what to wait for is missing: "
				      "--eq, --ne, --gt, --ge, --lt or --le");
		return need_name(state);
	default:
		return parse_names(key, state, 1);
	}
}

static const struct argp wait_argp = {
	.options = wait_options, .parser = parse_wait, .children = on_child,
	.args_doc = "NAME", .doc = "Wait until a condition holds and print the value that satisfied it.",
};

static const struct argp_option watch_options[] = {
	{ "count", 'n', "N", 0, "End after N changes", 0 },
	{ "timeout", 't', "TIME", 0, "End after 2s, 100ms, 1m, ...", 0 },
	{ 0 }
};

static error_t parse_watch(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;
	error_t error;

	switch (key) {
	case 'n':
		error = read_value(state, arg, "number of changes", &args->count);
		if (!error && !args->count)
			return REFUSE(state, "the number of changes must be at least 1");
		return error;
	case 't':
		return read_timeout(state, arg);
	default:
		return parse_names(key, state, 1);
	}
}

static const struct argp watch_argp = {
	.options = watch_options, .parser = parse_watch, .children = on_child,
	.args_doc = "NAME", .doc = "Print the value, and again each time it is seen to differ.",
};

static const struct argp_option rm_options[] = {
	{ "revoke", KEY_REVOKE, NULL, 0,
	  "End the event too: who waits for it, and uses it later, is told", 0 },
	{ 0 }
};

static error_t parse_rm(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	(void)arg;
	if (key != KEY_REVOKE)
		return parse_names(key, state, UINT32_MAX);
	args->revoke = true;
	return 0;
}

static const struct argp rm_argp = {
	.options = rm_options, .parser = parse_rm, .children = common_child,
	.args_doc = "NAME...", .doc = "Remove names. Whoever has the event open can go on using it.",
};

static const struct argp peers_argp = {
	.parser = parse_nothing, .children = common_child,
	.doc = "List the machines with which this one shares memory of a PCI device.",
};

static const struct argp_option export_options[] = {
	{ "read-only", KEY_READ_ONLY, NULL, 0, "Who has it may read and wait only", 0 },
	{ 0 }
};

static error_t parse_export(int key, char *arg, struct argp_state *state)
{
	struct tool_args *args = state->input;

	(void)arg;
	switch (key) {
	case KEY_READ_ONLY:
		args->read_only = true;
		return 0;
	case ARGP_KEY_END:
		if (args->name_count && !args->on && !asks_for_help(args))
			return REFUSE(state, "--on is missing: which device?");
		return need_name(state);
	default:
		return parse_names(key, state, 1);
	}
}

static const struct argp export_argp = {
	.options = export_options, .parser = parse_export, .children = on_child,
	.args_doc = "NAME", .doc = "Print an event that this machine made as a blob, for "
	"programs of all machines that share the memory. Who has it can use the event.",
};

static const struct argp import_argp = {
	.parser = parse_name, .children = common_child, .args_doc = "BLOB",
	.doc = "Open the event of a blob, and tell what it is. \"-\" reads it from stdin.",
};

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct {
	const char *name;	/* with the command's, for help and messages */
	const struct argp *argp;
} verbs[] = {
	[TOOL_INFO] = { "syncevent info", &info_argp },
	[TOOL_CREATE] = { "syncevent create", &create_argp },
	[TOOL_GET] = { "syncevent get", &get_argp },
	[TOOL_SET] = { "syncevent set", &set_argp },
	[TOOL_ADD] = { "syncevent add", &add_argp },
	[TOOL_WAIT] = { "syncevent wait", &wait_argp },
	[TOOL_WATCH] = { "syncevent watch", &watch_argp },
	[TOOL_LIST] = { "syncevent list", &list_argp },
	[TOOL_RM] = { "syncevent rm", &rm_argp },
	[TOOL_PEERS] = { "syncevent peers", &peers_argp },
	[TOOL_EXPORT] = { "syncevent export", &export_argp },
	[TOOL_IMPORT] = { "syncevent import", &import_argp },
	[TOOL_SELFTEST] = { "syncevent selftest", &selftest_argp },
	/* It reads its arguments itself, --help among them. */
	[TOOL_BENCH] = { "syncevent bench", NULL },
};
#define VERBS	(sizeof(verbs) / sizeof(verbs[0]))

/* What follows the verb in argv is left for its own argp. */
struct main_input {
	struct tool_args *args;
	int verb_index;
};

static error_t parse_main(int key, char *arg, struct argp_state *state)
{
	struct main_input *input = state->input;
	char text[TOOL_TEXT_MAX];
	unsigned int i;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = input->args;
		return 0;
	case ARGP_KEY_ARG:
		for (i = TOOL_NONE + 1; i < VERBS; i++) {
			if (strcmp(arg, strchr(verbs[i].name, ' ') + 1))
				continue;
			input->args->verb = (enum tool_verb)i;
			input->verb_index = state->next - 1;
			state->next = state->argc;
			return 0;
		}
		return REFUSE(state, "there is no command '%s'",
			      tool_escape(arg, text, sizeof(text)));
	case ARGP_KEY_NO_ARGS:
		if (asks_for_help(input->args))
			return 0;
		return REFUSE(state, "the command is missing");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp main_argp = {
	.parser = parse_main, .children = common_child,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = "64-bit events that processes update, read and wait on.\n\n"
	"  info       which provider is used, what it guarantees, its limits\n"
	"  create     make an event\n"
	"  get        print its value\n"
	"  set        store a value\n"
	"  add        add to the value\n"
	"  wait       wait until the value satisfies a condition\n"
	"  watch      print each change\n"
	"  list       list the events\n"
	"  rm         remove events\n"
	"  peers      list the machines that share memory with this one\n"
	"  export     print an event of such memory as a blob\n"
	"  import     tell which event a blob is\n"
	"  bench      measure beside futexes, eventfds and others\n"
	"  selftest   try this machine\n\n"
	"\"syncevent COMMAND --help\" tells more.\v"
	"Exit status: 0, or 1 error, 2 usage, 3 the event was revoked or the peer died, "
	"124 time-out.\n\n"
	"Example, in two shells:\n\n"
	"  $ syncevent create job; syncevent wait job --ge 3\n"
	"  $ syncevent add job 3",
};

int tool_parse(int argc, char **argv, struct tool_args *args)
{
	struct main_input input = { .args = args };
	/* An option is where it stands, whatever POSIXLY_CORRECT says. */
	const unsigned int flags = ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER;
	static char command[] = "syncevent";
	char *none[] = { command, NULL };

	*args = (struct tool_args){
		.mode = 0600,
		.mask = UINT64_MAX,
		.how = SYNCEVENT_ADAPTIVE,
		.timeout = SYNCEVENT_FOREVER,
	};
	if (argc < 1) {
		argc = 1;
		argv = none;
	}
	if (argp_parse(&main_argp, argc, argv, flags, NULL, &input))
		return TOOL_USAGE;
	if (args->verb == TOOL_NONE)
		return 0;

	/* Messages begin with argv[0]. */
	argc -= input.verb_index;
	argv += input.verb_index;
	argv[0] = (char *)(uintptr_t)verbs[args->verb].name;
	if (args->verb == TOOL_BENCH) {
		args->bench_argc = argc;
		args->bench_argv = argv;
		return 0;
	}
	return argp_parse(verbs[args->verb].argp, argc, argv, flags, NULL, args) ? TOOL_USAGE : 0;
}

void tool_help(const struct tool_args *args, FILE *stream)
{
	static char command[] = "syncevent";
	bool main = !verbs[args->verb].argp;

	argp_help(main ? &main_argp : verbs[args->verb].argp, stream,
		  args->help ? ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG :
			       ARGP_HELP_USAGE,
		  main ? command : (char *)(uintptr_t)verbs[args->verb].name);
}
