/* SPDX-License-Identifier: MIT
 * Replacing a file at once: the new one is written without a name, then gets the old one's. */
#ifndef WEIR_SRC_IMAGE_REPLACE_H
#define WEIR_SRC_IMAGE_REPLACE_H

#include <limits.h>
#include <stdbool.h>

struct weir_replace {
	const char *path; /* as the caller gave it, for sentences */
	int folder;       /* that has the file */
	int fd;           /* the new file, to write to */
	bool named;       /* the new file has the name temp */
	char base[NAME_MAX + 1]; /* the file's name in the folder */
	char temp[32];           /* the temporary name */
};

/* Open the new file. @mode: as in struct weir_save_options. Nothing is left behind on failure. */
int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode);
/* The new file is complete: sync it, switch the name, sync the folder. */
int weir__replace_publish(struct weir_replace *r);
/* Close everything. Remove the new file if it was not published. */
void weir__replace_end(struct weir_replace *r);

#endif
