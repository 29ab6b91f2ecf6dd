// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* info.c - which provider is used and why, its guarantees and limits, devices for DOCA programs */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libsmartcols.h>

#include "tool.h"

#define MODULE	"/sys/module/syncevent"

static const struct {
	uint64_t cap;
	const char *key;	/* in JSON */
	const char *with;
	const char *without;
} guarantees[] = {
	{ SYNCEVENT_CAP_EXACT, "exact_wakeups",
	  "an update wakes those that it satisfies, and no others",
	  "an update may wake waiters that it does not satisfy, which go on waiting" },
	{ SYNCEVENT_CAP_RIGHTS, "rights",
	  "who may read only cannot update, whatever it does",
	  "rights hold as far as the programs that share an event keep to them" },
	{ SYNCEVENT_CAP_ZAP, "revoked_mappings",
	  "revocation takes mapped events away",
	  "revocation does not take mapped events away from a program that ignores it" },
	{ SYNCEVENT_CAP_PROMPT, "prompt_after_death",
	  "a publisher that is killed delays no wait",
	  "a publisher that is killed in the middle of an update may delay waits" },
	{ SYNCEVENT_CAP_FD, "pollable_fd",
	  "event files can be polled, read and written directly",
	  "event files are polled through a thread of the library" },
};
#define GUARANTEES	(sizeof(guarantees) / sizeof(guarantees[0]))

/* ---- where each line goes: a table, or a JSON object ------------------------------------ */

struct sheet {
	struct json_object *object;
	struct libscols_table *table;
	int err;
};

static void line(struct sheet *sheet, const char *label, const char *text)
{
	const char *const cells[2] = { label, text };

	if (sheet->table)
		sheet->err = tool_table_line(sheet->table, cells, 2) ?: sheet->err;
}

static void text(struct sheet *sheet, const char *key, const char *label, const char *value)
{
	line(sheet, label, value);
	if (!sheet->table)
		tool_json_text(sheet->object, key, value);
}

static void number(struct sheet *sheet, const char *key, const char *label, uint64_t value)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	line(sheet, label, buf);
	if (!sheet->table)
		tool_json_u64(sheet->object, key, value);
}

static void delay(struct sheet *sheet, const char *key, const char *label, uint64_t ns)
{
	char buf[32];

	if (ns % 1000000)
		snprintf(buf, sizeof(buf), "%.3f ms", (double)ns / 1e6);
	else
		snprintf(buf, sizeof(buf), "%" PRIu64 " ms", ns / 1000000);
	line(sheet, label, ns ? buf : "not late");
	if (!sheet->table)
		tool_json_u64(sheet->object, key, ns);
}

/* @used of @max, of which 0 is no limit. */
static void limit(struct sheet *sheet, const char *used_key, const char *max_key,
		  const char *label, uint64_t used, uint64_t max)
{
	char buf[80];

	if (max)
		snprintf(buf, sizeof(buf), "%" PRIu64 " of %" PRIu64, used, max);
	else
		snprintf(buf, sizeof(buf), "no limit but memory and open files");
	line(sheet, label, buf);
	if (sheet->table)
		return;
	if (max) {
		tool_json_u64(sheet->object, used_key, used);
		tool_json_u64(sheet->object, max_key, max);
	} else {
		tool_json_null(sheet->object, used_key);
		tool_json_null(sheet->object, max_key);
	}
}

/* ---- the lines --------------------------------------------------------------------------------- */

static const char *why(const struct tool_args *args, const struct syncevent_caps *caps)
{
	if (args->provider)
		return "--provider asks for it";
	if (getenv("SYNCEVENT_PROVIDER"))
		return "SYNCEVENT_PROVIDER in the environment asks for it";
	if (caps->provider == SYNCEVENT_PROVIDER_KERNEL)
		return "the default: there is /dev/syncevent";
	return "the default: there is no /dev/syncevent";
}

static void module_line(struct sheet *sheet)
{
	FILE *file = fopen(MODULE "/version", "re");
	char version[64] = "";

	if (file && fgets(version, sizeof(version), file))
		version[strcspn(version, "\n")] = '\0';
	if (file)
		fclose(file);
	if (*version)
		text(sheet, "module", "module", version);
	else if (!access(MODULE, F_OK))
		text(sheet, "module", "module", "loaded");
	else if (sheet->table)
		line(sheet, "module", "not loaded (modprobe syncevent)");
	else
		tool_json_null(sheet->object, "module");
}

static void names_lines(struct sheet *sheet, const struct syncevent_caps *caps)
{
	bool kernel = caps->provider == SYNCEVENT_PROVIDER_KERNEL;
	bool there = kernel ? tool_names_mounted(caps->names) : !access(caps->names, W_OK | X_OK);
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", caps->names, caps->name_prefix);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "NAME");
	text(sheet, "names", "names", path);
	if (!sheet->table)
		tool_json_bool(sheet->object, "names_usable", there);
	else if (kernel && there)
		line(sheet, "", "synceventfs is mounted");
	else if (kernel)
		line(sheet, "", "no synceventfs is mounted (mount -t synceventfs none /dev/syncevents)");
	else if (!there)
		line(sheet, "", "you cannot make files there");
}

