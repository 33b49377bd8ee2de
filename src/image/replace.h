/* SPDX-License-Identifier: MIT
 * Replacing a file at once: the new one is written without a name, then gets the old one's. */
#ifndef WEIR_SRC_IMAGE_REPLACE_H
#define WEIR_SRC_IMAGE_REPLACE_H

#include "image/temporary.h"

/* The system takes no link to a file without a name: write another one that has a name. */
enum { WEIR_REPLACE_NAMED = 1 };

struct weir_replace {
	const char *path;          /* as the caller gave it, for sentences */
	unsigned mode;             /* likewise; 0: none */
	bool only_images;          /* likewise: what is neither empty nor one stays */
	struct weir_target target;
	struct weir_temporary new; /* to write to */
};

/*
 * Open the new file. Nothing is left behind on failure.
 * @mode: as in struct weir_save_options.
 * @named: give it a temporary name from the start.
 */
int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode, bool named);
/* The new file is complete: give it its rights, sync it, switch the name, sync the folder.
 * Return: 0; WEIR_REPLACE_NAMED; or a negative errno. */
int weir__replace_publish(struct weir_replace *r);
/* Close everything. Remove the new file if it was not published. */
void weir__replace_end(struct weir_replace *r);

#endif
