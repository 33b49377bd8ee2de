/* SPDX-License-Identifier: MIT
 * Fuse filters of every width from 1 to 32 bits, and of sizes from 0 to 2,500,000 keys. Each filter
 * can be built and has all its keys. Filters of each width have at most their planned rate. */
#include <errno.h>
#include <math.h>
#include "../test.h"

static struct weir_params params(unsigned width)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_FUSE;
	p.fp_rate = fmax(ldexp(1, -(int)width), 1e-9);
	p.fuse.fingerprint_bits = width;
	p.seed = 7;
	return p;
}

static struct weir_stats stats_of(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

static struct weir_filter *built(const struct weir_params *p, const uint64_t *hashes, size_t n)
{
	struct weir_filter *f = NULL;
	assert_ok(weir_build(&f, p, weir_keys_hashes(hashes, n), NULL));
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		assert_true(weir_contains_hash(f, hashes[i]));
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL), n);
	return f;
}

/* Random numbers by splitmix64, starting from @state. */
static void fill(uint64_t *hashes, size_t n, uint64_t state)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t x = state += UINT64_C(0x9E3779B97F4A7C15);
		x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
		x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
		hashes[i] = x ^ x >> 31;
	}
}

enum { MOST = 40000 };
static uint64_t hashes[MOST];

static void every_small_size_can_be_built(void **state)
{
	const struct weir_params p = params(8);
	(void)state;
	for (size_t n = 0; n <= 5000; n += n < 600 ? 1 : 7) {
		fill(hashes, n, n);
		struct weir_filter *f = built(&p, hashes, n);
		struct weir_stats s = stats_of(f);
		assert_int_equal(s.capacity, n ? n : 1);
		assert_true(fabs(s.keys_estimated - (double)n) <= 1 + 0.4 * sqrt((double)n));
		assert_true(n < 1000 || 8.0 * (double)s.bytes / (double)n < 14);
		weir_destroy(f);
	}
}

static void sizes_at_which_other_implementations_fail_can_be_built(void **state)
{
	const struct weir_params p = params(8);
	(void)state;
	for (size_t n = 11480; n <= 11521; n++) {
		fill(hashes, n, n);
		weir_destroy(built(&p, hashes, n));
	}
	fill(hashes, 37453, 1);
	weir_destroy(built(&p, hashes, 37453));
	fill(hashes, 11515, 28909);
	weir_destroy(built(&p, hashes, 11515));
}

static void every_width_keeps_its_rate(void **state)
{
	enum { KEYS = 3000, ABSENT = 200000 };
	(void)state;
	fill(hashes, KEYS, 3);
	for (unsigned width = 1; width <= 32; width++) {
		const struct weir_params p = params(width);
		const double odds = ldexp(1, -(int)width), expected = odds * ABSENT;
		struct weir_filter *f = built(&p, hashes, KEYS);
		uint64_t found = 0;
		for (uint64_t i = 0; i < ABSENT; i++)
			found += weir_contains_hash(f, test_key(i));
		assert_true((double)found < expected + 5 * sqrt(expected) + 3);
		assert_true((double)found > 0.96 * expected - 5 * sqrt(expected));
		assert_int_equal(stats_of(f).shape.field[0], width);
		assert_true(stats_of(f).fp_rate_estimated == odds);
		weir_destroy(f);
	}
}

static void order_and_duplicates_do_not_change_the_bits(void **state)
{
	enum { KEYS = 10000 };
	struct weir_params p = params(8);
	struct weir_plan plan = WEIR_PLAN_INIT;
	uint64_t *twice = malloc(2 * KEYS * sizeof *twice);
	(void)state;
	p.capacity = KEYS;
	assert_ok(weir_plan_make(&p, &plan));
	assert_non_null(twice);
	fill(hashes, KEYS, 9);
	for (unsigned i = 0; i < KEYS; i++)
		twice[i] = hashes[KEYS - 1 - i], twice[KEYS + i] = hashes[i];
	void *bits[2];
	for (unsigned i = 0; i < 2; i++) {
		bits[i] = aligned_alloc(64, plan.bytes);
		assert_non_null(bits[i]);
		p.memory = bits[i];
		p.memory_bytes = plan.bytes;
		weir_destroy(built(&p, i ? twice : hashes, i ? 2 * KEYS : KEYS));
	}
	assert_memory_equal(bits[0], bits[1], plan.bytes);
	free(bits[0]);
	free(bits[1]);
	free(twice);
}

