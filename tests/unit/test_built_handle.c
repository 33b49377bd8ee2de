/* SPDX-License-Identifier: MIT
 * Handles over sets that are built once and take no inserts. A refresh can replace such a set. A
 * set with inserted keys cannot be replaced by a built set, because the inserts would be lost. */
#include <errno.h>
#include "../folder.h"
#include "../test.h"

enum { KEYS = 5000 };

/* Build a set of KEYS keys, from key number @first on. */
static struct weir_filter *built(uint64_t first)
{
	static uint64_t hashes[KEYS];
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.0001;
	p.seed = 5;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(first + i);
		hashes[i] = weir_hash_seeded(5, &key, 8);
	}
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, KEYS), NULL));
	return f;
}

static void save_of(uint64_t first)
{
	struct weir_filter *f = built(first);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static uint64_t found_in(const struct weir_handle *h, uint64_t first)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(first + i);
		n += weir_handle_contains(h, &key, 8);
	}
	return n;
}

static void a_refresh_replaces_a_built_set(void **state)
{
	struct weir_handle *h = NULL;
	(void)state;
	assert_ok(weir_handle_create(&h, built(0), NULL));
	assert_int_equal(found_in(h, 0), KEYS);
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	save_of(KEYS);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(found_in(h, KEYS), KEYS);
	assert_true(found_in(h, 0) < 20);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	weir_handle_destroy(h);
}

static void a_built_set_can_be_the_first_set(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	(void)state;
	save_of(0);
	o.absent = WEIR_ABSENT_NO;
	o.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, NULL, &o));
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(found_in(h, 0), KEYS);
	weir_handle_destroy(h);
}

static void a_refresh_that_would_lose_inserts_is_refused(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	p.capacity = KEYS;
	p.fp_rate = 0.0001;
	p.seed = 5;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_handle_create(&h, f, NULL));
	assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_NEW);
	save_of(0);
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOTSUP, "kind fuse takes no inserts",
	               "give a filter of kind blocked, or create the handle anew");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0); /* skips the refused file */
	assert_true(weir_handle_contains(h, "key", 3));
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refresh_replaces_a_built_set),
		cmocka_unit_test(a_built_set_can_be_the_first_set),
		cmocka_unit_test(a_refresh_that_would_lose_inserts_is_refused),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
