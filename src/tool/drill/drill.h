/* SPDX-License-Identifier: MIT
 * A drill rehearses a server: readers, inserters and a loader work on one handle.
 *
 * Each reader and each inserter writes its own struct, and the loader writes struct loads. During
 * the drill, other threads read only the atomic fields. They read the other fields after the
 * threads have ended. */
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

/* Finds a flavor by its name, such as "bp" or "memb". Return: false after a message that lists the
 * flavors. */
bool flavor_find(const char *name, struct flavor *out);

/* A thread calls flavor_enter() first and flavor_leave() last. All flavor calls are no-ops for
 * bp. */
void flavor_enter(const struct flavor *flavor);
void flavor_leave(const struct flavor *flavor);
/* Tells liburcu that the thread uses no filter now, so that a grace period can end. Call regularly,
 * between uses of the handle. */
void flavor_quiet(const struct flavor *flavor);
/* Call flavor_sleep() before a sleep and flavor_wake() after it. Grace periods do not wait for a
 * sleeping thread. */
void flavor_sleep(const struct flavor *flavor);
void flavor_wake(const struct flavor *flavor);

/* ---- a drill ---- */

struct drill;

/* An inserter's log of the hashes of its keys, from which a reload inserts them again. An
 * application keeps its own log for reloads. */
struct record {
	uint64_t *hashes;
	uint64_t room;
	/* number of keys whose insert has begun, which a reload inserts */
	_Alignas(64) _Atomic uint64_t begun;
	/* number of keys whose insert has returned, which every lookup must find */
	_Atomic uint64_t inserted;
};

/* In an array of two elements, [0] is measured while no reload runs, and [1] during reloads. */
struct inserter {
	struct drill *drill;
	struct record record;
	unsigned number;
	uint64_t made[2];
	uint64_t ticks[2]; /* spent on inserts, without the pauses between rounds */
};

struct reader {
	struct drill *drill;
	unsigned number;
	uint64_t random;
	struct histogram latency[2]; /* ticks of single lookups, minus the clock's cost */
	uint64_t lookups[2];         /* number of lookups timed by @ticks */
	uint64_t ticks[2];
	uint64_t lost;
	_Alignas(64) _Atomic uint64_t checked; /* number of lookups so far */
};

struct loads {
	double *seconds; /* duration of each published reload */
	size_t n, room;
	uint64_t rollbacks, aborted;
	double busy;              /* seconds during which a reload ran */
	uint64_t bytes_most;      /* peak size of all filters together */
	double fp_rate_most;      /* highest false-positive rate of a filter, measured just before
	                             the filter was published */
};

struct drill {
	/* the options */
	struct fill fill;
	struct weir_params params;
	unsigned readers, inserters;
	double seconds, every;
	double pace; /* weir_reload_options.pace; 0: no limit */
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
	atomic_uint ready, phase; /* @phase is odd while a reload runs */
	atomic_bool go, over, failed;
	atomic_uint_fast64_t swaps, lost;
	/* the results */
	double lasted;
	uint64_t peak_memory;
	uint64_t checked_at_end, lost_at_end;
	struct weir_stats stats;
	struct probe probe;
	unsigned cpus;
	double load; /* load average before the drill, from other processes */
};

/* source.c: hashes the keys, and makes the first filter and the handle. Return: TOOL_OK, or
 * TOOL_TROUBLE after a message. */
int drill_prepare(struct drill *d);
void drill_free(struct drill *d);

/* drill.c: runs the threads for the time asked. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int drill_run(struct drill *d);
/* Return: the elapsed share of the drill's time. The share exceeds 1 if the drill runs over its
 * time. */
double drill_part(const struct drill *d);
/* Adds @keys to the number of lost keys. Prints the message only if fewer than 5 keys were lost
 * before. */
void drill_lost(struct drill *d, uint64_t keys, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports the first error of a thread, and ends all threads. */
void drill_fail(struct drill *d, int err);

/* The main functions of a reader, an inserter and the loader. load.c defines drill_load(), and
 * threads.c defines drill_read() and drill_insert(). */
void drill_read(struct reader *r);
void drill_insert(struct inserter *i);
void drill_load(struct drill *d);

/* check.c: looks up all keys once more, after the threads have ended. */
int drill_check(struct drill *d);

void drill_report(const struct drill *d);

/* Writes a key of DRILL_KEY_BYTES bytes that differs from every line of the files, since the key
 * begins with the delimiter that ends a line. */
enum { DRILL_KEY_BYTES = 16 };
enum drill_key_kind { DRILL_INSERTED = 1, DRILL_ABSENT = 2 };
void drill_key(const struct drill *d, char *key, enum drill_key_kind kind, unsigned thread,
               uint64_t number);

uint64_t drill_random(uint64_t *state);

#endif
