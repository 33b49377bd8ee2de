/* SPDX-License-Identifier: MIT
 * The lock of live images against a process that may only read the image, against a stranger's file
 * at the lock file's name, and by every name that leads to the image. Some tests need root, who can
 * act as two users; without, they report that and are skipped. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include "../folder.h"

enum { NOBODY = 65534, GROUP = 12345, SKIPPED = 77 };

static char lock_file[4200], other_dir[4200], other[4300];
static struct weir_filter *untouched;

static void name_lock(char out[4200], const char *dir)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	snprintf(out, 4200, "%s/.weir-live-%016llx-%016llx", dir, (unsigned long long)st.st_dev,
	         (unsigned long long)st.st_ino);
}

static void save(const char *name)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	assert_ok(weir_save(f, weir_location_path(name), NULL));
	weir_destroy(f);
}

/* A folder that all may enter and one more in it, and an image in the first. */
static int setup(void **state)
{
	umask(022);
	(void)folder_setup(state);
	snprintf(other_dir, sizeof other_dir, "%s/other", folder);
	snprintf(other, sizeof other, "%s/other.weir", other_dir);
	save(path);
	name_lock(lock_file, folder);
	return chmod(folder, 0755) || mkdir(other_dir, 0755);
}

static int teardown(void **state)
{
	bool left = untouched != NULL;
	untouched = NULL; /* the next test has its own */
	(void)folder_teardown(state);
	return left;
}

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("needs root, who can act as two users\n");
	skip();
}

static int map_in(struct weir_filter **out, const char *name, const char *lock_dir)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.lock_dir = lock_dir;
	return weir_load(out, weir_location_map(name, WEIR_MAP_LIVE), &o);
}

static struct weir_filter *map_live(const char *name)
{
	struct weir_filter *f = NULL;
	assert_ok(map_in(&f, name, NULL));
	assert_true(weir_insert_hash(f, 1) >= 0);
	return f;
}

static bool is_live(const char *name)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	return info.live;
}

static void seal_it(struct weir_filter *f)
{
	assert_ok(weir_seal(f));
	weir_destroy(f);
}

static bool there(const char *name)
{
	struct stat st;
	return lstat(name, &st) == 0;
}

/* Sealed and valid, and no lock file stays. */
static void assert_sealed(const char *name)
{
	assert_ok(weir_image_verify(weir_location_path(name), NULL, NULL));
	assert_false(there(lock_file));
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
}

static int status_of(pid_t child)
{
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- a reader ---- */

/* All of a file, by both kinds of lock. Whether it could be opened. */
static bool lock_all(const char *name)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	return fd >= 0 && fcntl(fd, F_OFD_SETLK, &all) == 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* A process of nobody's that locks what it can open, until it is told to end. */
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
	assert_int_equal(byte, 1); /* the image, and no lock file */
	close(ready[0]), close(ready[1]), close(go[0]);
	*end = go[1];
	return child;
}

static void test_does_a_reader_that_locks_all_prevent_a_seal(void **state)
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
	/* as after a kill: another one takes it over */
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

static void test_who_may_open_the_lock_file(void **state)
{
	(void)state;
	needs_root();
	assert_int_equal(mode_of_lock(0644, NOBODY, GROUP), 0600);
	assert_int_equal(mode_of_lock(0664, NOBODY, GROUP), 0660);
	assert_int_equal(mode_of_lock(0640, 0, 0), 0600);
	assert_int_equal(mode_of_lock(0646, 0, GROUP), 0606);
}

/* It was made when the group could write the image. */
static void test_is_a_lock_file_narrowed_with_the_image(void **state)
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

/* ---- the lock file's life ---- */

static void test_does_the_last_mapper_remove_the_lock_file(void **state)
{
	(void)state;
	struct weir_filter *f = map_live(path), *g = map_live(path);
	assert_refused(weir_seal(g), -EBUSY, path, "elsewhere");
	weir_destroy(f);
	assert_true(there(lock_file));
	seal_it(g);
	assert_sealed(path);
}

static void test_is_the_lock_file_of_a_killed_process_taken_over(void **state)
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

static void test_what_if_the_lock_file_is_removed_by_hand(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	assert_int_equal(unlink(lock_file), 0);
	assert_refused(map_in(&untouched, path, NULL), -EBUSY, path, "lock file");
	seal_it(f);
	assert_sealed(path);
}

