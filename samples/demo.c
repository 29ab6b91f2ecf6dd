// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * demo.c - two processes exchange signals through sync events
 *
 * The publisher makes the events, starts itself a second time as the subscriber
 * and sends it their file descriptors over a UNIX socket, as two unrelated
 * programs would. The subscriber may update only what it answers with: its copy
 * of the other event is read-only.
 *
 * The exchange itself is in exchange(), the ways to wait in by_*().
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <linux/syncevent.h>
#include <syncevent.h>

#include "count.h"

#define HANG_SECONDS	60	/* nothing here takes long: someone must have died */
#define THRESHOLD	1000

static const char *role = "publisher";

static void fail(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", role, what, strerror(-err));
	if (err == -ENOENT || err == -ENODEV)
		fprintf(stderr, "Is the module loaded? Try: modprobe syncevent\n");
	exit(1);
}

static void check(const char *what, int err)
{
	if (err < 0)
		fail(what, err);
}

static void expect(const char *what, uint64_t got, uint64_t wanted)
{
	if (got == wanted)
		return;
	fprintf(stderr, "%s: WRONG: %s is %" PRIu64 ", not %" PRIu64 "\n", role, what, got,
		wanted);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t hang_deadline(void)
{
	return now_ns() + HANG_SECONDS * 1000000000ULL;
}

/* ---- four ways to wait ------------------------------------------------------------ */

struct side {
	struct syncevent *in;		/* waits on this one */
	struct syncevent *out;		/* updates this one */
	struct syncevent_queue *queue;
};

/* Each waits until side->in has reached n and returns the value it saw. */
typedef uint64_t wait_fn(struct side *side, uint64_t n);

static uint64_t by_wait(struct side *side, uint64_t n, enum syncevent_how how)
{
	struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.how = how,
		.deadline = hang_deadline(),
	};
	uint64_t seen;

	check("syncevent_wait",
	      syncevent_wait(side->in, SYNCEVENT_GE, n, UINT64_MAX, &opts, &seen));
	return seen;
}

static uint64_t by_spin(struct side *side, uint64_t n)
{
	return by_wait(side, n, SYNCEVENT_SPIN);
}

static uint64_t by_block(struct side *side, uint64_t n)
{
	return by_wait(side, n, SYNCEVENT_BLOCK);
}

/* An event's file descriptor is readable when its value is not the one last read. */
static uint64_t by_poll(struct side *side, uint64_t n)
{
	struct pollfd pfd = { .fd = syncevent_fd(side->in), .events = POLLIN };
	uint64_t seen;

	do {
		int ready = poll(&pfd, 1, HANG_SECONDS * 1000);

		if (ready <= 0)
			fail("poll", ready ? -errno : -ETIMEDOUT);
		if (read(pfd.fd, &seen, sizeof(seen)) != sizeof(seen))
			fail("read", -errno);
	} while (seen < n);
	return seen;
}

/* A queue takes any number of waits; this one has one at a time, called n. */
static uint64_t by_queue(struct side *side, uint64_t n)
{
	struct syncevent_done done;

	check("syncevent_queue_add",
	      syncevent_queue_add(side->queue, side->in, SYNCEVENT_GE, n, UINT64_MAX, n,
				  hang_deadline()));
	check("syncevent_queue_reap",
	      syncevent_queue_reap(side->queue, &done, 1, SYNCEVENT_FOREVER));
	check("completion", done.status);
	expect("the cookie", done.cookie, n);
	return done.value;
}

static const struct mode {
	const char *name;
	const char *title;
	const char *text;
	wait_fn *wait;
	bool awake;		/* needs a CPU for each process */
} modes[] = {
	{ "SPIN", "look at the shared memory again and again",
	  "   Each process keeps a CPU busy with reading the counter. The kernel has no part in\n"
	  "   it: the fastest way, and the most expensive one.\n", by_spin, true },
	{ "BLOCK", "sleep in the kernel until the condition holds",
	  "   Who waits gives the CPU away, so from here on both processes share one. Who adds\n"
	  "   sees in the shared memory that someone sleeps until this very value, and only\n"
	  "   then calls the kernel to wake it.\n", by_block, false },
	{ "poll", "watch the event in an event loop",
	  "   An event is a file descriptor: poll, epoll and io_uring tell when its value has\n"
	  "   changed, beside sockets and timers, and read(2) returns the value.\n", by_poll,
	  false },
	{ "wait queue", "hand the wait over and collect the result",
	  "   A wait is an entry in a queue, not a thread: thousands may be under way, and one\n"
	  "   thread collects those that are done.\n", by_queue, false },
};

#define MODES	(sizeof(modes) / sizeof(modes[0]))

/* ---- the exchange ----------------------------------------------------------------- */

