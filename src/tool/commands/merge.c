/* SPDX-License-Identifier: MIT
 * weir merge: saves the union of images that were built with the same options. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/guard.h"
#include "images/images.h"
#include "images/saving.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir merge [OPTION]... -o IMAGE IMAGE...\n"
	"Save the union of images of the same kind, layout and seed: weir build --like\n"
	"makes such ones. Where one is 2, 4, 8, ... times as large as another, it is\n"
	"folded to that size, which then has to hold the keys of all.\n"
	"Counters are added: a key of two images counts as often as in both together.\n"
	"\n"
	"  -o, --output=IMAGE  the image to write (- for standard output); may be one of\n"
	"                      those read\n"
	"      --keyed-by=FILE  the key of keyed images, as weir build had it\n"
	"      --zstd[=LEVEL]  compress it for transport, 1 to 19, default 3\n"
	"      --max-memory=SIZE  of the union and of images that are read into memory\n"
	"                      (compressed, or from a pipe); default: half of the memory\n"
	"                      that is available\n"
	"      --mode=OCTAL    as of weir build, as are the next three\n"
	"      --allow-overfull\n"
	"      --allow-shrink\n"
	"      --force\n"
	"      --json          print the result as JSON\n"
	"      --no-progress   no progress line on a terminal\n"
	"  -q, --quiet         no progress line, no report\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 an error.\n";

enum { JSON = 256, ZSTD, MAX_MEMORY, NO_PROGRESS, KEYED_BY, MODE, ALLOW_OVERFULL,
       ALLOW_SHRINK, FORCE };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	{ "mode", required_argument, NULL, MODE },
	{ "allow-overfull", no_argument, NULL, ALLOW_OVERFULL },
	{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
	{ "force", no_argument, NULL, FORCE },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct merge {
	const char *output;
	struct image_saving saving;
	struct guard guard;
	const void *secret;
	bool force, as_json, quiet, progress;
	uint64_t max_memory;
	char **images;
	int n;
	bool folded; /* images of different sizes were merged */
	struct weir_text normal; /* normalisation of the union */
};

static uint64_t bytes_of(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	return weir_measure(f, WEIR_SAMPLED, &s) == 0 ? s.bytes : 0;
}

static struct weir_filter *read_first(const struct merge *merge, struct image_how *how)
{
	struct weir_filter *sum;
	if (image_load(&sum, merge->images[0], how))
		return NULL;
	how->max_memory -= bytes_of(sum);
	return sum;
}

/* Return: true if weir build --like=@path can make a set that merges with this image. Return: false
 * for a pipe, which cannot be read a second time. */
static bool is_model(const char *path)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (!image_begins(path) || weir_image_inspect(weir_location_path(path), &info))
		return false;
	const uint32_t kind = info.shape.kind;
	return !weir_kind_can(kind, WEIR_CAN_ROUTE) && !weir_kind_can(kind, WEIR_CAN_BUILD);
}

/* Prints the command that makes a mergeable image. The command's output is called NEW, so that no
 * image is replaced. */
static void say_remedy(const struct merge *merge, const char *image)
{
	const char *first = merge->images[0];
	const char *model = is_model(first) ? first : image;
	if (is_model(model))
		say("%s, merged into %s: %s: make %s anew of its keys, and merge that: weir build "
		    "--like=%s%s -o NEW KEYS", image, first, unite_trouble(),
		    model == first ? image : first, model,
		    merge->secret ? " --keyed-by=FILE" : "");
	else
		say("%s, merged into %s: %s: build both again with the same -s SEED and -n N (weir "
		    "build -o NEW KEYS, routers by weir route --build -o NEW NAME=KEYS...)",
		    image, first, unite_trouble());
}

static void not_merged(const struct merge *merge, const char *image)
{
	/* If the sets normalise keys differently, no option makes them mergeable. */
	if (unite_unlike() && !strstr(unite_trouble(), "what is done to keys differs"))
		say_remedy(merge, image);
	else
		say("%s, merged into %s: %s", image, merge->images[0], unite_trouble());
}

/* Loads the first image into private memory, and merges the other images into it. Return: TOOL_OK,
 * or another status after a message. */
static int merged(struct weir_filter **out, struct merge *merge)
{
	struct image_how how = { .check = true, .max_memory = merge->max_memory,
	                         .secret = merge->secret };
	struct weir_filter *next, *sum = read_first(merge, &how);
	int status = TOOL_OK;
	if (!sum)
		return TOOL_TROUBLE;
	progress_begin("merging");
	for (int i = 1; !status && i < merge->n; i++) {
		progress_at((double)i / merge->n, 0);
		status = image_open(&next, merge->images[i], &how) ? TOOL_TROUBLE : TOOL_OK;
		if (status)
			break;
		status = unite(&sum, next, how.max_memory, &merge->folded);
		if (status)
			not_merged(merge, merge->images[i]);
		weir_destroy(next);
	}
	progress_end();
	if (status)
		weir_destroy(sum);
	else
		*out = sum;
	return status;
}

