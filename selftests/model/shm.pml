/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The wake protocol of the shm provider: nobody keeps a queue, the waiters
 * sleep by futex on a sequence word. Two publishers, two waiters, one revoker,
 * all in user space and on the same page.
 * docs/wake-protocol.md explains the protocol, ./run checks this model.
 *
 * Nobody is killed and no slice ends, unless these are defined:
 *   KILLS			publishers and the revoker may die at each step
 *   SLICES			a sleep ends by itself, now and then
 *
 * Each of these macros breaks one rule, and spin must then find a waiter that
 * sleeps for ever:
 *   NO_SE_A			publisher without its barrier
 *   NO_SE_B			waiter without its barrier
 *   RECHECK_BEFORE_HINT	waiter looks at `value`, then lowers the hint
 *   SEQ_AFTER_HINT		waiter lowers the hint, then reads `seq`
 *   LOWER_BY_STORE		waiter lowers the hint by a load and a store
 *   BUMP_BEFORE_CLEAR		publisher bumps `seq`, then clears the hint
 *   CLEAR_UNLESS_CHANGED	publisher takes a changed hint for another's task
 *   WAKE_WITHOUT_BUMP		publisher leaves `seq` as it is
 *   WAKE_ONLY_ONE		publisher wakes one sleeper
 *   REVOKE_WITHOUT_BUMP	revoke leaves `seq` as it is
 *   KILLS			without SLICES
 * These cost system calls, but lose nobody:
 *   NEVER_CLEAR		publisher leaves the hint as it is
 *   CLEAR_BY_WRITE_BACK	publisher stores a hint word that did not ask as it
 *				read it, over whatever was written there since
 */

#ifdef REVOKE_WITHOUT_BUMP
#define REVOKE
#endif

#define NCPU	4
#define SBLEN	4
#define NWAIT	2

/* One more word, and one more thing to do to a word: lower it, atomically. */
#define STATE	4	/* LIVE or REVOKED; LOCK is not used here */
#define NWORD	5
#define MIN	6	/* buffer entries only: the lesser goes to ABOVE */
#define DRAIN_RMW							\
	:: l == MIN ->							\
		mem[ABOVE] = (v < mem[ABOVE] -> v : mem[ABOVE])

#include "tso.h"

/* Conditions. GT goes into wake_above, the others ask for every update. */
#define GT	0
#define EQ	1
#define LT	2

byte kind[NWAIT];
byte opnd[NWAIT];

/*
 * `seq` is touched by locked instructions alone, so there is no buffer in front
 * of it. All that matters of it is whether it moved since a waiter read it
 * (what would need 2^32 bumps to fail is not modelled).
 */
bool moved[NWAIT];
bool asleep[NWAIT];	/* in the kernel's futex queue */

byte busy;		/* publishers and revokers that are not through */

#define PRED(w, v)	((kind[w] == GT && (v) > opnd[w]) ||	\
			 (kind[w] == EQ && (v) == opnd[w]) ||	\
			 (kind[w] == LT && (v) < opnd[w]))

#define QUIET	(busy == 0 && len(sb[0]) == 0 && len(sb[1]) == 0 &&	\
		 len(sb[2]) == 0 && len(sb[3]) == 0)

#define LOST(w)	(asleep[w] && (mem[STATE] || PRED(w, mem[VALUE])))

/*
 * With slices: at rest no waiter goes on and on without returning, although its
 * predicate holds (weak fairness: who can go on does so at last).
 */
#ifdef SLICES
bool returned[NWAIT];	/* observer */

#define RETURNED(w)	returned[w] = true
#define LATE(w)		(!returned[w] && (mem[STATE] || PRED(w, mem[VALUE])))

ltl returns { !<>[](QUIET && (LATE(0) || LATE(1))) }
#else
#define RETURNED(w)	skip
#endif

/*
 * From SE-B on, the hint in memory covers the waiter, or `seq` moved, or there
 * is somebody who cleared the hint and has not yet moved `seq`. Who sleeps
 * although `seq` moved is about to be woken.
 */
#ifdef CHECK_HINTS
bool parked[NWAIT];	/* observers: no process of the protocol reads them */
byte clearing, waking;

#define OBSERVE(x)	x
#define COVERED(w)	(!parked[w] || moved[w] || clearing > 0 ||	\
			 (kind[w] == GT && mem[ABOVE] <= opnd[w]) ||	\
			 (kind[w] != GT && mem[ALL]))
