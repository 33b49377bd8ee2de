/* SPDX-License-Identifier: MIT
 * The growing kind: how layers are made, published and given to the verbs on whole filters.
 * growing.h has the layout and the rules (G1 to G5), growing_kernel.h the hot verbs. */
#include "compound/growing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compound/growing_kernels.h"
#include "config.h"
#include "error.h"
#include "filter.h"
#include "kinds/list.h"
#include "sizing.h"

/* ---- the shape ---- */

static struct weir_shape layer_shape(const struct weir_shape *shape)
{
	return (struct weir_shape){ WEIR_BLOCKED, { shape->field[WEIR_GROWING_Z],
		                                    shape->field[WEIR_GROWING_G] } };
}

static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	const struct weir_shape layer = layer_shape(shape);
	uint32_t layers = shape->field[WEIR_GROWING_LAYERS];
	return layers >= 1 && layers <= WEIR__LAYERS_MOST &&
	       weir__shape_legal(weir__kind(WEIR_BLOCKED), &layer, lines);
}

static void describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT])
{
	const struct weir_shape layer = layer_shape(shape);
	uint32_t layers = shape->field[WEIR_GROWING_LAYERS];
	char inner[WEIR_SHAPE_TEXT];
	weir__kind(WEIR_BLOCKED)->describe(&layer, inner);
	snprintf(text, WEIR_SHAPE_TEXT, "%.50s in up to %u layer%s", inner, layers,
	         layers == 1 ? "" : "s");
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel *const tables[WEIR_ISA_COUNT] = {
		[WEIR_ISA_SCALAR] = weir__growing_scalar,
#if WEIR_X86
		[WEIR_ISA_AVX2] = weir__growing_avx2,
		[WEIR_ISA_AVX512] = weir__growing_avx512,
#elif WEIR_ARM
		[WEIR_ISA_NEON] = weir__growing_neon,
#endif
	};
	uint32_t z = shape->field[WEIR_GROWING_Z], g = shape->field[WEIR_GROWING_G];
	const struct weir_kernel *table = tables[isa];
	if (!table)
		return NULL;
	const struct weir_kernel *own = &table[WEIR_GROWING_SLOT(z, g)];
	return own->contains_batch ? own : &table[WEIR_GROWING_ANY];
}

/* ---- layers and records ---- */

static uint64_t keys_in(const struct weir_filter *f, unsigned layer)
{
	return weir__layer_capacity(f->capacity, f->max_capacity, layer);
}

static unsigned layers_most(const struct weir_filter *f)
{
	return f->array.shape.field[WEIR_GROWING_LAYERS];
}

/* The count that stands for so many keys. */
static uint64_t counted(uint64_t keys, uint64_t sample, uint64_t lines)
{
	uint64_t looked_at = (lines + sample) / (sample + 1);
	__extension__ unsigned __int128 product = (unsigned __int128)keys * looked_at;
	return (uint64_t)((product + lines - 1) / lines);
}

/* A layer takes over its filter. */
static int layer_of(struct weir__layer **out, const struct weir_filter *f, unsigned i,
                    struct weir_filter *bits)
{
	uint64_t keys = keys_in(f, i), sample = weir__layer_sample(keys);
	struct weir__layer *layer = NULL;
	if (posix_memalign((void **)&layer, 64, sizeof *layer))
		return weir__fail(-ENOMEM, "no memory for the record of layer %u", i);
	memset(layer, 0, sizeof *layer);
	layer->f = bits;
	layer->full = counted(weir__layer_full(keys), sample, bits->array.lines);
	layer->begin = layer->full - layer->full / 8;
	*out = layer;
	return 0;
}

static struct weir_layout layout_of(const struct weir_filter *f, unsigned i)
{
	return (struct weir_layout){
		.kind = weir__kind(WEIR_BLOCKED),
		.hashing = f->hashing,
		.shape = layer_shape(&f->array.shape),
		.capacity = weir__layer_room(keys_in(f, i)),
		.fp_rate = f->fp_rate / layers_most(f),
		.normal = f->normal,
	};
}

