/* SPDX-License-Identifier: MIT
 * The blocked kind's kernels: <weir/inline.h> compiled for one instruction set (ground/system.h).
 * There is one kernel for each layout of inline_layouts.h, and one for all other layouts. */
#include "ground/system.h"
#if defined(KERNEL_SCALAR)
#define WEIR_INLINE_SCALAR 1
#endif
#include <weir/inline.h>
#include "kind/batch.h"
#include "kinds/blocked/blocked.h"
#if defined(WEIR_KERNEL_AVX512)
#include "kinds/blocked/kernel_avx512.h"
#endif

/* Makes gcc compute the address in @pointer first. Otherwise gcc adds the index of each word to the
 * array's address, which takes two more instructions. */
#define ADDED_UP(pointer) __asm__("" : "+r"(pointer))

/* ---- the steps of a batch. A key's notes are the word index of its block, and r ---- */

enum {
	STEP = 8,  /* keys noted or looked up at a time */
	LEAD = 48, /* keys noted ahead of the work; values from 32 to 96 were equally fast */
	ROW_BLOCK = 0,
	ROW_R = 1,
};

WEIR__INLINE void note_each(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                            struct weir_notes *notes, unsigned at)
{
	for (unsigned i = 0; i < n; i++) {
		notes->row[ROW_BLOCK][at + i] = 8 * weir__mulhi64(hashes[i], a->lines);
		notes->row[ROW_R][at + i] = weir__remix(hashes[i]);
	}
}

#ifndef KERNEL_NOTE
#define KERNEL_NOTE(a, hashes, n, z, notes, at) note_each(a, hashes, n, notes, at)
#define KERNEL_TEST_NOTED(a, notes, at, n, z, g, test) WORK_STEP(a, notes, at, n, z, g, test)
#endif

WEIR__INLINE void note_to_read(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                               unsigned z, bool far, struct weir_notes *notes, unsigned at)
{
	(void)z;
	KERNEL_NOTE(a, hashes, n, z, notes, at);
	for (unsigned i = 0; far && i < n; i++)
		__builtin_prefetch(a->words + notes->row[ROW_BLOCK][at + i], 0, WEIR_TO_L2);
}

WEIR__INLINE void note_to_write(const struct weir_array *a, const uint64_t *hashes, unsigned n,
                                bool far, struct weir_notes *notes, unsigned at)
{
	(void)far; /* prefetch even if the filter fits the cache: another core may have the line */
	note_each(a, hashes, n, notes, at);
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(a->words + notes->row[ROW_BLOCK][at + i], 1, WEIR_TO_L1);
}

/* The answer of @verb for noted key i, in bit i. */
#define WORK_ONE(a, notes, at, i, z, g, verb) \
	((uint64_t)verb(a->words + notes->row[ROW_BLOCK][at + (i)], notes->row[ROW_R][at + (i)], \
	                z, g) \
	 << (i))

/* Return the answers of @verb for n noted keys. */
#define WORK_EACH(a, notes, at, n, z, g, verb) \
	do { \
		uint64_t answers = 0; \
		for (unsigned i = 0; i < (n); i++) \
			answers |= WORK_ONE(a, notes, at, i, z, g, verb); \
		return answers; \
	} while (0)

/* WORK_EACH() with a whole step unrolled. It pays if the work is only a few instructions. */
#define WORK_STEP(a, notes, at, n, z, g, verb) \
	do { \
		if (n == STEP) { \
			uint64_t answers = 0; \
			WEIR__UNROLL \
			for (unsigned i = 0; i < STEP; i++) \
				answers |= WORK_ONE(a, notes, at, i, z, g, verb); \
			return answers; \
		} \
		WORK_EACH(a, notes, at, n, z, g, verb); \
	} while (0)

/* ---- loading by plain stores. This thread owns the partition ([OWNED-PART]), and no thread reads
 * the filter yet ---- */

WEIR__INLINE void load_one(const struct weir_array *a, uint64_t hash, unsigned z, unsigned g)
{
	uint64_t *block = weir__line(a, hash), r = weir__remix(hash);
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0;
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++)
		block[weir__word_index(z, i, r)] |= WEIR__LE64(weir__word_mask(z, g, i, r, r2));
}

/* Load rare layouts by the atomic insert. */
WEIR__INLINE void load_by_set(const struct weir_array *a, bool far, const uint64_t *hashes,
                              size_t n, unsigned z, unsigned g)
{
	(void)far;
	for (size_t i = 0; i < n; i++)
		weir__set_any(weir__line(a, hashes[i]), weir__remix(hashes[i]), z, g);
}

#ifndef KERNEL_LOAD
WEIR__INLINE void load_each(const struct weir_array *a, bool far, const uint64_t *hashes, size_t n,
                            unsigned z, unsigned g)
{
	const struct weir_array array = *a; /* no store can alias this copy */
	for (size_t i = 0; i < n; i++) {
		if (far && n - i > LEAD)
			__builtin_prefetch(weir__line(&array, hashes[i + LEAD]), 1, WEIR_TO_L1);
		load_one(&array, hashes[i], z, g);
	}
}

