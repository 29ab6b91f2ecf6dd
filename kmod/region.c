// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions and their sides: formatting, attaching, heartbeats, deaths and fences.
 *
 * Each side shows a random epoch, a new one for each time that it attaches, and a
 * heartbeat. One whose heart stands still is declared dead by writing its epoch into
 * the own record ("fenced"): should it live after all, it finds that, ends all that it
 * has of the region, and attaches anew.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"
#include "trace.h"

static_assert(sizeof(struct syncevent_region_side) == 1024);
static_assert(sizeof(struct syncevent_region_desc) == 256);
static_assert(offsetof(struct syncevent_region_ring, entry) == 128);
static_assert(sizeof(struct syncevent_region_ring) <= SYNCEVENT_REGION_PAGE);
static_assert(sizeof(struct syncevent_blob) == 56);

unsigned int se_peer_timeout_ms = 1500;
module_param_named(peer_timeout_ms, se_peer_timeout_ms, uint, 0644);
MODULE_PARM_DESC(peer_timeout_ms, "a side is dead after so long without a heartbeat");

/* Heartbeats within the time-out: some may come late. */
#define SE_TICKS	16

/*
 * The longest time between two of them. Not less often than by default: a machine whose
 * administrator has already given it the shorter timeout, or not yet the longer one, must
 * not take this one for dead. Nor could this one be deaf for longer, when it was.
 */
#define SE_TICK_MS	90

/* The least time-out: heartbeats of others come every SE_TICK_MS. */
#define SE_TIMEOUT_MIN	400U

/* Rounds of the rings in one run of the worker, however long they take. */
#define SE_TAKES_MAX	32

/* Its own: what users make the other do must not hold up what other machines wait for. */
struct workqueue_struct *se_region_workqueue;

static unsigned long se_timeout(void)
{
	return msecs_to_jiffies(clamp(READ_ONCE(se_peer_timeout_ms), SE_TIMEOUT_MIN,
				      3600000U));
}

static unsigned long se_tick(void)
{
	return clamp(se_timeout() / SE_TICKS, 1UL, msecs_to_jiffies(SE_TICK_MS));
}

static u64 se_random_epoch(void)
{
	u64 epoch;

	do {
		epoch = get_random_u64();
	} while (!epoch || epoch == U64_MAX);
	return epoch;
}

/* ---- the header ---------------------------------------------------------------------- */

/* Returns -EAGAIN if it is no region, -EPROTO if it is one that makes no sense here. */
static int se_region_read(struct se_region *r, struct se_geometry *geo,
			  struct syncevent_region_header *header)
{
	struct syncevent_region_header *shared = r->base;
	/* Pairs with the release of se_region_format(). */
	u64 magic = virt_load_acquire(&shared->magic);

	if (magic != SYNCEVENT_REGION_MAGIC)
		return -EAGAIN;
	memcpy(header, shared, sizeof(*header));
	virt_rmb();	/* the copy is what is judged: nothing is read again */
	header->magic = magic;
	return se_geometry_read(geo, header, r->len) && r->side < geo->sides ? 0 : -EPROTO;
}

/* Memory of which somebody else makes use is no business of a guess. */
static bool se_region_may_format(const struct se_region *r)
{
	return !r->side && (r->configured ||
			    !memchr_inv(r->base, 0, SYNCEVENT_REGION_PAGE));
}

static void se_region_clear(void *from, u64 len)
{
	while (len) {
		size_t n = min_t(u64, len, SZ_1M);

		memset(from, 0, n);
		from += n;
		len -= n;
		cond_resched();
	}
}

