// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * wait.c - waits on one event and on several
 *
 * All waits look before they do anything else. SPIN and YIELD are repeated
 * looks at the cell and never enter the kernel for the event's sake, BLOCK
 * leaves everything after the first look to the kernel, ADAPTIVE is a short
 * SPIN and then BLOCK.
 */
#include "internal.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(SYNCEVENT_EQ == SYNCEVENT_COND_EQ && SYNCEVENT_NEQ == SYNCEVENT_COND_NEQ &&
	       SYNCEVENT_GT == SYNCEVENT_COND_GT && SYNCEVENT_GE == SYNCEVENT_COND_GE &&
	       SYNCEVENT_LT == SYNCEVENT_COND_LT && SYNCEVENT_LE == SYNCEVENT_COND_LE,
	       "enum syncevent_cond");
_Static_assert(SYNCEVENT_REALTIME == SYNCEVENT_WAIT_REALTIME, "opts.flags");
_Static_assert(SYNCEVENT_FOREVER == SYNCEVENT_NO_DEADLINE, "opts.deadline");
_Static_assert(SYNCEVENT_MANY_MAX == SYNCEVENT_WAIT_MAX, "count of wait_many");

/* About what it costs to fall asleep and be woken: waiting longer awake cannot win. */
#define SPIN_NS_DEFAULT		5000

/* Reading the clock costs as much as some looks, so it is done once in so many. */
#define LOOKS_PER_CLOCK		32

#define NOT_YET			1	/* a look that found nothing to report */

typedef int look_fn(void *arg);

