/* SPDX-License-Identifier: MIT
 * The fuse kind stores a fingerprint of each key of a fixed set, in the least memory of all kinds.
 * About three keys share a cell; common/fuse.h has the layout. A filter is built once from all its
 * keys, part by part, on at most as many threads as it has parts. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <weir/params.h>
#include "ground/error.h"
#include "kind/kind.h"
#include "kind/sizing.h"
#include "kinds/common/fuse.h"
#include "kinds/common/fuse_build.h"
#include "kinds/fuse/kernels.h"

/* The lines for a set of keys, and the choice of the fingerprint's width. common/fuse.c computes
 * the number of cells that a set needs. A set for which the build fails gets a larger filter
 * (enlarge_by). The lines are filled with as many segments as fit. */

/* Give a plan @lines lines for all parts together, and as many segments as fit in these lines. */
static void fill(struct weir_plan *plan, uint64_t lines, uint32_t shards)
{
	uint32_t *field = plan->shape.field;
	field[WEIR_FUSE_SEGMENTS] =
		weir__fuse_segments_within(lines >> field[WEIR_FUSE_PART_BITS],
	                                   field[WEIR_FUSE_WIDTH], field[WEIR_FUSE_SEGMENT_BITS]);
	plan->bytes = 64 * lines;
	plan->shards = shards;
}

/* Give a plan the fewest lines that hold its segments. The number of lines is a multiple of the
 * number of parts and of the number of shards. */
static void fill_least(struct weir_plan *plan, uint32_t wanted)
{
	const struct weir_fuse part = weir__fuse_of(&plan->shape);
	const uint64_t parts = UINT64_C(1) << part.part_bits;
	uint32_t shards;
	uint64_t lines = weir__lines(512.0 * (double)(weir__fuse_lines(&part) * parts), 1, wanted,
	                             &shards);
	fill(plan, (lines + parts - 1) / parts * parts, shards);
}

/* Give a plan as many lines as fit in max_bytes, but never fewer lines than it has. */
static void fill_most(struct weir_plan *plan, uint64_t max_bytes, uint32_t wanted)
{
	const uint64_t parts = UINT64_C(1) << plan->shape.field[WEIR_FUSE_PART_BITS];
	uint32_t shards;
	uint64_t lines = weir__lines_within(max_bytes, 1, wanted, &shards);
	lines -= lines % parts;
	if (64 * lines > plan->bytes)
		fill(plan, lines, shards);
}

/* Size a plan for @keys keys, with the fewest lines. */
static void size_for(struct weir_plan *plan, uint64_t keys, unsigned width, uint32_t shards)
{
	const struct weir_fuse part = weir__fuse_for(keys, width);
	plan->shape.field[WEIR_FUSE_WIDTH] = width;
	plan->shape.field[WEIR_FUSE_SEGMENT_BITS] = part.segment_bits;
	plan->shape.field[WEIR_FUSE_SEGMENTS] = weir__fuse_segments(&part);
	plan->shape.field[WEIR_FUSE_PART_BITS] = part.part_bits;
	plan->capacity = keys;
	fill_least(plan, shards);
}

/* Give a plan more cells for the same keys, by a share of the cells such as 0.02. */
static void enlarge_by(struct weir_plan *plan, double share)
{
	uint32_t *segments = &plan->shape.field[WEIR_FUSE_SEGMENTS];
	*segments += (uint32_t)fmax(1, ceil(share * *segments));
	fill_least(plan, plan->shards);
}

/* ---- the width ---- */

static double rate_of(unsigned width)
{
	return ldexp(1, -(int)width);
}

/* @fp_rate: the requested rate, from which most callers have subtracted the rate at which 64-bit
 * hashes of different keys are equal. Such a small difference does not justify another bit, so the
 * comparison has a tolerance. */
static bool has_rate(unsigned width, double fp_rate)
{
	return rate_of(width) <= fp_rate * (1 + 1e-6);
}

/* Return: the narrowest width that is at least @width and has its own kernel. If that width is more
 * than a seventh wider than @width, return @width. */
static unsigned near_own(unsigned width)
{
	for (unsigned own = 8; own <= WEIR_FUSE_MOST_WIDTH; own *= 2)
		if (own >= width && 7 * (own - width) <= width)
			return own;
	return width;
}

/* Return: the narrowest width with the rate, or a width near it that has a kernel of its own; 0 if
 * no width has the rate. */
