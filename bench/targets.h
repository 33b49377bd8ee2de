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
	const char *isa = nullptr; /* the kernel weir is to take; NULL: the best */
	bool no_filter = false;    /* the machine's limit: it has no keys */
};

struct Comparison {
	const char *question;
	size_t n;
	double rate;
	Side first, second;
	double limit = 0;  /* of the ratio; 0: reported only */
	/* the ratio is second / first, to be at least limit; else first / second, to be at most
	 * limit */
	bool gain = false;
	double slack_ns = 0; /* or this much longer a key, whatever the ratio */
	double most_ns = 0;  /* in place of a ratio: the first side's nanoseconds a key; 0: none */
	double most_bits = 0; /* besides: the first side's bits a key; 0: any */
	bool wall = false;   /* a side has threads of its own: the clock counts, not one's CPU */
	/* what the machine itself allows: printed with the promises, to read them against */
	bool machine = false;
};

std::vector<Comparison> targets();

} // namespace bench

#endif
