/* SPDX-License-Identifier: MIT
 * Filters of an include list and an exclude list. Answers are exact for both lists. For other keys
 * the false-positive rate is half of the first level's rate. The filter has the same bits as the
 * reference implementation. The tests also cover errors. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include "../folder.h"
#include "../cpus.h"
#include "layered.h"

enum { THREADS = 3 };

static void answers_are_exact_on_both_lists(void **state)
{
	static const unsigned widths[] = { 1, 2, 5, 8, 11, 16, 32 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(widths); i++) {
		const struct weir_params p = params(widths[i]);
		struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
		struct weir_stats s = WEIR_STATS_INIT;
		struct weir_filter *f = built(&p, KEYS, OTHERS, &r);
		const double odds = ldexp(1, -(int)widths[i]), half = odds / 2 * 1000000;
		assert_int_equal(found_in(f, 0, KEYS), KEYS);
		assert_int_equal(found_in(f, KEYS, OTHERS), 0);
		const double found = (double)found_in(f, KEYS + OTHERS, 1000000);
		if (fabs(found - half) > 0.05 * half + 5 * sqrt(half))
			fail_msg("%u bits: %.0f of a million others found, expected %.0f",
			         widths[i], found, half);
		assert_true(r.added == KEYS && r.keys == KEYS && r.excluded == OTHERS);
		assert_true(fabs((double)r.passed - odds * OTHERS) <=
		            0.05 * odds * OTHERS + 5 * sqrt(odds * OTHERS));
		assert_true(r.seal_seconds > 0 && r.build_seconds > 0 && !r.equal);
		assert_ok(weir_measure(f, WEIR_EXACT, &s));
		assert_true(s.fp_rate_estimated == odds / 2);
		/* the fill counts the nonzero cells of the first level only */
		const double bits = KEYS * widths[i] * (1 - odds);
		assert_true(fabs(s.fill * 8 * (double)s.bytes / bits - 1) < 0.05);
		weir_destroy(f);
	}
}

