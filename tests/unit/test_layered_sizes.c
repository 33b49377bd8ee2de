/* SPDX-License-Identifier: MIT
 * Layered filters: size, legal shapes and progress. */
#include <errno.h>
#include <math.h>
#include "layered.h"

static void the_second_level_fits_in_max_bytes(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	(void)state;
	p.kind = WEIR_LAYERED;
	p.seed = SEED;
	p.capacity = KEYS;
	p.layered.exclude_keys = OTHERS;
	p.max_bytes = 8000;
	struct weir_filter *f = built(&p, KEYS, OTHERS, &r); /* with the widest cells that fit */
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	assert_true(s.bytes <= 8000 && s.bytes > 7500 && s.shape.field[0] > 8);
	assert_int_equal(found_in(f, 0, KEYS), KEYS);
	assert_int_equal(found_in(f, KEYS, OTHERS), 0);
	weir_destroy(f);
	p.layered.exclude_keys = 0; /* keys are excluded even though the plan expects none */
	p.fp_rate = 0.25;
	p.max_bytes = 1200;
	struct weir_builder *b = begun(&p, NULL);
	f = NULL;
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_refused(weir_builder_seal(b), -EFBIG, "max_bytes is 1200", "");
	weir_builder_destroy(b);
	p.max_bytes = 1600;
	b = begun(&p, NULL);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t k = 0; k < OTHERS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(KEYS + k)));
	assert_refused(weir_builder_finish(&f, b, NULL), -EFBIG, "max_bytes is 1600", "");
	weir_builder_destroy(b);
}

static void with_a_rate_max_bytes_is_only_a_limit(void **state)
{
	struct weir_params p = params(6);
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	struct weir_stats s = WEIR_STATS_INIT, limited = WEIR_STATS_INIT;
	struct weir_filter *f = built(&p, KEYS, OTHERS, &r);
	(void)state;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	weir_destroy(f);
	p.max_bytes = 1 << 20;
	f = built(&p, KEYS, OTHERS, &r);
	assert_ok(weir_measure(f, WEIR_SAMPLED, &limited));
	assert_int_equal(limited.bytes, s.bytes);
	weir_destroy(f);
}

/* ---- progress, known sizes, and shapes ---- */

static uint64_t calls, stop_at, done_last, total_last;

static int on_progress(void *seal, uint64_t done, uint64_t total)
{
	(void)seal;
	assert_true(done <= total);
	done_last = done;
	total_last = total;
	return ++calls == stop_at;
}

static int stopped_at(uint64_t call, bool *sealed)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	const struct weir_params p = params(2);
	struct weir_filter *f = NULL;
	calls = 0;
	stop_at = call;
	o.progress = on_progress;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k)));
	int err = weir_builder_seal(b);
	*sealed = !err;
	for (uint64_t k = 0; !err && k < KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(KEYS + k)));
	if (!err)
		err = weir_builder_finish(&f, b, NULL);
	assert_int_equal(!err, f != NULL);
	weir_builder_destroy(b);
	weir_destroy(f);
	return err;
}

static void progress_can_stop_seal_and_build(void **state)
{
	bool sealed, in_seal = false, in_finish = false;
	uint64_t all;
	(void)state;
	assert_ok(stopped_at(0, &sealed));
	all = calls;
	for (uint64_t call = 1; call <= all; call += all / 9) {
		assert_refused(stopped_at(call, &sealed), -ECANCELED, "", "");
		in_seal |= !sealed;
		in_finish |= sealed;
	}
	assert_true(in_seal && in_finish);
}

/* In the last call of progress of each stage, the numbers done and total are equal, although half
 * of the added keys are duplicates. */
static void progress_counts_duplicates_as_done(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params(1);
	(void)state;
	stop_at = 0;
	o.progress = on_progress;
	struct weir_builder *b = begun(&p, &o);
	for (uint64_t k = 0; k < 2 * KEYS; k++)
		assert_ok(weir_builder_add_hash(b, test_key(k / 2)));
	assert_ok(weir_builder_seal(b));
	assert_true(done_last == 3 * KEYS && total_last == 3 * KEYS);
	for (uint64_t k = 0; k < 2 * KEYS; k++)
		assert_ok(weir_builder_exclude_hash(b, test_key(KEYS + k / 2)));
	weir_destroy(finished(b, &r));
	assert_true(r.passed > KEYS / 3 && done_last == 3 * r.passed + KEYS);
	assert_int_equal(total_last, done_last);
}

