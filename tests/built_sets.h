/* SPDX-License-Identifier: MIT
 * A handle over a set that was built once, and helpers for reloads that replace the set. */
#ifndef WEIR_TESTS_BUILT_SETS_H
#define WEIR_TESTS_BUILT_SETS_H

#include <sys/uio.h>
#include "figures.h"
#include "test.h"

enum { KEYS = 20000, SEED = 5 };

static inline struct weir_params params(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.0001;
	p.seed = SEED;
	return p;
}

/* Return: a handle over a set of a hundred keys. */
static inline struct weir_handle *handle(uint32_t flags)
{
	const struct weir_params p = params();
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	struct weir_filter *f = NULL;
	uint64_t hashes[100];
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t key = test_key(1000000 + i);
		hashes[i] = weir_hash_seeded(SEED, &key, 8);
	}
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, 100), NULL));
	o.flags = flags;
	assert_ok(weir_handle_create(&h, f, &o));
	return h;
}

static inline bool has(const struct weir_handle *h, uint64_t number)
{
	const uint64_t key = test_key(number);
	return weir_handle_contains(h, &key, 8);
}

/* Check that the handle has the keys of handle(). Any other keys are false positives. */
static inline void assert_old(const struct weir_handle *h)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < 100; i++)
		assert_true(has(h, 1000000 + i));
	for (uint64_t i = 0; i < KEYS; i++)
		found += has(h, i);
	assert_true(found < 30);
}

/* Check that the handle has keys 0 to @n - 1, and has lost the keys of handle(). */
static inline void assert_new(const struct weir_handle *h, uint64_t n)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < n; i++)
		assert_true(has(h, i));
	for (uint64_t i = 0; i < 100; i++)
		found += has(h, 1000000 + i);
	assert_true(found < 5);
}

static inline struct weir_reload *begun(struct weir_handle *h, const struct weir_reload_options *o)
{
	struct weir_reload *r = NULL;
	assert_ok(weir_reload_begin(&r, h, o));
	assert_non_null(r);
	return r;
}

/* Insert keys in each form that a loader may use. */
static inline void fill(struct weir_reload *r, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++) {
		const uint64_t key = test_key(i), hash = weir_hash_seeded(SEED, &key, 8);
		const struct iovec whole = { (void *)(uintptr_t)&key, 8 };
		switch (i % 5) {
		case 0: assert_int_equal(weir_reload_insert(r, &key, 8), 0); break;
		case 1: assert_int_equal(weir_reload_insert_hash(r, hash), 0); break;
		case 2:
			assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(&hash, 1),
			                                         NULL),
			                 0);
			break;
		case 3:
			assert_int_equal(weir_reload_insert_keys(r, weir_keys_iov(&whole, 1), NULL),
			                 0);
			break;
		default:
			assert_int_equal(weir_reload_insert_keys(r, weir_keys_u64(&key, 1),
			                                         NULL),
			                 0);
		}
	}
}

/* A progress function that stores the numbers of its last call. */
static inline int count(void *context, uint64_t done, uint64_t total)
{
	uint64_t *last = context;
	assert_true(done <= total);
	last[0] = done;
	last[1] = total;
	return 0;
}

#endif
