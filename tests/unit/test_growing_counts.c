/* SPDX-License-Identifier: MIT
 * A growing filter counts only new keys, and is full when the count reaches max_capacity. A small
 * layer counts each new key, and a large layer counts a sample of its new keys. Copies, merges and
 * images also count the keys that are inserted while a copy, a merge or an image is made. */
#include <errno.h>
#include "../folder.h"
#include "filter/filter.h"
#include "kind/kind.h"

enum { FIRST = 100, MOST = 500, BATCH = 6000 };

static struct weir_filter *make(uint64_t capacity, uint64_t max_capacity)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = WEIR_GROWING;
	params.capacity = capacity;
	params.growing.max_capacity = max_capacity;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	return f;
}

/* Insert keys from @first on until the filter refuses a key. Return: the number of new keys. */
static uint64_t fill(struct weir_filter *f, uint64_t first)
{
	uint64_t fresh = 0;
	int answer;
	for (uint64_t i = first; (answer = weir_insert_hash(f, test_key(i))) >= 0; i++)
		fresh += answer == WEIR_NEW;
	assert_refused(answer, -ENOSPC, "max_capacity", "layers");
	return fresh;
}

static uint64_t bytes_of(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats.bytes;
}

/* ---- which keys count ---- */

static void a_key_counts_once(void **state)
{
	enum { TIMES = 100000, KEYS = 50 };
	static uint64_t hashes[BATCH];
	struct weir_filter *f = make(FIRST, MOST);
	const uint64_t bytes = bytes_of(f);
	uint64_t fresh = 0;
	(void)state;
	for (unsigned i = 0; i < TIMES; i++)
		fresh += weir_insert_hash(f, test_key(i % KEYS)) == WEIR_NEW;
	assert_int_equal(fresh, KEYS);
	for (unsigned i = 0; i < BATCH; i++)
		hashes[i] = test_key(i % KEYS);
	assert_int_equal(weir_insert_keys(f, weir_keys_hashes(hashes, BATCH), NULL), 0);
	assert_ok(weir_fill_keys(f, weir_keys_hashes(hashes, BATCH)));
	assert_true(bytes_of(f) == bytes);
	assert_int_equal(fresh + fill(f, KEYS), MOST);
	weir_destroy(f);
}

/* A large layer accepts most batches without checking the remaining capacity. */
static void a_batch_into_a_large_layer_is_counted(void **state)
{
	static uint64_t hashes[BATCH];
	struct weir_filter *f = make(BATCH, BATCH);
	(void)state;
	for (unsigned i = 0; i < BATCH; i++)
		hashes[i] = test_key(i % FIRST);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(weir_insert_keys(f, weir_keys_hashes(hashes, BATCH), NULL),
		                 i ? 0 : FIRST);
	assert_int_equal(FIRST + fill(f, FIRST), BATCH);
	weir_destroy(f);
}

/* ---- a large layer counts only a sample of its keys, so it may accept more keys than its
 * capacity: at most six standard deviations more ---- */

/* BEYOND: six standard deviations if the sample is one key in four, 6 * sqrt(40000 * 3) */
enum { LARGE = 40000, BEYOND = 2079 };

static void a_counted_sample_is_enough(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 8; i++) { /* each filter gets other keys */
		struct weir_filter *f = make(LARGE, LARGE);
		assert_in_range(fill(f, i << 32), LARGE, LARGE + BEYOND);
		weir_destroy(f);
	}
}

/* The large layer is about a quarter full when it is loaded: 10000 of 40000 keys. */
static void a_loaded_layer_continues_its_sample(void **state)
{
	enum { SMALL = LARGE / 4, BEFORE = 20000 };
	struct weir_filter *f = make(SMALL, SMALL + LARGE), *loaded = NULL;
	uint64_t fresh = 0;
	(void)state;
	for (uint64_t i = 0; i < BEFORE; i++)
		fresh += weir_insert_hash(f, test_key(i)) == WEIR_NEW;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_load(&loaded, weir_location_path(path), NULL));
	assert_in_range(fresh + fill(loaded, BEFORE), SMALL + LARGE,
	                SMALL + LARGE + 2 * BEYOND);
	weir_destroy(f);
	weir_destroy(loaded);
}

/* ---- a batch at the limit: the filter gets all keys before the first refused key, and no later
 * key ---- */

static void batch_at_the_limit(uint64_t capacity, uint64_t max_capacity)
{
	static uint64_t hashes[BATCH], bitmap[WEIR_BITMAP_WORDS(BATCH)];
	struct weir_filter *f = make(capacity, max_capacity);
	uint64_t fresh = 0;
	for (unsigned i = 0; i < BATCH; i++)
		hashes[i] = test_key(i);
	assert_refused(weir_insert_keys(f, weir_keys_hashes(hashes, BATCH), bitmap), -ENOSPC,
	               "max_capacity", "");
	const size_t taken = weir_error_taken();
	for (size_t i = 0; i < taken; i++) {
		assert_true(weir_contains_hash(f, hashes[i]));
		fresh += bitmap[i / 64] >> i % 64 & 1;
	}
	assert_int_equal(fresh, max_capacity);
	assert_false(weir_contains_hash(f, hashes[taken]));
	assert_refused(weir_insert_keys(f, weir_keys_hashes(hashes + taken, BATCH - taken), NULL),
	               -ENOSPC, "max_capacity", "");
	assert_int_equal(weir_error_taken(), 0);
	weir_destroy(f);
}

static void batches_end_at_the_limit(void **state)
{
	(void)state;
	batch_at_the_limit(10, 90);     /* layers smaller than a piece of the batch */
	batch_at_the_limit(100, 2100);
	batch_at_the_limit(5000, 5000);
}

