/* SPDX-License-Identifier: MIT
 * Creation and the functions on one key: hashing, seeds, instruction sets, and keys of every
 * length, present and absent. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <errno.h>
#include "../test.h"

static void keys_of_every_length_are_found(void **state)
{
	char bytes[600];
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)test_key(i);
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		if (!test_affords(test_kinds[k], 1e-6))
			continue;
		struct weir_filter *f = test_filter(test_kinds[k], 1000, 1e-6);
		for (size_t len = 0; test_takes_inserts(f) && len <= 300; len++) {
			assert_false(weir_contains(f, bytes + len, len));
			assert_int_equal(weir_insert(f, bytes + len, len), WEIR_NEW);
			assert_int_equal(weir_insert(f, bytes + len, len), WEIR_SEEN);
		}
		for (size_t len = 0; test_takes_inserts(f) && len <= 300; len++)
			assert_true(weir_contains(f, bytes + len, len));
		/* the empty key */
		assert_int_equal(weir_contains(f, NULL, 0), test_takes_inserts(f));
		weir_destroy(f);
	}
}

static void numbers_are_hashed_as_their_eight_bytes(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_filter *f = test_filter(test_kinds[k], 4000, 0.01);
		for (uint64_t i = 0; test_takes_inserts(f) && i < 1000; i++) {
			uint64_t key = i % 3 ? test_key(i) : i; /* some small numbers */
			bool there = weir_contains(f, &key, sizeof key);
			assert_int_equal(weir_contains_u64(f, key), there);
			assert_int_equal(i % 2 ? weir_insert_u64(f, key) : weir_insert(f, &key, 8),
			                 there ? WEIR_SEEN : WEIR_NEW);
			assert_int_equal(i % 2 ? weir_insert(f, &key, 8) : weir_insert_u64(f, key),
			                 WEIR_SEEN);
			assert_true(weir_contains_u64(f, key) && weir_contains(f, &key, 8));
		}
		for (uint64_t key = 1000000; key < 1001000; key++)
			assert_int_equal(weir_contains_u64(f, key),
			                 weir_contains_hash(f, weir_hash(f, &key, 8)));
		weir_destroy(f);
	}
}

static void hashes_are_xxh3_with_the_seed(void **state)
{
	char bytes[300 * 40];
	uint64_t out[40];
	struct iovec keys[40];
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)test_key(i);
	for (size_t len = 0; len <= 300; len++)
		assert_int_equal(weir_hash(f, bytes + 1, len),
		                 XXH3_64bits_withSeed(bytes + 1, len, 42));
	assert_int_equal(weir_hash(f, NULL, 0), XXH3_64bits_withSeed(NULL, 0, 42));
	for (size_t n = 0; n <= 40; n++)
		for (size_t width = 1; width <= 300; width += width < 70 ? 1 : 23) {
			memset(out, 0xee, sizeof out);
			weir_hash_keys(f, weir_keys_fixed(bytes, width, n), out);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(
					out[i], XXH3_64bits_withSeed(bytes + i * width, width, 42));
			if (n < 40)
				/* nothing was written past n */
				assert_int_equal(out[n], UINT64_C(0xeeeeeeeeeeeeeeee));
			for (size_t i = 0; i < n; i++)
				keys[i] = (struct iovec){ bytes + i * width,
				                          width - i % (width < 40 ? width : 40) };
			weir_hash_keys(f, weir_keys_iov(keys, n), out);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(out[i], XXH3_64bits_withSeed(keys[i].iov_base,
				                                              keys[i].iov_len, 42));
		}
	weir_destroy(f);
}

/* hash/kernel.c has its own code for 8 bytes. */
static void eight_byte_hashes_equal_xxh3_for_many_seeds(void **state)
{
	uint64_t keys[64], out[64], random = 0;
	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_filter *f = NULL;
		params.capacity = 100;
		params.fp_rate = 0.01;
		uint64_t one = UINT64_C(1) << round % 64;
		params.seed = round < 64 ? one : round < 128 ? ~one : test_random(&random);
		assert_ok(weir_create(&f, &params));
		for (size_t i = 0; i < COUNT_OF(keys); i++)
			keys[i] = round % 4 ? test_random(&random) : i; /* some small numbers */
		weir_hash_keys(f, weir_keys_u64(keys, 1 + round % 64), out);
		for (size_t i = 0; i < 1 + round % 64; i++)
			assert_int_equal(out[i], XXH3_64bits_withSeed(&keys[i], 8, params.seed));
		weir_destroy(f);
	}
}

