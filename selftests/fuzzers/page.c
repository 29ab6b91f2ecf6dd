// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The shared page: what another process may have written there, every call on it ends
 * and leaves nothing open or mapped.
 *
 * Input: { u8 what, u16 size of the file, u8 calls, u64 operand, what is XORed with
 * the page of a new event }.
 */
#include "fuzzer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <syncevent.h>
#include <syncevent/cell.h>

#define PAGE	4096

enum {			/* what */
	READONLY = 1,
	ZEROS = 2,	/* in place of the page of a new event */
	ODD = 4,	/* of another size */
	RIGHT = 8,	/* with the magic and state that it must have, whatever is XORed */
	SEALED = 16,	/* against every write from now on, by its maker too */
};

static uint8_t fresh[PAGE];
static struct syncevent *good;
static struct syncevent_queue *queue;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CHECK(!setenv("SYNCEVENT_PROVIDER", "shm", 1));
	CHECK(!syncevent_create(&good, NULL));
	CHECK(pread(syncevent_fd(good), fresh, PAGE, 0) == PAGE);
	/* These make what stays for the life of the process. */
	CHECK(!syncevent_queue_create(&queue));
	CHECK(syncevent_poll_fd(good) >= 0);
	return 0;
}

static int make(unsigned int what, size_t size, struct bytes *in)
{
	int fd = memfd_create("page", MFD_ALLOW_SEALING), ro;
	uint8_t page[PAGE] = { 0 };
	char path[32];

	if (!(what & ZEROS))
		memcpy(page, fresh, PAGE);
	patch(page, PAGE, in);
	if (what & RIGHT) {
		memcpy(page + 8, fresh + 8, 4);
		memcpy(page + 2048, fresh + 2048, 8);
	}
	CHECK(fd >= 0 && pwrite(fd, page, PAGE, 0) == PAGE);
	if (what & ODD)
		CHECK(!ftruncate(fd, (off_t)size));
	if (what & SEALED)
		CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	if (!(what & READONLY))
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(ro >= 0);
	close(fd);
	return ro;
}

static uint64_t soon(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec + 20000;
}

static void waits(struct syncevent *ev, unsigned int calls, uint64_t operand)
{
	struct syncevent_wait_opts opts = { .size = sizeof(opts), .how = calls & 3 };
	struct syncevent_many many[2] = {
		{ .ev = ev, .cond = calls % 6, .operand = operand, .mask = UINT64_MAX },
		{ .ev = calls & 4 ? good : ev, .cond = SYNCEVENT_EQ, .operand = operand, .mask = ~1ULL },
	};
	enum syncevent_cond cond = (enum syncevent_cond)(calls % 6);
	struct syncevent_done done[4];
	uint64_t seen;

	opts.deadline = soon();
	syncevent_wait(ev, cond, operand, operand | 1, &opts, &seen);
	opts.deadline = soon();
	syncevent_wait_many(many, 2, calls & 8 ? SYNCEVENT_ALL : 0, &opts, NULL);

	syncevent_read(ev, &seen);
	syncevent_arm(ev, cond, operand, UINT64_MAX);
	syncevent_poll_fd(ev);
	syncevent_read(ev, NULL);
	syncevent_disarm(ev);

	syncevent_queue_add(queue, ev, cond, operand, UINT64_MAX, 1, SYNCEVENT_FOREVER);
	syncevent_queue_add(queue, ev, SYNCEVENT_LT, operand, 0xff, 2, soon());
	syncevent_queue_reap(queue, done, 1, calls & 16 ? soon() : 0);
	syncevent_queue_cancel(queue, 1);
	syncevent_queue_cancel(queue, 2);
	while (syncevent_queue_reap(queue, done, 4, 0) > 0)
		;
}

static void all(struct syncevent *ev, unsigned int calls, uint64_t operand, bool readonly)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct syncevent_cell *cell = syncevent_cell(ev);
	struct syncevent *dup = NULL, *imported = NULL;
	uint8_t blob[SYNCEVENT_BLOB_MAX];
	int length, ret;
	uint64_t v;

	CHECK(!syncevent_stat(ev, &stat) && !(stat.flags & SYNCEVENT_STAT_UPDATE) == readonly);
	ret = syncevent_set(ev, operand);
	CHECK(ret == (readonly ? -EBADF : 0) || ret == -EIDRM);
	syncevent_get(ev, &v);
	syncevent_add(ev, operand, &v);
	syncevent_ring(ev);
	syncevent_cell_must_ring(cell, v);
	if (!readonly && syncevent_cell_add(cell, operand, &v))
		syncevent_ring(ev);

	length = syncevent_export(ev, readonly || calls & 32 ? SYNCEVENT_RDONLY : 0, blob, sizeof(blob));
	if (length > 0 && !syncevent_import(&imported, blob, (size_t)length))
		syncevent_add(imported, 1, NULL);
	if (!syncevent_dup(&dup, ev, calls & 64 ? SYNCEVENT_RDONLY : 0)) {
		CHECK(syncevent_add(dup, 1, NULL) == (readonly || calls & 64 ? -EBADF : 0));
		waits(dup, calls, operand);
	}
	waits(ev, calls, operand);
	if (calls & 128)
		syncevent_revoke(ev);
	waits(ev, calls, operand);
	syncevent_close(imported);
	syncevent_close(dup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct balance before = balance();
	struct bytes in = { data, size };
	unsigned int what = (unsigned int)take(&in, 1), calls;
	size_t length = take(&in, 2);
	struct syncevent *ev = NULL;
	uint64_t operand;
	int fd, ret;

	calls = (unsigned int)take(&in, 1);
	operand = take(&in, 8);
	fd = make(what, length, &in);
	ret = syncevent_from_fd(&ev, fd);
	CHECK(!ret == !!ev);
	CHECK(!(what & ODD) || length == PAGE || ret == -EINVAL);
	if (!ret)
		all(ev, calls, operand, what & READONLY);
	syncevent_close(ev);
	close(fd);
	check_balance(&before);
	return 0;
}
