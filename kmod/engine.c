// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait engine: waiters are parked on an event in the order in which updates
 * satisfy them, so that an update costs what it wakes, and wakes exactly those
 * that it satisfies.
 *
 * Parking against publishing (docs/wake-protocol.md). A publisher is user code on
 * a mapped cell, or se_publish():
 *
 *	publisher			waiter, under the event lock
 *	---------			----------------------------
 *	value = v			link the waiter, write the hint
 *	SE-A: full barrier		SE-B: full barrier
 *	read the hint			read the value
 *	  asks: se_judge()		  holds: unlink, do not sleep
 *
 * Both cannot miss the other: were the hint read before it was written and the
 * value read before it was updated, each side's read would precede the other's
 * write across a full barrier.
 *
 * The hint is lowered (asks for more) before SE-B and raised (asks for less) only
 * after the last waiter that needed it was unlinked, both under the event lock:
 * at no time does it ask for less than the parked waiters need. Where waiters are moved
 * so that it asks for less in one way and for more in another, SE-B and a look follow.
 */
#include "internal.h"
#include "trace.h"

/* ---- hints ------------------------------------------------------------------------ */

/**
 * se_hint_update() - ask publishers for what the parked waiters need
 * @ev: the event
 *
 * After the waiters changed, before the event lock is dropped. A caller that linked
 * one passes SE-B next.
 */
void se_hint_update(struct se_event *ev)
{
	struct syncevent_hint *hint = ev->asks;
	struct rb_node *first = rb_first_cached(&ev->grow);
	u64 above = first ? se_key(first) : SYNCEVENT_WAKE_NONE;
	u32 flags = 0;

	lockdep_assert_held(&ev->lock);

	if (ev->nr_others || !RB_EMPTY_ROOT(&ev->equal) ||
	    !RB_EMPTY_ROOT(&ev->shrink.rb_root))
		flags |= SYNCEVENT_HINT_WAKE_ALL;
	if (ev->dead)
		flags |= SYNCEVENT_HINT_PEER_DEAD;

	/* se_publish() reads the kernel's copy, mapped publishers read the cell. */
	if (above != ev->hint.wake_above) {
		WRITE_ONCE(ev->hint.wake_above, above);
		WRITE_ONCE(hint->wake_above, above);
	}
	if (flags != ev->hint.flags) {
		WRITE_ONCE(ev->hint.flags, flags);
		WRITE_ONCE(hint->flags, flags);
	}
}

/* ---- waking ------------------------------------------------------------------------ */

/**
 * se_batch_task() - wake a task once the event lock is dropped
 * @batch: the batch of this pass
 * @task: the task
 */
void se_batch_task(struct se_batch *batch, struct task_struct *task)
{
	batch->item[batch->n].task = task;
	batch->item[batch->n++].wq = NULL;
}

/**
 * se_batch_wq() - wake pollers once the event lock is dropped
 * @batch: the batch of this pass
 * @wq: freed after an RCU grace period
 * @exclusive: how many of the EPOLLEXCLUSIVE pollers; 0 for all
 *
 * No poll events are announced: a poller that is told them need not call ->poll,
 * as io_uring's multishot does not, and then nobody would arm the file again.
 */
void se_batch_wq(struct se_batch *batch, struct wait_queue_head *wq, int exclusive)
{
	batch->item[batch->n].task = NULL;
	batch->item[batch->n].exclusive = exclusive;
	batch->item[batch->n++].wq = wq;
}

static void se_batch_wake(struct se_batch *batch)
{
	unsigned int i;

	for (i = 0; i < batch->n; i++) {
		if (batch->item[i].wq)
			__wake_up(batch->item[i].wq, TASK_NORMAL,
				  batch->item[i].exclusive, NULL);
		else
			wake_up_process(batch->item[i].task);
	}
}

/* A judgement under way. */
struct se_cursor {
	struct se_waiter mark;	/* in se_event.others, where the scan goes on */
	unsigned int passes;	/* left */
	bool back;		/* this one put waiters back */
};

/* No real waiter fires this, and nobody calls it: it tells cursors from waiters. */
static bool se_cursor_fire(struct se_waiter *w, u64 value, int status,
			   struct se_batch *batch)
{
	return false;
}

static bool se_fire(struct se_waiter *w, u64 value, struct se_batch *batch)
{
	struct se_event *ev = w->ev;

	se_unlink(w);
	if (!w->fire(w, value, 0, batch))
		return false;
	ev->wakes++;
	return true;
}

