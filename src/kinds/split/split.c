/* SPDX-License-Identifier: MIT
 * The split kind: its size, and the functions on whole filters. split.h has the layout, kernel.c
 * the lookups and inserts. */
#include <inttypes.h>
#include <stdio.h>
#include "ground/error.h"
#include "kind/kind.h"
#include "kind/sizing.h"
#include "kinds/split/split.h"

/* The size of a split filter. Its layout is one of kinds/common/sector_rate.h: a key sets one bit
 * in each of eight words of 32 bits. weir computes the rate for this layout. Parquet's formula
 * assumes that all blocks are equally full. So it asks for 8 % less memory than weir for a rate of
 * 1 %, and for 20 % less for a rate of 0.01 %. */

static const struct weir_sectors split_sectors = { .words = 8, .cells = 32, .z = 8, .g = 1 };

static double bits(double fp_rate, const struct weir_shape *shape)
{
	(void)shape;
	return weir__sectors_cells(fp_rate, &split_sectors);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	(void)shape;
	return weir__sectors_rate(bits_per_key, &split_sectors);
}

static const struct weir_formula formula = { .bits = bits, .rate = rate };

/* Replace the given rate, or the given max_bytes, by a size that every reader accepts: a power of
 * two, at most WEIR_SPLIT_STRICT. */
static int any_reader(const struct weir_params *p, struct weir_params *out)
{
	const uint64_t strict = WEIR_SPLIT_STRICT;
	const uint64_t most = p->max_bytes && p->max_bytes < strict ? p->max_bytes : strict;
	struct weir_plan least = WEIR_PLAN_INIT;
	uint64_t bytes = 64;
	out->max_bytes = 0;
	const bool rated = p->capacity && p->fp_rate > 0;
	int err = rated ? weir__size_complete(out, &formula, &least) : 0;
	while (rated ? bytes < least.bytes : bytes <= most / 2)
		bytes *= 2;
	if (!err && bytes > most)
		err = weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g needs %" PRIu64
			           " bytes as a power of two: %" PRIu64 " is the limit",
			           p->capacity, p->fp_rate, bytes, most),
			WEIR_ERROR_TOO_LARGE, "capacity", (double)p->capacity, p->fp_rate,
			(double)bytes, (double)most);
	out->max_bytes = bytes;
	out->fp_rate = rated ? 0 : p->fp_rate;
	return err;
}

static int make_plan(const struct weir_params *p, struct weir_plan *out)
{
	struct weir_params sized = *p;
	int err = 0;
	if (p->split.any_reader > 1)
		err = weir__refused(
			weir__fail(-EINVAL, "any_reader %u: 1, or 0 for any size",
			           p->split.any_reader),
			WEIR_ERROR_RANGE, "any_reader", p->split.any_reader, 0, 1, 0);
	else if (p->split.any_reader)
		err = any_reader(p, &sized);
	if (!err)
		err = weir__size_complete(&sized, &formula, out);
	if (err)
		return err;
	if (out->bytes / WEIR_SPLIT_BLOCK > WEIR_SPLIT_MOST)
		return weir__refused(
			weir__fail(-EFBIG, "%" PRIu64 " bytes: kind split has 2^28 blocks of 32 "
			           "bytes at most, since 32 bits of a hash choose one",
			           out->bytes),
			WEIR_ERROR_RANGE, "max_bytes", (double)out->bytes, 64,
			(double)WEIR_SPLIT_MOST * WEIR_SPLIT_BLOCK, 0);
	out->shape.field[WEIR_SPLIT_BLOCKS] = (uint32_t)(out->bytes / WEIR_SPLIT_BLOCK);
	out->reason = "the layout is Parquet's: one bit in each of eight words of 32 bits";
	return 0;
}

/* ---- whole arrays ---- */

