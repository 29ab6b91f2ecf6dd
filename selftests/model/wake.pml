/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The wake protocol: two publishers in user space, two waiters that park in
 * the kernel, and one task that may revoke the event at any moment.
 * docs/wake-protocol.md explains the protocol, ./run checks this model.
 *
 * Each of these macros breaks one rule, and spin must then find a waiter that
 * sleeps for ever:
 *   NO_SE_A			publisher without its barrier
 *   NO_SE_B			waiter without its barrier
 *   RECHECK_BEFORE_HINT	waiter looks at `value`, then writes the hint
 *   REVOKE_NOT_RECHECKED	waiter looks at the state before it is queued
 *   KILL_WITHOUT_JUDGE		nobody judges when a publisher was killed
 *   HINT_RAISED_BEFORE_REMOVAL	a batch raises the hint for the next one too
 *   HINT_TRANSIENTLY_RAISED	the hint is reset, then computed again
 * These two make a wait end that must not end yet:
 *   WAKE_EVERYBODY		ring wakes without looking at predicates
 *   JUDGE_ONE_FOR_ALL		the value read for the first batch serves all
 */

#define NCPU	5
#define SBLEN	4
#define NWAIT	2

#include "tso.h"
#include "hints.h"

/* Conditions. GT goes into wake_above, the others ask for every update. */
#define GT	0
#define EQ	1
#define LT	2

/* Outcomes of a wait. */
#define NONE	0
#define OK	1
#define EIDRM	2
#define ETIMEDOUT 3

byte kind[NWAIT];
byte opnd[NWAIT];

/* Kernel memory, under the event lock. */
bool queued[NWAIT];
byte claim[NWAIT];
bool krevoked;

byte busy;		/* publishers and revokers that are not through */

/* An observer: no process of the protocol reads it. */
#ifdef CHECK_HINTS
bool parked[NWAIT];	/* from SE-B to the removal from the queue */
#endif

#define PRED(w, v)	((kind[w] == GT && (v) > opnd[w]) ||	\
			 (kind[w] == EQ && (v) == opnd[w]) ||	\
			 (kind[w] == LT && (v) < opnd[w]))

/*
 * Nobody is on the way any more, every store has reached memory: who is still
 * queued sleeps until a deadline or a signal ends it.
 */
#define QUIET	(busy == 0 && mem[LOCK] == 0 && len(sb[0]) == 0 &&	\
		 len(sb[1]) == 0 && len(sb[2]) == 0 &&			\
		 len(sb[3]) == 0 && len(sb[4]) == 0)

#define LOST(w)	(queued[w] && (krevoked || PRED(w, mem[VALUE])))

/* The hint in memory covers every parked waiter, at every moment. */
#ifdef CHECK_HINTS
#define PARKED(w, x)	parked[w] = x
#define COVERED(w)	(!parked[w] ||					\
			 (kind[w] == GT && mem[ABOVE] <= opnd[w]) ||	\
			 (kind[w] != GT && mem[ALL]))
#define CHECK_COVER	assert(COVERED(0) && COVERED(1))
#else
#define PARKED(w, x)	skip
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
	:: DRAIN(4)
	od
}

#define LEAST(a, b)	((a) < (b) -> (a) : (b))
#define WANTS(w)	((queued[w] && kind[w] == GT) -> opnd[w] : NOBODY)

#define NEED_ABOVE	LEAST(WANTS(0), WANTS(1))
#define NEED_ALL	((queued[0] && kind[0] != GT) || (queued[1] && kind[1] != GT))

#define SATISFIED(w)	(queued[w] && PRED(w, v))
#define STAYS(w)	(queued[w] && !PRED(w, v))
#define LATER_WANTS(w)	((STAYS(w) && kind[w] == GT) -> opnd[w] : NOBODY)

#define REMOVE(w, how)	queued[w] = false; PARKED(w, false); claim[w] = how

/* Nobody is woken whose predicate does not hold right now. */
#define WAKE(w, how)							\
	assert(how != OK || PRED(w, mem[VALUE]));			\
	REMOVE(w, how)

#define WAKE_ONE(is, how)						\
	if								\
	:: is(0) -> WAKE(0, how)					\
	:: !is(0) && is(1) -> WAKE(1, how)				\
	:: else								\
	fi
#define QUEUED(w)	queued[w]

#ifdef WAKE_EVERYBODY
#define CHOSEN	QUEUED
#else
#define CHOSEN	SATISFIED
#endif

