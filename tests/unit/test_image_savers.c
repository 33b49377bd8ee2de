/* SPDX-License-Identifier: MIT
 * Several threads and users that save to one path. In some tests a killed saver or another user
 * left a file with a temporary name. */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "../folder.h"
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

enum { STRANGER = 65534, SAVES = 400 };

static struct weir_filter *f;

static int setup(void **state)
{
	f = test_filter(WEIR_BLOCKED, 100, 0.01);
	return folder_setup(state);
}

static int teardown(void **state)
{
	weir_destroy(f);
	return folder_teardown(state);
}

static void *save_many_times(void *count)
{
	unsigned failed = 0;
	for (unsigned i = 0; i < *(unsigned *)count; i++)
		if (weir_save(f, weir_location_path(path), NULL) < 0 && failed++ == 0)
			fprintf(stderr, "%s\n", weir_error_detail());
	return (void *)(uintptr_t)failed;
}

/* A saver must not remove a temporary file that another saver is about to rename. The last rename
 * wins. */
static void test_several_threads_save_to_one_path(void **state)
{
	struct weir_filter *g;
	unsigned count = 200;
	pthread_t savers[4];
	(void)state;
	assert_ok(weir_insert_hash(f, 7));
	for (unsigned i = 0; i < COUNT_OF(savers); i++)
		assert_int_equal(
			pthread_create(&savers[i], NULL, save_many_times, &count), 0);
	for (unsigned i = 0; i < COUNT_OF(savers); i++) {
		void *failed;
		pthread_join(savers[i], &failed);
		assert_null(failed);
	}
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_true(weir_contains_hash(g, 7));
	weir_destroy(g);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* succeeds only if the folder is empty */
	assert_int_equal(mkdir(folder, 0700), 0);
}

/* Neither user can read or remove the other user's temporary files. */
static void test_two_users_save_to_one_path(void **state)
{
	unsigned count = SAVES;
	int status;
	(void)state;
	if (geteuid()) {
		print_message("needs root, who can act as two users\n");
		skip();
	}
	assert_int_equal(chmod(folder, 0777), 0);
	mode_t before = umask(077);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	for (int user = 0; user <= STRANGER; user += STRANGER) {
		pid_t child = fork();
		assert_true(child >= 0);
		uid_t id = (uid_t)user;
		if (child == 0)
			_exit(setgroups(0, NULL) || setresgid(id, id, id) ||
			      setresuid(id, id, id) || save_many_times(&count));
	}
	for (unsigned i = 0; i < 2; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	umask(before);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
}

/* ---- files that already have a temporary name ---- */

static char occupied[4200];

/* Return: the temporary name for path with @suffix as the random number. */
static const char *occupied_name(const char *suffix)
{
	unsigned long long sum = XXH3_64bits("set.weir", strlen("set.weir"));
	snprintf(occupied, sizeof occupied, "%s/.weir-new-%016llx%s", folder, sum, suffix);
	return occupied;
}

static bool there(void)
{
	struct stat st;
	return lstat(occupied, &st) == 0;
}

/* The occupied name is the fixed name of older versions, or a name in the current form. */
static void test_an_occupied_temporary_name_is_avoided(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const char *suffix = i ? "-0123456789abcdef" : "";
		assert_int_equal(mkdir(occupied_name(suffix), 0700), 0);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_true(there());
		assert_int_equal(rmdir(occupied), 0);
		assert_int_equal(mkfifo(occupied, 0600), 0);
		/* a save does not wait for a writer of the FIFO */
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_true(there());
		assert_int_equal(unlink(occupied), 0);
		assert_int_equal(symlink("set.weir", occupied), 0);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_true(there());
		assert_int_equal(unlink(occupied), 0);
	}
}

