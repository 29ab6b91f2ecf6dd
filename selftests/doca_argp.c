// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_argp.c - the command line of DOCA programs: flags, files of flags, what is refused
 *
 * A program with a flag of each kind runs in a child for each command line; what its
 * callbacks are given is what it prints.
 */
#include <doca_argp.h>
#include <doca_log.h>

#include "child.h"

DOCA_LOG_REGISTER(TEST);

/* ---- the program --------------------------------------------------------------------- */

#define ARGS_MAX	16

/**
 * struct line - a command line
 * @args: behind the name of the program
 * @init: before the start, or NULL
 */
struct line {
	const char *args[ARGS_MAX];
	void (*init)(void);
};

static doca_error_t on_text(void *value, void *config)
{
	printf("text=%s config=%s\n", (char *)value, (char *)config);
	return strcmp(value, "refuse") ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG;
}

static doca_error_t on_number(void *value, void *config)
{
	(void)config;
	printf("number=%d\n", *(int *)value);
	return DOCA_SUCCESS;
}

static doca_error_t on_switch(void *value, void *config)
{
	(void)config;
	printf("switch=%d\n", *(bool *)value);
	return DOCA_SUCCESS;
}

static doca_error_t on_object(void *value, void *config)
{
	(void)config;
	printf("object=%s\n", (char *)value);
	return DOCA_SUCCESS;
}

static struct doca_argp_param *make(const char *short_name, const char *long_name,
				    enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	struct doca_argp_param *param;

	if (doca_argp_param_create(&param) != DOCA_SUCCESS)
		exit(1);
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "describes");
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	return param;
}

static void add(struct doca_argp_param *param)
{
	if (doca_argp_register_param(param) != DOCA_SUCCESS)
		exit(2);
}

static void add_all(void)
{
	struct doca_argp_param *param;

	param = make("t", "text", DOCA_ARGP_TYPE_STRING, on_text);
	doca_argp_param_set_arguments(param, "<words>");
	doca_argp_param_set_multiplicity(param);
	add(param);
	add(make("n", "number", DOCA_ARGP_TYPE_INT, on_number));
	add(make(NULL, "switch", DOCA_ARGP_TYPE_BOOLEAN, on_switch));
	add(make(NULL, "object", DOCA_ARGP_TYPE_JSON_OBJ, on_object));
	param = make(NULL, "line-only", DOCA_ARGP_TYPE_INT, on_number);
	doca_argp_param_set_cli_only(param);
	add(param);
	param = make("x", NULL, DOCA_ARGP_TYPE_BOOLEAN, on_switch);
	doca_argp_param_set_singular(param);
	doca_argp_param_set_inherited(param);
	add(param);
	param = make(NULL, "secret", DOCA_ARGP_TYPE_BOOLEAN, on_switch);
	doca_argp_param_set_hidden(param);
	add(param);
}

static void program(void *arg)
{
	const struct line *line = arg;
	char *argv[ARGS_MAX + 2] = { "/bin/dir/prog" };
	struct doca_log_backend *sdk;
	doca_error_t result;
	int argc = 1, i;

	while (line->args[argc - 1]) {
		argv[argc] = (char *)(uintptr_t)line->args[argc - 1];
		argc++;
	}
	doca_log_backend_create_standard();
	doca_log_backend_create_with_file_sdk(stderr, &sdk);
	if (doca_argp_init(NULL, "mine") != DOCA_SUCCESS)
		exit(3);
	add_all();
	if (line->init)
		line->init();
	result = doca_argp_start(argc, argv);
	/* It is left as it was. */
	for (i = 1; i < argc; i++)
		if (argv[i] != line->args[i - 1])
			exit(4);
	DOCA_LOG_DBG("debug");
	DOCA_LOG_INFO("info");
	if (doca_argp_start(argc, argv) != DOCA_ERROR_BAD_STATE ||
	    doca_argp_destroy() != DOCA_SUCCESS)
		exit(5);
	exit(result == DOCA_SUCCESS ? 0 : 50 + (int)result);
}

FIXTURE(argp)
{
	struct said said;
	char folder[32];
	char path[64];
};

