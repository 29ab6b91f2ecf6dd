/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_mmap.h - memory of the program, and who may do what to it
 *
 * As far as sync events need it: memory of this process, from which doca_buf.h makes
 * buffers. Nothing here moves data, so memory is not exported.
 *
 * Threads: a map and its buffers belong to one thread.
 */
#ifndef DOCA_MMAP_H
#define DOCA_MMAP_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_mmap;

/** doca_mmap_create() - without memory; LOCAL_READ_ONLY. Return: or INVALID_VALUE, NO_MEMORY */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/** doca_mmap_destroy() - stops it first. Return: or INVALID_VALUE; NOT_PERMITTED: it has buffers */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * doca_mmap_start() - have buffers made of it
 *
 * Return: or INVALID_VALUE; BAD_STATE: it is started; BAD_CONFIG: it has no memory, or no
 * device.
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * doca_mmap_stop() - make no more buffers of it
 *
 * Return: or INVALID_VALUE; BAD_STATE: not started; NOT_PERMITTED: it has buffers.
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/** doca_mmap_add_dev() - held until its end. Return: or INVALID_VALUE, NO_MEMORY, BAD_STATE */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * doca_mmap_set_memrange() - which memory; once, and before it is started
 *
 * Return: or INVALID_VALUE: none, or beyond the end of all; BAD_STATE: it is started;
 * NOT_PERMITTED: it was called.
 */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/** doca_mmap_set_dmabuf_memrange() - Return: NOT_SUPPORTED; INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len);

/** doca_mmap_set_permissions() - DOCA_ACCESS_FLAG_*. Return: or INVALID_VALUE, BAD_STATE */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/** doca_mmap_export_pci() - Return: NOT_SUPPORTED; INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len);

/** doca_mmap_export_rdma() - Return: NOT_SUPPORTED; INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len);

/** doca_mmap_create_from_export() - Return: NOT_SUPPORTED; INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
					  const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H */
