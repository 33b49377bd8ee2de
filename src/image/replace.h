/* SPDX-License-Identifier: MIT
 * Replacing a file at once: written unseen beside it, then given its name. */
#ifndef WEIR_SRC_IMAGE_REPLACE_H
#define WEIR_SRC_IMAGE_REPLACE_H

#include <limits.h>
#include <stdbool.h>

struct weir_replace {
	const char *path; /* as the caller gave it, for sentences */
	int folder;
	int fd;           /* what to write to */
	bool named;       /* it has the name temp already */
	char base[NAME_MAX + 1];
	char temp[32];
};

/* Start: @mode as in struct weir_save_options. On failure nothing is left behind. */
int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode);
/* What was written is whole: to the disk with it, then switch the name, then the folder to the
 * disk. */
int weir__replace_publish(struct weir_replace *r);
/* Close everything, and remove what was not published. */
void weir__replace_end(struct weir_replace *r);

#endif
