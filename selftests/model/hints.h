/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* The kernel's side of the hints, under the event lock. */

byte khint_above = NOBODY;	/* what the kernel wrote last: it never reads */
bool khint_all;			/* the cell's own words back */

/* Write the hint words that differ from what the queue needs now. */
#define PUT(c, word, copy, need)					\
	if								\
	:: copy != (need) -> STORE_COPY(c, word, copy, need)		\
	:: else								\
	fi
#define STORE_COPY(c, word, copy, need)	d_step {			\
		nfull(sb[c]) -> copy = (need);				\
		sb[c]!word,copy;					\
		npend[IX(c, word)]++;					\
		fwd[IX(c, word)] = copy }
#define PUT_HINTS(c, above, all)					\
	PUT(c, ABOVE, khint_above, above);				\
	PUT(c, ALL, khint_all, all)
