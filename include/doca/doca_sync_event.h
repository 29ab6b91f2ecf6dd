/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_sync_event.h - sync events: 64-bit counters to update, read and wait on
 *
 * An event is configured, then used in one of two ways, for its life: synchronously after
 * doca_sync_event_start(), by calls that act or wait at once; or asynchronously after
 * doca_ctx_start() of doca_sync_event_as_ctx(), by tasks on a progress engine.
 *
 * Locations say who will update it and who waits. They are hints: both may do either.
 *
 * Memory order: updates release, doca_sync_event_get() and waits acquire, tasks likewise:
 * what was written before an update is visible after a wait that saw it.
 *
 * Threads: the synchronous calls (get to wait_neq_yield) may be made by any thread at any
 * time until the event is destroyed; before start and after stop they return BAD_STATE. All
 * else of an event belongs to one thread.
 *
 * An event ends for all, other machines too, when the one who created it destroys it. An
 * importer gets SHUTDOWN from then on, or CONNECTION_RESET if the machine died; its own
 * stop and destroy succeed.
 *
 * Every function returns INVALID_VALUE if an argument is NULL that must not be, beside
 * what is said at it. docs/porting-from-doca.md says where another DOCA may differ.
 */
#ifndef DOCA_SYNC_EVENT_H
#define DOCA_SYNC_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;
struct doca_task;

/* An event of this process, or imported from another side of PCI. */
struct doca_sync_event;
/* One of a host on the network. */
struct doca_sync_event_remote_net;
struct doca_dpa_sync_event;
struct doca_gpu_sync_event;

/* What programs of an accelerator call an event: numbers, no secrets. */
typedef uint64_t doca_dpa_dev_sync_event_t;
typedef uint64_t doca_dpa_dev_sync_event_remote_net_t;
typedef uint64_t doca_gpu_dev_sync_event_t;
typedef uint64_t doca_gpu_dev_sync_event_remote_net_t;

/* ---- what a device can ------------------------------------------------------------ */

/*
 * @devinfo: the device. Any thread may ask at any time.
 * Return: DOCA_SUCCESS: it can; NOT_SUPPORTED: it cannot. Every device can import, export
 * over PCI and do all tasks; those of memory that machines share can have a DPA. Nothing
 * here reaches a GPU or the network.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_create_from_export_supported(
		const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(
		const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(
		const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(
		const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_export_to_dpa_supported(
		const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_export_to_gpu_supported(
		const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);

/* ---- life ------------------------------------------------------------------------- */

/** doca_sync_event_create() - an event to be configured; its counter is 0. Return: or NO_MEMORY */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/**
 * doca_sync_event_create_from_export() - an event of another side
 * @dev: the device here that leads to it
 * @data: from doca_sync_event_export_to_remote_pci(); every byte is checked
 * @sz: its length
 * @event: gets it: with locations and memory, to be started
 *
 * Return: or INVALID_VALUE: damaged, of another version, or of another kind of device;
 * NOT_FOUND: who exported it has gone, or the device has; SHUTDOWN: the event has ended;
 * NOT_PERMITTED: no right to import it; NO_MEMORY; OPERATING_SYSTEM.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
						size_t sz, struct doca_sync_event **event);

/**
 * doca_sync_event_destroy() - end it, in whatever state
 *
 * It is stopped if it is not. Its tasks are gone with it, without their callbacks, and so
 * is whatever was exported of it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/**
 * doca_sync_event_start() - begin to use it synchronously
 *
 * The event itself is made by the first start, and stays until it is destroyed.
 *
 * Return: or BAD_STATE: it is started, or doca_sync_event_as_ctx() was called;
 * BAD_CONFIG: a location is missing; NOT_FOUND: the device has gone; NO_MEMORY;
 * NOT_PERMITTED: no right to use the device; OPERATING_SYSTEM.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/** doca_sync_event_stop() - Return: or BAD_STATE: it was not started by doca_sync_event_start() */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/**
 * doca_sync_event_as_ctx() - begin to use it asynchronously
 *
 * doca_ctx_start() of it returns what doca_sync_event_start() does, BAD_CONFIG too if
 * there is no kind of task.
 *
 * Return: NULL: @event is NULL, or doca_sync_event_start() was called.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/* ---- configuration ------------------------------------------------------------------ */

