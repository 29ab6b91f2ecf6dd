// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What the ioctls of a region refuse by the values of their fields, and by what else
 * there is. What all ioctls refuse is in negative.c and its like, which run here too;
 * spoilt blobs are in pci.c.
 */
#include "ioctls.h"

#include <sys/resource.h>

FIXTURE(region) {
	struct se_subject s;
	unsigned char arg[SE_ARG_MAX];
	struct se_held held;
};

FIXTURE_SETUP(region)
{
	ASSERT_LE(0, se_dev());
	self->held = se_held();
	ASSERT_EQ(0, se_subject_open(&self->s));
}

FIXTURE_TEARDOWN(region)
{
	se_subject_close(&self->s);
	se_nothing_held(_metadata, self->held);
}

static const struct se_cmd *cmd(unsigned int request)
{
	const struct se_cmd *c = se_cmds;

	while (c->request != request)
		c++;
	return c;
}

static void refused(struct __test_metadata *_metadata, struct _test_data_region *self,
		    unsigned int request, int err, const char *what, unsigned long n)
{
	const struct se_cmd *c = cmd(request);

	se_refused(_metadata, &self->s, c, self->s.fd[c->on], c->request, self->arg,
		   se_cmd_size(c), err, what, n);
	se_cmd_valid(c, &self->s, self->arg);
}

TEST_F(region, create)
{
	struct syncevent_pci_create *create = (void *)self->arg;
	struct syncevent_pci_info info;

	ASSERT_EQ(0, pci_info(&info));
	se_cmd_valid(cmd(SYNCEVENT_IOC_PCI_CREATE), &self->s, create);
	for (unsigned int bit = 1; bit < 32; bit++) {
		create->home = 1u << bit;
		refused(_metadata, self, SYNCEVENT_IOC_PCI_CREATE, -EINVAL, "home bit", bit);
	}
	create->home = UINT32_MAX - 1;
	refused(_metadata, self, SYNCEVENT_IOC_PCI_CREATE, -EINVAL, "home", UINT32_MAX - 1);

	/* Of the pages half are this side's; more than there are would wrap. */
	for (unsigned int bit = 0; bit < 32; bit++) {
		create->pages = 1u << bit;
		if (create->pages > info.payload_pages / 2)
			refused(_metadata, self, SYNCEVENT_IOC_PCI_CREATE, -ENOSPC, "pages bit", bit);
	}
	create->pages = info.payload_pages / 2 + 1;
	refused(_metadata, self, SYNCEVENT_IOC_PCI_CREATE, -ENOSPC, "pages", create->pages);
	create->pages = UINT32_MAX;
	refused(_metadata, self, SYNCEVENT_IOC_PCI_CREATE, -ENOSPC, "pages", UINT32_MAX);
	/* The home is looked at before the pages. */
	create->pages = UINT32_MAX;
	create->home = 2;
	refused(_metadata, self, SYNCEVENT_IOC_PCI_CREATE, -EINVAL, "pages and home", 2);
}

TEST_F(region, names)
{
	static const unsigned int with_name[] = {
		SYNCEVENT_IOC_EXPORT_NAME, SYNCEVENT_IOC_IMPORT_NAME,
	};
	struct syncevent_pci_name *name = (void *)self->arg;
	int other = pci_create(0, 0);

	ASSERT_LE(0, other);
	for (int i = 0; i < 2; i++) {
		se_cmd_valid(cmd(with_name[i]), &self->s, name);
		name->name[0] = '\0';
		refused(_metadata, self, with_name[i], -EINVAL, "empty", 0);
		memset(name->name, 'x', sizeof(name->name));
		refused(_metadata, self, with_name[i], -EINVAL, "without an end", 0);
		for (unsigned int bit = 0; bit < 8; bit++) {
			name->name[SYNCEVENT_PCI_NAME_MAX] = (char)(1u << bit);
			refused(_metadata, self, with_name[i], -EINVAL, "last byte, bit", bit);
		}
	}
	name->name[0] ^= 1;
	refused(_metadata, self, SYNCEVENT_IOC_IMPORT_NAME, -ENOENT, "another name", 0);
	name->name[strlen(name->name) - 1] = '\0';
	refused(_metadata, self, SYNCEVENT_IOC_IMPORT_NAME, -ENOENT, "part of the name", 0);

	/* The name of one is no other's, and stays what it gives. */
	EXPECT_EQ(-EEXIST, pci_name(other, self->s.name.name, SYNCEVENT_RIGHT_READ));
	EXPECT_EQ(0, pci_name(other, self->s.name.name, 0));
	close(other);
	other = pci_import_name(self->s.name.name, 0);
	EXPECT_LE(0, other);
	EXPECT_EQ(0, se_set(other, SE_SUBJECT_VALUE));
	close(other);
}

