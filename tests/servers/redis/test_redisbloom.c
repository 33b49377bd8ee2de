/* SPDX-License-Identifier: MIT
 * RedisBloom's layout of Bloom filters, without Redis. test_takeover.py compares with keys that
 * RedisBloom has made. */
#include <math.h>
#include "chains.h"
#include "murmur.h"

enum { ROUNDED = REDISBLOOM_HASH64, USUAL = REDISBLOOM_HASH64 | REDISBLOOM_NO_ROUND };

static struct chain *make_old(double error, uint64_t capacity, uint64_t growth, uint32_t options)
{
	struct chain_settings s = { error, capacity, 0, growth, CHAIN_REDISBLOOM, options };
	struct chain *c = NULL;
	assert_ok(chain_create(&c, &s, 0, &memory));
	return c;
}

/* ---- hashes ---- */

/* The expected values come from RedisBloom 2.8.20's own functions. */
static void test_hashes_are_those_of_redisbloom(void **state)
{
	static const struct {
		const char *item;
		uint32_t a32, b32;
		uint64_t a64, b64, cuckoo;
	} known[] = {
		{ "", 0x106e08d9, 0x456d9087, UINT64_C(0x1ab11ea5a7b2c56e),
		  UINT64_C(0xbbddcb5ab56dd547), 0 },
		{ "a", 0xa2d0b27c, 0x2e36e8b4, UINT64_C(0x4292cee227b9150a),
		  UINT64_C(0x7e9b527031f50c11), UINT64_C(0x071717d2d36b6b11) },
		{ "abc", 0x1c94221b, 0x08e2b515, UINT64_C(0xca52f3863690cd7b),
		  UINT64_C(0x492e507dc7ce3d23), UINT64_C(0x9cc9c33498a95efb) },
		{ "hello", 0x7f1ddbbd, 0xed999d2d, UINT64_C(0x5ba5b8a59803e699),
		  UINT64_C(0xa7d451d588a0c2a4), UINT64_C(0x1e68d17c457bf117) },
		{ "xxxxxxxxxxxxxxx", 0xc2c093b7, 0x294a0cd1, UINT64_C(0x3ba0a20c07715b10),
		  UINT64_C(0x1041dcaa5223e15f), UINT64_C(0xafdd5d6d9c031292) },
		{ "xxxxxxxxxxxxxxxxx", 0xc5ae7b6d, 0x52739725, UINT64_C(0x57283d56e0d8ba64),
		  UINT64_C(0xcd5cc6ae9d6de2de), UINT64_C(0x137a5e2b36f2ce4a) },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(known); i++) {
		size_t len = strlen(known[i].item);
		struct redisbloom_hash h = redisbloom_hash(0, known[i].item, len);
		assert_true(h.a == known[i].a32 && h.b == known[i].b32);
		h = redisbloom_hash(REDISBLOOM_HASH64, known[i].item, len);
		assert_true(h.a == known[i].a64 && h.b == known[i].b64);
		assert_true(murmur64a(known[i].item, len, 0) == known[i].cuckoo);
		h = redisbloom_hash(REDISBLOOM_HASH64 | REDISBLOOM_SERVER_HASH, known[i].item,
		                    len);
		assert_true(h.a == murmur64a(known[i].item, len, 0x5bd1e995));
		assert_true(h.b == murmur64a(known[i].item, len, h.a & 0xffffffff));
	}
}

/* ---- sizes ---- */

static void check_size(double error, uint64_t capacity, uint32_t options)
{
	struct chain *c = make_old(error, capacity, 2, options);
	const struct chain_link *l = c->newest;
	double each = -log(error) / 0.480453013918201, all = (double)capacity * each;
	assert_int_equal(l->probes, (uint64_t)ceil(0.693147180559945 * each));
	if (options & REDISBLOOM_NO_ROUND) {
		uint64_t bits = (uint64_t)fmax(floor(all), 1);
		assert_int_equal(l->bytes, (bits + 63) / 64 * 8);
		assert_int_equal(l->capacity, capacity);
		assert_int_equal(l->n2, 0);
	} else {
		unsigned n2 = (unsigned)floor(log2(fmax(all, 1))) + 1;
		assert_int_equal(l->n2, n2);
		assert_int_equal(l->bytes, n2 < 6 ? 8 : 1 << (n2 - 3));
		assert_int_equal(l->capacity, capacity + (uint64_t)floor(floor(ldexp(1, (int)n2) -
		                                                               all) / each));
	}
	chain_destroy(c);
}

