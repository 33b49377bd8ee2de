/* SPDX-License-Identifier: MIT
 * The filter sizes to measure on this machine: one size for each level of the memory hierarchy, as
 * large as the time to fill it allows. */
#ifndef WEIR_BENCH_SIZES_H
#define WEIR_BENCH_SIZES_H

#include <cstddef>
#include <vector>

namespace bench {

struct Size {
	const char *fits; /* the level that the filter fits: "L2", "L3", "memory" */
	size_t bytes;
	bool largest; /* true for the largest of the measured sizes */
};
/* Bytes of the caches and of memory, from which the sizes follow. */
struct Room {
	size_t l2, l3, memory;
};
/* There are up to three sizes: half of the L2, half of the L3, and four times the largest cache.
 * Half of the L3 is left out if it is at most twice the L2. The third size is at least 64 MiB, but
 * at most a sixteenth of memory. If @seconds is not 0, a size that takes longer to fill and look up
 * is halved until it is fast enough or at most 16 MiB. A halved size counts for the L2 if it fits
 * the L2, and for the L3 if it is less than twice the largest cache. If two sizes count for one
 * level, only the larger size is measured. */
const std::vector<Size> &sizes(double seconds);
/* Works like sizes(), but for a machine with @room. @each: the seconds to fill one byte and look up
 * its keys, which sizes() measures. */
std::vector<Size> sizes_of(const Room &room, double seconds, double each);
/* Return: a single size, half of the L2, because a filter of this size is filled quickly. */
const std::vector<Size> &smallest_size();
/* Return: the number of keys, to two digits, for which a filter at 1 % has about @bytes bytes.
 * Filters with other rates get this number of keys, too. */
size_t keys_for(size_t bytes);

} // namespace bench

#endif
