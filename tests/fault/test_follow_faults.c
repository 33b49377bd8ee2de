/* SPDX-License-Identifier: MIT
 * Refreshes from a file, by a handle and by a follower, if the system refuses a call or gives a
 * rare answer: no thread, no inotify, an interrupted read, equal times. Further tests check when a
 * follower refreshes; the shim ends every wait at once, so no test sleeps. */
#include <errno.h>
#include "faults.h"
#include "../followers.h"

enum { MOST_CALLS = 500, KEYS = 300 };

static struct weir_handle *h;

static int open_it(void **state)
{
	(void)setup(state);
	shim = (struct shim){ .armed = false };
	h = open_handle(flavors, 10000);
	insert_into(h, 0, KEYS);
	return 0;
}

static int close_it(void **state)
{
	shim = (struct shim){ .armed = false };
	close_handle(flavors, h);
	return folder_teardown(state);
}

/* tar unpacks two releases and sets their times back, within one tick of the file system's ctime.
 * Device, inode, size and times are equal. Only the commit record differs. */
static void test_releases_that_differ_in_the_commit_record(void **state)
{
	size_t n = 0, m = 0;
	(void)state;
	save(KEYS, 3 * KEYS);
	unsigned char *new = image_slurp(path, &m);
	save(0, 2 * KEYS);
	unsigned char *old = image_slurp(path, &n);
	assert_int_equal(n, m);
	assert_memory_equal(old, new, IMAGE_TABLE_SUM); /* equal shape, capacity, rate and seed */
	shim.same_times = true;
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	int fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, new, m), m);
	close(fd);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, KEYS, 3 * KEYS), 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	free(old);
	free(new);
}

/* If a signal interrupts the read of the commit record, a refresh still finds that the file is the
 * one that it has loaded. */
static void test_an_interrupted_look(void **state)
{
	bool interrupted = false;
	(void)state;
	save(0, 2 * KEYS);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	for (unsigned n = 1; n < MOST_CALLS && !interrupted; n++) {
		shim = (struct shim){ .armed = true, .at = n, .error = EINTR };
		int answer = weir_handle_refresh(h, path, NULL);
		shim.armed = false;
		interrupted = shim.what && strcmp(shim.what, "pread") == 0;
		if (interrupted)
			assert_int_equal(answer, 0);
	}
	assert_true(interrupted);
}

#if TEST_ZSTD
static char set_delta[4300];

/* Publish an image with KEYS keys, and a delta that adds KEYS more. */
static void publish_a_delta(void)
{
	char made[4300];
	snprintf(set_delta, sizeof set_delta, "%s.delta-1", path);
	snprintf(made, sizeof made, "%s.made", other);
	save(0, 2 * KEYS);
	assert_int_equal(rename(path, other), 0);
	save(0, KEYS);
	assert_ok(weir_delta_save(weir_location_path(made), weir_location_path(path),
	                          weir_location_path(other), NULL));
	assert_int_equal(rename(made, set_delta), 0);
}

/* The n-th call fails in a refresh from an image with deltas, for every n. The handle has the
 * image's keys if and only if the refresh succeeded. A refresh may succeed without a delta that it
 * could not read. An error text reports a failure. Nothing leaks. */
static void test_every_call_of_a_look_at_deltas_fails(void **state)
{
	static const int errors[] = { EIO, ENOMEM };
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	o.deltas = true;
	publish_a_delta();
	for (unsigned e = 0; e < COUNT_OF(errors); e++) {
		bool reached = true;
		for (unsigned n = 1; reached && n < MOST_CALLS; n++) {
			struct weir_handle *one = open_handle(flavors, 10000);
			const unsigned descriptors = open_descriptors();
			shim = (struct shim){ .armed = true, .at = n, .error = errors[e] };
			const int answer = weir_handle_refresh(one, path, &o);
			shim.armed = false;
			reached = shim.what != NULL;
			if (answer < 0 ? !*weir_error_detail() : answer != 1)
				fail_msg("call %u (%s): answered %d", n, shim.what, answer);
			assert_int_equal(missing_in(one, 0, KEYS) == 0, answer == 1);
			assert_int_equal(open_descriptors(), descriptors);
			close_handle(flavors, one);
		}
		assert_false(reached);
	}
}
#endif

static void test_a_follower_that_cannot_start(void **state)
{
	static const struct { int error, answer; const char *sentence; } calls[] = {
		{ ENOMEM, -ENOMEM, "no memory to follow it" },
		{ EMFILE, -EMFILE, "no eventfd" },
		{ EAGAIN, -EAGAIN, "no thread to follow it" },
	};
	struct weir_follower *f = NULL;
	(void)state;
	save(0, 2 * KEYS);
	unsigned descriptors = open_descriptors();
	for (unsigned i = 0; i < COUNT_OF(calls); i++) {
		shim = (struct shim){ .armed = true, .at = i + 1, .error = calls[i].error };
		int answer = weir_follower_start(&f, h, path, NULL);
		shim.armed = false;
		assert_refused(answer, calls[i].answer, path, calls[i].sentence);
		assert_null(f);
		assert_int_equal(shim.allocated, 0);
		assert_int_equal(open_descriptors(), descriptors);
	} /* close_it() can destroy the handle only if no failed start still uses the handle */
}

