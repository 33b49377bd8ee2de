/* SPDX-License-Identifier: MIT
 * A full disk: a file system of 1 MiB in memory, mounted where only this process sees it. Needs
 * the right to mount (root, or user namespaces); without it the test reports that and is skipped.
 * */
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include "faults.h"

static char why[256];
static struct weir_filter *little, *much;

static bool write_file(const char *name, const char *text)
{
	return image_spit(name, text, strlen(text));
}

/* A namespace of one's own; as an ordinary user with a user namespace around it, in which one is
 * root. */
static bool own_mounts(void)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();
	if (unshare(CLONE_NEWNS) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	snprintf(map, sizeof map, "0 %u 1", uid);
	bool mapped = write_file("/proc/self/uid_map", map) &&
	              write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "0 %u 1", gid);
	return mapped && write_file("/proc/self/gid_map", map);
}

static int setup(void **state)
{
	(void)folder_setup(state);
	if (!own_mounts() || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("weir", folder, "tmpfs", 0, "size=1m"))
		snprintf(why, sizeof why, "cannot mount a small file system: %s", strerror(errno));
	little = test_filter(WEIR_BLOCKED, 10000, 0.01);
	much = test_filter(WEIR_BLOCKED, 2000000, 0.01);
	for (uint64_t i = 0; i < 2000000; i++)
		if (weir_insert_hash(much, test_key(i)) < 0)
			return -1;
	return 0;
}

static int teardown(void **state)
{
	weir_destroy(little);
	weir_destroy(much);
	(void)umount(folder);
	(void)folder_teardown(state);
	return 0;
}

static uint64_t free_bytes(void)
{
	struct statfs st;
	assert_int_equal(statfs(folder, &st), 0);
	return (uint64_t)st.f_bfree * (uint64_t)st.f_bsize;
}

static void full_disk(int level, const char *word)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	char name[256];
	if (*why) {
		print_message("%s\n", why);
		skip();
	}
	o.generation = 1;
	assert_ok(weir_save(little, weir_location_path(path), &o));
	uint64_t before = free_bytes();
	o.generation = 2;
	o.zstd_level = level;
	assert_refused(weir_save(much, weir_location_path(path), &o), -ENOSPC, path, word);
	assert_int_equal(folder_entries(folder, "set.weir", name), 0);
	assert_int_equal(generation_of(path), 1);
	assert_int_equal(free_bytes(), before);
	int fd = open(path, O_RDWR | O_APPEND);
	assert_refused(weir_save(much, weir_location_fd(fd), NULL), -ENOSPC, "file descriptor",
	               "write");
	close(fd);
	unlink(path);
}

static void test_found_out_by_reserving(void **state)
{
	(void)state;
	full_disk(0, "reserve");
}

#if TEST_ZSTD
static void test_found_out_by_writing(void **state)
{
	(void)state;
	full_disk(1, "write");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_out_by_reserving),
#if TEST_ZSTD
		cmocka_unit_test(test_found_out_by_writing),
#endif
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
