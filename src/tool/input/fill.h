/* SPDX-License-Identifier: MIT
 * A pass reads files of keys, and counts, loads, removes or keeps the keys. Several threads work on
 * one pass, and draw its progress line. */
#ifndef WEIR_TOOL_FILL_H
#define WEIR_TOOL_FILL_H

#include <stdint.h>
#include <weir/weir.h>
#include "batch.h"
#include "keying.h"
#include "lines.h"

/* The findings of one pass. */
struct fill_found {
	struct weir_text noted; /* the steps, and the prefix lengths or label counts of the keys */
	uint64_t bad;             /* number of skipped lines */
	uint64_t marked;          /* number of files that begin with the byte order mark of UTF-8 */
	uint64_t local;           /* number of skipped local names, such as localhost */
	struct slashed slashed;   /* texts with a slash, if the keys are domains */
	struct keyless keyless;   /* files without keys */
	bool wrong;               /* a wrong line ended the pass */
	bool full;                /* a full filter ended the pass; the caller reports it */
	uint64_t taken;           /* number of keys that the filter accepted */
	int64_t copies;           /* number of copies of the refused key in the filter, if the kind
	                             counts copies */
	bool hinted;              /* a pass has printed the hints */
	bool steps_given;         /* the set already has its steps, so hints suggest none */
};

struct fill {
	struct lines_options from;
	struct keying keying;
	enum keying_what what;
	struct fill_found *found; /* receives the findings of each pass, or NULL */
	unsigned threads;
	uint64_t bytes;    /* size of the files; 0: unknown */
	uint64_t expected; /* number of keys; 0: unknown */
	uint64_t room;     /* limit on a pass's memory, without filter and spool; 0: no limit */
};

/* Return: the smallest fill.room for a pass with @threads threads, in bytes. */
uint64_t fill_least(unsigned threads);

/* Call before the first pass, after fill->keying is set. @found: receives the findings of each
 * pass. */
void fill_prepare(struct fill *fill, struct fill_found *found);

/* Reports the lines and names that the last pass skipped. */
void fill_say_passed(const struct fill_found *found);

/* Each pass returns 0, or -1 if it failed. A failed pass has printed a message, unless it has set
 * found->full: then the caller prints the message. */

/* Counts the keys. */
int fill_count(const struct fill *fill, uint64_t *keys);
/* Loads the keys into @f, a private filter. @keys: receives their number. */
int fill_load(const struct fill *fill, struct weir_filter *f, uint64_t *keys);
/* Removes the keys from @f, a private filter. @keys: receives the number of keys in the files.
 * @removed: receives the number of keys that the filter had and has removed. */
int fill_remove(const struct fill *fill, struct weir_filter *f, uint64_t *keys, uint64_t *removed);
/* Keeps the keys in @spool. @params: the seed, secret and normalisation of the hashes. If hashes
 * are kept, the call replaces a seed of 0 by a new seed. */
int fill_spool(const struct fill *fill, struct weir_params *params, struct spool *spool);
/* Adds the keys to @builder. @keys: receives their number. */
int fill_gather(const struct fill *fill, struct weir_builder *builder, uint64_t *keys);
/* Excludes the keys from the set of @builder, which is sealed. @keys: receives their number. */
int fill_exclude(const struct fill *fill, struct weir_builder *builder, uint64_t *keys);
/* Load the keys of @spool into @f (fill_from_spool()) or into @builder (fill_gather_spool()), and
 * free the batches of @spool. */
int fill_from_spool(const struct fill *fill, struct spool *spool, struct weir_filter *f);
int fill_gather_spool(const struct fill *fill, struct spool *spool, struct weir_builder *builder);

#endif
