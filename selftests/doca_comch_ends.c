// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_comch_ends.c - the end of connections, servers and clients: in which order it is
 * told, what becomes of messages, what callbacks may do; and who sleeps is woken
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

/* ---- the end of connections ---------------------------------------------------------- */

/* What was sent before the end is received before the end is told. */
TEST_F(pair, messages_before_the_end)
{
	struct end *server = &self->server, *client = &self->client;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(DOCA_SUCCESS, end_send(client, &i, sizeof(i)));
	/* The client has something that it did not read: the end is a reset. */
	ASSERT_EQ(DOCA_SUCCESS, end_send(server, "unread", 6));
	ASSERT_EQ(1, end_drain(server) - 3);
	server->messages = 0;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(DOCA_SUCCESS, end_send(client, &i, sizeof(i)));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(client->ctx));
	ASSERT_EQ(6, end_drain(client));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(client));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, server->goes);
		ASSERT_EQ(1, doca_pe_progress(server->pe));
		ASSERT_EQ(i + 1, server->messages);
	}
	ASSERT_EQ(1, doca_pe_progress(server->pe));
	ASSERT_EQ(1, server->goes);
	ASSERT_EQ(0, doca_pe_progress(server->pe));
}

/* A client whose server stops gets the messages, and becomes IDLE by itself. */
TEST_F(pair, server_stops)
{
	struct end *server = &self->server, *client = &self->client;

	ASSERT_EQ(DOCA_SUCCESS, end_send(server, "last words", 11));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(server->ctx));
	ASSERT_EQ(1, server->goes);
	ASSERT_EQ(1, end_drain(server));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(server));
	ASSERT_EQ(1, server->sent);
	ASSERT_EQ(1, doca_pe_progress(client->pe));
	ASSERT_STREQ("last words", (char *)client->last);
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(client));
	ASSERT_EQ(1, doca_pe_progress(client->pe));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(client));
	ASSERT_EQ(1, client->states[DOCA_CTX_STATE_IDLE]);
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_ctx_stop(client->ctx));
}

/* A message to who has gone: its task fails, whether that was told already or not. */
TEST_F(pair, send_to_nobody)
{
	struct end *server = &self->server, *client = &self->client;
	struct doca_comch_task_send *task;

	server->keep = true;
	ASSERT_EQ(DOCA_SUCCESS, end_alloc(server, "x", 1, &task));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(client->ctx));
	ASSERT_EQ(DOCA_SUCCESS, doca_task_submit(doca_comch_task_send_as_task(task)));
	ASSERT_EQ(2, end_drain(server));
	ASSERT_EQ(1, server->unsent);
	ASSERT_EQ(DOCA_ERROR_CONNECTION_RESET, server->status);
	ASSERT_EQ(1, server->goes);
	/* The connection does not exist any more. */
	ASSERT_EQ(DOCA_ERROR_NOT_CONNECTED, doca_task_submit(doca_comch_task_send_as_task(task)));
	ASSERT_EQ(DOCA_ERROR_NOT_CONNECTED,
		  doca_task_submit_ex(doca_comch_task_send_as_task(task), 0));
	ASSERT_EQ(DOCA_ERROR_NOT_CONNECTED,
		  doca_task_try_submit(doca_comch_task_send_as_task(task)));
	doca_task_free(doca_comch_task_send_as_task(task));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, end_alloc(server, "x", 1, &task));
}

static bool joins(struct end *server, struct end *client)
{
	return doca_ctx_start(client->ctx) == DOCA_ERROR_IN_PROGRESS && end_drain(server) == 1 &&
	       end_drain(client) == 1;
}

/*
 * Nor does it go to who came later, whose connection may lie where that one did. There is
 * no memory of that size but of connections to be had again: clients have no tasks.
 */
TEST(send_to_who_came_later)
{
	struct doca_comch_task_send *unused, *used;
	static struct end server, clients[2];
	unsigned int i;

	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&server, "later", 2));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(DOCA_SUCCESS, end_make_client(&clients[i], "later", 0));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(server.ctx));
	ASSERT_TRUE(joins(&server, &clients[0]));
	server.keep = true;
	ASSERT_EQ(DOCA_SUCCESS, end_alloc(&server, "a", 2, &unused));
	ASSERT_EQ(DOCA_SUCCESS, end_alloc(&server, "b", 2, &used));
	ASSERT_EQ(DOCA_SUCCESS, doca_task_submit(doca_comch_task_send_as_task(used)));
	ASSERT_EQ(1, end_drain(&server));
	ASSERT_EQ(1, end_drain(&clients[0]));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(clients[0].ctx));
	ASSERT_EQ(1, end_drain(&server));
	ASSERT_EQ(1, server.goes);
	ASSERT_TRUE(joins(&server, &clients[1]));
	ASSERT_EQ(DOCA_ERROR_NOT_CONNECTED, doca_task_submit(doca_comch_task_send_as_task(unused)));
	ASSERT_EQ(DOCA_ERROR_NOT_CONNECTED, doca_task_submit(doca_comch_task_send_as_task(used)));
	doca_task_free(doca_comch_task_send_as_task(unused));
	doca_task_free(doca_comch_task_send_as_task(used));
	ASSERT_EQ(0, end_drain(&clients[1]));
	ASSERT_EQ(DOCA_SUCCESS, end_destroy(&clients[0]));
	ASSERT_EQ(DOCA_SUCCESS, ends_destroy(&server, &clients[1]));
}

