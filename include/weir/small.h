/* SPDX-License-Identifier: MIT
 * Small filters: each is its bits alone, in your memory. One struct weir_small has the size and the
 * seed of any number of filters.
 *
 *     struct weir_small s;
 *     if (weir_small_init(&s, 500, 0.01, 0) < 0) ...
 *     uint64_t *bits = calloc(users, s.words * sizeof(uint64_t));
 *     weir_small_insert(&s, bits + user * s.words, key, len);
 *
 * A filter by weir_create() has a record of some 400 bytes, and a server that keeps a filter for
 * each of a million users pays for it a million times. Use weir_create() for a large set: its kinds
 * touch fewer cache lines, measure themselves, and have files. Of a small filter, you store the
 * words, and once for all filters the seed, the words and the probes of the struct.
 *
 * All zero bits are an empty filter, so calloc() or mmap() makes one and memset() clears it.
 * memcpy() copies one. A copy beside inserts has each insert that happens-before it.
 *
 * Threads. Lookups, inserts, merges and counts of one filter may run at the same time. They are
 * wait-free. Bits only go from 0 to 1, so a lookup sees every insert that happens-before it
 * ([BITS-ONLY-SET] in word.h). Clearing and freeing may not run beside them.
 *
 * Layout. It never changes (golden words test it). The words are little-endian on every machine. A
 * key sets the bits of the kind classic in an array of these words:
 *
 *     x_0     = XXH3_64bits_withSeed(key, len, seed)
 *     bit i   = high half of x_i * (64 * words)
 *     x_(i+1) = x_i * 0xD1342543DE82EF95            (modulo 2^64) */
#ifndef WEIR_SMALL_H
#define WEIR_SMALL_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/inline_hash.h>
#include <weir/word.h>

WEIR_BEGIN_DECLS

/** The most words of a small filter: 64 KiB. */
#define WEIR_SMALL_WORDS 8192

/** The size and the seed of small filters. Read-only after weir_small_init() or
 * weir_small_fit(). */
struct weir_small {
	uint64_t seed;   /* of the hash, not 0 */
	uint64_t flip8;  /* follows from the seed */
	uint32_t words;  /* of 64 bits in a filter, 1 to WEIR_SMALL_WORDS */
	uint32_t probes; /* bits that a key sets, 1 to 32 */
};

/**
 * Choose the size of filters by a false-positive rate.
 * @capacity: keys of a filter, at least 1.  @fp_rate: of a filter with @capacity keys, 1e-9 to 0.5.
 * @seed: of the hash; 0: a random seed, which you must store with the words.
 * Errors: -EINVAL if a number is out of range; -EFBIG if a filter would need more than
 *   WEIR_SMALL_WORDS; an errno of the kernel if it gives no random number.  Threads: any.
 * Cost: about 1 us, and with @seed 0 a system call.
 */
WEIR_API WEIR_MUST_CHECK int weir_small_init(struct weir_small *out, uint64_t capacity,
                                             double fp_rate, uint64_t seed);
/**
 * As weir_small_init(), for filters of @words. weir_small_rate() then tells the rate.
 * Errors: -EINVAL if a number is out of range; an errno of the kernel if it gives no random number.
 */
WEIR_API WEIR_MUST_CHECK int weir_small_fit(struct weir_small *out, uint64_t capacity,
                                            uint32_t words, uint64_t seed);

/** Compute the false-positive rate of a filter with @keys different keys. Cost: about 100 ns. */
WEIR_API double weir_small_rate(const struct weir_small *s, uint64_t keys);

/** Estimate how many different keys a filter has. If all its bits are 1, the answer is the most
 * that this filter can tell. Cost: about 1 ns a word. */
WEIR_API uint64_t weir_small_count(const struct weir_small *s, const uint64_t *bits);

/** Hash a key for the _hash forms below. Cost: as weir_hash(). */
WEIR_API uint64_t weir_small_hash(const struct weir_small *s, const void *key, size_t len);

