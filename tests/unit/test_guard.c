/* SPDX-License-Identifier: MIT
 * A guard before an exact store: what the guard counts, when a thread starts to bypass the filter,
 * and when the thread uses the filter again. */
#include <errno.h>
#include <math.h>
#include "../guards.h"

enum { KEYS = 5000 };

/* The filter has false positives, so the test also covers their count. */
static void the_counts_equal_the_tests_own(void **state)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	struct weir_guard_stats expected = WEIR_GUARD_STATS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, KEYS, 0.02);
	struct weir_handle *h = NULL;
	(void)state;
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(f, i));
	assert_ok(weir_handle_create(&h, f, NULL));
	o.handle = h;
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	for (uint64_t i = 0; i < 4 * KEYS; i++) {
		const int answer = weir_guard_ask(t, &i, sizeof i);
		assert_int_equal(answer, weir_contains_u64(f, i) ? WEIR_GUARD_MAYBE :
		                                                   WEIR_GUARD_ABSENT);
		assert_true(i >= KEYS || answer == WEIR_GUARD_MAYBE);
		expected.asked++;
		expected.stopped += answer == WEIR_GUARD_ABSENT;
		if (i % 10 == 3) {
			expected.unreported += answer == WEIR_GUARD_MAYBE;
			continue;
		}
		weir_guard_saw(t, answer, i < KEYS);
		expected.true_positives += i < KEYS;
		expected.false_positives += i >= KEYS && answer == WEIR_GUARD_MAYBE;
	}
	struct weir_guard_stats s = stats_of(g);
	assert_true(s.asked == 4 * KEYS && s.asked == expected.asked);
	assert_true(s.stopped == expected.stopped && s.unreported == expected.unreported);
	assert_true(s.true_positives == expected.true_positives &&
	            s.false_positives == expected.false_positives && s.false_positives > 0);
	assert_true(s.bypassed == 0 && s.bypassed_absent == 0 && s.switches == 0);
	assert_true(s.threads == 1 && s.bypassing == 0);
	assert_true(fabs(s.fp_rate - (double)s.false_positives /
	                 (double)(s.false_positives + s.stopped)) < 1e-12);
	assert_true(fabs(s.saved - (double)s.stopped / (4 * KEYS)) < 1e-12);
	assert_true(s.fp_rate > 0.005 && s.fp_rate < 0.04);
	assert_refused(weir_guard_destroy(g), -EBUSY, "1 thread has joined", "");
	weir_guard_leave(t);
	t = joined(g);
	assert_int_equal(stats_of(g).asked, 4 * KEYS); /* includes the thread that left */
	assert_int_equal(stats_of(g).false_positives, s.false_positives);
	weir_guard_leave(t);
	assert_int_equal(stats_of(g).threads, 0);
	assert_ok(weir_guard_destroy(g));
	weir_handle_destroy(h);
}

static void without_asks_nothing_is_counted(void **state)
{
	const struct weir_guard_options o = of_one(0.1, 0);
	struct weir_guard *g = made(&o);
	(void)state;
	struct weir_guard_stats s = stats_of(g);
	assert_true(s.asked == 0 && s.fp_rate == 0 && s.saved == 0 && s.unreported == 0);
	struct weir_guard_thread *t = joined(g);
	/* the thread has not asked, so nothing is counted */
	weir_guard_saw(t, WEIR_GUARD_ABSENT, true);
	s = stats_of(g);
	assert_true(s.true_positives == 0 && s.false_positives == 0 && s.bypassed_absent == 0);
	weir_guard_leave(t);
	weir_guard_leave(NULL);
	assert_ok(weir_guard_destroy(g));
	assert_ok(weir_guard_destroy(NULL));
}

/* During a bypass, the thread still asks the filter for one key in 64. */
static void a_useless_filter_is_bypassed_until_it_helps(void **state)
{
	const struct weir_guard_options o = of_one(0.25, 0.5);
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	(void)state;
	assert_int_equal(ask(t, 3 * WINDOW, 3 * WINDOW), 0);
	/* in one window the filter stops just enough keys; in the next window it stops one key too
	 * few */
	assert_int_equal(ask(t, WINDOW, WINDOW / 4), 0);
	assert_int_equal(ask(t, WINDOW, WINDOW / 4 - 1), 0);
	struct weir_guard_stats s = stats_of(g);
	assert_true(s.bypassing == 1 && s.switches == 1 && s.bypassed == 0);
	/* during a bypass, a sixteenth of the window suffices for a decision; a share of exactly
	 * resume_above does not end the bypass */
	unsigned bypassed = 0;
	for (unsigned i = 0; i < 10; i++)
		bypassed += ask(t, WINDOW / 16, WINDOW / 32);
	assert_in_range(bypassed, 640 * 63 * 8 / 10, 640 * 63 * 12 / 10);
	s = stats_of(g);
	assert_true(s.bypassing == 1 && s.switches == 1 && s.bypassed == bypassed);
	assert_true(s.unreported == 0 && s.bypassed_absent > bypassed / 3 &&
	            s.bypassed_absent < bypassed);
	assert_true(ask(t, WINDOW / 16, WINDOW / 32 + 1) > 0);
	s = stats_of(g);
	assert_true(s.bypassing == 0 && s.switches == 2);
	/* between the two limits the state does not change */
	assert_int_equal(ask(t, WINDOW, WINDOW / 3), 0);
	assert_int_equal(ask(t, WINDOW, WINDOW / 3), 0);
	assert_int_equal(stats_of(g).switches, 2);
	weir_guard_leave(t);
	assert_int_equal(stats_of(g).bypassing, 0);
	assert_ok(weir_guard_destroy(g));
}

