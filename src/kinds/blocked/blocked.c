/* SPDX-License-Identifier: MIT
 * The blocked kind: one cache line a key. <weir/inline.h> has the layout, kernel.c the kernels.
 * Here are the choice of a kernel and the functions on whole arrays.
 * Source: Putze, Sanders, Singler 2007; Lang, Neumann, Kemper, Boncz 2019. */
#include <stdio.h>
#include <weir/inline.h>
#include "kind/kind.h"
#include "kinds/blocked/kernels.h"
#include "kinds/blocked/plan.h"

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	uint32_t z = shape->field[WEIR_BLOCKED_Z], g = shape->field[WEIR_BLOCKED_G];
	(void)lines;
	return (z == 1 || z == 2 || z == 4 || z == 8) && g >= 1 && g <= weir__blocked_max_g(z);
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	uint32_t z = shape->field[WEIR_BLOCKED_Z], g = shape->field[WEIR_BLOCKED_G];
	snprintf(text, WEIR_SHAPE_TEXT, "%u word%s of %u bit%s a key", z, z == 1 ? "" : "s", g,
	         g == 1 ? "" : "s");
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel *const tables[WEIR_ISA_COUNT] =
		WEIR_BLOCKED_BY_ISA(blocked);
	return weir__blocked_find(tables, isa, shape);
}

static struct weir_sectors sectors(const struct weir_array *a)
{
	return weir__blocked_sectors(a->shape.field[WEIR_BLOCKED_Z],
	                             a->shape.field[WEIR_BLOCKED_G]);
}

static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const struct weir_sectors s = sectors(&f->array);
	double power[65];
	weir__sectors_power(power, &s);
	for (uint64_t block = first; block < first + n; block++) {
		unsigned ones[8];
		for (unsigned w = 0; w < 8; w++) {
			uint64_t word = weir__word_load_relaxed(f->array.words + 8 * block + w);
			ones[w] = (unsigned)__builtin_popcountll(word);
			sum->used += ones[w];
		}
		sum->rate += weir__sectors_block_rate(ones, power, &s);
	}
	sum->lines += n;
	sum->cells += 512 * n;
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const struct weir_sectors s = sectors(&f->array);
	double fill = (double)sum->used / (double)sum->cells;
	*keys = weir__sectors_keys(fill, (double)f->array.lines, &s);
	*rate = sum->rate / (double)sum->lines;
}

/* Or adjacent blocks into one, since mulhi(h, lines / factor) = mulhi(h, lines) / factor. */
static int fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	for (uint64_t block = 0; block < f->array.lines; block++)
		for (unsigned w = 0; w < 8; w++) {
			uint64_t word = weir__word_load_relaxed(f->array.words + block * 8 + w);
			dst->array.words[block / factor * 8 + w] |= WEIR__LE64(word);
		}
	return 0;
}

static int view(const struct weir_filter *f, struct weir_inline_mut *out)
{
	const struct weir_array *a = &f->array;
	*out = (struct weir_inline_mut){
		.view = { .words = a->words,
		          .nblocks = a->lines,
		          .seed = a->seed,
		          .flip8 = a->flip8,
		          .layout = WEIR__LAYOUT(a->shape.field[WEIR_BLOCKED_Z],
		                                 a->shape.field[WEIR_BLOCKED_G]) },
		.words = a->words,
		.insert_error = f->insert_error
	};
	return 0;
}

const struct weir_kind weir__kind_blocked = {
	.id = WEIR_BLOCKED,
	.name = "blocked",
	.hash = &weir__xxh3,
	.fields = { "words_per_key", "bits_per_word" },
	.plan = weir__blocked_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.merge = weir__bits_merge,
	.snapshot = weir__bits_snapshot,
	.fold = fold,
	.view = view,
};
