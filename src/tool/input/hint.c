/* SPDX-License-Identifier: MIT
 * Hints at probable mistakes: keys with a carriage return at the end, prefixes, rows of fields,
 * lines of a hosts file, domains with capitals or slashes, and the name of a column. */
#include <ctype.h>
#include <string.h>
#include "hint_shape.h"
#include "keyer.h"
#include "output/say.h"

/* Hints examine at most LINES lines at the start of a file. hint_first() examines only the first
 * ROWS of them, and hints at fields only if there are at least ROWS_LEAST rows. */
enum { LINES = 2048, ROWS = 64, ROWS_LEAST = 4 };

static bool ends_in_cr(struct iovec line)
{
	return line.iov_len && ((const char *)line.iov_base)[line.iov_len - 1] == '\r';
}

static bool is_padded(struct iovec line)
{
	const char *at = line.iov_base;
	return line.iov_len && (*at == ' ' || at[line.iov_len - 1] == ' ');
}

/* Return: true if the line is an address or a prefix, perhaps with blanks around it. */
static bool is_network(struct iovec line)
{
	enum { MOST = 128 };
	static const struct weir_text cidr = { .steps = WEIR_TEXT_TRIM | WEIR_TEXT_CIDR };
	char room[WEIR_TEXT_ROOM(MOST)];
	struct iovec key;
	return line.iov_len && line.iov_len <= MOST &&
	       weir_text_key(&cidr, line.iov_base, line.iov_len, room, &key) == 0;
}

static bool is_prefix(struct iovec line)
{
	return line.iov_len && memchr(line.iov_base, '/', line.iov_len) && is_network(line);
}

static bool is_hosts_line(struct iovec line)
{
	line = text_trim(line);
	const char *from = line.iov_base;
	size_t n = 0;
	while (n < line.iov_len && from[n] != ' ' && from[n] != '\t')
		n++;
	if (line.iov_len > 9 && !memcmp(from, "address=/", 9))
		return true;
	return n < line.iov_len && !memchr(from, '/', n) &&
	       is_network((struct iovec){ line.iov_base, n });
}

/* @asked lines were examined, and @found of them have the form that a hint is about. */
struct share {
	size_t asked, found;
};

static bool is_blank_or_comment(struct iovec line)
{
	line = text_trim(line);
	return !line.iov_len || *(const char *)line.iov_base == '#';
}

static struct share share_of(bool (*is)(struct iovec line), const struct iovec *lines, size_t n)
{
	struct share s = { 0, 0 };
	for (size_t i = 0; i < n; i++) {
		if (is != ends_in_cr && is_blank_or_comment(lines[i]))
			continue;
		s.asked++;
		s.found += is(lines[i]);
	}
	return s;
}

static bool all(struct share s)
{
	return s.found && s.found == s.asked;
}

/* Return: true if at least two thirds of the lines have the form, since a file that needs the hint
 * may have a few odd lines. */
static bool most(struct share s)
{
	return s.found && 3 * s.found >= 2 * s.asked;
}

static const char *how_many(struct share s)
{
	return all(s) ? "the" : most(s) ? "most" : "some";
}

static bool has_capital(unsigned char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_beyond_ascii(unsigned char c)
{
	return c > 127;
}

static bool any(bool (*is)(unsigned char c), const struct iovec *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char *at = lines[i].iov_base, *end = at + lines[i].iov_len;
		while (at < end && *at != '#')
			if (is(*at++))
				return true;
	}
	return false;
}

/* Prints hints about domains. */
static void hint_names(const struct keying *how, const struct iovec *lines, size_t n)
{
	if (!how->hosts && !(how->normal.steps & WEIR_TEXT_SUFFIXES))
		return;
	if (!(how->normal.steps & WEIR_TEXT_LOWERCASE) && any(has_capital, lines, n))
		say("hint: there are capitals in the names, which domains are the same without: "
		    "--lowercase finds them either way");
	if (any(is_beyond_ascii, lines, n))
		say("hint: there are names beyond ASCII, for which the DNS is asked in another "
		    "form (xn--...): idn2 prints that");
}

/* Return: true if the text consists of letters, blanks, - and _, such as "e-mail" or "user_id". */
static bool is_word(struct iovec text)
{
	const char *at = text.iov_base;
	for (size_t i = 0; i < text.iov_len; i++)
		if (!isalpha((unsigned char)at[i]) && (!at[i] || !strchr("_- ", at[i])))
			return false;
	return text.iov_len > 0;
}

/* Return: true if the field is a word in the first line and in no other line. */
static bool has_header(const struct keying *how, const struct iovec *lines, size_t n)
{
	const struct keying as_is = { .field = how->field, .delimiter = how->delimiter };
	struct keyer k;
	const char *why;
	keyer_begin(&k, &as_is, KEYING_TEXT);
	bool has = n > 1;
	for (size_t i = 0; has && i < n; i++)
		has = keyer_take(&k, lines[i], &why) && is_word(k.keys[k.n - 1]) == (i == 0);
	keyer_end(&k);
	return has;
}

/* Hints at --cidr or --hosts. A prefix taken as text matches no address. If all other lines are
 * addresses, a single prefix is enough for the hint. Return: true if a hint was printed. */
static bool hint_form(const struct iovec *lines, size_t n)
{
	const struct share prefixes = share_of(is_prefix, lines, n);
	const struct share hosts = share_of(is_hosts_line, lines, n);
	const bool nets = most(prefixes) ||
	                  (prefixes.found && all(share_of(is_network, lines, n)));
	if (nets)
		say("hint: %s lines are IP prefixes: --cidr finds the addresses in them",
		    how_many(prefixes));
	else if (most(hosts))
		say("hint: %s lines are those of a hosts file: --hosts takes their domains",
		    how_many(hosts));
	return nets || most(hosts);
}

