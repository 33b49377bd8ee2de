/* SPDX-License-Identifier: MIT
 * The metrics of handles, filters and the caller's objects: text that a strict parser accepts,
 * with the values of the statistics; invalid labels; buffers of every size. */
#include <math.h>
#include "../exposition.h"
#include "../followers.h"
#include "../image_bytes.h"

static struct weir_handle *h;
static struct exposition e;
static char text[32768];

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

static void read_metrics(const char *labels)
{
	int64_t n = exposition_of(weir_metrics_handle(h, labels), text, sizeof text);
	assert_ok(n);
	assert_int_equal(n, strlen(text));
	assert_true(n < 4096); /* the header promises this limit */
	assert_true(exposition_read(&e, text));
}

static double value_of(const char *series)
{
	const double *value = exposition_value(&e, series);
	if (!value)
		fail_msg("no %s", series);
	return *value;
}

static void test_metrics_equal_the_statistics(void **state)
{
	(void)state;
	insert_into(h, 0, 5000);
	assert_int_equal(weir_handle_refresh(h, path, NULL), -ENOENT);
	struct weir_handle_stats s = stats_of(h);
	read_metrics(NULL);
	assert_int_equal(e.n, 21);
	assert_int_equal(e.series, 21);
	assert_true(value_of("weir_generation") == 1);
	assert_true(value_of("weir_absent") == 0);
	assert_true(value_of("weir_age_seconds") >= s.age);
	assert_true(fabs(value_of("weir_keys") - figures_of(h).keys_estimated) < 1e-6);
	assert_true(value_of("weir_capacity_keys") == 10000);
	assert_true(fabs(value_of("weir_fill_ratio") - figures_of(h).fill) < 1e-12);
	assert_true(fabs(value_of("weir_fp_rate") - figures_of(h).fp_rate_estimated) < 1e-12);
	assert_true(value_of("weir_fp_rate_asked") == 0.01);
	assert_true(value_of("weir_saturated") == 0);
	assert_true(value_of("weir_nearly_full") == 0);
	assert_true(value_of("weir_previous_void") == 0);
	assert_true(value_of("weir_bytes") == (double)s.bytes);
	assert_true(value_of("weir_swaps_total") == 0);
	assert_true(value_of("weir_refused_total") == 0);
	assert_true(value_of("weir_failed_total") == 0);
	assert_true(value_of("weir_refused") == 1);
	assert_true(value_of("weir_refused_seconds") >= s.refused_since);
	assert_true(value_of("weir_last_reload_seconds") == 0);
	save(0, 11000);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	read_metrics("set=\"bad_ips\",z=\"a\\\"b\\\\\\n\xc3\xa9\"");
	assert_true(value_of("weir_generation{set=\"bad_ips\",z=\"a\\\"b\\\\\\n\xc3\xa9\"}") == 2);
	read_metrics("set=\"bad_ips\"");
	assert_true(value_of("weir_saturated{set=\"bad_ips\"}") == 1);
	assert_true(value_of("weir_refused{set=\"bad_ips\"}") == 0);
	assert_true(value_of("weir_refused_seconds{set=\"bad_ips\"}") == 0);
	assert_true(value_of("weir_last_reload_seconds{set=\"bad_ips\"}") > 0);
	assert_true(value_of("weir_swaps_total{set=\"bad_ips\"}") == 1);
	assert_true(value_of("weir_refused_total{set=\"bad_ips\"}") == 0);
	assert_true(image_spit(path, "nonsense", 8));
	assert_int_equal(weir_handle_refresh(h, path, NULL), -EBADMSG);
	read_metrics(NULL);
	assert_true(value_of("weir_swaps_total") == 1);
	assert_true(value_of("weir_refused_total") == 1);
}

static void test_metrics_before_the_first_set(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *without;
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.absent = WEIR_ABSENT_YES;
	assert_ok(weir_handle_create(&without, NULL, &o));
	assert_ok(exposition_of(weir_metrics_handle(without, NULL), text, sizeof text));
	assert_true(exposition_read(&e, text));
	assert_true(value_of("weir_absent") == 1);
	assert_true(value_of("weir_keys") == 0 && value_of("weir_saturated") == 0);
	assert_ok(weir_handle_destroy(without));
}

static void test_infinite_estimates_are_written(void **state)
{
	struct weir_handle *full;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 10, 0.01);
	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_handle_create(&full, f, NULL));
	assert_ok(exposition_of(weir_metrics_handle(full, NULL), text, sizeof text));
	assert_true(exposition_read(&e, text));
	assert_non_null(strstr(text, "\nweir_keys +Inf\n"));
	assert_ok(weir_handle_destroy(full));
}

/* Consecutive numbers used as hashes are not uniform. */
static void test_uneven_hashes_have_a_series(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(weir_insert_hash(f, i));
	assert_ok(exposition_of(weir_metrics_filter(f, NULL), text, sizeof text));
	assert_true(exposition_read(&e, text));
	assert_non_null(strstr(text, "\nweir_hashes_uneven 1\n"));
	weir_destroy(f);
}

