/* SPDX-License-Identifier: MIT
 * Computes one of capacity, rate and bytes from the other two. */
#include <inttypes.h>
#include <math.h>
#include "ground/error.h"
#include "kind/sizing.h"

/* ---- the lines and shards for a number of bits, or within a number of bytes ---- */

enum { LINE_BITS = 512 };

/* Return: @wanted. If @wanted is 0, return the largest power of two for which each shard has at
 * least WEIR__SHARD_LINES lines, or 1. */
static uint32_t shards_of(uint64_t lines, uint32_t wanted)
{
	uint32_t shards = 1;
	while (shards < WEIR__MOST_SHARDS && lines / WEIR__SHARD_LINES >= 2 * (uint64_t)shards)
		shards *= 2;
	return wanted ? wanted : shards;
}

uint64_t weir__lines(double bits, uint32_t block, uint32_t wanted, uint32_t *shards)
{
	uint64_t lines = bits > LINE_BITS ? (uint64_t)ceil(bits / LINE_BITS) : 1;
	uint64_t count = (uint64_t)block * shards_of(lines, wanted);
	lines = (lines + count - 1) / count * count;
	*shards = shards_of(lines, wanted); /* the lines added may allow more shards */
	return lines;
}

uint64_t weir__lines_within(uint64_t bytes, uint32_t block, uint32_t wanted, uint32_t *shards)
{
	uint64_t lines = bytes / (LINE_BITS / 8);
	*shards = shards_of(lines, wanted);
	return lines - lines % ((uint64_t)block * *shards);
}

/* ---- capacity, rate or bytes from the other two ---- */

int weir__shards_fit(uint32_t shards, uint64_t bytes)
{
	if (shards <= 1 || bytes / 64 / shards >= WEIR__SHARD_LINES)
		return 0;
	return weir__refused(
		weir__fail(-EINVAL, "shards %" PRIu32 ": at least %u lines of 64 bytes each, and %"
		           PRIu64 " bytes have %" PRIu64, shards, WEIR__SHARD_LINES, bytes, bytes /
		           64),
		WEIR_ERROR_RANGE, "shards", shards, 1, (double)(bytes / 64 / WEIR__SHARD_LINES), 0);
}

struct weir_wanted weir__wanted(const struct weir_params *p)
{
	uint32_t shards;
	struct weir_wanted wanted = { 0, 0 };
	if (p->fp_rate > 0)
		wanted.fp_rate = p->fp_rate - (double)p->capacity / WEIR__HASHES;
	else
		wanted.bits_per_key = 512.0 * (double)weir__lines_within(p->max_bytes, 1, p->shards,
		                                                      &shards) /
		                      (double)p->capacity;
	return wanted;
}

static uint32_t block_lines(const struct weir_formula *formula)
{
	return formula->block_lines ? formula->block_lines : 1;
}

/* Return: the bits of the fewest lines that take @keys keys; 0 if an array of any size takes any
 * number of keys. */
static double least_bits(uint64_t keys, const struct weir_formula *formula,
                         const struct weir_shape *shape)
{
	uint64_t enough = WEIR__MOST_BYTES / 64, less = 0;
	while (formula->most && enough - less > 1) {
		uint64_t half = less + (enough - less) / 2;
		if (formula->most(half, shape) < keys)
			less = half;
		else
			enough = half;
	}
	return formula->most ? 512.0 * (double)enough : 0;
}

static int bytes_from_rate(const struct weir_params *p, const struct weir_formula *formula,
                           struct weir_plan *out)
{
	double bits = fmax(formula->bits(weir__wanted(p).fp_rate, &out->shape) *
	                           (double)p->capacity,
	                   least_bits(p->capacity, formula, &out->shape));
	uint64_t limit = p->max_bytes ? p->max_bytes : WEIR__MOST_BYTES;
	uint64_t lines = weir__lines_within(limit, block_lines(formula), p->shards, &out->shards);
	uint32_t shards;
	uint64_t enough = weir__lines(bits, block_lines(formula), p->shards, &shards);
	if (512.0 * (double)lines < bits && !p->max_bytes)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g needs %" PRIu64
			           " bytes: a filter has 2^46 at most", p->capacity, p->fp_rate, 64
			           * enough),
			WEIR_ERROR_TOO_LARGE, "capacity", (double)p->capacity, p->fp_rate, 64 *
			(double)enough, (double)limit);
	if (512.0 * (double)lines < bits)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g needs %" PRIu64
			           " bytes: max_bytes is %" PRIu64, p->capacity, p->fp_rate, 64 *
			           enough, limit),
			WEIR_ERROR_TOO_LARGE, "capacity", (double)p->capacity, p->fp_rate, 64 *
			(double)enough, (double)limit);
	if (enough < lines) {
		lines = enough;
		out->shards = shards;
	}
	out->capacity = p->capacity;
	out->bytes = 64 * lines;
	return 0;
}

