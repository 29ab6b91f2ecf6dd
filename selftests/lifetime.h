/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* lifetime.h - an event, its mapping, and a queue that tells when the event ends */
#ifndef SELFTESTS_LIFETIME_H
#define SELFTESTS_LIFETIME_H

#include "common.h"

/* Events of this user, as the module counts them. */
static inline int64_t events(void)
{
	struct syncevent_dev_info info;
	int ret = se_ioctl(se_dev(), SYNCEVENT_IOC_DEV_INFO, &info);

	return ret < 0 ? ret : (int64_t)info.events;
}

/* A queue with one pending entry on fd: it tells when the event ends. */
static inline int watch(int fd, uint64_t above)
{
	int q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
	int ret = q < 0 ? q : se_queue_add(q, fd, SYNCEVENT_COND_GT, above, 1, SE_FOREVER);

	return ret < 0 ? ret : q;
}

static inline bool pending(int q)
{
	struct syncevent_completion done;

	return se_reap(q, &done, 1) == -EAGAIN;
}

/* The status of the entry, or -EAGAIN if it does not end. */
static inline int outcome(int q, uint64_t *value)
{
	struct syncevent_completion done;

	if (!se_until(se_reap(q, &done, 1) == 1))
		return -EAGAIN;
	if (value)
		*value = done.value;
	return done.status;
}

static inline uint64_t value_of(const struct syncevent_cell *cell)
{
	return __atomic_load_n(&cell->value, __ATOMIC_ACQUIRE);
}

static inline void put(struct syncevent_cell *cell, uint64_t value)
{
	__atomic_store_n(&cell->value, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t state_of(const struct syncevent_cell *cell)
{
	return __atomic_load_n(&cell->state, __ATOMIC_RELAXED) & SYNCEVENT_STATE_MASK;
}

struct shared {
	int fd;
	int go;			/* pipe: a byte lets the child go on */
	struct syncevent_cell *cell;
};

FIXTURE(event) {
	int64_t before;
	int fd;
	struct syncevent_cell *cell;
};

FIXTURE_SETUP(event)
{
	ASSERT_LE(0, se_dev());
	self->before = events();
	ASSERT_LE(0, self->before);
	self->fd = se_create(7);
	ASSERT_LE(0, self->fd);
	self->cell = se_map(self->fd, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, self->cell);
}

FIXTURE_TEARDOWN(event)
{
}

#endif /* SELFTESTS_LIFETIME_H */
