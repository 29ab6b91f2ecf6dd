// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_comch_peers.c - other ends of a comch that are hostile, that die, that are too many
 *
 * Between the devices of the virtual pair every process of the user can reach the socket:
 * here are those that send what they like, and processes that are killed between any two
 * of their calls. Whatever they do, a server goes on, and tells of the end of each
 * connection that it told of.
 */
#include "doca_ends.h"

#include <stddef.h>
#include <sys/un.h>

#define NAME	"peers"

/* As in lib/doca/comch.h, written down once more. */
struct head {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t length;
	uint32_t reserved;
};

struct greeting {
	struct head head;
	uint32_t max_msg;
	uint32_t reserved;
	char domain[64];
	char name[120];
};

struct message {
	struct head head;
	uint8_t bytes[65536];
};

enum { HELLO = 1, WELCOME, MESSAGE };

static void set_head(struct head *head, uint16_t type, size_t length)
{
	*head = (struct head){ 0x68434553, 1, type, (uint32_t)length, 0 };
}

static struct greeting greeting(uint16_t type)
{
	struct greeting greeting = { .max_msg = 1000, .name = NAME };

	set_head(&greeting.head, type, sizeof(greeting) - sizeof(greeting.head));
	snprintf(greeting.domain, sizeof(greeting.domain), "%s", doca_domain);
	return greeting;
}

/* The address of a server of this process. */
static bool find_address(struct sockaddr_un *address, socklen_t *size)
{
	int fd, listens;

	for (fd = 3; fd < 256; fd++) {
		socklen_t n = sizeof(listens);

		*size = sizeof(*address);
		if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) && listens &&
		    !getsockname(fd, (struct sockaddr *)address, size) &&
		    address->sun_family == AF_UNIX &&
		    !memcmp(address->sun_path + 1, "syncevent-doca/", 15))
			return true;
	}
	return false;
}

static int raw_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/**
 * struct hostile - a server, and where it is
 * @raw: a socket that is connected to it
 */
FIXTURE(hostile)
{
	struct end server;
	struct sockaddr_un address;
	socklen_t size;
	int raw;
	int fds;
};

static bool raw_connect(FIXTURE_DATA(hostile) *self)
{
	self->raw = raw_socket();
	return self->raw >= 0 && !connect(self->raw, (struct sockaddr *)&self->address, self->size);
}

FIXTURE_SETUP(hostile)
{
	doca_own_domain();
	self->fds = count_fds();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&self->server, NAME, TASKS));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(self->server.ctx));
	ASSERT_TRUE(find_address(&self->address, &self->size));
	ASSERT_TRUE(raw_connect(self));
}