FIXTURE_SETUP(argp)
{
	strcpy(self->folder, "/tmp/doca_argp.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	snprintf(self->path, sizeof(self->path), "%s/flags.json", self->folder);
}

FIXTURE_TEARDOWN(argp)
{
	unlink(self->path);
	rmdir(self->folder);
}

#define RUN(...) child_run(&self->said, program, &(struct line){ .args = { __VA_ARGS__ } })

#define HAS(text, part) \
	EXPECT_NE(NULL, strstr(text, part)) { \
		TH_LOG("wanted: %s\nthere is: %s", part, text); \
	}

/* Refused with this message, and the usage, before any callback. */
#define REFUSED(message) do {				\
	EXPECT_EQ(1, self->said.status);		\
	HAS(self->said.err, "prog: " message);		\
	HAS(self->said.err, "\nUsage: prog [DOCA Flags] [Program Flags]\n"); \
	EXPECT_STREQ("", self->said.out);		\
} while (0)

/* Only the lines of the callbacks. */
static void no_logs(char *text)
{
	while (*text) {
		char *next = strchr(text, '\n') + 1;

		if (*text == '[')
			memmove(text, next, strlen(next) + 1);
		else
			text = next;
	}
}

#define CALLS(text) do {				\
	EXPECT_EQ(0, self->said.status);		\
	no_logs(self->said.out);			\
	EXPECT_STREQ(text, self->said.out);		\
	EXPECT_STREQ("", self->said.err);		\
} while (0)

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(6);
}

/* ---- what is taken ------------------------------------------------------------------- */

TEST_F(argp, nothing)
{
	RUN(NULL);
	CALLS("");
}

TEST_F(argp, every_form)
{
	RUN("-t", "a", "--text", "b", "--text=c", "-td", "-n7", "--switch", "--line-only", "-3");
	CALLS("text=a config=mine\ntext=b config=mine\ntext=c config=mine\ntext=d config=mine\n"
	      "number=7\nswitch=1\nnumber=-3\n");
}

