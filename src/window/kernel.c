/* SPDX-License-Identifier: MIT
 * The lookups of a window, compiled for each instruction set (ground/system.h) but NEON. Every ARM
 * processor that weir runs on has NEON, so there the compiler uses NEON in the scalar kernels. */
#include "ground/system.h"
#if !defined(WEIR_KERNEL_NEON)

#include <weir/inline.h>
#include "kind/batch.h"
#include "window/columns.h"
#include "window/window.h"
#if defined(WEIR__AVX512)
#include "kinds/blocked/eight.h"
#endif

/* ---- columns: one line has a key's words of eight slots, side by side ---- */

/* Look up in columns if there are fewer than five slots or more than eight. With five to eight, a
 * key's words of all slots take exactly one line, which slots_in_columns() tests itself. */
WEIR__INLINE uint32_t column_lines(const struct weir_window_bits *b, const uint64_t *words,
                                   column_mask mask)
{
	uint32_t in = 0;
	if (b->stride == 4)
		return column_half(words, mask);
	for (uint32_t s = 0; s < b->slots; s += 8)
		in |= column_line(words + s, mask) << s;
	return in;
}

WEIR__INLINE uint32_t slots_in_columns(const struct weir_window_bits *b, uint64_t hash, unsigned z,
                                       unsigned g)
{
	uint64_t r = weir__remix(hash), n = weir__window_word(b, hash, r);
	column_mask mask = column_mask_of_key(r, g);
	(void)z; /* z is 1 */
	if (__builtin_expect(b->stride == 8, 1))
		return column_line(b->words + 8 * n, mask); /* a shift, not a product */
	return column_lines(b, b->words + b->stride * n, mask);
}

/* ---- a ring: each slot has its own array, with a key's block at the same index ---- */

/* The loop has no branch that depends on a slot's words, so the slots' lines load in parallel. */
WEIR__INLINE uint32_t slots_in_ring(const struct weir_window_bits *b, uint64_t hash, unsigned z,
                                    unsigned g)
{
	const uint64_t *block = weir__window_block(b, hash);
	uint64_t r = weir__remix(hash);
	uint32_t in = 0;
	for (uint32_t s = 0; s < b->slots; s++)
		in |= (uint32_t)weir__test(block + s * b->slot_step, r, z, g) << s;
	return in;
}

/* slots_in_ring() for shapes without a kernel of their own. */
WEIR__INLINE uint32_t slots_in_any(const struct weir_window_bits *b, uint64_t hash, unsigned z,
                                   unsigned g)
{
	const uint64_t *block = weir__window_block(b, hash);
	uint64_t r = weir__remix(hash);
	uint32_t in = 0;
	for (uint32_t s = 0; s < b->slots; s++)
		in |= (uint32_t)weir__test_any(block + s * b->slot_step, r, z, g) << s;
	return in;
}

/* ---- batches ---- */

/* If the bits do not fit into a core's cache, prefetch all lines of each key: 1 to 3 lines in
 * columns, and G+1 lines in a ring. */
WEIR__INLINE void fetch(const struct weir_window_bits *b, const uint64_t *hashes, unsigned n)
{
	bool ring = weir__window_is_ring(b);
	uint64_t step = ring ? b->slot_step : 8;
	uint32_t lines = ring ? b->slots : (b->slots + 7) / 8;
	for (unsigned i = 0; b->far && i < n; i++) {
		const uint64_t *at = ring ? weir__window_block(b, hashes[i]) :
		                            weir__window_column(b, hashes[i],
		                                                weir__remix(hashes[i]));
		for (uint32_t line = 0; line < lines; line++)
			__builtin_prefetch(at + line * step, 0, 2);
	}
}

typedef uint32_t look_fn(const struct weir_window_bits *b, uint64_t hash, unsigned z, unsigned g);

WEIR__INLINE uint64_t is_in(uint32_t slots, uint32_t live)
{
	return (slots & live) != 0;
}

WEIR__INLINE uint64_t each_key(const struct weir_window_bits *b, const uint64_t *hashes, unsigned n,
                               uint32_t live, look_fn *look, unsigned z, unsigned g)
{
	uint64_t answers = 0;
	fetch(b, hashes, n);
	for (unsigned i = 0; i < n; i++)
		answers |= is_in(look(b, hashes[i], z, g), live) << i;
	return answers;
}

#if defined(WEIR__AVX512)

/* Word and mask of each key, computed for eight keys at a time. */
struct noted {
	uint64_t word[WEIR_WINDOW_STEP], mask[WEIR_WINDOW_STEP];
} __attribute__((aligned(64)));

