// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * exchange.c - what local_pci and remote_pci have in common
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "exchange.h"

#define SECOND	1000000000ULL

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
	exit(1);
}

int must(int ret, const char *what)
{
	if (ret < 0)
		fail(what, syncevent_strerror(ret));
	return ret;
}

/* ---- options ---------------------------------------------------------------------- */

/* The first is for who sends signals. */
static const struct argp_option options[] = {
	{ "signals", 's', "N", 0, "Exchange so many signals (1000)", 1 },
	{ "pci-addr", 'd', "ADDRESS", 0,
	  "PCI address, on this machine, of the memory that both share (the first there is)", 0 },
	{ "name", 'n', "NAME", 0, "Name of the event between the machines (sample)", 0 },
	{ "blob", 'b', "FILE", 0,
	  "Find the event by this file, which local_pci makes, and not by a name", 0 },
	{ "atomic", 'a', NULL, 0, "Signal by an atomic add, not by set", 1 },
	{ "async", 'y', NULL, 0, "Wait in an event loop (epoll), not in a call", 1 },
	{ "timeout", 't', "SECONDS", 0, "Give up after so long without a signal", 1 },
	{ 0 }
};

static uint64_t number(struct argp_state *state, const char *text, uint64_t max)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || !n || n > max)
		argp_error(state, "'%s' is no number from 1 to %" PRIu64, text, max);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct exchange *x = state->input;

	switch (key) {
	case 'd':
		x->pci = arg;
		return 0;
	case 'n':
		x->name = arg;
		return 0;
	case 'b':
		x->blob = arg;
		return 0;
	case 's':
		x->signals = number(state, arg, 1000000000);
		return 0;
	case 'a':
		x->atomic = true;
		return 0;
	case 'y':
		x->async = true;
		return 0;
	case 't':
		x->timeout = (unsigned int)number(state, arg, 1000000);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void exchange_options(struct exchange *x, const char *doc, int argc, char **argv)
{
	const struct argp argp = {
		.options = x->signals ? options : options + 1,
		.parser = parse,
		.doc = doc,
	};

	argp_err_exit_status = 2;
	x->name = "sample";
	argp_parse(&argp, argc, argv, 0, NULL, x);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

const char *exchange_region(struct exchange *x)
{
	static struct syncevent_pci first = { .size = sizeof(first) };
	int err;

	if (x->pci)
		return x->pci;
	err = syncevent_pci_get(0, &first);
	if (err == -ENOENT)
		fail("no memory is shared with other machines", "is the module loaded?");
	must(err, first.device);
	x->pci = first.address;
	return x->pci;
}

/* ---- signals ------------------------------------------------------------------------ */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

static void expect(uint64_t value, uint64_t wanted)
{
	if (value == wanted)
		return;
	fprintf(stderr, "%s: WRONG: %" PRIu64 ", and it should be %" PRIu64 "\n",
		program_invocation_short_name, value, wanted);
	exit(1);
}

void exchange_begin(struct exchange *x)
{
	struct epoll_event what = { .events = EPOLLIN };

	x->best_ns = UINT64_MAX;
	if (!x->async)
		return;
	x->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (x->epoll < 0 || epoll_ctl(x->epoll, EPOLL_CTL_ADD,
				      must(syncevent_poll_fd(x->ev), "poll_fd"), &what))
		fail("epoll", strerror(errno));
}

void exchange_signal(struct exchange *x, uint64_t value)
{
	uint64_t before = x->value;

	x->sent_ns = now();
	if (x->atomic)
		must(syncevent_add(x->ev, value - before, &before), "add");
	else
		must(syncevent_set(x->ev, value), "set");
	/* Nobody updates it out of turn. */
	expect(before, x->value);
	x->value = value;
}

static uint64_t by_call(struct exchange *x, uint64_t value)
{
	struct syncevent_wait_opts opts = {
		.size = sizeof(opts),
		.deadline = x->timeout ? now() + x->timeout * SECOND : SYNCEVENT_FOREVER,
	};
	uint64_t seen;

	must(syncevent_wait(x->ev, SYNCEVENT_GE, value, UINT64_MAX, &opts, &seen), "wait");
	return seen;
}

static uint64_t by_epoll(struct exchange *x, uint64_t value)
{
	int ms = x->timeout ? (int)x->timeout * 1000 : -1, ready, err;
	struct epoll_event what;
	uint64_t seen;

	must(syncevent_arm(x->ev, SYNCEVENT_GE, value, UINT64_MAX), "arm");
	do {
		/* A server would have its sockets and timers in here as well. */
		ready = epoll_wait(x->epoll, &what, 1, ms);
		if (ready < 0 && errno != EINTR)
			fail("epoll_wait", strerror(errno));
		if (!ready)
			must(-ETIMEDOUT, "wait");
		err = syncevent_read(x->ev, &seen);
	} while (err == -EAGAIN);
	must(err, "wait");
	return seen;
}

bool exchange_await(struct exchange *x, uint64_t value)
{
	uint64_t seen = x->async ? by_epoll(x, value) : by_call(x, value);

	if (x->sent_ns) {
		uint64_t ns = now() - x->sent_ns;

		x->trips++;
		x->total_ns += ns;
		x->best_ns = ns < x->best_ns ? ns : x->best_ns;
		x->worst_ns = ns > x->worst_ns ? ns : x->worst_ns;
	}
	x->value = seen;
	if (seen == EXCHANGE_LAST)
		return false;
	expect(seen, value);
	return true;
}

/* ---- the end -------------------------------------------------------------------------- */

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

void exchange_end(struct exchange *x)
{
	syncevent_close(x->ev);
	if (x->async)
		close(x->epoll);
	printf("%" PRIu64 " signals and answers, sent by %s, awaited %s, every value right\n",
	       x->trips, x->atomic ? "add" : "set", x->async ? "in epoll" : "in a call");
	if (x->trips)
		printf("round trip: %.2f us on average, %.2f us at best, %.2f us at worst\n",
		       us(x->total_ns / x->trips), us(x->best_ns), us(x->worst_ns));
}
