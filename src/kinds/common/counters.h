/* SPDX-License-Identifier: MIT
 * Counters in 64-bit words, shared by the counting and the frequency kind. Golden files freeze the
 * layout:
 *
 * A counter has b = 4, 8, 16 or 32 bits. A word has 64/b counters, counter 0 in its lowest bits. A
 * block is 128 counters: W = 2b words, or b/4 lines. A key picks z words of its block, one in each
 * of z equal groups, and g counters in each word, which need not be distinct:
 *
 *     block   = high half of h * nblocks
 *     r       = h * 0x9E3779B97F4A7C15              (modulo 2^64)
 *     word of group i:     i * (W/z) + the next log2(W/z) bits of r from the top, group 0 first
 *     counters of group i: g fields of log2(64/b) bits, downward from below the bits that choose
 *                          the words, group 0's first
 *
 * The bits of all words and counters must fit in r, which limits z and g.
 *
 * The largest value of a counter means "this many or more". A counter with this value is stuck: it
 * never changes again. */
#ifndef WEIR_SRC_KINDS_COMMON_COUNTERS_H
#define WEIR_SRC_KINDS_COMMON_COUNTERS_H

#include "kind/kind.h"

/* Unrolls loops over a key's words and counters in files where their numbers are constants. */
#ifndef COUNTERS_UNROLL
#define COUNTERS_UNROLL
#endif

/* Indices in a shape of these kinds. */
enum { WEIR_COUNTERS_B = 0, WEIR_COUNTERS_Z = 1, WEIR_COUNTERS_G = 2 };
#define WEIR_COUNTERS_FIELDS { "counter_bits", "words_per_key", "counters_per_word" }

enum { WEIR_COUNTERS_BLOCK = 128, WEIR_COUNTERS_MOST_Z = 8 };

/* Return: the lowest bit of each counter of a word. */
WEIR__INLINE uint64_t weir__counters_ones(unsigned b)
{
	return ~UINT64_C(0) / ((UINT64_C(1) << b) - 1);
}

/* Return: the lowest bit of each stuck counter. */
WEIR__INLINE uint64_t weir__counters_stuck(uint64_t word, unsigned b)
{
	for (unsigned shift = 1; shift < b; shift *= 2)
		word &= word >> shift;
	return word & weir__counters_ones(b);
}

/* Return: the lowest bit of each counter that is not 0. */
WEIR__INLINE uint64_t weir__counters_used(uint64_t word, unsigned b)
{
	for (unsigned shift = 1; shift < b; shift *= 2)
		word |= word >> shift;
	return word & weir__counters_ones(b);
}

/* Return log2 of the number of counters in a word. weir__counters_sector() returns log2 of the
 * number of words in a group. */
WEIR__INLINE unsigned weir__counters_field(unsigned b)
{
	return b == 4 ? 4 : b == 8 ? 3 : b == 16 ? 2 : 1;
}
WEIR__INLINE unsigned weir__counters_sector(unsigned b, unsigned z)
{
	return 7 - weir__counters_field(b) - (z == 1 ? 0 : z == 2 ? 1 : z == 4 ? 2 : 3);
}

WEIR__INLINE uint64_t *weir__counters_block(const struct weir_array *a, uint64_t hash, unsigned b)
{
	return a->words + 2 * b * weir__mulhi64(hash, a->lines / (b / 4));
}

/* The bits of a hash that choose a key's words and counters (r in the layout above). Bits that have
 * been used are shifted out at the top. */
struct weir_fields {
	uint64_t r;
};

WEIR__INLINE unsigned weir__fields_take(struct weir_fields *fields, unsigned width)
{
	unsigned field = width ? (unsigned)(fields->r >> (64 - width)) : 0;
	fields->r <<= width;
	return field;
}

