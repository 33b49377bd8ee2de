/* SPDX-License-Identifier: MIT
 * The gate of a set that is reloaded shard by shard. The gate checks the figures that the whole set
 * would have with the new shard ([GATE-WHOLE-SET] to [GATE-SHORT-SOURCE] of
 * src/set/reload/gate_shard.c). */
#include "gate_sharded.h"

static void test_min_keys_counts_the_whole_set(void **state)
{
	(void)state;
	insert(0, KEYS);
	gate.min_keys = 0.9 * KEYS;
	/* a single shard never has 0.9 * KEYS keys */
	assert_ok(reload((struct source){ 0, KEYS, { NULL } }));
	assert_int_equal(stats().oldest, 2);
	/* the source has 80 % of the keys, so the first shards pass and a later shard is refused */
	assert_refused(reload((struct source){ 0, KEYS * 8 / 10, { NULL } }), -ECANCELED,
	               "keys in the set with this shard", "min_keys is 9000");
	assert_int_equal(stats().oldest, 2);
	assert_int_equal(stats().generation, 3);
	assert_true(figures().keys_estimated >= gate.min_keys);
}

static void test_an_empty_source_is_refused_at_the_first_shard(void **state)
{
	(void)state;
	insert(0, KEYS);
	gate.min_keys = KEYS / 2;
	assert_refused(reload((struct source){ 0, 0, { NULL } }), -ECANCELED,
	               "about 0 keys in shard 0", "share of min_keys 5000 is 625");
	assert_refused(reload((struct source){ 0, KEYS / 4, { NULL } }), -ECANCELED, "in shard 0",
	               "share of min_keys 5000 is 625");
	assert_int_equal(missing(0, KEYS), 0);
	assert_int_equal(stats().generation, 1);
}

/* During a first load the set has fewer keys than min_keys, because many shards are still empty.
 * The gate must pass the first shards all the same. */
static void test_a_first_load_passes_min_keys(void **state)
{
	(void)state;
	gate.min_keys = 0.9 * KEYS;
	for (uint32_t i = 0; i < SHARDS / 2; i++)
		assert_ok(replace(i, (struct source){ 0, KEYS, { NULL } }));
	/* reload all shards with other keys; some shards get fewer keys than before */
	assert_ok(reload((struct source){ KEYS, 2 * KEYS, { NULL } }));
	assert_int_equal(missing(KEYS, 2 * KEYS), 0);
}

/* With few keys a shard may be empty, so earlier shards cannot reveal a short source. */
static void test_few_keys_are_checked_at_the_last_shard(void **state)
{
	(void)state;
	gate.min_keys = 20;
	assert_refused(reload((struct source){ 0, 10, { NULL } }), -ECANCELED,
	               "about 10 keys in the set with this shard 7", "min_keys is 20");
	assert_int_equal(stats().oldest, 1);
	assert_ok(reload((struct source){ 0, 25, { NULL } }));
	assert_int_equal(missing(0, 25), 0);
	assert_refused(reload((struct source){ 0, 0, { NULL } }), -ECANCELED, "keys in the set",
	               "");
	assert_true(figures().keys_estimated > 19);
}

static void test_min_keys_of_one_is_checked_at_the_last_shard(void **state)
{
	(void)state;
	gate.min_keys = 1;
	assert_refused(reload((struct source){ 0, 0, { NULL } }), -ECANCELED,
	               "keys in the set with this shard 7", "min_keys is 1");
	assert_ok(reload((struct source){ 0, 2, { NULL } }));
	assert_int_equal(missing(0, 2), 0);
}

static void test_every_limit_must_be_met(void **state)
{
	(void)state;
	insert(0, KEYS);
	gate.min_keys = 0.9 * KEYS;
	gate.max_fill = 0.99;
	gate.max_fp_rate = 0.99;
	assert_refused(replace(0, (struct source){ 0, 0, { NULL } }), -ECANCELED, "min_keys", "");
	gate.min_keys = 1;
	gate.max_fill = 0.01;
	assert_refused(replace(0, (struct source){ 0, KEYS, { NULL } }), -ECANCELED, "max_fill",
	               "");
	gate.max_fill = 0.99;
	gate.max_fp_rate = 1e-6;
	assert_refused(replace(0, (struct source){ 0, KEYS, { NULL } }), -ECANCELED,
	               "max_fp_rate", "");
	gate.max_fp_rate = 0.99;
	assert_ok(replace(0, (struct source){ 0, KEYS, { NULL } }));
}