static unsigned width_for(double fp_rate, uint32_t requested_bits)
{
	unsigned width = 1;
	if (requested_bits)
		return has_rate(requested_bits, fp_rate) ? requested_bits : 0;
	while (width <= WEIR_FUSE_MOST_WIDTH && !has_rate(width, fp_rate))
		width++;
	return width <= WEIR_FUSE_MOST_WIDTH ? near_own(width) : 0;
}

/* Return: the fingerprint bits that the caller asked for, or 0. */
static unsigned requested_bits(const struct weir_params *p)
{
	return p->fuse.fingerprint_bits;
}

static bool fits(struct weir_plan *plan, const struct weir_params *p, unsigned width)
{
	size_for(plan, p->capacity, width, p->shards);
	return plan->bytes <= p->max_bytes;
}

/* Return: the widest fingerprint for which the keys fit, or 0 if they do not fit with one bit. */
static unsigned width_within(struct weir_plan *plan, const struct weir_params *p)
{
	if (requested_bits(p))
		return fits(plan, p, requested_bits(p)) ? requested_bits(p) : 0;
	unsigned width = WEIR_FUSE_MOST_WIDTH;
	while (width && !fits(plan, p, width))
		width--;
	return width;
}

/* ---- plans from two of capacity, rate and bytes ---- */

static int too_low(const struct weir_params *p, uint64_t keys)
{
	if (requested_bits(p))
		return weir__refused(
			weir__fail(-EINVAL, "fingerprint_bits %u: the rate is %.3g, above fp_rate "
			           "%g; give one of the two, or more bits", requested_bits(p),
			           rate_of(requested_bits(p)), p->fp_rate),
			WEIR_ERROR_WIDTH, "fingerprint_bits", requested_bits(p),
			rate_of(requested_bits(p)), p->fp_rate, 0);
	return weir__refused(
		weir__fail(-EINVAL, "fp_rate %g: at a capacity of %" PRIu64 " at least %.3g: a "
		           "fingerprint has 32 bits at most", p->fp_rate, keys,
		           rate_of(WEIR_FUSE_MOST_WIDTH) + (double)keys / WEIR__HASHES),
		WEIR_ERROR_RATE_LEAST, "fp_rate", p->fp_rate, (double)keys,
		rate_of(WEIR_FUSE_MOST_WIDTH) + (double)keys / WEIR__HASHES, WEIR_FUSE_MOST_WIDTH);
}

static int bytes_from_rate(const struct weir_params *p, struct weir_plan *out)
{
	const unsigned width = width_for(weir__wanted(p).fp_rate, requested_bits(p));
	if (!width)
		return too_low(p, p->capacity);
	size_for(out, p->capacity, width, p->shards);
	if (p->max_bytes && out->bytes > p->max_bytes)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g needs %" PRIu64
			           " bytes: max_bytes is %" PRIu64, p->capacity, p->fp_rate,
			           out->bytes, p->max_bytes),
			WEIR_ERROR_TOO_LARGE, "capacity", (double)p->capacity, p->fp_rate,
			(double)out->bytes, (double)p->max_bytes);
	if (out->bytes > WEIR__MOST_BYTES)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g needs %" PRIu64
			           " bytes: a filter has 2^46 at most", p->capacity, p->fp_rate,
			           out->bytes),
			WEIR_ERROR_TOO_LARGE, "capacity", (double)p->capacity, p->fp_rate,
			(double)out->bytes, (double)WEIR__MOST_BYTES);
	return 0;
}

/* The remaining bytes become segments. So a filter that had to be enlarged can be planned again
 * from its capacity and its bytes. */
static int rate_from_both(const struct weir_params *p, struct weir_plan *out)
{
	if (!width_within(out, p))
		return weir__refused(
			weir__fail(-EFBIG, "max_bytes %" PRIu64 ": too small for %" PRIu64
			           " keys with fingerprints of %u bit%s", p->max_bytes,
			           p->capacity, requested_bits(p) ? requested_bits(p) : 1,
			           requested_bits(p) > 1 ? "s" : ""),
			WEIR_ERROR_WIDTH_BYTES, "max_bytes", (double)p->max_bytes,
			(double)p->capacity, requested_bits(p) ? requested_bits(p) : 1, 0);
	fill_most(out, p->max_bytes, p->shards);
	return 0;
}

/* Search by halving, which assumes that more keys need more bytes. The assumption fails only where
 * the number of parts changes. */
