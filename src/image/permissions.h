/* SPDX-License-Identifier: MIT
 * The rights of a new file: never wider than those of the one it replaces. */
#ifndef WEIR_SRC_IMAGE_PERMISSIONS_H
#define WEIR_SRC_IMAGE_PERMISSIONS_H

#include "image/target.h"

/* The permissions to create the new file with; the umask takes some away.
 * @given: the caller's, or 0. */
mode_t weir__rights_at_first(const struct weir_target *target, unsigned given);
/* Give the written file @fd its owner, then its permissions. Return: 0 or an errno. */
int weir__rights_settle(const struct weir_target *target, unsigned given, int fd);

#endif
