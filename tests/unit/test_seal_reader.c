/* SPDX-License-Identifier: MIT
 * The lock of live images against a process that may only read the image, and the lifetime of the
 * lock file. Some tests need root, to act as two users. Without root, those tests print a message
 * and are skipped. */
#include <sys/file.h>
#include "live_lock.h"

/* ---- a process that may only read the image ---- */

/* Take a fcntl() lock and a flock() lock on a file. Return: false if the file cannot be opened or
 * locked. */
static bool lock_all(const char *name)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	return fd >= 0 && fcntl(fd, F_OFD_SETLK, &all) == 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* Start a process without privileges that locks every file it can open, until *end is closed. */
static pid_t reader(int *end)
{
	int ready[2], go[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(go[1]);
		become_nobody();
		byte = (char)(lock_all(path) | lock_all(lock_file) << 1);
		if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
			_exit(2);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	/* the reader locked the image, but could not lock the lock file */
	assert_int_equal(byte, 1);
	close(ready[0]), close(ready[1]), close(go[0]);
	*end = go[1];
	return child;
}

static void test_a_reader_with_locks_cannot_prevent_a_seal(void **state)
{
	int end[2];
	pid_t child[2];
	(void)state;
	needs_root();
	child[0] = reader(&end[0]);
	struct weir_filter *f = map_live(path);
	assert_true(there(lock_file));
	child[1] = reader(&end[1]);
	seal_it(f);
	assert_sealed(path);
	/* after a process was killed, the next process can map the image live */
	weir_destroy(map_live(path));
	assert_true(is_live(path));
	seal_it(map_live(path));
	assert_sealed(path);
	close(end[0]), close(end[1]);
	assert_int_equal(status_of(child[0]), 0);
	assert_int_equal(status_of(child[1]), 0);
}

static mode_t mode_of_lock(mode_t image, uid_t owner, gid_t group)
{
	struct stat st;
	assert_int_equal(chown(path, owner, group), 0);
	assert_int_equal(chmod(path, image), 0);
	struct weir_filter *f = map_live(path);
	assert_int_equal(stat(lock_file, &st), 0);
	assert_int_equal(st.st_uid, owner);
	assert_int_equal(st.st_gid, group);
	seal_it(f);
	assert_sealed(path);
	return st.st_mode & ALLPERMS;
}

static void test_only_writers_may_open_the_lock_file(void **state)
{
	(void)state;
	needs_root();
	assert_int_equal(mode_of_lock(0644, NOBODY, GROUP), 0600);
	assert_int_equal(mode_of_lock(0664, NOBODY, GROUP), 0660);
	assert_int_equal(mode_of_lock(0640, 0, 0), 0600);
	assert_int_equal(mode_of_lock(0646, 0, GROUP), 0606);
}

/* The lock file was created while the image's group could still write the image. */
static void test_a_lock_file_is_narrowed_with_the_image(void **state)
{
	struct stat st;
	(void)state;
	assert_int_equal(chmod(path, 0664), 0);
	weir_destroy(map_live(path));
	assert_int_equal(chmod(path, 0644), 0);
	struct weir_filter *f = map_live(path);
	assert_int_equal(stat(lock_file, &st), 0);
	assert_int_equal(st.st_mode & ALLPERMS, 0600);
	seal_it(f);
}

/* ---- the lifetime of the lock file ---- */

static void test_the_last_seal_removes_the_lock_file(void **state)
{
	(void)state;
	struct weir_filter *f = map_live(path), *g = map_live(path);
	assert_refused(weir_seal(g), -EBUSY, path, "elsewhere");
	weir_destroy(f);
	assert_true(there(lock_file));
	seal_it(g);
	assert_sealed(path);
}

static void test_the_lock_file_of_a_killed_process_is_reused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weir_filter *f;
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			if (map_in(&f, path, NULL) == 0)
				kill(getpid(), SIGKILL);
			_exit(1);
		}
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_true(there(lock_file));
	}
	seal_it(map_live(path));
	assert_sealed(path);
}

static void test_a_removed_lock_file_prevents_no_seal(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	assert_int_equal(unlink(lock_file), 0);
	assert_refused(map_in(&untouched, path, NULL), -EBUSY, path, "lock file");
	seal_it(f);
	assert_sealed(path);
}

/* Only the lock on the image shows that another process may have mapped the image live. */
static void test_without_its_lock_file_a_locked_image_is_refused(void **state)
{
	int end;
	(void)state;
	needs_root();
	weir_destroy(map_live(path));
	assert_int_equal(unlink(lock_file), 0);
	pid_t child = reader(&end);
	assert_refused(map_in(&untouched, path, NULL), -EBUSY, path, "seal a copy");
	assert_false(there(lock_file));
	close(end);
	assert_int_equal(status_of(child), 0);
	seal_it(map_live(path));
	assert_sealed(path);
}

/* The child's seal removes the lock file. The parent can still seal. */
static void test_a_forked_process_may_seal_first(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(weir_insert_hash(f, 2) < 0 || weir_seal(f) != 0);
	assert_int_equal(status_of(child), 0);
	assert_sealed(path);
	seal_it(f);
	assert_sealed(path);
}

/* ---- an image whose path was removed or replaced ---- */

static void test_a_seal_of_a_removed_image_fails(void **state)
{
	(void)state;
	for (int replaced = 0; replaced < 2; replaced++) {
		struct weir_filter *f = map_live(path);
		struct weir_filter *next = test_filter(WEIR_BLOCKED, 100, 0.01);
		assert_ok(weir_insert_hash(f, 3));
		assert_int_equal(unlink(path), 0);
		if (replaced)
			assert_ok(weir_save(next, weir_location_path(path), NULL));
		assert_refused(weir_seal(f), -ESTALE, path, "insert those keys again");
		assert_refused(weir_insert_hash(f, 4), -EROFS, "", "");
		assert_true(weir_contains_hash(f, 3));
		assert_ok(weir_destroy(f));
		if (!replaced)
			assert_ok(weir_save(next, weir_location_path(path), NULL));
		assert_ok(weir_destroy(next));
	}
	assert_sealed(path);
}

static void test_a_renamed_image_can_be_sealed(void **state)
{
	char name[sizeof path + 4];
	struct weir_filter *f = map_live(path);
	(void)state;
	snprintf(name, sizeof name, "%s.old", path);
	assert_int_equal(rename(path, name), 0);
	seal_it(f);
	assert_sealed(name);
	assert_int_equal(rename(name, path), 0);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_a_reader_with_locks_cannot_prevent_a_seal),
		fresh(test_only_writers_may_open_the_lock_file),
		fresh(test_a_lock_file_is_narrowed_with_the_image),
		fresh(test_the_last_seal_removes_the_lock_file),
		fresh(test_the_lock_file_of_a_killed_process_is_reused),
		fresh(test_a_removed_lock_file_prevents_no_seal),
		fresh(test_without_its_lock_file_a_locked_image_is_refused),
		fresh(test_a_forked_process_may_seal_first),
		fresh(test_a_seal_of_a_removed_image_fails),
		fresh(test_a_renamed_image_can_be_sealed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
