/* SPDX-License-Identifier: MIT
 * All memory orders of the library are here, or in <weir/word.h> for the words of the bit array (B1
 * to B3). The names carry the order. */
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

/* O2  A value that is the same each time it is computed (the CPU's features). Needs: only that it
 * is not torn. */
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
 *     Storing needs: that a process which reads it sees the checksums written before it (release).
 *     Pairs with: weir__commit_load_acquire. Without the order a verification that finds the image
 *     sealed could meet the checksums from before. */
static inline uint64_t weir__commit_load_acquire(const uint64_t *commit)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)commit, memory_order_acquire));
}

static inline void weir__commit_store_release(uint64_t *commit, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)commit, WEIR__LE64(value), memory_order_release);
}

/* O4  The record that a handle publishes (H1 in set/generation.h). A plain pointer, since users
 * compile the same load into their programs: weir_handle_get() in <weir/handle.h>.
 *     Loading needs: what the record's maker wrote into it and into its filters (acquire).
 *     Pairs with: weir__record_store_release. Without the order a reader could find a filter whose
 *     fields are not there yet. */
struct weir_generation;

static inline struct weir_generation *
weir__record_load_acquire(struct weir_generation *const *published)
{
	return __atomic_load_n(published, __ATOMIC_ACQUIRE);
}

static inline void weir__record_store_release(struct weir_generation **published,
                                              struct weir_generation *record)
{
	__atomic_store_n(published, record, __ATOMIC_RELEASE);
}

/* O5  A flag with one holder at a time: the claim of a handle's writer (H4 in set/generation.h), a
 * handle's follower.
 *     Claiming needs: what the last holder did (acquire). So does asking, if the flag is found
 *     free: what that holder used may be freed then.  Both pair with: weir__flag_release.
 *     Without the order a writer could find the handle as it was before the last writer, and a
 *     handle could be freed under its follower. By a load and a store instead of the exchange two
 *     could claim it. */
static inline bool weir__flag_claim_acquire(atomic_bool *flag)
{
	return !atomic_exchange_explicit(flag, true, memory_order_acquire);
}

static inline void weir__flag_release(atomic_bool *flag)
{
	atomic_store_explicit(flag, false, memory_order_release);
}

static inline bool weir__flag_held_acquire(const atomic_bool *flag)
{
	return atomic_load_explicit(flag, memory_order_acquire);
}

/* O6  How many uses of an object are left that must end before it is freed: what call_rcu has still
 * to free for a handle. Adding needs no order: it is done by the holder of the claim (O5), which
 * the thread that waits for zero takes afterwards.
 *     Subtracting needs: to come after all that was done with the object (release).  Pairs with:
 *     weir__users_load_acquire, which needs all of that when it finds zero. Without the order the
 *     object could be freed while its last user still reads it. */
static inline void weir__users_add_relaxed(atomic_uint *users)
{
	atomic_fetch_add_explicit(users, 1, memory_order_relaxed);
}

static inline void weir__users_sub_release(atomic_uint *users)
{
	atomic_fetch_sub_explicit(users, 1, memory_order_release);
}

static inline unsigned weir__users_load_acquire(const atomic_uint *users)
{
	return atomic_load_explicit(users, memory_order_acquire);
}

/* O7  A figure that is reported, or compared with a limit: swaps, refusals, bytes that wait to be
 * freed. Needs: that no addition is lost; no order, since nothing else is found by it. Without
 * atomic additions some would be lost. */
static inline uint64_t weir__figure_load_relaxed(const atomic_uint_fast64_t *figure)
{
	return atomic_load_explicit(figure, memory_order_relaxed);
}

static inline void weir__figure_add_relaxed(atomic_uint_fast64_t *figure, uint64_t more)
{
	atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static inline void weir__figure_sub_relaxed(atomic_uint_fast64_t *figure, uint64_t less)
{
	atomic_fetch_sub_explicit(figure, less, memory_order_relaxed);
}

#endif