/* The server still does what a server does. */
static doca_error_t session(struct end *server)
{
	struct end client = { 0 };
	const unsigned int messages = server->messages;

	TRY(end_make_client(&client, NAME, 1));
	if (doca_ctx_start(client.ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	end_drain(server);
	end_drain(&client);
	TRY(doca_comch_client_get_connection(client.client, &client.conn));
	TRY(end_send(&client, "x", 1));
	end_drain(server);
	end_drain(&client);
	TRY(doca_ctx_stop(client.ctx));
	end_drain(server);
	TRY(end_destroy(&client));
	return server->messages == messages + 1 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

FIXTURE_TEARDOWN(hostile)
{
	if (self->raw >= 0)
		close(self->raw);
	end_drain(&self->server);
	EXPECT_EQ(DOCA_SUCCESS, session(&self->server));
	EXPECT_EQ(self->server.comes, self->server.goes);
	EXPECT_EQ(DOCA_SUCCESS, doca_ctx_stop(self->server.ctx));
	EXPECT_EQ(DOCA_SUCCESS, end_destroy(&self->server));
	EXPECT_EQ(self->fds, count_fds());
}

/* Has the other end closed it? */
static bool is_closed(int fd)
{
	struct message m;
	ssize_t n;

	do
		n = recv(fd, &m, sizeof(m), MSG_DONTWAIT);
	while (n > 0 || (n < 0 && errno == ECONNRESET));
	return !n;
}

/* ---- clients ------------------------------------------------------------------------- */

/* What is wrong with a first packet. */
enum wrong {
	SHORT, HEAD_ONLY, ODD_MAGIC, ODD_VERSION, ODD_TYPE, TYPE_ZERO, A_WELCOME, A_MESSAGE,
	LENGTH_LESS, LENGTH_MORE, LENGTH_HUGE, ODD_RESERVED, ODD_RESERVED2, TRUNCATED, TOO_LONG,
	NO_SIZE, SIZE_OVER, NO_NAME, NAME_OPEN, NAME_TAIL, OTHER_NAME, DOMAIN_OPEN, DOMAIN_TAIL,
	OTHER_DOMAIN, NO_DOMAIN, OVERSIZE, EMPTY, WRONGS,
};

static ssize_t send_wrong(int fd, enum wrong wrong)
{
	struct greeting g = greeting(HELLO);
	static struct message m;
	size_t size = sizeof(g);

	switch (wrong) {
	case SHORT: size = 1; break;
	case HEAD_ONLY: size = sizeof(g.head); break;
	case ODD_MAGIC: g.head.magic ^= 1U << 31; break;
	case ODD_VERSION: g.head.version = 2; break;
	case ODD_TYPE: g.head.type = 4; break;
	case TYPE_ZERO: g.head.type = 0; break;
	case A_WELCOME: g.head.type = WELCOME; break;
	case A_MESSAGE: g.head.type = MESSAGE; break;
	case LENGTH_LESS: g.head.length--; break;
	case LENGTH_MORE: g.head.length++; break;
	case LENGTH_HUGE: g.head.length = UINT32_MAX; break;
	case ODD_RESERVED: g.head.reserved = 1; break;
	case ODD_RESERVED2: g.reserved = 1; break;
	case TRUNCATED: size--; g.head.length--; break;
	case TOO_LONG:
		memcpy(&m, &g, sizeof(g));
		m.head.length++;
		return send(fd, &m, sizeof(g) + 1, MSG_NOSIGNAL);
	case NO_SIZE: g.max_msg = 0; break;
	case SIZE_OVER: g.max_msg = MSG_MAX + 1; break;
	case NO_NAME: memset(g.name, 0, sizeof(g.name)); break;
	case NAME_OPEN: memset(g.name, 'n', sizeof(g.name)); break;
	case NAME_TAIL: g.name[sizeof(g.name) - 1] = 'x'; break;
	case OTHER_NAME: g.name[0]++; break;
	case DOMAIN_OPEN: memset(g.domain, 'n', sizeof(g.domain)); break;
	case DOMAIN_TAIL: g.domain[sizeof(g.domain) - 1] = 'x'; break;
	case OTHER_DOMAIN: g.domain[0]++; break;
	case NO_DOMAIN: memset(g.domain, 0, sizeof(g.domain)); break;
	case OVERSIZE:
		set_head(&m.head, HELLO, sizeof(m.bytes));
		return send(fd, &m, sizeof(m), MSG_NOSIGNAL);
	case EMPTY: size = 0; break;
	default: break;
	}
	return send(fd, &g, size, MSG_NOSIGNAL);
}

/* A client is one when its first packet makes sense; else nobody is told of it. */
TEST_F(hostile, first_packet)
{
	enum wrong wrong;

	for (wrong = 0; wrong < WRONGS; wrong++) {
		ASSERT_LE(0, send_wrong(self->raw, wrong));
		EXPECT_EQ(0, end_drain(&self->server));
		EXPECT_TRUE(is_closed(self->raw)) {
			TH_LOG("number %d", wrong);
		}
		close(self->raw);
		ASSERT_TRUE(raw_connect(self));
	}
	ASSERT_EQ(0, self->server.comes);
	/* This is what all of them were made of. */
	ASSERT_LT(0, send_wrong(self->raw, WRONGS));
	ASSERT_EQ(1, end_drain(&self->server));
	ASSERT_EQ(1, self->server.comes);
}

/* One that says nothing, or goes before it was asked, is no hindrance. */
TEST_F(hostile, silent)
{
	ASSERT_EQ(0, end_drain(&self->server));
	ASSERT_EQ(DOCA_SUCCESS, session(&self->server));
	close(self->raw);
	ASSERT_EQ(0, end_drain(&self->server));
	ASSERT_TRUE(raw_connect(self));
	close(self->raw);
	self->raw = -1;
	ASSERT_EQ(0, end_drain(&self->server));
}

static bool say_hello(FIXTURE_DATA(hostile) *self)
{
	struct greeting g = greeting(HELLO), answer;
	ssize_t n;

	if (send(self->raw, &g, sizeof(g), MSG_NOSIGNAL) != sizeof(g))
		return false;
	end_drain(&self->server);
	n = recv(self->raw, &answer, sizeof(answer), 0);
	return n == sizeof(answer) && answer.head.type == WELCOME && answer.max_msg == MSG_MAX &&
	       !strcmp(answer.name, NAME);
}

/* Of a connection that was told of, the end is told too, whatever ends it. */
TEST_F(hostile, later_packets)
{
	static struct message m;
	struct greeting g;
	ssize_t n;
	int i;

	for (i = 0; ; i++) {
		ASSERT_TRUE(say_hello(self));
		set_head(&m.head, MESSAGE, 4);
		switch (i) {
		case 0:		/* again */
		case 1:
			g = greeting((uint16_t)(HELLO + i));
			n = send(self->raw, &g, sizeof(g), MSG_NOSIGNAL);
			break;
		case 2:		/* more than was agreed upon: 1000 bytes */
			m.head.length = 1001;
			n = send(self->raw, &m, sizeof(m.head) + 1001, MSG_NOSIGNAL);
			break;
		case 3:		/* more than there can be */
			m.head.length = MSG_MAX + 1;
			n = send(self->raw, &m, sizeof(m.head) + MSG_MAX + 1, MSG_NOSIGNAL);
			break;
		case 4:
			n = send(self->raw, &m, sizeof(m.head) + 3, MSG_NOSIGNAL);
			break;
		case 5:
			n = send(self->raw, &m, sizeof(m.head) + 5, MSG_NOSIGNAL);
			break;
		case 6:
			n = send(self->raw, &m, 3, MSG_NOSIGNAL);
			break;
		case 7:
			n = shutdown(self->raw, SHUT_WR);
			break;
		default:
			n = -1;
		}
		if (n < 0)
			break;
		EXPECT_EQ(1, end_drain(&self->server));
		EXPECT_EQ(i + 1, self->server.goes);
		EXPECT_TRUE(is_closed(self->raw));
		close(self->raw);
		ASSERT_TRUE(raw_connect(self));
	}
	ASSERT_EQ(8, i);
	ASSERT_EQ(0, self->server.messages);
}

/* File descriptors that come along are closed, at once. */
TEST_F(hostile, descriptors)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct message m;
	struct iovec iov = { &m, sizeof(m.head) + 3 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int pipes[2], fds;

	ASSERT_TRUE(say_hello(self));
	ASSERT_EQ(0, pipe(pipes));
	*cmsg = (struct cmsghdr){ CMSG_LEN(sizeof(pipes)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(cmsg), pipes, sizeof(pipes));
	set_head(&m.head, MESSAGE, 3);
	memcpy(m.bytes, "abc", 3);
	ASSERT_LT(0, sendmsg(self->raw, &msg, MSG_NOSIGNAL));
	fds = count_fds();
	ASSERT_EQ(1, end_drain(&self->server));
	ASSERT_EQ(1, self->server.messages);
	ASSERT_EQ(fds, count_fds());
	/* Nobody else has the end that writes. */
	close(pipes[1]);
	ASSERT_EQ(0, read(pipes[0], control, 1));
	close(pipes[0]);
}

/* Packets with bytes changed at random. */
TEST_F(hostile, random_bytes)
{
	unsigned int seed = 1, i, n, rounds = se_times(3000);

	for (i = 0; i < rounds; i++) {
		struct message m = { 0 };
		struct greeting g = greeting((uint16_t)(1 + rand_r(&seed) % 3));
		size_t size = sizeof(g);

		if (rand_r(&seed) % 2)
			(void)say_hello(self);
		memcpy(&m, &g, sizeof(g));
		if (!(rand_r(&seed) % 4))
			size = (size_t)rand_r(&seed) % 5000;
		if (rand_r(&seed) % 2)
			m.head.length = (uint32_t)(size - sizeof(m.head));
		for (n = (unsigned int)rand_r(&seed) % 4; n; n--)
			((uint8_t *)&m)[(size_t)rand_r(&seed) % (size ? size : 1)] ^=
				(uint8_t)(1 << rand_r(&seed) % 8);
		(void)send(self->raw, &m, size, MSG_NOSIGNAL);
		end_drain(&self->server);
		close(self->raw);
		end_drain(&self->server);
		ASSERT_EQ(self->server.comes, self->server.goes);
		ASSERT_TRUE(raw_connect(self));
	}
	ASSERT_NE(0, self->server.comes);
	ASSERT_NE(0, self->server.messages);
}

/* As many clients as there can be; the next one waits until one of them goes. */
TEST_F(hostile, too_many)
{
	struct greeting g = greeting(HELLO);
	struct doca_devinfo *info = doca_dev_as_devinfo(self->server.dev);
	int raws[65];
	uint32_t max = 0, i;

	ASSERT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_clients(info, &max));
	ASSERT_LE(max, 64);
	close(self->raw);
	end_drain(&self->server);
	for (i = 0; i <= max; i++) {
		ASSERT_TRUE(raw_connect(self));
		raws[i] = self->raw;
		ASSERT_LT(0, send(raws[i], &g, sizeof(g), MSG_NOSIGNAL));
		ASSERT_EQ(i < max, end_drain(&self->server));
	}
	ASSERT_EQ(max, self->server.comes);
	ASSERT_EQ(0, doca_pe_progress(self->server.pe));
	close(raws[5]);
	ASSERT_EQ(2, end_drain(&self->server));
	ASSERT_EQ(1, self->server.goes);
	ASSERT_EQ(max + 1, self->server.comes);
	for (i = 0; i <= max; i++)
		if (i != 5)
			close(raws[i]);
	self->raw = -1;
	end_drain(&self->server);
	ASSERT_EQ(max + 1, self->server.goes);
}

/* ---- servers ------------------------------------------------------------------------- */

/* A client of what has taken the place of a server ends, or waits until it is stopped. */
TEST_F(hostile, server)
{
	struct end client = { 0 };
	struct greeting g;
	int listener, raw, i;

	close(self->raw);
	self->raw = -1;
	end_drain(&self->server);
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(self->server.ctx));
	listener = raw_socket();
	ASSERT_EQ(0, bind(listener, (struct sockaddr *)&self->address, self->size));
	ASSERT_EQ(0, listen(listener, 1));
	ASSERT_EQ(DOCA_ERROR_IN_USE, doca_ctx_start(self->server.ctx));
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&client, NAME, 1));
	for (i = 0; i < 7; i++) {
		ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
		ASSERT_EQ(0, end_drain(&client));
		raw = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		ASSERT_LE(0, raw);
		ASSERT_EQ(sizeof(g), recv(raw, &g, sizeof(g), 0));
		ASSERT_EQ(HELLO, g.head.type);
		ASSERT_EQ(MSG_MAX, g.max_msg);
		ASSERT_STREQ(NAME, g.name);
		ASSERT_STREQ(doca_domain, g.domain);
		g = greeting(WELCOME);
		switch (i) {
		case 0:		/* nothing */
			ASSERT_EQ(0, end_drain(&client));
			ASSERT_EQ(DOCA_CTX_STATE_STARTING, end_state_of(&client));
			ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client.ctx));
			ASSERT_TRUE(is_closed(raw));
			break;
		case 1:
			g.head.type = HELLO;
			ASSERT_LT(0, send(raw, &g, sizeof(g), MSG_NOSIGNAL));
			break;
		case 2:
			g.name[0]++;
			ASSERT_LT(0, send(raw, &g, sizeof(g), MSG_NOSIGNAL));
			break;
		case 3:
			g.max_msg = 0;
			ASSERT_LT(0, send(raw, &g, sizeof(g), MSG_NOSIGNAL));
			break;
		case 4:
			set_head(&g.head, MESSAGE, 0);
			ASSERT_LT(0, send(raw, &g, sizeof(g.head), MSG_NOSIGNAL));
			break;
		case 5:
			ASSERT_EQ(0, shutdown(raw, SHUT_RDWR));
			break;
		default:	/* all is well, but not for long */
			ASSERT_LT(0, send(raw, &g, sizeof(g), MSG_NOSIGNAL));
			ASSERT_EQ(1, end_drain(&client));
			ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&client));
			ASSERT_LT(0, send(raw, "rubbish", 7, MSG_NOSIGNAL));
		}
		ASSERT_EQ(i != 0, end_drain(&client));
		ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&client));
		close(raw);
	}
	close(listener);
	/* Nobody: it is STARTING. */
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
	ASSERT_EQ(0, end_drain(&client));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client.ctx));
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&client));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(self->server.ctx));
}

