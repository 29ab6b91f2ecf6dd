// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * demo_pci.c - two machines, and a DPA beside them, exchange signals
 *
 * The same program runs on both machines: side 0 is the host, side 1 the DPU. Each makes
 * an event for which it waits and which the other updates. scripts/demo --pci starts it.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/syncevent.h>
#include <syncevent.h>

#include "dpa/job.h"

#define HOST		0
#define DPU		1
#define DPA		2
#define SECOND		1000000000ULL
#define PATIENCE	(60 * SECOND)	/* nothing here takes long: someone must have died */
#define BOOT		(600 * SECOND)	/* but a machine that is emulated may take its time */
#define ADDS		10000

static const char *const names[] = { "demo.host", "demo.dpu" };

/* How to wait, and how often: a signal there and its answer. */
static const struct way {
	const char *text;
	enum syncevent_how how;
	bool poll;
	unsigned int rounds;
} ways[] = {
	{ "spinning", SYNCEVENT_SPIN, false, 5000 },
	{ "asleep, woken by a doorbell", SYNCEVENT_BLOCK, false, 500 },
	{ "asleep in poll(2)", SYNCEVENT_BLOCK, true, 500 },
};
#define WAYS	(sizeof(ways) / sizeof(ways[0]))

/**
 * struct demo - one machine
 * @pci: the memory that it shares
 * @mine: made here, waited for here
 * @other: made by the other, updated here
 * @turn: how far both are
 */
struct demo {
	struct syncevent_pci pci;
	struct syncevent *mine;
	struct syncevent *other;
	uint64_t turn;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static void check(const char *what, int err)
{
	if (err >= 0)
		return;
	say("%s: %s", what, syncevent_strerror(err));
	exit(1);
}

/* ---- joining ------------------------------------------------------------------------ */

static bool alive(struct demo *d, unsigned int side, uint64_t patience)
{
	const uint64_t end = now() + patience;

	do {
		check("look for machines", syncevent_pci_get(0, &d->pci));
		if (d->pci.alive >> side & 1)
			return true;
		usleep(10000);
	} while (now() < end);
	return false;
}

static void join(struct demo *d)
{
	const struct syncevent_attr attr = {
		.size = sizeof(attr), .pci = d->pci.device, .pages = 1,
		.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
	};
	const unsigned int me = d->pci.side, you = me == HOST ? DPU : HOST;
	const uint64_t end = now() + PATIENCE;
	int err;

	check("make an event", syncevent_create(&d->mine, &attr));
	check("give it a name", syncevent_export_name(d->mine, names[me], 0));
	do {
		err = syncevent_import_name(&d->other, d->pci.device, names[you], 0);
		if (err == -ENOENT)
			usleep(1000);
	} while (err == -ENOENT && now() < end);
	check("find the other machine's event", err);
	say("made the event '%s', and found '%s' of the %s", names[me], names[you],
	    you == HOST ? "host" : "DPU");
}

/* ---- turns ---------------------------------------------------------------------------- */

static void await(struct demo *d, const struct way *way)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = now() + PATIENCE, .how = way->how,
	};
	struct pollfd file = { .fd = syncevent_poll_fd(d->mine), .events = POLLIN };

	if (way->poll) {
		check("arm", syncevent_arm(d->mine, SYNCEVENT_GE, d->turn, UINT64_MAX));
		if (poll(&file, 1, (int)(PATIENCE / 1000000)) != 1)
			check("poll", -ETIMEDOUT);
		check("read", syncevent_read(d->mine, NULL));
		return;
	}
	check("wait", syncevent_wait(d->mine, SYNCEVENT_GE, d->turn, UINT64_MAX, &opts, NULL));
}

static void signal_other(struct demo *d)
{
	check("signal", syncevent_add(d->other, 1, NULL));
}

/* The host signals, the DPU answers. */
static void turn(struct demo *d, const struct way *way)
{
	d->turn++;
	if (d->pci.side == HOST)
		signal_other(d);
	await(d, way);
	if (d->pci.side == DPU)
		signal_other(d);
}

static void exchange(struct demo *d, const struct way *way)
{
	uint64_t begin;
	unsigned int i;

	turn(d, way);
	begin = now();
	for (i = 0; i < way->rounds; i++)
		turn(d, way);
	if (d->pci.side == HOST)
		say("%5u signals and answers, %s: %" PRIu64 ".%" PRIu64 " us each", way->rounds,
		    way->text, (now() - begin) / way->rounds / 1000,
		    (now() - begin) / way->rounds / 100 % 10);
	else
		say("%5u answers given, waiting %s", way->rounds, way->text);
}

/* ---- payload ---------------------------------------------------------------------------- */

static void letter(struct demo *d)
{
	char *page;
	void *p;

	/* That of the host's event, on both sides. */
	check("payload", syncevent_payload(d->pci.side == HOST ? d->mine : d->other, &p, NULL));
	page = p;
	if (d->pci.side == HOST) {
		strcpy(page, "Greetings from x86-64");
		say("wrote \"%s\" to the payload of '%s'", page, names[HOST]);
	}
	turn(d, &ways[1]);
	if (d->pci.side == DPU)
		say("read \"%s\" there", page);
}

