/* SPDX-License-Identifier: MIT
 * The kernels of a kind made of counters, for one instruction set. A kernel is compiled for one
 * layout, or for all layouts with b bits. In the latter case it reads z and g from the filter.
 *
 * A kind's source first defines the following, then includes this file:
 *   int put(a, hash, b, z, g)        the atomic insert, WEIR__INLINE
 *   void load_one(a, hash, b, z, g)  the insert by plain stores into a partition that the thread
 *                                    owns ([OWNED-PART]), WEIR__INLINE
 *   KERNEL_REMOVE(name)              a macro that sets .remove, or is empty. */
#include "ground/system.h"
#include "kind/batch.h"
#include "kinds/common/counters.h"

/* The steps of a batch. The note of a key is its hash. */
enum { STEP = 16, LEAD = 48 };

WEIR__INLINE void note_hashes(const uint64_t *hashes, unsigned n, struct weir_notes *notes,
                              unsigned at)
{
	for (unsigned i = 0; i < n; i++)
		notes->row[0][at + i] = hashes[i];
}

/* Prefetch the lines of a key's words. If b is 4, a block is a single line, so one prefetch is
 * enough. Otherwise each word may be on a line of its own. */
#define FETCH(a, hash, b, z, write) \
	do { \
		const uint64_t *block = weir__counters_block(a, hash, b); \
		struct weir_fields fields = { weir__remix(hash) }; \
		const unsigned sector = weir__counters_sector(b, z); \
		for (unsigned w = 0; w < ((b) == 4 ? 1 : (z)); w++) \
			__builtin_prefetch(block + ((size_t)w << sector) + \
			                           weir__fields_take(&fields, sector), \
			                   write, 3); \
	} while (0)

WEIR__INLINE uint64_t hash_of(const struct weir_filter *f, const void *key, size_t len)
{
	return __builtin_expect(len == 8, 1) ? weir__hash8(f->array.flip8, key) :
	                                       weir__hash_other(f, key, len);
}

#define COUNTERS_NOTED \
	const struct weir_array *a, bool far, const struct weir_notes *notes, unsigned at, \
		unsigned n

