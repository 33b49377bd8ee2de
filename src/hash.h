/* SPDX-License-Identifier: MIT
 * From keys to 64-bit hashes: XXH3 with the filter's seed. The only place in src that names xxHash. */
#ifndef WEIR_SRC_HASH_H
#define WEIR_SRC_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

static inline uint64_t weir__hash(uint64_t seed, const void *key, size_t len)
{
	return XXH3_64bits_withSeed(key, len, seed);
}

/* XXH3 of eight bytes is two multiplies and some shifts: constant length lets the compiler keep only those. */
static inline uint64_t weir__hash8(uint64_t seed, const void *key)
{
	return XXH3_64bits_withSeed(key, 8, seed);
}

/* Hashes of @n 8-byte keys side by side, with AVX-512 (hash_avx512.c). */
void weir__hash8_avx512(uint64_t seed, const void *keys, size_t n, uint64_t *out);

/* Checksums of images and of seeds: XXH3 without a seed. */
static inline uint64_t weir__checksum(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

#endif
