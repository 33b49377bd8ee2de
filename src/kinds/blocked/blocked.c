/* SPDX-License-Identifier: MIT
 * The blocked kind: one cache line a key. <weir/inline.h> has the layout, kernel.c the kernels.
 * This file plans, chooses the kernel, and has the functions on whole arrays.
 * Source: Putze, Sanders, Singler 2007; Lang, Neumann, Kemper, Boncz 2019. */
#include <stdio.h>
#include <weir/inline.h>
#include "ground/error.h"
#include "kind/kind.h"
#include "kind/sizing.h"
#include "kinds/blocked/blocked.h"
#include "kinds/common/sector_rate.h"

/* ---- the plan: the layout with the fewest words a key within 6 % of the smallest size ---- */

enum { FIELDS = 20, MOST_G = 10 };
/* At this rate the classic kind needs 15 % less memory, and it saves more at lower rates. */
static const double classic_pays = 1e-4;

struct weir_sectors weir__blocked_sectors(unsigned z, unsigned g)
{
	return (struct weir_sectors){ .words = 8, .cells = 64, .z = z, .g = g };
}

unsigned weir__blocked_max_g(unsigned z)
{
	return FIELDS / z < MOST_G ? FIELDS / z : MOST_G;
}

static struct weir_sectors of_shape(const struct weir_shape *shape)
{
	return weir__blocked_sectors(shape->field[WEIR_BLOCKED_Z], shape->field[WEIR_BLOCKED_G]);
}

static double bits(double fp_rate, const struct weir_shape *shape)
{
	const struct weir_sectors s = of_shape(shape);
	return weir__sectors_cells(fp_rate, &s);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	const struct weir_sectors s = of_shape(shape);
	return weir__sectors_rate(bits_per_key, &s);
}

static const struct weir_formula formula = { .bits = bits, .rate = rate };

static unsigned most_g(unsigned cells, unsigned z)
{
	(void)cells;
	return weir__blocked_max_g(z);
}

static int check_layout(const struct weir_params *p)
{
	const unsigned z = p->blocked.words_per_key, g = p->blocked.bits_per_word;
	const unsigned most = weir__blocked_max_g(z ? z : 1);
	if (z & (z - 1) || z > 8)
		return weir__refused(
			weir__fail(-EINVAL, "words_per_key %u: allowed: 1, 2, 4 or 8, or 0 to "
			           "have it chosen", z),
			WEIR_ERROR_CHOICE, "words_per_key", z, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
			0, 0);
	if (g > most && z)
		return weir__refused(
			weir__fail(-EINVAL,
			           "bits_per_word %u: allowed: 1 to %u with words_per_key "
			           "%u, or 0 to have it chosen", g, most, z),
			WEIR_ERROR_RANGE, "bits_per_word", g, 1, most, 0);
	if (g > most)
		return weir__refused(
			weir__fail(-EINVAL, "bits_per_word %u: allowed: 1 to %u, or 0 to have it "
			           "chosen", g, most),
			WEIR_ERROR_RANGE, "bits_per_word", g, 1, most, 0);
	return 0;
}

static const char *reason(const struct weir_params *p, const struct weir_plan *plan)
{
#define REASON(text) { text, text "; at so low a rate the classic kind needs less memory" }
	static const char *const texts[4][2] = {
		REASON("the fewest words a key within 6 % of the smallest blocked layout"),
		REASON("the words a key that were asked for, with the best bits a word"),
		REASON("the fewest words a key within 6 % of the smallest layout of the bits a "
		       "word that were asked for"),
		REASON("the words a key and bits a word that were asked for"),
	};
#undef REASON
	return texts[(p->blocked.words_per_key != 0) + 2 * (p->blocked.bits_per_word != 0)]
	            [plan->fp_rate <= classic_pays];
}

static int make_plan(const struct weir_params *p, struct weir_plan *out)
{
	static const struct weir_choices choices = { 8, 64, most_g, .slack = 1.06 };
	int err = check_layout(p);
	if (err)
		return err;
	const struct weir_sectors s = weir__sectors_choose(
		&choices, p->blocked.words_per_key, p->blocked.bits_per_word, weir__wanted(p));
	out->shape.field[WEIR_BLOCKED_Z] = s.z;
	out->shape.field[WEIR_BLOCKED_G] = s.g;
	err = weir__size_complete(p, &formula, out);
	if (!err)
		out->reason = reason(p, out);
	return err;
}

/* ---- whole arrays ---- */

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

static bool law(const struct weir_filter *f, struct weir_law *out)
{
	const struct weir_sectors s = sectors(&f->array);
	*out = weir__sectors_law(&s, f->array.lines);
	return true;
}

/* OR every run of @factor adjacent blocks into one block. A key's old block goes into the key's
 * new block, since mulhi(h, lines / factor) = mulhi(h, lines) / factor. */
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

/* With one word a key, a single atomic OR decides between racing inserts. */
static bool decides(const struct weir_shape *shape)
{
	return shape->field[0] == 1;
}

const struct weir_kind weir__kind_blocked = {
	.id = WEIR_BLOCKED,
	.name = "blocked",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW | WEIR_CAN_FILL_FAST |
	       WEIR_CAN_MAP_LIVE | WEIR_CAN_REPLICATE,
	.decides = decides,
	.fields = { "words_per_key", "bits_per_word" },
	.plan = make_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.law = law,
	.merge = weir__bits_merge,
	.snapshot = weir__bits_snapshot,
	.fold = fold,
	.view = view,
};
