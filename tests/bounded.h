/* SPDX-License-Identifier: MIT
 * Kinds that exist only in tests, to show how a handle treats filters that refuse and remove keys.
 * A bounded filter has an array of counters and a limit of copies. Keys whose hashes are equal
 * modulo the number of counters share a counter. Any number of threads may use the filter. Only one
 * of the two kinds can remove keys. */
#ifndef WEIR_TESTS_BOUNDED_H
#define WEIR_TESTS_BOUNDED_H

#include <stdatomic.h>
#include "kind/batch.h"
#include "ground/error.h"
#include "filter/filter.h"

enum { BOUNDED_SEED = 1 };

/* Return: word @i of the array. Word 0 counts all copies. Each other word is a counter: it counts
 * the copies of the keys that share it. */
static inline _Atomic uint64_t *bounded_word(const struct weir_filter *f, uint64_t i)
{
	return (_Atomic uint64_t *)(f->array.words + i);
}

static inline _Atomic uint64_t *bounded_counter(const struct weir_filter *f, uint64_t hash)
{
	return bounded_word(f, 1 + hash % (8 * f->array.lines - 1));
}

static inline uint64_t bounded_most(const struct weir_filter *f)
{
	return f->array.shape.field[0];
}

static inline bool bounded_holds_hash(const struct weir_filter *f, uint64_t hash)
{
	return atomic_load_explicit(bounded_counter(f, hash), memory_order_relaxed) != 0;
}

static inline bool bounded_holds(const struct weir_filter *f, const void *key, size_t len)
{
	return bounded_holds_hash(f, weir_hash(f, key, len));
}

static inline int bounded_put_hash(struct weir_filter *f, uint64_t hash)
{
	uint64_t all = atomic_load_explicit(bounded_word(f, 0), memory_order_relaxed);
	do
		if (all >= bounded_most(f))
			return weir__fail(-ENOSPC, "%llu copies are all it takes",
			                  (unsigned long long)bounded_most(f));
	while (!atomic_compare_exchange_strong_explicit(bounded_word(f, 0), &all, all + 1,
	                                                memory_order_relaxed,
	                                                memory_order_relaxed));
	return atomic_fetch_add_explicit(bounded_counter(f, hash), 1, memory_order_relaxed) ?
	               WEIR_SEEN :
	               WEIR_NEW;
}

static inline int bounded_put(struct weir_filter *f, const void *key, size_t len)
{
	return bounded_put_hash(f, weir_hash(f, key, len));
}

static inline uint64_t bounded_hash_at(const struct weir_filter *f, const struct weir_batch *batch,
                                       size_t i)
{
	uint64_t hash;
	if (batch->from == WEIR_FROM_HASHES)
		return ((const uint64_t *)batch->keys)[i];
	weir__batch_hash(f, batch, i, 1, &hash);
	return hash;
}

static inline size_t bounded_holds_batch(const struct weir_filter *f,
                                         const struct weir_batch *batch, uint64_t *bitmap)
{
	size_t found = 0;
	for (size_t i = 0; i < batch->n; i++) {
		bool there = bounded_holds_hash(f, bounded_hash_at(f, batch, i));
		if (bitmap && i % 64 == 0)
			bitmap[i / 64] = 0;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)there << i % 64;
		found += there;
	}
	return found;
}

static inline int64_t bounded_put_batch(struct weir_filter *f, const struct weir_batch *batch,
                                        uint64_t *bitmap)
{
	int64_t fresh = 0;
	for (size_t word = 0; bitmap && word < WEIR_BITMAP_WORDS(batch->n); word++)
		bitmap[word] = 0;
	for (size_t i = 0; i < batch->n; i++) {
		int answer = bounded_put_hash(f, bounded_hash_at(f, batch, i));
		if (answer < 0)
			return weir__stopped(i, answer);
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)answer << i % 64;
		fresh += answer;
	}
	return fresh;
}

