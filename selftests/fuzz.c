// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Random calls by several threads, and a page that is scribbled over while they
 * run. The kernel stays clean (the guest's runner reads its log), what belongs to
 * others stays as it was, and the process ends when it is killed.
 *
 * SE_SEED and SE_PERCENT: the seed and how much of it. Threads race, so a seed
 * gives the same calls, not the same interleaving.
 */
#include "ioctls.h"

#define THREADS		4
#define CALLS		20000
#define SLOTS		48

static uint64_t setting(const char *name, uint64_t standard)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : standard;
}

/* xorshift64*: the same everywhere. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ULL;
}

static unsigned int below(uint64_t *state, unsigned int n)
{
	return (unsigned int)((next(state) >> 32) % n);
}

static uint64_t value(uint64_t *state)
{
	static const uint64_t edge[] = {
		0, 1, 2, 5, 1ULL << 31, 1ULL << 32, INT64_MAX, 1ULL << 63, UINT64_MAX - 1, UINT64_MAX,
	};
	unsigned int i = below(state, 16);

	return i < 10 ? edge[i] : i < 14 ? below(state, 20) : next(state);
}

/* ---- the fuzzer ---------------------------------------------------------------------- */

/**
 * struct fuzz - what the threads share
 * @slot: events and queues; -1 is empty. Who takes one out owns it
 * @end: the scribbler and the nudger may stop
 * @calls: for each thread; UINT64_MAX: until it is killed
 * @theirs: the bystander's, which the fuzzer closes
 */
static struct fuzz {
	int slot[SLOTS];
	bool end;
	uint64_t seed;
	uint64_t calls;
	pid_t tid[THREADS];
	struct se_subject victim;
	struct se_subject theirs;
} fuzz;

static void put(uint64_t *rng, int fd)
{
	int old;

	if (fd < 0)
		return;
	old = __atomic_exchange_n(&fuzz.slot[below(rng, SLOTS)], fd, __ATOMIC_ACQ_REL);
	if (old >= 0)
		close(old);
}

/* Any descriptor; another thread may close it at any time. The victim is often meant. */
static int pick(uint64_t *rng)
{
	unsigned int i = below(rng, SLOTS + 16);

	if (i < SLOTS)
		return __atomic_load_n(&fuzz.slot[i], __ATOMIC_ACQUIRE);
	return fuzz.victim.fd[i % (unsigned int)se_kinds()];
}

static uint64_t deadline(uint64_t *rng)
{
	switch (below(rng, 4)) {
	case 0:
		return 0;
	case 1:
		return value(rng);
	default:
		return se_in_ms(below(rng, 3));
	}
}

/* Arguments that are mostly good, then perhaps spoilt. */
static void fuzz_ioctl(uint64_t *rng)
{
	const struct se_cmd *c = &se_cmds[below(rng, se_n_cmds())];
	struct se_subject s = fuzz.victim;
	union {
		unsigned char bytes[4096];
		struct syncevent_wait wait;
		struct syncevent_wait_many many;
		struct syncevent_queue_add add;
		struct syncevent_arm arm;
		struct syncevent_value value;
		struct syncevent_queue_cancel cancel;
	} arg;
	unsigned int request = c->request, size = se_cmd_size(c);
	int fd = below(rng, 3) ? s.fd[c->on] : pick(rng), ret;

	if (c->request == SYNCEVENT_IOC_REVOKE && (fd == s.fd[SE_ON_EVENT] || below(rng, 4)))
		return;
	memset(&arg, 0, sizeof(arg));
	se_cmd_valid(c, &s, &arg);
	switch (c->request) {
	case SYNCEVENT_IOC_WAIT:
		arg.wait.operand = value(rng);
		arg.wait.cond = below(rng, 6);
		arg.wait.deadline = deadline(rng);
		arg.wait.mask = below(rng, 3) ? SE_ALL : value(rng);
		break;
	case SYNCEVENT_IOC_ARM:
		arg.arm.operand = value(rng);
		arg.arm.cond = below(rng, 6);
		break;
	case SYNCEVENT_IOC_SET:
	case SYNCEVENT_IOC_ADD:
		arg.value.value = value(rng);
		break;
	case SYNCEVENT_IOC_QUEUE_ADD:
		arg.add.fd = pick(rng);
		arg.add.cookie = below(rng, 200);
		arg.add.operand = value(rng);
		arg.add.cond = below(rng, 6);
		arg.add.deadline = deadline(rng);
		break;
	case SYNCEVENT_IOC_QUEUE_CANCEL:
		arg.cancel.cookie = below(rng, 200);
		break;
	}
	if (c->flags[0].known && !below(rng, 3)) {
		uint32_t flags = (uint32_t)next(rng) & c->flags[0].known;

		memcpy(arg.bytes + c->flags[0].offset, &flags, 4);
	}
	if (!below(rng, 8) && size) {
		/* Not the pointer and the count of WAIT_MANY: it writes there. */
		unsigned int from = c->request == SYNCEVENT_IOC_WAIT_MANY ?
				    offsetof(struct syncevent_wait_many, flags) : 0;

		arg.bytes[from + below(rng, size - from)] = (unsigned char)next(rng);
	}
	if (!below(rng, 16))
		request = se_cmd_resize(c, below(rng, 4097));
	if (!below(rng, 32))
		request ^= 1u << below(rng, 32);
	/* A bit that flipped must not find an ioctl of the VFS, nor more than @arg. */
	if (_IOC_TYPE(request) != SYNCEVENT_IOC_TYPE || _IOC_SIZE(request) > sizeof(arg))
		return;
	ret = se_ioctl(fd, request, below(rng, 64) ? (void *)&arg : NULL);
	if (c->makes_fd && request == c->request && ret >= 0)
		put(rng, ret);
}

