// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pe.c - progress engines
 *
 * What an engine has to deliver is in a list, oldest first. When the list is empty, and
 * now and then when it is not, it looks for more: completions of its wait queues, of
 * which those of one event cost nothing for all the others, and descriptors that are
 * polled, which epoll(7) tells.
 *
 * The notification handle is an epoll file with all of that in it: the queues, the
 * polled descriptors, and a bell, which is on while the list is not empty and a
 * notification is requested. So nothing can be missed between a look and a sleep: each
 * of them is readable for as long as it has something.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Completions taken from a queue at a time. */
#define BATCH		32
/* Of so many deliveries one looks for more, though there is more in the list. */
#define LOOK_EVERY	16
/* Descriptors polled at a look until one has something to deliver. */
#define POLL_MOST	8
/* Works in a progress that have nothing to deliver. */
#define NOTHING_MOST	16
/* The cookie of an entry that is no work; see sed_pe_reserve(). */
#define TRIAL		0

/**
 * struct queue - a wait queue of one provider
 * @q: NULL: not needed yet
 * @waiting: works that wait in it
 * @reserved: how many may
 */
struct queue {
	struct syncevent_queue *q;
	size_t waiting;
	size_t reserved;
};

/**
 * struct doca_pe - an engine
 * @ready: what is to be delivered
 * @turns: deliveries
 * @queues: by provider
 * @handle: epoll file of all that can become ready; what programs sleep on
 * @sources: epoll file of what is polled, part of @handle
 * @nr_sources: how many
 * @bell: eventfd, part of @handle
 * @ringing: it is readable
 * @armed: notifications are requested
 * @ctxs: all contexts
 * @inflight: tasks of all
 */
struct doca_pe {
	struct sed_works ready;
	unsigned int turns;
	struct queue queues[SYNCEVENT_PROVIDER_SHM + 1];
	int handle;
	int sources;
	unsigned int nr_sources;
	int bell;
	bool ringing;
	bool armed;
	LIST_HEAD(, doca_ctx) ctxs;
	size_t inflight;
};

static int epoll_add(int epoll, int fd, uint32_t events, void *ptr)
{
	struct epoll_event event = { .events = events, .data.ptr = ptr };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

doca_error_t doca_pe_create(struct doca_pe **out)
{
	struct doca_pe *pe;
	int err;

	if (!out)
		return DOCA_ERROR_INVALID_VALUE;
	pe = calloc(1, sizeof(*pe));
	if (!pe)
		return DOCA_ERROR_NO_MEMORY;
	TAILQ_INIT(&pe->ready);
	LIST_INIT(&pe->ctxs);
	pe->handle = epoll_create1(EPOLL_CLOEXEC);
	if (pe->handle < 0) {
		err = -errno;
		goto err_free;
	}
	pe->sources = epoll_create1(EPOLL_CLOEXEC);
	if (pe->sources < 0) {
		err = -errno;
		goto err_handle;
	}
	pe->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pe->bell < 0) {
		err = -errno;
		goto err_sources;
	}
	err = epoll_add(pe->handle, pe->sources, EPOLLIN, NULL);
	if (!err)
		err = epoll_add(pe->handle, pe->bell, EPOLLIN, NULL);
	if (err)
		goto err_bell;
	*out = pe;
	return DOCA_SUCCESS;

err_bell:
	close(pe->bell);
err_sources:
	close(pe->sources);
err_handle:
	close(pe->handle);
err_free:
	free(pe);
	return sed_error(err);
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	size_t i;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	if (!LIST_EMPTY(&pe->ctxs))
		return DOCA_ERROR_IN_USE;
	for (i = 0; i < SED_ARRAY_SIZE(pe->queues); i++)
		syncevent_queue_close(pe->queues[i].q);
	close(pe->bell);
	close(pe->sources);
	close(pe->handle);
	free(pe);
	return DOCA_SUCCESS;
}

/* ---- what is ready --------------------------------------------------------------- */

