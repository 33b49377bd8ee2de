/* SPDX-License-Identifier: MIT
 * A sandbox that refuses a system call for good (seccomp, AppArmor): a save does without it, as
 * whole and as tidy, or names it. */
#include <errno.h>
#include <sys/resource.h>
#include "faults.h"

static struct weir_filter *f;

static int setup(void **state)
{
	f = test_filter(WEIR_BLOCKED, 20000, 0.01);
	assert_ok(weir_insert_hash(f, 7));
	return folder_setup(state);
}

static int teardown(void **state)
{
	weir_destroy(f);
	return folder_teardown(state);
}

static void refuse(const char *one, const char *other, int error)
{
	shim = (struct shim){ .refused = one, .refused2 = other, .refused_error = error };
}

static int save(uint64_t generation)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = generation;
	return test_done(weir_save(f, weir_location_path(path), &o));
}

/* Over an image and to a new name. */
static void saves_without(const char *one, const char *other, int error)
{
	char name[256];
	for (unsigned generation = 1; generation <= 3; generation++) {
		refuse(one, other, error);
		int answer = save(generation);
		refuse(NULL, NULL, 0);
		assert_ok(answer);
		assert_int_equal(generation_of(path), generation);
		if (folder_entries(folder, "set.weir", name))
			fail_msg("without %s: %s stays", one, name);
		if (generation == 2)
			assert_int_equal(unlink(path), 0);
	}
}

static void test_saves_without(void **state)
{
	static const char *const calls[][2] = {
		{ "linkat", "linkat ." }, /* seccomp */
		{ "linkat", NULL },       /* only the link itself is refused */
		{ "flock", NULL },
		{ "fchown", NULL },
		{ "fgetxattr", "fremovexattr" },
		{ "fdopendir", NULL },
	};
	static const int errors[] = { EPERM, ENOSYS, EACCES };
	(void)state;
	for (unsigned c = 0; c < COUNT_OF(calls); c++)
		for (unsigned e = 0; e < COUNT_OF(errors); e++)
			saves_without(calls[c][0], calls[c][1], errors[e]);
	saves_without("fgetxattr", "fremovexattr", ENOTSUP); /* a file system without lists, */
	saves_without("fgetxattr", "fremovexattr", ENODATA); /* files without */
	saves_without("fallocate", NULL, EPERM);
	saves_without("fallocate", NULL, ENOSYS);
	saves_without("fallocate", NULL, EINVAL);
	saves_without("fallocate", NULL, EOPNOTSUPP);
	saves_without("getrandom", NULL, EPERM);
	saves_without("getrandom", NULL, ENOSYS);
}

/* A file system without lists is none where a list could have been: the group keeps its rights. */
static void test_no_lists_take_nothing_away(void **state)
{
	static const int errors[] = { ENOTSUP, ENODATA };
	struct stat st;
	(void)state;
	assert_ok(save(1));
	for (unsigned e = 0; e < COUNT_OF(errors); e++)
		for (unsigned one = 0; one < 2; one++) {
			assert_int_equal(chmod(path, 0640), 0);
			refuse(one ? "fgetxattr" : "fremovexattr", NULL, errors[e]);
			int answer = save(2);
			refuse(NULL, NULL, 0);
			assert_ok(answer);
			assert_int_equal(stat(path, &st), 0);
			assert_int_equal(st.st_mode & 07777, 0640);
		}
}

/* A file system whose folders need no sync answers EINVAL; an interrupted one is tried again. */
static void test_syncs_that_fail_and_do_not_matter(void **state)
{
	static const int errors[] = { EINVAL, EINTR };
	unsigned syncs = 0;
	(void)state;
	assert_ok(save(1));
	for (unsigned e = 0; e < COUNT_OF(errors); e++) {
		unsigned of_these = 0;
		for (unsigned n = 1; of_these < 2 && n < 100; n++) {
			shim = (struct shim){ .armed = true, .at = n, .error = errors[e] };
			int answer = save(2);
			bool sync = shim.what && strcmp(shim.what, "fsync") == 0;
			bool reserve = shim.what && strcmp(shim.what, "fallocate") == 0;
			refuse(NULL, NULL, 0);
			of_these += sync;
			/* the second is the folder's */
			if (reserve || (sync && (errors[e] == EINTR || of_these == 2)))
				assert_ok(answer);
		}
		syncs += of_these;
	}
	assert_int_equal(syncs, 4);
}

/* The new file while it is written, where it has a name: open to nobody whom the old one is closed
 * to. */
static void never_wider(const struct shim_call *call)
{
	char name[256], file[4400];
	struct stat st;
	(void)call;
	if (!folder_entries(folder, "set.weir", name))
		return;
	snprintf(file, sizeof file, "%s/%s", folder, name);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
}

