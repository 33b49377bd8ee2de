/* SPDX-License-Identifier: MIT
 * The deltas beside a file that a handle follows: NAME.delta-*, in the order of their versions
 * (strverscmp()), of which each that goes on where the one before ended is applied. */
#ifndef WEIR_SRC_CHAIN_H
#define WEIR_SRC_CHAIN_H

#include <weir/delta.h>
#include "image/plain.h"

#define WEIR__DELTA_MARK ".delta-" /* behind the file's name */

struct weir_chain {
	char **paths;
	struct weir_delta_info *heads; /* of each; NULL: not read yet */
	size_t n;
	uint64_t identity;  /* of the files, as they were when they were found; 0: none */
	const char *failed; /* the delta that cannot be applied, or NULL */
};

/* Find those of a file. Return: 0; -ENOMEM; -E2BIG more than 4096; the errno of opendir. */
int weir__chain_find(struct weir_chain *out, const char *path);
void weir__chain_free(struct weir_chain *chain);
/* Read the heads of those that were found, so that what is wrong with one shows before the image is
 * read. What has gone, is no regular file, or is empty is no delta, and left out. */
int weir__chain_heads(struct weir_chain *chain);
/* Apply those that begin where the image, or the last of them, ends, but none that lead back to an
 * image that was there before. The heads were read.
 * @name: of the image.  @options: as of weir__delta_apply(). */
int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);

#endif
