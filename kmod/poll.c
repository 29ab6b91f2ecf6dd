// SPDX-License-Identifier: GPL-2.0-only
/*
 * The poll condition of an open file: what ARM sets, or "differs from what was last
 * read through it". poll(2) and read(2) park one waiter for all who sleep on the file.
 */
#include <linux/poll.h>
#include <linux/uio.h>

#include "internal.h"
#include "trace.h"

/* ---- the waiter --------------------------------------------------------------------------- */

static bool se_poll_fire(struct se_waiter *w, u64 value, int status,
			 struct se_batch *batch)
{
	struct se_file *f = container_of(w, struct se_file, poll);

	/*
	 * All pollers: one that is woken alone and dies before it calls ->poll would
	 * leave the file unarmed, and the others asleep.
	 */
	se_batch_wq(batch, &f->wq, 0);
	return true;
}

/**
 * se_poll_init() - the condition of a new open file: another value than that of now
 * @f: the file, of which the event is known
 */
void se_poll_init(struct se_file *f)
{
	struct se_event *ev = f->ev;

	f->poll.ev = ev;
	f->poll.fire = se_poll_fire;
	f->poll.async = true;
	init_waitqueue_head(&f->wq);
	f->last = se_value(ev);
	se_waiter_set(&f->poll, SYNCEVENT_COND_NEQ, f->last, SYNCEVENT_MASK_ALL);
}

/*
 * Park the poll waiter. One whose condition holds already waits for the next update. In
 * the order of this one pollers that arm again would be met again and again, before
 * those that wait for more; so it is set aside, as are those of a dead event, behind
 * all that are about to be told of that.
 */
static void se_file_park(struct se_file *f)
{
	struct se_event *ev = f->ev;

	lockdep_assert_held(&ev->lock);

	f->poll.orphan = ev->dead;
	if (ev->dead || se_holds(&f->poll, se_value(ev)))
		se_waiter_aside(&f->poll);
	se_insert(&f->poll);
	se_hint_update(ev);
}

/*
 * Arm the file, if it is not, and look: does its condition hold, and for which
 * value?
 */
static bool se_file_arm(struct se_file *f, u64 *value)
{
	struct se_event *ev = f->ev;
	bool fresh = !f->poll.queued;

	lockdep_assert_held(&ev->lock);

	if (fresh) {
		se_waiter_set(&f->poll, f->poll.op, f->poll.operand, f->poll.mask);
		se_file_park(f);
	}
	smp_mb();	/* SE-B */
	*value = se_value(ev);
	if (!se_holds(&f->poll, *value)) {
		/* This caller was told of nothing. */
		f->poll.told = false;
		return false;
	}
	if (fresh && se_silent(ev)) {
		se_unlink(&f->poll);
		se_waiter_told(&f->poll, *value);
		se_insert(&f->poll);
		se_hint_update(ev);
	}
	return true;
}

/*
 * Give the poll waiter another condition, armed or not. Returns whether that holds
 * already: then the caller wakes the pollers, since the update that made it hold
 * may have been judged by the old condition.
 */
static bool se_file_rekey(struct se_file *f, u32 op, u64 operand, u64 mask)
{
	struct se_event *ev = f->ev;
	bool queued = f->poll.queued;

	lockdep_assert_held(&ev->lock);

	if (queued)
		se_unlink(&f->poll);
	se_waiter_set(&f->poll, op, operand, mask);
	if (queued)
		se_file_park(f);
	smp_mb();	/* SE-B */
	return se_holds(&f->poll, se_value(ev));
}

/* Without ARM the condition is "differs from what was last read". */
static bool se_file_rekey_unread(struct se_file *f)
{
	return se_file_rekey(f, SYNCEVENT_COND_NEQ, f->last, SYNCEVENT_MASK_ALL);
}

/*
 * Does the condition of the file hold? If not, arm the poll waiter, which wakes f->wq; but
 * only look if @deaths, how many there had been when the wait began, is NULL. Returns 1, 0,
 * -EIDRM or -EPIPE.
 */
static int se_file_ready(struct se_file *f, const u32 *deaths, u64 *value)
{
	struct se_event *ev = f->ev;
	int ret = -EIDRM;

	spin_lock_irq(&ev->lock);
	if (ev->revoked)
		goto out;
	*value = se_value(ev);
	ret = se_holds(&f->poll, *value);
	/* The reader that a death has woken may find that it is over. */
	if (!ret && (ev->dead || (deaths && *deaths != ev->hint.deaths)))
		ret = -EPIPE;
	if (ret || !deaths)
		goto out;
	ret = se_file_arm(f, value);
out:
	spin_unlock_irq(&ev->lock);
	if (!ret && deaths)
		se_look_soon(ev);
	return ret;
}

