// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * As many sides as a region can have, of which the first and the last are there: hints
 * behind the cell, the rings and acknowledgements of high sides, their bits in sets.
 */
#define PCI_OTHER	63U

#include "pci.h"

#include <syncevent.h>

FIXTURE(sides) {
	struct pci_pair pair;
};

FIXTURE_SETUP(sides)
{
	ASSERT_EQ(0, pci_join(&self->pair, 0));
}

FIXTURE_TEARDOWN(sides)
{
	EXPECT_EQ(0, pci_part(&self->pair));
}

/* An event that this side made, or the other one. */
static int shared(bool mine)
{
	return mine ? pci_offer("event", 0, 0) : pci_await("event");
}

static uint64_t epoch_of(uint32_t side)
{
	struct syncevent_pci_peer peer = { .side = side };

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer) || !peer.alive ? 0 : peer.epoch;
}

TEST_F(sides, attached)
{
	struct syncevent_pci_peer peer = { .side = SYNCEVENT_SIDES_MAX };
	struct syncevent_pci_info info;

	ASSERT_EQ(0, pci_info(&info));
	EXPECT_EQ(my_side(), info.side);
	EXPECT_EQ(SYNCEVENT_SIDES_MAX, info.sides);
	EXPECT_EQ(PCI_BOTH, info.alive);
	EXPECT_EQ(-EINVAL, se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer));
	peer.side = PCI_OTHER - 1;
	ASSERT_EQ(0, se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer));
	EXPECT_EQ(0, peer.epoch);
	EXPECT_NE(0, epoch_of(0));
	EXPECT_NE(0, epoch_of(PCI_OTHER));
}

TEST_F(sides, adds_are_atomic)
{
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		ASSERT_LE(0, fd = shared(i == is_owner()));
		EXPECT_EQ(0, pci_add_together(&self->pair, fd, se_times(1000000), 10));
		ASSERT_EQ(0, pci_meet(&self->pair));
		close(fd);
		ASSERT_EQ(0, pci_meet(&self->pair));
	}
}

/* By the call, and by the mapping. */
TEST_F(sides, sleeping_ping_pong)
{
	unsigned int rounds = se_times(5000), made, i, turn;
	struct syncevent_cell *cell;
	int fd;

	for (made = 0; made < 2; made++) {
		ASSERT_LE(0, fd = shared(made == is_owner()));
		ASSERT_TRUE(cell = pci_map(fd, PROT_READ | PROT_WRITE));
		ASSERT_EQ(0, pci_meet(&self->pair));
		for (i = 0; i < rounds; i++) {
			turn = 2 * i + !is_owner();
			ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_GE, turn, NULL)) {
				TH_LOG("round %u", i);
			}
			ASSERT_EQ(0, made ? pci_store(fd, cell, turn + 1) : se_add(fd, 1, NULL));
		}
		ASSERT_EQ(0, pci_meet(&self->pair));
		munmap(cell, 4096);
		close(fd);
		ASSERT_EQ(0, pci_meet(&self->pair));
	}
}

/* The last hint is far behind the cell. It rings as the first ones do. */
TEST_F(sides, doorbells_only_for_sleepers)
{
	struct syncevent_hint *hint;
	struct syncevent_cell *cell;
	int fd = shared(is_owner());

	ASSERT_LE(0, fd);
	ASSERT_TRUE(cell = pci_map(fd, PROT_READ));
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (is_owner()) {
		hint = (struct syncevent_hint *)((char *)cell + 64 + 16 * (PCI_OTHER - 3));
		ASSERT_EQ(0, pci_rings_once(fd, hint, 100));
	} else {
		ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_GT, 100, NULL));
	}
	ASSERT_EQ(0, pci_meet(&self->pair));
	munmap(cell, 4096);
	close(fd);
}

/* Events of one creator and home are few here: their slots come back. */
TEST_F(sides, slots_come_back)
{
	struct syncevent_pci_info info;
	int fd[8], round, n;

	ASSERT_EQ(0, pci_meet(&self->pair));
	for (round = 0; round < 5; round++) {
		ASSERT_TRUE(se_until(!pci_info(&info) && info.slots_used <= 1));
		for (n = 0; n < 8 && (fd[n] = pci_create(1, 0)) >= 0; n++)
			;
		ASSERT_GT(8, n);
		EXPECT_EQ(-ENOSPC, fd[n]);
		EXPECT_LT(1, n);
		while (n--)
			close(fd[n]);
	}
	ASSERT_EQ(0, pci_meet(&self->pair));
}

/* The last side stands still, is dead for the first, and comes back. */
TEST(dies_and_comes_back)
{
	struct syncevent_pci_info info;
	struct pci_pair pair;
	struct se_waiter w;
	unsigned int i;
	uint64_t epoch;
	int fd;

	ASSERT_EQ(0, pci_join(&pair, 0));
	ASSERT_NE(0, epoch = epoch_of(PCI_OTHER));
	ASSERT_LE(0, fd = shared(!is_owner()));
	ASSERT_EQ(0, pci_meet(&pair));
	if (is_owner()) {
		ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 99));
		ASSERT_TRUE(se_until_waiters(fd, 1));
		fault("stop", PCI_OTHER);
		EXPECT_EQ(-EPIPE, se_waiter_join(&w));
		EXPECT_EQ(0, pci_info(&info));
		EXPECT_EQ(1, info.alive);
		fault("continue", PCI_OTHER);
	}
	ASSERT_TRUE(se_until(epoch_of(PCI_OTHER) && epoch_of(PCI_OTHER) != epoch));
	close(fd);
	close(pair.there);
	close(pair.here);
	/* Names that nothing had before: those may be there still. */
	ASSERT_LE(0, pair.here = pci_offer(is_owner() ? "again-0" : "again-1", 0, 0));
	ASSERT_LE(0, pair.there = pci_await(is_owner() ? "again-1" : "again-0"));
	pair.step = 0;
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, pci_meet(&pair));
	EXPECT_EQ(0, pci_part(&pair));
}

TEST_HARNESS_MAIN
