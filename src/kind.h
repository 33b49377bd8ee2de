/* SPDX-License-Identifier: MIT
 * What a filter is inside, what a kind is, and what a kernel is. */
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
#include "memory.h"

struct weir_batch;

/* The hot functions of one kind for one instruction set and one layout; chosen at creation,
 * never again. */
struct weir_kernel {
	enum weir_isa isa;
	struct weir_verbs verbs;
	/* Whole batches (batch.h), so that nothing is called within the loop over keys. Each
	 * returns how many answered true or new; the answers go into bitmap unless it is NULL. */
	size_t (*contains_batch)(const struct weir_filter *f, const struct weir_batch *batch,
	                         uint64_t *bitmap);
	size_t (*insert_batch)(struct weir_filter *f, const struct weir_batch *batch,
	                       uint64_t *bitmap);
	/* As insert_batch, by plain stores into bits that are the caller's alone; NULL: the kind
	 * has no shard ownership. */
	size_t (*load)(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap);
};

/* Counted over whole blocks of a filter's bits. */
struct weir_tally {
	uint64_t blocks; /* looked at */
	uint64_t ones;   /* bits set in them */
	/* blocked: over blocks, the chance that a random key of that block is answered true */
	double rate_sum;
};

struct weir_kind {
	uint32_t id; /* enum weir_kind_id */
	const char *name;
	/* Fill a plan from checked parameters; the sentence is set on failure. */
	int (*plan)(const struct weir_params *params, struct weir_plan *out);
	/* Whether the kind has such a layout: asked of images, whose fields nobody has checked. */
	bool (*layout_legal)(uint32_t z, uint32_t g);
	/* NULL where the kind has no kernel for that instruction set. */
	const struct weir_kernel *(*kernel)(enum weir_isa isa, uint32_t z, uint32_t g);
	/* Add blocks first .. first+n-1 to a tally. */
	void (*tally)(const struct weir_filter *f, uint64_t first, uint64_t n,
	              struct weir_tally *tally);
	/* From a tally: keys and current rate. */
	void (*estimate)(const struct weir_filter *f, const struct weir_tally *tally, double *keys,
	                 double *rate);
	/* Or the bits of f into the factor times smaller dst, which is private. NULL: cannot
	 * fold. */
	void (*fold)(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor);
	/* Verbs that only some kinds have; NULL is answered -ENOTSUP in filter.c. */
	int (*remove)(struct weir_filter *f, const void *key, size_t len);
	int64_t (*count)(const struct weir_filter *f, const void *key, size_t len);
};

struct weir_mapping; /* what image_map.c keeps of a mapped image */

struct weir_filter {
	/* One cache line that every verb reads and none writes. */
	struct weir_verbs verbs; /* first: the public header calls through it */
	struct weir_inline view; /* words, nblocks (64-byte lines, whatever the kind), seed, z, g */

	const struct weir_kernel *kernel;
	const struct weir_kind *kind;
	enum weir_isa isa;   /* of the machine; a kind may have no kernel of its own for it */
	bool outgrows_cache; /* larger than this core's own cache: batches prefetch */
	/* a power of two that divides nblocks: shard of a hash = its top log2(shards) bits
	 * (blocked) */
	uint32_t shards;
	uint64_t bytes;      /* of bits: 64 * nblocks */
	uint64_t capacity;
	double fp_rate;
	struct weir_memory memory;
	struct weir_mapping *mapping; /* NULL unless mapped */
	/* runs of shards that fit the cache, a power of two: what a bulk load takes one by one */
	uint32_t parts;
	struct weir_owner owners[];   /* one a part */
};

/* kinds.c: the table of kinds. NULL: unknown. */
const struct weir_kind *weir__kind(uint32_t id);
extern const struct weir_kind weir__kind_blocked;
extern const struct weir_kind weir__kind_classic;

/*
 * filter.c: make a filter of a known layout around given memory (image.c, clone, fold).
 * @layout: kind, words_per_key, bits_per_word, shards, bytes, capacity, fp_rate are taken as they
 *   are, already checked.
 * @memory: the bits, layout->bytes of them at memory->bits; owned by the filter on success, still
 *   the caller's on failure.
 * @insert_error: 0, or what inserts answer (-EROFS).
 */
int weir__filter_make(struct weir_filter **out, const struct weir_plan *layout, uint64_t seed,
                      const struct weir_memory *memory, int insert_error);

/* filter.c: equal for equal seeds; tells 32 bits of a seed's 64, so it is for whoever may see
 * the image. */
uint64_t weir__seed_fingerprint(uint64_t seed);

/* filter.c: the layout of a filter as a plan: kind, words_per_key, bits_per_word, shards, bytes,
 * capacity, fp_rate. */
void weir__filter_layout(const struct weir_filter *f, struct weir_plan *out);

/* union.c: an empty filter of the same layout and seed, in memory of its own. */
int weir__filter_like(struct weir_filter **out, const struct weir_filter *f);
/* union.c: 0 if weir_merge() can, else its error and sentence. */
int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src);

/* image_map.c: may other processes insert into it too? */
bool weir__is_live(const struct weir_filter *f);
/* image_map.c: forget a mapping; the memory itself is released by weir__memory_free. */
void weir__mapping_free(struct weir_mapping *mapping);

#endif
