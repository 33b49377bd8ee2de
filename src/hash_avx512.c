/* SPDX-License-Identifier: MIT
 * XXH3_64bits_withSeed of 8-byte keys, eight at a time. XXH3's path for 4 to 8 bytes is
 *
 *     x  = (key rotated by half) ^ (secret[8..15] ^ secret[16..23] - seed')      seed' = seed ^ byteswap32(low half of seed) << 32
 *     x ^= rotl(x, 49) ^ rotl(x, 24);  x *= M;  x ^= (x >> 35) + 8;  x *= M;  x ^= x >> 28
 *
 * The constant in the second bracket is taken from XXH3 itself: x is invertible, so nothing of xxHash's secret is written here twice.
 * Source: XXH3_len_4to8_64b and XXH3_rrmxmx in xxHash 0.8. */
#include <immintrin.h>
#include "hash.h"

#define M UINT64_C(0x9FB21C651E98DF25)

static uint64_t bitflip(uint64_t seed)
{
	uint64_t low = __builtin_bswap32((uint32_t)seed), mixed = seed ^ (low << 32), a, b;
	memcpy(&a, XXH3_kSecret + 8, 8);
	memcpy(&b, XXH3_kSecret + 16, 8);
	return (a ^ b) - mixed;
}

static inline __m512i hash8(__m512i key, __m512i flip)
{
	const __m512i m = _mm512_set1_epi64((long long)M);
	__m512i x = _mm512_xor_si512(_mm512_rol_epi64(key, 32), flip);
	x = _mm512_ternarylogic_epi64(x, _mm512_rol_epi64(x, 49), _mm512_rol_epi64(x, 24), 0x96);
	x = _mm512_mullo_epi64(x, m);
	x = _mm512_xor_si512(x, _mm512_add_epi64(_mm512_srli_epi64(x, 35), _mm512_set1_epi64(8)));
	x = _mm512_mullo_epi64(x, m);
	return _mm512_xor_si512(x, _mm512_srli_epi64(x, 28));
}

void weir__hash8_avx512(uint64_t seed, const void *keys, size_t n, uint64_t *out)
{
	const __m512i flip = _mm512_set1_epi64((long long)bitflip(seed));
	const char *from = keys;
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		_mm512_storeu_si512(out + i, hash8(_mm512_loadu_si512(from + 8 * i), flip));
	if (i < n) {
		__mmask8 rest = (__mmask8)((1u << (n - i)) - 1);
		_mm512_mask_storeu_epi64(out + i, rest, hash8(_mm512_maskz_loadu_epi64(rest, from + 8 * i), flip));
	}
}
