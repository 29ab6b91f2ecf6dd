// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * argp.c - the command line: flags, their values, their callbacks
 *
 * Everything is collected and checked before the first callback is called. What is wrong
 * ends the process; flags and values are reachable then, so that no leak is seen.
 */
#include "argp.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>

#include "log.h"

static struct {
	bool begun;
	bool started;
	char *name;
	const char *shown;	/* the name, if only from argv */
	void *config;
	struct doca_argp_param *params;
	struct sed_argp_value *values[SED_ARGP_SOURCES];
	doca_argp_param_cb_t version;
} state;

/* ---- what goes wrong ----------------------------------------------------------------- */

static void complain(const char *format, va_list args)
{
	fprintf(stderr, "%s: ", state.shown);
	vfprintf(stderr, format, args);
	putc('\n', stderr);
}

void sed_argp_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
}

void sed_argp_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	sed_argp_usage(stderr, state.shown, state.params);
	exit(EXIT_FAILURE);
}

const char *sed_argp_dashes(const struct doca_argp_param *param)
{
	return param->long_name ? "--" : "-";
}

const char *sed_argp_name(const struct doca_argp_param *param)
{
	return param->long_name ? param->long_name : param->short_name;
}

/* ---- making flags -------------------------------------------------------------------- */

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	*param = calloc(1, sizeof(**param));
	if (!*param)
		return DOCA_ERROR_NO_MEMORY;
	(*param)->group = SED_ARGP_PROGRAM;
	return DOCA_SUCCESS;
}

static void free_param(struct doca_argp_param *param)
{
	free(param->short_name);
	free(param->long_name);
	free(param->arguments);
	free(param->description);
	free(param);
}

/* Setters cannot fail: that there was no memory is told when the flag is registered. */
static void copy(struct doca_argp_param *param, char **to, const char *from)
{
	free(*to);
	*to = from ? strdup(from) : NULL;
	param->incomplete |= from && !*to;
}

#define SET_TEXT(field)								\
	void doca_argp_param_set_##field(struct doca_argp_param *param, const char *field) \
	{									\
		if (param)							\
			copy(param, &param->field, field);			\
	}

#define SET_BIT(call, field)							\
	void doca_argp_param_set_##call(struct doca_argp_param *param)		\
	{									\
		if (param)							\
			param->field = true;					\
	}

void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
	if (param)
		copy(param, &param->short_name, name);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
	if (param)
		copy(param, &param->long_name, name);
}

SET_TEXT(arguments)
SET_TEXT(description)
SET_BIT(mandatory, mandatory)
SET_BIT(cli_only, cli_only)
SET_BIT(multiplicity, multiple)
SET_BIT(singular, singular)
SET_BIT(hidden, hidden)

void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	(void)param;
}

void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback)
{
	if (param)
		param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
	if (param)
		param->type = type;
}

/* ---- registering them ---------------------------------------------------------------- */

static bool is_free(const struct doca_argp_param *new)
{
	const struct doca_argp_param *old;

	for (old = state.params; old; old = old->next) {
		if (new->short_name && old->short_name && !strcmp(new->short_name, old->short_name))
			return false;
		if (new->long_name && old->long_name && !strcmp(new->long_name, old->long_name))
			return false;
	}
	return true;
}

static bool is_complete(const struct doca_argp_param *param)
{
	const char *name = param->short_name, *c;

	if (!param->short_name && !param->long_name)
		return false;
	if (name && (!isalnum((unsigned char)name[0]) || name[1]))
		return false;
	name = param->long_name;
	if (name && (!isalnum((unsigned char)name[0]) || !name[1]))
		return false;
	for (c = name; c && *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			return false;
	}
	/* Only a file can have an object, by its long name. */
	if (param->type == DOCA_ARGP_TYPE_JSON_OBJ && (!name || param->cli_only))
		return false;
	return param->callback && param->type >= DOCA_ARGP_TYPE_STRING &&
	       param->type <= DOCA_ARGP_TYPE_JSON_OBJ;
}

