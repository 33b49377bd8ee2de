/* SPDX-License-Identifier: MIT
 * The blocked kind. */
#include "kind.h"

/* ---- the reference ---- */

/* Bit fields of a hash. Each field is taken from the highest unused bits of the word @now. The
 * first field that does not fit into @now is taken from the top of the word @next. */
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

static unsigned bits_of(const struct reference *ref, uint64_t hash,
                        uint64_t bits[REFERENCE_MOST_BITS])
{
	unsigned z = reference_number(ref, "words_per_key"),
	         g = reference_number(ref, "bits_per_word");
	struct fields fields = { hash * UINT64_C(0x9E3779B97F4A7C15),
	                         hash * UINT64_C(0xD6E8FEB86659FD93), 64 };
	unsigned sector_bits = z == 1 ? 3 : z == 2 ? 2 : z == 4 ? 1 : 0, word[8], n = 0;
	uint64_t block = reference_high_half(hash, ref->lines);
	for (unsigned i = 0; i < z; i++)
		word[i] = i * (8 / z) + take(&fields, sector_bits);
	for (unsigned i = 0; i < z; i++)
		for (unsigned t = 0; t < g; t++)
			bits[n++] = block * 512 + word[i] * 64 + take(&fields, 6);
	return n;
}

/* ---- the tables of the tests ---- */

#define IS(z, g, a, b) ((z) == (a) && (g) == (b))
#define SHAPE(z, g) \
	{ \
		.shape = { WEIR_BLOCKED, .field = { z, g } }, \
		.main = (g) == 2 || IS(z, g, 2, 3) || (g) == 10 || (z) * (g) == 20, \
		.bulk = IS(z, g, 1, 5) || IS(z, g, 2, 3) || IS(z, g, 4, 2) || IS(z, g, 8, 1) || \
		        IS(z, g, 2, 6), \
		.one_new = (z) == 1, \
	}
static const struct test_shape shapes[] = {
	SHAPE(1, 1), SHAPE(1, 2), SHAPE(1, 3), SHAPE(1, 4), SHAPE(1, 5), SHAPE(1, 6), SHAPE(1, 7),
	SHAPE(1, 8), SHAPE(1, 9), SHAPE(1, 10),
	SHAPE(2, 1), SHAPE(2, 2), SHAPE(2, 3), SHAPE(2, 4), SHAPE(2, 5), SHAPE(2, 6), SHAPE(2, 7),
	SHAPE(2, 8), SHAPE(2, 9), SHAPE(2, 10),
	SHAPE(4, 1), SHAPE(4, 2), SHAPE(4, 3), SHAPE(4, 4), SHAPE(4, 5),
	SHAPE(8, 1), SHAPE(8, 2),
};

#define ASK(text, z, g) \
	.name = text, .ask.blocked = { .words_per_key = z, .bits_per_word = g }
static const struct test_layout layouts[] = {
	{ ASK("blocked z=1", 1, 0), .one_new = true },
	{ ASK("blocked z=2", 2, 0), .huge_keys = 3000017 },
	{ ASK("blocked z=4", 4, 0), .huge_keys = 3000017 },
	{ ASK("blocked z=8", 8, 0) },
	{ ASK("blocked z=2 g=1", 2, 1) }, /* uses the kernel for shapes without their own kernel */
};

static const struct test_layout extremes[] = {
	{ ASK("blocked z=1 g=10", 1, 10) },
	{ ASK("blocked z=2 g=10", 2, 10) },
	{ ASK("blocked z=4 g=5", 4, 5) },
	{ ASK("blocked z=8 g=2", 8, 2) },
};

enum { LINE = 64, TWO_SHARDS = 2 * 1024 * LINE };
static const struct test_subject subjects[] = {
	{ ASK("z=1", 1, 3), .bytes = LINE, .one_new = true, .handles = true },
	{ ASK("z=2", 2, 2), .bytes = LINE, .handles = true },
	{ ASK("z=4", 4, 2), .bytes = LINE },
	{ ASK("z=8", 8, 1), .bytes = LINE },
	/* the next two filters use the kernel for shapes without their own kernel */
	{ ASK("any z=1", 1, 2), .bytes = LINE, .one_new = true },
	{ ASK("any z=2", 2, 1), .bytes = LINE },
	{ ASK("z=2 shards", 2, 2), .bytes = TWO_SHARDS },
};

#define GOLDEN(name, z, g, capacity, keys, false_positives, sum) \
	{ name, { WEIR_BLOCKED, .field = { z, g } }, capacity, keys, false_positives, \
	  UINT64_C(sum) }
static const struct test_golden goldens[] = {
	GOLDEN("blocked_z1g5", 1, 5, 500, 500, 160, 0x0bbc0b3a5f9daa35),
	GOLDEN("blocked_z2g3", 2, 3, 500, 500, 131, 0x6a329c09f99aa46c),
	GOLDEN("blocked_z2g10", 2, 10, 300, 300, 104, 0x61eab3bfb761cc08), /* uses all twenty
	                                                                      fields */
	GOLDEN("blocked_z4g2", 4, 2, 500, 500, 167, 0x637b8dd0a61d4ec7),
	GOLDEN("blocked_z4g5", 4, 5, 300, 300, 56, 0xca550d3f779e414f),
	GOLDEN("blocked_z8g1", 8, 1, 500, 500, 165, 0x9120dcd16b7ce38b),
	GOLDEN("blocked_z8g2", 8, 2, 500, 500, 76, 0x449e558ad6588cfe),
	/* A filter of several shards, nearly empty so that the file is small. */
	GOLDEN("shards_zstd", 2, 3, 120000, 300, 0, 0x9c899d1ecdbc97f5),
	GOLDEN("keyed_z2g3", 2, 3, 500, 500, 119, 0x8a0506be196b2c7f),
	GOLDEN("normal_z2g3", 2, 3, 500, 500, 131, 0x7e7b2fa34a63fdc6),
};

const struct test_kind test_kind_blocked = {
	.id = WEIR_BLOCKED,
	.every_isa = true,
	.commutes = true,
	.reference = { .bits = bits_of },
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.extremes = TEST_ROWS(extremes),
	.subjects = TEST_ROWS(subjects),
	.goldens = TEST_ROWS(goldens),
};
