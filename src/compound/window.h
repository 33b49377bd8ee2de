/* SPDX-License-Identifier: MIT
 * The inside of a window, and the rules that make it forget nothing too early.
 *
 * A window of G generations has G+1 slots. All that changes by an advance is one number: how many
 * advances there were. It decides which slot is which: slot n % (G+1) is the newest, and the next
 * one in turn is the spare, which nobody looks at. So an advance allocates nothing and cannot fail.
 *
 * W1  An insert reads the state inside one section and goes by that value. An advance publishes the
 *     state, then waits for a grace period, then clears the slot that it dropped, and only then may
 *     the next advance begin. So a slot is cleared only when no section is left that takes it for a
 *     live one, and the spare is clean when it becomes the newest.
 * W2  Of a section that read state n, the state is n or n+1 until it ends: the advance to n+1
 *     waits for it. So what it inserted lies in the newest slot of n, which n+1 looks at too.
 * W3  A lookup finds every key whose insert happens-before it and whose generation is not dropped:
 *     it reads a state at least as new as the insert's (coherence of the state) and the word that
 *     the insert left (B1, within a generation).
 * W4  words_per_key 1, at most one WEIR_NEW. An insert ors its word in, then reads the state
 *     again, then looks in all other live slots. All four (the or, the second load, the loads of
 *     words, the publishing store) are sequentially consistent. Let A and B insert one key. Into
 *     one slot: one or decides. Into the slots of n and n+1: if A's second load gives n, then A's
 *     or comes before the publication in the single order, that comes before B's or and so before
 *     B's look into A's slot: B finds the key. If it gives n+1, A looks into B's slot after its
 *     own or, as B looks into A's: one of them finds the other's bits, perhaps both. With the look
 *     before the or, or with weaker orders, both could be answered WEIR_NEW.
 * W5  words_per_key above 1, at least one WEIR_NEW. An insert looks in the other slots first and
 *     ors afterwards. Of all inserts of an absent key one ors first; it looked before that, and
 *     found nothing. With the look after the or, two inserts across an advance could each find the
 *     other's bits, and none be answered WEIR_NEW.
 * W6  The clock is read after the publication, and the next advance is due T/(G-1) after that: a
 *     generation takes no insert that begins after the time noted for its successor. It is dropped
 *     at the G-1st advance after that, so not before T has passed. A late advance is thus never
 *     caught up. Read before the publication, the time could be too early by any delay in between.
 * W7  One advances at a time: who claims the window (O5). The claim also hands over that the spare
 *     is clean.
 * W8  A lookup takes a section only if an advance comes in between, since a section costs as much
 *     as half a lookup. It reads the state, the words, and the state again. If it reads a word that
 *     was cleared, it then reads a newer state: an advance publishes before it clears. So if the
 *     state is the same, the words show what they would have shown in a section. If not, it looks
 *     once more, in one. A slot that has the key needs no second load: it was live when the lookup
 *     began. Breaks without it: a lookup that reads the newest slot, before a key is inserted there
 *     once more, and an older one after that was dropped and cleared, would miss a key that was in
 *     the window all the time.
 *
 * tests/schedule runs the code through W1, W2, W4, W5 and W8, tests/unit through W6. */
#ifndef WEIR_SRC_COMPOUND_WINDOW_H
#define WEIR_SRC_COMPOUND_WINDOW_H

#include <pthread.h>
#include <weir/window.h>
#include "atomic.h"
#include "hash.h"
#include "memory.h"
#include "set/rcu.h"

enum { WEIR_WINDOW_SLOTS = WEIR_WINDOW_MOST + 1, WEIR_WINDOW_STEP = 64 };

/* Word i of a key in a slot: words + group * stride + slot * slot_step + index[i], where group is
 * chosen by the hash. Columns: a group is one word of each slot, side by side. Ring: a group is a
 * line of the slot's own array. */
struct weir_window_bits {
	uint64_t *words;
	uint64_t groups;
	uint64_t stride;    /* words from group to group */
	uint64_t slot_step; /* words from slot to slot */
	uint32_t slots;     /* G+1 */
	uint32_t z, g;
	bool far;           /* it outgrows a core's own cache */
};

/* Compiled for an instruction set, a layout and a shape. */
struct weir_window_kernel {
	/* A lookup (W8). */
	bool (*contains)(const struct weir_window *w, uint64_t hash);
	/* The slots that have the key, slot s in bit s. Relaxed loads: W3. */
	uint32_t (*look)(const struct weir_window_bits *b, uint64_t hash);
	/* Of up to 64 keys: which are in one of the live slots, key i in bit i. */
	uint64_t (*look_each)(const struct weir_window_bits *b, const uint64_t *hashes, unsigned n,
	                      uint32_t live);
};

