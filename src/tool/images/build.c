/* SPDX-License-Identifier: MIT
 * `weir build`: the passes over the input, chosen by the options given. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "build.h"
#include "images.h"
#include "input/file.h"
#include "input/keying.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"
#include "shape.h"

/* ---- the kind ---- */

/* Without -k and --like, takes the kind, WEIR_ONCE and the width of counters from the replaced
 * image, unless that image is a router or a window. In every case, checks that the options fit the
 * kind. */
static int choose_kind(struct build *build)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_params *p = &build->params;
	const bool stands = strcmp(build->output, "-") != 0 && image_begins(build->output) &&
	                    weir_image_inspect(weir_location_path(build->output), &info) == 0;
	const uint32_t is = info.shape.kind;
	if (stands && !build->wish.kind_given && !build->like && is != WEIR_ROUTER &&
	    is != WEIR_WINDOW) {
		p->kind = is;
		p->flags |= info.marks & WEIR_MARK_ONCE ? WEIR_ONCE : 0;
		shape_keep_counters(p, &info.shape);
	}
	if (!shape_fits(p))
		return misuse_reported();
	(void)shape_own(p);
	return TOOL_OK;
}

/* Refuses another kind than that of the replaced image, unless -k or --force is given. If the image
 * has an exclude list, sets or generations, only --force allows another kind, since the user may
 * have forgotten that the image has them. */
static int check_kind(const struct build *build)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	const bool named = build->wish.kind_given && strcmp(build->output, "-") != 0 &&
	                   weir_image_inspect(weir_location_path(build->output), &info) == 0 &&
	                   !weir_kind_can(info.shape.kind, WEIR_CAN_EXCLUDE) &&
	                   !weir_kind_can(info.shape.kind, WEIR_CAN_ROUTE) &&
	                   !weir_kind_can(info.shape.kind, WEIR_CAN_FORGET);
	return place_keeps_kind(build->output, build->params.kind, build->force || named);
}

/* ---- normalisation ---- */

/* Gets the normalisation steps of the replaced image. Return: false if the steps are unknown. */
static bool replaced_steps(const struct build *build, uint32_t *steps)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (!build->like) {
		*steps = build->model.normal.steps;
		return build->model.normal_known;
	}
	if (strcmp(build->output, "-") == 0 || !image_begins(build->output) ||
	    weir_image_inspect(weir_location_path(build->output), &info) || info.live)
		return false;
	*steps = info.text.steps;
	return true;
}

static int like_differs(const struct build *build)
{
	char theirs[NORMAL_STEPS];
	return trouble("--like=%s: not the same is done to its keys (%s): leave out --trim, "
	               "--lowercase, --cidr, --suffixes and --plain-keys, and what was done to "
	               "them is done again",
	               build->like, normal_steps(theirs, build->model.normal.steps));
}

static int changed(struct build *build, uint32_t before)
{
	char how[PLACE_STEPS], options[NORMAL_STEPS];
	const uint32_t steps = build->fill.keying.normal.steps;
	place_steps(how, before, steps);
	build->steps_changed = true;
	if (build->force)
		say("%s: the image that is replaced was built %s, and " STEPS_REFUSED ": to "
		    "take this back, build it again with --force %s",
		    build->output, how, normal_options(options, before));
	else if (build->like)
		say("%s: not replaced: the image was built %s, unlike --like=%s, and "
		    STEPS_REFUSED ": give another --like, or pass --force if you mean it",
		    build->output, how, build->like);
	else
		say("%s: not replaced: the image was built %s, and " STEPS_REFUSED ": leave %s "
		    "out, or pass --force if you mean it",
		    build->output, how, normal_options(options, steps));
	return build->force ? TOOL_OK : TOOL_NO;
}

static int check_steps_supported(const struct build *build)
{
	char options[NORMAL_STEPS];
	const struct weir_params *p = &build->params;
	return weir_kind_can(p->kind, WEIR_CAN_NORMALISE) ? TOOL_OK :
	       trouble("%s: kind %s takes keys as they are: leave it out",
	               normal_options(options, p->text.steps), weir_kind_name(p->kind));
}

int steps_settle(struct build *build)
{
	struct keying *keying = &build->fill.keying;
	const uint32_t is = build->model.normal.steps;
	uint32_t before;
	int status = TOOL_OK;
	build->steps_taken = is && !keying->normal.steps && !keying->plain;
	if (build->steps_taken)
		keying->normal.steps = is;
	if (keying->normal.steps != is && build->like)
		return like_differs(build);
	if (replaced_steps(build, &before) && before != keying->normal.steps)
		status = changed(build, before);
	build->params.text = keying->normal;
	if (status)
		return status;
	if (!keying_fits(keying)) {
		steps_explain(build);
		return TOOL_TROUBLE;
	}
	return keying->normal.steps ? check_steps_supported(build) : TOOL_OK;
}

