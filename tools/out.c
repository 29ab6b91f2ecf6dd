// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* out.c - results on stdout, complaints with a remedy on stderr */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "tool.h"

#define DEVICE	"/dev/syncevent"
/* Where synceventfs belongs. syncevent_query() says so too, if the module is there. */
#define NAMES	"/dev/syncevents"

/* ---- text ------------------------------------------------------------------------- */

const char *tool_escape(const char *text, char *buf, size_t size)
{
	const char *end = text + strlen(text);
	mbstate_t state = { 0 };
	size_t length, used = 0;
	wchar_t wide;

	while (text < end) {
		length = mbrtowc(&wide, text, (size_t)(end - text), &state);
		if (length > (size_t)(end - text) || !iswprint((wint_t)wide) || wide == L'\\') {
			if (used + 5 > size)
				break;
			sprintf(buf + used, "\\x%02x", (unsigned char)*text);
			used += 4;
			text++;
			memset(&state, 0, sizeof(state));
			continue;
		}
		if (used + length + 1 > size)
			break;
		memcpy(buf + used, text, length);
		used += length;
		text += length;
	}
	buf[used] = '\0';
	return buf;
}

/* JSON is UTF-8, whatever the locale. */
static bool is_utf8(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned int more, i;
	uint32_t code;

	while (*c) {
		if (*c < 0x80) {
			c++;
			continue;
		}
		more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : 1;
		if (*c < 0xc2 || *c > 0xf4)
			return false;
		code = *c & (0x3fU >> more);
		for (i = 1; i <= more; i++) {
			if ((c[i] & 0xc0) != 0x80)
				return false;
			code = code << 6 | (c[i] & 0x3f);
		}
		if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) ||
		    code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
			return false;
		c += more + 1;
	}
	return true;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static bool json_failed;

void tool_json_member(struct json_object *object, const char *key, struct json_object *value)
{
	if (!object || !value || json_object_object_add(object, key, value)) {
		json_failed = true;
		json_object_put(value);
	}
}

void tool_json_append(struct json_object *array, struct json_object *value)
{
	if (!array || !value || json_object_array_add(array, value)) {
		json_failed = true;
		json_object_put(value);
	}
}

void tool_json_u64(struct json_object *object, const char *key, uint64_t value)
{
	tool_json_member(object, key, json_object_new_uint64(value));
}

void tool_json_bool(struct json_object *object, const char *key, bool value)
{
	tool_json_member(object, key, json_object_new_boolean(value));
}

struct json_object *tool_json_string(const char *text)
{
	char escaped[TOOL_TEXT_MAX];

	if (!is_utf8(text))
		text = tool_escape(text, escaped, sizeof(escaped));
	return json_object_new_string(text);
}

void tool_json_text(struct json_object *object, const char *key, const char *text)
{
	tool_json_member(object, key, tool_json_string(text));
}

void tool_json_null(struct json_object *object, const char *key)
{
	if (!object || json_object_object_add(object, key, NULL))
		json_failed = true;
}

int tool_json_print(struct json_object *object)
{
	const char *text = NULL;

	if (object && !json_failed)
		text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
						      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		puts(text);
	json_object_put(object);
	json_failed = false;
	return text ? TOOL_OK : tool_fail("print the result", NULL, -ENOMEM);
}

int tool_flush(void)
{
	int err = 0;

	if (fflush(stdout))
		err = -errno;
	else if (ferror(stdout))
		err = -EIO;	/* why it failed then is not known any more */
	/* It was told of; exit() need not try again. */
	if (err) {
		__fpurge(stdout);
		clearerr(stdout);
	}
	return err;
}

/* ---- complaints ------------------------------------------------------------------------- */

int tool_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("syncevent: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return TOOL_ERROR;
}

bool tool_names_mounted(const char *folder)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	bool mounted = false;
	struct mntent *entry;

	if (!mounts)
		return false;
	/* The last mount on a folder hides those before. */
	while ((entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_dir, folder))
			mounted = !strcmp(entry->mnt_type, "synceventfs");
	endmntent(mounts);
	return mounted;
}

static int fail_provider(void)
{
	const char *provider = getenv("SYNCEVENT_PROVIDER");
	char text[TOOL_TEXT_MAX];

	return tool_error("SYNCEVENT_PROVIDER in the environment is '%s', but must be kernel or shm",
			  tool_escape(provider ? provider : "", text, sizeof(text)));
}

/* The file @path denies what was wanted. */
static int fail_denied(const char *what, const char *path)
{
	char text[2 * TOOL_TEXT_MAX];
	const struct passwd *owner;
	struct stat st;

	tool_escape(path, text, sizeof(text));
	if (stat(path, &st))
		return tool_error("cannot %s: permission denied by the folder of %s", what, text);
	owner = getpwuid(st.st_uid);
	if (owner)
		return tool_error("cannot %s: permission denied: %s belongs to %s and has mode %04o; "
				  "its owner can chmod it", what, text, owner->pw_name,
				  st.st_mode & 07777U);
	return tool_error("cannot %s: permission denied: %s belongs to user %u and has mode %04o; "
			  "its owner can chmod it", what, text, st.st_uid, st.st_mode & 07777U);
}

