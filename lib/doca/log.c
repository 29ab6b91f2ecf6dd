// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * log.c - messages, their sources and where they go
 *
 * One lock is over all of it, and is held while a line is written: lines do not mix, also
 * if two backends write to the same file. Below it nothing is called but stdio: it does not
 * matter in which order a fork takes it and the locks of dev.c and lib/watch.c.
 */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_version.h>

struct doca_log_backend {
	struct doca_log_backend *next;
	FILE *file;
	uint32_t level;
};

/* Backends of the library and names of sources last until the process ends. */
static struct {
	pthread_mutex_t lock;
	int cancel_state;
	bool standard;
	uint32_t level;
	uint32_t sdk_level;
	struct doca_log_backend *backends;
	char **sources;
	int count;
} state = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.level = DOCA_LOG_LEVEL_INFO,
	.sdk_level = DOCA_LOG_LEVEL_WARNING,
};

/* A thread that is cancelled in a write(2) below the lock would leave it taken. */
static void lock(void)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&state.lock);
	state.cancel_state = cancel_state;
}

static void unlock(void)
{
	int cancel_state = state.cancel_state;

	pthread_mutex_unlock(&state.lock);
	pthread_setcancelstate(cancel_state, &cancel_state);
}

/* A child logs as well: a fork waits for the line that another thread is writing. */
__attribute__((constructor)) static void log_load(void)
{
	pthread_atfork(lock, unlock, unlock);
}

/* What is logged by who has no name. */
#define NO_SOURCE	"DOCA"

bool sed_log_is_level(int64_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

static const char *level_name(uint32_t level)
{
	static const char *const names[] = { "CRT", "ERR", "WRN", "INF", "DBG", "TRC" };

	return names[level / 10 - 2];
}

/* With the lock held. */
__attribute__((format(printf, 7, 0)))
static void write_line(FILE *file, uint32_t level, const char *source, const char *fname, int line,
		       const char *func, const char *format, va_list args)
{
	const char *slash = strrchr(fname, '/');
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	flockfile(file);
	fprintf(file, "[%02d:%02d:%02d.%06ld][%s][%s][%s:%d][%s] ", tm.tm_hour, tm.tm_min,
		tm.tm_sec, now.tv_nsec / 1000, level_name(level), source,
		slash ? slash + 1 : fname, line, func);
	vfprintf(file, format, args);
	putc('\n', file);
	/* Whoever reads it may wait for it, and the program may be killed. */
	fflush(file);
	funlockfile(file);
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		      const char *format, ...)
{
	va_list args;

	if (!sed_log_is_level(level) || level == DOCA_LOG_LEVEL_DISABLE || source < 0 ||
	    !fname || !func || !format)
		return DOCA_ERROR_INVALID_VALUE;
	lock();
	if (source > state.count) {
		unlock();
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (state.standard && level <= state.level) {
		va_start(args, format);
		write_line(level <= DOCA_LOG_LEVEL_WARNING ? stderr : stdout, level,
			   source ? state.sources[source - 1] : NO_SOURCE, fname, line, func,
			   format, args);
		va_end(args);
	}
	unlock();
	return DOCA_SUCCESS;
}

void sed_log(uint32_t level, const char *fname, int line, const char *func,
		 const char *format, ...)
{
	struct doca_log_backend *backend;
	va_list args;

	lock();
	for (backend = state.backends; backend; backend = backend->next) {
		if (level > backend->level)
			continue;
		va_start(args, format);
		write_line(backend->file, level, NO_SOURCE, fname, line, func, format, args);
		va_end(args);
	}
	unlock();
}

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	char *name, **sources = NULL;

	if (!source_name || !source)
		return DOCA_ERROR_INVALID_VALUE;
	name = strdup(source_name);
	if (!name)
		return DOCA_ERROR_NO_MEMORY;
	lock();
	sources = realloc(state.sources, ((size_t)state.count + 1) * sizeof(*sources));
	if (sources) {
		sources[state.count++] = name;
		state.sources = sources;
		*source = state.count;
	}
	unlock();
	if (!sources)
		free(name);
	return sources ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_log_backend_create_standard(void)
{
	lock();
	state.standard = true;
	unlock();
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
	struct doca_log_backend *made;

	if (!fptr || !backend)
		return DOCA_ERROR_INVALID_VALUE;
	made = malloc(sizeof(*made));
	if (!made)
		return DOCA_ERROR_NO_MEMORY;
	made->file = fptr;
	lock();
	made->level = state.sdk_level;
	made->next = state.backends;
	state.backends = made;
	unlock();
	*backend = made;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	if (!backend || !sed_log_is_level(level))
		return DOCA_ERROR_INVALID_VALUE;
	lock();
	backend->level = level;
	unlock();
	return DOCA_SUCCESS;
}

void sed_log_set_level(uint32_t level)
{
	lock();
	state.level = level;
	unlock();
}

void sed_log_set_sdk_level(uint32_t level)
{
	struct doca_log_backend *backend;

	lock();
	state.sdk_level = level;
	for (backend = state.backends; backend; backend = backend->next)
		backend->level = level;
	unlock();
}

const char *doca_version_runtime(void)
{
	return DOCA_VERSION_STRING;
}
