/* SPDX-License-Identifier: MIT
 * The layered kind; layered.h has the layout. A builder makes the first level as a fuse filter, the
 * sieve, and streams the exclude list through it. This file copies the sieve and builds the second
 * level. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <weir/params.h>
#include "ground/error.h"
#include "kind/kind.h"
#include "kind/sizing.h"
#include "kinds/common/fuse.h"
#include "kinds/common/fuse_build.h"
#include "kinds/layered/layered.h"

/* The lines for two lists, and the choice of the fingerprint's width. One more bit for each
 * included key halves the number of excluded keys that pass, and each key that passes takes a bit
 * in the second level. So the plan takes the width that has the rate and makes the filter smallest:
 * 6 bits, for example, for 68 excluded keys per included key.
 *
 * The width must be chosen before the exclude list is read, so exclude_keys gives the list's
 * length. Once the first level exists and the list has been read, the second level is sized for the
 * keys that passed (on_sieve). */

/* ---- sizes ---- */

/* Return: the segments that fill all lines of a part. */
static uint32_t filled(const struct weir_fuse *part)
{
	return weir__fuse_segments_within(weir__fuse_lines(part), part->width,
	                                  part->segment_bits);
}

static void set_first(struct weir_plan *plan, const struct weir_fuse *part)
{
	plan->shape.field[WEIR_FUSE_WIDTH] = part->width;
	plan->shape.field[WEIR_FUSE_SEGMENT_BITS] = part->segment_bits;
	plan->shape.field[WEIR_FUSE_SEGMENTS] = filled(part);
	plan->shape.field[WEIR_FUSE_PART_BITS] = part->part_bits;
}

static void set_second(struct weir_plan *plan, const struct weir_fuse *part)
{
	plan->shape.field[WEIR_SECOND_SEGMENT_BITS] = part->segment_bits;
	plan->shape.field[WEIR_SECOND_SEGMENTS] = filled(part);
	plan->shape.field[WEIR_SECOND_PART_BITS] = part->part_bits;
}

static uint64_t lines_needed(const struct weir_shape *shape)
{
	const struct weir_fuse first = weir__fuse_of(shape), second = weir__second_of(shape);
	return weir__level_lines(&first) + weir__level_lines(&second);
}

/* Give a plan the fewest lines that its shape needs, rounded up to a multiple of the shards. */
static void take_lines(struct weir_plan *plan, uint32_t shards)
{
	plan->bytes = 64 * weir__lines(512.0 * (double)lines_needed(&plan->shape), 1, shards,
	                               &plan->shards);
}

/* Return: the approximate number of keys in the exclude list. */
static uint64_t excluded(const struct weir_params *p)
{
	return p->layered.exclude_keys;
}

/* Size the second level for @keys keys and the @passed excluded keys that pass the first level. */
static void size_second(struct weir_plan *plan, uint64_t keys, double passed, uint32_t shards)
{
	const struct weir_fuse part = weir__fuse_for(keys + (uint64_t)ceil(passed), 1);
	set_second(plan, &part);
	take_lines(plan, shards);
}

static void size_for(struct weir_plan *plan, uint64_t keys, unsigned width,
                     const struct weir_params *p)
{
	const struct weir_fuse part = weir__fuse_for(keys, width);
	plan->capacity = keys;
	set_first(plan, &part);
	size_second(plan, keys, ldexp((double)excluded(p), -(int)width), p->shards);
}

/* The remaining bytes become segments of the second level. */
static void fill_most(struct weir_plan *plan, const struct weir_params *p)
{
	const struct weir_fuse first = weir__fuse_of(&plan->shape);
	const struct weir_fuse second = weir__second_of(&plan->shape);
	uint32_t shards;
	const uint64_t lines = weir__lines_within(p->max_bytes, 1, p->shards, &shards);
	if (64 * lines <= plan->bytes)
		return;
	plan->shape.field[WEIR_SECOND_SEGMENTS] = weir__fuse_segments_within(
		(lines - weir__level_lines(&first)) >> second.part_bits, 1, second.segment_bits);
	plan->bytes = 64 * lines;
	plan->shards = shards;
}