/* Side 0, alone. The geometry has been chosen. */
static void se_region_format(struct se_region *r, const struct se_geometry *geo)
{
	struct syncevent_region_header *shared = r->base;
	u32 i, side;

	WRITE_ONCE(shared->magic, 0);
	virt_mb();	/* before anything else is overwritten; for se_region_read() */
	se_region_clear(r->base + geo->side, geo->size - geo->side);
	for (i = 0; i < geo->slots; i++) {
		struct syncevent_cell *cell = r->base + geo->slot +
					      ((u64)i << geo->slot_shift);

		for (side = 0; side < geo->sides; side++)
			se_cell_hint(cell, side)->wake_above = SYNCEVENT_WAKE_NONE;
		cond_resched();
	}

	shared->version = SYNCEVENT_REGION_VERSION;
	shared->sides = geo->sides;
	shared->size = geo->size;
	get_random_bytes(shared->id, sizeof(shared->id));
	shared->format_epoch = se_random_epoch();
	shared->slots = geo->slots;
	shared->slot_shift = geo->slot_shift;
	shared->side_offset = geo->side;
	shared->desc_offset = geo->desc;
	shared->ack_offset = geo->ack;
	shared->ring_offset = geo->ring;
	shared->slot_offset = geo->slot;
	shared->payload_offset = geo->payload;
	/* All that it stands for is there; pairs with se_region_read(). */
	virt_store_release(&shared->magic, SYNCEVENT_REGION_MAGIC);
	dev_info_ratelimited(r->parent, "formatted a region of %u sides and %u slots\n",
			     geo->sides, geo->slots);
}

/* ---- attaching ------------------------------------------------------------------------- */

/*
 * Show this side to the others. Returns -EAGAIN if nobody has formatted the region, or
 * another error if it never will be.
 */
static int se_region_attach(struct se_region *r)
{
	struct syncevent_region_header header;
	struct syncevent_region_side *me;
	struct se_geometry geo;
	u32 side;
	int ret;

	ret = se_region_read(r, &geo, &header);
	if (ret == -EAGAIN && se_region_may_format(r)) {
		if (!se_geometry_choose(&geo, r->len, r->sides, PAGE_SHIFT))
			return -EINVAL;
		se_region_format(r, &geo);
		ret = se_region_read(r, &geo, &header);
	}
	if (ret)
		return ret;
	if (r->table && memcmp(&geo, &r->geo, sizeof(geo)))
		return -EPROTO;	/* what was sized for the first stays that */
	r->geo = geo;
	ret = r->table ? 0 : se_slots_init(r);
	if (ret)
		return ret;
	me = se_side(r, r->side);
	/* A number that the server gave is another machine's if it has been used. */
	if (!r->configured && READ_ONCE(me->epoch) && !r->heartbeat)
		return -EADDRINUSE;
	r->id[0] = header.id[0];
	r->id[1] = header.id[1];
	r->format_epoch = header.format_epoch;

	ret = se_slots_rest(r);
	if (ret)
		return ret;
	for (side = 0; side < r->geo.sides; side++) {
		struct se_peer *peer = &r->peer[side];

		WRITE_ONCE(me->fenced[side], 0);
		peer->epoch = 0;
		peer->alive = false;
		peer->dead = 0;
		if (side == r->side)
			continue;
		spin_lock_irq(&peer->lock);
		peer->tail = READ_ONCE(se_ring(r, r->side, side)->tail);
		peer->overflow = READ_ONCE(se_ring(r, r->side, side)->overflow);
		spin_unlock_irq(&peer->lock);
		se_ring_reset(r, side);
	}
	WRITE_ONCE(me->heartbeat, ++r->heartbeat);
	WRITE_ONCE(me->format_epoch, r->format_epoch);
	WRITE_ONCE(me->doorbell, r->doorbell);
	WRITE_ONCE(me->address, r->address);

	mutex_lock(&r->lock);
	smp_store_release(&r->epoch, se_random_epoch());	/* pairs with se_attached() */
	/* Hints and slots are at rest before anybody believes that this side is here. */
	virt_store_release(&me->epoch, r->epoch);
	mutex_unlock(&r->lock);
	trace_syncevent_peer(r->number, r->side, SE_PEER_ATTACHED);
	dev_info_ratelimited(r->parent, "side %u of %u attached\n", r->side, r->geo.sides);
	return 0;
}

/* No slot is made or imported after this, and those that there are end. */
static void se_region_detach(struct se_region *r)
{
	u64 epoch = r->epoch;

	mutex_lock(&r->lock);
	smp_store_release(&r->epoch, 0);	/* pairs with se_attached() */
	mutex_unlock(&r->lock);
	synchronize_rcu();	/* se_slot_publish() */
	/* It may be clearing what is another event's once this side attaches anew. */
	cancel_delayed_work_sync(&r->follow);
	se_slots_end(r);
	/*
	 * The others need not wait for a time-out, nor those that declared this one dead for
	 * its next life. It does not touch what another machine wrote that is this side too.
	 */
	if (epoch && READ_ONCE(se_side(r, r->side)->epoch) == epoch)
		virt_store_release(&se_side(r, r->side)->epoch, 0);	/* se_peer_tick() */
	if (epoch)
		trace_syncevent_peer(r->number, r->side, SE_PEER_DETACHED);
}

