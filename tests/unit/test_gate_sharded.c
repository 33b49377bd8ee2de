/* SPDX-License-Identifier: MIT
 * The gate of a set that is reloaded shard by shard. The gate looks up each canary key in the
 * shard that the key belongs to. The tests also cover options that cannot apply to a shard, and the
 * set after a refusal. */
#include <sys/uio.h>
#include "gate_sharded.h"

static bool has(const char *word)
{
	return weir_handle_contains(set, word, strlen(word));
}

static uint32_t shard_of(const char *word)
{
	return weir_handle_shard(set, weir_handle_hash(set, word, strlen(word)));
}

static const struct iovec words[] = { { "alpha", 5 }, { "beta", 4 }, { "gamma", 5 },
                                      { "delta", 5 } };

/* At least two of the keys belong to different shards. */
static void test_a_present_must_hit_passes(void **state)
{
	(void)state;
	assert_int_not_equal(shard_of("alpha"), shard_of("beta"));
	gate.must_hit = words;
	gate.must_hits = 4;
	assert_ok(reload((struct source){ 0, 100, { "alpha", "beta", "gamma", "delta" } }));
	assert_int_equal(stats().oldest, 2);
	assert_true(has("alpha") && has("beta") && has("gamma") && has("delta"));
}

static void test_a_missing_must_hit_is_refused(void **state)
{
	(void)state;
	gate.must_hit = words;
	gate.must_hits = 4;
	insert(0, 100);
	assert_refused(reload((struct source){ 0, 100, { "alpha", "gamma", "delta" } }), -ECANCELED,
	               "the gate refused: key 1 of must_hit, \"beta\", is not in", "");
	assert_int_equal(missing(0, 100), 0);
	assert_int_equal(stats().oldest, 1);
	assert_refused(replace(shard_of("beta"), (struct source){ 0, 100, { NULL } }), -ECANCELED,
	               "key 1 of must_hit, \"beta\", is not in", "");
}

static void test_a_present_must_miss_is_refused(void **state)
{
	(void)state;
	gate.must_miss = words;
	gate.must_misses = 4;
	insert(0, 100);
	for (size_t i = 0; i < 4; i++) {
		const char *word = words[i].iov_base;
		char sentence[64];
		snprintf(sentence, sizeof sentence, "key %zu of must_miss, \"%s\", is in", i, word);
		assert_refused(reload((struct source){ 0, 100, { word } }), -ECANCELED, sentence,
		               "");
		assert_false(has(word));
	}
	assert_ok(reload((struct source){ 0, 100, { "epsilon" } }));
	assert_true(has("epsilon"));
}

static void test_canaries_of_other_shards_are_skipped(void **state)
{
	uint32_t other = (shard_of("alpha") + 1) % SHARDS;
	(void)state;
	gate.must_hit = words;
	gate.must_hits = 1;
	assert_ok(replace(other, (struct source){ 0, 100, { NULL } }));
	assert_ok(weir_handle_insert(set, "alpha", 5));
	gate.must_hits = 0;
	gate.must_miss = words;
	gate.must_misses = 1;
	assert_ok(replace(other, (struct source){ 0, 100, { NULL } }));
}

static int never(const struct weir_filter *next, void *context)
{
	(void)next, (void)context;
	fail();
	return 0;
}

static void test_unsupported_checks_are_refused(void **state)
{
	struct weir_reload *r;
	(void)state;
	gate.check = never;
	assert_refused(shard_begin(&r, set, 0, &options), -EINVAL, "gate.check",
	               "weir_reload_next()");
	assert_refused(reload((struct source){ 0, 10, { NULL } }), -EINVAL, "gate.check", "");
	assert_int_equal(stats().generation, 1);
}

static void test_a_refused_shard_keeps_its_contents(void **state)
{
	(void)state;
	insert(0, 100);
	gate.min_keys = 100;
	uint64_t before = stats().bytes;
	assert_refused(reload((struct source){ 0, 0, { NULL } }), -ECANCELED, "the gate refused",
	               "min_keys");
	assert_int_equal(stats().bytes, before);
	assert_int_equal(missing(0, 100), 0);
	options.gate = NULL;
	assert_ok(replace(2, (struct source){ 0, 100, { NULL } }));
	/* only shard 2 has a newer generation */
	assert_int_equal(stats().oldest, 1);
	assert_int_equal(stats().generation, 2);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_a_present_must_hit_passes),
		fresh(test_a_missing_must_hit_is_refused),
		fresh(test_a_present_must_miss_is_refused),
		fresh(test_canaries_of_other_shards_are_skipped),
		fresh(test_unsupported_checks_are_refused),
		fresh(test_a_refused_shard_keeps_its_contents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