/* Give the second level of a plan more cells, by a share of the cells such as 0.02. */
static void enlarge_by(struct weir_plan *plan, double share)
{
	uint32_t *segments = &plan->shape.field[WEIR_SECOND_SEGMENTS];
	*segments += (uint32_t)fmax(1, ceil(share * *segments));
	take_lines(plan, plan->shards);
}

/* ---- the width ---- */

static double rate_of(unsigned width)
{
	return ldexp(1, -(int)width - 1);
}

/* @fp_rate: the requested rate, from which most callers have subtracted the rate at which 64-bit
 * hashes of different keys are equal. Such a small difference does not justify another bit, so the
 * comparison has a tolerance. */
static bool has_rate(unsigned width, double fp_rate)
{
	return rate_of(width) <= fp_rate * (1 + 1e-6);
}

/* Return: the fingerprint bits that the caller asked for, or 0. */
static unsigned requested_bits(const struct weir_params *p)
{
	return p->layered.fingerprint_bits;
}

/* Size the plan with the width of the smallest filter that has the rate. Return: the width, or 0 if
 * no width has the rate. */
static unsigned width_for(struct weir_plan *plan, uint64_t keys, double fp_rate,
                          const struct weir_params *p)
{
	uint64_t least = UINT64_MAX;
	unsigned width = 0;
	for (unsigned w = 1; w <= WEIR_FUSE_MOST_WIDTH; w++) {
		if (!has_rate(w, fp_rate) || (requested_bits(p) && requested_bits(p) != w))
			continue;
		size_for(plan, keys, w, p);
		if (plan->bytes < least)
			width = w;
		least = plan->bytes < least ? plan->bytes : least;
	}
	if (width)
		size_for(plan, keys, width, p);
	return width;
}

/* Return: the widest fingerprint for which the keys fit, or 0 if they do not fit with one bit. */
static unsigned width_within(struct weir_plan *plan, const struct weir_params *p)
{
	for (unsigned w = WEIR_FUSE_MOST_WIDTH; w; w--) {
		if (requested_bits(p) && requested_bits(p) != w)
			continue;
		size_for(plan, p->capacity, w, p);
		if (plan->bytes <= p->max_bytes)
			return w;
	}
	return 0;
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

static int too_large(const struct weir_params *p, const struct weir_plan *plan)
{
	if (p->max_bytes && plan->bytes > p->max_bytes)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g, and %" PRIu64
			           " excluded keys, need %" PRIu64 " bytes: max_bytes is %" PRIu64,
			           p->capacity, p->fp_rate, excluded(p), plan->bytes,
			           p->max_bytes),
			WEIR_ERROR_LISTS_LARGE, "capacity", (double)p->capacity,
			(double)excluded(p), (double)plan->bytes, (double)p->max_bytes);
	if (plan->bytes > WEIR__MOST_BYTES)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " at fp_rate %g, and %" PRIu64
			           " excluded keys, need %" PRIu64 " bytes: a filter has 2^46 at "
			           "most", p->capacity, p->fp_rate, excluded(p), plan->bytes),
			WEIR_ERROR_LISTS_LARGE, "capacity", (double)p->capacity,
			(double)excluded(p), (double)plan->bytes, (double)WEIR__MOST_BYTES);
	return 0;
}

static int bytes_from_rate(const struct weir_params *p, struct weir_plan *out)
{
	if (!width_for(out, p->capacity, weir__wanted(p).fp_rate, p))
		return too_low(p, p->capacity);
	return too_large(p, out);
}

