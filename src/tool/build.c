/* SPDX-License-Identifier: MIT
 * `weir build`: the passes over the input, chosen by the options given. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "build.h"
#include "images.h"
#include "progress.h"
#include "say.h"
#include "show.h"
#include "steps.h"
#include "tool.h"
#include "words.h"

/* Two of capacity, rate and memory decide how large the filter will be. The rate is 1 % where
 * neither it nor the memory is given. */
static bool size_known(struct build *build)
{
	struct weir_params *p = &build->params;
	if (p->fp_rate == 0.0 && !p->max_bytes)
		p->fp_rate = 0.01;
	return (p->capacity != 0) + (p->fp_rate != 0.0) + (p->max_bytes != 0) >= 2;
}

static int create(struct build *build, uint64_t other_bytes)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir_plan_make(&build->params, &plan);
	if (err)
		return trouble_plan();
	if (plan.bytes > build->max_memory || other_bytes > build->max_memory - plan.bytes)
		return trouble("the filter needs %s%s: more than --max-memory allows (%s)%s",
		               show_bytes(SHOW, plan.bytes),
		               other_bytes ? " beside the hashes of its keys" : "",
		               show_bytes(SHOW, build->max_memory),
		               build->taken.size && !build->like ?
		                       "; the size is that of the image that is replaced: -n "
		                       "gives another" :
		                       "");
	err = weir_create(&build->filter, &build->params);
	return err ? trouble_plan() : TOOL_OK;
}

/* Seed and size of --like, or else of the image that is replaced. */
static int find_model(struct build *build)
{
	struct image_how how = { .check = true, .progress = true,
	                         .max_memory = build->max_memory,
	                         .hash_key = build->params.hash_key };
	int status;
	build->wish.params = build->params;
	build->wish.never_smaller = build->like != NULL; /* to be merged with it */
	if (build->like) {
		status = model_like(&build->model, build->like, &how);
	} else {
		how.max_memory = build->guard.max_memory;
		status = model_replaced(&build->model, build->output, &build->wish, build->force,
		                        &how);
	}
	if (!status)
		build->taken = model_take(&build->model, &build->wish, &build->params);
	return status;
}

bool build_lookups_unknown(const struct build *build)
{
	return build->params.fp_rate != 0.0 &&
	       build->fill.keying.normal.steps & (WEIR_NORMAL_CIDR | WEIR_NORMAL_SUFFIXES);
}

static void take_size(struct build *build, uint64_t keys)
{
	model_size(&build->model, &build->wish, &build->found.noted, keys, &build->params,
	           &build->taken);
	build->counted = !build->wish.params.capacity;
}

/* A pass into the filter has failed. */
static int not_filled(const struct build *build)
{
	return build->found.full ? guard_full(build->filter, &build->fill, build->output,
	                                      &build->guard) :
	                           TOOL_TROUBLE;
}

static int in_one_pass(struct build *build)
{
	int status = create(build, 0);
	build->fill.expected = build->params.capacity;
	if (!status && fill_load(&build->fill, build->filter, &build->keys))
		status = not_filled(build);
	return status;
}

static int counted_first(struct build *build)
{
	uint64_t keys;
	if (fill_count(&build->fill, &keys))
		return TOOL_TROUBLE;
	take_size(build, keys);
	return in_one_pass(build);
}

/* A pipe is read once: its hashes are kept until it is known how many they are. */
static int through_spool(struct build *build)
{
	struct spool spool = { .max_bytes = build->max_memory };
	int status = fill_spool(&build->fill, &build->params, &spool) ? TOOL_TROUBLE : TOOL_OK;
	if (!status) {
		build->keys = build->guard.keys = spool.hashes;
		take_size(build, spool.hashes);
		status = create(build, spool.hashes * sizeof(uint64_t));
	}
	if (!status && fill_from_spool(&build->fill, &spool, build->filter))
		status = not_filled(build);
	spool_free(&spool);
	return status;
}

/* The empty set would be refused next as shrunk, or as too few keys: name all options at once. */
static int no_keys(const struct build *build)
{
	char so[120];
	struct stat st;
	const bool replaces = !build->guard.allow_shrink && strcmp(build->output, "-") != 0 &&
	                      stat(build->output, &st) == 0 && st.st_size > 0;
	snprintf(so, sizeof so, "publishes an empty set%s%s",
	         replaces ? ", in place of another with --allow-shrink" : "",
	         build->guard.min_keys ? ", without --min-keys" : "");
	return guard_empty(&build->guard, &build->fill.from, build->found.bad, so);
}

/* Has the input keys, and each of its files? */
static int ask_files(const struct build *build)
{
	return build->keys ? guard_keyless(&build->guard, &build->found.keyless,
	                                   "publishes the set of the other files") :
	                     no_keys(build);
}

int build_make(struct build *build)
{
	int64_t bytes = lines_total_bytes(&build->fill.from);
	if (bytes < 0)
		return TOOL_TROUBLE;
	build->fill.bytes = (uint64_t)bytes;
	int status = find_model(build);
	if (!status)
		status = steps_settle(build);
	if (!status)
		status = build_excludes(build);
	if (status)
		return status;
	fill_prepare(&build->fill, &build->found);
	double began = seconds_now();
	const bool known = size_known(build);
	if (weir_kind_is_built(build->params.kind))
		status = build_at_once(build);
	else if (known && !build_lookups_unknown(build))
		status = in_one_pass(build);
	else
		status = bytes ? counted_first(build) : through_spool(build);
	build->seconds = seconds_now() - began;
	if (build->found.bad)
		say("lines passed over: %llu", (unsigned long long)build->found.bad);
	if (build->exclude_found.bad)
		say("lines of the exclude list passed over: %llu",
		    (unsigned long long)build->exclude_found.bad);
	if (build->found.bad || build->found.wrong)
		steps_explain(build);
	if (!status)
		status = ask_files(build);
	if (!status && weir_normal_set(build->filter, &build->found.noted))
		status = trouble_weir(-EINVAL, NULL);
	return status;
}
