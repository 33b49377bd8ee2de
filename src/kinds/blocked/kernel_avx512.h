/* SPDX-License-Identifier: MIT
 * The blocked kind's batches for AVX-512 (F, DQ and VL: Skylake-SP and later), for kernel.c. They
 * note eight keys at once. With one or two words a key they also test eight keys at once. Each word
 * is loaded separately and broadcast into its lane, since a gather waits for all earlier loads if
 * gather data sampling is mitigated. The functions for one key use 256 bits (weir__test_narrow).
 * Bulk loading computes the words and masks of eight keys at once. */
#ifndef WEIR_SRC_KINDS_BLOCKED_KERNEL_AVX512_H
#define WEIR_SRC_KINDS_BLOCKED_KERNEL_AVX512_H

#include "kind/batch.h"
#include "kinds/blocked/eight.h"

#define KERNEL_NOTE note_eight
#define KERNEL_TEST_NOTED(a, notes, at, n, z, g, test) \
	if (z <= 2) \
		return test_eight(a, notes, at, n, z <= 2 ? z : 1, g); \
	WORK_STEP(a, notes, at, n, z, g, test)
#define KERNEL_LOAD load_eights

/* The notes of a key with one or two words are the indices of these words, and r. */
enum { ROW_WORD = 0, ROW_OF_R = 1, ROW_WORD_2 = 2 };

/* Note up to eight keys. Eight columns are written even if n is less than 8. */
WEIR__INLINE void note_eight(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                             unsigned z, struct weir_notes *notes, unsigned at)
{
	__m512i h = n == 8 ? _mm512_loadu_si512(hashes) :
	                     _mm512_maskz_loadu_epi64((__mmask8)((1u << n) - 1), hashes);
	__m512i r = weir__remix8(h), block = weir__block8(a->lines, h);
	_mm512_store_si512(notes->row[ROW_OF_R] + at, r);
	_mm512_store_si512(notes->row[ROW_WORD] + at,
	                   z <= 2 ? weir__word_index8(block, r, z <= 2 ? z : 1, 0) : block);
	if (z == 2)
		_mm512_store_si512(notes->row[ROW_WORD_2] + at, weir__word_index8(block, r, 2, 1));
}

/* Return: the words at eight indices. */
WEIR__INLINE __m512i words8(const struct weir_array *a, const uint64_t *index)
{
	__m512i words = _mm512_broadcastq_epi64(
		_mm_loadl_epi64((const void *)(a->words + index[0])));
	WEIR__UNROLL
	for (unsigned i = 1; i < 8; i++)
		words = _mm512_mask_broadcastq_epi64(
			words, (__mmask8)(1u << i),
			_mm_loadl_epi64((const void *)(a->words + index[i])));
	return words;
}

WEIR__INLINE uint64_t test_eight(const struct weir_array *a, const struct weir_notes *notes,
                                 unsigned at, unsigned n, unsigned z, unsigned g)
{
	__m512i r = _mm512_load_si512(notes->row[ROW_OF_R] + at), r2 = weir__remix2_8(r, z, g),
		all = _mm512_set1_epi64(1);
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++) {
		__m512i word = words8(a, notes->row[i ? ROW_WORD_2 : ROW_WORD] + at);
		WEIR__UNROLL
		for (unsigned j = i * g; j < (i + 1) * g; j++)
			all = _mm512_and_si512(
				all, _mm512_rorv_epi64(word, weir__field8(r, r2, z, j)));
	}
	return _mm512_test_epi64_mask(all, all) & ((1u << n) - 1);
}

/* ---- loading. The notes of a key are the index and the mask of each of its words. The loop notes
 * some more keys before it uses the notes of a key, because a CPU cannot forward one word of a
 * vector that it has just stored. So an earlier load of the word would wait until the vector is in
 * the cache ---- */

/* The most keys whose notes are on the stack at a time. */
#define LOAD_WINDOW(z) ((z) <= 4 ? 64u : 32u)
/* The number of keys noted before the first of them is loaded. */
#define LOAD_LEAD(z) (LOAD_WINDOW(z) / 4 * 3)

struct load_notes { /* word i of key k is at i * LOAD_WINDOW(z) + k */
	uint64_t index[256], mask[256];
} __attribute__((aligned(64)));

WEIR__INLINE void load_note(const struct weir_array *a, bool far, const uint64_t *hashes,
                            unsigned z, unsigned g, struct load_notes *notes, unsigned at)
{
	__m512i h = _mm512_loadu_si512(hashes), r = weir__remix8(h), r2 = weir__remix2_8(r, z, g),
		block = weir__block8(a->lines, h);
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++) {
		_mm512_store_si512(notes->index + i * LOAD_WINDOW(z) + at,
		                   weir__word_index8(block, r, z, i));
		_mm512_store_si512(notes->mask + i * LOAD_WINDOW(z) + at,
		                   weir__word_mask8(r, r2, z, g, i));
	}
	WEIR__UNROLL
	for (unsigned k = 0; k < 8 && far; k++)
		__builtin_prefetch(a->words + notes->index[at + k], 1, WEIR_TO_L1);
}

WEIR__INLINE void load_noted(const struct weir_array *a, unsigned z, const struct load_notes *notes,
                             unsigned at)
{
	WEIR__UNROLL
	for (unsigned k = at; k < at + 8; k++)
		WEIR__UNROLL
		for (unsigned i = 0; i < z; i++)
			a->words[notes->index[i * LOAD_WINDOW(z) + k]] |=
				notes->mask[i * LOAD_WINDOW(z) + k];
}

WEIR__INLINE void load_one(const struct weir_array *a, uint64_t hash, unsigned z, unsigned g);

WEIR__INLINE void load_eights(const struct weir_array *a, bool far, const uint64_t *hashes,
                              size_t n, unsigned z, unsigned g)
{
	const struct weir_array array = *a; /* no store can alias this copy */
	struct load_notes notes;
	size_t eights = n - n % 8;
	for (size_t i = 0; i < eights + LOAD_LEAD(z); i += 8) {
		if (i < eights)
			load_note(&array, far, hashes + i, z, g, &notes, i % LOAD_WINDOW(z));
		if (i >= LOAD_LEAD(z))
			load_noted(&array, z, &notes, (i - LOAD_LEAD(z)) % LOAD_WINDOW(z));
	}
	for (size_t i = eights; i < n; i++)
		load_one(&array, hashes[i], z, g);
}

#endif
