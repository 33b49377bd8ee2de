/* SPDX-License-Identifier: MIT
 * A handle before its first set: the answers to lookups, the kept inserts, and the ways to give
 * the handle a set. */
#include <sys/uio.h>
#include <weir/follow.h>
#include "../folder.h"
#include "../handles.h"

static const unsigned char key_bytes[16] = "a secret of 16 b";

static struct weir_handle_options absent(enum weir_absent answer, uint64_t keep)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.absent = answer;
	o.keep_inserts = keep;
	return o;
}

static struct weir_handle *made(const struct weir_handle_options *o)
{
	struct weir_handle *h = NULL;
	assert_ok(weir_handle_create(&h, NULL, o));
	return h;
}

static struct weir_params of_keys(uint64_t capacity)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = capacity;
	p.fp_rate = 0.001;
	return p;
}

static struct weir_reload *begun(struct weir_handle *h, bool keep_previous)
{
	struct weir_params p = of_keys(10000);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.params = &p;
	o.keep_previous = keep_previous;
	assert_ok(weir_reload_begin(&r, h, &o));
	return r;
}

static void save_keys(const void *secret, const char *key)
{
	struct weir_params p = of_keys(1000);
	struct weir_filter *f;
	p.secret = secret;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_insert(f, key, strlen(key)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static void test_without_a_set_every_lookup_gets_the_same_answer(void **state)
{
	(void)state;
	for (enum weir_absent answer = WEIR_ABSENT_YES; answer <= WEIR_ABSENT_NO; answer++) {
		const struct weir_handle_options o = absent(answer, 1 << 20);
		const bool yes = answer == WEIR_ABSENT_YES;
		uint64_t keys[70], bitmap[2] = { 0 };
		struct iovec vectors[70];
		struct weir_handle *h = made(&o);
		for (unsigned i = 0; i < 70; i++) {
			keys[i] = test_key(i);
			vectors[i] = (struct iovec){ &keys[i], 8 };
			assert_int_equal(weir_handle_insert(h, &keys[i], 8),
			                 yes ? WEIR_SEEN : WEIR_NEW);
			assert_int_equal(weir_handle_insert_u64(h, keys[i]),
			                 yes ? WEIR_SEEN : WEIR_NEW);
			assert_int_equal(weir_handle_contains_u64(h, keys[i]), yes);
			assert_int_equal(weir_handle_contains(h, &keys[i], 8), yes);
			assert_int_equal(weir_handle_contains(h, &keys[i], 7), yes);
		}
		assert_int_equal(weir_handle_insert_keys(h, weir_keys_iov(vectors, 70), bitmap),
		                 yes ? 0 : 70);
		assert_true(bitmap[0] == (yes ? 0 : UINT64_MAX) && bitmap[1] == (yes ? 0 : 63));
		assert_int_equal(weir_handle_insert_keys(h, weir_keys_u64(keys, 70), NULL),
		                 yes ? 0 : 70);
		assert_int_equal(weir_handle_contains_keys(h, weir_keys_iov(vectors, 70), bitmap),
		                 yes ? 70 : 0);
		assert_int_equal(weir_handle_contains_keys(h, weir_keys_u64(keys, 70), NULL),
		                 yes ? 70 : 0);
		assert_int_equal(weir_contains(weir_handle_get(h), "x", 1), yes);
		struct weir_handle_stats s = stats_of(h); /* a placeholder has no statistics */
		assert_true(s.absent && !figures_of(h).saturated && figures_of(h).capacity == 0);
		assert_int_equal(stats_of(h).bytes, 64);
		assert_refused(weir_handle_remove(h, "x", 1), -EAGAIN, "no set", "published");
		assert_ok(weir_handle_destroy(h)); /* also frees the kept inserts */
	}
}

/* Before the first set, a placeholder filter answers lookups. A copy of the placeholder would
 * contain no keys, or every key with WEIR_ABSENT_YES. */
static void test_without_a_set_the_filter_cannot_be_read_or_copied(void **state)
{
	(void)state;
	for (enum weir_absent answer = WEIR_ABSENT_YES; answer <= WEIR_ABSENT_NO; answer++) {
		const struct weir_handle_options o = absent(answer, 0);
		struct weir_handle *h = made(&o);
		const struct weir_filter *none = weir_handle_get(h);
		struct weir_stats s = WEIR_STATS_INIT;
		struct weir_router_stats sets = WEIR_ROUTER_STATS_INIT;
		struct weir_params p = of_keys(10000);
		struct weir_filter *f, *copy = NULL;
		assert_ok(weir_create(&f, &p));
		p = (struct weir_params)WEIR_PARAMS_INIT;
		assert_refused(weir_clone(&copy, none), -EAGAIN, "weir_clone", "no set");
		assert_refused(weir_fold(&copy, none, 1), -EAGAIN, "weir_fold", "no set");
		assert_refused(weir_merge(f, none), -EAGAIN, "weir_merge", "no set");
		assert_refused(weir_measure(none, WEIR_EXACT, &s), -EAGAIN, "weir_measure",
		               "no set");
		assert_refused(weir_router_measure(none, WEIR_EXACT, &sets), -EAGAIN, "no set",
		               "absent");
		assert_refused(weir_params_of(none, &p), -EAGAIN, "weir_params_of", "no set");
		assert_refused(weir_save(none, weir_location_path(path), NULL), -EAGAIN,
		               "weir_save", "no set");
		assert_int_equal(access(path, F_OK), -1);
		assert_null(copy);
		weir_destroy(f);
		assert_ok(weir_handle_destroy(h));
	}
}

static void test_inserts_are_kept_for_the_first_set(void **state)
{
	const struct weir_handle_options o = absent(WEIR_ABSENT_NO, 1 << 20);
	struct weir_handle *h = made(&o);
	uint64_t keys[600];
	(void)state;
	for (unsigned i = 0; i < 600; i++)
		keys[i] = test_key(i);
	assert_ok(weir_handle_insert(h, "before", 6));
	assert_ok(weir_handle_insert(h, NULL, 0));
	assert_ok(weir_handle_insert_keys(h, weir_keys_u64(keys, 600), NULL));
	struct weir_reload *r = begun(h, false);
	assert_true(weir_contains(weir_reload_next(r), "before", 6));
	assert_ok(weir_handle_insert(h, "beside an abort", 15));
	assert_ok(weir_handle_insert_u64(h, 17));
	assert_true(weir_contains(weir_reload_next(r), "beside an abort", 15));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS)); /* the handle has no set to copy */
	weir_reload_abort(r);
	assert_true(stats_of(h).absent);
	r = begun(h, true);
	assert_ok(weir_handle_insert(h, "during", 6));
	assert_ok(weir_reload_insert(r, "loaded", 6));
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(h, "before", 6) && weir_handle_contains(h, NULL, 0));
	assert_true(weir_handle_contains(h, "beside an abort", 15));
	assert_true(weir_handle_contains_u64(h, 17) && !weir_handle_contains_u64(h, 18));
	assert_true(weir_handle_contains(h, "during", 6) && weir_handle_contains(h, "loaded", 6));
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_u64(keys, 600), NULL), 600);
	assert_false(weir_handle_contains(h, "never", 5));
	struct weir_handle_stats s = stats_of(h);
	assert_true(!s.absent && !s.previous_kept && s.swaps == 1 && s.generation == 2);
	assert_refused(weir_handle_rollback(h), -ENOENT, "no previous", "kept");
	assert_int_equal(weir_handle_insert(h, "after", 5), WEIR_NEW);
	assert_int_equal(weir_handle_insert(h, "after", 5), WEIR_SEEN);
	assert_ok(weir_handle_destroy(h));
}

