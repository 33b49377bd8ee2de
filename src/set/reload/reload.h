/* SPDX-License-Identifier: MIT
 * The steps of a reload, for refresh.c too. */
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

/* Keep those that lie in the share, as the shard's own hashes. Return: how many. */
size_t weir__share_keep(const struct weir_share *share, uint64_t *hashes, size_t n);
/* Insert those of the keys that lie in the share into its filter.
 * @bitmap: as for weir_insert_keys(); a key of another share is not new.
 * Return: how many were new, or a negative errno. */
int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           struct weir_keys keys, uint64_t *bitmap);

/* The gate: what a filter must pass before it is published. */

/* Take the caller's gate into @copy, over the defaults, and let @gate point to it; a NULL stays.
 * Return: 0, or -EINVAL with the sentence if a field makes no sense. */
int weir__gate_take(struct weir_gate *copy, const struct weir_gate **gate);
/* Ask whether the filter may be published, or become the shard of its set.
 * @gate: taken, or NULL.
 * @progress: called while bits are counted, or NULL; where it is to be a shard, it stops nothing.
 * Return: 0, or -ECANCELED with the sentence, also if progress stopped it. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next,
                   const struct weir_share *share, weir_progress_fn *progress, void *progress_arg);

/* For a sharded set: set/reload/gate_shard.c.
 * Return: 0, or -EINVAL with the sentence if the gate asks what no set can be asked. */
int weir__gate_check_set(const struct weir_gate *gate);
/* Ask for the figures of the set in which @next would be the shard. The set is claimed.
 * Return: as weir__gate_ask(). */
int weir__gate_ask_set(const struct weir_gate *gate, const struct weir_filter *next,
                       const struct weir_share *share, weir_progress_fn *progress,
                       void *progress_arg);

struct weir_reload {
	struct weir_handle *handle;
	struct weir_filter *next;     /* of a kind that is built NULL until the commit */
	struct weir_builder *builder; /* of such a kind, else NULL */
	struct weir_generation *after; /* the record of the commit or abort */
	struct weir_retired *retired;
	struct weir_share share;
	struct weir_pace pace;
	double since;
	struct weir_reload_options options; /* whose gate, if there is one, is the next field */
	struct weir_gate gate;
};

/* A reload that nothing is published of. Return: 0 or -ENOMEM. */
int weir__reload_alloc(struct weir_reload **out, struct weir_handle *h,
                       const struct weir_reload_options *options);
/* Free one that is not published, or not any more, and its next filter. */
void weir__reload_free(struct weir_reload *r);
/* Publish @next, a filter that no insert is in yet, beside the current one; the reload owns it.
 * The handle is claimed. Fails with -ENOMEM: then the filter is still the caller's. */
int weir__reload_open(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                      const struct weir_reload_options *options);
/* After weir__reload_open(), insert what was kept before the first set (H10). Return: 0, or the
 * error of an insert: then drop it. */
int weir__reload_replay(struct weir_reload *r);
/* Copy the current filter's bits into the next one, after weir__reload_open(). Return: as
 * weir_reload_copy(). */
int weir__reload_copy(struct weir_reload *r, uint64_t sets);
/* Ask the gate of the next filter. Nothing is merged into it afterwards.
 * @progress: called while its bits are counted, or NULL.
 * Return: 0, or -ECANCELED with the sentence, also if progress stopped it: then drop it. */
int weir__reload_ask(struct weir_reload *r, weir_progress_fn *progress, void *progress_arg);
/* Publish the next filter, or give it up (weir_reload_abort()); both end the claim.
 * @began: weir__seconds() when the reload did, for the statistics. */
void weir__reload_close(struct weir_reload *r, double began);
void weir__reload_drop(struct weir_reload *r);
/* Give it up, and leave its next filter to the caller: no section has it any more. */
void weir__reload_give_back(struct weir_reload *r);

/* What may follow a handle's current filter. */

/* Return: 0, or -EINVAL if the two do not hash alike.  @whose: leads the sentence. */
int weir__same_hashing_check(const struct weir_filter *current, const struct weir_hashing *next,
                             const char *whose);
/* Can what @current holds be copied into @next?  Return: 0, or as weir_merge(). */
int weir__carry_check(const struct weir_filter *next, const struct weir_filter *current);
/* Return: 0, or -EINVAL if something else is done to keys before the two hash them (not with
 * WEIR_HANDLE_ANY_STEPS).  @whose: leads the sentence. */
int weir__same_steps_check(const struct weir_handle *h, const struct weir_text *next,
                           const char *whose);
/* R4: has the next filter the sets of the current one? Return: 0 or -EINVAL. */
int weir__same_sets_check(const struct weir_handle *h, const struct weir_filter *next,
                          const char *whose);
/* Was who inserts now, or did before the first set, promised to find the key? */
bool weir__inserts_count(const struct weir_handle *h);
/* Return: 0, or -EFBIG if all filters together would have more bytes. 0: no limit. */
int weir__peak_check(const struct weir_handle *h, uint64_t next_bytes, uint64_t max_bytes);
/* May @next be published beside the current filter?  Return: 0; -ENOTSUP inserts would be lost. */
int weir__next_check(const struct weir_handle *h, const struct weir_filter *next);
/* Is weir_reload_begin() asked for a kind that is built once? */
bool weir__next_is_built(const struct weir_handle *h, const struct weir_reload_options *options);
/* Then begin to collect its keys. The handle is claimed. Return: as weir_reload_begin(). */
int weir__next_collect(struct weir_builder **out, struct weir_handle *h,
                       const struct weir_reload_options *options);
/* Else make the filter that weir_reload_begin() is asked for, empty. The handle is claimed.
 * Return: as weir_reload_begin(). */
int weir__next_make(struct weir_filter **out, struct weir_handle *h,
                    const struct weir_reload_options *options);
/* May options.next, a filter of the caller's, be the next one? If so, the handle owns it from now
 * on, until weir__reload_open() fails. The handle is claimed.  Return: as weir_reload_begin(). */
int weir__next_take(struct weir_handle *h, const struct weir_reload_options *options);

/* A reload whose next filter is built once: its inserts are collected, and the commit builds. Until
 * then nothing is published, and nothing need be: such a filter may only follow one that takes no
 * inserts (H14 in generation.h). */

/* Begin to collect. The handle is claimed. Return: as weir_reload_begin(). */
int weir__reload_collect(struct weir_reload **out, struct weir_handle *h,
                         const struct weir_reload_options *options);
/* Add those that lie in the share. Return: 0 or a negative errno. */
int64_t weir__reload_add(struct weir_reload *r, struct weir_keys keys);
/* What was added, as the keys of statistics; their capacity is 0 if it is open. */
void weir__reload_collected(const struct weir_reload *r, struct weir_stats *out);
/* Refuse to copy the current filter. */
int weir__reload_cannot_copy(const struct weir_reload *r);
/* Make the next filter.
 * @stopped: receives whether the options' progress ended it. Return: as weir_builder_finish(). */
int weir__reload_build(struct weir_reload *r, bool *stopped);

#endif
