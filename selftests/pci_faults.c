// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Machines that die or stand still: what the other sees of it, in each way to wait; and
 * that both work again after.
 */
#include "pci_pair.h"

/* ---- a machine dies --------------------------------------------------------------------- */

enum { CREATOR, HOME, UPDATER, LONELY };

/* When it last beat, until nobody waits for @all any more, or 0. */
static uint64_t last_beat(volatile __u64 *heartbeat, struct mourners *all, int n)
{
	uint64_t v = *heartbeat, moved = se_now(CLOCK_MONOTONIC), end = se_patience();
	int i;

	for (i = 0; i < n && se_now(CLOCK_MONOTONIC) < end; ) {
		if (*heartbeat != v) {
			v = *heartbeat;
			moved = se_now(CLOCK_MONOTONIC);
		}
		if (all_ended(&all[i]))
			i++;
		else
			se_sleep_ms(1);
	}
	return i < n ? 0 : moved;
}

/**
 * struct sleeper - sleeps on one CPU, again and again: how late is it at most?
 * @cpu: which
 * @ended: it is over
 */
struct sleeper {
	struct se_thread t;
	int cpu;
	bool ended;
};

static int sleeper_fn(void *arg)
{
	struct sleeper *s = arg;
	uint64_t began, late = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(s->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return -errno;
	while (!__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE)) {
		began = se_now(CLOCK_MONOTONIC);
		se_sleep_ms(10);
		began = (se_now(CLOCK_MONOTONIC) - began) / 1000000 - 10;
		late = began > late ? began : late;
	}
	return (int)late;
}

