/* SPDX-License-Identifier: MIT
 * Invalid parameters. Each is refused with its errno and an error message that names the
 * parameter, the value and the allowed range. The tests also cover how weir_plan_make() computes
 * capacity, rate or size from the other two. */
#include <errno.h>
#include <math.h>
#include "../test.h"
#include "../kinds/kind.h"

static struct weir_params good(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	params.capacity = 1000;
	params.fp_rate = 0.01;
	return params;
}

static void refused(const struct weir_params *params, int err, const char *name, const char *value,
                    const char *range)
{
	struct weir_filter *untouched = (void *)&err, *f = untouched;
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_refused(weir_create(&f, params), err, name, value);
	assert_ptr_equal(f, untouched);
	/* the planner refuses the same parameters */
	assert_refused(weir_plan_make(params, &plan), err, name, value);
	if (!strstr(weir_error_detail(), range))
		fail_msg("\"%s\" does not say \"%s\"", weir_error_detail(), range);
}

static void wrong_capacities_are_refused(void **state)
{
	static const struct { uint64_t capacity; const char *value;
	} cases[] = {
		{ (UINT64_C(1) << 48) + 1, "281474976710657" },
		{ UINT64_C(1) << 63, "9223372036854775808" },
		{ UINT64_MAX, "18446744073709551615" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct weir_params params = good();
		params.capacity = cases[i].capacity;
		refused(&params, -EINVAL, "capacity", cases[i].value, "2^48");
	}
	struct weir_params params = good();
	params.capacity = 0;
	refused(&params, -EINVAL, "capacity", "0", "two");
}

static void wrong_rates_are_refused(void **state)
{
	static const struct { double rate; const char *value;
	} cases[] = {
		{ 1, "1" },
		{ 0.50001, "0.5" },
		{ 2, "2" },
		{ -0.01, "-0.01" },
		{ 1e-300, "1e-300" },
		{ 9.9e-10, "9.9e-10" },
		{ (double)NAN, "nan" },
		{ (double)INFINITY, "inf" },
		{ -(double)INFINITY, "-inf" },
		{ 4.9406564584124654e-324, "4.94065" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct weir_params params = good();
		params.fp_rate = cases[i].rate;
		refused(&params, -EINVAL, "fp_rate", cases[i].value, "to 0.5");
		params.capacity = 0;
		/* the planner now computes the capacity from size and rate */
		params.max_bytes = 6400;
		refused(&params, -EINVAL, "fp_rate", cases[i].value, "0.5");
	}
	struct weir_params params = good();
	params.fp_rate = 0;
	refused(&params, -EINVAL, "fp_rate", "0", "two");
}

static void wrong_sizes_are_refused(void **state)
{
	static const struct { uint64_t bytes; const char *value;
	} cases[] = {
		{ 1, "1" },
		{ 63, "63" },
		{ (UINT64_C(1) << 46) + 64, "70368744177728" },
		{ UINT64_C(1) << 63, "9223372036854775808" },
		{ UINT64_MAX, "18446744073709551615" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct weir_params params = good();
		params.max_bytes = cases[i].bytes;
		refused(&params, -EINVAL, "max_bytes", cases[i].value, "64");
		params.fp_rate = 0;
		refused(&params, -EINVAL, "max_bytes", cases[i].value, "2^46");
	}
	struct weir_params params = good();
	params.max_bytes = 640; /* too low for 1000 keys at 1 % */
	refused(&params, -EFBIG, "max_bytes", "640", "needs");
	/* The message names the smallest size that suffices, even with several shards. A size with
	 * one line less is refused. */
	params.capacity = 1000000;
	refused(&params, -EFBIG, "max_bytes", "640", "needs");
	params.max_bytes = strtoull(strstr(weir_error_detail(), "needs ") + 6, NULL, 10);
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_plan_make(&params, &plan));
	params.max_bytes -= 64;
	assert_refused(weir_plan_make(&params, &plan), -EFBIG, "max_bytes", "needs");
}

static void two_of_capacity_rate_and_size_are_needed(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	refused(&params, -EINVAL, "capacity", "fp_rate", "max_bytes");
	params.capacity = 10;
	refused(&params, -EINVAL, "fp_rate", "max_bytes", "two");
	params = (struct weir_params)WEIR_PARAMS_INIT, params.max_bytes = 640;
	refused(&params, -EINVAL, "capacity", "fp_rate", "two");
	params = (struct weir_params)WEIR_PARAMS_INIT, params.fp_rate = 0.1;
	refused(&params, -EINVAL, "capacity", "max_bytes", "two");
}

static void wrong_layouts_are_refused(void **state)
{
	static const uint32_t no_z[] = { 3, 5, 6, 7, 9, 16, UINT32_MAX };
	static const struct { uint32_t z, g; const char *value, *range;
	} no_g[] = {
		{ 1, 11, "11", "10" },
		{ 2, 11, "11", "10" },
		{ 4, 6, "6", "5" },
		{ 8, 3, "3", "2" },
		{ 2, UINT32_MAX, "4294967295", "10" },
	};
	char value[16];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(no_z); i++) {
		struct weir_params params = good();
		params.blocked.words_per_key = no_z[i];
		snprintf(value, sizeof value, "%u", no_z[i]);
		refused(&params, -EINVAL, "words_per_key", value, "1, 2, 4 or 8");
	}
	for (size_t i = 0; i < COUNT_OF(no_g); i++) {
		struct weir_params params = good();
		params.blocked.words_per_key = no_g[i].z;
		params.blocked.bits_per_word = no_g[i].g;
		refused(&params, -EINVAL, "bits_per_word", no_g[i].value, no_g[i].range);
	}
	struct weir_params params = good();
	params.blocked.bits_per_word = 11; /* too many for any number of words per key */
	refused(&params, -EINVAL, "bits_per_word", "11", "10");
	params = good(), params.kind = WEIR_CLASSIC, params.classic.probes = 33;
	refused(&params, -EINVAL, "probes", "33", "32");
	params = good(), params.kind = WEIR_CLASSIC, params.blocked.words_per_key = 2;
	refused(&params, -EINVAL, "words_per_key", "2", "classic");
}

#define FIELD(kind, field) \
	{ #field, offsetof(struct weir_params, field), \
	  sizeof ((struct weir_params *)0)->field, kind }
#define NO_KIND UINT32_MAX
enum { BEFORE_RUN_RESERVED = 2 }; /* bytes of padding before run.reserved */
static const struct field {
	const char *name;
	size_t at, size;
	uint32_t kind; /* the only kind with this field */
} fields[] = {
	FIELD(WEIR_BLOCKED, blocked.words_per_key), FIELD(WEIR_BLOCKED, blocked.bits_per_word),
	FIELD(NO_KIND, blocked.reserved),
	FIELD(WEIR_CLASSIC, classic.probes), FIELD(NO_KIND, classic.reserved),
	FIELD(WEIR_COUNTING, counting.counter_bits), FIELD(WEIR_COUNTING, counting.words_per_key),
	FIELD(WEIR_COUNTING, counting.counters_per_word), FIELD(NO_KIND, counting.reserved),
	FIELD(WEIR_GROWING, growing.max_capacity), FIELD(WEIR_GROWING, growing.words_per_key),
	FIELD(WEIR_GROWING, growing.bits_per_word), FIELD(NO_KIND, growing.reserved),
	FIELD(WEIR_CUCKOO, cuckoo.fingerprint_bits), FIELD(NO_KIND, cuckoo.reserved),
	FIELD(WEIR_FUSE, fuse.fingerprint_bits), FIELD(NO_KIND, fuse.reserved),
	FIELD(WEIR_LAYERED, layered.exclude_keys), FIELD(WEIR_LAYERED, layered.fingerprint_bits),
	FIELD(NO_KIND, layered.reserved),
	FIELD(WEIR_SPLIT, split.any_reader), FIELD(NO_KIND, split.reserved),
	FIELD(WEIR_FREQUENCY, frequency.counter_bits),
	FIELD(WEIR_FREQUENCY, frequency.words_per_key),
	FIELD(WEIR_FREQUENCY, frequency.counters_per_word), FIELD(NO_KIND, frequency.reserved),
	FIELD(WEIR_ROUTER, router.sets), FIELD(WEIR_ROUTER, router.rows_per_key),
	FIELD(WEIR_ROUTER, router.names), FIELD(WEIR_ROUTER, router.keys),
	FIELD(NO_KIND, router.reserved),
	FIELD(WEIR_WINDOW, window.generations), FIELD(WEIR_WINDOW, window.layout),
	FIELD(WEIR_WINDOW, window.words_per_key), FIELD(NO_KIND, window.reserved),
	FIELD(WEIR_WINDOW, window.span_seconds), FIELD(WEIR_WINDOW, window.generation_keys),
	FIELD(WEIR_WINDOW, window.run.flavor), FIELD(WEIR_WINDOW, window.run.clock),
	FIELD(WEIR_WINDOW, window.run.clock_arg), FIELD(WEIR_WINDOW, window.run.timer),
	FIELD(WEIR_WINDOW, window.run.forget_older), FIELD(NO_KIND, window.run.reserved),
	FIELD(NO_KIND, window.spare),
};

/* The error names the field of each nonzero byte. Nonzero reserved fields are refused, too. */
static void fields_of_other_kinds_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		FOR_EACH_KIND(kind)
			for (size_t byte = 0; byte < fields[i].size; byte++) {
				struct weir_params params = good();
				struct weir_error_info info = WEIR_ERROR_INFO_INIT;
				params.kind = kind->id;
				if (fields[i].kind == kind->id)
					continue;
				((unsigned char *)&params)[fields[i].at + byte] = 1;
				refused(&params, -EINVAL, fields[i].name, weir_kind_name(kind->id),
				        "has no such parameter");
				weir_error_last(&info);
				assert_int_equal(info.code, WEIR_ERROR_KIND_LACKS);
				assert_string_equal(info.thing, fields[i].name);
				assert_true(info.values[1] == kind->id);
			}
}

