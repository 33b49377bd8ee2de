/* SPDX-License-Identifier: MIT
 * Inserters and readers, for the models of the handle.
 *
 * The models merge some steps into one. They still find every error: a section that begins sooner
 * or ends later only makes grace periods longer, and a promise that comes later demands less. */
#ifndef SHARD
#define SHARD(k) 0 /* the shard of key k */
#endif

/* Insert key k into the filter that @member of record r names, if there is one. The library does
 * not write a bit that is already set. The model writes it, with the same result. */
#define PUT(member) \
	d_step { KEEP(records[r]); f = records[r].member }; \
	if \
	:: f != NONE -> set_bit(f, k) \
	:: else \
	fi

/* [DUAL-WRITE]: read the record once, inside the section. */
inline insert()
{
	atomic { read_lock(t); r = published[SHARD(k)] }
#ifdef NEXT_ONLY
	if
	:: records[r].next != NONE -> PUT(next)
	:: else -> PUT(current)
	fi;
#else
#ifdef NEXT_FIRST
	PUT(next);
#endif
#ifdef SEEN_LEAVES
	if
	:: d_step { HAS(records[r].current, k) -> KEEP(records[r]) }; goto returned
	:: else
	fi;
#endif
	PUT(current);
#ifdef READ_TWICE
	r = published[SHARD(k)];
#endif
#ifdef ROUTE_TWICE
	r = published[SHARD(k + 1)];
#endif
#ifndef NEXT_FIRST
	PUT(next);
#endif
#ifndef NO_PREVIOUS
	PUT(previous);
#endif
#endif
returned:
	d_step { read_unlock(t); promised = promised | (1 << k); r = 0; f = 0 }
}

#ifndef PROMISED
#define PROMISED(k) ((promised >> (k)) & 1)
#endif

/* A lookup must find the keys that were promised before the lookup began. */
#define MUST_NOW must = PROMISED(k)

#ifndef OWN_READER
inline lookup()
{
	d_step {
		KEEP(records[r]);
		KEEP(filters[records[r].current]);
		seen = HAS(records[r].current, k)
	}
#ifdef READ_BOTH
	if
	:: d_step {
		records[r].next != NONE ->
		KEEP(filters[records[r].next]);
		seen = seen | HAS(records[r].next, k)
	   }
	:: else
	fi;
#endif
	assert(seen || !must)
}

proctype reader(byte t)
{
	byte r, k;
	bit must, seen;
	do
	:: atomic { select(k : 0 .. KEYS - 1); MUST_NOW; read_lock(t); r = published[0] }
	   lookup();
#ifdef GUARD
	   MUST_NOW;
	   lookup();
#endif
	   d_step { read_unlock(t); r = 0; k = 0; must = 0; seen = 0 }
	:: break
	od
}
#endif

inline start_threads()
{
	t = 0;
	do
#if INSERTERS
	:: t < INSERTERS -> run inserter(t); t++
#endif
	:: t >= INSERTERS && t < INSERTERS + READERS -> run reader(t); t++
	:: else -> break
	od
}
