// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_refused.c - what the kernel refuses, and what DOCA's calls make of it: no memory,
 * no file of this process or of the machine. Nothing has changed then, and the same call
 * succeeds when there is room again.
 *
 * The system calls that make files, and send(2), are this program's, for the libraries in
 * it as well: any of them fails when it is told to. doca_pci_refused.c has the kernel's own.
 */
#include "doca.h"
#include "doca_ends.h"

#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

/* ---- system calls --------------------------------------------------------------------- */

/**
 * struct refusal - what is refused
 * @error: errno; 0: nothing
 * @after: so many calls are not
 * @calls: that were refused
 */
struct refusal {
	int error;
	unsigned int after;
	unsigned int calls;
};

static struct refusal files, sends, connects;

static bool refuses(struct refusal *refusal)
{
	if (!refusal->error || (refusal->after && refusal->after--))
		return false;
	refusal->calls++;
	errno = refusal->error;
	return true;
}

int epoll_create1(int flags)
{
	return refuses(&files) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

int eventfd(unsigned int count, int flags)
{
	return refuses(&files) ? -1 : (int)syscall(SYS_eventfd2, count, flags);
}

int memfd_create(const char *name, unsigned int flags)
{
	return refuses(&files) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int socket(int domain, int type, int protocol)
{
	return refuses(&files) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	return refuses(&connects) ? -1 : (int)syscall(SYS_connect, fd, address, size);
}

int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list rest;

	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	return refuses(&files) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
	return refuses(&sends) ? -1 : syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
}

/* ---- files ---------------------------------------------------------------------------- */

/*
 * Have each file that @call makes be the one that cannot be had, then it succeeds. The
 * process has no more, or the machine.
 */
#define EACH_FILE_FAILS(call) do {							\
	const int __open = count_fds();							\
	unsigned int __n;								\
	doca_error_t __r;								\
											\
	for (__n = 0; ; __n++) {							\
		files = (struct refusal){ .error = EMFILE, .after = __n };		\
		__r = (call);								\
		if (!files.calls)							\
			break;								\
		FAILS(NO_MEMORY, __r);							\
		ASSERT_EQ(__open, count_fds());						\
		files = (struct refusal){ .error = ENFILE, .after = __n };		\
		__r = (call);								\
		FAILS(OPERATING_SYSTEM, __r);						\
		ASSERT_EQ(__open, count_fds());						\
	}										\
	files.error = 0;								\
	ASSERT_TRUE(__r == DOCA_SUCCESS || __r == DOCA_ERROR_IN_PROGRESS);		\
	/* It does make some. */							\
	ASSERT_LT(0, __n);								\
} while (0)

TEST(no_files)
{
	struct end server = { 0 }, client = { 0 };
	struct doca_sync_event *event, *import;
	struct async a;
	struct doca_pe *pe;
	const uint8_t *blob;
	size_t size;

	doca_own_domain();
	/* The library's thread, and what it needs, is there. */
	OK(async_start(&a, 1));
	EACH_FILE_FAILS(doca_pe_create(&pe));
	OK(doca_pe_destroy(pe));

	event = make_event(a.dev);
	EACH_FILE_FAILS(doca_sync_event_start(event));
	OK(doca_sync_event_destroy(event));
	OK(doca_sync_event_export_to_remote_pci(a.event, a.dev, &blob, &size));
	EACH_FILE_FAILS(doca_sync_event_create_from_export(a.dev, blob, size, &import));
	OK(doca_sync_event_destroy(import));

	OK(end_make_server(&server, "files", 1));
	EACH_FILE_FAILS(doca_ctx_start(server.ctx));
	OK(end_make_client(&client, "files", 1));
	EACH_FILE_FAILS(doca_ctx_start(client.ctx));
	end_drain(&server);
	end_drain(&client);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&client));
	OK(ends_destroy(&server, &client));
	OK(async_end(&a));
}

/* An engine keeps the queue that a context has it make, an event what it is. */
TEST(no_files_for_a_context)
{
	struct async a;
	unsigned int n;
	int open_files;

	for (n = 0; ; n++) {
		OK(async_make(&a, 1));
		files = (struct refusal){ .error = EMFILE, .after = n };
		if (!doca_ctx_start(a.ctx))
			break;
		files.after = 0;
		FAILS(NO_MEMORY, doca_ctx_start(a.ctx));
		files.error = ENFILE;
		FAILS(OPERATING_SYSTEM, doca_ctx_start(a.ctx));
		files.error = 0;
		OK(doca_ctx_start(a.ctx));
		OK(async_end(&a));
		/* The library's thread has its own from the first start on. */
		if (!n)
			open_files = count_fds();
		ASSERT_EQ(open_files, count_fds());
	}
	ASSERT_LT(0, n);
	files.error = 0;
	OK(async_end(&a));
}

