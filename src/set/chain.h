/* SPDX-License-Identifier: MIT
 * The deltas beside a file that a handle follows: NAME.delta-*, in the order of their versions
 * (strverscmp()), of which each that goes on where the one before ended is applied. */
#ifndef WEIR_SRC_CHAIN_H
#define WEIR_SRC_CHAIN_H

#include "image/plain.h"

#define WEIR__DELTA_MARK ".delta-" /* behind the file's name */

struct weir_chain {
	char **paths;
	size_t n;
	uint64_t identity;  /* of the files, as they were when they were found; 0: none */
	const char *failed; /* the delta that cannot be applied, or NULL */
};

/* Find those of a file. Return: 0; -ENOMEM; -E2BIG more than 4096; the errno of opendir. */
int weir__chain_find(struct weir_chain *out, const char *path);
void weir__chain_free(struct weir_chain *chain);
/* Apply those that begin where the image, or the last of them, ends.
 * @name: of the image.  @options: as of weir__delta_apply(). */
int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);

#endif
