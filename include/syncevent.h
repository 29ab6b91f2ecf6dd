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
 * Fork: a child may go on using the handles of its parent. Exec: the file
 * descriptors are close-on-exec.
 */
#ifndef SYNCEVENT_H
#define SYNCEVENT_H

#include <stddef.h>
#include <stdint.h>

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

/** SYNCEVENT_SILENT - publishers may update without a ring (DMA, RDMA, GPU) */
#define SYNCEVENT_SILENT	(1U << 0)

/**
 * struct syncevent_attr - how to make an event; all-zero but size is the default
 * @size: sizeof(struct syncevent_attr)
 * @flags: SYNCEVENT_SILENT or 0
 * @value: the counter's first value
 * @publishers: SYNCEVENT_LOC_* of linux/syncevent.h, a placement hint; 0: CPU
 * @subscribers: likewise
 */
struct syncevent_attr {
	uint32_t size;
	uint32_t flags;
	uint64_t value;
	uint32_t publishers;
	uint32_t subscribers;
};

/**
 * syncevent_create() - make an event
 * @ev: where the handle goes
 * @attr: or NULL for the defaults
 *
 * The event lives while a file descriptor or a mapping of it is held anywhere.
 *
 * Return: 0; -ENOENT or -ENODEV: the module is not loaded; -EACCES or -EPERM: no
 * right to open /dev/syncevent; -EINVAL or -E2BIG: @attr; -EMFILE: the process
 * has no free file descriptor or the user has too many events; -ENFILE: nor has
 * the machine; -ENOMEM.
 */
int syncevent_create(struct syncevent **ev, const struct syncevent_attr *attr);

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
 * For poll(2), epoll(7), io_uring, read(2), write(2), SCM_RIGHTS. It belongs to
 * the handle and is closed with it. Return: the file descriptor.
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
 * When the last one goes the event is revoked.
 */
void syncevent_close(struct syncevent *ev);

/**
 * syncevent_revoke() - end the event, for everyone
 * @ev: an event
 *
 * Every wait on it ends with -EIDRM, and every later call but syncevent_close()
 * returns -EIDRM. Safe at any time. Return: 0; -EBADF: no right to update;
 * -EIDRM: it was revoked before.
 */
int syncevent_revoke(struct syncevent *ev);

/*
 * ---- data path: no allocation, no system call unless a sleeper asks ----------
 *
 * Whether an update succeeded is decided when it is made. One that crosses a
 * revocation succeeds, as if it had come before; nobody may be there to see it.
 */

/** syncevent_get() - load the counter (acquire). Return: 0; -EIDRM. */
int syncevent_get(struct syncevent *ev, uint64_t *value);

/** syncevent_set() - store @value (release). Return: 0; -EBADF: read-only; -EIDRM. */
int syncevent_set(struct syncevent *ev, uint64_t value);

/**
 * syncevent_add() - add @n modulo 2^64 (release)
 *
 * @old, if not NULL, gets the value before. Return: 0; -EBADF: read-only; -EIDRM.
 */
int syncevent_add(struct syncevent *ev, uint64_t n, uint64_t *old);

/**
 * syncevent_ring() - have the kernel judge all waiters by the current value
 * @ev: an event
 *
 * Needed only after an update made through syncevent_cell(). Carries no value.
 * Return: 0; -EBADF: read-only; -EIDRM.
 */
int syncevent_ring(struct syncevent *ev);

/**
 * syncevent_cell() - the mapped cell, for syncevent/cell.h
 * @ev: an event
 *
 * Valid until the handle is closed. Read-only memory if the handle is.
 * Return: the cell.
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
 * would keep the publisher from running, ADAPTIVE sleeps at once.
 *
 * Return: 0; -ETIMEDOUT; -EINTR: a signal whose handler has no SA_RESTART;
 * -EIDRM: revoked; -EINVAL: @cond or @opts; -E2BIG: @opts; -ENOMEM. Success
 * wins over a time-out or signal that comes with it.
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
 * The first call opens /dev/syncevent and keeps it open.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -EIDRM (@index and the status tell which);
 * -EINVAL: @many, @count, @flags or @opts; -E2BIG: @opts; -ENOMEM; or, as the
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
 * through it. The setting belongs to the open file: handles made by
 * syncevent_from_fd() or fork(2) share it, those made by syncevent_dup() do not.
 *
 * Return: 0; -EINVAL: @cond; -EIDRM.
 */
int syncevent_arm(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		  uint64_t mask);

/** syncevent_disarm() - back to "differs from the last read". Return: 0; -EIDRM. */
int syncevent_disarm(struct syncevent *ev);

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
 * syncevent_queue_create() - make a wait queue
 * @q: where the handle goes
 *
 * Return: 0; or as syncevent_create().
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
 * Return: 0; -EEXIST: the cookie is in use; -EINVAL: @cond; -EIDRM: @ev is
 * revoked; -ENOSPC: too many entries of this user; -ENOMEM.
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
