/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_pci_orders.h - what one of two machines has the other do by DOCA's calls, beside what
 * is in pci_orders.h: make and import events, be an end of comch, wait whatever happens.
 */
#ifndef SELFTESTS_DOCA_PCI_ORDERS_H
#define SELFTESTS_DOCA_PCI_ORDERS_H

#include "doca.h"
#include "doca_ends.h"
#include "pci_orders.h"

/* No event has this value, until it is told to. */
#define NEVER	99ULL
/* Progress of one end until the condition holds. */
#define end_until(end, condition) progress_until((end)->pe, condition)

/* Asleep by the handle of the engine until the condition holds. */
#define sleep_until(engine, condition) ({						\
	struct pollfd __pfd = { .events = POLLIN };					\
	bool __ok = !doca_pe_get_notification_handle(engine, &__pfd.fd);		\
											\
	for (;;) {									\
		while (doca_pe_progress(engine))					\
			;								\
		if (!__ok || (condition))						\
			break;								\
		__ok = !doca_pe_request_notification(engine) &&				\
		       poll(&__pfd, 1, SE_HANG_S * 1000) == 1 &&			\
		       !doca_pe_clear_notification(engine, 0);				\
	}										\
	__ok;										\
})

/* ---- what the victim does ----------------------------------------------------------------- */

enum own {
	MAKES,		/* an event; the answer is its export */
	ENDS_IT,	/* destroy that */
	TAKES,		/* import what is in the box */
	SETS,		/* that to NEVER, or what it made if that number is none */
	SERVES,		/* be a server by this name */
	ANSWERS,	/* until a client has come to it */
	ASKS,		/* be a client of this name's server */
	MOURNS,		/* wait for what is in the box, whatever happens */
	FATE,		/* answer with how that ended */
};

/**
 * struct fate - of a process that goes on while its machine counts as dead
 * @ended: of a call and a task that waited, and of an import after that
 * @done: all of it
 */
struct fate {
	doca_error_t ended[3];
	bool done;
};

static struct fate *fate;

static doca_error_t import(const struct box *box, struct doca_sync_event **event)
{
	struct doca_dev *dev = doca_open(NULL);
	doca_error_t r;

	if (!dev)
		return DOCA_ERROR_NOT_FOUND;
	r = doca_sync_event_create_from_export(dev, box->bytes, box->size, event);
	/* The event holds it. */
	(void)doca_dev_close(dev);
	return r;
}

/* To the survivor, or from it. */
static doca_error_t export(struct doca_sync_event *event, struct doca_dev *dev, struct box *box)
{
	const uint8_t *blob;
	size_t size;

	TRY(doca_sync_event_export_to_remote_pci(event, dev, &blob, &size));
	if (size > sizeof(box->bytes))
		return DOCA_ERROR_TOO_BIG;
	memcpy(box->bytes, blob, size);
	box->size = (uint32_t)size;
	return DOCA_SUCCESS;
}

/* A context for the waits of an event: begun, in this engine. */
static doca_error_t start_tasks(struct doca_pe *pe, struct doca_sync_event *event,
				struct seen *seen)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	seen->keep = true;
	TRY(conf_all(event, 2));
	TRY(doca_pe_connect_ctx(pe, ctx));
	TRY(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = seen }));
	return doca_ctx_start(ctx);
}

static doca_error_t submit_wait_eq(struct doca_sync_event *event, struct doca_task **task)
{
	struct doca_sync_event_task_wait_eq *eq;

	TRY(doca_sync_event_task_wait_eq_alloc_init(event, NEVER, SE_ALL, no_data, &eq));
	*task = AS_TASK(wait_eq, eq);
	return doca_task_submit(*task);
}

static doca_error_t submit_wait_neq(struct doca_sync_event *event, struct doca_task **task)
{
	struct doca_sync_event_task_wait_neq *neq;

	TRY(doca_sync_event_task_wait_neq_alloc_init(event, 0, SE_ALL, no_data, &neq));
	*task = AS_TASK(wait_neq, neq);
	return doca_task_submit(*task);
}

