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
 * -EIDRM and -EPIPE too.
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
/** SYNCEVENT_AT_HOME - attr.home says where the event is waited for */
#define SYNCEVENT_AT_HOME	(1U << 1)

/**
 * struct syncevent_attr - how to make an event; all-zero but size is the default
 * @size: sizeof(struct syncevent_attr)
 * @flags: SYNCEVENT_SILENT, SYNCEVENT_AT_HOME
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
 * @pci: make it in memory that machines share: which, as syncevent_pci_get() tells,
 *       by its PCI address here or its device. NULL for any other event
 * @home: with @pci and SYNCEVENT_AT_HOME: the side where it is waited for. Without the
 *        flag it is this machine or, if @subscribers is SYNCEVENT_LOC_REMOTE_PCI and
 *        there are two, the other. Waits work on every side; what is told apart by it
 *        is whose death ends them, and who may add where SYNCEVENT_STAT_HOME_ADDS
 * @pages: with @pci: pages of payload, of 4096 bytes each; see syncevent_payload()
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
	const char *pci;
	uint32_t home;
	uint32_t pages;
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
 * events; -ENFILE: nor has the machine; -ENOMEM. With @attr->pci also -ENODEV: there
 * is no such device, or it is not attached; -EACCES: no right to open it; -ENOSPC: its
 * share of slots or pages is used up; -EOPNOTSUPP: this machine's pages are larger than
 * 4096 bytes.
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
 *        any case. @attr->addr and @attr->pci must be NULL
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
 * The handle has the rights of @fd. shm: unless it is a sealed memfd, as those of
 * syncevent_create() are, who may write the file may truncate it, and an access is then
 * SIGBUS. The seals are not checked: take files from whom you trust.
 *
 * Return: 0; -EINVAL: not an event; -EBADF; -EMFILE; -ENOMEM; -EIDRM: revoked;
 * -EOPNOTSUPP: it was made with attr.pci, and this machine's pages are larger than 4096
 * bytes.
 */
int syncevent_from_fd(struct syncevent **ev, int fd);

/**
 * syncevent_fd() - the event's file descriptor
 * @ev: an event
 *
 * To hand to another process (SCM_RIGHTS, fork) for syncevent_from_fd(), and for
 * fstat(2). On the kernel provider also for poll(2), epoll(7), io_uring, read(2)
 * and write(2); what works with each provider is syncevent_poll_fd(). It belongs
 * to the handle and is closed with it. Return: the file descriptor; -EOPNOTSUPP
 * (ENOTSUP is the same number): an event on attr.addr has none.
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
 * Return: 0; -EINVAL: @flags; -EIDRM: revoked; -EMFILE; -ENFILE; -ENOMEM; -EROFS: the
 * event was opened by its name, its mount is read-only by now, and SYNCEVENT_RDONLY is
 * not set. shm, with SYNCEVENT_RDONLY: -EACCES: somebody has a lease of the file
 * (fcntl(2)).
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
 * and syncevent_stat() returns -EIDRM. Safe at any time. Return: 0; -EBADF: no right to
 * update; -EIDRM: it was revoked before; -EPERM: another machine made it.
 */
int syncevent_revoke(struct syncevent *ev);

/** syncevent_stat.flags */
#define SYNCEVENT_STAT_UPDATE		(1U << 0)	/* this handle may update */
#define SYNCEVENT_STAT_REVOKED		(1U << 1)
#define SYNCEVENT_STAT_SILENT		(1U << 2)
#define SYNCEVENT_STAT_HOME_ADDS	(1U << 3)	/* adds work at its home alone, others set */
#define SYNCEVENT_STAT_PEER_DEAD	(1U << 4)	/* a machine on which it depends is dead */
#define SYNCEVENT_STAT_IMPORT		(1U << 5)	/* another machine made it */

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
 * @payload: bytes of payload
 * @side: this machine, in memory that machines share; else 0
 * @home: where it is waited for; else 0
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
	uint64_t payload;
	uint32_t side;
	uint32_t home;
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
 * @flags: SYNCEVENT_RDONLY: whoever has the blob may read and wait only; or 0
 * @blob: where the bytes go
 * @size: room in @blob
 *
 * The bytes may travel by any means. Those of an event that was made with attr.pci are
 * for programs of all machines that share the memory: whoever has them can import it, for
 * as long as it lives. Those of the shm provider hold for as long as this handle is
 * open in this process, and for who may look into it (/proc: same user, or
 * privileged), in the same PID namespace.
 *
 * Return: the blob's length; -EINVAL: @flags; -ENOSPC: @size is too small; -EBADF:
 * the handle is read-only and SYNCEVENT_RDONLY is not set; -EIDRM; -EPERM: another
 * machine made it; -EOPNOTSUPP: neither of the shm provider nor made with attr.pci.
 */
