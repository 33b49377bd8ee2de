/* SPDX-License-Identifier: MIT
 * The growing kind: its shape, and the making of a filter with its first layer. growing.h has the
 * rules [LAYER-RECORD] to [LAYER-AHEAD], growing/kernel.c the lookups and inserts. */
#include "growing/growing.h"
#include <stdio.h>
#include <stdlib.h>
#include "filter/filter.h"
#include "ground/error.h"

/* ---- the shape ---- */

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	const struct weir_shape layer = weir__layer_shape(shape);
	uint32_t layers = shape->field[WEIR_GROWING_LAYERS];
	return layers >= 1 && layers <= WEIR__LAYERS_MOST &&
	       weir__shape_legal(weir__kind(WEIR_BLOCKED), &layer, lines);
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const struct weir_shape layer = weir__layer_shape(shape);
	uint32_t layers = shape->field[WEIR_GROWING_LAYERS];
	char inner[WEIR_SHAPE_TEXT];
	weir__kind(WEIR_BLOCKED)->describe(&layer, inner);
	snprintf(text, WEIR_SHAPE_TEXT, "%.50s in up to %u layer%s", inner, layers,
	         layers == 1 ? "" : "s");
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel *const tables[WEIR_ISA_COUNT] =
		WEIR_BLOCKED_BY_ISA(growing);
	return weir__blocked_find(tables, isa, shape);
}

/* ---- the filter's own state ---- */

/* Make the first layer, which lies in the filter's own array ([FIRST-MEMBER]). */
static int first_make(struct weir__layer **out, struct weir_filter *f)
{
	struct weir_layout layout = weir__layer_layout(f, 0);
	const struct weir_memory memory = { .bits = f->array.words };
	struct weir_filter *bits;
	layout.lines = f->array.lines;
	layout.shards = f->shards;
	int err = weir__filter_make(&bits, &layout, &memory, 0);
	if (!err) {
		err = weir__layer_wrap(out, f, 0, bits);
		if (err)
			weir_destroy(bits);
	}
	return err;
}

static int create(struct weir_filter *f)
{
	struct weir__layer *layer;
	struct weir__growing *own = calloc(1, sizeof *own);
	if (!own)
		return weir__fail(-ENOMEM, "no memory for the record of a growing filter");
	int err = weir__layer_bits(&own->bits_per_key, f->fp_rate / weir__layers_most(f),
	                           f->array.shape.field[WEIR_GROWING_Z],
	                           f->array.shape.field[WEIR_GROWING_G]);
	if (!err)
		err = first_make(&layer, f);
	if (!err) {
		err = weir__record_make(&own->first, NULL, layer);
		if (err)
			weir__layer_free(layer);
	}
	if (err) {
		free(own);
		return err;
	}
	own->first->sample = weir__layer_sample(weir__keys_in(f, 0));
	own->now = own->first;
	f->own = own;
	return 0;
}

static void destroy(struct weir_filter *f)
{
	struct weir__growing *own = f->own;
	for (struct weir__layers *record = own->first, *next; record; record = next) {
		next = record->next;
		weir__layer_free(record->layer[record->n - 1]);
		free(record);
	}
	free(own);
}

static int grow_ahead(struct weir_filter *f)
{
	struct weir__layers *now = weir__layers_now(f);
	return now->n == weir__layers_most(f) ? 0 : weir__growing_append(f, now);
}

static uint64_t most(const struct weir_filter *f)
{
	return f->max_capacity;
}

static void asked(const struct weir_filter *f, struct weir_params *out)
{
	out->growing.max_capacity = f->max_capacity;
}

const struct weir_kind weir__kind_growing = {
	.id = WEIR_GROWING,
	.name = "growing",
	.hash = &weir__xxh3,
	.can = WEIR_CAN_HASH | WEIR_CAN_MAP | WEIR_CAN_PUBLISH |
	       WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW |
	       WEIR_CAN_REPLICATE,
	.fields = { "words_per_key", "bits_per_word", "layers" },
	.plan = weir__growing_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.asked = asked,
	.create = create,
	.destroy = destroy,
	.members = weir__growing_members,
	.own_words = 1, /* max_capacity */
	.suits = weir__growing_suits,
	.adopt = weir__growing_adopt,
	.join = weir__growing_join,
	.joined = weir__growing_joined,
	.grow_ahead = grow_ahead,
	.most = most,
};
