/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * log.h - what the library itself logs, and how much is logged
 */
#ifndef SED_LOG_H
#define SED_LOG_H

#include "internal.h"

#include <doca_log.h>

/** sed_log() - as doca_log(), to the backends of the library */
void sed_log(uint32_t level, const char *fname, int line, const char *func,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

#define SED_LOG(level, ...)	sed_log(level, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define SED_ERR(...)	SED_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define SED_WARN(...)	SED_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)

/** sed_log_is_level() - is it one of enum doca_log_level? */
bool sed_log_is_level(int64_t level);

/** sed_log_set_level() - how much the program logs */
void sed_log_set_level(uint32_t level);

/** sed_log_set_sdk_level() - how much the library logs, to all that is and comes */
void sed_log_set_sdk_level(uint32_t level);

#endif /* SED_LOG_H */
