// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* report.c - text and JSON */
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>
#include <libsmartcols.h>

const struct target *target_of(const struct bench *bench, const char *ours, const char *peer,
			       const struct machine *machine)
{
	const struct target *t;

	for (t = bench->targets; t && t->ours; t++)
		if (!strcmp(t->ours, ours) && !strcmp(t->peer, peer) &&
		    (t->provider == SYNCEVENT_PROVIDER_DEFAULT ||
		     t->provider == machine->provider))
			return t;
	return NULL;
}

static const char *provider_name(const struct machine *machine)
{
	return machine->provider == SYNCEVENT_PROVIDER_KERNEL ? "kernel" : "shm";
}

/* ---- text ------------------------------------------------------------------------- */

struct column {
	const char *name;
	bool right;
};

static struct libscols_table *new_table(const struct column *columns, const char *title,
					const struct machine *machine)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	for (; columns->name; columns++)
		if (!scols_table_new_column(table, columns->name, 0,
					    columns->right ? SCOLS_FL_RIGHT : 0)) {
			scols_unref_table(table);
			return NULL;
		}
	printf("\n%s%s\n", title, machine->emulated ? " (emulated)" : "");
	return table;
}

__attribute__((format(printf, 3, 4)))
static void cell(struct libscols_line *line, size_t column, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!line || scols_line_set_data(line, column, text))
		die("scols_line_set_data", ENOMEM);
}

/* As many digits as are of use, for a nanosecond or a second. */
static void number(struct libscols_line *line, size_t column, double value)
{
	cell(line, column, "%.*f", value < 10 ? 2 : value < 1000 ? 1 : 0, value);
}

static int show(struct libscols_table *table)
{
	int err;

	if (!table)
		return -ENOMEM;
	err = scols_print_table(table);
	scols_unref_table(table);
	return err;
}

static void figure_line(struct libscols_table *table, const struct result *r, unsigned int i)
{
	const struct side_result *s = &r->side[i];
	struct libscols_line *line = scols_table_new_line(table, NULL);
	const char *not_run = r->not_run ? r->not_run : s->not_run;
	struct spread spread;

	cell(line, 0, "%s", r->bench->name);
	cell(line, 1, "%s", r->bench->sides[i].name);
	if (not_run) {
		cell(line, 7, "%s", not_run);
		return;
	}
	spread = spread_of(s->each, r->runs);
	number(line, 2, spread.median);
	number(line, 3, spread.min);
	number(line, 4, spread.max);
	if (s->cpu_ns > 0)
		number(line, 5, s->cpu_ns);
	if (s->sleeps >= 0)
		number(line, 6, s->sleeps);
	cell(line, 7, "%s", r->bench->unit);
}

static int text_figures(const struct result *results, unsigned int n,
			const struct machine *machine)
{
	static const struct column columns[] = {
		{ "BENCHMARK", false }, { "SIDE", false }, { "MEDIAN", true }, { "MIN", true },
		{ "MAX", true }, { "CPU-NS", true }, { "WAKE-UPS", true }, { "UNIT", false },
		{ NULL, false }
	};
	struct libscols_table *table = new_table(columns, "Figures", machine);
	unsigned int b, i;

	for (b = 0; table && b < n; b++)
		for (i = 0; results[b].bench->sides[i].name; i++)
			figure_line(table, &results[b], i);
	return show(table);
}

static void ratio_line(struct libscols_table *table, const struct result *r,
		       unsigned int ours, unsigned int peer, const struct machine *machine)
{
	const struct side *sides = r->bench->sides;
	const struct target *target = target_of(r->bench, sides[ours].name, sides[peer].name,
						machine);
	struct libscols_line *line = scols_table_new_line(table, NULL);
	struct spread spread = ratios(r, ours, peer);

	cell(line, 0, "%s", r->bench->name);
	cell(line, 1, "%s / %s", sides[ours].name, sides[peer].name);
	cell(line, 2, "%.3f", spread.median);
	cell(line, 3, "%.3f", spread.min);
	cell(line, 4, "%.3f", spread.q1);
	cell(line, 5, "%.3f", spread.q3);
	cell(line, 6, "%.3f", spread.max);
	if (target)
		cell(line, 7, "%g %s", target->ratio,
		     spread.median <= target->ratio ? "met" : "missed");
}

static int text_ratios(const struct result *results, unsigned int n,
		       const struct machine *machine)
{
	static const struct column columns[] = {
		{ "BENCHMARK", false }, { "SIDES", false }, { "RATIO", true }, { "MIN", true },
		{ "Q1", true }, { "Q3", true }, { "MAX", true }, { "TARGET", false },
		{ NULL, false }
	};
	struct libscols_table *table = new_table(columns, "Ratios, round by round", machine);
	unsigned int b, i, k;

	for (b = 0; table && b < n; b++)
		for (i = 0; results[b].bench->sides[i].name; i++)
			for (k = 0; results[b].bench->sides[k].name; k++)
				if (comparable(&results[b], i, k))
					ratio_line(table, &results[b], i, k, machine);
	return show(table);
}

static int text_counts(const struct result *results, unsigned int n,
		       const struct machine *machine)
{
	static const struct column columns[] = {
		{ "BENCHMARK", false }, { "COUNT", false }, { "VALUE", true }, { "EXPECTED", true },
		{ NULL, false }
	};
	struct libscols_table *table = NULL;
	unsigned int b, i;

	for (b = 0; b < n; b++)
		for (i = 0; i < results[b].counts; i++) {
			const struct count *count = &results[b].count[i];
			struct libscols_line *line;

			if (!table)
				table = new_table(columns, "Counts", machine);
			if (!table)
				return -ENOMEM;
			line = scols_table_new_line(table, NULL);
			cell(line, 0, "%s", results[b].bench->name);
			cell(line, 1, "%s", count->name);
			cell(line, 2, "%g", count->value);
			if (count->expected >= 0)
				cell(line, 3, "%g", count->expected);
		}
	return table ? show(table) : 0;
}

