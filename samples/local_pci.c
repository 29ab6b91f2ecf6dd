// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * local_pci.c - an event for another machine: makes it and exports it
 *
 * Odd values are signals from there, even ones the answers from here. On the other
 * machine: remote_pci, with the same --name, or with the file of --blob.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/syncevent.h>
#include <syncevent.h>

#include "exchange.h"

static const char doc[] =
	"Make an event in memory that machines share, and answer the signals that remote_pci "
	"sends through it on another machine.";

/* Who has these bytes may update the event: the file is nobody else's. */
static void write_blob(const struct exchange *x)
{
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	int size = must(syncevent_export(x->ev, 0, blob, sizeof(blob)), "export"), fd;

	unlink(x->blob);
	fd = open(x->blob, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, blob, (size_t)size) != size || close(fd)) {
		perror(x->blob);
		_exit(1);
	}
	printf("take %s to the other machine, and there: remote_pci --blob FILE\n", x->blob);
}

static void give_name(const struct exchange *x)
{
	must(syncevent_export_name(x->ev, x->name, 0), x->name);
	printf("on the other machine: remote_pci --name %s\n", x->name);
}

int main(int argc, char **argv)
{
	struct exchange x = { 0 };
	struct syncevent_attr attr = {
		.size = sizeof(attr),
		/* Waits here end if the machine dies that sends the signals. */
		.publishers = SYNCEVENT_LOC_REMOTE_PCI,
	};
	uint64_t turn = 1;

	exchange_options(&x, doc, argc, argv);
	attr.pci = exchange_region(&x);
	must(syncevent_create(&x.ev, &attr), x.pci);
	exchange_begin(&x);
	if (x.blob)
		write_blob(&x);
	else
		give_name(&x);

	for (; exchange_await(&x, turn); turn += 2)
		exchange_signal(&x, turn + 1);
	if (x.blob)
		unlink(x.blob);
	exchange_end(&x);
	return 0;
}
