/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * internal.h - what the files of libsyncevent share
 *
 * event.c	handles: how they are made and ended, and the data path
 * inline.c	the inlines of the public headers as functions
 * wait.c	waits on one event and on several
 * queue.c	wait queues; local.c: those that are no kernel's
 * provider.c	which provider, what it guarantees, what errors mean
 * kernel.c	the kernel provider; device.c: /dev/syncevent; pci.c: events in memory
 *		that machines share
 * shm.c	the shm provider, and events on the caller's memory: the shared page,
 *		who sleeps on it and who wakes; names.c and blob.c: how other
 *		processes find it; watch.c: the thread that serves what polls on it,
 *		poll.c: by a file descriptor (see watch.h, which has tree.h)
 * futex.c	how to sleep on words of memory
 *
 * A handle is a file descriptor and a mapping, both of which a child inherits in
 * working order, and nothing in it changes until it is closed. So neither fork()
 * nor threads need a lock, but for watch.c, which has a thread and says there how
 * it comes through a fork.
 */
#ifndef SYNCEVENT_INTERNAL_H
#define SYNCEVENT_INTERNAL_H

/* For ppoll(), memfd_create() and F_DUPFD_CLOEXEC: this header comes first. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/syncevent.h>

/* The library is built with -fvisibility=hidden: the public header is the exception. */
#pragma GCC visibility push(default)
#include <syncevent.h>
#pragma GCC visibility pop

#include <syncevent/cell.h>

#define SE_DEVICE	"/dev/syncevent"
#define SE_NAMES	"/dev/syncevents"	/* where synceventfs is mounted */
#define SE_PAYLOAD_PAGE	4096		/* whatever the machine's pages are */
#define SE_SHM_NAMES	"/dev/shm"
#define SE_SHM_PREFIX	"syncevent."

/* A look or an attempt that found nothing to report. */
#define SE_NOT_YET	1

/**
 * struct se_cond - (value & mask) COND operand
 * @cond: enum syncevent_cond, checked
 */
struct se_cond {
	uint64_t operand;
	uint64_t mask;
	uint32_t cond;
};

/**
 * struct se_provider - what differs between those who keep events
 * @id: enum syncevent_provider
 * @ring: have all waiters judged; the caller has checked the right to update
 * @revoke: likewise
 * @sleep: wait for a condition, asleep, until the deadline of the options
 * @dup: another handle; the flags are checked
 * @arm: set what poll_fd waits for; NULL: what differs from the last read
 * @poll_fd: as syncevent_poll_fd()
 * @read: as syncevent_read()
 * @stat: fill in all but size, provider, value and the UPDATE flag
 * @export: as syncevent_export(); the flags are checked. NULL: not supported
 * @close: free all that the handle has, and it
 */
struct se_provider {
	uint32_t id;
	int (*ring)(struct syncevent *ev);
	int (*revoke)(struct syncevent *ev);
	int (*sleep)(struct syncevent *ev, const struct se_cond *c,
		     const struct syncevent_wait_opts *o, uint64_t *value);
	int (*dup)(struct syncevent **out, struct syncevent *ev, unsigned int flags);
	int (*arm)(struct syncevent *ev, const struct se_cond *c);
	int (*poll_fd)(struct syncevent *ev);
	int (*read)(struct syncevent *ev, uint64_t *value);
	int (*stat)(struct syncevent *ev, struct syncevent_stat *stat);
	int (*export)(struct syncevent *ev, unsigned int flags, void *blob, size_t size);
	void (*close)(struct syncevent *ev);
};

struct se_watch;

