// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * world.c - the library's system calls on files and mappings
 *
 * Linked in place of the C library's functions by --wrap.
 */
#include "fuzzer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHM "/dev/shm"

struct world world;

static long mappings;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_linkat(int from, const char *old, int to, const char *path, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *path, int flags);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__real_mremap(void *at, size_t size, size_t wanted, int flags, ...);
void *__wrap_mremap(void *at, size_t size, size_t wanted, int flags);
int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);

/* /dev/shm, or a file that lies in it and nowhere else, is moved to world.shm. */
static const char *moved(const char *path, char *room, size_t size)
{
	if (!world.shm || strncmp(path, SHM, strlen(SHM)))
		return path;
	world.paths++;
	path += strlen(SHM);
	if (*path) {
		CHECK(!strncmp(path, "/syncevent.", 11));
		CHECK(path[11] && !strchr(path + 1, '/'));
	}
	CHECK((size_t)snprintf(room, size, "%s%s", world.shm, path) < size);
	return room;
}

int __wrap_open(const char *path, int flags, ...)
{
	char room[512];
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (world.judge)
		world.judge(path, flags);
	return __real_open(moved(path, room, sizeof(room)), flags, mode);
}

int __wrap_linkat(int from, const char *old, int to, const char *path, int flags)
{
	char room[512];

	return __real_linkat(from, old, to, moved(path, room, sizeof(room)), flags);
}

int __wrap_unlink(const char *path)
{
	char room[512];

	return __real_unlink(moved(path, room, sizeof(room)));
}

/* Nothing can be reached behind a mapping: no other one comes to lie there. */
#define GUARD	4096

static void *reserve(size_t size)
{
	void *room = __real_mmap(NULL, size + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(room != MAP_FAILED);
	return room;
}

static void *placed(void *page, void *room, size_t size)
{
	if (page == MAP_FAILED)
		__real_munmap(room, size + GUARD);
	else
		__atomic_fetch_add(&mappings, 1, __ATOMIC_RELAXED);
	return page;
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *room = reserve(size);

	CHECK(!at);
	return placed(__real_mmap(room, size, prot, flags | MAP_FIXED, fd, offset), room, size);
}

void *__wrap_mremap(void *at, size_t size, size_t wanted, int flags)
{
	void *room = reserve(wanted);

	/* A second mapping of what is mapped. */
	CHECK(!size);
	return placed(__real_mremap(at, 0, wanted, flags | MREMAP_FIXED, room), room, wanted);
}

int __wrap_munmap(void *at, size_t size)
{
	__atomic_fetch_sub(&mappings, 1, __ATOMIC_RELAXED);
	return __real_munmap(at, size + GUARD);
}

struct balance balance(void)
{
	struct balance b = {
		.next_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3),
		.mappings = __atomic_load_n(&mappings, __ATOMIC_RELAXED),
	};

	CHECK(b.next_fd >= 0);
	close(b.next_fd);
	return b;
}

void check_balance(const struct balance *before)
{
	struct balance now = balance();

	CHECK(now.next_fd == before->next_fd);
	CHECK(now.mappings == before->mappings);
}
