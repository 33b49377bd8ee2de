/* SPDX-License-Identifier: MIT
 * The contenders of bench_choice: every kind of weir, and the alternatives. */
#ifndef WEIR_BENCH_CHOICE_KINDS_H
#define WEIR_BENCH_CHOICE_KINDS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "sets/set.h"

namespace bench {

struct Made {
	std::unique_ptr<Set> set;
	double rate; /* the rate asked for; if bits per key were asked for, the rate by the layout's
	                formula */
};

/* Makes a set for @n keys, with @bits bits per key if @bits is not 0, else at @rate. */
using Make = std::function<Made(size_t n, double rate, double bits)>;

/* Returns true if the kind can make a set of this rate or this size. */
using Can = std::function<bool(size_t n, double rate, double bits)>;

struct Kind {
	std::string name;
	uint32_t words_per_key; /* 0: the kind has no such number, or chooses the number itself */
	Make make;
	/* When to measure the kind. A full run measures all kinds at all rates and sizes. Other
	 * runs measure kinds marked "few" or "slow" at fewer rates and sizes. A quick run leaves
	 * out kinds marked "slow", and only a full run measures kinds marked "rare". */
	enum { always, few, slow, rare } when;
	bool batch_only = false; /* true: only batches; another Kind measures single keys */
	bool weir = false;
	bool inserts = true, removes = false, counts = false, grows = false;
	Can can = [](size_t, double, double) { return true; };
};

const std::vector<Kind> &kinds();

} // namespace bench

#endif
