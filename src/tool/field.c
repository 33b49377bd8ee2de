/* SPDX-License-Identifier: MIT
 * A field of a line of fields. A line without a quote is cut at its delimiters; the others are
 * read by libcsv (RFC 4180). Where tabs are between fields, quotes are bytes as others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "keyer.h"
#include "say.h"

static bool lacks(const struct keyer *k, uint32_t has, const char **why)
{
	static _Thread_local char text[80];
	snprintf(text, sizeof text, "field %u is asked for, and the line has %u", k->how->field,
	         has);
	*why = text;
	return false;
}

static bool plain(struct keyer *k, struct iovec line, const char **why)
{
	const char *at = line.iov_base, *end = at + line.iov_len;
	for (uint32_t n = 1;; n++) {
		const char *stop = memchr(at, k->how->delimiter, (size_t)(end - at));
		if (n == k->how->field) {
			stop = stop ? stop : end;
			return keyer_text(k, (struct iovec){ (void *)at, (size_t)(stop - at) },
			                  why);
		}
		if (!stop)
			return lacks(k, n, why);
		at = stop + 1;
	}
}

#ifdef WEIR_HAVE_CSV
#include <csv.h>

struct quoted {
	struct keyer *k;
	uint32_t fields;
	bool ended; /* a line within the line */
	struct iovec found;
};

static void field_read(void *bytes, size_t len, void *arg)
{
	struct quoted *q = arg;
	if (++q->fields != q->k->how->field)
		return;
	q->found = (struct iovec){ keyer_bytes(q->k, len ? len : 1), len };
	if (len)
		memcpy(q->found.iov_base, bytes, len);
}

/* A carriage return, or with -0 a newline, that is in no quotes; at the end of the line it is
 * csv_fini() that calls. */
static void row_read(int end, void *arg)
{
	struct quoted *q = arg;
	q->ended |= end != -1;
}

static int no_space(unsigned char c)
{
	(void)c;
	return 0;
}

static struct csv_parser *parser(struct keyer *k)
{
	if (k->csv)
		return k->csv;
	k->csv = need(sizeof *k->csv);
	if (csv_init(k->csv, CSV_STRICT | CSV_STRICT_FINI))
		exit(trouble("libcsv does not start"));
	csv_set_delim(k->csv, (unsigned char)k->how->delimiter);
	csv_set_space_func(k->csv, no_space); /* blanks are part of a field */
	return k->csv;
}

static bool quoted(struct keyer *k, struct iovec line, const char **why)
{
	struct quoted q = { .k = k };
	struct csv_parser *csv = parser(k);
	bool whole = csv_parse(csv, line.iov_base, line.iov_len, field_read, row_read, &q) ==
	             line.iov_len && csv_fini(csv, field_read, row_read, &q) == 0;
	if (!whole || q.ended) {
		field_end(k); /* in whatever state it is */
		*why = q.ended ? "a carriage return or newline between fields, outside of quotes" :
		                 "a quote within a field, or one that no other ends on its line";
		return false;
	}
	return q.found.iov_base ? keyer_text(k, q.found, why) : lacks(k, q.fields, why);
}

void field_end(struct keyer *k)
{
	if (k->csv)
		csv_free(k->csv);
	free(k->csv);
	k->csv = NULL;
}
#else
static bool quoted(struct keyer *k, struct iovec line, const char **why)
{
	(void)k, (void)line;
	*why = "a quote, and this weir was built without libcsv: build it with libcsv-dev "
	       "installed, or write the file without quotes";
	return false;
}

void field_end(struct keyer *k)
{
	(void)k;
}
#endif

bool field_text(struct keyer *k, struct iovec line, const char **why)
{
	const char *text = line.iov_base;
	if (line.iov_len && text[line.iov_len - 1] == '\r')
		line.iov_len--;
	return k->how->delimiter != '\t' && line.iov_len && memchr(text, '"', line.iov_len) ?
	               quoted(k, line, why) : plain(k, line, why);
}
