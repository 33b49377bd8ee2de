/* SPDX-License-Identifier: MIT
 * From files of keys to bits: the passes over the input that build needs, each by several
 * threads with a progress line. */
#ifndef WEIR_TOOL_FILL_H
#define WEIR_TOOL_FILL_H

#include <stdint.h>
#include <weir/weir.h>
#include "batch.h"
#include "keying.h"
#include "lines.h"

/* What the last pass over the input found. */
struct fill_found {
	struct weir_text noted; /* with the lengths or numbers of labels of its keys */
	uint64_t bad;             /* lines that were passed over */
	uint64_t marked;          /* files that began with the mark of UTF-8 */
	uint64_t local;           /* names of hosts files that were left out */
	struct slashed slashed;   /* where keys are domains */
	struct keyless keyless;   /* files */
	bool wrong;               /* one was, and put an end to the pass */
	bool full;                /* the filter was, and that did; the caller reports it */
	uint64_t taken;           /* keys that it took */
	int64_t copies;           /* that it has of one that it refused, where the kind counts */
	bool hinted;              /* hint_lines() has looked */
	bool steps_given;         /* and is not to look for steps */
};

struct fill {
	struct lines_options from;
	struct keying keying;
	enum keying_what what;
	struct fill_found *found; /* or NULL */
	unsigned threads;
	uint64_t bytes;    /* of the files, 0: not known */
	uint64_t expected; /* keys, 0: not known */
	uint64_t room;     /* bytes that a pass takes at most, beside a filter and what is kept; 0:
	                      no limit */
};

/* The least room of a pass by so many threads. */
uint64_t fill_least(unsigned threads);

/* Before the first pass, when fill->keying is known. @found: what each pass finds. */
void fill_prepare(struct fill *fill, struct fill_found *found);

/* After the last pass: report what was passed over. */
void fill_say_passed(const struct fill_found *found);

/* Each pass: 0, or -1 after a message, but for found->full. */

/* How many keys there are. */
int fill_count(const struct fill *fill, uint64_t *keys);
/* Load them into @f, a private filter; how many through @keys. */
int fill_load(const struct fill *fill, struct weir_filter *f, uint64_t *keys);
/* Remove them from @f, which nobody else has; how many through @keys, and through @removed how many
 * of them were there. */
int fill_remove(const struct fill *fill, struct weir_filter *f, uint64_t *keys, uint64_t *removed);
/* Keep them, in at most spool->max_bytes. @params: seed, secret and normalisation are those of
 * their hashes; where the seed is 0 and hashes are kept, it receives one. */
int fill_spool(const struct fill *fill, struct weir_params *params, struct spool *spool);
/* Add them to @builder; how many through @keys. */
int fill_gather(const struct fill *fill, struct weir_builder *builder, uint64_t *keys);
/* Exclude them from @builder, which is sealed; else likewise. */
int fill_exclude(const struct fill *fill, struct weir_builder *builder, uint64_t *keys);
/* Load what was kept into @f or @builder, and free it. */
int fill_from_spool(const struct fill *fill, struct spool *spool, struct weir_filter *f);
int fill_gather_spool(const struct fill *fill, struct spool *spool, struct weir_builder *builder);

#endif
