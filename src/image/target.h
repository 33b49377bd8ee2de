/* SPDX-License-Identifier: MIT
 * Where a save goes to: a folder, which stays open, and a name in it. */
#ifndef WEIR_SRC_IMAGE_TARGET_H
#define WEIR_SRC_IMAGE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct weir_target {
	int folder;              /* the only look-up by path: all later calls are relative to it */
	bool private;            /* nobody but this process's user and root writes to it */
	char base[NAME_MAX + 1]; /* the file's name in the folder */
	bool exists;             /* a regular file has the name, to be replaced */
	struct stat old;         /* that file */
	bool old_acl;            /* it has an access control list, or may have one */
};

/* Find the place of @path, which need not exist; nothing is open after a failure. */
int weir__target_find(struct weir_target *target, const char *path);
/* Look at the file once more, just before it is replaced: its rights may be others by now. */
void weir__target_look_again(struct weir_target *target);
/* Is the file there, if any, empty or an image? Return: 0; -EEXIST it is neither; or why it cannot
 * be read. */
int weir__target_check_image(const struct weir_target *target, const char *path);
void weir__target_close(const struct weir_target *target);

#endif
