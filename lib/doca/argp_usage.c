// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * argp_usage.c - what -h prints
 */
#include "argp.h"

#include <stdio.h>

#define COLUMN	34		/* of the descriptions */

static const char *arguments(const struct doca_argp_param *param)
{
	if (param->arguments)
		return param->arguments;
	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		return "<number>";
	case DOCA_ARGP_TYPE_STRING:
		return "<text>";
	default:
		return NULL;
	}
}

static void print_flag(FILE *file, const struct doca_argp_param *param)
{
	const char *value = arguments(param);
	int width = 0;

	if (param->short_name)
		width += fprintf(file, "  -%s", param->short_name);
	if (param->long_name)
		width += fprintf(file, "%s--%s", param->short_name ? ", " : "  ", param->long_name);
	if (value)
		width += fprintf(file, " %s", value);
	if (param->description)
		fprintf(file, "%*s%s", width < COLUMN ? COLUMN - width : 1, "", param->description);
	fputs(param->mandatory ? " (mandatory)\n" : "\n", file);
}

void sed_argp_usage(FILE *file, const char *program, const struct doca_argp_param *params)
{
	static const char *const titles[SED_ARGP_GROUPS] = { "DOCA Flags", "Program Flags" };
	const struct doca_argp_param *param;
	unsigned int group;

	fprintf(file, "Usage: %s [DOCA Flags] [Program Flags]\n", program);
	for (group = 0; group < SED_ARGP_GROUPS; group++) {
		fprintf(file, "\n%s:\n", titles[group]);
		for (param = params; param; param = param->next) {
			if (param->group == group && !param->hidden)
				print_flag(file, param);
		}
	}
}
