/* SPDX-License-Identifier: MIT
 * Refresh: when a file counts as a new file, and which failures do not count as a refusal of the
 * file. */
#include "../declared.h"
#include "../followers.h"
#include "../image_bytes.h"

static struct weir_handle *h;

static int open_it(void **state)
{
	(void)setup(state);
	h = open_handle(flavors, 10000);
	return 0;
}

static int close_it(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

/* Overwrite the file with other bytes and restore its times, as tar does. */
static void write_in_place(const unsigned char *image, size_t n, const struct stat *times)
{
	const struct timespec both[2] = { times->st_atim, times->st_mtim };
	usleep(20000); /* ctime advances only with the kernel's tick */
	int fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, image, n), n);
	assert_int_equal(futimens(fd, both), 0);
	close(fd);
}

/* The two files have the same device, inode, size and mtime. */
static void test_files_with_equal_times_differ_by_content(void **state)
{
	struct stat times, after;
	size_t n = 0, m = 0;
	(void)state;
	save(1000, 2000);
	unsigned char *second = image_slurp(path, &n);
	save(0, 1000);
	unsigned char *first = image_slurp(path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(first, second, IMAGE_TABLE_SUM);
	assert_int_equal(stat(path, &times), 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	write_in_place(second, n, &times);
	assert_int_equal(stat(path, &after), 0);
	assert_memory_equal(&times.st_mtim, &after.st_mtim, sizeof times.st_mtim);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 1000, 2000), 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	free(first);
	free(second);
}

static void test_a_repaired_file_with_equal_times_is_accepted(void **state)
{
	struct stat times;
	size_t n = 0;
	(void)state;
	save(0, 1000);
	unsigned char *image = image_slurp(path, &n);
	image[n - 100] ^= 1;
	assert_true(image_spit(path, image, n));
	assert_int_equal(stat(path, &times), 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EBADMSG, path, "shard 0");
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	image[n - 100] ^= 1;
	write_in_place(image, n, &times);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 0, 1000), 0);
	free(image);
}

/* The refresh does not compare the bytes of the files. */
static void test_a_new_mtime_makes_a_new_file(void **state)
{
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	(void)state;
	save(0, 100);
	for (unsigned turn = 0; turn < 3; turn++) {
		times[1].tv_sec += turn == 1;
		times[1].tv_nsec += turn == 2;
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	}
	assert_int_equal(missing_in(h, 0, 100), 0);
}

/* A process that rewrites a file in place can restore mtime. */
static void test_a_new_ctime_makes_a_new_file(void **state)
{
	struct stat st;
	(void)state;
	save(0, 100);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(stat(path, &st), 0);
	usleep(20000); /* ctime advances only with the kernel's tick */
	assert_int_equal(chmod(path, st.st_mode), 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
}

static unsigned reads;

static int count_reads(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	reads++;
	return 0;
}

/* A write soon after the refusal may leave the file's times unchanged, so for a while each refresh
 * reads the file again. Later refreshes do not read it, because reading costs disk bandwidth. */
static void test_a_new_damaged_file_is_read_again_for_a_while(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	(void)state;
	o.progress = count_reads;
	assert_true(declare_image(path, UINT64_C(8) << 20));
	double begun = now();
	assert_int_equal(weir_handle_refresh(h, path, &o), -EBADMSG);
	for (unsigned i = 0; i < 4; i++) {
		usleep(500000);
		reads = 0;
		assert_int_equal(weir_handle_refresh(h, path, &o), 0);
		if (now() - begun < 2.4) /* beyond 2.4 s, this machine was too busy for the check */
			assert_true(reads > 0);
	}
	usleep(600000);
	/* after this refresh, the handle no longer reads the file */
	assert_int_equal(weir_handle_refresh(h, path, &o), 0);
	reads = 0;
	assert_int_equal(weir_handle_refresh(h, path, &o), 0);
	assert_int_equal(reads, 0);
	assert_int_equal(stats_of(h).refused, 1);
}

static void test_other_file_types_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_refused(weir_handle_refresh(h, other, NULL), -EINVAL, other, "regular file");
	assert_int_equal(weir_handle_refresh(h, other, NULL), 0);
	assert_int_equal(stats_of(h).refused, 1);
}

/* On tmpfs, sealing does not change the file's times. */
static void test_a_sealed_file_counts_as_new(void **state)
{
	struct weir_filter *live;
	char on_disk[sizeof path];
	(void)state;
	if (access("/dev/shm", W_OK)) {
		print_message("skipped: no /dev/shm\n");
		return;
	}
	memcpy(on_disk, path, sizeof path);
	snprintf(path, sizeof path, "/dev/shm/weir-test-%d", (int)getpid());
	save(0, 10);
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	for (unsigned turn = 0; turn < 3; turn++)
		assert_refused(weir_handle_refresh(h, path, NULL), -EBUSY, path, "live");
	assert_int_equal(stats_of(h).refused, 0);
	for (uint64_t i = 10; i < 20; i++)
		assert_ok(weir_insert_hash(live, test_key(i)));
	assert_ok(weir_seal(live));
	weir_destroy(live);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_int_equal(missing_in(h, 0, 20), 0);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	unlink(path);
	memcpy(path, on_disk, sizeof path);
}

static int stop_at_once(void *arg, uint64_t done, uint64_t total)
{
	unsigned *calls = arg;
	(void)done, (void)total;
	return ++*calls < 3;
}

static void test_a_stop_by_progress_is_no_refusal(void **state)
{
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	unsigned calls = 0;
	(void)state;
	o.progress = stop_at_once;
	o.progress_arg = &calls;
	save(0, 100);
	for (unsigned turn = 0; turn < 2; turn++)
		assert_refused(weir_handle_refresh(h, path, &o), -ECANCELED, "stopped",
		               "progress");
	assert_int_equal(stats_of(h).refused, 0);
	assert_int_equal(weir_handle_refresh(h, path, &o), 1);
	assert_int_equal(missing_in(h, 0, 100), 0);
	assert_int_equal(weir_handle_refresh(h, path, &o), 0);
	assert_int_equal(calls, 3);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_files_with_equal_times_differ_by_content),
		fresh(test_a_repaired_file_with_equal_times_is_accepted),
		fresh(test_a_new_mtime_makes_a_new_file),
		fresh(test_a_new_ctime_makes_a_new_file),
		fresh(test_a_new_damaged_file_is_read_again_for_a_while),
		fresh(test_other_file_types_are_refused),
		fresh(test_a_sealed_file_counts_as_new),
		fresh(test_a_stop_by_progress_is_no_refusal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
