// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * argp_line.c - flags from the command line, by getopt_long()
 */
#include "argp.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of long flags for getopt_long(), where those of short ones are letters. */
#define LONG	256

/**
 * struct line - the command line as getopt_long() wants it
 * @params: the flags
 * @argv: a copy, which it sorts
 * @shorts: the letters
 * @longs: the names; their numbers are LONG + the place in the list of flags
 */
struct line {
	struct doca_argp_param *params;
	int argc;
	char **argv;
	char *shorts;
	struct option *longs;
};

static struct doca_argp_param *param_of(struct doca_argp_param *param, int number)
{
	if (number >= LONG) {
		while (number-- > LONG)
			param = param->next;
		return param;
	}
	while (param && !(param->short_name && param->short_name[0] == number &&
			  param->type != DOCA_ARGP_TYPE_JSON_OBJ))
		param = param->next;
	return param;
}

static doca_error_t prepare(struct line *line, int argc, char **argv)
{
	const struct doca_argp_param *param;
	struct option *option;
	size_t count = 0;
	char *letter;

	for (param = line->params; param; param = param->next)
		count++;
	line->argc = argc;
	line->argv = calloc((size_t)argc + 1, sizeof(*line->argv));
	line->shorts = calloc(2 * count + 2, 1);
	line->longs = calloc(count + 1, sizeof(*line->longs));
	if (!line->argv || !line->shorts || !line->longs)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(line->argv, argv, (size_t)argc * sizeof(*argv));
	letter = line->shorts;
	option = line->longs;
	*letter++ = ':';	/* tell a flag without its argument from one that is unknown */
	count = 0;
	for (param = line->params; param; param = param->next, count++) {
		const bool takes = param->type != DOCA_ARGP_TYPE_BOOLEAN;

		if (param->type == DOCA_ARGP_TYPE_JSON_OBJ)
			continue;
		if (param->short_name) {
			*letter++ = param->short_name[0];
			if (takes)
				*letter++ = ':';
		}
		if (param->long_name) {
			option->name = param->long_name;
			option->has_arg = takes ? required_argument : no_argument;
			option->val = LONG + (int)count;
			option++;
		}
	}
	return DOCA_SUCCESS;
}

static int integer_of(const struct doca_argp_param *param, const char *text)
{
	const char *digits = text + (*text == '-' || *text == '+');
	long number;
	char *end;

	errno = 0;
	number = strtol(text, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
	if (!isdigit((unsigned char)*digits) || *end || errno || number < INT_MIN ||
	    number > INT_MAX)
		sed_argp_refuse("%s%s: no integer from %d to %d: '%s'", sed_argp_dashes(param),
				sed_argp_name(param), INT_MIN, INT_MAX, text);
	return (int)number;
}

static doca_error_t take(struct doca_argp_param *param, char *text, void *config)
{
	struct sed_argp_value *value = sed_argp_give(param, SED_ARGP_LINE);

	if (!value)
		return DOCA_ERROR_NO_MEMORY;
	value->text = text;
	if (param->type == DOCA_ARGP_TYPE_INT)
		value->integer = integer_of(param, text);
	value->boolean = true;
	return param->when == SED_ARGP_AT_ONCE ? param->callback(&value->boolean, config) :
						DOCA_SUCCESS;
}

/* What getopt_long() did not like; it left a number if it knew the flag. */
static _Noreturn void refuse_flag(const struct line *line, int answer)
{
	const struct doca_argp_param *param = optopt ? param_of(line->params, optopt) : NULL;

	if (param && answer == ':')
		sed_argp_refuse("%s%s needs a value", optopt < LONG ? "-" : "--",
			       optopt < LONG ? param->short_name : param->long_name);
	if (param)
		sed_argp_refuse("--%s takes no value", param->long_name);
	if (optopt)
		sed_argp_refuse("no such flag: -%c", optopt);
	sed_argp_refuse("no such flag, or the beginning of several: %s", line->argv[optind - 1]);
}

static doca_error_t read_line(const struct line *line, void *config)
{
	doca_error_t result = DOCA_SUCCESS;
	int answer;

	opterr = 0;
	optind = 0;	/* begin anew */
	while (result == DOCA_SUCCESS) {
		answer = getopt_long(line->argc, line->argv, line->shorts, line->longs, NULL);
		if (answer == '?' || answer == ':')
			refuse_flag(line, answer);
		if (answer < 0)
			break;
		result = take(param_of(line->params, answer), optarg, config);
	}
	if (result == DOCA_SUCCESS && optind < line->argc)
		sed_argp_refuse("no flag: '%s'", line->argv[optind]);
	return result;
}

doca_error_t sed_argp_line(struct doca_argp_param *params, void *config, int argc, char **argv)
{
	struct line line = { .params = params };
	doca_error_t result = prepare(&line, argc, argv);

	if (result == DOCA_SUCCESS)
		result = read_line(&line, config);
	free(line.argv);
	free(line.shorts);
	free(line.longs);
	return result;
}
