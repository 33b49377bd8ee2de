/* SPDX-License-Identifier: MIT
 * A disk whose power is cut at every step that the shim sees.
 *
 * The disk may or may not have what the kernel has at such a step (the file as it reads). It has
 * everything for which a later fsync or msync has returned. So each step tries many cuts. The
 * pieces (pages, or 64-bit words of a mapping) in which kernel and disk differ may be on the disk:
 * none, all, each alone, all but each, and some at random. Path may name any of the files that it
 * named since its folder was synced. */
#ifndef WEIR_TESTS_FAULT_POWER_H
#define WEIR_TESTS_FAULT_POWER_H

#include <stdbool.h>
#include <stddef.h>

/* May this image be at the path after a cut? @answered: the verb has answered 0. @image: NULL if no
 * file is there. */
typedef bool power_right(const unsigned char *image, size_t n, bool answered);

struct power {
	unsigned cuts, bad;
	char first_bad[600];
};
extern struct power power;

/* The file at @path is on the disk. @grain: bytes of a piece. */
void power_begin(const char *path, size_t grain, power_right *right);
/* The image is mapped here. */
void power_mapped(const void *image);
/* A step of the test itself. */
void power_step(const char *what);
/* The verb has answered 0. */
void power_end(void);

#endif
