// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* watch.c - what polls on the shm provider */
#include "internal.h"

#include <errno.h>
int se_watch_arm(struct syncevent *ev, const struct se_cond *c)
{
	(void)ev;
	(void)c;
	return -ENOTSUP;
}
int se_watch_poll_fd(struct syncevent *ev)
{
	(void)ev;
	return -ENOTSUP;
}
int se_watch_read(struct syncevent *ev, uint64_t *value)
{
	(void)ev;
	(void)value;
	return -ENOTSUP;
}
void se_watch_close(struct syncevent *ev)
{
	(void)ev;
}
