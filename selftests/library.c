// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * library.c - what libsyncevent promises beyond the kernel: syncevent.h's errors, and
 * its file descriptors. both_* and kernel_* as in conformance.c, region_* are of none
 * that there is.
 */
#include "waiter.h"

#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <syncevent/cell.h>

/* ---- structures with a size ---------------------------------------------------- */

struct large_attr {
	struct syncevent_attr attr;
	unsigned char tail[8];
};

struct large_opts {
	struct syncevent_wait_opts opts;
	unsigned char tail[8];
};

TEST(both_size_of_attr)
{
	struct large_attr large = { .attr.value = 5 };
	struct syncevent *ev = NULL;
	uint64_t value;
	uint32_t size;
	size_t i;

	for (size = 0; size < sizeof(large.attr); size++) {
		large.attr.size = size;
		ASSERT_EQ(-EINVAL, syncevent_create(&ev, &large.attr));
	}
	for (; size <= sizeof(large); size++) {
		large.attr.size = size;
		ASSERT_EQ(0, syncevent_create(&ev, &large.attr));
		ASSERT_EQ(0, syncevent_get(ev, &value));
		ASSERT_EQ(5, value);
		syncevent_close(ev);
	}
	large.attr.size = sizeof(large);
	for (i = 0; i < sizeof(large.tail); i++) {
		large.tail[i] = 1;
		ASSERT_EQ(-E2BIG, syncevent_create(&ev, &large.attr));
		large.tail[i] = 0;
	}
}

TEST(both_size_of_opts)
{
	struct large_opts large = { .opts.deadline = 0 };
	struct syncevent *ev = make(1);
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_EQ, .operand = 1,
				       .mask = UINT64_MAX };
	uint32_t size;
	int wanted;
	size_t i;

	ASSERT_NE(NULL, ev);
	for (size = 0; size <= sizeof(large); size++) {
		large.opts.size = size;
		wanted = size < sizeof(large.opts) ? -EINVAL : 0;
		ASSERT_EQ(wanted, syncevent_wait(ev, SYNCEVENT_EQ, 1, UINT64_MAX,
						 &large.opts, NULL));
		ASSERT_EQ(wanted, syncevent_wait_many(&many, 1, 0, &large.opts, NULL));
	}
	large.opts.size = sizeof(large);
	for (i = 0; i < sizeof(large.tail); i++) {
		large.tail[i] = 1;
		ASSERT_EQ(-E2BIG, syncevent_wait(ev, SYNCEVENT_EQ, 1, UINT64_MAX,
						 &large.opts, NULL));
		ASSERT_EQ(-E2BIG, syncevent_wait_many(&many, 1, 0, &large.opts, NULL));
		large.tail[i] = 0;
	}
	syncevent_close(ev);
}

