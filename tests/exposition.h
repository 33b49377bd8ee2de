/* SPDX-License-Identifier: MIT
 * A reader of Prometheus text (exposition format 0.0.4), stricter than Prometheus itself. Each
 * metric has one HELP line, then one TYPE line, then its series, and no series appears twice. */
#ifndef WEIR_TESTS_EXPOSITION_H
#define WEIR_TESTS_EXPOSITION_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/metrics.h>

enum { EXPOSITION_MOST = 200 };

struct exposition {
	unsigned n, series;
	char names[EXPOSITION_MOST][80], types[EXPOSITION_MOST][16];
	char lines[EXPOSITION_MOST][800]; /* name and labels of each series */
	double values[EXPOSITION_MOST];
	const char *fault; /* the first fault; NULL: none */
};

static inline int64_t exposition_of(struct weir_metrics m, char *buffer, size_t bytes)
{
	return weir_metrics_write(&m, 1, buffer, bytes);
}

static inline size_t exposition_name(const char *at, bool of_metric)
{
	size_t n = 0;
	while (isalpha((unsigned char)at[n]) || at[n] == '_' || (of_metric && at[n] == ':') ||
	       (n && isdigit((unsigned char)at[n])))
		n++;
	return n;
}

/* Return: the position after {labels}, or NULL if the labels are malformed. */
static inline const char *exposition_labels(const char *at)
{
	if (*at != '{')
		return at;
	do {
		size_t n = exposition_name(++at, false);
		if (!n || strncmp(at += n, "=\"", 2))
			return NULL;
		for (at += 2; *at && *at != '"' && *at != '\n'; at++)
			if (*at == '\\' && !(*++at && strchr("\\\"n", *at)))
				return NULL;
		if (*at++ != '"')
			return NULL;
	} while (*at == ',');
	return *at == '}' ? at + 1 : NULL;
}

static inline const char *exposition_series(struct exposition *e, const char *line)
{
	const char *metric = e->names[e->n - 1], *type = e->types[e->n - 1];
	size_t n = exposition_name(line, true);
	if (n != strlen(metric) || strncmp(line, metric, n))
		return "a line that is not of the metric above it";
	const char *at = exposition_labels(line + n);
	char *end;
	if (!at || *at != ' ' || (size_t)(at - line) >= sizeof e->lines[0])
		return "labels that are none";
	if (e->series == EXPOSITION_MOST)
		return "more lines than there is room for";
	char *key = e->lines[e->series];
	memcpy(key, line, (size_t)(at - line));
	key[at - line] = '\0';
	for (unsigned i = 0; i < e->series; i++)
		if (strcmp(e->lines[i], key) == 0)
			return "a line that stands there twice";
	double value = strtod(++at, &end);
	if (end == at || *end != '\n' || isspace((unsigned char)*at))
		return "no number";
	e->values[e->series++] = value;
	n = strlen(metric);
	bool total = n > 6 && strcmp(metric + n - 6, "_total") == 0;
	if (total != (strcmp(type, "counter") == 0) || (total && value < 0))
		return "a counter is called _total, nothing else is";
	return NULL;
}

static inline const char *exposition_line(struct exposition *e, const char *line)
{
	static bool typed; /* the current metric has a TYPE line */
	char name[80], type[16];
	int taken = 0;
	if (strncmp(line, "# HELP ", 7) == 0) {
		if (e->n == EXPOSITION_MOST || sscanf(line, "# HELP %79s %n", name, &taken) < 1 ||
		    !taken || exposition_name(name, true) != strlen(name) || line[taken] == '\n')
			return "no HELP with a name and a text";
		if (e->n && !e->series)
			return "a metric without a line";
		for (unsigned i = 0; i < e->n; i++)
			if (strcmp(e->names[i], name) == 0)
				return "a metric that stands there twice";
		strcpy(e->names[e->n++], name);
		typed = false;
		return NULL;
	}
	if (strncmp(line, "# TYPE ", 7) == 0) {
		if (!e->n || typed || sscanf(line, "# TYPE %79s %15s%n", name, type, &taken) < 2 ||
		    line[taken] != '\n' || strcmp(name, e->names[e->n - 1]) ||
		    (strcmp(type, "gauge") && strcmp(type, "counter")))
			return "no TYPE of the metric above it";
		strcpy(e->types[e->n - 1], type);
		typed = true;
		return NULL;
	}
	return e->n && typed ? exposition_series(e, line) : "a line before HELP and TYPE";
}

/* Read a whole text. Return: false after a fault, which is stored in @e and printed. */
static inline bool exposition_read(struct exposition *e, const char *text)
{
	memset(e, 0, sizeof *e);
	for (const char *line = text; *line && !e->fault; line = strchr(line, '\n') + 1) {
		e->fault = strchr(line, '\n') ? exposition_line(e, line) : "a line without end";
		if (e->fault) {
			fprintf(stderr, "%s: %.200s\n", e->fault, line);
			break;
		}
	}
	return !e->fault;
}

/* Return: the value of the series with this name and these labels, or NULL if it is missing. */
static inline const double *exposition_value(const struct exposition *e, const char *series)
{
	for (unsigned i = 0; i < e->series; i++)
		if (strcmp(e->lines[i], series) == 0)
			return &e->values[i];
	return NULL;
}

#endif