/* A key's words. The mask of a word has the lowest bit of each of the key's counters. */
struct weir_counters {
	uint64_t *word[WEIR_COUNTERS_MOST_Z];
	uint64_t mask[WEIR_COUNTERS_MOST_Z];
	/* set only by weir__counters_look(), or counters_look_lanes() with AVX-512: */
	uint64_t seen[WEIR_COUNTERS_MOST_Z]; /* the words' values */
	bool missing, /* one of the key's counters is 0 */
		stuck; /* one of the key's counters is stuck */
};

WEIR__INLINE void weir__counters_of(const struct weir_array *a, uint64_t hash, unsigned b,
                                    unsigned z, unsigned g, struct weir_counters *out)
{
	uint64_t *block = weir__counters_block(a, hash, b);
	struct weir_fields fields = { weir__remix(hash) };
	const unsigned sector = weir__counters_sector(b, z), field = weir__counters_field(b);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++)
		out->word[i] = block + ((size_t)i << sector) + weir__fields_take(&fields, sector);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		out->mask[i] = 0;
		COUNTERS_UNROLL
		for (unsigned t = 0; t < g; t++)
			out->mask[i] |= UINT64_C(1) << (b * weir__fields_take(&fields, field));
	}
}

/* Read a key's counters. All loads come first, since a locked instruction delays later loads. */
WEIR__INLINE void weir__counters_look(const struct weir_array *a, uint64_t hash, unsigned b,
                                      unsigned z, unsigned g, struct weir_counters *out)
{
	uint64_t missing = 0, stuck = 0;
	weir__counters_of(a, hash, b, z, g, out);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		out->seen[i] = weir__word_load_relaxed(out->word[i]);
		missing |= out->mask[i] & ~weir__counters_used(out->seen[i], b);
		stuck |= out->mask[i] & weir__counters_stuck(out->seen[i], b);
	}
	out->missing = missing;
	out->stuck = stuck;
}

/* Look up a key. The key may be present if none of its counters is 0. */
WEIR__INLINE bool weir__counters_hold(const struct weir_array *a, uint64_t hash, unsigned b,
                                      unsigned z, unsigned g)
{
	struct weir_counters key;
	uint64_t missing = 0;
	weir__counters_of(a, hash, b, z, g, &key);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++)
		missing |= key.mask[i] &
		           ~weir__counters_used(weir__word_load_relaxed(key.word[i]), b);
	return !missing;
}

/* Return: the smallest of the counters that @mask selects in a word. */
WEIR__INLINE uint64_t weir__counters_least(uint64_t word, uint64_t mask, unsigned b)
{
	const uint64_t most = (UINT64_C(1) << b) - 1;
	uint64_t least = most;
	for (; mask; mask &= mask - 1) {
		uint64_t value = word >> __builtin_ctzll(mask) & most;
		least = value < least ? value : least;
	}
	return least;
}

/* Return: the sum of both words, counter by counter. If the sum of two counters does not fit, the
 * result is a stuck counter. */
WEIR__INLINE uint64_t weir__counters_sum(uint64_t x, uint64_t y, unsigned b)
{
	/* Add every second counter in a lane of twice its bits, which has room for the carry. */
	const uint64_t most = (UINT64_C(1) << b) - 1;
	const uint64_t lanes = b == 32 ? 1 : weir__counters_ones(2 * b), half = lanes * most;
	uint64_t even = (x & half) + (y & half), odd = (x >> b & half) + (y >> b & half);
	even |= (even >> b & lanes) * most;
	odd |= (odd >> b & lanes) * most;
	return (even & half) | (odd & half) << b;
}

/* Return: the smallest of a key's counters. */
WEIR__INLINE uint64_t weir__counters_count(const struct weir_array *a, uint64_t hash, unsigned b,
                                           unsigned z, unsigned g)
{
	struct weir_counters key;
	uint64_t least = ~UINT64_C(0);
	weir__counters_of(a, hash, b, z, g, &key);
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = weir__word_load_relaxed(key.word[i]);
		uint64_t here = weir__counters_least(word, key.mask[i], b);
		least = here < least ? here : least;
	}
	return least;
}

