// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* buf.c - buffers, and inventories that they come from */
#include "mmap.h"

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

/* What an event has to be able to do with its eight bytes. */
#define EVENT_ACCESS	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |	\
			 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/**
 * struct doca_buf - a buffer
 * @inventory: where it comes from
 * @mmap: whose memory it is
 * @head: where it begins
 * @len: its bytes
 * @data: where the data begin
 * @data_len: how many
 * @references: 0: it is free
 * @follower: it is in a list and not the first
 * @next: in the list, or among the free ones
 */
struct doca_buf {
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	char *head;
	size_t len;
	char *data;
	size_t data_len;
	uint16_t references;
	bool follower;
	struct doca_buf *next;
};

/**
 * struct doca_buf_inventory - buffers
 * @started: they can be had
 * @used: how many are not free
 * @free: those that are
 * @bufs: all
 */
struct doca_buf_inventory {
	bool started;
	size_t used;
	struct doca_buf *free;
	struct doca_buf bufs[];
};

/* ---- inventories ------------------------------------------------------------------- */

static void put_free(struct doca_buf_inventory *inventory, struct doca_buf *buf)
{
	buf->next = inventory->free;
	inventory->free = buf;
}

doca_error_t doca_buf_inventory_create(size_t num_elements,
				       struct doca_buf_inventory **inventory)
{
	struct doca_buf_inventory *created;
	size_t size;

	if (!num_elements || !inventory)
		return DOCA_ERROR_INVALID_VALUE;
	if (__builtin_mul_overflow(num_elements, sizeof(struct doca_buf), &size) ||
	    __builtin_add_overflow(size, sizeof(*created), &size))
		return DOCA_ERROR_NO_MEMORY;
	created = calloc(1, size);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	while (num_elements--)
		put_free(created, &created->bufs[num_elements]);
	*inventory = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	if (inventory->used)
		return DOCA_ERROR_IN_USE;
	free(inventory);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	if (inventory->started)
		return DOCA_ERROR_BAD_STATE;
	inventory->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inventory->started)
		return DOCA_ERROR_BAD_STATE;
	if (inventory->used)
		return DOCA_ERROR_IN_USE;
	inventory->started = false;
	return DOCA_SUCCESS;
}

static bool within(const struct doca_buf *buf, const void *data, size_t len)
{
	uintptr_t from = (uintptr_t)data - (uintptr_t)buf->head;

	return (uintptr_t)data >= (uintptr_t)buf->head && from <= buf->len &&
	       len <= buf->len - from;
}

doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						void *data, size_t data_len,
						struct doca_buf **buf)
{
	struct doca_buf made = {
		.inventory = inventory,
		.mmap = mmap,
		.head = addr,
		.len = len,
		.data = data,
		.data_len = data_len,
		.references = 1,
	};
	struct doca_buf *taken;

	if (!inventory || !mmap || !buf)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inventory->started || !sed_mmap_started(mmap))
		return DOCA_ERROR_BAD_STATE;
	if (!sed_mmap_has(mmap, addr, len) || !within(&made, data, data_len))
		return DOCA_ERROR_INVALID_VALUE;
	taken = inventory->free;
	if (!taken)
		return DOCA_ERROR_NO_MEMORY;
	inventory->free = taken->next;
	inventory->used++;
	sed_mmap_buffers(mmap, 1);
	*taken = made;
	*buf = taken;
	return DOCA_SUCCESS;
}

/* ---- buffers ------------------------------------------------------------------------ */

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf->references == UINT16_MAX)
		return DOCA_ERROR_FULL;
	if (refcount)
		*refcount = buf->references;
	buf->references++;
	return DOCA_SUCCESS;
}

/* All of it lose a reference. What an event has as well goes on, in no list. */
static void drop_list(struct doca_buf *buf)
{
	struct doca_buf *next;

	for (; buf; buf = next) {
		next = buf->next;
		buf->next = NULL;
		buf->follower = false;
		if (--buf->references)
			continue;
		sed_mmap_buffers(buf->mmap, -1);
		buf->inventory->used--;
		put_free(buf->inventory, buf);
	}
}

doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (!buf || !buf->references)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf->references == 1 && buf->follower)
		return DOCA_ERROR_NOT_PERMITTED;
	if (refcount)
		*refcount = buf->references;
	if (buf->references == 1)
		drop_list(buf);
	else
		buf->references--;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount)
{
	if (!buf || !refcount)
		return DOCA_ERROR_INVALID_VALUE;
	*refcount = buf->references;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head)
{
	if (!buf || !head)
		return DOCA_ERROR_INVALID_VALUE;
	*head = buf->head;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len)
{
	if (!buf || !len)
		return DOCA_ERROR_INVALID_VALUE;
	*len = buf->len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data)
{
	if (!buf || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = buf->data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len)
{
	if (!buf || !data_len)
		return DOCA_ERROR_INVALID_VALUE;
	*data_len = buf->data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
	if (!buf || !within(buf, data, data_len))
		return DOCA_ERROR_INVALID_VALUE;
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	buf->data_len = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	struct doca_buf *last = list1;

	if (!list1 || !list2 || list1 == list2 || list1->follower || list2->follower)
		return DOCA_ERROR_INVALID_VALUE;
	while (last->next)
		last = last->next;
	last->next = list2;
	list2->follower = true;
	return DOCA_SUCCESS;
}

doca_error_t sed_buf_hold(struct doca_buf *buf, uint64_t **addr)
{
	if (buf->len != sizeof(**addr) || buf->follower || buf->next ||
	    (sed_mmap_access(buf->mmap) & EVENT_ACCESS) != EVENT_ACCESS)
		return DOCA_ERROR_NOT_PERMITTED;
	*addr = (uint64_t *)(void *)buf->head;
	return doca_buf_inc_refcount(buf, NULL);
}
