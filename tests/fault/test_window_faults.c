/* SPDX-License-Identifier: MIT
 * The n-th system call fails while a window is saved or loaded, for every n. The call reports the
 * failure in an error text, or does without the system call. The file is the whole old file or the
 * whole new file. No memory, thread or temporary file is leaked, and the saved window is
 * unchanged. */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <weir/window.h>
#include "faults.h"

enum { KEYS = 500, MOST_CALLS = 1000 };

static struct weir_filter *window;

static struct weir_filter *made(void)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *w = NULL;
	o.kind = WEIR_WINDOW;
	o.capacity = 7 * KEYS;
	o.fp_rate = 0.01;
	o.window.span_seconds = 1e9; /* no advance happens, however slow the machine is */
	assert_ok(weir_create(&w, &o));
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_true(weir_insert_u64(w, test_key(i)) >= 0);
		if (i % 100 == 99)
			assert_ok(weir_window_advance(w));
	}
	return w;
}

static void assert_has_all(const struct weir_filter *w)
{
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t key = test_key(i);
		assert_int_equal(weir_age(w, &key, 8), weir_age(window, &key, 8));
		assert_true(weir_contains_u64(w, key));
	}
}

static int save_with(int level)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.zstd_level = level;
	o.generation = 2;
	return test_done(weir_save(window, weir_location_path(path), &o));
}

static int do_save(void) { return save_with(0); }

static int do_save_fd(void)
{
	int fd = memfd_create("image", 0);
	int err = test_done(weir_save(window, weir_location_fd(fd), NULL));
	close(fd);
	return err;
}

static int load_with(uint32_t timer)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *w = NULL;
	o.run.timer = timer;
	int err = weir_load(&w, weir_location_path(path), &o);
	assert_int_equal(err == 0, w != NULL);
	if (!err)
		assert_has_all(w);
	if (!err && timer) /* let the timer's thread sleep, so that weir_destroy() must wake it */
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	weir_destroy(w);
	return err;
}

static int do_load(void) { return load_with(0); }
static int do_load_with_a_timer(void) { return load_with(1); }
static int do_stats(void)
{
	struct weir_stats s = WEIR_STATS_INIT;
	return weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL, &s);
}
#if TEST_ZSTD
static int do_save_zstd(void) { return save_with(1); }
#endif

static const struct verb {
	const char *name;
	int (*run)(void);
	bool replaces, no_tmpfile;
	int level; /* zstd level of the image before run() */
} verbs[] = {
	{ "save", do_save, true, false, 0 },
	{ "save without O_TMPFILE", do_save, true, true, 0 },
	{ "save_fd", do_save_fd, false, false, 0 },
	{ "load", do_load, false, false, 0 },
	{ "load with a timer", do_load_with_a_timer, false, false, 0 },
	{ "stats", do_stats, false, false, 0 },
#if TEST_ZSTD
	{ "save compressed", do_save_zstd, true, false, 0 },
	{ "load compressed", do_load, false, false, 1 },
#endif
};

static int setup(void **state)
{
	(void)folder_setup(state);
	window = made();
	return 0;
}

static int teardown(void **state)
{
	weir_destroy(window);
	return folder_teardown(state);
}

static void fresh(const struct verb *verb)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = 1;
	o.zstd_level = verb->level;
	unlink(path);
	assert_ok(weir_save(window, weir_location_path(path), &o));
}

static void assert_whole(const struct verb *verb, int answer)
{
	char name[256];
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (folder_entries(folder, "set.weir", name))
		fail_msg("%s: %s stays", verb->name, name);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.generation == (answer == 0 && verb->replaces ? 2 : 1) ||
	            (answer < 0 && strstr(weir_error_detail(), "in place")));
	assert_ok(do_load());
}

/* Run the verb while its n-th system call fails. Return: false if there are fewer than n calls. */
static bool fail_at(const struct verb *verb, unsigned n, int error)
{
	fresh(verb);
	unsigned descriptors = open_descriptors();
	int answer = run_failing(verb->run, n, error, verb->no_tmpfile);
	const char *what = shim.what ? shim.what : "none";
	if (answer < 0 && !*weir_error_detail())
		fail_msg("%s: call %u (%s): answered %d without a sentence", verb->name, n, what,
		         answer);
	if (open_descriptors() != descriptors || shim.allocated || mappings_of(folder))
		fail_msg("%s: call %u (%s): %u descriptors more, %ld allocations, %u mappings",
		         verb->name, n, what, open_descriptors() - descriptors, shim.allocated,
		         mappings_of(folder));
	bool reached = shim.what != NULL;
	assert_whole(verb, answer);
	return reached;
}

static void every_call_fails(void **state)
{
	static const int errors[] = { EIO, ENOMEM, ENOSPC, EINTR, ENOSYS };
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++)
		for (unsigned e = 0; e < COUNT_OF(errors); e++) {
			unsigned n = 1;
			if (test_is_short() && (v + e) % 3 != 0)
				continue;
			while (n < MOST_CALLS && fail_at(&verbs[v], n, errors[e]))
				n++;
			assert_in_range(n, 10, MOST_CALLS - 1);
			if (e == 0)
				print_message("%s: %u calls\n", verbs[v].name, n - 1);
		}
	/* the window is unchanged */
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	assert_ok(weir_window_measure(window, WEIR_SAMPLED, &s));
	assert_int_equal(s.advances, 5);
	assert_has_all(window);
}

static void interrupted_and_short(void **state)
{
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++) {
		fresh(&verbs[v]);
		shim.no_tmpfile = verbs[v].no_tmpfile;
		shim.trickle = shim.armed = true;
		int answer = verbs[v].run();
		shim.trickle = shim.armed = false;
		assert_ok(answer);
		assert_whole(&verbs[v], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails),
		cmocka_unit_test(interrupted_and_short),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