WEIR__INLINE void note_columns(struct noted *noted, const struct weir_window_bits *b,
                               const uint64_t *hashes, unsigned n, unsigned g)
{
	for (unsigned i = 0; i < n; i += 8) {
		__m512i h = n - i >= 8 ? _mm512_loadu_si512(hashes + i) :
		                         _mm512_maskz_loadu_epi64((__mmask8)((1u << (n - i)) - 1),
		                                                  hashes + i);
		__m512i r = weir__remix8(h), block = weir__block8(b->blocks, h);
		_mm512_store_si512(noted->word + i, weir__word_index8(block, r, 1, 0));
		_mm512_store_si512(noted->mask + i, weir__word_mask8(r, r, 1, g, 0));
	}
	for (unsigned i = 0; b->far && i < n; i++)
		for (uint32_t s = 0; s < b->slots; s += 8)
			__builtin_prefetch(b->words + b->stride * noted->word[i] + s, 0, 2);
}

WEIR__INLINE uint64_t each_column(const struct weir_window_bits *b, const uint64_t *hashes,
                                  unsigned n, uint32_t live, look_fn *look, unsigned z, unsigned g)
{
	struct noted noted;
	uint64_t answers = 0;
	(void)look, (void)z;
	note_columns(&noted, b, hashes, n, g);
	if (b->stride == 8) {
		for (unsigned i = 0; i < n; i++)
			answers |= is_in(column_line(b->words + 8 * noted.word[i],
			                             column_mask_of(noted.mask[i])), live) << i;
		return answers;
	}
	for (unsigned i = 0; i < n; i++)
		answers |= is_in(column_lines(b, b->words + b->stride * noted.word[i],
		                              column_mask_of(noted.mask[i])), live) << i;
	return answers;
}

#else
#define each_column each_key
#endif

#define KERNEL_FUNCTIONS(name, look, each, z, g) \
	WEIR__INLINE bool in_##name(const struct weir_filter *f, uint64_t hash) \
	{ \
		const struct weir_window *w = weir__window_of(f); \
		uint64_t state = weir__window_load_acquire(&w->state); \
		const struct weir_window_bits *b = &w->bits; \
		if (look(b, hash, z, g) & weir__window_live(state)) \
			return true; \
		if (__builtin_expect(weir__window_load_after(&w->state) == state, 1)) \
			return false; \
		return weir__window_look_again(w, hash); \
	} \
	static bool contains_hash_##name(const struct weir_filter *f, uint64_t hash) \
	{ \
		return in_##name(f, hash); \
	} \
	static bool contains_u64_##name(const struct weir_filter *f, uint64_t key) \
	{ \
		return in_##name(f, weir__hash_u64(f->array.flip8, key)); \
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
		return in_##name(f, weir__hash8(f->array.flip8, key)); \
	} \
	static uint32_t look_##name(const struct weir_window_bits *b, uint64_t hash) \
	{ \
		return look(b, hash, z, g); \
	} \
	static uint64_t each_##name(const struct weir_window_bits *b, const uint64_t *hashes, \
	                            unsigned n, uint32_t live) \
	{ \
		const struct weir_window_bits bits = *b; /* a copy in registers */ \
		return each(&bits, hashes, n, live, look, z, g); \
	}

/* All instruction sets share the inserts of insert.c. */
#define KERNEL_ENTRY(name) \
	{ \
		.verbs = { \
			.isa = KERNEL_ISA, \
			.verbs = { contains_##name, contains_hash_##name, weir__window_insert, \
			           weir__window_insert_hash, contains_u64_##name, \
			           weir__window_insert_u64 }, \
			.contains_batch = weir__window_contains_batch, \
			.insert_batch = weir__window_insert_batch, \
		}, \
		.look = look_##name, \
		.look_each = each_##name, \
	}

#define COLUMNS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)
#define KERNEL(g) KERNEL_FUNCTIONS(columns_##g, slots_in_columns, each_column, 1, g)
COLUMNS(KERNEL)
#undef KERNEL
#define KERNEL(z, g) KERNEL_FUNCTIONS(ring_##z##_##g, slots_in_ring, each_key, z, g)
WEIR__LAYOUTS(KERNEL)
#undef KERNEL
KERNEL_FUNCTIONS(ring_any, slots_in_any, each_key, b->z, b->g)

const struct weir_window_kernel *KERNEL_NAME(weir__window_columns)(unsigned g)
{
#define KERNEL(g) KERNEL_ENTRY(columns_##g),
	static const struct weir_window_kernel kernels[] = { COLUMNS(KERNEL) };
#undef KERNEL
	return &kernels[g - 1];
}

const struct weir_window_kernel *KERNEL_NAME(weir__window_ring)(unsigned z, unsigned g)
{
	static const struct weir_window_kernel any = KERNEL_ENTRY(ring_any);
#define KERNEL(Z, G) \
	if (z == (Z) && g == (G)) { \
		static const struct weir_window_kernel kernel = KERNEL_ENTRY(ring_##Z##_##G); \
		return &kernel; \
	}
	WEIR__LAYOUTS(KERNEL)
#undef KERNEL
	return &any;
}

#endif