static doca_error_t check(const struct doca_argp_param *param)
{
	if (!state.begun)
		return DOCA_ERROR_INITIALIZATION;
	if (state.started)
		return DOCA_ERROR_BAD_STATE;
	if (param->incomplete)
		return DOCA_ERROR_NO_MEMORY;
	return is_complete(param) && is_free(param) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
	struct doca_argp_param **last = &state.params;
	doca_error_t result;

	if (!input_param)
		return DOCA_ERROR_INVALID_VALUE;
	result = check(input_param);
	if (result != DOCA_SUCCESS) {
		free_param(input_param);
		return result;
	}
	while (*last)
		last = &(*last)->next;
	*last = input_param;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	if (!state.begun)
		return DOCA_ERROR_INITIALIZATION;
	if (state.started)
		return DOCA_ERROR_BAD_STATE;
	state.version = callback;
	return DOCA_SUCCESS;
}

/* ---- the flags of every program ------------------------------------------------------ */

static doca_error_t on_help(void *value, void *config)
{
	(void)value;
	(void)config;
	sed_argp_usage(stdout, state.shown, state.params);
	exit(EXIT_SUCCESS);
}

#define TEXT_OF(token)	#token
#define TEXT(macro)	TEXT_OF(macro)

/* The program's callback may have destroyed all there is here. */
static doca_error_t on_version(void *value, void *config)
{
	(void)value;
	if (state.version)
		exit(state.version(NULL, config) == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE);
	printf("DOCA %s (libsyncevent-doca %s)\n", doca_version_runtime(), TEXT(SED_VERSION));
	exit(EXIT_SUCCESS);
}

static uint32_t level_of(const void *value, const char *flag)
{
	const int level = *(const int *)value;

	if (!sed_log_is_level(level))
		sed_argp_refuse("--%s: no level: %d", flag, level);
	return (uint32_t)level;
}

static doca_error_t on_log_level(void *value, void *config)
{
	(void)config;
	sed_log_set_level(level_of(value, "log-level"));
	return DOCA_SUCCESS;
}

static doca_error_t on_sdk_log_level(void *value, void *config)
{
	(void)config;
	sed_log_set_sdk_level(level_of(value, "sdk-log-level"));
	return DOCA_SUCCESS;
}

static doca_error_t on_json(void *value, void *config)
{
	(void)config;
	return sed_argp_json(value);
}

#define LEVELS	"10 (none), 20 (critical), 30 (error), 40 (warning), 50 (info), 60 (debug), " \
		"70 (trace)"

static const struct {
	const char *short_name;
	const char *long_name;
	const char *arguments;
	const char *description;
	enum doca_argp_type type;
	enum sed_argp_when when;
	bool cli_only;
	doca_argp_param_cb_t callback;
} generals[] = {
	{ "h", "help", NULL, "Print this help",
	  DOCA_ARGP_TYPE_BOOLEAN, SED_ARGP_AT_ONCE, true, on_help },
	{ "v", "version", NULL, "Print the versions",
	  DOCA_ARGP_TYPE_BOOLEAN, SED_ARGP_AT_ONCE, true, on_version },
	{ "l", "log-level", "<level>", "How much the program logs: " LEVELS,
	  DOCA_ARGP_TYPE_INT, SED_ARGP_LAST, false, on_log_level },
	{ NULL, "sdk-log-level", "<level>", "How much the library logs: likewise",
	  DOCA_ARGP_TYPE_INT, SED_ARGP_LAST, false, on_sdk_log_level },
	{ "j", "json", "<path>", "Take flags from a JSON file, too",
	  DOCA_ARGP_TYPE_STRING, SED_ARGP_FIRST, true, on_json },
};

