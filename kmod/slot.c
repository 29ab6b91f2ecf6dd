// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: events whose cells lie in a region. Making and importing them, updating them,
 * telling other machines of updates. Who may import them is in export.c, their end in drain.c.
 */
#include <linux/bitmap.h>
#include <linux/mount.h>
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

/* ---- slot objects --------------------------------------------------------------------- */

/**
 * se_slot_alloc() - the part of an event that lies in a region
 * @r: the region; the slot takes a reference
 */
struct se_slot *se_slot_alloc(struct se_region *r)
{
	struct se_slot *slot = kzalloc(struct_size(slot, epoch, r->geo.sides),
				       GFP_KERNEL_ACCOUNT);

	if (!slot)
		return NULL;
	kref_init(&slot->ref);
	INIT_LIST_HEAD(&slot->link);
	kref_get(&r->ref);
	slot->region = r;
	return slot;
}

static void se_slot_free_work(struct work_struct *work)
{
	struct se_slot *slot = container_of(to_rcu_work(work), struct se_slot, free);

	se_event_free_now(slot->ev);
	se_slot_put(slot);
}

/**
 * se_slot_free_event() - free an event and drop its slot
 * @ev: an event with a slot, which is in no table any more
 *
 * An interrupt may have found it there before.
 */
void se_slot_free_event(struct se_event *ev)
{
	struct se_slot *slot = ev->slot;

	slot->ev = ev;
	INIT_RCU_WORK(&slot->free, se_slot_free_work);
	queue_rcu_work(se_region_workqueue, &slot->free);
}

static void se_slot_release(struct kref *ref)
{
	struct se_slot *slot = container_of(ref, struct se_slot, ref);

	se_region_put(slot->region);
	kfree(slot);
}

/**
 * se_slot_put() - drop a reference
 * @slot: from se_slot_alloc()
 */
void se_slot_put(struct se_slot *slot)
{
	kref_put(&slot->ref, se_slot_release);
}

/* The event, its inode, and the file system of that, which may be going otherwise. */
static void se_slot_get_all(struct se_event *ev)
{
	kref_get(&ev->ref);
	ihold(ev->inode);
	mntget(ev->slot->mnt);
}

static void se_slot_put_all(struct se_event *ev)
{
	struct vfsmount *mnt = ev->slot->mnt;

	iput(ev->inode);
	mntput(mnt);
	se_event_put(ev);
}

/* The table has references of its own: who finds the event there can take more. */
static void se_table_enter(struct se_event *ev)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;

	lockdep_assert_held(&r->lock);

	slot->mnt = se_mnt;	/* the caller has the device open */
	se_slot_get_all(ev);
	rcu_assign_pointer(r->table[slot->index], ev);
}

/**
 * se_table_leave() - an event is in the table no more
 * @ev: which the caller has taken out of it, and to which it has references itself
 *
 * Context: not under the lock of the region.
 */
void se_table_leave(struct se_event *ev)
{
	se_slot_put_all(ev);
}

/**
 * se_slot_hold() - the event of a slot, as one more holder
 * @r: the region
 * @index: of the slot
 *
 * Return: the event, with a reference to it, to its inode and to the file system of
 * that; or NULL.
 */
struct se_event *se_slot_hold(struct se_region *r, u32 index)
{
	struct se_event *ev;

	lockdep_assert_held(&r->lock);

	ev = rcu_dereference_protected(r->table[index], lockdep_is_held(&r->lock));
	if (!ev || !se_event_hold(ev))
		return NULL;
	se_slot_get_all(ev);
	return ev;
}

/**
 * se_slots_next() - go over the events of a region
 * @r: the region
 * @index: from which slot on; gets the one after that of the event
 *
 * Return: an event, held, or NULL when there are no more.
 */
struct se_event *se_slots_next(struct se_region *r, u32 *index)
{
	struct se_event *ev = NULL;

