/* SPDX-License-Identifier: MIT
 * Stopping a follower while it waits and at various moments of a poll. The caller's own progress
 * function can also stop a poll. */
#include "../declared.h"
#include "../followers.h"

static void test_stop_ends_a_waiting_follower(void **state)
{
	(void)state;
	assert_int_equal(weir_follower_stop(NULL), 0);
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		heard.swaps = 0;
		save(0, 100);
		for (unsigned polling = 0; polling < 2; polling++) {
			/* the file is unchanged, so the handle makes no second swap */
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

/* Some stops arrive while the follower reads the file, others during its grace period. */
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
			/* the follower polls at once, and weir_follower_stop() waits for the
			 * poll */
			assert_int_equal(missing_in(h, i, i + 10), 0);
		}
		close_handle(flavor, h);
	}
}

/* Filled by the caller's progress function, on the follower's thread. */
static struct {
	sem_t begun;
	unsigned calls;
} looks;

static int count_looks(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	if (looks.calls++ == 0)
		sem_post(&looks.begun);
	usleep(10000); /* 10 ms per MiB, so the stop arrives long before a GiB has been read */
	return 0;
}

/* A sparse file of some kilobytes declares 1 GiB, or 8 TiB if @map. Verifying a map of 8 TiB would
 * take hours. */
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
		/* The stop takes 0.1 s on an idle machine. Reading the whole file would take at
		 * least 10 s. */
		assert_true(took < 8);
		/* a stopped read neither refuses the file nor reports a failure */
		assert_int_equal(stats_of(h).refused, 0);
		assert_int_equal(heard.failures, 0);
		assert_int_equal(missing_in(h, 0, 100), 0);
		close_handle(flavor, h);
	}
}

static void test_stop_ends_a_read_of_a_huge_file(void **state)
{
	(void)state;
	stop_while_it_reads(false);
	stop_while_it_reads(true);
}

/* The caller's options struct ends before the field progress. */
static void test_stop_works_without_the_callers_progress(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_follower *f;
	(void)state;
	refresh.struct_size = offsetof(struct weir_refresh_options, progress);
	o.refresh = &refresh;
	/* reading 8 GiB takes longer than the stop */
	assert_true(declare_image(path, UINT64_C(8) << 30));
	assert_ok(weir_follower_start(&f, h, path, &o));
	double begun = now();
	assert_ok(weir_follower_stop(f)); /* the first poll is already reading */
	assert_true(now() - begun < patience);
	assert_int_equal(stats_of(h).refused, 0); /* the read was stopped before the end */
	close_handle(flavors, h);
}

static int stop_it(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return 1;
}

/* A stopped poll is reported, but the file does not count as refused. */
static void test_the_callers_progress_can_stop_a_poll(void **state)
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
		fresh(test_stop_ends_a_waiting_follower),
		fresh(test_stop_at_any_moment),
		fresh(test_stop_ends_a_read_of_a_huge_file),
		fresh(test_stop_works_without_the_callers_progress),
		fresh(test_the_callers_progress_can_stop_a_poll),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
