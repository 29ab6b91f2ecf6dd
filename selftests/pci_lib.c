// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * libsyncevent between two machines. Side 0 makes the events, side 1 imports them, if a
 * test does not say otherwise.
 */
#include "pci.h"

#include <inttypes.h>
#include <poll.h>
#include <syncevent.h>
#include <syncevent/inline.h>

#define BOTH		3ULL
#define ROUNDS		2000

static const enum syncevent_how hows[] = {
	SYNCEVENT_SPIN, SYNCEVENT_YIELD, SYNCEVENT_ADAPTIVE, SYNCEVENT_BLOCK,
};

/* Long enough for any machine, so that a failure does not hang. */
static struct syncevent_wait_opts patient(enum syncevent_how how)
{
	return (struct syncevent_wait_opts){
		.size = sizeof(struct syncevent_wait_opts),
		.deadline = se_patience(),
		.how = how,
	};
}

static int await(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		 enum syncevent_how how)
{
	struct syncevent_wait_opts opts = patient(how);

	return pci_woken(syncevent_wait(ev, cond, operand, UINT64_MAX, &opts, NULL), opts.deadline);
}

/* The first region of this machine, whatever its address is. */
static const char *region(void)
{
	static struct syncevent_pci pci = { .size = sizeof(pci) };

	return syncevent_pci_get(0, &pci) ? "none" : pci.address;
}

static int make(struct syncevent **ev, const char *name, uint64_t value, uint32_t pages)
{
	const struct syncevent_attr attr = {
		.size = sizeof(attr), .value = value, .pci = region(), .pages = pages,
		.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.subscribers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
	};
	int err = syncevent_create(ev, &attr);

	if (err)
		return err;
	err = syncevent_export_name(*ev, name, 0);
	if (err)
		syncevent_close(*ev);
	return err;
}

static int find(struct syncevent **ev, const char *name)
{
	int err = -ENOENT;

	se_until((err = syncevent_import_name(ev, region(), name, 0)) != -ENOENT);
	return err;
}

/**
 * struct pci_lib - a pair of machines in a test
 * @here: counts the steps of this side
 * @there: those of the other
 * @step: so many
 * @note: in the payload of side 0's, for blobs
 */
FIXTURE(pci_lib) {
	struct syncevent *here;
	struct syncevent *there;
	uint64_t step;
	unsigned char *note;
};

static int meet(struct _test_data_pci_lib *self)
{
	int err = syncevent_set(self->here, ++self->step);

	return err ? err : await(self->there, SYNCEVENT_GE, self->step, SYNCEVENT_BLOCK);
}

FIXTURE_SETUP(pci_lib)
{
	const char *mine = is_owner() ? "lib-0" : "lib-1";
	const char *other = is_owner() ? "lib-1" : "lib-0";
	int err = -EEXIST;
	size_t len;
	void *note;

	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	ASSERT_TRUE(se_until((err = make(&self->here, mine, 0, 1)) != -EEXIST));
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, find(&self->there, other));
	ASSERT_EQ(0, syncevent_payload(is_owner() ? self->here : self->there, &note, &len));
	ASSERT_EQ(4096, len);
	self->note = note;
	self->step = 0;
	ASSERT_EQ(0, meet(self));
}

FIXTURE_TEARDOWN(pci_lib)
{
	/* A side that closes first would end the other's last wait. */
	EXPECT_EQ(0, meet(self));
	EXPECT_EQ(0, syncevent_export_name(self->here, NULL, 0));
	syncevent_set(self->here, ++self->step);
	await(self->there, SYNCEVENT_GE, self->step, SYNCEVENT_BLOCK);
	syncevent_close(self->there);
	syncevent_close(self->here);
}

/* An event of side 0, on both sides. */
static int shared(struct syncevent **ev, const char *name, uint64_t value, uint32_t pages)
{
	return is_owner() ? make(ev, name, value, pages) : find(ev, name);
}

