/* SPDX-License-Identifier: MIT
 * The creation of a sharded set: the seed of its shards, their sizes, and the figures of the set.
 * The tests also cover errors. */
#include <errno.h>
#include "../test.h"
#include "../sharded.h"

enum { KEYS = 100000, SHARDS = 8 };

static struct weir_params params(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = KEYS;
	p.fp_rate = 0.01;
	p.seed = 7;
	return p;
}

/* Only shard 0 of the two shards has keys. In its filter, fill_max is above the mean fill. The
 * set's fill_max is the shard's fill_max, and the set's fill is half of the shard's fill. */
static void figures_combine_the_shards_figures(void **state)
{
	struct weir_params p = params();
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	struct weir_stats one = WEIR_STATS_INIT;
	struct weir_handle *set = NULL;
	(void)state;
	p.capacity = 4 * KEYS;
	assert_ok(sharded_create(&set, &p, 2, NULL));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_handle_insert_hash(set, test_key(i) >> 1));
	assert_ok(weir_handle_measure(set, &s, &filter));
	assert_ok(weir_measure(weir_handle_get_shard(set, 0), WEIR_SAMPLED, &one));
	assert_int_equal(s.bytes, 2 * one.bytes);
	assert_true(one.fill_max > one.fill && filter.fill_max == one.fill_max);
	assert_true(filter.fill == one.fill / 2);
	assert_true(filter.keys_estimated == one.keys_estimated);
	assert_true(filter.fp_rate_estimated == one.fp_rate_estimated / 2);
	assert_ok(weir_handle_destroy(set));
}

/* The set hashes a key before it selects the shard. */
static void all_shards_share_one_random_seed(void **state)
{
	struct weir_params p = params(), first = WEIR_PARAMS_INIT;
	struct weir_handle *set = NULL;
	(void)state;
	p.seed = 0;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_ok(weir_params_of(weir_handle_get_shard(set, 0), &first));
	for (uint32_t i = 0; i < SHARDS; i++) {
		struct weir_params one = WEIR_PARAMS_INIT;
		assert_ok(weir_params_of(weir_handle_get_shard(set, i), &one));
		assert_true(one.seed == first.seed);
		assert_true(weir_hash(weir_handle_get_shard(set, i), "key", 3) ==
		            weir_handle_hash(set, "key", 3));
	}
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t key = test_key(i);
		assert_ok(weir_handle_insert(set, &key, sizeof key));
		assert_true(weir_handle_contains(set, &key, sizeof key));
	}
	assert_ok(weir_handle_destroy(set));
}

/* Some shards get more than their share of the keys. So every shard has room for more keys, and
 * max_bytes must suffice for the larger shards. */
static void all_shards_fit_in_max_bytes(void **state)
{
	static const struct { uint64_t capacity, max_bytes; double fp_rate; } kept[] = {
		{ KEYS, 100 * 1024, 0 }, { 0, 200 * 1024, 0.01 }, { KEYS, 200 * 1024, 0.01 } };
	struct weir_handle *set = NULL;
	struct weir_params p = params();
	(void)state;
	p.max_bytes = 140000; /* enough for one filter with all keys, and for 8 shards */
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_ok(weir_handle_destroy(set));
	assert_refused(sharded_create(&set, &p, 1024, NULL), -EFBIG, "one of 1024 shards",
	               "max_bytes is 136");
	assert_refused(sharded_create(&set, &p, 65536, NULL), -EINVAL, "max_bytes 140000",
	               "64 bytes each");
	p.capacity = 0, p.max_bytes = 64 * SHARDS;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_ok(weir_handle_destroy(set));
	p.max_bytes--;
	assert_refused(sharded_create(&set, &p, SHARDS, NULL), -EINVAL, "max_bytes 511",
	               "64 bytes each");
	for (unsigned i = 0; i < COUNT_OF(kept); i++) {
		struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
		p.capacity = kept[i].capacity, p.max_bytes = kept[i].max_bytes,
		p.fp_rate = kept[i].fp_rate;
		assert_ok(sharded_create(&set, &p, 512, NULL));
		assert_ok(weir_handle_measure(set, &s, NULL));
		assert_in_range(s.bytes, kept[i].max_bytes / 2, kept[i].max_bytes);
		assert_ok(weir_handle_destroy(set));
	}
}

static int fill(struct weir_reload *r, uint32_t shard, void *context)
{
	(void)r, (void)shard, (void)context;
	fail(); /* no call in this test reaches the loader */
	return 0;
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	struct weir_params p = params();
	struct weir_handle *set = NULL;
	struct weir_reload *r;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle_stats stats = { 0 };
	uint64_t memory[8];
	assert_refused(sharded_create(NULL, &p, 8, NULL), -EINVAL, "out", "NULL");
	/* the number 0 is not wrong: it makes a set without shards */
	static const uint32_t wrong[] = { 1, 3, 131072 };
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_refused(sharded_create(&set, &p, wrong[i], NULL), -EINVAL, "shards",
		               "65536");
	p.memory = memory, p.memory_bytes = sizeof memory;
	assert_refused(sharded_create(&set, &p, 8, NULL), -EINVAL, "memory", "shards");
	p.memory = NULL, p.memory_bytes = 0, p.fp_rate = 2;
	assert_refused(sharded_create(&set, &p, 8, NULL), -EINVAL, "fp_rate", "2");
	assert_null(set);
	p = params();
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
	assert_refused(shard_begin(&r, set, SHARDS, NULL), -EINVAL, "shard 8", "0 to 7");
	assert_refused(shard_begin(&r, NULL, 0, NULL), -EINVAL, "the handle", "NULL");
	assert_refused(shard_begin(NULL, set, 0, NULL), -EINVAL, "out", "NULL");
	o.keep_previous = true;
	assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, "keep_previous", "one shard");
	o.keep_previous = false, o.params = &p;
	assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, "params", "size");
	o.params = NULL, o.next = (struct weir_filter *)(void *)memory;
	assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, "next", "size");
	o.next = NULL, o.defer_free = true;
	assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, "defer_free", "one shard");
	o.defer_free = false, o.max_bytes = 1;
	assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, "max_bytes", "size");
	o.max_bytes = 0, o.struct_size = 0;
	assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, "struct_size", "0");
	assert_refused(weir_reload_all(set, NULL, NULL, NULL), -EINVAL, "fill", "NULL");
	assert_refused(weir_reload_all(NULL, NULL, fill, NULL), -EINVAL, "the handle", "NULL");
	assert_refused(weir_reload_all(set, &o, fill, NULL), -EINVAL, "struct_size", "0");
	assert_refused(weir_handle_measure(set, &stats, NULL), -EINVAL, "struct_size", "0");
	assert_ok(shard_begin(&r, set, 3, NULL));
	assert_refused(weir_handle_destroy(set), -EBUSY, "weir_handle_destroy", "under way");
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(set));
	assert_ok(weir_handle_destroy(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_combine_the_shards_figures),
		cmocka_unit_test(all_shards_share_one_random_seed),
		cmocka_unit_test(all_shards_fit_in_max_bytes),
		cmocka_unit_test(wrong_arguments_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
