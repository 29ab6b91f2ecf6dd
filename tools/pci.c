// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* pci.c - memory that machines share, and its events as such */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <linux/syncevent.h>

#include "tool.h"

/* ---- peers ------------------------------------------------------------------------ */

enum { DEVICE, ADDRESS, SIDE, STATE, NOTE, COLUMNS };

static const struct tool_column columns[COLUMNS] = {
	[DEVICE] = { "DEVICE", false },
	[ADDRESS] = { "PCI ADDRESS", false },
	[SIDE] = { "SIDE", true },
	[STATE] = { "STATE", false },
	[NOTE] = { "NOTE", false },
};

static const char *state_of(const struct syncevent_pci *pci, uint32_t side,
			    const struct syncevent_pci_side *info)
{
	if (side == pci->side)
		return "here";
	if (info->alive)
		return "alive";
	return info->epoch ? "dead" : "absent";
}

static void json_side(struct json_object *array, const struct syncevent_pci *pci, uint32_t side,
		      const struct syncevent_pci_side *info)
{
	struct json_object *object = json_object_new_object();

	tool_json_u64(object, "side", side);
	tool_json_text(object, "state", state_of(pci, side, info));
	if (info->epoch)
		tool_json_text(object, "address", info->address);
	else
		tool_json_null(object, "address");
	tool_json_append(array, object);
}

static int table_side(struct libscols_table *table, const struct syncevent_pci *pci, uint32_t side,
		      const struct syncevent_pci_side *info)
{
	char number[16], note[160];
	const char *cells[COLUMNS] = {
		[DEVICE] = side ? "" : pci->device,
		[ADDRESS] = info->epoch ? info->address : "-",
		[SIDE] = number,
		[STATE] = state_of(pci, side, info),
	};

	snprintf(number, sizeof(number), "%" PRIu32, side);
	if (side == pci->side) {
		snprintf(note, sizeof(note), "%" PRIu32 " of %" PRIu32 " events used%s%s",
			 pci->slots_used, pci->slots / pci->sides,
			 pci->flags & SYNCEVENT_PCI_DOORBELL ? "" : ", no doorbell",
			 pci->flags & SYNCEVENT_PCI_ATOMICS ? "" : ", adds at home only");
		cells[NOTE] = note;
	}
	return tool_table_line(table, cells, COLUMNS);
}

/* The sides of one region. Returns 0 or a negative errno. */
static int show_sides(const struct syncevent_pci *pci, struct json_object *array,
		      struct libscols_table *table)
{
	struct syncevent_pci_side info = { .size = sizeof(info) };
	uint32_t side;
	int err = 0;

	for (side = 0; side < pci->sides && !err; side++) {
		err = syncevent_pci_side(pci->device, side, &info);
		/* It went, or is not attached any more. */
		if (err)
			return err == -ENODEV ? 0 : err;
		if (table)
			err = table_side(table, pci, side, &info);
		else
			json_side(array, pci, side, &info);
	}
	return err;
}

const char *tool_pci_why(int err)
{
	return err == -EACCES ? "permission denied: it is for root and the group syncevent" :
				syncevent_strerror(err);
}

/* One region; @err: why there is no more to say of it, or 0. */
static int show_region(const struct syncevent_pci *pci, int err, struct json_object *array,
		       struct libscols_table *table)
{
	bool attached = !err && pci->flags & SYNCEVENT_PCI_ATTACHED;
	const char *note = err ? tool_pci_why(err) :
			   "not attached: side 0 has not come yet, or the kernel's log tells why";
	struct json_object *object, *sides;
	const char *cells[COLUMNS] = {
		[DEVICE] = pci->device, [ADDRESS] = pci->address, [NOTE] = note,
	};
	char id[33];

