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
	double rate; /* asked, or what the layout's own formula expects */
};

/* Makes a set for @n keys at @rate or, if @bits is not 0, with @bits a key. */
using Make = std::function<Made(size_t n, double rate, double bits)>;

/* Can the kind make a set of this rate or this size? */
using Can = std::function<bool(size_t n, double rate, double bits)>;

struct Kind {
	std::string name;
	uint32_t words_per_key; /* 0: the kind chooses, or does not have this number */
	Make make;
	/* few: few points except in a full run; slow: the same, and left out of a quick run; rare:
	 * only in a full run */
	enum { always, few, slow, rare } when;
	bool batch_only = false; /* another set with the same bits: a yardstick's batch verb */
	bool weir = false;
	bool inserts = true, removes = false, counts = false, grows = false;
	Can can = [](size_t, double, double) { return true; };
};

const std::vector<Kind> &kinds();

} // namespace bench

#endif