static void test_several_handles_in_one_text(void **state)
{
	struct weir_handle *second = open_handle(flavors, 500);
	const struct weir_metrics sets[] = { weir_metrics_handle(h, "set=\"a\""),
	                                     weir_metrics_handle(second, "set=\"b\"") };
	(void)state;
	assert_ok(weir_metrics_write(sets, 2, text, sizeof text));
	assert_true(exposition_read(&e, text));
	assert_int_equal(e.n, 21);
	assert_int_equal(e.series, 42);
	assert_true(value_of("weir_capacity_keys{set=\"a\"}") == 10000);
	assert_true(value_of("weir_capacity_keys{set=\"b\"}") > 499);
	const struct weir_metrics bad[] = { sets[0], weir_metrics_handle(second, "set=b") };
	assert_refused(weir_metrics_write(bad, 2, text, sizeof text), -EINVAL, "labels: byte 4",
	               "no value");
	strcpy(text, "before");
	assert_int_equal(weir_metrics_write(NULL, 0, text, sizeof text), 0);
	assert_string_equal(text, "");
	close_handle(flavors, second);
}

static void test_filters_and_handles_share_metric_names(void **state)
{
	struct weir_filter *f = test_filter(WEIR_CUCKOO, 500, 0.01);
	struct weir_stats s = WEIR_STATS_INIT;
	(void)state;
	for (uint64_t i = 0; i < 480; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	const struct weir_metrics of[] = { weir_metrics_filter(f, "set=\"bare\""),
	                                   weir_metrics_handle(h, "set=\"a\"") };
	assert_ok(weir_metrics_write(of, 1, text, sizeof text));
	assert_true(exposition_read(&e, text));
	assert_int_equal(e.n, 10);
	assert_int_equal(e.series, 10);
	assert_true(value_of("weir_keys{set=\"bare\"}") == 480);
	assert_true(value_of("weir_capacity_keys{set=\"bare\"}") == 500);
	assert_true(fabs(value_of("weir_fill_ratio{set=\"bare\"}") - s.fill) < 1e-12);
	assert_true(fabs(value_of("weir_fp_rate{set=\"bare\"}") - s.fp_rate_estimated) < 1e-12);
	assert_true(value_of("weir_fp_rate_asked{set=\"bare\"}") == 0.01);
	assert_true(value_of("weir_saturated{set=\"bare\"}") == s.saturated);
	assert_true(s.nearly_full && value_of("weir_nearly_full{set=\"bare\"}") == 1);
	assert_true(value_of("weir_bytes{set=\"bare\"}") == (double)s.bytes);
	assert_true(value_of("weir_lookups{set=\"bare\"}") == 1);
	assert_ok(weir_metrics_write(of, 2, text, sizeof text));
	assert_true(exposition_read(&e, text)); /* each name occurs once */
	assert_int_equal(e.n, 21);
	assert_int_equal(e.series, 31);
	assert_true(value_of("weir_capacity_keys{set=\"a\"}") == 10000);
	assert_true(value_of("weir_capacity_keys{set=\"bare\"}") == 500);
	weir_destroy(f);
}

static int next_of_a_queue(const void *object, uint32_t i, struct weir_metric *out)
{
	const double *lengths = object;
	const struct weir_metric of[] = {
		{ "queue_length", "Jobs that wait.", lengths[0], 0, 0 },
		{ "queue_jobs_total", "Jobs, ever.", lengths[1], 1, 0 },
		{ "weir_bytes", "Another help.", lengths[2], 0, 0 },
	};
	if (i >= COUNT_OF(of))
		return 0;
	*out = of[i];
	return 1;
}

static void test_metrics_of_the_callers_objects(void **state)
{
	static const double a[] = { -INFINITY, 4e12, 7 }, b[] = { NAN, 0.5, NAN },
	                    none[] = { NAN, NAN, NAN };
	const struct weir_metrics of[] = {
		weir_metrics_handle(h, NULL),
		weir_metrics_other(a, next_of_a_queue, "queue=\"a\""),
		weir_metrics_other(b, next_of_a_queue, "queue=\"b\""),
	};
	(void)state;
	assert_ok(weir_metrics_write(of, 3, text, sizeof text));
	assert_true(exposition_read(&e, text));
	assert_int_equal(e.n, 23);
	assert_int_equal(e.series, 25);
	assert_non_null(strstr(text, "# HELP queue_length Jobs that wait.\n# TYPE queue_length "
	                       "gauge\nqueue_length{queue=\"a\"} -Inf\n#"));
	assert_non_null(strstr(text, "# TYPE queue_jobs_total counter\n"
	                       "queue_jobs_total{queue=\"a\"} 4000000000000\n"
	                       "queue_jobs_total{queue=\"b\"} 0.5\n"));
	assert_true(value_of("weir_bytes{queue=\"a\"}") == 7);
	assert_null(strstr(text, "Another help"));
	/* a metric without values is omitted, including its name */
	assert_int_equal(exposition_of(weir_metrics_other(none, next_of_a_queue, NULL), text,
	                               sizeof text), 0);
	struct weir_metrics bad[] = { of[0], of[1] };
	bad[1].next = NULL;
	assert_refused(weir_metrics_write(bad, 2, text, 1), -EINVAL, "object 1's function", "NULL");
	bad[1] = weir_metrics_other(NULL, next_of_a_queue, NULL);
	assert_refused(weir_metrics_write(bad, 2, text, 1), -EINVAL, "object 1 is NULL", "");
	bad[0].form = 4;
	assert_refused(weir_metrics_write(bad, 2, text, 1), -EINVAL, "object 0", "form 4");
}

/* The call always returns the length of the whole text. */
static void test_text_is_cut_to_the_buffer(void **state)
{
	char part[4096];
	(void)state;
	int64_t whole = exposition_of(weir_metrics_handle(h, "set=\"a\""), text, sizeof text);
	for (size_t room = 0; room <= (size_t)whole + 1; room++) {
		memset(part, 0x5a, sizeof part);
		int64_t n = exposition_of(weir_metrics_handle(h, "set=\"a\""),
		                          room ? part : NULL, room);
		/* the set has become older, so its age may have more or fewer digits */
		assert_true(n > 0 && llabs(n - whole) < 30);
		assert_int_equal(part[room], 0x5a);
		if (room)
			assert_true(strlen(part) == (room <= (size_t)n ? room - 1 : (size_t)n));
		assert_memory_equal(part, text, room > 200 ? 200 : room ? room - 1 : 0);
	}
}

static void test_malformed_labels_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "set", "byte 3: no =" }, { "set=", "byte 4: no value" },
		{ "set=a", "byte 4: no value" }, { "set=\"a", "byte 4: no value" },
		{ "set=\"a\",", "byte 8: no name" }, { "set=\"a\" ", "byte 7: no comma" },
		{ "set=\"a\",b", "byte 9: no =" }, { "1=\"a\"", "byte 0: no name" },
		{ "__name__=\"a\"", "byte 0: no name" }, { "=\"a\"", "byte 0: no name" },
		{ "a=\"1\",b=\"2\",a=\"3\"", "byte 12: a name is there twice" },
		{ "a=\"1\",b=\"2\",b=\"3\"", "byte 12: a name is there twice" },
		{ "a=\"\\x\"", "byte 2: no value" }, { "a=\"\\\"", "byte 2: no value" },
		{ "a=\"\\", "byte 2: no value" },
		{ "a=\"b\"}\nweir_keys 7\n# {c=\"d\"", "byte 6: not printable" },
		{ "a=\"\xff\"", "byte 3: not printable" },
		{ "a=\"\u202e\"", "byte 3: not printable" },
		{ "a=\"\U000e0001\"", "byte 3: not printable" }, /* the longest escape */
	};
	char labels[720] = "a=\"";
	(void)state;
	assert_true(exposition_of(weir_metrics_handle(h, ""), text, sizeof text) > 0);
	assert_non_null(strstr(text, "\nweir_keys 0"));
	/* names that share a prefix are different names */
	assert_ok(exposition_of(weir_metrics_handle(h, "ab=\"1\",a=\"2\",a3_b=\"3\""), text,
	                        sizeof text));
	for (unsigned i = 0; i < COUNT_OF(bad); i++)
		assert_refused(exposition_of(weir_metrics_handle(h, bad[i][0]), text, sizeof text),
		               -EINVAL, "labels: ", bad[i][1]);
	for (char *at = labels + 3; at < labels + 700; at += 2)
		memcpy(at, "\u00e9", 3);
	strcpy(labels + 701, "\"");
	assert_ok(exposition_of(weir_metrics_handle(h, labels), text, sizeof text));
	assert_true(exposition_read(&e, text));
	labels[700] = 'x'; /* overwrites the second byte of a character */
	assert_refused(exposition_of(weir_metrics_handle(h, labels), text, sizeof text), -EINVAL,
	               "labels: byte 699: ", "printable");
	assert_refused(exposition_of(weir_metrics_handle(NULL, NULL), text, 1), -EINVAL,
	               "object 0 is NULL", "");
	assert_refused(exposition_of(weir_metrics_handle(h, NULL), NULL, 1), -EINVAL,
	               "buffer is NULL", "");
	assert_refused(weir_metrics_write(NULL, 1, text, 1), -EINVAL, "of is NULL", "");
	assert_refused(weir_metrics_write(NULL, 0, NULL, 1), -EINVAL, "buffer is NULL", "");
	assert_int_equal(weir_metrics_write(NULL, 0, NULL, 0), 0);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_metrics_equal_the_statistics),
		fresh(test_metrics_before_the_first_set),
		fresh(test_infinite_estimates_are_written),
		fresh(test_uneven_hashes_have_a_series),
		fresh(test_several_handles_in_one_text),
		fresh(test_filters_and_handles_share_metric_names),
		fresh(test_metrics_of_the_callers_objects),
		fresh(test_text_is_cut_to_the_buffer),
		fresh(test_malformed_labels_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
