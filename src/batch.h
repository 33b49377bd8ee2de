/* SPDX-License-Identifier: MIT
 * The batch pipeline, inlined into each kernel: hash a step of keys, fetch their lines, then work on the step before, whose lines have
 * come meanwhile. A filter that fits a core's own cache is not prefetched: that costs 15 % there. Nothing is called within the loop for
 * hashes and 8-byte keys: where indirect branches are not predicted (IBRS on older CPUs) a call a step drains the pipeline. */
#ifndef WEIR_SRC_BATCH_H
#define WEIR_SRC_BATCH_H

#include "hash.h"
#include "kind.h"

enum { WEIR_STEP = 64 }; /* keys a step: one word of the bitmap, and the distance at which lines are prefetched */

/* The keys of a batch. */
struct weir_batch {
	enum { WEIR_FROM_HASHES, WEIR_FROM_FIXED8, WEIR_FROM_KEYS } from;
	const void *keys;
	size_t key_bytes;
	size_t n;
	/* WEIR_FROM_KEYS: hashes of keys at .. at+n-1 into out. */
	void (*hash)(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n, uint64_t *out);
};

struct weir_batch weir__batch_hashes(const uint64_t *hashes, size_t n);
struct weir_batch weir__batch_keys(const struct iovec *keys, size_t n);
struct weir_batch weir__batch_fixed(const void *keys, size_t key_bytes, size_t n);

/* Hashes of n keys from at on into out. */
void weir__batch_hash(const struct weir_filter *f, const struct weir_batch *batch, size_t at, size_t n, uint64_t *out);

WEIR__INLINE unsigned weir__step_at(size_t n, size_t at)
{
	return n - at < WEIR_STEP ? (unsigned)(n - at) : WEIR_STEP;
}

/* The hashes of a step: where they are, or in scratch. */
WEIR__INLINE const uint64_t *weir__step_take(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n,
                                             uint64_t *scratch)
{
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)batch->keys + at;
	if (batch->from == WEIR_FROM_FIXED8)
		weir__hash8(f->view.seed, (const char *)batch->keys + 8 * at, n, scratch);
	else
		batch->hash(f, batch, at, n, scratch);
	return scratch;
}

typedef uint64_t weir__step_fn(const struct weir_filter *f, const uint64_t *hashes, unsigned n);
typedef void weir__fetch_fn(const struct weir_filter *f, const uint64_t *hashes, unsigned n);

/* The one loop of every batch; step and fetch are constants that the compiler inlines. */
WEIR__INLINE size_t weir__batch_run(const struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap, weir__step_fn *step,
                                    weir__fetch_fn *fetch)
{
	uint64_t scratch[2][WEIR_STEP];
	unsigned count = weir__step_at(batch->n, 0), turn = 0;
	const uint64_t *hashes = count ? weir__step_take(f, batch, 0, count, scratch[0]) : NULL;
	size_t positive = 0;
	bool far = f->outgrows_cache;
	if (far)
		fetch(f, hashes, count);
	for (size_t at = 0; count;) {
		unsigned next_count = weir__step_at(batch->n, at + count);
		const uint64_t *next = next_count ? weir__step_take(f, batch, at + count, next_count, scratch[turn ^= 1]) : NULL;
		if (far)
			fetch(f, next, next_count);
		uint64_t answers = step(f, hashes, count);
		positive += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR_STEP] = answers;
		at += count;
		count = next_count;
		hashes = next;
	}
	return positive;
}

#endif