uint64_t se_now(bool realtime)
{
	struct timespec ts;

	clock_gettime(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool one_cpu(void)
{
	static int cpus;
	int n = __atomic_load_n(&cpus, __ATOMIC_RELAXED);

	if (!n) {
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
		__atomic_store_n(&cpus, n, __ATOMIC_RELAXED);
	}
	return n == 1;
}

static bool holds(uint32_t cond, uint64_t value, uint64_t operand)
{
	switch (cond) {
	case SYNCEVENT_EQ:
		return value == operand;
	case SYNCEVENT_NEQ:
		return value != operand;
	case SYNCEVENT_GT:
		return value > operand;
	case SYNCEVENT_GE:
		return value >= operand;
	case SYNCEVENT_LT:
		return value < operand;
	default:
		return value <= operand;
	}
}

static int get_opts(struct syncevent_wait_opts *to, const struct syncevent_wait_opts *opts)
{
	int err;

	*to = (struct syncevent_wait_opts){
		.deadline = SYNCEVENT_FOREVER,
		.how = SYNCEVENT_ADAPTIVE,
	};
	if (opts) {
		err = se_copy_struct(to, opts, sizeof(*to));
		if (err)
			return err;
	}
	if (to->flags & ~SYNCEVENT_REALTIME || to->how > SYNCEVENT_BLOCK)
		return -EINVAL;
	if (!to->spin_ns)
		to->spin_ns = SPIN_NS_DEFAULT;
	return 0;
}

static bool passed(const struct syncevent_wait_opts *o)
{
	return o->deadline != SYNCEVENT_FOREVER &&
	       se_now(o->flags & SYNCEVENT_REALTIME) >= o->deadline;
}

/*
 * Looks until something is seen, the deadline passes or, for ADAPTIVE, the
 * budget is used up (NOT_YET). The budget is of CLOCK_MONOTONIC whatever the
 * clock of the deadline, which someone may set back.
 */
static int spin(look_fn *look, void *arg, const struct syncevent_wait_opts *o)
{
	uint64_t end = SYNCEVENT_FOREVER;
	unsigned int looks = 0;
	int ret;

	if (o->how == SYNCEVENT_ADAPTIVE)
		end = se_now(false) + o->spin_ns;
	for (;;) {
		if (o->how == SYNCEVENT_YIELD)
			sched_yield();
		else
			syncevent_cell_pause();
		ret = look(arg);
		if (ret != NOT_YET)
			return ret;
		if (o->how != SYNCEVENT_YIELD && ++looks % LOOKS_PER_CLOCK)
			continue;
		if (passed(o)) {
			/* What came before the deadline counts, seen late or not. */
			ret = look(arg);
			return ret == NOT_YET ? -ETIMEDOUT : ret;
		}
		if (end != SYNCEVENT_FOREVER && se_now(false) >= end)
			return NOT_YET;
	}
}

struct one {
	const struct syncevent_cell *cell;
	uint64_t operand;
	uint64_t mask;
	uint64_t value;
	uint32_t cond;
};

static int look_one(void *arg)
{
	struct one *one = arg;

	if (!syncevent_cell_live(one->cell))
		return -EIDRM;
	one->value = syncevent_cell_get(one->cell);
	return holds(one->cond, one->value & one->mask, one->operand) ? 0 : NOT_YET;
}

static int sleep_one(int fd, struct one *one, const struct syncevent_wait_opts *o)
{
	struct syncevent_wait wait = {
		.operand = one->operand,
		.mask = one->mask,
		.deadline = o->deadline,
		.cond = one->cond,
		.flags = o->flags,
	};
	int ret = se_ioctl(fd, SYNCEVENT_IOC_WAIT, &wait);

	one->value = wait.value;
	return ret;
}

int syncevent_wait(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		   uint64_t mask, const struct syncevent_wait_opts *opts, uint64_t *seen)
{
	struct one one = {
		.cell = ev->cell,
		.operand = operand,
		.mask = mask,
		.cond = cond,
	};
	struct syncevent_wait_opts o;
	int ret = get_opts(&o, opts);

	if (ret)
		return ret;
	if (one.cond > SYNCEVENT_LE)
		return -EINVAL;

	ret = look_one(&one);
	if (ret == NOT_YET && !o.deadline)
		ret = -ETIMEDOUT;
	if (ret == NOT_YET && o.how != SYNCEVENT_BLOCK &&
	    !(o.how == SYNCEVENT_ADAPTIVE && one_cpu()))
		ret = spin(look_one, &one, &o);
	if (ret == NOT_YET)
		ret = sleep_one(ev->fd, &one, &o);
	if (!ret && seen)
		*seen = one.value;
	return ret;
}

/* The kernel's own request serves as the record of a wait in user space too. */
struct several {
	struct syncevent_many *many;
	struct syncevent_wait_entry *entries;
	struct syncevent_wait_many *request;
	unsigned int left;		/* conditions that have yet to hold */
};

static int look_several(void *arg)
{
	struct several *s = arg;
	unsigned int i;

	for (i = 0; i < s->request->count; i++) {
		struct syncevent_wait_entry *entry = &s->entries[i];
		const struct syncevent_cell *cell = s->many[i].ev->cell;
		uint64_t value;

		if (entry->status)
			continue;
		if (!syncevent_cell_live(cell)) {
			entry->status = -EIDRM;
			s->request->index = i;
			return -EIDRM;
		}
		value = syncevent_cell_get(cell);
		if (!holds(entry->cond, value & entry->mask, entry->operand))
			continue;
		entry->value = value;
		entry->status = 1;
		s->request->index = i;
		if (!--s->left)
			return 0;
	}
	return NOT_YET;
}

static int poll_several(struct syncevent_many *many, struct syncevent_wait_many *request,
			struct syncevent_wait_entry *entries,
			const struct syncevent_wait_opts *o)
{
	struct several s = {
		.many = many,
		.entries = entries,
		.request = request,
		.left = request->flags & SYNCEVENT_WAIT_ALL ? request->count : 1,
	};
	int ret = look_several(&s);

	if (ret != NOT_YET)
		return ret;
	return o->deadline ? spin(look_several, &s, o) : -ETIMEDOUT;
}

int syncevent_wait_many(struct syncevent_many *many, unsigned int count,
			unsigned int flags, const struct syncevent_wait_opts *opts,
			unsigned int *index)
{
	struct syncevent_wait_entry entries[SYNCEVENT_MANY_MAX];
	struct syncevent_wait_many request = {
		.entries = (uintptr_t)entries,
		.count = count,
	};
	struct syncevent_wait_opts o;
	unsigned int i;
	int ret = get_opts(&o, opts);

	if (ret)
		return ret;
	if (!count || count > SYNCEVENT_MANY_MAX || flags & ~SYNCEVENT_ALL)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (many[i].cond > SYNCEVENT_LE)
			return -EINVAL;
		entries[i] = (struct syncevent_wait_entry){
			.fd = many[i].ev->fd,
			.cond = many[i].cond,
			.operand = many[i].operand,
			.mask = many[i].mask,
		};
	}
	request.deadline = o.deadline;
	request.flags = o.flags | (flags & SYNCEVENT_ALL ? SYNCEVENT_WAIT_ALL : 0);

	if (o.how == SYNCEVENT_SPIN || o.how == SYNCEVENT_YIELD)
		ret = poll_several(many, &request, entries, &o);
	else
		ret = se_device_ioctl(SYNCEVENT_IOC_WAIT_MANY, &request);
	if (ret && ret != -EIDRM)
		return ret;
	for (i = 0; i < count; i++) {
		many[i].value = entries[i].value;
		many[i].status = entries[i].status;
	}
	if (index)
		*index = request.index;
	return ret;
}
