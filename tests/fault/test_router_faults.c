/* SPDX-License-Identifier: MIT
 * The n-th system call fails while a router is created, saved, loaded, mapped or replaced in its
 * handle, for every n. The call reports the failure in an error text, or does without the system
 * call. The file is the whole old file or the whole new file. Nothing leaks, and no key is lost. */
#include <errno.h>
#include <sys/mman.h>
#include <weir/router.h>
#include "faults.h"

enum { KEYS = 500, SETS = 9, MOST_CALLS = 1000 };

static struct weir_filter *router;

static int make(struct weir_filter **out)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	o.kind = WEIR_ROUTER;
	o.router.sets = SETS;
	o.capacity = KEYS;
	o.fp_rate = 0.01;
	o.seed = 42;
	return weir_create(out, &o);
}

static struct weir_filter *made(void)
{
	struct weir_filter *r = NULL;
	assert_ok(make(&r));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_into_u64(r, (uint32_t)(i % SETS), test_key(i)));
	return r;
}

static void assert_has_all(const struct weir_filter *r)
{
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(weir_route_u64(r, test_key(i)) >> (i % SETS) & 1);
}

static int save_with(int level)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.zstd_level = level;
	o.generation = 2;
	return test_done(weir_save(router, weir_location_path(path), &o));
}

static int do_save(void) { return save_with(0); }

static int do_save_fd(void)
{
	int fd = memfd_create("image", 0);
	int err = test_done(weir_save(router, weir_location_fd(fd), NULL));
	close(fd);
	return err;
}

static int ended(int err, struct weir_filter *r)
{
	assert_int_equal(err == 0, r != NULL);
	if (!err)
		assert_has_all(r);
	weir_destroy(r);
	return err;
}

static int do_load(void)
{
	struct weir_filter *r = NULL;
	int err = weir_load(&r, weir_location_path(path), NULL);
	return ended(err, r);
}

static int do_map(void)
{
	struct weir_filter *r = NULL;
	int err = weir_load(&r, weir_location_map(path, WEIR_MAP_READ), NULL);
	return ended(err, r);
}

static int do_create(void)
{
	struct weir_filter *r = NULL;
	int err = make(&r);
	assert_int_equal(err == 0, r != NULL);
	weir_destroy(r);
	return err;
}

static int replace(struct weir_handle *h)
{
	struct weir_reload *reload = NULL;
	int err = weir_reload_begin(&reload, h, NULL);
	if (err)
		return err;
	assert_ok(weir_reload_copy(reload, ~UINT64_C(0)));
	assert_ok(weir_reload_commit(reload)); /* the commit makes no call that can fail */
	return 0;
}

static int do_replace(void)
{
	struct weir_handle *h = NULL;
	struct weir_filter *r = NULL;
	int err = weir_load(&r, weir_location_path(path), NULL);
	if (!err)
		err = weir_handle_create(&h, r, NULL);
	if (err) {
		weir_destroy(r);
		return err;
	}
	err = replace(h);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(weir_handle_route_u64(h, test_key(i)) >> (i % SETS) & 1);
	assert_ok(weir_handle_destroy(h));
	return err;
}

static int do_stats(void)
{
	return weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL,
	                          &(struct weir_stats)WEIR_STATS_INIT);
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
	{ "map", do_map, false, false, 0 },
	{ "create", do_create, false, false, 0 },
	{ "replace", do_replace, false, false, 0 },
	{ "stats", do_stats, false, false, 0 },
#if TEST_ZSTD
	{ "save compressed", do_save_zstd, true, false, 0 },
	{ "load compressed", do_load, false, false, 1 },
#endif
};

static int setup(void **state)
{
	(void)folder_setup(state);
	router = made();
	return 0;
}

static int teardown(void **state)
{
	weir_destroy(router);
	return folder_teardown(state);
}

static void fresh(const struct verb *verb)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = 1;
	o.zstd_level = verb->level;
	unlink(path);
	assert_ok(weir_save(router, weir_location_path(path), &o));
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
			assert_in_range(n, 3, MOST_CALLS - 1);
			if (e == 0)
				print_message("%s: %u calls\n", verbs[v].name, n - 1);
		}
	assert_has_all(router); /* the router is unchanged */
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