static void fuzz_wait_many(uint64_t *rng)
{
	struct syncevent_wait_entry e[SYNCEVENT_WAIT_MAX];
	unsigned int n = 1 + below(rng, below(rng, 8) ? 6 : SYNCEVENT_WAIT_MAX);

	for (unsigned int i = 0; i < n; i++)
		e[i] = se_entry(below(rng, 2) ? fuzz.victim.fd[SE_ON_EVENT] : pick(rng),
				below(rng, 6), value(rng));
	se_wait_many(e, n, below(rng, 2) ? SYNCEVENT_WAIT_ALL : 0, deadline(rng), NULL);
}

static void fuzz_map(uint64_t *rng)
{
	static const int prots[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE, PROT_EXEC };
	int prot = prots[below(rng, 4)];
	size_t length = below(rng, 8) ? 4096 : value(rng) & 0xffff;
	unsigned char *p;

	p = mmap(NULL, length, prot, below(rng, 8) ? MAP_SHARED : MAP_PRIVATE, pick(rng),
		 below(rng, 8) ? 0 : (off_t)(value(rng) & ~4095ULL));
	if (p == MAP_FAILED)
		return;
	if (prot & PROT_WRITE)
		p[below(rng, 4096)] = (unsigned char)next(rng);
	else if (prot & PROT_READ)
		(void)*(volatile unsigned char *)p;
	if (!below(rng, 4))
		madvise(p, length, below(rng, 2) ? MADV_DONTNEED : MADV_DONTFORK);
	if (!below(rng, 4))
		mprotect(p, length, prots[below(rng, 4)]);
	if (!below(rng, 4)) {
		size_t longer = 4096u << below(rng, 2);
		void *q = mremap(p, length, longer, MREMAP_MAYMOVE);

		if (q != MAP_FAILED) {
			munmap(q, longer);
			return;
		}
	}
	munmap(p, length);
}

static void fuzz_file(uint64_t *rng)
{
	int fd = pick(rng), ep;
	char buf[256];
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | (below(rng, 2) ? EPOLLET : 0) };

	switch (below(rng, 6)) {
	case 0:
		(void)!read(fd, buf, below(rng, sizeof(buf)));
		break;
	case 1:
		memset(buf, (int)below(rng, 3), sizeof(buf));
		(void)!write(fd, buf, below(rng, 32));
		break;
	case 2:
		se_poll(fd, (int)below(rng, 3));
		break;
	case 3:
		ep = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
		ev.data.fd = 1;
		epoll_ctl(ep, EPOLL_CTL_ADD, fuzz.victim.fd[SE_ON_EVENT], &ev);
		epoll_wait(ep, &ev, 1, (int)below(rng, 2));
		close(ep);
		break;
	case 4:
		put(rng, fcntl(fd, F_DUPFD_CLOEXEC, 3));
		break;
	default:
		fcntl(fd, F_SETFL, below(rng, 2) ? O_NONBLOCK : 0);
	}
}