/* The probe after @x. */
WEIR__INLINE uint64_t weir__small_next(uint64_t x)
{
	return x * UINT64_C(0xD1342543DE82EF95);
}

/* The bit of a probe: the high half of x * (64 * words), which is below 2^20. */
WEIR__INLINE uint32_t weir__small_bit(const struct weir_small *s, uint64_t x)
{
	uint64_t n = (uint64_t)s->words * 64;
	return (uint32_t)(((x >> 32) * n + ((x & 0xffffffff) * n >> 32)) >> 32);
}

/**
 * Look up a hash, by weir_small_hash() or uniform in all 64 bits.
 * @bits: the words of the filter, aligned to 8 bytes.
 * Return: false if the filter does not have the key; true if it has, or by chance.
 * Errors: none.  Threads: any, beside inserts.  Progress: wait-free.
 */
static inline bool weir_small_contains_hash(const struct weir_small *s, const uint64_t *bits,
                                            uint64_t hash)
{
	for (uint32_t i = 0; i < s->probes; i++, hash = weir__small_next(hash)) {
		uint32_t bit = weir__small_bit(s, hash);
		if (!(weir__word_load_relaxed(bits + bit / 64) >> bit % 64 & 1))
			return false;
	}
	return true;
}

/** As weir_small_contains_hash(), for a key of @len bytes. */
static inline bool weir_small_contains(const struct weir_small *s, const uint64_t *bits,
                                       const void *key, size_t len)
{
	return weir_small_contains_hash(s, bits, weir_small_hash(s, key, len));
}

/** As weir_small_contains_hash(), for the eight bytes of a number. */
static inline bool weir_small_contains_u64(const struct weir_small *s, const uint64_t *bits,
                                           uint64_t key)
{
	return weir_small_contains_hash(s, bits, weir__hash_u64(s->flip8, key));
}

/**
 * Insert a hash, by weir_small_hash() or uniform in all 64 bits.
 * Return: WEIR_NEW if a bit was 0, else WEIR_SEEN. If several threads insert one new key at the
 *   same time, at least one gets WEIR_NEW.
 * Errors: none.  Threads: any, beside lookups and inserts.  Progress: wait-free.
 */
static inline int weir_small_insert_hash(const struct weir_small *s, uint64_t *bits, uint64_t hash)
{
	uint32_t missing[32], n = 0;
	/* All loads come first, since a locked OR delays the loads after it. */
	for (uint32_t i = 0; i < s->probes; i++, hash = weir__small_next(hash)) {
		uint32_t bit = weir__small_bit(s, hash);
		missing[n] = bit;
		n += !(weir__word_load_relaxed(bits + bit / 64) >> bit % 64 & 1);
	}
	for (uint32_t i = 0; i < n; i++)
		weir__word_or_relaxed(bits + missing[i] / 64, UINT64_C(1) << missing[i] % 64);
	return n ? WEIR_NEW : WEIR_SEEN;
}

/** As weir_small_insert_hash(), for a key of @len bytes. */
static inline int weir_small_insert(const struct weir_small *s, uint64_t *bits, const void *key,
                                    size_t len)
{
	return weir_small_insert_hash(s, bits, weir_small_hash(s, key, len));
}

/** As weir_small_insert_hash(), for the eight bytes of a number. */
static inline int weir_small_insert_u64(const struct weir_small *s, uint64_t *bits, uint64_t key)
{
	return weir_small_insert_hash(s, bits, weir__hash_u64(s->flip8, key));
}

/** Add all keys of the filter @from to the filter @into. Both have the size and seed of @s. */
static inline void weir_small_merge(const struct weir_small *s, uint64_t *into,
                                    const uint64_t *from)
{
	for (uint32_t i = 0; i < s->words; i++) {
		uint64_t word = weir__word_load_relaxed(from + i);
		if (word & ~weir__word_load_relaxed(into + i))
			weir__word_or_relaxed(into + i, word);
	}
}

WEIR_END_DECLS

#endif