static void test_sizes_are_those_of_redisbloom(void **state)
{
	static const double errors[] = { 0.9, 0.5, 0.4, 0.2, 0.1, 0.01, 0.001, 1e-6, 1e-12 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++)
		for (uint64_t capacity = 1; capacity < 300000; capacity = capacity * 7 / 5 + 1) {
			check_size(errors[i], capacity, USUAL);
			check_size(errors[i], capacity, ROUNDED);
		}
}

/* Each next link has half of the rate and the capacity times the growth. */
static void test_growth_is_that_of_redisbloom(void **state)
{
	struct chain *c = make_old(0.02, 50, 3, USUAL);
	struct chain_link *link[CHAIN_LINKS];
	uint64_t news = 0, i = 0, capacity = 50;
	(void)state;
	while (c->links < 6) {
		uint64_t before = c->newest->items;
		struct chain_link *newest = c->newest;
		int answer = add(c, i++);
		news += (uint64_t)answer;
		assert_true(c->newest == newest || before == newest->capacity);
		assert_true(has(c, i - 1) && has(c, i / 2));
	}
	assert_int_equal(chain_items(c), news);
	for (unsigned n = 0; n < chain_list(c, link); n++, capacity *= 3) {
		double error = ldexp(0.02, -(int)n), each = -log(error) / 0.480453013918201;
		assert_true(link[n]->error == error);
		assert_int_equal(link[n]->capacity, capacity);
		assert_int_equal(link[n]->bytes,
		                 ((uint64_t)(each * (double)capacity) + 63) / 64 * 8);
		assert_int_equal(link[n]->probes, (uint64_t)ceil(0.693147180559945 * each));
	}
	while (i > 0)
		assert_true(has(c, --i));
	chain_destroy(c);
}

static void test_no_scaling_is_full_whatever_the_growth(void **state)
{
	(void)state;
	for (uint64_t growth = 0; growth < 3; growth++) {
		struct chain *c = make_old(0.01, 30, growth, USUAL | REDISBLOOM_NO_SCALING);
		uint64_t i = fill(c, 1);
		while (has(c, i))
			i++;
		assert_false(chain_scales(c));
		assert_refused(add(c, i), -ENOSPC, "full", "30");
		chain_destroy(c);
	}
}

/* ---- probes ---- */

