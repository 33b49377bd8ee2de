/* SPDX-License-Identifier: MIT
 * Rollback (src/set/reload/reload.c): a commit keeps the old filter as previous, and inserts go
 * there too until it is dropped.
 *
 * In each round the loader chooses one action: reload (commit and keep, commit and drop, or abort),
 * rollback, or drop. So a reload also runs while previous is kept, with a record of three filters.
 *
 *  - Once an insert has returned, every lookup of its key that starts later finds it, whatever was
 *    published since ([PREVIOUS-WRITTEN]).
 *  - No filter and no record is used or freed again after it was freed ([FREE-AFTER-GRACE]).
 *  - There are never more than three filters; only a deferred free can leave more.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant CALL_RCU: holds
 *  variant NO_PREVIOUS: fails, a key that was inserted into the new filter alone is missing after a
 *      rollback ([PREVIOUS-WRITTEN])
 *  variant KEEP_LATER: fails, a key is missing that was inserted before a second record named
 *      previous ([PREVIOUS-WRITTEN])
 *  variant PREVIOUS_ASIDE: fails, a key is missing that was inserted during a reload that left
 *      previous out of its record ([PREVIOUS-WRITTEN])
 *  variant FREE_KEPT: fails, previous is freed by the commit whose record names it
 *      ([FREE-AFTER-GRACE])
 *  variant DROP_AT_ONCE: fails, an inserter that read the old record still writes to previous
 *      ([FREE-AFTER-GRACE])
 *  variant NO_GRACE_FREE: fails, a reader still looks in the filter that was rejected, replaced or
 *      dropped ([FREE-AFTER-GRACE])
 *
 *  full INSERTERS=2: two inserters
 */
#ifndef INSERTERS
#define INSERTERS 1
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#define FILTERS (1 + ROUNDS)
#define RECORDS (1 + 3 * ROUNDS)
#ifdef CALL_RCU
#define PEAK FILTERS
#else
#define PEAK 3
#endif
#include "rcu.h"
#include "generation.h"
#include "threads.h"
#include "loader.h"

proctype inserter(byte t)
{
	byte r, f, k = t;
	insert()
}

inline commit_and_keep()
{
#ifdef KEEP_LATER
	publish(0, next, NONE, NONE);
#endif
	publish(0, next, NONE, old);
#ifdef FREE_KEPT
	retire(old, kept, leaving)
#else
	retire(kept, NONE, leaving)
#endif
}

inline drop()
{
	publish(0, old, NONE, NONE);
#ifdef DROP_AT_ONCE
	free_filter(kept);
	retire(NONE, NONE, leaving)
#else
	retire(kept, NONE, leaving)
#endif
}

proctype loader(byte g)
{
	byte round, old, kept, next, leaving, k;
	bit carried;
	do
	:: round < ROUNDS ->
		round++;
		claim();
		find(0);
		if
		:: allocate(next);
		   open(0);
		   fill(0);
		   if
		   :: commit_and_keep()
		   :: publish(0, next, NONE, NONE); /* commit */
		      retire(old, kept, leaving)
		   :: publish(0, old, NONE, kept); /* abort */
		      retire(next, NONE, leaving)
		   fi
		:: kept != NONE -> /* rollback */
		   publish(0, kept, NONE, NONE);
		   retire(old, NONE, leaving)
		:: kept != NONE ->
		   drop()
		fi;
		RELEASE
	:: else -> break
	od
}

init {
	byte t;
	atomic {
		allocate(t);
		publish(0, t, NONE, NONE);
		start_threads();
		run loader(0)
	}
}
