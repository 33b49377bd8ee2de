/* SPDX-License-Identifier: MIT
 * Counters: the shape, the plan and the functions on whole arrays. */
#include <stdio.h>
#include "ground/error.h"
#include "kinds/common/counters.h"
#include "kinds/common/sector_rate.h"

static unsigned bits_of(const struct weir_shape *shape)
{
	return shape->field[WEIR_COUNTERS_B];
}

static unsigned lines_of(unsigned b)
{
	return b / 4;
}

static struct weir_sectors sectors(const struct weir_shape *shape)
{
	return (struct weir_sectors){ .words = 2 * bits_of(shape), .cells = 64 / bits_of(shape),
		                      .z = shape->field[WEIR_COUNTERS_Z],
		                      .g = shape->field[WEIR_COUNTERS_G] };
}

/* ---- the shape ---- */

/* Return: the largest g. The bits that choose a key's words and counters must fit in r
 * (counters.h), and g cannot exceed the number of counters in a word. */
static unsigned most_g(unsigned cells, unsigned z)
{
	const unsigned b = 64 / cells, field = weir__counters_field(b);
	const unsigned fit = (64 - z * weir__counters_sector(b, z)) / (z * field);
	return fit < cells ? fit : cells;
}

static bool allowed_bits(unsigned b, const struct weir_counters_kind *kind)
{
	return b == kind->bits[0] || b == kind->bits[1] || b == kind->bits[2];
}

/* Return: a bitmask of the allowed numbers of bits, for weir__refused(). */
static double allowed_sum(const struct weir_counters_kind *kind)
{
	const uint64_t one = 1;
	return (double)(one << kind->bits[0] | one << kind->bits[1] | one << kind->bits[2]);
}

static bool allowed_z(unsigned z)
{
	return z == 1 || z == 2 || z == 4 || z == WEIR_COUNTERS_MOST_Z;
}

bool weir__counters_legal(const struct weir_shape *shape, uint64_t lines,
                          const struct weir_counters_kind *kind)
{
	const struct weir_sectors s = sectors(&(struct weir_shape){
		0, .field = { kind->bits[0], shape->field[WEIR_COUNTERS_Z], 1 } });
	const unsigned b = bits_of(shape), g = shape->field[WEIR_COUNTERS_G];
	return allowed_bits(b, kind) && allowed_z(s.z) && g >= 1 && g <= most_g(64 / b, s.z) &&
	       (lines == UINT64_MAX || lines % lines_of(b) == 0);
}

/* With one word a key, a single compare-and-swap decides between racing inserts. */
bool weir__counters_decides(const struct weir_shape *shape)
{
	return shape->field[WEIR_COUNTERS_Z] == 1;
}

void weir__counters_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const unsigned z = shape->field[WEIR_COUNTERS_Z], g = shape->field[WEIR_COUNTERS_G];
	snprintf(text, WEIR_SHAPE_TEXT, "%u word%s of %u counter%s of %u bits a key", z,
	         z == 1 ? "" : "s", g, g == 1 ? "" : "s", bits_of(shape));
}

const struct weir_kernel *weir__counters_kernel(enum weir_isa isa, const struct weir_shape *shape,
                                                const struct weir_counters_kind *kind)
{
	const struct weir_kernel *own = NULL;
	if (isa == WEIR_ISA_AVX512 && kind->avx512)
		own = kind->avx512(shape);
	if (!own)
		own = kind->scalar(shape);
	for (unsigned i = 0; !own; i++) /* any[] has a kernel for each legal number of bits */
		if (kind->bits[i] == bits_of(shape))
			own = kind->any[i];
	return own;
}

/* ---- the plan ---- */

static double bits(double fp_rate, const struct weir_shape *shape)
{
	const struct weir_sectors s = sectors(shape);
	return bits_of(shape) * weir__sectors_cells(fp_rate, &s);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	const struct weir_sectors s = sectors(shape);
	return weir__sectors_rate(bits_per_key / bits_of(shape), &s);
}

static int check(unsigned b, unsigned z, unsigned g, const struct weir_counters_kind *kind)
{
	if (!allowed_bits(b, kind))
		return weir__refused(
			weir__fail(-EINVAL, "counter_bits %u: allowed: %s, or 0 to have it chosen",
			           b, kind->allowed),
			WEIR_ERROR_CHOICE, "counter_bits", b, allowed_sum(kind), 0, 0);
	if (z && !allowed_z(z))
		return weir__refused(
			weir__fail(-EINVAL, "words_per_key %u: allowed: 1, 2, 4 or 8, or 0 to "
			           "have it chosen", z),
			WEIR_ERROR_CHOICE, "words_per_key", z, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
			0, 0);
	if (g > most_g(64 / b, z ? z : 1) && z)
		return weir__refused(
			weir__fail(-EINVAL, "counters_per_word %u: allowed: 1 to %u with "
			           "counter_bits %u and words_per_key %u, or 0 to have it chosen",
			           g, most_g(64 / b, z), b, z),
			WEIR_ERROR_RANGE, "counters_per_word", g, 1, most_g(64 / b, z), 0);
	if (g > most_g(64 / b, z ? z : 1))
		return weir__refused(
			weir__fail(-EINVAL, "counters_per_word %u: allowed: 1 to %u with "
			           "counter_bits %u, or 0 to have it chosen", g, most_g(64 / b, 1),
			           b),
			WEIR_ERROR_RANGE, "counters_per_word", g, 1, most_g(64 / b, 1), 0);
	return 0;
}

