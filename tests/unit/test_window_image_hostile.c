/* SPDX-License-Identifier: MIT
 * Hostile images of windows. Every byte of the head and the table is changed, with and without
 * repaired checksums. The tests also cover wrong values of chosen fields, and wrong members. */
#include <sys/mman.h>
#include "window_image.h"

static unsigned char *image;
static size_t image_bytes;

/* Make an image of five generations. The window has advanced twice. */
static int image_setup(void **state)
{
	struct weir_params o = options(5, 0);
	o.capacity = 300;
	o.window.generation_keys = 60;
	struct weir_filter *w = lived(&o, 2);
	(void)state;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	weir_destroy(w);
	image = image_slurp(path, &image_bytes);
	return image == NULL || image[IMAGE_MEMBERS] != 5;
}

static int image_teardown(void **state)
{
	(void)state;
	free(image);
	return 0;
}

/* Asserts that a load and a verification both fail with a message, or that the window works.
 * Return: true if the load failed. */
static bool refused(const unsigned char *bytes, size_t n)
{
	const struct weir_load_options load = load_options();
	struct weir_load_options older = load;
	struct weir_filter *w = NULL;
	older.run.forget_older = 1;
	int err = weir_load(&w, weir_location_memory(bytes, n), &load);
	if (!err) {
		struct weir_window_stats s = stats_of(w);
		assert_true(figures_of(w).bytes >= 64 && s.age_seconds[4] >= 0);
		assert_true(weir_insert(w, "key", 3) >= 0);
		assert_true(weir_contains(w, "key", 3));
		assert_true(weir_window_tick(w) >= 0 && weir_window_advance(w) == 0);
		assert_true(weir_contains(w, "key", 3));
	}
	assert_true(!err || weir_error_detail()[0]);
	weir_destroy(w);
	int fd = memfd_create("image", 0);
	assert_true(write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
	int verified = weir_image_verify(weir_location_fd(fd), NULL, NULL);
	assert_true(verified == err || err == -ENOTSUP); /* -ENOTSUP: the head has another kind */
	close(fd);
	if (!err) {
		w = NULL;
		if (weir_load(&w, weir_location_memory(bytes, n), &older) == 0)
			assert_true(weir_insert(w, "key", 3) >= 0 &&
			            stats_of(w).age_seconds[0] >= 0);
		weir_destroy(w);
	}
	return err != 0;
}

static void every_changed_byte_of_head_and_table_is_detected(void **state)
{
	static const unsigned char values[] = { 0, 1, 2, 3, 4, 5, 0x10, 0x7f, 0x80, 0xff };
	(void)state;
	for (unsigned at = 0; at < IMAGE_TABLE + 5 * ROW + 40; at++) {
		unsigned char was = image[at];
		for (unsigned i = 0; i < COUNT_OF(values); i++) {
			image[at] = values[i];
			if (values[i] == was)
				continue;
			assert_true(refused(image, image_bytes));
			image_repair(image, image_bytes);
			(void)refused(image, image_bytes);
			image[at] = was;
			image_repair(image, image_bytes);
		}
	}
	assert_false(refused(image, image_bytes));
}

static void truncated_images_are_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < image_bytes; n += n % 512 == 0 ? 511 : 1)
		assert_true(refused(image, n));
}

/* Set a field of the head and repair the checksums. Asserts that the load fails with @name in the
 * error message. */
static void head_field(unsigned at, unsigned bytes, uint64_t value, const char *name)
{
	unsigned char was[8];
	struct weir_filter *w = NULL;
	memcpy(was, image + at, bytes);
	for (unsigned i = 0; i < bytes; i++)
		image[at + i] = (unsigned char)(value >> 8 * i);
	image_repair(image, image_bytes);
	assert_refused(weir_load(&w, weir_location_memory(image, image_bytes), NULL), -EBADMSG,
	               name, "the image in memory");
	assert_true(refused(image, image_bytes));
	memcpy(image + at, was, bytes);
	image_repair(image, image_bytes);
}

