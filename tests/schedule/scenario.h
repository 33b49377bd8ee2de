/* SPDX-License-Identifier: MIT
 * The common part of the scenarios: the subject, promises, and the threads that most of them use.
 *
 * A promise is a flag, stored with release order after an insert has returned. A thread that reads
 * it with acquire order must see the key. No other order holds between the threads. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_H

#include "det.h"
#include "subject.h"

enum { PROMISES = 4 };

struct scenario {
	const char *name;
	/* insert, whole, load, counters, cuckoo, growing; of a handle: reload, batch, previous,
	 * writers, retire, refresh, absent, full, removal, sharded; window; guard; router; text */
	const char *group;
	void (*body)(void);
	bool (*fits)(const struct subject *s);
	/* called before a run; may set subject for the run; NULL: nothing to do */
	bool (*prepare)(void);
	/* depth-first only in layouts with at most this many words a key; 0: in all */
	unsigned search_words;
	/* the preemptions of a depth-first search unless an option sets them; 0: the default */
	int preemptions;
	/* in every layout, only the bits of a thread's own keys tell its loads apart */
	bool narrowed;
	bool batches; /* batches of several keys: as hashes (the form is HASH), keys, fixed ones */
	bool one_seed; /* of a handle whose filters must hash alike */
	bool one_form; /* it calls verbs that have no forms */
	/* the program breaks a rule of the headers, and a search must find a broken promise */
	bool wrong;
	/* divides the random executions, because each takes that much longer; 0: do not divide */
	unsigned cost;
};

extern const struct subject *subject; /* of the current run */
/* each ends with a NULL name */
extern const struct scenario insert_scenarios[], whole_scenarios[], load_scenarios[],
	counters_scenarios[], cuckoo_scenarios[], cuckoo_room_scenarios[], growing_scenarios[];
extern const struct scenario reload_scenarios[], batch_scenarios[], previous_scenarios[],
	writers_scenarios[], retire_scenarios[], refresh_scenarios[], absent_scenarios[],
	full_scenarios[], void_scenarios[], removal_scenarios[], sharded_scenarios[],
	sharded_writers_scenarios[], way_out_scenarios[], window_scenarios[], guard_scenarios[],
	router_scenarios[], text_scenarios[];

/* Start with empty filters and no promise. */
void scenario_begin(void);
/* The running thread acts only on these keys (bit i: key i). In layouts of many words a search then
 * tells loaded values apart only by the bits of these keys. */
void works_on(unsigned keys);
/* The other seed, then the subject's own, and so on. So if two threads begin a reload at once, one
 * may choose the current filter's seed. */
uint64_t seed_in_turn(void);
void promise(unsigned i);
bool promised(unsigned i);

static inline uint64_t hash_of(unsigned key)
{
	return subject->key[key].hash;
}

/* A thread that inserts key @key, notes the answer and promises @slot. */
struct insertion {
	unsigned key;
	unsigned slot;
};
extern int answer[PROMISES];
void insert_thread(void *insertion);

static inline bool one_line(const struct subject *s)
{
	return s->bytes == 64;
}

/* The gate of each reload without a gate of its own. Without a gate a commit reads the words of the
 * next filter. Those loads would lengthen every schedule, and the other threads would notice
 * nothing. */
extern const struct weir_gate any_hashes;

#endif
