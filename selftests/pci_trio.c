// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Two machines and a DPA: both machines run this program, and the firmware of
 * samples/dpa is side 2. Side 0 makes the events and gives the firmware its jobs.
 */
#include "pci_job.h"

#include <inttypes.h>

#define ALL	7ULL

/**
 * struct trio - one machine in a test
 * @pair: keeps the machines in step
 * @jobs: of side 0
 */
FIXTURE(trio) {
	struct pci_pair pair;
	struct jobs jobs;
};

FIXTURE_SETUP(trio)
{
	ASSERT_EQ(0, pci_join(&self->pair, 0));
	ASSERT_TRUE(se_until(pci_alive(ALL)));
	if (is_owner())
		ASSERT_EQ(0, jobs_open(&self->jobs));
}

FIXTURE_TEARDOWN(trio)
{
	EXPECT_EQ(0, pci_part(&self->pair));
	if (is_owner())
		jobs_close(&self->jobs);
}

/* The job is what follows, as an initialiser. */
#define DO(...)		job_do(&self->jobs, (struct job){ __VA_ARGS__ })
#define BEGIN(...)	job_begin(&self->jobs, (struct job){ __VA_ARGS__ })

static int shared(const char *name)
{
	return is_owner() ? pci_offer(name, 0, 0) : pci_await(name);
}

TEST_F(trio, adds_are_atomic)
{
	unsigned int rounds = se_times(10000000), i;
	int fd = shared("sum");
	struct syncevent_cell *cell = pci_map(fd, PROT_READ | PROT_WRITE);
	uint64_t old, last = 0, v;

	ASSERT_TRUE(cell);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (is_owner())
		ASSERT_EQ(0, BEGIN(.op = JOB_ADD, .operand = 1, .handle = handle_of(fd),
				   .count = rounds));
	ASSERT_TRUE(se_until(__atomic_load_n(&cell->value, __ATOMIC_ACQUIRE)));
	for (i = 0; i < rounds; i++) {
		old = __atomic_fetch_add(&cell->value, 1, __ATOMIC_SEQ_CST);
		ASSERT_TRUE(!i || old > last) {
			TH_LOG("add %u: %" PRIu64 " after %" PRIu64, i, old, last);
		}
		last = old;
		if (i % 100)
			continue;
		ASSERT_EQ(0, se_add(fd, 1, &old));
		ASSERT_LT(last, old);
		last = old;
	}
	if (is_owner())
		EXPECT_EQ(0, job_finish(&self->jobs));
	ASSERT_EQ(0, pci_meet(&self->pair));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(3ULL * rounds + 2 * ((rounds + 99) / 100), v);
	munmap(cell, 4096);
	close(fd);
}

/* Round and round: side 0 asleep, the firmware spinning, side 1 asleep. */
TEST_F(trio, in_turn)
{
	unsigned int rounds = se_times(3000), i;
	int fd = shared("turn");
	uint64_t handle = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (is_owner())
		ASSERT_LT(0, handle = handle_of(fd));
	for (i = 0; i < rounds; i++) {
		if (!is_owner()) {
			ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_GE, 2 * i + 1, NULL));
			ASSERT_EQ(0, se_add(fd, 1, NULL));
			continue;
		}
		/* The firmware wakes side 1 by this, and side 0 by the reply. */
		ASSERT_EQ(0, DO(.op = JOB_ADD, .operand = 1, .handle = handle, .count = 1));
		ASSERT_EQ(0, DO(.op = JOB_WAIT, .cond = SYNCEVENT_COND_GE, .handle = handle,
				.operand = 2 * i + 2));
	}
	ASSERT_EQ(0, pci_meet(&self->pair));
	close(fd);
}

/* A slot comes back when both others have let go of it. */
TEST_F(trio, revoked_for_all)
{
	int fd = shared("doomed");
	struct syncevent_pci_info info;
	uint64_t handle, used, v;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pci_meet(&self->pair));
	if (is_owner()) {
		handle = handle_of(fd);
		ASSERT_EQ(0, pci_info(&info));
		used = info.slots_used;
		ASSERT_EQ(0, BEGIN(.op = JOB_WAIT, .operand = 9, .cond = SYNCEVENT_COND_GT,
				   .handle = handle));
		se_sleep_ms(20);
		ASSERT_EQ(0, se_revoke(fd));
		EXPECT_EQ(-EIDRM, job_finish(&self->jobs));
		ASSERT_TRUE(se_until(!pci_info(&info) && info.slots_used < used));
	} else {
		EXPECT_EQ(-EIDRM, pci_wait(fd, SYNCEVENT_COND_GT, 9, &v));
	}
	ASSERT_EQ(0, pci_meet(&self->pair));
	close(fd);
}

TEST_HARNESS_MAIN
