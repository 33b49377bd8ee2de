/* SPDX-License-Identifier: MIT
 * weir delta: what is different between two images. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <weir/weir.h>
#include "delta.h"
#include "images.h"
#include "options.h"
#include "place.h"
#include "plain.h"
#include "progress.h"
#include "saving.h"
#include "say.h"
#include "show.h"
#include "tool.h"
#include "units.h"

static const char help[] =
	"Usage: weir delta [OPTION]... -o DELTA OLD NEW\n"
	"Save what is different between two images. Whoever has OLD makes NEW of it by\n"
	"weir apply. It is small where few keys came or went and size and seed stayed:\n"
	"weir build leaves an image those of the one that it replaces.\n"
	"Refused is a delta that would be no smaller than NEW.\n"
	"\n"
	"  -o, --output=DELTA  the file to write\n"
	"      --zstd=LEVEL    1 to 19, default 3\n"
	"      --max-memory=SIZE  of both images; default: half of the memory that is\n"
	"                      available\n"
	"      --mode=OCTAL    permissions of the file, as of weir build\n"
	"      --force         replace a file that is no delta; write one that is not\n"
	"                      smaller\n"
	"      --json          print the result as JSON\n"
	"      --no-progress   no progress line on a terminal\n"
	"  -q, --quiet         no progress line, no report\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 trouble.\n";

enum { JSON = 256, ZSTD, MAX_MEMORY, NO_PROGRESS, MODE, FORCE };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "zstd", required_argument, NULL, ZSTD },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "mode", required_argument, NULL, MODE },
	{ "force", no_argument, NULL, FORCE },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct delta {
	const char *output, *old_image, *new_image;
	struct image_saving saving;
	uint64_t max_memory, most; /* bytes of the delta; 0: any */
	bool force, as_json, quiet, progress;
};

static int save(const void *what, const char *path, const struct weir_save_options *file)
{
	const struct delta *d = what;
	struct weir_delta_options o = delta_options(file, d->max_memory);
	o.max_delta = d->most;
	return weir_delta_save(path, d->old_image, d->new_image, &o);
}

static int report(const struct delta *d)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	int err = weir_delta_info(d->output, &info);
	if (err)
		return trouble_weir(err, d->output);
	if (d->quiet)
		return TOOL_OK;
	struct report r = report_new();
	report_text(&r, "output", NULL, d->output);
	delta_report(&r, &info);
	if (!d->as_json) {
		plain_put(d->output, stdout);
		putchar('\n');
	}
	report_print(&r, d->as_json, stdout);
	report_free(&r);
	return TOOL_OK;
}

static int run(struct delta *d)
{
	char *read[] = { (char *)(uintptr_t)d->old_image, (char *)(uintptr_t)d->new_image };
	struct stat st;
	int status = place_ask_delta(d->output, d->force);
	if (status)
		return status;
	if (place_is_one_of(d->output, read, 2))
		return trouble("%s: is one of the two images: give the delta another name",
		               d->output);
	if (!d->force && stat(d->new_image, &st) == 0 && st.st_size > 0)
		d->most = (uint64_t)st.st_size - 1;
	int err = saving_try(save, d, d->output, &d->saving);
	if (err == -EFBIG && d->most && strstr(weir_error_detail(), "max_delta")) {
		say("%s: not written: it would be no smaller than %s itself, %s: send that, or if "
		    "it is meant, --force", d->output, d->new_image, show_bytes(SHOW, d->most + 1));
		return TOOL_NO;
	}
	return err ? trouble_weir(err, NULL) : report(d);
}

static bool option_taken(int option, struct delta *d)
{
	switch (option) {
	case 'o': d->output = optarg; break;
	case ZSTD: return parse_zstd(optarg, &d->saving.zstd_level);
	case MAX_MEMORY: return parse_bytes("--max-memory", optarg, &d->max_memory);
	case MODE: return parse_mode(optarg, &d->saving.mode);
	case FORCE: d->force = true; break;
	case JSON: d->as_json = true; break;
	case NO_PROGRESS: d->progress = false; break;
	case 'q': d->quiet = true; break;
	default: return false;
	}
	return true;
}

int cmd_delta(int argc, char **argv)
{
	struct delta d = { .progress = true, .max_memory = image_max_memory() };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &d))
			return misuse_reported();
	}
	if (!d.output || !*d.output)
		return misuse("-o DELTA is missing: where to save what is different");
	if (argc - optind != 2)
		return misuse("two images are needed, the old one and the new one");
	d.old_image = argv[optind];
	d.new_image = argv[optind + 1];
	for (int i = optind; i < argc; i++)
		if (!image_named(argv[i]))
			return image_unnamed(argv[i]);
	progress_allow(d.progress && !d.quiet);
	return run(&d);
}