static void the_list_of_fields_is_complete(void **state)
{
	size_t end = offsetof(struct weir_params, blocked);
	(void)state;
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		const bool padded = strcmp(fields[i].name, "window.run.reserved") == 0;
		assert_int_equal(fields[i].at, end + (padded ? BEFORE_RUN_RESERVED : 0));
		end = fields[i].at + fields[i].size;
	}
	assert_int_equal(end, sizeof(struct weir_params));
}

static void unknown_kinds_and_flags_are_refused(void **state)
{
	struct weir_params params = good();
	(void)state;
	params.kind = 77;
	refused(&params, -ENOTSUP, "kind", "77", "0");
	params.kind = UINT32_MAX;
	refused(&params, -ENOTSUP, "kind", "4294967295", "0");
	params = good(), params.flags = 1u << 31;
	refused(&params, -EINVAL, "flags", "80000000", "0xf");
	params.flags = 16;
	refused(&params, -EINVAL, "flags", "0x10", "0xf");
}

static void wrong_memory_is_refused(void **state)
{
	struct weir_params params = good();
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f = NULL;
	char value[40], *memory = aligned_alloc(64, 8192);
	(void)state;
	assert_ok(weir_plan_make(&params, &plan));
	assert_true(plan.bytes <= 8192 - 64);
	for (size_t shift = 1; shift < 64; shift = shift * 3 - 1) {
		params.memory = memory + shift;
		params.memory_bytes = plan.bytes;
		snprintf(value, sizeof value, "%p", params.memory);
		assert_refused(weir_create(&f, &params), -EINVAL, "memory", value);
		assert_non_null(strstr(weir_error_detail(), "multiple of 64"));
	}
	static const size_t less[] = { 1, 64 };
	params.memory = memory;
	for (size_t i = 0; i < COUNT_OF(less); i++) {
		params.memory_bytes = plan.bytes - less[i];
		snprintf(value, sizeof value, "%zu", params.memory_bytes);
		assert_refused(weir_create(&f, &params), -EINVAL, "memory_bytes", value);
		snprintf(value, sizeof value, "%llu", (unsigned long long)plan.bytes);
		/* the error message has the required size */
		assert_non_null(strstr(weir_error_detail(), value));
	}
	params.memory_bytes = 0;
	assert_refused(weir_create(&f, &params), -EINVAL, "memory_bytes", "0");
	params.memory = NULL, params.memory_bytes = 4096;
	assert_refused(weir_create(&f, &params), -EINVAL, "memory_bytes", "4096");
	assert_null(f);
	free(memory);
}

