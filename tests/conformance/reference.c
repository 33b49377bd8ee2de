/* SPDX-License-Identifier: MIT
 * The reference: the layouts from the text alone. */
#include <stdlib.h>
#include <weir/params.h>
#include "reference.h"

void reference_init(struct reference *ref, uint32_t kind, unsigned z, unsigned g, uint64_t lines)
{
	*ref = (struct reference){ .kind = kind, .z = z, .g = g, .lines = lines,
	                           .bytes = calloc(lines, 64) };
	if (!ref->bytes)
		abort();
}

void reference_free(struct reference *ref)
{
	free(ref->bytes);
}

/* The high half of a 128-bit product, as taught at school with digits of 32 bits. */
static uint64_t high_half(uint64_t a, uint64_t b)
{
	uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
	uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (mid & 0xffffffff);
	return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

/* Fields are taken from the top of r; the first that does not fit whole comes from the top of
 * r2, and so on downward. */
struct fields {
	uint64_t now, next;
	unsigned left;
};

static unsigned take(struct fields *fields, unsigned width)
{
	if (!width)
		return 0;
	if (width > fields->left) {
		fields->now = fields->next;
		fields->left = 64;
	}
	fields->left -= width;
	return (unsigned)(fields->now >> fields->left) & ((1u << width) - 1);
}

static unsigned blocked_bits(const struct reference *ref, uint64_t hash, uint64_t *bits)
{
	struct fields fields = { hash * UINT64_C(0x9E3779B97F4A7C15),
	                         hash * UINT64_C(0xD6E8FEB86659FD93), 64 };
	unsigned sector_bits = ref->z == 1 ? 3 : ref->z == 2 ? 2 : ref->z == 4 ? 1 : 0;
	unsigned word[8], n = 0;
	uint64_t block = high_half(hash, ref->lines);
	for (unsigned i = 0; i < ref->z; i++)
		word[i] = i * (8 / ref->z) + take(&fields, sector_bits);
	for (unsigned i = 0; i < ref->z; i++)
		for (unsigned t = 0; t < ref->g; t++)
			bits[n++] = block * 512 + word[i] * 64 + take(&fields, 6);
	return n;
}

/* Probe i is the high half of x * (number of bits), x the hash times the i-th power of a
 * constant. */
static unsigned classic_bits(const struct reference *ref, uint64_t hash, uint64_t *bits)
{
	for (unsigned i = 0; i < ref->z; i++, hash *= UINT64_C(0xD1342543DE82EF95))
		bits[i] = high_half(hash, 512 * ref->lines);
	return ref->z;
}

unsigned reference_bits(const struct reference *ref, uint64_t hash,
                        uint64_t bits[REFERENCE_MOST_BITS])
{
	return ref->kind == WEIR_CLASSIC ? classic_bits(ref, hash, bits) :
	                                   blocked_bits(ref, hash, bits);
}

bool reference_contains(const struct reference *ref, uint64_t hash)
{
	uint64_t bits[REFERENCE_MOST_BITS];
	unsigned n = reference_bits(ref, hash, bits);
	for (unsigned i = 0; i < n; i++)
		if (!(ref->bytes[bits[i] / 8] >> bits[i] % 8 & 1))
			return false;
	return true;
}

bool reference_insert(struct reference *ref, uint64_t hash)
{
	uint64_t bits[REFERENCE_MOST_BITS];
	unsigned n = reference_bits(ref, hash, bits);
	bool fresh = !reference_contains(ref, hash);
	for (unsigned i = 0; i < n; i++)
		ref->bytes[bits[i] / 8] |= (uint8_t)(1u << bits[i] % 8);
	return fresh;
}
