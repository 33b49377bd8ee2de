/* SPDX-License-Identifier: MIT
 * Makes, counts and publishes the growing kind's layers and records. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "growing/growing.h"
#include "kind/sizing.h"
#include "normalise/normalise.h"

uint64_t weir__counted(uint64_t keys, uint64_t sample, uint64_t lines)
{
	uint64_t looked_at = (lines + sample) / (sample + 1);
	__extension__ unsigned __int128 product = (unsigned __int128)keys * looked_at;
	return (uint64_t)((product + lines - 1) / lines);
}

int weir__layer_wrap(struct weir__layer **out, const struct weir_filter *f, unsigned i,
                    struct weir_filter *bits)
{
	uint64_t keys = weir__keys_in(f, i), sample = weir__layer_sample(keys);
	struct weir__layer *layer = NULL;
	if (posix_memalign((void **)&layer, 64, sizeof *layer))
		return weir__fail(-ENOMEM, "no memory for the record of layer %u", i);
	memset(layer, 0, sizeof *layer);
	layer->f = bits;
	layer->full = weir__counted(weir__layer_full(keys), sample, bits->array.lines);
	layer->grow_at = layer->full - layer->full / 8;
	*out = layer;
	return 0;
}

struct weir_layout weir__layer_layout(const struct weir_filter *f, unsigned i)
{
	return (struct weir_layout){
		.kind = weir__kind(WEIR_BLOCKED),
		.hashing = f->hashing,
		.shape = weir__layer_shape(&f->array.shape),
		.capacity = weir__layer_room(weir__keys_in(f, i)),
		/* If an image states the smallest double as its rate, a share of it would be 0. */
		.fp_rate = fmax(f->fp_rate / weir__layers_most(f), DBL_MIN),
		.text = weir__text_now(&f->text),
	};
}

static int layer_make(struct weir__layer **out, const struct weir_filter *f, unsigned i)
{
	const struct weir__growing *own = f->own;
	struct weir_layout layout = weir__layer_layout(f, i);
	struct weir_filter *bits;
	struct weir_memory memory;
	if (own->bits_per_key * (double)layout.capacity > 8.0 * WEIR__MOST_BYTES)
		return weir__fail(-ENOMEM, "layer %u of %llu keys would need more than 2^46 bytes",
		                  i, (unsigned long long)weir__keys_in(f, i));
	layout.lines = weir__layer_lines(own->bits_per_key, weir__keys_in(f, i), &layout.shards);
	int err = weir__memory_alloc(&memory, 64 * layout.lines, f->flags, NULL, 0);
	if (err)
		return err;
	err = weir__filter_make(&bits, &layout, &memory, 0);
	if (err) {
		weir__memory_free(&memory);
		return err;
	}
	err = weir__layer_wrap(out, f, i, bits);
	if (err)
		weir_destroy(bits);
	return err;
}

void weir__layer_free(struct weir__layer *layer)
{
	weir_destroy(layer->f);
	free(layer);
}

int weir__record_make(struct weir__layers **out, const struct weir__layers *before,
                       struct weir__layer *layer)
{
	struct weir__layers *record = calloc(1, sizeof *record);
	if (!record)
		return weir__fail(-ENOMEM, "no memory for a record of layers");
	if (before) {
		record->n = before->n;
		record->far = before->far;
		memcpy(record->layer, before->layer, sizeof record->layer);
		memcpy(record->bits, before->bits, sizeof record->bits);
	}
	const struct weir_filter *f = layer->f;
	record->far |= f->outgrows_cache;
	record->layer[record->n] = layer;
	record->bits[record->n++] =
		(struct weir__layer_bits){ f->array.words, f->array.lines };
	*out = record;
	return 0;
}

static int no_space(const struct weir_filter *f)
{
	return weir__fail(-ENOSPC, "max_capacity %llu: all layers of the growing filter, %u, are "
	                  "full: reload it with a larger max_capacity, which a handle can do under "
	                  "load",
	                  (unsigned long long)f->max_capacity, weir__layers_most(f));
}

int weir__growing_append(struct weir_filter *f, struct weir__layers *layers)
{
	struct weir__layer *layer;
	struct weir__layers *record, *none = NULL;
	if (weir__layers_load_acquire(&layers->next))
		return 0;
	if (layers->n == weir__layers_most(f))
		return no_space(f);
	int err = layer_make(&layer, f, layers->n);
	if (err)
		return err;
	err = weir__record_make(&record, layers, layer);
	if (err) {
		weir__layer_free(layer);
		return err;
	}
	record->sample = weir__layer_sample(weir__keys_in(f, layers->n));
	if (!weir__layers_swap_release(&layers->next, &none, record)) { /* [LAYER-RECORD] */
		weir__layer_free(layer);
		free(record);
	}
	return 0;
}

int weir__growing_advance(struct weir_filter *f, struct weir__layers *layers)
{
	struct weir__growing *own = f->own;
	int err = weir__growing_append(f, layers);
	if (!err) /* the swap fails if another thread advanced first */
		(void)weir__layers_swap_release(&own->now, &layers,
		                                weir__layers_load_acquire(&layers->next));
	return err;
}

void weir__growing_count(struct weir_filter *f, struct weir__layers *layers, uint64_t keys)
{
	struct weir__layer *newest = layers->layer[layers->n - 1];
	uint64_t before = weir__figure_add_relaxed(&newest->keys, keys), now = before + keys;
	if (before < newest->grow_at && now >= newest->grow_at && layers->n < weir__layers_most(f))
		/* If this append fails, the insert that finds the closed record tries again. */
		(void)weir__growing_append(f, layers);
	if (now < newest->full)
		return;
	weir__closed_store_relaxed(&layers->closed);
	if (weir__layers_load_acquire(&layers->next))
		(void)weir__growing_advance(f, layers);
}