static void bits_equal_the_reference(void **state)
{
	static const uint64_t sizes[][2] = { { 0, 50 }, { 1, 0 }, { 1, 900 }, { 40, 3 },
		                             { 700, 700 }, { 3000, 40000 } };
	static const unsigned widths[] = { 1, 6, 9, 16 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		for (size_t j = 0; j < COUNT_OF(widths); j++) {
			const uint64_t n = sizes[i][0], m = sizes[i][1];
			struct weir_params p = params(widths[j]);
			struct weir_stats s = WEIR_STATS_INIT;
			struct reference ref;
			static uint64_t hashes[50000];
			p.memory_bytes = 1 << 20;
			p.memory = aligned_alloc(64, p.memory_bytes);
			struct weir_filter *f = built(&p, n, m, NULL);
			assert_ok(weir_measure(f, WEIR_EXACT, &s));
			reference_init(&ref, &s.shape, s.bytes / 64, SEED);
			keys_of(hashes, 0, n + m);
			assert_ok(layered_reference_build(&ref, hashes, n, hashes + n, m));
			assert_memory_equal(p.memory, ref.bytes, s.bytes);
			assert_true(fabs(s.keys_estimated - (double)n) <=
			            1 + 2 * sqrt((double)n));
			reference_free(&ref);
			weir_destroy(f);
			free(p.memory);
		}
}

/* ---- every function, from several threads ---- */

struct part {
	struct weir_builder *b;
	uint64_t number;
};

static void *exclude(void *arg)
{
	const struct part *part = arg;
	for (uint64_t i = part->number; i < OTHERS; i += THREADS) {
		const uint64_t key = test_key(KEYS + i), hash = weir_builder_hash(part->b, &key, 8);
		const struct iovec whole = { (void *)(uintptr_t)&key, 8 };
		switch (i % 7) {
		case 0: assert_ok(weir_builder_exclude(part->b, &key, 8)); break;
		case 1: assert_ok(weir_builder_exclude_u64(part->b, key)); break;
		case 2: assert_ok(weir_builder_exclude_hash(part->b, hash)); break;
		case 3:
			assert_ok(weir_builder_exclude_keys(part->b, weir_keys_hashes(&hash, 1)));
			break;
		case 4:
			assert_ok(weir_builder_exclude_keys(part->b, weir_keys_iov(&whole, 1)));
			break;
		default:
			assert_ok(weir_builder_exclude_keys(part->b, weir_keys_u64(&key, 1)));
		}
	}
	return NULL;
}

static void several_threads_add_and_exclude(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(3);
	struct part part[THREADS];
	pthread_t thread[THREADS];
	(void)state;
	o.threads = THREADS;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_builder_add_u64(b, test_key(i)));
	assert_ok(weir_builder_seal(b));
	for (unsigned i = 0; i < THREADS; i++) {
		part[i] = (struct part){ b, i };
		assert_int_equal(pthread_create(&thread[i], NULL, exclude, &part[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	struct weir_filter *f = finished(b, &r);
	assert_true(r.excluded == OTHERS && r.passed > 0);
	for (uint64_t i = 0; i < KEYS + OTHERS; i++)
		assert_int_equal(weir_contains_u64(f, test_key(i)), i < KEYS);
	/* The batch is so large that the lookup splits it into chunks. */
	uint64_t *keys = malloc(8 * (KEYS + OTHERS));
	keys_of(keys, 0, KEYS + OTHERS);
	assert_int_equal(weir_contains_keys(f, weir_keys_u64(keys, KEYS + OTHERS), NULL),
	                 KEYS);
	free(keys);
	weir_destroy(f);
}

/* ---- memory ---- */

/* The limit is 63 MiB, and the buffers of the one thread take 56 MiB. The remaining 7 MiB are too
 * small for 450,000 included hashes of 8 bytes and about as many excluded hashes that pass. */
static void included_and_excluded_keys_share_max_memory(void **state)
{
	enum { MANY = 450000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	const struct weir_params p = params(1);
	struct weir_filter *f = NULL;
	cpu_set_t all;
	int err = 0;
	(void)state;
	on_one_cpu(&all); /* each CPU that a thread runs on has its own buffers */
	o.max_memory = 63 << 20;
	for (uint64_t n = KEYS; n <= MANY; n += MANY - KEYS) {
		struct weir_builder *b = begun(&p, &o);
		for (uint64_t k = 0; k < n; k++)
			assert_ok(weir_builder_add_hash(b, test_key(k)));
		assert_ok(weir_builder_seal(b));
		/* half of the excluded keys pass the first level */
		for (uint64_t k = 0; k < 2 * MANY && !err; k++)
			err = weir_builder_exclude_hash(b, test_key(MANY + k));
		if (n < MANY) {
			assert_ok(err);
			assert_ok(weir_builder_finish(&f, b, NULL));
			weir_destroy(f);
		}
		weir_builder_destroy(b);
	}
	on_cpus(&all);
	assert_refused(err, -EFBIG, "max_memory", "spill_folder");
}

/* Without a spill file, weir_builder_exclude_keys() fails. */
static void excluded_keys_that_pass_are_spilled(void **state)
{
	enum { MANY = 1500000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(1);
	uint64_t *hashes = malloc(8 * 4 * MANY);
	struct weir_filter *f = NULL;
	int err = 0;
	(void)state;
	keys_of(hashes, 0, 4 * MANY);
	o.max_memory = 63 << 20;
	struct weir_builder *b = begun(&p, &o);
	assert_ok(weir_builder_add_keys(b, weir_keys_hashes(hashes, KEYS)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t at = KEYS; !err && at < 4 * MANY; at += 1000)
		err = weir_builder_exclude_keys(b, weir_keys_hashes(hashes + at, 1000));
	assert_refused(err, -EFBIG, "max_memory", "spill_folder");
	assert_refused(weir_builder_finish(&f, b, NULL), -EFBIG, "an earlier call has failed", "");
	weir_builder_destroy(b);
	o.spill_folder = folder;
	for (uint64_t n = KEYS; n <= MANY; n += MANY - KEYS) {
		b = begun(&p, &o);
		assert_ok(weir_builder_add_keys(b, weir_keys_hashes(hashes, n)));
		assert_ok(weir_builder_seal(b));
		assert_ok(weir_builder_exclude_keys(b, weir_keys_hashes(hashes + n, 4 * MANY - n)));
		f = finished(b, &r);
		assert_true(r.spilled_bytes > 8 * (n > KEYS ? n : MANY));
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL), n);
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes + n, 4 * MANY - n),
		                                    NULL),
		                 0);
		weir_destroy(f);
	}
	free(hashes);
}

static void the_report_counts_bytes_spilled_before_the_seal(void **state)
{
	enum { MANY = 1500000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(1);
	(void)state;
	o.max_memory = 63 << 20;
	o.spill_folder = folder;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t k = 0; k < MANY; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	struct weir_filter *f = finished(b, &r);
	assert_true(r.spilled_bytes >= 8 * (uint64_t)MANY && r.excluded == 0);
	weir_destroy(f);
}

/* ---- errors, and lists that are hard to build ---- */

static void calls_in_the_wrong_order_are_refused(void **state)
{
	const struct weir_params p = params(4);
	struct weir_builder *b = begun(&p, NULL);
	(void)state;
	assert_refused(weir_builder_exclude_hash(b, 1), -EINVAL, "not sealed", "weir_builder_seal");
	assert_ok(weir_builder_add_hash(b, 1)); /* the builder still works after the error */
	assert_ok(weir_builder_seal(b));
	assert_refused(weir_builder_seal(b), -EINVAL, "sealed already", "");
	assert_refused(weir_builder_add_hash(b, 2), -EINVAL, "sealed", "no more included keys");
	assert_ok(weir_builder_exclude_hash(b, 2));
	struct weir_filter *f = NULL;
	assert_ok(weir_builder_finish(&f, b, NULL));
	assert_true(weir_contains_hash(f, 1) && !weir_contains_hash(f, 2));
	assert_refused(weir_builder_exclude_hash(b, 3), -EINVAL, "was finished", "");
	assert_refused(weir_builder_seal(b), -EINVAL, "was finished", "");
	weir_builder_destroy(b);
	weir_destroy(f);
}

static void other_kinds_have_no_exclude_list(void **state)
{
	struct weir_params p = params(8);
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_FUSE, p.fuse.fingerprint_bits = 8, p.layered.fingerprint_bits = 0;
	struct weir_builder *b = begun(&p, NULL);
	assert_refused(weir_builder_seal(b), -ENOTSUP, "kind fuse", "exclude list");
	assert_refused(weir_builder_exclude_hash(b, 1), -ENOTSUP, "kind fuse", "exclude list");
	weir_builder_destroy(b);
	p.layered.exclude_keys = 10;
	p.capacity = 10;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "exclude_keys 10", "kind fuse");
	p.kind = WEIR_LAYERED, p.fuse.fingerprint_bits = 0;
	p.layered.exclude_keys = UINT64_MAX;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "exclude_keys 18446744073709551615",
	               "2^48");
}

/* With a spill file, the builder writes the included keys to the file, and the memory is free for
 * the excluded keys that pass. */
static void included_keys_may_use_most_of_the_memory(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(3);
	cpu_set_t all;
	uint64_t most = 0;
	(void)state;
	on_one_cpu(&all); /* so that each round uses the same amount of memory */
	o.threads = 1;
	o.max_memory = 63 << 20;
	struct weir_builder *b = begun(&p, &o);
	while (weir_builder_add_hash(b, test_key(most)) == 0)
		most++;
	weir_builder_destroy(b);
	most -= most / 16;
	char *where = test_folder();
	for (unsigned file = 0; file < 2; file++) {
		o.spill_folder = file ? where : NULL;
		b = begun(&p, &o);
		for (uint64_t i = 0; i < most; i++)
			assert_ok(weir_builder_add_hash(b, test_key(i)));
		assert_ok(weir_builder_seal(b));
		weir_destroy(finished(b, &r));
		assert_true(r.keys == most && (r.spilled_bytes > 0) == file);
	}
	test_folder_remove(where);
	on_cpus(&all);
}

/* The hash may be at any position in the lists. Hash 0 is not special. */
static void the_smallest_hash_in_both_lists_is_reported(void **state)
{
	static const uint64_t both[][3] = { { 17, 1, 1000 }, { 0, 1, 1000 }, { 17, 2, 1000 },
		                            { 17, 1, 0 } };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
		const struct weir_params p = params(7);
		struct weir_builder *b = begun(&p, NULL);
		struct weir_filter *f = NULL;
		char name[32];
		/* the smallest hash comes first or last */
		for (uint64_t k = 0; k < both[i][1]; k++)
			assert_ok(weir_builder_add_hash(b, both[i][0] +
			                                   (i % 2 ? k : both[i][1] - 1 - k)));
		for (uint64_t k = 0; k < both[i][2]; k++)
			assert_ok(weir_builder_add_hash(b, test_key(k)));
		assert_ok(weir_builder_seal(b));
		for (uint64_t k = 0; k < both[i][2]; k++)
			assert_ok(weir_builder_exclude_hash(b, test_key(1000 + k)));
		for (uint64_t k = both[i][1]; k-- > 0;)
			assert_ok(weir_builder_exclude_hash(b, both[i][0] + k));
		snprintf(name, sizeof name, "0x%016llx", (unsigned long long)both[i][0]);
		assert_refused(weir_builder_finish(&f, b, &r), -EEXIST, name, "another seed");
		assert_true(!f && r.equal == both[i][1] && r.equal_hash == both[i][0]);
		weir_builder_destroy(b);
	}
}