static int leave_file(const char *suffix)
{
	int fd = open(occupied_name(suffix), O_CREAT | O_EXCL | O_RDWR, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void test_files_of_killed_savers_are_removed(void **state)
{
	char other[4200];
	(void)state;
	int fd = leave_file("-0123456789abcdef");
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_true(there()); /* the locked file belongs to a saver that is still running */
	snprintf(other, sizeof other, "%s/other.weir", folder);
	close(fd);
	assert_ok(weir_save(f, weir_location_path(other), NULL));
	assert_true(there()); /* a save to another path keeps the file */
	assert_int_equal(unlink(other), 0);
	assert_int_equal(link(occupied, other), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_true(there()); /* the save keeps a file that has a second name (a hard link) */
	assert_int_equal(unlink(other), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_false(there());
	close(leave_file("-0123456789abcdef0")); /* the save keeps a name with one digit more */
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_int_equal(unlink(occupied), 0);
}

static void test_files_of_other_users_are_kept(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root, who can act as two users\n");
		skip();
	}
	for (mode_t open_to_all = 0; open_to_all <= 01777; open_to_all += 01777) {
		int fd = leave_file("-0123456789abcdef");
		assert_int_equal(fchown(fd, STRANGER, STRANGER), 0);
		close(fd);
		assert_int_equal(chmod(folder, 0755 | open_to_all), 0);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		/* If all users may write to the folder, any user may have created the file, so the
		 * save keeps the file. Otherwise only a killed save can have left the file, so the
		 * save removes it. */
		assert_int_equal(there(), open_to_all != 0);
		(void)unlink(occupied);
	}
}

/* ---- the claim, a name that only one save at a time can create: [TEMP-CLAIM] to [TEMP-MODE] of
 * temporary.c ---- */

#define CLAIM "-0000000000000000"
#define SUCCESSOR "-0000000000000001"

static int replace_as(uint64_t generation)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	int err = weir_image_inspect(weir_location_path(path), &info);
	if (err)
		return err;
	o.replaces = info.commit;
	o.generation = generation ? generation : info.generation + 1;
	int64_t bytes = weir_save(f, weir_location_path(path), &o);
	return bytes < 0 ? (int)bytes : 0;
}

/* In a folder like /tmp every user can create the claim. A saver respects a claim only if the
 * claim's creator may replace the image, for example because the creator owns the folder. */
static void test_a_claim_of_another_user_denies_no_save(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root, who can act as two users\n");
		skip();
	}
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	int fd = leave_file(CLAIM);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fchown(fd, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_ok(replace_as(7));
	assert_true(there());
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	assert_int_equal(replace_as(8), -EAGAIN);
	assert_int_equal(chown(folder, 0, 0) | chmod(folder, 0755), 0);
	assert_int_equal(replace_as(8), -EAGAIN);
	assert_int_equal(unlink(occupied), 0);
	assert_int_equal(mkdir(occupied, 0700), 0);
	assert_ok(replace_as(8));
	assert_int_equal(rmdir(occupied), 0);
	close(fd);
}

/* A saver that is killed just before its rename leaves a claim with the permissions of the image.
 * Readers of the image can lock this claim, so a lock on it must not prevent the next save. */
static void test_a_readers_lock_on_a_dead_claim_denies_no_save(void **state)
{
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	int fd = leave_file(CLAIM), heir = leave_file(SUCCESSOR);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	close(heir); /* a second saver, which was about to remove the claim, is killed, too */
	assert_ok(replace_as(7));
	assert_false(there());
	close(fd);
	fd = leave_file(CLAIM);
	heir = leave_file(SUCCESSOR);
	assert_int_equal(flock(fd, LOCK_SH) | flock(heir, LOCK_EX), 0);
	assert_int_equal(replace_as(8), -EAGAIN); /* another saver is about to remove the claim */
	assert_true(there());
	close(heir);
	assert_ok(replace_as(8));
	assert_false(there());
	close(fd);
}

static _Atomic bool ended;
static _Atomic unsigned replaced;

static void *replace_many_times(void *unused)
{
	for (unsigned i = 0; i < 60; i++)
		replaced += replace_as(0) == 0;
	return unused;
}

/* Keep creating claims of killed savers, each locked by a reader, and lock the image. */
static void *leave_claims(void *name)
{
	struct flock lock = { .l_type = F_RDLCK, .l_start = 504, .l_len = 8 };
	while (!ended) {
		int image = open(path, O_RDONLY);
		int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0644);
		(void)fcntl(image, F_OFD_SETLK, &lock);
		if (fd >= 0)
			(void)flock(fd, LOCK_SH);
		usleep(2000);
		if (fd >= 0)
			close(fd);
		close(image);
	}
	return NULL;
}

/* A saver without its claim could replace an image that it has not read. */
static void test_the_claim_of_a_running_saver_is_kept(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	char name[4200];
	pthread_t savers[4], leaver;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	strcpy(name, occupied_name(CLAIM));
	ended = false;
	replaced = 0;
	assert_int_equal(pthread_create(&leaver, NULL, leave_claims, name), 0);
	for (unsigned i = 0; i < COUNT_OF(savers); i++)
		assert_int_equal(pthread_create(&savers[i], NULL, replace_many_times, NULL), 0);
	for (unsigned i = 0; i < COUNT_OF(savers); i++)
		pthread_join(savers[i], NULL);
	ended = true;
	pthread_join(leaver, NULL);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(replaced > 0);
	assert_int_equal(info.generation, replaced); /* each save replaced the preceding image */
	assert_ok(replace_as(0));
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_several_threads_save_to_one_path),
		fresh(test_two_users_save_to_one_path),
		fresh(test_an_occupied_temporary_name_is_avoided),
		fresh(test_files_of_killed_savers_are_removed),
		fresh(test_files_of_other_users_are_kept),
		fresh(test_a_claim_of_another_user_denies_no_save),
		fresh(test_a_readers_lock_on_a_dead_claim_denies_no_save),
		fresh(test_the_claim_of_a_running_saver_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
