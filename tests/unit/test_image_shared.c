/* SPDX-License-Identifier: MIT
 * Images that are copied into the caller's memory and used in place. For every kind, the memory
 * gets the bytes of an uncompressed save, whether the file is compressed or not. Damaged files and
 * memory are refused. */
#include "mapped.h"

enum { ROOM = 8 << 20, DIRT = 0xa5 };

/* memory: the caller's memory, filled with garbage. plain: the uncompressed image to expect. */
static unsigned char *memory, *plain;
static size_t plain_bytes;
static char packed[4200];

static int setup(void **state)
{
	if (folder_setup(state))
		return 1;
	snprintf(packed, sizeof packed, "%s.zst", path);
	memory = aligned_alloc(4096, ROOM);
	memset(memory, DIRT, ROOM);
	return 0;
}

static int cleanup(void **state)
{
	free(memory);
	return teardown(state);
}

/* Save @f uncompressed and compressed. Return: true if the kind can be saved. */
static bool save_both(struct weir_filter *f)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.generation = 77;
	unlink(path);
	unlink(packed);
	int err = test_done(weir_save(f, weir_location_path(path), &o));
	if (err == -ENOTSUP)
		return false;
	assert_ok(err);
	o.zstd_level = 3;
	if (TEST_ZSTD)
		assert_ok(weir_save(f, weir_location_path(packed), &o));
	free(plain);
	plain = image_slurp(path, &plain_bytes);
	assert_non_null(plain);
	return true;
}

static struct weir_filter *filled(uint32_t kind, uint64_t n)
{
	struct weir_filter *f = test_filter(kind, 2 * n, 0.01);
	uint64_t *hashes = malloc(n * sizeof *hashes);
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = test_key(i);
	assert_ok(test_fill(&f, hashes, n));
	free(hashes);
	return f;
}

/* Return: a growing filter of several layers with @n keys. */
static struct weir_filter *layers(uint64_t n)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_GROWING;
	params.capacity = 500;
	params.growing.max_capacity = 4 * n;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < n; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	return f;
}

static int64_t copy(void *room, size_t bytes, const char *file,
                    const struct weir_load_options *options)
{
	return weir_image_copy(weir_location_room(room, bytes), weir_location_path(file), options,
	                       NULL);
}

/* Asserts that a copy of @file into memory gives the uncompressed image, and that the copy fails if
 * the memory is too small. */
static void assert_copies_as_plain(const char *file)
{
	char needed[32], there[32];
	memset(memory, DIRT, plain_bytes + 64);
	assert_int_equal(copy(NULL, 0, file, NULL), plain_bytes);
	assert_int_equal(copy(memory, plain_bytes, file, NULL), plain_bytes);
	assert_memory_equal(memory, plain, plain_bytes);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(memory[plain_bytes + i], DIRT);
	for (size_t room = plain_bytes - 1;; room = 0) {
		memset(memory, DIRT, plain_bytes);
		snprintf(there, sizeof there, "room for %zu", room);
		snprintf(needed, sizeof needed, room ? "%zu bytes" : "bytes or more", plain_bytes);
		assert_refused(copy(memory, room, file, NULL), -ENOSPC, needed, there);
		for (size_t i = room; i < plain_bytes; i++)
			assert_int_equal(memory[i], DIRT);
		if (!room)
			break;
	}
	assert_int_equal(copy(memory, ROOM, file, NULL), plain_bytes);
}

/* Load the image at memory, which has @n keys, and use the filter. */
static void use_in_place(uint64_t n, bool takes_inserts)
{
	struct weir_load_options trusting = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats a = WEIR_STATS_INIT, b = WEIR_STATS_INIT;
	struct weir_filter *f, *g;
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_measure(g, WEIR_EXACT, &b));
	for (unsigned i = 0; i < 2; i++) {
		trusting.no_verify = i;
		assert_ok(weir_load(&f, weir_location_map_memory(memory, plain_bytes), &trusting));
		assert_int_equal(missing(f, 0, n), 0);
		for (uint64_t key = n; key < 2 * n; key++)
			assert_int_equal(weir_contains_hash(f, test_key(key)),
			                 weir_contains_hash(g, test_key(key)));
		assert_refused(weir_insert_hash(f, 1), takes_inserts ? -EROFS : -ENOTSUP, "", "");
		assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
		assert_ok(weir_measure(f, WEIR_EXACT, &a));
		assert_true(a.bytes == b.bytes && a.capacity == b.capacity && a.fill == b.fill);
		assert_ok(weir_verify(f));
		/* in an image of any kind, the last byte belongs to the filter's bits */
		memory[plain_bytes - 1] ^= 1;
		assert_refused(weir_verify(f), -EBADMSG, "the image in memory", "sum");
		weir_destroy(f);
		if (i)
			assert_ok(weir_load(&f, weir_location_map_memory(memory, plain_bytes),
			                    &trusting));
		else
			assert_refused(weir_load(&untouched,
			                         weir_location_map_memory(memory, plain_bytes),
			                         NULL),
			               -EBADMSG, "the image in memory", "sum");
		if (i)
			weir_destroy(f);
		memory[plain_bytes - 1] ^= 1;
	}
	weir_destroy(g);
	assert_memory_equal(memory, plain, plain_bytes);
}

