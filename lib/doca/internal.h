/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * internal.h - what the files of libsyncevent-doca share
 *
 * pe.c		progress engines: what is ready, what waits, what is polled
 * ctx.c	contexts: their states
 * task.c	tasks and the pools that they come from
 * dev.c	devices and their other sides
 * event.c	sync events: how they are made, configured and exported; event_sync.c:
 *		the data path of those that were started by doca_sync_event_start();
 *		event_task.c: the tasks of the others. They share event.h
 * mmap.c, buf.c	memory
 * dpa.c	accelerators, as far as events need them
 * comch*.c	messages between the sides of a device; see comch.h
 * argp*.c	command lines; see argp.h. log.c: messages to people
 * error.c	names of errors, and what libsyncevent's are here
 *
 * An engine is a wait queue of libsyncevent and a list of what is ready. Whatever it
 * delivers is a struct sed_work, part of what it belongs to: a task, or a connection.
 * It becomes ready when it is posted, or when the condition of an event holds that it
 * waits for. Nothing is allocated for it.
 *
 * Callbacks run inside of doca_pe_progress(), doca_ctx_start(), doca_ctx_stop() and
 * doca_task_free(), and may end what they are called for: after a callback, or what can
 * lead to one (sed_ctx_*(), sed_work.deliver), the object is not touched any more.
 *
 * Locks: those of the device table and of log.c, below which no other is taken. An engine
 * and all that is connected to it belong to one thread.
 */
#ifndef SED_INTERNAL_H
#define SED_INTERNAL_H

/* This header comes first. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_ALLOW_EXPERIMENTAL_API 1
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <syncevent.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

#define SED_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SED_OF(member_ptr, type, member)						\
	((type *)(void *)((char *)(member_ptr) - offsetof(type, member)))

/* ---- error.c ------------------------------------------------------------------ */

/** sed_error() - what a return value of libsyncevent, 0 or a negative errno, is here */
doca_error_t sed_error(int err);

/* ---- pe.c: engines ------------------------------------------------------------- */

/** enum sed_work_state - where it is */
enum sed_work_state {
	SED_WORK_NONE,		/* the engine does not know it */
	SED_WORK_WAITING,	/* in a wait queue of libsyncevent */
	SED_WORK_READY,		/* in the list of what is to be delivered */
};

/**
 * struct sed_work - something that an engine delivers, one per progress
 * @deliver: called by progress, the state is SED_WORK_NONE again. It may end the engine.
 *	     Return: true; false: there was nothing after all, and nothing has ended
 * @state: enum sed_work_state
 * @on: if it waits: in which queue, an enum syncevent_provider
 * @status: if it waited: how it ended, 0 or a negative errno
 * @value: if it waited: the value that satisfied the condition
 * @link: in the list of what is ready
 *
 * Zeroed but for @deliver at first. Its address is the cookie of its wait.
 */
struct sed_work {
	bool (*deliver)(struct sed_work *work);
	uint8_t state;
	uint8_t on;
	int status;
	uint64_t value;
	TAILQ_ENTRY(sed_work) link;
};

TAILQ_HEAD(sed_works, sed_work);

/** sed_pe_post() - deliver it at a later progress; no effect if it is ready already */
void sed_pe_post(struct doca_pe *pe, struct sed_work *work);

/**
 * sed_provider() - in whose queue an event is waited for
 *
 * Return: SYNCEVENT_PROVIDER_KERNEL; or SYNCEVENT_PROVIDER_SHM, for those on attr.addr too.
 */
enum syncevent_provider sed_provider(struct syncevent *ev);

/**
 * sed_pe_wait() - deliver it once a condition holds
 * @pe: sed_pe_reserve() was called for it and @ev
 * @work: in SED_WORK_NONE
 * @on: sed_provider() of @ev
 *
 * Return: 0; or as syncevent_queue_add(): @work is as before.
 */
int sed_pe_wait(struct doca_pe *pe, struct sed_work *work, enum syncevent_provider on,
		struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		uint64_t mask);

