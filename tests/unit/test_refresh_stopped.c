/* SPDX-License-Identifier: MIT
 * These steps of a refresh call progress at least once per MiB and can be stopped: reading, the
 * counts of the sanity check and of the gate, and carry. The file of a stopped refresh
 * does not count as refused. Nothing is published, the current set stays, and a later refresh
 * accepts the file. */
#include <stdatomic.h>
#include "../followers.h"

enum { CAPACITY = 4000000 }; /* a filter of 5 MiB */

static struct weir_handle *h;
static struct weir_refresh_options options;
static struct weir_gate gate;

/* The calls of the progress function. Each step begins to count the bytes from 0. */
static struct {
	/* steps: number of steps that have begun. stop_in: number of the step whose second call
	 * stops the refresh; 0: no call stops it. */
	unsigned steps, stop_in;
	unsigned calls;          /* calls in the current step */
	uint64_t done, longest;  /* longest: the largest number of bytes between two calls */
} seen;

static int watch(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	assert_true(done <= total);
	if (!seen.steps || done <= seen.done) {
		seen.steps++;
		seen.calls = 0;
		seen.done = 0;
	}
	seen.calls++;
	if (done - seen.done > seen.longest)
		seen.longest = done - seen.done;
	seen.done = done;
	return seen.steps == seen.stop_in && seen.calls == 2;
}

static int open_it(void **state)
{
	(void)setup(state);
	h = open_handle(flavors, CAPACITY);
	insert_into(h, 0, 100);
	gate = (struct weir_gate)WEIR_GATE_INIT;
	options = (struct weir_refresh_options)WEIR_REFRESH_OPTIONS_INIT;
	options.progress = watch;
	return 0;
}

static int close_it(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

static void save_large(uint64_t from, uint64_t to)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, CAPACITY, 0.01);
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static int refresh(unsigned stop_in)
{
	memset(&seen, 0, sizeof seen);
	seen.stop_in = stop_in;
	return weir_handle_refresh(h, path, &options);
}

/* Stop each of @steps steps twice. Then the refresh succeeds, in @steps steps. */
static void stops_each(unsigned steps)
{
	struct weir_handle_stats before = stats_of(h);
	for (unsigned i = 0; i < 2 * steps; i++) {
		assert_refused(refresh(i / 2 + 1), -ECANCELED, "stopped", "progress");
		assert_int_equal(seen.steps, i / 2 + 1);
		struct weir_handle_stats after = stats_of(h);
		assert_int_equal(after.generation, before.generation);
		assert_int_equal(after.swaps, before.swaps);
		assert_int_equal(after.refused, before.refused);
		assert_true(after.refused_since == 0);
		assert_string_equal(after.refused_sentence, "");
		assert_int_equal(after.bytes, before.bytes);
		assert_int_equal(missing_in(h, 0, 100), 0);
		insert_into(h, 1000 + i, 1001 + i);
		assert_int_equal(missing_in(h, 1000, 1001 + i), 0);
	}
	assert_int_equal(refresh(0), 1);
	assert_int_equal(seen.steps, steps);
	assert_true(seen.longest <= 1 << 20);
	assert_int_equal(stats_of(h).swaps, before.swaps + 1);
	assert_int_equal(refresh(0), 0);
	assert_int_equal(seen.steps, 0);
}

static void test_the_gates_count_can_be_stopped(void **state)
{
	(void)state;
	gate.min_keys = 1;
	options.gate = &gate;
	save_large(0, 1000);
	stops_each(2); /* two steps: reading and counting */
	assert_int_equal(missing_in(h, 0, 1000), 0);
}

/* The image has 50 keys and the current filter has 100 keys. A sample that meets so few keys cannot
 * show whether the image has at least a tenth of the current keys, so the check counts exactly. */
static void test_the_sanity_check_can_be_stopped(void **state)
{
	(void)state;
	save_large(0, 50);
	stops_each(3); /* reading, counting the current filter and counting the next filter */
	assert_int_equal(missing_in(h, 0, 50), 0);
}

