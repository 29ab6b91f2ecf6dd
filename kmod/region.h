/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events between machines: objects, lifetimes and locks
 *
 * Objects
 *   struct se_region	PCIe memory shared with other machines ("sides"), of which this
 *			one is se_region.side. Lives until its device is unbound and the
 *			last slot of it is gone.
 *   struct se_peer	what this machine knows of another side.
 *   struct se_slot	what an event has more if its cell lies in a region. Made here
 *			(own) or imported; one se_event for each slot and machine.
 *   struct se_transport	how this machine reaches the memory and rings the others.
 *
 * The memory is written by all sides; nothing read from it is trusted. Its geometry is
 * copied once. Each word has one writer, but the values of cells: so no read-modify-
 * write crosses machines but the one of an add.
 *
 * The life of a slot, in the descriptor that its creator alone writes
 *   FREE -> LIVE	create. The generation is one more than the last time.
 *   LIVE -> REVOKED	se_revoke() by the creator. Each side that sees it zaps its
 *			mappings, ends its waits, and acknowledges the generation.
 *   REVOKED -> DRAIN	the creator itself keeps nothing of it.
 *   DRAIN -> FREE	each other side has acknowledged, or has attached anew since.
 * A side that attaches anew can know of no slot of before: it resets its hint in all,
 * and puts its own into DRAIN under the next generation, before its epoch says so.
 *
 * An import enters the table under se_region.lock, then reads the descriptor again
 * after a full barrier, and undoes itself unless it is as it was. The acknowledgment is
 * given under the same lock: of REVOKED, an import sees it or is seen.
 *
 * Lock order, below what internal.h has
 *   se_region.lock		table, bitmaps, descriptors of own slots, peers
 *     se_region.faults		read: a page table entry is made; write: state of an event
 *   se_peer.take		the ring from that side
 *     se_event.lock
 *   se_peer.lock		the ring to that side; under no other but se_region.lock
 *   se_region.rate		what other machines cost this one; last
 */
#ifndef SYNCEVENT_REGION_INT_H
#define SYNCEVENT_REGION_INT_H

#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>

#include "geometry.h"
#include "internal.h"

struct se_region;

/**
 * struct se_transport - what a driver does for a region
 * @direct_atomics: read-modify-writes of a CPU on the memory are atomic towards
 *		    every other side
 * @doorbells: @ring reaches the other sides. Else events are SILENT
 * @ring: ring what a side calls its doorbell, from any context
 * @mask: hold this side's own doorbell back, or no longer; from any context
 * @unmap: the region is no longer used
 *
 * The driver maps the memory write-back, as user space maps it too, calls
 * se_region_irq() when its doorbell rings, and fills se_region.address and .doorbell.
 */
struct se_transport {
	bool direct_atomics;
	bool doorbells;
	void (*ring)(struct se_region *region, u32 doorbell);
	void (*mask)(struct se_region *region, bool mask);
	void (*unmap)(struct se_region *region);
};

/**
 * struct se_peer - another side
 * @lock: the ring to it
 * @take: the ring from it
 * @epoch: last seen, 0: not attached
 * @heartbeat: last seen
 * @seen: when it was seen to change, jiffies
 * @excused: the heartbeat after which it got another time-out, since this side slept
 * @alive: seen attached, and its heart beats
 * @dead: the epoch under which it was declared dead: it is as long as it shows that
 * @tail: of the ring to it
 * @overflow: of the ring to it
 * @head: of the ring from it
 * @dropped: its overflow, as far as it was heard of
 * @rung: doorbells rung there
 */
struct se_peer {
	spinlock_t lock;	/* the ring to it */
	spinlock_t take;	/* the ring from it */
	u64 epoch;
	u64 heartbeat;
	unsigned long seen;
	u64 excused;
	bool alive;
	u64 dead;
	u32 tail;
	u32 overflow;
	u32 head;
	u32 dropped;
	atomic64_t rung;
};

/**
 * enum se_peer_change - what became of a side, as trace.h has it
 * @SE_PEER_ATTACHED: this one, with a new epoch
 * @SE_PEER_DETACHED: this one ended all that it has of the region
 * @SE_PEER_FENCED: this one finds that another declared it dead
 * @SE_PEER_CAME: se_peer.alive became true
 * @SE_PEER_LEFT: it became false: that side detached, or attached anew
 * @SE_PEER_DIED: it became false: no heartbeat
 */
enum se_peer_change {
	SE_PEER_ATTACHED,
	SE_PEER_DETACHED,
	SE_PEER_FENCED,
	SE_PEER_CAME,
	SE_PEER_LEFT,
	SE_PEER_DIED,
};

enum {
	SE_JUDGE_ALL,	/* notifications were lost */
};

/* What other machines may have this one do within a jiffy: interrupts and entries. */
#define SE_LOOKS_MAX	(200 * MSEC_PER_SEC / HZ)

