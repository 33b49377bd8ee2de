/* SPDX-License-Identifier: MIT
 * The hash functions that kinds choose from, and SipHash-2-4 for filters with a secret key. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <weir/word.h>
#include "config.h"
#include "ground/error.h"
#include "ground/system.h"
#include "hash/hash.h"

/* ---- SipHash-2-4 (hash.h names the paper): two rounds for each message word, and four rounds at
 * the end ---- */

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline uint64_t word_at(const unsigned char *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof word);
	return WEIR__LE64(word);
}

static inline void rounds(struct state *s, unsigned n)
{
	while (n--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static inline void compress(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	rounds(s, 2);
	s->v0 ^= word;
}

/* The last word: the remaining bytes, and the length modulo 256 in the top byte. */
static inline uint64_t last_word(const unsigned char *p, size_t n)
{
	uint64_t word = (uint64_t)(n & 0xff) << 56;
	for (size_t i = 0; i < n % 8; i++)
		word |= (uint64_t)p[i] << (8 * i);
	return word;
}

/* Set bit 0x20 of each byte from A to Z. The additions mark such a byte by its bit 0x80, and the
 * shift moves the mark to bit 0x20. */
static inline uint64_t lowercase8(uint64_t word)
{
	const uint64_t each = UINT64_C(0x0101010101010101), low = word & 0x7f * each;
	const uint64_t from_a = low + (0x80 - 'A') * each, after_z = low + (0x80 - 'Z' - 1) * each;
	return word | ((from_a & ~after_z & ~word & 0x80 * each) >> 2);
}

/* @lower must be a constant, so that the compiler drops one branch. */
WEIR__INLINE uint64_t sip(const unsigned char key[WEIR_SIPHASH_KEY], const void *bytes, size_t n,
                          bool lower)
{
	uint64_t k0 = word_at(key), k1 = word_at(key + 8);
	struct state s = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
	                   k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
	const unsigned char *p = bytes;
	for (size_t words = n / 8; words--; p += 8)
		compress(&s, lower ? lowercase8(word_at(p)) : word_at(p));
	const uint64_t last = last_word(p, n), length = UINT64_C(0xff) << 56;
	compress(&s, lower ? (lowercase8(last) & ~length) | (last & length) : last);
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t weir__siphash(const unsigned char key[WEIR_SIPHASH_KEY], const void *bytes, size_t n)
{
	return sip(key, bytes, n, false);
}

/* ---- the functions ---- */

static uint64_t xxh3(const struct weir_hashing *h, const void *key, size_t len)
{
	return weir__hash(h->seed, key, len);
}

static unsigned char lowercase(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Lowercase the key in a buffer on the stack. A key that is longer than the buffer is lowercased
 * and hashed piece by piece. */
static uint64_t xxh3_lowercase(const struct weir_hashing *h, const void *key, size_t len)
{
	unsigned char piece[256];
	XXH3_state_t state;
	const unsigned char *from = key;
	XXH3_INITSTATE(&state);
	if (len > sizeof piece)
		XXH3_64bits_reset_withSeed(&state, h->seed);
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < sizeof piece ? len - at : sizeof piece;
		for (size_t i = 0; i < n; i++)
			piece[i] = lowercase(from[at + i]);
		if (len <= sizeof piece)
			break;
		XXH3_64bits_update(&state, piece, n);
	}
	return len > sizeof piece ? XXH3_64bits_digest(&state) : weir__hash(h->seed, piece, len);
}

static uint64_t xxh64(const struct weir_hashing *h, const void *key, size_t len)
{
	return XXH64(key, len, h->seed);
}

static uint64_t siphash(const struct weir_hashing *h, const void *key, size_t len)
{
	return weir__siphash(h->key, key, len);
}

static uint64_t siphash_lowercase(const struct weir_hashing *h, const void *key, size_t len)
{
	return sip(h->key, key, len, true);
}

const struct weir_hash weir__xxh3 = { 1, "XXH3", xxh3, xxh3_lowercase };
const struct weir_hash weir__xxh64 = { 2, "XXH64", xxh64, NULL };
const struct weir_hash weir__siphash_2_4 = { 3, "SipHash-2-4", siphash, siphash_lowercase };

struct weir_hashing weir__hashing_seeded(const struct weir_hash *by, uint64_t seed)
{
	return (struct weir_hashing){ .by = by, .seed = seed };
}

/* The check value is the hash of a constant text. Images store it to detect a wrong key. It does
 * not help an attacker to guess the 128-bit key. */
struct weir_hashing weir__hashing_keyed(const void *secret)
{
	static const char text[] = "weir key check";
	struct weir_hashing h = { .by = &weir__siphash_2_4 };
	memcpy(h.key, secret, sizeof h.key);
	uint64_t check = weir__siphash(h.key, text, sizeof text - 1);
	h.seed = check ? check : 1; /* 0 would mean a random seed */
	return h;
}

int weir__hashing_of(struct weir_hashing *out, const struct weir_hash *by, uint64_t seed,
                     const void *secret)
{
	int err = 0;
	if (secret) {
		*out = weir__hashing_keyed(secret);
		if (seed && seed != out->seed)
			return weir__fail(-EINVAL, "seed: with secret it is the key's check "
			                  "value, or 0: this one is another's");
		return 0;
	}
	while (!err && !seed)
		err = weir__random(&seed);
	*out = weir__hashing_seeded(by, seed);
	return err;
}

const char *weir__hashing_text(const struct weir_hashing *h, char text[WEIR_HASHING_TEXT])
{
	if (h->seed)
		snprintf(text, WEIR_HASHING_TEXT, "%s, %s fingerprint %08llx", h->by->name,
		         weir__keyed(h) ? "key" : "seed",
		         (unsigned long long)weir__seed_fingerprint(h->seed));
	else
		snprintf(text, WEIR_HASHING_TEXT, "%s, seed 0", h->by->name);
	return text;
}

uint64_t weir__seed_fingerprint(uint64_t seed)
{
	static const char text[] = "weir seed fingerprint";
	unsigned char key[WEIR_SIPHASH_KEY] = { 0 };
	if (!seed)
		return 0; /* a kind without a seed, since other programs read its bits */
	seed = WEIR__LE64(seed);
	memcpy(key, &seed, sizeof seed);
	return weir__siphash(key, text, sizeof text - 1) & UINT32_MAX;
}

void weir__hash8_for(enum weir_isa isa, uint64_t flip8, const char *keys, size_t n, uint64_t *out)
{
#if WEIR_X86
	if (isa == WEIR_ISA_AVX512) {
		weir__hash8_avx512(flip8, keys, n, out);
		return;
	}
#endif
	(void)isa;
	weir__hash8_each(flip8, keys, n, out);
}
