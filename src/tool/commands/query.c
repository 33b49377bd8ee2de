/* SPDX-License-Identifier: MIT
 * weir query: prints the lines that may be in the set. */
#include <stdio.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/compound.h"
#include "images/images.h"
#include "input/keying.h"
#include "input/parquet.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"
#include "query.h"

static const char help[] =
	"Usage: weir query [OPTION]... IMAGE [FILE|-]...\n"
	"Print the lines of the FILEs, or of standard input, that may be in the set.\n"
	"Files in gzip, zstd, xz or bzip2 format are decompressed.\n"
	"Of a Parquet file, IMAGE is FILE:COLUMN (a.b.c if it is nested), lines are its\n"
	"values, and behind each are a tab and the row groups that may hold it, from 0.\n"
	"\n"
	"  -v, --invert-match  print the lines that are certainly not in the set\n"
	"  -c, --count         print how many lines there are instead of the lines\n"
	"  -q, --quiet         print nothing; exit 0 at the first such line\n"
	"      --json          count, and print all figures as JSON; of a column the\n"
	"                      lines too\n"
	"      --stored        of a column: values as the file has them, integers as such\n"
	"                      and bytes as hexadecimal digits; else also dates\n"
	"                      (2026-01-31), decimals and UUIDs\n"
	"      --forget-older  of a window: what would have been forgotten since it was\n"
	"                      saved is forgotten; default: as it was then\n"
	"Done to keys as when the set was built, without an option. Of other sets:\n"
	"      --trim, --lowercase  as of weir build\n"
	"      --suffixes      look up each domain and each of its parents\n"
	KEYING_HELP_FILE
	"  -0, --null          lines end with a NUL byte instead of a newline, in the\n"
	"                      output too\n"
	"      --skip-empty    pass over empty lines\n"
	"      --as-is         take the bytes as they are, whatever they look like\n"
	"      --keyed-by=FILE  the key of a keyed image, as weir build had it\n"
	"      --no-verify     start at once: do not compare the image's checksums first\n"
	"      --max-memory=SIZE  of an image that is read into memory: compressed, a\n"
	"                      window, or from a pipe; default: half of the memory\n"
	"                      that is available\n"
	"      --no-progress   no progress line on a terminal while the image is read\n"
	"  -t, --threads=T     default: the CPUs this process may use; the lines keep\n"
	"                      their order\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 a line was selected, 1 none was, 2 an error.\n";

enum { JSON = 256, FORGET_OLDER, STORED };

