// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* mmap.c - memory of the program, and who may do what to it */
#include "mmap.h"

#include <stdlib.h>

#include <doca_mmap.h>

#define ACCESS_ALL	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |	\
			 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC |	\
			 DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE | \
			 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)

/**
 * struct doca_mmap - memory
 * @addr: where; NULL: not yet said
 * @len: how much
 * @access: DOCA_ACCESS_FLAG_*
 * @started: buffers may be made
 * @buffers: how many there are
 * @devs: held
 * @nr_devs: how many
 */
struct doca_mmap {
	char *addr;
	size_t len;
	uint32_t access;
	bool started;
	size_t buffers;
	struct doca_dev **devs;
	size_t nr_devs;
};

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	struct doca_mmap *created;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	created = calloc(1, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*mmap = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	size_t i;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->buffers)
		return DOCA_ERROR_NOT_PERMITTED;
	for (i = 0; i < mmap->nr_devs; i++)
		sed_dev_put(mmap->devs[i]);
	free(mmap->devs);
	free(mmap);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return DOCA_ERROR_BAD_STATE;
	if (!mmap->addr || !mmap->nr_devs)
		return DOCA_ERROR_BAD_CONFIG;
	mmap->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started)
		return DOCA_ERROR_BAD_STATE;
	if (mmap->buffers)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->started = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct doca_dev **devs;

	if (!mmap || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return DOCA_ERROR_BAD_STATE;
	devs = realloc(mmap->devs, (mmap->nr_devs + 1) * sizeof(struct doca_dev *));
	if (!devs)
		return DOCA_ERROR_NO_MEMORY;
	mmap->devs = devs;
	devs[mmap->nr_devs++] = dev;
	sed_dev_get(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	if (!mmap || !addr || !len || (uintptr_t)addr + len < len)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return DOCA_ERROR_BAD_STATE;
	if (mmap->addr)
		return DOCA_ERROR_NOT_PERMITTED;
	mmap->addr = addr;
	mmap->len = len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len)
{
	(void)addr;
	(void)dmabuf_offset;
	return mmap && dmabuf_fd >= 0 && len ? DOCA_ERROR_NOT_SUPPORTED :
					       DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	if (!mmap || access_mask & ~(uint32_t)ACCESS_ALL)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started)
		return DOCA_ERROR_BAD_STATE;
	mmap->access = access_mask;
	return DOCA_SUCCESS;
}

static doca_error_t no_export(const struct doca_mmap *mmap, const struct doca_dev *dev,
			      const void **desc, const size_t *len)
{
	return mmap && dev && desc && len ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len)
{
	return no_export(mmap, dev, export_desc, export_desc_len);
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len)
{
	return no_export(mmap, dev, export_desc, export_desc_len);
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
					  const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap)
{
	(void)user_data;
	return export_desc && export_desc_len && dev && mmap ? DOCA_ERROR_NOT_SUPPORTED :
							       DOCA_ERROR_INVALID_VALUE;
}

/* ---- for buf.c ------------------------------------------------------------------------ */

bool sed_mmap_has(const struct doca_mmap *mmap, const void *addr, size_t len)
{
	uintptr_t from = (uintptr_t)addr - (uintptr_t)mmap->addr;

	return (uintptr_t)addr >= (uintptr_t)mmap->addr && from <= mmap->len &&
	       len <= mmap->len - from;
}

bool sed_mmap_started(const struct doca_mmap *mmap)
{
	return mmap->started;
}

uint32_t sed_mmap_access(const struct doca_mmap *mmap)
{
	return mmap->access;
}

void sed_mmap_buffers(struct doca_mmap *mmap, int more)
{
	mmap->buffers += (size_t)more;
}
