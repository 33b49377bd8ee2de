/* SPDX-License-Identifier: MIT
 * weir verify: every byte of an image against its checksums. */
#include <errno.h>
#include <stdio.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/images.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir verify [OPTION]... IMAGE...\n"
	"Check every byte of images: header, sizes, checksums. However large an image is\n"
	"or declares to be, that takes 12 MiB of memory at most.\n"
	"\n"
	"      --keyed-by=FILE  also check that keyed images have this key; without it a\n"
	"                       keyed image needs none\n"
	"      --json   as JSON: an array with an object an image\n"
	"      --max-memory=SIZE  an image may need no more; default: half of the memory\n"
	"                         that is available\n"
	"      --no-progress  no progress line on a terminal\n"
	"  -q, --quiet  print nothing about whole images, no progress line\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 all are whole, 2 one is damaged or cannot be read.\n";

enum { JSON = 256, KEYED_BY, MAX_MEMORY, NO_PROGRESS };

static const struct option options[] = {
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	{ "json", no_argument, NULL, JSON },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int verify(const char *path, const struct image_how *how, bool quiet, json_t *all)
{
	if (!image_named(path))
		return image_unnamed(path);
	int err = image_verify(path, how);
	if (err == -EBADMSG)
		say_weir(err, path);
	else if (err)
		say("%s: %s", path, image_trouble(err, path));
	if (all) {
		struct report r = report_new();
		report_text(&r, "image", NULL, path);
		report_text(&r, "state", NULL,
		            err == -EBADMSG ? "damaged" : err ? "trouble" : "whole");
		if (err)
			report_text(&r, "error", NULL, image_trouble(err, path));
		json_array_append(all, r.json);
		report_free(&r);
	} else if (!err && !quiet) {
		plain_put(path, stdout);
		printf(": whole\n");
	}
	return err ? TOOL_TROUBLE : TOOL_OK;
}

int cmd_verify(int argc, char **argv)
{
	bool quiet = false, as_json = false, progress = true;
	struct image_how how = { .progress = true, .max_memory = image_max_memory() };
	for (int option; (option = option_next(argc, argv, "qh", options)) != -1;) {
		switch (option) {
		case KEYED_BY:
			if (!(how.secret = keyfile_read(optarg)))
				return misuse_reported();
			break;
		case JSON: as_json = true; break;
		case MAX_MEMORY:
			if (!parse_bytes("--max-memory", optarg, &how.max_memory))
				return misuse_reported();
			break;
		case NO_PROGRESS: progress = false; break;
		case 'q': quiet = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: return misuse_reported();
		}
	}
	if (optind == argc)
		return misuse("the image is missing");
	progress_allow(progress && !quiet);
	json_t *all = as_json ? json_array() : NULL;
	int worst = TOOL_OK;
	for (int i = optind; i < argc; i++) {
		int status = verify(argv[i], &how, quiet, all);
		worst = status > worst ? status : worst;
	}
	if (all)
		print_json(all, stdout);
	json_decref(all);
	return worst;
}
