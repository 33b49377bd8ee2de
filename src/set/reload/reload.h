/* SPDX-License-Identifier: MIT
 * The steps of a reload; refresh.c takes them too. */
#ifndef WEIR_SRC_SET_RELOAD_RELOAD_H
#define WEIR_SRC_SET_RELOAD_RELOAD_H

#include <stdbool.h>
#include <weir/build.h>
#include <weir/image.h>
#include <weir/reload.h>
#include "set/generation.h"
#include "set/reload/pace.h"
#include "set/sharded/sharded.h"

/* The keys of one shard of a set. */

/* Keep the hashes that lie in the share, as the shard's own hashes. Return: how many. */
size_t weir__share_keep(const struct weir_share *share, uint64_t *hashes, size_t n);
/* Insert the keys that lie in the share into its filter.
 * @bitmap: as for weir_insert_keys(); a key of another share is not new.
 * Return: the number of new keys, or a negative errno. */
int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           struct weir_keys keys, uint64_t *bitmap);

/* The gate that a filter must pass before it is published. */

/* Copy the caller's gate into @copy, over the defaults, and let @gate point to it; NULL stays.
 * Return: 0, or -EINVAL with the sentence if a field makes no sense. */
int weir__gate_take(struct weir_gate *copy, const struct weir_gate **gate);
/* May the filter be published, or become the shard of its set?
 * @gate: taken, or NULL.
 * @progress: called while bits are counted, or NULL; for a shard it cannot stop the count.
 * Return: 0, or -ECANCELED with the sentence, also if progress stopped it. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next,
                   const struct weir_share *share, weir_progress_fn *progress, void *progress_arg);

/* For a sharded set (set/reload/gate_shard.c).
 * Return: 0, or -EINVAL with the sentence if the gate has a check that fits no set. */
int weir__gate_check_set(const struct weir_gate *gate);
/* Check the figures of the set in which @next would be the shard. The caller has claimed the set.
 * Return: as weir__gate_ask(). */
int weir__gate_ask_set(const struct weir_gate *gate, const struct weir_filter *next,
                       const struct weir_share *share, weir_progress_fn *progress,
                       void *progress_arg);

struct weir_reload {
	struct weir_handle *handle;
	struct weir_filter *next;     /* for a kind that is built: NULL until the commit */
	struct weir_builder *builder; /* for a kind that is built, else NULL */
	struct weir_generation *after; /* the record of the commit or abort */
	struct weir_retired *retired;
	struct weir_share share;
	struct weir_pace pace;
	double since;
	struct weir_reload_options options; /* options.gate, if set, points to the next field */
	struct weir_gate gate;
};

/* Allocate a reload that has published nothing. Return: 0 or -ENOMEM. */
int weir__reload_alloc(struct weir_reload **out, struct weir_handle *h,
                       const struct weir_reload_options *options);
/* Free a reload that is not published, or no longer, and its next filter. */
void weir__reload_free(struct weir_reload *r);
/* Publish @next, a filter without inserts so far, beside the current one; the reload owns it. The
 * caller has claimed the handle. Fails with -ENOMEM: then the filter stays the caller's. */
int weir__reload_open(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                      const struct weir_reload_options *options);
/* After weir__reload_open(): insert the keys kept before the first set (H10).
 * Return: 0, or the error of an insert: then drop the reload. */
int weir__reload_replay(struct weir_reload *r);
/* After weir__reload_open(): copy the current filter's bits into the next one.
 * Return: as weir_reload_copy(). */
int weir__reload_copy(struct weir_reload *r, uint64_t sets);
/* Ask the gate about the next filter. Nothing is merged into it afterwards.
 * @progress: called while its bits are counted, or NULL.
 * Return: 0, or -ECANCELED with the sentence, also if progress stopped it: then drop the reload. */
int weir__reload_ask(struct weir_reload *r, weir_progress_fn *progress, void *progress_arg);
/* Publish the next filter, or give it up (weir_reload_abort()); both release the claim.
 * @began: weir__seconds() when the reload began, for the statistics. */
void weir__reload_close(struct weir_reload *r, double began);
void weir__reload_drop(struct weir_reload *r);
/* Give the reload up, and leave its next filter to the caller: no section uses it any more. */
void weir__reload_give_back(struct weir_reload *r);

/* Which filters may follow a handle's current one. */

/* Return: 0, or -EINVAL if the two hash differently.  @whose: leads the sentence. */
int weir__same_hashing_check(const struct weir_filter *current, const struct weir_hashing *next,
                             const char *whose);
/* Can the contents of @current be copied into @next?  Return: 0, or as weir_merge(). */
int weir__carry_check(const struct weir_filter *next, const struct weir_filter *current);
/* Return: 0, or -EINVAL if the two normalise keys differently (allowed with WEIR_HANDLE_ANY_STEPS).
 * @whose: leads the sentence. */
int weir__same_steps_check(const struct weir_handle *h, const struct weir_text *next,
                           const char *whose);
/* R4: does the next filter have the sets of the current one? Return: 0 or -EINVAL. */
int weir__same_sets_check(const struct weir_handle *h, const struct weir_filter *next,
                          const char *whose);
/* Are inserts acknowledged: by the current filter or, before the first set, by keeping them? */
bool weir__inserts_count(const struct weir_handle *h);
/* @max_bytes: 0: no limit. Return: 0, or -EFBIG if all filters together would have more bytes. */
int weir__peak_check(const struct weir_handle *h, uint64_t next_bytes, uint64_t max_bytes);
/* May @next be published beside the current filter?  Return: 0; -ENOTSUP inserts would be lost. */
int weir__next_check(const struct weir_handle *h, const struct weir_filter *next);
/* Do the options ask for a kind that is built once? */
bool weir__next_is_built(const struct weir_handle *h, const struct weir_reload_options *options);
/* If so, begin to collect its keys. The caller has claimed the handle.
 * Return: as weir_reload_begin(). */
int weir__next_collect(struct weir_builder **out, struct weir_handle *h,
                       const struct weir_reload_options *options);
/* If not, make the empty filter that the options ask for. The caller has claimed the handle.
 * Return: as weir_reload_begin(). */
int weir__next_make(struct weir_filter **out, struct weir_handle *h,
                    const struct weir_reload_options *options);
/* May options.next, a filter of the caller's, be the next one? If so, the handle owns it from now
 * on, unless weir__reload_open() fails. The caller has claimed the handle.
 * Return: as weir_reload_begin(). */
int weir__next_take(struct weir_handle *h, const struct weir_reload_options *options);

/* A reload whose next filter is built once: it collects the inserts, and the commit builds. Until
 * then nothing is published, and nothing need be: such a filter may only follow one that takes no
 * inserts (H14 in generation.h). */

/* Begin to collect. The caller has claimed the handle. Return: as weir_reload_begin(). */
int weir__reload_collect(struct weir_reload **out, struct weir_handle *h,
                         const struct weir_reload_options *options);
/* Add the keys that lie in the share. Return: 0 or a negative errno. */
int64_t weir__reload_add(struct weir_reload *r, struct weir_keys keys);
/* Write the number of added keys to @out, and their capacity; 0: open. */
void weir__reload_collected(const struct weir_reload *r, struct weir_stats *out);
/* Refuse to copy the current filter. */
int weir__reload_cannot_copy(const struct weir_reload *r);
/* Build the next filter.
 * @stopped: receives whether the options' progress ended it. Return: as weir_builder_finish(). */
int weir__reload_build(struct weir_reload *r, bool *stopped);

#endif
