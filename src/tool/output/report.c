/* SPDX-License-Identifier: MIT
 * Reports collect figures as lines of a table and as members of a JSON object. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "report.h"
#include "say.h"
#include "units.h"

static json_t *need_json(json_t *json)
{
	if (!json) {
		say("no memory for the JSON output, or text that is not UTF-8");
		exit(TOOL_TROUBLE);
	}
	return json;
}

void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, need_json(value))) {
		say("no memory for the JSON output");
		exit(TOOL_TROUBLE);
	}
}

/* A count above INT64_MAX becomes a string, since Jansson's integers are signed and a real number
 * would lose digits. */
static json_t *json_count(uint64_t value)
{
	char text[24];
	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return json_string(text);
}

struct report report_new(void)
{
	return (struct report){ need_json(json_object()), TABLE_INIT("ll") };
}

void report_free(struct report *report)
{
	json_decref(report->json);
	table_free(&report->lines);
}

static void line(struct report *report, const char *label, const char *text)
{
	if (!label)
		return;
	table_add(&report->lines, "  %s", label);
	table_add(&report->lines, "%s", text);
}

void report_count(struct report *report, const char *key, const char *label, uint64_t value)
{
	json_put(report->json, key, json_count(value));
	line(report, label, show_count(SHOW, value));
}

void report_bytes(struct report *report, const char *key, const char *label, uint64_t value)
{
	json_put(report->json, key, json_count(value));
	line(report, label, show_bytes(SHOW, value));
}

void report_rate(struct report *report, const char *key, const char *label, double value)
{
	json_put(report->json, key, isnan(value) ? json_null() : json_real(value));
	line(report, label, show_rate(SHOW, value));
}

void report_real(struct report *report, const char *key, const char *label, double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.4g", value);
	json_put(report->json, key, json_real(value));
	line(report, label, text);
}

void report_estimate(struct report *report, const char *key, const char *label, double value)
{
	json_put(report->json, key,
	         isfinite(value) ? json_integer((json_int_t)(value + 0.5)) : json_null());
	line(report, label, show_estimate(SHOW, value));
}

/* JSON must be UTF-8, but a file name may have any bytes. A name that is not UTF-8 is escaped as in
 * messages. */
static json_t *json_any_text(const char *text)
{
	json_t *json = json_string(text);
	if (json)
		return json;
	char *plain = plain_copy(text);
	json = json_string(plain);
	free(plain);
	return json;
}

void report_text(struct report *report, const char *key, const char *label, const char *value)
{
	json_put(report->json, key, json_any_text(value));
	line(report, label, value);
}

void report_bool(struct report *report, const char *key, const char *label, bool value)
{
	json_put(report->json, key, json_boolean(value));
	line(report, label, value ? "yes" : "no");
}

void report_shape(struct report *report, const struct weir_shape *shape)
{
	const char *kind = weir_kind_name(shape->kind), *field;
	char text[WEIR_SHAPE_TEXT];
	report_text(report, "kind", NULL, kind);
	for (unsigned i = 0; (field = weir_shape_field(shape->kind, i)) != NULL; i++)
		report_count(report, field, NULL, shape->field[i]);
	if (weir_shape_text(shape, text) == 0)
		report_line(report, "layout", "%s, %s", kind, text);
}

void report_bytes_of(struct report *report, const char *key, const char *bytes, size_t len)
{
	json_t *json = json_stringn(bytes, len);
	if (!json) {
		char *text = plain_bytes(bytes, len);
		json = json_string(text);
		free(text);
	}
	json_put(report->json, key, json);
}

/* A kind with WEIR_CAN_HOLD_COPIES counts by storing copies of a key, and so has no counters. */
bool has_counters(uint32_t kind)
{
	return weir_kind_can(kind, WEIR_CAN_COUNT | WEIR_CAN_HOLD_COPIES) == WEIR_CAN_COUNT;
}

void report_fill(struct report *report, const struct weir_stats *stats)
{
	const uint32_t places = WEIR_CAN_HOLD_COPIES | WEIR_CAN_BUILD;
	const char *label = has_counters(stats->shape.kind)           ? "counters above 0" :
	                    weir_kind_can(stats->shape.kind, places) ? "places taken" :
	                                                               "bits set";
	report_rate(report, "fill", label, stats->fill);
}

void report_stuck(struct report *report, const struct weir_stats *stats)
{
	if (has_counters(stats->shape.kind))
		report_count(report, "counters_stuck", "counters full", stats->counters_stuck);
}

void report_line(struct report *report, const char *label, const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	line(report, label, text);
}

void report_saturated(const char *path, const struct weir_stats *stats, const char *advice)
{
	if (stats->saturated && weir_kind_can(stats->shape.kind, WEIR_CAN_HOLD_COPIES))
		say("%s: more keys than its capacity of %s: %s are in it, and more will soon be "
		    "refused", path, show_count(SHOW, stats->capacity),
		    show_about(SHOW, stats->keys_estimated));
	else if (stats->saturated)
		say("%s: more keys than its capacity of %s: %s are in it, so the rate is %s and "
		    "not %s%s",
		    path, show_count(SHOW, stats->capacity),
		    show_about(SHOW, stats->keys_estimated),
		    show_rate(SHOW, stats->fp_rate_estimated), show_rate(SHOW, stats->fp_rate),
		    advice);
	if (stats->hashes_uneven == WEIR_UNEVEN_YES)
		say("%s: filled by hashes that are not uniform, so its rate is far above the one "
		    "estimated: %s", path, stats->uneven_why);
}