#define KERNEL_LOAD load_each
#endif

#define NOTED \
	const struct weir_array *a, bool far, const struct weir_notes *notes, unsigned at, \
		unsigned n

#define KERNEL_FUNCTIONS(name, z, g, test_one, test, set, load) \
	WEIR__INLINE bool look_##name(const struct weir_array *a, uint64_t h) \
	{ \
		const uint64_t *line = weir__line(a, h); \
		ADDED_UP(line); \
		return test_one(line, weir__remix(h), z, g); \
	} \
	static bool contains_hash_##name(const struct weir_filter *f, uint64_t h) \
	{ \
		return look_##name(&f->array, h); \
	} \
	static bool contains_u64_##name(const struct weir_filter *f, uint64_t key) \
	{ \
		return look_##name(&f->array, weir__hash_u64(f->array.flip8, key)); \
	} \
	static __attribute__((noinline)) bool contains_other_##name(const struct weir_filter *f, \
	                                                            const void *key, size_t len) \
	{ \
		return contains_hash_##name(f, weir__hash_other(f, key, len)); \
	} \
	static bool contains_##name(const struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (__builtin_expect(len != 8, 0)) \
			return contains_other_##name(f, key, len); \
		return look_##name(&f->array, weir__hash8(f->array.flip8, key)); \
	} \
	WEIR__INLINE int put_##name(const struct weir_array *a, uint64_t h) \
	{ \
		return set(weir__line(a, h), weir__remix(h), z, g); \
	} \
	static int insert_hash_##name(struct weir_filter *f, uint64_t h) \
	{ \
		return put_##name(&f->array, h); \
	} \
	static int insert_u64_##name(struct weir_filter *f, uint64_t key) \
	{ \
		return put_##name(&f->array, weir__hash_u64(f->array.flip8, key)); \
	} \
	static __attribute__((noinline)) int insert_other_##name(struct weir_filter *f, \
	                                                         const void *key, size_t len) \
	{ \
		return insert_hash_##name(f, weir__hash_other(f, key, len)); \
	} \
	static int insert_##name(struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (__builtin_expect(len != 8, 0)) \
			return insert_other_##name(f, key, len); \
		return put_##name(&f->array, weir__hash8(f->array.flip8, key)); \
	} \
	WEIR__INLINE void note_##name(const struct weir_array *a, const uint64_t *hashes, \
	                              unsigned n, bool far, struct weir_notes *notes, unsigned at) \
	{ \
		note_to_read(a, hashes, n, z, far, notes, at); \
	} \
	WEIR__INLINE uint64_t test_noted_##name(NOTED) \
	{ \
		(void)far; \
		KERNEL_TEST_NOTED(a, notes, at, n, z, g, test); \
	} \
	WEIR__INLINE uint64_t set_noted_##name(NOTED) \
	{ \
		(void)far; \
		WORK_EACH(a, notes, at, n, z, g, set); \
	} \
	WEIR__BATCH_VERBS(name, STEP, LEAD, note_##name, test_noted_##name, note_to_write, \
	                  set_noted_##name) \
	static void load_##name(struct weir_filter *f, const uint64_t *hashes, size_t n) \
	{ \
		const struct weir_array *a = &f->array; \
		load(a, f->outgrows_cache, hashes, n, z, g); \
	}

#define KERNEL(z, g) KERNEL_FUNCTIONS(z##_##g, z, g, weir__test_narrow, weir__test, weir__set, \
	                                       KERNEL_LOAD)
WEIR__LAYOUTS(KERNEL)
#undef KERNEL
/* The kernel for rare layouts. */
KERNEL_FUNCTIONS(any, a->shape.field[WEIR_BLOCKED_Z], a->shape.field[WEIR_BLOCKED_G],
                 weir__test_any, weir__test_any, weir__set_any, load_by_set)

/* [PARTITION-BITS]: the block is the high half of h * nblocks, so the top bits of a hash choose
 * it. */
#define KERNEL_ENTRY(name) \
	{ \
		.isa = KERNEL_ISA, \
		.verbs = { contains_##name, contains_hash_##name, insert_##name, \
		           insert_hash_##name, contains_u64_##name, insert_u64_##name }, \
		.contains_batch = contains_batch_##name, \
		.insert_batch = insert_batch_##name, \
		.load = load_##name, \
		.partition_bits = 64, \
	}
#define KERNEL(z, g) [WEIR_BLOCKED_SLOT(z, g)] = KERNEL_ENTRY(z##_##g),
const struct weir_kernel KERNEL_NAME(weir__blocked)[WEIR_BLOCKED_SLOTS] = {
	WEIR__LAYOUTS(KERNEL)
	[WEIR_BLOCKED_ANY] = KERNEL_ENTRY(any),
};
#undef KERNEL
