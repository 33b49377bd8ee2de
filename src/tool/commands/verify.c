/* SPDX-License-Identifier: MIT
 * weir verify: compares every byte of an image with its checksums, and checks a delta: its head,
 * its map of the changed pieces, and the zstd frame of each piece. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/delta.h"
#include "images/images.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir verify [OPTION]... IMAGE|DELTA...\n"
	"Check every byte of images: header, sizes, checksums. However large an image is\n"
	"or declares to be, that takes 12 MiB of memory at most. Of deltas check head,\n"
	"map and frames: a changed byte that still unpacks shows only with --from, or\n"
	"when weir apply checks what they make.\n"
	"\n"
	"      --from=IMAGE  that the deltas were made from: they are applied to it, one\n"
	"                    after the other, and nothing is saved\n"
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

enum { JSON = 256, KEYED_BY, MAX_MEMORY, NO_PROGRESS, FROM };

static const struct option options[] = {
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	{ "from", required_argument, NULL, FROM },
	{ "json", no_argument, NULL, JSON },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct verify {
	struct image_how how;
	const char *from; /* the image that the first delta was made from, or NULL */
	const char **deltas;
	size_t n;         /* number of deltas so far */
	bool quiet;
	json_t *all;
};

static void put(const struct verify *v, struct report *r, const char *path, const char *what)
{
	if (v->all) {
		json_array_append(v->all, r->json);
	} else if (what && !v->quiet) {
		plain_put(path, stdout);
		printf(": %s\n", what);
	}
	report_free(r);
}

static int verify_image(const struct verify *v, const char *path)
{
	struct report r = report_new();
	int err = image_verify(path, &v->how);
	if (err == -EBADMSG)
		say_weir(err, path);
	else if (err)
		say("%s: %s", path, image_trouble(err, path));
	report_text(&r, "image", NULL, path);
	report_text(&r, "state", NULL, err == -EBADMSG ? "damaged" : err ? "trouble" : "whole");
	if (err)
		report_text(&r, "error", NULL, image_trouble(err, path));
	put(v, &r, path, err ? NULL : "whole");
	return err ? TOOL_TROUBLE : TOOL_OK;
}

/* Verifies a delta. With --from, also verifies every byte of the image that results from all deltas
 * so far. */
static int check_delta(const struct verify *v, const char *path)
{
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	reading.max_bytes = v->how.max_memory;
	reading.progress = progress_reported;
	progress_begin("verifying");
	int err = weir_delta_verify(weir_location_path(path), &reading);
	if (!err && v->from)
		err = weir_image_verify(weir_location_chain(v->from, v->deltas, v->n), &reading,
		                        NULL);
	progress_end();
	return err;
}

static int verify_delta(const struct verify *v, const char *path)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	struct report r = report_new();
	char ids[48], what[200];
	int err = weir_delta_inspect(weir_location_path(path), &info);
	if (!err)
		err = check_delta(v, path);
	report_text(&r, "delta", NULL, path);
	report_text(&r, "state", NULL, err == -EBADMSG ? "damaged" : err ? "trouble" : "whole");
	if (err)
		report_text(&r, "error", NULL, detail_without(path));
	if (!err)
		delta_report(&r, &info);
	report_bool(&r, "contents_checked", NULL, !err && v->from);
	snprintf(ids, sizeof ids, "%016" PRIx64 " to %016" PRIx64, info.old_id, info.new_id);
	if (v->from)
		snprintf(what, sizeof what, "a whole delta from image %s, and makes that", ids);
	else
		snprintf(what, sizeof what, "a delta from image %s: head, map and frames whole; "
		         "their contents are checked by --from=IMAGE or by weir apply", ids);
	if (err && v->from && detail_without(path) == weir_error_detail())
		say_weir(err, v->from); /* the message names another file than @path */
	else if (err)
		(void)trouble_delta(err, path);
	put(v, &r, path, err ? NULL : what);
	return err ? TOOL_TROUBLE : TOOL_OK;
}

static int verify_all(struct verify *v, char **paths, size_t n)
{
	int worst = TOOL_OK;
	v->deltas = xmalloc(n * sizeof *paths);
	for (size_t i = 0; i < n; i++) {
		int status = TOOL_OK;
		if (!image_named(paths[i]))
			status = image_unnamed(paths[i], true);
		else if (!delta_begins(paths[i]))
			status = verify_image(v, paths[i]);
		else if ((v->deltas[v->n++] = paths[i]))
			status = verify_delta(v, paths[i]);
		worst = status > worst ? status : worst;
	}
	free(v->deltas);
	return worst;
}

int cmd_verify(int argc, char **argv)
{
	bool as_json = false, progress = true;
	struct verify v = { .how = { .progress = true, .max_memory = image_max_memory() } };
	for (int option; (option = option_next(argc, argv, "qh", options)) != -1;) {
		switch (option) {
		case KEYED_BY:
			if (!(v.how.secret = keyfile_read(optarg)))
				return misuse_reported();
			break;
		case JSON: as_json = true; break;
		case MAX_MEMORY:
			if (!parse_bytes("--max-memory", optarg, &v.how.max_memory))
				return misuse_reported();
			break;
		case FROM: v.from = optarg; break;
		case NO_PROGRESS: progress = false; break;
		case 'q': v.quiet = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: return misuse_reported();
		}
	}
	if (optind == argc)
		return misuse("the image is missing");
	if (v.from && !image_named(v.from))
		return image_unnamed(v.from, false);
	progress_allow(progress && !v.quiet);
	v.all = as_json ? json_array() : NULL;
	int worst = verify_all(&v, argv + optind, (size_t)(argc - optind));
	if (v.all)
		print_json(v.all, stdout);
	json_decref(v.all);
	return worst;
}
