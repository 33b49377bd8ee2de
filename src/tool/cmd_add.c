/* SPDX-License-Identifier: MIT
 * weir add: more keys into an image, which is replaced as a whole, or changed in place. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "crew.h"
#include "fill.h"
#include "guard.h"
#include "keyfile.h"
#include "keying_options.h"
#include "live.h"
#include "normal_report.h"
#include "numbers.h"
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
	"Usage: weir add [OPTION]... IMAGE [FILE|-]...\n"
	"Add the lines of the FILEs, or of standard input, to IMAGE, which is replaced as\n"
	"a whole or not at all. Files in gzip, zstd, xz or bzip2 format are\n"
	"decompressed. To its keys is done what was done to those that it has. Counting,\n"
	"frequency and cuckoo hold a key that is there, or is a line twice, once more\n"
	"each time.\n"
	"\n"
	"      --live           add to IMAGE in place, beside other processes that do so;\n"
	"                       it is sealed after the last of them. Killed meanwhile, it\n"
	"                       stays live: weir seal ends that\n"
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
	"      --allow-overfull  save a set that answers more than twice its rate of the\n"
	"                       absent keys with yes; without this it is refused\n"
	"      --json           print the result as JSON\n"
	"      --no-progress    no progress line on a terminal\n"
	"  -q, --quiet          no progress line, no report\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 trouble.\n";

enum { LIVE = 256, KEYED_BY, SKIP_EMPTY, AS_IS, MAX_MEMORY, ZSTD, MODE, ALLOW_OVERFULL, JSON,
       NO_PROGRESS };

static const struct option options[] = {
	{ "live", no_argument, NULL, LIVE },
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	KEYING_OPTIONS_FILE,
	{ "null", no_argument, NULL, '0' },
	{ "skip-empty", no_argument, NULL, SKIP_EMPTY },
	{ "as-is", no_argument, NULL, AS_IS },
	{ "threads", required_argument, NULL, 't' },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "mode", required_argument, NULL, MODE },
	{ "allow-overfull", no_argument, NULL, ALLOW_OVERFULL },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct add {
	const char *image;
	struct fill fill;
	struct fill_found found;
	struct image_how how;
	struct image_saving saving;
	struct guard guard;
	bool live, progress, as_json, quiet;
	int turn; /* place_turn() */
	/* the result */
	uint64_t keys;
	struct weir_stats before, after;
};

/* Put the keys into a filter of nobody else's, and ask whether it may be saved. */
static int fill(struct add *add, struct weir_filter *f)
{
	add->before = add->after = (struct weir_stats)WEIR_STATS_INIT;
	int64_t bytes = lines_total_bytes(&add->fill.from);
	int err = weir_stats_exact(f, &add->before);
	if (err)
		return trouble_weir(err, NULL);
	if (bytes < 0)
		return TOOL_TROUBLE;
	add->fill.bytes = (uint64_t)bytes;
	weir_normal_of(f, &add->fill.keying.normal);
	if (!keying_fits(&add->fill.keying))
		return TOOL_TROUBLE;
	fill_prepare(&add->fill, &add->found);
	if (fill_load(&add->fill, f, &add->keys))
		return add->found.full ? guard_full(f, add->found.taken, add->image, &add->guard) :
		                         TOOL_TROUBLE;
	if (add->found.bad)
		say("lines passed over: %llu", (unsigned long long)add->found.bad);
	if (!add->live)
		normal_raised(add->image, &add->fill.keying.normal, &add->found.noted,
		              add->before.fp_rate);
	err = weir_normal_set(f, &add->found.noted);
	if (!err)
		err = weir_stats_exact(f, &add->after);
	return err ? trouble_weir(err, NULL) :
	             guard_overfull(&add->guard, &add->after, add->image);
}

