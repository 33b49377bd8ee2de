/* SPDX-License-Identifier: MIT
 * A handle whose filters hash differently. Each insert, in any form, reaches all filters. The
 * handle refuses to insert hashes, because a hash may belong to another filter's seed. */
#include <sys/uio.h>
#include <weir/refresh.h>
#include "../folder.h"
#include "../handles.h"

enum { CAPACITY = 20000, EACH = 1500 }; /* EACH: 23 * 64 + 28 keys */

static const unsigned char key_bytes[16] = "a secret of 16 b";

static struct weir_handle *any_seed(uint32_t flags)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	o.flags = WEIR_HANDLE_ANY_SEED | flags;
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, CAPACITY, 0.001), &o));
	return h;
}

static struct weir_params seeded(uint64_t seed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = CAPACITY;
	p.fp_rate = 0.001;
	p.seed = seed;
	return p;
}

static struct weir_reload *begun(struct weir_handle *h, const struct weir_params *p, bool keep)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.params = p;
	o.keep_previous = keep;
	assert_ok(weir_reload_begin(&r, h, &o));
	return r;
}

/* Insert EACH keys. @form: 0 for single calls, 1 for a batch of byte strings, 2 for a batch of
 * numbers. @bitmap: bit i is set if key i is new. Return: the number of new keys. */
static int64_t insert_by(unsigned form, struct weir_handle *h, uint64_t from, uint64_t *bitmap)
{
	static uint64_t keys[EACH];
	static struct iovec vectors[EACH];
	int64_t fresh = 0;
	for (unsigned i = 0; i < EACH; i++) {
		keys[i] = test_key(from + i);
		vectors[i] = (struct iovec){ &keys[i], 8 };
	}
	if (form == 1)
		return weir_handle_insert_keys(h, weir_keys_iov(vectors, EACH), bitmap);
	if (form == 2)
		return weir_handle_insert_keys(h, weir_keys_u64(keys, EACH), bitmap);
	memset(bitmap, 0, WEIR_BITMAP_WORDS(EACH) * sizeof *bitmap);
	for (unsigned i = 0; i < EACH; i++) {
		int answer = weir_handle_insert(h, &keys[i], 8);
		assert_ok(answer);
		bitmap[i / 64] |= (uint64_t)answer << (i % 64);
		fresh += answer;
	}
	return fresh;
}

static void insert_in_each_form(struct weir_handle *h, uint64_t from)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(EACH)];
	for (unsigned form = 0; form < 3; form++) {
		int64_t fresh = insert_by(form, h, from + form * EACH, bitmap), bits = 0;
		for (unsigned i = 0; i < WEIR_BITMAP_WORDS(EACH); i++)
			bits += __builtin_popcountll(bitmap[i]);
		assert_int_equal(bits, fresh);
		assert_in_range(fresh, EACH - EACH / 20, EACH);
		assert_int_equal(insert_by(form, h, from + form * EACH, bitmap), 0);
	}
}

static void expect_all(const struct weir_filter *f, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		uint64_t key = test_key(i);
		assert_true(weir_contains(f, &key, 8));
	}
}

static void test_numbers_are_not_normalised_during_a_reload(void **state)
{
	static const uint32_t steps[] = { WEIR_TEXT_LOWERCASE, WEIR_TEXT_CIDR };
	const uint64_t number = UINT64_C(0x4142434445464748); /* "HGFEDCBA" */
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(steps); i++) {
		struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
		struct weir_params first = seeded(42), second = seeded(43);
		struct weir_filter *f = NULL;
		struct weir_handle *h = NULL;
		o.flags = WEIR_HANDLE_ANY_SEED;
		first.text.steps = second.text.steps = steps[i];
		assert_ok(weir_create(&f, &first));
		assert_ok(weir_handle_create(&h, f, &o));
		struct weir_reload *r = begun(h, &second, false);
		assert_int_equal(weir_handle_insert_u64(h, number), WEIR_NEW);
		assert_true(weir_handle_contains_u64(h, number));
		assert_ok(weir_reload_commit(r));
		assert_true(weir_handle_contains_u64(h, number));
		assert_ok(weir_handle_destroy(h));
	}
}

