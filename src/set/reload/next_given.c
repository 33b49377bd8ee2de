/* SPDX-License-Identifier: MIT
 * The next filter of a reload, where the caller has it already. */
#include "filter/filter.h"
#include "ground/error.h"
#include "set/reload/next.h"

/* What would make a filter is not for one that is there. */
static int check_options(const struct weir_reload_options *o)
{
	if (!o->params && !o->build)
		return 0;
	return weir__fail(-EINVAL, "options.%s is given to weir_reload_begin_with: the next filter "
	                  "is made already", o->params ? "params" : "build");
}

/* H3, H7: what a record names, or named until just now, cannot come a second time. */
static int check_unused(struct weir_handle *h, const struct weir_filter *next)
{
	const struct weir_generation *g = h->generation;
	const char *whose = next == g->current  ? "the current filter" :
	                    next == g->previous ? "the previous filter" :
	                                          weir__bits_in(h, weir__filter_bits(next));
	return whose ? weir__fail(-EINVAL, "the next filter has its bits where %s of this handle "
	                          "has its own: load a filter of its own", whose) : 0;
}

/* Each insert goes to both: where the next filter refuses, none would be taken any more. */
static int check_writable(const struct weir_handle *h, const struct weir_filter *next)
{
	if (!next->kernel->verbs.insert || !next->insert_error || !weir__inserts_count(h))
		return 0;
	return weir__fail(-EROFS, "the next filter is mapped read-only, or was sealed, and the "
	                  "handle takes inserts: load it, or map it WEIR_MAP_PRIVATE");
}

int weir__next_take(struct weir_handle *h, struct weir_filter *next,
                    const struct weir_reload_options *options)
{
	int err = check_options(options);
	if (!err)
		err = check_unused(h, next);
	if (!err && !(h->flags & WEIR_HANDLE_ANY_SEED))
		err = weir__same_hashing_check(h->generation->current, &next->hashing,
		                               "the next filter");
	if (!err)
		err = weir__same_steps_check(h, next, "the next filter");
	if (!err)
		err = weir__next_check(h, next);
	if (!err)
		err = check_writable(h, next);
	if (!err)
		err = weir__peak_check(h, weir__filter_bytes(next), options->max_bytes);
	if (!err && h->absence)
		err = weir__absence_note(h->absence, next);
	return err;
}