static const char *reason(unsigned z, unsigned g, const struct weir_counters_kind *kind)
{
	if (z && g)
		return "the words a key and counters a word that were asked for";
	return z ? "the words a key that were asked for, with the best counters a word" :
	       g ? "the fewest words a key within 10 % of the smallest layout of the counters a "
	           "word that were asked for" :
	           kind->reason;
}

int weir__counters_plan(const struct weir_params *p, const struct weir_counting_shape *asked,
                        const struct weir_counters_kind *kind, struct weir_plan *out)
{
	const unsigned b = asked->counter_bits ? asked->counter_bits : kind->bits[0];
	const unsigned z = asked->words_per_key, g = asked->counters_per_word;
	const struct weir_formula formula = { .bits = bits, .rate = rate,
		                              .block_lines = lines_of(b) };
	int err = check(b, z, g, kind);
	if (err)
		return err;
	const struct weir_choices choices = { 2 * b, 64 / b, most_g, .slack = 1.1,
		                              .least_words = kind->least_words,
		                              .least_cells = kind->least_counters };
	struct weir_wanted wanted = weir__wanted(p);
	wanted.bits_per_key /= b;
	const struct weir_sectors s = weir__sectors_choose(&choices, z, g, wanted);
	out->shape.field[WEIR_COUNTERS_B] = b;
	out->shape.field[WEIR_COUNTERS_Z] = s.z;
	out->shape.field[WEIR_COUNTERS_G] = s.g;
	out->reason = reason(z, g, kind);
	return weir__size_complete(p, &formula, out);
}

/* ---- the whole array ---- */

/* Count the blocks that begin in these lines. The last block may end after the lines, but not after
 * the array. */
void weir__counters_measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                            struct weir_measure *sum)
{
	const struct weir_sectors s = sectors(&f->array.shape);
	const unsigned b = bits_of(&f->array.shape), block_lines = lines_of(b);
	double power[65];
	weir__sectors_power(power, &s);
	for (uint64_t line = (first + block_lines - 1) / block_lines * block_lines;
	     line < first + n; line += block_lines) {
		unsigned used[64];
		for (unsigned w = 0; w < s.words; w++) {
			uint64_t word = weir__word_load_relaxed(f->array.words + 8 * line + w);
			used[w] = (unsigned)__builtin_popcountll(weir__counters_used(word, b));
			sum->used += used[w];
			sum->stuck += (unsigned)__builtin_popcountll(weir__counters_stuck(word, b));
		}
		sum->rate += weir__sectors_block_rate(used, power, &s);
		sum->cells += WEIR_COUNTERS_BLOCK;
	}
	sum->lines += n;
}

void weir__counters_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                             double *keys, double *rate_now)
{
	const struct weir_sectors s = sectors(&f->array.shape);
	double blocks = (double)(f->array.lines / lines_of(bits_of(&f->array.shape)));
	*keys = weir__sectors_keys((double)sum->used / (double)sum->cells, blocks, &s);
	*rate_now = sum->rate * WEIR_COUNTERS_BLOCK / (double)sum->cells;
}

static uint64_t used_4(uint64_t word) { return weir__counters_used(word, 4); }
static uint64_t used_8(uint64_t word) { return weir__counters_used(word, 8); }
static uint64_t used_16(uint64_t word) { return weir__counters_used(word, 16); }
static uint64_t used_32(uint64_t word) { return weir__counters_used(word, 32); }

bool weir__counters_law(const struct weir_filter *f, struct weir_law *out)
{
	const struct weir_sectors s = sectors(&f->array.shape);
	const unsigned b = bits_of(&f->array.shape);
	*out = weir__sectors_law(&s, f->array.lines / lines_of(b));
	out->used = b == 4 ? used_4 : b == 8 ? used_8 : b == 16 ? used_16 : used_32;
	return true;
}

/* Add @more to a word. A word that does not change is not written. */
static void add(uint64_t *word, uint64_t more, unsigned b)
{
	uint64_t seen = weir__word_load_relaxed(word), sum;
	if (!more)
		return;
	do
		sum = weir__counters_sum(seen, more, b);
	while (sum != seen && !weir__word_swap_relaxed(word, &seen, sum));
}

int weir__counters_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                         uint64_t n)
{
	const unsigned b = bits_of(&src->array.shape);
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++)
		add(dst->array.words + i, weir__word_load_relaxed(src->array.words + i), b);
	return 0;
}

/* Add every run of @factor adjacent blocks into one block. A key's old block goes into the key's
 * new block, since
 * high half of h * (nblocks / factor) = (high half of h * nblocks) / factor. */
int weir__counters_fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	const unsigned b = bits_of(&f->array.shape);
	const uint64_t words = 2 * b, blocks = f->array.lines / lines_of(b);
	for (uint64_t block = 0; block < blocks; block++)
		for (uint64_t w = 0; w < words; w++)
			add(dst->array.words + block / factor * words + w,
			    weir__word_load_relaxed(f->array.words + block * words + w), b);
	return 0;
}

int64_t weir__counters_answer(uint64_t least, unsigned b)
{
	return least < (UINT64_C(1) << b) - 1 ? (int64_t)least : WEIR_COUNT_FULL;
}
