/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A slot of a region used again: its creator on one machine revokes it, waits,
 * and makes it anew under another generation; another machine imports it, follows
 * the revocation, is declared dead although it lives, or dies and attaches anew.
 * docs/wake-protocol.md explains the protocol, ./run checks this model.
 *
 * No side is fenced and none dies, unless these are defined:
 *   FENCED			the importer's epoch is declared dead, at any moment
 *   CRASH			the importing machine dies at any moment, stores that
 *				did not reach memory are lost, and boots
 *   ATTACHED			the importer is attached from the start (for NO_LOCK)
 *
 * Each of these macros breaks one rule, and spin must then find a touch of a slot
 * by somebody who takes it for that of a generation before:
 *   REUSE_WITHOUT_ACK		creator waits for nobody
 *   REUSE_WHEN_FENCED		creator does not wait for a side declared dead
 *   NO_RE_A			creator without its barrier
 *   EPOCHS_BEFORE_REVOKED	creator reads epochs, then revokes
 *   NO_RECHECK			import looks at the state, then enters the table
 *   NO_LOCK			import without the lock under which a side attaches
 *   NO_LOCK_NO_BARRIER		import without both, the lock and the barrier
 *   ACK_BEFORE_ZAP		importer acknowledges, then ends its import
 *   REVOKE_WITHOUT_GRACE	importer does not wait for system calls under way
 *   FLAG_NOT_RESET		the acknowledgement says "gone" and not what is gone,
 *				and an import leaves it
 *   FLAG_NO_BARRIER		it says "gone", and an import resets it without a barrier
 *   EPOCH_BEFORE_DROP		a fenced side shows its epoch, then drops its imports
 *   EPOCH_BEFORE_REST		a side shows its epoch, then rests
 * a hint that asks for nobody in a slot made anew:
 *   HINT_LEFT			importer acknowledges and leaves its hint
 *   HINT_NOT_RESTED		a side attaches and leaves the hints of its life before
 * an import that ends although its event lives:
 *   STATE_BEFORE_LOCK		importer reads the state, then takes the lock
 * a creator that waits for ever:
 *   ACK_OF_IMPORTS_ONLY	a side that imported nothing acknowledges nothing
 * These leave one of two safeguards, which is enough:
 *   NO_BARRIER			import without the barrier, under the lock
 *   ATTACHED and NO_LOCK	import with the barrier alone
 *   NEVER_RESET		import leaves the acknowledgement of a generation before
 *   ACK_IS_A_FLAG		the acknowledgement says "gone", and an import resets it
 */

#ifdef EPOCH_BEFORE_DROP
#define FENCED
#endif
#ifdef REUSE_WHEN_FENCED
#define FENCED
#endif
#ifdef HINT_NOT_RESTED
#define CRASH
#endif
#ifdef FLAG_NOT_RESET
#define ACK_IS_A_FLAG
#define NEVER_RESET
#endif
#ifdef FLAG_NO_BARRIER
#define ACK_IS_A_FLAG
#define NO_BARRIER
#endif
#ifdef NO_LOCK_NO_BARRIER
#define ATTACHED
#define NO_LOCK
#define NO_BARRIER
#endif

#define NCPU	4
#define SBLEN	4

/* The CPUs: one of the creator's machine, three of the importer's. */
#define CREATOR	0
#define SYSCALL	1	/* imports and closes */
#define TICK	2	/* follows revocations, finds fences, attaches */
#define USER	3	/* a program with the import */

/*
 * What is written to VALUE and ABOVE is the generation that the writer believes in:
 * an update, and the importer's hint, 0 at rest. LOCK is the importer's region lock,
 * and also its event lock: the two are never held together here.
 */
#define STATE	4	/* of the descriptor: generation, and LIVE or over */
#define EPOCH	5	/* of the importing side */
#define GONE	6	/* its acknowledgement */
#define TABLE	7	/* its table: the generation imported, in its own memory */
#define NWORD	8