/**
 * sed_pe_withdraw() - wait no longer
 *
 * Return: true: it waited, and is in SED_WORK_NONE now; false: it does not wait, or had
 * ended and is ready now.
 */
bool sed_pe_withdraw(struct doca_pe *pe, struct sed_work *work);

/** sed_pe_drop() - back to SED_WORK_NONE from wherever it is: it will not be delivered */
void sed_pe_drop(struct doca_pe *pe, struct sed_work *work);

/**
 * sed_pe_reserve() - have all memory at hand that waits need
 * @pe: an engine
 * @on: sed_provider() of @ev
 * @ev: an event that is going to be waited on
 * @n: how many more waits there may be at a time
 *
 * Return: 0; or as syncevent_queue_create() and syncevent_queue_add().
 */
int sed_pe_reserve(struct doca_pe *pe, enum syncevent_provider on, struct syncevent *ev,
		   size_t n);

/** sed_pe_unreserve() - of what was reserved, as much is not needed any more */
void sed_pe_unreserve(struct doca_pe *pe, enum syncevent_provider on, size_t n);

/**
 * struct sed_source - a file descriptor that an engine polls
 * @poll: called by progress, and runs no callback of the program: it takes what is there
 *	  and posts works. It is called again while the descriptor stays ready
 * @fd: any that epoll(7) takes
 *
 * The engine's notification handle is readable while a source is ready.
 */
struct sed_source {
	void (*poll)(struct sed_source *source, uint32_t events);
	int fd;
};

/** sed_pe_source_add() - @events: EPOLLIN, ...; level-triggered. Return: 0; -ENOMEM; -ENOSPC */
int sed_pe_source_add(struct doca_pe *pe, struct sed_source *source, uint32_t events);
/** sed_pe_source_events() - poll it for others from now on; 0 for none */
void sed_pe_source_events(struct doca_pe *pe, struct sed_source *source, uint32_t events);
/** sed_pe_source_del() - before the descriptor is closed */
void sed_pe_source_del(struct doca_pe *pe, struct sed_source *source);

/** sed_pe_disconnect() - the engine forgets it; for ctx.c, as sed_pe_inflight() for task.c */
void sed_pe_disconnect(struct doca_ctx *ctx);
void sed_pe_inflight(struct doca_pe *pe, int more);

/* ---- ctx.c: contexts ------------------------------------------------------------ */

/**
 * struct sed_ctx_ops - what differs between kinds of contexts
 * @start: called in IDLE. Return: DOCA_SUCCESS: it is to be RUNNING; IN_PROGRESS: it is
 *	   STARTING, sed_ctx_running() follows; else it stays IDLE, and nothing is left
 * @stop: called in STOPPING, once; runs no callback. All that waits is brought to its
 *	  end: tasks that are not done yet fail. What is to be waited for holds the
 *	  context (sed_ctx_hold())
 * @idle: called in STOPPING when nothing holds it: undo @start; runs no callback
 */
struct sed_ctx_ops {
	doca_error_t (*start)(struct doca_ctx *ctx);
	void (*stop)(struct doca_ctx *ctx);
	void (*idle)(struct doca_ctx *ctx);
};

/**
 * struct doca_ctx - a context, part of its object
 * @ops: its kind
 * @pe: that it is connected to, or NULL
 * @state: enum doca_ctx_states
 * @user_data: the program's
 * @changed: the program's, or NULL
 * @inflight: tasks submitted and not delivered
 * @holds: what keeps it from IDLE: each task that is not free, and what the kind holds
 * @aborting: while sed_ctx_abort() is in its callback, in STOPPING: gets true as that ends
 * @link: in the engine's list
 */
struct doca_ctx {
	const struct sed_ctx_ops *ops;
	struct doca_pe *pe;
	enum doca_ctx_states state;
	union doca_data user_data;
	doca_ctx_state_changed_callback_t changed;
	size_t inflight;
	size_t holds;
	bool *aborting;
	LIST_ENTRY(doca_ctx) link;
};

