/* SPDX-License-Identifier: MIT
 * Prints the report of `weir build`: the new image, and its measured rate. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "build.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

enum { FEW = 1000, MANY = 100000 };

/* Reports whether seed and size come from the model, which is the replaced image or that of
 * --like. */
static void taken(struct report *r, const struct build *b)
{
	const char *of = b->like ? "--like" : "the image that is replaced";
	report_bool(r, "seed_kept", NULL, b->taken.seed);
	report_bool(r, "size_kept", NULL, b->taken.size && !b->taken.doublings);
	if (!b->model.path)
		return;
	if (b->taken.seed)
		report_line(r, b->params.secret ? "key" : "seed", "that of %s%s", of,
		            b->like || b->steps_changed ? "" : ": servers go on following");
	else
		report_line(r, "seed", "not that of %s: servers that follow it refuse this one, "
		            "unless they take any", of);
	if (b->taken.size)
		report_line(r, "size", "that of %s%s", of,
		            b->taken.doublings > 0 ? ", doubled until the keys fit" :
		            b->taken.doublings < 0 ? ", halved, since under half was used" :
		                                 "");
}

/* Reports the number of different keys: counted, estimated, or unknown if every bit is set. A kind
 * that stores every copy of a key does not count different keys. */
static void different(struct report *r, const struct build *b, double estimated)
{
	const char *n = show_count(SHOW, b->keys);
	const uint32_t kind = b->stats.shape.kind;
	if (weir_kind_can(kind, WEIR_CAN_BUILD))
		report_line(r, "keys", "%s, %s of them different", n,
		            show_count(SHOW, b->built.keys));
	else if (weir_kind_can(kind, WEIR_CAN_HOLD_COPIES) && !(b->stats.marks & WEIR_MARK_ONCE))
		report_line(r, "keys", "%s, each as often as it was given", n);
	else if (isfinite(b->stats.keys_estimated))
		report_line(r, "keys", "%s, about %s of them different", n,
		            show_short(SHOW, estimated));
	else
		report_line(r, "keys", "%s; every bit is set: how many differ is unknown", n);
}

/* Prints a hint if over a tenth of the lines repeat other lines. An estimate from under FEW keys
 * may err by more than a tenth, so it gives no hint. */
static void hint_repeats(struct report *r, const struct build *b, double distinct, bool counted)
{
	if (!b->counted || !(distinct < 0.9 * (double)b->keys) || (!counted && b->keys < FEW))
		return;
	report_line(r, "hint",
	            "about %.0f %% of the lines repeat others: -n %llu makes room for those that "
	            "differ", 100 * (1 - distinct / (double)b->keys),
	            (unsigned long long)round_up((uint64_t)distinct));
}

static void keys(struct report *r, const struct build *b)
{
	const bool counted = weir_kind_can(b->stats.shape.kind, WEIR_CAN_BUILD);
	double distinct = b->stats.keys_estimated;
	if (distinct > (double)b->keys) /* the estimate may be too high */
		distinct = (double)b->keys;
	if (counted) {
		distinct = (double)b->built.keys;
		report_count(r, "keys_different", NULL, b->built.keys);
	}
	report_count(r, "keys", NULL, b->keys);
	report_estimate(r, "keys_estimated", NULL, b->stats.keys_estimated);
	report_count(r, "capacity", NULL, b->stats.capacity);
	if (b->exclude.from.n) {
		report_count(r, "excluded", "excluded", b->built.excluded);
		report_count(r, "excluded_passed", NULL, b->built.passed);
		report_count(r, "excluded_passed_over",
		             b->exclude_found.bad ? "passed over of the list" : NULL,
		             b->exclude_found.bad);
	}
	report_count(r, "passed_over", b->found.bad ? "lines passed over" : NULL, b->found.bad);
	report_count(r, "local_names", b->found.local ? "local names left out" : NULL,
	             b->found.local);
	different(r, b, distinct);
	report_line(r, "capacity", "%s", show_count(SHOW, b->stats.capacity));
	hint_repeats(r, b, distinct, counted);
}

/* Describes the asked rate. An answer for prefixes or domains takes several lookups, among which
 * the asked rate is divided. */