static int layer_make(struct weir__layer **out, const struct weir_filter *f, unsigned i)
{
	const struct weir__growing *own = f->own;
	struct weir_layout layout = layout_of(f, i);
	struct weir_filter *bits;
	struct weir_memory memory;
	if (own->bits_per_key * (double)layout.capacity > 8.0 * WEIR__MOST_BYTES)
		return weir__fail(-ENOMEM, "layer %u of %llu keys would need more than 2^46 bytes", i,
		                  (unsigned long long)keys_in(f, i));
	layout.lines = weir__layer_lines(own->bits_per_key, keys_in(f, i), &layout.shards);
	int err = weir__memory_alloc(&memory, 64 * layout.lines, f->flags, NULL, 0);
	if (err)
		return err;
	err = weir__filter_make(&bits, &layout, &memory, 0);
	if (err) {
		weir__memory_free(&memory);
		return err;
	}
	err = layer_of(out, f, i, bits);
	if (err)
		weir_destroy(bits);
	return err;
}

static void layer_free(struct weir__layer *layer)
{
	weir_destroy(layer->f);
	free(layer);
}

/* The record of @before's layers, if any, and one more. */
static int record_make(struct weir__layers **out, const struct weir__layers *before,
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
	return weir__fail(-ENOSPC, "max_capacity %llu: the %u layers of the growing filter are full: "
	                  "reload it with a larger max_capacity, which a handle can do under load",
	                  (unsigned long long)f->max_capacity, layers_most(f));
}

/* Make the record after this one, unless another thread has. */
static int append(struct weir_filter *f, struct weir__layers *layers)
{
	struct weir__layer *layer;
	struct weir__layers *record, *none = NULL;
	if (weir__layers_load_acquire(&layers->next))
		return 0;
	if (layers->n == layers_most(f))
		return no_space(f);
	int err = layer_make(&layer, f, layers->n);
	if (err)
		return err;
	err = record_make(&record, layers, layer);
	if (err) {
		layer_free(layer);
		return err;
	}
	record->sample = weir__layer_sample(keys_in(f, layers->n));
	if (!weir__layers_swap_release(&layers->next, &none, record)) { /* G1 */
		layer_free(layer);
		free(record);
	}
	return 0;
}

int weir__growing_advance(struct weir_filter *f, struct weir__layers *layers)
{
	struct weir__growing *own = f->own;
	int err = append(f, layers);
	if (!err) /* if it fails, another thread has done it */
		(void)weir__layers_swap_release(&own->now, &layers,
		                                weir__layers_load_acquire(&layers->next));
	return err;
}

void weir__growing_count(struct weir_filter *f, struct weir__layers *layers, uint64_t keys)
{
	struct weir__layer *newest = layers->layer[layers->n - 1];
	uint64_t before = weir__figure_add_relaxed(&newest->keys, keys), now = before + keys;
	if (before < newest->begin && now >= newest->begin && layers->n < layers_most(f))
		(void)append(f, layers); /* without memory an insert into a full layer tries again */
	if (now < newest->full)
		return;
	weir__closed_store_relaxed(&layers->closed);
	if (weir__layers_load_acquire(&layers->next))
		(void)weir__growing_advance(f, layers);
}

/* ---- a filter's own ---- */

