/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Two machines of which one, side 1, is hostile: it has the memory mapped through the
 * file that sysfs has of the BAR, and the registers.
 */
#ifndef SELFTESTS_PCI_HOSTILE_H
#define SELFTESTS_PCI_HOSTILE_H

#include "pci_victim.h"

#define TICK_MS		25

/* Where the machines meet: the last page of the memory, which nobody scribbles on. */
struct box {
	uint64_t step[2];
	union {
		uint64_t number[8];
		struct syncevent_blob blob;
	};
};

/**
 * struct hostile - a pair of machines of which one is hostile
 * @device: /sys/bus/pci/devices/...
 * @memory: BAR 2
 * @registers: BAR 0
 * @box: in @memory
 * @step: that this side has come to
 * @keeper: writes it again and again: formatting the memory wipes it out
 * @ended: for @keeper
 * @s: for the one who scribbles
 * @users: of this side
 */
FIXTURE(hostile) {
	char device[64];
	char *memory;
	volatile uint32_t *registers;
	volatile struct box *box;
	uint64_t step;
	struct se_thread keeper;
	bool ended;
	struct scribble s;
	struct victim users;
};

static inline int write_to(const char *folder, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return se_write_text(path, text);
}

static inline int unbind(struct _test_data_hostile *self)
{
	return write_to("/sys/bus/pci/drivers/syncevent", "unbind", strrchr(self->device, '/') + 1);
}

/* What was opened of the device before is dead: open it anew under the same number. */
static inline int bind_again(struct _test_data_hostile *self)
{
	int fd = -1, ret = write_to("/sys/bus/pci/drivers/syncevent", "bind",
				    strrchr(self->device, '/') + 1);

	if (ret)
		return ret;
	if (!se_until((fd = open(PCI_DEV, O_RDWR | O_CLOEXEC)) >= 0))
		return -ENODEV;
	if (dup3(fd, pci_dev(), O_CLOEXEC) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static inline void *map_resource(struct _test_data_hostile *self, int bar, size_t *len)
{
	unsigned long long start = 0, end = 0;
	char path[256];
	int fd, i;
	void *p;
	FILE *f;

	snprintf(path, sizeof(path), "%s/resource", self->device);
	f = fopen(path, "re");
	for (i = 0; f && i <= bar; i++)
		if (fscanf(f, "%llx %llx %*x", &start, &end) != 2)
			end = 0;
	if (f)
		fclose(f);
	*len = (size_t)(end - start + 1);
	snprintf(path, sizeof(path), "%s/resource%d", self->device, bar);
	fd = open(path, O_RDWR | O_CLOEXEC);
	p = end ? mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	/* A small one lies somewhere in its page. */
	return p == MAP_FAILED ? NULL : (char *)p + start % 4096;
}

static inline int keep_step(void *arg)
{
	struct _test_data_hostile *self = arg;
	bool ended;

	do {
		ended = __atomic_load_n(&self->ended, __ATOMIC_ACQUIRE);
		self->box->step[my_side()] = __atomic_load_n(&self->step, __ATOMIC_RELAXED);
		se_sleep_ms(1);
	} while (!ended);
	return 0;
}

/* Neither side goes on before the other has come here. */
static inline bool meet(struct _test_data_hostile *self)
{
	uint64_t step = __atomic_add_fetch(&self->step, 1, __ATOMIC_RELAXED);

	return se_until(self->box->step[!my_side()] >= step &&
			self->box->step[!my_side()] < UINT64_MAX);
}

static inline bool settled(struct _test_data_hostile *self)
{
	volatile struct syncevent_region_header *h = (void *)self->memory;
	volatile struct syncevent_region_side *me = side_at(&self->s, my_side());

	return h->magic == SYNCEVENT_REGION_MAGIC && h->format_epoch == me->format_epoch &&
	       me->epoch && pci_alive(1ULL << my_side());
}

/* Attach anew, if this side does not do so by itself: it takes itself for a duplicate. */
static inline bool recover(struct _test_data_hostile *self)
{
	unsigned int i, tries;

	for (tries = 0; tries < 20; tries++) {
		for (i = 0; i < 10 * TICK_MS; i++) {
			if (settled(self))
				return true;
			se_sleep_ms(1);
		}
		if (unbind(self) || bind_again(self))
			return false;
	}
	return false;
}

FIXTURE_SETUP(hostile)
{
	const char *seed = getenv("SE_SEED");
	struct syncevent_pci_info info;
	struct pci_pair pair;
	size_t len;

	memset(self, 0, sizeof(*self));
	ASSERT_LE(0, pci_dev()) TH_LOG("%s: %s", PCI_DEV, strerror(errno));
	ASSERT_EQ(0, pci_info(&info));
	snprintf(self->device, sizeof(self->device), "/sys/bus/pci/devices/%04x:%02x:%02x.%x",
		 info.address >> 16, info.address >> 8 & 0xff, info.address >> 3 & 0x1f,
		 info.address & 7);
	/* While a driver has the memory nobody else may map it; what is mapped stays. */
	ASSERT_EQ(0, unbind(self));
	ASSERT_EQ(0, write_to(self->device, "enable", "1"));
	ASSERT_TRUE(self->memory = map_resource(self, 2, &len));
	self->box = (struct box *)(self->memory + len - SYNCEVENT_REGION_PAGE);
	self->s.base = self->memory;
	ASSERT_TRUE(se_geometry_choose(&self->s.geo, len, 2, 12));
	ASSERT_TRUE(self->registers = map_resource(self, 0, &len));
	ASSERT_EQ(0, bind_again(self));
	ASSERT_TRUE(recover(self));

	self->s.header = *(struct syncevent_region_header *)self->memory;
	self->s.victim = !my_side();
	self->s.rng = (seed ? strtoull(seed, NULL, 0) : 20240229) * 2 + my_side() + 1;
	self->users.raw = &self->s;
	ASSERT_LE(0, self->users.memory = memfd_create("payload", MFD_CLOEXEC));
	printf("# SE_SEED=%s\n", seed ?: "20240229");

	/* One side empties the box before the other looks into it. */
	if (is_owner())
		memset((void *)self->box, 0, sizeof(*self->box));
	ASSERT_EQ(0, pci_join(&pair, 0));
	ASSERT_EQ(0, pci_part(&pair));
	/* From here on. Who meets by events must not be taken for dead because it is slow. */
	ASSERT_EQ(0, write_to("/sys/module/syncevent/parameters", "peer_timeout_ms", "400"));
	ASSERT_EQ(0, se_start(&self->keeper, keep_step, self));
	ASSERT_TRUE(meet(self));
}

/* Both are well, and work together. */
FIXTURE_TEARDOWN(hostile)
{
	struct pci_pair pair;

	EXPECT_EQ(0, write_to("/sys/module/syncevent/parameters", "peer_timeout_ms", "1500"));
	EXPECT_EQ(0, pci_join(&pair, 1));
	EXPECT_EQ(0, pci_part(&pair));
	EXPECT_TRUE(meet(self));
	__atomic_store_n(&self->ended, true, __ATOMIC_RELEASE);
	EXPECT_EQ(0, se_join(&self->keeper));
}

#endif /* SELFTESTS_PCI_HOSTILE_H */