void report_uneven(struct report *report, const struct weir_stats *stats)
{
	static const char *const answers[] = { "unknown", "no", "yes" };
	report_text(report, "hashes_uneven", "hashes uneven", answers[stats->hashes_uneven]);
}

/* Escapes U+007F, which terminals act on. Jansson escapes only the control characters below
 * U+0020. */
static void put_ascii(const char *text, FILE *to)
{
	for (; *text; text++)
		if (*text == '\x7f')
			fputs("\\u007f", to);
		else
			fputc(*text, to);
}

static void dump(const json_t *json, size_t style, FILE *to)
{
	bool plain = plain_wanted(to);
	char *text = json_dumps(json, style | (plain ? JSON_ENSURE_ASCII : 0));
	if (!text) {
		say("no memory for the JSON output");
		exit(TOOL_TROUBLE);
	}
	if (plain)
		put_ascii(text, to);
	else
		fputs(text, to);
	free(text);
}

void print_json(const json_t *json, FILE *to)
{
	dump(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9), to);
	fputc('\n', to);
}

void put_json(const json_t *json, FILE *to)
{
	dump(json, 0, to);
}

void report_print(const struct report *report, bool as_json, FILE *to)
{
	if (as_json)
		print_json(report->json, to);
	else
		table_print(&report->lines, to);
}

/* ---- normalisation ---- */

enum { TEXT = 1024 };

static const char *const names[] = { "trim", "lowercase", "cidr", "suffixes" };
#define STEPS (sizeof names / sizeof *names)

/* Writes the numbers of the set bits below @n as ranges, such as "8 16-24". */
static const char *write_ranges(char text[TEXT], const uint64_t *words, unsigned n)
{
	size_t at = 0;
	text[0] = 0;
	for (unsigned i = 0, from; i < n; i++) {
		for (from = i; i < n && words[i / 64] >> i % 64 & 1; i++)
			;
		if (i == from)
			continue;
		at += (size_t)snprintf(text + at, TEXT - at, i - from > 1 ? "%s%u-%u" : "%s%u",
		                       at ? " " : "", from, i - 1);
	}
	return text;
}

static void report_ranges(struct report *r, const char *name, const char *label,
                          const uint64_t *words, unsigned n)
{
	char text[TEXT];
	write_ranges(text, words, n);
	if (text[0])
		report_text(r, name, label, text);
}

const char *normal_steps(char text[NORMAL_STEPS], uint32_t steps)
{
	size_t at = 0;
	for (unsigned i = 0; i < STEPS; i++)
		if (steps >> i & 1)
			at += (size_t)snprintf(text + at, NORMAL_STEPS - at, "%s%s",
			                       at ? ", " : "", names[i]);
	if (!at)
		snprintf(text, NORMAL_STEPS, "nothing");
	return text;
}

const char *normal_options(char text[NORMAL_STEPS], uint32_t steps)
{
	size_t at = 0;
	for (unsigned i = 0; i < STEPS; i++)
		if (steps >> i & 1)
			at += (size_t)snprintf(text + at, NORMAL_STEPS - at, "%s--%s",
			                       at ? " " : "", names[i]);
	if (!at)
		snprintf(text, NORMAL_STEPS, "--plain-keys");
	return text;
}

const char *rate_label(const struct weir_text *n)
{
	return weir_text_most(n) > 1 ? "rate of one lookup" : "rate asked";
}

void report_normal(struct report *r, const struct weir_text *n, double rate)
{
	char steps[NORMAL_STEPS];
	if (!n->steps)
		return;
	report_text(r, "normalised", "done to keys", normal_steps(steps, n->steps));
	report_ranges(r, "ipv4_lengths", "IPv4 lengths", &n->ipv4, 33);
	report_ranges(r, "ipv6_lengths", "IPv6 lengths", n->ipv6, 129);
	report_ranges(r, "labels", "labels of domains", n->labels, 128);
	uint32_t most = weir_text_most(n);
	report_count(r, "lookups", most > 1 ? "lookups an answer" : NULL, most);
	/* The probability that at least one of the probes is a false positive. The simpler bound
	 * rate * most may exceed 1. */
	report_rate(r, "fp_rate_answer", most > 1 ? "rate of an answer" : NULL,
	            rate < 1 ? -expm1(most * log1p(-rate)) : 1);
}

void normal_raised(const char *path, const struct weir_text *before,
                   const struct weir_text *now, double rate)
{
	const uint32_t had = weir_text_most(before), has = weir_text_most(now);
	if (has > had)
		say("%s: an answer takes %u lookups now, and took %u: its rate is up to %s, not "
		    "%s; weir build makes a set for the rate that is asked",
		    path, has, had, show_rate(SHOW, has * rate), show_rate(SHOW, had * rate));
}