#define AWAITED(w)	(!asleep[w] || !moved[w] || waking > 0)
#define CHECK_COVER	assert(COVERED(0) && COVERED(1) && AWAITED(0) && AWAITED(1))
#else
#define OBSERVE(x)	skip
#define CHECK_COVER	skip
#endif

#define DRAINED(l)	CHECK_COVER

active proctype memory()
{
	byte l, v;

end:	do
	:: DRAIN(0)
	:: DRAIN(1)
	:: DRAIN(2)
	:: DRAIN(3)
	od
}

/*
 * The locked instructions. What the update and the lowering write reaches memory
 * in the same step, which is the barrier that follows it: the buffer comes into
 * play when the barrier is taken away.
 */
#ifdef NO_SE_A
#define UPDATE_SET(c, v)	SET(c, v)
#define UPDATE_ADD(c, n)	FETCH_ADD(c, n)
#else
#define UPDATE_SET(c, v)	d_step { mem[VALUE] = v; newv[c] = v }
#define UPDATE_ADD(c, n)	d_step {				\
		mem[VALUE] = (mem[VALUE] + n) & WRAP; newv[c] = mem[VALUE] }
#endif

#ifdef NO_SE_B
#define LOWER_ABOVE(c, v)	sb[c]!MIN,v
#define LOWER_ALL(c)		STORE(c, ALL, true)
#else
#define LOWER_ABOVE(c, v)	mem[ABOVE] = v
#define LOWER_ALL(c)		mem[ALL] = true
#endif

#define BUMP(c)		d_step {					\
		FENCE(c) -> moved[0] = true; moved[1] = true;		\
		OBSERVE(waking++) }

/* FUTEX_WAKE. */
#define WAKE(c)		d_step {					\
		FENCE(c) -> asleep[0] = false; asleep[1] = false;	\
		OBSERVE(waking--); CHECK_COVER }

#ifdef WAKE_ONLY_ONE
#define WAKE_SLEEPERS(c)						\
	if								\
	:: asleep[0] -> asleep[0] = false				\
	:: asleep[1] -> asleep[1] = false				\
	:: else								\
	fi
#else
#define WAKE_SLEEPERS(c)	WAKE(c)
#endif

#ifdef KILLS
#define MAY_DIE								\
	if								\
	:: true								\
	:: mortal -> goto dead						\
	fi
#else
#define MAY_DIE	skip
#endif

/* `above` becomes what (4) stores, where that is not the same for all. */
#ifdef CLEAR_BY_WRITE_BACK
#define CLEARED	above
#define FORGET	above = (ring -> NOBODY : above); newv[c] = 0
#else
#define CLEARED	NOBODY
#ifdef CLEAR_UNLESS_CHANGED
#define FORGET	newv[c] = 0
#else
#define FORGET	above = 0; newv[c] = 0
#endif
#endif

proctype publisher(byte c; byte updates; bool mortal)
{
	byte n, above;
	bool ring;

	do
	:: atomic {
		n < updates ->
		n++;
		if
		:: UPDATE_SET(c, 0)	/* (1) */
		:: UPDATE_SET(c, 2)
		:: UPDATE_ADD(c, 1)
		fi;			/* SE-A */
		MAY_DIE
	   }
	   atomic {
		LOAD(c, ABOVE, above);	/* (3) */
		(newv[c] != UNKNOWN);
		ring = newv[c] > above;
		FORGET
	   }
	   atomic {
		if
		:: !ring -> LOAD(c, ALL, ring)
		:: else
		fi;
		above = (ring -> above : 0)
	   }
	   if
	   :: ring ->
		ring = false;
#ifdef BUMP_BEFORE_CLEAR
		BUMP(c);
#endif
#ifdef CLEAR_UNLESS_CHANGED
		atomic {
			FENCE(c);
			if
			:: mem[ABOVE] != above -> goto next
			:: else
			fi
		}
#endif
#ifndef NEVER_CLEAR
		atomic {		/* (4) */
			OBSERVE(clearing++);
			STORE(c, ABOVE, CLEARED);
			MAY_DIE;
			STORE(c, ALL, false);
			MAY_DIE
		}
#endif
#if !defined(BUMP_BEFORE_CLEAR) && !defined(WAKE_WITHOUT_BUMP)
		atomic {
			BUMP(c);		/* (5) */
			OBSERVE(clearing--);
			CHECK_COVER;
			MAY_DIE
		}
#endif
		WAKE_SLEEPERS(c)	/* (6) */
	   :: else
	   fi;
next:
	   above = 0
	:: n == updates -> break
	od;
dead:
	atomic { n = 0; above = 0; newv[c] = 0; ring = false; busy-- }
}

