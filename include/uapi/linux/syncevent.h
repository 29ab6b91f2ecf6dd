/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * syncevent: 64-bit events that execution units update, read and wait on.
 *
 * The kernel ABI of /dev/syncevent. docs/abi.md gives every structure byte by
 * byte and every error with its cause; syncevent(4) is the manual page.
 *
 * Conventions:
 *  - Little-endian, naturally aligned, same layout for 32- and 64-bit programs.
 *  - An ioctl is recognised by its type and number; its structure may grow at
 *    the end. A shorter structure than the first version is EINVAL, a longer
 *    one is accepted if the bytes this kernel does not know are zero (else
 *    E2BIG). Bytes that it does not know are zeroed in an answer.
 *  - Reserved fields must be zero, unknown flags are EINVAL.
 *  - Deadlines are absolute nanoseconds of CLOCK_MONOTONIC (of the caller's
 *    time namespace) or, if a flag says so, of CLOCK_REALTIME.
 */
#ifndef _LINUX_SYNCEVENT_H
#define _LINUX_SYNCEVENT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SYNCEVENT_ABI_VERSION	1

/* ---- the cell: the first bytes of an event's mapped page ---------------- */

/**
 * struct syncevent_hint - what one side asks of publishers
 * @wake_above: ring this side if the new value is greater; U64_MAX: nobody
 *              waits for growth
 * @flags: SYNCEVENT_HINT_*
 * @deaths: one more for each peer death
 *
 * Written by that side's kernel alone; a publisher only reads it.
 */
struct syncevent_hint {
	__aligned_u64 wake_above;
	__u32 flags;
	__u32 deaths;
};

#define SYNCEVENT_HINT_WAKE_ALL		0x1U	/* ring on every update */
#define SYNCEVENT_HINT_PEER_DEAD	0x2U

#define SYNCEVENT_WAKE_NONE		(~0ULL)		/* wake_above: nobody */

/**
 * struct syncevent_cell - the memory that all units share
 * @value: the counter. The only word that devices, RDMA and DPA or GPU code
 *         must touch
 * @state: SYNCEVENT_STATE_* in the low two bits, the generation above them
 * @sides: number of hint records; 1 on one machine. Readers clamp it to
 *         SYNCEVENT_SIDES_MAX
 * @flags: SYNCEVENT_CELL_*
 * @hint: one record per side; those beyond the third follow in the same page
 *
 * 64-byte aligned. The kernel trusts no word of it: its waiters, their number
 * and the event's state live in kernel memory, and @value is read anew each
 * time it is judged.
 */
struct syncevent_cell {
	__aligned_u64 value;
	__u32 state;
	__u16 sides;
	__u16 flags;
	struct syncevent_hint hint[3];
} __attribute__((__aligned__(64)));

#define SYNCEVENT_SIDES_MAX		64

#define SYNCEVENT_STATE_MASK		3U
#define SYNCEVENT_STATE_FREE		0U
#define SYNCEVENT_STATE_LIVE		1U
#define SYNCEVENT_STATE_REVOKED		2U
#define SYNCEVENT_STATE_DRAIN		3U	/* of slots in a region, not of cells */
#define SYNCEVENT_STATE_GEN_SHIFT	2

#define SYNCEVENT_CELL_SILENT		0x1U	/* a publisher may never ring */
#define SYNCEVENT_CELL_NO_REMOTE_ADD	0x2U	/* add only on the home side */

/* ---- conditions ---------------------------------------------------------- */

/* A condition holds if (value & mask) OP operand, unsigned, full range. */
#define SYNCEVENT_COND_EQ	0
#define SYNCEVENT_COND_NEQ	1
#define SYNCEVENT_COND_GT	2
#define SYNCEVENT_COND_GE	3
#define SYNCEVENT_COND_LT	4
#define SYNCEVENT_COND_LE	5

#define SYNCEVENT_MASK_ALL	(~0ULL)
#define SYNCEVENT_NO_DEADLINE	(~0ULL)

/* ---- on /dev/syncevent --------------------------------------------------- */

