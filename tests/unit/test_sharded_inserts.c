/* SPDX-License-Identifier: MIT
 * A batch of inserts into a sharded set of which one shard refuses them. No shard that a set makes
 * does that: the test makes one read-only. */
#include <errno.h>
#include "../test.h"
#include "../sharded.h"
#include "filter/filter.h"

enum { KEYS = 200, REFUSED = 100, SHARDS = 8, READ_ONLY = 5 };

/* The top bits say the shard. */
static uint64_t hash_in(uint32_t shard, uint64_t i)
{
	return (uint64_t)shard << 61 | test_key(i) >> 3;
}

/* The keys before it are in, and marked as new; none behind it is. */
static void test_a_batch_ends_at_the_first_refusal(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set = NULL;
	uint64_t hashes[KEYS], fresh[WEIR_BITMAP_WORDS(KEYS)] = { 0 };
	(void)state;
	p.capacity = 1000000, p.fp_rate = 0.01, p.seed = 7;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	weir__filter_read_only(
		(struct weir_filter *)(uintptr_t)weir_handle_get_shard(set, READ_ONLY));
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = hash_in(i == REFUSED ? READ_ONLY : i % READ_ONLY, i);
	assert_int_equal(weir_handle_insert_hash(set, hashes[REFUSED]), -EROFS);
	assert_int_equal(weir_handle_insert_keys(set, weir_keys_hashes(hashes, KEYS), fresh),
	                 -EROFS);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_int_equal(weir_handle_contains_hash(set, hashes[i]), i < REFUSED);
	assert_true(fresh[0] == UINT64_MAX);
	assert_true(fresh[1] == (UINT64_C(1) << (REFUSED - 64)) - 1);
	assert_int_equal(fresh[2] | fresh[3], 0);
	assert_int_equal(weir_handle_insert_keys(set, weir_keys_hashes(hashes, REFUSED), NULL), 0);
	assert_ok(weir_handle_destroy(set));
}

/* A batch of removals ends at the first refusal too, and says why. */
static void test_a_batch_of_removals_ends_at_the_first_refusal(void **state)
{
	static const struct { uint32_t kind; bool read_only; int err; } sets[] = {
		{ WEIR_BLOCKED, false, -ENOTSUP }, { WEIR_COUNTING, true, -EROFS },
	};
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sets); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_handle *set = NULL;
		const uint64_t hashes[] = { hash_in(1, 1), hash_in(READ_ONLY, 2) };
		uint64_t removed = 7;
		p.kind = sets[i].kind;
		p.capacity = 1000000, p.fp_rate = 0.01, p.seed = 7;
		assert_ok(sharded_create(&set, &p, SHARDS, NULL));
		assert_ok(weir_handle_insert_keys(set, weir_keys_hashes(hashes, 2), NULL));
		if (sets[i].read_only)
			weir__filter_read_only((struct weir_filter *)(uintptr_t)
			                       weir_handle_get_shard(set, READ_ONLY));
		assert_int_equal(weir_handle_remove_keys(set, weir_keys_hashes(hashes, 2),
		                                         &removed),
		                 sets[i].err);
		assert_int_equal(removed, sets[i].read_only);
		assert_true(weir_handle_contains_hash(set, hashes[1]));
		assert_ok(weir_handle_destroy(set));
	}
}

/* Of a loader's keys for all shards: the first that is refused is one of its own. */
static void test_a_loader_of_a_shard_says_how_many_were_taken(void **state)
{
	enum { MANY = 20000, SHARD = 3 };
	static uint64_t hashes[MANY];
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set = NULL;
	struct weir_reload *r;
	size_t taken = 0;
	(void)state;
	p.kind = WEIR_CUCKOO;
	p.capacity = 4000, p.fp_rate = 0.01, p.seed = 7;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	for (uint64_t i = 0; i < MANY; i++)
		hashes[i] = test_key(i);
	assert_ok(shard_begin(&r, set, SHARD, NULL));
	while (weir_reload_insert_hash(r, hashes[taken]) >= 0)
		taken++;
	weir_reload_abort(r);
	assert_in_range(taken, 2000, MANY - 1);
	assert_int_equal(weir_handle_shard(set, hashes[taken]), SHARD);
	assert_ok(shard_begin(&r, set, SHARD, NULL));
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes, MANY), NULL), -ENOSPC);
	assert_int_equal(weir_error_taken(), taken);
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_batch_ends_at_the_first_refusal),
		cmocka_unit_test(test_a_batch_of_removals_ends_at_the_first_refusal),
		cmocka_unit_test(test_a_loader_of_a_shard_says_how_many_were_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
