// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_pci_comch.c - comch between two machines, each of them the server once: every size of message, more
 * messages than there is room for, the end of either, and either of them killed.
 */
#include "pci.h"
#include "doca_ends.h"

#include <stdarg.h>

#include <syncevent.h>

#define LOTS	200

/* Progress until the condition holds. False: it did not within the hang limit. */
#define until(end, condition) se_until(({ \
	while (!(condition) && doca_pe_progress((end)->pe)) \
		; \
	(condition); \
}))

/* Asleep, by the handle of the engine. */
static bool sleep_until(struct end *end, const unsigned int *what, unsigned int wanted)
{
	struct pollfd pfd = { .events = POLLIN };

	doca_pe_get_notification_handle(end->pe, &pfd.fd);
	for (;;) {
		while (*what < wanted && doca_pe_progress(end->pe))
			;
		if (*what >= wanted)
			return true;
		doca_pe_request_notification(end->pe);
		if (poll(&pfd, 1, SE_HANG_S * 1000) != 1)
			return false;
		doca_pe_clear_notification(end->pe, 0);
	}
}

static void echo(struct end *end)
{
	(void)end_send(end, end->last, end->bytes);
}

static doca_error_t serve(struct end *server, const char *name)
{
	TRY(end_make_server(server, name, TASKS));
	TRY(doca_ctx_start(server->ctx));
	return until(server, server->comes) ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
}

static const char *region(struct syncevent_pci *pci)
{
	pci->size = sizeof(*pci);
	return syncevent_pci_get(0, pci) ? "none" : pci->address;
}

static uint64_t fnv(uint64_t sum, const char *text)
{
	do
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3ULL;
	while (*text++);
	return sum;
}

/* As in lib/doca/comch_door.c, written down once more. */
static void door_of(char door[48], const char *name)
{
	snprintf(door, 48, "doca.%u.%016llx", my_side(),
		 (unsigned long long)fnv(fnv(0xcbf29ce484222325ULL, ""), name));
}

/* The door of the other side's server, when there is one. */
static int await_door(struct syncevent **door, const char *name)
{
	struct syncevent_pci pci;
	const char *device = region(&pci);
	char text[48];
	int err = -ENOENT;

	door_of(text, name);
	se_until((err = syncevent_import_name(door, device, text, 0)) != -ENOENT);
	return err;
}

/*
 * One that finds no server when it starts is not told of one that comes later. No second try:
 * each would be one more client for who counts them.
 */
