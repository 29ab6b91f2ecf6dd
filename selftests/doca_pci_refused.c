// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_pci_refused.c - what a PCI device and its kernel refuse: a user without rights, an
 * export without the right to update, a kernel without memory or files, a device that is
 * taken from the driver. Each call says what the documentation says of it.
 *
 * Each side does this on its own device. The other one is there all the while.
 */
#include "doca.h"
#include "doca_ends.h"
#include "pci.h"

#include <grp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <syncevent.h>

#define NOBODY	65534

/* ---- a kernel without memory ------------------------------------------------------------ */

/* Of this program, for the libraries in it as well: one more that waits is refused. */
static unsigned int refused;
static bool refuse;

int ioctl(int fd, unsigned long command, ...)
{
	void *arg;
	va_list rest;

	va_start(rest, command);
	arg = va_arg(rest, void *);
	va_end(rest);
	if (refuse && command == SYNCEVENT_IOC_QUEUE_ADD) {
		refused++;
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_ioctl, fd, command, arg);
}

/* And of the process: nothing is cleared for it. */
static bool refuse_memory;

void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
	if (!refuse_memory)
		return __libc_calloc(n, size);
	errno = ENOMEM;
	return NULL;
}

#define DRIVER	"/sys/bus/pci/drivers/syncevent/"

/* ---- devices ------------------------------------------------------------------------- */

/**
 * struct refusals - this side
 * @dev: its device, at @place
 * @event: on it, and @blob, its export of @size bytes
 */
FIXTURE(refusals)
{
	struct doca_dev *dev;
	char place[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_sync_event *event;
	const uint8_t *blob;
	size_t size;
};

FIXTURE_SETUP(refusals)
{
	ASSERT_LE(0, pci_dev());
	/* Servers want another side. */
	ASSERT_TRUE(se_until(pci_alive(3)));
	doca_server_device = NULL;
	doca_client_device = NULL;
	self->dev = doca_open(NULL);
	ASSERT_TRUE(self->dev);
	OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(self->dev), self->place));
	self->event = make_event(self->dev);
	OK(doca_sync_event_start(self->event));
	OK(doca_sync_event_export_to_remote_pci(self->event, self->dev, &self->blob, &self->size));
}

FIXTURE_TEARDOWN(refusals)
{
	ENDS(doca_sync_event_destroy(self->event));
	/* Wherever the test failed, the next one wants it. */
	if (access(PCI_DEV, F_OK))
		EXPECT_EQ(0, se_write_text(DRIVER "bind", self->place));
	ENDS(doca_dev_close(self->dev));
}

static doca_error_t start_asked(struct async *a, struct doca_dev *dev)
{
	const union doca_data data = { .ptr = &a->seen };

	*a = (struct async){ .dev = dev, .event = make_event(dev) };
	if (!a->event)
		return DOCA_ERROR_NO_MEMORY;
	TRY(doca_pe_create(&a->pe));
	a->ctx = doca_sync_event_as_ctx(a->event);
	TRY(doca_pe_connect_ctx(a->pe, a->ctx));
	TRY(doca_ctx_set_user_data(a->ctx, data));
	return conf_all(a->event, 2);
}

