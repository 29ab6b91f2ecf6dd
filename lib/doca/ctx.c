// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* ctx.c - contexts: their states */
#include "internal.h"

void sed_ctx_init(struct doca_ctx *ctx, const struct sed_ctx_ops *ops)
{
	ctx->ops = ops;
	ctx->state = DOCA_CTX_STATE_IDLE;
}

/* The callback may free what the context is part of. */
static void set_state(struct doca_ctx *ctx, enum doca_ctx_states state)
{
	enum doca_ctx_states prev = ctx->state;

	ctx->state = state;
	if (ctx->changed)
		ctx->changed(ctx->user_data, ctx, prev, state);
}

void sed_ctx_running(struct doca_ctx *ctx)
{
	set_state(ctx, DOCA_CTX_STATE_RUNNING);
}

/* To a sed_ctx_abort() that is in its callback: it is IDLE, or ends, and is not touched there. */
static void tell_abort(struct doca_ctx *ctx)
{
	if (ctx->aborting)
		*ctx->aborting = true;
	ctx->aborting = NULL;
}

void sed_ctx_release(struct doca_ctx *ctx)
{
	if (--ctx->holds || ctx->state != DOCA_CTX_STATE_STOPPING)
		return;
	ctx->ops->idle(ctx);
	tell_abort(ctx);
	set_state(ctx, DOCA_CTX_STATE_IDLE);
}

bool sed_ctx_abort(struct doca_ctx *ctx)
{
	enum doca_ctx_states prev = ctx->state;
	bool idle;

	ctx->state = DOCA_CTX_STATE_STOPPING;
	ctx->ops->stop(ctx);
	idle = !ctx->holds;
	if (idle) {
		ctx->ops->idle(ctx);
		ctx->state = DOCA_CTX_STATE_IDLE;
	} else {
		ctx->aborting = &idle;
	}
	/* It may free tasks and so bring it to IDLE, and it may free the context. */
	if (ctx->changed)
		ctx->changed(ctx->user_data, ctx, prev, ctx->state);
	if (!idle)
		ctx->aborting = NULL;
	return idle;
}

void sed_ctx_destroy(struct doca_ctx *ctx)
{
	ctx->changed = NULL;
	tell_abort(ctx);
	/* For good: no IDLE follows from what is released now. */
	sed_ctx_hold(ctx);
	if (ctx->state == DOCA_CTX_STATE_RUNNING || ctx->state == DOCA_CTX_STATE_STARTING) {
		ctx->state = DOCA_CTX_STATE_STOPPING;
		ctx->ops->stop(ctx);
	}
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		ctx->ops->idle(ctx);
	sed_pe_disconnect(ctx);
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!ctx->pe)
		return DOCA_ERROR_NOT_CONNECTED;
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	result = ctx->ops->start(ctx);
	if (result == DOCA_SUCCESS)
		set_state(ctx, DOCA_CTX_STATE_RUNNING);
	else if (result == DOCA_ERROR_IN_PROGRESS)
		set_state(ctx, DOCA_CTX_STATE_STARTING);
	return result;
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!ctx->pe)
		return DOCA_ERROR_NOT_CONNECTED;
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		return DOCA_ERROR_IN_PROGRESS;
	return sed_ctx_abort(ctx) ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *num_inflight_tasks)
{
	if (!ctx || !num_inflight_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	*num_inflight_tasks = ctx->inflight;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	if (!ctx || !user_data)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb)
{
	if (!ctx || !cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return DOCA_ERROR_BAD_STATE;
	ctx->changed = cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	if (state)
		*state = ctx ? ctx->state : DOCA_CTX_STATE_IDLE;
	return ctx && state ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	(void)ctx;
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	return ctx && gpu_dev ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
	return ctx && dpa_dev ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector)
{
	if (!ctx || comp_vector)
		return DOCA_ERROR_INVALID_VALUE;
	return ctx->state == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
						     uint32_t *num_comp_vectors)
{
	if (!devinfo || !num_comp_vectors)
		return DOCA_ERROR_INVALID_VALUE;
	*num_comp_vectors = 1;
	return DOCA_SUCCESS;
}
