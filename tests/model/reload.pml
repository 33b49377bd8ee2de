/* SPDX-License-Identifier: MIT
 * A reload beside inserters and readers (src/set/handle.c, src/set/reload/reload.c): begin, fill
 * next by copy or from the application's record, commit or abort.
 *
 *  - Once an insert has returned, every lookup of its key that starts later finds it, whatever
 *    reload has begun or ended since.
 *  - No filter and no record is used or freed again after it was freed ([FREE-AFTER-GRACE]).
 *  - There are never more than two filters; only a deferred free can leave one more for each
 *    commit.
 *
 * SOURCE: the loader fills next from the application's record. The application writes the record
 * before it inserts, and the loader reads the record after begin.
 *
 * The model does not hash keys ([ANY-SEED]). A filter has one bit for each key, whatever the seed,
 * so filters with two seeds need no further step. The keys that a handle keeps before its first set
 * ([PLACEHOLDER]) are also such a record: inserters write it themselves, in their section, before
 * they insert.
 *
 * Spin knows no stale reads, so tests/schedule checks the memory orders. STORE_BUFFER models the
 * only stale read that matters in a reload: a plain store of the application reaches the loader at
 * any time, at the latest by the grace period that waits for the store's insert.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant SOURCE: holds
 *  variant SOURCE STORE_BUFFER: holds, the grace period brings what was stored before the sections
 *      it waited for
 *  variant CALL_RCU: holds, the next reload may begin before the old filter is freed
 *  variant NEXT_FIRST: holds, an inserter may write the filters of its record in any order
 *  variant READ_BOTH: holds, a lookup may ask next too and need not
 *  variant TWO_LOADERS: holds, one at a time ([ONE-WRITER])
 *  variant TWO_POINTERS: fails, an inserter pairs an old current with a new next ([DUAL-WRITE])
 *  variant READ_TWICE: fails, an inserter reads the record again for next ([DUAL-WRITE])
 *  variant NEXT_ONLY: fails, during a reload readers look in current ([DUAL-WRITE])
 *  variant SEEN_LEAVES: fails, an inserter that meets its bits in current leaves before they are in
 *      next ([DUAL-WRITE])
 *  variant NO_SECTION: fails, no grace period waits for a reader outside a section
 *  variant NO_GRACE_COPY: fails, an inserter that read the old record writes behind the copy's back
 *      ([BEGIN-WAITS])
 *  variant COPY_FIRST: fails, an insert between the copy and begin is lost ([BEGIN-WAITS])
 *  variant COPY_STORE: fails, a copy that stores wipes out an insert into next
 *  variant SOURCE NO_GRACE_COPY: holds, where each store is seen at once
 *  variant SOURCE STORE_BUFFER NO_GRACE_COPY: fails, the store that comes before the insert is not
 *      seen yet ([BEGIN-WAITS])
 *  variant SOURCE SNAPSHOT_BEFORE: fails, what a snapshot older than begin lacks may be in the old
 *      current alone
 *  variant SOURCE SOURCE_LATE: fails, the application inserts first and writes its record then
 *  variant NO_GRACE_FREE: fails, a section still uses the old record and the old filter
 *      ([FREE-AFTER-GRACE])
 *  variant NO_GRACE_RECORD: fails, the record that begin replaces needs its grace period too
 *      ([FREE-AFTER-GRACE])
 *  variant GUARD: fails, a section that keeps one filter for two lookups can miss what was promised
 *      between them
 *  variant TWO_LOADERS NO_FLAG: fails, two that begin at once free one record twice ([ONE-WRITER])
 *
 *  full INSERTERS=3: three inserters
 */
#ifndef INSERTERS
#define INSERTERS 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifdef TWO_LOADERS
#define LOADERS 2
#else
#define LOADERS 1
#endif
#ifndef RELOADS /* of each loader */
#define RELOADS (3 - LOADERS)
#endif
#define FILTERS (1 + RELOADS * LOADERS)
#define RECORDS (1 + 2 * RELOADS * LOADERS)
#ifdef CALL_RCU
#define PEAK FILTERS
#elif defined(NO_FLAG)
#define PEAK (1 + LOADERS)
#else
#define PEAK 2
#endif
#ifdef SEEN_LEAVES
#define KEYS 1 /* two inserters of one key */
#endif
#include "rcu.h"
#include "generation.h"
#include "threads.h"

byte source; /* the application's record: a bit for each key */

#ifdef STORE_BUFFER
byte buffered; /* stored, and not seen by others yet */
#define WRITE_SOURCE buffered = buffered | (1 << k)
#define FLUSH(keys) source = source | (buffered & (keys)); buffered = buffered & ~(keys)

active proctype memory()
{
	byte k;
end:
	do
	:: d_step { buffered & 1 -> FLUSH(1) }
	:: d_step { buffered & 2 -> FLUSH(2) }
	:: d_step { buffered & 4 -> FLUSH(4) }
	od
}
#else
#define WRITE_SOURCE source = source | (1 << k)
#endif

proctype inserter(byte t)
{
	byte r, f, k = t % KEYS;
#if defined(SOURCE) && !defined(SOURCE_LATE)
	WRITE_SOURCE;
#endif
	insert();
#ifdef SOURCE_LATE
	WRITE_SOURCE
#endif
}

#ifdef SNAPSHOT_BEFORE
#define FROM(k) ((snapshot >> (k)) & 1)
#elif defined(SOURCE)
#define FROM(k) ((source >> (k)) & 1)
#endif
#include "loader.h"

proctype loader(byte g)
{
	byte round, old, kept, next, leaving, k, snapshot;
	bit carried;
	do
	:: round < RELOADS ->
		round++;
		claim();
		find(0);
		allocate(next);
#ifdef SNAPSHOT_BEFORE
		snapshot = source;
#endif
#ifdef COPY_FIRST
		fill(0);
#endif
		open(0);
		if
		:: goto abort
		:: skip
		fi;
#ifndef COPY_FIRST
		fill(0);
#endif
		if
		:: publish(0, next, NONE, NONE);
		   retire(old, NONE, leaving)
		:: skip; /* the gate refuses */
abort:
		   publish(0, old, NONE, NONE);
		   retire(next, NONE, leaving)
		fi;
		snapshot = 0;
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
		run loader(0);
#ifdef TWO_LOADERS
		run loader(1)
#endif
	}
}
