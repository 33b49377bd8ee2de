/* SPDX-License-Identifier: MIT
 * weir add: adds keys to an image, and replaces it as a whole or changes it in place. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "images/change.h"
#include "images/images.h"
#include "images/saving.h"
#include "input/file.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir add [OPTION]... IMAGE [FILE|-]...\n"
	"Add the lines of the FILEs, or of standard input, to IMAGE, which is replaced as\n"
	"a whole or not at all. Files in gzip, zstd, xz or bzip2 format are\n"
	"decompressed. To its keys is done what was done to those that it has. Counting,\n"
	"frequency and cuckoo hold a key that is there, or is a line twice, once more\n"
	"each time.\n"
	"\n"
	"      --live           add to IMAGE in place, beside other processes that do so;\n"
	"                       the last of them seals it, the others exit with 1. Killed\n"
	"                       meanwhile, it stays live: weir seal ends that\n"
	IMAGE_HELP_LIVE
	"      --keyed-by=FILE  the key of a keyed image, as weir build had it\n"
	KEYING_HELP_FILE
	CHANGE_HELP_FILE
	"      --allow-overfull  save a set that answers more than twice its rate of the\n"
	"                       absent keys with yes; without this it is refused\n"
	CHANGE_HELP_REPORT
	"\n"
	"Exit status: 0 done, 1 refused and nothing written, or left live, 2 an error.\n";

enum { LIVE = 256, ALLOW_OVERFULL };

static const struct option options[] = {
	{ "live", no_argument, NULL, LIVE },
	IMAGE_OPTION_LIVE,
	{ "allow-overfull", no_argument, NULL, ALLOW_OVERFULL },
	CHANGE_OPTIONS,
	{ 0 },
};

/* Adds the keys to a private filter, and checks that the filter may be saved. */
static int fill(struct change *add, struct weir_filter *f)
{
	int err = weir_measure(f, WEIR_EXACT, &add->before);
	if (err)
		return trouble_weir(err, NULL);
	int status = change_prepare(add, f);
	if (status)
		return status;
	if (fill_load(&add->fill, f, &add->keys))
		return add->found.full ? guard_full(f, &add->fill, add->image, &add->guard) :
		                         TOOL_TROUBLE;
	status = change_was_read(add);
	if (status)
		return status;
	if (isfinite(add->before.keys_estimated))
		add->guard.most = add->keys + (uint64_t)ceil(add->before.keys_estimated);
	if (!add->in_place)
		normal_raised(add->image, &add->fill.keying.normal, &add->found.noted,
		              add->before.fp_rate);
	err = weir_measure(f, WEIR_EXACT, &add->after);
	return err ? trouble_weir(err, NULL) :
	             guard_overfull(&add->guard, &add->after, add->image);
}

/* Refuses keys with a prefix length or a number of labels that no key of the image has. Lookups
 * probe only the lengths in the image's head, and other processes have already read the head. */
static int check_lengths(const struct change *add)
{
	const struct weir_text *had = &add->fill.keying.normal;
	if (memcmp(had, &add->found.noted, sizeof *had) == 0)
		return TOOL_OK;
	say("%s: not written: keys have %s that it has none of, and no lookup in it would ask for "
	    "them: leave out --live",
	    add->image,
	    had->steps & WEIR_TEXT_CIDR ? "prefix lengths" : "numbers of labels");
	return TOOL_NO;
}

/* Adds the keys to a copy of the filter first, and merges the copy only if it has accepted all
 * keys. So a refused key leaves the live image unchanged. */
static int add_to_live(struct change *add, struct weir_filter *live)
{
	struct weir_filter *copy;
	int err = weir_clone(&copy, live);
	if (err)
		return trouble_weir(err, add->image);
	int status = fill(add, copy);
	if (!status)
		status = check_lengths(add);
	err = status ? 0 : weir_merge(live, copy);
	if (err)
		status = trouble_weir(err, add->image);
	weir_destroy(copy);
	return status;
}

