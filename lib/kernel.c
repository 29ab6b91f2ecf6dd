// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* kernel.c - the kernel provider: events of /dev/syncevent */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(SYNCEVENT_SILENT == SYNCEVENT_CREATE_SILENT, "attr.flags");
_Static_assert(SYNCEVENT_RDONLY == SYNCEVENT_DUP_RDONLY, "flags of dup");
_Static_assert(SYNCEVENT_EQ == SYNCEVENT_COND_EQ && SYNCEVENT_NEQ == SYNCEVENT_COND_NEQ &&
	       SYNCEVENT_GT == SYNCEVENT_COND_GT && SYNCEVENT_GE == SYNCEVENT_COND_GE &&
	       SYNCEVENT_LT == SYNCEVENT_COND_LT && SYNCEVENT_LE == SYNCEVENT_COND_LE,
	       "enum syncevent_cond");
_Static_assert(SYNCEVENT_REALTIME == SYNCEVENT_WAIT_REALTIME, "opts.flags");
_Static_assert(SYNCEVENT_FOREVER == SYNCEVENT_NO_DEADLINE, "opts.deadline");

static int kernel_ring(struct syncevent *ev)
{
	return se_ioctl(ev->fd, SYNCEVENT_IOC_RING, NULL);
}

static int kernel_revoke(struct syncevent *ev)
{
	return se_ioctl(ev->fd, SYNCEVENT_IOC_REVOKE, NULL);
}

static int kernel_sleep(struct syncevent *ev, const struct se_cond *c,
			const struct syncevent_wait_opts *o, uint64_t *value)
{
	struct syncevent_wait wait = {
		.operand = c->operand,
		.mask = c->mask,
		.deadline = o->deadline,
		.cond = c->cond,
		.flags = o->flags,
	};
	int ret = se_ioctl(ev->fd, SYNCEVENT_IOC_WAIT, &wait);

	*value = wait.value;
	return ret;
}

static int kernel_arm(struct syncevent *ev, const struct se_cond *c)
{
	struct syncevent_arm arm = { .flags = SYNCEVENT_ARM_CLEAR };

	if (c)
		arm = (struct syncevent_arm){
			.operand = c->operand,
			.mask = c->mask,
			.cond = c->cond,
		};
	return se_ioctl(ev->fd, SYNCEVENT_IOC_ARM, &arm);
}

static int kernel_poll_fd(struct syncevent *ev)
{
	return syncevent_cell_live(ev->cell) ? ev->fd : -EIDRM;
}

static int kernel_read(struct syncevent *ev, uint64_t *value)
{
	struct iovec iov = { .iov_base = value, .iov_len = sizeof(*value) };

	return preadv2(ev->fd, &iov, 1, -1, RWF_NOWAIT) < 0 ? -errno : 0;
}

static int kernel_stat(struct syncevent *ev, struct syncevent_stat *stat)
{
	struct syncevent_info info;
	int err = se_ioctl(ev->fd, SYNCEVENT_IOC_INFO, &info);

	if (err)
		return err;
	stat->id = info.id;
	stat->publishers = info.publishers;
	stat->subscribers = info.subscribers;
	stat->waiters = info.waiters;
	stat->rings = info.rings;
	stat->wakes = info.wakes;
	stat->payload = (uint64_t)info.pages * SE_PAYLOAD_PAGE;
	stat->side = info.side;
	stat->home = info.home;
	if (info.flags & SYNCEVENT_INFO_REVOKED)
		stat->flags |= SYNCEVENT_STAT_REVOKED;
	if (info.flags & SYNCEVENT_INFO_SILENT)
		stat->flags |= SYNCEVENT_STAT_SILENT;
	if (info.flags & SYNCEVENT_INFO_NO_REMOTE_ADD)
		stat->flags |= SYNCEVENT_STAT_HOME_ADDS;
	if (info.flags & SYNCEVENT_INFO_PEER_DEAD)
		stat->flags |= SYNCEVENT_STAT_PEER_DEAD;
	if (info.flags & SYNCEVENT_INFO_IMPORT)
		stat->flags |= SYNCEVENT_STAT_IMPORT;
	return 0;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void kernel_close(struct syncevent *ev)
{
	if (ev->payload)
		munmap(ev->payload, (size_t)ev->pages * SE_PAYLOAD_PAGE);
	munmap(ev->cell, page_size());
	close(ev->fd);
	free(ev);
}

static int kernel_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags);

static const struct se_provider kernel_provider = {
	.id = SYNCEVENT_PROVIDER_KERNEL,
	.ring = kernel_ring,
	.revoke = kernel_revoke,
	.sleep = kernel_sleep,
	.dup = kernel_dup,
	.arm = kernel_arm,
	.poll_fd = kernel_poll_fd,
	.read = kernel_read,
	.stat = kernel_stat,
	.export = se_pci_export,
	.close = kernel_close,
};

