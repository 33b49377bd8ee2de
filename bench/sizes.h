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
/* Bytes of the caches and of memory, which decide the sizes. */
struct Room {
	size_t l2, l3, memory;
};
/* Half of the L2; half of the L3, if that is more than twice the L2; and four times the largest
 * cache. If @seconds is not 0, a size that would take longer to fill and look up whole is halved
 * until it does not, or is 16 MiB. It may then fit a cache again, and stands for that cache. If two
 * sizes stand for one place, the larger stays. */
const std::vector<Size> &sizes(double seconds);
/* The same for any machine. @each: the seconds that a byte costs, which sizes() measures. */
std::vector<Size> sizes_of(const Room &room, double seconds, double each);
/* Half of the L2 alone, which fills quickly. */
const std::vector<Size> &smallest_size();
/* The number of keys, to two digits, for which a filter at 1 % has about @bytes. Every rate is
 * measured with this number. */
size_t keys_for(size_t bytes);

} // namespace bench

#endif
