/* SPDX-License-Identifier: MIT
 * Shared by the tests of window images. */
#ifndef WEIR_TESTS_UNIT_WINDOW_IMAGE_H
#define WEIR_TESTS_UNIT_WINDOW_IMAGE_H

#include <errno.h>
#include <sys/mman.h>
#include "../image_bytes.h"
#include "../folder.h"
#include "window.h"

enum { KEYS = 400, ROW = 16, OWN = 192, SAVED = OWN + 24 };

static inline uint64_t key(unsigned generation, unsigned i)
{
	return test_key(1000 * (uint64_t)generation + i);
}

/* Return: a window after @advances advances, one a second. Key (a, i) was inserted after advance
 * a. */
static inline struct weir_filter *lived(const struct weir_params *o, unsigned advances)
{
	struct weir_filter *w = make(o);
	for (unsigned a = 0;; a++) {
		for (unsigned i = 0; i < KEYS; i++)
			assert_true(weir_insert_u64(w, key(a, i)) >= 0);
		if (a == advances)
			return w;
		wait_for(1);
		assert_ok(weir_window_advance(w));
	}
}

static inline struct weir_load_options load_options(void)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.run.clock = test_clock;
	return o;
}

static inline struct weir_filter *loaded_from(const char *name,
                                              const struct weir_load_options *o)
{
	struct weir_filter *w = NULL;
	assert_ok(weir_load(&w, weir_location_path(name), o));
	assert_non_null(w);
	return w;
}

/* Return: the image of a window. The caller frees the image. */
static inline unsigned char *saved_bytes(const struct weir_filter *w, size_t *n)
{
	int fd = memfd_create("image", 0);
	assert_ok(weir_save(w, weir_location_fd(fd), NULL));
	off_t end = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = malloc((size_t)end);
	assert_non_null(bytes);
	assert_true(pread(fd, bytes, (size_t)end, 0) == end);
	close(fd);
	*n = (size_t)end;
	return bytes;
}

/* Asserts that both windows have equal statistics and report the same age for every key. */
static inline void assert_alike(const struct weir_filter *a, const struct weir_filter *b,
                                unsigned advances)
{
	struct weir_window_stats x = stats_of(a), y = stats_of(b);
	const struct weir_stats all_x = figures_of(a), all_y = figures_of(b);
	assert_memory_equal(&all_x, &all_y, sizeof all_x);
	assert_int_equal(x.generations, y.generations);
	assert_memory_equal(x.fill, y.fill, sizeof x.fill);
	assert_memory_equal(x.age_seconds, y.age_seconds, sizeof x.age_seconds);
	assert_true(x.due_seconds == y.due_seconds && x.keys_counted == y.keys_counted &&
	            x.span_seconds == y.span_seconds && x.generation_keys == y.generation_keys);
	for (unsigned g = 0; g <= advances + 1; g++)
		for (unsigned i = 0; i < KEYS; i++) {
			uint64_t k = key(g, i);
			assert_int_equal(weir_age(a, &k, 8), weir_age(b, &k, 8));
			assert_int_equal(weir_contains_u64(a, k),
			                 weir_contains_u64(b, k));
		}
}

#endif
