/* SPDX-License-Identifier: MIT
 * How many cells a set of keys needs.
 *
 * A set peels almost always if it has no more keys than cells / factor. The factor is that of Graf
 * and Lemire (2022), 1.125 from a million keys on and more below, and so is the length of a
 * segment, up to 2^13 cells: longer ones gain nothing up to 2 million keys and leave the cache.
 *
 * Keys fall into parts by chance, and all parts have one size. So a part is made for the mean and
 * six deviations: of a billion parts one would have more. */
#include "kinds/common/fuse_size.h"
#include <math.h>

static const uint64_t most_of_part = UINT64_C(1) << 21; /* keys, on average */
enum { MOST_CHOSEN_SEGMENT_BITS = 13 };

static double factor_of(double keys)
{
	return fmax(1.125, 0.875 + 0.25 * log(1e6) / log(fmax(keys, 2)));
}

static unsigned segment_bits_of(double keys)
{
	double bits = floor(log(fmax(keys, 1)) / log(3.33) + 2.25);
	return (unsigned)fmin(bits, MOST_CHOSEN_SEGMENT_BITS);
}

static unsigned part_bits_of(uint64_t keys)
{
	unsigned bits = 0;
	while (bits < WEIR_FUSE_MOST_PART_BITS && keys >> bits > most_of_part)
		bits++;
	return bits;
}

/* Keys that a part is made for. */
static double keys_of_part(uint64_t keys, unsigned part_bits)
{
	double mean = ceil((double)keys / (double)(UINT64_C(1) << part_bits));
	return part_bits ? mean + 6 * sqrt(mean) : mean;
}

struct weir_fuse weir__fuse_for(uint64_t keys, unsigned width)
{
	const unsigned part_bits = part_bits_of(keys);
	const double part_keys = keys_of_part(keys, part_bits);
	const unsigned bits = segment_bits_of(part_keys);
	const double segments = ceil(part_keys * factor_of(part_keys) / (double)(1u << bits));
	return weir__fuse_shaped(width, bits, (uint32_t)fmax(segments, 3), part_bits);
}

uint32_t weir__fuse_segments_within(uint64_t lines, unsigned width, unsigned segment_bits)
{
	const uint64_t bits = 8 * (64 * lines - WEIR_FUSE_SEED - WEIR_FUSE_SLACK);
	const uint64_t most = (WEIR_FUSE_MOST_CELLS >> segment_bits);
	const uint64_t n = bits / width >> segment_bits;
	return (uint32_t)(n < most ? n : most);
}

bool weir__fuse_sound(uint32_t width, uint32_t segment_bits, uint32_t segments,
                      uint32_t part_bits)
{
	return width >= 1 && width <= WEIR_FUSE_MOST_WIDTH &&
	       segment_bits <= WEIR_FUSE_MOST_SEGMENT_BITS && segments >= 3 &&
	       segments <= WEIR_FUSE_MOST_CELLS >> segment_bits &&
	       part_bits <= WEIR_FUSE_MOST_PART_BITS;
}
