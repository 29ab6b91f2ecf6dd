/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A machine that suffers, VICTIM, and one that watches and has the cases; what the victim
 * is told to do is in pci_orders.h.
 */
#ifndef SELFTESTS_PCI_PAIR_H
#define SELFTESTS_PCI_PAIR_H

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

static inline uint32_t slots_used(void)
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
static inline int get_place(char *place, size_t size)
{
	int ret = get_places(place, size);

	place[strcspn(place, "=")] = '\0';
	return ret;
}

/* All of the memory, with no driver between. */
static inline char *map_region(void)
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
static inline volatile __u64 *heartbeat_in(char *memory)
{
	const struct syncevent_region_header *header = (void *)memory;

	return &((struct syncevent_region_side *)(memory + header->side_offset))[VICTIM].heartbeat;
}

static inline volatile struct syncevent_cell *cell_in(char *memory, uint32_t slot)
{
	const struct syncevent_region_header *header = (void *)memory;

	return (void *)(memory + header->slot_offset + ((uint64_t)slot << header->slot_shift));
}

/* An event of this side that depends on the other by its home or its publishers only. */
static inline int offer(const char *name, uint32_t publishers, uint32_t home)
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
static inline int made_for(struct orders *o, const char *name, uint32_t event, uint32_t home)
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

static inline int made_there(struct orders *o, const char *name, uint32_t event)
{
	return made_for(o, name, event, VICTIM);
}

/* Both ways: each side sees, by sleeping, what the other does to an event. */
static inline int both_work(struct orders *o)
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

static inline int mourn_there(void *unused)
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
static inline int own(struct box *box, const struct order *order, struct answer *answer)
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

static inline int prepare(void)
{
	own_verb = own;
	grief = mmap(NULL, sizeof(*grief), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	return grief == MAP_FAILED;
}

/* An event that moves as long as the victim runs. */
static inline int offer_pulse(struct orders *o)
{
	int fd = pci_offer("pulse", 0, 0), ret;

	if (fd < 0)
		return fd;
	ret = tell(o, .verb = IMPORT, .event = 1, .name = "pulse") ?:
	      tell(o, .verb = PULSE, .event = 1) ?:
	      pci_wait(fd, SYNCEVENT_COND_GT, 0, NULL);
	return ret ?: fd;
}

static inline bool is_dead(int fd)
{
	struct syncevent_info info;

	return !se_info(fd, &info) && info.flags & SYNCEVENT_INFO_PEER_DEAD;
}

/* Stores to what is mapped of an event: where do they go? */
static inline bool payload_is_there(volatile uint32_t *payload)
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

#endif /* SELFTESTS_PCI_PAIR_H */