/**
 * struct syncevent - a handle
 * @value: the counter: that of @cell, or attr.addr
 * @cell: the mapped page, PROT_WRITE only if @writable
 * @provider: who keeps the event
 * @fd: the event; -1 on attr.addr
 * @writable: the right to update. It cannot change: it is the file's own
 * @addable: the right to add: @writable, unless that works at the event's home alone
 * @own: what a dead machine is seen by: this side's hint record in a region, else NULL
 * @pages: of payload; @payload: where they are mapped, once somebody asked
 * @control: shm: the same page, writable, where this handle asks to be rung. NULL:
 *	     the file is read-only, a sleeper looks now and then
 * @watch: shm: what is watched of it, once it was polled or in a queue; watch.c's
 * @first: shm: the value when the handle was made
 *
 * Nothing in it but @watch and @payload changes until it is closed.
 */
struct syncevent {
	__u64 *value;
	struct syncevent_cell *cell;
	const struct se_provider *provider;
	int fd;
	bool writable;
	bool addable;
	struct syncevent_cell *control;
	struct se_watch *watch;
	uint64_t first;
	const struct syncevent_hint *own;
	uint32_t pages;
	void *payload;
};

/* ---- event.c ------------------------------------------------------------------ */

/**
 * se_copy_struct() - take a structure that starts with its size
 * @to: where to
 * @from: the caller's
 * @known: how large it is in this version of the library
 *
 * Return: 0; -EINVAL: it is too small; -E2BIG: it asks for what only a later
 * version knows.
 */
int se_copy_struct(void *to, const void *from, size_t known);

/** se_attr() - the caller's attributes or the defaults, checked. Return: 0; -EINVAL; -E2BIG */
int se_attr(struct syncevent_attr *to, const struct syncevent_attr *attr);

/* ---- wait.c ------------------------------------------------------------------- */

/** se_now() - CLOCK_REALTIME or CLOCK_MONOTONIC in nanoseconds */
uint64_t se_now(bool realtime);

/** se_passed() - has the deadline passed? */
bool se_passed(const struct syncevent_wait_opts *o);

/** se_holds() - does a condition hold for a value? */
bool se_holds(const struct se_cond *c, uint64_t value);

/**
 * se_look() - does it hold now?
 *
 * Return: 0 and the value; SE_NOT_YET; -EIDRM.
 */
int se_look(const struct syncevent *ev, const struct se_cond *c, uint64_t *value);

/* ---- provider.c ---------------------------------------------------------------- */

/**
 * se_choose() - which provider to use
 * @provider: enum syncevent_provider, from the caller
 *
 * Return: SYNCEVENT_PROVIDER_KERNEL or SYNCEVENT_PROVIDER_SHM; -EINVAL.
 */
int se_choose(uint32_t provider);

/* ---- blob.c, pci.c --------------------------------------------------------------- */

/** se_blob_sum() - checksum of a blob: all bytes before the four that hold it */
uint32_t se_blob_sum(const void *blob, size_t size);

int se_shm_export(struct syncevent *ev, unsigned int flags, void *blob, size_t size);

int se_pci_create(struct syncevent **ev, const struct syncevent_attr *attr);
int se_pci_export(struct syncevent *ev, unsigned int flags, void *blob, size_t size);
int se_pci_import(struct syncevent **ev, const struct syncevent_blob *blob);

/* ---- kernel.c, device.c ---------------------------------------------------------- */

int se_kernel_create(struct syncevent **ev, const struct syncevent_attr *attr);
int se_kernel_from_fd(struct syncevent **ev, int fd);

/**
 * se_kernel_take() - a handle that owns a file, or closes it
 * @fd: the file, or a negative errno that is passed through
 *
 * Return: 0; -EINVAL: not an event; -EBADF: O_PATH; -EIDRM: revoked; -ENOMEM; -EMFILE.
 */
int se_kernel_take(struct syncevent **ev, int fd);
int se_kernel_query(struct syncevent_caps *caps);

/**
 * se_ioctl() - ioctl(2) that returns the error
 *
 * Return: what ioctl(2) returns, or a negative errno.
 */
int se_ioctl(int fd, unsigned long command, void *arg);

