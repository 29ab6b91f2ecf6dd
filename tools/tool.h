/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * tool.h - the syncevent command
 *
 * Read in this order: args.c makes a struct tool_args of the command line and
 * does nothing else; run.c carries it out, with a function for each verb here
 * and in watch.c, list.c, info.c, pci.c, selftest.c; out.c writes results and says
 * what is wrong; units.c reads numbers and times.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <json.h>
#include <syncevent.h>

/* What the command exits with. */
#define TOOL_OK		0
#define TOOL_ERROR	1
#define TOOL_USAGE	2
#define TOOL_ENDED	3	/* revoked, or the peer died */
#define TOOL_TIMEOUT	124	/* as timeout(1) */

enum tool_verb {
	TOOL_NONE,		/* --help or --version alone */
	TOOL_INFO,
	TOOL_CREATE,
	TOOL_GET,
	TOOL_SET,
	TOOL_ADD,
	TOOL_WAIT,
	TOOL_WATCH,
	TOOL_LIST,
	TOOL_RM,
	TOOL_PEERS,
	TOOL_EXPORT,
	TOOL_IMPORT,
	TOOL_SELFTEST,
	TOOL_BENCH,
};

/**
 * struct tool_args - a command line, understood
 * @verb: what to do
 * @json: print JSON
 * @help: print the help of @verb instead
 * @usage: print its short help instead
 * @version: print the version instead
 * @provider: "kernel", "shm", or NULL for the default
 * @on: the region that they are in, or NULL for none
 * @names: the events, or a blob; points into argv
 * @name_count: how many
 * @value: for create, set and add
 * @mode: for create
 * @silent: for create
 * @cond: for wait
 * @cond_given: @cond and @operand are set
 * @operand: for wait
 * @mask: for wait
 * @how: for wait
 * @pages: for create
 * @read_only: for export
 * @timeout: for wait, watch and create, nanoseconds; SYNCEVENT_FOREVER for none
 * @count: for watch, changes until it ends; 0: does not end
 * @revoke: for rm
 * @bench_argc: for bench
 * @bench_argv: for bench, which reads them
 */
struct tool_args {
	enum tool_verb verb;
	bool json;
	bool help;
	bool usage;
	bool version;
	const char *provider;
	const char *on;
	char **names;
	unsigned int name_count;
	uint64_t value;
	mode_t mode;
	bool silent;
	bool cond_given;
	enum syncevent_cond cond;
	uint64_t operand;
	uint64_t mask;
	enum syncevent_how how;
	uint64_t pages;
	bool read_only;
	uint64_t timeout;
	uint64_t count;
	bool revoke;
	int bench_argc;
	char **bench_argv;
};

/* ---- the steps of a command: args.c, run.c ------------------------------------ */

/*
 * Makes @args of a command line. Says on stderr what is wrong with it; neither
 * exits nor does anything else. @args points into @argv, whose elements may
 * have been put into another order. Returns 0 or TOOL_USAGE.
 */
int tool_parse(int argc, char **argv, struct tool_args *args);

/* The help that @args asks for. */
void tool_help(const struct tool_args *args, FILE *stream);

/* Does what @args say. Returns what to exit with. */
int tool_run(const struct tool_args *args);

/* Both. */
int syncevent_tool_main(int argc, char **argv);

/*
 * Opens the event that a verb is about, by @flags O_RDONLY or O_RDWR. Returns 0 or a
 * negative errno.
 */
int tool_open(const struct tool_args *args, int flags, struct syncevent **ev);

/* Verbs in files of their own. They return what to exit with. */
int tool_peers(const struct tool_args *args);
/* Why a region cannot be looked at. */
const char *tool_pci_why(int err);
int tool_create_on(const struct tool_args *args);
int tool_export(const struct tool_args *args);
int tool_import(const struct tool_args *args);
int tool_watch(const struct tool_args *args);
int tool_list(const struct tool_args *args);
int tool_info(const struct tool_args *args);
int tool_selftest(const struct tool_args *args);

/* ---- numbers and times: units.c ------------------------------------------------- */

/* All of @text, decimal or 0x hexadecimal, no sign. */
bool tool_read_u64(const char *text, uint64_t *value);
/* "2s", "100ms", "0.5m"; without a unit: seconds. */
bool tool_read_duration(const char *text, uint64_t *ns);
/* Octal, 0 to 0777. */
bool tool_read_mode(const char *text, mode_t *mode);
/* @ns from now on CLOCK_MONOTONIC. 0: to look only; SYNCEVENT_FOREVER: none. */
uint64_t tool_deadline(uint64_t ns);
uint64_t tool_now(void);

/* ---- results and complaints: out.c ------------------------------------------------ */

#define TOOL_TEXT_MAX	(4 * SYNCEVENT_NAME_MAX + 1)

/* @text with what a terminal must not get as \xNN: at most @size bytes. */
const char *tool_escape(const char *text, char *buf, size_t size);

/*
 * Members of a JSON object. What is no UTF-8 in @text is escaped as above. If
 * memory is short, tool_json_print() tells.
 */
void tool_json_u64(struct json_object *object, const char *key, uint64_t value);
void tool_json_bool(struct json_object *object, const char *key, bool value);
void tool_json_text(struct json_object *object, const char *key, const char *text);
void tool_json_null(struct json_object *object, const char *key);
/* Takes over @value, an object or array that must not be NULL but for want of memory. */
void tool_json_member(struct json_object *object, const char *key, struct json_object *value);
void tool_json_append(struct json_object *array, struct json_object *value);
struct json_object *tool_json_string(const char *text);

/* Prints @object as one line, frees it, and returns what to exit with. */
int tool_json_print(struct json_object *object);

/* Pushes out what was printed. Returns 0 or a negative errno. */
int tool_flush(void);

/* A complaint on stderr, with the command's name before it. Returns TOOL_ERROR. */
int tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Says that @what ("open", "update", ...) failed with the event @name, or with
 * none if it is NULL, and what to do about it. Returns what to exit with.
 */
int tool_fail(const char *what, const char *name, int err);

/* Likewise, with the event that a verb is about, wherever it is. */
int tool_fail_event(const struct tool_args *args, const char *what, int err);

/* Whether a synceventfs is mounted on @folder. */
bool tool_names_mounted(const char *folder);

/* ---- tables: table.c ------------------------------------------------------------- */

struct tool_column {
	const char *name;
	bool right;		/* numbers */
};

/* An empty table; NULL: no memory. */
struct libscols_table *tool_table(const struct tool_column *columns, size_t n);
/* A line with a cell for each column; NULL is an empty one. Returns 0 or -ENOMEM. */
int tool_table_line(struct libscols_table *table, const char *const *cells, size_t n);
/* Prints and frees it; nothing if it has no line. Returns 0 or -ENOMEM. */
int tool_table_print(struct libscols_table *table);

#endif /* TOOL_H */
