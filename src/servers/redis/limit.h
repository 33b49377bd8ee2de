/* SPDX-License-Identifier: MIT
 * The memory that keys may take. Redis compares its memory with maxmemory before a command, but one
 * command can ask for many GB, and the kernel kills a server that exceeds its control group.
 *
 * So a client's command gets memory only within what is left of maxmemory, and of the control
 * groups and the machine less a share of Redis's memory, for the pages that a fork copies while it
 * saves. If Redis evicts keys to keep maxmemory, only a key above maxmemory is refused. A replica
 * and a server that loads a file take what the master took. */
#ifndef WEIR_REDIS_LIMIT_H
#define WEIR_REDIS_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* loadmodule's argument fork-share: 0 to 1 of Redis's memory is left for a fork. */
extern double limit_fork_share;

/* Return: true if @bytes more may be allocated. Most calls only subtract from a budget; when the
 * budget is used up, the limits are read again. */
bool limit_allows(size_t bytes);

/* Return: a text that tells what is left, if the last limit_allows() was false; else "". */
const char *limit_why(void);

/* Return: true on a replica and while a file is loaded: they take what the master took. */
bool limit_is_off(void);

#endif
