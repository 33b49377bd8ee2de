/* SPDX-License-Identifier: MIT
 * All atomic accesses of the library are here, except those to the bit array, which are in
 * <weir/word.h> (B1 to B3). Each name ends with its memory order, or implies it. */
#ifndef WEIR_SRC_GROUND_ATOMIC_H
#define WEIR_SRC_GROUND_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/word.h>

/* O1  A part of a private filter has one owner while it is loaded by plain stores (bulk.c). Its
 *     mark says whose it is; what the values mean: threads.h.
 *     Taking needs: everything that the previous owner wrote (acquire).  Pairs with:
 *     weir__mark_sub_release.
 *     Without the order a thread could or into a stale word and lose the previous owner's bits.
 *     Both are read-modify-writes, so that no value between two others is overlooked: without
 *     that two threads could take the part, or a drop could miss that somebody fell asleep. */
struct weir_owner {
	atomic_uint mark;
};

static inline unsigned weir__mark_load_relaxed(const struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->mark, memory_order_relaxed);
}

/* To know what its last owner did, if nobody owns it. */
static inline unsigned weir__mark_load_acquire(const struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->mark, memory_order_acquire);
}

static inline bool weir__mark_swap_acquire(struct weir_owner *owner, unsigned seen, unsigned mark)
{
	return atomic_compare_exchange_strong_explicit(&owner->mark, &seen, mark,
	                                               memory_order_acquire, memory_order_relaxed);
}

/* Returns the mark that it had. */
static inline unsigned weir__mark_sub_release(struct weir_owner *owner, unsigned less)
{
	return atomic_fetch_sub_explicit(&owner->mark, less, memory_order_release);
}

/* O2  A value that is the same each time it is computed (the size of the cache). Needs: only that
 *     it is not torn. */
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
 *     The second look of a verification needs: to come after all that it read (the fence, which
 *     ThreadSanitizer does not know). The other side syncs its mark before it inserts.
 *     Without the order it could find the old record after it read new bits. */
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

/* Storing, but only over @old: of two processes one succeeds. Failing, it orders nothing. */
static inline bool weir__commit_swap_release(uint64_t *commit, uint64_t old, uint64_t value)
{
	uint64_t expected = WEIR__LE64(old);
	return atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)commit, &expected,
	                                               WEIR__LE64(value), memory_order_release,
	                                               memory_order_relaxed);
}

/* O4  The record that a handle publishes (H1 in set/generation.h). It is a plain pointer, since
 *     users compile the same load into their programs: weir_handle_get() in <weir/handle.h>.
 *     Loading needs: everything that the record's maker wrote into it and its filters (acquire).
 *     Pairs with: weir__record_store_release.
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

/* O5  A flag with one holder at a time: the claim of a handle's writer (H4 in set/generation.h),
 *     a handle's follower, the handle that owns a filter, and call_rcu's hold of what was retired
 *     (H7).
 *     Claiming needs: what the last holder did (acquire). So does a test that finds the flag free,
 *     since the caller may then free what that holder used.  Both pair with: weir__flag_release.
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
 *     handle, and its users are what call_rcu has still to free.
 *     Adding needs no order: the holder of the claim (O5) adds, and the thread that waits for zero
 *     takes that claim afterwards.
 *     Subtracting needs: to come after all that was done with the object (release).  Pairs with:
 *     weir__users_load_acquire, which needs all of that when it finds zero.
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
 *     bytes of keys that are kept, nanoseconds of sleep that loaders owe.
 *     Needs: that no addition is lost; no order, since it leads to no other data.
 *     Without atomic additions some would be lost, and a limit be passed. */
