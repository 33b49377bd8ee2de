/* SPDX-License-Identifier: MIT
 * Every memory order in the library. The words of the bit array are in <weir/word.h> (invariants
 * B1 to B3); here is the rest. The names carry the order. */
#ifndef WEIR_SRC_ATOMIC_H
#define WEIR_SRC_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/word.h>

/* O1  A shard of a private filter has one owner while it is loaded by plain stores (bulk.c).
 *     Taking needs: everything the previous owner wrote (acquire).  Pairs with: weir__owner_drop.
 *     Without the acquire a thread could or into a stale word and lose the previous owner's
 *       bits. */
struct weir_owner {
	atomic_uchar taken;
};

static inline bool weir__owner_try_acquire(struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->taken, memory_order_relaxed) == 0 &&
	       atomic_exchange_explicit(&owner->taken, 1, memory_order_acquire) == 0;
}

static inline void weir__owner_drop(struct weir_owner *owner)
{
	atomic_store_explicit(&owner->taken, 0, memory_order_release);
}

/* O2  A value computed once and the same whoever computes it (the CPU's features). Needs:
 * nothing but no tearing. */
static inline int weir__once_load_relaxed(const atomic_int *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static inline void weir__once_store_relaxed(atomic_int *cell, int value)
{
	atomic_store_explicit(cell, value, memory_order_relaxed);
}

/* O3  The commit record of a mapped image, shared with the processes that map it: little-endian, as
 * the bits (B3).
 *     Storing needs: the checksums written before it to be seen by who reads it
 *     (release).  Pairs with: weir__commit_load_acquire. Without the order a verification that
 *     finds the image sealed could meet the checksums from before. */
static inline uint64_t weir__commit_load_acquire(const uint64_t *commit)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)commit, memory_order_acquire));
}

static inline void weir__commit_store_release(uint64_t *commit, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)commit, WEIR__LE64(value), memory_order_release);
}

#endif
