// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_comch_calls.c - each call of doca_comch.h: what it answers to NULL, to values out
 * of range, in each state, and what it tells
 */
#include "doca_ends.h"

FIXTURE(calls)
{
	struct end server, client;
	struct doca_dev *host, *dpu;
	struct doca_dev_rep *rep;
};

FIXTURE_SETUP(calls)
{
	doca_own_domain();
	ASSERT_EQ(DOCA_SUCCESS, end_make_server(&self->server, "calls", 2));
	ASSERT_EQ(DOCA_SUCCESS, end_make_client(&self->client, "calls", 2));
	self->host = self->client.dev;
	self->dpu = self->server.dev;
	self->rep = self->server.rep;
	ASSERT_NE(NULL, self->host);
	ASSERT_NE(NULL, self->rep);
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_EQ(DOCA_SUCCESS, ends_destroy(&self->server, &self->client));
}

/* ---- capabilities -------------------------------------------------------------------- */

TEST_F(calls, capabilities)
{
	const struct doca_devinfo *host = doca_dev_as_devinfo(self->host);
	const struct doca_devinfo *dpu = doca_dev_as_devinfo(self->dpu);
	uint32_t value = 0xcccccccc;

	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_name_len(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_name_len(host, NULL));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_name_len(host, &value));
	EXPECT_EQ(120, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_name_len(dpu, &value));
	EXPECT_EQ(120, value);
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_msg_size(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_msg_size(host, NULL));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_msg_size(host, &value));
	EXPECT_EQ(MSG_MAX, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_msg_size(dpu, &value));
	EXPECT_EQ(MSG_MAX, value);
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_recv_queue_size(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_recv_queue_size(host, NULL));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_recv_queue_size(host, &value));
	EXPECT_EQ(1024, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_recv_queue_size(dpu, &value));
	EXPECT_EQ(1024, value);
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_clients(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_clients(host, NULL));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_clients(host, &value));
	EXPECT_EQ(64, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_clients(dpu, &value));
	EXPECT_EQ(64, value);
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_send_tasks(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_get_max_send_tasks(host, NULL));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_send_tasks(host, &value));
	EXPECT_EQ(1024, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_get_max_send_tasks(dpu, &value));
	EXPECT_EQ(1024, value);
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_server_is_supported(NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_cap_client_is_supported(NULL));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_server_is_supported(dpu));
	EXPECT_EQ(DOCA_ERROR_NOT_SUPPORTED, doca_comch_cap_server_is_supported(host));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_client_is_supported(host));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_cap_client_is_supported(dpu));
}

/* ---- making -------------------------------------------------------------------------- */

TEST_F(calls, create)
{
	struct doca_comch_server *server = NULL;
	struct doca_comch_client *client = NULL;
	char name[122];

	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_create(NULL, self->rep, "x", &server));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_create(self->dpu, NULL, "x", &server));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_create(self->dpu, self->rep, NULL, &server));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_create(self->dpu, self->rep, "x", NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_create(self->dpu, self->rep, "", &server));
	/* A representor of another device. */
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_create(self->host, self->rep, "x", &server));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_create(NULL, "x", &client));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_create(self->host, NULL, &client));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_create(self->host, "x", NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_create(self->host, "", &client));
	memset(name, 'n', sizeof(name));
	name[120] = '\0';
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_create(self->dpu, self->rep, name, &server));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_create(self->host, name, &client));
	EXPECT_EQ(NULL, server);
	EXPECT_EQ(NULL, client);
	name[119] = '\0';
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_create(self->dpu, self->rep, name, &server));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_create(self->host, name, &client));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_destroy(server));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_destroy(client));
}

/* Devices are in use until all is destroyed. */
TEST_F(calls, devices_in_use)
{
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_dev_close(self->host));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_dev_close(self->dpu));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_dev_rep_close(self->rep));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_pe_destroy(self->server.pe));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_pe_destroy(self->client.pe));
}

/* ---- NULL ---------------------------------------------------------------------------- */