/**
 * se_above_stdio() - keep a new file descriptor out of 0, 1 and 2
 * @fd: one just made, or a negative errno that is passed through
 *
 * In a program that started with them closed, its own printf() would otherwise
 * land in an event as an addition.
 *
 * Return: a file descriptor in place of @fd, or a negative errno (@fd is closed).
 */
int se_above_stdio(int fd);

/** se_device_open() - open /dev/syncevent. Return: a new fd or a negative errno. */
int se_device_open(void);

/** se_device_ioctl() - an ioctl on the process's lasting /dev/syncevent */
int se_device_ioctl(unsigned long command, void *arg);

/* ---- shm.c ------------------------------------------------------------------------ */

#define SE_SHM_SIZE		4096
#define SE_SHM_OFFSET		2048
#define SE_SHM_MAGIC		0x68736573U	/* "sesh", little-endian */
#define SE_SHM_VERSION		1

/*
 * How long a sleeper trusts publishers to live from their update to their ring: at
 * first, and when it has slept for long. Ten thousand sleepers that look twenty times
 * a second would keep a CPU busy.
 */
#define SE_RECHECK_MIN_NS	50000000ULL
#define SE_RECHECK_MAX_NS	1000000000ULL
/* Between two looks at an event that is updated without a ring. */
#define SE_SILENT_MIN_NS	50000ULL
#define SE_SILENT_MAX_NS	4000000ULL

/**
 * struct se_shm - what the shared page has beside its cell, at SE_SHM_OFFSET
 * @magic: SE_SHM_MAGIC, written last when the page is made
 * @version: SE_SHM_VERSION; of the layout
 * @publishers: SYNCEVENT_LOC_*
 * @subscribers: SYNCEVENT_LOC_*
 * @key: what a blob must know: [0] to read, [1] to update
 * @seq: what sleepers sleep on: one more for each ring and revocation
 * @watch: what threads that watch for pollers sleep on, likewise
 * @watcher: 0: nobody has ever watched; the one process that has; SE_SEVERAL
 *
 * Constant but for @seq and what follows, which have a cache line of their own.
 */
struct se_shm {
	uint32_t magic;
	uint32_t version;
	uint32_t publishers;
	uint32_t subscribers;
	unsigned char key[2][16];
	uint32_t seq __attribute__((__aligned__(64)));
	uint32_t watch;
	uint64_t watcher __attribute__((__aligned__(8)));
};

#define SE_SEVERAL	UINT64_MAX

static inline struct se_shm *se_shm(const struct syncevent_cell *cell)
{
	return (struct se_shm *)((char *)(uintptr_t)cell + SE_SHM_OFFSET);
}

/** se_shm_silent() - must a sleeper look now and then, because nobody may ring? */
static inline bool se_shm_silent(const struct syncevent *ev)
{
	return !ev->control || (ev->cell->flags & SYNCEVENT_CELL_SILENT);
}

int se_shm_create(struct syncevent **ev, const struct syncevent_attr *attr);
int se_addr_create(struct syncevent **ev, const struct syncevent_attr *attr);

/**
 * se_shm_make() - make the page of a new event in an empty file
 *
 * @fd: just opened and taken over, or -1 and errno
 *
 * Return: as syncevent_create().
 */
int se_shm_make(struct syncevent **ev, int fd, const struct syncevent_attr *attr);

/** se_shm_free() - what is left of a handle when its file is closed */
void se_shm_free(struct syncevent *ev);

/**
 * se_shm_handle() - a handle of the event that a file holds
 * @ev: where the handle goes
 * @fd: taken over, closed if this fails
 * @writable: shall the handle update? The file must be open for it
 * @control: if not @writable: a writable mapping, to ask for rings through, taken
 *	     over; or NULL
 *
 * Return: 0; -EINVAL: not an event; -EIDRM; -ENOMEM.
 */
int se_shm_handle(struct syncevent **ev, int fd, bool writable,
		  struct syncevent_cell *control);

/**
 * se_shm_reopen() - another open file of a page
 * @fd: of the page; O_PATH will do
 * @oflag: O_RDONLY or O_RDWR
 *
 * Return: a file descriptor; -EACCES: no right, or who has a lease of the file denies it
 * for now; what else open(2) returns.
 */
