// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_comch.c - servers and clients of libsyncevent-doca, connections, messages
 *
 * Both ends are in one process here, so that it is known what each progress delivers;
 * doca_comch_ends.c has the ends of connections, doca_comch_peers.c other processes.
 */
#include "doca_ends.h"

FIXTURE(pair)
{
	struct end server, client;
	int fds;
};

FIXTURE_SETUP(pair)
{
	doca_own_domain();
	self->fds = count_fds();
	ASSERT_EQ(DOCA_SUCCESS, ends_connect(&self->server, &self->client, "pair"));
}

/* Nothing answers IN_USE in this order, and nothing stays open. */
FIXTURE_TEARDOWN(pair)
{
	EXPECT_EQ(DOCA_SUCCESS, ends_destroy(&self->server, &self->client));
	EXPECT_EQ(self->fds, count_fds());
}

/* ---- connecting ---------------------------------------------------------------------- */

/* A connection costs one progress of either end, which return 0 while there is nothing. */
TEST(connecting)
{
	struct end server = { 0 }, client = { 0 };
	struct doca_comch_connection *conn = NULL;

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&server, "name", 1));
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&client, "name", 1));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_get_connection(client.client, &conn));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(server.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&server));
	ASSERT_EQ(0, doca_pe_progress(server.pe));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_STARTING, end_state_of(&client));
	ASSERT_EQ(1, client.states[DOCA_CTX_STATE_STARTING]);
	ASSERT_EQ(0, doca_pe_progress(client.pe));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_get_connection(client.client, &conn));

	ASSERT_EQ(1, doca_pe_progress(server.pe));
	ASSERT_EQ(1, server.comes);
	ASSERT_EQ(0, doca_pe_progress(server.pe));
	ASSERT_EQ(1, doca_pe_progress(client.pe));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&client));
	ASSERT_EQ(1, client.states[DOCA_CTX_STATE_RUNNING]);
	ASSERT_EQ(0, doca_pe_progress(client.pe));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_client_get_connection(client.client, &conn));

	ASSERT_EQ(client.client, doca_comch_client_get_client_ctx(conn));
	ASSERT_EQ(NULL, doca_comch_server_get_server_ctx(conn));
	ASSERT_EQ(server.server, doca_comch_server_get_server_ctx(server.conn));
	ASSERT_EQ(NULL, doca_comch_client_get_client_ctx(server.conn));

	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&client));
	ASSERT_EQ(0, server.goes);
	ASSERT_EQ(1, doca_pe_progress(server.pe));
	ASSERT_EQ(1, server.goes);
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(server.ctx));
	ASSERT_EQ(1, server.goes);
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&client));
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&server));
}

/* It stays STARTING, whoever comes, until it is stopped; then it may try again. */
TEST(client_before_server)
{
	struct end server = { 0 }, client = { 0 };
	int i;

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&client, "late", 1));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
	ASSERT_EQ(0, doca_pe_progress(client.pe));
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&server, "late", 1));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(server.ctx));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, doca_pe_progress(client.pe));
		ASSERT_EQ(0, doca_pe_progress(server.pe));
	}
	ASSERT_EQ(DOCA_CTX_STATE_STARTING, end_state_of(&client));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&client));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
	ASSERT_EQ(1, end_drain(&server));
	ASSERT_EQ(1, end_drain(&client));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&client));
	ASSERT_EQ(DOCA_SUCCESS, ends_destroy(&server, &client));
}

/* A name is one server's in a domain; clients of another domain or name do not find it. */
TEST(names_and_domains)
{
	static const char *const names[] = { "a", "b" };
	static const char *const domains[] = { "x", "y" };
	struct end servers[4] = { 0 }, client, again = { 0 };
	char domain[80];
	int i, j;

	doca_own_domain();
	for (i = 0; i < 4; i++) {
		snprintf(domain, sizeof(domain), "%s.%s", doca_domain, domains[i / 2]);
		setenv("SYNCEVENT_DOCA_DOMAIN", domain, 1);
		ASSERT_EQ(DOCA_SUCCESS, end_make_server(&servers[i], names[i % 2], 1));
		ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(servers[i].ctx));
	}
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&again, "b", 1));
	ASSERT_EQ(DOCA_ERROR_IN_USE, doca_ctx_start(again.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&again));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(servers[3].ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(again.ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(again.ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(servers[3].ctx));
	for (i = 0; i < 4; i++) {
		memset(&client, 0, sizeof(client));
		snprintf(domain, sizeof(domain), "%s.%s", doca_domain, domains[i / 2]);
		setenv("SYNCEVENT_DOCA_DOMAIN", domain, 1);
		ASSERT_EQ(DOCA_SUCCESS, end_make_client(&client, names[i % 2], 1));
		ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
		for (j = 0; j < 4; j++) {
			ASSERT_EQ(i == j, end_drain(&servers[j]));
			ASSERT_EQ(j <= i, servers[j].comes);
		}
		ASSERT_EQ(1, end_drain(&client));
		ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client.ctx));
		ASSERT_EQ(1, end_drain(&servers[i]));
		ASSERT_EQ(DOCA_SUCCESS, end_destroy(&client));
	}
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(servers[i].ctx));
		ASSERT_EQ(DOCA_SUCCESS, end_destroy(&servers[i]));
	}
	memset(domain, 'd', 64);
	domain[64] = '\0';
	setenv("SYNCEVENT_DOCA_DOMAIN", domain, 1);
	ASSERT_EQ(DOCA_ERROR_BAD_CONFIG, doca_ctx_start(again.ctx));
	domain[63] = '\0';
	setenv("SYNCEVENT_DOCA_DOMAIN", domain, 1);
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(again.ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(again.ctx));
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&again));
}

