/* SPDX-License-Identifier: MIT
 * Shared by the tests of the lock of live images: an image in a folder that every user may enter,
 * the lock file, and a second user. */
#ifndef WEIR_TESTS_UNIT_LIVE_LOCK_H
#define WEIR_TESTS_UNIT_LIVE_LOCK_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include "../folder.h"

enum { NOBODY = 65534, GROUP = 12345 };

static char lock_file[4400], other_dir[4200], other[4300];
static struct weir_filter *untouched;

static inline void name_lock(char out[4400], const char *dir)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	snprintf(out, 4400, "%s/.weir-live-%016llx-%016llx", dir, (unsigned long long)st.st_dev,
	         (unsigned long long)st.st_ino);
}

static inline void save(const char *name)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	assert_ok(weir_save(f, weir_location_path(name), NULL));
	weir_destroy(f);
}

/* Every user may enter the folder and its subfolder other_dir. The image is in the folder. */
static inline int setup(void **state)
{
	umask(022);
	(void)folder_setup(state);
	snprintf(other_dir, sizeof other_dir, "%s/other", folder);
	snprintf(other, sizeof other, "%s/other.weir", other_dir);
	save(path);
	name_lock(lock_file, folder);
	return chmod(folder, 0755) || mkdir(other_dir, 0755);
}

static inline int teardown(void **state)
{
	bool left = untouched != NULL;
	untouched = NULL; /* a failure of this test must not make the next test fail */
	(void)folder_teardown(state);
	return left;
}

static inline void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("needs root, who can act as two users\n");
	skip();
}

static inline int map_in(struct weir_filter **out, const char *name, const char *lock_dir)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.lock_dir = lock_dir;
	return weir_load(out, weir_location_map(name, WEIR_MAP_LIVE), &o);
}

static inline struct weir_filter *map_live(const char *name)
{
	struct weir_filter *f = NULL;
	assert_ok(map_in(&f, name, NULL));
	assert_true(weir_insert_hash(f, 1) >= 0);
	return f;
}

static inline bool is_live(const char *name)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	return info.live;
}

static inline void seal_it(struct weir_filter *f)
{
	assert_ok(weir_seal(f));
	weir_destroy(f);
}

static inline bool there(const char *name)
{
	struct stat st;
	return lstat(name, &st) == 0;
}

/* Asserts that the image is valid and that its lock file has been removed. */
static inline void assert_sealed(const char *name)
{
	assert_ok(weir_image_verify(weir_location_path(name), NULL, NULL));
	assert_false(there(lock_file));
}

static inline void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
}

/* Changes the user of this process until act_as_root(). This process acts as the second user
 * itself, because a child process that ends by _exit() writes no coverage counts. Do not assert
 * before act_as_root(): a failed assertion would leave the later tests without root's rights. */
static inline void act_as_nobody(gid_t group)
{
	assert_int_equal(setgroups(1, &group) | setegid(NOBODY) | seteuid(NOBODY), 0);
}

static inline void act_as_root(void)
{
	assert_int_equal(seteuid(0) | setegid(0) | setgroups(0, NULL), 0);
}

static inline int status_of(pid_t child)
{
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif
