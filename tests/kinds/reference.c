/* SPDX-License-Identifier: MIT
 * The part of the reference that all kinds share. */
#include <stdlib.h>
#include <string.h>
#include "kind.h"

void reference_init(struct reference *ref, const struct weir_shape *shape, uint64_t lines,
                    uint64_t seed)
{
	*ref = (struct reference){ .kind = &test_kind_of(shape->kind)->reference,
		                   .shape = *shape,
		                   .lines = lines,
		                   .seed = seed,
		                   .bytes = calloc(lines, 64) };
	if (!ref->bytes)
		abort();
}

void reference_free(struct reference *ref)
{
	free(ref->bytes);
}

/* Long multiplication with digits of 32 bits. */
uint64_t reference_high_half(uint64_t a, uint64_t b)
{
	uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
	uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (mid & 0xffffffff);
	return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

uint32_t reference_number(const struct reference *ref, const char *name)
{
	const char *field;
	for (unsigned i = 0; (field = weir_shape_field(ref->shape.kind, i)) != NULL; i++)
		if (strcmp(field, name) == 0)
			return ref->shape.field[i];
	abort(); /* the shape has no number with this name */
}

/* ---- kinds made of bits ---- */

static bool bits_contain(const struct reference *ref, uint64_t hash)
{
	uint64_t bits[REFERENCE_MOST_BITS];
	unsigned n = ref->kind->bits(ref, hash, bits);
	for (unsigned i = 0; i < n; i++)
		if (!(ref->bytes[bits[i] / 8] >> bits[i] % 8 & 1))
			return false;
	return true;
}

static int bits_insert(struct reference *ref, uint64_t hash)
{
	uint64_t bits[REFERENCE_MOST_BITS];
	unsigned n = ref->kind->bits(ref, hash, bits);
	bool fresh = !bits_contain(ref, hash);
	for (unsigned i = 0; i < n; i++)
		ref->bytes[bits[i] / 8] |= (uint8_t)(1u << bits[i] % 8);
	return fresh ? WEIR_NEW : WEIR_SEEN;
}

/* ---- every kind ---- */

bool reference_takes_inserts(const struct reference *ref)
{
	return ref->kind->insert || ref->kind->bits;
}

bool reference_contains(const struct reference *ref, uint64_t hash)
{
	return ref->kind->contains ? ref->kind->contains(ref, hash) : bits_contain(ref, hash);
}

int reference_insert(struct reference *ref, uint64_t hash)
{
	return ref->kind->insert ? ref->kind->insert(ref, hash) : bits_insert(ref, hash);
}