/*
 * Exactly one publisher and one subscriber, before the first start.
 * @event: not imported
 * @dev, @dpa, @gpu: where it is; in use until the event is destroyed
 * Return: or ALREADY_EXIST: there is one; BAD_STATE: it was started; NOT_PERMITTED: it is
 * imported. NOT_SUPPORTED: of a GPU, or on the network.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
							struct doca_dev *dev);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
							struct doca_dpa *dpa);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
							struct doca_gpu *gpu);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
							 struct doca_dev *dev);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
							 struct doca_dpa *dpa);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
							 struct doca_gpu *gpu);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);

/**
 * doca_sync_event_set_addr() - have the counter in memory of the program
 * @addr: 8 bytes, aligned to 8, that outlive the event. What is in them is the value.
 *        Whoever can write them may update it: a sleeper looks now and then. It can not
 *        be exported
 *
 * Return: or INVALID_VALUE: not aligned; NOT_SUPPORTED: this process cannot write there;
 * BAD_STATE: it was started; NOT_PERMITTED: it is imported.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);

/**
 * doca_sync_event_set_doca_buf() - likewise, in a buffer
 * @buf: of 8 bytes, not in a list, of memory with rights to read, write and atomics, local
 *       and by RDMA. The event holds it until it is destroyed
 *
 * Return: or NOT_PERMITTED: another length, or rights; or it is imported; NOT_SUPPORTED;
 * INVALID_VALUE; BAD_STATE as above.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf);

/* ---- other units ---------------------------------------------------------------------- */

/**
 * doca_sync_event_export_to_remote_pci() - describe it for doca_sync_event_create_from_export()
 * @dev: the device that leads to the other side
 * @data: gets the description, valid until the event is destroyed. Who has it may import
 * @sz: its length, at most 256
 *
 * Return: or INVALID_VALUE: a location is neither a CPU nor remote PCI; BAD_STATE: not
 * yet started; NOT_SUPPORTED: it is in memory of the program, or of another device;
 * NOT_PERMITTED: it is imported.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev, const uint8_t **data,
						  size_t *sz);

/** doca_sync_event_export_to_remote_net() - Return: NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data, size_t *sz);

/**
 * doca_sync_event_get_dpa_handle() - what programs of an accelerator call it
 * @dpa: started, of the device that the event is on
 * @dpa_dev_se_handle: for doca_dpa_dev_sync_event.h
 *
 * Return: or BAD_STATE: the event or @dpa is not yet started; NOT_SUPPORTED: it is on
 * another device or none, or no location is a DPA; NOT_PERMITTED: it is imported.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *dpa_dev_se_handle);

/** doca_sync_event_get_gpu_handle() - Return: NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **gpu_dev_se);

/* Events of hosts on the network. Return: NOT_SUPPORTED */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_create_from_export(
		struct doca_dev *dev, const uint8_t *data, size_t sz,
		struct doca_sync_event_remote_net **event);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_get_dpa_handle(
		struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
		doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_get_gpu_handle(
		struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
		doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event);

/* ---- synchronous use ---------------------------------------------------------------- */

/*
 * From any thread: see the head of this file.
 * @event: started by doca_sync_event_start()
 * @value: of get where the counter goes, of set the new one, of add what to add, of a
 * wait the right-hand side
 * @mask: of a wait; applied to the counter before it is compared; UINT64_MAX for all of it
 *
 * Return: or BAD_STATE: not started by doca_sync_event_start(); SHUTDOWN: the event has
 * ended; CONNECTION_RESET: a machine on which a wait depends is dead; NOT_SUPPORTED:
 * update_add() of an event of another machine, over memory that can not do it.
 */

DOCA_EXPERIMENTAL
DOCA_DIRECT doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);
DOCA_EXPERIMENTAL
DOCA_DIRECT doca_error_t doca_sync_event_update_set(struct doca_sync_event *event,
						    uint64_t value);

/** doca_sync_event_update_add() - modulo 2^64; @fetched: gets the value before, or NULL */
DOCA_EXPERIMENTAL
DOCA_DIRECT doca_error_t doca_sync_event_update_add(struct doca_sync_event *event,
						    uint64_t value, uint64_t *fetched);

/*
 * Wait until (counter & mask) OP value, unsigned, by looking again and again; _yield gives
 * the CPU away between two looks. There is no time-out. A value that came and went may
 * pass unseen.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value,
				     uint64_t mask);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value,
				     uint64_t mask);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value,
				      uint64_t mask);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value,
					    uint64_t mask);

/* ---- tasks: read the counter --------------------------------------------------------- */

/*
 * For all kinds of tasks, whose functions belong to the thread of the engine:
 *
 * set_conf: @completion_cb and @error_cb are called as tasks end well or not; @num_tasks
 * is how many there can be at a time. Return: or NOT_PERMITTED: the context is not IDLE,
 * or the event is used synchronously.
 *
 * alloc_init: @task gets a task, of which callbacks are given @user_data; the other
 * arguments are what it does: @set_val is the new value, @inc_val what to add, @wait_val
 * the right-hand side of a wait and @mask is applied to the counter before it is compared.
 * Return: or NO_MEMORY: all are in use, or there are none of this kind; BAD_STATE: the
 * context is not RUNNING.
 *
 * as_doca_task is the task for doca_pe.h. Getters and setters are for these arguments; what
 * is set counts from the next submit on.
 *
 * Tasks that read or update do so when they are submitted: whatever becomes of the event
 * then, they have succeeded. A task fails with SHUTDOWN if it is stopped or the event
 * has ended, with CONNECTION_RESET if a machine died on which a wait depends.
 *
 * Getters of NULL return 0 or NULL, setters do nothing.
 */

