/* SPDX-License-Identifier: MIT
 * All atomic accesses of the library except those to the bit array, which <weir/word.h> has (B1 to
 * B3). Each name ends with its memory order, or implies it. */
#ifndef WEIR_SRC_GROUND_ATOMIC_H
#define WEIR_SRC_GROUND_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/word.h>

/* O1  A part of a private filter has one owner while it is loaded by plain stores (bulk.c). Its
 *     mark names the owner; threads.h defines the values.
 *     Taking needs: everything that the previous owner wrote (acquire).  Pairs with:
 *     weir__mark_sub_release.
 *     Without the order a thread could OR into a stale word and lose the previous owner's bits.
 *     Both are read-modify-writes, so that neither misses a value stored in between. Otherwise two
 *     threads could take the part, or a drop could miss a sleeper. */
struct weir_owner {
	atomic_uint mark;
};

static inline unsigned weir__mark_load_relaxed(const struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->mark, memory_order_relaxed);
}

/* To see the writes of the last owner, if the part has no owner now. */
static inline unsigned weir__mark_load_acquire(const struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->mark, memory_order_acquire);
}

static inline bool weir__mark_swap_acquire(struct weir_owner *owner, unsigned seen, unsigned mark)
{
	return atomic_compare_exchange_strong_explicit(&owner->mark, &seen, mark,
	                                               memory_order_acquire, memory_order_relaxed);
}

/* Returns the previous mark. */
static inline unsigned weir__mark_sub_release(struct weir_owner *owner, unsigned less)
{
	return atomic_fetch_sub_explicit(&owner->mark, less, memory_order_release);
}

/* O2  A value that is the same each time it is computed (the size of a cache). Needs: only that no
 *     load or store is torn. */
static inline int weir__once_load_relaxed(const atomic_int *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static inline void weir__once_store_relaxed(atomic_int *cell, int value)
{
	atomic_store_explicit(cell, value, memory_order_relaxed);
}

/* O3  The commit record of a mapped image, shared with all processes that map it. It is
 *     little-endian, like the bits (B3).
 *     Storing needs: that a process which reads the record also sees the checksums written before
 *     it (release).  Pairs with: weir__commit_load_acquire.
 *     Without the order a verification that finds the image sealed could read old checksums.
 *     The second load of a verification needs: to come after all its reads (the fence, which
 *     ThreadSanitizer does not model). The inserting process syncs its mark before it inserts.
 *     Without the order the verification could find the old record although it read new bits. */
static inline uint64_t weir__commit_load_acquire(const uint64_t *commit)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)commit, memory_order_acquire));
}

#if defined(__SANITIZE_THREAD__) && !defined(WEIR_DET)
#define WEIR__NO_FENCE
#elif defined(__has_feature) && !defined(WEIR_DET)
#if __has_feature(thread_sanitizer)
#define WEIR__NO_FENCE
#endif
#endif

static inline uint64_t weir__commit_load_after(const uint64_t *commit)
{
#ifndef WEIR__NO_FENCE
	atomic_thread_fence(memory_order_acquire);
#endif
	return weir__commit_load_acquire(commit);
}

static inline void weir__commit_store_release(uint64_t *commit, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)commit, WEIR__LE64(value), memory_order_release);
}

/* A store that succeeds only over @old: if two processes try, one succeeds. A failed one orders
 * nothing. */
static inline bool weir__commit_swap_release(uint64_t *commit, uint64_t old, uint64_t value)
{
	uint64_t expected = WEIR__LE64(old);
	return atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)commit, &expected,
	                                               WEIR__LE64(value), memory_order_release,
	                                               memory_order_relaxed);
}

/* O4  The record that a handle publishes (H1 in set/generation.h). It is a plain pointer, since
 *     callers compile the same load into their programs: weir_handle_get() in <weir/handle.h>.
 *     Loading needs: all that its maker wrote into the record and its filters (acquire). Pairs
 *     with: weir__record_store_release.
 *     Without the order a reader could find a filter before its fields are written. */
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
 *     handle's follower, the handle that owns a filter, and call_rcu's hold of retired filters
 *     (H7).
 *     Claiming needs: the writes of the last holder (acquire). So does a test that finds the flag
 *     free, since the caller may then free objects that the holder used.  Both pair with:
 *     weir__flag_release.
 *     Without the order a writer could see the handle as it was before the last writer, and a
 *     handle could be freed while its follower uses it. With a load and a store in place of the
 *     exchange, two threads could claim the flag. */
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

