/* SPDX-License-Identifier: MIT
 * What a filter is inside, what a kind is, and what a kernel is.
 *
 * A kind is its own source in kinds/ and its line in <weir/kinds.h>. It knows its shape, its
 * mathematics and its kernels; all else in the library knows an array of lines of 64 bytes, and
 * asks the kind through the members below. A member that a kind lacks is NULL, and whoever needs it
 * answers with weir__kind_cannot(). */
#ifndef WEIR_SRC_KIND_H
#define WEIR_SRC_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/filter.h>
#include <weir/inline.h>
#include <weir/params.h>
#include "atomic.h"
#include "cpu.h"
#include "hash.h"
#include "memory.h"

struct weir_batch;

/*
 * The hot functions of one kind for one instruction set and one shape; chosen at creation, never
 * again. Batches come whole (batch.h), so that nothing is called within the loop over keys; each
 * returns how many were answered true or new, and the answers go into bitmap unless it is NULL.
 *
 * What may be done to a private filter, and to a part of it, follows from two laws:
 * L1  The top partition_bits bits of a hash choose the run of lines that its key lies in: of 2^p
 *     equal runs, p at most that, run i holds the keys whose top p bits are i, and no others. So
 *     hashes sorted by those bits are loaded run by run, each by its owner alone (O1).
 *     0: a key may lie anywhere.
 * L2  stages_or: a run may be loaded into a private copy of it, and what that adds be or'ed into the
 *     filter word by word. Needs L1, and that a word's bits only go from 0 to 1 (B1), and that no
 *     answer of an insert is decided by a single or (with one word a key, it is).
 */
struct weir_kernel {
	enum weir_isa isa;
	struct weir_verbs verbs; /* its inserts are NULL where the kind takes none */
	size_t (*contains_batch)(const struct weir_filter *f, const struct weir_batch *batch,
	                         uint64_t *bitmap);
	/* NULL with the inserts above; a negative errno: none, or no more, could be taken. */
	int64_t (*insert_batch)(struct weir_filter *f, const struct weir_batch *batch,
	                        uint64_t *bitmap);
	/* As insert_batch, by plain stores into lines that are the caller's alone (L1): it cannot
	 * refuse. NULL: none. */
	int64_t (*load)(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap);
	unsigned partition_bits; /* L1 */
	bool stages_or;          /* L2 */
	/* As weir_remove_hash() and weir_count_hash(). NULL: cannot. */
	int (*remove)(struct weir_filter *f, uint64_t hash);
	int64_t (*count)(const struct weir_filter *f, uint64_t hash);
};

/* What is counted over runs of lines: sums, so that runs add up. */
struct weir_measure {
	uint64_t lines; /* looked at */
	uint64_t cells; /* bits, counters or slots in them: the kind's choice */
	uint64_t used;  /* of those, not 0 */
	double rate;    /* the kind's own: for its estimate() */
};

struct weir_kind {
	uint32_t id; /* enum weir_kind_id */
	const char *name;
	const struct weir_hash *hash; /* from a key to its 64 bits */
	/* The names of the shape's numbers, as struct weir_params has those that can be asked for. */
	const char *fields[WEIR_SHAPE_FIELDS];

	/* From checked parameters; the sentence is set on failure. */
	int (*plan)(const struct weir_params *params, struct weir_plan *out);
	/* Has the kind such a shape, in so many lines? Asked of images: nobody has checked it. */
	bool (*legal)(const struct weir_shape *shape, uint64_t lines);
	/* In words. */
	void (*describe)(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);
	/* NULL where the kind has no kernel for that instruction set. */
	const struct weir_kernel *(*kernel)(enum weir_isa isa, const struct weir_shape *shape);

	/* Add lines first .. first+n-1 to a measure; from a measure, keys and current rate. */
	void (*measure)(const struct weir_filter *f, uint64_t first, uint64_t n,
	                struct weir_measure *sum);
	void (*estimate)(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
	                 double *rate);

	/* ---- NULL: cannot ---- */

	/* Lines first .. first+n-1 of src into dst, of one shape, size and hash identity, both in
	 * use. Return: 0 or a negative errno with its sentence. */
	int (*merge)(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
	             uint64_t n);
	/* Those lines as they are now, into out, while others insert: every key that lay in them
	 * before the call is found in the copy. */
	void (*snapshot)(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);
	/* The keys of f into the factor times smaller dst, which is private. */
	int (*fold)(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor);
	/* All the keys at once, into a private and empty filter. */
	int (*build)(struct weir_filter *f, const uint64_t *hashes, size_t n);
	/* For callers that inline the verbs (<weir/inline.h>). */
	int (*view)(const struct weir_filter *f, struct weir_inline *out);
};

/* kind.c: the one answer for what a kind lacks: "kind blocked cannot remove keys". -ENOTSUP. */
int weir__kind_cannot(const struct weir_kind *kind, const char *verb);

/* What every verb reads and none writes. */
struct weir_array {
	uint64_t *words; /* 8 a line, 64-byte aligned, little-endian in memory (B3) */
	uint64_t lines;
	uint64_t seed;
	uint64_t flip8;  /* weir__flip8(seed): for keys of eight bytes that XXH3 hashes */
	struct weir_shape shape;
};

struct weir_filter {
	struct weir_verbs verbs; /* first: the public header calls through it */
	struct weir_array array;

	const struct weir_kernel *kernel;
	const struct weir_kind *kind;
	int insert_error;    /* 0; what inserts answer: -EROFS mapped read-only, -ENOTSUP the kind */
	enum weir_isa isa;   /* of the machine; a kind may have no kernel of its own for it */
	bool outgrows_cache; /* larger than this core's own cache: batches prefetch */
	uint32_t shards;     /* a power of two that divides the lines */
	uint64_t bytes;      /* of bits: 64 * lines */
	uint64_t capacity;
	double fp_rate;
	struct weir_memory memory;
	uint32_t parts;      /* runs of shards that fit the cache, a power of two, within L1 */
	struct weir_owner owners[]; /* one a part */
};

/* The line that a hash's top bits choose: its key's own by L1, elsewhere as good a guess as any for
 * what to fetch. */
static inline uint64_t *weir__line(const struct weir_array *a, uint64_t hash)
{
	return a->words + 8 * weir__mulhi64(hash, a->lines);
}

#endif
