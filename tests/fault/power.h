/* SPDX-License-Identifier: MIT
 * A disk whose power is cut at every step that the shim sees.
 *
 * What the kernel has at such a step (the file as it reads) may or may not be on the disk; what a
 * later fsync or msync of it has returned from is. So at each step the power is cut in many ways:
 * of the pieces (pages, or 64-bit words of a mapping) in which kernel and disk differ, none is on
 * the disk, all, each alone, all but each, and some by chance; likewise, of the names a path had
 * since its folder was synced, any. */
#ifndef WEIR_TESTS_FAULT_POWER_H
#define WEIR_TESTS_FAULT_POWER_H

#include <stdbool.h>
#include <stddef.h>

/* Is this what may stand under the path after a cut? @answered: after the verb has answered 0.
 * NULL: no file does. */
typedef bool power_right(const unsigned char *image, size_t n, bool answered);

struct power {
	unsigned cuts, bad;
	char first_bad[600];
};
extern struct power power;

/* What stands under @path is on the disk. @grain: bytes of a piece. */
void power_begin(const char *path, size_t grain, power_right *right);
/* The image is mapped here. */
void power_mapped(const void *image);
/* A step of the test's own. */
void power_step(const char *what);
/* The verb has answered 0. */
void power_end(void);

#endif
