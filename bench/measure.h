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
	hit,     /* lookups of present keys */
	miss,    /* lookups of absent keys */
	chain,   /* hits in which each key depends on the previous answer */
	insert,  /* inserts of new keys, from empty to capacity */
	present, /* inserts of present keys */
	remove,  /* removals of all keys, from capacity to empty */
};

/* The keys for sets of one size. Every contender gets the same keys. */
struct Keys {
	Keys(size_t n, size_t misses) : present(make_keys(0, n)), absent_(make_keys(absent, misses))
	{
	}
	const std::vector<uint64_t> &of(Op op) const { return op == Op::miss ? absent_ : present; }
	std::vector<uint64_t> present, absent_;
};

/* Return: true if a round uses all keys, whatever the argument count of measure() says. */
inline bool takes_all(Op op) { return op == Op::insert || op == Op::remove; }

/* The cost of one round. */
struct Cost {
	/* CPU time per key, which excludes the time of other processes. If the argument wall of
	 * measure() is true: the clock's time per key. */
	double ns;
	double busy; /* share of the elapsed time in which a thread had its CPU, 0 to 1 */
	double keys; /* number of keys in this round */
};

/* @first: the number of the round's first key; @count: the number of keys. After the last key the
 * round goes on at key 0. An operation that takes all keys ignores @first and @count. If there are
 * few keys, it is repeated until it has processed about a million keys. @wall: see Cost. */
Cost measure(Team &team, Set &set, Op op, const Keys &keys, size_t first, size_t count, bool wall);

/* Robust statistics of many rounds. */
struct Series {
	std::vector<double> values;
	double median() const { return quantile(0.5); }
	double spread() const { return (quantile(0.75) - quantile(0.25)) / median(); }
	double quantile(double q) const;
};

struct Facts {
	double bits_per_key;
	double rate;   /* share of absent keys found when the set is full */
	uint64_t lost; /* false negatives */
};

/* Fills the set to capacity and looks up all present and absent keys. */
Facts fill_and_ask(Set &set, const Keys &keys);

/* Load average of the last minute. */
double load_average();
std::string cpu_name();

} // namespace bench

#endif
