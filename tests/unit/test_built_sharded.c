/* SPDX-License-Identifier: MIT
 * Sharded sets of a kind that is built once. The loader offers all keys to each shard, and the
 * shard skips keys of other shards. */
#include <errno.h>
#include "../test.h"
#include "../sharded.h"

enum { KEYS = 50000, SHARDS = 8 };

static struct weir_params params(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.0001;
	p.seed = 7;
	return p;
}

struct source {
	uint64_t first;
	unsigned form;
};

static int fill(struct weir_reload *r, uint32_t shard, void *source)
{
	static uint64_t keys[KEYS];
	const struct source *s = source;
	(void)shard;
	for (uint64_t i = 0; i < KEYS; i++) {
		keys[i] = test_key(s->first + i);
		if (s->form == 0)
			assert_ok(weir_reload_insert(r, &keys[i], 8));
	}
	if (s->form == 1)
		assert_int_equal(weir_reload_insert_keys(r, weir_keys_u64(keys, KEYS), NULL),
		                 0);
	return 0;
}

static uint64_t found_in(const struct weir_handle *set, uint64_t first)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(first + i);
		n += weir_handle_contains(set, &key, 8);
	}
	return n;
}

static uint64_t capacity_of(const struct weir_handle *set)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < SHARDS; i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		assert_ok(weir_params_of(weir_handle_get_shard(set, i), &p));
		n += p.capacity;
	}
	return n;
}

static void a_built_set_is_loaded_shard_by_shard(void **state)
{
	const struct weir_params p = params();
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	struct weir_handle *set = NULL;
	(void)state;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_true(found_in(set, 0) < 50);
	assert_ok(weir_handle_measure(set, &stats, NULL));
	assert_true(stats.bytes < SHARDS * 4096);
	assert_refused(weir_handle_insert(set, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	for (unsigned form = 0; form < 2; form++) {
		struct source source = { form * KEYS, form };
		assert_ok(weir_reload_all(set, NULL, fill, &source));
		assert_int_equal(found_in(set, source.first), KEYS);
		assert_true(found_in(set, KEYS - source.first) < 50);
		assert_int_equal(capacity_of(set), KEYS); /* each key is in exactly one shard */
	}
	assert_ok(weir_handle_destroy(set));
}

static void a_shard_skips_the_hashes_of_other_shards(void **state)
{
	struct weir_params p = params();
	struct weir_handle *set = NULL;
	struct weir_reload *r = NULL;
	uint64_t taken = 0;
	(void)state;
	unsigned char secret[16] = "sixteen bytes!!";
	p.seed = 0;
	p.secret = secret;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	memset(secret, 0, sizeof secret); /* the set has copied the secret */
	assert_ok(shard_begin(&r, set, 3, NULL));
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t hash = weir_handle_hash(set, &i, 8);
		taken += weir_handle_shard(set, hash) == 3;
		assert_int_equal(weir_reload_insert_hash(r, hash), 0);
	}
	assert_ok(weir_reload_commit(r));
	struct weir_params made = WEIR_PARAMS_INIT;
	assert_ok(weir_params_of(weir_handle_get_shard(set, 3), &made));
	assert_int_equal(made.capacity, taken);
	for (uint64_t i = 0; i < 1000; i++)
		if (weir_handle_shard(set, weir_handle_hash(set, &i, 8)) == 3)
			assert_true(weir_handle_contains(set, &i, 8));
	assert_ok(weir_handle_destroy(set));
}

/* Hashes spread unevenly, so the share of capacity includes slack. */
static void each_shard_gets_a_share_of_capacity_and_max_bytes(void **state)
{
	struct weir_params p = params();
	struct weir_handle *set = NULL;
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	struct source source = { 0, 1 };
	(void)state;
	p.capacity = KEYS;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_ok(weir_handle_measure(set, &stats, NULL));
	assert_true(stats.bytes < SHARDS * 4096); /* the shards are still empty */
	assert_ok(weir_reload_all(set, NULL, fill, &source));
	assert_int_equal(found_in(set, 0), KEYS);
	assert_ok(weir_handle_destroy(set));
	p.capacity = KEYS / 2;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_refused(weir_reload_all(set, NULL, fill, &source), -ENOSPC, "capacity",
	               "different keys");
	assert_ok(weir_handle_destroy(set));
	p.capacity = 0;
	p.max_bytes = KEYS;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_int_equal(weir_reload_all(set, NULL, fill, &source), -EFBIG);
	assert_ok(weir_handle_destroy(set));
	p.capacity = 10;
	p.max_bytes = 0;
	p.fp_rate = 7;
	assert_refused(sharded_create(&set, &p, SHARDS, NULL), -EINVAL, "fp_rate", "7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_built_set_is_loaded_shard_by_shard),
		cmocka_unit_test(a_shard_skips_the_hashes_of_other_shards),
		cmocka_unit_test(each_shard_gets_a_share_of_capacity_and_max_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
