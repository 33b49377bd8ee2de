/* SPDX-License-Identifier: MIT
 * Random numbers: seeds, and names that nobody can guess. */
#ifndef WEIR_SRC_GROUND_RANDOM_H
#define WEIR_SRC_GROUND_RANDOM_H

#include <stdint.h>

/* A random number from the kernel. Return: 0 or a negative errno. */
int weir__random(uint64_t *out);

#endif
