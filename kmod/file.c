// SPDX-License-Identifier: GPL-2.0-only
/*
 * The open files of an event: each CREATE, DUP and open(2) makes one, with rights, a
 * poll condition and a last-read value of its own (poll.c).
 */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "internal.h"
#include "trace.h"

/* ---- open files ----------------------------------------------------------------------- */

static struct se_file *se_file_alloc(struct se_event *ev)
{
	struct se_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return NULL;
	f->ev = ev;
	se_poll_init(f);
	return f;
}

static void se_file_attach(struct file *file, struct se_file *f)
{
	file->private_data = f;
	file->f_mode |= FMODE_NOWAIT;
	stream_open(file_inode(file), file);
}

/**
 * se_file_open() - another open file of an event without a name
 * @ev: the event
 * @mnt: the internal file system
 * @flags: as of open(2)
 *
 * Takes over a reference to the inode in any case, and on success the caller's
 * reference to the event, and its hold.
 *
 * Return: the file, or -ENOMEM, -ENFILE.
 */
struct file *se_file_open(struct se_event *ev, struct vfsmount *mnt, int flags)
{
	struct inode *inode = ev->inode;
	struct se_file *f;
	struct file *file;
	char name[32];

	f = se_file_alloc(ev);
	if (!f) {
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	snprintf(name, sizeof(name), "syncevent:%llu", ev->id);
	__module_get(THIS_MODULE);	/* the device file holds one; fput() drops this */
	file = alloc_file_pseudo(inode, mnt, name, flags, &se_event_fops);
	if (IS_ERR(file)) {
		module_put(THIS_MODULE);
		iput(inode);
		kfree(f);
		return file;
	}
	se_file_attach(file, f);
	return file;
}

/*
 * open(2) of a name, and DUP of a file that came from one. Files of the internal
 * file system do not come here: their inodes cannot be opened.
 */
static int se_event_open(struct inode *inode, struct file *file)
{
	struct se_event *ev = inode->i_private;
	struct se_file *f;

	/* There is no right to update without that to read. */
	if (!(file->f_mode & FMODE_READ))
		return -EINVAL;
	/* For a special file that is not the VFS's business. */
	if (file->f_mode & FMODE_WRITE && __mnt_is_readonly(file->f_path.mnt))
		return -EROFS;
	if (!se_event_hold(ev))
		return -EIDRM;
	if (READ_ONCE(ev->revoked)) {
		se_event_unhold(ev);
		return -EIDRM;
	}
	f = se_file_alloc(ev);
	if (!f) {
		se_event_unhold(ev);
		return -ENOMEM;
	}
	kref_get(&ev->ref);
	se_file_attach(file, f);
	return 0;
}

/**
 * se_event_fget() - the open file of an event
 * @fd: from user space
 *
 * Return: a reference for fput(), or -EBADF, -EINVAL.
 */
struct file *se_event_fget(int fd)
{
	struct file *file = fget(fd);

	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op != &se_event_fops) {
		fput(file);
		return ERR_PTR(-EINVAL);
	}
	return file;
}

/**
 * se_file_event() - the event of an open file
 * @file: from se_event_fget(), or of a mapping
 */
struct se_event *se_file_event(struct file *file)
{
	struct se_file *f = file->private_data;

	return f->ev;
}

/* The right to update, then life. */
static int se_may_update(struct file *file)
{
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	return READ_ONCE(se_file_event(file)->revoked) ? -EIDRM : 0;
}

static int se_may_read(struct file *file)
{
	return READ_ONCE(se_file_event(file)->revoked) ? -EIDRM : 0;
}

/**
 * se_event_create() - SYNCEVENT_IOC_CREATE
 * @device: the device file, which pins the file system
 * @arg: struct syncevent_create
 *
 * Return: a file descriptor, or a negative errno.
 */
