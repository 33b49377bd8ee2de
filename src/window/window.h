/* SPDX-License-Identifier: MIT
 * The inside of a window, and the rules by which it forgets nothing too early.
 *
 * A window of G generations has G+1 slots. An advance changes only one number: how many advances
 * there were. It decides which slot is which: slot n % (G+1) is the newest, and the next one in
 * turn is the spare, which no lookup reads. So an advance allocates nothing and cannot fail.
 *
 * W1  An insert reads the state inside one section and goes by that value. An advance publishes the
 *     state, waits for a grace period, then clears the slot that it dropped. Only then may the next
 *     advance begin. So a slot is cleared only after all sections that take it for a live one have
 *     ended, and the spare is clean when it becomes the newest.
 * W2  If a section read state n, the state is n or n+1 until the section ends: the advance to n+1
 *     waits for it. So its inserts lie in the newest slot of n, which n+1 looks at too.
 * W3  A lookup finds every key whose insert happens-before it and whose generation is not dropped.
 *     It reads a state at least as new as the insert's (coherence of the state), and the word that
 *     the insert left (B1, within a generation).
 * W4  words_per_key 1, at most one WEIR_NEW. An insert ORs its word in, then reads the state again,
 *     then looks in all other live slots. All four (the OR, the second load, the loads of words,
 *     the publishing store) are sequentially consistent. Let A and B insert one key. Into one slot:
 *     one OR decides. Into the slots of n and n+1: if A's second load gives n, A's OR comes before
 *     the publication in the single order. The publication comes before B's OR, and so before B's
 *     look into A's slot: B finds the key. If A's second load gives n+1, A looks into B's slot
 *     after its own OR, as B looks into A's: one of them finds the other's bits, perhaps both do.
 *     With the look before the OR, or with weaker orders, both could get WEIR_NEW.
 * W5  words_per_key above 1, at least one WEIR_NEW. An insert looks in the other slots first and
 *     ORs afterwards. Among all inserts of an absent key one ORs first; it looked before that, and
 *     found nothing. With the look after the OR, two inserts across an advance could each find the
 *     other's bits, and neither would get WEIR_NEW.
 * W6  The clock is read after the publication, and the next advance is due T/(G-1) after that. A
 *     generation takes no insert that begins after the time noted for its successor. It is dropped
 *     at the G-1st advance after that, so not before T has passed. A late advance is thus never
 *     caught up. A time read before the publication could be too early by any delay in between.
 *     Until its time is noted, a generation has age 0.
 * W7  One thread advances at a time: the one that claims the window (O5). The claim also hands over
 *     that the spare is clean.
 * W8  A lookup enters a section only if an advance comes in between, since a section costs half as
 *     much as a lookup. It reads the state, the words, and the state again. If it reads a word that
 *     was cleared, it then reads a newer state: an advance publishes before it clears. So if the
 *     state is the same, the words show what they would have shown in a section. If not, the lookup
 *     looks once more, in a section. A slot that has the key needs no second load: it was live when
 *     the lookup began.
 *     Breaks without it: a lookup reads the newest slot before a key is inserted there once more,
 *     and reads an older slot after that was dropped and cleared. It would miss a key that was in
 *     the window all the time.
 * W9  A generation is a blocked filter: its words have the key where that kind has it. A ring's
 *     slot is laid out as that kind's array; in columns, one word of each column is. So a
 *     generation that is copied out is a blocked filter, and a blocked filter's words can be put
 *     in.
 * W10 A copy for an image is made in one section: a slot that was live at the state it read is not
 *     cleared during the copy (W1). So the copy has every key that a lookup would have found,
 *     whatever advances come. The clock is read after the words, so no generation in the image has
 *     a key that is younger than the image says it can be. An advance that is due in the image was
 *     late, and W6 holds for it as for any other. The copy delays only the clearing.
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

/* Is it a legal span_seconds? */
static inline bool weir__window_spans(double s)
{
	return s == 0 || (s >= WEIR__WINDOW_LEAST_SPAN && s <= WEIR__WINDOW_MOST_SPAN);
}

enum { WEIR_WINDOW_SLOTS = WEIR_WINDOW_MOST + 1, WEIR_WINDOW_STEP = 64 };

/* The words of a slot are those of its blocks, 8 each, in order (W9). Its word n is at
 * words + slot * slot_step + n * stride in columns: the words n of all slots are side by side;
 * words + slot * slot_step + n in a ring: each slot has an array of its own. */
