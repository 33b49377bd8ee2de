/* SPDX-License-Identifier: MIT
 * Saves, loads and maps that fail: options out of range, paths without an image, limits, and a
 * progress function that stops them. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"

static char other[4096];
static struct weir_filter *f, *untouched;

static int setup(void **state)
{
	(void)folder_setup(state);
	snprintf(other, sizeof other, "%s/other", folder);
	f = test_filter(WEIR_BLOCKED, 200000, 0.01);
	return test_done(weir_save(f, weir_location_path(path), NULL));
}

static int teardown(void **state)
{
	weir_destroy(f);
	(void)folder_teardown(state);
	return untouched != NULL; /* a failed call leaves the output unchanged */
}

static unsigned entries(void)
{
	unsigned n = 0;
	char command[4200];
	snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
	FILE *ls = popen(command, "r");
	assert_non_null(ls);
	assert_int_equal(fscanf(ls, "%u", &n), 1);
	pclose(ls);
	return n;
}

static void test_wrong_save_options_are_refused(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	o.struct_size = 0;
	assert_refused(weir_save(f, weir_location_path(other), &o), -EINVAL,
	               "weir_save_options.struct_size", " 0:");
	o.struct_size = sizeof o + 1;
	assert_refused(weir_save(f, weir_location_fd(1), &o), -EINVAL,
	               "weir_save_options.struct_size", "");
	o.struct_size = sizeof o;
	o.zstd_level = -1;
	assert_refused(weir_save(f, weir_location_path(other), &o), -EINVAL, "zstd_level", "-1");
	o.zstd_level = 20;
	assert_refused(weir_save(f, weir_location_path(other), &o), -EINVAL, "zstd_level", "20");
	o.zstd_level = 0;
	o.mode = 01777;
	assert_refused(weir_save(f, weir_location_path(other), &o), -EINVAL, "mode", "01777");
	o.mode = 0;
	/* an older caller's struct ends at struct_size, so later fields are ignored */
	o.struct_size = offsetof(struct weir_save_options, generation);
	o.generation = 9;
	o.progress = (weir_progress_fn *)(uintptr_t)1;
	assert_ok(weir_save(f, weir_location_path(other), &o));
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(other), &info));
	assert_int_equal(info.generation, 0);
	unlink(other);
#if !TEST_ZSTD
	o = (struct weir_save_options)WEIR_SAVE_OPTIONS_INIT;
	o.zstd_level = 1;
	assert_refused(weir_save(f, weir_location_path(other), &o), -ENOTSUP, "zstd", "");
	assert_int_equal(entries(), 1);
#endif
}

static void test_names_that_are_too_long_are_refused(void **state)
{
	static char name[5000], link[4200], target[300];
	(void)state;
	memset(name, 'a', sizeof name - 1);
	/* the name fills the message and leaves no space for the reason */
	assert_refused(weir_save(f, weir_location_path(name), NULL), -ENAMETOOLONG, "aaa", "");
	snprintf(link, sizeof link, "%s/link", folder);
	memset(target, 'a', sizeof target - 1);
	assert_int_equal(symlink(target, link), 0);
	assert_refused(weir_save(f, weir_location_path(link), NULL), -ENAMETOOLONG, link,
	               "follow the link");
	unlink(link);
}

/* Names of 255 bytes are accepted. A name of 256 bytes, and a path that is too long for the kernel,
 * are refused. */
static void test_the_longest_names_are_accepted(void **state)
{
	static char name[4097], longest[4400];
	(void)state;
	snprintf(longest, sizeof longest, "%s/%0255d", folder, 1);
	assert_ok(weir_save(f, weir_location_path(longest), NULL));
	assert_ok(weir_save(f, weir_location_path(longest), NULL));
	unlink(longest);
	assert_int_equal(entries(), 1);
	snprintf(longest, sizeof longest, "%s/%0256d", folder, 1);
	assert_refused(weir_save(f, weir_location_path(longest), NULL), -ENAMETOOLONG,
	               "cannot save to this name", "");
	for (unsigned i = 0; i < sizeof name - 1; i++)
		name[i] = i % 2 ? '/' : '.';
	/* with its NUL the path has 4097 bytes, one more than the kernel accepts */
	name[sizeof name - 2] = 'x';
	assert_refused(weir_save(f, weir_location_path(name), NULL), -ENAMETOOLONG, "./././", "");
}

