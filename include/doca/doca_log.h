/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_log.h - messages of programs, and of the library
 *
 * A file that logs says DOCA_LOG_REGISTER(NAME) once, and then DOCA_LOG_INFO("...").
 * What is logged goes to every backend of its kind: messages of programs to the
 * standard one, those of the library to those made with _sdk. There is none at first.
 *
 * A line has its time, level, source, file, line and function:
 *
 *	[12:00:00.000000][INF][NAME][main.c:42][main] text
 *
 * Any function may be called by several threads at once, and by a child that was forked
 * beside them: fork(2) waits for a line that is being written. Lines do not mix. A thread
 * that is cancelled ends behind its line.
 */
#ifndef DOCA_LOG_H
#define DOCA_LOG_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum doca_log_level - what is logged: messages of this number and less */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10,	/* of backends: nothing */
	DOCA_LOG_LEVEL_CRIT = 20,
	DOCA_LOG_LEVEL_ERROR = 30,
	DOCA_LOG_LEVEL_WARNING = 40,
	DOCA_LOG_LEVEL_INFO = 50,
	DOCA_LOG_LEVEL_DEBUG = 60,
	DOCA_LOG_LEVEL_TRACE = 70,
};

/** struct doca_log_backend - where messages go; it lasts until the process ends */
struct doca_log_backend;

/**
 * doca_log_backend_create_standard() - log what the program says
 *
 * Warnings and what is worse go to stderr, the rest to stdout. The level is INFO, until
 * doca_argp_start() finds another one on the command line. There is one such backend:
 * later calls change nothing.
 *
 * Return: SUCCESS.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/**
 * doca_log_backend_create_with_file_sdk() - log what the library says
 * @fptr: where to; it is used until the process ends
 * @backend: gets the backend, its level WARNING or that of the command line
 *
 * Return: SUCCESS; INVALID_VALUE: NULL; NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * doca_log_backend_set_sdk_level() - how much the library says
 * @backend: one of its backends
 * @level: enum doca_log_level
 *
 * Return: SUCCESS; INVALID_VALUE: NULL, or no level.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/**
 * doca_log_register_source() - give what logs a name
 * @source_name: is copied
 * @source: gets the number for doca_log()
 *
 * Return: SUCCESS; INVALID_VALUE: NULL; NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * doca_log() - log a message
 * @level: enum doca_log_level, not DISABLE
 * @source: from doca_log_register_source(); 0 if there is none
 * @fname: file, of which the last part is shown
 * @line: line
 * @func: function
 * @format: as printf(3), without a newline at its end
 *
 * Return: SUCCESS, also if no backend wants it; INVALID_VALUE: NULL, no level, no source.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
		      const char *format, ...) __attribute__((format(printf, 6, 7)));

/**
 * DOCA_LOG_REGISTER() - name what this file logs
 *
 * Once in a file, outside of functions. The name may have colons: SAMPLE::MAIN.
 */
#define DOCA_LOG_REGISTER(name)							\
	static int log_source;							\
	static void __attribute__((constructor)) doca_log_register_this_file(void) \
	{									\
		if (doca_log_register_source(#name, &log_source) != DOCA_SUCCESS)	\
			log_source = 0;						\
	}

#define DOCA_LOG(level, ...)							\
	((void)doca_log((level), log_source, __FILE__, __LINE__, __func__, __VA_ARGS__))

#define DOCA_LOG_CRIT(...)	DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...)	DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...)	DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...)	DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...)	DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define DOCA_LOG_TRC(...)	DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H */
