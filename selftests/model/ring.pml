/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Notifications from one machine to another: a ring of two entries, a producer with
 * four updates, each of another event, and a consumer that sleeps until its doorbell
 * rings. docs/wake-protocol.md explains the protocol, ./run checks this model.
 *
 * Each of these macros breaks one rule, and spin must then find an update that the
 * consumer, at rest, has not judged:
 *   NO_RING_A			producer without its barrier
 *   NO_RING_B			consumer without its barrier
 *   REQUEST_BEFORE_TAKING	consumer asks for a doorbell, then takes the entries
 *   HEAD_BEFORE_TAKING		consumer gives the entries back, then looks at them
 *   TAIL_BEFORE_ENTRY		producer shows the entry, then writes it
 *   OVERFLOW_IGNORED		consumer does not judge everything
 *   OVERFLOW_NOT_RECHECKED	consumer looks at the tail alone before it sleeps
 *   RESET_WITHOUT_RECHECK	consumer attaches and does not look again
 */

#define NCPU	2
#define SBLEN	5

#define PRODUCER	0
#define CONSUMER	1

/* VALUE is how many events have been updated, in their order. */
#define TAIL	4
#define HEAD	5
#define OVERFLOW	6
#define REQUEST	7
#define ENTRY	8	/* two words */
#define NWORD	10

#include "tso.h"

#define UPDATES	4
#define ENTRIES	2
#define ALL_OF(n)	((1 << (n)) - 1)

#define DRAINED(l)	skip

bool doorbell;		/* pending at the consumer */
byte judged;		/* observer: events of which the update was seen */
bool idle, busy;

#define QUIET	(!busy && idle && !doorbell && len(sb[0]) == 0 && len(sb[1]) == 0)

active proctype memory()
{
	byte l, v;

end:	do
	:: DRAIN(PRODUCER)
	:: DRAIN(CONSUMER)
	od
}

/* se_ring_side(), after the hint was seen to ask. */
proctype producer()
{
	byte n, tail, overflow, x;

	do
	:: n < UPDATES ->
	   STORE(PRODUCER, VALUE, n + 1);
	   atomic {
		LOAD(PRODUCER, HEAD, x);
		if
		:: tail - x >= ENTRIES ->
			overflow++;
			STORE(PRODUCER, OVERFLOW, overflow);
			x = tail
		:: else ->
#ifdef TAIL_BEFORE_ENTRY
			STORE(PRODUCER, TAIL, tail + 1);
			STORE(PRODUCER, ENTRY + tail % ENTRIES, n);
#else
			STORE(PRODUCER, ENTRY + tail % ENTRIES, n);
			STORE(PRODUCER, TAIL, tail + 1);
#endif
			x = tail;
			tail++
		fi;
		n++
	   }
	   atomic {
#ifndef NO_RING_A
		FENCE(PRODUCER);	/* RING-A */
#endif
		if
		:: npend[IX(PRODUCER, REQUEST)] == 0 && mem[REQUEST] == x -> doorbell = true
		:: else
		fi;
		x = 0
	   }
	:: n == UPDATES -> break
	od;
	atomic { n = 0; tail = 0; overflow = 0; busy = false }
}

#define LOOK_AT_ALL	d_step {					\
		LOAD(CONSUMER, VALUE, x);				\
		judged = judged | ALL_OF(x);				\
		x = 0 }
#ifdef OVERFLOW_IGNORED
#define JUDGE_ALL	skip
#else
#define JUDGE_ALL	LOOK_AT_ALL
#endif

/* Entry or not: what is judged is the value of now. */
#define JUDGE(e)	d_step {					\
		LOAD(CONSUMER, VALUE, x);				\
		if							\
		:: e < x -> judged = judged | (1 << e)			\
		:: else							\
		fi;							\
		x = 0; e = 0 }

#define ASK	STORE(CONSUMER, REQUEST, head)

/* se_ring_take(); its budgets would only split it. */
proctype consumer()
{
	byte tail, head, dropped, x, e;

	/* It attaches while the producer is at work. */
	LOAD(CONSUMER, TAIL, head);
	LOAD(CONSUMER, OVERFLOW, dropped);
	STORE(CONSUMER, HEAD, head);
	ASK;
	FENCE(CONSUMER);
	LOOK_AT_ALL;
#ifdef RESET_WITHOUT_RECHECK
	goto sleep;
#endif
take:
	tail = 0;
#ifdef REQUEST_BEFORE_TAKING
	ASK;
	FENCE(CONSUMER);
#endif
	LOAD(CONSUMER, TAIL, tail);
	atomic {
		LOAD(CONSUMER, OVERFLOW, x);
		if
		:: x == dropped -> x = 0; goto entries
		:: else ->
			dropped = x;
			head = tail;
			x = 0
		fi
	}
	JUDGE_ALL;
entries:
	skip;
#ifdef HEAD_BEFORE_TAKING
	STORE(CONSUMER, HEAD, tail);
#endif
	do
	:: head == tail -> break
	:: atomic {
		head != tail ->
		LOAD(CONSUMER, ENTRY + head % ENTRIES, e);
		head++
	   }
	   JUDGE(e)
	od;
	tail = 0;
#ifndef HEAD_BEFORE_TAKING
	STORE(CONSUMER, HEAD, head);
#endif
#ifndef REQUEST_BEFORE_TAKING
	ASK;
	atomic {
#ifndef NO_RING_B
		FENCE(CONSUMER);	/* RING-B */
#endif
		LOAD(CONSUMER, TAIL, x);
		if
		:: x != head -> x = 0; goto take
		:: else -> x = 0
		fi
	}
#ifndef OVERFLOW_NOT_RECHECKED
	atomic {
		LOAD(CONSUMER, OVERFLOW, x);
		if
		:: x != dropped -> x = 0; goto take
		:: else -> x = 0
		fi
	}
#endif
#endif
sleep:
	atomic {
		idle = true;
end_sleep:
		doorbell ->
		doorbell = false;
		idle = false;
		goto take
	}
}

init {
	atomic {
		/* What a consumer before this one asked for may be long past. */
		if
		:: true
		:: mem[REQUEST] = UPDATES + 1
		fi;
		busy = true;
		run producer();
		run consumer()
	}
end_check:
	d_step {
		QUIET && judged != ALL_OF(UPDATES) ->
		assert(false)	/* an update that nobody looks at */
	}
}