/* Without inotify, or without a watch, a follower polls the file. */
static void test_a_follower_without_inotify(void **state)
{
	(void)state;
	for (unsigned watch = 0; watch < 2; watch++) {
		heard.swaps = heard.failures = 0;
		save(0, 2 * KEYS);
		shim.no_inotify = !watch;
		shim.no_watch = watch;
		unsigned descriptors = open_descriptors();
		struct weir_follower *f = follow(h, often, false);
		expect(flavors, 1, 0);
		/* The follower has an eventfd. If inotify works and only the watch fails, the
		 * follower also has an inotify descriptor. */
		assert_int_equal(open_descriptors(), descriptors + 1 + watch);
		for (unsigned i = 2; i < 5; i++) {
			save(0, 2 * KEYS);
			expect(flavors, i, 0);
		}
		assert_ok(weir_follower_stop(f));
		shim.no_inotify = shim.no_watch = false;
		assert_int_equal(open_descriptors(), descriptors);
	}
}

/* ---- the times of a follower's refreshes ---- */

/* The waits so far, recorded on the follower's thread until the array is full. */
static struct {
	int milliseconds[12];
	unsigned n, comes, goes; /* the file appears at wait @comes and is removed at wait @goes */
	bool failed;
	sem_t all;
} waits;

static bool wait_over(int milliseconds)
{
	if (waits.n == COUNT_OF(waits.milliseconds)) {
		sem_post(&waits.all);
		return false;
	}
	waits.milliseconds[waits.n++] = milliseconds;
	if (waits.n == waits.comes)
		waits.failed |= rename(other, path) != 0;
	if (waits.n == waits.goes)
		waits.failed |= unlink(path) != 0;
	return true;
}

/* Follow until all waits are recorded. Each wait must last as long as @due says, +- 1 ms. */
static void waits_are(double poll_seconds, unsigned comes, unsigned goes, const int due[])
{
	waits.n = 0, waits.failed = false;
	waits.comes = comes, waits.goes = goes;
	sem_init(&waits.all, 0, 0);
	save(0, 100);
	assert_int_equal(rename(path, other), 0);
	shim.wait = wait_over;
	struct weir_follower *f = follow(h, poll_seconds, true);
	while (sem_wait(&waits.all))
		;
	assert_ok(weir_follower_stop(f));
	shim.wait = NULL;
	assert_false(waits.failed);
	for (unsigned i = 0; i < COUNT_OF(waits.milliseconds); i++)
		if (abs(waits.milliseconds[i] - due[i]) > 1)
			fail_msg("wait %u was for %d ms, where %d were due", i,
			         waits.milliseconds[i], due[i]);
}

/* After a failure the follower retries soon. The wait doubles with each further failure, up to
 * poll_seconds. After a success the next failure starts with the short wait again. */
static void test_a_retry_is_later_each_time_until_a_success(void **state)
{
	static const int long_polls[] = { 50,  100, 200, 1000, 1000, 50,
	                                  100, 200, 400, 800,  1000, 1000 };
	static const int short_polls[] = { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20 };
	(void)state;
	waits_are(1, 3, 5, long_polls);
	assert_int_equal(heard.swaps, 1);
	assert_int_equal(heard.failures, 2);
	waits_are(0.02, 3, 5, short_polls);
}

/* ---- the folder that a follower watches ---- */

static struct {
	char folder[4200];
	unsigned calls;
	bool failed;
} watched;

static void note_folder(const char *of)
{
	snprintf(watched.folder, sizeof watched.folder, "%s", of);
	watched.calls++;
}

static void test_the_folder_that_is_watched(void **state)
{
	static const char *const files[][2] = { { "/weir-no-such-file", "/" },
	                                        { "//weir-no-such-file", "/" },
	                                        { "weir-no-such-file", "." },
	                                        { "./weir-no-such-file", "." },
	                                        { "/tmp/weir-no-such-file", "/tmp" },
	                                        { "no/such/file", "no/such" } };
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_follower *f;
	(void)state;
	o.poll_seconds = never;
	shim.watch = note_folder;
	for (unsigned i = 0; i < COUNT_OF(files); i++) {
		watched.calls = 0;
		assert_ok(weir_follower_start(&f, h, files[i][0], &o));
		assert_ok(weir_follower_stop(f)); /* the follower has refreshed once */
		assert_int_equal(watched.calls, 1);
		assert_string_equal(watched.folder, files[i][1]);
	}
}

static void test_polling_alone_watches_nothing(void **state)
{
	(void)state;
	watched.calls = 0;
	shim.watch = note_folder;
	save(0, 100);
	struct weir_follower *f = follow(h, often, true);
	expect(flavors, 1, 0);
	assert_ok(weir_follower_stop(f));
	assert_int_equal(watched.calls, 0);
}

static void replace_once(const char *of)
{
	(void)of;
	if (watched.calls++ == 0)
		watched.failed |= rename(other, path) != 0;
}

/* If a file is replaced just before its folder is watched, the follower's first look finds the new
 * file. */
static void test_no_gap_between_the_watch_and_the_look(void **state)
{
	(void)state;
	save(KEYS, 2 * KEYS);
	assert_int_equal(rename(path, other), 0);
	save(0, 100);
	watched.calls = 0, watched.failed = false;
	shim.watch = replace_once;
	struct weir_follower *f = follow(h, never, false);
	expect(flavors, 1, 0);
	assert_ok(weir_follower_stop(f));
	assert_false(watched.failed);
	assert_int_equal(missing_in(h, KEYS, 2 * KEYS), 0);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_releases_that_differ_in_the_commit_record),
		fresh(test_an_interrupted_look),
#if TEST_ZSTD
		fresh(test_every_call_of_a_look_at_deltas_fails),
#endif
		fresh(test_a_follower_that_cannot_start),
		fresh(test_a_follower_without_inotify),
		fresh(test_a_retry_is_later_each_time_until_a_success),
		fresh(test_the_folder_that_is_watched),
		fresh(test_polling_alone_watches_nothing),
		fresh(test_no_gap_between_the_watch_and_the_look),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
