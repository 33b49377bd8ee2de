/* SPDX-License-Identifier: MIT
 * The growing kind: blocked layers, each four times the last.
 *
 * Layer i holds capacity * 4^i keys, the last one only what max_capacity still needs. All have the
 * same words and bits a key, and fp_rate / layers each. The rates add up, since a key is looked for
 * in every layer. A key is put into the newest layer if no layer has it yet.
 *
 * G1  A record of the layers never changes but for next, closed and the counts of its layers. The
 *     record after it has the same layers and one more. next goes from NULL to that record once, by
 *     one compare-and-swap, and the published pointer goes only from a record to its next. So
 *     whoever reads the pointer later has at least the layers that anybody had before, and by B1 a
 *     lookup sees every insert that happens-before it: coherence of one word, the pointer's or the
 *     bits', is enough for each step.
 *     Breaks without it: with a store in place of a swap, of two threads that append at the same
 *     time one would take the other's layer away; if that was published, keys with it.
 * G2  Nothing moves and nothing is freed before the filter is, so no lookup can miss what it would
 *     have found, and none waits.
 * G3  An insert is answered WEIR_SEEN where every bit of its key is set in one layer; else it sets
 *     them in the newest layer of its record, and of those who set one of the key's bits at least
 *     one is answered WEIR_NEW. Two that have different records may both be: with words_per_key =
 *     1, too.
 * G4  Of keys that are WEIR_NEW those are counted whose block's number has the low bits of the
 *     sample all 0. All up to 8192 keys; then every second block, and so on until every 16th, so
 *     that at least 8192 keys are counted of a full layer. A layer is full where the count shows
 *     its capacity and three standard deviations of such a sample more, and has room for six. So it
 *     takes its capacity, and its share of the rate holds.
 * G5  The thread whose count reaches 7/8 of a full layer makes the next one; until that is
 *     published, and after, all others go on. The one whose count fills the layer closes the record
 *     and publishes the next one. Who finds a closed record, since there was no memory, tries again
 *     or fails: after that no key is put into its newest layer, but those of threads that had
 *     looked before (a batch: 64 keys a thread). */
#ifndef WEIR_SRC_GROWING_GROWING_H
#define WEIR_SRC_GROWING_GROWING_H

#include "filter/filter.h"
#include "kind/kind.h"
#include "kinds/blocked/blocked.h"

/* The fields of its shape. */
enum { WEIR_GROWING_Z = 0, WEIR_GROWING_G = 1, WEIR_GROWING_LAYERS = 2 };

enum {
	WEIR__LAYERS_MOST = 8,
	WEIR__LAYER_TIMES = 4,
};

struct weir__layer {
	atomic_uint_fast64_t keys; /* counted (G4); on a line of its own */
	struct weir_filter *f __attribute__((aligned(64)));
	uint64_t begin;            /* the count at which the next layer is made (G5) */
	uint64_t full;
};

/* What the kernels read of a layer. */
struct weir__layer_bits {
	uint64_t *words;
	uint64_t lines;
};

/* G1. The layers are the records' in common: each is freed with the first that has it. */
struct weir__layers {
	unsigned n;
	bool far;           /* the layers outgrow a core's own cache */
	atomic_bool closed; /* G5 */
	uint64_t sample;    /* of the newest layer: the low bits of a block's number (G4) */
	struct weir__layers *next;
	struct weir__layer *layer[WEIR__LAYERS_MOST];
	struct weir__layer_bits bits[WEIR__LAYERS_MOST];
};

/* f->own */
struct weir__growing {
	struct weir__layers *now; /* G1 */
	struct weir__layers *first;
	double bits_per_key;      /* of each layer */
};

static inline struct weir__layers *weir__layers_now(const struct weir_filter *f)
{
	const struct weir__growing *own = f->own;
	return weir__layers_load_acquire(&own->now);
}

/* Add to the count of a record's newest layer, and do what follows from it (G5). */
void weir__growing_count(struct weir_filter *f, struct weir__layers *layers, uint64_t keys);
/* Publish the record after a closed one. Return: 0; -ENOMEM; -ENOSPC there is to be none. */
int weir__growing_advance(struct weir_filter *f, struct weir__layers *layers);

/* ---- sizes ---- */

/* Keys of a layer; of its sample, the low bits; keys that it has room for; that make it full. */
uint64_t weir__layer_capacity(uint64_t capacity, uint64_t max_capacity, unsigned layer);
uint64_t weir__layer_sample(uint64_t keys);
uint64_t weir__layer_room(uint64_t keys);
uint64_t weir__layer_full(uint64_t keys);
/* Are there so many layers of these sizes? */
bool weir__layers_legal(uint64_t capacity, uint64_t max_capacity, unsigned layers);
/* Lines of a layer. @shards: receives their number. */
uint64_t weir__layer_lines(double bits_per_key, uint64_t keys, uint32_t *shards);
/* Bits a key of layers of a rate, which an image may have made up. Return: 0 or a negative
 * errno. */
int weir__layer_bits(double *bits_per_key, double fp_rate, uint32_t z, uint32_t g);
/* The member plan of struct weir_kind. */
int weir__growing_plan(const struct weir_params *params, struct weir_plan *out);

/* ---- the growing kind's layers and records ---- */

static inline uint64_t weir__keys_in(const struct weir_filter *f, unsigned layer)
{
	return weir__layer_capacity(f->capacity, f->max_capacity, layer);
}

static inline unsigned weir__layers_most(const struct weir_filter *f)
{
	return f->array.shape.field[WEIR_GROWING_LAYERS];
}

static inline struct weir_shape weir__layer_shape(const struct weir_shape *shape)
{
	return (struct weir_shape){ .kind = WEIR_BLOCKED,
		                    .field = { shape->field[WEIR_GROWING_Z],
		                               shape->field[WEIR_GROWING_G] } };
}

/* The count that stands for so many keys (G4). */
uint64_t weir__counted(uint64_t keys, uint64_t sample, uint64_t lines);
/* Of layer i, but for its lines and shards. */
struct weir_layout weir__layer_layout(const struct weir_filter *f, unsigned i);
/* Make the record of layer i, which takes over its filter. */
int weir__layer_of(struct weir__layer **out, const struct weir_filter *f, unsigned i,
                   struct weir_filter *bits);
void weir__layer_free(struct weir__layer *layer);
/* The record of @before's layers, if any, and one more. */
int weir__record_make(struct weir__layers **out, const struct weir__layers *before,
                      struct weir__layer *layer);
/* Make the record after this one, unless another thread has. */
int weir__growing_append(struct weir_filter *f, struct weir__layers *layers);

/* ---- its tables of kernels by the shape of a layer ---- */

_Static_assert((int)WEIR_GROWING_Z == (int)WEIR_BLOCKED_Z &&
                       (int)WEIR_GROWING_G == (int)WEIR_BLOCKED_G,
               "its shape begins as that of its layers");

WEIR_BLOCKED_TABLES(growing);

/* ---- members of struct weir_kind that the growing kind has as a compound ---- */

unsigned weir__growing_members(const struct weir_filter *f,
                               struct weir_member out[WEIR__MEMBERS_MOST]);
int weir__growing_suits(const struct weir_parts *parts, unsigned i,
                        const struct weir_layout *member);
int weir__growing_adopt(struct weir_filter *f, const struct weir_member *m, unsigned n);
int weir__growing_join(struct weir_filter *dst, const struct weir_member *from, unsigned n);
void weir__growing_joined(struct weir_filter *dst, unsigned i, uint64_t more);

#endif
