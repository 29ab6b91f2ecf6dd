// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Names: what is no name touches no file, what is one is a file in /dev/shm itself
 * (world.c), and neither is a name under which something else lies.
 *
 * The folder is a scratch one, SYNCEVENT_FUZZ_SHM. Input: { u8 mode and flags, bytes
 * of the name }.
 */
#include "fuzzer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <syncevent.h>

/* What is no event. Nothing opens it, nothing hangs on it, nothing changes it. */
static const char *const others[] = { "fifo", "folder", "link", "short", "long", "zeros" };

static char *path(const char *name)
{
	char *text;

	CHECK(asprintf(&text, "%s/syncevent.%s", world.shm, name) > 0);
	return text;
}

static void put_file(const char *name, off_t size)
{
	char *at = path(name);
	int fd = creat(at, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, size));
	close(fd);
	free(at);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char *at;

	(void)argc;
	(void)argv;
	CHECK(!setenv("SYNCEVENT_PROVIDER", "shm", 1));
	world.shm = getenv("SYNCEVENT_FUZZ_SHM");
	CHECK(world.shm);
	CHECK(!mkfifo(at = path("fifo"), 0600));
	free(at);
	CHECK(!mkdir(at = path("folder"), 0700));
	free(at);
	CHECK(!symlink("/dev/null", at = path("link")));
	free(at);
	put_file("short", 4095);
	put_file("long", 4097);
	put_file("zeros", 4096);
	return 0;
}

static bool is_other(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return true;
	return false;
}

/* The rule, written down a second time. */
static int judge(const char *name)
{
	if (!*name || *name == '.')
		return -EINVAL;
	if (strlen(name) > SYNCEVENT_NAME_MAX) {
		size_t i;

		for (i = 0; i < SYNCEVENT_NAME_MAX + 1; i++)
			if (name[i] == '/')
				return -EINVAL;
		return -ENAMETOOLONG;
	}
	return strchr(name, '/') ? -EINVAL : 0;
}

static int open_event(const char *name, int flags, mode_t mode)
{
	struct syncevent *ev = NULL;
	int ret = syncevent_open(&ev, name, flags, mode, NULL);

	CHECK(!ret == !!ev);
	if (!ret) {
		CHECK(syncevent_add(ev, 1, NULL) ==
		      ((flags & O_ACCMODE) == O_RDWR ? 0 : -EBADF));
		syncevent_close(ev);
	}
	return ret;
}

static void try_name(const char *name, mode_t mode)
{
	char *at = path(name);
	struct stat st;

	CHECK(open_event(name, O_RDWR, 0) == -ENOENT);
	CHECK(syncevent_unlink(name) == -ENOENT);
	CHECK(!open_event(name, O_RDWR | O_CREAT | O_EXCL, mode));
	CHECK(!lstat(at, &st) && S_ISREG(st.st_mode) && st.st_size == 4096);
	CHECK((st.st_mode & 07777) == mode);
	CHECK(open_event(name, O_RDWR | O_CREAT | O_EXCL, mode) == -EEXIST);
	CHECK(!open_event(name, O_RDWR | O_CREAT, mode));
	CHECK(!open_event(name, O_RDONLY, 0));
	CHECK(!syncevent_unlink(name));
	CHECK(lstat(at, &st) && errno == ENOENT);
	free(at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct balance before = balance();
	struct bytes in = { data, size };
	unsigned int mode = (unsigned int)take(&in, 1);
	/* Of its exact size, so that a read beyond it is seen. */
	char *name = malloc(in.left + 1);
	int ret;

	CHECK(name);
	if (in.left)
		memcpy(name, in.at, in.left);
	name[in.left] = 0;
	umask(0);
	ret = judge(name);
	world.paths = 0;
	if (ret) {
		CHECK(open_event(name, O_RDWR, 0) == ret);
		CHECK(open_event(name, O_RDONLY, 0) == ret);
		CHECK(open_event(name, O_RDWR | O_CREAT, 0600) == ret);
		CHECK(syncevent_unlink(name) == ret);
		CHECK(!world.paths);
	} else if (is_other(name)) {
		CHECK(open_event(name, O_RDWR, 0) == -EINVAL);
		CHECK(open_event(name, O_RDONLY, 0) == -EINVAL);
		CHECK(open_event(name, O_RDWR | O_CREAT, 0600) == -EINVAL);
		CHECK(open_event(name, O_RDWR | O_CREAT | O_EXCL, 0600) == -EEXIST);
	} else {
		try_name(name, 0600 | (mode & 077));
	}
	/* Flags that are not offered touch nothing either. */
	world.paths = 0;
	CHECK(open_event(name, O_WRONLY, 0) == -EINVAL);
	CHECK(open_event(name, O_RDONLY | O_CREAT, 0600) == -EINVAL);
	CHECK(open_event(name, O_RDWR | O_TRUNC, 0) == -EINVAL);
	CHECK(!world.paths);
	free(name);
	check_balance(&before);
	return 0;
}
