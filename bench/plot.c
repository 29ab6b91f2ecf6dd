// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * plot.c - an image of all results, by gnuplot
 *
 * IMAGE.gp is left beside the image: the data and the commands, to plot again
 * or otherwise, here or where gnuplot is.
 */
#include "internal.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* One bar for each ratio, and what the rounds varied by. */
static unsigned int put_ratios(FILE *file, const struct result *results, unsigned int n)
{
	unsigned int b, i, k, bars = 0;

	fprintf(file, "$ratios << EOD\n");
	for (b = 0; b < n; b++) {
		const struct side *sides = results[b].bench->sides;

		for (i = 0; sides[i].name; i++)
			for (k = 0; sides[k].name; k++) {
				struct spread s;

				if (!comparable(&results[b], i, k))
					continue;
				s = ratios(&results[b], i, k);
				fprintf(file, "%u \"%s: %s / %s\" %g %g %g\n", bars++,
					results[b].bench->name, sides[i].name, sides[k].name,
					s.median, s.min, s.max);
			}
	}
	fprintf(file, "EOD\n");
	return bars;
}

/* The cost of an update by the number of waiters, a line for each side. */
static unsigned int put_crowds(FILE *file, const struct result *results, unsigned int n)
{
	const struct side *sides = crowd_benches->sides;
	unsigned int b, i, points = 0;

	for (i = 0; sides[i].name; i++) {
		fprintf(file, "$crowd%u << EOD\n", i);
		for (b = 0; b < n; b++) {
			const struct result *r = &results[b];
			struct spread s;

			if (r->bench->sides != sides || r->not_run || r->side[i].not_run)
				continue;
			s = spread_of(r->side[i].each, r->runs);
			fprintf(file, "%u %g %g %g\n", r->bench->size, s.median, s.min, s.max);
			points++;
		}
		fprintf(file, "EOD\n");
	}
	return points;
}

static void put_script(FILE *file, const char *image, unsigned int bars, unsigned int points,
		       const struct machine *machine)
{
	const struct side *sides = crowd_benches->sides;
	unsigned int i;

	fprintf(file, "set terminal pngcairo size 1100,%u\nset output \"%s\"\n",
		(points ? 420 : 0) + (bars ? 160 + 22 * bars : 0), image);
	if (bars && points)
		fprintf(file, "set multiplot layout 2,1\n");
	if (bars) {
		fprintf(file, "set title \"ours / peer%s, median and range of the rounds\"\n"
			"set logscale x\nset grid x\nunset key\nset yrange [%u.5:-0.5]\n"
			"set xlabel \"ratio\"\nset arrow 1 from 1,graph 0 to 1,graph 1 nohead lw 2\n"
			"plot $ratios using 3:1:4:5:ytic(2) with xerrorbars pt 7\n",
			machine->emulated ? " (emulated)" : "", bars - 1);
	}
	if (points) {
		fprintf(file, "reset\nset title \"an update that satisfies one waiter%s\"\n"
			"set logscale xy\nset grid\nset key top left\nset xlabel \"waiters\"\n"
			"set ylabel \"nanoseconds\"\nplot", machine->emulated ? " (emulated)" : "");
		for (i = 0; sides[i].name; i++)
			fprintf(file, "%s $crowd%u with yerrorlines title \"%s\"",
				i ? "," : "", i, sides[i].name);
		fprintf(file, "\n");
	}
	if (bars && points)
		fprintf(file, "unset multiplot\n");
}

static int run_gnuplot(const char *script)
{
	char *argv[] = { (char *)"gnuplot", (char *)script, NULL };
	int status, err;
	pid_t pid;

	err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (err == ENOENT) {
		fprintf(stderr, "bench: no gnuplot here: run it on %s where it is\n", script);
		return 0;
	}
	if (err)
		return -err;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return -EIO;
	return 0;
}

int plot(const struct result *results, unsigned int n, const struct options *options,
	 const struct machine *machine)
{
	unsigned int bars, points;
	char script[4096];
	FILE *file;
	int err;

	if ((size_t)snprintf(script, sizeof(script), "%s.gp", options->plot) >= sizeof(script))
		return -ENAMETOOLONG;
	file = fopen(script, "we");
	if (!file)
		return -errno;
	bars = put_ratios(file, results, n);
	points = put_crowds(file, results, n);
	put_script(file, options->plot, bars, points, machine);
	err = ferror(file) ? -EIO : 0;
	if (fclose(file) && !err)
		err = -errno;
	if (!err && !bars && !points) {
		fprintf(stderr, "bench: nothing to plot\n");
		return 0;
	}
	return err ? err : run_gnuplot(script);
}