/* Where an event is updated and waited on. Placement hints: they forbid nothing. */
#define SYNCEVENT_LOC_CPU		0x1U
#define SYNCEVENT_LOC_REMOTE_PCI	0x2U
#define SYNCEVENT_LOC_DPA		0x4U
#define SYNCEVENT_LOC_GPU		0x8U
#define SYNCEVENT_LOC_REMOTE_NET	0x10U
#define SYNCEVENT_LOC_ALL		0x1fU

#define SYNCEVENT_CREATE_SILENT		0x1U	/* updates may come without a ring */
#define SYNCEVENT_CREATE_NONBLOCK	0x2U	/* O_NONBLOCK on the new file */

/**
 * struct syncevent_create - SYNCEVENT_IOC_CREATE: make an event
 * @value: the counter's first value
 * @flags: SYNCEVENT_CREATE_*
 * @publishers: SYNCEVENT_LOC_*, 0 means SYNCEVENT_LOC_CPU
 * @subscribers: SYNCEVENT_LOC_*, 0 means SYNCEVENT_LOC_CPU
 * @reserved: zero
 *
 * Returns a new file descriptor (close-on-exec) that may read and update.
 *
 * Also of SYNCEVENT_IOC_SETUP, on an event of a synceventfs that was made with
 * O_TMPFILE and has no name yet: gives it these attributes and this value, before
 * linkat(2) gives it its name. SYNCEVENT_CREATE_NONBLOCK is not allowed there.
 */
struct syncevent_create {
	__aligned_u64 value;
	__u32 flags;
	__u32 publishers;
	__u32 subscribers;
	__u32 reserved;
};

/**
 * struct syncevent_wait_entry - one event of a SYNCEVENT_IOC_WAIT_MANY
 * @fd: an event
 * @cond: SYNCEVENT_COND_*
 * @operand: right-hand side of the condition
 * @mask: applied to the value before it is compared
 * @value: answer: the value that satisfied the condition, if it was satisfied
 * @status: answer: 1 if the condition held during the call, 0 if it was not
 *          seen to, a negative errno if the event ended
 * @reserved: zero
 */
struct syncevent_wait_entry {
	__s32 fd;
	__u32 cond;
	__aligned_u64 operand;
	__aligned_u64 mask;
	__aligned_u64 value;
	__s32 status;
	__u32 reserved;
};

#define SYNCEVENT_WAIT_REALTIME		0x1U	/* deadline is CLOCK_REALTIME */
#define SYNCEVENT_WAIT_ALL		0x2U	/* WAIT_MANY: all, not any */

#define SYNCEVENT_WAIT_MAX		128		/* entries of one WAIT_MANY */

/**
 * struct syncevent_wait_many - SYNCEVENT_IOC_WAIT_MANY: wait on several events
 * @entries: pointer to an array of struct syncevent_wait_entry
 * @deadline: absolute nanoseconds, SYNCEVENT_NO_DEADLINE for none, 0 to look only
 * @count: number of entries, 1 to SYNCEVENT_WAIT_MAX; events may repeat
 * @flags: SYNCEVENT_WAIT_*
 * @index: answer: the entry that ended the wait
 * @reserved: zero
 *
 * any: ends when one condition holds; of those that hold at the first look the
 * lowest index wins. all: ends when each condition has held at some moment
 * during the call. An event that is revoked, or was, ends the wait with EIDRM,
 * @index names it, unless its condition has held before. The answers are written
 * on success and on EIDRM only.
 */
struct syncevent_wait_many {
	__aligned_u64 entries;
	__aligned_u64 deadline;
	__u32 count;
	__u32 flags;
	__u32 index;
	__u32 reserved;
};

#define SYNCEVENT_QUEUE_NONBLOCK	0x1U	/* O_NONBLOCK on the new file */

/**
 * struct syncevent_queue_create - SYNCEVENT_IOC_QUEUE: make a wait queue
 * @flags: SYNCEVENT_QUEUE_*
 * @reserved: zero
 *
 * Returns a new file descriptor (close-on-exec). It polls readable while a
 * completion is queued; read(2) returns struct syncevent_completion records.
 */
