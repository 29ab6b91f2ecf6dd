// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notifications between machines: for each ordered pair of sides a ring of which one
 * writes the tail and the other the head. An entry says "look at this slot" and no
 * more: a forged one costs one judgement. One that finds no room is counted, and means
 * "judge everything". The tick makes up for a doorbell that is lost.
 *
 *	producer			consumer
 *	--------			--------
 *	entry, tail = t + 1		request = head
 *	RING-A: full barrier		RING-B: full barrier
 *	read request			read tail
 *	  request == t: doorbell	  != head: take that too
 *
 * Were the request read before it was written and the tail read before it was
 * updated, each would have read before the other's write across a full barrier. So
 * there is one doorbell for each time that the consumer has nothing left to take.
 *
 * virt_mb() and its kin: the other machine has CPUs of its own, however many this
 * one has.
 */
#include "region.h"

/* Entries taken in one interrupt. */
#define SE_TAKE_MAX	32

/* So many empty rings cost as much as one entry. */
#define SE_EMPTY	8

/* How long the doorbell is masked when too much came. */
#define SE_POLL_MS	10

/**
 * se_ring_side() - have another side look at a slot
 * @r: the region
 * @side: which
 * @slot: index
 * @generation: of the slot
 *
 * Context: any.
 */
void se_ring_side(struct se_region *r, u32 side, u32 slot, u32 generation)
{
	struct syncevent_region_ring *ring = se_ring(r, r->side, side);
	struct se_peer *peer = &r->peer[side];
	unsigned long irq;
	bool asked;
	u32 tail;

	spin_lock_irqsave(&peer->lock, irq);
	tail = peer->tail;
	if (tail - READ_ONCE(ring->head) >= SYNCEVENT_RING_ENTRIES) {
		WRITE_ONCE(ring->overflow, ++peer->overflow);
	} else {
		WRITE_ONCE(ring->entry[tail % SYNCEVENT_RING_ENTRIES],
			   (u64)generation << 32 | slot);
		/* The entry comes with it; pairs with se_ring_take(). */
		virt_store_release(&ring->tail, ++peer->tail);
	}
	virt_mb();	/* RING-A, pairs with RING-B: see the head of this file */
	asked = READ_ONCE(ring->request) == tail;
	spin_unlock_irqrestore(&peer->lock, irq);

	if (asked && r->transport->ring) {
		atomic64_inc(&peer->rung);
		r->transport->ring(r, READ_ONCE(se_side(r, side)->doorbell));
	}
}

/**
 * se_ring_take() - take notifications of one side
 * @r: the region
 * @side: from which
 * @budget: how many at the most; gets what is left of it
 *
 * Context: any.
 */
static void se_ring_take(struct se_region *r, u32 side, unsigned int *budget)
{
	struct syncevent_region_ring *ring = se_ring(r, side, r->side);
	struct se_peer *peer = &r->peer[side];
	u64 entry[SE_TAKE_MAX];
	unsigned int left = *budget, n = 0, i;
	unsigned long irq;
	u32 tail, dropped;

	spin_lock_irqsave(&peer->take, irq);
	while (left) {
		/* Pairs with se_ring_side(). */
		tail = virt_load_acquire(&ring->tail);
		dropped = READ_ONCE(ring->overflow);
		if (tail - peer->head > SYNCEVENT_RING_ENTRIES || dropped != peer->dropped) {
			peer->head = tail;
			peer->dropped = dropped;
			set_bit(SE_JUDGE_ALL, &r->todo);
			/* However often this is said, it is done now and then. */
			se_region_charge(r, SE_LOOKS_MAX + 1);
		}
		for (; peer->head != tail && left; left--, peer->head++)
			entry[n++] = READ_ONCE(ring->entry[peer->head %
							   SYNCEVENT_RING_ENTRIES]);
		/* The entries were read; then the producer may write them again. */
		virt_store_release(&ring->head, peer->head);
		if (!left)
			break;
		WRITE_ONCE(ring->request, peer->head);
		virt_mb();	/* RING-B, pairs with RING-A */
		/* Empty rings use up no budget: of many sides most have nothing to say. */
		if (READ_ONCE(ring->tail) == peer->head &&
		    READ_ONCE(ring->overflow) == peer->dropped)
			break;
		left--;		/* a tail that never stands still is no reason to stay */
	}
	spin_unlock_irqrestore(&peer->take, irq);

	for (i = 0; i < n; i++)
		se_slot_seen(r, lower_32_bits(entry[i]), upper_32_bits(entry[i]));
	*budget = left;
}

