// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Events between two machines: what is promised of one holds across the BAR. Side 0
 * makes the events, side 1 imports them, if a test does not say otherwise.
 */
#include "pci.h"

#include <grp.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/stat.h>

#define BOTH	3ULL

/* What the sides tell each other beside the events under test. */
struct note {
	struct syncevent_blob blob[4];
	uint64_t number[8];
};

/**
 * struct pci - a pair of machines in a test
 * @pair: of machines
 * @note: in the payload of side 0's
 */
FIXTURE(pci) {
	struct pci_pair pair;
	struct note *note;
};

static int meet(struct _test_data_pci *self)
{
	return pci_meet(&self->pair);
}

FIXTURE_SETUP(pci)
{
	ASSERT_LE(0, pci_dev()) TH_LOG("%s: %s", PCI_DEV, strerror(errno));
	ASSERT_EQ(0, pci_join(&self->pair, 1));
	self->note = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			  is_owner() ? self->pair.here : self->pair.there, 4096);
	ASSERT_NE(MAP_FAILED, self->note);
}

FIXTURE_TEARDOWN(pci)
{
	munmap(self->note, 4096);
	EXPECT_EQ(0, pci_part(&self->pair));
}

/* An event of side 0, on both sides. */
static int shared(struct _test_data_pci *self, const char *name, uint64_t value)
{
	int fd;

	if (is_owner())
		return pci_offer(name, value, 0);
	fd = pci_await(name);
	(void)self;
	return fd;
}

TEST_F(pci, attached)
{
	struct syncevent_pci_info info;
	struct syncevent_pci_peer peer = { .side = !my_side() };

	ASSERT_EQ(0, pci_info(&info));
	EXPECT_EQ(my_side(), info.side);
	EXPECT_EQ(2, info.sides);
	EXPECT_EQ(BOTH, info.alive);
	EXPECT_EQ(SYNCEVENT_PCI_ATTACHED | SYNCEVENT_PCI_DOORBELL | SYNCEVENT_PCI_ATOMICS,
		  info.flags);
	EXPECT_NE(0, info.id[0] | info.id[1]);
	EXPECT_LT(0, info.slots);
	ASSERT_EQ(0, se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer));
	EXPECT_EQ(1, peer.alive);
	EXPECT_NE(0, peer.epoch);
	peer.side = 2;
	EXPECT_EQ(-EINVAL, se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer));
}

TEST_F(pci, one_value_for_both)
{
	int fd = shared(self, "value", 5);
	struct syncevent_info info;
	uint64_t v;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(5, v);
	ASSERT_EQ(0, se_info(fd, &info));
	EXPECT_EQ(my_side(), info.side);
	EXPECT_EQ(2, info.sides);
	EXPECT_EQ(is_owner() ? 0 : SYNCEVENT_INFO_IMPORT, info.flags & SYNCEVENT_INFO_IMPORT);
	ASSERT_EQ(0, meet(self));
	if (!is_owner())
		ASSERT_EQ(0, se_set(fd, 7));
	ASSERT_EQ(0, meet(self));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(7, v);
	ASSERT_EQ(0, meet(self));
	ASSERT_EQ(0, se_add(fd, 10, NULL));
	ASSERT_EQ(0, meet(self));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(27, v);
	/* An import ends nothing. */
	if (!is_owner())
		EXPECT_EQ(-EPERM, se_revoke(fd));
	ASSERT_EQ(0, meet(self));
	close(fd);
}