static void equal_lists_are_refused(void **state)
{
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(5);
	struct weir_builder *b = begun(&p, NULL);
	struct weir_filter *f = NULL;
	(void)state;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(k)));
	assert_refused(weir_builder_finish(&f, b, &r), -EEXIST, "not the only one", "");
	assert_int_equal(r.equal, KEYS);
	weir_builder_destroy(b);
}

/* The excluded hashes are small numbers, so their upper bits are equal. All of them select the same
 * first cells, so the second level cannot be built at any size. */
static void uneven_excluded_hashes_are_refused(void **state)
{
	const struct weir_params p = params(1);
	struct weir_builder *b = begun(&p, NULL);
	struct weir_filter *f = NULL;
	(void)state;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, k));
	assert_refused(weir_builder_finish(&f, b, NULL), -ENOSPC, "cannot be built", "uniform");
	assert_null(f);
	weir_builder_destroy(b);
}

/* Regression, as in test_fuse.c: a hash table multiplied the hashes, and the products were alike.
 * Half of the excluded hashes pass the first level. The builder then searches the table of these
 * hashes for the included keys. */
static void excluded_hashes_that_are_alike_when_multiplied_build_fast(void **state)
{
	enum { SIDE = 1024 };
	const struct weir_params p = params(1);
	struct weir_builder *b = begun(&p, NULL);
	struct weir_filter *f = NULL;
	(void)state;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t i = 0; i < SIDE * SIDE; i++)
		assert_ok(weir_builder_exclude_hash(b, i / SIDE * UINT64_C(0xa8a2288097) +
		                                       i % SIDE * UINT64_C(0x53f887addb)));
	assert_refused(weir_builder_finish(&f, b, NULL), -ENOSPC, "cannot be built", "uniform");
	weir_builder_destroy(b);
}