static bool se_due_other(struct se_waiter *w, u64 value)
{
	if (w->fire == se_cursor_fire || (w->told && w->key == value))
		return false;
	w->told = false;
	return se_holds(w, value);
}

static void se_cursor_stop(struct se_cursor *cursor)
{
	if (cursor->mark.queued)
		list_del(&cursor->mark.link);
	cursor->mark.queued = false;
}

/* Look at some of the others. Returns true if the scan is not through. */
static bool se_scan(struct se_event *ev, struct se_cursor *cursor, u64 value,
		    struct se_batch *batch)
{
	struct list_head *pos = &ev->others;
	unsigned int n = 0;

	lockdep_assert_held(&ev->lock);

	if (cursor->mark.queued)
		pos = cursor->mark.link.prev;
	se_cursor_stop(cursor);
	while (pos->next != &ev->others) {
		struct se_waiter *w = list_entry(pos->next, struct se_waiter, link);

		if (n++ == SE_SCAN_MAX || batch->n == SE_BATCH_MAX) {
			list_add(&cursor->mark.link, pos);
			cursor->mark.queued = true;
			return true;
		}
		if (se_due_other(w, value))
			se_fire(w, value, batch);
		else if (w->fire != se_cursor_fire && !se_holds(w, value) &&
			 se_waiter_back(w))
			cursor->back = true;
		else
			pos = pos->next;
	}
	return false;
}

/* One hold of the event lock. Returns true if there may be more to do. */
static bool se_judge_pass(struct se_event *ev, struct se_cursor *cursor)
{
	struct se_batch batch = { .n = 0 };
	struct se_waiter *w = NULL;
	unsigned int n = 0;
	unsigned long irq;
	bool more;
	u64 value;

	rcu_read_lock();
	spin_lock_irqsave(&ev->lock, irq);
	value = se_value(ev);
	/* What is left of a revoked event ends by that. */
	while (!ev->revoked && n++ < SE_BATCH_MAX && (w = se_due(ev, value)))
		se_fire(w, value, &batch);
	cursor->back = false;
	more = w || (!ev->revoked && se_scan(ev, cursor, value, &batch));
	se_hint_update(ev);
	if (cursor->back) {
		smp_mb();	/* SE-B, as for one that parks */
		more |= se_value(ev) != value;
	}
	if (more && !--cursor->passes) {
		/* Updates without end, or very many others, must not hold a publisher. */
		mod_delayed_work(se_workqueue, &ev->work, 0);
		more = false;
	}
	if (!more)
		se_cursor_stop(cursor);
	spin_unlock_irqrestore(&ev->lock, irq);
	se_batch_wake(&batch);
	rcu_read_unlock();
	return more;
}

static void se_judge_by(struct se_event *ev, unsigned int passes)
{
	struct se_cursor cursor = { .mark.fire = se_cursor_fire, .passes = passes };

	while (se_judge_pass(ev, &cursor))
		cond_resched();
}

/**
 * se_judge() - wake every waiter that the current value satisfies
 * @ev: the event
 *
 * The value is read anew at each hold of the lock; an update in between is judged
 * by its own publisher from the start.
 *
 * Context: process, may sleep.
 */
void se_judge(struct se_event *ev)
{
	se_judge_by(ev, SE_PASSES_MAX);
}

/**
 * se_judge_once() - wake some of the waiters that the current value satisfies
 * @ev: the event; a worker wakes the rest
 *
 * Context: any.
 */
void se_judge_once(struct se_event *ev)
{
	se_judge_by(ev, 1);
}

/**
 * se_publish() - after an update made by the kernel
 * @ev: the event
 * @value: what it was updated to, by a fully ordered atomic operation: SE-A
 */
void se_publish(struct se_event *ev, u64 value)
{
	trace_syncevent_publish(ev->id, value);
	if (value > READ_ONCE(ev->hint.wake_above) ||
	    READ_ONCE(ev->hint.flags) & SYNCEVENT_HINT_WAKE_ALL)
		se_judge(ev);
	if (ev->slot)
		se_slot_publish(ev, value);
}

/**
 * se_judge_sides() - judge here, and have the other sides that ask for it judge too
 * @ev: the event
 *
 * Context: process, may sleep.
 */
void se_judge_sides(struct se_event *ev)
{
	se_judge(ev);
	if (ev->slot)
		se_slot_publish(ev, se_value(ev));
}

static struct se_waiter *se_any(struct se_event *ev)
{
	struct se_waiter *w;
	struct rb_node *node;