/* The first layer lies in the filter's own array (M1). */
static int first_make(struct weir__layer **out, struct weir_filter *f)
{
	struct weir_layout layout = layout_of(f, 0);
	const struct weir_memory memory = { .bits = f->array.words };
	struct weir_filter *bits;
	layout.lines = f->array.lines;
	layout.shards = f->shards;
	int err = weir__filter_make(&bits, &layout, &memory, 0);
	if (!err) {
		err = layer_of(out, f, 0, bits);
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
	int err = weir__layer_bits(&own->bits_per_key, f->fp_rate / layers_most(f),
	                           f->array.shape.field[WEIR_GROWING_Z],
	                           f->array.shape.field[WEIR_GROWING_G]);
	if (!err)
		err = first_make(&layer, f);
	if (!err) {
		err = record_make(&own->first, NULL, layer);
		if (err)
			layer_free(layer);
	}
	if (err) {
		free(own);
		return err;
	}
	own->first->sample = weir__layer_sample(keys_in(f, 0));
	own->now = own->first;
	f->own = own;
	return 0;
}

static void destroy(struct weir_filter *f)
{
	struct weir__growing *own = f->own;
	for (struct weir__layers *record = own->first, *next; record; record = next) {
		next = record->next;
		layer_free(record->layer[record->n - 1]);
		free(record);
	}
	free(own);
}

static unsigned members(const struct weir_filter *f, struct weir_member out[WEIR__MEMBERS_MOST])
{
	const struct weir__layers *now = weir__layers_now(f);
	for (unsigned i = 0; i < now->n; i++)
		out[i] = (struct weir_member){ now->layer[i]->f,
			                       weir__figure_load_relaxed(&now->layer[i]->keys) };
	return now->n;
}

/* ---- members of an image or a copy ---- */

static int adopt_check(const struct weir_filter *f, const struct weir_member *m, unsigned i)
{
	const struct weir_shape layer = layer_shape(&f->array.shape);
	if (m->f->kind->id != WEIR_BLOCKED || memcmp(&m->f->array.shape, &layer, sizeof layer))
		return weir__fail(-EBADMSG, "layer %u: is of another shape than the growing filter",
		                  i);
	if (m->f->capacity != weir__layer_room(keys_in(f, i)))
		return weir__fail(-EBADMSG, "layer %u: capacity is %llu where %llu should be", i,
		                  (unsigned long long)m->f->capacity,
		                  (unsigned long long)weir__layer_room(keys_in(f, i)));
	if (m->note > UINT64_C(1) << 48)
		return weir__fail(-EBADMSG, "layer %u: its count is %llu, allowed: up to 2^48", i,
		                  (unsigned long long)m->note);
	return 0;
}

static int adopt_one(struct weir_filter *f, const struct weir_member *m, unsigned i)
{
	struct weir__growing *own = f->own;
	struct weir__layers *before = own->now, *record;
	struct weir__layer *layer;
	int err = layer_of(&layer, f, i, m->f);
	if (err)
		return err;
	err = record_make(&record, before, layer);
	if (err) {
		free(layer);
		return err;
	}
	record->sample = weir__layer_sample(keys_in(f, i));
	before->next = record;
	own->now = record;
	return 0;
}

/* Nobody else has the filter yet. */
static void set_counts(struct weir_filter *f, const struct weir_member *m, unsigned n)
{
	struct weir__layers *now = weir__layers_now(f);
	for (unsigned i = 0; i < n; i++)
		weir__figure_store_relaxed(&now->layer[i]->keys, m[i].note);
	if (m[n - 1].note >= now->layer[n - 1]->full)
		weir__closed_store_relaxed(&now->closed);
}

static int adopt(struct weir_filter *f, const struct weir_member *m, unsigned n)
{
	int err = 0;
	if (n > layers_most(f) ||
	    !weir__layers_legal(f->capacity, f->max_capacity, layers_most(f)))
		return weir__fail(-EBADMSG, "%u members, capacity %llu, max_capacity %llu: a growing "
		                  "filter of up to %u layers has none such", n,
		                  (unsigned long long)f->capacity,
		                  (unsigned long long)f->max_capacity, layers_most(f));
	for (unsigned i = 0; !err && i < n; i++)
		err = adopt_check(f, &m[i], i);
	for (unsigned i = 1; !err && i < n; i++)
		err = adopt_one(f, &m[i], i);
	if (!err) {
		set_counts(f, m, n);
		return 0;
	}
	/* they stay the caller's */
	for (unsigned i = 1; i < weir__layers_now(f)->n; i++)
		weir__layers_now(f)->layer[i]->f = NULL;
	return err;
}

/* ---- union ---- */

/* Distinct keys in two layers together, from the fill of their union. */
static double keys_together(const struct weir_filter *a, const struct weir_filter *b)
{
	struct weir_measure sum = { .lines = a->array.lines, .cells = 512 * a->array.lines };
	double keys, rate;
	for (uint64_t i = 0; i < 8 * a->array.lines; i++)
		sum.used += (uint64_t)__builtin_popcountll(
			weir__word_load_relaxed(a->array.words + i) |
			weir__word_load_relaxed(b->array.words + i));
	a->kind->estimate(a, &sum, &keys, &rate);
	return keys;
}

/* What a layer's count is to grow by when another is merged into it. What both have counts twice
 * in the sum of the two counts; where that is too much, the bits say how many keys there are.
 * Return: 0 or -ENOSPC. */
static int join_count(const struct weir_filter *f, unsigned i, const struct weir__layer *to,
                      const struct weir__layer *from, uint64_t *more)
{
	const uint64_t lines = to->f->array.lines, keys = keys_in(f, i);
	uint64_t ours = weir__figure_load_relaxed(&to->keys), together;
	if (ours + *more <= to->full)
		return 0;
	double estimate = keys_together(to->f, from->f);
	/* as weir_stats() judges: not by more than the estimate may be off */
	if (!(estimate <= (double)weir__layer_full(keys) + 3 * sqrt((double)keys) + 1))
		return weir__fail(-ENOSPC, "cannot merge: layer %u of both has about %.0f keys, and "
		                  "its capacity is %llu: insert the keys into a growing filter of "
		                  "a larger capacity", i, estimate, (unsigned long long)keys);
	together = counted((uint64_t)estimate, weir__layer_sample(keys), lines);
	*more = together > ours ? together - ours : 0;
	return 0;
}

/* The two have one rate, so all layers have the sizes that follow from it, unless an image says
 * otherwise. */
static int join_size(const struct weir_filter *dst, unsigned i, const struct weir__layers *to,
                     const struct weir__layer *from)
{
	const struct weir__growing *own = dst->own;
	uint32_t shards;
	uint64_t lines = i < to->n ? to->layer[i]->f->array.lines :
	                             weir__layer_lines(own->bits_per_key, keys_in(dst, i),
	                                               &shards);
	if (lines == from->f->array.lines)
		return 0;
	return weir__fail(-EINVAL, "cannot merge: lines of layer %u differs: %llu in the "
	                  "destination, %llu in the source", i, (unsigned long long)lines,
	                  (unsigned long long)from->f->array.lines);
}

static int join(struct weir_filter *dst, const struct weir_filter *src)
{
	const struct weir__layers *from = weir__layers_now(src);
	struct weir__layers *to = weir__layers_now(dst);
	uint64_t more[WEIR__LAYERS_MOST];
	int err = 0;
	for (unsigned i = 0; !err && i < from->n; i++) {
		err = join_size(dst, i, to, from->layer[i]);
		more[i] = weir__figure_load_relaxed(&from->layer[i]->keys);
		if (!err && i < to->n)
			err = join_count(dst, i, to->layer[i], from->layer[i], &more[i]);
	}
	while (!err && to->n < from->n) {
		err = weir__growing_advance(dst, to);
		to = weir__layers_now(dst);
	}
	for (unsigned i = 0; !err && i < from->n; i++) {
		if (i + 1 == to->n)
			weir__growing_count(dst, to, more[i]);
		else
			weir__figure_add_relaxed(&to->layer[i]->keys, more[i]);
	}
	return err;
}

static int grow_ahead(struct weir_filter *f)
{
	struct weir__layers *now = weir__layers_now(f);
	return now->n == layers_most(f) ? 0 : append(f, now);
}

const struct weir_kind weir__kind_growing = {
	.id = WEIR_GROWING,
	.name = "growing",
	.hash = &weir__xxh3,
	.fields = { "words_per_key", "bits_per_word", "layers" },
	.plan = weir__growing_plan,
	.legal = legal,
	.describe = describe,
	.kernel = kernel,
	.create = create,
	.destroy = destroy,
	.members = members,
	.adopt = adopt,
	.join = join,
	.grow_ahead = grow_ahead,
};
