/* SPDX-License-Identifier: MIT
 * Saves through a symbolic link. The kernel resolves the link, and a save fails if the kernel
 * refuses. The file behind the link may be replaced during the save. */
#include <errno.h>
#include <unistd.h>
#include "faults.h"

static struct weir_filter *f;
static char link_path[4200], other_path[4200];

static int setup(void **state)
{
	(void)folder_setup(state);
	f = test_filter(WEIR_BLOCKED, 20000, 0.01);
	snprintf(link_path, sizeof link_path, "%s/link", folder);
	snprintf(other_path, sizeof other_path, "%s/beside", folder);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	return symlink("set.weir", link_path);
}

static int teardown(void **state)
{
	shim = (struct shim){ 0 };
	weir_destroy(f);
	return folder_teardown(state);
}

static int save_through(uint64_t generation)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = generation;
	return test_done(weir_save(f, weir_location_path(link_path), &o));
}

/* The kernel refuses the link, as fs.protected_symlinks does for a link that another user owns. */
static void test_link_that_the_kernel_refuses(void **state)
{
	(void)state;
	shim = (struct shim){ .refused = "openat O_PATH", .refused_error = EACCES };
	assert_refused(save_through(1), -EACCES, link_path, "follow the link");
	shim = (struct shim){ .refused = "readlink", .refused_error = ENOENT };
	assert_refused(save_through(1), -ENOENT, link_path, "without /proc");
	shim = (struct shim){ 0 };
	assert_int_equal(generation_of(path), 0);
	assert_ok(save_through(1));
	assert_int_equal(generation_of(path), 1);
}

static const char *before;
static unsigned times;

/* Another saver replaces the file between two lookups of its name. */
static void replace_it(const struct shim_call *call)
{
	if (strcmp(call->what, before) == 0 && times && times--) {
		assert_ok(weir_save(f, weir_location_path(other_path), NULL));
		assert_int_equal(rename(other_path, path), 0);
	}
}

static void test_file_replaced_meanwhile(void **state)
{
	struct stat st;
	(void)state;
	shim.look = replace_it;
	for (unsigned i = 0; i < 2; i++) {
		before = i ? "readlink" : "fstatat64";
		times = 3;
		assert_ok(save_through(2));
		assert_int_equal(times, 0);
		assert_int_equal(generation_of(path), 2);
	}
	times = 1000;
	assert_refused(save_through(3), -EBUSY, link_path, "is not where");
	shim.look = NULL;
	assert_int_equal(generation_of(path), 0);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void empty_it(const struct shim_call *call)
{
	if (strcmp(call->what, "fsync") == 0 && times && --times == 0)
		assert_int_equal(truncate(path, 0), 0);
}

/* Another process truncates the new file as soon as the file has its name. The caller can notice
 * this, because options.written has the size and the time of the file that the save wrote. */
static void test_what_was_written(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct stat written = { .st_size = 0 }, st;
	(void)state;
	o.written = &written;
	for (unsigned i = 0; i < 2; i++) {
		shim.look = i ? empty_it : NULL;
		/* empty_it() runs before and after the file's sync, and before the folder's sync */
		times = 3;
		assert_ok(weir_save(f, weir_location_path(link_path), &o));
		assert_int_equal(stat(path, &st), 0);
		assert_true(written.st_ino == st.st_ino && written.st_dev == st.st_dev);
		assert_int_equal(written.st_size == st.st_size, i == 0);
		assert_int_equal(memcmp(&written.st_mtim, &st.st_mtim, sizeof st.st_mtim) == 0,
		                 i == 0);
	}
	shim.look = NULL;
	assert_int_equal(st.st_size, 0);
}

static void take_time(const struct shim_call *call)
{
	if (strcmp(call->what, "linkat .") == 0)
		usleep(20000);
}

/* options.written describes the new file in two further cases: the save copies the filter first, or
 * the new file first has a temporary name. */
static void test_what_was_written_elsewhere(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *cuckoo = test_filter(WEIR_CUCKOO, 20000, 0.01);
	struct stat written = { .st_size = 0 }, st;
	(void)state;
	o.written = &written;
	for (unsigned i = 0; i < 2; i++) {
		shim = (struct shim){ .refused = i ? "linkat" : NULL,
			               .refused2 = i ? "linkat ." : NULL,
			               .refused_error = EPERM,
			               .look = take_time };
		assert_ok(weir_save(i ? f : cuckoo, weir_location_path(path), &o));
		assert_int_equal(stat(path, &st), 0);
		assert_true(written.st_ino == st.st_ino && written.st_size == st.st_size);
		assert_memory_equal(&written.st_mtim, &st.st_mtim, sizeof st.st_mtim);
	}
	weir_destroy(cuckoo);
	shim = (struct shim){ 0 };
	bool failed = true, asked = false;
	for (unsigned at = 1; failed; at++) {
		shim = (struct shim){ .armed = true, .at = at, .error = EIO };
		int err = test_done(weir_save(f, weir_location_path(path), &o));
		failed = shim.what;
		shim = (struct shim){ 0 };
		asked |= err == -EIO && strstr(weir_error_detail(), "what was written");
	}
	assert_true(asked);
}

static void write_text(const char *name)
{
	FILE *to = fopen(name, "w");
	assert_non_null(to);
	assert_true(fputs("somebody's text", to) >= 0);
	assert_int_equal(fclose(to), 0);
}

static void assert_text(const char *name)
{
	struct stat st;
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_size, strlen("somebody's text"));
}

