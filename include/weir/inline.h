/* SPDX-License-Identifier: MIT
 * Lookups and inserts of the blocked kind, compiled into the caller for its own -march. Make a view
 * of a filter once, then use it in your loop. weir.h does not include this header, which needs
 * xxhash.h. Link with weir all the same.
 *
 *     struct weir_inline v;
 *     if (weir_inline_init(&v, filter) == 0 && weir_inline_contains(&v, key, len)) ...
 *
 * The layout never changes (golden files test it), so bits and answers are always those of the
 * library. The library compiles its own kernels from this file, once for each instruction set.
 *
 * Inserts need another view, struct weir_inline_mut. The compiler refuses to make one of a const
 * filter, such as weir_handle_get() returns: a reload would lose direct inserts into that filter.
 *
 * Size. The layouts that the calculator chooses from 10 % to 0.01 % are inlined; for any other
 * layout a function is called. A lookup takes up to 1 KiB of code (512 bytes with AVX-512), an
 * insert 2 KiB. If all filters of a program have one layout, define it before the first #include.
 * The code is then a third to three quarters as large, and with AVX2 a lookup takes up to a sixth
 * less time (with AVX-512 the same time):
 *
 *     #define WEIR_INLINE_WORDS_PER_KEY 4
 *     #define WEIR_INLINE_BITS_PER_WORD 2
 *     #include <weir/inline.h>
 *
 * weir_inline_init() then refuses a filter of another layout, and its sentence names the filter's
 * layout. Also set words_per_key and bits_per_word in weir_params.blocked. Otherwise another rate
 * or version of weir may choose another layout.
 *
 * Layout (Lang, Neumann, Kemper, Boncz 2019: cache-sectorized). The array is nblocks blocks, each a
 * cache line of eight 64-bit words. A key selects one block and z words of that block, one in each
 * of z equal groups, and sets g bits in each word:
 *
 *     h      = XXH3_64bits_withSeed(key, len, seed)
 *     block  = high half of h * nblocks
 *     r      = h * 0x9E3779B97F4A7C15,   r2 = h * 0xD6E8FEB86659FD93
 *     r, from the top: for each group log2(8/z) bits that select its word, then for each bit to set
 *       a field of 6 bits; fields 0 to 9 are in r, fields 10 to 19 in r2
 */
#if defined(WEIR_INLINE_H) && defined(WEIR_INLINE_WORDS_PER_KEY) && !defined(WEIR__FIXED_Z)
#error "WEIR_INLINE_WORDS_PER_KEY: define it before the first #include of <weir/inline.h>"
#endif
#ifndef WEIR_INLINE_H
#define WEIR_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <weir/export.h>
#include <weir/word.h>

/* g++ 12 warns that its own _mm512_undefined_epi32() is uninitialized (GCC bug 105593). xxHash also
 * calls that function. */
#if defined(__AVX512F__) && defined(__cplusplus) && !defined(__clang__)
#define WEIR__QUIET 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#if defined(__clang__)
/* Hide clang's warning that it did not unroll a loop, which sanitizers may cause. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#include <weir/inline_hash.h>
#include <weir/inline_layouts.h>
#include <weir/inline_test.h>
#include <weir/inline_lanes.h>

WEIR_BEGIN_DECLS

struct weir_filter;

/** A view of a blocked filter, for lookups. Read-only after weir_inline_init(); valid as long as
 * the filter. */
struct weir_inline {
	const uint64_t *words;  /* 8 * nblocks, 64-byte aligned */
	uint64_t nblocks;       /* number of blocks, lines of 64 bytes */
	uint64_t seed;          /* seed of the hash */
	uint64_t flip8;         /* weir__flip8(seed): computing it each time would delay inserts */
	uint32_t layout;        /* WEIR__LAYOUT(z, g) */
	uint32_t reserved;      /* 0 */
};

/** A view of a filter that is not const, for inserts; for lookups pass &view. Read-only after
 * weir_inline_init_mut(); valid as long as the filter. */
struct weir_inline_mut {
	struct weir_inline view;
	uint64_t *words;        /* view.words, for writing */
	int insert_error;       /* 0, or the error that all inserts return: -EROFS */
};

/**
 * Make a view of a blocked filter, for lookups.
 * @out: receives the view; untouched on failure.
 * Return: 0 or a negative errno.  Errors: -ENOTSUP if the filter is of another kind, is keyed (the
 *   inlined verbs hash by XXH3), or normalises its keys.
 * Threads: any; threads may share the view or copy it.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_inline_init(struct weir_inline *out, const struct weir_filter *f);
/** As weir_inline_init(), for lookups and inserts. The compiler refuses a const filter. Even if you
 * have a pointer to a handle's filter that is not const, insert by weir_handle_insert(). */
WEIR_API WEIR_MUST_CHECK int weir_inline_init_mut(struct weir_inline_mut *out,
                                                  struct weir_filter *f);