static doca_error_t ask(struct end *client, const char *name, uint32_t tasks)
{
	struct syncevent *door;

	if (await_door(&door, name))
		return DOCA_ERROR_NOT_FOUND;
	syncevent_close(door);
	TRY(end_make_client(client, name, tasks));
	if (doca_ctx_start(client->ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	if (!until(client, end_state_of(client) != DOCA_CTX_STATE_STARTING))
		return DOCA_ERROR_TIME_OUT;
	return doca_comch_client_get_connection(client->client, &client->conn);
}

static doca_error_t stop(struct end *end)
{
	if (end_state_of(end) != DOCA_CTX_STATE_IDLE)
		TRY(doca_ctx_stop(end->ctx));
	return end_destroy(end);
}

/**
 * struct machines - this one and the other
 * @fds: open at first
 */
FIXTURE(machines)
{
	struct end end;
	int fds;
};

FIXTURE_VARIANT(machines)
{
	uint32_t server;
};

FIXTURE_VARIANT_ADD(machines, side0_serves) { .server = 0 };
FIXTURE_VARIANT_ADD(machines, side1_serves) { .server = 1 };

FIXTURE_SETUP(machines)
{
	doca_server_device = NULL;
	doca_client_device = NULL;
	ASSERT_TRUE(se_until(pci_alive(3)));
	self->fds = count_fds();
}

FIXTURE_TEARDOWN(machines)
{
	EXPECT_EQ(self->fds, count_fds());
}

#define SERVES	(my_side() == variant->server)

/* A name for each test and variant, so that nobody meets what is not over yet. */
#define NAME	name_of(__func__, variant->server)

static const char *name_of(const char *test, uint32_t server)
{
	static char name[100];

	snprintf(name, sizeof(name), "%.90s%u", test, server);
	return name;
}

/* The smallest and the largest sizes, and some of the others; doca_comch has all. */
static uint32_t next_size(uint32_t n)
{
	return n + (n < 20 || n > 4060 ? 1 : 16 * 100 / se_times(100));
}

TEST_F(machines, sizes)
{
	struct end *end = &self->end;
	uint8_t bytes[MSG_MAX];
	uint32_t n, i, sent = 0;

	if (SERVES) {
		end->on_message = echo;
		ASSERT_EQ(DOCA_SUCCESS, serve(end, NAME));
		while (!end->goes) {
			const unsigned int before = end->messages;

			ASSERT_TRUE(until(end, end->goes || end->messages != before));
		}
		for (n = 0; n <= MSG_MAX; n = next_size(n))
			sent++;
		ASSERT_EQ(sent, end->messages);
	} else {
		ASSERT_EQ(DOCA_SUCCESS, ask(end, NAME, TASKS));
		for (n = 0; n <= MSG_MAX; n = next_size(n)) {
			for (i = 0; i < n; i++)
				bytes[i] = (uint8_t)(n + i * 7 + (i >> 8));
			se_poison(end->last, sizeof(end->last));
			ASSERT_EQ(DOCA_SUCCESS, end_send(end, bytes, n));
			sent++;
			ASSERT_TRUE(until(end, end->messages == sent && end->sent == sent));
			ASSERT_EQ(n, end->bytes);
			ASSERT_EQ(0, memcmp(bytes, end->last, n));
		}
	}
	ASSERT_EQ(DOCA_SUCCESS, stop(end));
}

/* What does not fit waits; both ends sleep when there is nothing to do. */
TEST_F(machines, more_than_fits)
{
	struct end *end = &self->end;
	uint32_t n;

	if (SERVES) {
		ASSERT_EQ(DOCA_SUCCESS, serve(end, NAME));
		for (n = 0; n < LOTS; n++) {
			ASSERT_TRUE(sleep_until(end, &end->messages, n + 1));
			ASSERT_EQ(sizeof(n), end->bytes);
			ASSERT_EQ(0, memcmp(&n, end->last, sizeof(n)));
		}
		ASSERT_EQ(DOCA_SUCCESS, end_send(end, "done", 5));
		ASSERT_TRUE(sleep_until(end, &end->goes, 1));
	} else {
		ASSERT_EQ(DOCA_SUCCESS, ask(end, NAME, LOTS));
		for (n = 0; n < LOTS; n++)
			ASSERT_EQ(DOCA_SUCCESS, end_send(end, &n, sizeof(n)));
		ASSERT_TRUE(sleep_until(end, &end->sent, LOTS));
		ASSERT_TRUE(sleep_until(end, &end->messages, 1));
	}
	ASSERT_EQ(0, end->unsent);
	ASSERT_EQ(DOCA_SUCCESS, stop(end));
}

/* A message that left at submit arrives, though the sender stops at once. */
TEST_F(machines, last_words)
{
	struct end *end = &self->end;

	if (SERVES) {
		end->on_message = echo;
		ASSERT_EQ(DOCA_SUCCESS, serve(end, NAME));
		ASSERT_TRUE(until(end, end->messages));
		/* The answer is on its way; nobody waits for it. */
		ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(end->ctx));
		ASSERT_EQ(1, end->goes);
		ASSERT_TRUE(until(end, end_state_of(end) == DOCA_CTX_STATE_IDLE));
	} else {
		ASSERT_EQ(DOCA_SUCCESS, ask(end, NAME, TASKS));
		ASSERT_EQ(DOCA_SUCCESS, end_send(end, "words", 6));
		ASSERT_TRUE(until(end, end_state_of(end) == DOCA_CTX_STATE_IDLE));
		ASSERT_EQ(1, end->messages);
		ASSERT_STREQ("words", (char *)end->last);
	}
	ASSERT_EQ(DOCA_SUCCESS, stop(end));
}

/* A child of the one that is killed does all there is to do, and dies of it. */
static void live_and_die(struct end *end, bool server, const char *name)
{
	pid_t pid = fork();
	int status = 0;

	if (pid) {
		waitpid(pid, &status, 0);
		return;
	}
	alarm(SE_HANG_S);
	if ((server ? serve(end, name) : ask(end, name, TASKS)) == DOCA_SUCCESS &&
	    until(end, end->messages) && end_send(end, "1", 2) == DOCA_SUCCESS &&
	    end_send(end, "2", 2) == DOCA_SUCCESS)
		raise(SIGKILL);
	_exit(1);
}

#define CROWD		4
#define CROWDS		((unsigned int)se_times(20))

/* Milliseconds between the next name of this process and what follows it. */
static unsigned int dawdle_ms;

/* Stands in front of the C library's. */
int ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	ret = (int)syscall(SYS_ioctl, fd, command, arg);
	if (command == SYNCEVENT_IOC_EXPORT_NAME && dawdle_ms) {
		se_sleep_ms(dawdle_ms);
		dawdle_ms = 0;
	}
	return ret;
}

/*
 * Clients that come while the server answers others. The later ones have been answered
 * before they knock: none waits for an answer that it has had.
 */
