/* SPDX-License-Identifier: MIT
 * A count-min sketch for one thread: four rows of counters. A hash of the key selects one counter
 * in each row, and the smallest of the four is the key's count. The caller chooses the bytes and
 * the counter's width. Source: Cormode, Muthukrishnan 2005 (count-min); Estan, Varghese 2002
 * (conservative: only the smallest of a key's counters are incremented). */
#ifndef WEIR_BENCH_COUNT_MIN_H
#define WEIR_BENCH_COUNT_MIN_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>
#include "keys.h"

namespace bench {

template <class Counter> class CountMin {
public:
	static constexpr unsigned rows = 4;
	static constexpr Counter most = static_cast<Counter>(~Counter(0));

	CountMin(uint64_t bytes, bool conservative)
	    : width_(bytes / (rows * sizeof(Counter))), cells_(rows * width_),
	      conservative_(conservative)
	{
	}
	uint64_t count(uint64_t key) const
	{
		Counter least = most;
		for (unsigned r = 0; r < rows; r++)
			least = std::min(least, cells_[place(key, r)]);
		return least;
	}
	/* Counts a key. A counter that has reached its maximum keeps its value. */
	void add(uint64_t key)
	{
		uint64_t before = conservative_ ? count(key) : most;
		for (unsigned r = 0; r < rows; r++) {
			Counter &cell = cells_[place(key, r)];
			if (cell < most && cell <= before)
				cell++;
		}
	}

private:
	size_t place(uint64_t key, unsigned row) const
	{
		uint64_t hash = scramble(key + (row + 1) * UINT64_C(0x9E3779B97F4A7C15));
		__extension__ typedef unsigned __int128 wide;
		return row * width_ + static_cast<size_t>(wide(hash) * width_ >> 64);
	}

	size_t width_;
	std::vector<Counter> cells_;
	bool conservative_;
};

} // namespace bench

#endif
