/* SPDX-License-Identifier: MIT
 * The view of a sharded set, which weir_handle_get() returns. The view looks up, counts and
 * measures in all shards, even while shards are replaced. Every other call on a view fails. */
#include "../folder.h"
#include "../handles.h"
#include "../sharded.h"
#include <weir/guard.h>
#include <weir/inline.h>
#include <weir/metrics.h>

enum { KEYS = 20000, SHARDS = 8, MOST = 300 };

static struct weir_handle *set;

static void make(uint32_t kind, bool keyed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind, p.capacity = KEYS, p.fp_rate = 0.01, p.seed = keyed ? 0 : 7;
	p.secret = keyed ? "sixteen bytes!!" : NULL;
	assert_ok(sharded_create(&set, &p, SHARDS, NULL));
}

static const struct weir_filter *view_of(void)
{
	const struct weir_filter *view = weir_handle_get(set);
	assert_non_null(view);
	return view;
}

static void insert(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_handle_insert_u64(set, test_key(i)));
}

/* Asserts that view and set agree on a batch of keys in each form, and on each key by itself. */
static void same_answers(const struct weir_filter *view, const uint64_t *keys, size_t n)
{
	uint64_t made[MOST], bitmap[WEIR_BITMAP_WORDS(MOST)] = { 0 };
	int64_t hits = 0;
	weir_hash_keys(view, weir_keys_u64(keys, n), made);
	int64_t found = weir_contains_keys(view, weir_keys_u64(keys, n), bitmap);
	for (size_t i = 0; i < n; i++) {
		const bool there = weir_handle_contains_u64(set, keys[i]);
		assert_true(made[i] == weir_handle_hash_u64(set, keys[i]));
		assert_true(weir_hash_u64(view, keys[i]) == made[i]);
		assert_int_equal(weir_contains(view, &keys[i], 8), there);
		assert_int_equal(weir_contains_u64(view, keys[i]), there);
		assert_int_equal(weir_contains_hash(view, made[i]), there);
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, there);
		hits += there;
	}
	assert_int_equal(found, hits);
	assert_int_equal(weir_contains_keys(view, weir_keys_hashes(made, n), NULL), hits);
	assert_int_equal(weir_contains_keys(view, weir_keys_fixed(keys, 8, n), NULL), hits);
}

static void test_lookups_equal_the_sets(void **state)
{
	static const size_t lengths[] = { 0, 1, 5, 6, 63, 64, 65, MOST };
	(void)state;
	for (unsigned keyed = 0; keyed < 2; keyed++) {
		uint64_t keys[MOST];
		make(WEIR_BLOCKED, keyed);
		insert(0, KEYS);
		for (size_t i = 0; i < MOST; i++)
			keys[i] = test_key(i + (i % 2) * KEYS);
		for (unsigned l = 0; l < COUNT_OF(lengths); l++)
			same_answers(view_of(), keys, lengths[l]);
		assert_true(weir_contains(view_of(), &keys[0], 8));
		assert_ok(weir_handle_destroy(set));
	}
}

/* A view stays valid until its set is destroyed. */
static void test_a_view_sees_new_shards(void **state)
{
	(void)state;
	make(WEIR_BLOCKED, false);
	const struct weir_filter *view = view_of();
	for (uint32_t shard = 0; shard < SHARDS; shard++) {
		struct weir_reload *r;
		uint64_t key = 0;
		while (weir_handle_shard(set, weir_handle_hash_u64(set, key)) != shard)
			key++;
		assert_ok(shard_begin(&r, set, shard, NULL));
		assert_ok(weir_reload_insert_u64(r, key));
		assert_false(weir_contains_u64(view, key));
		assert_ok(weir_reload_commit(r));
		assert_true(weir_contains_u64(view, key));
		assert_ptr_equal(view_of(), view);
	}
	assert_ok(weir_handle_destroy(set));
}

