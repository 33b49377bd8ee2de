/* SPDX-License-Identifier: MIT
 * Reads the words and counters of a key by AVX-512, each counter in its own lane. Each of the key's
 * z words has 8/z lanes, so g is at most 8/z. If g is smaller, the word's first counter also fills
 * the lanes that are left. Only counters.h includes this file. */
#ifndef WEIR_SRC_KINDS_COMMON_COUNTERS_AVX512_H
#define WEIR_SRC_KINDS_COMMON_COUNTERS_AVX512_H

#include <immintrin.h>

#define COUNTERS_LOOK counters_look_lanes
#define COUNTERS_HOLD counters_hold_lanes
#define COUNTERS_COUNT counters_count_lanes

/* Return: how far to rotate r right so that the field of lane @lane is at bit log2(b). */
WEIR__INLINE long long turn_of(unsigned b, unsigned z, unsigned g, unsigned lane)
{
	const unsigned field = weir__counters_field(b), lanes = 8 / z, t = lane % lanes;
	const unsigned nth = lane / lanes * g + (t < g ? t : 0);
	return (64 - z * weir__counters_sector(b, z) - (nth + 1) * field - (6 - field)) & 63;
}

/* Return: the shift of each lane's counter, which is b times the counter's number. */
WEIR__INLINE __m512i counter_shifts(uint64_t r, unsigned b, unsigned z, unsigned g)
{
#define TURN(lane) turn_of(b, z, g, lane)
	const __m512i turns = _mm512_set_epi64(TURN(7), TURN(6), TURN(5), TURN(4), TURN(3), TURN(2),
	                                       TURN(1), TURN(0));
#undef TURN
	return _mm512_and_si512(_mm512_rorv_epi64(_mm512_set1_epi64((long long)r), turns),
	                        _mm512_set1_epi64(64 - b));
}

WEIR__INLINE uint64_t *word_of_group(uint64_t *block, uint64_t r, unsigned i, unsigned b,
                                     unsigned z)
{
	const unsigned sector = weir__counters_sector(b, z);
	return block + ((size_t)i << sector) + (sector ? r << (i * sector) >> (64 - sector) : 0);
}

/* Return: the value of each lane's counter. @key: receives the words and their values. */
WEIR__INLINE __m512i counter_values(uint64_t *block, uint64_t r, __m512i shifts, unsigned b,
                                    unsigned z, struct weir_counters *key)
{
	__m512i words = _mm512_setzero_si512();
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++) {
		const __mmask8 lanes = (__mmask8)(((1u << 8 / z) - 1) << (i * (8 / z)));
		key->word[i] = word_of_group(block, r, i, b, z);
		key->seen[i] = weir__word_load_relaxed(key->word[i]);
		words = _mm512_mask_set1_epi64(words, lanes, (long long)key->seen[i]);
	}
	return _mm512_and_si512(_mm512_srlv_epi64(words, shifts),
	                        _mm512_set1_epi64((long long)((UINT64_C(1) << b) - 1)));
}

WEIR__INLINE __m512i look_at(const struct weir_array *a, uint64_t hash, unsigned b, unsigned z,
                             unsigned g)
{
	uint64_t r = weir__remix(hash);
	struct weir_counters key;
	return counter_values(weir__counters_block(a, hash, b), r, counter_shifts(r, b, z, g), b, z,
	                      &key);
}

WEIR__INLINE bool counters_hold_lanes(const struct weir_array *a, uint64_t hash, unsigned b,
                                      unsigned z, unsigned g)
{
	__m512i values = look_at(a, hash, b, z, g);
	return _mm512_test_epi64_mask(values, values) == 0xff;
}

WEIR__INLINE uint64_t counters_count_lanes(const struct weir_array *a, uint64_t hash, unsigned b,
                                           unsigned z, unsigned g)
{
	return _mm512_reduce_min_epu64(look_at(a, hash, b, z, g));
}

/* OR the lowest bits of the counters of each word. A group's result is in its first lane. */
WEIR__INLINE void gather_masks(__m512i shifts, unsigned z, uint64_t mask[WEIR_COUNTERS_MOST_Z])
{
	__m512i bits = _mm512_sllv_epi64(_mm512_set1_epi64(1), shifts);
	uint64_t each[8];
	if (z <= 1)
		bits = _mm512_or_si512(bits, _mm512_shuffle_i64x2(bits, bits, 0x4e));
	if (z <= 2)
		bits = _mm512_or_si512(bits, _mm512_permutex_epi64(bits, 0x4e));
	if (z <= 4)
		bits = _mm512_or_si512(bits, _mm512_permutex_epi64(bits, 0xb1));
	if (z == 2) {
		each[0] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(bits));
		each[4] = (uint64_t)_mm_cvtsi128_si64(_mm512_extracti64x2_epi64(bits, 2));
	} else {
		_mm512_storeu_si512(each, bits);
	}
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++)
		mask[i] = each[i * (8 / z)];
}

WEIR__INLINE void counters_look_lanes(const struct weir_array *a, uint64_t hash, unsigned b,
                                      unsigned z, unsigned g, struct weir_counters *out)
{
	uint64_t r = weir__remix(hash);
	__m512i shifts = counter_shifts(r, b, z, g);
	__m512i values = counter_values(weir__counters_block(a, hash, b), r, shifts, b, z, out);
	const __m512i most = _mm512_set1_epi64((long long)((UINT64_C(1) << b) - 1));
	gather_masks(shifts, z, out->mask);
	out->missing = _mm512_test_epi64_mask(values, values) != 0xff;
	out->stuck = _mm512_cmpeq_epi64_mask(values, most) != 0;
}

#endif