TEST(both_unknown_arguments)
{
	struct syncevent_attr attr = { .size = sizeof(attr) };
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, 0);
	struct syncevent *ev = make(1), *other = NULL;
	struct syncevent_queue *q;
	struct syncevent_done done;
	struct syncevent_many many[SYNCEVENT_MANY_MAX + 1];
	enum syncevent_cond bad = (enum syncevent_cond)(SYNCEVENT_LE + 1);
	unsigned int bit, i;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (i = 0; i <= SYNCEVENT_MANY_MAX; i++)
		many[i] = (struct syncevent_many){ .ev = ev, .operand = 1, .mask = 1 };

	for (bit = 0; bit < 32; bit++) {
		attr.flags = 1U << bit;
		if (attr.flags != SYNCEVENT_SILENT)
			ASSERT_EQ(-EINVAL, syncevent_create(&other, &attr));
		attr.flags = 0;
		attr.publishers = 1U << bit;
		if (!(attr.publishers & SYNCEVENT_LOC_ALL))
			ASSERT_EQ(-EINVAL, syncevent_create(&other, &attr));
		attr.subscribers = attr.publishers;
		attr.publishers = 0;
		if (!(attr.subscribers & SYNCEVENT_LOC_ALL))
			ASSERT_EQ(-EINVAL, syncevent_create(&other, &attr));
		attr.subscribers = 0;
		if (1U << bit != SYNCEVENT_RDONLY)
			ASSERT_EQ(-EINVAL, syncevent_dup(&other, ev, 1U << bit));
		opts.flags = 1U << bit;
		if (opts.flags != SYNCEVENT_REALTIME) {
			ASSERT_EQ(-EINVAL, syncevent_wait(ev, SYNCEVENT_EQ, 1, 1, &opts, NULL));
			ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 1, 0, &opts, NULL));
		}
		if (1U << bit != SYNCEVENT_ALL)
			ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 1, 1U << bit, NULL, NULL));
	}
	opts.flags = 0;
	opts.how = SYNCEVENT_BLOCK + 1;
	ASSERT_EQ(-EINVAL, syncevent_wait(ev, SYNCEVENT_EQ, 1, 1, &opts, NULL));
	ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 1, 0, &opts, NULL));

	ASSERT_EQ(-EINVAL, syncevent_wait(ev, bad, 1, 1, NULL, NULL));
	ASSERT_EQ(-EINVAL, syncevent_arm(ev, bad, 1, 1));
	ASSERT_EQ(-EINVAL, syncevent_queue_add(q, ev, bad, 1, 1, 1, 0));
	ASSERT_EQ(-EINVAL, syncevent_queue_reap(q, &done, 0, 0));
	for (i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		opts = opts_of(hows[i], 0);
		ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 0, 0, &opts, NULL));
		ASSERT_EQ(-EINVAL, syncevent_wait_many(many, SYNCEVENT_MANY_MAX + 1, 0, &opts,
						       NULL));
		ASSERT_EQ(0, syncevent_wait_many(many, SYNCEVENT_MANY_MAX, SYNCEVENT_ALL,
						 &opts, NULL));
		many[1].cond = bad;
		ASSERT_EQ(-EINVAL, syncevent_wait_many(many, 2, 0, &opts, NULL));
		many[1].cond = 0;
	}
	syncevent_queue_close(q);
	syncevent_close(ev);
	syncevent_close(NULL);
	syncevent_queue_close(NULL);
}

/* ---- file descriptors ----------------------------------------------------------- */

TEST(both_from_fd_takes_events_only)
{
	struct syncevent *ev = make(1), *other = NULL;
	struct syncevent_queue *q;
	int pair[2], fd;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(-EBADF, syncevent_from_fd(&other, -1));
	ASSERT_EQ(0, pipe(pair));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, pair[0]));
	ASSERT_EQ(0, close(pair[1]));
	ASSERT_EQ(-EBADF, syncevent_from_fd(&other, pair[1]));
	ASSERT_LE(0, fd = eventfd(0, 0));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
	ASSERT_LE(0, fd = open("/dev/null", O_RDWR));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
	ASSERT_LE(0, fd = open("/dev/null", O_PATH));
	ASSERT_EQ(-EBADF, syncevent_from_fd(&other, fd));
	ASSERT_LE(0, fd = open("/proc/self/exe", O_RDONLY));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
	if (!on_shm()) {
		ASSERT_LE(0, fd = open(SE_DEV, O_RDWR));
		ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, fd));
		ASSERT_LE(0, fd = open(SE_DEV, O_PATH));
		ASSERT_EQ(-EBADF, syncevent_from_fd(&other, fd));
	}
	ASSERT_EQ(0, syncevent_queue_create(&q));
	ASSERT_EQ(-EINVAL, syncevent_from_fd(&other, syncevent_queue_fd(q)));
	ASSERT_EQ(NULL, other);

	ASSERT_EQ(0, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(0, syncevent_add(other, 1, NULL));
	syncevent_close(other);
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 2, UINT64_MAX, NULL));
	ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(-EIDRM, syncevent_from_fd(&other, syncevent_fd(ev)));
	syncevent_close(ev);
	syncevent_queue_close(q);
}

