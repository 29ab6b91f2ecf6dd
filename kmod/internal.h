/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syncevent.ko: objects, lifetimes and locks
 *
 * Objects
 *   struct se_event	an event: the page with its cell, the parked waiters, the
 *			state. Two counts. Holders are its open files and its name;
 *			it ends (is revoked) with the last one. A mapping holds the
 *			file. References keep the memory: each open file, each queue
 *			entry and the inode of a name has one.
 *   struct se_file	an open file of an event: its poll condition and last-read
 *			value, and the waiter that ->poll arms.
 *   struct se_queue	a wait queue, the private data of its one file.
 *   struct se_entry	an entry of a queue. Lives from QUEUE_ADD until it is read,
 *			cancelled, or the queue is closed.
 *   struct se_waiter	what is parked on an event. Embedded in the stack frame of a
 *			sleeping call, in a se_file or in a se_entry.
 *   struct se_user	limits and counts of one user.
 *
 * The inode of an event
 *   Each event has one of its own, whose i_mapping is what a revoke zaps. Every
 *   holder holds the inode too, and lets it go after it has ceased to be a holder:
 *   se_event.inode is valid as long as there are holders, and for the last one
 *   still while it revokes.
 *   CREATE makes it in an internal file system. Nothing but the files refers to it,
 *   and it does not know its event.
 *   A name is an inode of synceventfs (fs.c) and its pinned dentry. i_private is
 *   the event, a reference that eviction drops. The name is a holder as long as
 *   i_nlink is not zero: unlink lets go, or eviction when the file system is
 *   unmounted, which nothing but names can outlive. What else keeps such an inode
 *   (O_PATH, a path walk) is no holder: who opens it then is told -EIDRM.
 *
 * Who ends a waiter
 *   A waiter is unlinked from its event exactly once, under the event lock, by
 *   whoever ends it: a judgement, a revoke, a deadline, a cancel or its owner.
 *   Being linked is the claim. A call that waits on several events needs a second
 *   one, struct se_wait.winner, taken by cmpxchg: the first satisfier wins. The
 *   owner of a waiter frees it only after it has held the event lock and found it
 *   unlinked (se_dequeue()), so ->fire() may touch it until that lock is dropped.
 *   A queue entry may be freed earlier, as soon as its ->fire() has completed it:
 *   nobody touches a waiter after ->fire().
 *
 * Who is woken
 *   ->fire() puts a task or a wait queue head into a struct se_batch, which is
 *   woken after the event lock is dropped. Tasks, files and queues stay valid till
 *   then because the whole pass is one RCU read-side section and they are freed
 *   after a grace period. A task may by then have returned from its wait: a
 *   spurious wake-up, as wake_q has them too.
 *
 * Lock order
 *   i_rwsem of a name and its directory	held by the VFS around create, unlink
 *   se_queue.mutex		cookies of a queue; held while completions are copied out
 *     folio lock of the cell's page	state LIVE -> REVOKED against the fault handler
 *       se_event.lock		waiters, hints, state, se_file
 *         se_queue.lock	completions of a queue
 *   se_user's table lock is a leaf. No wake-up runs under a spinlock of these.
 *   se_event.lock is taken with interrupts off: timers end queue entries.
 */
#ifndef SYNCEVENT_INTERNAL_H
#define SYNCEVENT_INTERNAL_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/syncevent.h>
#include <linux/syncevent_region.h>

#include "compat.h"

/* ---- waiters ---------------------------------------------------------------- */

/* Where a parked waiter is kept: se_class() explains. */
enum se_class {
	SE_GROW,	/* waits for value > key */
	SE_SHRINK,	/* waits for value < key */
	SE_EQUAL,	/* waits for value == key */
	SE_OTHER,	/* masked, NEQ, always true, or set aside */
};

struct se_batch;

