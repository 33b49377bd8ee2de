/* SPDX-License-Identifier: MIT
 * Draws ranks 0 to n-1, rank r with a probability proportional to (r+1)^-s, in constant time and
 * memory: rejection-inversion. Source: Hörmann, Derflinger, Rejection-inversion to generate
 * variates from monotone discrete distributions, ACM TOMACS 6(3), 1996. */
#ifndef WEIR_BENCH_ZIPF_H
#define WEIR_BENCH_ZIPF_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include "keys.h"

namespace bench {

class Zipf {
public:
	/* @s: not 1. The default is that of YCSB. */
	explicit Zipf(uint64_t n, double s = 0.99)
	    : n_(static_cast<double>(n)), s_(s), first_(integral(1.5) - 1),
	      last_(integral(n_ + 0.5)), near_(2 - inverse(integral(2.5) - std::pow(2, -s)))
	{
	}

	uint64_t operator()(uint64_t &state) const
	{
		for (;;) {
			double uniform = static_cast<double>(scramble(state++) >> 11) * 0x1p-53;
			double u = last_ + uniform * (first_ - last_);
			double x = inverse(u), k = std::min(std::max(std::floor(x + 0.5), 1.0), n_);
			if (k - x <= near_ || u >= integral(k + 0.5) - std::pow(k, -s_))
				return static_cast<uint64_t>(k) - 1;
		}
	}

private:
	double integral(double x) const { return (std::pow(x, 1 - s_) - 1) / (1 - s_); }
	double inverse(double y) const { return std::pow(1 + y * (1 - s_), 1 / (1 - s_)); }

	double n_, s_, first_, last_, near_;
};

} // namespace bench

#endif
