/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The syncevent command, run by a test that goes on meanwhile. A command that could hang
 * gets a --timeout.
 */
#ifndef SELFTESTS_COMMAND_H
#define SELFTESTS_COMMAND_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "pci.h"

/* What begins to run; or NULL. */
__attribute__((format(printf, 1, 2)))
static inline FILE *command_begin(const char *format, ...)
{
	char arguments[256], line[300];
	va_list ap;

	va_start(ap, format);
	vsnprintf(arguments, sizeof(arguments), format, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "syncevent %s 2>&1", arguments);
	return popen(line, "re");
}

/* Its end. @said: all that it printed, complaints first. Return: exit status, or -1 */
static inline int command_end(FILE *command, char *said, size_t size)
{
	size_t n = command ? fread(said, 1, size - 1, command) : 0;
	int status = command ? pclose(command) : -1;

	said[n] = '\0';
	return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the kernel's file and the command say that the other of two machines is: "dead, dead" */
static inline const char *peer_states(void)
{
	char file[64] = "", said[1024] = "", states[2][16] = { "?", "?" }, key[32];
	static char both[40];
	const char *found;

	se_read_text("/sys/class/misc/syncevent_pci0/peers", file, sizeof(file));
	sscanf(file, "%*u %15s", states[0]);
	snprintf(key, sizeof(key), "\"side\":%u,\"state\":\"", !my_side());
	if (!command_end(command_begin("peers --json"), said, sizeof(said))) {
		found = strstr(said, key);
		if (found)
			sscanf(found + strlen(key), "%15[a-z]", states[1]);
	}
	snprintf(both, sizeof(both), "%s, %s", states[0], states[1]);
	return both;
}

#endif /* SELFTESTS_COMMAND_H */
