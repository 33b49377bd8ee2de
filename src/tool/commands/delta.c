/* SPDX-License-Identifier: MIT
 * weir delta: saves the difference between two images. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/delta.h"
#include "images/images.h"
#include "images/saving.h"
#include "input/file.h"
#include "output/say.h"
#include "output/units.h"

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
	"Exit status: 0 done, 1 refused and nothing written, 2 an error.\n";

enum { ZSTD = 256 };

static const struct option options[] = {
	{ "zstd", required_argument, NULL, ZSTD },
	DELTA_OPTIONS,
	{ 0 },
};

struct delta {
	struct delta_how how;
	char **images; /* the old image and the new image */
	uint64_t most; /* limit on the bytes of the delta; 0: no limit */
};

static int64_t save(const void *what, struct weir_location to, const struct weir_save_options *file)
{
	const struct delta *d = what;
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	o.mode = file->mode;
	o.zstd_level = file->zstd_level;
	o.max_bytes = delta_most_bytes(&d->how);
	o.max_delta = d->most;
	o.progress = file->progress;
	return weir_delta_save(to, weir_location_path(d->images[0]),
	                       weir_location_path(d->images[1]), &o);
}

static int report(const struct delta *d)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	int err = weir_delta_inspect(weir_location_path(d->how.output), &info);
	if (err)
		return trouble_weir(err, d->how.output);
	struct report r = report_new();
	report_text(&r, "output", NULL, d->how.output);
	delta_report(&r, &info);
	delta_put(&r, &d->how);
	return TOOL_OK;
}

static int run(struct delta *d)
{
	const char *output = d->how.output;
	struct stat st;
	int status = place_check_delta(output, d->how.force);
	if (status)
		return status;
	if (!is_there(d->images[0], SAY_IMAGE) || !is_there(d->images[1], SAY_IMAGE))
		return TOOL_TROUBLE;
	if (place_is_one_of(output, d->images, 2))
		return trouble("%s: is one of the two images: give the delta another name", output);
	if (!d->how.force && stat(d->images[1], &st) == 0 && st.st_size > 0)
		d->most = (uint64_t)st.st_size - 1;
	int err = saving_try(save, d, output, &d->how.saving);
	if (err == -EFBIG && d->most && strstr(weir_error_detail(), "max_delta")) {
		say("%s: not written: it would be no smaller than %s itself, %s: send that, or if "
		    "it is meant, --force", output, d->images[1], show_bytes(SHOW, d->most + 1));
		return TOOL_NO;
	}
	return err ? trouble_weir(err, NULL) : report(d);
}

int cmd_delta(int argc, char **argv)
{
	struct delta d = { .how.max_memory = image_max_memory() };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!(option == ZSTD ? parse_zstd(optarg, &d.how.saving.zstd_level) :
		                       delta_option(option, &d.how)))
			return misuse_reported();
	}
	d.images = argv + optind;
	int status = delta_named(&d.how, "DELTA is missing: where to save what is different",
	                         d.images, argc - optind);
	if (!status && argc - optind != 2)
		status = misuse("two images are needed, the old one and the new one");
	return status ? status : run(&d);
}