static void test_inserts_fail_if_they_cannot_be_kept(void **state)
{
	struct weir_handle_options o = absent(WEIR_ABSENT_YES, 0);
	struct weir_handle *h = made(&o);
	char key[500] = "";
	unsigned kept = 0;
	(void)state;
	assert_refused(weir_handle_insert(h, "x", 1), -EAGAIN, "keep_inserts", "0");
	assert_refused(weir_handle_insert_keys(h, weir_keys_fixed("xy", 1, 2), NULL), -EAGAIN,
	               "keep_inserts", "0");
	assert_ok(weir_handle_destroy(h));
	o.keep_inserts = 2000;
	h = made(&o);
	while (weir_handle_insert(h, key, sizeof key) >= 0)
		key[0] = (char)++kept;
	assert_in_range(kept, 3, 3); /* a kept key occupies more bytes than its length */
	assert_refused(weir_handle_insert(h, key, sizeof key), -ENOBUFS, "keep_inserts 2000",
	               "500 bytes");
	assert_refused(weir_handle_insert(h, key, SIZE_MAX), -ENOBUFS, "keep_inserts 2000",
	               "not kept");
	assert_ok(weir_handle_insert(h, key, 1)); /* a short key still fits */
	struct weir_reload *r = begun(h, false);
	assert_refused(weir_handle_insert(h, key, sizeof key), -ENOBUFS, "keep_inserts", "room");
	assert_ok(weir_reload_commit(r));
	for (char i = 0; i < 3; i++) {
		key[0] = i;
		assert_true(weir_handle_contains(h, key, sizeof key));
	}
	assert_ok(weir_handle_insert(h, key, sizeof key));
	assert_ok(weir_handle_destroy(h));
}

