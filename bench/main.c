// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* main.c - the benchmarks as a program of their own, as `syncevent bench` runs them */
#include "bench.h"

int main(int argc, char **argv)
{
	return syncevent_bench_main(argc, argv, 0);
}
