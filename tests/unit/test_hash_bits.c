/* SPDX-License-Identifier: MIT
 * The caller's own hashes with few different values. The filter's array does not show how many keys
 * have equal hashes, so the caller sets hash_bits for the planner and different_keys for a
 * builder. */
#include <math.h>
#include <weir/build.h>
#include "../handles.h"
#include "../sharded.h"

enum { KEYS = 100000, ABSENT = 100000, BITS = 22 };

/* asked: the requested rate. of_equal: the part of the rate that equal hashes cause, 0.0238. */
static const double asked = 0.04;
static const double of_equal = (double)KEYS / (1 << BITS);

static uint64_t of_bits(uint64_t i, unsigned bits)
{
	return test_key(test_key(i) >> (64 - bits));
}

static struct weir_params params_of(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.capacity = KEYS;
	p.fp_rate = asked;
	p.seed = 1;
	p.hash_bits = BITS;
	if (kind == WEIR_GROWING) {
		p.capacity = KEYS / 8;
		p.growing.max_capacity = KEYS;
	}
	if (kind == WEIR_SPLIT)
		p.seed = 0;
	return p;
}

static struct weir_filter *filled(const struct weir_params *p)
{
	struct weir_filter *f;
	uint64_t *hashes = malloc(KEYS * sizeof *hashes);
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = of_bits(i, BITS);
	if (weir_kind_can(p->kind, WEIR_CAN_BUILD)) {
		assert_ok(weir_build(&f, p, weir_keys_hashes(hashes, KEYS), NULL));
	} else {
		assert_ok(weir_create(&f, p));
		for (uint64_t at = 0; at < KEYS; at += KEYS / 7 + 1) {
			const uint64_t n = KEYS - at < KEYS / 7 + 1 ? KEYS - at : KEYS / 7 + 1;
			if (at && p->kind == WEIR_WINDOW)
				assert_true(weir_window_advance(f) >= 0);
			const struct weir_keys some = weir_keys_hashes(hashes + at, n);
			assert_true(weir_insert_keys(f, some, NULL) >= 0);
		}
	}
	free(hashes);
	return f;
}

static double rate_of(const struct weir_filter *f)
{
	uint64_t yes = 0;
	for (uint64_t i = KEYS; i < KEYS + ABSENT; i++)
		yes += weir_contains_hash(f, of_bits(i, BITS));
	return (double)yes / ABSENT;
}

static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_COUNTING, WEIR_GROWING,
	                          WEIR_CUCKOO, WEIR_FUSE, WEIR_LAYERED, WEIR_SPLIT,
	                          WEIR_FREQUENCY, WEIR_WINDOW };

/* The plan states which part of the rate comes from equal hashes. */
static void the_rate_includes_equal_hashes(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		const struct weir_params p = params_of(kinds[k]);
		struct weir_params plain = p, again = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT, of_plain = WEIR_PLAN_INIT;
		plain.hash_bits = 64;
		assert_ok(weir_plan_make(&p, &plan));
		assert_ok(weir_plan_make(&plain, &of_plain));
		assert_true(fabs(plan.fp_rate_floor / of_equal - 1) < 1e-9);
		assert_true(plan.fp_rate > of_equal && plan.fp_rate < 1.02 * asked);
		assert_true(of_plain.fp_rate_floor < 1e-12);
		assert_true(plan.bytes >= of_plain.bytes);
		struct weir_filter *f = filled(&p);
		const double measured = rate_of(f);
		print_message("%-10s %.4f of %.4f planned, %g asked\n", weir_kind_name(kinds[k]),
		              measured, plan.fp_rate, asked);
		assert_true(measured < 1.06 * asked);
		assert_true(measured > 0.9 * of_equal);
		if (weir_params_of(f, &again) == 0 && !weir_kind_can(kinds[k], WEIR_CAN_BUILD)) {
			assert_int_equal(again.hash_bits, 0);
			assert_ok(weir_plan_make(&again, &of_plain));
			assert_int_equal(of_plain.bytes, plan.bytes);
		}
		weir_destroy(f);
	}
}

/* With 0.1 % more keys, the rate would exceed the requested rate. */
static void bytes_and_rate_give_the_largest_capacity(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		struct weir_params p = params_of(kinds[k]);
		struct weir_plan plan = WEIR_PLAN_INIT, both = WEIR_PLAN_INIT;
		struct weir_filter *f;
		if (kinds[k] == WEIR_GROWING) /* a growing filter has the floor of max_capacity */
			continue;
		p.capacity = 0;
		p.max_bytes = 1 << 16;
		assert_ok(weir_plan_make(&p, &plan));
		assert_true(plan.fp_rate <= asked);
		p.capacity = plan.capacity;
		p.fp_rate = 0;
		assert_ok(weir_plan_make(&p, &both));
		assert_int_equal(both.bytes, plan.bytes);
		p.capacity = plan.capacity + 1 + plan.capacity / 1000;
		if (weir_plan_make(&p, &both) == 0)
			assert_true(both.fp_rate > asked);
		if (weir_kind_can(kinds[k], WEIR_CAN_BUILD))
			continue;
		p.capacity = 0;
		p.fp_rate = asked;
		assert_ok(weir_create(&f, &p));
		weir_destroy(f);
	}
}

