/* SPDX-License-Identifier: MIT
 * Stopping a follower while it waits and at any moment of a look. The caller's own progress
 * function can stop a look, too. */
#include "../declared.h"
#include "../followers.h"

static void test_stop(void **state)
{
	(void)state;
	assert_int_equal(weir_follower_stop(NULL), 0);
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		heard.swaps = 0;
		save(0, 100);
		for (unsigned polling = 0; polling < 2; polling++) {
			/* the file is the same: no second swap */
			struct weir_follower *f = follow(h, never, polling);
			expect(flavor, 1, 0);
			if (flavor->has_sections) {
				flavor->rcu->read_lock();
				assert_refused(weir_follower_stop(f), -EDEADLK,
				               "weir_follower_stop", "inside a read-side section");
				flavor->rcu->read_unlock();
			}
			double begun = now();
			assert_ok(weir_follower_stop(f));
			assert_true(now() - begun < patience);
		}
		close_handle(flavor, h);
	}
}

/* Some of the stops come during a look, some during its grace period. */
static void test_stop_at_any_moment(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		for (unsigned i = 0; i < 30; i++) {
			save(i, i + 10);
			struct weir_follower *f = follow(h, 0.001, i % 2);
			usleep(i * 50);
			assert_ok(weir_follower_stop(f));
			/* the first look is at once: stop waits for it */
			assert_int_equal(missing_in(h, i, i + 10), 0);
		}
		close_handle(flavor, h);
	}
}

/* The follower's thread calls the caller's progress function, which fills this. */
static struct {
	sem_t begun;
	unsigned calls;
} looks;

static int count_looks(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	if (looks.calls++ == 0)
		sem_post(&looks.begun);
	usleep(10000); /* 10 ms a MiB: the stop comes long before a GiB is read */
	return 0;
}

/* A sparse file of some kilobytes that declares 8 TiB would be read for hours before it is
 * mapped. */
static void stop_while_it_reads(bool map)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follower *f;
	refresh.progress = count_looks;
	refresh.map = map;
	o.refresh = &refresh;
	o.report = report;
	o.context = &heard;
	assert_true(declare_image(path, UINT64_C(1) << (map ? 43 : 30)));
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		insert_into(h, 0, 100);
		looks.calls = 0;
		sem_init(&looks.begun, 0, 0);
		assert_ok(weir_follower_start(&f, h, path, &o));
		while (sem_wait(&looks.begun))
			;
		double begun = now();
		assert_ok(weir_follower_stop(f));
		double took = now() - begun;
		print_message("%s: stopped within %.1f ms\n", flavor->name, took * 1e3);
		/* 0.1 s on an idle machine; the whole file takes 10 s at least */
		assert_true(took < 8);
		/* no verdict on the file, and nothing to report */
		assert_int_equal(stats_of(h).refused, 0);
		assert_int_equal(heard.failures, 0);
		assert_int_equal(missing_in(h, 0, 100), 0);
		close_handle(flavor, h);
	}
}

static void test_stop_while_a_huge_file_is_read(void **state)
{
	(void)state;
	stop_while_it_reads(false);
	stop_while_it_reads(true);
}

/* The caller's options end before progress. The follower still calls its own, and so can stop. */
static void test_stop_a_shorter_struct_s_follower(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follower *f;
	(void)state;
	refresh.struct_size = offsetof(struct weir_refresh_options, progress);
	o.refresh = &refresh;
	/* its read takes seconds, longer than any delay of the stop below */
	assert_true(declare_image(path, UINT64_C(8) << 30));
	assert_ok(weir_follower_start(&f, h, path, &o));
	double begun = now();
	assert_ok(weir_follower_stop(f)); /* the first look is at once */
	assert_true(now() - begun < patience);
	assert_int_equal(stats_of(h).refused, 0); /* it was not read to its end */
	close_handle(flavors, h);
}

static int stop_it(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return 1;
}

/* A look that the caller's progress stops is reported. The file is not refused for it. */
static void test_stopped_by_the_callers_progress(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	save(0, 100);
	refresh.progress = stop_it;
	o.refresh = &refresh;
	o.report = report;
	o.context = &heard;
	assert_ok(weir_follower_start(&f, h, path, &o));
	expect(flavors, 0, 1);
	heard_last(-ECANCELED, "progress");
	assert_ok(weir_follower_stop(f));
	assert_int_equal(stats_of(h).refused, 0);
	close_handle(flavors, h);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_stop),
		fresh(test_stop_at_any_moment),
		fresh(test_stop_while_a_huge_file_is_read),
		fresh(test_stop_a_shorter_struct_s_follower),
		fresh(test_stopped_by_the_callers_progress),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
