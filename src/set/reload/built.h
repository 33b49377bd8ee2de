/* SPDX-License-Identifier: MIT
 * A reload whose next filter is built once: its inserts are collected, and the commit builds. Until
 * then nothing is published, and nothing need be: such a filter may only follow one that takes no
 * inserts (H14 in generation.h). */
#ifndef WEIR_SRC_RELOAD_BUILT_H
#define WEIR_SRC_RELOAD_BUILT_H

#include "set/reload/reload.h"

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