TEST_F(argp, numbers)
{
	static const char *const good[][2] = {
		{ "0", "number=0\n" }, { "08", "number=8\n" }, { "+5", "number=5\n" },
		{ "2147483647", "number=2147483647\n" }, { "-2147483648", "number=-2147483648\n" },
		{ "0x10", "number=16\n" }, { "-0X1f", "number=-31\n" },
	};
	static const char *const bad[] = {
		"", " 1", "1 ", "2147483648", "-2147483649", "99999999999999999999", "x", "0x", "0xg",
		"--1", "+-1", "1.5", "1e3",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		RUN("-n", good[i][0]);
		CALLS(good[i][1]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		RUN("-n", bad[i]);
		REFUSED("--number: no integer from -2147483648 to 2147483647: '");
	}
}

TEST_F(argp, log_levels)
{
	RUN("-l", "60");
	EXPECT_EQ(0, self->said.status);
	HAS(self->said.out, "[DBG][TEST]");
	HAS(self->said.out, "[INF][TEST]");
	RUN("--log-level=40");
	EXPECT_EQ(0, self->said.status);
	EXPECT_STREQ("", self->said.out);
	RUN("--sdk-log-level", "70");
	EXPECT_EQ(0, self->said.status);
	RUN("-l", "55");
	REFUSED("--log-level: no level: 55");
	RUN("--sdk-log-level", "0");
	REFUSED("--sdk-log-level: no level: 0");
}

/* Whatever it returns; those behind it are not called. */
TEST_F(argp, callback_fails)
{
	RUN("-t", "refuse", "-n", "1");
	EXPECT_EQ(50 + DOCA_ERROR_TOO_BIG, self->said.status);
	no_logs(self->said.out);
	EXPECT_STREQ("text=refuse config=mine\n", self->said.out);
	EXPECT_STREQ("", self->said.err);
}

/* ---- help and versions --------------------------------------------------------------- */

TEST_F(argp, help)
{
	static const char *const flags[] = { "-h", "--help" };
	int i;

	for (i = 0; i < 2; i++) {
		RUN("--switch", flags[i], "--unknown");
		EXPECT_EQ(0, self->said.status);
		EXPECT_STREQ("", self->said.err);
		HAS(self->said.out, "Usage: prog [DOCA Flags] [Program Flags]\n");
		HAS(self->said.out, "\nDOCA Flags:\n  -h, --help  ");
		HAS(self->said.out, "\n  -v, --version  ");
		HAS(self->said.out, "\n  -l, --log-level <level>  ");
		HAS(self->said.out, "\n  --sdk-log-level <level>  ");
		HAS(self->said.out, "\n  -j, --json <path>  ");
		HAS(self->said.out, "\nProgram Flags:\n  -t, --text <words>              describes\n");
		HAS(self->said.out, "\n  -n, --number <number>           describes\n");
		HAS(self->said.out, "\n  -x                              describes\n");
		EXPECT_EQ(NULL, strstr(self->said.out, "secret"));
	}
}

TEST_F(argp, version)
{
	RUN("--version", "--unknown");
	EXPECT_EQ(0, self->said.status);
	HAS(self->said.out, "DOCA 3.0.0 (libsyncevent-doca ");
	EXPECT_STREQ("", self->said.err);
}

static doca_error_t own_version(void *value, void *config)
{
	printf("own version, config=%s, value %sNULL\n", (char *)config, value ? "not " : "");
	return doca_argp_destroy();
}

static doca_error_t exiting_version(void *value, void *config)
{
	(void)value;
	(void)config;
	doca_argp_destroy();
	exit(7);
}

static doca_error_t failing_version(void *value, void *config)
{
	(void)value;
	(void)config;
	return DOCA_ERROR_UNEXPECTED;
}

static void set_own_version(void)
{
	doca_argp_register_version_callback(own_version);
}

static void set_exiting_version(void)
{
	doca_argp_register_version_callback(exiting_version);
}

static void set_failing_version(void)
{
	doca_argp_register_version_callback(failing_version);
}

/* It may end all there is, and the process. */
TEST_F(argp, version_callback)
{
	struct line line = { .args = { "-v" }, .init = set_own_version };

	child_run(&self->said, program, &line);
	EXPECT_EQ(0, self->said.status);
	EXPECT_STREQ("own version, config=mine, value NULL\n", self->said.out);
	line.init = set_exiting_version;
	child_run(&self->said, program, &line);
	EXPECT_EQ(7, self->said.status);
	line.init = set_failing_version;
	child_run(&self->said, program, &line);
	EXPECT_EQ(1, self->said.status);
}

/* ---- what is refused ----------------------------------------------------------------- */

static void add_mandatory(void)
{
	struct doca_argp_param *param = make("m", "must", DOCA_ARGP_TYPE_INT, on_number);

	doca_argp_param_set_mandatory(param);
	add(param);
}

TEST_F(argp, mandatory)
{
	struct line line = { .args = { "-n", "1" }, .init = add_mandatory };

	child_run(&self->said, program, &line);
	REFUSED("--must is missing");
	HAS(self->said.err, "\n  -m, --must <number>             describes (mandatory)\n");
	line = (struct line){ .args = { "-m", "1" }, .init = add_mandatory };
	child_run(&self->said, program, &line);
	CALLS("number=1\n");
	/* One that goes alone. */
	line = (struct line){ .args = { "-x" }, .init = add_mandatory };
	child_run(&self->said, program, &line);
	CALLS("switch=1\n");
	line = (struct line){ .args = { "-x", "-m", "1" }, .init = add_mandatory };
	child_run(&self->said, program, &line);
	REFUSED("-x goes with no other flag, as --must");
}

TEST_F(argp, refused)
{
	RUN("--unknown");
	REFUSED("no such flag, or the beginning of several: --unknown");
	RUN("-q");
	REFUSED("no such flag: -q");
	RUN("--number");
	REFUSED("--number needs a value");
	RUN("-n");
	REFUSED("-n needs a value");
	RUN("--switch=1");
	REFUSED("--switch takes no value");
	RUN("-n", "1", "--number", "2");
	REFUSED("--number can be given once only");
	RUN("-n", "1", "word");
	REFUSED("no flag: 'word'");
	RUN("--", "-n");
	REFUSED("no flag: '-n'");
	RUN("--object", "{}");
	REFUSED("no such flag, or the beginning of several: --object");
}

/* ---- files --------------------------------------------------------------------------- */

TEST_F(argp, json)
{
	put(self->path, "{ \"doca_program_flags\": { \"number\": -5, \"text\": \"\\u00e9 \\\"\","
			" \"switch\": false, \"object\": { \"a\": [1, \"b\"] } },\n"
			"\"doca_general_flags\": { \"log-level\": 60, \"sdk-log-level\": 20 } }\n");
	RUN("-j", self->path);
	HAS(self->said.out, "[DBG][TEST]");
	CALLS("number=-5\ntext=\xc3\xa9 \" config=mine\nswitch=0\nobject={\"a\":[1,\"b\"]}\n");
}

/* The command line goes, wherever it stands; an array is a flag several times. */
TEST_F(argp, json_and_line)
{
	put(self->path, "{\"doca_program_flags\":{\"number\":1,\"text\":[\"a\",\"b\"]}}");
	RUN("--switch", "--json", self->path, "-n", "2");
	CALLS("text=a config=mine\ntext=b config=mine\nswitch=1\nnumber=2\n");
	put(self->path, "{\"doca_program_flags\":{\"text\":[]}}");
	RUN("--json", self->path);
	CALLS("");
}

TEST_F(argp, json_mandatory)
{
	struct line line = { .args = { "-j", self->path }, .init = add_mandatory };

	put(self->path, "{\"doca_program_flags\":{\"must\":1}}");
	child_run(&self->said, program, &line);
	CALLS("number=1\n");
	put(self->path, "{}");
	child_run(&self->said, program, &line);
	REFUSED("--must is missing");
}

TEST_F(argp, json_others)
{
	put(self->path, "{\"mine\":{\"unknown\":1},\"doca_program_flags\":{\"number\":1}}");
	RUN("-j", self->path);
	HAS(self->said.err, "flags.json: \"mine\" has no flags and is left alone\n");
	self->said.err[0] = '\0';
	CALLS("number=1\n");
}

TEST_F(argp, json_refused)
{
	static const char *const bad[][2] = {
		{ "", "the JSON text is not complete" },
		{ "{", "the JSON text is not complete" },
		{ "[]", "not a JSON object" },
		{ "{} x", "at byte 3: " },
		{ "{\"a\":\"\xff\"}", "at byte 6: " },
		{ "{\"doca_program_flags\":1}", "\"doca_program_flags\" must be an object" },
		{ "{\"doca_program_flags\":{\"no\":1}}", "no such flag: \"no\"" },
		{ "{\"doca_general_flags\":{\"number\":1}}", "no such flag: \"number\"" },
		{ "{\"doca_general_flags\":{\"json\":\"x\"}}", "\"json\" is for the command line only" },
		{ "{\"doca_program_flags\":{\"line-only\":1}}",
		  "\"line-only\" is for the command line only" },
		{ "{\"doca_program_flags\":{\"number\":\"1\"}}", "\"number\" must be an integer" },
		{ "{\"doca_program_flags\":{\"number\":1.5}}", "\"number\" must be an integer" },
		{ "{\"doca_program_flags\":{\"number\":null}}", "\"number\" must be an integer" },
		{ "{\"doca_program_flags\":{\"number\":[1]}}", "\"number\" must be an integer" },
		{ "{\"doca_program_flags\":{\"number\":2147483648}}",
		  "\"number\" must be from -2147483648 to 2147483647" },
		{ "{\"doca_program_flags\":{\"number\":-99999999999999999999}}", "\"number\" must be " },
		{ "{\"doca_program_flags\":{\"text\":1}}", "\"text\" must be a string" },
		{ "{\"doca_program_flags\":{\"text\":[\"a\",1]}}", "\"text\" must be a string" },
		{ "{\"doca_program_flags\":{\"text\":\"a\\u0000b\"}}",
		  "\"text\" has a character \\u0000" },
		{ "{\"doca_program_flags\":{\"switch\":1}}", "\"switch\" must be true or false" },
		{ "{\"doca_program_flags\":{\"object\":[]}}", "\"object\" must be an object" },
		{ "{\"doca_general_flags\":{\"log-level\":1}}", "--log-level: no level: 1" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(self->path, bad[i][0]);
		RUN("-j", self->path);
		REFUSED("");
		HAS(self->said.err, bad[i][1]);
	}
	RUN("-j", "/nonexistent/file");
	REFUSED("/nonexistent/file: No such file or directory");
	RUN("-j", "/tmp");
	REFUSED("/tmp: Is a directory");
	RUN("-j", "/dev/zero");
	REFUSED("/dev/zero: larger than a file of flags can be");
}

/* ---- the functions ------------------------------------------------------------------- */

TEST(order_of_calls)
{
	char *argv[] = { "prog", NULL };

	ASSERT_EQ(DOCA_ERROR_INITIALIZATION, doca_argp_destroy());
	ASSERT_EQ(DOCA_ERROR_INITIALIZATION, doca_argp_start(1, argv));
	ASSERT_EQ(DOCA_ERROR_INITIALIZATION, doca_argp_register_version_callback(own_version));
	ASSERT_EQ(DOCA_ERROR_INITIALIZATION,
		  doca_argp_register_param(make("a", NULL, DOCA_ARGP_TYPE_INT, on_number)));
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_init("name", NULL));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_argp_init("name", NULL));
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_register_version_callback(own_version));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_argp_start(0, argv));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_argp_start(1, NULL));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_argp_start(1, argv + 1));
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_start(1, argv));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_argp_start(1, argv));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_argp_register_version_callback(own_version));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE,
		  doca_argp_register_param(make("a", NULL, DOCA_ARGP_TYPE_INT, on_number)));
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_destroy());
	/* And again. */
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_init("name", NULL));
	ASSERT_EQ(DOCA_SUCCESS,
		  doca_argp_register_param(make("a", NULL, DOCA_ARGP_TYPE_INT, on_number)));
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_destroy());
}

