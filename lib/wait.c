// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * wait.c - waits on one event and on several
 *
 * All waits look before they do anything else. SPIN and YIELD are repeated
 * looks at the cell and never enter the kernel for the event's sake, BLOCK
 * leaves everything after the first look to the provider, ADAPTIVE is a short
 * SPIN and then BLOCK.
 */
#include "internal.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(SYNCEVENT_MANY_MAX == SYNCEVENT_WAIT_MAX, "count of wait_many");

/* About what it costs to fall asleep and be woken: waiting longer awake cannot win. */
#define SPIN_NS_DEFAULT		5000

/* Reading the clock costs as much as some looks, so it is done once in so many. */
#define LOOKS_PER_CLOCK		32

/* closely: also for what changes once in a lifetime */
typedef int look_fn(void *arg, bool closely);

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

bool se_holds(const struct se_cond *c, uint64_t value)
{
	value &= c->mask;
	switch (c->cond) {
	case SYNCEVENT_EQ:
		return value == c->operand;
	case SYNCEVENT_NEQ:
		return value != c->operand;
	case SYNCEVENT_GT:
		return value > c->operand;
	case SYNCEVENT_GE:
		return value >= c->operand;
	case SYNCEVENT_LT:
		return value < c->operand;
	default:
		return value <= c->operand;
	}
}

int se_look(const struct syncevent *ev, const struct se_cond *c, uint64_t *value)
{
	if (!syncevent_cell_live(ev->cell))
		return -EIDRM;
	*value = __atomic_load_n(ev->value, __ATOMIC_ACQUIRE);
	return se_holds(c, *value) ? 0 : SE_NOT_YET;
}

/* What a wait has to remember, to find that a machine died though it is back already. */
static uint32_t deaths(const struct syncevent *ev)
{
	return ev->own ? __atomic_load_n(&ev->own->deaths, __ATOMIC_RELAXED) : 0;
}

/*
 * Does it hold, and if not, does it depend on a machine that is dead, or was since there
 * were so many deaths? Return: as se_look(), or -EPIPE.
 */
static int look_closely(struct syncevent *ev, const struct se_cond *c, uint32_t since,
			uint64_t *value)
{
	const struct syncevent_wait_opts now = { .size = sizeof(now) };
	int ret = se_look(ev, c, value);
	bool died;

	if (ret != SE_NOT_YET || !ev->own)
		return ret;
	died = deaths(ev) != since;
	if (!died &&
	    !(__atomic_load_n(&ev->own->flags, __ATOMIC_RELAXED) & SYNCEVENT_HINT_PEER_DEAD))
		return ret;
	/*
	 * Who has written that flag? The kernel knows whether this wait depends on the dead, now.
	 * Of what was it says nothing. There the page is believed, as its state is: who may
	 * write the one may write the other. Success and the end of the event still win.
	 */
	ret = ev->provider->sleep(ev, c, &now, value);
	if (ret != -ETIMEDOUT)
		return ret;
	return died ? -EPIPE : SE_NOT_YET;
}

bool se_passed(const struct syncevent_wait_opts *o)
{
	return o->deadline != SYNCEVENT_FOREVER &&
	       se_now(o->flags & SYNCEVENT_REALTIME) >= o->deadline;
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

/*
 * Looks until something is seen, the deadline passes or, for ADAPTIVE, the
 * budget is used up (SE_NOT_YET). The budget is of CLOCK_MONOTONIC whatever the
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
		bool closely = o->how == SYNCEVENT_YIELD || !(++looks % LOOKS_PER_CLOCK);

		if (o->how == SYNCEVENT_YIELD)
			sched_yield();
		else
			syncevent_cell_pause();
		ret = look(arg, closely);
		if (ret != SE_NOT_YET)
			return ret;
		if (!closely)
			continue;
		if (se_passed(o)) {
			/* What came before the deadline counts, seen late or not. */
			ret = look(arg, false);
			return ret == SE_NOT_YET ? -ETIMEDOUT : ret;
		}
		if (end != SYNCEVENT_FOREVER && se_now(false) >= end)
			return SE_NOT_YET;
	}
}

