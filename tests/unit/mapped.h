/* SPDX-License-Identifier: MIT
 * Shared by the tests of mapped images: an image of known keys in a folder, and single and batch
 * inserts into a map of the image. */
#ifndef WEIR_TESTS_UNIT_MAPPED_H
#define WEIR_TESTS_UNIT_MAPPED_H

#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { KEYS = 200000 };

/* Output of calls that must fail. The teardown asserts that the pointer stays NULL. */
static struct weir_filter *untouched;

static inline int teardown(void **state)
{
	(void)folder_teardown(state);
	return untouched != NULL;
}

/* Save the first @n keys as a new image at path, sized for 2 * KEYS.
 * Return: false if filters of @kind cannot be saved. */
static inline bool save_if_it_can(uint32_t kind, uint64_t n)
{
	struct weir_filter *f = test_filter(kind, 2 * KEYS, 0.01);
	uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = test_key(i);
	assert_ok(test_fill(&f, hashes, n));
	int err = test_done(weir_save(f, weir_location_path(path), NULL));
	assert_ok(err == -ENOTSUP ? 0 : err);
	free(hashes);
	weir_destroy(f);
	return err == 0;
}

static inline void save_fresh(uint32_t kind, uint64_t n)
{
	assert_true(save_if_it_can(kind, n));
}

static inline uint64_t missing(const struct weir_filter *f, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t i = from; i < to; i++)
		n += !weir_contains_hash(f, test_key(i));
	return n;
}

static inline int insert_each(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to)
{
	for (uint64_t i = from; i < to; i += step)
		if (weir_insert_hash(f, test_key(i)) < 0)
			return 3;
	return 0;
}

static inline int load_pieces(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to)
{
	uint64_t hashes[512];
	size_t n = 0;
	for (uint64_t i = from; i < to; i += step) {
		hashes[n++] = test_key(i);
		if (n == 512 && weir_fill_keys(f, weir_keys_hashes(hashes, n)))
			return 3;
		n %= 512;
	}
	return weir_fill_keys(f, weir_keys_hashes(hashes, n)) ? 3 : 0;
}

#endif
