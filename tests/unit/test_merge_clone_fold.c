/* SPDX-License-Identifier: MIT
 * Functions on whole filters: merge, clone, fold. */
#include <errno.h>
#include "../kinds/kind.h"
#include "../test.h"

static void insert_range(struct weir_filter *f, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++) {
		uint64_t key = test_key(i);
		assert_ok(weir_insert(f, &key, 8));
	}
}

/* Insert the keys 0 to @n - 1 into *@f, or build *@f from them. */
static void fill(struct weir_filter **f, uint64_t n)
{
	uint64_t *hashes = malloc(n * sizeof *hashes);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = test_key(i);
		hashes[i] = weir_hash(*f, &key, 8);
	}
	assert_ok(test_fill(f, hashes, n));
	free(hashes);
}

static uint64_t count_range(const struct weir_filter *f, uint64_t first, uint64_t end)
{
	uint64_t found = 0;
	for (uint64_t i = first; i < end; i++) {
		uint64_t key = test_key(i);
		found += weir_contains(f, &key, 8);
	}
	return found;
}

static struct weir_stats exact(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats;
}

/* Asserts that @a and @b have equal bits: the same number of bits is set in both, and a merge of @b
 * into @a sets no further bit. Without a merge, only the numbers of set bits are compared. Growing
 * filters are not compared. */
static void assert_same_bits(struct weir_filter *a, const struct weir_filter *b)
{
	double fill = exact(a).fill;
	/* in a growing filter, the order of inserts decides which layer has a key's bits */
	if (test_grows(exact(a).shape.kind))
		return;
	assert_true(fill == exact(b).fill);
	if (test_keeps_copies(exact(a).shape.kind)) /* a merge would add copies */
		return;
	int err = weir_merge(a, b);
	assert_ok(err == -ENOTSUP ? 0 : err);
	assert_true(fill == exact(a).fill);
}

static bool can_merge(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1, 0.1);
	int err = weir_merge(f, f);
	weir_destroy(f);
	return err != -ENOTSUP;
}

static bool can_copy(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1, 0.1);
	bool can = test_copies(f);
	weir_destroy(f);
	return can;
}

static bool can_fold(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1, 0.1), *folded = NULL;
	int err = weir_fold(&folded, f, 1);
	weir_destroy(f), weir_destroy(folded);
	return err != -ENOTSUP;
}

static void a_merge_has_the_bits_of_both(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		if (!can_merge(test_kinds[k]) || test_keeps_copies(test_kinds[k]))
			continue;
		struct weir_filter *a = test_filter(test_kinds[k], 4000, 0.001),
		                   *b = test_filter(test_kinds[k], 4000, 0.001);
		struct weir_filter *all = test_filter(test_kinds[k], 4000, 0.001);
		insert_range(a, 0, 2500);
		insert_range(b, 1500, 4000);
		insert_range(all, 0, 4000);
		double b_fill = exact(b).fill;
		assert_ok(weir_merge(a, b));
		assert_int_equal(count_range(a, 0, 4000), 4000);
		assert_true(b_fill == exact(b).fill); /* the source is unchanged */
		assert_same_bits(a, all);
		assert_ok(weir_merge(a, a)); /* a merge with itself is a no-op */
		assert_same_bits(a, all);
		weir_destroy(a), weir_destroy(b), weir_destroy(all);
	}
}

static struct weir_filter *with(const struct weir_params *params)
{
	struct weir_filter *f = NULL;
	assert_ok(weir_create(&f, params));
	return f;
}

