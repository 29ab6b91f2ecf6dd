/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* mmap.h - what mmap.c and buf.c share */
#ifndef SED_MMAP_H
#define SED_MMAP_H

#include "internal.h"

struct doca_mmap;

/** sed_mmap_has() - is this its memory? */
bool sed_mmap_has(const struct doca_mmap *mmap, const void *addr, size_t len);
bool sed_mmap_started(const struct doca_mmap *mmap);
uint32_t sed_mmap_access(const struct doca_mmap *mmap);
/** sed_mmap_buffers() - there are so many more of it */
void sed_mmap_buffers(struct doca_mmap *mmap, int more);

#endif /* SED_MMAP_H */
