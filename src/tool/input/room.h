/* SPDX-License-Identifier: MIT
 * How much memory an image may take unless --max-memory says otherwise. */
#ifndef WEIR_TOOL_ROOM_H
#define WEIR_TOOL_ROOM_H

#include <stdint.h>

/* Half of the memory that is available, or of what the process's control group may take, whichever
 * is less. @root: what precedes /proc and /sys: "" but in tests. */
uint64_t room_half(const char *root);

#endif
