/* SPDX-License-Identifier: MIT
 * The file that a save writes, before it has the name that it is for. */
#ifndef WEIR_SRC_IMAGE_TEMPORARY_H
#define WEIR_SRC_IMAGE_TEMPORARY_H

#include "image/target.h"

/* ".weir-new-", the checksum of the target's name, "-", a random number, the end */
enum { WEIR_TEMPORARY_NAME = 10 + 16 + 1 + 16 + 1 };

struct weir_temporary {
	const struct weir_target *target; /* in its folder it stands */
	const char *path;                 /* as the caller gave it, for sentences */
	int fd;                           /* to write to */
	bool named;                       /* it has the name */
	char name[WEIR_TEMPORARY_NAME];
};

/*
 * Remove what dead savers of the target left, and create the file.
 * @mode: its permissions, less the umask.
 * @named: with a name from the start; else without, if the system can name it later.
 */
int weir__temporary_begin(struct weir_temporary *t, const struct weir_target *target,
                          const char *path, mode_t mode, bool named);
/* Link the file, which has no name, to its temporary one. Return: 0; 1 the system refuses; or a
 * negative errno. */
int weir__temporary_link(struct weir_temporary *t);
/* Link the file, which has no name, to @name. Return: 0 or an errno. */
int weir__temporary_link_as(const struct weir_temporary *t, const char *name);
/* Take the temporary name away, if it still has it, and close the file. */
void weir__temporary_end(struct weir_temporary *t);

#endif