static inline uint64_t weir__figure_load_relaxed(const atomic_uint_fast64_t *figure)
{
	return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Returns what it was. */
static inline uint64_t weir__figure_add_relaxed(atomic_uint_fast64_t *figure, uint64_t more)
{
	return atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static inline void weir__figure_sub_relaxed(atomic_uint_fast64_t *figure, uint64_t less)
{
	atomic_fetch_sub_explicit(figure, less, memory_order_relaxed);
}

/* From *seen to @to, or else @seen receives what it is. */
static inline bool weir__figure_swap_relaxed(atomic_uint_fast64_t *figure, uint64_t *seen,
                                             uint64_t to)
{
	uint_fast64_t was = *seen;
	bool swapped = atomic_compare_exchange_strong_explicit(
		figure, &was, to, memory_order_relaxed, memory_order_relaxed);
	*seen = was;
	return swapped;
}

/* O8  The newest of the keys that were inserted before the first set (H10 in set/generation.h): a
 *     stack that is only pushed onto.
 *     Pushing needs: that who finds the key finds its bytes, and all older keys (release, and each
 *     push is a read-modify-write, so that it continues the release of those before it).
 *     Pairs with: weir__kept_load_acquire.
 *     Without the order the loader could replay a key before its bytes are written; without the
 *     exchange one of two keys pushed at the same time would be lost. */
struct weir_kept;

static inline struct weir_kept *weir__kept_load_acquire(struct weir_kept *const *newest)
{
	return __atomic_load_n(newest, __ATOMIC_ACQUIRE);
}

/* To try a push: what is behind it is not read. */
static inline struct weir_kept *weir__kept_load_relaxed(struct weir_kept *const *newest)
{
	return __atomic_load_n(newest, __ATOMIC_RELAXED);
}

/* From *seen to @to, or else @seen receives what it is. */
static inline bool weir__kept_swap_release(struct weir_kept **newest, struct weir_kept **seen,
                                           struct weir_kept *to)
{
	return __atomic_compare_exchange_n(newest, seen, to, false, __ATOMIC_RELEASE,
	                                   __ATOMIC_RELAXED);
}

/* Of one that only the holder of the claim (O5) changes, or one thread alone (Q1 in guard.c). */
static inline void weir__figure_store_relaxed(atomic_uint_fast64_t *figure, uint64_t value)
{
	atomic_store_explicit(figure, value, memory_order_relaxed);
}

/* O13 The records of a growing filter's layers (G1 in growing/growing.h): the one that is
 *     published, and the one after each.
 *     Loading needs: everything that the record's maker wrote into it and its newest layer
 *     (acquire).  Pairs with: weir__layers_swap_release; who publishes a record has loaded it from
 *     next, so its maker's writes come before that too.
 *     Without the order a thread could find a layer before its fields are written or its bits are
 *     zero; without the exchange one of two appended layers would be lost with its keys. */
struct weir__layers;

static inline struct weir__layers *weir__layers_load_acquire(struct weir__layers *const *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* From *seen to @to, or else @seen receives what it is. */
static inline bool weir__layers_swap_release(struct weir__layers **at, struct weir__layers **seen,
                                             struct weir__layers *to)
{
	return __atomic_compare_exchange_n(at, seen, to, false, __ATOMIC_RELEASE,
	                                   __ATOMIC_RELAXED);
}

/* O14 A growing filter's newest layer is full (G5). Needs: no order. Who reads it late overfills
 *     the layer by a key. */
static inline bool weir__closed_load_relaxed(const atomic_bool *closed)
{
	return atomic_load_explicit(closed, memory_order_relaxed);
}

static inline void weir__closed_store_relaxed(atomic_bool *closed)
{
	atomic_store_explicit(closed, true, memory_order_relaxed);
}

/* O9  The last refusal (H11 in set/generation.h). Loading needs: the sentence that was written
 *     before (acquire).  Pairs with: weir__refusal_store_release.
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
/* O11 Debug builds: how many calls change a filter, and how many handle it whole (kind.h). Each
 *     adds itself and then looks at the other's number. Needs: one order of all four (seq_cst), so
 *     that of two that meet one sees the other. */
static inline unsigned weir__apart_add(atomic_uint *calls, unsigned more)
{
	return atomic_fetch_add_explicit(calls, more, memory_order_seq_cst);
}
#endif

/* O10 What becomes of a handle's previous filter (H12 in set/generation.h): decided once, by an
 *     inserter that it refused or by the rollback, whoever comes first.
 *     Needs: that all who decide agree, so a read-modify-write; no order, since the answer leads to
 *     no other data, and what it is decided about is published by other means (O4).
 *     Without the exchange an inserter and the rollback could both go by their own decision, and a
 *     key that only the given-up filter has would have been acknowledged.
 *     A look at it may find it open still: who then acts decides first.
 *     Opening needs no order: the record that names the filter is published afterwards (O4). */
enum { WEIR_STANDBY_OPEN, WEIR_STANDBY_VOID, WEIR_STANDBY_RETURNS };

/* Returns what is decided: @as, unless it was before. */
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

/* O12 The places of the cuckoo kind, several to a word (kinds/cuckoo/move.h), and the version that
 *     says when one was taken away. All writes to a live word are compare-and-swaps.
 *     A swap needs: no other change of the word in between (the exchange), and that whoever reads
 *     it, or what any later swap made of it, sees the version that its thread stored before
 *     (release; a read-modify-write continues the release of the one before).
 *     Pairs with: weir__place_load_acquire.
 *     Without the order a lookup could read a place already empty and the version as it was: a
 *     false negative. Without the exchange another thread's copy would be lost.
 *     Storing a version needs: that whoever loads it sees the copy in its new place, and all that
 *     was taken away before (release).  Pairs with: weir__version_load_acquire.
 *     Without the order a lookup could find the new version and yet not the copy.
 *     The second load of a version (again) needs: to come after the loads of the words, which their
 *     acquire gives. */
static inline uint64_t weir__place_load_acquire(const uint64_t *word)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire));
}

/* From *seen to @to, or else @seen receives what it is. */
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

/* By the one that holds the version's stripe (O1). */
static inline void weir__version_bump_release(atomic_uint *version)
{
	atomic_store_explicit(version,
	                      atomic_load_explicit(version, memory_order_relaxed) + 1,
	                      memory_order_release);
}

/* O15 The state of a window (W1 in window/window.h).
 *     The first load of a section needs: the clean spare that the state made the newest (acquire).
 *     Pairs with: weir__window_store_seq_cst.  Without the order an insert could come before the
 *     clearing, and be lost.
 *     The second load of an insert needs its place in the single order, after the insert's own or
 *     and before its look at other slots (W4), and so does the store. Without it two inserts could
 *     each miss the other's bits.
 *     The second load of a lookup needs: to come after the words that it read (the fence; W8).
 *     Pairs with: weir__slot_clear_release.  Without the order a lookup could read a word that was
 *     cleared, and then the state from before that. */
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

/* O16 A word of a window, of an insert that looks at other generations too. The or needs its place
 *     in the single order before the second load of the state and the loads of other slots' words
 *     (W4), or after the latter (W5). Pair with: each other.  Without the order: O15.
 *     Clearing needs: that whoever reads the 0 then reads the state that was published before it
 *     (release).  Pairs with: weir__window_load_after.  Without the order: O15. The claim and the
 *     state hand on that it is done (W1, W7). Atomic, since a vector load of the whole line reads
 *     the spare's word too, and ignores it (B2). */
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

/* O17 The lengths of keys that a set with normalisation has (N3 in normalise/): bits of a word that
 *     only rise.
 *     Needs: atomicity, so that no other thread's length is lost; the coherence of the word shows a
 *     bit to every lookup after the insert that noted it or found it noted.
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
