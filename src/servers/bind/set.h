/* SPDX-License-Identifier: MIT
 * The images that the views of this process follow. Views that name the same file share its set. A
 * reload of the configuration registers the new views before it destroys the old ones, so the set
 * stays, and nothing is read again. */
#ifndef WEIR_SERVERS_BIND_SET_H
#define WEIR_SERVERS_BIND_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "options.h"

struct set;
struct weir_handle;

/* Begin to use the set of a file, or go on with the one that is followed already with the same
 * limit and key. The file is read before this returns; that it cannot be is no failure.
 * Return: NULL without memory or a thread: weir_error_detail() has a sentence. */
struct set *set_get(const char *path, uint64_t max_size, const struct secret *key);
/* Not in a read-side section. NULL for nothing. */
void set_put(struct set *s);

struct weir_handle *set_handle(const struct set *s);
/* Whether there has been an image: wait-free. */
bool set_ready(const struct set *s);
const char *set_path(const struct set *s);

#endif