/* Several clients of a server, each with its own connection and data. */
TEST(many_clients)
{
	enum { CLIENTS = 5 };
	struct end server = { 0 }, clients[CLIENTS] = { 0 };
	struct doca_comch_connection *conns[CLIENTS];
	uint32_t i;

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&server, "many", CLIENTS));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(server.ctx));
	for (i = 0; i < CLIENTS; i++) {
		ASSERT_EQ(DOCA_SUCCESS, end_make_client(&clients[i], "many", 1));
		ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(clients[i].ctx));
		ASSERT_EQ(1, end_drain(&server));
		ASSERT_EQ(1, end_drain(&clients[i]));
		doca_comch_client_get_connection(clients[i].client, &clients[i].conn);
		conns[i] = server.conn;
		ASSERT_EQ(0, doca_comch_connection_get_user_data(conns[i]).u64);
		ASSERT_EQ(DOCA_SUCCESS, doca_comch_connection_set_user_data(conns[i],
						(union doca_data){ .u64 = i + 1 }));
	}
	for (i = 0; i < CLIENTS; i++) {
		ASSERT_EQ(DOCA_SUCCESS, end_send(&clients[i], &i, sizeof(i)));
		end_drain(&server);
		ASSERT_EQ(i + 1, server.messages);
		server.conn = server.from;
		ASSERT_EQ(conns[i], server.conn);
		ASSERT_EQ(i + 1, doca_comch_connection_get_user_data(server.conn).u64);
		ASSERT_EQ(DOCA_SUCCESS, end_send(&server, &i, sizeof(i)));
	}
	for (i = 0; i < CLIENTS; i++) {
		end_drain(&clients[i]);
		ASSERT_EQ(1, clients[i].messages);
		ASSERT_EQ(0, memcmp(clients[i].last, &i, sizeof(i)));
	}
	end_drain(&server);
	ASSERT_EQ(CLIENTS, server.sent);
	/* Those of the even ones; the others are told when the server stops. */
	for (i = 0; i < CLIENTS; i += 2)
		ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(clients[i].ctx));
	ASSERT_EQ(3, end_drain(&server));
	ASSERT_EQ(3, server.goes);
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(server.ctx));
	ASSERT_EQ(CLIENTS, server.goes);
	for (i = 0; i < CLIENTS; i++) {
		end_drain(&clients[i]);
		ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&clients[i]));
		ASSERT_EQ(DOCA_SUCCESS, end_destroy(&clients[i]));
	}
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&server));
}

/* ---- messages ------------------------------------------------------------------------ */

/* A message leaves at submit: its sender does not progress any more. */
TEST_F(pair, leaves_at_submit)
{
	ASSERT_EQ(DOCA_SUCCESS, end_send(&self->client, "hello", 6));
	ASSERT_EQ(1, doca_pe_progress(self->server.pe));
	ASSERT_EQ(1, self->server.messages);
	ASSERT_EQ(6, self->server.bytes);
	ASSERT_STREQ("hello", (char *)self->server.last);
	ASSERT_EQ(0, doca_pe_progress(self->server.pe));
	ASSERT_EQ(0, self->client.sent);
	ASSERT_EQ(1, doca_pe_progress(self->client.pe));
	ASSERT_EQ(1, self->client.sent);
	ASSERT_EQ(DOCA_SUCCESS, self->client.status);
	ASSERT_EQ(0, doca_pe_progress(self->client.pe));
}

static void fill(uint8_t *bytes, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		bytes[i] = (uint8_t)(n + i * 7 + (i >> 8));
}

