/* SPDX-License-Identifier: MIT
 * In a folder that other users may write to, a save must not keep permissions or an owner that
 * another user chose, and must not follow another user's link. Most tests need root, to act as two
 * users. Without root, those tests print a message and are skipped. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include "../folder.h"

enum { STRANGER = 65534, GROUP = 12345 };

static struct weir_filter *f;

/* Each test has a new folder that every user may write to, and a umask of 022. */
static int setup(void **state)
{
	umask(022);
	f = test_filter(WEIR_BLOCKED, 100, 0.01);
	(void)folder_setup(state);
	return chmod(folder, 0777);
}

static int teardown(void **state)
{
	weir_destroy(f);
	return folder_teardown(state);
}

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("needs root, who can act as two users\n");
	skip();
}

static void put(const char *name, uid_t owner, gid_t group, mode_t mode)
{
	(void)unlink(name);
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, owner, group), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static struct stat stat_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(name, &st), 0);
	return st;
}

static int save_with(mode_t mode)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.mode = mode;
	return test_done(weir_save(f, weir_location_path(path), &o));
}

static mode_t mode_after_save(void)
{
	assert_ok(save_with(0));
	return stat_of(path).st_mode & 07777;
}

static void test_a_save_gives_away_no_root_rights(void **state)
{
	(void)state;
	needs_root();
	put(path, STRANGER, STRANGER, 04777);
	assert_int_equal(mode_after_save(), 0644);
	assert_int_equal(stat_of(path).st_uid, 0);
	put(path, STRANGER, STRANGER, 0604);
	assert_int_equal(mode_after_save(), 0604);
	umask(077); /* the mode of another user's file is not kept */
	put(path, STRANGER, STRANGER, 0777);
	assert_int_equal(mode_after_save(), 0600);
	put(path, STRANGER, STRANGER, 04777);
	assert_ok(save_with(0751)); /* the caller's mode takes precedence */
	assert_int_equal(stat_of(path).st_mode & 07777, 0751);
}

static void test_modes_never_widen(void **state)
{
	(void)state;
	for (mode_t old = 0; old <= 07777; old += old < 0777 ? 1 : 0111) {
		put(path, geteuid(), getegid(), old);
		mode_t now = mode_after_save(), wanted = old & 0755;
		/* A saver that cannot read the file does not know whether the file has an access
		 * control list. So the group gets no more permissions than other users have. */
		if (!(old & 0400) && geteuid())
			wanted &= ~(mode_t)070 | wanted << 3;
		assert_int_equal(now, wanted);
	}
}

static int narrow(void *name, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return chmod(name, 0600);
}

static void test_a_mode_narrowed_during_a_save_is_kept(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	put(path, geteuid(), getegid(), 0644);
	o.progress = narrow;
	o.progress_arg = path;
	assert_ok(weir_save(f, weir_location_path(path), &o));
	assert_int_equal(stat_of(path).st_mode & 07777, 0600);
}

static void test_the_group_is_not_kept_in_an_open_folder(void **state)
{
	(void)state;
	needs_root();
	put(path, 0, GROUP, 0640); /* the folder is writable by all, so the group is not kept */
	assert_int_equal(mode_after_save(), 0600);
	put(path, 0, GROUP, 0754);
	assert_int_equal(mode_after_save(), 0744);
}

/* The access control list u::rw-, u:1:rw-, g::---, m::rw-, o::--- in the kernel's format. */
static const unsigned char acl[] = {
	2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 1, 0, 0, 0, 4, 0, 0, 0,
	255, 255, 255, 255, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255
};

static bool give_acl(const char *name, const char *which)
{
	if (setxattr(name, which, acl, sizeof acl, 0) == 0)
		return true;
	print_message("%s has no access control lists: %s\n", name, strerror(errno));
	return false;
}

/* With an access control list, the group bits of the mode are only a mask. The group itself may
 * have fewer permissions. */
static void test_access_lists_widen_nothing(void **state)
{
	(void)state;
	put(path, geteuid(), getegid(), 0600);
	if (!give_acl(path, "system.posix_acl_access"))
		skip();
	assert_int_equal(stat_of(path).st_mode & 07777, 0660);
	assert_int_equal(mode_after_save(), 0600);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0), -1);
	put(path, geteuid(), getegid(), 0640);
	assert_true(give_acl(folder, "system.posix_acl_default"));
	/* the save does not give the image the permissions of the folder's default list */
	assert_int_equal(mode_after_save(), 0640);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0), -1);
	/* the folder's default list does not apply to a mode from the caller, either */
	assert_ok(save_with(0660));
	assert_int_equal(stat_of(path).st_mode & 07777, 0660);
	assert_int_equal(getxattr(path, "system.posix_acl_access", NULL, 0), -1);
}

static void test_the_owner_is_not_kept_in_an_open_folder(void **state)
{
	(void)state;
	needs_root();
	for (mode_t open_to_all = 0; open_to_all <= 01777; open_to_all += 01777) {
		put(path, STRANGER, GROUP, 0640);
		assert_int_equal(chmod(folder, 0755 | open_to_all), 0);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(mode_after_save(), open_to_all ? 0600 : 0640);
			struct stat st = stat_of(path);
			assert_int_equal(st.st_uid, open_to_all ? 0 : STRANGER);
			assert_int_equal(st.st_gid, open_to_all ? 0 : GROUP);
		}
	}
	assert_int_equal(chmod(folder, 0755), 0);
	/* the owner of the folder may put any file into it */
	assert_int_equal(chown(folder, STRANGER, 0), 0);
	put(path, STRANGER, GROUP, 0640);
	assert_int_equal(mode_after_save(), 0600);
	assert_int_equal(stat_of(path).st_uid, 0);
}

