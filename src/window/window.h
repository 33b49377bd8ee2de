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
 *     Until it is noted the generation is as old as the look at it.
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
 * W9  A generation is a blocked filter: its words have the key where that kind has it. A ring's
 *     stand as that kind's array does, one word of each column does. So a generation that is
 *     copied out is one, and a blocked filter's words can be put in.
 * W10 A copy for an image is made in one section: what was live at the state that it read is not
 *     cleared meanwhile (W1). So it has every key that a lookup would have found, whatever advances
 *     in the meantime. The clock is read after the words, so no generation in the image has a key
 *     that is younger than the image says it can be. An advance that is due in the image was late,
 *     and W6 holds for it as for any other. What the copy holds up is the clearing alone.
 *
 * tests/schedule runs the code through W1, W2, W4, W5, W8 and W10, tests/unit through W6 and W9. */
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

/* Is it a span_seconds? */
static inline bool weir__window_spans(double s)
{
	return s == 0 || (s >= WEIR__WINDOW_LEAST_SPAN && s <= WEIR__WINDOW_MOST_SPAN);
}

enum { WEIR_WINDOW_SLOTS = WEIR_WINDOW_MOST + 1, WEIR_WINDOW_STEP = 64 };

/* A slot's words are its blocks' of 8, one after the other (W9). Its word n, with n = 8 * q + r:
 * words + slot * slot_step + n * stride in columns, where the words n of all slots are side by
 * side; words + slot * slot_step + n in a ring, where each slot has an array of its own. */
struct weir_window_bits {
	uint64_t *words;
	uint64_t blocks;    /* of a slot */
	uint64_t stride;    /* words from one of a slot's to the next */
	uint64_t slot_step; /* words from slot to slot */
	uint32_t slots;     /* G+1 */
	uint32_t z, g;
	bool far;           /* it outgrows a core's own cache */
};

/* In columns: which word of a slot is the key's. @r: weir__remix(hash). */
static inline uint64_t weir__window_word(const struct weir_window_bits *b, uint64_t hash,
                                         uint64_t r)
{
	return 8 * weir__mulhi64(hash, b->blocks) + weir__word_index(1, 0, r);
}

/* Slot 0's word of the key, with those of the others behind it. */
static inline uint64_t *weir__window_column(const struct weir_window_bits *b, uint64_t hash,
                                            uint64_t r)
{
	return b->words + b->stride * weir__window_word(b, hash, r);
}

/* In a ring: slot 0's block of a key. */
static inline uint64_t *weir__window_block(const struct weir_window_bits *b, uint64_t hash)
{
	return b->words + 8 * weir__mulhi64(hash, b->blocks);
}

static inline bool weir__window_is_ring(const struct weir_window_bits *b)
{
	return b->stride == 1;
}

/* Compiled for an instruction set, a layout and a shape. */
struct weir_window_kernel {
	struct weir_kernel verbs; /* first: it is the filter's (W8) */
	/* The slots that have the key, slot s in bit s. Relaxed loads: W3. */
	uint32_t (*look)(const struct weir_window_bits *b, uint64_t hash);
	/* Of up to 64 keys: which are in one of the live slots, key i in bit i. */
	uint64_t (*look_each)(const struct weir_window_bits *b, const uint64_t *hashes, unsigned n,
	                      uint32_t live);
};

/* A filter's own. create() makes it, begin() or thaw() complete it before others get the filter. */
struct weir_window {
	/* Read by every verb. */
	struct weir_window_bits bits;
	const struct weir_window_kernel *kernel;
	struct weir_rcu rcu;
	uint64_t sampled;      /* count a key whose hash & this is 0; UINT64_MAX: count none */
	uint64_t enough;       /* counted so: an advance is due */
	int wake;              /* eventfd of the timer's thread, or -1 */

	_Alignas(64) atomic_uint_fast64_t state; /* W1: written once an advance */

	_Alignas(64) atomic_bool claimed;        /* W7 */
	atomic_bool stopped;                     /* the timer's thread is to end */
	atomic_uint_fast64_t since[WEIR_WINDOW_SLOTS];   /* ns: the newest (W6); 0: just now */
	atomic_uint_fast64_t counted[WEIR_WINDOW_SLOTS]; /* towards enough */
	atomic_uint_fast64_t late;               /* ns, the most */
	uint32_t generations;
	double span_seconds;                     /* T; 0: none */
	uint64_t generation_keys;                /* 0: none */
	uint64_t period;                         /* ns: T/(G-1), rounded up; 0: none */
	uint64_t saved;                          /* ns since 1970, of its image; 0: it had none */
	uint64_t (*clock)(void *clock_arg);
	void *clock_arg;
	struct weir_window_run run;              /* as asked */
	pthread_t thread;
	pid_t process;                           /* that has the thread; 0: there is none */
	/* while it is loaded: image generation i becomes generation i + shift */
	unsigned shift;
	uint64_t began;                          /* by its clock: its ages were set then */
};

