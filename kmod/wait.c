// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that sleep: WAIT, WAIT_MANY and read(2). All are one wait on one or more
 * entries; each entry is a waiter on its event, and the call ends when one of them
 * is the winner.
 */
#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "trace.h"

#define SE_NO_WINNER	(-1)

/**
 * struct se_wait - a call that sleeps
 * @task: who
 * @winner: index of the entry that ended it, taken by cmpxchg
 * @pending: entries that have not been satisfied yet, for @all
 * @all: wait for all, not for any
 * @n: number of entries
 * @clock: of @deadline
 * @deadline: absolute; 0: do not sleep, KTIME_MAX: none
 */
struct se_wait {
	struct task_struct *task;
	atomic_t winner;
	atomic_t pending;
	bool all;
	unsigned int n;
	clockid_t clock;
	ktime_t deadline;
};

/**
 * struct se_wait_entry - one event of a call
 * @w: parked on the event
 * @wait: the call
 * @file: keeps the event alive during a WAIT_MANY
 * @index: of this entry
 * @status: 1 satisfied, 0 not seen to be, -EIDRM
 * @value: that satisfied it
 * @looked: value at the last look at a silent event
 */
struct se_wait_entry {
	struct se_waiter w;
	struct se_wait *wait;
	struct file *file;
	unsigned int index;
	int status;
	u64 value;
	u64 looked;
};

/* ---- deadlines ------------------------------------------------------------------ */

/**
 * se_clock() - the clock of a deadline
 * @flags: SYNCEVENT_WAIT_REALTIME or not
 */
