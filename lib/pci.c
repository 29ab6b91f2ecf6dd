// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pci.c - events in memory that machines share: /dev/syncevent_pciN
 *
 * Handles of them are those of the kernel provider, whose files know where they lie. A
 * device is opened for what it is asked and closed again, as /dev/syncevent is.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEVICE_FORMAT	SE_DEVICE "_pci%u"
/* The module gives each new device the lowest number that is free. */
#define DEVICES_MAX	64
#define BLOB_MAGIC	0x50564553U	/* "SEVP" */
#define BLOB_VERSION	1

_Static_assert(sizeof(struct syncevent_blob) <= SYNCEVENT_BLOB_MAX, "syncevent_export()");
_Static_assert(SYNCEVENT_EXPORT_MAX == SYNCEVENT_PCI_NAME_MAX, "names");
_Static_assert(SYNCEVENT_RDONLY == SYNCEVENT_DUP_RDONLY, "flags of import");

/* ---- regions ------------------------------------------------------------------------- */

static void put_address(char to[16], uint32_t address)
{
	snprintf(to, 16, "%04x:%02x:%02x.%x", address >> 16, address >> 8 & 0xff,
		 address >> 3 & 0x1f, address & 7);
}

/* Opens a device and asks what it is. Returns a file descriptor or a negative errno. */
static int device_open(unsigned int number, char path[32], struct syncevent_pci_info *info)
{
	int fd, err;

	snprintf(path, 32, DEVICE_FORMAT, number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* EPERM: a device cgroup denies it. */
	if (fd < 0)
		return errno == ENXIO || errno == ENODEV ? -ENOENT :
		       errno == EPERM ? -EACCES : -errno;
	fd = se_above_stdio(fd);
	if (fd < 0)
		return fd;
	err = se_ioctl(fd, SYNCEVENT_IOC_PCI_INFO, info);
	if (err) {
		close(fd);
		return err == -ENOTTY ? -ENOENT : err;
	}
	return fd;
}

static bool is_called(const struct syncevent_pci_info *info, const char *path, const char *pci)
{
	char address[16];

	put_address(address, info->address);
	return !strcmp(path, pci) || !strcasecmp(address, pci) ||
	       (!strncmp(address, "0000:", 5) && !strcasecmp(address + 5, pci));
}

static bool is_region(const struct syncevent_pci_info *info, const struct syncevent_blob *blob)
{
	return info->flags & SYNCEVENT_PCI_ATTACHED && info->id[0] == blob->region[0] &&
	       info->id[1] == blob->region[1];
}

/* The device of a region, by what it is called or by what a blob says. */
static int region_open(const char *pci, const struct syncevent_blob *blob)
{
	struct syncevent_pci_info info;
	unsigned int number;
	int err = -ENODEV, fd;
	char path[32];

	for (number = 0; number < DEVICES_MAX; number++) {
		fd = device_open(number, path, &info);
		if (fd == -ENOENT)
			continue;
		if (fd < 0) {
			/* It may have been this one. */
			err = fd;
			continue;
		}
		if (pci ? is_called(&info, path, pci) : is_region(&info, blob))
			return fd;
		close(fd);
	}
	return err;
}

int syncevent_pci_get(unsigned int index, struct syncevent_pci *pci)
{
	struct syncevent_pci_info info = { 0 };
	struct syncevent_pci p;
	unsigned int number;
	int fd = -ENOENT, err;

	err = se_copy_struct(&p, pci, sizeof(p));
	if (err)
		return err;
	p = (struct syncevent_pci){ .size = pci->size };
	for (number = 0; number < DEVICES_MAX; number++) {
		fd = device_open(number, p.device, &info);
		if (fd != -ENOENT && !index--)
			break;
		if (fd >= 0)
			close(fd);
		fd = -ENOENT;
	}
	if (fd == -EACCES)
		*pci = p;
	if (fd < 0)
		return fd;
	close(fd);
	put_address(p.address, info.address);
	p.flags = info.flags;
	p.id[0] = info.id[0];
	p.id[1] = info.id[1];
	p.alive = info.alive;
	p.side = info.side;
	p.sides = info.sides;
	p.slots = info.slots;
	p.slots_used = info.slots_used;
	p.payload_pages = info.payload_pages;
	p.masked = info.masked;
	p.rung = info.rung;
	p.irqs = info.irqs;
	*pci = p;
	return 0;
}

int syncevent_pci_side(const char *pci, unsigned int side, struct syncevent_pci_side *info)
{
	struct syncevent_pci_peer peer = { .side = side };
	struct syncevent_pci_side s;
	int fd, err;

	err = se_copy_struct(&s, info, sizeof(s));
	if (err)
		return err;
	fd = region_open(pci, NULL);
	if (fd < 0)
		return fd;
	err = se_ioctl(fd, SYNCEVENT_IOC_PCI_PEER, &peer);
	close(fd);
	if (err)
		return err;
	s = (struct syncevent_pci_side){
		.size = info->size,
		.alive = peer.alive,
		.epoch = peer.epoch,
	};
	put_address(s.address, peer.address);
	*info = s;
	return 0;
}

/* ---- events ------------------------------------------------------------------------------ */

/* Asks a region for a file, of which a handle is made. */
static int ask(struct syncevent **ev, int device, unsigned long command, void *arg)
{
	int fd;

	if (device < 0)
		return device;
	fd = se_ioctl(device, command, arg);
	close(device);
	return se_kernel_take(ev, fd);
}

int se_pci_create(struct syncevent **ev, const struct syncevent_attr *attr)
{
	struct syncevent_pci_create create = {
		.value = attr->value,
		.flags = attr->flags & SYNCEVENT_SILENT,
		.publishers = attr->publishers,
		.subscribers = attr->subscribers,
		.home = attr->flags & SYNCEVENT_AT_HOME ? attr->home : SYNCEVENT_PCI_HOME_ANY,
		.pages = attr->pages,
	};
	int err;

	if (attr->flags & SYNCEVENT_AT_HOME && attr->home == SYNCEVENT_PCI_HOME_ANY)
		return -EINVAL;
	err = ask(ev, region_open(attr->pci, NULL), SYNCEVENT_IOC_PCI_CREATE, &create);
	/* Nobody else has the new event: if it has ended, the region was lost. */
	return err == -EIDRM ? -ENODEV : err;
}

static int export(struct syncevent *ev, uint32_t right, struct syncevent_export *to)
{
	*to = (struct syncevent_export){ .right = right };
	return se_ioctl(ev->fd, SYNCEVENT_IOC_EXPORT, to);
}

int se_pci_export(struct syncevent *ev, unsigned int flags, void *blob, size_t size)
{
	struct syncevent_export to;
	int err = export(ev, flags ? SYNCEVENT_RIGHT_READ : SYNCEVENT_RIGHT_UPDATE, &to);

	if (err)
		return err;
	if (size < sizeof(to.blob))
		return -ENOSPC;
	memcpy(blob, &to.blob, sizeof(to.blob));
	return (int)sizeof(to.blob);
}

int se_pci_import(struct syncevent **ev, const struct syncevent_blob *blob)
{
	struct syncevent_import import = { .blob = *blob };

	/* Of no region at all, or of one that is not here: the errors differ. */
	if (blob->magic != BLOB_MAGIC || blob->version != BLOB_VERSION ||
	    blob->checksum != se_blob_sum(blob, sizeof(*blob)))
		return -EINVAL;
	return ask(ev, region_open(NULL, blob), SYNCEVENT_IOC_IMPORT, &import);
}

/* Return: 0; -EINVAL; -ENAMETOOLONG. */
static int put_name(struct syncevent_pci_name *to, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return -EINVAL;
	if (len > SYNCEVENT_PCI_NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(to->name, name, len);
	return 0;
}

int syncevent_export_name(struct syncevent *ev, const char *name, unsigned int flags)
{
	struct syncevent_pci_name request = { .rights = SYNCEVENT_RIGHT_READ };
	int err = flags & ~SYNCEVENT_RDONLY ? -EINVAL : 0;

	if (err)
		return err;
	if (ev->provider->id != SYNCEVENT_PROVIDER_KERNEL)
		return -EOPNOTSUPP;
	if (!flags)
		request.rights |= SYNCEVENT_RIGHT_UPDATE;
	/* To take a name away needs one too, any. */
	if (!name)
		request.rights = 0;
	err = put_name(&request, name ? name : "-");
	return err ? err : se_ioctl(ev->fd, SYNCEVENT_IOC_EXPORT_NAME, &request);
}

int syncevent_import_name(struct syncevent **ev, const char *pci, const char *name,
			  unsigned int flags)
{
	struct syncevent_pci_name request = { .flags = flags };
	int err = flags & ~SYNCEVENT_RDONLY ? -EINVAL : put_name(&request, name);

	if (err)
		return err;
	return ask(ev, region_open(pci, NULL), SYNCEVENT_IOC_IMPORT_NAME, &request);
}

int syncevent_dpa_handle(struct syncevent *ev, uint64_t *handle)
{
	struct syncevent_export to;
	int err;

	if (ev->provider->id != SYNCEVENT_PROVIDER_KERNEL)
		return -EOPNOTSUPP;
	err = export(ev, SYNCEVENT_RIGHT_UPDATE, &to);
	if (!err)
		*handle = (uint64_t)to.blob.generation << 32 | to.blob.slot;
	return err;
}
