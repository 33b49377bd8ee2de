/* SPDX-License-Identifier: MIT
 * The growing kind. A growing filter with one layer is a blocked filter, so this reference repeats
 * the blocked kind's reference. unit/test_growing.c tests filters with more layers. */
#include "kind.h"

/* ---- the reference: fields are taken from the top of r[0], then from the top of r[1] ---- */

static unsigned bits_of(const struct reference *ref, uint64_t hash,
                        uint64_t bits[REFERENCE_MOST_BITS])
{
	unsigned z = reference_number(ref, "words_per_key");
	unsigned g = reference_number(ref, "bits_per_word"), words = 8 / z, sector = 0, n = 0;
	uint64_t r[2] = { hash * UINT64_C(0x9E3779B97F4A7C15),
		          hash * UINT64_C(0xD6E8FEB86659FD93) };
	uint64_t line = reference_high_half(hash, ref->lines), word[8];
	unsigned left = 64, from = 0;
	while (1u << sector < words)
		sector++;
	for (unsigned i = 0; i < z; i++) {
		left -= sector;
		word[i] = i * words + (sector ? r[0] >> left & (words - 1) : 0);
	}
	for (unsigned i = 0; i < z; i++)
		for (unsigned t = 0; t < g; t++) {
			if (left < 6) {
				from = 1;
				left = 64;
			}
			left -= 6;
			bits[n++] = 512 * line + 64 * word[i] + (r[from] >> left & 63);
		}
	return n;
}

/* ---- the tables of the tests ---- */

#define SHAPE(z, g) { WEIR_GROWING, .field = { z, g, 8 } }
static const struct test_shape shapes[] = {
	{ .shape = SHAPE(1, 4) },
	{ .shape = SHAPE(2, 3), .main = true },
	{ .shape = SHAPE(2, 5) },
	{ .shape = SHAPE(4, 2), .main = true },
	{ .shape = SHAPE(4, 3) },
	{ .shape = SHAPE(8, 1) },
	{ .shape = SHAPE(8, 2) },
};

static const struct test_layout layouts[] = { { .name = "growing" } };
/* Filters of one, two and three layers. */
static const struct test_golden goldens[] = {
	{ "growing_z2g3", SHAPE(2, 3), 300, 200, 2, UINT64_C(0x3a1ad479e39508ac) },
	{ "growing_z4g2", SHAPE(4, 2), 100, 350, 17, UINT64_C(0xcb046829f20873f0) },
	{ "growing_keyed_z2g3", SHAPE(2, 3), 40, 500, 19, UINT64_C(0x97b1b564fbc49282) },
	{ "growing_zstd_z2g3", SHAPE(2, 3), 100, 350, 13, UINT64_C(0x0075eb87cf38441e) },
};

const struct test_kind test_kind_growing = {
	.id = WEIR_GROWING,
	.every_isa = true,
	.commutes = true,
	.grows = true,
	.coarse = true, /* the capacity has a margin for the sampling error */
	.bits_per_key = 24,
	.reference = { .bits = bits_of },
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.goldens = TEST_ROWS(goldens),
};
