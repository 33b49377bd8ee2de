/* SPDX-License-Identifier: MIT
 * The steps of a reload; refresh.c uses them too. */
#ifndef WEIR_SRC_SET_RELOAD_RELOAD_H
#define WEIR_SRC_SET_RELOAD_RELOAD_H

#include <stdbool.h>
#include <weir/build.h>
#include <weir/image.h>
#include <weir/reload.h>
#include "set/generation.h"
#include "set/reload/pace.h"
#include "set/sharded/sharded.h"

/* ---- the keys of one shard of a set ---- */

/* Move the hashes that belong to the shard, rotated for the shard, to the start of @hashes. Return:
 * the number of these hashes. */
size_t weir__share_keep(const struct weir_share *share, uint64_t *hashes, size_t n);
/* Insert the keys that belong to the shard into its filter.
 * @bitmap: as for weir_insert_keys(); a key of another shard is not new.
 * Return: the number of new keys, or a negative errno. */
int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           struct weir_keys keys, uint64_t *bitmap);

/* ---- the gate: checks that a filter must pass before it is published ---- */

/* Copy the caller's gate into @copy, over the defaults, and let @gate point to @copy, unless @gate
 * is NULL. Return: 0, or -EINVAL if a field is not valid. */
int weir__gate_take(struct weir_gate *copy, const struct weir_gate **gate);
/* Check that the filter may be published, or become the shard of its set.
 * @gate: after weir__gate_take(), or NULL.
 * @progress: called while bits are counted, or NULL; for a shard it cannot stop the count.
 * Return: 0, or -ECANCELED, also if progress stopped. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next,
                   const struct weir_share *share, weir_progress_fn *progress, void *progress_arg);

/* Refuse a gate with a check that does not fit a sharded set (set/reload/gate_shard.c).
 * Return: 0 or -EINVAL. */
int weir__gate_check_set(const struct weir_gate *gate);
/* Check the statistics of the set with @next as its shard. The caller has claimed the set.
 * Return: as weir__gate_ask(). */
int weir__gate_ask_set(const struct weir_gate *gate, const struct weir_filter *next,
                       const struct weir_share *share, weir_progress_fn *progress,
                       void *progress_arg);

struct weir_reload {
	struct weir_handle *handle;
	struct weir_filter *next;     /* for a kind that is built once: NULL until the commit */
	struct weir_builder *builder; /* for a kind that is built once, else NULL */
	struct weir_generation *after; /* the record that the commit or abort publishes */
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
/* Free a reload with its next filter. The record must not name that filter. */
void weir__reload_free(struct weir_reload *r);
/* Publish @next, a filter without inserts so far, as the next filter. The reload owns @next.
 * The caller has claimed the handle. Return: 0; -ENOMEM, and the filter stays the caller's. */
int weir__reload_open(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                      const struct weir_reload_options *options);
/* After weir__reload_open(): insert the keys kept before the first set ([PLACEHOLDER]).
 * Return: 0, or the error of an insert; then call weir__reload_drop(). */
int weir__reload_replay(struct weir_reload *r);
/* After weir__reload_open(): copy the current filter's bits into the next filter.
 * Return: as weir_reload_copy(). */
int weir__reload_copy(struct weir_reload *r, uint64_t sets);
/* Ask the gate about the next filter. Nothing may be merged into that filter afterwards.
 * @progress: called while the bits are counted, or NULL.
 * Return: 0; -ECANCELED, also if progress stopped; then call weir__reload_drop(). */
int weir__reload_ask(struct weir_reload *r, weir_progress_fn *progress, void *progress_arg);
/* Publish the next filter, and release the claim.
 * @began: weir__seconds() when the reload began, for the statistics. */
void weir__reload_close(struct weir_reload *r, double began);
/* Discard the next filter as weir_reload_abort() does, and release the claim. */
void weir__reload_drop(struct weir_reload *r);
/* End the reload without publishing, and give the next filter, now unused, back to the caller. */
void weir__reload_give_back(struct weir_reload *r);

/* ---- which filters may follow a handle's current filter, and how they are made ---- */

/* Check that two filters hash alike. Return: 0 or -EINVAL.  @whose: the start of the error
 * message. */
int weir__same_hashing_check(const struct weir_filter *current, const struct weir_hashing *next,
                             const char *whose);
/* Check that the contents of @current can be copied into @next.  Return: 0, or as weir_merge(). */
int weir__carry_check(const struct weir_filter *next, const struct weir_filter *current);
/* Check that two filters normalise keys in the same way, unless WEIR_HANDLE_ANY_STEPS is set.
 * @whose: the start of the error message.  Return: 0 or -EINVAL. */
int weir__same_steps_check(const struct weir_handle *h, const struct weir_text *next,
                           const char *whose);
/* [SAME-SETS]: check that the next filter has the sets of the current filter. Return: 0 or
 * -EINVAL. */
int weir__same_sets_check(const struct weir_handle *h, const struct weir_filter *next,
                          const char *whose);
/* Return: true if the handle acknowledges inserts: its current filter takes them, or the handle
 * keeps them for the first set ([PLACEHOLDER]). */
bool weir__inserts_count(const struct weir_handle *h);
/* Check that all filters together have at most @max_bytes. 0: no limit. Return: 0 or -EFBIG. */
int weir__peak_check(const struct weir_handle *h, uint64_t next_bytes, uint64_t max_bytes);
/* Check that @next may become the next filter.  Return: 0; -ENOTSUP inserts would be lost. */
int weir__next_check(const struct weir_handle *h, const struct weir_filter *next);
/* Return: true if the next filter is of a kind that is built once. */
bool weir__next_is_built(const struct weir_handle *h, const struct weir_reload_options *options);
/* For a kind that is built once, start to collect its keys. The caller has claimed the handle.
 * Return: as weir_reload_begin(). */
int weir__next_collect(struct weir_builder **out, struct weir_handle *h,
                       const struct weir_reload_options *options);
/* For any other kind, make the empty filter of the options. The caller has claimed the handle.
 * Return: as weir_reload_begin(). */
int weir__next_make(struct weir_filter **out, struct weir_handle *h,
                    const struct weir_reload_options *options);
/* Check that the caller's filter, options.next, may be the next filter. On success the handle owns
 * it, unless weir__reload_open() fails later. The caller has claimed the handle.
 * Return: as weir_reload_begin(). */
int weir__next_take(struct weir_handle *h, const struct weir_reload_options *options);

/* A reload whose next filter is built once collects the inserts, and the commit builds the filter.
 * Nothing is published until then. This loses no insert, since such a filter may only follow a
 * filter that acknowledges no inserts ([BUILT-ONCE] in generation.h). */

/* Start to collect. The caller has claimed the handle. Return: as weir_reload_begin(). */
int weir__reload_collect(struct weir_reload **out, struct weir_handle *h,
                         const struct weir_reload_options *options);
/* Add the keys that belong to the shard. Return: 0 or a negative errno. */
int64_t weir__reload_add(struct weir_reload *r, struct weir_keys keys);
/* Write the number of added keys and the capacity to @out. Capacity 0 means unlimited. */
void weir__reload_collected(const struct weir_reload *r, struct weir_stats *out);
/* Refuse to copy the current filter. */
int weir__reload_cannot_copy(const struct weir_reload *r);
/* Build the next filter.
 * @stopped: receives true if the progress function in the options stopped the
 * build. Return: as weir_builder_finish(). */
int weir__reload_build(struct weir_reload *r, bool *stopped);

#endif
