/* SPDX-License-Identifier: MIT
 * Hints about keys that are hardly meant so: they end in a carriage return, are prefixes or lines
 * of a hosts file, have capitals in domains, or are the name of a column. */
#include <ctype.h>
#include <string.h>
#include "hint.h"
#include "say.h"

enum { LINES = 256 }; /* to judge by */

static bool ends_in_cr(struct iovec line)
{
	return line.iov_len && ((const char *)line.iov_base)[line.iov_len - 1] == '\r';
}

static bool is_prefix(struct iovec line)
{
	unsigned char key[WEIR_CIDR_KEY];
	line = weir_normal_trim(line.iov_base, line.iov_len);
	return line.iov_len && memchr(line.iov_base, '/', line.iov_len) &&
	       weir_normal_cidr(key, line.iov_base, line.iov_len) > 0;
}

static bool is_hosts_line(struct iovec line)
{
	unsigned char key[WEIR_CIDR_KEY];
	line = weir_normal_trim(line.iov_base, line.iov_len);
	const char *from = line.iov_base;
	size_t n = 0;
	while (n < line.iov_len && from[n] != ' ' && from[n] != '\t')
		n++;
	if (line.iov_len > 9 && !memcmp(from, "address=/", 9))
		return true;
	return n < line.iov_len && !memchr(from, '/', n) && weir_normal_cidr(key, from, n) > 0;
}

static bool all(bool (*is)(struct iovec line), const struct iovec *lines, size_t n)
{
	size_t asked = 0, found = 0;
	for (size_t i = 0; i < n; i++) {
		struct iovec bare = weir_normal_trim(lines[i].iov_base, lines[i].iov_len);
		if (is != ends_in_cr && (!bare.iov_len || *(const char *)bare.iov_base == '#'))
			continue;
		asked++;
		found += is(lines[i]);
	}
	return asked && found == asked;
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

/* Of domains. */
static void hint_names(const struct keying *how, const struct iovec *lines, size_t n)
{
	if (!how->hosts && !(how->normal.steps & WEIR_NORMAL_SUFFIXES))
		return;
	if (!(how->normal.steps & WEIR_NORMAL_LOWERCASE) && any(has_capital, lines, n))
		say("hint: there are capitals in the names, which domains are the same without: "
		    "--lowercase finds them either way");
	if (any(is_beyond_ascii, lines, n))
		say("hint: there are names beyond ASCII, for which the DNS is asked in another "
		    "form (xn--...): idn2 prints that");
}

/* Letters alone, as in "e-mail" or "user_id". */
static bool is_word(struct iovec text)
{
	const char *at = text.iov_base;
	for (size_t i = 0; i < text.iov_len; i++)
		if (!isalpha((unsigned char)at[i]) && !strchr("_- ", at[i]))
			return false;
	return text.iov_len > 0;
}

/* Has the field a word in the first line, and none in the others? */
static bool has_header(const struct keying *how, const struct iovec *lines, size_t n)
{
	const struct keying as_is = { .field = how->field, .delimiter = how->delimiter };
	struct keyer k;
	const char *why;
	keyer_begin(&k, &as_is, KEYING_INSERT);
	bool has = n > 1;
	for (size_t i = 0; has && i < n; i++)
		has = keyer_take(&k, lines[i], &why) && is_word(k.keys[k.n - 1]) == (i == 0);
	keyer_end(&k);
	return has;
}

void hint_encoding(const struct chunk *c)
{
	static const char *const marks[] = { "\xff\xfe", "\xfe\xff" };
	for (size_t i = 0; i < 2; i++)
		if (c->len >= 2 && memcmp(c->data, marks[i], 2) == 0)
			say("hint: %s: is in UTF-16, as the byte order mark shows, and lines are "
			    "taken byte by byte: iconv -f UTF-16 -t UTF-8 makes them what they "
			    "look like",
			    c->file);
}

void hint_lines(const struct lines *l, const struct chunk *c, const struct keying *how,
                bool building)
{
	if (how->plain)
		return;
	const uint32_t steps = how->normal.steps;
	struct iovec lines[LINES];
	size_t at = 0, n = chunk_keys(l, c, &at, lines, LINES);
	if (!(steps & WEIR_NORMAL_TRIM) && !how->hosts && !how->field && all(ends_in_cr, lines, n))
		say("hint: the lines end in a carriage return, which is part of the keys: --trim "
		    "takes it off");
	if (building)
		hint_names(how, lines, n);
	if (building && how->field && !how->header && !how->field_name &&
	    has_header(how, lines, n))
		say("hint: %s: the first line seems to name the columns, and is a key: --header "
		    "skips it", c->file);
	if (!building || how->hosts || how->field || steps & WEIR_NORMAL_CIDR)
		return;
	if (all(is_prefix, lines, n))
		say("hint: the lines are IP prefixes: --cidr finds the addresses in them");
	else if (all(is_hosts_line, lines, n))
		say("hint: the lines are those of a hosts file: --hosts takes their domains");
}
