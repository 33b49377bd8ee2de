/* SPDX-License-Identifier: MIT
 * The reference: each kind's layout once more, written from the text of the design and for being
 * read, not for speed. No code is shared with the library, there is no 128-bit arithmetic, and no
 * word wider than a byte in the array. What the library's bits must be on every instruction set. */
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
	uint64_t lines; /* of 64 bytes */
	uint64_t seed;  /* of the hash */
	uint8_t *bytes; /* bit i of the array is bit i % 8 of byte i / 8 */
};

/* What a kind says of itself. One that is made of bits says which of them a hash stands for, and
 * has nothing else to say; another has verbs of its own on the bytes. */
struct reference_kind {
	/* From a key to its hash; NULL: XXH3-64 with the seed. */
	uint64_t (*hash)(uint64_t seed, const void *key, size_t len);
	/* The array's bits that a hash stands for, some perhaps the same, and how many. */
	unsigned (*bits)(const struct reference *ref, uint64_t hash,
	                 uint64_t bits[REFERENCE_MOST_BITS]);

	/* As the library's verbs by hash answer; NULL: by bits, or the kind cannot. */
	bool (*contains)(const struct reference *ref, uint64_t hash);
	int (*insert)(struct reference *ref, uint64_t hash);
	int (*remove)(struct reference *ref, uint64_t hash);
	int64_t (*count)(const struct reference *ref, uint64_t hash);
	int (*build)(struct reference *ref, const uint64_t *hashes, size_t n);
};

/* Empty. The kind is the shape's. */
void reference_init(struct reference *ref, const struct weir_shape *shape, uint64_t lines,
                    uint64_t seed);
void reference_free(struct reference *ref);

/* Does it take keys one at a time? */
bool reference_takes_inserts(const struct reference *ref);
bool reference_contains(const struct reference *ref, uint64_t hash);
/* WEIR_NEW, WEIR_SEEN or a negative errno; of bits: was one of them 0? */
int reference_insert(struct reference *ref, uint64_t hash);

/* ---- what the kinds' own files are written with ---- */

/* The high half of a 128-bit product. */
uint64_t reference_high_half(uint64_t a, uint64_t b);
/* The number of that name in the reference's shape. */
uint32_t reference_number(const struct reference *ref, const char *name);

#endif