static bool safe_fd(int fd)
{
	return fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC;
}

/* The exit status names what failed. */
static int without_stdio(void)
{
	struct syncevent *ev, *dup, *same;
	struct syncevent_queue *q;
	struct syncevent_many many;

	close(0);
	close(1);
	close(2);
	if (syncevent_create(&ev, NULL) || !safe_fd(syncevent_fd(ev)))
		return 1;
	if (syncevent_dup(&dup, ev, 0) || !safe_fd(syncevent_fd(dup)))
		return 2;
	if (syncevent_from_fd(&same, syncevent_fd(ev)) || !safe_fd(syncevent_fd(same)))
		return 3;
	if (syncevent_queue_create(&q) || !safe_fd(syncevent_queue_fd(q)))
		return 4;
	many = (struct syncevent_many){ .ev = ev, .cond = SYNCEVENT_EQ };
	if (syncevent_wait_many(&many, 1, 0, NULL, NULL))
		return 5;
	/* Neither the device nor anything else of the library is there. */
	return fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1 && fcntl(2, F_GETFD) == -1 ?
	       0 : 6;
}

TEST(both_stdio_is_not_reused)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(without_stdio());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
}

static int open_files(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

TEST(both_nothing_stays_open)
{
	int i, before = open_files();
	struct syncevent_queue *q;
	struct syncevent *ev, *dup;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, syncevent_create(&ev, NULL));
		ASSERT_EQ(0, syncevent_dup(&dup, ev, SYNCEVENT_RDONLY));
		ASSERT_EQ(0, syncevent_queue_create(&q));
		syncevent_queue_close(q);
		syncevent_close(dup);
		ASSERT_EQ(0, syncevent_revoke(ev));
		ASSERT_EQ(-EIDRM, syncevent_dup(&dup, ev, 0));
		syncevent_close(ev);
	}
	ASSERT_EQ(before, open_files());
}

TEST(both_no_file_descriptor_left)
{
	struct syncevent *ev = make(0), *other = NULL;
	struct syncevent_queue *q = NULL;
	struct rlimit limit;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = (rlim_t)syncevent_fd(ev) + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(0) >= 0)
		;
	ASSERT_EQ(-EMFILE, syncevent_create(&other, NULL));
	ASSERT_EQ(-EMFILE, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(-EMFILE, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(-EMFILE, syncevent_queue_create(&q));
	ASSERT_EQ(NULL, other);
	ASSERT_EQ(NULL, q);
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	syncevent_close(ev);
}

TEST(both_no_memory_left)
{
	struct syncevent *ev = make(0), *other = NULL;
	struct rlimit limit = { 1, 1 };
	int before;

	/* No mapping can be made any more. */
	ASSERT_NE(NULL, ev);
	before = open_files();
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	ASSERT_EQ(-ENOMEM, syncevent_create(&other, NULL));
	ASSERT_EQ(-ENOMEM, syncevent_dup(&other, ev, 0));
	ASSERT_EQ(-ENOMEM, syncevent_from_fd(&other, syncevent_fd(ev)));
	ASSERT_EQ(NULL, other);
	ASSERT_EQ(before, open_files());
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	syncevent_close(ev);
}

/* A daemon closes what it does not know, and the numbers are used again. */
static int wait_after_close(struct syncevent *ev, bool reuse)
{
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_EQ, .operand = 1,
				       .mask = UINT64_MAX };
	int fd;

	if (syncevent_wait_many(&many, 1, 0, NULL, NULL))
		return 1;
	for (fd = 3; fd < 256; fd++)
		if (fd != syncevent_fd(ev))
			close(fd);
	while (reuse && (fd = eventfd(0, 0)) >= 0 && fd < 64)
		;
	many.status = 0;
	if (syncevent_wait_many(&many, 1, 0, NULL, NULL) || many.status != 1)
		return 2;
	/* What took the number over was left alone; the library's are close-on-exec. */
	while (reuse && --fd > 2)
		if (fd != syncevent_fd(ev) && fcntl(fd, F_GETFD) != 0)
			return 3;
	return 0;
}

