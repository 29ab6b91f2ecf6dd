/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Every ioctl as data, for the tests that go over all of them: what it is called
 * on, arguments that it takes, and what must not have changed when it refused.
 *
 * In a guest that has a region (SE_SIDE is set) they go over those of its device as
 * well, and the event that all are tried on lies in it.
 */
#ifndef SELFTESTS_IOCTLS_H
#define SELFTESTS_IOCTLS_H

#include <stddef.h>

#include "pci.h"

enum se_kind { SE_ON_DEV, SE_ON_EVENT, SE_ON_QUEUE, SE_ON_REGION, SE_KINDS };

/**
 * struct se_cmd - one ioctl
 * @flags: fields of flags: offset and the bits that mean something
 * @reserved: offset of the four reserved bytes, 0 if there are none
 * @cond: offset of the condition, 0 if there is none
 * @updates: needs the right to update
 * @lives: works on a revoked event
 * @ok: what it returns for se_cmd_valid(): 0, or an errno that shows that the
 *      arguments passed; a new file descriptor counts as 0. See se_cmd_ok()
 */
struct se_cmd {
	const char *name;
	unsigned int request;
	enum se_kind on;
	struct {
		unsigned int offset;
		uint32_t known;
	} flags[3];
	unsigned int reserved;
	unsigned int cond;
	bool updates;
	bool lives;
	bool makes_fd;
	int ok;
};

#define SE_CMD(n)	.name = #n, .request = SYNCEVENT_IOC_##n
#define SE_FLAGS(type, field, mask)	{ offsetof(struct type, field), mask }

