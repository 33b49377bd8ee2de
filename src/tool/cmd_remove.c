/* SPDX-License-Identifier: MIT
 * weir remove: keys out of an image, which is replaced as a whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "crew.h"
#include "fill.h"
#include "guard.h"
#include "keyfile.h"
#include "keying_options.h"
#include "options.h"
#include "place.h"
#include "plain.h"
#include "progress.h"
#include "report.h"
#include "saving.h"
#include "say.h"
#include "show.h"
#include "tool.h"
#include "units.h"

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
	"  -0, --null           keys end with a NUL byte instead of a newline\n"
	"      --skip-empty     an empty line is not a key\n"
	"      --as-is          do not decompress, whatever the input looks like\n"
	"  -t, --threads=T      default: the CPUs this process may use\n"
	"      --max-memory=SIZE  of the image in memory; default: half of the memory\n"
	"                       that is available\n"
	"      --zstd[=LEVEL]   compress it for transport, 1 to 19, default 3; one that\n"
	"                       is compressed stays so\n"
	"      --mode=OCTAL     permissions of the image; default: as they are\n"
	"      --allow-shrink   leave under a tenth of the keys; without this it is\n"
	"                       refused\n"
	"      --json           print the result as JSON\n"
	"      --no-progress    no progress line on a terminal\n"
	"  -q, --quiet          no progress line, no report\n"
	"  -h, --help           this text\n"
	"\n"
	"Keys that were not there are counted, and are no error.\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 trouble.\n";

enum { KEYED_BY = 256, SKIP_EMPTY, AS_IS, MAX_MEMORY, ZSTD, MODE, ALLOW_SHRINK, JSON,
       NO_PROGRESS };

static const struct option options[] = {
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	KEYING_OPTIONS_FILE,
	{ "null", no_argument, NULL, '0' },
	{ "skip-empty", no_argument, NULL, SKIP_EMPTY },
	{ "as-is", no_argument, NULL, AS_IS },
	{ "threads", required_argument, NULL, 't' },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "mode", required_argument, NULL, MODE },
	{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct removal {
	const char *image;
	struct fill fill;
	struct fill_found found;
	struct image_how how;
	struct image_saving saving;
	struct guard guard;
	bool progress, as_json, quiet;
	int turn; /* place_turn() */
	/* the result */
	uint64_t keys, removed;
	struct weir_stats after;
};

static int take_out(struct removal *rm, struct weir_filter *f)
{
	int64_t bytes = lines_total_bytes(&rm->fill.from);
	/* Of no keys: whether the kind can remove, before the input is waited for. */
	int64_t err = weir_remove_hashes(f, NULL, 0, NULL);
	if (err)
		return trouble_weir((int)err, rm->image);
	if (bytes < 0)
		return TOOL_TROUBLE;
	rm->fill.bytes = (uint64_t)bytes;
	weir_normal_of(f, &rm->fill.keying.normal);
	if (!keying_fits(&rm->fill.keying))
		return TOOL_TROUBLE;
	fill_prepare(&rm->fill, &rm->found);
	if (fill_remove(&rm->fill, f, &rm->keys, &rm->removed))
		return TOOL_TROUBLE;
	if (rm->found.bad)
		say("lines passed over: %llu", (unsigned long long)rm->found.bad);
	rm->after = (struct weir_stats)WEIR_STATS_INIT;
	err = weir_stats_exact(f, &rm->after);
	return err ? trouble_weir((int)err, NULL) : guard_ask(&rm->guard, &rm->after, rm->image);
}

static int remove_and_replace(struct removal *rm, const struct weir_image_info *info)
{
	struct weir_filter *f;
	if (image_load(&f, rm->image, &rm->how))
		return TOOL_TROUBLE;
	int status = take_out(rm, f);
	if (info->compressed && !rm->saving.zstd_level)
		(void)parse_zstd(NULL, &rm->saving.zstd_level);
	rm->saving.generation = info->generation;
	if (info->shrink_allowed || rm->guard.allow_shrink)
		rm->saving.marks |= WEIR_MARK_SHRINK_ALLOWED;
	if (info->overfull_allowed) /* fewer keys may still be too many */
		rm->saving.marks |= WEIR_MARK_OVERFULL_ALLOWED;
	if (!status)
		status = place_stands(rm->image, rm->turn);
	if (!status)
		status = image_save(f, rm->image, &rm->saving);
	weir_destroy(f);
	return status;
}

