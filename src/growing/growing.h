/* SPDX-License-Identifier: MIT
 * The growing kind: blocked filters, called layers, each four times as large as the one before.
 *
 * Layer i holds capacity * 4^i keys; the last layer holds only the rest up to max_capacity. All
 * layers have the same words and bits per key, and each gets fp_rate / layers. A lookup probes
 * every layer, so the rates add up. An insert puts its key into the newest layer unless a layer has
 * the key.
 *
 * [LAYER-RECORD]  A record lists the layers. It never changes except for next, closed and the
 *    counts of its layers. The next record lists the same layers and one more. One compare-and-swap
 *    sets next, once, from NULL to that record. The published pointer moves only from a record to
 *    the next record. So a later load of the pointer gets at least the layers that any earlier load
 *    got. By [BITS-ONLY-SET] a lookup sees every insert that happens-before it, because the
 *    coherence of each word is enough for the load of the pointer and for the loads of bits. With
 *    a plain store instead of the swap, two threads that append at the same time could lose a
 *    published layer with its keys.
 * [LAYERS-STAY]  No layer or record moves, and none is freed before the filter. So lookups never
 *    wait or miss a key.
 * [SEEN-IN-ONE-LAYER]  An insert returns WEIR_SEEN if one layer has every bit of its key. Otherwise
 *    it sets the bits in the newest layer of its record. At least one of the threads that set a bit
 *    of the key in that layer gets WEIR_NEW. Threads with different records may each get WEIR_NEW,
 *    even with words_per_key = 1.
 * [SAMPLED-COUNT]  A WEIR_NEW key is counted only if its block's number has 0 in every bit of the
 *    sample. Layers of less than 16384 keys count all keys. Larger layers count the keys of every
 *    second block, and so on up to every 16th, so that a full layer counts at least 8192 keys. A
 *    layer is full when the count shows its capacity plus three standard deviations. The layer is
 *    sized for six standard deviations. So a layer takes its capacity without exceeding its share
 *    of the rate.
 * [LAYER-AHEAD]  The thread whose count reaches 7/8 of a full layer makes the next layer, while
 *    other threads continue. The thread whose count fills the layer closes the record and publishes
 *    the next one. If an allocation failed, an inserter that finds the closed record tries to
 *    append again, or fails. No more keys enter the newest layer of a closed record, except from
 *    threads that read closed before (in a batch, up to 64 keys a thread). */
#ifndef WEIR_SRC_GROWING_GROWING_H
#define WEIR_SRC_GROWING_GROWING_H

#include "filter/filter.h"
#include "kind/kind.h"
#include "kinds/blocked/blocked.h"

/* Indices of the growing kind's fields in a shape. */
enum { WEIR_GROWING_Z = 0, WEIR_GROWING_G = 1, WEIR_GROWING_LAYERS = 2 };

enum {
	WEIR__LAYERS_MOST = 8,
	WEIR__LAYER_TIMES = 4,
};

struct weir__layer {
	atomic_uint_fast64_t keys; /* counted keys ([SAMPLED-COUNT]), alone on a cache line */
	struct weir_filter *f __attribute__((aligned(64)));
	uint64_t grow_at;            /* the count at which the next layer is made ([LAYER-AHEAD]) */
	uint64_t full;
};

/* The data of a layer that the kernels read. */
struct weir__layer_bits {
	uint64_t *words;
	uint64_t lines;
};

/* A record of the layers ([LAYER-RECORD]). Records share their layers. destroy() frees each layer
 * with the record that added it. */
struct weir__layers {
	unsigned n;
	bool far;           /* true: the layers do not fit a core's own cache */
	atomic_bool closed; /* [LAYER-AHEAD] */
	uint64_t sample;    /* the mask of the newest layer's sample ([SAMPLED-COUNT]) */
	struct weir__layers *next;
	struct weir__layer *layer[WEIR__LAYERS_MOST];
	struct weir__layer_bits bits[WEIR__LAYERS_MOST];
};

