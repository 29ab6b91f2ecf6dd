/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A publisher in user space, and the system calls it makes. The includer
 * defines judge(c), which uses v and more, and counts this process in busy.
 *
 * Killed or not is decided right after the update was issued: the hint loads
 * have no effect on anyone else, so a later death adds nothing. A publisher
 * that lives keeps its mapping: no judgement at release helps it out.
 */
proctype publisher(byte c; byte updates; bool mortal)
{
	byte n, above, v = UNKNOWN;
	bool ring, more, killed;

	do
	:: atomic {
		n < updates && !killed ->
		n++;
		if
		:: SET(c, 0)
		:: SET(c, 2)
		:: FETCH_ADD(c, 1)
		fi;
		if
		:: true
		:: mortal -> killed = true
		fi
	   }
	   if
	   :: !killed ->
		atomic {
#ifndef NO_SE_A
			FENCE(c);	/* SE-A */
#endif
			LOAD(c, ABOVE, above)
		}
		atomic {
			LOAD(c, ALL, ring);
			(newv[c] != UNKNOWN);
			ring = ring || newv[c] > above;
			above = 0;
			newv[c] = 0
		}
	   :: else
#ifndef KILL_WITHOUT_JUDGE
		-> ring = true		/* at release */
#endif
	   fi;
	   if
	   :: ring -> ring = false; judge(c)
	   :: else
	   fi
	:: atomic {
		n == updates || killed ->
		n = 0;
		killed = false;
		newv[c] = 0;
		busy--;
		break
	   }
	od
}
