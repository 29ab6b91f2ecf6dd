/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Two guests that share a region run the same program: SE_SIDE says which is which.
 * They meet before each test, so that they run the same one.
 */
#ifndef SELFTESTS_PCI_H
#define SELFTESTS_PCI_H

#include "common.h"

#include <stddef.h>
#include <linux/syncevent_region.h>

#define PCI_DEV		"/dev/syncevent_pci0"

/* Which of the machines is this? */
static inline uint32_t my_side(void)
{
	const char *side = getenv("SE_SIDE");

	return side ? (uint32_t)strtoul(side, NULL, 10) : 0;
}

static inline bool is_owner(void)
{
	return my_side() == 0;
}

static inline int pci_dev(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(PCI_DEV, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static inline int pci_info(struct syncevent_pci_info *info)
{
	se_poison(info, sizeof(*info));
	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_INFO, info);
}

static inline bool pci_alive(uint64_t sides)
{
	struct syncevent_pci_info info;

	return !pci_info(&info) && info.flags & SYNCEVENT_PCI_ATTACHED &&
	       (info.alive & sides) == sides;
}

static inline int pci_create(uint64_t value, uint32_t pages)
{
	struct syncevent_pci_create create = {
		.value = value,
		.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.subscribers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.home = SYNCEVENT_PCI_HOME_ANY, .pages = pages,
	};

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create);
}

static inline int pci_name(int fd, const char *text, uint32_t rights)
{
	struct syncevent_pci_name name = { .rights = rights };

	snprintf(name.name, sizeof(name.name), "%s", text);
	return se_ioctl(fd, SYNCEVENT_IOC_EXPORT_NAME, &name);
}

static inline int pci_import_name(const char *text, uint32_t flags)
{
	struct syncevent_pci_name name = { .flags = flags };

	snprintf(name.name, sizeof(name.name), "%s", text);
	return se_ioctl(pci_dev(), SYNCEVENT_IOC_IMPORT_NAME, &name);
}

static inline int pci_export(int fd, uint32_t right, struct syncevent_blob *blob)
{
	struct syncevent_export export = { .right = right };
	int ret = se_ioctl(fd, SYNCEVENT_IOC_EXPORT, &export);

	*blob = export.blob;
	return ret;
}

static inline int pci_import(const struct syncevent_blob *blob, uint32_t flags)
{
	struct syncevent_import import = { .blob = *blob, .flags = flags };

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_IMPORT, &import);
}

/* Make an event for all, by this name; or wait for the other side's. */
static inline int pci_offer(const char *name, uint64_t value, uint32_t pages)
{
	int fd = pci_create(value, pages), ret;

	if (fd < 0)
		return fd;
	ret = pci_name(fd, name, SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static inline int pci_await(const char *name)
{
	int fd = -ENOENT;

	if (!se_until((fd = pci_import_name(name, 0)) != -ENOENT))
		return -ETIMEDOUT;
	return fd;
}

/* So that a forged blob is looked at more closely. */
static inline void pci_set_checksum(struct syncevent_blob *blob)
{
	const unsigned char *bytes = (const unsigned char *)blob;
	uint32_t sum = 0x811c9dc5U;
	size_t i;

	for (i = 0; i < offsetof(struct syncevent_blob, checksum); i++)
		sum = (sum ^ bytes[i]) * 0x01000193U;
	blob->checksum = sum;
}

static inline struct syncevent_cell *pci_map(int fd, int prot)
{
	void *cell = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);

	return cell == MAP_FAILED ? NULL : cell;
}

#endif /* SELFTESTS_PCI_H */
