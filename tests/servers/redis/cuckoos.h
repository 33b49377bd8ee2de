/* SPDX-License-Identifier: MIT
 * Make, change and compare cuckoo filters. */
#ifndef WEIR_TESTS_CUCKOOS_H
#define WEIR_TESTS_CUCKOOS_H

#include "../../test.h"
#include "counted_memory.h"
#include "cuckoo.h"

enum { SEED = 17 };
static const unsigned buckets_of_slots[] = { 1, 2, 4, 255 };

static inline struct cuckoo *make(uint64_t buckets, uint64_t bucket, uint64_t iterations,
                           uint64_t expansion)
{
	struct cuckoo_settings s = { buckets, SEED, bucket, iterations, expansion, false };
	struct cuckoo *c = NULL;
	assert_ok(cuckoo_create(&c, &s, 0, &memory));
	return c;
}

static inline int add(struct cuckoo *c, uint64_t i)
{
	uint64_t item = test_key(i);
	return cuckoo_add(c, &item, sizeof item, false, 0);
}

static inline uint64_t count(const struct cuckoo *c, uint64_t i)
{
	uint64_t item = test_key(i);
	uint64_t n = cuckoo_count(c, &item, sizeof item);
	assert_int_equal(cuckoo_has(c, &item, sizeof item), n > 0);
	return n;
}

static inline bool take(struct cuckoo *c, uint64_t i)
{
	uint64_t item = test_key(i);
	return cuckoo_remove(c, &item, sizeof item);
}

static inline void assert_same(const struct cuckoo *a, const struct cuckoo *b)
{
	struct cuckoo_settings s = cuckoo_settings_of(a), t = cuckoo_settings_of(b);
	assert_true(s.buckets == t.buckets && s.seed == t.seed && s.bucket == t.bucket &&
	            s.iterations == t.iterations && s.expansion == t.expansion &&
	            s.old_hash == t.old_hash);
	assert_int_equal(a->subs, b->subs);
	assert_int_equal(a->items, b->items);
	assert_int_equal(a->deleted, b->deleted);
	assert_int_equal(a->changes, b->changes);
	for (unsigned j = 0; j < a->subs; j++)
		assert_memory_equal(cuckoo_sub(a, j), cuckoo_sub(b, j), cuckoo_sub_bytes(a, j));
}

#endif