/* ---- one event ------------------------------------------------------------------- */

struct one {
	struct syncevent *ev;
	struct se_cond c;
	uint32_t deaths;		/* when it began */
	uint64_t value;
};

static int look_one(void *arg, bool closely)
{
	struct one *one = arg;

	return closely ? look_closely(one->ev, &one->c, one->deaths, &one->value) :
			 se_look(one->ev, &one->c, &one->value);
}

int syncevent_wait(struct syncevent *ev, enum syncevent_cond cond, uint64_t operand,
		   uint64_t mask, const struct syncevent_wait_opts *opts, uint64_t *seen)
{
	struct one one = {
		.ev = ev,
		.c = { .operand = operand, .mask = mask, .cond = cond },
		.deaths = deaths(ev),
	};
	struct syncevent_wait_opts o;
	int ret = get_opts(&o, opts);

	if (ret)
		return ret;
	if (one.c.cond > SYNCEVENT_LE)
		return -EINVAL;

	ret = look_one(&one, !o.deadline);
	if (ret == SE_NOT_YET && !o.deadline)
		ret = -ETIMEDOUT;
	if (ret == SE_NOT_YET && o.how != SYNCEVENT_BLOCK &&
	    !(o.how == SYNCEVENT_ADAPTIVE && one_cpu()))
		ret = spin(look_one, &one, &o);
	if (ret == SE_NOT_YET)
		ret = ev->provider->sleep(ev, &one.c, &o, &one.value);
	if (!ret && seen)
		*seen = one.value;
	return ret;
}

/* ---- several events ---------------------------------------------------------------- */

/* The kernel's own request serves as the record of a wait in user space too. */
struct several {
	struct syncevent_many *many;
	struct syncevent_wait_entry *entries;
	struct syncevent_wait_many *request;
	const uint32_t *deaths;		/* when it began */
	unsigned int left;		/* conditions that have yet to hold */
	unsigned int kernel;		/* entries of the kernel provider */
};

/* One condition was seen to hold or its event to be gone. */
static int seen(struct several *s, unsigned int i, int status, uint64_t value)
{
	s->entries[i].status = status;
	s->request->index = i;
	if (status < 0)
		return status;
	s->entries[i].value = value;
	return --s->left ? SE_NOT_YET : 0;
}

static int look_several(void *arg, bool closely)
{
	struct several *s = arg;
	unsigned int i;

	for (i = 0; i < s->request->count; i++) {
		const struct syncevent_wait_entry *entry = &s->entries[i];
		const struct se_cond c = {
			.operand = entry->operand,
			.mask = entry->mask,
			.cond = entry->cond,
		};
		uint64_t value = 0;
		int ret;

		if (entry->status)
			continue;
		ret = closely ? look_closely(s->many[i].ev, &c, s->deaths[i], &value) :
				se_look(s->many[i].ev, &c, &value);
		if (ret != SE_NOT_YET)
			ret = seen(s, i, ret ? ret : 1, value);
		if (ret != SE_NOT_YET)
			return ret;
	}
	return SE_NOT_YET;
}

/* Ask all that are left to ring, look once more, sleep until one may have. */
static int sleep_words(struct several *s, struct se_slice *slice,
		       const struct syncevent_wait_opts *o)
{
	struct se_word words[SYNCEVENT_MANY_MAX];
	unsigned int i, n = 0;
	int ret;

	for (i = 0; i < s->request->count; i++) {
		struct syncevent *ev = s->many[i].ev;
		const struct se_cond c = {
			.operand = s->entries[i].operand,
			.mask = s->entries[i].mask,
			.cond = s->entries[i].cond,
		};

		if (s->entries[i].status)
			continue;
		words[n].word = &se_shm(ev->cell)->seq;
		words[n].was = __atomic_load_n(words[n].word, __ATOMIC_ACQUIRE);
		n++;
		slice->silent |= se_shm_silent(ev);
		se_shm_ask(ev, &c);
	}
	ret = look_several(s, false);
	if (ret != SE_NOT_YET)
		return ret;
	ret = se_sleep(words, n, slice, o);
	return ret ? ret : SE_NOT_YET;
}

