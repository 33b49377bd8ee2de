/* SPDX-License-Identifier: MIT
 * Measures a set in rounds. Each thread of a team gets its keys beforehand, then all threads start
 * together. Before a round the set is brought to the state that the operation needs, which is not
 * timed. */
#ifndef WEIR_BENCH_WORK_H
#define WEIR_BENCH_WORK_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>
#include "sets/set.h"
#include "team.h"
#include "zipf.h"

namespace bench {

enum class Verb {
	hit,    /* lookups of present keys */
	miss,   /* lookups of absent keys */
	insert, /* inserts of new keys, from empty to capacity */
	mixed,  /* 19 hits per insert of a new key, from half of the capacity to all of it */
	zipf,   /* inserts by Zipf's law (0.99): a few keys are frequent */
	remove, /* removals of present keys, from capacity to empty */
	count,  /* counts of present keys */
};
const char *name_of(Verb verb);

/* Sums over one or more rounds. */
struct Tally {
	double keys = 0, ns = 0;
	double wall_ns = 0, waited_ns = 0; /* waited_ns: time without a CPU */
	uint64_t lost = 0;                 /* false negatives, refused removals, counts of 0 */
	void add(const Tally &other);
};

/* The measured properties of a filled set. */
struct Quality {
	double bits_per_key = 0;
	unsigned words_per_key = 0;        /* only for a blocked filter */
	double fp_asked = 0, fp_measured = 0;
	/* half the 99 % interval of the measured rate, as a share of that rate; 1 if no absent key
	 * was found */
	double fp_interval = 1;
	uint64_t lost = 0;      /* keys that were inserted but not found, among all keys */
};

class Work {
public:
	/* @n: the number of keys that the set is made for. */
	Work(std::unique_ptr<Set> set, size_t n);

	/* Fills the set, with all CPUs if several threads may insert, and looks up every key. Then
	 * looks up absent keys: enough for a 99 % interval within 10 % at @rate, but at most @most.
	 * It looks up 100,000 absent keys even if these limits are lower. */
	Quality fill(double rate, size_t most);
	/* @each: keys per thread. Measures CPU time for one thread, else the clock's time. */
	Tally round(Team &team, Verb verb, size_t each);
	Set &set() { return *set_; }
	/* Return: keys per thread in a round: 32,768 (256 KiB) if the filter fits the second-level
	 * cache, so that the keys evict less of the filter; 131,072 for a larger filter. */
	size_t usual() const;

private:
	void prepare(Team &team, Verb verb, size_t each);
	void empty();
	void fill_to(size_t held);
	uint64_t count(uint64_t first, size_t n);
	uint64_t run(Verb verb, unsigned thread, size_t each);
	void draw();

	std::unique_ptr<Set> set_;
	size_t n_;
	size_t held_ = 0;        /* keys 0 to held_ - 1 are in the set */
	bool empty_ = false;     /* the set was cleared, and no key was inserted since */
	/* number of keys in all earlier rounds, so that the next round looks up other keys */
	uint64_t asked_ = 0;
	size_t drawn_ = 0;       /* number of draws that earlier rounds have used */
	std::vector<uint64_t> draws_;
	std::vector<std::vector<uint64_t>> keys_, fresh_; /* one vector per thread */
};

/* Return: the team of @threads threads. It is made once and sleeps between uses. */
Team &team_of(unsigned threads);

} // namespace bench

#endif