/* A wait for which there is no memory is the program's still, and can be submitted again. */
TEST_F(refusals, no_memory_to_wait)
{
	struct doca_sync_event_task_wait_neq *neq;
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_task *tasks[2];
	struct async a;
	int i;

	OK(start_asked(&a, self->dev));
	refuse = true;
	FAILS(NO_MEMORY, doca_ctx_start(a.ctx));
	refuse = false;
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(a.ctx));
	OK(doca_ctx_start(a.ctx));
	OK(doca_sync_event_task_wait_eq_alloc_init(a.event, 0, SE_ALL, no_data, &eq));
	OK(doca_sync_event_task_wait_neq_alloc_init(a.event, 1, SE_ALL, no_data, &neq));
	tasks[0] = AS_TASK(wait_eq, eq);
	tasks[1] = AS_TASK(wait_neq, neq);
	a.seen.keep = true;
	for (i = 0; i < 2; i++) {
		refuse = true;
		refused = 0;
		FAILS(NO_MEMORY, doca_task_submit(tasks[i]));
		refuse = false;
		ASSERT_EQ(1, refused);
		FAILS(NO_MEMORY, doca_task_get_status(tasks[i]));
		ASSERT_EQ(0, doca_pe_progress(a.pe));
		OK(doca_task_submit(tasks[i]));
		ASSERT_TRUE(progress(a.pe));
		OK(doca_task_get_status(tasks[i]));
		doca_task_free(tasks[i]);
	}
	ASSERT_EQ(0, a.seen.failed);
	OK(doca_ctx_stop(a.ctx));
	OK(doca_sync_event_destroy(a.event));
	OK(doca_pe_destroy(a.pe));
}

TEST_F(refusals, no_memory_for_an_accelerator)
{
	struct doca_dpa *dpa = NULL;

	refuse_memory = true;
	FAILS(NO_MEMORY, doca_dpa_create(self->dev, &dpa));
	refuse_memory = false;
	ASSERT_EQ(NULL, dpa);
	OK(doca_dpa_create(self->dev, &dpa));
	OK(doca_dpa_destroy(dpa));
}

/* ---- rights -------------------------------------------------------------------------------- */

/* Who may read may wait, and is refused the rest. */
TEST_F(refusals, export_to_read)
{
	struct syncevent_attr attr = { .size = sizeof(attr) };
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_task *tasks[2], *wait;
	uint8_t blob[SYNCEVENT_BLOB_MAX];
	struct doca_sync_event *event;
	struct seen seen = { .keep = true };
	struct syncevent *ev;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	uint64_t value = 0;
	int size, i;

	ASSERT_EQ(0, syncevent_pci_get(0, &pci));
	attr.pci = pci.address;
	ASSERT_EQ(0, syncevent_create(&ev, &attr));
	ASSERT_EQ(0, syncevent_set(ev, 3));
	size = syncevent_export(ev, SYNCEVENT_RDONLY, blob, sizeof(blob));
	ASSERT_LT(0, size);
	OK(doca_sync_event_create_from_export(self->dev, blob, (size_t)size, &event));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_get(event, &value));
	ASSERT_EQ(3, value);
	OK(doca_sync_event_wait_eq(event, 3, SE_ALL));
	FAILS(NOT_PERMITTED, doca_sync_event_update_set(event, 1));
	FAILS(NOT_PERMITTED, doca_sync_event_update_add(event, 1, &value));
	OK(doca_sync_event_destroy(event));

	OK(doca_sync_event_create_from_export(self->dev, blob, (size_t)size, &event));
	OK(doca_pe_create(&pe));
	ctx = doca_sync_event_as_ctx(event);
	OK(doca_pe_connect_ctx(pe, ctx));
	OK(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = &seen }));
	OK(conf_all(event, 1));
	OK(doca_ctx_start(ctx));
	OK(doca_sync_event_task_notify_set_alloc_init(event, 1, no_data, &set));
	OK(doca_sync_event_task_notify_add_alloc_init(event, 1, &value, no_data, &add));
	OK(doca_sync_event_task_wait_eq_alloc_init(event, 3, SE_ALL, no_data, &eq));
	tasks[0] = AS_TASK(notify_set, set);
	tasks[1] = AS_TASK(notify_add, add);
	wait = AS_TASK(wait_eq, eq);
	for (i = 0; i < 2; i++) {
		OK(doca_task_submit(tasks[i]));
		ASSERT_TRUE(progress(pe));
		FAILS(NOT_PERMITTED, doca_task_get_status(tasks[i]));
		ASSERT_EQ(i + 1, seen.failed);
	}
	OK(doca_task_submit(wait));
	ASSERT_TRUE(progress(pe));
	OK(doca_task_get_status(wait));
	OK(doca_sync_event_destroy(event));
	OK(doca_pe_destroy(pe));
	ASSERT_EQ(0, syncevent_get(ev, &value));
	ASSERT_EQ(3, value);
	syncevent_close(ev);
}

