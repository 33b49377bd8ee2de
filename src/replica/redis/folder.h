/* SPDX-License-Identifier: MIT
 * A folder of images that a web server shows. */
#ifndef WEIR_REPLICA_FOLDER_H
#define WEIR_REPLICA_FOLDER_H

#include <stdint.h>

/* Copy @bytes of @fd to a new file, readable by all, whole or not at all: it has its name when it
 * is on the disk. Return: 0 or a negative errno. */
int weir__folder_put(const char *folder, const char *name, int fd, uint64_t bytes);
/* Remove the oldest images of a set (SET-GENERATION-HEX.weir) but the @keep newest.
 * Return: 0 or a negative errno. */
int weir__folder_keep(const char *folder, const char *set, unsigned keep);

#endif