TEST_F(pair, killed)
{
	static const char *const names[] = { "creator", "home", "last updater" };
	struct sleeper sleeper[CPUS_MAX] = { { .cpu = 0 } };
	volatile struct syncevent_cell *cell[4];
	char *memory;
	uint32_t deaths[4];
	struct epoll_event e;
	struct mourners all[4];
	struct mourner latecomer;
	char said[256], wanted[128];
	int fd[4], ep[4], cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), late = 0, i;
	uint64_t moved, v;
	FILE *commands[3];
	int64_t waiters;

	/* What depends on the other side, in each of the three ways; and what does not. */
	ASSERT_LE(0, fd[CREATOR] = made_for(&self->o, "a", 0, ME));
	ASSERT_LE(0, fd[HOME] = offer("b", SYNCEVENT_LOC_CPU, VICTIM));
	ASSERT_LE(0, fd[UPDATER] = offer("c", SYNCEVENT_LOC_REMOTE_PCI, ME));
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 2, .name = "c"));
	ASSERT_LE(0, fd[LONELY] = offer("d", SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI, ME));
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 3, .name = "d"));
	ASSERT_TRUE(memory = map_region());
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(cell[i] = pci_map(fd[i], PROT_READ));
		deaths[i] = cell[i]->hint[ME].deaths;
		EXPECT_FALSE(is_dead(fd[i]));
		ASSERT_EQ(0, mourn(&all[i], fd[i]));
	}
	for (i = 0; i < 3; i++) {
		waiters = se_waiters(fd[i]);
		ASSERT_TRUE(commands[i] = command_begin("wait %c --on " PCI_DEV " --eq 99 --how block "
							"--timeout 60s%s", 'a' + i,
							i == HOME ? " --json" : ""));
		ASSERT_TRUE(se_until_waiters(fd[i], waiters + 1));
	}
	ASSERT_GE(CPUS_MAX, cpus);
	for (i = 0; i < cpus; i++) {
		sleeper[i].cpu = i;
		ASSERT_EQ(0, se_start(&sleeper[i].t, sleeper_fn, &sleeper[i]));
	}
	fault("kill", VICTIM);
	ASSERT_LT(0, moved = last_beat(heartbeat_in(memory), all, 3));
	for (i = 0; i < cpus; i++) {
		__atomic_store_n(&sleeper[i].ended, true, __ATOMIC_RELEASE);
		v = (uint64_t)se_join(&sleeper[i].t);
		ASSERT_LE(0, (int)v);
		late = (int)v > late ? (int)v : late;
	}
	printf("# it was killed; the limit is %u ms after its last heartbeat; sleeps were %d ms late\n",
	       self->limit, late);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, wrong_ends(&all[i], -EPIPE, names[i],
					moved + self->limit * 1000000ULL));
		/*
		 * Two ticks, of four: a timer, a worker, the looks that this begins and a thread
		 * to be woken. None is later than the sleeps: what delays it delays those.
		 */
		EXPECT_LE((last_end(&all[i]) - moved) / 1000000,
			  self->limit + self->limit / 4 + 6ULL * late) TH_LOG("%s", names[i]);
		EXPECT_EQ(3, command_end(commands[i], said, sizeof(said)));
		snprintf(wanted, sizeof(wanted), "syncevent: the peer that '%c' depends on died\n%s",
			 'a' + i, i == HOME ? "{\"name\":\"b\",\"result\":\"peer died\"}\n" : "");
		EXPECT_STREQ(wanted, said);
		EXPECT_EQ(deaths[i] + 1, cell[i]->hint[ME].deaths);
		EXPECT_EQ(SYNCEVENT_HINT_PEER_DEAD,
			  cell[i]->hint[ME].flags & SYNCEVENT_HINT_PEER_DEAD);
		EXPECT_TRUE(is_dead(fd[i]));
		/* Nobody begins to wait, but what holds, holds. */
		EXPECT_EQ(-EPIPE, se_wait(fd[i], SYNCEVENT_COND_EQ, NEVER, SE_FOREVER, NULL));
		ASSERT_EQ(0, mourner_start(&latecomer, fd[i], BY_LIBRARY));
		ASSERT_TRUE(se_until(se_is_done(&latecomer.t)));
		EXPECT_EQ(-EPIPE, mourner_end(&latecomer));
		EXPECT_EQ(0, se_set(fd[i], 3));
		EXPECT_EQ(0, se_wait(fd[i], SYNCEVENT_COND_EQ, 3, SE_FOREVER, NULL));
		/* One that polls for edges, and sets its condition only now. */
		e.events = EPOLLOUT | EPOLLET;
		ASSERT_LE(0, ep[i] = epoll_create1(EPOLL_CLOEXEC));
		ASSERT_EQ(0, epoll_ctl(ep[i], EPOLL_CTL_ADD, fd[i], &e));
		EXPECT_EQ(1, epoll_wait(ep[i], &e, 1, 0));
		EXPECT_EQ(EPOLLOUT | EPOLLERR, e.events);
		ASSERT_EQ(0, se_arm(fd[i], SYNCEVENT_COND_GT, NEVER));
		EXPECT_EQ(0, epoll_wait(ep[i], &e, 1, 0));
	}

	EXPECT_STREQ("dead, dead", peer_states());
	/* All else goes on. */
	EXPECT_FALSE(any_ended(&all[LONELY]));
	EXPECT_FALSE(is_dead(fd[LONELY]));
	EXPECT_EQ(deaths[LONELY], cell[LONELY]->hint[ME].deaths);
	EXPECT_EQ(0, se_set(fd[LONELY], NEVER));
	EXPECT_EQ(0, wrong_ends(&all[LONELY], 0, "independent", 0));

	/* It is back: what it made has ended, what others made goes on. */
	fault("boot", VICTIM);
	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	EXPECT_STREQ("alive, alive", peer_states());
	ASSERT_TRUE(se_until(se_get(fd[CREATOR], &v) == -EIDRM));
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, cell[CREATOR]->state & SYNCEVENT_STATE_MASK);
	EXPECT_EQ(-EIDRM, se_wait(fd[CREATOR], SYNCEVENT_COND_EQ, 3, SE_FOREVER, NULL));
	for (i = HOME; i <= UPDATER; i++) {
		ASSERT_TRUE(se_until(!is_dead(fd[i])));
		EXPECT_EQ(1, epoll_wait(ep[i], &e, 1, SE_HANG_S * 1000));
		EXPECT_EQ(EPOLLOUT, e.events);
		EXPECT_EQ(0, cell[i]->hint[ME].flags & SYNCEVENT_HINT_PEER_DEAD);
		EXPECT_EQ(deaths[i] + 1, cell[i]->hint[ME].deaths);
		ASSERT_EQ(0, mourn(&all[i], fd[i]));
	}
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 0, .name = "b"));
	ASSERT_EQ(0, tell(&self->o, .verb = SET, .event = 0, .value = NEVER));
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 1, .name = "c"));
	ASSERT_EQ(0, tell(&self->o, .verb = SET, .event = 1, .value = NEVER));
	for (i = HOME; i <= UPDATER; i++)
		EXPECT_EQ(0, wrong_ends(&all[i], 0, names[i], 0));
	EXPECT_EQ(0, both_work(&self->o));
}

