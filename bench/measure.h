/* SPDX-License-Identifier: MIT
 * Measures a contender in rounds. Two contenders take turns round by round, so that changes of the
 * machine affect both. */
#ifndef WEIR_BENCH_MEASURE_H
#define WEIR_BENCH_MEASURE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "keys.h"
#include "sets/set.h"
#include "team.h"

namespace bench {

enum class Op {
	hit,     /* lookups of keys that are there */
	miss,    /* lookups of keys that are not */
	chain,   /* hits; each key depends on the answer before */
	insert,  /* new keys, from empty to capacity */
	present, /* inserts of keys that are there */
	remove,  /* removals of all keys, from capacity to empty */
};

/* The keys of one size: made once, the same for every contender. */
struct Keys {
	Keys(size_t n, size_t misses) : present(make_keys(0, n)), absent_(make_keys(absent, misses))
	{
	}
	const std::vector<uint64_t> &of(Op op) const { return op == Op::miss ? absent_ : present; }
	std::vector<uint64_t> present, absent_;
};

/* Does a round take all keys, whatever its count? */
inline bool takes_all(Op op) { return op == Op::insert || op == Op::remove; }

/* The cost of one round. */
struct Cost {
	/* a key: CPU time, which leaves out the turns of other processes, or the clock's time if
	 * @wall was given */
	double ns;
	double busy; /* the share of the clock's time that a thread had its CPU, 0 to 1 */
	double keys; /* of this round */
};

/* @first: the number of the round's first key; @count: how many keys, wrapping at the end. An
 * operation that takes all keys repeats them until a round has about a million. @wall: see Cost. */
Cost measure(Team &team, Set &set, Op op, const Keys &keys, size_t first, size_t count, bool wall);

/* Robust figures of many rounds. */
struct Series {
	std::vector<double> values;
	double median() const { return quantile(0.5); }
	double spread() const { return (quantile(0.75) - quantile(0.25)) / median(); }
	double quantile(double q) const;
};

struct Facts {
	double bits_per_key;
	double rate;   /* measured over absent keys, filled to capacity */
	uint64_t lost; /* false negatives */
};

/* Fills the set to capacity and looks up all present and absent keys. */
Facts fill_and_ask(Set &set, const Keys &keys);

/* Load average over the last minute. */
double load_average();
std::string cpu_name();

} // namespace bench

#endif
