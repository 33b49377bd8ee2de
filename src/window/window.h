/* SPDX-License-Identifier: MIT
 * The state of a window, and the rules by which no key leaves the window too early.
 *
 * A window of G generations has G+1 slots. The state of a window is the number n of its advances.
 * Slot n % (G+1) is the newest one, and the slot after it, in a circle, is the spare, which no
 * lookup reads. So an advance only adds 1 to n: it allocates nothing and cannot fail.
 *
 * [STATE-IN-SECTION]  An insert reads the state in an RCU read-side section, and uses the newest
 *    slot of that state. An advance publishes the next state, waits for a grace period, then
 *    clears the slot that it dropped. Only then may the next advance begin. So all sections that
 *    count a slot as live end before it is cleared, and the spare is clean when it becomes the
 *    newest slot.
 * [STATE-AGE]  If a section read state n, the state is n or n+1 until the section ends, since the
 *    advance to n+1 waits for it. So its inserts are in the newest slot of n, which n+1 keeps live.
 * [WINDOW-FINDS]  A lookup finds every key whose insert happens-before the lookup and whose
 *    generation is not dropped. The lookup reads a state at least as new as the insert's (coherence
 *    of the state), and the word that the insert wrote ([BITS-ONLY-SET], within a generation).
 * [ONE-NEW-AT-MOST]  With words_per_key 1, at most one insert of a key gets WEIR_NEW. An insert
 *    ORs its word in, then reads the state again, then reads the key's word in all other live
 *    slots. The OR, the second load of the state, the loads of words and the store that publishes
 *    a state are sequentially consistent. Let A and B insert the same key. If both use the same
 *    slot, only the first OR sets new bits. Otherwise let A use the newest slot of state n, and B
 *    the newest slot of n+1. If A's second load gives n, A's OR comes before the publication of
 *    n+1 in the single order. The publication comes before B's OR and B's load of A's word, so B
 *    finds the key. If A's second load gives n+1, A reads B's slot after its own OR, as B reads
 *    A's slot. So at least one of them finds the other's bits. If inserts read before the OR, or
 *    with weaker orders, both could get WEIR_NEW.
 * [ONE-NEW-AT-LEAST]  With words_per_key above 1, at least one insert of an absent key gets
 *    WEIR_NEW. An insert reads the other slots first and ORs afterwards. The first insert that
 *    ORs has read the slots before any OR, so it found nothing. If inserts read after the OR, two
 *    inserts across an advance could each find the other's bits, and neither would get WEIR_NEW.
 * [CLOCK-AFTER]  An advance reads the clock after it has published the state, and notes that time
 *    for the new generation. With T = span_seconds, the next advance is due T/(G-1) after that
 *    time. A generation takes no insert that begins after the time noted for its successor. The
 *    generation is dropped G-1 advances after its successor came, so not before T has passed. If
 *    one advance is late, all later advances are late too. A time read before the publication
 *    could be too early by any delay in between. Until its time is noted, a generation has age 0.
 * [ONE-ADVANCE]  One thread advances at a time: the one that claims the window ([ONE-HOLDER]). The
 *    claim also makes the cleared spare visible to the next advance.
 * [SECTION-IF-ADVANCED]  A lookup enters a section only if an advance interferes, since a section
 *    costs 3 to 5 ns and a lookup in cache some 5 ns (bench/MEASURED.md). A lookup reads the state,
 *    the words, and the state again. An advance publishes before it clears, so a lookup that reads
 *    a cleared word then reads a newer state. If the state is the same, the answer is right.
 *    Otherwise the lookup is repeated in a section. A lookup that finds the key needs no second
 *    load: the slot was live when the lookup began. Without the second load, a lookup could read
 *    the newest slot before a key is inserted there again, and an older slot after it was cleared.
 *    It would miss a key that was in the window all the time.
 * [WINDOW-BLOCKED]  The words of a generation are those of a blocked filter. In a ring a slot is
 *    laid out as that filter's array. In columns each word of that array is in another column. So a
 *    generation can be copied out to a blocked filter, and a blocked filter can be copied in.
 * [COPY-IN-SECTION]  A copy for an image is made in one section, so no slot that was live in its
 *    state is cleared during the copy ([STATE-IN-SECTION]). So the copy has every key that a
 *    lookup would have found. The clock is read after the words, so no key of a generation is
 *    younger than the age in the image allows. If the image shows an advance as due, that advance
 *    is late in the loaded window, which [CLOCK-AFTER] allows. During the copy another thread may
 *    publish a state, but it cannot clear a slot.
 *
 * tests/schedule runs the code through [STATE-IN-SECTION], [STATE-AGE], [ONE-NEW-AT-MOST],
 * [ONE-NEW-AT-LEAST], [SECTION-IF-ADVANCED] and [COPY-IN-SECTION], tests/unit through [CLOCK-AFTER]
 * and [WINDOW-BLOCKED]. */