static void both_forms(struct weir_filter *f, uint64_t n)
{
	bool takes_inserts = test_takes_inserts(f), saved = save_both(f);
	weir_destroy(f);
	if (!saved)
		return;
	assert_true(plain_bytes + 64 < ROOM);
	assert_copies_as_plain(path);
	if (TEST_ZSTD)
		assert_copies_as_plain(packed);
	use_in_place(n, takes_inserts);
}

static void test_every_kind_is_used_in_place(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		if (weir_kind_can(test_kinds[k], WEIR_CAN_MAP))
			both_forms(filled(test_kinds[k], 1000), 1000);
}

static void test_a_growing_filter_is_used_in_place(void **state)
{
	(void)state;
	both_forms(layers(20000), 20000);
	assert_true(image_get(plain + IMAGE_MEMBERS, 4) >= 3);
}

/* In an image of 2 MiB or more, the bits begin at a multiple of 2 MiB. */
static void test_bits_of_large_images_are_aligned(void **state)
{
	(void)state;
	both_forms(test_filter(WEIR_BLOCKED, 2000000, 0.01), 0);
	assert_int_equal(image_get(plain + IMAGE_BITS, 8), 2 << 20);
	assert_true(image_get(plain + IMAGE_SHARDS, 4) > 1);
}

/* Creates a new file for each write. If a file is overwritten, some file systems write it to the
 * disk at once, which is slow. */
static void replace_file(const char *file, const void *bytes, size_t n)
{
	assert_int_equal(unlink(file), 0);
	assert_true(image_spit(file, bytes, n));
}

static int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);
	close(fd);
	return fd;
}

/* Asserts that the file is refused if it is cut at one of many lengths, if it is one byte too long,
 * or if one of many bytes is wrong. */
static void assert_truncations_refused(const char *file)
{
	const int descriptor = lowest_free_descriptor();
	size_t n = 0;
	unsigned char *whole = image_slurp(file, &n);
	whole = realloc(whole, n + 1);
	whole[n] = 0;
	for (size_t cut = 0; cut <= n + 1; cut += cut < 600 || cut + 600 > n ? 1 : 97) {
		if (cut == n)
			continue;
		replace_file(file, whole, cut);
		assert_refused(copy(memory, ROOM, file, NULL), -EBADMSG, file, "");
	}
	for (size_t at = 0; at < n; at += at < 1200 ? 1 : 61) {
		whole[at] ^= 0x10;
		replace_file(file, whole, n);
		int64_t err = copy(memory, ROOM, file, NULL);
		assert_true(err == -EBADMSG || err == -ENOTSUP);
		assert_non_null(strstr(weir_error_detail(), file));
		whole[at] ^= 0x10;
	}
	assert_int_equal(lowest_free_descriptor(), descriptor);
	free(whole);
}

static void test_damaged_files_are_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weir_filter *f = i ? layers(3000) : filled(WEIR_BLOCKED, 1000);
		assert_true(save_both(f));
		weir_destroy(f);
		assert_truncations_refused(path);
		if (TEST_ZSTD)
			assert_truncations_refused(packed);
	}
}

/* Memory that another process wrote needs the same checks as a file. */
static void test_damaged_memory_is_refused(void **state)
{
	struct weir_load_options trusting = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	(void)state;
	trusting.no_verify = true;
	for (unsigned i = 0; i < 2; i++) {
		f = i ? layers(3000) : filled(WEIR_BLOCKED, 1000);
		assert_true(save_both(f));
		weir_destroy(f);
		memcpy(memory, plain, plain_bytes);
		memory[plain_bytes] = 0;
		for (size_t n = 0; n <= plain_bytes + 1; n += n < 600 ? 1 : 97) {
			if (n == plain_bytes)
				continue;
			assert_refused(weir_load(&untouched, weir_location_map_memory(memory, n),
			                         &trusting),
			               -EBADMSG, "the image in memory", "");
		}
		for (size_t at = 0; at < IMAGE_PAGE; at++) {
			memory[at] ^= 0x10;
			int err = weir_load(&untouched,
			                    weir_location_map_memory(memory, plain_bytes),
			                    &trusting);
			assert_true(err == -EBADMSG || err == -ENOTSUP);
			memory[at] ^= 0x10;
		}
	}
}

