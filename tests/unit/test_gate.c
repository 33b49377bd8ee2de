/* SPDX-License-Identifier: MIT
 * The gate, at a commit and at a refresh. Each check passes a good filter and stops a bad filter,
 * with an error message that names the fault. A refusal keeps the current filter and releases the
 * writer claim. */
#include <math.h>
#include <sys/uio.h>
#include "../handles.h"

static struct weir_handle *h;

static int setup(void **state)
{
	(void)state;
	return weir_handle_create(&h, test_filter(WEIR_BLOCKED, 10000, 0.01), NULL);
}

static int teardown(void **state)
{
	(void)state;
	return weir_handle_destroy(h);
}

/* Reload @n keys and the strings "alpha" and "beta" with @gate.
 * Return: the result of the commit. */
static int commit(const struct weir_gate *gate, uint64_t n)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.gate = gate;
	assert_ok(weir_reload_begin(&r, h, &o));
	for (uint64_t i = 0; i < n; i++)
		assert_ok(weir_reload_insert_hash(r, test_key(i)));
	assert_ok(weir_reload_insert(r, "alpha", 5));
	assert_ok(weir_reload_insert(r, "beta", 4));
	return weir_reload_commit(r);
}

static void passes(const struct weir_gate *gate, uint64_t n)
{
	struct weir_handle_stats before = stats_of(h);
	assert_ok(commit(gate, n));
	assert_int_equal(stats_of(h).generation, before.generation + 1);
	assert_int_equal(stats_of(h).refused, before.refused);
	assert_true(weir_handle_contains(h, "alpha", 5));
}

static void stops(const struct weir_gate *gate, uint64_t n, const char *a, const char *b)
{
	struct weir_handle_stats before = stats_of(h);
	assert_ok(weir_handle_insert(h, "serving", 7));
	assert_refused(commit(gate, n), -ECANCELED, "the gate refused", a);
	assert_non_null(strstr(weir_error_detail(), b));
	assert_one_refused_since(h, &before);
	assert_true(weir_handle_contains(h, "serving", 7));
}

static void test_an_open_gate_passes_everything(void **state)
{
	const struct weir_gate gate = WEIR_GATE_INIT;
	(void)state;
	passes(&gate, 0);
	passes(&gate, 50000); /* five times the capacity */
}

struct seen {
	unsigned calls;
	double keys;
	bool alpha;
	int answer;
};

static int check(const struct weir_filter *next, void *context)
{
	struct seen *seen = context;
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(next, WEIR_SAMPLED, &s));
	seen->calls++;
	seen->keys = s.keys_estimated;
	seen->alpha = weir_contains(next, "alpha", 5);
	return seen->answer;
}

static void test_the_callers_check_decides_last(void **state)
{
	struct seen seen = { 0 };
	struct weir_gate gate = WEIR_GATE_INIT;
	struct iovec gone = { "gamma", 5 };
	(void)state;
	gate.check = check;
	gate.context = &seen;
	passes(&gate, 3000);
	assert_int_equal(seen.calls, 1);
	assert_true(seen.alpha && seen.keys > 2800 && seen.keys < 3200);
	seen.answer = -5;
	stops(&gate, 3000, "check answered -5", "");
	seen.answer = 1;
	stops(&gate, 3000, "check answered 1", "");
	seen = (struct seen){ 0 };
	gate.must_hit = &gone;
	gate.must_hits = 1;
	stops(&gate, 3000, "must_hit", "gamma");
	/* must_hit fails before the caller's own check, which runs last */
	assert_int_equal(seen.calls, 0);
}

static void test_canary_keys_must_hit_or_miss(void **state)
{
	char large[100];
	struct weir_gate gate = WEIR_GATE_INIT;
	struct iovec hits[] = { { "alpha", 5 }, { "beta", 4 }, { "gamma", 5 } };
	struct iovec misses[] = { { "delta", 5 }, { "beta", 4 } };
	(void)state;
	gate.must_hit = hits;
	gate.must_hits = 2;
	passes(&gate, 10);
	gate.must_hits = 3;
	stops(&gate, 10, "key 2 of must_hit, \"gamma\", is not in the next filter", "");
	memset(large, 'x', sizeof large);
	hits[2] = (struct iovec){ large, sizeof large };
	large[63] = 'y';
	stops(&gate, 10, "xxxy\", is not in", "key 2"); /* the message cuts a key at 64 bytes */
	gate.must_hits = 2;
	gate.must_miss = misses;
	gate.must_misses = 1;
	passes(&gate, 10);
	gate.must_misses = 2;
	stops(&gate, 10, "key 1 of must_miss, \"beta\", is in the next filter", "");
}

static void test_limits_on_fill_rate_and_keys(void **state)
{
	struct weir_gate gate = WEIR_GATE_INIT;
	(void)state;
	gate.max_fill = 0.5;
	passes(&gate, 10000);
	stops(&gate, 50000, "fill 0.", "max_fill is 0.5000");
	gate = (struct weir_gate)WEIR_GATE_INIT;
	gate.max_fp_rate = 0.02;
	passes(&gate, 10000);
	stops(&gate, 20000, "absent keys", "max_fp_rate is 0.020000");
	gate = (struct weir_gate)WEIR_GATE_INIT;
	gate.min_keys = 5000;
	passes(&gate, 6000);
	stops(&gate, 4000, "about 4", "min_keys is 5000");
	stops(&gate, 0, "about 2 keys", "min_keys is 5000");
}