#define COUNTERS_KERNEL(name, b, z, g) \
	WEIR__INLINE bool look_##name(const struct weir_array *a, uint64_t hash) \
	{ \
		return COUNTERS_HOLD(a, hash, b, z, g); \
	} \
	static bool contains_hash_##name(const struct weir_filter *f, uint64_t hash) \
	{ \
		return look_##name(&f->array, hash); \
	} \
	static bool contains_##name(const struct weir_filter *f, const void *key, size_t len) \
	{ \
		return look_##name(&f->array, hash_of(f, key, len)); \
	} \
	static bool contains_u64_##name(const struct weir_filter *f, uint64_t key) \
	{ \
		return look_##name(&f->array, weir__hash_u64(f->array.flip8, key)); \
	} \
	WEIR__INLINE int put_##name(const struct weir_array *a, uint64_t hash) \
	{ \
		return put(a, hash, b, z, g); \
	} \
	static int insert_hash_##name(struct weir_filter *f, uint64_t hash) \
	{ \
		return put_##name(&f->array, hash); \
	} \
	static int insert_##name(struct weir_filter *f, const void *key, size_t len) \
	{ \
		return put_##name(&f->array, hash_of(f, key, len)); \
	} \
	static int insert_u64_##name(struct weir_filter *f, uint64_t key) \
	{ \
		return put_##name(&f->array, weir__hash_u64(f->array.flip8, key)); \
	} \
	static int64_t count_##name(const struct weir_filter *f, uint64_t hash) \
	{ \
		const struct weir_array *a = &f->array; \
		return weir__counters_answer(COUNTERS_COUNT(a, hash, b, z, g), b); \
	} \
	WEIR__INLINE void note_to_read_##name(const struct weir_array *a, const uint64_t *hashes, \
	                                      unsigned n, bool far, struct weir_notes *notes, \
	                                      unsigned at) \
	{ \
		note_hashes(hashes, n, notes, at); \
		for (unsigned i = 0; far && i < n; i++) \
			FETCH(a, hashes[i], b, z, 0); \
	} \
	WEIR__INLINE void note_to_write_##name(const struct weir_array *a, const uint64_t *hashes, \
	                                       unsigned n, bool far, struct weir_notes *notes, \
	                                       unsigned at) \
	{ \
		note_hashes(hashes, n, notes, at); \
		for (unsigned i = 0; far && i < n; i++) \
			FETCH(a, hashes[i], b, z, 1); \
	} \
	WEIR__INLINE uint64_t test_noted_##name(COUNTERS_NOTED) \
	{ \
		uint64_t answers = 0; \
		(void)far; \
		for (unsigned i = 0; i < n; i++) \
			answers |= (uint64_t)look_##name(a, notes->row[0][at + i]) << i; \
		return answers; \
	} \
	WEIR__INLINE uint64_t put_noted_##name(COUNTERS_NOTED) \
	{ \
		uint64_t answers = 0; \
		(void)far; \
		for (unsigned i = 0; i < n; i++) \
			answers |= (uint64_t)(put_##name(a, notes->row[0][at + i]) == WEIR_NEW) \
			           << i; \
		return answers; \
	} \
	WEIR__BATCH_VERBS(name, STEP, LEAD, note_to_read_##name, test_noted_##name, \
	                  note_to_write_##name, put_noted_##name) \
	static void load_##name(struct weir_filter *f, const uint64_t *hashes, size_t n) \
	{ \
		const struct weir_array array = f->array, *a = &array; /* no store aliases it */ \
		for (size_t i = 0; i < n; i++) { \
			if (f->outgrows_cache && n - i > LEAD) \
				FETCH(a, hashes[i + LEAD], b, z, 1); \
			load_one(a, hashes[i], b, z, g); \
		} \
	} \
	/* [PARTITION-BITS]: the block is the high half of h * nblocks. */ \
	static const struct weir_kernel kernel_##name = { \
		.isa = KERNEL_ISA, \
		.verbs = { contains_##name, contains_hash_##name, insert_##name, \
		           insert_hash_##name, contains_u64_##name, insert_u64_##name }, \
		.contains_batch = contains_batch_##name, \
		.insert_batch = insert_batch_##name, \
		.load = load_##name, \
		.partition_bits = 64, \
		.block_lines = (b) / 4, \
		.count = count_##name, \
		KERNEL_REMOVE(name) \
	};

/* COUNTERS_ONE defines a kernel for one layout, COUNTERS_ANY a kernel for all layouts with b bits.
 * COUNTERS_ENTRY is the entry of a kernel in a list of kernels. */
#define COUNTERS_ONE(b, z, g) COUNTERS_KERNEL(b##_##z##_##g, b, z, g)
#define COUNTERS_ANY(b) \
	COUNTERS_KERNEL(b##_any, b, a->shape.field[WEIR_COUNTERS_Z], \
	                a->shape.field[WEIR_COUNTERS_G])
#define COUNTERS_ENTRY(b, z, g) { b, z, g, &kernel_##b##_##z##_##g },

struct counters_entry {
	uint32_t b, z, g;
	const struct weir_kernel *kernel;
};

WEIR__INLINE const struct weir_kernel *counters_find(const struct counters_entry *entries, size_t n,
                                                     const struct weir_shape *shape)
{
	for (size_t i = 0; i < n; i++)
		if (shape->field[WEIR_COUNTERS_B] == entries[i].b &&
		    shape->field[WEIR_COUNTERS_Z] == entries[i].z &&
		    shape->field[WEIR_COUNTERS_G] == entries[i].g)
			return entries[i].kernel;
	return NULL;
}
