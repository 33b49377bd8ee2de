/* SPDX-License-Identifier: MIT
 * One run of `weir build`: its options, and the filter and the figures that it ends with. */
#ifndef WEIR_TOOL_BUILD_H
#define WEIR_TOOL_BUILD_H

#include <stdbool.h>
#include <weir/weir.h>
#include "guard.h"
#include "input/fill.h"
#include "model.h"
#include "probe.h"
#include "saving.h"

/* What max_memory is the limit of. */
enum build_limit { BY_MACHINE, BY_GROUP, BY_OPTION };

struct build {
	/* the options */
	struct weir_params params;
	struct fill fill;
	struct fill_found found;
	struct fill exclude; /* of kinds with such a list; its files may be none */
	struct fill_found exclude_found;
	const char *output, *like;
	uint64_t max_memory; /* of the whole process */
	enum build_limit limit;
	bool threads_given;
	struct image_saving saving;
	struct guard guard;
	bool force, quiet, as_json;
	/* what is taken over from another image */
	struct model model;
	struct model_wish wish;
	struct model_taken taken;
	bool steps_taken;   /* what is done to keys is as it was done to the model's */
	bool steps_changed; /* other than to those of the image that is replaced (--force) */
	/* the result */
	struct weir_filter *filter;
	uint64_t keys;
	bool counted;   /* the capacity is the number of lines of a first pass */
	double seconds; /* of reading and loading */
	struct weir_build_report built; /* of kinds that are built once */
	struct weir_stats stats;
	struct probe probe;
};

/* Make the filter from the files. Return: TOOL_OK; TOOL_NO or TOOL_TROUBLE after a message. */
int build_make(struct build *build);
/* Whether the kind takes the exclude list, if there is one; it is read as the keys are. Return:
 * likewise. */
int build_excludes(struct build *build);
/* Is the rate to be divided by the lookups of an answer? How many those are shows only when every
 * key is read. */
bool build_lookups_unknown(const struct build *build);
/* Of kinds that are built once, when the parameters stand. Return: likewise. */
int build_at_once(struct build *build);
/* Print what was built: on standard output, or on stderr if the image went there. */
void build_report(const struct build *build);

/* ---- memory ---- */

/* Leave the readers what remains of max_memory beside @taken, with fewer threads if their number is
 * not given and @each, bytes of a thread, has no room. Return: false: one thread has none. */
bool build_room(struct build *build, uint64_t taken, uint64_t each);
/* Can the keys be read at all? Return: TOOL_OK; TOOL_TROUBLE after a message. */
int build_readable(struct build *build);
/* Are so many bytes within max_memory? */
bool build_fits(const struct build *build, uint64_t bytes);
/* A place for keys until they are counted, beside which they can be read. */
struct spool build_spool(struct build *build);
/* "--max-memory", in a message. */
const char *build_limited_by(const struct build *build);
/* Bytes that a filter of so many takes: a large one has whole huge pages. */
uint64_t build_filter_memory(uint64_t bytes);
/* Bytes that it takes to save it, once the readers have ended. */
uint64_t build_to_save(const struct build *build, uint64_t bytes, uint32_t shards);
/* Say that a filter of so many bytes, and so many more to @what, have no room. */
int build_no_room(const struct build *build, uint64_t bytes, uint64_t more, const char *what);
/* Share max_memory between the filter, the builder and the readers, of kinds that are built once.
 * @kept: bytes of a spool.  @params: receives the parameters, with the most that the filter may
 * have. Return: TOOL_OK; TOOL_TROUBLE after a message. */
int build_share(struct build *build, uint64_t kept, struct weir_builder_options *options,
                struct weir_params *params);
/* Report what the builder refused, also a filter that turned out larger than max_memory leaves.
 * Return: TOOL_TROUBLE. */
int build_refused(const struct build *build);

/* ---- what is done to the keys, where an image stands already: the same again ---- */

/* Settle what is done, when the model is known: as the options say, or else as it was done to the
 * model's. Return: TOOL_OK; TOOL_NO after a message, if an image is to be replaced to whose keys
 * something else was done, and --force is not given; TOOL_TROUBLE after a message. */
int steps_settle(struct build *build);

/* After a line that was wrong: if that is so only because of the image that is replaced, a message
 * says so, and how to end it. */
void steps_explain(const struct build *build);

#endif
