/* SPDX-License-Identifier: MIT
 * The layouts once more, written from the text of the design and for being read, not for speed:
 * no code is shared with the library, no 128-bit arithmetic, no word wider than a byte in the
 * array. What the library's bits must be on every instruction set. */
#ifndef WEIR_TESTS_REFERENCE_H
#define WEIR_TESTS_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

struct reference {
	uint32_t kind;
	unsigned z, g; /* blocked: words a key, bits a word; classic: k and 1 */
	uint64_t lines; /* of 64 bytes */
	uint8_t *bytes; /* bit i of the array is bit i % 8 of byte i / 8 */
};

enum { REFERENCE_MOST_BITS = 32 };

void reference_init(struct reference *ref, uint32_t kind, unsigned z, unsigned g, uint64_t lines);
void reference_free(struct reference *ref);

/* The array's bits that a hash stands for, z * g of them, some perhaps the same. */
unsigned reference_bits(const struct reference *ref, uint64_t hash,
                        uint64_t bits[REFERENCE_MOST_BITS]);
bool reference_contains(const struct reference *ref, uint64_t hash);
/* Whether a bit was 0. */
bool reference_insert(struct reference *ref, uint64_t hash);

#endif
