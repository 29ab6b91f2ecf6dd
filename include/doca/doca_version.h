/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_version.h - which version of the DOCA interface this is
 *
 * The version of the library itself is a variable of the pkg-config files
 * (pkg-config --variable=syncevent_version doca-common).
 */
#ifndef DOCA_VERSION_H
#define DOCA_VERSION_H

#include <doca_compat.h>

#define DOCA_VERSION_MAJOR	3
#define DOCA_VERSION_MINOR	0
#define DOCA_VERSION_PATCH	0
#define DOCA_VERSION_STRING	"3.0.0"

#ifdef __cplusplus
extern "C" {
#endif

/** doca_version() - the interface that a program was compiled for. Return: a constant string */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/** doca_version_runtime() - that of the library it runs with. Return: a constant string */
DOCA_EXPERIMENTAL
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H */
