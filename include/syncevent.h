/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * syncevent.h - libsyncevent: 64-bit events to update, read and wait on
 *
 * Every function returns 0 or a negative errno. Optional outputs may be NULL.
 * Structures that callers fill start with a size field: set it to sizeof. A
 * size below that of the first version is -EINVAL; a larger one is accepted if
 * the bytes that this library does not know are zero, else -E2BIG.
 *
 * Outputs are written on success only; syncevent_wait_many() writes them on
 * -EIDRM too.
 *
 * Threads: any function may run at the same time as any other on the same
 * handle, but for syncevent_close() and syncevent_queue_close(), which end the
 * handle: no other call on it may be running or follow. To end waits of other
 * threads, syncevent_revoke() first.
 *
 * Memory order: syncevent_set() and syncevent_add() release, syncevent_get()
 * and a satisfied wait acquire: what was written before an update is visible
 * after a wait that saw it.
 *
 * Fork: a child may go on using the handles of its parent: updates, waits and
 * the rest reach the same event. What polls on the shm provider is the one
 * exception: a child's syncevent_poll_fd() and its queues are copies of its own
 * from the fork on. Entries on attr.addr in a queue of the kernel provider follow the
 * memory of the process that added them. Exec: the file descriptors are close-on-exec.
 *
 * Providers: the kernel provider (/dev/syncevent) keeps every promise made here.
 * The shm provider needs no module: a shared page and a futex. What it does not
 * promise is marked "shm:", and syncevent_query() tells the difference. Unless
 * an attribute or the environment variable SYNCEVENT_PROVIDER (kernel or shm)
 * says otherwise, shm is used only where there is no /dev/syncevent: being denied
 * it is an error, so that one name never means two events.
 */
#ifndef SYNCEVENT_H
#define SYNCEVENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls without a detour over the PLT, which costs half as much as an atomic instruction. */
#if defined(__has_attribute)
#if __has_attribute(__noplt__)
#define SYNCEVENT_DIRECT __attribute__((__noplt__))
#endif
#endif
#ifndef SYNCEVENT_DIRECT
#define SYNCEVENT_DIRECT
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct syncevent;
struct syncevent_queue;
struct syncevent_cell;

/** enum syncevent_cond - (value & mask) OP operand, unsigned, full range */
enum syncevent_cond {
	SYNCEVENT_EQ,
	SYNCEVENT_NEQ,
	SYNCEVENT_GT,
	SYNCEVENT_GE,
	SYNCEVENT_LT,
	SYNCEVENT_LE,
};

/** enum syncevent_how - how to wait */
enum syncevent_how {
	SYNCEVENT_ADAPTIVE,	/* spin for a budget, then sleep: the default */
	SYNCEVENT_SPIN,		/* 100 % of a CPU, lowest latency */
	SYNCEVENT_YIELD,	/* sched_yield() between looks */
	SYNCEVENT_BLOCK,	/* sleep at once */
};

#define SYNCEVENT_FOREVER	UINT64_MAX	/* no deadline */

/* ---- events ---------------------------------------------------------------- */

/** enum syncevent_provider - who keeps an event */
enum syncevent_provider {
	SYNCEVENT_PROVIDER_DEFAULT,	/* as described above */
	SYNCEVENT_PROVIDER_KERNEL,	/* /dev/syncevent */
	SYNCEVENT_PROVIDER_SHM,		/* a shared page and a futex */
	SYNCEVENT_PROVIDER_ADDR,	/* answer only: an event on attr.addr */
};

/** SYNCEVENT_SILENT - publishers may update without a ring (DMA, RDMA, GPU) */
#define SYNCEVENT_SILENT	(1U << 0)

/**
 * struct syncevent_attr - how to make an event; all-zero but size is the default
 * @size: sizeof(struct syncevent_attr)
 * @flags: SYNCEVENT_SILENT or 0
 * @value: the counter's first value
 * @publishers: SYNCEVENT_LOC_* of linux/syncevent.h, a placement hint; 0: CPU
 * @subscribers: likewise
 * @provider: enum syncevent_provider; with @addr it must be DEFAULT
 * @reserved: zero
 * @addr: the counter lies in these 8 bytes of the caller, aligned to 8, that
 *        outlive the handle; @value is ignored: it is what is there. Whoever can
 *        write them may update the event, and need not ring: it is SILENT, and a
 *        sleeper looks now and then (struct syncevent_caps, late_max_ns). It has
 *        no file descriptor and no cell, and only this process and its children
 *        can use the handle. NULL for any other event
 */