	if (table)
		return attached ? show_sides(pci, NULL, table) : tool_table_line(table, cells, COLUMNS);
	object = json_object_new_object();
	sides = json_object_new_array();
	tool_json_text(object, "device", pci->device);
	if (err) {
		tool_json_text(object, "error", note);
	} else {
		tool_json_text(object, "address", pci->address);
		tool_json_bool(object, "attached", attached);
		tool_json_bool(object, "doorbell", pci->flags & SYNCEVENT_PCI_DOORBELL);
		tool_json_bool(object, "atomics", pci->flags & SYNCEVENT_PCI_ATOMICS);
	}
	if (attached) {
		snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, pci->id[0], pci->id[1]);
		tool_json_text(object, "region", id);
		tool_json_u64(object, "side", pci->side);
		tool_json_u64(object, "slots", pci->slots);
		tool_json_u64(object, "slots_used", pci->slots_used);
		tool_json_u64(object, "payload_pages", pci->payload_pages);
		tool_json_u64(object, "rung", pci->rung);
		tool_json_u64(object, "irqs", pci->irqs);
		tool_json_u64(object, "masked", pci->masked);
		err = show_sides(pci, sides, NULL);
	} else {
		err = 0;
	}
	tool_json_member(object, "sides", sides);
	tool_json_append(array, object);
	return err;
}

int tool_peers(const struct tool_args *args)
{
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct json_object *array = NULL;
	struct libscols_table *table = NULL;
	unsigned int i;
	int err = 0, found = 0;

	if (args->json)
		array = json_object_new_array();
	else
		table = tool_table(columns, COLUMNS);
	if (!args->json && !table)
		return tool_fail("list the machines", NULL, -ENOMEM);
	for (i = 0; !err; i++) {
		found = syncevent_pci_get(i, &pci);
		if (found && found != -EACCES)
			break;
		err = show_region(&pci, found, array, table);
	}
	if (found != -ENOENT)
		err = err ? err : found;

	if (!err && args->json)
		return tool_json_print(array);
	if (table)
		err = tool_table_print(table) ?: err;
	if (!err && !i)
		fputs("There is no memory that this machine shares with others: "
		      "docs/pci-peers.md tells how to join machines.\n", stderr);
	json_object_put(array);
	return err ? tool_fail("list the machines", NULL, err) : TOOL_OK;
}

/* ---- events ---------------------------------------------------------------------------- */

/* Holds an event until the command is stopped, @deadline passes, or the event ends. */
static int hold(struct syncevent *ev, uint64_t deadline)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = deadline, .how = SYNCEVENT_BLOCK,
	};
	int err;

	for (;;) {
		/* Nothing is greater: only its end ends this, and no update rings for it. */
		err = syncevent_wait(ev, SYNCEVENT_GT, UINT64_MAX, UINT64_MAX, &opts, NULL);
		if (err != -EPIPE)
			return err == -ETIMEDOUT ? 0 : err;
		/* A machine died; the event goes on, for when it comes back. */
		if (deadline != SYNCEVENT_FOREVER && tool_now() >= deadline)
			return 0;
		usleep(100000);
	}
}

int tool_create_on(const struct tool_args *args)
{
	struct syncevent_attr attr = {
		.size = sizeof(attr),
		.flags = args->silent ? SYNCEVENT_SILENT : 0,
		.value = args->value,
		.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.subscribers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.pci = args->on,
		.pages = args->pages > UINT32_MAX ? UINT32_MAX : (uint32_t)args->pages,
	};
	struct json_object *object;
	struct syncevent *ev;
	int status = TOOL_OK, err;

	err = syncevent_create(&ev, &attr);
	if (err)
		return tool_fail_event(args, "make the event", err);
	err = syncevent_export_name(ev, args->names[0], 0);
	if (err) {
		status = tool_fail_event(args, "name the event", err);
		goto out;
	}
	if (args->json) {
		object = json_object_new_object();
		tool_json_text(object, "name", args->names[0]);
		tool_json_u64(object, "value", args->value);
		tool_json_text(object, "on", args->on);
		status = tool_json_print(object);
	}
	/* Who reads this knows that the event is there. */
	if (!status)
		status = tool_flush() ? TOOL_ERROR : TOOL_OK;
	if (!status) {
		err = hold(ev, tool_deadline(args->timeout));
		status = err ? tool_fail_event(args, "hold the event", err) : TOOL_OK;
	}
out:
	syncevent_close(ev);
	return status;
}

