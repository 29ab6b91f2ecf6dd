/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * internal.h - what the files of the benchmarks share
 *
 * bench.c	the command: options, the list of benchmarks
 * measure.c	rounds of alternating runs, medians, the machine
 * report.c	text, JSON
 * plot.c	an image
 * update.c	updates that nobody waits for
 * parked.c	updates that do not satisfy the waiter
 * pair.c	two threads that answer each other: spinning, sleeping, in epoll
 * peers.c, ck.c	what the sleeping ones are compared with
 * crowd.c	many waiters, each with its own threshold
 * object.c	making events, their memory
 * doca.c	libsyncevent-doca: its list of benchmarks and its program, syncevent-doca-bench
 *
 * A benchmark has sides that do the same work: ours, and its peers. A run of a
 * side does a number of operations, at least 20 ms of them, and tells how long
 * they took. A round is one run of each side, one after the other, so that what
 * disturbs the machine for longer than a round disturbs all of them. A ratio is
 * that of two runs of the same round; the result is the median of all rounds.
 */
#ifndef BENCH_INTERNAL_H
#define BENCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <syncevent.h>

#define RUNS_DEFAULT	9
#define RUNS_MAX	101
#define SIDES_MAX	8
#define COUNTS_MAX	8

/**
 * struct run - one run of one side
 * @size: of the benchmark: waiters, objects
 * @arg: of the side
 * @n: operations to do
 * @amount: answer: nanoseconds, or bytes, of all of them
 * @sleeps: answer: sleeps of the waiters that ended; negative: not counted
 * @cpu_ns: answer: CPU time of the whole process; 0: not counted
 */
struct run {
	unsigned int size;
	const void *arg;
	uint64_t n;
	uint64_t amount;
	int64_t sleeps;
	uint64_t cpu_ns;
};

/**
 * struct side - who does the work
 * @name: what it is
 * @run: does it. Return: 0 or a negative errno
 * @arg: for @run
 * @ours: is it syncevent?
 * @absent: it was not built: why; else NULL
 */
struct side {
	const char *name;
	int (*run)(struct run *run);
	const void *arg;
	bool ours;
	const char *absent;
};

/**
 * struct target - what is hoped for
 * @ours: name of the side
 * @peer: name of the side
 * @ratio: at most, ours / peer
 * @provider: on this one only; SYNCEVENT_PROVIDER_DEFAULT: on each
 */
struct target {
	const char *ours;
	const char *peer;
	double ratio;
	enum syncevent_provider provider;
};

/**
 * struct count - something that is counted, not timed
 * @name: what
 * @value: how many
 * @expected: how many there should be; negative: that is not known
 */
struct count {
	const char *name;
	double value;
	double expected;
};

struct result;
struct options;

/**
 * struct bench - a benchmark
 * @name: to select it by
 * @what: it measures, one sentence
 * @unit: of a side's figure
 * @size: for struct run
 * @fixed: operations of each run; 0: as many as take long enough
 * @cpus: how many it needs
 * @sides: ended by one without a name
 * @targets: ended by one without a ratio; or NULL
 * @counts: counts what is to be counted, by add_count(); or NULL. Return: 0 or
 *          a negative errno
 */
struct bench {
	const char *name;
	const char *what;
	const char *unit;
	unsigned int size;
	unsigned int fixed;
	unsigned int cpus;
	const struct side *sides;
	const struct target *targets;
	int (*counts)(const struct bench *bench, const struct options *options,
		      struct result *result);
};

/* ---- results ------------------------------------------------------------------ */

/** struct spread - of the values of all rounds */
struct spread {
	double median;
	double q1;
	double q3;
	double min;
	double max;
};

/**
 * struct side_result - what one side did
 * @not_run: why it did not; else NULL
 * @n: operations of each run
 * @each: of one operation, in each round
 * @sleeps: of waiters per operation, median; negative: not counted
 * @cpu_ns: of the process per operation, median; 0: not counted
 */
struct side_result {
	const char *not_run;
	uint64_t n;
	double each[RUNS_MAX];
	double sleeps;
	double cpu_ns;
};

struct result {
	const struct bench *bench;
	const char *not_run;
	unsigned int runs;
	struct side_result side[SIDES_MAX];
	struct count count[COUNTS_MAX];
	unsigned int counts;
};

