/* SPDX-License-Identifier: MIT */
#include <weir/inline.h>
#include "mapped.h"

/* Asserts that a read-only map refuses the call. A kind that lacks the function reports -ENOTSUP,
 * whether or not the filter is mapped. */
static void assert_read_only(int64_t answer)
{
	assert_true(answer == -EROFS || answer == -ENOTSUP);
	assert_refused(answer, (int)answer, answer == -EROFS ? "read-only" : "cannot", "");
}

static void test_read_only_maps_refuse_changes(void **state)
{
	struct weir_filter *f;
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		if (!weir_kind_can(test_kinds[k], WEIR_CAN_MAP) ||
		    !save_if_it_can(test_kinds[k], 1000))
			continue;
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
		assert_int_equal(missing(f, 0, 1000), 0);
		assert_true(missing(f, 1000, 2000) > 900);
		int refused = test_takes_inserts(f) ? -EROFS : -ENOTSUP;
		const char *sentence = refused == -EROFS ? "read-only" : "cannot";
		assert_refused(weir_insert_hash(f, 1), refused, sentence, "");
		assert_refused(weir_insert_keys(f, weir_keys_hashes((uint64_t[]){ 1 }, 1), NULL),
		               refused, sentence, "");
		assert_refused(weir_fill_keys(f, weir_keys_hashes((uint64_t[]){ 1 }, 1)), refused,
		               sentence, "");
		assert_read_only(weir_merge(f, f));
		assert_ok(weir_verify(f));
		assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
		struct weir_filter *copy;
		assert_ok(weir_clone(&copy, f)); /* a clone is a private copy and takes inserts */
		if (refused == -EROFS)
			assert_ok(weir_insert_hash(copy, test_key(5000)));
		weir_destroy(copy);
		weir_destroy(f);
	}
}

/* The error must not say that the kind cannot merge or take inserts. */
static void test_a_capable_kind_is_called_read_only(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 10);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_refused(weir_insert_hash(f, 1), -EROFS, "read-only", "");
	assert_refused(weir_merge(f, f), -EROFS, "read-only", "");
	weir_destroy(f);
}

static void test_private_maps_keep_changes_private(void **state)
{
	struct weir_filter *f, *g;
	size_t n = 0, m = 0;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1000);
	unsigned char *before = image_slurp(path, &n);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_PRIVATE), NULL));
	assert_ok(insert_each(f, 1000, 2, 2000));
	assert_ok(load_pieces(f, 1001, 2, 2000));
	assert_int_equal(missing(f, 0, 2000), 0);
	assert_refused(weir_verify(f), -EINVAL, "WEIR_MAP_READ", "");
	assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_true(missing(g, 1000, 2000) > 900);
	weir_destroy(f);
	weir_destroy(g);
	unsigned char *after = image_slurp(path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
}

static void test_a_replaced_file_stays_mapped(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1000);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	save_fresh(WEIR_BLOCKED, 10);
	assert_int_equal(missing(f, 0, 1000), 0); /* the old file exists until it is unmapped */
	assert_ok(weir_verify(f));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(missing(f, 0, 1000), 0);
	weir_destroy(f);
}

/* Maps of 2 MiB and more are aligned to 2 MiB, so that huge pages can serve them. */
static void test_large_maps_are_aligned(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 4000000, 0.01), *g;
	struct weir_inline view;
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_PRIVATE; mode++) {
		assert_ok(weir_load(&g, weir_location_map(path, (enum weir_map_mode)mode), NULL));
		assert_ok(weir_inline_init(&view, g));
		assert_int_equal((uintptr_t)view.words % (2 << 20), 0);
		assert_int_equal(missing(g, 0, 1000), 0);
		weir_destroy(g);
	}
}

static void test_a_live_map_needs_write_permission(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1);
	assert_int_equal(chmod(path, 0400), 0);
	if (geteuid() != 0) /* root may write any file */
		assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_LIVE), NULL),
		               -EACCES, path, "");
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_PRIVATE), NULL));
	assert_int_equal(weir_insert_hash(f, test_key(77)), WEIR_NEW);
	weir_destroy(f);
}

#if TEST_ZSTD
static void test_compressed_images_cannot_be_mapped(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	o.zstd_level = 1;
	unlink(path);
	assert_ok(weir_save(f, weir_location_path(path), &o));
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++)
		assert_refused(weir_load(&untouched,
		                         weir_location_map(path, (enum weir_map_mode)mode), NULL),
		               -EINVAL, path, "compressed");
	weir_destroy(f);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_only_maps_refuse_changes),
		cmocka_unit_test(test_a_capable_kind_is_called_read_only),
		cmocka_unit_test(test_private_maps_keep_changes_private),
		cmocka_unit_test(test_a_replaced_file_stays_mapped),
		cmocka_unit_test(test_large_maps_are_aligned),
		cmocka_unit_test(test_a_live_map_needs_write_permission),
#if TEST_ZSTD
		cmocka_unit_test(test_compressed_images_cannot_be_mapped),
#endif
	};
	return cmocka_run_group_tests(tests, folder_setup, teardown);
}
