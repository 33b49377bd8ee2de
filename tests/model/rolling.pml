/* SPDX-License-Identifier: MIT
 * A rolling reload (src/set/sharded/sharded.h): a set of shards, each with a record of its own, is
 * replaced one shard after another.
 *
 *  - Once an insert has returned, every lookup of its key that starts later finds it.
 *  - Each key lives in one shard, so each lookup reads one filter, either the old or the new.
 *  - No filter and no record is used or freed again after it was freed ([FREE-AFTER-GRACE]).
 *  - There is at most one filter more than there are shards, so the peak of memory is the set and
 *    one shard.
 *
 * The loader claims the set for one shard at a time, and may stop after any shard. Some shards then
 * have new filters and the others have old filters, as during a rolling reload.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant TWO_LOADERS: holds, their shards take turns ([ONE-WRITER])
 *  variant TWO_POINTERS: fails, a table of filters with next beside it is two pointers
 *      ([DUAL-WRITE])
 *  variant READ_TWICE: fails, an inserter reads its shard's record again for next ([DUAL-WRITE])
 *  variant ROUTE_TWICE: fails, it asks another shard's record for next ([DUAL-WRITE])
 *  variant LOOKUP_TWICE: fails, a lookup that reads the record for each word is half old, half new
 *  variant NO_GRACE_COPY: fails, an inserter that read the old record writes behind the copy's back
 *      ([BEGIN-WAITS])
 *  variant NO_GRACE_FREE: fails, a reader still looks in the shard's old filter
 *      ([FREE-AFTER-GRACE])
 *  variant CALL_RCU: fails, the next shard is begun before the last one's old filter is freed: the
 *      peak
 *  variant TWO_LOADERS FLAG_EACH: fails, a flag for each shard lets two shards be held twice: the
 *      peak ([ONE-WRITER])
 *  variant WHOLE_VIEW: fails, two keys looked up in one section can be of two generations of the
 *      set: not promised
 *
 *  full INSERTERS=3: two keys in one shard
 */
#define SHARDS 2
#define SHARD(k) ((k) % SHARDS)
#ifndef INSERTERS
#define INSERTERS 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifdef TWO_LOADERS
#define LOADERS 2
#else
#define LOADERS 1
#endif
#define FILTERS (SHARDS + SHARDS * ROUNDS * LOADERS)
#define RECORDS (SHARDS + 2 * SHARDS * ROUNDS * LOADERS)
#define PEAK (SHARDS + 1)
#define OWN_READER
#include "rcu.h"
#include "generation.h"
#include "threads.h"
#include "loader.h"

proctype inserter(byte t)
{
	byte r, f, k = t;
	insert()
}

#ifdef WHOLE_VIEW
byte made_in[FILTERS + 1]; /* which round */
#endif

/* A lookup of two words. */
proctype reader(byte t)
{
	byte r, f, k;
	bit must;
	do
	:: atomic {
		select(k : 0 .. KEYS - 1);
		MUST_NOW;
		read_lock(t);
		r = published[SHARD(k)]
	   }
	   d_step {
		KEEP(records[r]);
		f = records[r].current;
		KEEP(filters[f]);
		assert(!must || HAS(f, k))
	   }
#ifdef LOOKUP_TWICE
	   r = published[SHARD(k)];
#endif
#ifndef TWO_POINTERS /* changes the record in place; that is not what it is about */
	   d_step {
		KEEP(records[r]);
		KEEP(filters[records[r].current]);
		assert(f == records[r].current)
	   }
#endif
#ifdef WHOLE_VIEW
	   d_step {
		r = published[SHARD(k + 1)];
		KEEP(records[r]);
		assert(made_in[f] == made_in[records[r].current])
	   }
#endif
	   d_step { read_unlock(t); r = 0; f = 0; k = 0; must = 0 }
	:: break
	od
}

#ifdef FLAG_EACH
bit taken[SHARDS];
#define CLAIM atomic { !taken[shard] -> taken[shard] = 1 }
#define LEAVE taken[shard] = 0
#else
#define CLAIM claim()
#define LEAVE skip
#endif

proctype loader(byte g)
{
	byte round, shard, old, kept, next, leaving, k;
	bit carried, stopped;
	do
	:: round < ROUNDS && shard < SHARDS && !stopped ->
		CLAIM;
		find(shard);
		allocate(next);
#ifdef WHOLE_VIEW
		made_in[next] = round + 1;
#endif
		open(shard);
		fill(shard);
		if
		:: publish(shard, next, NONE, NONE);
		   retire(old, NONE, leaving)
		:: publish(shard, old, NONE, NONE); /* abort */
		   retire(next, NONE, leaving);
		   stopped = 1
		fi;
		LEAVE;
		RELEASE;
		shard++
	:: shard == SHARDS || stopped -> round++; shard = 0; stopped = 0
	:: round == ROUNDS -> break
	od
}

init {
	byte t, f;
	atomic {
		do
		:: t < SHARDS -> allocate(f); publish(t, f, NONE, NONE); t++
		:: else -> break
		od;
		start_threads();
		run loader(0);
#ifdef TWO_LOADERS
		run loader(1)
#endif
	}
}