static inline struct weir_window *weir__window_of(const struct weir_filter *f)
{
	return f->array.own;
}

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
const struct weir_window_kernel *weir__window_columns_scalar(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx2(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx512(unsigned g);
/* A ring. */
const struct weir_window_kernel *weir__window_ring_scalar(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx2(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx512(unsigned z, unsigned g);

/* How long ago a slot became the newest, in ns. The clock's numbers may wrap; and an advance may
 * have come after the look at it. */
static inline uint64_t weir__window_age(const struct weir_window *w, uint32_t slot, uint64_t now)
{
	uint64_t since = weir__figure_load_relaxed(&w->since[slot]);
	int64_t age = (int64_t)(now - since);
	return since && age > 0 ? (uint64_t)age : 0;
}

/* Keys counted towards generation_keys, of a slot. */
static inline uint64_t weir__window_counted(const struct weir_window *w, uint32_t slot)
{
	return w->enough == UINT64_MAX ?
	               0 : weir__figure_load_relaxed(&w->counted[slot]) * (w->sampled + 1);
}

/* The slot of generation i, and the generation of slot i. */
static inline uint32_t weir__window_slot(uint32_t newest, uint32_t i, uint32_t slots)
{
	return newest >= i ? newest - i : newest + slots - i;
}

/* The hot verbs that are the same for every instruction set (insert.c, look.c). */
int weir__window_insert(struct weir_filter *f, const void *key, size_t len);
int weir__window_insert_hash(struct weir_filter *f, uint64_t hash);
int weir__window_insert_u64(struct weir_filter *f, uint64_t key);
int64_t weir__window_insert_batch(struct weir_filter *f, const struct weir_batch *batch,
                                  uint64_t *bitmap);
size_t weir__window_contains_batch(const struct weir_filter *f, const struct weir_batch *batch,
                                   uint64_t *bitmap);
/* Of up to 64 keys: the answers, key i's in bit i. */
typedef uint64_t weir__window_some_fn(struct weir_window *w, const uint64_t *hashes, unsigned n);
/* The one loop of batches. Return: how many answers are true. */
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

/* What of the parameters says when it advances, and by whom. */
int weir__window_check_turns(const struct weir_params *p);
/* Take that into a window that nobody else has: all but the timer's thread. */
void weir__window_furnish(struct weir_window *w, const struct weir_params *p);
/* A generation's share of the keys. */
uint64_t weir__window_member_capacity(uint64_t capacity, uint32_t generations);
/* The bytes of bits of a window, and those of a generation alone. */
uint64_t weir__window_bytes(uint32_t layout, uint32_t generations, uint64_t one);

/* What of time and number is due. *wait: ns until an advance by time, UINT64_MAX: none. */
bool weir__window_due(const struct weir_window *w, uint64_t *wait);
/* Claims, advances and releases. @only_due: 0 if it is not due. Return: 1, 0, -EBUSY, -EDEADLK. */
int weir__window_advance(struct weir_window *w, bool only_due);

/* The timer's thread. Return: 0 or a negative errno. */
int weir__window_timer_start(struct weir_window *w);
void weir__window_timer_stop(struct weir_window *w);
/* From an insert: an advance by number is due. Return: false the system refused. */
bool weir__window_wake(const struct weir_window *w);

/* What an image says of a window. It is a compound (image/compound.h) with a member for each
 * generation, the newest first, which is a blocked filter (W9). Of the shape's numbers the names
 * are in window/kind.c. A member's note is its age in nanoseconds when the image was saved, or
 * WEIR_WINDOW_NEVER: it was never the newest, like all after it. The spare is not saved. */

enum { WEIR_WINDOW_LAYOUT, WEIR_WINDOW_G, WEIR_WINDOW_WORDS, WEIR_WINDOW_BITS }; /* of its shape */

#define WEIR_WINDOW_MOST_KEYS (UINT64_C(1) << 48) /* that are counted in the newest generation */
#define WEIR_WINDOW_NEVER UINT64_MAX
#define WEIR_WINDOW_OLDEST (UINT64_C(1) << 62) /* ns: 146 years. The sum of two fits a uint64_t. */

/* The words for its own use. */
enum {
	WEIR_WINDOW_SPAN,       /* span_seconds, IEEE 754 binary64 */
	WEIR_WINDOW_PER_KEYS,   /* generation_keys */
	WEIR_WINDOW_COUNTED,    /* of them, in the newest generation */
	WEIR_WINDOW_SAVED,      /* when, in ns since 1970 */
	WEIR_WINDOW_OWN,        /* how many */
};

/* A member as it is saved. */
struct weir_shape weir__window_member_shape(uint32_t z, uint32_t g);
double weir__window_span_of(const uint64_t own[WEIR_WINDOW_OWN]);
/* Do the number of members, the words of its own and the notes make sense? Else the sentence does
 * not begin with the image's name. Return: 0 or -EBADMSG. */
int weir__window_suits(const struct weir_parts *parts);
/* As suits() in kind.h. */
int weir__window_member_suits(const struct weir_parts *parts, unsigned i,
                              const struct weir_layout *member);
/* CLOCK_REALTIME as an image may have it, whatever the machine's clock says: 1 to 2^63. */
uint64_t weir__window_real_time(void);
/* Generations that have been the newest: the first so many. */
unsigned weir__window_used(const uint64_t note[], unsigned n);

#endif
