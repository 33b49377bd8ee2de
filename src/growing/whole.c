/* SPDX-License-Identifier: MIT
 * The members of a growing filter, for functions on whole filters: its own members, those of an
 * image or a copy, and those of a filter that is merged into it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "growing/growing.h"

unsigned weir__growing_members(const struct weir_filter *f,
                               struct weir_member out[WEIR__MEMBERS_MOST])
{
	const struct weir__layers *now = weir__layers_now(f);
	for (unsigned i = 0; i < now->n; i++)
		out[i] = (struct weir_member){ now->layer[i]->f,
			                       weir__figure_load_relaxed(&now->layer[i]->keys) };
	return now->n;
}

/* ---- members of an image or a copy ---- */

static int suits_whole(const struct weir_layout *whole, unsigned n)
{
	unsigned most = whole->shape.field[WEIR_GROWING_LAYERS];
	double bits_per_key;
	if (n <= most && weir__layers_legal(whole->capacity, whole->max_capacity, most))
		return weir__layer_bits(&bits_per_key, whole->fp_rate / most,
		                        whole->shape.field[WEIR_GROWING_Z],
		                        whole->shape.field[WEIR_GROWING_G]);
	return weir__fail(-EBADMSG, "%u members, capacity %llu, max_capacity %llu: a growing "
	                  "filter of up to %u layers has none such", n,
	                  (unsigned long long)whole->capacity,
	                  (unsigned long long)whole->max_capacity, most);
}

int weir__growing_suits(const struct weir_parts *parts, unsigned i,
                        const struct weir_layout *member)
{
	const struct weir_layout *whole = parts->whole;
	const struct weir_shape layer = weir__layer_shape(&whole->shape);
	const uint64_t note = parts->note[i];
	int err = i ? 0 : suits_whole(whole, parts->n);
	if (err)
		return err;
	uint64_t room = weir__layer_room(
		weir__layer_capacity(whole->capacity, whole->max_capacity, i));
	if (member->kind->id != WEIR_BLOCKED || memcmp(&member->shape, &layer, sizeof layer))
		return weir__fail(-EBADMSG, "layer %u: is of another shape than the growing filter",
		                  i);
	if (member->capacity != room)
		return weir__fail(-EBADMSG, "layer %u: capacity is %llu where %llu should be", i,
		                  (unsigned long long)member->capacity, (unsigned long long)room);
	if (note > UINT64_C(1) << 48)
		return weir__fail(-EBADMSG, "layer %u: its count is %llu, allowed: up to 2^48", i,
		                  (unsigned long long)note);
	return 0;
}

static int adopt_one(struct weir_filter *f, const struct weir_member *m, unsigned i)
{
	struct weir__growing *own = f->own;
	struct weir__layers *before = own->now, *record;
	struct weir__layer *layer;
	int err = weir__layer_wrap(&layer, f, i, m->f);
	if (err)
		return err;
	err = weir__record_make(&record, before, layer);
	if (err) {
		free(layer);
		return err;
	}
	record->sample = weir__layer_sample(weir__keys_in(f, i));
	before->next = record;
	own->now = record;
	return 0;
}

/* Set the counts of the layers. The filter must still be private. */
static void set_counts(struct weir_filter *f, const struct weir_member *m, unsigned n)
{
	struct weir__layers *now = weir__layers_now(f);
	for (unsigned i = 0; i < n; i++)
		weir__figure_store_relaxed(&now->layer[i]->keys, m[i].note);
	if (m[n - 1].note >= now->layer[n - 1]->full)
		weir__closed_store_relaxed(&now->closed);
}

int weir__growing_adopt(struct weir_filter *f, const struct weir_member *m, unsigned n)
{
	int err = 0;
	for (unsigned i = 1; !err && i < n; i++)
		err = adopt_one(f, &m[i], i);
	if (!err) {
		set_counts(f, m, n);
		return 0;
	}
	/* On failure the caller still owns the members' filters, so f must not free them. */
	for (unsigned i = 1; i < weir__layers_now(f)->n; i++)
		weir__layers_now(f)->layer[i]->f = NULL;
	return err;
}

/* ---- union ---- */

/* Return: the distinct keys in two layers together, estimated from the fill of their union. */
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

/* Limit *more, by which the count of layer i grows when a layer is merged into it. The sum of the
 * two counts would count common keys twice, so the bits of the union bound the count.
 * Return: 0 or -ENOSPC. */
static int join_count(const struct weir_filter *f, unsigned i, const struct weir__layer *to,
                      const struct weir_member *from, uint64_t *more)
{
	const uint64_t lines = to->f->array.lines, keys = weir__keys_in(f, i);
	uint64_t ours = weir__figure_load_relaxed(&to->keys), together;
	if (!ours || !from->note)
		return 0;
	double estimate = keys_together(to->f, from->f);
	/* Allow for the error of the estimate, as weir_measure() does. */
	if (!(estimate <= (double)weir__layer_full(keys) + 3 * sqrt((double)keys) + 1))
		return weir__fail(-ENOSPC, "cannot merge: layer %u of both has about %.0f keys, "
		                  "and its capacity is %llu: insert the keys into a growing "
		                  "filter of a larger capacity", i, estimate,
		                  (unsigned long long)keys);
	together = weir__counted((uint64_t)estimate, weir__layer_sample(keys), lines);
	if (ours + *more > together)
		*more = together > ours ? together - ours : 0;
	return 0;
}

/* Check that layer i has the same size in both filters. Filters with equal rates have
 * layers of equal sizes, unless an image states other sizes. */
static int join_size(const struct weir_filter *dst, unsigned i, const struct weir__layers *to,
                     const struct weir_member *from)
{
	const struct weir__growing *own = dst->own;
	uint32_t shards;
	uint64_t lines = i < to->n ? to->layer[i]->f->array.lines :
	                             weir__layer_lines(own->bits_per_key, weir__keys_in(dst, i),
	                                               &shards);
	if (lines == from->f->array.lines)
		return 0;
	return weir__fail(-EINVAL, "cannot merge: lines of layer %u differs: %llu in the "
	                  "destination, %llu in the source", i, (unsigned long long)lines,
	                  (unsigned long long)from->f->array.lines);
}

void weir__growing_joined(struct weir_filter *dst, unsigned i, uint64_t more)
{
	struct weir__layers *now = weir__layers_now(dst);
	if (i + 1 == now->n)
		weir__growing_count(dst, now, more);
	else
		weir__figure_add_relaxed(&now->layer[i]->keys, more);
}

int weir__growing_join(struct weir_filter *dst, const struct weir_member *from, unsigned n)
{
	struct weir__layers *to = weir__layers_now(dst);
	uint64_t more[WEIR__LAYERS_MOST];
	int err = 0;
	for (unsigned i = 0; !err && i < n; i++) {
		err = join_size(dst, i, to, &from[i]);
		more[i] = from[i].note;
		if (!err && i < to->n)
			err = join_count(dst, i, to->layer[i], &from[i], &more[i]);
	}
	while (!err && to->n < n) {
		err = weir__growing_advance(dst, to);
		to = weir__layers_now(dst);
	}
	for (unsigned i = 0; !err && i < n; i++)
		weir__growing_joined(dst, i, more[i]);
	return err;
}