struct syncevent_attr {
	uint32_t size;
	uint32_t flags;
	uint64_t value;
	uint32_t publishers;
	uint32_t subscribers;
	uint32_t provider;
	uint32_t reserved;
	uint64_t *addr;
};

/**
 * syncevent_create() - make an event
 * @ev: where the handle goes
 * @attr: or NULL for the defaults
 *
 * The event lives while a file descriptor or a mapping of it is held anywhere.
 *
 * Return: 0; -ENOENT or -ENODEV: the kernel provider was asked for and the module
 * is not loaded; -EACCES or -EPERM: no right to open /dev/syncevent; -EINVAL or
 * -E2BIG: @attr, or SYNCEVENT_PROVIDER in the environment is neither kernel nor
 * shm; -EMFILE: the process has no free file descriptor or the user has too many
 * events; -ENFILE: nor has the machine; -ENOMEM.
 */
int syncevent_create(struct syncevent **ev, const struct syncevent_attr *attr);

/** SYNCEVENT_NAME_MAX - longest name, in bytes without the final NUL */
#define SYNCEVENT_NAME_MAX	245

/**
 * syncevent_open() - open an event by its name, or make it
 * @ev: where the handle goes
 * @name: 1 to SYNCEVENT_NAME_MAX bytes, no '/', not beginning with '.'
 * @oflag: O_RDONLY (read and wait only) or O_RDWR; O_CREAT to make it if it does
 *         not exist, for which the rights must be O_RDWR; O_EXCL with O_CREAT to
 *         fail if it does
 * @mode: with O_CREAT, who may open it, as for open(2); the umask applies
 * @attr: with O_CREAT, how to make it; @attr->provider chooses where to look in
 *        any case. @attr->addr must be NULL
 *
 * Names of the kernel provider are files of a synceventfs on /dev/syncevents, a
 * name of the shm provider is a file /dev/shm/syncevent.NAME. The name keeps the
 * event alive; syncevent_unlink() removes it.
 *
 * Return: 0; -ENOENT: no such name, and no O_CREAT; -ENODEV: the kernel provider
 * was asked for, and no synceventfs is mounted on /dev/syncevents; -EEXIST;
 * -EACCES: the mode denies it; -EINVAL: @name, @oflag or @attr, or what is there
 * is no event; -ENAMETOOLONG; -EIDRM: revoked; -EDQUOT: this user has too many
 * events; -E2BIG, -EMFILE, -ENFILE, -ENOSPC, -ENOMEM and what else open(2) returns.
 */
int syncevent_open(struct syncevent **ev, const char *name, int oflag, mode_t mode,
		   const struct syncevent_attr *attr);

/**
 * syncevent_unlink() - remove a name of the default provider
 * @name: as for syncevent_open()
 *
 * Handles go on working. Return: 0; -ENOENT; -EACCES or -EPERM: not yours;
 * -EINVAL, -ENAMETOOLONG: @name; -ENODEV.
 */
int syncevent_unlink(const char *name);

/**
 * syncevent_from_fd() - make a handle of an event's file descriptor
 * @ev: where the handle goes
 * @fd: an event, for example received over a UNIX socket. It is duplicated as
 *      by dup(2): the caller keeps and closes its own
 *
 * The handle has the rights of @fd.
 *
 * Return: 0; -EINVAL: not an event; -EBADF; -EMFILE; -ENOMEM; -EIDRM: revoked.
 */
int syncevent_from_fd(struct syncevent **ev, int fd);

/**
 * syncevent_fd() - the event's file descriptor
 * @ev: an event
 *
 * To hand to another process (SCM_RIGHTS, fork) for syncevent_from_fd(), and for
 * fstat(2). On the kernel provider also for poll(2), epoll(7), io_uring, read(2)
 * and write(2); what works with each provider is syncevent_poll_fd(). It belongs
 * to the handle and is closed with it. Return: the file descriptor; -ENOTSUP: an
 * event on attr.addr has none.
 */
int syncevent_fd(const struct syncevent *ev);

/** SYNCEVENT_RDONLY - the duplicate may read and wait, not update */
#define SYNCEVENT_RDONLY	(1U << 0)

