/* SPDX-License-Identifier: MIT
 * The classic kind (Bloom 1970): k probes over the whole array, the least memory of the kinds that
 * take inserts.
 *
 * The layout, frozen by golden files. The array is nbits = 512 * nblocks bits; bit b is bit b % 64
 * of word b / 64. A key sets k:
 *
 *     x_0     = h = XXH3_64bits_withSeed(key, len, seed)
 *     bit i   = high half of x_i * nbits
 *     x_(i+1) = x_i * 0xD1342543DE82EF95            (modulo 2^64)
 *
 * The multiplier is one of Steele and Vigna's spectrally good ones (2021): the k-tuples of all h
 * lie evenly in k dimensions, and measured / asked rate is what the formula for independent probes
 * says (tests/property). Double hashing, h1 + i * h2, is not: its rate is too high for small
 * arrays.
 *
 * One scalar kernel serves every instruction set: the probes are apart from each other in
 * memory, so vectors have nothing to gain. Folds: high half of x * (nbits / factor) = (high half
 * of x * nbits) / factor, so adjacent bits fall into one. */
#include <math.h>
#include <string.h>
#include "batch.h"
#include "error.h"
#include "plan.h"
#include "sizing.h"

enum { MOST_K = 32 };

static inline uint64_t next_probe(uint64_t x)
{
	return x * UINT64_C(0xD1342543DE82EF95);
}

static inline uint64_t bit_of(const struct weir_inline *v, uint64_t x)
{
	return weir__mulhi64(x, 512 * v->nblocks);
}

static inline uint64_t *word_of(const struct weir_inline *v, uint64_t x)
{
	return v->words + bit_of(v, x) / 64;
}

static inline bool is_set(const struct weir_inline *v, uint64_t x)
{
	uint64_t bit = bit_of(v, x);
	return weir__word_load_relaxed(v->words + bit / 64) >> (bit % 64) & 1;
}

/* ---- the verbs ---- */

static bool contains_hash(const struct weir_filter *f, uint64_t x)
{
	const struct weir_inline *v = &f->view;
	for (unsigned i = 0; i < v->words_per_key; i++, x = next_probe(x))
		if (!is_set(v, x))
			return false;
	return true;
}

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	return contains_hash(f, weir__hash(f->view.seed, key, len));
}

/* All loads first: a locked or holds back the loads behind it. A bit that is set is not written
 * again. */
static int set(const struct weir_inline *v, uint64_t x)
{
	uint64_t missing[MOST_K];
	unsigned n = 0;
	for (unsigned i = 0; i < v->words_per_key; i++, x = next_probe(x)) {
		missing[n] = x;
		n += !is_set(v, x);
	}
	for (unsigned i = 0; i < n; i++)
		weir__word_or_relaxed(word_of(v, missing[i]),
		                      UINT64_C(1) << (bit_of(v, missing[i]) % 64));
	return n ? WEIR_NEW : WEIR_SEEN;
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	return set(&f->view, hash);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return set(&f->view, weir__hash(f->view.seed, key, len));
}

/* ---- the steps of a batch: of a key is noted its hash ---- */

enum { STEP = 64 };

static inline void note(const uint64_t *hashes, unsigned n, uint64_t *x)
{
	memcpy(x, hashes, n * sizeof *x);
}

WEIR__INLINE void note_to_read(const struct weir_inline *v, const uint64_t *hashes, unsigned n,
                               bool far, struct weir_notes *notes, unsigned at)
{
	note(hashes, n, notes->row[0] + at);
	for (unsigned i = 0; far && i < n; i++)
		__builtin_prefetch(word_of(v, hashes[i]), 0, 3);
}

WEIR__INLINE void note_to_write(const struct weir_inline *v, const uint64_t *hashes, unsigned n,
                                bool far, struct weir_notes *notes, unsigned at)
{
	note(hashes, n, notes->row[0] + at);
	for (unsigned i = 0; far && i < n; i++) {
		uint64_t probe = hashes[i];
		for (unsigned j = 0; j < v->words_per_key; j++, probe = next_probe(probe))
			__builtin_prefetch(word_of(v, probe), 1, 3);
	}
}

/* Probe by probe over all keys that are still possible: the next line of each is fetched while
 * the others are tested, and a key that is out costs no more lines. */
WEIR__INLINE uint64_t test_noted(const struct weir_inline *v, bool far,
                                 const struct weir_notes *notes, unsigned at, unsigned n)
{
	uint64_t x[STEP], possible = ~UINT64_C(0) >> (STEP - n);
	memcpy(x, notes->row[0] + at, n * sizeof *x);
	for (unsigned i = 0; i < v->words_per_key && possible; i++)
		for (uint64_t left = possible; left; left &= left - 1) {
			unsigned key = (unsigned)__builtin_ctzll(left);
			if (!is_set(v, x[key])) {
				possible ^= UINT64_C(1) << key;
				continue;
			}
			x[key] = next_probe(x[key]);
			if (far)
				__builtin_prefetch(word_of(v, x[key]), 0, 3);
		}
	return possible;
}

