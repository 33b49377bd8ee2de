/* SPDX-License-Identifier: MIT
 * Prints samples grouped by name, and also counts the bytes that do not fit. Labels that a scraper
 * could not read are refused when added, so that an operator sees the error. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "metrics/exposition.h"

/* ---- labels ---- */

static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char *const digits = "0123456789";

/* Return: the end of a name; NULL: the name is not valid. Prometheus reserves names that begin with
 * __, so they are not valid. */
static const char *after_name(const char *at)
{
	const char *begin = at;
	at += strspn(at, letters);
	if (at == begin || strncmp(begin, "__", 2) == 0)
		return NULL;
	while (*at && (strchr(letters, *at) || strchr(digits, *at)))
		at++;
	return at;
}

/* Return: the end of a value in quotes; NULL: the value is not valid. */
static const char *after_value(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at && *at != '"') {
		if (*at == '\\' && (!at[1] || !strchr("\\\"n", at[1])))
			return NULL;
		at += *at == '\\' ? 2 : 1;
	}
	return *at == '"' ? at + 1 : NULL;
}

/* Return: true if a label before @name has the same name. */
static bool is_duplicate(const char *labels, const char *name, size_t length)
{
	for (const char *at = labels; at < name; at++) {
		const char *end = after_name(at);
		if ((size_t)(end - at) == length && memcmp(at, name, length) == 0)
			return true;
		at = after_value(end + 1); /* at++ skips the comma */
	}
	return false;
}

static int refuse(const char *labels, const char *at, const char *what)
{
	return weir__fail(-EINVAL, "labels: byte %zu: %s; allowed: name=\"value\",..., with \\\\, "
	                  "\\\" and \\n escaped", (size_t)(at - labels), what);
}

/* Return: the first byte that weir_escape() would change, or the end. */
static const char *after_printable(const char *at)
{
	const char *end = at + strlen(at);
	char shown[32]; /* room for at least one character */
	while (at < end) {
		const char *same = shown;
		weir_escape(shown, sizeof shown, at, (size_t)(end - at));
		while (*same && *at == *same) {
			at++;
			same++;
		}
		if (*same)
			break;
	}
	return at;
}

int weir__labels_check(const char *labels)
{
	if (!labels || !*labels)
		return 0;
	const char *unprintable = after_printable(labels);
	if (*unprintable)
		return refuse(labels, unprintable, "not printable UTF-8");
	for (const char *at = labels;; at++) {
		const char *end = after_name(at);
		if (!end)
			return refuse(labels, at, "no name of a label");
		if (*end != '=')
			return refuse(labels, end, "no = after the name");
		if (is_duplicate(labels, at, (size_t)(end - at)))
			return refuse(labels, at, "a name is there twice");
		at = after_value(end + 1);
		if (!at)
			return refuse(labels, end + 1, "no value in quotes");
		if (!*at)
			return 0;
		if (*at != ',')
			return refuse(labels, at, "no comma after the value");
	}
}

/* ---- the text ---- */

int weir__samples_add(struct weir__samples *to, const char *labels, const struct weir_metric *of,
                      size_t n)
{
	if (to->room - to->n < n) {
		const size_t room = 2 * to->room + n;
		struct weir__sample *more = realloc(to->of, room * sizeof *more);
		if (!more)
			return weir__fail(-ENOMEM, "no memory for %zu metrics", room);
		to->of = more;
		to->room = room;
	}
	for (size_t i = 0; i < n; i++)
		if (!isnan(of[i].value))
			to->of[to->n++] = (struct weir__sample){ of[i], labels };
	return 0;
}

struct text {
	char *at;
	size_t room;
	int64_t length; /* bytes of the whole text, including those that do not fit */
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(t->at, t->room, format, args);
	va_end(args);
	size_t fits = (size_t)n < t->room ? (size_t)n : t->room ? t->room - 1 : 0;
	t->at += fits;
	t->room -= fits;
	t->length += n;
}

/* 15 digits print every count below 10^15 exactly. */
static void put_line(struct text *t, const struct weir__sample *s)
{
	const double value = s->metric.value;
	put(t, "%s", s->metric.name);
	if (s->labels && *s->labels)
		put(t, "{%s}", s->labels);
	if (isinf(value))
		put(t, " %cInf\n", value < 0 ? '-' : '+');
	else
		put(t, " %.15g\n", value);
}

int64_t weir__samples_print(struct weir__samples *s, char *buffer, size_t bytes)
{
	struct text t = { .at = buffer, .room = bytes };
	if (bytes)
		*buffer = '\0';
	for (size_t i = 0; i < s->n; i++) {
		const struct weir_metric m = s->of[i].metric;
		if (!m.name)
			continue;
		put(&t, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name,
		    m.counter ? "counter" : "gauge");
		for (size_t j = i; j < s->n; j++) {
			const char *name = s->of[j].metric.name;
			if (!name || (name != m.name && strcmp(name, m.name) != 0))
				continue;
			put_line(&t, &s->of[j]);
			s->of[j].metric.name = NULL;
		}
	}
	return t.length;
}
