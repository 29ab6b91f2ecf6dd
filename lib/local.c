// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * local.c - wait queues that no kernel keeps
 *
 * An entry is in order of its threshold among those of its event, in order of its
 * cookie among those of its queue, and of its deadline among all. So one that
 * completes costs the logarithm of their number, and those that do not cost nothing;
 * only NEQ and masks are looked at one by one. The completion is a part of the entry.
 */
#include "watch.h"

#include <errno.h>
#include <stdlib.h>

/* How many entries are dropped in one go. */
#define CLOSE_BATCH	64

STAILQ_HEAD(completed, se_entry);

/**
 * struct se_entry - an entry of a queue
 * @q: the queue
 * @w: the watch of its event while it waits, else NULL
 * @c: what it waits for
 * @threshold: in one of the trees of @w; or
 * @other: in its list
 * @cookie: in the queue's tree, until it is reaped
 * @deadline: in the tree of all deadlines, unless that is SYNCEVENT_FOREVER
 * @done: in the queue's list once it has completed
 * @value: the completion
 * @status: likewise
 */
struct se_entry {
	struct se_local *q;
	struct se_watch *w;
	struct se_cond c;
	struct se_node threshold;
	LIST_ENTRY(se_entry) other;
	struct se_node cookie;
	struct se_node deadline;
	STAILQ_ENTRY(se_entry) done;
	uint64_t value;
	int32_t status;
};

/**
 * struct se_local - a queue
 * @bell: on while @done is not empty
 * @cookies: all entries
 * @done: completed ones, oldest first
 * @nr_done: how many; read without the lock, too
 * @word: what reapers sleep on
 * @reapers: how many do
 * @news: it is in the list of queues to announce
 * @next: there
 * @spare: entries at hand; linked as completed ones are
 * @entries: how many there are, spare or not
 * @reserved: how many there shall be at least
 */
struct se_local {
	struct se_bell bell;
	struct se_tree cookies;
	struct completed done;
	unsigned int nr_done;
	uint32_t word;
	unsigned int reapers;
	bool news;
	SLIST_ENTRY(se_local) next;
	struct completed spare;
	size_t entries;
	size_t reserved;
};

/* Under the lock. */
static struct se_tree deadlines;
static SLIST_HEAD(, se_local) news = SLIST_HEAD_INITIALIZER(news);

/* ---- entries -------------------------------------------------------------------- */

/*
 * The tree of an entry's watch that its condition belongs to, and its key there; NULL:
 * the list. GE 0 and LE UINT64_MAX are not among them: they have held at once.
 */
static struct se_tree *tree(struct se_watch *w, const struct se_cond *c, uint64_t *key)
{
	*key = c->operand;
	if (c->mask != UINT64_MAX)
		return NULL;
	switch (c->cond) {
	case SYNCEVENT_EQ:
		return &w->equal;
	case SYNCEVENT_GE:
		*key -= 1;
		return &w->above;
	case SYNCEVENT_GT:
		return &w->above;
	case SYNCEVENT_LE:
		*key += 1;
		return &w->below;
	case SYNCEVENT_LT:
		return &w->below;
	default:
		return NULL;
	}
}

static void park(struct se_entry *e, struct se_watch *w, uint64_t deadline)
{
	struct se_tree *t = tree(w, &e->c, &e->threshold.key);

	e->w = w;
	w->entries++;
	if (t)
		se_tree_add(t, &e->threshold);
	else
		LIST_INSERT_HEAD(&w->others, e, other);
	e->deadline.key = deadline;
	if (deadline != SYNCEVENT_FOREVER)
		se_tree_add(&deadlines, &e->deadline);
}

/* The caller has yet to call se_watch_less(). */
static void unpark(struct se_entry *e)
{
	uint64_t key;
	struct se_tree *t = tree(e->w, &e->c, &key);

	if (t)
		se_tree_del(t, &e->threshold);
	else
		LIST_REMOVE(e, other);
	if (e->deadline.key != SYNCEVENT_FOREVER)
		se_tree_del(&deadlines, &e->deadline);
	e->w->entries--;
	e->w = NULL;
}

static void complete(struct se_entry *e, uint64_t value, int status)
{
	struct se_local *q = e->q;

	if (e->w)
		unpark(e);
	e->value = status ? 0 : value;
	e->status = status;
	STAILQ_INSERT_TAIL(&q->done, e, done);
	__atomic_store_n(&q->nr_done, q->nr_done + 1, __ATOMIC_RELAXED);
	if (!q->news) {
		q->news = true;
		SLIST_INSERT_HEAD(&news, q, next);
	}
}