/**
 * syncevent_dup() - another handle of the same event
 * @out: where the handle goes
 * @ev: an event
 * @flags: SYNCEVENT_RDONLY or 0
 *
 * The duplicate has a poll condition and last-read value of its own, and the
 * same rights or fewer. The MMU enforces them.
 *
 * Return: 0; -EINVAL: @flags; -EIDRM: revoked; -EMFILE; -ENFILE; -ENOMEM.
 */
int syncevent_dup(struct syncevent **out, struct syncevent *ev, unsigned int flags);

/**
 * syncevent_close() - end this handle
 * @ev: an event, or NULL
 *
 * When the last one goes the event is revoked. shm: it is not, for nobody counts
 * them, and entries of wait queues that were added by it go on. On attr.addr those
 * complete with -EIDRM, since the memory may go with the handle.
 */
void syncevent_close(struct syncevent *ev);

/**
 * syncevent_revoke() - end the event, for everyone
 * @ev: an event
 *
 * Every wait on it ends with -EIDRM, and every later call but syncevent_close()
 * and syncevent_stat() returns -EIDRM. Safe at any time. Return: 0; -EBADF: no right to update;
 * -EIDRM: it was revoked before.
 */
int syncevent_revoke(struct syncevent *ev);

/** syncevent_stat.flags */
#define SYNCEVENT_STAT_UPDATE		(1U << 0)	/* this handle may update */
#define SYNCEVENT_STAT_REVOKED		(1U << 1)
#define SYNCEVENT_STAT_SILENT		(1U << 2)

/**
 * struct syncevent_stat - what is known of an event
 * @size: sizeof(struct syncevent_stat)
 * @provider: enum syncevent_provider
 * @id: of the event. shm: the inode number of its page. On attr.addr: the address
 * @value: the counter
 * @flags: SYNCEVENT_STAT_*
 * @publishers: SYNCEVENT_LOC_*
 * @subscribers: SYNCEVENT_LOC_*
 * @waiters: parked now: sleeping calls, armed files, queue entries. shm: 0
 * @rings: updates that had to ask for waiters to be judged
 * @wakes: waiters that an update satisfied. shm: 0
 */
struct syncevent_stat {
	uint32_t size;
	uint32_t provider;
	uint64_t id;
	uint64_t value;
	uint32_t flags;
	uint32_t publishers;
	uint32_t subscribers;
	uint32_t waiters;
	uint64_t rings;
	uint64_t wakes;
};

/**
 * syncevent_stat() - ask about an event, a revoked one too
 * @ev: an event
 * @stat: its size set by the caller, the rest filled
 *
 * Return: 0; -EINVAL or -E2BIG: @stat->size.
 */
int syncevent_stat(struct syncevent *ev, struct syncevent_stat *stat);

/** SYNCEVENT_BLOB_MAX - room for any exported blob, in bytes */
#define SYNCEVENT_BLOB_MAX	256

/**
 * syncevent_export() - describe an event in bytes that another process imports
 * @ev: an event
 * @flags: SYNCEVENT_RDONLY: who has the blob may read and wait only; or 0
 * @blob: where the bytes go
 * @size: room in @blob
 *
 * The bytes may travel by any means: they hold for as long as this handle is open
 * in this process. Who knows them can import them if it may look into this
 * process (/proc: same user, or privileged), in the same PID namespace.
 *
 * Return: the blob's length; -EINVAL: @flags; -ENOSPC: @size is too small; -EBADF:
 * the handle is read-only and SYNCEVENT_RDONLY is not set; -EIDRM; -EOPNOTSUPP:
 * not of the shm provider.
 */
int syncevent_export(struct syncevent *ev, unsigned int flags, void *blob, size_t size);

/**
 * syncevent_import() - a handle of an event that another process exported
 * @ev: where the handle goes
 * @blob: from syncevent_export()
 * @size: its length
 *
 * Every byte is checked, whoever made them.
 *
 * Return: 0; -EINVAL: not a blob, damaged, or of another version; -ENOENT: the
 * handle or the process that exported it is gone; -EACCES: no right to look into
 * it, or the key is wrong; -EIDRM: revoked; -EMFILE; -ENFILE; -ENOMEM.
 */
int syncevent_import(struct syncevent **ev, const void *blob, size_t size);

/** syncevent_caps.guarantees */
#define SYNCEVENT_CAP_EXACT	(1ULL << 0)	/* wakes those satisfied and no others */
#define SYNCEVENT_CAP_RIGHTS	(1ULL << 1)	/* rights hold against any program */
#define SYNCEVENT_CAP_ZAP	(1ULL << 2)	/* revocation takes mappings away */
#define SYNCEVENT_CAP_PROMPT	(1ULL << 3)	/* a publisher's death delays no wait */
#define SYNCEVENT_CAP_FD	(1ULL << 4)	/* syncevent_fd() polls, reads, writes */