/* Any member of the folder's group may have created the file. */
static void test_the_owner_is_not_kept_in_a_folder_of_a_group(void **state)
{
	(void)state;
	needs_root();
	put(path, STRANGER, GROUP, 04754);
	assert_int_equal(chmod(folder, 0775), 0);
	assert_int_equal(mode_after_save(), 0644);
	assert_int_equal(stat_of(path).st_uid, 0);
	assert_int_equal(stat_of(path).st_gid, 0);
}

/* Run @act in a child process as the user STRANGER, a member of GROUP.
 * Return: the wait status of the child. */
static int as_stranger(int (*act)(void))
{
	int status;
	const gid_t groups[] = { GROUP };
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(setgroups(COUNT_OF(groups), groups) ||
		      setresgid(STRANGER, STRANGER, STRANGER) ||
		      setresuid(STRANGER, STRANGER, STRANGER) || act());
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int save_over_another(void)
{
	return save_with(0) || (stat_of(path).st_mode & 07777) != 0644;
}

static int save_over_own(void)
{
	return save_with(0) || (stat_of(path).st_mode & 07777) != 0654;
}

static int save_over_a_group_s(void)
{
	return save_with(0) || (stat_of(path).st_mode & 07777) != 0640;
}

static int save_over_unreadable(void)
{
	return save_with(0) || (stat_of(path).st_mode & 07777) != 0200;
}

/* Without root, a saver cannot keep the old owner, but can keep a group that the saver belongs
 * to. */
static void test_a_user_keeps_the_group(void **state)
{
	(void)state;
	needs_root();
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(folder, 0700), 0);
	put(path, 0, GROUP, 0640);
	assert_int_equal(as_stranger(save_over_a_group_s), 0);
	assert_int_equal(stat_of(path).st_uid, STRANGER);
	assert_int_equal(stat_of(path).st_gid, GROUP);
}

/* A saver that cannot read the file does not know whether the file has an access control list. So
 * the save gives the group no more permissions than other users have. */
static void test_an_unreadable_file_opens_to_no_group(void **state)
{
	(void)state;
	needs_root();
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	put(path, STRANGER, STRANGER, 0260);
	assert_int_equal(as_stranger(save_over_unreadable), 0);
}

static void test_a_user_saves_over_roots(void **state)
{
	(void)state;
	needs_root();
	put(path, 0, GROUP, 04674);
	assert_int_equal(as_stranger(save_over_another), 0);
	assert_int_equal(stat_of(path).st_uid, STRANGER);
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0); /* the folder belongs to the user */
	assert_int_equal(chmod(folder, 0700), 0);
	put(path, STRANGER, STRANGER, 04654);
	assert_int_equal(as_stranger(save_over_own), 0);
}

static void test_options_replaces_needs_read_permission(void **state)
{
	(void)state;
	needs_root();
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.replaces = 1;
	put(path, 0, 0, 0600);
	const ino_t before = stat_of(path).st_ino;
	assert_int_equal(setegid(STRANGER) | seteuid(STRANGER), 0);
	int answer = test_done(weir_save(f, weir_location_path(path), &o));
	assert_int_equal(seteuid(0) | setegid(0), 0);
	assert_refused(answer, -EACCES, path, "cannot open the old image");
	assert_true(stat_of(path).st_ino == before);
}

static void test_links_of_other_users_are_not_followed(void **state)
{
	char link[4200], word = '0';
	(void)state;
	needs_root();
	snprintf(link, sizeof link, "%s/link", folder);
	put(path, 0, 0, 0644);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(lchown(link, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	int fd = open("/proc/sys/fs/protected_symlinks", O_RDONLY);
	if (fd < 0 || read(fd, &word, 1) != 1 || word != '1') {
		print_message("fs.protected_symlinks is off\n");
		skip();
	}
	close(fd);
	assert_int_equal(open(link, O_WRONLY), -1); /* the kernel refuses to follow the link */
	assert_refused(weir_save(f, weir_location_path(link), NULL), -EACCES, link,
	               "follow the link");
	assert_int_equal(stat_of(path).st_size, 0);
}

static void test_a_link_to_another_folder_is_followed(void **state)
{
	char sub[4200], link[4300];
	(void)state;
	snprintf(sub, sizeof sub, "%s/sub", folder);
	snprintf(link, sizeof link, "%s/link", sub);
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(symlink("../set.weir", link), 0);
	put(path, geteuid(), getegid(), 0600);
	ino_t before = stat_of(path).st_ino;
	assert_ok(weir_save(f, weir_location_path(link), NULL));
	assert_true(S_ISLNK(stat_of(link).st_mode));
	assert_true(stat_of(path).st_ino != before);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(sub), 0); /* succeeds only if the folder is empty */
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_a_save_gives_away_no_root_rights),
		fresh(test_modes_never_widen),
		fresh(test_a_mode_narrowed_during_a_save_is_kept),
		fresh(test_the_group_is_not_kept_in_an_open_folder),
		fresh(test_access_lists_widen_nothing),
		fresh(test_the_owner_is_not_kept_in_an_open_folder),
		fresh(test_the_owner_is_not_kept_in_a_folder_of_a_group),
		fresh(test_a_user_keeps_the_group),
		fresh(test_an_unreadable_file_opens_to_no_group),
		fresh(test_a_user_saves_over_roots),
		fresh(test_options_replaces_needs_read_permission),
		fresh(test_links_of_other_users_are_not_followed),
		fresh(test_a_link_to_another_folder_is_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