static void ring(struct doca_pe *pe, bool on)
{
	if (pe->ringing == on)
		return;
	pe->ringing = on;
	if (on)
		(void)eventfd_write(pe->bell, 1);
	else
		(void)eventfd_read(pe->bell, &(eventfd_t){ 0 });
}

void sed_pe_post(struct doca_pe *pe, struct sed_work *work)
{
	if (work->state == SED_WORK_READY)
		return;
	work->state = SED_WORK_READY;
	TAILQ_INSERT_TAIL(&pe->ready, work, link);
	if (pe->armed)
		ring(pe, true);
}

static void reap(struct doca_pe *pe, struct queue *queue)
{
	struct syncevent_done done[BATCH];
	int i, n;

	n = syncevent_queue_reap(queue->q, done, BATCH, 0);
	for (i = 0; i < n; i++) {
		struct sed_work *work = (struct sed_work *)(uintptr_t)done[i].cookie;

		if (done[i].cookie == TRIAL)
			continue;
		work->status = done[i].status;
		work->value = done[i].value;
		queue->waiting--;
		sed_pe_post(pe, work);
	}
}

static void look(struct doca_pe *pe)
{
	struct epoll_event event;
	unsigned int n;
	size_t i;

	for (i = 0; i < SED_ARRAY_SIZE(pe->queues); i++)
		if (pe->queues[i].waiting)
			reap(pe, &pe->queues[i]);
	/* One at a time, for it may end others. The kernel takes them in turn. */
	for (n = 0; n < POLL_MOST && pe->nr_sources; n++) {
		struct sed_source *source;

		if (epoll_wait(pe->sources, &event, 1, 0) != 1)
			break;
		source = event.data.ptr;
		source->poll(source, event.events);
		if (!TAILQ_EMPTY(&pe->ready))
			break;
	}
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	struct sed_work *work;
	unsigned int n;

	if (!pe)
		return 0;
	/* What turns out to be nothing is none of the program's business. */
	for (n = 0; n < NOTHING_MOST; n++) {
		if (TAILQ_EMPTY(&pe->ready) || !(++pe->turns % LOOK_EVERY))
			look(pe);
		work = TAILQ_FIRST(&pe->ready);
		if (!work) {
			/* Who now sleeps without a word to the engine shall sleep. */
			ring(pe, false);
			return 0;
		}
		TAILQ_REMOVE(&pe->ready, work, link);
		work->state = SED_WORK_NONE;
		if (work->deliver(work))
			return 1;
	}
	return 0;
}

/* ---- what waits -------------------------------------------------------------------- */

enum syncevent_provider sed_provider(struct syncevent *ev)
{
	struct syncevent_stat stat = { .size = sizeof(stat) };

	if (!syncevent_stat(ev, &stat) && stat.provider == SYNCEVENT_PROVIDER_KERNEL)
		return SYNCEVENT_PROVIDER_KERNEL;
	return SYNCEVENT_PROVIDER_SHM;
}

int sed_pe_wait(struct doca_pe *pe, struct sed_work *work, enum syncevent_provider on,
		struct syncevent *ev, enum syncevent_cond cond, uint64_t operand, uint64_t mask)
{
	struct queue *queue = &pe->queues[on];
	int err = syncevent_queue_add(queue->q, ev, cond, operand, mask, (uintptr_t)work,
				      SYNCEVENT_FOREVER);

	if (err)
		return err;
	work->state = SED_WORK_WAITING;
	work->on = (uint8_t)on;
	queue->waiting++;
	return 0;
}

bool sed_pe_withdraw(struct doca_pe *pe, struct sed_work *work)
{
	struct queue *queue = &pe->queues[work->on];

	if (work->state != SED_WORK_WAITING)
		return false;
	if (!syncevent_queue_cancel(queue->q, (uintptr_t)work)) {
		work->state = SED_WORK_NONE;
		queue->waiting--;
		return true;
	}
	/* It is among those to be reaped. */
	while (work->state == SED_WORK_WAITING)
		reap(pe, queue);
	return false;
}

