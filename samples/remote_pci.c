// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * remote_pci.c - an event of another machine: imports it and sends signals
 *
 * Start local_pci on the other machine first: it makes the event, and answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <syncevent.h>

#include "exchange.h"

static const char doc[] =
	"Send signals to local_pci on another machine, through an event that it made in memory "
	"that both share, and wait for the answer to each.";

static int read_blob(struct exchange *x)
{
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	int fd = open(x->blob, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, blob, sizeof(blob));

	if (size < 0) {
		perror(x->blob);
		_exit(1);
	}
	close(fd);
	return syncevent_import(&x->ev, blob, (size_t)size);
}

int main(int argc, char **argv)
{
	struct exchange x = { .signals = 1000 };
	uint64_t i;
	int err;

	exchange_options(&x, doc, argc, argv);
	if (x.blob)
		err = read_blob(&x);
	else
		err = syncevent_import_name(&x.ev, exchange_region(&x), x.name, 0);
	if (err == -ENOENT)
		fputs("remote_pci: start local_pci on the other machine first\n", stderr);
	must(err, x.blob ? x.blob : x.name);
	exchange_begin(&x);

	for (i = 0; i < x.signals; i++) {
		exchange_signal(&x, 2 * i + 1);
		exchange_await(&x, 2 * i + 2);
	}
	/* The event ends with local_pci: it must not go before the last answer was seen. */
	exchange_signal(&x, EXCHANGE_LAST);
	exchange_end(&x);
	return 0;
}