static void a_large_filter_has_several_parts(void **state)
{
	enum { KEYS = 2500000 };
	struct weir_params p = params(8);
	uint64_t *many = malloc(KEYS * sizeof *many);
	(void)state;
	assert_non_null(many);
	fill(many, KEYS, 5);
	struct weir_filter *f = built(&p, many, KEYS);
	struct weir_stats s = stats_of(f), sample = WEIR_STATS_INIT;
	assert_int_equal(s.shape.field[3], 1); /* the value is part_bits */
	assert_true(8.0 * (double)s.bytes / KEYS < 9.15);
	assert_true(fabs(s.keys_estimated / KEYS - 1) < 0.001);
	assert_ok(weir_measure(f, WEIR_SAMPLED, &sample));
	assert_true(sample.sampled < 1 && fabs(sample.keys_estimated / KEYS - 1) < 0.03);
	assert_false(sample.saturated);
	weir_destroy(f);
	free(many);
}

static void not_built(const struct weir_params *p, size_t n, int err, const char *names,
                      const char *value)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	o.allow_uneven = true;
	assert_refused(weir_build(&f, p, weir_keys_hashes(hashes, n), &o), err, names, value);
	assert_null(f);
}

static void too_small_limits_and_wrong_widths_fail(void **state)
{
	struct weir_params p = params(8);
	(void)state;
	fill(hashes, 3000, 1);
	p.capacity = 2999;
	not_built(&p, 3000, -ENOSPC, "capacity 2999", "3000 different keys");
	p.capacity = 0;
	p.max_bytes = 3000;
	not_built(&p, 3000, -EFBIG, "max_bytes is 3000", "needs");
	p.fp_rate = 0;
	not_built(&p, 3000, -EFBIG, "max_bytes 3000", "8 bits");
	p = params(33);
	p.fp_rate = 0.01;
	not_built(&p, 3000, -EINVAL, "fingerprint_bits 33", "1 to 32");
	p = params(8);
	p.fp_rate = 0.001;
	not_built(&p, 3000, -EINVAL, "fingerprint_bits 8", "0.0039");
	for (uint64_t i = 0; i < 3000; i++)
		hashes[i] = i; /* a sequence of numbers instead of hashes */
	p = params(8);
	not_built(&p, 3000, -ENOSPC, "3000 keys", "look up by those too");
}

/* Regression: the table that finds duplicates multiplied each hash by 2^64 / golden ratio, modulo
 * 2^64. For these hashes the products are small, so all hashes came into one slot and the build
 * took minutes. */
static void hashes_that_are_alike_when_multiplied_build_fast(void **state)
{
	enum { SIDE = 1024 };
	const struct weir_params p = params(8);
	uint64_t *alike = malloc(sizeof *alike * SIDE * SIDE);
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	o.allow_uneven = true;
	assert_non_null(alike);
	for (uint64_t i = 0; i < SIDE * SIDE; i++) {
		alike[i] = i / SIDE * UINT64_C(0xa8a2288097) + i % SIDE * UINT64_C(0x53f887addb);
		assert_true(alike[i] * UINT64_C(0x9E3779B97F4A7C15) >> 43 == 0);
	}
	assert_refused(weir_build(&f, &p, weir_keys_hashes(alike, SIDE * SIDE), &o), -ENOSPC,
	               "1048576 keys", "look up by those too");
	free(alike);
}

