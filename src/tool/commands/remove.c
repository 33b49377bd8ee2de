/* SPDX-License-Identifier: MIT
 * weir remove: removes keys from an image, and replaces the image as a whole. */
#include <math.h>
#include <stdio.h>
#include "commands.h"
#include "images/change.h"
#include "images/shape.h"
#include "input/file.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir remove [OPTION]... IMAGE [FILE|-]...\n"
	"Remove the lines of the FILEs, or of standard input, from IMAGE, which is\n"
	"replaced as a whole or not at all. It is one of kind counting or cuckoo. Files\n"
	"in gzip, zstd, xz or bzip2 format are decompressed. To its keys is done what\n"
	"was done to those that it has.\n"
	"A key is removed as often as it is a line, and is gone when that is as often as\n"
	"it was added. Remove only keys that were added: one that was not may be taken\n"
	"for one, and its removal then makes others unfindable.\n"
	"\n"
	"      --keyed-by=FILE  the key of a keyed image, as weir build had it\n"
	KEYING_HELP_FILE
	CHANGE_HELP_FILE
	"      --allow-shrink   leave under a tenth of the keys; without this it is\n"
	"                       refused\n"
	"      --force          remove keys most of which may be copies of others;\n"
	"                       without this it is refused\n"
	CHANGE_HELP_REPORT
	"\n"
	"Keys that were not there are counted, with a warning. If none was there, nothing\n"
	"is written; nor if more than half of those found may be copies of others.\n"
	"Exit status: 0 done, 1 refused or none was there, nothing written, 2 an error.\n";

enum { ALLOW_SHRINK = 256, FORCE };

