/* SPDX-License-Identifier: MIT
 * Images that the views of this process follow. Views that name the same file share one set. A
 * reload of the configuration registers the new views before it destroys the old views, so the set
 * stays in memory and its file is not read again. */
#ifndef WEIR_SERVERS_BIND_SET_H
#define WEIR_SERVERS_BIND_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "options.h"

struct set;
struct weir_handle;

/* Get the set of a file. Views share the set if path, limit and key are equal. A new set reads its
 * file before this returns; an unreadable file is not an error.
 * Return: NULL if memory or a thread is missing: see weir_error_detail(). */
struct set *set_get(const char *path, uint64_t max_size, const struct secret *key);
/* Release the set. Call this outside read-side sections. NULL: a no-op. */
void set_put(struct set *s);

struct weir_handle *set_handle(const struct set *s);
/* Return: true if an image has been loaded. Wait-free. */
bool set_ready(const struct set *s);
const char *set_path(const struct set *s);

#endif