/* O6  The number of users that an object still has; it is freed after the last one. The object is a
 *     handle, and its users are the retired filters that call_rcu has yet to free.
 *     Adding needs no order: the holder of the claim (O5) adds, and the thread that waits for zero
 *     takes that claim afterwards.
 *     Subtracting needs: to come after every use of the object (release).  Pairs with:
 *     weir__users_load_acquire, which needs those uses to be over when it finds zero.
 *     Without the order the object could be freed while its last user still reads it. */
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

/* O7  A figure that is reported or compared with a limit: swaps, refusals, bytes not yet freed,
 *     bytes of kept keys, nanoseconds of sleep that loaders owe.
 *     Needs: that no addition is lost; no order, since it leads to no other data.
 *     Without atomic additions some would be lost, and a limit exceeded. */
static inline uint64_t weir__figure_load_relaxed(const atomic_uint_fast64_t *figure)
{
	return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Returns the previous figure. */
static inline uint64_t weir__figure_add_relaxed(atomic_uint_fast64_t *figure, uint64_t more)
{
	return atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static inline void weir__figure_sub_relaxed(atomic_uint_fast64_t *figure, uint64_t less)
{
	atomic_fetch_sub_explicit(figure, less, memory_order_relaxed);
}

/* Change *seen to @to. On failure @seen receives the current value. */
static inline bool weir__figure_swap_relaxed(atomic_uint_fast64_t *figure, uint64_t *seen,
                                             uint64_t to)
{
	uint_fast64_t was = *seen;
	bool swapped = atomic_compare_exchange_strong_explicit(
		figure, &was, to, memory_order_relaxed, memory_order_relaxed);
	*seen = was;
	return swapped;
}

/* O8  The newest of the keys inserted before the first set (H10 in set/generation.h): a stack that
 *     only grows.
 *     Pushing needs: that a thread that sees the key also sees its bytes and all older keys
 *     (release; each push is a read-modify-write, so it continues the release of earlier pushes).
 *     Pairs with: weir__kept_load_acquire.
 *     Without the order the loader could replay a key before its bytes are written; without the
 *     exchange one of two keys pushed concurrently would be lost. */
struct weir_kept;

static inline struct weir_kept *weir__kept_load_acquire(struct weir_kept *const *newest)
{
	return __atomic_load_n(newest, __ATOMIC_ACQUIRE);
}

/* Before a push: the caller reads nothing behind the pointer. */
static inline struct weir_kept *weir__kept_load_relaxed(struct weir_kept *const *newest)
{
	return __atomic_load_n(newest, __ATOMIC_RELAXED);
}

/* Change *seen to @to. On failure @seen receives the current value. */
static inline bool weir__kept_swap_release(struct weir_kept **newest, struct weir_kept **seen,
                                           struct weir_kept *to)
{
	return __atomic_compare_exchange_n(newest, seen, to, false, __ATOMIC_RELEASE,
	                                   __ATOMIC_RELAXED);
}

/* For a figure that only the holder of the claim (O5), or a single thread (Q1 in guard.c),
 * changes. */
static inline void weir__figure_store_relaxed(atomic_uint_fast64_t *figure, uint64_t value)
{
	atomic_store_explicit(figure, value, memory_order_relaxed);
}

/* O13 The records of a growing filter's layers (G1 in growing/growing.h): the published one, and
 *     the next pointer of each.
 *     Loading needs: all that its maker wrote into the record and its newest layer
 *     (acquire).  Pairs with: weir__layers_swap_release; the publisher of a record loaded it from
 *     next, so the maker's writes come before that too.
 *     Without the order a thread could find a layer before its fields are written or its bits are
 *     zero; without the exchange one of two appended layers would be lost with its keys. */
struct weir__layers;

static inline struct weir__layers *weir__layers_load_acquire(struct weir__layers *const *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Change *seen to @to. On failure @seen receives the current value. */
static inline bool weir__layers_swap_release(struct weir__layers **at, struct weir__layers **seen,
                                             struct weir__layers *to)
{
	return __atomic_compare_exchange_n(at, seen, to, false, __ATOMIC_RELEASE,
	                                   __ATOMIC_RELAXED);
}

/* O14 A growing filter's newest layer is full (G5). Needs: no order. A thread that reads it late
 *     overfills the layer by one key. */
static inline bool weir__closed_load_relaxed(const atomic_bool *closed)
{
	return atomic_load_explicit(closed, memory_order_relaxed);
}

static inline void weir__closed_store_relaxed(atomic_bool *closed)
{
	atomic_store_explicit(closed, true, memory_order_relaxed);
}

/* O9  The last refusal (H11 in set/generation.h). Loading needs: the sentence written before it
 *     (acquire).  Pairs with: weir__refusal_store_release.
 *     Without the order a reader could copy a sentence before it is written. */
struct weir_refusal;

static inline struct weir_refusal *
weir__refusal_load_acquire(struct weir_refusal *const *published)
{
	return __atomic_load_n(published, __ATOMIC_ACQUIRE);
}

static inline void weir__refusal_store_release(struct weir_refusal **published,
                                               struct weir_refusal *refusal)
{
	__atomic_store_n(published, refusal, __ATOMIC_RELEASE);
}

#ifdef WEIR_DEBUG
/* O11 Debug builds: how many calls change a filter, and how many read it as a whole (kind.h). Each
 *     call adds itself and then reads the other count. Needs: a single order of all four accesses
 *     (seq_cst), so that at least one of two overlapping calls sees the other. */
static inline unsigned weir__apart_add(atomic_uint *calls, unsigned more)
{
	return atomic_fetch_add_explicit(calls, more, memory_order_seq_cst);
}
#endif

/* O10 The fate of a handle's previous filter (H12 in set/generation.h). It is decided once, by the
 *     first of an inserter that it refused and the rollback.
 *     Needs: that all threads get the same decision, so a read-modify-write; no order, since the
 *     answer leads to no other data, and the filter is published by other means (O4).
 *     Without the exchange the inserter and the rollback could each follow its own decision, and a
 *     key that only the abandoned filter has would have been acknowledged.
 *     A load may still find it open; a thread that acts on that decides first.
 *     Opening needs no order: the record that names the filter is published afterwards (O4). */
enum { WEIR_STANDBY_OPEN, WEIR_STANDBY_VOID, WEIR_STANDBY_RETURNS };

/* Returns the decision: @as, unless another one was made before. */
static inline unsigned weir__standby_decide_relaxed(atomic_uint *standby, unsigned as)
{
	unsigned was = WEIR_STANDBY_OPEN;
	return atomic_compare_exchange_strong_explicit(standby, &was, as, memory_order_relaxed,
	                                               memory_order_relaxed) ?
	               as :
	               was;
}

static inline unsigned weir__standby_load_relaxed(const atomic_uint *standby)
{
	return atomic_load_explicit(standby, memory_order_relaxed);
}

static inline void weir__standby_open_relaxed(atomic_uint *standby)
{
	atomic_store_explicit(standby, WEIR_STANDBY_OPEN, memory_order_relaxed);
}

/* O12 The places of the cuckoo kind, several to a word (kinds/cuckoo/move.h), and the version,
 *     which changes when a copy is taken away. All writes to a live word are compare-and-swaps.
 *     A swap needs: no other change of the word in between (the exchange). A thread that reads the
 *     word, or the result of any later swap, must see the version that the swapping thread stored
 *     before (release; a read-modify-write continues the release of the one before).
 *     Pairs with: weir__place_load_acquire.
 *     Without the order a lookup could read an emptied place and the old version: a false negative.
 *     Without the exchange another thread's copy would be lost.
 *     Storing a version needs: that a thread that loads it sees the copy in its new place, and all
 *     earlier removals (release).  Pairs with: weir__version_load_acquire.
 *     Without the order a lookup could find the new version but miss the copy.
 *     The second load of a version (again) needs: to come after the loads of the words. Their
 *     acquire ensures that. */
static inline uint64_t weir__place_load_acquire(const uint64_t *word)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire));
}