/**
 * se_ring_reset() - begin with a side that attached
 * @r: the region
 * @side: the other
 *
 * What it wrote before is judged by the caller. What was written for it stands: the
 * tail goes on.
 */
void se_ring_reset(struct se_region *r, u32 side)
{
	struct syncevent_region_ring *from = se_ring(r, side, r->side);
	struct se_peer *peer = &r->peer[side];
	unsigned long irq;

	spin_lock_irqsave(&peer->take, irq);
	peer->head = READ_ONCE(from->tail);
	peer->dropped = READ_ONCE(from->overflow);
	WRITE_ONCE(from->head, peer->head);
	WRITE_ONCE(from->request, peer->head);
	virt_mb();	/* RING-B: a take follows */
	spin_unlock_irqrestore(&peer->take, irq);
}

/**
 * se_region_take() - take the notifications of all sides
 * @r: the region
 *
 * Context: any. Return: whether there may be more.
 */
bool se_region_take(struct se_region *r)
{
	unsigned int left = SE_TAKE_MAX;
	u32 i, side, first = READ_ONCE(r->first);

	/* Not always the same first: one that floods must not starve the others. */
	for (i = 0; i < r->geo.sides && left; i++) {
		side = (first + i) % r->geo.sides;
		if (side != r->side)
			se_ring_take(r, side, &left);
	}
	WRITE_ONCE(r->first, (first + 1) % r->geo.sides);
	se_region_charge(r, SE_TAKE_MAX - left + DIV_ROUND_UP(r->geo.sides, SE_EMPTY));
	return !left;
}

/**
 * se_region_charge() - other machines had this one do something
 * @r: the region
 * @looks: how much
 *
 * Beyond the budget of a jiffy nobody rings here for some milliseconds; then the
 * rings are looked at.
 *
 * Context: any.
 */
void se_region_charge(struct se_region *r, unsigned int looks)
{
	unsigned long irq;

	spin_lock_irqsave(&r->rate, irq);
	if (time_after(jiffies, r->window)) {
		r->window = jiffies;
		r->looks = 0;
	}
	r->looks += looks;
	if (r->looks > SE_LOOKS_MAX && !r->polled && !r->gone) {
		WRITE_ONCE(r->polled, true);
		if (r->transport->mask) {
			r->transport->mask(r, true);
			WRITE_ONCE(r->masked, r->masked + 1);
		}
		mod_delayed_work(se_region_workqueue, &r->work,
				 msecs_to_jiffies(SE_POLL_MS) + 1);
	}
	spin_unlock_irqrestore(&r->rate, irq);
}

/**
 * se_region_resume() - let others ring here again
 * @r: the region; the caller looks at the rings next
 */
void se_region_resume(struct se_region *r)
{
	spin_lock_irq(&r->rate);
	if (r->polled) {
		WRITE_ONCE(r->polled, false);
		if (r->transport->mask)
			r->transport->mask(r, false);
	}
	spin_unlock_irq(&r->rate);
}

/**
 * se_region_irq() - the doorbell of this side rang
 * @r: the region
 *
 * Context: hard interrupt.
 */
void se_region_irq(struct se_region *r)
{
	atomic64_inc(&r->irqs);
	se_region_charge(r, 1);
	if (se_attached(r) && !READ_ONCE(r->polled) && se_region_take(r))
		queue_delayed_work(se_region_workqueue, &r->work, 0);
}
