// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * peers.c - what sleeping on an event is compared with
 *
 * All of them work between processes, as events do: shared futexes, and the
 * process-shared kinds of condition variable and semaphore. Each lies in shared
 * memory and carries the value beside the wake-up, or a count of posts that is
 * one, so that a waiter knows what it was woken for.
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

long futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* ---- futex: a sequence word ---------------------------------------------------- */

/*
 * The waiter counts itself, reads the sequence, looks at the value and sleeps if
 * the sequence is still that; the publisher changes the value, then the sequence,
 * and wakes if somebody is counted. All are sequentially consistent.
 */
struct futex_word {
	uint64_t value;
	uint32_t sequence;
	uint32_t waiters;
};

static int futex_open(struct channel *c)
{
	(void)c;
	return 0;
}

static void futex_post(struct channel *c, uint64_t value)
{
	struct futex_word *w = (void *)c;

	__atomic_store_n(&w->value, value, __ATOMIC_RELEASE);
	__atomic_fetch_add(&w->sequence, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->waiters, __ATOMIC_SEQ_CST))
		futex(&w->sequence, FUTEX_WAKE, INT_MAX);
}

static void futex_wait(struct channel *c, uint64_t value)
{
	struct futex_word *w = (void *)c;
	uint32_t sequence;

	if (__atomic_load_n(&w->value, __ATOMIC_ACQUIRE) >= value)
		return;
	__atomic_fetch_add(&w->waiters, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		sequence = __atomic_load_n(&w->sequence, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&w->value, __ATOMIC_ACQUIRE) >= value)
			break;
		futex(&w->sequence, FUTEX_WAIT, sequence);
	}
	__atomic_fetch_sub(&w->waiters, 1, __ATOMIC_SEQ_CST);
}

static void futex_close(struct channel *c)
{
	(void)c;
}

const struct channel_ops futex_channel = {
	sizeof(struct futex_word), futex_open, futex_post, futex_wait, futex_close,
};

/* ---- eventfd ---------------------------------------------------------------------- */

struct eventfd_word {
	int fd;
};

static int eventfd_open(struct channel *c)
{
	struct eventfd_word *w = (void *)c;

	w->fd = eventfd(0, EFD_CLOEXEC);
	return w->fd < 0 ? -errno : 0;
}

static void eventfd_post(struct channel *c, uint64_t value)
{
	struct eventfd_word *w = (void *)c;

	(void)value;
	if (eventfd_write(w->fd, 1))
		die("eventfd", errno);
}

static void eventfd_wait(struct channel *c, uint64_t value)
{
	struct eventfd_word *w = (void *)c;
	eventfd_t count;

	(void)value;
	if (eventfd_read(w->fd, &count))
		die("eventfd", errno);
}

static void eventfd_close(struct channel *c)
{
	struct eventfd_word *w = (void *)c;

	close(w->fd);
}

const struct channel_ops eventfd_channel = {
	sizeof(struct eventfd_word), eventfd_open, eventfd_post, eventfd_wait, eventfd_close,
};

/* ---- pthread condition variable ----------------------------------------------------- */

struct cond_word {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint64_t value;
};

static int cond_open(struct channel *c)
{
	struct cond_word *w = (void *)c;
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;

	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&w->lock, &ma);
	pthread_mutexattr_destroy(&ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&w->cond, &ca);
	pthread_condattr_destroy(&ca);
	return 0;
}

static void cond_post(struct channel *c, uint64_t value)
{
	struct cond_word *w = (void *)c;

	pthread_mutex_lock(&w->lock);
	w->value = value;
	pthread_mutex_unlock(&w->lock);
	/* After the lock: a waiter that wakes does not have to wait for it. */
	pthread_cond_broadcast(&w->cond);
}

static void cond_wait(struct channel *c, uint64_t value)
{
	struct cond_word *w = (void *)c;

	pthread_mutex_lock(&w->lock);
	while (w->value < value)
		pthread_cond_wait(&w->cond, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static void cond_close(struct channel *c)
{
	struct cond_word *w = (void *)c;

	pthread_cond_destroy(&w->cond);
	pthread_mutex_destroy(&w->lock);
}

const struct channel_ops cond_channel = {
	sizeof(struct cond_word), cond_open, cond_post, cond_wait, cond_close,
};

/* ---- POSIX semaphore ------------------------------------------------------------------ */

static int sem_channel_open(struct channel *c)
{
	return sem_init((sem_t *)(void *)c, 1, 0) ? -errno : 0;
}

static void sem_channel_post(struct channel *c, uint64_t value)
{
	(void)value;
	sem_post((sem_t *)(void *)c);
}

static void sem_channel_wait(struct channel *c, uint64_t value)
{
	(void)value;
	while (sem_wait((sem_t *)(void *)c))
		;
}

static void sem_channel_close(struct channel *c)
{
	sem_destroy((sem_t *)(void *)c);
}

const struct channel_ops sem_channel = {
	sizeof(sem_t), sem_channel_open, sem_channel_post, sem_channel_wait, sem_channel_close,
};

/* ---- eventfd in epoll ------------------------------------------------------------------- */

struct epoll_word {
	int fd;
	int set;
};

static int epoll_open(struct channel *c)
{
	struct epoll_word *w = (void *)c;
	struct epoll_event event = { .events = EPOLLIN };

	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->set = epoll_create1(EPOLL_CLOEXEC);
	if (w->fd < 0 || w->set < 0 || epoll_ctl(w->set, EPOLL_CTL_ADD, w->fd, &event))
		return -errno;
	return 0;
}

static void epoll_wait_word(struct channel *c, uint64_t value)
{
	struct epoll_word *w = (void *)c;
	struct epoll_event event;
	eventfd_t count;

	(void)value;
	do {
		if (epoll_wait(w->set, &event, 1, -1) < 0 && errno != EINTR)
			die("epoll_wait", errno);
	} while (eventfd_read(w->fd, &count));
}

static void epoll_close(struct channel *c)
{
	struct epoll_word *w = (void *)c;

	close(w->set);
	close(w->fd);
}

/* struct epoll_word begins as struct eventfd_word does. */
const struct channel_ops eventfd_epoll_channel = {
	sizeof(struct epoll_word), epoll_open, eventfd_post, epoll_wait_word, epoll_close,
};
