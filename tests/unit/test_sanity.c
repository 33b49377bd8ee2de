/* SPDX-License-Identifier: MIT
 * A refresh refuses two kinds of complete images, unless the marks of the image allow them:
 * overfull sets, and sets with less than a tenth of the current set's keys. A set that is only
 * saturated is published, and a follower reports the saturation. */
#include <math.h>
#include "../followers.h"
#include "../image_bytes.h"

static struct weir_handle *h;

static int handle_setup(void **state)
{
	(void)setup(state);
	h = open_handle(flavors, 10000);
	return 0;
}

static int handle_teardown(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

/* The zstd level of the images that save_some() writes, or 0 for no compression. */
static int zstd_level;

static void save_some(uint64_t capacity, uint64_t keys, uint32_t marks)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, capacity, 0.01);
	for (uint64_t i = 0; i < keys; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	o.marks = marks;
	o.zstd_level = zstd_level;
	assert_ok(weir_save(f, weir_location_path(path), &o));
	weir_destroy(f);
}

static int refreshed(uint64_t capacity, uint64_t keys, uint32_t marks)
{
	save_some(capacity, keys, marks);
	return weir_handle_refresh(h, path, NULL);
}

static void test_an_empty_image_is_refused(void **state)
{
	(void)state;
	assert_int_equal(refreshed(10000, 0, 0), 1); /* the current set is empty */
	assert_int_equal(refreshed(10000, 5000, 0), 1);
	assert_refused(refreshed(10000, 0, 0), -ECANCELED, path, "about 0 keys");
	/* the handle remembers that it refused this file */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	assert_int_equal(stats_of(h).refused, 1);
	assert_int_equal(missing_in(h, 0, 5000), 0);
	/* the mark for overfull sets does not allow a shrunk set */
	assert_refused(refreshed(10000, 0, WEIR_MARK_OVERFULL_ALLOWED), -ECANCELED, path,
	               "--allow-shrink");
	assert_int_equal(refreshed(10000, 0, WEIR_MARK_SHRINK_ALLOWED), 1);
	assert_true(missing_in(h, 0, 5000) == 5000);
}

static void test_a_tenth_of_the_keys_is_enough(void **state)
{
	(void)state;
	assert_int_equal(refreshed(10000, 10000, 0), 1);
	assert_refused(refreshed(10000, 900, 0), -ECANCELED, path, "under a tenth");
	assert_refused(refreshed(1000000, 900, 0), -ECANCELED, path, "under a tenth");
	assert_int_equal(refreshed(10000, 1100, 0), 1);
	assert_int_equal(refreshed(10000, 120, 0), 1);
}

/* If a large filter has only a few keys, a sample may meet none of them. */
static void test_few_keys_are_counted_exactly(void **state)
{
	(void)state;
	assert_int_equal(refreshed(10000000, 100, 0), 1);
	assert_refused(refreshed(10000000, 5, 0), -ECANCELED, path, "where the current filter has");
	assert_refused(refreshed(10000, 5, 0), -ECANCELED, path, "under a tenth");
	assert_int_equal(refreshed(10000000, 50, 0), 1);
	assert_int_equal(refreshed(10000000, 2000000, 0), 1);
	assert_refused(refreshed(10000000, 20000, 0), -ECANCELED, path, "under a tenth");
	assert_int_equal(refreshed(1000, 1000, WEIR_MARK_SHRINK_ALLOWED), 1);
}