/* In a process that nobody ends but itself. */
static void mourn(const struct box *box)
{
	struct doca_sync_event *by_call, *by_task, *anew;
	struct box copy = *box;
	struct doca_task *task;
	struct seen seen = { 0 };
	struct doca_pe *pe;
	uint64_t value;

	if (import(&copy, &by_call) || doca_sync_event_start(by_call) ||
	    import(&copy, &by_task) || doca_pe_create(&pe) ||
	    start_tasks(pe, by_task, &seen) || submit_wait_eq(by_task, &task))
		_exit(1);
	fate->ended[0] = doca_sync_event_wait_eq_yield(by_call, NEVER, SE_ALL);
	fate->ended[1] = sleep_until(pe, seen.failed) ? doca_task_get_status(task) :
							DOCA_ERROR_TIME_OUT;
	doca_task_free(task);
	if (doca_ctx_stop(doca_sync_event_as_ctx(by_task)) || doca_sync_event_destroy(by_task) ||
	    doca_sync_event_destroy(by_call) || doca_pe_destroy(pe))
		_exit(2);
	/* It is attached anew, which takes a moment. */
	se_until(!(fate->ended[2] = import(&copy, &anew)));
	if (!fate->ended[2])
		fate->ended[2] = doca_sync_event_start(anew) ?: doca_sync_event_get(anew, &value);
	__atomic_store_n(&fate->done, true, __ATOMIC_RELEASE);
	_exit(0);
}

static int own(struct box *box, const struct order *o, struct answer *answer)
{
	static struct doca_sync_event *made, *taken[HELD];
	static struct end ends[HELD];
	struct end *end = &ends[o->event];
	struct doca_dev *dev;
	doca_error_t result;

	switch ((enum own)o->value) {
	case MAKES:
		dev = doca_open(NULL);
		made = dev ? make_event(dev) : NULL;
		if (!made)
			return DOCA_ERROR_NOT_FOUND;
		TRY(doca_sync_event_start(made));
		return (int)export(made, dev, box);
	case ENDS_IT:
		return (int)doca_sync_event_destroy(made);
	case TAKES:
		TRY(import(box, &taken[o->event]));
		return (int)doca_sync_event_start(taken[o->event]);
	case SETS:
		return (int)doca_sync_event_update_set(taken[o->event] ?: made, NEVER);
	case SERVES:
		TRY(end_make_server(end, o->name, TASKS));
		/* Its name is free when the server of the last life has gone. */
		se_until((result = doca_ctx_start(end->ctx)) != DOCA_ERROR_IN_USE);
		return (int)result;
	case ANSWERS:
		return end_until(end, end->comes) ? 0 : DOCA_ERROR_TIME_OUT;
	case ASKS:
		TRY(end_make_client(end, o->name, TASKS));
		if (doca_ctx_start(end->ctx) != DOCA_ERROR_IN_PROGRESS)
			return DOCA_ERROR_UNEXPECTED;
		if (!end_until(end, end_state_of(end) != DOCA_CTX_STATE_STARTING))
			return DOCA_ERROR_TIME_OUT;
		TRY(doca_comch_client_get_connection(end->client, &end->conn));
		return (int)end_send(end, "hello", 6);
	case MOURNS:
		memset(fate, 0, sizeof(*fate));
		if (!fork())
			mourn(box);
		return 0;
	case FATE:
		if (!se_until(__atomic_load_n(&fate->done, __ATOMIC_ACQUIRE)))
			return DOCA_ERROR_TIME_OUT;
		answer->value = fate->ended[0];
		answer->imported = fate->ended[1];
		answer->missed = fate->ended[2];
		return 0;
	}
	return -EINVAL;
}

/* Before either begins. Return: 0 */
static int own_prepare(void)
{
	fate = mmap(NULL, sizeof(*fate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	own_verb = own;
	doca_server_device = NULL;
	doca_client_device = NULL;
	return fate == MAP_FAILED;
}

#endif /* SELFTESTS_DOCA_PCI_ORDERS_H */
