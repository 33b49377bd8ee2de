/* SPDX-License-Identifier: MIT
 * A growing filter of four layers and its image, for the tests of compound images. A compound image
 * has a head and then one image for each layer. Each of these images is called a member. */
#ifndef WEIR_TESTS_UNIT_COMPOUND_H
#define WEIR_TESTS_UNIT_COMPOUND_H

#include <sys/mman.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { KEYS = 3000, MEMBERS = 4, ROW = 16, LENGTH = 96 };

static inline struct weir_filter *made(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = WEIR_GROWING;
	params.capacity = 100;
	params.growing.max_capacity = 8000;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	return f;
}

static inline void assert_has(const struct weir_filter *f)
{
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
}

/* Return: a descriptor of a file with 6 bytes before the image, positioned at the image. */
static inline int stream_of(const void *bytes, size_t n)
{
	int fd = memfd_create("image", 0);
	assert_true(write(fd, "before", 6) == 6 && write(fd, bytes, n) == (ssize_t)n);
	assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
	return fd;
}

/* ---- setup and teardown; setup compresses the image if *state is not NULL ---- */

static unsigned char *image;
static size_t image_bytes;

static inline int image_setup(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = made();
	save.zstd_level = *state != NULL;
	assert_ok(weir_save(f, weir_location_path(path), &save));
	weir_destroy(f);
	image = image_slurp(path, &image_bytes);
	return image == NULL || image[IMAGE_MEMBERS] != MEMBERS;
}

static inline int image_teardown(void **state)
{
	(void)state;
	free(image);
	return 0;
}

/* The offset at which the image of member i begins. */
static inline size_t member_at(unsigned i)
{
	size_t at = 0;
	do
		at += IMAGE_PAGE;
	while (memcmp(image + at, "WEIRIMG1", 8) != 0 || i-- > 0);
	return at;
}

static inline uint64_t bytes_of_member(unsigned i)
{
	return 64 * image_get(image + member_at(i) + IMAGE_BLOCKS, 8);
}

#define OF_AN_IMAGE(test) cmocka_unit_test_setup_teardown(test, image_setup, image_teardown)

#endif
