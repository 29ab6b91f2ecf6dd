/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * fuzzer.h - what the fuzzers share
 *
 * Each is one C file with LLVMFuzzerTestOneInput(), linked with the library's sources
 * and world.c, through which the library opens and maps: so that what an input leaves
 * behind is seen. Where clang is not at hand, or to look at one input:
 * selftests/fuzzers.sh says how they are built; a file as argument runs that input.
 */
#ifndef FUZZER_H
#define FUZZER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Unlike assert() it cannot be compiled out. */
#define CHECK(expr) do {							\
	if (!(expr)) {								\
		fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #expr); \
		abort();							\
	}									\
} while (0)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * struct bytes - what is left of an input
 *
 * What reads beyond the end gets zeros.
 */
struct bytes {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t take(struct bytes *in, size_t n)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < n && in->left; i++, in->left--)
		value |= (uint64_t)*in->at++ << 8 * i;
	return value;
}

/* XORs a buffer with what is left: { u16 offset, u8 length, bytes }... */
static inline void patch(void *buffer, size_t size, struct bytes *in)
{
	while (in->left > 3) {
		size_t at = take(in, 2), n = take(in, 1);

		for (; n && in->left; n--, at++)
			((uint8_t *)buffer)[at % size] ^= (uint8_t)take(in, 1);
	}
}

/* ---- world.c ------------------------------------------------------------------- */

/**
 * struct world - what the library's system calls may do
 * @shm: where files of /dev/shm really go
 * @paths: how many paths of /dev/shm were used
 * @judge: if not NULL, aborts if the library must not open this
 */
struct world {
	const char *shm;
	unsigned int paths;
	void (*judge)(const char *path, int flags);
};

extern struct world world;

/* What is open and mapped now. */
struct balance {
	int next_fd;
	long mappings;
};

struct balance balance(void);

/* Aborts if anything was opened or mapped since and not closed. */
void check_balance(const struct balance *before);

#endif /* FUZZER_H */
