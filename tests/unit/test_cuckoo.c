/* SPDX-License-Identifier: MIT
 * The cuckoo kind, as its headers promise: the number of keys that fit, the error messages, and
 * that no key is lost, duplicated or left after its removal. */
#include <errno.h>
#include "../crowd.h"
#include "../folder.h"
#include "kinds/cuckoo/cuckoo.h"

static struct weir_filter *made(uint32_t bits, uint64_t capacity, uint64_t seed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = WEIR_CUCKOO, p.cuckoo.fingerprint_bits = bits, p.seed = seed;
	p.capacity = capacity, p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	return f;
}

static double fill(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats.fill;
}

/* ---- sizes ---- */

static void small_sizes_by_the_formula(void **state)
{
	static const uint32_t lines[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24 };
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4)
		for (size_t i = 0; i < COUNT_OF(lines); i++) {
			struct weir_shape shape = { WEIR_CUCKOO, .field = { bits } };
			uint64_t keys = weir__cuckoo_most(lines[i], &shape);
			double now = crowd_chance(8 * lines[i], 64 / bits, keys),
			       next = crowd_chance(8 * lines[i], 64 / bits, keys + 1);
			if (now > 1e-6 || next <= 1e-6)
				fail_msg("%u lines, %u bits: %u keys: %g, one more: %g", lines[i],
				         bits, (unsigned)keys, now, next);
		}
}

static void more_lines_fit_more_keys(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_shape shape = { WEIR_CUCKOO, .field = { bits } };
		uint64_t last = 0, places = 8 * (64 / bits);
		for (uint64_t lines = 1; lines < 3000; lines++) {
			uint64_t keys = weir__cuckoo_most(lines, &shape);
			assert_true(keys > last && keys <= 0.95 * (double)(lines * places));
			assert_true(lines < 128 ||
			            (double)keys > 0.95 * (double)(lines * places) - 1);
			last = keys;
		}
	}
}

/* The test makes only as many filters as it can fill in a few seconds. */
static void every_filter_fits_its_capacity(void **state)
{
	static const uint64_t sizes[] = { 1, 9, 16, 26, 51, 64, 86, 138, 289, 450, 1000, 4000 };
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4)
		for (size_t i = 0; i < COUNT_OF(sizes); i++)
			for (uint64_t seed = 1; seed <= 400000 / (sizes[i] + 20); seed++) {
				struct weir_filter *f = made(bits, sizes[i], seed);
				for (uint64_t key = 0; key < sizes[i]; key++)
					assert_ok(weir_insert_u64(f, test_key(key)));
				weir_destroy(f);
			}
}

static void plans_match_known_sizes_and_rates(void **state)
{
	static const struct { double rate; uint32_t bits; double bits_per_key, fp_rate; } rows[] = {
		{ 0.1, 12, 13.474, 0.002317 },   { 0.0024, 12, 13.474, 0.002317 },
		{ 0.001, 16, 16.842, 0.00011597 }, { 0.00005, 16, 39.06, 0.00005 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		p.kind = WEIR_CUCKOO, p.capacity = 10000000, p.fp_rate = rows[i].rate;
		assert_ok(weir_plan_make(&p, &plan));
		assert_int_equal(plan.shape.field[0], rows[i].bits);
		if (!(fabs(plan.bits_per_key / rows[i].bits_per_key - 1) < 0.005 &&
		      fabs(plan.fp_rate / rows[i].fp_rate - 1) < 0.005))
			fail_msg("%g: %g bits a key, %g", rows[i].rate, plan.bits_per_key,
			         plan.fp_rate);
	}
}

static void wrong_numbers_are_refused(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_CUCKOO, p.capacity = 1000, p.fp_rate = 0.01, p.cuckoo.fingerprint_bits = 8;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "fingerprint_bits 8", "12 or 16");
	p.cuckoo.fingerprint_bits = 0, p.counting.counter_bits = 4;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "counter_bits 4", "kind cuckoo");
	p.counting.counter_bits = 0, p.max_bytes = 1600;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "capacity 1000", "max_bytes is 1600");
	p.fp_rate = 0;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "max_bytes 1600", "keys at most");
	p.max_bytes = 2200; /* enough for 12-bit fingerprints, too little for 16-bit ones */
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.shape.field[0], 12);
	p.max_bytes = 4000;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.shape.field[0], 16);
	/* without max_bytes, the message names the kind's own limit */
	p.max_bytes = 0, p.capacity = 1000000000, p.fp_rate = 1e-9;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "capacity 1000000000",
	               "has 2^46 at most");
}

/* ---- inserts and removals ---- */