	while (!ev && *index < r->geo.slots) {
		cond_resched();
		if (rcu_access_pointer(r->table[*index])) {
			mutex_lock(&r->lock);
			ev = se_slot_hold(r, *index);
			mutex_unlock(&r->lock);
		}
		++*index;
	}
	return ev;
}

/** se_slot_unhold() - undo se_slot_hold(), which may end the event */
void se_slot_unhold(struct se_event *ev)
{
	se_event_unhold(ev);
	se_slot_put_all(ev);
}

/**
 * se_slots_init() - tables for the geometry of a region
 * @r: a region with no event
 *
 * Return: 0, -ENOMEM.
 */
int se_slots_init(struct se_region *r)
{
	se_slots_free(r);
	r->table = kvcalloc(r->geo.slots, sizeof(*r->table), GFP_KERNEL);
	r->generation = kvcalloc(r->geo.slots, sizeof(*r->generation), GFP_KERNEL);
	r->used = bitmap_zalloc(r->geo.slots, GFP_KERNEL);
	/* Of this side's share; it can be more than kmalloc() gives. */
	r->pages = kvcalloc(BITS_TO_LONGS(r->geo.payload_pages / r->geo.sides + 1),
			    sizeof(*r->pages), GFP_KERNEL);
	r->told = bitmap_zalloc(r->geo.slots, GFP_KERNEL);
	if (r->table && r->generation && r->used && r->pages && r->told)
		return 0;
	se_slots_free(r);
	return -ENOMEM;
}

/**
 * se_slots_free() - undo se_slots_init()
 * @r: a region with no event
 */
void se_slots_free(struct se_region *r)
{
	kvfree(r->table);
	r->table = NULL;
	kvfree(r->generation);
	r->generation = NULL;
	bitmap_free(r->used);
	r->used = NULL;
	kvfree(r->pages);
	r->pages = NULL;
	bitmap_free(r->told);
	r->told = NULL;
}

/* ---- what the rest of the module asks ------------------------------------------------- */

/**
 * se_slot_info() - what INFO says of a slot
 * @slot: of an event
 * @info: to be completed
 */
void se_slot_info(const struct se_slot *slot, struct syncevent_info *info)
{
	info->side = slot->region->side;
	info->sides = slot->region->geo.sides;
	info->home = slot->home;
	info->pages = slot->pages;
	if (slot->import)
		info->flags |= SYNCEVENT_INFO_IMPORT;
	if (slot->cell_flags & SYNCEVENT_CELL_NO_REMOTE_ADD)
		info->flags |= SYNCEVENT_INFO_NO_REMOTE_ADD;
}

/**
 * se_slot_imported() - did another side create it?
 * @slot: of an event
 */
bool se_slot_imported(const struct se_slot *slot)
{
	return slot->import;
}

/**
 * se_slot_value() - the value, if the memory is still there
 * @ev: an event with a slot
 *
 * A device that was pulled out reads as all ones, which would satisfy whoever waits
 * for more. Return: the value, or the last that was seen.
 */
u64 se_slot_value(struct se_event *ev)
{
	struct syncevent_region_header *header = ev->slot->region->base;
	u64 value;

	/* Nobody looks at memory that may be another's, or no memory any more. */
	if (smp_load_acquire(&ev->revoked))	/* pairs with se_revoke() */
		return ev->final;
	/* Pairs with the releases of publishers: their data comes with the value. */
	value = virt_load_acquire(&ev->cell->value);
	if (value == U64_MAX && READ_ONCE(header->magic) == U64_MAX)
		return READ_ONCE(ev->slot->seen);
	WRITE_ONCE(ev->slot->seen, value);
	return value;
}

/*
 * The memory of a revoked event may be another's soon: the state is looked at and the
 * value updated without a revocation between them. Whom the update wakes is looked for
 * afterwards: that can take long, and all revocations of the region wait for this.
 */