/* ---- peers ------------------------------------------------------------------------------ */

/**
 * se_peer_gone() - is a side dead, or not there?
 * @r: an attached region
 * @side: a side of it
 *
 * One that attached to another format will find that out, unless it died before.
 */
bool se_peer_gone(struct se_region *r, u32 side)
{
	struct syncevent_region_side *record = se_side(r, side);

	return side != r->side &&
	       (se_peer_dead(r, side) || !READ_ONCE(record->epoch) ||
		READ_ONCE(record->format_epoch) != r->format_epoch);
}

/* The other sides that imported an event of this one with the right to update. */
static u64 se_region_updaters(struct se_region *r, const struct se_slot *slot)
{
	u64 updaters = 0;
	u32 side;

	for (side = 0; side < r->geo.sides; side++) {
		u32 import = READ_ONCE(se_ack(r, side, slot->index)->import);

		if (side != r->side && import >> 2 == slot->generation &&
		    import & SYNCEVENT_RIGHT_UPDATE)
			updaters |= BIT_ULL(side);
	}
	return updaters;
}

/*
 * Has an event's home attached anew since this was asked, or since the event was made or
 * imported? Then who waits counted on what is no more. Not by what the tick knows of that
 * side: an event of its new life may be waited for before the tick has seen that one.
 */
static bool se_home_changed(struct se_region *r, struct se_slot *slot)
{
	u64 epoch = READ_ONCE(se_side(r, slot->home)->epoch), was = slot->home_epoch;

	slot->home_epoch = epoch;
	return slot->home != r->side && was && was != epoch;
}

/**
 * se_region_lost() - does an event depend on a side that died?
 * @r: the region
 * @ev: an event of it
 * @died: sides that did since the last time, though they may be back
 *
 * On its creator, on its home, and, if only other sides may update it, on the last of
 * these that imported it with that right. Whoever waits then ends with -EPIPE.
 */
void se_region_lost(struct se_region *r, struct se_event *ev, u64 died)
{
	struct se_slot *slot = ev->slot;
	bool lost = se_peer_gone(r, slot->owner) || se_peer_gone(r, slot->home);
	bool since = se_home_changed(r, slot);

	if (!slot->import && ev->publishers == SYNCEVENT_LOC_REMOTE_PCI) {
		u64 updaters = se_region_updaters(r, slot), live = updaters;
		u32 side;

		for (side = 0; side < r->geo.sides; side++)
			if (live & BIT_ULL(side) && se_peer_gone(r, side))
				live &= ~BIT_ULL(side);
		lost |= updaters && !live;
		/* Those that died may have attached anew and imported it again since. */
		since |= slot->updaters & died && !(live & ~died);
		slot->updaters = updaters;
	}
	if (since)
		se_event_dead(ev, true);
	se_event_dead(ev, lost);
}

/* Returns whether it died, or attached anew, since the last tick. */
static bool se_peer_tick(struct se_region *r, u32 side)
{
	struct syncevent_region_side *record = se_side(r, side);
	struct se_peer *peer = &r->peer[side];
	/* Pairs with the release of that side's se_region_attach(). */
	u64 epoch = virt_load_acquire(&record->epoch);
	u64 heartbeat = READ_ONCE(record->heartbeat);
	bool died = false;

	if (epoch != peer->epoch) {
		died = peer->epoch && !peer->dead;
		if (peer->alive) {
			dev_info_ratelimited(r->parent, "side %u left, or attached anew\n", side);
			trace_syncevent_peer(r->number, side, SE_PEER_LEFT);
		}
		se_ring_reset(r, side);
		set_bit(SE_JUDGE_ALL, &r->todo);
		WRITE_ONCE(peer->dead, 0);
		WRITE_ONCE(peer->epoch, epoch);
		peer->heartbeat = heartbeat;
		peer->seen = jiffies;
		WRITE_ONCE(peer->alive, epoch && READ_ONCE(record->format_epoch) ==
						 r->format_epoch);
		if (peer->alive)
			trace_syncevent_peer(r->number, side, SE_PEER_CAME);
	} else if (heartbeat != peer->heartbeat) {
		peer->heartbeat = heartbeat;
		peer->seen = jiffies;
	} else if (peer->alive &&
		   time_after(jiffies, peer->seen + se_timeout())) {
		WRITE_ONCE(se_side(r, r->side)->fenced[side], epoch);
		WRITE_ONCE(peer->alive, false);
		WRITE_ONCE(peer->dead, epoch);
		set_bit(SE_JUDGE_ALL, &r->todo);
		dev_warn_ratelimited(r->parent, "side %u is dead: no heartbeat\n", side);
		trace_syncevent_peer(r->number, side, SE_PEER_DIED);
		died = true;
	}
	return died;
}