void se_entries_judge(struct se_watch *w, uint64_t value)
{
	struct se_entry *e, *next;
	struct se_node *n;

	while ((n = se_tree_first(&w->above)) && value > n->key)
		complete(se_of(n, struct se_entry, threshold), value, 0);
	while ((n = se_tree_last(&w->below)) && value < n->key)
		complete(se_of(n, struct se_entry, threshold), value, 0);
	while ((n = se_tree_find(&w->equal, value)))
		complete(se_of(n, struct se_entry, threshold), value, 0);
	for (e = LIST_FIRST(&w->others); e; e = next) {
		next = LIST_NEXT(e, other);
		if (se_holds(&e->c, value))
			complete(e, value, 0);
	}
}

void se_entries_end(struct se_watch *w)
{
	struct se_tree *const trees[] = { &w->above, &w->below, &w->equal };
	unsigned int i;

	for (i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		while (trees[i]->root)
			complete(se_of(trees[i]->root, struct se_entry, threshold), 0, -EIDRM);
	while (!LIST_EMPTY(&w->others))
		complete(LIST_FIRST(&w->others), 0, -EIDRM);
}

uint64_t se_entries_expire(void)
{
	struct se_node *n;
	uint64_t now = 0;

	while ((n = se_tree_first(&deadlines))) {
		struct se_entry *e = se_of(n, struct se_entry, deadline);
		struct se_watch *w = e->w;

		if (n->key > now)
			now = se_now(false);
		if (n->key > now)
			return n->key;
		complete(e, 0, -ETIMEDOUT);
		se_watch_less(w);
	}
	return SYNCEVENT_FOREVER;
}

void se_queues_announce(void)
{
	struct se_local *q;

	while ((q = SLIST_FIRST(&news))) {
		SLIST_REMOVE_HEAD(&news, next);
		q->news = false;
		se_bell_on(&q->bell);
		if (q->reapers) {
			__atomic_fetch_add(&q->word, 1, __ATOMIC_RELEASE);
			se_wake(&q->word);
		}
	}
}

/* ---- queues ----------------------------------------------------------------------- */

int se_local_create(struct se_local **out)
{
	struct se_local *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	STAILQ_INIT(&q->done);
	STAILQ_INIT(&q->spare);
	se_watch_lock();
	err = se_watch_start();
	if (!err)
		err = se_bell_open(&q->bell);
	se_watch_unlock();
	if (err)
		free(q);
	else
		*out = q;
	return err;
}

int se_local_fd(const struct se_local *q)
{
	return q->bell.fd;
}

/* Complete a new entry or park it; on failure it is not known to anybody. */
static int add(struct se_entry *e, struct syncevent *ev, uint64_t deadline)
{
	const struct syncevent_wait_opts o = { .deadline = deadline };
	struct se_watch *w;
	uint64_t value;
	int ret;

	if (se_tree_find(&e->q->cookies, e->cookie.key))
		return -EEXIST;
	ret = se_look(ev, &e->c, &value);
	if (ret == SE_NOT_YET && se_passed(&o))
		ret = -ETIMEDOUT;
	if (ret == SE_NOT_YET) {
		ret = se_watch_get(&w, ev);
		if (!ret)
			ret = se_watch_start();
		if (ret)
			return ret;
		/* The thread listens, or will from se_watch_more() on. */
		se_shm_ask(ev, &e->c);
		ret = se_look(ev, &e->c, &value);
	}
	switch (ret) {
	case 0:
	case -ETIMEDOUT:
		complete(e, value, ret);
		break;
	case SE_NOT_YET:
		park(e, w, deadline);
		se_watch_more(w, deadline);
		break;
	default:
		return ret;
	}
	se_tree_add(&e->q->cookies, &e->cookie);
	return 0;
}

static struct se_entry *take_spare(struct se_local *q)
{
	struct se_entry *e = STAILQ_FIRST(&q->spare);

	if (e)
		STAILQ_REMOVE_HEAD(&q->spare, done);
	return e;
}

/*
 * An entry is no longer needed: it is spare, or one of @unwanted, to be freed without the
 * lock. The queue's entries may be more than are reserved.
 */
static void put_entry(struct se_local *q, struct se_entry *e, struct completed *unwanted)
{
	struct completed *to = &q->spare;

	if (q->entries > q->reserved) {
		q->entries--;
		to = unwanted;
	}
	STAILQ_INSERT_HEAD(to, e, done);
}

static void free_all(struct completed *unwanted)
{
	struct se_entry *e;

	while ((e = STAILQ_FIRST(unwanted))) {
		STAILQ_REMOVE_HEAD(unwanted, done);
		free(e);
	}
}

int se_local_reserve(struct se_local *q, size_t n)
{
	struct completed unwanted = STAILQ_HEAD_INITIALIZER(unwanted);
	struct se_entry *e;
	int err = 0;

	se_watch_lock();
	while (q->entries < n && !err) {
		/* malloc() may take long. */
		se_watch_unlock();
		e = malloc(sizeof(*e));
		se_watch_lock();
		if (e) {
			q->entries++;
			STAILQ_INSERT_HEAD(&q->spare, e, done);
		} else {
			err = -ENOMEM;
		}
	}
	if (!err)
		q->reserved = n;
	while (q->entries > q->reserved && (e = take_spare(q)))
		put_entry(q, e, &unwanted);
	se_watch_unlock();
	free_all(&unwanted);
	return err;
}

int se_local_add(struct se_local *q, struct syncevent *ev, const struct se_cond *c,
		 uint64_t cookie, uint64_t deadline)
{
	struct completed unwanted = STAILQ_HEAD_INITIALIZER(unwanted);
	struct se_entry *e;
	int err;

	se_watch_lock();
	e = take_spare(q);
	if (!e) {
		se_watch_unlock();
		e = malloc(sizeof(*e));
		if (!e)
			return -ENOMEM;
		se_watch_lock();
		q->entries++;
	}
	*e = (struct se_entry){ .q = q, .c = *c, .cookie.key = cookie };
	err = add(e, ev, deadline);
	if (err)
		put_entry(q, e, &unwanted);
	se_watch_unlock();
	free_all(&unwanted);
	return err;
}

int se_local_cancel(struct se_local *q, uint64_t cookie)
{
	struct completed unwanted = STAILQ_HEAD_INITIALIZER(unwanted);
	struct se_entry *e;
	struct se_watch *w;
	struct se_node *n;
	int err = -ENOENT;

	se_watch_lock();
	n = se_tree_find(&q->cookies, cookie);
	if (n) {
		e = se_of(n, struct se_entry, cookie);
		w = e->w;
		err = w ? 0 : -EALREADY;
		if (w) {
			unpark(e);
			se_watch_less(w);
			se_tree_del(&q->cookies, n);
			put_entry(q, e, &unwanted);
		}
	}
	se_watch_unlock();
	free_all(&unwanted);
	return err;
}

/* Take what is done and fits; @unwanted are to be freed without the lock. */
static unsigned int take(struct se_local *q, struct syncevent_done *done, unsigned int max,
			 struct completed *unwanted)
{
	unsigned int n;

	for (n = 0; n < max && q->nr_done; n++) {
		struct se_entry *e = STAILQ_FIRST(&q->done);

		STAILQ_REMOVE_HEAD(&q->done, done);
		__atomic_store_n(&q->nr_done, q->nr_done - 1, __ATOMIC_RELAXED);
		se_tree_del(&q->cookies, &e->cookie);
		done[n] = (struct syncevent_done){
			.cookie = e->cookie.key,
			.value = e->value,
			.status = e->status,
		};
		put_entry(q, e, unwanted);
	}
	if (!q->nr_done)
		se_bell_off(&q->bell);
	return n;
}

int se_local_reap(struct se_local *q, struct syncevent_done *done, unsigned int max,
		  uint64_t deadline)
{
	struct completed unwanted = STAILQ_HEAD_INITIALIZER(unwanted);
	int err = deadline ? 0 : -ETIMEDOUT;
	unsigned int n;
	uint32_t was;

	if (err && !__atomic_load_n(&q->nr_done, __ATOMIC_RELAXED))
		return err;
	if (max > INT32_MAX)
		max = INT32_MAX;
	se_watch_lock();
	for (;;) {
		/* After a time-out or a signal this is the last look: success wins. */
		n = take(q, done, max, &unwanted);
		if (n || err)
			break;
		was = q->word;
		q->reapers++;
		se_watch_unlock();
		err = se_sleep_until(&q->word, was, deadline);
		se_watch_lock();
		q->reapers--;
	}
	se_watch_unlock();
	free_all(&unwanted);
	return n ? (int)n : err;
}

void se_local_close(struct se_local *q)
{
	struct completed unwanted = STAILQ_HEAD_INITIALIZER(unwanted);
	unsigned int n = 0;

	se_watch_lock();
	while (q->cookies.root) {
		struct se_entry *e = se_of(q->cookies.root, struct se_entry, cookie);
		struct se_watch *w = e->w;

		se_tree_del(&q->cookies, &e->cookie);
		if (w) {
			unpark(e);
			se_watch_less(w);
			STAILQ_INSERT_TAIL(&unwanted, e, done);
		}
		/* Others want the lock, too. */
		if (++n % CLOSE_BATCH == 0) {
			se_watch_unlock();
			se_watch_lock();
		}
	}
	STAILQ_CONCAT(&unwanted, &q->done);
	STAILQ_CONCAT(&unwanted, &q->spare);
	se_bell_close(&q->bell);
	se_watch_unlock();
	free_all(&unwanted);
	free(q);
}