static int se_slot_update_begin(struct se_event *ev)
{
	struct se_region *r = ev->slot->region;

	down_read(&r->faults);
	if (!READ_ONCE(ev->revoked))
		return 0;
	up_read(&r->faults);
	return -EIDRM;
}

static void se_slot_update_end(struct se_event *ev)
{
	up_read(&ev->slot->region->faults);
}

/**
 * se_slot_set() - SET of an event with a slot
 * @ev: the event
 * @value: the new value
 *
 * Return: 0, -EIDRM.
 */
int se_slot_set(struct se_event *ev, u64 value)
{
	int ret = se_slot_update_begin(ev);

	if (ret)
		return ret;
	/* A store, for memory on which other operations are not atomic. */
	virt_store_release(&ev->cell->value, value);
	virt_mb();	/* SE-A */
	se_slot_update_end(ev);
	se_publish(ev, value);
	return 0;
}

/*
 * Atomic towards other machines: a kernel that runs on one CPU drops the lock prefix of
 * atomic64_fetch_add(), and this one keeps it.
 */
static u64 se_slot_fetch_add(struct se_event *ev, u64 n)
{
#ifdef CONFIG_X86
	asm volatile("lock xaddq %0, %1"
		     : "+r" (n), "+m" (ev->cell->value) : : "memory", "cc");
	return n;
#else
	return atomic64_fetch_add(n, (atomic64_t *)&ev->cell->value);
#endif
}

/**
 * se_slot_add() - ADD to an event with a slot
 * @ev: the event
 * @n: what
 * @old: gets the value before
 *
 * Return: 0, -EIDRM, -EOPNOTSUPP if that is not atomic from here.
 */
int se_slot_add(struct se_event *ev, u64 n, u64 *old)
{
	int ret;

	if (ev->slot->cell_flags & SYNCEVENT_CELL_NO_REMOTE_ADD &&
	    ev->slot->home != ev->slot->region->side)
		return -EOPNOTSUPP;
	ret = se_slot_update_begin(ev);
	if (ret)
		return ret;
	*old = se_slot_fetch_add(ev, n);	/* SE-A */
	se_slot_update_end(ev);
	se_publish(ev, *old + n);
	return 0;
}

/**
 * se_slot_revoke_lock() - no page table entry is made while the state changes
 * @slot: of the event
 */
void se_slot_revoke_lock(struct se_slot *slot)
{
	down_write(&slot->region->faults);
}

/** se_slot_revoke_unlock() - undo se_slot_revoke_lock() */
void se_slot_revoke_unlock(struct se_slot *slot)
{
	up_write(&slot->region->faults);
}

/* ---- own slots ------------------------------------------------------------------------- */

/* A free slot of this creator for that home, and payload pages. */
static int se_slot_reserve(struct se_slot *slot)
{
	struct se_region *r = slot->region;
	u32 share = r->geo.slots / (r->geo.sides * r->geo.sides);
	u32 first = (slot->home * r->geo.sides + r->side) * share;
	u32 pages = r->geo.payload_pages / r->geo.sides;
	unsigned long index, page = 0;

	lockdep_assert_held(&r->lock);

	index = find_next_zero_bit(r->used, first + share, first);
	if (index >= first + share)
		return -ENOSPC;
	if (slot->pages) {
		page = bitmap_find_next_zero_area(r->pages, pages, 0, slot->pages, 0);
		if (page >= pages)
			return -ENOSPC;
		bitmap_set(r->pages, page, slot->pages);
	}
	__set_bit(index, r->used);
	slot->index = index;
	slot->payload = r->side * pages + page;
	slot->generation = se_next_generation(r->generation[index]);
	r->generation[index] = slot->generation;
	return 0;
}