static double estimated(struct weir_filter *f, uint64_t first, uint64_t keys)
{
	struct weir_stats s = WEIR_STATS_INIT;
	for (uint64_t i = first; i < first + keys; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	return s.keys_estimated;
}

static void test_a_sample_without_keys_is_counted_exactly(void **state)
{
	struct weir_filter *f;
	bool none = false;
	(void)state;
	assert_int_equal(refreshed(10000000, 300, 0), 1);
	assert_true(figures_of(h).sampled < 1);
	for (uint64_t first = 1000; !none; first += 40) {
		f = test_filter(WEIR_BLOCKED, 10000000, 0.01);
		none = estimated(f, first, 40) < 1;
		if (none)
			assert_ok(weir_save(f, weir_location_path(path), NULL));
		weir_destroy(f);
		assert_true(none || first < 20000);
	}
	/* An exact count finds 40 keys in the image. This is more than a tenth of the 300 keys of
	 * the current filter. */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
}

static void test_with_carry_an_image_may_be_small(void **state)
{
	struct weir_refresh_options carry = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	carry.carry = true;
	assert_int_equal(refreshed(10000, 5000, 0), 1);
	save_some(10000, 1, 0);
	assert_int_equal(weir_handle_refresh(h, path, &carry), 1);
	assert_int_equal(missing_in(h, 0, 5000), 0);
}

static void test_an_overfull_image_is_refused(void **state)
{
	(void)state;
	assert_refused(refreshed(1000, 2000, 0), -ECANCELED, path, "overfull");
	assert_refused(refreshed(1000, 2000, WEIR_MARK_SHRINK_ALLOWED), -ECANCELED, path,
	               "--allow-overfull");
	assert_int_equal(refreshed(1000, 2000, WEIR_MARK_OVERFULL_ALLOWED), 1);
	/* every bit is set, so the number of keys is unknown and not compared */
	assert_int_equal(refreshed(10, 5000, WEIR_MARK_OVERFULL_ALLOWED), 1);
	assert_true(isinf(figures_of(h).keys_estimated));
	assert_int_equal(refreshed(10000, 10, 0), 1);
}

/* With 1000 keys at a capacity of 1000, one set in eight has more than twice the requested rate of
 * 1e-6, because some line has far more keys than others. */
static void test_a_rate_missed_by_chance_is_not_overfull(void **state)
{
	unsigned missed = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct weir_stats s = WEIR_STATS_INIT;
		struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
		for (uint64_t i = 0; i < 1000; i++)
			assert_ok(weir_insert_hash(f, test_key(1000 * seed + i)));
		assert_ok(weir_measure(f, WEIR_EXACT, &s));
		missed += s.fp_rate_estimated > WEIR_SANE_RATE * s.fp_rate;
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		weir_destroy(f);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	}
	assert_in_range(missed, 1, 30);
}

/* A refresh computes the rate from the bits, not from the claimed capacity. */
static void test_the_claimed_capacity_does_not_matter(void **state)
{
	size_t n = 0;
	(void)state;
	save_some(1000, 4000, 0);
	unsigned char *image = image_slurp(path, &n);
	assert_non_null(image);
	image_put64(image + 32, UINT64_C(1) << 48); /* sets the field "capacity" */
	image_repair(image, n);
	assert_true(image_spit(path, image, n));
	free(image);
	assert_refused(weir_handle_refresh(h, path, NULL), -ECANCELED, path, "overfull");
}

/* The sets are of several kinds, sizes and rates, down to a set of one key. */
static void test_full_sets_are_not_overfull(void **state)
{
	const enum weir_kind_id kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_COUNTING,
		                            WEIR_GROWING };
	(void)state;
	for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++)
		for (uint64_t capacity = 1; capacity <= 20000; capacity = capacity * 5 / 2 + 1)
			for (double rate = 0.3; rate > 1e-7; rate /= 8) {
				struct weir_filter *f = test_filter(kinds[kind], capacity, rate);
				struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
				o.marks = WEIR_MARK_SHRINK_ALLOWED;
				for (uint64_t i = 0; i < capacity; i++)
					assert_ok(weir_insert_hash(f, test_key(i)));
				assert_ok(weir_save(f, weir_location_path(path), &o));
				weir_destroy(f);
				assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
			}
}

static void test_one_message_names_both_reasons(void **state)
{
	(void)state;
	assert_int_equal(refreshed(100000, 100000, 0), 1);
	assert_refused(refreshed(1000, 2000, 0), -ECANCELED, "overfull", "under a tenth");
	assert_refused(refreshed(1000, 2001, 0), -ECANCELED, "a larger -n",
	               "--allow-overfull --allow-shrink");
	assert_refused(refreshed(1000, 2000, WEIR_MARK_OVERFULL_ALLOWED), -ECANCELED,
	               "under a tenth", "weir build --allow-shrink");
	assert_null(strstr(weir_error_detail(), "overfull"));
	assert_int_equal(refreshed(1000, 2000, WEIR_MARK_OVERFULL_ALLOWED |
	                                       WEIR_MARK_SHRINK_ALLOWED), 1);
}