/*
 * Sleep in the kernel on its own events, for a slice: the events on attr.addr that
 * are waited for with them are looked at in between.
 */
static int sleep_kernel(struct several *s, struct se_slice *slice,
			const struct syncevent_wait_opts *o)
{
	struct syncevent_wait_entry left[SYNCEVENT_MANY_MAX];
	unsigned int back[SYNCEVENT_MANY_MAX], i, n = 0;
	struct syncevent_wait_many request = { .entries = (uintptr_t)left };
	uint64_t until;
	int ret;

	for (i = 0; i < s->request->count; i++)
		if (!s->entries[i].status &&
		    s->many[i].ev->provider->id == SYNCEVENT_PROVIDER_KERNEL) {
			back[n] = i;
			left[n++] = s->entries[i];
		}
	if (!n)
		return sleep_words(s, slice, o);
	slice->silent = true;
	request.count = n;
	request.flags = se_slice_end(o, se_slice_next(slice), &until) ?
			SYNCEVENT_WAIT_REALTIME : 0;
	request.deadline = until;
	ret = se_device_ioctl(SYNCEVENT_IOC_WAIT_MANY, &request);
	if (ret == -ETIMEDOUT)
		return SE_NOT_YET;
	if (ret && ret != -EIDRM && ret != -EPIPE)
		return ret;
	i = request.index;
	return seen(s, back[i], left[i].status, left[i].value);
}

static int sleep_several(struct several *s, const struct syncevent_wait_opts *o)
{
	struct se_slice slice = { 0 };
	bool passed = !o->deadline, closely = passed;
	int err = SE_NOT_YET, ret;

	/* Who died between two slices has ended none of them. */
	for (;; closely = true) {
		/* After a signal or the deadline this is the last look: success wins. */
		ret = look_several(s, closely);
		if (ret != SE_NOT_YET)
			return ret;
		if (err != SE_NOT_YET)
			return err;
		if (passed)
			return -ETIMEDOUT;
		err = s->kernel ? sleep_kernel(s, &slice, o) : sleep_words(s, &slice, o);
		if (!err || err == -EIDRM || err == -EPIPE)
			return err;
		passed = se_passed(o);
	}
}

static int wait_several(struct several *s, const struct syncevent_wait_opts *o)
{
	int ret;

	if (o->how != SYNCEVENT_SPIN && o->how != SYNCEVENT_YIELD) {
		if (s->kernel == s->request->count)
			return se_device_ioctl(SYNCEVENT_IOC_WAIT_MANY, s->request);
		return sleep_several(s, o);
	}
	ret = look_several(s, !o->deadline);
	if (ret != SE_NOT_YET)
		return ret;
	return o->deadline ? spin(look_several, s, o) : -ETIMEDOUT;
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
	uint32_t began[SYNCEVENT_MANY_MAX];
	struct several s = {
		.many = many, .entries = entries, .request = &request, .deaths = began,
	};
	struct syncevent_wait_opts o;
	unsigned int i, shm = 0;
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
		began[i] = deaths(many[i].ev);
		s.kernel += many[i].ev->provider->id == SYNCEVENT_PROVIDER_KERNEL;
		shm += many[i].ev->provider->id == SYNCEVENT_PROVIDER_SHM;
	}
	if (s.kernel && shm)
		return -EXDEV;
	request.deadline = o.deadline;
	request.flags = o.flags | (flags & SYNCEVENT_ALL ? SYNCEVENT_WAIT_ALL : 0);
	s.left = flags & SYNCEVENT_ALL ? count : 1;

	ret = wait_several(&s, &o);
	if (ret && ret != -EIDRM && ret != -EPIPE)
		return ret;
	for (i = 0; i < count; i++) {
		many[i].value = entries[i].value;
		many[i].status = entries[i].status;
	}
	if (index)
		*index = request.index;
	return ret;
}
