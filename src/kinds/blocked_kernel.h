/* SPDX-License-Identifier: MIT
 * The blocked kind's kernels: <weir/inline.h> compiled for one instruction set, once for every layout. Each blocked_<isa>.c is this
 * file with its own flags. Include with KERNEL_ISA and KERNEL_TABLE defined, and KERNEL_TEST_STEP where
 * the set has a better way to test a step of keys than one by one. */
#include <weir/inline.h>
#include "../hash.h"
#include "../kind.h"
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

#ifndef KERNEL_TEST_STEP
#define KERNEL_TEST_STEP test_each
#endif

WEIR__INLINE uint64_t set_step(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	uint64_t answers = 0;
	for (unsigned i = 0; i < n; i++)
		answers |= (uint64_t)weir__set(weir__block(v, hashes[i]), hashes[i], z, g) << i;
	return answers;
}

/* Plain stores: the shard is this thread's alone (O1) and nobody looks at the filter yet. */
WEIR__INLINE void load_step(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t h = hashes[i], r = weir__remix(h), r2 = z * g > 10 ? weir__remix2(h) : 0, *block = weir__block(v, h);
		WEIR__UNROLL
		for (unsigned j = 0; j < z; j++)
			block[weir__word_index(z, j, r)] |= WEIR__LE64(weir__word_mask(z, g, j, r, r2));
	}
}

static void prefetch64(const struct weir_filter *f, const uint64_t *hashes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(weir__block(&f->view, hashes[i]), 0, 3);
}

static void prefetch64_write(const struct weir_filter *f, const uint64_t *hashes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(weir__block(&f->view, hashes[i]), 1, 3);
}

#define KERNEL(z, g) \
	static bool contains_hash_##z##_##g(const struct weir_filter *f, uint64_t h) \
	{ \
		return weir__test(weir__block(&f->view, h), h, z, g); \
	} \
	FLAT static bool contains_##z##_##g(const struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (len > SHORT_KEY) \
			return contains_long(f, key, len); \
		return contains_hash_##z##_##g(f, weir__hash(f->view.seed, key, len)); \
	} \
	static int insert_hash_##z##_##g(struct weir_filter *f, uint64_t h) \
	{ \
		return weir__set(weir__block(&f->view, h), h, z, g); \
	} \
	FLAT static int insert_##z##_##g(struct weir_filter *f, const void *key, size_t len) \
	{ \
		if (len > SHORT_KEY) \
			return insert_long(f, key, len); \
		return insert_hash_##z##_##g(f, weir__hash(f->view.seed, key, len)); \
	} \
	static uint64_t contains64_##z##_##g(const struct weir_filter *f, const uint64_t *hashes, unsigned n) \
	{ \
		return KERNEL_TEST_STEP(&f->view, hashes, n, z, g); \
	} \
	static uint64_t insert64_##z##_##g(struct weir_filter *f, const uint64_t *hashes, unsigned n) \
	{ \
		return set_step(&f->view, hashes, n, z, g); \
	} \
	static void load64_##z##_##g(struct weir_filter *f, const uint64_t *hashes, unsigned n) \
	{ \
		load_step(&f->view, hashes, n, z, g); \
	}
WEIR__LAYOUTS(KERNEL)
#undef KERNEL

#define KERNEL(z, g) \
	[weir__blocked_slot(z, g)] = { \
		.isa = KERNEL_ISA, \
		.verbs = { contains_##z##_##g, contains_hash_##z##_##g, insert_##z##_##g, insert_hash_##z##_##g }, \
		.contains64 = contains64_##z##_##g, \
		.insert64 = insert64_##z##_##g, \
		.prefetch64 = prefetch64, \
		.prefetch64_write = prefetch64_write, \
		.load64 = load64_##z##_##g, \
	},
const struct weir_kernel KERNEL_TABLE[WEIR_BLOCKED_SLOTS] = { WEIR__LAYOUTS(KERNEL) };
#undef KERNEL
