/* SPDX-License-Identifier: MIT
 * The frequency kind: the layouts with kernels of their own, and the insert of one key. */
#ifndef WEIR_SRC_KINDS_FREQUENCY_FREQUENCY_H
#define WEIR_SRC_KINDS_FREQUENCY_FREQUENCY_H

#include "kind/kind.h"
#include "kinds/common/counters.h"

/* The layouts with kernels of their own: those that plans choose for rates of 10 % to 1 %.
 * X(counter_bits, words_per_key, counters_per_word) */
#define FREQUENCY_LAYOUTS(X) \
	X(8, 2, 2) X(8, 4, 1) X(16, 4, 1) X(32, 4, 1)

/* Return the kernel of one of FREQUENCY_LAYOUTS, or NULL for any other shape. */
const struct weir_kernel *weir__frequency_scalar(const struct weir_shape *shape);
const struct weir_kernel *weir__frequency_avx512(const struct weir_shape *shape);

/* ---- the insert ([COUNT-AT-LEAST], [WORD-DECIDES] in frequency.c), and the kernels ---- */

/* Return: the counters of @mask that equal the smallest of them, or 0 if the smallest is stuck. */
WEIR__INLINE uint64_t least_of(uint64_t word, uint64_t mask, unsigned b, unsigned g,
                               uint64_t *least)
{
	const uint64_t most = (UINT64_C(1) << b) - 1;
	uint64_t chosen = 0;
	if (g == 1) {
		*least = word >> __builtin_ctzll(mask) & most;
		return *least == most ? 0 : mask;
	}
	*least = weir__counters_least(word, mask, b);
	for (; mask; mask &= mask - 1)
		if ((word >> __builtin_ctzll(mask) & most) == *least)
			chosen |= mask & -mask;
	return *least == most ? 0 : chosen;
}

WEIR__INLINE int put(const struct weir_array *a, uint64_t hash, unsigned b, unsigned z, unsigned g)
{
	struct weir_counters key;
	bool fresh = false;
	COUNTERS_LOOK(a, hash, b, z, g, &key);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = key.seen[i], least, chosen;
		do
			chosen = least_of(word, key.mask[i], b, g, &least);
		while (chosen && !weir__word_swap_relaxed(key.word[i], &word, word + chosen));
		fresh |= least == 0;
	}
	return fresh ? WEIR_NEW : WEIR_SEEN;
}

WEIR__INLINE void load_one(const struct weir_array *a, uint64_t hash, unsigned b, unsigned z,
                           unsigned g)
{
	struct weir_counters key;
	uint64_t least;
	weir__counters_of(a, hash, b, z, g, &key);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = WEIR__LE64(*key.word[i]);
		*key.word[i] = WEIR__LE64(word + least_of(word, key.mask[i], b, g, &least));
	}
}

#define KERNEL_REMOVE(name)
#include "kinds/common/counters_kernel.h"

#endif