static int add_in_place(struct change *add, const struct weir_image_info *info)
{
	struct weir_filter *live;
	if (info->bytes > add->how.max_memory)
		return trouble("%s: needs %s of memory: more than --max-memory allows (%s)",
		               add->image, show_bytes(SHOW, info->bytes),
		               show_bytes(SHOW, add->how.max_memory));
	if (live_open(&live, add->image, &add->how))
		return TOOL_TROUBLE;
	const int status = add_to_live(add, live);
	const int sealed = live_seal(live, add->image, add->lost);
	weir_destroy(live);
	if (status || (sealed && sealed != -EBUSY))
		return status ? status : live_status(sealed);
	add->left_live = sealed == -EBUSY;
	say_saved(add->image);
	return place_check_unchanged(add->image, add->lock, add->lost);
}

static void report(const struct change *add)
{
	const struct weir_stats *s = &add->after;
	const bool copies = weir_kind_can(s->shape.kind, WEIR_CAN_HOLD_COPIES) &&
	                    !(s->marks & WEIR_MARK_ONCE);
	/* In a kind that stores each copy of a key, keys_estimated counts copies, so the number of
	 * new distinct keys is unknown. */
	double fresh = copies ? INFINITY : s->keys_estimated - add->before.keys_estimated;
	if (isfinite(fresh) && fresh > (double)add->keys) /* an estimate may be too high */
		fresh = (double)add->keys;
	report_saturated(add->image, s, guard_advice(&add->guard, s));
	if (add->quiet)
		return;
	struct report r = report_new();
	report_text(&r, "output", NULL, add->image);
	report_count(&r, "keys", NULL, add->keys);
	report_estimate(&r, "keys_new_estimated", NULL, fresh);
	report_estimate(&r, "keys_estimated", NULL, s->keys_estimated);
	if (copies)
		report_line(&r, "keys", "%s added, one copy each", show_count(SHOW, add->keys));
	else if (isfinite(fresh))
		report_line(&r, "keys", "%s added, about %s of them new",
		            show_count(SHOW, add->keys), show_short(SHOW, fresh));
	change_report_set(add, &r);
	report_normal(&r, &add->found.noted, s->fp_rate);
	report_stuck(&r, s);
	report_count(&r, "passed_over", add->found.bad ? "lines passed over" : NULL,
	             add->found.bad);
	report_count(&r, "local_names", add->found.local ? "local names left out" : NULL,
	             add->found.local);
	report_bool(&r, "saturated", "saturated", s->saturated);
	change_report_end(add, &r);
}

static int look(const struct change *add, const struct weir_image_info *info)
{
	if (info->live && !add->in_place) {
		say("%s: is live: a process inserts into it, or was killed while it did: seal it "
		    "(weir seal), or add with --live",
		    add->image);
		return TOOL_NO;
	}
	if (weir_kind_can(info->shape.kind, WEIR_CAN_BUILD))
		return trouble("%s: kind %s cannot take inserts: weir build makes one anew, of all "
		               "its keys", add->image, weir_kind_name(info->shape.kind));
	if (add->in_place && weir_kind_can(info->shape.kind, WEIR_CAN_COUNT))
		return trouble("%s: is of kind %s, and only kinds that hold a key once are changed "
		               "in place: leave out --live",
		               add->image, weir_kind_name(info->shape.kind));
	if (add->in_place && info->compressed)
		return trouble("%s: is compressed, and only a plain image is changed in place: "
		               "leave out --live",
		               add->image);
	return TOOL_OK;
}

static int work(struct change *add, const struct weir_image_info *info)
{
	return add->in_place ? add_in_place(add, info) : change_replace(add, info, fill);
}

static bool option_taken(int option, struct change *add)
{
	switch (option) {
	case LIVE: add->in_place = true; break;
	case ALLOW_OVERFULL: add->guard.allow_overfull = true; break;
	default: return change_option(option, add) > 0;
	}
	return true;
}

int cmd_add(int argc, char **argv)
{
	static const struct change_verb verb = { look, work, report };
	struct change add = change_new();
	for (int option; (option = option_next(argc, argv, CHANGE_LETTERS, options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &add))
			return misuse_reported();
	}
	int status = change_arguments(argc, argv, &add);
	if (status)
		return status;
	if (add.in_place && (add.saving.zstd_level || add.saving.mode))
		return misuse("--live changes the image in place: leave out --zstd and --mode");
	if (add.how.lock_dir && !add.in_place)
		return misuse("--lock-dir is for --live: leave it out");
	add.saving.marks = guard_marks(&add.guard);
	status = change_run(&add, &verb);
	return !status && add.left_live ? TOOL_NO : status;
}
