/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * "(value & mask) OP operand, unsigned, full 64-bit range": what is tried of it.
 */
#ifndef SELFTESTS_PREDICATE_H
#define SELFTESTS_PREDICATE_H

#include "common.h"

#include <syncevent.h>

static const uint64_t edges[] = {
	0, 1, 2, (1ULL << 31) - 1, 1ULL << 31, (1ULL << 32) - 1, 1ULL << 32,
	(1ULL << 32) + 1, (1ULL << 63) - 1, 1ULL << 63, SE_MAX - 1, SE_MAX,
};

static const uint64_t masks[] = {
	SE_MAX, 0, 1, 0xff, 0xffffffffULL, 0xffffffff00000000ULL, 1ULL << 63,
};

/* The definition, written down a second time. */
static inline bool holds(unsigned int cond, uint64_t value, uint64_t mask, uint64_t operand)
{
	value &= mask;
	switch (cond) {
	case SYNCEVENT_EQ:	return value == operand;
	case SYNCEVENT_NEQ:	return value != operand;
	case SYNCEVENT_GT:	return value > operand;
	case SYNCEVENT_GE:	return value >= operand;
	case SYNCEVENT_LT:	return value < operand;
	default:		return value <= operand;
	}
}

#endif /* SELFTESTS_PREDICATE_H */
