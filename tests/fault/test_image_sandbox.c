/* SPDX-License-Identifier: MIT
 * A sandbox that always refuses a system call (seccomp, AppArmor). A save does without the call,
 * with the same guarantees and no leftover file, or fails with an error that names the call. */
#include <errno.h>
#include <sys/file.h>
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

/* @replaces: the commit of the image to replace, WEIR_REPLACES_NOTHING, or 0 for any image. */
static int replace(uint64_t replaces, uint64_t generation)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = generation;
	o.replaces = replaces;
	return test_done(weir_save(f, weir_location_path(path), &o));
}

static int save(uint64_t generation)
{
	return replace(0, generation);
}

/* Return: the commit of the image at the path, or WEIR_REPLACES_NOTHING. */
static uint64_t commit_now(void)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (access(path, F_OK))
		return WEIR_REPLACES_NOTHING;
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	return info.commit;
}

/* Save over an image, and to a new name. The last three saves name the image that they replace. */
static void saves_without(const char *one, const char *other, int error)
{
	char name[256];
	for (unsigned turn = 0; turn < 6; turn++) {
		const unsigned generation = 1 + turn % 3;
		const uint64_t replaces = turn < 3 ? 0 : commit_now();
		refuse(one, other, error);
		int answer = replace(replaces, generation);
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
		{ "linkat", "linkat ." }, /* seccomp refuses both calls */
		{ "linkat", NULL },       /* only the link itself is refused */
		{ "linkat .", NULL },     /* the file has a temporary name from the start */
		{ "linkat .", "renameat2" },
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
	saves_without("fgetxattr", "fremovexattr", ENOTSUP); /* a system without access lists */
	saves_without("fgetxattr", "fremovexattr", ENODATA); /* the file has no access list */
	saves_without("fallocate", NULL, EPERM);
	saves_without("fallocate", NULL, ENOSYS);
	saves_without("fallocate", NULL, EINVAL);
	saves_without("fallocate", NULL, EOPNOTSUPP);
	saves_without("getrandom", NULL, EPERM);
	saves_without("getrandom", NULL, ENOSYS);
}

/* On a file system without access lists no list can be lost, so the group keeps its rights. */
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

/* A file system whose folders need no sync answers EINVAL. An interrupted sync is tried again. */
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
			/* the second sync is the folder's */
			if (reserve || (sync && (errors[e] == EINTR || of_these == 2)))
				assert_ok(answer);
		}
		syncs += of_these;
	}
	assert_int_equal(syncs, 4);
}

/* The temporary file never has rights for the group or for others. */
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

static void test_a_temporary_file_has_no_wider_rights(void **state)
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
	assert_ok(save(1)); /* a save over another file needs an unpredictable name */
	assert_refused(save(2), -EPERM, "getrandom", "/dev/urandom");
	shim.armed = shim.no_tmpfile = true;
	assert_refused(save(2), -EPERM, "getrandom", "/dev/urandom");
	refuse(NULL, NULL, 0);
	assert_int_equal(generation_of(path), 1);
	assert_int_equal(folder_entries(folder, "set.weir", name), 0);
}

/* The answer is getrandom's error. The error text also names the error of /dev/urandom. */
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

/* ---- temporary files, claim files and leftover files ---- */

static unsigned times;

/* Another process removes the new file between its creation and its lock. */
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

static unsigned links, at_link;

static void another_saves_at_a_link(const struct shim_call *call)
{
	if (strcmp(call->what, "linkat") != 0 || ++links != at_link)
		return;
	shim.refused = NULL;
	assert_ok(save(7));
	shim.refused = "linkat";
}

