/* SPDX-License-Identifier: MIT
 * Cuckoo filters, without Redis: changes, compaction and slots. */
#include "cuckoos.h"
#include "murmur.h"

enum { ITEMS = 3000, COPIES = 3 };

/* Check the filter against @left, the exact number of copies of each item. */
static void check(const struct cuckoo *c, const unsigned *left)
{
	uint64_t sum = 0, slots = 0;
	for (uint64_t i = 0; i < ITEMS; i++) {
		assert_true(count(c, i) >= left[i]);
		sum += left[i];
	}
	assert_int_equal(c->items, sum);
	for (unsigned j = 0; j < c->subs; j++)
		slots += cuckoo_fingerprints(cuckoo_sub(c, j), cuckoo_sub_bytes(c, j));
	assert_int_equal(slots, sum);
}

/* ---- random changes ---- */

/* Add and remove, and remove only items that were added. @bias: additions in 8 changes. */
static void change(struct cuckoo *c, uint64_t dice, unsigned *left, unsigned n, unsigned bias)
{
	while (n-- > 0) {
		uint64_t x = test_random(&dice), i = (x >> 8) % ITEMS;
		if (x % 8 >= bias && left[i]) {
			assert_true(take(c, i));
			left[i]--;
		} else if (x % 8 < bias && left[i] < COPIES) {
			int answer = add(c, i);
			assert_true(answer == 1 || (answer == -ENOSPC && !c->expansion));
			left[i] += answer == 1;
		}
	}
}

static void removals(uint64_t buckets, unsigned bucket, uint64_t expansion)
{
	static unsigned left[ITEMS];
	struct cuckoo *c = make(buckets, bucket, 20, expansion);
	memset(left, 0, sizeof left);
	for (unsigned phase = 0; phase < 12; phase++) {
		change(c, phase * 100000, left, ITEMS, phase % 2 ? 2 : 6);
		check(c, left);
	}
	for (uint64_t i = 0; i < ITEMS; i++)
		for (; left[i]; left[i]--)
			assert_true(take(c, i));
	check(c, left);
	cuckoo_destroy(c);
}

static void test_no_held_item_is_missed_after_removals(void **state)
{
	(void)state;
	for (uint64_t expansion = 1; expansion <= 4; expansion *= 2)
		for (size_t k = 0; k < COUNT_OF(buckets_of_slots); k++) {
			unsigned bucket = buckets_of_slots[k];
			removals(bucket < 255 ? 64 : 1, bucket, expansion);
			removals(2, bucket, expansion);
		}
	for (size_t k = 0; k < COUNT_OF(buckets_of_slots); k++)
		removals(4096, buckets_of_slots[k], 0);
	removals(16, 2, 0); /* full most of the time */
}

static void test_equal_changes_give_equal_fingerprints(void **state)
{
	static unsigned left[ITEMS], again[ITEMS];
	(void)state;
	for (uint64_t expansion = 1; expansion <= 4; expansion *= 2) {
		struct cuckoo *a = make(32, 2, 20, expansion), *b = make(32, 2, 20, expansion);
		struct cuckoo *copy;
		memset(left, 0, sizeof left);
		change(a, 1, left, 3 * ITEMS, 6);
		memset(again, 0, sizeof again);
		change(b, 1, again, 3 * ITEMS, 6);
		assert_same(a, b);
		assert_ok(cuckoo_copy(&copy, a));
		assert_same(a, copy);
		assert_int_equal(cuckoo_usage(a), cuckoo_usage(copy));
		change(a, 2, left, 5 * ITEMS, 3);
		change(copy, 2, again, 5 * ITEMS, 3);
		assert_same(a, copy);
		cuckoo_compact(a);
		cuckoo_compact(copy);
		assert_same(a, copy);
		check(copy, again);
		assert_true(b->subs > 3);
		cuckoo_destroy(a);
		cuckoo_destroy(b);
		cuckoo_destroy(copy);
	}
}

