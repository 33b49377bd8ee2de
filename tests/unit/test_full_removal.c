/* SPDX-License-Identifier: MIT
 * Removals and counts through a handle and a sharded set: each form of a key, errors, and the
 * output of a refused batch. */
#define KEYS 130
#include "full_keys.h"

static struct weir_handle *filled(void)
{
	struct weir_handle *h = full_open(&bounded_removes, 1000);
	assert_true(weir_handle_insert_keys(h, weir_keys_u64(numbers, KEYS), NULL) > 0);
	return h;
}

static int64_t copies(const struct weir_handle *h)
{
	return (int64_t)*bounded_word(weir_handle_get(h), 0);
}

static void single_removals_and_counts(void **state)
{
	struct weir_handle *h = filled();
	(void)state;
	for (unsigned i = 0; i < KEYS; i++) {
		int64_t before = weir_handle_count(h, &numbers[i], 8);
		assert_true(before >= 1);
		assert_int_equal(weir_handle_count_hash(h, hashes[i]), before);
		assert_int_equal(weir_handle_count_u64(h, numbers[i]), before);
		assert_int_equal(i % 3 == 0 ? weir_handle_remove(h, &numbers[i], 8) :
		          i % 3 == 1 ? weir_handle_remove_u64(h, numbers[i]) :
		                       weir_handle_remove_hash(h, hashes[i]), 1);
		assert_int_equal(weir_handle_count(h, &numbers[i], 8), before - 1);
	}
	assert_int_equal(copies(h), 0);
	assert_int_equal(weir_handle_remove_u64(h, numbers[0]), 0);
	assert_ok(weir_handle_destroy(h));
}

static void removals_and_counts_in_batches(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 3; form++) {
		struct weir_handle *h = filled();
		uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
		int64_t counts[KEYS];
		assert_ok(weir_handle_count_keys(h, keys_of(form, KEYS), counts));
		for (unsigned i = 0; i < KEYS; i++)
			assert_int_equal(counts[i], weir_handle_count_hash(h, hashes[i]));
		assert_int_equal(weir_handle_remove_keys(h, keys_of(form, 70), bitmap), 70);
		assert_true(bitmap[0] == ~UINT64_C(0) && bitmap[1] == 63);
		assert_int_equal(weir_handle_remove_keys(h, keys_of(form, KEYS), NULL), KEYS - 70);
		assert_int_equal(copies(h), 0);
		assert_int_equal(weir_handle_remove_keys(h, keys_of(form, KEYS), bitmap), 0);
		assert_int_equal(weir_handle_remove_keys(h, keys_of(form, 0), NULL), 0);
		assert_true(bitmap[0] == 0 && bitmap[2] == 0);
		assert_ok(weir_handle_destroy(h));
	}
}

/* Asserts that removals are refused while another filter could become the current filter. */
static void expect_busy(struct weir_handle *h, const char *why)
{
	int64_t before = copies(h), counts[KEYS];
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	assert_refused(weir_handle_remove(h, &numbers[0], 8), -EBUSY, why, "keep the key,");
	assert_refused(weir_handle_remove_u64(h, numbers[0]), -EBUSY, why, "remove it after");
	assert_refused(weir_handle_remove_hash(h, hashes[0]), -EBUSY, why, "after this removal");
	for (unsigned form = 0; form < 3; form++) {
		memset(bitmap, 0xff, sizeof bitmap);
		assert_refused(weir_handle_remove_keys(h, keys_of(form, KEYS), bitmap), -EBUSY,
		               why, "");
		assert_true(bitmap[0] == 0 && bitmap[1] == 0 && bitmap[2] == 0);
		/* counts still work */
		assert_ok(weir_handle_count_keys(h, keys_of(form, KEYS), counts));
	}
	assert_int_equal(copies(h), before);
}

static void removals_are_refused_while_another_filter_may_become_current(void **state)
{
	struct weir_handle *h = filled();
	(void)state;
	struct weir_reload *r = full_begin(h, &bounded_removes, KEYS, true);
	expect_busy(h, "a reload runs");
	assert_true(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL) > 0);
	assert_ok(weir_reload_commit(r));
	expect_busy(h, "keeps its previous filter");
	/* a void previous filter does not block removals */
	assert_ok(weir_handle_rollback(h));
	r = full_begin(h, &bounded_removes, KEYS, false);
	assert_true(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL) > 0);
	assert_ok(weir_reload_commit(r)); /* the new current filter is full */
	r = full_begin(h, &bounded_removes, 1000, true);
	assert_true(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL) > 0);
	assert_ok(weir_reload_commit(r));
	expect_busy(h, "weir_handle_drop_previous()");
	assert_true(weir_handle_insert_hash(h, 1) >= 0);
	assert_true(stats_of(h).previous_void);
	assert_int_equal(weir_handle_remove_hash(h, 1), 1);
	assert_int_equal(weir_handle_remove_keys(h, weir_keys_hashes(hashes, KEYS), NULL), KEYS);
	assert_ok(weir_handle_destroy(h));
}

