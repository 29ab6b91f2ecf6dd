// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Machines that lose their device, or are configured alike: what both see of it, in each
 * way to wait; and that both work again after.
 */
#include "pci_pair.h"

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
