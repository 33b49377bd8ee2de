/* SPDX-License-Identifier: MIT
 * Prometheus text by one writer that counts what does not fit. Labels that a scraper could not read
 * are refused here, where an operator reads the sentence. */
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

/* The end of a name, or NULL. Those that begin with __ are Prometheus's own. */
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

/* Of a value in quotes likewise. */
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

/* Does a name stand among those before it? */
static bool is_double(const char *labels, const char *name, size_t length)
{
	for (const char *at = labels; at < name; at++) {
		const char *end = after_name(at);
		if ((size_t)(end - at) == length && memcmp(at, name, length) == 0)
			return true;
		at = after_value(end + 1); /* its comma */
	}
	return false;
}

static int refuse(const char *labels, const char *at, const char *what)
{
	return weir__fail(-EINVAL, "labels: byte %zu: %s; allowed: name=\"value\",..., with \\\\, "
	                  "\\\" and \\n escaped", (size_t)(at - labels), what);
}

int weir__labels_check(const char *labels)
{
	char shown[WEIR_SENTENCE_BYTES];
	if (!labels || !*labels)
		return 0;
	size_t n = strlen(labels), fits = weir_escape(shown, sizeof shown, labels, n);
	if (fits < n || strcmp(shown, labels))
		return weir__fail(-EINVAL, "labels: %zu bytes: allowed: printable UTF-8, at most "
		                  "%d bytes", n, WEIR_SENTENCE_BYTES - 1);
	for (const char *at = labels;; at++) {
		const char *end = after_name(at);
		if (!end)
			return refuse(labels, at, "no name of a label");
		if (*end != '=')
			return refuse(labels, end, "no = after the name");
		if (is_double(labels, at, (size_t)(end - at)))
			return refuse(labels, at, "a name that stands there twice");
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

struct series {
	const char *labels;
	double value[WEIR__METRICS];
};

struct text {
	char *at;
	size_t room;
	int64_t length; /* of all of it */
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

/* To 15 digits, which hold every count that is not an estimate. */
static void put_value(struct text *t, double value)
{
	if (isinf(value))
		put(t, "+Inf\n");
	else
		put(t, "%.15g\n", value);
}

static void put_row(struct text *t, const struct weir__metric *m, unsigned row,
                    const struct series *series, size_t n)
{
	put(t, "# HELP weir_%s %s\n# TYPE weir_%s %s\n", m->name, m->help, m->name, m->type);
	for (size_t i = 0; i < n; i++) {
		const char *labels = series[i].labels;
		if (labels && *labels)
			put(t, "weir_%s{%s} ", m->name, labels);
		else
			put(t, "weir_%s ", m->name);
		put_value(t, series[i].value[row]);
	}
}

static int check(const struct weir__subjects *s, const void *array, size_t n, const char *buffer,
                 size_t bytes)
{
	int err = 0;
	if ((n && !array) || (bytes && !buffer))
		return weir__fail(-EINVAL, "%s is NULL: %s needs it",
		                  n && !array ? s->array : "buffer", s->verb);
	for (size_t i = 0; !err && i < n; i++) {
		const char *labels;
		err = s->given(array, i, &labels) ? weir__labels_check(labels) :
		      weir__fail(-EINVAL, "%s %zu is NULL: %s needs it", s->what, i, s->verb);
	}
	return err;
}

int64_t weir__exposition(const struct weir__subjects *s, const void *array, size_t n, char *buffer,
                         size_t bytes)
{
	struct text t = { .at = buffer, .room = bytes };
	struct series one, *series = &one;
	int err = check(s, array, n, buffer, bytes);
	if (err)
		return err;
	if (n > 1)
		series = calloc(n, sizeof *series);
	if (!series)
		return weir__fail(-ENOMEM, "no memory for the metrics of %zu %ss", n, s->what);
	if (bytes)
		*buffer = '\0';
	for (size_t i = 0; i < n; i++) {
		s->given(array, i, &series[i].labels);
		s->values(array, i, series[i].value);
	}
	for (unsigned row = 0; n && row < s->rows; row++)
		put_row(&t, &s->table[row], row, series, n);
	if (n > 1)
		free(series);
	return t.length;
}