static void hashes_are_refused_if_seeds_may_differ(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	int64_t counts[KEYS];
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, bounded_make(&bounded_removes, FULL_LINES, 9), &o));
	assert_int_equal(weir_handle_insert_u64(h, numbers[0]), WEIR_NEW);
	const char *seed = "ANY_SEED", *no_removal = "remove the key", *no_count = "count the key";
	assert_refused(weir_handle_remove_hash(h, hashes[0]), -EINVAL, seed, no_removal);
	assert_refused(weir_handle_remove_keys(h, weir_keys_hashes(hashes, 9), NULL), -EINVAL, seed,
	               no_removal);
	assert_refused(weir_handle_count_hash(h, hashes[0]), -EINVAL, seed, no_count);
	assert_refused(weir_handle_count_keys(h, weir_keys_hashes(hashes, 9), counts), -EINVAL,
	               seed, no_count);
	assert_int_equal(weir_handle_count_u64(h, numbers[0]), 1);
	assert_int_equal(weir_handle_remove_keys(h, weir_keys_iov(vectors, KEYS), NULL), 1);
	assert_ok(weir_handle_destroy(h));
	o.flags |= WEIR_HANDLE_OWN_HASHES;
	assert_ok(weir_handle_create(&h, bounded_make(&bounded_removes, FULL_LINES, 9), &o));
	assert_int_equal(weir_handle_insert_hash(h, 5), WEIR_NEW);
	assert_int_equal(weir_handle_count_hash(h, 5), 1);
	assert_int_equal(weir_handle_remove_hash(h, 5), 1);
	assert_ok(weir_handle_destroy(h));
}

static void before_the_first_set_removals_are_refused(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	int64_t counts[KEYS];
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_OWN_HASHES;
	o.absent = WEIR_ABSENT_YES;
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_refused(weir_handle_remove(h, "x", 1), -EAGAIN, "no set", "remove");
	assert_refused(weir_handle_remove_hash(h, 1), -EAGAIN, "no set", "remove");
	assert_refused(weir_handle_count(h, "x", 1), -EAGAIN, "no set", "count");
	for (unsigned form = 0; form < 3; form++) {
		assert_refused(weir_handle_remove_keys(h, keys_of(form, KEYS), NULL), -EAGAIN,
		               "no set", "remove");
		assert_refused(weir_handle_count_keys(h, keys_of(form, KEYS), counts), -EAGAIN,
		               "no set", "count");
	}
	assert_ok(weir_handle_destroy(h));
}

static void kinds_that_cannot_remove_or_count(void **state)
{
	struct weir_handle *h = full_open(&bounded_keeps, 9);
	(void)state;
	assert_refused(weir_handle_remove_u64(h, 1), -ENOTSUP, "cannot remove keys", "");
	for (unsigned form = 0; form < 3; form++)
		assert_refused(weir_handle_remove_keys(h, keys_of(form, KEYS), NULL), -ENOTSUP,
		               "cannot remove keys", "");
	assert_ok(weir_handle_destroy(h));
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 100, 0.01), NULL));
	assert_refused(weir_handle_count_u64(h, 1), -ENOTSUP, "cannot count keys", "");
	assert_ok(weir_handle_destroy(h));
}

static void removals_and_counts_in_a_sharded_set(void **state)
{
	struct weir_handle *set = full_sharded(1000);
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	int64_t counts[KEYS];
	struct weir_reload *r;
	(void)state;
	assert_true(weir_handle_insert_keys(set, weir_keys_hashes(hashes, KEYS), NULL) > 0);
	assert_ok(weir_handle_count_keys(set, weir_keys_hashes(hashes, KEYS), counts));
	for (unsigned i = 0; i < KEYS; i++) {
		assert_true(counts[i] >= 1);
		assert_int_equal(weir_handle_count_hash(set, hashes[i]), counts[i]);
		assert_int_equal(weir_handle_count(set, &numbers[i], 8), counts[i]);
	}
	assert_int_equal(weir_handle_remove(set, &numbers[0], 8), 1);
	assert_int_equal(weir_handle_remove_hash(set, hashes[1]), 1);
	assert_ok(shard_begin(&r, set, 1, NULL));
	unsigned busy = 2;
	while (weir_handle_shard(set, hashes[busy]) != 1)
		busy++;
	memset(bitmap, 0xff, sizeof bitmap);
	assert_refused(weir_handle_remove_keys(set, weir_keys_hashes(hashes + 2, KEYS - 2),
	                                        bitmap),
	               -EBUSY, "a reload runs", "");
	assert_int_equal(bitmap[0], (UINT64_C(1) << (busy - 2)) - 1);
	assert_true(bitmap[1] == 0);
	weir_reload_abort(r);
	assert_int_equal(weir_handle_remove_keys(set, weir_keys_hashes(hashes + busy, KEYS - busy),
	                                          bitmap),
	                 KEYS - busy);
	assert_int_equal(weir_handle_remove_keys(set, weir_keys_hashes(hashes, KEYS), NULL), 0);
	assert_ok(weir_handle_destroy(set));
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 1000, p.fp_rate = 0.01;
	assert_ok(sharded_create(&set, &p, 2, NULL));
	assert_int_equal(weir_handle_remove_keys(set, weir_keys_hashes(hashes, KEYS), bitmap),
	                 -ENOTSUP);
	assert_int_equal(weir_handle_count_keys(set, weir_keys_hashes(hashes, KEYS), counts),
	                 -ENOTSUP);
	assert_ok(weir_handle_destroy(set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_removals_and_counts),
		cmocka_unit_test(removals_and_counts_in_batches),
		cmocka_unit_test(removals_are_refused_while_another_filter_may_become_current),
		cmocka_unit_test(hashes_are_refused_if_seeds_may_differ),
		cmocka_unit_test(before_the_first_set_removals_are_refused),
		cmocka_unit_test(kinds_that_cannot_remove_or_count),
		cmocka_unit_test(removals_and_counts_in_a_sharded_set),
	};
	return cmocka_run_group_tests(tests, make_keys, NULL);
}
