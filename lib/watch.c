// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * watch.c - the thread that watches events for those who poll
 *
 * It sleeps on the watch word of each watched event as any other waiter does on its
 * seq (shm.c), and on a word of its own, by which other threads wake it when there is
 * more to watch. Whoever adds something to watch asks for rings and looks by himself,
 * under the lock; the thread need not be told of it if it listens to that event
 * already: it has read the watch word before that.
 *
 * An event that nobody waits for any more is listened to for a while, so that a
 * program that waits for one value after another does not wake the thread for each.
 *
 * Close. The thread keeps no pointer to a handle while it sleeps without the lock,
 * only the addresses of words: if one is unmapped the kernel says so, and it looks
 * again. A handle that is closed while entries of wait queues depend on it is kept by
 * its watch until they have completed.
 *
 * Fork. The lock is taken around it. The child gets eventfds of its own, which stand
 * where those of the parent did, and a thread if anything is watched. The handlers
 * are registered when the library is loaded: so they run next to the fork itself, and
 * those of the program, which may use the library, outside of the lock.
 *
 * A publisher in this process does what the thread would do, if the lock is free. It
 * does not wait for it, also because it may run in a signal handler. It has cleared
 * the hint; so it asks again for those who go on waiting. If no other process has
 * ever watched the event there is then nothing left for a thread, and none is woken.
 * Who has is in the page:
 *
 *	watcher				publisher
 *	watcher = this process		hint = none
 *	  fence in known()		  SE-C
 *	w = watch	(acquire)	r = watcher
 *	hint = asks			if this process: judge, ask again
 *	  SE-B				if others, or the lock was not free:
 *	look, sleep while watch == w	  watch++, wake all on watch
 *
 * A hint that is cleared after somebody asked has r see who; if it is asked for after
 * that, it is still there. selftests/model/watch.pml is the model of it.
 *
 * Locks: this one, then those of malloc() and of the kernel. Below it nothing sleeps,
 * and nothing of the program is called.
 */
#include "watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Room for some frames and the words. */
#define STACK_SIZE	(128 * 1024)

/* With nothing to watch: long, and a time_t of 32 bits. */
#define DEEP_NS		3600000000000ULL

/* Lists of watches, by page: short ones with thousands of events, too. */
#define PAGES		4096

const struct se_cond se_any = { .cond = SYNCEVENT_NEQ, .mask = UINT64_MAX };

unsigned int se_forks;

TAILQ_HEAD(watches, se_watch);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All under the lock. */
static int cancel_state;
static struct watches active = TAILQ_HEAD_INITIALIZER(active);
static struct watches lingering = TAILQ_HEAD_INITIALIZER(lingering);
static LIST_HEAD(, se_watch) pages[PAGES];
/* What this process is called in the pages of events; 0: not yet drawn. */
static uint64_t self;

/**
 * struct helper - the thread
 * @word: it sleeps on this, too
 * @pid: of the process that made it; 0: there is none
 * @stop: it shall end
 * @asleep: it sleeps, or is about to, and has not been woken
 * @idle: it has slept once with nothing to watch
 * @deep: then it sleeps for long
 * @fresh: look at silent events often, for a while
 * @until: the deadline that it sleeps for
 */
static struct {
	uint32_t word;
	pid_t pid;
	pthread_t thread;
	bool stop;
	bool asleep;
	bool idle;
	bool deep;
	bool fresh;
	uint64_t until;
} helper;

/* A thread that is cancelled in a write(2) below the lock would leave it taken. */
void se_watch_lock(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	cancel_state = state;
}

static bool watch_trylock(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (pthread_mutex_trylock(&lock)) {
		pthread_setcancelstate(state, &state);
		return false;
	}
	cancel_state = state;
	return true;
}

void se_watch_unlock(void)
{
	int state = cancel_state;

	se_queues_announce();
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, &state);
}

