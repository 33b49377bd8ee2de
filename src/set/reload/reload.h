/* SPDX-License-Identifier: MIT
 * The steps of a reload, for refresh.c and rolling.c. */
#ifndef WEIR_SRC_RELOAD_H
#define WEIR_SRC_RELOAD_H

#include <weir/image.h>
#include <weir/reload.h>
#include "set/generation.h"
#include "set/reload/gate.h"
#include "set/reload/one_shard.h"
#include "set/reload/pace.h"

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

/* weir_reload_begin_with(), or where @next is NULL weir_reload_begin(). @share: what its inserts
 * take. */
int weir__reload_begin(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                       const struct weir_reload_options *options, struct weir_share share);

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
int weir__reload_copy(struct weir_reload *r);
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

#endif