/* A single overfull shard passes while the whole set stays within max_fp_rate. */
static void test_max_fp_rate_limits_the_whole_set(void **state)
{
	struct weir_stats one = WEIR_STATS_INIT;
	(void)state;
	insert(0, KEYS);
	gate.max_fp_rate = 0.013;
	assert_ok(replace(3, (struct source){ 0, KEYS * 5 / 4, { NULL } }));
	assert_ok(weir_measure(weir_handle_get_shard(set, 3), WEIR_EXACT, &one));
	assert_true(one.fp_rate_estimated > 0.02);
	assert_refused(reload((struct source){ 0, KEYS * 2, { NULL } }), -ECANCELED,
	               "the set with this shard 0 answers 0.0", "max_fp_rate is 0.013000");
	assert_true(figures().fp_rate_estimated <= 0.013);
	gate.max_fp_rate = 0.005;
	assert_refused(replace(2, (struct source){ 0, KEYS * 5 / 4, { NULL } }), -ECANCELED,
	               "max_fp_rate is 0.005000", "");
}

static void test_max_fill_limits_the_whole_set(void **state)
{
	struct weir_stats one = WEIR_STATS_INIT;
	(void)state;
	insert(0, KEYS);
	gate.max_fill = figures().fill + 0.02;
	assert_ok(replace(3, (struct source){ 0, KEYS * 5 / 4, { NULL } }));
	assert_ok(weir_measure(weir_handle_get_shard(set, 3), WEIR_EXACT, &one));
	assert_true(one.fill > gate.max_fill);
	assert_refused(reload((struct source){ 0, KEYS * 2, { NULL } }), -ECANCELED,
	               "of the set with this shard", "where max_fill is");
	assert_true(figures().fill <= gate.max_fill);
}

/* Replacing one shard cannot bring the set within the limits, so a shard passes if it meets its own
 * share of the limits. */
static void test_an_overfull_set_can_be_reloaded(void **state)
{
	(void)state;
	insert(0, 2 * KEYS);
	gate.max_fp_rate = 0.015;
	gate.max_fill = 0.5;
	assert_true(figures().fp_rate_estimated > 0.1 && figures().fill > 0.6);
	assert_refused(replace(0, (struct source){ 0, 2 * KEYS + 100, { NULL } }), -ECANCELED,
	               "max_fill", "");
	for (uint32_t i = 0; i < SHARDS / 2; i++)
		assert_ok(replace(i, (struct source){ 0, KEYS, { NULL } }));
	assert_true(figures().fp_rate_estimated > 0.03 && figures().fill > 0.5);
	/* reload all shards; some shards are fuller now than before */
	assert_ok(reload((struct source){ KEYS, 2 * KEYS, { NULL } }));
	assert_true(figures().fp_rate_estimated <= 0.015 && figures().fill <= 0.5);
}

enum { LARGE = 100000000, PARTS = 64 }; /* LARGE: twice the capacity that a sample covers */

/* Return: the sums over all shards except shard 5. @effort: WEIR_EXACT, or WEIR_SAMPLED for a
 * sample of half of the bits. */
static struct weir_stats others(uint32_t effort)
{
	struct weir_stats sum = WEIR_STATS_INIT, one = WEIR_STATS_INIT;
	for (uint32_t i = 0; i < PARTS; i++) {
		assert_ok(weir_measure(weir_handle_get_shard(set, i), effort, &one));
		sum.keys_estimated += i == 5 ? 0 : one.keys_estimated;
		sum.fill += i == 5 ? 0 : one.fill;
		sum.fp_rate_estimated += i == 5 ? 0 : one.fp_rate_estimated;
	}
	return sum;
}

/* Make a large set of 1000 keys. Choose the keys so that a sample of the shards except shard 5
 * shows @from to @to times their true fill. Return: the exact sums of others(). */
