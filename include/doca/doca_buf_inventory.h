/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* doca_buf_inventory.h - where buffers come from; see doca_buf.h */
#ifndef DOCA_BUF_INVENTORY_H
#define DOCA_BUF_INVENTORY_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

/** doca_buf_inventory_create() - of @num_elements buffers. Return: or INVALID_VALUE, NO_MEMORY */
DOCA_STABLE
doca_error_t doca_buf_inventory_create(size_t num_elements,
				       struct doca_buf_inventory **inventory);

/** doca_buf_inventory_destroy() - Return: or INVALID_VALUE; IN_USE: not all buffers are back */
DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/** doca_buf_inventory_start() - Return: or INVALID_VALUE; BAD_STATE: it is started */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/** doca_buf_inventory_stop() - Return: or INVALID_VALUE; BAD_STATE: not started; IN_USE */
DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * doca_buf_inventory_buf_get_by_args() - make a buffer
 * @inventory: started
 * @mmap: started
 * @addr: where it begins, in @mmap's memory
 * @len: how many bytes it has
 * @data: where its data begin, within it
 * @data_len: how many there are
 * @buf: gets it
 *
 * Return: or INVALID_VALUE: not within the memory or the buffer; BAD_STATE: @inventory or
 * @mmap is not started; NO_MEMORY: all buffers are in use.
 */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						void *data, size_t data_len,
						struct doca_buf **buf);

/** doca_buf_inventory_buf_get_by_addr() - likewise, without data */
static inline doca_error_t
doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
				   void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/** doca_buf_inventory_buf_get_by_data() - likewise, full of data */
static inline doca_error_t
doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
				   void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data,
						  data_len, buf);
}

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_INVENTORY_H */
