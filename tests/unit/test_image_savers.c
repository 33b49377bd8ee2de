/* SPDX-License-Identifier: MIT
 * Several threads and users that save to one path. Also files under the savers' temporary names,
 * left behind or put in their way. */
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

/* No saver removes the temporary file that another is about to rename. The last rename wins, and
 * nothing else stays in the folder. */
static void test_several_savers_of_one_path(void **state)
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
	assert_int_equal(rmdir(folder), 0); /* it was empty */
	assert_int_equal(mkdir(folder, 0700), 0);
}

/* Two users save to one path in a folder that is open to both. Neither can read the other's files,
 * and neither removes the other's temporary file for that. */
static void test_savers_of_two_users(void **state)
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

/* ---- temporary names that exist already ---- */

static char taken[4200];

/* The temporary name of path with @suffix for its random number. */
static const char *taken_name(const char *suffix)
{
	unsigned long long sum = XXH3_64bits("set.weir", strlen("set.weir"));
	snprintf(taken, sizeof taken, "%s/.weir-new-%016llx%s", folder, sum, suffix);
	return taken;
}

static bool there(void)
{
	struct stat st;
	return lstat(taken, &st) == 0;
}

/* A temporary name is taken: the one that every save to this path once used, or one of today's
 * form. */
static void test_squatted_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const char *suffix = i ? "-0123456789abcdef" : "";
		assert_int_equal(mkdir(taken_name(suffix), 0700), 0);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_true(there());
		assert_int_equal(rmdir(taken), 0);
		assert_int_equal(mkfifo(taken, 0600), 0);
		/* the save does not wait for the pipe's writer */
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_true(there());
		assert_int_equal(unlink(taken), 0);
		assert_int_equal(symlink("set.weir", taken), 0);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_true(there());
		assert_int_equal(unlink(taken), 0);
	}
}

static int leave(const char *suffix)
{
	int fd = open(taken_name(suffix), O_CREAT | O_EXCL | O_RDWR, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void test_litter_is_removed(void **state)
{
	char other[4200];
	(void)state;
	int fd = leave("-0123456789abcdef");
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_true(there()); /* its saver is at work */
	snprintf(other, sizeof other, "%s/other.weir", folder);
	close(fd);
	assert_ok(weir_save(f, weir_location_path(other), NULL));
	assert_true(there()); /* a save to another path leaves it */
	assert_int_equal(unlink(other), 0);
	assert_int_equal(link(taken, other), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_true(there()); /* it is another file's second name */
	assert_int_equal(unlink(other), 0);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_false(there());
	close(leave("-0123456789abcdef0")); /* one digit too many */
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_int_equal(unlink(taken), 0);
}

static void test_strangers_litter_stays(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root, who can act as two users\n");
		skip();
	}
	for (mode_t open_to_all = 0; open_to_all <= 01777; open_to_all += 01777) {
		int fd = leave("-0123456789abcdef");
		assert_int_equal(fchown(fd, STRANGER, STRANGER), 0);
		close(fd);
		assert_int_equal(chmod(folder, 0755 | open_to_all), 0);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		/* in a folder open to all it may be a stranger's; else a save left it */
		assert_int_equal(there(), open_to_all != 0);
		(void)unlink(taken);
	}
}

/* ---- the claim, a name that one save at a time holds: T4 to T6 of temporary.c ---- */

#define CLAIM "-0000000000000000"
#define HEIR "-0000000000000001"

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

/* In a folder like /tmp any user can create the claim. A saver heeds it only if that user may
 * replace the image, as the folder's owner may. */
static void test_claim_of_a_stranger_denies_no_save(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root, who can act as two users\n");
		skip();
	}
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	int fd = leave(CLAIM);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fchown(fd, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_ok(replace_as(7));
	assert_true(there());
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	assert_int_equal(replace_as(8), -EAGAIN);
	assert_int_equal(chown(folder, 0, 0) | chmod(folder, 0755), 0);
	assert_int_equal(replace_as(8), -EAGAIN);
	assert_int_equal(unlink(taken), 0);
	assert_int_equal(mkdir(taken, 0700), 0);
	assert_ok(replace_as(8));
	assert_int_equal(rmdir(taken), 0);
	close(fd);
}

/* A reader can lock a killed saver's claim once it has its last permissions. */
static void test_lock_of_a_reader_on_a_dead_claim_denies_no_save(void **state)
{
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	int fd = leave(CLAIM), heir = leave(HEIR);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	close(heir); /* the saver that removed the claim was killed too */
	assert_ok(replace_as(7));
	assert_false(there());
	close(fd);
	fd = leave(CLAIM);
	heir = leave(HEIR);
	assert_int_equal(flock(fd, LOCK_SH) | flock(heir, LOCK_EX), 0);
	assert_int_equal(replace_as(8), -EAGAIN); /* another saver is about to remove it */
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

/* Create dead claims all the time, each locked by a reader, and lock the image too. */
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

/* A saver that lost its claim to another would replace an image that it never read. */
static void test_no_saver_removes_the_claim_of_one_at_work(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	char name[4200];
	pthread_t savers[4], leaver;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	strcpy(name, taken_name(CLAIM));
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
	assert_int_equal(info.generation, replaced); /* each save replaced the one before */
	assert_ok(replace_as(0));
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_several_savers_of_one_path),
		fresh(test_savers_of_two_users),
		fresh(test_squatted_name),
		fresh(test_litter_is_removed),
		fresh(test_strangers_litter_stays),
		fresh(test_claim_of_a_stranger_denies_no_save),
		fresh(test_lock_of_a_reader_on_a_dead_claim_denies_no_save),
		fresh(test_no_saver_removes_the_claim_of_one_at_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