/**
 * struct syncevent_caps - a provider, and what it guarantees
 * @size: sizeof(struct syncevent_caps)
 * @provider: enum syncevent_provider, never DEFAULT
 * @guarantees: SYNCEVENT_CAP_*
 * @abi: version of the kernel ABI, or of the layout of the shared page
 * @wait_max: most entries of a syncevent_wait_many()
 * @events_max: most events of this user; 0: no limit of its own
 * @events: this user's now
 * @entries_max: most queue entries of this user; 0: no limit of its own
 * @entries: this user's now
 * @late_max_ns: how late a sleeper on a SILENT event can be
 * @recheck_ns: how late a sleeper can be if a publisher was killed between its
 *              update and its ring; 0: not at all
 * @names: folder of the named events; a constant string
 * @name_prefix: what the files of events begin with in it; a constant string
 */
struct syncevent_caps {
	uint32_t size;
	uint32_t provider;
	uint64_t guarantees;
	uint32_t abi;
	uint32_t wait_max;
	uint64_t events_max;
	uint64_t events;
	uint64_t entries_max;
	uint64_t entries;
	uint64_t late_max_ns;
	uint64_t recheck_ns;
	const char *names;
	const char *name_prefix;
};

/**
 * syncevent_query() - which provider is used, and what it guarantees
 * @provider: one of them, or DEFAULT for the one that would be used
 * @caps: its size set by the caller, the rest filled
 *
 * Return: 0; -EINVAL or -E2BIG: @provider or @caps->size; -ENOENT, -ENODEV,
 * -EACCES, ...: the kernel provider cannot be used, as syncevent_create().
 */
int syncevent_query(enum syncevent_provider provider, struct syncevent_caps *caps);

/**
 * syncevent_strerror() - what an error of this library means
 * @err: what a function returned; positive is taken as negative
 *
 * Thread-safe. Return: a constant string, one sentence without its full stop.
 */
const char *syncevent_strerror(int err);

/*
 * ---- data path: no allocation, no system call unless a sleeper asks ----------
 *
 * Whether an update succeeded is decided when it is made. One that crosses a
 * revocation succeeds, as if it had come before; nobody may be there to see it.
 */

/** syncevent_get() - load the counter (acquire). Return: 0; -EIDRM. */
SYNCEVENT_DIRECT int syncevent_get(struct syncevent *ev, uint64_t *value);

/** syncevent_set() - store @value (release). Return: 0; -EBADF: read-only; -EIDRM. */
SYNCEVENT_DIRECT int syncevent_set(struct syncevent *ev, uint64_t value);

/**
 * syncevent_add() - add @n modulo 2^64 (release)
 *
 * @old, if not NULL, gets the value before. Return: 0; -EBADF: read-only; -EIDRM.
 */
SYNCEVENT_DIRECT int syncevent_add(struct syncevent *ev, uint64_t n, uint64_t *old);

/**
 * syncevent_ring() - have the kernel judge all waiters by the current value
 * @ev: an event
 *
 * Needed only after an update made through syncevent_cell(), by the inlines of
 * syncevent/cell.h, when these say so. Carries no value.
 * Return: 0; -EBADF: read-only; -EIDRM.
 */
int syncevent_ring(struct syncevent *ev);

/**
 * syncevent_cell() - the mapped cell, for syncevent/cell.h
 * @ev: an event
 *
 * Valid until the handle is closed. Read-only memory if the handle is.
 * Return: the cell; NULL: an event on attr.addr has none.
 */
struct syncevent_cell *syncevent_cell(struct syncevent *ev);

/* ---- waiting ------------------------------------------------------------------ */

/** SYNCEVENT_REALTIME - the deadline is CLOCK_REALTIME, not CLOCK_MONOTONIC */
#define SYNCEVENT_REALTIME	(1U << 0)

/**
 * struct syncevent_wait_opts - how to wait
 * @size: sizeof(struct syncevent_wait_opts)
 * @flags: SYNCEVENT_REALTIME or 0
 * @deadline: absolute nanoseconds of the clock, SYNCEVENT_FOREVER for none, 0 to
 *            look only
 * @spin_ns: how long SYNCEVENT_ADAPTIVE spins before it sleeps, nanoseconds; 0
 *           is a default of a few microseconds
 * @how: enum syncevent_how
 */