TEST_F(calls, null)
{
	struct doca_comch_server *server = self->server.server;
	struct doca_comch_client *client = self->client.client;
	struct doca_comch_connection *conn;
	struct doca_comch_task_send *task;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint32_t value;

	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_destroy(NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_set_max_msg_size(NULL, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_max_msg_size(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_max_msg_size(server, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_set_recv_queue_size(NULL, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_recv_queue_size(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_recv_queue_size(server, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_device(NULL, &dev));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_device(server, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_device_rep(NULL, &rep));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_get_device_rep(server, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_event_msg_recv_register(NULL, end_message));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_event_msg_recv_register(server, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_event_connection_status_changed_register(NULL,
			end_comes, end_goes));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_event_connection_status_changed_register(server,
			NULL, end_goes));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_event_connection_status_changed_register(server,
			end_comes, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_set_conf(NULL, end_sent, end_unsent, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_set_conf(server, NULL, end_unsent, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_set_conf(server, end_sent, NULL, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_alloc_init(NULL, (void *)server, "", 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_alloc_init(server, NULL, "", 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_disconnect(NULL, (void *)server));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_disconnect(server, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_destroy(NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_set_max_msg_size(NULL, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_max_msg_size(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_max_msg_size(client, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_set_recv_queue_size(NULL, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_recv_queue_size(NULL, &value));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_recv_queue_size(client, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_device(NULL, &dev));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_device(client, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_event_msg_recv_register(NULL, end_message));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_event_msg_recv_register(client, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_set_conf(NULL, end_sent, end_unsent, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_set_conf(client, NULL, end_unsent, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_set_conf(client, end_sent, NULL, 1));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_alloc_init(NULL, (void *)client, "", 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_alloc_init(client, NULL, "", 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_connection(NULL, &conn));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_client_get_connection(client, NULL));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_connection_set_user_data(NULL, (union doca_data){ .u64 = 1 }));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_task_submit(doca_comch_task_send_as_task(NULL)));
	EXPECT_EQ(NULL, doca_comch_server_as_ctx(NULL));
	EXPECT_EQ(NULL, doca_comch_client_as_ctx(NULL));
	EXPECT_EQ(NULL, doca_comch_server_get_server_ctx(NULL));
	EXPECT_EQ(NULL, doca_comch_client_get_client_ctx(NULL));
	EXPECT_EQ(NULL, doca_comch_task_send_as_task(NULL));
	EXPECT_EQ(0, doca_comch_connection_get_user_data(NULL).u64);
}

/* ---- values -------------------------------------------------------------------------- */

TEST_F(calls, sizes)
{
	static const uint32_t bad[] = { 0, MSG_MAX + 1, UINT32_MAX }, queues[] = { 0, 1025, UINT32_MAX };
	struct doca_comch_server *server = self->server.server;
	struct doca_comch_client *client = self->client.client;
	struct doca_dev_rep *rep = NULL;
	struct doca_dev *dev = NULL;
	uint32_t value = 0;
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
			  doca_comch_server_set_max_msg_size(server, bad[i]));
		EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
			  doca_comch_client_set_max_msg_size(client, bad[i]));
		EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
			  doca_comch_server_set_recv_queue_size(server, queues[i]));
		EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
			  doca_comch_client_set_recv_queue_size(client, queues[i]));
	}
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_set_conf(server, end_sent, end_unsent, 1025));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_get_max_msg_size(server, &value));
	EXPECT_EQ(MSG_MAX, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_set_max_msg_size(server, 7));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_get_max_msg_size(server, &value));
	EXPECT_EQ(7, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_set_recv_queue_size(server, 8));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_get_recv_queue_size(server, &value));
	EXPECT_EQ(8, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_set_max_msg_size(client, 9));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_get_max_msg_size(client, &value));
	EXPECT_EQ(9, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_set_recv_queue_size(client, 1024));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_get_recv_queue_size(client, &value));
	EXPECT_EQ(1024, value);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_get_device(server, &dev));
	EXPECT_EQ(self->dpu, dev);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_get_device(client, &dev));
	EXPECT_EQ(self->host, dev);
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_get_device_rep(server, &rep));
	EXPECT_EQ(self->rep, rep);
}

/* ---- states -------------------------------------------------------------------------- */

/* What is for IDLE alone. */
#define CONFIGURES(server, client) do {						\
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_set_max_msg_size(server, MSG_MAX));	\
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_set_recv_queue_size(server, 8));	\
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_event_msg_recv_register(server, end_message)); \
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_event_connection_status_changed_register( \
					server, end_comes, end_goes));			\
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_server_task_send_set_conf(server, end_sent, end_unsent, 2)); \
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_set_max_msg_size(client, MSG_MAX));	\
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_set_recv_queue_size(client, 8));	\
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_event_msg_recv_register(client, end_message)); \
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_task_send_set_conf(client, end_sent, end_unsent, 2)); \
} while (0)

#define DOES_NOT_CONFIGURE(server, client) do {					\
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_set_max_msg_size(server, MSG_MAX)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_set_recv_queue_size(server, 8)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_event_msg_recv_register(server, end_message)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_event_connection_status_changed_register( \
						server, end_comes, end_goes));		\
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_task_send_set_conf(server, end_sent, end_unsent, 2)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_set_max_msg_size(client, MSG_MAX)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_set_recv_queue_size(client, 8)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_event_msg_recv_register(client, end_message)); \
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_task_send_set_conf(client, end_sent, end_unsent, 2)); \
} while (0)

