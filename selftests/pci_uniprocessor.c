// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The test of atomic adds is worth something: an emulator with one CPU does not make
 * them atomic towards another one, and the test must notice.
 */
#include "pci.h"

TEST(lost_adds_are_noticed)
{
	struct pci_pair pair;
	int fd;

	ASSERT_EQ(0, pci_join(&pair, 0));
	ASSERT_LE(0, fd = is_owner() ? pci_offer("sum", 0, 0) : pci_await("sum"));
	EXPECT_EQ(1, pci_add_together(&pair, fd, 10000000, 1000));
	EXPECT_EQ(0, pci_meet(&pair));
	close(fd);
	EXPECT_EQ(0, pci_part(&pair));
}

TEST_HARNESS_MAIN
