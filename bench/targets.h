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
	const char *isa = nullptr; /* the kernel that weir must take; NULL: the best */
	bool no_filter = false;    /* the machine's limit: it has no keys */
};

struct Comparison {
	const char *question;
	size_t n;
	double rate;
	Side first, second;
	double limit = 0;  /* of the ratio; 0: reported only */
	/* true: the ratio is second / first and must be at least limit; false: it is
	 * first / second and must be at most limit */
	bool gain = false;
	double slack_ns = 0; /* also met if the first takes at most this much longer a key */
	double most_ns = 0;  /* in place of a ratio: the first side's nanoseconds a key; 0: none */
	double most_bits = 0; /* besides: the first side's bits a key; 0: any */
	bool wall = false;   /* a side starts threads itself: the clock counts, not CPU time */
	/* the machine's own limit: printed with the promises for comparison */
	bool machine = false;
};

std::vector<Comparison> targets();

} // namespace bench

#endif