static int add_and_replace(struct add *add, const struct weir_image_info *info)
{
	struct weir_filter *f;
	if (image_load(&f, add->image, &add->how))
		return TOOL_TROUBLE;
	int status = fill(add, f);
	if (info->compressed && !add->saving.zstd_level)
		(void)parse_zstd(NULL, &add->saving.zstd_level);
	add->saving.generation = info->generation;
	if (info->shrink_allowed) /* a server may still follow from the set before that */
		add->saving.marks |= WEIR_MARK_SHRINK_ALLOWED;
	if (!status)
		status = place_stands(add->image, add->turn);
	if (!status)
		status = image_save(f, add->image, &add->saving);
	weir_destroy(f);
	return status;
}

/* Which lengths are asked for stands in the head, which processes have read. */
static int ask_lengths(const struct add *add)
{
	const struct weir_normal *had = &add->fill.keying.normal;
	if (memcmp(had, &add->found.noted, sizeof *had) == 0)
		return TOOL_OK;
	say("%s: not written: keys have %s that it has none of, and no lookup in it would ask for "
	    "them: leave out --live",
	    add->image,
	    had->steps & WEIR_NORMAL_CIDR ? "prefix lengths" : "numbers of labels");
	return TOOL_NO;
}

/* A copy is filled first: what was refused must not be in the image. */
static int add_to_live(struct add *add, struct weir_filter *live)
{
	struct weir_filter *copy;
	int err = weir_clone(&copy, live);
	if (err)
		return trouble_weir(err, add->image);
	int status = fill(add, copy);
	if (!status)
		status = ask_lengths(add);
	err = status ? 0 : weir_merge(live, copy);
	if (err)
		status = trouble_weir(err, add->image);
	weir_destroy(copy);
	return status;
}

static int add_in_place(struct add *add, const struct weir_image_info *info)
{
	struct weir_filter *live;
	if (info->bytes > add->how.max_memory)
		return trouble("%s: needs %s of memory: more than --max-memory allows (%s)",
		               add->image, show_bytes(SHOW, info->bytes),
		               show_bytes(SHOW, add->how.max_memory));
	if (live_open(&live, add->image, &add->how))
		return TOOL_TROUBLE;
	int status = add_to_live(add, live), sealed = live_seal(live, add->image);
	weir_destroy(live);
	if (status || sealed == TOOL_TROUBLE)
		return status ? status : sealed;
	return place_stands(add->image, add->turn);
}

static void report(const struct add *add)
{
	const struct weir_stats *s = &add->after;
	double fresh = s->keys_estimated - add->before.keys_estimated;
	if (isfinite(fresh) && fresh > (double)add->keys) /* the estimates err a little */
		fresh = (double)add->keys;
	report_saturated(add->image, s, guard_advice(&add->guard, s));
	if (add->quiet)
		return;
	struct report r = report_new();
	report_text(&r, "output", NULL, add->image);
	report_count(&r, "keys", NULL, add->keys);
	report_estimate(&r, "keys_new_estimated", NULL, fresh);
	report_estimate(&r, "keys_estimated", NULL, s->keys_estimated);
	if (isfinite(fresh))
		report_line(&r, "keys", "%s added, about %s of them new",
		            show_count(SHOW, add->keys), show_short(SHOW, fresh));
	report_line(&r, "in it now", "about %s", show_estimate(SHOW, s->keys_estimated));
	report_count(&r, "capacity", "capacity", s->capacity);
	report_rate(&r, "fp_rate", "rate asked", s->fp_rate);
	report_rate(&r, "fp_rate_estimated", "rate, estimated", s->fp_rate_estimated);
	report_normal(&r, &add->found.noted, s->fp_rate);
	report_stuck(&r, s);
	report_count(&r, "passed_over", add->found.bad ? "lines passed over" : NULL,
	             add->found.bad);
	report_bool(&r, "saturated", "saturated", s->saturated);
	if (!add->as_json) {
		plain_put(add->image, stdout);
		putchar('\n');
	}
	report_print(&r, add->as_json, stdout);
	report_free(&r);
}

