/* SPDX-License-Identifier: MIT
 * The lock of live images: under every name of the image, in another folder, and with another
 * user's file at the lock file's name. Some tests need root, to act as two users. Without root,
 * those tests print a message and are skipped. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#include "live_lock.h"

enum { SKIPPED = 77 };

/* ---- names ---- */

/* Asserts that the image has the same lock under @name as under path. */
static void assert_same_lock(const char *name)
{
	struct weir_filter *f = map_live(path), *g = map_live(name);
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_refused(weir_seal(g), -EBUSY, name, "elsewhere");
	weir_destroy(f);
	seal_it(g);
	assert_sealed(path);
}

static void test_links_lead_to_the_same_lock(void **state)
{
	char same[4200];
	(void)state;
	snprintf(same, sizeof same, "%s/same.weir", folder);
	assert_int_equal(symlink("../set.weir", other), 0);
	assert_int_equal(link(path, same), 0);
	assert_same_lock(other);
	assert_same_lock(same);
}

/* A name in another folder would have another lock file. */
static void test_a_hard_link_in_another_folder_is_refused(void **state)
{
	char beside[4400];
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

static void test_a_map_of_the_old_image_does_not_keep_the_new_one_live(void **state)
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

/* A process that opens the moved image cannot map it live. */
static void test_a_moved_live_image_can_be_sealed(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	assert_int_equal(rename(path, other), 0);
	assert_refused(map_in(&untouched, other, NULL), -EBUSY, other, "same folder or lock_dir");
	seal_it(f);
	assert_sealed(other);
	seal_it(map_live(other));
}

static void test_two_mount_namespaces_share_the_lock(void **state)
{
	struct weir_filter *f = map_live(path);
	(void)state;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct weir_filter *g;
		char seen[4300];
		snprintf(seen, sizeof seen, "%s/set.weir", other_dir);
		if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		    mount(folder, other_dir, "none", MS_BIND, NULL))
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

/* Runs as a user that may write the image, but not the image's folder. Return: 0 on success. */
static int map_without_the_folder(void)
{
	struct weir_filter *f = NULL;
	if (map_in(&f, path, NULL) != -EACCES || !strstr(weir_error_detail(), "--lock-dir"))
		return 2;
	if (weir_image_verify(weir_location_path(path), NULL, NULL))
		return 3; /* the image is live despite the error */
	if (map_in(&f, path, other_dir) || weir_insert_hash(f, 1) < 0 || weir_seal(f))
		return 4;
	weir_destroy(f);
	return 0;
}

static void test_without_folder_permission_lock_dir_is_needed(void **state)
{
	char beside[4400];
	(void)state;
	needs_root();
	name_lock(beside, other_dir);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(chown(other_dir, NOBODY, NOBODY), 0);
	act_as_nobody(NOBODY);
	int answer = map_without_the_folder();
	act_as_root();
	assert_int_equal(answer, 0);
	assert_sealed(path);
	assert_false(there(beside));
}

static void test_another_lock_dir_does_not_bypass_the_lock(void **state)
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

/* ---- lock files that other users created or may open ---- */

static void put(const char *name, const char *bytes)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
}

/* Asserts that the map is refused, the image is not live, and the file at the lock's name is
 * unchanged. */
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

static void test_a_file_of_another_user_is_not_used_as_the_lock(void **state)
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
	assert_not_used(-EPERM, "is not a lock file");
	assert_int_equal(mkdir(lock_file, 0700), 0);
	assert_not_used(-EISDIR, "cannot open its lock file");
	put(lock_file, "a file with contents");
	assert_not_used(-EPERM, "is not a lock file");
	seal_it(map_live(path));
	assert_sealed(path);
}