WEIR__INLINE uint64_t set_noted(const struct weir_inline *v, bool far,
                                const struct weir_notes *notes, unsigned at, unsigned n)
{
	(void)far;
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)set(v, notes->row[0][at + i]) << i;
	return answers;
}

static size_t contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                             uint64_t *bitmap)
{
	return weir__batch_run(f, batch, bitmap, STEP, STEP, note_to_read, test_noted);
}

static size_t insert_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	return weir__batch_run(f, batch, bitmap, STEP, STEP, note_to_write, set_noted);
}

static bool layout_legal(uint32_t k, uint32_t g)
{
	return k >= 1 && k <= MOST_K && g == 1;
}

static const struct weir_kernel *kernel(enum weir_isa isa, uint32_t k, uint32_t g)
{
	static const struct weir_kernel scalar = {
		.isa = WEIR_ISA_SCALAR,
		.verbs = { contains, contains_hash, insert, insert_hash },
		.contains_batch = contains_batch,
		.insert_batch = insert_batch,
	};
	(void)isa, (void)k, (void)g;
	return &scalar;
}

/* ---- the whole array ---- */

static void tally(const struct weir_filter *f, uint64_t first, uint64_t n, struct weir_tally *tally)
{
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++)
		tally->ones += (unsigned)__builtin_popcountll(
			weir__word_load_relaxed(f->view.words + i));
	tally->blocks += n;
}

static void estimate(const struct weir_filter *f, const struct weir_tally *tally, double *keys,
                     double *rate)
{
	double bits = 512.0 * (double)f->view.nblocks,
	       fill = (double)tally->ones / (512.0 * (double)tally->blocks);
	*keys = -log1p(-fill) * bits / f->view.words_per_key;
	*rate = pow(fill, f->view.words_per_key);
}

/* Each pair of bits or'ed into one: the low 32 bits of the answer. */
static uint64_t halve(uint64_t x)
{
	x = (x | x >> 1) & UINT64_C(0x5555555555555555);
	x = (x | x >> 1) & UINT64_C(0x3333333333333333);
	x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
	return (x | x >> 16) & UINT64_C(0x00000000ffffffff);
}

static void fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	for (uint64_t i = 0; i < 8 * f->view.nblocks; i++) {
		uint64_t x = weir__word_load_relaxed(f->view.words + i), bit = 64 * i / factor;
		for (uint32_t left = factor < 64 ? factor : 64; left > 1; left /= 2)
			x = halve(x);
		dst->view.words[bit / 64] |= WEIR__LE64(x << (bit % 64));
	}
}

/* ---- the plan ---- */

static double bits(double fp_rate, unsigned k, unsigned one)
{
	(void)one;
	return weir__classic_bits(fp_rate, k);
}

static double rate(double bits_per_key, unsigned k, unsigned one)
{
	(void)one;
	return weir__classic_rate(bits_per_key, k);
}

static unsigned best_k(struct weir_wanted wanted)
{
	unsigned best = 1;
	double need;
	if (wanted.fp_rate > 0)
		return weir__classic_best_k(wanted.fp_rate, &need);
	for (unsigned k = 2; k <= MOST_K; k++)
		if (weir__classic_rate(wanted.bits_per_key, k) <
		    weir__classic_rate(wanted.bits_per_key, best))
			best = k;
	return best;
}

/* k is bits_per_word, as params.h says. A plan and weir_params_of() have it as so many words of
 * one bit, which is taken as well. */
int weir__classic_plan(const struct weir_params *p, struct weir_plan *out)
{
	static const struct weir_formula formula = { bits, rate };
	if (p->bits_per_word > MOST_K)
		return weir__fail(-EINVAL,
		                  "bits_per_word %u: the classic kind sets 1 to %d bits a key, or "
		                  "0 to have it chosen",
		                  p->bits_per_word, MOST_K);
	if (p->words_per_key && (p->bits_per_word != 1 || p->words_per_key > MOST_K))
		return weir__fail(
			-EINVAL,
			"words_per_key %u: 0 for the classic kind, or 1 to %d with bits_per_word 1",
			p->words_per_key, MOST_K);
	bool asked = p->bits_per_word != 0;
	out->words_per_key = p->words_per_key ? p->words_per_key :
	                     asked            ? p->bits_per_word :
	                                        best_k(weir__plan_wanted(p));
	out->bits_per_word = 1;
	out->reason = asked ? "the bits a key that were asked for" :
	                      "the bits a key that need the least memory";
	return weir__plan_complete(p, &formula, out);
}

const struct weir_kind weir__kind_classic = {
	.id = WEIR_CLASSIC,
	.name = "classic",
	.plan = weir__classic_plan,
	.layout_legal = layout_legal,
	.kernel = kernel,
	.tally = tally,
	.estimate = estimate,
	.fold = fold,
};