struct syncevent_queue_create {
	__u32 flags;
	__u32 reserved;
};

#define SYNCEVENT_CAP_SILENT		0x1ULL
#define SYNCEVENT_CAP_QUEUE		0x2ULL
#define SYNCEVENT_CAP_IO_URING		0x4ULL	/* read and write do not punt */

/**
 * struct syncevent_dev_info - SYNCEVENT_IOC_DEV_INFO: what this module can do
 * @abi: SYNCEVENT_ABI_VERSION
 * @wait_max: most entries of a WAIT_MANY
 * @caps: SYNCEVENT_CAP_*
 * @events_max: most events of one user
 * @events: events that the calling user has now
 * @entries_max: most queue entries of one user
 * @entries: queue entries that the calling user has now
 * @silent_min_ns: shortest period of the looks at a silent event
 * @silent_max_ns: longest one: how late a waiter on a silent event can be
 */
struct syncevent_dev_info {
	__u32 abi;
	__u32 wait_max;
	__aligned_u64 caps;
	__aligned_u64 events_max;
	__aligned_u64 events;
	__aligned_u64 entries_max;
	__aligned_u64 entries;
	__aligned_u64 silent_min_ns;
	__aligned_u64 silent_max_ns;
};

/* ---- on an event --------------------------------------------------------- */

/**
 * struct syncevent_value - SYNCEVENT_IOC_GET, SYNCEVENT_IOC_SET
 * @value: the counter
 */
struct syncevent_value {
	__aligned_u64 value;
};

/**
 * struct syncevent_add - SYNCEVENT_IOC_ADD
 * @value: what to add, modulo 2^64
 * @old: answer: the value before
 */
struct syncevent_add {
	__aligned_u64 value;
	__aligned_u64 old;
};

/**
 * struct syncevent_wait - SYNCEVENT_IOC_WAIT: sleep until a condition holds
 * @operand: right-hand side of the condition
 * @mask: applied to the value before it is compared
 * @deadline: absolute nanoseconds, SYNCEVENT_NO_DEADLINE for none, 0 to look only
 * @value: answer: the value that satisfied the condition
 * @cond: SYNCEVENT_COND_*
 * @flags: SYNCEVENT_WAIT_REALTIME or 0
 */
struct syncevent_wait {
	__aligned_u64 operand;
	__aligned_u64 mask;
	__aligned_u64 deadline;
	__aligned_u64 value;
	__u32 cond;
	__u32 flags;
};

#define SYNCEVENT_ARM_CLEAR		0x1U	/* back to "differs from the last read" */

/**
 * struct syncevent_arm - SYNCEVENT_IOC_ARM: the condition of read(2) and poll(2)
 * @operand: right-hand side of the condition
 * @mask: applied to the value before it is compared
 * @cond: SYNCEVENT_COND_*
 * @flags: SYNCEVENT_ARM_*; with SYNCEVENT_ARM_CLEAR all else must be zero
 *
 * Belongs to the open file: dup(2) and fork(2) share it, SYNCEVENT_IOC_DUP
 * does not.
 */
struct syncevent_arm {
	__aligned_u64 operand;
	__aligned_u64 mask;
	__u32 cond;
	__u32 flags;
};

#define SYNCEVENT_DUP_RDONLY		0x1U	/* the new file may not update */
#define SYNCEVENT_DUP_NONBLOCK		0x2U	/* O_NONBLOCK on the new file */

/**
 * struct syncevent_dup - SYNCEVENT_IOC_DUP: another open file of this event
 * @flags: SYNCEVENT_DUP_*
 * @reserved: zero
 *
 * Returns a new file descriptor (close-on-exec) with the same rights, or with
 * fewer, and a poll condition and last-read value of its own.
 */
struct syncevent_dup {
	__u32 flags;
	__u32 reserved;
};

#define SYNCEVENT_INFO_UPDATE		0x1U	/* this file may update */
#define SYNCEVENT_INFO_REVOKED		0x2U
#define SYNCEVENT_INFO_SILENT		0x4U
#define SYNCEVENT_INFO_NO_REMOTE_ADD	0x8U
#define SYNCEVENT_INFO_PEER_DEAD	0x10U	/* a side on which it depends is dead */
#define SYNCEVENT_INFO_IMPORT		0x20U	/* another side created it */

