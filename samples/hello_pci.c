// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#include <stdio.h>
#include <syncevent.h>

int main(int argc, char **argv)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .pci = "0000:00:10.0", .pages = 1 };
	struct syncevent *ev = NULL;
	void *text;
	int err;

	if (argc > 1) {				/* the other machine's event */
		err = syncevent_import_name(&ev, attr.pci, "hello", 0);
	} else {				/* an event for the other machine */
		err = syncevent_create(&ev, &attr);
		if (!err)
			err = syncevent_export_name(ev, "hello", 0);
	}
	if (!err)
		err = syncevent_payload(ev, &text, NULL);
	if (!err && argc > 1) {			/* what is written before "1" is there with it */
		snprintf(text, 4096, "%s", argv[1]);
		err = syncevent_set(ev, 1);
		text = argv[1];			/* the event may end now */
	} else if (!err) {
		err = syncevent_wait(ev, SYNCEVENT_EQ, 1, UINT64_MAX, NULL, NULL);
	}
	printf("%s: %s\n", syncevent_strerror(err), err ? "nothing" : (char *)text);
	syncevent_close(ev);
	return err != 0;
}
