/* SPDX-License-Identifier: MIT
 * The formulas of cuckoo filters: the number of keys that an array takes, its rate, and the choice
 * of the fingerprint.
 *
 * An absent key is answered true if one of the copies in its two buckets equals its fingerprint,
 * with probability 1 - (1 - 1 / (2^bits - 1))^(2 * slots * load).
 *
 * All keys find a slot if, for every set of s buckets, the keys with both buckets in the set fit in
 * its slots (Hall 1935). A complete search then finds a placement. A key has both buckets in a
 * given set with probability (s / m)^2. So filling to n keys fails with a probability of at most
 *
 *     the sum over s of  (m over s) * P(Binomial(n, (s / m)^2) > s * slots).
 *
 * The rows of the table are the largest n for which the sum is at most 1e-6. The sum counts a large
 * overfull set many times, so it never allows 95 %, but measurements do. With 16 bits, filling
 * fails at 98.04 % of the slots on average, and the standard deviation is 0.192 times the root of
 * the number of slots. With 12 bits, filling fails at 98.96 %, and the factor is 0.142. So arrays
 * are sized for 95 % (0 in the table) if they have at least the lines at which 95 % is ten standard
 * deviations below that average. tests/unit computes the table again, tests/property fills small
 * filters to it. */
#include <math.h>
#include <stdio.h>
#include "ground/error.h"
#include "kind/sizing.h"
#include "kinds/cuckoo/cuckoo.h"

static const double most_load = 0.95;

/* A row is for arrays that have at least @lines lines, but fewer lines than the next row says. With
 * 16-bit fingerprints, such an array takes the share of slots that @keys16 keys use in @lines
 * lines. @keys12 is the number of keys for 12-bit fingerprints. A 0 stands for the share
 * most_load. */
static const struct row {
	uint32_t lines;
	uint32_t keys16, keys12;
} table[] = {
	{ 1, 9, 16 },     { 2, 26, 51 },    { 3, 52, 99 },   { 4, 86, 138 },   { 5, 126, 176 },
	{ 6, 159, 214 },  { 7, 189, 251 },  { 8, 218, 289 }, { 10, 276, 365 }, { 12, 334, 440 },
	{ 16, 450, 591 }, { 24, 682, 893 }, { 32, 914, 0 },  { 48, 1377, 0 },  { 64, 1841, 0 },
	{ 96, 2767, 0 },  { 128, 0, 0 },
};
enum { ROWS = sizeof table / sizeof table[0] };

double weir__cuckoo_rate(double load, unsigned width)
{
	double values = (double)((1u << width) - 1);
	return -expm1(2 * weir__cuckoo_places(width) * load * log1p(-1 / values));
}

uint64_t weir__cuckoo_most(uint64_t lines, const struct weir_shape *shape)
{
	unsigned width = shape->field[WEIR_CUCKOO_WIDTH], i = 0;
	if (!lines)
		return 0;
	while (i + 1 < ROWS && table[i + 1].lines <= lines)
		i++;
	uint32_t keys = width == 12 ? table[i].keys12 : table[i].keys16;
	if (keys)
		return lines * keys / table[i].lines;
	return (uint64_t)(most_load * 8 * weir__cuckoo_places(width) * (double)lines);
}

/* A filter filled to most_load has a certain rate. A lower rate needs emptier buckets. */
static double bits(double fp_rate, const struct weir_shape *shape)
{
	unsigned width = shape->field[WEIR_CUCKOO_WIDTH];
	double values = (double)((1u << width) - 1);
	double load = log1p(-fp_rate) / log1p(-1 / values) / (2 * weir__cuckoo_places(width));
	return 64 / (weir__cuckoo_places(width) * fmin(load, most_load));
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	unsigned width = shape->field[WEIR_CUCKOO_WIDTH];
	return weir__cuckoo_rate(64 / (weir__cuckoo_places(width) * bits_per_key), width);
}

/* Return: the width with the fewest bits for the rate. If the size and the number of keys are
 * given, return the width with the lowest rate for which the keys fit. */
static unsigned choose(const struct weir_params *p)
{
	static const struct weir_shape narrow = { WEIR_CUCKOO, .field = { 12 } };
	static const struct weir_shape wide = { WEIR_CUCKOO, .field = { 16 } };
	struct weir_wanted wanted = weir__wanted(p);
	if (wanted.fp_rate > 0)
		return bits(wanted.fp_rate, &narrow) <= bits(wanted.fp_rate, &wide) ? 12 : 16;
	double lines = wanted.bits_per_key * (double)p->capacity / 512;
	return weir__cuckoo_most((uint64_t)(lines + 0.5), &wide) >= p->capacity ? 16 : 12;
}

int weir__cuckoo_plan(const struct weir_params *p, struct weir_plan *out)
{
	static const struct weir_formula formula = { .bits = bits,
		                                     .rate = rate,
		                                     .most = weir__cuckoo_most };
	uint32_t asked = p->cuckoo.fingerprint_bits;
	if (asked && asked != 12 && asked != 16)
		return weir__refused(
			weir__fail(-EINVAL, "fingerprint_bits %u: allowed: 12 or 16, or 0 to have "
			           "it chosen", asked),
			WEIR_ERROR_CHOICE, "fingerprint_bits", asked, 1 << 12 | 1 << 16, 0, 0);
	out->shape.field[WEIR_CUCKOO_WIDTH] = asked ? asked : choose(p);
	out->reason = asked        ? "the fingerprint that was asked for" :
	              p->fp_rate > 0 ? "the fingerprint that needs the least memory" :
	                               "the fingerprint with the lowest rate that the keys leave "
	                               "room for";
	return weir__size_complete(p, &formula, out);
}

bool weir__cuckoo_legal(const struct weir_shape *shape, uint64_t lines)
{
	uint32_t width = shape->field[WEIR_CUCKOO_WIDTH];
	(void)lines;
	return width == 12 || width == 16;
}

void weir__cuckoo_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	uint32_t width = shape->field[WEIR_CUCKOO_WIDTH];
	snprintf(text, WEIR_SHAPE_TEXT, "fingerprints of %u bits, %u to a bucket", width,
	         weir__cuckoo_places(width));
}