TEST_F(calls, states)
{
	struct doca_comch_server *server = self->server.server;
	struct doca_comch_client *client = self->client.client;
	struct doca_comch_task_send *tasks[2], *task;
	struct doca_comch_connection *conn;

	/* Configuration is legal when connected to an engine. */
	CONFIGURES(server, client);
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_ctx_stop(self->server.ctx));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_ctx_stop(self->client.ctx));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_get_connection(client, &conn));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_disconnect(server, (void *)client));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_server_task_send_alloc_init(server, (void *)client,
									       "x", 1, &task));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_task_send_alloc_init(client, (void *)client,
									       "x", 1, &task));

	/* STARTING and RUNNING. */
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(self->server.ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(self->client.ctx));
	DOES_NOT_CONFIGURE(server, client);
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_ctx_start(self->server.ctx));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_ctx_start(self->client.ctx));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_comch_server_destroy(server));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_comch_client_destroy(client));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_get_connection(client, &conn));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_task_send_alloc_init(client, (void *)client,
									       "x", 1, &task));
	end_drain(&self->server);
	end_drain(&self->client);
	DOES_NOT_CONFIGURE(server, client);
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_comch_server_destroy(server));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_comch_client_destroy(client));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_client_get_connection(client, &conn));

	/* Tasks: one that was not allocated by it, one too many. */
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE, doca_comch_server_disconnect(server, conn));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_server_task_send_alloc_init(server, conn, "x", 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_alloc_init(client, self->server.conn, "x", 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_alloc_init(client, conn, NULL, 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_alloc_init(client, conn, "x", MSG_MAX + 1, &task));
	EXPECT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_comch_client_task_send_alloc_init(client, conn, "x", 1, NULL));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_client_task_send_alloc_init(client, conn, "a", 1, &tasks[0]));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_client_task_send_alloc_init(client, conn, "b", 1, &tasks[1]));
	ASSERT_EQ(DOCA_ERROR_NO_MEMORY,
		  doca_comch_client_task_send_alloc_init(client, conn, "c", 1, &task));

	ASSERT_EQ(DOCA_SUCCESS, doca_comch_server_task_send_alloc_init(server, self->server.conn, "d",
								       1, &task));
	doca_task_free(doca_comch_task_send_as_task(task));

	/* STOPPING, as one is neither submitted nor freed. */
	ASSERT_EQ(DOCA_SUCCESS, doca_task_submit(doca_comch_task_send_as_task(tasks[0])));
	ASSERT_EQ(DOCA_ERROR_IN_USE, doca_task_submit(doca_comch_task_send_as_task(tasks[0])));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(self->client.ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_stop(self->client.ctx));
	DOES_NOT_CONFIGURE(server, client);
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_ctx_start(self->client.ctx));
	EXPECT_EQ(DOCA_ERROR_IN_USE, doca_comch_client_destroy(client));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_comch_client_get_connection(client, &conn));
	EXPECT_EQ(DOCA_ERROR_BAD_STATE, doca_task_submit(doca_comch_task_send_as_task(tasks[1])));
	EXPECT_EQ(1, end_drain(&self->client));
	EXPECT_EQ(1, self->client.sent);
	EXPECT_EQ(DOCA_CTX_STATE_STOPPING, end_state_of(&self->client));
	doca_task_free(doca_comch_task_send_as_task(tasks[1]));
	EXPECT_EQ(DOCA_CTX_STATE_IDLE, end_state_of(&self->client));

	/* IDLE, and all of it again. */
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(self->client.ctx));
	ASSERT_EQ(3, end_drain(&self->server));
	ASSERT_EQ(1, end_drain(&self->client));
	EXPECT_EQ(DOCA_CTX_STATE_RUNNING, end_state_of(&self->client));
	EXPECT_EQ(2, self->server.comes);
	EXPECT_EQ(1, self->server.goes);
}

/* Started without an engine; no task, as there are none. */
TEST_F(calls, not_configured)
{
	struct doca_comch_client *client = NULL;
	struct doca_comch_task_send *task, *kept[2];

	ASSERT_EQ(DOCA_SUCCESS, doca_comch_client_create(self->host, "calls", &client));
	EXPECT_EQ(DOCA_ERROR_NOT_CONNECTED, doca_ctx_start(doca_comch_client_as_ctx(client)));
	EXPECT_EQ(DOCA_SUCCESS, doca_comch_client_destroy(client));
	ASSERT_EQ(DOCA_SUCCESS,
		  doca_comch_client_task_send_set_conf(self->client.client, end_sent, end_unsent, 0));
	ASSERT_EQ(DOCA_SUCCESS, doca_ctx_start(self->server.ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(self->client.ctx));
	end_drain(&self->server);
	end_drain(&self->client);
	doca_comch_client_get_connection(self->client.client, &self->client.conn);
	EXPECT_EQ(DOCA_ERROR_NO_MEMORY,
		  doca_comch_client_task_send_alloc_init(self->client.client, self->client.conn,
							 "x", 1, &task));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_server_task_send_alloc_init(
					self->server.server, self->server.conn, "x", 1, &kept[0]));
	ASSERT_EQ(DOCA_SUCCESS, doca_comch_server_task_send_alloc_init(
					self->server.server, self->server.conn, "x", 1, &kept[1]));
	EXPECT_EQ(DOCA_ERROR_NO_MEMORY, doca_comch_server_task_send_alloc_init(
						self->server.server, self->server.conn, "x", 1, &task));
	doca_task_free(doca_comch_task_send_as_task(kept[0]));
	doca_task_free(doca_comch_task_send_as_task(kept[1]));
}

TEST_HARNESS_MAIN
