/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * watch.h - what polls without the kernel provider
 *
 * watch.c	the lock, the thread, and what comes through a fork
 * poll.c	the eventfds that announce, and those of syncevent_poll_fd()
 * local.c	wait queues
 * queue.c	uses it for events on attr.addr in queues of the kernel provider
 *
 * One lock protects all of it: whatever is declared here is called with it held, but
 * for se_watch_lock(), se_watch_ring() and se_local_*(). It is the innermost lock of
 * the library but for those of malloc(), and no code of the caller runs below it.
 */
#ifndef SYNCEVENT_WATCH_H
#define SYNCEVENT_WATCH_H

#include "internal.h"

#include <sys/queue.h>

#include "tree.h"

/**
 * struct se_bell - an eventfd that is readable while there is something to say
 * @fd: -1: there is none, or its number is another one's
 * @on: is it readable?
 * @link: in a list of all
 */
struct se_bell {
	int fd;
	bool on;
	LIST_ENTRY(se_bell) link;
};

/** enum se_watched - how a watch is listed */
enum se_watched {
	SE_DORMANT,	/* not: nothing is to be watched */
	SE_LINGERING,	/* likewise, but the thread still listens: more may come soon */
	SE_ACTIVE,
};

struct se_entry;
LIST_HEAD(se_entries, se_entry);

/**
 * struct se_watch - what is watched of a handle
 * @ev: the handle. Once it is closed it belongs to the watch, to the last entry
 * @closed: it is
 * @ended: revoked, and all have been told
 * @heard: the thread sleeps on its watch word, or is about to look
 * @was: that word, when the thread looked last
 * @page: which page it is of: several handles may be of the same event
 * @forks: se_forks when it was made known in that page
 * @same: in the list of those with this @page
 * @state: enum se_watched; the list that @link is in
 * @entries: number of entries of wait queues
 * @above: entries that wait for more than their key
 * @below: for less
 * @equal: for as much
 * @others: NEQ, and those with a mask
 * @bell: of syncevent_poll_fd()
 * @armed: by syncevent_arm(); else @cond is "differs from the last read"
 * @cond: when @bell is to be on
 * @last: the value last read by syncevent_read(), at first that of the beginning
 * @told: the value for which it was last rung
 * @shadow: an event of the kernel provider with the same value, for its queues
 * @shadowed: it may have waiters
 * @shadow_forks: se_forks when it was made: a child leaves it to its parent
 */
struct se_watch {
	struct syncevent *ev;
	bool closed;
	bool ended;
	bool heard;
	uint32_t was;
	enum se_watched state;
	TAILQ_ENTRY(se_watch) link;
	uint64_t page;
	unsigned int forks;
	LIST_ENTRY(se_watch) same;

	unsigned int entries;
	struct se_tree above;
	struct se_tree below;
	struct se_tree equal;
	struct se_entries others;

	struct se_bell bell;
	bool armed;
	struct se_cond cond;
	uint64_t last;
	uint64_t told;

	struct syncevent *shadow;
	bool shadowed;
	unsigned int shadow_forks;
};

/* A condition that asks for a ring at every update. */
extern const struct se_cond se_any;

/* ---- watch.c ------------------------------------------------------------------ */

/* How many forks lie between this process and the one that loaded the library. */
extern unsigned int se_forks;

void se_watch_lock(void);

/** se_watch_unlock() - also announces what was completed under the lock */
void se_watch_unlock(void);

/** se_watch_start() - make the thread if there is none. Return: 0; -EAGAIN */
int se_watch_start(void);

/**
 * se_watch_get() - the watch of a handle, made if there is none
 *
 * Return: 0: it has not ended, and does not until it is judged; -ENOMEM; -EIDRM.
 */
int se_watch_get(struct se_watch **w, struct syncevent *ev);

/**
 * se_watch_more() - there is more to watch
 * @w: asked to ring and looked at before this
 * @deadline: by when the thread must look, or SYNCEVENT_FOREVER
 */
void se_watch_more(struct se_watch *w, uint64_t deadline);

/** se_watch_less() - there may be less to watch; frees what is no longer needed */
void se_watch_less(struct se_watch *w);

/* ---- poll.c --------------------------------------------------------------------- */

/** se_bell_open() - Return: 0; -EMFILE; -ENFILE; -ENOMEM */
int se_bell_open(struct se_bell *b);
void se_bell_close(struct se_bell *b);
/** se_bell_on() - make it readable; who waits for edges is told again if it was */
void se_bell_on(struct se_bell *b);
void se_bell_off(struct se_bell *b);
/** se_bells_fork() - give a child eventfds of its own in place of all */
void se_bells_fork(void);

/** se_poll_judge() - set the bell of a watch by a value */
void se_poll_judge(struct se_watch *w, uint64_t value);

/* ---- local.c ---------------------------------------------------------------------- */

/** se_entries_judge() - complete the entries that a value satisfies */
void se_entries_judge(struct se_watch *w, uint64_t value);
/** se_entries_end() - complete all with -EIDRM */
void se_entries_end(struct se_watch *w);
/** se_entries_expire() - complete those whose deadline has passed. Return: the next */
uint64_t se_entries_expire(void);
/** se_queues_announce() - tell who waits for what was completed */
void se_queues_announce(void);

struct se_local;

/* As the functions of the public header; the arguments are checked. */
int se_local_create(struct se_local **q);
int se_local_fd(const struct se_local *q);
int se_local_add(struct se_local *q, struct syncevent *ev, const struct se_cond *c,
		 uint64_t cookie, uint64_t deadline);
int se_local_cancel(struct se_local *q, uint64_t cookie);
int se_local_reap(struct se_local *q, struct syncevent_done *done, unsigned int max,
		  uint64_t deadline);
int se_local_reserve(struct se_local *q, size_t n);
void se_local_close(struct se_local *q);

/* ---- queue.c ------------------------------------------------------------------------ */

/** se_shadow_judge() - copy a value to the shadow, while somebody waits for it */
void se_shadow_judge(struct se_watch *w, uint64_t value);
/** se_shadow_end() - revoke it */
void se_shadow_end(struct se_watch *w);
/** se_shadow_close() - it is no longer needed; it ends if this process has made it */
void se_shadow_close(struct se_watch *w);

#endif /* SYNCEVENT_WATCH_H */
