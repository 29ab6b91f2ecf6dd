// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* units.c - numbers and times of the command line: all of the text or nothing */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_xdigit(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool tool_read_u64(const char *text, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	unsigned long long number;
	char *end;

	/* strtoull() would take white space and signs, and turn -1 into 2^64 - 1. */
	if (!(hex ? is_xdigit(*digits) : is_digit(*digits)))
		return false;
	errno = 0;
	number = strtoull(digits, &end, hex ? 16 : 10);
	if (*end || errno)
		return false;
	*value = number;
	return true;
}

bool tool_read_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "", 1000000000 },
		{ "m", 60 * 1000000000ULL },
		{ "h", 3600 * 1000000000ULL },
	};
	const char *point = text + strspn(text, "0123456789");
	const char *unit = point;
	uint64_t whole, scale, sum;
	char *end;
	size_t i;

	if (point == text)
		return false;
	if (*point == '.') {
		unit = point + 1 + strspn(point + 1, "0123456789");
		if (unit == point + 1)
			return false;
	}
	for (i = 0; strcmp(unit, units[i].name); i++)
		if (i + 1 == sizeof(units) / sizeof(units[0]))
			return false;

	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno || end != point || __builtin_mul_overflow(whole, units[i].ns, &sum))
		return false;
	scale = units[i].ns;
	for (point += *point == '.'; point < unit; point++) {
		scale /= 10;
		if (__builtin_add_overflow(sum, scale * (uint64_t)(*point - '0'), &sum))
			return false;
	}
	if (sum == SYNCEVENT_FOREVER)
		return false;
	*ns = sum;
	return true;
}

bool tool_read_mode(const char *text, mode_t *mode)
{
	size_t length = strspn(text, "01234567");
	unsigned long number;

	if (!length || length > 5 || text[length])
		return false;
	number = strtoul(text, NULL, 8);
	if (number > 0777)
		return false;
	*mode = (mode_t)number;
	return true;
}

uint64_t tool_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t tool_deadline(uint64_t ns)
{
	uint64_t deadline;

	if (!ns || ns == SYNCEVENT_FOREVER)
		return ns;
	if (__builtin_add_overflow(tool_now(), ns, &deadline))
		return SYNCEVENT_FOREVER;
	return deadline;
}
