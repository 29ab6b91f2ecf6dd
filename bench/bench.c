// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* bench.c - the command: options, the list of benchmarks */
#include "internal.h"
#include "bench.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BENCHES_MAX	32

static const char usage[] =
	"usage: %s [--runs N] [--quick] [--list] [--json] [--gnuplot IMAGE.png] [NAME...]\n"
	"\n"
	"Measure libsyncevent beside its peers.\n"
	"\n"
	"  NAME             only these benchmarks; * and ? as in a shell\n"
	"  --runs N         rounds, 1 to 101 (default 9)\n"
	"  --quick          runs as short as they can be: to see that it works\n"
	"  --list           the benchmarks and what they measure\n"
	"  --json           JSON\n"
	"  --gnuplot IMAGE  also a PNG image, by gnuplot; IMAGE.gp is the script and data\n"
	"  --help\n"
	"\n"
	"SYNCEVENT_PROVIDER chooses the provider. Exit status: 0; 1 error; 2 usage.\n";

static unsigned int all_benches(const struct bench *const *groups,
				const struct bench *all[BENCHES_MAX])
{
	const struct bench *bench;
	unsigned int n = 0;

	for (; *groups; groups++)
		for (bench = *groups; bench->name && n < BENCHES_MAX; bench++)
			all[n++] = bench;
	return n;
}

static bool chosen(const struct bench *bench, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!fnmatch(*names, bench->name, 0))
			return true;
	return false;
}

/* Each name has to mean something. Return: NULL, or the first that does not. */
static const char *unknown(const struct bench *const *all, unsigned int n, char **names)
{
	unsigned int i;

	for (; *names; names++) {
		for (i = 0; i < n && fnmatch(*names, all[i]->name, 0); i++)
			;
		if (i == n)
			return *names;
	}
	return NULL;
}

/* As many threads and files as are to be had without asking anyone. */
static void raise_limits(void)
{
	static const int which[] = { RLIMIT_NOFILE, RLIMIT_NPROC };
	struct rlimit limit;
	size_t i;

	for (i = 0; i < 2; i++)
		if (!getrlimit(which[i], &limit)) {
			limit.rlim_cur = limit.rlim_max;
			(void)setrlimit(which[i], &limit);
		}
}

static int run_all(const struct bench *const *all, unsigned int n, char **names,
		   const struct options *options)
{
	struct result *results = calloc(n, sizeof(*results));
	struct machine machine;
	unsigned int i, done = 0;
	int err, ret = 0;

	if (!results)
		die("memory", ENOMEM);
	err = find_machine(&machine);
	if (err) {
		fprintf(stderr, "bench: %s\n", syncevent_strerror(err));
		free(results);
		return 1;
	}
	raise_limits();
	for (i = 0; i < n; i++) {
		if (!chosen(all[i], names))
			continue;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "%s ...\n", all[i]->name);
		err = measure(all[i], options, &machine, &results[done++]);
		if (err) {
			fprintf(stderr, "bench: %s: %s\n", all[i]->name, strerror(-err));
			ret = 1;
		}
	}
	err = report(results, done, options, &machine);
	if (!err && options->plot)
		err = plot(results, done, options, &machine);
	if (err) {
		fprintf(stderr, "bench: report: %s\n", strerror(-err));
		ret = 1;
	}
	free(results);
	return ret;
}

static int list(const struct bench *const *all, unsigned int n, char **names)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (chosen(all[i], names))
			printf("%-18s %s\n", all[i]->name, all[i]->what);
	return fflush(stdout) ? 1 : 0;
}

int bench_main(int argc, char **argv, bool json, const struct bench *const *groups)
{
	static const struct option long_options[] = {
		{ "runs", required_argument, NULL, 'r' },
		{ "quick", no_argument, NULL, 'q' },
		{ "list", no_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "gnuplot", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct options options = { .runs = RUNS_DEFAULT, .json = json };
	const struct bench *all[BENCHES_MAX];
	unsigned int n = all_benches(groups, all);
	const char *stranger;
	bool only_list = false;
	unsigned long runs;
	char *end;
	int c;

	optind = 0;	/* the tool may have read options of its own before */
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		switch (c) {
		case 'r':
			errno = 0;
			runs = strtoul(optarg, &end, 10);
			if (errno || *end || end == optarg || !runs || runs > RUNS_MAX) {
				fprintf(stderr, "bench: --runs wants a number from 1 to %d\n",
					RUNS_MAX);
				return 2;
			}
			options.runs = (unsigned int)runs;
			break;
		case 'q':
			options.quick = true;
			break;
		case 'l':
			only_list = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'g':
			options.plot = optarg;
			break;
		case 'h':
			printf(usage, argv[0]);
			return 0;
		default:
			fprintf(stderr, usage, argv[0]);
			return 2;
		}
	stranger = unknown(all, n, argv + optind);
	if (stranger) {
		fprintf(stderr, "bench: no benchmark is called %s: --list names them\n", stranger);
		return 2;
	}
	if (only_list)
		return list(all, n, argv + optind);
	return run_all(all, n, argv + optind, &options);
}

int syncevent_bench_main(int argc, char **argv, int json)
{
	static const struct bench *const groups[] = {
		update_benches, parked_benches, pair_benches, crowd_benches, object_benches, NULL,
	};

	return bench_main(argc, argv, json, groups);
}
