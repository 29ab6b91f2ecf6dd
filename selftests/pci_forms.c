// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Events between machines of other forms, which SE_FORM names: without doorbells, without
 * atomic operations, with one CPU. Side 0 makes the events.
 */
#include "command.h"
#include "pci.h"

#include <syncevent.h>
#include <syncevent/inline.h>

static bool form_is(const char *name)
{
	const char *form = getenv("SE_FORM");

	return form && !strcmp(form, name);
}

FIXTURE(forms) {
	struct pci_pair pair;
	int fd;
};

FIXTURE_SETUP(forms)
{
	ASSERT_EQ(0, pci_join(&self->pair, 0));
	ASSERT_LE(0, self->fd = is_owner() ? pci_offer("event", 0, 1) : pci_await("event"));
}

FIXTURE_TEARDOWN(forms)
{
	EXPECT_EQ(0, pci_meet(&self->pair));
	close(self->fd);
	EXPECT_EQ(0, pci_part(&self->pair));
}

/* The device, INFO and the cell say what goes. */
TEST_F(forms, is_said)
{
	bool plain = form_is("plain"), noatomics = form_is("noatomics");
	struct syncevent_pci_info region;
	struct syncevent_cell *cell;
	struct syncevent_info info;

	ASSERT_EQ(0, pci_info(&region));
	EXPECT_EQ(SYNCEVENT_PCI_ATTACHED | (plain ? 0 : SYNCEVENT_PCI_DOORBELL) |
		  (noatomics ? 0 : SYNCEVENT_PCI_ATOMICS), region.flags);
	ASSERT_EQ(0, se_info(self->fd, &info));
	EXPECT_EQ(plain, !!(info.flags & SYNCEVENT_INFO_SILENT));
	EXPECT_EQ(noatomics, !!(info.flags & SYNCEVENT_INFO_NO_REMOTE_ADD));
	ASSERT_TRUE(cell = pci_map(self->fd, PROT_READ));
	EXPECT_EQ((plain ? SYNCEVENT_CELL_SILENT : 0) |
		  (noatomics ? SYNCEVENT_CELL_NO_REMOTE_ADD : 0), cell->flags);
	munmap(cell, 4096);
	if (form_is("onecpu"))
		EXPECT_EQ(1, sysconf(_SC_NPROCESSORS_ONLN));
}

/* A set of the other side ends each way to wait. */
TEST_F(forms, waits_see_sets)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct syncevent_completion done;
	struct syncevent_wait_entry entry;
	int q = se_queue(0), ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = { .events = EPOLLIN };
	uint64_t v, end;
	unsigned int i;

	ASSERT_LE(0, q);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &e));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, pci_meet(&self->pair));
		end = se_patience();
		if (i % 2 != my_side()) {
			if (i % 3)
				se_sleep_ms(2);
			ASSERT_EQ(0, se_set(self->fd, i + 1));
		} else if (i / 2 == 0) {
			ASSERT_EQ(0, pci_wait(self->fd, SYNCEVENT_COND_GT, i, &v));
			EXPECT_EQ(i + 1, v);
		} else if (i / 2 == 1) {
			ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GT, i));
			ASSERT_EQ(1, poll(&p, 1, SE_HANG_S * 1000));
		} else if (i / 2 == 2) {
			ASSERT_EQ(0, se_arm(self->fd, SYNCEVENT_COND_GT, i));
			ASSERT_EQ(1, epoll_wait(ep, &e, 1, SE_HANG_S * 1000));
		} else if (i / 2 == 3) {
			entry = se_entry(self->fd, SYNCEVENT_COND_GT, i);
			ASSERT_EQ(0, se_wait_many(&entry, 1, 0, end, NULL));
			EXPECT_EQ(i + 1, entry.value);
		} else {
			ASSERT_EQ(0, se_queue_add(q, self->fd, SYNCEVENT_COND_GT, i, i, end));
			ASSERT_EQ(1, se_reap(q, &done, 1));
			EXPECT_EQ(i + 1, done.value);
		}
		ASSERT_EQ(0, pci_woken(0, end)) TH_LOG("way %u", i / 2);
		ASSERT_EQ(0, pci_meet(&self->pair));
	}
	close(ep);
	close(q);
}