void sed_pe_drop(struct doca_pe *pe, struct sed_work *work)
{
	(void)sed_pe_withdraw(pe, work);
	if (work->state == SED_WORK_READY)
		TAILQ_REMOVE(&pe->ready, work, link);
	work->state = SED_WORK_NONE;
}

static int open_queue(struct doca_pe *pe, enum syncevent_provider on)
{
	struct queue *queue = &pe->queues[on];
	int err;

	if (queue->q)
		return 0;
	err = syncevent_queue_create_on(&queue->q, on);
	if (err)
		return err;
	err = epoll_add(pe->handle, syncevent_queue_fd(queue->q), EPOLLIN, NULL);
	if (err) {
		syncevent_queue_close(queue->q);
		queue->q = NULL;
	}
	return err;
}

int sed_pe_reserve(struct doca_pe *pe, enum syncevent_provider on, struct syncevent *ev,
		   size_t n)
{
	struct queue *queue = &pe->queues[on];
	int err = open_queue(pe, on);

	if (err)
		return err;
	err = syncevent_queue_reserve(queue->q, queue->reserved + n);
	if (err)
		return err;
	/* What the queue has to keep for an event it makes when it is first waited on. */
	err = syncevent_queue_add(queue->q, ev, SYNCEVENT_NEQ, 0, 0, TRIAL,
				  SYNCEVENT_FOREVER);
	if (err) {
		(void)syncevent_queue_reserve(queue->q, queue->reserved);
		return err;
	}
	queue->reserved += n;
	while (syncevent_queue_cancel(queue->q, TRIAL) == -EALREADY)
		reap(pe, queue);
	return 0;
}

void sed_pe_unreserve(struct doca_pe *pe, enum syncevent_provider on, size_t n)
{
	struct queue *queue = &pe->queues[on];

	queue->reserved -= n;
	(void)syncevent_queue_reserve(queue->q, queue->reserved);
}

/* ---- descriptors that are polled ----------------------------------------------------- */

int sed_pe_source_add(struct doca_pe *pe, struct sed_source *source, uint32_t events)
{
	int err = epoll_add(pe->sources, source->fd, events, source);

	if (!err)
		pe->nr_sources++;
	return err;
}

void sed_pe_source_events(struct doca_pe *pe, struct sed_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	(void)epoll_ctl(pe->sources, EPOLL_CTL_MOD, source->fd, &event);
}

void sed_pe_source_del(struct doca_pe *pe, struct sed_source *source)
{
	(void)epoll_ctl(pe->sources, EPOLL_CTL_DEL, source->fd, NULL);
	pe->nr_sources--;
}

/* ---- notifications --------------------------------------------------------------------- */

doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle)
{
	if (!pe || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = pe->handle;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	pe->armed = true;
	ring(pe, !TAILQ_EMPTY(&pe->ready));
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle)
{
	(void)handle;
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	pe->armed = false;
	ring(pe, false);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode)
{
	if (!pe || (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE &&
		    event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL))
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

/* ---- contexts --------------------------------------------------------------------------- */

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (!pe || !ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->pe)
		return DOCA_ERROR_NOT_PERMITTED;
	ctx->pe = pe;
	LIST_INSERT_HEAD(&pe->ctxs, ctx, link);
	return DOCA_SUCCESS;
}

void sed_pe_disconnect(struct doca_ctx *ctx)
{
	if (ctx->pe)
		LIST_REMOVE(ctx, link);
	ctx->pe = NULL;
}

void sed_pe_inflight(struct doca_pe *pe, int more)
{
	pe->inflight += (size_t)more;
}

doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
					    size_t *num_inflight_tasks)
{
	if (!pe || !num_inflight_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	*num_inflight_tasks = pe->inflight;
	return DOCA_SUCCESS;
}