static struct weir_stats make_large(double from, double to)
{
	struct weir_stats all, half;
	uint64_t first = 0;
	do {
		assert_ok(weir_handle_destroy(set));
		make(LARGE, PARTS);
		insert(first, first + 1000);
		first += 1000;
		all = others(WEIR_EXACT), half = others(WEIR_SAMPLED);
	} while (half.fill < from * all.fill || half.fill > to * all.fill);
	return all;
}

static void test_a_large_set_is_sampled(void **state)
{
	const char *sentence = weir_error_detail();
	double keys = 0;
	(void)state;
	struct weir_stats all = make_large(0.9, 1.1);
	gate.min_keys = 2000;
	assert_refused(replace(5, (struct source){ 0, 0, { NULL } }), -ECANCELED,
	               "keys in the set with this shard 5", "min_keys is 2000");
	assert_int_equal(sscanf(sentence, "the gate refused: about %lf", &keys), 1);
	assert_true(keys > all.keys_estimated - 1 && keys < all.keys_estimated + 1);
	gate.min_keys = 500;
	assert_ok(replace(5, (struct source){ 0, 0, { NULL } }));
}

/* The gate reads every bit before it refuses. */
static void test_a_refusal_by_sample_is_checked_exactly(void **state)
{
	(void)state;
	struct weir_stats all = make_large(0.9, 0.98);
	gate.min_keys = all.keys_estimated - 5;
	assert_ok(replace(5, (struct source){ 0, 0, { NULL } }));
	all = make_large(1.02, 1.1);
	gate.min_keys = 0;
	/* the new shard's share of 2000 keys adds 3 % to the fill */
	gate.max_fill = 1.04 * all.fill / PARTS;
	gate.max_fp_rate = 1.04 * all.fp_rate_estimated / PARTS;
	assert_ok(replace(5, (struct source){ 0, 2000, { NULL } }));
}

/* The commit does not read the whole set, so the limits are exact only to a few percent. */
static void test_a_sample_within_the_limits_passes(void **state)
{
	(void)state;
	struct weir_stats all = make_large(0.9, 0.98);
	gate.max_fill = 0.995 * all.fill / PARTS;
	assert_ok(replace(5, (struct source){ 0, 0, { NULL } }));
	gate.max_fill = 0;
	gate.max_fp_rate = 0.995 * all.fp_rate_estimated / PARTS;
	assert_ok(replace(5, (struct source){ 0, 0, { NULL } }));
	all = make_large(1.02, 1.1);
	gate.max_fp_rate = 0;
	gate.min_keys = all.keys_estimated + 5;
	assert_ok(replace(5, (struct source){ 0, 0, { NULL } }));
}

static void test_every_bit_of_the_new_shard_is_read(void **state)
{
	const char *sentence = weir_error_detail();
	unsigned there = 0, seen = 0;
	(void)state;
	assert_ok(weir_handle_destroy(set));
	make(LARGE, PARTS);
	for (uint64_t i = 0; i < 20 * PARTS; i++)
		there += weir_handle_shard(set, test_key(i)) == 5;
	gate.min_keys = LARGE;
	assert_refused(replace(5, (struct source){ 0, 20 * PARTS, { NULL } }), -ECANCELED,
	               "keys in shard 5", "the share of min_keys");
	assert_int_equal(sscanf(sentence, "the gate refused: about %u keys", &seen), 1);
	assert_in_range(seen, there - 1, there + 1);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_min_keys_counts_the_whole_set),
		fresh(test_an_empty_source_is_refused_at_the_first_shard),
		fresh(test_a_first_load_passes_min_keys),
		fresh(test_few_keys_are_checked_at_the_last_shard),
		fresh(test_min_keys_of_one_is_checked_at_the_last_shard),
		fresh(test_every_limit_must_be_met),
		fresh(test_max_fp_rate_limits_the_whole_set),
		fresh(test_max_fill_limits_the_whole_set),
		fresh(test_an_overfull_set_can_be_reloaded),
		fresh(test_a_large_set_is_sampled),
		fresh(test_a_refusal_by_sample_is_checked_exactly),
		fresh(test_a_sample_within_the_limits_passes),
		fresh(test_every_bit_of_the_new_shard_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
