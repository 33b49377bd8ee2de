/* SPDX-License-Identifier: MIT
 * Images of windows, as the subcommands open them and show them. */
#include <math.h>
#include <stdio.h>
#include <time.h>
#include "progress.h"
#include "show.h"
#include "window_file.h"

bool window_file(const char *path)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	return image_begins(path) && weir_image_info(path, &info) == 0 &&
	       info.shape.kind == WEIR_WINDOW;
}

static struct weir_window_load_options begin(const struct image_how *how)
{
	struct weir_window_load_options options = WEIR_WINDOW_LOAD_OPTIONS_INIT;
	options.hash_key = how->hash_key;
	options.max_bytes = how->max_memory ? how->max_memory : 1; /* 0 would be no limit */
	if (how->progress) {
		options.progress = progress_reported;
		progress_begin("reading");
	}
	return options;
}

int window_load(struct weir_window **out, const char *path, const struct image_how *how,
                bool forget_older)
{
	struct weir_window_load_options options = begin(how);
	options.forget_older = forget_older;
	return image_read_ended(weir_window_load(out, path, &options), path, how);
}

int window_stats(const char *path, const struct image_how *how, struct weir_window_stats *out)
{
	struct weir_window_load_options options = begin(how);
	*out = (struct weir_window_stats)WEIR_WINDOW_STATS_INIT;
	return image_read_ended(weir_window_image_stats(path, &options, out), path, how);
}

/* ---- what it holds ---- */

static void report_turns(struct report *r, const struct weir_window_stats *s)
{
	json_put(r->json, "span_seconds", json_real(s->span_seconds));
	report_count(r, "generation_keys", NULL, s->generation_keys);
	report_count(r, "keys_counted", NULL, s->keys_counted);
	if (s->span_seconds > 0)
		report_line(r, "remembers", "for %.6g s at least, an advance each %.6g s",
		            s->span_seconds, s->span_seconds / (s->plan.generations - 1));
	if (s->generation_keys)
		report_line(r, s->span_seconds > 0 ? "or" : "advances",
		            "after %s keys in a generation; so far %s",
		            show_count(SHOW, s->generation_keys),
		            show_count(SHOW, s->keys_counted));
}

static void report_saved(struct report *r, const struct weir_window_stats *s)
{
	const time_t seconds = (time_t)(s->saved_ns / 1000000000);
	struct tm when;
	char text[40] = "";
	if (gmtime_r(&seconds, &when))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &when);
	report_count(r, "saved_seconds", NULL, (uint64_t)seconds);
	report_line(r, "saved", "%s", text);
}

static void report_generations(struct report *r, const struct weir_window_stats *s)
{
	json_t *ages = json_array(), *fills = json_array();
	for (uint32_t i = 0; i < s->plan.generations; i++) {
		char label[24];
		snprintf(label, sizeof label, "generation %u", i);
		if (i > s->advances)
			report_line(r, label, "was never the newest");
		else
			report_line(r, label, "became the newest %.6g s before; bits set: %s",
			            s->age_seconds[i], show_rate(SHOW, s->fill[i]));
		json_array_append_new(ages, i > s->advances ? json_null() :
		                                              json_real(s->age_seconds[i]));
		json_array_append_new(fills, json_real(s->fill[i]));
	}
	json_put(r->json, "ages_seconds", ages);
	json_put(r->json, "fills", fills);
}

void window_report(struct report *r, const struct weir_window_stats *s)
{
	report_bytes(r, "memory_bytes", "memory, loaded", s->plan.bytes);
	report_turns(r, s);
	report_saved(r, s);
	report_generations(r, s);
	report_estimate(r, "keys_estimated", "keys, estimated", s->keys_estimated);
	report_rate(r, "fp_rate_estimated", "rate, estimated", s->fp_rate_estimated);
}

struct weir_stats window_as_filter(const struct weir_window_stats *s)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	stats.sampled = 1;
	stats.keys_estimated = s->keys_estimated;
	stats.fp_rate_estimated = s->fp_rate_estimated;
	for (uint32_t i = 0; i < s->plan.generations; i++)
		stats.fill += s->fill[i] / s->plan.generations;
	/* as weir_measure() judges */
	stats.saturated = s->keys_estimated > (double)s->plan.capacity +
	                                              3 * sqrt((double)s->plan.capacity) + 1;
	return stats;
}