/* The delimiters of fields. @option and @cut: the option of weir and the shell command that select
 * a field. */
static const struct mark {
	char byte;
	const char *name, *option, *cut;
} marks[] = {
	{ '\t', "tab", "--field=N --delimiter=tab", "cut -f N" },
	{ ';', "semicolon", "--field=N --delimiter=';'", "cut -d ';' -f N" },
	{ '|', "bar", "--field=N --delimiter='|'", "cut -d '|' -f N" },
	{ ',', "comma", "--field=N", "cut -d , -f N" },
};

/* The first rows of a file. */
struct rows {
	size_t n;
	uint32_t fields; /* number of fields in each row; 0: the rows differ, or are too few */
	struct iovec last;
};

static struct rows rows_of(const struct mark *mark, const struct iovec *lines, size_t n)
{
	const struct keying how = { .delimiter = mark->byte };
	struct rows rows = { 0 };
	for (size_t i = 0; i < n; i++) {
		const struct row_shape is = row_shape(&how, lines[i]);
		if (is.open || is.fields < 2 || (rows.n && is.fields != rows.fields))
			return (struct rows){ 0 };
		rows = (struct rows){ rows.n + 1, is.fields, lines[i] };
	}
	return rows.n < ROWS_LEAST ? (struct rows){ 0 } : rows;
}

static void hint_fields(const char *file, const struct iovec *lines, size_t n, bool option)
{
	enum { SHOWN = 60 };
	for (const struct mark *m = marks; m < marks + sizeof marks / sizeof *marks; m++) {
		const struct rows rows = rows_of(m, lines, n);
		if (!rows.fields)
			continue;
		const bool fits = rows.last.iov_len <= SHOWN;
		say("hint: %s: each of the first %zu lines has %u %s%s, and is a key as a whole, "
		    "such as '%.*s%s': %s takes one field",
		    file, rows.n, rows.fields - 1, m->name, rows.fields == 2 ? "" : "s",
		    fits ? (int)rows.last.iov_len : SHOWN, (const char *)rows.last.iov_base,
		    fits ? "" : "...", option ? m->option : m->cut);
		return;
	}
}

/* Prints hints about the form of the first lines that are neither blank nor comments. */
static void hint_first(const char *file, const struct iovec *lines, size_t n, bool lookup,
                       bool option)
{
	struct iovec first[ROWS];
	size_t k = 0;
	for (size_t i = 0; i < n && k < ROWS; i++)
		if (!is_blank_or_comment(lines[i]))
			first[k++] = lines[i];
	if (!hint_shape(file, first, k, lookup))
		hint_fields(file, first, k, option);
}

void hint_rows(const struct lines *l, const struct chunk *c)
{
	struct iovec lines[2 * ROWS];
	size_t at = 0;
	hint_first(c->file, lines, chunk_keys(l, c, &at, lines, 2 * ROWS), true, false);
}

/* Prints the hints that are given for the first file only. Return: true if --cidr or --hosts was
 * suggested. */
static bool hint_once(const struct keying *how, const struct iovec *lines, size_t n,
                      enum hint_for what)
{
	const uint32_t steps = how->normal.steps;
	const bool trims = (steps & WEIR_TEXT_TRIM) || how->hosts || how->field;
	const struct share share = share_of(ends_in_cr, lines, n);
	const struct share padded = share_of(is_padded, lines, n);
	if (!trims && most(share))
		say("hint: %s lines end in a carriage return, which is part of the keys: --trim "
		    "takes it off", how_many(share));
	else if (!trims && all(padded) && padded.asked > 1)
		say("hint: the lines have blanks before or behind the keys, which are part of "
		    "them: --trim takes them off");
	if (what != HINT_BUILD)
		return false;
	hint_names(how, lines, n);
	return !how->hosts && !how->field && !(steps & WEIR_TEXT_CIDR) && hint_form(lines, n);
}

void hint_lines(const struct lines *l, const struct chunk *c, const struct keying *how,
                enum hint_for what)
{
	struct iovec lines[LINES];
	size_t at = 0;
	bool formed = false;
	if (how->plain)
		return;
	const size_t n = chunk_keys(l, c, &at, lines, LINES);
	if (c->number == 0 && what != HINT_CHANGE)
		formed = hint_once(how, lines, n, what);
	if (what == HINT_BUILD && how->field && !how->header && !how->field_name &&
	    has_header(how, lines, n))
		say("hint: %s: the first line seems to name the columns, and is a key: --header "
		    "skips it", c->file);
	if (!formed && !how->quiet && !how->hosts && !how->field &&
	    !(how->normal.steps & WEIR_TEXT_CIDR))
		hint_first(c->file, lines, n, what == HINT_LOOKUP, true);
}

void slashed_add(struct slashed *sum, const struct slashed *more)
{
	if (!sum->n)
		memcpy(sum->like, more->like, sizeof sum->like);
	sum->n += more->n;
}

void hint_slashed(const struct slashed *found)
{
	if (found->n)
		say("hint: %llu line%s a slash, as URLs have, such as '%s': the keys of this set "
		    "are domains: give the domain of a URL alone, without scheme, port and path",
		    (unsigned long long)found->n, found->n == 1 ? " has" : "s have", found->like);
}
