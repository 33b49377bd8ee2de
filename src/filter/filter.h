/* SPDX-License-Identifier: MIT
 * Filters of any kind, made around given memory. */
#ifndef WEIR_SRC_FILTER_FILTER_H
#define WEIR_SRC_FILTER_FILTER_H

#include "ground/error.h"
#include "kind/kind.h"
#include "normalise/normalise.h"

/*
 * Make a filter of @layout around memory that holds its bits.
 * @memory: 64 * layout->lines bytes at memory->bits. The filter owns it on success, the caller on
 *   failure.
 * @insert_error: 0, or the answer of inserts (-EROFS).
 * Return: 0; -ENOTSUP WEIR_ISA, or the kind has no kernel; -ENOMEM.
 */
int weir__filter_make(struct weir_filter **out, const struct weir_layout *layout,
                      const struct weir_memory *memory, int insert_error);

struct weir_layout weir__filter_layout(const struct weir_filter *f);

/* By the kind's function with a seed, which is chosen if it is 0, unless the kind has none; or by
 * SipHash with the caller's key. */
int weir__hashing_choose(struct weir_hashing *out, const struct weir_params *params);
/* As weir_create(), of parameters that are checked and a plan that may have become larger. */
int weir__create_planned(struct weir_filter **out, const struct weir_params *params,
                         const struct weir_plan *plan);

/*
 * Make a compound of members, each a filter by itself.
 * @layout: the compound's, but for shards and lines, which are the first member's.
 * @members: 1 to WEIR__MEMBERS_MOST. The compound owns them on success, the caller on failure.
 */
int weir__compound_make(struct weir_filter **out, const struct weir_layout *layout,
                        const struct weir_member *members, unsigned n, int insert_error);
/* Free members that no compound has taken. */
void weir__members_free(const struct weir_member *members, unsigned n);
/* The members of a compound; else the filter itself, alone. Return: how many. */
unsigned weir__members(const struct weir_filter *f, struct weir_member out[WEIR__MEMBERS_MOST]);
/* Bytes of bits, of all members. */
uint64_t weir__filter_bytes(const struct weir_filter *f);

/* What weir__survey() reads, and whom it asks meanwhile. */
#define WEIR__SURVEY_FEWEST_LINES (4096 / 64)       /* a page */
#define WEIR__SURVEY_SAMPLE_LINES ((1 << 20) / 64)  /* weir_measure() */
struct weir_survey {
	uint64_t lines;  /* read at most, WEIR__SURVEY_FEWEST_LINES or more: a sample if the filter
	                    has more */
	bool unforeseen; /* the sample is at random places: nobody can make an image that is sparse
	                    just there. Without random numbers every line is read. */
	weir_progress_fn *progress; /* called between pieces (progress.h), or NULL */
	void *progress_arg;
};

/* Is a filter of so many keys, estimated, one that can refuse a key, and will soon? */
bool weir__nearly_full(const struct weir_filter *f, double keys);
/* weir_measure() of that. Return: 0; -EINVAL struct_size; -ECANCELED progress stopped it. */
int weir__survey(const struct weir_filter *f, const struct weir_survey *survey,
                 struct weir_stats *out);
/* Return: 0, or -EINVAL if it is none of enum weir_effort. */
int weir__effort_check(uint32_t effort);
/* From now on inserts answer -EROFS. */
void weir__filter_read_only(struct weir_filter *f);

/* As weir_remove(), of what weir_normal_insert() of the text inserts. */
int weir__normal_remove(struct weir_filter *f, const void *text, size_t len);

/* Refuse an insert: set the sentence and return insert_error, which must not be 0. */
int weir__insert_refused(const struct weir_filter *f);

#endif