#ifndef WEIR_SRC_WINDOW_WINDOW_H
#define WEIR_SRC_WINDOW_WINDOW_H

#include <pthread.h>
#include <weir/window.h>
#include "filter/filter.h"
#include "ground/atomic.h"
#include "ground/memory.h"
#include "hash/hash.h"
#include "kind/kind.h"
#include "rcu/rcu.h"

#define WEIR__WINDOW_LEAST_SPAN 0.001 /* seconds */
#define WEIR__WINDOW_MOST_SPAN 1e9

/* Return: true if span_seconds may have this value. */
static inline bool weir__window_spans(double s)
{
	return s == 0 || (s >= WEIR__WINDOW_LEAST_SPAN && s <= WEIR__WINDOW_MOST_SPAN);
}

enum { WEIR_WINDOW_SLOTS = WEIR_WINDOW_MOST + 1, WEIR_WINDOW_STEP = 64 };

/* A slot has 8 words for each block, in the order of the blocks ([WINDOW-BLOCKED]). Word n of a
 * slot is at words + slot * slot_step + n * stride. In columns slot_step is 1, so the words n of
 * all slots are side by side. In a ring stride is 1, so each slot has its own array. */
struct weir_window_bits {
	uint64_t *words;
	uint64_t blocks;    /* blocks of a slot */
	uint64_t stride;    /* distance of neighbouring words of a slot, in words */
	uint64_t slot_step; /* distance of neighbouring slots, in words */
	uint32_t slots;     /* G+1 */
	uint32_t z, g;
	bool far;           /* the bits do not fit into a core's own cache */
};

/* In columns, return the number of the key's word in a slot. @r: weir__remix(hash). */
static inline uint64_t weir__window_word(const struct weir_window_bits *b, uint64_t hash,
                                         uint64_t r)
{
	return 8 * weir__mulhi64(hash, b->blocks) + weir__word_index(1, 0, r);
}

/* In columns, return the key's word in slot 0. The key's words in the other slots follow it. */
static inline uint64_t *weir__window_column(const struct weir_window_bits *b, uint64_t hash,
                                            uint64_t r)
{
	return b->words + b->stride * weir__window_word(b, hash, r);
}

/* In a ring, return the key's block in slot 0. */
static inline uint64_t *weir__window_block(const struct weir_window_bits *b, uint64_t hash)
{
	return b->words + 8 * weir__mulhi64(hash, b->blocks);
}

static inline bool weir__window_is_ring(const struct weir_window_bits *b)
{
	return b->stride == 1;
}

/* The functions for one instruction set, layout and shape. */
struct weir_window_kernel {
	/* First field, so that a pointer to it is also a pointer to this record (create()). */
	struct weir_kernel verbs;
	/* Returns the slots that have the key, slot s in bit s. Relaxed loads: [WINDOW-FINDS]. */
	uint32_t (*look)(const struct weir_window_bits *b, uint64_t hash);
	/* Returns a bitmask of the keys (at most 64) found in any live slot, key i in bit i. */
	uint64_t (*look_each)(const struct weir_window_bits *b, const uint64_t *hashes, unsigned n,
	                      uint32_t live);
};

/* The state of a window, to which f->own points. create() makes it, and begin() or thaw() completes
 * it while the window is private. */
struct weir_window {
	/* Once the window is complete, functions only read these fields. */
	struct weir_window_bits bits;
	const struct weir_window_kernel *kernel;
	struct weir_rcu rcu;
	uint64_t sampled;      /* count a key if hash & sampled is 0; UINT64_MAX: count none */
	uint64_t enough;       /* number of counted keys that makes an advance due */
	int wake;              /* eventfd of the timer's thread, or -1 */

	_Alignas(64) atomic_uint_fast64_t state; /* [STATE-IN-SECTION]: an advance writes it once */

