/* SPDX-License-Identifier: MIT
 * The reference for arrays of counters in blocks of 128, written from the description of the
 * layout. The counting kind and the frequency kind share this reference. */
#ifndef WEIR_TESTS_COUNTERS_H
#define WEIR_TESTS_COUNTERS_H

#include "kind.h"

enum { COUNTERS_MOST_WORDS = 8, COUNTERS_MOST = 16 };

/* The distinct counters of a key, word by word. */
struct counters_key {
	unsigned words;
	struct {
		unsigned n;
		uint64_t counter[COUNTERS_MOST]; /* index in the array */
	} word[COUNTERS_MOST_WORDS];
};

struct counters_key counters_of(const struct reference *ref, uint64_t hash);
uint64_t counters_most(const struct reference *ref);
uint64_t counters_get(const struct reference *ref, uint64_t counter);
void counters_set(struct reference *ref, uint64_t counter, uint64_t value);

/* The counting kind and the frequency kind use these functions. */
bool counters_contain(const struct reference *ref, uint64_t hash);
unsigned counters_block_lines(const struct weir_shape *shape);
int64_t counters_count(const struct reference *ref, uint64_t hash);

/* Macros for the rows of the tables of the counting kind and the frequency kind. */
#define IS(b, z, g, p, q, r) ((b) == (p) && (z) == (q) && (g) == (r))
#define ASK(text, group, b, z, g) \
	.name = text, \
	.ask.group = { .counter_bits = b, .words_per_key = z, .counters_per_word = g }
#define GOLDEN(kind, name, b, z, g, capacity, keys, false_positives, sum) \
	{ name, { kind, .field = { b, z, g } }, capacity, keys, false_positives, UINT64_C(sum) }

#endif