/* A second refresh returns 0, because the handle remembers that it refused the file. */
static void test_a_refresh_applies_the_gate(void **state)
{
	char *folder = test_folder(), path[4096];
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 10000, 0.01);
	struct weir_gate gate = WEIR_GATE_INIT;
	struct iovec hit = { "alpha", 5 };
	uint64_t refused = stats_of(h).refused, generation = stats_of(h).generation;
	(void)state;
	snprintf(path, sizeof path, "%s/set.weir", folder);
	gate.must_hit = &hit;
	gate.must_hits = 1;
	o.gate = &gate;
	save.marks = WEIR_MARK_SHRINK_ALLOWED; /* so that only the gate can refuse the file */
	assert_ok(weir_save(f, weir_location_path(path), &save));
	assert_refused(weir_handle_refresh(h, path, &o), -ECANCELED, "key 0 of must_hit",
	               "alpha");
	assert_int_equal(weir_handle_refresh(h, path, &o), 0);
	assert_int_equal(stats_of(h).refused, refused + 1);
	assert_int_equal(stats_of(h).generation, generation);
	assert_ok(weir_insert(f, "alpha", 5));
	assert_ok(weir_save(f, weir_location_path(path), &save));
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	assert_int_equal(stats_of(h).generation, generation + 1);
	weir_destroy(f);
	test_folder_remove(folder);
}

/* Every function with a gate refuses malformed options before it does anything. */
static void assert_malformed(const struct weir_gate *gate, const char *sentence)
{
	struct weir_reload_options reload = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follow_options follow = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *follower = NULL;
	struct weir_reload *r = NULL;
	reload.gate = refresh.gate = gate;
	follow.refresh = &refresh;
	assert_refused(weir_reload_begin(&r, h, &reload), -EINVAL, sentence, "");
	assert_refused(weir_handle_refresh(h, "no such file", &refresh), -EINVAL, sentence,
	               "");
	assert_refused(weir_follower_start(&follower, h, "no such file", &follow), -EINVAL,
	               sentence, "");
}

static void test_malformed_gates_are_refused(void **state)
{
	const struct weir_gate none = WEIR_GATE_INIT;
	struct weir_gate gate = none;
	(void)state;
	gate.must_hits = 1;
	assert_malformed(&gate, "must_hit is NULL, must_hits 1");
	gate = none;
	gate.must_misses = 2;
	assert_malformed(&gate, "must_miss is NULL, must_misses 2");
	gate = none;
	gate.max_fill = NAN;
	assert_malformed(&gate, "max_fill nan");
	gate.max_fill = 50;
	assert_malformed(&gate, "max_fill 50");
	gate = none;
	gate.max_fp_rate = NAN;
	assert_malformed(&gate, "max_fp_rate nan");
	gate.max_fp_rate = 1.5;
	assert_malformed(&gate, "max_fp_rate 1.5");
	gate = none;
	gate.min_keys = NAN;
	assert_malformed(&gate, "min_keys nan");
	gate.min_keys = -1;
	assert_malformed(&gate, "min_keys -1");
}

/* All keys are in the last line of each shard, which WEIR_SAMPLED does not read. */
static void test_every_line_is_counted(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_reload *r;
	(void)state;
	p.capacity = 50000000;
	p.fp_rate = 0.01;
	gate.min_keys = 10;
	o.params = &p;
	o.gate = &gate;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_measure(weir_reload_next(r), WEIR_SAMPLED, &s));
	assert_true(s.sampled < 0.5 && s.shards >= 16);
	for (uint64_t shard = 1; shard <= s.shards; shard++)
		assert_ok(weir_reload_insert_hash(r, shard * (UINT64_MAX / s.shards)));
	assert_ok(weir_measure(weir_reload_next(r), WEIR_SAMPLED, &s));
	assert_true(s.keys_estimated == 0);
	assert_ok(weir_reload_commit(r));
}

/* Overwrites the stack that weir_reload_begin() used, so that the commit fails the test if the
 * reload still points into that stack. */
static __attribute__((noinline)) void write_over_the_stack(void)
{
	volatile char stack[1 << 14];
	for (unsigned i = 0; i < sizeof stack; i++)
		stack[i] = 0;
}

static void test_the_gate_is_copied(void **state)
{
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	(void)state;
	gate.min_keys = 10;
	o.gate = &gate;
	assert_ok(weir_reload_begin(&r, h, &o));
	memset(&gate, 0, sizeof gate);
	memset(&o, 0, sizeof o);
	write_over_the_stack();
	assert_refused(weir_reload_commit(r), -ECANCELED, "min_keys is 10", "about 0 keys");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_open_gate_passes_everything),
		cmocka_unit_test(test_the_callers_check_decides_last),
		cmocka_unit_test(test_canary_keys_must_hit_or_miss),
		cmocka_unit_test(test_limits_on_fill_rate_and_keys),
		cmocka_unit_test(test_a_refresh_applies_the_gate),
		cmocka_unit_test(test_malformed_gates_are_refused),
		cmocka_unit_test(test_every_line_is_counted),
		cmocka_unit_test(test_the_gate_is_copied),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
