/* SPDX-License-Identifier: MIT
 * The view of a sharded set ([SHARD-VIEW]): a filter without bits, whose lookups, counts and
 * statistics come from the shards. weir_handle_get() of such a set returns the view. All other
 * functions of a filter fail on it, as for a kind that lacks them. */
#include <math.h>
#include <stdio.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "set/sharded/sharded.h"

/* ---- lookups: in the caller's section ---- */

static bool contains_hash(const struct weir_filter *view, uint64_t hash)
{
	return weir__shard_contains(view->own, hash);
}

static bool contains(const struct weir_filter *view, const void *key, size_t len)
{
	return contains_hash(view, weir__hash_by(&view->hashing, key, len));
}

/* Return: the answers for up to 64 keys. Bit i is the answer for key i. */
static uint64_t contains_some(const struct weir_sharded *set, const uint64_t *hashes, size_t n)
{
	uint64_t answers = 0;
	for (size_t i = 0; i < n; i++)
		weir__shard_fetch(set, hashes[i]);
	for (size_t i = 0; i < n; i++)
		answers |= (uint64_t)weir__shard_contains(set, hashes[i]) << i;
	return answers;
}

static size_t contains_batch(const struct weir_filter *view, const struct weir_batch *batch,
                             uint64_t *bitmap)
{
	uint64_t scratch[WEIR_HASHED] __attribute__((aligned(64)));
	const struct weir_sharded *set = view->own;
	size_t found = 0;
	for (size_t at = 0; at < batch->n; at += WEIR__TOGETHER) {
		const unsigned n = weir__least(batch->n - at, WEIR__TOGETHER);
		const uint64_t answers = contains_some(
			set, weir__batch_take(view, view->array.flip8, batch, at, n, scratch), n);
		found += (size_t)__builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / WEIR__TOGETHER] = answers;
	}
	return found;
}

static int64_t count_hash(const struct weir_filter *view, uint64_t hash)
{
	const struct weir_sharded *set = view->own;
	return weir_count_hash(weir__shard_record(set, hash)->current,
	                       weir__share_hash(set->bits, hash));
}

static const struct weir_kernel looks = {
	.isa = WEIR_ISA_SCALAR,
	.verbs = { .contains = contains, .contains_hash = contains_hash },
	.contains_batch = contains_batch
}, counts = {
	.isa = WEIR_ISA_SCALAR,
	.verbs = { .contains = contains, .contains_hash = contains_hash },
	.contains_batch = contains_batch,
	.count = count_hash
};

static const struct weir_kernel *looks_of(enum weir_isa isa, const struct weir_shape *shape)
{
	(void)isa, (void)shape;
	return &looks;
}

static const struct weir_kernel *counts_of(enum weir_isa isa, const struct weir_shape *shape)
{
	(void)isa, (void)shape;
	return &counts;
}

/* ---- statistics of the shards' current filters ---- */

/* Add the statistics of one shard. Lookups spread evenly over the shards, so the set's
 * fill and rate are the means of the shards' fill and rate. */
static void add(struct weir_stats *all, const struct weir_stats *one)
{
	all->bytes += one->bytes;
	all->fill += one->fill / all->shards;
	all->fill_max = fmax(all->fill_max, one->fill_max);
	all->sampled += one->sampled / all->shards;
	all->keys_estimated += one->keys_estimated;
	all->keys_error = hypot(all->keys_error, one->keys_error);
	all->fp_rate_estimated += one->fp_rate_estimated / all->shards;
	all->counters_stuck += one->counters_stuck;
	if (one->hashes_uneven > all->hashes_uneven) {
		all->hashes_uneven = one->hashes_uneven;
		all->uneven_why = one->uneven_why;
	}
	all->nearly_full |= one->nearly_full; /* even one full shard refuses keys */
	all->capacity += one->capacity;
	all->max_capacity += one->max_capacity;
}

/* Return: true if the keys of all shards exceed the sum of the max_capacity of all shards by three
 * standard deviations. One shard alone tells nothing, since the keys spread unevenly. */
static bool saturated(const struct weir_stats *all)
{
	const double most = (double)all->max_capacity;
	return all->keys_estimated > most + 3 * sqrt(most / all->sampled) + 1;
}

/* Sample at least a page of each shard. */
static int survey(const struct weir_filter *view, const struct weir_survey *asked,
                  struct weir_stats *out)
{
	const struct weir_sharded *set = view->own;
	struct weir_survey part = *asked;
	struct weir_stats all = *out;
	if (asked->lines < UINT64_MAX)
		part.lines = WEIR__SURVEY_FEWEST_LINES + asked->lines / set->shards;
	all.shards = set->shards;
	all.capacity = all.max_capacity = 0;
	for (uint32_t i = 0; i < set->shards; i++) {
		const struct weir_filter *shard = weir__generation(set->shard[i])->current;
		struct weir_stats one = WEIR_STATS_INIT;
		int err = weir__survey(shard, &part, &one);
		if (err)
			return err;
		all.shape = one.shape;
		all.isa = one.isa;
		add(&all, &one);
	}
	all.saturated = saturated(&all);
	if (view->capacity) { /* the caller asked for this capacity */
		all.capacity = view->capacity;
		all.max_capacity = view->max_capacity ? view->max_capacity : view->capacity;
	}
	*out = all;
	return 0;
}

/* ---- making the view ---- */

/* Make the kind of a view: its shards' kind, limited to lookups and statistics. */
static void kind_of_view(struct weir_sharded *set, const struct weir_kind *kind)
{
	const uint32_t kept = WEIR_CAN_COUNT | WEIR_CAN_HOLD_COPIES | WEIR_CAN_BE_EXACT |
	                      WEIR_CAN_HASH;
	snprintf(set->name, sizeof set->name,
	         "%.20s (a view of all shards, to look up and measure)", kind->name);
	set->kind = (struct weir_kind){ .id = kind->id,
	                                .name = set->name,
	                                .hash = kind->hash,
	                                .as_is = kind->as_is,
	                                .can = kind->can & kept,
	                                .legal = kind->legal,
	                                .describe = kind->describe,
	                                .survey = survey };
	for (unsigned i = 0; i < WEIR_SHAPE_FIELDS; i++)
		set->kind.fields[i] = kind->fields[i];
}

int weir__view_make(struct weir_filter **out, struct weir_sharded *set,
                    const struct weir_plan *whole)
{
	const struct weir_filter *shard = set->shard[0]->generation->current;
	const struct weir_memory none = { 0 };
	struct weir_layout layout = weir__filter_layout(shard);
	kind_of_view(set, shard->kind);
	set->kind.kernel = shard->kernel->count ? counts_of : looks_of;
	layout.kind = &set->kind;
	layout.shards = set->shards;
	layout.lines = 0;
	layout.capacity = shard->kind->build ? 0 : whole->capacity; /* 0: unlimited */
	layout.max_capacity = layout.max_capacity ? whole->growing.max_capacity : 0;
	int err = weir__filter_make(out, &layout, &none, 0);
	if (!err)
		(*out)->own = set;
	return err;
}