/* ---- those that die ------------------------------------------------------------------ */

/* The child is killed before its call of this number. */
static int steps_left;

static void step(void)
{
	if (!steps_left--)
		raise(SIGKILL);
}

#define STEP(call) ({ step(); call; })

/* A progress is a call, too; some find nothing, as the other end is not done yet. */
static void child_until(struct end *end, const unsigned int *what, unsigned int wanted)
{
	while (*what < wanted) {
		if (STEP(doca_pe_progress(end->pe)))
			continue;
		steps_left++;		/* not one to count */
		sched_yield();
	}
}

/* Ping and pong, some times. Return: an exit status */
static int child_session(struct end *end, bool server)
{
	unsigned int i;

	if (server) {
		end->dev = STEP(doca_open(DPU));
		end->rep = STEP(doca_open_rep(end->dev));
		STEP(doca_comch_server_create(end->dev, end->rep, NAME, &end->server));
		STEP(doca_comch_server_task_send_set_conf(end->server, end_sent, end_unsent, 4));
		STEP(doca_comch_server_event_msg_recv_register(end->server, end_message));
		STEP(doca_comch_server_event_connection_status_changed_register(end->server,
										end_comes, end_goes));
		STEP(end_ctx(end, doca_comch_server_as_ctx(end->server)));
	} else {
		end->dev = STEP(doca_open(HOST));
		STEP(doca_comch_client_create(end->dev, NAME, &end->client));
		STEP(doca_comch_client_task_send_set_conf(end->client, end_sent, end_unsent, 4));
		STEP(doca_comch_client_event_msg_recv_register(end->client, end_message));
		STEP(end_ctx(end, doca_comch_client_as_ctx(end->client)));
	}
	if (STEP(doca_ctx_start(end->ctx)) != (server ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS))
		return 1;
	/* The parent looks at this. */
	if (server && STEP(write(STDOUT_FILENO, "l", 1)) != 1)
		return 2;
	child_until(end, server ? &end->comes : &end->states[DOCA_CTX_STATE_RUNNING], 1);
	if (!server && STEP(doca_comch_client_get_connection(end->client, &end->conn)))
		return 3;
	for (i = 1; i <= 3; i++) {
		if (STEP(end_send(end, "ping", 5)) != DOCA_SUCCESS)
			return 4;
		child_until(end, &end->sent, i);
		child_until(end, &end->messages, i);
	}
	if (STEP(doca_ctx_stop(end->ctx)) != DOCA_SUCCESS)
		return 5;
	return STEP(end_destroy(end)) == DOCA_SUCCESS ? 0 : 6;
}