static uint64_t blocks_of(const struct weir_array *a)
{
	return a->shape.field[WEIR_SPLIT_BLOCKS];
}

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	const uint32_t blocks = shape->field[WEIR_SPLIT_BLOCKS];
	return blocks >= 1 && blocks <= WEIR_SPLIT_MOST &&
	       (lines == UINT64_MAX || lines == weir__split_lines(blocks));
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const uint32_t blocks = shape->field[WEIR_SPLIT_BLOCKS];
	snprintf(text, WEIR_SHAPE_TEXT, "8 bits a key, in one of %u block%s of 256 bits", blocks,
	         blocks == 1 ? "" : "s");
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel *const tables[WEIR_ISA_COUNT] = {
		[WEIR_ISA_SCALAR] = weir__split_scalar,
#if WEIR_X86
		[WEIR_ISA_AVX2] = weir__split_avx2,
		[WEIR_ISA_AVX512] = weir__split_avx512,
#elif WEIR_ARM
		[WEIR_ISA_NEON] = weir__split_neon,
#endif
	};
	return tables[isa] ? &tables[isa][shape->field[WEIR_SPLIT_BLOCKS] % 2] : NULL;
}

static void measure_block(const uint64_t *block, const double *power, struct weir_measure *sum)
{
	unsigned ones[2 * WEIR_SPLIT_WORDS];
	for (unsigned i = 0; i < WEIR_SPLIT_WORDS; i++) {
		const uint64_t word = weir__word_load_relaxed(block + i);
		ones[2 * i] = (unsigned)__builtin_popcount((uint32_t)word);
		ones[2 * i + 1] = (unsigned)__builtin_popcount((uint32_t)(word >> 32));
		sum->used += ones[2 * i] + ones[2 * i + 1];
	}
	sum->rate += weir__sectors_block_rate(ones, power, &split_sectors);
	sum->cells += 8 * WEIR_SPLIT_BLOCK;
}

static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const uint64_t blocks = blocks_of(&f->array);
	double power[65];
	weir__sectors_power(power, &split_sectors);
	for (uint64_t block = 2 * first; block < 2 * (first + n) && block < blocks; block++)
		measure_block(f->array.words + WEIR_SPLIT_WORDS * block, power, sum);
	sum->lines += n;
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const double fill = (double)sum->used / (double)sum->cells;
	*keys = weir__sectors_keys(fill, (double)blocks_of(&f->array), &split_sectors);
	*rate = sum->rate / ((double)sum->cells / (8 * WEIR_SPLIT_BLOCK));
}

static bool law(const struct weir_filter *f, struct weir_law *out)
{
	*out = weir__sectors_law(&split_sectors, blocks_of(&f->array));
	out->word_bits = 32;
	out->halves = true;
	return true;
}

/* ---- folding: OR every run of @factor adjacent blocks into one block. A key's old block goes into
 * the key's new block, since (h >> 32) * (blocks / factor) >> 32 is the number of the old block
 * divided by factor. Arrow folds in the same way ---- */

static int folded(struct weir_layout *layout, uint32_t factor)
{
	uint32_t *blocks = &layout->shape.field[WEIR_SPLIT_BLOCKS];
	if (*blocks % factor)
		return weir__fail(-EINVAL, "factor %u: a power of two that divides the %u blocks",
		                  factor, *blocks);
	*blocks /= factor;
	layout->lines = weir__split_lines(*blocks);
	return 0;
}

static int fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	for (uint64_t i = 0; i < WEIR_SPLIT_WORDS * blocks_of(&f->array); i++) {
		const uint64_t block = i / WEIR_SPLIT_WORDS / factor;
		const uint64_t word = weir__word_load_relaxed(f->array.words + i);
		dst->array.words[WEIR_SPLIT_WORDS * block + i % WEIR_SPLIT_WORDS] |=
			WEIR__LE64(word);
	}
	return 0;
}

const struct weir_kind weir__kind_split = {
	.id = WEIR_SPLIT,
	.name = "split",
	.hash = &weir__xxh64,
	.as_is = true,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW | WEIR_CAN_FILL_FAST |
	       WEIR_CAN_MAP_LIVE | WEIR_CAN_REPLICATE,
	.fields = { "blocks" },
	.plan = make_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.law = law,
	.merge = weir__bits_merge,
	.snapshot = weir__bits_snapshot,
	.folded = folded,
	.fold = fold,
};