static doca_error_t register_generals(void)
{
	struct doca_argp_param *param;
	doca_error_t result;
	size_t i;

	for (i = 0; i < sizeof(generals) / sizeof(generals[0]); i++) {
		result = doca_argp_param_create(&param);
		if (result != DOCA_SUCCESS)
			return result;
		doca_argp_param_set_short_name(param, generals[i].short_name);
		doca_argp_param_set_long_name(param, generals[i].long_name);
		doca_argp_param_set_arguments(param, generals[i].arguments);
		doca_argp_param_set_description(param, generals[i].description);
		doca_argp_param_set_type(param, generals[i].type);
		doca_argp_param_set_callback(param, generals[i].callback);
		param->group = SED_ARGP_GENERAL;
		param->when = generals[i].when;
		param->cli_only = generals[i].cli_only;
		result = doca_argp_register_param(param);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

/* ---- begin and end ------------------------------------------------------------------- */

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	doca_error_t result;

	if (state.begun)
		return DOCA_ERROR_BAD_STATE;
	if (program_name) {
		state.name = strdup(program_name);
		if (!state.name)
			return DOCA_ERROR_NO_MEMORY;
	}
	state.config = program_config;
	state.begun = true;
	result = register_generals();
	if (result != DOCA_SUCCESS)
		doca_argp_destroy();
	return result;
}

doca_error_t doca_argp_destroy(void)
{
	struct doca_argp_param *param;
	struct sed_argp_value *value;
	unsigned int source;

	if (!state.begun)
		return DOCA_ERROR_INITIALIZATION;
	while ((param = state.params)) {
		state.params = param->next;
		free_param(param);
	}
	for (source = 0; source < SED_ARGP_SOURCES; source++) {
		while ((value = state.values[source])) {
			state.values[source] = value->next;
			free(value->copy);
			free(value);
		}
	}
	free(state.name);
	memset(&state, 0, sizeof(state));
	return DOCA_SUCCESS;
}

/* ---- values -------------------------------------------------------------------------- */

struct doca_argp_param *sed_argp_find(enum sed_argp_group group, const char *long_name)
{
	struct doca_argp_param *param = state.params;

	while (param && !(param->group == group && param->long_name &&
			  !strcmp(param->long_name, long_name)))
		param = param->next;
	return param;
}

struct sed_argp_value *sed_argp_give(struct doca_argp_param *param, enum sed_argp_source source)
{
	struct sed_argp_value **last = &state.values[source];

	if (param->given[source]++ && !param->multiple)
		sed_argp_refuse("%s%s can be given once only", sed_argp_dashes(param),
				sed_argp_name(param));
	while (*last)
		last = &(*last)->next;
	*last = calloc(1, sizeof(**last));
	if (*last)
		(*last)->param = param;
	return *last;
}

static void *pointer_to(struct sed_argp_value *value)
{
	switch (value->param->type) {
	case DOCA_ARGP_TYPE_INT:
		return &value->integer;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &value->boolean;
	default:
		return value->text;
	}
}

/* ---- all of it ----------------------------------------------------------------------- */

static bool is_given(const struct doca_argp_param *param)
{
	return param->given[SED_ARGP_LINE] || param->given[SED_ARGP_JSON];
}

/* Which flags go with each other, and without which others. */
static void check_flags(void)
{
	const struct doca_argp_param *param, *single = NULL, *other = NULL;

	for (param = state.params; param; param = param->next) {
		if (param->group != SED_ARGP_PROGRAM || !is_given(param))
			continue;
		if (param->singular && !single)
			single = param;
		else
			other = param;
	}
	if (single && other)
		sed_argp_refuse("%s%s goes with no other flag, as %s%s", sed_argp_dashes(single),
			       sed_argp_name(single), sed_argp_dashes(other), sed_argp_name(other));
	for (param = state.params; param && !single; param = param->next) {
		if (param->mandatory && !is_given(param))
			sed_argp_refuse("%s%s is missing", sed_argp_dashes(param),
					sed_argp_name(param));
	}
}

static doca_error_t call(enum sed_argp_group group, enum sed_argp_when when)
{
	struct sed_argp_value *value;
	doca_error_t result;
	unsigned int source;

	for (source = 0; source < SED_ARGP_SOURCES; source++) {
		for (value = state.values[source]; value; value = value->next) {
			if (value->param->group != group || value->param->when != when)
				continue;
			result = value->param->callback(pointer_to(value), state.config);
			if (result != DOCA_SUCCESS)
				return result;
		}
	}
	return DOCA_SUCCESS;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

doca_error_t doca_argp_start(int argc, char **argv)
{
	doca_error_t result;

	if (!state.begun)
		return DOCA_ERROR_INITIALIZATION;
	if (state.started)
		return DOCA_ERROR_BAD_STATE;
	if (argc < 1 || !argv || !argv[0])
		return DOCA_ERROR_INVALID_VALUE;
	state.started = true;
	state.shown = state.name ? state.name : base_name(argv[0]);
	result = sed_argp_line(state.params, state.config, argc, argv);
	if (result == DOCA_SUCCESS)
		result = call(SED_ARGP_GENERAL, SED_ARGP_FIRST);
	if (result != DOCA_SUCCESS)
		return result;
	check_flags();
	result = call(SED_ARGP_GENERAL, SED_ARGP_LAST);
	return result == DOCA_SUCCESS ? call(SED_ARGP_PROGRAM, SED_ARGP_LAST) : result;
}