/* Every condition, with a mask and without, each way to wait; the other side makes it hold. */
TEST_F(pci, every_condition_wakes)
{
	static const struct {
		uint32_t cond;
		uint64_t start, operand, end, mask;
	} c[] = {
		{ SYNCEVENT_COND_EQ, 0, 5, 5, SE_ALL },
		{ SYNCEVENT_COND_NEQ, 5, 5, 6, SE_ALL },
		{ SYNCEVENT_COND_GT, 5, 5, 6, SE_ALL },
		{ SYNCEVENT_COND_GE, (1ULL << 63) - 1, 1ULL << 63, 1ULL << 63, SE_ALL },
		{ SYNCEVENT_COND_LT, SE_MAX, SE_MAX, SE_MAX - 1, SE_ALL },
		{ SYNCEVENT_COND_LE, 5, 4, 4, SE_ALL },
		{ SYNCEVENT_COND_EQ, 5, 1ULL << 32, (1ULL << 32) + 5, SE_MAX << 32 },
		{ SYNCEVENT_COND_NEQ, SE_MAX, 1ULL << 63, SE_MAX >> 1, 1ULL << 63 },
		{ SYNCEVENT_COND_GT, 1ULL << 32, 0, (1ULL << 32) + 1, 0xffffffff },
		{ SYNCEVENT_COND_LE, 0x1ff, 0xfe, SE_MAX - 1, 0xff },
	};
	enum { MANY = sizeof(c) / sizeof(c[0]) };
	int fd = shared(self, "conditions", 0), q = se_queue(0), ep;
	struct syncevent_cell *cell = pci_map(fd, PROT_READ | PROT_WRITE);
	struct epoll_event e = { .events = EPOLLIN };
	struct syncevent_wait_entry entry;
	struct syncevent_completion done;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned int i, how;
	uint64_t v, end;
	bool waits;

	ASSERT_LE(0, fd);
	ASSERT_TRUE(cell);
	ASSERT_LE(0, q);
	ep = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	for (i = 0; i < 2 * 5 * MANY; i++) {
		unsigned int n = i / 2 % MANY;

		how = i / (2 * MANY);
		waits = i % 2 == my_side();
		if (waits)
			ASSERT_EQ(0, se_set(fd, c[n].start));
		ASSERT_EQ(0, meet(self));
		if (!waits) {
			if (i % 3)
				se_sleep_ms(2);
			ASSERT_EQ(0, (how + n) % 2 ? se_set(fd, c[n].end) :
					     pci_store(fd, cell, c[n].end));
			ASSERT_EQ(0, meet(self));
			continue;
		}
		end = se_patience();
		switch (how) {
		case 0:
			ASSERT_EQ(0, se_wait_mask(fd, c[n].cond, c[n].operand, c[n].mask,
						  end, &v));
			EXPECT_EQ(c[n].end, v);
			break;
		case 1:
			ASSERT_EQ(0, se_arm_mask(fd, c[n].cond, c[n].operand, c[n].mask));
			ASSERT_EQ(1, poll(&p, 1, SE_HANG_S * 1000));
			break;
		case 2:
			ASSERT_EQ(0, se_arm_mask(fd, c[n].cond, c[n].operand, c[n].mask));
			ASSERT_EQ(1, epoll_wait(ep, &e, 1, SE_HANG_S * 1000));
			break;
		case 3:
			entry = se_entry(fd, c[n].cond, c[n].operand);
			entry.mask = c[n].mask;
			ASSERT_EQ(0, se_wait_many(&entry, 1, 0, end, NULL));
			EXPECT_EQ(c[n].end, entry.value);
			break;
		case 4:
			ASSERT_EQ(0, se_queue_add_mask(q, fd, c[n].cond, c[n].operand,
						       c[n].mask, i, end));
			ASSERT_EQ(1, se_reap(q, &done, 1));
			EXPECT_EQ(0, done.status);
			EXPECT_EQ(c[n].end, done.value);
		}
		ASSERT_EQ(0, pci_woken(0, end)) TH_LOG("way %u, condition %u", how, n);
		ASSERT_EQ(0, meet(self));
	}
	munmap(cell, 4096);
	close(ep);
	close(q);
	close(fd);
}

/* Updates that concern no sleeper cost no doorbell, and the one that does costs one. */
TEST_F(pci, doorbells_only_for_sleepers)
{
	int fd = shared(self, "quiet", 0);
	struct syncevent_cell *cell;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, meet(self));
	if (is_owner()) {
		ASSERT_TRUE(cell = pci_map(fd, PROT_READ));
		ASSERT_EQ(0, pci_rings_once(fd, &cell->hint[1], 1000));
	} else {
		ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_GT, 1000, NULL));
	}
	ASSERT_EQ(0, meet(self));
	close(fd);
}