void steps_explain(const struct build *build)
{
	char options[NORMAL_STEPS];
	if (!build->steps_taken)
		return;
	normal_options(options, build->fill.keying.normal.steps);
	if (build->like)
		say("--like=%s: was built with %s, and the same is done to keys", build->like,
		    options);
	else
		say("%s: the image that is replaced was built with %s, and so the same is done to "
		    "keys; if that was a mistake, --force --plain-keys ends it",
		    build->output, options);
}

/* ---- the passes ---- */

/* Return: true if at least two of capacity, rate and memory are known, since any two of them
 * determine the size. If neither rate nor memory is given, sets the rate to 1 %. */
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
		return trouble_refused();
	const uint64_t bytes = build_filter_memory(plan.bytes);
	const uint64_t save = build_to_save(build, plan.bytes, plan.shards);
	if (!build_fits(build, bytes + save))
		return build_no_room(build, plan.bytes, save, "save it");
	if (!build_room(build, bytes + other_bytes, 0))
		return build_no_room(build, plan.bytes, fill_least(build->fill.threads),
		                     !other_bytes ? "fill it" :
		                     keying_probes_several(&build->fill.keying) ?
		                     "fill it, beside its keys" :
		                     "fill it, beside the hashes of its keys");
	err = weir_create(&build->filter, &build->params);
	return err ? trouble_refused() : TOOL_OK;
}

/* Makes the image of --like, or else the replaced image, the model from which the new image takes
 * its seed and size. */
static int find_model(struct build *build)
{
	struct image_how how = { .check = true, .progress = true,
	                         .max_memory = build->max_memory,
	                         .secret = build->params.secret };
	int status;
	build->wish.params = build->params;
	build->wish.never_smaller = build->like != NULL; /* so that the two sets can be merged */
	if (build->like) {
		status = model_like(&build->model, build->like, &how);
		build->params.kind = build->model.params.kind;
		if (!status && weir_kind_can(build->params.kind, WEIR_CAN_ROUTE))
			status = trouble("--like=%s: is a router: weir route --build makes one, "
			                 "with -s SEED of the same seed", build->like);
	} else {
		how.max_memory = build->guard.max_memory;
		status = model_replaced(&build->model, build->output, &build->wish, build->force,
		                        &how);
	}
	if (!status)
		build->taken = model_take(&build->model, &build->wish, &build->params);
	return status;
}

static void take_size(struct build *build, uint64_t keys)
{
	build->params.text = build->found.noted;
	model_size(&build->model, &build->wish, &build->found.noted, keys, &build->params,
	           &build->taken);
	build->counted = !build->wish.params.capacity;
}

/* Return: the exit status after a pass that filled the filter has failed. */
static int fill_status(const struct build *build)
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
		status = fill_status(build);
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

/* A pipe can be read only once, so a spool (a list in memory) keeps the keys of the pipe until they
 * are counted. */
static int through_spool(struct build *build)
{
	struct spool spool = build_spool(build);
	int status = fill_spool(&build->fill, &build->params, &spool) ? TOOL_TROUBLE : TOOL_OK;
	if (!status) {
		build->keys = build->guard.keys = spool.keys;
		take_size(build, spool.keys);
		status = create(build, spool.bytes);
	}
	if (!status && fill_from_spool(&build->fill, &spool, build->filter))
		status = fill_status(build);
	spool_free(&spool);
	return status;
}

/* Later checks would refuse an empty set too, as shrunk or too small. So the message names the
 * options that disable all of these checks. */
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

/* Refuses the input if it has no keys at all, or if one of its files has no keys. */
static int check_files(const struct build *build)
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
	int status = choose_kind(build);
	if (!status)
		status = place_keeps_key(build->output, place_key(build->params.secret),
		                         build->force);
	if (!status)
		status = find_model(build);
	if (!status)
		status = check_kind(build);
	if (!status)
		status = steps_settle(build);
	if (!status)
		status = build_excludes(build);
	if (!status)
		status = build_readable(build);
	if (status)
		return status;
	fill_prepare(&build->fill, &build->found);
	double began = seconds_now();
	const bool known = size_known(build);
	if (weir_kind_can(build->params.kind, WEIR_CAN_BUILD))
		status = build_at_once(build);
	else if (known && !build_lookups_unknown(build))
		status = in_one_pass(build);
	else
		status = bytes ? counted_first(build) : through_spool(build);
	build->seconds = seconds_now() - began;
	fill_say_passed(&build->found);
	lines_say_marked(build->exclude_found.marked);
	hint_slashed(&build->exclude_found.slashed);
	if (build->exclude_found.bad)
		say("lines of the exclude list passed over: %llu",
		    (unsigned long long)build->exclude_found.bad);
	if (build->found.bad || build->found.wrong)
		steps_explain(build);
	return status ? status : check_files(build);
}
