/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Memory as x86 gives it (TSO): each CPU has a FIFO store buffer in front of
 * one shared memory. The includer defines NCPU, the words (VALUE, ABOVE, ALL,
 * LOCK) come from here, and DRAINED(l) is run after each store that has reached
 * memory. It may define NWORD to have more words, and DRAIN_RMW for more
 * read-modify-writes than ADD.
 *
 * What the CPUs may do:
 *   store        goes to the end of the own buffer, invisible to the others
 *   load         the youngest own buffered store to that word, else memory
 *   full fence   waits until the own buffer is empty
 *   lock         a locked read-modify-write: own buffer empty, then atomic
 *   unlock       a plain store: it passes through the buffer like any other,
 *                so stores made under the lock may still be buffered when
 *                spin_unlock() has returned, but they always drain before it
 *
 * An update of `value` is a buffered store (set) or a buffered addition that
 * is atomic when it drains (add). On x86 both are locked instructions, which
 * contain the fence that follows; splitting them lets the model take the fence
 * away, which is what an architecture with relaxed atomics does.
 *
 * Kernel data that is touched under the event lock alone (queue, claims, the
 * kernel's own state) is not buffered here: lock empties the buffer, unlock
 * drains last, so under the lock TSO shows everyone the same order.
 */

#define VALUE	0	/* the counter */
#define ABOVE	1	/* hint.wake_above */
#define ALL	2	/* hint.flags & WAKE_ALL */
#define LOCK	3	/* the event lock */
#ifndef NWORD
#define NWORD	4
#endif
#define ADD	NWORD	/* buffer entries only: add to VALUE */

#ifndef DRAIN_RMW
#define DRAIN_RMW
#endif

#define NOBODY	7	/* wake_above when nobody waits for growth (U64_MAX) */
#define WRAP	3	/* values are 0..3, modulo 4 */
#define UNKNOWN	7	/* result of an add that has not reached memory */

byte mem[NWORD];
byte newv[NCPU];	/* register: the value after this CPU's last update */
chan sb[NCPU] = [SBLEN] of { byte, byte };
byte npend[NCPU * NWORD];	/* buffered stores per CPU and word ... */
byte fwd[NCPU * NWORD];	/* ... and the youngest of them */

#define IX(c, l)	((c) * NWORD + (l))

#define STORE(c, l, v)	d_step { sb[c]!l,v; npend[IX(c, l)]++; fwd[IX(c, l)] = v }
#define LOAD(c, l, x)	d_step {					\
		if							\
		:: npend[IX(c, l)] > 0 -> x = fwd[IX(c, l)]		\
		:: else -> x = mem[l]					\
		fi }
#define FENCE(c)	(len(sb[c]) == 0)
#define ACQUIRE(c)	d_step { len(sb[c]) == 0 && mem[LOCK] == 0 -> mem[LOCK] = 1 }

/*
 * A late unlock only keeps others waiting, which any schedule can do as well:
 * it drains together with the last store before it, at once if there is none.
 */
#define RELEASE(c)	d_step {					\
		if							\
		:: len(sb[c]) == 0 -> mem[LOCK] = 0			\
		:: nempty(sb[c]) && nfull(sb[c]) -> sb[c]!LOCK,0	\
		fi }

#define SET(c, v)	d_step { sb[c]!VALUE,v; npend[IX(c, VALUE)]++;	\
				 fwd[IX(c, VALUE)] = v; newv[c] = v }
#define FETCH_ADD(c, n)	d_step { sb[c]!ADD,n; newv[c] = UNKNOWN }

#define DRAIN(c)	d_step {					\
		sb[c]?l,v;						\
		if							\
		:: l == ADD ->						\
			mem[VALUE] = (mem[VALUE] + v) & WRAP;		\
			newv[c] = mem[VALUE]				\
		DRAIN_RMW						\
		:: else ->						\
			mem[l] = v;					\
			npend[IX(c, l)]--;				\
			if						\
			:: npend[IX(c, l)] == 0 -> fwd[IX(c, l)] = 0	\
			:: else						\
			fi						\
		fi;							\
		if							\
		:: sb[c]?[LOCK,0] -> sb[c]?LOCK,0; mem[LOCK] = 0	\
		:: else							\
		fi;							\
		DRAINED(l);						\
		l = 0; v = 0 }
