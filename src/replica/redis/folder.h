/* SPDX-License-Identifier: MIT
 * A folder of images that a web server shows. */
#ifndef WEIR_REPLICA_FOLDER_H
#define WEIR_REPLICA_FOLDER_H

#include <stddef.h>
#include <stdint.h>

/* Copy @bytes of @fd to a new file, readable by all, whole or not at all: it has its name when it
 * is on the disk. Return: 0 or a negative errno. */
int weir__folder_put(const char *folder, const char *name, int fd, uint64_t bytes);
/* Remove images of a set (SET-GENERATION-HEX.weir), and what was left of making them, that are not
 * among @names and are @seconds old: before that somebody may still fetch one, or publish it.
 * Return: 0 or a negative errno. */
int weir__folder_prune(const char *folder, const char *set, char *const *names, size_t n,
                       unsigned seconds);

#endif