static void a_difference_is_named_with_both_values(void **state)
{
	struct weir_params base = WEIR_PARAMS_INIT, other;
	(void)state;
	base.capacity = 1000;
	base.max_bytes = 64 * 30;
	base.blocked.words_per_key = 2;
	base.blocked.bits_per_word = 3;
	base.seed = 1;
	struct difference {
		const char *field, *ours, *theirs;
		struct weir_params params;
	} cases[5];
	other = base, other.kind = WEIR_CLASSIC;
	other.blocked.words_per_key = other.blocked.bits_per_word = 0;
	cases[0] = (struct difference){ "kind", "blocked", "classic", other };
	other = base, other.max_bytes = 64 * 31;
	cases[1] = (struct difference){ "bytes", "1920", "1984", other };
	other = base, other.blocked.words_per_key = 4;
	cases[2] = (struct difference){ "words_per_key", "2", "4", other };
	other = base, other.blocked.bits_per_word = 4;
	cases[3] = (struct difference){ "bits_per_word", "3", "4", other };
	other = base, other.seed = 2;
	cases[4] = (struct difference){ "seed", "fingerprint", "in the source", other };
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct weir_filter *a = with(&base), *b = with(&cases[i].params);
		insert_range(b, 0, 100);
		assert_refused(weir_merge(a, b), -EINVAL, cases[i].field, cases[i].ours);
		assert_non_null(strstr(weir_error_detail(), cases[i].theirs));
		assert_true(exact(a).fill == 0); /* the merge wrote nothing */
		weir_destroy(a), weir_destroy(b);
	}
}

static void filters_with_different_capacities_merge(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	params.capacity = 1000;
	params.max_bytes = 64 * 30;
	params.blocked.words_per_key = 2;
	params.blocked.bits_per_word = 3;
	params.seed = 1;
	struct weir_filter *a = with(&params);
	params.capacity = 900;
	struct weir_filter *b = with(&params);
	insert_range(b, 0, 100);
	assert_ok(weir_merge(a, b));
	assert_int_equal(count_range(a, 0, 100), 100);
	weir_destroy(a), weir_destroy(b);
}

static void a_clone_is_equal_and_independent(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (uint64_t capacity = 1; capacity < 3000000 && can_copy(test_kinds[k]);
		     capacity *= 20) {
			struct weir_filter *f = test_filter(test_kinds[k], capacity, 0.01),
			                   *copy = NULL;
			uint64_t keys = capacity < 10000 ? capacity : 10000;
			uint64_t more = !test_takes_inserts(f) ? 0 :
			                test_keeps_copies(test_kinds[k]) && keys < 10000 ? 0 : 100;
			fill(&f, keys);
			assert_ok(weir_clone(&copy, f));
			assert_same_bits(copy, f);
			struct weir_stats a = exact(f), b = exact(copy);
			assert_memory_equal(&a, &b, sizeof a);
			insert_range(copy, keys, keys + more); /* the copy has memory of its own */
			assert_true(exact(f).fill == a.fill);
			weir_destroy(f);
			assert_int_equal(count_range(copy, 0, keys + more), keys + more);
			weir_destroy(copy);
		}
}

static void a_missing_output_is_refused(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	(void)state;
	assert_refused(weir_clone(NULL, f), -EINVAL, "out is NULL", "weir_clone");
	assert_refused(weir_fold(NULL, f, 1), -EINVAL, "out is NULL", "weir_fold");
	weir_destroy(f);
}

/* Return: a number of keys per line at which the kind has a legal rate. */
static uint64_t keys_a_line(uint32_t kind)
{
	const unsigned bits = test_kind_of(kind)->bits_per_key;
	return bits ? 512 / bits : 40;
}

/* Return: true if a filter of @kind can have @lines lines. Some kinds accept only certain numbers
 * of lines. */
static bool has_lines(uint32_t kind, uint64_t lines)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	params.kind = kind;
	params.max_bytes = 64 * lines;
	params.capacity = lines * keys_a_line(kind);
	return weir_plan_make(&params, &plan) == 0 && plan.bytes == params.max_bytes;
}

static void fold(uint32_t kind, uint64_t lines, uint32_t factor)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *folded = NULL;
	params.kind = kind;
	params.max_bytes = 64 * lines;
	params.capacity = lines * keys_a_line(kind);
	params.seed = test_seed(kind, 7);
	struct weir_filter *f = with(&params);
	struct weir_shape shape = exact(f).shape;
	uint64_t keys = params.capacity * 3 / 4 / factor + 1;
	keys = keys > 20000 ? 20000 : keys;
	insert_range(f, 0, keys);
	assert_ok(weir_fold(&folded, f, factor));
	assert_int_equal(count_range(folded, 0, keys), keys); /* no false negatives */
	assert_int_equal(exact(folded).bytes, 64 * lines / factor);
	params.max_bytes /= factor;
	params.capacity = params.capacity / factor;
	assert_ok(weir_params_shape(&params, &shape));
	struct weir_filter *direct = with(&params);
	insert_range(direct, 0, keys);
	assert_same_bits(folded, direct); /* direct was created at the smaller size */
	assert_int_equal(exact(folded).capacity, exact(direct).capacity);
	insert_range(folded, keys, keys + 5);
	assert_int_equal(count_range(folded, 0, keys + 5), keys + 5);
	weir_destroy(f), weir_destroy(folded), weir_destroy(direct);
}

