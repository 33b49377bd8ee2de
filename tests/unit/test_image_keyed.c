/* SPDX-License-Identifier: MIT
 * Images of keyed filters, and the marks in the head of format 2. Some calls need the right key,
 * and other calls need no key. Images without marks have format 1. */
#include <errno.h>
#include "../folder.h"
#include "../handles.h"
#include "../image_bytes.h"

enum { FORMAT = 8, HASH = 48, MARKS = 136, KEYS = 500 };

static unsigned char key[16], another[16];
static struct weir_filter *untouched;

static int setup(void **state)
{
	memset(key, 'k', sizeof key);
	memset(another, 'a', sizeof another);
	return folder_setup(state);
}

/* Save an image of the keys @from to @to - 1. @secret: NULL for a filter without a secret key. */
static void save(const void *secret, uint64_t from, uint64_t to, uint32_t marks, int level)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	p.capacity = KEYS;
	p.fp_rate = 1e-4;
	p.secret = secret;
	p.seed = secret ? 0 : 42;
	o.marks = marks;
	o.zstd_level = level;
	assert_ok(weir_create(&f, &p));
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_insert(f, &i, sizeof i));
	assert_ok(weir_save(f, weir_location_path(path), &o));
	weir_destroy(f);
}

static uint64_t field(unsigned at)
{
	size_t n = 0;
	unsigned char *image = image_slurp(path, &n);
	uint64_t value = image_get(image + at, 4);
	free(image);
	return value;
}

static struct weir_load_options with_key(const void *secret)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.secret = secret;
	return o;
}

static void assert_keys(struct weir_filter *f)
{
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(weir_contains(f, &i, sizeof i));
	weir_destroy(f);
}

/* Asserts that every way to load the image fails with -EKEYREJECTED. */
static void assert_rejected(const struct weir_load_options *o, bool plain, const char *why)
{
	size_t n = 0;
	unsigned char *image = image_slurp(path, &n);
	int fd = open(path, O_RDONLY);
	assert_refused(weir_load(&untouched, weir_location_path(path), o), -EKEYREJECTED, path,
	               why);
	assert_refused(weir_load(&untouched, weir_location_fd(fd), o), -EKEYREJECTED,
	               "file descriptor", why);
	assert_refused(weir_load(&untouched, weir_location_memory(image, n), o), -EKEYREJECTED,
	               "memory", why);
	for (unsigned mode = WEIR_MAP_READ; plain && mode <= WEIR_MAP_LIVE; mode++)
		assert_refused(weir_load(&untouched,
		                         weir_location_map(path, (enum weir_map_mode)mode), o),
		               -EKEYREJECTED, path, why);
	close(fd);
	free(image);
	assert_null(untouched);
}

static void refused_and_taken(int level)
{
	struct weir_load_options right = with_key(key), wrong = with_key(another);
	struct weir_filter *f = NULL;
	save(key, 0, KEYS, 0, level);
	assert_rejected(NULL, !level, "is keyed: give the key");
	assert_rejected(&wrong, !level, "another key");
	assert_refused(weir_image_verify(weir_location_path(path), &wrong, NULL), -EKEYREJECTED,
	               path, "another key");
	assert_ok(weir_image_verify(weir_location_path(path), &right, NULL));
	/* verifying the bits needs no key */
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	assert_ok(weir_load(&f, weir_location_path(path), &right));
	assert_keys(f);
	for (unsigned mode = WEIR_MAP_READ; !level && mode < WEIR_MAP_LIVE; mode++) {
		assert_ok(weir_load(&f, weir_location_map(path, (enum weir_map_mode)mode), &right));
		assert_keys(f);
	}
	save(NULL, 0, KEYS, 0, level);
	assert_rejected(&right, !level, "is not keyed");
}

static void test_a_keyed_image_is_refused_without_its_key(void **state)
{
	(void)state;
	refused_and_taken(0);
#if TEST_ZSTD
	refused_and_taken(3);
#endif
}

/* A seal writes the head of the image, which contains the marks. */
static void test_a_seal_keeps_the_marks_of_a_keyed_image(void **state)
{
	struct weir_load_options right = with_key(key);
	struct weir_filter *f = NULL;
	uint64_t more = KEYS + 1;
	(void)state;
	save(key, 0, KEYS, WEIR_MARK_SHRINK_ALLOWED, 0);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), &right));
	assert_ok(weir_insert(f, &more, sizeof more));
	assert_ok(weir_seal(f));
	weir_destroy(f);
	assert_int_equal(field(MARKS), WEIR_MARK_KEYED | WEIR_MARK_SHRINK_ALLOWED);
	assert_ok(weir_load(&f, weir_location_path(path), &right));
	assert_true(weir_contains(f, &more, sizeof more));
	assert_keys(f);
}

/* Calls that read only the head or the bits need no key. */
static void needs_no_key(int level)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_stats stats = WEIR_STATS_INIT, exact = WEIR_STATS_INIT;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	save(key, 0, KEYS, 0, level);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.keyed && info.marks == WEIR_MARK_KEYED);
	assert_int_equal(info.format, 2);
	assert_string_equal(info.hash, "SipHash-2-4");
	for (unsigned no_verify = 0; no_verify < 2; no_verify++) {
		o.no_verify = no_verify;
		assert_ok(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, &o, &stats));
		assert_ok(weir_image_measure(weir_location_path(path), WEIR_EXACT, &o, &exact));
		assert_true(exact.keys_estimated > 0.9 * KEYS &&
		            exact.keys_estimated < 1.1 * KEYS && stats.fill == exact.fill &&
		            exact.seed_fingerprint == info.seed_fingerprint);
		assert_true(stats.marks == WEIR_MARK_KEYED && exact.marks == WEIR_MARK_KEYED);
	}
}