static void plans_match_known_sizes(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_LAYERED;
	p.capacity = 11700000;
	p.layered.exclude_keys = 804300000;
	p.fp_rate = 0.5;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.shape.field[0], 6);
	assert_true(plan.bytes <= 13600000 && plan.bytes > 11050000);
	p.fp_rate = 0.001; /* 2^-(9 + 1) */
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.shape.field[0], 9);
	p.layered.exclude_keys = 0;
	p.fp_rate = 0.25;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.shape.field[0], 1);
	p.fp_rate = 1e-10;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "fp_rate 1e-10", "");
	p.fp_rate = 2.845e-9; /* too low for the capacity below, because of equal hashes */
	p.capacity = UINT64_C(17000000000);
	p.hash_bits = 63;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "at a capacity of 17000000000",
	               "32 bits at most");
	p.hash_bits = 0;
	p.fp_rate = 0.01;
	p.capacity = 0;
	p.max_bytes = 1 << 20;
	p.layered.fingerprint_bits = 2;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "fingerprint_bits 2: the rate is 0.125",
	               "fp_rate 0.01");
	p.layered.fingerprint_bits = 33;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "fingerprint_bits 33", "1 to 32");
	p.capacity = 1000;
	p.max_bytes = 64;
	p.fp_rate = 0;
	p.layered.fingerprint_bits = 20;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "max_bytes 64",
	               "fingerprints of 20 bits");
	p.layered.fingerprint_bits = 0;
	p.capacity = 11700000;
	p.max_bytes = 12000000; /* 8.2 bits per key */
	p.layered.exclude_keys = 804300000;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "max_bytes 12000000",
	               "804300000 excluded");
}

/* Return: the number of lines in all parts of a level. */
static uint64_t lines_of(uint32_t width, const uint32_t *segments)
{
	const uint64_t bits = ((uint64_t)segments[1] << segments[0]) * width;
	return (8 + (bits + 7) / 8 + 8 + 63) / 64 << segments[2];
}

/* Every part of the second level gets larger. */
static void remaining_bytes_enlarge_the_second_level(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.kind = WEIR_LAYERED;
	p.capacity = 9000000;
	for (p.max_bytes = 12000000; p.max_bytes < 13000000; p.max_bytes += 100000) {
		assert_ok(weir_plan_make(&p, &plan));
		const uint32_t *field = plan.shape.field;
		const uint64_t lines = lines_of(field[0], field + 1) + lines_of(1, field + 4);
		assert_true(field[6] > 0 && lines <= plan.bytes / 64);
		assert_true(plan.bytes <= p.max_bytes && 64 * lines > p.max_bytes / 100 * 99);
	}
}

static bool legal(unsigned field, uint32_t value)
{
	struct weir_shape shape = { WEIR_LAYERED, .field = { 6, 4, 3, 0, 4, 3, 0 } };
	char text[WEIR_SHAPE_TEXT];
	shape.field[field] = value;
	return weir_shape_text(&shape, text) == 0;
}

static void only_legal_shapes_are_accepted(void **state)
{
	static const uint32_t least[] = { 1, 0, 3, 0, 0, 3, 0 };
	static const uint32_t most[] = { 32, 18, 1 << 24, 28, 18, 1 << 24, 28 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(least); i++) {
		assert_true(legal(i, least[i]) && legal(i, most[i]));
		assert_false(legal(i, most[i] + 1) || legal(i, UINT32_MAX));
		assert_false(least[i] && legal(i, least[i] - 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_level_fits_in_max_bytes),
		cmocka_unit_test(with_a_rate_max_bytes_is_only_a_limit),
		cmocka_unit_test(progress_can_stop_seal_and_build),
		cmocka_unit_test(progress_counts_duplicates_as_done),
		cmocka_unit_test(plans_match_known_sizes),
		cmocka_unit_test(remaining_bytes_enlarge_the_second_level),
		cmocka_unit_test(only_legal_shapes_are_accepted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
