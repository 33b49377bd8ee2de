/* SPDX-License-Identifier: MIT
 * Compound images are saved and loaded like any other image. The tests cover normalisation, the
 * caller's memory, progress, the marks in the head that allow a shrunk set, and the verification of
 * mapped bits. */
#include <errno.h>
#include "compound.h"
#include "../texts.h"

/* ---- normalisation that is set after a filter has several layers ---- */

/* Insert KEYS names, so that the filter grows by a layer. */
static void put_names(struct weir_filter *f)
{
	const struct weir_text lower = { .steps = WEIR_TEXT_LOWERCASE };
	char name[32];
	test_text_set(f, &lower);
	for (unsigned i = 0; i < KEYS; i++) {
		int n = snprintf(name, sizeof name, "Name-%u.Example", i);
		assert_ok(weir_insert(f, name, (size_t)n));
	}
}

static void assert_has_names(struct weir_filter *f)
{
	struct weir_text n;
	char name[32];
	weir_text_of(f, &n);
	assert_int_equal(n.steps, WEIR_TEXT_LOWERCASE);
	for (unsigned i = 0; i < KEYS; i++) {
		int bytes = snprintf(name, sizeof name, "nAME-%u.eXAMPLE", i);
		assert_int_equal(weir_contains(f, name, (size_t)bytes), 1);
	}
	assert_has(f);
	weir_destroy(f);
}

static void keys_are_normalised_after_a_load(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = made(), *g = NULL;
	(void)state;
	put_names(f);
	for (; save.zstd_level <= TEST_ZSTD; save.zstd_level++) {
		assert_ok(weir_save(f, weir_location_path(path), &save));
		assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
		assert_ok(weir_load(&g, weir_location_path(path), NULL));
		assert_has_names(g);
		int fd = memfd_create("image", 0);
		assert_ok(weir_save(f, weir_location_fd(fd), &save));
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_ok(weir_load(&g, weir_location_fd(fd), NULL));
		assert_has_names(g);
		close(fd);
	}
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_has_names(g);
	assert_ok(weir_clone(&g, f));
	assert_has_names(g);
	weir_destroy(f);
}

