/* SPDX-License-Identifier: MIT
 * Inverts XXH3 and XXH64 of keys of eight bytes. */
#include "unhash.h"

static uint64_t rotate(uint64_t x, unsigned left)
{
	return x << left | x >> (64 - left);
}

/* Divides by an odd factor modulo 2^64. Each step of Newton's method doubles the number of correct
 * bits. */
static uint64_t without_factor(uint64_t x, uint64_t factor)
{
	uint64_t inverse = factor;
	for (unsigned i = 0; i < 5; i++)
		inverse *= 2 - factor * inverse;
	return x * inverse;
}

/* ---- XXH3: swaps the halves of the key, flips bits by the seed, and then applies the permutation
 * XXH3_rrmxmx(h, 8) of xxHash 0.8 ---- */

uint64_t unhash_flip(uint64_t h)
{
	const uint64_t factor = UINT64_C(0x9FB21C651E98DF25);
	h ^= h >> 28 ^ h >> 56;
	h = without_factor(h, factor);
	h ^= (h >> 35) + 8; /* changes only the lower 30 bits */
	h = without_factor(h, factor);
	/* The step x ^ rotate(x, 49) ^ rotate(x, 24), taken 64 times, is the identity. So 63 more
	 * steps invert the step that XXH3 took. */
	for (unsigned i = 0; i < 63; i++)
		h ^= rotate(h, 49) ^ rotate(h, 24);
	return h;
}

uint64_t unhash_xxh3(uint64_t hash, uint64_t flip)
{
	return rotate(unhash_flip(hash) ^ flip, 32);
}

/* ---- XXH64: one round of its tail, then its avalanche ---- */

uint64_t unhash_xxh64(uint64_t h)
{
	const uint64_t p1 = UINT64_C(0x9E3779B185EBCA87), p2 = UINT64_C(0xC2B2AE3D27D4EB4F),
		       p3 = UINT64_C(0x165667B19E3779F9), p4 = UINT64_C(0x85EBCA77C2B2AE63),
		       p5 = UINT64_C(0x27D4EB2F165667C5);
	h ^= h >> 32;
	h = without_factor(h, p3);
	h ^= h >> 29 ^ h >> 58;
	h = without_factor(h, p2);
	h ^= h >> 33;
	h = rotate(without_factor(h - p4, p1), 64 - 27);
	h = without_factor(h ^ (p5 + 8), p1);
	return without_factor(rotate(h, 64 - 31), p2);
}
