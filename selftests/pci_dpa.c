// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A machine and a DPA: the firmware of samples/dpa is the other side of the region, on a
 * RISC-V board of its own, and does what it is asked. Who runs this test looks at the
 * value of an event named "dpa.power" meanwhile, and does to the board what it says.
 */
#include "pci_job.h"

#include <syncevent.h>

#define DPA		1U
#define BOTH		3ULL

/* Values of dpa.power; selftests/vm/dpa knows them too. */
enum power { POWER_KEEP, POWER_KILL, POWER_START, POWER_STOP, POWER_CONTINUE };

FIXTURE(dpa) {
	int power;
	struct jobs jobs;
};

FIXTURE_SETUP(dpa)
{
	ASSERT_LE(0, pci_dev()) TH_LOG("%s: %s", PCI_DEV, strerror(errno));
	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	ASSERT_LE(0, self->power = pci_offer("dpa.power", POWER_KEEP, 0));
	ASSERT_EQ(0, jobs_open(&self->jobs));
}

FIXTURE_TEARDOWN(dpa)
{
	jobs_close(&self->jobs);
	close(self->power);
}

/* The job is what follows, as an initialiser. */
#define DO(...)		job_do(&self->jobs, (struct job){ __VA_ARGS__ })
#define BEGIN(...)	job_begin(&self->jobs, (struct job){ __VA_ARGS__ })

static uint64_t epoch_of_dpa(void)
{
	struct syncevent_pci_peer peer = { .side = DPA };

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer) || !peer.alive ? 0 : peer.epoch;
}

TEST_F(dpa, attached)
{
	struct syncevent_pci_info info;
	struct syncevent_pci_peer peer = { .side = DPA };

	ASSERT_EQ(0, pci_info(&info));
	EXPECT_EQ(BOTH, info.alive);
	ASSERT_EQ(0, se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_PEER, &peer));
	EXPECT_EQ(1, peer.alive);
	EXPECT_NE(0, peer.epoch);
}

TEST_F(dpa, handles)
{
	int fd = pci_create(5, 0);
	uint64_t handle = handle_of(fd), v;
	struct syncevent *ev;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, syncevent_from_fd(&ev, fd));
	ASSERT_EQ(0, syncevent_dpa_handle(ev, &v));
	EXPECT_EQ(handle, v);
	syncevent_close(ev);
	ASSERT_EQ(0, DO(.op = JOB_GET, .handle = handle));
	EXPECT_EQ(5, self->jobs.job->value);
	ASSERT_EQ(0, DO(.op = JOB_SET, .handle = handle, .operand = 8));
	ASSERT_EQ(0, DO(.op = JOB_ADD, .handle = handle, .operand = 3, .count = 2));
	EXPECT_EQ(11, self->jobs.job->value);
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(14, v);
	EXPECT_EQ(-EINVAL, DO(.op = JOB_SET, .handle = SE_MAX));
	EXPECT_EQ(-EINVAL, DO(.op = JOB_SET, .handle = 0));
	EXPECT_EQ(-EIDRM, DO(.op = JOB_SET, .handle = handle + (1ULL << 32)));
	EXPECT_EQ(-EINVAL, DO(.op = 99, .handle = handle));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(14, v);
	close(fd);
}

TEST_F(dpa, back_and_forth)
{
	unsigned int rounds = se_times(100000), i;
	uint64_t handle = handle_of(self->jobs.reply);

	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, DO(.op = JOB_GET, .handle = handle)) TH_LOG("round %u", i);
		ASSERT_EQ(i, self->jobs.job->value);
	}
}

/* The firmware rings a machine that sleeps, once for each time. */
TEST_F(dpa, wakes_sleepers)
{
	unsigned int rounds = se_times(2000), i;
	uint64_t handle = handle_of(self->jobs.reply), rings;
	struct syncevent_pci_info before, after;
	struct se_waiter w;

	ASSERT_EQ(0, pci_info(&before));
	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, se_waiter_start(&w, self->jobs.reply, SYNCEVENT_COND_GE, i + 1));
		ASSERT_TRUE(se_until_waiters(self->jobs.reply, 1));
		ASSERT_EQ(0, BEGIN(.op = JOB_GET, .handle = handle));
		ASSERT_EQ(0, se_waiter_join(&w)) TH_LOG("round %u", i);
		ASSERT_EQ(0, job_finish(&self->jobs));
	}
	ASSERT_EQ(0, pci_info(&after));
	rings = after.irqs - before.irqs;
	printf("# %u rounds: was rung %u times\n", rounds, (unsigned int)rings);
	/* Without a doorbell the next tick would have woken it. */
	EXPECT_LE(rounds / 2, rings);
	EXPECT_GE(rounds, rings);
}