/* Then the lock on the image alone tells whether another process has it mapped live. */
static void test_what_if_the_lock_file_of_a_live_image_is_lost(void **state)
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

/* The child's seal removes the lock file. The parent seals once more. */
static void test_may_a_forked_process_seal_first(void **state)
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

/* ---- names ---- */

/* By @name the image has the same lock. */
static void assert_kept_apart(const char *name)
{
	struct weir_filter *f = map_live(path), *g = map_live(name);
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_refused(weir_seal(g), -EBUSY, name, "elsewhere");
	weir_destroy(f);
	seal_it(g);
	assert_sealed(path);
}

static void test_is_the_image_kept_apart_by_links(void **state)
{
	char same[4200];
	(void)state;
	snprintf(same, sizeof same, "%s/same.weir", folder);
	assert_int_equal(symlink("../set.weir", other), 0);
	assert_int_equal(link(path, same), 0);
	assert_kept_apart(other);
	assert_kept_apart(same);
}

/* A name in another folder has another lock file: the second mapper is refused. */
static void test_is_a_hard_link_in_another_folder_refused(void **state)
{
	char beside[4200];
	(void)state;
	assert_int_equal(link(path, other), 0);
	name_lock(beside, other_dir);
	struct weir_filter *f = map_live(path);
	assert_refused(map_in(&untouched, other, NULL), -EBUSY, other, "same folder or lock_dir");
	assert_false(there(beside));
	seal_it(f);
	f = map_live(other);
	assert_refused(map_in(&untouched, path, NULL), -EBUSY, path, "same folder or lock_dir");
	seal_it(f);
	assert_sealed(path);
	assert_false(there(beside));
}

static void test_does_a_mapping_of_the_old_image_keep_the_new_one_live(void **state)
{
	char old[4200];
	(void)state;
	snprintf(old, sizeof old, "%s/old.weir", folder);
	struct weir_filter *f = map_live(path);
	assert_int_equal(rename(path, old), 0);
	save(path);
	seal_it(map_live(path));
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	struct weir_filter *g = map_live(old);
	assert_refused(weir_seal(g), -EBUSY, old, "elsewhere");
	weir_destroy(f);
	seal_it(g);
	assert_sealed(old);
}

/* Its mapper can seal it, a mapper by the new folder cannot join. */
static void test_may_a_live_image_go_to_another_folder(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	assert_int_equal(rename(path, other), 0);
	assert_refused(map_in(&untouched, other, NULL), -EBUSY, other, "same folder or lock_dir");
	seal_it(f);
	assert_sealed(other);
	seal_it(map_live(other));
}

/* Two mounts of a file system: one lock file. */
static void test_are_two_mount_namespaces_kept_apart(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct weir_filter *g;
		char seen[4300];
		snprintf(seen, sizeof seen, "%s/set.weir", other_dir);
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(folder, other_dir, NULL, MS_BIND, NULL))
			_exit(SKIPPED);
		weir_destroy(f);
		if (map_in(&g, seen, NULL))
			_exit(1);
		_exit(weir_seal(g) == -EBUSY ? 0 : 2);
	}
	int status = status_of(child);
	seal_it(f);
	assert_sealed(path);
	if (status == SKIPPED) {
		print_message("needs a mount namespace of its own\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* ---- lock_dir ---- */

/* As a user who may write the image, and not its folder. 0: all is right. */
static int without_the_folder(void)
{
	struct weir_filter *f = NULL;
	if (map_in(&f, path, NULL) != -EACCES || !strstr(weir_error_detail(), "--lock-dir"))
		return 2;
	if (weir_image_verify(weir_location_path(path), NULL, NULL))
		return 3; /* it went live */
	if (map_in(&f, path, other_dir) || weir_insert_hash(f, 1) < 0 || weir_seal(f))
		return 4;
	weir_destroy(f);
	return 0;
}

static void test_what_if_the_folder_cannot_be_written(void **state)
{
	char beside[4200];
	(void)state;
	needs_root();
	name_lock(beside, other_dir);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(chown(other_dir, NOBODY, NOBODY), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		become_nobody();
		_exit(without_the_folder());
	}
	assert_int_equal(status_of(child), 0);
	assert_sealed(path);
	assert_false(there(beside));
}

static void test_does_another_lock_dir_lead_past_the_lock(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = map_live(path), *g = NULL;
	(void)state;
	assert_refused(map_in(&g, path, other_dir), -EBUSY, path, "same folder or lock_dir");
	seal_it(f);
	assert_ok(map_in(&f, path, other_dir));
	assert_ok(map_in(&g, path, other_dir));
	assert_refused(map_in(&untouched, path, NULL), -EBUSY, path, "same folder or lock_dir");
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	weir_destroy(g);
	seal_it(f);
	assert_sealed(path);
	assert_refused(map_in(&untouched, path, path), -ENOTDIR, path, "folder of its lock file");
	o.lock_dir = other_dir;
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL,
	               "lock_dir", "WEIR_MAP_LIVE");
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL, "lock_dir",
	               "WEIR_MAP_LIVE");
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EINVAL, "lock_dir",
	               "WEIR_MAP_LIVE");
}