/** sed_ctx_init() - of a zeroed one */
void sed_ctx_init(struct doca_ctx *ctx, const struct sed_ctx_ops *ops);

/**
 * sed_ctx_destroy() - before the object is freed, in whatever state
 *
 * It is stopped without a callback: ops stop and idle are called. Nothing of it is known
 * to the engine afterwards, its tasks are gone.
 */
void sed_ctx_destroy(struct doca_ctx *ctx);

/** sed_ctx_running() - from STARTING to RUNNING. A callback may follow */
void sed_ctx_running(struct doca_ctx *ctx);

/**
 * sed_ctx_abort() - stop it for a reason of its own, as doca_ctx_stop() does
 *
 * A callback follows. Return: is it IDLE?
 */
bool sed_ctx_abort(struct doca_ctx *ctx);

/** sed_ctx_hold() - keep it from IDLE */
static inline void sed_ctx_hold(struct doca_ctx *ctx)
{
	ctx->holds++;
}

/** sed_ctx_release() - and no longer. A callback may follow */
void sed_ctx_release(struct doca_ctx *ctx);

/* ---- task.c: tasks ---------------------------------------------------------------- */

struct sed_pool;

/**
 * struct sed_task_ops - what differs between kinds of tasks
 * @size: of one, which begins with its struct doca_task
 * @check: may it be submitted? Return: DOCA_SUCCESS; INVALID_VALUE. NULL: any may
 * @submit: do it, or begin to: sed_task_done() has been called or will be, or its work
 *	    waits, and its end is that of the task. Else the error; it stays the program's
 * @cancel: forget one that is in flight, if it is not by the engine that it is found;
 *	    or NULL
 * @callback: call @done with the kind's own type of task
 */
struct sed_task_ops {
	size_t size;
	doca_error_t (*check)(const struct doca_task *task);
	doca_error_t (*submit)(struct doca_task *task);
	void (*cancel)(struct doca_task *task);
	void (*callback)(struct doca_task *task, void (*done)(void), union doca_data task_data,
			 union doca_data ctx_data);
};

/** enum sed_task_state - whose it is */
enum sed_task_state {
	SED_TASK_FREE,		/* the pool's */
	SED_TASK_OWNED,		/* the program's */
	SED_TASK_INFLIGHT,	/* the library's */
};

/**
 * struct doca_task - a task
 * @work: how it is delivered
 * @pool: where it comes from
 * @status: how it ended
 * @state: enum sed_task_state
 * @user_data: the program's
 * @link: among the free ones, or those in flight
 */
struct doca_task {
	struct sed_work work;
	struct sed_pool *pool;
	doca_error_t status;
	enum sed_task_state state;
	union doca_data user_data;
	TAILQ_ENTRY(doca_task) link;
};

TAILQ_HEAD(sed_tasks, doca_task);

/**
 * struct sed_pool - all tasks of a kind of a context
 * @ops: the kind; NULL: it is not configured
 * @ctx: the context
 * @done: the program's callbacks, of the kind's type
 * @failed: likewise
 * @num: how many there are
 * @memory: all of them, while the context is not IDLE
 * @used: how many of them were ever handed out, from the first on
 * @free: those of them that are free
 * @inflight: those that are in flight
 */
struct sed_pool {
	const struct sed_task_ops *ops;
	struct doca_ctx *ctx;
	void (*done)(void);
	void (*failed)(void);
	uint32_t num;
	void *memory;
	size_t used;
	struct sed_tasks free;
	struct sed_tasks inflight;
};

/**
 * sed_pool_conf() - configure a pool
 * @done: not NULL, as is @failed
 *
 * Return: DOCA_SUCCESS; INVALID_VALUE; NOT_PERMITTED: @ctx is not in IDLE.
 */
doca_error_t sed_pool_conf(struct sed_pool *pool, struct doca_ctx *ctx,
			   const struct sed_task_ops *ops, void (*done)(void),
			   void (*failed)(void), uint32_t num);

