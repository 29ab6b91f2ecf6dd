/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* bench.h - benchmarks of libsyncevent beside its peers: what `syncevent bench` calls */
#ifndef SYNCEVENT_BENCH_H
#define SYNCEVENT_BENCH_H

/**
 * syncevent_bench_main() - run benchmarks as a command
 * @argc: of the command
 * @argv: options and names of benchmarks; argv[0] is the command's own name
 * @json: as if --json were among them
 *
 * Prints to standard output. Return: the exit status: 0; 1 something failed;
 * 2 usage.
 */
int syncevent_bench_main(int argc, char **argv, int json);

#endif /* SYNCEVENT_BENCH_H */