int syncevent_export(struct syncevent *ev, unsigned int flags, void *blob, size_t size);

/**
 * syncevent_import() - a handle of an event that was exported
 * @ev: where the handle goes
 * @blob: from syncevent_export()
 * @size: its length
 *
 * Every byte is checked, whoever made them. shm: the file they lead to is as good as
 * who made it, see syncevent_from_fd().
 *
 * Return: 0; -EINVAL: not a blob, damaged, or of another version; -ENOENT: the
 * handle or the process that exported it is gone; -EACCES: no right to look into
 * it, the key is wrong, or somebody has a lease of the file (fcntl(2)); -EIDRM: revoked;
 * -EMFILE; -ENFILE; -ENOMEM. From another machine also -ENODEV: no device here shares
 * memory with it, or that is not attached; -EPROTO: what the region says of the event
 * makes no sense; -EAGAIN: another import of it is being undone and does not end;
 * -EOPNOTSUPP: this machine's pages are larger than 4096 bytes.
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
 * ---- between machines ---------------------------------------------------------
 *
 * Machines that share the memory of a PCI device, a region, are sides of it, with a
 * number each. What is waited on there works as everywhere. In addition a wait ends with
 * -EPIPE, and what polls with POLLERR, once a machine is dead on which it depends: that
 * which made the event, its home, or, if attr.publishers was SYNCEVENT_LOC_REMOTE_PCI,
 * the last that imported it with the right to update. docs/pci-peers.md has more.
 */

/**
 * struct syncevent_pci - a region, as this machine sees it
 * @size: sizeof(struct syncevent_pci)
 * @flags: SYNCEVENT_PCI_* of linux/syncevent.h
 * @device: path of its device
 * @address: PCI address here, of the form 0000:00:10.0
 * @id: of the region, the same on all sides. Until this machine is attached it is zero, as
 *	are @alive, @sides, @slots, @slots_used and @payload_pages
 * @alive: a bit for each side whose heart beats
 * @side: this machine
 * @sides: how many there can be
 * @slots: room for events, of all sides
 * @slots_used: by events that this machine made and that are not given back
 * @payload_pages: room for payload, of all sides, 4096 bytes each
 * @masked: how often others rang too much, and could not for some milliseconds
 * @rung: how often this machine rang others
 * @irqs: how often it was rung
 */
struct syncevent_pci {
	uint32_t size;
	uint32_t flags;
	char device[32];
	char address[16];
	uint64_t id[2];
	uint64_t alive;
	uint32_t side;
	uint32_t sides;
	uint32_t slots;
	uint32_t slots_used;
	uint32_t payload_pages;
	uint32_t masked;
	uint64_t rung;
	uint64_t irqs;
};

/**
 * syncevent_pci_get() - which regions are there?
 * @index: from 0 on
 * @pci: its size set by the caller, the rest filled
 *
 * Return: 0; -ENOENT: there are no more; -EACCES: no right to open this one, of which
 * @pci->device is told nevertheless; -EINVAL or -E2BIG: @pci->size; -EMFILE; -ENFILE;
 * -ENOMEM.
 */
int syncevent_pci_get(unsigned int index, struct syncevent_pci *pci);

/**
 * struct syncevent_pci_side - a machine of a region
 * @size: sizeof(struct syncevent_pci_side)
 * @alive: 1 if its heart beats; 0 beside an @epoch: it died
 * @epoch: random, another one for each time that it attached; 0: it is not attached, as
 *	   far as is known here
 * @address: PCI address of the region over there
 */
struct syncevent_pci_side {
	uint32_t size;
	uint32_t alive;
	uint64_t epoch;
	char address[16];
};

/**
 * syncevent_pci_side() - ask about a machine
 * @pci: which region, as attr.pci
 * @side: which machine
 * @info: its size set by the caller, the rest filled
 *
 * Return: 0; -EINVAL: no such side, or @info->size; -E2BIG; -ENODEV: no such region, or
 * not attached; -EACCES; -EMFILE; -ENFILE; -ENOMEM.
 */