/**
 * struct se_waiter - a condition parked on an event
 * @node: in the tree of its class
 * @link: in se_event.others
 * @ev: the event; constant while the waiter lives
 * @fire: called once, under the event lock, just after the waiter was unlinked.
 *	  @status is 0 or why it ended. Returns false if somebody else had ended
 *	  the wait already
 * @operand: right-hand side of the condition
 * @mask: of the condition
 * @key: threshold in the tree of its class; if @told, the value it was told of
 * @op: SYNCEVENT_COND_*
 * @class: enum se_class
 * @told: armed while its condition held, on a silent event: a look is no update,
 *	  so it is ended by another value only
 * @orphan: armed while a side on which the event depends was dead: wants to hear
 *	    that it is back
 * @async: no task sleeps on it that could look by itself
 * @queued: linked. Protected by the event lock, as are all but @ev and @fire
 */
struct se_waiter {
	union {
		struct rb_node node;
		struct list_head link;
	};
	struct se_event *ev;
	bool (*fire)(struct se_waiter *w, u64 value, int status,
		     struct se_batch *batch);
	u64 operand;
	u64 mask;
	u64 key;
	u8 op;
	u8 class;
	bool told;
	bool orphan;
	bool async;
	bool queued;
};

static inline u64 se_key(const struct rb_node *node)
{
	return rb_entry(node, struct se_waiter, node)->key;
}

/* Most waiters ended, and most others looked at, per hold of the event lock. */
#define SE_BATCH_MAX	32
#define SE_SCAN_MAX	256

/* Most holds of the lock for one publisher; the rest is left to a worker. */
#define SE_PASSES_MAX	64

/**
 * struct se_batch - whom to wake when the event lock is dropped
 * @n: number of items
 * @item: a task, or a wait queue head and how many of its exclusive waiters
 */
struct se_batch {
	unsigned int n;
	struct {
		struct task_struct *task;
		struct wait_queue_head *wq;
		int exclusive;
	} item[SE_BATCH_MAX];
};

/* ---- events ------------------------------------------------------------------ */

/**
 * struct se_event - an event
 * @lock: protects the waiters, @hint, @revoked, @wakes and the se_files
 * @grow: SE_GROW waiters, lowest key first
 * @shrink: SE_SHRINK waiters, highest key first
 * @equal: SE_EQUAL waiters by key
 * @others: SE_OTHER waiters, newest first, and cursors of judgements under way
 * @nr_others: waiters in @others
 * @nr_waiters: all parked waiters
 * @nr_async: those of them that are ->async
 * @revoked: the kernel's own state; the cell's copy is for spinners
 * @final: the value at its revocation, constant after it: who has pinned the page may
 *	   go on writing to it
 * @hint: the kernel's own copy of what it last wrote to the cell's hint
 * @wakes: waiters that a judgement satisfied
 * @rings: RING calls
 * @page: the page of the cell; of an event in a region what a mapping gets after its
 *	  revocation, if one asked
 * @cell: its kernel address. Shared with user space and not trusted
 * @asks: the hint of this side in it
 * @dead: a side on which it depends is dead
 * @slot: where it lies in a region, or NULL
 * @inode: of its files and its name; valid while @holders is not zero
 * @holders: open files, and one for the name
 * @ref: open files, queue entries, and one for the inode of the name
 * @nameless: made with O_TMPFILE and not linked since; protected by @lock
 * @id: for people
 * @flags: SYNCEVENT_CREATE_*
 * @publishers: SYNCEVENT_LOC_*
 * @subscribers: SYNCEVENT_LOC_*
 * @generation: as in the cell's state word
 * @user: who is charged for it
 * @work: looks at a silent event; wakes what a publisher left
 * @period: of @work on a silent event, microseconds; private to @work
 * @looked: value that @work saw last; private to @work
 * @looks: how often @work looked
 * @watched: @work comes again, and counts in se_user.looks; private to @work
 */
struct se_event {
	spinlock_t lock;	/* the waiters, and what is protected by it above */
	struct rb_root_cached grow;
	struct rb_root_cached shrink;
	struct rb_root equal;
	struct list_head others;
	unsigned int nr_others;
	unsigned int nr_waiters;
	unsigned int nr_async;
	bool revoked;
	u64 final;
	struct syncevent_hint hint;
	u64 wakes;
	atomic64_t rings;