#include "tso.h"

#define LIVE(g)		((g) * 2 + 1)
#define OVER(g)		((g) * 2)
#define IS_LIVE(s)	((s) & 1)
#define GEN(s)		((s) >> 1)
#define FIRST	1
#define LAST	4	/* used again twice, or once if the creator attaches anew */

/* The importer's own memory; the state of an event changes in one step. */
byte live;		/* generation of an import that has not been revoked */
byte mapped;		/* generation in the user's page table */
byte inflight;		/* generation that a system call found live, and will update */
bool attached;
byte epoch;		/* shown, or last shown */

#ifdef FENCED
byte fenced;		/* epoch that the creator's side has declared dead */
#endif
#ifdef CRASH
bool down[NCPU];
#endif

/* Somebody may still touch it, which is another matter than a hint left behind. */
#define BELIEVED	(mem[TABLE] != 0 || npend[IX(SYSCALL, TABLE)] != 0 ||	\
			 live != 0 || mapped != 0 || inflight != 0)

byte freed;		/* observer: newest generation that is over for all */

/* A store of the importer to the slot. */
#define DRAINED(l)							\
	if								\
	:: (l == VALUE || l == ABOVE) && v != 0 -> assert(v > freed)	\
	:: else								\
	fi

active proctype memory()
{
	byte l, v;

end:	do
	:: DRAIN(CREATOR)
	:: DRAIN(SYSCALL)
	:: DRAIN(TICK)
	:: DRAIN(USER)
	od
}

/* ---- the creator ------------------------------------------------------------- */

#ifdef ACK_IS_A_FLAG
#define ACK(s)		(!IS_LIVE(s))
#define ACKED(g)	(mem[GONE] == 1)
#else
#define ACK(s)		(IS_LIVE(s) -> 0 : GEN(s))
#define ACKED(g)	(mem[GONE] == (g))
#endif

#ifdef REUSE_WITHOUT_ACK
#define DRAINED_BY_ALL(g, e)	true
#else
#ifdef REUSE_WHEN_FENCED
#define DRAINED_BY_ALL(g, e)	(e == 0 || mem[EPOCH] != e || ACKED(g) || fenced == e)
#else
/* Its own buffer never has these words. */
#define DRAINED_BY_ALL(g, e)	(e == 0 || mem[EPOCH] != e || ACKED(g))
#endif
#endif

proctype creator()
{
	byte g = FIRST, e;

	do
	:: atomic {
		g < LAST ->
		if
		:: true		/* revokes */
		:: g++		/* attaches anew: what was is over by the next one */
		fi;
#ifdef EPOCHS_BEFORE_REVOKED
		LOAD(CREATOR, EPOCH, e)
	   }
	   atomic {
#endif
		STORE(CREATOR, STATE, OVER(g))
	   }
	   atomic {
#ifndef NO_RE_A
		FENCE(CREATOR);		/* RE-A */
#endif
#ifndef EPOCHS_BEFORE_REVOKED
		LOAD(CREATOR, EPOCH, e)
#endif
	   }
	   atomic {
		DRAINED_BY_ALL(g, e) ->
		e = 0;
		freed = g;
		assert(mem[ABOVE] == 0 || BELIEVED);
		g++;
		STORE(CREATOR, STATE, LIVE(g))
	   }
	:: g >= LAST -> break
	od
}

/* ---- the importer -------------------------------------------------------------- */

#ifdef REVOKE_WITHOUT_GRACE
#define GRACE	true
#else
#define GRACE	(inflight == 0)
#endif

#ifdef HINT_LEFT
#define RESET_HINT(c)	skip
#else
#define RESET_HINT(c)	STORE(c, ABOVE, 0)
#endif

/*
 * Whoever revoked it (live is 0) goes on with this. The zap waits for each CPU to
 * say that it has done its part: its stores from before are in memory.
 */
