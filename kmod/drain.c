// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of slots: a creator's revoked ones are drained until no other machine can have
 * anything of them, those of others are followed, those of dead sides mourned, and all
 * are put to rest before this side attaches.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "region.h"

/* ---- own slots ------------------------------------------------------------------------ */

/* What one event's users wrote is not for the next one's. */
static void se_slot_clear(struct se_slot *slot)
{
	u32 page;

	for (page = 0; page < slot->pages; page++) {
		memset(se_slot_payload(slot) + page * (u64)SYNCEVENT_REGION_PAGE, 0,
		       SYNCEVENT_REGION_PAGE);
		cond_resched();
	}
}

static void se_slot_unreserve(struct se_slot *slot)
{
	struct se_region *r = slot->region;
	u32 pages = r->geo.payload_pages / r->geo.sides;

	lockdep_assert_held(&r->lock);

	if (slot->pages)
		bitmap_clear(r->pages, slot->payload - r->side * pages, slot->pages);
	WRITE_ONCE(se_desc(r, slot->index)->state,
		   se_state(slot->generation, SYNCEVENT_STATE_FREE));
	__clear_bit(slot->index, r->used);
}

static void se_slot_drain(struct se_slot *slot)
{
	struct se_region *r = slot->region;
	u32 side;

	lockdep_assert_held(&r->lock);

	WRITE_ONCE(se_desc(r, slot->index)->state,
		   se_state(slot->generation, SYNCEVENT_STATE_DRAIN));
	/* RE-A, pairs with se_slot_enter(): who enters now sees the state. */
	virt_mb();
	for (side = 0; side < r->geo.sides; side++)
		slot->epoch[side] = READ_ONCE(se_side(r, side)->epoch);
	if (list_empty(&slot->link)) {
		kref_get(&slot->ref);
		list_add_tail(&slot->link, &r->drain);
	}
}

/**
 * se_slot_ended() - an event was revoked, here
 * @ev: of which nothing is mapped or waited for any more
 */
void se_slot_ended(struct se_event *ev)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;
	u32 side;

	mutex_lock(&r->lock);
	if (rcu_access_pointer(r->table[slot->index]) != ev) {
		mutex_unlock(&r->lock);
		return;
	}
	RCU_INIT_POINTER(r->table[slot->index], NULL);
	if (!r->epoch) {
		/* Whoever attaches this side again puts all to rest. */
	} else if (slot->import) {
		se_ack_import(slot, 0);
		if (READ_ONCE(se_desc(r, slot->index)->state) !=
		    se_state(slot->generation, SYNCEVENT_STATE_LIVE)) {
			set_bit(slot->index, r->told);
			queue_delayed_work(se_region_workqueue, &r->follow, 1);
		}
	} else {
		se_slot_drain(slot);
		for (side = 0; side < r->geo.sides; side++)
			if (side != r->side && !se_peer_dead(r, side))
				se_ring_side(r, side, slot->index, slot->generation);
	}
	mutex_unlock(&r->lock);
	se_table_leave(ev);
}

/**
 * se_slot_revoking() - an event begins to end
 * @ev: its state is REVOKED in this kernel
 *
 * Return: whether that goes for all sides: the slot is this one's.
 */
bool se_slot_revoking(struct se_event *ev)
{
	struct se_slot *slot = ev->slot;

	if (slot->import || !se_attached(slot->region))
		return false;
	WRITE_ONCE(se_desc(slot->region, slot->index)->state,
		   se_state(slot->generation, SYNCEVENT_STATE_REVOKED));
	return true;
}

static bool se_slot_drained(const struct se_slot *slot)
{
	struct se_region *r = slot->region;
	u32 side;

	for (side = 0; side < r->geo.sides; side++) {
		/* Whatever a side did to the slot comes before: pairs with se_slots_follow(). */
		u32 gone = virt_load_acquire(&se_ack(r, side, slot->index)->gone);

		if (side != r->side && slot->epoch[side] && gone != slot->generation &&
		    READ_ONCE(se_side(r, side)->epoch) == slot->epoch[side])
			return false;
	}
	return true;
}

/**
 * se_slots_drain() - free what nobody can have any more
 * @r: an attached region; if it attaches anew meanwhile, nothing is freed
 */
void se_slots_drain(struct se_region *r)
{
	struct se_slot *slot, *next;
	u64 epoch = r->epoch;
	LIST_HEAD(done);

	mutex_lock(&r->lock);
	list_for_each_entry_safe(slot, next, &r->drain, link)
		if (se_slot_drained(slot))
			list_move_tail(&slot->link, &done);
	mutex_unlock(&r->lock);

	/* Until they are FREE the slots are nobody's, however long it takes. */
	list_for_each_entry(slot, &done, link)
		se_slot_clear(slot);

	mutex_lock(&r->lock);
	list_for_each_entry_safe(slot, next, &done, link) {
		if (epoch && r->epoch == epoch)
			se_slot_unreserve(slot);
		list_del_init(&slot->link);
		se_slot_put(slot);
	}
	mutex_unlock(&r->lock);
}