static int text_report(const struct result *results, unsigned int n,
		       const struct options *options, const struct machine *machine)
{
	int err;

	printf("provider  %s\n", provider_name(machine));
	printf("machine   %s, %u CPUs%s%s, %s\n", machine->cpu, machine->cpus,
	       machine->hypervisor[0] ? ", virtual: " : "", machine->hypervisor,
	       machine->kernel);
	printf("rounds    %u%s\n", options->runs,
	       options->quick ? ", quick: the times mean nothing" : "");
	if (machine->emulated)
		printf("emulated  the times are those of an emulator, not of a machine\n");
	err = text_figures(results, n, machine);
	if (!err)
		err = text_ratios(results, n, machine);
	if (!err)
		err = text_counts(results, n, machine);
	return err;
}

/* ---- JSON ----------------------------------------------------------------------------- */

/* The library returns NULL if memory runs out: then there is no report. */
static void member(struct json_object *object, const char *key, struct json_object *value)
{
	if (!object || !value || json_object_object_add(object, key, value))
		die("JSON", ENOMEM);
}

static void element(struct json_object *array, struct json_object *value)
{
	if (!array || !value || json_object_array_add(array, value))
		die("JSON", ENOMEM);
}

static void text(struct json_object *object, const char *key, const char *value)
{
	member(object, key, json_object_new_string(value));
}

static void real(struct json_object *object, const char *key, double value)
{
	char digits[40];

	snprintf(digits, sizeof(digits), "%.6g", value);
	member(object, key, json_object_new_double_s(value, digits));
}

static void spread(struct json_object *object, struct spread s)
{
	real(object, "median", s.median);
	real(object, "min", s.min);
	real(object, "q1", s.q1);
	real(object, "q3", s.q3);
	real(object, "max", s.max);
}

static struct json_object *json_side(const struct result *r, unsigned int i)
{
	const struct side_result *s = &r->side[i];
	struct json_object *object = json_object_new_object();
	const char *not_run = r->not_run ? r->not_run : s->not_run;

	text(object, "name", r->bench->sides[i].name);
	member(object, "ours", json_object_new_boolean(r->bench->sides[i].ours));
	if (not_run) {
		text(object, "not_run", not_run);
		return object;
	}
	member(object, "operations", json_object_new_uint64(s->n));
	spread(object, spread_of(s->each, r->runs));
	if (s->cpu_ns > 0)
		real(object, "cpu_ns", s->cpu_ns);
	if (s->sleeps >= 0)
		real(object, "wakeups", s->sleeps);
	return object;
}

static struct json_object *json_ratio(const struct result *r, unsigned int ours,
				      unsigned int peer, const struct machine *machine)
{
	const struct side *sides = r->bench->sides;
	const struct target *target = target_of(r->bench, sides[ours].name, sides[peer].name,
						machine);
	struct json_object *object = json_object_new_object();
	struct spread s = ratios(r, ours, peer);

	text(object, "ours", sides[ours].name);
	text(object, "peer", sides[peer].name);
	spread(object, s);
	if (target) {
		real(object, "target", target->ratio);
		member(object, "met", json_object_new_boolean(s.median <= target->ratio));
	}
	return object;
}

static struct json_object *json_bench(const struct result *r, const struct machine *machine)
{
	struct json_object *object = json_object_new_object();
	struct json_object *sides = json_object_new_array();
	struct json_object *pairs = json_object_new_array();
	struct json_object *counts = json_object_new_array();
	unsigned int i, k;

	text(object, "name", r->bench->name);
	text(object, "what", r->bench->what);
	text(object, "unit", r->bench->unit);
	for (i = 0; r->bench->sides[i].name; i++) {
		element(sides, json_side(r, i));
		for (k = 0; r->bench->sides[k].name; k++)
			if (comparable(r, i, k))
				element(pairs, json_ratio(r, i, k, machine));
	}
	for (i = 0; i < r->counts; i++) {
		struct json_object *count = json_object_new_object();

		text(count, "name", r->count[i].name);
		real(count, "value", r->count[i].value);
		if (r->count[i].expected >= 0)
			real(count, "expected", r->count[i].expected);
		element(counts, count);
	}
	member(object, "sides", sides);
	member(object, "ratios", pairs);
	member(object, "counts", counts);
	return object;
}

static int json_report(const struct result *results, unsigned int n,
		       const struct options *options, const struct machine *machine)
{
	struct json_object *root = json_object_new_object();
	struct json_object *place = json_object_new_object();
	struct json_object *benches = json_object_new_array();
	unsigned int i;

	text(root, "provider", provider_name(machine));
	text(place, "cpu", machine->cpu);
	text(place, "kernel", machine->kernel);
	text(place, "hypervisor", machine->hypervisor);
	member(place, "cpus", json_object_new_uint64(machine->cpus));
	member(place, "emulated", json_object_new_boolean(machine->emulated));
	member(root, "machine", place);
	member(root, "runs", json_object_new_uint64(options->runs));
	member(root, "quick", json_object_new_boolean(options->quick));
	for (i = 0; i < n; i++)
		element(benches, json_bench(&results[i], machine));
	member(root, "benchmarks", benches);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_SPACED |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	return 0;
}

int report(const struct result *results, unsigned int n, const struct options *options,
	   const struct machine *machine)
{
	int err = options->json ? json_report(results, n, options, machine) :
				  text_report(results, n, options, machine);

	if (!err && fflush(stdout))
		err = -errno;
	return err;
}