/* In a process of its own, which is this user's for good. Return: how it ended */
#define AS_NOBODY(what) ({								\
	int __status = -1;								\
	pid_t __pid;									\
											\
	fflush(NULL);									\
	__pid = fork();									\
	if (!__pid) {									\
		alarm(SE_HANG_S);							\
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))		\
			_exit(99);							\
		_exit(what);								\
	}										\
	waitpid(__pid, &__status, 0) == __pid ? __status : -1;				\
})

/* Return: the number of the line that says something else, or 0 */
#define REFUSED(error, call) do {								\
	doca_error_t __result = (call);							\
											\
	if (__result != DOCA_ERROR_##error) {						\
		printf("# line %d: %s\n", __LINE__, doca_error_get_name(__result));	\
		fflush(stdout);								\
		return 1;								\
	}										\
} while (0)

/* What had been opened does not help: it is but a name. */
static int without_rights(FIXTURE_DATA(refusals) *self, struct end *server, struct end *client)
{
	struct doca_sync_event *event = make_event(self->dev);
	struct doca_devinfo_rep **reps;
	struct doca_devinfo **list;
	struct async a;
	uint32_t n;

	REFUSED(NOT_PERMITTED, doca_devinfo_create_list(&list, &n));
	REFUSED(NOT_PERMITTED, doca_devinfo_rep_create_list(self->dev, 0, &reps, &n));
	REFUSED(NOT_PERMITTED, doca_sync_event_start(event));
	if (start_asked(&a, self->dev))
		return 2;
	REFUSED(NOT_PERMITTED, doca_ctx_start(a.ctx));
	REFUSED(NOT_PERMITTED, doca_sync_event_create_from_export(self->dev, self->blob, self->size,
							     &event));
	REFUSED(NOT_PERMITTED, doca_ctx_start(server->ctx));
	REFUSED(NOT_PERMITTED, doca_ctx_start(client->ctx));
	return 0;
}

TEST_F(refusals, user_without_rights)
{
	struct end server = { 0 }, client = { 0 };

	OK(end_make_server(&server, "rights", 1));
	OK(end_make_client(&client, "rights", 1));
	ASSERT_EQ(0, AS_NOBODY(without_rights(self, &server, &client)));
	/* They are what was refused, not all. */
	OK(doca_ctx_start(server.ctx));
	OK(doca_ctx_stop(server.ctx));
	OK(end_destroy(&client));
	OK(end_destroy(&server));
}

/* ---- files ----------------------------------------------------------------------------- */

/* Root gets more than there are. */
static int without_files(FIXTURE_DATA(refusals) *self)
{
	struct doca_sync_event *event = make_event(self->dev);
	struct doca_devinfo_rep **reps;
	struct doca_devinfo **list;
	struct doca_pe *pe;
	uint32_t n;

	REFUSED(OPERATING_SYSTEM, doca_pe_create(&pe));
	REFUSED(OPERATING_SYSTEM, doca_sync_event_start(event));
	REFUSED(OPERATING_SYSTEM, doca_sync_event_create_from_export(self->dev, self->blob,
								     self->size, &event));
	REFUSED(OPERATING_SYSTEM, doca_devinfo_create_list(&list, &n));
	REFUSED(OPERATING_SYSTEM, doca_devinfo_rep_create_list(self->dev, 0, &reps, &n));
	return 0;
}

TEST_F(refusals, machine_without_files)
{
	char before[32] = "";
	struct stat st;
	int status;

	ASSERT_EQ(0, se_read_text("/proc/sys/fs/file-max", before, sizeof(before)));
	ASSERT_EQ(0, stat(PCI_DEV, &st));
	ASSERT_EQ(0, chmod(PCI_DEV, 0666));
	ASSERT_EQ(0, se_write_text("/proc/sys/fs/file-max", "0"));
	status = AS_NOBODY(without_files(self));
	EXPECT_EQ(0, se_write_text("/proc/sys/fs/file-max", before));
	EXPECT_EQ(0, chmod(PCI_DEV, st.st_mode & 07777));
	EXPECT_EQ(0, status);
}