static void test_wrong_arguments_are_refused(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = filled(WEIR_BLOCKED, 1000);
	size_t n;
	(void)state;
	assert_true(save_both(f));
	weir_destroy(f);
	assert_refused(copy(memory + 8, ROOM - 8, path, NULL), -EINVAL, "room",
	               "multiple of 64");
	assert_refused(copy(NULL, ROOM, path, NULL), -EINVAL, "room is NULL", "");
	assert_refused(copy(memory, ROOM, NULL, NULL), -EINVAL, "path", "");
	assert_refused(copy(memory, ROOM, folder, NULL), -EISDIR, folder, "");
	assert_refused(copy(memory, ROOM, "/nowhere/set", NULL), -ENOENT, "/nowhere/set", "");
	o.no_verify = true;
	assert_refused(copy(memory, ROOM, path, &o), -EINVAL, "no_verify 1", "");
	o = (struct weir_load_options)WEIR_LOAD_OPTIONS_INIT;
	o.max_bytes = 64;
	assert_refused(copy(memory, ROOM, path, &o), -EFBIG, path, "max_bytes");
	n = (size_t)copy(memory, ROOM, path, NULL);
	assert_int_equal(n, plain_bytes);
	assert_refused(weir_load(NULL, weir_location_map_memory(memory, n), NULL), -EINVAL, "out",
	               "");
	assert_refused(weir_load(&untouched, weir_location_map_memory(NULL, n), NULL), -EINVAL,
	               "image", "");
	memmove(memory + 8, memory, n);
	assert_refused(weir_load(&untouched, weir_location_map_memory(memory + 8, n), NULL),
	               -EINVAL, "image", "multiple of 64");
	o = (struct weir_load_options)WEIR_LOAD_OPTIONS_INIT;
	o.flags = WEIR_NO_HUGE_PAGES;
	assert_refused(weir_load(&untouched, weir_location_map_memory(memory, n), &o), -EINVAL,
	               "flags", "");
#if TEST_ZSTD
	unsigned char *image = image_slurp(packed, &n);
	memcpy(memory, image, n);
	free(image);
	assert_refused(weir_load(&untouched, weir_location_map_memory(memory, n), NULL), -EINVAL,
	               "compressed", "");
#endif
}

/* Overwrite the file during a read. The read must report that the file has changed, instead of
 * reporting that the file is damaged. */
static int overwrite(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	if (arg)
		assert_true(image_spit(path, arg, plain_bytes));
	return 0;
}

static void test_an_overwritten_file_is_reported(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 4000000, 0.01);
	for (uint64_t i = 0; i < 10000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_true(save_both(f));
	weir_destroy(f);
	o.progress = overwrite;
	o.progress_arg = plain;
	plain = NULL;
	f = test_filter(WEIR_BLOCKED, 4000000, 0.01);
	assert_true(save_both(f)); /* saves an image without keys */
	weir_destroy(f);
	assert_refused(copy(memory, ROOM, path, &o), -EBUSY, path, "while it was read");
	free(o.progress_arg);
}

static int stop(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	++*(unsigned *)arg;
	return 1;
}

static void test_progress_can_stop_a_copy(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	unsigned calls = 0;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weir_filter *f = i ? layers(3000) : filled(WEIR_BLOCKED, 1000);
		assert_true(save_both(f));
		weir_destroy(f);
		o.progress = stop;
		o.progress_arg = &calls;
		assert_refused(copy(memory, ROOM, path, &o), -ECANCELED, "", "");
		assert_int_equal(calls, i + 1);
	}
}

static void test_keyed_images_are_copied_without_the_key(void **state)
{
	static const unsigned char key[16] = "of sixteen byte", other[16] = "another of them";
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	(void)state;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	params.secret = key;
	assert_ok(weir_create(&f, &params));
	assert_ok(weir_insert(f, "a key", 5));
	assert_true(save_both(f));
	weir_destroy(f);
	const size_t n = (size_t)copy(memory, ROOM, path, NULL);
	assert_int_equal(n, plain_bytes);
	o.secret = other;
	assert_refused(copy(memory, ROOM, path, &o), -EKEYREJECTED, path, "");
	assert_refused(weir_load(&untouched, weir_location_map_memory(memory, n), &o),
	               -EKEYREJECTED, "", "");
	assert_refused(weir_load(&untouched, weir_location_map_memory(memory, n), NULL),
	               -EKEYREJECTED, "", "");
	o.secret = key;
	assert_ok(copy(memory, ROOM, path, &o));
	assert_ok(weir_load(&f, weir_location_map_memory(memory, n), &o));
	assert_true(weir_contains(f, "a key", 5) && !weir_contains(f, "no key", 6));
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_is_used_in_place),
		cmocka_unit_test(test_a_growing_filter_is_used_in_place),
		cmocka_unit_test(test_bits_of_large_images_are_aligned),
		cmocka_unit_test(test_damaged_files_are_refused),
		cmocka_unit_test(test_damaged_memory_is_refused),
		cmocka_unit_test(test_wrong_arguments_are_refused),
		cmocka_unit_test(test_an_overwritten_file_is_reported),
		cmocka_unit_test(test_progress_can_stop_a_copy),
		cmocka_unit_test(test_keyed_images_are_copied_without_the_key),
	};
	int failed = cmocka_run_group_tests(tests, setup, cleanup);
	free(plain);
	return failed;
}
