/* SPDX-License-Identifier: MIT
 * A handle without reloads: its functions compared with the functions of the filter, batches
 * compared with single keys, statistics, and errors. */
#include <fcntl.h>
#include <sys/uio.h>
#include <time.h>
#include "../handles.h"

enum { SECTION = 1 << 20, MOST = SECTION + 70 };

static struct weir_handle *untouched;

static void test_every_function_in_each_flavor(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		assert_false(weir_handle_contains(h, "key", 3));
		assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_NEW);
		assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_SEEN);
		assert_true(weir_handle_contains(h, "key", 3));
		uint64_t hash = weir_handle_hash(h, "key", 3);
		assert_true(weir_handle_contains_hash(h, hash));
		assert_int_equal(weir_handle_insert_hash(h, hash), WEIR_SEEN);
		assert_int_equal(weir_handle_insert_hash(h, hash + 1), WEIR_NEW);
		const uint64_t number = test_key(1);
		assert_false(weir_handle_contains_u64(h, number));
		assert_int_equal(weir_handle_insert_u64(h, number), WEIR_NEW);
		assert_int_equal(weir_handle_insert(h, &number, 8), WEIR_SEEN);
		assert_true(weir_handle_contains_u64(h, number));
		assert_true(weir_handle_contains(h, &number, 8));
		flavor->rcu->read_lock();
		const struct weir_filter *f = weir_handle_get(h);
		assert_int_equal(weir_hash(f, "key", 3), hash);
		assert_true(weir_contains(f, "key", 3));
		assert_true(weir_contains_hash(f, hash + 1));
		flavor->rcu->read_unlock();
		close_handle(flavor, h);
	}
}

static void test_functions_work_inside_a_section(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 1000);
		flavor->rcu->read_lock();
		/* read sections may nest */
		assert_int_equal(weir_handle_insert(h, "a", 1), WEIR_NEW);
		assert_true(weir_handle_contains(h, "a", 1));
		assert_int_equal(stats_of(h).generation, 1);
		if (flavor->has_sections)
			assert_refused(weir_handle_destroy(h), -EDEADLK, "weir_handle_destroy",
			               "inside a read-side section");
		flavor->rcu->read_unlock();
		assert_true(weir_handle_contains(h, "a", 1));
		close_handle(flavor, h);
	}
}

static void test_null_arguments_are_refused(void **state)
{
	struct weir_handle_options wrong = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 100, 0.01);
	(void)state;
	assert_refused(weir_handle_create(NULL, f, NULL), -EINVAL, "out is NULL",
	               "weir_handle_create");
	assert_refused(weir_handle_create(&untouched, NULL, NULL), -EINVAL, "initial is NULL",
	               "weir_handle_create");
	wrong.struct_size++;
	assert_refused(weir_handle_create(&untouched, f, &wrong), -EINVAL,
	               "weir_handle_options.struct_size", "_INIT");
	assert_null(untouched);
	weir_destroy(f); /* the caller still owns the filter */
	assert_int_equal(weir_handle_destroy(NULL), 0);
}

/* Keys in the three forms that a batch accepts. */
struct forms {
	uint64_t keys[MOST], hashes[MOST];
	struct iovec vectors[MOST];
};
enum form { HASHES, KEYS, FIXED, FORMS };

static size_t contains(const struct weir_handle *h, const struct forms *k, enum form form, size_t n,
                       uint64_t *bitmap)
{
	return form == HASHES ?
	               weir_handle_contains_keys(h, weir_keys_hashes(k->hashes, n), bitmap) :
	       form == KEYS ? weir_handle_contains_keys(h, weir_keys_iov(k->vectors, n), bitmap) :
	                      weir_handle_contains_keys(h, weir_keys_u64(k->keys, n), bitmap);
}

static int64_t insert(struct weir_handle *h, const struct forms *k, enum form form, size_t n,
                      uint64_t *bitmap)
{
	return form == HASHES ? weir_handle_insert_keys(h, weir_keys_hashes(k->hashes, n), bitmap) :
	       form == KEYS   ? weir_handle_insert_keys(h, weir_keys_iov(k->vectors, n), bitmap) :
	                        weir_handle_insert_keys(h, weir_keys_u64(k->keys, n), bitmap);
}

static bool bit(const uint64_t *bitmap, size_t i)
{
	return bitmap[i / 64] >> (i % 64) & 1;
}

/* Insert every second of @n keys one by one. A batch of lookups must find the same keys as single
 * lookups. After a batch of inserts, lookups find all @n keys. */