/* The current, the next and the previous filter have three seeds, two seeds or one seed. */
static void test_an_insert_reaches_filters_of_other_seeds(void **state)
{
	static const uint64_t seeds[][2] = { { 43, 44 }, { 43, 42 }, { 42, 43 }, { 43, 43 },
		                             { 42, 42 } };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(seeds); i++) {
		struct weir_params second = seeded(seeds[i][0]), third = seeded(seeds[i][1]);
		struct weir_handle *h = any_seed(0);
		struct weir_reload *r = begun(h, &second, true);
		insert_in_each_form(h, 0); /* reaches the current and the next filter */
		expect_all(weir_reload_next(r), 0, 3 * EACH);
		expect_all(weir_handle_get(h), 0, 3 * EACH);
		assert_ok(weir_reload_commit(r));
		expect_all(weir_handle_get(h), 0, 3 * EACH);
		r = begun(h, &third, true);
		insert_in_each_form(h, 3 * EACH); /* reaches all three filters */
		expect_all(weir_reload_next(r), 3 * EACH, 6 * EACH);
		weir_reload_abort(r);
		expect_all(weir_handle_get(h), 0, 6 * EACH);
		assert_ok(weir_handle_rollback(h));
		expect_all(weir_handle_get(h), 0, 6 * EACH);
		assert_ok(weir_handle_destroy(h));
	}
}

static void test_an_insert_without_a_reload(void **state)
{
	struct weir_handle *h = any_seed(0);
	(void)state;
	insert_in_each_form(h, 0);
	expect_all(weir_handle_get(h), 0, 3 * EACH);
	assert_ok(weir_handle_destroy(h));
}

/* The seed of a filter with a secret is only a check value of the secret, so a filter without a
 * secret may have an equal seed. */
static void test_equal_seeds_with_different_hash_functions(void **state)
{
	struct weir_params p = seeded(0);
	struct weir_filter *f, *first;
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	(void)state;
	p.secret = key_bytes;
	assert_ok(weir_create(&f, &p));
	struct weir_params keyed = WEIR_PARAMS_INIT, plain = seeded(0);
	assert_ok(weir_params_of(f, &keyed));
	plain.seed = keyed.seed;
	assert_int_not_equal(plain.seed, 0);
	assert_ok(weir_create(&first, &plain));
	o.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, first, &o));
	p.seed = 0;
	struct weir_reload *r = begun(h, &p, true);
	insert_in_each_form(h, 0);
	expect_all(weir_reload_next(r), 0, 3 * EACH);
	assert_ok(weir_reload_commit(r));
	insert_in_each_form(h, 3 * EACH);
	assert_ok(weir_handle_rollback(h));
	expect_all(weir_handle_get(h), 0, 6 * EACH);
	assert_ok(weir_handle_destroy(h));
	weir_destroy(f);
}

static void test_a_reload_keeps_the_secret_unless_it_gets_another_or_a_seed(void **state)
{
	static const unsigned char other[16] = "another 16 bytes";
	struct weir_params p = seeded(0), next = seeded(0);
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	struct weir_filter *f;
	(void)state;
	p.secret = key_bytes;
	assert_ok(weir_create(&f, &p));
	o.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, f, &o));
	uint64_t hash = weir_handle_hash(h, "k", 1);
	for (unsigned i = 0; i < 3; i++) {
		next.secret = i == 1 ? other : NULL;
		next.seed = i == 2 ? 43 : 0;
		struct weir_reload *r = begun(h, &next, false);
		assert_int_equal(weir_hash(weir_reload_next(r), "k", 1) == hash, i == 0);
		assert_ok(weir_handle_insert(h, &i, sizeof i));
		assert_true(weir_contains(weir_reload_next(r), &i, sizeof i));
		weir_reload_abort(r);
	}
	assert_ok(weir_handle_destroy(h));
}

static void test_hashes_may_not_be_inserted(void **state)
{
	struct weir_handle *h = any_seed(0);
	uint64_t hashes[130], bitmap[3] = { 0 };
	(void)state;
	for (unsigned i = 0; i < 130; i++)
		hashes[i] = test_key(i);
	assert_refused(weir_handle_insert_hash(h, 1), -EINVAL, "WEIR_HANDLE_ANY_SEED",
	               "WEIR_HANDLE_OWN_HASHES");
	assert_refused(weir_handle_insert_keys(h, weir_keys_hashes(hashes, 130), bitmap), -EINVAL,
	               "WEIR_HANDLE_ANY_SEED", "insert the key");
	assert_int_equal(figures_of(h).fill == 0, 1);
	/* the seed of a caller's hash is unknown and no key may be missed, so lookups answer
	 * true */
	assert_true(weir_handle_contains_hash(h, 1));
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, 130), bitmap), 130);
	assert_true(bitmap[0] == UINT64_MAX && bitmap[1] == UINT64_MAX && bitmap[2] == 3);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, 130), NULL), 130);
	/* a hash that the current filter computed is valid in that filter */
	assert_ok(weir_handle_insert(h, "k", 1));
	assert_true(weir_contains_hash(weir_handle_get(h), weir_hash(weir_handle_get(h), "k", 1)));
	assert_true(weir_contains_hash(weir_handle_get(h), weir_handle_hash(h, "k", 1)));
	assert_false(weir_contains_hash(weir_handle_get(h), 1));
	assert_ok(weir_handle_destroy(h));
}