/* A task that is the program's keeps the context from IDLE. */
TEST_F(pair, task_holds)
{
	struct end *client = &self->client;
	struct doca_comch_task_send *task, *more;

	ASSERT_EQ(DOCA_SUCCESS, end_alloc(client, "x", 1, &task));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(client->ctx));
	ASSERT_EQ(DOCA_ERROR_IN_USE, doca_comch_client_destroy(client->client));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, end_alloc(client, "x", 1, &more));
	ASSERT_EQ(DOCA_ERROR_BAD_STATE, doca_task_submit(doca_comch_task_send_as_task(task)));
	ASSERT_EQ(DOCA_CTX_STATE_STOPPING, end_state_of(client));
	doca_task_free(doca_comch_task_send_as_task(task));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(client));
}

/* ---- inside of callbacks ------------------------------------------------------------- */

static void stop_it(struct end *end)
{
	doca_ctx_stop(end->ctx);
}

static void destroy_it(struct end *end)
{
	if (end->server)
		doca_comch_server_destroy(end->server);
	else
		doca_comch_client_destroy(end->client);
	end->server = NULL;
	end->client = NULL;
	end->ctx = NULL;
}

static void disconnect_it(struct end *end)
{
	doca_comch_server_disconnect(end->server, end->conn);
}

static void answer_it(struct end *end)
{
	end_send(end, end->last, end->bytes);
}

static void fail_to_destroy_it(struct end *end)
{
	end->status = doca_comch_server_destroy(end->server);
}

TEST_F(pair, answer_in_callback)
{
	self->server.on_message = answer_it;
	ASSERT_EQ(DOCA_SUCCESS, end_send(&self->client, "ping", 5));
	ASSERT_EQ(2, end_drain(&self->server));
	ASSERT_EQ(2, end_drain(&self->client));
	ASSERT_STREQ("ping", (char *)self->client.last);
}

TEST_F(pair, disconnect_in_callback)
{
	self->server.on_message = disconnect_it;
	ASSERT_EQ(DOCA_SUCCESS, end_send(&self->client, "a", 2));
	ASSERT_EQ(DOCA_SUCCESS, end_send(&self->client, "b", 2));
	ASSERT_EQ(2, end_drain(&self->server));
	ASSERT_EQ(1, self->server.messages);
	ASSERT_EQ(1, self->server.goes);
	end_drain(&self->client);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&self->client));
}

/* Stopped and destroyed in the callback of a message, while another is there. */
TEST(destroy_in_callbacks)
{
	struct end server, client;
	int which, i;

	doca_own_domain();
	for (which = 0; which < 2; which++) {
		struct end *end = which ? &server : &client, *other = which ? &client : &server;

		memset(&server, 0, sizeof(server));
		memset(&client, 0, sizeof(client));
		ASSERT_EQ(DOCA_SUCCESS, ends_connect(&server, &client, "callbacks"));
		end->on_message = stop_it;
		end->on_idle = destroy_it;
		for (i = 0; i < 2; i++)
			ASSERT_EQ(DOCA_SUCCESS, end_send(other, "x", 1));
		ASSERT_EQ(1, end_drain(end));
		ASSERT_EQ(1, end->messages);
		ASSERT_EQ(NULL, end->ctx);
		end_drain(other);
		if (which) {
			ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(other));
		} else {
			ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(other->ctx));
		}
		ASSERT_EQ(DOCA_SUCCESS, end_destroy(end));
		ASSERT_EQ(DOCA_SUCCESS, end_destroy(other));
	}
}

/* In the callback that tells of the end, which the stop calls: it is STOPPING yet. */
TEST_F(pair, destroy_in_disconnect)
{
	self->server.on_goes = fail_to_destroy_it;
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(self->server.ctx));
	ASSERT_EQ(1, self->server.goes);
	ASSERT_EQ(DOCA_ERROR_IN_USE, self->server.status);
	end_drain(&self->client);
}

static struct doca_comch_task_send *held;

static void free_held(struct end *end)
{
	(void)end;
	doca_task_free(doca_comch_task_send_as_task(held));
}

/* The last task is freed in the callback that the stop calls. */
TEST_F(pair, free_in_disconnect)
{
	self->server.on_goes = free_held;
	ASSERT_EQ(DOCA_SUCCESS, end_alloc(&self->server, "x", 1, &held));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_stop(self->server.ctx));
	ASSERT_EQ(1, self->server.states[DOCA_CTX_STATE_IDLE]);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&self->server));
	end_drain(&self->client);
}

/* ---- sleeping ------------------------------------------------------------------------ */

/* The handle of the engine is readable when a message has come, not before, not after. */
TEST_F(pair, notification)
{
	struct end *server = &self->server, *client = &self->client;

	ASSERT_EQ(DOCA_SUCCESS, doca_pe_request_notification(server->pe));
	ASSERT_EQ(0, readable(server->pe));
	ASSERT_EQ(DOCA_SUCCESS, end_send(client, "x", 1));
	ASSERT_EQ(1, readable(server->pe));
	ASSERT_EQ(DOCA_SUCCESS, doca_pe_clear_notification(server->pe, 0));
	ASSERT_EQ(1, end_drain(server));
	ASSERT_EQ(DOCA_SUCCESS, doca_pe_request_notification(server->pe));
	ASSERT_EQ(0, readable(server->pe));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(client->ctx));
	ASSERT_EQ(1, readable(server->pe));
	end_drain(client);
	ASSERT_EQ(1, end_drain(server));
	ASSERT_EQ(0, readable(server->pe));
}

TEST_HARNESS_MAIN