static int fuzz_thread(void *arg)
{
	unsigned int i = (unsigned int)(uintptr_t)arg;
	uint64_t rng = fuzz.seed * 7919 + i + 1;

	__atomic_store_n(&fuzz.tid[i], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (uint64_t n = 0; n < fuzz.calls; n++) {
		switch (below(&rng, 16)) {
		case 0:
			put(&rng, se_create_flags(value(&rng), below(&rng, 4)));
			break;
		case 1:
			put(&rng, se_queue(below(&rng, 2)));
			break;
		case 2:
			put(&rng, se_dup(pick(&rng), below(&rng, 4)));
			break;
		case 3:
			fuzz_map(&rng);
			break;
		case 4:
			fuzz_wait_many(&rng);
			break;
		case 5: case 6: case 7:
			fuzz_file(&rng);
			break;
		default:
			fuzz_ioctl(&rng);
		}
	}
	/* Signalled no more: the nudger may outlive this thread. */
	__atomic_store_n(&fuzz.tid[i], 0, __ATOMIC_RELEASE);
	return 0;
}

/* Random bytes all over the mapped page: value, state, hints and what lies behind. */
static int scribble(void *arg)
{
	unsigned char *page = arg;
	uint64_t rng = fuzz.seed + 1;

	while (!__atomic_load_n(&fuzz.end, __ATOMIC_ACQUIRE)) {
		uint64_t r = next(&rng);
		/* The cell more often than the rest of the page. */
		unsigned int at = below(&rng, below(&rng, 4) ? 64 : 4096) & ~7u;

		if (below(&rng, 64))
			memcpy(page + at, &r, 8);
		else
			memset(page, (int)r, 4096);
		if (!below(&rng, 256))
			sched_yield();
	}
	return 0;
}

static void no_op(int sig)
{
	(void)sig;
}

/* Ends whatever sleeps for too long: its signal does not restart system calls. */
static int nudge(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&fuzz.end, __ATOMIC_ACQUIRE)) {
		se_sleep_ms(2);
		for (int i = 0; i < THREADS; i++) {
			pid_t tid = __atomic_load_n(&fuzz.tid[i], __ATOMIC_ACQUIRE);

			if (tid)
				syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
		}
	}
	return 0;
}

/* In a process of its own, so that its end can be watched. */
static int fuzz_process(void *arg)
{
	struct sigaction sa = { .sa_handler = no_op };
	struct se_thread thread[THREADS], helper[2];
	void *page;

	fuzz.calls = *(uint64_t *)arg;
	sigaction(SIGUSR1, &sa, NULL);
	se_subject_close(&fuzz.theirs);
	if (se_subject_open(&fuzz.victim))
		return 1;
	page = se_map(fuzz.victim.fd[SE_ON_EVENT], PROT_READ | PROT_WRITE);
	if (!page)
		return 1;
	for (int i = 0; i < SLOTS; i++)
		fuzz.slot[i] = -1;
	if (se_start(&helper[0], scribble, page) || se_start(&helper[1], nudge, NULL))
		return 1;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (se_start(&thread[i], fuzz_thread, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_join(thread[i].thread, NULL))
			return 2;
	__atomic_store_n(&fuzz.end, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		if (se_join(&helper[i]))
			return 3;
	return 0;
}

/**
 * struct bystander - an event of somebody else, with somebody who waits
 */
FIXTURE(fuzz) {
	struct se_waiter w;
	int fd;
	struct se_state old;
	struct se_subject s;
};

FIXTURE_SETUP(fuzz)
{
	fuzz.seed = setting("SE_SEED", 20240229);
	printf("# SE_SEED=%llu\n", (unsigned long long)fuzz.seed);
	fflush(stdout);
	ASSERT_EQ(0, se_subject_open(&self->s));
	self->fd = self->s.fd[SE_ON_EVENT];
	ASSERT_EQ(0, se_waiter_start(&self->w, self->fd, SYNCEVENT_COND_EQ, 77));
	ASSERT_TRUE(se_until_waiters(self->fd, 1));
	ASSERT_TRUE(se_waiter_parked(&self->w));
	se_state_get(&self->s, &self->old);
	fuzz.theirs = self->s;
}

FIXTURE_TEARDOWN(fuzz)
{
	struct se_state new;

	/* All that the others made is gone, and this one has noticed nothing. */
	EXPECT_TRUE(se_until((se_state_get(&self->s, &new), new.events == self->old.events)));
	EXPECT_FALSE(se_is_done(&self->w.t));
	se_same_state(_metadata, &self->old, &new, "bystander", "after the fuzz", 0);
	EXPECT_EQ(0, se_set(self->fd, 77));
	EXPECT_EQ(0, se_waiter_join(&self->w));
	EXPECT_EQ(1, se_wakes(self->fd));
	se_subject_close(&self->s);
}

TEST_F(fuzz, random_calls_over_a_scribbled_page)
{
	uint64_t calls = CALLS * setting("SE_PERCENT", 100) / 100;
	pid_t pid = se_fork(fuzz_process, &calls);
	int status;

	/* As long as it takes: the runner has the hang limit. */
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status)) TH_LOG("status %#x", status);
}

