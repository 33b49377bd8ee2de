/* SPDX-License-Identifier: MIT
 * How much memory the machine has, and how much of it the control groups of this process leave. */
#ifndef WEIR_TOOL_ROOM_H
#define WEIR_TOOL_ROOM_H

#include <stdint.h>

/* More than any filter needs: there is no limit, or none that is known. */
#define ROOM_MOST (UINT64_C(1) << 46)

/* The memory of the machine; ROOM_MOST if a sandbox refuses to say. */
uint64_t room_machine(void);

/* What the memory limits of the process's control group, and of all groups above it, leave beside
 * what is in use; ROOM_MOST if there is no limit. @root: what precedes /proc and /sys: "" but in
 * tests. */
uint64_t room_groups(const char *root);

/* What the control groups leave to keys and filters. The kernel kills a process that exceeds the
 * limit, and it counts page tables and the like too: a sixteenth is left for them. */
uint64_t room_left(void);

/* Half of the memory that is available, or of what the control groups leave, whichever is less. */
uint64_t room_half(const char *root);

#endif
