/* SPDX-License-Identifier: MIT
 * The split kind's kernels, compiled once for each instruction set (ground/system.h). */
#include "ground/system.h"
#include "kind/batch.h"
#include "kinds/split/masks.h"
#include "kinds/split/split.h"

WEIR__INLINE uint64_t *block_of(const struct weir_array *a, uint64_t hash)
{
	const uint64_t block = (hash >> 32) * a->shape.field[WEIR_SPLIT_BLOCKS] >> 32;
	return a->words + WEIR_SPLIT_WORDS * block;
}

WEIR__INLINE uint64_t hash_of(const void *key, size_t len)
{
	return __builtin_expect(len == 8, 1) ? XXH64(key, 8, 0) : XXH64(key, len, 0);
}

/* ---- one key ---- */

static bool contains_hash(const struct weir_filter *f, uint64_t hash)
{
	return split_holds(block_of(&f->array, hash), hash);
}

static bool contains(const struct weir_filter *f, const void *key, size_t len)
{
	return contains_hash(f, hash_of(key, len));
}

static bool contains_u64(const struct weir_filter *f, uint64_t key)
{
	return contains_hash(f, XXH64(&key, sizeof key, 0));
}

/* Insert a key. All loads come first, since a locked OR delays the loads after it. A word that
 * already has the key's bits is not written ([BITS-ONLY-SET]). */
WEIR__INLINE int put(const struct weir_array *a, uint64_t hash)
{
	uint64_t bits[WEIR_SPLIT_WORDS], missing[WEIR_SPLIT_WORDS], any = 0;
	uint64_t *block = block_of(a, hash);
	split_masks(hash, bits);
	WEIR__UNROLL
	for (unsigned i = 0; i < WEIR_SPLIT_WORDS; i++)
		any |= missing[i] = bits[i] & ~weir__word_load_relaxed(block + i);
	if (!any)
		return WEIR_SEEN;
	WEIR__UNROLL
	for (unsigned i = 0; i < WEIR_SPLIT_WORDS; i++)
		if (missing[i])
			weir__word_or_relaxed(block + i, bits[i]);
	return WEIR_NEW;
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	return put(&f->array, hash);
}

static int insert(struct weir_filter *f, const void *key, size_t len)
{
	return put(&f->array, hash_of(key, len));
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	return put(&f->array, XXH64(&key, sizeof key, 0));
}

/* ---- the steps of a batch. The note of a key is its hash ---- */

enum { STEP = 8, LEAD = 48 };

WEIR__INLINE void note_to_read(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                               bool far, struct weir_notes *notes, unsigned at)
{
	for (unsigned i = 0; i < n; i++)
		notes->row[0][at + i] = hashes[i];
	for (unsigned i = 0; far && i < n; i++)
		__builtin_prefetch(block_of(a, hashes[i]), 0, WEIR_TO_L2);
}

WEIR__INLINE void note_to_write(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                                bool far, struct weir_notes *notes, unsigned at)
{
	(void)far; /* prefetch even if the filter fits the cache: another core may have the line */
	for (unsigned i = 0; i < n; i++) {
		notes->row[0][at + i] = hashes[i];
		__builtin_prefetch(block_of(a, hashes[i]), 1, WEIR_TO_L1);
	}
}

WEIR__INLINE uint64_t test_noted(const struct weir_array *a, bool far,
                                 const struct weir_notes *notes, unsigned at, unsigned n)
{
	uint64_t answers = 0;
	(void)far;
	for (unsigned i = 0; i < n; i++) {
		const uint64_t hash = notes->row[0][at + i];
		answers |= (uint64_t)split_holds(block_of(a, hash), hash) << i;
	}
	return answers;
}

WEIR__INLINE uint64_t put_noted(const struct weir_array *a, bool far,
                                const struct weir_notes *notes, unsigned at, unsigned n)
{
	uint64_t answers = 0;
	(void)far;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)(put(a, notes->row[0][at + i]) == WEIR_NEW) << i;
	return answers;
}

WEIR__BATCH_VERBS(noted, STEP, LEAD, note_to_read, test_noted, note_to_write, put_noted)

/* Load by plain stores, since this thread owns the partition ([OWNED-PART]). */
static void load(struct weir_filter *f, const uint64_t *hashes, size_t n)
{
	const struct weir_array array = f->array; /* a copy that no store can alias */
	for (size_t i = 0; i < n; i++) {
		uint64_t bits[WEIR_SPLIT_WORDS], *block = block_of(&array, hashes[i]);
		if (f->outgrows_cache && n - i > LEAD)
			__builtin_prefetch(block_of(&array, hashes[i + LEAD]), 1, WEIR_TO_L1);
		split_masks(hashes[i], bits);
		WEIR__UNROLL
		for (unsigned w = 0; w < WEIR_SPLIT_WORDS; w++)
			block[w] |= WEIR__LE64(bits[w]);
	}
}

/* [PARTITION-BITS]: the top p bits of a hash choose a run of blocks if 2^p divides the number of
 * blocks. A line has two blocks. So with an even number of blocks, each 2^p that divides the lines
 * divides the blocks too. With an odd number, the middle block would belong to two runs. */
#define KERNEL(bits) \
	{ \
		.isa = KERNEL_ISA, \
		.verbs = { contains, contains_hash, insert, insert_hash, contains_u64, \
		           insert_u64 }, \
		.contains_batch = contains_batch_noted, \
		.insert_batch = insert_batch_noted, \
		.load = load, \
		.partition_bits = bits, \
	}
const struct weir_kernel KERNEL_NAME(weir__split)[2] = { KERNEL(32), KERNEL(0) };