/* The load that finds nothing to lower writes nothing. */
inline lower(c, w)
{
	d_step {
		if
		:: kind[w] == GT ->
			LOAD(c, ABOVE, h);
			if
			:: h > opnd[w] ->
#ifdef LOWER_BY_STORE
				STORE(c, ABOVE, opnd[w])
#else
				LOWER_ABOVE(c, opnd[w])
#endif
			:: else
			fi
		:: else ->
			LOAD(c, ALL, h);
			if
			:: !h -> LOWER_ALL(c)
			:: else
			fi
		fi;
		h = 0
	}
}

/*
 * A waiter that is killed or gives up does nothing from then on, like one that
 * gets no CPU. All schedules are tried, that one too.
 */
proctype waiter(byte c; byte w)
{
	byte h, v;
	bool revoked;

again:
#ifndef SEQ_AFTER_HINT
	moved[w] = false;		/* (a) */
#endif
#ifdef RECHECK_BEFORE_HINT
	LOAD(c, STATE, revoked);
	LOAD(c, VALUE, v);
#endif
	lower(c, w);			/* (b), SE-B */
#ifdef SEQ_AFTER_HINT
	moved[w] = false;
#endif
	atomic {
#ifdef LOWER_BY_STORE
		FENCE(c);		/* SE-B */
#endif
		OBSERVE(parked[w] = true);
		CHECK_COVER;
#ifndef RECHECK_BEFORE_HINT
		LOAD(c, STATE, revoked);	/* (c) */
#endif
		if
		:: revoked -> goto leave
		:: else
		fi
	}
	atomic {
#ifndef RECHECK_BEFORE_HINT
		LOAD(c, VALUE, v);
#endif
		if
		:: PRED(w, v) -> goto leave
		:: else -> v = 0
		fi
	}
	atomic {			/* (d) FUTEX_WAIT */
		FENCE(c);
		if
		:: moved[w] -> OBSERVE(parked[w] = false); goto again
		:: else -> asleep[w] = true
		fi
	}
end_sleep:
	atomic {
		if
		:: !asleep[w]
#ifdef SLICES
		:: asleep[w] -> asleep[w] = false
#endif
		fi;
		OBSERVE(parked[w] = false);
		goto again
	}
leave:
	atomic {			/* the hint stays; forget the rest */
		OBSERVE(parked[w] = false);
		revoked = false;
		v = 0;
		moved[w] = false;
		kind[w] = GT;
		opnd[w] = WRAP;
		RETURNED(w)
	}
}

#ifdef REVOKE
proctype revoker(byte c; bool mortal)
{
	atomic {
		mem[STATE] = true;
		MAY_DIE
	}
	atomic {		/* a ring like any other: it clears the hint */
		OBSERVE(clearing++);
		STORE(c, ABOVE, NOBODY);
		MAY_DIE;
		STORE(c, ALL, false);
		MAY_DIE
	}
#ifndef REVOKE_WITHOUT_BUMP
	atomic {
		BUMP(c);
		OBSERVE(clearing--);
		CHECK_COVER;
		MAY_DIE
	}
#else
	FENCE(c);
#endif
	WAKE(c);
dead:
	busy--
}
#endif

init {
	atomic {
		/* An earlier waiter may have left its hint. */
		if
		:: mem[ABOVE] = NOBODY
		:: mem[ABOVE] = 0
		fi;
		if
		:: opnd[0] = 0; kind[1] = GT; opnd[1] = 1
		:: opnd[0] = 0; kind[1] = EQ; opnd[1] = 1
		:: opnd[0] = 1; kind[1] = LT; opnd[1] = 1; mem[VALUE] = 1
		fi;
		busy = 2;
		run publisher(0, 2, false);
#ifdef REVOKE
		run revoker(1, true);
#else
		run publisher(1, 1, true);
#endif
		run waiter(2, 0);
		run waiter(3, 1)
	}
#ifndef SLICES
end_check:
	d_step {
		QUIET && (LOST(0) || LOST(1)) ->
		assert(false)	/* a waiter sleeps for ever */
	}
#endif
}