static void batch_of(struct weir_handle *h, const struct forms *k, enum form form, size_t n,
                     uint64_t *bitmap)
{
	size_t words = WEIR_BITMAP_WORDS(n), found = 0, fresh = 0;
	for (size_t i = 0; i < n; i += 2)
		assert_ok(weir_handle_insert_hash(h, k->hashes[i]));
	memset(bitmap, 0xee, (words + 1) * sizeof *bitmap);
	size_t answer = contains(h, k, form, n, bitmap);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(bit(bitmap, i), weir_handle_contains_hash(h, k->hashes[i]));
		found += bit(bitmap, i);
	}
	assert_int_equal(answer, found);
	assert_int_equal(contains(h, k, form, n, NULL), found);
	assert_in_range(found, (n + 1) / 2, n / 2 + n / 20 + 2);
	int64_t inserted = insert(h, k, form, n, bitmap);
	for (size_t i = 0; i < 64 * words; i++)
		fresh += bit(bitmap, i); /* includes the bits from n on, which must be 0 */
	for (size_t i = 0; i < n; i += 2)
		assert_false(bit(bitmap, i));
	assert_int_equal(inserted, fresh);
	assert_in_range(fresh, n / 2 - n / 20, n - found);
	assert_int_equal(bitmap[words], UINT64_C(0xeeeeeeeeeeeeeeee));
	assert_int_equal(contains(h, k, form, n, NULL), n);
	assert_int_equal(insert(h, k, form, n, NULL), 0);
}

static void test_batches_equal_single_calls(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, MOST };
	struct forms *k = malloc(sizeof *k);
	uint64_t *bitmap = malloc((WEIR_BITMAP_WORDS(MOST) + 1) * sizeof *bitmap);
	(void)state;
	for (enum form form = HASHES; form < FORMS; form++)
		for (unsigned s = 0; s < COUNT_OF(sizes); s++) {
			struct weir_handle *h = open_handle(flavors, 2 * sizes[s] + 100);
			for (size_t i = 0; i < sizes[s]; i++) {
				k->keys[i] = test_key(i);
				k->vectors[i] = (struct iovec){ k->keys + i, 8 };
				k->hashes[i] = weir_handle_hash(h, k->keys + i, 8);
			}
			batch_of(h, k, form, sizes[s], bitmap);
			close_handle(flavors, h);
		}
	free(bitmap);
	free(k);
}

/* The first batch reaches the current and the next filter. The second batch reaches the current and
 * the previous filter. */
static void test_batches_reach_every_filter(void **state)
{
	struct weir_reload_options keep = WEIR_RELOAD_OPTIONS_INIT;
	uint64_t *hashes = malloc(MOST * sizeof *hashes);
	struct weir_handle *h = open_handle(flavors, 2 * MOST);
	struct weir_reload *r;
	(void)state;
	for (size_t i = 0; i < MOST; i++)
		hashes[i] = test_key(i);
	keep.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &keep));
	assert_in_range(weir_handle_insert_keys(h, weir_keys_hashes(hashes, MOST), NULL),
	                MOST - MOST / 20, MOST);
	assert_int_equal(weir_contains_keys(weir_reload_next(r), weir_keys_hashes(hashes, MOST),
	                                    NULL),
	                 MOST);
	assert_int_equal(weir_handle_insert_u64(h, 17), WEIR_NEW);
	assert_true(weir_contains_u64(weir_reload_next(r), 17));
	assert_ok(weir_reload_commit(r));
	for (size_t i = 0; i < MOST; i++)
		hashes[i] = test_key(MOST + i);
	assert_ok(weir_handle_insert_keys(h, weir_keys_hashes(hashes, MOST), NULL));
	assert_ok(weir_handle_rollback(h));
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, MOST), NULL), MOST);
	assert_int_equal(missing_in(h, 0, MOST), 0);
	close_handle(flavors, h);
	free(hashes);
}

static void test_a_read_only_filter_refuses_inserts(void **state)
{
	char *folder = test_folder(), path[4096];
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01), *mapped;
	struct weir_handle *h;
	(void)state;
	snprintf(path, sizeof path, "%s/set.weir", folder);
	assert_ok(weir_insert(f, "a", 1));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_handle_create(&h, mapped, NULL));
	assert_true(weir_handle_contains(h, "a", 1));
	assert_refused(weir_handle_insert(h, "b", 1), -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_hash(h, 1), -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_u64(h, 1), -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_keys(h, weir_keys_hashes((uint64_t[]){ 1 }, 1), NULL),
	               -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_keys(h, weir_keys_iov(&(struct iovec){ "b", 1 }, 1),
	                                       NULL),
	               -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_keys(h, weir_keys_fixed("b", 1, 1), NULL), -EROFS,
	               "read-only", "");
	assert_ok(weir_handle_destroy(h));
	test_folder_remove(folder);
}

