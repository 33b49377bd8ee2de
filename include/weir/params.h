/* SPDX-License-Identifier: MIT
 * What to create, and the calculator that says what it will cost. */
#ifndef WEIR_PARAMS_H
#define WEIR_PARAMS_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/kinds.h>

WEIR_BEGIN_DECLS

/** weir_params.flags */
enum weir_flags {
	WEIR_HUGETLB = 1u << 0,       /* from the reserved huge-page pool, or fail with -ENOMEM */
	WEIR_NO_HUGE_PAGES = 1u << 1, /* ask the kernel for small pages */
	WEIR_PREFAULT = 1u << 2,      /* touch every page at creation: no insert takes a fault */
};

/**
 * What to create. Start from WEIR_PARAMS_INIT, then set fields; 0 always means "not given".
 *
 * Of capacity, fp_rate and max_bytes give two and the third follows. Give all three and max_bytes
 * is a limit: creation fails with -EFBIG if the filter would need more.
 *
 * Of the numbers of its shape a kind takes those that weir_shape_field() names, and refuses others.
 */
struct weir_params {
	size_t struct_size;     /* sizeof(struct weir_params), set by WEIR_PARAMS_INIT */
	uint32_t kind;          /* enum weir_kind_id */
	uint32_t flags;         /* enum weir_flags, or'ed */
	uint64_t capacity;      /* keys the filter is to hold at fp_rate: 1 to 2^48 */
	double fp_rate;         /* false positives among absent keys, when full: 1e-9 to 0.5 */
	uint64_t max_bytes;     /* bytes of bits: 64 to 2^46 */
	uint32_t words_per_key; /* blocked: z = 1, 2, 4 or 8 words of its line a key touches */
	uint32_t bits_per_word; /* blocked: g, bits a key sets in each of those words */
	uint64_t seed;          /* of the hash; 0: random */
	void *memory;           /* where the bits go: 64-byte aligned, zeroed by weir_create,
	                           outlives the filter; NULL: own memory */
	size_t memory_bytes;    /* bytes at memory: at least weir_plan's bytes */
	uint32_t probes;        /* classic: k, bits a key sets and a lookup tests, 1 to 32 */
	uint32_t reserved;      /* 0 */
};

#define WEIR_PARAMS_INIT \
	{ sizeof(struct weir_params), WEIR_BLOCKED, 0, 0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** What a filter of given parameters will be. Start from WEIR_PLAN_INIT. */
struct weir_plan {
	size_t struct_size;     /* sizeof(struct weir_plan) */
	struct weir_shape shape; /* its kind and the kind's own numbers */
	uint32_t shards;        /* contiguous runs of lines, a power of two */
	uint64_t capacity;      /* keys */
	uint64_t bytes;         /* of bits, a multiple of 64 */
	double bits_per_key;    /* bytes * 8 / capacity */
	double fp_rate;         /* expected at capacity with these bytes, by the kind's formula */
	double fp_rate_floor;   /* no filter over 64-bit hashes does better: capacity / 2^64 */
	const char *reason;     /* a static sentence: why this shape */
};

#define WEIR_PLAN_INIT { sizeof(struct weir_plan), { 0, { 0 } }, 0, 0, 0, 0.0, 0.0, 0.0, 0 }

/**
 * The sizing calculator: any two of {capacity, fp_rate, max_bytes} give the third.
 * @params: as for weir_create(); memory and seed are ignored.
 * @out: the plan; its struct_size must be set (WEIR_PLAN_INIT).
 * Return: 0 or a negative errno.
 * Errors: -EINVAL a parameter out of its range, or fewer than two given; -EFBIG it needs more than
 *   max_bytes; -ENOTSUP an unknown kind. weir_error_detail() names parameter, value and range.
 * Threads: any.  Progress: wait-free.  Cost: under 10 ms, some milliseconds of pure arithmetic.
 * Source: Putze, Sanders, Singler 2007 (blocked); Lang, Neumann, Kemper, Boncz 2019
 *   (cache-sectorized).
 */
WEIR_API WEIR_MUST_CHECK int weir_plan(const struct weir_params *params, struct weir_plan *out);

/**
 * Ask for a shape: sets the kind, and those of its numbers that can be asked for.
 * @params: from WEIR_PARAMS_INIT; the rest of it stays.
 * @shape: as a plan, statistics or an image's info hold it.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL struct_size, or a shape that the kind does not have; -ENOTSUP an unknown kind.
 * Threads: any.  Progress: wait-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_params_ask(struct weir_params *params,
                                             const struct weir_shape *shape);

WEIR_END_DECLS

#endif
