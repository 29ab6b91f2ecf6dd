/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* event.h - what event.c, event_sync.c and event_task.c share */
#ifndef SED_EVENT_H
#define SED_EVENT_H

#include "internal.h"

#include <syncevent/cell.h>

#include <doca_sync_event.h>

/** enum sed_mode - how an event is used, for its life */
enum sed_mode {
	SED_MODE_NONE,		/* that is not yet known */
	SED_MODE_SYNC,
	SED_MODE_ASYNC,
};

/** enum sed_event_task - kinds of its tasks */
enum sed_event_task {
	SED_GET,
	SED_NOTIFY_SET,
	SED_NOTIFY_ADD,
	SED_WAIT_EQ,
	SED_WAIT_NEQ,
	SED_EVENT_TASKS,
};

/**
 * struct sed_location - who updates it, or who waits
 * @kind: SYNCEVENT_LOC_*; 0: not known
 * @dev: of a CPU or a DPA, held; else NULL
 * @dpa: of a DPA, held; else NULL
 */
struct sed_location {
	uint32_t kind;
	struct doca_dev *dev;
	struct doca_dpa *dpa;
};

/**
 * struct doca_sync_event - an event
 * @cell: while it is used synchronously and @direct: its cell. First, for the shortest way
 * @ev: libsyncevent's handle: NULL before the first start of one that is not imported
 * @mode: enum sed_mode
 * @started: it is used synchronously now
 * @imported: another side made it
 * @direct: the cell may be updated without a call of libsyncevent, but to ring
 * @on: sed_provider() of @ev
 * @dev: where @ev is, if it is neither imported nor in memory of the program
 * @publisher: who updates
 * @subscriber: who waits
 * @addr: the program's memory, or NULL
 * @buf: in which it is, held; or NULL
 * @ctx: for asynchronous use
 * @pools: its tasks
 * @reserved: waits that the engine was told of
 * @blob: as it was exported
 * @blob_size: 0: it was not
 */
struct doca_sync_event {
	struct syncevent_cell *cell;
	struct syncevent *ev;
	enum sed_mode mode;
	bool started;
	bool imported;
	bool direct;
	enum syncevent_provider on;
	struct sed_dev_id dev;
	struct sed_location publisher;
	struct sed_location subscriber;
	uint64_t *addr;
	struct doca_buf *buf;
	struct doca_ctx ctx;
	struct sed_pool pools[SED_EVENT_TASKS];
	size_t reserved;
	uint8_t blob[SYNCEVENT_BLOB_MAX];
	size_t blob_size;
};

/** sed_event_make() - have libsyncevent's event, unless there is one. Return: as start */
doca_error_t sed_event_make(struct doca_sync_event *event);

extern const struct sed_ctx_ops sed_event_ctx_ops;

#endif /* SED_EVENT_H */
