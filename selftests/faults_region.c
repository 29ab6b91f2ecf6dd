// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Allocations that fail in the calls of a region, and in those on events that lie in one:
 * faults.h says what is expected of them. Slots and their pages come back, too.
 */
#include "faults.h"

static int op_create(struct _test_data_faults *self)
{
	(void)self;
	return pci_create(1, 0);
}

static int op_create_pages(struct _test_data_faults *self)
{
	(void)self;
	return pci_create(1, 2);
}

TEST_F(faults, create)
{
	/* At the least: slot, inode, event, dentry, file. */
	every_fault(_metadata, self, "PCI_CREATE", 5, NULL, op_create, close_result);
	every_fault(_metadata, self, "PCI_CREATE, pages", 5, NULL, op_create_pages, close_result);
}

static int op_import(struct _test_data_faults *self)
{
	return pci_import(&self->s.blob, 0);
}

static int op_import_name(struct _test_data_faults *self)
{
	return pci_import_name(self->s.name.name, 0);
}

TEST_F(faults, import_of_an_own_event)
{
	every_fault(_metadata, self, "IMPORT, own", 5, NULL, op_import, close_result);
	every_fault(_metadata, self, "IMPORT_NAME, own", 5, NULL, op_import_name, close_result);
}

/* EXPORT, EXPORT_NAME, PCI_INFO, PCI_PEER */
TEST_F(faults, those_that_make_nothing)
{
	se_for_each_cmd(c) {
		if (c->makes_fd || (c->on != SE_ON_REGION && c->request != SYNCEVENT_IOC_EXPORT &&
				    c->request != SYNCEVENT_IOC_EXPORT_NAME))
			continue;
		self->extra = (int)(c - se_cmds);
		EXPECT_EQ(0, every_fault(_metadata, self, c->name, 0, NULL, op_by_table, NULL));
	}
}

static int op_open_device(struct _test_data_faults *self)
{
	int fd = open(PCI_DEV, O_RDWR | O_CLOEXEC);

	(void)self;
	return fd < 0 ? -errno : fd;
}

TEST_F(faults, open_device)
{
	every_fault(_metadata, self, "open", 1, NULL, op_open_device, close_result);
}

/* ---- the other side's event -------------------------------------------------------------- */

/**
 * struct theirs - what the test of imports has beside its fixture
 * @pair: of machines
 * @mine: an event for the other side, with a page
 * @own: the subject's, meanwhile
 */
struct theirs {
	struct pci_pair pair;
	int mine;
	int own;
};

static int await_theirs(struct theirs *t, struct se_subject *s)
{
	char mine[16];
	int ret = pci_join(&t->pair, 0);

	if (ret)
		return ret;
	/* Debug kernels are slow: none of them is dead. */
	ret = pci_peer_timeout("30000");
	snprintf(mine, sizeof(mine), "theirs-%u", my_side());
	snprintf(s->name.name, sizeof(s->name.name), "theirs-%u", !my_side());
	t->mine = pci_offer(mine, SE_SUBJECT_VALUE, 1);
	t->own = s->fd[SE_ON_EVENT];
	return ret ?: t->mine < 0 ? t->mine : pci_meet(&t->pair);
}

static int leave_theirs(struct theirs *t)
{
	int ret = pci_meet(&t->pair);

	close(t->mine);
	return ret ?: pci_part(&t->pair) ?: pci_peer_timeout("1500");
}

static int op_import_theirs(struct _test_data_faults *self)
{
	return pci_import_name(self->s.name.name, 0);
}

static int before_on_theirs(struct _test_data_faults *self)
{
	self->extra = op_import_theirs(self);
	return self->extra < 0 ? self->extra : 0;
}

TEST_F(faults, import)
{
	struct theirs t;
	int held;

	ASSERT_EQ(0, await_theirs(&t, &self->s));
	every_fault(_metadata, self, "IMPORT_NAME", 5, NULL, op_import_theirs, close_result);
	every_fault(_metadata, self, "poll", 1, before_on_theirs, op_poll, close_extra);
	every_fault(_metadata, self, "epoll", 1, before_on_theirs, op_epoll, close_extra);

	held = op_import_theirs(self);
	ASSERT_LE(0, held);
	every_fault(_metadata, self, "IMPORT_NAME again", 5, NULL, op_import_theirs, close_result);
	self->s.fd[SE_ON_EVENT] = held;
	every_fault(_metadata, self, "QUEUE_ADD", 1, NULL, op_queue_add, cancel_entry);
	every_fault(_metadata, self, "WAIT", 0, NULL, op_wait, NULL);
	every_fault(_metadata, self, "DUP", 2, NULL, op_dup, close_result);
	self->s.fd[SE_ON_EVENT] = t.own;
	close(held);
	EXPECT_EQ(0, leave_theirs(&t));
}

/* ---- mappings ------------------------------------------------------------------------------ */

/* The cell and the page behind it. */
static int op_map_both(struct _test_data_faults *self)
{
	char *p = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->extra, 0);
	int ret;

	self->mem = NULL;
	if (p == MAP_FAILED)
		return -errno;
	self->mem = p + 4096;
	ret = touch(self, true);
	self->mem = p;
	return touch(self, true) ?: ret;
}

static void after_map_both(struct _test_data_faults *self, int result)
{
	if (self->mem && munmap((char *)self->mem + 4096, 4096))
		abort();
	after_map(self, result);
}

TEST_F(faults, mmap_and_first_touch)
{
	ASSERT_NE(SIG_ERR, signal(SIGBUS, sigbus));
	every_fault(_metadata, self, "mmap and touch", 1, before_map, op_map_both, after_map_both);
}

TEST_F(faults, first_touch_after_revoke)
{
	ASSERT_NE(SIG_ERR, signal(SIGBUS, sigbus));
	every_fault(_metadata, self, "touch after REVOKE", 0, before_touch_revoked,
		    op_touch_revoked, after_touch_revoked);
}

TEST_F(faults, revoke)
{
	EXPECT_EQ(0, every_fault(_metadata, self, "REVOKE", 0, before_revoke, op_revoke,
				 unmap_and_close));
}

TEST_HARNESS_MAIN