/* One right for a blob, and not one that the file lacks. */
TEST_F(region, rights)
{
	struct syncevent_export *export = (void *)self->arg;
	int rw = self->s.fd[SE_ON_EVENT], ro = se_dup(rw, SYNCEVENT_DUP_RDONLY);

	ASSERT_LE(0, ro);
	export->right = 0;
	refused(_metadata, self, SYNCEVENT_IOC_EXPORT, -EINVAL, "right", 0);
	export->right = SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE;
	refused(_metadata, self, SYNCEVENT_IOC_EXPORT, -EINVAL, "both rights", 0);
	self->s.fd[SE_ON_EVENT] = ro;
	export->right = SYNCEVENT_RIGHT_UPDATE;
	refused(_metadata, self, SYNCEVENT_IOC_EXPORT, -EBADF, "read-only", 0);
	self->s.fd[SE_ON_EVENT] = rw;
	close(ro);
}

TEST_F(region, peer)
{
	struct syncevent_pci_peer *peer = (void *)self->arg;
	struct syncevent_pci_info info;

	ASSERT_EQ(0, pci_info(&info));
	memset(peer, 0, sizeof(*peer));
	for (unsigned int bit = 0; bit < 32; bit++) {
		peer->side = 1u << bit;
		if (peer->side >= info.sides)
			refused(_metadata, self, SYNCEVENT_IOC_PCI_PEER, -EINVAL, "side bit", bit);
	}
	peer->side = info.sides;
	refused(_metadata, self, SYNCEVENT_IOC_PCI_PEER, -EINVAL, "side", info.sides);
	peer->side = UINT32_MAX;
	refused(_metadata, self, SYNCEVENT_IOC_PCI_PEER, -EINVAL, "side", UINT32_MAX);
}

TEST_F(region, mmap_arguments)
{
	static const struct {
		size_t length;
		off_t offset;
	} beyond[] = {
		{ 4 * 4096, 0 }, { 3 * 4096, 4096 }, { 4096, 3 * 4096 }, { 4096, 4 * 4096 },
		{ 1 << 21, 0 }, { 4096, (off_t)1 << 30 }, { 2 * 4096, 2 * 4096 },
	};
	int fd = pci_create(0, 2);

	ASSERT_LE(0, fd);
	for (unsigned int i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, beyond[i].length, PROT_READ, MAP_SHARED, fd,
					   beyond[i].offset)) TH_LOG("row %u", i);
		EXPECT_EQ(EINVAL, errno) TH_LOG("row %u", i);
	}
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 4096));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED,
				   self->s.fd[SE_ON_REGION], 0));
	EXPECT_EQ(ENODEV, errno);
	close(fd);
}

/* No descriptor is free, or no event of this user. */
TEST_F(region, limits)
{
	static const unsigned int makers[] = {
		SYNCEVENT_IOC_PCI_CREATE, SYNCEVENT_IOC_IMPORT, SYNCEVENT_IOC_IMPORT_NAME,
	};
	static const char max[] = "/sys/module/syncevent/parameters/events_max";
	struct rlimit few = { .rlim_cur = 0 }, old;
	char standard[16], text[16];

	ASSERT_EQ(0, se_read_text(max, standard, sizeof(standard)));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	few.rlim_max = old.rlim_max;
	for (int i = 0; i < 3; i++) {
		const struct se_cmd *c = cmd(makers[i]);

		se_cmd_valid(c, &self->s, self->arg);
		ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
		EXPECT_EQ(-EMFILE, se_ioctl(self->s.fd[c->on], c->request, self->arg));
		ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));

		snprintf(text, sizeof(text), "%llu", (unsigned long long)se_events());
		ASSERT_EQ(0, se_write_text(max, text));
		refused(_metadata, self, c->request, -EMFILE, "events_max", (unsigned int)i);
		ASSERT_EQ(0, se_write_text(max, standard));
		EXPECT_EQ(0, se_cmd_call(c, &self->s, c->request, self->arg)) TH_LOG("%s", c->name);
	}
}

/* ---- an import of the other side's ---------------------------------------------------- */

/**
 * struct import - an event of side 0, and its import
 * @pair: of machines
 * @blob: of the event, for the other side
 * @fd: the event
 */
FIXTURE(import) {
	struct pci_pair pair;
	struct syncevent_blob *blob;
	int fd;
};

