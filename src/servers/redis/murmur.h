/* SPDX-License-Identifier: MIT
 * MurmurHash64A and MurmurHash2 by Austin Appleby, the hashes of RedisBloom's keys. They read words
 * in little-endian order on every machine. */
#ifndef WEIR_REDIS_MURMUR_H
#define WEIR_REDIS_MURMUR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t murmur_word(const unsigned char *at, size_t bytes)
{
	uint64_t word = 0;
	memcpy(&word, at, bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline uint64_t murmur64a(const void *item, size_t len, uint64_t seed)
{
	const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
	const unsigned char *at = item, *end = at + (len & ~(size_t)7);
	uint64_t h = seed ^ len * m;
	for (; at < end; at += 8) {
		uint64_t k = murmur_word(at, 8) * m;
		h = (h ^ (k ^ k >> 47) * m) * m;
	}
	if (len & 7)
		h = (h ^ murmur_word(at, len & 7)) * m;
	h = (h ^ h >> 47) * m;
	return h ^ h >> 47;
}

static inline uint32_t murmur2(const void *item, size_t len, uint32_t seed)
{
	const uint32_t m = 0x5bd1e995;
	const unsigned char *at = item, *end = at + (len & ~(size_t)3);
	uint32_t h = seed ^ (uint32_t)len;
	for (; at < end; at += 4) {
		uint32_t k = (uint32_t)murmur_word(at, 4) * m;
		h = h * m ^ (k ^ k >> 24) * m;
	}
	if (len & 3)
		h = (h ^ (uint32_t)murmur_word(at, len & 3)) * m;
	h = (h ^ h >> 13) * m;
	return h ^ h >> 15;
}

#endif