static const char *asked(char text[100], const struct build *b)
{
	const uint32_t lookups = weir_text_most(&b->found.noted);
	const double rate = b->stats.fp_rate;
	if (lookups > 1)
		snprintf(text, 100, "%s for each of %u lookups, %s asked for all of them",
		         show_rate(SHOW, rate), lookups, show_rate(SHOW, rate * lookups));
	else
		snprintf(text, 100, "%s asked", show_rate(SHOW, rate));
	return text;
}

static void rates(struct report *r, const struct build *b)
{
	char text[100];
	report_rate(r, "fp_rate", NULL, b->stats.fp_rate);
	report_rate(r, "fp_rate_measured", NULL, b->probe.rate);
	report_rate(r, "fp_rate_estimated", NULL, b->stats.fp_rate_estimated);
	report_count(r, "looked_up", NULL, b->probe.looked_up);
	report_count(r, "found", NULL, b->probe.found);
	if (!probe_tells(&b->stats))
		report_line(r, "rate", "%s; not measured: under %s keys that says little",
		            asked(text, b), show_count(SHOW, PROBE_KEYS));
	else
		report_line(r, "rate",
		            "%s measured, %s (%s of %s keys that are not in the set were "
		            "found)", show_rate(SHOW, b->probe.rate), asked(text, b),
		            show_count(SHOW, b->probe.found), show_count(SHOW, b->probe.looked_up));
	report_normal(r, &b->found.noted, b->stats.fp_rate);
	report_fill(r, &b->stats);
	report_stuck(r, &b->stats);
	report_bool(r, "saturated", NULL, b->stats.saturated);
}

static void sizes(struct report *r, const struct build *b)
{
	struct stat st;
	const bool grows = weir_kind_can(b->stats.shape.kind, WEIR_CAN_GROW);
	double keys = grows ? b->stats.keys_estimated : (double)b->stats.capacity;
	double bits_per_key = keys > 0 ? (double)b->stats.bytes * 8.0 / keys : 0;
	report_count(r, "bytes", NULL, b->stats.bytes);
	report_real(r, "bits_per_key", NULL, bits_per_key);
	/* Bits per key say little if the size is mostly due to rounding up to cache lines. */
	if (b->stats.capacity < FEW)
		report_line(r, "memory", "%s", show_bytes(SHOW, b->stats.bytes));
	else
		report_line(r, "memory", "%s, %.2f bits for each key%s",
		            show_bytes(SHOW, b->stats.bytes), bits_per_key,
		            grows ? "" : " of the capacity");
	if (strcmp(b->output, "-") && stat(b->output, &st) == 0)
		report_bytes(r, "file_bytes", "file", (uint64_t)st.st_size);
}

static void speed(struct report *r, const struct build *b)
{
	double per_second = b->seconds > 0 ? (double)b->keys / b->seconds : 0.0;
	report_real(r, "seconds", NULL, b->seconds);
	report_real(r, "keys_per_second", NULL, per_second);
	report_count(r, "threads", NULL, b->fill.threads);
	/* Keys a second say little if the start of the threads takes much of the time. */
	if (b->keys < MANY)
		report_line(r, "time", "%.2f s", b->seconds);
	else
		report_line(r, "time", "%.2f s, %s keys a second with %u thread%s", b->seconds,
		            show_short(SHOW, per_second), b->fill.threads,
		            b->fill.threads == 1 ? "" : "s");
}

void build_report(const struct build *build)
{
	report_saturated(build->output, &build->stats, guard_advice(&build->guard, &build->stats));
	if (build->quiet)
		return;
	FILE *to = strcmp(build->output, "-") ? stdout : stderr;
	struct report r = report_new();
	report_text(&r, "output", NULL, build->output);
	report_shape(&r, &build->stats.shape);
	report_bool(&r, "keyed", build->params.secret ? "keyed" : NULL,
	            build->params.secret != NULL);
	taken(&r, build);
	keys(&r, build);
	rates(&r, build);
	sizes(&r, build);
	speed(&r, build);
	if (!build->as_json) {
		plain_put(build->output, to);
		fputc('\n', to);
	}
	report_print(&r, build->as_json, to);
	report_free(&r);
}