static void test_head_and_statistics_need_no_key(void **state)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	needs_no_key(0);
#if TEST_ZSTD
	needs_no_key(3);
#endif
	o.flags = WEIR_PREFAULT; /* refused even for a compressed image */
	assert_refused(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, &o, &stats),
	               -EINVAL, "flags 0x4", "none of them");
	o.struct_size = 1;
	assert_refused(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, &o, &stats),
	               -EINVAL, "weir_load_options", "1");
	stats.struct_size = 1;
	assert_refused(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL, &stats),
	               -EINVAL, "weir_stats", "1");
	stats.struct_size = sizeof stats;
	unlink(path);
	assert_refused(weir_image_measure(weir_location_path(path), WEIR_SAMPLED, NULL, &stats),
	               -ENOENT, path, "");
}

/* weir_contains_keys() sets the bits of all keys of a batch, for numbers and for texts. */
static void test_without_the_key_every_lookup_answers_maybe(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	static struct iovec texts[100];
	uint64_t numbers[100], bitmap[2];
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		numbers[i] = test_key(i);
		texts[i] = (struct iovec){ (void *)(uintptr_t)"192.0.2.1", 9 };
	}
	p.capacity = KEYS, p.fp_rate = 1e-4, p.secret = key;
	p.text.steps = WEIR_TEXT_CIDR;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	o.keyless = true;
	for (unsigned with = 0; with < 2; with++) {
		o.secret = with ? key : NULL; /* a load with the key ignores o.keyless */
		assert_ok(weir_load(&f, weir_location_path(path), &o));
		for (size_t n = 1; n <= 100; n += 99) {
			bitmap[0] = bitmap[1] = 0;
			const uint64_t all = with ? 0 : n == 1 ? 1 : UINT64_MAX;
			assert_int_equal(weir_contains_keys(f, weir_keys_u64(numbers, n), bitmap),
			                 with ? 0 : n);
			assert_int_equal(weir_contains_keys(f, weir_keys_iov(texts, n), NULL),
			                 with ? 0 : n);
			assert_true(bitmap[0] == all);
		}
		weir_destroy(f);
	}
	f = NULL;
	assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL,
	               "keyless", "a mapping");
	assert_null(f);
}

/* Images without marks keep their bytes from version to version. tests/golden has such images. */
static void test_images_without_marks_have_format_1(void **state)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	(void)state;
	save(NULL, 0, KEYS, 0, 0);
	assert_int_equal(field(FORMAT), 1);
	assert_int_equal(field(MARKS), 0);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.format == 1 && !info.keyed);
	assert_string_equal(info.hash, "XXH3");
	save(NULL, 0, KEYS, WEIR_MARK_OVERFULL_ALLOWED, 0);
	assert_int_equal(field(FORMAT), 2);
	assert_int_equal(field(MARKS), WEIR_MARK_OVERFULL_ALLOWED);
	assert_int_equal(field(HASH), 1);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.format == 2 && info.marks == WEIR_MARK_OVERFULL_ALLOWED &&
	            !info.keyed);
}

static void test_marks_are_not_inherited(void **state)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	save(NULL, 0, KEYS, WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED, 0);
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_int_equal(field(FORMAT), 1);
	o.marks = WEIR_MARK_KEYED; /* a caller may not set this mark */
	assert_refused(weir_save(f, weir_location_path(path), &o), -EINVAL, "marks 0x1", "0x6");
	o.marks = 8;
	assert_refused(weir_save(f, weir_location_path(path), &o), -EINVAL, "marks 0x8", "0x6");
	weir_destroy(f);
}

static void test_a_refresh_uses_the_handle_s_key(void **state)
{
	struct weir_load_options right = with_key(key);
	struct weir_filter *f = NULL;
	struct weir_handle *h;
	uint64_t i = 7;
	(void)state;
	save(key, 0, KEYS, 0, 0);
	assert_ok(weir_load(&f, weir_location_path(path), &right));
	assert_ok(weir_handle_create(&h, f, NULL));
	for (int level = 0; level <= (TEST_ZSTD ? 3 : 0); level += 3) {
		save(key, 0, KEYS, 0, level);
		assert_int_equal(weir_handle_refresh(h, path, NULL), 1);
		assert_true(weir_handle_contains(h, &i, sizeof i));
	}
	save(another, 0, KEYS, 0, 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EKEYREJECTED, path, "another key");
	/* the handle remembers that it refused this file */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	save(NULL, 0, KEYS, 0, 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EKEYREJECTED, path, "is not keyed");
	assert_true(weir_handle_contains(h, &i, sizeof i));
	assert_ok(weir_handle_destroy(h));
	h = open_handle(flavors, KEYS);
	save(key, 0, KEYS, 0, 0);
	assert_refused(weir_handle_refresh(h, path, NULL), -EKEYREJECTED, path, "is keyed");
	close_handle(flavors, h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_keyed_image_is_refused_without_its_key),
		cmocka_unit_test(test_a_seal_keeps_the_marks_of_a_keyed_image),
		cmocka_unit_test(test_head_and_statistics_need_no_key),
		cmocka_unit_test(test_without_the_key_every_lookup_answers_maybe),
		cmocka_unit_test(test_images_without_marks_have_format_1),
		cmocka_unit_test(test_marks_are_not_inherited),
		cmocka_unit_test(test_a_refresh_uses_the_handle_s_key),
	};
	return cmocka_run_group_tests(tests, setup, folder_teardown);
}
