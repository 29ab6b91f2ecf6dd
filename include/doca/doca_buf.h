/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_buf.h - buffers: a piece of a map's memory, and the data in it
 *
 * A buffer has one reference when it is made and goes back to its inventory with the
 * last. Every function returns INVALID_VALUE if an argument is NULL that must not be.
 *
 * Threads: as its map's.
 */
#ifndef DOCA_BUF_H
#define DOCA_BUF_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;

/**
 * doca_buf_inc_refcount() - @refcount: gets the number before, or NULL
 *
 * Return: or FULL: there are UINT16_MAX.
 */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * doca_buf_dec_refcount() - @refcount: gets the number before, or NULL
 *
 * With the last reference of the first of a list all of the list go, but for those that
 * have references beside that of the list: these are in no list any more.
 *
 * Return: or NOT_PERMITTED: the last one, of what is in a list and not its first.
 */
DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/** doca_buf_get_refcount() - how many references it has */
DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/** doca_buf_get_head() - where it begins */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/** doca_buf_get_len() - how many bytes it has */
DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/** doca_buf_get_data() - where its data begin */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/** doca_buf_get_data_len() - how many bytes of data there are */
DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/** doca_buf_set_data() - Return: or INVALID_VALUE: not within the buffer */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/** doca_buf_reset_data_len() - there are no data any more */
DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/**
 * doca_buf_chain_list() - @list2 follows the end of @list1
 *
 * Return: or INVALID_VALUE: one is not the first of its list, or both are the same.
 */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_H */