/* ---- all add to one ------------------------------------------------------------------------ */

/* The DPA's events: see dpa/job.h. */
struct dpa {
	struct syncevent *request;
	struct syncevent *reply;
	struct job *job;
};

static struct syncevent *made(struct demo *d, const char *name, uint32_t publishers, uint32_t pages)
{
	const struct syncevent_attr attr = {
		.size = sizeof(attr), .pci = d->pci.device, .publishers = publishers, .pages = pages,
	};
	struct syncevent *ev;

	check(name, syncevent_create(&ev, &attr));
	check(name, syncevent_export_name(ev, name, 0));
	return ev;
}

static void ask_dpa(struct demo *d, struct dpa *dpa, struct syncevent *count)
{
	void *p;

	dpa->request = made(d, JOB_REQUEST, SYNCEVENT_LOC_CPU, 1);
	dpa->reply = made(d, JOB_REPLY, SYNCEVENT_LOC_REMOTE_PCI, 0);
	check("payload", syncevent_payload(dpa->request, &p, NULL));
	dpa->job = p;
	*dpa->job = (struct job){ .op = JOB_ADD, .operand = 1, .count = ADDS };
	check("handle", syncevent_dpa_handle(count, &dpa->job->handle));
	say("asked the DPA to add 1 to 'demo.count' %u times: it calls it %#" PRIx64, ADDS,
	    dpa->job->handle);
	check("ask the DPA", syncevent_add(dpa->request, 1, NULL));
}

static void await_dpa(struct dpa *dpa)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = now() + PATIENCE, .how = SYNCEVENT_BLOCK,
	};

	check("wait for the DPA", syncevent_wait(dpa->reply, SYNCEVENT_GE, 1, UINT64_MAX, &opts,
						 NULL));
	check("the DPA's job", dpa->job->status);
	syncevent_close(dpa->reply);
	syncevent_close(dpa->request);
	say("the DPA says that it is through");
}

static void sum(struct demo *d)
{
	bool with_dpa = d->pci.sides > DPA && alive(d, DPA, 20 * SECOND);
	const uint64_t wanted = (with_dpa ? 3 : 2) * ADDS;
	struct dpa dpa = { 0 };
	struct syncevent *count;
	unsigned int i;
	uint64_t value;

	if (d->pci.side == HOST)
		count = made(d, "demo.count", SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI, 0);
	turn(d, &ways[1]);
	if (d->pci.side == DPU)
		check("demo.count", syncevent_import_name(&count, d->pci.device, "demo.count", 0));
	if (d->pci.side == HOST && with_dpa)
		ask_dpa(d, &dpa, count);
	turn(d, &ways[1]);
	for (i = 0; i < ADDS; i++)
		check("add", syncevent_add(count, 1, NULL));
	if (d->pci.side == DPU)
		say("added 1 to 'demo.count' %u times, while others do", ADDS);
	turn(d, &ways[1]);
	if (d->pci.side == HOST) {
		if (with_dpa)
			await_dpa(&dpa);
		check("get", syncevent_get(count, &value));
		say("%s added %u each: the sum is %" PRIu64 ", %s", with_dpa ? "all three" : "both",
		    ADDS, value, value == wanted ? "exactly" : "WRONG");
		if (value != wanted)
			exit(1);
	}
	turn(d, &ways[1]);
	syncevent_close(count);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end(struct demo *d)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = now() + PATIENCE, .how = SYNCEVENT_BLOCK,
	};
	int err;

	if (d->pci.side == HOST) {
		usleep(100000);
		say("ends '%s', which the DPU waits for", names[HOST]);
	} else {
		err = syncevent_wait(d->other, SYNCEVENT_GT, UINT64_MAX, UINT64_MAX, &opts, NULL);
		say("waited for '%s': %s", names[HOST], syncevent_strerror(err));
		if (err != -EIDRM)
			exit(1);
	}
	syncevent_close(d->other);
	syncevent_close(d->mine);
}

int main(void)
{
	struct demo d = { .pci.size = sizeof(d.pci) };
	struct utsname machine;
	unsigned int i;

	uname(&machine);
	check("look for machines", syncevent_pci_get(0, &d.pci));
	if (!alive(&d, HOST, BOOT) || !alive(&d, DPU, BOOT))
		check("wait for the other machine", -ETIMEDOUT);
	say("%s; shares the memory of PCI device %s, as side %" PRIu32 " of %" PRIu32,
	    machine.machine, d.pci.address, d.pci.side, d.pci.sides);
	join(&d);
	for (i = 0; i < WAYS; i++)
		exchange(&d, &ways[i]);
	letter(&d);
	sum(&d);
	end(&d);
	return 0;
}