static void test_carry_can_be_stopped(void **state)
{
	(void)state;
	options.carry = true;
	save_large(200, 1000);
	stops_each(2); /* two steps: reading and merging */
	assert_int_equal(missing_in(h, 0, 100), 0);
	assert_int_equal(missing_in(h, 200, 1000), 0);
}

static void test_the_gates_count_after_carry_can_be_stopped(void **state)
{
	(void)state;
	options.carry = true;
	options.gate = &gate;
	gate.max_fill = 0.5;
	save_large(200, 1000);
	stops_each(3); /* three steps: reading, merging and counting */
	assert_int_equal(missing_in(h, 0, 100), 0);
}

static void test_the_gate_refuses_even_with_progress(void **state)
{
	(void)state;
	gate.min_keys = 1e6;
	options.gate = &gate;
	save_large(0, 1000);
	assert_refused(refresh(2), -ECANCELED, "stopped", "progress");
	assert_refused(refresh(0), -ECANCELED, path, "min_keys");
	assert_int_equal(stats_of(h).refused, 1);
	assert_int_equal(refresh(0), 0);
}

static void test_measuring_an_image_can_be_stopped(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	(void)state;
	o.progress = watch;
	save_large(0, 1000);
	memset(&seen, 0, sizeof seen);
	assert_ok(weir_image_measure(weir_location_path(path), WEIR_EXACT, &o, &s));
	assert_int_equal(seen.steps, 2); /* two steps: verifying and counting */
	assert_true(seen.longest <= 1 << 20);
	memset(&seen, 0, sizeof seen);
	seen.stop_in = 2;
	assert_refused(weir_image_measure(weir_location_path(path), WEIR_EXACT, &o, &s), -ECANCELED,
	               "stopped", "progress");
}

static struct {
	sem_t there;
	atomic_bool stopping;
} meeting;

/* In the second step, wait until the test calls weir_follower_stop(), then continue slowly. A
 * follower that did not check for the stop would finish and swap. */
static int meet(void *arg, uint64_t done, uint64_t total)
{
	int answer = watch(arg, done, total);
	if (seen.steps == 2) {
		if (seen.calls == 1)
			sem_post(&meeting.there);
		while (!atomic_load(&meeting.stopping))
			usleep(1000);
		/* later calls happen only if the stopping thread was delayed */
		usleep(seen.calls == 1 ? 200000 : 900000);
	}
	return answer;
}

static void test_a_follower_can_be_stopped_in_the_gate(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	gate.min_keys = 1;
	options.gate = &gate;
	options.progress = meet;
	o.refresh = &options;
	o.report = report;
	o.context = &heard;
	save_large(0, 1000);
	memset(&seen, 0, sizeof seen);
	atomic_store(&meeting.stopping, false);
	sem_init(&meeting.there, 0, 0);
	assert_ok(weir_follower_start(&f, h, path, &o));
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)patience;
	int late;
	while ((late = sem_timedwait(&meeting.there, &until)) != 0 && errno == EINTR)
		;
	assert_int_equal(late, 0); /* on a timeout, the second step did not call progress */
	atomic_store(&meeting.stopping, true);
	assert_ok(weir_follower_stop(f));
	assert_int_equal(heard.swaps + heard.failures, 0);
	assert_int_equal(stats_of(h).swaps, 0);
	assert_int_equal(stats_of(h).refused, 0);
	assert_int_equal(missing_in(h, 0, 100), 0);
	options.progress = watch;
	assert_int_equal(refresh(0), 1); /* the file is not remembered as refused */
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_the_gates_count_can_be_stopped),
		fresh(test_the_sanity_check_can_be_stopped),
		fresh(test_carry_can_be_stopped),
		fresh(test_the_gates_count_after_carry_can_be_stopped),
		fresh(test_the_gate_refuses_even_with_progress),
		fresh(test_measuring_an_image_can_be_stopped),
		fresh(test_a_follower_can_be_stopped_in_the_gate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
