/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_argp.h - the command line of DOCA programs
 *
 *	doca_argp_init("program", &config);
 *	doca_argp_param_create(&param);			for each flag
 *	doca_argp_param_set_...(param, ...);
 *	doca_argp_register_param(param);
 *	doca_argp_start(argc, argv);			reads it, calls the callbacks
 *	doca_argp_destroy();
 *
 * Every program has these flags beside its own:
 *
 *	-h, --help		print the flags and exit with status 0
 *	-v, --version		print the versions and exit with status 0
 *	-l, --log-level N	how much the program logs: enum doca_log_level
 *	--sdk-log-level N	how much the library logs
 *	-j, --json FILE		flags from a file:
 *
 *	{ "doca_general_flags": { "log-level": 60 },
 *	  "doca_program_flags": { "pci-addr": "03:00.0" } }
 *
 * The keys are long names. What the command line has as well is taken from there. An
 * array is a flag that is given several times. Other objects of the file are left alone,
 * with a warning.
 *
 * Not to be called by several threads at once.
 */
#ifndef DOCA_ARGP_H
#define DOCA_ARGP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct doca_argp_param - a flag */
struct doca_argp_param;

/**
 * doca_argp_param_cb_t - takes the value of a flag
 * @value: of the flag's type; valid during the call
 * @config: as given to doca_argp_init()
 *
 * Whatever it returns but SUCCESS ends doca_argp_start(), which returns it too.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *value, void *config);

/** enum doca_argp_type - what a flag takes, and what its callback gets */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,
	DOCA_ARGP_TYPE_STRING,		/* char * */
	DOCA_ARGP_TYPE_INT,		/* int *; decimal, or hexadecimal with 0x */
	DOCA_ARGP_TYPE_BOOLEAN,		/* bool *; no argument on the command line */
	DOCA_ARGP_TYPE_JSON_OBJ,	/* char *, the text of an object; in a JSON file only */
};

/**
 * doca_argp_init() - begin
 * @program_name: for the usage; is copied. NULL: the last part of argv[0]
 * @program_config: for the callbacks; or NULL
 *
 * Return: SUCCESS; BAD_STATE: begun before, and not destroyed; NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/** doca_argp_param_create() - make a flag. Return: SUCCESS; INVALID_VALUE: NULL; NO_MEMORY */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/*
 * What a flag is. Strings are copied. Nothing happens if the flag is NULL.
 */

/** doca_argp_param_set_short_name() - one letter or digit, without its '-' */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/** doca_argp_param_set_long_name() - without its "--" */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/** doca_argp_param_set_arguments() - what the usage says of its value, as "<path>" */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/** doca_argp_param_set_description() - what the usage says of it */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/** doca_argp_param_set_callback() - what takes its value */
DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/** doca_argp_param_set_type() - what it takes */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/** doca_argp_param_set_mandatory() - it has to be given */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/** doca_argp_param_set_cli_only() - a JSON file may not have it */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/** doca_argp_param_set_multiplicity() - it may be given several times */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/** doca_argp_param_set_singular() - no other flag of the program goes with it, mandatory or not */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/** doca_argp_param_set_inherited() - for commands, which there are none of here: no effect */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/** doca_argp_param_set_hidden() - the usage does not show it */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * doca_argp_register_param() - add a flag
 * @input_param: belongs to the library from now on, even if this fails
 *
 * Return: SUCCESS; INITIALIZATION: no doca_argp_init(); BAD_STATE: started;
 * INVALID_VALUE: NULL, or it lacks a name, a type or a callback, or a name is taken or
 * has characters that a name cannot have; NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * doca_argp_register_version_callback() - what -v does, instead of printing the versions
 * @callback: gets NULL and the configuration. It may call doca_argp_destroy(), and exit
 *
 * Return: SUCCESS; INITIALIZATION; BAD_STATE; INVALID_VALUE: NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * doca_argp_start() - read the command line
 * @argc: as main() got it
 * @argv: likewise; it is not changed
 *
 * First all of it is checked; then the log levels are set; then the callbacks are called,
 * those of the JSON file first, else in the order given. -h, -v and what is wrong with
 * the command line or the file (after a message and the usage on stderr; with status 1)
 * end the process by exit(3).
 *
 * Return: SUCCESS; INITIALIZATION: no doca_argp_init(); BAD_STATE: started before;
 * INVALID_VALUE: NULL, or @argc is no count; NO_MEMORY; what a callback returned.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/** doca_argp_destroy() - the end; free all flags. Return: SUCCESS; INITIALIZATION: not begun */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H */