struct weir_window_bits {
	uint64_t *words;
	uint64_t blocks;    /* of a slot */
	uint64_t stride;    /* words from one word of a slot to its next */
	uint64_t slot_step; /* words from slot to slot */
	uint32_t slots;     /* G+1 */
	uint32_t z, g;
	bool far;           /* the bits do not fit a core's own cache */
};

/* In columns: the number of the key's word in a slot. @r: weir__remix(hash). */
static inline uint64_t weir__window_word(const struct weir_window_bits *b, uint64_t hash,
                                         uint64_t r)
{
	return 8 * weir__mulhi64(hash, b->blocks) + weir__word_index(1, 0, r);
}

/* The key's word in slot 0; those of the other slots follow. */
static inline uint64_t *weir__window_column(const struct weir_window_bits *b, uint64_t hash,
                                            uint64_t r)
{
	return b->words + b->stride * weir__window_word(b, hash, r);
}

/* In a ring: the key's block in slot 0. */
static inline uint64_t *weir__window_block(const struct weir_window_bits *b, uint64_t hash)
{
	return b->words + 8 * weir__mulhi64(hash, b->blocks);
}

static inline bool weir__window_is_ring(const struct weir_window_bits *b)
{
	return b->stride == 1;
}

/* Compiled for one instruction set, layout and shape. */
struct weir_window_kernel {
	struct weir_kernel verbs; /* first: it is also the filter's kernel (W8) */
	/* The slots that have the key, slot s in bit s. Relaxed loads: W3. */
	uint32_t (*look)(const struct weir_window_bits *b, uint64_t hash);
	/* A bitmask of the keys (at most 64) found in any live slot, key i in bit i. */
	uint64_t (*look_each)(const struct weir_window_bits *b, const uint64_t *hashes, unsigned n,
	                      uint32_t live);
};

/* f->own. create() makes it; begin() or thaw() completes it before other threads get the filter. */
struct weir_window {
	/* Read by every verb. */
	struct weir_window_bits bits;
	const struct weir_window_kernel *kernel;
	struct weir_rcu rcu;
	uint64_t sampled;      /* count a key whose hash & this is 0; UINT64_MAX: count none */
	uint64_t enough;       /* that many counted keys make an advance due */
	int wake;              /* eventfd of the timer's thread, or -1 */

	_Alignas(64) atomic_uint_fast64_t state; /* W1: written once an advance */

	_Alignas(64) atomic_bool claimed;        /* W7 */
	atomic_bool stopped;                     /* the timer's thread must end */
	atomic_uint_fast64_t since[WEIR_WINDOW_SLOTS];   /* ns: newest since (W6); 0: not noted */
	atomic_uint_fast64_t counted[WEIR_WINDOW_SLOTS]; /* towards enough */
	atomic_uint_fast64_t late;               /* ns: by how much an advance was late, the most */
	uint32_t generations;
	double span_seconds;                     /* T; 0: none */
	uint64_t generation_keys;                /* 0: none */
	uint64_t period;                         /* ns: T/(G-1), rounded up; 0: none */
	uint64_t saved;                          /* ns since 1970, of its image; 0: no image */
	uint64_t (*clock)(void *clock_arg);
	void *clock_arg;
	struct weir_window_run run;              /* as asked */
	pthread_t thread;
	pid_t process;                           /* that runs the thread; 0: no thread */
	/* while it is loaded: image generation i becomes generation i + shift */
	unsigned shift;
	uint64_t began;                          /* by its clock: when its ages were set */
};

static inline struct weir_window *weir__window_of(const struct weir_filter *f)
{
	return f->array.own;
}

/* The slot after s in turn; after the newest comes the spare. */
static inline uint32_t weir__window_next(uint32_t s, uint32_t slots)
{
	return s + 1 == slots ? 0 : s + 1;
}

/* The state. From the top: the number of advances; the live slots as bits, which are all but the
 * spare; the slot of the newest. The last two follow from the first; stored, they save each lookup
 * the computation. */
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

/* Look once more, in a section: does a live slot have the key? */
bool weir__window_look_again(const struct weir_window *w, uint64_t hash);

