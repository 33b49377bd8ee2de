/* SPDX-License-Identifier: MIT
 * From files of keys to bits: the passes over the input that build needs, each by several
 * threads with a progress line. */
#ifndef WEIR_TOOL_FILL_H
#define WEIR_TOOL_FILL_H

#include <stdint.h>
#include <weir/weir.h>
#include "lines.h"

/* Hashes kept until it is known how many there are. Start from { 0 }. */
struct spool {
	struct batch *first;
	uint64_t hashes, max_bytes;
};

struct fill {
	struct lines_options from;
	unsigned threads;
	uint64_t bytes;    /* of the files, 0: not known */
	uint64_t expected; /* keys, 0: not known */
};

/* Each pass: 0, or -1 after a message. */

/* How many keys there are. */
int fill_count(const struct fill *fill, uint64_t *keys);
/* Load them into @f, a private filter; how many through @keys. */
int fill_load(const struct fill *fill, struct weir_filter *f, uint64_t *keys);
/* Keep their hashes, in at most spool->max_bytes. @params: their seed and hash_key are those of
 * the hash; where the seed is 0, it receives one. */
int fill_spool(const struct fill *fill, struct weir_params *params, struct spool *spool);
/* Load what was kept into @f and free it. */
int fill_from_spool(const struct fill *fill, struct spool *spool, struct weir_filter *f);

/* What was kept, as one array, to be freed; the spool is empty then. */
uint64_t *spool_take(struct spool *spool);
void spool_free(struct spool *spool);

#endif