	_Alignas(64) atomic_bool claimed;        /* a thread advances the window ([ONE-ADVANCE]) */
	atomic_bool stopped;                     /* the timer's thread must end */
	atomic_uint_fast64_t since[WEIR_WINDOW_SLOTS];   /* [CLOCK-AFTER]: time in ns; 0: none */
	atomic_uint_fast64_t counted[WEIR_WINDOW_SLOTS]; /* number of counted keys in each slot */
	atomic_uint_fast64_t late;               /* ns: the longest delay of an advance */
	uint32_t generations;
	double span_seconds;                     /* T; 0: no advances by time */
	uint64_t generation_keys;                /* 0: no advances by number */
	uint64_t period;                         /* ns: T/(G-1), rounded up; 0: none */
	uint64_t saved;                          /* when saved, ns since 1970; 0: not loaded */
	uint64_t (*clock)(void *clock_arg);
	void *clock_arg;
	struct weir_window_run run;              /* the caller's options */
	pthread_t thread;
	pid_t process;                           /* the process of the thread; 0: no thread */
	/* during a load: generation i of the image becomes generation i + shift */
	unsigned shift;
	uint64_t began;                          /* during a load: when the ages were set */
};

static inline struct weir_window *weir__window_of(const struct weir_filter *f)
{
	return f->array.own;
}

/* Return: the slot after slot @s, in a circle. After the newest slot comes the spare. */
static inline uint32_t weir__window_next(uint32_t s, uint32_t slots)
{
	return s + 1 == slots ? 0 : s + 1;
}

/* The state has three parts, from the top: the number of advances; a bit for each live slot, which
 * are all slots but the spare; and the number of the newest slot. The number of advances gives the
 * other two parts. They are stored to save each lookup the computation. */
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

/* Read the slots in a section. Return: true if a live slot has the hash. */
bool weir__window_look_again(const struct weir_window *w, uint64_t hash);

