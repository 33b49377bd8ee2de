/* SPDX-License-Identifier: MIT
 * The memory of the machine, and the part of it that the control groups of this process leave. */
#ifndef WEIR_TOOL_ROOM_H
#define WEIR_TOOL_ROOM_H

#include <stdint.h>

/* No limit, or an unknown one. This is more than any filter needs. */
#define ROOM_MOST (UINT64_C(1) << 46)

/* Return: the memory of the machine; ROOM_MOST if a sandbox hides it. */
uint64_t room_machine(void);

/* Return: the memory that the limits of the process's control group, and of all groups above it,
 * leave beside the memory in use; ROOM_MOST without a limit. @root: the prefix of /proc and /sys,
 * "" except in tests. */
uint64_t room_groups(const char *root);

/* Return: the memory that the control groups leave to keys and filters. The kernel kills a process
 * that exceeds the limit, and also counts page tables and the like, so keeps a sixteenth back. */
uint64_t room_left(void);

/* Return: half of the available memory, or of what the control groups leave, whichever is less. */
uint64_t room_half(const char *root);

#endif
