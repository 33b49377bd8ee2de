/* SPDX-License-Identifier: MIT
 * The size of a fuse structure for a number of keys, and an estimate of that number from its
 * cells. */
#include <math.h>
#include "kinds/common/fuse.h"

/* The number of cells that a set of keys needs.
 *
 * A set almost always peels if it has at most cells / factor keys. The factor is that of Graf and
 * Lemire (2022): 1.125 from a million keys on, and more for fewer keys. The length of a segment is
 * theirs too, but at most 2^13 cells. Longer segments gain nothing up to 2 million keys, and do not
 * fit the cache.
 *
 * Keys fall into parts at random, and all parts have one size. So a part is sized for the mean plus
 * six standard deviations, which one part in a billion exceeds. */

static const uint64_t most_of_part = UINT64_C(1) << 21; /* the most keys in a part, on average */
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

/* Return: the number of keys that a part is sized for. */
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

/* ---- the keys in a fuse structure ---- */

/* Find the cells that begin in a line of a part. Return: the end of their range, which is excluded.
 * @first: receives its start. */
static uint64_t cells_in(const struct weir_fuse *part, uint64_t line, uint64_t *first)
{
	const uint64_t from = 512 * line, seed = 8 * WEIR_FUSE_SEED;
	const uint64_t bit = from > seed ? from - seed : 0, end = from + 512 - seed;
	const uint64_t last = (end + part->width - 1) / part->width;
	*first = (bit + part->width - 1) / part->width;
	if (*first > part->cells)
		*first = part->cells;
	return last < part->cells ? last : part->cells;
}

/* Each key takes one cell. In the first three and the last two segments of a part, keys take fewer
 * cells than in the other segments. The weights are these ratios, as measured. Weighted by them, a
 * sample represents all cells. */
static const double first_weights[] = { 0.24, 0.57, 0.90 }, last_weights[] = { 0.63, 0.82 };
enum { FIRST = 3, LAST = 2 };

static double weight_of(const struct weir_fuse *part, uint64_t cell)
{
	const uint64_t before = cell >> part->segment_bits;
	const uint64_t behind = (part->cells >> part->segment_bits) - 1 - before;
	return before < FIRST ? first_weights[before] : behind < LAST ? last_weights[behind] : 1;
}

/* Return: the weight of all cells in a part. Sampled parts have at least five segments. */
static double weight_of_all(const struct weir_fuse *part)
{
	double sum = (double)(part->cells >> part->segment_bits) - FIRST - LAST;
	for (unsigned i = 0; i < FIRST; i++)
		sum += first_weights[i];
	for (unsigned i = 0; i < LAST; i++)
		sum += last_weights[i];
	return ldexp(sum, (int)part->segment_bits);
}

void weir__fuse_measure(const struct weir_fuse *part, const uint64_t *words, uint64_t part_lines,
                        uint64_t first, uint64_t n, struct weir_measure *sum)
{
	const uint64_t mask = (UINT64_C(1) << part->width) - 1;
	for (uint64_t line = first; line < first + n; line++) {
		const uint64_t in = line % part_lines;
		const unsigned char *cells =
			(const unsigned char *)(words + 8 * (line - in)) + WEIR_FUSE_SEED;
		uint64_t i, end = cells_in(part, in, &i);
		if (i < end)
			sum->rate += (double)(end - i) * weight_of(part, i);
		for (; i < end; i++)
			if (weir__fuse_cell(cells, i, part->width) & mask)
				sum->used += part->width;
	}
	sum->cells += 512 * n; /* this kind counts bits as cells */
	sum->lines += n;
}

/* A cell that a key has taken is 0 with a chance of 1 in 2^width. So the number of cells that are
 * not 0 is scaled up. */
double weir__fuse_keys(const struct weir_fuse *part, const struct weir_measure *sum, bool whole)
{
	const double parts = (double)(UINT64_C(1) << part->part_bits);
	const double taken = (double)sum->used / part->width / (1 - ldexp(1, -(int)part->width));
	return whole || sum->rate <= 0 ? taken : taken / sum->rate * weight_of_all(part) * parts;
}
