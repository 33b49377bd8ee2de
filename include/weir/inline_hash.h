/* SPDX-License-Identifier: MIT
 * The hash of a key of eight bytes, for <weir/inline.h>. Do not include this header directly. */
#ifndef WEIR_INLINE_HASH_H
#define WEIR_INLINE_HASH_H

#include <stdint.h>
#include <weir/export.h>
#include <weir/word.h>

WEIR_BEGIN_DECLS

/* XXH3_64bits_withSeed of eight bytes is two multiplies, rotates and shifts. The code below repeats
 * it, since compilers do not remove the calls and length tests of xxhash.h. Source:
 * XXH3_len_4to8_64b and XXH3_rrmxmx in xxHash 0.8. The tests compare the results with XXH3. */
#define WEIR__HASH8_M UINT64_C(0x9FB21C651E98DF25)

/* The seed's contribution to the hash: (bytes 8 to 15 of XXH3's secret ^ bytes 16 to 23) - seed,
 * where the seed's high half is first xor'ed with its byte-swapped low half. */
WEIR__INLINE uint64_t weir__flip8(uint64_t seed)
{
	return UINT64_C(0xC73AB174C5ECD5A2) -
	       (seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32);
}

/* @x: the key, as the number that has the key's eight bytes in this machine's memory. */
WEIR__INLINE uint64_t weir__hash_u64(uint64_t flip8, uint64_t x)
{
	x = WEIR__LE64(x);
	x = (x << 32 | x >> 32) ^ flip8;
	x ^= (x << 49 | x >> 15) ^ (x << 24 | x >> 40);
	x *= WEIR__HASH8_M;
	x ^= (x >> 35) + 8;
	x *= WEIR__HASH8_M;
	return x ^ x >> 28;
}

WEIR__INLINE uint64_t weir__hash8(uint64_t flip8, const void *key)
{
	uint64_t x;
	__builtin_memcpy(&x, key, 8);
	return weir__hash_u64(flip8, x);
}

WEIR_END_DECLS

#endif