/*
 * ring, and the judgement at release: at most one wake per lock hold, `value`
 * read anew at each hold. The removal and the wake are one step: the waiter
 * sees its claim earlier than any wake_up_process() after the unlock, never
 * later.
 */
inline judge(c)
{
	do
	:: atomic {
		ACQUIRE(c);
#ifdef HINT_TRANSIENTLY_RAISED
		PUT_HINTS(c, NOBODY, false)
	   }
	   atomic {
#endif
#ifdef JUDGE_ONE_FOR_ALL
		if
		:: v == UNKNOWN -> LOAD(c, VALUE, v)
		:: else
		fi;
#else
		LOAD(c, VALUE, v);
#endif
#ifdef HINT_RAISED_BEFORE_REMOVAL
		PUT_HINTS(c, LEAST(LATER_WANTS(0), LATER_WANTS(1)),
			  (STAYS(0) && kind[0] != GT) || (STAYS(1) && kind[1] != GT));
#endif
		more = CHOSEN(0) && CHOSEN(1);
		WAKE_ONE(CHOSEN, OK);
#ifndef HINT_RAISED_BEFORE_REMOVAL
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL);
#endif
		RELEASE(c);
		if
		:: more -> more = false
		:: else -> v = UNKNOWN; break
		fi
	   }
	od
}

#include "publisher.h"

proctype waiter(byte c; byte w)
{
	byte v;

#ifdef REVOKE_NOT_RECHECKED
	if
	:: krevoked -> goto done
	:: else
	fi;
#endif
	atomic {
		ACQUIRE(c);
		queued[w] = true;
#ifdef RECHECK_BEFORE_HINT
		LOAD(c, VALUE, v);
	}
	atomic {
#endif
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL)
	}
	atomic {
#ifndef NO_SE_B
		FENCE(c);		/* SE-B */
#endif
		PARKED(w, true);
#ifndef RECHECK_BEFORE_HINT
		LOAD(c, VALUE, v);
#endif
		if
#ifndef REVOKE_NOT_RECHECKED
		:: krevoked -> REMOVE(w, EIDRM)
		:: !krevoked && PRED(w, v) -> REMOVE(w, OK)
#else
		:: PRED(w, v) -> REMOVE(w, OK)
#endif
		:: else
		fi;
		v = 0;
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL);
		RELEASE(c)
	}
end_sleep:
	if
	:: claim[w] != NONE
	:: atomic {
		/* Deadline or signal: a claim or a true predicate goes first. */
		ACQUIRE(c);
		LOAD(c, VALUE, v);
		if
		:: claim[w] == NONE && PRED(w, v) -> REMOVE(w, OK)
		:: claim[w] == NONE && !PRED(w, v) -> REMOVE(w, ETIMEDOUT)
		:: else
		fi;
		v = 0;
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL);
		RELEASE(c)
	   }
	fi;
#ifdef REVOKE_NOT_RECHECKED
done:
#endif
	atomic {		/* returned: forget, for fewer states */
		assert(claim[w] != EIDRM || krevoked);
		claim[w] = NONE;
		kind[w] = GT;
		opnd[w] = 0
	}
}

proctype revoker(byte c)
{
	bool more;

end_maybe_never:
	busy++;
	do
	:: atomic {
		ACQUIRE(c);
		krevoked = true;
		more = queued[0] && queued[1];
		WAKE_ONE(QUEUED, EIDRM);
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL);
		RELEASE(c);
		if
		:: more -> more = false
		:: else -> break
		fi
	   }
	od;
	busy--
}

init {
	atomic {
		mem[ABOVE] = NOBODY;
		if
		:: kind[0] = GT; opnd[0] = 0
		:: kind[0] = GT; opnd[0] = 1
		fi;
		if
		:: kind[1] = GT; opnd[1] = 1
		:: kind[1] = EQ; opnd[1] = 1
		:: kind[1] = LT; opnd[1] = 1
		fi;
		if
		:: mem[VALUE] = 0
		:: mem[VALUE] = 1
		fi;
		busy = 2;
		run publisher(0, 2, false);
		run publisher(1, 1, true);
		run waiter(2, 0);
		run waiter(3, 1);
		run revoker(4)
	}
end_check:
	d_step {
		QUIET && (LOST(0) || LOST(1)) ->
		assert(false)	/* a waiter sleeps for ever */
	}
}
