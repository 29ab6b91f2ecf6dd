// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The samples for two machines do what they say: local_pci runs on side 0, remote_pci
 * on side 1.
 */
#include "pci.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/stat.h>

#define BOTH		3ULL
#define SIGNALS		1000
#define BLOB		"/tmp/pci_samples.blob"
/* So that a sample that hangs says so before the harness loses patience. */
#define TIMEOUT		"--timeout 120"

/* What the sides tell each other beside what the samples do. */
struct note {
	uint32_t size;
	unsigned char blob[256];
};

/**
 * struct pci_samples - a pair of machines in a test
 * @here: counts the steps of this side
 * @there: those of the other
 * @step: so many
 * @note: in the payload of side 0's
 * @program: the sample that runs
 * @out: what it printed, errors too
 */
FIXTURE(pci_samples) {
	int here;
	int there;
	uint64_t step;
	struct note *note;
	FILE *program;
	char out[4096];
};

/* Neither side goes on before the other has come here. */
static int meet(struct _test_data_pci_samples *self)
{
	int ret = se_set(self->here, ++self->step);

	return ret ?: pci_wait(self->there, SYNCEVENT_COND_GE, self->step, NULL);
}

/* Starts a sample. Return: whether that worked. */
static bool begin(struct _test_data_pci_samples *self, const char *format, ...)
{
	char command[512];
	va_list args;
	size_t len;

	va_start(args, format);
	len = (size_t)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(command + len, sizeof(command) - len, " 2>&1");
	self->out[0] = '\0';
	self->program = popen(command, "re");
	return self->program;
}

/* Reads one line of it into out. */
static bool line(struct _test_data_pci_samples *self)
{
	return fgets(self->out, sizeof(self->out), self->program);
}

/* Reads the rest and returns its exit status. */
static int end(struct _test_data_pci_samples *self)
{
	size_t len = fread(self->out, 1, sizeof(self->out) - 1, self->program);
	int status = pclose(self->program);

	self->out[len] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define EXPECT_SAYS(text)							\
	EXPECT_TRUE(strstr(self->out, text))					\
		TH_LOG("'%s' is not in: %s", text, self->out)

FIXTURE_SETUP(pci_samples)
{
	const char *mine = is_owner() ? "step-0" : "step-1";
	const char *other = is_owner() ? "step-1" : "step-0";

	ASSERT_LE(0, pci_dev()) TH_LOG("%s: %s", PCI_DEV, strerror(errno));
	ASSERT_TRUE(se_until(pci_alive(BOTH)));
	ASSERT_TRUE(se_until((self->here = pci_offer(mine, 0, 1)) != -EEXIST));
	ASSERT_LE(0, self->here);
	ASSERT_LE(0, self->there = pci_await(other));
	self->note = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			  is_owner() ? self->here : self->there, 4096);
	ASSERT_NE(MAP_FAILED, self->note);
	self->step = 0;
	ASSERT_EQ(0, meet(self));
}

FIXTURE_TEARDOWN(pci_samples)
{
	/* A side that closes first would end the other's last wait. */
	EXPECT_EQ(0, meet(self));
	EXPECT_EQ(0, pci_name(self->here, "gone", 0));
	se_set(self->here, ++self->step);
	pci_wait(self->there, SYNCEVENT_COND_GE, self->step, NULL);
	munmap(self->note, 4096);
	close(self->there);
	close(self->here);
}

/* Side 0 has said what side 1 is to type. */
static bool exported(struct _test_data_pci_samples *self)
{
	bool ok = true;

	if (is_owner())
		ok = line(self) && strstr(self->out, "remote_pci --");
	return !meet(self) && ok;
}

/* The last lines of both: how many, which way, and figures that make sense. */
static bool figures(struct _test_data_pci_samples *self, unsigned int signals, const char *how)
{
	double average, best, worst;
	char wanted[256];
	const char *trip;

	snprintf(wanted, sizeof(wanted), "%u signals and answers, %s, every value right\n",
		 signals, how);
	trip = strstr(self->out, "round trip: ");
	return strstr(self->out, wanted) && trip &&
	       sscanf(trip, "round trip: %lf us on average, %lf us at best, %lf us at worst",
		      &average, &best, &worst) == 3 &&
	       0 < best && best <= average && average <= worst;
}

/*
 * Both samples with these options. @how: what they say at their end. Leaves what this
 * side's printed in out.
 */
static bool exchange(struct _test_data_pci_samples *self, const char *options, const char *how)
{
	unsigned int signals = se_times(SIGNALS);
	bool ok = true;

	if (is_owner())
		ok = begin(self, "local_pci " TIMEOUT " %s", options);
	ok = exported(self) && ok;
	if (!is_owner())
		ok = begin(self, "remote_pci " TIMEOUT " --signals %u %s", signals, options);
	return ok && !end(self) && figures(self, signals, how);
}

