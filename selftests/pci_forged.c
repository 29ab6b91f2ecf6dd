// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A hostile machine tells lies, one at a time: each is refused with the right error, or
 * does no more than it has to. Old blobs are among them.
 */
#include "command.h"
#include "mourner.h"
#include "pci_hostile.h"

/* The descriptor of the event of that name; one that has ended keeps the name for a while. */
static volatile struct syncevent_region_desc *find_desc(struct scribble *s, const char *name)
{
	uint32_t slot;

	for (slot = 0; slot < s->geo.slots; slot++)
		if (!strcmp((const char *)desc_at(s, slot)->name, name) &&
		    (desc_at(s, slot)->state & SYNCEVENT_STATE_MASK) == SYNCEVENT_STATE_LIVE)
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

/* What was checked is what is used, however often the descriptor changes meanwhile. */
TEST_F(hostile, lies_that_change)
{
	const uint32_t share = self->s.geo.payload_pages / 2;
	unsigned int i, imports = 0, rounds = se_times(2000);
	uint64_t end = se_patience();
	volatile struct syncevent_region_desc *d;
	struct syncevent_info info;
	int fd;

	if (!is_owner()) {
		ASSERT_LE(0, fd = pci_offer("fickle", 7, 2));
		ASSERT_TRUE(d = find_desc(&self->s, "fickle"));
		ASSERT_TRUE(meet(self));
		for (i = 0;
		     self->box->number[0] != 1 && (i % 1000 || se_now(CLOCK_MONOTONIC) < end); i++)
			d->payload_pages = i % 2 ? share + 1 : 2;
		d->payload_pages = 2;
		close(fd);
		ASSERT_TRUE(meet(self));
		return;
	}
	ASSERT_TRUE(meet(self));
	/* On a busy host the liar may stand still for all of them. */
	for (i = 0; i < rounds || ((!imports || imports == i) && se_now(CLOCK_MONOTONIC) < end);
	     i++) {
		fd = pci_import_name("fickle", 0);
		if (fd == -EPROTO)
			continue;
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, se_info(fd, &info));
		EXPECT_EQ(2, info.pages);
		imports++;
		close(fd);
	}
	self->box->number[0] = 1;
	printf("# %u of %u were imported\n", imports, i);
	EXPECT_LT(0, imports);
	EXPECT_LT(imports, i);
	ASSERT_TRUE(meet(self));
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

/* A header that is no header, or leads outside the memory, or to other places. */
static bool lie_of_header(struct syncevent_region_header *h, unsigned int lie)
{
	switch (lie) {
	case 0: h->version++; break;
	case 1: h->size += SYNCEVENT_REGION_PAGE; break;
	case 2: h->size = 1ULL << 63; break;
	case 3: h->sides = 1; break;
	case 4: h->sides = SYNCEVENT_SIDES_MAX + 1; break;
	case 5: h->slots = 0; break;
	case 6: h->slots += 4; break;
	case 7: h->slot_shift++; break;
	case 8: h->slot_shift = 64; break;
	case 9: h->side_offset += SYNCEVENT_REGION_PAGE; break;
	case 10: h->desc_offset += SYNCEVENT_REGION_PAGE; break;
	case 11: h->ack_offset += SYNCEVENT_REGION_PAGE; break;
	case 12: h->ring_offset += SYNCEVENT_REGION_PAGE; break;
	case 13: h->slot_offset += SYNCEVENT_REGION_PAGE; break;
	case 14: h->payload_offset += SYNCEVENT_REGION_PAGE; break;
	default: return false;
	}
	return true;
}

/* It is looked at in each tick: who is attached is no longer, who is not stays so. */
TEST_F(hostile, lies_about_the_region)
{
	struct syncevent_region_header lie = self->s.header;
	unsigned int i;

	for (i = 0; lie_of_header(&lie, i); i++, lie = self->s.header) {
		if (!is_owner())
			memcpy(self->memory, &lie, sizeof(lie));
		ASSERT_TRUE(meet(self));
		EXPECT_TRUE(se_until(!pci_alive(0))) TH_LOG("lie %u", i);
		se_sleep_ms(4 * TICK_MS);
		EXPECT_FALSE(pci_alive(0)) TH_LOG("lie %u", i);
		ASSERT_TRUE(meet(self));
		if (!is_owner())
			memcpy(self->memory, &self->s.header, sizeof(lie));
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(recover(self));
		ASSERT_TRUE(meet(self));
	}
}

/* Asleep on an event until the other side has updated it, of which nobody tells. */
static int await_untold(struct _test_data_hostile *self)
{
	int fd = pci_offer("missed", 0, 0), ret;
	struct se_waiter w;

	if (fd < 0)
		return fd;
	ret = se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 5);
	if (ret)
		return ret;
	if (!se_waiter_parked(&w) || !meet(self))
		return -ETIMEDOUT;
	ret = se_waiter_join(&w);
	close(fd);
	return ret;
}