TEST_F(dpa, every_condition)
{
	static const struct {
		uint32_t cond;
		uint64_t start, operand, end;
	} c[] = {
		{ SYNCEVENT_COND_EQ, 0, 5, 5 }, { SYNCEVENT_COND_NEQ, 5, 5, 6 },
		{ SYNCEVENT_COND_GT, 5, 5, 6 }, { SYNCEVENT_COND_GE, 5, 6, 6 },
		{ SYNCEVENT_COND_LT, 5, 5, 4 }, { SYNCEVENT_COND_LE, 5, 4, 4 },
	};
	int fd = pci_create(0, 0);
	uint64_t handle = handle_of(fd);
	unsigned int i;

	ASSERT_LE(0, fd);
	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		ASSERT_EQ(0, se_set(fd, c[i].start));
		ASSERT_EQ(0, BEGIN(.op = JOB_WAIT, .handle = handle, .cond = c[i].cond,
				   .operand = c[i].operand));
		se_sleep_ms(2);
		EXPECT_EQ(JOB_NOT_DONE, self->jobs.job->status);
		ASSERT_EQ(0, se_set(fd, c[i].end));
		ASSERT_EQ(0, job_finish(&self->jobs));
		EXPECT_EQ(c[i].end, self->jobs.job->value);
	}
	close(fd);
}

struct adder {
	struct se_thread t;
	int fd;
	unsigned int rounds;
};

static int add_by_ioctl(void *arg)
{
	struct adder *a = arg;
	uint64_t old, last = 0;
	unsigned int i;
	int ret;

	for (i = 0; i < a->rounds; i++) {
		ret = se_add(a->fd, 1, &old);
		if (ret || (i && old <= last))
			return ret ?: 1;
		last = old;
	}
	return 0;
}

/* Firmware, a program and its kernel add: nothing is lost, and nothing goes back. */
TEST_F(dpa, adds_are_atomic)
{
	unsigned int rounds = se_times(10000000), i;
	int fd = pci_create(0, 0);
	struct adder kernel = { .fd = fd, .rounds = rounds / 10 };
	struct syncevent_cell *cell = pci_map(fd, PROT_READ | PROT_WRITE);
	uint64_t old, last = 0, v;

	ASSERT_TRUE(cell);
	ASSERT_EQ(0, BEGIN(.op = JOB_ADD, .handle = handle_of(fd), .operand = 1, .count = rounds));
	/* All three at the same time. */
	ASSERT_TRUE(se_until(__atomic_load_n(&cell->value, __ATOMIC_ACQUIRE)));
	ASSERT_EQ(0, se_start(&kernel.t, add_by_ioctl, &kernel));
	for (i = 0; i < rounds; i++) {
		old = __atomic_fetch_add(&cell->value, 1, __ATOMIC_SEQ_CST);
		ASSERT_TRUE(!i || old > last) TH_LOG("add %u", i);
		last = old;
	}
	EXPECT_EQ(0, se_join(&kernel.t));
	EXPECT_EQ(0, job_finish(&self->jobs));
	ASSERT_EQ(0, se_get(fd, &v));
	EXPECT_EQ(2ULL * rounds + rounds / 10, v);
	munmap(cell, 4096);
	close(fd);
}

/* The end of an event reaches the firmware, for whose leave the slot waits. */
TEST_F(dpa, revoked_while_it_waits)
{
	struct syncevent_pci_info info;
	uint64_t handle, again = 0;
	int fd, *others;
	uint32_t i, n = 0;

	ASSERT_EQ(0, pci_info(&info));
	ASSERT_TRUE(others = calloc(info.slots, sizeof(*others)));
	ASSERT_LE(0, fd = pci_create(5, 0));
	handle = handle_of(fd);
	ASSERT_EQ(0, BEGIN(.op = JOB_WAIT, .handle = handle, .cond = SYNCEVENT_COND_GT,
			   .operand = 99));
	se_sleep_ms(20);
	ASSERT_EQ(0, se_revoke(fd));
	EXPECT_EQ(-EIDRM, job_finish(&self->jobs));
	close(fd);
	/* Until one gets that slot: it is free, and others may be too. */
	ASSERT_TRUE(se_until((others[n] = pci_create(7, 0)) >= 0 &&
			     (uint32_t)(again = handle_of(others[n++])) == (uint32_t)handle));
	EXPECT_EQ(handle + (1ULL << 32), again);
	EXPECT_EQ(-EIDRM, DO(.op = JOB_SET, .handle = handle, .operand = 9));
	ASSERT_EQ(0, DO(.op = JOB_GET, .handle = again));
	EXPECT_EQ(7, self->jobs.job->value);
	for (i = 0; i < n; i++)
		close(others[i]);
	free(others);
}