static void copies_of_one_key(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits, 10000, 1);
		int most = 2 * (64 / (int)bits);
		assert_int_equal(weir_count(f, "key", 3), 0);
		for (int i = 0; i < most; i++) {
			assert_int_equal(weir_insert(f, "key", 3), i ? WEIR_SEEN : WEIR_NEW);
			assert_int_equal(weir_count(f, "key", 3), i + 1);
		}
		double before = fill(f);
		assert_refused(weir_insert(f, "key", 3), -ENOSPC, "no room",
		               bits == 12 ? "10 copies" : "8 copies");
		assert_true(fill(f) == before);
		for (int i = most; i; i--) {
			assert_true(weir_contains(f, "key", 3));
			assert_int_equal(weir_remove(f, "key", 3), 1);
		}
		assert_int_equal(weir_remove(f, "key", 3), 0);
		assert_true(!weir_contains(f, "key", 3) && fill(f) == 0);
		weir_destroy(f);
	}
}

/* A few keys have only one bucket, because the partner of their bucket is that same bucket. */
static void copies_of_a_key_with_one_bucket_count_once(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits, 1000, 1);
		const int most = 64 / (int)bits;
		struct weir_cuckoo_spot spot;
		uint64_t hash, n = 0;
		int64_t count = -1;
		do {
			hash = test_key(n++);
			spot = weir__cuckoo_spot(&f->array, hash, bits);
		} while (weir__cuckoo_other(&f->array, spot.bucket, spot.fingerprint) !=
		         spot.bucket);
		for (int i = 0; i < most; i++) {
			assert_int_equal(weir_count_hash(f, hash), i);
			assert_ok(weir_insert_hash(f, hash));
		}
		assert_int_equal(weir_insert_hash(f, hash), -ENOSPC);
		assert_int_equal(weir_count_keys(f, weir_keys_hashes(&hash, 1), &count), 1);
		assert_int_equal(count, most);
		for (int i = most; i; i--) {
			assert_int_equal(weir_count_hash(f, hash), i);
			assert_int_equal(weir_remove_hash(f, hash), 1);
		}
		assert_int_equal(weir_remove_hash(f, hash), 0);
		weir_destroy(f);
	}
}

static void a_refused_insert_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits, 2000, 5);
		uint64_t n = 0, refused = 0;
		while (weir_insert_u64(f, test_key(n)) >= 0)
			n++;
		double full = fill(f);
		assert_true(full > 0.95);
		for (uint64_t key = n; key < n + 100; key++)
			refused += weir_insert_u64(f, test_key(key)) < 0;
		assert_true(refused > 50);
		for (uint64_t key = 0; key < n; key++)
			assert_true(weir_contains_u64(f, test_key(key)));
		for (uint64_t key = 0; key < n; key++) {
			uint64_t bytes = test_key(key);
			assert_int_equal(weir_remove(f, &bytes, 8), 1);
		}
		struct weir_stats stats = WEIR_STATS_INIT;
		assert_ok(weir_measure(f, WEIR_EXACT, &stats));
		assert_true(fabs(stats.keys_estimated - (double)(100 - refused)) < 0.001);
		weir_destroy(f);
	}
}

static void batches_stop_at_the_first_refusal(void **state)
{
	struct weir_filter *f = made(16, 10000, 1);
	uint64_t keys[100], bitmap[2];
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		/* the ninth copy of key 7 is refused */
		keys[i] = i < 70 || i == 99 ? test_key(i) : 7;
	assert_refused(weir_insert_keys(f, weir_keys_u64(keys, 100), bitmap), -ENOSPC,
	               "no room", "8 copies");
	for (unsigned i = 0; i < 71; i++)
		assert_true(weir_contains_u64(f, keys[i]));
	uint64_t seven = 7;
	assert_int_equal(weir_count(f, &seven, 8), 8);
	assert_false(weir_contains_u64(f, keys[99]));
	weir_destroy(f);
}

/* ---- merges, clones and images ---- */

static void merges_keep_every_copy(void **state)
{
	struct weir_filter *a = made(12, 1000, 1), *b = made(12, 1000, 1), *copy = NULL;
	struct weir_filter *larger = made(12, 3000, 1);
	(void)state;
	for (uint64_t key = 0; key < 400; key++) {
		assert_ok(weir_insert_u64(a, test_key(key)));
		assert_ok(weir_insert_u64(b, test_key(key + 300)));
	}
	assert_ok(weir_merge(a, b));
	assert_ok(weir_merge(a, a)); /* merging a filter into itself adds nothing */
	assert_ok(weir_clone(&copy, a));
	for (uint64_t key = 0; key < 700; key++) {
		uint64_t bytes = test_key(key);
		assert_true(weir_count(copy, &bytes, 8) >= 1 + (key >= 300 && key < 400));
		assert_int_equal(weir_remove(copy, &bytes, 8), 1);
		if (key >= 300 && key < 400)
			assert_int_equal(weir_remove(copy, &bytes, 8), 1);
	}
	assert_true(fill(copy) == 0 && fill(a) > 0);
	assert_refused(weir_merge(larger, a), -EINVAL, "bytes", "differs");
	assert_refused(weir_fold(&copy, a, 1), -ENOTSUP, "cuckoo", "fold");
	weir_destroy(a), weir_destroy(b), weir_destroy(copy), weir_destroy(larger);
}

