/* SPDX-License-Identifier: MIT
 * Finds a field of a line, and the column that a header names. A line without quotes is split at
 * its delimiters, and libcsv reads a line with quotes (RFC 4180). If tabs separate fields, quotes
 * are ordinary bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "keyer.h"
#include "output/say.h"

struct row_shape row_shape(const struct keying *how, struct iovec line)
{
	const char *at = line.iov_base, *end = at + line.iov_len;
	const bool quotes = how->delimiter != '\t';
	struct row_shape shape = { .fields = 1 };
	bool begins = true; /* only blanks so far in the field, so a quote may begin it */
	for (; at < end; at++) {
		if (shape.open) {
			if (*at != '"')
				continue;
			if (at + 1 < end && at[1] == '"')
				at++; /* A doubled quote stands for one quote. */
			else
				shape.open = false;
		} else if (*at == how->delimiter) {
			shape.fields++;
			begins = true;
		} else if (*at == '"' && begins && quotes) {
			shape.open = true;
			begins = false;
		} else {
			begins = begins && *at == ' ';
		}
	}
	return shape;
}

static bool lacks(const struct keyer *k, uint32_t has, const char **why)
{
	static _Thread_local char text[80];
	snprintf(text, sizeof text, "field %u is asked for, and the line has %u", k->field, has);
	*why = text;
	return false;
}

static void plain_each(const struct keyer *k, struct iovec line,
                       void (*take)(void *bytes, size_t len, void *arg), void *arg)
{
	char *at = line.iov_base, *end = at + line.iov_len, *stop;
	for (; (stop = memchr(at, k->how->delimiter, (size_t)(end - at))); at = stop + 1)
		take(at, (size_t)(stop - at), arg);
	take(at, (size_t)(end - at), arg);
}