static int rate_from_both(const struct weir_params *p, struct weir_plan *out)
{
	if (!width_within(out, p))
		return weir__refused(
			weir__fail(-EFBIG, "max_bytes %" PRIu64 ": too small for %" PRIu64
			           " keys with fingerprints of %u bit%s, and %" PRIu64
			           " excluded ones", p->max_bytes, p->capacity,
			           requested_bits(p) ? requested_bits(p) : 1,
			           requested_bits(p) > 1 ? "s" : "", excluded(p)),
			WEIR_ERROR_WIDTH_BYTES, "max_bytes", (double)p->max_bytes,
			(double)p->capacity, requested_bits(p) ? requested_bits(p) : 1,
			(double)excluded(p));
	fill_most(out, p);
	return 0;
}

static int capacity_from_bytes(const struct weir_params *p, struct weir_plan *out)
{
	uint64_t enough = 0, less = WEIR__MOST_KEYS + 1;
	if (!width_for(out, 1, p->fp_rate, p))
		return too_low(p, 1);
	while (less - enough > 1) {
		const uint64_t half = enough + (less - enough) / 2;
		const double rate = p->fp_rate - (double)half / WEIR__HASHES;
		if (width_for(out, half, rate, p) && out->bytes <= p->max_bytes)
			enough = half;
		else
			less = half;
	}
	if (!enough)
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": too small for one key at "
			           "fp_rate %g", p->max_bytes, p->fp_rate),
			WEIR_ERROR_ONE_KEY, "max_bytes", (double)p->max_bytes, p->fp_rate, 0, 0);
	(void)width_for(out, enough, p->fp_rate - (double)enough / WEIR__HASHES, p);
	fill_most(out, p);
	return 0;
}

static void complete(const struct weir_params *p, struct weir_plan *out)
{
	out->reason = requested_bits(p) ? "the fingerprint that was asked for" :
	              p->fp_rate > 0      ? "the fingerprint of the smallest whole with the rate" :
	                                    "the widest fingerprint that the keys leave room for";
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate_floor = (double)out->capacity / WEIR__HASHES;
	out->fp_rate = rate_of(out->shape.field[WEIR_FUSE_WIDTH]) + out->fp_rate_floor;
}

static int settle(struct weir_params *p)
{
	if (excluded(p) <= WEIR__MOST_KEYS)
		return 0;
	return weir__refused(
		weir__fail(-EINVAL, "exclude_keys %" PRIu64 ": allowed: 0 to 2^48 keys",
		           excluded(p)),
		WEIR_ERROR_RANGE, "exclude_keys", (double)excluded(p), 0, (double)WEIR__MOST_KEYS,
		0);
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
	if (!err)
		complete(p, out);
	return err;
}

/* ---- the plans of a build: first the sieve, then the whole filter ---- */

static int make_sieve(const struct weir_params *p, struct weir_params *out)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	plan.shape.kind = p->kind;
	int err = make_plan(p, &plan);
	*out = (struct weir_params)WEIR_PARAMS_INIT;
	out->kind = WEIR_FUSE;
	out->capacity = plan.capacity;
	out->fp_rate = WEIR__MOST_RATE;
	out->fuse.fingerprint_bits = plan.shape.field[WEIR_FUSE_WIDTH];
	out->shards = 1;
	out->flags = p->flags;
	out->seed = p->seed;
	out->secret = p->secret;
	return err;
}

static int on_sieve(const struct weir_params *p, const struct weir_filter *sieve,
                           uint64_t passed, struct weir_plan *out)
{
	const struct weir_fuse first = weir__fuse_of(&sieve->array.shape);
	out->capacity = sieve->capacity;
	set_first(out, &first);
	size_second(out, out->capacity, (double)passed, p->shards);
	int err = too_large(p, out);
	if (!err)
		err = weir__shards_fit(p->shards, out->bytes);
	if (err)
		return err;
	if (!(p->fp_rate > 0)) /* with a rate, max_bytes is only a limit */
		fill_most(out, p);
	complete(p, out);
	return 0;
}

