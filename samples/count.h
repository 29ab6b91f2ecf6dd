/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef COUNT_H
#define COUNT_H

/** count_syscalls() - how many ioctl, read, poll and ppoll calls were made so far */
unsigned long count_syscalls(void);

#endif