static void exchange(struct side *side, wait_fn *wait, uint64_t rounds, bool publisher)
{
	uint64_t n, old;

	for (n = 1; n <= rounds; n++) {
		if (!publisher)
			expect("the signal", wait(side, n), n);
		check("syncevent_add", syncevent_add(side->out, 1, &old));
		expect("the value before the addition", old, n - 1);
		if (publisher)
			expect("the answer", wait(side, n), n);
	}
}

static cpu_set_t cpus;		/* those that the demo was given */

/* The subscriber's CPU is another one than the publisher's if both stay awake. */
static void choose_cpu(bool awake, bool publisher)
{
	int skip = awake && !publisher;
	cpu_set_t one;
	size_t cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus) && skip-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("sched_setaffinity", -errno);
}

/* What something cost the calling process. */
struct cost {
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t sleeps;
	uint64_t syscalls;
};

static struct cost cost_now(void)
{
	struct rusage usage;
	struct cost cost;

	getrusage(RUSAGE_SELF, &usage);
	cost.wall_ns = now_ns();
	cost.cpu_ns = ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) *
		1000000000 +
		((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
	cost.sleeps = (uint64_t)usage.ru_nvcsw;
	cost.syscalls = count_syscalls();
	return cost;
}

static struct cost cost_since(struct cost start)
{
	struct cost cost = cost_now();

	cost.wall_ns -= start.wall_ns;
	cost.cpu_ns -= start.cpu_ns;
	cost.sleeps -= start.sleeps;
	cost.syscalls -= start.syscalls;
	return cost;
}

/* ---- between the processes: a socket for tasks, file descriptors and results -------- */

struct task {
	uint64_t rounds;
	uint32_t mode;		/* MODES: sleep until the value is above THRESHOLD */
	uint32_t reserved;
};

union fd_message {
	struct cmsghdr header;
	char space[CMSG_SPACE(2 * sizeof(int))];
};

static void send_task(int socket, struct task *task, int in, int out)
{
	union fd_message control = { { 0 } };
	struct iovec iov = { task, sizeof(*task) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fds[2] = { in, out };

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
	if (sendmsg(socket, &msg, MSG_NOSIGNAL) != (ssize_t)sizeof(*task))
		fail("sendmsg", -errno);
}

/* Returns false when the publisher has no more. */
static bool receive_task(int socket, struct task *task, struct side *side)
{
	union fd_message control;
	struct iovec iov = { task, sizeof(*task) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *cmsg;
	int fds[2];
	ssize_t got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);

	if (!got)
		return false;
	if (got < 0)
		fail("recvmsg", -errno);
	cmsg = CMSG_FIRSTHDR(&msg);
	if (got != (ssize_t)sizeof(*task) || !cmsg || cmsg->cmsg_type != SCM_RIGHTS ||
	    cmsg->cmsg_len != CMSG_LEN(sizeof(fds)))
		fail("recvmsg", -EPROTO);
	memcpy(fds, CMSG_DATA(cmsg), sizeof(fds));

	/* The handles have file descriptors of their own. */
	check("syncevent_from_fd", syncevent_from_fd(&side->in, fds[0]));
	check("syncevent_from_fd", syncevent_from_fd(&side->out, fds[1]));
	close(fds[0]);
	close(fds[1]);
	check("syncevent_queue_create", syncevent_queue_create(&side->queue));
	return true;
}

static void close_side(struct side *side)
{
	syncevent_queue_close(side->queue);
	syncevent_close(side->in);
	syncevent_close(side->out);
}

/* ---- the subscriber's process -------------------------------------------------------- */

static uint64_t sleep_until_above(struct syncevent *ev, uint64_t threshold)
{
	struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.how = SYNCEVENT_BLOCK,
		.deadline = hang_deadline(),
	};
	uint64_t seen;

	check("syncevent_wait",
	      syncevent_wait(ev, SYNCEVENT_GT, threshold, UINT64_MAX, &opts, &seen));
	return seen;
}

static int subscriber(int socket)
{
	struct cost cost;
	struct side side;
	struct task task;

	role = "subscriber";
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* no use without its publisher */
	while (receive_task(socket, &task, &side)) {
		choose_cpu(task.mode < MODES && modes[task.mode].awake, false);
		/* "I am here": the publisher's clock starts. */
		if (send(socket, "", 1, MSG_NOSIGNAL) != 1)
			fail("send", -errno);
		cost = cost_now();
		if (task.mode < MODES)
			exchange(&side, modes[task.mode].wait, task.rounds, false);
		else
			expect("the value that woke it",
			       sleep_until_above(side.in, THRESHOLD), THRESHOLD + 1);
		cost = cost_since(cost);
		if (send(socket, &cost, sizeof(cost), MSG_NOSIGNAL) != (ssize_t)sizeof(cost))
			fail("send", -errno);
		close_side(&side);
	}
	return 0;
}

/* ---- the publisher's process ---------------------------------------------------------- */

static pid_t start_subscriber(int *socket)
{
	char number[16];
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		fail("socketpair", -errno);
	pid = fork();
	if (pid < 0)
		fail("fork", -errno);
	if (!pid) {
		/* dup() leaves close-on-exec behind: this one reaches the new program. */
		snprintf(number, sizeof(number), "%d", dup(pair[1]));
		execl("/proc/self/exe", "demo", "--subscriber", number, (char *)NULL);
		fail("/proc/self/exe", -errno);
	}
	close(pair[1]);
	*socket = pair[0];
	return pid;
}

static void receive(int socket, void *to, size_t size)
{
	ssize_t got = recv(socket, to, size, 0);

	if (got != (ssize_t)size)
		fail("the subscriber has gone", got < 0 ? -errno : -EPIPE);
}

/* Makes both events and hands them over, the subscriber's "in" as read-only. */
static struct side begin(int socket, uint32_t mode, uint64_t rounds)
{
	struct task task = { .mode = mode, .rounds = rounds };
	struct syncevent *readable, *answer;
	struct side side;
	char here;

	check("syncevent_create", syncevent_create(&side.out, NULL));
	check("syncevent_create", syncevent_create(&side.in, NULL));
	check("syncevent_queue_create", syncevent_queue_create(&side.queue));
	check("syncevent_dup", syncevent_dup(&readable, side.out, SYNCEVENT_RDONLY));
	check("syncevent_dup", syncevent_dup(&answer, side.in, 0));
	send_task(socket, &task, syncevent_fd(readable), syncevent_fd(answer));
	syncevent_close(readable);
	syncevent_close(answer);
	receive(socket, &here, 1);
	return side;
}

static void run_mode(int socket, uint32_t mode, uint64_t rounds, struct cost cost[2])
{
	struct side side = begin(socket, mode, rounds);
	uint64_t last;

	choose_cpu(modes[mode].awake, true);
	cost[0] = cost_now();
	exchange(&side, modes[mode].wait, rounds, true);
	cost[0] = cost_since(cost[0]);
	receive(socket, &cost[1], sizeof(cost[1]));
	check("syncevent_get", syncevent_get(side.out, &last));
	expect("the last signal", last, rounds);
	check("syncevent_get", syncevent_get(side.in, &last));
	expect("the last answer", last, rounds);
	close_side(&side);
}

static uint32_t waiters(struct syncevent *ev)
{
	struct syncevent_info info;

	if (ioctl(syncevent_fd(ev), SYNCEVENT_IOC_INFO, &info))
		fail("SYNCEVENT_IOC_INFO", -errno);
	return info.waiters;
}

/* A sleeper is left alone by the updates that do not concern it. */
static void run_threshold(int socket)
{
	struct side side = begin(socket, MODES, 0);
	const struct timespec ms = { 0, 1000000 };
	uint64_t deadline = hang_deadline();
	unsigned long below, above;
	struct cost cost;
	int i;

	while (!waiters(side.out)) {
		if (now_ns() > deadline)
			fail("the subscriber does not fall asleep", -ETIMEDOUT);
		nanosleep(&ms, NULL);
	}
	below = count_syscalls();
	for (i = 0; i < THRESHOLD; i++)
		check("syncevent_add", syncevent_add(side.out, 1, NULL));
	above = count_syscalls();
	below = above - below;
	check("syncevent_add", syncevent_add(side.out, 1, NULL));
	above = count_syscalls() - above;
	receive(socket, &cost, sizeof(cost));
	close_side(&side);

	printf("   The subscriber sleeps until the value is above %d. The publisher adds 1:\n"
	       "   the first %d additions made %lu system calls, the next one made %lu, which\n"
	       "   woke the subscriber. It saw %d.\n\n",
	       THRESHOLD, THRESHOLD, below, above, THRESHOLD + 1);
	expect("the number of system calls below the threshold", below, 0);
	expect("the number of system calls above it", above, 1);
}

/* ---- what is printed -------------------------------------------------------------------- */

static void print_intro(pid_t other, bool emulated)
{
	printf("A sync event is a 64-bit counter that programs share. Each of them may add to it,\n"
	       "set it, or wait until it meets a condition, such as \"at least 5\". Waiting takes\n"
	       "nothing away: everyone whose condition holds goes on. And everyone waits as it\n"
	       "likes: by spinning, asleep in the kernel, in an event loop. Here two processes\n"
	       "send each other signals through two sync events, and check every value they see.\n"
	       "\n"
	       "   publisher, process %-8d           subscriber, process %d\n"
	       "  +------------------------+  signal   +--------------------------+\n"
	       "  | adds 1 to signal       |---------->| waits until signal is n  |\n"
	       "  |                        |           |                          |\n"
	       "  | waits until answer is n|<----------| adds 1 to answer         |\n"
	       "  +------------------------+   answer  +--------------------------+\n"
	       "     a page of memory each, mapped by both; whoever sleeps is woken\n"
	       "     by the kernel module, /dev/syncevent\n\n", (int)getpid(), (int)other);
	if (emulated)
		printf("The CPU is an emulated one: compare the figures, do not quote them.\n\n");
}

/* QEMU without hardware virtualisation: its CPUs say so. */
static bool is_emulated(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int max, name[3];

	__cpuid(1, max, name[0], name[1], name[2]);
	if (!(name[1] & 1U << 31))		/* no hypervisor */
		return false;
	__cpuid(0x40000000, max, name[0], name[1], name[2]);
	return !memcmp(name, "TCGTCGTCGTCG", sizeof(name));
#else
	return false;
#endif
}

static double per(uint64_t total, uint64_t rounds)
{
	return (double)total / (double)rounds;
}

static double percent(const struct cost *cost, uint64_t wall_ns)
{
	return wall_ns ? 100 * (double)cost->cpu_ns / (double)wall_ns : 0;
}

static void print_cost(const struct cost cost[2], uint64_t rounds)
{
	uint64_t wall_ns = cost[0].wall_ns;

	printf("   %" PRIu64 " signals, %" PRIu64 " answers, every value right.\n"
	       "   One round trip took %.2f us. It cost the publisher %.2f system calls and %.2f\n"
	       "   sleeps, the subscriber %.2f and %.2f. They used %.0f %% and %.0f %% of a CPU.\n\n",
	       rounds, rounds, per(wall_ns, rounds) / 1000,
	       per(cost[0].syscalls, rounds), per(cost[0].sleeps, rounds),
	       per(cost[1].syscalls, rounds), per(cost[1].sleeps, rounds),
	       percent(&cost[0], wall_ns), percent(&cost[1], wall_ns));
}

static void print_table(struct cost costs[MODES][2], const bool ran[MODES], uint64_t rounds,
			bool emulated)
{
	size_t i;

	printf("Per round trip (publisher + subscriber)%s:\n\n"
	       "               time, us    system calls         sleeps       CPU time, us\n",
	       emulated ? ", on an emulated CPU" : "");
	for (i = 0; i < MODES; i++) {
		const struct cost *c = costs[i];

		if (!ran[i])
			continue;
		printf("  %-11s %9.2f    %5.2f + %-5.2f    %5.2f + %-5.2f   %6.2f + %.2f\n",
		       modes[i].name, per(c[0].wall_ns, rounds) / 1000,
		       per(c[0].syscalls, rounds), per(c[1].syscalls, rounds),
		       per(c[0].sleeps, rounds), per(c[1].sleeps, rounds),
		       per(c[0].cpu_ns, rounds) / 1000, per(c[1].cpu_ns, rounds) / 1000);
	}
	printf("\nThe library's default, ADAPTIVE, spins for some microseconds and then sleeps.\n");
}

static int publisher(uint64_t rounds)
{
	const bool emulated = is_emulated();
	struct cost costs[MODES][2];
	bool ran[MODES] = { false };
	int socket, status;
	pid_t pid = start_subscriber(&socket);
	uint32_t i;

	print_intro(pid, emulated);
	for (i = 0; i < MODES; i++) {
		printf("%d. %s: %s\n%s", (int)i + 1, modes[i].name, modes[i].title, modes[i].text);
		if (modes[i].awake && CPU_COUNT(&cpus) < 2) {
			printf("   Left out: there is one CPU, and it takes two.\n\n");
			continue;
		}
		fflush(stdout);
		run_mode(socket, i, rounds, costs[i]);
		print_cost(costs[i], rounds);
		ran[i] = true;
	}
	printf("%d. What a sleeper does not care about costs nothing\n", (int)i + 1);
	fflush(stdout);
	run_threshold(socket);

	close(socket);
	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "The subscriber failed.\n");
		return 1;
	}
	print_table(costs, ran, rounds, emulated);
	printf("Done: all values were right.\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "subscriber", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned long rounds = 10000;
	char *end;
	int c;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		fail("sched_getaffinity", -errno);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			rounds = strtoul(optarg, &end, 10);
			if (!rounds || *end || rounds > 1000000000) {
				fprintf(stderr, "--rounds: not a number from 1 to 10^9\n");
				return 2;
			}
			break;
		case 's':
			return subscriber(atoi(optarg));
		default:
			fprintf(c == 'h' ? stdout : stderr,
				"usage: demo [--rounds N]\n"
				"Two processes exchange N signals (10000) through /dev/syncevent in each of\n"
				"four ways.\n");
			return c == 'h' ? 0 : 2;
		}
	}
	return publisher(rounds);
}