/**
 * Check that a filter can be inlined and has a given layout. If WEIR_INLINE_WORDS_PER_KEY is
 * defined, weir_inline_init() and weir_inline_init_mut() make this check.
 * @words_per_key, @bits_per_word: z and g, as in weir_params.blocked.
 * Return: 0 or a negative errno.  Errors: as weir_inline_init(); -ENOTSUP if the filter has another
 *   layout: weir_error_detail() names both layouts.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_inline_check_layout(const struct weir_filter *f,
                                                      uint32_t words_per_key,
                                                      uint32_t bits_per_word);

#ifdef WEIR__FIXED_Z
WEIR__INLINE WEIR_MUST_CHECK int weir__init_fixed(struct weir_inline *out,
                                                  const struct weir_filter *f)
{
	int err = weir_inline_check_layout(f, WEIR__FIXED_Z, WEIR__FIXED_G);
	return err ? err : weir_inline_init(out, f);
}

WEIR__INLINE WEIR_MUST_CHECK int weir__init_mut_fixed(struct weir_inline_mut *out,
                                                      struct weir_filter *f)
{
	int err = weir_inline_check_layout(f, WEIR__FIXED_Z, WEIR__FIXED_G);
	return err ? err : weir_inline_init_mut(out, f);
}

#define weir_inline_init(out, f) weir__init_fixed(out, f)
#define WEIR__INIT_MUT weir__init_mut_fixed
#else
#define WEIR__INIT_MUT weir_inline_init_mut
#endif

/* ---- z and g of a view ---- */

WEIR__INLINE uint32_t weir__words_per_key(const struct weir_inline *v) { return v->layout >> 16; }
WEIR__INLINE uint32_t weir__bits_per_word(const struct weir_inline *v)
{
	return v->layout >> 8 & 255;
}

/* ---- the block; inline_test.h derives its words and bits ---- */

WEIR__INLINE uint64_t weir__mulhi64(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 weir__u128;
	return (uint64_t)(((weir__u128)a * b) >> 64);
}

/* Return: the index in words of the first word of the key's block. */
WEIR__INLINE uint64_t weir__block(const struct weir_inline *v, uint64_t h)
{
	return 8 * weir__mulhi64(h, v->nblocks);
}

/* ---- the insert: test all z words before the first atomic or, since a locked instruction delays
 *      later loads ---- */

WEIR__INLINE int weir__set(uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	if (weir__test_narrow(block, r, z, g))
		/* WEIR_SEEN. Nothing is written, so cores can share the lines of hot keys. */
		return 0;
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0, mask = weir__word_mask(z, g, 0, r, r2);
	/* With one word a single atomic or sets all bits of the key, so exactly one of any number
	 * of threads sees a bit go from 0 to 1. */
	if (z == 1)
		return (mask & ~weir__word_fetch_or_relaxed(block + weir__word_index(1, 0, r),
		                                            mask)) != 0;
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++)
		weir__word_or_relaxed(block + weir__word_index(z, i, r),
		                      weir__word_mask(z, g, i, r, r2));
	return 1; /* WEIR_NEW: the test saw a bit that was 0 */
}

/* ---- any layout: z and g as variables, one word at a time ---- */

static inline bool weir__test_any(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = weir__remix2(r), all = 1;
	for (unsigned i = 0, j = 0; i < z; i++) {
		uint64_t word = weir__word_load_relaxed(block + weir__word_index(z, i, r));
		for (unsigned t = 0; t < g; t++, j++)
			all &= word >> weir__bit_index(z, j, r, r2);
	}
	return all & 1;
}

static inline int weir__set_any(uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	if (weir__test_any(block, r, z, g))
		return 0;
	uint64_t r2 = weir__remix2(r);
	for (unsigned i = 0, j = 0; i < z; i++) {
		uint64_t *word = block + weir__word_index(z, i, r), mask = 0;
		for (unsigned t = 0; t < g; t++, j++)
			mask |= UINT64_C(1) << weir__bit_index(z, j, r, r2);
		if (z == 1)
			return (mask & ~weir__word_fetch_or_relaxed(word, mask)) != 0;
		weir__word_or_relaxed(word, mask);
	}
	return 1;
}

/* ---- the verbs: keys of eight bytes and the layouts in WEIR__INLINED are inlined. Function calls
 *      handle all others, so that a caller's loop stays small ---- */

#define WEIR__OUTLINE static __attribute__((noinline, unused))

WEIR__OUTLINE uint64_t weir__hash_long(uint64_t seed, const void *key, size_t len)
{
	return XXH3_64bits_withSeed(key, len, seed);
}

/* "pure" keeps a view's fields in registers across the call. The compiler may then treat the atomic
 * loads as plain loads, which the inlined tests use for these instruction sets anyway. */