struct syncevent_wait_opts {
	uint32_t size;
	uint32_t flags;
	uint64_t deadline;
	uint32_t spin_ns;
	uint32_t how;
};

/**
 * syncevent_wait() - wait until (value & mask) COND operand
 * @ev: an event
 * @cond: enum syncevent_cond
 * @operand: right-hand side
 * @mask: applied to the value before it is compared; UINT64_MAX for all of it
 * @opts: or NULL: adaptive, no deadline
 * @seen: gets the value that satisfied the condition, or NULL
 *
 * Consumes nothing: every satisfied waiter proceeds. A value that came and went
 * may pass unseen; a monotonic counter waited for with GT or GE misses nothing.
 *
 * Signals interrupt a sleep, not a spin: a handler runs, and SPIN, YIELD and
 * the first part of ADAPTIVE go on. On a machine with one CPU, where a spinner
 * would keep the publisher from running, ADAPTIVE sleeps at once. shm: a sleep has
 * moments in which a look is taken; a handler that runs just then interrupts nothing.
 *
 * Return: 0; -ETIMEDOUT; -EINTR: a signal whose handler has no SA_RESTART (shm on
 * kernels before 5.16, or where futex_waitv(2) is refused: any handler); -EIDRM: revoked; -EINVAL: @cond or @opts;
 * -E2BIG: @opts; -ENOMEM. Success wins over a time-out or signal that comes with it.
 */
int syncevent_wait(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		   uint64_t mask, const struct syncevent_wait_opts *opts,
		   uint64_t *seen);

/** SYNCEVENT_MANY_MAX - most entries of one syncevent_wait_many() */
#define SYNCEVENT_MANY_MAX	128

/**
 * struct syncevent_many - one event of a syncevent_wait_many()
 * @ev: an event; may repeat
 * @operand: right-hand side
 * @mask: applied to the value before it is compared
 * @value: answer: the value that satisfied the condition
 * @cond: enum syncevent_cond
 * @status: answer: 1 the condition held, 0 not seen to, or a negative errno
 */
struct syncevent_many {
	struct syncevent *ev;
	uint64_t operand;
	uint64_t mask;
	uint64_t value;
	uint32_t cond;
	int32_t status;
};

/** SYNCEVENT_ALL - wait for all entries, not for any; a flag of wait_many */
#define SYNCEVENT_ALL		(1U << 0)

/**
 * syncevent_wait_many() - wait on several events
 * @many: the entries
 * @count: 1 to SYNCEVENT_MANY_MAX
 * @flags: SYNCEVENT_ALL or 0
 * @opts: or NULL. Sleeps at once unless @opts->how is SPIN or YIELD
 * @index: gets the entry that ended the wait, or NULL
 *
 * any: ends when one condition holds; the lowest index wins among those that
 * hold at the first look. all: ends when each has held at some moment during
 * the call. An event that is revoked before its condition was seen to hold ends
 * it with -EIDRM.
 *
 * The events may be of one provider, and on attr.addr. The first call on those of
 * the kernel provider opens /dev/syncevent and keeps it open.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -EIDRM (@index and the status tell which);
 * -EINVAL: @many, @count, @flags or @opts; -E2BIG: @opts; -EXDEV: events of the
 * kernel provider and of shm together; -ENOMEM; or, as the
 * device must be opened, -ENOENT, -ENODEV, -EACCES, -EPERM, -EMFILE or -ENFILE
 * as syncevent_create().
 */
int syncevent_wait_many(struct syncevent_many *many, unsigned int count,
			unsigned int flags, const struct syncevent_wait_opts *opts,
			unsigned int *index);

/**
 * syncevent_arm() - set what read(2) and poll(2) on the handle's fd wait for
 * @ev: an event
 * @cond: enum syncevent_cond
 * @operand: right-hand side
 * @mask: applied to the value before it is compared
 *
 * Until then the fd is ready when the value differs from the one last read
 * through it, at first from that when it was made. The setting belongs to the open
 * file: handles made by syncevent_from_fd() or fork(2) share it, those made by
 * syncevent_dup() do not. shm: it belongs to the handle.
 *
 * Return: 0; -EINVAL: @cond; -EIDRM; -ENOMEM.
 */
int syncevent_arm(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		  uint64_t mask);

/** syncevent_disarm() - back to "differs from the last read". Return: 0; -EIDRM; -ENOMEM. */
int syncevent_disarm(struct syncevent *ev);