static int64_t count_of(const struct weir_filter *f, uint64_t key)
{
	uint64_t bytes = test_key(key);
	return weir_count(f, &bytes, sizeof bytes);
}

static void take_out(struct weir_filter *f, uint64_t key)
{
	uint64_t bytes = test_key(key);
	assert_int_equal(weir_remove(f, &bytes, sizeof bytes), 1);
}

static void a_failed_merge_undoes_its_insertions(void **state)
{
	enum { OURS = 300, THEIRS = 20000, ALL = 40000 };
	static int64_t counts[ALL];
	(void)state;
	for (unsigned bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *a = made(bits, ALL, 1), *b = made(bits, ALL, 1);
		unsigned merged = 0;
		for (uint64_t key = 0; key < THEIRS; key++)
			assert_ok(weir_insert_u64(b, test_key(key)));
		for (uint64_t key = THEIRS - OURS; key < THEIRS + OURS; key++)
			assert_ok(weir_insert_u64(a, test_key(key)));
		for (double before = 0;; merged++) {
			before = fill(a);
			for (uint64_t key = 0; key < ALL; key++)
				counts[key] = count_of(a, key);
			int err = weir_merge(a, b);
			if (err) {
				assert_refused(err, -ENOSPC, "no room", "");
				assert_true(fill(a) == before);
				break;
			}
			assert_true(fill(a) > before && merged < 3);
		}
		assert_true(merged >= 1);
		for (uint64_t key = 0; key < ALL; key++)
			assert_true(count_of(a, key) == counts[key]);
		for (uint64_t key = 0; key < THEIRS; key++)
			for (unsigned i = 0; i < merged; i++)
				take_out(a, key);
		for (uint64_t key = THEIRS - OURS; key < THEIRS + OURS; key++)
			take_out(a, key);
		assert_true(fill(a) == 0);
		weir_destroy(a), weir_destroy(b);
	}
}

static void images_keep_all_keys(void **state)
{
	struct weir_filter *f = made(16, 1000, 1), *g = NULL;
	(void)state;
	for (uint64_t key = 0; key < 1000; key++)
		assert_ok(weir_insert_u64(f, test_key(key)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_refused(weir_load(&g, weir_location_map(path, WEIR_MAP_LIVE), NULL), -ENOTSUP,
	               "cuckoo", "live");
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_refused(weir_insert(g, "a", 1), -EROFS, "read-only", "");
	assert_refused(weir_remove(g, "a", 1), -EROFS, "read-only", "");
	weir_destroy(g);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	for (uint64_t key = 0; key < 1000; key++) {
		uint64_t bytes = test_key(key);
		assert_int_equal(weir_remove(g, &bytes, 8), 1);
	}
	assert_true(fill(g) == 0);
	weir_destroy(f), weir_destroy(g);
}

/* Five slots of 12 bits leave four bits of a word unused. */
static void unused_bits_of_a_word_are_ignored(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	static _Alignas(64) uint64_t words[8];
	(void)state;
	p.kind = WEIR_CUCKOO, p.cuckoo.fingerprint_bits = 12, p.capacity = 16, p.max_bytes = 64;
	p.memory = words, p.memory_bytes = 64, p.seed = 1;
	assert_ok(weir_create(&f, &p));
	for (unsigned i = 0; i < 8; i++)
		words[i] |= WEIR__LE64(UINT64_C(0xf) << 60);
	assert_true(fill(f) == 0);
	for (uint64_t key = 0; key < 16; key++) {
		assert_false(weir_contains_u64(f, key));
		assert_ok(weir_insert_u64(f, key));
	}
	for (uint64_t key = 0; key < 16; key++)
		assert_int_equal(weir_remove(f, &key, 8), 1);
	for (unsigned i = 0; i < 8; i++)
		assert_true(words[i] == WEIR__LE64(UINT64_C(0xf) << 60));
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_sizes_by_the_formula),
		cmocka_unit_test(more_lines_fit_more_keys),
		cmocka_unit_test(every_filter_fits_its_capacity),
		cmocka_unit_test(plans_match_known_sizes_and_rates),
		cmocka_unit_test(wrong_numbers_are_refused),
		cmocka_unit_test(copies_of_one_key),
		cmocka_unit_test(copies_of_a_key_with_one_bucket_count_once),
		cmocka_unit_test(a_refused_insert_changes_nothing),
		cmocka_unit_test(batches_stop_at_the_first_refusal),
		cmocka_unit_test(merges_keep_every_copy),
		cmocka_unit_test(a_failed_merge_undoes_its_insertions),
		cmocka_unit_test(images_keep_all_keys),
		cmocka_unit_test(unused_bits_of_a_word_are_ignored),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