#if defined(WEIR__AVX512) || defined(WEIR__AVX2) || defined(WEIR__NEON)
__attribute__((pure))
#endif
WEIR__OUTLINE bool weir__test_other(const struct weir_inline *v, uint64_t h)
{
	const uint64_t *block = v->words + weir__block(v, h);
	uint64_t r = weir__remix(h);
#define WEIR__TRY(Z, G) \
	if (v->layout == WEIR__LAYOUT(Z, G)) \
		return weir__test(block, r, Z, G);
	WEIR__OUTLINED(WEIR__TRY)
#undef WEIR__TRY
	return weir__test_any(block, r, weir__words_per_key(v), weir__bits_per_word(v));
}

WEIR__OUTLINE int weir__set_other(const struct weir_inline *v, uint64_t *block, uint64_t r)
{
#define WEIR__TRY(Z, G) \
	if (v->layout == WEIR__LAYOUT(Z, G)) \
		return weir__set(block, r, Z, G);
	WEIR__OUTLINED(WEIR__TRY)
#undef WEIR__TRY
	return weir__set_any(block, r, weir__words_per_key(v), weir__bits_per_word(v));
}

/** As weir_hash(). */
WEIR__INLINE uint64_t weir_inline_hash(const struct weir_inline *v, const void *key, size_t len)
{
	return __builtin_expect(len == 8, 1) ? weir__hash8(v->flip8, key) :
	                                       weir__hash_long(v->seed, key, len);
}

/** As weir_contains_hash(). */
WEIR__INLINE bool weir_inline_contains_hash(const struct weir_inline *v, uint64_t h)
{
	const uint64_t *block = v->words + weir__block(v, h);
	uint64_t r = weir__remix(h);
#ifdef WEIR__TEST_LANES
	int all = weir__test_lanes(v->layout, block, r);
	return all >= 0 ? all != 0 : weir__test_other(v, h);
#else
#define WEIR__CASE(Z, G) \
	case WEIR__LAYOUT(Z, G): \
		return weir__test(block, r, Z, G);
	WEIR__SWITCH(v)
	{
		WEIR__INLINED(WEIR__CASE)
	default:
		return weir__test_other(v, h);
	}
#undef WEIR__CASE
#endif
}

/** As weir_contains(). */
WEIR__INLINE bool weir_inline_contains(const struct weir_inline *v, const void *key, size_t len)
{
	return weir_inline_contains_hash(v, weir_inline_hash(v, key, len));
}

/** As weir_contains_u64(). */
WEIR__INLINE bool weir_inline_contains_u64(const struct weir_inline *v, uint64_t key)
{
	return weir_inline_contains_hash(v, weir__hash_u64(v->flip8, key));
}

/** As weir_insert_hash(). Return: WEIR_NEW, WEIR_SEEN or -EROFS. */
WEIR__INLINE int weir_inline_insert_hash(const struct weir_inline_mut *v, uint64_t h)
{
	uint64_t *block = v->words + weir__block(&v->view, h), r = weir__remix(h);
	if (v->insert_error)
		return v->insert_error;
#define WEIR__CASE(Z, G) \
	case WEIR__LAYOUT(Z, G): \
		return weir__set(block, r, Z, G);
	WEIR__SWITCH(&v->view)
	{
		WEIR__INLINED(WEIR__CASE)
	default:
		return weir__set_other(&v->view, block, r);
	}
#undef WEIR__CASE
}

/** As weir_insert(). */
WEIR__INLINE int weir_inline_insert(const struct weir_inline_mut *v, const void *key, size_t len)
{
	return weir_inline_insert_hash(v, weir_inline_hash(&v->view, key, len));
}

/** As weir_insert_u64(). */
WEIR__INLINE int weir_inline_insert_u64(const struct weir_inline_mut *v, uint64_t key)
{
	return weir_inline_insert_hash(v, weir__hash_u64(v->view.flip8, key));
}

/* A const filter, or a view of one, must not compile here. C++ refuses it. C compilers only warn of
 * a wrong pointer type, but _Generic refuses a type that it does not list. */
#ifndef __cplusplus
#define WEIR__MUT(v, verb) \
	_Generic((v), struct weir_inline_mut *: verb, const struct weir_inline_mut *: verb)
#define weir_inline_init_mut(out, f) \
	_Generic((f), struct weir_filter *: WEIR__MUT(out, WEIR__INIT_MUT))(out, f)
#define weir_inline_insert_hash(v, ...) WEIR__MUT(v, weir_inline_insert_hash)(v, __VA_ARGS__)
#define weir_inline_insert_u64(v, ...) WEIR__MUT(v, weir_inline_insert_u64)(v, __VA_ARGS__)
#define weir_inline_insert(v, ...) WEIR__MUT(v, weir_inline_insert)(v, __VA_ARGS__)
#elif defined(WEIR__FIXED_Z)
#define weir_inline_init_mut(out, f) WEIR__INIT_MUT(out, f)
#endif

WEIR_END_DECLS

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#ifdef WEIR__QUIET
#undef WEIR__QUIET
#pragma GCC diagnostic pop
#endif

#endif