static const struct option options[] = {
	{ "invert-match", no_argument, NULL, 'v' },
	{ "count", no_argument, NULL, 'c' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, JSON },
	{ "forget-older", no_argument, NULL, FORGET_OLDER },
	{ "stored", no_argument, NULL, STORED },
	KEYING_OPTIONS_STEPS,
	KEYING_OPTIONS_FILE,
	KEYING_OPTIONS_LINES,
	IMAGE_OPTIONS_OPEN,
	{ "threads", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct query {
	struct sift sift;
	struct image_how how;
	bool count, as_json, forget_older, stored;
};

static bool option_taken(int option, struct query *query)
{
	uint64_t threads;
	int taken;
	switch (option) {
	case 'v': query->sift.invert = true; break;
	case 'c': query->count = true; break;
	case 'q': query->sift.first_only = query->sift.keying.quiet = true; break;
	case JSON: query->as_json = true; break;
	case FORGET_OLDER: query->forget_older = true; break;
	case STORED: query->stored = true; break;
	case 't':
		if (!parse_number("--threads", optarg, 1, THREADS_MOST, &threads))
			return false;
		query->sift.threads = (unsigned)threads;
		break;
	default:
		taken = keying_option(option, &query->sift.keying, &query->sift.from);
		return (taken < 0 ? image_option(option, &query->how) : taken) > 0;
	}
	return true;
}

static void print_counts(const struct query *query)
{
	const struct sift *s = &query->sift;
	if (query->as_json) {
		struct report r = report_new();
		report_count(&r, "lines", NULL, s->lines);
		report_count(&r, "maybe", NULL, s->invert ? s->lines - s->selected : s->selected);
		report_count(&r, "passed_over", NULL, s->bad);
		report_count(&r, "absent", NULL, s->invert ? s->selected : s->lines - s->selected);
		report_print(&r, true, stdout);
		report_free(&r);
	} else if (query->count) {
		printf("%llu\n", (unsigned long long)s->selected);
	}
}

/* Combines the set's normalisation steps with the steps that options add. If options add steps,
 * this command makes the keys that a lookup probes, since the library knows only the set's steps.
 * --cidr cannot be added, since only a set of prefixes has prefix lengths. Return: false after a
 * message. */
static bool normal_of(struct query *query, const char *image)
{
	struct keying *how = &query->sift.keying;
	struct weir_text set = { 0 };
	uint32_t asked = how->normal.steps;
	weir_text_of(query->sift.filter, &set);
	how->normal = set;
	how->normal.steps |= asked;
	query->sift.what = asked & ~set.steps ? KEYING_LOOKUP : KEYING_TEXT;
	if (asked & ~set.steps & WEIR_TEXT_CIDR) {
		say("%s: not a set of prefixes: build it with --cidr", image);
		return false;
	}
	if (asked & ~set.steps & WEIR_TEXT_SUFFIXES) {
		how->normal.labels[0] = UINT64_MAX - 1;
		how->normal.labels[1] = UINT64_MAX;
	}
	return keying_fits(how);
}

static int answer(struct query *query, const char *image)
{
	if (!normal_of(query, image))
		return TOOL_TROUBLE;
	query->sift.print = !query->count && !query->as_json;
	bool read_all = sift_lines(&query->sift);
	if (!query->sift.first_only)
		print_counts(query);
	return !read_all ? TOOL_TROUBLE : query->sift.selected ? TOOL_OK : TOOL_NO;
}

static int open_and_answer(struct query *query, const char *image)
{
	struct weir_filter *filter = NULL;
	const bool is_window = window_file(image);
	if (query->forget_older && !is_window)
		return trouble("--forget-older: %s is not a window", image);
	progress_allow(query->how.progress && !query->sift.first_only);
	if (is_window ? window_load(&filter, image, &query->how, query->forget_older) :
	                image_open(&filter, image, &query->how))
		return TOOL_TROUBLE;
	query->sift.filter = filter;
	int status = answer(query, image);
	weir_destroy(filter);
	return status;
}

static int ask_column(const struct query *query, const char *column)
{
	if (query->forget_older)
		return trouble("--forget-older: %s is not a window", column);
	if (query->how.secret)
		return trouble("--keyed-by: %s is not keyed", column);
	return parquet_query(&(struct parquet_query){ .from = query->sift.from,
	                                              .keying = query->sift.keying,
	                                              .invert = query->sift.invert,
	                                              .count = query->count,
	                                              .first_only = query->sift.first_only,
	                                              .as_json = query->as_json,
	                                              .stored = query->stored,
	                                              .max_memory = query->how.max_memory },
	                     column);
}

int cmd_query(int argc, char **argv)
{
	struct query query = { .sift = { .from.delimiter = '\n', .from.go_on = true },
	                       .how = image_how() };
	const char *image;
	query.sift.threads = threads_default();
	for (int option; (option = option_next(argc, argv, "vcq0t:h", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &query))
			return misuse_reported();
	}
	if (!keying_fits(&query.sift.keying))
		return misuse_reported();
	int status = image_arguments(argc, argv, true, &image, &query.sift.from);
	if (!status && parquet_named(image))
		return ask_column(&query, image);
	if (query.stored && !status)
		return trouble("--stored: %s is not a column of a Parquet file: leave it out",
		               image);
	if (!status)
		status = image_swapped(image, query.sift.from.names, query.sift.from.n);
	return status ? status : open_and_answer(&query, image);
}
