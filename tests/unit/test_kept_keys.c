/* SPDX-License-Identifier: MIT
 * The inserts that a handle keeps for its first set. The handle keeps every key, including keys
 * of a batch that needs several RCU read sections, duplicates, keys of different lengths and empty
 * keys. */
#include <stdlib.h>
#include <sys/uio.h>
#include "../handles.h"

enum { SECTION = 1 << 20, MOST = SECTION + 70 };

static struct weir_handle *keeps(uint64_t bytes)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.absent = WEIR_ABSENT_NO;
	o.keep_inserts = bytes;
	assert_ok(weir_handle_create(&h, NULL, &o));
	return h;
}

static struct weir_handle *without_a_set(void)
{
	return keeps(1 << 30);
}

static void publish_a_set(struct weir_handle *h)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	p.capacity = MOST;
	p.fp_rate = 1e-6; /* so low that no absent key is found */
	o.params = &p;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
}

static void test_a_batch_longer_than_a_section_is_kept(void **state)
{
	struct weir_handle *h = without_a_set();
	uint64_t *keys = malloc(MOST * sizeof *keys);
	(void)state;
	assert_non_null(keys);
	for (unsigned i = 0; i < MOST; i++)
		keys[i] = test_key(i);
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_u64(keys, MOST), NULL), MOST);
	publish_a_set(h);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_u64(keys, MOST), NULL), MOST);
	assert_ok(weir_handle_destroy(h));
	free(keys);
}

static void test_duplicates_are_kept(void **state)
{
	struct weir_handle *h = without_a_set();
	(void)state;
	assert_int_equal(weir_handle_insert(h, "before", 6), WEIR_NEW);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(weir_handle_insert(h, "twice", 5), WEIR_NEW);
	assert_int_equal(weir_handle_insert(h, "after", 5), WEIR_NEW);
	publish_a_set(h);
	assert_true(weir_handle_contains(h, "before", 6));
	assert_true(weir_handle_contains(h, "twice", 5) && weir_handle_contains(h, "after", 5));
	assert_ok(weir_handle_destroy(h));
}

/* Remove every copy of @key. Return: the number of copies. */
static int remove_all(struct weir_handle *h, const char *key)
{
	int copies = 0, answer;
	while ((answer = weir_handle_remove(h, key, strlen(key))) == 1)
		copies++;
	assert_int_equal(answer, 0);
	return copies;
}

static struct weir_params small_cuckoo(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_CUCKOO;
	p.cuckoo.fingerprint_bits = 16;
	p.capacity = 1000;
	p.fp_rate = 0.001;
	p.seed = 1;
	return p;
}

/* A cuckoo filter stores 8 copies of a key, or 4 if both buckets of the key are the same. The
 * handle may have kept more copies than fit, and the next filter may refuse inserts. Neither must
 * prevent the publication of the first set. */
static void more_copies_than_the_first_set_holds(const char *often, int most)
{
	struct weir_handle *h = without_a_set();
	const struct weir_params p = small_cuckoo();
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	const size_t len = strlen(often);
	o.params = &p;
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(weir_handle_insert(h, often, len), WEIR_NEW);
	assert_int_equal(weir_handle_insert(h, "other", 5), WEIR_NEW);
	assert_ok(weir_reload_begin(&r, h, &o));
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(weir_handle_insert(h, often, len), -ENOSPC);
	weir_reload_abort(r);
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(h, often, len) && weir_handle_contains(h, "other", 5));
	assert_int_equal(remove_all(h, often), most);
	assert_true(weir_handle_contains(h, "other", 5));
	assert_ok(weir_handle_destroy(h));
}

/* Among 2,000 keys, a few have only one bucket. */
static void test_surplus_copies_do_not_prevent_the_first_set(void **state)
{
	const struct weir_params p = small_cuckoo();
	unsigned seen[9] = { 0 };
	(void)state;
	for (unsigned i = 0; i < 2000 && !(seen[4] && seen[8]); i++) {
		struct weir_filter *f;
		char key[16];
		int copies = 0;
		snprintf(key, sizeof key, "key %u", i);
		assert_ok(weir_create(&f, &p));
		while (weir_insert(f, key, strlen(key)) >= 0)
			copies++;
		weir_destroy(f);
		assert_true(copies == 4 || copies == 8);
		if (!seen[copies]++)
			more_copies_than_the_first_set_holds(key, copies);
	}
	assert_true(seen[4] && seen[8]);
}

