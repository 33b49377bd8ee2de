/* SPDX-License-Identifier: MIT
 * What a writer of a handle does, for the models: it claims the handle, begins, fills next,
 * publishes, and leaves what is not published any more to a grace period.
 *
 * Its variables are its process's: old and kept, the filters that its record named; next; leaving,
 * the record itself; g, the grace period that is its own; k and carried for a copy. */
#ifndef LOADERS
#define LOADERS 1
#endif

bit claimed;      /* H4 */
bit handle_freed; /* destroy.pml */

/* Tried until the answer is not -EBUSY. */
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

/* Each callback has a grace period of its own, begun at once: liburcu's ends no sooner. */
proctype reclaimer(byte g, one, two, r)
{
	grace_end(g);
	free_filter(one);
	free_filter(two);
	free_record(r);
	d_step { assert(!handle_freed); retiring-- }
}
#endif

/* H3: what has left the record, two filters or none, and the record itself. */
inline retire(one, two, r)
{
#ifdef CALL_RCU
	atomic {
		assert(LOADERS + deferred < 4); /* rcu.h has no more grace periods */
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

/* H2: from here on every insert that starts goes to next too, and every other has ended. */
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
	free_record(leaving); /* NO_GRACE_COPY keeps it: that one is not about H3 */
#endif
#endif
	leaving = published[s]
}

/* A word at a time, from old, or as FROM(k) says. */
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
