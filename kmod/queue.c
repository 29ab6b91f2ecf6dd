// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wait queues: waits without a thread, reaped by read(2).
 *
 * An entry is parked on its event until it completes; the completion is part of
 * the entry, so completing needs no memory. It stays in the queue's tree until it
 * was copied out, cancelled, or the queue is closed: those three, under the mutex,
 * are the only ones that free entries.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "internal.h"

/**
 * struct se_queue - a wait queue
 * @mutex: protects @entries; held while completions are copied out
 * @entries: struct se_entry by cookie
 * @nr: number of @entries
 * @lock: protects @done and @nr_done
 * @done: completed entries, oldest first
 * @nr_done: number of @done
 * @wq: readers and pollers
 * @wake: wakes them after a deadline
 * @user: who is charged for the entries
 * @rcu: a batch may still wake @wq
 */
struct se_queue {
	struct mutex mutex;	/* @entries */
	struct rb_root entries;
	unsigned int nr;
	spinlock_t lock;	/* @done */
	struct list_head done;
	unsigned int nr_done;
	struct wait_queue_head wq;
	struct work_struct wake;
	struct se_user *user;
	struct rcu_head rcu;
};

/**
 * struct se_entry - an entry of a wait queue
 * @w: parked on the event
 * @q: the queue
 * @node: in se_queue.entries
 * @done: in se_queue.done once it has completed
 * @timer: ends it at its deadline
 * @completion: what read(2) returns
 */
struct se_entry {
	struct se_waiter w;
	struct se_queue *q;
	struct rb_node node;
	struct list_head done;
	struct hrtimer timer;
	struct syncevent_completion completion;
};

/* ---- entries ------------------------------------------------------------------- */

static int se_cookie_compare(const void *key, const struct rb_node *node)
{
	u64 a = *(const u64 *)key;
	u64 b = rb_entry(node, struct se_entry, node)->completion.cookie;

	return a < b ? -1 : a > b;
}

static int se_entry_compare(struct rb_node *a, const struct rb_node *b)
{
	return se_cookie_compare(&rb_entry(a, struct se_entry, node)->completion.cookie,
				 b);
}

static void se_entry_complete(struct se_entry *e, u64 value, int status)
{
	struct se_queue *q = e->q;
	unsigned long irq;

	e->completion.value = value;
	e->completion.status = status;
	spin_lock_irqsave(&q->lock, irq);
	list_add_tail(&e->done, &q->done);
	WRITE_ONCE(q->nr_done, q->nr_done + 1);
	spin_unlock_irqrestore(&q->lock, irq);
}

static bool se_entry_fire(struct se_waiter *w, u64 value, int status,
			  struct se_batch *batch)
{
	struct se_entry *e = container_of(w, struct se_entry, w);

	se_batch_wq(batch, &e->q->wq, 1);
	/* Last: once it is in @done a reader may free it. */
	se_entry_complete(e, value, status);
	return true;
}

static void se_entry_take(struct se_entry *e)
{
	struct se_queue *q = e->q;

	spin_lock_irq(&q->lock);
	list_del(&e->done);
	WRITE_ONCE(q->nr_done, q->nr_done - 1);
	spin_unlock_irq(&q->lock);
}

/*
 * A user may have a quarter of a million deadlines for one moment, and a thousand pollers.
 * They are woken from here, as often as there is time for it: for each deadline, by its
 * timer, would keep a CPU in interrupts for minutes.
 */
static void se_queue_wake(struct work_struct *work)
{
	wake_up(&container_of(work, struct se_queue, wake)->wq);
}

static enum hrtimer_restart se_entry_timer(struct hrtimer *timer)
{
	struct se_entry *e = container_of(timer, struct se_entry, timer);

	/* Read or not, the entry stays until its timer has done. */
	if (se_expire(&e->w))
		queue_work(se_workqueue, &e->q->wake);
	return HRTIMER_NORESTART;
}

static void se_entry_free(struct se_entry *e)
{
	hrtimer_cancel(&e->timer);
	se_event_put(e->w.ev);
	se_user_uncharge(&e->q->user->entries);
	kfree(e);
}

/* Not parked, not in @done: nobody but its timer knows the entry any more. */
static void se_entry_remove(struct se_entry *e)
{
	rb_erase(&e->node, &e->q->entries);
	WRITE_ONCE(e->q->nr, e->q->nr - 1);
	se_entry_free(e);
}