inline end_import(c)
{
	atomic {
		FENCE(USER) && GRACE ->
		mapped = 0
	}
	atomic {
		ACQUIRE(c);
		RESET_HINT(c);		/* end the waits */
		STORE(c, TABLE, 0);
		RELEASE(c)
	}
}

#ifdef NO_LOCK
#define LOCK_TABLE	skip
#define UNLOCK_TABLE	skip
#else
#define LOCK_TABLE	ACQUIRE(SYSCALL)
#define UNLOCK_TABLE	RELEASE(SYSCALL)
#endif

#ifdef NEVER_RESET
#define RESET_ACK	skip
#else
#define RESET_ACK	STORE(SYSCALL, GONE, 0)
#endif

/* Calls that fail at once are left out. */
proctype importer()
{
	byte g, s;

again:
	{
end:	do
	:: atomic {
		IS_LIVE(mem[STATE]) && mem[TABLE] == 0 && attached ->
		g = GEN(mem[STATE])		/* se_slot_check() */
	   }
	   atomic {
		LOCK_TABLE;
		if
		:: !attached || mem[TABLE] != 0 ->
			UNLOCK_TABLE;
			goto next
		:: else
		fi;
		STORE(SYSCALL, TABLE, g);
		RESET_ACK
	   }
	   atomic {
#ifndef NO_BARRIER
		FENCE(SYSCALL);
#endif
#ifdef NO_RECHECK
		s = LIVE(g)
#else
		LOAD(SYSCALL, STATE, s)
#endif
	   }
	   atomic {
		if
		:: s == LIVE(g) -> live = g
		:: else -> STORE(SYSCALL, TABLE, 0)
		fi;
		UNLOCK_TABLE;
next:
		g = 0; s = 0
	   }
	:: atomic {
		live != 0 && mapped == 0 && inflight == 0 ->
		live = 0		/* the last file is closed */
	   }
	   end_import(SYSCALL)
	od
	}
#ifdef CRASH
	unless {
		atomic { down[SYSCALL] -> down[SYSCALL] = false; g = 0; s = 0; goto again }
	}
#endif
}

proctype user()
{
end:	do
	:: d_step { live != 0 && mapped == 0 -> mapped = live }		/* fault */
	:: atomic { mapped != 0 && FENCE(USER) -> STORE(USER, VALUE, mapped) }
	:: d_step { live != 0 && mapped == 0 && inflight == 0 -> inflight = live }
	:: atomic {
		inflight != 0 && FENCE(USER) ->
		STORE(USER, VALUE, inflight);
		inflight = 0
	   }
	:: atomic {				/* wait */
		live != 0 && mem[ABOVE] != live ->
		ACQUIRE(USER);
		if
		:: live != 0 -> STORE(USER, ABOVE, live)
		:: else
		fi;
		RELEASE(USER)
	   }
	od
}

/*
 * Ticks that would change nothing are left out, but for one: it may read a state
 * that is not the newest for long.
 */
#define FOLLOWS								\
	((mem[TABLE] != 0 && live == mem[TABLE] && mem[STATE] != LIVE(live)) ||	\
	 (mem[TABLE] == 0 && !IS_LIVE(mem[STATE]) && mem[GONE] != ACK(mem[STATE]) && \
	  ACKS))

#ifdef ACK_OF_IMPORTS_ONLY
#define ACKS	had
#else
#define ACKS	true
#endif

inline show_epoch()
{
	atomic {
		ACQUIRE(TICK);
		attached = true;
		epoch++;
		STORE(TICK, EPOCH, epoch);
		RELEASE(TICK)
	}
}

inline rest()
{
	atomic {
		LOAD(TICK, STATE, s);
#ifndef HINT_NOT_RESTED
		STORE(TICK, ABOVE, 0);
#endif
		STORE(TICK, GONE, ACK(s));
		s = 0
	}
}

