/* SPDX-License-Identifier: MIT
 * Reports collect figures once and print them as lines or as JSON. This header also declares tables
 * of text and the metrics of images. */
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

/* Appends a cell. Cells fill the rows from left to right. */
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

/* Each of these calls adds a figure to the lines and to JSON, or only to JSON if @label is NULL. In
 * JSON, a count above INT64_MAX is a string of digits. */
void report_count(struct report *report, const char *key, const char *label, uint64_t value);
void report_bytes(struct report *report, const char *key, const char *label, uint64_t value);
void report_rate(struct report *report, const char *key, const char *label, double value);
void report_real(struct report *report, const char *key, const char *label, double value);
/* Adds an estimated number of keys. If every bit is set, the estimate is infinite, and JSON gets
 * null. */
void report_estimate(struct report *report, const char *key, const char *label, double value);
void report_text(struct report *report, const char *key, const char *label, const char *value);
void report_bool(struct report *report, const char *key, const char *label, bool value);
/* Adds a filter's kind and shape. JSON gets the numbers of the shape by name, and the lines get a
 * description. */
void report_shape(struct report *report, const struct weir_shape *shape);
/* Adds a key of any bytes to JSON only. A key that is not UTF-8 is escaped. */
void report_bytes_of(struct report *report, const char *key, const char *bytes, size_t len);
/* Adds the share of bits set, of counters above 0, or of slots in use, depending on the kind. */
void report_fill(struct report *report, const struct weir_stats *stats);
/* Return: true if the kind has counters, which can saturate. */
bool has_counters(uint32_t kind);
/* Adds the number of saturated counters, if the kind has counters. */
void report_stuck(struct report *report, const struct weir_stats *stats);
/* Adds a line without a counterpart in JSON. */
void report_line(struct report *report, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds whether the hashes of the keys are non-uniform: "unknown", "no" or "yes". */
void report_uneven(struct report *report, const struct weir_stats *stats);

/* Warns if the set has more keys than its capacity, and warns if its hashes are not uniform.
 * @advice: the end of the first warning; not used if the kind stores copies of keys. */
void report_saturated(const char *path, const struct weir_stats *stats, const char *advice);

void report_print(const struct report *report, bool as_json, FILE *to);
/* Prints any JSON value in the style of this command. */
void print_json(const json_t *json, FILE *to);

/* Prints any JSON value on one line, without a newline. */
void put_json(const json_t *json, FILE *to);

/* Sets a member of an object, and takes ownership of @value. Exits with a message if memory is
 * short. */
void json_put(json_t *object, const char *key, json_t *value);

/* ---- normalisation ---- */

enum { NORMAL_STEPS = 64 };

/* Writes the steps as words: "trim, cidr", or "nothing". */
const char *normal_steps(char text[NORMAL_STEPS], uint32_t steps);
/* Writes the steps as options of weir build: "--trim --cidr", or "--plain-keys". */
const char *normal_options(char text[NORMAL_STEPS], uint32_t steps);

/* Return: the label of the rate that a filter was made for. The label depends on whether an answer
 * takes one lookup or several. */
const char *rate_label(const struct weir_text *n);

/* Adds the normalisation steps, the number of lookups per answer, and the rate of an answer. @rate:
 * the rate of one lookup. */
void report_normal(struct report *r, const struct weir_text *n, double rate);

/* Warns if an answer takes more lookups with @now than with @before, which raises the rate of the
 * answer. @rate: the rate of one lookup. */
void normal_raised(const char *path, const struct weir_text *before,
                   const struct weir_text *now, double rate);

/* ---- images as Prometheus text, for node_exporter's textfile collector ---- */

/* An image with its figures. */
struct sample {
	const char *path; /* printed as the label "image" */
	struct weir_image_info info;
	struct weir_stats stats; /* stats.sampled is 0 if the bits were not read */
	struct timespec modified;
};

void prometheus_print(const struct sample *samples, size_t n, FILE *to);
/* Prints the metrics of @n objects. The figures of the objects must not change during the call. */
void prometheus_write(const struct weir_metrics *of, size_t n, FILE *to);

#endif