/**
 * struct syncevent_info - SYNCEVENT_IOC_INFO: works on a revoked event too
 * @id: unique while the module is loaded
 * @value: the counter
 * @flags: SYNCEVENT_INFO_*
 * @generation: as in the state word of the cell
 * @publishers: SYNCEVENT_LOC_*
 * @subscribers: SYNCEVENT_LOC_*
 * @side: index of this machine's hint record
 * @sides: number of hint records
 * @waiters: waiters parked now: sleeping calls, armed files, queue entries
 * @rings: calls that asked the kernel to judge
 * @wakes: waiters that an update satisfied, since creation
 * @pages: of payload, 4096 bytes each
 * @home: side where it is waited for
 * @reserved: zero
 */
struct syncevent_info {
	__aligned_u64 id;
	__aligned_u64 value;
	__u32 flags;
	__u32 generation;
	__u32 publishers;
	__u32 subscribers;
	__u16 side;
	__u16 sides;
	__u32 waiters;
	__aligned_u64 rings;
	__aligned_u64 wakes;
	__u32 pages;
	__u16 home;
	__u16 reserved;
};

/* ---- on a wait queue ------------------------------------------------------ */

/**
 * struct syncevent_queue_add - SYNCEVENT_IOC_QUEUE_ADD: wait without a thread
 * @cookie: names the entry; unique among those not yet read (else EEXIST)
 * @operand: right-hand side of the condition
 * @mask: applied to the value before it is compared
 * @deadline: absolute nanoseconds, SYNCEVENT_NO_DEADLINE for none
 * @fd: an event; the entry does not keep it alive
 * @cond: SYNCEVENT_COND_*
 * @flags: SYNCEVENT_WAIT_REALTIME or 0
 * @reserved: zero
 */
