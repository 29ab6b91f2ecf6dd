/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The module's tracepoints, in a trace instance of the test's own. As root.
 */
#ifndef SELFTESTS_TRACER_H
#define SELFTESTS_TRACER_H

#include "common.h"

#include <sys/stat.h>

#define INSTANCE	"/sys/kernel/tracing/instances/syncevent-selftest"

/*
 * One for all tests, each of which is a process of its own: to make its files takes the
 * debug kernel half a minute.
 */
static pid_t tracer_program;

__attribute__((constructor)) static void tracer_load(void)
{
	tracer_program = getpid();
}

__attribute__((destructor)) static void tracer_unload(void)
{
	if (getpid() == tracer_program)
		rmdir(INSTANCE);
}

/* Trace @events, from now on: "/" and the name of one, or "" for all. */
static inline int tracer_begin(const char *events)
{
	char path[128];

	/* Nobody asks whose they are: else the scheduler is patched, to note names of processes. */
	se_write_text("/sys/kernel/tracing/options/record-cmd", "0");
	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), INSTANCE "/events/syncevent%s/enable", events);
	return se_write_text(path, "1") ?: se_write_text(INSTANCE "/trace", "");
}

static inline void tracer_end(void)
{
	se_write_text(INSTANCE "/events/syncevent/enable", "0");
}

/* The next event in the trace, as "name: fields", without who and when; or NULL. */
static inline const char *tracer_next(FILE *trace)
{
	static char line[512];
	char *p;

	while (trace && fgets(line, sizeof(line), trace)) {
		p = strstr(line, " syncevent_");
		if (line[0] == '#' || !p)
			continue;
		line[strcspn(line, "\n")] = '\0';
		return p + 1;
	}
	return NULL;
}

#endif /* SELFTESTS_TRACER_H */
