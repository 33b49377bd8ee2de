/* SPDX-License-Identifier: MIT
 * Batches of inserts into a sharded set in which one shard refuses keys. A created shard takes
 * inserts, so the test makes one shard read-only. */
#include <errno.h>
#include "../test.h"
#include "../sharded.h"
#include "filter/filter.h"

enum { KEYS = 200, REFUSED = 100, SHARDS = 8, READ_ONLY = 5 };

/* Return: a hash in the given shard, which the top bits of a hash select. */
static uint64_t hash_in(uint32_t shard, uint64_t i)
{
	return (uint64_t)shard << 61 | test_key(i) >> 3;
}

/* The keys that precede the refused key are inserted and marked as new. */
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

/* ---- the reload of one shard, to which the loader offers all keys ---- */

enum { MANY = 20000, SHARD = 3 };

static uint64_t hashes_of_all[MANY], new_singly[WEIR_BITMAP_WORDS(MANY)];
static size_t taken; /* number of keys inserted one by one until the shard was full */

static struct weir_handle *offered_singly(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set = NULL;
	struct weir_reload *r;
	int answer;
	p.kind = WEIR_CUCKOO;
	p.capacity = 4000, p.fp_rate = 0.01, p.seed = 7;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	for (uint64_t i = 0; i < MANY; i++)
		hashes_of_all[i] = test_key(i);
	memset(new_singly, 0, sizeof new_singly);
	assert_ok(shard_begin(&r, set, SHARD, NULL));
	for (taken = 0; (answer = weir_reload_insert_hash(r, hashes_of_all[taken])) >= 0; taken++)
		new_singly[taken / 64] |= (uint64_t)(answer == WEIR_NEW) << taken % 64;
	assert_int_equal(answer, -ENOSPC);
	weir_reload_abort(r);
	assert_in_range(taken, 2000, MANY - 1);
	return set;
}

/* The first refused key belongs to the shard that is reloaded. */
static void test_a_shards_loader_reports_how_many_were_inserted(void **state)
{
	struct weir_handle *set = offered_singly();
	struct weir_reload *r;
	(void)state;
	assert_int_equal(weir_handle_shard(set, hashes_of_all[taken]), SHARD);
	assert_ok(shard_begin(&r, set, SHARD, NULL));
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes_of_all, MANY), NULL),
	                 -ENOSPC);
	assert_int_equal(weir_error_taken(), taken);
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(set));
}

/* The refused key is in the last piece of the batch or in an earlier piece. In both cases the call
 * clears the rest of the bitmap, and writes no word beyond the bitmap. */
static void test_a_shards_loader_clears_the_answers_after_a_refusal(void **state)
{
	static uint64_t answers[WEIR_BITMAP_WORDS(MANY) + 1];
	struct weir_handle *set = offered_singly();
	struct weir_reload *r;
	const size_t sizes[] = { taken + 1, taken + 500, MANY };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
		const size_t words = WEIR_BITMAP_WORDS(sizes[i]);
		memset(answers, 0xff, sizeof answers);
		assert_ok(shard_begin(&r, set, SHARD, NULL));
		assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes_of_all,
		                                                             sizes[i]),
		                                         answers), -ENOSPC);
		assert_int_equal(weir_error_taken(), taken);
		assert_memory_equal(answers, new_singly, 8 * words);
		assert_true(answers[words] == UINT64_MAX);
		weir_reload_abort(r);
	}
	assert_ok(weir_handle_destroy(set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_batch_ends_at_the_first_refusal),
		cmocka_unit_test(test_a_batch_of_removals_ends_at_the_first_refusal),
		cmocka_unit_test(test_a_shards_loader_reports_how_many_were_inserted),
		cmocka_unit_test(test_a_shards_loader_clears_the_answers_after_a_refusal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