static void sixty_hash_bits_cost_no_capacity(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		struct weir_params p = params_of(kinds[k]);
		struct weir_plan plain = WEIR_PLAN_INIT, plan = WEIR_PLAN_INIT;
		if (kinds[k] == WEIR_GROWING)
			continue;
		p.capacity = 0;
		p.max_bytes = 1024;
		p.hash_bits = 64;
		assert_ok(weir_plan_make(&p, &plain));
		p.hash_bits = 60;
		assert_ok(weir_plan_make(&p, &plan));
		assert_int_equal(plan.capacity, plain.capacity);
	}
}

/* Equal hashes cause fp_rate_floor, and the layout causes the rest of fp_rate. The rest must be at
 * least 1e-9. */
static void the_rate_above_the_floor_has_a_minimum(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		struct weir_params p = params_of(kinds[k]);
		struct weir_plan plan = WEIR_PLAN_INIT;
		assert_ok(weir_plan_make(&p, &plan));
		p.fp_rate = plan.fp_rate_floor + 5e-10;
		assert_refused(weir_plan_make(&p, &plan), -EINVAL, "hashes of 22 bits", "0.0238");
	}
}

static void too_low_a_rate_is_refused(void **state)
{
	struct weir_params p = params_of(WEIR_BLOCKED);
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f;
	(void)state;
	p.fp_rate = 0.02;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "hashes of 22 bits", "0.0238");
	assert_refused(weir_create(&f, &p), -EINVAL, "hashes of 22 bits", "0.0238");
	p.fp_rate = 0.001;
	p.capacity = 0;
	p.max_bytes = 64;
	p.hash_bits = 8;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "hashes of 8 bits", "0.0039");
	p.fp_rate = 0;
	p.capacity = 200;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "hash_bits 8", "0.5 is the most");
	p.hash_bits = 7;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "hash_bits 7", "8 to 64");
	p.hash_bits = 65;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "hash_bits 65", "8 to 64");
}

/* Some hash bits choose the shard, so the hashes within a shard have fewer values. */
static void shards_have_the_rate_of_one_filter(void **state)
{
	(void)state;
	for (int built = 0; built < 2; built++) {
		struct weir_params p = params_of(built ? WEIR_FUSE : WEIR_BLOCKED);
		struct weir_handle *set;
		uint64_t yes = 0;
		if (built)
			p.capacity = 0;
		assert_ok(sharded_create(&set, &p, 4, NULL));
		for (uint32_t shard = 0; shard < 4; shard++) {
			struct weir_reload *r;
			assert_ok(shard_begin(&r, set, shard, NULL));
			for (uint64_t i = 0; i < KEYS; i++)
				if (weir_handle_shard(set, of_bits(i, BITS)) == shard)
					assert_ok(weir_reload_insert_hash(r, of_bits(i, BITS)));
			assert_ok(weir_reload_commit(r));
		}
		for (uint64_t i = 0; i < ABSENT; i++)
			yes += weir_handle_contains_hash(set, of_bits(KEYS + i, BITS));
		print_message("4 shards: %.4f\n", (double)yes / ABSENT);
		assert_true((double)yes / ABSENT < 1.06 * asked);
		assert_true((double)yes / ABSENT > 0.9 * of_equal);
		assert_ok(weir_handle_destroy(set));
	}
}

static int build(const struct weir_params *p, uint64_t keys, unsigned bits, uint64_t different,
                 bool allowed)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_builder *b;
	struct weir_filter *f = NULL;
	o.different_keys = different;
	o.allow_uneven = allowed;
	assert_ok(weir_builder_create(&b, p, &o));
	for (uint64_t i = 0; i < keys; i++)
		assert_ok(weir_builder_add_hash(b, of_bits(i, bits)));
	int err = weir_builder_finish(&f, b, NULL);
	weir_builder_destroy(b);
	weir_destroy(f);
	return err;
}

