// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A hostile machine tells lies, one at a time: each is refused with the right error, or
 * does no more than it has to. Old blobs are among them.
 */
#include "pci_hostile.h"

/* The descriptor of this side's event of that name. */
static volatile struct syncevent_region_desc *find_desc(struct scribble *s, const char *name)
{
	uint32_t slot;

	for (slot = 0; slot < s->geo.slots; slot++)
		if (!strcmp((const char *)desc_at(s, slot)->name, name))
			return desc_at(s, slot);
	return NULL;
}

/* What a descriptor says is compared with what its creator could have made. */
TEST_F(hostile, lies_about_an_event)
{
	const uint32_t share = self->s.geo.payload_pages / 2;
	const struct {
		struct syncevent_region_desc lie;
		int says;
	} lies[] = {
		{ { .payload_first = 0, .payload_pages = 2 }, -EPROTO },
		{ { .payload_first = share - 1, .payload_pages = 2 }, -EPROTO },
		{ { .payload_first = 2 * share - 1, .payload_pages = 2 }, -EPROTO },
		{ { .payload_first = UINT32_MAX, .payload_pages = 2 }, -EPROTO },
		{ { .payload_first = share, .payload_pages = share + 1 }, -EPROTO },
		{ { .payload_first = share + 1, .payload_pages = UINT32_MAX }, -EPROTO },
		{ { .payload_first = share, .payload_pages = 2, .publishers = 0x80 }, -EPROTO },
		{ { .payload_first = share, .payload_pages = 2, .subscribers = 0x80 }, -EPROTO },
		{ { .payload_first = share, .payload_pages = 2, .name_rights = 0x80 }, -EACCES },
		{ { .payload_first = share, .payload_pages = 2, .name = "another" }, -ENOENT },
		{ { .payload_first = share, .payload_pages = 2,
		    .state = SYNCEVENT_STATE_REVOKED }, -ENOENT },
	};
	volatile struct syncevent_region_desc *d = NULL;
	struct syncevent_region_desc was = { .state = 0 };
	unsigned int i;
	int fd = -1;

	if (!is_owner()) {
		ASSERT_LE(0, fd = pci_offer("liar", 7, 2));
		ASSERT_TRUE(d = find_desc(&self->s, "liar"));
		memcpy(&was, (const void *)d, sizeof(was));
	}
	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		const struct syncevent_region_desc *lie = &lies[i].lie;

		if (!is_owner()) {
			d->payload_first = lie->payload_first;
			d->payload_pages = lie->payload_pages;
			d->publishers = lie->publishers ?: was.publishers;
			d->subscribers = lie->subscribers ?: was.subscribers;
			d->name_rights = lie->name_rights ?: was.name_rights;
			d->state = (was.state & ~SYNCEVENT_STATE_MASK) |
				   (lie->state ?: SYNCEVENT_STATE_LIVE);
			memcpy((void *)d->name, *lie->name ? lie->name : was.name,
			       sizeof(was.name));
		}
		ASSERT_TRUE(meet(self));
		if (is_owner())
			EXPECT_EQ(lies[i].says, pci_import_name("liar", 0)) TH_LOG("lie %u", i);
		ASSERT_TRUE(meet(self));
		if (!is_owner())
			memcpy((void *)d, &was, sizeof(was));
	}
	ASSERT_TRUE(meet(self));
	if (is_owner()) {
		ASSERT_LE(0, fd = pci_import_name("liar", 0));
		EXPECT_TRUE(victim_touch(&self->users, fd, 3));
	}
	ASSERT_TRUE(meet(self));
	close(fd);
}

/* What the memory says of an event that this machine made itself is not believed. */
TEST_F(hostile, lies_about_anothers_event)
{
	volatile struct syncevent_region_desc *d = NULL;
	uint32_t was = 0;
	int fd = -1;

	if (is_owner())
		ASSERT_LE(0, fd = pci_offer("mine", 7, 0));
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		ASSERT_TRUE(d = find_desc(&self->s, "mine"));
		was = d->state;
		d->state += 3 << SYNCEVENT_STATE_GEN_SHIFT;
	}
	ASSERT_TRUE(meet(self));
	if (is_owner())
		EXPECT_EQ(-EIDRM, pci_import_name("mine", 0));
	ASSERT_TRUE(meet(self));
	if (!is_owner())
		d->state = was;
	ASSERT_TRUE(meet(self));
	if (is_owner()) {
		int again = pci_import_name("mine", 0);

		EXPECT_LE(0, again);
		close(again);
		close(fd);
	}
}