/**
 * struct machine - where it was measured
 * @hypervisor: its signature, or empty
 * @emulated: by software: times say nothing of any real machine
 */
struct machine {
	char cpu[128];
	char kernel[160];
	char hypervisor[16];
	unsigned int cpus;
	bool emulated;
	enum syncevent_provider provider;
};

/**
 * struct options - of the command
 * @runs: rounds
 * @quick: runs are as short as they can be: to see that all works
 * @json: not text
 * @plot: the image to make, or NULL
 */
struct options {
	unsigned int runs;
	bool quick;
	bool json;
	const char *plot;
};

/* ---- bench.c -------------------------------------------------------------------- */

/** bench_main() - syncevent_bench_main() with other benchmarks: @groups, ended by NULL */
int bench_main(int argc, char **argv, bool json, const struct bench *const *groups);

/* ---- measure.c ------------------------------------------------------------------ */

uint64_t now_ns(void);

/** measure() - run a benchmark. Return: 0 or a negative errno; @result says more */
int measure(const struct bench *bench, const struct options *options,
	    const struct machine *machine, struct result *result);

/** spread_of() - of @n values */
struct spread spread_of(const double *values, unsigned int n);

/**
 * comparable() - can a ratio of two sides be given?
 *
 * One is ours and the other not, both ran, and the peer's work was never nothing.
 */
bool comparable(const struct result *result, unsigned int ours, unsigned int peer);

/** ratios() - of two sides, round by round */
struct spread ratios(const struct result *result, unsigned int ours, unsigned int peer);

void add_count(struct result *result, const char *name, double value, double expected);

/** find_machine() - describe it. Return: 0, or a negative errno: no provider */
int find_machine(struct machine *machine);

/** cpu_of() - the CPU of the first or second thread of a pair; -1: only one CPU */
int cpu_of(unsigned int which);

/** pin() - keep the calling thread on a CPU; negative: leave it where it is */
void pin(int cpu);

/** unpin() - let it run where the program may run */
void unpin(void);

/** die() - end the program: what it does when other threads cannot be ended */
__attribute__((noreturn)) void die(const char *what, int err);

/* ---- report.c -------------------------------------------------------------------- */

/** report() - print all results. Return: 0 or a negative errno */
int report(const struct result *results, unsigned int n, const struct options *options,
	   const struct machine *machine);

/** target_of() - the target for two sides, or NULL */
const struct target *target_of(const struct bench *bench, const char *ours, const char *peer,
			       const struct machine *machine);

/* ---- plot.c ----------------------------------------------------------------------- */

/** plot() - an image of all results, by gnuplot. Return: 0 or a negative errno */
int plot(const struct result *results, unsigned int n, const struct options *options,
	 const struct machine *machine);

/* ---- the benchmarks: arrays ended by one without a name ---------------------------- */

extern const struct bench update_benches[], parked_benches[], pair_benches[];
extern const struct bench crowd_benches[], object_benches[];

/** run_atomic() - the bare instruction that struct run's arg points to */
int run_atomic(struct run *run);

typedef void atomic_fn(uint64_t *word, uint64_t n);
extern atomic_fn *const bare_set, *const bare_add;

/** run_channel() - two threads that answer each other by struct run's arg, channel_ops */
int run_channel(struct run *run);

/** parked() - does a waiter sleep on this event, as its cell tells publishers? */
bool parked(struct syncevent *ev);

/* ---- peers.c, ck.c: one word that a thread posts and another sleeps for ------------- */

struct channel;

/**
 * struct channel_ops - a way to sleep
 * @size: of its struct channel
 * @open: set up zeroed shared memory. Return: 0 or a negative errno
 * @post: make it @value, one more than before, and wake who waits
 * @wait: sleep until it is at least @value
 */
struct channel_ops {
	size_t size;
	int (*open)(struct channel *c);
	void (*post)(struct channel *c, uint64_t value);
	void (*wait)(struct channel *c, uint64_t value);
	void (*close)(struct channel *c);
};

extern const struct channel_ops futex_channel, eventfd_channel, cond_channel, sem_channel;
extern const struct channel_ops eventfd_epoll_channel, ck_channel;

/** futex() - on memory that processes share */
long futex(uint32_t *word, int op, uint32_t value);

#endif /* BENCH_INTERNAL_H */