#define EXPECT_EXCHANGE(options, how)						\
	EXPECT_TRUE(exchange(self, options, how)) TH_LOG("%s: %s", options, self->out)

TEST_F(pci_samples, set_sync)
{
	EXPECT_EXCHANGE("-d 0000:00:10.0", "sent by set, awaited in a call");
}

TEST_F(pci_samples, set_async)
{
	EXPECT_EXCHANGE("--async --name another", "sent by set, awaited in epoll");
}

TEST_F(pci_samples, atomic_sync)
{
	EXPECT_EXCHANGE("--atomic --pci-addr " PCI_DEV, "sent by add, awaited in a call");
}

TEST_F(pci_samples, atomic_async)
{
	EXPECT_EXCHANGE("--atomic --async", "sent by add, awaited in epoll");
}

TEST_F(pci_samples, each_side_its_own_form)
{
	const char *options = is_owner() ? "--atomic" : "--async";

	EXPECT_EXCHANGE(options, is_owner() ? "sent by add, awaited in a call" :
					      "sent by set, awaited in epoll");
}

static bool copy(const char *path, bool in, void *data, size_t *size)
{
	FILE *file = fopen(path, in ? "re" : "we");

	if (!file)
		return false;
	*size = in ? fread(data, 1, *size, file) : fwrite(data, 1, *size, file);
	return !fclose(file) && *size;
}

/* The test is who carries the file from one machine to the other. */
TEST_F(pci_samples, blob)
{
	size_t size = sizeof(self->note->blob);
	struct stat st;

	if (is_owner()) {
		ASSERT_TRUE(begin(self, "local_pci " TIMEOUT " --blob " BLOB));
		ASSERT_TRUE(line(self));
		EXPECT_SAYS("take " BLOB " to the other machine");
		ASSERT_EQ(0, stat(BLOB, &st));
		EXPECT_EQ(S_IFREG | 0600, st.st_mode);
		ASSERT_TRUE(copy(BLOB, true, self->note->blob, &size));
		self->note->size = (uint32_t)size;
		ASSERT_EQ(0, meet(self));
		EXPECT_EQ(0, end(self));
		EXPECT_NE(0, access(BLOB, F_OK));
	} else {
		ASSERT_EQ(0, meet(self));
		/* It has no name. */
		ASSERT_TRUE(begin(self, "remote_pci"));
		EXPECT_EQ(1, end(self));
		size = self->note->size;
		ASSERT_TRUE(copy(BLOB, false, self->note->blob, &size));
		ASSERT_TRUE(begin(self, "remote_pci " TIMEOUT " --signals 5 --blob " BLOB));
		EXPECT_EQ(0, end(self));
		unlink(BLOB);
	}
	EXPECT_TRUE(figures(self, 5, "sent by set, awaited in a call")) TH_LOG("%s", self->out);
}

TEST_F(pci_samples, errors)
{
	if (!is_owner()) {
		ASSERT_TRUE(begin(self, "remote_pci --name nobody"));
		EXPECT_EQ(1, end(self));
		EXPECT_SAYS("start local_pci on the other machine first");
		EXPECT_SAYS("remote_pci: nobody: no such event");
		ASSERT_TRUE(begin(self, "remote_pci -d 0000:00:1f.7"));
		EXPECT_EQ(1, end(self));
		EXPECT_SAYS("there is no such region");
		ASSERT_TRUE(begin(self, "remote_pci --signals none"));
		EXPECT_EQ(2, end(self));
		EXPECT_SAYS("'none' is no number");
		return;
	}
	ASSERT_TRUE(begin(self, "local_pci -d 0000:00:1f.7"));
	EXPECT_EQ(1, end(self));
	EXPECT_SAYS("0000:00:1f.7: the module syncevent is not loaded");
	ASSERT_TRUE(begin(self, "local_pci --name step-0"));
	EXPECT_EQ(1, end(self));
	EXPECT_SAYS("local_pci: step-0: it exists already");
	ASSERT_TRUE(begin(self, "local_pci --name alone --timeout 1"));
	EXPECT_EQ(1, end(self));
	EXPECT_SAYS("remote_pci --name alone\n");
	EXPECT_SAYS("local_pci: wait: the deadline passed");
	ASSERT_TRUE(begin(self, "local_pci --name alone --timeout 1 --async"));
	EXPECT_EQ(1, end(self));
	EXPECT_SAYS("local_pci: wait: the deadline passed");
}

