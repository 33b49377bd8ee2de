/* SPDX-License-Identifier: MIT
 * The growing kind's kernels, compiled for one instruction set (ground/system.h). They use the
 * tests and sets of <weir/inline.h> on every layer. There is one kernel for each layout of
 * inline_layouts.h, and one for all other layouts.
 *
 * A lookup prefetches the lines of all layers before testing, so that cache misses overlap. */
#include "ground/system.h"
#if defined(KERNEL_SCALAR)
#define WEIR_INLINE_SCALAR 1
#endif
#include <weir/inline.h>
#include "growing/growing.h"
#include "kind/batch.h"

enum {
	CHUNK = WEIR_HASHED, /* keys worked on at a time, while the next chunk's lines arrive */
	NEAR_FULL = 1024,    /* if a layer is this many counted keys short of full, or less, a batch
	                        inserts key by key, so that batches do not overfill the layer */
};

WEIR__INLINE uint64_t *line_of(const struct weir__layers *s, unsigned i, uint64_t h)
{
	return s->bits[i].words + 8 * weir__mulhi64(h, s->bits[i].lines);
}

/* Prefetch the lines of all layers. An insert prefetches the newest layer's line for writing, since
 * it writes only to that line. */
WEIR__INLINE void fetch(const struct weir__layers *s, uint64_t h, bool insert)
{
	for (unsigned i = 0; i + insert < s->n; i++)
		__builtin_prefetch(line_of(s, i, h), 0, WEIR_TO_L2);
	if (insert)
		__builtin_prefetch(line_of(s, s->n - 1, h), 1, WEIR_TO_L1);
}

/* Test the newest layer first, since it has most of the keys. */
#define LOOK(s, n, h, r, z, g, test) \
	do { \
		for (unsigned i = (n); i-- > 0;) \
			if (test(line_of(s, i, h), r, z, g)) \
				return true; \
		return false; \
	} while (0)

/* One chunk of the hashes of a batch. */
struct chunk {
	uint64_t scratch[CHUNK] __attribute__((aligned(64)));
	const uint64_t *hashes;
	unsigned n;
};

WEIR__INLINE void chunk_take(struct chunk *c, const struct weir_filter *f,
                             const struct weir_batch *batch, size_t at)
{
	c->n = at < batch->n ? weir__least(batch->n - at, CHUNK) : 0;
	c->hashes = c->n ? weir__batch_take(f, f->array.flip8, batch, at, c->n, c->scratch) :
	                   c->scratch;
}

WEIR__INLINE void chunk_fetch(const struct chunk *c, const struct weir__layers *s, bool insert)
{
	for (unsigned i = 0; i < c->n && s->far; i++)
		fetch(s, c->hashes[i], insert);
}

/* Return: true if a whole chunk may go into the newest layer of this record. */
WEIR__INLINE bool takes_chunk(const struct weir__layers *s)
{
	const struct weir__layer *newest = s->layer[s->n - 1];
	return !weir__closed_load_relaxed(&s->closed) &&
	       weir__figure_load_relaxed(&newest->keys) + NEAR_FULL < newest->full;
}

/* ---- functions by key: each hashes the key and calls the function by hash ---- */

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	return f->verbs.contains_hash(f, weir__hash(f->array.seed, key, len));
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return f->verbs.insert_hash(f, weir__hash(f->array.seed, key, len));
}

static bool contains_u64(const struct weir_filter *f, uint64_t key)
{
	return f->verbs.contains_hash(f, weir__hash_u64(f->array.flip8, key));
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	return f->verbs.insert_hash(f, weir__hash_u64(f->array.flip8, key));
}

