/* SPDX-License-Identifier: MIT
 * A rehearsal: readers, inserters and a loader at one handle, as in a server, and its results.
 *
 * Each reader and each inserter writes its own struct, the loader struct loads; others read only
 * what is atomic while the drill runs, and all of it after the threads have ended. */
#ifndef WEIR_TOOL_DRILL_H
#define WEIR_TOOL_DRILL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <weir/weir.h>
#include "images/probe.h"
#include "input/fill.h"
#include "ticks.h"

/* ---- liburcu's flavors, as far as this build has them ---- */

struct rcu_flavor_struct;

struct flavor {
	const char *name;
	const struct rcu_flavor_struct *rcu; /* NULL: urcu-bp, the library's default */
};

/* "bp", "memb", ...; false after a message with those that there are. */
bool flavor_find(const char *name, struct flavor *out);

/* What a thread owes its flavor; nothing for bp. */
void flavor_enter(const struct flavor *flavor);
void flavor_leave(const struct flavor *flavor);
/* Now and then: it holds nothing that it found in the handle. */
void flavor_quiet(const struct flavor *flavor);
/* Before and after a sleep: grace periods do not wait for it. */
void flavor_sleep(const struct flavor *flavor);
void flavor_wake(const struct flavor *flavor);

/* ---- a drill ---- */

struct drill;

/* An inserter's record of its keys, as hashes: what an application would write down itself. */
struct record {
	uint64_t *hashes;
	uint64_t room;
	_Alignas(64) _Atomic uint64_t noted; /* before the insert: what the loader may read */
	/* after it has returned: what every lookup must find */
	_Atomic uint64_t promised;
};

/* Each with and without a reload running: [0] without, [1] with. */
struct inserter {
	struct drill *drill;
	struct record record;
	unsigned number;
	uint64_t made[2];
	uint64_t ticks[2]; /* in rounds of inserts, not in the pauses between */
};

struct reader {
	struct drill *drill;
	unsigned number;
	uint64_t random;
	struct histogram latency[2]; /* ticks, the clock's own taken off */
	uint64_t lookups[2];         /* in blocks that were timed as a whole, and their time */
	uint64_t ticks[2];
	uint64_t lost;
	_Alignas(64) _Atomic uint64_t checked; /* all lookups so far */
};

struct loads {
	double *seconds; /* of each reload that was published */
	size_t n, room;
	uint64_t rollbacks, aborted;
	double busy;              /* seconds with a reload running */
	uint64_t bytes_most;      /* of bits, all filters together */
	double fp_rate_most;      /* measured in each filter before it was published */
};

struct drill {
	/* the options */
	struct fill fill;
	struct weir_params params;
	unsigned readers, inserters;
	double seconds, every;
	double pace; /* of the loader; 0: none */
	uint64_t inserts;
	bool inserts_given, by_copy, keep_previous, pin, as_json;
	struct flavor flavor;
	/* the set */
	uint64_t *source; /* hashes of the keys of the files */
	uint64_t n;
	struct weir_handle *handle;
	uint64_t filter_bytes;
	/* the threads */
	struct reader *reader;
	struct inserter *inserter;
	struct loads loads;
	double began;
	atomic_uint ready, phase; /* phase: odd while a reload runs */
	atomic_bool go, over, failed;
	atomic_uint_fast64_t swaps, lost;
	/* the results */
	double lasted;
	uint64_t peak_memory;
	uint64_t checked_at_end, lost_at_end;
	struct weir_stats stats;
	struct probe probe;
	unsigned cpus;
	double load; /* the load average before the drill: work of others */
};

/* source.c: keys to hashes, the first filter, the handle. Return: TOOL_OK, or TOOL_TROUBLE after
 * a message. */
int drill_prepare(struct drill *d);
void drill_free(struct drill *d);

/* drill.c: run the threads for as long as was asked. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int drill_run(struct drill *d);
/* How much of the time is over, 0 to 1 and beyond. */
double drill_part(const struct drill *d);
/* A key was not found: counted, and the first few reported. */
void drill_lost(struct drill *d, uint64_t keys, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* An error after which a thread cannot go on: reported; all threads end. */
void drill_fail(struct drill *d, int err);

/* The work of the threads, each in its file: read.c, insert.c, load.c. */
void drill_read(struct reader *r);
void drill_insert(struct inserter *i);
void drill_load(struct drill *d);

/* check.c: when the threads have ended, everything once more. */
int drill_check(struct drill *d);

void drill_report(const struct drill *d);

/* Any of several kinds of key that no line can be: each begins with the delimiter, which ends a
 * line. */
enum { DRILL_KEY_BYTES = 16 };
enum drill_key_kind { DRILL_INSERTED = 1, DRILL_ABSENT = 2 };
void drill_key(const struct drill *d, char *key, enum drill_key_kind kind, unsigned thread,
               uint64_t number);

uint64_t drill_random(uint64_t *state);

#endif
