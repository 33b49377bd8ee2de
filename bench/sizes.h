/* SPDX-License-Identifier: MIT
 * The sizes of filter that are worth measuring on this machine: one for each place where a
 * filter may lie, as large as the time to fill it allows. */
#ifndef WEIR_BENCH_SIZES_H
#define WEIR_BENCH_SIZES_H

#include <cstddef>
#include <vector>

namespace bench {

struct Size {
	const char *fits; /* "L2", "L3", "memory" */
	size_t bytes;
	bool largest; /* of those that are measured */
};
/* What decides: bytes. */
struct Room {
	size_t l2, l3, memory;
};
/* Half of the L2; half of the L3, where that is more than twice the L2; and four times the
 * largest cache. @seconds, where it is not 0: one that would take longer to fill and to look up
 * whole is halved until it does not. Then it may fit a cache again, and stands for that, or is
 * left out where another does. */
const std::vector<Size> &sizes(double seconds);
/* The same of any machine. @each: what sizes() measures, the seconds that a byte costs. */
std::vector<Size> sizes_of(const Room &room, double seconds, double each);
/* Half of the L2 alone, which takes no time to fill. */
const std::vector<Size> &smallest_size();
/* The number of keys, to two digits, for which a filter at 1 % has about @bytes. Every rate is
 * measured with this number. */
size_t keys_for(size_t bytes);

} // namespace bench

#endif
