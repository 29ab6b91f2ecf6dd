/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * sync_event_common.h - what the two Sync Event samples share
 *
 * Each of them is the server of the comch if it is compiled with -DDOCA_ARCH_DPU, else
 * its client: the two programs that run together need one of each.
 */
#ifndef SYNC_EVENT_COMMON_H
#define SYNC_EVENT_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#define CHANNEL_NAME		"sync_event_sample"
#define CHANNEL_MSG_SIZE	1024
#define CHANNEL_TASKS		8
#define PATIENCE_MS		30000

/**
 * struct sync_event_config - the command line
 * @dev_pci_addr: device to use
 * @rep_pci_addr: server: the side that the client is on
 * @is_async: use tasks and a progress engine
 * @async_num_tasks: how many; they are updates, of which the last one is waited for
 * @is_atomic: add instead of set
 */
struct sync_event_config {
	char dev_pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	bool is_async;
	uint32_t async_num_tasks;
	bool is_atomic;
};

/**
 * struct channel - the comch to the other program
 * @conn: server: its client; NULL: there is none now
 * @message: the last one that came, of @length bytes
 * @sending: messages that are on their way
 */
struct channel {
	struct doca_pe *pe;
#ifdef DOCA_ARCH_DPU
	struct doca_comch_server *server;
#else
	struct doca_comch_client *client;
#endif
	struct doca_ctx *ctx;
	struct doca_comch_connection *conn;
	uint8_t message[CHANNEL_MSG_SIZE];
	uint32_t length;
	uint32_t sending;
	doca_error_t result;
};

/**
 * struct sync_event_objects - all that a sample makes, in the order of its making
 * @done: tasks that have completed
 * @result: SUCCESS, or of the first task that failed
 */
struct sync_event_objects {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct channel channel;
	struct doca_sync_event *event;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	uint32_t done;
	doca_error_t result;
};

/* Opens the devices and the comch, until the other program is there. */
doca_error_t sync_event_connect(struct sync_event_objects *objects,
				const struct sync_event_config *config);

/* The comch, a message to the other program, and one from it. */
doca_error_t channel_open(struct channel *channel, struct doca_dev *dev, struct doca_dev_rep *rep);
doca_error_t channel_close(struct channel *channel);
doca_error_t channel_send(struct channel *channel, const void *message, size_t length);
doca_error_t channel_receive(struct channel *channel);

/* The event of the samples is driven by an engine: between create and start. */
doca_error_t sync_event_make_async(struct sync_event_objects *objects);

/* Progress until so many tasks have completed; their callbacks call task_done(). */
doca_error_t sync_event_wait_tasks(struct sync_event_objects *objects, uint32_t count);
void task_done(struct doca_task *task, union doca_data ctx_user_data);

/* Undoes all that was done, whatever it is; keeps the first error. */
doca_error_t sync_event_tear_down(struct sync_event_objects *objects, doca_error_t result);

/* The samples. */
doca_error_t sync_event_local_pci(const struct sync_event_config *config);
doca_error_t sync_event_remote_pci(const struct sync_event_config *config);

/* main() of both. */
int sync_event_main(int argc, char **argv, const char *name,
		    doca_error_t (*sample)(const struct sync_event_config *config));

#endif /* SYNC_EVENT_COMMON_H */