#define KERNEL_FUNCTIONS(name, z, g, test_one, test, set) \
	WEIR__INLINE bool older_##name(const struct weir_filter *f, const struct weir__layers *s, \
	                               unsigned n, uint64_t h, uint64_t r) \
	{ \
		(void)f; \
		LOOK(s, n, h, r, z, g, test_one); \
	} \
	WEIR__INLINE bool each_##name(const struct weir_filter *f, const struct weir__layers *s, \
	                              uint64_t h) \
	{ \
		const uint64_t r = weir__remix(h); \
		(void)f; \
		LOOK(s, s->n, h, r, z, g, test); \
	} \
	static bool contains_hash_##name(const struct weir_filter *f, uint64_t h) \
	{ \
		const struct weir__layers *s = weir__layers_now(f); \
		if (s->far && s->n > 1) \
			fetch(s, h, false); \
		return older_##name(f, s, s->n, h, weir__remix(h)); \
	} \
	/* Insert into the newest layer, unless an older layer has the key. @counted: increased
	 * if the key is new and in the sample ([SAMPLED-COUNT]). */ \
	WEIR__INLINE int put_##name(const struct weir_filter *f, const struct weir__layers *s, \
	                            uint64_t h, uint64_t *counted) \
	{ \
		const struct weir__layer_bits *newest = &s->bits[s->n - 1]; \
		const uint64_t r = weir__remix(h), block = weir__mulhi64(h, newest->lines); \
		if (s->n > 1 && older_##name(f, s, s->n - 1, h, r)) \
			return WEIR_SEEN; \
		int answer = set(newest->words + 8 * block, r, z, g); \
		*counted += answer != 0 && (block & s->sample) == 0; \
		return answer; \
	} \
	static int insert_hash_##name(struct weir_filter *f, uint64_t h) \
	{ \
		for (;;) { \
			struct weir__layers *s = weir__layers_now(f); \
			uint64_t counted = 0; \
			if (s->far && s->n > 1) \
				fetch(s, h, true); \
			if (!weir__closed_load_relaxed(&s->closed)) { \
				int answer = put_##name(f, s, h, &counted); \
				if (counted) \
					weir__growing_count(f, s, counted); \
				return answer; \
			} \
			if (older_##name(f, s, s->n, h, weir__remix(h))) \
				return WEIR_SEEN; \
			int err = weir__growing_advance(f, s); \
			if (err) \
				return err; \
		} \
	} \
	static size_t contains_batch_##name(const struct weir_filter *f, \
	                                    const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		const struct weir__layers *s = weir__layers_now(f); \
		struct chunk both[2]; \
		size_t positive = 0; \
		chunk_take(&both[0], f, batch, 0); \
		chunk_fetch(&both[0], s, false); \
		for (size_t at = 0; at < batch->n; at += CHUNK) { \
			const struct chunk *c = &both[at / CHUNK % 2]; \
			struct chunk *next = &both[at / CHUNK % 2 ^ 1]; \
			uint64_t answers = 0; \
			chunk_take(next, f, batch, at + CHUNK); \
			for (unsigned i = 0; i < c->n; i++) { \
				if (s->far && i < next->n) \
					fetch(s, next->hashes[i], false); \
				answers |= (uint64_t)each_##name(f, s, c->hashes[i]) << i; \
			} \
			positive += (size_t)__builtin_popcountll(answers); \
			if (bitmap) \
				bitmap[at / CHUNK] = answers; \
		} \
		return positive; \
	} \
	static int64_t insert_batch_##name(struct weir_filter *f, const struct weir_batch *batch, \
	                                   uint64_t *bitmap) \
	{ \
		struct chunk both[2]; \
		int64_t fresh = 0; \
		chunk_take(&both[0], f, batch, 0); \
		chunk_fetch(&both[0], weir__layers_now(f), true); \
		for (size_t at = 0; at < batch->n; at += CHUNK) { \
			struct weir__layers *s = weir__layers_now(f); \
			const struct chunk *c = &both[at / CHUNK % 2]; \
			struct chunk *next = &both[at / CHUNK % 2 ^ 1]; \
			uint64_t answers = 0, counted = 0; \
			bool whole = takes_chunk(s); \
			chunk_take(next, f, batch, at + CHUNK); \
			for (unsigned i = 0; i < c->n; i++) { \
				if (s->far && i < next->n) \
					fetch(s, next->hashes[i], true); \
				int answer = whole ? put_##name(f, s, c->hashes[i], &counted) : \
				                     insert_hash_##name(f, c->hashes[i]); \
				if (answer < 0) \
					return weir__batch_stopped(batch, at + i, answers, bitmap, \
					                           answer); \
				answers |= (uint64_t)answer << i; \
			} \
			if (counted) \
				weir__growing_count(f, s, counted); \
			fresh += __builtin_popcountll(answers); \
			if (bitmap) \
				bitmap[at / CHUNK] = answers; \
		} \
		return fresh; \
	}

#define KERNEL(z, g) \
	KERNEL_FUNCTIONS(z##_##g, z, g, weir__test_narrow, weir__test, weir__set)
WEIR__LAYOUTS(KERNEL)
#undef KERNEL
/* Layouts without a kernel of their own. */
KERNEL_FUNCTIONS(any, f->array.shape.field[WEIR_GROWING_Z], f->array.shape.field[WEIR_GROWING_G],
                 weir__test_any, weir__test_any, weir__set_any)

#define KERNEL_ENTRY(name) \
	{ \
		.isa = KERNEL_ISA, \
		.verbs = { contains, contains_hash_##name, insert, insert_hash_##name, \
		           contains_u64, insert_u64 }, \
		.contains_batch = contains_batch_##name, \
		.insert_batch = insert_batch_##name, \
	}
#define KERNEL(z, g) [WEIR_BLOCKED_SLOT(z, g)] = KERNEL_ENTRY(z##_##g),
const struct weir_kernel KERNEL_NAME(weir__growing)[WEIR_BLOCKED_SLOTS] = {
	WEIR__LAYOUTS(KERNEL)
	[WEIR_BLOCKED_ANY] = KERNEL_ENTRY(any),
};
#undef KERNEL