struct syncevent_queue_add {
	__aligned_u64 cookie;
	__aligned_u64 operand;
	__aligned_u64 mask;
	__aligned_u64 deadline;
	__s32 fd;
	__u32 cond;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct syncevent_queue_cancel - SYNCEVENT_IOC_QUEUE_CANCEL
 * @cookie: the entry
 *
 * 0: cancelled, no completion follows. EALREADY: its completion is queued.
 * ENOENT: no such entry.
 */
struct syncevent_queue_cancel {
	__aligned_u64 cookie;
};

/**
 * struct syncevent_completion - what read(2) on a wait queue returns
 * @cookie: as given to SYNCEVENT_IOC_QUEUE_ADD
 * @value: the value that satisfied the condition, if @status is 0
 * @status: 0, or -ETIMEDOUT or -EIDRM
 * @reserved: zero
 */
struct syncevent_completion {
	__aligned_u64 cookie;
	__aligned_u64 value;
	__s32 status;
	__u32 reserved;
};

/* ---- on /dev/syncevent_pciN: events between machines ---------------------- */

#define SYNCEVENT_PCI_NAME_MAX		63	/* of a named export, without the end */
#define SYNCEVENT_KEY_SIZE		16

/* The rights that an export can give. */
#define SYNCEVENT_RIGHT_READ		0x1U
#define SYNCEVENT_RIGHT_UPDATE		0x2U	/* and to read */

#define SYNCEVENT_PCI_HOME_ANY		(~0U)

/**
 * struct syncevent_pci_create - SYNCEVENT_IOC_PCI_CREATE: make an event in the region
 * @value: the counter's first value
 * @flags: SYNCEVENT_CREATE_*
 * @publishers: SYNCEVENT_LOC_*, 0 means SYNCEVENT_LOC_CPU
 * @subscribers: SYNCEVENT_LOC_*, 0 means SYNCEVENT_LOC_CPU
 * @home: side where it is waited for; SYNCEVENT_PCI_HOME_ANY: this one, or the other
 *	  of two if @subscribers is SYNCEVENT_LOC_REMOTE_PCI
 * @pages: of shared payload, 4096 bytes each
 * @reserved: zero
 *
 * Returns a new file descriptor, as SYNCEVENT_IOC_CREATE does. Where the sides have no
 * doorbells the event is silent.
 */
struct syncevent_pci_create {
	__aligned_u64 value;
	__u32 flags;
	__u32 publishers;
	__u32 subscribers;
	__u32 home;
	__u32 pages;
	__u32 reserved;
};

/**
 * struct syncevent_blob - what SYNCEVENT_IOC_EXPORT makes: take it to another side
 * @magic: 0x50564553, "SEVP"
 * @version: 1
 * @region: its id
 * @slot: in the region
 * @generation: of the slot
 * @key: of a right: that which the import gives
 * @reserved: zero
 * @checksum: FNV-1a of the bytes before it
 */
struct syncevent_blob {
	__u32 magic;
	__u32 version;
	__aligned_u64 region[2];
	__u32 slot;
	__u32 generation;
	__u8 key[SYNCEVENT_KEY_SIZE];
	__u32 reserved;
	__u32 checksum;
};

/**
 * struct syncevent_export - SYNCEVENT_IOC_EXPORT, on an event that this side created
 * @right: SYNCEVENT_RIGHT_READ or SYNCEVENT_RIGHT_UPDATE
 * @reserved: zero
 * @blob: answer
 */
struct syncevent_export {
	__u32 right;
	__u32 reserved;
	struct syncevent_blob blob;
};

/**
 * struct syncevent_import - SYNCEVENT_IOC_IMPORT: an event that a blob tells of
 * @blob: from SYNCEVENT_IOC_EXPORT, of any side
 * @flags: SYNCEVENT_DUP_*
 * @reserved: zero
 *
 * Returns a new file descriptor (close-on-exec) with the right of the blob.
 */
struct syncevent_import {
	struct syncevent_blob blob;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct syncevent_pci_name - SYNCEVENT_IOC_EXPORT_NAME on an event that this side
 *			       created, SYNCEVENT_IOC_IMPORT_NAME on the device
 * @name: ends with a zero
 * @rights: export: SYNCEVENT_RIGHT_* that it gives, 0: it has no name any more.
 *	    import: zero
 * @flags: import: SYNCEVENT_DUP_*. export: zero
 *
 * An import returns a new file descriptor (close-on-exec).
 */
struct syncevent_pci_name {
	char name[SYNCEVENT_PCI_NAME_MAX + 1];
	__u32 rights;
	__u32 flags;
};

#define SYNCEVENT_PCI_ATTACHED		0x1U
#define SYNCEVENT_PCI_DOORBELL		0x2U
#define SYNCEVENT_PCI_ATOMICS		0x4U	/* all sides may add to events made here */

/**
 * struct syncevent_pci_info - SYNCEVENT_IOC_PCI_INFO: the region
 * @id: names it in blobs; zero until this side is attached, as are @alive, @rung, @sides,
 *	@slots, @slots_used and @payload_pages
 * @alive: a bit for each side
 * @rung: doorbells of other sides that this one rang
 * @irqs: doorbells of this side that rang
 * @flags: SYNCEVENT_PCI_*
 * @side: this one
 * @sides: of the region
 * @address: own PCI address, domain << 16 | bus << 8 | device and function
 * @slots: of all sides
 * @slots_used: of those that this side may create
 * @payload_pages: of all sides
 * @masked: times that the doorbell of this side was held back: too much came
 */
struct syncevent_pci_info {
	__aligned_u64 id[2];
	__aligned_u64 alive;
	__aligned_u64 rung;
	__aligned_u64 irqs;
	__u32 flags;
	__u32 side;
	__u32 sides;
	__u32 address;
	__u32 slots;
	__u32 slots_used;
	__u32 payload_pages;
	__u32 masked;
};

/**
 * struct syncevent_pci_peer - SYNCEVENT_IOC_PCI_PEER: one side
 * @epoch: answer: of its attachment; 0: it is not attached, as far as is known here
 * @side: which; else EINVAL
 * @address: answer: its own PCI address
 * @alive: answer: 1 if its heart beats; 0 beside an @epoch: it was declared dead
 * @reserved: zero
 */
struct syncevent_pci_peer {
	__aligned_u64 epoch;
	__u32 side;
	__u32 address;
	__u32 alive;
	__u32 reserved;
};

/* ---- ioctl numbers --------------------------------------------------------- */

#define SYNCEVENT_IOC_TYPE		0xB9

#define SYNCEVENT_IOC_CREATE		_IOW(SYNCEVENT_IOC_TYPE, 0x00, struct syncevent_create)
#define SYNCEVENT_IOC_WAIT_MANY		_IOWR(SYNCEVENT_IOC_TYPE, 0x01, \
					      struct syncevent_wait_many)
#define SYNCEVENT_IOC_QUEUE		_IOW(SYNCEVENT_IOC_TYPE, 0x02, \
					     struct syncevent_queue_create)