/* Whoever had the slot before may have written what it liked to this side's hint. */
static void se_slot_hint_rest(const struct se_event *ev)
{
	WRITE_ONCE(ev->asks->wake_above, SYNCEVENT_WAKE_NONE);
	WRITE_ONCE(ev->asks->flags, 0);
	WRITE_ONCE(ev->asks->deaths, 0);
}

/* Nobody else can have been told of this slot yet. */
static void se_slot_write(struct se_slot *slot, const struct se_event *ev, u64 value)
{
	struct se_region *r = slot->region;
	struct syncevent_region_desc *desc = se_desc(r, slot->index);
	struct syncevent_cell *cell = se_slot_cell(r, slot->index);
	size_t end = offsetof(struct syncevent_cell, hint) +
		     r->geo.sides * sizeof(struct syncevent_hint);

	memset((char *)cell + end, 0, SYNCEVENT_REGION_PAGE - end);
	WRITE_ONCE(cell->value, value);
	cell->sides = r->geo.sides;
	cell->flags = slot->cell_flags;
	se_slot_hint_rest(ev);
	WRITE_ONCE(cell->state, se_state(slot->generation, SYNCEVENT_STATE_LIVE));

	desc->flags = slot->cell_flags;
	desc->publishers = ev->publishers;
	desc->subscribers = ev->subscribers;
	desc->payload_first = slot->payload;
	desc->payload_pages = slot->pages;
	desc->exported = 0;
	desc->name_rights = 0;
	memset(desc->name, 0, sizeof(desc->name));
	get_random_bytes(desc->key, sizeof(desc->key));
	/* All of it is there for who sees this; pairs with se_slot_enter(). */
	virt_store_release(&desc->state, se_state(slot->generation, SYNCEVENT_STATE_LIVE));
}

/**
 * se_slot_make() - give an event a slot of this side
 * @ev: an event with a slot that has its home and number of pages
 * @value: the first
 *
 * Return: 0, and the caller has what se_slot_hold() gives; -ENODEV, -ENOSPC.
 */
int se_slot_make(struct se_event *ev, u64 value)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;
	int ret = -ENODEV;

	mutex_lock(&r->lock);
	if (!r->epoch)
		goto out;
	slot->owner = r->side;
	slot->home_epoch = READ_ONCE(se_side(r, slot->home)->epoch);
	slot->cell_flags = (se_silent(ev) ? SYNCEVENT_CELL_SILENT : 0) |
			   (r->transport->direct_atomics ? 0 :
			    SYNCEVENT_CELL_NO_REMOTE_ADD);
	ret = se_slot_reserve(slot);
	if (ret)
		goto out;
	ev->generation = slot->generation;
	se_event_cell(ev, se_slot_cell(r, slot->index), r->side);
	se_slot_write(slot, ev, value);
	se_table_enter(ev);
	mntget(slot->mnt);
out:
	mutex_unlock(&r->lock);
	return ret;
}

/* ---- imports ----------------------------------------------------------------------------- */

/**
 * se_slot_enter() - the event of an imported slot
 * @fresh: an event with a slot that has index and generation, if there is none yet
 * @update: the import gives the right to update
 *
 * Return: @fresh, now in the table, or the event that is there already, as from
 * se_slot_hold(); or -EIDRM, -ENODEV, -EAGAIN if one is about to go.
 */
struct se_event *se_slot_enter(struct se_event *fresh, bool update)
{
	struct se_slot *slot = fresh->slot;
	struct se_region *r = slot->region;
	struct se_event *ev;
	int ret = -ENODEV;

	mutex_lock(&r->lock);
	if (!r->epoch)
		goto err;
	if (rcu_access_pointer(r->table[slot->index])) {
		/* An own one comes in no other generation. */
		ret = slot->owner == r->side ? -EIDRM : -EAGAIN;
		ev = se_slot_hold(r, slot->index);
		if (!ev)
			goto err;
		if (ev->generation == fresh->generation && !READ_ONCE(ev->revoked)) {
			if (update && ev->slot->import && !ev->slot->update) {
				ev->slot->update = true;
				se_ack_import(ev->slot, SYNCEVENT_RIGHT_READ |
							SYNCEVENT_RIGHT_UPDATE);
			}
			mutex_unlock(&r->lock);
			return ev;
		}
		mutex_unlock(&r->lock);
		se_slot_unhold(ev);
		return ERR_PTR(ret);
	}