/* What another side has ended: end the import, then say that it is gone. */
static void se_slot_follow(struct se_region *r, u32 i)
{
	struct syncevent_region_ack *ack = se_ack(r, r->side, i);
	u32 state = READ_ONCE(se_desc(r, i)->state);
	struct se_event *ev;

	if (!rcu_access_pointer(r->table[i]) &&
	    ((state & SYNCEVENT_STATE_MASK) < SYNCEVENT_STATE_REVOKED ||
	     READ_ONCE(ack->gone) == state >> SYNCEVENT_STATE_GEN_SHIFT))
		return;
	mutex_lock(&r->lock);
	/* What was read before the lock may be of an event that is gone by now. */
	state = READ_ONCE(se_desc(r, i)->state);
	ev = se_slot_hold(r, i);
	if (ev && (!ev->slot->import ||
		   state == se_state(ev->generation, SYNCEVENT_STATE_LIVE))) {
		mutex_unlock(&r->lock);
		se_slot_unhold(ev);
		return;
	}
	/* For one that is about to go the next look does it. */
	if ((state & SYNCEVENT_STATE_MASK) >= SYNCEVENT_STATE_REVOKED &&
	    !rcu_access_pointer(r->table[i]) && !test_bit(i, r->used))
		/* After all that was done to it; pairs with se_slot_drained(). */
		virt_store_release(&ack->gone, state >> SYNCEVENT_STATE_GEN_SHIFT);
	mutex_unlock(&r->lock);
	if (ev) {
		se_revoke(ev);
		se_slot_unhold(ev);
	}
}

/**
 * se_slots_mourn() - sides died, or came back
 * @r: an attached region
 * @died: those that did since the last time
 */
void se_slots_mourn(struct se_region *r, u64 died)
{
	struct se_event *ev;
	u32 i = 0;

	while ((ev = se_slots_next(r, &i))) {
		se_region_lost(r, ev, died);
		se_slot_unhold(ev);
	}
}

/**
 * se_slots_follow() - end here what other sides have ended
 * @r: an attached region
 * @told: only the slots that they told of
 */
void se_slots_follow(struct se_region *r, bool told)
{
	u32 i;

	for (i = 0; i < r->geo.slots; i++) {
		/* Told of again from here on, it is looked at again. */
		if (told && !(test_bit(i, r->told) && test_and_clear_bit(i, r->told)))
			continue;
		se_slot_follow(r, i);
		cond_resched();
	}
}

/**
 * se_slots_end() - end every event of a region, here
 * @r: a region that is not attached any more
 */
void se_slots_end(struct se_region *r)
{
	struct se_event *ev;
	u32 i;

	for (i = 0; r->table && i < r->geo.slots; i++) {
		while (rcu_access_pointer(r->table[i])) {
			int ret = -EIDRM;

			mutex_lock(&r->lock);
			ev = se_slot_hold(r, i);
			mutex_unlock(&r->lock);
			if (ev) {
				ret = se_revoke(ev);
				se_slot_unhold(ev);
			}
			/* Somebody else is about to end it. */
			if (ret)
				schedule_timeout_uninterruptible(1);
		}
	}
}

/**
 * se_slots_forget() - wait for no acknowledgment any more
 * @r: a region that is not attached
 */
void se_slots_forget(struct se_region *r)
{
	struct se_slot *slot, *next;

	mutex_lock(&r->lock);
	list_for_each_entry_safe(slot, next, &r->drain, link) {
		list_del_init(&slot->link);
		se_slot_put(slot);
	}
	mutex_unlock(&r->lock);
}

/**
 * se_slots_rest() - before this side shows a new epoch: nothing of before counts
 * @r: a region with no event
 *
 * Return: 0, -ENOMEM.
 */
int se_slots_rest(struct se_region *r)
{
	u32 pages = r->geo.payload_pages / r->geo.sides;
	u32 share = r->geo.slots / (r->geo.sides * r->geo.sides);
	struct se_slot *slot;
	u32 i;

	se_slots_forget(r);
	mutex_lock(&r->lock);
	bitmap_zero(r->used, r->geo.slots);
	bitmap_zero(r->pages, pages);
	for (i = 0; i < r->geo.slots; i++) {
		struct syncevent_hint *hint = se_cell_hint(se_slot_cell(r, i), r->side);
		struct syncevent_region_desc *desc = se_desc(r, i);
		u32 state = READ_ONCE(desc->state), first, n;

		WRITE_ONCE(hint->wake_above, SYNCEVENT_WAKE_NONE);
		WRITE_ONCE(hint->flags, 0);
		WRITE_ONCE(se_ack(r, r->side, i)->import, 0);
		WRITE_ONCE(se_ack(r, r->side, i)->gone,
			   (state & SYNCEVENT_STATE_MASK) < SYNCEVENT_STATE_REVOKED ? 0 :
			   state >> SYNCEVENT_STATE_GEN_SHIFT);
		if (i / share % r->geo.sides != r->side)
			continue;
		if (!r->generation[i])
			r->generation[i] = state >> SYNCEVENT_STATE_GEN_SHIFT;
		if ((state & SYNCEVENT_STATE_MASK) == SYNCEVENT_STATE_FREE)
			continue;

		slot = se_slot_alloc(r);
		if (!slot) {
			mutex_unlock(&r->lock);
			return -ENOMEM;
		}
		first = READ_ONCE(desc->payload_first) - r->side * pages;
		n = READ_ONCE(desc->payload_pages);
		slot->index = i;
		slot->owner = r->side;
		slot->generation = se_next_generation(r->generation[i]);
		r->generation[i] = slot->generation;
		/* Of several that say that they have the same pages one has them. */
		if (n && first < pages && n <= pages - first &&
		    find_next_bit(r->pages, first + n, first) >= first + n) {
			slot->payload = r->side * pages + first;
			slot->pages = n;
			bitmap_set(r->pages, first, n);
		}
		__set_bit(i, r->used);
		WRITE_ONCE(se_slot_cell(r, i)->state,
			   se_state(slot->generation, SYNCEVENT_STATE_REVOKED));
		se_slot_drain(slot);
		se_slot_put(slot);
	}
	mutex_unlock(&r->lock);
	return 0;
}