/* Its standard output is the end of a pipe; it has no other file of ours. */
static pid_t start_child(int k, bool server, int *ready)
{
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		struct end end = { 0 };

		alarm(SE_HANG_S);
		if (dup2(pipes[1], STDOUT_FILENO) < 0 || close_range(3, ~0U, 0))
			_exit(7);
		steps_left = k;
		_exit(child_session(&end, server));
	}
	close(pipes[1]);
	*ready = pipes[0];
	return pid;
}

static bool has_ended(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == pid;
}

/* A client that is killed at any point: its server tells that it has gone, and goes on. */
TEST(client_dies)
{
	struct end server = { .on_message = NULL };
	int k, status = -1, ready;
	pid_t pid;

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&server, NAME, TASKS));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(server.ctx));
	for (k = 0; status; k++) {
		unsigned int answered = 0;

		server.messages = 0;
		pid = start_child(k, false, &ready);
		ASSERT_LT(0, pid);
		close(ready);
		ASSERT_TRUE(se_until(({
			end_drain(&server);
			for (; answered < server.messages; answered++)
				(void)end_send(&server, "pong", 5);
			has_ended(pid, &status);
		})));
		end_drain(&server);
		ASSERT_TRUE(!status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) {
			TH_LOG("status %d of number %d", status, k);
		}
		ASSERT_EQ(server.comes, server.goes);
		ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&server));
	}
	/* The last one had all of its calls. */
	ASSERT_EQ(3, server.messages);
	ASSERT_LT(15, k);
	ASSERT_EQ(DOCA_SUCCESS, session(&server));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(server.ctx));
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&server));
}

