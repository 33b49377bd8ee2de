/* SPDX-License-Identifier: MIT
 * The blocked kind's kernels: <weir/inline.h> compiled for one instruction set, once for each of its layouts and
 * once for any. Each blocked_<isa>.c is this
 * file with its own flags. Include with KERNEL_ISA and KERNEL_TABLE defined, and KERNEL_TEST_STEP and
 * KERNEL_FETCH_STEP where the set has a better way than one by one to test a step of keys and to fetch their lines. */
#include <weir/inline.h>
#include "../batch.h"
#include "blocked.h"

/* Keys of up to 16 bytes are hashed in line, without a frame; for longer ones a second jump is nothing beside the hash. */
enum { SHORT_KEY = 16 };

static __attribute__((noinline)) bool contains_long(const struct weir_filter *f, const void *key, size_t len)
{
	return f->verbs.contains_hash(f, weir__hash(f->view.seed, key, len));
}

static __attribute__((noinline)) int insert_long(struct weir_filter *f, const void *key, size_t len)
{
	return f->verbs.insert_hash(f, weir__hash(f->view.seed, key, len));
}

/* XXH3's entry is a plain inline function, which a compiler with 54 callers would rather call than inline. */
#define FLAT __attribute__((flatten))

WEIR__INLINE uint64_t test_each(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)weir__test(weir__block(v, hashes[i]), hashes[i], z, g) << i;
	return answers;
}

WEIR__INLINE uint64_t set_each(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)weir__set(weir__block(v, hashes[i]), hashes[i], z, g) << i;
	return answers;
}

/* Plain stores: the shard is this thread's alone (O1) and nobody looks at the filter yet. */
WEIR__INLINE uint64_t load_each(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t h = hashes[i], r = weir__remix(h), r2 = z * g > 10 ? weir__remix2(h) : 0, *block = weir__block(v, h);
		WEIR__UNROLL
		for (unsigned j = 0; j < z; j++)
			block[weir__word_index(z, j, r)] |= WEIR__LE64(weir__word_mask(z, g, j, r, r2));
	}
	return 0;
}

/* The same of a layout known only at run time. */
static inline uint64_t test_each_any(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)weir__test_any(weir__block(v, hashes[i]), hashes[i], z, g) << i;
	return answers;
}

static inline uint64_t set_each_any(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)weir__set_any(weir__block(v, hashes[i]), hashes[i], z, g) << i;
	return answers;
}

static inline uint64_t load_each_any(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	return set_each_any(v, hashes, n, z, g); /* a rare layout: the atomic insert serves as well */
}

WEIR__INLINE void fetch_each(const struct weir_filter *f, const uint64_t *hashes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(weir__block(&f->view, hashes[i]), 0, 3);
}

WEIR__INLINE void fetch_to_write(const struct weir_filter *f, const uint64_t *hashes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(weir__block(&f->view, hashes[i]), 1, 3);
}

#ifndef KERNEL_TEST_STEP
#define KERNEL_TEST_STEP test_each
#define KERNEL_FETCH_STEP fetch_each
#endif

#define KERNEL_FUNCTIONS(name, z, g, test, set, test_step, set_step, load_step) \
	static bool contains_hash_##name(const struct weir_filter *f, uint64_t h) \
	{ \
		return test(weir__block(&f->view, h), h, z, g); \
	} \
	FLAT static bool contains_##name(const struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (len > SHORT_KEY) \
			return contains_long(f, key, len); \
		return contains_hash_##name(f, weir__hash(f->view.seed, key, len)); \
	} \
	static int insert_hash_##name(struct weir_filter *f, uint64_t h) \
	{ \
		return set(weir__block(&f->view, h), h, z, g); \
	} \
	FLAT static int insert_##name(struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (len > SHORT_KEY) \
			return insert_long(f, key, len); \
		return insert_hash_##name(f, weir__hash(f->view.seed, key, len)); \
	} \
	WEIR__INLINE uint64_t test_step_##name(const struct weir_filter *f, const uint64_t *hashes, unsigned n) \
	{ \
		return test_step(&f->view, hashes, n, z, g); \
	} \
	WEIR__INLINE uint64_t set_step_##name(const struct weir_filter *f, const uint64_t *hashes, unsigned n) \
	{ \
		return set_step(&f->view, hashes, n, z, g); \
	} \
	WEIR__INLINE uint64_t load_step_##name(const struct weir_filter *f, const uint64_t *hashes, unsigned n) \
	{ \
		return load_step(&f->view, hashes, n, z, g); \
	} \
	static size_t contains_batch_##name(const struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, test_step_##name, KERNEL_FETCH_STEP); \
	} \
	static size_t insert_batch_##name(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap) \
	{ \
		return weir__batch_run(f, batch, bitmap, set_step_##name, fetch_to_write); \
	} \
	static void load_##name(struct weir_filter *f, const uint64_t *hashes, size_t n) \
	{ \
		struct weir_batch batch = { .from = WEIR_FROM_HASHES, .keys = hashes, .n = n }; \
		weir__batch_run(f, &batch, NULL, load_step_##name, fetch_to_write); \
	}
#define KERNEL(z, g) KERNEL_FUNCTIONS(z##_##g, z, g, weir__test, weir__set, KERNEL_TEST_STEP, set_each, load_each)
WEIR__LAYOUTS(KERNEL)
#undef KERNEL
KERNEL_FUNCTIONS(any, f->view.words_per_key, f->view.bits_per_word, weir__test_any, weir__set_any, test_each_any, set_each_any,
                 load_each_any)

#define KERNEL_ENTRY(name) \
	{ \
		.isa = KERNEL_ISA, \
		.verbs = { contains_##name, contains_hash_##name, insert_##name, insert_hash_##name }, \
		.contains_batch = contains_batch_##name, \
		.insert_batch = insert_batch_##name, \
		.load = load_##name, \
	}
#define KERNEL(z, g) [WEIR_BLOCKED_SLOT(z, g)] = KERNEL_ENTRY(z##_##g),
const struct weir_kernel KERNEL_TABLE[WEIR_BLOCKED_SLOTS] = { WEIR__LAYOUTS(KERNEL) [WEIR_BLOCKED_ANY] = KERNEL_ENTRY(any) };
#undef KERNEL