/* What stands there now, and may it be added to? */
static int look(const struct add *add, struct weir_image_info *info)
{
	*info = (struct weir_image_info)WEIR_IMAGE_INFO_INIT;
	int err = weir_image_info(add->image, info);
	if (err == -ENOENT)
		return trouble("%s: there is no such image: weir build makes one", add->image);
	if (err)
		return trouble_weir(err, add->image);
	if (info->live && !add->live) {
		say("%s: is live, so a process inserts into it or was killed while it did: weir "
		    "seal ends that; --live adds to it meanwhile",
		    add->image);
		return TOOL_NO;
	}
	if (add->live && kind_counts(info->shape.kind))
		return trouble("%s: is of kind %s, and only kinds that hold a key once are changed "
		               "in place: leave out --live",
		               add->image, weir_kind_name(info->shape.kind));
	if (add->live && info->compressed)
		return trouble("%s: is compressed, and only a plain image is changed in place: "
		               "leave out --live",
		               add->image);
	return TOOL_OK;
}

/* Looked at before the turn, since one that is live is refused at once, and again after it, since
 * whoever had the turn has replaced it. */
static int run(struct add *add)
{
	struct weir_image_info info;
	int status = image_swapped(add->image, add->fill.from.names, add->fill.from.n);
	if (!status)
		status = place_is_not_read(add->image, &add->fill.from);
	if (!status)
		status = look(add, &info);
	if (status)
		return status;
	add->turn = place_turn(add->image, add->live);
	status = look(add, &info);
	if (!status && !add->live)
		status = place_ask(add->image, false);
	if (!status)
		status = add->live ? add_in_place(add, &info) : add_and_replace(add, &info);
	if (add->turn >= 0)
		close(add->turn);
	if (!status)
		report(add);
	return status;
}

static bool option_taken(int option, struct add *add)
{
	uint64_t threads = 0;
	switch (option) {
	case LIVE: add->live = true; break;
	case KEYED_BY: return (add->how.hash_key = keyfile_read(optarg)) != NULL;
	case '0': add->fill.from.delimiter = '\0'; break;
	case SKIP_EMPTY: add->fill.from.skip_empty = add->fill.keying.skip_empty = true; break;
	case AS_IS: add->fill.from.as_is = true; break;
	case MAX_MEMORY: return parse_bytes("--max-memory", optarg, &add->how.max_memory);
	case ZSTD: return parse_zstd(optarg, &add->saving.zstd_level);
	case MODE: return parse_mode(optarg, &add->saving.mode);
	case ALLOW_OVERFULL: add->guard.allow_overfull = true; break;
	case JSON: add->as_json = true; break;
	case NO_PROGRESS: add->progress = false; break;
	case 'q': add->quiet = true; break;
	case 't':
		if (!parse_number("--threads", optarg, 1, CREW_MOST, &threads))
			return false;
		add->fill.threads = (unsigned)threads;
		break;
	default: return keying_option(option, &add->fill.keying) > 0;
	}
	return true;
}

int cmd_add(int argc, char **argv)
{
	struct add add = { .fill.from.delimiter = '\n', .progress = true,
	                   .how = { .check = true, .progress = true,
	                            .max_memory = image_max_memory() },
	                   .guard.option = "weir build -n" };
	add.fill.threads = crew_default();
	for (int option; (option = option_next(argc, argv, "0t:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &add))
			return misuse_reported();
	}
	if (optind == argc)
		return misuse("the image is missing");
	add.image = argv[optind++];
	if (!image_named(add.image))
		return image_unnamed(add.image);
	if (!keying_fits(&add.fill.keying))
		return misuse_reported();
	add.found.steps_given = true; /* the image says what is done */
	if (add.live && (add.saving.zstd_level || add.saving.mode))
		return misuse("--live changes the image in place: leave out --zstd and --mode");
	add.saving.marks = guard_marks(&add.guard);
	progress_allow(add.progress && !add.quiet);
	add.fill.from.names = argv + optind;
	add.fill.from.n = (size_t)(argc - optind);
	return run(&add);
}
