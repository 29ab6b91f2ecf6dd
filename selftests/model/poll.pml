/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The poll path: two publishers, and one consumer that watches one open file
 * with an edge-triggered epoll, the most demanding user of ->poll. It either
 * reads the event (ready: the value differs from the one last read) or gets
 * the value and arms "greater than that" (ready: the armed condition holds).
 *
 * Each of these macros breaks one rule, and spin must then find a consumer
 * that sleeps for ever although its file is ready:
 *   NO_SE_A, NO_SE_B		as in wake.pml
 *   RECHECK_BEFORE_ARM		->poll looks at `value`, then arms the entry
 *   NOT_ARMED_WHEN_READY	->poll arms only if it returns "not ready"
 *   READ_WITHOUT_REKEY		read(2) leaves the armed entry's old key
 *   ARM_WITHOUT_REKEY		so does ARM
 *   READ_WITHOUT_WAKE		read leaves a condition that holds to others
 *   ARM_WITHOUT_WAKE		so does ARM
 */

#define NCPU	3
#define SBLEN	4

#include "tso.h"
#include "hints.h"

/* The file's condition: last read value differs, or armed threshold passed. */
bool armed_gt;
byte opnd;

/* Its one-shot entry in the wait engine. */
bool queued;
byte key;

bool ready_list;	/* epoll's wake-up callback ran: it will call ->poll */
bool idle;		/* observer: the consumer sleeps in epoll_wait */
byte busy;

#define HOLDS(x, v)	((armed_gt && (v) > (x)) || (!armed_gt && (v) != (x)))
#define DRAINED(l)	skip

#define QUIET	(busy == 0 && mem[LOCK] == 0 && len(sb[0]) == 0 &&	\
		 len(sb[1]) == 0 && len(sb[2]) == 0)
#define LOST	(idle && !ready_list && HOLDS(opnd, mem[VALUE]))

active proctype memory()
{
	byte l, v;

end:	do
	:: DRAIN(0)
	:: DRAIN(1)
	:: DRAIN(2)
	od
}

#define NEED_ABOVE	((queued && armed_gt) -> key : NOBODY)
#define NEED_ALL	(queued && !armed_gt)

/* One entry: one lock hold is enough. wake.pml has the batches. */
inline judge(c)
{
	atomic {
		ACQUIRE(c);
		LOAD(c, VALUE, v);
		more = queued && HOLDS(key, v);
		if
		:: more ->
			more = false;
			queued = false;
			ready_list = true
		:: else
		fi;
		v = UNKNOWN;
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL);
		RELEASE(c)
	}
}

#include "publisher.h"

/* ->poll: turns `ready` on or leaves it off. */
inline poll(c)
{
#ifdef RECHECK_BEFORE_ARM
	LOAD(c, VALUE, v);
#endif
	atomic {
		ACQUIRE(c);
		if
#ifdef NOT_ARMED_WHEN_READY
		:: HOLDS(opnd, mem[VALUE]) -> ready = true
#endif
		:: else -> queued = true; key = opnd
		fi;
		PUT_HINTS(c, NEED_ABOVE, NEED_ALL)
	}
	atomic {
#ifndef NO_SE_B
		FENCE(c);	/* SE-B */
#endif
#ifndef RECHECK_BEFORE_ARM
		LOAD(c, VALUE, v);
#endif
		ready = ready || HOLDS(opnd, v);
		v = 0;
		RELEASE(c)
	}
}

/* read(2), non-blocking: the value is taken in one lock hold, noted in another. */
inline read_value(c)
{
	atomic {
		ACQUIRE(c);
		LOAD(c, VALUE, v);
		RELEASE(c)
	}
	atomic {
		ACQUIRE(c);
		opnd = v;
#ifndef READ_WITHOUT_REKEY
		key = (queued -> opnd : key);
#endif
		LOAD(c, VALUE, v);	/* the lock was SE-B: no hint was written */
#ifndef READ_WITHOUT_WAKE
		ready_list = ready_list || HOLDS(opnd, v);
#endif
		v = 0;
		RELEASE(c)
	}
}

/* GET in user space, then ARM "greater than what I saw". */
inline get_and_arm(c)
{
	LOAD(c, VALUE, v);
	atomic {
		ACQUIRE(c);
		opnd = v;
#ifndef ARM_WITHOUT_REKEY
		key = (queued -> opnd : key);
#endif
		PUT(c, ABOVE, khint_above, NEED_ABOVE)
	}
	atomic {
#ifndef NO_SE_B
		FENCE(c);	/* SE-B */
#endif
		LOAD(c, VALUE, v);
#ifndef ARM_WITHOUT_WAKE
		ready_list = ready_list || HOLDS(opnd, v);
#endif
		v = 0;
		RELEASE(c)
	}
}

/* epoll with EPOLLET: ->poll is called at EPOLL_CTL_ADD and after a wake-up. */
proctype consumer(byte c)
{
	byte v;
	bool ready;

	poll(c);
	ready_list = ready_list || ready;
	ready = false;
	do
	:: atomic {
		idle = true;
end_epoll_wait:
		ready_list ->
		idle = false;
		ready_list = false
	   }
	   poll(c);
	   if
	   :: ready && armed_gt -> ready = false; get_and_arm(c)
	   :: ready && !armed_gt -> ready = false; read_value(c)
	   :: else
	   fi
	od
}

init {
	atomic {
		mem[ABOVE] = NOBODY;
		if
		:: armed_gt = true; opnd = 2	/* ARM after open */
		:: armed_gt = true; opnd = 0
		:: armed_gt = false		/* value at open: 0 */
		fi;
		busy = 2;
		run publisher(0, 2, false);
		run publisher(1, 2, true);
		run consumer(2)
	}
end_check:
	d_step {
		QUIET && LOST ->
		assert(false)	/* the consumer sleeps for ever */
	}
}
