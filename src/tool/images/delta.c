/* SPDX-License-Identifier: MIT
 * See delta.h. */
#include <getopt.h>
#include <inttypes.h>
#include "delta.h"
#include "images.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

static void report_id(struct report *r, const char *key, const char *label, uint64_t id,
                      uint64_t generation)
{
	char text[17], named[64];
	snprintf(text, sizeof text, "%016" PRIx64, id);
	report_text(r, key, NULL, text);
	snprintf(named, sizeof named, "%s, generation %s", text, show_count(SHOW, generation));
	report_line(r, label, "%s", named);
}

void delta_report(struct report *r, const struct weir_delta_info *info)
{
	report_count(r, "format", NULL, info->format);
	report_id(r, "old_id", "from image", info->old_id, info->old_generation);
	report_id(r, "new_id", "to image", info->new_id, info->new_generation);
	report_count(r, "old_generation", NULL, info->old_generation);
	report_count(r, "new_generation", NULL, info->new_generation);
	report_count(r, "old_bytes", NULL, info->old_bytes);
	report_bytes(r, "new_bytes", "that image, plain", info->new_bytes);
	report_count(r, "pieces", NULL, info->pieces);
	report_count(r, "changed", NULL, info->changed);
	report_line(r, "changed", "%s of its %s pieces of 1 MiB", show_count(SHOW, info->changed),
	            show_count(SHOW, info->pieces));
	report_bytes(r, "file_bytes", "the delta", info->file_bytes);
	report_rate(r, "share", "of that image", (double)info->file_bytes /
	            (double)info->new_bytes);
}

uint64_t delta_most_bytes(const struct delta_how *how)
{
	return how->max_memory / 2;
}

bool delta_option(int option, struct delta_how *how)
{
	switch (option) {
	case 'o': how->output = optarg; break;
	case DELTA_MAX_MEMORY: return parse_bytes("--max-memory", optarg, &how->max_memory);
	case DELTA_MODE: return parse_mode(optarg, &how->saving.mode);
	case DELTA_FORCE: how->force = true; break;
	case DELTA_JSON: how->as_json = true; break;
	case DELTA_NO_PROGRESS: how->no_progress = true; break;
	case 'q': how->quiet = true; break;
	default: return false;
	}
	return true;
}

int delta_named(const struct delta_how *how, const char *missing, char **arguments, int n)
{
	if (!how->output || !*how->output)
		return misuse("-o %s", missing);
	for (int i = 0; i < n; i++)
		if (!image_named(arguments[i]))
			return image_unnamed(arguments[i], false);
	progress_allow(!how->no_progress && !how->quiet);
	return TOOL_OK;
}

void delta_put(struct report *r, const struct delta_how *how)
{
	if (!how->as_json && !how->quiet) {
		plain_put(how->output, stdout);
		putchar('\n');
	}
	if (!how->quiet)
		report_print(r, how->as_json, stdout);
	report_free(r);
}