struct doca_sync_event_task_get;

typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task,
							 union doca_data task_user_data,
							 union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_set_conf(
		struct doca_sync_event *event,
		doca_sync_event_task_get_completion_cb_t completion_cb,
		doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks);
/** doca_sync_event_task_get_alloc_init() - @ret_val_ptr: gets the counter; written at submit */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
						 uint64_t *ret_val_ptr,
						 union doca_data user_data,
						 struct doca_sync_event_task_get **task);
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task);
DOCA_EXPERIMENTAL
uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task,
					      uint64_t *ret_val_ptr);

/* ---- tasks: set the counter ------------------------------------------------------------ */

struct doca_sync_event_task_notify_set;

typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(
		struct doca_sync_event_task_notify_set *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_set_conf(
		struct doca_sync_event *event,
		doca_sync_event_task_notify_set_completion_cb_t completion_cb,
		doca_sync_event_task_notify_set_completion_cb_t error_cb, uint32_t num_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_alloc_init(
		struct doca_sync_event *event, uint64_t set_val, union doca_data user_data,
		struct doca_sync_event_task_notify_set **task);
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_set_as_doca_task(
		struct doca_sync_event_task_notify_set *task);
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_notify_set_get_set_val(
		const struct doca_sync_event_task_notify_set *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task,
						 uint64_t set_val);

/* ---- tasks: add to the counter, modulo 2^64 ------------------------------------------------ */

struct doca_sync_event_task_notify_add;

typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(
		struct doca_sync_event_task_notify_add *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_set_conf(
		struct doca_sync_event *event,
		doca_sync_event_task_notify_add_completion_cb_t completion_cb,
		doca_sync_event_task_notify_add_completion_cb_t error_cb, uint32_t num_tasks);
/** doca_sync_event_task_notify_add_alloc_init() - @fetched_val_ptr gets the old value, or NULL */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_alloc_init(
		struct doca_sync_event *event, uint64_t inc_val, uint64_t *fetched_val_ptr,
		union doca_data user_data, struct doca_sync_event_task_notify_add **task);
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_add_as_doca_task(
		struct doca_sync_event_task_notify_add *task);
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_notify_add_get_inc_val(
		const struct doca_sync_event_task_notify_add *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task,
						 uint64_t inc_val);
DOCA_EXPERIMENTAL
uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(
		const struct doca_sync_event_task_notify_add *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_add_set_fetched_val_ptr(
		struct doca_sync_event_task_notify_add *task, uint64_t *fetched_val_ptr);

/* ---- tasks: wait until (counter & mask) == wait_val ----------------------------------------- */

/*
 * A mask is 0, or FF bytes that follow each other, 1, 2, 4 or 8 of them, and 00 bytes.
 * Others are INVALID_VALUE, from alloc_init or, if set later, from submit.
 */

struct doca_sync_event_task_wait_eq;

typedef void (*doca_sync_event_task_wait_eq_completion_cb_t)(
		struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_set_conf(
		struct doca_sync_event *event,
		doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
		doca_sync_event_task_wait_eq_completion_cb_t error_cb, uint32_t num_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event,
						     uint64_t wait_val, uint64_t mask,
						     union doca_data user_data,
						     struct doca_sync_event_task_wait_eq **task);
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(
		struct doca_sync_event_task_wait_eq *task);
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task,
					       uint64_t wait_val);
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task,
					   uint64_t mask);

/* ---- tasks: wait until (counter & mask) != wait_val ------------------------------------------ */

struct doca_sync_event_task_wait_neq;

typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(
		struct doca_sync_event_task_wait_neq *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_set_conf(
		struct doca_sync_event *event,
		doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
		doca_sync_event_task_wait_neq_completion_cb_t error_cb, uint32_t num_tasks);
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event,
						      uint64_t wait_val, uint64_t mask,
						      union doca_data user_data,
						      struct doca_sync_event_task_wait_neq **task);
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(
		struct doca_sync_event_task_wait_neq *task);
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_neq_get_wait_val(
		const struct doca_sync_event_task_wait_neq *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task,
						uint64_t wait_val);
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task);
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task,
					    uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SYNC_EVENT_H */
