/* SPDX-License-Identifier: MIT
 * The n-th system call fails while a delta is made or applied, for every n. The function reports
 * the failure in an error text, or does without the call. The output is the whole old file or the
 * whole new file. No memory leaks, and no temporary file stays. */
#include <errno.h>
#include "faults.h"

enum { MOST_CALLS = 1000 };

static char *inputs, old_image[4200], new_image[4200], delta[4200], made[4200];
static uint64_t new_id;

/* ---- the calls under test ---- */

static int do_save(void)
{
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	return test_done(weir_delta_save(weir_location_path(path), weir_location_path(old_image),
	                                 weir_location_path(new_image), &o));
}

static int do_apply(void)
{
	const char *deltas[] = { delta };
	return test_done(weir_image_copy(weir_location_path(path),
	                                 weir_location_chain(old_image, deltas, 1), NULL, NULL));
}

static int do_load(void)
{
	const char *deltas[] = { delta };
	struct weir_filter *f = NULL;
	int err = weir_load(&f, weir_location_chain(old_image, deltas, 1), NULL);
	assert_int_equal(err == 0, f != NULL);
	if (!err)
		for (uint64_t i = 0; i < 600; i++)
			assert_true(weir_contains_hash(f, test_key(i)));
	weir_destroy(f);
	return err;
}

static int do_id(void)
{
	uint64_t id = 5;
	int err = weir_image_verify(weir_location_path(new_image), NULL, &id);
	assert_true(id == (err ? 5 : new_id));
	return err;
}

static const struct verb {
	const char *name;
	int (*run)(void);
	bool image,      /* run() writes an image */
	        no_tmpfile; /* the file system lacks O_TMPFILE */
} verbs[] = {
	{ "save", do_save, false, false },
	{ "save without O_TMPFILE", do_save, false, true },
	{ "apply", do_apply, true, false },
	{ "apply without O_TMPFILE", do_apply, true, true },
	{ "load", do_load, false, false },
	{ "identity", do_id, false, false },
};

/* ---- the files of a test, and the tests ---- */

static void save_keys(const char *name, uint32_t kind, uint64_t n)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(kind, 1000, 0.01);
	for (uint64_t i = 0; i < n; i++)
		assert_true(weir_insert_hash(f, test_key(i)) >= 0);
	o.zstd_level = 1;
	assert_ok(weir_save(f, weir_location_path(name), &o));
	weir_destroy(f);
}

static int setup(void **state)
{
	(void)folder_setup(state);
	inputs = test_folder();
	snprintf(old_image, sizeof old_image, "%s/old", inputs);
	snprintf(new_image, sizeof new_image, "%s/new", inputs);
	snprintf(delta, sizeof delta, "%s/delta", inputs);
	snprintf(made, sizeof made, "%s/made", inputs);
	save_keys(old_image, WEIR_BLOCKED, 500);
	save_keys(new_image, WEIR_GROWING, 600); /* an image of several filters */
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(old_image),
	                          weir_location_path(new_image), NULL));
	assert_ok(weir_image_verify(weir_location_path(new_image), NULL, &new_id));
	return 0;
}

static int teardown(void **state)
{
	test_folder_remove(inputs);
	return folder_teardown(state);
}

/* Put the old image, uncompressed, at the output's path. */
static void fresh(void)
{
	struct weir_filter *f;
	unlink(path);
	assert_ok(weir_load(&f, weir_location_path(old_image), NULL));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static void assert_whole(const struct verb *verb, int answer)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	char name[256];
	uint64_t id = 0;
	if (folder_entries(folder, "set.weir", name))
		fail_msg("%s: %s stays", verb->name, name);
	const bool in_place = answer < 0 && strstr(weir_error_detail(), "in place");
	const bool written = (answer == 0 || in_place) && (verb->image || verb->run == do_save);
	if (written && verb->run == do_save) {
		assert_ok(weir_delta_inspect(weir_location_path(path), &info));
		assert_true(info.new_id == new_id);
		const char *deltas[] = { path };
		assert_ok(weir_image_copy(weir_location_path(made),
		                          weir_location_chain(old_image, deltas, 1), NULL, NULL));
		return;
	}
	assert_ok(weir_image_verify(weir_location_path(path), NULL, &id));
	assert_true((id == new_id) == written);
}

/* Run the verb while its n-th system call fails. Return: false if there are fewer than n calls. */
static bool fail_at(const struct verb *verb, unsigned n, int error)
{
	fresh();
	unsigned descriptors = open_descriptors();
	int answer = run_failing(verb->run, n, error, verb->no_tmpfile);
	const char *what = shim.what ? shim.what : "none";
	if (answer < 0 && !*weir_error_detail())
		fail_msg("%s: call %u (%s): answered %d without a sentence", verb->name, n, what,
		         answer);
	if (open_descriptors() != descriptors || shim.allocated)
		fail_msg("%s: call %u (%s): %u descriptors more, %ld allocations", verb->name, n,
		         what, open_descriptors() - descriptors, shim.allocated);
	bool reached = shim.what != NULL;
	assert_whole(verb, answer);
	return reached;
}

static void every_call_fails(void **state)
{
	static const int errors[] = { EIO, ENOMEM, ENOSPC, EINTR, ENOSYS, EPERM };
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++)
		for (unsigned e = 0; e < COUNT_OF(errors); e++) {
			unsigned n = 1;
			if (test_is_short() && (v + e) % 3 != 0)
				continue;
			while (n < MOST_CALLS && fail_at(&verbs[v], n, errors[e]))
				n++;
			assert_in_range(n, 8, MOST_CALLS - 1);
			if (e == 0)
				print_message("%s: %u calls\n", verbs[v].name, n - 1);
		}
}

static void interrupted_and_short(void **state)
{
	(void)state;
	for (unsigned v = 0; v < COUNT_OF(verbs); v++) {
		fresh();
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