int tool_export(const struct tool_args *args)
{
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	char text[2 * SYNCEVENT_BLOB_MAX + 1], safe[TOOL_TEXT_MAX];
	struct json_object *object;
	struct syncevent *ev;
	int err, i;

	err = tool_open(args, O_RDWR, &ev);
	if (err)
		return tool_fail_event(args, "open the event", err);
	err = syncevent_export(ev, args->read_only ? SYNCEVENT_RDONLY : 0, blob, sizeof(blob));
	syncevent_close(ev);
	if (err == -EPERM)
		return tool_error("another machine made '%s': export it there",
				  tool_escape(args->names[0], safe, sizeof(safe)));
	if (err < 0)
		return tool_fail_event(args, "export", err);
	for (i = 0; i < err; i++)
		snprintf(text + 2 * i, 3, "%02x", blob[i]);
	if (!args->json) {
		puts(text);
		return TOOL_OK;
	}
	object = json_object_new_object();
	tool_json_text(object, "name", args->names[0]);
	tool_json_text(object, "blob", text);
	return tool_json_print(object);
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' :
	       isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* Returns the number of bytes, 0 if it is nothing of the kind. */
static size_t read_blob(const char *text, unsigned char blob[SYNCEVENT_BLOB_MAX])
{
	char line[2 * SYNCEVENT_BLOB_MAX + 2];
	size_t n = 0;

	if (!strcmp(text, "-")) {
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		line[strcspn(line, "\n")] = '\0';
		text = line;
	}
	for (; *text; text += 2, n++) {
		if (n == SYNCEVENT_BLOB_MAX || digit(text[0]) < 0 || digit(text[1]) < 0)
			return 0;
		blob[n] = (unsigned char)(digit(text[0]) << 4 | digit(text[1]));
	}
	return n;
}

int tool_import(const struct tool_args *args)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	size_t size = read_blob(args->names[0], blob);
	struct json_object *object;
	struct syncevent *ev;
	bool update;
	int err;

	err = size ? syncevent_import(&ev, blob, size) : -EINVAL;
	switch (err) {
	case 0:
		break;
	case -EINVAL:
		return tool_error("this is no blob of \"syncevent export\", or a damaged one");
	case -ENODEV:
		return tool_error("the blob is of memory that this machine does not share; "
				  "\"syncevent peers\" tells what it shares");
	case -EACCES:
		return tool_error("permission denied: the device of the memory, or the blob's key, "
				  "is not for you");
	case -EIDRM:
		tool_error("the event of the blob has ended");
		return TOOL_ENDED;
	default:
		return tool_error("cannot import the event: %s", syncevent_strerror(err));
	}
	err = syncevent_stat(ev, &stat);
	syncevent_close(ev);
	if (err)
		return tool_error("cannot import the event: %s", syncevent_strerror(err));
	update = stat.flags & SYNCEVENT_STAT_UPDATE;
	if (!args->json) {
		printf("value %" PRIu64 ", rights %s, home side %" PRIu32 ", payload %" PRIu64 " bytes\n",
		       stat.value, update ? "read, update" : "read", stat.home, stat.payload);
		return TOOL_OK;
	}
	object = json_object_new_object();
	tool_json_u64(object, "value", stat.value);
	tool_json_bool(object, "update", update);
	tool_json_u64(object, "home", stat.home);
	tool_json_u64(object, "payload", stat.payload);
	return tool_json_print(object);
}