	slot->import = true;
	slot->update = update;
	slot->home_epoch = READ_ONCE(se_side(r, slot->home)->epoch);
	/* What this side has not made is not its own, whatever the descriptor says. */
	ret = -EIDRM;
	if (slot->owner == r->side)
		goto err;
	se_slot_hint_rest(fresh);
	se_table_enter(fresh);
	WRITE_ONCE(se_ack(r, r->side, slot->index)->gone, 0);
	se_ack_import(slot, SYNCEVENT_RIGHT_READ | (update ? SYNCEVENT_RIGHT_UPDATE : 0));
	/* A creator that revokes writes the state, then reads who has attached: RE-A. */
	virt_mb();
	ret = -EIDRM;
	if (READ_ONCE(se_desc(r, slot->index)->state) ==
	    se_state(slot->generation, SYNCEVENT_STATE_LIVE)) {
		mntget(slot->mnt);
		mutex_unlock(&r->lock);
		return fresh;
	}
	RCU_INIT_POINTER(r->table[slot->index], NULL);
	se_ack_import(slot, 0);
	mutex_unlock(&r->lock);
	se_table_leave(fresh);
	return ERR_PTR(ret);
err:
	mutex_unlock(&r->lock);
	return ERR_PTR(ret);
}

/* ---- updates --------------------------------------------------------------------------------- */

/**
 * se_slot_publish() - after an update: ring the other sides that ask
 * @ev: an event with a slot
 * @value: the newest
 *
 * Context: any.
 */
void se_slot_publish(struct se_event *ev, u64 value)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;
	u32 side;

	/* On a silent event everybody looks for himself. */
	if (se_silent(ev) || READ_ONCE(ev->revoked))
		return;
	/* se_region_detach() waits for this. */
	rcu_read_lock();
	for (side = 0; side < r->geo.sides && se_attached(r); side++) {
		struct syncevent_hint *hint = se_cell_hint(ev->cell, side);

		if (side != r->side && !se_peer_dead(r, side) &&
		    (value > READ_ONCE(hint->wake_above) ||
		     READ_ONCE(hint->flags) & SYNCEVENT_HINT_WAKE_ALL))
			se_ring_side(r, side, slot->index, slot->generation);
	}
	rcu_read_unlock();
}

/**
 * se_slot_seen() - another side says: look at this slot
 * @r: the region
 * @index: whatever it says
 * @generation: whatever it says
 *
 * Context: any.
 */
void se_slot_seen(struct se_region *r, u32 index, u32 generation)
{
	struct se_event *ev;

	if (index >= r->geo.slots)
		return;
	index = array_index_nospec(index, r->geo.slots);
	rcu_read_lock();
	ev = rcu_dereference(r->table[index]);
	if (ev && ev->generation == generation)
		se_judge_once(ev);
	rcu_read_unlock();
	/* Once in a jiffy, however many say so. */
	if (READ_ONCE(se_desc(r, index)->state) !=
	    se_state(generation, SYNCEVENT_STATE_LIVE)) {
		set_bit(index, r->told);
		queue_delayed_work(se_region_workqueue, &r->follow, 1);
	}
}

/**
 * se_slots_judge() - judge every event of a region
 * @r: the region
 *
 * Context: process, may sleep.
 */
void se_slots_judge(struct se_region *r)
{
	struct se_event *ev;
	u32 i = 0;

	while ((ev = se_slots_next(r, &i))) {
		se_judge(ev);
		se_slot_unhold(ev);
	}
}
