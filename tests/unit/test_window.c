/* SPDX-License-Identifier: MIT
 * A window with a clock that the test controls: which keys it remembers, for how long, and when
 * it advances. */
#include <urcu/urcu-bp.h>
#include "window.h"

static uint64_t slow_ns; /* ns that pass at each reading of the clock */

static uint64_t slow_clock(void *unused)
{
	(void)unused;
	now_ns += slow_ns;
	return now_ns;
}

/* Key i is inserted into generation i, and is found for as many generations as the window has. */
static void test_ages_grow_with_each_advance(void **state)
{
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_filter *w = make(&o);
		int generations = (int)o.window.generations;
		for (int i = 0; i < 40; i++) {
			uint64_t key = test_key((uint64_t)i);
			assert_int_equal(weir_insert_u64(w, key), WEIR_NEW);
			assert_int_equal(weir_insert_u64(w, key), WEIR_SEEN);
			for (int k = 0; k <= i; k++) {
				uint64_t older = test_key((uint64_t)k);
				int age = i - k < generations ? i - k : -1;
				assert_int_equal(weir_age(w, &older, 8), age);
				assert_int_equal(weir_contains_u64(w, older), age >= 0);
				assert_int_equal(weir_contains(w, &older, 8), age >= 0);
			}
			assert_ok(weir_window_advance(w));
		}
		assert_int_equal(stats_of(w).advances, 40);
		weir_destroy(w);
	}
}

/* The repeated insert returns WEIR_SEEN, although it also stores the key in the newest
 * generation. */
static void test_a_repeated_insert_makes_a_key_young_again(void **state)
{
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_filter *w = make(&o);
		assert_int_equal(weir_insert(w, "key", 3), WEIR_NEW);
		for (int i = 0; i < 40; i++) {
			assert_ok(weir_window_advance(w));
			assert_int_equal(weir_age(w, "key", 3), 1);
			assert_int_equal(weir_insert(w, "key", 3), WEIR_SEEN);
			assert_int_equal(weir_age(w, "key", 3), 0);
		}
		weir_destroy(w);
	}
}

/* A window of G generations and a span T remembers a key for T to T * G/(G-1). The time depends on
 * the age of the newest generation at the insert. */
static void test_keys_are_remembered_for_the_span(void **state)
{
	(void)state;
	for (uint32_t g = 2; g <= 16; g++)
		for (int tenth = 0; tenth < 10; tenth++) {
			struct weir_params o = options(g, 0);
			struct weir_filter *w = make(&o);
			double period = 6.0 / (g - 1), most;
			wait_for(period * tenth / 10);
			uint64_t began = now_ns;
			assert_int_equal(weir_insert_hash(w, 77), WEIR_NEW);
			do {
				wait_for(0.001);
				assert_ok(weir_window_tick(w));
				most = (double)(now_ns - began) * 1e-9;
			} while (weir_contains_hash(w, 77));
			assert_true(most >= 6);
			assert_true(most <= 6.0 * g / (g - 1) + 0.001 * g + 0.001);
			weir_destroy(w);
		}
}

/* With G generations, the span is G-1 periods. If a period were rounded down, the window would
 * forget keys before the span ends. */
static void test_the_period_is_rounded_up(void **state)
{
	struct weir_params o = options(16, 0);
	(void)state;
	o.window.span_seconds = 0.001;
	struct weir_filter *w = make(&o);
	now_ns += 66666;
	assert_int_equal(weir_window_tick(w), 0);
	now_ns += 1;
	assert_int_equal(weir_window_tick(w), 1);
	weir_destroy(w);
}

/* After a late tick, the next advance is due a full period after that tick. */
static void test_a_late_tick_advances_once(void **state)
{
	struct weir_params o = options(4, 0);
	struct weir_filter *w = make(&o);
	(void)state;
	assert_int_equal(weir_insert_hash(w, 77), WEIR_NEW);
	assert_int_equal(weir_window_tick(w), 0);
	wait_for(100);
	assert_true(stats_of(w).due_seconds < -97);
	assert_int_equal(weir_window_tick(w), 1);
	assert_int_equal(weir_window_tick(w), 0);
	assert_true(fabs(stats_of(w).late_seconds - 98) < 0.01);
	wait_for(1.99);
	assert_int_equal(weir_window_tick(w), 0);
	wait_for(0.02);
	assert_int_equal(weir_window_tick(w), 1);
	assert_int_equal(weir_age_hash(w, 77), 2);
	assert_true(fabs(stats_of(w).late_seconds - 98) < 0.01);
	wait_for(99); /* the next tick is 97 s late, which is less than the earlier 98 s */
	assert_int_equal(weir_window_tick(w), 1);
	assert_true(fabs(stats_of(w).late_seconds - 98) < 0.01);
	weir_destroy(w);
}

/* [CLOCK-AFTER]: time between reading the clock and publishing the advance must not shorten the
 * generation. */
