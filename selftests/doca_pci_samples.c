// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_pci_samples.c - the programs of samples/doca between two machines: each of them on either
 * machine, either of them the server, set or add, with tasks or without
 */
#include "pci.h"

/* The device, on both machines: vm/run. */
#define ADDRESS		"0000:00:10.0"
/* So that a sample that hangs ends before the test does. */
#define TIMEOUT		"timeout 100"

/**
 * struct samples - a pair of machines in a test
 * @pair: keeps them in step
 * @program: the sample that runs here
 * @out: what it said
 * @length: of that
 */
FIXTURE(samples) {
	struct pci_pair pair;
	FILE *program;
	char out[8192];
	size_t length;
};

/**
 * struct samples_variant - flags of both programs
 * @local_serves: the local one is the server, else the remote one
 * @flags: of both
 * @value: what the local one is to see
 * @fetches: the remote one is told what it has added to
 */
FIXTURE_VARIANT(samples) {
	bool local_serves;
	const char *flags;
	unsigned int value;
	bool fetches;
};

#define SAMPLES(how, text, sum, fetched)						\
FIXTURE_VARIANT_ADD(samples, local_serves_##how) {					\
	.local_serves = true, .flags = text, .value = sum, .fetches = fetched,		\
};											\
FIXTURE_VARIANT_ADD(samples, remote_serves_##how) {					\
	.flags = text, .value = sum, .fetches = fetched,				\
}

SAMPLES(set, "", 1, false);
SAMPLES(add, "--atomic", 1, true);
SAMPLES(set_by_tasks, "--async --async-num-tasks 5", 5, false);
SAMPLES(add_by_tasks, "--async --atomic --async-num-tasks 5", 5, false);

FIXTURE_SETUP(samples)
{
	ASSERT_EQ(0, pci_join(&self->pair, 0));
}

FIXTURE_TEARDOWN(samples)
{
	EXPECT_EQ(0, pci_part(&self->pair));
}

/* Starts the sample of this machine. Return: whether that worked. */
static bool begin(struct _test_data_samples *self, const char *sample, bool serves,
		  const char *flags)
{
	char command[256];

	snprintf(command, sizeof(command), TIMEOUT " sync_event_%s_pci-%s -d " ADDRESS " %s %s 2>&1",
		 sample, serves ? "server" : "client", serves ? "-r " ADDRESS : "", flags);
	self->length = 0;
	self->out[0] = '\0';
	self->program = popen(command, "re");
	return self->program;
}

static bool says(const struct _test_data_samples *self, const char *text)
{
	return strstr(self->out, text);
}

/* Its next line. False: there is none, or no room for it. */
static bool line(struct _test_data_samples *self)
{
	const size_t room = sizeof(self->out) - self->length;
	char *next = self->out + self->length;

	if (room == 1 || !fgets(next, (int)room, self->program))
		return false;
	self->length += strlen(next);
	return true;
}

/* A client that comes before its server would not find it. */
static bool serves_now(struct _test_data_samples *self)
{
	while (!says(self, "Waiting for the client\n")) {
		if (!line(self))
			return false;
	}
	return true;
}

/* Return: its exit status. */
static int end(struct _test_data_samples *self)
{
	int status;

	while (line(self))
		;
	status = pclose(self->program);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Both samples. Return: whether this machine's ended well. */
static bool run(struct _test_data_samples *self, const struct _fixture_variant_samples *variant,
		bool is_local)
{
	const bool serves = is_local == variant->local_serves;
	const char *sample = is_local ? "local" : "remote";
	bool ok = true;

	if (serves)
		ok = begin(self, sample, true, variant->flags) && serves_now(self);
	ok = !pci_meet(&self->pair) && ok;
	if (!serves)
		ok = begin(self, sample, false, variant->flags) && ok;
	return self->program && !end(self) && ok;
}

/* And said what it should, and nothing that it should not. */
static bool says_all(const struct _test_data_samples *self,
		     const struct _fixture_variant_samples *variant, bool is_local)
{
	char value[64];

	snprintf(value, sizeof(value), "The event has value %u\n", variant->value);
	return says(self, value) == is_local &&
	       says(self, "The event was updated\n") == !is_local &&
	       says(self, "The event had value 0\n") == (!is_local && variant->fetches) &&
	       says(self, "The sample succeeded\n") && !says(self, "[WRN]") &&
	       !says(self, "[ERR]");
}

#define EXPECT_EXCHANGE(is_local)							\
	EXPECT_TRUE(run(self, variant, is_local) && says_all(self, variant, is_local))	\
		TH_LOG("it said: %s", self->out)

TEST_F(samples, local_on_side_0)
{
	EXPECT_EXCHANGE(is_owner());
}

TEST_F(samples, local_on_side_1)
{
	EXPECT_EXCHANGE(!is_owner());
}

TEST_HARNESS_MAIN