static void test_at_no_moment_wider(void **state)
{
	mode_t before = umask(022);
	(void)state;
	assert_ok(save(1));
	assert_int_equal(chmod(path, 0600), 0);
	refuse(NULL, NULL, 0);
	shim.armed = shim.no_tmpfile = true;
	shim.look = never_wider;
	assert_ok(save(2));
	refuse(NULL, NULL, 0);
	umask(before);
}

static void test_no_random_numbers(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *g = NULL;
	char name[256];
	(void)state;
	params.capacity = 100;
	params.fp_rate = 0.01;
	refuse("getrandom", NULL, ENOSYS);
	assert_ok(weir_create(&g, &params));
	weir_destroy(g);
	unsigned descriptors = open_descriptors();
	refuse("getrandom", "read", EIO);
	assert_refused(weir_create(&g, &params), -EIO, "getrandom", "/dev/urandom");
	assert_int_equal(open_descriptors(), descriptors);
	refuse("getrandom", NULL, ENOSYS);
	shim.armed = shim.trickle = true;
	assert_ok(weir_create(&g, &params));
	weir_destroy(g);
	refuse("getrandom", "/dev/urandom", EPERM);
	assert_refused(weir_create(&g, &params), -EPERM, "getrandom", "/dev/urandom");
	assert_ok(save(1)); /* over another it needs a name that nobody can guess */
	assert_refused(save(2), -EPERM, "getrandom", "/dev/urandom");
	shim.armed = shim.no_tmpfile = true;
	assert_refused(save(2), -EPERM, "getrandom", "/dev/urandom");
	refuse(NULL, NULL, 0);
	assert_int_equal(generation_of(path), 1);
	assert_int_equal(folder_entries(folder, "set.weir", name), 0);
}

/* The answer is getrandom's: of the device it is said too. */
static void test_no_random_numbers_and_no_descriptors(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *g = NULL;
	struct rlimit limit, none;
	(void)state;
	params.capacity = 100;
	params.fp_rate = 0.01;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	refuse("getrandom", NULL, ENOSYS);
	int answer = weir_create(&g, &params);
	refuse(NULL, NULL, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_refused(answer, -ENOSYS, "no such call", "too many open files");
}

/* ---- temporary names without O_TMPFILE ---- */

static unsigned times;

/* Somebody removes the new file between its creation and its lock. */
static void remove_it(const struct shim_call *call)
{
	char name[256], file[4400];
	if (strcmp(call->what, "flock") == 0 && times && times--) {
		assert_int_equal(folder_entries(folder, "set.weir", name), 1);
		snprintf(file, sizeof file, "%s/%s", folder, name);
		assert_int_equal(unlink(file), 0);
	}
}

static void test_removed_or_locked_by_others(void **state)
{
	char name[256];
	(void)state;
	assert_ok(save(1));
	refuse(NULL, NULL, 0);
	shim.armed = shim.no_tmpfile = true;
	shim.look = remove_it;
	times = 3;
	assert_ok(save(2));
	assert_int_equal(times, 0);
	refuse("flock", NULL, EWOULDBLOCK);
	shim.armed = shim.no_tmpfile = true;
	assert_refused(save(3), -EEXIST, path, "temporary");
	refuse(NULL, NULL, 0);
	assert_int_equal(generation_of(path), 2);
	assert_int_equal(folder_entries(folder, "set.weir", name), 0);
}

/* Litter that cannot be removed at one time is at another. */
static void test_litter_stays_in_no_way(void **state)
{
	char name[256], file[4400];
	(void)state;
	assert_ok(save(1));
	for (unsigned n = 1; n < 60; n++) {
		snprintf(file, sizeof file, "%s/.weir-new-%016llx-0123456789abcdef", folder,
		         (unsigned long long)XXH3_64bits("set.weir", 8));
		assert_true(image_spit(file, "x", 1));
		shim = (struct shim){ .armed = true, .at = n, .error = EACCES };
		int answer = save(2);
		refuse(NULL, NULL, 0);
		assert_true(answer == 0 || answer == -EACCES || answer == -ENOMEM);
		assert_ok(save(2));
		assert_int_equal(folder_entries(folder, "set.weir", name), 0);
	}
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_saves_without),
		fresh(test_no_lists_take_nothing_away),
		fresh(test_syncs_that_fail_and_do_not_matter),
		fresh(test_at_no_moment_wider),
		fresh(test_no_random_numbers),
		fresh(test_no_random_numbers_and_no_descriptors),
		fresh(test_removed_or_locked_by_others),
		fresh(test_litter_stays_in_no_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
