/* SPDX-License-Identifier: MIT
 * weir verify: every byte of an image against its checksums. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>
#include "images.h"
#include "keyfile.h"
#include "options.h"
#include "plain.h"
#include "report.h"
#include "say.h"
#include "tool.h"

static const char help[] =
	"Usage: weir verify [OPTION]... IMAGE...\n"
	"Check every byte of images: header, sizes, checksums.\n"
	"\n"
	"      --keyed-by=FILE  also check that keyed images have this key; without it a\n"
	"                       keyed image needs none\n"
	"      --json   as JSON: an array with an object an image\n"
	"  -q, --quiet  print nothing about whole images\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 all are whole, 1 one is damaged, 2 trouble.\n";

static const struct option options[] = {
	{ "keyed-by", required_argument, NULL, 'k' },
	{ "json", no_argument, NULL, 'j' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Without the path that it may begin with, escaped as all of it. */
static const char *sentence(const char *path)
{
	const char *detail = weir_error_detail();
	char *shown = plain_copy(path);
	size_t len = strlen(shown);
	bool led = strncmp(detail, shown, len) == 0 && strncmp(detail + len, ": ", 2) == 0;
	free(shown);
	return led ? detail + len + 2 : detail;
}

static int verify(const char *path, const void *hash_key, bool quiet, json_t *all)
{
	int err = image_check(path, hash_key);
	if (err == -EBADMSG)
		say("%s: damaged: %s", path, sentence(path));
	else if (err)
		say_weir(err, path);
	if (all) {
		struct report r = report_new();
		report_text(&r, "image", NULL, path);
		report_text(&r, "state", NULL,
		            err == -EBADMSG ? "damaged" : err ? "trouble" : "whole");
		if (err)
			report_text(&r, "error", NULL, sentence(path));
		json_array_append(all, r.json);
		report_free(&r);
	} else if (!err && !quiet) {
		plain_put(path, stdout);
		printf(": whole\n");
	}
	return err == -EBADMSG ? TOOL_NO : err ? TOOL_TROUBLE : TOOL_OK;
}

int cmd_verify(int argc, char **argv)
{
	bool quiet = false, as_json = false;
	const void *hash_key = NULL;
	for (int option; (option = option_next(argc, argv, "qh", options)) != -1;) {
		switch (option) {
		case 'k':
			if (!(hash_key = keyfile_read(optarg)))
				return misuse_reported();
			break;
		case 'j': as_json = true; break;
		case 'q': quiet = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: return misuse_reported();
		}
	}
	if (optind == argc)
		return misuse("the image is missing");
	json_t *all = as_json ? json_array() : NULL;
	int worst = TOOL_OK;
	for (int i = optind; i < argc; i++) {
		int status = verify(argv[i], hash_key, quiet, all);
		worst = status > worst ? status : worst;
	}
	if (all)
		print_json(all, stdout);
	json_decref(all);
	return worst;
}