long se_event_create(struct file *device, void *arg)
{
	const struct syncevent_create *create = arg;
	struct inode *inode;
	struct se_event *ev;
	struct file *file;
	int fd, flags = O_RDWR | O_CLOEXEC;
	long ret;

	if (!se_create_valid(create))
		return -EINVAL;
	if (create->flags & SYNCEVENT_CREATE_NONBLOCK)
		flags |= O_NONBLOCK;

	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return fd;

	inode = alloc_anon_inode(se_mnt->mnt_sb);
	if (IS_ERR(inode)) {
		ret = PTR_ERR(inode);
		goto err_fd;
	}
	ev = se_event_alloc(create, inode, NULL);
	if (IS_ERR(ev)) {
		iput(inode);
		ret = PTR_ERR(ev);
		/* What eventfd(2) and others say: there is no quota of files here. */
		if (ret == -EDQUOT)
			ret = -EMFILE;
		goto err_fd;
	}
	file = se_file_open(ev, se_mnt, flags);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto err_event;
	}
	trace_syncevent_create(ev->id, create->value, create->flags);
	fd_install(fd, file);
	return fd;

err_event:
	se_event_put(ev);
err_fd:
	put_unused_fd(fd);
	return ret;
}

static struct file *se_file_copy(struct file *file, int flags)
{
	struct se_event *ev = se_file_event(file);
	struct file *copy;

	if (file_inode(file)->i_private)	/* it came from a name */
		return dentry_open(&file->f_path, flags, current_cred());

	/* @file is open, so the event cannot end by these counts meanwhile. */
	ihold(ev->inode);
	kref_get(&ev->ref);
	se_event_hold(ev);
	copy = se_file_open(ev, file->f_path.mnt, flags);
	if (IS_ERR(copy)) {
		se_event_unhold(ev);
		se_event_put(ev);
	}
	return copy;
}

static long se_event_dup(struct file *file, void *arg)
{
	const struct syncevent_dup *dup = arg;
	int fd, flags = O_RDWR | O_CLOEXEC;
	struct file *copy;

	if (dup->flags & ~(SYNCEVENT_DUP_RDONLY | SYNCEVENT_DUP_NONBLOCK) ||
	    dup->reserved)
		return -EINVAL;
	if (se_may_read(file))
		return -EIDRM;
	if (dup->flags & SYNCEVENT_DUP_RDONLY || !(file->f_mode & FMODE_WRITE))
		flags = O_RDONLY | O_CLOEXEC;
	if (dup->flags & SYNCEVENT_DUP_NONBLOCK)
		flags |= O_NONBLOCK;

	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return fd;

	copy = se_file_copy(file, flags);
	if (IS_ERR(copy)) {
		put_unused_fd(fd);
		return PTR_ERR(copy);
	}
	fd_install(fd, copy);
	return fd;
}

static int se_event_release(struct inode *inode, struct file *file)
{
	struct se_file *f = file->private_data;
	struct se_event *ev = f->ev;
	u64 value;

	se_dequeue(&f->poll, &value);
	/* A publisher may have been killed between its update and its ring. */
	if (file->f_mode & FMODE_WRITE)
		se_judge_sides(ev);
	se_event_unhold(ev);
	se_event_put(ev);
	kfree_rcu(f, rcu);
	return 0;
}

/* ---- operations ------------------------------------------------------------------------- */

static long se_event_get(struct file *file, void *arg)
{
	struct syncevent_value *get = arg;

	/* In this order: a slot may be another event's once this one is revoked. */
	get->value = se_value(se_file_event(file));
	return se_may_read(file);
}

static long se_event_set(struct file *file, void *arg)
{
	const struct syncevent_value *set = arg;
	struct se_event *ev = se_file_event(file);
	int ret = se_may_update(file);

	if (ret)
		return ret;
	if (ev->slot)
		return se_slot_set(ev, set->value);
	atomic64_xchg((atomic64_t *)&ev->cell->value, set->value);	/* SE-A */
	se_publish(ev, set->value);
	return 0;
}

