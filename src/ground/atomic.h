/* SPDX-License-Identifier: MIT
 * Atomic accesses that carry an invariant of the library, each with its reason. Accesses to the bit
 * array are in <weir/word.h>. Most function names end with their memory order. */
#ifndef WEIR_SRC_GROUND_ATOMIC_H
#define WEIR_SRC_GROUND_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/word.h>

/* [OWNED-PART]  The mark that names the owner of a partition of a private filter, or of a stripe of
 *     a cuckoo filter. The owner of a partition fills the partition by plain stores (bulk.c).
 *     threads.h defines the values of a mark. Taking a partition needs acquire: the new owner must
 *     see all writes of the previous owner. It pairs with weir__mark_sub_release. Without the order
 *     the new owner could OR into a stale word and lose bits of the previous owner. Taking and
 *     dropping are read-modify-writes, so neither misses a value stored in between. Without
 *     read-modify-writes, two threads could take one partition, or a drop could miss a sleeping
 *     thread. */
struct weir_owner {
	atomic_uint mark;
};

static inline unsigned weir__mark_load_relaxed(const struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->mark, memory_order_relaxed);
}

/* If the mark names no owner, the caller sees all writes of the partition's last owner. */
static inline unsigned weir__mark_load_acquire(const struct weir_owner *owner)
{
	return atomic_load_explicit(&owner->mark, memory_order_acquire);
}

static inline bool weir__mark_swap_acquire(struct weir_owner *owner, unsigned seen, unsigned mark)
{
	return atomic_compare_exchange_strong_explicit(&owner->mark, &seen, mark,
	                                               memory_order_acquire, memory_order_relaxed);
}

/* Return: the previous mark. */
static inline unsigned weir__mark_sub_release(struct weir_owner *owner, unsigned less)
{
	return atomic_fetch_sub_explicit(&owner->mark, less, memory_order_release);
}

/* [SAME-VALUE]  A value that is the same whichever thread computes it, such as the size of a cache.
 *     The accesses need no order. They are atomic so that no load or store is torn. */
static inline int weir__once_load_relaxed(const atomic_int *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static inline void weir__once_store_relaxed(atomic_int *cell, int value)
{
	atomic_store_explicit(cell, value, memory_order_relaxed);
}

/* [COMMIT-RECORD]  The commit record of a mapped image, shared by all processes that map the image.
 *     It is little-endian, like the bits ([LITTLE-ENDIAN]). A store needs release: a process that
 *     reads the record must also see the checksums written before. It pairs with
 *     weir__commit_load_acquire. Without the order a verification that finds the image sealed could
 *     read old checksums. An inserting process marks the record as live, and inserts only after
 *     that. A verification loads the record a second time, after all its reads of bits, and so
 *     finds the mark if it may have read new bits. The fence ensures that order; ThreadSanitizer
 *     does not model the fence. Without the order the verification could read new bits but find the
 *     old record. */
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

/* Store @value only if the record is @old, so one of two competing processes succeeds. A failed
 * call is relaxed: it has no memory order. */
static inline bool weir__commit_swap_release(uint64_t *commit, uint64_t old, uint64_t value)
{
	uint64_t expected = WEIR__LE64(old);
	return atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)commit, &expected,
	                                               WEIR__LE64(value), memory_order_release,
	                                               memory_order_relaxed);
}

/* [HANDLE-RECORD]  The record that a handle publishes ([DUAL-WRITE] in set/generation.h). It is a
 *     plain pointer, because weir_handle_get() in <weir/handle.h> compiles the same load into the
 *     caller's program. A load needs acquire: the reader must see everything that the writer stored
 *     into the record and its filters. It pairs with weir__record_store_release. Without the order
 *     a reader could find a filter before its fields are written. */
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

/* [ONE-HOLDER]  A flag that has one holder at a time. Holders are the writer of a handle
 *     ([ONE-WRITER] in set/generation.h), the follower of a handle, the handle that owns a filter,
 *     and call_rcu for retired filters ([BITS-IN-USE]). A claim needs acquire: the new holder must
 *     see the writes of the last holder. A test that finds the flag free needs acquire too, since
 *     its caller may then free objects that the holder used. Both pair with weir__flag_release.
 *     Without the order a writer could see the handle as it was before the last writer, and a
 *     handle could be freed while its follower uses it. The exchange keeps two threads from
 *     claiming the flag at once. */
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

/* [USER-COUNT]  The number of retired filters of a handle that call_rcu has yet to free. Each uses
 *     the handle, which is freed when the number is 0. An addition needs no order: the adding
 *     thread holds the claim ([ONE-HOLDER]), and the thread that waits for 0 takes that claim
 *     afterwards. A subtraction needs release: it must come after the filter's last use of the
 *     handle. It pairs with weir__users_load_acquire, which sees these uses completed when it finds
 *     0. Without the order the handle could be freed while its last user still reads it. */
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

