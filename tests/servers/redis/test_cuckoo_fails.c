/* SPDX-License-Identifier: MIT
 * Cuckoo filters, without Redis: what they refuse, and that a failure changes nothing. */
#include "cuckoos.h"

/* Fill a filter, and let @add_one fail often. It changes nothing. */
static void fail_often(struct cuckoo *c, uint64_t most, int wanted)
{
	unsigned failures = 0;
	for (uint64_t i = 0; failures < 300 && i < 100000; i++) {
		uint64_t item = test_key(i);
		struct cuckoo *before;
		long left = counted_left;
		counted_left = -1;
		assert_ok(cuckoo_copy(&before, c));
		counted_left = left;
		int answer = cuckoo_add(c, &item, sizeof item, false, most);
		assert_true(answer == 1 || answer == wanted);
		if (answer < 0) {
			assert_same(c, before);
			failures++;
		}
		cuckoo_destroy(before);
	}
	assert_int_equal(failures, 300);
	assert_int_equal(c->subs, 1);
	counted_left = -1;
	cuckoo_destroy(c);
}

static void test_an_eviction_that_fails_changes_nothing(void **state)
{
	static const uint64_t iterations[] = { 1, 2, 5, 20, 501 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(buckets_of_slots); k++)
		for (size_t i = 0; i < COUNT_OF(iterations); i++) {
			unsigned bucket = buckets_of_slots[k];
			uint64_t buckets = bucket < 255 ? 16 : 2;
			fail_often(make(buckets, bucket, iterations[i], 0), 0, -ENOSPC);
			fail_often(make(buckets, bucket, iterations[i], 2), buckets * bucket,
			           -EFBIG);
			struct cuckoo *c = make(buckets, bucket, iterations[i], 2);
			counted_left = 0;
			fail_often(c, 0, -ENOMEM);
		}
}

/* Grow and copy with ever more memory. */
static void test_failing_memory_leaks_nothing(void **state)
{
	static const unsigned subs[] = { 1, 2, 3, 4, 5, 8 };
	struct cuckoo_settings s = { 16, SEED, 2, 20, 2, false };
	struct cuckoo *c = NULL, *copy;
	(void)state;
	for (counted_left = 0; counted_left < 2;) {
		long calls = counted_left;
		assert_int_equal(cuckoo_create(&c, &s, 0, &memory), -ENOMEM);
		assert_int_equal(counted_blocks, 0);
		counted_left = calls + 1;
	}
	for (size_t k = 0; k < COUNT_OF(subs); k++) {
		c = make(16, 2, 20, 2);
		long calls = 0;
		while (c->subs < subs[k])
			assert_ok(cuckoo_grow(c, 0));
		while (counted_left = calls++, cuckoo_grow(c, 0)) {
			assert_int_equal(c->subs, subs[k]);
			assert_int_equal(cuckoo_usage(c), counted_bytes);
		}
		assert_int_equal(calls - 1, subs[k] & (subs[k] - 1) ? 1 : 2);
		assert_int_equal(cuckoo_usage(c), counted_bytes);
		long blocks = counted_blocks;
		for (calls = 0; counted_left = calls, cuckoo_copy(&copy, c); calls++)
			assert_int_equal(counted_blocks, blocks);
		assert_true(calls > (long)subs[k] + 1);
		assert_same(c, copy);
		cuckoo_destroy(copy);
		while (c->subs > 1)
			cuckoo_shrink(c);
		counted_left = -1;
		for (uint64_t i = 0; c->subs < 4; i++)
			assert_int_equal(add(c, i), 1);
		cuckoo_destroy(c);
	}
}

static void test_wrong_settings_are_refused(void **state)
{
	static const struct cuckoo_settings wrong[] = {
		{ 0, SEED, 2, 20, 1, false },
		{ 3, SEED, 2, 20, 1, false },
		{ UINT64_C(1) << 40, SEED, 2, 20, 1, false },
		{ UINT64_C(1) << 63, SEED, 2, 20, 1, false },
		{ 64, SEED, 0, 20, 1, false },
		{ 64, SEED, 256, 20, 1, false },
		{ 64, SEED, UINT64_MAX, 20, 1, false },
		{ 64, SEED, 2, 0, 1, false },
		{ 64, SEED, 2, 65536, 1, false },
		{ 64, SEED, 2, 20, 3, false },
		{ 64, SEED, 2, 20, 65536, false },
		{ 64, SEED, 2, 20, UINT64_C(1) << 63, false },
		{ 64, SEED, 2, 20, 1, true },
		{ 64, 0, 4, 20, 1, true },
		{ 64, 0, 2, 50, 1, true },
		{ 64, 0, 2, 20, 2, true },
	};
	struct cuckoo_settings s = { UINT64_C(1) << 39, SEED, 255, 20, 1, false };
	struct cuckoo *c;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(cuckoo_create(&c, &wrong[i], 0, &memory), -EINVAL);
	assert_int_equal(cuckoo_create(&c, &s, 0, &memory), -EFBIG);
	s.buckets = 8;
	assert_int_equal(cuckoo_create(&c, &s, 8 * 255 - 1, &memory), -EFBIG);
	s.expansion = CUCKOO_EXPANSION_MOST;
	assert_ok(cuckoo_create(&c, &s, 8 * 255, &memory));
	assert_int_equal(cuckoo_next_bytes(c), UINT64_C(8) * 255 * CUCKOO_EXPANSION_MOST);
	assert_int_equal(cuckoo_grow(c, 8 * 255 * CUCKOO_EXPANSION_MOST), -EFBIG);
	assert_int_equal(cuckoo_sub_bytes(c, 2), UINT64_C(8) * 255 << 30);
	assert_int_equal(cuckoo_sub_bytes(c, 3), 0);
	assert_int_equal(cuckoo_sub_bytes(c, 65535), 0);
	cuckoo_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_an_eviction_that_fails_changes_nothing,
		                          counted_check),
		cmocka_unit_test_teardown(test_failing_memory_leaks_nothing, counted_check),
		cmocka_unit_test_teardown(test_wrong_settings_are_refused, counted_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
