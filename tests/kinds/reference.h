/* SPDX-License-Identifier: MIT
 * The reference: a second implementation of each kind's layout, written from the text of the design
 * for clarity, not for speed. The reference shares no code with the library, uses no 128-bit
 * arithmetic, and addresses its array in bytes. On every instruction set the library must produce
 * the bits of the reference. */
#ifndef WEIR_TESTS_REFERENCE_H
#define WEIR_TESTS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/kinds.h>

enum { REFERENCE_MOST_BITS = 32 };

struct reference {
	const struct reference_kind *kind;
	struct weir_shape shape;
	uint64_t lines; /* number of lines of 64 bytes */
	uint64_t seed;  /* seed of the hash */
	uint8_t *bytes; /* bit i of the array is bit i % 8 of byte i / 8 */
};

/* The reference's functions for one kind. A kind whose array is a set of bits needs only bits().
 * Any other kind has its own functions, which work on the bytes. */
struct reference_kind {
	/* The hash of a key; NULL: XXH3-64 with the seed. */
	uint64_t (*hash)(uint64_t seed, const void *key, size_t len);
	/* Store the indices of the array's bits that stand for a hash; duplicates are allowed.
	 * Return: the number of indices. */
	unsigned (*bits)(const struct reference *ref, uint64_t hash,
	                 uint64_t bits[REFERENCE_MOST_BITS]);

	/* These functions return what the library's functions with a hash return. NULL: the
	 * reference uses bits(), or the kind lacks the function. */
	bool (*contains)(const struct reference *ref, uint64_t hash);
	int (*insert)(struct reference *ref, uint64_t hash);
	int (*remove)(struct reference *ref, uint64_t hash);
	int64_t (*count)(const struct reference *ref, uint64_t hash);
	int (*build)(struct reference *ref, const uint64_t *hashes, size_t n);
};

/* Make an empty reference of the shape's kind. */
void reference_init(struct reference *ref, const struct weir_shape *shape, uint64_t lines,
                    uint64_t seed);
void reference_free(struct reference *ref);

/* Return: true if keys can be inserted one at a time. */
bool reference_takes_inserts(const struct reference *ref);
bool reference_contains(const struct reference *ref, uint64_t hash);
/* Return: WEIR_NEW, WEIR_SEEN or a negative errno. In a kind made of bits a key is WEIR_NEW if one
 * of its bits was 0. */
int reference_insert(struct reference *ref, uint64_t hash);

/* ---- helpers for the kinds' own files ---- */

/* The high half of a 128-bit product. */
uint64_t reference_high_half(uint64_t a, uint64_t b);
/* The number with this name in the reference's shape. */
uint32_t reference_number(const struct reference *ref, const char *name);

#endif