/* Change *seen to @to. On failure @seen receives the current value. */
static inline bool weir__place_swap_release(uint64_t *word, uint64_t *seen, uint64_t to)
{
	uint64_t was = WEIR__LE64(*seen);
	bool swapped = atomic_compare_exchange_strong_explicit(
		(_Atomic uint64_t *)word, &was, WEIR__LE64(to), memory_order_release,
		memory_order_relaxed);
	*seen = WEIR__LE64(was);
	return swapped;
}

static inline unsigned weir__version_load_acquire(const atomic_uint *version)
{
	return atomic_load_explicit(version, memory_order_acquire);
}

static inline unsigned weir__version_load_again(const atomic_uint *version)
{
	return atomic_load_explicit(version, memory_order_relaxed);
}

/* Only the holder of the version's stripe (O1) may call it. */
static inline void weir__version_bump_release(atomic_uint *version)
{
	atomic_store_explicit(version,
	                      atomic_load_explicit(version, memory_order_relaxed) + 1,
	                      memory_order_release);
}

/* O15 The state of a window (W1 in window/window.h).
 *     The first load of a section needs: to see the newest slot, the former spare, as clean
 *     (acquire). Pairs with: weir__window_store_seq_cst.  Without the order an insert could come
 *     before the clearing and be lost.
 *     The second load of an insert needs its place in the single order (seq_cst), after the
 *     insert's own OR and before its loads of other slots (W4). So does the store. Without it two
 *     inserts could each miss the other's bits.
 *     The second load of a lookup needs: to come after its loads of the words (the fence; W8).
 *     Pairs with: weir__slot_clear_release.  Without the order a lookup could read a cleared word,
 *     and then the state from before the clearing. */