static const struct option options[] = {
	{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
	{ "force", no_argument, NULL, FORCE },
	CHANGE_OPTIONS,
	{ 0 },
};

/* Refuses the input if none of its keys was in the set. Probably the user gave the wrong file, or
 * an earlier run has removed the keys. */
static int report_none_found(const struct change *rm)
{
	say("%s: not written: keys that were not there: %llu, all of them: remove only keys that "
	    "were added",
	    rm->image, (unsigned long long)rm->keys);
	return TOOL_NO;
}

/* Return: an estimate of the number of removed keys that were never added. A key that was never
 * added is found at the false-positive rate, and its removal then removes a copy of another key.
 * The estimate follows from the number of keys that were not found. If lines repeat a key more
 * often than it was added, the surplus lines are not found either, so the estimate may be too
 * high. */
static double wrongly_removed(const struct change *rm)
{
	double rate = rm->before.fp_rate_estimated;
	if (rm->keys == rm->removed) /* all keys were found, so none seems wrong */
		return 0;
	double about = (double)(rm->keys - rm->removed) * rate / (1 - rate);
	/* if @about is NAN, this returns rm->removed */
	return about < (double)rm->removed ? about : (double)rm->removed;
}

/* Return: the largest number of keys that become absent by the removal of a key that was never
 * added. Kind counting: each of the lowered counters may make a different key absent. Other kinds:
 * one key loses a copy of its fingerprint. */
static unsigned keys_lost_per_removal(const struct weir_shape *shape)
{
	return shape->kind == WEIR_COUNTING ?
	       shape->counting.words_per_key * shape->counting.counters_per_word : 1;
}

static void warn_of_absent(const struct change *rm, uint64_t absent)
{
	const double about = wrongly_removed(rm);
	const unsigned each = keys_lost_per_removal(&rm->before.shape);
	char some[160], lost[80];
	if (about >= 0.5)
		snprintf(some, sizeof some, "about %s of the %s removed ones may never have been "
		         "added", show_short(SHOW, about), show_count(SHOW, rm->removed));
	else
		snprintf(some, sizeof some, "with a chance of about %s at least one of the %s "
		         "removed ones was never added", show_rate(SHOW, -expm1(-about)),
		         show_count(SHOW, rm->removed));
	if (each == 1)
		snprintf(lost, sizeof lost, "another key for each of those");
	else
		snprintf(lost, sizeof lost, "up to %u other keys for each of those", each);
	say("%s: keys that were not there: %llu: %s. Lookups may miss %s: build the set anew, and "
	    "remove only keys that were added",
	    rm->image, (unsigned long long)absent, some, lost);
}

/* Refuses the input if the removal of its keys would mostly remove copies of other keys. */
static int mostly_wrong(const struct change *rm)
{
	const double about = wrongly_removed(rm);
	if (rm->force || about <= 0.5 * (double)rm->removed)
		return TOOL_OK;
	say("%s: not written: keys that were not there: %llu: about %s of %s found keys may never "
	    "have been added: remove only added keys, or if it is meant, --force",
	    rm->image, (unsigned long long)(rm->keys - rm->removed), show_short(SHOW, about),
	    show_count(SHOW, rm->removed));
	return TOOL_NO;
}

static int take_out(struct change *rm, struct weir_filter *f)
{
	int err = weir_measure(f, WEIR_EXACT, &rm->before);
	if (err)
		return trouble_weir(err, NULL);
	if (!weir_can(f, WEIR_CAN_REMOVE)) /* check before weir waits for input */
		return trouble("%s: kind %s cannot remove keys: weir build makes one that can, "
		               "with -k %s, or one of the keys that stay", rm->image,
		               weir_kind_name(rm->before.shape.kind), shape_kinds(WEIR_CAN_REMOVE));
	int status = change_prepare(rm, f);
	if (status)
		return status;
	if (fill_remove(&rm->fill, f, &rm->keys, &rm->removed))
		return TOOL_TROUBLE;
	status = change_was_read(rm);
	if (status)
		return status;
	if (rm->keys && !rm->removed)
		return report_none_found(rm);
	status = mostly_wrong(rm);
	if (status)
		return status;
	err = weir_measure(f, WEIR_EXACT, &rm->after);
	return err ? trouble_weir(err, NULL) : guard_check(&rm->guard, &rm->after, rm->image);
}

static int work(struct change *rm, const struct weir_image_info *info)
{
	if (info->marks & WEIR_MARK_ONCE)
		return trouble("%s: was built with --once: no key can be removed, since two may "
		               "share what one stored: build it without", rm->image);
	if (rm->guard.allow_shrink)
		rm->saving.marks |= WEIR_MARK_SHRINK_ALLOWED;
	if (info->marks & WEIR_MARK_OVERFULL_ALLOWED) /* the set may still be overfull */
		rm->saving.marks |= WEIR_MARK_OVERFULL_ALLOWED;
	return change_replace(rm, info, take_out);
}

static void report(const struct change *rm)
{
	uint64_t absent = rm->keys - rm->removed;
	if (absent)
		warn_of_absent(rm, absent);
	if (rm->quiet)
		return;
	struct report r = report_new();
	report_text(&r, "output", NULL, rm->image);
	report_count(&r, "keys", NULL, rm->keys);
	report_count(&r, "removed", "keys removed", rm->removed);
	report_count(&r, "absent", "keys not there", absent);
	report_estimate(&r, "keys_estimated", NULL, rm->after.keys_estimated);
	change_report_set(rm, &r);
	report_stuck(&r, &rm->after);
	report_count(&r, "passed_over", rm->found.bad ? "lines passed over" : NULL,
	             rm->found.bad);
	report_count(&r, "local_names", rm->found.local ? "local names left out" : NULL,
	             rm->found.local);
	change_report_end(rm, &r);
}

static int look(const struct change *rm, const struct weir_image_info *info)
{
	if (!info->live)
		return TOOL_OK;
	say("%s: is live, so a process inserts into it or was killed while it did: weir seal ends "
	    "that",
	    rm->image);
	return TOOL_NO;
}

int cmd_remove(int argc, char **argv)
{
	static const struct change_verb verb = { look, work, report };
	struct change rm = change_new();
	rm.lost = "removed is still in it: remove it again";
	rm.guard.allow_overfull = true;
	for (int option; (option = option_next(argc, argv, CHANGE_LETTERS, options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (option == ALLOW_SHRINK)
			rm.guard.allow_shrink = true;
		else if (option == FORCE)
			rm.force = true;
		else if (change_option(option, &rm) <= 0)
			return misuse_reported();
	}
	int status = change_arguments(argc, argv, &rm);
	if (status)
		return status;
	rm.guard.max_memory = rm.how.max_memory;
	return change_run(&rm, &verb);
}