/* The owner dies, while this side has the cell and the payload of its event mapped. */
TEST_F(pair, owner_killed)
{
	volatile struct syncevent_cell *cell;
	struct answer *answer = &self->o.box->answer;
	volatile uint32_t *payload;
	uint32_t slot, generation;
	struct pollfd p;
	int fd, other;
	uint64_t v;

	signal(SIGBUS, on_sigbus);
	ASSERT_LE(0, fd = made_there(&self->o, "doomed", 0));
	slot = answer->slot;
	generation = answer->generation;
	ASSERT_TRUE(cell = pci_map(fd, PROT_READ | PROT_WRITE));
	ASSERT_TRUE(payload = map_payload(fd));
	cell->value = 5;
	EXPECT_TRUE(payload_is_there(payload));

	fault("kill", VICTIM);
	ASSERT_TRUE(se_until(is_dead(fd)));
	/* It may come back with all that it had: nothing is taken away. */
	EXPECT_EQ(SYNCEVENT_STATE_LIVE, cell->state & SYNCEVENT_STATE_MASK);
	EXPECT_EQ(5, cell->value);
	EXPECT_TRUE(payload_is_there(payload));

	fault("boot", VICTIM);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	ASSERT_TRUE(se_until(poll(&p, 1, SE_HANG_S * 1000) == 1 && p.revents & POLLHUP));
	EXPECT_EQ(-EIDRM, se_get(fd, &v));
	/* The mappings go next; the slot is not given back before. */
	EXPECT_TRUE(se_until(!payload_is_there(payload)));
	EXPECT_EQ(generation << SYNCEVENT_STATE_GEN_SHIFT | SYNCEVENT_STATE_REVOKED, cell->state);
	EXPECT_EQ(5, cell->value);

	/* The next event in this slot, and in these pages, is no business of the old mapping. */
	ASSERT_TRUE(se_until((other = made_there(&self->o, "next", 0)) < 0 ||
			     (!close(other) && answer->slot == slot)));
	ASSERT_LE(0, other);
	EXPECT_LT(generation, answer->generation);
	ASSERT_EQ(0, tell(&self->o, .verb = SET, .event = 0, .value = 1234));
	cell->value = 0xdead;
	EXPECT_EQ(0xdead, cell->value);
	EXPECT_FALSE(payload_is_there(payload));
	EXPECT_EQ(-EIDRM, se_set(fd, 1));
	ASSERT_EQ(0, tell(&self->o, .verb = GET, .event = 0));
	EXPECT_EQ(1234, answer->value);
	EXPECT_EQ(0, answer->byte);
	EXPECT_EQ(0, both_work(&self->o));
}

/* It ends an event in order: nobody died. */
TEST_F(pair, owner_ends_it)
{
	volatile struct syncevent_cell *cell;
	struct mourners all;
	int fd;

	ASSERT_LE(0, fd = made_there(&self->o, "short", 0));
	ASSERT_TRUE(cell = pci_map(fd, PROT_READ));
	ASSERT_EQ(0, mourn(&all, fd));
	ASSERT_EQ(0, tell(&self->o, .verb = DROP, .event = 0));
	EXPECT_EQ(0, wrong_ends(&all, -EIDRM, "ended", 0));
	EXPECT_EQ(0, cell->hint[ME].deaths);
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, cell->state & SYNCEVENT_STATE_MASK);
}

/* ---- a machine stands still ---------------------------------------------------------------- */

static uint32_t slot_of(int fd)
{
	struct syncevent_blob blob;

	return pci_export(fd, SYNCEVENT_RIGHT_READ, &blob) ? UINT32_MAX : blob.slot;
}

static uint64_t epoch_there(void)
{
	struct syncevent_pci_peer peer = { .side = VICTIM };

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer) ? 0 : peer.epoch;
}

/* As many as can be made here: is none of them in this slot? */
static bool fills_all_but(uint32_t slot)
{
	struct syncevent_pci_info info;
	bool ok = true;
	int *fds, n = 0;

	if (pci_info(&info))
		return false;
	fds = calloc(info.slots, sizeof(*fds));
	while (fds && (fds[n] = pci_create(0, 0)) >= 0)
		ok &= slot_of(fds[n++]) != slot;
	ok &= fds && n && fds[n] == -ENOSPC;
	while (n)
		close(fds[--n]);
	free(fds);
	return ok;
}