/* A refused one is freed, too: the address sanitizer tells. */
TEST(flags_that_are_none)
{
	static const struct {
		const char *short_name;
		const char *long_name;
		enum doca_argp_type type;
		doca_argp_param_cb_t callback;
	} bad[] = {
		{ NULL, NULL, DOCA_ARGP_TYPE_INT, on_number },
		{ "a", "all", DOCA_ARGP_TYPE_UNKNOWN, on_number },
		{ "a", "all", DOCA_ARGP_TYPE_JSON_OBJ + 1, on_number },
		{ "a", "all", DOCA_ARGP_TYPE_INT, NULL },
		{ "ab", "all", DOCA_ARGP_TYPE_INT, on_number },
		{ "", "all", DOCA_ARGP_TYPE_INT, on_number },
		{ ":", "all", DOCA_ARGP_TYPE_INT, on_number },
		{ "a", "", DOCA_ARGP_TYPE_INT, on_number },
		{ "a", "b", DOCA_ARGP_TYPE_INT, on_number },
		{ "a", "a=b", DOCA_ARGP_TYPE_INT, on_number },
		{ "a", "-all", DOCA_ARGP_TYPE_INT, on_number },
		{ "h", "all", DOCA_ARGP_TYPE_INT, on_number },
		{ "a", "json", DOCA_ARGP_TYPE_INT, on_number },
		{ "t", NULL, DOCA_ARGP_TYPE_INT, on_number },
		{ "a", NULL, DOCA_ARGP_TYPE_JSON_OBJ, on_object },
	};
	struct doca_argp_param *param;
	size_t i;

	ASSERT_EQ(DOCA_SUCCESS, doca_argp_init(NULL, NULL));
	add(make("t", "taken", DOCA_ARGP_TYPE_INT, on_number));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
			  doca_argp_register_param(make(bad[i].short_name, bad[i].long_name,
							bad[i].type, bad[i].callback))) {
			TH_LOG("number %zu", i);
		}
	}
	add(make("a", "all", DOCA_ARGP_TYPE_INT, on_number));
	/* One that was made, and is named wrongly at first. */
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, "tt");
	doca_argp_param_set_short_name(param, "s");
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_callback(param, on_text);
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_register_param(param));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_argp_register_param(NULL));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_argp_param_create(NULL));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_argp_register_version_callback(NULL));
	/* Nothing to set. */
	doca_argp_param_set_short_name(NULL, "x");
	doca_argp_param_set_long_name(NULL, "x");
	doca_argp_param_set_arguments(NULL, "x");
	doca_argp_param_set_description(NULL, "x");
	doca_argp_param_set_callback(NULL, on_number);
	doca_argp_param_set_type(NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_mandatory(NULL);
	doca_argp_param_set_cli_only(NULL);
	doca_argp_param_set_multiplicity(NULL);
	doca_argp_param_set_singular(NULL);
	doca_argp_param_set_inherited(NULL);
	doca_argp_param_set_hidden(NULL);
	ASSERT_EQ(DOCA_SUCCESS, doca_argp_destroy());
}

TEST_HARNESS_MAIN