/* The rate is the layout's rate plus the floor, which is the rate at which 64-bit hashes of
 * different keys are equal. The floor depends on the capacity, so estimate the floor first, and
 * limit it to half of the rate. */
static int capacity_from_bytes(const struct weir_params *p, const struct weir_formula *formula,
                               struct weir_plan *out)
{
	double bits = 512.0 * (double)weir__lines_within(p->max_bytes, block_lines(formula),
	                                                 p->shards, &out->shards);
	double first = bits / formula->bits(p->fp_rate, &out->shape);
	double floor_rate = fmin(first / WEIR__HASHES, p->fp_rate / 2);
	double keys = bits / formula->bits(p->fp_rate - floor_rate, &out->shape);
	keys = fmin(fmin(keys, floor_rate * WEIR__HASHES), (double)WEIR__MOST_KEYS);
	if (formula->most)
		keys = fmin(keys, (double)formula->most((uint64_t)bits / 512, &out->shape));
	if (keys < 1)
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64
			           ": too small for one key at fp_rate %g", p->max_bytes,
			           p->fp_rate),
			WEIR_ERROR_ONE_KEY, "max_bytes", (double)p->max_bytes, p->fp_rate, 0, 0);
	out->capacity = (uint64_t)keys;
	out->bytes = (uint64_t)bits / 8;
	return 0;
}

static int rate_from_both(const struct weir_params *p, const struct weir_formula *formula,
                          struct weir_plan *out)
{
	uint64_t lines = weir__lines_within(p->max_bytes, block_lines(formula), p->shards,
	                                    &out->shards);
	if (lines && formula->most && formula->most(lines, &out->shape) < p->capacity)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 ": max_bytes %" PRIu64 " hold %"
			           PRIu64 " keys at most", p->capacity, p->max_bytes,
			           formula->most(lines, &out->shape)),
			WEIR_ERROR_KEYS_MOST, "capacity", (double)p->capacity,
			(double)p->max_bytes, (double)formula->most(lines, &out->shape), 0);
	out->capacity = p->capacity;
	out->bytes = 64 * lines;
	return 0;
}

int weir__size_complete(const struct weir_params *p, const struct weir_formula *formula,
                        struct weir_plan *out)
{
	int err = 0;
	if (p->capacity && p->fp_rate > 0) {
		err = bytes_from_rate(p, formula, out);
	} else if (p->capacity) {
		err = rate_from_both(p, formula, out);
	} else {
		err = capacity_from_bytes(p, formula, out);
	}
	if (!err && !out->bytes)
		err = weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64
			           ": less than a block, which is %u " "lines of 64 bytes",
			           p->max_bytes, block_lines(formula)),
			WEIR_ERROR_BLOCK, "max_bytes", (double)p->max_bytes, 64.0 *
			block_lines(formula), 0, 0);
	if (!err)
		err = weir__shards_fit(p->shards, out->bytes);
	if (err)
		return err;
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate_floor = (double)out->capacity / WEIR__HASHES;
	out->fp_rate = formula->rate(out->bits_per_key, &out->shape) + out->fp_rate_floor;
	if (out->fp_rate > WEIR__MOST_RATE * (1 + 1e-6))
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": with %" PRIu64
			           " keys the rate would be %.3g, %g is the most", p->max_bytes,
			           p->capacity, out->fp_rate, WEIR__MOST_RATE),
			WEIR_ERROR_RATE_MOST, "max_bytes", (double)p->max_bytes,
			(double)p->capacity, out->fp_rate, WEIR__MOST_RATE);
	return 0;
}