/* Without atomics the home adds and nobody else; where that goes for all, none is lost. */
TEST_F(forms, adds)
{
	struct syncevent_pci_create create = { .home = 1 };
	uint64_t v;
	int away;

	if (!form_is("noatomics")) {
		EXPECT_EQ(0, pci_add_together(&self->pair, self->fd, se_times(1000000), 2));
		return;
	}
	if (is_owner()) {
		ASSERT_LE(0, away = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create));
		ASSERT_EQ(0, pci_name(away, "away", 3));
	} else {
		ASSERT_LE(0, away = pci_await("away"));
	}
	EXPECT_EQ(is_owner() ? 0 : -EOPNOTSUPP, se_add(self->fd, 1, NULL));
	EXPECT_EQ(is_owner() ? 0 : -EOPNOTSUPP, se_write(self->fd, 1));
	EXPECT_EQ(is_owner() ? -EOPNOTSUPP : 0, se_add(away, 1, NULL));
	EXPECT_EQ(is_owner() ? -EOPNOTSUPP : 0, se_write(away, 1));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, se_get(self->fd, &v));
	EXPECT_EQ(2, v);
	ASSERT_EQ(0, se_get(away, &v));
	EXPECT_EQ(2, v);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (!is_owner())
		ASSERT_EQ(0, se_set(self->fd, 9));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, se_get(self->fd, &v));
	EXPECT_EQ(9, v);
	ASSERT_EQ(0, pci_meet(&self->pair));
	close(away);
}

/* Likewise of the library. What it refuses changes nothing. */
TEST_F(forms, library_adds)
{
	const bool alone = form_is("noatomics"), refused = alone && !is_owner();
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct syncevent *ev, *twin, *reader;
	uint64_t v, old = 77;

	ASSERT_EQ(0, syncevent_from_fd(&ev, self->fd));
	ASSERT_EQ(0, syncevent_dup(&twin, ev, 0));
	ASSERT_EQ(0, syncevent_dup(&reader, ev, SYNCEVENT_RDONLY));
	ASSERT_EQ(0, syncevent_stat(ev, &stat));
	EXPECT_EQ(alone, !!(stat.flags & SYNCEVENT_STAT_HOME_ADDS));
	EXPECT_EQ(0, stat.home);
	EXPECT_EQ(my_side(), stat.side);

	EXPECT_EQ(refused ? -EOPNOTSUPP : 0, syncevent_add(ev, 3, &old));
	if (refused)
		EXPECT_EQ(77, old);
	EXPECT_EQ(refused ? -EOPNOTSUPP : 0, syncevent_add(twin, 4, NULL));
	/* Who may not update hears of that first. */
	EXPECT_EQ(-EBADF, syncevent_add(reader, 1, NULL));
	/* Inline it is the caller who knows. */
	if (!refused)
		EXPECT_EQ(0, syncevent_inline_add(ev, syncevent_cell(ev), 10, NULL));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, syncevent_get(ev, &v));
	EXPECT_EQ(alone ? 17 : 34, v);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (!is_owner())
		EXPECT_EQ(0, syncevent_set(ev, 5));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, syncevent_get(ev, &v));
	EXPECT_EQ(5, v);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (is_owner())
		EXPECT_EQ(0, syncevent_revoke(ev));
	ASSERT_TRUE(se_until(syncevent_set(ev, 1) == -EIDRM));
	EXPECT_EQ(-EIDRM, syncevent_add(ev, 1, NULL));
	syncevent_close(reader);
	syncevent_close(twin);
	syncevent_close(ev);
}

/* And of the command, which says what goes instead. */
TEST_F(forms, command_adds)
{
	const bool alone = form_is("noatomics");
	char said[256];
	uint64_t v;

	/* In turns: what the second one prints has the first one's. */
	if (!is_owner())
		ASSERT_EQ(0, pci_meet(&self->pair));
	if (alone && !is_owner()) {
		EXPECT_EQ(1, command_end(command_begin("add event 5 --on " PCI_DEV), said,
					 sizeof(said)));
		EXPECT_STREQ("syncevent: cannot add to 'event': that works on its home machine "
			     "alone; others can set it\n", said);
	} else {
		EXPECT_EQ(0, command_end(command_begin("add event 5 --on " PCI_DEV), said,
					 sizeof(said)));
		EXPECT_STREQ(is_owner() ? "5\n" : "10\n", said);
	}
	if (is_owner())
		ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, se_get(self->fd, &v));
	EXPECT_EQ(alone ? 5 : 10, v);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (!is_owner())
		EXPECT_EQ(0, command_end(command_begin("set event 8 --on " PCI_DEV), said,
					 sizeof(said)));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, se_get(self->fd, &v));
	EXPECT_EQ(8, v);
}