static void inserts_are_refused(void **state)
{
	const struct weir_params p = params(8);
	(void)state;
	fill(hashes, 100, 1);
	struct weir_filter *f = built(&p, hashes, 100), *copy = NULL;
	assert_refused(weir_insert(f, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	assert_refused(weir_insert_keys(f, weir_keys_hashes(hashes, 3), NULL), -ENOTSUP,
	               "kind fuse", "inserts");
	assert_refused(weir_fill_keys(f, weir_keys_hashes(hashes, 3)), -ENOTSUP, "kind fuse",
	               "inserts");
	assert_refused(weir_merge(f, f), -ENOTSUP, "kind fuse", "merge");
	assert_refused(weir_fold(&copy, f, 2), -ENOTSUP, "kind fuse", "fold");
	assert_ok(weir_clone(&copy, f));
	assert_int_equal(weir_contains_keys(copy, weir_keys_hashes(hashes, 100), NULL), 100);
	weir_destroy(copy);
	weir_destroy(f);
}

static void the_planner_chooses_the_width(void **state)
{
	static const struct {
		double fp_rate;
		unsigned width;
	} rows[] = { { 0.5, 1 },      { 0.1, 4 },    { 0.03, 6 },    { 0.01, 8 },  { 1 / 256.0, 8 },
		     { 0.001, 10 },   { 1e-4, 16 },  { 1e-5, 17 },   { 1e-6, 20 }, { 1e-9, 32 },
		     { 0x1p-16, 16 }, { 0x1p-19, 19 } };
	struct weir_params p = params(0);
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.capacity = 1000000;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		p.fp_rate = rows[i].fp_rate;
		assert_ok(weir_plan_make(&p, &plan));
		assert_int_equal(plan.shape.field[0], rows[i].width);
		assert_true(plan.fp_rate <= rows[i].fp_rate * 1.00001);
		assert_true(plan.bits_per_key < 1.145 * rows[i].width);
	}
	p.fp_rate = 0;
	p.max_bytes = 1130000;
	assert_ok(weir_plan_make(&p, &plan));
	assert_true(plan.shape.field[0] == 7 && plan.bytes <= p.max_bytes);
	p.capacity = 0;
	p.fp_rate = 0.01;
	assert_ok(weir_plan_make(&p, &plan));
	assert_true(plan.capacity > 990000 && plan.capacity < 1000000);
	p.max_bytes = UINT64_C(1) << 46; /* only the rate limits the capacity */
	p.fp_rate = 1e-9;
	assert_ok(weir_plan_make(&p, &plan));
	assert_true(plan.capacity > UINT64_C(14000000000) &&
	            plan.capacity < UINT64_C(15000000000));
	p.capacity = UINT64_C(15000000000); /* with this many keys, 63-bit hashes often collide */
	p.max_bytes = 0;
	p.fp_rate = 2.65e-9;
	p.hash_bits = 63;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "at a capacity of 15000000000",
	               "32 bits at most");
	p.hash_bits = 0;
	p.capacity = 1000; /* an impossible width is reported before hash_bits */
	p.fp_rate = 0.01;
	p.hash_bits = 40;
	p.fuse.fingerprint_bits = 2;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "fingerprint_bits 2", "fp_rate");
	p.fuse.fingerprint_bits = 0;
	p.hash_bits = 0;
	p.capacity = 0;
	p.fp_rate = 0.01;
	p.max_bytes = 64;
	p.fp_rate = 1e-9;
	/* even at the lowest rate, one line has room for a key */
	assert_ok(weir_plan_make(&p, &plan));
	assert_true(plan.capacity >= 1);
	p.shards = 4; /* each shard needs at least one line */
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "64", "");
	/* the filter has four parts, which use three lines less than max_bytes allows */
	p.capacity = 5000000;
	p.fp_rate = 0;
	p.shards = 1;
	p.max_bytes = UINT64_C(64) * 100003;
	assert_ok(weir_plan_make(&p, &plan));
	assert_true(plan.shape.field[3] == 2 && plan.bytes == UINT64_C(64) * 100000);
}

static void shape_texts_name_the_parts(void **state)
{
	static const struct { uint32_t bits, part_bits; const char *text; } rows[] = {
		{ 1, 0, "fingerprints of 1 bit in 1 part" },
		{ 8, 2, "fingerprints of 8 bits in 4 parts" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct weir_shape s = { WEIR_FUSE, .field = { rows[i].bits, 4, 24,
			                                            rows[i].part_bits } };
		char text[WEIR_SHAPE_TEXT];
		assert_ok(weir_shape_text(&s, text));
		assert_true(strncmp(text, rows[i].text, strlen(rows[i].text)) == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_small_size_can_be_built),
		cmocka_unit_test(sizes_at_which_other_implementations_fail_can_be_built),
		cmocka_unit_test(every_width_keeps_its_rate),
		cmocka_unit_test(order_and_duplicates_do_not_change_the_bits),
		cmocka_unit_test(a_large_filter_has_several_parts),
		cmocka_unit_test(too_small_limits_and_wrong_widths_fail),
		cmocka_unit_test(hashes_that_are_alike_when_multiplied_build_fast),
		cmocka_unit_test(inserts_are_refused),
		cmocka_unit_test(the_planner_chooses_the_width),
		cmocka_unit_test(shape_texts_name_the_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
