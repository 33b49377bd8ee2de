/* SPDX-License-Identifier: MIT
 * Filters, and the record that names them (src/set/generation.h), for the models. That file defines
 * the rules [DUAL-WRITE] to [PREVIOUS-WRITTEN].
 *
 * A filter has a bit for each key, which stands for a word of its own. The models need no word that
 * two keys share, because a fetch-or for one key leaves the other key's bits as they are. Filters
 * and records are numbered upwards, and no number is reused, so that a use after a free is noticed.
 * Number 0 means none.
 *
 * The model that includes this file defines INSERTERS (each has its own key), READERS, FILTERS,
 * RECORDS and PEAK (the most filters at a time). */
#ifndef SHARDS
#define SHARDS 1
#endif
#ifndef KEYS
#define KEYS INSERTERS
#endif
#define NONE 0

typedef filter {
	byte bits; /* a bit for each key */
	bit freed
};

typedef record {
	byte current, next, previous;
	bit freed
};

filter filters[FILTERS + 1];
record records[RECORDS + 1];
byte filters_made, filters_live, records_made;
byte published[SHARDS]; /* the current record; a set has one record, except in rolling.pml */
byte promised;          /* a bit for each key whose insert has returned */

#define HAS(f, k) ((filters[f].bits >> (k)) & 1)
#define KEEP(x) assert(!x.freed) /* [FREE-AFTER-GRACE]: freed memory is not used, nor freed again */

inline allocate(f)
{
	d_step {
		filters_made++;
		filters_live++;
		assert(filters_live <= PEAK);
		f = filters_made
	}
}

/* an atomic fetch-or */
inline set_bit(f, k)
{
	d_step { KEEP(filters[f]); filters[f].bits = filters[f].bits | (1 << (k)) }
}

inline free_filter(f)
{
	d_step {
		if
		:: f != NONE ->
			KEEP(filters[f]);
			filters[f].freed = 1;
			filters[f].bits = 0;
			filters_live--
		:: else
		fi
	}
}

inline publish(s, now, then, before)
{
#ifdef TWO_POINTERS
	published[s] = s + 1;
	records[s + 1].current = now;
	records[s + 1].next = then
#else
	d_step {
		records_made++;
		records[records_made].current = now;
		records[records_made].next = then;
		records[records_made].previous = before;
		published[s] = records_made
	}
#endif
}

inline free_record(r)
{
#ifndef TWO_POINTERS
	d_step { KEEP(records[r]); records[r].freed = 1 }
#else
	skip
#endif
}
