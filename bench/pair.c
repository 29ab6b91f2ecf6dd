// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* pair.c - two threads that answer each other: spinning, sleeping, in epoll */
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <syncevent/inline.h>

#define CHANNEL_SIZE	128	/* any of them: no two in a cache line, or in a pair of lines */
#define WARM_UP		16

/* The first posts channel 0 and waits for channel 1, the second does the opposite. */
struct pair {
	const struct channel_ops *ops;
	struct channel *channel[2];
	struct syncevent *ev[2];
	uint64_t *word[2];
	pthread_barrier_t start;
	uint64_t n;
	uint64_t ns;
	void (*first)(struct pair *p, uint64_t from, uint64_t to);
	void (*second)(struct pair *p, uint64_t from, uint64_t to);
	int second_cpu;
};

static void *second_main(void *arg)
{
	struct pair *p = arg;

	pin(p->second_cpu);
	pthread_barrier_wait(&p->start);
	p->second(p, 0, WARM_UP + p->n);
	return NULL;
}

/* Threads of its own for each run: the caller's CPUs stay what they are. */
static void *first_main(void *arg)
{
	struct pair *p = arg;
	uint64_t from;

	pin(cpu_of(0));
	pthread_barrier_wait(&p->start);
	p->first(p, 0, WARM_UP);
	from = now_ns();
	p->first(p, WARM_UP, WARM_UP + p->n);
	p->ns = now_ns() - from;
	return NULL;
}

static int pair_run(struct run *run, struct pair *p)
{
	pthread_t thread[2];
	int err;

	p->n = run->n;
	p->second_cpu = cpu_of(run->size == 1 ? 0 : 1);
	pthread_barrier_init(&p->start, NULL, 2);
	err = pthread_create(&thread[0], NULL, first_main, p);
	if (err)
		return -err;
	err = pthread_create(&thread[1], NULL, second_main, p);
	if (err)
		die("pthread_create", err);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	pthread_barrier_destroy(&p->start);
	run->amount = p->ns;
	return 0;
}

static void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* ---- spinning ------------------------------------------------------------------ */

static const struct syncevent_wait_opts spinning = {
	.size = sizeof(spinning),
	.deadline = SYNCEVENT_FOREVER,
	.how = SYNCEVENT_SPIN,
};

static void event_spin(struct syncevent *post, struct syncevent *wait, bool first,
		       uint64_t from, uint64_t to)
{
	uint64_t i;

	for (i = from + 1; i <= to; i++) {
		if (first && syncevent_set(post, i))
			die("syncevent_set", EIO);
		if (syncevent_wait(wait, SYNCEVENT_GE, i, UINT64_MAX, &spinning, NULL))
			die("syncevent_wait", EIO);
		if (!first && syncevent_set(post, i))
			die("syncevent_set", EIO);
	}
}

static void event_spin_first(struct pair *p, uint64_t from, uint64_t to)
{
	event_spin(p->ev[0], p->ev[1], true, from, to);
}

static void event_spin_second(struct pair *p, uint64_t from, uint64_t to)
{
	event_spin(p->ev[1], p->ev[0], false, from, to);
}

static void inline_spin(struct syncevent *post, struct syncevent *wait, bool first,
			uint64_t from, uint64_t to)
{
	struct syncevent_cell *post_cell = syncevent_cell(post);
	const struct syncevent_cell *wait_cell = syncevent_cell(wait);
	uint64_t i;

	for (i = from + 1; i <= to; i++) {
		if (!first && syncevent_inline_spin(wait_cell, SYNCEVENT_GE, i, UINT64_MAX, NULL))
			die("syncevent_inline_spin", EIO);
		syncevent_cell_own(post_cell);
		if (syncevent_inline_set(post, post_cell, i))
			die("syncevent_inline_set", EIO);
		if (first && syncevent_inline_spin(wait_cell, SYNCEVENT_GE, i, UINT64_MAX, NULL))
			die("syncevent_inline_spin", EIO);
	}
}

static void inline_spin_first(struct pair *p, uint64_t from, uint64_t to)
{
	inline_spin(p->ev[0], p->ev[1], true, from, to);
}

static void inline_spin_second(struct pair *p, uint64_t from, uint64_t to)
{
	inline_spin(p->ev[1], p->ev[0], false, from, to);
}

static int run_events(struct run *run, struct pair *p)
{
	int err = syncevent_create(&p->ev[0], NULL);

	if (err)
		return err;
	err = syncevent_create(&p->ev[1], NULL);
	if (!err) {
		err = pair_run(run, p);
		syncevent_close(p->ev[1]);
	}
	syncevent_close(p->ev[0]);
	return err;
}

static int run_event_spin(struct run *run)
{
	struct pair p = { .first = event_spin_first, .second = event_spin_second };

	return run_events(run, &p);
}

static int run_inline_spin(struct run *run)
{
	struct pair p = { .first = inline_spin_first, .second = inline_spin_second };

	return run_events(run, &p);
}

static inline void atomic_wait(const uint64_t *word, uint64_t value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		syncevent_cell_pause();
}

