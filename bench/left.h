/* SPDX-License-Identifier: MIT
 * How long a program of the benchmark still takes, for its line of progress. */
#ifndef WEIR_BENCH_LEFT_H
#define WEIR_BENCH_LEFT_H

#include <algorithm>
#include <cstddef>

namespace bench {

/* Estimates the seconds left after @done of @total cases took @spent seconds; negative: too early
 * to say. The first cases fill larger sets than the rest, so the estimate waits until a tenth is
 * done. A program that leaves out late cases ends within @limit seconds (0: it has no limit). */
inline double seconds_left(size_t done, size_t total, double spent, double limit)
{
	if (!done || done * 10 < total)
		return -1;
	double left = spent / static_cast<double>(done) * static_cast<double>(total - done);
	return limit > 0 ? std::min(left, std::max(limit - spent, 0.0)) : left;
}

} // namespace bench

#endif