static void test_own_hashes_are_kept(void **state)
{
	struct weir_handle_options o = absent(WEIR_ABSENT_NO, 1 << 20);
	uint64_t hashes[3] = { 1, 2, 3 };
	(void)state;
	struct weir_handle *h = made(&o);
	assert_refused(weir_handle_insert_hash(h, 1), -EINVAL, "WEIR_HANDLE_ANY_SEED", "hash");
	assert_false(weir_handle_contains_hash(h, 1));
	assert_ok(weir_handle_destroy(h));
	o.flags |= WEIR_HANDLE_OWN_HASHES;
	h = made(&o);
	assert_int_equal(weir_handle_insert_hash(h, 7), WEIR_NEW);
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_hashes(hashes, 3), NULL), 3);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, 3), NULL), 0);
	assert_ok(weir_reload_commit(begun(h, false)));
	assert_true(weir_handle_contains_hash(h, 7));
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, 3), NULL), 3);
	assert_ok(weir_handle_destroy(h));
}

static void test_wrong_options_and_calls_are_refused(void **state)
{
	struct weir_handle_options o = absent(WEIR_ABSENT_YES, 0);
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	(void)state;
	o.flags = 0;
	assert_refused(weir_handle_create(&h, NULL, &o), -EINVAL, "absent",
	               "WEIR_HANDLE_ANY_SEED");
	o = absent((enum weir_absent)3, 0);
	assert_refused(weir_handle_create(&h, NULL, &o), -EINVAL, "absent 3", "_YES");
	assert_null(h);
	o = absent(WEIR_ABSENT_YES, 0);
	h = made(&o);
	assert_refused(weir_reload_begin(&r, h, NULL), -EINVAL, "params is NULL", "no set");
	assert_refused(weir_handle_refresh(h, NULL, NULL), -EINVAL, "path is NULL", "");
	assert_null(r);
	assert_refused(weir_handle_rollback(h), -ENOENT, "no previous", "kept");
	assert_ok(weir_handle_destroy(h));
	/* with an initial filter, options.absent has no effect */
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 100, 0.01), &o));
	assert_true(!stats_of(h).absent && !weir_handle_contains(h, "x", 1));
	assert_ok(weir_handle_destroy(h));
}