clockid_t se_clock(u32 flags)
{
	return flags & SYNCEVENT_WAIT_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

static ktime_t se_now(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? ktime_get_real() : ktime_get();
}

/**
 * se_deadline() - a deadline as timers take it
 * @ns: absolute nanoseconds in the caller's time namespace
 * @flags: SYNCEVENT_WAIT_REALTIME or not
 *
 * Return: KTIME_MAX for none, 0 for one that has passed.
 */
ktime_t se_deadline(u64 ns, u32 flags)
{
	ktime_t kt = ns < KTIME_MAX ? ns : KTIME_MAX;

#ifdef CONFIG_TIME_NS
	/* What timens_ktime_to_host() does, which modules cannot call. */
	if (kt != KTIME_MAX && kt && se_clock(flags) == CLOCK_MONOTONIC) {
		const struct timens_offsets *off = &current->nsproxy->time_ns->offsets;
		ktime_t offset = timespec64_to_ktime(off->monotonic);

		/* The offset may be negative: the difference saturates. */
		if (offset > 0)
			kt = kt > offset ? kt - offset : 0;
		else
			kt = ktime_add_safe(kt, -offset);
	}
#endif
	if (kt != KTIME_MAX && kt && kt <= se_now(se_clock(flags)))
		kt = 0;
	return kt;
}

/* ---- the sleep -------------------------------------------------------------------- */

static bool se_claim(struct se_wait *wait, unsigned int index)
{
	return atomic_cmpxchg(&wait->winner, SE_NO_WINNER, index) == SE_NO_WINNER;
}

/* An entry is done. Returns true if that ends the call. */
static bool se_wait_done(struct se_wait *wait, int status)
{
	return status < 0 || !wait->all || atomic_dec_and_test(&wait->pending);
}

/*
 * Under the event lock, so @e and its call are still there after the claim: the
 * call takes that lock in se_dequeue() before it returns.
 */
static bool se_wait_fire(struct se_waiter *w, u64 value, int status,
			 struct se_batch *batch)
{
	struct se_wait_entry *e = container_of(w, struct se_wait_entry, w);
	struct se_wait *wait = e->wait;

	e->value = value;
	e->status = status ?: 1;
	if (!se_wait_done(wait, status))
		return true;
	if (!se_claim(wait, e->index))
		return false;
	se_batch_task(batch, wait->task);
	return true;
}

static void se_wait_entry_init(struct se_wait_entry *e, struct se_wait *wait,
			       unsigned int index, struct se_event *ev,
			       u32 op, u64 operand, u64 mask)
{
	e->w = (struct se_waiter){ .ev = ev, .fire = se_wait_fire };
	se_waiter_set(&e->w, op, operand, mask);
	e->wait = wait;
	e->index = index;
	e->status = 0;
	e->looked = 0;
}

/* Park the entries in order. Returns how many may be parked. */
static unsigned int se_wait_park(struct se_wait *wait, struct se_wait_entry *e)
{
	unsigned int i;

	for (i = 0; i < wait->n; i++, e++) {
		int ret = se_enqueue(&e->w, !wait->deadline, &e->value);

		if (!ret)
			continue;
		e->status = ret;
		if (se_wait_done(wait, ret)) {
			se_claim(wait, i);
			break;
		}
	}
	return i;
}

/*
 * Take the entries back. A condition that holds now, after the time-out or the
 * signal, is a success nevertheless.
 */
static void se_wait_unpark(struct se_wait *wait, struct se_wait_entry *e,
			   unsigned int parked)
{
	u64 value;

	for (; parked--; e++) {
		if (!se_dequeue(&e->w, &value))
			continue;
		if (READ_ONCE(e->w.ev->revoked))
			e->status = -EIDRM;
		else if (se_holds(&e->w, value))
			e->status = 1;
		else
			continue;
		e->value = value;
		if (se_wait_done(wait, e->status))
			se_claim(wait, e->index);
	}
}

/* Sleep until the deadline or a wake-up. Returns true if the deadline came. */
static bool se_sleep(const struct se_wait *wait)
{
	ktime_t expires = wait->deadline;

	if (expires == KTIME_MAX) {
		schedule();
		return false;
	}
	return !schedule_hrtimeout_range_clock(&expires, current->timer_slack_ns,
					       HRTIMER_MODE_ABS, wait->clock);
}

/*
 * Sleep a slice, then look at the silent events. The slices double while nothing
 * changes. Returns true if the deadline came.
 */
static bool se_sleep_slice(const struct se_wait *wait, struct se_wait_entry *e,
			   u64 *slice_us)
{
	ktime_t slice = NSEC_PER_USEC * *slice_us;
	bool changed = false;
	unsigned int i;

	if (wait->deadline != KTIME_MAX) {
		ktime_t left = ktime_sub(wait->deadline, se_now(wait->clock));

		slice = clamp_t(ktime_t, left, 1, slice);
	}
	if (schedule_hrtimeout_range(&slice, current->timer_slack_ns, HRTIMER_MODE_REL))
		return false;

	for (i = 0; i < wait->n; i++, e++) {
		u64 value = se_value(e->w.ev);

		if (!se_silent(e->w.ev))
			continue;
		changed |= value != e->looked;
		e->looked = value;
		se_judge(e->w.ev);
	}
	*slice_us = se_silent_period(changed ? 0 : *slice_us * 2);
	return se_now(wait->clock) >= wait->deadline;
}

/*
 * Returns 0 if an entry won, -ETIMEDOUT, -ERESTARTSYS (deadlines are absolute, so
 * the call may start again), or -EIDRM.
 */
static int se_wait(struct se_wait *wait, struct se_wait_entry *e, bool silent)
{
	u64 slice_us = se_silent_period(0);
	unsigned int parked;
	int ret = 0, winner;

	wait->task = current;
	atomic_set(&wait->winner, SE_NO_WINNER);
	atomic_set(&wait->pending, wait->n);

	parked = se_wait_park(wait, e);
	for (;;) {
		bool late;

		/* Pairs with the wake-up that follows the claim. */
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (atomic_read(&wait->winner) != SE_NO_WINNER)
			break;
		if (!wait->deadline) {
			ret = -ETIMEDOUT;
			break;
		}
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		late = silent ? se_sleep_slice(wait, e, &slice_us) : se_sleep(wait);
		if (late) {
			ret = -ETIMEDOUT;
			break;
		}
	}
	__set_current_state(TASK_RUNNING);
	se_wait_unpark(wait, e, parked);

	winner = atomic_read(&wait->winner);
	if (winner != SE_NO_WINNER)
		ret = min(e[winner].status, 0);
	return ret;
}

/**
 * se_wait_cond() - sleep until a condition of one event holds
 * @ev: the event; the caller keeps it alive
 * @op: a valid SYNCEVENT_COND_*
 * @operand: right-hand side
 * @mask: applied to the value
 * @deadline: from se_deadline()
 * @clock: from se_clock()
 * @value: gets the value that satisfied it
 *
 * Return: 0, -ETIMEDOUT, -ERESTARTSYS, -EIDRM.
 */
int se_wait_cond(struct se_event *ev, u32 op, u64 operand, u64 mask,
		 ktime_t deadline, clockid_t clock, u64 *value)
{
	struct se_wait wait = { .n = 1, .deadline = deadline, .clock = clock };
	struct se_wait_entry e;
	int ret;

	trace_syncevent_wait_begin(ev->id, op, operand, mask);
	se_wait_entry_init(&e, &wait, 0, ev, op, operand, mask);
	ret = se_wait(&wait, &e, se_silent(ev));
	*value = e.value;
	trace_syncevent_wait_end(ev->id, ret ? 0 : e.value, ret);
	return ret;
}

/* ---- WAIT_MANY -------------------------------------------------------------------- */

static int se_wait_many_entry(struct se_wait_entry *e, struct se_wait *wait,
			      unsigned int index, const struct syncevent_wait_entry *in)
{
	struct se_event *ev;

	if (!se_cond_valid(in->cond) || in->reserved)
		return -EINVAL;
	e->file = se_event_fget(in->fd);
	if (IS_ERR(e->file))
		return PTR_ERR(e->file);
	ev = se_file_event(e->file);
	se_wait_entry_init(e, wait, index, ev, in->cond, in->operand, in->mask);
	return 0;
}

/**
 * se_wait_many() - SYNCEVENT_IOC_WAIT_MANY
 * @file: the device
 * @arg: struct syncevent_wait_many
 *
 * Return: 0, or a negative errno as docs/abi.md lists them.
 */
long se_wait_many(struct file *file, void *arg)
{
	struct syncevent_wait_many *many = arg;
	void __user *user = u64_to_user_ptr(many->entries);
	struct syncevent_wait_entry *io;
	struct se_wait_entry *e;
	struct se_wait wait;
	bool silent = false;
	unsigned int i, n = 0;
	size_t size;
	long ret;

	if (!many->count || many->count > SYNCEVENT_WAIT_MAX || many->reserved ||
	    many->flags & ~(SYNCEVENT_WAIT_REALTIME | SYNCEVENT_WAIT_ALL))
		return -EINVAL;

	wait = (struct se_wait){
		.n = many->count,
		.all = many->flags & SYNCEVENT_WAIT_ALL,
		.clock = se_clock(many->flags),
		.deadline = se_deadline(many->deadline, many->flags),
	};

	size = array_size(many->count, sizeof(*io));
	io = memdup_user(user, size);
	if (IS_ERR(io))
		return PTR_ERR(io);
	e = kvcalloc(many->count, sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e) {
		ret = -ENOMEM;
		goto out_io;
	}

	for (n = 0; n < many->count; n++) {
		ret = se_wait_many_entry(&e[n], &wait, n, &io[n]);
		if (ret)
			goto out_files;
		silent |= se_silent(e[n].w.ev);
	}

	for (i = 0; i < n; i++)
		trace_syncevent_wait_begin(e[i].w.ev->id, io[i].cond, io[i].operand,
					   io[i].mask);
	ret = se_wait(&wait, e, silent);
	for (i = 0; i < n; i++) {
		io[i].status = e[i].status;
		io[i].value = e[i].status > 0 ? e[i].value : 0;
		trace_syncevent_wait_end(e[i].w.ev->id, io[i].value,
					 ret ?: e[i].status);
	}
	if (!ret || ret == -EIDRM || ret == -EPIPE) {
		many->index = atomic_read(&wait.winner);
		if (copy_to_user(user, io, size))
			ret = -EFAULT;
	}

out_files:
	while (n--)
		fput(e[n].file);
	kvfree(e);
out_io:
	kfree(io);
	return ret;
}
