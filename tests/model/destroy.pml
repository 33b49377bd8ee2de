/* SPDX-License-Identifier: MIT
 * The end of a handle (src/set/handle.c): the application clears its pointer to the handle, then
 * destroy waits and frees all.
 *
 * Readers find the handle through the application's pointer, in a section. When destroy is called,
 * the last reload may still be open, and the filters that it left to call_rcu may not be freed yet.
 *
 *  - No filter, no record and no handle is used or freed again after it was freed
 *    ([FREE-AFTER-GRACE]).
 *  - When all processes have ended, everything is freed.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant CALL_RCU: holds, destroy waits for the callbacks
 *  variant NO_GRACE: fails, a reader that found the handle before still uses it
 *  variant STILL_SHOWN: fails, a reader that arrives after the grace period finds the handle
 *  variant FIND_OUTSIDE: fails, no grace period waits for a reader that found the handle outside a
 *      section
 *  variant NO_FLAG: fails, destroy frees records that an open reload still needs ([ONE-WRITER])
 *  variant CALL_RCU NO_BARRIER: fails, a callback uses the handle
 *
 *  full READERS=3: three readers
 */
#define INSERTERS 0
#define KEYS 1
#ifndef READERS
#define READERS 2
#endif
#define FILTERS 2
#define RECORDS 3
#define PEAK 2
#define LOADERS 2 /* grace periods of their own */
#define OWN_READER
#include "rcu.h"
#include "generation.h"
#include "threads.h"
#include "loader.h"

bit shown = 1; /* the application's pointer to the handle */
byte ended;

#define USE_HANDLE assert(!handle_freed)

proctype reader(byte t)
{
	byte r;
	bit found;
	do
	::
#ifdef FIND_OUTSIDE
	   found = shown;
	   read_lock(t);
#else
	   atomic { read_lock(t); found = shown }
#endif
	   if
	   :: found ->
	      d_step { USE_HANDLE; r = published[0] }
	      d_step { KEEP(records[r]); KEEP(filters[records[r].current]) }
	   :: else
	   fi;
	   d_step { read_unlock(t); found = 0; r = 0 }
	:: break
	od;
	ended++
}

/* One reload, if it begins before the application clears its pointer. */
proctype loader(byte g)
{
	byte old, kept, next, leaving;
	if
	:: atomic { shown && !claimed -> claimed = 1 }
	   find(0);
	   allocate(next);
	   open(0);
	   if
	   :: d_step { USE_HANDLE; publish(0, next, NONE, NONE) }
	      retire(old, NONE, leaving)
	   :: d_step { USE_HANDLE; publish(0, old, NONE, NONE) }
	      retire(next, NONE, leaving)
	   fi;
	   USE_HANDLE;
	   RELEASE
	:: skip
	fi;
	ended++
}

proctype destroyer(byte g)
{
	byte old, kept, leaving;
#ifndef STILL_SHOWN
	shown = 0;
#endif
	claim();
#ifndef NO_GRACE
	grace(g);
#endif
#if defined(CALL_RCU) && !defined(NO_BARRIER)
	retiring == 0;
#endif
	find(0);
	free_filter(old);
	free_filter(kept);
	free_record(leaving);
	handle_freed = 1;
	ended == READERS + 1;
#ifdef CALL_RCU
	retiring == 0;
#endif
	assert(filters_live == 0)
}

init {
	byte t;
	atomic {
		allocate(t);
		publish(0, t, NONE, NONE);
		start_threads();
		run loader(0);
		run destroyer(1)
	}
}
