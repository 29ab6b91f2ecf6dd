// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* event.c - handles: how they are made and ended, and the data path */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(SYNCEVENT_SILENT == SYNCEVENT_CREATE_SILENT, "attr.flags");
_Static_assert(SYNCEVENT_RDONLY == SYNCEVENT_DUP_RDONLY, "flags of dup");

int se_copy_struct(void *to, const void *from, size_t known)
{
	const unsigned char *bytes = from;
	uint32_t size;
	size_t i;

	memcpy(&size, from, sizeof(size));
	if (size < known)
		return -EINVAL;
	for (i = known; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(to, from, known);
	return 0;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Makes a handle that owns @fd; closes it if that fails. Passes errors through. */
static int handle(struct syncevent **out, int fd, bool writable)
{
	struct syncevent *ev;
	void *page;
	int err;

	fd = se_above_stdio(fd);
	if (fd < 0)
		return fd;
	ev = malloc(sizeof(*ev));
	if (!ev) {
		close(fd);
		return -ENOMEM;
	}
	page = mmap(NULL, page_size(), writable ? PROT_READ | PROT_WRITE : PROT_READ,
		    MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		/* EAGAIN: mlockall() is in force and its limit is reached */
		err = errno == EAGAIN ? -ENOMEM : -errno;
		free(ev);
		close(fd);
		return err;
	}
	ev->cell = page;
	ev->fd = fd;
	ev->writable = writable;
	*out = ev;
	return 0;
}

int syncevent_create(struct syncevent **ev, const struct syncevent_attr *attr)
{
	struct syncevent_attr a = { .size = sizeof(a) };
	struct syncevent_create create = { 0 };
	int device, fd, err;

	if (attr) {
		err = se_copy_struct(&a, attr, sizeof(a));
		if (err)
			return err;
	}
	if (a.flags & ~SYNCEVENT_SILENT)
		return -EINVAL;
	create.value = a.value;
	create.flags = a.flags;
	create.publishers = a.publishers;
	create.subscribers = a.subscribers;

	device = se_device_open();
	if (device < 0)
		return device;
	fd = se_ioctl(device, SYNCEVENT_IOC_CREATE, &create);
	close(device);
	/* Whatever lies at /dev/syncevent, it is not the module. */
	if (fd == -ENOTTY)
		return -ENODEV;
	return handle(ev, fd, true);
}

int syncevent_from_fd(struct syncevent **ev, int fd)
{
	struct syncevent_info info;
	int err = se_ioctl(fd, SYNCEVENT_IOC_INFO, &info);

	if (err)
		return err == -EBADF ? err : -EINVAL;
	if (info.flags & SYNCEVENT_INFO_REVOKED)
		return -EIDRM;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return handle(ev, fd < 0 ? -errno : fd, info.flags & SYNCEVENT_INFO_UPDATE);
}

int syncevent_fd(const struct syncevent *ev)
{
	return ev->fd;
}

int syncevent_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags)
{
	struct syncevent_dup dup = { .flags = flags };

	if (flags & ~SYNCEVENT_RDONLY)
		return -EINVAL;
	return handle(out, se_ioctl(ev->fd, SYNCEVENT_IOC_DUP, &dup),
		      ev->writable && !flags);
}

void syncevent_close(struct syncevent *ev)
{
	if (!ev)
		return;
	munmap(ev->cell, page_size());
	close(ev->fd);
	free(ev);
}

int syncevent_revoke(struct syncevent *ev)
{
	return se_ioctl(ev->fd, SYNCEVENT_IOC_REVOKE, NULL);
}

int syncevent_get(struct syncevent *ev, uint64_t *value)
{
	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	*value = syncevent_cell_get(ev->cell);
	return 0;
}

/*
 * An update has succeeded once the value is in the cell. Whoever waited for it
 * may revoke the event before the publisher comes to ring: that must not look
 * as if the update had failed, or a caller would count a signal as lost that
 * was seen. So the state is asked before, and the answer of RING, which can
 * only be EIDRM, is dropped. An update that crosses a revocation succeeds: it
 * came before, and nobody is left to miss it.
 */
static int may_update(const struct syncevent *ev)
{
	if (!ev->writable)
		return -EBADF;
	return syncevent_cell_live(ev->cell) ? 0 : -EIDRM;
}

int syncevent_set(struct syncevent *ev, uint64_t value)
{
	int err = may_update(ev);

	if (!err && syncevent_cell_set(ev->cell, value))
		(void)se_ioctl(ev->fd, SYNCEVENT_IOC_RING, NULL);
	return err;
}

int syncevent_add(struct syncevent *ev, uint64_t n, uint64_t *old)
{
	int err = may_update(ev);

	if (!err && syncevent_cell_add(ev->cell, n, old))
		(void)se_ioctl(ev->fd, SYNCEVENT_IOC_RING, NULL);
	return err;
}

int syncevent_ring(struct syncevent *ev)
{
	return se_ioctl(ev->fd, SYNCEVENT_IOC_RING, NULL);
}

struct syncevent_cell *syncevent_cell(struct syncevent *ev)
{
	return ev->cell;
}

int syncevent_arm(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		  uint64_t mask)
{
	struct syncevent_arm arm = {
		.operand = operand,
		.mask = mask,
		.cond = cond,
	};

	return se_ioctl(ev->fd, SYNCEVENT_IOC_ARM, &arm);
}

int syncevent_disarm(struct syncevent *ev)
{
	struct syncevent_arm arm = { .flags = SYNCEVENT_ARM_CLEAR };

	return se_ioctl(ev->fd, SYNCEVENT_IOC_ARM, &arm);
}