/* Who stores to a mapping may die before it rings: the end of the mapping wakes all the same. */
TEST_F(pci, end_of_a_mapping_wakes)
{
	volatile struct syncevent_cell *cell;
	int fd = shared(self, "unrung", 0);
	struct se_waiter w;

	ASSERT_LE(0, fd);
	if (is_owner()) {
		/* Without a deadline, at which it would look once more. */
		ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_GT, 0));
		ASSERT_EQ(0, se_waiter_join(&w));
	} else {
		ASSERT_TRUE(cell = pci_map(fd, PROT_READ | PROT_WRITE));
		ASSERT_TRUE(se_until(!cell->hint[0].wake_above));
		cell->value = 1;
		munmap((void *)cell, 4096);
	}
	ASSERT_EQ(0, meet(self));
	close(fd);
}

/* One bit of a blob is another, and its checksum right: what does the import say? */
static int import_forged(const struct syncevent_blob *from, unsigned int bit)
{
	struct syncevent_blob blob = *from;

	((unsigned char *)&blob)[bit / 8] ^= (unsigned char)(1 << bit % 8);
	pci_set_checksum(&blob);
	return pci_import(&blob, 0);
}

/* Blobs give the right that they were made for; damaged ones give nothing. */
TEST_F(pci, blobs)
{
	unsigned int bit, i;
	uint64_t v;
	int fd;

	if (is_owner()) {
		ASSERT_LE(0, fd = pci_create(9, 0));
		ASSERT_EQ(0, pci_export(fd, SYNCEVENT_RIGHT_READ, &self->note->blob[0]));
		ASSERT_EQ(0, pci_export(fd, SYNCEVENT_RIGHT_UPDATE, &self->note->blob[1]));
		ASSERT_EQ(0, meet(self));
		ASSERT_EQ(0, meet(self));
		ASSERT_EQ(0, se_get(fd, &v));
		EXPECT_EQ(10, v);
		close(fd);
		ASSERT_EQ(0, meet(self));
		ASSERT_EQ(0, meet(self));
		return;
	}
	ASSERT_EQ(0, meet(self));
	ASSERT_LE(0, fd = pci_import(&self->note->blob[0], 0));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(9, v);
	EXPECT_EQ(-EBADF, se_set(fd, 1));
	EXPECT_EQ(NULL, pci_map(fd, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EPERM, pci_export(fd, SYNCEVENT_RIGHT_READ, &self->note->blob[2]));
	close(fd);
	ASSERT_LE(0, fd = pci_import(&self->note->blob[1], 0));
	ASSERT_EQ(0, se_add(fd, 1, NULL));
	for (i = 0; i < 2; i++) {
		for (bit = 0; bit < 8 * sizeof(struct syncevent_blob); bit++) {
			struct syncevent_blob blob = self->note->blob[i];

			((unsigned char *)&blob)[bit / 8] ^= (unsigned char)(1 << bit % 8);
			ASSERT_EQ(-EINVAL, pci_import(&blob, 0)) TH_LOG("bit %u", bit);
			if (bit < 8 * offsetof(struct syncevent_blob, checksum))
				EXPECT_GT(0, import_forged(&self->note->blob[i], bit)) {
					TH_LOG("bit %u", bit);
				}
		}
		for (bit = 0; bit < 128; bit++)
			EXPECT_EQ(-EACCES, import_forged(&self->note->blob[i], bit + 8 *
					offsetof(struct syncevent_blob, key)));
		for (bit = 0; bit < 32; bit++)
			EXPECT_EQ(bit < 30 ? -EIDRM : -EINVAL,
				  import_forged(&self->note->blob[i], bit + 8 *
					offsetof(struct syncevent_blob, generation)));
	}
	ASSERT_EQ(0, meet(self));
	/* The creator closes it: what is left of it here has ended, and its blobs too. */
	ASSERT_EQ(0, meet(self));
	ASSERT_EQ(-EIDRM, pci_wait(fd, SYNCEVENT_COND_EQ, 99, NULL));
	EXPECT_EQ(-EIDRM, pci_import(&self->note->blob[1], 0));
	close(fd);
	ASSERT_EQ(0, meet(self));
}

static sigjmp_buf no_page;

static void on_sigbus(int sig)
{
	siglongjmp(no_page, sig);
}

/* Apart, so that no variable of a test lives across the jump. */
static __attribute__((noinline)) bool store_fails(volatile char *p)
{
	signal(SIGBUS, on_sigbus);
	if (sigsetjmp(no_page, 1))
		return true;
	*p = 2;
	return false;
}

/* The creator revokes while the other side sleeps, spins, and holds mappings. */
TEST_F(pci, revoke_reaches_everybody)
{
	volatile struct syncevent_cell *cell;
	volatile char *payload;
	uint64_t v;
	int fd;

	if (is_owner()) {
		ASSERT_LE(0, fd = pci_offer("doomed", 3, 2));
		ASSERT_EQ(0, meet(self));
		se_sleep_ms(20);
		ASSERT_EQ(0, se_revoke(fd));
		EXPECT_EQ(-EIDRM, se_get(fd, &v));
		EXPECT_EQ(-ENOENT, pci_import_name("doomed", 0));
		ASSERT_EQ(0, meet(self));
		close(fd);
		return;
	}
	ASSERT_LE(0, fd = pci_await("doomed"));
	ASSERT_TRUE(cell = pci_map(fd, PROT_READ | PROT_WRITE));
	payload = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	ASSERT_NE(MAP_FAILED, payload);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 3 * 4096));
	payload[0] = 1;
	payload[8191] = 1;
	EXPECT_EQ(3, cell->value);
	ASSERT_EQ(0, meet(self));
	EXPECT_EQ(-EIDRM, pci_wait(fd, SYNCEVENT_COND_EQ, 99, NULL));
	/* A spinner sees it, and what it writes goes nowhere. */
	ASSERT_TRUE(se_until((cell->state & SYNCEVENT_STATE_MASK) == SYNCEVENT_STATE_REVOKED));
	cell->value = 12345;
	EXPECT_TRUE(store_fails(payload)) TH_LOG("the payload of a revoked event is still there");
	EXPECT_EQ(-EIDRM, se_get(fd, &v));
	EXPECT_EQ(-EIDRM, se_add(fd, 1, NULL));
	ASSERT_EQ(0, meet(self));
	close(fd);
}