static void test_a_file_of_a_mere_reader_is_not_used_as_the_lock(void **state)
{
	(void)state;
	needs_root();
	put(lock_file, "");
	assert_int_equal(chown(lock_file, NOBODY, GROUP), 0);
	assert_not_used(-EPERM, "may not write the image");
	/* The lock file's owner is a member of the image's group. At first the group may only read
	 * the image, later it may also write the image. */
	assert_int_equal(chown(path, 0, GROUP), 0);
	put(lock_file, "");
	assert_int_equal(chown(lock_file, NOBODY, GROUP), 0);
	assert_not_used(-EPERM, "may not write the image");
	assert_int_equal(chmod(path, 0664), 0);
	put(lock_file, "");
	assert_int_equal(chown(lock_file, NOBODY, GROUP), 0);
	seal_it(map_live(path));
	assert_sealed(path);
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(stat(name, &st), 0);
	return st.st_mode & 07777;
}

/* Map the image live as a user of the image's group. */
static int map_as_one_of_the_group(struct weir_filter **out, const char *lock_dir)
{
	act_as_nobody(GROUP);
	int answer = map_in(out, path, lock_dir);
	act_as_root();
	return answer;
}

/* A reader with a shared lock on the lock file could prevent every seal. */
static void test_readers_of_the_image_cannot_open_the_lock_file(void **state)
{
	(void)state;
	put(lock_file, "");
	assert_int_equal(chmod(lock_file, 0666), 0);
	struct weir_filter *f = map_live(path);
	assert_int_equal(mode_of(lock_file), 0600);
	seal_it(f);
	assert_sealed(path);
	needs_root();
	/* the image and the lock file have different groups */
	assert_int_equal(chown(path, 0, GROUP) + chmod(path, 0664) + chmod(folder, 0777), 0);
	put(lock_file, "");
	assert_int_equal(chmod(lock_file, 0666), 0);
	f = map_live(path);
	assert_int_equal(mode_of(lock_file), 0600);
	seal_it(f);
	/* only root can change the mode of root's lock file */
	put(lock_file, "");
	assert_int_equal(chown(lock_file, 0, GROUP) + chmod(lock_file, 0666), 0);
	int answer = map_as_one_of_the_group(&untouched, NULL);
	assert_refused(answer, -EPERM, path, "may be locked by users who may not write the image");
	assert_false(is_live(path));
	assert_int_equal(mode_of(lock_file), 0666);
	assert_int_equal(chmod(lock_file, 0660), 0);
	assert_ok(map_as_one_of_the_group(&f, NULL));
	seal_it(f);
}

/* The access control list u::rw-, u:1:rw-, g::---, m::rw-, o::--- in the kernel's format. */
static const unsigned char acl[] = {
	2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 1, 0, 0, 0, 4, 0, 0, 0,
	255, 255, 255, 255, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255
};

/* With an access control list, the group bits are only a mask. The group itself may have fewer
 * permissions. */