/**
 * struct se_region - memory shared with other machines
 * @ref: the device, and each slot
 * @parent: the PCI device
 * @misc: /dev/syncevent_pciN
 * @number: its N
 * @transport: how to reach the others
 * @registers: of the transport
 * @irq: of its doorbell, if it has one
 * @base: the memory
 * @phys: its physical address
 * @len: its length
 * @doorbell: what the transport calls this side
 * @address: own PCI address
 * @sides: of a region that this side formats
 * @configured: the side is not a mere guess
 * @geo: geometry, copied once
 * @id: names the region
 * @format_epoch: of the format that this side attached to
 * @side: index of this side
 * @epoch: of this side; 0 while it is not attached
 * @heartbeat: of this side
 * @lock: see above
 * @faults: see above
 * @table: event of each slot, own or imported; RCU
 * @generation: newest of each own slot
 * @used: slots of this creator that are not FREE
 * @pages: payload pages of this creator that are taken
 * @told: slots that others say have ended
 * @drain: own slots that wait for acknowledgments
 * @peer: of each side
 * @beat: the heartbeat: no work that takes long holds it up
 * @tick: attaching, deaths, and what else is looked at now and then
 * @ticked: when it last looked for deaths, jiffies
 * @follow: what other sides have ended
 * @work: rings, where an interrupt had too many, and SE_JUDGE_ALL
 * @todo: SE_JUDGE_ALL
 * @irqs: doorbells that rang here
 * @rate: see above
 * @window: the jiffy of @looks
 * @looks: interrupts and entries in @window
 * @polled: they were too many: the doorbell is masked, and @work comes soon
 * @masked: how often it was
 * @first: side whose ring is looked at first
 * @failed: why it could not attach; told once
 * @gone: the device is unbound
 */
struct se_region {
	struct kref ref;
	struct device *parent;
	struct miscdevice misc;
	int number;
	const struct se_transport *transport;
	void __iomem *registers;
	int irq;
	void *base;
	phys_addr_t phys;
	u64 len;
	u32 doorbell;
	u32 address;
	u32 sides;
	bool configured;

	struct se_geometry geo;
	u64 id[2];
	u64 format_epoch;
	u32 side;
	u64 epoch;
	u64 heartbeat;

	struct mutex lock;	/* see above */
	struct rw_semaphore faults;	/* see above */
	struct se_event __rcu **table;
	u32 *generation;
	unsigned long *used;
	unsigned long *pages;
	unsigned long *told;
	struct list_head drain;
	struct se_peer peer[SYNCEVENT_SIDES_MAX];

	struct timer_list beat;
	struct delayed_work tick;
	unsigned long ticked;
	struct delayed_work follow;
	struct delayed_work work;
	unsigned long todo;
	atomic64_t irqs;
	spinlock_t rate;	/* see above */
	unsigned long window;
	unsigned int looks;
	bool polled;
	u32 masked;
	u32 first;
	int failed;
	bool gone;
};

/**
 * struct se_slot - the part of an event that lies in a region
 * @region: a reference
 * @ref: the event, and the list of those that drain
 * @link: in se_region.drain
 * @index: of the slot
 * @generation: of the slot
 * @owner: side that created it
 * @home: side where it is waited for
 * @cell_flags: SYNCEVENT_CELL_*
 * @import: another side created it
 * @update: an import gives the right to update
 * @payload: first page
 * @pages: number of pages
 * @home_epoch: of @home when whoever waits here began to count on it; 0: not attached
 * @updaters: other sides that were seen to have imported it with the right to update
 * @seen: last value, for when the memory is gone
 * @mnt: file system of the inode; a reference of the table, and of each hold
 * @ev: to be freed
 * @free: frees it after a grace period
 * @epoch: of each side when it was revoked
 */
struct se_slot {
	struct se_region *region;
	struct kref ref;
	struct list_head link;
	u32 index;
	u32 generation;
	u8 owner;
	u8 home;
	u16 cell_flags;
	bool import;
	bool update;
	u32 payload;
	u32 pages;
	u64 home_epoch;
	u64 updaters;
	u64 seen;
	struct vfsmount *mnt;
	struct se_event *ev;
	struct rcu_work free;
	u64 epoch[];
};

/* ---- the memory ------------------------------------------------------------------ */

static inline struct syncevent_region_side *se_side(struct se_region *r, u32 side)
{
	return r->base + r->geo.side + side * sizeof(struct syncevent_region_side);
}

static inline struct syncevent_region_desc *se_desc(struct se_region *r, u32 slot)
{
	return r->base + r->geo.desc + slot * sizeof(struct syncevent_region_desc);
}

static inline struct syncevent_region_ack *se_ack(struct se_region *r, u32 side, u32 slot)
{
	return r->base + r->geo.ack + side * r->geo.ack_stride +
	       slot * sizeof(struct syncevent_region_ack);
}

static inline struct syncevent_region_ring *se_ring(struct se_region *r, u32 from, u32 to)
{
	return r->base + r->geo.ring +
	       (from * r->geo.sides + to) * SYNCEVENT_REGION_PAGE;
}

static inline u64 se_slot_offset(const struct se_region *r, u32 slot)
{
	return r->geo.slot + ((u64)slot << r->geo.slot_shift);
}