static void test_counts_equal_the_sets(void **state)
{
	uint64_t keys[MOST];
	int64_t counts[MOST];
	(void)state;
	make(WEIR_COUNTING, false);
	for (uint64_t i = 0; i < MOST; i++) {
		keys[i] = test_key(i);
		for (uint64_t again = 0; again < i % 3; again++)
			assert_ok(weir_handle_insert_u64(set, keys[i]));
	}
	assert_true(weir_can(view_of(), WEIR_CAN_COUNT));
	assert_int_equal(weir_count_keys(view_of(), weir_keys_u64(keys, MOST), counts),
	                 weir_handle_count_keys(set, weir_keys_u64(keys, MOST), counts));
	for (uint64_t i = 0; i < MOST; i++) {
		assert_in_range(counts[i], i % 3, i % 3 + 2);
		assert_int_equal(weir_count_u64(view_of(), keys[i]), counts[i]);
		assert_int_equal(weir_count(view_of(), &keys[i], 8), counts[i]);
	}
	assert_ok(weir_handle_destroy(set));
	make(WEIR_BLOCKED, false);
	assert_false(weir_can(view_of(), WEIR_CAN_COUNT));
	assert_refused(weir_count_u64(view_of(), 1), -ENOTSUP, "kind blocked", "count keys");
	assert_refused(weir_handle_count_u64(set, 1), -ENOTSUP, "kind blocked", "count keys");
	assert_ok(weir_handle_destroy(set));
}

static void test_statistics_equal_the_handles(void **state)
{
	(void)state;
	make(WEIR_BLOCKED, false);
	insert(0, KEYS);
	for (uint32_t effort = WEIR_SAMPLED; effort <= WEIR_EXACT; effort++) {
		struct weir_handle_stats h = WEIR_HANDLE_STATS_INIT;
		struct weir_stats filter = WEIR_STATS_INIT;
		struct weir_stats all = WEIR_STATS_INIT, one = WEIR_STATS_INIT;
		double keys = 0;
		uint64_t bytes = 0;
		assert_ok(weir_measure(view_of(), effort, &all));
		assert_ok(weir_handle_measure(set, &h, &filter));
		for (uint32_t i = 0; i < SHARDS; i++) {
			assert_ok(weir_measure(weir_handle_get_shard(set, i), effort, &one));
			keys += one.keys_estimated;
			bytes += one.bytes;
			assert_true(all.fill_max >= one.fill_max);
		}
		assert_true(all.keys_estimated > keys - 1 && all.keys_estimated < keys + 1);
		assert_int_equal(all.bytes, bytes);
		assert_int_equal(h.bytes, bytes);
		assert_int_equal(all.capacity, KEYS);
		assert_int_equal(all.max_capacity, KEYS);
		assert_int_equal(all.shards, SHARDS);
		assert_int_equal(all.shape.kind, WEIR_BLOCKED);
		assert_int_equal(all.seed_fingerprint, one.seed_fingerprint);
		assert_true(all.sampled >= 1 && !all.saturated && !all.nearly_full);
		assert_memory_equal(&filter.fill, &all.fill, sizeof all.fill);
	}
	insert(KEYS, KEYS + KEYS / 4);
	struct weir_stats over = WEIR_STATS_INIT;
	assert_ok(weir_measure(view_of(), WEIR_EXACT, &over));
	assert_true(over.saturated);
	assert_ok(weir_handle_destroy(set));
}

/* The set is of kind cuckoo, whose full filters refuse keys. */
static void test_a_set_is_nearly_full_with_one_full_shard(void **state)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	uint64_t i = 0;
	(void)state;
	make(WEIR_CUCKOO, false);
	for (; !s.nearly_full && i < KEYS; i++) {
		const uint64_t hash = test_key(i) >> 3; /* a hash of the first shard */
		assert_ok(weir_handle_insert_hash(set, hash));
		if (i % 64 == 0)
			assert_ok(weir_handle_measure(set, &s, &filter));
	}
	assert_in_range(i, KEYS / SHARDS / 2, 2 * KEYS / SHARDS);
	assert_true(filter.nearly_full && filter.fill < 0.5);
	assert_ok(weir_handle_destroy(set));
}

