/* SPDX-License-Identifier: MIT
 * A drill rehearses a server: readers, inserters and a loader work on one handle.
 *
 * Each reader and each inserter writes its own struct, and the loader writes struct loads. Other
 * threads read only the atomic fields during the drill, and the rest after the threads end. */
#ifndef WEIR_TOOL_DRILL_H
#define WEIR_TOOL_DRILL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <weir/weir.h>
#include "images/probe.h"
#include "input/fill.h"
#include "ticks.h"

/* ---- liburcu's flavors in this build ---- */

struct rcu_flavor_struct;

struct flavor {
	const char *name;
	const struct rcu_flavor_struct *rcu; /* NULL: urcu-bp, the library's default */
};

/* Finds "bp", "memb", ... Return: false after a message that lists the flavors. */
bool flavor_find(const char *name, struct flavor *out);

/* The first and the last call of a thread. All these calls are no-ops for bp. */
void flavor_enter(const struct flavor *flavor);
void flavor_leave(const struct flavor *flavor);
/* Call regularly, while the thread holds no filter of the handle: ends a grace period's wait. */
void flavor_quiet(const struct flavor *flavor);
/* Call before and after a sleep, so that grace periods do not wait for the thread. */
void flavor_sleep(const struct flavor *flavor);
void flavor_wake(const struct flavor *flavor);

/* ---- a drill ---- */

struct drill;

/* An inserter's log of its keys, as hashes. An application keeps such a log itself. */
struct record {
	uint64_t *hashes;
	uint64_t room;
	_Alignas(64) _Atomic uint64_t noted; /* raised before an insert: the loader reads these */
	/* raised after the insert has returned; every lookup must find these */
	_Atomic uint64_t promised;
};

/* Figures of two elements: [0] while no reload runs, [1] while one does. */
struct inserter {
	struct drill *drill;
	struct record record;
	unsigned number;
	uint64_t made[2];
	uint64_t ticks[2]; /* of the rounds of inserts, without the pauses between */
};

struct reader {
	struct drill *drill;
	unsigned number;
	uint64_t random;
	struct histogram latency[2]; /* ticks, without the clock's cost */
	uint64_t lookups[2];         /* of blocks timed as a whole, and below their time */
	uint64_t ticks[2];
	uint64_t lost;
	_Alignas(64) _Atomic uint64_t checked; /* all lookups so far */
};

struct loads {
	double *seconds; /* of each reload that was published */
	size_t n, room;
	uint64_t rollbacks, aborted;
	double busy;              /* seconds with a reload running */
	uint64_t bytes_most;      /* peak of bits in all filters together */
	double fp_rate_most;      /* highest rate of a filter just before it was published */
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

/* source.c: hashes the keys, and makes the first filter and the handle. Return: TOOL_OK, or
 * TOOL_TROUBLE after a message. */
int drill_prepare(struct drill *d);
void drill_free(struct drill *d);

/* drill.c: runs the threads for the time asked. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int drill_run(struct drill *d);
/* Return: the share of the time that is over, 0 to 1 and beyond. */
double drill_part(const struct drill *d);
/* Counts keys that were not found, and reports the first few. */
void drill_lost(struct drill *d, uint64_t keys, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports the first error of a thread, and ends all threads. */
void drill_fail(struct drill *d, int err);

/* The work of the threads: threads.c, and load.c for the loader. */
void drill_read(struct reader *r);
void drill_insert(struct inserter *i);
void drill_load(struct drill *d);

/* check.c: looks all keys up once more, after the threads have ended. */
int drill_check(struct drill *d);

void drill_report(const struct drill *d);

/* Makes a key that no line can be: it begins with the delimiter, which ends a line. */
enum { DRILL_KEY_BYTES = 16 };
enum drill_key_kind { DRILL_INSERTED = 1, DRILL_ABSENT = 2 };
void drill_key(const struct drill *d, char *key, enum drill_key_kind kind, unsigned thread,
               uint64_t number);

uint64_t drill_random(uint64_t *state);

#endif
