/* SPDX-License-Identifier: MIT
 * The classic kind (Bloom 1970): k probes over the whole array. Of the kinds that take inserts it
 * needs the least memory, except at rates from 0.012 % to 0.03 %, where cuckoo needs less.
 *
 * The layout, frozen by golden files. The array is nbits = 512 * lines bits. Bit b is bit b % 64 of
 * word b / 64. A key sets k bits:
 *
 *     x_0     = h = XXH3_64bits_withSeed(key, len, seed)
 *     bit i   = high half of x_i * nbits
 *     x_(i+1) = x_i * 0xD1342543DE82EF95            (modulo 2^64)
 *
 * The multiplier is one of Steele and Vigna's spectrally good ones (2021): the k-tuples of all h
 * lie evenly in k dimensions. So the measured rate matches the formula for independent probes
 * (tests/property). Double hashing, h1 + i * h2, has too high a rate in small arrays.
 *
 * One scalar kernel serves every instruction set: the probes lie far apart in memory, so vectors
 * gain nothing.
 *
 * A fold ORs every run of factor adjacent bits into one bit. A key's old bit goes into the key's
 * new bit, since high half of x * (nbits / factor) = (high half of x * nbits) / factor. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ground/error.h"
#include "kind/batch.h"
#include "kind/kind.h"
#include "kind/sizing.h"
#include "kind/spread.h"

/* Indices in a shape of this kind. bits_per_probe is always 1. */
enum { PROBES = 0, BITS_PER_PROBE = 1, MOST_K = 32 };

static inline unsigned probes(const struct weir_array *a)
{
	return a->shape.field[PROBES];
}

static inline uint64_t next_probe(uint64_t x)
{
	return x * UINT64_C(0xD1342543DE82EF95);
}

static inline uint64_t bit_of(const struct weir_array *a, uint64_t x)
{
	return weir__mulhi64(x, 512 * a->lines);
}

static inline uint64_t *word_of(const struct weir_array *a, uint64_t x)
{
	return a->words + bit_of(a, x) / 64;
}

static inline bool is_set(const struct weir_array *a, uint64_t x)
{
	uint64_t bit = bit_of(a, x);
	return weir__word_load_relaxed(a->words + bit / 64) >> (bit % 64) & 1;
}

/* ---- lookups and inserts ---- */

static bool contains_hash(const struct weir_filter *f, uint64_t x)
{
	const struct weir_array *a = &f->array;
	for (unsigned i = 0; i < probes(a); i++, x = next_probe(x))
		if (!is_set(a, x))
			return false;
	return true;
}

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	return contains_hash(f, weir__hash(f->array.seed, key, len));
}

static bool contains_u64(const struct weir_filter *f, uint64_t key)
{
	return contains_hash(f, weir__hash_u64(f->array.flip8, key));
}

/* All loads come first, since a locked OR delays the loads after it. A bit that is already
 * set is not written. */
static int set(const struct weir_array *a, uint64_t x)
{
	uint64_t missing[MOST_K];
	unsigned n = 0;
	for (unsigned i = 0; i < probes(a); i++, x = next_probe(x)) {
		missing[n] = x;
		n += !is_set(a, x);
	}
	for (unsigned i = 0; i < n; i++)
		weir__word_or_relaxed(word_of(a, missing[i]),
		                      UINT64_C(1) << (bit_of(a, missing[i]) % 64));
	return n ? WEIR_NEW : WEIR_SEEN;
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	return set(&f->array, hash);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return set(&f->array, weir__hash(f->array.seed, key, len));
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	return set(&f->array, weir__hash_u64(f->array.flip8, key));
}

/* ---- the steps of a batch. The note of a key is its hash ---- */

enum { STEP = 32 };

static inline void note(const uint64_t *hashes, unsigned n, uint64_t *x)
{
	memcpy(x, hashes, n * sizeof *x);
}

WEIR__INLINE void note_to_read(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                               bool far, struct weir_notes *notes, unsigned at)
{
	note(hashes, n, notes->row[0] + at);
	for (unsigned i = 0; far && i < n; i++)
		__builtin_prefetch(word_of(a, hashes[i]), 0, 3);
}

WEIR__INLINE void note_to_write(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                                bool far, struct weir_notes *notes, unsigned at)
{
	note(hashes, n, notes->row[0] + at);
	for (unsigned i = 0; far && i < n; i++) {
		uint64_t probe = hashes[i];
		for (unsigned j = 0; j < probes(a); j++, probe = next_probe(probe))
			__builtin_prefetch(word_of(a, probe), 1, 3);
	}
}

/* Test probe by probe over all keys that may still be present. The next line of each key is
 * prefetched while the other keys are tested. A key with a 0 bit costs no further line. */
WEIR__INLINE uint64_t test_noted(const struct weir_array *a, bool far,
                                 const struct weir_notes *notes, unsigned at, unsigned n)
{
	uint64_t x[STEP], possible = ~UINT64_C(0) >> (64 - n);
	memcpy(x, notes->row[0] + at, n * sizeof *x);
	for (unsigned i = 0; i < probes(a) && possible; i++)
		for (uint64_t left = possible; left; left &= left - 1) {
			unsigned key = (unsigned)__builtin_ctzll(left);
			if (!is_set(a, x[key])) {
				possible ^= UINT64_C(1) << key;
				continue;
			}
			x[key] = next_probe(x[key]);
			if (far)
				__builtin_prefetch(word_of(a, x[key]), 0, 3);
		}
	return possible;
}