/* The library allocates memory for the bits of all members except the first. */
static void the_callers_memory_gets_the_first_member(void **state)
{
	enum { ROOM = 1 << 20 };
	static unsigned char memory[ROOM] __attribute__((aligned(64)));
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	const unsigned char *bits = image + member_at(0) + IMAGE_PAGE;
	const uint64_t first = bytes_of_member(0);
	struct weir_filter *f = NULL;
	(void)state;
	memset(memory, 0xa5, ROOM);
	load.memory = memory;
	load.memory_bytes = ROOM;
	assert_ok(weir_load(&f, weir_location_memory(image, image_bytes), &load));
	assert_memory_equal(memory, bits, first);
	for (uint64_t i = first; i < ROOM; i++)
		assert_int_equal(memory[i], 0xa5);
	assert_has(f);
	for (uint64_t i = KEYS; i < 2 * KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	weir_destroy(f);
	load.memory_bytes = first; /* exactly the bytes of the first member */
	assert_ok(weir_load(&f, weir_location_memory(image, image_bytes), &load));
	assert_has(f);
	weir_destroy(f);
	load.memory_bytes = first - 64;
	assert_refused(weir_load(&f, weir_location_memory(image, image_bytes), &load), -EINVAL,
	               "memory_bytes", "");
}

/* ---- progress ---- */

static struct { unsigned calls; uint64_t done, total; } seen;

static int watch(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	assert_true(done > seen.done && done <= total);
	assert_true(seen.calls == 0 || total == seen.total);
	seen.calls++;
	seen.done = done;
	seen.total = total;
	return 0;
}

/* Asserts that progress has counted every byte of the bits of all members. */
static void assert_watched(void)
{
	uint64_t total = 0;
	for (unsigned i = 0; i < MEMBERS; i++)
		total += bytes_of_member(i);
	assert_true(seen.calls >= MEMBERS && seen.done == total && seen.total == total);
	memset(&seen, 0, sizeof seen);
}

static int stop_in_the_second(void *arg, uint64_t done, uint64_t total)
{
	(void)total;
	return done > *(uint64_t *)arg ? -ECANCELED : 0;
}

static void progress_covers_all_members(void **state)
{
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	int fd = stream_of(image, image_bytes);
	uint64_t first = bytes_of_member(0);
	(void)state;
	load.progress = watch;
	assert_ok(weir_load(&f, weir_location_fd(fd), &load));
	weir_destroy(f);
	assert_watched();
	assert_ok(weir_load(&f, weir_location_memory(image, image_bytes), &load));
	weir_destroy(f);
	assert_watched();
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	assert_ok(weir_image_verify(weir_location_fd(fd), &load, NULL));
	assert_watched();
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	save.progress = watch;
	assert_ok(weir_load(&f, weir_location_memory(image, image_bytes), NULL));
	for (; save.zstd_level <= TEST_ZSTD; save.zstd_level++) {
		int out = memfd_create("image", 0);
		assert_ok(weir_save(f, weir_location_fd(out), &save));
		close(out);
		assert_watched();
		assert_ok(weir_save(f, weir_location_path(path), &save));
		assert_watched();
	}
	weir_destroy(f);
	load.progress = stop_in_the_second;
	load.progress_arg = &first;
	assert_true(weir_load(&f, weir_location_fd(fd), &load) < 0);
	close(fd);
}

/* ---- marks ---- */

static void save_keys(uint64_t keys, uint32_t marks)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = made(), *fewer = NULL;
	assert_ok(weir_params_of(f, &params));
	assert_ok(weir_create(&fewer, &params));
	for (uint64_t i = 0; i < keys; i++)
		assert_ok(weir_insert_u64(fewer, test_key(i)));
	save.marks = marks;
	assert_ok(weir_save(fewer, weir_location_path(path), &save));
	weir_destroy(f), weir_destroy(fewer);
}

static void marks_of_the_compound_allow_a_shrunk_set(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_handle *h = NULL;
	(void)state;
	assert_ok(weir_handle_create(&h, made(), NULL));
	save_keys(150, 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -ECANCELED, path, "under a tenth");
	save_keys(150, WEIR_MARK_OVERFULL_ALLOWED);
	assert_refused(weir_handle_refresh(h, path, NULL), -ECANCELED, path, "under a tenth");
	save_keys(150, WEIR_MARK_SHRINK_ALLOWED);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.marks == WEIR_MARK_SHRINK_ALLOWED);
	assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
	assert_true(weir_handle_contains_u64(h, test_key(149)));
	assert_ok(weir_handle_destroy(h));
}

/* ---- maps ---- */

static void maps_verify_every_member(void **state)
{
	struct weir_load_options trusting = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	trusting.no_verify = true;
	for (unsigned i = 0; i < MEMBERS; i += MEMBERS - 1) {
		size_t at = member_at(i) + IMAGE_PAGE + 17;
		image[at] ^= 4;
		assert_true(image_spit(path, image, image_bytes));
		assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL),
		               -EBADMSG, "shard 0", "sum to");
		assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_PRIVATE), NULL),
		               -EBADMSG, "shard 0", "sum to");
		assert_refused(weir_load(&f, weir_location_path(path), NULL), -EBADMSG, "shard 0",
		               "sum to");
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), &trusting));
		assert_refused(weir_verify(f), -EBADMSG, "shard 0", "sum to");
		weir_destroy(f);
		image[at] ^= 4;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_normalised_after_a_load),
		OF_AN_IMAGE(the_callers_memory_gets_the_first_member),
		OF_AN_IMAGE(progress_covers_all_members),
		cmocka_unit_test(marks_of_the_compound_allow_a_shrunk_set),
		OF_AN_IMAGE(maps_verify_every_member),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
