// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* list.c - the named events */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

struct row {
	const char *name;
	struct stat file;
	struct syncevent_stat event;
	int err;		/* why the event could not be opened, or 0 */
};

static const char *state_of(const struct row *row)
{
	if (row->err)
		return row->err == -EIDRM ? "revoked" : "unknown";
	return row->event.flags & SYNCEVENT_STAT_REVOKED ? "revoked" : "live";
}

static const char *owner_of(const struct row *row, char *buf, size_t size)
{
	const struct passwd *owner = getpwuid(row->file.st_uid);

	if (owner)
		return owner->pw_name;
	snprintf(buf, size, "%u", row->file.st_uid);
	return buf;
}

/* shm does not know them. */
static bool knows_waiters(const struct row *row)
{
	return row->event.provider == SYNCEVENT_PROVIDER_KERNEL;
}

/* ---- as JSON --------------------------------------------------------------------------- */

static void json_row(struct json_object *array, const struct row *row)
{
	struct json_object *object = json_object_new_object();
	char text[32];

	tool_json_text(object, "name", row->name);
	tool_json_text(object, "state", state_of(row));
	snprintf(text, sizeof(text), "%04o", row->file.st_mode & 07777U);
	tool_json_text(object, "mode", text);
	tool_json_text(object, "owner", owner_of(row, text, sizeof(text)));
	if (row->err) {
		tool_json_text(object, "error", syncevent_strerror(row->err));
	} else {
		tool_json_u64(object, "value", row->event.value);
		tool_json_bool(object, "silent", row->event.flags & SYNCEVENT_STAT_SILENT);
		if (knows_waiters(row))
			tool_json_u64(object, "waiters", row->event.waiters);
		else
			tool_json_null(object, "waiters");
	}
	tool_json_append(array, object);
}

/* ---- as a table ------------------------------------------------------------------------ */

enum { NAME, VALUE, STATE, MODE, OWNER, WAITERS, NOTE, COLUMNS };

static const struct tool_column columns[COLUMNS] = {
	[NAME] = { "NAME", false },
	[VALUE] = { "VALUE", true },
	[STATE] = { "STATE", false },
	[MODE] = { "MODE", false },
	[OWNER] = { "OWNER", false },
	[WAITERS] = { "WAITERS", true },
	[NOTE] = { "NOTE", false },
};

static int table_row(struct libscols_table *table, const struct row *row)
{
	char number[32], mode[32], waiters[32], owner[32];
	const char *cells[COLUMNS] = {
		[NAME] = row->name,
		[VALUE] = "-",
		[STATE] = state_of(row),
		[MODE] = mode,
		[OWNER] = owner_of(row, owner, sizeof(owner)),
		[WAITERS] = "-",
		[NOTE] = row->err ? syncevent_strerror(row->err) : "",
	};

	snprintf(mode, sizeof(mode), "%04o", row->file.st_mode & 07777U);
	if (!row->err) {
		snprintf(number, sizeof(number), "%" PRIu64, row->event.value);
		cells[VALUE] = number;
		if (row->event.flags & SYNCEVENT_STAT_SILENT)
			cells[NOTE] = "silent";
	}
	if (!row->err && knows_waiters(row)) {
		snprintf(waiters, sizeof(waiters), "%" PRIu32, row->event.waiters);
		cells[WAITERS] = waiters;
	}
	return tool_table_line(table, cells, COLUMNS);
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* 0, or -ENOENT if it went meanwhile. What the event says is no error of the list. */
static int look_at(struct row *row, int folder, const char *file)
{
	struct syncevent *ev;

	if (fstatat(folder, file, &row->file, AT_SYMLINK_NOFOLLOW))
		return -ENOENT;
	row->err = syncevent_open(&ev, row->name, O_RDONLY, 0, NULL);
	if (row->err)
		return row->err == -ENOENT ? -ENOENT : 0;
	row->event.size = sizeof(row->event);
	row->err = syncevent_stat(ev, &row->event);
	syncevent_close(ev);
	return 0;
}

static int list_rows(struct dirent **files, int count, int folder, const char *prefix,
		     struct json_object *array, struct libscols_table *table)
{
	size_t length = strlen(prefix);
	struct row row;
	int i, err = 0;

	for (i = 0; i < count && !err; i++) {
		if (strncmp(files[i]->d_name, prefix, length))
			continue;
		row = (struct row){ .name = files[i]->d_name + length };
		/* Names do not begin with a dot, nor are they empty. */
		if (!*row.name || *row.name == '.' || look_at(&row, folder, files[i]->d_name))
			continue;
		if (table)
			err = table_row(table, &row);
		else
			json_row(array, &row);
	}
	return err;
}

/* The kernel may be asked for, and be there, without its names. */
static int cannot_list(const struct syncevent_caps *caps, int err)
{
	if (caps->provider == SYNCEVENT_PROVIDER_KERNEL && err == -ENOENT)
		err = -ENODEV;
	return tool_fail("list the events", NULL, err);
}

int tool_list(const struct tool_args *args)
{
	struct syncevent_caps caps = { .size = sizeof(caps) };
	struct json_object *array = NULL;
	struct libscols_table *table = NULL;
	struct dirent **files;
	int folder, count, i, err;

	err = syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps);
	if (err)
		return tool_fail("list the events", NULL, err);
	if (caps.provider == SYNCEVENT_PROVIDER_KERNEL && !tool_names_mounted(caps.names))
		return cannot_list(&caps, -ENODEV);
	folder = open(caps.names, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return cannot_list(&caps, -errno);
	count = scandirat(folder, ".", &files, NULL, alphasort);
	if (count < 0) {
		err = cannot_list(&caps, -errno);
		close(folder);
		return err;
	}

	if (args->json)
		array = json_object_new_array();
	else
		table = tool_table(columns, COLUMNS);
	err = args->json || table ? list_rows(files, count, folder, caps.name_prefix, array, table) :
				    -ENOMEM;
	for (i = 0; i < count; i++)
		free(files[i]);
	free(files);
	close(folder);

	if (args->json)
		return tool_json_print(array);
	if (table)
		err = tool_table_print(table) ?: err;
	return err ? tool_fail("list the events", NULL, err) : TOOL_OK;
}
