/* SPDX-License-Identifier: MIT
 * Paths in the folder of folder.h for two images, their delta and the image made from the delta. */
#ifndef WEIR_TESTS_UNIT_DELTA_H
#define WEIR_TESTS_UNIT_DELTA_H

#include "../folder.h"
#include "../image_bytes.h"

static char old_image[4200], new_image[4200], delta[4200], made[4200];

static inline int delta_setup(void **state)
{
	folder_setup(state);
	snprintf(old_image, sizeof old_image, "%s/old.weir", folder);
	snprintf(new_image, sizeof new_image, "%s/new.weir", folder);
	snprintf(delta, sizeof delta, "%s/d", folder);
	snprintf(made, sizeof made, "%s/made.weir", folder);
	return 0;
}

/* Save a set of the keys number @first to @first + @n - 1. */
static inline void save_keys(const char *name, uint64_t capacity, uint64_t first, uint64_t n,
                             int zstd_level)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, capacity, 0.01);
	for (uint64_t i = first; i < first + n; i++)
		assert_true(weir_insert_hash(f, test_key(i)) >= 0);
	o.zstd_level = zstd_level;
	o.generation = first + 1;
	assert_ok(weir_save(f, weir_location_path(name), &o));
	weir_destroy(f);
}

static inline uint64_t id_of(const char *image)
{
	uint64_t id = 0;
	assert_ok(weir_image_verify(weir_location_path(image), NULL, &id));
	return id;
}

static inline void assert_same_files(const char *a, const char *b)
{
	size_t n = 0, m = 1;
	unsigned char *x = image_slurp(a, &n), *y = image_slurp(b, &m);
	assert_true(x && y && n == m && memcmp(x, y, n) == 0);
	free(x);
	free(y);
}

static inline int apply_one(const char *to, const char *from, const char *one)
{
	const char *deltas[] = { one };
	return test_done(weir_image_copy(weir_location_path(to),
	                                 weir_location_chain(from, deltas, 1), NULL, NULL));
}

#endif