/* A slot is used again only when the other side keeps nothing of it. */
TEST_F(pci, slots_come_back)
{
	struct syncevent_pci_info info;
	int *fds, n, round;

	ASSERT_EQ(0, pci_info(&info));
	fds = calloc(info.slots, sizeof(*fds));
	ASSERT_TRUE(fds);
	ASSERT_EQ(0, meet(self));
	for (round = 0; is_owner() && round < 3; round++) {
		for (n = 0; n < (int)info.slots && (fds[n] = pci_create(1, 0)) >= 0; n++)
			;
		EXPECT_EQ(-ENOSPC, fds[n]);
		EXPECT_LT(info.slots / 8, n);
		while (n--)
			close(fds[n]);
		ASSERT_TRUE(se_until(!pci_info(&info) && info.slots_used <= 1));
	}
	ASSERT_EQ(0, meet(self));
	free(fds);
}

TEST_F(pci, payload_is_shared_and_clean)
{
	struct syncevent_pci_info info;
	int fd, i;
	char *p;

	for (i = 0; i < 3; i++) {
		fd = is_owner() ? pci_offer("pages", 0, 4) : pci_await("pages");
		ASSERT_LE(0, fd);
		p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
		ASSERT_NE(MAP_FAILED, p);
		if (is_owner()) {
			EXPECT_EQ(0, p[0] | p[4 * 4096 - 1]);
			memset(p, 0x5a, 4 * 4096);
			ASSERT_EQ(0, se_set(fd, 1));
			ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_EQ, 2, NULL));
			EXPECT_EQ(0x11, p[4096]);
		} else {
			ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_EQ, 1, NULL));
			EXPECT_EQ(0x5a, p[0]);
			EXPECT_EQ(0x5a, p[4 * 4096 - 1]);
			p[4096] = 0x11;
			ASSERT_EQ(0, se_set(fd, 2));
		}
		munmap(p, 4 * 4096);
		ASSERT_EQ(0, meet(self));
		close(fd);
		/* The next one has the same pages, once these are free. */
		if (is_owner())
			EXPECT_TRUE(se_until(!pci_info(&info) && info.slots_used <= 1));
		ASSERT_EQ(0, meet(self));
	}
}

