/* SPDX-License-Identifier: MIT
 * weir seal: seals live images. An image stays live if a process that inserts into it in place is
 * killed. */
#include <stdio.h>
#include "commands.h"
#include "images/images.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/say.h"

static const char help[] =
	"Usage: weir seal [OPTION]... IMAGE...\n"
	"Put an end to the live state of images: into a live image processes insert in\n"
	"place, and nothing loads or maps it otherwise. One that was killed meanwhile\n"
	"leaves it so. The inserts that had returned are in it; its checksums are\n"
	"computed anew. While another process has it mapped live, that is refused.\n"
	"\n"
	"      --keyed-by=FILE  the key of keyed images, as weir build had it\n"
	IMAGE_HELP_LIVE
	"      --no-progress  no progress line on a terminal\n"
	"  -q, --quiet  print nothing about images that are sealed, no progress line\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 all are sealed, 1 one is in use, 2 an error.\n";

enum { KEYED_BY = 256, NO_PROGRESS };

static const struct option options[] = {
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	IMAGE_OPTION_LIVE,
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int seal(const char *path, const struct image_how *how, bool quiet)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f;
	int err = image_named(path) ? weir_image_inspect(weir_location_path(path), &info) : -1;
	if (err)
		return image_named(path) ? trouble_weir(err, path) : image_unnamed(path, false);
	int status = TOOL_OK;
	if (info.live) {
		if (live_open(&f, path, how))
			return TOOL_TROUBLE;
		status = live_status(live_seal(f, path, "sealed has no name any more"));
		weir_destroy(f);
	}
	if (!status && !quiet) {
		plain_put(path, stdout);
		printf(": %s\n", info.live ? "sealed" : "was sealed already");
	}
	return status;
}

int cmd_seal(int argc, char **argv)
{
	bool quiet = false, progress = true;
	struct image_how how = { .check = true };
	for (int option; (option = option_next(argc, argv, "qh", options)) != -1;) {
		switch (option) {
		case KEYED_BY:
			if (!(how.secret = keyfile_read(optarg)))
				return misuse_reported();
			break;
		case IMAGE_LOCK_DIR: how.lock_dir = optarg; break;
		case NO_PROGRESS: progress = false; break;
		case 'q': quiet = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: return misuse_reported();
		}
	}
	if (optind == argc)
		return misuse("the image is missing");
	progress_allow(progress && !quiet);
	int worst = TOOL_OK;
	for (int i = optind; i < argc; i++) {
		int status = seal(argv[i], &how, quiet);
		worst = status > worst ? status : worst;
	}
	return worst;
}