/**
 * syncevent_poll_fd() - what to put into poll(2), epoll(7), io_uring or select(2)
 * @ev: an event
 *
 * Readable while the condition holds that was set by syncevent_arm() or, without
 * one, while the value differs from the one last read. POLLHUP or POLLERR, or
 * readable: the event is revoked. On the kernel provider this is syncevent_fd();
 * others serve it by a thread of the library, made at the first call: it may be
 * announced late or once too often, and syncevent_read() tells. It belongs to the
 * handle and is closed with it. shm: if the program closes it (closefrom(3)) nothing
 * is announced any more; an eventfd of its own that gets the number may be written.
 *
 * Return: the file descriptor; -EMFILE; -ENFILE; -ENOMEM; -EAGAIN: no thread can
 * be made; -EIDRM.
 */
int syncevent_poll_fd(struct syncevent *ev);

/**
 * syncevent_read() - take what syncevent_poll_fd() announced; never sleeps
 * @ev: an event
 * @value: gets the value, or NULL
 *
 * Reads the value if the condition holds, which then is the one last read. Does
 * not reset the counter: while an armed condition holds the fd stays readable.
 *
 * Return: 0; -EAGAIN: the condition does not hold; -EIDRM: revoked; -ENOMEM.
 */
int syncevent_read(struct syncevent *ev, uint64_t *value);

/* ---- wait queues: many waits, no threads ---------------------------------------- */

/**
 * struct syncevent_done - a completion
 * @cookie: as given to syncevent_queue_add()
 * @value: the value that satisfied the condition, if @status is 0
 * @status: 0, -ETIMEDOUT or -EIDRM
 */
struct syncevent_done {
	uint64_t cookie;
	uint64_t value;
	int32_t status;
	uint32_t reserved;
};

/**
 * syncevent_queue_create() - make a wait queue of the default provider
 * @q: where the handle goes
 *
 * Return: 0; or as syncevent_create(); -EAGAIN: no thread can be made.
 */
int syncevent_queue_create(struct syncevent_queue **q);

/** syncevent_queue_fd() - for poll(2) and epoll(7): readable while one is done */
int syncevent_queue_fd(const struct syncevent_queue *q);

/**
 * syncevent_queue_add() - wait for a condition once, without a thread
 * @q: a queue
 * @ev: an event; the entry does not keep it alive
 * @cond: enum syncevent_cond
 * @operand: right-hand side
 * @mask: applied to the value before it is compared
 * @cookie: names the entry; unique among those not yet reaped
 * @deadline: absolute CLOCK_MONOTONIC nanoseconds or SYNCEVENT_FOREVER
 *
 * If the condition holds or the deadline has passed already, the completion is
 * there at once.
 *
 * Return: 0; -EEXIST: the cookie is in use; -EINVAL: @cond; -EXDEV: @ev is of
 * another provider than @q, and not on attr.addr; -EIDRM: @ev is revoked; -ENOSPC:
 * too many entries of this user; -ENOMEM; -EAGAIN: no thread can be made; or, on
 * attr.addr in a queue of the kernel provider, as syncevent_create().
 */
int syncevent_queue_add(struct syncevent_queue *q, struct syncevent *ev,
			enum syncevent_cond cond, uint64_t operand, uint64_t mask,
			uint64_t cookie, uint64_t deadline);

/**
 * syncevent_queue_cancel() - take an entry back
 *
 * Return: 0: no completion follows; -EALREADY: it is to be reaped; -ENOENT.
 */
int syncevent_queue_cancel(struct syncevent_queue *q, uint64_t cookie);

/**
 * syncevent_queue_reap() - take completions
 * @q: a queue
 * @done: where they go
 * @max: room in @done, at least 1
 * @deadline: absolute CLOCK_MONOTONIC nanoseconds to wait for the first one, 0
 *            to look only, SYNCEVENT_FOREVER
 *
 * Return: how many; -ETIMEDOUT: none; -EINTR: a signal whose handler has no
 * SA_RESTART, or if there is a deadline any handler, as for poll(2); -EINVAL:
 * @max is 0. Success wins over a time-out or signal that comes with it.
 */
int syncevent_queue_reap(struct syncevent_queue *q, struct syncevent_done *done,
			 unsigned int max, uint64_t deadline);

/** syncevent_queue_close() - end the queue; entries not reaped are dropped */
void syncevent_queue_close(struct syncevent_queue *q);

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_H */
