/* SPDX-License-Identifier: MIT
 * The statistics of a handle. */
#include <string.h>
#include "ground/error.h"
#include "ground/system.h"
#include "set/sharded/sharded.h"

/* Add the figures of one record to @s. @h: the handle that published the record: the handle of a
 * single filter, or of one shard. */
static void add_record(struct weir_handle_stats *s, const struct weir_handle *h,
                       const struct weir_generation *g)
{
	const double age = weir__seconds() - g->since;
	s->age = s->generation && s->age < age ? s->age : age;
	s->oldest = s->oldest && s->oldest < g->number ? s->oldest : g->number;
	s->generation = s->generation > g->number ? s->generation : g->number;
	s->reloading |= g->next != NULL;
	s->previous_kept |= weir__standby(g) != NULL;
	s->previous_void |= g->previous && !weir__standby(g);
	s->bytes += weir__held_bytes(h, g);
}

/* Add the records of the handle, or of all its shards. Call this in a section. @g: the handle's
 * record. */
static void add_records(struct weir_handle_stats *s, const struct weir_handle *h,
                        const struct weir_generation *g)
{
	if (!h->sharded)
		add_record(s, h, g);
	for (uint32_t i = 0; h->sharded && i < h->sharded->shards; i++) {
		const struct weir_handle *shard = h->sharded->shard[i];
		add_record(s, shard, weir__generation(shard));
	}
}

int weir_handle_measure(const struct weir_handle *h, struct weir_handle_stats *out,
                        struct weir_stats *filter)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_handle_stats");
	if (!err && filter)
		err = weir__size_check(filter, sizeof *filter, "weir_stats");
	if (err)
		return err;
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	if (!g->absence) /* statistics of the placeholder mean nothing ([PLACEHOLDER]) */
		err = weir_measure(g->current, WEIR_SAMPLED, &current);
	add_records(&s, h, g);
	s.absent = g->absence != NULL;
	weir__refusal_read(h, &s);
	weir__read_unlock(&h->rcu);
	if (err)
		return err;
	s.nearly_full = current.nearly_full;
	s.reloading |= weir__figure_load_relaxed(&h->collecting);
	s.swaps = weir__figure_load_relaxed(&h->swaps);
	s.refused = weir__figure_load_relaxed(&h->refused);
	s.kept_dropped = weir__figure_load_relaxed(&h->kept_dropped);
	s.failed = weir__figure_load_relaxed(&h->failed);
	s.last_reload = (double)weir__figure_load_relaxed(&h->reload_ns) * 1e-9;
	s.struct_size = out->struct_size;
	memcpy(out, &s, s.struct_size);
	if (filter) {
		current.struct_size = filter->struct_size;
		memcpy(filter, &current, current.struct_size);
	}
	return 0;
}