int syncevent_pci_side(const char *pci, unsigned int side, struct syncevent_pci_side *info);

/** SYNCEVENT_EXPORT_MAX - longest name between machines, in bytes without the final NUL */
#define SYNCEVENT_EXPORT_MAX	63

/**
 * syncevent_export_name() - give an event a name between machines, or take it away
 * @ev: an event that was made with attr.pci, here
 * @name: 1 to SYNCEVENT_EXPORT_MAX bytes; NULL: it has no name any more
 * @flags: SYNCEVENT_RDONLY: who opens it may read and wait only; or 0
 *
 * Every program, of any side, that may open the device may open it then. The name ends
 * with the event. It is a name of the region, not of a file.
 *
 * Return: 0; -EINVAL: @flags, or an empty name; -ENAMETOOLONG; -EEXIST; -EBADF: the
 * handle is read-only; -EIDRM; -EPERM: another machine made it; -EOPNOTSUPP: not made
 * with attr.pci.
 */
int syncevent_export_name(struct syncevent *ev, const char *name, unsigned int flags);

/**
 * syncevent_import_name() - a handle of an event by its name between machines
 * @ev: where the handle goes
 * @pci: which region, as attr.pci
 * @name: as given to syncevent_export_name()
 * @flags: SYNCEVENT_RDONLY or 0
 *
 * Return: 0; -ENOENT: no such name; -ENODEV: no such region, or not attached; -EINVAL:
 * @flags, or an empty name; -ENAMETOOLONG; -EACCES: no right to open the device, or the
 * name was just taken away; -EIDRM; -EMFILE; -ENFILE; -ENOMEM; -EPROTO, -EAGAIN and
 * -EOPNOTSUPP as syncevent_import().
 */
int syncevent_import_name(struct syncevent **ev, const char *pci, const char *name,
			  unsigned int flags);

/**
 * syncevent_payload() - map an event's payload
 * @ev: an event that was made with attr.pages, on any side
 * @ptr: gets the address
 * @len: gets the length in bytes, a multiple of 4096; or NULL
 *
 * The same memory for all machines: what was written before an update can be read
 * after a wait that saw it. Zeroed when the event is made. Read-only if the handle is.
 * Valid until the handle is closed; an access after the event was revoked is SIGBUS.
 *
 * Return: 0; -EOPNOTSUPP: it has none, or this machine's pages are larger; -EIDRM;
 * -ENOMEM.
 */
int syncevent_payload(struct syncevent *ev, void **ptr, size_t *len);

/**
 * syncevent_dpa_handle() - what firmware of an accelerator calls the event
 * @ev: an event that was made with attr.pci, here
 * @handle: gets it: for syncevent/dpa.h on a device that shares the region
 *
 * A number, no secret: firmware that shares the memory has all rights to it.
 *
 * Return: 0; -EBADF: the handle is read-only; -EIDRM; -EPERM: another machine made it;
 * -EOPNOTSUPP: not made with attr.pci.
 */
int syncevent_dpa_handle(struct syncevent *ev, uint64_t *handle);

/*
 * ---- data path: no allocation, no system call unless a sleeper asks ----------
 *
 * Whether an update succeeded is decided when it is made. One that crosses a
 * revocation succeeds, as if it had come before; nobody may be there to see it.
 */

/**
 * syncevent_get() - load the counter (acquire)
 * @ev: an event
 * @value: where it goes
 *
 * Return: 0; -EIDRM.
 */
SYNCEVENT_DIRECT int syncevent_get(struct syncevent *ev, uint64_t *value);

/**
 * syncevent_set() - store a value (release)
 * @ev: an event
 * @value: the new value
 *
 * Return: 0; -EBADF: the handle is read-only; -EIDRM.
 */
SYNCEVENT_DIRECT int syncevent_set(struct syncevent *ev, uint64_t value);