static void a_builder_checks_the_number_of_values(void **state)
{
	struct weir_params p = params_of(WEIR_FUSE);
	struct weir_error_info last = WEIR_ERROR_INFO_INIT;
	(void)state;
	p.capacity = 0;
	p.hash_bits = 0;
	/* without different_keys, the builder takes equal hashes for duplicates of a key */
	assert_ok(build(&p, KEYS, BITS, 0, false));
	assert_ok(build(&p, KEYS, BITS, KEYS, false)); /* equal hashes add 0.024 to the rate */
	assert_ok(build(&p, KEYS, 64, KEYS, false));
	assert_ok(build(&p, KEYS, 64, KEYS / 2, false));
	assert_refused(build(&p, KEYS, 20, KEYS, false), -EDOM, "different_keys 100000",
	               "if of 2^20 values, which adds 0.09");
	weir_error_last(&last);
	assert_int_equal(last.code, WEIR_ERROR_UNEVEN);
	assert_ok(build(&p, KEYS, 20, KEYS, true));
	p.fp_rate = 0.001;
	assert_refused(build(&p, KEYS, BITS, KEYS, false), -EDOM, "of 2^22", "values");
	/* hash_bits tells the planner that equal hashes alone have a rate of 0.0238 */
	p.fp_rate = 0.0248;
	p.hash_bits = BITS;
	assert_ok(build(&p, KEYS, BITS, KEYS, false));
	p.capacity = KEYS;
	assert_ok(build(&p, KEYS, BITS, KEYS, false));
	assert_refused(build(&p, KEYS, BITS - 2, KEYS, false), -EDOM, "of 2^20", "values");
}

/* @keys: gets the number of different hashes. Return: the bytes of the filter. */
static uint64_t bytes_built(const struct weir_params *p, uint64_t *keys)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_builder *b;
	struct weir_filter *f;
	assert_ok(weir_builder_create(&b, p, &o));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_builder_add_hash(b, of_bits(i, BITS)));
	assert_ok(weir_builder_finish(&f, b, &report));
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	*keys = report.keys;
	weir_builder_destroy(b);
	weir_destroy(f);
	return s.bytes;
}

static void without_a_capacity_the_builder_plans_after_counting(void **state)
{
	static const uint32_t built[] = { WEIR_FUSE, WEIR_LAYERED };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(built); k++) {
		struct weir_params p = params_of(built[k]);
		uint64_t keys;
		p.fp_rate = 0.0248; /* equal hashes alone have a rate of 0.0238 */
		p.capacity = 0;
		const uint64_t open = bytes_built(&p, &keys);
		p.capacity = keys;
		assert_int_equal(bytes_built(&p, &keys), open);
		p.hash_bits = 64;
		assert_true(bytes_built(&p, &keys) < open);
	}
}

/* With hash_bits 32, 2^48 different keys can have only 2^32 hashes. The builder still refuses a
 * set of 2^48 keys or more that has only 1000 different hashes. */
static void hash_bits_excuse_at_most_a_rate_of_one_half(void **state)
{
	static const uint64_t different[] = { UINT64_C(1) << 48, UINT64_MAX };
	struct weir_params p = params_of(WEIR_FUSE);
	(void)state;
	p.capacity = 0;
	p.hash_bits = 32;
	assert_ok(build(&p, 1000, 32, 1000, false));
	for (size_t i = 0; i < COUNT_OF(different); i++) {
		assert_refused(build(&p, 1000, 32, different[i], false), -EDOM, "different_keys",
		               "only 1000 hashes differ");
		assert_ok(build(&p, 1000, 32, different[i], true));
	}
}

static void hash_bits_of_a_shard_are_at_least_8(void **state)
{
	static const uint32_t shards[] = { 4, 1024 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(shards); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_handle *set = NULL;
		p.capacity = 4, p.fp_rate = 0.4, p.seed = 7, p.hash_bits = 9;
		assert_ok(sharded_create(&set, &p, shards[i], NULL));
		assert_int_equal(weir_handle_insert_hash(set, UINT64_C(5) << 55), WEIR_NEW);
		assert_true(weir_handle_contains_hash(set, UINT64_C(5) << 55));
		assert_ok(weir_handle_destroy(set));
		p.kind = WEIR_FUSE, p.capacity = 0; /* a builder counts the hashes itself */
		assert_ok(sharded_create(&set, &p, shards[i], NULL));
		assert_ok(weir_handle_destroy(set));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rate_includes_equal_hashes),
		cmocka_unit_test(bytes_and_rate_give_the_largest_capacity),
		cmocka_unit_test(sixty_hash_bits_cost_no_capacity),
		cmocka_unit_test(the_rate_above_the_floor_has_a_minimum),
		cmocka_unit_test(too_low_a_rate_is_refused),
		cmocka_unit_test(shards_have_the_rate_of_one_filter),
		cmocka_unit_test(hash_bits_of_a_shard_are_at_least_8),
		cmocka_unit_test(a_builder_checks_the_number_of_values),
		cmocka_unit_test(without_a_capacity_the_builder_plans_after_counting),
		cmocka_unit_test(hash_bits_excuse_at_most_a_rate_of_one_half),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
