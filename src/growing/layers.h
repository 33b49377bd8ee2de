/* SPDX-License-Identifier: MIT
 * The growing kind's layers and records. */
#ifndef WEIR_SRC_GROWING_LAYERS_H
#define WEIR_SRC_GROWING_LAYERS_H

#include "filter/filter.h"
#include "growing/growing.h"

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
	return (struct weir_shape){ WEIR_BLOCKED, { shape->field[WEIR_GROWING_Z],
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

#endif