static void report(const struct merge *merge, const struct weir_stats *s)
{
	report_saturated(merge->output, s, guard_advice(&merge->guard, s));
	if (merge->quiet)
		return;
	FILE *to = strcmp(merge->output, "-") ? stdout : stderr;
	struct report r = report_new();
	report_text(&r, "output", NULL, merge->output);
	report_count(&r, "images", "images", (uint64_t)merge->n);
	report_estimate(&r, "keys_estimated", "keys, estimated", s->keys_estimated);
	report_count(&r, "capacity", "capacity", s->capacity);
	report_bool(&r, "folded", NULL, merge->folded);
	if (merge->folded)
		report_line(&r, "size", "that of the smallest image: larger ones were folded");
	report_rate(&r, "fp_rate", rate_label(&merge->normal), s->fp_rate);
	report_rate(&r, "fp_rate_estimated", "rate, estimated", s->fp_rate_estimated);
	report_fill(&r, s);
	report_stuck(&r, s);
	report_bytes(&r, "bytes", "memory", s->bytes);
	report_bool(&r, "saturated", "saturated", s->saturated);
	if (!merge->as_json) {
		plain_put(merge->output, to);
		fputc('\n', to);
	}
	report_print(&r, merge->as_json, to);
	report_free(&r);
}

/* Checks that the union may replace an image at the output path. */
static int check_union(const struct merge *merge, const struct weir_filter *sum,
                       const struct weir_stats *stats)
{
	const struct image_how how = { .max_memory = merge->max_memory };
	struct place_fresh fresh;
	int status = place_fresh_of(&fresh, sum);
	if (!status)
		status = place_keeps(merge->output, &fresh, merge->force, &how);
	return status ? status : guard_check(&merge->guard, stats, merge->output);
}

/* Merges the images and saves the union. @lock: the lock on the output file if that file is also
 * one of the images to merge, else -1. */
static int merge_and_save(struct merge *merge, int lock, struct weir_stats *stats)
{
	struct weir_filter *sum;
	int status = merged(&sum, merge);
	if (status)
		return status;
	weir_text_of(sum, &merge->normal);
	int err = weir_measure(sum, WEIR_EXACT, stats);
	status = err ? trouble_weir(err, NULL) : check_union(merge, sum, stats);
	if (!status)
		status = place_check_unchanged(merge->output, lock,
		                               "merged is not in it: merge again");
	if (!status && lock < 0)
		status = image_save_anew(sum, merge->output, merge->force, &merge->saving);
	else if (!status)
		status = image_save(sum, merge->output, &merge->saving);
	weir_destroy(sum);
	return status;
}

static int run(struct merge *merge)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	int status = place_check(merge->output, merge->force, &merge->saving);
	if (status)
		return status;
	bool adds = place_is_one_of(merge->output, merge->images, (size_t)merge->n);
	int lock = adds ? place_lock(merge->output, false) : -1;
	if (adds) { /* record the image that is going to be read */
		merge->saving.replaces = 0;
		status = place_check(merge->output, false, &merge->saving);
	}
	if (!status)
		status = merge_and_save(merge, lock, &stats);
	if (lock >= 0)
		close(lock);
	if (!status)
		report(merge, &stats);
	return status;
}

static bool option_taken(int option, struct merge *merge)
{
	switch (option) {
	case 'o': merge->output = optarg; break;
	case ZSTD: return parse_zstd(optarg, &merge->saving.zstd_level);
	case MAX_MEMORY: return parse_bytes("--max-memory", optarg, &merge->max_memory);
	case MODE: return parse_mode(optarg, &merge->saving.mode);
	case ALLOW_OVERFULL: merge->guard.allow_overfull = true; break;
	case ALLOW_SHRINK: merge->guard.allow_shrink = true; break;
	case FORCE: merge->force = true; break;
	case KEYED_BY: return (merge->secret = keyfile_read(optarg)) != NULL;
	case JSON: merge->as_json = true; break;
	case NO_PROGRESS: merge->progress = false; break;
	case 'q': merge->quiet = true; break;
	default: return false;
	}
	return true;
}

int cmd_merge(int argc, char **argv)
{
	struct merge merge = { .progress = true, .max_memory = image_max_memory(),
	                       .guard.option = "weir build -n" };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &merge))
			return misuse_reported();
	}
	merge.saving.marks = guard_marks(&merge.guard);
	merge.guard.max_memory = merge.max_memory;
	if (!merge.output || !*merge.output)
		return misuse("-o IMAGE is missing: where to save the union");
	if (optind == argc)
		return misuse("the images to merge are missing");
	merge.images = argv + optind;
	merge.n = argc - optind;
	for (int i = 0; i < merge.n; i++)
		if (!image_named(merge.images[i]))
			return image_unnamed(merge.images[i], true);
	progress_allow(merge.progress && !merge.quiet);
	return run(&merge);
}