static uint64_t as_bits(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* Set the eight bytes at offset @at to @value, the largest valid value of this field. Asserts that
 * the image loads. */
static void head_taken(unsigned at, uint64_t value)
{
	unsigned char was[8];
	memcpy(was, image + at, sizeof was);
	image_put64(image + at, value);
	image_repair(image, image_bytes);
	assert_false(refused(image, image_bytes));
	memcpy(image + at, was, sizeof was);
	image_repair(image, image_bytes);
}

static void the_largest_numbers_are_valid(void **state)
{
	(void)state;
	head_taken(OWN + 16, UINT64_C(1) << 48);
	head_taken(SAVED, UINT64_C(1) << 63);
	head_taken(IMAGE_TABLE + 2 * ROW, UINT64_C(1) << 62);
}

static void each_field_of_the_head_is_checked(void **state)
{
	const uint64_t never = UINT64_MAX, second = 1000000000;
	const unsigned age = IMAGE_TABLE;
	(void)state;
	head_field(104, 4, 0, "a shape that kind window does not have");
	head_field(104, 4, 3, "layout is 3");
	head_field(108, 4, 1, "generations is 1");
	head_field(108, 4, 17, "generations is 17");
	head_field(108, 4, 4, "shape"); /* the number of blocks is not a multiple of 4 */
	head_field(112, 4, 2, "words_per_key is 2");
	head_field(116, 4, 11, "bits_per_word is 11");
	head_field(116, 4, 0, "bits_per_word is 0");
	head_field(116, 4, 4, "generation 0: is of another shape");
	head_field(120, 4, 1, "shape");
	head_field(32, 8, 301, "capacity is 60 where 61 should be");
	head_field(32, 8, 295, "generation_keys is 60; allowed: up to a generation's capacity, 59");
	head_field(OWN, 8, as_bits(-1), "span_seconds is -1");
	head_field(OWN, 8, as_bits(1e-4), "span_seconds is 0.0001");
	head_field(OWN, 8, as_bits(2e9), "span_seconds is 2e+09");
	head_field(OWN, 8, as_bits(NAN), "span_seconds is nan");
	head_field(OWN + 8, 8, 61, "generation_keys is 61");
	head_field(OWN + 16, 8, (UINT64_C(1) << 48) + 1, "keys counted");
	head_field(SAVED, 8, 0, "time of saving is 0");
	head_field(SAVED, 8, never, "time of saving");
	head_field(age, 8, never, "generation 0: age is 18446744073709551615");
	head_field(age, 8, 3 * second, "generation 1: age is 1000000000 ns, less than");
	head_field(age + 2 * ROW, 8, (UINT64_C(1) << 62) + 1, "generation 2: age");
	head_field(age + ROW, 8, never, "the newer one was never the newest");
	head_field(age + 4 * ROW, 8, second, "generation 4: age is 1000000000 ns, and the newer");
}

static void surplus_members_are_refused(void **state)
{
	struct weir_params o = options(6, 0);
	struct weir_filter *w = lived(&o, 2);
	(void)state;
	assert_ok(weir_save(w, weir_location_path(path), NULL));
	weir_destroy(w);
	free(image);
	image = image_slurp(path, &image_bytes);
	assert_non_null(image);
	head_field(108, 4, 3, "members is 6 where a window of 3 generations has as many");
}

static void put_less(unsigned char *field, uint64_t less)
{
	image_put64(field, image_get(field, 8) - less);
}

/* The last generation is five blocks smaller, and the sum of blocks in the head is adjusted. */
static void a_smaller_member_is_refused(void **state)
{
	enum { LESS = 5, LENGTH = 96, MEMBER = 4 };
	const size_t n = image_bytes - 64 * LESS;
	struct weir_filter *w = NULL;
	size_t at = 0;
	(void)state;
	for (unsigned found = 0; found <= MEMBER;)
		found += memcmp(image + (at += IMAGE_PAGE), "WEIRIMG1", 8) == 0;
	put_less(image + at + IMAGE_BLOCKS, LESS);
	put_less(image + at + LENGTH, 64 * LESS);
	image_repair_table(image + at, n - at);
	image_repair(image + at, n - at);
	memcpy(image + IMAGE_TABLE + ROW * MEMBER + 8, image + at + IMAGE_COMMIT, 8);
	put_less(image + IMAGE_BLOCKS, LESS);
	put_less(image + LENGTH, 64 * LESS);
	image_repair(image, n);
	assert_refused(weir_load(&w, weir_location_memory(image, n), NULL), -EBADMSG,
	               "generation 0: blocks is", "should be");
	assert_true(refused(image, n));
}

/* Replace the first member's head by the head of the whole image. */
static void put_into_itself(void)
{
	enum { LENGTH = 96 };
	size_t at = 0;
	do
		at += IMAGE_PAGE;
	while (memcmp(image + at, "WEIRIMG1", 8) != 0);
	memcpy(image + at, image, IMAGE_PAGE);
	image_put64(image + at + LENGTH, image_bytes - at);
	image_repair(image + at, image_bytes - at);
	memcpy(image + IMAGE_TABLE + 8, image + at + IMAGE_COMMIT, 8);
	image_repair(image, image_bytes);
}

static void nested_compounds_are_refused(void **state)
{
	struct weir_filter *w = NULL;
	struct weir_filter *f = test_filter(WEIR_GROWING, 1000, 0.01);
	(void)state;
	put_into_itself();
	assert_refused(weir_load(&w, weir_location_memory(image, image_bytes), NULL), -EBADMSG,
	               "member 0", "is a compound itself");
	assert_true(refused(image, image_bytes));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	free(image);
	image = image_slurp(path, &image_bytes);
	assert_non_null(image);
	put_into_itself();
	assert_refused(weir_load(&f, weir_location_memory(image, image_bytes), NULL), -EBADMSG,
	               "member 0", "is a compound itself");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_changed_byte_of_head_and_table_is_detected,
		                                image_setup,
		                                image_teardown),
		cmocka_unit_test_setup_teardown(truncated_images_are_refused,
		                                image_setup, image_teardown),
		cmocka_unit_test_setup_teardown(surplus_members_are_refused, image_setup,
		                                image_teardown),
		cmocka_unit_test_setup_teardown(a_smaller_member_is_refused,
		                                image_setup, image_teardown),
		cmocka_unit_test_setup_teardown(nested_compounds_are_refused, image_setup,
		                                image_teardown),
		cmocka_unit_test_setup_teardown(the_largest_numbers_are_valid,
		                                image_setup, image_teardown),
		cmocka_unit_test_setup_teardown(each_field_of_the_head_is_checked, image_setup,
		                                image_teardown),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