/* [PLAIN-FIGURE]  A figure that is reported or compared with a limit: swaps, refusals, bytes not
 *     yet freed, bytes of kept keys, nanoseconds that loaders still have to sleep. The accesses
 *     need no order, since a figure leads to no other data. Additions are atomic: a lost addition
 *     would let a figure exceed its limit. */
static inline uint64_t weir__figure_load_relaxed(const atomic_uint_fast64_t *figure)
{
	return atomic_load_explicit(figure, memory_order_relaxed);
}

/* Return: the previous figure. */
static inline uint64_t weir__figure_add_relaxed(atomic_uint_fast64_t *figure, uint64_t more)
{
	return atomic_fetch_add_explicit(figure, more, memory_order_relaxed);
}

static inline void weir__figure_sub_relaxed(atomic_uint_fast64_t *figure, uint64_t less)
{
	atomic_fetch_sub_explicit(figure, less, memory_order_relaxed);
}

/* Store @to if the figure is *seen. On failure *seen receives the current value. */
static inline bool weir__figure_swap_relaxed(atomic_uint_fast64_t *figure, uint64_t *seen,
                                             uint64_t to)
{
	uint_fast64_t was = *seen;
	bool swapped = atomic_compare_exchange_strong_explicit(
		figure, &was, to, memory_order_relaxed, memory_order_relaxed);
	*seen = was;
	return swapped;
}

/* [EARLY-KEYS]  The newest of the keys that were inserted before the first set ([PLACEHOLDER] in
 *     set/generation.h), the top of a stack that only grows. A push needs release: a thread that
 *     sees the key must also see its bytes and all older keys. Each push is a read-modify-write, so
 *     it continues the release of earlier pushes. It pairs with weir__kept_load_acquire. Without
 *     the order the loader could replay a key before its bytes are written; without the exchange
 *     one of two concurrent pushes would be lost. */
struct weir_kept;

static inline struct weir_kept *weir__kept_load_acquire(struct weir_kept *const *newest)
{
	return __atomic_load_n(newest, __ATOMIC_ACQUIRE);
}

/* A push needs no order for this load, since it reads nothing through the pointer. */
static inline struct weir_kept *weir__kept_load_relaxed(struct weir_kept *const *newest)
{
	return __atomic_load_n(newest, __ATOMIC_RELAXED);
}

/* Store @to if *newest is *seen. On failure *seen receives the current value. */
static inline bool weir__kept_swap_release(struct weir_kept **newest, struct weir_kept **seen,
                                           struct weir_kept *to)
{
	return __atomic_compare_exchange_n(newest, seen, to, false, __ATOMIC_RELEASE,
	                                   __ATOMIC_RELAXED);
}

/* Store a figure ([PLAIN-FIGURE]) that only one thread at a time changes, such as the holder of the
 * claim ([ONE-HOLDER]) or the thread of a cell ([GUARD-CELL] in guard.h). */
static inline void weir__figure_store_relaxed(atomic_uint_fast64_t *figure, uint64_t value)
{
	atomic_store_explicit(figure, value, memory_order_relaxed);
}

/* [GROWING-RECORDS]  The records of a growing filter's layers ([LAYER-RECORD] in
 *     growing/growing.h): the published record and the next pointer of each record. A load needs
 *     acquire: the reader must see all that was written into the record and its newest layer. It
 *     pairs with weir__layers_swap_release. A publisher has loaded the record from a next pointer,
 *     so the writes of the record's maker also come before the publication. Without the order a
 *     thread could find a layer before its fields are written or its bits are zero. Without the
 *     exchange one of two appended layers would be lost with its keys. */
struct weir__layers;