WEIR__INLINE uint64_t set_noted(const struct weir_array *a, bool far,
                                const struct weir_notes *notes, unsigned at, unsigned n)
{
	(void)far;
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)set(a, notes->row[0][at + i]) << i;
	return answers;
}

static size_t contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                             uint64_t *bitmap)
{
	return weir__batch_run(f, batch, bitmap, STEP, STEP, note_to_read, test_noted);
}

static int64_t insert_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	return (int64_t)weir__batch_run(f, batch, bitmap, STEP, STEP, note_to_write, set_noted);
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	/* The bits of a key lie anywhere, so partition_bits is 0 ([PARTITION-BITS]). */
	static const struct weir_kernel scalar = {
		.isa = WEIR_ISA_SCALAR,
		.verbs = { contains, contains_hash, insert, insert_hash, contains_u64,
		           insert_u64 },
		.contains_batch = contains_batch,
		.insert_batch = insert_batch,
	};
	(void)isa, (void)shape;
	return &scalar;
}

/* ---- functions on whole arrays ---- */

static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++) {
		uint64_t word = weir__word_load_relaxed(f->array.words + i);
		sum->used += (unsigned)__builtin_popcountll(word);
	}
	sum->lines += n;
	sum->cells += 512 * n;
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	double bits = 512.0 * (double)f->array.lines;
	double fill = (double)sum->used / (double)sum->cells;
	*keys = -log1p(-fill) * bits / probes(&f->array);
	*rate = pow(fill, probes(&f->array));
}

/* The law treats each probe as a key. If the hashes of keys are successive states of a generator
 * with next_probe()'s multiplier, each key shares all probes but one with the next key. The bits
 * then look like the bits of a k-th as many keys with uniform hashes, so no statistic of the bits
 * detects such keys. Only the number of inserts would show them, but no filter counts its
 * inserts. */
static bool law(const struct weir_filter *f, struct weir_law *out)
{
	*out = (struct weir_law){ .blocks = f->array.lines, .words = 8, .word_bits = 64,
		                  .cells = 64, .z = 1, .g = 1, .apart = true };
	return true;
}

/* OR each pair of adjacent bits into one bit. Return: the 32 results, in the low bits. */
static uint64_t halve(uint64_t x)
{
	x = (x | x >> 1) & UINT64_C(0x5555555555555555);
	x = (x | x >> 1) & UINT64_C(0x3333333333333333);
	x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
	return (x | x >> 16) & UINT64_C(0x00000000ffffffff);
}

static int fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	for (uint64_t i = 0; i < 8 * f->array.lines; i++) {
		uint64_t x = weir__word_load_relaxed(f->array.words + i), bit = 64 * i / factor;
		for (uint32_t left = factor < 64 ? factor : 64; left > 1; left /= 2)
			x = halve(x);
		dst->array.words[bit / 64] |= WEIR__LE64(x << (bit % 64));
	}
	return 0;
}

/* ---- the shape and the plan ---- */

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	uint32_t k = shape->field[PROBES];
	(void)lines;
	return k >= 1 && k <= MOST_K && shape->field[BITS_PER_PROBE] == 1;
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	uint32_t k = shape->field[PROBES];
	snprintf(text, WEIR_SHAPE_TEXT, "%u bit%s a key", k, k == 1 ? "" : "s");
}

static double bits_of_k(double fp_rate, unsigned k)
{
	return -(double)k / log1p(-pow(fp_rate, 1.0 / k));
}

static double rate_of_k(double bits_per_key, unsigned k)
{
	return pow(-expm1(-(double)k / bits_per_key), k);
}

static double bits(double fp_rate, const struct weir_shape *shape)
{
	return bits_of_k(fp_rate, shape->field[PROBES]);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	return rate_of_k(bits_per_key, shape->field[PROBES]);
}

/* Return: the k that needs the fewest bits for a given rate, or that has the lowest rate for a
 * given number of bits a key. */
static unsigned best_k(struct weir_wanted wanted)
{
	unsigned best = 1;
	double least = 0;
	for (unsigned k = 1; k <= MOST_K; k++) {
		double cost = wanted.fp_rate > 0 ? bits_of_k(wanted.fp_rate, k) :
		                                   rate_of_k(wanted.bits_per_key, k);
		if (k == 1 || cost < least) {
			best = k;
			least = cost;
		}
	}
	return best;
}

static int plan(const struct weir_params *p, struct weir_plan *out)
{
	static const struct weir_formula formula = { .bits = bits, .rate = rate };
	if (p->classic.probes > MOST_K)
		return weir__refused(
			weir__fail(-EINVAL, "probes %u: allowed: 1 to %d bits a key, or 0 to have "
			           "it chosen", p->classic.probes, MOST_K),
			WEIR_ERROR_RANGE, "probes", p->classic.probes, 1, MOST_K, 0);
	out->shape.field[PROBES] = p->classic.probes ? p->classic.probes : best_k(weir__wanted(p));
	out->shape.field[BITS_PER_PROBE] = 1;
	out->reason = p->classic.probes ? "the bits a key that were asked for" :
	                                  "the bits a key that need the least memory";
	return weir__size_complete(p, &formula, out);
}

const struct weir_kind weir__kind_classic = {
	.id = WEIR_CLASSIC,
	.name = "classic",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW |
	       WEIR_CAN_MAP_LIVE | WEIR_CAN_REPLICATE,
	.fields = { "probes", "bits_per_probe" },
	.plan = plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.law = law,
	.merge = weir__bits_merge,
	.snapshot = weir__bits_snapshot,
	.fold = fold,
};
