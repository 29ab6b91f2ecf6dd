// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Structures that begin with their size: no byte beyond that size is read or written,
 * what is too small or asks for what is not known is refused and left as it was.
 *
 * Input: { u8 which, u16 size, bytes of the structure }.
 */
#include "fuzzer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <syncevent.h>

#define ROOM	1024

enum { ATTR, OPTS, STAT, CAPS, STRUCTURES };

static const size_t known[] = {
	[ATTR] = sizeof(struct syncevent_attr),
	[OPTS] = sizeof(struct syncevent_wait_opts),
	[STAT] = sizeof(struct syncevent_stat),
	[CAPS] = sizeof(struct syncevent_caps),
};

static struct syncevent *event;
static uint64_t counter[2];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CHECK(!setenv("SYNCEVENT_PROVIDER", "shm", 1));
	CHECK(!syncevent_create(&event, NULL));
	CHECK(!syncevent_set(event, 5));
	return 0;
}

/* What a size and the bytes beyond what is known lead to, written down again. */
static int judge(const uint8_t *bytes, size_t size, size_t want)
{
	size_t i;

	if (size < want)
		return -EINVAL;
	for (i = want; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	return 0;
}

static void try_attr(uint8_t *bytes, int judged)
{
	struct syncevent *ev = NULL;
	struct syncevent_attr a;
	int ret;

	if (!judged) {
		memcpy(&a, bytes, sizeof(a));
		/* A pointer is the caller's to get right, but for its alignment. */
		if (a.addr)
			a.addr = (uint64_t *)((char *)counter + (uintptr_t)a.addr % 8);
		if (a.pci)
			a.pci = "0000:00:10.0";
		memcpy(bytes, &a, sizeof(a));
		if (a.provider == SYNCEVENT_PROVIDER_KERNEL)
			return;
	}
	ret = syncevent_create(&ev, (const struct syncevent_attr *)bytes);
	CHECK(!judged || ret == judged);
	CHECK(!ret == !!ev);
	if (!judged) {
		bool good = a.provider <= SYNCEVENT_PROVIDER_SHM && !a.reserved &&
			    !(a.flags & ~(SYNCEVENT_SILENT | SYNCEVENT_AT_HOME)) &&
			    !((a.publishers | a.subscribers) & ~0x1fU) &&
			    (!a.addr || (!a.provider && !((uintptr_t)a.addr % 8)));

		if (a.pci)
			good = good && !a.addr && a.provider != SYNCEVENT_PROVIDER_SHM &&
			       (!(a.flags & SYNCEVENT_AT_HOME) || a.home != ~0U);
		else
			good = good && !(a.flags & SYNCEVENT_AT_HOME) && !a.home && !a.pages;
		/* There is no region in this world. */
		CHECK(ret == (!good ? -EINVAL : a.pci ? -ENODEV : 0));
	}
	syncevent_close(ev);
}

static void try_opts(uint8_t *bytes, int judged)
{
	struct syncevent_wait_opts o;
	uint64_t seen = 1;
	int ret;

	if (!judged) {
		memcpy(&o, bytes, sizeof(o));
		/* Not into the time of another input: now and before. */
		o.deadline &= 0xffff;
		memcpy(bytes, &o, sizeof(o));
	}
	ret = syncevent_wait(event, SYNCEVENT_GT, 5, UINT64_MAX,
			     (const struct syncevent_wait_opts *)bytes, &seen);
	CHECK(seen == 1);
	if (judged)
		CHECK(ret == judged);
	else
		CHECK(ret == (o.flags & ~SYNCEVENT_REALTIME || o.how > SYNCEVENT_BLOCK ?
			      -EINVAL : -ETIMEDOUT));
}

static int ask(unsigned int which, uint8_t *bytes)
{
	return which == STAT ? syncevent_stat(event, (struct syncevent_stat *)bytes) :
			       syncevent_query(SYNCEVENT_PROVIDER_SHM, (struct syncevent_caps *)bytes);
}

static void try_answer(unsigned int which, uint8_t *bytes, size_t size, int judged)
{
	uint8_t was[ROOM];
	int ret;

	memcpy(was, bytes, size);
	ret = ask(which, bytes);
	CHECK(ret == judged);
	/* The size is the caller's; so is what lies behind what is known. */
	CHECK(!memcmp(was, bytes, sizeof(uint32_t)));
	if (ret)
		CHECK(!memcmp(was, bytes, size));
	else
		CHECK(!memcmp(was + known[which], bytes + known[which], size - known[which]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct balance before = balance();
	struct bytes in = { data, size };
	unsigned int which = (unsigned int)take(&in, 1) % STRUCTURES;
	uint32_t length = (uint32_t)take(&in, 2) % ROOM;
	uint8_t *bytes;
	size_t room;
	int judged;

	/* The size has to be there to be read. What lies beyond it is not ours. */
	room = length < sizeof(length) ? sizeof(length) : length;
	bytes = calloc(1, room);
	CHECK(bytes);
	memcpy(bytes, in.at, in.left < room ? in.left : room);
	memcpy(bytes, &length, sizeof(length));
	judged = judge(bytes, length, known[which]);
	switch (which) {
	case ATTR:
		try_attr(bytes, judged);
		break;
	case OPTS:
		try_opts(bytes, judged);
		break;
	default:
		try_answer(which, bytes, room, judged);
	}
	free(bytes);
	check_balance(&before);
	return 0;
}