static struct se_entry *se_entry_alloc(struct se_queue *q, struct se_event *ev,
				       const struct syncevent_queue_add *add)
{
	struct se_entry *e;

	if (!se_user_charge(&q->user->entries, READ_ONCE(se_entries_max)))
		return ERR_PTR(-ENOSPC);
	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e) {
		se_user_uncharge(&q->user->entries);
		return ERR_PTR(-ENOMEM);
	}
	kref_get(&ev->ref);
	e->q = q;
	e->w.ev = ev;
	e->w.fire = se_entry_fire;
	e->w.async = true;
	e->completion.cookie = add->cookie;
	se_waiter_set(&e->w, add->cond, add->operand, add->mask);
	hrtimer_setup(&e->timer, se_entry_timer, se_clock(add->flags),
		      HRTIMER_MODE_ABS_SOFT);
	return e;
}

/* ---- commands --------------------------------------------------------------------- */

/* Park a new entry, or complete it at once. Returns 0 or -EIDRM. */
static int se_entry_start(struct se_entry *e, ktime_t deadline)
{
	u64 value;
	int ret = se_enqueue(&e->w, !deadline, &value);

	if (ret < 0)
		return ret;
	if (ret || !deadline) {
		se_entry_complete(e, ret ? value : 0, ret ? 0 : -ETIMEDOUT);
		wake_up(&e->q->wq);
	} else if (deadline != KTIME_MAX) {
		hrtimer_start(&e->timer, deadline, HRTIMER_MODE_ABS_SOFT);
	}
	return 0;
}

static long se_queue_add(struct file *file, void *arg)
{
	const struct syncevent_queue_add *add = arg;
	struct se_queue *q = file->private_data;
	struct file *event;
	struct se_entry *e;
	long ret;

	if (!se_cond_valid(add->cond) || add->flags & ~SYNCEVENT_WAIT_REALTIME ||
	    add->reserved)
		return -EINVAL;
	event = se_event_fget(add->fd);
	if (IS_ERR(event))
		return PTR_ERR(event);

	ret = -ERESTARTSYS;
	if (mutex_lock_interruptible(&q->mutex))
		goto out_file;
	e = se_entry_alloc(q, se_file_event(event), add);
	if (IS_ERR(e)) {
		ret = PTR_ERR(e);
		goto out_unlock;
	}
	if (rb_find_add(&e->node, &q->entries, se_entry_compare)) {
		se_entry_free(e);
		ret = -EEXIST;
		goto out_unlock;
	}
	WRITE_ONCE(q->nr, q->nr + 1);
	ret = se_entry_start(e, se_deadline(add->deadline, add->flags));
	if (ret)
		se_entry_remove(e);
out_unlock:
	mutex_unlock(&q->mutex);
out_file:
	fput(event);
	return ret;
}

static long se_queue_cancel(struct file *file, void *arg)
{
	const struct syncevent_queue_cancel *cancel = arg;
	struct se_queue *q = file->private_data;
	struct rb_node *node;
	struct se_entry *e;
	long ret = 0;
	u64 value;

	if (mutex_lock_interruptible(&q->mutex))
		return -ERESTARTSYS;
	node = rb_find(&cancel->cookie, &q->entries, se_cookie_compare);
	if (!node) {
		ret = -ENOENT;
		goto out;
	}
	e = rb_entry(node, struct se_entry, node);
	if (se_dequeue(&e->w, &value))
		se_entry_remove(e);
	else
		ret = -EALREADY;
out:
	mutex_unlock(&q->mutex);
	return ret;
}

/* ---- file operations ----------------------------------------------------------------- */

static const struct se_ioctl se_queue_ioctls[] = {
	{ SYNCEVENT_IOC_QUEUE_ADD, se_queue_add },
	{ SYNCEVENT_IOC_QUEUE_CANCEL, se_queue_cancel },
};

static long se_queue_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return se_ioctl_dispatch(file, cmd, arg, se_queue_ioctls,
				 ARRAY_SIZE(se_queue_ioctls));
}

/* Only readers take from @done, and they hold the mutex: the first one stays. */
static struct se_entry *se_queue_first(struct se_queue *q)
{
	struct se_entry *e;

	lockdep_assert_held(&q->mutex);

