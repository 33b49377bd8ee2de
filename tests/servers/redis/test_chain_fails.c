/* SPDX-License-Identifier: MIT
 * Chains of filters, without Redis: what they refuse, and that a failure changes nothing. */
#include <math.h>
#include "chains.h"

/* Add new items until one is refused or added. */
static int add_new(struct chain *c, uint64_t *i, uint64_t most)
{
	int answer = 0;
	while (answer == 0) {
		uint64_t item = test_key((*i)++);
		answer = chain_add(c, &item, sizeof item, most);
	}
	return answer;
}

/* ---- memory ---- */

/* Create a chain with ever more memory. Return: the number of allocations that it needs. */
static long create_with_little_memory(uint64_t capacity)
{
	struct chain_settings s = { 0.01, capacity, SEED, 2, CHAIN_OWN, 0 };
	struct chain *c = NULL;
	long calls = 0;
	int err;
	do {
		counted_left = calls++;
		err = chain_create(&c, &s, 0, &memory);
		assert_true(err == 0 || (err == -ENOMEM && !counted_blocks));
	} while (err);
	counted_left = -1;
	chain_destroy(c);
	return calls - 1;
}

static void test_create_without_memory_leaks_nothing(void **state)
{
	(void)state;
	assert_int_equal(create_with_little_memory(100), 1);
	assert_int_equal(create_with_little_memory(100000), 2);
}

/* Let a full chain grow by an item with ever more memory, then copy it so. */
static void grow_with_little_memory(uint64_t capacity, unsigned links, long wanted)
{
	struct chain *c = make(0.01, capacity, 2), *before, *copy = NULL;
	uint64_t i = fill(c, links);
	long calls = 0;
	assert_ok(chain_copy(&before, c));
	for (int answer = -1; answer < 0;) {
		counted_left = calls++;
		answer = add_new(c, &i, 0);
		counted_left = -1;
		assert_true(answer == 1 || answer == -ENOMEM);
		if (answer < 0)
			assert_same(c, before);
	}
	assert_int_equal(calls - 1, wanted);
	assert_int_equal(c->links, links + 1);
	long blocks = counted_blocks;
	calls = 0;
	while (counted_left = calls, chain_copy(&copy, c) == -ENOMEM) {
		assert_int_equal(counted_blocks, blocks);
		calls++;
	}
	assert_int_equal(counted_left, 0); /* so the last failure lacked one allocation */
	counted_left = -1;
	assert_same(c, copy);
	chain_destroy(c);
	chain_destroy(before);
	chain_destroy(copy);
}

static void test_growth_without_memory_changes_nothing(void **state)
{
	(void)state;
	grow_with_little_memory(100, 1, 1);
	grow_with_little_memory(100, 4, 1);
	grow_with_little_memory(1000, 3, 2);
	grow_with_little_memory(10000, 2, 2);
}

/* ---- limits ---- */

static void limit(uint64_t capacity, unsigned links)
{
	struct chain_settings s = { 0.01, capacity, SEED, 2, CHAIN_OWN, 0 };
	struct chain *c = make(0.01, capacity, 2), *before, *other;
	uint64_t first = chain_bytes(c), i = fill(c, links);
	struct chain_form f;
	assert_refused(chain_create(&other, &s, first - 1, &memory), -EFBIG, "max-bytes", "need");
	assert_ok(chain_create(&other, &s, first, &memory));
	chain_destroy(other);
	assert_ok(chain_copy(&before, c));
	assert_ok(chain_size(&s, links, &f));
	uint64_t most = chain_bytes(c) + f.bytes;
	assert_refused(add_new(c, &i, most - 1), -EFBIG, "max-bytes", "need");
	assert_refused(add_new(c, &i, 1), -EFBIG, "max-bytes", "need");
	assert_int_equal(chain_grow(c, most - 1), -EFBIG);
	assert_same(c, before);
	assert_int_equal(add_new(c, &i, most), 1);
	assert_int_equal(chain_bytes(c), most);
	assert_int_equal(add_new(c, &i, 1), 1); /* the link is there: no growth */
	chain_destroy(c);
	chain_destroy(before);
}

static void test_a_limit_refuses_growth_above_it(void **state)
{
	struct chain_settings s = { 0.01, CHAIN_CAPACITY_MOST, SEED, 2, CHAIN_OWN, 0 };
	struct chain *c;
	(void)state;
	for (unsigned links = 1; links < 4; links++) {
		limit(10, links);
		limit(1000, links);
		limit(20000, links);
	}
	assert_int_equal(chain_create(&c, &s, UINT64_C(1) << 40, &memory), -EFBIG);
}

/* ---- settings ---- */