static inline struct syncevent_cell *se_slot_cell(struct se_region *r, u32 slot)
{
	return r->base + se_slot_offset(r, slot);
}

/* Beyond the third they follow behind the cell. */
static inline struct syncevent_hint *se_cell_hint(struct syncevent_cell *cell, u32 side)
{
	return (struct syncevent_hint *)((char *)cell +
		offsetof(struct syncevent_cell, hint)) + side;
}

/* Slots are split by home and, within that, by creator. */
static inline u32 se_slot_part(const struct se_region *r, u32 slot)
{
	return slot / (r->geo.slots / (r->geo.sides * r->geo.sides));
}

static inline u32 se_slot_owner(const struct se_region *r, u32 slot)
{
	return se_slot_part(r, slot) % r->geo.sides;
}

static inline u32 se_state(u32 generation, u32 state)
{
	return generation << SYNCEVENT_STATE_GEN_SHIFT | state;
}

/* Attached: the geometry and the table are there. */
static inline bool se_attached(const struct se_region *r)
{
	return smp_load_acquire(&r->epoch);	/* pairs with se_region_attach() */
}

/* Declared dead, and it has not attached anew: it counts for nothing. */
static inline bool se_peer_dead(struct se_region *r, u32 side)
{
	/* One word: two could be of two lives, and a side that is back would not be rung. */
	u64 dead = READ_ONCE(r->peer[side].dead);

	return dead && READ_ONCE(se_side(r, side)->epoch) == dead;
}

/* Payload pages, of an own slot: its numbers are this kernel's. */
static inline void *se_slot_payload(const struct se_slot *slot)
{
	return slot->region->base + slot->region->geo.payload +
	       (u64)slot->payload * SYNCEVENT_REGION_PAGE;
}

#define SE_GENERATION_MASK	GENMASK(SE_GENERATION_BITS - 1, 0)

static inline u32 se_next_generation(u32 generation)
{
	return ((generation + 1) & SE_GENERATION_MASK) ?: 1;
}

/* Tell the creator what this side has of its slot: it depends on the last who updates. */
static inline void se_ack_import(const struct se_slot *slot, u32 rights)
{
	struct se_region *r = slot->region;

	WRITE_ONCE(se_ack(r, r->side, slot->index)->import,
		   rights ? slot->generation << 2 | rights : 0);
}

/* ---- region.c: sides ----------------------------------------------------------------- */

extern unsigned int se_peer_timeout_ms;
extern struct workqueue_struct *se_region_workqueue;

struct se_region *se_region_alloc(struct device *parent,
				  const struct se_transport *transport);
void se_region_put(struct se_region *r);
int se_region_add(struct se_region *r);
void se_region_remove(struct se_region *r);
bool se_peer_gone(struct se_region *r, u32 side);
void se_region_lost(struct se_region *r, struct se_event *ev, u64 died);

/* ---- slot.c: slots -------------------------------------------------------------------- */

struct se_slot *se_slot_alloc(struct se_region *r);
void se_slot_put(struct se_slot *slot);
void se_table_leave(struct se_event *ev);
struct se_event *se_slot_hold(struct se_region *r, u32 index);
void se_slot_unhold(struct se_event *ev);
struct se_event *se_slots_next(struct se_region *r, u32 *index);
int se_slot_make(struct se_event *ev, u64 value);
struct se_event *se_slot_enter(struct se_event *fresh, bool update);
void se_slot_seen(struct se_region *r, u32 index, u32 generation);
int se_slots_init(struct se_region *r);
void se_slots_free(struct se_region *r);
void se_slots_judge(struct se_region *r);

/* ---- export.c: who else may have them -------------------------------------------------- */

int se_slot_export(struct se_event *ev, u32 right, struct syncevent_blob *blob);
int se_slot_name(struct se_event *ev, const char *name, u32 rights);
int se_slot_find(struct se_region *r, const char *name, u32 *generation);
int se_slot_check(struct se_region *r, u32 index, u32 generation, const u8 *key,
		  const char *name, struct syncevent_region_desc *desc);

/* ---- drain.c: the end of slots ------------------------------------------------------------ */

void se_slots_follow(struct se_region *r, bool told);
void se_slots_drain(struct se_region *r);
void se_slots_mourn(struct se_region *r, u64 died);
void se_slots_end(struct se_region *r);
void se_slots_forget(struct se_region *r);
int se_slots_rest(struct se_region *r);

/* ---- pci.c: /dev/syncevent_pciN --------------------------------------------------------- */

int se_pci_register(struct se_region *r);
void se_pci_unregister(struct se_region *r);

/* ---- sysfs.c: its attributes ------------------------------------------------------------ */

extern const struct attribute_group *se_pci_groups[];

/* ---- ring.c: notifications ------------------------------------------------------------- */

void se_ring_side(struct se_region *r, u32 side, u32 slot, u32 generation);
void se_ring_reset(struct se_region *r, u32 side);
void se_region_charge(struct se_region *r, unsigned int looks);
void se_region_resume(struct se_region *r);
bool se_region_take(struct se_region *r);
void se_region_irq(struct se_region *r);

#endif /* SYNCEVENT_REGION_INT_H */