/** sed_pool_make() - make the tasks, as the context starts. Return: or NO_MEMORY */
doca_error_t sed_pool_make(struct sed_pool *pool);

/** sed_pool_flush() - tasks that wait fail with DOCA_ERROR_SHUTDOWN; what has ended stays */
void sed_pool_flush(struct sed_pool *pool);

/** sed_pool_free() - free the tasks, as the context gets IDLE. In flight or not */
void sed_pool_free(struct sed_pool *pool);

/**
 * sed_task_get() - take a task from a pool
 * @task: gets it, with zeroed @user_data
 *
 * Return: DOCA_SUCCESS; NO_MEMORY: none is left, or the pool is not configured; BAD_STATE:
 * the context is not RUNNING.
 */
doca_error_t sed_task_get(struct sed_pool *pool, struct doca_task **task);

/** sed_task_done() - one that is in flight has ended: its callback follows in progress */
void sed_task_done(struct doca_task *task, doca_error_t status);

/* ---- dev.c: devices ---------------------------------------------------------------- */

/** enum sed_dev_kind - what a device is */
enum sed_dev_kind {
	SED_DEV_PCI,		/* memory that machines share: attr.pci is its address */
	SED_DEV_VIRTUAL_HOST,	/* of the virtual pair: the host's side */
	SED_DEV_VIRTUAL_DPU,
};

/**
 * struct sed_dev_id - which device or other side it is, constant
 * @kind: enum sed_dev_kind; of an other side, that of the device through which it is seen
 * @address: here or, of an other side, there: of the form 0000:01:00.0
 * @device: PCI: the address of the device here, as attr.pci, else empty
 * @name: of the device
 * @side: of an other side: its number in the region
 */
struct sed_dev_id {
	enum sed_dev_kind kind;
	char address[16];
	char device[16];
	char name[32];
	unsigned int side;
};

const struct sed_dev_id *sed_devinfo_id(const struct doca_devinfo *info);
const struct sed_dev_id *sed_dev_id(const struct doca_dev *dev);
const struct sed_dev_id *sed_dev_rep_id(const struct doca_dev_rep *rep);

/** sed_dev_default() - which device one is on that names none: the first. Return: as the list */
doca_error_t sed_dev_default(struct sed_dev_id *id);

/** sed_dev_reaches() - does a device lead to what is on another? */
bool sed_dev_reaches(const struct sed_dev_id *dev, const struct sed_dev_id *other);

/** sed_dev_pci() - what there is to know of a PCI device. Return: 0; -ENODEV: it has gone; ... */
int sed_dev_pci(const struct sed_dev_id *dev, struct syncevent_pci *pci);

/** sed_dev_get() - something is made with it: it cannot be closed until sed_dev_put() */
void sed_dev_get(struct doca_dev *dev);
/** sed_dev_put() - @dev: or NULL */
void sed_dev_put(struct doca_dev *dev);
void sed_dev_rep_get(struct doca_dev_rep *rep);
void sed_dev_rep_put(struct doca_dev_rep *rep);

/* ---- buf.c, dpa.c: what events need of them ------------------------------------------ */

struct doca_buf;

/**
 * sed_buf_hold() - a buffer becomes the memory of an event
 * @addr: gets its memory
 *
 * Return: DOCA_SUCCESS: it has one reference more; NOT_PERMITTED: it cannot be.
 */
doca_error_t sed_buf_hold(struct doca_buf *buf, uint64_t **addr);

/** sed_dpa_dev() - the device that it is of */
struct doca_dev *sed_dpa_dev(const struct doca_dpa *dpa);
bool sed_dpa_started(const struct doca_dpa *dpa);
/** sed_dpa_get() - something is made with it: it cannot be destroyed until sed_dpa_put() */
void sed_dpa_get(struct doca_dpa *dpa);
/** sed_dpa_put() - @dpa: or NULL */
void sed_dpa_put(struct doca_dpa *dpa);

#endif /* SED_INTERNAL_H */
