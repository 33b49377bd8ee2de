/* SPDX-License-Identifier: MIT
 * Failures in a handle's statistics: the error message of the last failure, for how long
 * refreshes and reloads have failed without a success, and how long the last reload took. */
#include "../followers.h"
#include "../image_bytes.h"

static struct weir_handle *h;

static int open_it(void **state)
{
	(void)setup(state);
	h = open_handle(flavors, 10000);
	return 0;
}

static int close_it(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

/* Asserts that calls have failed for at least @seconds, and that the last error message contains
 * @part. */
static void refused_since(double seconds, const char *part)
{
	struct weir_handle_stats s = stats_of(h);
	if (!(s.refused_since > seconds) || s.refused_since > seconds + patience ||
	    !strstr(s.refused_sentence, part))
		fail_msg("since %g, \"%s\", where %g with \"%s\" was due", s.refused_since,
		         s.refused_sentence, seconds, part);
}

static void not_refused_after(const char *part)
{
	struct weir_handle_stats s = stats_of(h);
	assert_true(s.refused_since == 0);
	assert_non_null(strstr(s.refused_sentence, part));
}

static void test_the_last_failure_and_its_time_are_reported(void **state)
{
	struct weir_handle_stats s = stats_of(h);
	(void)state;
	assert_true(s.refused_since == 0);
	assert_string_equal(s.refused_sentence, "");
	assert_int_equal(weir_handle_refresh(h, path, NULL), -ENOENT);
	refused_since(0, "no such file");
	assert_int_equal(stats_of(h).refused, 0); /* a missing file is not remembered as refused */
	usleep(20000);
	assert_true(image_spit(path, "nonsense", 8));
	assert_int_equal(weir_handle_refresh(h, path, NULL), -EBADMSG);
	assert_string_equal(stats_of(h).refused_sentence, weir_error_detail());
	refused_since(0.02, "check the path"); /* the time since the first failure */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	refused_since(0.02, "check the path");
	save(0, 10);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	not_refused_after("check the path");
}

/* A refresh of a missing file fails between two refreshes of one file. The file still counts as
 * accepted if the handle accepted it, and as refused if the handle refused it. */
static void test_a_file_that_is_reachable_again(void **state)
{
	(void)state;
	save(0, 10);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(weir_handle_refresh(h, other, NULL), -ENOENT);
	refused_since(0, "no such file");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	not_refused_after("no such file");
	assert_true(image_spit(path, "nonsense", 8));
	assert_int_equal(weir_handle_refresh(h, path, NULL), -EBADMSG);
	assert_int_equal(weir_handle_refresh(h, other, NULL), -ENOENT);
	assert_int_equal(weir_handle_refresh(h, path, NULL), -EBADMSG);
	refused_since(0, "check the path");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
}

/* The handle does not read a refused file again. */
static void test_a_refused_file_keeps_counting_as_refused(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	(void)state;
	p.capacity = 100, p.fp_rate = 0.01, p.seed = 7; /* differs from the handle's seed */
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_int_equal(weir_handle_refresh(h, path, NULL), -EINVAL);
	for (unsigned i = 0; i < 3; i++) {
		usleep(1000);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
		refused_since(0.001 * (i + 1), "--like");
	}
	assert_int_equal(stats_of(h).refused, 1);
}

static int refuse(const struct weir_filter *next, void *context)
{
	(void)next, (void)context;
	return 7;
}

static void test_a_refused_commit_counts_as_refused(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_reload *r;
	(void)state;
	gate.check = refuse;
	o.gate = &gate;
	save(0, 10);
	for (unsigned turn = 0; turn < 3; turn++) {
		assert_ok(weir_reload_begin(&r, h, &o));
		/* the error -EBUSY does not count as a failure */
		assert_int_equal(weir_handle_refresh(h, path, NULL), -EBUSY);
		if (turn == 0)
			assert_string_equal(stats_of(h).refused_sentence, "");
		assert_int_equal(weir_reload_commit(r), -ECANCELED);
		refused_since(0, "check answered 7");
	}
	assert_ok(weir_reload_begin(&r, h, NULL));
	weir_reload_abort(r);
	refused_since(0, "check answered 7");
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_ok(weir_reload_commit(r));
	not_refused_after("check answered 7");
}

static void test_the_time_of_the_last_reload_is_reported(void **state)
{
	struct weir_reload *r;
	(void)state;
	assert_true(stats_of(h).last_reload == 0);
	assert_ok(weir_reload_begin(&r, h, NULL));
	usleep(30000);
	assert_true(stats_of(h).last_reload == 0);
	assert_ok(weir_reload_commit(r));
	assert_true(stats_of(h).last_reload > 0.03);
	assert_true(stats_of(h).last_reload < patience);
	save(0, 10);
	double begun = now();
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_true(stats_of(h).last_reload > 0);
	assert_true(stats_of(h).last_reload <= now() - begun);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_the_last_failure_and_its_time_are_reported),
		fresh(test_a_file_that_is_reachable_again),
		fresh(test_a_refused_file_keeps_counting_as_refused),
		fresh(test_a_refused_commit_counts_as_refused),
		fresh(test_the_time_of_the_last_reload_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
