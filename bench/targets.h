/* SPDX-License-Identifier: MIT
 * The comparisons that bench_targets makes. */
#ifndef WEIR_BENCH_TARGETS_H
#define WEIR_BENCH_TARGETS_H

#include <vector>
#include "measure.h"

namespace bench {

struct Side {
	const char *name;
	Maker make;
	Op op;
	unsigned threads = 1;
	const char *isa = nullptr; /* instruction set that weir must use; NULL: the best */
	bool no_filter = false;    /* true: measures a limit of the machine, and stores no keys */
};

struct Comparison {
	const char *question;
	size_t n;
	double rate;
	Side first, second;
	double limit = 0;  /* limit for the ratio; 0: none */
	/* true: the ratio is second / first and must be at least limit; false: it is first / second
	 * and must be at most limit */
	bool gain = false;
	/* the promise is also met if the first side takes at most this much longer per key than the
	 * second side; 0: only the ratio counts */
	double slack_ns = 0;
	/* not 0: the promise is this limit for the first side's ns per key, and not a ratio */
	double most_ns = 0;
	double most_bits = 0; /* additional limit for the first side's bits per key; 0: none */
	bool wall = false;   /* true: a side starts threads itself, so measure the clock's time */
	/* true: measures a limit of the machine, for comparison with the promises */
	bool machine = false;
};

std::vector<Comparison> targets();

} // namespace bench

#endif
