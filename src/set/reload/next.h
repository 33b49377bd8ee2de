/* SPDX-License-Identifier: MIT
 * What may follow a handle's current filter. */
#ifndef WEIR_SRC_NEXT_H
#define WEIR_SRC_NEXT_H

#include <weir/build.h>
#include <weir/reload.h>
#include "set/generation.h"

/* Return: 0, or -EINVAL if the two do not hash alike.  @whose: leads the sentence. */
int weir__same_hashing_check(const struct weir_filter *current, const struct weir_hashing *next,
                             const char *whose);
/* Can what @current holds be copied into @next?  Return: 0, or as weir_merge(). */
int weir__carry_check(const struct weir_filter *next, const struct weir_filter *current);
/* Return: 0, or -EINVAL if something else is done to keys before the two hash them (not with
 * WEIR_HANDLE_ANY_STEPS).  @whose: leads the sentence. */
int weir__same_steps_check(const struct weir_handle *h, const struct weir_filter *next,
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
/* May @next, a filter of the caller's, be the next one with these options? The handle is claimed.
 * Return: as weir_reload_begin_with(). */
int weir__next_take(struct weir_handle *h, struct weir_filter *next,
                    const struct weir_reload_options *options);

#endif