TEST_F(fuzz, killed_at_any_moment)
{
	uint64_t calls = UINT64_MAX;
	unsigned int rounds = (unsigned int)(20 * setting("SE_PERCENT", 100) / 100);

	for (unsigned int round = 0; round < rounds + 3; round++) {
		pid_t pid = se_fork(fuzz_process, &calls);

		fuzz.seed++;
		se_sleep_ms(20 + 17 * round);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(-SIGKILL, se_wait_child(pid)) TH_LOG("round %u", round);
	}
}

/* ---- a scribbled page, step by step ----------------------------------------------------- */

/*
 * Every word but the value is overwritten while waiters of every kind are parked:
 * the kernel wakes them by its own copies, and nobody else.
 */
TEST(kernel_keeps_its_own_copies)
{
	static const int patterns[] = { 0x00, 0xff, 0x01, 0x80, 0xaa };
	const size_t behind = sizeof(uint64_t);

	for (unsigned int i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		int fd = se_create(10), q = se_queue(SYNCEVENT_QUEUE_NONBLOCK);
		unsigned char *page = (void *)se_map(fd, PROT_READ | PROT_WRITE);
		struct syncevent_completion c;
		struct syncevent_info info;
		struct se_waiter w[3];

		ASSERT_LE(0, q);
		ASSERT_NE(NULL, page);
		memset(page + behind, patterns[i], 4096 - behind);
		ASSERT_EQ(0, se_waiter_start(&w[0], fd, SYNCEVENT_COND_GT, 1000));
		ASSERT_EQ(0, se_waiter_start(&w[1], fd, SYNCEVENT_COND_EQ, 5));
		ASSERT_EQ(0, se_waiter_start(&w[2], fd, SYNCEVENT_COND_LT, 3));
		ASSERT_EQ(0, se_queue_add(q, fd, SYNCEVENT_COND_NEQ, 10, 1, SE_FOREVER));
		ASSERT_TRUE(se_until_waiters(fd, 4));
		memset(page + behind, patterns[i], 4096 - behind);

		ASSERT_EQ(0, se_info(fd, &info));
		EXPECT_EQ(SYNCEVENT_INFO_UPDATE, info.flags) TH_LOG("pattern %u", i);
		EXPECT_EQ(1, info.generation);
		EXPECT_EQ(1, info.sides);
		EXPECT_EQ(4, info.waiters);
		EXPECT_EQ(10, info.value);

		ASSERT_EQ(0, se_ring(fd));
		EXPECT_EQ(4, se_waiters(fd));
		EXPECT_EQ(-EAGAIN, se_reap(q, &c, 1));
		ASSERT_EQ(0, se_set(fd, 5));
		ASSERT_EQ(0, se_waiter_join(&w[1])) TH_LOG("pattern %u", i);
		EXPECT_EQ(1, se_reap(q, &c, 1));
		EXPECT_EQ(2, se_waiters(fd));
		memset(page + behind, patterns[i], 4096 - behind);
		ASSERT_EQ(0, se_set(fd, 1001));
		ASSERT_EQ(0, se_waiter_join(&w[0])) TH_LOG("pattern %u", i);
		memset(page + behind, patterns[i], 4096 - behind);
		ASSERT_EQ(0, se_set(fd, 2));
		ASSERT_EQ(0, se_waiter_join(&w[2])) TH_LOG("pattern %u", i);
		EXPECT_EQ(4, se_wakes(fd));
		munmap(page, 4096);
		close(q);
		close(fd);
	}
}

TEST_HARNESS_MAIN