static void kick(void)
{
	if (!helper.asleep)
		return;
	helper.asleep = false;
	__atomic_fetch_add(&helper.word, 1, __ATOMIC_RELEASE);
	se_wake(&helper.word);
}

/* ---- watches ------------------------------------------------------------------- */

static void list(struct se_watch *w, enum se_watched state)
{
	if (w->state == state)
		return;
	if (w->state != SE_DORMANT)
		TAILQ_REMOVE(w->state == SE_ACTIVE ? &active : &lingering, w, link);
	if (state != SE_DORMANT)
		TAILQ_INSERT_HEAD(state == SE_ACTIVE ? &active : &lingering, w, link);
	else
		w->heard = false;
	w->state = state;
}

static uint64_t page_of(const struct syncevent *ev)
{
	uint64_t page;

	/* Random, and as good as any if somebody spoils it. */
	memcpy(&page, se_shm(ev->cell)->key[0], sizeof(page));
	return page;
}

/* This process watches: who rings has to know before it is asked to. */
static void known(struct se_watch *w)
{
	struct se_shm *shm;
	uint64_t is = 0;

	w->forks = se_forks;
	/* Without the right to ask the thread looks now and then. */
	if (!w->ev->control)
		return;
	shm = se_shm(w->ev->control);
	if (!self && (getrandom(&self, sizeof(self), 0) != (ssize_t)sizeof(self) || !self))
		self = SE_SEVERAL;
	if (!__atomic_compare_exchange_n(&shm->watcher, &is, self, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST) && is != self)
		__atomic_store_n(&shm->watcher, SE_SEVERAL, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int se_watch_get(struct se_watch **out, struct syncevent *ev)
{
	struct se_watch *w = ev->watch;

	/* An end of which all have been told may have been taken back in the page. */
	if ((w && w->ended) || !syncevent_cell_live(ev->cell))
		return -EIDRM;
	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return -ENOMEM;
		w->ev = ev;
		w->bell.fd = -1;
		w->cond = se_any;
		w->cond.operand = ev->first;
		w->last = ev->first;
		LIST_INIT(&w->others);
		w->page = page_of(ev);
		LIST_INSERT_HEAD(&pages[w->page % PAGES], w, same);
		known(w);
		ev->watch = w;
	}
	if (w->forks != se_forks)
		known(w);
	*out = w;
	return 0;
}

static bool is_watched(const struct se_watch *w)
{
	return !w->ended && (w->entries || w->bell.fd >= 0 || w->shadowed);
}

void se_watch_more(struct se_watch *w, uint64_t deadline)
{
	bool silent = se_shm_silent(w->ev);

	list(w, SE_ACTIVE);
	helper.fresh |= silent;
	if (!w->heard || silent || helper.deep || deadline < helper.until)
		kick();
}

void se_watch_less(struct se_watch *w)
{
	if (is_watched(w))
		return;
	if (!w->closed) {
		/* What has ended will not come back. */
		list(w, w->ended || w->state == SE_DORMANT ? SE_DORMANT : SE_LINGERING);
		return;
	}
	list(w, SE_DORMANT);
	LIST_REMOVE(w, same);
	se_shm_free(w->ev);
	free(w);
}

/* Everybody who waits for what this watch sees is told. */
static void judge(struct se_watch *w)
{
	uint64_t value;

	if (w->ended)
		return;
	if (!syncevent_cell_live(w->ev->cell)) {
		w->ended = true;
		se_entries_end(w);
		if (w->bell.fd >= 0)
			se_bell_on(&w->bell);
		if (w->shadow)
			se_shadow_end(w);
		return;
	}
	value = __atomic_load_n(w->ev->value, __ATOMIC_ACQUIRE);
	se_entries_judge(w, value);
	if (w->bell.fd >= 0)
		se_poll_judge(w, value);
	if (w->shadowed)
		se_shadow_judge(w, value);
}

/* The least that all who wait need to be rung for. */
static void ask(struct se_watch *w)
{
	const struct se_node *lowest = se_tree_first(&w->above);
	struct se_cond c = { .cond = SYNCEVENT_GT, .mask = UINT64_MAX };

	if (w->below.root || w->equal.root || !LIST_EMPTY(&w->others) || w->shadowed ||
	    w->bell.on) {
		se_shm_ask(w->ev, &se_any);
		return;
	}
	if (w->bell.fd >= 0)
		se_shm_ask(w->ev, &w->cond);
	if (lowest) {
		c.operand = lowest->key;
		se_shm_ask(w->ev, &c);
	}
}

static void look(struct se_watch *w)
{
	bool on;

	do {
		on = w->bell.on;
		ask(w);
		judge(w);
		/* A bell that is on wants to hear of every update. */
	} while (!on && w->bell.on && !w->ended);
}

/* For all of this process that watch the page. */
static void judge_page(const struct syncevent *ev)
{
	const uint64_t page = page_of(ev);
	struct se_watch *w, *next;

	for (w = LIST_FIRST(&pages[page % PAGES]); w; w = next) {
		next = LIST_NEXT(w, same);
		if (w->page != page || w->state != SE_ACTIVE)
			continue;
		judge(w);
		/* The hint was cleared for those who are left, too. */
		if (is_watched(w))
			look(w);
		/* A signal handler must not free it: the thread does. */
		if (w->closed && !is_watched(w))
			kick();
		else
			se_watch_less(w);
	}
}

void se_watch_ring(struct syncevent *ev)
{
	struct se_shm *shm = se_shm(ev->cell);
	const uint64_t watcher = __atomic_load_n(&shm->watcher, __ATOMIC_RELAXED);
	bool alone = false;

	if (!watcher)
		return;
	if (watch_trylock()) {
		judge_page(ev);
		/* A child of vfork() or _Fork() is not who it seems to be. */
		alone = watcher == self && self != SE_SEVERAL && helper.pid == getpid();
		se_watch_unlock();
	}
	if (alone)
		return;
	__atomic_fetch_add(&shm->watch, 1, __ATOMIC_RELEASE);
	se_wake(&shm->watch);
}

bool se_watch_close(struct syncevent *ev)
{
	struct se_watch *w = ev->watch;
	bool kept;

	if (!w)
		return false;
	se_watch_lock();
	se_bell_close(&w->bell);
	if (w->shadow)
		se_shadow_close(w);
	/* The memory of attr.addr outlives the handle, but nothing else. */
	if (ev->provider->id == SYNCEVENT_PROVIDER_ADDR)
		se_entries_end(w);
	kept = is_watched(w);
	if (kept) {
		w->closed = true;
	} else {
		list(w, SE_DORMANT);
		LIST_REMOVE(w, same);
		free(w);
	}
	se_watch_unlock();
	return kept;
}

/* ---- the thread ------------------------------------------------------------------ */

/* Looks at all that is watched, and gathers the words to sleep on. */
static unsigned int gather(struct se_word *words, struct se_slice *slice)
{
	const bool was_silent = slice->silent;
	struct se_watch *w, *next;
	unsigned int n = 1;

	words[0].word = &helper.word;
	words[0].was = __atomic_load_n(&helper.word, __ATOMIC_ACQUIRE);
	slice->silent = false;
	for (w = TAILQ_FIRST(&active); w; w = next) {
		next = TAILQ_NEXT(w, link);
		w->was = __atomic_load_n(&se_shm(w->ev->cell)->watch, __ATOMIC_ACQUIRE);
		look(w);
		w->heard = is_watched(w) && n < SYNCEVENT_MANY_MAX;
		if (w->heard)
			words[n++] = (struct se_word){
				.word = &se_shm(w->ev->cell)->watch,
				.was = w->was,
			};
		if (is_watched(w) && (!w->heard || se_shm_silent(w->ev)))
			slice->silent = true;
		se_watch_less(w);
	}
	/* A slice of another kind, an hour perhaps, is not the one to go on with. */
	if (helper.fresh || helper.deep || slice->silent != was_silent)
		slice->ns = 0;
	helper.fresh = false;

	/* Nothing lingers for longer than a slice. */
	helper.deep = TAILQ_EMPTY(&active) && (helper.idle || TAILQ_EMPTY(&lingering));
	helper.idle = TAILQ_EMPTY(&active);
	for (w = TAILQ_FIRST(&lingering); w; w = next) {
		const uint32_t *word = &se_shm(w->ev->cell)->watch;

		next = TAILQ_NEXT(w, link);
		/* Others go on ringing for others. */
		if (helper.deep || n == SYNCEVENT_MANY_MAX ||
		    __atomic_load_n(word, __ATOMIC_ACQUIRE) != w->was) {
			list(w, SE_DORMANT);
			continue;
		}
		w->heard = true;
		words[n++] = (struct se_word){ .word = word, .was = w->was };
	}
	if (helper.deep)
		slice->ns = DEEP_NS;
	return n;
}

static void *watch(void *unused)
{
	struct syncevent_wait_opts opts = { .size = sizeof(opts) };
	struct se_word words[SYNCEVENT_MANY_MAX];
	struct se_slice slice = { .ns = 0 };
	unsigned int n;

	se_watch_lock();
	while (!helper.stop) {
		n = gather(words, &slice);
		/* Late: what holds now is no time-out. */
		opts.deadline = se_entries_expire();
		helper.until = opts.deadline;
		helper.asleep = true;
		se_watch_unlock();
		(void)se_sleep(words, n, &slice, &opts);
		se_watch_lock();
		helper.asleep = false;
	}
	se_watch_unlock();
	return unused;
}

static int make_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, mask;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return err;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	err = pthread_create(&helper.thread, &attr, watch, NULL);
	/* The program's thread-local variables need more. */
	if (err == EINVAL)
		err = pthread_create(&helper.thread, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

int se_watch_start(void)
{
	if (helper.pid)
		return 0;
	helper.deep = false;
	helper.asleep = false;
	if (make_thread())
		return -EAGAIN;
	__atomic_store_n(&helper.pid, getpid(), __ATOMIC_RELAXED);
	pthread_setname_np(helper.thread, "syncevent");
	return 0;
}

/* ---- fork, exit --------------------------------------------------------------------- */

static void fork_child(void)
{
	struct se_watch *w, *next;

	se_forks++;
	self = 0;
	while ((w = TAILQ_FIRST(&lingering)))
		list(w, SE_DORMANT);
	for (w = TAILQ_FIRST(&active); w; w = next) {
		next = TAILQ_NEXT(w, link);
		w->heard = false;
		known(w);
		/* Its shadow is the parent's. */
		w->shadowed = false;
		se_watch_less(w);
	}
	__atomic_store_n(&helper.pid, 0, __ATOMIC_RELAXED);
	helper.stop = false;
	se_bells_fork();
	if (!TAILQ_EMPTY(&active))
		(void)se_watch_start();
	se_watch_unlock();
}

__attribute__((constructor)) static void watch_load(void)
{
	pthread_atfork(se_watch_lock, se_watch_unlock, fork_child);
}

/* exit() and dlclose(). */
__attribute__((destructor)) static void watch_unload(void)
{
	/* A child of vfork() or _Fork() has neither the thread nor the lock. */
	if (__atomic_load_n(&helper.pid, __ATOMIC_RELAXED) != getpid())
		return;
	se_watch_lock();
	helper.stop = true;
	kick();
	se_watch_unlock();
	pthread_join(helper.thread, NULL);
	se_watch_lock();
	helper.stop = false;
	__atomic_store_n(&helper.pid, 0, __ATOMIC_RELAXED);
	se_watch_unlock();
}
