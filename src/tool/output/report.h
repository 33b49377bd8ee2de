/* SPDX-License-Identifier: MIT
 * Figures about one thing, as lines or as a JSON object: collected once, printed either way. */
#ifndef WEIR_TOOL_REPORT_H
#define WEIR_TOOL_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <weir/filter.h>
#include "table.h"

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
/* The counters that are full, of kinds that have counters. */
void report_stuck(struct report *report, const struct weir_stats *stats);
/* A line for people alone. */
void report_line(struct report *report, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A message if more keys are in the set than it has room for. @advice: its end. */
void report_saturated(const char *path, const struct weir_stats *stats, const char *advice);

void report_print(const struct report *report, bool as_json, FILE *to);
/* Any JSON value, in the one style of this command. */
void print_json(const json_t *json, FILE *to);

/* Likewise, but on one line and without its end. */
void put_json(const json_t *json, FILE *to);

/* Set a member of an object, or exit for want of memory. Takes @value over. */
void json_put(json_t *object, const char *key, json_t *value);

#endif
