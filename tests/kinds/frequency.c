/* SPDX-License-Identifier: MIT
 * The frequency kind. */
#include "counters.h"

/* ---- the reference: an insert increments the smallest of the key's counters in each word ---- */

static int insert(struct reference *ref, uint64_t hash)
{
	struct counters_key key = counters_of(ref, hash);
	bool fresh = !counters_contain(ref, hash);
	for (unsigned i = 0; i < key.words; i++) {
		uint64_t least = counters_most(ref);
		for (unsigned t = 0; t < key.word[i].n; t++) {
			uint64_t value = counters_get(ref, key.word[i].counter[t]);
			least = value < least ? value : least;
		}
		for (unsigned t = 0; t < key.word[i].n && least < counters_most(ref); t++)
			if (counters_get(ref, key.word[i].counter[t]) == least)
				counters_set(ref, key.word[i].counter[t], least + 1);
	}
	return fresh ? WEIR_NEW : WEIR_SEEN;
}

/* ---- the tables of the tests ---- */

#define SHAPE(b, z, g) \
	{ \
		.shape = { WEIR_FREQUENCY, .field = { b, z, g } }, \
		.main = IS(b, z, g, 8, 2, 4) || IS(b, z, g, 16, 4, 1) || IS(b, z, g, 32, 2, 2), \
		.one_new = (z) == 1, \
	}
static const struct test_shape shapes[] = {
	SHAPE(8, 1, 1), SHAPE(8, 1, 8), SHAPE(8, 2, 1), SHAPE(8, 2, 4), SHAPE(8, 2, 8),
	SHAPE(8, 4, 2), SHAPE(8, 8, 1), SHAPE(8, 8, 2),
	SHAPE(16, 1, 4), SHAPE(16, 2, 2), SHAPE(16, 2, 4), SHAPE(16, 4, 1), SHAPE(16, 8, 3),
	SHAPE(32, 1, 1), SHAPE(32, 1, 2), SHAPE(32, 2, 2), SHAPE(32, 4, 1), SHAPE(32, 8, 1),
	SHAPE(32, 8, 2),
};

static const struct test_layout layouts[] = {
	{ ASK("frequency 16 bits", frequency, 0, 0, 0), .huge_keys = 300007 },
	{ ASK("frequency 8 bits", frequency, 8, 0, 0) },
	{ ASK("frequency 8 bits z=1", frequency, 8, 1, 0), .one_new = true },
	{ ASK("frequency 32 bits", frequency, 32, 0, 0) },
};

static const struct test_layout extremes[] = {
	{ ASK("frequency 8 bits z=2 g=8", frequency, 8, 2, 8) },
	{ ASK("frequency 16 bits z=8 g=3", frequency, 16, 8, 3) },
	{ ASK("frequency 32 bits z=8 g=2", frequency, 32, 8, 2) },
};

static const struct test_subject subjects[] = {
	{ .name = "frequency", .bytes = 128,
	  .ask = { .capacity = 4, .frequency = { .counter_bits = 8, .words_per_key = 2,
	                                           .counters_per_word = 2 } } },
	{ .name = "frequency z=1", .bytes = 128, .one_new = true,
	  .ask = { .capacity = 4, .frequency = { .counter_bits = 8, .words_per_key = 1,
	                                           .counters_per_word = 3 } } },
};

static const struct test_golden goldens[] = {
	GOLDEN(WEIR_FREQUENCY, "frequency_8z2g4", 8, 2, 4, 200, 200, 175, 0xd34d5897c929f641),
	GOLDEN(WEIR_FREQUENCY, "frequency_16z4g1", 16, 4, 1, 100, 100, 157, 0x58ca4952788c48c7),
	GOLDEN(WEIR_FREQUENCY, "frequency_32z8g1", 32, 8, 1, 50, 50, 59, 0x4ac887aa3871c616),
};

const struct test_kind test_kind_frequency = {
	.id = WEIR_FREQUENCY,
	.reference = { .contains = counters_contain, .insert = insert, .count = counters_count },
	.bits_per_key = 400,
	.block_lines = counters_block_lines,
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.extremes = TEST_ROWS(extremes),
	.subjects = TEST_ROWS(subjects),
	.goldens = TEST_ROWS(goldens),
};