static void test_own_hashes_may_be_inserted_with_the_flag(void **state)
{
	struct weir_handle *h = any_seed(WEIR_HANDLE_OWN_HASHES);
	struct weir_params other = seeded(43);
	uint64_t hashes[70], bitmap[2];
	(void)state;
	for (unsigned i = 0; i < 70; i++)
		hashes[i] = test_key(i);
	assert_false(weir_handle_contains_hash(h, 1));
	struct weir_reload *r = begun(h, &other, true);
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_NEW);
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_hashes(hashes, 70), bitmap), 70);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(weir_handle_contains_hash(h, 1) && weir_handle_contains_hash(h, 2));
		assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, 70), NULL),
		                 70);
		assert_int_equal(weir_handle_rollback(h), i ? -ENOENT : 0);
	}
	assert_ok(weir_handle_destroy(h));
}

static void save_seeded(uint64_t seed, uint64_t from, uint64_t to)
{
	struct weir_params p = seeded(seed);
	struct weir_filter *f;
	assert_ok(weir_create(&f, &p));
	for (uint64_t i = from; i < to; i++) {
		uint64_t key = test_key(i);
		assert_ok(weir_insert(f, &key, 8));
	}
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static void test_a_refresh_accepts_files_with_other_seeds(void **state)
{
	struct weir_handle *h = any_seed(0);
	struct weir_refresh_options carry = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	carry.carry = true;
	for (uint64_t seed = 43; seed < 47; seed++) {
		save_seeded(seed, 0, 1000);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
		expect_all(weir_handle_get(h), 0, 1000);
	}
	save_seeded(47, 0, 1000);
	assert_refused(weir_handle_refresh(h, path, &carry), -EINVAL, "cannot carry", "--like");
	assert_int_equal(weir_handle_refresh(h, path, &carry), 0);
	assert_int_equal(stats_of(h).refused, 1);
	save_seeded(46, 1000, 2000);
	assert_int_equal(weir_handle_refresh(h, path, &carry), 1);
	expect_all(weir_handle_get(h), 0, 2000);
	assert_ok(weir_handle_destroy(h));
}

static void test_a_copy_needs_one_seed(void **state)
{
	struct weir_handle *h = any_seed(0);
	struct weir_params other = seeded(43);
	(void)state;
	assert_ok(weir_handle_insert(h, "k", 1));
	struct weir_reload *r = begun(h, &other, false);
	assert_refused(weir_reload_copy(r, WEIR_ALL_SETS), -EINVAL, "hashes keys by",
	               "fill it from the keys");
	weir_reload_abort(r);
	r = begun(h, NULL, false);
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(h, "k", 1));
	assert_ok(weir_handle_destroy(h));
}

static void test_unknown_flags_are_refused(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 100, 0.01);
	struct weir_handle *untouched = NULL;
	(void)state;
	o.flags = 8;
	assert_refused(weir_handle_create(&untouched, f, &o), -EINVAL, "options.flags", "0x8");
	assert_null(untouched);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_insert_reaches_filters_of_other_seeds),
		cmocka_unit_test(test_numbers_are_not_normalised_during_a_reload),
		cmocka_unit_test(test_an_insert_without_a_reload),
		cmocka_unit_test(test_equal_seeds_with_different_hash_functions),
		cmocka_unit_test(test_a_reload_keeps_the_secret_unless_it_gets_another_or_a_seed),
		cmocka_unit_test(test_hashes_may_not_be_inserted),
		cmocka_unit_test(test_own_hashes_may_be_inserted_with_the_flag),
		cmocka_unit_test(test_a_refresh_accepts_files_with_other_seeds),
		cmocka_unit_test(test_a_copy_needs_one_seed),
		cmocka_unit_test(test_unknown_flags_are_refused),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