/* ---- shapes ---- */

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	const uint32_t *field = shape->field;
	return weir__fuse_sound(field[WEIR_FUSE_WIDTH], field[WEIR_FUSE_SEGMENT_BITS],
	                        field[WEIR_FUSE_SEGMENTS], field[WEIR_FUSE_PART_BITS]) &&
	       weir__fuse_sound(1, field[WEIR_SECOND_SEGMENT_BITS], field[WEIR_SECOND_SEGMENTS],
	                        field[WEIR_SECOND_PART_BITS]) &&
	       lines_needed(shape) <= lines;
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const uint32_t width = shape->field[WEIR_FUSE_WIDTH];
	const uint32_t parts = UINT32_C(1) << shape->field[WEIR_FUSE_PART_BITS];
	const uint32_t then = UINT32_C(1) << shape->field[WEIR_SECOND_PART_BITS];
	snprintf(text, WEIR_SHAPE_TEXT, "fingerprints of %" PRIu32 " bit%s in %" PRIu32
	         " part%s, then 1 bit in %" PRIu32, width, width == 1 ? "" : "s", parts,
	         parts == 1 ? "" : "s", then);
}

/* ---- the kind ---- */

/* Copy the first level from the sieve. A part of the sieve may have more lines than it needs, so
 * copy only the lines that it needs. */
static void take_first(struct weir_filter *f, const struct weir_array *sieve)
{
	const struct weir_fuse first = weir__fuse_of(&f->array.shape);
	const uint64_t lines = weir__fuse_lines(&first);
	const uint64_t stride = sieve->lines >> first.part_bits;
	for (uint64_t i = 0; i >> first.part_bits == 0; i++)
		memcpy(f->array.words + 8 * lines * i, sieve->words + 8 * stride * i, 64 * lines);
}

static int build(struct weir_filter *f, const struct weir_key_set *given)
{
	const struct weir_fuse first = weir__fuse_of(&f->array.shape);
	const struct weir_fuse second = weir__second_of(&f->array.shape);
	const struct weir_fuse_job job = { .words = f->array.words + 8 * weir__level_lines(&first),
		                           .part_lines = weir__fuse_lines(&second),
		                           .part = second,
		                           .hash_seed = f->hashing.seed,
		                           .keys = given,
		                           .others = given->passed };
	take_first(f, &given->sieve->array);
	return weir__fuse_build(&job);
}

static void enlarge(struct weir_plan *plan)
{
	enlarge_by(plan, WEIR_FUSE_MORE);
}

/* Measure the first level. The second level does not tell how many keys are included, so its bits
 * count as unused. */
static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	const uint64_t end = weir__level_lines(&part);
	const uint64_t last = first + n < end ? first + n : end;
	const uint64_t mine = first < last ? last - first : 0;
	weir__fuse_measure(&part, f->array.words, weir__fuse_lines(&part), first, mine, sum);
	sum->cells += 512 * (n - mine);
	sum->lines += n - mine;
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	*rate = sum->used ? ldexp(1, -(int)part.width - 1) : 0;
	*keys = weir__fuse_keys(&part, sum, sum->lines >= f->array.lines);
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	(void)shape;
	switch (isa) {
#if WEIR_X86
	case WEIR_ISA_AVX2: return &weir__layered_avx2;
	case WEIR_ISA_AVX512: return &weir__layered_avx512;
#elif WEIR_ARM
	case WEIR_ISA_NEON: return &weir__layered_neon;
#endif
	default: return &weir__layered_scalar;
	}
}

const struct weir_kind weir__kind_layered = {
	.id = WEIR_LAYERED,
	.name = "layered",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_BE_EXACT,
	.fields = { "fingerprint_bits", "segment_bits", "segments", "part_bits",
	            "second_segment_bits", "second_segments", "second_part_bits" },
	.settle = settle,
	.plan = make_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.snapshot = weir__bits_snapshot,
	.build = build,
	.enlarge = enlarge,
	.sieve = make_sieve,
	.on_sieve = on_sieve,
};