/* The bits of an item, from the description of the format. */
static void set_bits(unsigned char *bits, const struct chain_link *l, uint32_t options,
                     const void *item, size_t len)
{
	uint64_t modulus = l->n2 ? UINT64_C(1) << l->n2 : l->bytes * 8, a, b;
	if (options & REDISBLOOM_HASH64) {
		a = murmur64a(item, len, UINT64_C(0xc6a4a7935bd1e995));
		b = murmur64a(item, len, a);
	} else {
		a = murmur2(item, len, 0x9747b28c);
		b = murmur2(item, len, (uint32_t)a);
	}
	for (uint64_t i = 0; i < l->probes; i++) {
		uint64_t bit = (a + i * b) % modulus;
		bits[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
}

/* With 2 items and no option, n2 is 5, but there are 64 bits. */
static void check_bits(uint64_t capacity, uint32_t options)
{
	struct chain *c = make_old(0.01, capacity, 2, options);
	unsigned char *bits = calloc(1, c->newest->bytes);
	assert_non_null(bits);
	for (uint64_t i = 0; i < capacity; i++) {
		uint64_t item = test_key(i);
		size_t len = i % 9;
		assert_true(chain_add(c, &item, len, 0) >= 0);
		set_bits(bits, c->newest, options, &item, len);
		assert_memory_equal(c->newest->bits, bits, c->newest->bytes);
	}
	free(bits);
	chain_destroy(c);
}

static void test_an_item_sets_the_bits_of_the_format(void **state)
{
	static const uint32_t options[] = { 0, REDISBLOOM_NO_ROUND, ROUNDED, USUAL };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(options); k++) {
		check_bits(2, options[k]);
		check_bits(500, options[k]);
	}
}

static void test_copies_keep_the_layout(void **state)
{
	static const uint32_t options[] = { 0, ROUNDED, USUAL, USUAL | REDISBLOOM_SERVER_HASH };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(options); k++) {
		struct chain *c = make_old(0.05, 100, 2, options[k]), *copy;
		uint64_t n = fill(c, 3);
		assert_ok(chain_copy(&copy, c));
		assert_same(c, copy);
		for (uint64_t i = 0; i < n; i++)
			assert_true(has(copy, i));
		fill(c, 5);
		fill(copy, 5);
		assert_same(c, copy);
		chain_destroy(c);
		chain_destroy(copy);
	}
}

/* ---- links from an enemy ---- */

static const struct redisbloom_link good = { .bytes = 600, .bits = 4800, .items = 7, .error = 0.1,
	                                     .probes = 4, .capacity = 1000 };

static void refuse(struct redisbloom_link l, const char *text)
{
	const char *wrong;
	l.bits_per_item += redisbloom_bits_per_item(l.error);
	wrong = redisbloom_check(&l);
	assert_non_null(wrong);
	assert_non_null(strstr(wrong, text));
}

#define WITH(member, value, text) do { \
	struct redisbloom_link changed = good; \
	changed.member = (value); \
	refuse(changed, text); \
} while (0)

static void test_links_that_redisbloom_cannot_make_are_refused(void **state)
{
	const double errors[] = { 0, -1, 1, 2, NAN, INFINITY };
	struct redisbloom_link l = good;
	(void)state;
	l.bits_per_item = redisbloom_bits_per_item(l.error);
	assert_null(redisbloom_check(&l));
	l.n2 = 12; /* n2 may be less than all bits */
	assert_null(redisbloom_check(&l));
	l.bits = 0; /* as in old files */
	assert_null(redisbloom_check(&l));
	for (size_t i = 0; i < COUNT_OF(errors); i++)
		WITH(error, errors[i], "error rate");
	WITH(bits_per_item, 0.001, "follow");
	WITH(bits_per_item, NAN, "follow");
	WITH(probes, 3, "follow");
	WITH(probes, UINT32_MAX, "follow");
	WITH(bytes, 0, "bytes or items");
	WITH(bytes, UINT64_C(1) << 61, "bytes or items");
	WITH(capacity, 0, "bytes or items");
	WITH(capacity, 2 * CHAIN_CAPACITY_MOST, "bytes or items");
	WITH(items, 2 * CHAIN_CAPACITY_MOST, "bytes or items");
	WITH(bits, 4799, "contradicts");
	WITH(bits, 0, "contradicts");
	WITH(n2, 13, "contradicts");
	WITH(n2, 64, "contradicts");
	WITH(n2, 255, "contradicts");
	l.bits = 4096;
	assert_non_null(redisbloom_check(&l));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes_are_those_of_redisbloom),
		cmocka_unit_test_teardown(test_sizes_are_those_of_redisbloom, counted_check),
		cmocka_unit_test_teardown(test_growth_is_that_of_redisbloom, counted_check),
		cmocka_unit_test_teardown(test_no_scaling_is_full_whatever_the_growth,
		                          counted_check),
		cmocka_unit_test_teardown(test_an_item_sets_the_bits_of_the_format, counted_check),
		cmocka_unit_test_teardown(test_copies_keep_the_layout, counted_check),
		cmocka_unit_test(test_links_that_redisbloom_cannot_make_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
