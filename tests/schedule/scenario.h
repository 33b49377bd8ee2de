/* SPDX-License-Identifier: MIT
 * The common part of the scenarios: the subject, promises, and threads that most scenarios use.
 *
 * A promise is a flag, which a thread stores with release order after an insert has returned. A
 * thread that reads the flag with acquire order must find the key. No other order holds between the
 * threads. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_H

#include "det.h"
#include "subject.h"

enum { PROMISES = 4 };

struct scenario {
	const char *name;
	/* The group's name. Groups of single filters: insert, whole, load, counters, cuckoo,
	 * growing. Groups of handles: reload, batch, previous, writers, retire, refresh, absent,
	 * full, removal, sharded. Other groups: window, guard, router, text. */
	const char *group;
	void (*body)(void);
	bool (*fits)(const struct subject *s);
	/* called before a run, and may set subject for the run; or NULL */
	bool (*prepare)(void);
	/* search depth-first only layouts with at most this many words a key; 0: all layouts */
	unsigned search_words;
	/* preemptions of a depth-first search without --preemptions; 0: the default */
	int preemptions;
	/* in every layout, loads choose only between values that differ in the bits of the thread's
	 * own keys */
	bool narrowed;
	bool batches; /* passes batches of several keys: hashes (form HASH), keys or fixed keys */
	bool one_seed; /* the filters of the handle must have one seed */
	bool one_form; /* the scenario calls the library directly, so it runs in form HASH only */
	/* the program breaks a rule of the headers, and a search must find a broken promise */
	bool wrong;
	/* divides the number of random executions, because each takes long; 0: do not divide */
	unsigned cost;
};

extern const struct subject *subject; /* the subject of the current run */
/* Each list ends with a NULL name. */
extern const struct scenario insert_scenarios[], whole_scenarios[], load_scenarios[],
	counters_scenarios[], cuckoo_scenarios[], cuckoo_room_scenarios[], growing_scenarios[];
extern const struct scenario reload_scenarios[], batch_scenarios[], previous_scenarios[],
	writers_scenarios[], retire_scenarios[], refresh_scenarios[], absent_scenarios[],
	full_scenarios[], void_scenarios[], removal_scenarios[], sharded_scenarios[],
	sharded_writers_scenarios[], way_out_scenarios[], window_scenarios[], guard_scenarios[],
	router_scenarios[], text_scenarios[];

/* Starts a scenario: empties the subject's filters and takes back all promises. */
void scenario_begin(void);
/* Declares that the running thread acts only on these keys (bit i: key i). In layouts of many
 * words, the thread's loads then choose only between values that differ in these keys' bits. */
void acts_on_keys(unsigned keys);
/* Return: alternately the other seed and the subject's seed. So if two threads begin a reload at
 * once, one may choose the current filter's seed. */
uint64_t alternate_seed(void);
void promise(unsigned i);
bool promised(unsigned i);

static inline uint64_t hash_of(unsigned key)
{
	return subject->key[key].hash;
}

/* The argument of a thread that inserts key @key, records the answer and promises @slot. */
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

/* The gate of each reload that has no gate of its own. Without any gate, a commit reads the words
 * of the next filter. Those loads would lengthen every schedule without an effect on other
 * threads. */
extern const struct weir_gate any_hashes;

#endif