/* Return: the result of weir_count_hash(): @least, or WEIR_COUNT_FULL if @least is stuck. */
int64_t weir__counters_answer(uint64_t least, unsigned b);

/* The properties of a kind made of counters. */
struct weir_counters_kind {
	unsigned bits[3];    /* allowed values of counter_bits, the default first */
	const char *allowed; /* these values in words */
	unsigned least_words, least_counters; /* as in struct weir_choices */
	const char *reason;  /* the plan's reason, if the caller chose neither z nor g */
	const struct weir_kernel *any[3]; /* any[i] is for all layouts with bits[i] bits */
	/* Return the kernel compiled for exactly this layout, or NULL. The pointer avx512 itself is
	 * NULL in builds for CPUs other than x86. */
	const struct weir_kernel *(*scalar)(const struct weir_shape *shape);
	const struct weir_kernel *(*avx512)(const struct weir_shape *shape);
};

/* Members of struct weir_kind that all kinds made of counters use. */
int weir__counters_plan(const struct weir_params *params, const struct weir_counting_shape *asked,
                        const struct weir_counters_kind *kind, struct weir_plan *out);
bool weir__counters_legal(const struct weir_shape *shape, uint64_t lines,
                          const struct weir_counters_kind *kind);
const struct weir_kernel *weir__counters_kernel(enum weir_isa isa, const struct weir_shape *shape,
                                                const struct weir_counters_kind *kind);
void weir__counters_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);
void weir__counters_measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                            struct weir_measure *sum);
void weir__counters_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                             double *keys, double *rate);
bool weir__counters_law(const struct weir_filter *f, struct weir_law *out);
/* Add counter by counter. */
int weir__counters_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                         uint64_t n);
int weir__counters_fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor);
bool weir__counters_decides(const struct weir_shape *shape);

/* Define the three members that need the kind's properties. @group: the name of the kind's group in
 * struct weir_params. */
#define WEIR__COUNTERS_OF(kind, group) \
	static int plan(const struct weir_params *params, struct weir_plan *out) \
	{ \
		const struct weir_counting_shape asked = { \
			.counter_bits = params->group.counter_bits, \
			.words_per_key = params->group.words_per_key, \
			.counters_per_word = params->group.counters_per_word \
		}; \
		return weir__counters_plan(params, &asked, &kind, out); \
	} \
	static bool legal(const struct weir_shape *shape, uint64_t lines) \
	{ \
		return weir__counters_legal(shape, lines, &kind); \
	} \
	static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape) \
	{ \
		return weir__counters_kernel(isa, shape, &kind); \
	}
/* Set these members, and the ones above that all kinds of counters use, in the kind's struct. */
#define WEIR__COUNTERS_MEMBERS \
	.hash = &weir__xxh3, .fields = WEIR_COUNTERS_FIELDS, .plan = plan, .legal = legal, \
	.describe = weir__counters_describe, .kernel = kernel, \
	.measure = weir__counters_measure, .estimate = weir__counters_estimate, \
	.law = weir__counters_law, \
	.merge = weir__counters_merge, .snapshot = weir__bits_snapshot, \
	.fold = weir__counters_fold, .decides = weir__counters_decides

#define WEIR__COUNTERS_CAN \
	(WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH | WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW | \
	 WEIR_CAN_FILL_FAST | WEIR_CAN_COUNT | WEIR_CAN_MAP_LIVE)

/* How a kernel reads a key's words and counters: by the functions above, or in AVX-512 lanes. The
 * results are equal. */
#if defined(WEIR_KERNEL_AVX512)
#include "kinds/common/counters_avx512.h"
#else
#define COUNTERS_LOOK weir__counters_look
#define COUNTERS_HOLD weir__counters_hold
#define COUNTERS_COUNT weir__counters_count
#endif

#endif
