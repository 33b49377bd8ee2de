/* SPDX-License-Identifier: MIT
 * A disk whose power is cut at every step that the shim sees.
 *
 * After a cut the disk has all bytes for which an fsync or msync returned. Every other byte may
 * have the value that the disk had before, or the value that the kernel has. So each step tries
 * many cuts. The files of the kernel and the disk differ in some pieces (pages, or 64-bit words of
 * a mapping). A cut writes to the disk none of these pieces, all of them, one piece, all pieces but
 * one, or some pieces at random. For every single piece there is a cut that writes only this piece,
 * and a cut that omits only this piece. The path may name any file that it has named since its
 * folder was synced. */
#ifndef WEIR_TESTS_FAULT_POWER_H
#define WEIR_TESTS_FAULT_POWER_H

#include <stdbool.h>
#include <stddef.h>

/* Return: true if a cut may leave this image. @image: NULL if the path has no file.
 * @answered: true if the function under test has returned 0. */
typedef bool power_right(const unsigned char *image, size_t n, bool answered);

struct power {
	unsigned cuts, bad;
	char first_bad[600];
};
extern struct power power;

/* Start with the file at @path on the disk. @grain: the number of bytes in a piece. */
void power_begin(const char *path, size_t grain, power_right *right);
/* Tell the model that the image is mapped at @image. */
void power_mapped(const void *image);
/* Try the power cuts at a step that the test itself makes, such as an insert. */
void power_step(const char *what);
/* Try the cuts after the function under test has returned 0, and end the model. */
void power_end(void);

#endif