static void test_marks_of_mapped_images_are_respected(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	o.map = true;
	save_some(10000, 5000, 0);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	save_some(10000, 0, WEIR_MARK_OVERFULL_ALLOWED);
	assert_refused(weir_handle_refresh(h, path, &o), -ECANCELED, path, "--allow-shrink");
	save_some(10000, 0, WEIR_MARK_SHRINK_ALLOWED);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	save_some(100, 5000, WEIR_MARK_OVERFULL_ALLOWED);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
}

#if TEST_ZSTD
static void test_marks_of_compressed_images_are_respected(void **state)
{
	(void)state;
	zstd_level = 1;
	assert_int_equal(refreshed(10000, 5000, 0), 1);
	assert_refused(refreshed(10000, 0, 0), -ECANCELED, path, "under a tenth");
	assert_refused(refreshed(1000, 2000, 0), -ECANCELED, path, "overfull");
	assert_int_equal(refreshed(1000, 2000, WEIR_MARK_OVERFULL_ALLOWED), 1);
	assert_int_equal(refreshed(10000, 0, WEIR_MARK_SHRINK_ALLOWED), 1);
	zstd_level = 0;
}
#endif

static void test_a_file_is_checked_again_with_another_current_filter(void **state)
{
	struct weir_reload *r;
	(void)state;
	assert_int_equal(refreshed(10000, 5000, 0), 1);
	assert_refused(refreshed(10000, 100, 0), -ECANCELED, path, "under a tenth");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_ok(weir_reload_insert_hash(r, test_key(7000)));
	assert_ok(weir_reload_commit(r));
	/* the same file is accepted with another current filter */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 0, 100), 0);
	assert_int_equal(stats_of(h).refused, 1);
}

/* A set with 1.5 times the requested rate is better than no set. */
static void test_a_saturated_image_is_published_and_reported(void **state)
{
	(void)state;
	save_some(10000, 11000, 0);
	struct weir_follower *f = follow(h, never, false);
	expect(flavors, 1, 0);
	heard_last(1, "taken over, but saturated");
	assert_true(figures_of(h).saturated);
	assert_int_equal(missing_in(h, 0, 11000), 0);
	/* the first set has as many keys as its capacity, the second set has 0.6 % more keys */
	for (unsigned more = 0; more < 2; more++) {
		save_some(1000000, more ? 1006000 : 1000000, 0);
		expect(flavors, 2 + more, 0);
		heard_last(1, "taken over");
		if (strstr(heard.sentence, "saturated"))
			fail_msg("\"%s\"", heard.sentence);
	}
	assert_ok(weir_follower_stop(f));
}

static void test_a_reload_by_the_caller_may_shrink(void **state)
{
	struct weir_reload *r;
	(void)state;
	assert_int_equal(refreshed(10000, 5000, 0), 1);
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_ok(weir_reload_commit(r));
	assert_true(missing_in(h, 0, 5000) == 5000);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, handle_setup, handle_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_an_empty_image_is_refused),
		fresh(test_a_tenth_of_the_keys_is_enough),
		fresh(test_marks_of_mapped_images_are_respected),
		fresh(test_few_keys_are_counted_exactly),
		fresh(test_a_sample_without_keys_is_counted_exactly),
		fresh(test_with_carry_an_image_may_be_small),
		fresh(test_a_file_is_checked_again_with_another_current_filter),
		fresh(test_an_overfull_image_is_refused),
		fresh(test_the_claimed_capacity_does_not_matter),
		fresh(test_full_sets_are_not_overfull),
		fresh(test_a_rate_missed_by_chance_is_not_overfull),
		fresh(test_one_message_names_both_reasons),
#if TEST_ZSTD
		fresh(test_marks_of_compressed_images_are_respected),
#endif
		fresh(test_a_saturated_image_is_published_and_reported),
		fresh(test_a_reload_by_the_caller_may_shrink),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
