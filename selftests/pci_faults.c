// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Machines that die, stand still, lose their device, or are configured alike: what the
 * others see of it, in each way to wait; and that both work again after.
 *
 * The survivor has the cases; what the other side, VICTIM, does is in pci_orders.h.
 */
#include "command.h"
#include "mourner.h"
#include "pci_orders.h"

#define BOTH		3ULL
#define ME		my_side()
#define CPUS_MAX	8
#define MOURNED		77ULL
#define DRIVER		"/sys/bus/pci/drivers/syncevent/"
#define PLUGGED_SYSFS	"/sys/class/misc/syncevent_pci1/"

/* ---- a pair ------------------------------------------------------------------------------- */

FIXTURE(pair) {
	struct orders o;
	unsigned int limit;
	uint32_t used;
};

static uint32_t slots_used(void)
{
	struct syncevent_pci_info info;

	return pci_info(&info) ? UINT32_MAX : info.slots_used;
}

FIXTURE_SETUP(pair)
{
	self->limit = get_limit();
	ASSERT_LE(0, pci_dev()) TH_LOG("%s: %s", PCI_DEV, strerror(errno));
	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	ASSERT_EQ(0, begin_orders(&self->o));
	/* What the last test left has been given back. */
	ASSERT_TRUE(se_until(slots_used() == 2));
}

FIXTURE_TEARDOWN(pair)
{
	/* Wherever the test failed, the next one wants both. */
	set_limit(self->limit);
	fault("continue", VICTIM);
	fault("boot", VICTIM);
	end_orders(&self->o);
}

/* "0000:00:10.0", of PCI_DEV */
static int get_place(char *place, size_t size)
{
	int ret = get_places(place, size);

	place[strcspn(place, "=")] = '\0';
	return ret;
}

