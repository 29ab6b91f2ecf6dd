/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place that names kernel versions. Each wrapper has the form that the
 * newest kernel has, made from what an older one offers.
 */
#ifndef SYNCEVENT_COMPAT_H
#define SYNCEVENT_COMPAT_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#include <crypto/algapi.h>	/* crypto_memneq() */
#else
#include <crypto/utils.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "syncevent needs Linux 6.1 or newer"
#endif

#if !defined(CONFIG_64BIT) || defined(CONFIG_CPU_BIG_ENDIAN)
#error "syncevent needs a 64-bit little-endian kernel"
#endif

/* Without SMP smp_mb() is no barrier towards another machine. */
#if !defined(CONFIG_PCI_MSI) || !defined(CONFIG_SMP)
#error "syncevent needs an SMP kernel with PCI and MSI"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
/* What the operations of inodes are passed, and pass on. */
#define mnt_idmap user_namespace

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* Accessors, some of which stable kernels have got as well: hence names of our own. */
static inline struct timespec64 se_inode_touch(struct inode *inode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	return inode->i_mtime = inode->i_ctime = current_time(inode);
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	return inode->i_mtime = inode_set_ctime_current(inode);
#else
	return inode_set_mtime_to_ts(inode, inode_set_ctime_current(inode));
#endif
}

static inline void se_inode_init_times(struct inode *inode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	inode->i_atime = se_inode_touch(inode);
#else
	simple_inode_init_ts(inode);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define se_timer_shutdown del_timer_sync
#else
#define se_timer_shutdown timer_shutdown_sync
#endif

/*
 * A dentry that stays until simple_unlink(), or until its file system goes; that has
 * to be told of them by older kernels.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
static inline void d_make_persistent(struct dentry *dentry, struct inode *inode)
{
	d_instantiate(dentry, inode);
	dget(dentry);
}

#define kill_persistent_super kill_litter_super
#else
#define kill_persistent_super kill_anon_super
#endif

#endif /* SYNCEVENT_COMPAT_H */