/**
 * syncevent_add() - add to the counter, modulo 2^64 (release)
 * @ev: an event
 * @n: what to add
 * @old: gets the value before, or NULL
 *
 * Return: 0; -EBADF: the handle is read-only; -EIDRM; -EOPNOTSUPP: it works at its home
 * alone (SYNCEVENT_STAT_HOME_ADDS).
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
 * kernels before 5.16, or where futex_waitv(2) is refused: any handler); -EIDRM: revoked;
 * -EPIPE: a machine on which it depends is dead; -EINVAL: @cond or @opts; -E2BIG: @opts;
 * -ENOMEM. Success wins over a time-out, signal or death that comes with it.
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
 * the call; on the kernel provider, since the last signal handler with SA_RESTART, after
 * which a sleep begins anew. An event that is revoked, or depends on a machine that is
 * dead, before its condition was seen to hold ends it with -EIDRM or -EPIPE.
 *
 * All events must be of the same provider; events on attr.addr may be mixed with them.
 * The first call on events of the kernel provider opens /dev/syncevent and keeps it open.
 *
 * Return: 0; -ETIMEDOUT; -EINTR; -EIDRM or -EPIPE (@index and the status tell which);
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

/**
 * syncevent_disarm() - back to "differs from the value last read"
 * @ev: an event
 *
 * Undoes syncevent_arm(). Return: 0; -EIDRM; -ENOMEM.
 */
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
 * is announced any more, and what gets the number is left alone.
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
 * Return: 0; -EAGAIN: the condition does not hold; -EIDRM: revoked; -EPIPE: nor does it,
 * and a machine on which it depends is dead; -ENOMEM.
 */
int syncevent_read(struct syncevent *ev, uint64_t *value);

/* ---- wait queues: many waits, no threads ---------------------------------------- */

/**
 * struct syncevent_done - a completion
 * @cookie: as given to syncevent_queue_add()
 * @value: the value that satisfied the condition, if @status is 0
 * @status: 0, -ETIMEDOUT, -EIDRM or -EPIPE
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

/**
 * syncevent_queue_create_on() - make a wait queue of a provider
 * @q: where the handle goes
 * @provider: KERNEL, SHM, or DEFAULT for that of syncevent_queue_create()
 *
 * For events that are not of the default provider, as those between machines may be.
 *
 * Return: as syncevent_queue_create(); -EINVAL: @provider.
 */
int syncevent_queue_create_on(struct syncevent_queue **q, enum syncevent_provider provider);

/**
 * syncevent_queue_reserve() - have memory for entries at hand
 * @q: a queue
 * @n: as long as no more than so many are not yet reaped, none is allocated in this
 *     process for an entry; 0: for each one when it is added, as at first
 *
 * What an event needs itself is allocated when it is first added, to any queue.
 *
 * Return: 0; -ENOMEM: it is as before.
 */
int syncevent_queue_reserve(struct syncevent_queue *q, size_t n);

/**
 * syncevent_queue_fd() - the queue's file descriptor, for poll(2) and epoll(7)
 * @q: a queue
 *
 * Readable while a completion is to be reaped; not to be read otherwise than by
 * syncevent_queue_reap(). It belongs to the queue and is closed with it.
 *
 * Return: the file descriptor; there is no error.
 */
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
 * another provider than @q, and not on attr.addr; -EIDRM: @ev is revoked; -EPIPE: the
 * condition does not hold, and a machine on which it depends is dead; -ENOSPC: too many
 * entries of this user; -ENOMEM; -EAGAIN: no thread can be made; -EINTR: a signal whose
 * handler has no SA_RESTART came while another thread held the queue, and nothing was
 * added; or, on attr.addr in a queue of the kernel provider, as syncevent_create().
 */
int syncevent_queue_add(struct syncevent_queue *q, struct syncevent *ev,
			enum syncevent_cond cond, uint64_t operand, uint64_t mask,
			uint64_t cookie, uint64_t deadline);

/**
 * syncevent_queue_cancel() - take an entry back
 * @q: a queue
 * @cookie: of the entry, as given to syncevent_queue_add()
 *
 * Return: 0: no completion follows, and the cookie is free; -EALREADY: the completion is
 * to be reaped; -ENOENT: no entry has this cookie; -EINTR: as syncevent_queue_add(), and
 * nothing was cancelled.
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

/**
 * syncevent_queue_close() - end the queue
 * @q: a queue, or NULL
 *
 * Its entries and the completions that were not reaped are dropped.
 */
void syncevent_queue_close(struct syncevent_queue *q);

#ifdef __cplusplus
}
#endif

#endif /* SYNCEVENT_H */
