/* SPDX-License-Identifier: MIT
 * Figures about one thing, collected once: printed as lines, as JSON, or as metrics. Tables of
 * text. */
#ifndef WEIR_TOOL_REPORT_H
#define WEIR_TOOL_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <weir/filter.h>
#include <weir/weir.h>

/* ---- a table of text, its columns as wide as their widest cell ---- */

struct table {
	const char *align; /* a column a letter: 'l' left, 'r' right */
	char **cells;
	size_t n;
};

#define TABLE_INIT(align) { align, NULL, 0 }

/* The next cell, row by row. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_print(const struct table *table, FILE *to);
void table_free(struct table *table);

/* ---- a report ---- */

struct report {
	json_t *json;
	struct table lines;
};

struct report report_new(void);
void report_free(struct report *report);

/* A figure for both forms; @label NULL: for JSON alone. In JSON a count above INT64_MAX is a string
 * of its digits. */
void report_count(struct report *report, const char *key, const char *label, uint64_t value);
void report_bytes(struct report *report, const char *key, const char *label, uint64_t value);
void report_rate(struct report *report, const char *key, const char *label, double value);
void report_real(struct report *report, const char *key, const char *label, double value);
/* A number of keys estimated from the bits: infinite, and null in JSON, where every bit is
 * set. */
void report_estimate(struct report *report, const char *key, const char *label, double value);
void report_text(struct report *report, const char *key, const char *label, const char *value);
void report_bool(struct report *report, const char *key, const char *label, bool value);
/* A filter's kind and its kind's own numbers by name; people get the two in words. */
void report_shape(struct report *report, const struct weir_shape *shape);
/* A key of any bytes, for JSON alone: escaped as names are if it is not UTF-8. */
void report_bytes_of(struct report *report, const char *key, const char *bytes, size_t len);
/* The share of bits that are set, or of counters above 0. */
void report_fill(struct report *report, const struct weir_stats *stats);
/* Does the kind count keys in counters that can be full? */
bool has_counters(uint32_t kind);
/* The counters that are full, of kinds that have counters. */
void report_stuck(struct report *report, const struct weir_stats *stats);
/* A line for people alone. */
void report_line(struct report *report, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether its hashes are uniform. */
void report_uneven(struct report *report, const struct weir_stats *stats);

/* A message if more keys are in the set than it has room for, and one if its hashes are not
 * uniform.  @advice: the end of the first. */
void report_saturated(const char *path, const struct weir_stats *stats, const char *advice);

void report_print(const struct report *report, bool as_json, FILE *to);
/* Any JSON value, in the one style of this command. */
void print_json(const json_t *json, FILE *to);

/* Likewise, but on one line and without its end. */
void put_json(const json_t *json, FILE *to);

/* Set a member of an object, or exit for want of memory. Takes @value over. */
void json_put(json_t *object, const char *key, json_t *value);

/* ---- what is done to keys ---- */

enum { NORMAL_STEPS = 64 };

/* What is done, "trim, cidr", or "nothing". */
const char *normal_steps(char text[NORMAL_STEPS], uint32_t steps);
/* The options of weir build that do it, "--trim --cidr", or "--plain-keys". */
const char *normal_options(char text[NORMAL_STEPS], uint32_t steps);

/* The name of the rate that a filter was made for. */
const char *rate_label(const struct weir_text *n);

/* @rate: of one lookup: of an answer it is up to so many times as much as there are lookups. */
void report_normal(struct report *r, const struct weir_text *n, double rate);

/* Keys of lengths that a set had none of raise the rate of all answers: a message says so. @rate:
 * of one lookup. */
void normal_raised(const char *path, const struct weir_text *before,
                   const struct weir_text *now, double rate);

/* ---- images as Prometheus text, for node_exporter's textfile collector ---- */

/* An image that was looked at. */
struct sample {
	const char *path; /* its label */
	struct weir_image_info info;
	struct weir_stats stats; /* if its bits were looked at, else sampled is 0 */
	struct timespec modified;
};

void prometheus_print(const struct sample *samples, size_t n, FILE *to);
/* Of any objects, whose figures stay as they are. */
void prometheus_write(const struct weir_metrics *of, size_t n, FILE *to);

#endif