static void report(const struct removal *rm)
{
	const struct weir_stats *s = &rm->after;
	uint64_t absent = rm->keys - rm->removed;
	if (absent)
		say("%s: keys that were not there: %llu", rm->image, (unsigned long long)absent);
	if (rm->quiet)
		return;
	struct report r = report_new();
	report_text(&r, "output", NULL, rm->image);
	report_count(&r, "keys", NULL, rm->keys);
	report_count(&r, "removed", "keys removed", rm->removed);
	report_count(&r, "absent", "keys not there", absent);
	report_estimate(&r, "keys_estimated", NULL, s->keys_estimated);
	report_line(&r, "in it now", "about %s", show_estimate(SHOW, s->keys_estimated));
	report_count(&r, "capacity", "capacity", s->capacity);
	report_rate(&r, "fp_rate", "rate asked", s->fp_rate);
	report_rate(&r, "fp_rate_estimated", "rate, estimated", s->fp_rate_estimated);
	report_stuck(&r, s);
	report_count(&r, "passed_over", rm->found.bad ? "lines passed over" : NULL,
	             rm->found.bad);
	if (!rm->as_json) {
		plain_put(rm->image, stdout);
		putchar('\n');
	}
	report_print(&r, rm->as_json, stdout);
	report_free(&r);
}

/* What stands there now, and may keys be removed from it? */
static int look(const struct removal *rm, struct weir_image_info *info)
{
	*info = (struct weir_image_info)WEIR_IMAGE_INFO_INIT;
	int err = weir_image_info(rm->image, info);
	if (err == -ENOENT)
		return trouble("%s: there is no such image: weir build makes one", rm->image);
	if (err)
		return trouble_weir(err, rm->image);
	if (!info->live)
		return TOOL_OK;
	say("%s: is live, so a process inserts into it or was killed while it did: weir seal ends "
	    "that",
	    rm->image);
	return TOOL_NO;
}

/* As weir add does: looked at before the turn, since one that is live is refused at once, and again
 * after it, since whoever had the turn has replaced it. */
static int run(struct removal *rm)
{
	struct weir_image_info info;
	int status = image_swapped(rm->image, rm->fill.from.names, rm->fill.from.n);
	if (!status)
		status = place_is_not_read(rm->image, &rm->fill.from);
	if (!status)
		status = look(rm, &info);
	if (status)
		return status;
	rm->turn = place_turn(rm->image, false);
	status = look(rm, &info);
	if (!status)
		status = place_ask(rm->image, false);
	if (!status)
		status = remove_and_replace(rm, &info);
	if (rm->turn >= 0)
		close(rm->turn);
	if (!status)
		report(rm);
	return status;
}

static bool option_taken(int option, struct removal *rm)
{
	uint64_t threads = 0;
	switch (option) {
	case KEYED_BY: return (rm->how.hash_key = keyfile_read(optarg)) != NULL;
	case '0': rm->fill.from.delimiter = '\0'; break;
	case SKIP_EMPTY: rm->fill.from.skip_empty = rm->fill.keying.skip_empty = true; break;
	case AS_IS: rm->fill.from.as_is = true; break;
	case MAX_MEMORY: return parse_bytes("--max-memory", optarg, &rm->how.max_memory);
	case ZSTD: return parse_zstd(optarg, &rm->saving.zstd_level);
	case MODE: return parse_mode(optarg, &rm->saving.mode);
	case ALLOW_SHRINK: rm->guard.allow_shrink = true; break;
	case JSON: rm->as_json = true; break;
	case NO_PROGRESS: rm->progress = false; break;
	case 'q': rm->quiet = true; break;
	case 't':
		if (!parse_number("--threads", optarg, 1, CREW_MOST, &threads))
			return false;
		rm->fill.threads = (unsigned)threads;
		break;
	default: return keying_option(option, &rm->fill.keying) > 0;
	}
	return true;
}

int cmd_remove(int argc, char **argv)
{
	struct removal rm = { .fill.from.delimiter = '\n', .progress = true,
	                      .how = { .check = true, .progress = true,
	                               .max_memory = image_max_memory() },
	                      .guard = { .allow_overfull = true, .option = "weir build -n" } };
	rm.fill.threads = crew_default();
	for (int option; (option = option_next(argc, argv, "0t:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &rm))
			return misuse_reported();
	}
	if (optind == argc)
		return misuse("the image is missing");
	rm.image = argv[optind++];
	if (!image_named(rm.image))
		return image_unnamed(rm.image);
	if (!keying_fits(&rm.fill.keying))
		return misuse_reported();
	rm.found.steps_given = true; /* the image says what is done */
	rm.guard.max_memory = rm.how.max_memory;
	progress_allow(rm.progress && !rm.quiet);
	rm.fill.from.names = argv + optind;
	rm.fill.from.n = (size_t)(argc - optind);
	return run(&rm);
}