TEST_F(pci_lib, regions_and_sides)
{
	struct syncevent_pci_side side = { .size = sizeof(side) };
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct syncevent_pci_info info;
	char text[16];

	ASSERT_EQ(0, pci_info(&info));
	ASSERT_EQ(0, syncevent_pci_get(0, &pci));
	EXPECT_STREQ(PCI_DEV, pci.device);
	snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", info.address >> 16,
		 info.address >> 8 & 255, info.address >> 3 & 31, info.address & 7);
	EXPECT_STREQ(text, pci.address);
	EXPECT_EQ(my_side(), pci.side);
	EXPECT_EQ(2, pci.sides);
	EXPECT_EQ(BOTH, pci.alive);
	EXPECT_EQ(info.flags, pci.flags);
	EXPECT_EQ(info.id[0], pci.id[0]);
	EXPECT_EQ(info.id[1], pci.id[1]);
	EXPECT_EQ(info.slots, pci.slots);
	EXPECT_EQ(info.payload_pages, pci.payload_pages);
	EXPECT_EQ(-ENOENT, syncevent_pci_get(1, &pci));
	pci.size = 8;
	EXPECT_EQ(-EINVAL, syncevent_pci_get(0, &pci));

	/* By each of its names. */
	ASSERT_EQ(0, syncevent_pci_side(text, !my_side(), &side));
	EXPECT_EQ(1, side.alive);
	EXPECT_NE(0, side.epoch);
	EXPECT_EQ(0, syncevent_pci_side(text + 5, 0, &side));
	EXPECT_EQ(0, syncevent_pci_side(PCI_DEV, 1, &side));
	EXPECT_EQ(-EINVAL, syncevent_pci_side(PCI_DEV, 2, &side));
	EXPECT_EQ(-ENODEV, syncevent_pci_side("0000:00:1f.7", 0, &side));
	EXPECT_EQ(-ENODEV, syncevent_pci_side("", 0, &side));
}

TEST_F(pci_lib, attributes)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .pci = region(), .value = 9 };
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct syncevent *ev;
	uint64_t word = 0;

	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_stat(ev, &stat));
	EXPECT_EQ(9, stat.value);
	EXPECT_EQ(my_side(), stat.side);
	EXPECT_EQ(my_side(), stat.home);
	EXPECT_EQ(0, stat.payload);
	EXPECT_EQ(SYNCEVENT_STAT_UPDATE, stat.flags);
	syncevent_close(ev);

	attr.subscribers = SYNCEVENT_LOC_REMOTE_PCI;
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_stat(ev, &stat));
	EXPECT_EQ(!my_side(), stat.home);
	syncevent_close(ev);

	attr.flags = SYNCEVENT_AT_HOME | SYNCEVENT_SILENT;
	attr.home = my_side();
	attr.pages = 3;
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_stat(ev, &stat));
	EXPECT_EQ(my_side(), stat.home);
	EXPECT_EQ(3 * 4096, stat.payload);
	EXPECT_EQ(SYNCEVENT_STAT_UPDATE | SYNCEVENT_STAT_SILENT, stat.flags);
	syncevent_close(ev);

	attr.home = 2;
	EXPECT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	attr.home = ~0U;
	EXPECT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	attr.home = 0;
	attr.pages = 1U << 30;
	EXPECT_EQ(-ENOSPC, syncevent_create(&ev, &attr));
	attr.pages = 0;
	attr.pci = "0000:00:1f.7";
	EXPECT_EQ(-ENODEV, syncevent_create(&ev, &attr));
	attr.pci = region();
	attr.provider = SYNCEVENT_PROVIDER_SHM;
	EXPECT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	attr.provider = 0;
	attr.addr = &word;
	EXPECT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	attr.addr = NULL;
	EXPECT_EQ(-EINVAL, syncevent_open(&ev, "name", O_RDWR | O_CREAT, 0600, &attr));
	/* What says nothing without a region must not be there. */
	attr = (struct syncevent_attr){ .size = sizeof(attr), .pages = 1 };
	EXPECT_EQ(-EINVAL, syncevent_create(&ev, &attr));
	attr = (struct syncevent_attr){ .size = sizeof(attr), .flags = SYNCEVENT_AT_HOME };
	EXPECT_EQ(-EINVAL, syncevent_create(&ev, &attr));
}

/* Turn by turn in each way to wait: the woken one wakes the other. */
TEST_F(pci_lib, every_way_to_wait)
{
	uint64_t rounds = se_times(ROUNDS), n;
	struct syncevent *ev;
	size_t i;

	ASSERT_EQ(0, shared(&ev, "turns", 0, 0));
	for (i = 0; i < sizeof(hows) / sizeof(*hows); i++) {
		ASSERT_EQ(0, meet(self));
		for (n = 0; n < rounds; n++) {
			uint64_t turn = 2 * n + my_side(), old;

			ASSERT_EQ(0, await(ev, SYNCEVENT_EQ, turn, hows[i]))
				TH_LOG("how %d, turn %" PRIu64, hows[i], turn);
			ASSERT_EQ(0, syncevent_add(ev, 1, &old));
			ASSERT_EQ(turn, old);
		}
		ASSERT_EQ(0, await(ev, SYNCEVENT_EQ, 2 * rounds, hows[i]));
		ASSERT_EQ(0, meet(self));
		if (is_owner())
			ASSERT_EQ(0, syncevent_set(ev, 0));
	}
	ASSERT_EQ(0, meet(self));
	syncevent_close(ev);
}