TEST_F(machines, crowd)
{
	struct end *end = &self->end;
	unsigned int i, k;
	pid_t pids[CROWD];
	int status, failed = 0;

	if (SERVES) {
		ASSERT_EQ(DOCA_SUCCESS, serve(end, NAME));
		ASSERT_TRUE(until(end, end->goes == CROWDS * CROWD));
		ASSERT_EQ(end->goes, end->comes);
		ASSERT_EQ(DOCA_SUCCESS, stop(end));
		return;
	}
	for (i = 0; i < CROWDS; i++) {
		for (k = 0; k < CROWD; k++) {
			pids[k] = fork();
			if (!pids[k]) {
				alarm(SE_HANG_S);
				dawdle_ms = 20 * k;
				_exit(ask(end, NAME, 1) != DOCA_SUCCESS ||
				      stop(end) != DOCA_SUCCESS);
			}
		}
		for (k = 0; k < CROWD; k++) {
			ASSERT_EQ(pids[k], waitpid(pids[k], &status, 0));
			failed |= status;
		}
		ASSERT_EQ(0, failed);
	}
}

/* Its last messages arrive, then its end, and another one can come. */
TEST_F(machines, client_killed)
{
	struct end *end = &self->end;
	int i;

	if (!SERVES) {
		for (i = 0; i < 3; i++)
			live_and_die(end, false, NAME);
		return;
	}
	ASSERT_EQ(DOCA_SUCCESS, serve(end, NAME));
	for (i = 1; ; i++) {
		ASSERT_EQ(DOCA_SUCCESS, end_send(end, "go on", 6));
		ASSERT_TRUE(until(end, (int)end->goes == i));
		ASSERT_EQ(2 * i, end->messages);
		ASSERT_STREQ("2", (char *)end->last);
		if (i == 3)
			break;
		ASSERT_TRUE(until(end, (int)end->comes == i + 1));
	}
	ASSERT_EQ(DOCA_SUCCESS, stop(end));
}

TEST_F(machines, server_killed)
{
	struct end *end = &self->end;

	if (SERVES) {
		live_and_die(end, true, NAME);
		return;
	}
	ASSERT_EQ(DOCA_SUCCESS, ask(end, NAME, TASKS));
	ASSERT_EQ(DOCA_SUCCESS, end_send(end, "go on", 6));
	ASSERT_TRUE(until(end, end_state_of(end) == DOCA_CTX_STATE_IDLE));
	ASSERT_EQ(2, end->messages);
	ASSERT_STREQ("2", (char *)end->last);
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(end));
}

/* Nobody is there: the client waits, and is stopped. A name is one server's. */
TEST_F(machines, nobody_and_somebody)
{
	struct end *end = &self->end, other = { 0 };

	ASSERT_EQ(DOCA_SUCCESS, end_make_client(end, "nobody", 1));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(end->ctx));
	ASSERT_EQ(0, end_drain(end));
	ASSERT_EQ(DOCA_CTX_STATE_STARTING, end_state_of(end));
	ASSERT_EQ(DOCA_SUCCESS, stop(end));
	if (!SERVES)
		return;
	memset(end, 0, sizeof(*end));
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(end, NAME, 1));
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&other, NAME, 1));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(end->ctx));
	ASSERT_EQ(DOCA_ERROR_IN_USE, doca_ctx_start(other.ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(end->ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(other.ctx));
	ASSERT_EQ(DOCA_SUCCESS, stop(&other));
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(end));
}

/* ---- clients that are none ----------------------------------------------------------- */

/* As in lib/doca/comch_pci.h and comch.h, written down once more. */
#define PAGES		9
#define NONCE_AT	512
#define HELLO_AT	1024

struct head {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t length;
	uint32_t reserved;
};

struct hello {
	struct head head;
	uint32_t max_msg;
	uint32_t reserved;
	char domain[64];
	char name[120];
};

/**
 * struct raw - an end of a link, by libsyncevent's calls
 * @own: its event, @in its payload; @theirs: the server's, likewise
 */
struct raw {
	struct syncevent *own;
	struct syncevent *theirs;
	uint8_t *in;
	uint8_t *out;
};

/* What is wrong with it. */
enum wrong {
	FEW_PAGES, ODD_MAGIC, TOO_LONG, OTHER_NAME,
	/* From here on the server answers; then: */
	ODD_PACKET, NO_PACKET, LONG_PACKET, LONGER_PACKET, TAKES_TOO_MUCH, GOES, WRONGS,
};