static void without_bypass_below_nothing_is_bypassed(void **state)
{
	const struct weir_guard_options o = of_one(0, 0);
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	(void)state;
	assert_int_equal(ask(t, 10 * WINDOW, 0), 0);
	assert_int_equal(stats_of(g).switches, 0);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
}

/* By default resume_above is the smaller of two numbers: 1.25 * bypass_below, and the middle
 * between bypass_below and 1. */
static void the_default_of_resume_above(void **state)
{
	static const double rows[][2] = { { 0.4, 0.5 }, { 0.9, 0.95 } };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		const struct weir_guard_options o = of_one(rows[i][0], 0);
		struct weir_guard *g = made(&o);
		struct weir_guard_thread *t = joined(g);
		ask(t, WINDOW, 0);
		assert_int_equal(stats_of(g).bypassing, 1);
		ask(t, WINDOW / 16, (unsigned)(rows[i][1] * WINDOW / 16) - 1);
		assert_int_equal(stats_of(g).bypassing, 1);
		ask(t, WINDOW / 16, (unsigned)(rows[i][1] * WINDOW / 16) + 1);
		assert_int_equal(stats_of(g).bypassing, 0);
		weir_guard_leave(t);
		assert_ok(weir_guard_destroy(g));
	}
}

static void the_default_window_is_4096_keys(void **state)
{
	struct weir_guard_options o = of_one(0.5, 0);
	(void)state;
	o.window = 0;
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g);
	ask(t, 4095, 0);
	assert_int_equal(stats_of(g).bypassing, 0);
	ask(t, 1, 0);
	assert_int_equal(stats_of(g).bypassing, 1);
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
}

static void refused(struct weir_guard_options o, const char *a, const char *b)
{
	struct weir_guard *g = NULL;
	assert_refused(weir_guard_create(&g, &o), -EINVAL, a, b);
	assert_null(g);
}

static void wrong_options_are_refused(void **state)
{
	struct weir_guard_options o = of_one(0, 0);
	struct weir_guard *g = NULL;
	struct weir_guard_thread *t = NULL;
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	(void)state;
	assert_refused(weir_guard_create(NULL, &o), -EINVAL, "out is NULL", "");
	assert_refused(weir_guard_create(&g, NULL), -EINVAL, "0 given, one is needed", "");
	o.handle = (const struct weir_handle *)&one;
	refused(o, "2 given, one is needed", "contains");
	refused(of_one(1, 0), "bypass_below 1", "below 1");
	refused(of_one(-0.1, 0), "bypass_below -0.1", "");
	refused(of_one((double)NAN, 0), "bypass_below", "nan");
	refused(of_one(0.5, 0.5), "resume_above 0.5", "above bypass_below");
	refused(of_one(0.5, 1.5), "resume_above 1.5", "");
	refused(of_one(0.5, (double)NAN), "resume_above", "nan");
	o = of_one(0, 0);
	o.window = WINDOW - 1;
	refused(o, "window 1023", "1024");
	o.window = (1 << 24) + 1;
	refused(o, "window 16777217", "16777216");
	for (unsigned most = 0; most < 2; most++) {
		o.window = most ? 1 << 24 : WINDOW;
		g = made(&o);
		assert_ok(weir_guard_destroy(g));
	}
	o.window = 0;
	o.struct_size = 3;
	refused(o, "weir_guard_options", "3");
	o = of_one(0.2, 1);
	g = made(&o);
	assert_refused(weir_guard_join(NULL, g), -EINVAL, "out is NULL", "");
	assert_refused(weir_guard_join(&t, NULL), -EINVAL, "the guard is NULL", "");
	assert_refused(weir_guard_measure(NULL, &s), -EINVAL, "the guard is NULL", "");
	assert_refused(weir_guard_measure(g, NULL), -EINVAL, "weir_guard_stats", "");
	s.struct_size = 2;
	assert_refused(weir_guard_measure(g, &s), -EINVAL, "weir_guard_stats", "2");
	assert_ok(weir_guard_destroy(g));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counts_equal_the_tests_own),
		cmocka_unit_test(without_asks_nothing_is_counted),
		cmocka_unit_test(a_useless_filter_is_bypassed_until_it_helps),
		cmocka_unit_test(without_bypass_below_nothing_is_bypassed),
		cmocka_unit_test(the_default_of_resume_above),
		cmocka_unit_test(the_default_window_is_4096_keys),
		cmocka_unit_test(wrong_options_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