static const struct se_cmd se_cmds[] = {
	{ SE_CMD(CREATE), .on = SE_ON_DEV, .makes_fd = true,
	  .flags = { SE_FLAGS(syncevent_create, flags, SYNCEVENT_CREATE_SILENT |
			      SYNCEVENT_CREATE_NONBLOCK),
		     SE_FLAGS(syncevent_create, publishers, SYNCEVENT_LOC_ALL),
		     SE_FLAGS(syncevent_create, subscribers, SYNCEVENT_LOC_ALL) },
	  .reserved = offsetof(struct syncevent_create, reserved) },
	{ SE_CMD(WAIT_MANY), .on = SE_ON_DEV,
	  .flags = { SE_FLAGS(syncevent_wait_many, flags, SYNCEVENT_WAIT_REALTIME |
			      SYNCEVENT_WAIT_ALL) },
	  .reserved = offsetof(struct syncevent_wait_many, reserved) },
	{ SE_CMD(QUEUE), .on = SE_ON_DEV, .makes_fd = true,
	  .flags = { SE_FLAGS(syncevent_queue_create, flags, SYNCEVENT_QUEUE_NONBLOCK) },
	  .reserved = offsetof(struct syncevent_queue_create, reserved) },
	{ SE_CMD(DEV_INFO), .on = SE_ON_DEV },
	{ SE_CMD(GET), .on = SE_ON_EVENT },
	{ SE_CMD(SET), .on = SE_ON_EVENT, .updates = true },
	{ SE_CMD(ADD), .on = SE_ON_EVENT, .updates = true },
	{ SE_CMD(RING), .on = SE_ON_EVENT, .updates = true },
	{ SE_CMD(WAIT), .on = SE_ON_EVENT,
	  .flags = { SE_FLAGS(syncevent_wait, flags, SYNCEVENT_WAIT_REALTIME) },
	  .cond = offsetof(struct syncevent_wait, cond) },
	{ SE_CMD(ARM), .on = SE_ON_EVENT,
	  .flags = { SE_FLAGS(syncevent_arm, flags, SYNCEVENT_ARM_CLEAR) },
	  .cond = offsetof(struct syncevent_arm, cond) },
	{ SE_CMD(DUP), .on = SE_ON_EVENT, .makes_fd = true,
	  .flags = { SE_FLAGS(syncevent_dup, flags, SYNCEVENT_DUP_RDONLY |
			      SYNCEVENT_DUP_NONBLOCK) },
	  .reserved = offsetof(struct syncevent_dup, reserved) },
	{ SE_CMD(INFO), .on = SE_ON_EVENT, .lives = true },
	{ SE_CMD(REVOKE), .on = SE_ON_EVENT, .updates = true },
	{ SE_CMD(SETUP), .on = SE_ON_EVENT, .updates = true, .ok = -EBUSY,
	  .flags = { SE_FLAGS(syncevent_create, flags, SYNCEVENT_CREATE_SILENT),
		     SE_FLAGS(syncevent_create, publishers, SYNCEVENT_LOC_ALL),
		     SE_FLAGS(syncevent_create, subscribers, SYNCEVENT_LOC_ALL) },
	  .reserved = offsetof(struct syncevent_create, reserved) },
	/* Of an event in no region. */
	{ SE_CMD(EXPORT), .on = SE_ON_EVENT, .ok = -EOPNOTSUPP,
	  .flags = { SE_FLAGS(syncevent_export, right, SYNCEVENT_RIGHT_READ |
			      SYNCEVENT_RIGHT_UPDATE) },
	  .reserved = offsetof(struct syncevent_export, reserved) },
	{ SE_CMD(EXPORT_NAME), .on = SE_ON_EVENT, .updates = true, .ok = -EOPNOTSUPP,
	  .flags = { SE_FLAGS(syncevent_pci_name, rights, SYNCEVENT_RIGHT_READ |
			      SYNCEVENT_RIGHT_UPDATE) },
	  .reserved = offsetof(struct syncevent_pci_name, flags) },
	{ SE_CMD(QUEUE_ADD), .on = SE_ON_QUEUE,
	  .flags = { SE_FLAGS(syncevent_queue_add, flags, SYNCEVENT_WAIT_REALTIME) },
	  .reserved = offsetof(struct syncevent_queue_add, reserved),
	  .cond = offsetof(struct syncevent_queue_add, cond) },
	{ SE_CMD(QUEUE_CANCEL), .on = SE_ON_QUEUE, .ok = -ENOENT },
	/* Last: not every guest has a region. */
	{ SE_CMD(PCI_CREATE), .on = SE_ON_REGION, .makes_fd = true,
	  .flags = { SE_FLAGS(syncevent_pci_create, flags, SYNCEVENT_CREATE_SILENT |
			      SYNCEVENT_CREATE_NONBLOCK),
		     SE_FLAGS(syncevent_pci_create, publishers, SYNCEVENT_LOC_ALL),
		     SE_FLAGS(syncevent_pci_create, subscribers, SYNCEVENT_LOC_ALL) },
	  .reserved = offsetof(struct syncevent_pci_create, reserved) },
	{ SE_CMD(IMPORT), .on = SE_ON_REGION, .makes_fd = true,
	  .flags = { SE_FLAGS(syncevent_import, flags, SYNCEVENT_DUP_RDONLY |
			      SYNCEVENT_DUP_NONBLOCK) },
	  .reserved = offsetof(struct syncevent_import, reserved) },
	{ SE_CMD(IMPORT_NAME), .on = SE_ON_REGION, .makes_fd = true,
	  .flags = { SE_FLAGS(syncevent_pci_name, flags, SYNCEVENT_DUP_RDONLY |
			      SYNCEVENT_DUP_NONBLOCK) },
	  .reserved = offsetof(struct syncevent_pci_name, rights) },
	{ SE_CMD(PCI_INFO), .on = SE_ON_REGION },
	{ SE_CMD(PCI_PEER), .on = SE_ON_REGION,
	  .reserved = offsetof(struct syncevent_pci_peer, reserved) },
};

static inline bool se_in_region(void)
{
	return getenv("SE_SIDE");
}

static inline int se_kinds(void)
{
	return se_in_region() ? SE_KINDS : SE_ON_REGION;
}

/* How many of them this guest has. */
static inline unsigned int se_n_cmds(void)
{
	unsigned int n = sizeof(se_cmds) / sizeof(se_cmds[0]);

	while ((int)se_cmds[n - 1].on >= se_kinds())
		n--;
	return n;
}

