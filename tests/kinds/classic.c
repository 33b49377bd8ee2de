/* SPDX-License-Identifier: MIT
 * The classic kind. */
#include "kind.h"

/* ---- the reference: probe i is the high half of x * (number of bits), where x is the hash times
 * the i-th power of a constant ---- */

static unsigned bits_of(const struct reference *ref, uint64_t hash,
                        uint64_t bits[REFERENCE_MOST_BITS])
{
	unsigned k = reference_number(ref, "probes");
	for (unsigned i = 0; i < k; i++, hash *= UINT64_C(0xD1342543DE82EF95))
		bits[i] = reference_high_half(hash, 512 * ref->lines);
	return k;
}

/* ---- the tables of the tests ---- */

#define SHAPE(k) { WEIR_CLASSIC, .field = { k, 1 } }
static const struct test_shape shapes[] = {
	{ .shape = SHAPE(1) },
	{ .shape = SHAPE(2) },
	{ .shape = SHAPE(3) },
	{ .shape = SHAPE(5) },
	{ .shape = SHAPE(7), .main = true },
	{ .shape = SHAPE(8) },
	{ .shape = SHAPE(10) },
	{ .shape = SHAPE(13) },
	{ .shape = SHAPE(17) },
	{ .shape = SHAPE(31) },
	{ .shape = SHAPE(32), .main = true },
};

static const struct test_layout layouts[] = { { .name = "classic", .huge_keys = 500009 } };
static const struct test_layout extremes[] = {
	{ .name = "classic k=32", .ask.classic = { .probes = 32 } },
};
static const struct test_subject subjects[] = {
	{ .name = "classic", .ask.classic = { .probes = 4 }, .bytes = 64 },
};

static const struct test_golden goldens[] = {
	{ "classic_k7", SHAPE(7), 500, 500, 128, UINT64_C(0x27df134f0c01054e) },
	{ "classic_k13", SHAPE(13), 300, 300, 91, UINT64_C(0xd993953015c094cd) },
};

const struct test_kind test_kind_classic = {
	.id = WEIR_CLASSIC,
	.commutes = true,
	.reference = { .bits = bits_of },
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.extremes = TEST_ROWS(extremes),
	.subjects = TEST_ROWS(subjects),
	.goldens = TEST_ROWS(goldens),
};
