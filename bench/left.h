/* SPDX-License-Identifier: MIT
 * Estimates how long a benchmark program still takes, for its progress line. */
#ifndef WEIR_BENCH_LEFT_H
#define WEIR_BENCH_LEFT_H

#include <algorithm>
#include <cstddef>

namespace bench {

/* Return: an estimate of the remaining seconds, after @done of @total cases took @spent seconds;
 * negative: too early to tell. The first cases fill the largest sets, so the estimate waits until a
 * tenth of the cases is done. @limit: the program starts no case after this many seconds; 0: no
 * limit. */
inline double seconds_left(size_t done, size_t total, double spent, double limit)
{
	if (!done || done * 10 < total)
		return -1;
	double left = spent / static_cast<double>(done) * static_cast<double>(total - done);
	return limit > 0 ? std::min(left, std::max(limit - spent, 0.0)) : left;
}

} // namespace bench

#endif