#define se_for_each_cmd(c) \
	for (const struct se_cmd *c = se_cmds; c < se_cmds + se_n_cmds(); c++)

/* The arguments of every ioctl fit. */
#define SE_ARG_MAX	128

static inline unsigned int se_cmd_size(const struct se_cmd *c)
{
	return _IOC_SIZE(c->request);
}

static inline bool se_cmd_reads(const struct se_cmd *c)
{
	return _IOC_DIR(c->request) & _IOC_WRITE;
}

static inline bool se_cmd_answers(const struct se_cmd *c)
{
	return _IOC_DIR(c->request) & _IOC_READ;
}

/* What it returns for se_cmd_valid() here. */
static inline int se_cmd_ok(const struct se_cmd *c)
{
	return se_in_region() && c->ok == -EOPNOTSUPP ? 0 : c->ok;
}

/**
 * struct se_subject - one of each thing an ioctl works on
 * @fd: by enum se_kind; the event's value is SE_SUBJECT_VALUE
 * @entry: what a WAIT_MANY of se_cmd_valid() points to
 * @name: of the event, in a region
 * @blob: of the event, in a region
 */
struct se_subject {
	int fd[SE_KINDS];
	struct syncevent_wait_entry entry;
	struct syncevent_pci_name name;
	struct syncevent_blob blob;
};

#define SE_SUBJECT_VALUE	5
#define SE_SUBJECT_COOKIE	0x5eed

/* An event in the region, which can be imported: by the other side as well. */
static inline int se_subject_in_region(struct se_subject *s)
{
	int fd, ret;

	if (!se_until(pci_alive(1ULL << my_side())))
		return -ENODEV;
	s->name = (struct syncevent_pci_name) {
		.rights = SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE,
	};
	snprintf(s->name.name, sizeof(s->name.name), "subject-%u-%d", my_side(), getpid());
	fd = pci_offer(s->name.name, SE_SUBJECT_VALUE, 0);
	if (fd < 0)
		return fd;
	ret = pci_export(fd, SYNCEVENT_RIGHT_UPDATE, &s->blob);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static inline int se_subject_open(struct se_subject *s)
{
	s->fd[SE_ON_DEV] = se_dev();
	s->fd[SE_ON_EVENT] = se_in_region() ? se_subject_in_region(s) :
			     se_create(SE_SUBJECT_VALUE);
	s->fd[SE_ON_QUEUE] = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	s->fd[SE_ON_REGION] = pci_dev_fd;
	for (int i = 0; i < se_kinds(); i++)
		if (s->fd[i] < 0)
			return s->fd[i];
	return 0;
}

static inline void se_subject_close(struct se_subject *s)
{
	close(s->fd[SE_ON_QUEUE]);
	close(s->fd[SE_ON_EVENT]);
	if (se_in_region())
		pci_dev_close();
}

/* Arguments with which @c returns c->ok and leaves all as it was. */
static inline void se_cmd_valid(const struct se_cmd *c, struct se_subject *s, void *arg)
{
	int event = s->fd[SE_ON_EVENT];

	memset(arg, 0, se_cmd_size(c));
	switch (c->request) {
	case SYNCEVENT_IOC_WAIT_MANY:
		s->entry = se_entry(event, SYNCEVENT_COND_EQ, SE_SUBJECT_VALUE);
		*(struct syncevent_wait_many *)arg = (struct syncevent_wait_many) {
			.entries = (uintptr_t)&s->entry, .count = 1,
			.index = SE_POISON32,
		};
		break;
	case SYNCEVENT_IOC_SET:
		((struct syncevent_value *)arg)->value = SE_SUBJECT_VALUE;
		break;
	case SYNCEVENT_IOC_ADD:
		((struct syncevent_add *)arg)->old = SE_POISON64;
		break;
	case SYNCEVENT_IOC_WAIT:
		*(struct syncevent_wait *)arg = (struct syncevent_wait) {
			.operand = SE_SUBJECT_VALUE, .mask = SE_ALL,
			.value = SE_POISON64, .cond = SYNCEVENT_COND_EQ,
		};
		break;
	case SYNCEVENT_IOC_ARM:
		*(struct syncevent_arm *)arg = (struct syncevent_arm) {
			.operand = SE_SUBJECT_VALUE, .mask = SE_ALL,
			.cond = SYNCEVENT_COND_GT,
		};
		break;
	case SYNCEVENT_IOC_EXPORT:
		((struct syncevent_export *)arg)->right = SYNCEVENT_RIGHT_READ;
		break;
	case SYNCEVENT_IOC_EXPORT_NAME:
		if (se_in_region())
			*(struct syncevent_pci_name *)arg = s->name;
		else
			strcpy(((struct syncevent_pci_name *)arg)->name, "name");
		break;
	case SYNCEVENT_IOC_PCI_CREATE:
		((struct syncevent_pci_create *)arg)->home = SYNCEVENT_PCI_HOME_ANY;
		break;
	case SYNCEVENT_IOC_IMPORT:
		((struct syncevent_import *)arg)->blob = s->blob;
		break;
	case SYNCEVENT_IOC_IMPORT_NAME:
		memcpy(arg, s->name.name, sizeof(s->name.name));
		break;
	case SYNCEVENT_IOC_QUEUE_ADD:
		*(struct syncevent_queue_add *)arg = (struct syncevent_queue_add) {
			.cookie = SE_SUBJECT_COOKIE, .operand = SE_SUBJECT_VALUE,
			.mask = SE_ALL, .deadline = SE_FOREVER, .fd = event,
			.cond = SYNCEVENT_COND_GT,
		};
		break;
	}
}

static inline uint64_t se_events(void)
{
	struct syncevent_dev_info d = { .abi = 0 };

	se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &d);
	return d.events;
}

