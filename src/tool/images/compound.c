/* SPDX-License-Identifier: MIT
 * Opens and reports images of windows and routers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "compound.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

/* ---- windows ---- */

static struct weir_load_options begin(const struct image_how *how)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.secret = how->secret;
	options.max_bytes = how->max_memory ? how->max_memory : 1; /* 0 would mean no limit */
	if (how->progress) {
		options.progress = progress_reported;
		progress_begin("reading");
	}
	return options;
}

int window_load(struct weir_filter **out, const char *path, const struct image_how *how,
                bool forget_older)
{
	struct weir_load_options options = begin(how);
	options.run.forget_older = forget_older;
	return image_read_ended(weir_load(out, weir_location_path(path), &options), path, how);
}

/* A constant clock, so that all figures describe the same moment. */
static uint64_t constant_clock(void *unused)
{
	(void)unused;
	return UINT64_C(1) << 62;
}

int window_stats(const char *path, const struct image_how *how, struct weir_stats *whole,
                 struct weir_window_stats *out)
{
	struct weir_load_options options = begin(how);
	struct weir_filter *f;
	*whole = (struct weir_stats)WEIR_STATS_INIT;
	*out = (struct weir_window_stats)WEIR_WINDOW_STATS_INIT;
	options.keyless = !how->secret;
	options.run.clock = constant_clock;
	int err = image_read_ended(weir_load(&f, weir_location_path(path), &options), path, how);
	if (err)
		return err;
	err = weir_measure(f, WEIR_SAMPLED, whole);
	if (!err)
		err = weir_window_measure(f, WEIR_SAMPLED, out);
	if (err) /* the file is no longer a window: another image has replaced it */
		say_weir(err, path);
	weir_destroy(f);
	return err;
}

/* ---- the report of a window ---- */

static void report_turns(struct report *r, const struct weir_window_stats *s)
{
	json_put(r->json, "span_seconds", json_real(s->span_seconds));
	report_count(r, "generation_keys", NULL, s->generation_keys);
	report_count(r, "keys_counted", NULL, s->keys_counted);
	if (s->span_seconds > 0)
		report_line(r, "remembers", "for %.6g s at least, an advance each %.6g s",
		            s->span_seconds, s->span_seconds / (s->generations - 1));
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
	for (uint32_t i = 0; i < s->generations; i++) {
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

void window_report(struct report *r, const struct weir_stats *whole,
                   const struct weir_window_stats *s)
{
	report_bytes(r, "memory_bytes", "memory, loaded", whole->bytes);
	report_turns(r, s);
	report_saved(r, s);
	report_generations(r, s);
	report_estimate(r, "keys_estimated", "keys, estimated", whole->keys_estimated);
	report_rate(r, "fp_rate_estimated", "rate, estimated", whole->fp_rate_estimated);
}

/* ---- routers ---- */

int route_load(struct weir_filter **out, const char *path, bool keyless,
               const struct image_how *how)
{
	struct weir_load_options options = begin(how);
	options.keyless = keyless;
	int err = image_read_ended(weir_load(out, weir_location_path(path), &options), path, how);
	if (err || weir_can(*out, WEIR_CAN_ROUTE))
		return err;
	struct weir_stats stats = WEIR_STATS_INIT;
	if (weir_measure(*out, WEIR_SAMPLED, &stats) == 0)
		say("%s: is of kind %s and no router: weir query looks keys up in it", path,
		    weir_kind_name(stats.shape.kind));
	weir_destroy(*out);
	return -ENOTSUP;
}

static void report_set(struct report *report, json_t *sets, const struct weir_filter *f,
                       const struct weir_router_stats *s, uint32_t set)
{
	const bool full = s->saturated >> set & 1;
	struct report one = report_new();
	char *name = plain_copy(weir_router_name(f, set));
	report_text(&one, "name", NULL, weir_router_name(f, set));
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

int route_measure(const struct weir_filter *f, struct weir_router_stats *sets,
                  struct weir_stats *whole)
{
	*sets = (struct weir_router_stats)WEIR_ROUTER_STATS_INIT;
	*whole = (struct weir_stats)WEIR_STATS_INIT;
	int err = weir_router_measure(f, WEIR_SAMPLED, sets);
	if (!err)
		err = weir_measure(f, WEIR_SAMPLED, whole);
	if (err)
		say_weir(err, NULL);
	whole->sampled = sets->sampled;
	whole->keys_estimated = whole->fill = 0;
	for (uint32_t set = 0; set < sets->sets; set++) {
		whole->keys_estimated += sets->keys[set];
		whole->fill += sets->fill[set] / sets->sets;
	}
	return err;
}

int route_report(struct report *report, const struct weir_filter *f)
{
	struct weir_router_stats s;
	struct weir_stats whole;
	int err = route_measure(f, &s, &whole);
	if (err)
		return err;
	json_t *sets = json_array();
	report_bytes(report, "memory_bytes", "memory, loaded", whole.bytes);
	report_count(report, "set_capacity", "room of each set", whole.capacity);
	report_estimate(report, "keys_estimated", "keys, estimated", whole.keys_estimated);
	report_real(report, "false_sets", "false sets a lookup", s.false_sets);
	report_rate(report, "sampled", "of the bits looked at", s.sampled);
	for (uint32_t set = 0; set < s.sets; set++)
		report_set(report, sets, f, &s, set);
	json_put(report->json, "sets", sets);
	return 0;
}