/* An event of 77 in that slot, once it is free: the lowest one. */
static int made_in(uint32_t slot)
{
	int fd;

	if (!se_until((fd = pci_create(77, 1)) < 0 || slot_of(fd) == slot || close(fd)))
		return -ETIMEDOUT;
	return fd;
}

/* Who moved it has not done so for a while. */
static bool is_quiet(volatile struct syncevent_cell *cell)
{
	uint64_t v = cell->value;

	se_sleep_ms(1000);
	return cell->value == v;
}

/* Not for so long that it counts as dead: its slots wait for it. */
TEST_F(pair, stopped_for_a_moment)
{
	const struct order order = { .verb = LOOK };
	volatile struct syncevent_cell *pulse;
	uint64_t epoch = epoch_there();
	uint32_t slot;
	int fd, beat;

	ASSERT_EQ(0, tell(&self->o, .verb = LIMIT, .value = 20000));
	ASSERT_EQ(0, set_limit(20000));
	ASSERT_LE(0, beat = offer_pulse(&self->o));
	ASSERT_TRUE(pulse = pci_map(beat, PROT_READ));
	ASSERT_LE(0, fd = pci_offer("mapped", 0, 1));
	slot = slot_of(fd);
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 0, .name = "mapped"));

	fault("stop", VICTIM);
	ASSERT_TRUE(se_until(is_quiet(pulse)));
	ASSERT_EQ(0, se_revoke(fd));
	close(fd);
	/* Some ticks. */
	se_sleep_ms(2000);
	EXPECT_TRUE(fills_all_but(slot));
	EXPECT_TRUE(pci_alive(BOTH));
	/* It has been told of so many ends that its ring is full: of this order it is not told. */
	ASSERT_EQ(0, give(&self->o, &order));

	fault("continue", VICTIM);
	ASSERT_EQ(0, answered(&self->o));
	ASSERT_TRUE(se_until(slots_used() == 3));
	ASSERT_LE(0, fd = made_in(slot));
	close(fd);
	EXPECT_EQ(epoch, epoch_there());
	ASSERT_EQ(0, tell(&self->o, .verb = LIMIT, .value = self->limit));
	EXPECT_EQ(0, both_work(&self->o));
}

/* Both at once, as when their host slept: who wakes first has not listened either. */
TEST_F(pair, both_paused)
{
	const unsigned int limit = 4000;	/* less than the pause, more than one may wake late */
	uint64_t epoch = epoch_there(), v;
	int fd;

	ASSERT_EQ(0, tell(&self->o, .verb = LIMIT, .value = limit));
	ASSERT_EQ(0, set_limit(limit));
	ASSERT_LE(0, fd = pci_create(5, 0));
	fault("pause", VICTIM);
	fault("pause", ME);
	/* It stops somewhere in here. */
	se_sleep_ms(2 * limit);
	EXPECT_TRUE(pci_alive(BOTH));
	EXPECT_EQ(epoch, epoch_there());
	EXPECT_EQ(0, se_get(fd, &v));
	close(fd);
	ASSERT_EQ(0, tell(&self->o, .verb = LIMIT, .value = self->limit));
	ASSERT_EQ(0, set_limit(self->limit));
	EXPECT_EQ(0, both_work(&self->o));
}

/* It has got the longer limit already, or not yet the shorter one: it is no less alive. */
TEST_F(pair, has_a_longer_limit)
{
	uint64_t epoch = epoch_there();

	/* Its ticks are twice the limit of this side apart. */
	ASSERT_EQ(0, tell(&self->o, .verb = LIMIT, .value = 32 * self->limit));
	se_sleep_ms(3 * self->limit);
	EXPECT_TRUE(pci_alive(BOTH));
	EXPECT_EQ(epoch, epoch_there());
	ASSERT_EQ(0, tell(&self->o, .verb = LIMIT, .value = self->limit));
	EXPECT_EQ(0, both_work(&self->o));
}

/*
 * For so long that it counts as dead. It does not know, and writes on to what it has
 * mapped: until it finds the fence, and whatever it does, no other event sees that.
 */