/*
 * Closed. Its event is gone with that, but in a region the kernel's own look at all slots,
 * in each tick, may be what held it last.
 */
static inline void se_until_events(uint64_t before)
{
	if (se_in_region())
		se_until(se_events() == before);
}

/* Call it, and take back what it made: 0 or a negative errno. */
static inline int se_cmd_call(const struct se_cmd *c, struct se_subject *s,
			      unsigned int request, void *arg)
{
	uint64_t events = se_events();
	int ret = se_ioctl(s->fd[c->on], request, arg);

	if (ret >= 0 && c->makes_fd) {
		close(ret);
		ret = 0;
	}
	se_until_events(events);
	if (!ret && c->request == SYNCEVENT_IOC_QUEUE_ADD)
		ret = se_queue_cancel(s->fd[SE_ON_QUEUE], SE_SUBJECT_COOKIE);
	return ret;
}

/* Its request number with another size. */
static inline unsigned int se_cmd_resize(const struct se_cmd *c, unsigned int size)
{
	return _IOC(_IOC_DIR(c->request), _IOC_TYPE(c->request), _IOC_NR(c->request), size);
}

/* ---- what a refused call must leave alone ---------------------------------------- */

struct se_state {
	uint64_t events;	/* of this user */
	uint64_t entries;
	uint64_t value;
	uint64_t rings;
	uint64_t wakes;
	uint32_t waiters;
	uint32_t info_flags;
	int lowest_free_fd;
};

static inline void se_state_get(const struct se_subject *s, struct se_state *st)
{
	struct syncevent_dev_info d = { .abi = 0 };
	struct syncevent_info i = { .id = 0 };

	memset(st, 0, sizeof(*st));
	se_ioctl(s->fd[SE_ON_DEV], SYNCEVENT_IOC_DEV_INFO, &d);
	se_ioctl(s->fd[SE_ON_EVENT], SYNCEVENT_IOC_INFO, &i);
	st->events = d.events;
	st->entries = d.entries;
	st->value = i.value;
	st->rings = i.rings;
	st->wakes = i.wakes;
	st->waiters = i.waiters;
	st->info_flags = i.flags;
	st->lowest_free_fd = fcntl(s->fd[SE_ON_DEV], F_DUPFD_CLOEXEC, 0);
	close(st->lowest_free_fd);
}

