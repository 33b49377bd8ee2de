/* SPDX-License-Identifier: MIT
 * Which file it is, and whether it may still be written to. */
#ifndef WEIR_NGINX_FILE_H
#define WEIR_NGINX_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* A file that is replaced has another inode, one that is written in place another time or size.
 * All zero: none, or one that is to be read again in any case. */
struct file_identity {
	uint64_t device, inode, size;
	uint64_t modified, changed; /* ns since 1970 */
};

/* Return: 0 or a negative errno. */
int file_identify(struct file_identity *out, const char *path);
bool file_same(const struct file_identity *a, const struct file_identity *b);

/* Was it written to within the kernel's tick before now? Another write could then leave every time
 * as it is: such a file is read a moment later. */
bool file_is_young(const struct file_identity *f);

#endif