static void a_fold_equals_a_smaller_filter(void **state)
{
	static const uint64_t lines[] = { 1, 2, 8, 96, 1024, 4096, 65536 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (size_t l = 0; l < COUNT_OF(lines) && can_fold(test_kinds[k]); l++)
			for (uint32_t factor = 1; lines[l] % factor == 0 && factor <= lines[l] &&
			                          has_lines(test_kinds[k], lines[l] / factor);
			     factor *= 2)
				fold(test_kinds[k], lines[l], factor);
}

/* Return: true if @factor divides the number of blocks, for a kind with several blocks per line. */
static bool divides(uint32_t kind, uint64_t lines, uint32_t factor)
{
	const unsigned blocks = test_kind_of(kind)->blocks_a_line;
	return blocks && factor && !(factor & (factor - 1)) && lines * blocks % factor == 0;
}

static void factors_that_do_not_divide_are_refused(void **state)
{
	static const struct { uint64_t lines; uint32_t factor; const char *text;
	} cases[] = {
		{ 96, 0, "factor 0" },
		{ 96, 3, "factor 3" },
		{ 96, 6, "factor 6" },
		{ 96, 64, "factor 64" },
		{ 1, 2, "factor 2" },
		{ 97, 2, "factor 2" },
		{ 64, 128, "factor 128" },
		{ 64, 0x80000000, "factor 2147483648" },
		{ 64, 0xffffffff, "4294967295" },
	};
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (size_t i = 0; i < COUNT_OF(cases) && can_fold(test_kinds[k]); i++) {
			struct weir_params params = WEIR_PARAMS_INIT;
			struct weir_filter *out = (void *)&params;
			if (!has_lines(test_kinds[k], cases[i].lines) ||
			    divides(test_kinds[k], cases[i].lines, cases[i].factor))
				continue;
			params.kind = test_kinds[k];
			params.max_bytes = 64 * cases[i].lines;
			params.capacity = cases[i].lines * keys_a_line(test_kinds[k]);
			struct weir_filter *f = with(&params);
			assert_refused(weir_fold(&out, f, cases[i].factor), -EINVAL, cases[i].text,
			               "power of two");
			assert_ptr_equal(out, &params); /* a failed fold leaves out unchanged */
			weir_destroy(f);
		}
}

static void the_capacity_of_a_fold_is_at_least_1(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *folded = NULL;
	(void)state;
	params.max_bytes = 128;
	params.capacity = 1;
	struct weir_filter *f = with(&params);
	assert_ok(weir_fold(&folded, f, 2));
	assert_int_equal(exact(folded).capacity, 1);
	weir_destroy(f), weir_destroy(folded);
}

static void every_power_of_two_up_to_the_shards_folds(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000003, 0.01), *folded = NULL;
	uint32_t shards = exact(f).shards;
	(void)state;
	assert_true(shards > 1);
	insert_range(f, 0, 10000);
	for (uint32_t factor = 1; factor <= shards; factor *= 2) {
		assert_ok(weir_fold(&folded, f, factor));
		assert_int_equal(count_range(folded, 0, 10000), 10000);
		assert_int_equal(exact(folded).shards, shards / factor);
		weir_destroy(folded);
	}
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merge_has_the_bits_of_both),
		cmocka_unit_test(a_difference_is_named_with_both_values),
		cmocka_unit_test(filters_with_different_capacities_merge),
		cmocka_unit_test(a_clone_is_equal_and_independent),
		cmocka_unit_test(a_missing_output_is_refused),
		cmocka_unit_test(a_fold_equals_a_smaller_filter),
		cmocka_unit_test(factors_that_do_not_divide_are_refused),
		cmocka_unit_test(the_capacity_of_a_fold_is_at_least_1),
		cmocka_unit_test(every_power_of_two_up_to_the_shards_folds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