/*
 * Who slept for long itself has not listened: those that lived then get another time-out,
 * but no third one, however seldom this side runs.
 */
static void se_region_woke(struct se_region *r)
{
	bool slept = time_after(jiffies, r->ticked + se_timeout() / 2);
	u32 side;

	r->ticked = jiffies;
	for (side = 0; slept && side < r->geo.sides; side++) {
		struct se_peer *peer = &r->peer[side];

		if (!peer->alive || peer->excused == peer->heartbeat)
			continue;
		peer->excused = peer->heartbeat;
		peer->seen = jiffies;
	}
}

/*
 * Has a side whose heart beats declared this one dead? It may itself count as dead
 * here: both were stopped. Then both attach anew.
 */
static bool se_region_fenced(struct se_region *r)
{
	u32 side;

	for (side = 0; side < r->geo.sides; side++)
		if (side != r->side && r->peer[side].epoch &&
		    time_before(jiffies, r->peer[side].seen + se_timeout()) &&
		    READ_ONCE(se_side(r, side)->fenced[r->side]) == r->epoch)
			return true;
	return false;
}

/* ---- the tick ------------------------------------------------------------------------------ */

static void se_region_work(struct work_struct *work)
{
	struct se_region *r = container_of(to_delayed_work(work), struct se_region, work);
	unsigned int n;

	/* Else whoever attaches has it run again. */
	if (!se_attached(r))
		return;
	se_region_resume(r);
	if (test_and_clear_bit(SE_JUDGE_ALL, &r->todo))
		se_slots_judge(r);
	for (n = 0; n < SE_TAKES_MAX; n++) {
		if (!se_region_take(r))
			return;
		cond_resched();
	}
	/* Rings that never become empty: others want this CPU too. */
	se_region_charge(r, SE_LOOKS_MAX + 1);
}

static void se_region_follow(struct work_struct *work)
{
	struct se_region *r = container_of(to_delayed_work(work), struct se_region, follow);

	if (se_attached(r)) {
		se_slots_follow(r, true);
		se_slots_drain(r);
	}
}

static void se_region_beat(struct timer_list *timer)
{
	struct se_region *r = container_of(timer, struct se_region, beat);

	if (READ_ONCE(r->gone))
		return;
	/* Not over what another machine wrote that believes to be this side. */
	if (se_attached(r) && READ_ONCE(se_side(r, r->side)->epoch) == r->epoch)
		WRITE_ONCE(se_side(r, r->side)->heartbeat, ++r->heartbeat);
	mod_timer(&r->beat, jiffies + se_tick());
}

