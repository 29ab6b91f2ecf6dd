// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * ask.c - the machine's part: have the firmware count, and sleep until it is through
 *
 *	ask_dpa [ADDRESS]
 *
 * ADDRESS is the PCI address of the memory that both share, if there are several. See
 * job.h for what they tell each other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/syncevent.h>
#include <syncevent.h>

#include "job.h"

#define TIMES	1000

/* An event of this machine that the firmware can find. */
static int make(struct syncevent **ev, const char *pci, const char *name, uint32_t publishers,
		uint32_t pages)
{
	struct syncevent_attr attr = {
		.size = sizeof(attr), .pci = pci, .publishers = publishers, .pages = pages,
	};
	int err = syncevent_create(ev, &attr);

	return err || !name ? err : syncevent_export_name(*ev, name, 0);
}

int main(int argc, char **argv)
{
	struct syncevent *request = NULL, *reply = NULL, *counter = NULL;
	const char *pci = argc > 1 ? argv[1] : "/dev/syncevent_pci0";
	uint64_t value = 0;
	struct job job = { .op = JOB_ADD, .operand = 1, .count = TIMES };
	void *payload;
	int err;

	err = make(&request, pci, JOB_REQUEST, SYNCEVENT_LOC_CPU, 1);
	if (!err)	/* updated by others alone: a wait ends with EPIPE if they die */
		err = make(&reply, pci, JOB_REPLY, SYNCEVENT_LOC_REMOTE_PCI, 0);
	if (!err)
		err = make(&counter, pci, NULL, 0, 0);
	if (!err)
		err = syncevent_dpa_handle(counter, &job.handle);
	if (!err)
		err = syncevent_payload(request, &payload, NULL);
	if (!err) {	/* what is written before the request is there with it */
		memcpy(payload, &job, sizeof(job));
		err = syncevent_add(request, 1, NULL);
	}
	if (!err)
		err = syncevent_wait(reply, SYNCEVENT_GE, 1, UINT64_MAX, NULL, NULL);
	if (!err) {
		memcpy(&job, payload, sizeof(job));
		err = job.status;
	}
	if (!err)
		err = syncevent_get(counter, &value);
	printf("%s: the firmware counted to %" PRIu64 "\n", syncevent_strerror(err), value);
	syncevent_close(counter);
	syncevent_close(reply);
	syncevent_close(request);
	return err != 0;
}