/* All of the memory, with no driver between. */
static char *map_region(void)
{
	char path[96] = "/sys/bus/pci/devices/";
	struct syncevent_region_header *header;
	char *memory = MAP_FAILED;
	int fd;

	if (get_place(path + strlen(path), sizeof(path) / 2))
		return NULL;
	strcat(path, "/resource2");
	fd = open(path, O_RDWR | O_CLOEXEC);
	header = mmap(NULL, sizeof(*header), PROT_READ, MAP_SHARED, fd, 0);
	if (header != MAP_FAILED)
		memory = mmap(NULL, header->size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* The victim's kernel may live when its programs get no CPU. */
static volatile __u64 *heartbeat_in(char *memory)
{
	const struct syncevent_region_header *header = (void *)memory;

	return &((struct syncevent_region_side *)(memory + header->side_offset))[VICTIM].heartbeat;
}

static volatile struct syncevent_cell *cell_in(char *memory, uint32_t slot)
{
	const struct syncevent_region_header *header = (void *)memory;

	return (void *)(memory + header->slot_offset + ((uint64_t)slot << header->slot_shift));
}

/* An event of this side that depends on the other by its home or its publishers only. */
static int offer(const char *name, uint32_t publishers, uint32_t home)
{
	struct syncevent_pci_create create = {
		.publishers = publishers, .subscribers = SYNCEVENT_LOC_CPU, .home = home,
		.pages = 1,
	};
	int fd = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create), ret;

	if (fd < 0)
		return fd;
	ret = pci_name(fd, name, SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
	return ret ?: fd;
}

/* An event that the victim made for that side, imported. */
static int made_for(struct orders *o, const char *name, uint32_t event, uint32_t home)
{
	struct order order = {
		.verb = MAKE, .event = event,
		.create = {
			.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
			.subscribers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
			.home = home, .pages = 1,
		},
	};
	int ret;

	snprintf(order.name, sizeof(order.name), "%s", name);
	ret = give(o, &order) ?: answered(o);
	return ret ?: pci_await(name);
}

static int made_there(struct orders *o, const char *name, uint32_t event)
{
	return made_for(o, name, event, VICTIM);
}

/* Both ways: each side sees, by sleeping, what the other does to an event. */
static int both_work(struct orders *o)
{
	int mine = pci_offer("mine", 0, 1), theirs, ret;
	uint64_t v;

	if (mine < 0)
		return mine;
	theirs = made_there(o, "theirs", 2);
	if (theirs < 0)
		return theirs;
	ret = tell(o, .verb = IMPORT, .event = 3, .name = "mine") ?:
	      tell(o, .verb = SET, .event = 3, .value = 5) ?:
	      pci_wait(mine, SYNCEVENT_COND_EQ, 5, NULL) ?:
	      tell(o, .verb = SET, .event = 2, .value = 6) ?:
	      pci_wait(theirs, SYNCEVENT_COND_EQ, 6, NULL) ?:
	      se_add(theirs, 1, &v) ?: tell(o, .verb = GET, .event = 2);
	if (!ret && o->box->answer.value != 7)
		ret = -EPROTO;
	close(theirs);
	close(mine);
	return ret;
}

/*
 * What became of those who wait on the victim's side. They outlive the orders, as these may
 * be what ends; it all lies in memory of its own.
 */
static struct {
	uint32_t begun, ended, wrong;
	char name[SYNCEVENT_PCI_NAME_MAX + 1];
	int wanted;
} *grief;

static int mourn_there(void *unused)
{
	struct mourners all;
	int fd = pci_await(grief->name), wanted = grief->wanted;
	char name[sizeof(grief->name)];
	unsigned int wrong;

	(void)unused;
	memcpy(name, grief->name, sizeof(name));
	if (fd < 0 || mourn(&all, fd))
		return 1;
	__atomic_fetch_add(&grief->begun, 1, __ATOMIC_RELEASE);
	wrong = wrong_ends(&all, wanted, name, 0);
	/* Who is not heard of any more sees it in the memory. */
	se_set(fd, MOURNED);
	fflush(stdout);
	__atomic_fetch_add(&grief->wrong, wrong, __ATOMIC_RELAXED);
	__atomic_fetch_add(&grief->ended, 1, __ATOMIC_RELEASE);
	return 0;
}

/* OWN: wait for @name until all of that ends with -@value; or, of 0, tell how many did not. */
static int own(struct box *box, const struct order *order, struct answer *answer)
{
	uint32_t begun = grief->begun;

	if (order->value) {
		snprintf(grief->name, sizeof(grief->name), "%s", order->name);
		grief->wanted = -(int)order->value;
		return se_fork(mourn_there, NULL) < 0 ? -EAGAIN :
		       se_until(__atomic_load_n(&grief->begun, __ATOMIC_ACQUIRE) > begun) ?
		       0 : -ETIMEDOUT;
	}
	if (!se_until(__atomic_load_n(&grief->ended, __ATOMIC_ACQUIRE) == begun))
		return -ETIMEDOUT;
	answer->value = grief->wrong;
	grief->wrong = 0;
	/* And what it sees of the other machine, where that was plugged in. */
	se_read_text(PLUGGED_SYSFS "peers", (char *)box->bytes, sizeof(box->bytes));
	return 0;
}

static int prepare(void)
{
	own_verb = own;
	grief = mmap(NULL, sizeof(*grief), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	return grief == MAP_FAILED;
}

/* An event that moves as long as the victim runs. */
static int offer_pulse(struct orders *o)
{
	int fd = pci_offer("pulse", 0, 0), ret;

	if (fd < 0)
		return fd;
	ret = tell(o, .verb = IMPORT, .event = 1, .name = "pulse") ?:
	      tell(o, .verb = PULSE, .event = 1) ?:
	      pci_wait(fd, SYNCEVENT_COND_GT, 0, NULL);
	return ret ?: fd;
}

static bool is_dead(int fd)
{
	struct syncevent_info info;

	return !se_info(fd, &info) && info.flags & SYNCEVENT_INFO_PEER_DEAD;
}

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

/* Stores to what is mapped of an event: where do they go? */
static bool payload_is_there(volatile uint32_t *payload)
{
	volatile bool there = false;

	may_be_gone = true;
	if (!sigsetjmp(page_gone, 1)) {
		*payload = 0xdead;
		there = true;
	}
	may_be_gone = false;
	return there;
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

/* ---- a device goes ---------------------------------------------------------------------------- */

/* It comes, or comes back: until both sides work. */
static int begin_anew(struct orders *o)
{
	if (!se_until(pci_alive(BOTH)))
		return -ETIMEDOUT;
	return begin_orders(o) ?: both_work(o);
}

/* What this side has of a region. The other side waits for the last, whose home is here. */
enum { OWN_ONE, IMPORTED, NEEDED, ALL };

static const char *const estate_names[] = { "own", "imported", "needed" };

struct estate {
	int fd[ALL];
	volatile struct syncevent_cell *cell[ALL];
	volatile uint32_t *payload[ALL];
	struct mourners all[ALL];
	uint32_t needed_slot;
};

static void estate_begin(struct __test_metadata *_metadata, struct orders *o, struct estate *e)
{
	int i;

	ASSERT_LE(0, e->fd[OWN_ONE] = pci_offer("own", 5, 1));
	ASSERT_LE(0, e->fd[IMPORTED] = made_there(o, "imported", 0));
	ASSERT_LE(0, e->fd[NEEDED] = made_for(o, "needed", 1, ME));
	e->needed_slot = o->box->answer.slot;
	for (i = 0; i < ALL; i++) {
		ASSERT_TRUE(e->cell[i] = pci_map(e->fd[i], PROT_READ | PROT_WRITE));
		ASSERT_TRUE(e->payload[i] = map_payload(e->fd[i]));
		EXPECT_TRUE(payload_is_there(e->payload[i]));
		ASSERT_EQ(0, mourn(&e->all[i], e->fd[i]));
	}
	ASSERT_EQ(0, tell(o, .verb = OWN, .value = EPIPE, .name = "needed"));
}

/* Stores to what was mapped are seen here alone. */
static void estate_is_gone(struct __test_metadata *_metadata, struct estate *e)
{
	uint64_t v;
	int i;

	for (i = 0; i < ALL; i++) {
		EXPECT_EQ(SYNCEVENT_STATE_REVOKED, e->cell[i]->state & SYNCEVENT_STATE_MASK);
		e->cell[i]->value = 0xdead;
		EXPECT_FALSE(payload_is_there(e->payload[i]));
		EXPECT_EQ(-EIDRM, se_get(e->fd[i], &v));
		EXPECT_EQ(-EIDRM, se_set(e->fd[i], 1));
		EXPECT_EQ(NULL, pci_map(e->fd[i], PROT_READ));
	}
}

/* The device has gone, by which way ever: so has what was made on it. */
static void estate_is_lost(struct __test_metadata *_metadata, struct estate *e, const char *dev)
{
	struct syncevent_pci_info info;
	int i;

	for (i = 0; i < ALL; i++)
		ASSERT_EQ(0, wrong_ends(&e->all[i], -EIDRM, estate_names[i], 0));
	estate_is_gone(_metadata, e);
	EXPECT_EQ(0, pci_info(&info));
	EXPECT_EQ(0, info.flags & SYNCEVENT_PCI_ATTACHED);
	EXPECT_EQ(-ENODEV, pci_create(0, 0));
	EXPECT_EQ(-ENODEV, pci_import_name("imported", 0));
	EXPECT_TRUE(se_until(access(dev, F_OK)));
}

/* It is there again. What is left of before has no part in it, in the same slots neither. */
static void estate_is_another(struct __test_metadata *_metadata, struct estate *e,
			      const struct estate *now)
{
	uint64_t v;
	int i;

	estate_is_gone(_metadata, e);
	for (i = 0; i < ALL; i++) {
		ASSERT_EQ(0, se_get(now->fd[i], &v));
		EXPECT_EQ(i == OWN_ONE ? 5 : 0, v);
	}
}

static void estate_end(struct estate *e)
{
	int i;

	for (i = 0; i < ALL; i++) {
		munmap((void *)e->cell[i], 4096);
		munmap((void *)e->payload[i], 4096);
		close(e->fd[i]);
	}
}

/* Did all the other side's waits end as they should? */
static bool mourned_well(struct orders *o)
{
	return !tell(o, .verb = OWN) && !o->box->answer.value;
}

static bool peers_say(const char *peers, uint32_t side, const char *state)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "%u %s ", side, state);
	return !strncmp(peers, wanted, strlen(wanted));
}

TEST_F(pair, unplugged)
{
	const char *seen = (const char *)self->o.box->bytes;
	struct estate e[2];
	char text[128];
	int i;

	signal(SIGBUS, on_sigbus);
	fault("plug", VICTIM);
	/* The second time it comes to the same module. */
	for (i = 0; i < 2; i++) {
		fault("plug", ME);
		ASSERT_EQ(0, use_plugged());
		ASSERT_EQ(0, tell(&self->o, .verb = PLUGGED));
		ASSERT_EQ(0, se_read_text(PLUGGED_SYSFS "peers", text, sizeof(text)));
		EXPECT_TRUE(peers_say(text, VICTIM, "alive")) TH_LOG("%s", text);
		EXPECT_EQ(0, both_work(&self->o));
		estate_begin(_metadata, &self->o, &e[i]);
		if (i)
			estate_is_another(_metadata, &e[0], &e[1]);
		ASSERT_EQ(0, tell(&self->o, .verb = OWN, .value = EPIPE, .name = "own"));

		fault("unplug", ME);
		estate_is_lost(_metadata, &e[i], PLUGGED_DEV);
		EXPECT_TRUE(mourned_well(&self->o));
		EXPECT_TRUE(peers_say(seen, ME, "absent")) TH_LOG("%s", seen);
	}

	/* What is left of it keeps the module, and no longer than that. */
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	for (i = 0; i < 2; i++)
		estate_end(&e[i]);
	end_orders(&self->o);
	pci_dev_close();
	close(se_dev());
	ASSERT_EQ(0, get_places(text, sizeof(text)));
	ASSERT_TRUE(se_until(!module_unload()));
	ASSERT_EQ(0, module_load(text));
	ASSERT_EQ(0, begin_anew(&self->o));

	fault("plug", ME);
	ASSERT_EQ(0, use_plugged());
	ASSERT_EQ(0, tell(&self->o, .verb = PLUGGED));
	EXPECT_EQ(0, both_work(&self->o));
	fault("unplug", ME);
	fault("unplug", VICTIM);
	ASSERT_TRUE(se_until(access(PLUGGED_DEV, F_OK)));
}

/* The driver lets go of a device with doorbells: that one is not unplugged, see vm/faults.py. */
TEST_F(pair, unbound)
{
	volatile struct syncevent_cell *needed;
	struct estate e[2];
	char place[64], *memory;
	int i;

	signal(SIGBUS, on_sigbus);
	ASSERT_EQ(0, get_place(place, sizeof(place)));
	ASSERT_TRUE(memory = map_region());
	for (i = 0; i < 2; i++) {
		estate_begin(_metadata, &self->o, &e[i]);
		needed = cell_in(memory, e[i].needed_slot);
		if (i)
			estate_is_another(_metadata, &e[0], &e[1]);

		ASSERT_EQ(0, se_write_text(DRIVER "unbind", place));
		estate_is_lost(_metadata, &e[i], PCI_DEV);
		ASSERT_TRUE(se_until(needed->value == MOURNED));

		/* The orders have ended as well. */
		end_orders(&self->o);
		pci_dev_close();
		ASSERT_EQ(0, se_write_text(DRIVER "bind", place));
		ASSERT_TRUE(se_until(!access(PCI_DEV, F_OK)));
		ASSERT_EQ(0, begin_anew(&self->o));
		EXPECT_TRUE(mourned_well(&self->o));
	}
	for (i = 0; i < 2; i++)
		estate_end(&e[i]);
}

/* ---- two machines are the same side --------------------------------------------------------- */

/* How often the kernel has said so since the last time. */
static unsigned int said(int kmsg, const char *what)
{
	char line[1024];
	unsigned int n = 0;
	ssize_t len;

	while ((len = read(kmsg, line, sizeof(line) - 1)) > 0) {
		line[len] = '\0';
		n += strstr(line, what) != NULL;
	}
	return n;
}

TEST_F(pair, twins)
{
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), fd;
	char place[64], what[64];
	struct syncevent_pci_info info;
	struct mourners all;
	uint64_t v;

	ASSERT_LE(0, kmsg);
	ASSERT_LE(0, lseek(kmsg, 0, SEEK_END));
	ASSERT_EQ(0, get_place(place, sizeof(place)));
	ASSERT_LE(0, fd = pci_offer("mine", 0, 0));
	ASSERT_EQ(0, mourn(&all, fd));

	ASSERT_EQ(0, tell(&self->o, .verb = TWIN));
	EXPECT_EQ(0, wrong_ends(&all, -EIDRM, "mine", 0));
	EXPECT_EQ(-EIDRM, se_get(fd, &v));
	EXPECT_EQ(-ENODEV, pci_create(0, 0));
	ASSERT_EQ(0, pci_info(&info));
	EXPECT_EQ(0, info.flags & SYNCEVENT_PCI_ATTACHED);
	close(fd);

	/* It stays so, until somebody has put it right. */
	se_sleep_ms(500);
	EXPECT_EQ(-ENODEV, pci_create(0, 0));
	snprintf(what, sizeof(what), "another machine is side %u as well: detached", ME);
	EXPECT_EQ(1, said(kmsg, what));
	close(kmsg);
	end_orders(&self->o);
	pci_dev_close();
	ASSERT_EQ(0, se_write_text(DRIVER "unbind", place));
	ASSERT_EQ(0, se_write_text(DRIVER "bind", place));
	ASSERT_EQ(0, begin_anew(&self->o));
}

ORDERS_MAIN(prepare())
