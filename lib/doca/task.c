// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * task.c - tasks and the pools that they come from
 *
 * free -alloc-> owned -submit-> in flight -callback-> owned -free-> free. Each task that
 * is not free holds its context.
 */
#include "internal.h"

#include <stdlib.h>

doca_error_t sed_pool_conf(struct sed_pool *pool, struct doca_ctx *ctx,
			   const struct sed_task_ops *ops, void (*done)(void),
			   void (*failed)(void), uint32_t num)
{
	if (!done || !failed)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_NOT_PERMITTED;
	*pool = (struct sed_pool){
		.ops = ops,
		.ctx = ctx,
		.done = done,
		.failed = failed,
		.num = num,
	};
	TAILQ_INIT(&pool->free);
	TAILQ_INIT(&pool->inflight);
	return DOCA_SUCCESS;
}

static bool deliver(struct sed_work *work);

doca_error_t sed_pool_make(struct sed_pool *pool)
{
	if (!pool->ops || !pool->num)
		return DOCA_SUCCESS;
	/* Zeroed pages: what is never used costs nothing. */
	pool->memory = calloc(pool->num, pool->ops->size);
	return pool->memory ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

/* One that was never handed out. */
static struct doca_task *fresh(struct sed_pool *pool)
{
	struct doca_task *task;

	if (pool->used == pool->num)
		return NULL;
	task = (void *)((char *)pool->memory + pool->used++ * pool->ops->size);
	task->work.deliver = deliver;
	task->pool = pool;
	return task;
}

static void landed(struct doca_task *task)
{
	struct doca_ctx *ctx = task->pool->ctx;

	TAILQ_REMOVE(&task->pool->inflight, task, link);
	task->state = SED_TASK_OWNED;
	ctx->inflight--;
	sed_pe_inflight(ctx->pe, -1);
}

/* It is the program's again; the callback may free it, and all that it belongs to. */
static bool deliver(struct sed_work *work)
{
	struct doca_task *task = SED_OF(work, struct doca_task, work);
	const struct sed_pool *pool = task->pool;

	landed(task);
	if (task->status == DOCA_ERROR_IN_PROGRESS)
		task->status = sed_error(work->status);
	pool->ops->callback(task, task->status == DOCA_SUCCESS ? pool->done : pool->failed,
			    task->user_data, pool->ctx->user_data);
	return true;
}

/* Take back one that is in flight. */
static void recall(struct doca_task *task)
{
	if (task->work.state == SED_WORK_NONE)
		task->pool->ops->cancel(task);
	else
		sed_pe_drop(task->pool->ctx->pe, &task->work);
	landed(task);
}

void sed_pool_flush(struct sed_pool *pool)
{
	struct doca_task *task;

	if (!pool->ops)
		return;
	TAILQ_FOREACH(task, &pool->inflight, link) {
		if (task->work.state == SED_WORK_NONE)
			pool->ops->cancel(task);
		else if (!sed_pe_withdraw(pool->ctx->pe, &task->work))
			continue;
		sed_task_done(task, DOCA_ERROR_SHUTDOWN);
	}
}

void sed_pool_free(struct sed_pool *pool)
{
	if (!pool->ops)
		return;
	while (!TAILQ_EMPTY(&pool->inflight))
		recall(TAILQ_FIRST(&pool->inflight));
	free(pool->memory);
	pool->memory = NULL;
	pool->used = 0;
	TAILQ_INIT(&pool->free);
}

doca_error_t sed_task_get(struct sed_pool *pool, struct doca_task **out)
{
	struct doca_task *task;

	if (!pool->ops)
		return DOCA_ERROR_NO_MEMORY;
	if (pool->ctx->state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	task = TAILQ_FIRST(&pool->free);
	if (task)
		TAILQ_REMOVE(&pool->free, task, link);
	else
		task = fresh(pool);
	if (!task)
		return DOCA_ERROR_NO_MEMORY;
	task->state = SED_TASK_OWNED;
	task->status = DOCA_SUCCESS;
	task->user_data = (union doca_data){ .u64 = 0 };
	sed_ctx_hold(pool->ctx);
	*out = task;
	return DOCA_SUCCESS;
}

void sed_task_done(struct doca_task *task, doca_error_t status)
{
	task->status = status;
	sed_pe_post(task->pool->ctx->pe, &task->work);
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	struct sed_pool *pool;
	struct doca_ctx *ctx;
	doca_error_t result;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	pool = task->pool;
	ctx = pool->ctx;
	if (task->state != SED_TASK_OWNED)
		return task->state == SED_TASK_FREE ? DOCA_ERROR_INVALID_VALUE :
						      DOCA_ERROR_IN_USE;
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	result = pool->ops->check ? pool->ops->check(task) : DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		return result;
	task->status = DOCA_ERROR_IN_PROGRESS;
	result = pool->ops->submit(task);
	if (result != DOCA_SUCCESS) {
		task->status = result;
		return result;
	}
	task->state = SED_TASK_INFLIGHT;
	TAILQ_INSERT_TAIL(&pool->inflight, task, link);
	ctx->inflight++;
	sed_pe_inflight(ctx->pe, 1);
	return DOCA_SUCCESS;
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	if (flags & ~(uint32_t)(DOCA_TASK_SUBMIT_FLAG_FLUSH |
				DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS))
		return DOCA_ERROR_INVALID_VALUE;
	return doca_task_submit(task);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	return doca_task_submit(task);
}

void doca_task_free(struct doca_task *task)
{
	if (!task || task->state == SED_TASK_FREE)
		return;
	if (task->state == SED_TASK_INFLIGHT)
		recall(task);
	TAILQ_INSERT_HEAD(&task->pool->free, task, link);
	task->state = SED_TASK_FREE;
	sed_ctx_release(task->pool->ctx);
}

doca_error_t doca_task_get_status(const struct doca_task *task)
{
	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	return task->state == SED_TASK_INFLIGHT ? DOCA_ERROR_IN_PROGRESS : task->status;
}

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	if (task)
		task->user_data = user_data;
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	return task ? task->user_data : (union doca_data){ .u64 = 0 };
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	return task ? task->pool->ctx : NULL;
}