static void test_unsupported_calls_are_refused(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *other = test_filter(WEIR_BLOCKED, 100, 0.01), *made = NULL;
	const char *const what = "a view of all shards";
	struct weir_inline in;
	uint64_t keys[MOST] = { 0 };
	(void)state;
	make(WEIR_BLOCKED, false);
	const struct weir_filter *view = view_of();
	struct weir_filter *mut = (struct weir_filter *)(uintptr_t)view;
	const uint32_t looks = WEIR_CAN_HASH | WEIR_CAN_BE_KEYED | WEIR_CAN_NORMALISE;
	assert_int_equal(weir_can(view, WEIR_CAN_ALL & ~looks), 0);
	assert_true(weir_can(view, WEIR_CAN_HASH));
	assert_refused(weir_insert(mut, "key", 3), -ENOTSUP, what, "inserts");
	assert_refused(weir_insert_u64(mut, 1), -ENOTSUP, what, "inserts");
	assert_refused(weir_insert_hash(mut, 1), -ENOTSUP, what, "inserts");
	assert_refused(weir_insert_keys(mut, weir_keys_u64(keys, 1), NULL), -ENOTSUP, what, "");
	assert_refused(weir_insert_keys(mut, weir_keys_u64(keys, MOST), NULL), -ENOTSUP, what, "");
	assert_refused(weir_fill_keys(mut, weir_keys_u64(keys, MOST)), -ENOTSUP, what, "inserts");
	assert_refused(weir_remove(mut, "key", 3), -ENOTSUP, what, "remove keys");
	assert_refused(weir_clone(&made, view), -ENOTSUP, what, "be copied");
	assert_refused(weir_fold(&made, view, 2), -ENOTSUP, what, "fold");
	assert_refused(weir_merge(other, view), -EINVAL, "kind differs", what);
	assert_refused(weir_save(view, weir_location_path(path), NULL), -ENOTSUP, what, "be saved");
	assert_refused(weir_params_of(view, &p), -ENOTSUP, what, "parameters");
	assert_refused(weir_inline_init(&in, view), -ENOTSUP, what, "be inlined");
	assert_refused(weir_measure(view, 7, &(struct weir_stats)WEIR_STATS_INIT), -EINVAL,
	               "effort 7", "");
	assert_null(made);
	assert_false(weir_contains(view, "key", 3));
	weir_destroy(other);
	assert_ok(weir_handle_destroy(set));
}

static bool view_contains(const void *view, const void *key, size_t len)
{
	return weir_contains(view, key, len);
}

static void test_guards_and_metrics_accept_a_view(void **state)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	struct weir_guard_thread *t;
	struct weir_guard *g;
	char text[8192];
	(void)state;
	make(WEIR_BLOCKED, false);
	insert(0, 1000);
	for (unsigned by = 0; by < 2; by++) {
		const uint64_t there = test_key(0), absent = test_key(KEYS + 7);
		o.handle = by ? set : NULL;
		o.contains = by ? NULL : view_contains;
		o.set = by ? NULL : view_of();
		assert_ok(weir_guard_create(&g, &o));
		assert_ok(weir_guard_join(&t, g));
		assert_true(weir_guard_ask(t, &there, 8) != 0);
		assert_int_equal(weir_guard_ask(t, &absent, 8) != 0,
		                 weir_handle_contains_u64(set, absent));
		assert_ok(weir_guard_leave(t));
		assert_ok(weir_guard_destroy(g));
	}
	const struct weir_metrics of[] = { weir_metrics_handle(set, "set=\"handle\""),
	                                   weir_metrics_filter(view_of(), "set=\"view\"") };
	assert_true(weir_metrics_write(of, 2, text, sizeof text) > 0);
	assert_non_null(strstr(text, "weir_generation{set=\"handle\"} 1"));
	assert_non_null(strstr(text, "weir_capacity_keys{set=\"handle\"} 20000"));
	assert_non_null(strstr(text, "weir_capacity_keys{set=\"view\"} 20000"));
	assert_ok(weir_handle_destroy(set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookups_equal_the_sets),
		cmocka_unit_test(test_a_view_sees_new_shards),
		cmocka_unit_test(test_counts_equal_the_sets),
		cmocka_unit_test(test_statistics_equal_the_handles),
		cmocka_unit_test(test_a_set_is_nearly_full_with_one_full_shard),
		cmocka_unit_test_setup_teardown(test_unsupported_calls_are_refused, folder_setup,
		                                folder_teardown),
		cmocka_unit_test(test_guards_and_metrics_accept_a_view),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