/* Every size, both ways, byte by byte. */
TEST_F(pair, sizes)
{
	struct end *ends[] = { &self->client, &self->server };
	uint8_t *bytes;
	uint32_t n, way;

	for (n = 0; n <= MSG_MAX; n++) {
		/* Of its exact size, so that a read beyond it is seen. */
		bytes = malloc(n + !n);
		ASSERT_NE(NULL, bytes);
		fill(bytes, n);
		for (way = 0; way < 2; way++) {
			struct end *from = ends[way], *to = ends[!way];

			ASSERT_EQ(DOCA_SUCCESS, end_send(from, n ? bytes : NULL, n));
			se_poison(to->last, sizeof(to->last));
			ASSERT_EQ(1, end_drain(to));
			ASSERT_EQ(n + 1, to->messages);
			ASSERT_EQ(n, to->bytes);
			ASSERT_EQ(0, memcmp(bytes, to->last, n));
			ASSERT_EQ(1, end_drain(from));
			ASSERT_EQ(n + 1, from->sent);
		}
		free(bytes);
	}
}

/* What a task is given is copied; a completed one can be sent again. */
TEST_F(pair, copied_and_sent_again)
{
	struct doca_comch_task_send *task;
	char text[] = "first";
	int i;

	self->client.keep = true;
	ASSERT_EQ(DOCA_SUCCESS, end_alloc(&self->client, text, sizeof(text), &task));
	strcpy(text, "other");
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(DOCA_SUCCESS, doca_task_submit(doca_comch_task_send_as_task(task)));
		ASSERT_EQ(1, end_drain(&self->server));
		ASSERT_STREQ("first", (char *)self->server.last);
		ASSERT_EQ(1, end_drain(&self->client));
		ASSERT_EQ(i, self->client.sent);
	}
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* The smaller limit of both ends goes, in both directions. */
TEST(smaller_limit)
{
	struct end server = { 0 }, client = { 0 };
	struct doca_comch_task_send *task = NULL;
	uint8_t bytes[MSG_MAX + 1];

	doca_own_domain();
	fill(bytes, sizeof(bytes));
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&server, "limit", 1));
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&client, "limit", 1));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_server_set_max_msg_size(server.server, 100));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_client_set_max_msg_size(client.client, 50));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(server.ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(client.ctx));
	end_drain(&server);
	end_drain(&client);
	doca_comch_client_get_connection(client.client, &client.conn);
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, end_alloc(&server, bytes, 51, &task));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, end_alloc(&client, bytes, 51, &task));
	ASSERT_EQ(NULL, task);
	ASSERT_EQ(DOCA_SUCCESS, end_send(&server, bytes, 50));
	ASSERT_EQ(DOCA_SUCCESS, end_send(&client, bytes, 50));
	ASSERT_EQ(2, end_drain(&server));
	ASSERT_EQ(2, end_drain(&client));
	ASSERT_EQ(50, server.bytes);
	ASSERT_EQ(50, client.bytes);
	ASSERT_EQ(DOCA_SUCCESS, ends_destroy(&server, &client));
}

/* ---- a queue that is full ------------------------------------------------------------ */

/**
 * struct flood - a client that sends until nothing is taken any more
 * @n: so many were submitted
 */
FIXTURE(flood)
{
	struct end server, client;
	uint32_t n;
};

enum { FLOOD = 1024 };

/* Every task is taken, whether there is room or not; what is sent is a number each. */
FIXTURE_SETUP(flood)
{
	uint8_t bytes[MSG_MAX] = { 0 };

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&self->server, "flood", 1));
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&self->client, "flood", FLOOD));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(self->server.ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(self->client.ctx));
	end_drain(&self->server);
	end_drain(&self->client);
	doca_comch_client_get_connection(self->client.client, &self->client.conn);
	for (self->n = 0; self->n < FLOOD; self->n++) {
		memcpy(bytes, &self->n, sizeof(self->n));
		ASSERT_EQ(DOCA_SUCCESS, end_send(&self->client, bytes, sizeof(bytes)));
	}
	ASSERT_EQ(DOCA_ERROR_NO_MEMORY, end_send(&self->client, bytes, sizeof(bytes)));
}

FIXTURE_TEARDOWN(flood)
{
	EXPECT_EQ(DOCA_SUCCESS, ends_destroy(&self->server, &self->client));
}

static uint32_t last_number(const struct end *end)
{
	uint32_t n;

	memcpy(&n, end->last, sizeof(n));
	return n;
}