/* The update, when the other side sleeps. */
static bool update_untold(struct _test_data_hostile *self)
{
	volatile struct syncevent_region_desc *d;
	volatile struct syncevent_cell *cell;

	if (!meet(self))
		return false;
	d = find_desc(&self->s, "missed");
	if (!d)
		return false;
	cell = (void *)(self->memory + self->s.geo.slot +
			((uint64_t)(d - desc_at(&self->s, 0)) << self->s.geo.slot_shift));
	cell->value = 5;
	return true;
}

/*
 * An entry that found no room is counted: then each event is looked at. That a doorbell was
 * lost as well costs a tick.
 */
TEST_F(hostile, lost_entries)
{
	if (is_owner()) {
		EXPECT_EQ(0, await_untold(self));
	} else {
		ASSERT_TRUE(update_untold(self));
		__atomic_add_fetch(&ring_at(&self->s, 1, 0)->overflow, 1, __ATOMIC_RELEASE);
	}
	ASSERT_TRUE(meet(self));
}

/*
 * What a side that goes has not said before is lost with its ring: then each event is looked
 * at.
 */
TEST_F(hostile, lost_lives)
{
	if (is_owner()) {
		EXPECT_EQ(0, await_untold(self));
	} else {
		ASSERT_TRUE(update_untold(self));
		ASSERT_EQ(0, unbind(self));
	}
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		EXPECT_EQ(0, side_at(&self->s, 1)->epoch);
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
}

