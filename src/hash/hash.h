/* SPDX-License-Identifier: MIT
 * Turns keys into 64-bit hashes. The rest of the library gets xxHash through this file.
 *
 * Each kind names a seeded hash function. A filter with a secret key uses SipHash-2-4 with that key
 * instead, whatever its kind. Two filters with the same function and the same seed have equal
 * hashes of a key. XXH3 is inlined into kernels and batches: 8-byte keys use the form in
 * <weir/inline.h>, and AVX-512 code hashes eight of them at once. XXH64 serves the formats of other
 * libraries. */
#ifndef WEIR_SRC_HASH_HASH_H
#define WEIR_SRC_HASH_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <weir/inline.h>
#include "ground/system.h"

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#endif

/* SipHash-2-4 with a 64-bit output. Without the key, the hash cannot be predicted.
 * Source: Aumasson, Bernstein 2012, "SipHash: a fast short-input PRF". */

enum { WEIR_SIPHASH_KEY = 16 }; /* bytes */

/* @bytes may be NULL if @n is 0. The hash is the same on every machine. */
uint64_t weir__siphash(const unsigned char key[WEIR_SIPHASH_KEY], const void *bytes, size_t n);

struct weir_hashing;

struct weir_hash {
	uint32_t id; /* stored in images, so it never changes */
	const char *name;
	uint64_t (*of)(const struct weir_hashing *h, const void *key, size_t len);
	/* Like of(), for the key with A to Z replaced by a to z. Allocates no memory, however long
	 * the key. NULL: kinds with this hash function do not normalise keys. */
	uint64_t (*of_lowercase)(const struct weir_hashing *h, const void *key, size_t len);
};

/* hash.c */
extern const struct weir_hash weir__xxh3;        /* id 1 */
extern const struct weir_hash weir__xxh64;       /* id 2 */
extern const struct weir_hash weir__siphash_2_4; /* id 3 */

/* How a filter hashes its keys. Two filters with equal functions and equal seeds must have equal
 * hashes. So the seed of a keyed filter is a check value of its key, not a random number. */
struct weir_hashing {
	const struct weir_hash *by;
	uint64_t seed; /* 0 only for a kind whose bits other programs read (weir_kind.as_is) */
	unsigned char key[WEIR_SIPHASH_KEY]; /* zero unless @by is weir__siphash_2_4 */
};

struct weir_hashing weir__hashing_seeded(const struct weir_hash *by, uint64_t seed);
/* @secret: WEIR_SIPHASH_KEY bytes. */
struct weir_hashing weir__hashing_keyed(const void *secret);
/* Set how a filter hashes. If @secret is NULL, the filter hashes by @by and @seed, where a @seed of
 * 0 stands for a random seed. Otherwise it hashes by SipHash-2-4 with the key @secret, and
 * @seed must be 0 or the check value of that key. Return: 0 or a negative errno. */
int weir__hashing_of(struct weir_hashing *out, const struct weir_hash *by, uint64_t seed,
                     const void *secret);

static inline bool weir__keyed(const struct weir_hashing *h)
{
	return h->by == &weir__siphash_2_4;
}

static inline bool weir__same_hashing(const struct weir_hashing *a, const struct weir_hashing *b)
{
	return a->by == b->by && a->seed == b->seed;
}

/* Describe a hashing for an error sentence: "XXH3, seed fingerprint 0123abcd", "SipHash-2-4, key
 * fingerprint 0123abcd" or "XXH64, seed 0". */
enum { WEIR_HASHING_TEXT = 64 };
const char *weir__hashing_text(const struct weir_hashing *h, char text[WEIR_HASHING_TEXT]);

/* Return: the lower 32 bits of the SipHash-2-4 of a constant text, keyed by the seed; 0 if the seed
 * is 0. So equal seeds give equal bits. An attacker can recover the seed from these bits only by
 * trying all seeds. */
uint64_t weir__seed_fingerprint(uint64_t seed);

/* Hash by XXH3, inlined. */
static inline uint64_t weir__hash(uint64_t seed, const void *key, size_t len)
{
	return XXH3_64bits_withSeed(key, len, seed);
}

/* Hash by the filter's hash function. XXH3 is inlined. */
static inline uint64_t weir__hash_by(const struct weir_hashing *h, const void *key, size_t len)
{
	return __builtin_expect(h->by == &weir__xxh3, 1) ? weir__hash(h->seed, key, len) :
	                                                   h->by->of(h, key, len);
}

/* The checksum of images and deltas: XXH3 without a seed. */
static inline uint64_t weir__checksum(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

/* The checksum of bytes that arrive in pieces. It equals the checksum of all bytes together. */
struct weir_checksum {
	XXH3_state_t state;
};

static inline void weir__checksum_begin(struct weir_checksum *sum)
{
	XXH3_64bits_reset(&sum->state);
}

static inline void weir__checksum_add(struct weir_checksum *sum, const void *bytes, size_t n)
{
	XXH3_64bits_update(&sum->state, bytes, n);
}

static inline uint64_t weir__checksum_end(const struct weir_checksum *sum)
{
	return XXH3_64bits_digest(&sum->state);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)

WEIR__INLINE __m512i weir__hash8_lanes(__m512i key, __m512i flip)
{
	const __m512i m = _mm512_set1_epi64((long long)WEIR__HASH8_M);
	__m512i x = _mm512_xor_si512(_mm512_rol_epi64(key, 32), flip);
	x = _mm512_ternarylogic_epi64(x, _mm512_rol_epi64(x, 49), _mm512_rol_epi64(x, 24), 0x96);
	x = _mm512_mullo_epi64(x, m);
	x = _mm512_xor_si512(x, _mm512_add_epi64(_mm512_srli_epi64(x, 35), _mm512_set1_epi64(8)));
	x = _mm512_mullo_epi64(x, m);
	return _mm512_xor_si512(x, _mm512_srli_epi64(x, 28));
}

/* Put the hashes of n consecutive 8-byte keys into out. @flip8: weir__flip8() of the seed. */
WEIR__INLINE void weir__hash8_each(uint64_t flip8, const char *keys, size_t n, uint64_t *out)
{
	const __m512i flip = _mm512_set1_epi64((long long)flip8);
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		_mm512_storeu_si512(out + i,
		                    weir__hash8_lanes(_mm512_loadu_si512(keys + 8 * i), flip));
	if (i < n) {
		__mmask8 rest = (__mmask8)((1u << (n - i)) - 1);
		_mm512_mask_storeu_epi64(
			out + i, rest,
			weir__hash8_lanes(_mm512_maskz_loadu_epi64(rest, keys + 8 * i), flip));
	}
}

#else

WEIR__INLINE void weir__hash8_each(uint64_t flip8, const char *keys, size_t n, uint64_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = weir__hash8(flip8, keys + 8 * i);
}

#endif

/* weir__hash8_each() for code that is compiled for any CPU. The first function needs AVX-512. The
 * second calls the first if @isa is WEIR_ISA_AVX512, and weir__hash8_each() otherwise. */
void weir__hash8_avx512(uint64_t flip8, const char *keys, size_t n, uint64_t *out);
void weir__hash8_for(enum weir_isa isa, uint64_t flip8, const char *keys, size_t n, uint64_t *out);

#endif
