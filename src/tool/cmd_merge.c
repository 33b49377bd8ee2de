/* SPDX-License-Identifier: MIT
 * weir merge: the union of images that were built alike. */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>
#include "images.h"
#include "options.h"
#include "plain.h"
#include "progress.h"
#include "report.h"
#include "say.h"
#include "show.h"
#include "tool.h"

static const char help[] =
	"Usage: weir merge [OPTION]... -o IMAGE IMAGE...\n"
	"Save the union of images of the same kind, size, layout and seed: weir build\n"
	"--like makes such ones.\n"
	"\n"
	"  -o, --output=IMAGE  the image to write (- for standard output); may be one of\n"
	"                      those read\n"
	"      --zstd[=LEVEL]  compress it for transport, 1 to 19, default 3\n"
	"      --json          print what came of it as JSON\n"
	"      --no-progress   no progress line on a terminal\n"
	"  -q, --quiet         no progress line, no report\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done, 2 trouble.\n";

enum { JSON = 256, ZSTD, NO_PROGRESS };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct merge {
	const char *output;
	int zstd_level;
	bool as_json, quiet, progress;
	char **images;
	int n;
};

/* The first in memory of its own, the others or'ed into it. NULL after a message. */
static struct weir_filter *merged(const struct merge *merge)
{
	struct weir_filter *sum, *next;
	int err = image_load(&sum, merge->images[0]);
	if (err) {
		say_weir(err, merge->images[0]);
		return NULL;
	}
	progress_begin("merging");
	for (int i = 1; i < merge->n; i++) {
		progress_at((double)i / merge->n, 0);
		err = image_open(&next, merge->images[i], true);
		if (!err) {
			err = weir_merge(sum, next);
			weir_destroy(next);
			if (err)
				say("%s does not fit %s: %s", merge->images[i], merge->images[0],
				    weir_error_detail());
		}
		if (err) {
			weir_destroy(sum);
			sum = NULL;
			break;
		}
	}
	progress_end();
	return sum;
}

static void report(const struct merge *merge, const struct weir_stats *s)
{
	if (s->saturated)
		say("%s: more keys than its capacity of %s: %s different ones (estimated), so the "
		    "rate is %s and not %s",
		    merge->output, show_count(SHOW, s->capacity),
		    show_estimate(SHOW, s->keys_estimated), show_rate(SHOW, s->fp_rate_estimated),
		    show_rate(SHOW, s->fp_rate));
	if (merge->quiet)
		return;
	FILE *to = strcmp(merge->output, "-") ? stdout : stderr;
	struct report r = report_new();
	report_text(&r, "output", NULL, merge->output);
	report_count(&r, "images", "images", (uint64_t)merge->n);
	report_estimate(&r, "keys_estimated", "keys, estimated", s->keys_estimated);
	report_count(&r, "capacity", "capacity", s->capacity);
	report_rate(&r, "fp_rate", "rate asked", s->fp_rate);
	report_rate(&r, "fp_rate_estimated", "rate, estimated", s->fp_rate_estimated);
	report_rate(&r, "fill", "bits set", s->fill);
	report_bytes(&r, "bytes", "memory", s->bytes);
	report_bool(&r, "saturated", "saturated", s->saturated);
	if (!merge->as_json) {
		plain_put(merge->output, to);
		fputc('\n', to);
	}
	report_print(&r, merge->as_json, to);
	report_free(&r);
}

static int run(const struct merge *merge)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	if (!image_place_ok(merge->output))
		return TOOL_TROUBLE;
	struct weir_filter *sum = merged(merge);
	if (!sum)
		return TOOL_TROUBLE;
	int err = weir_stats_exact(sum, &stats);
	int status = err ? trouble_weir(err, NULL) :
	                   image_save(sum, merge->output, merge->zstd_level);
	weir_destroy(sum);
	if (!status)
		report(merge, &stats);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	struct merge merge = { .progress = true };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		bool ok = true;
		switch (option) {
		case 'o': merge.output = optarg; break;
		case ZSTD: ok = parse_zstd(optarg, &merge.zstd_level); break;
		case JSON: merge.as_json = true; break;
		case NO_PROGRESS: merge.progress = false; break;
		case 'q': merge.quiet = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: ok = false;
		}
		if (!ok)
			return misuse_reported();
	}
	if (!merge.output || !*merge.output)
		return misuse("-o IMAGE is missing: where to save the union");
	if (optind == argc)
		return misuse("the images to merge are missing");
	merge.images = argv + optind;
	merge.n = argc - optind;
	progress_allow(merge.progress && !merge.quiet);
	return run(&merge);
}