/* The refused link hides that another file has appeared, so the save must check again. */
static void test_does_a_save_without_links_replace_a_file_that_came_where_none_stood(void **state)
{
	int answer;
	(void)state;
	for (at_link = 1;; at_link++) {
		(void)unlink(path);
		links = 0;
		refuse("linkat", NULL, EPERM);
		shim.look = another_saves_at_a_link;
		answer = replace(WEIR_REPLACES_NOTHING, 8);
		refuse(NULL, NULL, 0);
		if (links < at_link)
			break;
		assert_refused(answer, -EAGAIN, path, "not replaced");
		assert_int_equal(generation_of(path), 7);
	}
	assert_ok(answer);
	assert_int_equal(generation_of(path), 8);
	assert_int_equal(at_link, 3); /* a save links twice: at first, and from a temporary name */
}

static char claimed[4400]; /* the claim file: [TEMP-CLAIM] in temporary.c */

static void name_claim(void)
{
	snprintf(claimed, sizeof claimed, "%s/.weir-new-%016llx-0000000000000000", folder,
	         (unsigned long long)XXH3_64bits("set.weir", 8));
}

static void litter_comes_at_the_link(const struct shim_call *call)
{
	if (strcmp(call->what, "linkat") == 0 && !links++)
		assert_true(image_spit(claimed, "x", 1));
}

/* A running saver has locked its claim file, so other saves are refused. The claim file of a dead
 * saver is unlocked, so it refuses no save. */
static void test_is_a_save_kept_out_by_one_under_way_and_by_no_dead_one(void **state)
{
	char name[256];
	(void)state;
	name_claim();
	assert_ok(save(1));
	assert_true(image_spit(claimed, "x", 1));
	int fd = open(claimed, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	shim.no_waiting = true;
	int answer = replace(commit_now(), 2);
	assert_refused(answer, -EAGAIN, path, "another save of it is under way");
	assert_non_null(strstr(weir_error_detail(), strrchr(claimed, '/') + 1));
	assert_int_equal(generation_of(path), 1);
	assert_int_equal(folder_entries(folder, "set.weir", name), 1);
	close(fd);
	assert_ok(replace(commit_now(), 2));
	links = 0; /* the file appears after the save has removed leftover files */
	shim.look = litter_comes_at_the_link;
	answer = replace(commit_now(), 3);
	refuse(NULL, NULL, 0);
	assert_ok(answer);
	assert_int_equal(generation_of(path), 3);
	assert_true(links > 1);
	assert_int_equal(folder_entries(folder, "set.weir", name), 0);
}

static unsigned hidden, opened;

static void claim_is_private(const struct shim_call *call)
{
	struct stat st;
	if (lstat(claimed, &st))
		return;
	hidden += strcmp(call->what, "fchmod") == 0 && (st.st_mode & 07777) == 0600;
	opened += strcmp(call->what, "renameat") == 0 && (st.st_mode & 07777) == 0644;
}

/* The claim file is private before its rename. Otherwise another user could open the file, and lock
 * it after the saver is killed. */
static void test_claim_is_private_until_it_is_renamed(void **state)
{
	(void)state;
	name_claim();
	assert_ok(save(1));
	assert_int_equal(chmod(path, 0644), 0);
	hidden = opened = 0;
	shim = (struct shim){ .armed = true, .look = claim_is_private };
	int answer = replace(commit_now(), 2);
	refuse(NULL, NULL, 0);
	assert_ok(answer);
	assert_int_equal(hidden, 1);
	assert_int_equal(opened, 1);
}

/* A later save removes a leftover file that an earlier save could not remove. */
static void test_leftover_files_are_removed_later(void **state)
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
		fresh(test_a_temporary_file_has_no_wider_rights),
		fresh(test_no_random_numbers),
		fresh(test_no_random_numbers_and_no_descriptors),
		fresh(test_removed_or_locked_by_others),
		fresh(test_does_a_save_without_links_replace_a_file_that_came_where_none_stood),
		fresh(test_is_a_save_kept_out_by_one_under_way_and_by_no_dead_one),
		fresh(test_claim_is_private_until_it_is_renamed),
		fresh(test_leftover_files_are_removed_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