/* The end of an event comes to the other side, by a tick if by nothing else. */
TEST_F(forms, ends)
{
	struct syncevent_pci_info info;
	uint64_t v;

	ASSERT_EQ(0, pci_meet(&self->pair));
	if (is_owner()) {
		ASSERT_EQ(0, se_revoke(self->fd));
	} else {
		ASSERT_EQ(-EIDRM, pci_wait(self->fd, SYNCEVENT_COND_EQ, 99, NULL));
	}
	EXPECT_EQ(-EIDRM, se_get(self->fd, &v));
	/* All that is left are the steps. */
	EXPECT_TRUE(se_until(!pci_info(&info) && info.slots_used <= 1));
}

/* ---- machines of two kinds ---------------------------------------------------------------- */

FIXTURE(mixed) {
	struct pci_pair pair;
	int fd[4];
};

static int load_with_atomics(bool atomics)
{
	char places[128];
	size_t len;
	int ret = get_places(places, sizeof(places));

	if (ret)
		return ret;
	pci_dev_close();
	if (!se_until(!module_unload()))
		return -EBUSY;
	len = strlen(places);
	snprintf(places + len, sizeof(places) - len, " direct_atomics=%d", atomics);
	return module_load(places);
}

/* Side 0 has direct_atomics=N, side 1 Y; each makes an event for each home. */
FIXTURE_SETUP(mixed)
{
	unsigned int i;
	char name[8];

	ASSERT_EQ(0, load_with_atomics(!is_owner()));
	ASSERT_EQ(0, pci_join(&self->pair, 0));
	for (i = 0; i < 4; i++) {
		struct syncevent_pci_create create = { .home = i % 2 };

		snprintf(name, sizeof(name), "mixed%u", i);
		if (i / 2 == my_side()) {
			ASSERT_LE(0, self->fd[i] = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE,
							    &create));
			ASSERT_EQ(0, pci_name(self->fd[i], name, 3));
		} else {
			ASSERT_LE(0, self->fd[i] = pci_await(name));
		}
	}
}

FIXTURE_TEARDOWN(mixed)
{
	unsigned int i;

	EXPECT_EQ(0, pci_meet(&self->pair));
	for (i = 0; i < 4; i++)
		close(self->fd[i]);
	EXPECT_EQ(0, pci_part(&self->pair));
	EXPECT_EQ(0, load_with_atomics(!form_is("noatomics")));
}

/* Away from the home adds what both can: whose creator said so, and whose CPUs are such. */
TEST_F(mixed, adds_of_two_kinds)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };
	struct syncevent_pci_info region;
	struct syncevent_info info;
	char said[256], wanted[128];
	struct syncevent *ev;
	unsigned int i;
	bool refused;
	uint64_t v;
	int err;

	/* That of this machine, and of nobody else. */
	ASSERT_EQ(0, pci_info(&region));
	EXPECT_EQ(is_owner() ? 0 : SYNCEVENT_PCI_ATOMICS, region.flags & SYNCEVENT_PCI_ATOMICS);
	for (i = 0; i < 4; i++) {
		refused = i % 2 != my_side() && (is_owner() || i / 2 == 0);
		err = refused ? -EOPNOTSUPP : 0;
		EXPECT_EQ(err, se_add(self->fd[i], 1, NULL)) TH_LOG("mixed%u", i);
		EXPECT_EQ(err, se_write(self->fd[i], 1));
		ASSERT_EQ(0, se_info(self->fd[i], &info));
		EXPECT_EQ(i / 2 == 0 || refused, !!(info.flags & SYNCEVENT_INFO_NO_REMOTE_ADD));

		ASSERT_EQ(0, syncevent_from_fd(&ev, self->fd[i]));
		ASSERT_EQ(0, syncevent_stat(ev, &stat));
		EXPECT_EQ(i / 2 == 0 || refused, !!(stat.flags & SYNCEVENT_STAT_HOME_ADDS));
		EXPECT_EQ(err, syncevent_add(ev, 1, NULL)) TH_LOG("mixed%u", i);
		syncevent_close(ev);

		EXPECT_EQ(refused, command_end(command_begin("add mixed%u --on " PCI_DEV, i),
					       said, sizeof(said)));
		snprintf(wanted, sizeof(wanted), "syncevent: cannot add to 'mixed%u': that works "
			 "on its home machine alone; others can set it\n", i);
		if (refused)
			EXPECT_STREQ(wanted, said);
	}
	ASSERT_EQ(0, pci_meet(&self->pair));
	for (i = 0; i < 4; i++) {
		/* The one of side 1 whose home is side 0 is the only one that both add to. */
		ASSERT_EQ(0, se_get(self->fd[i], &v));
		EXPECT_EQ(i == 2 ? 8 : 4, v);
	}
}

TEST_HARNESS_MAIN