static void test_with_an_access_list_the_group_cannot_lock(void **state)
{
	struct stat st;
	(void)state;
	if (setxattr(path, "system.posix_acl_access", acl, sizeof acl, 0)) {
		print_message("no access control lists here: %s\n", strerror(errno));
		skip();
	}
	struct weir_filter *f = map_live(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_int_equal(stat(lock_file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	seal_it(f);
	assert_sealed(path);
}

/* The lock file may be used only if users outside the image's group cannot create files in the
 * folder. An access control list may give them this right. So the lock file is not used if the
 * folder has such a list, or if the mapper cannot read the folder and look for a list. */
static void test_a_lock_file_of_a_group_member_may_be_used(void **state)
{
	static const struct {
		mode_t mode;
		gid_t group;
		bool list, by_root;
		int wanted;
	} cases[] = {
		{ 0770, GROUP, false, true, 0 },       { 0770, GROUP, false, false, 0 },
		{ 0730, GROUP, false, false, -EPERM }, { 0770, GROUP, true, true, -EPERM },
		{ 0777, GROUP, false, true, -EPERM },  { 0770, NOBODY, false, true, -EPERM },
	};
	char theirs[4400];
	(void)state;
	needs_root();
	name_lock(theirs, other_dir);
	assert_int_equal(chown(path, 0, GROUP) + chmod(path, 0664), 0);
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		struct weir_filter *f = NULL;
		(void)removexattr(other_dir, "system.posix_acl_access");
		if (cases[i].list &&
		    setxattr(other_dir, "system.posix_acl_access", acl, sizeof acl, 0))
			continue; /* the file system has no access control lists */
		assert_int_equal(chown(other_dir, 0, cases[i].group), 0);
		assert_int_equal(chmod(other_dir, cases[i].mode), 0);
		put(theirs, "");
		assert_int_equal(chown(theirs, 1, GROUP) + chmod(theirs, 0660), 0);
		int answer = cases[i].by_root ? map_in(&f, path, other_dir) :
		                                map_as_one_of_the_group(&f, other_dir);
		if (answer)
			assert_refused(answer, -EPERM, path, "may not write the image");
		assert_int_equal(answer, cases[i].wanted);
		assert_int_equal(is_live(path), !answer);
		if (f)
			seal_it(f);
		assert_int_equal(there(theirs), answer != 0);
		(void)unlink(theirs);
	}
}

/* In a set-group-ID folder every new file gets the image's group, even a file of another user. */
static void test_a_file_in_a_set_group_id_folder_is_not_used_as_the_lock(void **state)
{
	struct stat st;
	(void)state;
	needs_root();
	assert_int_equal(chown(path, 0, GROUP) + chmod(path, 0664), 0);
	assert_int_equal(chown(folder, 0, GROUP) + chmod(folder, 03777), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		become_nobody();
		umask(0);
		int fd = open(lock_file, O_CREAT | O_EXCL | O_RDWR, 0660);
		_exit(fd < 0 || fchmod(fd, 0660));
	}
	assert_int_equal(status_of(child), 0);
	assert_int_equal(stat(lock_file, &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_gid, GROUP);
	assert_not_used(-EPERM, "may not write the image");
	seal_it(map_live(path));
	assert_sealed(path);
}

/* Leave the image @name live, with its lock file, as a killed process does. */
static void leave_live(const char *name)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)map_live(name);
		_exit(0);
	}
	assert_int_equal(status_of(child), 0);
}

/* The owner of the folder may not write the image, but swaps the lock files of two images. */
static void test_a_swapped_lock_file_allows_no_early_seal(void **state)
{
	char stash[4200], third[4200], of_third[4400], of_first[4400];
	(void)state;
	needs_root();
	snprintf(stash, sizeof stash, "%s/stash", folder);
	snprintf(third, sizeof third, "%s/third.weir", folder);
	strcpy(of_first, lock_file);
	save(third);
	leave_live(third);
	struct stat st;
	assert_int_equal(stat(third, &st), 0);
	snprintf(of_third, sizeof of_third, "%s/.weir-live-%016llx-%016llx", folder,
	         (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
	struct weir_filter *f = map_live(path);
	assert_int_equal(rename(of_first, stash) + rename(of_third, of_first), 0);
	struct weir_filter *g = map_live(path);
	assert_refused(weir_seal(g), -EBUSY, path, "rename its lock file");
	assert_true(is_live(path));
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	weir_destroy(g);
	assert_true(weir_insert_hash(f, 2) >= 0);
	seal_it(f);
	assert_sealed(path);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_links_lead_to_the_same_lock),
		fresh(test_a_hard_link_in_another_folder_is_refused),
		fresh(test_a_map_of_the_old_image_does_not_keep_the_new_one_live),
		fresh(test_a_moved_live_image_can_be_sealed),
		fresh(test_two_mount_namespaces_share_the_lock),
		fresh(test_without_folder_permission_lock_dir_is_needed),
		fresh(test_another_lock_dir_does_not_bypass_the_lock),
		fresh(test_a_file_of_another_user_is_not_used_as_the_lock),
		fresh(test_a_file_of_a_mere_reader_is_not_used_as_the_lock),
		fresh(test_readers_of_the_image_cannot_open_the_lock_file),
		fresh(test_with_an_access_list_the_group_cannot_lock),
		fresh(test_a_lock_file_of_a_group_member_may_be_used),
		fresh(test_a_file_in_a_set_group_id_folder_is_not_used_as_the_lock),
		fresh(test_a_swapped_lock_file_allows_no_early_seal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
