/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/metrics.h>
#include "options.h"
#include "report.h"

enum { LABELS_ROOM = NAME_MOST + 32 };

/* A part whose name a newer one has is passed over: the same labels may stand once only. */
static bool is_newest(const struct report_part *parts, const struct report_part *part)
{
	while (parts != part && strcmp(parts->name, part->name) != 0)
		parts = parts->next;
	return parts == part;
}

static int sets_of(const struct report_part *parts, struct weir_metrics_set *sets,
                   char (*labels)[LABELS_ROOM])
{
	int n = 0;
	for (const struct report_part *p = parts; p; p = p->next) {
		if (!is_newest(parts, p))
			continue;
		for (int allow = 0; allow <= (p->allow != NULL); allow++, n++) {
			snprintf(labels[n], LABELS_ROOM, "list=\"%s\",set=\"%s\"", p->name,
			         allow ? "allow" : "block");
			sets[n].handle = allow ? p->allow : p->block;
			sets[n].labels = labels[n];
		}
	}
	return n;
}

/* Two calls, since the first only measures; digits may be added between them. */
static int write_sets(FILE *to, const struct weir_metrics_set *sets, int n)
{
	int64_t bytes = weir_handles_metrics(sets, (size_t)n, NULL, 0);
	for (size_t room = 0; bytes >= (int64_t)room;) {
		room = (size_t)bytes + 1024;
		char *text = malloc(room);
		if (!text)
			return -1;
		bytes = weir_handles_metrics(sets, (size_t)n, text, room);
		if (bytes >= 0 && bytes < (int64_t)room)
			fputs(text, to);
		free(text);
	}
	return bytes < 0 ? -1 : 0;
}

static void head(FILE *to, const char *metric, const char *help)
{
	fprintf(to, "# HELP %s %s\n# TYPE %s counter\n", metric, help, metric);
}

static void line(FILE *to, const char *metric, const char *name, const char *more, uint64_t value)
{
	fprintf(to, "%s{list=\"%s\"%s} %llu\n", metric, name, more, (unsigned long long)value);
}

static void write_counts(FILE *to, const struct report_part *parts)
{
	static const struct {
		enum count what;
		const char *metric, *more, *help; /* help: where a metric begins */
	} rows[] = {
		{ COUNT_QUERIES, "weir_bind_queries_total", "",
		  "Names that were looked up, the targets of CNAMEs among them." },
		{ COUNT_NXDOMAIN, "weir_bind_blocked_total", ",answer=\"nxdomain\"",
		  "Of those, answered by the plugin." },
		{ COUNT_NODATA, "weir_bind_blocked_total", ",answer=\"nodata\"", NULL },
		{ COUNT_ADDRESS, "weir_bind_blocked_total", ",answer=\"address\"", NULL },
		{ COUNT_ALLOWED, "weir_bind_allowed_total", "",
		  "In the set, and passed on, since the allow list has them." },
		{ COUNT_NOT_READY, "weir_bind_not_ready_total", "",
		  "Names that came before there was an image." },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].help)
			head(to, rows[i].metric, rows[i].help);
		for (const struct report_part *p = parts; p; p = p->next) {
			uint64_t sums[COUNTS];
			if (!is_newest(parts, p))
				continue;
			counts_sum(p->list, sums);
			line(to, rows[i].metric, p->name, rows[i].more, sums[rows[i].what]);
		}
	}
}

char *text_of(const struct report_part *parts)
{
	size_t n = 0, bytes;
	for (const struct report_part *p = parts; p; p = p->next)
		n += 2;
	struct weir_metrics_set *sets = calloc(n + 1, sizeof *sets);
	char (*labels)[LABELS_ROOM] = calloc(n + 1, sizeof *labels), *text = NULL;
	FILE *to = open_memstream(&text, &bytes);
	int result = -1;
	if (sets && labels && to) {
		result = write_sets(to, sets, sets_of(parts, sets, labels));
		write_counts(to, parts);
		if (ferror(to))
			result = -1;
	}
	if (to && fclose(to) != 0)
		result = -1;
	free(sets);
	free(labels);
	if (result < 0) {
		free(text);
		text = NULL;
	}
	return text;
}
