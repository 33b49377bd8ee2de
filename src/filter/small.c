/* SPDX-License-Identifier: MIT
 * Small filters: their sizes and rates, by the formula of independent probes. The header has the
 * lookups and inserts. */
#include <errno.h>
#include <math.h>
#include <weir/small.h>
#include "ground/error.h"
#include "hash/hash.h"

enum { MOST_PROBES = 32 };
static const double RATE_LEAST = 1e-9, RATE_MOST = 0.5;

/* ---- formulas. A filter of m bits with n keys of k probes ---- */

static double rate_of(double m, double n, double k)
{
	return pow(-expm1(n * k * log1p(-1 / m)), k);
}

static double bits_for(double n, double k, double rate)
{
	return -n * k / log1p(-pow(rate, 1 / k));
}

/* ---- sizes ---- */

/* The seed is part of the answer, so a failure leaves @out unchanged. */
static int finish(struct weir_small *out, double words, double probes, uint64_t seed)
{
	while (!seed) {
		int err = weir__random(&seed);
		if (err)
			return err;
	}
	*out = (struct weir_small){ .seed = seed, .flip8 = weir__flip8(seed),
		                    .words = (uint32_t)words, .probes = (uint32_t)probes };
	return 0;
}

int weir_small_init(struct weir_small *out, uint64_t capacity, double fp_rate, uint64_t seed)
{
	if (!capacity || !(fp_rate >= RATE_LEAST && fp_rate <= RATE_MOST))
		return weir__fail(-EINVAL, "a small filter of capacity %llu and fp_rate %g: "
		                  "capacity is at least 1, fp_rate from %g to %g",
		                  (unsigned long long)capacity, fp_rate, RATE_LEAST, RATE_MOST);
	double n = (double)capacity, k = floor(-log2(fp_rate) + 1e-9);
	if (bits_for(n, k + 1, fp_rate) < bits_for(n, k, fp_rate))
		k++;
	double words = ceil(bits_for(n, k, fp_rate) / 64);
	if (words > WEIR_SMALL_WORDS)
		return weir__fail(-EFBIG, "a small filter of capacity %llu and fp_rate %g needs "
		                  "%.0f words, and has at most %d: use weir_create()",
		                  (unsigned long long)capacity, fp_rate, words, WEIR_SMALL_WORDS);
	while (rate_of(words * 64, n, k) > fp_rate) /* of a few words */
		words++;
	return finish(out, words, k, seed);
}

int weir_small_fit(struct weir_small *out, uint64_t capacity, uint32_t words, uint64_t seed)
{
	if (!capacity || !words || words > WEIR_SMALL_WORDS)
		return weir__fail(-EINVAL, "a small filter of capacity %llu and %u words: "
		                  "capacity is at least 1, words from 1 to %d",
		                  (unsigned long long)capacity, words, WEIR_SMALL_WORDS);
	double m = words * 64.0, n = (double)capacity;
	double k = fmin(fmax(floor(m * M_LN2 / n), 1), MOST_PROBES);
	if (k < MOST_PROBES && rate_of(m, n, k + 1) < rate_of(m, n, k))
		k++;
	return finish(out, words, k, seed);
}

/* ---- rates and counts ---- */

double weir_small_rate(const struct weir_small *s, uint64_t keys)
{
	return rate_of(s->words * 64.0, (double)keys, s->probes);
}

uint64_t weir_small_count(const struct weir_small *s, const uint64_t *bits)
{
	double m = s->words * 64.0;
	uint64_t ones = 0;
	for (uint32_t i = 0; i < s->words; i++)
		ones += (unsigned)__builtin_popcountll(weir__word_load_relaxed(bits + i));
	double zeros = fmax(m - (double)ones, 1); /* 0: no number of keys is too large */
	return (uint64_t)(log(zeros / m) / (s->probes * log1p(-1 / m)) + 0.5);
}

uint64_t weir_small_hash(const struct weir_small *s, const void *key, size_t len)
{
	return weir__hash(s->seed, key, len);
}