/* Kernels of columns, with words_per_key 1. */
const struct weir_window_kernel *weir__window_columns_scalar(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx2(unsigned g);
const struct weir_window_kernel *weir__window_columns_avx512(unsigned g);
/* Kernels of a ring. */
const struct weir_window_kernel *weir__window_ring_scalar(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx2(unsigned z, unsigned g);
const struct weir_window_kernel *weir__window_ring_avx512(unsigned z, unsigned g);

/* The time since a slot became the newest, in ns. The clock's numbers may wrap, and an advance may
 * have come after @now was read. */
static inline uint64_t weir__window_age(const struct weir_window *w, uint32_t slot, uint64_t now)
{
	uint64_t since = weir__figure_load_relaxed(&w->since[slot]);
	int64_t age = (int64_t)(now - since);
	return since && age > 0 ? (uint64_t)age : 0;
}

/* The keys of a slot counted towards generation_keys, scaled up from the sample. */
static inline uint64_t weir__window_counted(const struct weir_window *w, uint32_t slot)
{
	return w->enough == UINT64_MAX ?
	               0 : weir__figure_load_relaxed(&w->counted[slot]) * (w->sampled + 1);
}

/* The slot of generation i. The same formula gives the generation of slot i. */
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
/* Answers up to 64 keys: key i in bit i. */
typedef uint64_t weir__window_some_fn(struct weir_window *w, const uint64_t *hashes, unsigned n);
/* The one loop of batches. Return: the number of true answers. */
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

/* Check the parameters that say when the window advances, and which thread does it. */
int weir__window_check_turns(const struct weir_params *p);
/* Put those into a private window; the timer's thread is not started here. */
void weir__window_furnish(struct weir_window *w, const struct weir_params *p);
/* A generation's share of the keys. */
uint64_t weir__window_member_capacity(uint64_t capacity, uint32_t generations);
/* The bytes of a window's bits. @one: those of a generation alone. */
uint64_t weir__window_bytes(uint32_t layout, uint32_t generations, uint64_t one);

/* Is an advance due, by time or number? *wait: ns until one by time; UINT64_MAX: never. */
bool weir__window_due(const struct weir_window *w, uint64_t *wait);
/* Claim, advance, release. @only_due: 0 if none is due. Return: 1; 0; -EBUSY; -EDEADLK. */
int weir__window_advance(struct weir_window *w, bool only_due);

/* The timer's thread. Return: 0 or a negative errno. */
int weir__window_timer_start(struct weir_window *w);
void weir__window_timer_stop(struct weir_window *w);
/* Called by an insert: an advance by number is due. Return: false if the system refused. */
bool weir__window_wake(const struct weir_window *w);

/* A window's image is a compound (image/compound.h). Each generation is a member, the newest first:
 * a blocked filter (W9). window/kind.c has the names of the shape's numbers. A member's note is its
 * age in nanoseconds when the image was saved, or WEIR_WINDOW_NEVER: it was never the newest, nor
 * were those after it. The spare is not saved. */

enum { WEIR_WINDOW_LAYOUT, WEIR_WINDOW_G, WEIR_WINDOW_WORDS, WEIR_WINDOW_BITS }; /* of its shape */

#define WEIR_WINDOW_MOST_KEYS (UINT64_C(1) << 48) /* counted in the newest generation */
#define WEIR_WINDOW_NEVER UINT64_MAX
#define WEIR_WINDOW_OLDEST (UINT64_C(1) << 62) /* ns: 146 years. The sum of two fits a uint64_t. */

/* The window's own words in the image. */
enum {
	WEIR_WINDOW_SPAN,       /* span_seconds, IEEE 754 binary64 */
	WEIR_WINDOW_PER_KEYS,   /* generation_keys */
	WEIR_WINDOW_COUNTED,    /* keys counted in the newest generation */
	WEIR_WINDOW_SAVED,      /* when, in ns since 1970 */
	WEIR_WINDOW_OWN,        /* how many */
};

/* The shape of a member in the image. */
struct weir_shape weir__window_member_shape(uint32_t z, uint32_t g);
double weir__window_span_of(const uint64_t own[WEIR_WINDOW_OWN]);
/* Check the number of members, the window's own words and the notes. The sentence does not begin
 * with the image's name. Return: 0 or -EBADMSG. */
int weir__window_suits(const struct weir_parts *parts);
/* The member suits() of struct weir_kind (kind.h). */
int weir__window_member_suits(const struct weir_parts *parts, unsigned i,
                              const struct weir_layout *member);
/* CLOCK_REALTIME, limited to what an image may have: 1 to 2^63. */
uint64_t weir__window_real_time(void);
/* The number of generations that have been the newest: they come first. */
unsigned weir__window_used(const uint64_t note[], unsigned n);

#endif