/* ---- compaction ---- */

static void test_compaction_keeps_all_items(void **state)
{
	static unsigned left[ITEMS];
	(void)state;
	for (uint64_t expansion = 1; expansion <= 4; expansion *= 2)
		for (size_t k = 0; k < COUNT_OF(buckets_of_slots); k++) {
			struct cuckoo *c = make(2, buckets_of_slots[k], 20, expansion);
			memset(left, 0, sizeof left);
			change(c, 9, left, 4 * ITEMS, 8);
			unsigned subs = c->subs;
			uint64_t changes = c->changes;
			cuckoo_compact(c);
			check(c, left);
			assert_true(c->subs <= subs && c->changes == changes + 1 && !c->deleted);
			cuckoo_destroy(c);
		}
}

/* Removals free the newest sub filters: more than 10 % of the items were deleted. */
static void test_removals_compact_the_filter(void **state)
{
	static unsigned left[ITEMS];
	struct cuckoo *c = make(64, 2, 20, 1);
	(void)state;
	for (uint64_t i = 0; i < ITEMS; i++) {
		assert_int_equal(add(c, i), 1);
		left[i] = 1;
	}
	unsigned subs = c->subs;
	for (uint64_t i = 0; i < ITEMS; i++)
		if (i % 10) {
			assert_true(take(c, i));
			left[i] = 0;
			assert_true((double)c->deleted <= (double)c->items * 0.1 || c->subs == 1);
		}
	check(c, left);
	assert_true(c->subs < subs / 4);
	cuckoo_destroy(c);
}

/* As RedisBloom, which compacts above 10 %, not at 10 %. */
static void test_removal_of_a_tenth_does_not_compact(void **state)
{
	struct cuckoo *c = make(1, 2, 20, 1);
	(void)state;
	for (uint64_t i = 0; i < 11; i++)
		assert_int_equal(add(c, i), 1);
	assert_true(take(c, 0));
	assert_int_equal(c->items, 10);
	assert_int_equal(c->deleted, 1);
	assert_true(take(c, 1));
	assert_int_equal(c->deleted, 0);
	cuckoo_destroy(c);
}

/* ---- one item ---- */

/* The slots are those of RedisBloom's layout: here the first free slot of the first bucket. */
static void check_slot(bool old_hash, uint64_t i)
{
	struct cuckoo_settings s = { 64, old_hash ? 0 : SEED, 2, 20, 1, old_hash };
	uint64_t item = test_key(i);
	struct cuckoo *c;
	assert_ok(cuckoo_create(&c, &s, 0, &memory));
	uint64_t h = old_hash ? murmur2(&item, sizeof item, 0)
	                      : murmur64a(&item, sizeof item, SEED);
	uint64_t fp = !old_hash ? h % 255 + 1 : h >> 24 ? h >> 24 : 7;
	uint64_t first = h % 64, second = (h ^ fp * 0x5bd1e995) % 64;
	for (unsigned copies = 1; copies <= 4; copies++) {
		uint64_t bucket = copies <= 2 || first == second ? first : second;
		unsigned slot = (copies - 1) % 2;
		assert_int_equal(cuckoo_add(c, &item, sizeof item, false, 0), 1);
		if (c->subs == 1)
			assert_int_equal(cuckoo_sub(c, 0)[bucket * 2 + slot], fp);
		assert_int_equal(count(c, i), copies);
	}
	assert_int_equal(c->subs, first == second ? 2 : 1);
	for (unsigned copies = 4; copies-- > 0;) {
		assert_true(take(c, i));
		assert_int_equal(count(c, i), copies);
	}
	assert_false(take(c, i));
	assert_int_equal(c->items, 0);
	assert_int_equal(cuckoo_fingerprints(cuckoo_sub(c, 0), 128), 0);
	cuckoo_destroy(c);
}

static void test_copies_of_an_item_are_counted(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 500; i++) {
		check_slot(false, i);
		check_slot(true, i);
	}
}