/* The last word of a machine that is dead itself declares nobody dead. */
TEST_F(hostile, fence_of_the_dead)
{
	volatile struct syncevent_region_side *me = side_at(&self->s, 1);
	volatile struct syncevent_region_side *victim = side_at(&self->s, 0);
	uint64_t epoch;

	if (!is_owner()) {
		ASSERT_EQ(0, unbind(self));
		me->epoch = 12345;
		ASSERT_TRUE(se_until(victim->fenced[1] == 12345));
		epoch = victim->epoch;
		me->fenced[0] = epoch;
		se_sleep_ms(8 * TICK_MS);
		EXPECT_EQ(epoch, victim->epoch);
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
}

/*
 * However often the region is another one, a machine attaches to it once in a tick at most:
 * here one that takes much longer than to attach.
 */
TEST_F(hostile, attaching_is_bounded)
{
	volatile struct syncevent_region_header *header = (void *)self->memory;
	volatile struct syncevent_region_side *victim = side_at(&self->s, 0);
	uint64_t epoch = 0, start, end = se_patience();
	const unsigned int rounds = 10, tick = 90;
	unsigned int n = 0;

	if (is_owner())
		ASSERT_EQ(0, write_to("/sys/module/syncevent/parameters", "peer_timeout_ms", "6400"));
	if (!is_owner())
		ASSERT_EQ(0, unbind(self));
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		start = se_now(CLOCK_MONOTONIC);
		while (n <= rounds && se_now(CLOCK_MONOTONIC) < end) {
			header->format_epoch++;
			if (!victim->epoch || victim->epoch == epoch)
				continue;
			epoch = victim->epoch;
			n++;
		}
		start = (se_now(CLOCK_MONOTONIC) - start) / 1000000;
		printf("# %u times in %u ms\n", n, (unsigned int)start);
		EXPECT_LT(rounds, n);
		/* Its ticks are counted in jiffies, of at most 10 ms. */
		EXPECT_LE(rounds * (tick - 10), start);
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
	if (is_owner())
		ASSERT_EQ(0, write_to("/sys/module/syncevent/parameters", "peer_timeout_ms", "400"));
	ASSERT_TRUE(recover(self));
}

/* Who detaches shows it, though something keeps it from attaching anew. */
TEST_F(hostile, detached_is_shown)
{
	volatile struct syncevent_region_header *header = (void *)self->memory;
	volatile struct syncevent_region_side *victim = side_at(&self->s, 0);

	if (!is_owner()) {
		ASSERT_EQ(0, unbind(self));
		header->sides = 255;
		EXPECT_TRUE(se_until(!victim->epoch));
		header->sides = self->s.header.sides;
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(recover(self));
	ASSERT_TRUE(meet(self));
}

/* A name is free for others when its machine has left. */
TEST_F(hostile, names_of_who_left)
{
	int fd, own = -1;
	uint64_t v = 0;

	if (!is_owner()) {
		ASSERT_LE(0, fd = pci_offer("heir", 1, 0));
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		ASSERT_EQ(0, unbind(self));
		close(fd);
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		ASSERT_EQ(0, bind_again(self));
	} else {
		ASSERT_TRUE(meet(self));
		ASSERT_LE(0, fd = pci_await("heir"));
		EXPECT_EQ(-EEXIST, pci_offer("heir", 2, 0));
		close(fd);
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		EXPECT_LE(0, own = pci_offer("heir", 2, 0));
		ASSERT_LE(0, fd = pci_await("heir"));
		EXPECT_EQ(0, se_get(fd, &v));
		EXPECT_EQ(2, v);
		close(fd);
		ASSERT_TRUE(meet(self));
	}
	ASSERT_TRUE(recover(self));
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		ASSERT_LE(0, fd = pci_await("heir"));
		EXPECT_EQ(0, se_get(fd, &v));
		EXPECT_EQ(2, v);
		close(fd);
	}
	ASSERT_TRUE(meet(self));
	close(own);
}

/*
 * A machine that attached to another format, and came no further, is none of this region.
 * Nobody declared it dead: it is not there, as before, when it had left in order.
 */
TEST_F(hostile, attached_to_another_format)
{
	struct syncevent_pci_create create = { .home = 1 };
	volatile struct syncevent_region_side *me = side_at(&self->s, 1);
	int fd;

	if (!is_owner())
		ASSERT_EQ(0, unbind(self));
	ASSERT_TRUE(meet(self));
	if (is_owner()) {
		ASSERT_TRUE(se_until(!pci_alive(3)));
		EXPECT_STREQ("absent, absent", peer_states());
	}
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		me->format_epoch++;
		me->epoch = 12345;
	}
	ASSERT_TRUE(meet(self));
	if (is_owner()) {
		EXPECT_STREQ("absent, absent", peer_states());
		ASSERT_LE(0, fd = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create));
		EXPECT_EQ(-EPIPE, pci_wait(fd, SYNCEVENT_COND_GT, 0, NULL));
		close(fd);
		/* The same when a tick has seen it. */
		se_sleep_ms(2 * TICK_MS);
		EXPECT_STREQ("absent, absent", peer_states());
	}
	ASSERT_TRUE(meet(self));
	if (!is_owner()) {
		me->epoch = 0;
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
}

/*
 * A machine that attached anew is seen to have done so a tick later. Who waits by then for
 * an event of its new life has lost nothing; who has counted on the old one has. A poll looks
 * at what is: it finds no death that is over.
 */
TEST_F(hostile, new_life)
{
	struct syncevent_pci_create create = { .home = 1 };
	struct mourner before[HOWS];
	struct se_waiter w;
	int fd, old = -1, i;
	enum how how;

	for (i = 0; i < 5; i++) {
		if (is_owner()) {
			ASSERT_LE(0, old = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create));
			for (how = 0; how < HOWS; how++)
				if (how != BY_EPOLL)
					ASSERT_EQ(0, mourner_start(&before[how], old, how));
		}
		ASSERT_TRUE(meet(self));
		if (is_owner()) {
			ASSERT_TRUE(meet(self));
			ASSERT_LE(0, fd = pci_await("reborn"));
			ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 5));
			/* Some ticks of this side: in whichever it notices, the new wait goes on. */
			se_sleep_ms(12 * TICK_MS);
			ASSERT_TRUE(meet(self));
			EXPECT_EQ(0, se_waiter_join(&w)) TH_LOG("life %d", i);
			for (how = 0; how < HOWS; how++) {
				if (how == BY_EPOLL)
					continue;
				ASSERT_TRUE(se_until(se_is_done(&before[how].t)))
					TH_LOG("life %d: %s", i, hows[how]);
				EXPECT_EQ(-EPIPE, mourner_end(&before[how]))
					TH_LOG("life %d: %s", i, hows[how]);
			}
			close(old);
		} else {
			ASSERT_EQ(0, unbind(self));
			ASSERT_EQ(0, bind_again(self));
			ASSERT_TRUE(se_until(settled(self)));
			ASSERT_LE(0, fd = pci_offer("reborn", 0, 0));
			ASSERT_TRUE(meet(self));
			ASSERT_TRUE(meet(self));
			ASSERT_EQ(0, se_set(fd, 5));
		}
		ASSERT_TRUE(meet(self));
		close(fd);
	}
	ASSERT_TRUE(recover(self));
	ASSERT_TRUE(meet(self));
}