static struct weir_stats stats_of(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats;
}

static void seeds_are_random_unless_given(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *a = NULL, *b = NULL;
	struct weir_filter *c = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_filter *d = test_filter(WEIR_BLOCKED, 1000, 0.01);
	(void)state;
	params.capacity = 1000;
	params.fp_rate = 0.01;
	assert_ok(weir_create(&a, &params));
	assert_ok(weir_create(&b, &params));
	/* without a given seed, each filter gets a random seed */
	assert_int_not_equal(weir_hash(a, "key", 3), weir_hash(b, "key", 3));
	assert_int_not_equal(stats_of(a).seed_fingerprint, stats_of(b).seed_fingerprint);
	assert_int_equal(weir_hash(c, "key", 3), weir_hash(d, "key", 3));
	assert_int_equal(stats_of(c).seed_fingerprint, stats_of(d).seed_fingerprint);
	assert_int_not_equal(stats_of(c).seed_fingerprint, 42);
	weir_destroy(a), weir_destroy(b), weir_destroy(c), weir_destroy(d);
}

static void weir_isa_chooses_the_instruction_set(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL, *before = (void *)&f;
	const char *asked = getenv("WEIR_ISA");
	char *kept = asked ? strdup(asked) : NULL;
	(void)state;
	params.capacity = 1000;
	params.fp_rate = 0.01;
	setenv("WEIR_ISA", "sse9", 1);
	f = before;
	assert_refused(weir_create(&f, &params), -ENOTSUP, "WEIR_ISA", "sse9");
	/* the message names an available instruction set */
	assert_non_null(strstr(weir_error_detail(), "scalar"));
	assert_ptr_equal(f, before);
	setenv("WEIR_ISA", "scalar", 1);
	assert_ok(weir_create(&f, &params));
	assert_string_equal(stats_of(f).isa, "scalar");
	weir_destroy(f);
	setenv("WEIR_ISA", "", 1); /* an empty value counts as unset */
	assert_ok(weir_create(&f, &params));
	weir_destroy(f);
#if !defined(__x86_64__)
	setenv("WEIR_ISA", "avx2", 1);
	assert_refused(weir_create(&f, &params), -ENOTSUP, "WEIR_ISA", "avx2");
#endif
	if (kept)
		setenv("WEIR_ISA", kept, 1);
	else
		unsetenv("WEIR_ISA");
	free(kept);
}

/* Return: the planned rate for the filter's size. If the kind supports only certain rates, the
 * planned rate can be below the requested rate. */
static double planned_rate(const struct weir_filter *f)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_params_of(f, &params));
	assert_ok(weir_plan_make(&params, &plan));
	return plan.fp_rate;
}

/* weir_params_of() fills a struct that ends after the field shards. It refuses a struct that ends
 * before the field shards, because without this field the struct cannot say that the filter has two
 * shards. */
static void parameters_fill_a_shorter_struct(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT, p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	(void)state;
	params.kind = WEIR_SPLIT; /* this kind has no field that chooses a shape */
	params.capacity = 1000000;
	params.fp_rate = 0.01;
	params.shards = 2; /* weir would choose another number */
	assert_ok(weir_create(&f, &params));
	/* the struct ends after shards and hash_bits */
	p.struct_size = offsetof(struct weir_params, text);
	assert_ok(weir_params_of(f, &p));
	assert_int_equal(p.shards, 2);
	p.struct_size = offsetof(struct weir_params, shards);
	assert_refused(weir_params_of(f, &p), -EINVAL, "no room for shards", "which is 2");
	weir_destroy(f);
}

