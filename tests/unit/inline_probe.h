/* SPDX-License-Identifier: MIT
 * The functions of <weir/inline.h>, compiled with one set of flags. */
#ifndef WEIR_TESTS_INLINE_PROBE_H
#define WEIR_TESTS_INLINE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_filter;
struct weir_inline;
struct weir_inline_mut;

struct inline_probe {
	const char *name;
	/* The one layout that the flags inline. Both numbers are 0 if the flags name no layout:
	 * then the default layouts are inlined. */
	unsigned words_per_key, bits_per_word;
	int (*init)(struct weir_inline *out, const struct weir_filter *f);
	int (*init_mut)(struct weir_inline_mut *out, struct weir_filter *f);
	uint64_t (*hash)(const struct weir_inline *v, const void *key, size_t len);
	bool (*contains)(const struct weir_inline *v, const void *key, size_t len);
	bool (*contains_hash)(const struct weir_inline *v, uint64_t hash);
	bool (*contains_u64)(const struct weir_inline *v, uint64_t key);
	int (*insert)(const struct weir_inline_mut *v, const void *key, size_t len);
	int (*insert_hash)(const struct weir_inline_mut *v, uint64_t hash);
	int (*insert_u64)(const struct weir_inline_mut *v, uint64_t key);
	/* Return: true if a lookup in a filter of @layout runs without a function call. */
	bool (*has_inlined)(uint32_t layout);
};

#endif
