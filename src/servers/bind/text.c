/* SPDX-License-Identifier: MIT
 * The text of a statistics file: the library's metrics of each handle, and the plugin's counts. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/metrics.h>
#include "options.h"
#include "report.h"

enum { LABELS_ROOM = NAME_MOST + 32 };

static const struct row {
	enum count what;
	const char *name, *help;
} rows[] = {
	{ COUNT_QUERIES, "weir_bind_queries_total",
	  "Names that were looked up, the targets of CNAMEs among them." },
	{ COUNT_ALLOWED, "weir_bind_allowed_total",
	  "In the set, and passed on, since the allow list has them." },
	{ COUNT_NOT_READY, "weir_bind_not_ready_total",
	  "Names that came before there was an image." },
#define BLOCKED "weir_bind_blocked_total", "Of the names, answered by the plugin."
	{ COUNT_NXDOMAIN, BLOCKED },
	{ COUNT_NODATA, BLOCKED },
	{ COUNT_ADDRESS, BLOCKED },
};

/* The labels of a handle's metrics, or a list's counts with their labels. */
struct line {
	char labels[LABELS_ROOM];
	const struct row *row;
	uint32_t rows;
	uint64_t counts[COUNTS];
};

/* All metrics of one text. */
struct lines {
	struct weir_metrics *of;
	struct line *lines;
	size_t n;
};

/* Return: false if a newer part has the same name. Then @part is left out, since labels must be
 * unique. */
static bool is_newest(const struct report_part *parts, const struct report_part *part)
{
	while (parts != part && strcmp(parts->name, part->name) != 0)
		parts = parts->next;
	return parts == part;
}

static int next_count(const void *object, uint32_t i, struct weir_metric *out)
{
	const struct line *line = object;
	const struct row *row = &line->row[i];
	if (i >= line->rows)
		return 0;
	*out = (struct weir_metric){ row->name, row->help, (double)line->counts[row->what], 1, 0 };
	return 1;
}

static void __attribute__((format(printf, 3, 4))) add(struct lines *to, struct weir_metrics of,
                                                      const char *labels, ...)
{
	va_list args;
	va_start(args, labels);
	vsnprintf(to->lines[to->n].labels, LABELS_ROOM, labels, args);
	va_end(args);
	of.labels = to->lines[to->n].labels;
	to->of[to->n++] = of;
}

static void add_counts(struct lines *to, const struct report_part *p, const char *answer,
                       unsigned row, uint32_t n)
{
	struct line *line = &to->lines[to->n];
	line->row = &rows[row];
	line->rows = n;
	counts_sum(p->list, line->counts);
	add(to, weir_metrics_other(line, next_count, NULL), "list=\"%s\"%s", p->name, answer);
}

enum { LINES_OF_A_PART = 6 };

static void add_part(struct lines *to, const struct report_part *p)
{
	add(to, weir_metrics_handle(p->block, NULL), "list=\"%s\",set=\"block\"", p->name);
	if (p->allow)
		add(to, weir_metrics_handle(p->allow, NULL), "list=\"%s\",set=\"allow\"",
		    p->name);
	add_counts(to, p, "", 0, 3);
	add_counts(to, p, ",answer=\"nxdomain\"", 3, 1);
	add_counts(to, p, ",answer=\"nodata\"", 4, 1);
	add_counts(to, p, ",answer=\"address\"", 5, 1);
}

/* The first call of weir_metrics_write() only measures the text. Counts may gain digits until
 * a later call writes the text. If the buffer is too small by then, retry. */
static char *write_text(const struct lines *lines)
{
	char *text = NULL;
	int64_t bytes = weir_metrics_write(lines->of, lines->n, NULL, 0);
	for (size_t room = 0; bytes >= (int64_t)room;) {
		room = (size_t)bytes + 1024;
		free(text);
		text = malloc(room);
		if (!text)
			return NULL;
		bytes = weir_metrics_write(lines->of, lines->n, text, room);
	}
	if (bytes >= 0)
		return text;
	free(text);
	return NULL;
}

char *text_of(const struct report_part *parts)
{
	size_t n = 0;
	for (const struct report_part *p = parts; p; p = p->next)
		n += LINES_OF_A_PART;
	struct lines lines = { calloc(n + 1, sizeof *lines.of), calloc(n + 1, sizeof *lines.lines),
		               0 };
	char *text = NULL;
	if (lines.of && lines.lines) {
		for (const struct report_part *p = parts; p; p = p->next)
			if (is_newest(parts, p))
				add_part(&lines, p);
		text = write_text(&lines);
	}
	free(lines.of);
	free(lines.lines);
	return text;
}