TEST(both_wait_many_after_all_files_were_closed)
{
	struct syncevent *ev = make(1);
	int reuse, status;
	pid_t pid;

	ASSERT_NE(NULL, ev);
	for (reuse = 0; reuse < 2; reuse++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(wait_after_close(ev, reuse));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
	}
	syncevent_close(ev);
}

TEST(both_fork_goes_on)
{
	struct syncevent *ev = make(0);
	struct syncevent_many many = { .ev = ev, .cond = SYNCEVENT_GE, .operand = 1,
				       .mask = UINT64_MAX };
	int status;
	pid_t pid;

	ASSERT_NE(NULL, ev);
	/* The device is open in the parent before the fork. */
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	ASSERT_EQ(0, syncevent_wait_many(&many, 1, 0, NULL, NULL));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		many.operand = 2;
		if (syncevent_wait_many(&many, 1, 0, NULL, NULL) || syncevent_add(ev, 1, NULL))
			_exit(1);
		syncevent_close(ev);
		_exit(0);
	}
	ASSERT_TRUE(until_parked(ev, pid, pid));
	ASSERT_EQ(0, syncevent_add(ev, 1, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, look(ev, SYNCEVENT_EQ, 3, UINT64_MAX, NULL));
	syncevent_close(ev);
}

/* ---- updates ---------------------------------------------------------------------- */

/*
 * Stands in front of the C library's: whoever saw the update may revoke the event
 * before its publisher comes to ring, and here does so each time.
 */
static bool revoke_before_ring;

/**
 * struct pretended - a region that only this program has
 * @on: it has
 * @error: that it may not be opened
 * @info: of the events in it
 */
static struct {
	bool on;
	int error;
	struct syncevent_info info;
} pretended;

int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (!pretended.on || strcmp(path, SE_DEV "_pci0"))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (!pretended.error)
		return memfd_create("region", MFD_CLOEXEC);
	errno = pretended.error;
	return -1;
}

static int pretend(unsigned long command, void *arg)
{
	const struct syncevent_cell cell = { .state = SYNCEVENT_STATE_LIVE };
	int fd;

	switch (command) {
	case SYNCEVENT_IOC_PCI_INFO:
		*(struct syncevent_pci_info *)arg = (struct syncevent_pci_info){
			.flags = SYNCEVENT_PCI_ATTACHED,
		};
		return 0;
	case SYNCEVENT_IOC_PCI_CREATE:
		fd = memfd_create("event", MFD_CLOEXEC);
		return pwrite(fd, &cell, sizeof(cell), 0) == sizeof(cell) ? fd : -1;
	case SYNCEVENT_IOC_INFO:
		*(struct syncevent_info *)arg = pretended.info;
		return 0;
	default:
		errno = ENOTTY;
		return -1;
	}
}

int ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if (command == SYNCEVENT_IOC_RING && revoke_before_ring)
		syscall(SYS_ioctl, fd, SYNCEVENT_IOC_REVOKE, NULL);
	if (pretended.on)
		return pretend(command, arg);
	return (int)syscall(SYS_ioctl, fd, command, arg);
}

TEST(kernel_update_that_was_seen_has_succeeded)
{
	struct waiter w;
	uint64_t old;
	int i;

	KERNEL_ONLY();
	revoke_before_ring = true;
	for (i = 0; i < 2; i++) {
		struct syncevent *ev = make(0);

		/* Only a sleeper makes the publisher ring. */
		ASSERT_NE(NULL, ev);
		ASSERT_EQ(0, start(&w, ev, SYNCEVENT_GE, 1, UINT64_MAX, SYNCEVENT_BLOCK,
				   SYNCEVENT_FOREVER));
		ASSERT_TRUE(se_until_waiters(syncevent_fd(ev), 1));
		old = 7;
		if (i) {
			ASSERT_EQ(0, syncevent_set(ev, 1));
		} else {
			ASSERT_EQ(0, syncevent_add(ev, 1, &old));
			ASSERT_EQ(0, old);
		}
		ASSERT_NE(SE_HUNG, se_join(&w.t));
		ASSERT_EQ(-EIDRM, syncevent_set(ev, 1));
		old = 7;
		ASSERT_EQ(-EIDRM, syncevent_add(ev, 1, &old));
		ASSERT_EQ(7, old);
		ASSERT_EQ(-EIDRM, syncevent_ring(ev));
		syncevent_close(ev);
	}
	revoke_before_ring = false;
}