	struct page *page;
	struct syncevent_cell *cell;
	struct syncevent_hint *asks;
	bool dead;
	struct se_slot *slot;
	struct inode *inode;
	atomic_t holders;
	struct kref ref;
	bool nameless;
	u64 id;
	u32 flags;
	u32 publishers;
	u32 subscribers;
	u32 generation;
	struct se_user *user;

	struct delayed_work work;
	u64 period;
	u64 looked;
	u64 looks;
	bool watched;
};

/**
 * struct se_file - an open file of an event
 * @ev: the event
 * @wq: pollers
 * @poll: armed by ->poll, one-shot. Queued or not, it holds the file's condition
 * @last: value last read through this file; protected by the event lock
 * @armed: ARM set the condition of @poll; else it is "differs from @last"
 * @rcu: a batch may still wake @wq
 */
struct se_file {
	struct se_event *ev;
	struct wait_queue_head wq;
	struct se_waiter poll;
	u64 last;
	bool armed;
	struct rcu_head rcu;
};

static inline bool se_silent(const struct se_event *ev)
{
	return READ_ONCE(ev->flags) & SYNCEVENT_CREATE_SILENT;
}

u64 se_slot_value(struct se_event *ev);

/* The value as anybody may have left it. */
static inline u64 se_value(struct se_event *ev)
{
	if (ev->slot)
		return se_slot_value(ev);
	/* Pairs with the releases of publishers: their data comes with the value. */
	return smp_load_acquire(&ev->cell->value);
}

/* ---- main.c: device, parameters, ioctl dispatch ------------------------------- */

extern unsigned int se_silent_min_us;
extern unsigned int se_silent_max_us;
extern struct workqueue_struct *se_workqueue;

/**
 * struct se_ioctl - a command of a file
 * @cmd: SYNCEVENT_IOC_*
 * @fn: gets the kernel's copy of the structure
 * @answers_dead: the structure is copied out on -EIDRM too
 */
struct se_ioctl {
	unsigned int cmd;
	long (*fn)(struct file *file, void *arg);
	bool answers_dead;
};

long se_ioctl_dispatch(struct file *file, unsigned int cmd, unsigned long arg,
		       const struct se_ioctl *table, unsigned int n);

/* ---- event.c: events ------------------------------------------------------------ */

#define SE_FS_MAGIC	0x53594e45	/* "SYNE": both file systems */

extern struct vfsmount *se_mnt;

int se_fs_pin(void);
void se_fs_unpin(void);
bool se_create_valid(const struct syncevent_create *create);
struct se_event *se_event_alloc(const struct syncevent_create *create,
				struct inode *inode, struct se_slot *slot);
void se_event_cell(struct se_event *ev, struct syncevent_cell *cell, u16 side);
void se_event_put(struct se_event *ev);
bool se_event_hold(struct se_event *ev);
void se_event_unhold(struct se_event *ev);
int se_revoke(struct se_event *ev);

/* ---- fs.c: names --------------------------------------------------------------------- */

extern struct file_system_type se_names_type;

/* ---- file.c: open files of events ------------------------------------------------- */

extern const struct file_operations se_event_fops;

struct file *se_file_open(struct se_event *ev, struct vfsmount *mnt, int flags);
long se_event_create(struct file *device, void *arg);
struct file *se_event_fget(int fd);
struct se_event *se_file_event(struct file *file);

/* ---- poll.c: their poll condition -------------------------------------------------- */

void se_poll_init(struct se_file *f);
long se_event_arm(struct file *file, void *arg);
ssize_t se_event_read_iter(struct kiocb *iocb, struct iov_iter *to);
__poll_t se_event_poll(struct file *file, struct poll_table_struct *pt);

/* ---- waiter.c: conditions, and who is parked in which order -------------------------- */

