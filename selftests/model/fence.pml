/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Two sides that declare each other dead, each up to twice, although both live.
 * docs/wake-protocol.md explains the protocol, ./run checks this model.
 *
 * Each of these macros breaks one rule, and spin must then find a side that, at
 * rest, takes the other for dead, or one that attaches anew again and again:
 *   FENCE_OF_THE_DEAD_IGNORED	a side does not look for a fence in the record of one
 *				that it has itself declared dead
 *   SAME_EPOCH			a fenced side attaches anew with its epoch
 *   DEAD_FOR_EVER		a side does not look at the epoch of a dead one
 * This costs nothing:
 *   FENCES_KEPT		who attaches anew leaves its fences
 */

#define NCPU	2
#define SBLEN	4

#define EPOCH	4	/* of both sides */
#define FENCE_OF	6	/* the epoch of the other that each has declared dead */
#define NWORD	8

#include "tso.h"

#define DRAINED(l)	skip

#define LIVES	2	/* heartbeats that each side misses */

byte epoch[2];
byte seen[2];		/* of the other: its epoch, */
bool alive[2], dead[2];	/* and what is believed of it */
byte times[2];		/* observer: it has attached so often */

active proctype memory()
{
	byte l, v;

end:	do
	:: DRAIN(0)
	:: DRAIN(1)
	od
}

#ifdef FENCE_OF_THE_DEAD_IGNORED
#define LOOKS(c)	alive[c]
#else
#define LOOKS(c)	true
#endif

#ifdef DEAD_FOR_EVER
#define NEWS(c)		(mem[EPOCH + 1 - c] != seen[c] && !dead[c])
#else
#define NEWS(c)		(mem[EPOCH + 1 - c] != seen[c])
#endif
#define FOUND(c)	(LOOKS(c) && mem[FENCE_OF + 1 - c] == epoch[c])

#ifdef FENCES_KEPT
#define CLEAR_FENCE(c)	skip
#else
#define CLEAR_FENCE(c)	STORE(c, FENCE_OF + c, 0)
#endif

#ifdef SAME_EPOCH
#define NEXT_EPOCH	1
#else
#define NEXT_EPOCH	epoch[c] + 1
#endif

inline attach(c)
{
	atomic {
		seen[c] = 0;
		alive[c] = false;
		dead[c] = false;
		CLEAR_FENCE(c)
	}
	atomic {
		times[c]++;
		epoch[c] = NEXT_EPOCH;
		STORE(c, EPOCH + c, epoch[c])
	}
}

/* Heartbeats are left out: any look may miss one. */
proctype side(byte c)
{
	byte x, missed;

	attach(c);
end:	do
	:: atomic {
		NEWS(c) || FOUND(c) || (alive[c] && missed < LIVES) ->
		LOAD(c, EPOCH + 1 - c, x)
	   }
	   atomic {
		if
		:: NEWS(c) && x != seen[c] ->
			seen[c] = x;
			dead[c] = false;
			alive[c] = true
		:: x == seen[c] && alive[c] && missed < LIVES ->
			missed++;
			STORE(c, FENCE_OF + c, x);
			alive[c] = false;
			dead[c] = true
		:: else
		fi;
		x = 0
	   }
	   if
	   :: FOUND(c) -> attach(c)
	   :: else
	   fi
	od
}

#define QUIET	(len(sb[0]) == 0 && len(sb[1]) == 0 && !NEWS(0) && !NEWS(1) &&	\
		 !FOUND(0) && !FOUND(1))

init {
	atomic {
		run side(0);
		run side(1)
	}
end_check:
	d_step {
		(QUIET && epoch[0] != 0 && epoch[1] != 0 && (dead[0] || dead[1])) ||
		times[0] > 1 + LIVES || times[1] > 1 + LIVES ->
		assert(false)	/* they do not come together again */
	}
}