/* ---- reloads of a handle ---- */

static void a_reload_excludes_keys(void **state)
{
	const struct weir_params p = params(4);
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	static uint64_t hashes[KEYS + OTHERS];
	const struct iovec key = { hashes, 8 };
	(void)state;
	keys_of(hashes, 0, KEYS + OTHERS);
	assert_ok(weir_handle_create(&h, built(&p, 100, 1000, NULL), NULL));
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_refused(weir_reload_exclude_keys(r, weir_keys_hashes(hashes, 1)), -EINVAL,
	               "not sealed", "");
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL), 0);
	assert_ok(weir_reload_seal(r));
	assert_ok(weir_reload_exclude_keys(r, weir_keys_hashes(hashes + KEYS, OTHERS)));
	assert_ok(weir_reload_exclude_keys(r, weir_keys_iov(&key, 1)));
	assert_ok(weir_reload_exclude(r, "a key", 5));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, KEYS), NULL), KEYS);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes + KEYS, OTHERS),
	                                           NULL),
	                 0);
	assert_false(weir_handle_contains(h, "a key", 5));
	assert_ok(weir_reload_begin(&r, h, NULL)); /* both lists have the same key */
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL), 0);
	assert_ok(weir_reload_seal(r));
	assert_ok(weir_reload_exclude_keys(r, weir_keys_hashes(hashes, 1)));
	assert_refused(weir_reload_commit(r), -EEXIST, "another seed", "");
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, KEYS), NULL), KEYS);
	assert_ok(weir_handle_destroy(h));
}

/* The argument "memory" selects the tests with the most keys. Each of them uses one thread. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_exact_on_both_lists),
		cmocka_unit_test(bits_equal_the_reference),
		cmocka_unit_test(several_threads_add_and_exclude),
		cmocka_unit_test(calls_in_the_wrong_order_are_refused),
		cmocka_unit_test(other_kinds_have_no_exclude_list),
		cmocka_unit_test(included_keys_may_use_most_of_the_memory),
		cmocka_unit_test(the_smallest_hash_in_both_lists_is_reported),
		cmocka_unit_test(equal_lists_are_refused),
		cmocka_unit_test(uneven_excluded_hashes_are_refused),
		cmocka_unit_test(excluded_hashes_that_are_alike_when_multiplied_build_fast),
		cmocka_unit_test(a_reload_excludes_keys),
	}, memory[] = {
		cmocka_unit_test(included_and_excluded_keys_share_max_memory),
		cmocka_unit_test(excluded_keys_that_pass_are_spilled),
		cmocka_unit_test(the_report_counts_bytes_spilled_before_the_seal),
	};
	return argc > 1 && strcmp(argv[1], "memory") == 0 ?
	       cmocka_run_group_tests(memory, folder_setup, folder_teardown) :
	       cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