static void put_a_text(const struct shim_call *call)
{
	if (strcmp(call->what, "fallocate") == 0 && times && times--) {
		write_text(other_path);
		assert_int_equal(rename(other_path, path), 0);
	}
}

static void second_sync_fails(const struct shim_call *call)
{
	if (strcmp(call->what, "fsync") == 0 && times && --times == 0)
		shim.refused = "fsync";
}

/* The error names the size of the whole image, not the 4096 bytes of its head. */
static void test_a_full_disk_names_the_image_s_bytes(void **state)
{
	char needs[80];
	struct stat st;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_int_equal(stat(path, &st), 0);
	snprintf(needs, sizeof needs, "cannot reserve the %lld bytes of the image",
	         (long long)st.st_size);
	shim = (struct shim){ .refused = "fallocate", .refused_error = ENOSPC };
	assert_refused(weir_save(f, weir_location_path(path), NULL), -ENOSPC, path, needs);
	shim = (struct shim){ 0 };
}

/* The new file is in place, and the error says that a power cut may undo that. */
static void test_a_folder_that_cannot_be_synced(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	o.generation = 5;
	shim = (struct shim){ .look = second_sync_fails, .refused_error = EIO };
	/* second_sync_fails() runs before and after the file's sync. Then the folder's sync
	 * fails. */
	times = 2;
	assert_refused(weir_save(f, weir_location_path(path), &o), -EIO, path,
	               "a power cut may bring the old one");
	shim = (struct shim){ 0 };
	assert_int_equal(generation_of(path), 5);
}

/* With only_images, a save checks the file behind the link before and after it writes. */
static void test_only_images(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	o.only_images = true;
	assert_ok(weir_save(f, weir_location_path(link_path), &o));
	assert_int_equal(truncate(path, 0), 0);
	assert_ok(weir_save(f, weir_location_path(link_path), &o));
	assert_int_equal(unlink(path), 0);
	assert_ok(weir_save(f, weir_location_path(path), &o));
	assert_int_equal(truncate(path, 7), 0); /* an image is known by its first eight bytes */
	assert_refused(weir_save(f, weir_location_path(link_path), &o), -EEXIST, link_path,
	               "neither empty nor an image");
	write_text(path);
	assert_refused(weir_save(f, weir_location_path(link_path), &o), -EEXIST, link_path,
	               "neither empty nor an image");
	assert_text(path);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	shim.look = put_a_text;
	times = 1;
	assert_refused(weir_save(f, weir_location_path(link_path), &o), -EEXIST, link_path,
	               "neither empty nor an image");
	assert_int_equal(times, 0);
	assert_text(path);
}

static int count(void *pieces, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	++*(unsigned *)pieces;
	return 0;
}

