/* SPDX-License-Identifier: MIT
 * The writer of a handle, for the models. The writer claims the handle, begins, fills next and
 * publishes. After a grace period it frees the old record and the filters of that record.
 *
 * A writer's process declares these variables: leaving, the old record; old and kept, the filters
 * of that record; next; g, the process's grace period; k and carried, for a copy. */
#ifndef LOADERS
#define LOADERS 1
#endif

bit claimed;      /* [ONE-WRITER] */
bit handle_freed; /* for destroy.pml */

/* Retry until the answer is not -EBUSY. */
inline claim()
{
#ifndef NO_FLAG
	atomic { !claimed -> claimed = 1 }
#else
	skip
#endif
}

#define RELEASE d_step { old = 0; kept = 0; next = 0; leaving = 0; claimed = 0 }

#ifdef CALL_RCU
byte deferred, retiring;

/* In the model the grace period of a callback begins at once. In liburcu it may begin later, and it
 * ends no sooner. */
proctype reclaimer(byte g, one, two, r)
{
	grace_end(g);
	free_filter(one);
	free_filter(two);
	free_record(r);
	d_step { assert(!handle_freed); retiring-- }
}
#endif

/* [FREE-AFTER-GRACE]: free a record that has left the handle, and up to two filters that left with
 * the record. */
inline retire(one, two, r)
{
#ifdef CALL_RCU
	atomic {
		assert(LOADERS + deferred < 4); /* rcu.h has only four grace periods */
		grace_begin(LOADERS + deferred);
		run reclaimer(LOADERS + deferred, one, two, r);
		deferred++;
		retiring++
	}
#else
#ifndef NO_GRACE_FREE
	grace(g);
#endif
	free_filter(one);
	free_filter(two);
	free_record(r)
#endif
}

inline find(s)
{
	d_step {
		leaving = published[s];
		old = records[leaving].current;
		kept = records[leaving].previous
	}
}

/* [BEGIN-WAITS]: after open(), every new insert also writes to next, and all earlier inserts have
 * ended. */
inline open(s)
{
#ifdef PREVIOUS_ASIDE
	publish(s, old, next, NONE);
#else
	publish(s, old, next, kept);
#endif
#ifdef NO_GRACE_RECORD
	free_record(leaving);
#endif
#ifndef NO_GRACE_COPY
	grace(g);
#ifdef STORE_BUFFER
	d_step { FLUSH(promised) }
#endif
#ifndef NO_GRACE_RECORD
	free_record(leaving); /* NO_GRACE_COPY must break only [BEGIN-WAITS] */
#endif
#endif
	leaving = published[s]
}

/* Copy one word at a time, from old or from FROM(k). */
inline fill(s)
{
	k = 0;
	do
	:: k < KEYS && SHARD(k) != s -> k++
	:: k < KEYS && SHARD(k) == s ->
#ifdef FROM
		carried = FROM(k);
#else
		d_step { KEEP(filters[old]); carried = HAS(old, k) }
#endif
#ifdef COPY_STORE
		carried = carried | HAS(next, k);
		d_step {
			KEEP(filters[next]);
			filters[next].bits = (filters[next].bits & ~(1 << k)) | (carried << k)
		}
#else
		if
		:: carried -> set_bit(next, k)
		:: else
		fi;
#endif
		d_step { carried = 0; k++ }
	:: else -> break
	od;
	k = 0
}
