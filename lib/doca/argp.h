/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * argp.h - flags and their values, between argp.c, argp_line.c, argp_json.c and argp_usage.c
 *
 * The flags that every program has are of the same kind as its own, in another group.
 */
#ifndef SED_ARGP_H
#define SED_ARGP_H

#include "internal.h"

#include <stdio.h>

#include <doca_argp.h>

/* Groups, in the order of the usage and of the callbacks. */
enum sed_argp_group {
	SED_ARGP_GENERAL,
	SED_ARGP_PROGRAM,
	SED_ARGP_GROUPS,
};

/* Where values come from, in the order of the callbacks. */
enum sed_argp_source {
	SED_ARGP_JSON,
	SED_ARGP_LINE,
	SED_ARGP_SOURCES,
};

/* When the callback is called. */
enum sed_argp_when {
	SED_ARGP_LAST,		/* when all is checked */
	SED_ARGP_FIRST,		/* when the command line was read */
	SED_ARGP_AT_ONCE,	/* when it is read, whatever else there is */
};

/**
 * struct doca_argp_param - a flag
 * @next: in the order of registration
 * @incomplete: a string could not be copied
 * @given: how often, by source
 */
struct doca_argp_param {
	struct doca_argp_param *next;
	enum sed_argp_group group;
	enum sed_argp_when when;
	enum doca_argp_type type;
	char *short_name;
	char *long_name;
	char *arguments;
	char *description;
	doca_argp_param_cb_t callback;
	bool mandatory;
	bool cli_only;
	bool multiple;
	bool singular;
	bool hidden;
	bool incomplete;
	unsigned int given[SED_ARGP_SOURCES];
};

/**
 * struct sed_argp_value - a flag that was given
 * @text: of STRING and JSON_OBJ
 * @copy: what of it is to be freed, or NULL
 */
struct sed_argp_value {
	struct sed_argp_value *next;
	struct doca_argp_param *param;
	char *text;
	char *copy;
	int integer;
	bool boolean;
};

/**
 * sed_argp_refuse() - say what is wrong, and the usage, on stderr, and exit with status 1
 *
 * A program that cannot read its command line has nothing to go on with.
 */
_Noreturn void sed_argp_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** sed_argp_warn() - say it on stderr */
void sed_argp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** sed_argp_dashes(), sed_argp_name() - how a message names a flag */
const char *sed_argp_dashes(const struct doca_argp_param *param);
const char *sed_argp_name(const struct doca_argp_param *param);

/** sed_argp_find() - a flag by its long name, or NULL */
struct doca_argp_param *sed_argp_find(enum sed_argp_group group, const char *long_name);

/** sed_argp_give() - note that a flag was given; the value is to be filled. NULL: no memory */
struct sed_argp_value *sed_argp_give(struct doca_argp_param *param, enum sed_argp_source source);

/** sed_argp_usage() - print the flags */
void sed_argp_usage(FILE *file, const char *program, const struct doca_argp_param *params);

/**
 * sed_argp_line() - take flags from the command line
 *
 * Return: SUCCESS; NO_MEMORY; else it does not return.
 */
doca_error_t sed_argp_line(struct doca_argp_param *params, void *config, int argc, char **argv);

/** sed_argp_json() - take flags from a file. Return: SUCCESS; NO_MEMORY; else it does not return */
doca_error_t sed_argp_json(const char *path);

#endif /* SED_ARGP_H */
