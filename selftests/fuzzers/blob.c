// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * syncevent_import(): never opens anything but a regular file of the right size, and
 * only bytes that were exported give a handle.
 *
 * Input: what to make of the bytes that follow
 *	RAW	the blob
 *	PATCH	XORed with a blob that was exported; a checksum that is right or not
 *	FIELDS	flags, the file and its inode, the key: chosen, the checksum right
 */
#include "fuzzer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <syncevent.h>

/* docs/abi.md */
#define BLOB_SIZE	48
#define FLAGS		6
#define PID		8
#define FD		12
#define INODE		16
#define KEY		24
#define CHECKSUM	44

enum { RAW, PATCH, FIELDS, MODES };

static struct syncevent *event, *other, *revoked;
static uint8_t exported[2][BLOB_SIZE];	/* [0] to read, [1] to update */
static int files[16];
static unsigned int file_count;

static void put(void *to, uint64_t value, size_t n)
{
	memcpy(to, &value, n);	/* little-endian: where this runs */
}

static void sum(uint8_t *blob)
{
	uint32_t s = 0x811c9dc5U;
	size_t i;

	for (i = 0; i < CHECKSUM; i++)
		s = (s ^ blob[i]) * 0x01000193U;
	put(blob + CHECKSUM, s, 4);
}

/* Opening the file itself, not a mere reference, is for regular files of its size. */
static void judge(const char *path, int flags)
{
	struct stat st;

	if (flags & O_PATH || stat(path, &st))
		return;
	CHECK(S_ISREG(st.st_mode) && st.st_size == 4096);
}

static void add_file(int fd)
{
	CHECK(fd >= 0);
	files[file_count++] = fd;
}

static int memory(off_t size)
{
	int fd = memfd_create("file", 0);

	CHECK(fd >= 0 && !ftruncate(fd, size));
	return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct syncevent_attr attr = {
		.size = sizeof(attr), .provider = SYNCEVENT_PROVIDER_SHM,
	};
	int pair[2];

	(void)argc;
	(void)argv;
	CHECK(!syncevent_create(&event, &attr) && !syncevent_create(&other, &attr));
	CHECK(syncevent_export(event, SYNCEVENT_RDONLY, exported[0], BLOB_SIZE) == BLOB_SIZE);
	CHECK(syncevent_export(event, 0, exported[1], BLOB_SIZE) == BLOB_SIZE);

	add_file(syncevent_fd(event));
	add_file(syncevent_fd(other));
	add_file(memory(4096));
	add_file(memory(4095));
	add_file(memory(0));
	add_file(memory(1 << 20));
	add_file(open("/dev/null", O_RDWR));
	add_file(open("/dev/ptmx", O_RDWR | O_NOCTTY));
	add_file(open("/", O_RDONLY | O_DIRECTORY));
	add_file(open("/proc/self/exe", O_RDONLY));
	CHECK(!pipe(pair));
	add_file(pair[0]);
	add_file(pair[1]);
	add_file(eventfd(0, 0));
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	add_file(pair[0]);
	CHECK(!syncevent_create(&revoked, &attr) && !syncevent_revoke(revoked));
	add_file(syncevent_fd(revoked));
	add_file(open("/proc/self/mem", O_RDWR));
	world.judge = judge;
	return 0;
}

static void fields(uint8_t *blob, struct bytes *in)
{
	unsigned int how = (unsigned int)take(in, 1);
	struct stat st;
	int fd = files[take(in, 1) % file_count];

	memcpy(blob, exported[how & 1], BLOB_SIZE);
	CHECK(!fstat(fd, &st));
	put(blob + FD, (uint64_t)fd, 4);
	if (how & 2)
		put(blob + INODE, st.st_ino, 8);
	if (how & 4)
		put(blob + FLAGS, take(in, 2), 2);
	if (how & 8)
		put(blob + PID, take(in, 4), 4);
	if (how & 16)
		put(blob + FD, take(in, 4), 4);
	if (how & 32)
		memcpy(blob + KEY, exported[!(how & 1)] + KEY, 16);
	patch(blob, BLOB_SIZE, in);
	sum(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct balance before = balance();
	struct bytes in = { data, size };
	struct syncevent *ev = (void *)&before;
	uint8_t mode = (uint8_t)take(&in, 1), *blob;
	size_t length = BLOB_SIZE;
	int ret;

	if (mode % MODES == RAW)
		length = in.left;
	/* Of its exact size, so that a read beyond it is seen. */
	blob = malloc(length + !length);
	CHECK(blob);
	switch (mode % MODES) {
	case RAW:
		if (length)
			memcpy(blob, in.at, length);
		break;
	case PATCH:
		memcpy(blob, exported[mode >> 7], BLOB_SIZE);
		patch(blob, BLOB_SIZE, &in);
		if (mode & 0x40)
			sum(blob);
		break;
	default:
		fields(blob, &in);
	}

	ret = syncevent_import(&ev, blob, length);
	if (!ret) {
		/*
		 * Another way to the same file, such as a thread's number for the process's,
		 * is no harm: who has the key has the right.
		 */
		bool update = length == BLOB_SIZE && !memcmp(blob + KEY, exported[1] + KEY, 16);

		CHECK(update || (length == BLOB_SIZE && !memcmp(blob + KEY, exported[0] + KEY, 16)));
		CHECK(syncevent_set(ev, 1) == (update ? 0 : -EBADF));
		syncevent_close(ev);
	} else {
		CHECK(ret == -EINVAL || ret == -ENOENT || ret == -EACCES || ret == -EIDRM);
		CHECK(ev == (void *)&before);
		CHECK(length != BLOB_SIZE || (memcmp(blob, exported[0], BLOB_SIZE) &&
					      memcmp(blob, exported[1], BLOB_SIZE)));
	}
	free(blob);
	check_balance(&before);
	return 0;
}
