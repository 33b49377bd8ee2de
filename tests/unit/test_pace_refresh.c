/* SPDX-License-Identifier: MIT
 * The pace of refreshes and gates. A refresh sleeps, and calls progress between two sleeps, so
 * that progress can stop the refresh. The gate of a shard also sleeps. Paces out of range are
 * refused. */
#include "../followers.h"
#include "../paced.h"
#include "../sharded.h"

static struct weir_handle *h;
static struct weir_refresh_options options;
static struct weir_gate gate;

/* The calls of the progress function. */
static struct {
	unsigned calls, stop_at;
	unsigned after_sleep; /* calls right after a sleep, with an unchanged number of bytes */
	unsigned sleeps;
	uint64_t done;
} seen;

static int watch(void *arg, uint64_t done, uint64_t total)
{
	bool after_sleep = done == seen.done && fake.sleeps > seen.sleeps && seen.calls;
	(void)arg, (void)total;
	seen.after_sleep += after_sleep;
	seen.done = done;
	seen.sleeps = fake.sleeps;
	return ++seen.calls == seen.stop_at;
}

static int open_it(void **state)
{
	(void)setup(state);
	start(flavors);
	h = open_handle(flavors, CAPACITY);
	insert_into(h, 0, 1000);
	gate = (struct weir_gate)WEIR_GATE_INIT;
	gate.min_keys = 1;
	options = (struct weir_refresh_options)WEIR_REFRESH_OPTIONS_INIT;
	options.progress = watch;
	options.carry = true;
	options.gate = &gate;
	memset(&seen, 0, sizeof seen);
	struct weir_filter *f = test_filter(WEIR_BLOCKED, CAPACITY, 0.01);
	for (uint64_t i = 1000; i < 2000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	return 0;
}

static int close_it(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

/* Each call of progress ends a step of work, except the calls right after a sleep. */
static void test_a_refresh_sleeps_between_steps(void **state)
{
	(void)state;
	/* each step of work, 0.3 ms long, adds 29.7 ms to the sleep that is due */
	options.pace = 0.01;
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
	assert_rested_but(0.01, seen.calls - seen.after_sleep, LEAST);
	/* the refresh reads, merges and counts 5 MiB, with a call of progress per MiB */
	assert_true(seen.calls - seen.after_sleep > 12);
	assert_true(seen.after_sleep < fake.sleeps && seen.after_sleep > fake.sleeps * 3 / 4);
	assert_int_equal(missing_in(h, 0, 2000), 0);
	assert_int_equal(stats_of(h).swaps, 1);
}

static void test_without_a_pace_a_refresh_never_sleeps(void **state)
{
	(void)state;
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
	assert_int_equal(fake.looks, 0);
	assert_int_equal(fake.sleeps, 0);
	assert_int_equal(seen.after_sleep, 0);
}

/* The last step may leave a debt too small for a sleep. */
static void test_a_refresh_sleeps_off_its_last_debt(void **state)
{
	static const double paces[] = { 0.3, 0.1, 0.05, 0.03, 0.02, 0.015 };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(paces); i++) {
		close_handle(flavors, h);
		h = open_handle(flavors, CAPACITY);
		insert_into(h, 0, 1000);
		start(flavors);
		memset(&seen, 0, sizeof seen);
		options.pace = paces[i];
		assert_int_equal(weir_handle_refresh(h, path, &options), 1);
		assert_rested_but(paces[i], seen.calls - seen.after_sleep, LEAST);
	}
}

/* A file whose refresh was stopped does not count as refused. */
static void test_progress_can_stop_a_refresh_between_sleeps(void **state)
{
	(void)state;
	options.pace = 0.01;
	for (unsigned at = 1; at < 30; at += 4) {
		start(flavors);
		memset(&seen, 0, sizeof seen);
		seen.stop_at = at;
		assert_refused(weir_handle_refresh(h, path, &options), -ECANCELED, "stopped",
		               "progress");
		assert_int_equal(seen.calls, at);
		assert_true(fake.sleeps < at);
		assert_int_equal(stats_of(h).swaps + stats_of(h).refused, 0);
	}
	memset(&seen, 0, sizeof seen);
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
}

static void test_a_mapped_file_is_verified_at_the_pace(void **state)
{
	(void)state;
	options.map = true;
	options.carry = false;
	options.pace = 0.5;
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
	assert_rested_but(0.5, seen.calls - seen.after_sleep, LEAST);
	assert_int_equal(missing_in(h, 1000, 2000), 0);
	assert_true(missing_in(h, 0, 1000) > 900);
}

/* A refresh touches the pages of a mapped file last. Progress is called after 2, 4 and 5 MiB. */
static void test_progress_can_stop_touching_mapped_pages(void **state)
{
	(void)state;
	options.map = true;
	options.carry = false;
	options.gate = NULL;
	options.pace = 1;
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
	unsigned calls = seen.calls;
	close_handle(flavors, h);
	h = open_handle(flavors, CAPACITY);
	insert_into(h, 0, 1000);
	memset(&seen, 0, sizeof seen);
	seen.stop_at = calls - 2;
	assert_refused(weir_handle_refresh(h, path, &options), -ECANCELED, "stopped",
	               "2097152 of");
	assert_int_equal(seen.calls, calls - 2);
	assert_int_equal(stats_of(h).swaps, 0);
}

/* The time of the gate's check belongs to the caller, so the loader does not sleep for it. */
static int check_for_long(const struct weir_filter *next, void *context)
{
	(void)next, (void)context;
	fake.cpu += UINT64_C(1000000000);
	return 0;
}

static void test_the_gates_check_makes_no_debt(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	(void)state;
	gate.check = check_for_long;
	options.pace = o.pace = 0.01;
	o.gate = &gate;
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
	assert_rested_but(0.01, seen.calls - seen.after_sleep, LEAST);
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	start(flavors);
	assert_ok(weir_reload_commit(r));
	/* the commit sleeps for the 5 MiB that the gate counted, and for the debt that the copy
	 * left */
	assert_rested_but(0.01, 6, PUT_OFF);
}

static int fill(struct weir_reload *r, uint32_t shard, void *context)
{
	(void)shard;
	for (uint64_t i = 0; i < 1000; i++) {
		/* two keys per call, because not every call for a single key is timed */
		uint64_t hash[2] = { test_key(i), test_key(i) };
		int64_t answer = weir_reload_insert_keys(r, weir_keys_hashes(hash, 2), NULL);
		if (answer < 0)
			return (int)answer;
	}
	*(uint64_t *)context = fake.slept;
	return 0;
}

/* Two shards of 5 MiB. The gate of the second shard also reads the first shard. */
static void test_the_gate_of_a_shard_sleeps(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *set;
	uint64_t filled = 0;
	(void)state;
	p.capacity = 2 * (uint64_t)CAPACITY, p.fp_rate = 0.01;
	assert_ok(sharded_create(&set, &p, 2, NULL));
	o.pace = 0.1;
	o.gate = &gate;
	start(flavors);
	assert_ok(weir_reload_all(set, &o, fill, &filled));
	/* for each shard, 3 steps touch pages and 1000 steps insert keys; the first gate counts one
	 * shard and the second gate both shards, with 4 steps for each count */
	assert_rested_but(0.1, 2 * (3 + 1000) + 3 * 4, 4 * LEAST);
	assert_true(fake.slept - filled >= 2 * 4 * STEP * 9 - LEAST);
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(weir_handle_contains_hash(set, test_key(i)));
	assert_ok(weir_handle_destroy(set));
}

static void test_paces_out_of_range_are_refused(void **state)
{
	static const struct { double pace; const char *shown; } wrong[] = {
		{ -0.1, "pace -0.1:" }, { 0.0009, "pace 0.0009:" }, { 1.5, "pace 1.5:" },
		{ (double)NAN, "nan" }, { (double)INFINITY, "pace inf:" },
		{ 1e-300, "pace 1e-300:" },
	};
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_follow_options watching = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_follower *follower;
	struct weir_handle *set;
	struct weir_reload *r;
	(void)state;
	p.capacity = 1000, p.fp_rate = 0.01;
	assert_ok(sharded_create(&set, &p, 2, NULL));
	watching.refresh = &options;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		const char *shown = wrong[i].shown, *allowed = "0.001 to 1";
		options.pace = o.pace = wrong[i].pace;
		assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, shown, allowed);
		assert_refused(shard_begin(&r, set, 0, &o), -EINVAL, shown, allowed);
		assert_refused(weir_handle_refresh(h, path, &options), -EINVAL, shown,
		               allowed);
		assert_refused(weir_follower_start(&follower, h, path, &watching), -EINVAL, shown,
		               allowed);
	}
	options.pace = o.pace = 0.001;
	assert_ok(weir_reload_begin(&r, h, &o)); /* the refused calls left no reload in progress */
	weir_reload_abort(r);
	/* the file does not count as refused */
	assert_int_equal(weir_handle_refresh(h, path, &options), 1);
	assert_ok(weir_handle_destroy(set));
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_a_refresh_sleeps_between_steps),
		fresh(test_without_a_pace_a_refresh_never_sleeps),
		fresh(test_a_refresh_sleeps_off_its_last_debt),
		fresh(test_progress_can_stop_a_refresh_between_sleeps),
		fresh(test_a_mapped_file_is_verified_at_the_pace),
		fresh(test_progress_can_stop_touching_mapped_pages),
		fresh(test_the_gates_check_makes_no_debt),
		fresh(test_the_gate_of_a_shard_sleeps),
		fresh(test_paces_out_of_range_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