/* Insert as RedisBloom does, from the description of its layout. Return: false if no slot became
 * free; the caller then restores the array. */
static bool insert_as_described(unsigned char *slots, uint64_t buckets, unsigned bucket,
                                unsigned iterations, uint64_t item)
{
	uint64_t h = murmur64a(&item, sizeof item, 0), fp = h % 255 + 1;
	uint64_t at[2] = { h % buckets, (h ^ fp * 0x5bd1e995) % buckets };
	for (unsigned i = 0; i < 2 * bucket; i++) {
		unsigned char *slot = slots + at[i / bucket] * bucket + i % bucket;
		if (!*slot) {
			*slot = (unsigned char)fp;
			return true;
		}
	}
	for (unsigned i = 0; i < iterations; i++) {
		unsigned char *victim = slots + at[0] * bucket + i % bucket, was = *victim;
		*victim = (unsigned char)fp;
		fp = was;
		at[0] = (at[0] ^ fp * 0x5bd1e995) % buckets;
		for (unsigned slot = 0; slot < bucket; slot++)
			if (!slots[at[0] * bucket + slot]) {
				slots[at[0] * bucket + slot] = (unsigned char)fp;
				return true;
			}
	}
	return false;
}

static void compare_evictions(unsigned bucket, unsigned iterations)
{
	enum { BUCKETS = 64 };
	static unsigned char slots[BUCKETS * 4], tried[BUCKETS * 4];
	struct cuckoo_settings s = { BUCKETS, 0, bucket, iterations, 0, false };
	unsigned refused = 0;
	struct cuckoo *c;
	assert_ok(cuckoo_create(&c, &s, 0, &memory));
	memset(slots, 0, sizeof slots);
	for (uint64_t i = 0; i < 6 * BUCKETS * bucket; i++) {
		memcpy(tried, slots, sizeof slots);
		bool in = insert_as_described(tried, BUCKETS, bucket, iterations, test_key(i));
		assert_int_equal(add(c, i), in ? 1 : -ENOSPC);
		if (in)
			memcpy(slots, tried, sizeof slots);
		refused += !in;
		assert_memory_equal(cuckoo_sub(c, 0), slots, BUCKETS * bucket);
	}
	assert_true(refused > 0);
	cuckoo_destroy(c);
}

static void test_evictions_are_those_of_redisbloom(void **state)
{
	(void)state;
	for (unsigned bucket = 1; bucket <= 4; bucket++) {
		compare_evictions(bucket, 1);
		compare_evictions(bucket, 2);
		compare_evictions(bucket, 5);
		compare_evictions(bucket, 20);
	}
}

static void test_absent_adds_an_item_once(void **state)
{
	struct cuckoo *c = make(64, 2, 20, 1);
	(void)state;
	for (uint64_t item = 0; item < 300; item++) {
		bool there = cuckoo_has(c, &item, sizeof item);
		assert_int_equal(cuckoo_add(c, &item, sizeof item, true, 0), !there);
		uint64_t changes = c->changes;
		assert_int_equal(cuckoo_add(c, &item, sizeof item, true, 0), 0);
		assert_int_equal(c->changes, changes);
		assert_int_equal(c->items, changes);
	}
	cuckoo_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_no_held_item_is_missed_after_removals,
		                          counted_check),
		cmocka_unit_test_teardown(test_equal_changes_give_equal_fingerprints,
		                          counted_check),
		cmocka_unit_test_teardown(test_compaction_keeps_all_items, counted_check),
		cmocka_unit_test_teardown(test_removals_compact_the_filter, counted_check),
		cmocka_unit_test_teardown(test_removal_of_a_tenth_does_not_compact, counted_check),
		cmocka_unit_test_teardown(test_copies_of_an_item_are_counted, counted_check),
		cmocka_unit_test_teardown(test_evictions_are_those_of_redisbloom, counted_check),
		cmocka_unit_test_teardown(test_absent_adds_an_item_once, counted_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