/* As meet(), while this side's heart beats, and with another life every 300 ms if @die. */
static bool meet_alive(struct _test_data_hostile *self, bool die)
{
	volatile struct syncevent_region_side *me = side_at(&self->s, my_side());
	uint64_t step = __atomic_add_fetch(&self->step, 1, __ATOMIC_RELAXED);
	uint64_t next = se_now(CLOCK_MONOTONIC);

	return se_until(({
		me->heartbeat++;
		if (die && se_now(CLOCK_MONOTONIC) > next) {
			me->epoch++;
			next += 300000000;
		}
		self->box->step[!my_side()] >= step && self->box->step[!my_side()] < UINT64_MAX;
	}));
}

/*
 * Who dies and is back before anybody looked was dead all the same, and who has the right to
 * update again is not who had it. These lives are forged: one follows another in one store.
 */
TEST_F(hostile, lives_between_two_ticks)
{
	struct syncevent_pci_create home = { .home = 1 };
	struct syncevent_pci_create updated = { .publishers = SYNCEVENT_LOC_REMOTE_PCI };
	const uint32_t rights = SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE;
	volatile struct syncevent_region_side *me = side_at(&self->s, 1);
	volatile struct syncevent_region_desc *d;
	volatile struct syncevent_region_ack *ack;
	struct mourner m[2][HOWS];
	int fd[2], i;
	enum how how;

	if (is_owner()) {
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(se_until(pci_alive(3)));
		ASSERT_LE(0, fd[0] = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &home));
		ASSERT_LE(0, fd[1] = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &updated));
		ASSERT_EQ(0, pci_name(fd[1], "updated", rights));
		ASSERT_TRUE(meet(self));
		ASSERT_TRUE(meet(self));
		/* Not by poll, which finds no death that is over; nor do all spin. */
		for (i = 0; i < 2; i++)
			for (how = 0; how < (i ? BY_SPIN : HOWS); how++)
				if (how != BY_EPOLL)
					ASSERT_EQ(0, mourner_start(&m[i][how], fd[i], how));
		/* Some ticks: it is known who has the right to update. */
		se_sleep_ms(20 * TICK_MS);
		ASSERT_TRUE(meet(self));
		for (i = 0; i < 2; i++)
			for (how = 0; how < (i ? BY_SPIN : HOWS); how++) {
				if (how == BY_EPOLL)
					continue;
				ASSERT_TRUE(se_until(se_is_done(&m[i][how].t)))
					TH_LOG("event %d: %s", i, hows[how]);
				EXPECT_EQ(-EPIPE, mourner_end(&m[i][how]))
					TH_LOG("event %d: %s", i, hows[how]);
			}
		ASSERT_TRUE(meet(self));
		close(fd[0]);
		close(fd[1]);
	} else {
		ASSERT_EQ(0, unbind(self));
		me->epoch = 12345;
		ASSERT_TRUE(meet_alive(self, false));
		ASSERT_TRUE(meet_alive(self, false));
		ASSERT_TRUE(d = find_desc(&self->s, "updated"));
		ack = ack_at(&self->s, 1, (uint32_t)(d - desc_at(&self->s, 0)));
		ack->import = d->state >> SYNCEVENT_STATE_GEN_SHIFT << 2 | rights;
		ASSERT_TRUE(meet_alive(self, false));
		ASSERT_TRUE(meet_alive(self, false));
		ASSERT_TRUE(meet_alive(self, true));
		ack->import = 0;
		me->epoch = 0;
		ASSERT_EQ(0, bind_again(self));
	}
	ASSERT_TRUE(meet(self));
	ASSERT_TRUE(recover(self));
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
		/* It shows none until it has attached anew. */
		ASSERT_TRUE(se_until((me->heartbeat++, side_at(&self->s, 0)->epoch != epoch &&
						       side_at(&self->s, 0)->epoch)));
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