static void full_filters_find_all_keys_at_the_planned_rate(void **state)
{
	static const double rates[] = { 0.1, 0.01, 0.001 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (size_t r = 0; r < COUNT_OF(rates); r++) {
			enum { KEYS = 20000, PROBES = 200000 };
			struct weir_filter *f = test_bound_filter(test_kinds[k], KEYS, rates[r]);
			uint64_t wrong = 0, key, hashes[KEYS];
			double planned = planned_rate(f);
			for (uint64_t i = 0; i < KEYS; i++)
				key = test_key(i), hashes[i] = weir_hash(f, &key, 8);
			assert_ok(test_fill(&f, hashes, KEYS));
			for (uint64_t i = 0; i < KEYS; i++)
				key = test_key(i), assert_true(weir_contains(f, &key, 8));
			for (uint64_t i = KEYS; i < KEYS + PROBES; i++)
				key = test_key(i), wrong += weir_contains(f, &key, 8);
			/* the seed is fixed, so this count is the same in every run; tests/property
			 * measures rates closely */
			assert_true((double)wrong / PROBES < 1.15 * rates[r]);
			/* a window has only some hundred blocks, so its rate depends much on the
			 * seed */
			assert_true((double)wrong / PROBES > 0.80 * planned ||
			            test_forgets(test_kinds[k]));
			weir_destroy(f);
		}
}

static void filters_with_few_keys_work(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (uint64_t capacity = 1; capacity <= 130; capacity++) {
			struct weir_filter *f = test_filter(test_kinds[k], capacity, 0.01);
			uint64_t key, hashes[130];
			assert_int_equal(stats_of(f).capacity, capacity);
			for (uint64_t i = 0; i < capacity; i++)
				key = test_key(i), hashes[i] = weir_hash(f, &key, 8);
			assert_ok(test_fill(&f, hashes, capacity));
			for (uint64_t i = 0; i < capacity; i++)
				key = test_key(i), assert_true(weir_contains(f, &key, 8));
			weir_destroy(f);
		}
}

static void null_is_allowed_for_no_keys_and_no_bitmap(void **state)
{
	const uint64_t keys[2] = { 1, 2 };
	const struct iovec vectors[2] = { { (void *)(uintptr_t)&keys[0], 8 }, { NULL, 0 } };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_filter *f = test_filter(test_kinds[k], 100, 0.01);
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(NULL, 0), NULL), 0);
		assert_int_equal(weir_contains_keys(f, weir_keys_iov(NULL, 0), NULL), 0);
		assert_int_equal(weir_contains_keys(f, weir_keys_u64(NULL, 0), NULL), 0);
		weir_hash_keys(f, weir_keys_iov(NULL, 0), NULL);
		weir_hash_keys(f, weir_keys_fixed(NULL, 3, 0), NULL);
		if (test_takes_inserts(f)) {
			assert_int_equal(weir_insert_keys(f, weir_keys_hashes(NULL, 0), NULL), 0);
			assert_int_equal(weir_insert_keys(f, weir_keys_iov(NULL, 0), NULL), 0);
			assert_int_equal(weir_insert_keys(f, weir_keys_u64(NULL, 0), NULL), 0);
			assert_ok(weir_fill_keys(f, weir_keys_hashes(NULL, 0)));
			assert_ok(weir_insert_keys(f, weir_keys_iov(vectors, 2), NULL));
			assert_int_equal(weir_contains_keys(f, weir_keys_iov(vectors, 2), NULL), 2);
		}
		weir_destroy(f);
	}
}

static void destroying_null_is_a_no_op(void **state)
{
	(void)state;
	weir_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_every_length_are_found),
		cmocka_unit_test(numbers_are_hashed_as_their_eight_bytes),
		cmocka_unit_test(hashes_are_xxh3_with_the_seed),
		cmocka_unit_test(eight_byte_hashes_equal_xxh3_for_many_seeds),
		cmocka_unit_test(seeds_are_random_unless_given),
		cmocka_unit_test(weir_isa_chooses_the_instruction_set),
		cmocka_unit_test(parameters_fill_a_shorter_struct),
		cmocka_unit_test(full_filters_find_all_keys_at_the_planned_rate),
		cmocka_unit_test(filters_with_few_keys_work),
		cmocka_unit_test(null_is_allowed_for_no_keys_and_no_bitmap),
		cmocka_unit_test(destroying_null_is_a_no_op),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
