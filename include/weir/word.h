/* SPDX-License-Identifier: MIT
 * A 64-bit word of a filter's array, the accesses to it, and why relaxed order is enough for all of
 * them.
 *
 * [BITS-ONLY-SET]  A bit of a live blocked or classic filter only goes from 0 to 1.
 *     So a lookup sees every insert that happens-before it. Both access the same word, and
 *     coherence (C11 5.1.2.4p18-19) forbids the lookup to read a value older than the insert's. No
 *     later value has the bit cleared. An insert that does not happen-before a lookup is concurrent
 *     with it, and either answer is right. The value of a word implies nothing about another word,
 *     so no access needs acquire or release.
 *     Breaks without it: if an insert were a plain load, or, and store, it could clear the bits
 *     that another thread sets in between (a false negative).
 * [WORD-ATOMIC]  Words are 64-bit atomics. A vector load of a cache line counts as eight loads. It
 *    need not be atomic as a whole, since by [BITS-ONLY-SET] each word may be read at its own time.
 *    x86-64 and AArch64 never tear an aligned 64-bit lane of a vector load. ThreadSanitizer does
 *    not know this, so its builds use the scalar code.
 * [LITTLE-ENDIAN]  In memory a word is little-endian on every machine, as in the image. So machines
 *    of both byte orders can map one image.
 *
 * tests/schedule tests every interleaving and stale read, and must find planted bugs. tests/stress
 * runs real threads.
 */
#ifndef WEIR_WORD_H
#define WEIR_WORD_H

#include <stdbool.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WEIR__LE64(x) __builtin_bswap64(x)
#else
#define WEIR__LE64(x) (x)
#endif

#define WEIR__INLINE static inline __attribute__((always_inline))

/* Needs: the latest value that happens-before the load ([BITS-ONLY-SET]).  Pairs with:
 * weir__word_or_relaxed, weir__word_fetch_or_relaxed. */
WEIR__INLINE uint64_t weir__word_load_relaxed(const uint64_t *word)
{
#ifdef __cplusplus
	return WEIR__LE64(__atomic_load_n(word, __ATOMIC_RELAXED));
#else
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_relaxed));
#endif
}

/* Needs: atomicity, so that no other thread's bit is lost.  Pairs with: weir__word_load_relaxed. */
WEIR__INLINE void weir__word_or_relaxed(uint64_t *word, uint64_t mask)
{
#ifdef __cplusplus
	(void)__atomic_fetch_or(word, WEIR__LE64(mask), __ATOMIC_RELAXED);
#else
	(void)atomic_fetch_or_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask),
	                               memory_order_relaxed);
#endif
}

/* Set bits as weir__word_or_relaxed does, and return the value before, so that exactly one of any
 * number of threads sees a bit go from 0 to 1. On x86-64 an or that returns a value is a
 * compare-and-swap loop, which costs more. The loop loses at most as many rounds as the word has
 * bits, since in each lost round another thread has set a bit. */
WEIR__INLINE uint64_t weir__word_fetch_or_relaxed(uint64_t *word, uint64_t mask)
{
#ifdef __cplusplus
	return WEIR__LE64(__atomic_fetch_or(word, WEIR__LE64(mask), __ATOMIC_RELAXED));
#else
	return WEIR__LE64(atomic_fetch_or_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask),
	                                           memory_order_relaxed));
#endif
}

#ifndef __cplusplus
/* Replace *seen by @value, for kinds whose words are more than bits. If the word is no longer
 * *seen, return false and set *seen to the word's present value. Needs: atomicity, so that no other
 * thread's change is lost.  Pairs with: weir__word_load_relaxed and itself.  Breaks without it: as
 * in [BITS-ONLY-SET], this call would undo a change that another thread made after *seen was
 * read. */
WEIR__INLINE bool weir__word_swap_relaxed(uint64_t *word, uint64_t *seen, uint64_t value)
{
	uint64_t stored = WEIR__LE64(*seen);
	bool swapped = atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)word, &stored,
	                                                       WEIR__LE64(value),
	                                                       memory_order_relaxed,
	                                                       memory_order_relaxed);
	*seen = WEIR__LE64(stored);
	return swapped;
}
#endif

#endif