/* Keep 3,000 keys, and set the parameters for a first filter with a capacity of 100. */
static void keep_too_many(struct weir_handle *h, struct weir_params *p,
                          struct weir_reload_options *o)
{
	p->kind = WEIR_CUCKOO;
	p->capacity = 100;
	p->fp_rate = 0.001;
	o->params = p;
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(weir_handle_insert_u64(h, test_key(i)), WEIR_NEW);
}

static void test_a_first_set_too_small_for_kept_keys_is_refused(void **state)
{
	struct weir_handle *h = without_a_set();
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	(void)state;
	keep_too_many(h, &p, &o);
	assert_refused(weir_reload_begin(&r, h, &o), -ENOSPC,
	               "a key that was inserted before the first filter, and is kept for it",
	               "options.drop_kept");
	assert_null(r);
	p.capacity = 4000;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	for (uint64_t i = 0; i < 3000; i++)
		assert_true(weir_handle_contains_u64(h, test_key(i)));
	assert_ok(weir_handle_destroy(h));
}

/* Regression: a reload into a first filter too small for the kept keys always failed. */
static void test_drop_kept_drops_and_counts_surplus_keys(void **state)
{
	struct weir_handle_options ho = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	struct weir_handle *h;
	struct weir_reload *r;
	uint64_t there = 0;
	(void)state;
	ho.absent = WEIR_ABSENT_NO;
	ho.flags = WEIR_HANDLE_ANY_SEED;
	ho.drop_kept = true;
	assert_refused(weir_handle_create(&h, NULL, &ho), -EINVAL, "drop_kept", "keep_inserts");
	ho.keep_inserts = 1 << 20;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	keep_too_many(h, &p, &o);
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	assert_ok(weir_handle_measure(h, &stats, NULL));
	for (uint64_t i = 0; i < 3000; i++)
		there += weir_handle_contains_u64(h, test_key(i));
	assert_in_range(stats.kept_dropped, 2800, 2900);
	assert_true(there >= 3000 - stats.kept_dropped && there < 3000);
	assert_ok(weir_handle_destroy(h));
}

static void test_keys_of_several_lengths_are_kept(void **state)
{
	static char bytes[] = "a longer key";
	struct iovec keys[] = { { bytes, 1 }, { bytes, 8 }, { NULL, 0 }, { bytes, 12 } };
	struct weir_handle *h = without_a_set();
	(void)state;
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_iov(keys, COUNT_OF(keys)), NULL),
	                 COUNT_OF(keys));
	publish_a_set(h);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_iov(keys, COUNT_OF(keys)), NULL),
	                 COUNT_OF(keys));
	assert_false(weir_handle_contains(h, bytes, 2));
	assert_ok(weir_handle_destroy(h));
}

/* Return: the smallest keep_inserts at which single inserts of keys of both lengths succeed. */
static uint64_t bytes_for(size_t first, size_t second)
{
	static const char bytes[64];
	for (uint64_t limit = 1;; limit++) {
		struct weir_handle *h = keeps(limit);
		const bool fit = weir_handle_insert(h, bytes, first) >= 0 &&
		                 weir_handle_insert(h, bytes, second) >= 0;
		assert_ok(weir_handle_destroy(h));
		if (fit)
			return limit;
		assert_in_range(limit, 1, 1000);
	}
}

/* The handle stores some bytes in addition to each key, and these bytes count towards keep_inserts.
 * A key that does not fit uses no bytes. */
static void test_keep_inserts_is_exact_to_the_byte(void **state)
{
	static const char bytes[64];
	const uint64_t two = bytes_for(0, 0), beside = two / 2;
	struct weir_handle *h = keeps(beside + 20);
	(void)state;
	assert_int_equal(two, 2 * beside);
	assert_int_equal(bytes_for(20, 3), two + 23);
	assert_int_equal(bytes_for(3, 20), two + 23);
	assert_int_equal(weir_handle_insert(h, bytes, 21), -ENOBUFS);
	assert_int_equal(weir_handle_insert(h, bytes, 20), WEIR_NEW);
	assert_int_equal(weir_handle_insert(h, bytes, 0), -ENOBUFS);
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_batch_longer_than_a_section_is_kept),
		cmocka_unit_test(test_duplicates_are_kept),
		cmocka_unit_test(test_surplus_copies_do_not_prevent_the_first_set),
		cmocka_unit_test(test_a_first_set_too_small_for_kept_keys_is_refused),
		cmocka_unit_test(test_drop_kept_drops_and_counts_surplus_keys),
		cmocka_unit_test(test_keys_of_several_lengths_are_kept),
		cmocka_unit_test(test_keep_inserts_is_exact_to_the_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