proctype tick()
{
	byte g, s;
	bool spare = true;
#ifdef ACK_OF_IMPORTS_ONLY
	bool had;
#endif

#ifndef ATTACHED
	if
	:: attached
	:: !attached -> goto attach
	fi;
#endif
again:
	{
end:	do
	:: atomic {
		attached && (FOLLOWS || spare) ->
		spare = spare && FOLLOWS;
#ifdef STATE_BEFORE_LOCK
		LOAD(TICK, STATE, s)
	   }
	   atomic {
#endif
		ACQUIRE(TICK);
#ifndef STATE_BEFORE_LOCK
		LOAD(TICK, STATE, s);
#endif
		g = mem[TABLE];
		if
		:: g != 0 && live == g && s != LIVE(g) ->
			assert(mem[STATE] != LIVE(g));
			live = 0;
#ifdef ACK_BEFORE_ZAP
			STORE(TICK, GONE, ACK(s));
#endif
#ifdef ACK_OF_IMPORTS_ONLY
			had = true;
#endif
			RELEASE(TICK)
		:: g == 0 && !IS_LIVE(s) && ACKS ->
			STORE(TICK, GONE, ACK(s));
			RELEASE(TICK);
			goto next
		:: else ->			/* or somebody else ends it */
			RELEASE(TICK);
			goto next
		fi;
		g = 0; s = 0
	   }
	   end_import(TICK);
next:
	   atomic { g = 0; s = 0 }
#ifdef FENCED
	:: atomic {
		attached && fenced == epoch ->
#ifdef EPOCH_BEFORE_DROP
		epoch++;
		STORE(TICK, EPOCH, epoch)
	   }
	   atomic {
#endif
		ACQUIRE(TICK);
		attached = false;
		RELEASE(TICK)
	   }
	   atomic {
		if
		:: live != 0 -> live = 0
		:: live == 0 && mem[TABLE] == 0 -> goto attach
		:: live == 0 && mem[TABLE] != 0 -> mem[TABLE] == 0; goto attach
		fi
	   }
	   end_import(TICK);
	   goto attach
#endif
	od;
#ifndef ATTACHED
attach:
#ifdef EPOCH_BEFORE_REST
	show_epoch();
	rest();
#else
	rest();
	show_epoch();
#endif
	goto again
#endif
	}
#ifdef CRASH
	unless {
		atomic {
			down[TICK] ->
			down[TICK] = false;
			g = 0; s = 0
		}
		!down[SYSCALL];
		goto attach
	}
#endif
}

#ifdef FENCED
/* No heartbeat was seen. It changes nothing of the slot: only waits end by it. */
proctype watch()
{
	d_step {
		mem[EPOCH] != 0 ->
		fenced = mem[EPOCH]
	}
}
#endif

#ifdef CRASH
proctype crash()
{
	byte l, v;

	d_step {
		do
		:: sb[SYSCALL]?l,v
		:: sb[TICK]?l,v
		:: sb[USER]?l,v
		:: empty(sb[SYSCALL]) && empty(sb[TICK]) && empty(sb[USER]) -> break
		od;
		for (l : IX(SYSCALL, 0) .. IX(NCPU, 0) - 1) {
			npend[l] = 0;
			fwd[l] = 0
		}
		mem[LOCK] = 0;
		mem[TABLE] = 0;
		live = 0;
		mapped = 0;
		inflight = 0;
		attached = false;
		down[SYSCALL] = true;
		down[TICK] = true;
		l = 0; v = 0
	}
}
#endif

init {
	atomic {
		mem[STATE] = LIVE(FIRST);
		if
#ifndef ATTACHED
		:: true			/* attaches later */
#endif
		:: attached = true; epoch = 1; mem[EPOCH] = 1
		fi;
		run creator();
		run importer();
		run user();
		run tick();
#ifdef FENCED
		run watch();
#endif
#ifdef CRASH
		run crash()
#endif
	}
}