FIXTURE_SETUP(import)
{
	ASSERT_EQ(0, pci_join(&self->pair, 1));
	self->blob = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			  is_owner() ? self->pair.here : self->pair.there, 4096);
	ASSERT_NE(MAP_FAILED, self->blob);
	self->fd = is_owner() ? pci_offer("imported", 0, 0) : pci_await("imported");
	ASSERT_LE(0, self->fd);
	if (is_owner())
		ASSERT_EQ(0, pci_export(self->fd, SYNCEVENT_RIGHT_READ, self->blob));
	/* A machine that has a thread in the way of all others is not dead. */
	ASSERT_EQ(0, pci_peer_timeout("30000"));
	ASSERT_EQ(0, pci_meet(&self->pair));
}

FIXTURE_TEARDOWN(import)
{
	EXPECT_EQ(0, pci_meet(&self->pair));
	EXPECT_EQ(0, pci_peer_timeout("1500"));
	munmap(self->blob, 4096);
	close(self->fd);
	EXPECT_EQ(0, pci_part(&self->pair));
}

/* It is not this side's to give away, to name, to end. */
TEST_F(import, belongs_to_its_creator)
{
	struct syncevent_blob blob;

	if (is_owner())
		return;
	EXPECT_EQ(-EPERM, pci_export(self->fd, SYNCEVENT_RIGHT_READ, &blob));
	EXPECT_EQ(-EPERM, pci_export(self->fd, SYNCEVENT_RIGHT_UPDATE, &blob));
	EXPECT_EQ(-EPERM, pci_name(self->fd, "another", SYNCEVENT_RIGHT_READ));
	EXPECT_EQ(-EPERM, pci_name(self->fd, "another", 0));
	EXPECT_EQ(-EPERM, se_revoke(self->fd));
	EXPECT_EQ(0, se_set(self->fd, 1));
}

/* More than the kernel ends without looking whether another thread wants the CPU. */
#define ENTRIES		2000

/* What the threads of a test wait for. */
static bool close_now, import_now;

static void await(const bool *now)
{
	while (!__atomic_load_n(now, __ATOMIC_ACQUIRE))
		se_sleep_ms(1);
}

static int closer(void *arg)
{
	await(&close_now);
	return close(*(int *)arg) ? -errno : 0;
}

static int import_by_name(void *arg)
{
	await(&import_now);
	return pci_import_name(arg, 0);
}

static int import_by_blob(void *arg)
{
	await(&import_now);
	return pci_import(arg, 0);
}

/* Until both are done, without a moment's sleep. */
static bool spin_until_done(struct se_thread t[2])
{
	uint64_t end = se_patience();

	while (!se_is_done(&t[0]) || !se_is_done(&t[1]))
		if (se_now(CLOCK_MONOTONIC) > end)
			return false;
	return true;
}

/*
 * The thread that closes the last file of an import does not get the CPU again before it has
 * ended all waits: there is the old import for as long, and there can be no new one.
 */
TEST_F(import, has_not_ended)
{
	struct se_thread close_thread, import[2];
	struct pollfd p = { .events = POLLIN };
	cpu_set_t cpu;

	if (is_owner())
		return;
	ASSERT_LE(0, p.fd = se_queue(SYNCEVENT_QUEUE_NONBLOCK));
	for (uint64_t i = 0; i < ENTRIES; i++)
		ASSERT_EQ(0, se_queue_add(p.fd, self->fd, SYNCEVENT_COND_EQ, 1, i, SE_FOREVER));
	ASSERT_EQ(0, se_start(&close_thread, closer, &self->fd));
	ASSERT_EQ(0, se_start(&import[0], import_by_name, "imported"));
	ASSERT_EQ(0, se_start(&import[1], import_by_blob, self->blob));
	CPU_ZERO(&cpu);
	CPU_SET(1, &cpu);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, sched_setaffinity(import[i].tid, sizeof(cpu), &cpu));
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpu), &cpu));

	/* While this one sleeps the other closes, and the first completions wake this one. */
	ASSERT_EQ(0, se_hold(close_thread.tid));
	__atomic_store_n(&close_now, true, __ATOMIC_RELEASE);
	EXPECT_EQ(1, poll(&p, 1, SE_HANG_S * 1000));
	__atomic_store_n(&import_now, true, __ATOMIC_RELEASE);
	EXPECT_TRUE(spin_until_done(import));
	EXPECT_FALSE(se_is_done(&close_thread));
	ASSERT_EQ(0, se_let_go());

	EXPECT_EQ(-EAGAIN, se_join(&import[0]));
	EXPECT_EQ(-EAGAIN, se_join(&import[1]));
	EXPECT_EQ(0, se_join(&close_thread));
	close(p.fd);
	self->fd = pci_import_name("imported", 0);
	EXPECT_LE(0, self->fd);
}

TEST_HARNESS_MAIN
