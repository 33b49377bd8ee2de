/* SPDX-License-Identifier: MIT
 * The last step of every kind's plan: one of {capacity, fp_rate, max_bytes} from the other two, by
 * the kind's own formula. */
#ifndef WEIR_SRC_KIND_SIZING_H
#define WEIR_SRC_KIND_SIZING_H

#include <stdint.h>
#include <weir/params.h>

/* A filter's array is lines of 64 bytes, cut into shards: equal runs of lines. The number of shards
 * is a power of two up to 65536. If there are two or more, each has at least 1024 lines. */

#define WEIR__MOST_SHARDS 65536
#define WEIR__SHARD_LINES 1024

/* The lines that hold @bits bits, rounded up (by at most 0.4 % if @wanted is 0) to a multiple of
 * the shards, each of whole blocks.
 * @block: lines of a block, 1 to 4.  @wanted: shards, or 0 to have them chosen.
 * @shards: receives their number. */
uint64_t weir__lines(double bits, uint32_t block, uint32_t wanted, uint32_t *shards);
/* The lines that fit in @bytes, at least 64, rounded down in the same way. 0: too few for one block
 * in each of the shards wanted. */
uint64_t weir__lines_within(uint64_t bytes, uint32_t block, uint32_t wanted, uint32_t *shards);

/* ---- the last step of a plan ---- */

/* The limits that weir_plan_make() checks. */
#define WEIR__MOST_KEYS (UINT64_C(1) << 48)
#define WEIR__MOST_BYTES (UINT64_C(1) << 46)
#define WEIR__MOST_RATE 0.5
/* 2^64. No kind can distinguish two keys with one hash, so no rate is below capacity / 2^64. */
#define WEIR__HASHES 18446744073709551616.0

/* A kind's own mathematics: the fewest bits a key for a rate, and the rate for some bits a key. */
struct weir_formula {
	double (*bits)(double fp_rate, const struct weir_shape *shape);
	double (*rate)(double bits_per_key, const struct weir_shape *shape);
	uint32_t block_lines; /* lines that come only together; 0: one */
	/* The most keys that @lines lines take, whatever the rate: never fewer for more lines.
	 * NULL: no limit. */
	uint64_t (*most)(uint64_t lines, const struct weir_shape *shape);
};

/* The goal when a kind chooses its shape. Exactly one of the two is not 0. */
struct weir_wanted {
	double fp_rate;      /* the rate asked for, minus the floor of 64-bit hashes */
	double bits_per_key; /* that the size allows, if no rate is given */
};
struct weir_wanted weir__wanted(const struct weir_params *params);

/* Is there room for that many shards, if the caller asked for them? Return: 0 or -EINVAL. */
int weir__shards_fit(uint32_t shards, uint64_t bytes);

/* Complete a plan whose shape is chosen: capacity, bytes, shards, bits_per_key and the rates.
 * Return: 0 or a negative errno. */
int weir__size_complete(const struct weir_params *params, const struct weir_formula *formula,
                        struct weir_plan *out);

#endif
