/* SPDX-License-Identifier: MIT
 * The batch pipeline, inlined into each kernel: hash a few keys, note where they lie and fetch
 * their lines, and meanwhile work on keys noted some way back, whose lines have come. The steps
 * are small, so that fetches and work interleave: a burst of fetches would fill the core's line
 * buffers and stall it. A filter that fits a core's own cache is not prefetched: that costs 15 %
 * there. Nothing is called within the loop for hashes and 8-byte keys: where indirect branches
 * are not predicted (IBRS on older CPUs) a call a step drains the core. */
#ifndef WEIR_SRC_BATCH_H
#define WEIR_SRC_BATCH_H

#include "hash.h"
#include "kind.h"

enum {
	WEIR_WINDOW = 128, /* keys that can be noted at a time, a power of two */
	/* keys that are hashed at a time: many short chains of multiplies overlap */
	WEIR_HASHED = 64,
	WEIR_AHEAD = 1024, /* bytes of keys or hashes that are fetched ahead */
};

/* The keys of a batch. */
struct weir_batch {
	enum { WEIR_FROM_HASHES, WEIR_FROM_FIXED8, WEIR_FROM_KEYS } from;
	const void *keys;
	size_t key_bytes;
	size_t n;
	/* WEIR_FROM_KEYS: hashes of keys at .. at+n-1 into out. */
	void (*hash)(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
	             size_t n, uint64_t *out);
};

struct weir_batch weir__batch_hashes(const uint64_t *hashes, size_t n);
struct weir_batch weir__batch_keys(const struct iovec *keys, size_t n);
struct weir_batch weir__batch_fixed(const struct weir_filter *f, const void *keys, size_t key_bytes,
                                    size_t n);

/* Hashes of n keys from at on into out; of a batch of keys, not of hashes. */
void weir__batch_hash(const struct weir_filter *f, const struct weir_batch *batch, size_t at,
                      size_t n, uint64_t *out);

/* What a kernel notes of a key: for each kind its own numbers, a row each; key i of a batch in
 * column i % WEIR_WINDOW. */
struct weir_notes {
	uint64_t row[3][WEIR_WINDOW];
} __attribute__((aligned(64)));

WEIR__INLINE unsigned weir__least(size_t left, unsigned most)
{
	return left < most ? (unsigned)left : most;
}

/* Hashes of n keys from at on: where they are, or in scratch. */
WEIR__INLINE const uint64_t *weir__batch_take(const struct weir_filter *f, uint64_t flip8,
                                              const struct weir_batch *batch, size_t at, unsigned n,
                                              uint64_t *scratch)
{
	const char *keys = (const char *)batch->keys + 8 * at;
	if (batch->from == WEIR_FROM_KEYS) {
		batch->hash(f, batch, at, n, scratch);
		return scratch;
	}
	/* The lines of the array come between the keys of a long batch, and the hardware's own
	 * prefetcher loses the thread. */
	for (unsigned line = 0; line < WEIR_HASHED * 8; line += 64)
		__builtin_prefetch(keys + WEIR_AHEAD + line, 0, 3);
	if (batch->from == WEIR_FROM_HASHES)
		return (const uint64_t *)(const void *)keys;
	weir__hash8_each(flip8, keys, n, scratch);
	return scratch;
}

/* Note n keys from column at on, and fetch their lines if the filter outgrows the cache (far). */
typedef void weir__note_fn(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                           bool far, struct weir_notes *notes, unsigned at);
/* Work on n noted keys; the answers as bits. */
typedef uint64_t weir__work_fn(const struct weir_array *a, bool far,
                               const struct weir_notes *notes, unsigned at, unsigned n);

/* The one loop of every batch. step: keys at a time, a power of two up to 64; lead: keys noted
 * ahead, a multiple of step below WEIR_WINDOW; both and note and work are constants that the
 * compiler inlines. */
WEIR__INLINE size_t weir__batch_run(const struct weir_filter *f, const struct weir_batch *batch,
                                    uint64_t *bitmap, unsigned step, unsigned lead,
                                    weir__note_fn *note, weir__work_fn *work)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64))), answers = 0;
	struct weir_notes notes;
	/* a copy that no store can alias, so that it stays in registers */
	const struct weir_array array = f->array;
	size_t n = batch->n, positive = 0;
	bool far = f->outgrows_cache;
	const uint64_t *hashes = NULL;
	for (size_t noted = 0, worked = 0; worked < n; noted += step) {
		if (noted < n) {
			if (noted % WEIR_HASHED == 0)
				hashes = weir__batch_take(f, array.flip8, batch, noted,
				                          weir__least(n - noted, WEIR_HASHED),
				                          scratch);
			note(&array, hashes + noted % WEIR_HASHED, weir__least(n - noted, step), far,
			     &notes, noted % WEIR_WINDOW);
		}
		if (noted < lead)
			continue;
		answers |= work(&array, far, &notes, worked % WEIR_WINDOW,
		                weir__least(n - worked, step))
		        << (worked % 64);
		worked += step;
		if (worked % 64 && worked < n)
			continue;
		positive += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[(worked - 1) / 64] = answers;
		answers = 0;
	}
	return positive;
}

#endif