/* What a test must leave as it found it, once it has closed all that it opened. */
struct se_held {
	uint64_t events;	/* of this user */
	uint64_t entries;
	uint32_t slots;		/* of the region, for this side */
	int fds;
};

/* Slots in use, by a file of its own: it is counted among none. */
static inline uint32_t se_slots(void)
{
	struct syncevent_pci_info info = { .slots_used = 0 };
	int fd;

	if (!se_in_region())
		return 0;
	fd = open(PCI_DEV, O_RDWR | O_CLOEXEC);
	if (fd < 0 || se_ioctl(fd, SYNCEVENT_IOC_PCI_INFO, &info))
		info.slots_used = UINT32_MAX;
	close(fd);
	return info.slots_used;
}

static inline struct se_held se_held(void)
{
	struct syncevent_dev_info d = { .abi = 0 };
	struct se_held held = { .slots = 0 };

	se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &d);
	held.events = d.events;
	held.entries = d.entries;
	held.slots = se_slots();
	for (int fd = 0; fd < 4096; fd++)
		held.fds += fcntl(fd, F_GETFD) >= 0;
	return held;
}

/* A file that a call has not let go keeps its event, with no descriptor to tell. */
static inline void se_nothing_held(struct __test_metadata *_metadata, struct se_held before)
{
	struct se_held now;

	/* A slot is free once the other side has let go of it; so is what was there before. */
	EXPECT_TRUE(se_until(se_slots() <= before.slots));
	now = se_held();
	EXPECT_EQ(before.fds, now.fds);
	EXPECT_EQ(before.events, now.events);
	EXPECT_EQ(before.entries, now.entries);
}

static inline void se_same_state(struct __test_metadata *_metadata,
				 const struct se_state *a, const struct se_state *b,
				 const char *name, const char *what, unsigned long n)
{
	ASSERT_EQ(a->events, b->events) TH_LOG("%s: %s %lu: events leaked", name, what, n);
	ASSERT_EQ(a->entries, b->entries) TH_LOG("%s: %s %lu: entries leaked", name, what, n);
	ASSERT_EQ(a->waiters, b->waiters) TH_LOG("%s: %s %lu: waiters leaked", name, what, n);
	ASSERT_EQ(a->lowest_free_fd, b->lowest_free_fd)
		TH_LOG("%s: %s %lu: a file descriptor leaked", name, what, n);
	ASSERT_EQ(a->value, b->value) TH_LOG("%s: %s %lu: value changed", name, what, n);
	ASSERT_EQ(a->rings, b->rings) TH_LOG("%s: %s %lu: it rang", name, what, n);
	ASSERT_EQ(a->wakes, b->wakes) TH_LOG("%s: %s %lu: it woke", name, what, n);
	ASSERT_EQ(a->info_flags, b->info_flags) TH_LOG("%s: %s %lu: revoked", name, what, n);
}

/*
 * The call on @fd fails with @err, leaves the @size bytes at @arg (0 if they
 * cannot be read) and all else as it was. @what and @n say what was tried.
 */
static inline void se_refused(struct __test_metadata *_metadata, const struct se_subject *s,
			      const struct se_cmd *c, int fd, unsigned int request,
			      void *arg, size_t size, int err, const char *what,
			      unsigned long n)
{
	static unsigned char before[2 * 4096];
	struct se_state old, new;

	if (size)
		memcpy(before, arg, size);
	se_state_get(s, &old);
	ASSERT_EQ(err, se_ioctl(fd, request, arg)) TH_LOG("%s: %s %lu", c->name, what, n);
	se_state_get(s, &new);
	se_same_state(_metadata, &old, &new, c->name, what, n);
	if (size) {
		ASSERT_EQ(0, memcmp(before, arg, size))
			TH_LOG("%s: %s %lu: it wrote to its argument", c->name, what, n);
	}
}

#endif /* SELFTESTS_IOCTLS_H */