static inline int bounded_remove(struct weir_filter *f, uint64_t hash)
{
	_Atomic uint64_t *counter = bounded_counter(f, hash);
	uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);
	do
		if (!count)
			return 0;
	while (!atomic_compare_exchange_strong_explicit(
		counter, &count, count - 1, memory_order_relaxed, memory_order_relaxed));
	atomic_fetch_sub_explicit(bounded_word(f, 0), 1, memory_order_relaxed);
	return 1;
}

static inline int64_t bounded_count(const struct weir_filter *f, uint64_t hash)
{
	return (int64_t)atomic_load_explicit(bounded_counter(f, hash), memory_order_relaxed);
}

static inline void bounded_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n,
                                    uint64_t *out)
{
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++)
		*out++ = atomic_load_explicit(bounded_word(f, i), memory_order_relaxed);
}

static inline int bounded_merge(struct weir_filter *dst, const struct weir_filter *src,
                                uint64_t first, uint64_t n)
{
	for (uint64_t i = 8 * first; i < 8 * (first + n); i++)
		atomic_fetch_add_explicit(bounded_word(dst, i),
		                          atomic_load_explicit(bounded_word(src, i),
		                                               memory_order_relaxed),
		                          memory_order_relaxed);
	return 0;
}

static inline void bounded_measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                                   struct weir_measure *sum)
{
	sum->lines += n;
	sum->cells += 8 * n;
	if (first == 0)
		sum->used += atomic_load_explicit(bounded_word(f, 0), memory_order_relaxed);
}

static inline void bounded_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                                    double *keys, double *rate)
{
	(void)f;
	*keys = (double)sum->used;
	*rate = 0;
}

#define BOUNDED_VERBS \
	.verbs = { .contains = bounded_holds, .contains_hash = bounded_holds_hash, \
		   .insert = bounded_put, .insert_hash = bounded_put_hash }, \
	.contains_batch = bounded_holds_batch, .insert_batch = bounded_put_batch, \
	.count = bounded_count

static inline const struct weir_kernel *bounded_kernel(enum weir_isa isa,
                                                       const struct weir_shape *shape)
{
	static const struct weir_kernel removes = { BOUNDED_VERBS, .remove = bounded_remove },
	                                keeps = { BOUNDED_VERBS };
	(void)isa;
	return shape->kind == 4720 ? &removes : &keeps;
}

#define BOUNDED_KIND(number, text) \
	{ .id = number, .name = text, .hash = &weir__xxh3, .can = WEIR_CAN_PUBLISH, \
	  .kernel = bounded_kernel, \
	  .most = bounded_most, .measure = bounded_measure, .estimate = bounded_estimate, \
	  .snapshot = bounded_snapshot, .merge = bounded_merge }

static const struct weir_kind bounded_removes = BOUNDED_KIND(4720, "bounded toy");
static const struct weir_kind bounded_keeps = BOUNDED_KIND(4721, "bounded toy that keeps");

/* Return: a filter for @most copies in @lines lines, or NULL. @flags: enum weir_flags. */
static inline struct weir_filter *bounded_make_with(const struct weir_kind *kind, uint64_t lines,
                                                    uint32_t most, uint32_t flags)
{
	const struct weir_layout layout = {
		.kind = kind,
		.hashing = weir__hashing_seeded(kind->hash, BOUNDED_SEED),
		.shape = { .kind = kind->id, .field = { most } },
		.shards = 1,
		.lines = lines,
		.capacity = most,
		.fp_rate = 0.01,
		.flags = flags
	};
	struct weir_memory memory;
	struct weir_filter *f = NULL;
	if (weir__memory_alloc(&memory, 64 * lines, 0, NULL, 0))
		return NULL;
	return weir__filter_make(&f, &layout, &memory, 0) ? NULL : f;
}

static inline struct weir_filter *bounded_make(const struct weir_kind *kind, uint64_t lines,
                                               uint32_t most)
{
	return bounded_make_with(kind, lines, most, 0);
}

#endif
