/* SPDX-License-Identifier: MIT
 * What question 3 sets beside each other: every kind of weir's, and what there is otherwise. */
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

/* Makes a set for @n keys at @rate, or of @bits a key where that is not 0. */
using Make = std::function<Made(size_t n, double rate, double bits)>;

/* Is that a size or a rate that the kind has? */
using Can = std::function<bool(size_t n, double rate, double bits)>;

struct Kind {
	std::string name;
	uint32_t words_per_key; /* 0: there is no choice, or it is left to the kind */
	Make make;
	/* few: few points but in a full run; slow: likewise, and none in a quick one; rare: in a
	 * full one only */
	enum { always, few, slow, rare } when;
	bool batch_only = false; /* another set with the same bits: a yardstick's batch verb */
	bool weir = false;
	bool inserts = true, removes = false, counts = false, grows = false;
	Can can = [](size_t, double, double) { return true; };
};

const std::vector<Kind> &kinds();

} // namespace bench

#endif
