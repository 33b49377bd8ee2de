/* SPDX-License-Identifier: MIT
 * weir apply: the new image of an old one and deltas. */
#include <stdio.h>
#include <weir/weir.h>
#include "delta.h"
#include "images.h"
#include "options.h"
#include "place.h"
#include "plain.h"
#include "progress.h"
#include "report.h"
#include "saving.h"
#include "say.h"
#include "tool.h"
#include "units.h"

static const char help[] =
	"Usage: weir apply [OPTION]... -o NEW OLD DELTA...\n"
	"Make the new image of the old one and what weir delta saved; of several deltas\n"
	"each goes on where the one before ended. NEW is byte for byte the image that\n"
	"the last delta was made to, as a plain one. It is checked before it is saved.\n"
	"\n"
	"  -o, --output=NEW  the image to write; may be OLD\n"
	"      --max-memory=SIZE  of both images; default: half of the memory that is\n"
	"                    available\n"
	"      --mode=OCTAL  permissions of the file, as of weir build\n"
	"      --force       replace a file that is no image\n"
	"      --json        print the result as JSON\n"
	"      --no-progress  no progress line on a terminal\n"
	"  -q, --quiet       no progress line, no report\n"
	"  -h, --help        this text\n"
	"\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 trouble.\n";

enum { JSON = 256, MAX_MEMORY, NO_PROGRESS, MODE, FORCE };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "mode", required_argument, NULL, MODE },
	{ "force", no_argument, NULL, FORCE },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct apply {
	const char *output, *old_image;
	char **deltas;
	size_t n;
	struct image_saving saving;
	uint64_t max_memory;
	bool force, as_json, quiet, progress;
};

static int save(const void *what, const char *path, const struct weir_save_options *file)
{
	const struct apply *a = what;
	const struct weir_delta_options o = delta_options(file, a->max_memory);
	return weir_delta_apply(path, a->old_image, (const char *const *)a->deltas, a->n, &o);
}

static int report(const struct apply *a)
{
	struct weir_delta_info last = WEIR_DELTA_INFO_INIT;
	int err = weir_delta_info(a->deltas[a->n - 1], &last);
	if (err)
		return trouble_weir(err, a->deltas[a->n - 1]);
	if (a->quiet)
		return TOOL_OK;
	struct report r = report_new();
	report_text(&r, "output", NULL, a->output);
	report_count(&r, "deltas", "deltas", a->n);
	report_count(&r, "generation", "generation", last.new_generation);
	report_bytes(&r, "file_bytes", "file", last.new_bytes);
	if (!a->as_json) {
		plain_put(a->output, stdout);
		putchar('\n');
	}
	report_print(&r, a->as_json, stdout);
	report_free(&r);
	return TOOL_OK;
}

static int run(const struct apply *a)
{
	int status = place_ask(a->output, a->force);
	if (!status && place_is_one_of(a->output, a->deltas, a->n))
		status = trouble("%s: is one of the deltas: give the image another name",
		                 a->output);
	if (status)
		return status;
	int err = saving_try(save, a, a->output, &a->saving);
	return err ? trouble_weir(err, NULL) : report(a);
}

static bool option_taken(int option, struct apply *a)
{
	switch (option) {
	case 'o': a->output = optarg; break;
	case MAX_MEMORY: return parse_bytes("--max-memory", optarg, &a->max_memory);
	case MODE: return parse_mode(optarg, &a->saving.mode);
	case FORCE: a->force = true; break;
	case JSON: a->as_json = true; break;
	case NO_PROGRESS: a->progress = false; break;
	case 'q': a->quiet = true; break;
	default: return false;
	}
	return true;
}

int cmd_apply(int argc, char **argv)
{
	struct apply a = { .progress = true, .max_memory = image_max_memory() };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &a))
			return misuse_reported();
	}
	if (!a.output || !*a.output)
		return misuse("-o NEW is missing: where to save the image");
	if (!image_named(a.output))
		return misuse("-o -: the image is written to a file");
	if (argc - optind < 2)
		return misuse("an image and at least one delta are needed");
	a.old_image = argv[optind];
	a.deltas = argv + optind + 1;
	a.n = (size_t)(argc - optind - 1);
	for (int i = optind; i < argc; i++)
		if (!image_named(argv[i]))
			return image_unnamed(argv[i]);
	progress_allow(a.progress && !a.quiet);
	return run(&a);
}