	spin_lock_irq(&q->lock);
	e = list_first_entry_or_null(&q->done, struct se_entry, done);
	spin_unlock_irq(&q->lock);
	return e;
}

/* Copy out what is done and fits. Returns bytes, 0 if nothing is done, -EFAULT. */
static ssize_t se_queue_reap(struct se_queue *q, struct iov_iter *to)
{
	struct se_entry *e;
	ssize_t n = 0;

	while (iov_iter_count(to) >= sizeof(e->completion) && (e = se_queue_first(q))) {
		if (copy_to_iter(&e->completion, sizeof(e->completion), to) !=
		    sizeof(e->completion))
			return n ?: -EFAULT;
		n += sizeof(e->completion);

		se_entry_take(e);
		se_entry_remove(e);
		cond_resched();
	}
	return n;
}

static ssize_t se_queue_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct se_queue *q = file->private_data;
	bool nowait = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	ssize_t n;

	if (iov_iter_count(to) < sizeof(struct syncevent_completion))
		return -EINVAL;

	for (;;) {
		if (nowait) {
			if (!READ_ONCE(q->nr_done))
				return -EAGAIN;
		} else if (wait_event_interruptible(q->wq, READ_ONCE(q->nr_done))) {
			return -ERESTARTSYS;
		}
		if (mutex_lock_interruptible(&q->mutex))
			return -ERESTARTSYS;
		n = se_queue_reap(q, to);
		mutex_unlock(&q->mutex);
		if (n)
			return n;
		/* Another reader was faster. */
	}
}

static __poll_t se_queue_poll(struct file *file, poll_table *pt)
{
	struct se_queue *q = file->private_data;

	poll_wait(file, &q->wq, pt);
	return READ_ONCE(q->nr_done) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int se_queue_release(struct inode *inode, struct file *file)
{
	struct se_queue *q = file->private_data;
	struct rb_node *node;
	u64 value;

	while ((node = rb_first(&q->entries))) {
		struct se_entry *e = rb_entry(node, struct se_entry, node);

		/* Those that still wait may be fired meanwhile, into @done. */
		if (!se_dequeue(&e->w, &value))
			se_entry_take(e);
		se_entry_remove(e);
		cond_resched();
	}
	cancel_work_sync(&q->wake);
	se_user_put(q->user);
	kfree_rcu(q, rcu);
	return 0;
}

static void se_queue_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct se_queue *q = file->private_data;

	seq_printf(m, "syncevent-queue-entries:\t%u\n", READ_ONCE(q->nr));
	seq_printf(m, "syncevent-queue-done:\t%u\n", READ_ONCE(q->nr_done));
}

static const struct file_operations se_queue_fops = {
	.owner = THIS_MODULE,
	.release = se_queue_release,
	.unlocked_ioctl = se_queue_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read_iter = se_queue_read_iter,
	.poll = se_queue_poll,
	.show_fdinfo = se_queue_show_fdinfo,
};

/**
 * se_queue_create() - SYNCEVENT_IOC_QUEUE
 * @device: the device file
 * @arg: struct syncevent_queue_create
 *
 * Return: a file descriptor, or a negative errno.
 */
long se_queue_create(struct file *device, void *arg)
{
	const struct syncevent_queue_create *create = arg;
	int fd, flags = O_RDWR | O_CLOEXEC;
	struct file *file;
	struct se_queue *q;
	long ret = -ENOMEM;

	if (create->flags & ~SYNCEVENT_QUEUE_NONBLOCK || create->reserved)
		return -EINVAL;
	if (create->flags & SYNCEVENT_QUEUE_NONBLOCK)
		flags |= O_NONBLOCK;

	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return fd;
	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (!q)
		goto err_fd;
	q->user = se_user_get();
	if (!q->user)
		goto err_queue;
	mutex_init(&q->mutex);
	q->entries = RB_ROOT;
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->done);
	init_waitqueue_head(&q->wq);
	INIT_WORK(&q->wake, se_queue_wake);

	file = anon_inode_getfile("[syncevent-queue]", &se_queue_fops, q, flags);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto err_user;
	}
	file->f_mode |= FMODE_NOWAIT;
	stream_open(file_inode(file), file);
	fd_install(fd, file);
	return fd;

err_user:
	se_user_put(q->user);
err_queue:
	kfree(q);
err_fd:
	put_unused_fd(fd);
	return ret;
}
