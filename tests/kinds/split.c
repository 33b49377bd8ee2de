/* SPDX-License-Identifier: MIT
 * The split kind. The reference follows BloomFilter.md of the Parquet format word by word. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "kind.h"

/* ---- the reference ---- */

static uint64_t hash_of(uint64_t seed, const void *key, size_t len)
{
	(void)seed; /* the format's only seed is 0 */
	return XXH64(key, len, 0);
}

/* "the most significant 32 bits from the hash value are used as the index to select a block ... the
 * lower 32 bits ... along with eight constant salt values, are used to compute the bit to set in
 * each lane" */
static unsigned bits_of(const struct reference *ref, uint64_t hash,
                        uint64_t bits[REFERENCE_MOST_BITS])
{
	static const uint32_t salt[8] = { 0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
		                          0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U };
	const uint64_t blocks = reference_number(ref, "blocks");
	const uint64_t block = (hash >> 32) * blocks / 0x100000000;
	for (unsigned lane = 0; lane < 8; lane++) {
		const uint32_t product = (uint32_t)((hash & 0xffffffff) * salt[lane] % 0x100000000);
		bits[lane] = 256 * block + 32 * lane + product / (1u << 27);
	}
	return 8;
}

/* ---- the tables of the tests ---- */

/* The size determines the number of blocks. */
#define SHAPE { WEIR_SPLIT, .field = { 1 } }
static const struct test_shape shapes[] = { { .shape = SHAPE, .main = true, .bulk = true } };

static const struct test_layout layouts[] = { { .name = "split", .huge_keys = 3000017 } };

static const struct test_subject subjects[] = {
	{ .name = "split", .bytes = 64 },
};

static const struct test_golden goldens[] = {
	{ "split_22", { WEIR_SPLIT, .field = { 22 } }, 500, 500, 127,
	  UINT64_C(0x0f264ff85febfb3a) },
};

const struct test_kind test_kind_split = {
	.id = WEIR_SPLIT,
	.every_isa = true,
	.commutes = true,
	.sized = true,
	.unasked = true,
	.blocks_a_line = 2,
	.reference = { .hash = hash_of, .bits = bits_of },
	.shapes = TEST_ROWS(shapes),
	.layouts = TEST_ROWS(layouts),
	.subjects = TEST_ROWS(subjects),
	.goldens = TEST_ROWS(goldens),
};
