/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Threads that wait through libsyncevent, for the tests that any provider must
 * pass. Tests of the kernel's own interface use struct se_waiter of common.h.
 */
#ifndef SELFTESTS_WAITER_H
#define SELFTESTS_WAITER_H

#include "common.h"

#include <syncevent.h>

static const enum syncevent_how hows[] = {
	SYNCEVENT_ADAPTIVE, SYNCEVENT_SPIN, SYNCEVENT_YIELD, SYNCEVENT_BLOCK,
};

static inline struct syncevent *make(uint64_t value)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .value = value };
	struct syncevent *ev = NULL;

	return syncevent_create(&ev, &attr) ? NULL : ev;
}

static inline struct syncevent_wait_opts opts_of(enum syncevent_how how, uint64_t deadline)
{
	struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = deadline, .how = how,
	};

	return opts;
}

/* One look. */
static inline int look(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		       uint64_t mask, uint64_t *seen)
{
	struct syncevent_wait_opts opts = opts_of(SYNCEVENT_BLOCK, 0);

	return syncevent_wait(ev, cond, operand, mask, &opts, seen);
}

/* A thread in one syncevent_wait(). */
struct waiter {
	struct se_thread t;
	struct syncevent *ev;
	enum syncevent_cond cond;
	uint64_t operand, mask, seen;
	struct syncevent_wait_opts opts;
};

static inline int waiter_fn(void *arg)
{
	struct waiter *w = arg;

	return syncevent_wait(w->ev, w->cond, w->operand, w->mask, &w->opts, &w->seen);
}

static inline int start(struct waiter *w, struct syncevent *ev, enum syncevent_cond cond,
			uint64_t operand, uint64_t mask, enum syncevent_how how,
			uint64_t deadline)
{
	w->ev = ev;
	w->cond = cond;
	w->operand = operand;
	w->mask = mask;
	w->seen = SE_POISON64;
	w->opts = opts_of(how, deadline);
	return se_start(&w->t, waiter_fn, w);
}

static inline bool sleeps(enum syncevent_how how)
{
	return how == SYNCEVENT_ADAPTIVE || how == SYNCEVENT_BLOCK;
}

#endif /* SELFTESTS_WAITER_H */