TEST(both_read_only_handle_updates_nothing)
{
	struct syncevent *ev = make(1), *ro, *ro2;
	uint64_t old = 7;

	ASSERT_NE(NULL, ev);
	ASSERT_EQ(0, syncevent_dup(&ro, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(0, syncevent_dup(&ro2, ro, 0));
	ASSERT_EQ(-EBADF, syncevent_set(ro2, 2));
	ASSERT_EQ(-EBADF, syncevent_add(ro2, 2, &old));
	ASSERT_EQ(7, old);
	ASSERT_EQ(-EBADF, syncevent_ring(ro2));
	ASSERT_EQ(-EBADF, syncevent_revoke(ro2));
	syncevent_close(ro2);
	ASSERT_EQ(0, syncevent_from_fd(&ro2, syncevent_fd(ro)));
	ASSERT_EQ(-EBADF, syncevent_set(ro2, 2));
	ASSERT_EQ(0, look(ro2, SYNCEVENT_EQ, 1, UINT64_MAX, NULL));
	syncevent_close(ro2);
	syncevent_close(ro);
	syncevent_close(ev);
}

/* ---- regions ---------------------------------------------------------------------- */

/* There are two errors for that, of a mode and of a cgroup. */
TEST(region_may_not_be_opened)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .pci = SE_DEV "_pci0" };
	struct syncevent_pci_side side = { .size = sizeof(side) };
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct syncevent *ev;

	pretended.on = true;
	for (int i = 0; i < 2; i++) {
		pretended.error = i ? EPERM : EACCES;
		pci.device[0] = '\0';
		EXPECT_EQ(-EACCES, syncevent_pci_get(0, &pci));
		EXPECT_STREQ(attr.pci, pci.device);
		EXPECT_EQ(-EACCES, syncevent_pci_side(attr.pci, 0, &side));
		EXPECT_EQ(-EACCES, syncevent_create(&ev, &attr));
		EXPECT_EQ(-EACCES, syncevent_import_name(&ev, attr.pci, "name", 0));
	}
	pretended.on = false;
}

/* What can have ended a new event is the end of its region. */
TEST(region_goes_while_an_event_is_made)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .pci = SE_DEV "_pci0" };
	struct syncevent *ev;

	pretended.on = true;
	pretended.info.flags = SYNCEVENT_INFO_REVOKED;
	EXPECT_EQ(-ENODEV, syncevent_create(&ev, &attr));
	pretended.on = false;
}

/* A region may be larger than a 32-bit program. */
TEST(region_payload_of_4_GiB)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .pci = SE_DEV "_pci0" };
	const uint64_t size = 4096ULL << 20;
	struct syncevent *ev;
	size_t len = 0;
	void *p;

	pretended.on = true;
	pretended.info = (struct syncevent_info){
		.flags = SYNCEVENT_INFO_UPDATE, .sides = 2, .pages = (1U << 20) + 1,
	};
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	if (size > SIZE_MAX) {
		EXPECT_EQ(-ENOMEM, syncevent_payload(ev, &p, &len));
	} else {
		EXPECT_EQ(0, syncevent_payload(ev, &p, &len));
		EXPECT_EQ(size + 4096, len);
	}
	syncevent_close(ev);
	pretended.on = false;
}

TEST_HARNESS_MAIN
