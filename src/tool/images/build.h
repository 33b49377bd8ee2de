/* SPDX-License-Identifier: MIT
 * One run of `weir build`: the options, and the resulting filter and figures. */
#ifndef WEIR_TOOL_BUILD_H
#define WEIR_TOOL_BUILD_H

#include <stdbool.h>
#include <weir/weir.h>
#include "guard.h"
#include "input/fill.h"
#include "model.h"
#include "probe.h"
#include "saving.h"

/* The source of max_memory: the memory of the machine, the limit of the control group (cgroup) of
 * this process, or --max-memory. */
enum build_limit { BY_MACHINE, BY_GROUP, BY_OPTION };

struct build {
	/* the options */
	struct weir_params params;
	struct fill fill;
	struct fill_found found;
	struct fill exclude; /* files of the exclude list; no files without --exclude */
	struct fill_found exclude_found;
	const char *output, *like;
	uint64_t max_memory; /* limit of the whole process, in bytes */
	enum build_limit limit;
	bool threads_given;
	struct image_saving saving;
	struct guard guard;
	bool force, quiet, as_json;
	/* traits from another image */
	struct model model;
	struct model_wish wish;
	struct model_taken taken;
	bool steps_taken;   /* the normalisation steps come from the model */
	bool steps_changed; /* --force: the steps differ from those of the replaced image */
	/* the result */
	struct weir_filter *filter;
	uint64_t keys;
	bool counted;   /* the capacity is the number of lines that a first pass counted */
	double seconds; /* time to read and load the keys */
	struct weir_build_report built; /* for kinds that are built once */
	struct weir_stats stats;
	struct probe probe;
};

/* Makes the filter from the files. Return: TOOL_OK; TOOL_NO or TOOL_TROUBLE after a message. */
int build_make(struct build *build);
/* Checks that the kind supports an exclude list if one is given, and prepares to read the list.
 * Return: as build_make(). */
int build_excludes(struct build *build);
/* Return: true if a first pass over the keys must find the prefix lengths or numbers of labels.
 * Their count is the number of lookups per answer, by which the build divides the asked rate. A set
 * with WEIR_TEXT_CLOSED must also know them before its first key. */
bool build_lookups_unknown(const struct build *build);
/* Builds a kind that is built once. Call after the parameters are settled. Return: as
 * build_make(). */
int build_at_once(struct build *build);
/* Prints the report on standard output, or on stderr if the image goes to standard output. */
void build_report(const struct build *build);

/* ---- memory ---- */

/* Gives the readers (the threads that read the input) the memory that max_memory leaves after
 * @taken bytes. Without -t, reduces the number of threads until the readers and @each bytes per
 * thread fit. Return: false if the readers do not fit. */
bool build_room(struct build *build, uint64_t taken, uint64_t each);
/* Checks that there is memory to read the keys. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int build_readable(struct build *build);
/* Return: true if @bytes and the process itself fit into max_memory. */
bool build_fits(const struct build *build, uint64_t bytes);
/* Return: an empty spool for keys that are to be counted. Its limit leaves memory for readers. */
struct spool build_spool(struct build *build);
/* Return: the limit's name in a message, such as "--max-memory". */
const char *build_limited_by(const struct build *build);
/* Return: the memory of a filter of @bytes. A large filter takes whole huge pages. */
uint64_t build_filter_memory(uint64_t bytes);
/* Return: the memory that a save takes beyond the filter, after the readers have ended. */
uint64_t build_to_save(const struct build *build, uint64_t bytes, uint32_t shards);
/* Reports that max_memory is too small for a filter of @bytes bytes and for @more bytes beside it.
 * @what: the use of the @more bytes, such as "save it". Return: TOOL_TROUBLE. */
int build_no_room(const struct build *build, uint64_t bytes, uint64_t more, const char *what);
/* Divides max_memory between filter, builder and readers, for kinds that are built once. @kept:
 * bytes of a spool. @options: receives the builder's max_memory. @params: receives the parameters.
 * If they have a rate, their max_bytes is at most the size of a filter for which max_memory
 * suffices. Return: TOOL_OK; TOOL_TROUBLE after a message. */
int build_share(struct build *build, uint64_t kept, struct weir_builder_options *options,
                struct weir_params *params);
/* Reports why the builder failed, for example because the filter exceeds max_memory. Return:
 * TOOL_TROUBLE. */
int build_refused(const struct build *build);

/* ---- normalisation: as in the replaced image, unless options change it ---- */

/* Determines the normalisation steps after the model is known. Steps given by options replace the
 * model's. Return: TOOL_OK; TOOL_NO after a message, if the replaced image has other steps and
 * --force is not given; TOOL_TROUBLE after a message. */
int steps_settle(struct build *build);

/* After a wrong line, explains that the steps come from the model, and how to change them. Prints
 * nothing if the steps come from options. */
void steps_explain(const struct build *build);

#endif