/* The save refuses before it writes, because an image may be larger than the free space. */
static void test_a_text_is_seen_before_all_is_written(void **state)
{
	unsigned pieces = 0;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	o.only_images = true;
	o.progress = count;
	o.progress_arg = &pieces;
	write_text(path);
	assert_refused(weir_save(f, weir_location_path(path), &o), -EEXIST, path,
	               "neither empty nor an image");
	assert_int_equal(pieces, 0);
	assert_int_equal(unlink(path), 0);
	assert_ok(weir_save(f, weir_location_path(path), &o));
	assert_int_not_equal(pieces, 0);
}

/* A text that begins with the same letters as an image, but is not an image. */
static void test_a_text_that_begins_so(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	FILE *to = fopen(path, "w");
	(void)state;
	assert_non_null(to);
	assert_true(fputs("WEIR is a word.", to) >= 0);
	assert_int_equal(fclose(to), 0);
	o.only_images = true;
	assert_refused(weir_save(f, weir_location_path(path), &o), -EEXIST, path,
	               "neither empty nor an image");
}

static int save_only_images(void)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.only_images = true;
	return test_done(weir_save(f, weir_location_path(path), &o));
}

/* If a call fails, the save cannot know whether the file is an image, so the file stays. */
static void test_a_text_and_a_disk_that_fails(void **state)
{
	const int errors[] = { EIO, EACCES };
	bool asked = false;
	(void)state;
	write_text(path);
	for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
		bool failed = true;
		for (unsigned at = 1; failed; at++) {
			unsigned open = open_descriptors();
			int err = run_failing(save_only_images, at, errors[i], false);
			failed = shim.what;
			asked |= strstr(weir_error_detail(), "see whether it is an image") != NULL;
			assert_true(err < 0);
			assert_text(path);
			assert_int_equal(open_descriptors(), open);
		}
	}
	assert_true(asked);
}

static const char *unseen;

static void put_a_text_unseen(const struct shim_call *call)
{
	if (strcmp(call->what, "fallocate") == 0)
		shim.refused = unseen;
	put_a_text(call);
}

/* A text that appears during the save and cannot be read stays. */
static void test_a_text_that_cannot_be_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(unlink(path), 0);
		unseen = i ? "read" : "openat";
		times = 1;
		shim = (struct shim){ .look = put_a_text_unseen,
			               .refused_error = i ? EIO : EACCES };
		assert_refused(save_only_images(), i ? -EIO : -EACCES, path, "see whether it is");
		shim = (struct shim){ 0 };
		assert_int_equal(times, 0);
		assert_text(path);
	}
}

static mode_t put;

static void put_another_kind(const struct shim_call *call)
{
	if (strcmp(call->what, "fallocate") || !times || !times--)
		return;
	if (put == S_IFIFO)
		assert_int_equal(mkfifo(other_path, 0600), 0);
	else
		assert_int_equal(symlink("aside", other_path), 0); /* "aside" is an image */
	assert_int_equal(rename(other_path, path), 0);
}

/* Another process puts a FIFO or a link at the path after the save has checked the file. */
static void test_another_kind_meanwhile(void **state)
{
	const mode_t kinds[] = { S_IFIFO, S_IFLNK };
	char aside[4200];
	struct stat st;
	(void)state;
	snprintf(aside, sizeof aside, "%s/aside", folder);
	assert_ok(weir_save(f, weir_location_path(aside), NULL));
	for (unsigned i = 0; i < 2; i++) {
		put = kinds[i];
		times = 1;
		shim.look = put_another_kind;
		alarm(60); /* an open of a FIFO may block for ever */
		assert_true(save_only_images() < 0);
		alarm(0);
		shim.look = NULL;
		assert_int_equal(times, 0);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_mode & S_IFMT, put);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(unlink(aside), 0);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_link_that_the_kernel_refuses),
		fresh(test_file_replaced_meanwhile),
		fresh(test_what_was_written),
		fresh(test_what_was_written_elsewhere),
		fresh(test_a_folder_that_cannot_be_synced),
		fresh(test_a_full_disk_names_the_image_s_bytes),
		fresh(test_only_images),
		fresh(test_a_text_is_seen_before_all_is_written),
		fresh(test_a_text_that_begins_so),
		fresh(test_a_text_and_a_disk_that_fails),
		fresh(test_a_text_that_cannot_be_read),
		fresh(test_another_kind_meanwhile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
