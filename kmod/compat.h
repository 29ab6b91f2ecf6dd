/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place that names kernel versions. Each wrapper has the form that the
 * newest kernel has, made from what an older one offers.
 */
#ifndef SYNCEVENT_COMPAT_H
#define SYNCEVENT_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "syncevent needs Linux 6.1 or newer"
#endif

#if !defined(CONFIG_64BIT) || defined(CONFIG_CPU_BIG_ENDIAN)
#error "syncevent needs a 64-bit little-endian kernel"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* SYNCEVENT_COMPAT_H */