TEST_F(pair, stopped_for_long)
{
	struct answer *answer = &self->o.box->answer;
	volatile struct syncevent_cell *cell;
	int fd, theirs, kept;
	uint64_t epoch, v;
	uint32_t slot, *payload;

	ASSERT_LE(0, kept = pci_offer("kept", 41, 0));
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 1, .name = "kept"));
	ASSERT_LE(0, theirs = made_there(&self->o, "theirs-0", 2));
	ASSERT_LE(0, fd = pci_offer("mapped", 0, 1));
	slot = slot_of(fd);
	ASSERT_TRUE(cell = pci_map(fd, PROT_READ));
	ASSERT_EQ(0, tell(&self->o, .verb = IMPORT, .event = 0, .name = "mapped"));
	ASSERT_EQ(0, tell(&self->o, .verb = SCRIBBLE, .event = 0, .value = 0xbad));
	ASSERT_TRUE(se_until(cell->value == 0xbad));
	epoch = epoch_there();

	fault("stop", VICTIM);
	ASSERT_TRUE(se_until(!pci_alive(BOTH)));
	EXPECT_TRUE(se_until(is_dead(theirs)));
	EXPECT_FALSE(is_dead(kept));
	ASSERT_EQ(0, se_revoke(fd));
	close(fd);
	/* Some ticks. */
	se_sleep_ms(500);
	EXPECT_TRUE(fills_all_but(slot));

	fault("continue", VICTIM);
	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	EXPECT_NE(epoch, epoch_there());
	EXPECT_TRUE(se_until(se_get(theirs, &v) == -EIDRM));
	ASSERT_TRUE(se_until(slots_used() == 3));
	ASSERT_LE(0, fd = made_in(slot));
	ASSERT_TRUE(payload = map_payload(fd));
	ASSERT_EQ(0, tell(&self->o, .verb = LOOK));
	v = answer->value;
	ASSERT_TRUE(se_until(tell(&self->o, .verb = LOOK) || answer->value > v + 10));
	EXPECT_LT(0, answer->buses);
	EXPECT_EQ(SYNCEVENT_STATE_REVOKED, answer->state & SYNCEVENT_STATE_MASK);
	EXPECT_EQ(0, tell(&self->o, .verb = LOOK, .value = 1));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(77, v);
	EXPECT_EQ(0, *payload);
	ASSERT_EQ(0, se_get(kept, &v));
	EXPECT_EQ(41, v);
	EXPECT_EQ(0, both_work(&self->o));
	close(fd);
	close(theirs);
	close(kept);
}

/* ---- an import races a revoke ---------------------------------------------------------------- */

TEST_F(pair, imports_race_revokes)
{
	const struct order order = { .verb = RACE, .name = "race" };
	struct answer *answer = &self->o.box->answer;
	unsigned int rounds = se_times(3000), i, touched = 0;
	volatile struct syncevent_cell *cell;
	struct syncevent_blob blob;
	uint32_t *payload;
	uint64_t v;
	int fd;

	ASSERT_EQ(0, give(&self->o, &order));
	for (i = 0; i < rounds; i++) {
		/* Slots and names come back when the other side lets go of them. */
		ASSERT_TRUE(se_until((fd = pci_offer("race", 0, 1)) != -ENOSPC));
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, pci_export(fd, SYNCEVENT_RIGHT_READ, &blob));
		ASSERT_TRUE(cell = pci_map(fd, PROT_READ));
		ASSERT_TRUE(payload = map_payload(fd));
		if (i % 4)
			usleep(i % 4 * 100);
		/* Only who imported this one may have written. */
		v = cell->value;
		EXPECT_TRUE(!v || v == blob.generation) {
			TH_LOG("round %u: slot %u, generation %u has value %u", i, blob.slot,
			       blob.generation, (unsigned int)v);
		}
		touched += !!v;
		v = *payload;
		EXPECT_TRUE(!v || v == blob.generation);
		if (i % 2)
			ASSERT_EQ(0, se_revoke(fd));
		munmap((void *)cell, 4096);
		munmap(payload, 4096);
		close(fd);
	}
	__atomic_store_n(&self->o.box->stop, 1, __ATOMIC_RELEASE);
	EXPECT_EQ(0, answered(&self->o));
	printf("# %u events: %u imports, %u came late; %u were written, %u payloads were gone\n",
	       rounds, (unsigned int)answer->imported, (unsigned int)answer->missed, touched,
	       (unsigned int)answer->buses);
	EXPECT_LT(0, answer->imported);
	EXPECT_LT(0, touched);
	/* Nothing is stuck. */
	EXPECT_TRUE(se_until(slots_used() == 2));
	EXPECT_EQ(0, both_work(&self->o));
}

ORDERS_MAIN(prepare())
