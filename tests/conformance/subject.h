/* SPDX-License-Identifier: MIT
 * The subject of a test: a filter in memory that the test can read, its reference, and every way to
 * insert and to look up. Key i of a subject is the eight bytes of test_key(i). */
#ifndef WEIR_TESTS_SUBJECT_H
#define WEIR_TESTS_SUBJECT_H

#include <stdbool.h>
#include <weir/weir.h>
#include "../kinds/kind.h"

/* The argument that cmocka passes to each test. */
struct subject_layout {
	const struct test_kind *kind;
	const struct weir_shape *shape;
};

struct subject {
	const struct test_kind *kind;
	struct weir_filter *f;
	uint8_t *memory; /* the filter's bits */
	uint64_t bytes, capacity;
	struct reference ref;
};

/* Make an empty filter of about @lines lines, by default with 12 bits for each key. */
struct subject subject_make(const struct subject_layout *layout, uint64_t lines);
void subject_free(struct subject *s);
void subject_assert_bits(const struct subject *s, const char *after);

/* Return: the hash of a key, computed without the library. */
uint64_t subject_hash(const struct subject *s, uint64_t key);

enum subject_inserts {
	SUBJECT_ONE_KEY,
	SUBJECT_ONE_HASH,
	SUBJECT_ONE_U64,
	SUBJECT_FIRST_BATCH,
	SUBJECT_HASHES = SUBJECT_FIRST_BATCH,
	SUBJECT_KEYS,
	SUBJECT_FIXED,
	SUBJECT_LAST_BATCH,
	SUBJECT_LOAD = SUBJECT_LAST_BATCH,
	SUBJECT_INSERTS,
};
const char *subject_insert_name(unsigned way);
int subject_insert_one(struct subject *s, uint64_t key);
/* Insert keys first .. first+n-1 as a batch. @bitmap: receives the new keys. Return: the answer of
 * the library's function for batches. */
int64_t subject_insert_batch(struct subject *s, unsigned way, uint64_t first, uint64_t n,
                             uint64_t *bitmap);
void subject_insert(struct subject *s, unsigned way, uint64_t first, uint64_t n);

/* Build the filter and the reference again from keys first .. first+n-1. Return: 0, or the error of
 * weir_build() or of the reference's build. */
int64_t subject_build(struct subject *s, uint64_t first, uint64_t n);

/* Lookups 0 to 2 take one key at a time, and lookups 3 to 5 take a batch. */
enum { SUBJECT_LOOKUPS = 6 };
const char *subject_lookup_name(unsigned way);
size_t subject_contains(const struct subject *s, unsigned way, uint64_t first, uint64_t n,
                        uint64_t *bitmap);

#endif
