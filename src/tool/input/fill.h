/* SPDX-License-Identifier: MIT
 * Passes over files of keys: they count, load, remove or keep the keys. Several threads work on
 * each pass, with a progress line. */
#ifndef WEIR_TOOL_FILL_H
#define WEIR_TOOL_FILL_H

#include <stdint.h>
#include <weir/weir.h>
#include "batch.h"
#include "keying.h"
#include "lines.h"

/* The findings of the last pass. */
struct fill_found {
	struct weir_text noted; /* the steps, and the lengths or numbers of labels of the keys */
	uint64_t bad;             /* lines that were skipped */
	uint64_t marked;          /* files that began with the byte order mark of UTF-8 */
	uint64_t local;           /* names of hosts files that were left out */
	struct slashed slashed;   /* for keys that are domains */
	struct keyless keyless;   /* files without keys */
	bool wrong;               /* a wrong line ended the pass */
	bool full;                /* a full filter ended the pass; the caller reports it */
	uint64_t taken;           /* keys that the filter took */
	int64_t copies;           /* of the refused key in the filter, if the kind counts */
	bool hinted;              /* hint_lines() has looked at the input */
	bool steps_given;         /* the set has its steps, so no hint suggests any */
};

struct fill {
	struct lines_options from;
	struct keying keying;
	enum keying_what what;
	struct fill_found *found; /* or NULL */
	unsigned threads;
	uint64_t bytes;    /* of the files, 0: unknown */
	uint64_t expected; /* keys, 0: unknown */
	uint64_t room;     /* limit of a pass in bytes, without the filter and kept keys; 0: no
	                      limit */
};

/* Return: the least room of a pass with @threads threads. */
uint64_t fill_least(unsigned threads);

/* Call before the first pass, when fill->keying is known. @found: receives the findings. */
void fill_prepare(struct fill *fill, struct fill_found *found);

/* After the last pass: reports lines and names that were skipped. */
void fill_say_passed(const struct fill_found *found);

/* Each pass returns 0, or -1 after a message. For found->full the caller prints the message. */

/* Counts the keys. */
int fill_count(const struct fill *fill, uint64_t *keys);
/* Loads the keys into @f, a private filter. @keys: receives their number. */
int fill_load(const struct fill *fill, struct weir_filter *f, uint64_t *keys);
/* Removes the keys from @f, a private filter. @keys: receives their number. @removed: receives how
 * many were in the filter. */
int fill_remove(const struct fill *fill, struct weir_filter *f, uint64_t *keys, uint64_t *removed);
/* Keeps the keys, in at most spool->max_bytes. @params: seed, secret and normalisation of their
 * hashes. A seed of 0 is replaced by a new one if hashes are kept. */
int fill_spool(const struct fill *fill, struct weir_params *params, struct spool *spool);
/* Adds the keys to @builder. @keys: receives their number. */
int fill_gather(const struct fill *fill, struct weir_builder *builder, uint64_t *keys);
/* Excludes the keys from @builder, which is sealed. @keys: receives their number. */
int fill_exclude(const struct fill *fill, struct weir_builder *builder, uint64_t *keys);
/* Load the kept keys into @f or @builder, and free their batches. */
int fill_from_spool(const struct fill *fill, struct spool *spool, struct weir_filter *f);
int fill_gather_spool(const struct fill *fill, struct spool *spool, struct weir_builder *builder);

#endif
