/* SPDX-License-Identifier: MIT
 * Images of routers, as the subcommands open them and show them. */
#include <stdlib.h>
#include "output/plain.h"
#include "output/progress.h"
#include "output/show.h"
#include "route.h"

static struct weir_load_options begin(const struct image_how *how)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.hash_key = how->hash_key;
	options.max_bytes = how->max_memory ? how->max_memory : 1; /* 0 would be no limit */
	if (how->progress) {
		options.progress = progress_reported;
		progress_begin("reading");
	}
	return options;
}

int route_load(struct weir_router **out, const char *path, const struct image_how *how)
{
	const struct weir_load_options options = begin(how);
	return image_read_ended(weir_router_load(out, path, &options), path, how);
}

int route_stats(struct weir_router_stats *out, const char *path, const struct image_how *how)
{
	const struct weir_load_options options = begin(how);
	*out = (struct weir_router_stats)WEIR_ROUTER_STATS_INIT;
	return image_read_ended(weir_router_image_stats(path, &options, out), path, how);
}

static void report_set(struct report *report, json_t *sets, const struct weir_router_stats *s,
                       uint32_t set)
{
	const bool full = s->saturated >> set & 1;
	struct report one = report_new();
	char *name = plain_copy(s->names[set]);
	report_text(&one, "name", NULL, s->names[set]);
	report_estimate(&one, "keys_estimated", NULL, s->keys[set]);
	report_rate(&one, "fill", NULL, s->fill[set]);
	report_rate(&one, "fp_rate_estimated", NULL, s->fp_rates[set]);
	report_bool(&one, "saturated", NULL, full);
	json_array_append(sets, one.json);
	report_free(&one);
	report_line(report, name, "%s keys, estimated; rate, estimated: %s%s",
	            show_estimate(SHOW, s->keys[set]), show_rate(SHOW, s->fp_rates[set]),
	            full ? "; saturated" : "");
	free(name);
}

void route_report(struct report *report, const struct weir_router_stats *s)
{
	json_t *sets = json_array();
	report_bytes(report, "memory_bytes", "memory, loaded", s->bytes);
	report_count(report, "set_capacity", "room of each set", s->capacity);
	report_estimate(report, "keys_estimated", "keys, estimated", s->keys_estimated);
	report_real(report, "false_sets", "false sets a lookup", s->false_sets);
	report_rate(report, "sampled", "of the bits looked at", s->sampled);
	for (uint32_t set = 0; set < s->sets; set++)
		report_set(report, sets, s, set);
	json_put(report->json, "sets", sets);
}

struct weir_stats router_as_filter(const struct weir_router_stats *s)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	stats.sampled = s->sampled;
	stats.keys_estimated = s->keys_estimated;
	stats.saturated = s->saturated != 0;
	for (uint32_t set = 0; set < s->sets; set++) {
		stats.fill += s->fill[set] / s->sets;
		if (s->fp_rates[set] > stats.fp_rate_estimated)
			stats.fp_rate_estimated = s->fp_rates[set];
	}
	return stats;
}
