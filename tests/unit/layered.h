/* SPDX-License-Identifier: MIT
 * Shared by the tests of layered filters: two lists of hashes, and the filter built from them. */
#ifndef WEIR_TESTS_UNIT_LAYERED_H
#define WEIR_TESTS_UNIT_LAYERED_H

#include <stdlib.h>
#include "../kinds/layered.h"
#include "../kinds/kind.h"
#include "../test.h"

enum { KEYS = 4000, OTHERS = 60000, SEED = 9 };

static inline struct weir_params params(unsigned width)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_LAYERED;
	p.fp_rate = 0.5;
	p.layered.fingerprint_bits = width;
	p.seed = SEED;
	return p;
}

static inline struct weir_builder *begun(const struct weir_params *p,
                                  const struct weir_builder_options *o)
{
	struct weir_builder *b = NULL;
	assert_ok(weir_builder_create(&b, p, o));
	return b;
}

static inline struct weir_filter *finished(struct weir_builder *b, struct weir_build_report *report)
{
	struct weir_filter *f = NULL;
	assert_ok(weir_builder_finish(&f, b, report));
	assert_non_null(f);
	weir_builder_destroy(b);
	return f;
}

static inline void keys_of(uint64_t *hashes, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = test_key(first + i);
}

/* Build a filter that includes the keys 0 to @n - 1 and excludes the keys @n to @n + @m - 1. */
static inline struct weir_filter *built(const struct weir_params *p, uint64_t n, uint64_t m,
                                 struct weir_build_report *report)
{
	uint64_t *hashes = malloc(8 * (n + m) + 8);
	struct weir_builder *b = begun(p, NULL);
	keys_of(hashes, 0, n + m);
	assert_ok(weir_builder_add_keys(b, weir_keys_hashes(hashes, n)));
	assert_ok(weir_builder_seal(b));
	assert_ok(weir_builder_exclude_keys(b, weir_keys_hashes(hashes + n, m)));
	free(hashes);
	return finished(b, report);
}

/* Return: the number of keys that lookups find among the keys @first to @first + @n - 1. Asserts
 * that single lookups and batches find the same keys. */
static inline uint64_t found_in(const struct weir_filter *f, uint64_t first, uint64_t n)
{
	uint64_t *hashes = malloc(8 * n + 8), *bitmap = malloc(n / 8 + 16), found = 0;
	keys_of(hashes, first, n);
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, n), bitmap),
	                 weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL));
	for (uint64_t i = 0; i < n; i++) {
		const bool there = weir_contains_hash(f, hashes[i]);
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, there);
		found += there;
	}
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL), found);
	free(bitmap);
	free(hashes);
	return found;
}

#endif