struct weir_window {
	/* Read by every verb. */
	struct weir_window_bits bits;
	struct weir_window_kernel kernel;
	struct weir_rcu rcu;
	struct weir_hashing hashing;
	uint64_t flip8;
	uint64_t sampled;      /* count a key whose hash & this is 0; UINT64_MAX: count none */
	uint64_t enough;       /* counted so: an advance is due */
	int wake;              /* eventfd of the timer's thread, or -1 */

	_Alignas(64) atomic_uint_fast64_t state; /* W1: written once an advance */

	_Alignas(64) atomic_bool claimed;        /* W7 */
	atomic_bool stopped;                     /* the timer's thread is to end */
	atomic_uint_fast64_t since[WEIR_WINDOW_SLOTS];   /* ns: became the newest (W6) */
	atomic_uint_fast64_t counted[WEIR_WINDOW_SLOTS]; /* towards enough */
	atomic_uint_fast64_t late;               /* ns, the most */
	struct weir_window_plan plan;
	uint64_t period;                         /* ns: T/(G-1), rounded up; 0: none */
	uint64_t (*clock)(void *clock_arg);
	void *clock_arg;
	struct weir_memory memory;
	pthread_t thread;
	pid_t process;                           /* that has the thread; 0: there is none */
};

/* The slot after s in turn: of the newest, the spare. */
static inline uint32_t weir__window_next(uint32_t s, uint32_t slots)
{
	return s + 1 == slots ? 0 : s + 1;
}

/* The state: the number of advances, below that the live slots, which are all but the spare, as
 * bits, and below those the slot of the newest. All but the first follow from it; here they save
 * each lookup the computing. */
enum { WEIR_WINDOW_LIVE_AT = 5, WEIR_WINDOW_ADVANCES_AT = WEIR_WINDOW_LIVE_AT + WEIR_WINDOW_SLOTS };

static inline uint64_t weir__window_state(uint64_t advances, uint32_t newest, uint32_t slots)
{
	uint32_t all = (UINT32_C(1) << slots) - 1;
	uint32_t live = all & ~(UINT32_C(1) << weir__window_next(newest, slots));
	return advances << WEIR_WINDOW_ADVANCES_AT | (uint64_t)live << WEIR_WINDOW_LIVE_AT |
	       newest;
}

static inline uint32_t weir__window_newest(uint64_t state)
{
	return (uint32_t)state & ((1 << WEIR_WINDOW_LIVE_AT) - 1);
}

static inline uint32_t weir__window_live(uint64_t state)
{
	return (uint32_t)(state >> WEIR_WINDOW_LIVE_AT) & ((1 << WEIR_WINDOW_SLOTS) - 1);
}

static inline uint64_t weir__window_advances(uint64_t state)
{
	return state >> WEIR_WINDOW_ADVANCES_AT;
}

/* In a section: has a live slot the key? */
bool weir__window_look_again(const struct weir_window *w, uint64_t hash);

/* Columns, of words_per_key 1. */
const struct weir_window_kernel *weir__window_columns(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx2(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx512(unsigned g);
/* A ring. */
const struct weir_window_kernel *weir__window_ring(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx2(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx512(unsigned z, unsigned g);

/* Check and complete options and plan. Return: 0 or a negative errno. */
int weir__window_plan(struct weir_window_options *o, const struct weir_window_options *options,
                      struct weir_window_plan *plan);

/* Batches are of up to 64 keys at a time. */
static inline size_t weir__window_some(size_t left)
{
	return left < WEIR_WINDOW_STEP ? left : WEIR_WINDOW_STEP;
}

void weir__window_hash_keys(const struct weir_window *w, const struct iovec *keys, size_t n,
                            uint64_t *out);
void weir__window_hash_fixed(const struct weir_window *w, const char *keys, size_t key_bytes,
                             size_t n, uint64_t *out);

/* What of time and number is due. *wait: ns until an advance by time, UINT64_MAX: none. */
bool weir__window_due(const struct weir_window *w, uint64_t *wait);
/* Claims, advances and releases. @only_due: 0 if it is not due. Return: 1, 0, -EBUSY, -EDEADLK. */
int weir__window_advance(struct weir_window *w, bool only_due);

/* The timer's thread. Return: 0 or a negative errno. */
int weir__window_timer_start(struct weir_window *w);
void weir__window_timer_stop(struct weir_window *w);
/* From an insert: an advance by number is due. */
void weir__window_wake(const struct weir_window *w);

#endif