/* A server that is killed at any point: its client ends, and may begin again. */
TEST(server_dies)
{
	struct end client = { 0 };
	int k, status = -1, ready;
	pid_t pid;

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&client, NAME, TASKS));
	for (k = 0; status; k++) {
		unsigned int answered = 0;
		char c;

		client.messages = 0;
		pid = start_child(k, true, &ready);
		ASSERT_LT(0, pid);
		/* It listens, or is dead. */
		ASSERT_LE(0, read(ready, &c, 1));
		close(ready);
		ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
		ASSERT_TRUE(se_until(({
			end_drain(&client);
			if (end_state_of(&client) == DOCA_CTX_STATE_RUNNING) {
				doca_comch_client_get_connection(client.client, &client.conn);
				for (; answered < client.messages; answered++)
					(void)end_send(&client, "pong", 5);
			}
			has_ended(pid, &status);
		})));
		end_drain(&client);
		ASSERT_TRUE(!status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) {
			TH_LOG("status %d of number %d", status, k);
		}
		/* It came too late to find one, or it has seen the end. */
		if (end_state_of(&client) == DOCA_CTX_STATE_STARTING)
			ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client.ctx));
		ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&client));
	}
	ASSERT_EQ(3, client.messages);
	ASSERT_LT(15, k);
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&client));
}

TEST_HARNESS_MAIN
