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

/* The source of the limit max_memory. */
enum build_limit { BY_MACHINE, BY_GROUP, BY_OPTION };

struct build {
	/* the options */
	struct weir_params params;
	struct fill fill;
	struct fill_found found;
	struct fill exclude; /* for kinds with an exclude list; may have no files */
	struct fill_found exclude_found;
	const char *output, *like;
	uint64_t max_memory; /* for the whole process */
	enum build_limit limit;
	bool threads_given;
	struct image_saving saving;
	struct guard guard;
	bool force, quiet, as_json;
	/* traits from another image */
	struct model model;
	struct model_wish wish;
	struct model_taken taken;
	bool steps_taken;   /* the normalisation is the model's */
	bool steps_changed; /* it differs from that of the replaced image (--force) */
	/* the result */
	struct weir_filter *filter;
	uint64_t keys;
	bool counted;   /* the capacity is the number of lines of a first pass */
	double seconds; /* to read and load */
	struct weir_build_report built; /* for kinds that are built once */
	struct weir_stats stats;
	struct probe probe;
};

/* Makes the filter from the files. Return: TOOL_OK; TOOL_NO or TOOL_TROUBLE after a message. */
int build_make(struct build *build);
/* Checks that the kind takes the exclude list, if one is given, and prepares to read it like the
 * keys. Return: the same. */
int build_excludes(struct build *build);
/* Does the build need the lookups per answer, to divide the rate or for a closed set? They are
 * known only after all keys are read. */
bool build_lookups_unknown(const struct build *build);
/* Builds a kind that is built once, when the parameters are settled. Return: the same. */
int build_at_once(struct build *build);
/* Prints the report: on standard output, or on stderr if the image went there. */
void build_report(const struct build *build);

/* ---- memory ---- */

/* Gives the readers what max_memory leaves beside @taken. Unless -t is given, reduces the threads
 * until they fit, with @each bytes for a thread. Return: false if they do not fit. */
bool build_room(struct build *build, uint64_t taken, uint64_t each);
/* Is there memory to read the keys? Return: TOOL_OK; TOOL_TROUBLE after a message. */
int build_readable(struct build *build);
/* Do @bytes fit max_memory beside the process itself? */
bool build_fits(const struct build *build, uint64_t bytes);
/* Return: a spool that keeps keys until they are counted. It leaves memory for the readers. */
struct spool build_spool(struct build *build);
/* Return: the limit's name in a message, such as "--max-memory". */
const char *build_limited_by(const struct build *build);
/* Return: the memory of a filter of @bytes; a large one takes whole huge pages. */
uint64_t build_filter_memory(uint64_t bytes);
/* Return: the memory that a save of the filter takes, after the readers have ended. */
uint64_t build_to_save(const struct build *build, uint64_t bytes, uint32_t shards);
/* Reports that a filter of @bytes, and @more to @what, do not fit. Return: TOOL_TROUBLE. */
int build_no_room(const struct build *build, uint64_t bytes, uint64_t more, const char *what);
/* Divides max_memory between filter, builder and readers, for kinds that are built once.
 * @kept: bytes of a spool.  @params: receives the parameters, with the filter's upper bound as
 * max_bytes. Return: TOOL_OK; TOOL_TROUBLE after a message. */
int build_share(struct build *build, uint64_t kept, struct weir_builder_options *options,
                struct weir_params *params);
/* Reports why the builder refused, also if the filter became larger than max_memory allows.
 * Return: TOOL_TROUBLE. */
int build_refused(const struct build *build);

/* ---- normalisation: that of the image that is replaced, unless options change it ---- */

/* Settles the steps once the model is known: those of the options, or else the model's.
 * Return: TOOL_OK; TOOL_NO after a message, if the replaced image has other steps and --force is
 * not given; TOOL_TROUBLE after a message. */
int steps_settle(struct build *build);

/* For use after a wrong line: if the steps come from the model, prints that, and the remedy. */
void steps_explain(const struct build *build);

#endif