static int se_fetch_add(struct se_event *ev, u64 n, u64 *old)
{
	if (ev->slot)
		return se_slot_add(ev, n, old);
	*old = atomic64_fetch_add(n, (atomic64_t *)&ev->cell->value);	/* SE-A */
	se_publish(ev, *old + n);
	return 0;
}

static long se_event_add(struct file *file, void *arg)
{
	struct syncevent_add *add = arg;

	return se_may_update(file) ?:
	       se_fetch_add(se_file_event(file), add->value, &add->old);
}

static long se_event_ring(struct file *file, void *arg)
{
	struct se_event *ev = se_file_event(file);
	int ret = se_may_update(file);

	if (ret)
		return ret;
	atomic64_inc(&ev->rings);
	trace_syncevent_ring(ev->id, se_value(ev));
	se_judge_sides(ev);
	return 0;
}

static long se_event_revoke(struct file *file, void *arg)
{
	struct se_event *ev = se_file_event(file);
	int ret = se_may_update(file);

	if (!ret && ev->slot && se_slot_imported(ev->slot))
		ret = -EPERM;
	return ret ?: se_revoke(ev);
}

static long se_event_wait(struct file *file, void *arg)
{
	struct syncevent_wait *wait = arg;
	int ret;

	if (!se_cond_valid(wait->cond) || wait->flags & ~SYNCEVENT_WAIT_REALTIME)
		return -EINVAL;
	ret = se_may_read(file);
	if (ret)
		return ret;
	return se_wait_cond(se_file_event(file), wait->cond, wait->operand, wait->mask,
			    se_deadline(wait->deadline, wait->flags),
			    se_clock(wait->flags), &wait->value);
}

/*
 * An event that O_TMPFILE made has the default attributes. Until it has got its name,
 * which shows it to others, they may be chosen.
 */
static long se_event_setup(struct file *file, void *arg)
{
	const struct syncevent_create *setup = arg;
	struct se_event *ev = se_file_event(file);
	int ret;

	if (!se_create_valid(setup) || setup->flags & SYNCEVENT_CREATE_NONBLOCK)
		return -EINVAL;
	ret = se_may_update(file);
	if (ret)
		return ret;

	/* Who waits already waits as for the event that it was: silent or not. */
	spin_lock_irq(&ev->lock);
	if (!ev->nameless || ev->nr_waiters) {
		spin_unlock_irq(&ev->lock);
		return -EBUSY;
	}
	WRITE_ONCE(ev->flags, setup->flags);
	ev->publishers = setup->publishers ?: SYNCEVENT_LOC_CPU;
	ev->subscribers = setup->subscribers ?: SYNCEVENT_LOC_CPU;
	WRITE_ONCE(ev->cell->flags, se_silent(ev) ? SYNCEVENT_CELL_SILENT : 0);
	spin_unlock_irq(&ev->lock);
	return se_event_set(file, &(struct syncevent_value){ setup->value });
}

static long se_event_info(struct file *file, void *arg)
{
	struct syncevent_info *info = arg;
	struct se_event *ev = se_file_event(file);

	spin_lock_irq(&ev->lock);
	*info = (struct syncevent_info){
		.id = ev->id,
		.value = ev->revoked ? ev->final : se_value(ev),
		.generation = ev->generation,
		.publishers = ev->publishers,
		.subscribers = ev->subscribers,
		.sides = 1,
		.waiters = ev->nr_waiters,
		.rings = atomic64_read(&ev->rings),
		.wakes = ev->wakes,
	};
	if (file->f_mode & FMODE_WRITE)
		info->flags |= SYNCEVENT_INFO_UPDATE;
	if (ev->revoked)
		info->flags |= SYNCEVENT_INFO_REVOKED;
	if (se_silent(ev))
		info->flags |= SYNCEVENT_INFO_SILENT;
	if (ev->slot)
		se_slot_info(ev->slot, info);
	if (ev->dead)
		info->flags |= SYNCEVENT_INFO_PEER_DEAD;
	spin_unlock_irq(&ev->lock);
	return 0;
}

