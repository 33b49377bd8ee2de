/* SPDX-License-Identifier: MIT
 * The keys in a fuse structure. */
#include "kinds/common/fuse_measure.h"
#include <math.h>

/* The cells that begin in a line of a part: from *first on, behind the last. */
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

/* A key takes a cell; of a part's first three and last two segments so many are taken where in the
 * others all that are taken are 1 (measured). Weighed so, a sample says how many all have. */
static const double first_weights[] = { 0.24, 0.57, 0.90 }, last_weights[] = { 0.63, 0.82 };
enum { FIRST = 3, LAST = 2 };

static double weight_of(const struct weir_fuse *part, uint64_t cell)
{
	const uint64_t before = cell >> part->segment_bits;
	const uint64_t behind = (part->cells >> part->segment_bits) - 1 - before;
	return before < FIRST ? first_weights[before] : behind < LAST ? last_weights[behind] : 1;
}

/* Of all cells of a part; of fewer than five segments nobody takes a sample. */
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
	sum->cells += 512 * n; /* bits */
	sum->lines += n;
}

/* Of the cells that keys have taken one in 2^width is 0. */
double weir__fuse_keys(const struct weir_fuse *part, const struct weir_measure *sum, bool whole)
{
	const double parts = (double)(UINT64_C(1) << part->part_bits);
	const double taken = (double)sum->used / part->width / (1 - ldexp(1, -(int)part->width));
	return whole || sum->rate <= 0 ? taken : taken / sum->rate * weight_of_all(part) * parts;
}
