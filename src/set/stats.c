/* SPDX-License-Identifier: MIT
 * What a handle holds. */
#include <string.h>
#include "ground/error.h"
#include "ground/system.h"
#include "set/sharded/sharded.h"

/* The fields behind the filter begin at this one. */
#define BEHIND offsetof(struct weir_handle_stats, last_reload)

/* The sizes that the caller's header has, of both structs: weir_measure() writes no more than the
 * inner one's. A header without the inner struct gets the fields before it. */
static int take_sizes(struct weir_handle_stats *s, const struct weir_handle_stats *out)
{
	int err = weir__size_check(out, sizeof *out, "weir_handle_stats");
	if (err)
		return err;
	s->struct_size = out->struct_size;
	if (out->struct_size < offsetof(struct weir_handle_stats, filter) + sizeof(size_t))
		return 0;
	err = weir__size_check(&out->filter, sizeof s->filter, "weir_handle_stats.filter");
	if (!err)
		s->filter.struct_size = out->filter.struct_size;
	return err;
}

/* The fields behind the filter begin where the caller's filter ends, at a multiple of 8. */
static void put(struct weir_handle_stats *out, const struct weir_handle_stats *s)
{
	size_t room = out->struct_size;
	size_t ends = offsetof(struct weir_handle_stats, filter) + s->filter.struct_size;
	size_t behind = (ends + 7) / 8 * 8;
	memcpy(out, s, room < ends ? room : ends);
	if (room > behind)
		memcpy((char *)out + behind, (const char *)s + BEHIND,
		       room - behind < sizeof *s - BEHIND ? room - behind : sizeof *s - BEHIND);
}

/* What a record says: of the only filter, or of a shard beside others. */
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

/* In a section. @g: the handle's record. */
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

int weir_handle_measure(const struct weir_handle *h, struct weir_handle_stats *out)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	int err = take_sizes(&s, out);
	if (err)
		return err;
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	if (!g->absence) /* the placeholder's figures mean nothing (H10) */
		err = weir_measure(g->current, WEIR_SAMPLED, &filter);
	add_records(&s, h, g);
	s.absent = g->absence != NULL;
	weir__refusal_read(h, &s);
	weir__read_unlock(&h->rcu);
	filter.struct_size = s.filter.struct_size;
	s.filter = filter;
	s.nearly_full = filter.nearly_full;
	s.reloading |= weir__figure_load_relaxed(&h->collecting);
	s.swaps = weir__figure_load_relaxed(&h->swaps);
	s.refused = weir__figure_load_relaxed(&h->refused);
	s.failed = weir__figure_load_relaxed(&h->failed);
	s.last_reload = (double)weir__figure_load_relaxed(&h->reload_ns) * 1e-9;
	if (!err)
		put(out, &s);
	return err;
}
