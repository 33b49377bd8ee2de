/* SPDX-License-Identifier: MIT
 * What a handle holds. */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"
#include "set/generation.h"

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

int weir_handle_measure(const struct weir_handle *h, struct weir_handle_stats *out)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	int err = take_sizes(&s, out);
	if (err)
		return err;
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	if (!g->absence) /* the placeholder's figures mean nothing (H10) */
		err = weir_measure(g->current, WEIR_SAMPLED, &s.filter);
	s.generation = g->number;
	s.age = weir__seconds() - g->since;
	s.reloading = g->next || weir__figure_load_relaxed(&h->collecting);
	s.previous_kept = weir__standby(g) != NULL;
	s.previous_void = g->previous && !s.previous_kept;
	s.nearly_full = !g->absence &&
	                weir__nearly_full(g->current, s.filter.keys_estimated);
	s.absent = g->absence != NULL;
	s.bytes = weir__held_bytes(h, g);
	weir__refusal_read(h, &s);
	weir__read_unlock(&h->rcu);
	s.swaps = weir__figure_load_relaxed(&h->swaps);
	s.refused = weir__figure_load_relaxed(&h->refused);
	s.failed = weir__figure_load_relaxed(&h->failed);
	s.last_reload = (double)weir__figure_load_relaxed(&h->reload_ns) * 1e-9;
	if (!err)
		put(out, &s);
	return err;
}