static void test_wrong_settings_are_refused(void **state)
{
	const double errors[] = { 0, -0.0, 1, 1.5, -0.1, NAN, INFINITY, -INFINITY };
	const struct chain_settings wrong[] = {
		{ 0.01, 0, SEED, 2, CHAIN_OWN, 0 },
		{ 0.01, CHAIN_CAPACITY_MOST + 1, SEED, 2, CHAIN_OWN, 0 },
		{ 0.01, UINT64_MAX, SEED, 2, CHAIN_OWN, 0 },
		{ 0.01, 100, SEED, CHAIN_EXPANSION_MOST + UINT64_C(1), CHAIN_OWN, 0 },
		{ 0.01, 100, 0, 2, CHAIN_OWN, 0 },
		{ 0.01, 100, SEED, 2, CHAIN_OWN, REDISBLOOM_NO_SCALING },
		{ 0.01, 100, SEED, 2, CHAIN_REDISBLOOM, REDISBLOOM_HASH64 },
		{ 0.01, 100, 0, 2, CHAIN_REDISBLOOM, 32 },
	};
	struct chain *c;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		struct chain_settings s = { errors[i], 100, SEED, 2, CHAIN_OWN, 0 };
		assert_refused(chain_create(&c, &s, 0, &memory), -EINVAL, "error rate", "0 and 1");
	}
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(chain_create(&c, &wrong[i], 0, &memory), -EINVAL);
}

/* ---- forms from an enemy ---- */

static const struct chain_form compact = { .capacity = 100, .bytes = 128, .probes = 7 };
static const struct chain_form blocked = { .capacity = 10000, .bytes = 12800, .words_per_key = 2,
	                                   .bits_per_word = 4 };

static void refuse(const struct chain_form *f, int wanted)
{
	struct chain_settings s = { 0.01, 100, SEED, 2, CHAIN_OWN, 0 };
	struct chain *c, *whole = make(0.01, 100, 2), *before;
	int err = chain_create_as(&c, &s, f, 0, &memory);
	assert_true(wanted ? err == wanted : err < 0);
	fill(whole, 2);
	assert_ok(chain_copy(&before, whole));
	assert_int_equal(chain_append(whole, f, 0), err);
	assert_same(whole, before);
	chain_destroy(whole);
	chain_destroy(before);
}

#define WITH(from, member, value) do { \
	struct chain_form changed = (from); \
	changed.member = (value); \
	refuse(&changed, -EBADMSG); \
} while (0)

static void test_forms_that_no_link_has_are_refused(void **state)
{
	struct chain_form f = blocked;
	(void)state;
	WITH(compact, capacity, 0);
	WITH(compact, capacity, CHAIN_CAPACITY_MOST + 1);
	WITH(compact, bytes, 0);
	WITH(compact, bytes, 127);
	WITH(compact, bytes, CHAIN_COMPACT + 8);
	WITH(compact, bytes, UINT64_MAX - 7);
	WITH(compact, probes, 33);
	WITH(compact, probes, UINT32_MAX);
	WITH(compact, words_per_key, 1);
	WITH(compact, bits_per_word, 1);
	WITH(blocked, capacity, 0);
	WITH(blocked, capacity, UINT64_MAX);
	WITH(blocked, bytes, 0);
	WITH(blocked, bytes, 12801);
	WITH(blocked, bytes, 12808);
	f.words_per_key = 3;
	refuse(&f, 0);
	f.words_per_key = 0xffff;
	refuse(&f, 0);
	f = blocked;
	f.bits_per_word = 0xffff;
	refuse(&f, 0);
}

/* A form that is accepted works, whatever it is. */
static void test_any_form_is_refused_or_works(void **state)
{
	uint64_t dice = 3;
	unsigned works = 0;
	(void)state;
	for (unsigned n = 0; n < 20000; n++) {
		struct chain_settings s = { 0.01, 100, SEED, 2, CHAIN_OWN, 0 };
		struct chain_form f = { .capacity = test_random(&dice) >> test_random(&dice) % 64,
			                .bytes = test_random(&dice) % 9000 };
		struct chain *c;
		f.bytes &= ~(uint64_t)(test_random(&dice) % 4 ? 63 : 0);
		if (test_random(&dice) % 2)
			f.probes = (uint32_t)(test_random(&dice) % 40);
		if (test_random(&dice) % 2) {
			f.words_per_key = (uint32_t)(test_random(&dice) % 10);
			f.bits_per_word = (uint32_t)(test_random(&dice) % 20);
		}
		if (chain_create_as(&c, &s, &f, 1 << 20, &memory))
			continue;
		works++;
		for (uint64_t i = 0; i < 20; i++)
			assert_true(add(c, i) >= 0 && has(c, i));
		assert_int_equal(c->newest->bytes, c->links > 1 ? c->newest->bytes : f.bytes);
		chain_destroy(c);
	}
	assert_true(works > 1000 && works < 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_create_without_memory_leaks_nothing, counted_check),
		cmocka_unit_test_teardown(test_growth_without_memory_changes_nothing,
		                          counted_check),
		cmocka_unit_test_teardown(test_a_limit_refuses_growth_above_it, counted_check),
		cmocka_unit_test_teardown(test_wrong_settings_are_refused, counted_check),
		cmocka_unit_test_teardown(test_forms_that_no_link_has_are_refused, counted_check),
		cmocka_unit_test_teardown(test_any_form_is_refused_or_works, counted_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
