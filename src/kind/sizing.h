/* SPDX-License-Identifier: MIT
 * The last step of every kind's plan: compute one of capacity, fp_rate and max_bytes from the other
 * two, by the kind's own formula. */
#ifndef WEIR_SRC_KIND_SIZING_H
#define WEIR_SRC_KIND_SIZING_H

#include <stdint.h>
#include <weir/params.h>

/* A filter's array consists of 64-byte lines, cut into shards of equal size. The number of shards
 * is a power of two up to 65536. If there are at least two, each has at least 1024 lines. */

#define WEIR__MOST_SHARDS 65536
#define WEIR__SHARD_LINES 1024

/* Return: the lines that hold @bits bits, rounded up to a multiple of @block and of the shards. If
 * @wanted is 0, rounding adds less than one block to a single shard, and at most 0.4 % to several.
 * @block: lines of a block, 1 to 4.  @wanted: the number of shards, or 0 to choose one.
 * @shards: receives the number of shards. */
uint64_t weir__lines(double bits, uint32_t block, uint32_t wanted, uint32_t *shards);
/* Return: the lines that fit in @bytes, rounded down to a multiple of @block and of the shards. The
 * result is 0 if a shard would have less than one block.
 * @bytes: at least 64.  Other parameters: as for weir__lines(). */
uint64_t weir__lines_within(uint64_t bytes, uint32_t block, uint32_t wanted, uint32_t *shards);

/* ---- the last step of a plan ---- */

/* The limits that weir_plan_make() checks. */
#define WEIR__MOST_KEYS (UINT64_C(1) << 48)
#define WEIR__MOST_BYTES (UINT64_C(1) << 46)
#define WEIR__MOST_RATE 0.5
/* 2^64. A kind cannot distinguish two keys with one hash, so no rate is below capacity / 2^64. */
#define WEIR__HASHES 18446744073709551616.0

/* A kind's formulas: the fewest bits a key for a rate, and the rate for a number of bits a key. */
struct weir_formula {
	double (*bits)(double fp_rate, const struct weir_shape *shape);
	double (*rate)(double bits_per_key, const struct weir_shape *shape);
	uint32_t block_lines; /* lines of a block, added or dropped together; 0 means 1 */
	/* The most keys that @lines lines take at any rate. More lines never take fewer keys. NULL:
	 * no limit. */
	uint64_t (*most)(uint64_t lines, const struct weir_shape *shape);
};

/* The goal when a kind chooses its shape. Exactly one of the two fields is not 0. */
struct weir_wanted {
	double fp_rate;      /* the requested rate, minus the rate of equal 64-bit hashes */
	double bits_per_key; /* the bits that max_bytes allows, if no rate is given */
};
struct weir_wanted weir__wanted(const struct weir_params *params);

/* Check that @bytes leave each of @shards shards 1024 lines or more. Return: 0 or -EINVAL. */
int weir__shards_fit(uint32_t shards, uint64_t bytes);

/* Complete a plan whose shape is chosen: set capacity, bytes, shards, bits_per_key and the rates.
 * Return: 0 or a negative errno. */
int weir__size_complete(const struct weir_params *params, const struct weir_formula *formula,
                        struct weir_plan *out);

#endif