static void guarantee_lines(struct sheet *sheet, uint64_t given)
{
	struct json_object *object = sheet->table ? NULL : json_object_new_object();
	const char *label = "but";
	size_t i;

	line(sheet, "guarantees", "no wake-up is lost, and a wait sees what was written before the update");
	for (i = 0; i < GUARANTEES; i++) {
		if (!sheet->table) {
			tool_json_bool(object, guarantees[i].key, given & guarantees[i].cap);
		} else if (given & guarantees[i].cap) {
			line(sheet, "", guarantees[i].with);
		}
	}
	if (!sheet->table) {
		tool_json_member(sheet->object, "guarantees", object);
		return;
	}
	for (i = 0; i < GUARANTEES; i++) {
		if (given & guarantees[i].cap)
			continue;
		line(sheet, label, guarantees[i].without);
		label = "";
	}
}

/* ---- the devices of programs written for DOCA ------------------------------------------ */

/* Where there is no memory that machines share: libsyncevent-doca's pair of devices. */
#define VIRTUAL_HOST	"0000:01:00.0"
#define VIRTUAL_DPU	"0000:03:00.0"

/* What to type there; @rep: another side's device, or NULL where none is named. */
static void doca_line(struct sheet *sheet, struct json_object *array, const char *where,
		      const char *device, const char *rep)
{
	struct json_object *object;
	char label[32], options[64];

	snprintf(label, sizeof(label), "DOCA %s", where);
	snprintf(options, sizeof(options), "-d %s%s%s", device, rep ? " -r " : "", rep ? rep : "");
	line(sheet, label, options);
	if (sheet->table)
		return;
	object = json_object_new_object();
	tool_json_text(object, "where", where);
	tool_json_text(object, "device", device);
	if (rep)
		tool_json_text(object, "representor", rep);
	else
		tool_json_null(object, "representor");
	tool_json_append(array, object);
}

static void doca_region(struct sheet *sheet, struct json_object *array,
			const struct syncevent_pci *pci)
{
	struct syncevent_pci_side info = { .size = sizeof(info) };
	char where[32];
	uint32_t side;

	for (side = 0; side < pci->sides; side++) {
		if (side == pci->side || syncevent_pci_side(pci->device, side, &info) || !info.alive)
			continue;
		doca_line(sheet, array, "here", pci->address, info.address);
		snprintf(where, sizeof(where), "on side %" PRIu32, side);
		doca_line(sheet, array, where, info.address, pci->address);
	}
}

/* @device: which, if that is known */
static void doca_refused(struct sheet *sheet, struct json_object *array, const char *device, int err)
{
	struct json_object *object;
	char text[160];

	snprintf(text, sizeof(text), "%s%s%s", device ? device : "", device ? ": " : "",
		 tool_pci_why(err));
	line(sheet, "DOCA", text);
	if (sheet->table)
		return;
	object = json_object_new_object();
	tool_json_text(object, "error", text);
	tool_json_append(array, object);
}

static void doca_lines(struct sheet *sheet)
{
	struct json_object *array = sheet->table ? NULL : json_object_new_array();
	struct syncevent_pci pci = { .size = sizeof(pci) };
	unsigned int i;
	int err;

	for (i = 0; (err = syncevent_pci_get(i, &pci)) != -ENOENT; i++) {
		if (!err)
			doca_region(sheet, array, &pci);
		else
			doca_refused(sheet, array, err == -EACCES ? pci.device : NULL, err);
		/* Another error than that of one device comes again. */
		if (err && err != -EACCES)
			break;
	}
	if (!i && err == -ENOENT) {
		doca_line(sheet, array, "host", VIRTUAL_HOST, NULL);
		doca_line(sheet, array, "DPU", VIRTUAL_DPU, VIRTUAL_HOST);
	}
	if (!sheet->table)
		tool_json_member(sheet->object, "doca", array);
}

static void fill(struct sheet *sheet, const struct tool_args *args,
		 const struct syncevent_caps *caps)
{
	text(sheet, "version", "syncevent", TOOL_VERSION);
	text(sheet, "provider", "provider",
	     caps->provider == SYNCEVENT_PROVIDER_KERNEL ? "kernel" : "shm");
	text(sheet, "why", "why", why(args, caps));
	module_line(sheet);
	number(sheet, "abi", "ABI", caps->abi);
	guarantee_lines(sheet, caps->guarantees);
	limit(sheet, "events", "events_max", "your events", caps->events, caps->events_max);
	limit(sheet, "entries", "entries_max", "your queue entries", caps->entries,
	      caps->entries_max);
	number(sheet, "wait_max", "events in one wait", caps->wait_max);
	delay(sheet, "late_max_ns", "late on silent events", caps->late_max_ns);
	delay(sheet, "recheck_ns", "late after a death", caps->recheck_ns);
	names_lines(sheet, caps);
	doca_lines(sheet);
}

int tool_info(const struct tool_args *args)
{
	static const struct tool_column columns[2] = { { "", false }, { "", false } };
	struct syncevent_caps caps = { .size = sizeof(caps) };
	struct sheet sheet = { 0 };
	int err;

	err = syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps);
	if (err)
		return tool_fail("use the kernel provider", NULL, err);
	if (args->json) {
		sheet.object = json_object_new_object();
		fill(&sheet, args, &caps);
		return tool_json_print(sheet.object);
	}
	sheet.table = tool_table(columns, 2);
	if (!sheet.table)
		return tool_fail("print the result", NULL, -ENOMEM);
	scols_table_enable_noheadings(sheet.table, 1);
	scols_table_set_column_separator(sheet.table, "  ");
	fill(&sheet, args, &caps);
	err = tool_table_print(sheet.table) ?: sheet.err;
	return err ? tool_fail("print the result", NULL, err) : TOOL_OK;
}
