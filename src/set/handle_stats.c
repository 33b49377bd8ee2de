/* SPDX-License-Identifier: MIT
 * What a handle holds. */
#include <string.h>
#include "options.h"
#include "set/generation.h"

/* The sizes that the caller's header has, of both structs: weir_stats() writes no more than the
 * inner one's. A header without the inner struct gets the fields before it. Whatever this struct is
 * given later belongs behind the filter, and there it begins where the caller's filter ends. */
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

int weir_handle_stats(const struct weir_handle *h, struct weir_handle_stats *out)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	int err = take_sizes(&s, out);
	if (err)
		return err;
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	err = weir_stats(g->current, &s.filter);
	s.generation = g->number;
	s.age = weir__seconds() - g->since;
	s.reloading = g->next != NULL;
	s.previous_kept = g->previous != NULL;
	s.absent = g->absence != NULL;
	s.bytes = weir__held_bytes(h, g);
	weir__read_unlock(&h->rcu);
	s.swaps = weir__figure_load_relaxed(&h->swaps);
	s.refused = weir__figure_load_relaxed(&h->refused);
	if (!err)
		memcpy(out, &s, out->struct_size);
	return err;
}