/* ---- the count of a copy, a merge and an image ---- */

static void assert_full(struct weir_filter *f)
{
	assert_int_equal(fill(f, BATCH), 0);
	weir_destroy(f);
}

static void copies_merges_and_images_of_a_full_filter_are_full(void **state)
{
	struct weir_filter *f = make(FIRST, MOST), *made = NULL;
	(void)state;
	assert_int_equal(fill(f, 0), MOST);
	assert_ok(weir_clone(&made, f));
	assert_full(made);
	made = make(FIRST, MOST);
	assert_ok(weir_merge(made, f));
	assert_full(made);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_load(&made, weir_location_path(path), NULL));
	assert_full(made);
	assert_ok(weir_load(&made, weir_location_map(path, WEIR_MAP_PRIVATE), NULL));
	assert_full(made);
	assert_full(f);
}

/* A merge may count a duplicate twice only if collisions hide the duplicate. */
static void a_merge_counts_duplicates_once(void **state)
{
	enum { ROOM = 1000 };
	struct weir_filter *a = make(ROOM, ROOM), *b = make(ROOM, ROOM);
	(void)state;
	for (uint64_t i = 0; i < 600; i++)
		assert_ok(weir_insert_hash(a, test_key(i)));
	for (uint64_t i = 500; i < 900; i++)
		assert_ok(weir_insert_hash(b, test_key(i)));
	assert_ok(weir_merge(a, b));
	assert_in_range(fill(a, ROOM), 50, 150);
	weir_destroy(a);
	weir_destroy(b);
}

/* ---- keys that are inserted during a copy, merge or save ---- */

static struct weir_filter *source; /* insert_some() inserts into this filter; NULL: no-op */
static uint64_t inserted_meanwhile; /* the number of new keys that insert_some() inserted */

static void insert_some(void)
{
	struct weir_filter *f = source;
	source = NULL; /* insert only once */
	for (uint64_t i = 1000; f && i < 1100; i++)
		inserted_meanwhile += weir_insert_hash(f, test_key(i)) == WEIR_NEW;
}

void __real_weir__bits_snapshot(const struct weir_filter *f, uint64_t at, uint64_t lines,
                                uint64_t *out);
void __wrap_weir__bits_snapshot(const struct weir_filter *f, uint64_t at, uint64_t lines,
                                uint64_t *out);
void __wrap_weir__bits_snapshot(const struct weir_filter *f, uint64_t at, uint64_t lines,
                                uint64_t *out)
{
	insert_some();
	__real_weir__bits_snapshot(f, at, lines, out);
}

int __real_weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t at,
                            uint64_t lines);
int __wrap_weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t at,
                            uint64_t lines);
int __wrap_weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t at,
                            uint64_t lines)
{
	insert_some();
	return __real_weir__bits_merge(dst, src, at, lines);
}

static int come_after_the_first_layer(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	insert_some();
	return 0;
}

/* Return: a filter of two layers. insert_some() inserts keys into the filter while a copy, merge or
 * image is made. */
static struct weir_filter *begin(uint64_t *fresh)
{
	struct weir_filter *f = make(FIRST, MOST);
	*fresh = inserted_meanwhile = 0;
	for (uint64_t i = 0; i < 300; i++)
		*fresh += weir_insert_hash(f, test_key(i)) == WEIR_NEW;
	source = f;
	return f;
}

/* Asserts that @made has, and counts, the keys that insert_some() inserted. */
static void end(struct weir_filter *f, struct weir_filter *made, uint64_t fresh)
{
	assert_true(inserted_meanwhile > 90);
	for (uint64_t i = 1000; i < 1100; i++)
		assert_true(weir_contains_hash(made, test_key(i)));
	assert_int_equal(fresh + inserted_meanwhile + fill(made, 2000), MOST);
	weir_destroy(f);
	weir_destroy(made);
}

static void a_copy_counts_keys_inserted_meanwhile(void **state)
{
	uint64_t fresh;
	struct weir_filter *f = begin(&fresh), *copy = NULL;
	(void)state;
	assert_ok(weir_clone(&copy, f));
	end(f, copy, fresh);
}

static void a_merge_counts_keys_inserted_meanwhile(void **state)
{
	uint64_t fresh;
	struct weir_filter *into = make(FIRST, MOST), *f = begin(&fresh);
	(void)state;
	assert_ok(weir_merge(into, f));
	end(f, into, fresh);
}

static void an_image_counts_keys_inserted_meanwhile(void **state)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	uint64_t fresh;
	struct weir_filter *f = begin(&fresh), *loaded = NULL;
	(void)state;
	options.progress = come_after_the_first_layer;
	assert_ok(weir_save(f, weir_location_path(path), &options));
	assert_ok(weir_load(&loaded, weir_location_path(path), NULL));
	end(f, loaded, fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_counts_once),
		cmocka_unit_test(a_batch_into_a_large_layer_is_counted),
		cmocka_unit_test(a_counted_sample_is_enough),
		cmocka_unit_test(a_loaded_layer_continues_its_sample),
		cmocka_unit_test(batches_end_at_the_limit),
		cmocka_unit_test(copies_merges_and_images_of_a_full_filter_are_full),
		cmocka_unit_test(a_merge_counts_duplicates_once),
		cmocka_unit_test(a_copy_counts_keys_inserted_meanwhile),
		cmocka_unit_test(a_merge_counts_keys_inserted_meanwhile),
		cmocka_unit_test(an_image_counts_keys_inserted_meanwhile),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
