/* SPDX-License-Identifier: MIT
 * The memory of the machine, and the memory that the control groups of this process leave. */
#ifndef WEIR_SRC_HOST_MEMORY_LIMIT_H
#define WEIR_SRC_HOST_MEMORY_LIMIT_H

#include <stdint.h>

/* Stands for no limit or an unknown limit. The value exceeds the need of any filter. */
#define MEMORY_UNLIMITED (UINT64_C(1) << 46)

/* Return: the memory of the machine in bytes, or MEMORY_UNLIMITED if a sandbox hides it. */
uint64_t memory_of_machine(void);

/* Return: the memory in bytes that the process's control group and all groups above it leave
 * unused, or MEMORY_UNLIMITED without a limit. @root: the prefix of /proc and /sys; "" except in
 * tests. */
uint64_t memory_of_groups(const char *root);

/* Return: the memory in bytes that the control groups leave for keys and filters. One sixteenth is
 * kept in reserve, since the kernel also counts page tables, and kills a process above the
 * limit. */
uint64_t memory_left(void);

/* Return: the available memory, or what the control groups leave, whichever is less. */
uint64_t memory_available(const char *root);

/* Return: half of the available memory, or half of what the control groups leave, whichever is
 * less. */
uint64_t memory_half(const char *root);

#endif