	node = rb_first_cached(&ev->grow) ?: rb_first_cached(&ev->shrink) ?:
	       rb_first(&ev->equal);
	if (node)
		return rb_entry(node, struct se_waiter, node);
	/* The oldest first: a file of a dead event may arm again meanwhile. */
	list_for_each_entry_reverse(w, &ev->others, link)
		if (w->fire != se_cursor_fire)
			return w;
	return NULL;
}

/**
 * se_end_all() - end every waiter that there is now
 * @ev: a revoked event, or a dead one: but for files that arm again none is added
 * @status: why
 *
 * Context: process, may sleep.
 */
void se_end_all(struct se_event *ev, int status)
{
	unsigned int left = UINT_MAX;
	struct se_waiter *w;

	do {
		struct se_batch batch = { .n = 0 };
		unsigned int n = 0;
		u64 value;

		rcu_read_lock();
		spin_lock_irq(&ev->lock);
		left = min(left, ev->nr_waiters);
		value = se_value(ev);
		while (n++ < SE_BATCH_MAX && (w = left ? se_any(ev) : NULL)) {
			left--;
			/* Of a dead one's last update a judgement may have left some. */
			if (!ev->revoked && se_holds(w, value)) {
				se_fire(w, value, &batch);
				continue;
			}
			se_unlink(w);
			w->fire(w, 0, status, &batch);
		}
		se_hint_update(ev);
		spin_unlock_irq(&ev->lock);
		se_batch_wake(&batch);
		rcu_read_unlock();
		cond_resched();
	} while (w);
}

/* Returns whether there may be more. */
static bool se_wake_orphans(struct se_event *ev)
{
	struct se_batch batch = { .n = 0 };
	struct se_waiter *w, *next;

	rcu_read_lock();
	spin_lock_irq(&ev->lock);
	list_for_each_entry_safe(w, next, &ev->others, link) {
		if (w->fire == se_cursor_fire || !w->orphan)
			continue;
		if (batch.n == SE_BATCH_MAX)
			break;
		w->orphan = false;
		se_unlink(w);
		w->fire(w, 0, 0, &batch);
	}
	se_hint_update(ev);
	spin_unlock_irq(&ev->lock);
	se_batch_wake(&batch);
	rcu_read_unlock();
	return batch.n == SE_BATCH_MAX;
}

/**
 * se_event_dead() - a side on which an event depends died, or came back
 * @ev: the event
 * @dead: which of both
 *
 * Nobody waits for a dead side: who does so ends with -EPIPE, spinners see the hint.
 *
 * Context: process, may sleep.
 */
void se_event_dead(struct se_event *ev, bool dead)
{
	if (READ_ONCE(ev->dead) == dead)
		return;
	/* Its last update may have come without a ring. */
	se_judge(ev);
	spin_lock_irq(&ev->lock);
	if (ev->revoked) {
		spin_unlock_irq(&ev->lock);
		return;
	}
	WRITE_ONCE(ev->dead, dead);
	if (dead)
		WRITE_ONCE(ev->asks->deaths, ++ev->hint.deaths);
	se_hint_update(ev);
	spin_unlock_irq(&ev->lock);
	if (dead)
		se_end_all(ev, -EPIPE);
	else
		while (se_wake_orphans(ev))
			cond_resched();
}

/* ---- parking ------------------------------------------------------------------------- */

/**
 * se_enqueue() - park a waiter unless its condition holds
 * @w: a waiter with a condition, not queued
 * @look_only: do not park it
 * @value: gets the value that satisfied it
 *
 * Return: 1 if the condition holds, 0 if it does not, -EIDRM, -EPIPE.
 */
int se_enqueue(struct se_waiter *w, bool look_only, u64 *value)
{
	struct se_event *ev = w->ev;
	int ret = -EIDRM;

	spin_lock_irq(&ev->lock);
	if (ev->revoked)
		goto out;

	ret = 1;
	*value = se_value(ev);
	if (se_holds(w, *value))
		goto out;

	ret = ev->dead ? -EPIPE : 0;
	if (ret || look_only)
		goto out;

	se_insert(w);
	se_hint_update(ev);
	smp_mb();	/* SE-B, pairs with SE-A: see the head of this file */
	*value = se_value(ev);
	if (se_holds(w, *value)) {
		se_unlink(w);
		se_hint_update(ev);
		ret = 1;
	}
out:
	spin_unlock_irq(&ev->lock);
	if (!ret && w->async)
		se_look_soon(ev);
	return ret;
}