static void se_region_tick(struct work_struct *work)
{
	struct se_region *r = container_of(to_delayed_work(work), struct se_region, tick);
	struct syncevent_region_header header;
	struct se_geometry geo;
	bool again = false;
	u64 died = 0;
	u32 side;

	if (READ_ONCE(r->gone))
		return;
	if (!r->epoch) {
		int ret = se_region_attach(r);

		if (ret && ret != -EAGAIN && ret != r->failed)
			dev_err_ratelimited(r->parent, "side %u cannot attach: error %d\n",
					    r->side, ret);
		r->failed = ret;
		/* What came meanwhile, without a doorbell. */
		queue_delayed_work(se_region_workqueue, &r->tick, ret ? se_tick() : 0);
		return;
	}

	if (se_region_read(r, &geo, &header) || header.format_epoch != r->format_epoch) {
		dev_warn_ratelimited(r->parent, "the region was formatted anew\n");
		again = true;
	} else if (READ_ONCE(se_side(r, r->side)->epoch) != r->epoch) {
		/* Another machine that believes to be this side, or rubbish: not mine. */
		dev_err(r->parent, "another machine is side %u as well: detached\n", r->side);
		se_region_detach(r);
		return;
	}
	se_region_woke(r);
	for (side = 0; !again && side < r->geo.sides; side++)
		if (side != r->side && se_peer_tick(r, side))
			died |= BIT_ULL(side);
	if (!again && se_region_fenced(r)) {
		dev_warn_ratelimited(r->parent,
				     "side %u was declared dead by another: attaching anew\n",
				     r->side);
		trace_syncevent_peer(r->number, r->side, SE_PEER_FENCED);
		again = true;
	}
	if (again) {
		se_region_detach(r);
		mod_delayed_work(se_region_workqueue, &r->tick, se_tick());
		return;
	}

	/* What came without a doorbell, or was lost with one. */
	queue_delayed_work(se_region_workqueue, &r->work, 0);
	se_slots_follow(r, false);
	se_slots_mourn(r, died);
	se_slots_drain(r);
	queue_delayed_work(se_region_workqueue, &r->tick, se_tick());
}

/* ---- regions -------------------------------------------------------------------------------- */

static void se_region_free(struct kref *ref)
{
	struct se_region *r = container_of(ref, struct se_region, ref);

	se_slots_free(r);
	r->transport->unmap(r);
	put_device(r->parent);
	kfree(r);
}

/**
 * se_region_put() - drop a reference
 * @r: a region
 */
void se_region_put(struct se_region *r)
{
	kref_put(&r->ref, se_region_free);
}

/**
 * se_region_alloc() - a region for a transport to fill
 * @parent: the PCI device
 * @transport: its operations; unmap() is called with the last reference
 *
 * Return: a reference, or NULL.
 */
struct se_region *se_region_alloc(struct device *parent,
				  const struct se_transport *transport)
{
	struct se_region *r = kzalloc(sizeof(*r), GFP_KERNEL);
	u32 side;

	if (!r)
		return NULL;
	kref_init(&r->ref);
	r->parent = get_device(parent);
	r->transport = transport;
	mutex_init(&r->lock);
	init_rwsem(&r->faults);
	spin_lock_init(&r->rate);
	INIT_LIST_HEAD(&r->drain);
	r->window = jiffies;
	for (side = 0; side < SYNCEVENT_SIDES_MAX; side++) {
		spin_lock_init(&r->peer[side].lock);
		spin_lock_init(&r->peer[side].take);
	}
	timer_setup(&r->beat, se_region_beat, 0);
	INIT_DELAYED_WORK(&r->tick, se_region_tick);
	INIT_DELAYED_WORK(&r->follow, se_region_follow);
	INIT_DELAYED_WORK(&r->work, se_region_work);
	return r;
}

/* From here on nobody has anything done by the works. */
static void se_region_gone(struct se_region *r)
{
	spin_lock_irq(&r->rate);
	WRITE_ONCE(r->gone, true);
	spin_unlock_irq(&r->rate);
}

/**
 * se_region_add() - begin
 * @r: a region whose memory is mapped
 *
 * Attaches soon, or when side 0 has formatted the memory.
 *
 * Return: 0, or why /dev/syncevent_pciN cannot be made.
 */
int se_region_add(struct se_region *r)
{
	int ret = se_pci_register(r);

	if (ret) {
		/* It may have been rung already. */
		se_region_gone(r);
		cancel_delayed_work_sync(&r->work);
		return ret;
	}
	mod_timer(&r->beat, jiffies);
	queue_delayed_work(se_region_workqueue, &r->tick, 0);
	return 0;
}

/**
 * se_region_remove() - the device goes
 * @r: the region; the caller's reference stays
 */
void se_region_remove(struct se_region *r)
{
	se_pci_unregister(r);
	se_region_gone(r);
	cancel_delayed_work_sync(&r->tick);
	se_region_detach(r);
	se_slots_forget(r);
	cancel_delayed_work_sync(&r->work);
	cancel_delayed_work_sync(&r->follow);
	cancel_delayed_work_sync(&r->tick);
	se_timer_shutdown(&r->beat);
}
