/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Who polls on the shm provider: the threads of two processes watch an event for
 * their pollers, and two publishers are threads of the first process. A publisher
 * judges for its own process and wakes no thread if the page says that no other
 * process watches. shm.pml is the protocol below, docs/wake-protocol.md explains
 * both, ./run checks this model.
 *
 * Each of these macros breaks one rule, and spin must then find a thread that
 * sleeps for ever:
 *   NO_SE_A			publisher without its barrier
 *   NO_SE_B			watcher without its barrier
 *   NO_SE_C			publisher that clears the hint and reads who watches
 *				without a barrier between the two
 *   KNOWN_AFTER_ASKING		watcher asks, then writes that it watches
 *   SEVERAL_IGNORED		the first process that watches stays the only one
 *   NOT_ASKED_AGAIN		publisher judges, but leaves the hint cleared
 *   JUDGE_BEFORE_ASKING	publisher judges, then asks again
 *   BUSY_IS_JUDGED		publisher that does not get the lock wakes nobody
 */

#define NCPU	4
#define SBLEN	4
#define WATCHER	4	/* 0, the first process, the second, both */
#define NWORD	5

#define NONE	0
#define FIRST	1
#define SECOND	2
#define SEVERAL	3

#include "tso.h"

#define DRAINED(l)	skip

#define NWATCH	2

/* A thread's poller waits for a value above this; it is judged under the process's lock. */
byte above[NWATCH];
bool waits[NWATCH];
bool moved[NWATCH];	/* has `watch` moved since the thread read it? See shm.pml */
bool asleep[NWATCH];
bool locked;		/* by a thread of the first process */
byte busy;

#define QUIET	(busy == 0 && len(sb[0]) == 0 && len(sb[1]) == 0 &&	\
		 len(sb[2]) == 0 && len(sb[3]) == 0)
#define LOST(w)	(asleep[w] && waits[w] && mem[VALUE] > above[w])

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

#ifdef NO_SE_A
#define SE_A(c)		true
#else
#define SE_A(c)		FENCE(c)
#endif

#ifdef NO_SE_B
#define SE_B(c)		true
#else
#define SE_B(c)		FENCE(c)
#endif

#ifdef NO_SE_C
#define SE_C(c)		true
#else
#define SE_C(c)		FENCE(c)
#endif

/* The lowering, a locked instruction, is here a store with SE-B behind it. */
#define ASK(c)		STORE(c, ALL, true)

/* Look at the value; `v` is left as it was. */
inline judge(c, w)
{
	atomic {
		LOAD(c, VALUE, v);
		if
		:: v > above[w] -> waits[w] = false
		:: else
		fi;
		v = 0
	}
}

proctype publisher(byte c; byte updates)
{
	byte n, v, who;
	bool ring, done;

	do
	:: n < updates ->
		atomic {
			n++;
			SET(c, n + 1)
		}
		atomic {
			SE_A(c);
			LOAD(c, ALL, ring)
		}
		if
		:: ring ->
			STORE(c, ALL, false);
			atomic {
				SE_C(c);
				LOAD(c, WATCHER, who)
			}
			if
			:: who != NONE ->
				if
				:: atomic { !locked -> locked = true }
					if
					:: waits[0] ->
#ifdef JUDGE_BEFORE_ASKING
						judge(c, 0);
#endif
#ifndef NOT_ASKED_AGAIN
						ASK(c);
#endif
						SE_B(c);
#ifndef JUDGE_BEFORE_ASKING
						judge(c, 0)
#endif
					:: else
					fi;
					atomic {
						FENCE(c);
						locked = false;
						done = (who == FIRST)
					}
				:: atomic { locked ->
#ifdef BUSY_IS_JUDGED
					done = (who == FIRST)
#else
					done = false
#endif
				   }
				fi;
				if
				:: !done ->
					d_step {
						moved[0] = true; moved[1] = true;
						asleep[0] = false; asleep[1] = false
					}
				:: else
				fi
			:: else
			fi
		:: else
		fi;
		atomic { ring = false; done = false; who = NONE }
	:: n == updates -> break
	od;
	atomic { n = 0; newv[c] = 0; busy-- }
}

/* A thread of the process `me`; only the first one has publishers to share a lock with. */
proctype watcher(byte c; byte w; byte me)
{
	byte v, who;

#ifdef KNOWN_AFTER_ASKING
	if
	:: me == FIRST -> atomic { !locked -> locked = true }
	:: else
	fi;
	moved[w] = false;
	ASK(c);
#endif
	atomic {		/* a locked instruction */
		FENCE(c);
		who = mem[WATCHER];
#ifdef SEVERAL_IGNORED
		mem[WATCHER] = (who == NONE -> me : who);
#else
		mem[WATCHER] = (who == NONE -> me : SEVERAL);
#endif
		who = 0
	}
#ifdef KNOWN_AFTER_ASKING
	goto asked;
#endif
again:
	if
	:: me == FIRST -> atomic { !locked -> locked = true }
	:: else
	fi;
	if
	:: waits[w] ->
		moved[w] = false;
		ASK(c);
asked:		SE_B(c);
		judge(c, w)
	:: else
	fi;
	atomic {
		FENCE(c);
		if
		:: me == FIRST -> locked = false
		:: else
		fi
	}
	atomic {		/* FUTEX_WAIT, unless nobody waits any more */
		if
		:: !waits[w] -> goto leave
		:: waits[w] && moved[w] -> goto again
		:: waits[w] && !moved[w] -> asleep[w] = true
		fi
	}
end_sleep:
	atomic { !asleep[w] -> goto again }
leave:
	moved[w] = false
}

init {
	atomic {
		/* Others may have asked before: a sleeper on `seq`. */
		if
		:: mem[ALL] = true
		:: mem[ALL] = false
		fi;
		if
		:: above[0] = 1; above[1] = 1
		:: above[0] = 2; above[1] = 1
		:: above[0] = 1; above[1] = 2
		fi;
		waits[0] = true;
		waits[1] = true;
		busy = 2;
		run publisher(0, 2);
		run publisher(1, 1);
		run watcher(2, 0, FIRST);
		run watcher(3, 1, SECOND)
	}
end_check:
	d_step {
		QUIET && (LOST(0) || LOST(1)) ->
		assert(false)	/* a thread sleeps for ever */
	}
}
