// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * argp_json.c - flags from a JSON file
 */
#include "argp.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

/* More than flags can be; and json-c counts in int. */
#define SIZE_MAX_JSON	(1 << 20)

/* The text of a file, to be freed. NULL: no memory. */
static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file)
		sed_argp_refuse("%s: %s", path, strerror(errno));
	text = malloc(SIZE_MAX_JSON);
	if (text) {
		*size = fread(text, 1, SIZE_MAX_JSON, file);
		if (ferror(file))
			sed_argp_refuse("%s: %s", path, strerror(errno));
		if (*size == SIZE_MAX_JSON)
			sed_argp_refuse("%s: larger than a file of flags can be", path);
	}
	fclose(file);
	return text;
}

/* Exactly one value and nothing behind it. NULL: no memory. */
static struct json_object *parse(const char *path, const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	enum json_tokener_error error;
	struct json_object *root;

	if (!tokener)
		return NULL;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tokener, text, (int)size);
	error = json_tokener_get_error(tokener);
	if (error == json_tokener_continue)
		sed_argp_refuse("%s: the JSON text is not complete", path);
	if (error != json_tokener_success)
		sed_argp_refuse("%s: at byte %zu: %s", path, json_tokener_get_parse_end(tokener),
			       json_tokener_error_desc(error));
	json_tokener_free(tokener);
	if (!json_object_is_type(root, json_type_object))
		sed_argp_refuse("%s: not a JSON object", path);
	return root;
}

static doca_error_t take_text(struct sed_argp_value *value, const char *text)
{
	value->text = value->copy = strdup(text);
	return value->text ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t take_value(const char *path, struct doca_argp_param *param,
			       struct json_object *json)
{
	static const struct {
		enum json_type json;
		const char *what;
	} wanted[] = {
		[DOCA_ARGP_TYPE_STRING] = { json_type_string, "a string" },
		[DOCA_ARGP_TYPE_INT] = { json_type_int, "an integer" },
		[DOCA_ARGP_TYPE_BOOLEAN] = { json_type_boolean, "true or false" },
		[DOCA_ARGP_TYPE_JSON_OBJ] = { json_type_object, "an object" },
	};
	struct sed_argp_value *value;
	int64_t number;
	const char *text;

	if (!json_object_is_type(json, wanted[param->type].json))
		sed_argp_refuse("%s: \"%s\" must be %s", path, param->long_name,
			       wanted[param->type].what);
	value = sed_argp_give(param, SED_ARGP_JSON);
	if (!value)
		return DOCA_ERROR_NO_MEMORY;
	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		number = json_object_get_int64(json);
		if (number < INT_MIN || number > INT_MAX)
			sed_argp_refuse("%s: \"%s\" must be from %d to %d", path, param->long_name,
				       INT_MIN, INT_MAX);
		value->integer = (int)number;
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_BOOLEAN:
		value->boolean = json_object_get_boolean(json);
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_STRING:
		text = json_object_get_string(json);
		if (strlen(text) != (size_t)json_object_get_string_len(json))
			sed_argp_refuse("%s: \"%s\" has a character \\u0000", path,
					param->long_name);
		return take_text(value, text);
	default:
		text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
		return text ? take_text(value, text) : DOCA_ERROR_NO_MEMORY;
	}
}

static doca_error_t take_flag(const char *path, enum sed_argp_group group, const char *key,
			      struct json_object *json)
{
	struct doca_argp_param *param = sed_argp_find(group, key);
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	if (!param)
		sed_argp_refuse("%s: no such flag: \"%s\"", path, key);
	if (param->cli_only)
		sed_argp_refuse("%s: \"%s\" is for the command line only", path, key);
	/* What the command line says goes. */
	if (param->given[SED_ARGP_LINE])
		return DOCA_SUCCESS;
	if (!json_object_is_type(json, json_type_array) || !param->multiple)
		return take_value(path, param, json);
	for (i = 0; i < json_object_array_length(json) && result == DOCA_SUCCESS; i++)
		result = take_value(path, param, json_object_array_get_idx(json, i));
	return result;
}

static doca_error_t take_group(const char *path, enum sed_argp_group group, const char *name,
			       struct json_object *flags)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!json_object_is_type(flags, json_type_object))
		sed_argp_refuse("%s: \"%s\" must be an object", path, name);
	json_object_object_foreach(flags, key, json) {
		result = take_flag(path, group, key, json);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

static doca_error_t take_root(const char *path, struct json_object *root)
{
	doca_error_t result = DOCA_SUCCESS;

	json_object_object_foreach(root, key, json) {
		if (!strcmp(key, "doca_general_flags"))
			result = take_group(path, SED_ARGP_GENERAL, key, json);
		else if (!strcmp(key, "doca_program_flags"))
			result = take_group(path, SED_ARGP_PROGRAM, key, json);
		else
			sed_argp_warn("%s: \"%s\" has no flags and is left alone", path, key);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

doca_error_t sed_argp_json(const char *path)
{
	struct json_object *root;
	doca_error_t result;
	size_t size;
	char *text;

	text = read_file(path, &size);
	if (!text)
		return DOCA_ERROR_NO_MEMORY;
	root = parse(path, text, size);
	free(text);
	if (!root)
		return DOCA_ERROR_NO_MEMORY;
	result = take_root(path, root);
	json_object_put(root);
	return result;
}
