/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Threads that wait through libsyncevent, for the tests that any provider must
 * pass. Tests of the kernel's own interface use struct se_waiter of common.h.
 */
#ifndef SELFTESTS_WAITER_H
#define SELFTESTS_WAITER_H

#include "common.h"

#include <syncevent.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv	449
#endif

static const enum syncevent_how hows[] = {
	SYNCEVENT_ADAPTIVE, SYNCEVENT_SPIN, SYNCEVENT_YIELD, SYNCEVENT_BLOCK,
};

/* With SE_REGION: in memory that is shared with another machine, once that is there. */
static inline struct syncevent *make(uint64_t value)
{
	struct syncevent_attr attr = { .size = sizeof(attr), .value = value };
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct syncevent *ev = NULL;

	if (getenv("SE_REGION")) {
		if (!se_until(!syncevent_pci_get(0, &pci) &&
			      pci.alive & 1ULL << pci.side))
			return NULL;
		attr.pci = pci.address;
	}
	return syncevent_create(&ev, &attr) ? NULL : ev;
}

/* What the provider in use is and guarantees; all zero if there is none. */
static inline struct syncevent_caps caps_in_use(void)
{
	struct syncevent_caps caps = { .size = sizeof(caps) };

	if (syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps))
		memset(&caps, 0, sizeof(caps));
	return caps;
}

static inline bool on_shm(void)
{
	return caps_in_use().provider == SYNCEVENT_PROVIDER_SHM;
}

static inline bool guaranteed(uint64_t cap)
{
	return caps_in_use().guarantees & cap;
}

/* The first line of a kernel_* case. selftests/vm/skips lists the skips. */
#define KERNEL_ONLY() do {							\
	if (on_shm())								\
		SKIP(return, "a promise of the kernel provider only");		\
} while (0)

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

/*
 * A task is parked, as the only one on this event. On shm nobody counts: it sleeps in
 * a futex, which no test uses for anything else while it looks.
 */
static inline bool until_parked(struct syncevent *ev, pid_t pid, pid_t tid)
{
	long nr;

	if (!on_shm())
		return se_until_waiters(syncevent_fd(ev), 1);
	return se_until((nr = se_sleeps_in(pid, tid)) == SYS_futex || nr == SYS_futex_waitv);
}

#endif /* SELFTESTS_WAITER_H */
