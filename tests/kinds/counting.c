/* SPDX-License-Identifier: MIT
 * The counting kind. */
#include <errno.h>
#include "counters.h"

/* ---- the reference ---- */

/* Add @by, 1 or -1, once to each distinct counter of the key. A counter at its maximum stays. */
static void change(struct reference *ref, uint64_t hash, int by)
{
	struct counters_key key = counters_of(ref, hash);
	for (unsigned i = 0; i < key.words; i++)
		for (unsigned t = 0; t < key.word[i].n; t++) {
			uint64_t counter = key.word[i].counter[t],
			         value = counters_get(ref, counter);
			if (value < counters_most(ref))
				counters_set(ref, counter, by > 0 ? value + 1 : value - 1);
		}
}

static int insert(struct reference *ref, uint64_t hash)
{
	bool fresh = !counters_contain(ref, hash);
	change(ref, hash, 1);
	return fresh ? WEIR_NEW : WEIR_SEEN;
}

static int take_out(struct reference *ref, uint64_t hash)
{
	if (!counters_contain(ref, hash))
		return 0;
	change(ref, hash, -1);
	return 1;
}

/* ---- the tables of the tests ---- */

#define SHAPE(b, z, g) \
	{ \
		.shape = { WEIR_COUNTING, .field = { b, z, g } }, \
		.main = IS(b, z, g, 4, 2, 3) || IS(b, z, g, 8, 4, 1) || IS(b, z, g, 16, 2, 4), \
		.one_new = (z) == 1, \
	}
static const struct test_shape shapes[] = {
	SHAPE(4, 1, 1), SHAPE(4, 1, 4), SHAPE(4, 1, 15),
	SHAPE(4, 2, 1), SHAPE(4, 2, 2), SHAPE(4, 2, 3), SHAPE(4, 2, 7),
	SHAPE(4, 4, 1), SHAPE(4, 4, 2), SHAPE(4, 4, 3),
	SHAPE(4, 8, 1), SHAPE(4, 8, 2),
	SHAPE(8, 1, 1), SHAPE(8, 1, 8), SHAPE(8, 2, 2), SHAPE(8, 2, 8), SHAPE(8, 4, 1),
	SHAPE(8, 4, 4), SHAPE(8, 8, 1), SHAPE(8, 8, 2),
	SHAPE(16, 1, 1), SHAPE(16, 1, 4), SHAPE(16, 2, 1), SHAPE(16, 2, 4), SHAPE(16, 4, 2),
	SHAPE(16, 8, 1), SHAPE(16, 8, 3),
};

static const struct test_layout layouts[] = {
	{ ASK("counting 4 bits", counting, 0, 0, 0), .huge_keys = 500009 },
	{ ASK("counting 4 bits z=1", counting, 4, 1, 0), .one_new = true },
	{ ASK("counting 4 bits z=4", counting, 4, 4, 0) },
	{ ASK("counting 8 bits", counting, 8, 0, 0) },
	{ ASK("counting 16 bits", counting, 16, 0, 0) },
};

static const struct test_layout extremes[] = {
	{ ASK("counting 4 bits z=1 g=15", counting, 4, 1, 15) },
	{ ASK("counting 4 bits z=2 g=7", counting, 4, 2, 7) },
	{ ASK("counting 4 bits z=8 g=2", counting, 4, 8, 2) },
	{ ASK("counting 16 bits z=8 g=3", counting, 16, 8, 3) },
};

static const struct test_subject subjects[] = {
	{ ASK("counting", counting, 4, 2, 2), .bytes = 64 },
};

static const struct test_golden goldens[] = {
	GOLDEN(WEIR_COUNTING, "counting_4z2g3", 4, 2, 3, 300, 300, 214, 0xd661913ebbe77421),
	GOLDEN(WEIR_COUNTING, "counting_8z4g1", 8, 4, 1, 300, 300, 179, 0xe454a9b3859ab406),
	GOLDEN(WEIR_COUNTING, "counting_16z8g1", 16, 8, 1, 100, 100, 283, 0x5c420d81cf1d74b9),
};

const struct test_kind test_kind_counting = {
	.id = WEIR_COUNTING,
	.commutes = true,
	.reference = { .contains = counters_contain, .insert = insert, .remove = take_out,
	               .count = counters_count },
	.bits_per_key = 200,
	.block_lines = counters_block_lines,
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.extremes = TEST_ROWS(extremes),
	.subjects = TEST_ROWS(subjects),
	.goldens = TEST_ROWS(goldens),
};