/* ---- a device that is taken away ------------------------------------------------------------ */

/* All that was made with it has ended; nothing new can be made until it is back. */
static void without_device(struct __test_metadata *_metadata, FIXTURE_DATA(refusals) *self,
			   struct end *server, struct end *client, struct async *a)
{
	struct doca_sync_event *event = make_event(self->dev);
	struct doca_devinfo_rep **reps;
	struct async b;
	uint64_t value;
	uint32_t n;

	FAILS(SHUTDOWN, doca_sync_event_get(self->event, &value));
	FAILS(SHUTDOWN, doca_sync_event_update_set(self->event, 1));
	FAILS(SHUTDOWN, doca_sync_event_wait_eq(self->event, 7, SE_ALL));
	ASSERT_TRUE(progress_until(a->pe, a->seen.failed));
	FAILS(SHUTDOWN, doca_task_get_status(a->seen.task));
	/* The server stops by itself. */
	ASSERT_TRUE(progress_until(server->pe, end_state_of(server) == DOCA_CTX_STATE_IDLE));

	FAILS(NOT_FOUND, doca_sync_event_start(event));
	FAILS(NOT_FOUND, doca_sync_event_create_from_export(self->dev, self->blob, self->size,
							    &event));
	OK(doca_sync_event_destroy(event));
	OK(start_asked(&b, self->dev));
	FAILS(NOT_FOUND, doca_ctx_start(b.ctx));
	OK(doca_sync_event_destroy(b.event));
	OK(doca_pe_destroy(b.pe));
	FAILS(NOT_FOUND, doca_devinfo_rep_create_list(self->dev, 0, &reps, &n));
	FAILS(NOT_FOUND, doca_ctx_start(server->ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(server));
	FAILS(NOT_FOUND, doca_ctx_start(client->ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(client));
}

/* The last case: the other side may have been through all of its own. */
TEST_F(refusals, device_unbound)
{
	struct doca_sync_event_task_wait_eq *eq;
	struct end server = { 0 }, client = { 0 };
	struct pci_pair pair = { .step = 0 };
	struct async a;

	ASSERT_EQ(0, pci_join(&pair, 0));
	OK(end_make_server(&server, "unbound", 1));
	OK(end_make_client(&client, "unbound", 1));
	OK(start_asked(&a, self->dev));
	ASSERT_EQ(0, pci_part(&pair));
	pci_dev_close();
	OK(doca_ctx_start(server.ctx));
	OK(doca_ctx_start(a.ctx));
	a.seen.keep = true;
	OK(doca_sync_event_task_wait_eq_alloc_init(a.event, 7, SE_ALL, no_data, &eq));
	OK(doca_task_submit(AS_TASK(wait_eq, eq)));

	ASSERT_EQ(0, se_write_text(DRIVER "unbind", self->place));
	ASSERT_TRUE(se_until(access(PCI_DEV, F_OK)));
	without_device(_metadata, self, &server, &client, &a);
	doca_task_free(AS_TASK(wait_eq, eq));
	OK(doca_ctx_stop(a.ctx));
	OK(doca_sync_event_destroy(a.event));
	OK(doca_pe_destroy(a.pe));
	OK(doca_sync_event_destroy(self->event));

	ASSERT_EQ(0, se_write_text(DRIVER "bind", self->place));
	ASSERT_TRUE(se_until(!access(PCI_DEV, F_OK)));
	/* The device is as good as before, and all that was made by its name. */
	self->event = make_event(self->dev);
	ASSERT_TRUE(se_until(!doca_sync_event_start(self->event)));
	OK(doca_ctx_start(server.ctx));
	OK(doca_ctx_stop(server.ctx));
	OK(end_destroy(&server));
	OK(end_destroy(&client));
}

TEST_HARNESS_MAIN