static void wrong_pointers_and_struct_sizes_are_refused(void **state)
{
	struct weir_params params = good();
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f = NULL;
	char value[24];
	(void)state;
	assert_refused(weir_create(NULL, &params), -EINVAL, "out", "NULL");
	assert_refused(weir_create(&f, NULL), -EINVAL, "weir_params is NULL", "_INIT");
	assert_refused(weir_plan_make(NULL, &plan), -EINVAL, "params", "NULL");
	assert_refused(weir_plan_make(&params, NULL), -EINVAL, "plan", "NULL");
	params.struct_size = 0;
	refused(&params, -EINVAL, "weir_params.struct_size", "0", "_INIT");
	params.struct_size = sizeof params + 8;
	snprintf(value, sizeof value, "%zu", sizeof params + 8);
	refused(&params, -EINVAL, "weir_params.struct_size", value, "_INIT");
	params = good();
	plan.struct_size = 0;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "struct_size", "0");
	plan.struct_size = sizeof plan + 1;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "weir_plan.struct_size", "_INIT");
	/* a caller compiled with an older header, whose struct is shorter */
	params.struct_size = offsetof(struct weir_params, memory);
	memset(&params.memory, 0xff, sizeof params - offsetof(struct weir_params, memory));
	assert_ok(weir_create(&f, &params));
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	weir_destroy(f);
}

