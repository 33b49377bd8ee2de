/* SPDX-License-Identifier: MIT
 * Slow paths of the counting kind's kernels, out of line and for any layout. They complete an
 * insert or a removal that met another thread's change, or a stuck counter ([COUNT-IS-SUM] to
 * [REMOVE-CHECKS] in counting.c). */
#include "ground/error.h"
#include "kinds/common/counters.h"
#include "kinds/counting/counting.h"

static void find_counters(const struct weir_array *a, uint64_t hash, struct weir_counters *key)
{
	weir__counters_of(a, hash, a->shape.field[WEIR_COUNTERS_B], a->shape.field[WEIR_COUNTERS_Z],
	                  a->shape.field[WEIR_COUNTERS_G], key);
}

/* Add one to the counters of @mask that are not stuck. Return: the counters of @mask that were
 * 0. */
static uint64_t raise(uint64_t *word, uint64_t mask, unsigned b)
{
	uint64_t seen = weir__word_load_relaxed(word), added;
	do
		added = mask & ~weir__counters_stuck(seen, b);
	while (added && !weir__word_swap_relaxed(word, &seen, seen + added));
	return mask & ~weir__counters_used(seen, b);
}

int weir__counting_put_rest(const struct weir_array *a, uint64_t hash, unsigned from, bool fresh)
{
	struct weir_counters key;
	find_counters(a, hash, &key);
	for (unsigned i = from; i < a->shape.field[WEIR_COUNTERS_Z]; i++)
		fresh |= raise(key.word[i], key.mask[i], a->shape.field[WEIR_COUNTERS_B]) != 0;
	return fresh ? WEIR_NEW : WEIR_SEEN;
}

/* Subtract one from the counters of @mask that are not stuck. If a counter of @mask is 0, change
 * nothing and return false. @lowered: receives the counters that were lowered. */
static bool lower(uint64_t *word, uint64_t mask, unsigned b, uint64_t *lowered)
{
	uint64_t seen = weir__word_load_relaxed(word);
	do {
		if (mask & ~weir__counters_used(seen, b))
			return false;
		*lowered = mask & ~weir__counters_stuck(seen, b);
	} while (*lowered && !weir__word_swap_relaxed(word, &seen, seen - *lowered));
	return true;
}

int weir__counting_take_rest(const struct weir_array *a, uint64_t hash, unsigned from)
{
	const unsigned b = a->shape.field[WEIR_COUNTERS_B], z = a->shape.field[WEIR_COUNTERS_Z];
	uint64_t lowered[WEIR_COUNTERS_MOST_Z];
	struct weir_counters key;
	unsigned i = from;
	find_counters(a, hash, &key);
	for (unsigned done = 0; done < from; done++)
		lowered[done] = key.mask[done];
	while (i < z && lower(key.word[i], key.mask[i], b, &lowered[i]))
		i++;
	if (i == z)
		return 1;
	while (i--) /* [REMOVE-CHECKS] */
		raise(key.word[i], lowered[i], b);
	return 0;
}
