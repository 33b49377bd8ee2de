/* SPDX-License-Identifier: MIT
 * What the scenarios share: the subject, promises, and the threads that most of them are made of.
 *
 * A promise is a flag stored with release order after an insert has returned; whoever reads it
 * with acquire order must see the key. That is the only order between the threads. */
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
	/* before a run; may put its own in subject's place for it; NULL: nothing to do */
	bool (*prepare)(void);
	/* a depth-first search is for layouts of at most so many words a key; 0: for all */
	unsigned search_words;
	/* a depth-first search goes up to so many unless an option sets it; 0: as the others */
	int preemptions;
	/* in every layout a thread's loads are distinguished by the bits of its own keys only */
	bool narrowed;
	bool batches; /* of several keys: of hashes (the form is HASH), of keys, of fixed ones */
	bool one_seed; /* of a handle, whose filters must hash alike */
	bool one_form; /* it calls verbs that have no forms */
	/* of a program that breaks a rule of the headers: a search must find a broken promise */
	bool wrong;
	/* how many times fewer random executions, since one takes so much longer; 0: none */
	unsigned cost;
};

extern const struct subject *subject; /* of the run under way */
/* up to a NULL name */
extern const struct scenario insert_scenarios[], whole_scenarios[], load_scenarios[],
	counters_scenarios[], cuckoo_scenarios[], cuckoo_room_scenarios[], growing_scenarios[];
extern const struct scenario reload_scenarios[], batch_scenarios[], previous_scenarios[],
	writers_scenarios[], retire_scenarios[], refresh_scenarios[], absent_scenarios[],
	full_scenarios[], void_scenarios[], removal_scenarios[], sharded_scenarios[],
	sharded_writers_scenarios[], way_out_scenarios[], window_scenarios[], guard_scenarios[],
	router_scenarios[], text_scenarios[];

/* An empty filter, no promise. */
void scenario_begin(void);
/* The running thread acts on these keys alone (bit i: key i): in layouts of many words a search
 * distinguishes the values that it may load by the bits of these keys only. */
void works_on(unsigned keys);
/* The other seed, then the subject's own, and so on. Of two threads that begin a reload at once one
 * may thus choose the current filter's. */
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

/* The gate of each reload that has no other. A commit without a gate looks at the words of the next
 * filter: each load is one more step of a schedule, and others see the same. */
extern const struct weir_gate any_hashes;

#endif
