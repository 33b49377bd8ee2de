/* SPDX-License-Identifier: MIT
 * Reports: figures that are collected once and printed as lines or as JSON. Also tables of text,
 * and images as metrics. */
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
	const char *align; /* a letter per column: 'l' left, 'r' right */
	char **cells;
	size_t n;
};

#define TABLE_INIT(align) { align, NULL, 0 }

/* Adds the next cell, row by row. */
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

/* Add a figure to both forms; @label NULL: to JSON only. In JSON a count above INT64_MAX is a
 * string of its digits. */
void report_count(struct report *report, const char *key, const char *label, uint64_t value);
void report_bytes(struct report *report, const char *key, const char *label, uint64_t value);
void report_rate(struct report *report, const char *key, const char *label, double value);
void report_real(struct report *report, const char *key, const char *label, double value);
/* Adds a number of keys estimated from the bits. It is infinite, and null in JSON, if every bit is
 * set. */
void report_estimate(struct report *report, const char *key, const char *label, double value);
void report_text(struct report *report, const char *key, const char *label, const char *value);
void report_bool(struct report *report, const char *key, const char *label, bool value);
/* Adds a filter's kind and the numbers of its shape: to JSON by name, to the lines in words. */
void report_shape(struct report *report, const struct weir_shape *shape);
/* Adds a key of any bytes to JSON only, escaped like a name if it is not UTF-8. */
void report_bytes_of(struct report *report, const char *key, const char *bytes, size_t len);
/* Adds the share of bits set, of counters above 0, or of places taken. */
void report_fill(struct report *report, const struct weir_stats *stats);
/* Does the kind count keys in counters that can be full? */
bool has_counters(uint32_t kind);
/* Adds the number of full counters, if the kind has counters. */
void report_stuck(struct report *report, const struct weir_stats *stats);
/* Adds a line for people, but nothing to JSON. */
void report_line(struct report *report, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds whether the hashes are uneven. */
void report_uneven(struct report *report, const struct weir_stats *stats);

/* Prints a message if the set has more keys than room, and one if its hashes are not uniform.
 * @advice: the end of the first. */
void report_saturated(const char *path, const struct weir_stats *stats, const char *advice);

void report_print(const struct report *report, bool as_json, FILE *to);
/* Prints any JSON value in the style of this command. */
void print_json(const json_t *json, FILE *to);

/* Prints any JSON value on one line, without a newline. */
void put_json(const json_t *json, FILE *to);

/* Sets a member of an object and takes over @value. Exits if memory is short. */
void json_put(json_t *object, const char *key, json_t *value);

/* ---- normalisation ---- */

enum { NORMAL_STEPS = 64 };

/* Writes the steps as words: "trim, cidr", or "nothing". */
const char *normal_steps(char text[NORMAL_STEPS], uint32_t steps);
/* Writes the steps as options of weir build: "--trim --cidr", or "--plain-keys". */
const char *normal_options(char text[NORMAL_STEPS], uint32_t steps);

/* Return: the label of the rate that a filter was made for. */
const char *rate_label(const struct weir_text *n);

/* Adds the steps and the lookups per answer. @rate: of one lookup. The rate of an answer is up to
 * @rate times its lookups. */
void report_normal(struct report *r, const struct weir_text *n, double rate);

/* Prints a message if new lengths of keys cost more lookups per answer, and so raise its rate.
 * @rate: of one lookup. */
void normal_raised(const char *path, const struct weir_text *before,
                   const struct weir_text *now, double rate);

/* ---- images as Prometheus text, for node_exporter's textfile collector ---- */

/* An image and its figures. */
struct sample {
	const char *path; /* its label */
	struct weir_image_info info;
	struct weir_stats stats; /* sampled is 0 if its bits were not read */
	struct timespec modified;
};

void prometheus_print(const struct sample *samples, size_t n, FILE *to);
/* Prints the metrics of any objects. Their figures must not change during the call. */
void prometheus_write(const struct weir_metrics *of, size_t n, FILE *to);

#endif