/* Kernels for columns, with words_per_key 1. */
const struct weir_window_kernel *weir__window_columns_scalar(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx2(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx512(unsigned g);
/* Kernels for a ring. */
const struct weir_window_kernel *weir__window_ring_scalar(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx2(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx512(unsigned z, unsigned g);

/* Return: ns from the time noted for a slot to @now; 0 if no time is noted, or if the noted time is
 * after @now. */
static inline uint64_t weir__window_age(const struct weir_window *w, uint32_t slot, uint64_t now)
{
	uint64_t since = weir__figure_load_relaxed(&w->since[slot]);
	int64_t age = (int64_t)(now - since);
	return since && age > 0 ? (uint64_t)age : 0;
}

/* Return: the number of keys inserted into a slot, estimated from the sample. */
static inline uint64_t weir__window_counted(const struct weir_window *w, uint32_t slot)
{
	return w->enough == UINT64_MAX ?
	               0 : weir__figure_load_relaxed(&w->counted[slot]) * (w->sampled + 1);
}

/* Return: the slot of generation @i. The same formula gives the generation of slot @i. */
static inline uint32_t weir__window_slot(uint32_t newest, uint32_t i, uint32_t slots)
{
	return newest >= i ? newest - i : newest + slots - i;
}

/* The functions that are the same for every instruction set (insert.c, look.c). */
int weir__window_insert(struct weir_filter *f, const void *key, size_t len);
int weir__window_insert_hash(struct weir_filter *f, uint64_t hash);
int weir__window_insert_u64(struct weir_filter *f, uint64_t key);
int64_t weir__window_insert_batch(struct weir_filter *f, const struct weir_batch *batch,
                                  uint64_t *bitmap);
size_t weir__window_contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                                   uint64_t *bitmap);
/* Looks up or inserts up to 64 keys. Returns the answers, that of key i in bit i. */
typedef uint64_t weir__window_some_fn(struct weir_window *w, const uint64_t *hashes, unsigned n);
/* The loop of all batches. Return: the number of true answers. */
size_t weir__window_run(const struct weir_filter *f, const struct weir_batch *batch,
                        uint64_t *bitmap, weir__window_some_fn *some);

/* Members of struct weir_kind. */
const struct weir_kernel *weir__window_kernel(enum weir_isa isa, const struct weir_shape *shape);
int weir__window_settle(struct weir_params *p);
int weir__window_plan(const struct weir_params *p, struct weir_plan *out);
int weir__window_create(struct weir_filter *f);
int weir__window_begin(struct weir_filter *f, const struct weir_params *p);
void weir__window_asked(const struct weir_filter *f, struct weir_params *out);
void weir__window_destroy(struct weir_filter *f);
void weir__window_survey(const struct weir_filter *f, uint64_t lines, struct weir_stats *out);
int weir__window_freeze(const struct weir_filter *f, struct weir_frozen *out);
int weir__window_thaw(struct weir_filter **out, const struct weir_parts *parts,
                      const struct weir_load_options *options);
void weir__window_put(struct weir_filter *f, unsigned i, const struct weir_filter *member);
int weir__window_thawed(struct weir_filter *f, const struct weir_load_options *options);

/* Check the number of generations, and the parameters that say when and by which thread the window
 * is advanced. */
int weir__window_check_advances(const struct weir_params *p);
/* Apply the parameters for advances to a private window. Starts no timer's thread. */
void weir__window_configure(struct weir_window *w, const struct weir_params *p);
/* Return: a generation's part of the capacity. */
uint64_t weir__window_member_capacity(uint64_t capacity, uint32_t generations);
/* Return: the bytes of a window's bits. @one: the bytes of one generation. */
uint64_t weir__window_bytes(uint32_t layout, uint32_t generations, uint64_t one);

/* Return: true if an advance is due, by time or by number. @wait: receives the ns until an advance
 * by time is due; UINT64_MAX: never. */
bool weir__window_due(const struct weir_window *w, uint64_t *wait);
/* Advance the window; with @only_due, only if an advance is due. Return: 1 if the call advanced the
 * window; 0 if no advance was due; -EBUSY if another thread advances the window; -EDEADLK in a
 * read-side section. */
int weir__window_advance(struct weir_window *w, bool only_due);

/* Start the timer's thread. Return: 0 or a negative errno. */
int weir__window_timer_start(struct weir_window *w);
/* Stop the timer's thread if this process started it, and wait for its end. */
void weir__window_timer_stop(struct weir_window *w);
/* Wake the timer's thread for an advance by number. Return: false if the system refused. */
bool weir__window_wake(const struct weir_window *w);

/* A window's image is a compound (image/compound.h). Each generation is a member, a blocked filter
 * ([WINDOW-BLOCKED]), the newest first. window/kind.c has the names of the shape's fields. A
 * member's note is its age in nanoseconds when the image was saved. WEIR_WINDOW_NEVER means that
 * this generation and all older ones have never been the newest. The spare is not saved. */

enum { WEIR_WINDOW_LAYOUT, WEIR_WINDOW_G, WEIR_WINDOW_WORDS, WEIR_WINDOW_BITS }; /* shape fields */

#define WEIR_WINDOW_MOST_KEYS (UINT64_C(1) << 48) /* limit for WEIR_WINDOW_COUNTED */
#define WEIR_WINDOW_NEVER UINT64_MAX
#define WEIR_WINDOW_OLDEST (UINT64_C(1) << 62) /* 146 years in ns; twice this is below UINT64_MAX */

/* The window's own words in the image. */
enum {
	WEIR_WINDOW_SPAN,       /* span_seconds, IEEE 754 binary64 */
	WEIR_WINDOW_PER_KEYS,   /* generation_keys */
	WEIR_WINDOW_COUNTED,    /* keys counted in the newest generation */
	WEIR_WINDOW_SAVED,      /* when the image was saved, in ns since 1970 */
	WEIR_WINDOW_OWN,        /* the number of own words */
};

/* Return: the shape of a member in the image. */
struct weir_shape weir__window_member_shape(uint32_t z, uint32_t g);
double weir__window_span_of(const uint64_t own[WEIR_WINDOW_OWN]);
/* Check the number of members, the window's own words and the notes. The caller puts the image's
 * name in front of the error message. Return: 0 or -EBADMSG. */
int weir__window_check_image(const struct weir_parts *parts);
/* suits() of struct weir_kind (kind.h). */
int weir__window_member_suits(const struct weir_parts *parts, unsigned i,
                              const struct weir_layout *member);
/* Return: CLOCK_REALTIME, limited to the range of an image: 1 to 2^63. */
uint64_t weir__window_real_time(void);
/* Return: the number of generations that have been the newest. They come first in @note. */
unsigned weir__window_used(const uint64_t note[], unsigned n);

#endif
