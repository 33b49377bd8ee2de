/* SPDX-License-Identifier: MIT
 * Two nodes whose batches are of keys, and records by any seed (L13). */
#ifndef WEIR_TESTS_REPLICA_SEEDS_H
#define WEIR_TESTS_REPLICA_SEEDS_H

#include "two.h"

static inline struct weir_filter *filter_of(uint64_t seed, unsigned keys)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.capacity = 1000;
	p.fp_rate = 1e-6;
	p.seed = seed;
	assert_ok(weir_create(&f, &p));
	for (uint64_t key = 1; key <= keys; key++)
		assert_ok(weir_insert(f, &key, sizeof key));
	return f;
}

static inline int make_of_keys(void **state)
{
	(void)state;
	toy_make(&toy, 1);
	be_born_with(A, 0xa, filter_of(1, 0), WEIR_ENTRY_KEYS);
	be_born_with(B, 0xb, filter_of(1, 0), WEIR_ENTRY_KEYS);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_look(&node[B]));
	return 0;
}

static inline void insert_key(unsigned i, uint64_t key)
{
	int kept;
	assert_ok(weir__node_insert(&node[i], &key, sizeof key, &kept));
	assert_int_equal(kept, 0);
}

static inline bool has_key(unsigned i, uint64_t key)
{
	return weir_handle_contains(handle[i], &key, sizeof key);
}

/* The record has the keys 1 to @keys. */
static inline void publish_of(unsigned i, uint64_t seed, unsigned keys)
{
	struct weir_mark mark;
	struct weir_filter *f = filter_of(seed, keys);
	(void)weir__node_look(&node[i]); /* whether or not it can join what is there */
	assert_ok(weir__node_mark(&node[i], &mark));
	assert_ok(weir__node_publish_from(&node[i], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
}

static inline uint64_t seed_of(unsigned i)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	assert_ok(weir_handle_measure(handle[i], &s, &filter));
	assert_int_equal(filter.seed_fingerprint, node[i].hashing);
	return filter.seed_fingerprint;
}

/* It replaces the value of a line of the manifest there is. */
static inline void edit(const char *name)
{
	char *value = strstr(toy.now.manifest, name);
	assert_non_null(value);
	value += strlen(name);
	*value = *value == 'f' ? '0' : 'f';
}

#endif