TEST_F(pci_lib, poll_queue_and_many)
{
	struct syncevent_wait_opts opts = patient(SYNCEVENT_BLOCK);
	struct syncevent *ev, *local;
	struct syncevent_many many[2];
	struct syncevent_done done;
	struct syncevent_queue *q;
	struct pollfd pfd;
	unsigned int index;
	uint64_t v, end;

	ASSERT_EQ(0, shared(&ev, "all", 0, 0));
	if (!is_owner()) {
		for (v = 1; v <= 3; v++) {
			ASSERT_EQ(0, meet(self));
			se_sleep_ms(20);
			ASSERT_EQ(0, syncevent_set(ev, v));
		}
		ASSERT_EQ(0, meet(self));
		syncevent_close(ev);
		return;
	}
	ASSERT_EQ(0, syncevent_create(&local, NULL));
	ASSERT_EQ(0, syncevent_queue_create(&q));

	ASSERT_EQ(0, syncevent_arm(ev, SYNCEVENT_GE, 1, UINT64_MAX));
	pfd = (struct pollfd){ .fd = syncevent_poll_fd(ev), .events = POLLIN };
	ASSERT_EQ(0, meet(self));
	end = se_patience();
	ASSERT_EQ(1, pci_woken(poll(&pfd, 1, SE_HANG_S * 1000), end));
	ASSERT_EQ(0, syncevent_read(ev, &v));
	EXPECT_EQ(1, v);

	ASSERT_EQ(0, syncevent_queue_add(q, ev, SYNCEVENT_GE, 2, UINT64_MAX, 77,
					 SYNCEVENT_FOREVER));
	ASSERT_EQ(0, meet(self));
	ASSERT_EQ(1, syncevent_queue_reap(q, &done, 1, se_patience()));
	EXPECT_EQ(77, done.cookie);
	EXPECT_EQ(0, done.status);
	EXPECT_EQ(2, done.value);

	many[0] = (struct syncevent_many){ .ev = local, .cond = SYNCEVENT_EQ, .operand = 1,
					   .mask = UINT64_MAX };
	many[1] = (struct syncevent_many){ .ev = ev, .cond = SYNCEVENT_GE, .operand = 3,
					   .mask = UINT64_MAX };
	ASSERT_EQ(0, meet(self));
	opts.deadline = se_patience();
	ASSERT_EQ(0, pci_woken(syncevent_wait_many(many, 2, 0, &opts, &index), opts.deadline));
	EXPECT_EQ(1, index);
	EXPECT_EQ(3, many[1].value);
	opts.how = SYNCEVENT_SPIN;
	ASSERT_EQ(0, syncevent_wait_many(many, 2, 0, &opts, &index));
	EXPECT_EQ(1, index);

	ASSERT_EQ(0, meet(self));
	syncevent_queue_close(q);
	syncevent_close(local);
	syncevent_close(ev);
}