/* f->own */
struct weir__growing {
	struct weir__layers *now; /* [LAYER-RECORD] */
	struct weir__layers *first;
	double bits_per_key;      /* of each layer */
};

static inline struct weir__layers *weir__layers_now(const struct weir_filter *f)
{
	const struct weir__growing *own = f->own;
	return weir__layers_load_acquire(&own->now);
}

/* Add @keys to the count of a record's newest layer. If the count has reached 7/8 of a full layer,
 * append the next record. If the layer is full, publish the next record ([LAYER-AHEAD]). */
void weir__growing_count(struct weir_filter *f, struct weir__layers *layers, uint64_t keys);
/* Publish the record after a closed one.
 * Return: 0; -ENOMEM; -ENOSPC if max_capacity is reached. */
int weir__growing_advance(struct weir_filter *f, struct weir__layers *layers);

/* ---- sizes ---- */

/* Return: a layer's capacity in keys. */
uint64_t weir__layer_capacity(uint64_t capacity, uint64_t max_capacity, unsigned layer);
/* Return: the mask of the sample ([SAMPLED-COUNT]) of a layer with a capacity of @keys. */
uint64_t weir__layer_sample(uint64_t keys);
/* Return: the number of keys that a layer with a capacity of @keys is sized for. */
uint64_t weir__layer_room(uint64_t keys);
/* Return: the estimated number of keys at which a layer with a capacity of @keys is full. */
uint64_t weir__layer_full(uint64_t keys);
/* Return: true if a filter of these two capacities needs exactly @layers layers. */
bool weir__layers_legal(uint64_t capacity, uint64_t max_capacity, unsigned layers);
/* Return: the lines of a layer. @shards: receives the number of shards. */
uint64_t weir__layer_lines(double bits_per_key, uint64_t keys, uint32_t *shards);
/* Compute the bits per key of a layer from its rate, which may come from a forged image.
 * Return: 0 or a negative errno. */
int weir__layer_bits(double *bits_per_key, double fp_rate, uint32_t z, uint32_t g);
/* The plan() of struct weir_kind. */
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

/* Return: the number of keys that a layer with @lines lines has counted after @keys inserts, if
 * @sample is the mask of its sample ([SAMPLED-COUNT]). */
uint64_t weir__counted(uint64_t keys, uint64_t sample, uint64_t lines);
/* Return: the layout of layer i, except its lines and shards. */
struct weir_layout weir__layer_layout(const struct weir_filter *f, unsigned i);
/* Make the struct of layer i. On success it owns the filter @bits. */
int weir__layer_wrap(struct weir__layer **out, const struct weir_filter *f, unsigned i,
                     struct weir_filter *bits);
void weir__layer_free(struct weir__layer *layer);
/* Make a record of @layer and the layers of @before, which may be NULL. */
int weir__record_make(struct weir__layers **out, const struct weir__layers *before,
                      struct weir__layer *layer);
/* Make the next record, with one more layer, unless another thread has made it. */
int weir__growing_append(struct weir_filter *f, struct weir__layers *layers);

/* ---- the kernel tables, by the shape of a layer ---- */

_Static_assert((int)WEIR_GROWING_Z == (int)WEIR_BLOCKED_Z &&
                       (int)WEIR_GROWING_G == (int)WEIR_BLOCKED_G,
               "its shape begins as that of its layers");

WEIR_BLOCKED_TABLES(growing);

/* ---- members of struct weir_kind for a compound ---- */

unsigned weir__growing_members(const struct weir_filter *f,
                               struct weir_member out[WEIR__MEMBERS_MOST]);
int weir__growing_suits(const struct weir_parts *parts, unsigned i,
                        const struct weir_layout *member);
int weir__growing_adopt(struct weir_filter *f, const struct weir_member *m, unsigned n);
int weir__growing_join(struct weir_filter *dst, const struct weir_member *from, unsigned n);
void weir__growing_joined(struct weir_filter *dst, unsigned i, uint64_t more);

#endif