static void test_removals_are_refused(void **state)
{
	struct weir_reload_options keep = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_reload *r;
	(void)state;
	assert_refused(weir_handle_remove(h, "a", 1), -ENOTSUP, "blocked", "remove");
	keep.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &keep));
	assert_refused(weir_handle_remove(h, "a", 1), -EBUSY, "a reload runs", "");
	assert_ok(weir_reload_commit(r));
	assert_refused(weir_handle_remove(h, "a", 1), -EBUSY, "keeps its previous filter",
	               "");
	assert_ok(weir_handle_drop_previous(h));
	assert_refused(weir_handle_remove(h, "a", 1), -ENOTSUP, "blocked", "remove");
	close_handle(flavors, h);
}

static double now(void)
{
	struct timespec t;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* An aborted reload or a dropped previous filter does not change the age. */
static void test_the_age_is_that_of_the_current_filter(void **state)
{
	struct weir_reload_options keep = WEIR_RELOAD_OPTIONS_INIT;
	const double opened = now();
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_reload *r;
	(void)state;
	usleep(20000);
	assert_ok(weir_reload_begin(&r, h, NULL));
	weir_reload_abort(r);
	double age = stats_of(h).age;
	assert_true(age >= 0.02 && age <= now() - opened);
	keep.keep_previous = true;
	const double begun = now();
	assert_ok(weir_reload_begin(&r, h, &keep));
	assert_ok(weir_reload_commit(r));
	usleep(20000);
	assert_ok(weir_handle_drop_previous(h));
	age = stats_of(h).age;
	assert_true(age >= 0.02 && age <= now() - begun);
	close_handle(flavors, h);
}

static void test_statistics_follow_reloads(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_handle_stats s = stats_of(h), older = WEIR_HANDLE_STATS_INIT;
	struct weir_reload *r;
	(void)state;
	insert_into(h, 0, 5000);
	s = stats_of(h);
	assert_int_equal(s.struct_size, sizeof s);
	assert_int_equal(s.generation, 1);
	assert_true(s.age >= 0 && s.age < 600);
	assert_false(s.reloading);
	assert_false(s.previous_kept);
	assert_int_equal(s.bytes, figures_of(h).bytes);
	assert_true(s.bytes > 10000);
	assert_int_equal(s.swaps, 0);
	assert_int_equal(s.refused, 0);
	assert_int_equal(figures_of(h).capacity, 10000);
	assert_in_range((uint64_t)figures_of(h).keys_estimated, 4800, 5200);
	usleep(20000);
	assert_true(stats_of(h).age >= s.age + 0.02);
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_true(stats_of(h).age >= s.age + 0.02); /* the current filter is unchanged */
	weir_reload_abort(r);
	assert_true(stats_of(h).age >= s.age + 0.02);

	older.struct_size = offsetof(struct weir_handle_stats, swaps);
	older.swaps = 77;
	assert_ok(weir_handle_measure(h, &older, NULL));
	assert_int_equal(older.struct_size, offsetof(struct weir_handle_stats, swaps));
	assert_int_equal(older.bytes, s.bytes);
	/* an older caller's struct ends at struct_size, and nothing is written beyond */
	assert_int_equal(older.swaps, 77);
	older.struct_size = 0;
	assert_refused(weir_handle_measure(h, &older, NULL), -EINVAL,
	               "weir_handle_stats.struct_size 0", "_INIT");
	older.struct_size = sizeof older + 1;
	assert_refused(weir_handle_measure(h, &older, NULL), -EINVAL,
	               "weir_handle_stats.struct_size", "_INIT");
	assert_refused(weir_handle_measure(h, NULL, NULL), -EINVAL, "weir_handle_stats is NULL",
	               "_INIT");
	close_handle(flavors, h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_function_in_each_flavor),
		cmocka_unit_test(test_functions_work_inside_a_section),
		cmocka_unit_test(test_null_arguments_are_refused),
		cmocka_unit_test(test_batches_equal_single_calls),
		cmocka_unit_test(test_batches_reach_every_filter),
		cmocka_unit_test(test_a_read_only_filter_refuses_inserts),
		cmocka_unit_test(test_removals_are_refused),
		cmocka_unit_test(test_the_age_is_that_of_the_current_filter),
		cmocka_unit_test(test_statistics_follow_reloads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