/* It dies in the midst of a wait, and does its job when it is back. */
TEST_F(dpa, killed_while_it_waits)
{
	int fd = pci_create(5, 0), other = pci_create(5, 0);
	uint64_t epoch = epoch_of_dpa(), v;
	struct syncevent_info info;

	ASSERT_LE(0, fd);
	/* Before it has found the events nobody depends on it. */
	ASSERT_EQ(0, DO(.op = JOB_GET, .handle = handle_of(fd)));
	ASSERT_EQ(0, BEGIN(.op = JOB_WAIT, .handle = handle_of(fd), .cond = SYNCEVENT_COND_GT,
			   .operand = 99));
	se_sleep_ms(20);
	ASSERT_EQ(0, se_set(self->power, POWER_KILL));
	EXPECT_EQ(-EPIPE, job_finish(&self->jobs));
	ASSERT_EQ(0, se_info(self->jobs.reply, &info));
	EXPECT_EQ(SYNCEVENT_INFO_PEER_DEAD, info.flags & SYNCEVENT_INFO_PEER_DEAD);
	EXPECT_EQ(-EPIPE, pci_wait(self->jobs.reply, SYNCEVENT_COND_GT, 99, &v));
	EXPECT_FALSE(pci_alive(BOTH));
	/* What does not depend on it works on; slots that end now wait for it. */
	ASSERT_EQ(0, se_set(other, 6));
	ASSERT_EQ(0, se_revoke(other));
	close(other);
	ASSERT_EQ(0, se_set(self->power, POWER_START));
	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	EXPECT_NE(epoch, epoch_of_dpa());
	ASSERT_TRUE(se_until(!se_info(self->jobs.reply, &info) &&
			     !(info.flags & SYNCEVENT_INFO_PEER_DEAD)));
	ASSERT_EQ(0, se_set(fd, 100));
	EXPECT_EQ(0, job_finish(&self->jobs));
	EXPECT_EQ(100, self->jobs.job->value);
	close(fd);
}

/* Stopped for so long that it is declared dead: it finds that, and attaches anew. */
TEST_F(dpa, stopped_and_fenced)
{
	int fd = pci_create(5, 0);
	uint64_t epoch = epoch_of_dpa(), now;

	ASSERT_LE(0, fd);
	ASSERT_NE(0, epoch);
	ASSERT_EQ(0, DO(.op = JOB_GET, .handle = handle_of(fd)));
	ASSERT_EQ(0, BEGIN(.op = JOB_WAIT, .handle = handle_of(fd), .cond = SYNCEVENT_COND_GT,
			   .operand = 99));
	se_sleep_ms(20);
	ASSERT_EQ(0, se_set(self->power, POWER_STOP));
	EXPECT_EQ(-EPIPE, job_finish(&self->jobs));
	ASSERT_EQ(0, se_set(self->power, POWER_CONTINUE));
	ASSERT_TRUE(se_until((now = epoch_of_dpa()) && now != epoch));
	ASSERT_EQ(0, se_set(fd, 100));
	ASSERT_TRUE(se_until(job_finish(&self->jobs) != -EPIPE));
	EXPECT_EQ(0, job_finish(&self->jobs));
	EXPECT_EQ(100, self->jobs.job->value);
	close(fd);
}

/* The machine's part of samples/dpa, as it is. */
TEST(sample)
{
	char says[256] = "";
	FILE *sample;

	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	ASSERT_TRUE(sample = popen("timeout 120 ask_dpa 2>&1", "re"));
	EXPECT_TRUE(fgets(says, sizeof(says), sample));
	EXPECT_EQ(0, pclose(sample));
	EXPECT_STREQ("success: the firmware counted to 1000\n", says);
}

TEST_HARNESS_MAIN