static void the_bounds_of_every_range_are_valid(void **state)
{
	struct weir_params params = good();
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	params.capacity = UINT64_C(1) << 48, params.fp_rate = 0.5;
	assert_ok(weir_plan_make(&params, &plan));
	params = good(), params.fp_rate = 1e-9;
	assert_ok(weir_plan_make(&params, &plan));
	params = good(), params.fp_rate = 0.5;
	assert_ok(weir_plan_make(&params, &plan));
	params = good(), params.fp_rate = 0, params.max_bytes = UINT64_C(1) << 46,
	params.capacity = UINT64_C(1) << 43;
	assert_ok(weir_plan_make(&params, &plan));
	params = good(), params.capacity = 1, params.fp_rate = 0.5, params.max_bytes = 64;
	assert_ok(weir_create(&f, &params));
	weir_destroy(f);
	for (uint32_t flags = 0; flags < 8; flags++)
		if (!(flags & WEIR_HUGETLB)) { /* WEIR_HUGETLB needs a pool of huge pages */
			params = good(), params.flags = flags;
			assert_ok(weir_create(&f, &params));
			weir_destroy(f);
		}
}

/* The three values are capacity, rate and size. */
static void any_two_of_three_agree_on_the_third(void **state)
{
	static const double rate[] = { 0.2, 0.01, 0.001, 1e-5 };
	(void)state;
	FOR_EACH_KIND(kind)
		for (size_t r = 0; r < COUNT_OF(rate); r++)
			for (uint64_t capacity = 1000; capacity < 200000000; capacity *= 17) {
				struct weir_params params = WEIR_PARAMS_INIT;
				struct weir_plan size = WEIR_PLAN_INIT, keys = WEIR_PLAN_INIT,
				                 odds = WEIR_PLAN_INIT;
				params.kind = kind->id;
				params.capacity = capacity;
				params.fp_rate = rate[r];
				assert_ok(weir_plan_make(&params, &size));
				assert_int_equal(size.capacity, capacity);
				assert_true(size.fp_rate <= rate[r] * 1.001 &&
				            size.bytes % 64 == 0);
				assert_true(fabs(size.bits_per_key -
				                 (double)size.bytes * 8 / (double)capacity) <
				            1e-9 * size.bits_per_key);
				assert_true(size.shards && size.bytes / 64 % size.shards == 0);
				params.capacity = 0, params.max_bytes = size.bytes;
				assert_ok(weir_plan_make(&params, &keys));
				assert_true(keys.bytes <= size.bytes &&
				            keys.capacity >= capacity - 1 - capacity / 500);
				double most = (double)capacity * (capacity < 20000 ? 1.2 : 1.01);
				assert_true((double)keys.capacity <= most || kind->coarse);
				params.capacity = capacity, params.fp_rate = 0;
				assert_ok(weir_plan_make(&params, &odds));
				assert_true(odds.bytes <= size.bytes &&
				            odds.fp_rate <= rate[r] * 1.01);
				/* all three are given, so the size is only a limit */
				params.fp_rate = rate[r];
				assert_ok(weir_plan_make(&params, &odds));
				assert_true(odds.bytes <= size.bytes);
			}
}

static void the_plan_is_what_is_created(void **state)
{
	(void)state;
	for (uint64_t capacity = 1; capacity < 5000000; capacity = capacity * 5 + 3) {
		struct weir_params params = good();
		struct weir_plan plan = WEIR_PLAN_INIT;
		struct weir_stats stats = WEIR_STATS_INIT;
		struct weir_filter *f = NULL;
		params.capacity = capacity;
		assert_ok(weir_plan_make(&params, &plan));
		assert_ok(weir_create(&f, &params));
		assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
		assert_int_equal(stats.bytes, plan.bytes);
		test_assert_same_shape(&stats.shape, &plan.shape);
		assert_int_equal(stats.shards, plan.shards);
		assert_non_null(plan.reason);
		assert_true(strlen(plan.reason) > 10);
		weir_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_capacities_are_refused),
		cmocka_unit_test(wrong_rates_are_refused),
		cmocka_unit_test(wrong_sizes_are_refused),
		cmocka_unit_test(two_of_capacity_rate_and_size_are_needed),
		cmocka_unit_test(wrong_layouts_are_refused),
		cmocka_unit_test(fields_of_other_kinds_are_refused),
		cmocka_unit_test(the_list_of_fields_is_complete),
		cmocka_unit_test(unknown_kinds_and_flags_are_refused),
		cmocka_unit_test(wrong_memory_is_refused),
		cmocka_unit_test(wrong_pointers_and_struct_sizes_are_refused),
		cmocka_unit_test(the_bounds_of_every_range_are_valid),
		cmocka_unit_test(any_two_of_three_agree_on_the_third),
		cmocka_unit_test(the_plan_is_what_is_created),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