/* An answer that never comes, since the event ends. */
static void gone(struct __test_metadata *_metadata, struct _test_data_pci_samples *self,
		 const char *options)
{
	int fd = -1;

	if (is_owner())
		ASSERT_LE(0, fd = pci_offer("gone", 0, 0));
	ASSERT_EQ(0, meet(self));
	if (is_owner()) {
		ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_EQ, 1, NULL));
		close(fd);
	} else {
		ASSERT_TRUE(begin(self, "remote_pci " TIMEOUT " --name gone %s", options));
		EXPECT_EQ(1, end(self));
		EXPECT_SAYS("remote_pci: wait: the event was revoked");
	}
	ASSERT_EQ(0, meet(self));
}

TEST_F(pci_samples, the_event_ends)
{
	gone(_metadata, self, "");
	gone(_metadata, self, "--async");
}

/* Set takes no notice of what was there, add does; each leaves its own sum. */
TEST_F(pci_samples, set_and_add_differ)
{
	static const struct {
		const char *options;
		uint64_t sum;
		const char *says;
	} forms[] = {
		{ "", 1, "remote_pci: wait: the event was revoked" },
		{ "--atomic", 101, "WRONG: 100, and it should be 0" },
	};
	size_t i;

	for (i = 0; i < 2; i++) {
		int fd = -1;

		if (is_owner())
			ASSERT_LE(0, fd = pci_offer("hundred", 100, 0));
		ASSERT_EQ(0, meet(self));
		if (is_owner()) {
			EXPECT_EQ(0, pci_wait(fd, SYNCEVENT_COND_EQ, forms[i].sum, NULL));
			close(fd);
		} else {
			ASSERT_TRUE(begin(self, "remote_pci " TIMEOUT " -n hundred %s",
					  forms[i].options));
			EXPECT_EQ(1, end(self));
			EXPECT_SAYS(forms[i].says);
		}
		ASSERT_EQ(0, meet(self));
	}
}

/* arm64 has one of the two. */
#ifndef SYS_epoll_wait
#define SYS_epoll_wait	SYS_epoll_pwait
#endif

/* What /proc/PID/FILE begins with. */
static void proc_text(const char *pid, const char *file, char text[64])
{
	char path[300];
	size_t size = 63;

	memset(text, 0, 64);
	snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	copy(path, true, text, &size);
}

/* The local_pci that sleeps in one of these system calls; 0: there is none. */
static pid_t asleep_in(long call, long other)
{
	struct dirent *entry;
	pid_t pid = 0;
	char text[64];
	DIR *proc = opendir("/proc");

	while (proc && !pid && (entry = readdir(proc))) {
		proc_text(entry->d_name, "comm", text);
		if (strcmp(text, "local_pci\n"))
			continue;
		proc_text(entry->d_name, "syscall", text);
		if (strtol(text, NULL, 10) == call || strtol(text, NULL, 10) == other)
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

TEST_F(pci_samples, a_call_and_epoll_differ)
{
	pid_t pid;

	if (!is_owner())
		return;
	ASSERT_TRUE(begin(self, "local_pci " TIMEOUT));
	ASSERT_TRUE(se_until(pid = asleep_in(SYS_ioctl, SYS_ioctl)));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_NE(0, end(self));
	ASSERT_TRUE(begin(self, "local_pci " TIMEOUT " --async"));
	ASSERT_TRUE(se_until(pid = asleep_in(SYS_epoll_wait, SYS_epoll_pwait)));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_NE(0, end(self));
}

TEST_F(pci_samples, a_wrong_answer)
{
	int fd = -1;

	if (is_owner())
		ASSERT_LE(0, fd = pci_offer("wrong", 0, 0));
	ASSERT_EQ(0, meet(self));
	if (is_owner()) {
		ASSERT_EQ(0, pci_wait(fd, SYNCEVENT_COND_EQ, 1, NULL));
		ASSERT_EQ(0, se_set(fd, 3));
	} else {
		ASSERT_TRUE(begin(self, "remote_pci " TIMEOUT " --name wrong"));
		EXPECT_EQ(1, end(self));
		EXPECT_SAYS("WRONG: 3, and it should be 2");
	}
	ASSERT_EQ(0, meet(self));
	close(fd);
}

TEST_F(pci_samples, hello)
{
	if (is_owner()) {
		ASSERT_TRUE(begin(self, "hello_pci"));
		EXPECT_EQ(0, end(self));
	} else {
		ASSERT_TRUE(se_until(begin(self, "hello_pci 'Good morning'") && !end(self)));
	}
	EXPECT_STREQ("success: Good morning\n", self->out);
}

TEST_HARNESS_MAIN
