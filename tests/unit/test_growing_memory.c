/* SPDX-License-Identifier: MIT
 * A growing filter whose allocations fail. The filter fills its present layers, then refuses keys,
 * and grows once memory is available again. The tests count how often the filter allocates. */
#include "../folder.h"
#include "../no_memory.h"

enum { FIRST = 100, MOST = 500, BEGIN = FIRST - FIRST / 8, MANY = 1000 };

static struct weir_filter *make(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = WEIR_GROWING;
	params.capacity = FIRST;
	params.growing.max_capacity = MOST;
	params.fp_rate = 0.001; /* so low that no key in this test is a false positive */
	params.seed = 42;
	no_memory = false;
	assert_ok(weir_create(&f, &params));
	asked_for_memory = 0;
	return f;
}

static void insert_new(struct weir_filter *f, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++)
		assert_int_equal(weir_insert_hash(f, test_key(i)), WEIR_NEW);
}

static void assert_has(const struct weir_filter *f, uint64_t keys)
{
	for (uint64_t i = 0; i < keys; i++)
		assert_true(weir_contains_hash(f, test_key(i)));
	assert_false(weir_contains_hash(f, test_key(keys)));
}

/* The filter tries to allocate once when a layer is 7/8 full, then at each insert into a full
 * layer. */
static void without_memory_a_full_layer_refuses_keys(void **state)
{
	struct weir_filter *f = make();
	(void)state;
	no_memory = true;
	insert_new(f, 0, BEGIN - 1);
	assert_int_equal(asked_for_memory, 0);
	insert_new(f, BEGIN - 1, BEGIN);
	assert_int_equal(asked_for_memory, 1);
	insert_new(f, BEGIN, FIRST);
	assert_int_equal(asked_for_memory, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(weir_insert_hash(f, test_key(FIRST)), -ENOMEM);
		assert_int_equal(asked_for_memory, 2 + i);
	}
	assert_int_equal(weir_insert_hash(f, test_key(3)), WEIR_SEEN); /* a duplicate */
	assert_int_equal(weir_grow_ahead(f), -ENOMEM);
	assert_has(f, FIRST);
	no_memory = false;
	insert_new(f, FIRST, MOST);
	assert_int_equal(asked_for_memory, 6);
	assert_refused(weir_insert_hash(f, test_key(MOST)), -ENOSPC, "max_capacity 500", "");
	assert_has(f, MOST);
	weir_destroy(f);
}

static void without_memory_a_batch_inserts_what_fits(void **state)
{
	static uint64_t hashes[MANY], bitmap[WEIR_BITMAP_WORDS(MANY)];
	struct weir_filter *f = make();
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		hashes[i] = test_key(i);
	no_memory = true;
	assert_int_equal(weir_insert_keys(f, weir_keys_hashes(hashes, MANY), bitmap), -ENOMEM);
	assert_int_equal(weir_error_taken(), FIRST);
	assert_true(bitmap[0] == UINT64_MAX && bitmap[1] == (UINT64_C(1) << (FIRST - 64)) - 1);
	for (unsigned i = 2; i < WEIR_BITMAP_WORDS(MANY); i++)
		assert_true(bitmap[i] == 0);
	assert_has(f, FIRST);
	assert_int_equal(weir_fill_keys(f, weir_keys_hashes(hashes, MANY)), -ENOMEM);
	assert_int_equal(weir_error_taken(), FIRST); /* the fill accepts the present keys */
	no_memory = false;
	assert_int_equal(weir_insert_keys(f, weir_keys_hashes(hashes, MOST), NULL), MOST - FIRST);
	assert_has(f, MOST);
	weir_destroy(f);
}

/* weir_grow_ahead() allocates the second and last layer, so the inserts allocate nothing. */
static void after_growing_ahead_nothing_is_allocated(void **state)
{
	struct weir_filter *f = make();
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_ok(weir_grow_ahead(f));
	assert_int_equal(asked_for_memory, 1);
	no_memory = true;
	insert_new(f, 0, MOST); /* both layers are full */
	assert_ok(weir_grow_ahead(f));
	assert_int_equal(asked_for_memory, 1);
	assert_refused(weir_insert_hash(f, test_key(MOST)), -ENOSPC, "max_capacity", "");
	weir_destroy(f);
}

/* A failed merge adds no keys to the destination and uses up no capacity. */
static void a_merge_that_needs_a_layer_fails_without_effect(void **state)
{
	struct weir_filter *f = make(), *into = make();
	(void)state;
	insert_new(f, 0, 300);
	insert_new(into, 1000, 1010);
	no_memory = true;
	assert_int_equal(weir_merge(into, f), -ENOMEM);
	for (uint64_t i = 0; i < 300; i++)
		assert_false(weir_contains_hash(into, test_key(i)));
	insert_new(into, 1010, 1000 + FIRST);
	assert_int_equal(weir_insert_hash(into, test_key(2000)), -ENOMEM);
	no_memory = false;
	insert_new(into, 2000, 2000 + MOST - FIRST);
	weir_destroy(f);
	weir_destroy(into);
}

/* Later layers of a loaded filter also get the memory flags of the load. */
static void layers_get_the_callers_memory_flags(void **state)
{
	const uint32_t sorts[] = { 0, WEIR_NO_HUGE_PAGES, WEIR_PREFAULT | WEIR_NO_HUGE_PAGES };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(sorts); i++) {
		struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_filter *f = make(), *loaded = NULL;
		assert_ok(weir_params_of(f, &params));
		weir_destroy(f);
		params.flags = sorts[i];
		assert_ok(weir_create(&f, &params));
		insert_new(f, 0, BEGIN - 1);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		flags_of_memory = UINT32_MAX;
		insert_new(f, BEGIN - 1, BEGIN);
		assert_int_equal(flags_of_memory, sorts[i]);
		load.flags = sorts[i];
		assert_ok(weir_load(&loaded, weir_location_path(path), &load));
		flags_of_memory = UINT32_MAX;
		insert_new(loaded, BEGIN - 1, BEGIN);
		assert_int_equal(flags_of_memory, sorts[i]);
		weir_destroy(f);
		weir_destroy(loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_a_full_layer_refuses_keys),
		cmocka_unit_test(without_memory_a_batch_inserts_what_fits),
		cmocka_unit_test(after_growing_ahead_nothing_is_allocated),
		cmocka_unit_test(a_merge_that_needs_a_layer_fails_without_effect),
		cmocka_unit_test(layers_get_the_callers_memory_flags),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
