/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_ctx.h - contexts: what is started, driven by a progress engine, and stopped
 *
 * IDLE -start-> (STARTING ->) RUNNING -stop-> (STOPPING ->) IDLE. In IDLE a context is
 * configured and connected to an engine; in RUNNING tasks are allocated and submitted; in
 * STOPPING what was submitted completes, with failure unless it was done before, and IDLE
 * follows when each task has been freed.
 *
 * Threads: a context belongs to the thread that drives its engine. All of its functions
 * are called by that thread alone.
 */
#ifndef DOCA_CTX_H
#define DOCA_CTX_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;

/** enum doca_ctx_states - where a context is */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,
	DOCA_CTX_STATE_STARTING = 1,
	DOCA_CTX_STATE_RUNNING = 2,
	DOCA_CTX_STATE_STOPPING = 3,
};

/**
 * doca_ctx_start() - start it
 * @ctx: in IDLE, connected to an engine
 *
 * Return: DOCA_SUCCESS: it is RUNNING; IN_PROGRESS: it is STARTING, and progress takes it
 * to RUNNING; INVALID_VALUE: @ctx is NULL; NOT_CONNECTED: to no engine; BAD_STATE: not
 * in IDLE; or what its kind says.
 */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * doca_ctx_stop() - stop it
 * @ctx: STARTING, RUNNING or STOPPING
 *
 * Tasks that still wait fail with DOCA_ERROR_SHUTDOWN, at the next progress. A task that
 * the program has neither freed nor submitted keeps it from IDLE, too.
 *
 * Return: DOCA_SUCCESS: it is IDLE; IN_PROGRESS: it is STOPPING; INVALID_VALUE: @ctx is
 * NULL; NOT_CONNECTED: to no engine; BAD_STATE: it is IDLE.
 */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/** doca_ctx_get_num_inflight_tasks() - submitted and not yet delivered. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *num_inflight_tasks);

/** doca_ctx_set_user_data() - what callbacks are given. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/** doca_ctx_get_user_data() - as set, zero at first. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * doca_ctx_state_changed_callback_t - the context is in @next_state now
 *
 * Called from inside of the function that changed it: start, stop, progress or the
 * freeing of a task. The object may be destroyed by the call that reports IDLE.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
						  struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state,
						  enum doca_ctx_states next_state);

/** doca_ctx_set_state_changed_cb() - in IDLE. Return: or INVALID_VALUE, BAD_STATE */
DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb);

/**
 * doca_ctx_get_state() - where it is
 * @ctx: NULL: @state becomes IDLE, so that a program that waits for the end of a context
 *       which it never made does not wait
 *
 * Return: or INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/** doca_ctx_flush_tasks() - does nothing: what is submitted is on its way at once */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/** doca_ctx_set_datapath_on_gpu() - Return: NOT_SUPPORTED; INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/** doca_ctx_set_datapath_on_dpa() - Return: NOT_SUPPORTED; INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/** doca_ctx_set_completion_vector() - there is number 0. Return: or INVALID_VALUE, BAD_STATE */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/** doca_ctx_cap_get_num_completion_vectors() - it is 1. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
						     uint32_t *num_comp_vectors);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H */
