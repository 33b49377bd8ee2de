/* SPDX-License-Identifier: MIT
 * How many keys a pass over the input takes from each file. A file without keys among others is
 * mostly one that an export failed to write, and the sum does not show it. */
#ifndef WEIR_TOOL_TALLY_H
#define WEIR_TOOL_TALLY_H

#include <stdint.h>
#include "lines.h"

struct tally;

/* Files without keys. */
struct keyless {
	uint64_t files;
	char *name;   /* of the first */
	uint64_t bad; /* its lines that were passed over */
};

struct tally *tally_new(const struct lines_options *from);
/* Count @keys that were taken from @chunk, and @bad lines that were passed over. Any threads. */
void tally_add(struct tally *t, const struct chunk *chunk, uint64_t keys, uint64_t bad);
/* After the pass: which files had no keys. Frees the tally. */
struct keyless tally_end(struct tally *t);

#endif
