/* SPDX-License-Identifier: MIT
 * Filters of kinds that exist only in a test. */
#ifndef WEIR_TESTS_UNIT_TOY_H
#define WEIR_TESTS_UNIT_TOY_H

#include "../folder.h"
#include "kind/batch.h"
#include "filter/filter.h"

enum { SEED = 77, LINES = 64 };

static inline struct weir_filter *toy_make(const struct weir_kind *kind, uint64_t lines,
                                           uint32_t shards, int insert_error)
{
	const struct weir_layout layout = { .kind = kind,
		                            .hashing = weir__hashing_seeded(kind->hash, SEED),
		                            .shape = { .kind = kind->id },
		                            .shards = shards,
		                            .lines = lines,
		                            .capacity = 1000,
		                            .fp_rate = 0.01 };
	struct weir_memory memory;
	struct weir_filter *f = NULL;
	assert_ok(weir__memory_alloc(&memory, 64 * lines, 0, NULL, 0));
	assert_ok(weir__filter_make(&f, &layout, &memory, insert_error));
	return f;
}

/* Asserts that the call fails with @err and exactly @sentence. */
#define assert_says(call, err, sentence) \
	do { \
		assert_int_equal(call, err); \
		assert_string_equal(weir_error_detail(), sentence); \
	} while (0)

/* Clears the bitmap: no key is found. */
static inline void toy_none(const struct weir_batch *batch, uint64_t *bitmap)
{
	if (bitmap)
		memset(bitmap, 0, 8 * WEIR_BITMAP_WORDS(batch->n));
}

#endif