static int capacity_from_bytes(const struct weir_params *p, struct weir_plan *out)
{
	uint64_t enough = 0, less = WEIR__MOST_KEYS + 1;
	const unsigned width = width_for(p->fp_rate, requested_bits(p));
	if (!width)
		return too_low(p, 1);
	while (less - enough > 1) {
		const uint64_t half = enough + (less - enough) / 2;
		size_for(out, half, width, p->shards);
		if (out->bytes <= p->max_bytes &&
		    has_rate(width, p->fp_rate - (double)half / WEIR__HASHES))
			enough = half;
		else
			less = half;
	}
	size_for(out, enough, width, p->shards);
	fill_most(out, p->max_bytes, p->shards);
	return 0;
}

static int make_plan(const struct weir_params *p, struct weir_plan *out)
{
	int err;
	if (requested_bits(p) > WEIR_FUSE_MOST_WIDTH)
		return weir__refused(
			weir__fail(-EINVAL,
			           "fingerprint_bits %u: allowed: 1 to %d, or 0 to have it "
			           "chosen", requested_bits(p), WEIR_FUSE_MOST_WIDTH),
			WEIR_ERROR_RANGE, "fingerprint_bits", requested_bits(p), 1,
			WEIR_FUSE_MOST_WIDTH, 0);
	if (p->capacity && p->fp_rate > 0)
		err = bytes_from_rate(p, out);
	else
		err = p->capacity ? rate_from_both(p, out) : capacity_from_bytes(p, out);
	if (!err)
		err = weir__shards_fit(p->shards, out->bytes);
	if (err)
		return err;
	out->reason = requested_bits(p) ? "the fingerprint that was asked for" :
	              p->fp_rate > 0      ? "the fewest bits with the rate, or 8, 16, 32 if near" :
	                                    "the widest fingerprint that the keys leave room for";
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate_floor = (double)out->capacity / WEIR__HASHES;
	out->fp_rate = rate_of(out->shape.field[WEIR_FUSE_WIDTH]) + out->fp_rate_floor;
	return 0;
}

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	const uint32_t *field = shape->field;
	if (!weir__fuse_sound(field[WEIR_FUSE_WIDTH], field[WEIR_FUSE_SEGMENT_BITS],
	                      field[WEIR_FUSE_SEGMENTS], field[WEIR_FUSE_PART_BITS]))
		return false;
	const struct weir_fuse part = weir__fuse_of(shape);
	return lines == UINT64_MAX || (lines >> part.part_bits << part.part_bits == lines &&
	                               lines >> part.part_bits >= weir__fuse_lines(&part));
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const uint32_t width = shape->field[WEIR_FUSE_WIDTH];
	const uint32_t parts = UINT32_C(1) << shape->field[WEIR_FUSE_PART_BITS];
	snprintf(text, WEIR_SHAPE_TEXT, "fingerprints of %" PRIu32 " bit%s in %" PRIu32 " part%s",
	         width, width == 1 ? "" : "s", parts, parts == 1 ? "" : "s");
}

/* ---- the kind ---- */

static int build(struct weir_filter *f, const struct weir_key_set *given)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	const struct weir_fuse_job job = { .words = f->array.words,
		                           .part_lines = f->array.lines >> part.part_bits,
		                           .part = part,
		                           .hash_seed = f->hashing.seed,
		                           .keys = given };
	return weir__fuse_build(&job);
}

static void enlarge(struct weir_plan *plan)
{
	enlarge_by(plan, WEIR_FUSE_MORE);
}

static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	weir__fuse_measure(&part, f->array.words, f->array.lines >> part.part_bits, first, n, sum);
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	*rate = sum->used ? ldexp(1, -(int)part.width) : 0;
	*keys = weir__fuse_keys(&part, sum, sum->lines >= f->array.lines);
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	switch (isa) {
#if WEIR_X86
	case WEIR_ISA_AVX2: return weir__fuse_avx2(shape);
	case WEIR_ISA_AVX512: return weir__fuse_avx512(shape);
#elif WEIR_ARM
	case WEIR_ISA_NEON: return weir__fuse_neon(shape);
#endif
	default: return weir__fuse_scalar(shape);
	}
}

const struct weir_kind weir__kind_fuse = {
	.id = WEIR_FUSE,
	.name = "fuse",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH,
	.fields = { "fingerprint_bits", "segment_bits", "segments", "part_bits" },
	.plan = make_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.snapshot = weir__bits_snapshot,
	.build = build,
	.enlarge = enlarge,
};
