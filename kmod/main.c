// SPDX-License-Identifier: GPL-2.0-only
/*
 * syncevent: 64-bit events that execution units update, read and wait on.
 *
 * The device, the parameters, and the dispatch of ioctls. Read internal.h first.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "internal.h"

static_assert(sizeof(struct syncevent_cell) == 64);
static_assert(offsetof(struct syncevent_cell, hint) == 16);

unsigned int se_events_max = 32768;
module_param_named(events_max, se_events_max, uint, 0644);
MODULE_PARM_DESC(events_max, "most events of one user");

unsigned int se_entries_max = 262144;
module_param_named(entries_max, se_entries_max, uint, 0644);
MODULE_PARM_DESC(entries_max, "most wait-queue entries of one user");

unsigned int se_silent_min_us = 50;
module_param_named(silent_min_us, se_silent_min_us, uint, 0644);
MODULE_PARM_DESC(silent_min_us, "shortest period of the looks at a silent event");

unsigned int se_silent_max_us = 4000;
module_param_named(silent_max_us, se_silent_max_us, uint, 0644);
MODULE_PARM_DESC(silent_max_us, "longest period of the looks at a silent event");

struct workqueue_struct *se_workqueue;

/* The kernel's copy of any structure of an ioctl. */
union se_arg {
	struct syncevent_create create;
	struct syncevent_wait_many wait_many;
	struct syncevent_queue_create queue;
	struct syncevent_dev_info dev_info;
	struct syncevent_value value;
	struct syncevent_add add;
	struct syncevent_wait wait;
	struct syncevent_arm arm;
	struct syncevent_dup dup;
	struct syncevent_info info;
	struct syncevent_queue_add queue_add;
	struct syncevent_queue_cancel queue_cancel;
	struct syncevent_pci_create pci_create;
	struct syncevent_pci_info pci_info;
	struct syncevent_pci_peer pci_peer;
	struct syncevent_pci_name pci_name;
	struct syncevent_export export;
	struct syncevent_import import;
};

#define SE_CMD_KEY(cmd)	((cmd) & ~(_IOC_SIZEMASK << _IOC_SIZESHIFT))

/**
 * se_ioctl_dispatch() - find a command, copy its structure in and out
 * @file: on which it was called
 * @cmd: from user space; its size is that of the caller's structure
 * @arg: pointer to that structure
 * @table: the commands of this kind of file
 * @n: length of @table
 *
 * Return: what the command returns, or -ENOTTY, -EINVAL, -E2BIG, -EFAULT.
 */
long se_ioctl_dispatch(struct file *file, unsigned int cmd, unsigned long arg,
		       const struct se_ioctl *table, unsigned int n)
{
	void __user *user = (void __user *)arg;
	size_t usize = _IOC_SIZE(cmd), ksize;
	const struct se_ioctl *ioc = table;
	union se_arg karg = {};
	long ret;

	while (SE_CMD_KEY(ioc->cmd) != SE_CMD_KEY(cmd))
		if (++ioc == table + n)
			return -ENOTTY;

	ksize = _IOC_SIZE(ioc->cmd);
	if (!ksize && usize)
		return -ENOTTY;
	if (usize < ksize)
		return -EINVAL;
	if (_IOC_DIR(cmd) & _IOC_WRITE) {
		ret = copy_struct_from_user(&karg, ksize, user, usize);
		if (ret)
			return ret;
	}

	ret = ioc->fn(file, &karg);

	if (_IOC_DIR(cmd) & _IOC_READ &&
	    (ret >= 0 || (ioc->answers_dead && (ret == -EIDRM || ret == -EPIPE)))) {
		if (copy_to_user(user, &karg, ksize) ||
		    clear_user(user + ksize, usize - ksize))
			return -EFAULT;
	}
	return ret;
}

static long se_dev_info(struct file *file, void *arg)
{
	struct syncevent_dev_info *info = arg;
	struct se_user *user = se_user_get();

	if (!user)
		return -ENOMEM;
	*info = (struct syncevent_dev_info){
		.abi = SYNCEVENT_ABI_VERSION,
		.wait_max = SYNCEVENT_WAIT_MAX,
		.caps = SYNCEVENT_CAP_SILENT | SYNCEVENT_CAP_QUEUE |
			SYNCEVENT_CAP_IO_URING,
		.events_max = READ_ONCE(se_events_max),
		.events = atomic_read(&user->events),
		.entries_max = READ_ONCE(se_entries_max),
		.entries = atomic_read(&user->entries),
		.silent_min_ns = NSEC_PER_USEC * se_silent_period(0),
		.silent_max_ns = NSEC_PER_USEC * se_silent_period(U64_MAX),
	};
	se_user_put(user);
	return 0;
}

static const struct se_ioctl se_dev_ioctls[] = {
	{ SYNCEVENT_IOC_WAIT_MANY, se_wait_many, .answers_dead = true },
	{ SYNCEVENT_IOC_CREATE, se_event_create },
	{ SYNCEVENT_IOC_QUEUE, se_queue_create },
	{ SYNCEVENT_IOC_DEV_INFO, se_dev_info },
};

static long se_dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return se_ioctl_dispatch(file, cmd, arg, se_dev_ioctls,
				 ARRAY_SIZE(se_dev_ioctls));
}

static int se_dev_open(struct inode *inode, struct file *file)
{
	int ret = se_fs_pin();

	return ret ?: nonseekable_open(inode, file);
}

static int se_dev_release(struct inode *inode, struct file *file)
{
	se_fs_unpin();
	return 0;
}

static const struct file_operations se_dev_fops = {
	.owner = THIS_MODULE,
	.open = se_dev_open,
	.release = se_dev_release,
	.unlocked_ioctl = se_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice se_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "syncevent",
	.fops = &se_dev_fops,
	.mode = 0666,	/* harmless as eventfd: limits are per user, rights per file */
};

static int __init se_init(void)
{
	int ret;

	se_workqueue = alloc_workqueue("syncevent", WQ_UNBOUND, 0);
	if (!se_workqueue)
		return -ENOMEM;
	ret = register_filesystem(&se_names_type);
	if (ret)
		goto err_workqueue;
	ret = misc_register(&se_dev);
	if (ret)
		goto err_names;
	ret = se_ivshmem_init();
	if (ret)
		goto err_device;
	return 0;

err_device:
	misc_deregister(&se_dev);
err_names:
	unregister_filesystem(&se_names_type);
err_workqueue:
	destroy_workqueue(se_workqueue);
	return ret;
}

static void __exit se_exit(void)
{
	se_ivshmem_exit();
	misc_deregister(&se_dev);
	unregister_filesystem(&se_names_type);
	destroy_workqueue(se_workqueue);
}

module_init(se_init);
module_exit(se_exit);

MODULE_DESCRIPTION("Sync events: 64-bit counters to update, read and wait on");
MODULE_LICENSE("GPL");