static inline uint64_t weir__window_load_acquire(const atomic_uint_fast64_t *state)
{
	return atomic_load_explicit(state, memory_order_acquire);
}

static inline uint64_t weir__window_load_after(const atomic_uint_fast64_t *state)
{
#ifndef WEIR__NO_FENCE
	atomic_thread_fence(memory_order_acquire);
#endif
	return atomic_load_explicit(state, memory_order_relaxed);
}

static inline uint64_t weir__window_load_seq_cst(const atomic_uint_fast64_t *state)
{
	return atomic_load_explicit(state, memory_order_seq_cst);
}

static inline void weir__window_store_seq_cst(atomic_uint_fast64_t *state, uint64_t value)
{
	atomic_store_explicit(state, value, memory_order_seq_cst);
}

/* O16 A word of a window, in an insert that also checks other generations. The OR needs its place
 *     in the single order before the second load of the state and the loads of other slots' words
 *     (W4), or after the latter (W5). Pair with: each other.  Without the order: O15.
 *     Clearing needs: that a thread that reads the 0 then reads the state published before it
 *     (release).  Pairs with: weir__window_load_after.  Without the order: O15. The claim and the
 *     state pass on that the clearing is done (W1, W7). It is atomic, since a vector load of the
 *     whole line reads the spare's word too, and ignores it (B2). */
static inline uint64_t weir__slot_load_seq_cst(const uint64_t *word)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_seq_cst));
}

static inline uint64_t weir__slot_fetch_or_seq_cst(uint64_t *word, uint64_t mask)
{
	return WEIR__LE64(atomic_fetch_or_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask),
	                                           memory_order_seq_cst));
}

static inline void weir__slot_clear_release(uint64_t *word)
{
	atomic_store_explicit((_Atomic uint64_t *)word, 0, memory_order_release);
}

/* O17 The key lengths of a set with normalisation (N3 in normalise/): bits that never go back to 0.
 *     Needs: atomicity, so that no other thread's length is lost. Coherence of the word shows a bit
 *     to every lookup after the insert that noted it or found it noted.
 *     Pairs with: each other.  Without atomicity a lookup would not probe the lost length: a false
 *     negative. */
static inline uint64_t weir__length_load_relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void weir__length_or_relaxed(uint64_t *word, uint64_t bits)
{
	(void)__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

#endif