#define SYNCEVENT_IOC_DEV_INFO		_IOR(SYNCEVENT_IOC_TYPE, 0x03, \
					     struct syncevent_dev_info)

#define SYNCEVENT_IOC_GET		_IOR(SYNCEVENT_IOC_TYPE, 0x10, struct syncevent_value)
#define SYNCEVENT_IOC_SET		_IOW(SYNCEVENT_IOC_TYPE, 0x11, struct syncevent_value)
#define SYNCEVENT_IOC_ADD		_IOWR(SYNCEVENT_IOC_TYPE, 0x12, struct syncevent_add)
#define SYNCEVENT_IOC_RING		_IO(SYNCEVENT_IOC_TYPE, 0x13)
#define SYNCEVENT_IOC_WAIT		_IOWR(SYNCEVENT_IOC_TYPE, 0x14, struct syncevent_wait)
#define SYNCEVENT_IOC_ARM		_IOW(SYNCEVENT_IOC_TYPE, 0x15, struct syncevent_arm)
#define SYNCEVENT_IOC_DUP		_IOW(SYNCEVENT_IOC_TYPE, 0x16, struct syncevent_dup)
#define SYNCEVENT_IOC_INFO		_IOR(SYNCEVENT_IOC_TYPE, 0x17, struct syncevent_info)
#define SYNCEVENT_IOC_REVOKE		_IO(SYNCEVENT_IOC_TYPE, 0x18)
#define SYNCEVENT_IOC_SETUP		_IOW(SYNCEVENT_IOC_TYPE, 0x19, struct syncevent_create)

#define SYNCEVENT_IOC_EXPORT		_IOWR(SYNCEVENT_IOC_TYPE, 0x1a, struct syncevent_export)
#define SYNCEVENT_IOC_EXPORT_NAME	_IOW(SYNCEVENT_IOC_TYPE, 0x1b, \
					     struct syncevent_pci_name)

#define SYNCEVENT_IOC_QUEUE_ADD		_IOW(SYNCEVENT_IOC_TYPE, 0x20, \
					     struct syncevent_queue_add)
#define SYNCEVENT_IOC_QUEUE_CANCEL	_IOW(SYNCEVENT_IOC_TYPE, 0x21, \
					     struct syncevent_queue_cancel)

#define SYNCEVENT_IOC_PCI_CREATE	_IOW(SYNCEVENT_IOC_TYPE, 0x30, \
					     struct syncevent_pci_create)
#define SYNCEVENT_IOC_IMPORT		_IOW(SYNCEVENT_IOC_TYPE, 0x31, struct syncevent_import)
#define SYNCEVENT_IOC_IMPORT_NAME	_IOW(SYNCEVENT_IOC_TYPE, 0x32, \
					     struct syncevent_pci_name)
#define SYNCEVENT_IOC_PCI_INFO		_IOR(SYNCEVENT_IOC_TYPE, 0x33, \
					     struct syncevent_pci_info)
#define SYNCEVENT_IOC_PCI_PEER		_IOWR(SYNCEVENT_IOC_TYPE, 0x34, \
					      struct syncevent_pci_peer)

#endif /* _LINUX_SYNCEVENT_H */