/* More than 32 of the largest fit; the rest waits, and arrives in order. */
TEST_F(flood, arrives_in_order)
{
	struct end *server = &self->server, *client = &self->client;
	size_t inflight;

	end_drain(client);
	ASSERT_LT(32, client->sent);
	ASSERT_LT(client->sent, FLOOD);
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_get_num_inflight_tasks(client->ctx, &inflight));
	ASSERT_EQ(FLOOD - client->sent, inflight);
	while (server->messages < FLOOD) {
		const unsigned int before = server->messages;

		while (doca_pe_progress(server->pe))
			ASSERT_EQ(server->messages - 1, last_number(server));
		ASSERT_LT(before, server->messages);
		end_drain(client);
	}
	ASSERT_EQ(FLOOD, client->sent);
	ASSERT_EQ(0, client->unsent);
}

/* Though there is room again, one that is submitted waits for those before it. */
TEST_F(flood, no_overtaking)
{
	struct end *server = &self->server, *client = &self->client;
	uint32_t n = FLOOD;

	end_drain(client);
	end_drain(server);
	ASSERT_EQ(DOCA_SUCCESS, end_send(client, &n, sizeof(n)));
	while (server->messages <= FLOOD) {
		while (doca_pe_progress(server->pe))
			ASSERT_EQ(server->messages - 1, last_number(server));
		end_drain(client);
	}
}

/* What a progress says is sent arrives, what it says is not does not. */
TEST_F(flood, stopped)
{
	struct end *server = &self->server, *client = &self->client;

	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(client->ctx));
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, end_state_of(client));
	ASSERT_EQ(FLOOD, end_drain(client));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(client));
	ASSERT_LT(32, client->sent);
	ASSERT_EQ(FLOOD, client->sent + client->unsent);
	ASSERT_EQ(DOCA_ERROR_SHUTDOWN, client->status);
	while (doca_pe_progress(server->pe))
		;
	ASSERT_EQ(client->sent, server->messages);
	ASSERT_EQ(client->sent - 1, last_number(server));
	ASSERT_EQ(1, server->goes);
}

/* The other end has gone: those that wait fail. */
TEST_F(flood, disconnected)
{
	struct end *server = &self->server, *client = &self->client;

	ASSERT_EQ(DOCA_SUCCESS, doca_comch_server_disconnect(server->server, server->conn));
	ASSERT_EQ(0, server->goes);
	ASSERT_EQ(DOCA_ERROR_NOT_CONNECTED,
		  doca_comch_server_disconnect(server->server, server->conn));
	ASSERT_EQ(1, doca_pe_progress(server->pe));
	ASSERT_EQ(1, server->goes);
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_disconnect(server->server, server->conn));
	end_drain(client);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(client));
	ASSERT_EQ(FLOOD, client->sent + client->unsent);
	ASSERT_NE(0, client->unsent);
	ASSERT_EQ(DOCA_ERROR_CONNECTION_RESET, client->status);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(server));
}

/* A task that is freed while it waits is not sent, and the others are. */
TEST_F(flood, freed_in_flight)
{
	struct end *client = &self->client;
	struct doca_comch_task_send *tasks[3];
	static uint8_t filler[MSG_MAX];
	int i;

	end_drain(client);
	while (end_drain(&self->server) + end_drain(client))
		;
	ASSERT_EQ(FLOOD, client->sent);
	for (i = 0; i < FLOOD - 3; i++)
		ASSERT_EQ(DOCA_SUCCESS, end_send(client, filler, sizeof(filler)));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(DOCA_SUCCESS, end_alloc(client, &i, sizeof(i), &tasks[i]));
		ASSERT_EQ(DOCA_SUCCESS,
			  doca_task_submit(doca_comch_task_send_as_task(tasks[i])));
	}
	/* The one in the middle of those that wait is never sent. */
	doca_task_free(doca_comch_task_send_as_task(tasks[1]));
	self->server.messages = 0;
	while (end_drain(&self->server) + end_drain(client))
		;
	ASSERT_EQ(2 * FLOOD - 1, client->sent);
	ASSERT_EQ(FLOOD - 1, self->server.messages);
	ASSERT_EQ(2, last_number(&self->server));
}

/* A sender whose queue is full sleeps until there is room. */
TEST_F(flood, notification)
{
	struct end *server = &self->server, *client = &self->client;

	end_drain(client);
	ASSERT_EQ(DOCA_SUCCESS, doca_pe_request_notification(client->pe));
	ASSERT_EQ(0, readable(client->pe));
	end_drain(server);
	ASSERT_EQ(1, readable(client->pe));
	while (end_drain(client) + end_drain(server))
		;
	ASSERT_EQ(FLOOD, client->sent);
	ASSERT_EQ(0, readable(client->pe));
}

TEST_HARNESS_MAIN
