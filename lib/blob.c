// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * blob.c - events as bytes; those that go between machines: pci.c
 *
 * A blob of the shm provider says in which process the event's file is open, and as
 * which file descriptor. The kernel decides who may look there: whoever may read
 * /proc/PID/fd of the exporter. The key shows that what lies there now is the event
 * that was exported, and not what took its number since.
 *
 * Importing checks every byte, and opens nothing but a regular file of the right
 * size: opening a device or a FIFO can have effects.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOB_MAGIC	0x54564553U	/* "SEVT" */
#define BLOB_VERSION	1
#define BLOB_UPDATE	1U

/* Little-endian; docs/abi.md has it byte by byte. */
struct blob {
	uint32_t magic;
	uint16_t version;
	uint16_t flags;
	uint32_t pid;
	uint32_t fd;
	uint64_t inode;
	unsigned char key[16];
	uint32_t reserved;
	uint32_t checksum;
};

_Static_assert(sizeof(struct blob) == 48 && sizeof(struct blob) <= SYNCEVENT_BLOB_MAX,
	       "docs/abi.md");

/* FNV-1a: against accidents; against forgery there is the key. */
uint32_t se_blob_sum(const void *blob, size_t size)
{
	const unsigned char *bytes = blob;
	uint32_t sum = 0x811c9dc5U;
	size_t i;

	for (i = 0; i < size - sizeof(sum); i++)
		sum = (sum ^ bytes[i]) * 0x01000193U;
	return sum;
}

int syncevent_export(struct syncevent *ev, unsigned int flags, void *blob, size_t size)
{
	if (flags & ~SYNCEVENT_RDONLY)
		return -EINVAL;
	return ev->provider->export ? ev->provider->export(ev, flags, blob, size) : -EOPNOTSUPP;
}

int se_shm_export(struct syncevent *ev, unsigned int flags, void *to, size_t size)
{
	const bool update = !(flags & SYNCEVENT_RDONLY);
	struct blob blob = {
		.magic = BLOB_MAGIC,
		.version = BLOB_VERSION,
		.flags = update ? BLOB_UPDATE : 0,
		.pid = (uint32_t)getpid(),
		.fd = (uint32_t)ev->fd,
	};
	struct stat st;

	if (update && !ev->writable)
		return -EBADF;
	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	if (size < sizeof(blob))
		return -ENOSPC;
	if (fstat(ev->fd, &st))
		return -errno;
	blob.inode = st.st_ino;
	memcpy(blob.key, se_shm(ev->cell)->key[update], sizeof(blob.key));
	blob.checksum = se_blob_sum(&blob, sizeof(blob));
	memcpy(to, &blob, sizeof(blob));
	return (int)sizeof(blob);
}

/* The exporter's file, if it still is that file. */
static int open_exported(const struct blob *blob)
{
	char path[48];
	struct stat st;
	int at, fd;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", blob->pid, blob->fd);
	at = open(path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return errno == ESRCH ? -ENOENT : errno == EPERM ? -EACCES : -errno;
	if (fstat(at, &st) || !S_ISREG(st.st_mode) || st.st_size != SE_SHM_SIZE ||
	    st.st_ino != blob->inode) {
		close(at);
		return -ENOENT;
	}
	fd = se_shm_reopen(at, blob->flags & BLOB_UPDATE ? O_RDWR : O_RDONLY);
	close(at);
	return fd;
}

/* In a time that does not tell how many bytes were right. */
static bool same_key(const unsigned char *a, const unsigned char *b)
{
	unsigned char differ = 0;
	size_t i;

	for (i = 0; i < 16; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

static int import_shm(struct syncevent **ev, const struct blob *blob)
{
	struct syncevent *imported;
	int fd, err;

	if (blob->magic != BLOB_MAGIC || blob->version != BLOB_VERSION ||
	    blob->flags & ~BLOB_UPDATE || blob->reserved ||
	    blob->checksum != se_blob_sum(blob, sizeof(*blob)) ||
	    blob->pid > INT32_MAX || !blob->pid || blob->fd > INT32_MAX)
		return -EINVAL;
	fd = open_exported(blob);
	if (fd < 0)
		return fd;
	err = se_shm_take(&imported, fd);
	if (err)
		return err == -EINVAL ? -ENOENT : err;
	if (!same_key(blob->key, se_shm(imported->cell)->key[blob->flags & BLOB_UPDATE])) {
		syncevent_close(imported);
		return -EACCES;
	}
	*ev = imported;
	return 0;
}

int syncevent_import(struct syncevent **ev, const void *from, size_t size)
{
	union {
		struct blob shm;
		struct syncevent_blob pci;
	} blob;

	/* Their lengths tell them apart. */
	_Static_assert(sizeof(blob.shm) != sizeof(blob.pci), "blobs");
	if (size == sizeof(blob.shm)) {
		memcpy(&blob.shm, from, size);
		return import_shm(ev, &blob.shm);
	}
	if (size == sizeof(blob.pci)) {
		memcpy(&blob.pci, from, size);
		return se_pci_import(ev, &blob.pci);
	}
	return -EINVAL;
}
