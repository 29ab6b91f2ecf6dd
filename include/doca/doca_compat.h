/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_compat.h - which functions are stable, and what programs expect to be there
 *
 * A call of an experimental function is a warning unless DOCA_ALLOW_EXPERIMENTAL_API
 * is defined before the first of these headers.
 */
#ifndef DOCA_COMPAT_H
#define DOCA_COMPAT_H

/* Programs count on memset() and its like being declared by any of these headers. */
#include <string.h>

#define DOCA_STABLE __attribute__((__visibility__("default")))

#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((__visibility__("default")))
#else
#define DOCA_EXPERIMENTAL								\
	__attribute__((__deprecated__("experimental: define DOCA_ALLOW_EXPERIMENTAL_API"),	\
		       __visibility__("default")))
#endif

/* A call without a detour over the PLT, for what programs do a million times a second. */
#if defined(__has_attribute)
#if __has_attribute(__noplt__)
#define DOCA_DIRECT __attribute__((__noplt__))
#endif
#endif
#ifndef DOCA_DIRECT
#define DOCA_DIRECT
#endif

#endif /* DOCA_COMPAT_H */
