// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#include <stdio.h>
#include <unistd.h>
#include <syncevent.h>

int main(void)
{
	struct syncevent *ev;
	uint64_t seen = 0;
	int err = syncevent_create(&ev, NULL);

	if (!err && fork() == 0) {		/* the child publishes */
		for (int i = 0; i < 5; i++)
			syncevent_add(ev, 1, NULL);
		_exit(0);
	}
	if (!err)				/* the parent waits for "at least 5" */
		err = syncevent_wait(ev, SYNCEVENT_GE, 5, UINT64_MAX, NULL, &seen);
	printf("%s: %llu\n", syncevent_strerror(err), (unsigned long long)seen);
	return err != 0;
}