/* ---- a stranger's file at the lock file's name ---- */

static void put(const char *name, const char *bytes)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
}

/* The image is refused, not live, and what stands there stays as it is. */
static void assert_not_used(int err, const char *what)
{
	struct stat before, after;
	assert_int_equal(lstat(lock_file, &before), 0);
	assert_refused(map_in(&untouched, path, NULL), err, path, what);
	assert_false(is_live(path));
	assert_int_equal(lstat(lock_file, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_mode, after.st_mode);
	assert_int_equal(remove(lock_file), 0);
}

static void test_is_a_strangers_file_used_as_the_lock(void **state)
{
	char victim[4200];
	(void)state;
	snprintf(victim, sizeof victim, "%s/victim", folder);
	put(victim, "1");
	assert_int_equal(symlink("victim", lock_file), 0);
	assert_not_used(-EPERM, "is a symbolic link");
	assert_int_equal(link(victim, lock_file), 0);
	assert_not_used(-EPERM, "has other names");
	assert_int_equal(mkfifo(lock_file, 0600), 0);
	assert_not_used(-EPERM, "another thing than a lock file");
	assert_int_equal(mkdir(lock_file, 0700), 0);
	assert_not_used(-EISDIR, "cannot open its lock file");
	put(lock_file, "a file with contents");
	assert_not_used(-EPERM, "another thing than a lock file");
	seal_it(map_live(path));
	assert_sealed(path);
}

static void test_is_the_file_of_a_user_who_only_reads_the_lock(void **state)
{
	(void)state;
	needs_root();
	put(lock_file, "");
	assert_int_equal(chown(lock_file, NOBODY, GROUP), 0);
	assert_not_used(-EPERM, "may not write the image");
	/* one of the group that may write the image */
	assert_int_equal(chown(path, 0, GROUP), 0);
	assert_int_equal(chmod(path, 0664), 0);
	put(lock_file, "");
	assert_int_equal(chown(lock_file, NOBODY, GROUP), 0);
	seal_it(map_live(path));
	assert_sealed(path);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_does_a_reader_that_locks_all_prevent_a_seal),
		fresh(test_who_may_open_the_lock_file),
		fresh(test_is_a_lock_file_narrowed_with_the_image),
		fresh(test_does_the_last_mapper_remove_the_lock_file),
		fresh(test_is_the_lock_file_of_a_killed_process_taken_over),
		fresh(test_what_if_the_lock_file_is_removed_by_hand),
		fresh(test_what_if_the_lock_file_of_a_live_image_is_lost),
		fresh(test_may_a_forked_process_seal_first),
		fresh(test_is_the_image_kept_apart_by_links),
		fresh(test_is_a_hard_link_in_another_folder_refused),
		fresh(test_does_a_mapping_of_the_old_image_keep_the_new_one_live),
		fresh(test_may_a_live_image_go_to_another_folder),
		fresh(test_are_two_mount_namespaces_kept_apart),
		fresh(test_what_if_the_folder_cannot_be_written),
		fresh(test_does_another_lock_dir_lead_past_the_lock),
		fresh(test_is_a_strangers_file_used_as_the_lock),
		fresh(test_is_the_file_of_a_user_who_only_reads_the_lock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