/* However often the region is another one, a machine attaches to it once in a tick at most. */
TEST_F(hostile, attaching_is_bounded)
{
	volatile struct syncevent_region_header *header = (void *)self->memory;
	volatile struct syncevent_region_side *victim = side_at(&self->s, 0);
	uint64_t epoch = 0, start, end = se_patience();
	unsigned int n = 0, rounds = 20;

	if (!is_owner()) {
		ASSERT_EQ(0, unbind(self));
		start = se_now(CLOCK_MONOTONIC);
		while (n <= rounds && se_now(CLOCK_MONOTONIC) < end) {
			header->format_epoch++;
			if (victim->epoch == epoch)
				continue;
			epoch = victim->epoch;
			n++;
		}
		start = (se_now(CLOCK_MONOTONIC) - start) / 1000000;
		printf("# %u times in %u ms\n", n, (unsigned int)start);
		EXPECT_LT(rounds, n);
		/* Its ticks are counted in jiffies, of at most 10 ms. */
		EXPECT_LE(rounds * (TICK_MS - 10), start);
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(recover(self));
}

/* A machine that attached to another format, and came no further, is none of this region. */
TEST_F(hostile, attached_to_another_format)
{
	struct syncevent_pci_create create = { .home = 1 };
	volatile struct syncevent_region_side *me = side_at(&self->s, 1);
	int fd;

	if (!is_owner()) {
		ASSERT_EQ(0, unbind(self));
		me->format_epoch++;
		me->epoch = 12345;
	}
	ASSERT_TRUE(meet(self));
	if (is_owner()) {
		ASSERT_LE(0, fd = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create));
		EXPECT_EQ(-EPIPE, se_wait(fd, SYNCEVENT_COND_GT, 0, se_patience(), NULL));
		close(fd);
	}
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		me->epoch = 0;
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
}

/* Acknowledge whatever has ended, as a side that lives, but for one slot. */
static void ack_all_but(struct scribble *s, volatile struct syncevent_region_desc *but)
{
	uint32_t slot;

	for (slot = 0; slot < s->geo.slots; slot++)
		if (desc_at(s, slot) != but)
			ack_at(s, 1, slot)->gone =
				desc_at(s, slot)->state >> SYNCEVENT_STATE_GEN_SHIFT;
}

/*
 * A machine that attaches anew takes from the memory which pages its old events have. If
 * two are said to have the same, the end of one does not give away what the other has.
 */
TEST_F(hostile, pages_are_claimed_twice)
{
	volatile struct syncevent_region_side *me = side_at(&self->s, 1);
	volatile struct syncevent_region_desc *a, *b;
	struct syncevent_pci_info info;
	uint64_t epoch;
	char *c, *d;
	int i, fd[4];

	if (!is_owner()) {
		ASSERT_EQ(0, unbind(self));
		me->epoch = 12345;
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(a = find_desc(&self->s, "a"));
		ASSERT_TRUE(b = find_desc(&self->s, "b"));
		b->payload_first = a->payload_first;
		epoch = me->fenced[0] = side_at(&self->s, 0)->epoch;
		ASSERT_TRUE(se_until((me->heartbeat++, side_at(&self->s, 0)->epoch != epoch)));
		ack_all_but(&self->s, b);
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		ack_all_but(&self->s, NULL);
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		ASSERT_EQ(0, bind_again(self));
		return;
	}
	ASSERT_TRUE(meet(self));
	ASSERT_LE(0, fd[0] = pci_offer("a", 0, 2));
	ASSERT_LE(0, fd[1] = pci_offer("b", 0, 2));
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(se_until(!pci_info(&info) && info.slots_used == 1));
	ASSERT_LE(0, fd[2] = pci_create(0, 2));
	c = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd[2], 4096);
	ASSERT_NE(MAP_FAILED, c);
	memset(c, 0x5a, 8192);
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(se_until(!pci_info(&info) && info.slots_used == 1));
	ASSERT_LE(0, fd[3] = pci_create(0, 2));
	d = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd[3], 4096);
	ASSERT_NE(MAP_FAILED, d);
	EXPECT_EQ(0, d[0] | d[8191]);
	memset(d, 0x11, 8192);
	EXPECT_EQ(0x5a, c[0]);
	EXPECT_EQ(0x5a, c[8191]);
	munmap(c, 8192);
	munmap(d, 8192);
	for (i = 0; i < 4; i++)
		close(fd[i]);
	ASSERT_TRUE(meet(self));
}

/* A blob of an event that was there before, in the same slot, in the same memory. */
TEST_F(hostile, old_blobs)
{
	struct syncevent_blob old, blob = { .slot = 0 };
	int fd, again = -1;

	if (is_owner()) {
		ASSERT_TRUE(meet(self));
		memcpy(&old, (const void *)&self->box->blob, sizeof(old));
		ASSERT_LE(0, fd = pci_import(&old, 0));
		close(fd);
	} else {
		ASSERT_LE(0, fd = pci_create(1, 0));
		ASSERT_EQ(0, pci_export(fd, SYNCEVENT_RIGHT_UPDATE, &old));
		memcpy((void *)&self->box->blob, &old, sizeof(old));
		ASSERT_TRUE(meet(self));
	}
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		close(fd);
		/* Until the slot is used again. */
		ASSERT_TRUE(se_until((again < 0 || !close(again)) &&
				     (again = pci_create(2, 0)) >= 0 &&
				     !pci_export(again, SYNCEVENT_RIGHT_UPDATE, &blob) &&
				     blob.slot == old.slot));
		EXPECT_NE(blob.generation, old.generation);
	}
	ASSERT_TRUE(meet(self));
	if (is_owner())
		EXPECT_EQ(-EIDRM, pci_import(&old, 0));
	ASSERT_TRUE(meet(self));
	if (!is_owner())
		memset(self->memory, 0, SYNCEVENT_REGION_PAGE);
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(recover(self));
	ASSERT_TRUE(meet(self));
	EXPECT_EQ(-EINVAL, pci_import(&old, 0));
	if (again >= 0)
		close(again);
	ASSERT_TRUE(meet(self));
}

TEST_HARNESS_MAIN
