/* SPDX-License-Identifier: MIT
 * The fuse kind: a fingerprint of each key of a fixed set, in the least memory of all kinds, in
 * cells that three keys or so share. common/fuse.h has the layout, plan.c the sizes. It is built
 * once from all its keys, part by part, by as many threads as there are parts. */
#include <math.h>
#include "error.h"
#include "kinds/common/bits.h"
#include "kinds/common/fuse_peel.h"
#include "kinds/fuse/kernels.h"
#include "kinds/fuse/plan.h"
#include "kinds/list.h"
#include "parallel.h"

/* With a set of which one in three tries fails, one in 60,000 parts fails them all; all parts have
 * one size, so a larger one is for all. */
enum { TRIES = 10 };
static const double more = 0.03;

/* ---- building: each thread takes the next part ---- */

struct work {
	struct weir_filter *f;
	const struct weir_key_set *given;
	struct weir_fuse part;
	uint64_t most; /* keys of a part */
	uint64_t parts;
	atomic_uint_fast64_t next;
};

static unsigned char *part_at(const struct work *w, uint64_t i)
{
	const uint64_t lines = w->f->array.lines >> w->part.part_bits;
	return (unsigned char *)(w->f->array.words + 8 * lines * i);
}

static int does_not_peel(const struct work *w, uint64_t i, uint64_t keys)
{
	return weir__fail(-EAGAIN, "part %llu of %llu: %llu keys cannot be built into %llu cells, "
	                  "whatever the seed, of which %d were tried: are their hashes evenly "
	                  "spread over 64 bits?", (unsigned long long)i,
	                  (unsigned long long)w->parts, (unsigned long long)keys,
	                  (unsigned long long)w->part.cells, TRIES);
}

static int build_part(struct work *w, struct weir_fuse_room *room, uint64_t i)
{
	const struct weir_key_set *given = w->given;
	const unsigned part_bits = w->part.part_bits;
	const uint64_t n = given->count(given, i, part_bits);
	for (unsigned t = 0; t < TRIES; t++) {
		const uint64_t seed = weir__fuse_seed(w->f->hashing.seed, i, t);
		int err = given->read(given, i, part_bits, room->keys);
		if (err)
			return err;
		if (!weir__fuse_peel(room, &w->part, n, seed))
			continue;
		unsigned char *at = part_at(w, i);
		const uint64_t stored = WEIR__LE64(seed);
		__builtin_memcpy(at, &stored, sizeof stored);
		weir__fuse_assign_fingerprints(room, &w->part, n, seed, at + WEIR_FUSE_SEED);
		return given->built(given, n);
	}
	return does_not_peel(w, i, n);
}

static int build_parts(void *work)
{
	struct work *w = work;
	struct weir_fuse_room room = { .keys = NULL };
	int err = weir__fuse_room_make(&room, &w->part, w->most);
	while (!err) {
		const uint64_t i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
		if (i >= w->parts)
			break;
		err = build_part(w, &room, i);
	}
	if (err)
		atomic_store_explicit(&w->next, w->parts, memory_order_relaxed);
	weir__fuse_room_free(&room);
	return err;
}

static uint64_t largest_part(const struct work *w, uint64_t *which)
{
	uint64_t most = 0;
	for (uint64_t i = 0; i < w->parts; i++) {
		const uint64_t n = w->given->count(w->given, i, w->part.part_bits);
		if (n > most)
			*which = i;
		most = n > most ? n : most;
	}
	return most;
}

static int build(struct weir_filter *f, const struct weir_key_set *given)
{
	struct work w = { .f = f, .given = given, .part = weir__fuse_of(&f->array.shape) };
	uint64_t largest = 0;
	w.parts = UINT64_C(1) << w.part.part_bits;
	w.most = largest_part(&w, &largest);
	if (w.most > w.part.cells)
		return does_not_peel(&w, largest, w.most);
	return weir__parallel(given->threads < w.parts ? given->threads : (unsigned)w.parts,
	                      build_parts, &w);
}

static void enlarge(struct weir_plan *plan)
{
	weir__fuse_enlarge(plan, more);
}

/* ---- the whole array ---- */

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

static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const struct weir_array *a = &f->array;
	const struct weir_fuse part = weir__fuse_of(&a->shape);
	const uint64_t lines = a->lines >> part.part_bits, mask = (UINT64_C(1) << part.width) - 1;
	for (uint64_t line = first; line < first + n; line++) {
		const uint64_t in = line % lines;
		const unsigned char *cells =
			(const unsigned char *)(a->words + 8 * (line - in)) + WEIR_FUSE_SEED;
		uint64_t i, end = cells_in(&part, in, &i);
		if (i < end)
			sum->rate += (double)(end - i) * weight_of(&part, i);
		for (; i < end; i++)
			if (weir__fuse_cell(cells, i, part.width) & mask)
				sum->used += part.width;
	}
	sum->cells += 512 * n; /* bits */
	sum->lines += n;
}

/* Of the cells that keys have taken one in 2^width is 0. */
static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	const double parts = (double)(UINT64_C(1) << part.part_bits);
	const double odds = ldexp(1, -(int)part.width);
	const double taken = (double)sum->used / part.width / (1 - odds);
	const bool whole = sum->lines >= f->array.lines;
	*rate = sum->used ? odds : 0;
	*keys = whole || sum->rate <= 0 ? taken : taken / sum->rate * weight_of_all(&part) * parts;
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
	.fields = { "fingerprint_bits", "segment_bits", "segments", "part_bits" },
	.plan = weir__fuse_plan,
	.legal = weir__fuse_legal,
	.describe = weir__fuse_describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.snapshot = weir__bits_snapshot,
	.build = build,
	.enlarge = enlarge,
};