int se_shm_reopen(int fd, int oflag);

/** se_shm_take() - a handle, of a file from anywhere, with the rights that it has */
int se_shm_take(struct syncevent **ev, int fd);

/** se_shm_from_fd() - likewise; @fd is not taken over. Return: also -EMFILE */
int se_shm_from_fd(struct syncevent **ev, int fd);

void se_shm_query(struct syncevent_caps *caps);

/**
 * se_shm_ask() - ask to be rung when a condition may hold; passes SE-B
 *
 * Read @seq before, look at the value after, sleep on that @seq.
 */
void se_shm_ask(struct syncevent *ev, const struct se_cond *c);

/* ---- names.c -------------------------------------------------------------------------- */

/** se_name_check() - may an event be called so? Return: 0; -EINVAL; -ENAMETOOLONG. */
int se_name_check(const char *name);

/* ---- watch.c, poll.c: what polls on the shm provider -------------------------------------- */

/**
 * se_watch_ring() - a publisher tells those who poll; the hint is cleared
 *
 * It judges for the thread of this process, and wakes those of others.
 */
void se_watch_ring(struct syncevent *ev);

/**
 * se_watch_close() - a handle is closed
 *
 * Return: true: entries of queues depend on it; se_shm_free() will be called later.
 */
bool se_watch_close(struct syncevent *ev);

int se_watch_arm(struct syncevent *ev, const struct se_cond *c);
int se_watch_poll_fd(struct syncevent *ev);
int se_watch_read(struct syncevent *ev, uint64_t *value);

/* ---- futex.c ------------------------------------------------------------------------------ */

/** struct se_word - a word to sleep on, and what it was when last looked at */
struct se_word {
	const uint32_t *word;
	uint32_t was;
};

/**
 * struct se_slice - how long to sleep at a time
 * @silent: nobody may ring: look more often
 * @ns: the next slice; they double, from the least to the longest
 */
struct se_slice {
	bool silent;
	uint64_t ns;
};

/** se_slice_next() - how long the next slice is; lengthens the one after it */
uint64_t se_slice_next(struct se_slice *slice);

/**
 * se_slice_end() - when a slice of a wait ends
 * @o: deadline and its clock
 * @ns: how long it is
 * @until: gets the earlier end
 *
 * A clock that someone may set back must not stretch a slice: CLOCK_REALTIME is slept
 * by only if that ends the slice early.
 *
 * Return: is @until of CLOCK_REALTIME, and not of CLOCK_MONOTONIC?
 */
bool se_slice_end(const struct syncevent_wait_opts *o, uint64_t ns, uint64_t *until);

/**
 * se_sleep() - sleep on words until one changes and is woken, a slice or a deadline ends
 * @words: the words
 * @n: how many: 1 to SYNCEVENT_MANY_MAX
 * @slice: zeroed but for @silent before the first sleep of a wait
 * @o: deadline and its clock
 *
 * Return: 0: look again; -EINTR: a signal whose handler has no SA_RESTART (on
 * kernels before 5.16: any handler).
 */
int se_sleep(const struct se_word *words, unsigned int n, struct se_slice *slice,
	     const struct syncevent_wait_opts *o);

/**
 * se_sleep_until() - sleep on a word until it is woken or a deadline of CLOCK_MONOTONIC
 * @word: the word
 * @was: what it was when last looked at
 * @deadline: or SYNCEVENT_FOREVER
 *
 * Return: 0: look again; -ETIMEDOUT; -EINTR: a signal whose handler has no SA_RESTART,
 * or if there is a deadline any handler.
 */
int se_sleep_until(const uint32_t *word, uint32_t was, uint64_t deadline);

/** se_wake() - wake all who sleep on a word */
void se_wake(const uint32_t *word);

#endif /* SYNCEVENT_INTERNAL_H */
