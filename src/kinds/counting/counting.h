/* SPDX-License-Identifier: MIT
 * The counting kind: the layouts with kernels of their own, and the functions on one key. */
#ifndef WEIR_SRC_KINDS_COUNTING_COUNTING_H
#define WEIR_SRC_KINDS_COUNTING_COUNTING_H

#include "kind/kind.h"
#include "kinds/common/counters.h"

/* The layouts with kernels of their own: those that plans choose for rates of 10 % to 0.1 %.
 * X(counter_bits, words_per_key, counters_per_word) */
#define COUNTING_LAYOUTS(X) \
	X(4, 2, 2) X(4, 2, 3) X(4, 4, 2) X(8, 2, 2) X(8, 4, 1) X(16, 4, 1)

/* Complete an insert (put_rest) or a removal (take_rest) that has changed the words before @from.
 * put() and take() call these functions if another thread changed a word after they read it, or if
 * a counter is stuck.
 * @fresh: one of the counters in the words before @from was 0. */
int weir__counting_put_rest(const struct weir_array *a, uint64_t hash, unsigned from, bool fresh);
int weir__counting_take_rest(const struct weir_array *a, uint64_t hash, unsigned from);

/* Return the kernel of one of COUNTING_LAYOUTS, or NULL for any other shape. */
const struct weir_kernel *weir__counting_scalar(const struct weir_shape *shape);
const struct weir_kernel *weir__counting_avx512(const struct weir_shape *shape);

/* ---- functions on one key ([COUNT-IS-SUM] to [REMOVE-CHECKS] in counting.c), and the kernels
 * ---- */

/* Insert a key. This fast path suffices if no counter of the key is stuck and no other thread
 * changes a word between the read and the swap. A counter that was read as 0 was then still 0 at
 * the swap. */
WEIR__INLINE int put(const struct weir_array *a, uint64_t hash, unsigned b, unsigned z, unsigned g)
{
	struct weir_counters key;
	uint64_t fresh = 0;
	COUNTERS_LOOK(a, hash, b, z, g, &key);
	if (__builtin_expect(key.stuck, 0))
		return weir__counting_put_rest(a, hash, 0, false);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = key.seen[i];
		if (__builtin_expect(!weir__word_swap_relaxed(key.word[i], &word,
		                                              word + key.mask[i]), 0))
			return weir__counting_put_rest(a, hash, i, fresh);
		fresh |= key.mask[i] & ~weir__counters_used(word, b);
	}
	return key.missing ? WEIR_NEW : WEIR_SEEN;
}

WEIR__INLINE void load_one(const struct weir_array *a, uint64_t hash, unsigned b, unsigned z,
                           unsigned g)
{
	struct weir_counters key;
	weir__counters_of(a, hash, b, z, g, &key);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = WEIR__LE64(*key.word[i]);
		*key.word[i] = WEIR__LE64(word + (key.mask[i] & ~weir__counters_stuck(word, b)));
	}
}

/* Remove a key. Return: 1 if it was removed; 0 if it is absent. */
WEIR__INLINE int take(const struct weir_array *a, uint64_t hash, unsigned b, unsigned z, unsigned g)
{
	struct weir_counters key;
	COUNTERS_LOOK(a, hash, b, z, g, &key);
	if (__builtin_expect(key.missing, 0))
		return 0;
	if (__builtin_expect(key.stuck, 0))
		return weir__counting_take_rest(a, hash, 0);
	COUNTERS_UNROLL
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = key.seen[i];
		if (__builtin_expect(!weir__word_swap_relaxed(key.word[i], &word,
		                                              word - key.mask[i]), 0))
			return weir__counting_take_rest(a, hash, i);
	}
	return 1;
}

#define KERNEL_REMOVE(name) .remove = remove_##name,
#include "kinds/common/counters_kernel.h"

#define COUNTING_REMOVE(name, b, z, g) \
	static int remove_##name(struct weir_filter *f, uint64_t hash) \
	{ \
		const struct weir_array *a = &f->array; \
		return take(a, hash, b, z, g); \
	}

#endif
