/* SPDX-License-Identifier: MIT
 * See steps.h. */
#include <stdio.h>
#include <string.h>
#include "images.h"
#include "input/file.h"
#include "input/keying_options.h"
#include "output/exit.h"
#include "output/normal_report.h"
#include "output/say.h"
#include "steps.h"

/* Of the image that is replaced. Return: whether there is one that says something. */
static bool of_replaced(const struct build *build, uint32_t *steps)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (!build->like) {
		*steps = build->model.normal.steps;
		return build->model.normal_known;
	}
	if (strcmp(build->output, "-") == 0 || !image_begins(build->output) ||
	    weir_image_info(build->output, &info) || info.live)
		return false;
	*steps = info.normal.steps;
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

#define REFUSED "servers that follow it would refuse keys prepared otherwise"

/* "without --cidr", "with --trim, not with --trim --cidr". */
static const char *built(char text[2 * NORMAL_STEPS + 32], uint32_t before, uint32_t now)
{
	char was[NORMAL_STEPS], asked[NORMAL_STEPS];
	normal_options(was, before);
	normal_options(asked, now);
	if (!before)
		snprintf(text, 2 * NORMAL_STEPS + 32, "without %s", asked);
	else if (!now)
		snprintf(text, 2 * NORMAL_STEPS + 32, "with %s", was);
	else
		snprintf(text, 2 * NORMAL_STEPS + 32, "with %s, not with %s", was, asked);
	return text;
}

static int changed(struct build *build, uint32_t before)
{
	char how[2 * NORMAL_STEPS + 32], options[NORMAL_STEPS];
	const uint32_t steps = build->fill.keying.normal.steps;
	built(how, before, steps);
	build->steps_changed = true;
	if (build->force)
		say("%s: the image that is replaced was built %s, and " REFUSED ": to take this "
		    "back, build it again with --force %s",
		    build->output, how, normal_options(options, before));
	else if (build->like)
		say("%s: not replaced: the image was built %s, unlike --like=%s, and " REFUSED
		    ": give another --like, or pass --force if you mean it",
		    build->output, how, build->like);
	else
		say("%s: not replaced: the image was built %s, and " REFUSED ": leave %s out, or "
		    "pass --force if you mean it",
		    build->output, how, normal_options(options, steps));
	return build->force ? TOOL_OK : TOOL_NO;
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
	if (of_replaced(build, &before) && before != keying->normal.steps)
		status = changed(build, before);
	if (status || keying_fits(keying))
		return status;
	steps_explain(build);
	return TOOL_TROUBLE;
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
