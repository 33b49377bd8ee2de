/* SPDX-License-Identifier: MIT
 * SipHash-2-4, written after the paper: two rounds a word of the message, four at the end. */
#include <string.h>
#include <weir/word.h>
#include "hash/siphash.h"

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

/* The last word: the bytes that are left, and the length modulo 256 at the top. */
static inline uint64_t last_word(const unsigned char *p, size_t n)
{
	uint64_t word = (uint64_t)(n & 0xff) << 56;
	for (size_t i = 0; i < n % 8; i++)
		word |= (uint64_t)p[i] << (8 * i);
	return word;
}

uint64_t weir__siphash(const unsigned char key[WEIR_SIPHASH_KEY], const void *bytes, size_t n)
{
	uint64_t k0 = word_at(key), k1 = word_at(key + 8);
	struct state s = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
	                   k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
	const unsigned char *p = bytes;
	for (size_t words = n / 8; words--; p += 8)
		compress(&s, word_at(p));
	compress(&s, last_word(p, n));
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