/* Makes a handle that owns @fd; closes it if that fails. Passes errors through. */
static int handle(struct syncevent **out, int fd, const struct syncevent_info *info)
{
	const bool writable = info->flags & SYNCEVENT_INFO_UPDATE;
	struct syncevent *ev;
	void *page;
	int err;

	fd = se_above_stdio(fd);
	if (fd < 0)
		return fd;
	ev = calloc(1, sizeof(*ev));
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
	ev->value = &ev->cell->value;
	ev->provider = &kernel_provider;
	ev->fd = fd;
	ev->writable = writable;
	ev->addable = writable && (info->side == info->home ||
				   !(info->flags & SYNCEVENT_INFO_NO_REMOTE_ADD));
	/* A file that is not the module's may answer anything. */
	if (info->sides > 1 && info->side < SYNCEVENT_SIDES_MAX)
		ev->own = (const struct syncevent_hint *)
			((const char *)page + offsetof(struct syncevent_cell, hint)) + info->side;
	ev->pages = info->pages;
	*out = ev;
	return 0;
}

int se_kernel_take(struct syncevent **ev, int fd)
{
	struct syncevent_info info;
	int err;

	if (fd < 0)
		return fd;
	err = se_ioctl(fd, SYNCEVENT_IOC_INFO, &info);
	if (err)
		err = err == -EBADF ? err : -EINVAL;
	else if (info.flags & SYNCEVENT_INFO_REVOKED)
		err = -EIDRM;
	if (err) {
		close(fd);
		return err;
	}
	return handle(ev, fd, &info);
}

static int kernel_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags)
{
	struct syncevent_dup dup = { .flags = flags };

	return se_kernel_take(out, se_ioctl(ev->fd, SYNCEVENT_IOC_DUP, &dup));
}

int se_kernel_create(struct syncevent **ev, const struct syncevent_attr *attr)
{
	struct syncevent_create create = {
		.value = attr->value,
		.flags = attr->flags,
		.publishers = attr->publishers,
		.subscribers = attr->subscribers,
	};
	const struct syncevent_info info = { .flags = SYNCEVENT_INFO_UPDATE, .sides = 1 };
	int device = se_device_open();
	int fd;

	if (device < 0)
		return device;
	fd = se_ioctl(device, SYNCEVENT_IOC_CREATE, &create);
	close(device);
	/* Whatever lies at /dev/syncevent, it is not the module. */
	if (fd == -ENOTTY)
		return -ENODEV;
	return handle(ev, fd, &info);
}

int se_kernel_from_fd(struct syncevent **ev, int fd)
{
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return se_kernel_take(ev, fd < 0 ? -errno : fd);
}

int syncevent_payload(struct syncevent *ev, void **ptr, size_t *len)
{
	void *payload, *none = NULL;
	size_t size;

	if (!ev->pages)
		return -EOPNOTSUPP;
	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	/* More than a 32-bit program can address. */
	if (__builtin_mul_overflow(ev->pages, SE_PAYLOAD_PAGE, &size))
		return -ENOMEM;
	payload = __atomic_load_n(&ev->payload, __ATOMIC_ACQUIRE);
	if (!payload) {
		payload = mmap(NULL, size, ev->writable ? PROT_READ | PROT_WRITE : PROT_READ,
			       MAP_SHARED, ev->fd, SE_PAYLOAD_PAGE);
		if (payload == MAP_FAILED)
			return errno == EAGAIN ? -ENOMEM : -errno;
		if (!__atomic_compare_exchange_n(&ev->payload, &none, payload, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			/* Another thread was faster. */
			munmap(payload, size);
			payload = none;
		}
	}
	*ptr = payload;
	if (len)
		*len = size;
	return 0;
}

int se_kernel_query(struct syncevent_caps *caps)
{
	struct syncevent_dev_info info;
	int device = se_device_open();
	int err;

	if (device < 0)
		return device;
	err = se_ioctl(device, SYNCEVENT_IOC_DEV_INFO, &info);
	close(device);
	if (err)
		return err == -ENOTTY ? -ENODEV : err;
	caps->guarantees = SYNCEVENT_CAP_EXACT | SYNCEVENT_CAP_RIGHTS | SYNCEVENT_CAP_ZAP |
			   SYNCEVENT_CAP_PROMPT | SYNCEVENT_CAP_FD;
	caps->abi = info.abi;
	caps->wait_max = info.wait_max;
	caps->events_max = info.events_max;
	caps->events = info.events;
	caps->entries_max = info.entries_max;
	caps->entries = info.entries;
	caps->late_max_ns = info.silent_max_ns;
	caps->names = SE_NAMES;
	caps->name_prefix = "";
	return 0;
}