static void test_wrong_load_options_are_refused(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	o.struct_size = 7;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL,
	               "weir_load_options.struct_size", " 7:");
	o.struct_size = sizeof o + 1;
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL,
	               "weir_load_options.struct_size", "");
	o.struct_size = sizeof o;
	o.flags = 1u << 9;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL, "flags",
	               "0x200");
	o.flags = WEIR_HUGETLB | WEIR_NO_HUGE_PAGES;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL, "flags",
	               "0x3");
	o.flags = WEIR_HUGETLB; /* succeeds if the machine has a pool of huge pages */
	struct weir_filter *g;
	int err = weir_load(&g, weir_location_path(path), &o);
	assert_true(err == 0 || (err == -ENOMEM && strstr(weir_error_detail(), "huge-page pool")));
	if (!err)
		weir_destroy(g);
	o.flags = WEIR_PREFAULT;
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL,
	               "flags", "0x4");
	o.flags = 0;
	o.memory_bytes = 64;
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL,
	               "memory_bytes", "64");
	o.memory_bytes = 0;
	o.no_verify = true;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL, "no_verify",
	               "weir_location_map");
	o.no_verify = false;
	o.memory_bytes = 4096;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL,
	               "memory is NULL", "memory_bytes 4096");
	o.memory_bytes = 0;
	assert_refused(weir_load(&untouched, weir_location_map(path, (enum weir_map_mode)3), &o),
	               -EINVAL, "mode", "3");
	assert_refused(weir_load(NULL, weir_location_path(path), NULL), -EINVAL, "out", "NULL");
	assert_refused(weir_load(NULL, weir_location_map(path, WEIR_MAP_READ), NULL), -EINVAL,
	               "out", "NULL");
	assert_refused(weir_load(&untouched, weir_location_path(NULL), NULL), -EINVAL, "path",
	               "NULL");
	assert_refused(weir_save(f, weir_location_path(NULL), NULL), -EINVAL, "path", "NULL");
	assert_refused(weir_load(&untouched, weir_location_memory(NULL, 10), NULL), -EINVAL,
	               "image", "NULL");
	assert_refused(weir_verify(f), -EINVAL, "WEIR_MAP_READ", "");
	assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
}

static void test_max_bytes_and_given_memory_are_checked(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *g;
	(void)state;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	o.max_bytes = stats.bytes - 1;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EFBIG, "max_bytes",
	               path);
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), &o), -EFBIG,
	               "max_bytes", path);
	o.max_bytes = stats.bytes;
	assert_ok(weir_load(&g, weir_location_path(path), &o));
	weir_destroy(g);
	unsigned char *place = aligned_alloc(64, stats.bytes + 64);
	assert_non_null(place);
	o.memory = place;
	o.memory_bytes = stats.bytes - 64;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL, "memory_bytes",
	               "");
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL,
	               "memory", "");
	o.memory_bytes = stats.bytes;
	o.memory = place + 8;
	assert_refused(weir_load(&untouched, weir_location_path(path), &o), -EINVAL, "memory",
	               "64");
	o.memory = place;
	assert_ok(weir_load(&g, weir_location_path(path), &o));
	place[stats.bytes] = 77; /* the caller may use the memory after the filter's bits */
	assert_int_equal(weir_insert(g, "key", 3), WEIR_NEW);
	weir_destroy(g);
	uint64_t any = 0;
	for (uint64_t i = 0; i < stats.bytes; i++)
		any |= place[i];
	assert_true(any);
	free(place);
}