static void test_publishing_an_advance_shortens_no_generation(void **state)
{
	struct weir_params o = options(4, 0);
	(void)state;
	o.window.run.clock = slow_clock;
	slow_ns = 0;
	struct weir_filter *w = make(&o);
	wait_for(3);
	slow_ns = 500000000;
	assert_int_equal(weir_window_tick(w), 1);
	uint64_t after = now_ns;
	slow_ns = 0;
	assert_true(fabs(stats_of(w).age_seconds[0]) < 1e-9);
	now_ns = after + UINT64_C(1999999999);
	assert_int_equal(weir_window_tick(w), 0);
	wait_for(0.01);
	assert_int_equal(weir_window_tick(w), 1);
	weir_destroy(w);
}

static void test_windows_advance_by_number(void **state)
{
	static const uint64_t numbers[] = { 1, 1000, 200000 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(numbers); i++) {
		struct weir_params o = options(4, 0);
		o.window.span_seconds = 0;
		o.capacity = 0;
		o.window.generation_keys = numbers[i];
		struct weir_filter *w = make(&o);
		assert_int_equal(figures_of(w).capacity, 4 * numbers[i]);
		assert_true(isinf(stats_of(w).due_seconds));
		uint64_t n = 0, least = numbers[i] - numbers[i] / 50, most = numbers[i];
		for (; !weir_window_tick(w) && n < 2 * numbers[i]; n++)
			(void)weir_insert_u64(w, test_key(n));
		if (numbers[i] > 65535)
			most += numbers[i] / 50;
		/* some keys are false positives */
		assert_true(n >= least && n <= most + most / 50 + 1);
		assert_int_equal(stats_of(w).keys_counted, 0);
		wait_for(1000);
		assert_int_equal(weir_window_tick(w), 0);
		weir_destroy(w);
	}
}

static void test_inside_a_section_an_advance_is_refused(void **state)
{
	struct weir_params o = options(7, 0);
	struct weir_filter *w = make(&o);
	(void)state;
	urcu_bp_read_lock();
	assert_refused(weir_window_advance(w), -EDEADLK, "section", "");
	assert_int_equal(weir_window_tick(w), 0);
	wait_for(100);
	assert_refused(weir_window_tick(w), -EDEADLK, "section", "");
	urcu_bp_read_unlock();
	assert_int_equal(weir_window_tick(w), 1);
	weir_destroy(w);
}

/* The count of keys restarts in each generation, even if the generation reuses the memory of an
 * expired generation. */
static void test_the_count_restarts_in_each_generation(void **state)
{
	struct weir_params o = options(4, 0);
	(void)state;
	o.window.span_seconds = 0;
	o.window.generation_keys = 1000;
	o.capacity = 8000;
	struct weir_filter *w = make(&o);
	for (uint64_t i = 0, advances = 0, before = 0; advances < 12; i++) {
		(void)weir_insert_u64(w, test_key(i));
		if (!weir_window_tick(w))
			continue;
		assert_true(i + 1 - before >= 1000 && i + 1 - before <= 1030);
		assert_int_equal(stats_of(w).keys_counted, 0);
		assert_int_equal(stats_of(w).advances, ++advances);
		before = i + 1;
	}
	weir_destroy(w);
}

/* The limit is a generation's share of the capacity. */
static void test_generation_keys_is_limited(void **state)
{
	struct weir_params o = options(4, 0);
	struct weir_filter *w = NULL;
	(void)state;
	o.capacity = 8000;
	o.window.generation_keys = 2001;
	assert_refused(weir_create(&w, &o), -EINVAL, "generation_keys 2001", "2000");
	assert_null(w);
	o.window.generation_keys = 2000;
	weir_destroy(make(&o));
}

static void test_every_form_finds_a_key_in_a_keyed_window(void **state)
{
	struct weir_params o = options(4, 0);
	uint64_t bitmap[1];
	(void)state;
	o.seed = 0;
	o.secret = "a key of 16 bytes";
	struct weir_filter *w = make(&o);
	for (uint64_t i = 0; i < 64; i++) {
		uint64_t key = test_key(i);
		assert_int_equal(i % 2 ? weir_insert_u64(w, key) :
		                         weir_insert(w, &key, 8), WEIR_NEW);
		assert_true(weir_contains_u64(w, key) && weir_contains(w, &key, 8));
		assert_true(weir_contains_hash(w, weir_hash(w, &key, 8)));
		assert_int_equal(weir_contains_keys(w, weir_keys_u64(&key, 1), bitmap),
		                 1);
	}
	weir_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ages_grow_with_each_advance),
		cmocka_unit_test(test_a_repeated_insert_makes_a_key_young_again),
		cmocka_unit_test(test_keys_are_remembered_for_the_span),
		cmocka_unit_test(test_the_period_is_rounded_up),
		cmocka_unit_test(test_a_late_tick_advances_once),
		cmocka_unit_test(test_publishing_an_advance_shortens_no_generation),
		cmocka_unit_test(test_windows_advance_by_number),
		cmocka_unit_test(test_the_count_restarts_in_each_generation),
		cmocka_unit_test(test_generation_keys_is_limited),
		cmocka_unit_test(test_every_form_finds_a_key_in_a_keyed_window),
		cmocka_unit_test(test_inside_a_section_an_advance_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