/* The line of an attribute; empty if there is none. */
static const char *attribute(const char *name)
{
	static char text[256];
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/misc/%s/%s", strrchr(PCI_DEV, '/') + 1, name);
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* What PCI_INFO and PCI_PEER tell is in /sys as well. */
TEST_F(pci, attributes)
{
	struct syncevent_pci_peer peer = { .side = !my_side() };
	struct syncevent_pci_info info;
	char text[256];
	int fd;

	ASSERT_LE(0, fd = pci_create(0, 0));
	ASSERT_EQ(0, pci_info(&info));
	EXPECT_LT(0, info.slots_used);
	ASSERT_EQ(0, se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer));
	snprintf(text, sizeof(text), "%u", info.side);
	EXPECT_STREQ(text, attribute("side"));
	snprintf(text, sizeof(text), "%u", info.sides);
	EXPECT_STREQ(text, attribute("sides"));
	snprintf(text, sizeof(text), "%u", info.slots);
	EXPECT_STREQ(text, attribute("slots"));
	/* What the last test left goes by and by. */
	EXPECT_TRUE(se_until(!pci_info(&info) &&
			     info.slots_used == strtoul(attribute("slots_used"), NULL, 10)));
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, (uint64_t)info.id[0],
		 (uint64_t)info.id[1]);
	EXPECT_STREQ(text, attribute("region_id"));
	snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", info.address >> 16,
		 info.address >> 8 & 0xff, info.address >> 3 & 0x1f, info.address & 7);
	EXPECT_STREQ(text, attribute("address"));
	snprintf(text, sizeof(text), "%u alive %04x:%02x:%02x.%x", peer.side,
		 peer.address >> 16, peer.address >> 8 & 0xff, peer.address >> 3 & 0x1f,
		 peer.address & 7);
	EXPECT_STREQ(text, attribute("peers"));
	close(fd);
}

TEST_F(pci, only_the_group)
{
	struct stat st;
	int status;
	pid_t pid;

	ASSERT_EQ(0, stat(PCI_DEV, &st));
	EXPECT_EQ(0660, st.st_mode & 07777);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) || setgid(1000) || setuid(1000))
			_exit(1);
		if (open(PCI_DEV, O_RDWR) >= 0 || errno != EACCES)
			_exit(2);
		/* What it may see of it. */
		_exit(*attribute("peers") && *attribute("side") ? 0 : 3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Two that sleep in turn: no wake-up is lost between the machines. */
TEST_F(pci, sleeping_ping_pong)
{
	unsigned int rounds = se_times(100000), i;
	struct syncevent_pci_info before, after;
	int fd = shared(self, "turns", 0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, meet(self));
	ASSERT_EQ(0, pci_info(&before));
	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_GE, 2 * i + my_side(), NULL)) {
			TH_LOG("round %u", i);
		}
		ASSERT_EQ(0, se_add(fd, 1, NULL));
	}
	ASSERT_EQ(0, pci_info(&after));
	printf("# %u rounds: rang %u doorbells, was rung %u times\n", rounds,
	       (unsigned int)(after.rung - before.rung), (unsigned int)(after.irqs - before.irqs));
	EXPECT_LT(0, after.rung - before.rung);
	/* Nobody can be in such a hurry while each waits for the other. */
	EXPECT_EQ(before.masked, after.masked);
	/* One for each update, and those of the steps, at the most. */
	EXPECT_GE(rounds + 8, after.rung - before.rung);
	/* The last to wait is side 1, on an event that ends when side 0 closes it. */
	ASSERT_EQ(0, meet(self));
	close(fd);
}

/* Both add, in user space and in the kernel: nothing is lost, and nothing goes back. */
TEST_F(pci, adds_are_atomic)
{
	int fd = shared(self, "sum", 0);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, pci_add_together(&self->pair, fd, se_times(10000000), 10));
	close(fd);
}

TEST_HARNESS_MAIN
