/* SPDX-License-Identifier: MIT
 * A full disk: a small file system in memory, mounted where only this process sees it. The mount
 * needs root or user namespaces. Without them the tests print the reason and are skipped. */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include "faults.h"

static char why[256];
static struct weir_filter *little, *much;

static bool write_file(const char *name, const char *text)
{
	return image_spit(name, text, strlen(text));
}

/* Give this process its own mount namespace. An ordinary user also gets a user namespace, in which
 * the user is root. */
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

static void need_mount(void)
{
	if (!*why)
		return;
	print_message("%s\n", why);
	skip();
}

static void full_disk(int level, const char *word)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	char name[256];
	need_mount();
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

static void test_a_full_disk_is_noticed_when_space_is_reserved(void **state)
{
	(void)state;
	full_disk(0, "reserve");
}

#if TEST_ZSTD
static void test_a_full_disk_is_noticed_by_a_write(void **state)
{
	(void)state;
	full_disk(1, "write");
}
#endif

/* ---- a disk that fills up after the image was saved ---- */

enum { MIB = 1 << 20 };

static char rest[4200];

static void resize(const char *size)
{
	assert_int_equal(mount("weir", folder, "tmpfs", MS_REMOUNT, size), 0);
}

static void fill_up(void)
{
	static const unsigned char page[4096] = { 1 };
	snprintf(rest, sizeof rest, "%s/rest", folder);
	int fd = open(rest, O_WRONLY | O_CREAT, 0600);
	while (write(fd, page, sizeof page) == (ssize_t)sizeof page)
		;
	close(fd);
	assert_int_equal(free_bytes(), 0);
}

/* 4 MiB are enough for the bits, which are 2.45 MiB, but not for 2 MiB of padding as well. */
static void save_and_fill_up(void)
{
	need_mount();
	resize("size=4m");
	assert_ok(weir_save(much, weir_location_path(path), NULL));
	fill_up();
}

static void clean_up(void)
{
	assert_int_equal(unlink(rest) + unlink(path), 0);
	resize("size=1m");
}

/* Each page that a live mapping writes to has disk space, or the write would raise SIGBUS. */
static void test_a_live_mapping_on_a_full_disk_needs_no_space(void **state)
{
	struct weir_filter *live = NULL;
	(void)state;
	save_and_fill_up();
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	for (uint64_t i = 0; i < 3000000; i++)
		assert_true(weir_insert_hash(live, test_key(i)) >= 0);
	assert_ok(weir_seal(live));
	weir_destroy(live);
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	clean_up();
}

static bool spit_sparsely(const char *name, const unsigned char *bytes, uint64_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	bool ok = fd >= 0 && ftruncate(fd, (off_t)n) == 0;
	for (uint64_t at = 0, part; ok && at < n; at += part) {
		part = n - at < IMAGE_PAGE ? n - at : IMAGE_PAGE;
		bool zero = !bytes[at] && memcmp(bytes + at, bytes + at + 1, part - 1) == 0;
		ok = zero || pwrite(fd, bytes + at, part, (off_t)at) == (ssize_t)part;
	}
	return fd >= 0 && close(fd) == 0 && ok;
}

/* Save an image as cp --sparse=always would: pages of zeros are holes. */
static void save_with_holes(void)
{
	struct weir_filter *empty = test_filter(WEIR_BLOCKED, 2000000, 0.01);
	unsigned char *image = NULL;
	int64_t n = weir_save(empty, weir_location_room(NULL, 0), NULL);
	assert_ok(n);
	assert_int_equal(posix_memalign((void **)&image, 64, (size_t)n), 0);
	assert_ok(weir_save(empty, weir_location_room(image, (size_t)n), NULL));
	assert_true(spit_sparsely(path, image, (uint64_t)n));
	free(image);
	weir_destroy(empty);
}

/* A live mapping of an image with holes gets space for all pages, or fails. */
static void test_stores_into_holes_succeed_on_a_full_disk(void **state)
{
	struct weir_filter *live = NULL;
	struct stat st;
	(void)state;
	need_mount();
	resize("size=4m");
	save_with_holes();
	fill_up();
	assert_refused(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL), -ENOSPC,
	               path, "free space there");
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL)); /* sealed */
	assert_int_equal(unlink(rest), 0);
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	fill_up();
	for (uint64_t i = 0; i < 2000000; i++)
		assert_true(weir_insert_hash(live, test_key(i)) >= 0);
	assert_ok(weir_seal(live));
	weir_destroy(live);
	assert_int_equal(stat(path, &st), 0);
	assert_true(512 * st.st_blocks < st.st_size - MIB); /* the padding is still a hole */
	clean_up();
}

/* When a mapping reads a hole, tmpfs allocates a page. Here no page is free. */
static void test_verifying_a_hole_on_a_full_disk_fails_without_a_signal(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *mapped = NULL;
	(void)state;
	if (madvise(NULL, 0, 22) != 0) /* MADV_POPULATE_READ, Linux 5.14 */
		skip();
	save_and_fill_up();
	o.no_verify = true;
	assert_ok(weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), &o));
	assert_refused(weir_verify(mapped), -ENOSPC, path, "free space");
	resize("size=8m");
	assert_ok(weir_verify(mapped));
	weir_destroy(mapped);
	clean_up();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_disk_is_noticed_when_space_is_reserved),
#if TEST_ZSTD
		cmocka_unit_test(test_a_full_disk_is_noticed_by_a_write),
#endif
		cmocka_unit_test(test_a_live_mapping_on_a_full_disk_needs_no_space),
		cmocka_unit_test(test_stores_into_holes_succeed_on_a_full_disk),
		cmocka_unit_test(test_verifying_a_hole_on_a_full_disk_fails_without_a_signal),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