bool se_cond_valid(u32 op);
bool se_holds(const struct se_waiter *w, u64 value);
void se_waiter_set(struct se_waiter *w, u32 op, u64 operand, u64 mask);
void se_waiter_aside(struct se_waiter *w);
void se_waiter_told(struct se_waiter *w, u64 value);
bool se_waiter_back(struct se_waiter *w);
void se_insert(struct se_waiter *w);
void se_unlink(struct se_waiter *w);
struct se_waiter *se_due(struct se_event *ev, u64 value);

/* ---- engine.c: parking, judging, waking ------------------------------------------ */

void se_engine_init(struct se_event *ev);
void se_engine_exit(struct se_event *ev);
void se_hint_update(struct se_event *ev);
int se_enqueue(struct se_waiter *w, bool look_only, u64 *value);
bool se_dequeue(struct se_waiter *w, u64 *value);
bool se_expire(struct se_waiter *w);
void se_publish(struct se_event *ev, u64 value);
void se_judge(struct se_event *ev);
void se_judge_once(struct se_event *ev);
void se_judge_sides(struct se_event *ev);
void se_end_all(struct se_event *ev, int status);
void se_event_dead(struct se_event *ev, bool dead);
void se_look_soon(struct se_event *ev);
void se_batch_task(struct se_batch *batch, struct task_struct *task);
void se_batch_wq(struct se_batch *batch, struct wait_queue_head *wq, int exclusive);
u64 se_silent_period(u64 us);

/* ---- wait.c: calls that sleep ------------------------------------------------------ */

clockid_t se_clock(u32 flags);
ktime_t se_deadline(u64 ns, u32 flags);
int se_wait_cond(struct se_event *ev, u32 op, u64 operand, u64 mask,
		 ktime_t deadline, clockid_t clock, u64 *value);
long se_wait_many(struct file *file, void *arg);

/* ---- queue.c, mmap.c ---------------------------------------------------------------- */

long se_queue_create(struct file *file, void *arg);
struct page *se_revoked_page(const struct se_event *ev);
int se_mmap(struct file *file, struct vm_area_struct *vma);

/* ---- slot.c: events in memory that is shared with other machines (region.h) ----------- */

struct se_slot;

void se_slot_free_event(struct se_event *ev);
void se_event_free_now(struct se_event *ev);
void se_slot_info(const struct se_slot *slot, struct syncevent_info *info);
int se_slot_set(struct se_event *ev, u64 value);
int se_slot_add(struct se_event *ev, u64 n, u64 *old);
bool se_slot_imported(const struct se_slot *slot);
void se_slot_publish(struct se_event *ev, u64 value);
void se_slot_revoke_lock(struct se_slot *slot);
void se_slot_revoke_unlock(struct se_slot *slot);
bool se_slot_revoking(struct se_event *ev);
void se_slot_ended(struct se_event *ev);
long se_event_export(struct file *file, void *arg);
long se_event_name(struct file *file, void *arg);
int se_ivshmem_init(void);
void se_ivshmem_exit(void);
vm_fault_t se_slot_fault(struct se_event *ev, struct vm_fault *vmf);
int se_slot_mmap(struct se_event *ev, struct vm_area_struct *vma);

/* ---- user.c: limits ------------------------------------------------------------------- */

/**
 * struct se_user - what one user has
 * @node: in the table
 * @uid: the user, in no namespace
 * @refs: protected by the table lock
 * @events: events that it created
 * @entries: entries of the queues that it created
 * @looks: silent events that it created, at which a worker looks periodically
 */
struct se_user {
	struct hlist_node node;
	kuid_t uid;
	unsigned int refs;
	atomic_t events;
	atomic_t entries;
	atomic_t looks;
};

extern unsigned int se_events_max;
extern unsigned int se_entries_max;

struct se_user *se_user_get(void);
void se_user_put(struct se_user *user);
bool se_user_charge(atomic_t *count, unsigned int max);
void se_user_uncharge(atomic_t *count);

#endif /* SYNCEVENT_INTERNAL_H */
