/* SPDX-License-Identifier: MIT
 * The metrics of a guard: text that a strict parser accepts, with the values of the
 * statistics. */
#include <errno.h>
#include "../exposition.h"
#include "../guards.h"

static struct exposition e;
static char text[16384];

static double value_of(const char *series)
{
	const double *value = exposition_value(&e, series);
	if (!value)
		fail_msg("no %s", series);
	return *value;
}

static void read_text(int64_t n, const char *labels)
{
	assert_ok(n);
	assert_int_equal(n, strlen(text));
	assert_true(n < 4096 || !labels); /* the header promises this limit */
	if (!exposition_read(&e, text))
		fail_msg("%s", e.fault);
}

/* Asks for nine keys. The filter stops 5 keys. The caller reports 2 true positives and 1 false
 * positive, and leaves 1 key unreported. */
static void use(struct weir_guard_thread *t)
{
	static const uint64_t there = 0;
	assert_int_equal(ask(t, 7, 5), 0);
	assert_int_equal(weir_guard_ask(t, &there, sizeof there), WEIR_GUARD_MAYBE);
	assert_int_equal(weir_guard_ask(t, &there, sizeof there), WEIR_GUARD_MAYBE);
	weir_guard_saw(t, WEIR_GUARD_MAYBE, false); /* a false positive */
}

static void metrics_equal_the_statistics(void **state)
{
	const struct weir_guard_options o = of_one(0.5, 0);
	struct weir_guard *g = made(&o);
	struct weir_guard_thread *t = joined(g), *other = joined(g);
	(void)state;
	use(t);
	read_text(exposition_of(weir_metrics_guard(g, NULL), text, sizeof text), "");
	assert_int_equal(e.n, 12);
	assert_int_equal(e.series, 12);
	assert_true(value_of("weir_guard_asked_total") == 9);
	assert_true(value_of("weir_guard_stopped_total") == 5);
	assert_true(value_of("weir_guard_true_positives_total") == 2);
	assert_true(value_of("weir_guard_false_positives_total") == 1);
	assert_true(value_of("weir_guard_bypassed_total") == 0);
	assert_true(value_of("weir_guard_bypassed_absent_total") == 0);
	assert_true(value_of("weir_guard_unreported") == 1);
	assert_true(value_of("weir_guard_switches_total") == 0);
	assert_true(value_of("weir_guard_threads") == 2);
	assert_true(value_of("weir_guard_threads_bypassing") == 0);
	assert_true(value_of("weir_guard_fp_rate") == 0.166666666666667); /* with 15 digits */
	assert_true(value_of("weir_guard_saved_ratio") == 0.555555555555556);
	ask(other, WINDOW, 0);
	ask(other, 10, 5);
	const struct weir_guard_stats s = stats_of(g);
	assert_true(s.bypassed > 0 && s.bypassed_absent > 0);
	read_text(exposition_of(weir_metrics_guard(g, "store=\"bans\""), text, sizeof text), "");
	assert_true(value_of("weir_guard_bypassed_total{store=\"bans\"}") == (double)s.bypassed);
	assert_true(value_of("weir_guard_bypassed_absent_total{store=\"bans\"}") ==
	            (double)s.bypassed_absent);
	assert_true(value_of("weir_guard_switches_total{store=\"bans\"}") == 1);
	assert_true(value_of("weir_guard_threads_bypassing{store=\"bans\"}") == 1);
	weir_guard_leave(t);
	weir_guard_leave(other);
	assert_ok(weir_guard_destroy(g));
}

static void several_guards_in_one_text(void **state)
{
	const struct weir_guard_options o = of_one(0, 0);
	struct weir_guard *a = made(&o), *b = made(&o);
	const struct weir_metrics guards[] = { weir_metrics_guard(a, "store=\"a\""),
	                                       weir_metrics_guard(b, "store=\"b\"") };
	const struct weir_metrics bad[] = { weir_metrics_guard(a, NULL),
	                                    weir_metrics_guard(NULL, NULL) };
	struct weir_guard_thread *t = joined(b);
	(void)state;
	use(t);
	read_text(weir_metrics_write(guards, 2, text, sizeof text), NULL);
	assert_int_equal(e.n, 12);
	assert_int_equal(e.series, 24);
	assert_true(value_of("weir_guard_asked_total{store=\"a\"}") == 0);
	assert_true(value_of("weir_guard_asked_total{store=\"b\"}") == 9);
	assert_true(value_of("weir_guard_fp_rate{store=\"a\"}") == 0);
	char part[100];
	memset(part, 0x5a, sizeof part);
	const int64_t whole = weir_metrics_write(guards, 2, part, 60);
	assert_int_equal(whole, strlen(text));
	assert_true(strlen(part) == 59 && strncmp(part, text, 59) == 0 && part[60] == 0x5a);
	assert_int_equal(weir_metrics_write(guards, 2, NULL, 0), whole);
	assert_int_equal(weir_metrics_write(NULL, 0, text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_refused(weir_metrics_write(NULL, 1, text, 1), -EINVAL, "of is NULL", "");
	assert_refused(weir_metrics_write(bad, 2, text, 1), -EINVAL, "object 1 is NULL", "");
	assert_refused(exposition_of(bad[1], text, 1), -EINVAL, "object 0 is NULL", "");
	assert_refused(exposition_of(weir_metrics_guard(a, "store"), text, 1), -EINVAL,
	               "labels: byte 5", "");
	assert_refused(exposition_of(bad[0], NULL, 1), -EINVAL, "buffer is NULL", "");
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(a));
	assert_ok(weir_guard_destroy(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_equal_the_statistics),
		cmocka_unit_test(several_guards_in_one_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