static int se_file_wait(struct se_file *f, u64 *value)
{
	struct se_event *ev = f->ev;
	struct se_waiter cond;
	int ret, status = 0;
	u32 deaths;

	spin_lock_irq(&ev->lock);
	cond = f->poll;
	deaths = ev->hint.deaths;
	spin_unlock_irq(&ev->lock);
	trace_syncevent_wait_begin(ev->id, cond.op, cond.operand, cond.mask);
	ret = wait_event_interruptible(f->wq, (status = se_file_ready(f, &deaths, value)));
	ret = ret ?: min(status, 0);

	/* Armed for nobody, the file would ask for rings. */
	spin_lock_irq(&ev->lock);
	/*
	 * A poller is on f->wq before it takes the event lock to arm, and so is another
	 * reader the last time it looks: it is seen here, or it arms after this.
	 */
	if (f->poll.queued && !waitqueue_active(&f->wq)) {
		se_unlink(&f->poll);
		se_hint_update(ev);
	}
	spin_unlock_irq(&ev->lock);
	trace_syncevent_wait_end(ev->id, ret ? 0 : *value, ret);
	return ret;
}

/* ---- operations ----------------------------------------------------------------------------- */

/**
 * se_event_arm() - SYNCEVENT_IOC_ARM
 * @file: of an event
 * @arg: struct syncevent_arm
 *
 * Return: 0, -EINVAL or -EIDRM.
 */
long se_event_arm(struct file *file, void *arg)
{
	const struct syncevent_arm *arm = arg;
	struct se_file *f = file->private_data;
	struct se_event *ev = f->ev;
	bool clear = arm->flags & SYNCEVENT_ARM_CLEAR;
	bool ready;

	if (arm->flags & ~SYNCEVENT_ARM_CLEAR || !se_cond_valid(arm->cond) ||
	    (clear && (arm->cond || arm->operand || arm->mask)))
		return -EINVAL;

	spin_lock_irq(&ev->lock);
	if (ev->revoked) {
		spin_unlock_irq(&ev->lock);
		return -EIDRM;
	}
	f->armed = !clear;
	ready = clear ? se_file_rekey_unread(f) :
		se_file_rekey(f, arm->cond, arm->operand, arm->mask);
	spin_unlock_irq(&ev->lock);

	if (ready)
		wake_up_all(&f->wq);
	return 0;
}

/**
 * se_event_read_iter() - read(2): the value, as soon as the condition holds
 * @iocb: of an open file
 * @to: at least eight bytes
 *
 * Return: 8, or -EAGAIN, -EFAULT, -EIDRM, -EINVAL, -EPIPE, -ERESTARTSYS.
 */
ssize_t se_event_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct se_file *f = file->private_data;
	bool ready;
	u64 value;
	int ret;

	if (iov_iter_count(to) < sizeof(value))
		return -EINVAL;
	ret = se_file_ready(f, NULL, &value);
	if (!ret) {
		if (file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT)
			return -EAGAIN;
		ret = se_file_wait(f, &value);
	}
	if (ret < 0)
		return ret;
	if (copy_to_iter(&value, sizeof(value), to) != sizeof(value))
		return -EFAULT;

	spin_lock_irq(&f->ev->lock);
	f->last = value;
	ready = !f->armed && se_file_rekey_unread(f);
	spin_unlock_irq(&f->ev->lock);
	if (ready)
		wake_up_all(&f->wq);
	return sizeof(value);
}

/**
 * se_event_poll() - poll(2): does the condition hold?
 * @file: of an event
 * @pt: as always
 */
__poll_t se_event_poll(struct file *file, poll_table *pt)
{
	struct se_file *f = file->private_data;
	struct se_event *ev = f->ev;
	__poll_t events = 0;
	u64 value;

	poll_wait(file, &f->wq, pt);

	/*
	 * Armed even if the condition holds: an edge-triggered poller wants to hear
	 * of the next update too, and does not poll again before it.
	 */
	spin_lock_irq(&ev->lock);
	if (ev->revoked) {
		spin_unlock_irq(&ev->lock);
		return EPOLLHUP | EPOLLERR;
	}
	if (se_file_arm(f, &value))
		events |= EPOLLIN | EPOLLRDNORM;
	if (ev->dead)
		events |= EPOLLERR;
	spin_unlock_irq(&ev->lock);

	se_look_soon(ev);
	if (file->f_mode & FMODE_WRITE)
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}