static int knock(struct raw *raw, const char *name, enum wrong wrong)
{
	struct syncevent_pci pci;
	const struct syncevent_attr attr = {
		.size = sizeof(attr), .pci = region(&pci),
		.pages = wrong == FEW_PAGES ? PAGES - 1 : PAGES,
	};
	struct hello hello = {
		.head = { 0x68434553, 1, 1, sizeof(hello) - sizeof(hello.head), 0 }, .max_msg = 100,
	};
	struct syncevent *door;
	char text[64], door_text[48];
	uint64_t nonce = se_now(CLOCK_MONOTONIC) | 1;
	void *in;
	size_t size;
	int err, k;

	snprintf(hello.name, sizeof(hello.name), "%.119s", name);
	if (wrong == ODD_MAGIC)
		hello.head.magic++;
	if (wrong == TOO_LONG)
		hello.head.length = UINT32_MAX;
	if (wrong == OTHER_NAME)
		hello.name[0]++;
	err = syncevent_create(&raw->own, &attr);
	if (err)
		return err;
	err = syncevent_payload(raw->own, &in, &size);
	if (err)
		return err;
	raw->in = in;
	memcpy(raw->in + HELLO_AT, &hello, sizeof(hello));
	memcpy(raw->in + NONCE_AT, &nonce, sizeof(nonce));
	door_of(door_text, name);
	for (k = 0, err = -EEXIST; k < 16 && err == -EEXIST; k++) {
		snprintf(text, sizeof(text), "%s.%d", door_text, k);
		err = syncevent_export_name(raw->own, text, 0);
	}
	if (err)
		return err;
	err = await_door(&door, name);
	if (err)
		return err;
	err = syncevent_set(door, nonce);
	syncevent_close(door);
	raw->theirs = NULL;
	if (err || wrong < ODD_PACKET)
		return err;
	snprintf(text, sizeof(text), "doca.w.%016llx", (unsigned long long)nonce);
	err = -ENOENT;
	se_until((err = syncevent_import_name(&raw->theirs, pci.address, text, 0)) != -ENOENT);
	if (err)
		return err;
	err = syncevent_payload(raw->theirs, &in, &size);
	raw->out = in;
	return err;
}

/* The first packet, of which something is wrong. */
static int misbehave(struct raw *raw, enum wrong wrong)
{
	struct head head = { 0x68434553, 1, 3, 4, 0 };
	const uint64_t number = 1;
	uint64_t value = 1ULL << 32;

	switch (wrong) {
	case ODD_PACKET:
		head.reserved = 1;
		break;
	case NO_PACKET:
		memset(&head, 0, sizeof(head));
		break;
	case LONG_PACKET:
		head.length = 101;	/* than agreed upon */
		break;
	case LONGER_PACKET:
		head.length = UINT32_MAX - 15;
		break;
	case TAKES_TOO_MUCH:
		value |= 1000;
		break;
	default:
		return 0;
	}
	memcpy(raw->out + 4096, &head, sizeof(head));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (wrong != TAKES_TOO_MUCH)
		memcpy(raw->out, &number, sizeof(number));
	return syncevent_set(raw->own, value);
}

/* The server tells of those that said HELLO, and of their end, and goes on. */
TEST_F(machines, hostile_clients)
{
	struct end *end = &self->end;
	struct raw raws[WRONGS];
	enum wrong wrong;

	if (SERVES) {
		ASSERT_EQ(DOCA_SUCCESS, serve(end, NAME));
		ASSERT_TRUE(until(end, end->messages));
		ASSERT_EQ(WRONGS - ODD_PACKET + 1, end->comes);
		ASSERT_STREQ("good", (char *)end->last);
		ASSERT_EQ(DOCA_SUCCESS, end_send(end, "bye", 4));
		ASSERT_TRUE(until(end, end->goes == end->comes));
		ASSERT_EQ(1, end->messages);
		ASSERT_EQ(DOCA_SUCCESS, stop(end));
		return;
	}
	unsetenv("SYNCEVENT_DOCA_DOMAIN");
	for (wrong = 0; wrong < WRONGS; wrong++) {
		ASSERT_EQ(0, knock(&raws[wrong], NAME, wrong)) {
			TH_LOG("number %d", wrong);
		}
		if (wrong < ODD_PACKET)
			continue;
		ASSERT_EQ(0, misbehave(&raws[wrong], wrong));
		/* Its end goes with the connection. */
		if (wrong < GOES)
			ASSERT_TRUE(se_until(syncevent_get(raws[wrong].theirs,
							   &(uint64_t){ 0 }) == -EIDRM));
		syncevent_close(raws[wrong].theirs);
		/* The others keep their names: they are seen at each knock, and come once. */
		if (wrong == GOES)
			syncevent_close(raws[wrong].own);
	}
	ASSERT_EQ(DOCA_SUCCESS, ask(end, NAME, 1));
	ASSERT_EQ(DOCA_SUCCESS, end_send(end, "good", 5));
	ASSERT_TRUE(until(end, end->messages));
	ASSERT_EQ(DOCA_SUCCESS, stop(end));
	for (wrong = 0; wrong < GOES; wrong++)
		syncevent_close(raws[wrong].own);
}

TEST_HARNESS_MAIN