static inline struct weir__layers *weir__layers_load_acquire(struct weir__layers *const *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Store @to if *at is *seen. On failure *seen receives the current value. */
static inline bool weir__layers_swap_release(struct weir__layers **at, struct weir__layers **seen,
                                             struct weir__layers *to)
{
	return __atomic_compare_exchange_n(at, seen, to, false, __ATOMIC_RELEASE,
	                                   __ATOMIC_RELAXED);
}

/* [LAYER-FULL]  The flag that a growing filter's newest layer is full ([LAYER-AHEAD]). The accesses
 *     need no order: a thread that reads the flag late puts one key too many into the layer, or up
 *     to 64 in a batch. */
static inline bool weir__closed_load_relaxed(const atomic_bool *closed)
{
	return atomic_load_explicit(closed, memory_order_relaxed);
}

static inline void weir__closed_store_relaxed(atomic_bool *closed)
{
	atomic_store_explicit(closed, true, memory_order_relaxed);
}

/* [LAST-REFUSAL]  The last refusal ([REFUSAL-POINTER] in set/generation.h). A load needs acquire:
 *     the reader must see the sentence written before. It pairs with weir__refusal_store_release.
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
/* [DEBUG-CALLS]  Debug builds count the running calls that change a filter, and those that read it
 *     as a whole (kind.h). Each call adds itself, then reads the other count. All four accesses
 *     need a single order (seq_cst), so that at least one of two overlapping calls sees the
 *     other. */
static inline unsigned weir__apart_add(atomic_uint *calls, unsigned more)
{
	return atomic_fetch_add_explicit(calls, more, memory_order_seq_cst);
}
#endif

/* [PREVIOUS-FATE]  The fate of a handle's previous filter ([REFUSED-KEY] in set/generation.h). It
 *     is decided once, either by an inserter that the filter refused or by a rollback, whichever
 *     comes first. The decision is a read-modify-write, so that all threads get the same decision.
 *     It needs no order, since it leads to no other data; the filter is published by the record
 *     ([HANDLE-RECORD]). Without the exchange the inserter and the rollback could each follow their
 *     own decision. A key that only the abandoned filter has would then be acknowledged. A thread
 *     that loads OPEN must decide before it acts. Storing OPEN needs no order: the record that
 *     names the filter is published afterwards ([HANDLE-RECORD]). */
enum { WEIR_STANDBY_OPEN, WEIR_STANDBY_VOID, WEIR_STANDBY_RETURNS };

/* Return: the decision, which is @as unless another thread decided before. */
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

/* [CUCKOO-SLOTS]  The slots of the cuckoo kind, several to a word (kinds/cuckoo/move.h), and the
 *     version, which changes when a copy of a key is removed from a slot. All writes to a live word
 *     are compare-and-swaps. A swap needs release: a thread that reads the word, or the result of
 *     any later swap, must see the version that the swapping thread stored before. A
 *     read-modify-write continues the release of the previous swap. It pairs with
 *     weir__place_load_acquire. Without the order a lookup could read an emptied slot and the old
 *     version: a false negative. Without the exchange another thread's copy would be lost. A store
 *     of a version needs release: a thread that loads the version must see the copy in its new
 *     slot, and all earlier removals. It pairs with weir__version_load_acquire. Without the order a
 *     lookup could find the new version but miss the copy. A second load of the version must come
 *     after the loads of the words. The acquire order of those loads ensures that. */
static inline uint64_t weir__place_load_acquire(const uint64_t *word)
{
	return WEIR__LE64(
		atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire));
}

/* Store @to if *word is *seen. On failure *seen receives the current value. */
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

/* Only the holder of the version's stripe ([OWNED-PART]) may call it. */
static inline void weir__version_bump_release(atomic_uint *version)
{
	atomic_store_explicit(version,
	                      atomic_load_explicit(version, memory_order_relaxed) + 1,
	                      memory_order_release);
}

/* [WINDOW-STATE]  The state of a window ([STATE-IN-SECTION] in window/window.h). The first load of
 *     a section needs acquire: the thread must see the newest slot (the words of one generation) as
 *     cleared, since it was the spare before. It pairs with weir__window_store_seq_cst. Without the
 *     order an insert could come before the clearing and be lost. The second load of an insert and
 *     the store need a place in the single order (seq_cst). The insert does its second load after
 *     its own OR and before its loads of other slots ([ONE-NEW-AT-MOST]). Without the order two
 *     inserts could each miss the other's bits. The second load of a lookup must come after its
 *     loads of the words ([SECTION-IF-ADVANCED]). The fence ensures that. This second load pairs
 *     with weir__slot_clear_release. Without the order a lookup could read a cleared word, and then
 *     the state from before the clearing. */
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

/* [WINDOW-WORD]  A word of a window, in an insert that also checks other generations. The OR and
 *     the loads of other slots' words pair with each other. Each needs a place in the single order
 *     (seq_cst). An OR comes either before the second load of the state and the loads of other
 *     slots ([ONE-NEW-AT-MOST]), or after the loads of other slots ([ONE-NEW-AT-LEAST]).
 *     [WINDOW-STATE] says what fails without the order. Clearing needs release: a thread that reads
 *     the 0 must then read the state published before. It pairs with weir__window_load_after. The
 *     claim and the state tell other threads that the clearing is done ([STATE-IN-SECTION],
 *     [ONE-ADVANCE]). Clearing is atomic, because a vector load of the whole line also reads the
 *     spare's word and ignores it ([WORD-ATOMIC]). */
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

/* [KEY-LENGTHS]  The key lengths of a set with normalisation ([LENGTH-FIRST] in normalise/): bits
 *     that are set and never cleared. The accesses pair with each other and need no order. A lookup
 *     that comes after an insert sees that insert's bit by the coherence of the word, whether the
 *     insert set the bit or found it set. Without atomicity one thread could lose another thread's
 *     length, and lookups would not probe that length: a false negative. */
static inline uint64_t weir__length_load_relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void weir__length_or_relaxed(uint64_t *word, uint64_t bits)
{
	(void)__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

#endif
