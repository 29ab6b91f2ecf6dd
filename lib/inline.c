// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * inline.c - the inlines of the public headers as functions
 *
 * For languages that call C but do not compile it.
 */
#define SYNCEVENT_INLINE __attribute__((__visibility__("default")))

/* An inline needs no prototype before it. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <stdint.h>

#include <syncevent/inline.h>