/* ---- file operations ------------------------------------------------------------------------ */

static const struct se_ioctl se_event_ioctls[] = {
	{ SYNCEVENT_IOC_RING, se_event_ring },
	{ SYNCEVENT_IOC_WAIT, se_event_wait },
	{ SYNCEVENT_IOC_GET, se_event_get },
	{ SYNCEVENT_IOC_SET, se_event_set },
	{ SYNCEVENT_IOC_ADD, se_event_add },
	{ SYNCEVENT_IOC_ARM, se_event_arm },
	{ SYNCEVENT_IOC_DUP, se_event_dup },
	{ SYNCEVENT_IOC_INFO, se_event_info },
	{ SYNCEVENT_IOC_REVOKE, se_event_revoke },
	{ SYNCEVENT_IOC_SETUP, se_event_setup },
	{ SYNCEVENT_IOC_EXPORT, se_event_export },
	{ SYNCEVENT_IOC_EXPORT_NAME, se_event_name },
};

static long se_event_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return se_ioctl_dispatch(file, cmd, arg, se_event_ioctls,
				 ARRAY_SIZE(se_event_ioctls));
}

static ssize_t se_event_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	int ret;
	u64 n;

	if (iov_iter_count(from) < sizeof(n))
		return -EINVAL;
	ret = se_may_update(file);
	if (ret)
		return ret;
	if (!copy_from_iter_full(&n, sizeof(n), from))
		return -EFAULT;
	return se_fetch_add(se_file_event(file), n, &n) ?: sizeof(n);
}

static void se_event_show_fdinfo(struct seq_file *m, struct file *file)
{
	static const char * const ops[] = { "eq", "neq", "gt", "ge", "lt", "le" };
	struct se_file *f = file->private_data;
	struct syncevent_info info;
	struct se_waiter cond;
	bool armed;
	u64 last;

	se_event_info(file, &info);
	spin_lock_irq(&f->ev->lock);
	cond = f->poll;
	armed = f->armed;
	last = f->last;
	spin_unlock_irq(&f->ev->lock);

	seq_printf(m, "syncevent-id:\t%llu\n", info.id);
	seq_printf(m, "syncevent-value:\t%llu\n", info.value);
	seq_printf(m, "syncevent-state:\t%s\n",
		   info.flags & SYNCEVENT_INFO_REVOKED ? "revoked" : "live");
	seq_printf(m, "syncevent-rights:\t%s\n",
		   info.flags & SYNCEVENT_INFO_UPDATE ? "read,update" : "read");
	seq_printf(m, "syncevent-flags:\t%s\n",
		   info.flags & SYNCEVENT_INFO_SILENT ? "silent" : "-");
	seq_printf(m, "syncevent-waiters:\t%u\n", info.waiters);
	seq_printf(m, "syncevent-rings:\t%llu\n", info.rings);
	seq_printf(m, "syncevent-wakes:\t%llu\n", info.wakes);
	seq_printf(m, "syncevent-looks:\t%llu\n", READ_ONCE(f->ev->looks));
	if (armed)
		seq_printf(m, "syncevent-condition:\t%s %llu mask %#llx\n",
			   ops[cond.op], cond.operand, cond.mask);
	else
		seq_puts(m, "syncevent-condition:\tunread\n");
	seq_printf(m, "syncevent-last-read:\t%llu\n", last);
}

const struct file_operations se_event_fops = {
	.owner = THIS_MODULE,
	.open = se_event_open,
	.release = se_event_release,
	.unlocked_ioctl = se_event_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read_iter = se_event_read_iter,
	.write_iter = se_event_write_iter,
	.poll = se_event_poll,
	.mmap = se_mmap,
	.show_fdinfo = se_event_show_fdinfo,
};