TEST_F(pci_lib, blobs)
{
	unsigned char *note = self->note, *read_only = note + 256, wrong[SYNCEVENT_BLOB_MAX];
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct syncevent *ev = NULL, *in;
	struct syncevent_blob blob;
	uint64_t handle;
	size_t i;

	if (is_owner()) {
		const struct syncevent_attr attr = { .size = sizeof(attr), .pci = region() };

		ASSERT_EQ(0, syncevent_create(&ev, &attr));
		ASSERT_EQ(sizeof(blob), syncevent_export(ev, 0, note, SYNCEVENT_BLOB_MAX));
		ASSERT_EQ(sizeof(blob), syncevent_export(ev, SYNCEVENT_RDONLY, read_only,
							 sizeof(blob)));
		EXPECT_EQ(-ENOSPC, syncevent_export(ev, 0, wrong, sizeof(blob) - 1));
		EXPECT_EQ(-EINVAL, syncevent_export(ev, 2, wrong, sizeof(wrong)));
		memcpy(&blob, note, sizeof(blob));
		ASSERT_EQ(0, syncevent_dpa_handle(ev, &handle));
		EXPECT_EQ((uint64_t)blob.generation << 32 | blob.slot, handle);
		/* To the machine that made it, too. */
		ASSERT_EQ(0, syncevent_import(&in, note, sizeof(blob)));
		ASSERT_EQ(0, syncevent_set(in, 4));
		syncevent_close(in);
	}
	ASSERT_EQ(0, meet(self));
	if (!is_owner()) {
		ASSERT_EQ(0, syncevent_import(&ev, note, sizeof(blob)));
		ASSERT_EQ(0, syncevent_stat(ev, &stat));
		EXPECT_EQ(4, stat.value);
		EXPECT_EQ(SYNCEVENT_STAT_UPDATE | SYNCEVENT_STAT_IMPORT, stat.flags);
		EXPECT_EQ(-EPERM, syncevent_export(ev, 0, wrong, sizeof(wrong)));
		EXPECT_EQ(-EPERM, syncevent_export_name(ev, "mine", 0));
		EXPECT_EQ(-EPERM, syncevent_dpa_handle(ev, &handle));
		EXPECT_EQ(-EPERM, syncevent_revoke(ev));
		syncevent_close(ev);

		ASSERT_EQ(0, syncevent_import(&ev, read_only, sizeof(blob)));
		EXPECT_EQ(-EBADF, syncevent_set(ev, 5));
		EXPECT_EQ(-EBADF, syncevent_add(ev, 5, NULL));

		for (i = 0; i < sizeof(blob); i++) {
			memcpy(wrong, note, sizeof(blob));
			wrong[i] ^= 1;
			EXPECT_EQ(-EINVAL, syncevent_import(&in, wrong, sizeof(blob)));
			EXPECT_EQ(-EINVAL, syncevent_import(&in, note, i));
		}
		/* Of another region, and whole. */
		memcpy(&blob, note, sizeof(blob));
		blob.region[0]++;
		pci_set_checksum(&blob);
		EXPECT_EQ(-ENODEV, syncevent_import(&in, &blob, sizeof(blob)));
	}
	ASSERT_EQ(0, meet(self));
	if (is_owner())
		syncevent_close(ev);
	ASSERT_EQ(0, meet(self));
	if (!is_owner()) {
		EXPECT_EQ(-EIDRM, await(ev, SYNCEVENT_EQ, 1, SYNCEVENT_SPIN));
		EXPECT_EQ(-EIDRM, syncevent_import(&in, note, sizeof(blob)));
		syncevent_close(ev);
	}
}

TEST_F(pci_lib, names)
{
	struct syncevent *ev = NULL, *in, *one;
	char name[SYNCEVENT_EXPORT_MAX + 2];

	memset(name, 'n', sizeof(name));
	name[SYNCEVENT_EXPORT_MAX] = '\0';
	if (is_owner()) {
		ASSERT_EQ(0, make(&ev, name, 0, 0));
		EXPECT_EQ(-EEXIST, make(&in, name, 0, 0));
		EXPECT_EQ(-EINVAL, syncevent_export_name(ev, "", 0));
		EXPECT_EQ(-EINVAL, syncevent_export_name(ev, "x", 2));
		ASSERT_EQ(0, syncevent_create(&one, NULL));
		EXPECT_EQ(-EOPNOTSUPP, syncevent_export_name(one, "x", 0));
		EXPECT_EQ(-EOPNOTSUPP, syncevent_export(one, 0, self->note, 256));
		syncevent_close(one);
	}
	ASSERT_EQ(0, meet(self));
	if (!is_owner()) {
		ASSERT_EQ(0, syncevent_import_name(&ev, region(), name, 0));
		EXPECT_EQ(0, syncevent_add(ev, 1, NULL));
		ASSERT_EQ(0, syncevent_import_name(&in, region(), name, SYNCEVENT_RDONLY));
		EXPECT_EQ(-EBADF, syncevent_add(in, 1, NULL));
		syncevent_close(in);
		EXPECT_EQ(-EINVAL, syncevent_import_name(&in, region(), name, 2));
		EXPECT_EQ(-EINVAL, syncevent_import_name(&in, region(), "", 0));
		EXPECT_EQ(-ENODEV, syncevent_import_name(&in, "none", name, 0));
	}
	name[SYNCEVENT_EXPORT_MAX] = 'n';
	name[SYNCEVENT_EXPORT_MAX + 1] = '\0';
	EXPECT_EQ(-ENAMETOOLONG, syncevent_import_name(&in, region(), name, 0));
	ASSERT_EQ(0, meet(self));
	if (is_owner()) {
		EXPECT_EQ(-ENAMETOOLONG, syncevent_export_name(ev, name, 0));
		/* Another name, and fewer rights. */
		ASSERT_EQ(0, syncevent_export_name(ev, "other", SYNCEVENT_RDONLY));
	}
	ASSERT_EQ(0, meet(self));
	if (!is_owner()) {
		syncevent_close(ev);
		ASSERT_EQ(0, syncevent_import_name(&ev, region(), "other", 0));
		EXPECT_EQ(-EBADF, syncevent_add(ev, 1, NULL));
		name[SYNCEVENT_EXPORT_MAX] = '\0';
		EXPECT_EQ(-ENOENT, syncevent_import_name(&in, region(), name, 0));
	}
	ASSERT_EQ(0, meet(self));
	if (is_owner())
		ASSERT_EQ(0, syncevent_export_name(ev, NULL, 0));
	ASSERT_EQ(0, meet(self));
	if (!is_owner())
		EXPECT_EQ(-ENOENT, syncevent_import_name(&in, region(), "other", 0));
	syncevent_close(ev);
}