/* A process that really has no more. */
TEST(no_more_files)
{
	struct doca_sync_event *event, *import;
	struct doca_pe *pe;
	struct rlimit limit, before;
	const uint8_t *blob;
	struct async a;
	size_t size;

	OK(async_start(&a, 1));
	OK(doca_sync_event_export_to_remote_pci(a.event, a.dev, &blob, &size));
	event = make_event(a.dev);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	limit = before;
	limit.rlim_cur = 3;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	FAILS(NO_MEMORY, doca_pe_create(&pe));
	FAILS(NO_MEMORY, doca_sync_event_start(event));
	FAILS(NO_MEMORY, doca_sync_event_create_from_export(a.dev, blob, size, &import));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
	OK(doca_pe_create(&pe));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_create_from_export(a.dev, blob, size, &import));
	OK(doca_sync_event_destroy(import));
	OK(doca_sync_event_destroy(event));
	OK(doca_pe_destroy(pe));
	OK(async_end(&a));
}

/* As many wait for the server as the kernel has room for: one more may try again. */
TEST(no_room_at_the_server)
{
	struct end server = { 0 }, client = { 0 };

	doca_own_domain();
	OK(end_make_server(&server, "crowd", 1));
	OK(doca_ctx_start(server.ctx));
	OK(end_make_client(&client, "crowd", 1));
	connects.error = EAGAIN;
	FAILS(AGAIN, doca_ctx_start(client.ctx));
	ASSERT_EQ(1, connects.calls);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&client));
	connects.error = 0;
	FAILS(IN_PROGRESS, doca_ctx_start(client.ctx));
	end_drain(&server);
	end_drain(&client);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&client));
	OK(ends_destroy(&server, &client));
}

/* ---- messages --------------------------------------------------------------------------- */

/* So many that some wait for room. */
#define FLOOD	1000

FIXTURE(messages)
{
	struct end server, client;
};

FIXTURE_SETUP(messages)
{
	doca_own_domain();
	OK(end_make_server(&self->server, "messages", 1));
	OK(end_make_client(&self->client, "messages", FLOOD));
	OK(doca_ctx_start(self->server.ctx));
	FAILS(IN_PROGRESS, doca_ctx_start(self->client.ctx));
	end_drain(&self->server);
	end_drain(&self->client);
	OK(doca_comch_client_get_connection(self->client.client, &self->client.conn));
}

FIXTURE_TEARDOWN(messages)
{
	sends.error = 0;
	ENDS(ends_destroy(&self->server, &self->client));
}

/* The kernel has no memory for one more: the task is the program's still. */
TEST_F(messages, no_memory_at_submit)
{
	const int errors[] = { ENOMEM, ENOBUFS };
	struct doca_comch_task_send *send;
	struct doca_task *task;
	unsigned int i;

	self->client.keep = true;
	OK(end_alloc(&self->client, "abc", 4, &send));
	task = doca_comch_task_send_as_task(send);
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		sends = (struct refusal){ .error = errors[i] };
		FAILS(NO_MEMORY, doca_task_submit(task));
		FAILS(NO_MEMORY, doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH));
		FAILS(NO_MEMORY, doca_task_try_submit(task));
		ASSERT_EQ(3, sends.calls);
		FAILS(NO_MEMORY, doca_task_get_status(task));
		ASSERT_EQ(0, end_drain(&self->server));
		sends.error = 0;
		OK(doca_task_submit(task));
		ASSERT_EQ(1, end_drain(&self->client));
		OK(doca_task_get_status(task));
		ASSERT_EQ(1, end_drain(&self->server));
		ASSERT_STREQ("abc", (char *)self->server.last);
	}
	ASSERT_EQ(0, self->client.unsent);
	doca_task_free(task);
}

/* Messages that waited for room: one is lost and its program told, the others arrive. */
TEST_F(messages, no_memory_in_progress)
{
	static uint8_t bytes[MSG_MAX];
	struct doca_comch_task_send *send;
	unsigned int n;

	for (n = 0; n < FLOOD; n++) {
		OK(end_alloc(&self->client, bytes, sizeof(bytes), &send));
		OK(doca_task_submit(doca_comch_task_send_as_task(send)));
	}
	end_drain(&self->client);
	ASSERT_LT(self->client.sent, FLOOD);
	/* There is room now, but no memory. */
	end_drain(&self->server);
	sends = (struct refusal){ .error = ENOBUFS };
	ASSERT_EQ(1, doca_pe_progress(self->client.pe));
	sends.error = 0;
	ASSERT_LT(0, self->client.unsent);
	ASSERT_EQ(DOCA_ERROR_NO_MEMORY, self->client.status);
	ASSERT_TRUE(se_until(({
		end_drain(&self->client);
		end_drain(&self->server);
		self->client.sent + self->client.unsent == FLOOD;
	})));
	ASSERT_EQ(self->client.sent, self->server.messages);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&self->client));
}

TEST_HARNESS_MAIN