/**
 * se_dequeue() - take a waiter back
 * @w: a waiter that was given to se_enqueue() or se_insert()
 * @value: gets the current value
 *
 * After it returned nobody else touches @w. Return: whether it was still parked.
 */
bool se_dequeue(struct se_waiter *w, u64 *value)
{
	struct se_event *ev = w->ev;
	bool queued;

	spin_lock_irq(&ev->lock);
	queued = w->queued;
	*value = se_value(ev);
	if (queued) {
		se_unlink(w);
		se_hint_update(ev);
	}
	spin_unlock_irq(&ev->lock);
	return queued;
}

/**
 * se_expire() - the deadline of a waiter has come
 * @w: the waiter; nothing happens if it was ended before, or is about to be by a
 *     revocation
 *
 * Success wins: it ends with 0 if its condition holds now.
 *
 * Context: any. Return: whether it ended, and the caller has to wake somebody.
 */
bool se_expire(struct se_waiter *w)
{
	struct se_batch batch = { .n = 0 };	/* left to the caller */
	struct se_event *ev = w->ev;
	unsigned long irq;
	u64 value;

	spin_lock_irqsave(&ev->lock, irq);
	if (w->queued && !ev->revoked) {
		value = se_value(ev);
		if (se_holds(w, value)) {
			se_fire(w, value, &batch);
		} else {
			se_unlink(w);
			w->fire(w, 0, -ETIMEDOUT, &batch);
		}
		se_hint_update(ev);
	}
	spin_unlock_irqrestore(&ev->lock, irq);
	return batch.n;
}

/* ---- silent events --------------------------------------------------------------------- */

/**
 * se_silent_period() - a time between two looks at a silent event
 * @us: wished for, microseconds
 *
 * Return: @us within the bounds of the module parameters, which may be any.
 */
u64 se_silent_period(u64 us)
{
	u64 floor = max(READ_ONCE(se_silent_min_us), 1U);

	return max(min_t(u64, us, READ_ONCE(se_silent_max_us)), floor);
}

/*
 * Between two looks of the workers for one user there is this time, in microseconds, in the
 * long run: who has more silent events waits longer, up to a second, as nobody is charged
 * for the workers' time.
 */
#define SE_LOOK_US	8

/**
 * se_look_soon() - have a silent event looked at while nobody sleeps on it
 * @ev: an event that got an ->async waiter
 */
void se_look_soon(struct se_event *ev)
{
	if (se_silent(ev))
		queue_delayed_work(se_workqueue, &ev->work,
				   usecs_to_jiffies(se_silent_period(0)));
}

/*
 * Runs for silent events with async waiters: twice as seldom after each look that
 * saw no change. Runs once for an event whose publisher left waiters to wake.
 */
static void se_look(struct work_struct *work)
{
	struct se_event *ev = container_of(to_delayed_work(work), struct se_event, work);
	u64 value = se_value(ev);
	u64 others;
	bool again;

	se_judge_by(ev, UINT_MAX);

	ev->period = se_silent_period(value == ev->looked ? ev->period * 2 : 0);
	ev->looked = value;
	WRITE_ONCE(ev->looks, ev->looks + 1);

	spin_lock_irq(&ev->lock);
	again = se_silent(ev) && ev->nr_async;
	spin_unlock_irq(&ev->lock);
	if (again != ev->watched)
		atomic_add(again ? 1 : -1, &ev->user->looks);
	ev->watched = again;
	others = min_t(u64, (u64)SE_LOOK_US * atomic_read(&ev->user->looks), USEC_PER_SEC);
	if (again)
		queue_delayed_work(se_workqueue, &ev->work,
				   max(usecs_to_jiffies(max(ev->period, others)), 1UL));
}

/**
 * se_engine_init() - an event without waiters
 * @ev: zeroed but for the cell
 */
void se_engine_init(struct se_event *ev)
{
	spin_lock_init(&ev->lock);
	ev->grow = RB_ROOT_CACHED;
	ev->shrink = RB_ROOT_CACHED;
	ev->equal = RB_ROOT;
	INIT_LIST_HEAD(&ev->others);
	ev->hint.wake_above = SYNCEVENT_WAKE_NONE;
	INIT_DELAYED_WORK(&ev->work, se_look);
}

/**
 * se_engine_exit() - an event is freed
 * @ev: whose work will not run again
 */
void se_engine_exit(struct se_event *ev)
{
	if (ev->watched)
		atomic_dec(&ev->user->looks);
}