static void test_the_first_file_becomes_the_set(void **state)
{
	const struct weir_handle_options o = absent(WEIR_ABSENT_YES, 4096);
	struct weir_refresh_options carry = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_handle *h;
	(void)state;
	carry.carry = true;
	carry.keep_previous = true;
	for (unsigned with_carry = 0; with_carry < 2; with_carry++) {
		h = made(&o);
		assert_refused(weir_handle_refresh(h, path, NULL), -ENOENT, path, "no such");
		assert_ok(weir_handle_insert(h, "inserted", 8));
		save_keys(NULL, "in the file");
		assert_int_equal(weir_handle_refresh(h, path, with_carry ? &carry : NULL), 1);
		assert_false(stats_of(h).absent || stats_of(h).previous_kept);
		assert_true(weir_handle_contains(h, "in the file", 11));
		assert_true(weir_handle_contains(h, "inserted", 8));
		assert_false(weir_handle_contains(h, "x", 1));
		assert_ok(weir_handle_destroy(h));
		unlink(path);
	}
}

static void test_a_keyed_first_file_needs_the_secret(void **state)
{
	struct weir_handle_options o = absent(WEIR_ABSENT_NO, 4096);
	struct weir_handle *h = made(&o);
	(void)state;
	save_keys(key_bytes, "a key");
	assert_int_equal(weir_handle_refresh(h, path, NULL), -EKEYREJECTED);
	assert_ok(weir_handle_destroy(h));
	o.secret = key_bytes;
	h = made(&o);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_true(weir_handle_contains(h, "a key", 5));
	assert_ok(weir_handle_destroy(h));
	unlink(path);
}

/* Without WEIR_HANDLE_ANY_STEPS, lookups might miss the keys of a set that normalises. */
static void test_a_first_file_with_steps_needs_a_flag(void **state)
{
	struct weir_handle_options o = absent(WEIR_ABSENT_NO, 0);
	const struct weir_text n = { .steps = WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE };
	struct weir_params p = of_keys(1000);
	struct weir_handle *h = made(&o);
	struct weir_filter *f;
	(void)state;
	p.text = n;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_insert(f, "Example", 7));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, "trim, lowercase",
	               "WEIR_HANDLE_ANY_STEPS");
	assert_ok(weir_handle_destroy(h));
	o.flags |= WEIR_HANDLE_ANY_STEPS;
	h = made(&o);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(weir_handle_contains(h, " eXample", 8), 1);
	assert_ok(weir_handle_destroy(h));
	unlink(path);
}

static void test_a_follower_waits_for_the_first_file(void **state)
{
	const struct weir_handle_options o = absent(WEIR_ABSENT_YES, 4096);
	struct weir_follow_options follow = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_handle *h = made(&o);
	struct weir_follower *f;
	(void)state;
	follow.poll_seconds = 0.01;
	assert_ok(weir_follower_start(&f, h, path, &follow));
	assert_ok(weir_handle_insert(h, "inserted", 8));
	usleep(30000);
	assert_true(stats_of(h).absent);
	save_keys(NULL, "in the file");
	for (unsigned i = 0; i < 1000 && stats_of(h).absent; i++)
		usleep(10000);
	assert_true(weir_handle_contains(h, "in the file", 11));
	assert_true(weir_handle_contains(h, "inserted", 8));
	assert_false(weir_handle_contains(h, "x", 1));
	assert_ok(weir_follower_stop(f));
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_set_every_lookup_gets_the_same_answer),
		cmocka_unit_test(test_without_a_set_the_filter_cannot_be_read_or_copied),
		cmocka_unit_test(test_inserts_are_kept_for_the_first_set),
		cmocka_unit_test(test_inserts_fail_if_they_cannot_be_kept),
		cmocka_unit_test(test_own_hashes_are_kept),
		cmocka_unit_test(test_wrong_options_and_calls_are_refused),
		cmocka_unit_test(test_the_first_file_becomes_the_set),
		cmocka_unit_test(test_a_keyed_first_file_needs_the_secret),
		cmocka_unit_test(test_a_first_file_with_steps_needs_a_flag),
		cmocka_unit_test(test_a_follower_waits_for_the_first_file),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