static void atomic_spin_first(struct pair *p, uint64_t from, uint64_t to)
{
	uint64_t *post = p->word[0], *wait = p->word[1], i;

	for (i = from + 1; i <= to; i++) {
		__atomic_exchange_n(post, i, __ATOMIC_RELEASE);
		atomic_wait(wait, i);
	}
}

static void atomic_spin_second(struct pair *p, uint64_t from, uint64_t to)
{
	uint64_t *post = p->word[1], *wait = p->word[0], i;

	for (i = from + 1; i <= to; i++) {
		atomic_wait(wait, i);
		__atomic_exchange_n(post, i, __ATOMIC_RELEASE);
	}
}

static int run_atomic_spin(struct run *run)
{
	struct pair p = { .first = atomic_spin_first, .second = atomic_spin_second };
	unsigned char *memory = shared_memory(2 * CHANNEL_SIZE);
	int err;

	if (!memory)
		return -ENOMEM;
	p.word[0] = (uint64_t *)memory;
	p.word[1] = (uint64_t *)(memory + CHANNEL_SIZE);
	err = pair_run(run, &p);
	munmap(memory, 2 * CHANNEL_SIZE);
	return err;
}

/* ---- sleeping: peers.c has the peers -------------------------------------------------- */

static void channel_first(struct pair *p, uint64_t from, uint64_t to)
{
	uint64_t i;

	for (i = from + 1; i <= to; i++) {
		p->ops->post(p->channel[0], i);
		p->ops->wait(p->channel[1], i);
	}
}

static void channel_second(struct pair *p, uint64_t from, uint64_t to)
{
	uint64_t i;

	for (i = from + 1; i <= to; i++) {
		p->ops->wait(p->channel[0], i);
		p->ops->post(p->channel[1], i);
	}
}

int run_channel(struct run *run)
{
	struct pair p = {
		.ops = run->arg,
		.first = channel_first,
		.second = channel_second,
	};
	unsigned char *memory = shared_memory(2 * CHANNEL_SIZE);
	int err;

	if (!memory)
		return -ENOMEM;
	p.channel[0] = (struct channel *)memory;
	p.channel[1] = (struct channel *)(memory + CHANNEL_SIZE);
	err = p.ops->size > CHANNEL_SIZE ? -EINVAL : p.ops->open(p.channel[0]);
	if (!err) {
		err = p.ops->open(p.channel[1]);
		if (!err) {
			err = pair_run(run, &p);
			p.ops->close(p.channel[1]);
		}
		p.ops->close(p.channel[0]);
	}
	munmap(memory, 2 * CHANNEL_SIZE);
	return err;
}

/* An event, and what is needed to wait for it in one of three ways. */
struct event_word {
	struct syncevent *ev;
	struct syncevent_queue *queue;
	int set;
};

static const struct syncevent_wait_opts sleeping = {
	.size = sizeof(sleeping),
	.deadline = SYNCEVENT_FOREVER,
	.how = SYNCEVENT_BLOCK,
};

static int event_open(struct channel *c)
{
	struct event_word *w = (void *)c;

	w->set = -1;
	return syncevent_create(&w->ev, NULL);
}

static void event_post(struct channel *c, uint64_t value)
{
	struct event_word *w = (void *)c;
	int err = syncevent_set(w->ev, value);

	if (err)
		die("syncevent_set", err);
}

static void event_wait(struct channel *c, uint64_t value)
{
	struct event_word *w = (void *)c;
	int err = syncevent_wait(w->ev, SYNCEVENT_GE, value, UINT64_MAX, &sleeping, NULL);

	if (err)
		die("syncevent_wait", err);
}

static void event_close(struct channel *c)
{
	struct event_word *w = (void *)c;

	if (w->set >= 0)
		close(w->set);
	if (w->queue)
		syncevent_queue_close(w->queue);
	syncevent_close(w->ev);
}

static const struct channel_ops event_channel = {
	sizeof(struct event_word), event_open, event_post, event_wait, event_close,
};

/* ---- in epoll -------------------------------------------------------------------------- */

static int event_epoll(struct event_word *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0)
		return fd;
	w->set = epoll_create1(EPOLL_CLOEXEC);
	if (w->set < 0 || epoll_ctl(w->set, EPOLL_CTL_ADD, fd, &event))
		return -errno;
	return 0;
}

static int poll_open(struct channel *c)
{
	struct event_word *w = (void *)c;
	int err = event_open(c);

	if (err)
		return err;
	err = event_epoll(w, syncevent_poll_fd(w->ev));
	if (err)
		event_close(c);
	return err;
}

static void epoll_sleep(const struct event_word *w)
{
	struct epoll_event event;

	if (epoll_wait(w->set, &event, 1, -1) < 0 && errno != EINTR)
		die("epoll_wait", errno);
}

static void poll_wait(struct channel *c, uint64_t value)
{
	struct event_word *w = (void *)c;
	uint64_t seen;
	int err;

	(void)value;
	do {
		epoll_sleep(w);
		err = syncevent_read(w->ev, &seen);
	} while (err == -EAGAIN);
	if (err)
		die("syncevent_read", err);
}

