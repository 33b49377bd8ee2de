/* SPDX-License-Identifier: MIT
 * The parts of saving that types beside the filters use. */
#ifndef WEIR_SRC_IMAGE_SAVE_H
#define WEIR_SRC_IMAGE_SAVE_H

#include <weir/image.h>

enum { WEIR__FD_NAME = 32 }; /* bytes for "file descriptor 1234567890" */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__save_options(struct weir_save_options *out, const struct weir_save_options *options);
int weir__save_path_check(const char *path);
/* Is it open?  @name: receives one for sentences. */
int weir__save_fd_check(int fd, char name[WEIR__FD_NAME]);

/* Writes an image into a new file; perhaps twice, each time from offset 0 on. */
typedef int weir__write_fn(void *what, int fd, const char *path,
                           const struct weir_save_options *options);
/* Replace the file by what @write writes. @options: checked. */
int weir__save_path(weir__write_fn *write, void *what, const char *path,
                    const struct weir_save_options *options);

#endif
