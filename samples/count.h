/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef COUNT_H
#define COUNT_H

/** count_syscalls() - how many waits and updates have entered the kernel */
unsigned long count_syscalls(void);

#endif