/* Return: the descriptor that the next open() gets. A leaked descriptor would change the result. */
static int next_descriptor(void)
{
	int fd = dup(2);
	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void test_files_without_an_image_are_refused(void **state)
{
	const int free_before = next_descriptor();
	(void)state;
	assert_refused(weir_load(&untouched, weir_location_path(folder), NULL), -EISDIR, folder,
	               "directory");
	assert_refused(weir_load(&untouched, weir_location_map(folder, WEIR_MAP_READ), NULL),
	               -EISDIR, folder, "directory");
	assert_refused(weir_save(f, weir_location_path(folder), NULL), -EISDIR, folder,
	               "directory");
	assert_refused(weir_save(f, weir_location_path("/"), NULL), -EISDIR, "/", "directory");
	assert_refused(weir_save(f, weir_location_path(""), NULL), -ENOENT, "", "empty");
	assert_refused(weir_load(&untouched, weir_location_path(other), NULL), -ENOENT, other, "");
	assert_refused(weir_load(&untouched, weir_location_path("/dev/null"), NULL), -EINVAL,
	               "/dev/null", "regular");
	assert_refused(weir_save(f, weir_location_path("/dev/null"), NULL), -EINVAL, "/dev/null",
	               "regular");
	assert_int_equal(mkfifo(other, 0600), 0);
	/* the load does not wait for a writer of the FIFO */
	assert_refused(weir_load(&untouched, weir_location_path(other), NULL), -EINVAL, other,
	               "regular");
	assert_refused(weir_image_inspect(weir_location_path(other),
	                                  &(struct weir_image_info)WEIR_IMAGE_INFO_INIT),
	               -EINVAL, other, "regular");
	assert_refused(weir_save(f, weir_location_path(other), NULL), -EINVAL, other, "regular");
	unlink(other);
	assert_true(image_spit(other, "", 0));
	assert_refused(weir_load(&untouched, weir_location_path(other), NULL), -EBADMSG, other,
	               "empty");
	assert_refused(weir_load(&untouched, weir_location_map(other, WEIR_MAP_LIVE), NULL),
	               -EBADMSG, other, "empty");
	assert_true(image_spit(other, "a line of text\n", 15));
	assert_refused(weir_load(&untouched, weir_location_path(other), NULL), -EBADMSG, other,
	               "not a weir image: byte 0");
	/* the message names a known compressed format, which helps an operator more than the value
	 * of byte 0 */
	static const char *const packed[][2] = { { "\x1f\x8b\x08 more", "in gzip format" },
		                                 { "\x28\xb5\x2f\xfd", "in zstd format" },
		                                 { "\xfd" "7zXZ", "in xz format" },
		                                 { "BZh9", "in bzip2 format" },
		                                 { "\x1f\x8b", "byte 0 is 0x1f" } };
	for (unsigned i = 0; i < sizeof packed / sizeof *packed; i++) {
		assert_true(image_spit(other, packed[i][0], strlen(packed[i][0])));
		assert_refused(weir_load(&untouched, weir_location_path(other), NULL), -EBADMSG,
		               other, packed[i][1]);
	}
	unlink(other);
	snprintf(other, sizeof other, "%s/none/set.weir", folder);
	assert_refused(weir_save(f, weir_location_path(other), NULL), -ENOENT, other, "directory");
	snprintf(other, sizeof other, "%s/%0300d", folder, 1);
	assert_refused(weir_save(f, weir_location_path(other), NULL), -ENAMETOOLONG, other, "");
	snprintf(other, sizeof other, "%s/other", folder);
	assert_int_equal(entries(), 1);
	assert_int_equal(next_descriptor(), free_before);
}

struct watch { uint64_t calls, last, total, stop_at; };

static int watch(void *arg, uint64_t done, uint64_t total)
{
	struct watch *w = arg;
	assert_true(done > w->last && done <= total);
	w->last = done;
	w->total = total;
	return ++w->calls == w->stop_at ? -1 : 0; /* any value except 0 stops the call */
}

static void test_progress_can_stop_saves_and_loads(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct watch w = { 0 };
	struct weir_filter *g;
	(void)state;
	save.progress = load.progress = watch;
	save.progress_arg = load.progress_arg = &w;
	assert_ok(weir_save(f, weir_location_path(path), &save));
	assert_true(w.calls >= 2 && w.last == w.total);
	w = (struct watch){ 0 };
	assert_ok(weir_load(&g, weir_location_path(path), &load));
	assert_true(w.calls >= 2 && w.last == w.total);
	weir_destroy(g);
	w = (struct watch){ .stop_at = 1 };
	assert_refused(weir_load(&untouched, weir_location_path(path), &load), -ECANCELED,
	               "stopped", "");
	char how_far[100];
	snprintf(how_far, sizeof how_far, "after %llu of %llu bytes", (unsigned long long)w.last,
	         (unsigned long long)w.total);
	assert_non_null(strstr(weir_error_detail(), how_far));
	w = (struct watch){ .stop_at = 2 };
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_PRIVATE), &load),
	               -ECANCELED, "stopped", "");
	w = (struct watch){ .stop_at = 2 };
	assert_refused(weir_save(f, weir_location_path(path), &save), -ECANCELED, "stopped", "");
	w = (struct watch){ .stop_at = 2 };
	assert_refused(weir_save(f, weir_location_path(other), &save), -ECANCELED, "stopped", "");
	assert_int_equal(entries(), 1);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	weir_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_save_options_are_refused),
		cmocka_unit_test(test_names_that_are_too_long_are_refused),
		cmocka_unit_test(test_the_longest_names_are_accepted),
		cmocka_unit_test(test_wrong_load_options_are_refused),
		cmocka_unit_test(test_max_bytes_and_given_memory_are_checked),
		cmocka_unit_test(test_files_without_an_image_are_refused),
		cmocka_unit_test(test_progress_can_stop_saves_and_loads),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
