// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A hostile machine writes what it likes to a region, and rings as it likes. The kernel
 * of the other neither crashes nor hangs (the runner reads its log), each call of its
 * users comes back with what is documented, what is not in the region goes on exactly,
 * and when it is over both machines work together again.
 *
 * SE_SEED: what is scribbled. Machines race, so a seed gives the same writes, not the
 * same outcome.
 */
#include "pci_hostile.h"

/* One kind of record, one kind of rubbish, while users of both kernels or of one go on. */
static bool scribble_round(struct _test_data_hostile *self, enum scribble_area area,
			   enum scribble_pattern pattern, bool alone)
{
	bool hostile = !is_owner(), users = is_owner() || !alone, ok = true;
	unsigned int i, passes = se_times(40);
	uint64_t turns;

	self->users.seed = self->s.rng;
	if (users)
		ok &= !victims_start(&self->users);
	ok &= meet(self);
	for (i = 0; hostile && i < passes; i++) {
		scribble(&self->s, area, pattern);
		se_sleep_ms(2);
	}
	if (hostile)
		memset(self->memory, 0, SYNCEVENT_REGION_PAGE);
	ok &= meet(self);
	if (users) {
		turns = __atomic_load_n(&self->users.turns, __ATOMIC_ACQUIRE);
		ok &= se_until(__atomic_load_n(&self->users.turns, __ATOMIC_ACQUIRE) > turns);
		ok &= !victims_stop(&self->users);
	}
	if (is_owner())
		ok &= recover(self);
	ok &= meet(self);
	if (hostile && !alone)
		ok &= recover(self);
	ok &= meet(self);
	return ok;
}

static void scribble_all(struct __test_metadata *_metadata, struct _test_data_hostile *self,
			 bool alone)
{
	unsigned int area, pattern;

	for (area = 0; area < AREAS; area++)
		for (pattern = 0; pattern < PATTERNS; pattern++) {
			bool ok = scribble_round(self, area, pattern, alone);

			EXPECT_TRUE(ok) {
				TH_LOG("%s of %s", scribble_patterns[pattern], scribble_areas[area]);
			}
		}
}

/* The hostile machine has no driver: whatever is in the memory, it wrote. */
TEST_F(hostile, scribbles_alone)
{
	if (!is_owner())
		ASSERT_EQ(0, unbind(self));
	ASSERT_TRUE(meet(self));
	scribble_all(_metadata, self, true);
	if (!is_owner())
		ASSERT_EQ(0, bind_again(self));
}

/* It has one, whose users are worse off than those of the other machine. */
TEST_F(hostile, scribbles_on_itself)
{
	scribble_all(_metadata, self, false);
}

/* Milliseconds that the CPUs of this machine were busy. */
static uint64_t busy_ms(void)
{
	unsigned long long user = 0, nice = 0, system = 0, idle, wait, irq = 0, soft = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (f && fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
			&wait, &irq, &soft) != 7)
		user = 0;
	if (f)
		fclose(f);
	return (user + nice + system + irq + soft) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
}

enum { FLOOD_DOORBELLS, FLOOD_ENTRIES, FLOOD_OVERFLOWS, FLOODS };

/* Until the other side has had enough. Returns how often it rang. */
static unsigned int flood(struct _test_data_hostile *self, int how, uint64_t entry)
{
	volatile struct syncevent_region_ring *ring = ring_at(&self->s, 1, 0);
	uint32_t doorbell = side_at(&self->s, 0)->doorbell << 16;
	uint64_t end = se_patience();
	unsigned int i;

	for (i = 0; i < SYNCEVENT_RING_ENTRIES; i++)
		ring->entry[i] = entry;
	for (i = 0; self->box->number[1] <= how && (i % 1000 || se_now(CLOCK_MONOTONIC) < end);
	     i++) {
		if (how == FLOOD_ENTRIES)
			__atomic_store_n(&ring->tail, ring->head + SYNCEVENT_RING_ENTRIES,
					 __ATOMIC_RELEASE);
		if (how == FLOOD_OVERFLOWS)
			__atomic_store_n(&ring->overflow, i + 1, __ATOMIC_RELEASE);
		self->registers[3] = doorbell;
	}
	return i;
}

/* At least so many milliseconds, and until the doorbell was held back if it is to be. */
static bool suffer(int how, uint64_t start, struct syncevent_pci_info *before)
{
	struct syncevent_pci_info now;

	return !pci_info(&now) && now.irqs != before->irqs &&
	       se_now(CLOCK_MONOTONIC) - start > se_times(2000) * 1000000ULL &&
	       (how == FLOOD_DOORBELLS || now.masked != before->masked);
}

/*
 * Whatever the others ring and write into rings, the interrupts of a millisecond have a
 * limit (docs/abi.md, Notifications), and where too much comes the doorbell is held back
 * for ten of them.
 */
TEST_F(hostile, flood_is_bounded)
{
	static const char *const names[] = { "doorbells", "entries", "overflows" };
	struct syncevent_pci_info before, after;
	uint64_t start, busy, ms;
	struct se_waiter w;
	int fd = -1, how;

	if (is_owner()) {
		struct syncevent_blob blob;

		ASSERT_LE(0, fd = pci_create(0, 0));
		ASSERT_EQ(0, pci_export(fd, SYNCEVENT_RIGHT_READ, &blob));
		self->box->number[0] = (uint64_t)blob.generation << 32 | blob.slot;
		ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_EQ, 1));
		ASSERT_TRUE(se_waiter_parked(&w));
	} else {
		ASSERT_EQ(0, unbind(self));
	}
	for (how = 0; how < FLOODS; how++) {
		ASSERT_TRUE(meet(self));
		if (!is_owner()) {
			printf("# rang %u times\n", flood(self, how, self->box->number[0]));
			ASSERT_TRUE(meet(self));
			continue;
		}
		ASSERT_EQ(0, pci_info(&before));
		start = se_now(CLOCK_MONOTONIC);
		busy = busy_ms();
		EXPECT_TRUE(se_until(suffer(how, start, &before)));
		ASSERT_EQ(0, pci_info(&after));
		ms = (se_now(CLOCK_MONOTONIC) - start) / 1000000;
		printf("# %s: %u interrupts in %u ms, held back %u times, CPUs busy for %u ms\n",
		       names[how], (unsigned int)(after.irqs - before.irqs), (unsigned int)ms,
		       after.masked - before.masked, (unsigned int)(busy_ms() - busy));
		/* The jiffies at both ends. */
		EXPECT_GE(200 * (ms + 20), after.irqs - before.irqs);
		EXPECT_GE(ms / 10 + 2, after.masked - before.masked);
		self->box->number[1] = (uint64_t)how + 1;
		ASSERT_TRUE(meet(self));
	}
	if (is_owner()) {
		ASSERT_EQ(0, se_set(fd, 1));
		EXPECT_EQ(0, se_waiter_join(&w));
		close(fd);
	} else {
		ASSERT_EQ(0, bind_again(self));
	}
}

TEST_HARNESS_MAIN