static const struct channel_ops poll_channel = {
	sizeof(struct event_word), poll_open, event_post, poll_wait, event_close,
};

static int queue_add(struct event_word *w, uint64_t value)
{
	return syncevent_queue_add(w->queue, w->ev, SYNCEVENT_GE, value, UINT64_MAX, value,
				   SYNCEVENT_FOREVER);
}

static int queue_open(struct channel *c)
{
	struct event_word *w = (void *)c;
	int err = event_open(c);

	if (err)
		return err;
	err = syncevent_queue_create(&w->queue);
	if (!err)
		err = event_epoll(w, syncevent_queue_fd(w->queue));
	if (!err)
		err = queue_add(w, 1);
	if (err)
		event_close(c);
	return err;
}

static void queue_wait(struct channel *c, uint64_t value)
{
	struct event_word *w = (void *)c;
	struct syncevent_done done;
	int ret;

	do {
		epoll_sleep(w);
		ret = syncevent_queue_reap(w->queue, &done, 1, 0);
	} while (ret == -ETIMEDOUT);
	if (ret != 1 || done.status || done.cookie != value)
		die("syncevent_queue_reap", ret < 0 ? ret : EIO);
	ret = queue_add(w, value + 1);
	if (ret)
		die("syncevent_queue_add", ret);
}

static const struct channel_ops queue_channel = {
	sizeof(struct event_word), queue_open, event_post, queue_wait, event_close,
};

/* ---- the benchmarks ----------------------------------------------------------------------- */

static const struct side spin_sides[] = {
	{ .name = "SPIN wait", .run = run_event_spin, .ours = true },
	{ .name = "inline", .run = run_inline_spin, .ours = true },
	{ .name = "atomics", .run = run_atomic_spin },
	{ 0 }
};

static const struct target spin_targets[] = {
	{ .ours = "SPIN wait", .peer = "atomics", .ratio = 1.1 },
	{ .ours = "inline", .peer = "atomics", .ratio = 1.1 },
	{ 0 }
};

static const struct side block_sides[] = {
	{ .name = "BLOCK wait", .run = run_channel, .arg = &event_channel, .ours = true },
	{ .name = "futex", .run = run_channel, .arg = &futex_channel },
	{ .name = "semaphore", .run = run_channel, .arg = &sem_channel },
	{ .name = "condition variable", .run = run_channel, .arg = &cond_channel },
	{ .name = "eventfd", .run = run_channel, .arg = &eventfd_channel },
#ifdef HAVE_CK
	{ .name = "ck_ec", .run = run_channel, .arg = &ck_channel },
#else
	{ .name = "ck_ec", .absent = "not built: concurrency kit (libck-dev) was not found" },
#endif
	{ 0 }
};

static const struct target block_targets[] = {
	{ .ours = "BLOCK wait", .peer = "futex", .ratio = 1.2 },
	{ .ours = "BLOCK wait", .peer = "semaphore", .ratio = 1.2 },
	{ .ours = "BLOCK wait", .peer = "condition variable", .ratio = 1 },
	{ .ours = "BLOCK wait", .peer = "eventfd", .ratio = 1 },
	{ 0 }
};

static const struct side epoll_sides[] = {
	{ .name = "event", .run = run_channel, .arg = &poll_channel, .ours = true },
	{ .name = "queue", .run = run_channel, .arg = &queue_channel, .ours = true },
	{ .name = "eventfd", .run = run_channel, .arg = &eventfd_epoll_channel },
	{ 0 }
};

static const struct target epoll_targets[] = {
	{ .ours = "queue", .peer = "eventfd", .ratio = 1.3 },
	{ 0 }
};

/* .size is the number of CPUs that the two threads have. */
const struct bench pair_benches[] = {
	{
		.name = "spin",
		.what = "ping-pong of two threads that spin, each on a CPU of its own",
		.unit = "ns/round trip",
		.size = 2,
		.cpus = 2,
		.sides = spin_sides,
		.targets = spin_targets,
	},
	{
		.name = "block",
		.what = "ping-pong of two threads that sleep, each on a CPU of its own",
		.unit = "ns/round trip",
		.size = 2,
		.cpus = 2,
		.sides = block_sides,
		.targets = block_targets,
	},
	{
		.name = "block-one-cpu",
		.what = "ping-pong of two threads that sleep, both on the same CPU",
		.unit = "ns/round trip",
		.size = 1,
		.sides = block_sides,
		.targets = block_targets,
	},
	{
		.name = "epoll",
		.what = "ping-pong of two threads in epoll_wait(2), each on a CPU of its own",
		.unit = "ns/round trip",
		.size = 2,
		.cpus = 2,
		.sides = epoll_sides,
		.targets = epoll_targets,
	},
	{
		.name = "epoll-one-cpu",
		.what = "ping-pong of two threads in epoll_wait(2), both on the same CPU",
		.unit = "ns/round trip",
		.size = 1,
		.sides = epoll_sides,
		.targets = epoll_targets,
	},
	{ 0 }
};
