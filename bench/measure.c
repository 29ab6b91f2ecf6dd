// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* measure.c - rounds of alternating runs, medians, the machine */
#include "internal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define RUN_NS		20000000.0	/* a run takes at least this */
#define QUICK_NS	100000.0

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static cpu_set_t all_cpus;

int cpu_of(unsigned int which)
{
	unsigned int cpu, seen = 0;

	if (CPU_COUNT(&all_cpus) < 2)
		return -1;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all_cpus) && seen++ == which)
			return (int)cpu;
	return -1;
}

void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity", errno);
}

void unpin(void)
{
	if (sched_setaffinity(0, sizeof(all_cpus), &all_cpus))
		die("sched_setaffinity", errno);
}

/* ---- the machine ------------------------------------------------------------------ */

static void find_cpu(char *to, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], *colon;

	snprintf(to, size, "unknown");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(to, size, "%s", colon + 2);
		break;
	}
	fclose(file);
}

static void find_hypervisor(char to[16])
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	if (!(ecx & 1U << 31))
		return;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(to, &ebx, 4);
	memcpy(to + 4, &ecx, 4);
	memcpy(to + 8, &edx, 4);
#else
	(void)to;
#endif
}

int find_machine(struct machine *machine)
{
	struct syncevent_caps caps = { .size = sizeof(caps) };
	struct utsname name;
	int err;

	memset(machine, 0, sizeof(*machine));
	find_cpu(machine->cpu, sizeof(machine->cpu));
	find_hypervisor(machine->hypervisor);
	machine->emulated = !strcmp(machine->hypervisor, "TCGTCGTCGTCG");
	if (!uname(&name))
		snprintf(machine->kernel, sizeof(machine->kernel), "%s %s", name.sysname,
			 name.release);
	if (sched_getaffinity(0, sizeof(all_cpus), &all_cpus))
		die("sched_getaffinity", errno);
	machine->cpus = (unsigned int)CPU_COUNT(&all_cpus);
	err = syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps);
	machine->provider = (enum syncevent_provider)caps.provider;
	return err;
}

/* ---- figures ---------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct spread spread_of(const double *values, unsigned int n)
{
	double sorted[RUNS_MAX];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), by_size);
	return (struct spread){
		.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2,
		.q1 = sorted[(n - 1) / 4],
		.q3 = sorted[n - 1 - (n - 1) / 4],
		.min = sorted[0],
		.max = sorted[n - 1],
	};
}

bool comparable(const struct result *r, unsigned int ours, unsigned int peer)
{
	const struct side *sides = r->bench->sides;
	unsigned int i;

	if (r->not_run || !sides[ours].ours || sides[peer].ours ||
	    r->side[ours].not_run || r->side[peer].not_run)
		return false;
	for (i = 0; i < r->runs; i++)
		if (r->side[peer].each[i] <= 0)
			return false;
	return true;
}

struct spread ratios(const struct result *result, unsigned int ours, unsigned int peer)
{
	double each[RUNS_MAX];
	unsigned int i;

	for (i = 0; i < result->runs; i++)
		each[i] = result->side[ours].each[i] / result->side[peer].each[i];
	return spread_of(each, result->runs);
}

void add_count(struct result *result, const char *name, double value, double expected)
{
	if (result->counts < COUNTS_MAX)
		result->count[result->counts++] = (struct count){ name, value, expected };
}

/* ---- runs --------------------------------------------------------------------------- */

static int run_once(const struct bench *bench, const struct side *side, struct run *run)
{
	run->size = bench->size;
	run->arg = side->arg;
	run->amount = 0;
	run->sleeps = -1;
	run->cpu_ns = 0;
	return side->run(run);
}

/* How many operations take @want nanoseconds. The first runs also warm up. */
static int calibrate(const struct bench *bench, const struct side *side, double want,
		     uint64_t *n)
{
	struct run run = { .n = bench->fixed ? bench->fixed : 4 };
	double more;
	int err;

	for (;;) {
		err = run_once(bench, side, &run);
		if (err || bench->fixed || (double)run.amount >= want)
			break;
		/* Beyond what is wanted, so that a faster run is long enough too. */
		more = 1.3 * want / ((double)run.amount + 1);
		run.n = 1 + (uint64_t)((double)run.n * (more > 50 ? 50 : more));
	}
	*n = run.n;
	return err;
}

/* What is a limit of this machine is no failure of the benchmark. */
static const char *limit_of(int err)
{
	switch (err) {
	case -EAGAIN:
		return "not run: no more threads are allowed";
	case -EMFILE:
		return "not run: no more open files or events are allowed";
	case -ENOMEM:
		return "not run: not enough memory";
	case -EOPNOTSUPP:
		return "not run: this provider cannot";
	default:
		return NULL;
	}
}

static int round_of(const struct bench *bench, struct result *result, unsigned int round,
		    unsigned int sides, double (*sleeps)[RUNS_MAX], double (*cpu)[RUNS_MAX])
{
	unsigned int k, i;
	int err;

	for (k = 0; k < sides; k++) {
		/* There and back, so that no side always comes after the same one. */
		struct side_result *s = &result->side[i = round % 2 ? sides - 1 - k : k];
		struct run run = { .n = s->n };

		if (s->not_run)
			continue;
		err = run_once(bench, &bench->sides[i], &run);
		if (err) {
			s->not_run = limit_of(err) ? limit_of(err) : strerror(-err);
			return limit_of(err) ? 0 : err;
		}
		s->each[round] = (double)run.amount / (double)run.n;
		sleeps[i][round] = (double)run.sleeps / (double)run.n;
		cpu[i][round] = (double)run.cpu_ns / (double)run.n;
	}
	return 0;
}

int measure(const struct bench *bench, const struct options *options,
	    const struct machine *machine, struct result *result)
{
	double sleeps[SIDES_MAX][RUNS_MAX], cpu[SIDES_MAX][RUNS_MAX];
	unsigned int sides, i;
	int err, ret = 0;

	memset(result, 0, sizeof(*result));
	result->bench = bench;
	result->runs = options->runs;
	if (machine->cpus < bench->cpus) {
		result->not_run = "not run: needs two CPUs";
		return 0;
	}
	for (i = 0; bench->sides[i].name; i++) {
		struct side_result *s = &result->side[i];

		s->not_run = bench->sides[i].absent;
		if (s->not_run)
			continue;
		err = calibrate(bench, &bench->sides[i], options->quick ? QUICK_NS : RUN_NS, &s->n);
		if (err) {
			s->not_run = limit_of(err) ? limit_of(err) : strerror(-err);
			ret = limit_of(err) ? ret : err;
		}
	}
	sides = i;
	for (i = 0; i < result->runs; i++) {
		err = round_of(bench, result, i, sides, sleeps, cpu);
		ret = err ? err : ret;
	}
	for (i = 0; i < sides; i++) {
		if (result->side[i].not_run)
			continue;
		result->side[i].sleeps = spread_of(sleeps[i], result->runs).median;
		result->side[i].cpu_ns = spread_of(cpu[i], result->runs).median;
	}
	if (bench->counts) {
		err = bench->counts(bench, options, result);
		ret = err && !limit_of(err) ? err : ret;
	}
	return ret;
}