static bool plain(struct keyer *k, struct iovec line, const char **why)
{
	const char *at = line.iov_base, *end = at + line.iov_len;
	for (uint32_t n = 1;; n++) {
		const char *stop = memchr(at, k->how->delimiter, (size_t)(end - at));
		if (n == k->field) {
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

/* The wanted field, which is copied when libcsv reaches it. */
struct wanted {
	struct keyer *k;
	uint32_t fields;
	struct iovec found;
};

static void field_read(void *bytes, size_t len, void *arg)
{
	struct wanted *q = arg;
	if (++q->fields != q->k->field)
		return;
	q->found = (struct iovec){ keyer_bytes(q->k, len ? len : 1), len };
	if (len)
		memcpy(q->found.iov_base, bytes, len);
}

struct row {
	void (*take)(void *bytes, size_t len, void *arg);
	void *arg;
	bool ended; /* a row ended within the line */
};

static void row_field(void *bytes, size_t len, void *arg)
{
	struct row *row = arg;
	row->take(bytes, len, row->arg);
}

/* libcsv calls row_read() at a carriage return outside of quotes. If the option -0 ends lines with
 * NUL, libcsv also calls row_read() at a newline. csv_fini() passes -1 as @end at the end of the
 * line. */
static void row_read(int end, void *arg)
{
	struct row *row = arg;
	row->ended |= end != -1;
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
	k->csv = xmalloc(sizeof *k->csv);
	if (csv_init(k->csv, CSV_STRICT | CSV_STRICT_FINI))
		exit(trouble("libcsv does not start"));
	csv_set_delim(k->csv, (unsigned char)k->how->delimiter);
	csv_set_space_func(k->csv, no_space); /* keep blanks around a field */
	return k->csv;
}

static bool quoted_each(struct keyer *k, struct iovec line,
                        void (*take)(void *bytes, size_t len, void *arg), void *arg,
                        const char **why)
{
	struct row row = { .take = take, .arg = arg };
	struct csv_parser *csv = parser(k);
	bool whole = csv_parse(csv, line.iov_base, line.iov_len, row_field, row_read, &row) ==
	             line.iov_len && csv_fini(csv, row_field, row_read, &row) == 0;
	if (whole && !row.ended)
		return true;
	field_end(k); /* The parser's state is unknown after an error. */
	*why = row.ended ? "a carriage return or newline between fields, outside of quotes" :
	                   "a quote within a field";
	return false;
}

static bool quoted(struct keyer *k, struct iovec line, const char **why)
{
	struct wanted q = { .k = k };
	if (!quoted_each(k, line, field_read, &q, why))
		return false;
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
static bool quoted_each(struct keyer *k, struct iovec line,
                        void (*take)(void *bytes, size_t len, void *arg), void *arg,
                        const char **why)
{
	(void)k, (void)line, (void)take, (void)arg;
	*why = "a quote, and this weir was built without libcsv: build it with libcsv-dev "
	       "installed, or write the file without quotes";
	return false;
}

static bool quoted(struct keyer *k, struct iovec line, const char **why)
{
	return quoted_each(k, line, NULL, NULL, why);
}

void field_end(struct keyer *k)
{
	(void)k;
}
#endif

/* Cuts off the carriage return of a line from Windows. Return: true if libcsv must read the line,
 * because it has quotes and tabs do not separate its fields. */
static bool has_quotes(const struct keyer *k, struct iovec *line)
{
	const char *text = line->iov_base;
	if (line->iov_len && text[line->iov_len - 1] == '\r')
		line->iov_len--;
	return k->how->delimiter != '\t' && line->iov_len && memchr(text, '"', line->iov_len);
}

/* Call for a wrong line. Sets k->open to true if the line's last field continues on the next line.
 * */
static void record_open_quote(struct keyer *k, struct iovec line, const char **why)
{
	k->open = row_shape(k->how, line).open;
	if (k->open)
		*why = "a quote that no other ends on its line: a field over several lines is not "
		       "read: write each row on one line";
}

bool field_text(struct keyer *k, struct iovec line, const char **why)
{
	if (!has_quotes(k, &line))
		return plain(k, line, why);
	const bool right = quoted(k, line, why);
	if (!right)
		record_open_quote(k, line, why);
	return right;
}

bool field_each(struct keyer *k, struct iovec line,
                void (*take)(void *bytes, size_t len, void *arg), void *arg, const char **why)
{
	bool right = true;
	if (has_quotes(k, &line))
		right = quoted_each(k, line, take, arg, why);
	else
		plain_each(k, line, take, arg);
	if (!right)
		record_open_quote(k, line, why);
	return right;
}

/* ---- headers: each file is searched, since two exports rarely have the same columns ---- */

enum { NAMES_SHOWN = 400 }; /* bytes of column names that a message shows */

struct columns {
	struct iovec wanted;
	/* @n: number of columns; @first, @second: the numbers, from 1, of the first two columns
	 * named @wanted; 0: the header lacks such a column */
	uint32_t n, first, second;
	char names[NAMES_SHOWN + 8];
	size_t len;
};

/* Trims blanks around a name, since some writers put a blank after each comma. */
static struct iovec trim_name(const void *bytes, size_t len)
{
	return text_trim((struct iovec){ (void *)(uintptr_t)bytes, len });
}

static void list(struct columns *c, struct iovec name)
{
	if (c->len >= NAMES_SHOWN)
		return;
	const char *comma = c->n > 1 ? ", " : "";
	int room = (int)(NAMES_SHOWN - c->len), len = (int)strlen(comma) + (int)name.iov_len;
	if (name.iov_len < NAMES_SHOWN && len < room) {
		c->len += (size_t)snprintf(c->names + c->len, (size_t)room, "%s%.*s", comma,
		                           (int)name.iov_len, (const char *)name.iov_base);
	} else {
		snprintf(c->names + c->len, sizeof c->names - c->len, "%s...", comma);
		c->len = NAMES_SHOWN;
	}
}

static void take(void *bytes, size_t len, void *arg)
{
	struct columns *c = arg;
	const struct iovec name = trim_name(bytes, len);
	c->n++;
	list(c, name);
	if (name.iov_len != c->wanted.iov_len ||
	    memcmp(name.iov_base, c->wanted.iov_base, name.iov_len) != 0)
		return;
	if (!c->first)
		c->first = c->n;
	else if (!c->second)
		c->second = c->n;
}

/* Return: 1 if exactly one column has the name, or -1 after a message. */
static int check_found(const struct columns *c, const char *file, const char *name)
{
	if (!c->first)
		say("%s: no column is named '%s': its first line has %s%s", file, name, c->names,
		    c->n > 1 ? "" : ": one column; --delimiter=C says what is between two");
	else if (c->second)
		say("%s: columns %u and %u are both named '%s': give the number of one, --field=%u",
		    file, c->first, c->second, name, c->first);
	return c->first && !c->second ? 1 : -1;
}

static int find(const struct keying *how, const char *file, struct iovec line, uint32_t *field)
{
	struct columns *c = xmalloc(sizeof *c);
	struct keyer k = { .how = how }; /* used only to split fields */
	const char *why;
	*c = (struct columns){ .wanted = trim_name(how->field_name, strlen(how->field_name)) };
	int is = -1;
	if (field_each(&k, line, take, c, &why))
		is = check_found(c, file, how->field_name);
	else
		say("%s: its first line names no columns: %s", file, why);
	*field = c->first;
	field_end(&k);
	free(c);
	return is;
}

static int is_blank(const char *file)
{
	say("%s: its first line is blank, and is to name the columns: --skip-empty passes over "
	    "blank lines", file);
	return -1;
}

/* Checks that the first line has the field. If the check accepted a title above the header, weir
 * would skip the title and take the header as a key. Return: 1, or -1 after a message. */
static int has_field(const struct keying *how, const char *file, struct iovec line)
{
	const struct row_shape shape = row_shape(how, line);
	if (shape.open)
		say("%s: its first line ends within a quoted field: write the names of the columns "
		    "on one line", file);
	else if (shape.fields < how->field)
		say("%s: its first line names no column %u: it has %u: write the names of the "
		    "columns there%s", file, how->field, shape.fields,
		    shape.fields > 1 ? "" : ", or give --delimiter=C");
	else
		return 1;
	return -1;
}

int header_line(const void *arg, const char *file, struct iovec line, uint32_t *field)
{
	const struct keying *how = arg;
	const bool blank = !trim_name(line.iov_base, line.iov_len).iov_len;
	if (how->comments && is_comment(how, line))
		return 0;
	if (blank)
		return how->skip_empty ? 0 : is_blank(file);
	if (how->field == KEYING_NAMED)
		return find(how, file, line, field);
	return how->field ? has_field(how, file, line) : 1;
}
