/* SPDX-License-Identifier: MIT
 * The layout of the cuckoo kind (Fan, Andersen, Kaminsky, Mitzenmacher 2014), frozen by golden
 * files. The array is m = 8 * lines buckets of one 64-bit word. A bucket has slots of
 * fingerprint_bits each, from bit 0 on: 5 of 12 bits (the top 4 bits of the word have no meaning
 * and never change) or 4 of 16. A slot with 0 is free.
 *
 *     h            = the hash of the key
 *     bucket       = high half of h * m
 *     r            = h * 0x9E3779B97F4A7C15                    (modulo 2^64)
 *     fingerprint  = 1 + ((r >> 32) * (2^fingerprint_bits - 1) >> 32)
 *     x            = fingerprint * 0xD1342543DE82EF95          (modulo 2^64)
 *     sum          = high half of ((x ^ x >> 32) * 0xD6E8FEB86659FD93, modulo 2^64) * m
 *     other bucket = (sum - bucket) modulo m
 *
 * The relation is symmetric: a bucket is the other bucket of its other bucket. So m need not be a
 * power of two. On average one key in m has only one bucket, because both are the same. A search
 * for a free slot (search.c) moves a fingerprint to its other bucket, then one of that bucket to
 * its other bucket, and so on. Two moves change the bucket by the difference of two sums. So the
 * formula of a sum multiplies twice: else the sums would be evenly spaced, with few differences,
 * and the search would reach few buckets.
 *
 * An insert stores a copy of the fingerprint in one of the two buckets: the bucket with more free
 * slots, or the first in a tie. With WEIR_ONCE an insert stores no second copy. The copy goes into
 * the lowest free slot. If both buckets are full, the insert first frees a slot in one of them
 * (kinds/cuckoo/search.c). */
#ifndef WEIR_SRC_KINDS_CUCKOO_CUCKOO_H
#define WEIR_SRC_KINDS_CUCKOO_CUCKOO_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/params.h>
#include "kind/kind.h"

enum { WEIR_CUCKOO_WIDTH = 0, WEIR_CUCKOO_MOST_PLACES = 5 }; /* WIDTH: an index in a shape */

static inline unsigned weir__cuckoo_width(const struct weir_array *a)
{
	return a->shape.field[WEIR_CUCKOO_WIDTH];
}

WEIR__INLINE unsigned weir__cuckoo_places(unsigned width)
{
	return 64 / width;
}

/* Return: a mask of bit 0 of each slot. */
WEIR__INLINE uint64_t weir__cuckoo_ones(unsigned width)
{
	return width == 12 ? UINT64_C(0x0001001001001001) : UINT64_C(0x0001000100010001);
}

/* For each slot of @word that holds 0, return the slot's top bit. The result is exact, since no
 * carry leaves a slot. */
WEIR__INLINE uint64_t weir__cuckoo_zeros(uint64_t word, unsigned width)
{
	const uint64_t tops = weir__cuckoo_ones(width) << (width - 1);
	const uint64_t rest = tops - weir__cuckoo_ones(width);
	return ~(((word & rest) + rest) | word) & tops;
}

WEIR__INLINE bool weir__cuckoo_has(uint64_t word, unsigned fingerprint, unsigned width)
{
	return weir__cuckoo_zeros(word ^ fingerprint * weir__cuckoo_ones(width), width) != 0;
}

/* Return: the shift to the lowest of the slots that weir__cuckoo_zeros() found. */
WEIR__INLINE unsigned weir__cuckoo_lowest(uint64_t zeros, unsigned width)
{
	return (unsigned)__builtin_ctzll(zeros) - (width - 1);
}

WEIR__INLINE unsigned weir__cuckoo_at(uint64_t word, unsigned shift, unsigned width)
{
	return (unsigned)(word >> shift) & ((1u << width) - 1);
}

/* The first bucket and the fingerprint of a key. */
struct weir_cuckoo_spot {
	uint64_t bucket;
	unsigned fingerprint;
};

WEIR__INLINE struct weir_cuckoo_spot weir__cuckoo_spot(const struct weir_array *a, uint64_t hash,
                                                       unsigned width)
{
	uint64_t r = hash * UINT64_C(0x9E3779B97F4A7C15);
	return (struct weir_cuckoo_spot){
		.bucket = weir__mulhi64(hash, 8 * a->lines),
		.fingerprint = 1 + (unsigned)((r >> 32) * ((1u << width) - 1) >> 32)
	};
}

WEIR__INLINE uint64_t weir__cuckoo_other(const struct weir_array *a, uint64_t bucket,
                                         unsigned fingerprint)
{
	uint64_t x = fingerprint * UINT64_C(0xD1342543DE82EF95);
	uint64_t sum = weir__mulhi64((x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93), 8 * a->lines);
	return sum - bucket + (sum < bucket ? 8 * a->lines : 0);
}

/* ---- formulas ---- */

/* Return: the rate of absent keys answered true, if a share @load of the slots is used. */
double weir__cuckoo_rate(double load, unsigned width);
/* Return: the number of keys that @lines lines take. The chance that this number of keys does not
 * fit is at most one in a million. */
uint64_t weir__cuckoo_most(uint64_t lines, const struct weir_shape *shape);

/* The plan(), legal() and describe() of struct weir_kind. */
int weir__cuckoo_plan(const struct weir_params *params, struct weir_plan *out);
bool weir__cuckoo_legal(const struct weir_shape *shape, uint64_t lines);
void weir__cuckoo_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);

/* ---- members of struct weir_kind for whole arrays ---- */

void weir__cuckoo_measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                          struct weir_measure *sum);
bool weir__cuckoo_law(const struct weir_filter *f, struct weir_law *out);
void weir__cuckoo_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                           double *keys, double *rate);
int weir__cuckoo_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                       uint64_t n);
void weir__cuckoo_take_back(struct weir_filter *dst, const struct weir_filter *src,
                            uint64_t copies);
void weir__cuckoo_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
