/* SPDX-License-Identifier: MIT
 * Hints at keys that are wrapped in something: the table of an SQL shell, SQL statements, JSON,
 * quotes, or a list on one line. Each rule matches a form that real keys do not have. */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "hint_shape.h"
#include "keyer.h"
#include "output/say.h"

static const char *bytes_of(struct iovec line)
{
	return line.iov_base;
}

static char last_of(struct iovec line)
{
	return line.iov_len ? bytes_of(line)[line.iov_len - 1] : 0;
}

/* Return: true if the line is a JSON object or array. An opening bracket alone proves nothing,
 * since GUIDs of Windows and IPv6 addresses begin with a bracket too. */
static bool is_json(struct iovec line)
{
	line = text_trim(line);
	if (last_of(line) == ',')
		line.iov_len--;
	const char *at = bytes_of(line), *end = at + line.iov_len;
	if (at == end)
		return false;
	const char opens = *at++;
	while (at < end && *at == ' ')
		at++;
	if (at == end)
		return false;
	return opens == '{' ? *at == '"' && last_of(line) == '}' :
	       opens == '[' ? (*at == '"' || *at == '{') && last_of(line) == ']' : false;
}

static bool is_insert(struct iovec line)
{
	static const char words[] = "insert into ";
	line = text_trim(line);
	return line.iov_len >= sizeof words && memchr(line.iov_base, '(', line.iov_len) &&
	       !strncasecmp(line.iov_base, words, sizeof words - 1);
}

/* Return: true if one pair of quotes encloses the whole line. */
static bool is_quoted(struct iovec line)
{
	if (last_of(line) == '\r')
		line.iov_len--;
	const char *at = bytes_of(line);
	const size_t n = line.iov_len;
	return n > 2 && (*at == '"' || *at == '\'') && at[n - 1] == *at &&
	       memchr(at + 1, *at, n - 2) == NULL;
}

/* Return: true if the line is like "----+------", which SQL shells print below the names of
 * columns. MySQL begins the line with +. */
static bool is_ruler(struct iovec line)
{
	size_t dashes = 0;
	line = text_trim(line);
	for (size_t i = 0; i < line.iov_len; i++) {
		if (bytes_of(line)[i] != '-' && bytes_of(line)[i] != '+')
			return false;
		dashes += bytes_of(line)[i] == '-';
	}
	return dashes > 2;
}

static const struct wrapping {
	bool (*is)(struct iovec line);
	size_t least; /* fewest lines for a hint */
	const char *what;
} wrappings[] = {
	{ is_json, 1, "is JSON, and is a key as a whole: jq -r .NAME takes one value" },
	{ is_insert, 1, "is a statement of SQL, and is a key as a whole: export the keys alone, as "
	                "psql -At and mysql -N -B do" },
	{ is_quoted, 2, "is in quotes, which are part of the key: take them off, as tr -d does" },
};

static bool hint_wrapping(const char *file, const struct iovec *lines, size_t n)
{
	for (size_t i = 0; i < sizeof wrappings / sizeof *wrappings; i++) {
		const struct wrapping *w = &wrappings[i];
		size_t is = 0;
		while (is < n && w->is(lines[is]))
			is++;
		if (is < n || n < w->least)
			continue;
		if (n == 1)
			say("hint: %s: the first line %s", file, w->what);
		else
			say("hint: %s: each of the first %zu lines %s", file, n, w->what);
		return true;
	}
	return false;
}

static bool is_padded(struct iovec line)
{
	return *bytes_of(line) == ' ' || last_of(line) == ' ';
}

static bool hint_table(const char *file, const struct iovec *lines, size_t n)
{
	const bool edged = n > 2 && is_ruler(lines[0]) && is_ruler(lines[2]);
	if (!edged && !(n > 2 && is_padded(lines[0]) && is_ruler(lines[1])))
		return false;
	say("hint: %s: is a table with a line below the names: export the keys alone, as psql -At "
	    "and mysql -N -B do", file);
	return true;
}

/* Return: true if the text looks like "user1", "a@b.c" or "10.0.0.1", rather than a word of a
 * sentence. */
static bool is_name(const char *at, const char *end)
{
	for (const char *b = at; b < end; b++)
		if (isdigit((unsigned char)*b) ||
		    (b > at && b + 1 < end && (*b == '@' || *b == '.')))
			return true;
	return false;
}

/* Return: the number of items in a list, or 0 if the line is not a list. To tell a list from URLs
 * and sentences, an item must not contain blanks, and all items or none must contain a slash. Items
 * separated by blanks must also pass is_name(). */
static size_t parts_of(struct iovec line, char by)
{
	const char *at = bytes_of(line), *end = at + line.iov_len, *stop;
	size_t n = 0, slashes = 0;
	for (; at <= end; at = stop + 1, n++) {
		stop = at < end ? memchr(at, by, (size_t)(end - at)) : NULL;
		stop = stop ? stop : end;
		const struct iovec part = text_trim((struct iovec){ (char *)(uintptr_t)at,
			                                            (size_t)(stop - at) });
		const char *from = bytes_of(part);
		if (!part.iov_len || memchr(from, ' ', part.iov_len) ||
		    (by == ' ' && !is_name(from, from + part.iov_len)))
			return 0;
		slashes += memchr(from, '/', part.iov_len) != NULL;
	}
	return slashes == 0 || slashes == n ? n : 0;
}

static bool hint_one_line(const char *file, const struct iovec *lines, size_t n)
{
	enum { LEAST = 4 };
	if (n != 1)
		return false;
	const struct iovec line = text_trim(lines[0]);
	for (const char *by = ", "; *by; by++) {
		const size_t parts = parts_of(line, *by);
		if (parts < LEAST)
			continue;
		say("hint: %s: the only line is one key, and looks like a list of %zu: write one "
		    "key a line, as tr '%c' '\\n' does", file, parts, *by);
		return true;
	}
	return false;
}

bool hint_shape(const char *file, const struct iovec *lines, size_t n, bool lookup)
{
	return hint_table(file, lines, n) || hint_wrapping(file, lines, n) ||
	       (!lookup && hint_one_line(file, lines, n));
}
