/* SPDX-License-Identifier: MIT
 * The images that the views of this process follow. Views that name the same file share its set. A
 * reload of the configuration registers the new views before it destroys the old ones: the set
 * stays, and its file is not read again. */
#ifndef WEIR_SERVERS_BIND_SET_H
#define WEIR_SERVERS_BIND_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "options.h"

struct set;
struct weir_handle;

/* Begin to use the set of a file. Views share the set of the same path, limit and key. A new set
 * reads its file before this returns; a file that cannot be read is not a failure.
 * Return: NULL without memory or a thread: weir_error_detail() has a sentence. */
struct set *set_get(const char *path, uint64_t max_size, const struct secret *key);
/* Call it outside read-side sections. NULL: a no-op. */
void set_put(struct set *s);

struct weir_handle *set_handle(const struct set *s);
/* Return: has an image been there? Wait-free. */
bool set_ready(const struct set *s);
const char *set_path(const struct set *s);

#endif
