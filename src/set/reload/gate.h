/* SPDX-License-Identifier: MIT
 * The gate: what a filter must pass before it is published. */
#ifndef WEIR_SRC_GATE_H
#define WEIR_SRC_GATE_H

#include <weir/image.h>
#include <weir/reload.h>
#include "set/reload/one_shard.h"

/* Take the caller's gate into @copy, over the defaults, and let @gate point to it; a NULL stays.
 * Return: 0, or -EINVAL with the sentence if a field makes no sense. */
int weir__gate_take(struct weir_gate *copy, const struct weir_gate **gate);
/* Ask whether the filter may be published, or become the shard of its set.
 * @gate: taken, or NULL.
 * @progress: called while bits are counted, or NULL; where it is to be a shard, it stops nothing.
 * Return: 0, or -ECANCELED with the sentence, also if progress stopped it. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next,
                   const struct weir_share *share, weir_progress_fn *progress, void *progress_arg);

/* For a rolling set: set/reload/gate_shard.c.
 * Return: 0, or -EINVAL with the sentence if the gate asks what no set can be asked. */
int weir__gate_check_set(const struct weir_gate *gate);
/* Ask for the figures of the set in which @next would be the shard. The set is claimed.
 * Return: as weir__gate_ask(). */
int weir__gate_ask_set(const struct weir_gate *gate, const struct weir_filter *next,
                       const struct weir_share *share, weir_progress_fn *progress,
                       void *progress_arg);

#endif