static int fail_absent(void)
{
	if (access(DEVICE, F_OK))
		return tool_error("there is no " DEVICE ": load the module (modprobe syncevent), "
				  "or do without it (--provider shm)");
	return tool_error("no synceventfs is mounted on " NAMES ", where the names of events are: "
			  "mkdir -p " NAMES " && mount -t synceventfs none " NAMES ", "
			  "or do without (--provider shm)");
}

static bool is_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= SYNCEVENT_NAME_MAX && name[0] != '.' && !strchr(name, '/');
}

int tool_fail(const char *what, const char *name, int err)
{
	struct syncevent_caps caps = { .size = sizeof(caps) };
	int usable = syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps);
	const char *provider = usable || caps.provider != SYNCEVENT_PROVIDER_SHM ? "kernel" : "shm";
	char text[TOOL_TEXT_MAX], path[PATH_MAX], safe[PATH_MAX];

	if (usable == -EINVAL)
		return fail_provider();
	snprintf(path, sizeof(path), "%s/%s%s", usable ? NAMES : caps.names,
		 usable ? "" : caps.name_prefix, name ? name : "");
	if (name)
		tool_escape(name, text, sizeof(text));

	switch (name ? err : 0) {
	case -ENOENT:
		return tool_error("there is no event '%s' (provider %s); make it: syncevent create %s",
				  text, provider, text);
	case -EEXIST:
		return tool_error("there is an event '%s' already (provider %s); use it, or remove it: "
				  "syncevent rm %s", text, provider, text);
	case -ENAMETOOLONG:
	case -EINVAL:
		if (!is_name(name))
			return tool_error("'%s' cannot be a name: a name has 1 to %d bytes, no '/', "
					  "and does not begin with '.'", text, SYNCEVENT_NAME_MAX);
		return tool_error("%s is no event; move it away, or take another name",
				  tool_escape(path, safe, sizeof(safe)));
	case -EIDRM:
		tool_error("the event '%s' was revoked", text);
		return TOOL_ENDED;
	case -EPIPE:
		tool_error("the peer that '%s' depends on died", text);
		return TOOL_ENDED;
	}
	switch (err) {
	case -ENODEV:
	case -ENOENT:
		return fail_absent();
	case -EACCES:
	case -EPERM:
		return fail_denied(what, usable || !name ? DEVICE : path);
	case -EMFILE:
		return tool_error("cannot %s: %s; \"syncevent info\" tells the limits", what,
				  syncevent_strerror(err));
	}
	if (name)
		return tool_error("cannot %s '%s': %s", what, text, syncevent_strerror(err));
	return tool_error("cannot %s: %s", what, syncevent_strerror(err));
}

/* With an event in memory that machines share. */
static int fail_on(const char *what, const char *name, const char *on, int err)
{
	char text[TOOL_TEXT_MAX], where[TOOL_TEXT_MAX];

	tool_escape(name, text, sizeof(text));
	tool_escape(on, where, sizeof(where));
	switch (err) {
	case -ENODEV:
		return tool_error("there is no memory shared with other machines on '%s', or it is "
				  "not attached; \"syncevent peers\" tells what there is", where);
	case -EACCES:
	case -EPERM:
		return tool_error("cannot %s '%s' on %s: permission denied: ask for the group "
				  "syncevent, to which the device belongs", what, text, where);
	case -ENOENT:
		return tool_error("there is no event '%s' on %s; make it, on any of the machines: "
				  "syncevent create %s --on PCI", text, where, text);
	case -EEXIST:
		return tool_error("there is an event '%s' on %s already; use it, or take another name",
				  text, where);
	case -EINVAL:
	case -ENAMETOOLONG:
		return tool_error("'%s' cannot be a name between machines: it has 1 to %d bytes", text,
				  SYNCEVENT_EXPORT_MAX);
	case -ENOSPC:
		return tool_error("cannot %s '%s' on %s: its memory has no more room for events or "
				  "payload of this machine; \"syncevent peers\" tells how much is used",
				  what, text, where);
	case -EOPNOTSUPP:
		return tool_error("cannot %s '%s' on %s: the pages of this machine are larger than "
				  "those of the memory: 4096 bytes; boot a kernel with such pages",
				  what, text, where);
	default:
		return tool_fail(what, name, err);
	}
}

int tool_fail_event(const struct tool_args *args, const char *what, int err)
{
	const char *name = args->names[0];

	return args->on ? fail_on(what, name, args->on, err) : tool_fail(what, name, err);
}