/* What was written before an update is there after a wait that saw it. */
TEST_F(pci_lib, payload)
{
	struct syncevent *ev, *twin, *none;
	void *mine, *again;
	uint64_t *p;
	size_t len;
	int fd;

	ASSERT_EQ(0, shared(&ev, "payload", 0, 2));
	ASSERT_EQ(0, syncevent_payload(ev, &mine, &len));
	EXPECT_EQ(2 * 4096, len);
	ASSERT_EQ(0, syncevent_payload(ev, &again, NULL));
	EXPECT_EQ(mine, again);
	p = mine;
	ASSERT_EQ(0, meet(self));
	if (is_owner()) {
		p[0] = 11;
		p[1023] = 22;
		ASSERT_EQ(0, syncevent_set(ev, 1));
		/* The other side goes on: 2 may have come and gone. */
		ASSERT_EQ(0, await(ev, SYNCEVENT_GE, 2, SYNCEVENT_SPIN));
		EXPECT_EQ(33, p[512]);
		ASSERT_EQ(0, make(&none, "none", 0, 0));
		EXPECT_EQ(-EOPNOTSUPP, syncevent_payload(none, &again, NULL));
		syncevent_close(none);
	} else {
		ASSERT_EQ(0, await(ev, SYNCEVENT_EQ, 1, SYNCEVENT_SPIN));
		EXPECT_EQ(11, p[0]);
		EXPECT_EQ(22, p[1023]);
		p[512] = 33;
		ASSERT_EQ(0, syncevent_set(ev, 2));
	}
	/* Other handles of it find it too. */
	ASSERT_EQ(0, syncevent_dup(&twin, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(0, syncevent_payload(twin, &again, &len));
	EXPECT_NE(mine, again);
	EXPECT_EQ(11, *(uint64_t *)again);
	syncevent_close(twin);
	ASSERT_LE(0, fd = syncevent_fd(ev));
	ASSERT_EQ(0, syncevent_from_fd(&twin, fd));
	ASSERT_EQ(0, syncevent_payload(twin, &again, &len));
	EXPECT_EQ(11, *(uint64_t *)again);
	EXPECT_EQ(0, syncevent_add(twin, 1, NULL));
	syncevent_close(twin);
	ASSERT_EQ(0, meet(self));
	if (is_owner())
		ASSERT_EQ(0, syncevent_revoke(ev));
	ASSERT_EQ(0, meet(self));
	ASSERT_TRUE(se_until(syncevent_set(ev, 1) == -EIDRM));
	EXPECT_EQ(-EIDRM, syncevent_payload(ev, &again, NULL));
	syncevent_close(ev);
}

/* Spinners, in each way, when the event ends under them. */
TEST_F(pci_lib, revoked_under_a_spinner)
{
	struct syncevent_wait_opts opts = patient(SYNCEVENT_SPIN);
	struct syncevent_cell *cell;
	struct syncevent_many many;
	struct syncevent *ev;
	int i, ret;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, shared(&ev, "ending", 0, 0));
		ASSERT_EQ(0, meet(self));
		if (is_owner()) {
			se_sleep_ms(20);
			ASSERT_EQ(0, syncevent_revoke(ev));
		} else {
			cell = syncevent_cell(ev);
			many = (struct syncevent_many){ .ev = ev, .cond = SYNCEVENT_EQ,
							.operand = 1, .mask = UINT64_MAX };
			ret = i == 0 ? await(ev, SYNCEVENT_EQ, 1, SYNCEVENT_SPIN) :
			      i == 1 ? syncevent_wait_many(&many, 1, 0, &opts, NULL) :
			      syncevent_inline_spin(cell, SYNCEVENT_EQ, 1, UINT64_MAX, NULL);
			EXPECT_EQ(-EIDRM, ret);
		}
		ASSERT_EQ(0, meet(self));
		syncevent_close(ev);
		ASSERT_EQ(0, meet(self));
	}
}

TEST_HARNESS_MAIN
